// Uses the functions that were generated of shop.dolmen, on a database in memory.
#include "shop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int line, bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "use.c:%d: %s does not hold\n", line, what);
    exit(1);
}
#define CHECK(condition) check(__LINE__, condition, #condition)

static const char *const create_table =
    "{\"TableName\":\"shop\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\","
    "\"AttributeType\":\"S\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}]}";

static void test_customer(dolmen *db)
{
    struct shop_memory memory = {0};
    struct shop_tree leaf = {.label = "leaf"};
    struct shop_tree tree = {
        .label = "root \"quoted\" \xc3\xa9\n", .children = {1, &leaf}, .has_children = true};
    struct shop_address address = {.street = "Quai 1", .city = "Lausanne"};
    const char *tags[] = {"a", "b"};
    double scores[] = {1, 2.5};
    const unsigned char avatar[] = {1, 2, 255, 0};
    const char *names[] = {"dark", "font"};
    const char *values[] = {"{\"BOOL\":true}", "{\"S\":\"serif\"}"};
    struct shop_customer customer = {
        .email = " Ann@Example.ORG ",
        .name = "Ann",
        .nickname = "annie",
        .points = 42,
        .has_points = true,
        .address = &address,
        .tags = {2, tags},
        .has_tags = true,
        .scores = {2, scores},
        .has_scores = true,
        .avatar = {avatar, sizeof(avatar)},
        .settings = {2, names, values},
        .has_settings = true,
        .tree = &tree,
        .preferences = {.news = true, .has_news = true},
        .extra = "{\"L\":[{\"N\":\"1\"},{\"S\":\"}\\\"\"}]}",
    };
    shop_customer_complete(&memory, &customer);
    CHECK(strcmp(customer.email, "ann@example.org") == 0);
    CHECK(strcmp(customer.nickname, "ANNIE") == 0);
    CHECK(strcmp(customer.plan, "free") == 0);
    CHECK(strlen(customer.customer_id) == 36 && strlen(customer.created_at) == 24);
    CHECK(customer.has_vip && !customer.vip && !customer.has_rank);

    const char *item = shop_customer_item(&memory, &customer);
    CHECK(item != NULL &&
          strstr(item, "\"GSI1PK\":{\"S\":\"EMAIL\"},\"GSI1SK\":{\"S\":\"ann@example.org\"}") !=
              NULL);
    CHECK(strstr(item, "\"GSI2SK\":{\"S\":\"9999-12-31T00:00:00.000Z#00000042#") != NULL);
    CHECK(strstr(item, "\"GSI3SK\":{\"N\":\"42\"}") != NULL);
    CHECK(strstr(item, "\"EntityType\":{\"S\":\"Customer\"}") != NULL);
    CHECK(shop_customer_put(db, &memory, &customer) == 200);

    struct shop_customer key = {.customer_id = customer.customer_id};
    struct shop_customer found;
    CHECK(shop_customer_get(db, &memory, &key, &found) == 200);
    CHECK(strcmp(found.email, customer.email) == 0 && found.points == 42 && found.has_points);
    CHECK(found.tags.count == 2 && strcmp(found.tags.items[1], "b") == 0);
    CHECK(found.scores.count == 2 && found.scores.items[0] + found.scores.items[1] == 3.5);
    CHECK(found.avatar.length == 4 && memcmp(found.avatar.data, avatar, 4) == 0);
    CHECK(found.settings.count == 2 && strcmp(found.settings.names[0], "dark") == 0);
    CHECK(strcmp(found.settings.values[1], values[1]) == 0);
    CHECK(strcmp(found.tree->label, tree.label) == 0 && found.tree->children.count == 1);
    CHECK(strcmp(found.tree->children.items[0].label, "leaf") == 0 &&
          !found.tree->children.items[0].has_children);
    CHECK(strcmp(found.address->city, "Lausanne") == 0 && found.address->zip == NULL);
    CHECK(found.preferences.has_news && found.preferences.news &&
          found.preferences.language == NULL);
    CHECK(strcmp(found.extra, customer.extra) == 0);
    CHECK(strcmp(shop_customer_item(&memory, &found), item) == 0);

    CHECK(shop_customer_delete(db, &memory, &key) == 200);
    CHECK(shop_customer_get(db, &memory, &key, &found) == 404);
    CHECK(shop_customer_get(db, &memory, &(struct shop_customer){0}, &found) == 400 &&
          memory.error != NULL);
    shop_memory_free(&memory);
}

static void test_others(dolmen *db)
{
    struct shop_memory memory = {0};
    struct shop_order order = {.customer_id = "c",
                               .order_id = "o1",
                               .created_at = "2026-01-02T03:04:05.678Z",
                               .total = {.amount = 19.99, .currency = "CHF"}};
    shop_order_complete(&memory, &order);
    CHECK(order.has_expires && order.expires == 1767323045 + 90 * 86400 &&
          strcmp(order.month, "2026-01") == 0);
    const char *item = shop_order_item(&memory, &order);
    CHECK(strstr(item, "\"SK\":{\"S\":\"ORDER#2026-01-02T03:04:05.678Z#o1\"}") != NULL);
    CHECK(strstr(item, "\"GSI2SK\":{\"S\":\"2026/01/02#o1\"}") != NULL &&
          strstr(item, "\"19.99\"") != NULL);

    // Times are brought into the form in which the server keeps them.
    struct shop_order early = {
        .customer_id = "c", .order_id = "o2", .created_at = "2026-01-02T03:04:05.5+01:00"};
    shop_order_complete(&memory, &early);
    CHECK(strcmp(early.created_at, "2026-01-02T02:04:05.500Z") == 0);

    struct shop_order_line line = {.order_id = "o1", .line = 7, .product_id = "p1"};
    CHECK(strcmp(shop_order_line_key(&memory, &line),
                 "{\"PK\":{\"S\":\"ORDER#o1\"},\"SK\":{\"S\":\"LINE#0007\"}}") == 0);

    struct shop_product product = {.name = " Big Lamp ", .category = "light", .price = 0.1};
    shop_product_complete(&memory, &product);
    CHECK(strcmp(product.slug, "big lamp-light") == 0 && strlen(product.product_id) == 26);
    // sha256("Big Lamp\0light\0")
    CHECK(strcmp(product.digest,
                 "24f6b595e8f040cdbb9b3f6666f1285fe4115c7cc215db377f448f4de7d48904") == 0);

    struct shop_shipment shipment = {.order_id = "o1",
                                     .region = "VD",
                                     .city = "L",
                                     .street = "R",
                                     .number = "5",
                                     .sent_at = "2026-02-27T23:00:00+01:00"};
    shop_shipment_complete(&memory, &shipment);
    CHECK(strcmp(shipment.arrival, "2026-03-02") == 0);
    struct shop_settings settings = {.motd = "hello"};
    shop_settings_complete(&memory, &settings);
    CHECK(shop_settings_put(db, &memory, &settings) == 200);
    memset(&settings, 0, sizeof(settings));
    CHECK(shop_settings_get(db, &memory, &settings, &settings) == 200);
    CHECK(strcmp(settings.motd, "hello") == 0 && settings.open);
    struct shop_counter counter = {.counter_id = -5};
    CHECK(strcmp(shop_counter_key(&memory, &counter), "{\"counterId\":{\"N\":\"-5\"}}") == 0);
    CHECK(!shop_counter_decode(&memory, "{\"counterId\":{\"S\":\"x\"}}", 24, &counter));
    CHECK(!shop_counter_decode(&memory, "{\"counterId\":{\"N\"", 17, &counter));
    shop_memory_free(&memory);
}

int main(void)
{
    char error[256];
    dolmen *db;
    struct dolmen_options options = {.path = NULL};
    CHECK(dolmen_open(&options, &db, error, sizeof(error)) == DOLMEN_OK);
    struct dolmen_response response;
    dolmen_call(db, "CreateTable", create_table, strlen(create_table), &response);
    CHECK(response.status == 200);
    dolmen_response_free(&response);
    test_customer(db);
    test_others(db);
    dolmen_close(db);
    printf("ok\n");
    return 0;
}
