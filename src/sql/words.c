// Names, literals and columns in SQL.
#include "sql/words.h"

bool is_sqlite(const struct writer *w)
{
    return w->schema->dialect == SQL_SQLITE;
}

struct slice sql_either(const struct writer *w, const char *sqlite, const char *postgres)
{
    return slice_str(is_sqlite(w) ? sqlite : postgres);
}

// ---- Kinds -----------------------------------------------------------------------------------

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

static const struct {
    const char *word;
    const char *types[2];
} kinds[SQL_KINDS] = {
#define X(kind, postgres, sqlite) [SQL_##kind] = {#kind, {postgres, sqlite}},
    SQL_KIND_LIST(X)
#undef X
};

const char *sql_kind_word(enum sql_kind kind)
{
    return kinds[kind].word;
}

const char *sql_type_name(enum sql_dialect dialect, enum sql_kind kind)
{
    return kinds[kind].types[dialect];
}

// ---- Names and literals ----------------------------------------------------------------------

struct slice sql_string(struct writer *w, struct slice text)
{
    return text_doubled(w, '\'', text);
}

struct slice sql_quoted(struct writer *w, struct slice name)
{
    return text_doubled(w, '"', name);
}

struct slice sql_full_name(struct writer *w, struct slice name)
{
    return w->schema->name.len == 0
               ? sql_quoted(w, name)
               : TEXT(w, "%s.%s", sql_quoted(w, w->schema->name), sql_quoted(w, name));
}

struct slice sql_literal(struct writer *w, struct slice value)
{
    switch (value_type(value)) {
    case VALUE_BOOL:
        return value_bool(value) ? sql_either(w, "1", "true") : sql_either(w, "0", "false");
    case VALUE_S:
        return sql_string(w, value_bytes(value));
    case VALUE_M:
    case VALUE_L:
        return sql_string(w, text_value(w, value, ""));
    default:
        return text_value(w, value, "NULL");
    }
}

// ---- Columns ---------------------------------------------------------------------------------

const struct sql_column *sql_column_of(const struct sql_table *table,
                                       const struct model_attribute *attribute)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].attribute == attribute && table->columns[i].source == SQL_FROM_ITEM)
            return &table->columns[i];
    }
    return NULL;
}

struct slice sql_column(struct writer *w, const struct sql_table *table,
                        const struct model_attribute *attribute)
{
    const struct sql_column *column = sql_column_of(table, attribute);
    return column == NULL ? SLICE_LIT("NULL") : sql_quoted(w, column->name);
}

struct slice sql_column_list(struct writer *w, const struct sql_table *table,
                             const struct sql_columns *columns)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < columns->count; i++)
        text_add(w, &list, ", ", sql_quoted(w, table->columns[columns->list[i]].name));
    return list;
}

// ---- Values in keys ----------------------------------------------------------------------------

static const char *time_format(unsigned form)
{
    return (form & MODEL_SECONDS) != 0
               ? "(to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))"
           : (form & MODEL_MICROSECONDS) != 0
               ? "(to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'))"
               : "(to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))";
}

struct slice sql_as_text(struct writer *w, enum sql_kind kind, unsigned form, struct slice value)
{
    static const char *const formats[SQL_KINDS] = {
        [SQL_TEXT] = "(%s)",
        [SQL_NUMERIC] = "(trim_scale(%s)::text)",
        [SQL_BIGINT] = "(%s::text)",
        [SQL_BOOLEAN] = "(%s::text)",
        [SQL_BYTES] = "(encode(%s, 'base64'))",
        [SQL_UUID] = "(%s::text)",
        [SQL_DATE] = "(to_char(%s, 'YYYY-MM-DD'))",
        [SQL_JSON] = "(%s #>> '{}')",
    };
    if (!is_sqlite(w))
        return TEXT(w, kind == SQL_TIMESTAMP ? time_format(form) : formats[kind], value);
    if (kind == SQL_BOOLEAN)
        return TEXT(w, "(CASE %s WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)", value);
    return value;
}

struct slice sql_key_text(struct writer *w, const struct sql_table *table,
                          const struct model_attribute *attribute)
{
    return sql_as_text(w, sql_kind(attribute->type),
                       attribute->normal | model_type_form(attribute->type),
                       sql_column(w, table, attribute));
}

// ---- Parameters --------------------------------------------------------------------------------

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

struct slice sql_param(struct writer *w, size_t which)
{
    const struct model_param *param = &w->access->params[which];
    unsigned normal = param_normal(w->access, param);
    struct slice text = TEXT(w, is_sqlite(w) ? "?%s" : "$%s", text_u64(w, which + 1));
    if (sql_kind(param->type) != SQL_TEXT)
        return text;
    if ((normal & MODEL_NFC) != 0 && !is_sqlite(w))
        text = TEXT(w, "normalize(%s)", text);
    if ((normal & MODEL_TRIM) != 0)
        text = TEXT(w,
                    is_sqlite(w) ? "trim(%s, char(9, 10, 11, 12, 13, 32))"
                                 : "btrim(%s, E' \\t\\n\\013\\f\\r')",
                    text);
    if ((normal & MODEL_LOWER) != 0)
        text = TEXT(w, is_sqlite(w) ? "lower(%s)" : "lower(%s COLLATE \"C\")", text);
    if ((normal & MODEL_UPPER) != 0)
        text = TEXT(w, is_sqlite(w) ? "upper(%s)" : "upper(%s COLLATE \"C\")", text);
    return text;
}
