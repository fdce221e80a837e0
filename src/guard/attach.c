// See model_attach.h.
#include "guard/attach.h"

#include "base/encode.h"
#include "base/log.h"
#include "engine/record.h"

#include <stdio.h>

enum { MODEL_MEMORY = 64 << 20 };

void model_record_name(struct slice text, char out[MODEL_NAME_SIZE + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];
    sha256_of(text, digest);
    size_t at = (size_t)snprintf(out, MODEL_NAME_SIZE + 1, "model/text/");
    for (size_t i = 0; i < sizeof(digest); i++) {
        out[at++] = digits[digest[i] >> 4];
        out[at++] = digits[digest[i] & 15];
    }
    out[at] = 0;
}

void model_record_encode(struct slice file, struct slice text, struct buf *out)
{
    struct value_builder b;
    value_builder_init(&b, out);
    value_open_map(&b);
    value_name(&b, SLICE_LIT("file"));
    value_put_string(&b, file);
    value_name(&b, SLICE_LIT("text"));
    value_put_string(&b, text);
    (void)value_close(&b);
    value_builder_release(&b);
}

bool model_record_read(struct engine *engine, struct slice name, struct arena *arena,
                       struct slice *file, struct slice *text)
{
    struct error error;
    struct slice record;
    error_init(&error, arena);
    if (!engine_record(engine, name, arena, &record, &error) || record.len == 0)
        return false;
    struct slice file_value = value_get(record, SLICE_LIT("file"));
    struct slice text_value = value_get(record, SLICE_LIT("text"));
    if (file_value.len == 0 || text_value.len == 0)
        return false;
    *file = value_bytes(file_value);
    *text = value_bytes(text_value);
    return true;
}

bool model_no_memory(const struct budget *budget, struct error *error)
{
    if (budget == NULL || budget->limit == 0)
        return error_budget(error);
    return error_set(error, ERR_LIMIT_EXCEEDED,
                     "There is no memory for this model: all models of this server may use %zu MB "
                     "together. Apply a smaller model, or start the server with a larger "
                     "--memory-limit.",
                     budget_half(budget) >> 20);
}

static struct guard *guard_of_text(struct arena *arena, struct slice file, struct slice text,
                                   struct slice table_name, struct budget *budget)
{
    struct budget_account account = {.budget = budget};
    struct diagnostics *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL)
        return NULL;
    diagnostics_init(found, arena);
    struct model *model = model_parse_counted(file, text, found, &account);
    if (model == NULL)
        return NULL;
    const struct model_table *table = model_table(model, table_name);
    struct guard *guard = table == NULL ? NULL : model_guard_new(model, table);
    model_release(model);
    return guard;
}

// A model that was applied once holds, whatever limit the server is started with now: what the
// budget refuses is made without it.
static struct guard *guard_of_record(struct budget *budget, struct engine *engine,
                                     const struct table *table, struct arena *arena)
{
    struct slice file;
    struct slice text;
    if (!model_record_read(engine, table->model, arena, &file, &text))
        return NULL;
    uint64_t refused = budget_refused(budget);
    struct guard *guard = guard_of_text(arena, file, text, table->name, budget);
    if (guard != NULL || budget_refused(budget) == refused)
        return guard;
    log_warn("memory: the model of table %.*s is more than the %zu MB that all models may use. It "
             "is loaded all the same; give the server a larger --memory-limit",
             SLICE_FMT(table->name), budget_half(budget) >> 20);
    return guard_of_text(arena, file, text, table->name, NULL);
}

struct guard *guard_make(void *context, struct engine *engine, const struct table *table)
{
    struct arena arena;
    arena_init(&arena, MODEL_MEMORY);
    struct guard *guard = guard_of_record(context, engine, table, &arena);
    arena_release(&arena);
    return guard;
}

bool guard_prepare(const struct env *env, const struct table *table, struct arena *arena,
                   struct steps *steps, struct write_action *action, struct error *error)
{
    if (table->guard == NULL)
        return true;
    if (action->prepared == NULL)
        action->sent = action->item;
    if (!model_guard_prepare(table->guard, env, arena, steps, &action->item, &action->settled,
                             error))
        return false;
    action->prepared = table->guard;
    return item_size_check(action->item, error);
}
