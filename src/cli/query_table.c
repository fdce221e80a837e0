// See query_table.h. A column for each attribute of the entity that some item has.
#include "cli/query_table.h"

#include "guard/eval.h"
#include "guard/plain.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MAX = 24, TEXT_MAX = 1 << 20, WIDTH_DEFAULT = 80 };

struct column {
    struct slice name;
    size_t width; // in characters
    bool number;
};

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : WIDTH_DEFAULT;
}

// The text of an attribute; false if it has none, or one that breaks lines.
static bool cell_text(struct slice value, struct buf *out)
{
    buf_clear(out);
    if (value.len == 0)
        return true;
    if (value_type(value) == VALUE_NULL)
        buf_text(out, "null");
    else if (model_value_text(value, out) != EVAL_OK)
        return false;
    for (size_t i = 0; i < out->len; i++) {
        if (out->ptr[i] < ' ' || out->ptr[i] == 0x7f)
            return false;
    }
    return !out->failed;
}

// Every attribute that an item has must be declared, or it would not be shown.
static bool all_declared(const struct model_entity *entity, const struct api_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, page->items[i]);
        while (value_iter_next(&iter)) {
            if (model_entity_attribute(entity, iter.name) == NULL &&
                !model_table_derives(entity->table, entity, iter.name))
                return false;
        }
    }
    return true;
}

static bool measure(const struct api_page *page, struct column *column, struct buf *text,
                    bool *used)
{
    *used = false;
    for (size_t i = 0; i < page->count; i++) {
        struct slice value = value_get(page->items[i], column->name);
        if (value.len == 0)
            continue;
        if (!cell_text(value, text))
            return false;
        *used = true;
        column->number = value_type(value) == VALUE_N;
        size_t width = model_characters(buf_view(text));
        if (width > column->width)
            column->width = width;
    }
    return true;
}

static void print_cell(const struct column *column, struct slice text, bool last)
{
    size_t width = model_characters(text);
    int gap = (int)(column->width > width ? column->width - width : 0);
    if (column->number)
        printf("%*s%.*s", gap, "", SLICE_FMT(text));
    else
        printf("%.*s%*s", SLICE_FMT(text), last ? 0 : gap, "");
    printf("%s", last ? "\n" : "  ");
}

bool query_table_print(const struct model_entity *entity, const struct api_page *page)
{
    struct column columns[COLUMNS_MAX];
    struct buf text;
    size_t count = 0;
    size_t total = 0;
    bool fits = page->count > 0 && all_declared(entity, page);
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; fits && i < entity->attribute_count; i++) {
        struct slice name = entity->attributes[i].name;
        struct column column = {name, model_characters(name), false};
        bool used = false;
        fits = measure(page, &column, &text, &used);
        if (!fits || !used)
            continue;
        fits = count < COLUMNS_MAX;
        total += column.width + 2;
        if (fits)
            columns[count++] = column;
    }
    fits = fits && count > 0 && total <= terminal_width() + 2;
    for (size_t k = 0; fits && k < count; k++)
        print_cell(&columns[k], columns[k].name, k + 1 == count);
    for (size_t i = 0; fits && i < page->count; i++) {
        for (size_t k = 0; k < count; k++) {
            (void)cell_text(value_get(page->items[i], columns[k].name), &text);
            print_cell(&columns[k], buf_view(&text), k + 1 == count);
        }
    }
    buf_release(&text);
    return fits;
}
