// Patterns: text with wildcards and variables, cut into pieces when a policy is compiled.
//
// Matching goes through the pieces once and remembers the last star: when a piece does not fit,
// that star takes one character more. Going back to an earlier star cannot help, so the work is at
// most the length of the text times that of the pattern. Variables are looked up before, into a
// few slices; what they hold is plain text, whatever characters it has.
#include "base/limits.h"
#include "policy/policy_internal.h"

// ---- Compiling -------------------------------------------------------------------------------

struct cutter {
    struct slice rest;
    unsigned special;
    unsigned count;
    unsigned variables;
    struct piece pieces[LIMIT_POLICY_PIECES];
};

static void cut(struct slice *rest, size_t len)
{
    *rest = slice_of(rest->ptr + len, rest->len - len);
}

// ", 'default'" behind a key; *rest moves behind it.
static bool default_read(struct slice *rest, struct piece *piece)
{
    cut(rest, 1);
    while (rest->len > 0 && rest->ptr[0] == ' ')
        cut(rest, 1);
    if (rest->len == 0 || rest->ptr[0] != '\'')
        return false;
    cut(rest, 1);
    const uint8_t *end = memchr(rest->ptr, '\'', rest->len);
    if (end == NULL)
        return false;
    piece->text = slice_of(rest->ptr, (size_t)(end - rest->ptr));
    piece->has_default = true;
    cut(rest, piece->text.len + 1);
    while (rest->len > 0 && rest->ptr[0] == ' ')
        cut(rest, 1);
    return true;
}

static bool is_literal(uint8_t byte)
{
    return byte == '*' || byte == '?' || byte == '$';
}

// "${…}", at which *rest begins and behind which it ends.
static enum pattern_fault variable_read(struct slice *rest, struct piece *piece)
{
    *piece = (struct piece){.kind = PIECE_VARIABLE};
    cut(rest, 2);
    if (rest->len >= 2 && is_literal(rest->ptr[0]) && rest->ptr[1] == '}') {
        *piece = (struct piece){.kind = PIECE_TEXT, .text = slice_of(rest->ptr, 1)};
        cut(rest, 2);
        return PATTERN_OK;
    }
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != '}' && rest->ptr[len] != ',')
        len++;
    if (len == rest->len)
        return PATTERN_OPEN;
    struct slice name = slice_trim(slice_of(rest->ptr, len));
    if (name.len == 0 || memchr(name.ptr, ':', name.len) == NULL)
        return PATTERN_NAME;
    piece->key = policy_key_find(name);
    cut(rest, len);
    if (rest->ptr[0] == ',' && !default_read(rest, piece))
        return PATTERN_NAME;
    if (rest->len == 0 || rest->ptr[0] != '}')
        return PATTERN_OPEN;
    cut(rest, 1);
    return PATTERN_OK;
}

static bool variable_begins(struct slice text, unsigned special)
{
    return (special & PATTERN_VARIABLES) != 0 && text.len >= 2 && text.ptr[0] == '$' &&
           text.ptr[1] == '{';
}

static bool wildcard_begins(struct slice text, unsigned special)
{
    return (special & PATTERN_WILD) != 0 && (text.ptr[0] == '*' || text.ptr[0] == '?');
}

static struct piece text_read(struct slice *rest, unsigned special)
{
    size_t len = 1;
    while (len < rest->len &&
           !wildcard_begins(slice_of(rest->ptr + len, rest->len - len), special) &&
           !variable_begins(slice_of(rest->ptr + len, rest->len - len), special))
        len++;
    struct piece piece = {.kind = PIECE_TEXT, .text = slice_of(rest->ptr, len)};
    cut(rest, len);
    return piece;
}

static enum pattern_fault piece_read(struct cutter *cutter)
{
    struct piece piece = {0};
    if (variable_begins(cutter->rest, cutter->special)) {
        enum pattern_fault fault = variable_read(&cutter->rest, &piece);
        if (fault != PATTERN_OK)
            return fault;
        if (piece.kind == PIECE_VARIABLE && cutter->variables == LIMIT_POLICY_VARIABLES)
            return PATTERN_LONG;
        if (piece.kind == PIECE_VARIABLE)
            piece.variable = cutter->variables++;
    } else if (wildcard_begins(cutter->rest, cutter->special)) {
        piece.kind = cutter->rest.ptr[0] == '*' ? PIECE_STAR : PIECE_ANY;
        cut(&cutter->rest, 1);
        if (piece.kind == PIECE_STAR && cutter->count > 0 &&
            cutter->pieces[cutter->count - 1].kind == PIECE_STAR)
            return PATTERN_OK; // two stars are one
    } else {
        piece = text_read(&cutter->rest, cutter->special);
    }
    if (cutter->count == LIMIT_POLICY_PIECES)
        return PATTERN_LONG;
    cutter->pieces[cutter->count++] = piece;
    return PATTERN_OK;
}

enum pattern_fault pattern_compile(struct slice text, unsigned special, struct arena *arena,
                                   struct pattern *out)
{
    struct cutter cutter = {.rest = text, .special = special};
    while (cutter.rest.len > 0) {
        enum pattern_fault fault = piece_read(&cutter);
        if (fault != PATTERN_OK)
            return fault;
    }
    struct piece *pieces =
        arena_alloc(arena, (cutter.count + (cutter.count == 0)) * sizeof(*pieces));
    if (pieces == NULL)
        return PATTERN_MEMORY;
    memcpy(pieces, cutter.pieces, cutter.count * sizeof(*pieces));
    *out = (struct pattern){pieces, cutter.count, cutter.variables};
    return PATTERN_OK;
}

// ---- ARNs ------------------------------------------------------------------------------------

bool arn_parts(struct slice text, struct arn *out)
{
    struct arn arn;
    if (!slice_begins(text, SLICE_LIT("arn:")))
        return false;
    for (size_t i = 0; i < ARN_PARTS - 1; i++) {
        const uint8_t *end = text.len == 0 ? NULL : memchr(text.ptr, ':', text.len);
        if (end == NULL)
            return false;
        arn.part[i] = slice_of(text.ptr, (size_t)(end - text.ptr));
        cut(&text, arn.part[i].len + 1);
    }
    arn.part[ARN_PARTS - 1] = text;
    *out = arn;
    return true;
}

// How far the part goes that a pattern begins with: to a colon that is not inside a variable.
static size_t part_length(struct slice text, unsigned special)
{
    struct slice rest = text;
    struct piece piece;
    while (rest.len > 0 && rest.ptr[0] != ':') {
        if (!variable_begins(rest, special))
            cut(&rest, 1);
        else if (variable_read(&rest, &piece) != PATTERN_OK)
            return text.len; // pattern_compile says what is wrong
    }
    return text.len - rest.len;
}

enum pattern_fault arn_pattern_compile(struct slice text, unsigned special, struct arena *arena,
                                       struct arn_pattern *out)
{
    *out = (struct arn_pattern){.any = slice_is(text, "*"), .whole = true};
    for (size_t i = 0; i < ARN_PARTS && !out->any; i++) {
        bool left_out = i > 0 && text.ptr == NULL;
        out->whole = out->whole && !left_out;
        size_t len = i == ARN_PARTS - 1 ? text.len : part_length(text, special);
        struct slice part = left_out ? SLICE_LIT("*") : slice_of(text.ptr, len);
        enum pattern_fault fault =
            pattern_compile(part, left_out ? PATTERN_WILD : special, arena, &out->part[i]);
        if (fault != PATTERN_OK)
            return fault;
        if (left_out || len == text.len)
            text = slice_of(NULL, 0);
        else
            cut(&text, len + 1);
    }
    return PATTERN_OK;
}

// ---- Matching --------------------------------------------------------------------------------

struct matcher {
    const struct pattern *pattern;
    struct slice text;
    bool letters;
    struct slice values[LIMIT_POLICY_VARIABLES];
};

// A variable is a key with one value, or its default. An empty value is none: table/${tag}* would
// be all tables for those whose tag is empty.
static bool variables_find(struct matcher *matcher, const struct policy_request *request)
{
    const struct pattern *pattern = matcher->pattern;
    for (unsigned i = 0; i < pattern->count; i++) {
        const struct piece *piece = &pattern->pieces[i];
        struct policy_values values = {0};
        struct slice own;
        if (piece->kind != PIECE_VARIABLE)
            continue;
        request_values(request, &piece->key, &own, &values);
        if (values.count != 1 || values.list[0].len == 0 || piece->key.many) {
            if (!piece->has_default)
                return false;
            matcher->values[piece->variable] = piece->text;
        } else {
            matcher->values[piece->variable] = values.list[0];
        }
    }
    return true;
}

static struct slice piece_text(const struct matcher *matcher, const struct piece *piece)
{
    return piece->kind == PIECE_VARIABLE ? matcher->values[piece->variable] : piece->text;
}

static bool same(const struct matcher *matcher, struct slice a, struct slice b)
{
    return matcher->letters ? policy_letters_equal(a, b) : slice_equal(a, b);
}

// The bytes of the character at a place.
static size_t character(struct slice text, size_t at)
{
    size_t len = 1;
    while (at + len < text.len && (text.ptr[at + len] & 0xc0) == 0x80)
        len++;
    return len;
}

// Whether the piece fits at a place, which moves behind it.
static bool piece_fits(const struct matcher *matcher, const struct piece *piece, size_t *at)
{
    struct slice text = matcher->text;
    if (piece->kind == PIECE_ANY) {
        if (*at == text.len)
            return false;
        *at += character(text, *at);
        return true;
    }
    struct slice own = piece_text(matcher, piece);
    if (text.len - *at < own.len || !same(matcher, slice_of(text.ptr + *at, own.len), own))
        return false;
    *at += own.len;
    return true;
}

static bool pieces_match(const struct matcher *matcher)
{
    const struct piece *pieces = matcher->pattern->pieces;
    unsigned count = matcher->pattern->count;
    unsigned i = 0;
    size_t at = 0;
    bool starred = false;
    unsigned star = 0;
    size_t star_end = 0; // what the star takes ends here
    for (;;) {
        if (i == count && at == matcher->text.len)
            return true;
        if (i < count && pieces[i].kind == PIECE_STAR) {
            if (i + 1 == count)
                return true;
            starred = true;
            star = i++;
            star_end = at;
        } else if (i < count && piece_fits(matcher, &pieces[i], &at)) {
            i++;
        } else {
            if (!starred || star_end == matcher->text.len)
                return false;
            star_end += character(matcher->text, star_end);
            at = star_end;
            i = star + 1;
        }
    }
}

static enum verdict pattern_match_slow(const struct pattern *pattern, struct slice text,
                                       bool letters, const struct policy_request *request)
{
    struct matcher matcher;
    matcher.pattern = pattern;
    matcher.text = text;
    matcher.letters = letters;
    if (pattern->variables > 0 && !variables_find(&matcher, request))
        return VERDICT_VOID;
    return pieces_match(&matcher) ? VERDICT_YES : VERDICT_NO;
}

// By far the most patterns are one piece.
static inline enum verdict match(const struct pattern *pattern, struct slice text, bool letters,
                                 const struct policy_request *request)
{
    const struct piece *first = pattern->pieces;
    if (pattern->count != 1 || first->kind == PIECE_VARIABLE || first->kind == PIECE_ANY)
        return pattern_match_slow(pattern, text, letters, request);
    bool yes = first->kind == PIECE_STAR ||
               (letters ? policy_letters_equal(text, first->text) : slice_equal(text, first->text));
    return yes ? VERDICT_YES : VERDICT_NO;
}

enum verdict pattern_match(const struct pattern *pattern, struct slice text, bool letters,
                           const struct policy_request *request)
{
    return match(pattern, text, letters, request);
}

// A part that does not match decides, whatever a variable in another would be. The last part tells
// most apart, and the first says nothing.
enum verdict arn_match(const struct arn_pattern *pattern, const struct arn *arn,
                       const struct policy_request *request)
{
    enum verdict verdict = VERDICT_YES;
    for (size_t i = ARN_PARTS; i-- > 1;) {
        enum verdict part = match(&pattern->part[i], arn->part[i], false, request);
        if (part == VERDICT_NO)
            return VERDICT_NO;
        if (part == VERDICT_VOID)
            verdict = VERDICT_VOID;
    }
    return verdict;
}
