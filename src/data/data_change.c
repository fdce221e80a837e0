// Changes of entities, alone or several as one transaction: from what a client asks for to a write
// of the api, and from its result to an answer.
//
// Whatever depends on what is there (a patch, an If-Match) is read first, judged, and written under
// the condition that it is still the same item (its digest). If another writer was faster, all of
// the task is done again, on what is there then.
#include "data/data_internal.h"

#include "base/encode.h"
#include "eval/eval.h"
#include "guard/entity.h"

// ---- Entity tags --------------------------------------------------------------------------------

void data_etag_text(const uint8_t digest[DIGEST_BYTES], char out[DATA_ETAG + 1])
{
    out[0] = out[DATA_ETAG - 1] = '"';
    out[DATA_ETAG] = 0;
    hex_text(slice_of(digest, DIGEST_BYTES), out + 1);
}

// Whether a list of tags, as If-Match and If-None-Match have it, names the digest. `weak`: also as
// W/"…".
static bool tag_listed(struct slice list, const uint8_t digest[DIGEST_BYTES], bool weak)
{
    char tag[DATA_ETAG + 1];
    data_etag_text(digest, tag);
    while (list.len > 0) {
        struct slice word = slice_trim(slice_cut(&list, ','));
        if (weak && slice_begins(word, SLICE_LIT("W/")))
            word = slice_of(word.ptr + 2, word.len - 2);
        // In JSON the quotes may be left out.
        if (slice_is(word, tag) || slice_equal(word, slice_of(tag + 1, DATA_ETAG - 2)))
            return true;
    }
    return false;
}

static bool match_any(struct slice list)
{
    return slice_is(list, "*");
}

// ---- What can go wrong ------------------------------------------------------------------------

bool data_change_fail(struct data_change *change, struct data_problem problem)
{
    change->failed = true;
    change->problem = problem;
    return false;
}

static bool fail_with(struct data *data, struct data_change *change, enum data_problem_kind kind,
                      const char *format)
{
    char *detail = arena_printf(&data->arena, format, SLICE_FMT(change->entity->name));
    return data_change_fail(change, (struct data_problem){.kind = kind, .detail = detail});
}

static bool fail_absent(struct data *data, struct data_change *change)
{
    return fail_with(data, change, DATA_NOT_FOUND, "There is no %.*s with this key");
}

static bool fail_error(struct data_change *change, const struct error *error)
{
    return data_change_fail(change, data_problem_error(error));
}

static bool fail_precondition(struct data *data, struct data_change *change)
{
    return fail_with(data, change, DATA_PRECONDITION,
                     "The %.*s is not the one that the precondition names");
}

// ---- Reading ----------------------------------------------------------------------------------

// An item of another entity that has the same key is not what was asked for.
static bool other_type(const struct model_entity *entity, struct slice item)
{
    if (entity->table->type_attribute.len == 0)
        return false;
    struct slice type = value_get(item, entity->table->type_attribute);
    return type.len > 0 &&
           (value_type(type) != VALUE_S || !slice_equal(value_bytes(type), entity->type_value));
}

// Whether the item is deleted softly: then it is not there.
static bool is_deleted(const struct model_entity *entity, struct slice item)
{
    return entity->guard == MODEL_ENFORCE && model_item_deleted(entity, item);
}

// What is there, in the request's arena; VALUE_NONE if nothing is.
static bool read_current(struct data_task *task, struct data_change *change, struct slice *current)
{
    struct data *data = task->data;
    struct slice item;
    api_call_reset(&task->call);
    api_entity_get(&task->call, data->table_name, change->key, &item);
    data_count_call(data, &task->call);
    if (task->call.error_code != ERR_NONE) {
        const char *message = arena_printf(&data->arena, "%s", task->call.error.message);
        return data_change_fail(change, data_problem_of(task->call.error_code, message, NULL));
    }
    *current = VALUE_NONE;
    if (item.len > 0 && !other_type(change->entity, item) && !is_deleted(change->entity, item)) {
        *current = arena_copy(&data->arena, item);
        if (current->ptr == NULL)
            return data_change_fail(change, data_problem_memory(data));
        item_digest(*current, change->digest);
        data->shown += item.len;
        data->work -= item.len < data->work ? item.len : data->work;
    }
    return true;
}

static bool finish_get(struct data_change *change, struct slice current)
{
    struct slice known = change->match.if_none_match;
    change->item = current;
    change->status =
        known.len > 0 && (match_any(known) || tag_listed(known, change->digest, true)) ? 304 : 200;
    return true;
}

// ---- Preparing --------------------------------------------------------------------------------

// The item with the attributes of the key that it does not say itself.
static struct slice with_fields(struct arena *arena, struct slice item, struct slice fields)
{
    struct value_maker maker;
    struct value_iter iter;
    value_begin(&maker, LIMIT_REQUEST_MEMORY);
    value_open_map(&maker.b);
    value_iter_init(&iter, fields);
    while (value_iter_next(&iter)) {
        if (value_get(item, iter.name).len > 0)
            continue;
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    return value_end(&maker, arena);
}

// Whether a name is a key of the table that the entity makes of other attributes.
static bool is_made_key(const struct model_entity *entity, struct slice name)
{
    const struct key_schema *keys = &entity->table->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        if (slice_equal(keys->parts[i].name, name))
            return model_entity_attribute(entity, name) == NULL;
    return false;
}

// The item without such keys: they follow its attributes, so that a patch that would change one is
// told by the attributes' key, not by the stored one.
static struct slice without_keys(struct arena *arena, const struct model_entity *entity,
                                 struct slice item)
{
    struct value_maker maker;
    struct value_iter iter;
    value_begin(&maker, LIMIT_REQUEST_MEMORY);
    value_open_map(&maker.b);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (is_made_key(entity, iter.name))
            continue;
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    return value_end(&maker, arena);
}

static bool prepare_item(struct data *data, struct data_change *change, struct slice current,
                         struct entity_write *write)
{
    struct error error;
    error_init(&error, &data->arena);
    bool read =
        change->action == DATA_PATCH
            ? model_plain_patch(change->entity, current, change->body, &data->arena, &write->item,
                                &error)
            : model_plain_read(change->entity, change->body, &data->arena, &write->item, &error);
    if (!read)
        return fail_error(change, &error);
    if (change->action == DATA_PATCH)
        write->item = without_keys(&data->arena, change->entity, write->item);
    if (change->action != DATA_CREATE && write->item.ptr != NULL)
        write->item = with_fields(&data->arena, write->item, change->fields);
    return write->item.ptr != NULL || data_change_fail(change, data_problem_memory(data));
}

// Reads and judges what is there, where it matters.
static bool prepare_current(struct data_task *task, struct data_change *change,
                            struct slice *current, struct entity_write *write)
{
    struct slice wanted = change->match.if_match;
    bool named = wanted.len > 0 && !match_any(wanted);
    *current = VALUE_NONE;
    if (change->action == DATA_CREATE ||
        (!named && change->action != DATA_GET && change->action != DATA_PATCH))
        return true;
    if (!read_current(task, change, current))
        return false;
    if (current->len == 0)
        return change->action == DATA_REPLACE ? fail_precondition(task->data, change)
                                              : fail_absent(task->data, change);
    if (named && !tag_listed(wanted, change->digest, false))
        return fail_precondition(task->data, change);
    write->if_match = slice_of(change->digest, DIGEST_BYTES);
    return true;
}

static bool prepare_change(struct data_task *task, struct data_change *change,
                           struct entity_write *write)
{
    const struct model_table *table = task->data->table;
    struct slice current;
    *write = (struct entity_write){
        .key = change->key,
        .entity = change->entity->name,
        .type_name = table->type_attribute,
        .type_value = change->entity->type_value,
    };
    if (change->entity->softdelete != NULL && change->entity->guard == MODEL_ENFORCE)
        write->softdelete = change->entity->softdelete->name;
    if (!prepare_current(task, change, &current, write))
        return false;
    switch (change->action) {
    case DATA_GET:
        return finish_get(change, current);
    case DATA_CREATE:
        write->need = ENTITY_ABSENT;
        return prepare_item(task->data, change, current, write);
    case DATA_REPLACE:
        if (match_any(change->match.if_none_match))
            write->need = ENTITY_ABSENT;
        else if (match_any(change->match.if_match))
            write->need = ENTITY_PRESENT;
        return prepare_item(task->data, change, current, write);
    case DATA_PATCH:
        return prepare_item(task->data, change, current, write);
    case DATA_DELETE:
        write->kind = ENTITY_DELETE;
        write->need = ENTITY_PRESENT;
        return true;
    case DATA_UNDELETE:
        write->kind = ENTITY_UNDELETE;
        write->need = ENTITY_DELETED;
        write->nullable = !change->entity->softdelete->optional;
        return true;
    case DATA_CHECK:
        write->kind = ENTITY_CHECK;
        write->need = ENTITY_PRESENT;
        return true;
    }
    return false;
}

// ---- Results ----------------------------------------------------------------------------------

static void finish_change(struct data_change *change, const struct entity_write *write)
{
    static const int statuses[] = {
        [DATA_GET] = 200,    [DATA_CREATE] = 201,   [DATA_REPLACE] = 200, [DATA_PATCH] = 200,
        [DATA_DELETE] = 204, [DATA_UNDELETE] = 200, [DATA_CHECK] = 200,
    };
    change->status = statuses[change->action];
    if (change->action == DATA_REPLACE &&
        (write->before.len == 0 || is_deleted(change->entity, write->before)))
        change->status = 201;
    if (write->repeated && change->status == 201)
        change->status = 200;
    change->repeated = write->repeated;
    change->item = write->after;
    change->warnings = write->warnings;
    if (write->after.len > 0)
        item_digest(write->after, change->digest);
}

// Whether the write failed because somebody else was faster. A version that is not the stored one
// is the client's own, and stays wrong.
static bool overtaken(const struct entity_write *write)
{
    return write->failure == ERR_CONDITIONAL_CHECK_FAILED && write->failure_details == NULL &&
           write->if_match.len > 0;
}

static void fail_write(struct data *data, struct data_change *change,
                       const struct entity_write *write)
{
    if (overtaken(write)) {
        (void)fail_with(data, change, DATA_CONFLICT, "Others change this %.*s all the time");
    } else if (write->failure != ERR_CONDITIONAL_CHECK_FAILED || write->failure_details != NULL) {
        (void)data_change_fail(
            change, data_problem_of(write->failure, write->failure_text, write->failure_details));
    } else if (change->action == DATA_CREATE) {
        (void)fail_with(data, change, DATA_EXISTS, "There is a %.*s with this key already");
    } else if (change->action == DATA_UNDELETE && write->before.len > 0 &&
               !other_type(change->entity, write->before)) {
        (void)fail_with(data, change, DATA_NOT_DELETED, "The %.*s with this key is not deleted");
    } else if (change->action == DATA_REPLACE) {
        (void)fail_precondition(data, change);
    } else {
        (void)fail_absent(data, change);
    }
}

// True: the task is done. False: it has to be tried again.
static bool take_results(struct data_task *task)
{
    const struct api_call *call = &task->call;
    bool told = false;
    data_count_call(task->data, call);
    for (size_t i = 0; i < task->count; i++) {
        if (overtaken(&task->writes[i]) && ++task->tries < DATA_TRIES)
            return false;
    }
    for (size_t i = 0; i < task->count; i++) {
        if (task->writes[i].failure != ERR_NONE) {
            fail_write(task->data, &task->changes[i], &task->writes[i]);
            told = true;
        } else if (call->error_code == ERR_NONE) {
            finish_change(&task->changes[i], &task->writes[i]);
            task->data->shown += task->changes[i].item.len;
        }
    }
    if (call->error_code != ERR_NONE && !told)
        (void)data_change_fail(
            &task->changes[0],
            data_problem_of(call->error_code, call->error.message, call->error.details));
    return true;
}

// ---- Tasks --------------------------------------------------------------------------------------

// On the writer's thread.
static void on_task_done(struct api_call *call)
{
    struct data_task *task = call->context;
    struct data *data = task->data;
    if (--data->waiting == 0)
        http_exchange_resume(data->exchange);
}

// Reads and makes what is to be written, as far as the slice goes.
static enum data_step prepare_all(struct data_task *task)
{
    struct data *data = task->data;
    if (task->prepared == 0)
        task->fine = true;
    for (; task->prepared < task->count; task->prepared++) {
        size_t i = task->prepared;
        if (data->work == 0)
            return DATA_LATER;
        task->fine = !task->changes[i].failed &&
                     prepare_change(task, &task->changes[i], &task->writes[i]) && task->fine;
    }
    task->prepared = 0;
    return DATA_READY;
}

static enum data_step task_start(struct data_task *task)
{
    do {
        if (prepare_all(task) == DATA_LATER)
            return DATA_LATER;
        // Whatever failed did so before anything was written.
        if (!task->fine || task->changes[0].action == DATA_GET)
            return DATA_READY;
        api_call_reset(&task->call);
        task->call.done = on_task_done;
        task->call.context = task;
        task->data->waiting++;
        if (!api_entity_write(&task->call, task->data->table_name, task->count, task->writes,
                              !task->data->pooled)) {
            task->state = TASK_WAITING;
            return DATA_WAITS;
        }
        task->data->waiting--;
        if (task->call.error.code == ERR_COLD)
            return DATA_LATER;
    } while (!take_results(task));
    return DATA_READY;
}

enum data_step data_task_run(struct data_task *task)
{
    if (task->state == TASK_WAITING) {
        api_call_finish(&task->call);
        api_entity_results(&task->call);
        task->state = take_results(task) ? TASK_DONE : TASK_NEW;
    }
    if (task->state == TASK_DONE)
        return DATA_READY;
    enum data_step step = task_start(task);
    if (step == DATA_READY)
        task->state = TASK_DONE;
    return step;
}

// ---- What clients see ---------------------------------------------------------------------------

bool data_change_key(struct data *data, struct data_change *change)
{
    struct error error;
    error_init(&error, &data->arena);
    return model_address_key(change->entity, change->fields, &data->arena, &change->key, &error) ||
           fail_error(change, &error);
}

void data_change_write(struct data *data, const struct data_change *change, struct json_writer *w)
{
    struct model_plain_view view = {.table = change->entity->table,
                                    .entity = change->entity,
                                    .keys = change->keys,
                                    .more = data_objects_more(data, data_param(data, "objects"))};
    model_plain_write(w, &view, change->item);
}

void data_location(struct data *data, const struct data_change *change, struct buf *out)
{
    struct model_address address;
    struct buf text;
    buf_init(&text, 64 << 10);
    model_address(change->entity, &address);
    buf_text(out, "/v1/");
    data_encode(out, data->table_name);
    buf_byte(out, '/');
    data_encode(out, change->entity->name);
    for (size_t i = 0, shown = 0; i < address.count; i++) {
        struct slice value = value_get(change->item, address.parts[i].name);
        buf_clear(&text);
        if (value.len == 0 || model_value_text(value, &text) != EVAL_OK)
            continue;
        buf_byte(out, shown++ == 0 ? '?' : '&');
        data_encode(out, address.parts[i].name);
        buf_byte(out, '=');
        data_encode(out, buf_view(&text));
    }
    buf_release(&text);
}
