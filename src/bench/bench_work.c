// See bench_work.h. Items are picked at random, all equally often: the unkindest order for a cache.
#include "bench/bench_work.h"

enum { BATCH = 25 };

const char *const bench_operation_names[BENCH_OPERATIONS] = {
    [BENCH_GET_ITEM] = "GetItem",
    [BENCH_PUT_ITEM] = "PutItem",
    [BENCH_UPDATE_ITEM] = "UpdateItem",
    [BENCH_QUERY] = "Query",
    [BENCH_TRANSACT] = "TransactWriteItems",
    [BENCH_BATCH] = "BatchWriteItem",
};

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

static uint64_t item_loaded(struct bench_source *source)
{
    return random_below(source, source->data->items);
}

static uint64_t album_loaded(struct bench_source *source)
{
    return random_below(source, source->data->items / BENCH_GROUP);
}

// ---- Reads ---------------------------------------------------------------------------------

static void next_get(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_GET_ITEM, "\"Item\":", 0};
    bench_table_name(body, source->data);
    buf_text(body, ",\"Key\":");
    bench_key(body, item_loaded(source));
    buf_byte(body, '}');
}

static void query_begin(struct bench_source *source, struct buf *body, const char *index,
                        const char *partition)
{
    bench_table_name(body, source->data);
    if (index != NULL) {
        buf_text(body, ",\"IndexName\":\"");
        buf_text(body, index);
        buf_byte(body, '"');
    }
    buf_text(body, ",\"KeyConditionExpression\":\"");
    buf_text(body, partition);
}

static void next_query(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_QUERY, "\"Count\":20", 0};
    query_begin(source, body, NULL, "PK = :p");
    buf_text(body, "\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"");
    bench_album(body, album_loaded(source));
    buf_text(body, "\"}}}");
}

static void next_gsi(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_QUERY, "\"Count\":20", 0};
    query_begin(source, body, "GSI1", "GSI1PK = :p");
    buf_text(body, "\",\"ScanIndexForward\":false,\"ExpressionAttributeValues\":{\":p\":{\"S\":\"");
    bench_creator(body, album_loaded(source));
    buf_text(body, "\"}}}");
}

// ---- Writes --------------------------------------------------------------------------------

static void put_begin(struct bench_source *source, struct buf *body, uint64_t number,
                      uint64_t revision)
{
    bench_table_name(body, source->data);
    buf_text(body, ",\"Item\":");
    bench_item(body, source->data, number, revision);
}

static void next_put(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_PUT_ITEM, "{}", 1};
    put_begin(source, body, source->next_new++, 0);
    buf_byte(body, '}');
}

// The revision comes from the generator too: a put of what is there already might write nothing.
static void next_overwrite(struct bench_source *source, struct buf *body,
                           struct bench_request *request)
{
    *request = (struct bench_request){BENCH_PUT_ITEM, "{}", 1};
    uint64_t number = item_loaded(source);
    put_begin(source, body, number, source->random >> 40);
    buf_byte(body, '}');
}

static void next_condput(struct bench_source *source, struct buf *body,
                         struct bench_request *request)
{
    *request = (struct bench_request){BENCH_PUT_ITEM, "{}", 1};
    put_begin(source, body, source->next_new++, 0);
    buf_text(body, ",\"ConditionExpression\":"
                   "\"attribute_not_exists(PK) AND attribute_not_exists(SK)\"}");
}

#define COUNT_VIEW                                                                                 \
    ",\"UpdateExpression\":\"ADD viewCount :one\","                                                \
    "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}"

static void next_update(struct bench_source *source, struct buf *body,
                        struct bench_request *request)
{
    *request = (struct bench_request){BENCH_UPDATE_ITEM, "{}", 1};
    bench_table_name(body, source->data);
    buf_text(body, ",\"Key\":");
    bench_key(body, item_loaded(source));
    buf_text(body, COUNT_VIEW);
}

// Two new items, a counter, and a check that a fourth item exists.
static void next_transact(struct bench_source *source, struct buf *body,
                          struct bench_request *request)
{
    *request = (struct bench_request){BENCH_TRANSACT, "{}", 3};
    uint64_t counted = item_loaded(source);
    buf_text(body, "{\"TransactItems\":[{\"Put\":");
    put_begin(source, body, source->next_new++, 0);
    buf_text(body, "}},{\"Put\":");
    put_begin(source, body, source->next_new++, 0);
    buf_text(body, "}},{\"Update\":");
    bench_table_name(body, source->data);
    buf_text(body, ",\"Key\":");
    bench_key(body, counted);
    buf_text(body, COUNT_VIEW "},{\"ConditionCheck\":");
    bench_table_name(body, source->data);
    buf_text(body, ",\"Key\":");
    bench_key(body, (counted + 1) % source->data->items);
    buf_text(body, ",\"ConditionExpression\":\"attribute_exists(PK)\"}}]}");
}

static void batch_make(struct bench_source *source, struct buf *body, uint64_t first,
                       unsigned count)
{
    buf_text(body, "{\"RequestItems\":{\"");
    buf_text(body, source->data->table);
    buf_text(body, "\":[");
    for (unsigned i = 0; i < count; i++) {
        buf_text(body, i == 0 ? "{\"PutRequest\":{\"Item\":" : ",{\"PutRequest\":{\"Item\":");
        bench_item(body, source->data, first + i, 0);
        buf_text(body, "}}");
    }
    buf_text(body, "]}}");
}

static void next_batch(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_BATCH, "\"UnprocessedItems\":{}", BATCH};
    batch_make(source, body, source->next_new, BATCH);
    source->next_new += BATCH;
}

static void next_load(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    uint64_t left = source->data->items - source->next_load;
    unsigned count = left < BATCH ? (unsigned)left : BATCH;
    *request = (struct bench_request){BENCH_BATCH, "\"UnprocessedItems\":{}", count};
    batch_make(source, body, source->next_load, count);
    source->next_load += count;
}

// ---- The media site ------------------------------------------------------------------------

// One item by its id, as a link to it is followed.
static void next_by_id(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    *request = (struct bench_request){BENCH_QUERY, "\"Count\":1", 0};
    query_begin(source, body, "GSI2", "GSI2PK = :p AND GSI2SK = :s");
    buf_text(body, "\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"MEDIA_ID\"},"
                   "\":s\":{\"S\":\"");
    bench_media_id(body, item_loaded(source));
    buf_text(body, "\"}}}");
}

// A front page: the newest 20 of everything, or the most popular.
static void front_page(struct bench_source *source, struct buf *body, struct bench_request *request,
                       const char *index, const char *condition, const char *partition)
{
    *request = (struct bench_request){BENCH_QUERY, "\"Count\":20", 0};
    query_begin(source, body, index, condition);
    buf_text(body, "\",\"ScanIndexForward\":false,\"Limit\":20,"
                   "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"");
    buf_text(body, partition);
    buf_text(body, "\"}}}");
}

static void mix_read(struct bench_source *source, struct buf *body, struct bench_request *request,
                     uint64_t percent)
{
    unsigned gsis = source->data->gsis;
    if (percent < 35)
        next_get(source, body, request);
    else if (percent < 50)
        (gsis >= 2 ? next_by_id : next_get)(source, body, request);
    else if (percent < 65)
        next_query(source, body, request);
    else if (percent < 80 || gsis < 8)
        (gsis >= 1 ? next_gsi : next_query)(source, body, request);
    else if (percent < 85)
        front_page(source, body, request, "GSI4", "GSI4PK = :p", "MEDIA");
    else
        front_page(source, body, request, "GSI6", "GSI6PK = :p", "POPULARITY");
}

static void next_mix(struct bench_source *source, struct buf *body, struct bench_request *request)
{
    uint64_t percent = random_below(source, 100);
    if (percent < 90)
        mix_read(source, body, request, percent);
    else if (percent < 97)
        next_update(source, body, request);
    else
        next_put(source, body, request);
}

const struct bench_workload bench_workloads[] = {
    {"load", "BatchWriteItem of 25, to make the items", false, next_load},
    {"get", "GetItem", false, next_get},
    {"query20", "Query of the 20 items of a partition", false, next_query},
    {"gsi20", "Query of 20 items through an index", true, next_gsi},
    {"mix", "a media site: 90 % reads, mostly queries", false, next_mix},
    {"overwrite", "PutItem over an item", false, next_overwrite},
    {"update", "UpdateItem of a counter", false, next_update},
    {"put", "PutItem of a new item", false, next_put},
    {"condput", "PutItem of a new item if it is not there", false, next_condput},
    {"transact4", "TransactWriteItems: 2 puts, a counter, a check", false, next_transact},
    {"batch25", "BatchWriteItem of 25 new items", false, next_batch},
    {NULL, NULL, false, NULL},
};
