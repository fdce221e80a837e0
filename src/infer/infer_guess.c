// The keys of a table that nobody describes, from its items: by their usual names, else by an
// attribute that every item has with a value of its own.
#include "infer/infer_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum { NAMES_MAX = 512 };

static bool all_have(const struct infer *infer, struct slice name, enum value_type *type)
{
    for (size_t i = 0; i < infer->count; i++) {
        struct slice value = value_get(infer->items[i], name);
        enum value_type here = value.len == 0 ? VALUE_TYPES : value_type(value);
        if (here != VALUE_S && here != VALUE_N && here != VALUE_B)
            return false;
        if (i > 0 && here != *type)
            return false;
        *type = here;
    }
    return infer->count > 0;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a;
    uint64_t other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

// Whether no two items have the same values of both. Hashes are enough: two that are equal by
// chance would only make us look for other keys.
static bool is_unique(const struct infer *infer, struct slice hash, struct slice range)
{
    uint64_t *list = calloc(infer->count + 1, sizeof(*list));
    struct buf key;
    bool unique = list != NULL;
    buf_init(&key, 1 << 20);
    for (size_t i = 0; i < infer->count && unique; i++) {
        buf_clear(&key);
        buf_slice(&key, value_get(infer->items[i], hash));
        if (range.len > 0)
            buf_slice(&key, value_get(infer->items[i], range));
        list[i] = key_hash(buf_view(&key));
    }
    if (unique)
        qsort(list, infer->count, sizeof(*list), compare_hashes);
    for (size_t i = 1; i < infer->count && unique; i++)
        unique = list[i] != list[i - 1];
    buf_release(&key);
    free(list);
    return unique;
}

static bool try_keys(struct infer *infer, struct slice hash, struct slice range)
{
    enum value_type hash_type = VALUE_S;
    enum value_type range_type = VALUE_S;
    if (!all_have(infer, hash, &hash_type) ||
        (range.len > 0 && !all_have(infer, range, &range_type)) || !is_unique(infer, hash, range))
        return false;
    infer_keys(infer, hash, range);
    infer->table->keys.parts[0].type = hash_type;
    infer->table->keys.parts[1].type = range_type;
    return true;
}

// ---- Candidates ------------------------------------------------------------------------------

static const char *const usual[][2] = {{"PK", "SK"},
                                       {"pk", "sk"},
                                       {"Pk", "Sk"},
                                       {"partitionKey", "sortKey"},
                                       {"_pk", "_sk"},
                                       {"hash", "range"},
                                       {"hashKey", "rangeKey"},
                                       {"partition_key", "sort_key"},
                                       {"PartitionKey", "SortKey"},
                                       {"PK", ""},
                                       {"pk", ""},
                                       {"id", ""},
                                       {"Id", ""},
                                       {"ID", ""},
                                       {"uuid", ""},
                                       {"_id", ""}};

// Names that all items have, ids first.
static size_t common_names(const struct infer *infer, struct slice *names)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct value_iter iter;
        enum value_type type = VALUE_S;
        value_iter_init(&iter, infer->items[0]);
        while (value_iter_next(&iter))
            if (infer_ends(iter.name, "id") == (pass == 0) && count < NAMES_MAX &&
                all_have(infer, iter.name, &type))
                names[count++] = iter.name;
    }
    return count;
}

static bool find_keys(struct infer *infer)
{
    struct slice *names = draft_alloc(&infer->draft, NAMES_MAX * sizeof(*names));
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        if (try_keys(infer, slice_str(usual[i][0]), slice_str(usual[i][1])))
            return true;
    size_t count = common_names(infer, names);
    for (size_t i = 0; i < count; i++)
        if (infer_ends(names[i], "id") && try_keys(infer, names[i], SLICE_LIT("")))
            return true;
    for (size_t i = 0; i < count && i < 8; i++)
        for (size_t k = 0; k < count && k < 32; k++)
            if (i != k && infer_ends(names[i], "id") && try_keys(infer, names[i], names[k]))
                return true;
    return false;
}

// ---- Indexes ---------------------------------------------------------------------------------

// "GSI1PK": *stem is "GSI1", what remains is PK or SK with whatever joins them.
static bool split_name(struct slice name, struct slice *stem, bool *hash)
{
    if (name.len < 5 || (strncasecmp((const char *)name.ptr, "GSI", 3) != 0 &&
                         strncasecmp((const char *)name.ptr, "LSI", 3) != 0))
        return false;
    const char *end = (const char *)name.ptr + name.len - 2;
    if (strncasecmp(end, "PK", 2) != 0 && strncasecmp(end, "SK", 2) != 0)
        return false;
    *hash = tolower((uint8_t)*end) == 'p';
    size_t len = name.len - 2;
    while (len > 0 && (name.ptr[len - 1] == '_' || name.ptr[len - 1] == '-'))
        len--;
    *stem = slice_of(name.ptr, len);
    return true;
}

static void guess_index(struct infer *infer, struct slice name)
{
    struct slice stem;
    bool hash = false;
    if (!split_name(name, &stem, &hash))
        return;
    struct draft_index *index = draft_index(infer->table, stem);
    if (index == NULL)
        index = draft_add_index(&infer->draft, infer->table, stem);
    struct key_part part = {draft_copy(&infer->draft, name), VALUE_S};
    if (draft_schema_has(&index->keys, name))
        return;
    if (hash && index->keys.hash_count == 0) {
        index->keys.parts[1] = index->keys.parts[0];
        index->keys.parts[0] = part;
        index->keys.hash_count = 1;
    } else if (!hash && index->keys.range_count == 0) {
        index->keys.parts[index->keys.hash_count] = part;
        index->keys.range_count = 1;
    }
}

// An index whose partition key no item has is none.
static void drop_headless(struct infer *infer)
{
    struct draft_index **at = &infer->table->indexes;
    while (*at != NULL) {
        if ((*at)->keys.hash_count == 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

bool infer_guess_keys(struct infer *infer, const char **why)
{
    if (infer->table->keys.hash_count == 0 && !find_keys(infer)) {
        *why = "the keys of the table cannot be guessed; name them with --key";
        return false;
    }
    for (size_t i = 0; i < infer->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, infer->items[i]);
        while (value_iter_next(&iter))
            guess_index(infer, iter.name);
    }
    drop_headless(infer);
    const struct key_schema *keys = &infer->table->keys;
    draft_note(&infer->draft, "the keys (%.*s%s%.*s) and indexes are guessed from names and values",
               SLICE_FMT(keys->parts[0].name), keys->range_count > 0 ? ", " : "",
               SLICE_FMT(keys->range_count > 0 ? keys->parts[1].name : SLICE_LIT("")));
    return true;
}
