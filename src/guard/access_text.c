// A plan as text: the JSON of its request, with expressions and placeholders, for a server that may
// be anywhere; and its conditions with names and values in their places, for people. See access.h.
#include "guard/access.h"

enum { TEXT_MAX = 64 << 10 };

// An expression in the making: where names and values go is what its kinds differ in.
struct writer {
    struct buf *out;
    void (*put_name)(struct writer *w, struct slice name);
    void (*put_value)(struct writer *w, struct slice name, struct slice value);
};

// ---- Expressions --------------------------------------------------------------------------------

// "op(path, value)", "path IN (value, value)", "path BETWEEN value AND value", "path op value"
static void put_plain_test(struct writer *w, const struct access_test *test)
{
    bool call = test->op == OP_BEGINS || test->op == OP_CONTAINS || test->op == OP_EXISTS ||
                test->op == OP_MISSING;
    bool list = test->op == OP_IN;
    const char *op = expr_op_text(test->op);
    if (call)
        buf_printf(w->out, "%s(", op);
    for (size_t i = 0; i < test->path.count; i++) {
        buf_text(w->out, i == 0 ? "" : ".");
        w->put_name(w, test->path.steps[i].name);
    }
    if (!call)
        buf_printf(w->out, " %s %s", op, list ? "(" : "");
    for (size_t i = 0; i < test->value_count; i++) {
        if (i > 0 || call)
            buf_text(w->out, call || list ? ", " : " AND ");
        w->put_value(w, test->path.steps[test->path.count - 1].name, test->values[i]);
    }
    if (call || list)
        buf_byte(w->out, ')');
}

static void put_test(struct writer *w, const struct access_test *test)
{
    if (!test->or_null) {
        put_plain_test(w, test);
        return;
    }
    struct access_test null = {
        .path = test->path, .op = OP_EQ, .value_count = 1, .values = test->values};
    buf_byte(w->out, '(');
    put_plain_test(w, test);
    buf_text(w->out, " OR ");
    put_plain_test(w, &null);
    buf_byte(w->out, ')');
}

static void put_tests(struct writer *w, size_t count, const struct access_test *tests)
{
    for (size_t i = 0; i < count; i++) {
        buf_text(w->out, i == 0 ? "" : " AND ");
        put_test(w, &tests[i]);
    }
}

// ---- For people ---------------------------------------------------------------------------------

static void write_name(struct writer *w, struct slice name)
{
    buf_slice(w->out, name);
}

static void write_value(struct writer *w, struct slice name, struct slice value)
{
    (void)name;
    struct json_writer json = json_writer_to(w->out);
    json_plain(&json, value);
}

void access_write_tests(size_t count, const struct access_test *tests, struct buf *out)
{
    struct writer w = {out, write_name, write_value};
    put_tests(&w, count, tests);
}

// ---- Placeholders -------------------------------------------------------------------------------

struct place {
    struct slice placeholder; // "#PK", ":PK"
    struct slice meant;       // the attribute's name; the encoded value
};

// Expressions with placeholders, and what these stand for.
struct placer {
    struct writer writer; // first
    struct arena *arena;
    size_t name_count;
    struct place *names;
    size_t value_count;
    struct place *values;
};

static bool plain_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return name.len > 0 && name.len < 64;
}

static void put_place(struct placer *placer, struct place *places, size_t *count,
                      const char *placeholder, struct slice meant)
{
    if (placeholder == NULL) {
        placer->writer.out->failed = true;
        return;
    }
    places[(*count)++] = (struct place){slice_str(placeholder), meant};
    buf_text(placer->writer.out, placeholder);
}

// Appends the placeholder of a name, which is a new one the first time.
static void place_name(struct writer *w, struct slice name)
{
    struct placer *placer = (struct placer *)w;
    for (size_t i = 0; i < placer->name_count; i++) {
        if (slice_equal(placer->names[i].meant, name)) {
            buf_slice(w->out, placer->names[i].placeholder);
            return;
        }
    }
    put_place(placer, placer->names, &placer->name_count,
              plain_name(name) ? arena_printf(placer->arena, "#%.*s", SLICE_FMT(name))
                               : arena_printf(placer->arena, "#n_%zu", placer->name_count),
              name);
}

// Appends a placeholder for a value: after the attribute, numbered if there is one already.
static void place_value(struct writer *w, struct slice name, struct slice value)
{
    struct placer *placer = (struct placer *)w;
    size_t same = 0;
    char *base = plain_name(name) ? arena_printf(placer->arena, ":%.*s", SLICE_FMT(name))
                                  : arena_printf(placer->arena, ":v");
    for (size_t i = 0; base != NULL && i < placer->value_count; i++)
        same += slice_begins(placer->values[i].placeholder, slice_str(base));
    if (base != NULL && same > 0)
        base = arena_printf(placer->arena, "%s_%zu", base, same + 1);
    put_place(placer, placer->values, &placer->value_count, base, value);
}

static void count_places(size_t count, const struct access_test *tests, size_t *names,
                         size_t *values)
{
    for (size_t i = 0; i < count; i++) {
        *names += tests[i].path.count;
        *values += tests[i].value_count + tests[i].or_null;
    }
}

static bool placer_init(struct placer *placer, const struct access_plan *plan, struct buf *out)
{
    size_t names = 1;
    size_t values = 1;
    count_places(plan->key_count, plan->keys, &names, &values);
    count_places(plan->filter_count, plan->filters, &names, &values);
    *placer = (struct placer){
        .writer = {out, place_name, place_value},
        .arena = plan->arena,
        .names = arena_zalloc(plan->arena, names, sizeof(*placer->names)),
        .values = arena_zalloc(plan->arena, values, sizeof(*placer->values)),
    };
    return placer->names != NULL && placer->values != NULL;
}

// ---- JSON -----------------------------------------------------------------------------------

static void write_expression(struct json_writer *w, const char *name, struct placer *placer,
                             size_t count, const struct access_test *tests)
{
    struct buf *text = placer->writer.out;
    put_tests(&placer->writer, count, tests);
    json_put_given(w, name, buf_view(text));
    w->out->failed = w->out->failed || text->failed;
    buf_clear(text);
}

static void write_places(struct json_writer *w, const char *name, size_t count,
                         const struct place *places, bool values)
{
    json_put_object(w, name);
    for (size_t i = 0; i < count; i++) {
        json_name_slice(w, places[i].placeholder);
        (values ? json_value : json_string)(w, places[i].meant);
    }
    json_close_object(w);
}

static void write_conditions(const struct access_plan *plan, struct json_writer *w)
{
    struct placer placer;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    if (placer_init(&placer, plan, &text)) {
        write_expression(w, "KeyConditionExpression", &placer, plan->key_count, plan->keys);
        write_expression(w, "FilterExpression", &placer, plan->filter_count, plan->filters);
        write_places(w, "ExpressionAttributeNames", placer.name_count, placer.names, false);
        write_places(w, "ExpressionAttributeValues", placer.value_count, placer.values, true);
    } else {
        w->out->failed = true;
    }
    buf_release(&text);
}

static void write_query(const struct access_plan *plan, struct json_writer *w)
{
    const struct model_access *access = plan->access;
    if (access->index != NULL)
        json_put_given(w, "IndexName", access->index->name);
    write_conditions(plan, w);
    if (access->count)
        json_put_text(w, "Select", "COUNT");
    json_put_flag(w, "ScanIndexForward", !access->descending);
    if (plan->limit > 0)
        json_put_integer(w, "Limit", (int64_t)plan->limit);
    json_put_item(w, "ExclusiveStartKey", plan->after);
}

void access_request(const struct access_plan *plan, struct json_writer *w)
{
    const struct model_access *access = plan->access;
    json_open_object(w);
    json_put_given(w, "TableName", access->table->name);
    if (access->get) {
        json_name(w, "Key");
        json_item(w, plan->key);
    } else {
        write_query(plan, w);
    }
    if (access->consistent)
        json_put_flag(w, "ConsistentRead", true);
    if (plan->capacity)
        json_put_text(w, "ReturnConsumedCapacity", "INDEXES");
    json_close_object(w);
}
