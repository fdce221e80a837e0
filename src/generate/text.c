// Names, quoted strings and comments. Names are split into words where the writing changes: at
// anything that is no letter or digit, before a capital behind a small letter, and before the last
// capital of a row that goes on in small letters (URLPath is url and path).
#include "generate/text.h"

#include "base/encode.h"
#include "value/number.h"

// ---- Names -----------------------------------------------------------------------------------

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_part(uint8_t c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}

// Whether a word ends before position i of the name.
static bool word_breaks(struct slice name, size_t i)
{
    uint8_t before = name.ptr[i - 1];
    uint8_t here = name.ptr[i];
    if (!is_upper(here))
        return false;
    if (is_lower(before))
        return true;
    return is_part(before) && i + 1 < name.len && is_lower(name.ptr[i + 1]);
}

// The next word at or behind *at; empty at the end.
static struct slice word_next(struct slice name, size_t *at)
{
    size_t start = *at;
    while (start < name.len && !is_part(name.ptr[start]))
        start++;
    size_t end = start;
    while (end < name.len && is_part(name.ptr[end]) && (end == start || !word_breaks(name, end)))
        end++;
    *at = end;
    return slice_of(name.ptr + start, end - start);
}

static uint8_t in_case(uint8_t c, bool upper)
{
    if (upper && is_lower(c))
        return (uint8_t)(c - 'a' + 'A');
    if (!upper && is_upper(c))
        return (uint8_t)(c - 'A' + 'a');
    return c;
}

static void separated(struct buf *out, struct slice name, bool upper)
{
    size_t at = 0;
    size_t words = 0;
    for (struct slice word; (word = word_next(name, &at)).len > 0; words++) {
        if (words > 0)
            buf_byte(out, '_');
        else if (is_digit(word.ptr[0]))
            buf_byte(out, '_');
        for (size_t i = 0; i < word.len; i++)
            buf_byte(out, in_case(word.ptr[i], upper));
    }
    if (words == 0)
        buf_byte(out, '_');
}

// Names that have no separators keep their own capitals: only the first letter changes.
static void joined(struct buf *out, struct slice name, bool first_upper)
{
    size_t at = 0;
    size_t words = 0;
    bool whole = text_is_word(name) && memchr(name.ptr, '_', name.len) == NULL;
    for (struct slice word; (word = word_next(name, &at)).len > 0; words++) {
        if (words == 0 && is_digit(word.ptr[0]))
            buf_byte(out, '_');
        for (size_t i = 0; i < word.len; i++) {
            bool upper = i == 0 && (words > 0 || first_upper);
            bool keep = whole && (words > 0 || i > 0);
            buf_byte(out, keep ? word.ptr[i] : in_case(word.ptr[i], upper));
        }
    }
    if (words == 0)
        buf_byte(out, '_');
}

void text_snake(struct buf *out, struct slice name)
{
    separated(out, name, false);
}

void text_upper(struct buf *out, struct slice name)
{
    separated(out, name, true);
}

void text_pascal(struct buf *out, struct slice name)
{
    joined(out, name, true);
}

void text_camel(struct buf *out, struct slice name)
{
    joined(out, name, false);
}

bool text_is_word(struct slice name)
{
    if (name.len == 0 || is_digit(name.ptr[0]))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_part(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    }
    return true;
}

void text_entity(struct buf *out, const struct model_entity *entity)
{
    const struct model *model = entity->table->model;
    for (size_t i = 0; i < model->table_count; i++) {
        const struct model_table *table = &model->tables[i];
        if (table != entity->table && model_table_entity(table, entity->name) != NULL) {
            buf_slice(out, entity->table->name);
            buf_byte(out, '_');
            break;
        }
    }
    buf_slice(out, entity->name);
}

// ---- Strings and comments --------------------------------------------------------------------

void text_quoted(struct buf *out, struct slice text)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_text(out, "\\n");
        else if (c == '\t')
            buf_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\u%04x", c);
        else
            buf_byte(out, c);
    }
    buf_byte(out, '"');
}

void text_sql(struct buf *out, struct slice text)
{
    buf_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            buf_byte(out, '\'');
        buf_byte(out, text.ptr[i]);
    }
    buf_byte(out, '\'');
}

void text_comment(struct buf *out, const char *before, struct slice doc)
{
    size_t at = 0;
    while (at < doc.len) {
        const uint8_t *end = memchr(doc.ptr + at, '\n', doc.len - at);
        size_t stop = end == NULL ? doc.len : (size_t)(end - doc.ptr);
        size_t last = stop;
        while (last > at && (doc.ptr[last - 1] == ' ' || doc.ptr[last - 1] == '\r'))
            last--;
        size_t blank = strlen(before);
        while (last == at && blank > 0 && before[blank - 1] == ' ')
            blank--;
        buf_add(out, before, blank);
        buf_add(out, doc.ptr + at, last - at);
        buf_byte(out, '\n');
        at = stop + 1;
    }
}

void text_line(struct buf *out, struct slice doc)
{
    bool blank = true; // nothing at the front, one blank in between
    size_t end = doc.len;
    while (end > 0 && (doc.ptr[end - 1] == ' ' || doc.ptr[end - 1] == '\n'))
        end--;
    for (size_t i = 0; i < end; i++) {
        uint8_t c = doc.ptr[i];
        if (c == '\n' || c == '\r' || c == '\t' || c == ' ') {
            if (!blank)
                buf_byte(out, ' ');
            blank = true;
        } else {
            buf_byte(out, c);
            blank = false;
        }
    }
}

struct slice generate_stem(const struct model *model)
{
    struct slice name = model->file;
    for (size_t i = name.len; i > 0; i--) {
        if (name.ptr[i - 1] == '/') {
            name = slice_of(name.ptr + i, name.len - i);
            break;
        }
    }
    struct slice ending = SLICE_LIT(".dolmen");
    if (name.len > ending.len &&
        memcmp(name.ptr + name.len - ending.len, ending.ptr, ending.len) == 0)
        name.len -= ending.len;
    if (name.len == 0 || slice_is(name, "-"))
        return model->table_count > 0 ? model->tables[0].name : SLICE_LIT("model");
    return name;
}

void text_banner(struct buf *out, const struct model *model)
{
    uint8_t digest[32];
    sha256_of(model->text, digest);
    buf_text(out, "Generated by dolmen from ");
    buf_slice(out, generate_stem(model));
    buf_text(out, ".dolmen (sha256 ");
    for (size_t i = 0; i < sizeof(digest); i++)
        buf_printf(out, "%02x", digest[i]);
    buf_text(out, "); do not edit.");
}

void text_number(struct buf *out, struct slice stored)
{
    char text[NUMBER_TEXT_MAX];
    buf_add(out, text, number_to_text(stored, text));
}
