// See entity.h. A write here is the write job of PutItem, DeleteItem or TransactWriteItems, made of
// values instead of JSON, and counts as one of them.
#include "items/entity.h"

#include "base/log.h"
#include "call/authorize.h"
#include "call/insights.h"
#include "eval/eval.h"
#include "guard/attach.h"
#include "items/page.h"
#include "items/transact.h"
#include "requests/shapes.h"

#include <stddef.h>

#define SECRET_NAME "data/secret"

// ---- Tables ---------------------------------------------------------------------------------

void api_tables(struct api *api, bool of_tenants, bool (*visit)(void *context, struct slice name),
                void *context)
{
    if (of_tenants)
        engine_tables_of_tenants(api->shop.engine, slice_of(NULL, 0), visit, context);
    else
        engine_tables(api->shop.engine, slice_of(NULL, 0), visit, context);
}

// ---- The secret -----------------------------------------------------------------------------

struct secret_job {
    struct record_job job; // first
    struct arena *arena;
    struct error *error;
    struct record_write write;
};

// Somebody else may have made it just before.
static bool secret_decide(struct record_job *job, struct engine *engine)
{
    struct secret_job *secret = (struct secret_job *)job;
    struct slice there;
    if (!engine_record(engine, secret->write.name, secret->arena, &there, secret->error))
        return false;
    job->count = there.len > 0 ? 0 : 1;
    job->writes = &secret->write;
    return true;
}

static bool secret_make(struct api *api, struct arena *arena, struct error *error)
{
    uint8_t bytes[API_SECRET];
    struct buf value;
    struct value_builder builder;
    api->env.random(api->env.context, bytes, sizeof(bytes));
    buf_init(&value, 256);
    value_builder_init(&builder, &value);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT("secret"));
    value_put_binary(&builder, slice_of(bytes, sizeof(bytes)));
    (void)value_close(&builder);
    struct secret_job secret = {
        .arena = arena,
        .error = error,
        .write = {SLICE_LIT(SECRET_NAME), buf_view(&value)},
    };
    record_job_init(&secret.job, error);
    secret.job.decide = secret_decide;
    bool made = !value.failed && engine_run(api->shop.engine, &secret.job.job);
    value_builder_release(&builder);
    buf_release(&value);
    return made;
}

static bool secret_read(struct api *api, struct arena *arena, struct error *error,
                        uint8_t out[API_SECRET])
{
    struct slice record;
    if (!engine_record(api->shop.engine, SLICE_LIT(SECRET_NAME), arena, &record, error) ||
        record.len == 0)
        return false;
    struct slice secret = value_get(record, SLICE_LIT("secret"));
    if (secret.len == 0 || value_bytes(secret).len != API_SECRET)
        return false;
    memcpy(out, value_bytes(secret).ptr, API_SECRET);
    return true;
}

void api_secret(struct api *api, uint8_t out[API_SECRET])
{
    struct arena arena;
    struct error error;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    bool known = secret_read(api, &arena, &error, out) ||
                 (secret_make(api, &arena, &error) && secret_read(api, &arena, &error, out));
    if (!known) {
        log_warn("cannot keep a secret in the database: cursors end with this process");
        api->env.random(api->env.context, out, API_SECRET);
    }
    arena_release(&arena);
}

// ---- Calls ------------------------------------------------------------------------------------

static void entity_finish(struct api_call *call, const void *request);

// Only the names differ, for whoever counts.
static const struct operation entity_operation = {.name = SLICE_LIT("entity"),
                                                  .finish = entity_finish};

struct entity_state {
    size_t count;
    struct entity_write *writes;
};

static bool call_begin(struct api_call *call, const char *as)
{
    call->operation = slice_str(as);
    call->usage.operation = call->api->find(call->operation)->number;
    call->state = call_alloc(call, 1, sizeof(*call->state));
    if (call->state == NULL)
        return false;
    call->state->operation = &entity_operation;
    call_identify(call);
    return true;
}

// ---- May they -----------------------------------------------------------------------------------
//
// The data API asks for what its reads and writes are called in DynamoDB. It returns whole items,
// of which it makes entities.

static bool ask_get(struct api_call *call, struct slice table, const struct slice *key)
{
    return call_ask(
        call, &(struct ask){ASK_DYNAMODB(GetItem), .table = table, .item_count = 1, .items = key});
}

static bool ask_query(struct api_call *call, const struct entity_read *read)
{
    return call_ask(call, &(struct ask){ASK_DYNAMODB(Query), .table = read->table,
                                        .part = read->index.ptr == NULL ? NULL : "index",
                                        .part_id = read->index, .range = read->range,
                                        .compiled = read->filter, .reads = true});
}

static bool ask_write(struct api_call *call, struct slice table, const struct entity_write *write,
                      bool enclosed)
{
    static const struct {
        struct slice action;
        enum policy_action_id id;
        struct slice returns;
    } kinds[] = {
        [ENTITY_PUT] = {ASK_DYNAMODB(PutItem), SLICE_LIT("ALL_NEW")},
        [ENTITY_DELETE] = {ASK_DYNAMODB(DeleteItem), SLICE_LIT("NONE")},
        [ENTITY_CHECK] = {ASK_DYNAMODB(ConditionCheckItem), SLICE_LIT("NONE")},
        [ENTITY_UNDELETE] = {ASK_DYNAMODB(UpdateItem), SLICE_LIT("ALL_NEW")},
    };
    bool puts = write->kind == ENTITY_PUT;
    // The key of a put, where it is given, has to be the item's; an item without one gets it from
    // the model.
    const struct slice items[] = {puts ? write->item : write->key};
    return call_ask(call, &(struct ask){.action = kinds[write->kind].action,
                                        .id = kinds[write->kind].id,
                                        .table = table,
                                        .item_count = 1,
                                        .items = items,
                                        .whole = puts,
                                        .entity = puts ? write->entity : slice_of(NULL, 0),
                                        .return_values = kinds[write->kind].returns,
                                        .enclosing = enclosed ? SLICE_LIT("TransactWriteItems")
                                                              : slice_of(NULL, 0)});
}

static bool ask_writes(struct api_call *call, struct slice table, size_t count,
                       const struct entity_write *writes)
{
    for (size_t i = 0; call->caller != NULL && i < count; i++) {
        if (!ask_write(call, table, &writes[i], count > 1))
            return false;
    }
    return true;
}

bool api_ask(struct api_call *call, struct slice action, struct slice table, struct slice resource)
{
    bool may = call->caller == NULL || (call_begin(call, "GetItem") &&
                                        call_ask(call, &(struct ask){.action = action,
                                                                     .id = POLICY_ACTION_UNKNOWN,
                                                                     .table = table,
                                                                     .resource = resource}));
    if (!may)
        call_respond(call);
    return may;
}

static bool ask_read(struct api_call *call, struct entity_read *read)
{
    return read->begin(read, &call->arena, &call->error) &&
           (read->key.len > 0 ? ask_get(call, read->table, &read->key) : ask_query(call, read));
}

bool api_entity_ask(struct api_call *call, struct entity_read *read)
{
    bool may = call->caller == NULL || (call_begin(call, "Query") && ask_read(call, read));
    if (!may)
        call_respond(call);
    return may;
}

// ---- One item -----------------------------------------------------------------------------------

static bool get_item(struct api_call *call, struct slice table_name, struct slice key,
                     struct slice *item)
{
    struct item_read read;
    struct slice tree_key;
    if (!call_begin(call, "GetItem") || !ask_get(call, table_name, &key))
        return false;
    struct table *table = call_table(call, table_name);
    call->state->subject = key;
    if (table == NULL || !call_key(call, table, key, &tree_key) ||
        !throttle_admit_read(call, table, NULL) || !call_get(call, table, NULL, tree_key, &read))
        return false;
    bool there = read.item.len > 0;
    struct slice copy = there ? arena_copy(&call->arena, read.item) : VALUE_NONE;
    usage_read(call, table, NULL, capacity_read_units(read.size, true), there);
    insights_read(call, table, NULL, key);
    item_read_release(call_engine(call), &read);
    if (there && copy.ptr == NULL)
        return error_budget(&call->error);
    *item = copy;
    return true;
}

void api_entity_get(struct api_call *call, struct slice table, struct slice key, struct slice *item)
{
    *item = VALUE_NONE;
    (void)get_item(call, table, key, item);
    call_respond(call);
}

// ---- Reads ------------------------------------------------------------------------------------

// The one item of a GetItem, until it has been handed over.
struct single_read {
    struct table *table;
    struct item_read found;
};

// An item for the owner of the call; what that takes is not counted as work of the page, which
// ends where the same Query would, but of the slice.
static bool hand_over(struct api_call *call, struct slice item)
{
    struct entity_read *read = call->read;
    struct steps steps = {0};
    if (!read->emit(read, item, &steps, &call->error))
        return false;
    uint64_t *work = &call->state->work;
    *work -= steps.taken * 4 < *work ? steps.taken * 4 : *work;
    read->count++;
    return true;
}

static void drop_single(struct api_call *call)
{
    struct single_read *single = call->state->own;
    item_read_release(call_engine(call), &single->found);
}

static enum step finish_single(struct api_call *call)
{
    struct single_read *single = call->state->own;
    bool there = single->found.item.len > 0;
    usage_read(call, single->table, NULL,
               capacity_read_units(single->found.size, call->read->consistent), there);
    insights_read(call, single->table, NULL, call->read->key);
    bool fine = !there || hand_over(call, single->found.item);
    item_read_release(call_engine(call), &single->found);
    return fine ? STEP_READY : STEP_FAILED;
}

static enum step read_single(struct api_call *call)
{
    const struct entity_read *read = call->read;
    struct single_read *single = call_alloc(call, 1, sizeof(*single));
    struct slice tree_key;
    if (single == NULL)
        return STEP_FAILED;
    single->table = call_table(call, read->table);
    call->state->subject = read->key;
    if (single->table == NULL || !call_key(call, single->table, read->key, &tree_key) ||
        !throttle_admit_read(call, single->table, NULL) ||
        !call_get(call, single->table, read->snapshot, tree_key, &single->found))
        return STEP_FAILED;
    call->state->own = single;
    call->state->drop = drop_single;
    return call_go_on(call, single->found.item.len, finish_single);
}

static bool emit_item(void *context, struct slice item)
{
    struct page_call *p = context;
    insights_read(p->call, p->page.table, p->page.index, item);
    return hand_over(p->call, item);
}

static void finish_page(struct page_call *p)
{
    p->call->read->last = p->page.last;
    page_write_capacity(p);
}

static enum step read_page(struct api_call *call)
{
    static const struct field_list no_names;
    const struct entity_read *read = call->read;
    struct page_call *p = page_call_new(call, sizeof(*p));
    struct field_value *start = call_alloc(call, 1, sizeof(*start));
    if (p == NULL || start == NULL)
        return STEP_FAILED;
    if (read->after.len > 0)
        start->value = read->after;
    *p = (struct page_call){
        .call = call,
        .page = {.query = true,
                 .consistent = read->consistent,
                 .snapshot = read->snapshot,
                 .reverse = read->reverse,
                 .limit = read->limit,
                 .filter = read->filter,
                 .emit = emit_item},
        .attributes_to_get = &no_names,
        .start_key = start,
        .finish = finish_page,
    };
    return page_open_query(p, read->range, read->table, read->index) ? page_read(p) : STEP_FAILED;
}

enum step entity_read_start(struct api_call *call)
{
    struct entity_read *read = call->read;
    call->state->request = read; // nothing is to be decoded any more
    read->count = 0;
    read->last = VALUE_NONE;
    if (!ask_read(call, read))
        return STEP_FAILED;
    return read->key.len > 0 ? read_single(call) : read_page(call);
}

// ---- Conditions -------------------------------------------------------------------------------

// The type attribute, if the item has one, says that it is of this type.
static struct expr_node *is_typed(struct expr_builder *b, const struct entity_write *write)
{
    struct expr_node *untyped = expr_test(b, OP_MISSING, expr_name(b, write->type_name), NULL);
    struct slice type = model_string(b->arena, write->type_value);
    b->failed = b->failed || type.len == 0;
    return expr_join(b, OP_OR, untyped,
                     expr_test(b, OP_EQ, expr_name(b, write->type_name), expr_value(b, type)));
}

// The attribute that says when an item was deleted is there, and not null; or not.
static struct expr_node *is_deleted(struct expr_builder *b, const struct entity_write *write,
                                    bool deleted)
{
    static const uint8_t null = VALUE_TAG_NULL;
    struct expr_node *there =
        expr_test(b, deleted ? OP_EXISTS : OP_MISSING, expr_name(b, write->softdelete), NULL);
    return expr_join(b, deleted ? OP_AND : OP_OR, there,
                     expr_test(b, deleted ? OP_NE : OP_EQ, expr_name(b, write->softdelete),
                               expr_value(b, slice_of(&null, 1))));
}

// What the write needs to be there, or not to be.
static bool make_condition(struct api_call *call, const struct entity_write *write,
                           struct write_action *action)
{
    struct expr_builder b = {.arena = &call->arena, .error = &call->error};
    if (write->need == ENTITY_ANY)
        return true;
    struct expr_node *key = expr_name(&b, action->table->keys.parts[0].name);
    struct expr_node *need =
        expr_test(&b, write->need == ENTITY_ABSENT ? OP_MISSING : OP_EXISTS, key, NULL);
    if (write->need != ENTITY_ABSENT && write->type_name.len > 0)
        need = expr_join(&b, OP_AND, need, is_typed(&b, write));
    if (write->softdelete.len > 0) {
        bool absent = write->need == ENTITY_ABSENT;
        need = expr_join(&b, absent ? OP_OR : OP_AND, need,
                         is_deleted(&b, write, write->need != ENTITY_PRESENT));
    }
    action->condition = expr_build_condition(&b, need, EXPR_CONDITION);
    return action->condition != NULL;
}

// ---- Writes -----------------------------------------------------------------------------------

// The item has the key that it is written under.
static bool check_key(struct api_call *call, const struct entity_write *write,
                      const struct write_action *action)
{
    struct slice wanted;
    if (write->kind != ENTITY_PUT || write->key.len == 0)
        return true;
    return table_tree_key(action->table, write->key, &call->arena, &wanted, &call->error) &&
           (slice_equal(wanted, action->key) ||
            error_validation(&call->error, "The attributes of the item give another key than the "
                                           "one it is addressed by; a key cannot change"));
}

// A put of an entity need not say which one, nor its key.
static bool address_item(struct api_call *call, const struct entity_write *write,
                         struct write_action *action)
{
    return action->kind != WRITE_PUT || action->table->guard == NULL || write->entity.len == 0 ||
           model_guard_address(action->table->guard, write->entity, engine_env(call_engine(call)),
                               &call->arena, call_guard_steps(call), &action->item, &call->error) ||
           call_guard_over(call);
}

// Takes the mark of a deleted item away.
static bool make_undelete(struct api_call *call, const struct entity_write *write,
                          struct write_action *action)
{
    static const uint8_t null = VALUE_TAG_NULL;
    struct expr_builder b = {.arena = &call->arena, .error = &call->error};
    struct path_step *step = call_alloc(call, 1, sizeof(*step));
    if (write->kind != ENTITY_UNDELETE)
        return true;
    if (step == NULL)
        return false;
    step->name = write->softdelete;
    struct expr_change change = {.action = write->nullable ? ACTION_SET : ACTION_REMOVE,
                                 .path = {step, 1},
                                 .value =
                                     write->nullable ? expr_value(&b, slice_of(&null, 1)) : NULL};
    action->update = expr_build_update(&b, 1, &change);
    return action->update != NULL;
}

static bool make_action(struct api_call *call, const struct entity_write *write,
                        struct write_action *action)
{
    static const enum write_kind kinds[] = {[ENTITY_PUT] = WRITE_PUT,
                                            [ENTITY_DELETE] = WRITE_DELETE,
                                            [ENTITY_CHECK] = WRITE_CHECK,
                                            [ENTITY_UNDELETE] = WRITE_UPDATE};
    action->kind = kinds[write->kind];
    action->item = write->kind == ENTITY_PUT ? write->item : write->key;
    action->flags |= WRITE_OLD | WRITE_OLD_ON_FAILURE;
    if (write->kind == ENTITY_PUT || write->kind == ENTITY_UNDELETE)
        action->flags |= WRITE_NEW;
    action->if_match = write->if_match;
    if (write->kind == ENTITY_PUT && !item_size_check(write->item, &call->error))
        return false;
    return call_complete_tenant(call, action) && address_item(call, write, action) &&
           call_action_key(call, action) && check_key(call, write, action) &&
           make_condition(call, write, action) && make_undelete(call, write, action);
}

// What is wrong with one of several writes is a reason to cancel all.
static bool make_actions(struct api_call *call, struct table *table, size_t count,
                         const struct entity_write *writes, struct write_job *job)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += writes[i].kind == ENTITY_PUT ? value_item_size(writes[i].item) : 0;
    if (count > 1 && !transact_check_size(call, total))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct write_action *action = &job->actions[i];
        action->table = table;
        if (!make_action(call, &writes[i], action) && (count == 1 || !transact_fail(call, action)))
            return false;
    }
    return transact_check(call, job);
}

static void take_results(struct api_call *call)
{
    const struct entity_state *own = call->state->own;
    const struct write_job *job = call->state->write;
    for (size_t i = 0; i < own->count; i++) {
        struct entity_write *write = &own->writes[i];
        const struct write_action *action = &job->actions[i];
        write->before = action->out.old_item;
        write->after = action->out.new_item;
        write->failure = action->out.failure;
        write->failure_text = action->out.failure_text;
        write->failure_details = action->out.failure_details;
        write->warnings = action->out.warnings;
        write->repeated = action->out.repeated;
    }
    if (own->count == 1 && call->error.code != ERR_NONE) {
        own->writes[0].failure = call->error.code;
        own->writes[0].failure_text = call->error.message;
        own->writes[0].failure_details = call->error.details;
    }
}

static void entity_finish(struct api_call *call, const void *request)
{
    (void)call;
    (void)request;
}

void api_entity_results(struct api_call *call)
{
    if (call->state != NULL && call->state->own != NULL && call->state->write != NULL)
        take_results(call);
}

static bool start_writes(struct api_call *call, struct slice table_name, size_t count,
                         struct entity_write *writes, bool at_once)
{
    const char *as = count > 1                           ? "TransactWriteItems"
                     : writes[0].kind == ENTITY_DELETE   ? "DeleteItem"
                     : writes[0].kind == ENTITY_UNDELETE ? "UpdateItem"
                                                         : "PutItem";
    if (!call_begin(call, as))
        return false;
    struct entity_state *own = call_alloc(call, 1, sizeof(*own));
    struct write_job *job = call_write_job(call, count);
    if (own == NULL || job == NULL)
        return false;
    *own = (struct entity_state){count, writes};
    call->state->own = own;
    call->state->at_once = at_once;
    job->transaction = count > 1;
    if (!ask_writes(call, table_name, count, writes))
        return false;
    struct table *table = call_table(call, table_name);
    return table != NULL && make_actions(call, table, count, writes, job) &&
           call_submit(call) == STEP_PENDING;
}

bool api_entity_write(struct api_call *call, struct slice table, size_t count,
                      struct entity_write *writes, bool at_once)
{
    if (start_writes(call, table, count, writes, at_once))
        return false;
    call_respond(call);
    api_entity_results(call);
    return true;
}

// ---- Pages ------------------------------------------------------------------------------------

#define page_capacity_members(X, T) X(T, OPTIONAL, units, "CapacityUnits", DOUBLE)
#define page_answer_members(X, T)                                                                  \
    X(T, OPTIONAL, items, "Items", LIST(ITEM))                                                     \
    X(T, OPTIONAL, item, "Item", ITEM)                                                             \
    X(T, OPTIONAL, counted, "Count", LONG)                                                         \
    X(T, OPTIONAL, last, "LastEvaluatedKey", ITEM)                                                 \
    X(T, OPTIONAL, capacity, "ConsumedCapacity", STRUCT(page_capacity))
#define PAGE_STRUCTS(X)                                                                            \
    X(page_capacity, NULL)                                                                         \
    X(page_answer, NULL)
PAGE_STRUCTS(REQUEST_STRUCT)
PAGE_STRUCTS(SHAPE_DECLARE)
PAGE_STRUCTS(SHAPE_DEFINE)

bool api_page_decode(struct slice response, struct arena *arena, struct api_page *out,
                     struct error *error)
{
    struct page_answer answer;
    if (!shape_decode(&shape_page_answer, LAYER_OLD, response, &answer, arena, error))
        return false;
    bool one = answer.item.value.len > 0;
    size_t count = one ? 1 : answer.items.count;
    const struct field_value *from = one ? &answer.item : answer.items.items;
    struct slice *items = arena_zalloc(arena, count + 1, sizeof(*items));
    if (items == NULL)
        return error_budget(error);
    for (size_t i = 0; i < count; i++)
        items[i] = from[i].value;
    *out = (struct api_page){
        .count = count,
        .items = items,
        .counted = (uint64_t)answer.counted.value,
        .last = answer.last.value,
        .read_units = answer.capacity == NULL ? -1 : answer.capacity->units.value,
    };
    return true;
}
