// See bench_workload.h. Making a request must cost little beside answering it, so everything is
// appended to a buffer, without printf. Items are picked at random, all equally often: the
// unkindest order for a cache.
#include "bench/bench_workload.h"

enum {
    SPREAD = 7919, // a prime: how far apart the albums of a creator's items are
    BATCH = 25,
};

// ---- Text ----------------------------------------------------------------------------------

// Exactly `width` digits; higher ones are lost.
static void digits(struct buf *out, const char *before, uint64_t value, size_t width)
{
    buf_text(out, before);
    uint8_t *to = buf_reserve(out, width);
    if (to == NULL)
        return;
    for (size_t i = width; i-- > 0; value /= 10)
        to[i] = (uint8_t)('0' + value % 10);
    out->len += width;
}

// A moment within 2025 for each item, five seconds apart.
static void timestamp(struct buf *out, uint64_t number)
{
    uint64_t second = number * 5;
    uint64_t day = second / 86400;
    digits(out, "2025-", day / 28 % 12 + 1, 2);
    digits(out, "-", day % 28 + 1, 2);
    digits(out, "T", second / 3600 % 24, 2);
    digits(out, ":", second / 60 % 60, 2);
    digits(out, ":", second % 60, 2);
    buf_text(out, ".000Z");
}

static uint64_t creator_of(const struct bench_data *data, uint64_t number)
{
    uint64_t albums = data->items / BENCH_GROUP;
    uint64_t album = number / BENCH_GROUP;
    if (number >= data->items)
        return album;
    return (album + number % BENCH_GROUP * SPREAD) % albums;
}

// ---- Items ---------------------------------------------------------------------------------

#define KEY            "\"PK\":{\"S\":\"$a\"},\"SK\":{\"S\":\"MEDIA#$p\"}"
#define S(name, value) ",\"" name "\":{\"S\":\"" value "\"}"
#define N(name, value) ",\"" name "\":{\"N\":\"" value "\"}"

static const char item_form[] = "{" KEY S("EntityType", "Media") S("id", "$i")
    S("filename", "media/$i.jpg") S("originalFilename", "IMG_$i.JPG") S("mimeType", "image/jpeg")
        N("size", "$s") N("width", "1024")
            N("height", "1536") ",\"thumbnailUrls\":{\"M\":{"
                                "\"cover\":{\"S\":\"/t/$i.webp\"},\"small\":{\"S\":\"/t/$i.webp\"},"
                                "\"medium\":{\"S\":\"/t/$i.webp\"}}}" S("status", "uploaded")
                                    S("createdAt", "$d") S("updatedAt", "$u") S("isPublic", "true")
                                        N("likeCount", "$l") N("viewCount", "$v")
                                            N("commentCount", "$m") S("createdBy", "$c");

// The keys of the indexes, GSI1 first.
static const char *const index_forms[BENCH_GSIS_MAX] = {
    S("GSI1PK", "$c") S("GSI1SK", "$d#$i"),
    S("GSI2PK", "MEDIA_ID") S("GSI2SK", "$i"),
    S("GSI3PK", "MEDIA_BY_USER_true") S("GSI3SK", "$c#$d#$i"),
    S("GSI4PK", "MEDIA") S("GSI4SK", "$d#$i"),
    S("GSI5PK", "MEDIA_PUBLIC") S("GSI5SK", "t"),
    S("GSI6PK", "POPULARITY") S("GSI6SK", "0"),
    S("GSI7PK", "CONTENT") S("GSI7SK", "$d"),
    S("GSI8PK", "MEDIA_BY_TYPE") S("GSI8SK", "$c#$d#$i"),
};

// What JSON adds to the names and values that make an item's size: 12 bytes for an attribute, of
// which item_form has 18 beside the map, and 41 for that one.
enum { JSON_ATTRIBUTE = 12, JSON_ITEM = 18 * JSON_ATTRIBUTE + 41 };

// Fills the item up to its size. A text that does not repeat itself within a block, or else the
// stores that compress would seem to write less than they do.
static void prompt(struct buf *out, size_t len, uint64_t number)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789";
    uint64_t random = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    uint8_t *to = buf_reserve(out, len);
    for (size_t i = 0; to != NULL && i < len; i++) {
        if (i % 10 == 0) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
        }
        to[i] = (uint8_t)letters[random >> (i % 10 * 6) & 63];
    }
    if (to != NULL)
        out->len += len;
}

static void item(struct buf *out, const struct bench_data *data, uint64_t number, uint64_t revision)
{
    size_t start = out->len;
    bench_fill(out, data, item_form, number, revision);
    for (unsigned i = 0; i < data->gsis; i++)
        bench_fill(out, data, index_forms[i], number, revision);
    size_t size =
        out->len - start - JSON_ITEM - (size_t)2 * JSON_ATTRIBUTE * data->gsis + strlen("prompt");
    buf_text(out, ",\"prompt\":{\"S\":\"");
    prompt(out, size < data->size ? data->size - size : 0, number);
    buf_text(out, "\"}}");
}

static void fill_one(struct buf *out, const struct bench_data *data, char what, uint64_t number,
                     uint64_t revision)
{
    switch (what) {
    case 't':
        buf_text(out, data->table);
        break;
    case 'k':
        bench_fill(out, data, "{" KEY "}", number, revision);
        break;
    case 'n':
        item(out, data, number, revision);
        break;
    case 'a':
        digits(out, "ALBUM#", number / BENCH_GROUP, 12);
        break;
    case 'p':
        digits(out, "", number % BENCH_GROUP, 4);
        break;
    case 'c':
        digits(out, "CREATOR#", creator_of(data, number), 12);
        break;
    case 'g':
        digits(out, "CREATOR#", number / BENCH_GROUP, 12);
        break;
    case 'i':
        digits(out, "", number, 14);
        break;
    case 'd':
    case 'u':
        timestamp(out, what == 'd' ? number : revision);
        break;
    default:
        buf_u64(out, what == 's'   ? 1000000 + number % 999983
                     : what == 'l' ? number % 97
                     : what == 'm' ? number % 13
                                   : revision);
    }
}

void bench_fill(struct buf *out, const struct bench_data *data, const char *form, uint64_t number,
                uint64_t revision)
{
    for (;;) {
        size_t plain = strcspn(form, "$");
        buf_add(out, form, plain);
        if (form[plain] == 0)
            return;
        fill_one(out, data, form[plain + 1], number, revision);
        form += plain + 2;
    }
}

// ---- The table -----------------------------------------------------------------------------

static void key_definitions(struct buf *out, const char *key)
{
    buf_printf(out,
               "{\"AttributeName\":\"%sPK\",\"AttributeType\":\"S\"},"
               "{\"AttributeName\":\"%sSK\",\"AttributeType\":\"S\"}",
               key, key);
}

static void key_schema(struct buf *out, const char *key)
{
    buf_printf(out,
               "\"KeySchema\":[{\"AttributeName\":\"%sPK\",\"KeyType\":\"HASH\"},"
               "{\"AttributeName\":\"%sSK\",\"KeyType\":\"RANGE\"}]",
               key, key);
}

void bench_table_create(struct buf *out, const struct bench_data *data)
{
    char index[] = "GSI1";
    buf_printf(out,
               "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\","
               "\"AttributeDefinitions\":[",
               data->table);
    key_definitions(out, "");
    for (unsigned i = 0; i < data->gsis; i++) {
        index[3] = (char)('1' + i);
        buf_byte(out, ',');
        key_definitions(out, index);
    }
    buf_text(out, "],");
    key_schema(out, "");
    for (unsigned i = 0; i < data->gsis; i++) {
        index[3] = (char)('1' + i);
        buf_text(out, i == 0 ? ",\"GlobalSecondaryIndexes\":[" : ",");
        buf_printf(out, "{\"IndexName\":\"%s\",\"Projection\":{\"ProjectionType\":\"ALL\"},",
                   index);
        key_schema(out, index);
        buf_byte(out, '}');
    }
    buf_text(out, data->gsis > 0 ? "]}" : "}");
}

#undef S
#undef N

// ---- Sources -------------------------------------------------------------------------------

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
