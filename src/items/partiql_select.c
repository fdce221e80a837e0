// SELECT of ExecuteStatement: a Query, one after the other for each value of IN, or a Scan. Limit
// and the size of a page count over all of them.
//
// A NextToken is where the page ended (which of the queries, and the key there) between a digest of
// the statement with its parameters and a digest of it all. It holds no secret: what it says is
// judged like any ExclusiveStartKey, the digests only tell mistakes early.
#include "items/partiql.h"

#include "base/encode.h"
#include "base/limits.h"
#include "call/insights.h"
#include "items/transact.h"

enum {
    TOKEN_VERSION = 1,
    TOKEN_DIGEST = 16,              // of the statement
    TOKEN_RANGE = 1 + TOKEN_DIGEST, // where the number of the query is
    TOKEN_KEY = TOKEN_RANGE + 4,    // where the key begins
    TOKEN_CHECK = 8,                // the digest at the end
    TOKEN_MAX = 32768,
};

struct select_call {
    struct page_call p; // first: emit gets it as its context
    const struct execute_statement_request *request;
    const struct partiql_plan *plan;
    size_t range; // of the plan: the one being read
    struct field_value start;
};

// ---- Tokens -------------------------------------------------------------------------------------

// What the token belongs to: the statement and its parameters.
static bool digest_statement(struct select_call *s, uint8_t out[32])
{
    const struct request_statement *own = &s->request->own;
    const struct field_value *parameters = own->parameters.items;
    struct buf text;
    buf_init(&text, LIMIT_BODY * 2);
    transact_digest(&text, own->statement);
    for (size_t i = 0; i < own->parameters.count; i++)
        transact_digest(&text, parameters[i].value);
    bool ok = !text.failed;
    if (ok)
        sha256_of(buf_view(&text), out);
    buf_release(&text);
    return ok || error_budget(&s->p.call->error);
}

static bool write_token(struct select_call *s)
{
    uint8_t digest[32];
    uint8_t range[4];
    struct buf token;
    struct buf text;
    if (!digest_statement(s, digest))
        return false;
    buf_init(&token, TOKEN_MAX);
    buf_init(&text, TOKEN_MAX * 2);
    buf_byte(&token, TOKEN_VERSION);
    buf_add(&token, digest, TOKEN_DIGEST);
    be32_put(range, (uint32_t)s->range);
    buf_add(&token, range, sizeof(range));
    buf_slice(&token, s->p.page.last);
    sha256_of(buf_view(&token), digest);
    buf_add(&token, digest, TOKEN_CHECK);
    base64_encode(&text, buf_view(&token));
    bool ok = !token.failed && !text.failed;
    if (ok)
        json_put_string(&s->p.w, "NextToken", buf_view(&text));
    buf_release(&token);
    buf_release(&text);
    return ok || error_budget(&s->p.call->error);
}

static bool refuse_token(struct select_call *s)
{
    return error_validation(&s->p.call->error, "Invalid NextToken");
}

// The token's bytes, whole and of this statement.
static bool open_token(struct select_call *s, const struct buf *bytes)
{
    uint8_t digest[32];
    struct slice token = buf_view(bytes);
    if (token.len <= TOKEN_KEY + TOKEN_CHECK || token.ptr[0] != TOKEN_VERSION)
        return refuse_token(s);
    sha256_of(slice_of(token.ptr, token.len - TOKEN_CHECK), digest);
    if (memcmp(digest, token.ptr + token.len - TOKEN_CHECK, TOKEN_CHECK) != 0)
        return refuse_token(s);
    if (!digest_statement(s, digest))
        return false;
    if (memcmp(digest, token.ptr + 1, TOKEN_DIGEST) != 0)
        return error_validation(&s->p.call->error, "NextToken does not match request");
    struct slice key = slice_of(token.ptr + TOKEN_KEY, token.len - TOKEN_KEY - TOKEN_CHECK);
    if (!value_valid(key) || value_type(key) != VALUE_M)
        return refuse_token(s);
    s->range = be32_get(token.ptr + TOKEN_RANGE);
    s->start.value = arena_copy(&s->p.call->arena, key);
    return s->start.value.ptr != NULL || error_budget(&s->p.call->error);
}

static void use_range(struct select_call *s)
{
    if (s->plan->range_count > 0)
        s->p.page.range = s->plan->ranges[s->range];
}

static bool resume(struct select_call *s)
{
    struct slice text = s->request->next_token;
    if (text.ptr == NULL) {
        use_range(s);
        return true;
    }
    struct buf bytes;
    buf_init(&bytes, TOKEN_MAX);
    bool ok = base64_decode(&bytes, text) ? open_token(s, &bytes) : refuse_token(s);
    buf_release(&bytes);
    if (!ok)
        return false;
    if (s->range >= (s->plan->range_count > 0 ? s->plan->range_count : 1))
        return refuse_token(s);
    use_range(s);
    return page_resume(&s->p) || refuse_token(s);
}

// ---- Reading ------------------------------------------------------------------------------------

static bool emit_item(void *context, struct slice item)
{
    struct select_call *s = context;
    struct api_call *call = s->p.call;
    insights_read(call, s->p.page.table, s->p.page.index, item);
    statement_write_item(call, &s->p.w, s->plan, item, &s->p.page.steps);
    return !call->response.failed || error_budget(&call->error);
}

static enum step finish_page(struct select_call *s)
{
    struct json_writer *w = &s->p.w;
    json_close_array(w);
    if (s->p.page.last.len > 0) {
        if (!write_token(s))
            return STEP_FAILED;
        json_name(w, "LastEvaluatedKey");
        json_item(w, s->p.page.last);
    }
    page_write_capacity(&s->p);
    json_close_object(w);
    return STEP_READY;
}

// One range after the other, until the page is full.
static enum step read_ranges(struct api_call *call)
{
    struct api_state *state = call->state;
    struct select_call *s = state->own;
    for (;;) {
        enum read_step step =
            engine_page_run(call_engine(call), &s->p.page, &state->work, &call->error);
        state->resume = read_ranges;
        if (step != READ_DONE)
            return step == READ_MORE ? STEP_LATER : STEP_FAILED;
        if (s->p.page.last.len > 0 || s->range + 1 >= s->plan->range_count)
            return finish_page(s);
        s->range++;
        s->p.page.after = VALUE_NONE;
        use_range(s);
    }
}

static enum step read_page(struct select_call *s)
{
    struct page_request *page = &s->p.page;
    struct json_writer *w = &s->p.w;
    if (!throttle_admit_read(s->p.call, page->table, page->index))
        return STEP_FAILED;
    *w = call_writer(s->p.call);
    page->arena = &s->p.call->arena;
    page->context = s;
    page->emit = emit_item;
    json_open_object(w);
    json_put_array(w, "Items");
    return read_ranges(s->p.call);
}

enum step statement_select(struct api_call *call, const struct execute_statement_request *request,
                           struct call_statement *statement)
{
    struct select_call *s = (struct select_call *)page_call_new(call, sizeof(*s));
    if (s == NULL)
        return STEP_FAILED;
    *s = (struct select_call){
        .p = {.call = call,
              .page = {.consistent = request->own.consistent_read.value,
                       .segments = 1,
                       .limit = request->limit.set ? (uint64_t)request->limit.value : 0},
              .capacity = request->return_consumed_capacity},
        .request = request,
        .plan = &statement->plan,
    };
    const struct partiql_statement *parsed = statement->parsed;
    struct page_request *page = &s->p.page;
    s->p.start_key = &s->start;
    if (!statement_target(&s->p, parsed) ||
        !partiql_plan(&call->arena, parsed, page->table, page->index, &statement->plan,
                      &call->error))
        return STEP_FAILED;
    page->query = statement->plan.range_count > 0;
    for (size_t i = 0; i < statement->plan.range_count; i++)
        call_note_partition(call, page->table->name,
                            page->index != NULL ? &page->index->keys : &page->table->keys,
                            statement->plan.ranges[i].hash);
    page->reverse = statement->plan.reverse;
    page->filter = statement->plan.filter;
    s->p.projection = statement->plan.projection;
    if (!page_check_keys(&s->p) || (page->query && !page_check_filter_projected(&s->p)) ||
        !page_check_projected(&s->p) || !resume(s))
        return STEP_FAILED;
    return read_page(s);
}
