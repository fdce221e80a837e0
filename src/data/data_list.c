// Several changes in one request: POST /v1/{table}/$transaction, all or nothing, and
// POST /v1/{table}/$batch, each for itself. The body of both is a list of
//
//   {"op": "create"|"replace"|"patch"|"delete"|"undelete"|"check"|"get", "entity": "User",
//    "key": {…}, "item": {…}, "ifMatch": "…", "ifNoneMatch": "*"}
#include "data/data_internal.h"

#include <stdio.h>

static const struct op_row {
    const char *name;
    enum data_action action;
    bool key;
    bool item;
} ops[] = {
    {"create", DATA_CREATE, false, true},     {"replace", DATA_REPLACE, true, true},
    {"patch", DATA_PATCH, true, true},        {"delete", DATA_DELETE, true, false},
    {"check", DATA_CHECK, true, false},       {"get", DATA_GET, true, false},
    {"undelete", DATA_UNDELETE, true, false},
};

// One entry of the list as it was sent.
struct entry {
    struct slice op;
    struct slice entity;
    struct slice key;  // JSON
    struct slice item; // JSON
    struct slice if_match;
    struct slice if_none_match;
};

// ---- Reading ------------------------------------------------------------------------------------

// The text of the next value, whatever it is.
static bool read_raw(struct json_reader *reader, struct slice *out)
{
    if (json_peek(reader) == JSON_BAD)
        return false;
    const uint8_t *start = json_skip_space(reader->at, reader->end);
    if (!json_skip(reader))
        return false;
    *out = slice_of(start, (size_t)(reader->at - start));
    return true;
}

static bool malformed(struct data *data, const struct json_reader *reader)
{
    return error_set(&data->error, ERR_SERIALIZATION, "The body is not JSON: %s, at byte %zu",
                     reader->error == NULL ? "a value is missing" : reader->error, reader->offset);
}

static bool read_entry(struct data *data, struct json_reader *reader, size_t index,
                       struct entry *entry)
{
    const struct {
        const char *name;
        struct slice *text;
        bool raw;
    } members[] = {
        {"op", &entry->op, false},
        {"entity", &entry->entity, false},
        {"key", &entry->key, true},
        {"item", &entry->item, true},
        {"patch", &entry->item, true},
        {"ifMatch", &entry->if_match, false},
        {"ifNoneMatch", &entry->if_none_match, false},
    };
    struct slice name;
    if (json_peek(reader) != JSON_OBJECT || !json_enter(reader))
        return reader->error != NULL
                   ? malformed(data, reader)
                   : error_set(&data->error, ERR_SERIALIZATION, "/%zu: expected an object", index);
    while (json_next_name(reader, &name)) {
        size_t i = 0;
        while (i < COUNT_OF(members) && !slice_is(name, members[i].name))
            i++;
        if (i == COUNT_OF(members))
            return error_set(&data->error, ERR_SERIALIZATION,
                             "/%zu: there is no member %.*s; there are op, entity, key, item, "
                             "ifMatch, ifNoneMatch",
                             index, SLICE_FMT(name));
        bool fine = members[i].raw ? read_raw(reader, members[i].text)
                                   : json_peek(reader) == JSON_STRING &&
                                         json_read_string(reader, members[i].text);
        if (!fine)
            return reader->error != NULL
                       ? malformed(data, reader)
                       : error_set(&data->error, ERR_SERIALIZATION, "/%zu/%s: expected a string",
                                   index, members[i].name);
    }
    return reader->error == NULL || malformed(data, reader);
}

static bool read_entries(struct data *data, struct entry *entries, size_t *count)
{
    struct json_reader reader;
    json_reader_init(&reader, data->exchange->request.body, &data->arena);
    *count = 0;
    if (json_peek(&reader) != JSON_ARRAY || !json_enter(&reader))
        return reader.error != NULL
                   ? malformed(data, &reader)
                   : error_set(&data->error, ERR_SERIALIZATION, "The body is not a list");
    while (json_next_element(&reader)) {
        if (*count == DATA_LIST_MAX)
            return error_validation(&data->error, "There are more than %d operations",
                                    DATA_LIST_MAX);
        if (!read_entry(data, &reader, *count, &entries[*count]))
            return false;
        ++*count;
    }
    if (reader.error != NULL || !json_at_end(&reader))
        return malformed(data, &reader);
    return *count > 0 || error_validation(&data->error, "There are no operations");
}

// ---- Understanding ------------------------------------------------------------------------------

static const struct op_row *op_find(struct slice name)
{
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (slice_is(name, ops[i].name))
            return &ops[i];
    }
    return NULL;
}

// What is wrong with the whole request, as a detail.
static bool entry_error(struct data *data, size_t index, const char *what, struct slice name)
{
    return error_validation(&data->error, "/%zu: %s%.*s", index, what, SLICE_FMT(name));
}

static bool entry_change(struct data *data, const struct entry *entry, size_t index,
                         bool transaction, struct data_change *change)
{
    const struct op_row *row = op_find(entry->op);
    if (row == NULL)
        return entry_error(data, index,
                           "op is create, replace, patch, delete, undelete, check or get, not ",
                           entry->op);
    if (row->action == DATA_GET && transaction)
        return entry_error(data, index, "a transaction does not read: ", entry->op);
    if (row->action == DATA_CHECK && !transaction)
        return entry_error(data, index, "only a transaction has: ", entry->op);
    const struct model_entity *entity = model_table_entity(data->table, entry->entity);
    if (entity == NULL)
        return entry_error(data, index, "there is no entity ", entry->entity);
    if (row->action == DATA_UNDELETE && !data_undeletes(entity))
        return entry_error(data, index, "the model has no softdelete for entity ", entry->entity);
    if (row->key && entry->key.len == 0)
        return entry_error(data, index, "key is missing for ", entry->op);
    if (row->item && entry->item.len == 0)
        return entry_error(data, index, "item is missing for ", entry->op);
    *change = (struct data_change){
        .action = row->action,
        .entity = entity,
        .body = entry->item,
        .match = {entry->if_match, entry->if_none_match},
        .keys = data_param_true(data, "keys"),
    };
    if (!row->key)
        return true;
    struct error error;
    error_init(&error, &data->arena);
    if (model_plain_read(entity, entry->key, &data->arena, &change->fields, &error))
        (void)data_change_key(data, change);
    else
        (void)data_change_fail(change, data_problem_error(&error));
    return true;
}

// ---- Answers ------------------------------------------------------------------------------------

// Entities may be much larger in JSON. Those that find the answer full are to be asked for again;
// of what was written the answer then has the ETag alone. What was only read does not overdraw the
// budget, whatever else was done.
static void find_room(struct data *data, struct data_change *change)
{
    struct buf *body = &data->body;
    bool overdraw = data->account.overdraw;
    bool full = body->len >= LIMIT_BATCH_RESPONSE;
    if (change->failed || change->item.len == 0 || body->failed)
        return;
    if (change->action == DATA_GET && !full) {
        data->account.overdraw = false;
        full = buf_reserve(body, json_item_room(change->item)) == NULL;
        body->failed = false;
        data->account.overdraw = overdraw;
    }
    if (full && change->action == DATA_GET)
        (void)data_change_fail(
            change, (struct data_problem){.kind = DATA_THROTTLED,
                                          .detail = "The answer is full; ask for this again"});
    change->hidden = full;
}

static void write_result(struct data *data, struct json_writer *w, const struct data_change *change,
                         size_t index)
{
    json_open_object(w);
    json_put_integer(w, "status",
                     change->failed ? data_problem_status(&change->problem) : change->status);
    if (change->failed) {
        bool key = change->key.len == 0 && change->action != DATA_CREATE;
        char where[64];
        (void)snprintf(where, sizeof(where), "/%zu/%s", index, key ? "key" : "item");
        json_put_object(w, "problem");
        data_problem_members(w, &change->problem, where);
        json_close_object(w);
    } else if (change->item.len > 0) {
        char tag[DATA_ETAG + 1];
        data_etag_text(change->digest, tag);
        json_put_text(w, "etag", tag);
        if (!change->hidden) {
            json_name(w, "item");
            data_change_write(data, change, w);
        }
    }
    json_close_object(w);
}

static void complete_batch(struct data *data)
{
    struct json_writer w = json_writer_to(&data->body);
    json_form(&w, "{'results':[");
    for (size_t i = 0; i < data->task_count; i++) {
        struct data_change *change = &data->tasks[i].changes[0];
        data_header_warnings(data, change->warnings);
        find_room(data, change);
        write_result(data, &w, change, i);
    }
    json_form(&w, "]}");
    (void)data_answer_json(data, 200);
}

// The status of a transaction that failed for one reason is that of the reason.
static struct data_problem transaction_problem(const struct data_task *task)
{
    struct data_problem problem = {.kind = DATA_PROBLEMS};
    for (size_t i = 0; i < task->count; i++) {
        if (!task->changes[i].failed)
            continue;
        const struct data_problem *one = &task->changes[i].problem;
        problem.kind =
            problem.kind == DATA_PROBLEMS || problem.kind == one->kind ? one->kind : DATA_CANCELED;
        problem.code = one->code;
    }
    problem.detail = "Nothing was written: an operation failed";
    return problem;
}

static void complete_transaction(struct data *data)
{
    const struct data_task *task = &data->tasks[0];
    struct json_writer w = json_writer_to(&data->body);
    bool failed = false;
    for (size_t i = 0; i < task->count; i++)
        failed = failed || task->changes[i].failed;
    json_open_object(&w);
    if (failed) {
        struct data_problem problem = transaction_problem(task);
        data_problem_members(&w, &problem, "");
        data->status = data_problem_status(&problem);
        data->error_code = problem.code;
    }
    json_put_array(&w, "results");
    for (size_t i = 0; i < task->count; i++) {
        const struct data_change *change = &task->changes[i];
        data_header_warnings(data, change->warnings);
        if (!failed || change->failed)
            write_result(data, &w, change, i);
        else
            json_form(&w, "{}");
    }
    json_form(&w, "]}");
    if (failed)
        data->type = SLICE_LIT("application/problem+json");
    else
        (void)data_answer_json(data, 200);
}

// ---- The routes ---------------------------------------------------------------------------------

static bool make_tasks(struct data *data, size_t count, bool transaction,
                       struct data_change *changes)
{
    struct entity_write *writes = arena_zalloc(&data->arena, count, sizeof(*writes));
    if (writes == NULL)
        (void)data_answer_problem(data, data_problem_memory(data));
    if (writes == NULL || !data_tasks_new(data, transaction ? 1 : count))
        return false;
    for (size_t i = 0; i < data->task_count; i++) {
        data->tasks[i].count = transaction ? count : 1;
        data->tasks[i].changes = changes + i;
        data->tasks[i].writes = writes + i;
    }
    return true;
}

enum data_step data_list(struct data *data, bool transaction)
{
    size_t count = 0;
    if (!data_method_in(data, "POST") || !data_body_is_json(data))
        return DATA_READY;
    struct entry *entries = arena_zalloc(&data->arena, DATA_LIST_MAX, sizeof(*entries));
    struct data_change *changes = arena_zalloc(&data->arena, DATA_LIST_MAX, sizeof(*changes));
    bool fine = entries != NULL && changes != NULL ? read_entries(data, entries, &count)
                                                   : error_budget(&data->error);
    for (size_t i = 0; fine && i < count; i++)
        fine = entry_change(data, &entries[i], i, transaction, &changes[i]);
    if (!fine)
        return data_answer_error(data);
    if (!make_tasks(data, count, transaction, changes))
        return DATA_READY;
    return data_tasks_run(data, transaction ? complete_transaction : complete_batch);
}
