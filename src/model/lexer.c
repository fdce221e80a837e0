// The lexer: longest match over bytes. A first pass counts, a second one fills the arrays.
//
// A byte that begins no token becomes UNKNOWN (a whole UTF-8 character), for the parser to report
// like any other misplaced token. Only what has no end (a string, a comment) is an error here.
#include "model/lexer.h"

#include "base/encode.h"
#include "base/limits.h"

struct scanner {
    struct slice text;
    size_t at;
    uint32_t line;
    size_t line_start;               // offset of the line's first byte in text
    uint32_t first_column;           // of the byte at line_start: 1 but in the first line of a part
    uint32_t base;                   // offset of text in its file
    bool first;                      // no token came in this line yet
    struct diagnostics *diagnostics; // NULL while counting
};

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static uint8_t peek(const struct scanner *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : 0;
}

static struct model_place place_here(const struct scanner *s, size_t length)
{
    return (struct model_place){s->line, (uint32_t)(s->at - s->line_start) + s->first_column,
                                (uint32_t)length};
}

static void fail(struct scanner *s, size_t length, const char *message)
{
    if (s->diagnostics != NULL)
        (void)diagnostic_error(s->diagnostics, place_here(s, length), "%s", message);
}

static void new_line(struct scanner *s)
{
    s->line++;
    s->line_start = s->at;
    s->first_column = 1;
    s->first = true;
}

// Behind "//" up to the end of the line, or behind "/*" up to its end.
static void skip_comment(struct scanner *s, struct model_comment *comment)
{
    comment->alone = s->first;
    comment->line = s->line;
    comment->start = s->base + (uint32_t)s->at;
    if (peek(s, 1) == '/') {
        while (s->at < s->text.len && s->text.ptr[s->at] != '\n')
            s->at++;
    } else {
        size_t end = s->at + 2;
        while (end + 1 < s->text.len && !(s->text.ptr[end] == '*' && s->text.ptr[end + 1] == '/'))
            end++;
        if (end + 1 >= s->text.len) {
            fail(s, 2, "this comment has no end; expected \"*/\"");
            end = s->text.len;
        } else {
            end += 2;
        }
        // What follows a comment is first in its line if the comment has ended one, or stood before
        // everything.
        bool first = s->first;
        while (s->at < end) {
            if (s->text.ptr[s->at++] == '\n') {
                new_line(s);
                first = true;
            }
        }
        s->first = first;
    }
    comment->last_line = s->line;
    comment->end = s->base + (uint32_t)s->at;
}

// True with a comment; false at a token or the end.
static bool skip_blank(struct scanner *s, struct model_comment *comment)
{
    for (;;) {
        uint8_t c = peek(s, 0);
        if (s->at >= s->text.len)
            return false;
        if (c == '\n') {
            s->at++;
            new_line(s);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            s->at++;
        } else if (c == '/' && (peek(s, 1) == '/' || peek(s, 1) == '*')) {
            skip_comment(s, comment);
            return true;
        } else {
            return false;
        }
    }
}

// A dash belongs to a name if it goes on behind it: media-out-of-albums is one, a - b are two.
static size_t name_length(const struct scanner *s)
{
    size_t n = 0;
    for (;; n++) {
        uint8_t c = peek(s, n);
        bool inside = is_letter(c) || is_digit(c);
        bool dash = c == '-' && (is_letter(peek(s, n + 1)) || is_digit(peek(s, n + 1)));
        if (!inside && !dash)
            return n;
    }
}

static size_t digits(const struct scanner *s, size_t from)
{
    size_t n = from;
    while (is_digit(peek(s, n)))
        n++;
    return n;
}

// Digits, a fraction (but "1..10" is 1, then ".."), an exponent; or digits and the unit of a
// duration.
static enum model_token_kind number(const struct scanner *s, size_t *length)
{
    size_t n = digits(s, 0);
    uint8_t unit = peek(s, n);
    bool word = is_letter(peek(s, n + 1)) || is_digit(peek(s, n + 1));
    if (!word && (unit == 's' || unit == 'm' || unit == 'h' || unit == 'd' || unit == 'w')) {
        *length = n + 1;
        return MODEL_TOKEN_DURATION;
    }
    if ((unit == 'K' || unit == 'M' || unit == 'G') && peek(s, n + 1) == 'B' &&
        !is_letter(peek(s, n + 2)) && !is_digit(peek(s, n + 2))) {
        *length = n + 2;
        return MODEL_TOKEN_SIZE;
    }
    if (unit == '.' && is_digit(peek(s, n + 1)))
        n = digits(s, n + 1);
    if (peek(s, n) == 'e' || peek(s, n) == 'E') {
        size_t sign = peek(s, n + 1) == '-' || peek(s, n + 1) == '+' ? 2 : 1;
        if (is_digit(peek(s, n + sign)))
            n = digits(s, n + sign);
    }
    *length = n;
    if (!is_letter(peek(s, n)))
        return MODEL_TOKEN_NUMBER;
    while (is_letter(peek(s, n)) || is_digit(peek(s, n)))
        n++;
    *length = n;
    return MODEL_TOKEN_UNKNOWN;
}

static enum model_token_kind quoted(struct scanner *s, uint8_t quote, size_t *length)
{
    size_t n = 1;
    while (s->at + n < s->text.len && peek(s, n) != quote && peek(s, n) != '\n')
        n += quote != '`' && peek(s, n) == '\\' && s->at + n + 1 < s->text.len &&
                     peek(s, n + 1) != '\n'
                 ? 2
                 : 1;
    if (peek(s, n) == quote) {
        *length = n + 1;
        return quote == '`' ? MODEL_TOKEN_NAME : MODEL_TOKEN_STRING;
    }
    fail(s, n,
         quote == '`' ? "this name has no closing backtick in its line"
                      : "this string has no closing quote in its line");
    *length = n;
    return MODEL_TOKEN_BAD;
}

static const char *const token_names[] = {
#define X(kind, name) name,
    MODEL_TOKEN_LIST(X)
#undef X
};

// The longest mark that stands here: those whose name is themselves in quotes.
static enum model_token_kind mark(const struct scanner *s, size_t *length)
{
    enum model_token_kind kind = MODEL_TOKEN_UNKNOWN;
    struct slice rest = slice_of(s->text.ptr + s->at, s->text.len - s->at);
    *length = 0;
    for (size_t i = 0; i < COUNT_OF(token_names); i++) {
        const char *name = token_names[i];
        struct slice text = slice_of(name + 1, strlen(name) - 2);
        if (name[0] == '"' && text.len > *length && slice_begins(rest, text)) {
            kind = (enum model_token_kind)i;
            *length = text.len;
        }
    }
    if (kind != MODEL_TOKEN_UNKNOWN)
        return kind;
    *length = 1;
    while (rest.ptr[0] >= 0xc0 && *length < 4 && (peek(s, *length) & 0xc0) == 0x80)
        (*length)++;
    return kind;
}

static void next_token(struct scanner *s, struct model_token *token)
{
    *token = (struct model_token){.kind = MODEL_TOKEN_END, .first = s->first};
    struct model_place at = place_here(s, 0);
    token->line = at.line;
    token->column = at.column;
    token->start = s->base + (uint32_t)s->at;
    size_t length = 0;
    uint8_t c = peek(s, 0);
    if (s->at >= s->text.len) {
        token->kind = MODEL_TOKEN_END;
    } else if (is_letter(c)) {
        token->kind = MODEL_TOKEN_NAME;
        length = name_length(s);
    } else if (is_digit(c)) {
        token->kind = number(s, &length);
    } else if (c == '"' || c == '\'' || c == '`') {
        token->kind = quoted(s, c, &length);
        token->quoted = c == '`';
    } else {
        token->kind = mark(s, &length);
    }
    if (token->kind == MODEL_TOKEN_NAME && length > LIMIT_MODEL_NAME)
        fail(s, length, "this name is longer than 255 bytes");
    s->at += length;
    s->first = false;
    token->end = s->base + (uint32_t)s->at;
}

// Fills the arrays, or only counts what they would have if they are NULL.
static void scan(struct scanner *s, struct model_tokens *tokens)
{
    tokens->count = 0;
    tokens->comment_count = 0;
    for (;;) {
        struct model_comment comment;
        while (skip_blank(s, &comment)) {
            if (tokens->comments != NULL)
                tokens->comments[tokens->comment_count] = comment;
            tokens->comment_count++;
        }
        struct model_token token;
        next_token(s, &token);
        if (tokens->list != NULL)
            tokens->list[tokens->count] = token;
        if (token.kind == MODEL_TOKEN_END)
            return;
        tokens->count++;
    }
}

bool model_tokens_read_part(struct model_tokens *tokens, struct slice text,
                            struct model_origin origin, struct arena *arena,
                            struct diagnostics *diagnostics)
{
    *tokens = (struct model_tokens){.text = text, .part = origin.end < text.len};
    struct scanner start = {.text = slice_of(text.ptr + origin.start, origin.end - origin.start),
                            .line = origin.line,
                            .first_column = origin.column,
                            .base = origin.start,
                            .first = true};
    // Counted silently first: an arena cannot grow what it has given.
    struct scanner s = start;
    scan(&s, tokens);
    tokens->list = arena_zalloc(arena, tokens->count + 1, sizeof *tokens->list);
    tokens->comments = arena_zalloc(arena, tokens->comment_count + 1, sizeof *tokens->comments);
    if (tokens->list == NULL || tokens->comments == NULL)
        return diagnostic_error(diagnostics, (struct model_place){0}, "out of memory");
    s = start;
    s.diagnostics = diagnostics;
    scan(&s, tokens);
    return true;
}

// The place of the first byte that is no UTF-8.
static struct model_place bad_byte(struct slice text)
{
    struct model_place at = {1, 1, 1};
    for (size_t i = 0; i < text.len; i++) {
        size_t n = 1;
        while (n < 4 && !utf8_valid(slice_of(text.ptr + i, n)))
            if (i + ++n > text.len)
                return at;
        if (!utf8_valid(slice_of(text.ptr + i, n)))
            return at;
        at.column += (uint32_t)n;
        if (text.ptr[i] == '\n')
            at = (struct model_place){at.line + 1, 1, 1};
        i += n - 1;
    }
    return at;
}

bool model_tokens_read(struct model_tokens *tokens, struct slice text, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    *tokens = (struct model_tokens){.text = text};
    if (text.len > LIMIT_MODEL_FILE)
        return diagnostic_error(diagnostics, (struct model_place){0},
                                "the file has %zu bytes; at most %d are taken", text.len,
                                LIMIT_MODEL_FILE);
    if (!utf8_valid(text))
        return diagnostic_error(diagnostics, bad_byte(text),
                                "the file is not UTF-8 text from here on");
    struct model_origin whole = {.end = (uint32_t)text.len, .line = 1, .column = 1};
    if (slice_begins(text, SLICE_LIT("\xef\xbb\xbf"))) {
        whole.start = 3;
        whole.column = 4;
    }
    return model_tokens_read_part(tokens, text, whole, arena, diagnostics);
}

struct slice model_token_text(const struct model_tokens *tokens, const struct model_token *token)
{
    size_t quote = token->kind == MODEL_TOKEN_STRING || token->quoted ? 1 : 0;
    if (token->end - token->start < 2 * quote)
        quote = 0;
    return slice_of(tokens->text.ptr + token->start + quote, token->end - token->start - 2 * quote);
}

struct model_place model_token_place(const struct model_token *token)
{
    return (struct model_place){token->line, token->column, token->end - token->start};
}

bool model_token_is(const struct model_tokens *tokens, const struct model_token *token,
                    const char *word)
{
    return token->kind == MODEL_TOKEN_NAME && !token->quoted &&
           slice_is(model_token_text(tokens, token), word);
}

const char *model_token_say(const struct model_tokens *tokens, const struct model_token *token,
                            struct arena *arena)
{
    const char *said = NULL;
    struct slice text = model_token_text(tokens, token);
    int cut = text.len > 40 ? 40 : (int)text.len;
    while (cut > 0 && cut < (int)text.len && (text.ptr[cut] & 0xc0) == 0x80)
        cut--;
    const char *more = (size_t)cut < text.len ? "…" : "";
    if (token->kind == MODEL_TOKEN_STRING)
        said = arena_printf(arena, "the string \"%.*s%s\"", cut, (const char *)text.ptr, more);
    else if (token->kind == MODEL_TOKEN_NAME || token->kind == MODEL_TOKEN_NUMBER ||
             token->kind == MODEL_TOKEN_DURATION || token->kind == MODEL_TOKEN_SIZE ||
             token->kind == MODEL_TOKEN_UNKNOWN)
        said = arena_printf(arena, "\"%.*s%s\"", cut, (const char *)text.ptr, more);
    else if (token->kind == MODEL_TOKEN_END && tokens->part)
        said = arena_printf(arena, "\"%c\"", tokens->text.ptr[token->start]);
    return said != NULL ? said : token_names[token->kind];
}

struct slice model_unescape(struct slice inside, struct model_place at, struct arena *arena,
                            struct diagnostics *diagnostics)
{
    uint8_t *out = arena_alloc(arena, inside.len + 1);
    if (out == NULL) {
        (void)diagnostic_error(diagnostics, at, "out of memory");
        return (struct slice){0};
    }
    size_t len = 0;
    for (size_t i = 0; i < inside.len; i++) {
        uint8_t c = inside.ptr[i];
        if (c == '\\') {
            at.column += (uint32_t)i;
            at.length = 2;
            uint8_t escaped = ++i < inside.len ? inside.ptr[i] : 0;
            if (escaped == 0 || strchr("\"'\\nt{}", escaped) == NULL) {
                (void)diagnostic_error(diagnostics, at,
                                       "unknown escape; there are \\\" \\' \\\\ \\n \\t \\{ \\}");
                return (struct slice){0};
            }
            at.column -= (uint32_t)i - 1;
            c = escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
        }
        out[len++] = c;
    }
    out[len] = 0;
    return slice_of(out, len);
}
