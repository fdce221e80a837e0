// The OpenAPI document: well-formed, complete, and with the types that the model says. That it is
// valid is for a validator to say: tests/api/data.
#include "guard/guard_support.h"

#include "data/openapi.h"
#include "json/reader.h"

static const char source[] =
    "table one { key PK, SK  index Gix (GPK, GSK)  type Kind  unknown reject }\n"
    "type Tree { name: string  children: Tree[]? }\n"
    "type Level = \"low\" | \"high\"\n"
    "entity Thing {\n"
    "  PK = \"T#{id}\"  SK = \"T\"  Gix = \"G\", \"{level}\"\n"
    "  id uuid = uuid()\n"
    "  level Level = \"low\"  // how much\n"
    "  count number(0..10)?\n"
    "  rev integer version\n"
    "  tags set<string>?\n"
    "  tree Tree?\n"
    "  limits Record<string, integer>?\n"
    "  odd string | number | null\n"
    "  when timestamp  bin binary?  link url?  mail email?  day date?  at epoch?  any any?\n"
    "}\n"
    "access byLevel(level, limit: number) = Thing via Gix filter count < limit\n"
    "table two { key id  type Kind }\n"
    "entity Thing of two { id string }\n";

static void write_document(const struct fixture *fixture, size_t count, struct buf *out)
{
    const struct model_table *tables[2] = {&fixture->model->tables[0], &fixture->model->tables[1]};
    model_openapi(count, tables, &(struct openapi_options){.title = "T", .server = "http://x"},
                  out);
    struct json_reader reader;
    struct arena arena;
    arena_init(&arena, 16 << 20);
    json_reader_init(&reader, buf_view(out), &arena);
    if (!json_skip(&reader) || !json_at_end(&reader))
        fail_msg("%s at %zu", reader.error, reader.offset);
    arena_release(&arena);
    buf_byte(out, 0);
}

static void check_has(const struct buf *out, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        if (strstr((const char *)out->ptr, *parts) == NULL)
            fail_msg("%s is not in %s", *parts, (const char *)out->ptr);
    }
}

static void test_one_table(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "\"openapi\":\"3.1.0\"",
        "\"title\":\"T\"",
        "\"servers\":[{\"url\":\"http://x\"}]",
        "\"/v1/one/Thing\":{\"get\"",
        "\"operationId\":\"createThing\"",
        "\"operationId\":\"byLevel\"",
        "\"name\":\"$limit\",\"in\":\"query\"",
        "\"/v1/one/$transaction\"",
        "\"Thing\":{\"type\":\"object\"",
        "\"ThingInput\":{\"type\":\"object\"",
        "\"required\":[\"odd\",\"when\"],\"additionalProperties\":false",
        "\"required\":[\"id\",\"level\",\"rev\",\"odd\",\"when\"]",
        "\"level\":{\"$ref\":\"#/components/schemas/Level\",\"description\":\"how "
        "much\",\"default\":"
        "\"low\"}",
        "\"Level\":{\"enum\":[\"low\",\"high\"]}",
        "\"tags\":{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":"
        "true,\"minItems\":1},{\"type\":\"null\"}]}",
        "\"children\":{\"anyOf\":[{\"type\":\"array\",\"items\":{\"$ref\":"
        "\"#/components/schemas/Tree\"}},{\"type\":\"null\"}]}",
        "\"limits\":{\"anyOf\":[{\"type\":\"object\",\"additionalProperties\":"
        "{\"type\":\"integer\"}},{\"type\":\"null\"}]}",
        "\"odd\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"},{\"type\":\"null\"}]}",
        "\"bin\":{\"anyOf\":[{\"type\":\"string\",\"contentEncoding\":\"base64\"},{\"type\":"
        "\"null\"}]}",
        "\"when\":{\"type\":\"string\",\"format\":\"date-time\"}",
        "\"any\":{}",
        "\"count\":{\"anyOf\":[{\"type\":\"number\",\"minimum\":0,\"maximum\":10},{\"type\":"
        "\"null\"}]}",
        NULL,
    };
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture, source);
    buf_init(&out, 1 << 20);
    write_document(&fixture, 1, &out);
    check_has(&out, parts);
    buf_release(&out);
    fixture_release(&fixture);
}

static void test_two_tables(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "\"one.Thing\":{",
        "\"two.Thing\":{",
        "#/components/schemas/one.Tree",
        "\"one_createThing\"",
        "\"two_createThing\"",
        "\"/v1/two/Thing\"",
        "\"two.ThingPatch\":{",
        NULL,
    };
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture, source);
    buf_init(&out, 1 << 20);
    write_document(&fixture, 2, &out);
    check_has(&out, parts);
    buf_release(&out);
    fixture_release(&fixture);
}

static void test_no_table(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture, source);
    buf_init(&out, 1 << 20);
    write_document(&fixture, 0, &out);
    buf_release(&out);
    fixture_release(&fixture);
}

// A pattern over an index of keys: required is what keys always tell, and what they cannot tell is
// not there. Whether a padded text had zeros of its own, nobody knows.
static void test_part_of_an_item(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture,
                 "table one { key PK, SK  index Gix (GPK, GSK) project keys  type Kind }\n"
                 "entity Thing {\n"
                 "  PK = \"T#{id}\"  SK = \"T\"  Gix = \"{code:pad(5)}\", "
                 "\"{rank:pad(5)}#{name}\"\n"
                 "  id uuid  code string  rank number  name string  other string }\n"
                 "access byCode(code) = Thing via Gix\n"
                 "table two { key id  type Kind }\n"
                 "entity Thing of two { id string }\n");
    buf_init(&out, 1 << 20);
    write_document(&fixture, 1, &out);
    check_has(&out,
              (const char *const[]){
                  "\"items\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\","
                  "\"format\":\"uuid\"},\"rank\":{\"type\":\"number\"},\"name\":{\"type\":"
                  "\"string\"}},\"required\":[\"id\"]}",
                  NULL});
    buf_release(&out);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_table),
        cmocka_unit_test(test_two_tables),
        cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_part_of_an_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
