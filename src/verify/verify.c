// The verification from outside to inside: the catalog, then table by table. See verify.h.
#include "verify/verify_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *verify_check_words(enum verify_check check)
{
    static const char *const words[VERIFY_CHECKS] = {
#define X(name, text) text,
        VERIFY_CHECK_LIST(X)
#undef X
    };
    return words[check];
}

// ---- Telling --------------------------------------------------------------------------------

struct tally *tally_of(struct verifier *v, enum verify_check check, tree_id tree, struct slice name)
{
    size_t i = 0;
    while (i < v->tally_count && (v->tallies[i].check != check || v->tallies[i].tree != tree))
        i++;
    // Should a table change its indexes that often while it is read, the last one stands for more.
    if (i == VERIFY_TALLIES)
        i--;
    struct tally *tally = &v->tallies[i];
    if (i < v->tally_count)
        return tally;
    v->tally_count++;
    *tally = (struct tally){.check = check, .tree = tree};
    (void)snprintf(tally->name, sizeof(tally->name), "%.*s", SLICE_FMT(name));
    return tally;
}

void tallies_tell(struct verifier *v)
{
    for (size_t i = 0; i < v->tally_count; i++) {
        const struct tally *tally = &v->tallies[i];
        v->watcher->outcome(v->watcher->context,
                            &(struct verify_outcome){.check = tally->check,
                                                     .table = buf_view(&v->name),
                                                     .index = slice_str(tally->name),
                                                     .examined = tally->examined,
                                                     .differences = tally->differences});
    }
    v->tally_count = 0;
}

void verify_differ(struct verifier *v, struct tally *tally, struct slice key, struct slice place,
                   const char *what, ...)
{
    char text[512];
    va_list args;
    va_start(args, what);
    (void)vsnprintf(text, sizeof(text), what, args);
    va_end(args);
    tally->differences++;
    v->watcher->difference(v->watcher->context,
                           &(struct verify_difference){.check = tally->check,
                                                       .table = buf_view(&v->name),
                                                       .index = slice_str(tally->name),
                                                       .key = key,
                                                       .place = place,
                                                       .what = text});
}

// ---- Mending --------------------------------------------------------------------------------

void mend_put(struct verifier *v, struct slice key, struct slice value)
{
    if (v->mend != NULL)
        store_batch_put(v->mend, key, value);
}

void mend_delete(struct verifier *v, struct slice key)
{
    if (v->mend != NULL)
        store_batch_delete(v->mend, key);
}

void mend_delete_tree(struct verifier *v, tree_id tree)
{
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(tree, lower, upper);
    if (v->mend != NULL)
        store_batch_delete_range(v->mend, slice_of(lower, 4), slice_of(upper, 4));
}

static bool mend_commit(struct verifier *v)
{
    struct store_error cause;
    if (v->mend == NULL || store_batch_count(v->mend) == 0)
        return true;
    bool done = store_commit(v->store, v->mend, &cause) == STORE_DONE;
    store_batch_clear(v->mend);
    return done;
}

bool verify_proceed(struct verifier *v, uint64_t keys)
{
    v->stopped = v->stopped || !mend_commit(v);
    v->progress.done += keys;
    v->progress.table = buf_view(&v->name);
    v->stopped = v->stopped || !v->watcher->proceed(v->watcher->context, &v->progress);
    return !v->stopped;
}

// ---- Reading --------------------------------------------------------------------------------

struct store_cursor *verify_cursor(struct verifier *v, const struct view *view, tree_id tree)
{
    return layout_tree_cursor(v->store, view->snapshot, tree);
}

void verify_cursor_end(struct verifier *v, struct tally *tally, struct store_cursor *cursor)
{
    struct store_error cause;
    if (!store_cursor_valid(cursor) && !store_cursor_ok(cursor, &cause))
        verify_differ(v, tally, VALUE_NONE, slice_of(NULL, 0), "the rest cannot be read: %s",
                      cause.text);
    store_cursor_close(cursor);
}

bool verify_record(struct slice record, struct image *out)
{
    size_t head = 0;
    while (head < record.len && head < 9 && record.ptr[head] >= 0x80)
        head++;
    if (head == record.len || record.ptr[head] >= 0x80)
        return false;
    *out = (struct image){.item = record_item(record), .size = record_size(record)};
    return out->item.len > 0 && out->item.ptr[0] == VALUE_TAG_M && value_valid(out->item);
}

static bool put_parts(struct verifier *v, const struct key_schema *keys, struct slice *rest)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (!key_whole(*rest, keys->parts[i].type))
            return false;
        value_name(&v->key_builder, keys->parts[i].name);
        key_decode(rest, keys->parts[i].type, &v->key_bytes);
    }
    return true;
}

struct slice verify_key(struct verifier *v, const struct key_schema *first,
                        const struct key_schema *second, struct slice rest)
{
    buf_clear(&v->key_bytes);
    value_builder_reset(&v->key_builder);
    value_open_map(&v->key_builder);
    bool whole = put_parts(v, first, &rest) && (second == NULL || put_parts(v, second, &rest));
    (void)value_close(&v->key_builder);
    struct slice item = buf_view(&v->key_bytes);
    return whole && rest.len == 0 && !v->key_bytes.failed && value_valid(item) ? item : VALUE_NONE;
}

// ---- Moments of a table ---------------------------------------------------------------------

// The value of a key of the meta tree, in the arena; VALUE_NONE if there is none or it cannot be
// read, which the check of the catalog tells.
static struct slice read_meta(struct verifier *v, const struct view *view, char kind,
                              struct slice name)
{
    struct store_value value;
    struct store_error cause;
    struct slice out = VALUE_NONE;
    if (meta_get(v->store, view->snapshot, kind, name, &value, &cause) != STORE_FOUND)
        return out;
    out = arena_copy(&v->arena, value.bytes);
    store_value_release(v->store, &value);
    return out;
}

// Whether all items of the table have been shown to its guard.
bool view_settled(struct verifier *v, const struct view *view)
{
    const struct verify_knowledge *knowledge = v->options->knowledge;
    if (knowledge->guard_work == NULL)
        return true;
    char *name =
        arena_printf(&v->arena, "%s%.*s", knowledge->guard_work, SLICE_FMT(view->table->name));
    if (name == NULL)
        return false;
    struct slice record = read_meta(v, view, META_RECORD, slice_str(name));
    return record.len == 0 || (value_valid(record) && knowledge->guard_work_done(record));
}

// The guard of the table's model; making one takes long, so the last one is kept.
static void find_guard(struct verifier *v, struct view *view)
{
    struct table *table = view->table;
    const struct guard_maker *maker = &v->options->knowledge->maker;
    if (table->claims == 0 || table->model.len == 0 || maker->make == NULL)
        return;
    // A guard is of one table; the name of its model says whether it is still that one.
    buf_clear(&v->owner);
    buf_slice(&v->owner, table->model);
    buf_slice(&v->owner, table->name);
    if (v->guard == NULL || !slice_equal(buf_view(&v->guard_model), buf_view(&v->owner))) {
        guard_release(v->guard);
        v->guard = maker->make(maker->context, &v->engine, table);
        buf_clear(&v->guard_model);
        buf_slice(&v->guard_model, buf_view(&v->owner));
    }
    table->guard = guard_hold(v->guard);
    view->claims = table->guard != NULL && table->guard->claims && view_settled(v, view);
}

bool view_open(struct verifier *v, struct slice name, tree_id tree, struct view *view)
{
    *view = (struct view){.snapshot = store_snapshot_take(v->store)};
    ensure(view->snapshot != NULL);
    arena_reset(&v->arena);
    struct slice record = read_meta(v, view, META_TABLE, name);
    if (record.len > 0 && value_valid(record))
        view->table = table_decode(record);
    if (view->table == NULL || (tree != 0 && view->table->tree != tree)) {
        view_close(v, view);
        return false;
    }
    find_guard(v, view);
    return true;
}

void view_close(struct verifier *v, struct view *view)
{
    table_release(view->table);
    store_snapshot_release(v->store, view->snapshot);
}

// ---- All of it ------------------------------------------------------------------------------

bool verifier_next_table(struct verifier *v)
{
    struct store_cursor *cursor = meta_cursor(v->store, META_TABLE);
    meta_key(&v->txn.key, META_TABLE, buf_view(&v->name));
    store_cursor_behind(cursor, buf_view(&v->txn.key));
    bool found = store_cursor_valid(cursor);
    buf_clear(&v->name);
    if (found) {
        struct slice key = store_cursor_key(cursor);
        buf_add(&v->name, key.ptr + META_HEAD, key.len - META_HEAD);
    }
    store_cursor_close(cursor);
    return found;
}

struct verifier *verifier_new(const struct verify_options *options)
{
    struct verifier *v = malloc(sizeof(*v));
    ensure(v != NULL);
    *v = (struct verifier){.options = options, .watcher = options->watcher};
    v->store = options->store;
    v->engine.store = options->store;
    v->engine.env = options->env;
    v->engine.index_copy_max = SIZE_MAX;
    txn_init(&v->txn, &v->engine);
    arena_init(&v->arena, LIMIT_REQUEST_MEMORY);
    buf_init(&v->place, STORE_KEY_MAX + 1);
    buf_init(&v->owner, STORE_KEY_MAX + 1);
    buf_init(&v->key_bytes, 1 << 20);
    value_builder_init(&v->key_builder, &v->key_bytes);
    buf_init(&v->name, STORE_KEY_MAX);
    buf_init(&v->guard_model, STORE_KEY_MAX);
    if (options->mend) {
        v->mend = store_batch_new();
        ensure(v->mend != NULL);
    }
    return v;
}

void verifier_free(struct verifier *v)
{
    if (v->mend != NULL)
        store_batch_free(v->mend);
    guard_release(v->guard);
    value_builder_release(&v->key_builder);
    struct buf *const bufs[] = {&v->guard_model, &v->name, &v->key_bytes, &v->owner, &v->place};
    for (size_t i = 0; i < COUNT_OF(bufs); i++)
        buf_release(bufs[i]);
    arena_release(&v->arena);
    txn_release(&v->txn);
    free(v);
}

bool verify_has_table(const struct verify_options *options)
{
    struct store_value value;
    struct store_error cause;
    enum store_result result =
        meta_get(options->store, NULL, META_TABLE, options->table, &value, &cause);
    if (result == STORE_FOUND)
        store_value_release(options->store, &value);
    return result != STORE_ABSENT;
}

bool verify_store(const struct verify_options *options)
{
    struct verifier *v = verifier_new(options);
    verify_catalog(v);
    if (options->table.len > 0) {
        buf_slice(&v->name, options->table);
        verify_table(v);
    } else {
        while (!v->stopped && verifier_next_table(v))
            verify_table(v);
    }
    bool whole = !v->stopped;
    verifier_free(v);
    return whole;
}

// ---- Table files ----------------------------------------------------------------------------

bool verify_file(void *context, const char *path, const char *fault)
{
    struct verify_files *files = context;
    const struct verify_watcher *watcher = files->watcher;
    files->outcome.examined++;
    if (fault != NULL) {
        files->outcome.differences++;
        watcher->difference(watcher->context,
                            &(struct verify_difference){.check = VERIFY_FILES,
                                                        .file = slice_str(strrchr(path, '/') + 1),
                                                        .what = fault});
    }
    files->stopped = !watcher->proceed(watcher->context, &(struct verify_progress){.done = 0});
    return !files->stopped;
}

// A file that is being written is no part of the store yet.
static bool verify_live_files(struct store *store, const struct verify_watcher *watcher)
{
    struct verify_files files = {.watcher = watcher, .outcome = {.check = VERIFY_FILES}};
    store_check_tables(store, verify_file, &files);
    if (!files.stopped && files.outcome.examined > 0)
        watcher->outcome(watcher->context, &files.outcome);
    return !files.stopped;
}

bool engine_verify(struct engine *engine, const struct verify_options *options)
{
    struct verify_options own = *options;
    own.store = engine->store;
    own.env = engine->env;
    return (options->table.len > 0 || verify_live_files(engine->store, options->watcher)) &&
           verify_store(&own);
}
