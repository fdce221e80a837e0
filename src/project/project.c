// See project.h.
//
// The body of an event is for the projector alone: a NUL, the new image, the old one. Both are
// encoded values, which say by themselves how long they are.
#include "project/project.h"

#include "base/limits.h"
#include "guard/address.h"
#include "guard/entity.h"
#include "guard/guard.h"
#include "project/inbox.h"
#include "project/projector.h"
#include "value/map.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 2048, ATTEMPTS = 3, REASON_TEXT = 256 };

struct projection {
    struct consumer_source base; // first
    struct guard *guard;
    const struct model_project *project;
    const struct model_table *table;
    const struct publisher *publisher;
    struct env env;
    struct outlet_opener opener;
    char *uuid;
};

// ---- Events ----------------------------------------------------------------------------------

static bool wanted(const struct projection *own, struct slice item)
{
    const struct model_entity *entity =
        item.len == 0 ? NULL : model_recognise(own->table, item).entity;
    for (size_t i = 0; entity != NULL && i < own->project->entity_count; i++)
        if (own->project->entities[i] == entity)
            return true;
    return false;
}

static bool projection_event(struct consumer_source *source, const struct log_entry *entry,
                             struct consumer_draft *draft)
{
    const struct projection *own = (const struct projection *)source;
    if (!wanted(own, entry->new_item) && !wanted(own, entry->old_item))
        return false;
    draft->type = entry->event == LOG_REMOVE   ? SLICE_LIT("remove")
                  : draft->snapshot            ? SLICE_LIT("snapshot")
                  : entry->event == LOG_INSERT ? SLICE_LIT("insert")
                                               : SLICE_LIT("modify");
    buf_byte(draft->body, 0);
    buf_byte(draft->body, entry->new_item.len > 0);
    buf_slice(draft->body, entry->keys);
    buf_slice(draft->body, entry->new_item);
    buf_slice(draft->body, entry->old_item);
    return true;
}

// ---- Wishes ----------------------------------------------------------------------------------

// Whether the item is there, or is not.
static const struct expr_condition *make_condition(const struct projection *own, enum expr_op op,
                                                   struct arena *arena, struct error *error)
{
    struct expr_builder b = {.arena = arena, .error = error};
    struct expr_node *test = expr_test(&b, op, expr_name(&b, own->table->keys.parts[0].name), NULL);
    return expr_build_condition(&b, test, EXPR_CONDITION);
}

// SET what is there, REMOVE what is NULL, if the item is there.
static bool make_update(const struct projection *own, const struct outlet_wish *wish,
                        struct arena *arena, struct write_action *out, struct error *error)
{
    struct expr_builder b = {.arena = arena, .error = error};
    size_t count = value_count(wish->attributes);
    struct expr_change *changes = arena_zalloc(arena, count + 1, sizeof(*changes));
    struct path_step *steps = arena_zalloc(arena, count + 1, sizeof(*steps));
    struct value_iter iter;
    if (changes == NULL || steps == NULL)
        return error_budget(error);
    value_iter_init(&iter, wish->attributes);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        bool gone = value_type(iter.value) == VALUE_NULL;
        steps[i] = (struct path_step){.name = iter.name};
        changes[i] = (struct expr_change){.action = gone ? ACTION_REMOVE : ACTION_SET,
                                          .path = {.steps = &steps[i], .count = 1},
                                          .value = gone ? NULL : expr_value(&b, iter.value)};
    }
    out->condition = make_condition(own, OP_EXISTS, arena, error);
    out->update = out->condition == NULL ? NULL : expr_build_update(&b, count, changes);
    return out->update != NULL;
}

static bool projection_wish(struct consumer_source *source, struct table *table,
                            const struct outlet_wish *wish, struct arena *arena,
                            struct write_action *out, struct error *error)
{
    const struct projection *own = (const struct projection *)source;
    out->table = table;
    out->item = wish->keys;
    switch (wish->kind) {
    case WISH_PUT:
        out->kind = WRITE_PUT;
        out->item = wish->attributes;
        out->condition = make_condition(own, OP_MISSING, arena, error);
        if (out->condition == NULL)
            return false;
        return table->guard == NULL || model_guard_address(table->guard, wish->entity, &own->env,
                                                           arena, NULL, &out->item, error);
    case WISH_UPDATE:
        out->kind = WRITE_UPDATE;
        return make_update(own, wish, arena, out, error);
    case WISH_REMOVE:
        out->kind = WRITE_DELETE;
        break;
    }
    return true;
}

static void projection_free(struct consumer_source *source)
{
    struct projection *own = (struct projection *)source;
    guard_release(own->guard);
    free(own->uuid);
    free(own);
}

static const struct consumer_source_ops projection_ops = {
    .event = projection_event, .wish = projection_wish, .free = projection_free};

// ---- The target ------------------------------------------------------------------------------

struct target {
    struct outlet base; // first
    const struct projection *projection;
    struct projector *projector;
    struct slice wished; // the key of the wish that is to be answered, as an item
    struct projector_change changes[BATCH];
};

static struct slice part(struct slice *rest)
{
    size_t len = rest->len == 0 ? 0 : value_length(rest->ptr);
    struct slice value = slice_of(rest->ptr, len);
    *rest = slice_of(rest->ptr + len, rest->len - len);
    return value;
}

static struct projector_change change_of(const struct outlet_event *event)
{
    struct slice rest = slice_of(event->body.ptr + 2, event->body.len - 2);
    struct projector_change change = {.keys = part(&rest)};
    if (event->body.ptr[1] != 0)
        change.new_item = part(&rest);
    change.old_item = part(&rest);
    return change;
}

// What a fault means to the consumer: all of these are over when the target is open again.
static void target_lose(struct target *own, struct outlet_event *const *events, size_t count,
                        const struct rdb_fault *fault)
{
    static const char *const leads[] = {[RDB_FULL] = "the database is full: ",
                                        [RDB_SCHEMA] = "a table is not as the projection made it "
                                                       "(put it back, or drop it together with "
                                                       "its row in dolmen_projections): "};
    char reason[REASON_TEXT];
    const char *lead = (size_t)fault->class < COUNT_OF(leads) && leads[fault->class] != NULL
                           ? leads[fault->class]
                           : "";
    (void)snprintf(reason, sizeof(reason), "%s%s", lead, fault->text);
    own->base.lost = true;
    own->base.claim = 0;
    outlet_end_all(&own->base, events, count,
                   &(struct outlet_end){.outcome = OUTLET_AWAY, .reason = reason});
}

static void target_send(struct outlet *outlet, struct outlet_event *const *events, size_t count)
{
    struct target *own = (struct target *)outlet;
    struct rdb_fault fault;
    bool claimed = false;
    uint64_t rows = projector_rows(own->projector);
    uint64_t batches = projector_batches(own->projector);
    ensure(count <= BATCH);
    for (size_t i = 0; i < count; i++)
        own->changes[i] = change_of(events[i]);
    if (!projector_apply(own->projector, own->changes, count, outlet->claim, &claimed, &fault)) {
        target_lose(own, events, count, &fault);
        return;
    }
    outlet->rows = projector_rows(own->projector) - rows;
    outlet->batches = projector_batches(own->projector) - batches;
    if (!claimed)
        outlet->claim = 0;
    for (size_t i = 0; i < count; i++) {
        const struct projector_change *change = &own->changes[i];
        struct outlet_end end = {.outcome = change->refused ? OUTLET_REFUSED : OUTLET_DELIVERED,
                                 .reason = change->refused ? change->reason : NULL};
        outlet->owner.ended(outlet->owner.context, events[i], &end);
    }
}

static struct outlet_place target_place(struct outlet *outlet)
{
    struct projector_place place = projector_place(((struct target *)outlet)->projector);
    return (struct outlet_place){place.backfill, place.position};
}

static bool target_begin(struct outlet *outlet, char *error, size_t error_size)
{
    struct rdb_fault fault;
    if (projector_begin(((struct target *)outlet)->projector, &fault))
        return true;
    (void)snprintf(error, error_size, "%s", fault.text);
    return false;
}

static bool target_end(struct outlet *outlet, uint64_t sequence, char *error, size_t error_size)
{
    struct rdb_fault fault;
    if (projector_end(((struct target *)outlet)->projector, sequence, VALUE_NONE, &fault))
        return true;
    (void)snprintf(error, error_size, "%s", fault.text);
    return false;
}

// Both together, as one item; NULLs are left out.
static struct slice merge(struct slice a, struct slice b, struct arena *arena)
{
    struct value_maker maker;
    struct slice parts[] = {a, b};
    value_begin(&maker, LIMIT_CHANGE_JSON);
    value_open_map(&maker.b);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct value_iter iter;
        if (parts[i].len == 0)
            continue;
        value_iter_init(&iter, parts[i]);
        while (value_iter_next(&iter)) {
            if (value_type(iter.value) == VALUE_NULL)
                continue;
            value_name(&maker.b, iter.name);
            value_put(&maker.b, iter.value);
        }
    }
    return value_end(&maker, arena);
}

static bool target_wish(struct outlet *outlet, struct arena *arena, struct outlet_wish *wish)
{
    struct target *own = (struct target *)outlet;
    struct rdb_fault fault;
    struct inbox_entry entry;
    struct error error;
    bool found = false;
    if (!inbox_used(own->projector))
        return false;
    if (!inbox_next(own->projector, arena, &entry, &found, &fault)) {
        outlet->lost = true;
        return false;
    }
    if (!found)
        return false;
    error_init(&error, arena);
    *wish = (struct outlet_wish){.id = entry.id,
                                 .kind = entry.act == 'i'   ? WISH_PUT
                                         : entry.act == 'd' ? WISH_REMOVE
                                                            : WISH_UPDATE,
                                 .entity = entry.table->entity_name,
                                 .attributes = entry.act == 'i' ? merge(entry.key, entry.row, arena)
                                                                : entry.row,
                                 .refused = entry.refused};
    if (wish->refused.len == 0 &&
        !model_address_key(entry.table->entity, entry.key, arena, &wish->keys, &error))
        wish->refused = slice_str(error.message == NULL ? "out of memory" : error.message);
    if (wish->kind == WISH_PUT && wish->refused.len == 0)
        wish->attributes = merge(wish->keys, wish->attributes, arena);
    own->wished = wish->refused.len > 0 ? VALUE_NONE : merge(wish->keys, entry.key, arena);
    return true;
}

// A refused change is put back: the row is what the item is, or goes with it.
static bool target_answer(struct outlet *outlet, const struct outlet_wish *wish,
                          const char *refused, struct slice item)
{
    struct target *own = (struct target *)outlet;
    struct rdb_fault fault;
    bool claimed;
    struct projector_change change = {
        .keys = wish->keys, .old_item = own->wished, .new_item = item};
    bool ok = (refused == NULL || wish->keys.len == 0 ||
               projector_apply(own->projector, &change, 1, 0, &claimed, &fault)) &&
              inbox_done(own->projector, wish->id, refused, &fault);
    outlet->lost = outlet->lost || !ok;
    return ok;
}

static void target_close(struct outlet *outlet)
{
    struct target *own = (struct target *)outlet;
    projector_close(own->projector);
    free(own);
}

static const struct outlet_ledger target_ledger = {.place = target_place,
                                                   .begin = target_begin,
                                                   .end = target_end,
                                                   .batch = BATCH,
                                                   .wish = target_wish,
                                                   .answer = target_answer};
static const struct outlet_ops target_ops = {
    .ordered = true, .ledger = &target_ledger, .send = target_send, .close = target_close};

// ---- Opening ---------------------------------------------------------------------------------

static bool target_stopping(void *context)
{
    const struct outlet_owner *owner = &((const struct target *)context)->base.owner;
    return owner->stopping != NULL && owner->stopping(owner->context);
}

static bool target_allowed(void *context, const char *host, char *error, size_t error_size)
{
    const struct target *own = context;
    struct outlet_request request = {
        .publisher = own->projection->publisher, .error = error, .error_size = error_size};
    return host_allowed(&request, host);
}

// Models may come from clients: a file is one of the directory that was named for such.
static bool target_file(const struct outlet_request *request, struct slice url, char *out,
                        size_t size)
{
    struct slice name = slice_of(url.ptr + 7, url.len - 7);
    if (request->publisher->files == NULL)
        return outlet_refuse(request, "SQLite files need --publish-files DIR") != NULL;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '/' || name.ptr[i] == 0)
            name.len = 0;
    if (name.len == 0 || name.len > 200 || name.ptr[0] == '.')
        return outlet_refuse(request, "a file of SQLite is sqlite:NAME, in the directory of "
                                      "--publish-files") != NULL;
    (void)snprintf(out, size, "sqlite:%s/%.*s", request->publisher->files, SLICE_FMT(name));
    return true;
}

static struct outlet *open_with(const struct outlet_request *request,
                                const struct projection *projection, struct slice password)
{
    char path[4096];
    char user[256];
    struct rdb_fault fault = {.class = RDB_FINE};
    struct slice url = request->spec->url;
    if (slice_begins(url, SLICE_LIT("sqlite:"))) {
        if (!target_file(request, url, path, sizeof(path)))
            return NULL;
        url = slice_str(path);
    }
    if (!outlet_option_text(request->spec, "user", user, sizeof(user)))
        return outlet_refuse(request, "the user's name is too long");
    struct target *own = memory_zeroed(sizeof(*own));
    own->base = (struct outlet){.ops = &target_ops, .owner = *request->owner};
    own->projection = projection;
    struct projector_plan plan = {.model = projection->table->model,
                                  .project = projection->project,
                                  .table = projection->table,
                                  .table_id = slice_str(projection->uuid),
                                  .target = {.url = url,
                                             .user = slice_str(user),
                                             .password = password,
                                             .stopping = target_stopping,
                                             .context = own,
                                             .allowed = target_allowed}};
    own->projector = projector_open(&plan, &fault);
    if (own->projector != NULL)
        return &own->base;
    free(own);
    return outlet_refuse(request, "%s%s", fault.class == RDB_FULL ? "the database is full: " : "",
                         fault.text);
}

static struct outlet *projection_open(void *context, const struct outlet_spec *spec,
                                      const struct outlet_owner *owner, char *error,
                                      size_t error_size)
{
    const struct projection *own = context;
    struct outlet_request request = {own->publisher, spec, owner, error, error_size};
    struct buf password;
    const struct outlet_option *option = outlet_option(spec, "password");
    if (own->publisher->off)
        return outlet_refuse(&request, "publishing is switched off (--publish off)");
    buf_init(&password, 1 << 16);
    if (option != NULL && !outlet_secret(&request, option, &password))
        return NULL;
    struct outlet *opened = open_with(&request, own, buf_view(&password));
    if (password.ptr != NULL)
        explicit_bzero(password.ptr, password.len);
    buf_release(&password);
    return opened;
}

// ---- Plans -----------------------------------------------------------------------------------

static bool projection_plan(void *context, struct table *table, const struct model_project *project,
                            struct consumer_plan *plan)
{
    struct projection *own = memory_zeroed(sizeof(*own));
    own->base.ops = &projection_ops;
    own->guard = guard_hold(table->guard);
    own->project = project;
    own->table = model_guard_table(table->guard);
    own->publisher = context;
    own->env = env_system();
    own->opener = (struct outlet_opener){own, projection_open};
    own->uuid = slice_dup(table->uuid);
    plan->source = &own->base;
    plan->opener = &own->opener;
    plan->attempts = plan->attempts == 0 ? ATTEMPTS : plan->attempts;
    return true;
}

struct consumers_projects projects_of(const struct publisher *publisher)
{
    return (struct consumers_projects){(void *)(uintptr_t)publisher, projection_plan};
}
