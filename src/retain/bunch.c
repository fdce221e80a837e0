// What becomes of the items of a bunch: see retain.h for the steps.
#include "retain/sweep.h"

#include "base/files.h"
#include "base/log.h"
#include "work/lanes.h"

enum { DELETES = 50 }; // of one job

// ---- Judging again, and archiving -------------------------------------------------------------

// Whether the item, as it is now, is still to be removed. Of `keep`, who comes before it is asked
// later.
static enum retain_answer judge(struct sweep *sweep, const struct bunch_item *found,
                                struct slice item)
{
    const struct env *env = engine_env(sweep->run.shop->engine);
    struct slice group;
    struct slice rank;
    if (item.len == 0 || !retain_concerns(sweep->rule, item))
        return RETAIN_NO;
    if (sweep->rule->keep == NULL)
        return retain_due(sweep->rule, item, env, &sweep->scratch);
    enum retain_answer answer = retain_place(sweep->rule, item, &sweep->scratch, &group, &rank);
    return answer == RETAIN_YES && !slice_equal(group, found->group) ? RETAIN_NO : answer;
}

static bool choose(struct sweep *sweep, struct bunch_item *found, struct archive *archive)
{
    struct engine *engine = sweep->run.shop->engine;
    struct item_read read;
    arena_reset(&sweep->scratch);
    if (!engine_get(engine, NULL, found->key, &read, &sweep->run.error))
        return false;
    enum retain_answer answer = judge(sweep, found, read.item);
    found->chosen = answer == RETAIN_YES;
    bool ok = answer != RETAIN_BUDGET || error_budget(&sweep->run.error);
    if (found->chosen) {
        item_digest(read.item, found->digest);
        ok = archive == NULL || archive_add(archive, read.item, &sweep->run.error);
    }
    item_read_release(engine, &read);
    return ok;
}

static bool choose_all(struct sweep *sweep, struct archive *archive, size_t *chosen)
{
    *chosen = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        if (!work_goes_on(sweep->run.shop, &sweep->run.error) ||
            !choose(sweep, &sweep->items[i], archive))
            return false;
        *chosen += sweep->items[i].chosen;
    }
    return true;
}

// An archive that belongs elsewhere is there before anything is deleted; it does not stay here.
static bool push(struct sweep *sweep, struct archive *archive)
{
    struct workshop *shop = sweep->run.shop;
    const struct retain_desk *desk = shop->retain;
    if (desk->bucket == NULL)
        return true;
    char *directory =
        arena_printf(&sweep->run.arena, "%s/%s", desk->archive, archive_path(archive));
    char *prefix = arena_printf(&sweep->run.arena, "%s%s/", desk->prefix, archive_path(archive));
    if (directory == NULL || prefix == NULL)
        return error_budget(&sweep->run.error);
    bool ok =
        shop->buckets.push != NULL
            ? shop->buckets.push(shop->buckets.context, slice_str(desk->bucket), slice_str(prefix),
                                 directory, work_stops, shop, &sweep->run.error)
            : error_set(&sweep->run.error, ERR_INTERNAL,
                        "archives go to S3, and there is no S3 here: start the server with "
                        "--objects or --s3-endpoint");
    DISREGARD(directory_remove(directory)); // what stays takes room, and nothing else
    return ok;
}

static bool publish(struct sweep *sweep, struct archive *archive)
{
    struct retain_desk *desk = sweep->run.shop->retain;
    if (!archive_close(archive, &sweep->run.error) ||
        !archive_publish(archive, &sweep->run.error) || !push(sweep, archive))
        return false;
    sweep->record.archived += (int64_t)archive_count(archive);
    sweep->record.all_archived += (int64_t)archive_count(archive);
    desk->archived += archive_count(archive);
    desk->archives++;
    sweep->record.archive = arena_copy(&sweep->run.arena, slice_str(archive_path(archive)));
    log_info("table %.*s: %s archived %llu item%s in %s", SLICE_FMT(sweep->run.table->name),
             sweep->rule->id, (unsigned long long)archive_count(archive),
             archive_count(archive) == 1 ? "" : "s", archive_path(archive));
    return true;
}

static bool archive_all(struct sweep *sweep, size_t *chosen)
{
    struct archive_options options = {.root = retain_archive_root(sweep->run.shop),
                                      .table = sweep->run.table->name,
                                      .table_id = sweep->run.table->uuid,
                                      .rule = sweep->rule->id,
                                      .env = engine_env(sweep->run.shop->engine)};
    if (options.root == NULL)
        return error_set(&sweep->run.error, ERR_INTERNAL,
                         "there is no directory for archives: start the server with --archive DIR");
    struct archive *archive = archive_open(&options, &sweep->run.error);
    bool ok = archive != NULL && choose_all(sweep, archive, chosen) &&
              (*chosen == 0 || publish(sweep, archive));
    archive_free(archive);
    return ok;
}

// ---- Deleting ---------------------------------------------------------------------------------

// What was refused is told once; the rest is a number.
static void count_one(struct sweep *sweep, const struct write_action *action)
{
    struct retain_desk *desk = sweep->run.shop->retain;
    if (action->out.failure == ERR_NONE && action->out.changed) {
        sweep->record.removed++;
        sweep->record.all_removed++;
        desk->removed++;
        return;
    }
    sweep->record.left++;
    desk->left++;
    if (action->out.failure == ERR_NONE || action->out.failure == ERR_CONDITIONAL_CHECK_FAILED ||
        sweep->record.failure.len > 0 || action->out.failure_text == NULL)
        return;
    char *text =
        arena_printf(&sweep->run.arena, "an item cannot be deleted: %s", action->out.failure_text);
    if (text != NULL)
        sweep->record.failure = slice_str(text);
}

// A part of several actions fails with one of them.
static void count_parts(struct sweep *sweep, struct write_action *actions, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        const struct write_action *failed = actions[i].out.failure != ERR_NONE ? &actions[i] : NULL;
        for (; end < count && (actions[end].flags & WRITE_JOINED); end++) {
            if (actions[end].out.failure != ERR_NONE && failed == NULL)
                failed = &actions[end];
        }
        for (; i < end; i++) {
            if (actions[i].kind == WRITE_DELETE)
                count_one(sweep, failed != NULL ? failed : &actions[i]);
        }
    }
}

bool sweep_write(struct sweep *sweep, struct write_action *actions, size_t count)
{
    struct item_edit edit = {
        .arena = &sweep->scratch, .count = count, .actions = actions, .each = true};
    if (count == 0)
        return true;
    if (!work_edit_items(sweep->run.shop, &edit, &sweep->run.error))
        return false;
    count_parts(sweep, actions, count);
    int64_t units = 0;
    for (size_t i = 0; i < count; i++)
        units += actions[i].kind == WRITE_DELETE ? SWEEP_REMOVAL : 1;
    sweep_tell(sweep);
    return sweep_pace(sweep, units);
}

static bool delete_due(struct sweep *sweep)
{
    size_t at = 0;
    while (at < sweep->count && sweep_wanted(sweep)) {
        struct write_action actions[DELETES];
        size_t count = 0;
        for (; at < sweep->count && count < DELETES; at++) {
            struct bunch_item *item = &sweep->items[at];
            if (!item->chosen)
                continue;
            actions[count++] =
                (struct write_action){.kind = WRITE_DELETE,
                                      .flags = WRITE_SWEPT,
                                      .table = sweep->run.table,
                                      .item = value_empty_map(),
                                      .key = item->key,
                                      .keyed = value_empty_map(),
                                      .if_match = slice_of(item->digest, DIGEST_BYTES)};
        }
        arena_reset(&sweep->scratch);
        if (!work_goes_on(sweep->run.shop, &sweep->run.error) ||
            !sweep_write(sweep, actions, count))
            return false;
    }
    return true;
}

bool sweep_bunch(struct sweep *sweep)
{
    size_t chosen = 0;
    bool ok = sweep->rule->fate == MODEL_ARCHIVE ? archive_all(sweep, &chosen)
                                                 : choose_all(sweep, NULL, &chosen);
    return ok &&
           (chosen == 0 || (sweep->rule->keep == NULL ? delete_due(sweep) : sweep_surplus(sweep)));
}
