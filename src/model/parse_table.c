// Tables: keys, indexes and settings.
#include "model/parse_internal.h"

bool parse_mode(struct model_file *file, enum model_mode *mode)
{
    static const char *const words[] = {"off", "warn", "enforce", NULL};
    size_t position = 0;
    if (!parse_choice(&file->p, words, &position))
        return false;
    *mode = (enum model_mode)position;
    return true;
}

bool parse_leave(struct model_file *file, enum model_leave *leave)
{
    static const char *const words[] = {"allow", "warn", "reject", NULL};
    size_t position = 0;
    if (!parse_choice(&file->p, words, &position))
        return false;
    *leave = (enum model_leave)position;
    return true;
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
    if (!parse_accept_word(p, "project"))
        return true;
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
        !projection(file, &raw->index))
        return false;
    complete_local(table, raw);
    raw->index.doc = parse_doc(p, first, p->at - 1);
    struct raw_index **end = &table->indexes;
    while (*end != NULL)
        end = &(*end)->next;
    *end = raw;
    if (++table->index_count > LIMIT_INDEXES)
        return file_error(file, raw->index.at, "a table has at most %d indexes and %d local ones",
                          LIMIT_GSI, LIMIT_LSI);
    return true;
}

static bool table_stream(struct model_file *file, struct model_table *table)
{
    static const char *const words[] = {"off",       "keys_only",          "new_image",
                                        "old_image", "new_and_old_images", NULL};
    size_t position = 0;
    if (!parse_choice(&file->p, words, &position))
        return false;
    table->stream = (enum model_stream)position;
    return true;
}

static bool table_pitr(struct model_file *file, struct model_table *table)
{
    static const char *const words[] = {"off", "on", NULL};
    size_t position = 0;
    if (!parse_choice(&file->p, words, &position))
        return false;
    table->pitr = position == 1;
    return true;
}

static bool table_billing(struct model_file *file, struct model_table *table)
{
    static const char *const words[] = {"on_demand", "provisioned", NULL};
    struct model_parser *p = &file->p;
    size_t position = 0;
    if (!parse_choice(p, words, &position))
        return false;
    table->provisioned = position == 1;
    if (!table->provisioned)
        return true;
    return parse_expect(p, MODEL_TOKEN_LPAREN, "\"(\", read units, write units, \")\"") &&
           parse_count(p, "read units", 1, INT64_MAX, &table->read_units) &&
           parse_expect(p, MODEL_TOKEN_COMMA, "\",\" and write units") &&
           parse_count(p, "write units", 1, INT64_MAX, &table->write_units) &&
           parse_expect(p, MODEL_TOKEN_RPAREN, "\")\"");
}

static bool table_item(struct model_file *file, struct raw_table *raw)
{
    static const char *const words[] = {"key",       "index",  "local",   "type",
                                        "ttl",       "stream", "guard",   "unknown",
                                        "unmatched", "pitr",   "billing", NULL};
    struct model_parser *p = &file->p;
    struct model_table *table = &raw->table;
    size_t first = p->at;
    size_t position = 0;
    if (!parse_choice(p, words, &position))
        return false;
    switch (position) {
    case 0:
        return table_key(file, raw);
    case 1:
        return table_index(file, raw, false, first);
    case 2:
        return parse_expect_word(p, "index") && table_index(file, raw, true, first);
    case 3:
        raw->type_at = parse_place(p);
        return parse_name(p, "the attribute that names an item's entity", &table->type_attribute);
    case 4:
        raw->ttl_at = parse_place(p);
        return parse_name(p, "the attribute that holds the time an item ends",
                          &table->ttl_attribute);
    case 5:
        return table_stream(file, table);
    case 6:
        return parse_mode(file, &table->guard);
    case 7:
        return parse_leave(file, &table->unknown);
    case 8:
        return parse_leave(file, &table->unmatched);
    case 9:
        return table_pitr(file, table);
    default:
        return table_billing(file, table);
    }
}

static bool check_name(struct model_file *file, struct slice name, struct model_place at)
{
    bool ok = name.len >= LIMIT_TABLE_NAME_MIN && name.len <= LIMIT_TABLE_NAME_MAX;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.');
    }
    return ok || file_error(file, at,
                            "a table's name has 3 to 255 letters, digits, \"_\", \"-\" or \".\"");
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
    table->unmatched = MODEL_REJECT;
    if (!parse_name(p, "a name for the table", &table->name))
        return false;
    (void)check_name(file, table->name, table->at);
    struct raw_table *same = file_table(file, table->name);
    if (same != NULL)
        (void)file_error(file, table->at, "table \"%.*s\" is declared twice, first in line %u",
                         SLICE_FMT(table->name), same->table.at.line);
    LIST_APPEND(&file->tables, raw);
    raw->broken = true;
    struct model_place open = parse_place(p);
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\" and what the table has"))
        return false;
    table->doc = parse_doc(p, first, p->at - 1);
    raw->broken = false;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        size_t from = p->at;
        if (parse_at(p, MODEL_TOKEN_END) || parse_brace_forgotten(p)) {
            (void)file_error(file, open, "this \"{\" is never closed");
            return true;
        }
        if (!table_item(file, raw)) {
            raw->broken = true;
            parse_recover_item(p, from);
            if (p->at == from || parse_declaration_begins(p))
                return true;
        }
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
    return true;
}
