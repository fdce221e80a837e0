// Inference: templates found in keys, entities, types; and that what comes out is a model.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "model/model.h"
#include "json/plain.h"

struct fixture {
    struct infer *infer;
    struct arena arena;
    struct buf text; // the proposal
};

static void begin(struct fixture *f)
{
    struct infer_options options = {.table = SLICE_LIT("shop")};
    f->infer = infer_new(&options);
    arena_init(&f->arena, 64 << 20);
    buf_init(&f->text, 1 << 20);
}

static void end(struct fixture *f)
{
    buf_release(&f->text);
    infer_free(f->infer);
    arena_release(&f->arena);
}

static void add(struct fixture *f, const char *format, ...) PRINTF_LIKE(2, 3);
static void add(struct fixture *f, const char *format, ...)
{
    char json[4096];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(json, sizeof(json), format, arguments);
    va_end(arguments);
    struct buf item;
    struct value_builder builder;
    buf_init(&item, 1 << 20);
    value_builder_init(&builder, &item);
    const char *fault = plain_read(slice_str(json), &f->arena, &builder);
    if (fault != NULL)
        fail_msg("%s: %s", fault, json);
    (void)infer_add(f->infer, buf_view(&item));
    value_builder_release(&builder);
    buf_release(&item);
}

static const struct draft *finish(struct fixture *f)
{
    struct draft *draft = NULL;
    const char *why = "";
    if (!infer_finish(f->infer, &draft, &why))
        fail_msg("%s", why);
    draft_write(draft, &f->text);
    struct diagnostics *faults = arena_alloc(&f->arena, sizeof(*faults));
    assert_non_null(faults);
    diagnostics_init(faults, &f->arena);
    struct model *model = model_parse(SLICE_LIT("proposal"), buf_view(&f->text), faults);
    if (model == NULL) {
        struct buf shown;
        buf_init(&shown, 1 << 20);
        diagnostics_show(faults, SLICE_LIT("proposal"), buf_view(&f->text), &shown);
        print_error("%.*s\n%.*s\n", SLICE_FMT(buf_view(&f->text)), SLICE_FMT(buf_view(&shown)));
        buf_release(&shown);
    }
    assert_non_null(model);
    model_release(model);
    return draft;
}

static void assert_has(const struct fixture *f, const char *text)
{
    if (!slice_contains(buf_view(&f->text), slice_str(text)))
        fail_msg("no '%s' in\n%.*s", text, SLICE_FMT(buf_view(&f->text)));
}

static void assert_lacks(const struct fixture *f, const char *text)
{
    if (slice_contains(buf_view(&f->text), slice_str(text)))
        fail_msg("'%s' is in\n%.*s", text, SLICE_FMT(buf_view(&f->text)));
}

static const char description[] =
    "{\"Table\":{\"TableName\":\"shop\",\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":"
    "\"HASH\"},"
    "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}],\"AttributeDefinitions\":["
    "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\","
    "\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"GSI1PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"GSI1SK\","
    "\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"rank\",\"AttributeType\":\"N\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"GSI1\",\"KeySchema\":["
    "{\"AttributeName\":\"GSI1PK\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"GSI1SK\",\"KeyType\":"
    "\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"name\"]}}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"byRank\",\"KeySchema\":["
    "{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"rank\",\"KeyType\":"
    "\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
    "\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_IMAGE\"}}}";

static void test_described(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_true(infer_describe(f.infer, slice_str(description)));
    infer_ttl(f.infer, SLICE_LIT("gone"));
    for (int i = 0; i < 12; i++)
        add(&f,
            "{\"PK\":\"ORDER#o%d\",\"SK\":\"LINE#%04d\",\"GSI1PK\":\"DAY#2026-11-%02d\","
            "\"GSI1SK\":\"%s#ord\",\"orderId\":\"o%d\",\"line\":%d,\"at\":\"2026-11-%02dT10:00:"
            "00Z\","
            "\"name\":\"N%d\",\"rank\":%d,\"gone\":1800000000}",
            100 + i, i * 7, 1 + i, i % 2 == 0 ? "a" : "b", 100 + i, i * 7, 1 + i, i, i);
    (void)finish(&f);
    assert_has(&f, "index  GSI1 (GSI1PK, GSI1SK) project (name)");
    assert_has(&f, "local index byRank (PK, rank number) project keys");
    assert_has(&f, "stream new_image");
    assert_has(&f, "ttl    gone");
    assert_has(&f, "PK     = \"ORDER#{orderId}\"");
    assert_has(&f, "SK     = \"LINE#{line:pad(4)}\"");
    assert_has(&f, "\"DAY#{at:yyyy-mm-dd}\"");
    assert_has(&f, "gone    epoch");
    assert_has(&f, "at      timestamp");
    end(&f);
}

static void test_fixed_numbers(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    static const char *const values[] = {"0", "7", "12.5", "9.25", "1000", "99.01"};
    static const char *const texts[] = {"00000.00", "00007.00", "00012.50",
                                        "00009.25", "01000.00", "00099.01"};
    static const char *const plain[] = {"0.0", "7.0", "12.5", "9.2", "1000.0", "99.0"};
    for (size_t i = 0; i < COUNT_OF(values); i++)
        add(&f,
            "{\"PK\":\"SALE#%s#s%zu\",\"SK\":\"SUM#%s\",\"saleId\":\"s%zu\",\"total\":%s,"
            "\"rate\":%s}",
            texts[i], i, plain[i], i, values[i], plain[i]);
    (void)finish(&f);
    assert_has(&f, "PK = \"SALE#{total:fixed(2):pad(8)}#{saleId}\"");
    assert_has(&f, "SK = \"SUM#{rate:fixed(1)}\"");
    end(&f);
}

static void test_keys_alone(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 20; i++) {
        add(&f, "{\"PK\":\"USER#u%03d\",\"SK\":\"PROFILE\",\"user_name\":\"x%d\"}", i * 5, i);
        add(&f, "{\"PK\":\"USER#u%03d\",\"SK\":\"VISIT#%06d\",\"page_name\":\"p%d\"}", i * 5,
            i * 11, i);
        add(&f, "{\"PK\":\"CONFIG\",\"SK\":\"flag-%d\",\"on\":true}", i);
    }
    const struct draft *draft = finish(&f);
    assert_has(&f, "entity User of shop");
    assert_has(&f, "entity Visit of shop");
    assert_has(&f, "PK = \"USER#{user_id}\"");
    assert_has(&f, "SK = \"VISIT#{visit:pad(6)}\"");
    assert_has(&f, "PK = \"CONFIG\"");
    assert_has(&f, "user_id   string  // only in PK");
    assert_has(&f, "access user(user_id) = one User");
    assert_has(&f, "access visitsByUserId(user_id) = Visit");
    assert_true(draft->note_count >= 3); // guessed keys, values that only keys have
    end(&f);
}

static void test_native_keys(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 10; i++)
        add(&f, "{\"orderId\":%d,\"mail\":\"a%d@example.com\",\"link\":\"https://x.example/%d\"}",
            i, i, i);
    (void)finish(&f);
    assert_has(&f, "key    orderId number");
    assert_has(&f, "mail    email");
    assert_has(&f, "link    url");
    assert_lacks(&f, "PK");
    end(&f);
}

static void test_type_attribute(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 10; i++) {
        add(&f, "{\"pk\":\"a#%d\",\"sk\":\"a\",\"_type\":\"big-order\",\"id\":\"%d\"}", i, i);
        add(&f, "{\"pk\":\"b#%d\",\"sk\":\"b\",\"_type\":\"Small\",\"id\":\"%d\"}", i, i);
    }
    add(&f, "{\"pk\":\"b#99\",\"sk\":\"b\",\"id\":\"99\"}"); // told by its keys
    const struct draft *draft = finish(&f);
    assert_has(&f, "type   _type");
    assert_has(&f, "entity BigOrder of shop as \"big-order\" {");
    assert_has(&f, "entity Small of shop {");
    assert_has(&f, "// 11 items\nentity Small");
    assert_true(draft->note_count >= 2);
    end(&f);
}

static void test_types(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 40; i++)
        add(&f,
            "{\"id\":\"id%d\",\"state\":\"%s\",\"mixed\":%s,\"maybe\":%s,\"tags\":[\"a\",\"b%d\"],"
            "\"address\":{\"street\":\"s %d\",\"no\":%d%s},\"scores\":{\"k %d\":%d,\"l-%d!\":2},"
            "\"lines\":[{\"sku\":\"x%d\",\"count\":1}],\"empty\":[],\"odd name\":true%s}",
            i, i % 3 == 0 ? "open" : "shut", i % 2 == 0 ? "1" : "\"one\"",
            i % 2 == 0 ? "null" : "5", i, i, i, i % 2 == 0 ? "" : ",\"zip\":\"z\"", i, i, i, i,
            i == 0 ? ",\"rare\":1" : "");
    const struct draft *draft = finish(&f);
    assert_has(&f, "state      \"open\" | \"shut\"\n");
    assert_has(&f, "mixed      number | string\n");
    assert_has(&f, "maybe      number?\n");
    assert_has(&f, "tags       string[]\n");
    assert_has(&f, "address    Address\n");
    assert_has(&f, "type Address {\n  no: number\n  street: string\n  zip: string?\n}");
    assert_has(&f, "scores     Record<string, number>\n");
    assert_has(&f, "lines      Line[]\n");
    assert_has(&f, "empty      any[]\n");
    assert_has(&f, "`odd name` boolean\n");
    assert_has(&f, "rare       number?\n");
    assert_has(&f, "state      ");
    bool told = false;
    for (const struct draft_note *note = draft->notes; note != NULL; note = note->next)
        told = told || slice_contains(note->text, SLICE_LIT("mixed has values of several types"));
    assert_true(told);
    end(&f);
}

static void test_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct draft *draft = NULL;
    const char *why = NULL;
    begin(&f);
    assert_false(infer_finish(f.infer, &draft, &why));
    assert_string_equal(why, "there are no items to look at");
    end(&f);
    begin(&f);
    add(&f, "{\"a\":1}");
    add(&f, "{\"b\":1}");
    assert_false(infer_finish(f.infer, &draft, &why));
    assert_non_null(strstr(why, "--key"));
    assert_false(infer_describe(f.infer, SLICE_LIT("[]")));
    assert_false(infer_describe(f.infer, SLICE_LIT("no")));
    end(&f);
}

// One item of each kind: little to go by, and still a model.
static void test_few_items(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "{\"PK\":\"ORG#7\",\"SK\":\"META\",\"orgId\":\"7\",\"name\":\"Seven\"}");
    add(&f, "{\"PK\":\"ORG#7\",\"SK\":\"TEAM#red\",\"orgId\":\"7\",\"team\":\"red\"}");
    (void)finish(&f);
    assert_has(&f, "PK = \"ORG#{orgId}\"");
    assert_has(&f, "SK = \"META\"");
    assert_has(&f, "SK = \"TEAM#{team}\"");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_described),      cmocka_unit_test(test_fixed_numbers),
        cmocka_unit_test(test_keys_alone),     cmocka_unit_test(test_native_keys),
        cmocka_unit_test(test_type_attribute), cmocka_unit_test(test_types),
        cmocka_unit_test(test_nothing),        cmocka_unit_test(test_few_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
