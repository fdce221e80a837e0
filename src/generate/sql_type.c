// Columns: their types, and what can be checked of them. A union of several kinds, and whatever has
// members, is JSON; literals and ranges become CHECK constraints.
#include "generate/sql.h"

enum sql_kind sql_kind(const struct model_type *type)
{
    const struct model_type *bare = type_bare(type);
    switch (type_stored(type)) {
    case VALUE_S:
        return bare->kind == MODEL_UUID        ? SQL_UUID
               : bare->kind == MODEL_TIMESTAMP ? SQL_TIMESTAMP
               : bare->kind == MODEL_DATE      ? SQL_DATE
                                               : SQL_TEXT;
    case VALUE_N:
        return bare->kind == MODEL_INTEGER || bare->kind == MODEL_EPOCH ? SQL_BIGINT : SQL_NUMERIC;
    case VALUE_BOOL:
        return SQL_BOOLEAN;
    case VALUE_B:
        return SQL_BYTES;
    default:
        return SQL_JSON;
    }
}

const char *sql_type(const struct sql *sql, enum sql_kind kind)
{
    static const char *const postgres[] = {"text", "numeric",     "bigint", "boolean", "bytea",
                                           "uuid", "timestamptz", "date",   "jsonb"};
    static const char *const sqlite[] = {"TEXT", "NUMERIC", "INTEGER", "INTEGER", "BLOB",
                                         "TEXT", "TEXT",    "TEXT",    "TEXT"};
    return sql->sqlite ? sqlite[kind] : postgres[kind];
}

// ---- Names -----------------------------------------------------------------------------------

static void quoted(struct buf *out, struct slice name)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"')
            buf_byte(out, '"');
        buf_byte(out, name.ptr[i]);
    }
    buf_byte(out, '"');
}

void sql_table(struct buf *out, const struct model_entity *entity)
{
    struct buf name;
    buf_init(&name, 4096);
    text_entity(&name, entity);
    buf_byte(out, '"');
    text_snake(out, buf_view(&name));
    buf_byte(out, '"');
    buf_release(&name);
}

// Whether two names are the same word for word, so that one of them must stay as it is.
static bool clashes(const struct model_entity *entity, const struct model_attribute *attribute,
                    struct slice snake)
{
    bool clash = false;
    for (size_t i = 0; !clash && i < entity->attribute_count; i++) {
        struct buf other;
        buf_init(&other, 4096);
        text_snake(&other, entity->attributes[i].name);
        clash = &entity->attributes[i] != attribute && slice_equal(buf_view(&other), snake);
        buf_release(&other);
    }
    return clash;
}

void sql_column(struct buf *out, const struct model_entity *entity,
                const struct model_attribute *attribute)
{
    struct buf snake;
    buf_init(&snake, 4096);
    text_snake(&snake, attribute->name);
    quoted(out, clashes(entity, attribute, buf_view(&snake)) ? attribute->name : buf_view(&snake));
    buf_release(&snake);
}

// ---- Checks ----------------------------------------------------------------------------------

// Conditions of one column, put together with AND.
struct checks {
    struct sql *sql;
    struct slice column; // quoted
    struct buf text;
    size_t count;
};

// A condition in which %s stands for the column, as often as it is named.
static void check(struct checks *checks, const char *condition)
{
    buf_text(&checks->text, checks->count++ == 0 ? "" : " AND ");
    for (const char *at = condition; *at != 0; at++) {
        if (at[0] == '%' && at[1] == 's') {
            buf_slice(&checks->text, checks->column);
            at++;
        } else {
            buf_byte(&checks->text, (uint8_t)*at);
        }
    }
}

static void literal(struct checks *checks, struct slice value)
{
    switch (value_type(value)) {
    case VALUE_N:
        text_number(&checks->text, value_bytes(value));
        break;
    case VALUE_BOOL:
        buf_text(&checks->text, checks->sql->sqlite ? value_bool(value) ? "1" : "0"
                                : value_bool(value) ? "true"
                                                    : "false");
        break;
    default:
        text_sql(&checks->text, value_bytes(value));
    }
}

static void check_literals(struct checks *checks, const struct model_type *type)
{
    size_t shown = 0;
    check(checks, "%s IN (");
    if (type->kind == MODEL_LITERAL)
        literal(checks, type->literal);
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (type->options[i]->kind != MODEL_LITERAL)
            continue;
        buf_text(&checks->text, shown++ == 0 ? "" : ", ");
        literal(checks, type->options[i]->literal);
    }
    buf_byte(&checks->text, ')');
}

// The limits of a range, of `what` (in which %s stands for the column).
static void check_range(struct checks *checks, const struct model_type *type, const char *what)
{
    if (type->min.len > 0) {
        check(checks, what);
        buf_text(&checks->text, " >= ");
        text_number(&checks->text, type->min);
    }
    if (type->max.len > 0) {
        check(checks, what);
        buf_text(&checks->text, " <= ");
        text_number(&checks->text, type->max);
    }
}

static void check_text(struct checks *checks, const struct model_type *type, unsigned normal)
{
    bool sqlite = checks->sql->sqlite;
    if (type->kind == MODEL_STRING)
        check_range(checks, type, sqlite ? "length(%s)" : "char_length(%s)");
    if (type->kind == MODEL_EMAIL)
        check(checks, sqlite ? "%s LIKE '_%@_%'" : "%s ~ '^[^@[:space:]]+@[^@[:space:]]+$'");
    if (type->kind == MODEL_URL)
        check(checks, sqlite ? "%s LIKE '_%:_%'" : "%s ~ '^[A-Za-z][A-Za-z0-9+.-]*:.'");
    if ((normal & MODEL_LOWER) != 0)
        check(checks, sqlite ? "%s = lower(%s)" : "%s = lower(%s COLLATE \"C\")");
    if ((normal & MODEL_UPPER) != 0)
        check(checks, sqlite ? "%s = upper(%s)" : "%s = upper(%s COLLATE \"C\")");
    if ((normal & MODEL_TRIM) != 0)
        check(checks, sqlite ? "%s = trim(%s, char(9, 10, 11, 12, 13, 32))"
                             : "%s = btrim(%s, E' \\t\\n\\013\\f\\r')");
}

// ---- JSON ------------------------------------------------------------------------------------

// What JSON calls a type; NULL if it says nothing, or several things.
static const char *json_name(const struct model_type *type)
{
    switch (type_stored(type)) {
    case VALUE_S:
    case VALUE_B:
        return "string";
    case VALUE_N:
        return "number";
    case VALUE_BOOL:
        return "boolean";
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_L:
        return "array";
    case VALUE_M:
        return "object";
    case VALUE_NULL:
        return "null";
    default:
        return NULL;
    }
}

// SQLite has other words, and two for numbers and booleans.
static void json_names(struct checks *checks, const char *name)
{
    static const char *const words[][2] = {
        {"string", "'text'"}, {"number", "'integer', 'real'"}, {"boolean", "'true', 'false'"},
        {"array", "'array'"}, {"object", "'object'"},          {"null", "'null'"},
    };
    for (size_t i = 0; checks->sql->sqlite && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i][0], name) == 0)
            buf_text(&checks->text, words[i][1]);
    }
    if (!checks->sql->sqlite)
        buf_printf(&checks->text, "'%s'", name);
}

static void check_union(struct checks *checks, const struct model_type *type)
{
    bool one = type->kind != MODEL_UNION;
    for (size_t i = 0; i < (one ? 1 : type->option_count); i++) {
        if (json_name(one ? type : type->options[i]) == NULL)
            return;
    }
    check(checks, checks->sql->sqlite ? "json_type(%s) IN (" : "jsonb_typeof(%s) IN (");
    for (size_t i = 0; i < (one ? 1 : type->option_count); i++) {
        buf_text(&checks->text, i == 0 ? "" : ", ");
        json_names(checks, json_name(one ? type : type->options[i]));
    }
    buf_byte(&checks->text, ')');
}

// That the members are there which every valid object has.
static void check_members(struct checks *checks, const struct model_type *type)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    for (size_t i = 0; i < count; i++) {
        if (fields[i]->optional)
            continue;
        if (checks->sql->sqlite) {
            struct buf path;
            buf_init(&path, 64 << 10);
            buf_text(&path, "$.\"");
            buf_slice(&path, fields[i]->name);
            buf_byte(&path, '"');
            check(checks, "json_type(%s, ");
            text_sql(&checks->text, buf_view(&path));
            buf_release(&path);
            buf_text(&checks->text, ") IS NOT NULL");
        } else {
            check(checks, "%s -> ");
            text_sql(&checks->text, fields[i]->name);
            buf_text(&checks->text, " IS NOT NULL");
        }
    }
}

static void check_json(struct checks *checks, const struct model_type *type)
{
    const struct model_type *bare = type_bare(type);
    bool sqlite = checks->sql->sqlite;
    if (sqlite)
        check(checks, "json_valid(%s)");
    check_union(checks, bare);
    if (bare->kind == MODEL_LIST || bare->kind == MODEL_SET)
        check_range(checks, bare, sqlite ? "json_array_length(%s)" : "jsonb_array_length(%s)");
    if (bare->kind == MODEL_OBJECT)
        check_members(checks, bare);
}

// ---- One column ------------------------------------------------------------------------------

// SQLite takes any value in any column, unless told not to.
static void check_storage(struct checks *checks, enum sql_kind kind)
{
    static const char *const conditions[] = {
        [SQL_TEXT] = "typeof(%s) = 'text'",
        [SQL_NUMERIC] = "typeof(%s) IN ('integer', 'real')",
        [SQL_BIGINT] = "typeof(%s) = 'integer'",
        [SQL_BOOLEAN] = "%s IN (0, 1)",
        [SQL_BYTES] = "typeof(%s) = 'blob'",
        [SQL_UUID] = "length(%s) = 36 AND %s GLOB '*-*-*-*-*'",
        [SQL_TIMESTAMP] = "%s GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:*'",
        [SQL_DATE] = "date(%s, '+0 days') = %s",
        [SQL_JSON] = NULL,
    };
    if (checks->sql->sqlite && conditions[kind] != NULL)
        check(checks, conditions[kind]);
}

static void check_kind(struct checks *checks, const struct model_attribute *attribute)
{
    const struct model_type *bare = type_bare(attribute->type);
    enum sql_kind kind = sql_kind(attribute->type);
    check_storage(checks, kind);
    if (kind == SQL_JSON) {
        check_json(checks, attribute->type);
        return;
    }
    if (type_literals(attribute->type, type_stored(attribute->type)))
        check_literals(checks, attribute->type);
    if (kind == SQL_TEXT)
        check_text(checks, bare, attribute->normal);
    if (bare->kind == MODEL_NUMBER || bare->kind == MODEL_INTEGER || bare->kind == MODEL_EPOCH)
        check_range(checks, bare, "%s");
    if (bare->kind == MODEL_BINARY)
        check_range(checks, bare, checks->sql->sqlite ? "length(%s)" : "octet_length(%s)");
}

void sql_check(struct sql *sql, const struct model_entity *entity,
               const struct model_attribute *attribute)
{
    struct buf column;
    struct checks checks = {.sql = sql};
    buf_init(&column, 4096);
    buf_init(&checks.text, 1 << 20);
    sql_column(&column, entity, attribute);
    checks.column = buf_view(&column);
    check_kind(&checks, attribute);
    if (checks.count > 0) {
        bool absent = !attribute_always(attribute);
        buf_text(sql->out, " CHECK (");
        if (absent)
            buf_printf(sql->out, "%.*s IS NULL OR (", SLICE_FMT(checks.column));
        buf_slice(sql->out, buf_view(&checks.text));
        buf_text(sql->out, absent ? "))" : ")");
    }
    sql->out->failed = sql->out->failed || checks.text.failed;
    buf_release(&column);
    buf_release(&checks.text);
}

// ---- Defaults --------------------------------------------------------------------------------

static const char *now_text(const struct sql *sql, enum sql_kind kind)
{
    switch (kind) {
    case SQL_BIGINT:
    case SQL_NUMERIC:
        return sql->sqlite ? "(CAST(strftime('%s', 'now') AS INTEGER))"
                           : "(extract(epoch FROM now())::bigint)";
    case SQL_DATE:
        return sql->sqlite ? "(date('now'))" : "current_date";
    default:
        return sql->sqlite ? "(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))" : "now()";
    }
}

static void default_value(struct sql *sql, struct slice value)
{
    buf_text(sql->out, " DEFAULT ");
    switch (value_type(value)) {
    case VALUE_S:
        text_sql(sql->out, value_bytes(value));
        break;
    case VALUE_N:
        text_number(sql->out, value_bytes(value));
        break;
    case VALUE_BOOL:
        buf_text(sql->out, sql->sqlite         ? value_bool(value) ? "1" : "0"
                           : value_bool(value) ? "true"
                                               : "false");
        break;
    case VALUE_M:
        buf_text(sql->out, "'{}'");
        break;
    case VALUE_L:
        buf_text(sql->out, "'[]'");
        break;
    default:
        buf_text(sql->out, "NULL");
    }
}

void sql_default(struct sql *sql, const struct model_attribute *attribute)
{
    const struct model_expr *expr = attribute->otherwise;
    enum sql_kind kind = sql_kind(attribute->type);
    if (attribute->version)
        buf_text(sql->out, " DEFAULT 1");
    if (expr == NULL || attribute->version)
        return;
    if (expr->kind == MODEL_EXPR_VALUE && (kind != SQL_JSON || value_type(expr->value) == VALUE_M ||
                                           value_type(expr->value) == VALUE_L))
        default_value(sql, expr->value);
    if (expr->kind != MODEL_EXPR_CALL)
        return;
    if (expr->function == MODEL_FN_NOW)
        buf_printf(sql->out, " DEFAULT %s", now_text(sql, kind));
    if (expr->function == MODEL_FN_UUID)
        buf_text(sql->out,
                 sql->sqlite
                     ? " DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || "
                       "substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || "
                       "'-' || hex(randomblob(6))))"
                 : kind == SQL_UUID ? " DEFAULT gen_random_uuid()"
                                    : " DEFAULT gen_random_uuid()::text");
}
