// See upstream.h: which requests are passed on, and which begin here.
#include "upstream/upstream_internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

enum operation_kind { KIND_READ, KIND_WRITE, KIND_MODEL, KIND_ACCOUNT };

static const struct {
    const char *name;
    const char *function;
    enum operation_kind kind;
} operations[] = {
#define ROW_READ(name, function, shape, layer, tenants)  {#name, #function, KIND_READ},
#define ROW_WRITE(name, function, shape, layer, tenants) {#name, #function, KIND_WRITE},
#define ROW_MODEL(name, function, shape, layer, tenants) {#name, #function, KIND_MODEL},
    OPERATION_LIST(ROW_READ, ROW_READ, ROW_WRITE, ROW_READ, ROW_MODEL)};

static enum operation_kind kind_of(struct slice name)
{
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (slice_is(name, operations[i].name))
            return strcmp(operations[i].function, "account") == 0 ? KIND_ACCOUNT
                                                                  : operations[i].kind;
    }
    return KIND_WRITE;
}

// ---- Passing on ------------------------------------------------------------------------------

struct forward {
    struct transport_request request;
    struct api_call *call;
};

static enum error_code code_of(struct slice name, int status)
{
    for (int code = ERR_NONE + 1; code < ERR_COUNT; code++) {
        if (slice_is(name, error_row((enum error_code)code)->name))
            return (enum error_code)code;
    }
    return status < 400 ? ERR_NONE : status < 500 ? ERR_VALIDATION : ERR_INTERNAL;
}

static void forwarded(struct transport_request *request)
{
    struct api_call *call = ((struct forward *)request)->call;
    struct api_state *state = call->state;
    if (request->status == 0)
        (void)error_set(&call->error, request->unknown ? ERR_INTERNAL : ERR_UNAVAILABLE,
                        "The upstream server does not answer: %s", request->reason);
    else if (call->response.failed)
        call_respond_failed(call);
    if (call->error.code != ERR_NONE) {
        call_respond(call);
    } else {
        call->status = request->status;
        call->error_code =
            request->status == 200
                ? ERR_NONE
                : code_of(transport_error_name(buf_view(&call->response)), request->status);
    }
    state->answered = true;
    call->done(call);
}

static enum step forward(struct upstream *upstream, struct api_call *call, struct slice body)
{
    struct forward *to = call_alloc(call, 1, sizeof(*to));
    if (to == NULL)
        return STEP_FAILED;
    to->call = call;
    to->request = (struct transport_request){
        .operation = call->operation,
        .of_streams = call->state->operation->of_streams,
        .safe = kind_of(call->operation) == KIND_READ ||
                (slice_is(call->operation, "TransactWriteItems") &&
                 memmem(body.ptr, body.len, "ClientRequestToken", 18) != NULL),
        .body = body.len > 0 ? body : SLICE_LIT("{}"),
        .answer = &call->response,
        .done = forwarded,
    };
    if (transport_send(upstream->transport, &to->request))
        return STEP_PENDING;
    return step_failed(error_set(&call->error, ERR_THROTTLING,
                                 "Too many requests are waiting for the upstream server"));
}

// ---- Tables with a model ---------------------------------------------------------------------

// Whether requests for the table, of that name or ARN, are judged here.
static bool is_judged(const struct api_call *call, struct slice name)
{
    if (slice_begins(name, SLICE_LIT("arn:"))) {
        while (name.len > 0 && memchr(name.ptr, '/', name.len) != NULL)
            (void)slice_cut(&name, '/');
    }
    struct table *table = engine_table(call_engine(call), name);
    bool judged = table != NULL && table->guard != NULL;
    table_release(table);
    return judged;
}

enum whose { WHOSE_THERE, WHOSE_HERE, WHOSE_BOTH };

static enum whose whose_add(enum whose so_far, bool first, bool here)
{
    enum whose now = here ? WHOSE_HERE : WHOSE_THERE;
    return first || so_far == now ? now : WHOSE_BOTH;
}

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

struct mention {
    const struct api_call *call;
    struct slice statement;
    bool found;
};

static bool look_for(void *context, struct slice name)
{
    struct mention *mention = context;
    struct slice text = mention->statement;
    const uint8_t *end = text.ptr + text.len;
    const uint8_t *at = text.ptr;
    while (!mention->found && (at = memmem(at, (size_t)(end - at), name.ptr, name.len)) != NULL) {
        bool whole = (at == text.ptr || !is_word(at[-1])) &&
                     (at + name.len == end || !is_word(at[name.len]) || at[name.len] == '.');
        mention->found = whole && is_judged(mention->call, name);
        at++;
    }
    return !mention->found;
}

// A statement that writes to a table with a model is done here; all others there.
static bool statement_here(const struct api_call *call, struct slice statement)
{
    struct mention mention = {.call = call, .statement = slice_trim(statement)};
    struct slice text = mention.statement;
    if (text.len >= 6 && strncasecmp((const char *)text.ptr, "SELECT", 6) == 0)
        return false;
    engine_tables(call_engine(call), slice_of(NULL, 0), look_for, &mention);
    return mention.found;
}

static enum whose statements_whose(const struct api_call *call, const struct field_list *list)
{
    const struct request_statement *statements = list->items;
    enum whose whose = WHOSE_THERE;
    for (size_t i = 0; i < list->count; i++)
        whose = whose_add(whose, i == 0, statement_here(call, statements[i].statement));
    return whose;
}

static enum whose transaction_whose(const struct api_call *call,
                                    const struct transact_write_items_request *request)
{
    const struct transact_write_item *items = request->transact_items.items;
    enum whose whose = WHOSE_THERE;
    for (size_t i = 0; i < request->transact_items.count; i++) {
        const struct transact_action *one = items[i].put != NULL      ? items[i].put
                                            : items[i].update != NULL ? items[i].update
                                            : items[i].delete != NULL ? items[i].delete
                                                                      : items[i].condition_check;
        whose = whose_add(whose, i == 0, one != NULL && is_judged(call, one->table_name));
    }
    return whose;
}

static enum whose write_whose(const struct api_call *call)
{
    const void *request = call->state->request;
    struct slice name = call->operation;
    if (slice_is(name, "PutItem"))
        return is_judged(call, ((const struct put_item_request *)request)->table_name);
    if (slice_is(name, "UpdateItem"))
        return is_judged(call, ((const struct update_item_request *)request)->table_name);
    if (slice_is(name, "DeleteItem"))
        return is_judged(call, ((const struct delete_item_request *)request)->table_name);
    if (slice_is(name, "TransactWriteItems"))
        return transaction_whose(call, request);
    if (slice_is(name, "ExecuteStatement"))
        return statement_here(call,
                              ((const struct execute_statement_request *)request)->own.statement);
    if (slice_is(name, "BatchExecuteStatement"))
        return statements_whose(
            call, &((const struct batch_execute_statement_request *)request)->statements);
    if (slice_is(name, "ExecuteTransaction"))
        return statements_whose(
            call, &((const struct execute_transaction_request *)request)->transact_statements);
    if (!slice_is(name, "BatchWriteItem"))
        return WHOSE_THERE;
    const struct field_map *map =
        &((const struct batch_write_item_request *)request)->request_items;
    enum whose whose = WHOSE_THERE;
    for (size_t i = 0; i < map->count; i++)
        whose = whose_add(whose, i == 0, is_judged(call, map->names[i]));
    return whose;
}

// ---- Scans -----------------------------------------------------------------------------------

// Whether the table has claims among its items, which are not for clients to see.
static bool has_claims(const struct api_call *call, struct slice name)
{
    if (!is_judged(call, name))
        return false;
    while (memchr(name.ptr, '/', name.len) != NULL)
        (void)slice_cut(&name, '/');
    struct table *table = engine_table(call_engine(call), name);
    bool claims = table != NULL && table->guard != NULL && table->guard->claims > 0;
    table_release(table);
    return claims;
}

// The request with a filter that passes over claims; as it is if its style knows no expressions.
static struct slice scan_body(struct api_call *call)
{
    const struct scan_request *request = call->state->request;
    struct slice body = call->body;
    if (!has_claims(call, request->table_name) || request->scan_filter.set ||
        request->attributes_to_get.set || request->conditional_operator.ptr != NULL)
        return body;
    struct buf out;
    struct slice filter = request->filter_expression;
    buf_init(&out, LIMIT_BODY);
    struct json_writer w = json_writer_to(&out);
    struct json_reader reader;
    struct slice name;
    json_open_object(&w);
    json_reader_init(&reader, body, &call->arena);
    bool ok = json_enter(&reader);
    while (ok && json_next_name(&reader, &name)) {
        const uint8_t *from = json_skip_space(reader.at, reader.end);
        if (!json_skip(&reader))
            break;
        if (slice_is(name, "FilterExpression"))
            continue;
        json_name_slice(&w, name);
        buf_add(&out, from, (size_t)(reader.at - from));
        w.comma = true;
    }
    struct buf text;
    buf_init(&text, LIMIT_BODY);
    if (filter.len > 0)
        buf_printf(&text, "(%.*s) AND ", SLICE_FMT(filter));
    buf_text(&text, "attribute_not_exists(" CLAIM_OWNER ")");
    json_put_string(&w, "FilterExpression", buf_view(&text));
    json_close_object(&w);
    struct slice made =
        out.failed || text.failed ? VALUE_NONE : arena_copy(&call->arena, buf_view(&out));
    buf_release(&text);
    buf_release(&out);
    if (made.len == 0)
        (void)error_budget(&call->error);
    return made;
}

// ---- Operations ------------------------------------------------------------------------------

// What is about models, and about who may ask, is this server's own.
static bool is_local(struct slice name)
{
    return kind_of(name) == KIND_ACCOUNT || slice_is(name, "DescribeModel") ||
           slice_is(name, "ListModels") || slice_is(name, "DescribeModelReport");
}

static bool is_refused(const struct api_call *call)
{
    struct slice name = call->operation;
    return slice_is(name, "RestoreItems") || slice_is(name, "SearchVectors") ||
           kind_of(name) == KIND_MODEL;
}

static bool start(void *context, struct api_call *call, enum step *step)
{
    struct upstream *upstream = context;
    struct slice name = call->operation;
    if (is_local(name))
        return false;
    if (is_refused(call)) {
        *step = step_failed(error_validation(
            &call->error,
            "A gateway (--upstream) does not do %.*s. Its models are those of its --model files, "
            "and everything else about tables is done upstream",
            SLICE_FMT(name)));
        return true;
    }
    enum whose whose = kind_of(name) == KIND_WRITE ? write_whose(call) : WHOSE_THERE;
    if (whose == WHOSE_HERE)
        return false;
    if (whose == WHOSE_BOTH) {
        *step = step_failed(error_validation(
            &call->error, "A gateway (--upstream) takes no request that both writes to tables with "
                          "a model and does something else: send two"));
        return true;
    }
    struct slice body = slice_is(name, "Scan") ? scan_body(call) : call->body;
    *step = call->error.code != ERR_NONE ? STEP_FAILED : forward(upstream, call, body);
    return true;
}

// ---- Opening and closing ---------------------------------------------------------------------

struct upstream *upstream_open(const char *url, char *error, size_t error_size)
{
    struct upstream *upstream = memory_zeroed(sizeof(*upstream));
    upstream->transport = transport_start(url, error, error_size);
    upstream->elsewhere = (struct elsewhere){upstream, start, flow_start};
    if (upstream->transport != NULL)
        return upstream;
    free(upstream);
    return NULL;
}

void upstream_hurry(struct upstream *upstream)
{
    transport_hurry(upstream->transport);
}

void upstream_close(struct upstream *upstream)
{
    if (upstream == NULL)
        return;
    transport_stop(upstream->transport);
    free(upstream);
}

void upstream_stats(struct upstream *upstream, struct transport_stats *out)
{
    transport_stats(upstream->transport, out);
}

const char *upstream_url(const struct upstream *upstream)
{
    return transport_url(upstream->transport);
}
