// Items as ordinary JSON, and single values out of plain text. See plain.h.
#include "guard/plain.h"

#include "value/number.h"

// ---- Names ------------------------------------------------------------------------------------

bool model_table_derives(const struct model_table *table, const struct model_entity *entity,
                         struct slice name)
{
    if (entity != NULL && model_entity_attribute(entity, name) != NULL)
        return false;
    if (slice_equal(table->type_attribute, name) || key_schema_has(&table->keys, name))
        return true;
    for (size_t i = 0; i < table->index_count; i++) {
        if (key_schema_has(&table->indexes[i].keys, name))
            return true;
    }
    return false;
}

// ---- Layouts ----------------------------------------------------------------------------------

enum { HIDDEN = UINT16_MAX };

// A name that the model knows: where it stands among the entity's attributes, or HIDDEN.
struct row {
    struct slice name;
    uint64_t head; // its first eight bytes, or as many as it has, where `mask` is set
    uint64_t mask;
    uint16_t slot;
};

struct model_plain_layout {
    const struct model_plain_view *view;
    struct arena *arena;
    size_t row_count;
    struct row *rows;      // sorted by name
    const uint8_t **found; // the attributes of the item at hand, as entries of it, by slot
    size_t room;
    const uint8_t **others; // the other entries of it
};

static struct row row_of(struct slice name, uint16_t slot)
{
    struct row row = {.name = name, .slot = slot};
    size_t len = name.len < sizeof(row.head) ? name.len : sizeof(row.head);
    memcpy(&row.head, name.ptr, len);
    memset(&row.mask, 0xff, len);
    return row;
}

// Puts a name among the hidden ones, which stay in order; there are few of them.
static void hide_name(struct model_plain_layout *layout, struct slice name)
{
    size_t at = layout->row_count;
    int order = 1;
    while (at > 0 && (order = value_name_compare(layout->rows[at - 1].name, name)) > 0)
        at--;
    if (at > 0 && order == 0)
        return;
    memmove(&layout->rows[at + 1], &layout->rows[at],
            (layout->row_count - at) * sizeof(*layout->rows));
    layout->rows[at] = row_of(name, HIDDEN);
    layout->row_count++;
}

static void hide_keys(struct model_plain_layout *layout, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        hide_name(layout, keys->parts[i].name);
}

// What model_table_derives() tells of single names.
static void hide_derived(struct model_plain_layout *layout)
{
    const struct model_table *table = layout->view->table;
    hide_keys(layout, &table->keys);
    for (size_t i = 0; i < table->index_count; i++)
        hide_keys(layout, &table->indexes[i].keys);
    if (table->type_attribute.len > 0)
        hide_name(layout, table->type_attribute);
}

// Merges the entity's attributes into the hidden names, from the end; what the entity declares
// is not hidden.
static void show_attributes(struct model_plain_layout *layout, const struct model_entity *entity)
{
    size_t hidden = layout->row_count;
    size_t left = entity->attribute_count;
    size_t at = hidden + left;
    layout->row_count = at;
    while (left > 0 || hidden > 0) {
        uint16_t slot = left == 0 ? 0 : entity->by_name[left - 1];
        struct slice name = left == 0 ? VALUE_NONE : entity->attributes[slot].name;
        int order = left == 0     ? 1
                    : hidden == 0 ? -1
                                  : value_name_compare(layout->rows[hidden - 1].name, name);
        layout->rows[--at] = order > 0 ? layout->rows[hidden - 1] : row_of(name, slot);
        hidden -= order >= 0;
        left -= order <= 0;
    }
    layout->row_count -= at;
    layout->rows += at;
}

struct model_plain_layout *model_plain_layout(const struct model_plain_view *view,
                                              struct arena *arena)
{
    const struct model_table *table = view->table;
    size_t attributes = view->entity == NULL ? 0 : view->entity->attribute_count;
    size_t names = attributes + 1 + COUNT_OF(table->keys.parts) * (1 + table->index_count);
    struct model_plain_layout *layout = arena_zalloc(arena, 1, sizeof(*layout));
    if (layout == NULL ||
        (layout->rows = arena_alloc(arena, names * sizeof(*layout->rows))) == NULL ||
        (layout->found = arena_zalloc(arena, attributes + 1, sizeof(*layout->found))) == NULL)
        return NULL;
    layout->view = view;
    layout->arena = arena;
    if (!view->keys)
        hide_derived(layout);
    if (attributes > 0)
        show_attributes(layout, view->entity);
    return layout;
}

static bool make_room(struct model_plain_layout *layout, size_t count)
{
    if (count <= layout->room)
        return true;
    layout->others = arena_alloc(layout->arena, 2 * count * sizeof(*layout->others));
    layout->room = layout->others == NULL ? 0 : 2 * count;
    return layout->others != NULL;
}

// Whether the name is the row's. Most names are short, and a call would be most of the work;
// `limit` is the end of what may be read.
static inline bool row_is(const struct row *row, struct slice name, const uint8_t *limit)
{
    uint64_t head;
    if (name.len != row->name.len)
        return false;
    if (limit - name.ptr < (ptrdiff_t)sizeof(head))
        return slice_equal(row->name, name);
    memcpy(&head, name.ptr, sizeof(head));
    return (head & row->mask) == row->head &&
           (name.len <= sizeof(head) ||
            memcmp(name.ptr + sizeof(head), row->name.ptr + sizeof(head),
                   name.len - sizeof(head)) == 0);
}

// Sorts the entries of the item out, side by side with the rows; returns how many others there are.
static size_t sort_entries(struct model_plain_layout *layout, struct slice item)
{
    const struct row *row = layout->rows;
    const struct row *end = row + layout->row_count;
    const uint8_t *at = item.ptr + VALUE_BODY;
    size_t others = 0;
    for (uint64_t left = varint_get(&at); left > 0; left--) {
        const uint8_t *entry = at;
        struct slice name = value_counted(&at);
        bool known = false;
        at += value_length(at);
        while (row < end && !(known = row_is(row, name, item.ptr + item.len)) &&
               value_name_compare(row->name, name) < 0)
            row++;
        if (!known)
            layout->others[others++] = entry;
        else if (row->slot != HIDDEN)
            layout->found[row->slot] = entry;
        row += known;
    }
    return others;
}

void model_plain_item(struct json_writer *w, struct model_plain_layout *layout, struct slice item)
{
    const struct model_plain_view *view = layout->view;
    size_t attributes = view->entity == NULL ? 0 : view->entity->attribute_count;
    if (!make_room(layout, value_count(item))) {
        w->out->failed = true;
        return;
    }
    size_t others = sort_entries(layout, item);
    size_t known = 0;
    for (size_t i = 0; i < attributes; i++) {
        const uint8_t *entry = layout->found[i];
        layout->found[i] = NULL;
        if (entry != NULL)
            layout->found[known++] = entry;
    }
    json_open_object(w);
    if (view->name && view->entity != NULL) {
        json_name(w, MODEL_PLAIN_ENTITY);
        json_string(w, view->entity->name);
    }
    json_plain_entries(w, item, known, layout->found);
    json_plain_entries(w, item, others, layout->others);
    if (view->more.write != NULL && view->entity != NULL)
        view->more.write(view->more.context, view->entity, item, w);
    json_close_object(w);
    memset(layout->found, 0, known * sizeof(*layout->found));
}

void model_plain_write(struct json_writer *w, const struct model_plain_view *view,
                       struct slice item)
{
    struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    struct model_plain_layout *layout = model_plain_layout(view, &arena);
    if (layout != NULL)
        model_plain_item(w, layout, item);
    else
        w->out->failed = true;
    arena_release(&arena);
}

// ---- Texts --------------------------------------------------------------------------------------

static struct slice value_make(struct arena *arena, enum value_tag tag, struct slice bytes)
{
    struct value_maker maker;
    value_begin(&maker, bytes.len + 16);
    if (tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE)
        value_put_bool(&maker.b, tag == VALUE_TAG_TRUE);
    else if (tag == VALUE_TAG_NULL)
        value_put_null(&maker.b);
    else
        value_put_scalar(&maker.b, tag, bytes);
    return value_end(&maker, arena);
}

static struct slice make_binary(struct slice text, struct arena *arena)
{
    struct buf bytes;
    buf_init(&bytes, text.len + 16);
    struct slice made = base64_decode(&bytes, text)
                            ? value_make(arena, VALUE_TAG_B, buf_view(&bytes))
                            : value_make(arena, VALUE_TAG_S, text);
    buf_release(&bytes);
    return made;
}

// As a value of that type, or as text if it is none.
static struct slice make_stored(enum value_type type, struct slice text, struct arena *arena)
{
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len;
    if (type == VALUE_N && number_from_text(text, number, &len) == NUMBER_OK)
        return value_make(arena, VALUE_TAG_N, slice_of(number, len));
    if (type == VALUE_BOOL && (slice_is(text, "true") || slice_is(text, "false")))
        return value_make(arena, slice_is(text, "true") ? VALUE_TAG_TRUE : VALUE_TAG_FALSE, text);
    if (type == VALUE_NULL && slice_is(text, "null"))
        return value_make(arena, VALUE_TAG_NULL, text);
    if (type == VALUE_B)
        return make_binary(text, arena);
    return value_make(arena, VALUE_TAG_S, text);
}

struct slice model_plain_text(const struct model_type *type, struct slice text, struct arena *arena)
{
    if (type->kind != MODEL_UNION)
        return make_stored(model_type_stored(type), text, arena);
    // A literal that is meant, else the first option that the text can be, text being last.
    struct slice other = VALUE_NONE;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        enum value_type stored = model_type_stored(option);
        struct slice made = make_stored(stored, text, arena);
        if (made.len == 0)
            return VALUE_NONE;
        bool fits = value_type(made) == stored;
        if (option->kind == MODEL_LITERAL && value_equal(made, option->literal))
            return made;
        if (fits && stored != VALUE_S && option->kind != MODEL_LITERAL && other.len == 0)
            other = made;
    }
    return other.len > 0 ? other : value_make(arena, VALUE_TAG_S, text);
}
