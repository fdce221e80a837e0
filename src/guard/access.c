// From a pattern and its arguments to a request: see access.h. Its text, for others to read, is in
// access_text.c, and what is written for people in access_explain.c.
#include "guard/access.h"

#include "eval/eval.h"
#include "eval/validate.h"

enum { KEY_MAX = 64 << 10, MESSAGE_MAX = 16 << 10 };

// ---- Arguments --------------------------------------------------------------------------------

// How the attribute that the parameter is named after is normalised.
static unsigned param_normal(const struct model_access *access, const struct model_param *param)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_attribute *attribute =
            model_entity_attribute(access->entities[i], param->name);
        if (attribute != NULL)
            return attribute->normal;
    }
    return model_type_form(param->type);
}

static const struct access_argument *
argument_find(size_t count, const struct access_argument *arguments, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(arguments[i].name, name))
            return &arguments[i];
    }
    return NULL;
}

// The value of one parameter; false only without memory.
static bool bind_param(const struct model_access *access, const struct model_param *param,
                       const struct access_argument *argument, struct model_report *report,
                       struct slice *value)
{
    struct model_pointer at = {.name = param->name};
    *value = argument == NULL ? VALUE_NONE : argument->value;
    unsigned normal = param_normal(access, param);
    if (value->len > 0 && normal != 0 && value_type(*value) == VALUE_S) {
        *value = model_normalise(*value, normal, report->arena);
        if (value->len == 0)
            return false;
    }
    if (value->len == 0 || !model_value_fits(param->type, *value))
        model_report_type(report, &at, param->type, *value);
    return true;
}

static void bind_unknown(const struct model_access *access, const struct access_argument *argument,
                         struct model_report *report)
{
    struct model_pointer at = {.name = argument->name};
    struct buf known;
    buf_init(&known, MESSAGE_MAX);
    buf_text(&known, access->param_count == 0 ? "no parameter" : "one of the parameters");
    for (size_t i = 0; i < access->param_count; i++)
        buf_printf(&known, "%s %.*s", i == 0 ? "" : ",", SLICE_FMT(access->params[i].name));
    model_report_addf(report, &at, argument->value, "%.*s", SLICE_FMT(buf_view(&known)));
    buf_release(&known);
}

bool access_bind(const struct model_access *access, size_t count,
                 const struct access_argument *arguments, struct arena *arena,
                 const struct slice **values, struct error *error)
{
    struct model_report report;
    struct slice *made = arena_zalloc(arena, access->param_count + 1, sizeof(*made));
    if (made == NULL)
        return error_budget(error);
    model_report_init(&report, arena);
    for (size_t i = 0; i < access->param_count; i++) {
        const struct model_param *param = &access->params[i];
        if (!bind_param(access, param, argument_find(count, arguments, param->name), &report,
                        &made[i]))
            return error_budget(error);
    }
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; k < access->param_count && !known; k++)
            known = slice_equal(access->params[k].name, arguments[i].name);
        if (!known)
            bind_unknown(access, &arguments[i], &report);
    }
    if (report.count > 0)
        return model_report_refuse(&report, "Pattern", access->name, error);
    *values = made;
    return true;
}

// ---- Other entities in the same range ---------------------------------------------------------

// The text that every value of the expression begins with; *whole if that is all of it.
static struct slice fixed_prefix(const struct model_expr *expr, bool *whole)
{
    *whole = false;
    if (expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_S) {
        *whole = true;
        return value_bytes(expr->value);
    }
    if (expr->kind != MODEL_EXPR_TEMPLATE || expr->template->segment_count == 0 ||
        expr->template->segments[0].expr != NULL)
        return slice_of(NULL, 0);
    *whole = expr->template->segment_count == 1;
    return expr->template->segments[0].literal;
}

// Whether a key of the template can never satisfy the condition, by their constant beginnings.
static bool never_meets(const struct model_condition *condition,
                        const struct model_template *template)
{
    bool whole;
    if (template == NULL || (condition->op != MODEL_OP_EQUAL && condition->op != MODEL_OP_BEGINS))
        return false;
    struct slice asked = fixed_prefix(condition->values[0], &whole);
    struct model_expr other = {.kind = MODEL_EXPR_TEMPLATE, .template = template};
    bool constant;
    struct slice there = fixed_prefix(&other, &constant);
    if (asked.len > there.len)
        return constant || !slice_begins(asked, there); // what is there must go on
    if (asked.len < there.len)
        return !slice_begins(there, asked) || (whole && condition->op == MODEL_OP_EQUAL);
    return !slice_equal(asked, there);
}

static const struct model_template *
part_template(const struct model_entity *entity, const struct model_index *index, struct slice name)
{
    if (index == NULL) {
        for (size_t i = 0; i < 2; i++) {
            if (slice_equal(entity->keys[i].name, name))
                return entity->keys[i].template;
        }
        return NULL;
    }
    const struct model_entry *entry = &entity->entries[index - entity->table->indexes];
    for (size_t i = 0; i < COUNT_OF(entry->parts); i++) {
        if (slice_equal(entry->parts[i].name, name))
            return entry->parts[i].template;
    }
    return NULL;
}

static bool entity_listed(const struct model_access *access, const struct model_entity *entity)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        if (access->entities[i] == entity)
            return true;
    }
    return false;
}

// Whether items of the entity may stand in what the pattern reads.
static bool entity_meets(const struct model_access *access, const struct model_entity *entity)
{
    if (access->index != NULL && !entity->entries[access->index - access->table->indexes].stated)
        return false;
    for (size_t i = 0; i < access->key_count; i++) {
        const struct model_condition *condition = &access->keys[i];
        if (never_meets(condition, part_template(entity, access->index, condition->steps[0])))
            return false;
    }
    return true;
}

bool access_needs_type(const struct model_access *access)
{
    if (access->get || !model_access_reads(access, access->table->type_attribute))
        return false;
    for (size_t i = 0; i < access->filter_count; i++) {
        if (slice_equal(access->filters[i].steps[0], access->table->type_attribute))
            return false; // the pattern sees to it itself
    }
    // Key attributes cannot be filtered; a type attribute that is one is a condition already.
    if (access->index == NULL
            ? slice_equal(access->table->keys.parts[0].name, access->table->type_attribute)
            : slice_equal(access->index->keys.parts[0].name, access->table->type_attribute))
        return false;
    for (size_t i = 0; i < access->table->entity_count; i++) {
        const struct model_entity *entity = &access->table->entities[i];
        if (!entity_listed(access, entity) && entity_meets(access, entity))
            return true;
    }
    return false;
}

// ---- What is deleted softly -------------------------------------------------------------------

// Whether items of the entity have to be looked at. Only what the server keeps is hidden.
static bool entity_hides(const struct model_access *access, const struct model_entity *entity)
{
    return entity->guard == MODEL_ENFORCE && model_access_meets_deleted(access, entity);
}

bool access_hides(const struct model_access *access)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        if (entity_hides(access, access->entities[i]))
            return true;
    }
    return false;
}

// Whether an entity before this one says the same.
static bool hidden_before(const struct model_access *access, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (entity_hides(access, access->entities[i]) &&
            slice_equal(access->entities[i]->softdelete->name,
                        access->entities[at]->softdelete->name))
            return true;
    }
    return false;
}

// ---- Plans ----------------------------------------------------------------------------------

// A plan in the making.
struct maker {
    struct access_plan *plan;
    struct model_scope scope;
    struct error *error;
};

// The value of a condition; of a key attribute if `type` is not VALUE_TYPES.
static bool condition_value(struct maker *maker, const struct model_condition *condition,
                            size_t which, enum value_type type, struct slice *value)
{
    struct slice name = condition->steps[0];
    enum eval_status status = model_eval(condition->values[which], &maker->scope, MODEL_ANY, value);
    if (status == EVAL_BUDGET)
        return error_budget(maker->error);
    if (status != EVAL_OK)
        return error_validation(maker->error, "Pattern %.*s: the arguments give no value for %.*s",
                                SLICE_FMT(maker->plan->access->name), SLICE_FMT(name));
    if (type == VALUE_TYPES)
        return true;
    if (value_type(*value) != type)
        return error_validation(maker->error, "Pattern %.*s: %.*s must be of type %s, not %s",
                                SLICE_FMT(maker->plan->access->name), SLICE_FMT(name),
                                value_type_name(type), value_type_name(value_type(*value)));
    if (type != VALUE_N && value_bytes(*value).len == 0)
        return error_validation(maker->error, "Pattern %.*s: the value of %.*s is empty",
                                SLICE_FMT(maker->plan->access->name), SLICE_FMT(name));
    return true;
}

static void *make(struct maker *maker, size_t count, size_t size)
{
    void *made = arena_zalloc(maker->scope.arena, count, size);
    if (made == NULL)
        (void)error_budget(maker->error);
    return made;
}

static bool make_path(struct maker *maker, size_t count, const struct slice *names,
                      struct path *out)
{
    struct path_step *steps = make(maker, count, sizeof(*steps));
    if (steps == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        steps[i].name = names[i];
    *out = (struct path){steps, count};
    return true;
}

static bool make_test(struct maker *maker, const struct model_condition *condition,
                      enum value_type type, struct access_test *out)
{
    static const enum expr_op ops[MODEL_OPS] = {
        [MODEL_OP_EQUAL] = OP_EQ,          [MODEL_OP_NOT_EQUAL] = OP_NE,
        [MODEL_OP_LESS] = OP_LT,           [MODEL_OP_AT_MOST] = OP_LE,
        [MODEL_OP_MORE] = OP_GT,           [MODEL_OP_AT_LEAST] = OP_GE,
        [MODEL_OP_BEGINS] = OP_BEGINS,     [MODEL_OP_BETWEEN] = OP_BETWEEN,
        [MODEL_OP_CONTAINS] = OP_CONTAINS, [MODEL_OP_EXISTS] = OP_EXISTS,
        [MODEL_OP_MISSING] = OP_MISSING,
    };
    bool unary = condition->op == MODEL_OP_EXISTS || condition->op == MODEL_OP_MISSING;
    out->op = ops[condition->op];
    out->value_count = unary ? 0 : condition->op == MODEL_OP_BETWEEN ? 2 : 1;
    out->values = make(maker, 2, sizeof(*out->values));
    if (out->values == NULL ||
        !make_path(maker, condition->step_count, condition->steps, &out->path))
        return false;
    for (size_t i = 0; i < out->value_count; i++) {
        if (!condition_value(maker, condition, i, type, &out->values[i]))
            return false;
    }
    return true;
}

static enum value_type key_type(const struct model_access *access, struct slice name)
{
    const struct key_schema *keys =
        access->index == NULL ? &access->table->keys : &access->index->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (slice_equal(keys->parts[i].name, name))
            return keys->parts[i].type;
    }
    return VALUE_TYPES;
}

// The type attribute is that of one of the pattern's entities.
static bool make_type_test(struct maker *maker, struct access_test *out)
{
    const struct model_access *access = maker->plan->access;
    out->op = access->entity_count == 1 ? OP_EQ : OP_IN;
    out->value_count = access->entity_count;
    out->values = make(maker, access->entity_count, sizeof(*out->values));
    if (out->values == NULL || !make_path(maker, 1, &access->table->type_attribute, &out->path))
        return false;
    for (size_t i = 0; i < access->entity_count; i++) {
        out->values[i] = model_string(maker->scope.arena, access->entities[i]->type_value);
        if (out->values[i].len == 0)
            return error_budget(maker->error);
    }
    return true;
}

// The attribute that says when an item was deleted is not there, or null.
static bool make_hidden_test(struct maker *maker, const struct model_attribute *attribute,
                             struct access_test *out)
{
    static const uint8_t null = VALUE_TAG_NULL;
    out->values = make(maker, 1, sizeof(*out->values));
    if (out->values == NULL || !make_path(maker, 1, &attribute->name, &out->path))
        return false;
    out->op = OP_MISSING;
    out->or_null = true;
    out->values[0] = slice_of(&null, 1);
    return true;
}

static bool make_hidden_tests(struct maker *maker)
{
    struct access_plan *plan = maker->plan;
    const struct model_access *access = plan->access;
    for (size_t i = 0; i < access->entity_count; i++) {
        if (!entity_hides(access, access->entities[i]) || hidden_before(access, i))
            continue;
        plan->softly = true;
        if (!make_hidden_test(maker, access->entities[i]->softdelete,
                              &plan->filters[plan->filter_count++]))
            return false;
    }
    return true;
}

static bool make_query(struct maker *maker)
{
    struct access_plan *plan = maker->plan;
    const struct model_access *access = plan->access;
    plan->keys = make(maker, access->key_count + 1, sizeof(*plan->keys));
    plan->filters =
        make(maker, access->filter_count + access->entity_count + 1, sizeof(*plan->filters));
    if (plan->keys == NULL || plan->filters == NULL)
        return false;
    for (size_t i = 0; i < access->key_count; i++) {
        const struct model_condition *condition = &access->keys[i];
        if (!make_test(maker, condition, key_type(access, condition->steps[0]),
                       &plan->keys[plan->key_count++]))
            return false;
    }
    for (size_t i = 0; i < access->filter_count; i++) {
        if (!make_test(maker, &access->filters[i], VALUE_TYPES,
                       &plan->filters[plan->filter_count++]))
            return false;
    }
    plan->by_type = access_needs_type(access);
    if (plan->by_type && !make_type_test(maker, &plan->filters[plan->filter_count++]))
        return false;
    return make_hidden_tests(maker);
}

static bool make_get(struct maker *maker)
{
    const struct model_access *access = maker->plan->access;
    struct value_maker key;
    bool fine = true;
    value_begin(&key, KEY_MAX);
    value_open_map(&key.b);
    for (size_t i = 0; i < access->key_count && fine; i++) {
        const struct model_condition *condition = &access->keys[i];
        enum value_type type = key_type(access, condition->steps[0]);
        struct slice value;
        fine = condition_value(maker, condition, 0, type, &value);
        if (fine) {
            value_name(&key.b, condition->steps[0]);
            value_put(&key.b, value);
        }
    }
    maker->plan->key = value_end(&key, maker->scope.arena);
    return fine && (maker->plan->key.ptr != NULL || error_budget(maker->error));
}

static uint64_t plan_limit(const struct model_access *access, uint64_t asked)
{
    if (access->count)
        return 0;
    if (asked > 0)
        return asked;
    if (access->limit > 0)
        return access->limit;
    return access->one && access->filter_count == 0 && !access_needs_type(access) &&
                   !access_hides(access)
               ? 1
               : 0;
}

struct access_plan *access_plan(const struct model_access *access, const struct slice *values,
                                const struct access_options *options, struct arena *arena,
                                struct error *error)
{
    struct maker maker = {
        .scope = {.param_count = access->param_count, .params = values, .arena = arena},
        .error = error,
    };
    struct access_plan *plan = maker.plan = make(&maker, 1, sizeof(*plan));
    if (plan == NULL)
        return NULL;
    *plan = (struct access_plan){
        .access = access,
        .arena = arena,
        .operation = access->get ? "GetItem" : "Query",
        .limit = access->get ? 0 : plan_limit(access, options->limit),
        .after = options->after,
        .capacity = options->capacity,
    };
    bool fine = access->get ? make_get(&maker) : make_query(&maker);
    return fine ? plan : NULL;
}

// ---- Programs ---------------------------------------------------------------------------------

static struct expr_node *build_tests(struct expr_builder *b, size_t count,
                                     const struct access_test *tests)
{
    struct expr_node *all = NULL;
    for (size_t i = 0; i < count; i++) {
        struct expr_node *test = expr_call(b, tests[i].op);
        expr_operand(b, test, expr_path(b, tests[i].path));
        for (size_t v = 0; v < tests[i].value_count; v++)
            expr_operand(b, test, expr_value(b, tests[i].values[v]));
        if (tests[i].or_null)
            test = expr_join(b, OP_OR, test,
                             expr_test(b, OP_EQ, expr_path(b, tests[i].path),
                                       expr_value(b, tests[i].values[0])));
        all = expr_join(b, OP_AND, all, test);
    }
    return all;
}

bool access_compile(const struct access_plan *plan, struct arena *arena, struct expr_key **key,
                    struct expr_condition **filter, struct error *error)
{
    struct expr_builder b = {.arena = arena, .error = error};
    *filter = NULL;
    if (plan->filter_count > 0) {
        struct expr_node *all = build_tests(&b, plan->filter_count, plan->filters);
        *filter = expr_build_condition(&b, all, EXPR_FILTER);
        if (*filter == NULL)
            return false;
    }
    *key = expr_build_key(&b, build_tests(&b, plan->key_count, plan->keys));
    return *key != NULL;
}
