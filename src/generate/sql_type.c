// Columns: their types, and what can be checked of them. A union of several kinds, and whatever has
// members, is JSON; literals and ranges become CHECK constraints.
#include "generate/sql.h"

// How SQLite checks that a value is of a kind: it takes any in any column, unless told not to.
static const char *const sqlite_checks[SQL_KINDS] = {
    [SQL_TEXT] = "typeof(#) = 'text'",
    [SQL_NUMERIC] = "(typeof(#) IN ('integer', 'real') OR # GLOB '[-0-9]*')",
    [SQL_BIGINT] = "typeof(#) = 'integer'",
    [SQL_BOOLEAN] = "# IN (0, 1)",
    [SQL_BYTES] = "typeof(#) = 'blob'",
    [SQL_UUID] = "length(#) = 36 AND # GLOB '*-*-*-*-*'",
    [SQL_TIMESTAMP] = "# GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:*'",
    [SQL_DATE] = "date(#, '+0 days') = #",
};

// ---- Checks ----------------------------------------------------------------------------------

// Conditions of one column, put together with AND.
struct checks {
    struct writer *w;
    struct slice column; // quoted
    struct buf text;
    size_t count;
};

// A condition in which # stands for the column, as often as it is named.
static void check(struct checks *checks, const char *condition)
{
    buf_text(&checks->text, checks->count++ == 0 ? "" : " AND ");
    for (const char *at; (at = strchr(condition, '#')) != NULL; condition = at + 1) {
        buf_add(&checks->text, condition, (size_t)(at - condition));
        buf_slice(&checks->text, checks->column);
    }
    buf_text(&checks->text, condition);
}

static void check_either(struct checks *checks, const char *sqlite, const char *postgres)
{
    check(checks, is_sqlite(checks->w) ? sqlite : postgres);
}

static void check_literals(struct checks *checks, const struct model_type *type)
{
    size_t shown = 0;
    check(checks, "# IN (");
    if (type->kind == MODEL_LITERAL)
        buf_slice(&checks->text, sql_literal(checks->w, type->literal));
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (type->options[i]->kind != MODEL_LITERAL)
            continue;
        buf_text(&checks->text, shown++ == 0 ? "" : ", ");
        buf_slice(&checks->text, sql_literal(checks->w, type->options[i]->literal));
    }
    buf_byte(&checks->text, ')');
}

// The limits of a range, of the value or of its length.
static void check_range(struct checks *checks, const struct model_type *type, const char *sqlite,
                        const char *postgres)
{
    const struct {
        struct slice limit;
        const char *operator;
    } limits[] = {{type->min, " >= "}, {type->max, " <= "}};
    for (size_t i = 0; i < 2; i++) {
        if (limits[i].limit.len == 0)
            continue;
        check_either(checks, sqlite, postgres);
        buf_text(&checks->text, limits[i].operator);
        buf_slice(&checks->text, text_number(checks->w, limits[i].limit));
    }
}

// SQLite has no regular expressions: there it is a comment at the column.
static void check_pattern(struct checks *checks, struct slice pattern)
{
    if (pattern.len == 0 || is_sqlite(checks->w))
        return;
    check(checks, "# ~ ");
    buf_slice(&checks->text, sql_string(checks->w, TEXT(checks->w, "^(?:%s)$", pattern)));
}

static void check_text(struct checks *checks, const struct model_type *type, unsigned normal)
{
    if (type->kind == MODEL_STRING)
        check_range(checks, type, "length(#)", "char_length(#)");
    if (type->kind == MODEL_EMAIL)
        check_either(checks, "# LIKE '_%@_%'", "# ~ '^[^@[:space:]]+@[^@[:space:]]+$'");
    if (type->kind == MODEL_URL)
        check_either(checks, "# LIKE '_%:_%'", "# ~ '^[A-Za-z][A-Za-z0-9+.-]*:.'");
    if ((normal & MODEL_LOWER) != 0)
        check_either(checks, "# = lower(#)", "# = lower(# COLLATE \"C\")");
    if ((normal & MODEL_UPPER) != 0)
        check_either(checks, "# = upper(#)", "# = upper(# COLLATE \"C\")");
    if ((normal & MODEL_TRIM) != 0)
        check_either(checks, "# = trim(#, char(9, 10, 11, 12, 13, 32))",
                     "# = btrim(#, E' \\t\\n\\013\\f\\r')");
    if ((normal & MODEL_SQUEEZE) != 0)
        check_either(checks, "instr(#, '  ') = 0", "# !~ E'[ \\t\\n\\013\\f\\r]{2}'");
    if ((normal & MODEL_NFC) != 0 && !is_sqlite(checks->w))
        check(checks, "# IS NFC NORMALIZED");
}

// ---- JSON ------------------------------------------------------------------------------------

// What JSON calls a type, as a list of strings; NULL if it says nothing, or several things. SQLite
// has other words, and two for numbers and booleans.
static const char *json_names(const struct writer *w, const struct model_type *type)
{
    static const char *const names[][2] = {
        [VALUE_S] = {"'string'", "'text'"},
        [VALUE_B] = {"'string'", "'text'"},
        [VALUE_N] = {"'number'", "'integer', 'real'"},
        [VALUE_BOOL] = {"'boolean'", "'true', 'false'"},
        [VALUE_SS] = {"'array'", "'array'"},
        [VALUE_NS] = {"'array'", "'array'"},
        [VALUE_BS] = {"'array'", "'array'"},
        [VALUE_L] = {"'array'", "'array'"},
        [VALUE_M] = {"'object'", "'object'"},
        [VALUE_NULL] = {"'null'", "'null'"},
        [VALUE_TYPES] = {NULL, NULL},
    };
    return names[type_stored(type)][is_sqlite(w)];
}

static void check_union(struct checks *checks, const struct model_type *type)
{
    bool one = type->kind != MODEL_UNION;
    size_t count = one ? 1 : type->option_count;
    for (size_t i = 0; i < count; i++) {
        if (json_names(checks->w, one ? type : type->options[i]) == NULL)
            return;
    }
    check_either(checks, "json_type(#) IN (", "jsonb_typeof(#) IN (");
    for (size_t i = 0; i < count; i++) {
        buf_text(&checks->text, i == 0 ? "" : ", ");
        buf_text(&checks->text, json_names(checks->w, one ? type : type->options[i]));
    }
    buf_byte(&checks->text, ')');
}

// That the members are there which every valid object has.
static void check_members(struct checks *checks, const struct model_type *type)
{
    struct writer *w = checks->w;
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    for (size_t i = 0; i < count; i++) {
        if (fields[i]->optional)
            continue;
        check_either(checks, "json_type(#, ", "# -> ");
        buf_slice(&checks->text, sql_string(w, is_sqlite(w) ? TEXT(w, "$.\"%s\"", fields[i]->name)
                                                            : fields[i]->name));
        buf_slice(&checks->text, sql_either(w, ") IS NOT NULL", " IS NOT NULL"));
    }
}

static void check_json(struct checks *checks, const struct model_type *type)
{
    const struct model_type *bare = type_bare(type);
    if (is_sqlite(checks->w))
        check(checks, "json_valid(#)");
    check_union(checks, bare);
    if (bare->kind == MODEL_LIST || bare->kind == MODEL_SET)
        check_range(checks, bare, "json_array_length(#)", "jsonb_array_length(#)");
    if (bare->kind == MODEL_OBJECT)
        check_members(checks, bare);
}

// ---- One column ------------------------------------------------------------------------------

static void check_kind(struct checks *checks, const struct model_attribute *attribute)
{
    const struct model_type *bare = type_bare(attribute->type);
    enum sql_kind kind = sql_kind(attribute->type);
    if (is_sqlite(checks->w) && sqlite_checks[kind] != NULL)
        check(checks, sqlite_checks[kind]);
    if (kind == SQL_JSON) {
        check_json(checks, attribute->type);
        return;
    }
    if (type_literals(attribute->type, type_stored(attribute->type)))
        check_literals(checks, attribute->type);
    if (kind == SQL_TEXT)
        check_text(checks, bare, attribute->normal);
    if (kind == SQL_TEXT)
        check_pattern(checks, attribute->pattern);
    if (bare->kind == MODEL_NUMBER || bare->kind == MODEL_INTEGER || bare->kind == MODEL_EPOCH)
        check_range(checks, bare, "#", "#");
    if (bare->kind == MODEL_BINARY)
        check_range(checks, bare, "length(#)", "octet_length(#)");
}

void sql_check(struct writer *w, const struct model_entity *entity,
               const struct model_attribute *attribute)
{
    struct checks checks = {.w = w, .column = sql_column(w, sql_of(w, entity), attribute)};
    buf_init(&checks.text, 1 << 20);
    check_kind(&checks, attribute);
    struct slice text = text_keep(w, &checks.text);
    if (checks.count > 0 && attribute_always(attribute))
        PUT(w, " CHECK (%s)", text);
    else if (checks.count > 0)
        PUT(w, " CHECK (%s IS NULL OR (%s))", checks.column, text);
}

// ---- Defaults --------------------------------------------------------------------------------

static struct slice now_text(const struct writer *w, enum sql_kind kind)
{
    switch (kind) {
    case SQL_BIGINT:
    case SQL_NUMERIC:
        return sql_either(w, "(CAST(strftime('%s', 'now') AS INTEGER))",
                          "(extract(epoch FROM now())::bigint)");
    case SQL_DATE:
        return sql_either(w, "(date('now'))", "current_date");
    default:
        return sql_either(w, "(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))", "now()");
    }
}

static struct slice uuid_text(const struct writer *w, enum sql_kind kind)
{
    return sql_either(w,
                      "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || "
                      "substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || "
                      "'-' || hex(randomblob(6))))",
                      kind == SQL_UUID ? "gen_random_uuid()" : "gen_random_uuid()::text");
}

void sql_default(struct writer *w, const struct model_attribute *attribute)
{
    const struct model_expr *expr = attribute->otherwise;
    enum sql_kind kind = sql_kind(attribute->type);
    if (attribute->version)
        buf_text(w->out, " DEFAULT 1");
    if (attribute->tally != NULL)
        buf_text(w->out, " DEFAULT 0");
    if (expr == NULL || attribute->version || attribute->tally != NULL)
        return;
    if (expr->kind == MODEL_EXPR_VALUE && (kind != SQL_JSON || value_type(expr->value) == VALUE_M ||
                                           value_type(expr->value) == VALUE_L))
        PUT(w, " DEFAULT %s", sql_literal(w, expr->value));
    else if (expr->kind == MODEL_EXPR_CALL && expr->function == MODEL_FN_NOW)
        PUT(w, " DEFAULT %s", now_text(w, kind));
    else if (expr->kind == MODEL_EXPR_CALL && expr->function == MODEL_FN_UUID)
        PUT(w, " DEFAULT %s", uuid_text(w, kind));
}

struct slice sql_generated(struct writer *w, const struct model_entity *entity,
                           const struct model_attribute *attribute)
{
    return attribute->always && attribute->otherwise != NULL &&
                   sql_is_immutable(w, attribute->otherwise)
               ? sql_value(w, sql_of(w, entity), attribute->otherwise)
               : slice_of(NULL, 0);
}
