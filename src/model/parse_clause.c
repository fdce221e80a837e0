// What entities have beside keys and attributes: checks, moves, references, … Their words are no
// reserved ones: each clause is known by what follows its word, and an attribute may have its name.
#include "model/parse_internal.h"
#include "text/matcher.h"

static bool ends_item(const struct model_token *token)
{
    return token->first || token->kind == MODEL_TOKEN_RBRACE || token->kind == MODEL_TOKEN_COMMA ||
           token->kind == MODEL_TOKEN_SEMICOLON || token->kind == MODEL_TOKEN_END;
}

// A name that is no type's word, in the same line.
static bool is_plain_name(const struct model_parser *p, const struct model_token *token)
{
    return token->kind == MODEL_TOKEN_NAME && !token->first && !parse_is_type_word(p, token);
}

// ---- append only, shared, softdelete a ----------------------------------------------------------

static bool at_append(const struct model_parser *p)
{
    const struct model_token *next = parse_peek_at(p, 1);
    return model_token_is(&p->tokens, next, "only") && !next->first;
}

static bool read_append(struct model_file *file, struct raw_entity *raw)
{
    raw->entity.append_only = true;
    return parse_expect_word(&file->p, "only");
}

static bool at_shared(const struct model_parser *p)
{
    return ends_item(parse_peek_at(p, 1));
}

static bool read_shared(struct model_file *file, struct raw_entity *raw)
{
    (void)file;
    raw->entity.shared = true;
    return true;
}

static bool at_softdelete(const struct model_parser *p)
{
    static const enum model_token_kind of_types[] = {
        MODEL_TOKEN_LBRACKET, MODEL_TOKEN_QUESTION, MODEL_TOKEN_STRICT, MODEL_TOKEN_PIPE,
        MODEL_TOKEN_LPAREN,   MODEL_TOKEN_EQUAL,    MODEL_TOKEN_LESS};
    for (size_t i = 0; i < COUNT_OF(of_types); i++)
        if (parse_peek_at(p, 2)->kind == of_types[i] && !parse_peek_at(p, 2)->first)
            return false;
    return is_plain_name(p, parse_peek_at(p, 1));
}

static bool read_softdelete(struct model_file *file, struct raw_entity *raw)
{
    if (raw->softdelete.name.len > 0)
        return file_error(file, model_token_place(parse_last(&file->p)), "a second \"softdelete\"");
    return parse_raw_name(&file->p, "the attribute that says when an item was deleted",
                          &raw->softdelete);
}

// ---- unique (a, b) -----------------------------------------------------------------------------

static bool at_unique(const struct model_parser *p)
{
    const struct model_token *open = parse_peek_at(p, 1);
    return open->kind == MODEL_TOKEN_LPAREN && !open->first &&
           parse_peek_at(p, 2)->kind == MODEL_TOKEN_NAME &&
           parse_peek_at(p, 3)->kind == MODEL_TOKEN_COMMA;
}

static bool read_unique(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    struct raw_unique *unique = file_scratch(file, 1, sizeof *unique);
    if (unique == NULL)
        return false;
    unique->at = model_token_place(parse_last(p));
    (void)parse_take(p); // "("
    do {
        if (unique->count == COUNT_OF(unique->names))
            return file_error(file, parse_place(p), "at most %zu attributes can be unique together",
                              COUNT_OF(unique->names));
        if (!parse_raw_name(p, "the name of an attribute", &unique->names[unique->count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    LIST_APPEND(&raw->uniques, unique);
    return parse_expect(p, MODEL_TOKEN_RPAREN, "\",\" or \")\"");
}

// ---- check TEST "message" ----------------------------------------------------------------------

static bool at_check(const struct model_parser *p)
{
    return parse_at_test(p, 1);
}

static bool read_check(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    struct raw_check *check = file_scratch(file, 1, sizeof *check);
    size_t first = p->at - 1;
    if (check == NULL)
        return false;
    check->rule.at = model_token_place(parse_last(p));
    check->rule.test = parse_test(p);
    if (check->rule.test == NULL)
        return false;
    if (parse_at(p, MODEL_TOKEN_STRING) && !parse_string(p, "a message", &check->rule.message))
        return false;
    check->rule.doc = parse_doc(p, first, p->at - 1);
    LIST_APPEND(&raw->checks, check);
    return true;
}

// ---- moves a: x -> y | z -----------------------------------------------------------------------

enum { STATES = 64 }; // that stand between two arrows

struct states {
    size_t count;
    struct slice values[STATES];
    struct model_place at[STATES];
};

// No type is followed by a colon, so that the attribute may be called like one.
static bool at_moves(const struct model_parser *p)
{
    const struct model_token *name = parse_peek_at(p, 1);
    return name->kind == MODEL_TOKEN_NAME && !name->first &&
           parse_peek_at(p, 2)->kind == MODEL_TOKEN_COLON;
}

static bool is_literal(const struct model_parser *p, const struct model_token *token)
{
    return token->kind == MODEL_TOKEN_STRING || token->kind == MODEL_TOKEN_NUMBER ||
           token->kind == MODEL_TOKEN_MINUS || model_token_is(&p->tokens, token, "true") ||
           model_token_is(&p->tokens, token, "false");
}

bool parse_literal(struct model_parser *p, struct slice *value)
{
    struct slice bytes = {0};
    enum value_tag tag = VALUE_TAG_N;
    if (!is_literal(p, parse_peek(p)))
        return parse_expected(p, "a value: a string, a number, true or false");
    if (parse_at(p, MODEL_TOKEN_NAME)) {
        tag = parse_at_word(p, "true") ? VALUE_TAG_TRUE : VALUE_TAG_FALSE;
        (void)parse_take(p);
    } else if (parse_at(p, MODEL_TOKEN_STRING)) {
        tag = VALUE_TAG_S;
        if (!parse_string(p, "a string", &bytes))
            return false;
    } else if (!parse_number(p, "a number", &bytes)) {
        return false;
    }
    *value = parse_encode(p, tag, bytes);
    return value->ptr != NULL;
}

// x | y | z
static bool states(struct model_parser *p, struct states *out)
{
    out->count = 0;
    do {
        if (out->count == STATES)
            return diagnostic_error(p->diagnostics, parse_place(p),
                                    "at most %d values can stand between two arrows", STATES);
        out->at[out->count] = parse_place(p);
        if (!parse_literal(p, &out->values[out->count]))
            return false;
        out->count++;
    } while (parse_accept(p, MODEL_TOKEN_PIPE));
    return true;
}

static bool add_steps(struct model_file *file, struct raw_moves *raw, const struct states *from,
                      const struct states *to)
{
    for (size_t i = 0; i < from->count; i++) {
        for (size_t k = 0; k < to->count; k++) {
            struct raw_move *move = file_scratch(file, 1, sizeof *move);
            if (move == NULL)
                return false;
            if (raw->list.count == LIMIT_MODEL_MEMBERS)
                return file_error(file, to->at[k], "an attribute has at most %d moves",
                                  LIMIT_MODEL_MEMBERS);
            *move = (struct raw_move){.move = {from->values[i], to->values[k]},
                                      .from_at = from->at[i],
                                      .to_at = to->at[k]};
            LIST_APPEND(&raw->list, move);
        }
    }
    return true;
}

// x -> y -> z
static bool chain(struct model_file *file, struct raw_moves *raw)
{
    struct model_parser *p = &file->p;
    struct states from;
    struct states to;
    if (!states(p, &from))
        return false;
    if (!parse_at(p, MODEL_TOKEN_ARROW))
        return parse_expected(p, "\"->\" and what may follow");
    while (parse_accept(p, MODEL_TOKEN_ARROW)) {
        if (!states(p, &to) || !add_steps(file, raw, &from, &to))
            return false;
        from = to;
    }
    return true;
}

static bool read_moves(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    struct raw_moves *moves = file_scratch(file, 1, sizeof *moves);
    if (moves == NULL)
        return false;
    moves->moves.at = model_token_place(parse_last(p));
    if (!parse_raw_name(p, "the name of an attribute", &moves->attribute) ||
        !parse_expect(p, MODEL_TOKEN_COLON, "\":\""))
        return false;
    size_t first = p->at;
    if (!chain(file, moves))
        return false;
    while (parse_at(p, MODEL_TOKEN_COMMA) && is_literal(p, parse_peek_at(p, 1))) {
        (void)parse_take(p);
        if (!chain(file, moves))
            return false;
    }
    moves->moves.text = parse_text_since(p, first);
    LIST_APPEND(&raw->moves, moves);
    return true;
}

// ---- References --------------------------------------------------------------------------------

const char *const model_on_delete_words[] = {"reject", "cascade", "clear", NULL};

static bool at_reference(const struct model_parser *p)
{
    size_t ahead = 1;
    while (is_plain_name(p, parse_peek_at(p, ahead)) &&
           parse_peek_at(p, ahead + 1)->kind == MODEL_TOKEN_COMMA)
        ahead += 2;
    const struct model_token *name = parse_peek_at(p, ahead);
    return name->kind == MODEL_TOKEN_NAME && !name->first &&
           model_token_is(&p->tokens, parse_peek_at(p, ahead + 1), "to");
}

// ENTITY [on delete …]
static bool target(struct model_file *file, struct raw_reference *reference)
{
    struct model_parser *p = &file->p;
    size_t position = MODEL_DELETE_LEAVE;
    if (!parse_raw_name(p, "the name of an entity", &reference->target))
        return false;
    const struct model_token *next = parse_peek_at(p, 1);
    if (parse_at_word(p, "on") && model_token_is(&p->tokens, next, "delete")) {
        (void)parse_take(p);
        (void)parse_take(p);
        if (!parse_choice(p, model_on_delete_words, &position))
            return false;
    }
    reference->on_delete = (enum model_on_delete)position;
    return true;
}

static bool read_reference(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    struct raw_reference *reference = file_scratch(file, 1, sizeof *reference);
    if (reference == NULL)
        return false;
    reference->at = model_token_place(parse_last(p));
    do {
        if (reference->count == COUNT_OF(reference->names))
            return file_error(file, parse_place(p), "a reference has at most %zu attributes",
                              COUNT_OF(reference->names));
        if (!parse_raw_name(p, "the name of an attribute", &reference->names[reference->count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    LIST_APPEND(&raw->references, reference);
    return parse_expect_word(p, "to") && target(file, reference);
}

// ---- Behind attributes -------------------------------------------------------------------------

static bool at_references(const struct model_parser *p)
{
    const struct model_token *next = parse_peek_at(p, 1);
    return parse_at_modifier(p, "references") && next->kind == MODEL_TOKEN_NAME && !next->first;
}

static bool at_matches(const struct model_parser *p)
{
    const struct model_token *next = parse_peek_at(p, 1);
    return parse_at_modifier(p, "matches") && next->kind == MODEL_TOKEN_STRING && !next->first;
}

// A pattern has escapes of its own, so that it is read as it stands.
static bool matches(struct model_file *file, struct model_attribute *attribute)
{
    struct model_parser *p = &file->p;
    const struct model_token *token = parse_take(p);
    struct matcher_error error;
    if (attribute->matches != NULL)
        return file_error(file, model_token_place(token), "a second \"matches\"");
    attribute->pattern = parse_text(p, token);
    attribute->matches = matcher_compile(attribute->pattern, p->arena, p->scratch, &error);
    struct model_place at = {token->line, token->column + 1 + (uint32_t)error.at,
                             (uint32_t)error.length};
    return attribute->matches != NULL || file_error(file, at, "%s", error.message);
}

bool parse_at_attribute_clause(const struct model_parser *p)
{
    return at_references(p) || at_matches(p);
}

bool parse_attribute_clause(struct model_file *file, struct raw_attribute *raw, bool *taken)
{
    struct model_parser *p = &file->p;
    *taken = parse_at_attribute_clause(p);
    if (at_matches(p)) {
        (void)parse_take(p);
        return matches(file, &raw->attribute);
    }
    if (!at_references(p))
        return true;
    struct raw_reference *reference = file_scratch(file, 1, sizeof *reference);
    if (reference == NULL)
        return false;
    (void)parse_take(p);
    *reference = (struct raw_reference){.at = model_token_place(parse_last(p)), .count = 1};
    reference->names[0] = (struct raw_name){raw->attribute.name, raw->attribute.at};
    if (raw->reference != NULL)
        return file_error(file, reference->at, "a second \"references\"");
    raw->reference = reference;
    return target(file, reference);
}

// ---- count of, sum of --------------------------------------------------------------------------

bool parse_at_tally(const struct model_parser *p)
{
    return (parse_at_word(p, "count") || parse_at_word(p, "sum")) &&
           model_token_is(&p->tokens, parse_peek_at(p, 1), "of") && !parse_peek_at(p, 1)->first;
}

bool parse_counted(struct model_file *file, bool sum, struct raw_tally *tally)
{
    struct model_parser *p = &file->p;
    if (!parse_raw_name(p, "the entity that is counted", &tally->source))
        return false;
    if (sum && (!parse_expect(p, MODEL_TOKEN_DOT, "\".\" and what is summed: sum of File.size") ||
                !parse_raw_name(p, "the attribute that is summed", &tally->amount)))
        return false;
    if (parse_at_word(p, "where") && parse_at_test(p, 1)) {
        (void)parse_take(p);
        tally->where = parse_test(p);
        if (tally->where == NULL)
            return false;
        if (tally->where->clause_count > 1)
            return diagnostic_error(p->diagnostics, tally->where->at,
                                    "conditions of what is counted are joined by \"and\" alone");
    }
    return true;
}

struct raw_tally *parse_tally(struct model_file *file)
{
    struct model_parser *p = &file->p;
    size_t first = p->at;
    struct raw_tally *tally = file_scratch(file, 1, sizeof *tally);
    if (tally == NULL)
        return NULL;
    tally->at = parse_place(p);
    bool sum = parse_at_word(p, "sum");
    (void)parse_take(p);
    (void)parse_take(p);
    if (!parse_counted(file, sum, tally))
        return NULL;
    tally->text = parse_text_since(p, first);
    return tally;
}

// ---- All of them -------------------------------------------------------------------------------

bool parse_clause(struct model_file *file, struct raw_entity *raw, bool *taken)
{
    static const struct {
        const char *word;
        bool (*begins)(const struct model_parser *p);
        bool (*read)(struct model_file *file, struct raw_entity *raw);
    } clauses[] = {
        {"append", at_append, read_append},
        {"shared", at_shared, read_shared},
        {"softdelete", at_softdelete, read_softdelete},
        {"unique", at_unique, read_unique},
        {"check", at_check, read_check},
        {"moves", at_moves, read_moves},
        {"reference", at_reference, read_reference},
    };
    struct model_parser *p = &file->p;
    *taken = false;
    for (size_t i = 0; i < COUNT_OF(clauses) && !*taken; i++) {
        *taken = parse_at_word(p, clauses[i].word) && clauses[i].begins(p);
        if (!*taken)
            continue;
        (void)parse_take(p);
        if (++raw->clause_count > LIMIT_MODEL_MEMBERS)
            return file_error(file, model_token_place(parse_last(p)),
                              "an entity has at most %d checks, references and the like",
                              LIMIT_MODEL_MEMBERS);
        return clauses[i].read(file, raw);
    }
    return true;
}
