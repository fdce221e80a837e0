// See bench_work.h. Items are picked at random, all equally often: the unkindest order for a cache.
#include "bench/bench_work.h"

enum { BATCH = 25 };

void bench_source_init(struct bench_source *source, const struct bench_data *data)
{
    *source = (struct bench_source){
        .data = data,
        .random = UINT64_C(0x853C49E6748FEA9B),
        .next_new = data->items,
    };
}

static uint64_t random_below(struct bench_source *source, uint64_t limit)
{
    source->random ^= source->random << 13;
    source->random ^= source->random >> 7;
    source->random ^= source->random << 17;
    return source->random % limit;
}

// ---- Forms ---------------------------------------------------------------------------------

// Which item a form is filled with. LOADED is any that the loading made, ALBUM the first one of an
// album; OVER has a new revision, too: a put of what is there already might write nothing.
enum pick { NONE, LOADED, ALBUM, OVER, NEW };

#define TABLE "{\"TableName\":\"$t\""
#define COUNT_VIEW                                                                                 \
    TABLE ",\"Key\":$k,\"UpdateExpression\":\"ADD viewCount :one\","                               \
          "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}"
#define QUERY(more, condition, values)                                                             \
    TABLE more ",\"KeyConditionExpression\":\"" condition "\"" values "}}"
#define INDEX(name) ",\"IndexName\":\"" name "\""
#define VALUES(p)   ",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"" p "\"}"
#define NEWEST      ",\"ScanIndexForward\":false"
#define FRONT_PAGE  NEWEST ",\"Limit\":20"
#define PUT         TABLE ",\"Item\":$n"
#define UNPROCESSED "\"UnprocessedItems\":{}"
#define TWENTY      "\"Count\":20"

// X(form, operation, what a right answer contains, items written, pick, body)
#define FORM_LIST(X)                                                                               \
    X(GET, "GetItem", "\"Item\":", 0, LOADED, TABLE ",\"Key\":$k}")                                \
    X(QUERY, "Query", TWENTY, 0, ALBUM, QUERY("", "PK = :p", VALUES("$a")))                        \
    X(GSI, "Query", TWENTY, 0, ALBUM, QUERY(INDEX("GSI1"), "GSI1PK = :p", NEWEST VALUES("$g")))    \
    X(BY_ID, "Query", "\"Count\":1", 0, LOADED, /* as a link is followed */                        \
      QUERY(INDEX("GSI2"), "GSI2PK = :p AND GSI2SK = :s",                                          \
            VALUES("MEDIA_ID") ",\":s\":{\"S\":\"$i\"}"))                                          \
    X(LATEST, "Query", TWENTY, 0, NONE, /* a front page: the newest 20, or the most popular */     \
      QUERY(INDEX("GSI4"), "GSI4PK = :p", FRONT_PAGE VALUES("MEDIA")))                             \
    X(POPULAR, "Query", TWENTY, 0, NONE,                                                           \
      QUERY(INDEX("GSI6"), "GSI6PK = :p", FRONT_PAGE VALUES("POPULARITY")))                        \
    X(OVERWRITE, "PutItem", "{}", 1, OVER, PUT "}")                                                \
    X(UPDATE, "UpdateItem", "{}", 1, LOADED, COUNT_VIEW)                                           \
    X(PUT, "PutItem", "{}", 1, NEW, PUT "}")                                                       \
    X(CONDPUT, "PutItem", "{}", 1, NEW,                                                            \
      PUT ",\"ConditionExpression\":"                                                              \
          "\"attribute_not_exists(PK) AND attribute_not_exists(SK)\"}")                            \
    X(TRANSACT, "TransactWriteItems", "{}", 3, LOADED, NULL)                                       \
    X(BATCH, "BatchWriteItem", UNPROCESSED, BATCH, NONE, NULL)                                     \
    X(LOAD, "BatchWriteItem", UNPROCESSED, BATCH, NONE, NULL)

enum form {
#define X(form, operation, expect, written, pick, body) FORM_##form,
    FORM_LIST(X)
#undef X
        FORM_MIX // one of the others
};

static const struct {
    struct bench_request request;
    enum pick pick;
    const char *body; // NULL: it has more than one item
} forms[] = {
#define X(form, operation, expect, written, pick, body) {{operation, expect, written}, pick, body},
    FORM_LIST(X)
#undef X
};

// ---- Requests with several items -----------------------------------------------------------

static void batch_make(struct bench_source *source, struct buf *body, uint64_t first,
                       unsigned count)
{
    bench_fill(body, source->data, "{\"RequestItems\":{\"$t\":[", 0, 0);
    for (unsigned i = 0; i < count; i++)
        bench_fill(body, source->data,
                   i == 0 ? "{\"PutRequest\":{\"Item\":$n}}" : ",{\"PutRequest\":{\"Item\":$n}}",
                   first + i, 0);
    buf_text(body, "]}}");
}

// Two new items, a counter, and a check that a fourth item exists.
static void transact_make(struct bench_source *source, struct buf *body, uint64_t counted)
{
    const struct bench_data *data = source->data;
    bench_fill(body, data, "{\"TransactItems\":[{\"Put\":" PUT "}},", source->next_new++, 0);
    bench_fill(body, data, "{\"Put\":" PUT "}},{\"Update\":", source->next_new++, 0);
    bench_fill(body, data, COUNT_VIEW "},{\"ConditionCheck\":", counted, 0);
    bench_fill(body, data, TABLE ",\"Key\":$k,\"ConditionExpression\":\"attribute_exists(PK)\"}}]}",
               (counted + 1) % data->items, 0);
}

// ---- The next one --------------------------------------------------------------------------

// A media site: 90 % reads, mostly queries, as far as the table has the indexes.
static enum form mix(struct bench_source *source)
{
    unsigned gsis = source->data->gsis;
    uint64_t percent = random_below(source, 100);
    if (percent < 35)
        return FORM_GET;
    if (percent < 50)
        return gsis >= 2 ? FORM_BY_ID : FORM_GET;
    if (percent < 65)
        return FORM_QUERY;
    if (percent < 90 && (percent < 80 || gsis < 8))
        return gsis >= 1 ? FORM_GSI : FORM_QUERY;
    return percent < 85   ? FORM_LATEST
           : percent < 90 ? FORM_POPULAR
           : percent < 97 ? FORM_UPDATE
                          : FORM_PUT;
}

static uint64_t pick(struct bench_source *source, enum pick what)
{
    uint64_t items = source->data->items;
    switch (what) {
    case LOADED:
    case OVER:
        return random_below(source, items);
    case ALBUM:
        return random_below(source, items / BENCH_GROUP) * BENCH_GROUP;
    case NEW:
        return source->next_new++;
    default:
        return 0;
    }
}

void bench_next(const struct bench_workload *workload, struct bench_source *source,
                struct buf *body, struct bench_request *request)
{
    enum form form = workload->form == FORM_MIX ? mix(source) : (enum form)workload->form;
    uint64_t number = pick(source, forms[form].pick);
    *request = forms[form].request;
    if (form == FORM_TRANSACT) {
        transact_make(source, body, number);
    } else if (form == FORM_BATCH) {
        batch_make(source, body, source->next_new, BATCH);
        source->next_new += BATCH;
    } else if (form == FORM_LOAD) {
        uint64_t left = source->data->items - source->next_load;
        request->written = left < BATCH ? (unsigned)left : BATCH;
        batch_make(source, body, source->next_load, request->written);
        source->next_load += request->written;
    } else {
        bench_fill(body, source->data, forms[form].body, number,
                   forms[form].pick == OVER ? source->random >> 40 : 0);
    }
}

// `dolmen bench --help` says what they are.
const struct bench_workload bench_workloads[] = {
    {"load", false, FORM_LOAD},       {"get", false, FORM_GET},
    {"query20", false, FORM_QUERY},   {"gsi20", true, FORM_GSI},
    {"mix", false, FORM_MIX},         {"overwrite", false, FORM_OVERWRITE},
    {"update", false, FORM_UPDATE},   {"put", false, FORM_PUT},
    {"condput", false, FORM_CONDPUT}, {"transact4", false, FORM_TRANSACT},
    {"batch25", false, FORM_BATCH},   {NULL, false, 0},
};
