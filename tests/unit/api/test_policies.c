// Policies of a model, and twins: one database with all items, and for each caller a plain table
// that has only what the caller may see of them. Each read of a caller goes to both, and the
// answers must be the same, byte for byte. Each write is foretold by policies.h: whether it is
// done, refused by a policy, or by its condition; and afterwards all tables must agree again.
//
// REQUESTS and SEED in the environment ask for more, and for others.
#include "policies.h"
#include "policies_world.h"

#include <stdlib.h>

static size_t below(struct world *world, size_t limit)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return (size_t)(world->random % limit);
}

// All twins have of the item what their callers may see.
static void twins_follow(struct world *world, size_t key)
{
    struct buf body;
    buf_init(&body, 1 << 16);
    for (size_t i = 0; i < CALLERS; i++) {
        struct item seen = seen_by(&callers[i], key, &world->items[key]);
        buf_clear(&body);
        buf_text(&body, seen.there ? "{\"TableName\":\"app\",\"Item\":{"
                                   : "{\"TableName\":\"app\",\"Key\":{");
        if (seen.there)
            stored_text(key, &seen, &body);
        else
            key_text(key, &body);
        buf_text(&body, "}}");
        // Keys are made of what is stored, not of what is seen; but those are never hidden.
        buf_byte(&body, 0);
        run_fine(world->twins[i], seen.there ? "PutItem" : "DeleteItem", text_of(&body));
    }
    buf_release(&body);
}

// ---- Reads --------------------------------------------------------------------------------------

static void compare(struct world *world, size_t who, const char *operation, const char *body)
{
    struct buf one;
    struct buf other;
    buf_init(&one, 1 << 24);
    buf_init(&other, 1 << 24);
    int status = run(world->all, &world->callers[who], operation, body, &one);
    int twin = run(world->twins[who], NULL, operation, body, &other);
    world->asked++;
    if (status != twin || strcmp(text_of(&one), text_of(&other)) != 0)
        fail_msg("caller %zu, %s %s\nwith policies: %d %s\nalone:         %d %s", who, operation,
                 body, status, text_of(&one), twin, text_of(&other));
    buf_release(&one);
    buf_release(&other);
}

static const char *draw_filter(struct world *world)
{
    static const char *const filters[] = {
        "",
        "",
        ",'FilterExpression':'attribute_exists(secret)'",
        ",'FilterExpression':'attribute_not_exists(secret)'",
        ",'FilterExpression':'email = :v','ExpressionAttributeValues':{%s':v':{'S':'v1'}}",
        ",'FilterExpression':'note = :v','ExpressionAttributeValues':{%s':v':{'S':'v1'}}",
        ",'FilterExpression':'size(secret) > :v','ExpressionAttributeValues':{%s':v':{'N':'1'}}",
        ",'FilterExpression':'begins_with(email, :v)','ExpressionAttributeValues':{%s':v':{'S':'v'"
        "}}",
    };
    return filters[below(world, COUNT_OF(filters))];
}

// What else a page asks for.
static void draw_page(struct world *world, struct buf *out)
{
    static const char *const more[] = {"",
                                       ",'Limit':1",
                                       ",'Limit':2",
                                       ",'Select':'COUNT'",
                                       ",'ProjectionExpression':'PK,secret,email'",
                                       ",'Limit':3,'Select':'COUNT'"};
    buf_text(out, more[below(world, COUNT_OF(more))]);
}

static void read_pages(struct world *world, size_t who, struct buf *body)
{
    static const char *const partitions[] = {
        "'KeyConditionExpression':'PK = :k'",
        "'IndexName':'GSI1','KeyConditionExpression':'GSI1PK = :k'",
        "'IndexName':'GSI2','KeyConditionExpression':'GSI2PK = :k'"};
    static const char *const values[3][4] = {{"C#n0", "C#n1", "C#n2", "U#n1"},
                                             {"S#new", "S#paid", "S#user", "S#page"},
                                             {"W#n0", "W#n1", "W#n2", "W#x"}};
    struct buf text;
    char key[64];
    char filter[256];
    buf_init(&text, 1 << 16);
    bool scan = below(world, 3) == 0;
    size_t index = below(world, 3);
    (void)snprintf(key, sizeof(key), "':k':{'S':'%s'}%s", values[index][below(world, 4)], "");
    const char *wanted = draw_filter(world);
    bool valued = strstr(wanted, "%s") != NULL;
    (void)snprintf(filter, sizeof(filter), wanted, "");
    buf_printf(&text, "{'TableName':'app'");
    if (scan) {
        static const char *const indexes[] = {"", ",'IndexName':'GSI1'", ",'IndexName':'GSI2'"};
        buf_text(&text, indexes[index]);
        if (below(world, 3) == 0)
            buf_printf(&text, ",'TotalSegments':2,'Segment':%zu", below(world, 2));
    } else {
        char comma[80];
        (void)snprintf(comma, sizeof(comma), "%s,", key);
        (void)snprintf(filter, sizeof(filter), wanted, comma);
        buf_printf(&text, ",%s%s", partitions[index],
                   below(world, 2) == 0 ? "" : ",'ScanIndexForward':false");
    }
    buf_text(&text, filter);
    if (!scan && !valued)
        buf_printf(&text, ",'ExpressionAttributeValues':{%s}", key);
    draw_page(world, &text);
    buf_text(&text, "}");
    buf_byte(&text, 0);
    compare(world, who, scan ? "Scan" : "Query", form(body, "%s", text_of(&text)));
    buf_release(&text);
}

static void read_items(struct world *world, size_t who, struct buf *body)
{
    struct buf key;
    struct buf other;
    buf_init(&key, 1 << 12);
    buf_init(&other, 1 << 12);
    size_t first = below(world, KEYS);
    key_text(first, &key);
    key_text((first + 1 + below(world, KEYS - 1)) % KEYS, &other);
    buf_byte(&key, 0);
    buf_byte(&other, 0);
    const char *a = text_of(&key);
    const char *b = text_of(&other);
    const char *wanted =
        below(world, 2) == 0 ? "" : ",'ProjectionExpression':'SK,secret,email,note'";
    switch (below(world, 3)) {
    case 0:
        compare(world, who, "GetItem", form(body, "{'TableName':'app','Key':{%s}%s}", a, wanted));
        break;
    case 1:
        compare(world, who, "BatchGetItem",
                form(body, "{'RequestItems':{'app':{'Keys':[{%s},{%s}]%s}}}", a, b, wanted));
        break;
    default:
        compare(world, who, "TransactGetItems",
                form(body,
                     "{'TransactItems':[{'Get':{'TableName':'app','Key':{%s}%s}},{'Get':{"
                     "'TableName':'app','Key':{%s}}}]}",
                     a, wanted, b));
    }
    buf_release(&key);
    buf_release(&other);
}

static void read_statements(struct world *world, size_t who, struct buf *body)
{
    static const char *const statements[] = {
        "SELECT * FROM app",
        "SELECT PK, secret, email FROM app",
        "SELECT * FROM app WHERE secret = `v1`",
        "SELECT * FROM app WHERE email IS NOT MISSING",
        "SELECT * FROM app.GSI1 WHERE GSI1PK = `S#new`",
        "SELECT * FROM app.GSI1 WHERE GSI1PK = `S#user` AND email = `v1`",
        "SELECT * FROM app.GSI2 WHERE GSI2PK = `W#n1`",
        "SELECT * FROM app WHERE PK = `C#n1` AND SK = `O#o1`",
        "SELECT * FROM app WHERE PK = `U#n1` AND SK = `U`",
        "SELECT note FROM app WHERE PK IN [`C#n0`, `C#n2`] ORDER BY PK",
    };
    char text[256];
    (void)snprintf(text, sizeof(text), "%s", statements[below(world, COUNT_OF(statements))]);
    (void)form(body, "{'Statement':'%s'}", text);
    for (size_t i = 0; i < body->len; i++) {
        if (body->ptr[i] == '`')
            body->ptr[i] = '\'';
    }
    compare(world, who, "ExecuteStatement", text_of(body));
}

// ---- Writes -------------------------------------------------------------------------------------

static void draw_write(struct world *world, struct write *write)
{
    *write = (struct write){.act = (enum act)below(world, ACTS),
                            .condition = (enum condition)below(world, CONDITIONS),
                            .key = below(world, KEYS)};
    enum kind kind = kind_of(write->key);
    do {
        write->attribute = (enum attribute)below(world, ATTRIBUTES);
    } while (!kind_has(kind, write->attribute));
    // Removing what is required is wrong for another reason.
    if (write->act == REMOVE && (write->attribute == STATUS || write->attribute == ROLE))
        write->act = SET;
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        const char *value = values_of[i][below(world, 3)];
        bool wanted = write->act == PUT ? below(world, 3) > 0 : i == write->attribute;
        if (kind_has(kind, (enum attribute)i) && wanted)
            set_value(&write->item, i, value);
    }
}

static bool condition_mentions(const struct write *write, enum attribute attribute)
{
    return (write->condition == SECRET_IS && attribute == SECRET) ||
           (write->condition == EMAIL_MISSING && attribute == EMAIL);
}

static bool condition_holds(const struct write *write, const struct item *seen)
{
    switch (write->condition) {
    case ITEM_EXISTS:
        return seen->there;
    case ITEM_MISSING:
        return !seen->there;
    case SECRET_IS:
        return seen->there && strcmp(seen->values[SECRET], "v1") == 0;
    case EMAIL_MISSING:
        return !seen->there || seen->values[EMAIL][0] == 0;
    default:
        return true;
    }
}

// Whether the write reads what is hidden.
static bool reads_hidden(const struct who *who, const struct write *write,
                         const struct item *before)
{
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (is_hidden(who, write->key, before, (enum attribute)i) &&
            (condition_mentions(write, (enum attribute)i) ||
             (write->act == COPY && i == write->attribute)))
            return true;
    }
    return false;
}

// The new image as the client has it, of what it knows of. False if it cannot be made.
static bool make_new(const struct write *write, const struct item *before, struct item *new)
{
    *new = *before;
    if (write->act == PUT) {
        *new = write->item;
    } else if (write->act == SET) {
        set_value(new, write->attribute, write->item.values[write->attribute]);
    } else if (write->act == REMOVE) {
        new->values[write->attribute][0] = 0;
    } else {
        if (new->values[write->attribute][0] == 0)
            return false; // nothing to copy
        set_value(new, kind_of(write->key) == USER ? TEAM : NOTE, before->values[write->attribute]);
    }
    return true;
}

// What should come of it, and the item then. An attempt that is no use (to remove from nothing, or
// to copy nothing) is DONE and changes nothing, or is invalid: *skip.
static enum outcome foretell(const struct who *who, const struct write *write,
                             const struct item *stored, struct item *new, bool *skip)
{
    bool visible = stored->there && may_read(who, write->key, stored);
    struct item nothing = {.there = false};
    const struct item *before = visible ? stored : &nothing;
    struct item seen = seen_by(who, write->key, stored);
    *new = *stored;
    *skip = false;
    if (visible && reads_hidden(who, write, stored))
        return DENIED;
    if (!condition_holds(write, &seen))
        return FAILED;
    if (write->act == DELETE) {
        if (!visible)
            return DONE;
        if (!may_delete(who, write->key, stored))
            return DENIED;
        new->there = false;
        return DONE;
    }
    if (write->act == REMOVE && !before->there)
        return DONE;
    struct item sent;
    *skip = !make_new(write, before, &sent);
    struct item made = sent;
    complete(write->key, before, &made);
    if (*skip)
        return DONE;
    if (before->there && !may_update(who, write->key))
        return DENIED;
    if (!before->there && !may_insert(who, write->key, &made))
        return DENIED;
    if (writes_denied(who, write->key, before, &sent, &made) || (stored->there && !visible))
        return DENIED;
    *new = made;
    return DONE;
}

static void write_text(const struct write *write, bool transaction, struct buf *out)
{
    static const char *const conditions[] = {"", "attribute_exists(PK)", "attribute_not_exists(PK)",
                                             "secret = :c", "attribute_not_exists(email)"};
    const char *name = attribute_names[write->attribute];
    const char *to = kind_of(write->key) == USER ? "team" : "note";
    buf_text(out, write->act == PUT ? "{\"TableName\":\"app\",\"Item\":{"
                                    : "{\"TableName\":\"app\",\"Key\":{");
    if (write->act == PUT)
        sent_text(write->key, &write->item, out);
    else
        key_text(write->key, out);
    buf_text(out, "}");
    if (write->act == SET)
        buf_printf(out, ",\"UpdateExpression\":\"SET #a = :a\"");
    if (write->act == REMOVE)
        buf_printf(out, ",\"UpdateExpression\":\"REMOVE #a\"");
    if (write->act == COPY)
        buf_printf(out, ",\"UpdateExpression\":\"SET %s = #a\"", to);
    if (write->act == SET || write->act == REMOVE || write->act == COPY)
        buf_printf(out, ",\"ExpressionAttributeNames\":{\"#a\":\"%s\"}", name);
    if (write->condition != NO_CONDITION)
        buf_printf(out, ",\"ConditionExpression\":\"%s\"", conditions[write->condition]);
    bool sets = write->act == SET;
    bool asks = write->condition == SECRET_IS;
    if (sets || asks)
        buf_printf(out, ",\"ExpressionAttributeValues\":{");
    if (sets)
        buf_printf(out, "\":a\":{\"S\":\"%s\"}%s", write->item.values[write->attribute],
                   asks ? "," : "");
    if (asks)
        buf_text(out, "\":c\":{\"S\":\"v1\"}");
    if (sets || asks)
        buf_text(out, "}");
    buf_text(out, ",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"");
    buf_text(out, transaction ? "}" : ",\"ReturnValues\":\"ALL_OLD\"}");
}

// What is returned of the old image is what the twin has.
static void check_returned(struct world *world, size_t who, size_t key, const char *answer)
{
    struct buf body;
    struct buf twin;
    buf_init(&body, 1 << 14);
    buf_init(&twin, 1 << 14);
    buf_text(&body, "{\"TableName\":\"app\",\"Key\":{");
    key_text(key, &body);
    buf_text(&body, "}}");
    buf_byte(&body, 0);
    (void)run(world->twins[who], NULL, "GetItem", text_of(&body), &twin);
    const char *returned = strstr(answer, "\"Attributes\":");
    const char *failed = strstr(answer, "\"Item\":{");
    const char *shown = strstr(text_of(&twin), "\"Item\":{");
    if (returned != NULL) {
        assert_non_null(shown);
        assert_string_equal(returned + strlen("\"Attributes\":"), shown + strlen("\"Item\":"));
    }
    if (failed != NULL) {
        size_t len = strlen(shown == NULL ? "" : shown) - 1;
        if (shown == NULL || strncmp(failed, shown, len) != 0)
            fail_msg("key %zu: %s\nshould show %s", key, answer, text_of(&twin));
    }
    buf_release(&body);
    buf_release(&twin);
}

static enum outcome outcome_of(int status, const char *answer)
{
    if (status == 200)
        return DONE;
    if (strstr(answer, "ConditionalCheckFailed") != NULL)
        return FAILED;
    return strstr(answer, "AccessDenied") != NULL ? DENIED : (enum outcome) - 1;
}

static void write_item(struct world *world, size_t who, struct buf *body)
{
    static const char *const operations[] = {"PutItem", "UpdateItem", "UpdateItem", "UpdateItem",
                                             "DeleteItem"};
    static const char *const actions[] = {"Put", "Update", "Update", "Update", "Delete"};
    struct write write;
    struct item new;
    struct buf answer;
    bool skip;
    buf_init(&answer, 1 << 16);
    draw_write(world, &write);
    enum outcome wanted = foretell(&callers[who], &write, &world->items[write.key], &new, &skip);
    bool transaction = below(world, 3) == 0;
    buf_clear(body);
    if (transaction)
        buf_printf(body, "{\"TransactItems\":[{\"%s\":", actions[write.act]);
    write_text(&write, transaction, body);
    if (transaction)
        buf_text(body, "}]}");
    buf_byte(body, 0);
    int status =
        run(world->all, &world->callers[who],
            transaction ? "TransactWriteItems" : operations[write.act], text_of(body), &answer);
    enum outcome came = outcome_of(status, text_of(&answer));
    world->asked++;
    if (!skip && came != wanted)
        fail_msg("caller %zu: %s\nanswer %d %s\nexpected %d", who, text_of(body), status,
                 text_of(&answer), wanted);
    check_returned(world, who, write.key, text_of(&answer));
    world->done += came == DONE;
    world->denied += came == DENIED;
    world->failed += came == FAILED;
    if (came == DONE && !skip) {
        world->items[write.key] = new;
        twins_follow(world, write.key);
    }
    buf_release(&answer);
}

// ---- The tests ----------------------------------------------------------------------------------

static uint64_t asked_for(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void test_twins(void **state)
{
    (void)state;
    static struct world world;
    uint64_t requests = asked_for("REQUESTS", 6000);
    world_open(&world);
    world.random = asked_for("SEED", 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    struct buf body;
    buf_init(&body, 1 << 16);
    while (world.asked < requests) {
        size_t who = below(&world, CALLERS);
        switch (below(&world, 5)) {
        case 0:
        case 1:
            write_item(&world, who, &body);
            break;
        case 2:
            read_pages(&world, who, &body);
            break;
        case 3:
            read_items(&world, who, &body);
            break;
        default:
            read_statements(&world, who, &body);
        }
    }
    print_message("%llu requests: %llu writes done, %llu denied, %llu failed\n",
                  (unsigned long long)world.asked, (unsigned long long)world.done,
                  (unsigned long long)world.denied, (unsigned long long)world.failed);
    // A test in which nothing is done, or nothing is refused, would tell nothing.
    assert_true(world.done > requests / 20 && world.denied > requests / 20);
    buf_release(&body);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
