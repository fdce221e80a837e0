// See draft.h. Lists are short, and are walked to their ends to add to them.
#include "infer/draft.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void draft_init(struct draft *draft, struct arena *arena)
{
    *draft = (struct draft){.arena = arena};
}

void *draft_alloc(struct draft *draft, size_t size)
{
    void *memory = arena_zalloc(draft->arena, 1, size);
    ensure_memory(memory);
    return memory;
}

struct slice draft_copy(struct draft *draft, struct slice bytes)
{
    struct slice copy = arena_copy(draft->arena, bytes);
    ensure_memory(copy.ptr);
    return copy;
}

struct slice draft_keep(struct draft *draft, struct buf *text)
{
    struct slice copy = draft_copy(draft, buf_view(text));
    buf_release(text);
    return copy;
}

void *draft_grow(struct draft *draft, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 64 : 2 * *room;
    void *more = draft_alloc(draft, *room * size);
    if (count > 0)
        memcpy(more, array, count * size);
    return more;
}

static struct slice format_text(struct draft *draft, const char *format, va_list arguments)
{
    const char *text = arena_vprintf(draft->arena, format, arguments);
    ensure_memory(text);
    return slice_str(text);
}

struct slice draft_text(struct draft *draft, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct slice text = format_text(draft, format, arguments);
    va_end(arguments);
    return text;
}

struct slice draft_join(struct draft *draft, struct slice list, const char *separator,
                        struct slice next)
{
    return list.len == 0
               ? next
               : draft_text(draft, "%.*s%s%.*s", SLICE_FMT(list), separator, SLICE_FMT(next));
}

// ---- Adding --------------------------------------------------------------------------------

// What the nodes of all lists begin with. The attributes tell the compiler that it may be any of
// them, and a link the head of any list.
typedef struct node *link_to __attribute__((may_alias));
struct node {
    link_to next;
    struct slice name;
} __attribute__((may_alias));

// A new node of the size, with the name, behind all others of a list.
static void *add_node(struct draft *draft, void *list, size_t size, struct slice name)
{
    link_to *end = list;
    struct node *node = draft_alloc(draft, size);
    node->name = draft_copy(draft, name);
    while (*end != NULL)
        end = &(*end)->next;
    *end = node;
    return node;
}

// The first node of a list with the name, or NULL.
static void *find_node(void *list, struct slice name)
{
    struct node *node = list;
    while (node != NULL && !slice_equal(node->name, name))
        node = node->next;
    return node;
}

struct draft_table *draft_add_table(struct draft *draft, struct slice name)
{
    return add_node(draft, &draft->tables, sizeof(struct draft_table), name);
}

struct draft_index *draft_add_index(struct draft *draft, struct draft_table *table,
                                    struct slice name)
{
    return add_node(draft, &table->indexes, sizeof(struct draft_index), name);
}

struct draft_entity *draft_add_entity(struct draft *draft, struct draft_table *table,
                                      struct slice name)
{
    return add_node(draft, &table->entities, sizeof(struct draft_entity), name);
}

struct draft_entry *draft_add_entry(struct draft *draft, struct draft_entity *entity,
                                    struct slice index)
{
    return add_node(draft, &entity->entries, sizeof(struct draft_entry), index);
}

struct draft_attribute *draft_add_attribute(struct draft *draft, struct draft_entity *entity,
                                            struct slice name)
{
    struct draft_attribute *attribute =
        add_node(draft, &entity->attributes, sizeof(*attribute), name);
    attribute->type = SLICE_LIT("string");
    return attribute;
}

static bool access_taken(const struct draft *draft, struct slice name)
{
    for (const struct draft_table *table = draft->tables; table != NULL; table = table->next) {
        if (find_node(table->accesses, name) != NULL)
            return true;
    }
    return false;
}

struct draft_access *draft_add_access(struct draft *draft, struct draft_table *table,
                                      struct slice name)
{
    struct slice free = name;
    for (unsigned i = 2; access_taken(draft, free); i++)
        free = draft_text(draft, "%.*s%u", SLICE_FMT(name), i);
    return add_node(draft, &table->accesses, sizeof(struct draft_access), free);
}

void draft_note(struct draft *draft, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)add_node(draft, &draft->notes, sizeof(struct draft_note),
                   format_text(draft, format, arguments));
    va_end(arguments);
    draft->note_count++;
}

static bool type_name_taken(const struct draft *draft, struct slice name)
{
    bool taken = find_node(draft->types, name) != NULL;
    for (const struct draft_table *table = draft->tables; table != NULL; table = table->next)
        taken = taken || find_node(table->entities, name) != NULL;
    return taken;
}

struct slice draft_named_type(struct draft *draft, struct slice name, struct slice text)
{
    for (const struct draft_type *type = draft->types; type != NULL; type = type->next)
        if (slice_equal(type->text, text))
            return type->name;
    struct slice free = name;
    for (unsigned i = 0; type_name_taken(draft, free); i++)
        free = i == 0 ? draft_text(draft, "%.*sObject", SLICE_FMT(name))
                      : draft_text(draft, "%.*sObject%u", SLICE_FMT(name), i + 1);
    struct draft_type *type = add_node(draft, &draft->types, sizeof(*type), free);
    type->text = draft_copy(draft, text);
    return type->name;
}

// ---- Looking -------------------------------------------------------------------------------

struct draft_attribute *draft_attribute(const struct draft_entity *entity, struct slice name)
{
    return find_node(entity->attributes, name);
}

struct draft_index *draft_index(const struct draft_table *table, struct slice name)
{
    return find_node(table->indexes, name);
}

size_t draft_parts(const struct key_schema *keys)
{
    return keys->hash_count + keys->range_count;
}

bool draft_schema_has(const struct key_schema *keys, struct slice name)
{
    for (size_t i = 0; i < draft_parts(keys); i++)
        if (slice_equal(keys->parts[i].name, name))
            return true;
    return false;
}

bool draft_is_key(const struct draft_table *table, struct slice name)
{
    if (draft_schema_has(&table->keys, name))
        return true;
    for (const struct draft_index *index = table->indexes; index != NULL; index = index->next)
        if (draft_schema_has(&index->keys, name))
            return true;
    return false;
}

struct slice draft_template(const struct draft_table *table, const struct draft_entity *entity,
                            struct slice name, const struct draft_entry *until)
{
    for (size_t i = 0; i < draft_parts(&table->keys); i++)
        if (slice_equal(table->keys.parts[i].name, name) && entity->keys[i].ptr != NULL)
            return entity->keys[i];
    for (const struct draft_entry *entry = entity->entries; entry != until; entry = entry->next) {
        const struct draft_index *index = draft_index(table, entry->index);
        for (size_t i = 0; index != NULL && i < entry->count; i++)
            if (slice_equal(index->keys.parts[i].name, name) && entry->parts[i].ptr != NULL)
                return entry->parts[i];
    }
    return VALUE_NONE;
}

// ---- Texts of the language -------------------------------------------------------------------

static bool is_plain_name(struct slice name)
{
    static const char *const words[] = {"guard", "unknown", "true", "false", "null"};
    if (name.len == 0 || !(isalpha(name.ptr[0]) || name.ptr[0] == '_'))
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (slice_is(name, words[i]))
            return false;
    for (size_t i = 1; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool follows = i + 1 < name.len && (isalnum(name.ptr[i + 1]) || name.ptr[i + 1] == '_');
        if (!isalnum(c) && c != '_' && !(c == '-' && follows))
            return false;
    }
    return true;
}

size_t draft_name_width(struct slice name)
{
    return is_plain_name(name) ? name.len : name.len + 2;
}

void draft_put_name(struct buf *out, struct slice name)
{
    if (is_plain_name(name)) {
        buf_slice(out, name);
        return;
    }
    buf_byte(out, '`');
    buf_slice(out, name);
    buf_byte(out, '`');
}

void draft_put_literal(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\' || c == '{' || c == '}')
            buf_byte(out, '\\');
        if (c == '\n' || c == '\t')
            buf_text(out, c == '\n' ? "\\n" : "\\t");
        else
            buf_byte(out, c);
    }
}

struct slice draft_name_text(struct draft *draft, struct slice name)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    draft_put_name(&text, name);
    return draft_keep(draft, &text);
}

static struct slice join_words(struct draft *draft, struct slice text, bool upper_first)
{
    struct buf out;
    buf_init(&out, text.len + 2);
    bool upper = upper_first;
    bool shouting = true; // SUCH_WORDS are made small, userSession is not
    for (size_t i = 0; i < text.len; i++)
        shouting = shouting && !islower(text.ptr[i]);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!isalnum(c)) {
            upper = out.len > 0 || upper_first;
            continue;
        }
        if (out.len == 0 && isdigit(c))
            buf_byte(&out, upper_first ? 'N' : 'n');
        bool first = out.len == 0;
        if (upper)
            c = (uint8_t)toupper(c);
        else if (shouting || first)
            c = (uint8_t)tolower(c);
        buf_byte(&out, c);
        upper = false;
    }
    if (out.len == 0)
        buf_byte(&out, upper_first ? 'X' : 'x');
    return draft_keep(draft, &out);
}

struct slice draft_pascal(struct draft *draft, struct slice text)
{
    return join_words(draft, text, true);
}

struct slice draft_camel(struct draft *draft, struct slice text)
{
    return join_words(draft, text, false);
}
