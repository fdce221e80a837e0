// Expressions and templates. A template is a string whose {…} are expressions; their inside is cut
// into tokens of its own, so that places are those of the file.
#include "model/parse_internal.h"
#include "value/number.h"

// The expression in the model's memory.
static struct model_expr *new_expr(struct model_parser *p, struct model_expr expr)
{
    struct model_expr *kept = arena_zalloc(p->arena, 1, sizeof *kept);
    if (kept == NULL)
        return parse_exhausted(p);
    *kept = expr;
    return kept;
}

static struct model_expr *new_call(struct model_parser *p, enum model_expr_kind kind,
                                   struct model_place at, size_t count,
                                   const struct model_expr *const *args)
{
    const struct model_expr **copy = arena_zalloc(p->arena, count + 1, sizeof(struct model_expr *));
    if (copy == NULL)
        return parse_exhausted(p);
    for (size_t i = 0; i < count; i++)
        copy[i] = args[i];
    return new_expr(p,
                    (struct model_expr){.kind = kind, .at = at, .args = copy, .arg_count = count});
}

static struct model_expr *new_function(struct model_parser *p, enum model_function function,
                                       struct model_place at, size_t count,
                                       const struct model_expr *const *args)
{
    struct model_expr *call = new_call(p, MODEL_EXPR_CALL, at, count, args);
    if (call != NULL)
        call->function = function;
    return call;
}

struct slice parse_encode(struct model_parser *p, enum value_tag tag, struct slice bytes)
{
    struct value_maker maker;
    value_begin(&maker, (size_t)2 * LIMIT_MODEL_FILE);
    if (tag == VALUE_TAG_NULL)
        value_put_null(&maker.b);
    else if (tag == VALUE_TAG_TRUE || tag == VALUE_TAG_FALSE)
        value_put_bool(&maker.b, tag == VALUE_TAG_TRUE);
    else if (tag == VALUE_TAG_L || tag == VALUE_TAG_M)
        tag == VALUE_TAG_L ? value_open_list(&maker.b) : value_open_map(&maker.b);
    else
        value_put_scalar(&maker.b, tag, bytes);
    struct slice value = value_end(&maker, p->arena);
    if (value.ptr == NULL)
        (void)parse_no_memory(p);
    return value;
}

static struct model_expr *new_value(struct model_parser *p, struct model_place at,
                                    enum value_tag tag, struct slice bytes)
{
    struct slice value = parse_encode(p, tag, bytes);
    return value.ptr == NULL
               ? NULL
               : new_expr(p,
                          (struct model_expr){.kind = MODEL_EXPR_VALUE, .at = at, .value = value});
}

// ---- Numbers and texts ----------------------------------------------------------------------

static bool store_number(struct model_parser *p, struct slice text, struct model_place at,
                         struct slice *stored)
{
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len = 0;
    if (number_from_text(text, bytes, &len) != NUMBER_OK)
        return diagnostic_error(p->diagnostics, at,
                                "a number of at most 38 digits, up to 9.99e125, can be stored");
    *stored = arena_copy(p->arena, slice_of(bytes, len));
    return stored->ptr != NULL || parse_no_memory(p);
}

bool parse_number(struct model_parser *p, const char *what, struct slice *stored)
{
    struct model_place at = parse_place(p);
    uint32_t start = parse_peek(p)->start;
    if (parse_at(p, MODEL_TOKEN_MINUS) && parse_peek_at(p, 1)->kind == MODEL_TOKEN_NUMBER)
        (void)parse_take(p);
    if (!parse_at(p, MODEL_TOKEN_NUMBER))
        return parse_expected(p, what);
    const struct model_token *token = parse_take(p);
    if (token->line != at.line)
        return diagnostic_error(p->diagnostics, at, "the sign stands in a line of its own");
    at.length = token->end - start;
    struct slice digits = parse_text(p, token);
    if (start == token->start)
        return store_number(p, digits, at, stored);
    char *text = arena_printf(p->scratch, "-%.*s", SLICE_FMT(digits));
    return text == NULL ? parse_no_memory(p) : store_number(p, slice_str(text), at, stored);
}

bool parse_count(struct model_parser *p, const char *what, uint64_t min, uint64_t max,
                 uint64_t *count)
{
    struct model_place at = parse_place(p);
    struct slice stored = {0};
    int64_t value = 0;
    if (!parse_number(p, what, &stored))
        return false;
    if (!number_to_i64(stored, &value) || value < 0 || (uint64_t)value < min ||
        (uint64_t)value > max)
        return diagnostic_error(p->diagnostics, at, "expected a whole number from %llu to %llu",
                                (unsigned long long)min, (unsigned long long)max);
    *count = (uint64_t)value;
    return true;
}

bool parse_duration(struct model_parser *p, uint64_t *seconds)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind != MODEL_TOKEN_DURATION)
        return parse_expected(p, "a duration such as 7d (units: s, m, h, d, w)");
    struct slice text = parse_text(p, token);
    uint64_t value = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
        if (value > 1000000000)
            return diagnostic_error(p->diagnostics, model_token_place(token),
                                    "a duration is at most 1000000000 of its unit");
    }
    uint8_t unit = text.ptr[text.len - 1];
    *seconds = value * (unit == 'w'   ? 604800u
                        : unit == 'd' ? 86400u
                        : unit == 'h' ? 3600u
                        : unit == 'm' ? 60u
                                      : 1u);
    (void)parse_take(p);
    return true;
}

static struct model_place inside_place(const struct model_token *token)
{
    return (struct model_place){token->line, token->column + 1, token->end - token->start - 2};
}

bool parse_string(struct model_parser *p, const char *what, struct slice *text)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind != MODEL_TOKEN_STRING)
        return parse_expected(p, what);
    struct slice inside = parse_text(p, token);
    struct slice plain = model_unescape(inside, inside_place(token), p->arena, p->diagnostics);
    if (plain.ptr == NULL)
        return false;
    (void)parse_take(p);
    *text = plain;
    return true;
}

// ---- Formats: {createdAt:yyyy/mm/dd}, {rank:pad(8)} -----------------------------------------

bool model_date_pattern(struct slice pattern)
{
    static const char *const parts[] = {"yyyy", "mm", "dd", "HH", "MM", "SS"};
    bool any = false;
    for (size_t i = 0; i < pattern.len;) {
        struct slice rest = slice_of(pattern.ptr + i, pattern.len - i);
        size_t known = 0;
        for (size_t k = 0; k < COUNT_OF(parts); k++)
            if (slice_begins(rest, slice_str(parts[k])))
                known = strlen(parts[k]);
        uint8_t c = pattern.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (known == 0 && letter)
            return false;
        any = any || known > 0;
        i += known > 0 ? known : 1;
    }
    return any;
}

// One format: a function of what stands before it. Date patterns may have colons, so that the next
// one is joined to the last.
static struct model_expr *format_one(struct model_parser *p, struct model_expr *of,
                                     struct slice format, struct model_place at)
{
    static const enum model_function plain[] = {MODEL_FN_LOWER,  MODEL_FN_UPPER,  MODEL_FN_TRIM,
                                                MODEL_FN_SHA256, MODEL_FN_ESCAPE, MODEL_FN_FORBID,
                                                MODEL_FN_RAW};
    const struct model_expr *args[2] = {of, NULL};
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (slice_is(format, model_function_words[plain[i]]))
            return new_function(p, plain[i], at, 1, args);
    struct model_expr *argument = NULL;
    enum model_function function =
        slice_begins(format, SLICE_LIT("pad(")) ? MODEL_FN_PAD : MODEL_FN_FIXED;
    size_t head = strlen(model_function_words[function]) + 1;
    if ((function == MODEL_FN_PAD || slice_begins(format, SLICE_LIT("fixed("))) &&
        format.len > head + 1 && format.len < head + 6 && format.ptr[format.len - 1] == ')') {
        struct slice digits = slice_of(format.ptr + head, format.len - head - 1);
        struct slice stored;
        if (!store_number(p, digits, at, &stored))
            return NULL;
        argument = new_value(p, at, VALUE_TAG_N, stored);
    } else if (model_date_pattern(format)) {
        function = MODEL_FN_DATE_PART;
        argument = new_value(p, at, VALUE_TAG_S, format);
    } else {
        (void)diagnostic_error(p->diagnostics, at,
                               "unknown format \"%.*s\"; there are pad(n), fixed(n), lower, upper, "
                               "trim, sha256, escape, forbid, raw, and dates such as yyyy-mm-dd",
                               SLICE_FMT(format));
    }
    args[1] = argument;
    return argument == NULL ? NULL : new_function(p, function, at, 2, args);
}

static size_t format_end(struct slice formats, size_t from)
{
    size_t end = from;
    while (end < formats.len && formats.ptr[end] != ':')
        end++;
    return end;
}

static struct model_expr *format_all(struct model_parser *p, struct model_expr *expr,
                                     struct slice formats, struct model_place at)
{
    uint32_t column = at.column;
    for (size_t i = 0; expr != NULL && i <= formats.len;) {
        size_t end = format_end(formats, i);
        struct slice format = slice_of(formats.ptr + i, end - i);
        while (model_date_pattern(format) && end < formats.len) {
            size_t longer = format_end(formats, end + 1);
            struct slice joined = slice_of(formats.ptr + end + 1, longer - end - 1);
            if (!model_date_pattern(joined))
                break;
            end = longer;
            format.len = end - i;
        }
        at.column = column + (uint32_t)i;
        at.length = (uint32_t)format.len;
        expr = format_one(p, expr, format, at);
        i = end + 1;
    }
    return expr;
}

// ---- Templates ------------------------------------------------------------------------------

// From behind "{" to its "}", which is outside of quotes; *colon is the first ":" outside of quotes
// and parentheses, or the end.
static size_t hole_end(struct slice inside, size_t from, size_t *colon)
{
    uint8_t quote = 0;
    int parens = 0;
    *colon = SIZE_MAX;
    size_t i = from;
    for (; i < inside.len; i++) {
        uint8_t c = inside.ptr[i];
        if (quote != 0) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '\'' || c == '"' || c == '`') {
            quote = c;
        } else if (c == '(' || c == ')') {
            parens += c == '(' ? 1 : -1;
        } else if (c == ':' && parens <= 0 && *colon == SIZE_MAX) {
            *colon = i;
        } else if (c == '}') {
            break;
        }
    }
    if (*colon == SIZE_MAX)
        *colon = i;
    return i;
}

// The expression in a part of the file.
static struct model_expr *expr_in(struct model_parser *p, struct model_origin part)
{
    struct model_parser inner = *p;
    inner.at = 0;
    if (!model_tokens_read_part(&inner.tokens, p->tokens.text, part, p->scratch, p->diagnostics))
        return NULL;
    inner.tokens.part = true;
    struct model_expr *expr = parse_expr(&inner);
    if (expr != NULL && !parse_at(&inner, MODEL_TOKEN_END)) {
        (void)parse_expected(&inner, "\"}\", \":\" and a format, \"??\" or an operator");
        return NULL;
    }
    return expr;
}

// The hole that begins behind `at` in a string token; *at moves behind its "}".
static struct model_expr *hole(struct model_parser *p, const struct model_token *token,
                               struct slice inside, size_t *at)
{
    size_t colon = 0;
    size_t from = *at;
    size_t end = hole_end(inside, from, &colon);
    uint32_t start = token->start + 1;
    uint32_t column = token->column + 1;
    if (end >= inside.len)
        return diagnostic_fail(p->diagnostics,
                               (struct model_place){token->line, column + (uint32_t)from - 1,
                                                    (uint32_t)(inside.len - from + 1)},
                               "this \"{\" has no \"}\"; write \"\\{\" for the character itself");
    struct model_origin part = {start + (uint32_t)from, start + (uint32_t)colon, token->line,
                                column + (uint32_t)from};
    struct model_expr *expr = expr_in(p, part);
    *at = end + 1;
    if (expr == NULL || colon == end)
        return expr;
    struct model_place place = {token->line, column + (uint32_t)colon + 1, 1};
    return format_all(p, expr, slice_of(inside.ptr + colon + 1, end - colon - 1), place);
}

static size_t literal_end(struct slice inside, size_t from)
{
    size_t i = from;
    while (i < inside.len && inside.ptr[i] != '{' && inside.ptr[i] != '}')
        i += inside.ptr[i] == '\\' ? 2 : 1;
    return i < inside.len ? i : inside.len;
}

static bool fill_segments(struct model_parser *p, const struct model_token *token,
                          struct slice inside, struct model_segment *segments, size_t *count)
{
    struct model_place at = inside_place(token);
    size_t i = 0;
    while (i < inside.len) {
        size_t end = literal_end(inside, i);
        struct model_place here = {at.line, at.column + (uint32_t)i, 1};
        if (end > i) {
            struct slice text =
                model_unescape(slice_of(inside.ptr + i, end - i), here, p->arena, p->diagnostics);
            if (text.ptr == NULL)
                return false;
            segments[(*count)++].literal = text;
        }
        here.column = at.column + (uint32_t)end;
        if (end < inside.len && inside.ptr[end] == '}')
            return diagnostic_error(p->diagnostics, here,
                                    "this \"}\" has no \"{\"; write \"\\}\" for the character");
        i = end;
        if (end < inside.len) {
            i = end + 1;
            const struct model_expr *expr = hole(p, token, inside, &i);
            if (expr == NULL)
                return false;
            segments[(*count)++].expr = expr;
        }
    }
    return true;
}

static struct model_template *template_string(struct model_parser *p,
                                              const struct model_token *token)
{
    struct slice inside = parse_text(p, token);
    size_t holes = 0;
    for (size_t i = 0; i < inside.len; i++)
        holes += inside.ptr[i] == '{';
    if (holes > LIMIT_MODEL_PARAMETERS)
        return diagnostic_fail(p->diagnostics, model_token_place(token),
                               "a template has at most %d expressions", LIMIT_MODEL_PARAMETERS);
    struct model_template *template = arena_zalloc(p->arena, 1, sizeof *template);
    struct model_segment *segments = arena_zalloc(p->arena, 2 * holes + 1, sizeof *segments);
    if (template == NULL || segments == NULL)
        return parse_exhausted(p);
    size_t count = 0;
    if (!parse_deeper(p, model_token_place(token)))
        return NULL;
    bool ok = fill_segments(p, token, inside, segments, &count);
    p->depth--;
    if (!ok)
        return NULL;
    template->source = inside;
    template->segments = segments;
    template->segment_count = count;
    return template;
}

bool parse_path(struct model_parser *p, const struct slice **steps, size_t *count,
                struct model_place *at)
{
    struct slice list[LIMIT_MODEL_NESTING];
    *at = parse_place(p);
    do {
        if (*count == COUNT_OF(list))
            return diagnostic_error(p->diagnostics, parse_place(p), "this nests too deeply");
        if (!parse_name(p, "the name of an attribute", &list[(*count)++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_DOT));
    const struct model_token *last = parse_last(p);
    if (last->line == at->line)
        at->length = last->column + (last->end - last->start) - at->column;
    struct slice *copy = arena_zalloc(p->arena, *count, sizeof *copy);
    if (copy == NULL)
        return parse_no_memory(p);
    memcpy(copy, list, *count * sizeof *copy);
    *steps = copy;
    return true;
}

static struct model_expr *new_path(struct model_parser *p, const struct slice *steps, size_t count,
                                   struct model_place at)
{
    return new_expr(p, (struct model_expr){
                           .kind = MODEL_EXPR_PATH, .at = at, .steps = steps, .step_count = count});
}

static struct model_expr *path(struct model_parser *p)
{
    const struct slice *steps = NULL;
    size_t count = 0;
    struct model_place at;
    return parse_path(p, &steps, &count, &at) ? new_path(p, steps, count, at) : NULL;
}

struct model_expr *parse_attribute_path(struct model_parser *p, struct slice name,
                                        struct model_place at)
{
    struct slice *step = arena_zalloc(p->arena, 1, sizeof *step);
    if (step == NULL)
        return parse_exhausted(p);
    *step = name;
    return new_path(p, step, 1, at);
}

struct model_template *parse_bare(struct model_parser *p, const struct model_expr *path,
                                  struct slice name)
{
    char *source = arena_printf(p->arena, "{%.*s}", SLICE_FMT(name));
    struct model_template *template = arena_zalloc(p->arena, 1, sizeof *template);
    struct model_segment *segment = arena_zalloc(p->arena, 1, sizeof *segment);
    if (source == NULL || template == NULL || segment == NULL)
        return parse_exhausted(p);
    segment->expr = path;
    *template = (struct model_template){
        .source = slice_str(source), .segment_count = 1, .segments = segment};
    return template;
}

// "{…}" of an expression that began with this token and has just ended; NULL if it is NULL.
static struct model_template *bare_from(struct model_parser *p, const struct model_token *first,
                                        const struct model_expr *expr)
{
    const uint8_t *text = p->tokens.text.ptr + first->start;
    return expr == NULL ? NULL
                        : parse_bare(p, expr, slice_of(text, parse_last(p)->end - first->start));
}

struct model_template *parse_template(struct model_parser *p)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind == MODEL_TOKEN_STRING) {
        (void)parse_take(p);
        return template_string(p, token);
    }
    if (token->kind != MODEL_TOKEN_NAME) {
        (void)parse_expected(p, "a template such as \"USER#{userId}\", or an attribute's name");
        return NULL;
    }
    return bare_from(p, token, path(p));
}

// ---- Expressions ----------------------------------------------------------------------------

static struct model_expr *string_expr(struct model_parser *p)
{
    const struct model_token *token = parse_peek(p);
    struct model_place at = model_token_place(token);
    struct model_template *template = parse_template(p);
    if (template == NULL)
        return NULL;
    if (template->segment_count == 0)
        return new_value(p, at, VALUE_TAG_S, SLICE_LIT(""));
    if (template->segment_count == 1 && template->segments[0].expr == NULL)
        return new_value(p, at, VALUE_TAG_S, template->segments[0].literal);
    return new_expr(
        p, (struct model_expr){.kind = MODEL_EXPR_TEMPLATE, .at = at, .template = template});
}

static struct model_expr *number_expr(struct model_parser *p)
{
    struct model_place at = parse_place(p);
    struct slice stored;
    if (!parse_number(p, "a number", &stored))
        return NULL;
    return new_value(p, at, VALUE_TAG_N, stored);
}

static struct model_expr *duration_expr(struct model_parser *p)
{
    struct model_place at = parse_place(p);
    uint64_t seconds = 0;
    uint8_t bytes[NUMBER_BYTES_MAX];
    if (!parse_duration(p, &seconds))
        return NULL;
    size_t len = number_from_i64((int64_t)seconds, bytes);
    struct model_expr *expr = new_value(p, at, VALUE_TAG_N, slice_of(bytes, len));
    if (expr != NULL)
        expr->duration = true;
    return expr;
}

static bool find_function(struct model_parser *p, enum model_function *function)
{
    struct slice name = parse_text(p, parse_peek(p));
    struct model_guess guess = model_guess_for(name);
    for (size_t i = 0; i < MODEL_FUNCTIONS; i++) {
        if (slice_is(name, model_function_words[i])) {
            *function = (enum model_function)i;
            return true;
        }
        model_guess_candidate(&guess, slice_str(model_function_words[i]));
    }
    return diagnostic_error(p->diagnostics, parse_place(p), "unknown function \"%.*s\"%s",
                            SLICE_FMT(name), model_guess_say(&guess, p->scratch));
}

static bool check_count(struct model_parser *p, enum model_function function, size_t count,
                        struct model_place at)
{
    static const size_t takes[][2] = {
#define X(name, text, least, most) {least, most},
        MODEL_FUNCTION_LIST(X)
#undef X
    };
    const char *name = model_function_words[function];
    size_t least = takes[function][0];
    size_t most = takes[function][1];
    if (count >= least && count <= most)
        return true;
    if (least == most)
        return diagnostic_error(p->diagnostics, at, "%s() takes %zu argument%s, not %zu", name,
                                least, least == 1 ? "" : "s", count);
    return diagnostic_error(p->diagnostics, at, "%s() takes %zu to %zu arguments, not %zu", name,
                            least, most, count);
}

static struct model_expr *call(struct model_parser *p)
{
    enum { ARGUMENTS = 33 }; // one more than any function takes
    const struct model_expr *args[ARGUMENTS];
    struct model_place at = parse_place(p);
    enum model_function function = MODEL_FN_NOW;
    if (!find_function(p, &function))
        return NULL;
    (void)parse_take(p);
    (void)parse_take(p);
    size_t count = 0;
    while (!parse_at(p, MODEL_TOKEN_RPAREN)) {
        if (count > 0 && !parse_expect(p, MODEL_TOKEN_COMMA, "\",\" or \")\""))
            return NULL;
        const struct model_expr *arg = parse_expr(p);
        if (arg == NULL)
            return NULL;
        if (count < ARGUMENTS)
            args[count++] = arg;
    }
    (void)parse_take(p);
    return check_count(p, function, count, at) ? new_function(p, function, at, count, args) : NULL;
}

static struct model_expr *word(struct model_parser *p)
{
    struct model_place at = parse_place(p);
    if (parse_peek_at(p, 1)->kind == MODEL_TOKEN_LPAREN && !parse_peek(p)->quoted)
        return call(p);
    if (parse_accept_word(p, "true"))
        return new_value(p, at, VALUE_TAG_TRUE, VALUE_NONE);
    if (parse_accept_word(p, "false"))
        return new_value(p, at, VALUE_TAG_FALSE, VALUE_NONE);
    if (parse_accept_word(p, "null"))
        return new_value(p, at, VALUE_TAG_NULL, VALUE_NONE);
    return path(p);
}

// [] and {}: the empty list and map.
static struct model_expr *empty(struct model_parser *p, enum model_token_kind close,
                                enum value_tag tag)
{
    struct model_place at = parse_place(p);
    (void)parse_take(p);
    if (!parse_expect(p, close,
                      close == MODEL_TOKEN_RBRACKET
                          ? "\"]\" (of lists only the empty one can be written)"
                          : "\"}\" (of maps only the empty one can be written)"))
        return NULL;
    return new_value(p, at, tag, VALUE_NONE);
}

static struct model_expr *primary(struct model_parser *p)
{
    switch (parse_peek(p)->kind) {
    case MODEL_TOKEN_STRING:
        return string_expr(p);
    case MODEL_TOKEN_NUMBER:
    case MODEL_TOKEN_MINUS:
        return number_expr(p);
    case MODEL_TOKEN_DURATION:
        return duration_expr(p);
    case MODEL_TOKEN_NAME:
        return word(p);
    case MODEL_TOKEN_LBRACKET:
        return empty(p, MODEL_TOKEN_RBRACKET, VALUE_TAG_L);
    case MODEL_TOKEN_LBRACE:
        return empty(p, MODEL_TOKEN_RBRACE, VALUE_TAG_M);
    case MODEL_TOKEN_LPAREN: {
        (void)parse_take(p);
        struct model_expr *expr = parse_expr(p);
        return expr != NULL && parse_expect(p, MODEL_TOKEN_RPAREN, "\")\"") ? expr : NULL;
    }
    default:
        (void)parse_expected(p, "a value: a string, number, duration, attribute or function");
        return NULL;
    }
}

static struct model_expr *binary(struct model_parser *p, enum model_expr_kind kind,
                                 const struct model_expr *left, const struct model_expr *right)
{
    if (left == NULL || right == NULL)
        return NULL;
    const struct model_expr *args[2] = {left, right};
    struct model_place at = left->at;
    if (right->at.line == at.line && right->at.column > at.column)
        at.length = right->at.column + right->at.length - at.column;
    return new_call(p, kind, at, 2, args);
}

// Chains are trees that lean to one side: their length counts as depth. `left` is their first part.
static struct model_expr *term(struct model_parser *p, struct model_expr *left)
{
    unsigned length = 0;
    while (left != NULL && parse_accept(p, MODEL_TOKEN_ELSE)) {
        if (++length > LIMIT_MODEL_NESTING)
            return diagnostic_fail(p->diagnostics, left->at, "this expression is too long");
        left = binary(p, MODEL_EXPR_ELSE, left, primary(p));
    }
    return left;
}

static struct model_expr *product(struct model_parser *p, struct model_expr *left)
{
    unsigned length = 0;
    while (left != NULL && parse_accept(p, MODEL_TOKEN_STAR)) {
        if (++length > LIMIT_MODEL_NESTING)
            return diagnostic_fail(p->diagnostics, left->at, "this expression is too long");
        left = binary(p, MODEL_EXPR_MULTIPLY, left, term(p, primary(p)));
    }
    return left;
}

static struct model_expr *sum(struct model_parser *p, struct model_expr *left)
{
    unsigned length = 0;
    while (left != NULL && (parse_at(p, MODEL_TOKEN_PLUS) || parse_at(p, MODEL_TOKEN_MINUS))) {
        bool plus = parse_take(p)->kind == MODEL_TOKEN_PLUS;
        if (++length > LIMIT_MODEL_NESTING)
            return diagnostic_fail(p->diagnostics, left->at, "this expression is too long");
        left = binary(p, plus ? MODEL_EXPR_ADD : MODEL_EXPR_SUBTRACT, left,
                      product(p, term(p, primary(p))));
    }
    return left;
}

struct model_expr *parse_expr(struct model_parser *p)
{
    if (!parse_deeper(p, parse_place(p)))
        return NULL;
    struct model_expr *expr = sum(p, product(p, term(p, primary(p))));
    p->depth--;
    return expr;
}

struct model_template *parse_key(struct model_parser *p, bool *plain)
{
    const struct model_token *token = parse_peek(p);
    bool number = token->kind == MODEL_TOKEN_NUMBER || token->kind == MODEL_TOKEN_MINUS;
    *plain = token->kind == MODEL_TOKEN_NAME || number;
    if (!*plain)
        return parse_template(p);
    // A name is an attribute's even before a "(", with which a type of the next line may begin.
    struct model_expr *first = number ? number_expr(p) : path(p);
    return bare_from(p, token, sum(p, product(p, term(p, first))));
}
