// The requests of the tenants' test: random, hostile, over all operations on items. Each is a text;
// whose the item is that it is about, is known from how the item was drawn.
#ifndef TESTS_UNIT_API_TENANTS_H
#define TESTS_UNIT_API_TENANTS_H

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static const char tenants_model[] =
    "table app {\n"
    "  key PK, SK\n"
    "  index GSI1 (GSI1PK, GSI1SK)\n"
    "  index GSI2 (GSI2PK, GSI2SK) project keys\n"
    "  index GSI3 (GSI3PK, GSI3SK)\n"
    "  local index LSI1 (rank number) for all\n"
    "  type kind\n"
    "  unmatched allow\n"
    "  unknown allow\n"
    "}\n"
    "entity Project {\n"
    "  PK = \"P#{project_id}\"  SK = \"META\"\n"
    "  GSI1 = \"ALL\", \"{project_id}\"\n"
    "  project_id string\n"
    "  name string = \"none\"\n"
    "  slug string? unique\n"
    "  jobs integer = count of Job\n"
    "}\n"
    "entity Job {\n"
    "  PK = \"P#{project_id}\"  SK = \"JOB#{job_id}\"\n"
    "  GSI1 = \"STATUS#{status}\", \"{project_id}#{job_id}\"\n"
    "  GSI2 = \"OWNER#{owner}\", \"{job_id}\"\n"
    "  GSI3 = \"FRIEND#{friend}\", \"{project_id}#{job_id}\"\n"
    "  project_id string\n"
    "  job_id string\n"
    "  status string = \"open\"\n"
    "  owner string?\n"
    "  rank number?\n"
    "  slug string? unique\n"
    "  friend string? references Project on delete clear\n"
    "  tags set<string>?\n"
    "}\n"
    "entity Tag {\n"
    "  PK = \"P#{project_id}\"  SK = \"TAG#{tag}#{job_id}\"\n"
    "  project_id string\n"
    "  tag string\n"
    "  job_id string\n"
    "}\n"
    "entity Note {\n"
    "  PK = \"N#{project_id}#{topic}\"  SK = \"NOTE#{note_id}\"\n"
    "  GSI2 = \"OWNER#{note_id}\", \"{project_id}\"\n"
    "  project_id string\n"
    "  topic string\n"
    "  note_id string\n"
    "}\n"
    "entity Plan {\n"
    "  PK = \"PLAN#{plan_id}\"  SK = \"META\"\n"
    "  GSI1 = \"ALL\", \"{plan_id}\"\n"
    "  shared\n"
    "  plan_id string\n"
    "}\n"
    "entity Internal {\n"
    "  PK = \"INT#{secret}\"  SK = \"META\"\n"
    "  GSI1 = \"ALL\", \"{secret}\"\n"
    "  secret string\n"
    "}\n"
    "entity Outbox {\n"
    "  PK = \"OUT#{id}\"  SK = \"EVENT\"\n"
    "  GSI1 = \"ALL\", \"{id}\"\n"
    "  id string\n"
    "  type string\n"
    "  payload any?\n"
    "}\n"
    "tenant project_id\n"
    "idempotent Note by note_id for 1h\n"
    "derive Tag from each Job.tags as tag\n"
    "emit \"job.{status}\" on insert, modify, remove of Job into Outbox { id = job_id }\n";

// ---- Chance -------------------------------------------------------------------------------------

enum { TENANTS = 8, OWNER_ALL = TENANTS, OWNER_NOBODY, TOKEN_ROUNDS = 1000, KEY_TEXT = 4096 };

struct draw {
    uint64_t state;
    uint64_t round;
    char last[TENANTS][KEY_TEXT]; // where a page of each tenant ended, as JSON
};

static inline void draw_init(struct draw *draw, uint64_t seed)
{
    draw->state = seed * 0x9e3779b97f4a7c15u + 1;
}

static inline uint64_t draw_next(struct draw *draw) // splitmix64
{
    draw->state += 0x9e3779b97f4a7c15u;
    uint64_t bits = (draw->state ^ (draw->state >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

static inline size_t draw_below(struct draw *draw, size_t count)
{
    return (size_t)(draw_next(draw) % count);
}

static inline bool draw_one_in(struct draw *draw, size_t count)
{
    return draw_below(draw, count) == 0;
}

#define DRAW_TEXT(draw, ...)                                                                       \
    (((const char *const[]){__VA_ARGS__})[draw_below(                                              \
        draw, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))])

// Names that begin others, that have separators in them or look like keys, an empty one, and a long
// one.
static inline const char *tenant_name(size_t tenant)
{
    static const char *const names[TENANTS] = {
        "a",
        "ab",
        "a#",
        "a#JOB",
        "P#a",
        "",
        "\xc3\xa4 b%23",
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-"
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long",
    };
    return names[tenant];
}

// ---- Items --------------------------------------------------------------------------------------

enum kind { PROJECT, JOB, NOTE, PLAN, INTERNAL, ODD, KINDS };
enum { TOPICS = 5, IDS = 6 };
static const char *const topics[TOPICS] = {"x", "y", "x#y", "JOB", "#"};

struct subject {
    enum kind kind;
    size_t tenant; // that it was made for
    const char *topic;
    char id;
};

static inline struct subject draw_subject(struct draw *draw, size_t tenant)
{
    static const enum kind kinds[] = {PROJECT, JOB, JOB, JOB, JOB, NOTE, NOTE, PLAN, INTERNAL, ODD};
    struct subject subject = {
        .kind = kinds[draw_below(draw, sizeof(kinds) / sizeof(kinds[0]))],
        .tenant = draw_below(draw, 5) < 3 ? tenant : draw_below(draw, TENANTS),
        .topic = topics[draw_below(draw, TOPICS)],
        .id = (char)('0' + draw_below(draw, IDS)),
    };
    return subject;
}

static inline size_t subject_owner(const struct subject *subject)
{
    const char *name = tenant_name(subject->tenant);
    bool plain = strchr(name, '#') == NULL && strchr(subject->topic, '#') == NULL;
    if (subject->kind == PLAN)
        return OWNER_ALL;
    // What nobody can read in one way only is nobody's.
    if (subject->kind >= INTERNAL || name[0] == 0 || (subject->kind == NOTE && !plain))
        return OWNER_NOBODY;
    return subject->tenant;
}

static inline void put_hash(struct buf *out, const struct subject *subject)
{
    const char *tenant = tenant_name(subject->tenant);
    if (subject->kind == NOTE)
        buf_printf(out, "N#%s#%s", tenant, subject->topic);
    else if (subject->kind == PLAN || subject->kind == INTERNAL)
        buf_printf(out, "%s#%c", subject->kind == PLAN ? "PLAN" : "INT", subject->id);
    else
        buf_printf(out, "P#%s", tenant);
}

static inline void put_range(struct buf *out, const struct subject *subject)
{
    if (subject->kind == JOB || subject->kind == NOTE || subject->kind == ODD)
        buf_printf(out, "%s#%c",
                   subject->kind == JOB    ? "JOB"
                   : subject->kind == NOTE ? "NOTE"
                                           : "ODD",
                   subject->id);
    else
        buf_text(out, "META");
}

// "PK":{"S":"…"},"SK":{"S":"…"}
static inline void put_keys(struct buf *out, const struct subject *subject)
{
    buf_text(out, "\"PK\":{\"S\":\"");
    put_hash(out, subject);
    buf_text(out, "\"},\"SK\":{\"S\":\"");
    put_range(out, subject);
    buf_text(out, "\"}");
}

// Whether the keys in an item's text are those of the subject.
static inline bool is_item(const char *item, size_t len, const struct subject *subject)
{
    struct buf keys;
    buf_init(&keys, KEY_TEXT);
    put_keys(&keys, subject);
    bool is = memmem(item, len, keys.ptr, keys.len) != NULL;
    buf_release(&keys);
    return is;
}

// Whose a stored item is: it is looked for among all that can be drawn.
static inline size_t owner_of(const char *item, size_t len)
{
    static const char event[] = "\"PK\":{\"S\":\"OUT#"; // which has another item in it
    if (memmem(item, len, event, sizeof(event) - 1) != NULL)
        return OWNER_NOBODY;
    for (size_t tenant = 0; tenant < TENANTS; tenant++) {
        for (size_t topic = 0; topic < TOPICS; topic++) {
            for (int i = 0; i < KINDS * IDS; i++) {
                struct subject subject = {(enum kind)(i % KINDS), tenant, topics[topic],
                                          (char)('0' + i / KINDS)};
                if ((topic == 0 || subject.kind == NOTE) && is_item(item, len, &subject))
                    return subject_owner(&subject);
            }
        }
    }
    return OWNER_NOBODY;
}

static inline void put_own(struct buf *out, const struct subject *subject, struct draw *draw,
                           bool bound)
{
    bool named = !draw_one_in(draw, 4); // else the tenant is to be added
    static const char *const kinds[] = {"Project", "Job", "Note", "Plan", "Internal", "Odd"};
    buf_printf(out, ",\"kind\":{\"S\":\"%s\"}", kinds[subject->kind]);
    if (named && subject->kind <= NOTE)
        buf_printf(out, ",\"project_id\":{\"S\":\"%s\"}", tenant_name(subject->tenant));
    if (subject->kind == JOB)
        buf_printf(out,
                   ",\"job_id\":{\"S\":\"%c\"},\"status\":{\"S\":\"%s\"},\"owner\":{\"S\":\"%s\"}",
                   subject->id, DRAW_TEXT(draw, "open", "done"), DRAW_TEXT(draw, "me", "you", "3"));
    if (subject->kind == NOTE)
        buf_printf(out, ",\"topic\":{\"S\":\"%s\"},\"note_id\":{\"S\":\"%c\"}", subject->topic,
                   subject->id);
    if (subject->kind == PLAN || subject->kind == INTERNAL)
        buf_printf(out, ",\"%s\":{\"S\":\"%c\"}", subject->kind == PLAN ? "plan_id" : "secret",
                   subject->id);
    if (subject->kind <= JOB && draw_one_in(draw, 2))
        buf_printf(out, ",\"slug\":{\"S\":\"s%zu\"}", draw_below(draw, 4));
    if (subject->kind == JOB && draw_one_in(draw, 4))
        buf_printf(out, ",\"tags\":{\"SS\":[\"%s\"]}", DRAW_TEXT(draw, "u", "v", "u\",\"w", "u#v"));
    // What refers to another tenant's project refers to nothing.
    if (subject->kind == JOB && draw_one_in(draw, 5))
        buf_printf(out, ",\"friend\":{\"S\":\"%s\"}",
                   tenant_name(bound ? draw_below(draw, TENANTS) : subject->tenant));
}

// A whole item; what the server derives is there or not.
static inline void put_item(struct buf *out, const struct subject *subject, struct draw *draw,
                            bool bound)
{
    bool keyed = subject->kind == ODD || draw_one_in(draw, 2);
    size_t pad = draw_one_in(draw, 200)  ? 30000
                 : draw_one_in(draw, 10) ? 700
                                         : draw_below(draw, 20);
    buf_byte(out, '{');
    buf_printf(out, "\"rank\":{\"N\":\"%zu\"}", draw_below(draw, 9));
    if (keyed) {
        buf_byte(out, ',');
        put_keys(out, subject);
    }
    put_own(out, subject, draw, bound);
    buf_text(out, ",\"pad\":{\"S\":\"");
    for (size_t i = 0; i < pad; i++)
        buf_byte(out, (uint8_t)('a' + i % 26));
    buf_text(out, "\"}}");
}

struct request {
    const char *operation;
    struct buf body; // text, with a NUL behind it
};

static inline void request_release(struct request *request)
{
    buf_release(&request->body);
}

// ---- Parts of requests --------------------------------------------------------------------------

static inline void put_key(struct buf *out, struct draw *draw, size_t tenant)
{
    struct subject subject = draw_subject(draw, tenant);
    buf_byte(out, '{');
    put_keys(out, &subject);
    buf_byte(out, '}');
}

static inline void put_drawn_item(struct buf *out, struct draw *draw, size_t tenant)
{
    struct subject subject = draw_subject(draw, tenant);
    put_item(out, &subject, draw, true);
}

// What is asked to be told.
static inline void put_wishes(struct buf *out, struct draw *draw)
{
    if (draw_one_in(draw, 2))
        buf_printf(out, ",\"ReturnConsumedCapacity\":\"%s\"", DRAW_TEXT(draw, "TOTAL", "INDEXES"));
}

// A condition with all the values that conditions and updates here use.
static inline void put_condition(struct buf *out, struct draw *draw, bool always)
{
    if (!always && draw_one_in(draw, 3))
        return;
    buf_printf(out,
               ",\"ConditionExpression\":\"%s\",\"ReturnValuesOnConditionCheckFailure\":\"%s\"",
               DRAW_TEXT(draw, "attribute_exists(PK)", "attribute_not_exists(PK)",
                         "attribute_not_exists(slug)", "size(pad) > size(SK)",
                         "attribute_exists(kind) OR attribute_not_exists(rank)"),
               DRAW_TEXT(draw, "ALL_OLD", "ALL_OLD", "NONE"));
}

static inline void put_update(struct buf *out, struct draw *draw)
{
    buf_printf(
        out, ",\"UpdateExpression\":\"%s\",\"ExpressionAttributeValues\":{\":n\":{\"N\":\"%zu\"}}",
        DRAW_TEXT(draw, "SET rank = :n", "ADD hits :n", "SET rank = :n REMOVE slug",
                  "SET hits = if_not_exists(hits, :n) + :n", "SET pad = :n"),
        draw_below(draw, 9));
}

static inline void put_table(struct buf *out, struct draw *draw)
{
    // The other one is there, and not for tenants.
    buf_printf(out, "\"TableName\":\"%s\"", draw_one_in(draw, 60) ? "plain" : "app");
}

// ---- Requests -----------------------------------------------------------------------------------

static inline const char *draw_get(struct buf *out, struct draw *draw, size_t tenant)
{
    buf_byte(out, '{');
    put_table(out, draw);
    buf_text(out, ",\"Key\":");
    put_key(out, draw, tenant);
    if (draw_one_in(draw, 4))
        buf_text(out, ",\"ProjectionExpression\":\"PK, rank\"");
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "GetItem";
}

static inline const char *draw_write(struct buf *out, struct draw *draw, size_t tenant)
{
    size_t kind = draw_below(draw, 4);
    buf_byte(out, '{');
    put_table(out, draw);
    buf_text(out, kind < 2 ? ",\"Item\":" : ",\"Key\":");
    if (kind < 2)
        put_drawn_item(out, draw, tenant);
    else
        put_key(out, draw, tenant);
    if (kind == 2)
        put_update(out, draw);
    put_condition(out, draw, false);
    buf_printf(out, ",\"ReturnValues\":\"%s\"",
               kind == 2 ? DRAW_TEXT(draw, "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD")
                         : DRAW_TEXT(draw, "ALL_OLD", "NONE"));
    if (draw_one_in(draw, 3))
        buf_text(out, ",\"ReturnItemCollectionMetrics\":\"SIZE\"");
    put_wishes(out, draw);
    buf_byte(out, '}');
    return kind < 2 ? "PutItem" : kind == 2 ? "UpdateItem" : "DeleteItem";
}

static inline const char *draw_batch_get(struct buf *out, struct draw *draw, size_t tenant)
{
    size_t count = 1 + draw_below(draw, 5);
    buf_printf(out, "{\"RequestItems\":{\"%s\":{\"Keys\":[",
               draw_one_in(draw, 60) ? "plain" : "app");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i > 0 ? "," : "");
        put_key(out, draw, tenant);
    }
    buf_text(out, "]}}");
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "BatchGetItem";
}

static inline const char *draw_batch_write(struct buf *out, struct draw *draw, size_t tenant)
{
    size_t count = 1 + draw_below(draw, 3);
    buf_printf(out, "{\"RequestItems\":{\"%s\":[", draw_one_in(draw, 60) ? "plain" : "app");
    for (size_t i = 0; i < count; i++) {
        bool put = draw_one_in(draw, 2);
        buf_printf(out, "%s{\"%s\":", i > 0 ? "," : "",
                   put ? "PutRequest\":{\"Item" : "DeleteRequest\":{\"Key");
        if (put)
            put_drawn_item(out, draw, tenant);
        else
            put_key(out, draw, tenant);
        buf_text(out, "}}");
    }
    buf_text(out, "]}");
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "BatchWriteItem";
}

static inline const char *draw_transact_get(struct buf *out, struct draw *draw, size_t tenant)
{
    size_t count = 1 + draw_below(draw, 4);
    buf_text(out, "{\"TransactItems\":[");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s{\"Get\":{\"TableName\":\"app\",\"Key\":", i > 0 ? "," : "");
        put_key(out, draw, tenant);
        buf_text(out, "}}");
    }
    buf_byte(out, ']');
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "TransactGetItems";
}

static inline void put_action(struct buf *out, struct draw *draw, size_t tenant)
{
    static const char *const names[] = {"Put", "Update", "Delete", "ConditionCheck"};
    size_t kind = draw_below(draw, 4);
    buf_printf(out, "{\"%s\":{\"TableName\":\"app\",\"%s\":", names[kind],
               kind == 0 ? "Item" : "Key");
    if (kind == 0)
        put_drawn_item(out, draw, tenant);
    else
        put_key(out, draw, tenant);
    if (kind == 1)
        put_update(out, draw);
    put_condition(out, draw, kind == 3);
    buf_text(out, "}}");
}

static inline const char *draw_transact_write(struct buf *out, struct draw *draw, size_t tenant)
{
    size_t count = 1 + draw_below(draw, 3);
    buf_text(out, "{\"TransactItems\":[");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i > 0 ? "," : "");
        put_action(out, draw, tenant);
    }
    buf_byte(out, ']');
    // Tenants use the same tokens; not for so long that one is forgotten meanwhile.
    if (draw_one_in(draw, 3))
        buf_printf(out, ",\"ClientRequestToken\":\"%llu-%zu\"",
                   (unsigned long long)(draw->round / TOKEN_ROUNDS), draw_below(draw, 40));
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "TransactWriteItems";
}

// What Query and Scan have in common.
static inline void put_page(struct buf *out, struct draw *draw, size_t tenant, bool query)
{
    if (draw_one_in(draw, 2))
        buf_printf(out, ",\"Limit\":%zu", 1 + draw_below(draw, 6));
    if (draw_one_in(draw, 4))
        buf_printf(out, ",\"FilterExpression\":\"%s\"",
                   DRAW_TEXT(draw, "attribute_exists(slug)", "attribute_exists(hits)"));
    if (draw_one_in(draw, 6))
        buf_text(out, ",\"Select\":\"COUNT\"");
    if (query && draw_one_in(draw, 3))
        buf_text(out, ",\"ScanIndexForward\":false");
    if (!query && draw_one_in(draw, 3)) {
        size_t total = 1 + draw_below(draw, 5);
        buf_printf(out, ",\"TotalSegments\":%zu,\"Segment\":%zu", total, draw_below(draw, total));
    }
    if (draw_one_in(draw, 3) && draw->last[tenant][0] != 0)
        buf_printf(out, ",\"ExclusiveStartKey\":%s", draw->last[tenant]);
    put_wishes(out, draw);
    buf_byte(out, '}');
}

static inline const char *draw_scan(struct buf *out, struct draw *draw, size_t tenant)
{
    buf_byte(out, '{');
    put_table(out, draw);
    if (draw_one_in(draw, 2))
        buf_printf(out, ",\"IndexName\":\"%s\"", DRAW_TEXT(draw, "GSI1", "GSI2", "LSI1"));
    put_page(out, draw, tenant, false);
    return "Scan";
}

static inline void put_equal(struct buf *out, const char *condition, const char *prefix,
                             const char *value)
{
    buf_printf(out,
               ",\"KeyConditionExpression\":\"%s\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%"
               "s%s\"}}",
               condition, prefix, value);
}

static inline const char *draw_query(struct buf *out, struct draw *draw, size_t tenant)
{
    struct subject subject = draw_subject(draw, tenant);
    struct buf hash;
    buf_init(&hash, KEY_TEXT);
    put_hash(&hash, &subject);
    buf_byte(&hash, 0);
    buf_byte(out, '{');
    put_table(out, draw);
    switch (draw_below(draw, 5)) {
    case 0:
        put_equal(out, "PK = :p", (const char *)hash.ptr, "");
        break;
    case 1:
        buf_text(out, ",\"IndexName\":\"LSI1\"");
        put_equal(out, "PK = :p", (const char *)hash.ptr, "");
        break;
    case 2:
        buf_text(out, ",\"IndexName\":\"GSI1\"");
        put_equal(out, "GSI1PK = :p", DRAW_TEXT(draw, "ALL", "STATUS#open", "STATUS#done"), "");
        break;
    case 3:
        buf_text(out, ",\"IndexName\":\"GSI2\"");
        put_equal(out, "GSI2PK = :p", "OWNER#", DRAW_TEXT(draw, "me", "you", "3"));
        break;
    default:
        buf_printf(out,
                   ",\"KeyConditionExpression\":\"PK = :p AND %s\",\"ExpressionAttributeValues\":"
                   "{\":p\":{\"S\":\"%s\"},\":s\":{\"S\":\"%s\"}}",
                   DRAW_TEXT(draw, "begins_with(SK, :s)", "SK > :s", "SK <= :s"),
                   (const char *)hash.ptr, DRAW_TEXT(draw, "JOB#", "META", "O", "JOB#3"));
    }
    buf_release(&hash);
    put_page(out, draw, tenant, true);
    return "Query";
}

// ---- PartiQL ------------------------------------------------------------------------------------

// An item, or a key, as PartiQL writes it, inside of a JSON text.
static inline void put_where(struct buf *out, const struct subject *subject)
{
    buf_text(out, "WHERE PK='");
    put_hash(out, subject);
    buf_text(out, "' AND SK='");
    put_range(out, subject);
    buf_byte(out, '\'');
}

static inline void put_insert(struct buf *out, const struct subject *subject)
{
    buf_text(out, "INSERT INTO app VALUE {'PK':'");
    put_hash(out, subject);
    buf_text(out, "','SK':'");
    put_range(out, subject);
    buf_text(out, "'}");
}

static inline void put_statement(struct buf *out, struct draw *draw, size_t tenant, bool writes)
{
    struct subject subject = draw_subject(draw, tenant);
    size_t kind = writes ? draw_below(draw, 3) : 3;
    if (kind == 0)
        put_insert(out, &subject);
    else if (kind == 1)
        buf_printf(out, "UPDATE app SET rank=%zu ", draw_below(draw, 9));
    else
        buf_text(out, kind == 2 ? "DELETE FROM app " : "SELECT * FROM app ");
    if (kind > 0)
        put_where(out, &subject);
    if (kind == 1 && draw_one_in(draw, 2))
        buf_text(out, " RETURNING ALL NEW *");
    if (kind == 2 && draw_one_in(draw, 2))
        buf_text(out, " RETURNING ALL OLD *");
}

static inline const char *draw_statement(struct buf *out, struct draw *draw, size_t tenant)
{
    struct subject subject = draw_subject(draw, tenant);
    buf_text(out, "{\"Statement\":\"");
    switch (draw_below(draw, 5)) {
    case 0:
        buf_text(out, "SELECT * FROM app WHERE PK='");
        put_hash(out, &subject);
        buf_byte(out, '\'');
        break;
    case 1:
        buf_printf(out, "SELECT PK, SK FROM app WHERE %s",
                   DRAW_TEXT(draw, "rank > 3", "kind = 'Job'", "attribute_type(secret, 'S')"));
        break;
    case 2:
        buf_printf(out, "SELECT * FROM app.%s",
                   DRAW_TEXT(draw, "GSI1 WHERE GSI1PK = 'ALL'", "GSI2 WHERE GSI2PK = 'OWNER#me'",
                             "GSI1 WHERE GSI1PK IN ['ALL', 'STATUS#open']"));
        break;
    default:
        put_statement(out, draw, tenant, draw_one_in(draw, 2));
    }
    buf_byte(out, '"');
    if (draw_one_in(draw, 3))
        buf_printf(out, ",\"Limit\":%zu", 1 + draw_below(draw, 5));
    put_wishes(out, draw);
    buf_byte(out, '}');
    return "ExecuteStatement";
}

static inline const char *draw_statements(struct buf *out, struct draw *draw, size_t tenant)
{
    bool transaction = draw_one_in(draw, 2);
    bool writes = draw_one_in(draw, 2);
    size_t count = 1 + draw_below(draw, 3);
    buf_text(out, transaction ? "{\"TransactStatements\":[" : "{\"Statements\":[");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s{\"Statement\":\"", i > 0 ? "," : "");
        if (transaction && writes && draw_one_in(draw, 3)) {
            struct subject subject = draw_subject(draw, tenant);
            buf_text(out, "EXISTS(SELECT * FROM app ");
            put_where(out, &subject);
            buf_printf(out, " AND %s)", DRAW_TEXT(draw, "rank >= 0", "rank IS MISSING"));
        } else {
            put_statement(out, draw, tenant, writes);
        }
        buf_printf(out, "\"%s}",
                   writes ? ",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"" : "");
    }
    buf_byte(out, ']');
    put_wishes(out, draw);
    buf_byte(out, '}');
    return transaction ? "ExecuteTransaction" : "BatchExecuteStatement";
}

static inline const char *draw_other(struct buf *out, struct draw *draw, size_t tenant)
{
    static const char *const closed[] = {
        "CreateBackup",
        "DescribeModel",
        "DescribeModelReport",
        "ExportTableToPointInTime",
        "DescribeContinuousBackups",
        "DeleteTable",
        "UpdateTable",
        "ListBackups",
        "DescribeContributorInsights",
        "ListModels",
        "VerifyDatabase",
        "NoSuchOperation",
    };
    (void)tenant;
    if (draw_one_in(draw, 3)) {
        buf_printf(out, "{\"Limit\":%zu}", 1 + draw_below(draw, 3));
        return "ListTables";
    }
    buf_text(out, "{\"TableName\":\"app\"}");
    return closed[draw_below(draw, sizeof(closed) / sizeof(closed[0]))];
}

// ---- All of them --------------------------------------------------------------------------------

static inline void request_draw(struct request *request, struct draw *draw, size_t tenant)
{
    static const char *(*const draws[])(struct buf *, struct draw *, size_t) = {
        draw_get,          draw_write,          draw_write,
        draw_write,        draw_batch_get,      draw_batch_write,
        draw_transact_get, draw_transact_write, draw_transact_write,
        draw_scan,         draw_query,          draw_query,
        draw_statement,    draw_statement,      draw_statements,
        draw_other,
    };
    buf_init(&request->body, 1 << 20);
    request->operation =
        draws[draw_below(draw, sizeof(draws) / sizeof(draws[0]))](&request->body, draw, tenant);
    buf_byte(&request->body, 0);
}

// A write that is not bound to a tenant; returns whose the item is.
static inline size_t request_draw_free(struct request *request, struct draw *draw)
{
    struct subject subject = draw_subject(draw, draw_below(draw, TENANTS));
    bool put = !draw_one_in(draw, 3);
    struct buf *out = &request->body;
    buf_init(out, 1 << 20);
    buf_printf(out, "{\"TableName\":\"app\",\"%s\":", put ? "Item" : "Key");
    if (put) {
        put_item(out, &subject, draw, false);
    } else {
        buf_byte(out, '{');
        put_keys(out, &subject);
        buf_byte(out, '}');
    }
    buf_text(out, ",\"ReturnValues\":\"ALL_OLD\"}");
    buf_byte(out, 0);
    request->operation = put ? "PutItem" : "DeleteItem";
    return subject_owner(&subject);
}

// Notes where a page ended; now and then another tenant goes on from there.
static inline void request_answered(struct draw *draw, size_t tenant, const char *answer)
{
    static const char name[] = "\"LastEvaluatedKey\":";
    const char *at = strstr(answer, name);
    if (at == NULL)
        return;
    at += sizeof(name) - 1;
    const char *end = strstr(at, "\"}}");
    if (draw_one_in(draw, 4))
        tenant = draw_below(draw, TENANTS);
    if (end != NULL && (size_t)(end - at) + 4 < KEY_TEXT)
        (void)snprintf(draw->last[tenant], KEY_TEXT, "%.*s", (int)(end - at) + 3, at);
}

#endif
