// The database around its tables: the meta tree, and keys that belong to no tree. All of it is
// read on one snapshot, which is short work: there is one record for each table or thing of the
// API, and the trees themselves are only touched at their first key.
#include "verify/verify_internal.h"

#include "base/encode.h"
#include "engine/log.h"

#include <stdlib.h>

// ---- Trees that something owns ----------------------------------------------------------------

struct owned {
    size_t count;
    size_t capacity;
    tree_id *trees;
};

static void own(struct owned *owned, tree_id tree)
{
    if (tree == 0)
        return;
    owned->trees = memory_grow(owned->trees, owned->count, &owned->capacity, sizeof(*owned->trees));
    owned->trees[owned->count++] = tree;
}

static void own_table(struct owned *owned, const struct table *table)
{
    own(owned, table->tree);
    own(owned, table->collections);
    own(owned, table->ttl.tree);
    own(owned, table->claims);
    own(owned, table->next_claims);
    own(owned, table->notes);
    own(owned, table->log);
    for (size_t i = 0; i < table->index_count; i++)
        own(owned, table->indexes[i].tree);
    for (size_t i = 0; i < table->vector_count; i++)
        own(owned, table->vectors[i].base.tree);
}

static int compare_trees(const void *a, const void *b)
{
    tree_id one = *(const tree_id *)a;
    tree_id other = *(const tree_id *)b;
    return (one > other) - (one < other);
}

static void sort_trees(struct owned *owned)
{
    if (owned->count > 0)
        qsort(owned->trees, owned->count, sizeof(*owned->trees), compare_trees);
}

static bool is_owned(const struct owned *owned, tree_id tree)
{
    return owned->count > 0 &&
           bsearch(&tree, owned->trees, owned->count, sizeof(*owned->trees), compare_trees) != NULL;
}

// ---- The meta tree ----------------------------------------------------------------------------

struct census {
    struct verifier *v;
    struct owned owned;   // of tables and streams
    struct owned dropped; // trees that are to be emptied
    tree_id next_tree;
    bool shown; // differences are told: not in the first round
};

static struct tally *census_tally(struct census *census, enum verify_check check)
{
    return tally_of(census->v, check, TREE_META, slice_of(NULL, 0));
}

// A record that nothing can be done with.
static void complain(struct census *census, enum verify_check check, struct slice key,
                     const char *what)
{
    if (!census->shown)
        return;
    verify_differ(census->v, census_tally(census, check), VALUE_NONE, key, "%s", what);
    mend_delete(census->v, key);
}

static void look_at_table(struct census *census, struct slice key, struct slice name,
                          struct slice value)
{
    struct table *table = value_valid(value) ? table_decode(value) : NULL;
    if (table == NULL)
        complain(census, VERIFY_CATALOG, key, "the record of a table cannot be read");
    else if (!slice_equal(table->name, name))
        complain(census, VERIFY_CATALOG, key, "the record is of a table of another name");
    else if (!census->shown)
        own_table(&census->owned, table);
    table_release(table);
}

static void look_at_record(struct census *census, struct slice key, struct slice name,
                           struct slice value)
{
    const struct verify_knowledge *knowledge = census->v->options->knowledge;
    if (!value_valid(value))
        complain(census, VERIFY_RECORDS, key, "the record cannot be read");
    else if (!census->shown && knowledge->record_log != NULL)
        own(&census->owned, knowledge->record_log(name, value));
}

// The form of each kind of record: the least bytes of its name, and how many its value has.
struct meta_form {
    char kind;
    size_t name_min;
    size_t value_min;
    size_t value_max;
};

static const struct meta_form forms[] = {
    {META_TABLE, 1, 0, STORE_VALUE_MAX},
    {META_RECORD, 1, 0, STORE_VALUE_MAX},
    {META_STATS, 4, 16, 16},
    {META_DROP, 4, 0, 0},
    {META_NEXT, 0, 4, 4},
    {META_TOKEN, 1, 40, 40 + LIMIT_TRANSACT},
    {META_EXPIRY, 8, 0, 0},
    {META_LAPSE, 8 + LAYOUT_TREE, 0, 0},
    {META_PROBE, 0, 0, 0},
    {META_SEQUENCE, 0, 8, 24},
    {META_SHIP, 0, 0, STORE_VALUE_MAX},
    {META_FOLLOW, 0, 1, STORE_VALUE_MAX},
};

static const struct meta_form *form_of(struct slice key, struct slice value)
{
    for (size_t i = 0; key.len >= META_HEAD && i < COUNT_OF(forms); i++) {
        const struct meta_form *form = &forms[i];
        if (form->kind == (char)key.ptr[4])
            return key.len - META_HEAD >= form->name_min && value.len >= form->value_min &&
                           value.len <= form->value_max
                       ? form
                       : NULL;
    }
    return NULL;
}

static bool is_known(const struct census *census, tree_id tree)
{
    return is_owned(&census->owned, tree) || is_owned(&census->dropped, tree);
}

static void look_at_meta(struct census *census, struct slice key, struct slice value)
{
    const struct meta_form *form = form_of(key, value);
    if (census->shown)
        census_tally(census,
                     form != NULL && form->kind == META_RECORD ? VERIFY_RECORDS : VERIFY_CATALOG)
            ->examined++;
    if (form == NULL) {
        complain(census, VERIFY_CATALOG, key, "the record is of no kind that this version knows");
        return;
    }
    struct slice name = slice_of(key.ptr + META_HEAD, key.len - META_HEAD);
    switch (form->kind) {
    case META_TABLE:
        look_at_table(census, key, name, value);
        break;
    case META_RECORD:
        look_at_record(census, key, name, value);
        break;
    case META_DROP:
        if (!census->shown)
            own(&census->dropped, be32_get(name.ptr));
        else if (is_owned(&census->owned, be32_get(name.ptr)))
            complain(census, VERIFY_CATALOG, key, "a tree that is in use is to be removed");
        break;
    case META_STATS:
        if (census->shown && !is_known(census, be32_get(name.ptr)))
            complain(census, VERIFY_TREES, key, "counters of a tree that belongs to nothing");
        else if (!census->shown)
            census->v->progress.total += be64_get(value.ptr);
        break;
    case META_NEXT:
        census->next_tree = be32_get(value.ptr);
        break;
    default:
        break;
    }
}

static void read_meta_tree(struct census *census, const struct view *view)
{
    struct verifier *v = census->v;
    struct store_cursor *cursor = verify_cursor(v, view, TREE_META);
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        look_at_meta(census, store_cursor_key(cursor), store_cursor_value(cursor));
    verify_cursor_end(v, census_tally(census, VERIFY_CATALOG), cursor);
}

// ---- Keys that belong to nothing --------------------------------------------------------------

static void check_shared(struct census *census)
{
    const struct owned *owned = &census->owned;
    struct tally *tally = census_tally(census, VERIFY_CATALOG);
    for (size_t i = 1; i < owned->count; i++) {
        if (owned->trees[i] == owned->trees[i - 1])
            verify_differ(census->v, tally, VALUE_NONE, slice_of(NULL, 0),
                          "tree %u belongs to two owners", owned->trees[i]);
    }
    tree_id last = owned->count == 0 ? 0 : owned->trees[owned->count - 1];
    if (last < census->next_tree)
        return;
    verify_differ(census->v, tally, VALUE_NONE, slice_of(NULL, 0),
                  "tree %u is in use, but would be given out again", last);
    uint8_t next[4];
    be32_put(next, last + 1);
    meta_key(&census->v->txn.key, META_NEXT, slice_of(NULL, 0));
    mend_put(census->v, buf_view(&census->v->txn.key), slice_of(next, sizeof(next)));
}

// Trees are deleted whole, as ranges, and a cursor may still see one that was.
static bool is_deleted(struct verifier *v, const struct view *view, struct slice key)
{
    struct store_value value;
    struct store_error cause;
    enum store_result result = store_get(v->store, view->snapshot, key, &value, &cause);
    if (result == STORE_FOUND)
        store_value_release(v->store, &value);
    return result == STORE_ABSENT;
}

// From one tree to the next, by their first keys.
static void check_trees(struct census *census, const struct view *view)
{
    struct verifier *v = census->v;
    struct tally *tally = census_tally(census, VERIFY_TREES);
    struct store_cursor *cursor =
        store_cursor_open(v->store, view->snapshot, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    while (store_cursor_valid(cursor) && !v->stopped) {
        struct slice key = store_cursor_key(cursor);
        tree_id tree = key.len < 4 ? 0 : be32_get(key.ptr);
        tally->examined++;
        if (key.len < 4) {
            verify_differ(v, tally, VALUE_NONE, key, "a key too short to belong to a tree");
            mend_delete(v, key);
            store_cursor_next(cursor);
            continue;
        }
        if (tree != TREE_META && !is_known(census, tree) && !is_deleted(v, view, key)) {
            verify_differ(v, tally, VALUE_NONE, key, "keys of tree %u, which belongs to nothing",
                          tree);
            mend_delete_tree(v, tree);
        }
        if (tree == UINT32_MAX)
            break;
        uint8_t next[4];
        be32_put(next, tree + 1);
        store_cursor_seek(cursor, slice_of(next, sizeof(next)));
    }
    verify_cursor_end(v, tally, cursor);
}

// Two rounds over the meta tree: the first one to know all owners, the second one to judge.
void verify_catalog(struct verifier *v)
{
    struct view view = {.snapshot = store_snapshot_take(v->store)};
    struct census census = {.v = v, .next_tree = TREE_FIRST};
    ensure(view.snapshot != NULL);
    read_meta_tree(&census, &view);
    if (v->options->table.len == 0 && verify_proceed(v, 0)) {
        sort_trees(&census.owned);
        sort_trees(&census.dropped);
        census.shown = true;
        v->tally_count = 0;
        (void)census_tally(&census, VERIFY_CATALOG);
        (void)census_tally(&census, VERIFY_RECORDS);
        read_meta_tree(&census, &view);
        check_shared(&census);
        check_trees(&census, &view);
        if (verify_proceed(v, 0))
            tallies_tell(v);
    }
    v->tally_count = 0;
    free(census.owned.trees);
    free(census.dropped.trees);
    store_snapshot_release(v->store, view.snapshot);
}
