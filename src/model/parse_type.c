// Types, objects' fields, and attributes with their modifiers.
#include "model/parse_internal.h"

static bool parse_fields(struct model_file *file, struct model_type *object);

static struct model_type *new_type(struct model_file *file, enum model_kind kind)
{
    struct model_type *type = file_alloc(file, 1, sizeof *type);
    if (type != NULL)
        type->kind = kind;
    return type;
}

// A named type, known from its first mention on; NULL if there are too many.
static struct raw_type *file_type(struct model_file *file, struct slice name)
{
    for (struct raw_type *named = file->types.first; named != NULL; named = named->next)
        if (slice_equal(named->type->name, name))
            return named;
    if (file->types.count == LIMIT_MODEL_DECLARATIONS)
        return diagnostic_fail(file->p.diagnostics, parse_place(&file->p),
                               "a file has at most %d types", LIMIT_MODEL_DECLARATIONS);
    struct raw_type *named = file_scratch(file, 1, sizeof *named);
    if (named == NULL)
        return NULL;
    named->type = new_type(file, MODEL_ANY);
    if (named->type == NULL)
        return NULL;
    named->type->name = name;
    LIST_APPEND(&file->types, named);
    return named;
}

// ---- Ranges ---------------------------------------------------------------------------------

static bool has_range(const struct model_type *type)
{
    switch (type->kind) {
    case MODEL_STRING:
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_EPOCH:
    case MODEL_BINARY:
    case MODEL_LIST:
    case MODEL_SET:
        return type->name.len == 0;
    default:
        return false;
    }
}

static bool is_limit(const struct model_parser *p)
{
    return parse_at(p, MODEL_TOKEN_NUMBER) || parse_at(p, MODEL_TOKEN_MINUS);
}

// "(" [NUM] ".." [NUM] ")"
static bool range(struct model_file *file, struct model_type *type)
{
    struct model_parser *p = &file->p;
    struct model_place at = parse_place(p);
    (void)parse_take(p);
    bool ok = (!is_limit(p) || parse_number(p, "a number", &type->min)) &&
              parse_expect(p, MODEL_TOKEN_RANGE, "a range such as (1..100), (1..) or (..100)") &&
              (!is_limit(p) || parse_number(p, "a number", &type->max)) &&
              parse_expect(p, MODEL_TOKEN_RPAREN, "\")\" behind the range");
    if (!ok)
        return false;
    const struct model_token *last = parse_last(p);
    if (last->line == at.line)
        at.length = last->column + 1 - at.column;
    if (type->min.len > 0 && type->max.len > 0 && slice_compare(type->min, type->max) > 0)
        return file_error(file, at, "the range is empty: its least is above its most");
    bool length =
        type->kind != MODEL_NUMBER && type->kind != MODEL_INTEGER && type->kind != MODEL_EPOCH;
    if (length && type->min.len > 0 && type->min.ptr[0] < 0x80)
        return file_error(file, at, "a length cannot be negative");
    return true;
}

// ---- Bases ----------------------------------------------------------------------------------

// A string (no template: braces are what they are), a number, true or false.
static struct model_type *literal(struct model_file *file)
{
    struct model_parser *p = &file->p;
    struct model_type *type = new_type(file, MODEL_LITERAL);
    struct slice bytes = {0};
    enum value_tag tag = parse_at_word(p, "true") ? VALUE_TAG_TRUE : VALUE_TAG_FALSE;
    if (type == NULL)
        return NULL;
    if (parse_at(p, MODEL_TOKEN_NAME)) {
        (void)parse_take(p);
    } else if (parse_at(p, MODEL_TOKEN_STRING)) {
        tag = VALUE_TAG_S;
        if (!parse_string(p, "a string", &bytes))
            return NULL;
    } else {
        tag = VALUE_TAG_N;
        if (!parse_number(p, "a number", &bytes))
            return NULL;
    }
    type->literal = parse_encode(p, tag, bytes);
    return type->literal.ptr != NULL ? type : NULL;
}

// For check_types().
static bool note_set(struct model_file *file, struct model_type *set, struct model_place at)
{
    struct raw_union *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    *raw = (struct raw_union){.type = set, .at = at};
    LIST_APPEND(&file->sets, raw);
    return true;
}

// set<T>, Array<T>, Record<string, T>; the word is taken.
static struct model_type *generic(struct model_file *file, enum model_kind kind)
{
    struct model_parser *p = &file->p;
    struct model_place at = model_token_place(parse_last(p));
    struct model_type *type = new_type(file, kind);
    if (type == NULL || !parse_expect(p, MODEL_TOKEN_LESS, "\"<\" and the type of the members"))
        return NULL;
    if (kind == MODEL_RECORD &&
        (!parse_expect_word(p, "string") || !parse_expect(p, MODEL_TOKEN_COMMA, "\",\"")))
        return NULL;
    enum raw_optional optional = RAW_REQUIRED;
    type->item = parse_type(file, &optional);
    if (type->item == NULL)
        return NULL;
    if (kind == MODEL_SET && !note_set(file, type, at))
        return NULL;
    if (optional != RAW_REQUIRED)
        return diagnostic_fail(file->p.diagnostics, at,
                               "members cannot be optional; write \"| null\"");
    return parse_expect(p, MODEL_TOKEN_MORE, "\">\"") ? type : NULL;
}

static struct model_type *mention(struct model_file *file)
{
    struct model_parser *p = &file->p;
    struct model_place at = parse_place(p);
    struct slice name;
    if (!parse_name(p, "a type", &name))
        return NULL;
    struct raw_type *named = file_type(file, name);
    struct raw_use *use = file_scratch(file, 1, sizeof *use);
    if (named == NULL || use == NULL)
        return NULL;
    *use = (struct raw_use){.named = named, .at = at};
    LIST_APPEND(&file->uses, use);
    return named->type;
}

// "timestamp", or with its form: timestamp(seconds). The word is taken.
static struct model_type *timestamp(struct model_file *file)
{
    struct model_parser *p = &file->p;
    struct model_type *type = new_type(file, MODEL_TIMESTAMP);
    size_t word = 2; // milliseconds
    if (type == NULL)
        return NULL;
    if (parse_at(p, MODEL_TOKEN_LPAREN) && !parse_peek(p)->first) {
        (void)parse_take(p);
        if (!parse_choice(p, model_form_words, &word) ||
            !parse_expect(p, MODEL_TOKEN_RPAREN, "\")\""))
            return NULL;
    }
    type->form = word == 0 ? 0 : (unsigned)MODEL_SECONDS << (word - 1);
    return type;
}

static struct model_type *worded(struct model_file *file)
{
    struct model_parser *p = &file->p;
    if (parse_accept_word(p, model_type_words[MODEL_TIMESTAMP]))
        return timestamp(file);
    for (size_t i = 0; i < MODEL_KINDS; i++)
        if (model_type_words[i][0] != 0 && parse_accept_word(p, model_type_words[i]))
            return new_type(file, (enum model_kind)i);
    if (parse_accept_word(p, "list")) {
        struct model_type *list = new_type(file, MODEL_LIST);
        if (list != NULL)
            list->item = new_type(file, MODEL_ANY);
        return list != NULL && list->item != NULL ? list : NULL;
    }
    bool angle = parse_peek_at(p, 1)->kind == MODEL_TOKEN_LESS;
    if (angle && (parse_accept_word(p, "set") || parse_accept_word(p, "Set")))
        return generic(file, MODEL_SET);
    if (angle && parse_accept_word(p, "Array"))
        return generic(file, MODEL_LIST);
    if (angle && parse_accept_word(p, "Record"))
        return generic(file, MODEL_RECORD);
    if (parse_at_word(p, "true") || parse_at_word(p, "false"))
        return literal(file);
    return mention(file);
}

static struct model_type *base(struct model_file *file)
{
    struct model_parser *p = &file->p;
    switch (parse_peek(p)->kind) {
    case MODEL_TOKEN_NAME:
        return worded(file);
    case MODEL_TOKEN_STRING:
        return literal(file);
    case MODEL_TOKEN_NUMBER:
    case MODEL_TOKEN_MINUS:
        return literal(file);
    case MODEL_TOKEN_LBRACE: {
        struct model_type *object = new_type(file, MODEL_OBJECT);
        (void)parse_take(p);
        return object != NULL && parse_fields(file, object) ? object : NULL;
    }
    case MODEL_TOKEN_LPAREN: {
        enum raw_optional optional = RAW_REQUIRED;
        (void)parse_take(p);
        const struct model_type *type = parse_type(file, &optional);
        if (type == NULL || !parse_expect(p, MODEL_TOKEN_RPAREN, "\")\""))
            return NULL;
        if (optional != RAW_REQUIRED)
            return diagnostic_fail(file->p.diagnostics, model_token_place(parse_last(p)),
                                   "\"?\" belongs at the end of the whole type");
        return (struct model_type *)type;
    }
    default:
        (void)parse_expected(p, "a type");
        return NULL;
    }
}

// A base with its range and its []s.
static const struct model_type *option(struct model_file *file)
{
    struct model_parser *p = &file->p;
    struct model_type *type = base(file);
    unsigned lists = 0;
    for (;;) {
        if (type != NULL && has_range(type) && parse_at(p, MODEL_TOKEN_LPAREN) &&
            type->min.len + type->max.len == 0 && !parse_peek(p)->first) {
            if (!range(file, type))
                return NULL;
        } else if (type != NULL && parse_at(p, MODEL_TOKEN_LBRACKET)) {
            (void)parse_take(p);
            if (++lists > LIMIT_MODEL_NESTING)
                return diagnostic_fail(file->p.diagnostics, parse_place(p),
                                       "this nests too deeply");
            if (!parse_expect(p, MODEL_TOKEN_RBRACKET, "\"]\""))
                return NULL;
            struct model_type *list = new_type(file, MODEL_LIST);
            if (list != NULL)
                list->item = type;
            type = list;
        } else {
            return type;
        }
    }
}

static const struct model_type *union_of(struct model_file *file, const struct model_type **options,
                                         size_t count, struct model_place at)
{
    struct model_type *type = new_type(file, MODEL_UNION);
    struct raw_union *raw = file_scratch(file, 1, sizeof *raw);
    const struct model_type **copy = file_alloc(file, count, sizeof(struct model_type *));
    if (type == NULL || raw == NULL || copy == NULL)
        return NULL;
    memcpy(copy, options, count * sizeof(struct model_type *));
    type->options = copy;
    type->option_count = count;
    *raw = (struct raw_union){.type = type, .at = at};
    LIST_APPEND(&file->unions, raw);
    return type;
}

static const struct model_type *options(struct model_file *file, struct model_place at)
{
    struct model_parser *p = &file->p;
    const struct model_type *list[LIMIT_MODEL_MEMBERS];
    size_t count = 0;
    do {
        if (count == LIMIT_MODEL_MEMBERS)
            return diagnostic_fail(file->p.diagnostics, at, "a union has at most %d options",
                                   LIMIT_MODEL_MEMBERS);
        list[count] = option(file);
        if (list[count++] == NULL)
            return NULL;
    } while (parse_accept(p, MODEL_TOKEN_PIPE));
    return count == 1 ? list[0] : union_of(file, list, count, at);
}

const struct model_type *parse_type(struct model_file *file, enum raw_optional *optional)
{
    struct model_parser *p = &file->p;
    struct model_place at = parse_place(p);
    if (!parse_deeper(p, at))
        return NULL;
    (void)parse_accept(p, MODEL_TOKEN_PIPE); // "| a | b", as long unions are often written
    const struct model_type *type = options(file, at);
    p->depth--;
    if (type == NULL)
        return NULL;
    bool question = parse_accept(p, MODEL_TOKEN_QUESTION);
    if (question || parse_accept(p, MODEL_TOKEN_STRICT)) {
        *optional = question ? RAW_OPTIONAL : RAW_STRICT;
        if (parse_at(p, MODEL_TOKEN_LBRACKET) || parse_at(p, MODEL_TOKEN_PIPE))
            return diagnostic_fail(
                file->p.diagnostics, model_token_place(parse_last(p)),
                "\"?\" belongs at the end of the whole type; a member that may be "
                "missing is \"| null\"");
    }
    return type;
}

// ---- Attributes and fields ------------------------------------------------------------------

bool parse_is_type_word(const struct model_parser *p, const struct model_token *token)
{
    for (size_t i = 0; i <= MODEL_KINDS; i++)
        if (model_type_words[i][0] != 0 && model_token_is(&p->tokens, token, model_type_words[i]))
            return !token->first;
    return false;
}

bool parse_at_modifier(const struct model_parser *p, const char *word)
{
    const struct model_token *next = parse_peek_at(p, 1);
    const struct model_token *after = parse_peek_at(p, 2);
    bool names = next->kind == MODEL_TOKEN_COLON || parse_is_type_word(p, next) ||
                 (next->kind == MODEL_TOKEN_QUESTION && after->kind == MODEL_TOKEN_COLON);
    return parse_at_word(p, word) && !parse_peek(p)->first && !names;
}

static bool modifier_word(struct model_file *file, struct model_attribute *attribute)
{
    struct model_parser *p = &file->p;
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++) {
        if (!parse_at_modifier(p, one->word))
            continue;
        (void)parse_take(p);
        if (one->normal == 0)
            *((bool *)((char *)attribute + one->flag)) = true;
        attribute->normal |= one->normal;
        return true;
    }
    return false;
}

// A comma is between modifiers if a modifier follows it.
static bool comma_inside(const struct model_parser *p)
{
    struct model_parser ahead = *p;
    if (!parse_accept(&ahead, MODEL_TOKEN_COMMA))
        return false;
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++)
        if (parse_at_modifier(&ahead, one->word))
            return true;
    return parse_at_attribute_clause(&ahead);
}

static bool on_update(struct model_file *file, struct model_attribute *attribute)
{
    struct model_parser *p = &file->p;
    (void)parse_take(p);
    if (!parse_expect_word(p, "update"))
        return false;
    attribute->on_update = true;
    return true;
}

// Words of other languages, and what is written here instead.
static const struct foreign_word {
    const char *word;
    const char *hint;
    bool valued; // a literal stands behind it
} foreign_words[] = {
    {"required", "an attribute has to be there unless \"?\" stands behind its type", false},
    {"optional", "write \"?\" behind the type", false},
    {"nullable", "write \"?\" behind the type", false},
    {"index", "indexes are the table's: index NAME (HASH, RANGE)", false},
    {"default", "write \"= value\"", true},
    {"min", "a range stands behind the type: number(1..5)", true},
    {"max", "a range stands behind the type: number(1..5)", true},
    {"pattern", "texts have lengths, lists of values, and types such as email", true},
    {"regex", "texts have lengths, lists of values, and types such as email", true},
};

// Whether a word behind an attribute, in its line, is meant as a modifier without being one: no
// type follows it, or it is one of another language. It is told, and taken.
static bool foreign_modifier(struct model_file *file, bool field)
{
    struct model_parser *p = &file->p;
    const struct model_token *word = parse_peek(p);
    const struct model_token *next = parse_peek_at(p, 1);
    bool literal = next->kind == MODEL_TOKEN_STRING || next->kind == MODEL_TOKEN_NUMBER;
    bool ends = next->first || next->kind == MODEL_TOKEN_RBRACE || next->kind == MODEL_TOKEN_COMMA;
    if (word->kind != MODEL_TOKEN_NAME || word->first || word->quoted || (!ends && !literal) ||
        (!field && model_token_is(&p->tokens, word, "shared"))) // what the entity is
        return false;
    struct model_guess guess = model_guess_for(parse_text(p, word));
    const struct foreign_word *known = NULL;
    for (size_t i = 0; i < COUNT_OF(foreign_words); i++)
        if (model_token_is(&p->tokens, word, foreign_words[i].word))
            known = &foreign_words[i];
    if (literal && (known == NULL || !known->valued))
        return false;
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++)
        model_guess_candidate(&guess, slice_str(one->word));
    const char *hint = known == NULL ? model_guess_say(&guess, p->scratch)
                                     : arena_printf(p->scratch, "; %s", known->hint);
    (void)file_error(file, parse_place(p), "there is no modifier \"%.*s\"%s",
                     SLICE_FMT(parse_text(p, word)), hint == NULL ? "" : hint);
    (void)parse_take(p);
    if (literal)
        (void)parse_take(p);
    return true;
}

// Behind "=": a default, or what is counted.
static bool value(struct model_file *file, struct raw_attribute *raw)
{
    struct model_parser *p = &file->p;
    if (raw->attribute.otherwise != NULL || raw->tally != NULL)
        return file_error(file, model_token_place(parse_last(p)), "a second default");
    if (parse_at_tally(p)) {
        raw->tally = parse_tally(file);
        return raw->tally != NULL;
    }
    raw->attribute.otherwise = parse_expr(p);
    return raw->attribute.otherwise != NULL;
}

static bool modifiers(struct model_file *file, bool field, struct raw_attribute *raw)
{
    struct model_parser *p = &file->p;
    struct model_attribute *attribute = &raw->attribute;
    for (;;) {
        bool taken = false;
        if (comma_inside(p))
            (void)parse_take(p);
        if (!parse_attribute_clause(file, raw, &taken))
            return false;
        if (taken)
            continue;
        if (parse_accept(p, MODEL_TOKEN_EQUAL)) {
            if (!value(file, raw))
                return false;
        } else if (parse_at_modifier(p, "on")) {
            if (!on_update(file, attribute))
                return false;
        } else if (!modifier_word(file, attribute) && !foreign_modifier(file, field)) {
            return true;
        }
    }
}

static bool check_modifiers(struct model_file *file, bool field, const struct raw_attribute *raw)
{
    const struct model_attribute *attribute = &raw->attribute;
    struct model_place at = attribute->at;
    if (attribute->always && attribute->otherwise == NULL)
        return file_error(file, at,
                          "\"always\" needs what it is: \"number = price * count always\"");
    if (attribute->always && (attribute->on_update || attribute->version))
        return file_error(file, at,
                          "what is always computed is neither \"on update\" nor a version");
    if (raw->tally != NULL && (attribute->always || attribute->on_update || attribute->version ||
                               attribute->unique || attribute->immutable))
        return file_error(file, at,
                          "what the server counts takes no \"always\", \"on update\", \"version\", "
                          "\"unique\" or \"immutable\"");
    if (attribute->on_update && attribute->otherwise == NULL)
        return file_error(file, at, "\"on update\" needs a default to take: \"= now() on update\"");
    if (attribute->version && attribute->otherwise != NULL)
        return file_error(file, at, "a version begins with 1; it has no default");
    if ((attribute->normal & MODEL_LOWER) != 0 && (attribute->normal & MODEL_UPPER) != 0)
        return file_error(file, at, "lower and upper exclude each other");
    if (!field)
        return true;
    const char *word = attribute->unique        ? "unique"
                       : attribute->immutable   ? "immutable"
                       : attribute->version     ? "version"
                       : attribute->on_update   ? "on update"
                       : attribute->always      ? "always"
                       : raw->tally != NULL     ? "count of"
                       : raw->reference != NULL ? "references"
                                                : NULL;
    if (word != NULL)
        return file_error(file, at, "a field of an object cannot be \"%s\"", word);
    return true;
}

struct slice parse_text_since(const struct model_parser *p, size_t first)
{
    uint32_t start = p->tokens.list[first].start;
    return slice_of(p->tokens.text.ptr + start, parse_last(p)->end - start);
}

bool parse_attribute(struct model_file *file, bool field, struct raw_attribute *raw)
{
    struct model_parser *p = &file->p;
    struct model_attribute *attribute = &raw->attribute;
    size_t first = p->at;
    *attribute = (struct model_attribute){.at = parse_place(p)};
    if (!parse_name(p, field ? "the name of a field, or \"}\"" : "an attribute, a key, or \"}\"",
                    &attribute->name))
        return false;
    if (parse_at(p, MODEL_TOKEN_QUESTION) && parse_peek_at(p, 1)->kind == MODEL_TOKEN_COLON) {
        attribute->optional = true;
        (void)parse_take(p);
    }
    (void)parse_accept(p, MODEL_TOKEN_COLON);
    enum raw_optional optional = RAW_REQUIRED;
    size_t begun = p->at;
    attribute->type = parse_type(file, &optional);
    if (attribute->type == NULL)
        return false;
    attribute->written = parse_text_since(p, begun);
    attribute->optional = attribute->optional || optional != RAW_REQUIRED;
    attribute->strict = optional == RAW_STRICT;
    if (!modifiers(file, field, raw))
        return false;
    attribute->doc = parse_doc(p, first, p->at - 1);
    // A comment behind "a string,  // like this" stands behind the comma.
    if (attribute->doc.len == 0 && parse_at(p, MODEL_TOKEN_COMMA))
        attribute->doc = parse_doc(p, first, p->at);
    return check_modifiers(file, field, raw);
}

static void sort_fields(struct model_attribute *fields, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct model_attribute moved = fields[i];
        size_t at = i;
        for (; at > 0 && slice_compare(fields[at - 1].name, moved.name) > 0; at--)
            fields[at] = fields[at - 1];
        fields[at] = moved;
    }
}

static bool gather_fields(struct model_file *file, struct model_type *object,
                          struct raw_attribute *list, size_t count)
{
    struct model_attribute *fields = file_alloc(file, count + 1, sizeof *fields);
    if (fields == NULL)
        return false;
    size_t at = 0;
    for (struct raw_attribute *raw = list; raw != NULL; raw = raw->next)
        fields[at++] = raw->attribute;
    sort_fields(fields, count);
    for (size_t i = 1; i < count; i++) {
        if (!slice_equal(fields[i - 1].name, fields[i].name))
            continue;
        uint32_t before = fields[i - 1].at.line;
        (void)file_error(file, fields[i].at, "field \"%.*s\" is declared twice, first in %s",
                         SLICE_FMT(fields[i].name), file_line(file, before));
    }
    object->fields = fields;
    object->field_count = count;
    return true;
}

// The fields up to and with the closing brace; the opening one is taken.
static bool parse_fields(struct model_file *file, struct model_type *object)
{
    struct model_parser *p = &file->p;
    struct model_place open = model_token_place(parse_last(p));
    RAW_LIST(raw_attribute) list = {0};
    bool ok = true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        size_t from = p->at;
        if (parse_at(p, MODEL_TOKEN_END))
            return file_error(file, open, "this \"{\" is never closed");
        struct raw_attribute *raw = file_scratch(file, 1, sizeof *raw);
        if (raw == NULL)
            return false;
        if (!parse_attribute(file, true, raw)) {
            // Only the outermost braces recover, or one mistake would be told many times.
            return false;
        }
        LIST_APPEND(&list, raw);
        if (list.count > LIMIT_MODEL_MEMBERS)
            return file_error(file, open, "an object has at most %d fields", LIMIT_MODEL_MEMBERS);
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
        ensure(p->at > from);
    }
    return ok && gather_fields(file, object, list.first, list.count);
}

// type NAME { … }, type NAME = T; the word is taken.
bool parse_type_declaration(struct model_file *file, size_t first)
{
    struct model_parser *p = &file->p;
    struct slice name;
    struct model_place at = parse_place(p);
    if (!parse_name(p, "a name for the type", &name))
        return false;
    struct raw_type *named = file_type(file, name);
    if (named == NULL)
        return false;
    bool again = named->at.line > 0;
    if (again)
        (void)file_error(file, at, "type \"%.*s\" is declared twice, first in %s", SLICE_FMT(name),
                         file_line(file, named->at.line));
    else
        named->at = at;
    struct model_type object = {.kind = MODEL_OBJECT, .name = name};
    const struct model_type *alias = NULL;
    enum raw_optional optional = RAW_REQUIRED;
    if (parse_accept(p, MODEL_TOKEN_LBRACE)) {
        size_t last = p->at - 1;
        if (!parse_fields(file, &object))
            return false;
        named->doc = parse_doc(p, first,
                               p->at - 1 > last && parse_last(p)->line == p->tokens.list[last].line
                                   ? p->at - 1
                                   : last);
    } else {
        if (!parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\" and a type, or \"{\" and fields"))
            return false;
        size_t begun = p->at;
        alias = parse_type(file, &optional);
        if (alias == NULL)
            return false;
        named->written = parse_text_since(p, begun);
        named->doc = parse_doc(p, first, p->at - 1);
    }
    if (optional != RAW_REQUIRED)
        return file_error(file, at, "a type cannot be optional; the attributes that have it can");
    if (again)
        return true;
    object.doc = named->doc;
    if (alias == NULL)
        *named->type = object;
    else
        named->alias = alias;
    return true;
}
