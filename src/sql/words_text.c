// Keys in SQL: expressions and templates as text, computed from a row. || and NULL do what a
// template does with a missing attribute, so that a sparse key is NULL. Every part of an entry that
// lacks another part is NULL, too.
#include "sql/words.h"

#include <stdio.h>

#include "value/number.h"

// ---- Values as text --------------------------------------------------------------------------

static struct slice path_text(struct writer *w, const struct sql_table *table,
                              const struct model_expr *expr)
{
    struct slice path = {NULL, 0};
    if (expr->attribute == NULL)
        return SLICE_LIT("NULL");
    if (expr->step_count == 1)
        return sql_key_text(w, table, expr->attribute);
    for (size_t i = 1; i < expr->step_count; i++)
        text_add(w, &path, is_sqlite(w) ? "." : ",", TEXT(w, "\"%s\"", expr->steps[i]));
    struct slice column = sql_column(w, table, expr->attribute);
    return is_sqlite(w)
               ? TEXT(w, "json_extract(%s, %s)", column, sql_string(w, TEXT(w, "$.%s", path)))
               : TEXT(w, "(%s #>> %s)", column, sql_string(w, TEXT(w, "{%s}", path)));
}

static struct slice value_text(struct writer *w, struct slice value)
{
    enum value_type type = value_type(value);
    if (type == VALUE_S)
        return sql_string(w, value_bytes(value));
    if (type == VALUE_N || type == VALUE_BOOL)
        return sql_string(w, text_value(w, value, ""));
    return SLICE_LIT("NULL");
}

// ---- Functions -------------------------------------------------------------------------------

// As many zeros as the number says: SQLite cannot repeat a text.
static struct slice zeros(struct writer *w, struct slice number)
{
    struct buf text;
    int64_t count = 0;
    buf_init(&text, 4096);
    if (number_to_i64(number, &count)) {
        for (int64_t i = 0; i < count; i++)
            buf_byte(&text, '0');
    }
    return text_keep(w, &text);
}

// Zeros in front, as many as the digits before the point are too few.
static struct slice pad_text(struct writer *w, const struct sql_table *table,
                             const struct model_expr *expr)
{
    bool number = expr_is_number(expr->args[0]);
    struct slice text = sql_text(w, table, expr->args[0]);
    struct slice width = value_bytes(expr->args[1]->value);
    if (is_sqlite(w))
        return TEXT(w, "(substr('%s', 1, max(0, %s - length(%s))) || %s)", zeros(w, width),
                    text_number(w, width),
                    number ? TEXT(w, "CAST(CAST(%s AS INTEGER) AS TEXT)", text) : text, text);
    return TEXT(w, "(repeat('0', greatest(0, %s - char_length(%s))) || %s)", text_number(w, width),
                number ? TEXT(w, "split_part(%s, '.', 1)", text) : text, text);
}

static struct slice sha256_text(struct writer *w, const struct sql_table *table,
                                const struct model_expr *expr)
{
    struct slice all = {NULL, 0};
    if (is_sqlite(w))
        return SLICE_LIT("NULL"); // it has no digests
    for (size_t i = 0; i < expr->arg_count; i++)
        text_add(
            w, &all, " || ",
            TEXT(w, "convert_to(%s, 'UTF8') || '\\x00'::bytea", sql_text(w, table, expr->args[i])));
    return TEXT(w, "encode(sha256(%s), 'hex')", all);
}

// A date pattern in the words of to_char() or strftime().
static struct slice date_pattern(struct writer *w, struct slice pattern)
{
    static const struct {
        const char *ours;
        const char *postgres;
        const char *sqlite;
    } words[] = {{"yyyy", "YYYY", "%Y"}, {"mm", "MM", "%m"}, {"dd", "DD", "%d"},
                 {"HH", "HH24", "%H"},   {"MM", "MI", "%M"}, {"SS", "SS", "%S"}};
    struct buf out;
    buf_init(&out, 4096);
    for (size_t at = 0; at < pattern.len;) {
        struct slice rest = slice_of(pattern.ptr + at, pattern.len - at);
        size_t i = 0;
        while (i < 6 && !slice_begins(rest, slice_str(words[i].ours)))
            i++;
        if (i < 6)
            buf_slice(&out, sql_either(w, words[i].sqlite, words[i].postgres));
        else if (is_sqlite(w))
            buf_printf(&out, rest.ptr[0] == '%' ? "%%%c" : "%c", rest.ptr[0]);
        else
            buf_printf(&out, "\"%c\"", rest.ptr[0]);
        at += i < 6 ? strlen(words[i].ours) : 1;
    }
    return sql_string(w, text_keep(w, &out));
}

// The time itself, not its text.
static struct slice time_value(struct writer *w, const struct sql_table *table,
                               const struct model_expr *expr)
{
    const struct model_attribute *attribute =
        expr->kind == MODEL_EXPR_PATH && expr->step_count == 1 ? expr->attribute : NULL;
    if (is_sqlite(w))
        return TEXT(w, expr_is_number(expr) ? "%s, 'unixepoch'" : "%s", sql_text(w, table, expr));
    if (attribute == NULL)
        return TEXT(w, "(%s)::timestamptz AT TIME ZONE 'UTC'", sql_text(w, table, expr));
    return TEXT(w,
                expr_is_number(expr)                    ? "to_timestamp(%s) AT TIME ZONE 'UTC'"
                : sql_kind(attribute->type) == SQL_DATE ? "%s"
                                                        : "%s AT TIME ZONE 'UTC'",
                sql_column(w, table, attribute));
}

static struct slice date_text(struct writer *w, const struct sql_table *table,
                              const struct model_expr *expr)
{
    struct slice pattern = date_pattern(w, value_bytes(expr->args[1]->value));
    struct slice time = time_value(w, table, expr->args[0]);
    return is_sqlite(w) ? TEXT(w, "strftime(%s, %s)", pattern, time)
                        : TEXT(w, "to_char(%s, %s)", time, pattern);
}

static struct slice fixed_text(struct writer *w, const struct sql_table *table,
                               const struct model_expr *expr)
{
    struct slice value = sql_text(w, table, expr->args[0]);
    struct slice digits = text_number(w, value_bytes(expr->args[1]->value));
    return is_sqlite(w) ? TEXT(w, "printf('%%.' || %s || 'f', %s)", digits, value)
                        : TEXT(w, "round((%s)::numeric, %s)::text", value, digits);
}

// "%" first, so that what is escaped stays.
static struct slice escape_text(struct writer *w, const struct sql_table *table,
                                const struct model_expr *expr)
{
    char code[4];
    uint8_t mark = expr->arg_count > 1 ? value_bytes(expr->args[1]->value).ptr[0] : '#';
    (void)snprintf(code, sizeof(code), "%%%02X", mark);
    return TEXT(w, "replace(replace(%s, '%%', '%%25'), %s, '%s')",
                sql_text(w, table, expr->args[0]), sql_string(w, slice_of(&mark, 1)),
                slice_str(code));
}

static struct slice call_text(struct writer *w, const struct sql_table *table,
                              const struct model_expr *expr)
{
    // Texts are compared by bytes, so letters beyond ASCII stay what they are.
    static const char *const formats[][2] = {
        [MODEL_FN_LOWER] = {"lower(%s COLLATE \"C\")", "lower(%s)"},
        [MODEL_FN_UPPER] = {"upper(%s COLLATE \"C\")", "upper(%s)"},
        [MODEL_FN_TRIM] = {"btrim(%s, E' \\t\\n\\013\\f\\r')",
                           "trim(%s, char(9, 10, 11, 12, 13, 32))"},
    };
    switch (expr->function) {
    case MODEL_FN_LOWER:
    case MODEL_FN_UPPER:
    case MODEL_FN_TRIM:
        return TEXT(w, formats[expr->function][is_sqlite(w)], sql_text(w, table, expr->args[0]));
    case MODEL_FN_PAD:
        return pad_text(w, table, expr);
    case MODEL_FN_SHA256:
        return sha256_text(w, table, expr);
    case MODEL_FN_DATE_PART:
        return date_text(w, table, expr);
    case MODEL_FN_FIXED:
        return fixed_text(w, table, expr);
    case MODEL_FN_ESCAPE:
        return escape_text(w, table, expr);
    case MODEL_FN_FORBID:
    case MODEL_FN_RAW:
        return sql_text(w, table, expr->args[0]);
    default:
        return SLICE_LIT("NULL"); // now() and the like are not in keys
    }
}

// ---- Templates -------------------------------------------------------------------------------

struct slice sql_template(struct writer *w, const struct sql_table *table,
                          const struct model_template *template)
{
    struct slice text = {NULL, 0};
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        text_add(w, &text, " || ",
                 segment->expr == NULL ? sql_string(w, segment->literal)
                                       : sql_text(w, table, segment->expr));
    }
    return template->segment_count == 0 ? SLICE_LIT("NULL") : text;
}

// Of numbers; a time that is moved is for defaults.
static struct slice sum_text(struct writer *w, const struct sql_table *table,
                             const struct model_expr *expr)
{
    struct slice a = sql_text(w, table, expr->args[0]);
    struct slice b = sql_text(w, table, expr->args[1]);
    struct slice sign = slice_str(expr->kind == MODEL_EXPR_ADD        ? "+"
                                  : expr->kind == MODEL_EXPR_SUBTRACT ? "-"
                                                                      : "*");
    if (!expr_is_number(expr->args[0]))
        return SLICE_LIT("NULL");
    return is_sqlite(w) ? TEXT(w, "(%s %s %s)", a, sign, b)
                        : TEXT(w, "trim_scale((%s)::numeric %s (%s)::numeric)::text", a, sign, b);
}

// As the attribute of its name would stand in a key.
static struct slice param_text(struct writer *w, size_t which)
{
    const struct model_type *type = w->access->params[which].type;
    return sql_as_text(w, sql_kind(type), model_type_form(type), sql_param(w, which));
}

struct slice sql_text(struct writer *w, const struct sql_table *table,
                      const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return value_text(w, expr->value);
    case MODEL_EXPR_PATH:
        return path_text(w, table, expr);
    case MODEL_EXPR_TEMPLATE:
        return TEXT(w, "(%s)", sql_template(w, table, expr->template));
    case MODEL_EXPR_CALL:
        return call_text(w, table, expr);
    case MODEL_EXPR_ELSE:
        return TEXT(w, "coalesce(%s, %s)", sql_text(w, table, expr->args[0]),
                    sql_text(w, table, expr->args[1]));
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
    case MODEL_EXPR_MULTIPLY:
        return sum_text(w, table, expr);
    case MODEL_EXPR_PARAM:
        return w->access == NULL ? SLICE_LIT("NULL") : param_text(w, expr->param);
    default:
        return SLICE_LIT("NULL");
    }
}

struct slice sql_part(struct writer *w, const struct sql_table *table,
                      const struct model_key_part *part)
{
    const struct model_attribute *native = model_entity_attribute(table->entity, part->name);
    return part->template != NULL ? sql_template(w, table, part->template)
           : native != NULL       ? sql_key_text(w, table, native)
                                  : SLICE_LIT("NULL");
}

// A part of an index entry: there only if all parts are, and if the entry's test holds.
struct slice sql_entry(struct writer *w, const struct sql_table *table,
                       const struct model_entry *entry, size_t which)
{
    size_t count = keys_count(&entry->index->keys);
    struct slice all = {NULL, 0};
    if (!entry->stated)
        return sql_either(w, "NULL", "NULL::text");
    struct slice own = sql_part(w, table, &entry->parts[which]);
    if (entry->when != NULL)
        all = sql_test(w, table, entry->when);
    if (all.len == 0 && (count == 1 || !entry_sparse(table->entity, entry)))
        return own;
    all = all.len > 0 ? TEXT(w, "(%s)", all) : all;
    for (size_t i = 0; i < count; i++)
        text_add(w, &all, " AND ",
                 TEXT(w, "(%s) IS NOT NULL", sql_part(w, table, &entry->parts[i])));
    return TEXT(w, "CASE WHEN %s THEN %s END", all, own);
}
