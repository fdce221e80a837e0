// See query.h. Keys are templates, so a condition on a key is one on text that is put together of
// columns. Where the parts of both sides can be told apart, it becomes conditions on the columns
// themselves, which indexes serve; else the texts are compared, byte by byte as keys are.
#include "sql/query.h"

struct asking {
    struct writer *w;
    const struct model_access *access;
    const struct sql_table *table; // of the entity that is asked for
    const struct model_entity *entity;
    struct slice where; // conditions, with AND between them
    bool wrong;         // SQL cannot say it
};

static void add_condition(struct asking *a, struct slice text)
{
    if (text.len == 0)
        a->wrong = true;
    else
        text_add_once(a->w, &a->where, " AND ", text);
}

// ---- Parts of keys
// -------------------------------------------------------------------------------

static const struct key_schema *asked_keys(const struct asking *a)
{
    return a->access->index == NULL ? &a->access->table->keys : &a->access->index->keys;
}

static const struct model_entry *asked_entry(const struct asking *a)
{
    return a->access->index == NULL
               ? NULL
               : &a->entity->entries[a->access->index - a->access->table->indexes];
}

static const struct model_key_part *part_at(const struct asking *a, size_t which)
{
    const struct model_entry *entry = asked_entry(a);
    return entry == NULL ? &a->entity->keys[which] : &entry->parts[which];
}

// The attribute that a part is as it is, or NULL.
static const struct model_attribute *part_attribute(const struct asking *a,
                                                    const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    if (template == NULL)
        return model_entity_attribute(a->entity, part->name);
    const struct model_expr *expr =
        template->segment_count == 1 ? template->segments[0].expr : NULL;
    return template->bare && expr != NULL && expr->kind == MODEL_EXPR_PATH && expr->step_count == 1
               ? expr->attribute
               : NULL;
}

// A part of a key that is a number.
static struct slice number_part(struct asking *a, const struct model_key_part *part)
{
    const struct model_attribute *attribute = part_attribute(a, part);
    if (attribute != NULL)
        return sql_column(a->w, a->table, attribute);
    return part->template != NULL && part->template->segment_count == 1 &&
                   part->template->segments[0].expr != NULL
               ? sql_value(a->w, a->table, part->template->segments[0].expr)
               : slice_of(NULL, 0);
}

// ---- Templates side by side
// ----------------------------------------------------------------------

// Two templates, or their parts, as far as they have been compared.
struct pair {
    const struct model_template *key;
    const struct model_template *asked;
    size_t at;        // of the segments of both
    size_t fields;    // expressions that were met
    struct slice all; // conditions
};

static const struct model_expr *bare_field(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_CALL &&
                   (expr->function == MODEL_FN_FORBID || expr->function == MODEL_FN_ESCAPE ||
                    expr->function == MODEL_FN_RAW)
               ? expr->args[0]
               : expr;
}

// "status" = $1, if both sides are of one kind; else their texts.
static bool same_field(struct asking *a, struct pair *pair, const struct model_expr *key,
                       const struct model_expr *asked)
{
    struct writer *w = a->w;
    key = bare_field(key);
    asked = bare_field(asked);
    bool column = key->kind == MODEL_EXPR_PATH && key->step_count == 1 && key->attribute != NULL;
    bool param = asked->kind == MODEL_EXPR_PARAM;
    if (!column)
        return false;
    enum sql_kind kind = sql_kind(key->attribute->type);
    bool alike = param ? sql_kind(a->access->params[asked->param].type) == kind : kind == SQL_TEXT;
    text_add(w, &pair->all, " AND ",
             alike ? TEXT(w, "%s = %s", sql_column(w, a->table, key->attribute),
                          param ? sql_value(w, a->table, asked) : sql_text(w, a->table, asked))
                   : TEXT(w, "%s = %s", sql_key_text(w, a->table, key->attribute),
                          sql_text(w, a->table, asked)));
    pair->fields++;
    return true;
}

// Whether no value can hold what stands between two fields.
static bool parts_hold(const struct asking *a, struct slice literal)
{
    const struct model_table *table = a->access->table;
    return table->separating != MODEL_SEPARATOR_ANY && slice_begins(literal, table->separator);
}

// Whether the rest of what is asked, a text, is what the key goes on with.
static bool ends_alike(const struct asking *a, const struct pair *pair, bool begins)
{
    size_t left = pair->asked->segment_count - pair->at;
    const struct model_segment *key =
        pair->at < pair->key->segment_count ? &pair->key->segments[pair->at] : NULL;
    if (left == 0)
        return key == NULL ||
               (begins && key->expr == NULL && parts_hold(a, key->literal) && pair->fields > 0) ||
               (begins && pair->fields == 0);
    const struct model_segment *asked = &pair->asked->segments[pair->at];
    return begins && left == 1 && asked->expr == NULL && key != NULL && key->expr == NULL &&
           slice_begins(key->literal, asked->literal) &&
           (pair->fields == 0 || parts_hold(a, asked->literal));
}

// "JOB_STATUS#running" is "JOB_STATUS#{status}" where status is "running".
static bool align_value(struct asking *a, const struct model_template *key, struct slice asked,
                        struct slice *all)
{
    const struct model_expr *expr = key->segment_count == 2 ? key->segments[1].expr : NULL;
    struct slice literal = key->segment_count == 2 && key->segments[0].expr == NULL
                               ? key->segments[0].literal
                               : slice_of(NULL, 0);
    if (expr == NULL || literal.len == 0 || !slice_begins(asked, literal))
        return false;
    expr = bare_field(expr);
    if (expr->kind != MODEL_EXPR_PATH || expr->step_count > 1 || expr->attribute == NULL ||
        sql_kind(expr->attribute->type) != SQL_TEXT)
        return false;
    *all = TEXT(a->w, "%s = %s", sql_column(a->w, a->table, expr->attribute),
                sql_string(a->w, slice_of(asked.ptr + literal.len, asked.len - literal.len)));
    return true;
}

// Conditions on columns that say the same as one on the key; false if there are none.
static bool align(struct asking *a, const struct model_key_part *part,
                  const struct model_expr *asked, bool begins, struct slice *all)
{
    static const struct model_segment none = {.literal = {NULL, 0}};
    struct model_segment one = {.expr = asked};
    struct model_template single = {.segment_count = 1, .segments = &one};
    struct pair pair = {.key = part->template, .all = {NULL, 0}};
    struct model_segment literal = none;
    if (part->template == NULL)
        return false;
    pair.asked = asked->kind == MODEL_EXPR_TEMPLATE ? asked->template : &single;
    if (asked->kind == MODEL_EXPR_VALUE && value_type(asked->value) == VALUE_S) {
        literal.literal = value_bytes(asked->value);
        one = literal;
        if (!begins && align_value(a, part->template, literal.literal, all))
            return true;
    }
    while (pair.at < pair.asked->segment_count && pair.at < pair.key->segment_count) {
        const struct model_segment *key = &pair.key->segments[pair.at];
        const struct model_segment *value = &pair.asked->segments[pair.at];
        if ((key->expr == NULL) != (value->expr == NULL))
            return false;
        if (key->expr == NULL && !slice_equal(key->literal, value->literal))
            break;
        if (key->expr == NULL && pair.fields > 0 && !parts_hold(a, key->literal) &&
            pair.at + 1 < pair.key->segment_count)
            return false;
        if (key->expr != NULL && !same_field(a, &pair, key->expr, value->expr))
            return false;
        pair.at++;
    }
    if (!ends_alike(a, &pair, begins))
        return false;
    *all = pair.all;
    return true;
}

// ---- Conditions on keys
// --------------------------------------------------------------------------

static const char *const signs[MODEL_OPS] = {
    [MODEL_OP_EQUAL] = "=", [MODEL_OP_LESS] = "<",      [MODEL_OP_AT_MOST] = "<=",
    [MODEL_OP_MORE] = ">",  [MODEL_OP_AT_LEAST] = ">=", [MODEL_OP_NOT_EQUAL] = "<>"};

static void number_condition(struct asking *a, const struct model_key_part *part,
                             const struct model_condition *condition)
{
    struct writer *w = a->w;
    struct slice left = number_part(a, part);
    struct slice value = sql_value(w, a->table, condition->values[0]);
    struct slice other = condition->values[1] == NULL
                             ? slice_of(NULL, 0)
                             : sql_value(w, a->table, condition->values[1]);
    a->wrong = a->wrong || left.len == 0 || value.len == 0;
    if (condition->op == MODEL_OP_BETWEEN)
        add_condition(a,
                      other.len == 0 ? other : TEXT(w, "%s BETWEEN %s AND %s", left, value, other));
    else
        add_condition(a, signs[condition->op] == NULL
                             ? slice_of(NULL, 0)
                             : TEXT(w, "%s %s %s", left, slice_str(signs[condition->op]), value));
}

static struct slice bytewise(struct asking *a, struct slice text)
{
    return is_sqlite(a->w) ? text : TEXT(a->w, "%s COLLATE \"C\"", text);
}

static void text_condition(struct asking *a, const struct model_key_part *part,
                           const struct model_condition *condition)
{
    struct writer *w = a->w;
    struct slice all = {NULL, 0};
    bool begins = condition->op == MODEL_OP_BEGINS;
    if ((begins || condition->op == MODEL_OP_EQUAL) &&
        align(a, part, condition->values[0], begins, &all)) {
        if (all.len > 0)
            add_condition(a, all);
        return;
    }
    const struct model_attribute *native = part_attribute(a, part);
    const struct model_expr *asked = condition->values[0];
    bool typed = native != NULL && condition->op == MODEL_OP_EQUAL &&
                 asked->kind == MODEL_EXPR_PARAM &&
                 sql_kind(a->access->params[asked->param].type) == sql_kind(native->type);
    if (typed) {
        add_condition(
            a, TEXT(w, "%s = %s", sql_column(w, a->table, native), sql_value(w, a->table, asked)));
        return;
    }
    struct slice left = TEXT(w, "(%s)", sql_part(w, a->table, part));
    struct slice value = sql_text(w, a->table, asked);
    if (condition->op == MODEL_OP_BETWEEN)
        add_condition(a, TEXT(w, "%s BETWEEN %s AND %s", bytewise(a, left), value,
                              sql_text(w, a->table, condition->values[1])));
    else if (begins)
        add_condition(a, is_sqlite(w)
                             ? TEXT(w, "substr(%s, 1, length(%s)) = %s", left, value, value)
                             : TEXT(w, "starts_with(%s, %s)", left, value));
    else
        add_condition(a, TEXT(w, "%s %s %s",
                              condition->op == MODEL_OP_EQUAL ? left : bytewise(a, left),
                              slice_str(signs[condition->op]), value));
}

static const struct model_condition *condition_on(const struct asking *a, struct slice name)
{
    for (size_t i = 0; i < a->access->key_count; i++)
        if (slice_equal(a->access->keys[i].steps[0], name))
            return &a->access->keys[i];
    return NULL;
}

static void key_conditions(struct asking *a)
{
    const struct key_schema *keys = asked_keys(a);
    for (size_t i = 0; i < keys_count(keys); i++) {
        const struct model_key_part *part = part_at(a, i);
        const struct model_condition *condition = condition_on(a, keys->parts[i].name);
        if (condition == NULL)
            continue;
        if (keys->parts[i].type == VALUE_N)
            number_condition(a, part, condition);
        else if (keys->parts[i].type == VALUE_S)
            text_condition(a, part, condition);
        else
            a->wrong = true; // binary keys
    }
}

// ---- What else must hold
// -------------------------------------------------------------------------

// There is no entry without all of its parts, nor one of an empty text.
static void entry_conditions(struct asking *a)
{
    const struct model_entry *entry = asked_entry(a);
    struct writer *w = a->w;
    if (entry == NULL)
        return;
    if (entry->when != NULL)
        add_condition(a, TEXT(w, "(%s)", sql_test(w, a->table, entry->when)));
    for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
        const struct model_condition *condition = condition_on(a, entry->index->keys.parts[i].name);
        const struct model_attribute *plain = part_attribute(a, &entry->parts[i]);
        struct fields used = {0};
        if (condition != NULL && condition->op == MODEL_OP_EQUAL)
            continue;
        if (plain != NULL)
            fields_add(&used, plain);
        for (size_t k = 0;
             entry->parts[i].template != NULL && k < entry->parts[i].template->segment_count; k++)
            if (entry->parts[i].template->segments[k].expr != NULL)
                fields_of_expr(&used, entry->parts[i].template->segments[k].expr);
        bool always = true;
        for (size_t k = 0; k < used.count; k++)
            always = always && attribute_always(used.list[k]);
        if (!always)
            add_condition(a, TEXT(w, "(%s) IS NOT NULL", sql_part(w, a->table, &entry->parts[i])));
        if (plain != NULL && sql_kind(plain->type) == SQL_TEXT &&
            type_bare(plain->type)->kind == MODEL_STRING && type_bare(plain->type)->min.len == 0)
            add_condition(a, TEXT(w, "%s <> ''", sql_column(w, a->table, plain)));
    }
}

// A filter as a comparison of rules.
static void filter_condition(struct asking *a, const struct model_condition *condition)
{
    const struct model_attribute *attribute =
        model_entity_attribute(a->entity, condition->steps[0]);
    struct model_expr path = {.kind = MODEL_EXPR_PATH,
                              .step_count = condition->step_count,
                              .steps = condition->steps,
                              .attribute = attribute};
    struct model_comparison one = {
        .left = &path, .op = condition->op, .values = {condition->values[0], condition->values[1]}};
    struct model_clause clause = {1, &one};
    struct model_test test = {.clause_count = 1, .clauses = &clause};
    struct slice text = attribute == NULL ? slice_of(NULL, 0) : sql_test(a->w, a->table, &test);
    // What is not there is different from everything.
    if (condition->op == MODEL_OP_NOT_EQUAL && text.len > 0 &&
        (condition->step_count > 1 || !attribute_always(attribute)))
        text = TEXT(a->w, "(%s OR %s IS NULL)", text, sql_value(a->w, a->table, &path));
    add_condition(a, text);
}

static void conditions(struct asking *a)
{
    key_conditions(a);
    entry_conditions(a);
    for (size_t i = 0; i < a->access->filter_count; i++)
        filter_condition(a, &a->access->filters[i]);
    if (a->entity->guard == MODEL_ENFORCE && model_access_meets_deleted(a->access, a->entity))
        add_condition(a,
                      TEXT(a->w, "%s IS NULL", sql_column(a->w, a->table, a->entity->softdelete)));
}

// ---- Order
// ---------------------------------------------------------------------------------------

enum { SORTS_MAX = 64 };

struct sorts {
    size_t count;
    struct slice list[SORTS_MAX];
};

static void add_sort(struct sorts *sorts, struct slice text)
{
    for (size_t i = 0; i < sorts->count; i++)
        if (slice_equal(sorts->list[i], text))
            return;
    if (sorts->count < SORTS_MAX)
        sorts->list[sorts->count++] = text;
}

// Whether texts of the attribute are all of one length, so that what stands behind it in a key
// counts only where it is the same.
static bool is_fixed(const struct model_attribute *attribute)
{
    enum sql_kind kind = sql_kind(attribute->type);
    return kind == SQL_UUID || kind == SQL_DATE ||
           (kind == SQL_TIMESTAMP &&
            ((attribute->normal | model_type_form(attribute->type)) & MODEL_TIMES) != 0);
}

static struct slice sort_column(struct asking *a, const struct model_attribute *attribute)
{
    struct slice column = sql_column(a->w, a->table, attribute);
    enum sql_kind kind = sql_kind(attribute->type);
    return kind == SQL_TEXT || kind == SQL_JSON || (kind == SQL_BIGINT) || kind == SQL_NUMERIC ||
                   kind == SQL_BOOLEAN
               ? bytewise(a, sql_key_text(a->w, a->table, attribute))
               : column;
}

// The columns of a template, if they sort as its text does.
static bool sort_fields(struct asking *a, const struct model_template *template,
                        struct sorts *sorts)
{
    struct sorts own = {0};
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr == NULL)
            continue;
        expr = bare_field(expr);
        if (expr->kind != MODEL_EXPR_PATH || expr->step_count > 1 || expr->attribute == NULL ||
            !attribute_always(expr->attribute) ||
            (i + 1 < template->segment_count && !is_fixed(expr->attribute)))
            return false;
        add_sort(&own, sort_column(a, expr->attribute));
    }
    for (size_t i = 0; i < own.count; i++)
        add_sort(sorts, own.list[i]);
    return true;
}

static void sort_part(struct asking *a, const struct model_key_part *part, enum value_type type,
                      bool whole, struct sorts *sorts)
{
    const struct model_attribute *native = part_attribute(a, part);
    if (type == VALUE_N) {
        struct slice number = number_part(a, part);
        a->wrong = a->wrong || number.len == 0;
        add_sort(sorts, number);
    } else if (!whole && native != NULL && type == VALUE_S) {
        add_sort(sorts, sort_column(a, native));
    } else if (type != VALUE_S) {
        a->wrong = true;
    } else if (whole || part->template == NULL || !sort_fields(a, part->template, sorts)) {
        add_sort(sorts, bytewise(a, TEXT(a->w, "(%s)", sql_part(a->w, a->table, part))));
    }
}

// By the sort key, and of an index then by the table's key. `whole`: each part is one text, as it
// is where several entities are sorted together.
static void sort(struct asking *a, bool whole, struct sorts *sorts)
{
    const struct key_schema *keys = asked_keys(a);
    for (size_t i = keys->hash_count; i < keys_count(keys); i++) {
        const struct model_condition *condition = condition_on(a, keys->parts[i].name);
        if (condition == NULL || condition->op != MODEL_OP_EQUAL)
            sort_part(a, part_at(a, i), keys->parts[i].type, whole, sorts);
    }
    const struct key_schema *own = &a->access->table->keys;
    for (size_t i = 0; a->access->index != NULL && i < keys_count(own); i++)
        sort_part(a, &a->entity->keys[i], own->parts[i].type, whole, sorts);
}

// ---- The statement
// -------------------------------------------------------------------------------

static struct slice from_where(struct asking *a)
{
    return a->where.len == 0
               ? sql_full_name(a->w, a->table->name)
               : TEXT(a->w, "%s WHERE %s", sql_full_name(a->w, a->table->name), a->where);
}

static struct slice order_by(struct asking *a, const struct sorts *sorts)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < sorts->count; i++)
        text_add(a->w, &list, ", ",
                 TEXT(a->w, a->access->descending ? "%s DESC" : "%s", sorts->list[i]));
    return list.len == 0 ? SLICE_LIT("") : TEXT(a->w, " ORDER BY %s", list);
}

static bool begin_entity(struct asking *a, const struct model_entity *entity)
{
    a->entity = entity;
    a->table = sql_schema_next(a->w->schema, entity, NULL);
    a->where = slice_of(NULL, 0);
    if (a->table == NULL)
        return false;
    conditions(a);
    return !a->wrong;
}

static struct slice one_entity(struct asking *a)
{
    struct sorts sorts = {0};
    if (!begin_entity(a, a->access->entities[0]))
        return slice_of(NULL, 0);
    if (!a->access->get && !a->access->count)
        sort(a, false, &sorts);
    return TEXT(a->w, "SELECT %s FROM %s%s", slice_str(a->access->count ? "count(*)" : "*"),
                from_where(a), order_by(a, &sorts));
}

static struct slice item_json(struct asking *a)
{
    struct slice members = {NULL, 0};
    if (!is_sqlite(a->w))
        return TEXT(a->w, "to_jsonb(%s)", sql_quoted(a->w, a->table->name));
    for (size_t i = 0; i < a->table->column_count; i++) {
        const struct sql_column *column = &a->table->columns[i];
        text_add(a->w, &members, ", ",
                 TEXT(a->w, column->kind == SQL_JSON ? "%s, json(%s)" : "%s, %s",
                      sql_string(a->w, column->name), sql_quoted(a->w, column->name)));
    }
    return TEXT(a->w, "json_object(%s)", members);
}

static struct slice several_entities(struct asking *a)
{
    struct writer *w = a->w;
    struct slice all = {NULL, 0};
    struct sorts named = {0};
    for (size_t i = 0; i < a->access->entity_count; i++) {
        struct sorts sorts = {0};
        struct slice columns = {NULL, 0};
        if (!begin_entity(a, a->access->entities[i]))
            return slice_of(NULL, 0);
        sort(a, true, &sorts);
        for (size_t k = 0; k < sorts.count; k++)
            text_add(w, &columns, "",
                     TEXT(w, ", %s AS \"sort%s\"", sorts.list[k], text_u64(w, k + 1)));
        for (size_t k = named.count; k < sorts.count; k++)
            add_sort(&named, TEXT(w, "\"sort%s\"", text_u64(w, k + 1)));
        text_add(w, &all, " UNION ALL ",
                 TEXT(w, "SELECT %s AS \"entity\", %s AS \"item\"%s FROM %s",
                      sql_string(w, a->entity->name), item_json(a), columns, from_where(a)));
    }
    if (a->access->count)
        return TEXT(w, "SELECT count(*) FROM (%s) AS items", all);
    return TEXT(w, "SELECT \"entity\", \"item\" FROM (%s) AS items%s", all, order_by(a, &named));
}

static struct slice parameter_types(struct asking *a)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < a->access->param_count; i++)
        text_add(a->w, &list, ", ",
                 slice_str(sql_type_name(SQL_POSTGRES, sql_kind(a->access->params[i].type))));
    return list.len == 0 ? list : TEXT(a->w, " (%s)", list);
}

void sql_query(struct writer *w, const struct model_access *access)
{
    struct asking a = {.w = w, .access = access};
    struct slice names = {NULL, 0};
    w->access = access;
    struct slice select = access->entity_count == 1 ? one_entity(&a) : several_entities(&a);
    if (!access->count && (access->one || access->limit > 0) && select.len > 0)
        select = TEXT(w, "%s LIMIT %s", select, text_u64(w, access->one ? 1 : access->limit));
    for (size_t i = 0; i < access->param_count; i++)
        text_add(w, &names, ", ", access->params[i].name);
    w->access = NULL;
    PUT(w, "-- %s(%s)\n", access->name, names);
    if (a.wrong || select.len == 0)
        PUT(w, "-- Not in SQL: access %s.\n", access->name);
    else if (is_sqlite(w))
        PUT(w, "%s;\n", select);
    else
        PUT(w, "PREPARE %s%s AS %s;\n", sql_quoted(w, access->name), parameter_types(&a), select);
}
