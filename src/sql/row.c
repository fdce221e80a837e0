// Items as rows: the expression of each column is evaluated, and its value brought into the form of
// the column, or refused with a sentence.
#include "sql/row.h"

#include "eval/eval.h"

bool row_error(struct slice *error, struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    *error = text == NULL ? slice_of(NULL, 0) : slice_str(text);
    return false;
}

// What rows are made of.
struct rower {
    const struct sql_schema *schema;
    const struct sql_table *table;
    struct model_scope scope;
    struct slice member; // CHILD
    size_t position;
    struct arena *arena;
    struct slice *error;
};

// A field of a member, or the member itself.
static struct slice member_value(const struct rower *r, const struct model_expr *value)
{
    struct slice at = r->member;
    for (size_t i = 0; value->kind == MODEL_EXPR_PATH && i < value->step_count && at.len > 0; i++)
        at = value_type(at) == VALUE_M ? value_get(at, value->steps[i]) : VALUE_NONE;
    return at;
}

static bool column_value(struct rower *r, const struct sql_column *column, struct slice *value)
{
    *value = VALUE_NONE;
    if (column->source == SQL_FROM_POSITION) {
        *value = model_integer(r->arena, (int64_t)r->position);
        return value->len > 0;
    }
    if (column->source == SQL_FROM_MEMBER) {
        *value = member_value(r, column->value);
        return true;
    }
    enum model_kind want =
        column->attribute == NULL ? MODEL_ANY : model_kind_wanted(column->attribute->type);
    switch (model_eval(column->value, &r->scope, want, value)) {
    case EVAL_OK:
        return true;
    case EVAL_MISSING:
        *value = VALUE_NONE;
        return true;
    case EVAL_UNFIT:
        return row_error(
            r->error, r->arena, "column \"%.*s\" of \"%.*s\" cannot be computed: %.*s of this item",
            SLICE_FMT(column->name), SLICE_FMT(r->table->name), SLICE_FMT(column->from));
    default:
        *r->error = slice_of(NULL, 0);
        return false;
    }
}

static bool make_row(struct rower *r, struct sql_row *row)
{
    struct sql_value *values = arena_zalloc(r->arena, r->table->column_count + 1, sizeof *values);
    *r->error = slice_of(NULL, 0);
    if (values == NULL)
        return false;
    row->values = values;
    for (size_t i = 0; i < r->table->column_count; i++) {
        const struct sql_column *column = &r->table->columns[i];
        struct slice value;
        if (!column_value(r, column, &value))
            return false;
        bool missing = value.len == 0 || value_type(value) == VALUE_NULL;
        if (missing && column->required)
            return row_error(r->error, r->arena,
                             "column \"%.*s\" of \"%.*s\" takes no NULL, and the item has no %.*s",
                             SLICE_FMT(column->name), SLICE_FMT(r->table->name),
                             SLICE_FMT(column->from));
        if (!missing &&
            !row_value(r->schema, r->table, column, value, r->arena, &values[i], r->error))
            return false;
    }
    return true;
}

// The members of a list, set or map of the item.
static bool make_members(struct rower *r, struct slice item, struct sql_rows *rows)
{
    struct slice all = value_get(item, r->table->each->name);
    if (all.len == 0 || value_type(all) == VALUE_NULL)
        return true;
    enum value_type type = value_type(all);
    if (type != VALUE_L && type != VALUE_SS && type != VALUE_NS && type != VALUE_BS)
        return row_error(r->error, r->arena, "\"%.*s\" is neither a list nor a set",
                         SLICE_FMT(r->table->each->name));
    struct sql_row *list = arena_zalloc(r->arena, value_count(all) + 1, sizeof *list);
    if (list == NULL)
        return false;
    rows->list = list;
    struct value_iter iter;
    value_iter_init(&iter, all);
    for (; value_iter_next(&iter); r->position++) {
        r->member = row_member(type, iter.value, r->arena);
        if (r->member.len == 0) {
            *r->error = slice_of(NULL, 0);
            return false;
        }
        if (!make_row(r, &list[rows->count++]))
            return false;
    }
    return true;
}

bool sql_rows_make(const struct sql_schema *schema, const struct sql_table *table,
                   struct slice item, struct arena *arena, struct sql_rows *rows,
                   struct slice *error)
{
    struct rower r = {.schema = schema,
                      .table = table,
                      .scope = {.item = item, .arena = arena},
                      .arena = arena,
                      .error = error};
    *rows = (struct sql_rows){0, NULL};
    *error = slice_of(NULL, 0);
    if (table->kind == SQL_TABLE_GROUP)
        return true;
    if (table->kind == SQL_TABLE_CHILD)
        return make_members(&r, item, rows);
    struct sql_row *row = arena_zalloc(arena, 1, sizeof *row);
    if (row == NULL || !make_row(&r, row))
        return false;
    *rows = (struct sql_rows){1, row};
    return true;
}
