// The view of a table's keys: for each row of each entity the values of the table's and the
// indexes' key attributes, computed from the row. || and NULL do what a template does with a
// missing attribute, so that a sparse key is NULL. Every part of an entry that lacks another part
// is NULL too.
#include "generate/sql.h"

struct view {
    struct sql *sql;
    const struct model_entity *entity;
};

static void expr_text(struct view *view, const struct model_expr *expr);

// ---- Values as text --------------------------------------------------------------------------

// A column's value as it stands in a key.
static void column_text(struct view *view, const struct model_attribute *attribute)
{
    struct buf *out = view->sql->out;
    struct buf name;
    static const char *const around[][2] = {
        [SQL_TEXT] = {"", ""},
        [SQL_NUMERIC] = {"trim_scale(", ")::text"},
        [SQL_BIGINT] = {"", "::text"},
        [SQL_BOOLEAN] = {"", "::text"},
        [SQL_BYTES] = {"encode(", ", 'base64')"},
        [SQL_UUID] = {"", "::text"},
        [SQL_TIMESTAMP] = {"to_char(", " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"},
        [SQL_DATE] = {"to_char(", ", 'YYYY-MM-DD')"},
        [SQL_JSON] = {"", " #>> '{}'"},
    };
    enum sql_kind kind = sql_kind(attribute->type);
    buf_init(&name, 4096);
    sql_column(&name, view->entity, attribute);
    if (!view->sql->sqlite) {
        buf_printf(out, "(%s%.*s%s)", around[kind][0], SLICE_FMT(buf_view(&name)), around[kind][1]);
    } else if (kind == SQL_BOOLEAN) {
        buf_printf(out, "(CASE %.*s WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)",
                   SLICE_FMT(buf_view(&name)));
    } else {
        buf_slice(out, buf_view(&name));
    }
    buf_release(&name);
}

static void path_text(struct view *view, const struct model_expr *expr)
{
    struct buf path;
    struct buf *out = view->sql->out;
    if (expr->attribute == NULL || expr->step_count == 1) {
        if (expr->attribute == NULL)
            buf_text(out, "NULL");
        else
            column_text(view, expr->attribute);
        return;
    }
    buf_init(&path, 64 << 10);
    buf_text(&path, view->sql->sqlite ? "$" : "{");
    for (size_t i = 1; i < expr->step_count; i++) {
        buf_text(&path, view->sql->sqlite ? ".\"" : i == 1 ? "\"" : ",\"");
        buf_slice(&path, expr->steps[i]);
        buf_byte(&path, '"');
    }
    buf_text(&path, view->sql->sqlite ? "" : "}");
    buf_text(out, view->sql->sqlite ? "json_extract(" : "(");
    sql_column(out, view->entity, expr->attribute);
    buf_text(out, view->sql->sqlite ? ", " : " #>> ");
    text_sql(out, buf_view(&path));
    buf_byte(out, ')');
    buf_release(&path);
}

static void value_text(struct view *view, struct slice value)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    switch (value_type(value)) {
    case VALUE_S:
        buf_slice(&text, value_bytes(value));
        break;
    case VALUE_N:
        text_number(&text, value_bytes(value));
        break;
    case VALUE_BOOL:
        buf_text(&text, value_bool(value) ? "true" : "false");
        break;
    default:
        buf_text(view->sql->out, "NULL");
        buf_release(&text);
        return;
    }
    text_sql(view->sql->out, buf_view(&text));
    buf_release(&text);
}

// ---- Functions -------------------------------------------------------------------------------

static void call_one(struct view *view, const char *before, const struct model_expr *argument,
                     const char *after)
{
    buf_text(view->sql->out, before);
    expr_text(view, argument);
    buf_text(view->sql->out, after);
}

static bool is_number(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_PATH && expr->attribute != NULL && expr->step_count == 1 &&
           type_stored(expr->attribute->type) == VALUE_N;
}

// Zeros in front, as many as the digits before the point are too few.
static void pad_text(struct view *view, const struct model_expr *expr)
{
    struct buf *out = view->sql->out;
    bool sqlite = view->sql->sqlite;
    bool number = is_number(expr->args[0]);
    struct buf width;
    buf_init(&width, 256);
    if (expr->args[1]->kind == MODEL_EXPR_VALUE && value_type(expr->args[1]->value) == VALUE_N)
        text_number(&width, value_bytes(expr->args[1]->value));
    buf_text(out, sqlite ? "(substr('" : "(repeat('0', greatest(0, ");
    if (sqlite) {
        unsigned zeros = 0;
        for (size_t i = 0; i < width.len && zeros < 1024; i++)
            zeros = zeros * 10 + (unsigned)(width.ptr[i] - '0');
        for (unsigned i = 0; i < zeros; i++)
            buf_byte(out, '0');
        buf_printf(out, "', 1, max(0, %u - length(", zeros);
        buf_text(out, number ? "CAST(CAST(" : "");
        expr_text(view, expr->args[0]);
        buf_text(out, number ? " AS INTEGER) AS TEXT)))) || " : "))) || ");
    } else {
        buf_slice(out, buf_view(&width));
        buf_text(out, number ? " - char_length(split_part(" : " - char_length(");
        expr_text(view, expr->args[0]);
        buf_text(out, number ? ", '.', 1)))) || " : "))) || ");
    }
    expr_text(view, expr->args[0]);
    buf_byte(out, ')');
    buf_release(&width);
}

static void sha256_text(struct view *view, const struct model_expr *expr)
{
    struct buf *out = view->sql->out;
    if (view->sql->sqlite) {
        buf_text(out, "NULL"); // SQLite has no digests
        return;
    }
    buf_text(out, "encode(sha256(");
    for (size_t i = 0; i < expr->arg_count; i++) {
        call_one(view, i == 0 ? "convert_to(" : " || convert_to(", expr->args[i],
                 ", 'UTF8') || '\\x00'::bytea");
    }
    buf_text(out, "), 'hex')");
}

// A date pattern in the words of to_char() or strftime().
static void date_pattern(struct buf *out, struct slice pattern, bool sqlite)
{
    static const struct {
        const char *ours;
        const char *postgres;
        const char *sqlite;
    } words[] = {{"yyyy", "YYYY", "%Y"}, {"mm", "MM", "%m"}, {"dd", "DD", "%d"},
                 {"HH", "HH24", "%H"},   {"MM", "MI", "%M"}, {"SS", "SS", "%S"}};
    for (size_t at = 0; at < pattern.len;) {
        struct slice rest = slice_of(pattern.ptr + at, pattern.len - at);
        size_t i = 0;
        while (i < 6 && !slice_begins(rest, slice_str(words[i].ours)))
            i++;
        if (i < 6) {
            buf_text(out, sqlite ? words[i].sqlite : words[i].postgres);
            at += strlen(words[i].ours);
            continue;
        }
        uint8_t c = pattern.ptr[at++];
        if (sqlite)
            buf_printf(out, c == '%' ? "%%%c" : "%c", c);
        else
            buf_printf(out, "\"%c\"", c);
    }
}

// The time itself, not its text.
static void time_value(struct view *view, const struct model_expr *expr)
{
    struct buf *out = view->sql->out;
    const struct model_attribute *attribute =
        expr->kind == MODEL_EXPR_PATH && expr->step_count == 1 ? expr->attribute : NULL;
    bool seconds = attribute != NULL && type_stored(attribute->type) == VALUE_N;
    if (view->sql->sqlite) {
        expr_text(view, expr);
        buf_text(out, seconds ? ", 'unixepoch'" : "");
    } else if (attribute == NULL) {
        call_one(view, "(", expr, ")::timestamptz AT TIME ZONE 'UTC'");
    } else {
        buf_text(out, seconds ? "to_timestamp(" : "");
        sql_column(out, view->entity, attribute);
        buf_text(out, seconds                                 ? ") AT TIME ZONE 'UTC'"
                      : sql_kind(attribute->type) == SQL_DATE ? ""
                                                              : " AT TIME ZONE 'UTC'");
    }
}

static void date_text(struct view *view, const struct model_expr *expr)
{
    struct buf *out = view->sql->out;
    struct buf pattern;
    buf_init(&pattern, 4096);
    if (expr->args[1]->kind == MODEL_EXPR_VALUE && value_type(expr->args[1]->value) == VALUE_S)
        date_pattern(&pattern, value_bytes(expr->args[1]->value), view->sql->sqlite);
    if (view->sql->sqlite) {
        buf_text(out, "strftime(");
        text_sql(out, buf_view(&pattern));
        buf_text(out, ", ");
        time_value(view, expr->args[0]);
    } else {
        buf_text(out, "to_char(");
        time_value(view, expr->args[0]);
        buf_text(out, ", ");
        text_sql(out, buf_view(&pattern));
    }
    buf_byte(out, ')');
    buf_release(&pattern);
}

static void call_text(struct view *view, const struct model_expr *expr)
{
    bool sqlite = view->sql->sqlite;
    const char *close = sqlite ? ")" : " COLLATE \"C\")";
    switch (expr->function) {
    case MODEL_FN_LOWER:
        call_one(view, "lower(", expr->args[0], close);
        break;
    case MODEL_FN_UPPER:
        call_one(view, "upper(", expr->args[0], close);
        break;
    case MODEL_FN_TRIM:
        call_one(view, sqlite ? "trim(" : "btrim(", expr->args[0],
                 sqlite ? ", char(9, 10, 11, 12, 13, 32))" : ", E' \\t\\n\\013\\f\\r')");
        break;
    case MODEL_FN_PAD:
        pad_text(view, expr);
        break;
    case MODEL_FN_SHA256:
        sha256_text(view, expr);
        break;
    case MODEL_FN_DATE_PART:
        date_text(view, expr);
        break;
    default:
        buf_text(view->sql->out, "NULL"); // now() and the like are not in keys
    }
}

// ---- Templates -------------------------------------------------------------------------------

static void template_text(struct view *view, const struct model_template *template)
{
    struct buf *out = view->sql->out;
    buf_text(out, template->segment_count == 0 ? "NULL" : "");
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        buf_text(out, i == 0 ? "" : " || ");
        if (segment->expr == NULL)
            text_sql(out, segment->literal);
        else
            expr_text(view, segment->expr);
    }
}

static void expr_text(struct view *view, const struct model_expr *expr)
{
    struct buf *out = view->sql->out;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        value_text(view, expr->value);
        break;
    case MODEL_EXPR_PATH:
        path_text(view, expr);
        break;
    case MODEL_EXPR_TEMPLATE:
        buf_byte(out, '(');
        template_text(view, expr->template);
        buf_byte(out, ')');
        break;
    case MODEL_EXPR_CALL:
        call_text(view, expr);
        break;
    case MODEL_EXPR_ELSE:
        call_one(view, "coalesce(", expr->args[0], ", ");
        call_one(view, "", expr->args[1], ")");
        break;
    default:
        buf_text(out, "NULL"); // sums are for defaults
    }
}

static void part_text(struct view *view, const struct model_key_part *part)
{
    const struct model_attribute *native = model_entity_attribute(view->entity, part->name);
    if (part->template != NULL)
        template_text(view, part->template);
    else if (native != NULL)
        column_text(view, native);
    else
        buf_text(view->sql->out, "NULL");
}

// A part of an index entry: there only if all parts are.
static void entry_text(struct view *view, const struct model_entry *entry, size_t which)
{
    struct buf *out = view->sql->out;
    size_t count = keys_count(&entry->index->keys);
    bool sparse = entry->stated && count > 1 && entry_sparse(view->entity, entry);
    if (!entry->stated) {
        buf_text(out, view->sql->sqlite ? "NULL" : "NULL::text");
        return;
    }
    if (!sparse) {
        part_text(view, &entry->parts[which]);
        return;
    }
    buf_text(out, "CASE WHEN ");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? "(" : " AND (");
        part_text(view, &entry->parts[i]);
        buf_text(out, ") IS NOT NULL");
    }
    buf_text(out, " THEN ");
    part_text(view, &entry->parts[which]);
    buf_text(out, " END");
}

// ---- The view --------------------------------------------------------------------------------

struct column_list {
    struct view view;
    size_t count;
};

// The value of one key attribute: the entity's own, or of the table's key, or of the first entry
// that makes it.
static void key_column(void *context, const struct key_part *part)
{
    struct column_list *list = context;
    struct view *view = &list->view;
    const struct model_entity *entity = view->entity;
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    buf_text(view->sql->out, ",\n    ");
    if (native != NULL) {
        column_text(view, native);
        return;
    }
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++) {
        if (slice_equal(entity->keys[i].name, part->name)) {
            part_text(view, &entity->keys[i]);
            return;
        }
    }
    const struct model_entry *first = NULL;
    size_t which = 0;
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
            if (slice_equal(entry->parts[i].name, part->name) &&
                (first == NULL || (!first->stated && entry->stated))) {
                first = entry;
                which = i;
            }
        }
    }
    if (first != NULL)
        entry_text(view, first, which);
    else
        buf_text(view->sql->out, "NULL");
}

static void column_name(void *context, const struct key_part *part)
{
    struct column_list *list = context;
    buf_text(list->view.sql->out, ", ");
    text_quoted(list->view.sql->out, part->name);
}

void sql_view(struct sql *sql, const struct model_table *table)
{
    if (table->entity_count == 0)
        return;
    buf_printf(sql->out, "\n-- The keys of each row's item in table %.*s.\nCREATE VIEW \"",
               SLICE_FMT(table->name));
    text_snake(sql->out, table->name);
    struct column_list list = {.view = {.sql = sql}};
    buf_text(sql->out, "_keys\" (\"entity\"");
    key_names(table, column_name, &list);
    buf_text(sql->out, ") AS\n");
    for (size_t i = 0; i < table->entity_count; i++) {
        list.view.entity = &table->entities[i];
        buf_text(sql->out, i == 0 ? "  SELECT " : "  UNION ALL SELECT ");
        text_sql(sql->out, table->entities[i].name);
        key_names(table, key_column, &list);
        buf_text(sql->out, "\n  FROM ");
        sql_table(sql->out, &table->entities[i]);
        buf_byte(sql->out, '\n');
    }
    sql->out->len -= sql->out->failed ? 0 : 1;
    buf_text(sql->out, ";\n");
}
