// Tables: keys, indexes and settings.
#include "model/parse_internal.h"

// The items up to the closing brace; the opening one was taken last. An item that is broken ends at
// the next one, so that one run tells all mistakes.
bool parse_items(struct model_file *file, bool (*item)(struct model_file *file, void *raw),
                 void *raw)
{
    struct model_parser *p = &file->p;
    struct model_place open = model_token_place(parse_last(p));
    bool whole = true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        size_t from = p->at;
        if (parse_at(p, MODEL_TOKEN_END) || parse_brace_forgotten(p)) {
            (void)file_error(file, open, "this \"{\" is never closed");
            return whole;
        }
        if (!item(file, raw)) {
            whole = false;
            parse_recover_item(p, from);
            if (p->at == from || parse_declaration_begins(p))
                return whole;
        }
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
    return whole;
}

// NAME [string|number|binary]
static bool key_part(struct model_file *file, struct key_part *part, bool *typed,
                     struct model_place *at)
{
    struct model_parser *p = &file->p;
    *at = parse_place(p);
    part->type = VALUE_S;
    if (!parse_name(p, "the name of a key attribute", &part->name))
        return false;
    if (parse_peek(p)->first)
        return true;
    *typed = true;
    if (parse_accept_word(p, "number") || parse_accept_word(p, "integer"))
        part->type = VALUE_N;
    else if (parse_accept_word(p, "binary"))
        part->type = VALUE_B;
    else if (!parse_accept_word(p, "string"))
        *typed = false;
    return true;
}

static bool table_key(struct model_file *file, struct raw_table *raw)
{
    struct model_parser *p = &file->p;
    struct key_schema *keys = &raw->table.keys;
    if (keys->hash_count > 0)
        return file_error(file, model_token_place(parse_last(p)), "a second \"key\"");
    if (!key_part(file, &keys->parts[0], &raw->typed[0], &raw->part_at[0]))
        return false;
    keys->hash_count = 1;
    const struct model_token *next = parse_peek_at(p, 1);
    if (parse_at(p, MODEL_TOKEN_NAME) && !parse_peek(p)->first &&
        (next->first || next->kind == MODEL_TOKEN_RBRACE))
        return parse_expected(p, "\",\" before the sort key");
    if (!parse_accept(p, MODEL_TOKEN_COMMA))
        return true;
    if (!key_part(file, &keys->parts[1], &raw->typed[1], &raw->part_at[1]))
        return false;
    keys->range_count = 1;
    if (parse_at(p, MODEL_TOKEN_COMMA))
        return file_error(file, parse_place(p), "a table's key has one or two attributes");
    return true;
}

// NAME {"+" NAME}
static bool index_half(struct model_file *file, struct raw_index *raw, size_t *count)
{
    struct model_parser *p = &file->p;
    struct key_schema *keys = &raw->index.keys;
    do {
        size_t at = keys->hash_count + keys->range_count;
        if (*count == LIMIT_KEY_PARTS)
            return file_error(file, parse_place(p), "each half of a key has at most %d attributes",
                              LIMIT_KEY_PARTS);
        if (!key_part(file, &keys->parts[at], &raw->typed[at], &raw->part_at[at]))
            return false;
        (*count)++;
    } while (parse_accept(p, MODEL_TOKEN_PLUS));
    return true;
}

static bool projection(struct model_file *file, struct model_index *index)
{
    struct model_parser *p = &file->p;
    (void)parse_take(p);
    if (parse_accept_word(p, "all"))
        return true;
    if (parse_accept_word(p, "keys")) {
        index->projection = MODEL_PROJECT_KEYS;
        return true;
    }
    struct slice names[LIMIT_PROJECTED_ATTRIBUTES];
    if (!parse_expect(p, MODEL_TOKEN_LPAREN, "\"all\", \"keys\" or \"(\" and attributes"))
        return false;
    do {
        if (index->include_count == COUNT_OF(names))
            return file_error(file, parse_place(p), "an index includes at most %d attributes",
                              LIMIT_PROJECTED_ATTRIBUTES);
        if (!parse_name(p, "the name of an attribute", &names[index->include_count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    struct slice *copy = file_alloc(file, index->include_count, sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, names, index->include_count * sizeof *copy);
    index->include = copy;
    index->projection = MODEL_PROJECT_INCLUDE;
    return parse_expect(p, MODEL_TOKEN_RPAREN, "\",\" or \")\"");
}

// "for all" and the projection, in any order.
static bool index_clauses(struct model_file *file, struct model_index *index)
{
    struct model_parser *p = &file->p;
    for (;;) {
        if (parse_at_word(p, "project") && index->projection == MODEL_PROJECT_ALL) {
            if (!projection(file, index))
                return false;
        } else if (parse_accept_word(p, "for")) {
            if (!parse_expect_word(p, "all"))
                return false;
            index->open = true;
        } else {
            return true;
        }
    }
}

// A local index may be written with its range key alone: the hash key is the table's.
static void complete_local(struct raw_table *table, struct raw_index *raw)
{
    struct key_schema *keys = &raw->index.keys;
    if (!raw->index.local || keys->range_count > 0 || keys->hash_count != 1)
        return;
    keys->parts[1] = keys->parts[0];
    raw->typed[1] = raw->typed[0];
    raw->part_at[1] = raw->part_at[0];
    keys->parts[0] = table->table.keys.parts[0];
    raw->typed[0] = table->typed[0];
    keys->range_count = 1;
}

static bool table_index(struct model_file *file, struct raw_table *table, bool local, size_t first)
{
    struct model_parser *p = &file->p;
    struct raw_index *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    raw->index.at = parse_place(p);
    raw->index.local = local;
    struct key_schema *keys = &raw->index.keys;
    if (!parse_name(p, "a name for the index", &raw->index.name) ||
        !parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\" and the index's key attributes") ||
        !index_half(file, raw, &keys->hash_count))
        return false;
    if (parse_accept(p, MODEL_TOKEN_COMMA) && !index_half(file, raw, &keys->range_count))
        return false;
    if (!parse_expect(p, MODEL_TOKEN_RPAREN, "\")\" behind the key attributes") ||
        !index_clauses(file, &raw->index))
        return false;
    complete_local(table, raw);
    raw->index.doc = parse_doc(p, first, p->at - 1);
    LIST_APPEND(&table->indexes, raw);
    if (table->indexes.count > LIMIT_INDEXES)
        return file_error(file, raw->index.at, "a table has at most %d indexes and %d local ones",
                          LIMIT_GSI, LIMIT_LSI);
    return true;
}

static bool table_units(struct model_parser *p, struct model_table *table)
{
    return parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\", read units, write units, \")\"") &&
           parse_count(p, "read units", 1, INT64_MAX, &table->read_units) &&
           parse_expect(p, MODEL_TOKEN_COMMA, "\",\" and write units") &&
           parse_count(p, "write units", 1, INT64_MAX, &table->write_units) &&
           parse_expect(p, MODEL_TOKEN_RPAREN, "\")\"");
}

static const char *const switch_words[] = {"off", "on", NULL};
static const char *const billing_words[] = {"on_demand", "provisioned", NULL};

// X(item, its word, the words for its value or NULL if that is something else)
#define TABLE_ITEMS(X)                                                                             \
    X(KEY, "key", NULL)                                                                            \
    X(INDEX, "index", NULL)                                                                        \
    X(LOCAL, "local", NULL)                                                                        \
    X(TYPE, "type", NULL)                                                                          \
    X(TTL, "ttl", NULL)                                                                            \
    X(SEPARATOR, "separator", NULL)                                                                \
    X(STREAM, "stream", model_stream_words)                                                        \
    X(GUARD, "guard", model_mode_words)                                                            \
    X(UNKNOWN, "unknown", model_leave_words)                                                       \
    X(UNMATCHED, "unmatched", model_leave_words)                                                   \
    X(PITR, "pitr", switch_words)                                                                  \
    X(BILLING, "billing", billing_words)

enum {
#define X(item, word, values) ITEM_##item,
    TABLE_ITEMS(X)
#undef X
};

// STRING ( "forbid" | "escape" | "any" )
static bool table_separator(struct model_file *file, struct raw_table *raw)
{
    struct model_parser *p = &file->p;
    struct model_place at = parse_place(p);
    size_t value = 0;
    if (!parse_string(p, "the text between the parts of a key, such as \"#\"",
                      &raw->table.separator) ||
        !parse_choice(p, model_separator_words, &value))
        return false;
    raw->table.separating = (enum model_separator)value;
    return file_separator_fits(raw->table.separator) ||
           file_error(file, at, "a separator has 1 to 8 bytes, and no letter, digit or \"%%\"");
}

// What follows a word that has no words for its value.
static bool table_part(struct model_file *file, struct raw_table *raw, size_t item, size_t first)
{
    struct model_parser *p = &file->p;
    switch (item) {
    case ITEM_KEY:
        return table_key(file, raw);
    case ITEM_LOCAL:
        return parse_expect_word(p, "index") && table_index(file, raw, true, first);
    case ITEM_TYPE:
        raw->type_at = parse_place(p);
        return parse_name(p, "the attribute that names an item's entity",
                          &raw->table.type_attribute);
    case ITEM_TTL:
        raw->ttl_at = parse_place(p);
        return parse_name(p, "the attribute that holds the time an item ends",
                          &raw->table.ttl_attribute);
    case ITEM_SEPARATOR:
        return table_separator(file, raw);
    default:
        return table_index(file, raw, false, first);
    }
}

// What follows a word that has words for its value.
static bool table_setting(struct model_file *file, struct raw_table *raw, size_t item,
                          const char *const *words)
{
    size_t value = 0;
    if (!parse_choice(&file->p, words, &value))
        return false;
    if (item == ITEM_STREAM)
        raw->table.stream = (enum model_stream)value;
    else if (item == ITEM_GUARD)
        raw->table.guard = (enum model_mode)value;
    else if (item == ITEM_UNKNOWN)
        raw->table.unknown = (enum model_leave)value;
    else if (item == ITEM_UNMATCHED)
        raw->table.unmatched = (enum model_leave)value;
    else if (item == ITEM_PITR)
        raw->table.pitr = value == 1;
    else
        raw->table.provisioned = value == 1;
    return item != ITEM_BILLING || value == 0 || table_units(&file->p, &raw->table);
}

static bool table_item(struct model_file *file, void *table)
{
    static const char *const words[] = {
#define X(item, word, values) word,
        TABLE_ITEMS(X)
#undef X
            NULL};
    static const char *const *const values[] = {
#define X(item, word, values) values,
        TABLE_ITEMS(X)
#undef X
    };
    struct raw_table *raw = table;
    struct model_place at = parse_place(&file->p);
    size_t first = file->p.at;
    size_t item = 0;
    if (!parse_choice(&file->p, words, &item))
        return false;
    // Indexes may be many, and a second key is told where keys are read.
    bool once = item != ITEM_INDEX && item != ITEM_LOCAL && item != ITEM_KEY;
    if (once && (raw->given & 1U << item) != 0)
        (void)file_error(file, at, "a second \"%s\"", words[item]);
    bool ok = values[item] == NULL ? table_part(file, raw, item, first)
                                   : table_setting(file, raw, item, values[item]);
    raw->given |= ok ? 1U << item : 0;
    return ok;
}

// Letters and digits are in every value; "%" is the mark of what is escaped.
bool file_separator_fits(struct slice text)
{
    bool ok = text.len >= 1 && text.len <= 8;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        ok = ok && c != '%' && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9');
    }
    return ok;
}

bool file_name_fits(struct slice name)
{
    bool ok = name.len >= LIMIT_TABLE_NAME_MIN && name.len <= LIMIT_TABLE_NAME_MAX;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.');
    }
    return ok;
}

bool parse_table(struct model_file *file, size_t first)
{
    struct model_parser *p = &file->p;
    struct raw_table *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    struct model_table *table = &raw->table;
    table->at = parse_place(p);
    table->guard = MODEL_ENFORCE;
    table->unknown = MODEL_REPORT; // a misspelt name is stored, and heard of
    table->unmatched = MODEL_REJECT;
    table->separator = SLICE_LIT("#");
    if (!parse_name(p, "a name for the table", &table->name))
        return false;
    if (!file_name_fits(table->name))
        (void)file_error(file, table->at,
                         "a table's name has 3 to 255 letters, digits, \"_\", \"-\" or \".\"");
    struct raw_table *same = file_table(file, table->name);
    if (same != NULL)
        (void)file_error(file, table->at, "table \"%.*s\" is declared twice, first in %s",
                         SLICE_FMT(table->name), file_line(file, same->table.at.line));
    LIST_APPEND(&file->tables, raw);
    raw->broken = true;
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\" and what the table has"))
        return false;
    table->doc = parse_doc(p, first, p->at - 1);
    raw->broken = !parse_items(file, table_item, raw);
    return true;
}
