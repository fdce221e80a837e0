// See tree.h. A recursive descent with a limit on depth; whatever begins like nothing that is known
// is taken as a word up to the comma or bracket that ends it, so that code in a schema (functions,
// casts, calls) does not stop the reading of the rest.
#include "infer/tree.h"

#include <ctype.h>

enum { DEPTH_MAX = 64 };

struct reader {
    struct slice text;
    size_t at;
    struct arena *arena;
    const char *error;
    unsigned depth;
};

static struct tree *read_value(struct reader *r);

static uint8_t peek(const struct reader *r)
{
    return r->at < r->text.len ? r->text.ptr[r->at] : 0;
}

static void *fail(struct reader *r, const char *error)
{
    if (r->error == NULL)
        r->error = error;
    return NULL;
}

static bool skip_comment(struct reader *r)
{
    if (r->at + 1 >= r->text.len || r->text.ptr[r->at] != '/')
        return false;
    if (r->text.ptr[r->at + 1] == '/') {
        while (r->at < r->text.len && peek(r) != '\n')
            r->at++;
        return true;
    }
    if (r->text.ptr[r->at + 1] != '*')
        return false;
    const uint8_t *end = memmem(r->text.ptr + r->at, r->text.len - r->at, "*/", 2);
    r->at = end == NULL ? r->text.len : (size_t)(end - r->text.ptr) + 2;
    return true;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->text.len && (isspace(peek(r)) || skip_comment(r)))
        if (isspace(peek(r)))
            r->at++;
}

// ---- Scalars -------------------------------------------------------------------------------

static unsigned hex_value(struct reader *r)
{
    unsigned value = 0;
    for (int i = 0; i < 4 && isxdigit(peek(r)); i++, r->at++) {
        uint8_t c = peek(r);
        value = value * 16 + (isdigit(c) ? (unsigned)(c - '0') : (unsigned)(tolower(c) - 'a' + 10));
    }
    return value;
}

static size_t put_utf8(uint8_t *to, unsigned code)
{
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0}; // of the first byte, by length
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        to[i] = (uint8_t)(0x80 | (code & 63));
    to[0] = (uint8_t)(marks[length] | code);
    return length;
}

// Behind "\u"; a lone surrogate is U+FFFD.
static size_t read_code(struct reader *r, uint8_t *to)
{
    unsigned code = hex_value(r);
    if (code >= 0xd800 && code < 0xdc00 && r->at + 1 < r->text.len && peek(r) == '\\' &&
        r->text.ptr[r->at + 1] == 'u') {
        r->at += 2;
        unsigned low = hex_value(r);
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                                             : 0xfffd;
    } else if (code >= 0xd800 && code < 0xe000) {
        code = 0xfffd;
    }
    return put_utf8(to, code);
}

// Escapes make a text shorter, never longer.
static bool read_string(struct reader *r, struct slice *out)
{
    uint8_t quote = peek(r);
    size_t end = r->at + 1;
    while (end < r->text.len && r->text.ptr[end] != quote)
        end += r->text.ptr[end] == '\\' ? 2 : 1;
    if (end >= r->text.len)
        return fail(r, "a string without an end") != NULL;
    uint8_t *to = arena_alloc(r->arena, end - r->at + 4);
    if (to == NULL)
        return fail(r, "too large") != NULL;
    size_t len = 0;
    r->at++;
    while (r->at < end) {
        uint8_t c = r->text.ptr[r->at++];
        if (c != '\\') {
            to[len++] = c;
            continue;
        }
        c = r->text.ptr[r->at++];
        if (c == 'u')
            len += read_code(r, to + len);
        else
            to[len++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    r->at = end + 1;
    *out = slice_of(to, len);
    return true;
}

// A word, a number, or code: up to the comma or bracket that ends it.
static struct slice read_word(struct reader *r)
{
    size_t start = r->at;
    unsigned depth = 0;
    uint8_t quote = 0;
    if (peek(r) == '/') { // a regular expression
        for (r->at++; r->at < r->text.len && peek(r) != '/' && peek(r) != '\n'; r->at++)
            if (peek(r) == '\\')
                r->at++;
    }
    for (; r->at < r->text.len; r->at++) {
        uint8_t c = peek(r);
        if (quote != 0) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'' || c == '`') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
            depth--;
        } else if (depth == 0 &&
                   (c == ',' || c == ']' || c == '}' || c == ')' || c == ';' || c == '\n')) {
            break;
        }
    }
    if (r->at > r->text.len)
        r->at = r->text.len;
    size_t end = r->at;
    while (end > start && isspace(r->text.ptr[end - 1]))
        end--;
    return slice_of(r->text.ptr + start, end - start);
}

// ---- Containers ----------------------------------------------------------------------------

static bool read_name(struct reader *r, struct slice *out)
{
    if (peek(r) == '"' || peek(r) == '\'')
        return read_string(r, out);
    size_t start = r->at;
    while (isalnum(peek(r)) || peek(r) == '_' || peek(r) == '$' || peek(r) == '-')
        r->at++;
    *out = slice_of(r->text.ptr + start, r->at - start);
    return r->at > start || fail(r, "expected a name") != NULL;
}

static struct tree *read_container(struct reader *r, struct tree *tree)
{
    uint8_t close = peek(r) == '{' ? '}' : ']';
    struct tree **end = &tree->first;
    if (++r->depth > DEPTH_MAX)
        return fail(r, "nested too deeply");
    r->at++;
    for (;;) {
        struct slice name = {0};
        skip_space(r);
        if (peek(r) == close)
            break;
        if (close == '}') {
            if (!read_name(r, &name))
                return NULL;
            skip_space(r);
            if (peek(r) != ':')
                return fail(r, "expected a colon");
            r->at++;
        }
        struct tree *member = read_value(r);
        if (member == NULL)
            return NULL;
        member->name = name;
        *end = member;
        end = &member->next;
        skip_space(r);
        if (peek(r) == ',')
            r->at++;
        else if (peek(r) != close)
            return fail(r, "expected a comma or a closing bracket");
    }
    r->at++;
    r->depth--;
    return tree;
}

// "as const", "as any": casts of TypeScript behind a value.
static void skip_cast(struct reader *r)
{
    skip_space(r);
    while (r->at + 3 < r->text.len && memcmp(r->text.ptr + r->at, "as ", 3) == 0) {
        r->at += 3;
        while (isalnum(peek(r)) || strchr("_.<>[]'\"| ", peek(r)) != NULL) {
            if (peek(r) == 0)
                break;
            r->at++;
        }
        skip_space(r);
    }
}

static struct tree *read_value(struct reader *r)
{
    struct tree *tree = arena_zalloc(r->arena, 1, sizeof(*tree));
    skip_space(r);
    if (tree == NULL)
        return fail(r, "too large");
    uint8_t c = peek(r);
    if (c == '{' || c == '[') {
        tree->kind = c == '{' ? TREE_OBJECT : TREE_ARRAY;
        size_t start = r->at;
        if (read_container(r, tree) == NULL)
            return NULL;
        tree->source = slice_of(r->text.ptr + start, r->at - start);
        skip_cast(r);
        return tree;
    }
    if (c == '"' || c == '\'' || c == '`') {
        tree->kind = TREE_STRING;
        if (!read_string(r, &tree->text))
            return NULL;
        skip_cast(r);
        return tree;
    }
    tree->kind = isdigit(c) || c == '-' ? TREE_NUMBER : TREE_WORD;
    tree->text = read_word(r);
    return tree->text.len > 0 ? tree : fail(r, "expected a value");
}

// Whether a brace at `at` opens a document: at the very front, or behind "=", "(" or "default".
static bool opens_document(const struct reader *r, size_t front)
{
    static const struct slice word = SLICE_LIT("default");
    size_t end = r->at;
    while (end > front && isspace(r->text.ptr[end - 1]))
        end--;
    if (end == front)
        return true;
    uint8_t last = r->text.ptr[end - 1];
    return last == '=' || last == '(' ||
           (end - front >= word.len &&
            memcmp(r->text.ptr + end - word.len, word.ptr, word.len) == 0);
}

// Code before the object: `import { x } from 'y'`, `export const Schema = {`.
static void skip_code(struct reader *r)
{
    size_t front = r->at;
    for (; r->at < r->text.len; skip_space(r)) {
        if ((peek(r) == '{' && opens_document(r, front)) || (peek(r) == '[' && r->at == front))
            return;
        r->at++;
    }
}

const struct tree *tree_read(struct slice text, struct arena *arena, struct tree_error *error)
{
    struct reader r = {.text = text, .arena = arena};
    const struct tree *longest = NULL;
    size_t most = 0;
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        r.at = 3;
    for (skip_space(&r); r.at < text.len; skip_space(&r)) {
        skip_code(&r);
        size_t start = r.at;
        const struct tree *tree = start < text.len ? read_value(&r) : NULL;
        if (tree == NULL)
            break;
        if (r.at - start > most) {
            most = r.at - start;
            longest = tree;
        }
    }
    if (longest == NULL && r.error == NULL)
        r.error = "there is no object in it";
    if (r.error == NULL)
        return longest;
    *error = (struct tree_error){.message = r.error, .line = 1, .column = 1};
    for (size_t i = 0; i < r.at && i < text.len; i++) {
        error->column++;
        if (text.ptr[i] == '\n') {
            error->line++;
            error->column = 1;
        }
    }
    return NULL;
}

// ---- Looking -------------------------------------------------------------------------------

const struct tree *tree_member(const struct tree *object, struct slice name)
{
    if (object == NULL || object->kind != TREE_OBJECT)
        return NULL;
    for (const struct tree *each = object->first; each != NULL; each = each->next)
        if (slice_equal(each->name, name))
            return each;
    return NULL;
}

const struct tree *tree_get(const struct tree *object, const char *name)
{
    return tree_member(object, slice_str(name));
}

struct slice tree_text(const struct tree *object, const char *name)
{
    const struct tree *member = tree_get(object, name);
    return member == NULL || member->kind == TREE_OBJECT || member->kind == TREE_ARRAY
               ? SLICE_LIT("")
               : member->text;
}

bool tree_true(const struct tree *object, const char *name)
{
    return slice_is(tree_text(object, name), "true");
}
