// Creating, changing and deleting tables: a job that wants a batch of its own. `alter` makes the
// next version of the table; what differs from the current one tells what is to be done: trees for
// what has none yet, cleanup for what is gone. The keeper does the long part afterwards.
#include "engine/engine_internal.h"

static bool give_trees(struct txn *txn, struct table *table)
{
    if (table->tree == 0) {
        table->tree = catalog_new_tree(txn);
        table->stats = tree_stats_new(0, 0);
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
    return true;
}

static void drop_table(struct txn *txn, const struct table *table)
{
    meta_key(&txn->key, META_TABLE, table->name);
    store_batch_delete(txn->batch, buf_view(&txn->key));
    catalog_drop_tree(txn, table->tree);
    if (table->collections != 0)
        catalog_drop_tree(txn, table->collections);
    for (size_t i = 0; i < table->index_count; i++)
        catalog_drop_tree(txn, table->indexes[i].tree);
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
    if (next == NULL) {
        if (current != NULL)
            drop_table(txn, current);
        return true;
    }
    if (!give_trees(txn, next))
        return error_budget(job->error);
    catalog_write(txn, next);
    return true;
}

static void change_committed(struct job *job, struct engine *engine)
{
    struct table_change *change = (struct table_change *)job;
    catalog_publish(engine, change->name, change->after == NULL ? NULL : table_hold(change->after));
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
}
