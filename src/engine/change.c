// Creating, changing and deleting tables: a job that wants a batch of its own. `alter` makes the
// next version of the table; what differs from the current one tells what is to be done: trees for
// what has none yet, cleanup for what is gone. The keeper does the long part afterwards.
#include "engine/engine_internal.h"
#include "engine/record.h"

#include <stdlib.h>

static bool give_trees(struct txn *txn, struct table *table)
{
    bool is_new = table->tree == 0;
    if (is_new) {
        table->tree = catalog_new_tree(txn);
        table->stats = tree_stats_new(0, 0);
        if (table->created_ms == 0)
            table->created_ms = env_now(&txn->engine->env);
        char uuid[37];
        env_uuid(&txn->engine->env, uuid);
        table->uuid = arena_copy(&table->arena, slice_str(uuid));
        if (table->uuid.ptr == NULL)
            return false;
    }
    for (size_t i = 0; i < table->index_count; i++) {
        struct index *index = &table->indexes[i];
        if (index->tree == 0) {
            index->tree = catalog_new_tree(txn);
            index->stats = tree_stats_new(0, 0);
        }
        if (!index->global && table->collections == 0)
            table->collections = catalog_new_tree(txn);
    }
    for (size_t i = 0; i < table->vector_count; i++) {
        struct index *index = &table->vectors[i].base;
        if (index->tree == 0) {
            index->tree = catalog_new_tree(txn);
            index->stats = tree_stats_new(0, 0);
        }
    }
    if (table->log_images != 0 && table->log == 0)
        table->log = catalog_new_tree(txn);
    if (table->guard != NULL && table->guard->claims && table->claims == 0)
        table->claims = catalog_new_tree(txn);
    if (table->guard != NULL && table->guard->notes && table->notes == 0)
        table->notes = catalog_new_tree(txn);
    if (table->next != NULL && table->next_claims == 0)
        table->next_claims = catalog_new_tree(txn);
    if (table->ttl.attribute.len > 0 && table->ttl.tree == 0) {
        table->ttl.tree = catalog_new_tree(txn);
        table->ttl.filled = is_new;
    }
    return true;
}

// ---- What indexes leave out -----------------------------------------------------------

static bool copy_outsiders(struct arena *arena, struct guard_outsiders from,
                           struct guard_outsiders *to)
{
    struct slice *values = arena_zalloc(arena, from.count + 1, sizeof(*values));
    if (values == NULL)
        return false;
    *to = (struct guard_outsiders){
        .attribute = arena_copy(arena, from.attribute), .count = from.count, .values = values};
    for (size_t i = 0; i < from.count; i++) {
        values[i] = arena_copy(arena, from.values[i]);
        if (values[i].ptr == NULL)
            return false;
    }
    return to->attribute.ptr != NULL;
}

// An entry is a function of its item and its index. So an index that is to leave out something else
// than before, because its table has another guard, is begun anew: with a tree of its own, which
// the keeper fills.
static bool leave_out(struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        struct index *index = &table->indexes[i];
        struct guard_outsiders wanted = guard_outsiders_of(table->guard, index->name);
        if (index->status == INDEX_DELETING || guard_outsiders_same(&index->without, &wanted))
            continue;
        if (!copy_outsiders(&table->arena, wanted, &index->without))
            return false;
        if (index->tree == 0)
            continue;
        index->tree = 0;
        tree_stats_release(index->stats);
        index->stats = NULL;
        index->backfilled = slice_of(NULL, 0);
        index->status = table->stats->items > 0 ? INDEX_CREATING : INDEX_ACTIVE;
    }
    return true;
}

// ---- Trees ----------------------------------------------------------------------------

enum { TREES_MAX = LIMIT_INDEXES + LIMIT_VECTOR_INDEXES + 8 };

struct trees {
    size_t count;
    tree_id ids[TREES_MAX];
};

static void trees_add(struct trees *trees, tree_id tree)
{
    if (tree != 0)
        trees->ids[trees->count++] = tree;
}

// All trees of a version but the change log, which may outlive the table.
static struct trees trees_of(const struct table *table)
{
    struct trees trees = {.count = 0};
    trees_add(&trees, table->tree);
    trees_add(&trees, table->collections);
    trees_add(&trees, table->ttl.tree);
    trees_add(&trees, table->claims);
    trees_add(&trees, table->next_claims);
    trees_add(&trees, table->notes);
    for (size_t i = 0; i < table->index_count; i++)
        trees_add(&trees, table->indexes[i].tree);
    for (size_t i = 0; i < table->vector_count; i++)
        trees_add(&trees, table->vectors[i].base.tree);
    return trees;
}

// Drops the trees that the next version (or NULL) does not have.
static void drop_trees(struct txn *txn, const struct table *current, const struct table *next)
{
    struct trees old = trees_of(current);
    struct trees kept = {.count = 0};
    if (next != NULL)
        kept = trees_of(next);
    for (size_t i = 0; i < old.count; i++) {
        bool found = false;
        for (size_t k = 0; k < kept.count; k++)
            found = found || kept.ids[k] == old.ids[i];
        if (!found)
            catalog_drop_tree(txn, old.ids[i]);
    }
}

// ---- The change -----------------------------------------------------------------------

// The current version's record and trees, as far as the next one does not have them.
static void leave(struct txn *txn, const struct table_change *change, const struct table *current,
                  const struct table *next)
{
    drop_trees(txn, current, next);
    bool keeps_log = change->keep_log || (next != NULL && next->log == current->log);
    if (current->log != 0 && !keeps_log)
        catalog_drop_tree(txn, current->log);
    if (next == NULL || !slice_equal(next->name, current->name)) {
        meta_key(&txn->key, META_TABLE, current->name);
        store_batch_delete(txn->batch, buf_view(&txn->key));
    }
}

static bool run_change(struct job *job, struct txn *txn)
{
    struct table_change *change = (struct table_change *)job;
    struct table *current = catalog_find(txn->engine, change->name);
    struct table *next = NULL;
    if (!change->alter(change->context, current, &next, job->error))
        return false;
    if (current != NULL)
        change->before = table_hold(current);
    change->after = next;
    if (next != NULL &&
        !(leave_out(next) && give_trees(txn, next) && pending_decide(txn, current, next)))
        return error_budget(job->error);
    if (!pending_follow(txn, change))
        return error_budget(job->error);
    if (current != NULL)
        leave(txn, change, current, next);
    if (next != NULL)
        catalog_write(txn, next);
    for (size_t i = 0; i < change->record_count; i++)
        txn_record(txn, &change->records[i]);
    return true;
}

static void change_committed(struct job *job, struct engine *engine)
{
    struct table_change *change = (struct table_change *)job;
    struct table *next = change->after;
    if (next == NULL || !slice_equal(next->name, change->name))
        catalog_publish(engine, change->name, NULL);
    if (next != NULL)
        catalog_publish(engine, next->name, table_hold(next));
    for (size_t i = 0; i < change->other_count; i++)
        catalog_publish(engine, change->others[i]->name, table_hold(change->others[i]));
    keeper_wake(engine);
}

void table_change_init(struct table_change *change, struct engine *engine, struct error *error)
{
    *change = (struct table_change){
        .job = {.run = run_change, .committed = change_committed, .alone = true, .error = error},
        .engine = engine};
}

void table_change_release(struct table_change *change)
{
    table_release(change->before);
    table_release(change->after);
    change->before = NULL;
    change->after = NULL;
    for (size_t i = 0; i < change->other_count; i++)
        table_release(change->others[i]);
    free(change->others);
    change->others = NULL;
    change->other_count = 0;
}
