// project ENTITY, … [into "address"] { options, mappings, views }: the relational form of entities.
//
// Words that begin a clause of a mapping (key, index, …) may be names of columns, too: what follows
// tells.
#include "model/parse_internal.h"

const char *const model_fold_words[] = {"", "count", "sum", "min", "max", "first", "last", NULL};

enum { NAMES_MAX = 64 };

static void between(struct model_parser *p)
{
    if (!parse_accept(p, MODEL_TOKEN_COMMA))
        (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
}

// ---- Lists of names
// ------------------------------------------------------------------------------

// "(" NAME [desc] {"," NAME [desc]} ")"
static bool columns(struct model_file *file, bool ordered, struct model_columns *out)
{
    struct model_parser *p = &file->p;
    struct slice *names = file_alloc(file, NAMES_MAX, sizeof *names);
    bool *descending = file_alloc(file, NAMES_MAX, sizeof *descending);
    if (names == NULL || descending == NULL)
        return false;
    out->at = parse_place(p);
    out->names = names;
    out->descending = ordered ? descending : NULL;
    if (!parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\" and names of columns"))
        return false;
    do {
        if (out->count == NAMES_MAX)
            return file_error(file, parse_place(p), "at most %d names can stand here", NAMES_MAX);
        if (!parse_name(p, "the name of a column", &names[out->count]))
            return false;
        descending[out->count++] =
            ordered && (parse_accept_word(p, "desc") || parse_accept_word(p, "DESC"));
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return parse_expect(p, MODEL_TOKEN_RPAREN, "\",\" or \")\"");
}

static bool attributes(struct model_file *file, bool enclosed, struct raw_name **list,
                       size_t *count)
{
    struct model_parser *p = &file->p;
    *list = file_scratch(file, NAMES_MAX, sizeof **list);
    if (*list == NULL || (enclosed && !parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\"")))
        return false;
    do {
        if (*count == NAMES_MAX)
            return file_error(file, parse_place(p), "at most %d names can stand here", NAMES_MAX);
        if (!parse_raw_name(p, "the name of an attribute", &(*list)[(*count)++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return !enclosed || parse_expect(p, MODEL_TOKEN_RPAREN, "\",\" or \")\"");
}

// ---- Columns
// -------------------------------------------------------------------------------------

// max(version), last(type by version), count()
static bool folded(struct model_file *file, enum model_fold fold, struct raw_column *raw)
{
    struct model_parser *p = &file->p;
    raw->column.fold = fold;
    (void)parse_take(p);
    (void)parse_take(p);
    if (fold != MODEL_FOLD_COUNT) {
        raw->column.value = parse_expr(p);
        if (raw->column.value == NULL)
            return false;
    }
    if ((fold == MODEL_FOLD_FIRST || fold == MODEL_FOLD_LAST) &&
        (!parse_expect_word(p, "by") || !parse_raw_name(p, "the name of an attribute", &raw->by)))
        return false;
    return parse_expect(p, MODEL_TOKEN_RPAREN, "\")\"");
}

static bool column_value(struct model_file *file, bool group, struct raw_column *raw)
{
    struct model_parser *p = &file->p;
    for (size_t i = 1; group && model_fold_words[i] != NULL; i++)
        if (parse_at_word(p, model_fold_words[i]) &&
            parse_peek_at(p, 1)->kind == MODEL_TOKEN_LPAREN)
            return folded(file, (enum model_fold)i, raw);
    raw->column.value = parse_expr(p);
    return raw->column.value != NULL;
}

// NAME, or NAME = expr
static struct raw_column *column(struct model_file *file, bool group, size_t count)
{
    struct model_parser *p = &file->p;
    struct raw_column *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return NULL;
    raw->column.at = parse_place(p);
    if (count == LIMIT_MODEL_MEMBERS) {
        (void)file_error(file, raw->column.at, "a table has at most %d columns",
                         LIMIT_MODEL_MEMBERS);
        return NULL;
    }
    raw->column.as = MODEL_ANY;
    if (!parse_name(p, "a column, or \"}\"", &raw->column.name))
        return NULL;
    if (parse_accept(p, MODEL_TOKEN_COLON)) {
        static const char *const words[] = {"timestamp", "epoch", NULL};
        size_t position = 0;
        if (!parse_choice(p, words, &position))
            return NULL;
        raw->column.as = position == 0 ? MODEL_TIMESTAMP : MODEL_EPOCH;
    }
    if (parse_accept(p, MODEL_TOKEN_EQUAL))
        return column_value(file, group, raw) ? raw : NULL;
    raw->column.value = parse_attribute_path(p, raw->column.name, raw->column.at);
    return raw->column.value == NULL ? NULL : raw;
}

// ---- Clauses of a mapping
// ------------------------------------------------------------------------

static bool add_columns(struct model_file *file, bool ordered, struct raw_columns **out)
{
    struct model_parser *p = &file->p;
    struct raw_columns *raw = file_scratch(file, 1, sizeof *raw);
    *out = raw;
    if (raw == NULL)
        return false;
    if (parse_at(p, MODEL_TOKEN_STRING) &&
        !parse_string(p, "a name for the index", &raw->columns.name))
        return false;
    return columns(file, ordered, &raw->columns);
}

static bool on_delete(struct model_file *file, enum model_on_delete *out)
{
    struct model_parser *p = &file->p;
    size_t position = 0;
    *out = MODEL_DELETE_LEAVE;
    if (!parse_at_word(p, "on") || !model_token_is(&p->tokens, parse_peek_at(p, 1), "delete"))
        return true;
    (void)parse_take(p);
    (void)parse_take(p);
    if (!parse_choice(p, model_on_delete_words, &position))
        return false;
    *out = (enum model_on_delete)position;
    return true;
}

static bool foreign(struct model_file *file, struct raw_mapping *raw)
{
    struct raw_foreign *one = file_scratch(file, 1, sizeof *one);
    if (one == NULL)
        return false;
    one->foreign.at = parse_place(&file->p);
    LIST_APPEND(&raw->foreigns, one);
    return parse_raw_name(&file->p, "the name of an entity", &one->target) &&
           columns(file, false, &one->foreign.columns) && on_delete(file, &one->foreign.on_delete);
}

// each ATTRIBUTE as "table" { columns }
static bool each(struct model_file *file, struct raw_mapping *raw)
{
    struct model_parser *p = &file->p;
    struct raw_each *one = file_scratch(file, 1, sizeof *one);
    if (one == NULL || !parse_raw_name(p, "a list or a set of the entity", &one->attribute) ||
        !parse_expect_word(p, "as") || !parse_string(p, "a string: the table", &one->name))
        return false;
    LIST_APPEND(&raw->eaches, one);
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        struct raw_column *next = column(file, false, one->columns.count);
        if (next == NULL)
            return false;
        LIST_APPEND(&one->columns, next);
        between(p);
    }
    return true;
}

// tenant via COLUMN to ENTITY | "table"
static bool via(struct model_file *file, struct raw_mapping *raw)
{
    struct model_parser *p = &file->p;
    (void)parse_take(p);
    if (!parse_name(p, "the name of a column", &raw->mapping.tenant_via) ||
        !parse_expect_word(p, "to"))
        return false;
    return parse_at(p, MODEL_TOKEN_STRING)
               ? parse_string(p, "a table", &raw->mapping.tenant_to)
               : parse_raw_name(p, "an entity, or a string: a table", &raw->tenant_to);
}

// A clause if there is one (*taken), else nothing.
static bool clause(struct model_file *file, struct raw_mapping *raw, bool *taken)
{
    struct model_parser *p = &file->p;
    const struct model_token *next = parse_peek_at(p, 1);
    bool paren = next->kind == MODEL_TOKEN_LPAREN;
    bool named =
        next->kind == MODEL_TOKEN_STRING && parse_peek_at(p, 2)->kind == MODEL_TOKEN_LPAREN;
    struct raw_columns *list = NULL;
    *taken = true;
    if (paren && parse_at_word(p, "key") && raw->mapping.key.count == 0)
        return (void)parse_take(p), columns(file, false, &raw->mapping.key);
    if ((paren || named) && (parse_at_word(p, "unique") || parse_at_word(p, "index"))) {
        bool unique = parse_at_word(p, "unique");
        (void)parse_take(p);
        if (!add_columns(file, !unique, &list))
            return false;
        if (unique)
            LIST_APPEND(&raw->uniques, list);
        else
            LIST_APPEND(&raw->indexes, list);
        return true;
    }
    if (paren && parse_at_word(p, "except") && raw->except_count == 0)
        return (void)parse_take(p), attributes(file, true, &raw->except, &raw->except_count);
    if (parse_at_word(p, "references") && next->kind == MODEL_TOKEN_NAME &&
        parse_peek_at(p, 2)->kind == MODEL_TOKEN_LPAREN)
        return (void)parse_take(p), foreign(file, raw);
    if (parse_at_word(p, "each") && next->kind == MODEL_TOKEN_NAME &&
        model_token_is(&p->tokens, parse_peek_at(p, 2), "as"))
        return (void)parse_take(p), each(file, raw);
    if (parse_at_word(p, "tenant") && model_token_is(&p->tokens, next, "via"))
        return (void)parse_take(p), via(file, raw);
    *taken = false;
    return true;
}

static bool mapping_items(struct model_file *file, struct raw_mapping *raw)
{
    struct model_parser *p = &file->p;
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        bool taken = false;
        if (!clause(file, raw, &taken))
            return false;
        if (!taken) {
            struct raw_column *next = column(file, raw->mapping.group, raw->columns.count);
            if (next == NULL)
                return false;
            LIST_APPEND(&raw->columns, next);
        }
        between(p);
    }
    return true;
}

// ENTITY as "table" [both [(columns)]] { … }; group ENTITY by a, b as "table" { … }
static bool mapping(struct model_file *file, bool group, struct raw_project *project)
{
    struct model_parser *p = &file->p;
    struct raw_mapping *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    raw->mapping.group = group;
    if (group)
        (void)parse_take(p);
    raw->mapping.at = parse_place(p);
    LIST_APPEND(&project->mappings, raw);
    if (!parse_raw_name(p, "the name of an entity", &raw->entity))
        return false;
    if (group &&
        (!parse_expect_word(p, "by") || !attributes(file, false, &raw->by, &raw->by_count)))
        return false;
    if (!parse_expect_word(p, "as") || !parse_string(p, "a string: the table", &raw->mapping.name))
        return false;
    raw->mapping.both = !group && parse_accept_word(p, "both");
    if (raw->mapping.both && parse_at(p, MODEL_TOKEN_LPAREN) &&
        !columns(file, false, &raw->mapping.columns_both))
        return false;
    return mapping_items(file, raw);
}

// view "name" = ENTITY [where TEST] | sql "SELECT …"
static bool view(struct model_file *file, struct raw_project *project)
{
    struct model_parser *p = &file->p;
    struct raw_sql_view *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    (void)parse_take(p);
    raw->view.at = parse_place(p);
    LIST_APPEND(&project->views, raw);
    if (!parse_string(p, "a string: the view", &raw->view.name) ||
        !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\" and an entity, or \"sql\" and a string"))
        return false;
    if (parse_at_word(p, "sql") && parse_peek_at(p, 1)->kind == MODEL_TOKEN_STRING)
        return (void)parse_take(p), parse_string(p, "a query", &raw->view.sql);
    if (!parse_raw_name(p, "the name of an entity", &raw->entity))
        return false;
    if (!parse_accept_word(p, "where"))
        return true;
    raw->view.where = parse_test(p);
    return raw->view.where != NULL;
}

// ---- The rule
// ------------------------------------------------------------------------------------

static bool project_item(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    const struct model_token *next = parse_peek_at(p, 1);
    bool as = model_token_is(&p->tokens, next, "as");
    if (raw->project->mappings.count + raw->project->views.count >= LIMIT_MODEL_DECLARATIONS)
        return file_error(file, parse_place(p), "at most %d tables and views can stand here",
                          LIMIT_MODEL_DECLARATIONS);
    if (parse_at_word(p, "group") && next->kind == MODEL_TOKEN_NAME && !as)
        return mapping(file, true, raw->project);
    if (parse_at(p, MODEL_TOKEN_NAME) && as)
        return mapping(file, false, raw->project);
    if (parse_at_word(p, "view") && next->kind == MODEL_TOKEN_STRING)
        return view(file, raw->project);
    if (parse_at_word(p, "tenant")) {
        (void)parse_take(p);
        raw->project->tenant = true;
        return true;
    }
    return parse_option(file, raw);
}

bool read_project(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    raw->project = file_scratch(file, 1, sizeof *raw->project);
    raw->entities = file_scratch(file, NAMES_MAX, sizeof *raw->entities);
    if (raw->project == NULL || raw->entities == NULL)
        return false;
    do {
        if (raw->entity_count == NAMES_MAX)
            return file_error(file, parse_place(p), "at most %d names can stand here", NAMES_MAX);
        if (!parse_raw_name(p, "the name of an entity", &raw->entities[raw->entity_count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    if (parse_accept_word(p, "into") && !parse_string(p, "a string: where to", &raw->url))
        return false;
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        if (!project_item(file, raw))
            return false;
        between(p);
    }
    return true;
}
