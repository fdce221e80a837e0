// The keys of an entity and its entries in indexes, from the texts that its items have there. A key
// attribute is native if it has the type of a value (N, B), or if its name is not that of a key
// ("email", "createdAt") and its texts have no constant in front; then it is an attribute like
// others.
#include "infer/infer_key.h"

#include "value/number.h"

#include <ctype.h>
#include <stdlib.h>

// ---- Names -------------------------------------------------------------------------------------

// PK, sk, GSI1PK, gsi1_sk, pk2, partitionKey: names that say nothing of the value.
static bool is_key_name(struct slice name)
{
    static const char *const words[] = {"partitionkey", "partition_key", "sortkey",  "sort_key",
                                        "hashkey",      "hash_key",      "rangekey", "range_key",
                                        "pkey",         "skey"};
    while (name.len > 2 && isdigit(name.ptr[name.len - 1]))
        name.len--;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (infer_ends(name, words[i]))
            return true;
    if (!infer_ends(name, "pk") && !infer_ends(name, "sk"))
        return false;
    return name.len == 2 || !isalpha(name.ptr[name.len - 3]) || isupper(name.ptr[name.len - 1]) ||
           strncasecmp((const char *)name.ptr, "gsi", name.len < 3 ? name.len : 3) == 0 ||
           strncasecmp((const char *)name.ptr, "lsi", name.len < 3 ? name.len : 3) == 0;
}

static bool group_has(const struct infer_group *group, struct slice name)
{
    for (size_t i = 0; i < group->count; i++)
        if (value_get(*group->items[i], name).len > 0)
            return true;
    return false;
}

// "Id" or "_id", "At" or "_at"; nothing for numbers and words.
static const char *unknown_suffix(const struct key_rows *rows, const struct key_unknown *unknown)
{
    size_t words = 0;
    size_t times = 0;
    for (size_t i = 0; i < unknown->count; i++) {
        words += infer_is_word(unknown->values[i]);
        times += infer_is(unknown->values[i], MODEL_TIMESTAMP) ||
                 infer_is(unknown->values[i], MODEL_DATE);
    }
    if (times * 2 > unknown->count)
        return rows->snake ? "_at" : "At";
    if (unknown->digits || words * 2 > unknown->count)
        return "";
    return rows->snake ? "_id" : "Id";
}

struct slice infer_unknown_name(struct infer *infer, const struct key_rows *rows,
                                const struct key_unknown *unknown)
{
    struct draft *draft = &infer->draft;
    struct slice word = unknown->word.len > 0 ? unknown->word : rows->key;
    struct slice name = draft_camel(draft, word);
    const char *suffix = unknown_suffix(rows, unknown);
    if (!infer_ends(name, suffix[0] == '_' ? suffix + 1 : suffix) || suffix[0] == 0)
        name = draft_text(draft, "%.*s%s", SLICE_FMT(name), suffix);
    struct slice free = name;
    for (unsigned i = 2;; i++) {
        bool taken = draft_is_key(infer->table, free);
        for (size_t k = 0; k < rows->candidate_count; k++)
            taken = taken || slice_equal(rows->candidates[k].name, free);
        if (!taken)
            return free;
        free = draft_text(draft, "%.*s%u", SLICE_FMT(name), i);
    }
}

// ---- Rows --------------------------------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
    return slice_compare(((const struct key_candidate *)a)->name,
                         ((const struct key_candidate *)b)->name);
}

// The attributes that may stand in keys: texts, numbers and switches that are no derived keys.
static void find_candidates(const struct infer *infer, const struct infer_group *group,
                            struct key_rows *rows)
{
    size_t looked = group->count < KEY_ROWS_MAX ? group->count : KEY_ROWS_MAX;
    size_t counts[KEY_CANDIDATES_MAX] = {0};
    for (size_t i = 0; i < looked; i++) {
        struct value_iter iter;
        struct infer_number room;
        value_iter_init(&iter, *group->items[i]);
        while (value_iter_next(&iter)) {
            if (infer_value_text(iter.value, &room).len == 0 ||
                slice_equal(iter.name, infer->type_attribute) ||
                (draft_is_key(infer->table, iter.name) && is_key_name(iter.name)))
                continue;
            size_t k = 0;
            while (k < rows->candidate_count && !slice_equal(rows->candidates[k].name, iter.name))
                k++;
            if (k == KEY_CANDIDATES_MAX)
                continue;
            if (k == rows->candidate_count)
                rows->candidates[rows->candidate_count++].name = iter.name;
            counts[k]++;
        }
    }
    for (size_t k = 0; k < rows->candidate_count; k++)
        rows->candidates[k].whole = counts[k] == looked;
    qsort(rows->candidates, rows->candidate_count, sizeof(*rows->candidates), compare_names);
}

// Whether names are written with underscores in this table.
static bool writes_snake(const struct infer *infer)
{
    enum { LOOKED = 500 };
    size_t snake = 0;
    size_t camel = 0;
    for (size_t i = 0; i < infer->count; i += infer->count / LOOKED + 1) {
        struct value_iter iter;
        value_iter_init(&iter, infer->items[i]);
        while (value_iter_next(&iter)) {
            bool inner = false;
            for (size_t k = 1; k < iter.name.len; k++)
                inner = inner || (isupper(iter.name.ptr[k]) && islower(iter.name.ptr[k - 1]));
            snake += memchr(iter.name.ptr, '_', iter.name.len) != NULL;
            camel += inner;
        }
    }
    return snake > camel;
}

// The key texts that are explained together.
static void fill_rows(const struct infer_group *group, struct slice key, struct key_rows *rows)
{
    rows->count = 0;
    rows->fields = 0;
    rows->word = SLICE_LIT("");
    rows->key = key;
    // Spread over all of the group, so that what is rare is seen, too.
    size_t stride = group->count / KEY_ROWS_MAX + 1;
    for (size_t i = 0; i < group->count && rows->count < KEY_ROWS_MAX; i += stride) {
        struct slice text = infer_key_text(*group->items[i], key);
        if (text.len > 0) {
            rows->list[rows->count] =
                (struct key_row){.number = rows->count, .item = *group->items[i], .text = text};
            rows->count++;
        }
    }
}

// ---- One key part ------------------------------------------------------------------------------

static bool has_prefix(const struct key_rows *rows)
{
    size_t prefixed = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct slice text = rows->list[i].text;
        const uint8_t *mark = memchr(text.ptr, '#', text.len);
        prefixed += mark != NULL && infer_is_word(slice_of(text.ptr, (size_t)(mark - text.ptr)));
    }
    return rows->count > 0 && prefixed * 2 > rows->count;
}

static void note_odd(struct infer *infer, const struct infer_group *group,
                     const struct key_rows *rows, struct slice template)
{
    size_t odd = 0;
    struct slice example = VALUE_NONE;
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->list[i].odd && rows->list[i].at == rows->list[i].text.len)
            continue;
        odd++;
        example = rows->list[i].text;
    }
    if (odd > 0)
        draft_note(&infer->draft, "%.*s.%.*s: %zu of %zu keys do not fit \"%.*s\": \"%.*s\"",
                   SLICE_FMT(group->name), SLICE_FMT(rows->key), odd, rows->count,
                   SLICE_FMT(template), SLICE_FMT(example));
}

static void put_digits(struct value_builder *builder, struct slice text)
{
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len = 0;
    if (number_from_text(text, number, &len) != NUMBER_OK)
        len = number_from_i64(0, number);
    value_put_number(builder, slice_of(number, len));
}

// Attributes that are in keys only.
static void declare_unknowns(struct infer *infer, struct infer_group *group,
                             const struct key_rows *rows, const struct key_unknown *known,
                             bool optional)
{
    struct draft *draft = &infer->draft;
    for (const struct key_unknown *u = rows->unknowns; u != known; u = u->next) {
        struct buf encoded;
        struct value_builder builder;
        struct slice *values = draft_alloc(draft, (u->count + 1) * sizeof(*values));
        for (size_t i = 0; i < u->count; i++) {
            buf_init(&encoded, u->values[i].len + 16);
            value_builder_init(&builder, &encoded);
            if (u->digits)
                put_digits(&builder, u->values[i]);
            else
                value_put_string(&builder, u->values[i]);
            values[i] = draft_copy(draft, buf_view(&encoded));
            value_builder_release(&builder);
            buf_release(&encoded);
        }
        bool mixed = false;
        struct draft_attribute *attribute = draft_add_attribute(draft, group->entity, u->name);
        attribute->type = infer_type(infer, u->name, u->count, values, &mixed);
        attribute->optional = optional;
        attribute->doc = draft_text(draft, "only in %.*s", SLICE_FMT(rows->key));
        draft_note(draft, "%.*s.%.*s: no attribute has the value \"%.*s\"; it is called %.*s",
                   SLICE_FMT(group->name), SLICE_FMT(rows->key),
                   SLICE_FMT(u->count > 0 ? u->values[0] : SLICE_LIT("")), SLICE_FMT(u->name));
    }
}

// A key that is a number, or binary: the attribute that always has the same value.
static struct slice bare_template(struct infer *infer, const struct infer_group *group,
                                  struct slice key, const struct key_rows *rows)
{
    for (size_t c = 0; c < rows->candidate_count; c++) {
        struct slice name = rows->candidates[c].name;
        size_t same = 0;
        bool all = rows->candidates[c].unknown == NULL && !draft_is_key(infer->table, name);
        for (size_t i = 0; i < group->count && all; i++) {
            struct slice value = value_get(*group->items[i], key);
            all = value.len == 0 || value_equal(value, value_get(*group->items[i], name));
            same += value.len > 0;
        }
        struct slice text = draft_name_text(&infer->draft, name);
        if (all && same > 0)
            return draft_text(&infer->draft, "{%.*s}", SLICE_FMT(text));
    }
    return VALUE_NONE;
}

// The template, or ptr NULL if the key attribute is one of the entity's own.
static struct slice part_template(struct infer *infer, struct infer_group *group,
                                  const struct key_part *part, bool optional, struct key_rows *rows)
{
    struct buf template;
    fill_rows(group, part->name, rows);
    if (part->type != VALUE_S && is_key_name(part->name))
        return bare_template(infer, group, part->name, rows);
    if (part->type != VALUE_S || rows->count == 0 ||
        (!is_key_name(part->name) && !has_prefix(rows)))
        return VALUE_NONE;
    const struct key_unknown *known = rows->unknowns;
    size_t used = rows->used_count;
    buf_init(&template, 1 << 16);
    rows->out = &template;
    infer_explain(infer, rows);
    size_t unknowns = 0;
    for (const struct key_unknown *u = rows->unknowns; u != known; u = u->next)
        unknowns++;
    struct slice text = draft_keep(&infer->draft, &template);
    if (unknowns == 1 && rows->fields == 1 && text.ptr[0] == '{') {
        // Nothing but a value of its own.
        rows->unknowns = rows->unknowns->next;
        rows->used_count = used;
        rows->candidate_count--;
        return VALUE_NONE;
    }
    note_odd(infer, group, rows, text);
    declare_unknowns(infer, group, rows, known, optional);
    return text;
}

// ---- All keys ----------------------------------------------------------------------------------

static void add_entry(struct infer *infer, struct infer_group *group,
                      const struct draft_index *index, struct key_rows *rows)
{
    size_t parts = draft_parts(&index->keys);
    size_t with = 0;
    for (size_t i = 0; i < group->count; i++) {
        bool all = true;
        for (size_t p = 0; p < parts && all; p++)
            all = value_get(*group->items[i], index->keys.parts[p].name).len > 0;
        with += all;
    }
    if (with == 0)
        return;
    struct draft_entry *entry = draft_add_entry(&infer->draft, group->entity, index->name);
    entry->count = parts;
    for (size_t p = 0; p < parts; p++) {
        const struct key_part *part = &index->keys.parts[p];
        bool primary = draft_schema_has(&infer->table->keys, part->name);
        entry->parts[p] =
            primary ? VALUE_NONE : part_template(infer, group, part, with < group->count, rows);
    }
}

void infer_templates(struct infer *infer, struct infer_group *group)
{
    const struct key_schema *keys = &infer->table->keys;
    struct key_rows *rows = draft_alloc(&infer->draft, sizeof(*rows));
    rows->entity = group->name;
    find_candidates(infer, group, rows);
    rows->snake = writes_snake(infer);
    for (size_t i = 0; i < draft_parts(keys); i++)
        group->entity->keys[i] = part_template(infer, group, &keys->parts[i], false, rows);
    for (const struct draft_index *index = infer->table->indexes; index != NULL;
         index = index->next)
        if (group_has(group, index->keys.parts[0].name))
            add_entry(infer, group, index, rows);
}

size_t infer_template_fields(struct slice template, struct slice *names, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < template.len && count < max; i++) {
        if (template.ptr[i] == '\\') {
            i++;
            continue;
        }
        if (template.ptr[i] != '{')
            continue;
        size_t start = ++i;
        bool quoted = i < template.len && template.ptr[i] == '`';
        if (quoted)
            start = ++i;
        while (i < template.len && (quoted ? template.ptr[i] != '`'
                                           : isalnum(template.ptr[i]) || template.ptr[i] == '_' ||
                                                 template.ptr[i] == '-'))
            i++;
        names[count++] = slice_of(template.ptr + start, i - start);
        while (i < template.len && template.ptr[i] != '}')
            i++;
    }
    return count;
}

bool infer_template_has(struct slice template, struct slice name)
{
    struct slice names[16];
    size_t count =
        template.ptr == NULL ? 0 : infer_template_fields(template, names, COUNT_OF(names));
    for (size_t i = 0; i < count; i++)
        if (slice_equal(names[i], name))
            return true;
    return false;
}
