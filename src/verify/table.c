// One table: what its items imply is there, and what is there is implied by an item.
//
// The functions that write entries make them here, too, into a batch that is never committed: from
// no item to the item as it is. So there is no second description of what an entry looks like.
// The other way round only needs to know whose entry a key is, which stands in it.
#include "verify/verify_internal.h"

#include "base/encode.h"
#include "store/store_driver.h"

// ---- Derived trees --------------------------------------------------------------------------

// A tree that is made of the items of the table.
struct derived {
    enum verify_check check;
    tree_id tree;
    struct slice name;
    const struct index *index; // of an index or vector index
};

// The derived tree of that id; false if the version has none that is kept up.
static bool derived_find(const struct view *view, tree_id tree, struct derived *out)
{
    const struct table *table = view->table;
    *out = (struct derived){.tree = tree};
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].tree == tree) {
            out->check = VERIFY_INDEX;
            out->index = &table->indexes[i];
        }
    }
    for (size_t i = 0; i < table->vector_count; i++) {
        if (table->vectors[i].base.tree == tree) {
            out->check = VERIFY_VECTOR_INDEX;
            out->index = &table->vectors[i].base;
        }
    }
    if (out->index != NULL) {
        out->name = out->index->name;
        return out->index->status != INDEX_DELETING;
    }
    if (tree == table->ttl.tree)
        out->check = VERIFY_TTL;
    else if (tree == table->collections)
        out->check = VERIFY_COLLECTIONS;
    else if (tree == table->claims && view->claims)
        out->check = VERIFY_CLAIMS;
    return out->check != 0;
}

// The ids of all of them.
static size_t derived_list(const struct table *table, tree_id trees[VERIFY_TREES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        trees[count++] = table->indexes[i].tree;
    for (size_t i = 0; i < table->vector_count; i++)
        trees[count++] = table->vectors[i].base.tree;
    const tree_id others[] = {table->ttl.tree, table->collections, table->claims};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (others[i] != 0)
            trees[count++] = others[i];
    }
    return count;
}

static struct tally *derived_tally(struct verifier *v, const struct derived *derived)
{
    return tally_of(v, derived->check, derived->tree, derived->name);
}

// ---- What an item implies -------------------------------------------------------------------

// The values that the item claims; nothing if memory does not allow it to be known.
static void imply_claims(struct verifier *v, const struct view *view, struct slice tree_key,
                         struct slice item)
{
    struct error error;
    struct guard *guard = view->table->guard;
    struct guard_write write = {
        .touch = true, .before = item, .env = &v->engine.env, .arena = &v->arena, .after = item};
    error_init(&error, &v->arena);
    if (!guard->ops->write(guard, &write, &error) || write.claim_count == 0)
        return;
    struct claims claims = {.count = write.claim_count, .list = write.claims};
    claims_take(&v->txn, &(struct claimant){view->table, tree_key, &claims});
}

// Everything that is made of the item, in the batch and in the counters of the transaction. Returns
// what the item adds to its collection.
static int64_t imply(struct verifier *v, const struct view *view, struct slice tree_key,
                     struct image image, bool claims)
{
    const struct table *table = view->table;
    const struct change change = {.key = tree_key, .after = image};
    struct write_cost cost;
    store_batch_clear(v->txn.batch);
    arena_reset(&v->arena);
    txn_recount(&v->txn, &(struct entry_change){.tree = table->tree, .after = image});
    int64_t collected = apply_derived(&v->txn, table, &change, &cost);
    if (claims && view->claims)
        imply_claims(v, view, tree_key, image.item);
    // Without memory nothing can be said of the item, nor of those that follow.
    v->stopped = v->stopped || store_batch_failed(v->txn.batch);
    return collected;
}

// ---- Items to entries -----------------------------------------------------------------------

static struct slice behind_prefix(struct slice tree_key)
{
    size_t head = tree_key.len < LAYOUT_PREFIX ? tree_key.len : LAYOUT_PREFIX;
    return slice_of(tree_key.ptr + head, tree_key.len - head);
}

static struct slice item_key(struct verifier *v, const struct table *table, struct slice tree_key)
{
    return verify_key(v, &table->keys, NULL, behind_prefix(tree_key));
}

static bool has_key(const struct key_schema *keys, struct slice item)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice value = value_get(item, keys->parts[i].name);
        if (value.len == 0 || value_type(value) != keys->parts[i].type)
            return false;
    }
    return true;
}

// Whether a record is the item of that key.
static bool is_item_of(struct verifier *v, const struct table *table, struct slice tree_key,
                       struct slice record, struct image *image)
{
    struct buf *own = &v->txn.old_key;
    if (!verify_record(record, image) || !has_key(&table->keys, image->item))
        return false;
    buf_clear(own);
    layout_item_key(own, table->tree, &table->keys, image->item);
    return slice_equal(buf_view(own), tree_key);
}

static void mend_size(struct verifier *v, struct slice tree_key, struct image *image, size_t size)
{
    if (v->mend == NULL)
        return;
    image->size = size;
    buf_clear(&v->txn.record);
    record_write(&v->txn.record, image->item, size);
    ensure(!v->txn.record.failed);
    mend_put(v, tree_key, buf_view(&v->txn.record));
}

// The item itself: its form, its place, its size. False if nothing can be made of it.
static bool check_item(struct verifier *v, const struct view *view, struct slice tree_key,
                       struct slice record, struct image *image)
{
    const struct table *table = view->table;
    struct tally *tally = tally_of(v, VERIFY_ITEMS, table->tree, slice_of(NULL, 0));
    tally->examined++;
    if (!is_item_of(v, table, tree_key, record, image)) {
        verify_differ(v, tally, item_key(v, table, tree_key), tree_key,
                      "the item cannot be read: its bytes are not the item of this key");
        mend_delete(v, tree_key);
        return false;
    }
    size_t size = value_item_size(image->item);
    if (size != image->size) {
        verify_differ(v, tally, item_key(v, table, tree_key), tree_key,
                      "the item's size is noted as %zu bytes; it is %zu", image->size, size);
        mend_size(v, tree_key, image, size);
    }
    return true;
}

// Whether what is stored is what is implied. An entry may hold a copy of the item, which is what is
// implied here, or refer to it, whatever the limit was when it was written.
static bool is_same(struct verifier *v, const struct derived *derived, struct slice tree_key,
                    struct slice stored, struct slice implied)
{
    if (slice_equal(stored, implied))
        return true;
    if (derived->check != VERIFY_INDEX)
        // Items that had a value before it was to be unique may share it: one of them has the
        // claim, and the claim's own check finds out whether that one has the value.
        return derived->check == VERIFY_CLAIMS;
    buf_clear(&v->txn.record);
    record_refer(&v->txn.record, tree_key, record_size(implied));
    return slice_equal(stored, buf_view(&v->txn.record));
}

// One entry that the item implies, against the store.
static void check_implied(struct verifier *v, const struct view *view, struct slice tree_key,
                          const struct batch_entry *entry)
{
    struct derived derived;
    if (entry->key.len < 4 || !derived_find(view, be32_get(entry->key.ptr), &derived))
        return;
    struct tally *tally = derived_tally(v, &derived);
    struct store_value value;
    struct store_error cause;
    enum store_result result = store_get(v->store, view->snapshot, entry->key, &value, &cause);
    bool same = result == STORE_FOUND && is_same(v, &derived, tree_key, value.bytes, entry->value);
    if (!same) {
        const char *what = result == STORE_FAILED  ? cause.text
                           : result == STORE_FOUND ? "the item's entry has other contents"
                           : derived.check == VERIFY_CLAIMS
                               ? "the item's unique value is not claimed"
                               : "the item has no entry";
        verify_differ(v, tally, item_key(v, view->table, tree_key), slice_of(NULL, 0), "%s", what);
        mend_put(v, entry->key, entry->value);
    }
    if (result == STORE_FOUND)
        store_value_release(v->store, &value);
}

// ---- Walking in slices ----------------------------------------------------------------------

// What is done with each key of a tree, on the slice's view.
typedef void (*visit_key)(struct verifier *v, const struct view *view,
                          const struct derived *derived, struct slice key, struct slice value);

// Walks from v->place on for the length of a slice and moves it. False at the end of the tree.
static bool walk_slice(struct verifier *v, const struct view *view, const struct derived *derived,
                       visit_key visit)
{
    struct store_cursor *cursor = verify_cursor(v, view, derived->tree);
    size_t keys = 0;
    size_t bytes = 0;
    store_cursor_seek(cursor, buf_view(&v->place));
    while (store_cursor_valid(cursor) && keys < VERIFY_SLICE_KEYS && bytes < VERIFY_SLICE_BYTES) {
        struct slice key = store_cursor_key(cursor);
        struct slice value = store_cursor_value(cursor);
        visit(v, view, derived, key, value);
        keys++;
        bytes += key.len + value.len;
        buf_clear(&v->place);
        buf_slice(&v->place, key);
        buf_byte(&v->place, 0); // the first key behind it
        store_cursor_next(cursor);
    }
    bool more = store_cursor_valid(cursor);
    verify_cursor_end(v, derived_tally(v, derived), cursor);
    return verify_proceed(v, keys) && more;
}

static void visit_item(struct verifier *v, const struct view *view, const struct derived *derived,
                       struct slice key, struct slice value)
{
    (void)derived;
    struct image image;
    if (!check_item(v, view, key, value, &image))
        return;
    (void)imply(v, view, key, image, true);
    struct store_batch_view implied = store_batch_view(v->txn.batch);
    for (size_t i = 0; i < implied.entry_count && !v->stopped; i++)
        check_implied(v, view, key, &implied.entries[i]);
}

// Walks over a tree of the table, on one view after the other, for as long as the table has it.
static void walk_tree(struct verifier *v, tree_id table, tree_id tree, visit_key visit)
{
    bool more = true;
    buf_clear(&v->place);
    while (more && !v->stopped) {
        struct view view;
        struct derived derived = {.check = VERIFY_ITEMS, .tree = tree};
        if (!view_open(v, buf_view(&v->name), table, &view))
            return;
        more = (tree == table || derived_find(&view, tree, &derived)) &&
               walk_slice(v, &view, &derived, visit);
        view_close(v, &view);
    }
}

// ---- Entries to items -----------------------------------------------------------------------

// The tree key of an item whose encoded key attributes these are, in v->owner.
static bool owner_of_keys(struct verifier *v, const struct table *table, struct slice rest)
{
    struct slice key = verify_key(v, &table->keys, NULL, rest);
    if (key.len == 0)
        return false;
    layout_item_key(&v->owner, table->tree, &table->keys, key);
    return true;
}

static bool skip_parts(const struct key_schema *keys, struct slice *rest)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (!key_whole(*rest, keys->parts[i].type))
            return false;
        (void)key_skip(rest, keys->parts[i].type);
    }
    return true;
}

// The tree key of the item whose entry it is, in v->owner; false if the entry does not say.
static bool owner_of(struct verifier *v, const struct view *view, const struct derived *derived,
                     struct slice key, struct slice value)
{
    struct slice rest = behind_prefix(key);
    buf_clear(&v->owner);
    switch (derived->check) {
    case VERIFY_INDEX:
        return skip_parts(&derived->index->keys, &rest) && owner_of_keys(v, view->table, rest);
    case VERIFY_VECTOR_INDEX: {
        // Behind the partition attribute, if there is one, an item's key stands with its hash.
        bool partitioned = derived->index->keys.hash_count > 0;
        rest = partitioned ? rest : slice_of(key.ptr + 4, key.len - 4);
        if ((partitioned && !skip_parts(&derived->index->keys, &rest)) || rest.len < 8)
            return false;
        return owner_of_keys(v, view->table, slice_of(rest.ptr + 8, rest.len - 8));
    }
    case VERIFY_TTL:
        buf_slice(&v->owner, rest);
        return true;
    default:
        buf_slice(&v->owner, value);
        return true;
    }
}

// How an entry is named to the reader: by the item's key, and by its own.
static struct slice entry_key(struct verifier *v, const struct view *view,
                              const struct derived *derived, struct slice key)
{
    if (derived->check == VERIFY_INDEX)
        return verify_key(v, &derived->index->keys, &view->table->keys, behind_prefix(key));
    return item_key(v, view->table, buf_view(&v->owner));
}

// Whether the item of v->owner implies the entry of that key.
static void check_owner(struct verifier *v, const struct view *view, const struct derived *derived,
                        struct slice key, struct image image)
{
    struct slice ignored;
    (void)imply(v, view, buf_view(&v->owner), image, derived->check == VERIFY_CLAIMS);
    if (v->stopped || store_batch_get(v->txn.batch, key, &ignored) == BATCH_PUT)
        return;
    verify_differ(v, derived_tally(v, derived), entry_key(v, view, derived, key), key,
                  derived->check == VERIFY_CLAIMS
                      ? "the item does not have the value that is claimed for it"
                      : "the item is there, but implies another entry or none");
    mend_delete(v, key);
}

static void visit_entry(struct verifier *v, const struct view *view, const struct derived *derived,
                        struct slice key, struct slice value)
{
    struct tally *tally = derived_tally(v, derived);
    tally->examined++;
    // A claim with an end may outlive what it was made of.
    if (derived->check == VERIFY_CLAIMS && claim_ends(value))
        return;
    if (!owner_of(v, view, derived, key, value)) {
        verify_differ(v, tally, VALUE_NONE, key, "the entry's key does not name an item");
        mend_delete(v, key);
        return;
    }
    struct store_value record;
    struct store_error cause;
    struct image image;
    enum store_result result = v->owner.len == 0 ? STORE_ABSENT
                                                 : store_get(v->store, view->snapshot,
                                                             buf_view(&v->owner), &record, &cause);
    if (result == STORE_FAILED) {
        verify_differ(v, tally, entry_key(v, view, derived, key), key,
                      "the entry's item cannot be read: %s", cause.text);
        return;
    }
    if (result == STORE_ABSENT) {
        verify_differ(v, tally, entry_key(v, view, derived, key), key, "the entry has no item");
        mend_delete(v, key);
        return;
    }
    // An item that cannot be read is told of by itself; mending removes it, and so its entries.
    if (!is_item_of(v, view->table, buf_view(&v->owner), record.bytes, &image))
        mend_delete(v, key);
    else
        check_owner(v, view, derived, key, image);
    store_value_release(v->store, &record);
}

// A collection's counter must have a collection; how much is in it is checked in counting.
static void visit_collection(struct verifier *v, const struct view *view,
                             const struct derived *derived, struct slice key, struct slice value)
{
    struct tally *tally = derived_tally(v, derived);
    struct slice rest = slice_of(key.ptr + 4, key.len - 4);
    const struct key_schema partition = {.hash_count = 1, .parts = {view->table->keys.parts[0]}};
    struct slice named = verify_key(v, &partition, NULL, rest);
    tally->examined++;
    if (named.len == 0 || value.len != 8) {
        verify_differ(v, tally, named, key, "this is not the counter of a collection");
        mend_delete(v, key);
        return;
    }
    struct slice values[1] = {value_get(named, partition.parts[0].name)};
    buf_clear(&v->owner);
    layout_partition(&v->owner, view->table->tree, values, 1);
    struct store_cursor *cursor = verify_cursor(v, view, view->table->tree);
    store_cursor_seek(cursor, buf_view(&v->owner));
    if (!store_cursor_valid(cursor) ||
        !slice_begins(store_cursor_key(cursor), buf_view(&v->owner))) {
        verify_differ(v, tally, named, key, "the counter belongs to a collection without items");
        mend_delete(v, key);
    }
    store_cursor_close(cursor);
}

// ---- Counting -------------------------------------------------------------------------------

// The sum of one collection, while its items go by.
struct collecting {
    struct buf partition; // encoded; empty before the first item
    int64_t bytes;
};

static void check_collection(struct verifier *v, const struct view *view, struct collecting *sum)
{
    const struct table *table = view->table;
    if (sum->partition.len == 0)
        return;
    layout_tree_key(&v->owner, table->collections, buf_view(&sum->partition));
    struct tally *tally = tally_of(v, VERIFY_COLLECTIONS, table->collections, slice_of(NULL, 0));
    struct store_value value;
    struct store_error cause;
    int64_t noted = 0;
    if (store_get(v->store, view->snapshot, buf_view(&v->owner), &value, &cause) == STORE_FOUND) {
        noted = value.bytes.len == 8 ? (int64_t)be64_get(value.bytes.ptr) : 0;
        store_value_release(v->store, &value);
    }
    const struct key_schema partition = {.hash_count = 1, .parts = {table->keys.parts[0]}};
    if (noted == sum->bytes)
        return;
    verify_differ(v, tally, verify_key(v, &partition, NULL, buf_view(&sum->partition)),
                  slice_of(NULL, 0), "the collection is noted as %lld bytes; it is %lld",
                  (long long)noted, (long long)sum->bytes);
    uint8_t bytes[8];
    be64_put(bytes, (uint64_t)sum->bytes);
    mend_put(v, buf_view(&v->owner), slice_of(bytes, sizeof(bytes)));
}

static void collect(struct verifier *v, const struct view *view, struct slice tree_key,
                    int64_t bytes, struct collecting *sum)
{
    struct slice rest = behind_prefix(tree_key);
    struct slice partition = key_skip(&rest, view->table->keys.parts[0].type);
    if (!slice_equal(partition, buf_view(&sum->partition))) {
        check_collection(v, view, sum);
        buf_clear(&sum->partition);
        buf_slice(&sum->partition, partition);
        sum->bytes = 0;
    }
    sum->bytes += bytes;
}

// The counters of a tree against those that the items add up to.
static void check_counters(struct verifier *v, const struct view *view, tree_id tree,
                           struct slice name)
{
    int64_t items = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < v->txn.delta_count; i++) {
        if (v->txn.deltas[i].tree == tree) {
            items = v->txn.deltas[i].items;
            bytes = v->txn.deltas[i].bytes;
        }
    }
    struct tally *tally = tally_of(v, VERIFY_COUNTERS, tree, name);
    struct store_value value;
    struct store_error cause;
    int64_t noted[2] = {0, 0};
    meta_tree_key(&v->txn.key, META_STATS, tree);
    if (store_get(v->store, view->snapshot, buf_view(&v->txn.key), &value, &cause) == STORE_FOUND) {
        for (size_t i = 0; value.bytes.len == 16 && i < 2; i++)
            noted[i] = (int64_t)be64_get(value.bytes.ptr + 8 * i);
        store_value_release(v->store, &value);
    }
    tally->examined++;
    if (noted[0] != items)
        verify_differ(v, tally, VALUE_NONE, slice_of(NULL, 0),
                      "the counter says %lld items; there are %lld", (long long)noted[0],
                      (long long)items);
    if (noted[1] != bytes)
        verify_differ(v, tally, VALUE_NONE, slice_of(NULL, 0),
                      "the counter says %lld bytes; there are %lld", (long long)noted[1],
                      (long long)bytes);
    if (noted[0] != items || noted[1] != bytes) {
        uint8_t right[16];
        be64_put(right, (uint64_t)items);
        be64_put(right + 8, (uint64_t)bytes);
        mend_put(v, buf_view(&v->txn.key), slice_of(right, sizeof(right)));
    }
}

// Reads all items of one view. False if not all could be read: then nothing can be said.
static bool count_items(struct verifier *v, const struct view *view, struct collecting *sum)
{
    const struct table *table = view->table;
    struct store_cursor *cursor = verify_cursor(v, view, table->tree);
    uint64_t since = 0;
    bool whole = true;
    v->txn.delta_count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct image image;
        struct slice key = store_cursor_key(cursor);
        if (!verify_record(store_cursor_value(cursor), &image) ||
            item_key(v, table, key).len == 0) {
            whole = false;
            break;
        }
        int64_t bytes = imply(v, view, key, image, false);
        if (table_has_local_index(table))
            collect(v, view, key, bytes, sum);
        if (++since % VERIFY_SLICE_KEYS == 0 && !verify_proceed(v, VERIFY_SLICE_KEYS))
            break;
    }
    struct store_error cause;
    whole = whole && !v->stopped && store_cursor_ok(cursor, &cause);
    store_cursor_close(cursor);
    return verify_proceed(v, since % VERIFY_SLICE_KEYS) && whole;
}

static void count_table(struct verifier *v, const struct view *view)
{
    const struct table *table = view->table;
    struct collecting sum = {.bytes = 0};
    buf_init(&sum.partition, STORE_KEY_MAX);
    if (count_items(v, view, &sum)) {
        if (table_has_local_index(table))
            check_collection(v, view, &sum);
        check_counters(v, view, table->tree, slice_of(NULL, 0));
        for (size_t i = 0; i < table->index_count; i++)
            if (table->indexes[i].status != INDEX_DELETING)
                check_counters(v, view, table->indexes[i].tree, table->indexes[i].name);
        for (size_t i = 0; i < table->vector_count; i++)
            if (table->vectors[i].base.status != INDEX_DELETING)
                check_counters(v, view, table->vectors[i].base.tree, table->vectors[i].base.name);
    }
    v->txn.delta_count = 0;
    buf_release(&sum.partition);
}

// ---- All of it ------------------------------------------------------------------------------

// In an order in which mending leaves nothing to mend: what is nobody's goes, what is missing
// comes, and what is there then is counted.
void verify_table(struct verifier *v)
{
    struct view view;
    tree_id trees[VERIFY_TREES_MAX];
    if (!view_open(v, buf_view(&v->name), 0, &view))
        return;
    tree_id table = view.table->tree;
    tree_id collections = view.table->collections;
    tree_id log = view.table->log;
    size_t count = derived_list(view.table, trees);
    view_close(v, &view);
    for (size_t i = 0; i < count && !v->stopped; i++)
        walk_tree(v, table, trees[i], trees[i] == collections ? visit_collection : visit_entry);
    walk_tree(v, table, table, visit_item);
    if (!v->stopped && view_open(v, buf_view(&v->name), table, &view)) {
        count_table(v, &view);
        view_close(v, &view);
    }
    if (log != 0 && !v->stopped)
        verify_changes(v, log);
    if (!v->stopped)
        verify_rules(v);
    if (verify_proceed(v, 0))
        tallies_tell(v);
}
