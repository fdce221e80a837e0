// Looks for expressions that are slow: the input is an expression, its kind, and which of some
// items as large as an item may be it is run on.
//
// Two things must hold. The steps of one run are bounded by the item once, plus what each operator
// and operand can touch: never more than (operators + 2) times item and placeholders, plus the
// program. And steps tell the truth: where a run takes long, it has counted about as many steps as
// that takes. A finding is one that breaks the first rule, or that took SLOW_NS of processor time,
// at more than STEP_NS a step, three times in a row; the sanitizers make everything a few times
// slower.
#include "fuzz.h"

#include "expr/expr.h"
#include "expr/fixture.h"

#include <time.h>

enum {
    SLOW_NS = 50000000, // what is faster than this is not judged
    STEP_NS = 100,      // 4 ns without sanitizers
    ELEMENTS = 39000,
    ENTRIES = 11600,
    MEMBERS = 12000,
    TEXT = 80000,
    PATTERN = 2000,
};

enum shape { SHAPE_LIST, SHAPE_TEXT, SHAPE_SET, SHAPE_MAP, SHAPE_WIDE, SHAPE_LISTS, SHAPES };

enum { RUN_CONDITION, RUN_PROJECTION, RUN_UPDATE, RUN_LEGACY, RUNS };

struct slow {
    struct fixture fixture;
    struct slice items[SHAPES];
    struct buf out;
    struct value_builder builder;
};

// ---- Items
// ---------------------------------------------------------------------------------------

static void put_list(struct value_builder *builder, size_t count)
{
    value_open_list(builder);
    for (size_t i = 0; i < count; i++)
        value_put_null(builder);
    (void)value_close(builder);
}

static void put_entries(struct value_builder *builder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[24];
        (void)snprintf(name, sizeof(name), "a%05zx", i);
        value_name(builder, slice_str(name));
        value_put_null(builder);
    }
}

static void put_members(struct value_builder *builder)
{
    value_open_set(builder, VALUE_SS);
    for (size_t i = 0; i < MEMBERS; i++) {
        char member[8];
        (void)snprintf(member, sizeof(member), "b%05zx", i);
        value_member(builder, slice_str(member));
    }
    (void)value_close(builder);
}

static void put_large(struct value_builder *builder, enum shape shape)
{
    static uint8_t text[TEXT];
    memset(text, 'a', sizeof(text));
    switch (shape) {
    case SHAPE_LIST:
        put_list(builder, ELEMENTS);
        break;
    case SHAPE_TEXT:
        value_put_string(builder, slice_of(text, sizeof(text)));
        break;
    case SHAPE_SET:
        put_members(builder);
        break;
    case SHAPE_MAP:
        value_open_map(builder);
        put_entries(builder, ENTRIES);
        (void)value_close(builder);
        break;
    default:
        value_open_list(builder);
        for (int i = 0; i < 4; i++)
            put_list(builder, ELEMENTS / 4);
        (void)value_close(builder);
        break;
    }
}

static struct slice make_item(enum shape shape)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 2 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    if (shape == SHAPE_WIDE) {
        put_entries(&builder, ENTRIES);
    } else {
        value_name(&builder, SLICE_LIT("x"));
        put_large(&builder, shape);
    }
    (void)value_close(&builder);
    value_builder_release(&builder);
    ensure(!out.failed);
    return buf_view(&out); // kept for ever
}

// {:l=[1], :n=1, :p="aaa…b", :s="a", :t=<"x">}
static struct slice make_values(struct fixture *fixture)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_text(&text, "{:l=[1], :n=1, :p=\"");
    for (int i = 0; i < PATTERN; i++)
        buf_byte(&text, 'a');
    buf_text(&text, "b\", :s=\"a\", :t=<\"x\">}");
    buf_byte(&text, 0);
    struct slice values = fixture_value(fixture, (const char *)text.ptr);
    buf_release(&text);
    return values;
}

static struct slow *slow_begin(void)
{
    static struct slow slow;
    static bool made;
    if (!made) {
        fixture_init(&slow.fixture);
        slow.fixture.values = make_values(&slow.fixture);
        for (unsigned i = 0; i < SHAPES; i++)
            slow.items[i] = make_item((enum shape)i);
        buf_init(&slow.out, 64 << 20);
        value_builder_init(&slow.builder, &slow.out);
        made = true;
    }
    ensure(fixture_begin(&slow.fixture));
    return &slow;
}

// ---- Runs
// ----------------------------------------------------------------------------------------

struct program {
    struct expr_condition *condition;
    struct expr_projection *projection;
    struct expr_update *update;
};

// Entries of a filter of the old parameters, one for each byte.
static struct expr_condition *legacy_filter(struct slow *slow, struct slice text)
{
    static const char *const names[] = {"x", "a00000", "a02d4f", "zz"};
    static const char *const ops[] = {"CONTAINS",    "NOT_CONTAINS", "NULL",
                                      "BEGINS_WITH", "EQ",           "LT"};
    struct fixture *fixture = &slow->fixture;
    size_t count = text.len < LIMIT_OPERATORS ? text.len : LIMIT_OPERATORS;
    struct legacy_condition *entries = arena_zalloc(&fixture->arena, count + 1, sizeof(*entries));
    struct slice *value = arena_zalloc(&fixture->arena, 1, sizeof(*value));
    ensure(entries != NULL && value != NULL);
    *value = value_get(fixture->values, SLICE_LIT(":p"));
    for (size_t i = 0; i < count; i++) {
        const char *op = ops[text.ptr[i] / 4 % COUNT_OF(ops)];
        bool none = strcmp(op, "NULL") == 0;
        entries[i] =
            (struct legacy_condition){.attribute = slice_str(names[text.ptr[i] % COUNT_OF(names)]),
                                      .op = slice_str(op),
                                      .count = none ? 0 : 1,
                                      .values = value,
                                      .has_list = !none};
    }
    return expr_legacy_condition(&fixture->arena, &fixture->error, LEGACY_SCAN_FILTER, count,
                                 entries, true);
}

static bool compile(struct slow *slow, unsigned kind, struct slice text, struct program *out)
{
    struct expr_params *params = &slow->fixture.params;
    *out = (struct program){.condition = NULL};
    switch (kind) {
    case RUN_CONDITION:
        out->condition = expr_compile_condition(params, text, EXPR_FILTER);
        return out->condition != NULL;
    case RUN_PROJECTION:
        out->projection = expr_compile_projection(params, text);
        return out->projection != NULL;
    case RUN_UPDATE:
        out->update = expr_compile_update(params, text);
        return out->update != NULL;
    default:
        out->condition = legacy_filter(slow, text);
        return out->condition != NULL;
    }
}

static int64_t processor_ns(void)
{
    struct timespec now;
    ensure(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Runs the program once; returns the processor time it took.
static int64_t run(struct slow *slow, const struct program *program, struct slice item,
                   struct steps *steps)
{
    struct error error;
    error_init(&error, &slow->fixture.arena);
    buf_clear(&slow->out);
    value_builder_reset(&slow->builder);
    *steps = (struct steps){0};
    int64_t start = processor_ns();
    if (program->condition != NULL)
        (void)expr_condition_eval(program->condition, item, steps);
    if (program->projection != NULL)
        expr_project(program->projection, item, &slow->builder, steps);
    if (program->update != NULL && !expr_update_apply(program->update, item, &slow->builder,
                                                      &slow->fixture.arena, steps, &error))
        ensure(error.code == ERR_VALIDATION);
    return processor_ns() - start;
}

static bool is_slow(int64_t ns, const struct steps *steps)
{
    return ns > SLOW_NS && (uint64_t)ns / STEP_NS > steps->taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct slow *slow = slow_begin();
    struct slice item = slow->items[fuzz_byte(&in) % SHAPES];
    unsigned kind = fuzz_byte(&in) % RUNS;
    struct program program;
    if (!compile(slow, kind, in, &program))
        return 0;
    struct steps steps;
    int64_t ns = run(slow, &program, item, &steps);
    // No more operators than LIMIT_OPERATORS, and no more than there are bytes.
    size_t operators = in.len > LIMIT_OPERATORS ? LIMIT_OPERATORS : in.len;
    size_t touched = item.len + slow->fixture.values.len;
    ensure(steps.taken <= (operators + 2) * touched + 2 * in.len);
    for (int again = 0; is_slow(ns, &steps) && again < 2; again++)
        ns = run(slow, &program, item, &steps);
    ensure(!is_slow(ns, &steps));
    return 0;
}
