// Tables that are restored or imported keep the model that they had. One that is restored from
// items has a gatherer (work/gatherer.h) while it is filled, so that it is guarded from the moment
// it can be used; one that is imported is guarded from the start, as its items are new.
//
// A model names its table, so one that comes to a table of another name has that name put into its
// text: the table has a model of its own then, which can be read back, changed and applied.
#include "change/model.h"

#include "base/log.h"
#include "change/acts.h"
#include "model/lexer.h"
#include "tables/change.h"

enum { TEXT_MAX = 4 << 20, ADOPT_MEMORY = 64 << 20 };

// ---- The text ---------------------------------------------------------------------------------

// Whether a token names a table: behind "table", or behind "of".
static bool names_table(const struct model_tokens *tokens, size_t at, struct slice name)
{
    const struct model_token *token = &tokens->list[at];
    return at > 0 && token->kind == MODEL_TOKEN_NAME &&
           slice_equal(model_token_text(tokens, token), name) &&
           (model_token_is(tokens, &tokens->list[at - 1], "table") ||
            model_token_is(tokens, &tokens->list[at - 1], "of"));
}

// The text with another name for one of its tables, in the arena; ptr NULL if that cannot be.
static struct slice rename_table(struct slice text, struct slice from, struct slice to,
                                 struct arena *arena)
{
    struct model_tokens tokens;
    struct buf out;
    size_t copied = 0;
    struct diagnostics *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL)
        return slice_of(NULL, 0);
    diagnostics_init(found, arena);
    if (!model_tokens_read(&tokens, text, arena, found))
        return slice_of(NULL, 0);
    buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < tokens.count; i++) {
        if (!names_table(&tokens, i, from))
            continue;
        buf_slice(&out, slice_of(text.ptr + copied, tokens.list[i].start - copied));
        buf_printf(&out, "`%.*s`", SLICE_FMT(to));
        copied = tokens.list[i].end;
    }
    buf_slice(&out, slice_of(text.ptr + copied, text.len - copied));
    return arena_keep(arena, &out);
}

static struct slice encode(struct slice file, struct slice text, struct arena *arena)
{
    struct buf bytes;
    buf_init(&bytes, TEXT_MAX);
    model_record_encode(file, text, &bytes);
    return arena_keep(arena, &bytes);
}

// ---- The model --------------------------------------------------------------------------------

struct adoption {
    struct workshop *shop;
    struct arena arena;
    struct table *table; // a reference
    bool restored;       // from items that had the model before; else they are new
    struct guard *guard;
    const struct model_table *model;
    struct slice text; // name of its record
    struct slice file;
    struct slice record; // of the text, if it is not kept yet; or empty
    struct table_change *change;
    size_t record_count;
    struct record_write records[3];
};

static bool open_model(struct adoption *a, struct slice text)
{
    struct budget_account account = {.budget = a->shop->budget};
    struct diagnostics *found = arena_alloc(&a->arena, sizeof(*found));
    if (found == NULL)
        return false;
    diagnostics_init(found, &a->arena);
    struct model *model = model_parse_counted(a->file, text, found, &account);
    a->model = model == NULL ? NULL : model_table(model, a->table->name);
    a->guard = a->model == NULL ? NULL : model_guard_new(model, a->model);
    model_release(model); // the guard holds it
    return a->guard != NULL && model_keys_same(&a->model->keys, &a->table->keys);
}

// Makes the guard of the model that a table named `from` had.
static bool adopt(struct adoption *a, struct slice text_name, struct slice from)
{
    struct slice text;
    char name[MODEL_NAME_SIZE + 1];
    if (!model_record_read(a->shop->engine, text_name, &a->arena, &a->file, &text))
        return false;
    if (!slice_equal(from, a->table->name)) {
        text = rename_table(text, from, a->table->name, &a->arena);
        if (text.ptr == NULL)
            return false;
        a->record = encode(a->file, text, &a->arena);
    }
    model_record_name(text, name);
    a->text = arena_copy(&a->arena, slice_str(name));
    return a->text.ptr != NULL && open_model(a, text);
}

// ---- At the table -----------------------------------------------------------------------------

static bool add_record(struct adoption *a, struct slice name, struct slice value)
{
    a->records[a->record_count++] = (struct record_write){name, value};
    return name.ptr != NULL;
}

// The history begins with where the model comes from. Items that were on their way to it when the
// copy was made are completed once the table is full.
static bool add_records(struct adoption *a, const struct table *table, struct error *error)
{
    struct engine *engine = a->shop->engine;
    struct model_version version = {.time_ms = env_now(engine_env(engine)),
                                    .text = a->text,
                                    .file = a->file,
                                    .did = slice_str(a->restored ? "restore" : "import")};
    struct model_work work = {.table_id = table->uuid,
                              .text = a->text,
                              .file = a->file,
                              .did = version.did,
                              .status = MODEL_APPLYING,
                              .phase = MODEL_PHASE_ITEMS,
                              .progress.started_ms = version.time_ms};
    a->record_count = 0;
    if (a->record.len > 0 && !add_record(a, a->text, a->record))
        return false;
    if (!model_version_next(engine, table, &version.number, error))
        return false;
    struct record_write history = model_version_record(table, &version, &a->arena, error);
    work.version = version.number;
    return add_record(a, history.name, history.value) &&
           (!a->restored || add_record(a, model_work_name(&a->arena, table->name),
                                       map_encode(&model_work_form, &work, &a->arena, error)));
}

// New items are guarded from the start, and the table has what its model says.
static bool guard_new_items(const struct adoption *a, struct table *table)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    settings.ttl_attribute = a->model->ttl_attribute;
    settings.pitr_later = a->model->pitr ? RECOVERY_DAYS : 0;
    return table_settings_write(table, &settings) && table_set_guard(table, a->text, a->guard);
}

static bool adopt_alter(void *context, struct table *current, struct table **next,
                        struct error *error)
{
    struct adoption *a = context;
    if (current == NULL || current->tree != a->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
    struct table *table = table_clone(current);
    if (table == NULL)
        return error_budget(error);
    if (!add_records(a, table, error) || error->code != ERR_NONE ||
        (!a->restored && !guard_new_items(a, table))) {
        (void)table_abandon(table);
        return error->code == ERR_NONE ? error_budget(error) : false;
    }
    if (a->restored) {
        struct guard *gatherer = gatherer_new(a->guard, a->text);
        table_set_next(table, gatherer, false);
        guard_release(gatherer);
    }
    a->change->records = a->records;
    a->change->record_count = a->record_count;
    *next = table;
    return true;
}

// ---- Which model ------------------------------------------------------------------------------

struct last_model {
    struct slice name; // of the record of its text
    struct arena *arena;
};

static bool note_model(void *context, struct slice name, struct slice record)
{
    struct last_model *last = context;
    struct slice did = map_text(record, "did");
    (void)name;
    if (!slice_begins(did, SLICE_LIT("migrate")))
        last->name = arena_copy(last->arena, map_text(record, "text"));
    return true;
}

// That of the last table of a name.
static bool model_of_name(struct engine *engine, struct slice table, struct arena *arena,
                          struct slice *text_name, struct error *error)
{
    struct last_model last = {.arena = arena};
    char *prefix = arena_printf(arena, "model/history/%.*s/", SLICE_FMT(table));
    if (prefix == NULL)
        return error_budget(error);
    if (!engine_records(engine, slice_str(prefix), slice_of(NULL, 0), note_model, &last, error))
        return false;
    *text_name = last.name;
    return true;
}

struct model_at {
    int64_t at_ms;
    struct slice name;
    struct arena *arena;
};

static void note_version(void *context, const struct model_version *version)
{
    struct model_at *at = context;
    if (version->time_ms <= at->at_ms && !slice_begins(version->did, SLICE_LIT("migrate")))
        at->name = arena_copy(at->arena, version->text);
}

bool model_of_time(struct engine *engine, const struct table *table, int64_t at_ms,
                   struct arena *arena, struct slice *text_name, struct error *error)
{
    struct model_at at = {at_ms, slice_of(NULL, 0), arena};
    if (!model_versions(engine, table, note_version, &at, error))
        return false;
    *text_name = at.name;
    return true;
}

// ---- Filling ----------------------------------------------------------------------------------

static bool fill(struct adoption *a, struct error *error)
{
    struct table_settings settings;
    struct table_edit edit = {
        .name = a->table->name, .alter = adopt_alter, .context = a, .change = &a->change};
    table_settings_read(a->table, &settings);
    a->restored = settings.restore_ms != 0;
    struct slice text = settings.restore_model;
    struct slice from = a->restored ? settings.restore_table : a->table->name;
    if (!a->restored && !model_of_name(a->shop->engine, from, &a->arena, &text, error))
        return false;
    if (text.len == 0)
        return true;
    if (adopt(a, text, from))
        return work_edit_table(a->shop, &edit, error);
    log_warn("table %.*s: the model that it had does not fit or cannot be read; apply one",
             SLICE_FMT(a->table->name));
    return true;
}

bool model_table_filling(struct workshop *shop, struct slice table, struct error *error)
{
    struct adoption a = {.shop = shop, .table = engine_table(shop->engine, table)};
    // One that was begun by an earlier process has its model already.
    bool fresh = a.table != NULL && a.table->status == TABLE_CREATING && a.table->model.len == 0 &&
                 a.table->next == NULL;
    arena_init(&a.arena, ADOPT_MEMORY);
    bool ok = !fresh || fill(&a, error);
    guard_release(a.guard);
    table_release(a.table);
    arena_release(&a.arena);
    return ok;
}

void model_table_filled(struct workshop *shop, struct slice table)
{
    struct table *live = engine_table(shop->engine, table);
    if (live != NULL && live->model.len > 0)
        model_work_begin(shop, table);
    table_release(live);
}
