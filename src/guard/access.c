// From a pattern and its arguments to a request: see access.h. What is written for people is in
// access_explain.c.
#include "guard/access.h"

#include "guard/eval.h"
#include "guard/validate.h"

enum { EXPRESSION_MAX = 64 << 10, MESSAGE_MAX = 16 << 10 };

// ---- Arguments --------------------------------------------------------------------------------

// "Pattern userByEmail: /email: expected email, got nothing"
static bool bind_error(const struct model_access *access, const struct model_report *report,
                       struct error *error)
{
    struct buf text;
    buf_init(&text, MESSAGE_MAX);
    buf_printf(&text, "Pattern %.*s: ", SLICE_FMT(access->name));
    model_report_text(report, &text);
    const struct model_violations *details = model_report_details(report, access->name);
    if (text.failed || details == NULL || report->failed)
        (void)error_budget(error);
    else
        (void)error_validation(error, "%.*s", SLICE_FMT(buf_view(&text)));
    error->details = details;
    buf_release(&text);
    return false;
}

// How the attribute that the parameter is named after is normalised.
static unsigned param_normal(const struct model_access *access, struct slice name)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_attribute *attribute = model_entity_attribute(access->entities[i], name);
        if (attribute != NULL)
            return attribute->normal;
    }
    return 0;
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
    unsigned normal = param_normal(access, param->name);
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
        return bind_error(access, &report, error);
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

static bool type_is_read(const struct model_access *access)
{
    const struct model_index *index = access->index;
    struct slice name = access->table->type_attribute;
    if (name.len == 0)
        return false;
    if (index == NULL || index->projection == MODEL_PROJECT_ALL)
        return true;
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++) {
        if (slice_equal(index->keys.parts[i].name, name))
            return true;
    }
    for (size_t i = 0; i < index->include_count; i++) {
        if (slice_equal(index->include[i], name))
            return true;
    }
    return false;
}

bool access_needs_type(const struct model_access *access)
{
    if (access->get || !type_is_read(access))
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

// ---- Plans ----------------------------------------------------------------------------------

// A plan in the making.
struct maker {
    struct access_plan *plan;
    struct model_scope scope;
    struct error *error;
    struct buf text; // the expression at hand
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

// Appends the placeholder of a name, which is a new one the first time.
static bool put_name(struct maker *maker, struct slice name)
{
    struct access_plan *plan = maker->plan;
    for (size_t i = 0; i < plan->name_count; i++) {
        if (slice_equal(plan->names[i].meant, name)) {
            buf_slice(&maker->text, plan->names[i].placeholder);
            return true;
        }
    }
    char *made = plain_name(name) ? arena_printf(maker->scope.arena, "#%.*s", SLICE_FMT(name))
                                  : arena_printf(maker->scope.arena, "#n_%zu", plan->name_count);
    if (made == NULL)
        return error_budget(maker->error);
    plan->names[plan->name_count++] = (struct access_place){slice_str(made), name};
    buf_text(&maker->text, made);
    return true;
}

// Appends a placeholder for a value: after the attribute, numbered if there is one already.
static bool put_value(struct maker *maker, struct slice name, struct slice value)
{
    struct access_plan *plan = maker->plan;
    size_t same = 0;
    char *base = plain_name(name) ? arena_printf(maker->scope.arena, ":%.*s", SLICE_FMT(name))
                                  : arena_printf(maker->scope.arena, ":v");
    if (base == NULL)
        return error_budget(maker->error);
    for (size_t i = 0; i < plan->value_count; i++)
        same += slice_begins(plan->values[i].placeholder, slice_str(base));
    if (same > 0)
        base = arena_printf(maker->scope.arena, "%s_%zu", base, same + 1);
    if (base == NULL)
        return error_budget(maker->error);
    plan->values[plan->value_count++] = (struct access_place){slice_str(base), value};
    buf_text(&maker->text, base);
    return true;
}

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

static bool put_path(struct maker *maker, const struct model_condition *condition)
{
    for (size_t i = 0; i < condition->step_count; i++) {
        if (i > 0)
            buf_byte(&maker->text, '.');
        if (!put_name(maker, condition->steps[i]))
            return false;
    }
    return true;
}

static bool put_operand(struct maker *maker, const struct model_condition *condition, size_t which,
                        enum value_type type)
{
    struct slice value;
    return condition_value(maker, condition, which, type, &value) &&
           put_value(maker, condition->steps[condition->step_count - 1], value);
}

// How an operator is written: before the path, between path and value, behind the value.
static const struct operator_row {
    const char *before;
    const char *between;
    const char *after;
} operator_rows[MODEL_OPS] = {
    [MODEL_OP_EQUAL] = {"", " = ", ""},
    [MODEL_OP_NOT_EQUAL] = {"", " <> ", ""},
    [MODEL_OP_LESS] = {"", " < ", ""},
    [MODEL_OP_AT_MOST] = {"", " <= ", ""},
    [MODEL_OP_MORE] = {"", " > ", ""},
    [MODEL_OP_AT_LEAST] = {"", " >= ", ""},
    [MODEL_OP_BEGINS] = {"begins_with(", ", ", ")"},
    [MODEL_OP_BETWEEN] = {"", " BETWEEN ", ""},
    [MODEL_OP_CONTAINS] = {"contains(", ", ", ")"},
    [MODEL_OP_EXISTS] = {"attribute_exists(", "", ")"},
    [MODEL_OP_MISSING] = {"attribute_not_exists(", "", ")"},
};

static bool put_condition(struct maker *maker, const struct model_condition *condition,
                          enum value_type type)
{
    const struct operator_row *row = &operator_rows[condition->op];
    if (maker->text.len > 0)
        buf_text(&maker->text, " AND ");
    buf_text(&maker->text, row->before);
    if (!put_path(maker, condition))
        return false;
    buf_text(&maker->text, row->between);
    bool unary = condition->op == MODEL_OP_EXISTS || condition->op == MODEL_OP_MISSING;
    if (!unary && !put_operand(maker, condition, 0, type))
        return false;
    if (condition->op == MODEL_OP_BETWEEN) {
        buf_text(&maker->text, " AND ");
        if (!put_operand(maker, condition, 1, type))
            return false;
    }
    buf_text(&maker->text, row->after);
    return true;
}

// The finished text of an expression.
static bool take_text(struct maker *maker, struct slice *out)
{
    *out = maker->text.failed ? slice_of(NULL, 0)
                              : arena_copy(maker->scope.arena, buf_view(&maker->text));
    buf_clear(&maker->text);
    return out->ptr != NULL || error_budget(maker->error);
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

static bool put_types(struct maker *maker)
{
    const struct model_access *access = maker->plan->access;
    struct slice name = access->table->type_attribute;
    if (maker->text.len > 0)
        buf_text(&maker->text, " AND ");
    if (!put_name(maker, name))
        return false;
    buf_text(&maker->text, access->entity_count == 1 ? " = " : " IN (");
    for (size_t i = 0; i < access->entity_count; i++) {
        struct slice value = model_string(maker->scope.arena, access->entities[i]->type_value);
        if (i > 0)
            buf_text(&maker->text, ", ");
        if (value.len == 0)
            return error_budget(maker->error);
        if (!put_value(maker, name, value))
            return false;
    }
    if (access->entity_count > 1)
        buf_byte(&maker->text, ')');
    maker->plan->by_type = true;
    return true;
}

static bool make_query(struct maker *maker)
{
    const struct model_access *access = maker->plan->access;
    for (size_t i = 0; i < access->key_count; i++) {
        const struct model_condition *condition = &access->keys[i];
        if (!put_condition(maker, condition, key_type(access, condition->steps[0])))
            return false;
    }
    if (!take_text(maker, &maker->plan->condition))
        return false;
    for (size_t i = 0; i < access->filter_count; i++) {
        if (!put_condition(maker, &access->filters[i], VALUE_TYPES))
            return false;
    }
    if (access_needs_type(access) && !put_types(maker))
        return false;
    return take_text(maker, &maker->plan->filter);
}

static bool make_get(struct maker *maker)
{
    const struct model_access *access = maker->plan->access;
    struct value_builder builder;
    bool fine = true;
    value_builder_init(&builder, &maker->text);
    value_open_map(&builder);
    for (size_t i = 0; i < access->key_count && fine; i++) {
        const struct model_condition *condition = &access->keys[i];
        enum value_type type = key_type(access, condition->steps[0]);
        struct slice value;
        fine = condition_value(maker, condition, 0, type, &value);
        if (fine) {
            value_name(&builder, condition->steps[0]);
            value_put(&builder, value);
        }
    }
    fine = fine && value_close(&builder) && take_text(maker, &maker->plan->key);
    value_builder_release(&builder);
    return fine;
}

static uint64_t plan_limit(const struct model_access *access, uint64_t asked)
{
    if (asked > 0)
        return asked;
    if (access->limit > 0)
        return access->limit;
    return access->one && access->filter_count == 0 && !access_needs_type(access) ? 1 : 0;
}

struct access_plan *access_plan(const struct model_access *access, const struct slice *values,
                                const struct access_options *options, struct arena *arena,
                                struct error *error)
{
    struct access_plan *plan = arena_zalloc(arena, 1, sizeof(*plan));
    size_t names = 1 + access->key_count;
    for (size_t i = 0; i < access->filter_count; i++)
        names += access->filters[i].step_count;
    size_t places = 2 * (access->key_count + access->filter_count) + access->entity_count;
    if (plan == NULL || (plan->names = arena_zalloc(arena, names, sizeof(*plan->names))) == NULL ||
        (plan->values = arena_zalloc(arena, places, sizeof(*plan->values))) == NULL) {
        (void)error_budget(error);
        return NULL;
    }
    plan->access = access;
    plan->operation = access->get ? "GetItem" : "Query";
    plan->limit = access->get ? 0 : plan_limit(access, options->limit);
    plan->after = options->after;
    plan->capacity = options->capacity;
    struct maker maker = {
        .plan = plan,
        .scope = {.param_count = access->param_count, .params = values, .arena = arena},
        .error = error,
    };
    buf_init(&maker.text, EXPRESSION_MAX);
    bool fine = access->get ? make_get(&maker) : make_query(&maker);
    buf_release(&maker.text);
    return fine ? plan : NULL;
}

// ---- JSON -----------------------------------------------------------------------------------

static void write_query(const struct access_plan *plan, struct json_writer *w)
{
    const struct model_access *access = plan->access;
    if (access->index != NULL)
        json_put_given(w, "IndexName", access->index->name);
    json_put_given(w, "KeyConditionExpression", plan->condition);
    json_put_given(w, "FilterExpression", plan->filter);
    json_put_object(w, "ExpressionAttributeNames");
    for (size_t i = 0; i < plan->name_count; i++) {
        json_name_slice(w, plan->names[i].placeholder);
        json_string(w, plan->names[i].meant);
    }
    json_close_object(w);
    json_put_object(w, "ExpressionAttributeValues");
    for (size_t i = 0; i < plan->value_count; i++) {
        json_name_slice(w, plan->values[i].placeholder);
        json_value(w, plan->values[i].meant);
    }
    json_close_object(w);
    json_put_flag(w, "ScanIndexForward", !access->descending);
    if (plan->limit > 0)
        json_put_integer(w, "Limit", (int64_t)plan->limit);
    if (plan->after.len > 0) {
        json_name(w, "ExclusiveStartKey");
        json_item(w, plan->after);
    }
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
