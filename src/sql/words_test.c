// Tests and computed attributes as SQL: values keep their own types here, as columns have them (in
// keys, words_text.c, all is text). What SQL cannot say, or says only with functions that must not
// stand in a constraint, is an empty text: the caller writes a comment instead.
//
// NULL does what a missing attribute does: a comparison with it does not hold where rows are
// chosen, and is no violation in a CHECK.
#include "sql/words.h"

static const struct slice nothing = {NULL, 0};

// ---- Values ----------------------------------------------------------------------------------

// A column; a member of a JSON column, if it is clear what that holds.
static struct slice path_value(struct writer *w, const struct sql_table *table,
                               const struct model_expr *expr)
{
    struct slice path = {NULL, 0};
    const struct sql_column *held =
        expr->attribute == NULL ? NULL : sql_column_of(table, expr->attribute);
    if (held == NULL || held->kind != sql_kind(expr->attribute->type))
        return nothing; // or it is shown as something else
    struct slice column = sql_column(w, table, expr->attribute);
    if (expr->step_count == 1)
        return column;
    const struct model_type *type = model_path_type(expr);
    enum value_type stored = type == NULL ? VALUE_TYPES : type_stored(type);
    for (size_t i = 1; i < expr->step_count; i++)
        text_add(w, &path, is_sqlite(w) ? "." : ",", TEXT(w, "\"%s\"", expr->steps[i]));
    if (is_sqlite(w))
        return TEXT(w, "json_extract(%s, %s)", column, sql_string(w, TEXT(w, "$.%s", path)));
    if (stored != VALUE_S && stored != VALUE_N)
        return nothing;
    return TEXT(w, stored == VALUE_N ? "(%s #>> %s)::numeric" : "(%s #>> %s)", column,
                sql_string(w, TEXT(w, "{%s}", path)));
}

// Of numbers; a time that is moved only where PostgreSQL has times.
static struct slice sum_value(struct writer *w, const struct sql_table *table,
                              const struct model_expr *expr)
{
    static const char *const signs[] = {
        [MODEL_EXPR_ADD] = "+", [MODEL_EXPR_SUBTRACT] = "-", [MODEL_EXPR_MULTIPLY] = "*"};
    struct slice a = sql_value(w, table, expr->args[0]);
    struct slice b = sql_value(w, table, expr->args[1]);
    struct slice sign = slice_str(signs[expr->kind]);
    if (a.len == 0 || b.len == 0)
        return nothing;
    if (expr_is_number(expr->args[0]) && expr_is_number(expr->args[1]))
        return TEXT(w, "(%s %s %s)", a, sign, b);
    const struct model_expr *time = expr->args[0];
    bool moved = time->kind == MODEL_EXPR_PATH && time->step_count == 1 &&
                 time->attribute != NULL && sql_kind(time->attribute->type) == SQL_TIMESTAMP &&
                 expr_is_number(expr->args[1]);
    return moved && !is_sqlite(w) ? TEXT(w, "(%s %s make_interval(secs => %s))", a, sign, b)
                                  : nothing;
}

static struct slice size_value(struct writer *w, const struct sql_table *table,
                               const struct model_expr *of)
{
    struct slice value = sql_value(w, table, of);
    const struct model_type *type = of->kind == MODEL_EXPR_PATH ? model_path_type(of) : NULL;
    enum value_type stored = type == NULL ? VALUE_TYPES : type_stored(type);
    if (value.len == 0 || (stored != VALUE_S && stored != VALUE_L))
        return nothing;
    return TEXT(w,
                stored == VALUE_S ? (is_sqlite(w) ? "length(%s)" : "char_length(%s)")
                : is_sqlite(w)    ? "json_array_length(%s)"
                                  : "jsonb_array_length(%s)",
                value);
}

struct slice sql_value(struct writer *w, const struct sql_table *table,
                       const struct model_expr *expr)
{
    struct slice a;
    struct slice b;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return value_type(expr->value) == VALUE_M || value_type(expr->value) == VALUE_L
                   ? nothing
                   : sql_literal(w, expr->value);
    case MODEL_EXPR_PATH:
        return path_value(w, table, expr);
    case MODEL_EXPR_ELSE:
        a = sql_value(w, table, expr->args[0]);
        b = sql_value(w, table, expr->args[1]);
        return a.len == 0 || b.len == 0 ? nothing : TEXT(w, "coalesce(%s, %s)", a, b);
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
    case MODEL_EXPR_MULTIPLY:
        return sum_value(w, table, expr);
    case MODEL_EXPR_TEMPLATE:
        return sql_is_immutable(w, expr) ? sql_text(w, table, expr) : nothing;
    case MODEL_EXPR_CALL:
        if (expr->function == MODEL_FN_SIZE)
            return size_value(w, table, expr->args[0]);
        return sql_is_immutable(w, expr) ? sql_text(w, table, expr) : nothing;
    case MODEL_EXPR_PARAM:
        return w->access == NULL ? nothing : sql_param(w, expr->param);
    case MODEL_EXPR_TAG:
        return nothing;
    default:
        return nothing;
    }
}

// ---- What never changes by itself --------------------------------------------------------------

static bool template_immutable(const struct writer *w, const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL && !sql_is_immutable(w, template->segments[i].expr))
            return false;
    }
    return true;
}

// PostgreSQL writes times by the settings of a session, and has no digest of text that it takes for
// immutable.
bool sql_is_immutable(const struct writer *w, const struct model_expr *expr)
{
    bool call = expr->kind == MODEL_EXPR_CALL;
    if (expr->kind == MODEL_EXPR_PATH) {
        enum sql_kind kind = expr->attribute == NULL ? SQL_JSON : sql_kind(expr->attribute->type);
        return expr->step_count == 1 &&
               (kind == SQL_TEXT || kind == SQL_NUMERIC || kind == SQL_BIGINT || kind == SQL_UUID ||
                kind == SQL_BOOLEAN || (is_sqlite(w) && kind == SQL_TIMESTAMP));
    }
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        return template_immutable(w, expr->template);
    if (call && expr->function != MODEL_FN_LOWER && expr->function != MODEL_FN_UPPER &&
        expr->function != MODEL_FN_TRIM && expr->function != MODEL_FN_PAD &&
        expr->function != MODEL_FN_FIXED && expr->function != MODEL_FN_ESCAPE &&
        expr->function != MODEL_FN_RAW && expr->function != MODEL_FN_SIZE)
        return false;
    for (size_t i = 0; expr->kind != MODEL_EXPR_VALUE && i < expr->arg_count; i++) {
        if (!sql_is_immutable(w, expr->args[i]))
            return false;
    }
    return expr->kind != MODEL_EXPR_PARAM;
}

// ---- Tests -----------------------------------------------------------------------------------

static enum sql_kind kind_of(const struct model_expr *expr)
{
    const struct model_type *type = expr->kind == MODEL_EXPR_PATH ? model_path_type(expr) : NULL;
    return type == NULL ? SQL_JSON : sql_kind(type);
}

// Two columns can be compared if they are of one kind, or both numbers.
static bool alike(const struct model_expr *a, const struct model_expr *b)
{
    enum sql_kind one = kind_of(a);
    enum sql_kind other = kind_of(b);
    bool paths = a->kind == MODEL_EXPR_PATH && b->kind == MODEL_EXPR_PATH;
    bool numbers =
        (one == SQL_NUMERIC || one == SQL_BIGINT) && (other == SQL_NUMERIC || other == SQL_BIGINT);
    return !paths || numbers || (one == other && one != SQL_JSON);
}

static struct slice comparison_text(struct writer *w, const struct sql_table *table,
                                    const struct model_comparison *one)
{
    static const char *const signs[MODEL_OPS] = {
        [MODEL_OP_EQUAL] = "=",    [MODEL_OP_NOT_EQUAL] = "<>", [MODEL_OP_LESS] = "<",
        [MODEL_OP_AT_MOST] = "<=", [MODEL_OP_MORE] = ">",       [MODEL_OP_AT_LEAST] = ">="};
    struct slice left = sql_value(w, table, one->left);
    struct slice values[2] = {nothing, nothing};
    if (left.len == 0 || one->op == MODEL_OP_CHANGED)
        return nothing;
    if (one->op == MODEL_OP_EXISTS || one->op == MODEL_OP_MISSING)
        return TEXT(w, one->op == MODEL_OP_EXISTS ? "%s IS NOT NULL" : "%s IS NULL", left);
    for (size_t i = 0; i < 2 && one->values[i] != NULL; i++) {
        values[i] = sql_value(w, table, one->values[i]);
        if (values[i].len == 0 || !alike(one->left, one->values[i]))
            return nothing;
    }
    // Text is compared by bytes, as keys are.
    if (!is_sqlite(w) && kind_of(one->left) == SQL_TEXT && one->op != MODEL_OP_EQUAL &&
        one->op != MODEL_OP_NOT_EQUAL)
        left = TEXT(w, "%s COLLATE \"C\"", left);
    bool text = kind_of(one->left) == SQL_TEXT;
    switch (one->op) {
    case MODEL_OP_BETWEEN:
        return TEXT(w, "%s BETWEEN %s AND %s", left, values[0], values[1]);
    case MODEL_OP_BEGINS:
        return !text ? nothing
               : is_sqlite(w)
                   ? TEXT(w, "substr(%s, 1, length(%s)) = %s", left, values[0], values[0])
                   : TEXT(w, "starts_with(%s, %s)", left, values[0]);
    case MODEL_OP_CONTAINS:
        return !text          ? nothing
               : is_sqlite(w) ? TEXT(w, "instr(%s, %s) > 0", left, values[0])
                              : TEXT(w, "strpos(%s, %s) > 0", left, values[0]);
    default:
        return TEXT(w, "%s %s %s", left, slice_str(signs[one->op]), values[0]);
    }
}

struct slice sql_test(struct writer *w, const struct sql_table *table,
                      const struct model_test *test)
{
    struct slice any = {NULL, 0};
    for (size_t i = 0; i < test->clause_count; i++) {
        struct slice all = {NULL, 0};
        for (size_t k = 0; k < test->clauses[i].count; k++) {
            struct slice one = comparison_text(w, table, &test->clauses[i].list[k]);
            if (one.len == 0)
                return nothing;
            text_add(w, &all, " AND ", one);
        }
        text_add(w, &any, " OR ", test->clause_count > 1 ? TEXT(w, "(%s)", all) : all);
    }
    return any;
}
