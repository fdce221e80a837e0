// A request that has a member of every kind and every constraint, for the tests of shapes.
#ifndef TEST_JSON_SAMPLE_SHAPE_H
#define TEST_JSON_SAMPLE_SHAPE_H

#include "json/shape.h"

struct sample_part {
    struct slice name;
    struct slice kind;
    struct field_int units;
};

struct sample {
    struct slice text;
    struct slice color;
    struct slice blob;
    struct field_int limit;
    struct field_int total;
    struct field_double ratio;
    struct field_double when;
    struct field_bool flag;
    struct sample_part *part;
    struct field_list parts;   // struct sample_part
    struct field_list names;   // struct slice
    struct field_map labels;   // struct slice
    struct field_map requests; // struct field_list of struct sample_part
    struct field_map tables;   // struct sample_part
    struct field_value value;
    struct field_value item;
    struct field_list items; // struct field_value
    struct field_map values; // struct field_value
};

static inline bool sample_name_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
            return false;
    }
    return text.len > 0;
}

static const char *const sample_colors[] = {"RED", "GREEN", NULL};

static const struct shape sample_text = {.kind = SHAPE_STRING,
                                         .has_min = true,
                                         .min = 3,
                                         .has_max = true,
                                         .max = 8,
                                         .pattern = "[a-z0-9]+",
                                         .matches = sample_name_matches};
static const struct shape sample_plain = {.kind = SHAPE_STRING};
static const struct shape sample_color = {.kind = SHAPE_ENUM, .values = sample_colors};
static const struct shape sample_blob = {.kind = SHAPE_BLOB, .has_max = true, .max = 4};
static const struct shape sample_limit = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100};
static const struct shape sample_total = {.kind = SHAPE_LONG};
static const struct shape sample_ratio = {.kind = SHAPE_DOUBLE};
static const struct shape sample_when = {.kind = SHAPE_TIMESTAMP};
static const struct shape sample_flag = {.kind = SHAPE_BOOLEAN};
static const struct shape sample_value = {.kind = SHAPE_VALUE};
static const struct shape sample_item = {.kind = SHAPE_ITEM};
static const struct shape_member sample_part_members[] = {
    {SHAPE_NAME("Name"), &sample_plain, offsetof(struct sample_part, name), true},
    {SHAPE_NAME("Kind"), &sample_color, offsetof(struct sample_part, kind), false},
    {SHAPE_NAME("Units"), &sample_limit, offsetof(struct sample_part, units), false},
};
static const struct shape sample_part_shape = {.kind = SHAPE_STRUCT,
                                               .name = "Part",
                                               .members = sample_part_members,
                                               .member_count = COUNT_OF(sample_part_members),
                                               .size = sizeof(struct sample_part)};
static const struct shape sample_parts = {.kind = SHAPE_LIST,
                                          .has_min = true,
                                          .min = 1,
                                          .has_max = true,
                                          .max = 2,
                                          .element = &sample_part_shape};
static const struct shape sample_names = {.kind = SHAPE_LIST, .element = &sample_text};
static const struct shape sample_labels = {.kind = SHAPE_MAP, .element = &sample_plain};
static const struct shape sample_requests = {
    .kind = SHAPE_MAP, .has_min = true, .min = 1, .element = &sample_parts, .key = &sample_text};
static const struct shape sample_tables = {
    .kind = SHAPE_MAP, .element = &sample_part_shape, .key = &sample_text};
static const struct shape sample_items = {.kind = SHAPE_LIST, .element = &sample_item};
static const struct shape sample_values = {.kind = SHAPE_MAP, .element = &sample_value};

static const struct shape_member sample_members[] = {
    {SHAPE_NAME("Text"), &sample_text, offsetof(struct sample, text), true},
    {SHAPE_NAME("Color"), &sample_color, offsetof(struct sample, color), false},
    {SHAPE_NAME("Blob"), &sample_blob, offsetof(struct sample, blob), false},
    {SHAPE_NAME("Limit"), &sample_limit, offsetof(struct sample, limit), false},
    {SHAPE_NAME("Total"), &sample_total, offsetof(struct sample, total), false},
    {SHAPE_NAME("Ratio"), &sample_ratio, offsetof(struct sample, ratio), false},
    {SHAPE_NAME("When"), &sample_when, offsetof(struct sample, when), false},
    {SHAPE_NAME("Flag"), &sample_flag, offsetof(struct sample, flag), false},
    {SHAPE_NAME("Part"), &sample_part_shape, offsetof(struct sample, part), false},
    {SHAPE_NAME("Parts"), &sample_parts, offsetof(struct sample, parts), false},
    {SHAPE_NAME("Names"), &sample_names, offsetof(struct sample, names), false},
    {SHAPE_NAME("Labels"), &sample_labels, offsetof(struct sample, labels), false},
    {SHAPE_NAME("Requests"), &sample_requests, offsetof(struct sample, requests), false},
    {SHAPE_NAME("Tables"), &sample_tables, offsetof(struct sample, tables), false},
    {SHAPE_NAME("Value"), &sample_value, offsetof(struct sample, value), false},
    {SHAPE_NAME("Item"), &sample_item, offsetof(struct sample, item), false},
    {SHAPE_NAME("Items"), &sample_items, offsetof(struct sample, items), false},
    {SHAPE_NAME("Values"), &sample_values, offsetof(struct sample, values), false},
};
static const struct shape sample_shape = {.kind = SHAPE_STRUCT,
                                          .members = sample_members,
                                          .member_count = COUNT_OF(sample_members),
                                          .size = sizeof(struct sample)};

// A valid request with all of it.
static const char sample_json[] =
    "{\"Text\":\"abc1\",\"Color\":\"GREEN\",\"Blob\":\"AAEC\",\"Limit\":10,"
    "\"Total\":-9223372036854775808,\"Ratio\":0.25,\"When\":1.7e9,\"Flag\":true,"
    "\"Unknown\":{\"deep\":[1,2,{\"x\":null}]},"
    "\"Part\":{\"Name\":\"p\\u00e9\",\"Kind\":\"RED\",\"Units\":7},"
    "\"Parts\":[{\"Name\":\"a\"},{\"Name\":\"b\",\"Units\":2}],"
    "\"Names\":[\"abc\",\"def\",\"ghi\",\"jkl\",\"mno\"],\"Labels\":{\"l1\":\"v1\",\"l2\":\"v2\"},"
    "\"Requests\":{\"table1\":[{\"Name\":\"x\"}],\"table2\":[{\"Name\":\"y\"}]},"
    "\"Tables\":{\"table3\":{\"Name\":\"t\"}},\"Value\":{\"S\":\"v\"},"
    "\"Item\":{\"pk\":{\"S\":\"key\"},\"n\":{\"N\":\"-12.50\"},\"l\":{\"L\":[{\"BOOL\":true},"
    "{\"M\":{\"b\":{\"B\":\"/w==\"},\"a\":{\"NULL\":true}}}]},\"s\":{\"NS\":[\"3\",\"1\"]}},"
    "\"Items\":[{\"a\":{\"S\":\"1\"}},{\"b\":{\"SS\":[\"y\",\"x\"]}}],"
    "\"Values\":{\":a\":{\"N\":\"1\"},\":b\":{\"L\":[]}}}";

#endif
