// Tests of rules: each operator by hand, and random tests against a reference that knows only
// three-valued logic and small numbers.
#include "guard/guard_support.h"

#include "eval/test.h"
#include "value/number.h"

static const char source[] = "table things { key id }\n"
                             "entity Thing {\n"
                             "  id string\n"
                             "  a number?\n"
                             "  b number?\n"
                             "  text string?\n"
                             "  other string?\n"
                             "  at timestamp(any)?\n"
                             "  until timestamp(any)?\n"
                             "  seconds epoch?\n"
                             "  day date?\n"
                             "  list any?\n"
                             "  inner { seed: number? }?\n"
                             "}\n";

// ---- Tests made by hand -----------------------------------------------------------------------

static struct model_expr *expr_new(struct fixture *fixture, enum model_expr_kind kind)
{
    struct model_expr *expr = arena_zalloc(&fixture->arena, 1, sizeof(*expr));
    assert_non_null(expr);
    expr->kind = kind;
    return expr;
}

// "inner.seed"
static struct model_expr *path_of(struct fixture *fixture, const char *text)
{
    struct model_expr *expr = expr_new(fixture, MODEL_EXPR_PATH);
    struct slice *steps = arena_zalloc(&fixture->arena, 2, sizeof(*steps));
    const char *dot = strchr(text, '.');
    expr->step_count = dot == NULL ? 1 : 2;
    steps[0] = dot == NULL ? slice_str(text) : slice_of(text, (size_t)(dot - text));
    if (dot != NULL)
        steps[1] = slice_str(dot + 1);
    expr->steps = steps;
    expr->attribute = model_entity_attribute(&fixture->table->entities[0], steps[0]);
    return expr;
}

static const struct model_expr *expr_of(struct fixture *fixture, const char *text);

// The value of a JSON text, which is wrapped to be an item.
static struct slice value_of(struct fixture *fixture, const char *text)
{
    const char *wrapped = arena_printf(&fixture->arena, "{\"x\":%s}", text);
    return value_get(item_of(&fixture->arena, wrapped), SLICE_LIT("x"));
}

// "sum" is at + 60, "later" 60 + at, "difference" at - 60, "span" until - at, "either" at ?? text.
static const struct model_expr *sum_of(struct fixture *fixture, const char *text)
{
    static const struct {
        const char *name;
        enum model_expr_kind kind;
        const char *args[2];
    } sums[] = {
        {"sum", MODEL_EXPR_ADD, {"at", "60"}},
        {"later", MODEL_EXPR_ADD, {"60", "at"}},
        {"difference", MODEL_EXPR_SUBTRACT, {"at", "60"}},
        {"span", MODEL_EXPR_SUBTRACT, {"until", "at"}},
        {"either", MODEL_EXPR_ELSE, {"at", "text"}},
    };
    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        if (strcmp(text, sums[i].name) != 0)
            continue;
        struct model_expr *sum = expr_new(fixture, sums[i].kind);
        sum->args = arena_zalloc(&fixture->arena, 2, sizeof(*sum->args));
        sum->arg_count = 2;
        for (size_t k = 0; k < 2; k++)
            sum->args[k] = expr_of(fixture, sums[i].args[k]);
        return sum;
    }
    return NULL;
}

// "now", "now+10", a sum, a path, or a JSON value.
static const struct model_expr *expr_of(struct fixture *fixture, const char *text)
{
    if (text == NULL)
        return NULL;
    if (strncmp(text, "now", 3) == 0) {
        struct model_expr *now = expr_new(fixture, MODEL_EXPR_CALL);
        now->function = MODEL_FN_NOW;
        if (text[3] == 0)
            return now;
        struct model_expr *sum = expr_new(fixture, MODEL_EXPR_ADD);
        sum->args = arena_zalloc(&fixture->arena, 2, sizeof(*sum->args));
        sum->arg_count = 2;
        sum->args[0] = now;
        sum->args[1] = expr_of(fixture, text + 4);
        return sum;
    }
    const struct model_expr *sum = sum_of(fixture, text);
    if (sum != NULL)
        return sum;
    if ((text[0] >= 'a' && text[0] <= 'z') && strcmp(text, "true") != 0)
        return path_of(fixture, text);
    struct model_expr *value = expr_new(fixture, MODEL_EXPR_VALUE);
    value->value = value_of(fixture, text);
    return value;
}

static enum model_op op_of(const char *text)
{
    for (size_t i = 0; i < MODEL_OPS; i++)
        if (strcmp(model_op_words[i], text) == 0)
            return (enum model_op)i;
    fail_msg("%s is no operator", text);
    return MODEL_OPS;
}

struct asked {
    const char *left;
    const char *op;
    const char *first;
    const char *second;
};

static struct model_comparison comparison_of(struct fixture *fixture, struct asked asked)
{
    return (struct model_comparison){
        .left = expr_of(fixture, asked.left),
        .op = op_of(asked.op),
        .values = {expr_of(fixture, asked.first), expr_of(fixture, asked.second)}};
}

static struct model_scope scope_of(struct fixture *fixture, const char *before, const char *item)
{
    return (struct model_scope){.item = item_of(&fixture->arena, item),
                                .before = item_of(&fixture->arena, before),
                                .env = &fixture->env,
                                .arena = &fixture->arena};
}

// ---- One by one ---------------------------------------------------------------------------------

struct test_case {
    struct asked asked;
    const char *item;
    const char *before;
    bool when;
    bool check;
};

static const struct test_case cases[] = {
    {{"a", "=", "1", NULL}, "{\"a\":1.0}", NULL, true, true},
    {{"a", "=", "1", NULL}, "{\"a\":2}", NULL, false, false},
    {{"a", "=", "1", NULL}, "{}", NULL, false, true},
    {{"a", "=", "1", NULL}, "{\"a\":null}", NULL, false, true},
    {{"a", "=", "\"1\"", NULL}, "{\"a\":1}", NULL, false, false},
    {{"a", "!=", "\"1\"", NULL}, "{\"a\":1}", NULL, true, true},
    {{"a", "!=", "b", NULL}, "{\"a\":1}", NULL, false, true},
    {{"a", "<", "b", NULL}, "{\"a\":9,\"b\":10}", NULL, true, true},
    {{"a", "<", "b", NULL}, "{\"a\":-9,\"b\":-10}", NULL, false, false},
    {{"a", "<=", "b", NULL}, "{\"a\":5,\"b\":5}", NULL, true, true},
    {{"a", ">", "b", NULL}, "{\"a\":5,\"b\":5}", NULL, false, false},
    {{"a", ">=", "b", NULL}, "{\"a\":5,\"b\":5}", NULL, true, true},
    {{"a", ">=", "b", NULL}, "{\"a\":5,\"b\":\"x\"}", NULL, false, false},
    {{"text", "<", "other", NULL}, "{\"text\":\"10\",\"other\":\"9\"}", NULL, true, true},
    {{"text", "begins", "\"ab\"", NULL}, "{\"text\":\"abc\"}", NULL, true, true},
    {{"text", "begins", "\"bc\"", NULL}, "{\"text\":\"abc\"}", NULL, false, false},
    {{"a", "begins", "\"1\"", NULL}, "{\"a\":1}", NULL, false, false},
    {{"text", "contains", "\"bc\"", NULL}, "{\"text\":\"abcd\"}", NULL, true, true},
    {{"text", "contains", "\"x\"", NULL}, "{\"text\":\"abcd\"}", NULL, false, false},
    {{"text", "contains", "1", NULL}, "{\"text\":\"a1\"}", NULL, false, false},
    {{"text", "contains", "other", NULL}, "{\"text\":\"abcd\"}", NULL, false, true},
    {{"list", "contains", "2", NULL}, "{\"list\":[1,2]}", NULL, true, true},
    {{"list", "contains", "\"2\"", NULL}, "{\"list\":[1,2]}", NULL, false, false},
    {{"list", "contains", "2", NULL}, "{\"list\":{\"a\":2}}", NULL, false, false},
    {{"list", "=", "[1,2]", NULL}, "{\"list\":[1,2]}", NULL, true, true},
    {{"list", "<", "[3]", NULL}, "{\"list\":[1,2]}", NULL, false, false},
    {{"list", "=", "true", NULL}, "{\"list\":true}", NULL, true, true},
    {{"a", "between", "1", "3"}, "{\"a\":3}", NULL, true, true},
    {{"a", "between", "1", "3"}, "{\"a\":4}", NULL, false, false},
    {{"a", "between", "1", "3"}, "{\"a\":0}", NULL, false, false},
    {{"a", "between", "1", "b"}, "{\"a\":0}", NULL, false, false},
    {{"a", "between", "1", "b"}, "{\"a\":5}", NULL, false, true},
    {{"a", "between", "b", "3"}, "{\"a\":5}", NULL, false, false},
    {{"a", "exists", NULL, NULL}, "{\"a\":0}", NULL, true, true},
    {{"a", "exists", NULL, NULL}, "{}", NULL, false, false},
    {{"a", "exists", NULL, NULL}, "{\"a\":null}", NULL, false, false},
    {{"a", "missing", NULL, NULL}, "{\"a\":null}", NULL, true, true},
    {{"a", "missing", NULL, NULL}, "{\"a\":1}", NULL, false, false},
    {{"inner.seed", "exists", NULL, NULL}, "{\"inner\":{\"seed\":1}}", NULL, true, true},
    {{"inner.seed", "exists", NULL, NULL}, "{\"inner\":{}}", NULL, false, false},
    {{"a", "changed", NULL, NULL}, "{\"a\":1}", NULL, true, true},
    {{"a", "changed", NULL, NULL}, "{\"a\":null}", NULL, false, false},
    {{"a", "changed", NULL, NULL}, "{}", "{\"a\":null}", false, false},
    {{"a", "changed", NULL, NULL}, "{\"a\":1}", "{\"a\":1}", false, false},
    {{"a", "changed", NULL, NULL}, "{\"a\":1}", "{\"a\":2}", true, true},
    {{"a", "changed", NULL, NULL}, NULL, "{\"a\":2}", true, true},
    {{"inner.seed", "changed", NULL, NULL},
     "{\"inner\":{\"seed\":1}}",
     "{\"inner\":{\"seed\":2}}",
     true,
     true},
    {{"inner.seed", "changed", NULL, NULL},
     "{\"inner\":{\"seed\":1}}",
     "{\"inner\":{\"seed\":1}}",
     false,
     false},
    // Times, whatever they are written as.
    {{"at", "<", "until", NULL},
     "{\"at\":\"2026-11-16T10:00:00+02:00\",\"until\":\"2026-11-16T09:00:00Z\"}",
     NULL,
     true,
     true},
    {{"at", "=", "until", NULL},
     "{\"at\":\"2026-11-16T10:00:00.50+02:00\",\"until\":\"2026-11-16T08:00:00.5Z\"}",
     NULL,
     true,
     true},
    {{"at", "<", "until", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\",\"until\":\"2026-11-16T08:00:00.001Z\"}",
     NULL,
     true,
     true},
    {{"at", ">", "day", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\",\"day\":\"2026-11-16\"}",
     NULL,
     true,
     true},
    {{"at", ">", "seconds", NULL},
     "{\"at\":\"1970-01-01T00:00:10Z\",\"seconds\":9}",
     NULL,
     true,
     true},
    {{"at", "<", "now", NULL}, "{\"at\":\"2026-11-16T03:40:00.122Z\"}", NULL, true, true},
    {{"at", "<", "now", NULL}, "{\"at\":\"2026-11-16T03:40:00.123Z\"}", NULL, false, false},
    {{"seconds", ">=", "now", NULL}, "{\"seconds\":1794800400}", NULL, true, true},
    {{"day", "=", "now", NULL}, "{\"day\":\"2026-11-16\"}", NULL, true, true},
    {{"seconds", "=", "now+10", NULL}, "{\"seconds\":1794800410}", NULL, true, true},
    {{"now", "<", "seconds", NULL}, "{\"seconds\":1794800400}", NULL, false, false},
    // A literal is a time where the other side is one; sums keep their kind, differences are
    // seconds.
    {{"at", "=", "\"2026-11-16T10:00:00+02:00\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     true,
     true},
    {{"text", "=", "\"2026-11-16T10:00:00+02:00\"", NULL},
     "{\"text\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     false,
     false},
    {{"sum", ">", "\"2026-11-16T10:00:10+02:00\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     true,
     true},
    {{"difference", "<", "\"2026-11-16T10:00:00+02:00\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     true,
     true},
    {{"span", "=", "60", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\",\"until\":\"2026-11-16T08:01:00Z\"}",
     NULL,
     true,
     true},
    {{"span", "<", "7", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\",\"until\":\"2026-11-16T08:01:00Z\"}",
     NULL,
     false,
     false},
    {{"at", "<", "until", NULL}, "{\"at\":\"soon\",\"until\":\"then\"}", NULL, true, true},
    {{"span", "=", "\"1970-01-01T00:01:00Z\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\",\"until\":\"2026-11-16T08:01:00Z\"}",
     NULL,
     false,
     false},
    {{"later", "=", "\"2026-11-16T10:01:00+02:00\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     true,
     true},
    {{"either", "=", "\"2026-11-16T10:00:00+02:00\"", NULL},
     "{\"at\":\"2026-11-16T08:00:00Z\"}",
     NULL,
     true,
     true},
    // Fractions: each digit counts, and those that are not written are zeros.
    {{"at", "<", "until", NULL},
     "{\"at\":\"2026-11-16T08:00:00.5Z\",\"until\":\"2026-11-16T08:00:00.6Z\"}",
     NULL,
     true,
     true},
    {{"at", ">", "until", NULL},
     "{\"at\":\"2026-11-16T08:00:00.6Z\",\"until\":\"2026-11-16T08:00:00.5Z\"}",
     NULL,
     true,
     true},
    {{"at", "=", "until", NULL},
     "{\"at\":\"2026-11-16T08:00:00.5Z\",\"until\":\"2026-11-16T10:00:00.500+02:00\"}",
     NULL,
     true,
     true},
    {{"list", "contains", "\"a\"", NULL}, "{\"list\":{\"a\":2}}", NULL, false, false},
    {{"list", "contains", "true", NULL}, "{\"list\":true}", NULL, false, false},
};

// What lint asks of an order that it knows.
static void test_orders(void **state)
{
    (void)state;
    static const struct {
        enum model_op op;
        bool holds[3]; // less, equal, more
    } rows[] = {
        {MODEL_OP_EQUAL, {false, true, false}},   {MODEL_OP_LESS, {true, false, false}},
        {MODEL_OP_AT_MOST, {true, true, false}},  {MODEL_OP_MORE, {false, false, true}},
        {MODEL_OP_AT_LEAST, {false, true, true}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int order = -1; order <= 1; order++)
            assert_int_equal(model_order_holds(rows[i].op, order), rows[i].holds[order + 1]);
}

static void test_comparisons(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct model_comparison comparison = comparison_of(&fixture, cases[i].asked);
        struct model_clause clause = {1, &comparison};
        struct model_test test = {.clause_count = 1, .clauses = &clause};
        struct steps steps = {.limit = 0};
        struct model_scope scope = scope_of(&fixture, cases[i].before, cases[i].item);
        scope.steps = &steps;
        bool when = model_test_when(&test, &scope) == TEST_YES;
        bool check = model_test_check(&test, &scope) == TEST_YES;
        if (when != cases[i].when || check != cases[i].check)
            fail_msg("case %zu: %s %s %s of %s: when %d, check %d", i, cases[i].asked.left,
                     cases[i].asked.op, cases[i].asked.first == NULL ? "" : cases[i].asked.first,
                     cases[i].item == NULL ? "nothing" : cases[i].item, when, check);
        assert_true(steps.taken > 0);
    }
    fixture_release(&fixture);
}

// Sets and binary, which plain JSON does not have.
static void test_sets(void **state)
{
    (void)state;
    static const uint8_t strings[] = {VALUE_TAG_SS, 5, 0, 0, 0, 2, 1, 'a', 1, 'b'};
    static const uint8_t binaries[] = {VALUE_TAG_BS, 5, 0, 0, 0, 2, 1, 'a', 1, 'b'};
    static const uint8_t text[] = {VALUE_TAG_S, 1, 'b'};
    static const uint8_t other[] = {VALUE_TAG_S, 1, 'c'};
    static const uint8_t binary[] = {VALUE_TAG_B, 1, 'b'};
    static const uint8_t less[] = {VALUE_TAG_B, 1, 'a'};
    static const struct {
        struct slice left;
        enum model_op op;
        struct slice right;
        enum test_answer answer;
    } rows[] = {
#define BYTES(array) {array, sizeof(array)}
        {BYTES(strings), MODEL_OP_CONTAINS, BYTES(text), TEST_YES},
        {BYTES(strings), MODEL_OP_CONTAINS, BYTES(other), TEST_NO},
        {BYTES(strings), MODEL_OP_CONTAINS, BYTES(binary), TEST_NO},
        {BYTES(binaries), MODEL_OP_CONTAINS, BYTES(binary), TEST_YES},
        {BYTES(binaries), MODEL_OP_CONTAINS, BYTES(text), TEST_NO},
        {BYTES(text), MODEL_OP_CONTAINS, BYTES(binary), TEST_NO},
        {BYTES(strings), MODEL_OP_EQUAL, BYTES(strings), TEST_YES},
        {BYTES(binary), MODEL_OP_MORE, BYTES(less), TEST_YES},
        {BYTES(binary), MODEL_OP_LESS, BYTES(less), TEST_NO},
        {BYTES(binary), MODEL_OP_BEGINS, BYTES(binary), TEST_YES},
    };
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct model_expr sides[2] = {{.kind = MODEL_EXPR_VALUE, .value = rows[i].left},
                                      {.kind = MODEL_EXPR_VALUE, .value = rows[i].right}};
        struct model_comparison comparison = {
            .left = &sides[0], .op = rows[i].op, .values = {&sides[1], NULL}};
        struct model_clause clause = {1, &comparison};
        struct model_test test = {.clause_count = 1, .clauses = &clause};
        struct model_scope scope = scope_of(&fixture, NULL, "{}");
        if (model_test_when(&test, &scope) != rows[i].answer)
            fail_msg("row %zu", i);
    }
    fixture_release(&fixture);
}

static void test_number_sets(void **state)
{
    (void)state;
    uint8_t seven[2 + NUMBER_BYTES_MAX] = {VALUE_TAG_N};
    uint8_t numbers[8 + NUMBER_BYTES_MAX] = {VALUE_TAG_NS};
    static const uint8_t text[] = {VALUE_TAG_S, 1, '7'};
    size_t len = number_from_i64(7, seven + 2);
    seven[1] = (uint8_t)len;
    numbers[1] = (uint8_t)(len + 2); // of the body: the count, and one member
    numbers[5] = 1;
    numbers[6] = (uint8_t)len;
    memcpy(numbers + 7, seven + 2, len);
    const struct slice parts[] = {slice_of(seven, len + 2), slice_of(text, sizeof(text))};
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct model_expr sides[2] = {
            {.kind = MODEL_EXPR_VALUE, .value = slice_of(numbers, len + 7)},
            {.kind = MODEL_EXPR_VALUE, .value = parts[i]}};
        struct model_comparison comparison = {
            .left = &sides[0], .op = MODEL_OP_CONTAINS, .values = {&sides[1], NULL}};
        struct model_clause clause = {1, &comparison};
        struct model_test test = {.clause_count = 1, .clauses = &clause};
        struct model_scope scope = scope_of(&fixture, NULL, "{}");
        assert_int_equal(model_test_when(&test, &scope), i == 0 ? TEST_YES : TEST_NO);
    }
    fixture_release(&fixture);
}

// The entity's values by place, as the guard has them, instead of an item.
static void test_values(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    const struct model_entity *entity = &fixture.table->entities[0];
    struct slice values[16] = {{NULL, 0}};
    const struct model_attribute *a = model_entity_attribute(entity, SLICE_LIT("a"));
    values[a - entity->attributes] = value_of(&fixture, "5");
    struct model_comparison list[2] = {
        comparison_of(&fixture, (struct asked){"a", "=", "5", NULL}),
        comparison_of(&fixture, (struct asked){"a", "changed", NULL, NULL})};
    struct model_clause clause = {2, list};
    struct model_test test = {.clause_count = 1, .clauses = &clause};
    struct model_scope scope = scope_of(&fixture, "{\"a\":5}", NULL);
    scope.entity = entity;
    scope.values = values;
    assert_int_equal(model_test_when(&test, &scope), TEST_NO);
    scope.before = item_of(&fixture.arena, "{\"a\":4}");
    assert_int_equal(model_test_when(&test, &scope), TEST_YES);
    fixture_release(&fixture);
}

static void test_budget(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    struct model_comparison comparison =
        comparison_of(&fixture, (struct asked){"at", "<", "now", NULL});
    struct model_clause clause = {1, &comparison};
    struct model_test test = {.clause_count = 1, .clauses = &clause};
    struct model_scope scope = scope_of(&fixture, NULL, "{\"at\":\"2026-11-16T03:40:00.122Z\"}");
    struct arena none;
    arena_init(&none, 1);
    scope.arena = &none;
    assert_int_equal(model_test_when(&test, &scope), TEST_BUDGET);
    assert_int_equal(model_test_check(&test, &scope), TEST_BUDGET);
    arena_release(&none);
    fixture_release(&fixture);
}

// ---- Random tests, and what is true of them -----------------------------------------------------

enum truth { FALSE_, UNKNOWN, TRUE_ };

static uint32_t chance(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

// a and b are missing (-1) or 0..3, before and after.
struct world {
    int now[2];
    int old[2];
};

struct atom {
    int left; // 0 or 1
    enum model_op op;
    int right; // 0 or 1: an attribute; 2..5: a number; of BETWEEN, the lower one
    int high;
};

static int atom_value(const struct world *world, int which)
{
    return which < 2 ? world->now[which] : which - 2;
}

static enum truth atom_order(enum model_op op, int a, int b)
{
    if (a < 0 || b < 0)
        return UNKNOWN;
    bool holds = op == MODEL_OP_EQUAL       ? a == b
                 : op == MODEL_OP_NOT_EQUAL ? a != b
                 : op == MODEL_OP_LESS      ? a < b
                 : op == MODEL_OP_AT_MOST   ? a <= b
                 : op == MODEL_OP_MORE      ? a > b
                                            : a >= b;
    return holds ? TRUE_ : FALSE_;
}

static enum truth least(enum truth a, enum truth b)
{
    return a < b ? a : b;
}

static enum truth atom_truth(const struct world *world, const struct atom *atom)
{
    int a = world->now[atom->left];
    if (atom->op == MODEL_OP_EXISTS || atom->op == MODEL_OP_MISSING)
        return (a >= 0) == (atom->op == MODEL_OP_EXISTS) ? TRUE_ : FALSE_;
    if (atom->op == MODEL_OP_CHANGED)
        return a != world->old[atom->left] ? TRUE_ : FALSE_;
    if (atom->op == MODEL_OP_BETWEEN)
        return least(atom_order(MODEL_OP_AT_LEAST, a, atom_value(world, atom->right)),
                     atom_order(MODEL_OP_AT_MOST, a, atom_value(world, atom->high)));
    return atom_order(atom->op, a, atom_value(world, atom->right));
}

static const char *atom_name(int which)
{
    static const char *const names[] = {"a", "b", "0", "1", "2", "3"};
    return names[which];
}

static const char *world_text(struct fixture *fixture, const int values[2])
{
    const char *parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = values[i] >= 0
                       ? arena_printf(&fixture->arena, "\"%s\":%d", atom_name(i), values[i])
                       : arena_printf(&fixture->arena, "\"%s\":null", atom_name(i));
    return arena_printf(&fixture->arena, "{%s,%s}", parts[0], parts[1]);
}

enum { CLAUSES = 3, ATOMS = 3 };

static void random_test(struct fixture *fixture, uint64_t *seed)
{
    static const enum model_op ops[] = {
        MODEL_OP_EQUAL,    MODEL_OP_NOT_EQUAL, MODEL_OP_LESS,   MODEL_OP_AT_MOST, MODEL_OP_MORE,
        MODEL_OP_AT_LEAST, MODEL_OP_BETWEEN,   MODEL_OP_EXISTS, MODEL_OP_MISSING, MODEL_OP_CHANGED};
    struct world world;
    for (int i = 0; i < 2; i++) {
        world.now[i] = (int)chance(seed, 5) - 1;
        world.old[i] = (int)chance(seed, 5) - 1;
    }
    struct model_comparison list[CLAUSES][ATOMS];
    struct model_clause clauses[CLAUSES];
    size_t count = 1 + chance(seed, CLAUSES);
    enum truth kleene = FALSE_;
    bool strict = false;
    for (size_t i = 0; i < count; i++) {
        clauses[i] = (struct model_clause){1 + chance(seed, ATOMS), list[i]};
        enum truth all = TRUE_;
        bool holds = true;
        for (size_t k = 0; k < clauses[i].count; k++) {
            struct atom atom = {(int)chance(seed, 2), ops[chance(seed, COUNT_OF(ops))],
                                (int)chance(seed, 6), (int)chance(seed, 6)};
            bool unary = atom.op == MODEL_OP_EXISTS || atom.op == MODEL_OP_MISSING ||
                         atom.op == MODEL_OP_CHANGED;
            struct asked asked = {atom_name(atom.left), model_op_words[atom.op],
                                  unary ? NULL : atom_name(atom.right),
                                  atom.op == MODEL_OP_BETWEEN ? atom_name(atom.high) : NULL};
            list[i][k] = comparison_of(fixture, asked);
            enum truth truth = atom_truth(&world, &atom);
            all = least(all, truth);
            holds = holds && truth == TRUE_;
        }
        kleene = all > kleene ? all : kleene;
        strict = strict || holds;
    }
    struct model_test test = {.clause_count = count, .clauses = clauses};
    struct model_scope scope =
        scope_of(fixture, world_text(fixture, world.old), world_text(fixture, world.now));
    assert_int_equal(model_test_when(&test, &scope), strict ? TEST_YES : TEST_NO);
    assert_int_equal(model_test_check(&test, &scope), kleene != FALSE_ ? TEST_YES : TEST_NO);
}

static void test_random(void **state)
{
    (void)state;
    enum { ROUNDS = 20000, ROUNDS_EACH = 1000 };
    uint64_t seed = 13;
    for (int round = 0; round < ROUNDS / ROUNDS_EACH; round++) {
        struct fixture fixture;
        fixture_init(&fixture, source);
        for (int i = 0; i < ROUNDS_EACH; i++)
            random_test(&fixture, &seed);
        fixture_release(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparisons), cmocka_unit_test(test_orders),
        cmocka_unit_test(test_sets),        cmocka_unit_test(test_number_sets),
        cmocka_unit_test(test_values),      cmocka_unit_test(test_budget),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
