// The view of a table's keys: for each row of each entity the values of the table's and the
// indexes' key attributes, computed from the row. || and NULL do what a template does with a
// missing attribute, so that a sparse key is NULL. Every part of an entry that lacks another part
// is NULL too.
#include "generate/sql.h"

#include <stdio.h>

#include "value/number.h"

static struct slice expr_text(struct writer *w, const struct model_entity *entity,
                              const struct model_expr *expr);

// ---- Values as text --------------------------------------------------------------------------

static struct slice path_text(struct writer *w, const struct model_entity *entity,
                              const struct model_expr *expr)
{
    struct slice path = {NULL, 0};
    if (expr->attribute == NULL)
        return SLICE_LIT("NULL");
    if (expr->step_count == 1)
        return sql_key_text(w, entity, expr->attribute);
    for (size_t i = 1; i < expr->step_count; i++)
        text_add(w, &path, is_sqlite(w) ? "." : ",", TEXT(w, "\"%s\"", expr->steps[i]));
    struct slice column = sql_column(w, entity, expr->attribute);
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
static struct slice pad_text(struct writer *w, const struct model_entity *entity,
                             const struct model_expr *expr)
{
    bool number = expr_is_number(expr->args[0]);
    struct slice text = expr_text(w, entity, expr->args[0]);
    struct slice width = value_bytes(expr->args[1]->value);
    if (is_sqlite(w))
        return TEXT(w, "(substr('%s', 1, max(0, %s - length(%s))) || %s)", zeros(w, width),
                    text_number(w, width),
                    number ? TEXT(w, "CAST(CAST(%s AS INTEGER) AS TEXT)", text) : text, text);
    return TEXT(w, "(repeat('0', greatest(0, %s - char_length(%s))) || %s)", text_number(w, width),
                number ? TEXT(w, "split_part(%s, '.', 1)", text) : text, text);
}

static struct slice sha256_text(struct writer *w, const struct model_entity *entity,
                                const struct model_expr *expr)
{
    struct slice all = {NULL, 0};
    if (is_sqlite(w))
        return SLICE_LIT("NULL"); // it has no digests
    for (size_t i = 0; i < expr->arg_count; i++)
        text_add(w, &all, " || ",
                 TEXT(w, "convert_to(%s, 'UTF8') || '\\x00'::bytea",
                      expr_text(w, entity, expr->args[i])));
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
static struct slice time_value(struct writer *w, const struct model_entity *entity,
                               const struct model_expr *expr)
{
    const struct model_attribute *attribute =
        expr->kind == MODEL_EXPR_PATH && expr->step_count == 1 ? expr->attribute : NULL;
    if (is_sqlite(w))
        return TEXT(w, expr_is_number(expr) ? "%s, 'unixepoch'" : "%s", expr_text(w, entity, expr));
    if (attribute == NULL)
        return TEXT(w, "(%s)::timestamptz AT TIME ZONE 'UTC'", expr_text(w, entity, expr));
    return TEXT(w,
                expr_is_number(expr)                    ? "to_timestamp(%s) AT TIME ZONE 'UTC'"
                : sql_kind(attribute->type) == SQL_DATE ? "%s"
                                                        : "%s AT TIME ZONE 'UTC'",
                sql_column(w, entity, attribute));
}

static struct slice date_text(struct writer *w, const struct model_entity *entity,
                              const struct model_expr *expr)
{
    struct slice pattern = date_pattern(w, value_bytes(expr->args[1]->value));
    struct slice time = time_value(w, entity, expr->args[0]);
    return is_sqlite(w) ? TEXT(w, "strftime(%s, %s)", pattern, time)
                        : TEXT(w, "to_char(%s, %s)", time, pattern);
}

static struct slice fixed_text(struct writer *w, const struct model_entity *entity,
                               const struct model_expr *expr)
{
    struct slice value = expr_text(w, entity, expr->args[0]);
    struct slice digits = text_number(w, value_bytes(expr->args[1]->value));
    return is_sqlite(w) ? TEXT(w, "printf('%%.' || %s || 'f', %s)", digits, value)
                        : TEXT(w, "round((%s)::numeric, %s)::text", value, digits);
}

// "%" first, so that what is escaped stays.
static struct slice escape_text(struct writer *w, const struct model_entity *entity,
                                const struct model_expr *expr)
{
    char code[4];
    uint8_t mark = expr->arg_count > 1 ? value_bytes(expr->args[1]->value).ptr[0] : '#';
    (void)snprintf(code, sizeof(code), "%%%02X", mark);
    return TEXT(w, "replace(replace(%s, '%%', '%%25'), %s, '%s')",
                expr_text(w, entity, expr->args[0]), sql_string(w, slice_of(&mark, 1)),
                slice_str(code));
}

static struct slice call_text(struct writer *w, const struct model_entity *entity,
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
        return TEXT(w, formats[expr->function][is_sqlite(w)], expr_text(w, entity, expr->args[0]));
    case MODEL_FN_PAD:
        return pad_text(w, entity, expr);
    case MODEL_FN_SHA256:
        return sha256_text(w, entity, expr);
    case MODEL_FN_DATE_PART:
        return date_text(w, entity, expr);
    case MODEL_FN_FIXED:
        return fixed_text(w, entity, expr);
    case MODEL_FN_ESCAPE:
        return escape_text(w, entity, expr);
    case MODEL_FN_FORBID:
    case MODEL_FN_RAW:
        return expr_text(w, entity, expr->args[0]);
    default:
        return SLICE_LIT("NULL"); // now() and the like are not in keys
    }
}

// ---- Templates -------------------------------------------------------------------------------

static struct slice template_text(struct writer *w, const struct model_entity *entity,
                                  const struct model_template *template)
{
    struct slice text = {NULL, 0};
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        text_add(w, &text, " || ",
                 segment->expr == NULL ? sql_string(w, segment->literal)
                                       : expr_text(w, entity, segment->expr));
    }
    return template->segment_count == 0 ? SLICE_LIT("NULL") : text;
}

// Of numbers; a time that is moved is for defaults.
static struct slice sum_text(struct writer *w, const struct model_entity *entity,
                             const struct model_expr *expr)
{
    struct slice a = expr_text(w, entity, expr->args[0]);
    struct slice b = expr_text(w, entity, expr->args[1]);
    struct slice sign = slice_str(expr->kind == MODEL_EXPR_ADD ? "+" : "-");
    if (!expr_is_number(expr->args[0]))
        return SLICE_LIT("NULL");
    return is_sqlite(w) ? TEXT(w, "(%s %s %s)", a, sign, b)
                        : TEXT(w, "trim_scale((%s)::numeric %s (%s)::numeric)::text", a, sign, b);
}

static struct slice expr_text(struct writer *w, const struct model_entity *entity,
                              const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return value_text(w, expr->value);
    case MODEL_EXPR_PATH:
        return path_text(w, entity, expr);
    case MODEL_EXPR_TEMPLATE:
        return TEXT(w, "(%s)", template_text(w, entity, expr->template));
    case MODEL_EXPR_CALL:
        return call_text(w, entity, expr);
    case MODEL_EXPR_ELSE:
        return TEXT(w, "coalesce(%s, %s)", expr_text(w, entity, expr->args[0]),
                    expr_text(w, entity, expr->args[1]));
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        return sum_text(w, entity, expr);
    default:
        return SLICE_LIT("NULL"); // there are no parameters in keys
    }
}

static struct slice part_text(struct writer *w, const struct model_entity *entity,
                              const struct model_key_part *part)
{
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    return part->template != NULL ? template_text(w, entity, part->template)
           : native != NULL       ? sql_key_text(w, entity, native)
                                  : SLICE_LIT("NULL");
}

// A part of an index entry: there only if all parts are.
static struct slice entry_text(struct writer *w, const struct model_entity *entity,
                               const struct model_entry *entry, size_t which)
{
    size_t count = keys_count(&entry->index->keys);
    struct slice all = {NULL, 0};
    if (!entry->stated)
        return sql_either(w, "NULL", "NULL::text");
    struct slice own = part_text(w, entity, &entry->parts[which]);
    if (count == 1 || !entry_sparse(entity, entry))
        return own;
    for (size_t i = 0; i < count; i++)
        text_add(w, &all, " AND ",
                 TEXT(w, "(%s) IS NOT NULL", part_text(w, entity, &entry->parts[i])));
    return TEXT(w, "CASE WHEN %s THEN %s END", all, own);
}

// ---- The view --------------------------------------------------------------------------------

// The value of one key attribute: the entity's own, or of the table's key, or of the first entry
// that makes it.
static struct slice key_column(struct writer *w, const struct model_entity *entity,
                               struct slice name)
{
    const struct model_attribute *native = model_entity_attribute(entity, name);
    if (native != NULL)
        return sql_key_text(w, entity, native);
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++) {
        if (slice_equal(entity->keys[i].name, name))
            return part_text(w, entity, &entity->keys[i]);
    }
    const struct model_entry *first = NULL;
    size_t which = 0;
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
            if (slice_equal(entry->parts[i].name, name) &&
                (first == NULL || (!first->stated && entry->stated))) {
                first = entry;
                which = i;
            }
        }
    }
    return first == NULL ? SLICE_LIT("NULL") : entry_text(w, entity, first, which);
}

void sql_view(struct writer *w, const struct model_table *table)
{
    struct key_names names;
    if (table->entity_count == 0)
        return;
    key_names(table, &names);
    PUT(w, "\n-- The keys of each row's item in table %s.\nCREATE VIEW \"%s_keys\" (\"entity\"",
        table->name, text_snake(w, table->name));
    for (size_t i = 0; i < names.count; i++)
        PUT(w, ", %q", names.list[i]->name);
    buf_text(w->out, ") AS\n");
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        PUT(w, "%s%s", slice_str(i == 0 ? "  SELECT " : "\n  UNION ALL SELECT "),
            sql_string(w, entity->name));
        for (size_t k = 0; k < names.count; k++)
            PUT(w, ",\n    %s", key_column(w, entity, names.list[k]->name));
        PUT(w, "\n  FROM %s", sql_table(w, entity));
    }
    buf_text(w->out, ";\n");
}
