// What applying a file would do: the tables and indexes that are missing or different, the models
// compared, and what the items have to say (model_look.c). DiffModel shows it, ApplyModel does it.
#include "change/model.h"

#include "base/time_text.h"
#include "tables/change.h"
#include "tables/names.h"
#include "tables/table_settings.h"
#include "json/writer.h"

enum { PLAN_MEMORY = 256 << 20, TEXT_MAX = 8192, REFUSAL_MAX = 32 << 10 };

// ---- The table --------------------------------------------------------------------------------

static struct slice text_of(struct model_target *target, struct buf *text)
{
    struct slice copy = arena_copy(target->changes->arena, buf_view(text));
    buf_clear(text);
    return copy;
}

static void note(struct model_target *target, enum model_change_kind kind, struct slice subject,
                 struct slice before, struct slice after)
{
    model_changes_add(target->changes, (struct model_change){kind, subject, before, after, NULL});
}

static void keys_text(const struct key_schema *keys, struct buf *out)
{
    struct model_index as_index = {.keys = *keys};
    model_index_text(&as_index, out);
}

static struct slice live_index_text(struct model_target *target, const struct index *live,
                                    struct buf *text)
{
    struct model_index as_index = {
        .keys = live->keys,
        .projection = live->projection == PROJECT_ALL         ? MODEL_PROJECT_ALL
                      : live->projection == PROJECT_KEYS_ONLY ? MODEL_PROJECT_KEYS
                                                              : MODEL_PROJECT_INCLUDE,
        .include_count = live->include_count,
        .include = live->include,
    };
    model_index_text(&as_index, text);
    return text_of(target, text);
}

static struct slice members_text(struct model_target *target, const struct guard_outsiders *without,
                                 struct buf *text)
{
    buf_text(text, without->count == 0 ? "all that have its attributes" : "all without");
    for (size_t i = 0; i < without->count; i++)
        buf_printf(text, "%s %.*s", i == 0 ? "" : ",", SLICE_FMT(without->values[i]));
    return text_of(target, text);
}

// An index that has other members than before is filled anew: see engine/change.c.
static void compare_members(struct model_target *target, const struct index *live, struct buf *text)
{
    struct guard_outsiders wanted = guard_outsiders_of(target->guard, live->name);
    if (guard_outsiders_same(&live->without, &wanted))
        return;
    struct slice before = members_text(target, &live->without, text);
    note(target, MODEL_CHANGE_INDEX_MEMBERS, live->name, before,
         members_text(target, &wanted, text));
}

static void compare_index(struct model_target *target, const struct model_index *wanted,
                          struct buf *text)
{
    const struct index *live = table_index(target->live, wanted->name);
    enum model_index_state state = model_index_compare(wanted, target->live);
    if (state == INDEX_IS_SAME) {
        compare_members(target, live, text);
        return;
    }
    model_index_text(wanted, text);
    struct slice after = text_of(target, text);
    if (state == INDEX_IS_MISSING && !wanted->local) {
        note(target, MODEL_CHANGE_INDEX_CREATED, wanted->name, slice_of(NULL, 0), after);
        return;
    }
    struct slice before = live == NULL ? slice_of(NULL, 0) : live_index_text(target, live, text);
    bool fixed = wanted->local || !live->global;
    note(target, fixed ? MODEL_CHANGE_INDEX_CONFLICT : MODEL_CHANGE_INDEX_RECREATED, wanted->name,
         before, after);
    if (fixed)
        target->impossible = "a local index cannot be added, changed or removed once its table "
                             "is there";
}

static void compare_indexes(struct model_target *target, bool prune, struct buf *text)
{
    for (size_t i = 0; i < target->wanted->index_count; i++)
        compare_index(target, &target->wanted->indexes[i], text);
    for (size_t i = 0; i < target->live->index_count; i++) {
        const struct index *live = &target->live->indexes[i];
        if (model_table_index(target->wanted, live->name) != NULL || live->status == INDEX_DELETING)
            continue;
        note(target,
             prune && live->global ? MODEL_CHANGE_INDEX_DELETED : MODEL_CHANGE_INDEX_UNNAMED,
             live->name, live_index_text(target, live, text), slice_of(NULL, 0));
    }
}

static void billing_text(bool on_demand, uint64_t read, uint64_t write, struct buf *out)
{
    if (on_demand)
        buf_text(out, "on_demand");
    else
        buf_printf(out, "provisioned(%llu, %llu)", (unsigned long long)read,
                   (unsigned long long)write);
}

static const char *stream_text(struct slice view)
{
    static const char *const names[][2] = {{"KEYS_ONLY", "keys_only"},
                                           {"NEW_IMAGE", "new_image"},
                                           {"OLD_IMAGE", "old_image"},
                                           {"NEW_AND_OLD_IMAGES", "new_and_old_images"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (slice_is(view, names[i][0]))
            return names[i][1];
    }
    return "off";
}

// A feature that the table has and the model does not is ended only if that is asked for.
static void compare_feature(struct model_target *target, enum model_change_kind kind,
                            const char *name, struct slice before, struct slice after, bool ends,
                            bool prune)
{
    if (slice_equal(before, after))
        return;
    if (ends && !prune)
        note(target, MODEL_CHANGE_FEATURE_UNNAMED, slice_str(name), before, slice_of(NULL, 0));
    else
        note(target, kind, slice_of(NULL, 0), before, after);
}

static void compare_features(struct model_target *target, bool prune, struct buf *text)
{
    const struct model_table *wanted = target->wanted;
    const struct slice none = SLICE_LIT("none");
    struct table_settings settings;
    table_settings_read(target->live, &settings);
    compare_feature(target, MODEL_CHANGE_TTL, "ttl",
                    settings.ttl_attribute.len > 0 ? settings.ttl_attribute : none,
                    wanted->ttl_attribute.len > 0 ? wanted->ttl_attribute : none,
                    wanted->ttl_attribute.len == 0, prune);
    compare_feature(
        target, MODEL_CHANGE_STREAM, "stream", slice_str(stream_text(settings.stream_view)),
        slice_str(model_stream_name(wanted->stream)), wanted->stream == MODEL_STREAM_NONE, prune);
    compare_feature(target, MODEL_CHANGE_PITR, "pitr",
                    slice_str(settings.pitr_days > 0 ? "on" : "off"),
                    slice_str(wanted->pitr ? "on" : "off"), !wanted->pitr, prune);
    billing_text(settings.on_demand, (uint64_t)settings.throughput.read,
                 (uint64_t)settings.throughput.write, text);
    struct slice before = text_of(target, text);
    billing_text(!wanted->provisioned, wanted->read_units, wanted->write_units, text);
    compare_feature(target, MODEL_CHANGE_BILLING, "billing", before, text_of(target, text),
                    !wanted->provisioned, prune);
}

static void compare_table(struct model_target *target, bool prune, struct buf *text)
{
    const struct model_table *wanted = target->wanted;
    if (target->live == NULL) {
        keys_text(&wanted->keys, text);
        buf_printf(text, ", %zu %s", wanted->index_count,
                   wanted->index_count == 1 ? "index" : "indexes");
        note(target, MODEL_CHANGE_TABLE_CREATED, wanted->name, slice_of(NULL, 0),
             text_of(target, text));
        return;
    }
    if (!model_keys_same(&wanted->keys, &target->live->keys)) {
        keys_text(&target->live->keys, text);
        struct slice before = text_of(target, text);
        keys_text(&wanted->keys, text);
        note(target, MODEL_CHANGE_TABLE_KEYS, wanted->name, before, text_of(target, text));
        target->impossible = "the keys of a table cannot be changed";
        return;
    }
    compare_indexes(target, prune, text);
    compare_features(target, prune, text);
}

// ---- Targets ----------------------------------------------------------------------------------

static bool is_of_items(const struct model_change *change)
{
    enum model_change_kind kind = change->kind;
    bool derives =
        kind == MODEL_CHANGE_RULE_ADDED && slice_begins(change->subject, SLICE_LIT("derive"));
    return derives || kind == MODEL_CHANGE_MODEL_ATTACHED || kind == MODEL_CHANGE_MODE ||
           kind == MODEL_CHANGE_TYPE_ATTRIBUTE ||
           (kind >= MODEL_CHANGE_ENTITY_ADDED && kind <= MODEL_CHANGE_ATTRIBUTE_CHANGED);
}

// What has become of the last work: it failed, so that the items are still on their way to the
// model; or it applies this very text, and does all that is asked for now.
static bool look_at_work(struct workshop *shop, const struct model_plan *plan, bool prune,
                         struct model_target *target, struct error *error)
{
    struct model_work work;
    if (target->live == NULL)
        return true;
    if (!model_work_read(shop->engine, target->live, target->changes->arena, &work, error))
        return false;
    target->concerns_items |= work.version != 0 && work.status == MODEL_FAILED;
    target->underway = work.version != 0 && work.status == MODEL_APPLYING &&
                       slice_is(work.text, plan->name) && (work.prune || !prune);
    return true;
}

static bool target_make(struct workshop *shop, struct model_plan *plan, struct model_target *target,
                        bool prune, struct error *error)
{
    struct arena *arena = &plan->arena;
    struct buf text;
    target->changes = arena_alloc(arena, sizeof(*target->changes));
    target->live = engine_table(shop->engine, target->wanted->name);
    target->guard = model_guard_new(plan->model, target->wanted);
    if (target->changes == NULL)
        return error_budget(error);
    if (target->guard == NULL)
        return model_no_memory(shop->budget, error);
    if (target->live != NULL && !table_check_ready(target->live, error))
        return false;
    if (target->live != NULL && target->live->guard != NULL)
        target->now = model_guard_table(target->live->guard);
    model_changes_init(target->changes, arena);
    buf_init(&text, TEXT_MAX);
    compare_table(target, prune, &text);
    buf_release(&text);
    size_t structural = target->changes->count;
    size_t kept = 0;
    for (size_t i = 0; i < structural; i++)
        kept += target->changes->list[i].kind == MODEL_CHANGE_INDEX_UNNAMED ||
                target->changes->list[i].kind == MODEL_CHANGE_FEATURE_UNNAMED;
    model_diff(target->now, target->wanted, target->changes);
    for (size_t i = structural; i < target->changes->count; i++)
        target->concerns_items |= is_of_items(&target->changes->list[i]);
    if (!look_at_work(shop, plan, prune, target, error))
        return false;
    target->same = target->live != NULL && slice_is(target->live->model, plan->name) &&
                   target->changes->count == kept && !target->concerns_items;
    return true;
}

static bool parse(const struct workshop *shop, struct model_plan *plan, struct slice text,
                  struct error *error)
{
    struct budget_account account = {.budget = shop->budget};
    struct diagnostics *found = arena_alloc(&plan->arena, sizeof(*found));
    struct buf shown;
    if (found == NULL)
        return error_budget(error);
    diagnostics_init(found, &plan->arena);
    plan->model = model_parse_counted(plan->file, text, found, &account);
    if (plan->model != NULL)
        return true;
    if (account.starved)
        return model_no_memory(shop->budget, error);
    buf_init(&shown, 1 << 20);
    diagnostics_show(found, plan->file, text, &shown);
    (void)error_validation(error, "The model has errors:\n%.*s", SLICE_FMT(buf_view(&shown)));
    buf_release(&shown);
    return false;
}

static bool find_unnamed(struct workshop *shop, struct model_plan *plan, struct error *error)
{
    struct table_walk walk;
    const struct table *table;
    bool ok = true;
    table_walk_init(&walk, shop->engine, slice_of(NULL, 0));
    while (ok && plan->unnamed_count < MODEL_SAMPLES && (table = table_walk_next(&walk)) != NULL) {
        struct model_version last;
        if (table->model.len == 0 || model_table(plan->model, table->name) != NULL)
            continue;
        ok = model_version_last(shop->engine, table, &plan->arena, &last, error);
        if (ok && slice_equal(last.file, plan->file))
            plan->unnamed[plan->unnamed_count++] = arena_copy(&plan->arena, table->name);
    }
    table_walk_release(&walk);
    return ok;
}

// Parses the text, and makes room for what is found out of its tables.
static bool plan_open(struct workshop *shop, struct slice file, struct slice text,
                      struct model_plan *plan, struct error *error)
{
    *plan = (struct model_plan){.file = file.len > 0 ? file : SLICE_LIT("model.dolmen")};
    arena_init(&plan->arena, PLAN_MEMORY);
    if (!parse(shop, plan, text, error))
        return false;
    model_record_name(text, plan->name);
    if (plan->model->table_count == 0)
        return error_validation(error, "The model has no table.");
    plan->targets = arena_zalloc(&plan->arena, plan->model->table_count, sizeof(*plan->targets));
    return plan->targets != NULL || error_budget(error);
}

bool model_plan_make(struct workshop *shop, struct slice file, struct slice text, bool prune,
                     struct model_plan *plan, struct error *error)
{
    if (!plan_open(shop, file, text, plan, error))
        return false;
    for (size_t i = 0; i < plan->model->table_count; i++) {
        struct model_target *target = &plan->targets[plan->count++];
        target->wanted = &plan->model->tables[i];
        if (!target_make(shop, plan, target, prune, error))
            return false;
    }
    return find_unnamed(shop, plan, error);
}

// ---- Versions ---------------------------------------------------------------------------------

// The model of a version, with a reference; NULL with the error set.
static struct model *version_model(struct workshop *shop, const struct table *table, int64_t number,
                                   struct arena *arena, struct error *error)
{
    struct model_version version;
    struct slice file;
    struct slice text;
    struct budget_account account = {.budget = shop->budget};
    struct diagnostics *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL)
        return (void)error_budget(error), NULL;
    diagnostics_init(found, arena);
    if (!model_version_get(shop->engine, table, number, arena, &version, error))
        return NULL;
    struct model *model = NULL;
    if (version.text.len > 0 && model_record_read(shop->engine, version.text, arena, &file, &text))
        model = model_parse_counted(file, text, found, &account);
    if (model == NULL)
        (void)error_set(error, ERR_RESOURCE_NOT_FOUND,
                        "Table %.*s had no model in version %lld that can be read: see "
                        "ListModelVersions.",
                        SLICE_FMT(table->name), (long long)number);
    return model;
}

static bool target_since(struct workshop *shop, struct model_plan *plan,
                         struct model_target *target, int64_t version, struct error *error)
{
    target->changes = arena_alloc(&plan->arena, sizeof(*target->changes));
    if (target->changes == NULL)
        return error_budget(error);
    model_changes_init(target->changes, &plan->arena);
    target->live = engine_table(shop->engine, target->wanted->name);
    if (target->live == NULL)
        return table_not_found(error, target->wanted->name);
    struct model *model = version_model(shop, target->live, version, &plan->arena, error);
    if (model == NULL)
        return false;
    const struct model_table *before = model_table(model, target->live->name);
    model_diff(before, target->wanted, target->changes);
    target->same = target->changes->count == 0;
    plan->older[plan->older_count++] = model; // the changes speak of it
    return true;
}

bool model_plan_since(struct workshop *shop, struct slice file, struct slice text, int64_t version,
                      struct model_plan *plan, struct error *error)
{
    if (!plan_open(shop, file, text, plan, error))
        return false;
    plan->older = arena_zalloc(&plan->arena, plan->model->table_count, sizeof(struct model *));
    if (plan->older == NULL)
        return error_budget(error);
    for (size_t i = 0; i < plan->model->table_count; i++) {
        struct model_target *target = &plan->targets[plan->count++];
        target->wanted = &plan->model->tables[i];
        if (!target_since(shop, plan, target, version, error))
            return false;
    }
    return true;
}

struct recurring {
    struct slice text;
    int64_t found; // the last version that had it
    int64_t found_ms;
    int64_t last; // the last version that had any
};

static void note_recurring(void *context, const struct model_version *version)
{
    struct recurring *recurring = context;
    if (slice_begins(version->did, SLICE_LIT("migrate")))
        return;
    recurring->last = version->number;
    if (slice_equal(version->text, recurring->text)) {
        recurring->found = version->number;
        recurring->found_ms = version->time_ms;
    }
}

bool model_plan_newer(struct workshop *shop, struct model_plan *plan, struct error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct model_target *target = &plan->targets[i];
        struct recurring recurring = {.text = slice_str(plan->name)};
        char when[TIME_TEXT];
        if (target->live == NULL || target->same)
            continue;
        if (!model_versions(shop->engine, target->live, note_recurring, &recurring, error))
            return false;
        if (recurring.found == 0 || recurring.found == recurring.last)
            continue;
        time_text(recurring.found_ms, when);
        return error_validation(
            error,
            "Table %.*s had this model before, as version %lld of %s; it has "
            "version %lld now, which is newer. Name the file of that one, or apply "
            "the older one all the same (dolmen serve --older-model).",
            SLICE_FMT(target->wanted->name), (long long)recurring.found, when,
            (long long)recurring.last);
    }
    return true;
}

void model_plan_release(struct model_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        table_release(plan->targets[i].live);
        guard_release(plan->targets[i].guard);
    }
    for (size_t i = 0; i < plan->older_count; i++)
        model_release(plan->older[i]);
    model_release(plan->model);
    arena_release(&plan->arena);
}

bool model_plan_look(struct workshop *shop, struct model_plan *plan, uint64_t most, bool all,
                     struct error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct model_target *target = &plan->targets[i];
        if (target->live == NULL || target->impossible != NULL || (!target->concerns_items && !all))
            continue;
        if (!model_look(shop, target->live, target->guard, most, &plan->arena, &target->look,
                        error))
            return false;
        target->looked = true;
    }
    return true;
}

// ---- Judging ----------------------------------------------------------------------------------

bool model_plan_clean(const struct model_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct model_target *target = &plan->targets[i];
        if (!target->same || target->impossible != NULL || target->look.refused > 0 ||
            target->seeds_missing > 0)
            return false;
    }
    return true;
}

static void tell_samples(struct buf *out, const char *one, const char *many, uint64_t count,
                         const struct model_samples *samples)
{
    if (count == 0)
        return;
    buf_printf(out, "\n  %llu %s", (unsigned long long)count, count == 1 ? one : many);
    for (size_t i = 0; i < samples->count; i++) {
        struct json_writer w = json_writer_to(out);
        buf_text(out, "\n    ");
        json_item(&w, samples->list[i].key);
        buf_printf(out, " %.*s", SLICE_FMT(samples->list[i].text));
    }
    if (count > samples->count)
        buf_text(out, "\n    …");
}

static bool tell(const struct model_target *target, bool force, struct buf *out)
{
    const struct model_look *look = &target->look;
    if (target->impossible != NULL) {
        buf_printf(out, "\ntable %.*s: %s.", SLICE_FMT(target->wanted->name), target->impossible);
        return true;
    }
    if (look->refused == 0 || force)
        return false;
    buf_printf(out, "\ntable %.*s:", SLICE_FMT(target->wanted->name));
    tell_samples(out, "item would violate the model", "items would violate the model",
                 look->violations, &look->violation_samples);
    if (target->wanted->unmatched == MODEL_REJECT)
        tell_samples(out, "item matches no entity", "items match no entity", look->unmatched,
                     &look->unmatched_samples);
    tell_samples(out, "value would not be unique", "values would not be unique", look->duplicates,
                 &look->duplicate_samples);
    return true;
}

bool model_plan_allow(const struct model_plan *plan, bool force, struct error *error)
{
    struct buf text;
    bool refused = false;
    bool impossible = false;
    buf_init(&text, REFUSAL_MAX);
    for (size_t i = 0; i < plan->count; i++) {
        refused |= tell(&plan->targets[i], force, &text);
        impossible |= plan->targets[i].impossible != NULL;
    }
    if (refused)
        (void)error_validation(error, "%s%.*s",
                               impossible ? "The model cannot be applied."
                                          : "The model would leave invalid items. Mend them, let "
                                            "a migration do it (dolmen migrate), or apply the "
                                            "model with force, which leaves them as they are.",
                               SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return !refused;
}
