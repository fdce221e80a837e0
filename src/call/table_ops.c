// Finding and changing tables for the operations on them.
#include "call/table_ops.h"

struct table *call_own_table(struct api_call *call, struct slice name_or_arn)
{
    struct table *table = call_any_table(call, name_or_arn);
    if (table == NULL && call->error.code == ERR_RESOURCE_NOT_FOUND) {
        error_init(&call->error, &call->arena);
        (void)table_not_found(&call->error, table_name_plain(name_or_arn));
    }
    return table;
}

static struct table_change *prepare(struct api_call *call, struct slice name,
                                    bool (*alter)(void *context, struct table *current,
                                                  struct table **next, struct error *error),
                                    void *context)
{
    // Not every name in a request has been through a pattern.
    if (table_name_hidden(name)) {
        (void)table_not_found(&call->error, name);
        return NULL;
    }
    struct table_change *change = call_table_change(call);
    if (change == NULL)
        return NULL;
    change->name = name;
    change->alter = alter;
    change->context = context;
    return change;
}

enum step call_alter(struct api_call *call, struct slice name,
                     bool (*alter)(void *context, struct table *current, struct table **next,
                                   struct error *error),
                     void *context)
{
    return prepare(call, name, alter, context) == NULL ? STEP_FAILED : call_submit(call);
}

struct editing {
    table_edit *edit;
    struct api_state *state;
};

static bool edit_alter(void *context, struct table *current, struct table **next,
                       struct error *error)
{
    const struct editing *editing = context;
    struct table_settings settings;
    if (current == NULL)
        return editing->edit(editing->state->own, NULL, NULL, error);
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    return editing->edit(editing->state->own, table, &settings, error)
               ? table_end(table, &settings, next, error)
               : table_abandon(table);
}

enum step call_edit(struct api_call *call, struct slice name, table_edit *edit, const void *context,
                    size_t size)
{
    struct editing *editing = call_alloc(call, 1, sizeof(*editing));
    void *own = call_alloc(call, 1, size);
    if (editing == NULL || own == NULL)
        return STEP_FAILED;
    memcpy(own, context, size);
    call->state->own = own;
    *editing = (struct editing){edit, call->state};
    return call_alter(call, name, edit_alter, editing);
}

enum step call_act(struct api_call *call, struct table_act *act)
{
    act->change = prepare(call, act->name, act->alter, act);
    return act->change == NULL ? STEP_FAILED : call_submit(call);
}

void call_write_table(struct api_call *call, const char *name, const struct table *table,
                      const struct table *before, enum describe_moment moment)
{
    struct table_view view = {.region = call->region,
                              .now_ms = env_now(engine_env(call_engine(call))),
                              .moment = moment,
                              .encrypted = call->api->encrypted,
                              .unsized = call->bound ||
                                         (call->state->policed && !call->state->origin.bypass)};
    struct json_writer w = call_open(call);
    json_name(&w, name);
    table_write_json(&w, table, before, &view);
    json_close_object(&w);
}

void call_write_change(struct api_call *call, enum describe_moment moment)
{
    const struct table_change *change = call->state->change;
    call_write_table(call, "TableDescription",
                     moment == DESCRIBE_DELETED ? change->before : change->after,
                     moment == DESCRIBE_UPDATED ? change->before : NULL, moment);
}

void call_changed_settings(const struct api_call *call, struct table_settings *out)
{
    table_settings_read(call->state->change->after, out);
}
