// See xml.h. The reader goes over the text once, with a stack of open elements.
#include "objects/xml.h"

#include "base/encode.h"
#include "base/time_text.h"

struct reader {
    struct slice rest;
    struct arena *arena;
    size_t nodes;
    unsigned depth;
    struct xml *open[XML_DEPTH];
    struct xml *last[XML_DEPTH]; // child of the open one
    struct slice tags[XML_DEPTH];
    size_t text_from[XML_DEPTH];
};

static void skip(struct reader *r, size_t count)
{
    r->rest = slice_of(r->rest.ptr + count, r->rest.len - count);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct reader *r)
{
    while (r->rest.len > 0 && is_blank(r->rest.ptr[0]))
        skip(r, 1);
}

static bool begins(const struct reader *r, const char *text)
{
    return slice_begins(r->rest, slice_str(text));
}

// Passes over everything up to and with `end`.
static bool skip_past(struct reader *r, const char *end)
{
    const uint8_t *at =
        r->rest.len == 0 ? NULL : memmem(r->rest.ptr, r->rest.len, end, strlen(end));
    if (at == NULL)
        return false;
    skip(r, (size_t)(at - r->rest.ptr) + strlen(end));
    return true;
}

static bool is_name(uint8_t c)
{
    uint8_t lower = c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':' || c >= 0x80;
}

static bool take_name(struct reader *r, struct slice *out)
{
    size_t len = 0;
    while (len < r->rest.len && is_name(r->rest.ptr[len]))
        len++;
    *out = slice_of(r->rest.ptr, len);
    skip(r, len);
    return len > 0 && len <= 256;
}

static struct slice without_prefix(struct slice name)
{
    struct slice rest = name;
    (void)slice_cut(&rest, ':');
    return rest.len > 0 ? rest : name;
}

// The attributes of a tag are well-formed, and nobody's business.
static bool skip_attributes(struct reader *r)
{
    for (;;) {
        struct slice name;
        skip_blanks(r);
        if (r->rest.len == 0)
            return false;
        if (r->rest.ptr[0] == '>' || r->rest.ptr[0] == '/')
            return true;
        if (!take_name(r, &name))
            return false;
        skip_blanks(r);
        if (!begins(r, "="))
            return false;
        skip(r, 1);
        skip_blanks(r);
        if (!begins(r, "\"") && !begins(r, "'"))
            return false;
        char quote[2] = {(char)r->rest.ptr[0], 0};
        skip(r, 1);
        if (!skip_past(r, quote))
            return false;
    }
}

// ---- Text --------------------------------------------------------------------------------------

static bool is_character(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
           (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

// "&#65;" and "&#x41;" without "&#" and ";".
static bool number_decode(struct slice digits, uint32_t *out)
{
    bool hex = digits.len > 0 && digits.ptr[0] == 'x';
    uint32_t value = 0;
    if (hex)
        digits = slice_of(digits.ptr + 1, digits.len - 1);
    if (digits.len == 0 || digits.len > 8)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = hex_digit(digits.ptr[i]);
        if (digit < 0 || (!hex && digit > 9) || value > 0x10ffff)
            return false;
        value = value * (hex ? 16 : 10) + (uint32_t)digit;
    }
    *out = value;
    return is_character(value);
}

static bool entity_decode(struct slice entity, uint32_t *out)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (slice_is(entity, known[i].name)) {
            *out = (uint32_t)known[i].character;
            return true;
        }
    }
    return entity.len > 1 && entity.ptr[0] == '#' &&
           number_decode(slice_of(entity.ptr + 1, entity.len - 1), out);
}

// Text as it is meant: without entities, and with "\n" for "\r\n".
static bool text_decode(struct arena *arena, struct slice raw, struct slice *out)
{
    uint8_t *to = arena_alloc(arena, raw.len + 1);
    size_t len = 0;
    if (to == NULL || !utf8_valid(raw))
        return false;
    for (size_t i = 0; i < raw.len;) {
        uint8_t c = raw.ptr[i++];
        if (c == '\r') {
            if (i == raw.len || raw.ptr[i] != '\n')
                to[len++] = '\n';
            continue;
        }
        if (c < 0x20 && !is_blank(c))
            return false;
        if (c != '&') {
            to[len++] = c;
            continue;
        }
        struct slice rest = slice_of(raw.ptr + i, raw.len - i);
        struct slice before = rest;
        struct slice entity = slice_cut(&rest, ';');
        uint32_t character;
        if (entity.len == before.len || !entity_decode(entity, &character))
            return false;
        len += utf8_put(to + len, character);
        i += entity.len + 1;
    }
    *out = slice_of(to, len);
    return true;
}

// ---- Elements
// ------------------------------------------------------------------------------------

static bool element_end(struct reader *r, const uint8_t *text_end, const uint8_t *base)
{
    struct xml *node = r->open[r->depth - 1];
    const uint8_t *from = base + r->text_from[r->depth - 1];
    r->depth--;
    return node->children != NULL ||
           text_decode(r->arena, slice_of(from, (size_t)(text_end - from)), &node->text);
}

static struct xml *element_add(struct reader *r, struct slice tag)
{
    if (r->depth == XML_DEPTH || ++r->nodes > XML_NODES)
        return NULL;
    struct xml *node = arena_zalloc(r->arena, 1, sizeof(*node));
    if (node == NULL)
        return NULL;
    node->name = without_prefix(tag);
    node->text = SLICE_LIT("");
    if (r->depth > 0) {
        struct xml *parent = r->open[r->depth - 1];
        struct xml *last = r->last[r->depth - 1];
        if (last == NULL)
            parent->children = node;
        else
            last->next = node;
        r->last[r->depth - 1] = node;
    }
    return node;
}

// At "<name". *open tells whether it has content.
static struct xml *take_open(struct reader *r, bool *open)
{
    struct slice tag;
    skip(r, 1);
    if (!take_name(r, &tag) || !skip_attributes(r))
        return NULL;
    struct xml *node = element_add(r, tag);
    *open = begins(r, ">");
    if (node == NULL || (!*open && !begins(r, "/>")))
        return NULL;
    skip(r, *open ? 1 : 2);
    if (*open) {
        r->open[r->depth] = node;
        r->last[r->depth] = NULL;
        r->tags[r->depth] = tag;
        r->depth++;
    }
    return node;
}

// At "</name>".
static bool take_close(struct reader *r, const uint8_t *base)
{
    struct slice tag;
    const uint8_t *text_end = r->rest.ptr;
    skip(r, 2);
    if (!take_name(r, &tag) || !slice_equal(tag, r->tags[r->depth - 1]))
        return false;
    skip_blanks(r);
    if (!begins(r, ">"))
        return false;
    skip(r, 1);
    return element_end(r, text_end, base);
}

// Comments and blanks, outside of the root.
static bool skip_between(struct reader *r)
{
    skip_blanks(r);
    while (begins(r, "<!--")) {
        if (!skip_past(r, "-->"))
            return false;
        skip_blanks(r);
    }
    return true;
}

struct xml *xml_read(struct slice text, struct arena *arena)
{
    struct reader r = {.rest = text, .arena = arena};
    bool open = false;
    if (begins(&r, "\xef\xbb\xbf"))
        skip(&r, 3);
    if (begins(&r, "<?xml") && !skip_past(&r, "?>"))
        return NULL;
    if (!skip_between(&r) || !begins(&r, "<"))
        return NULL;
    struct xml *root = take_open(&r, &open);
    if (root == NULL)
        return NULL;
    if (open)
        r.text_from[0] = (size_t)(r.rest.ptr - text.ptr);
    while (r.depth > 0) {
        const uint8_t *at =
            r.rest.len == 0 ? NULL : (const uint8_t *)memchr(r.rest.ptr, '<', r.rest.len);
        if (at == NULL)
            return NULL;
        skip(&r, (size_t)(at - r.rest.ptr));
        if (begins(&r, "</")) {
            if (!take_close(&r, text.ptr))
                return NULL;
            continue;
        }
        if (take_open(&r, &open) == NULL)
            return NULL;
        if (open)
            r.text_from[r.depth - 1] = (size_t)(r.rest.ptr - text.ptr);
    }
    return skip_between(&r) && r.rest.len == 0 ? root : NULL;
}

const struct xml *xml_find(const struct xml *node, const char *name)
{
    while (node != NULL && !slice_is(node->name, name))
        node = node->next;
    return node;
}

struct slice xml_text(const struct xml *parent, const char *name)
{
    const struct xml *node = xml_find(parent->children, name);
    return node == NULL ? slice_of(NULL, 0) : node->text;
}

// ---- Writing
// -------------------------------------------------------------------------------------

void xml_begin(struct buf *out, const char *root)
{
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<%s xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">",
               root);
}

void xml_open(struct buf *out, const char *name)
{
    buf_printf(out, "<%s>", name);
}

void xml_close(struct buf *out, const char *name)
{
    buf_printf(out, "</%s>", name);
}

void xml_escape(struct buf *out, struct slice text)
{
    bool valid = utf8_valid(text);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool unknown =
            (c < 0x20 && !is_blank(c)) || (c >= 0x80 && !valid) ||
            (c == 0xef && i + 2 < text.len && text.ptr[i + 1] == 0xbf && text.ptr[i + 2] >= 0xbe);
        if (c == '&')
            buf_text(out, "&amp;");
        else if (c == '<')
            buf_text(out, "&lt;");
        else if (c == '>')
            buf_text(out, "&gt;");
        else if (c == '"')
            buf_text(out, "&quot;");
        else if (c == '\r')
            buf_text(out, "&#xD;");
        else if (unknown)
            buf_text(out, "\xef\xbf\xbd");
        else
            buf_byte(out, c);
        if (unknown && c == 0xef && valid)
            i += 2;
    }
}

void xml_put(struct buf *out, const char *name, struct slice text)
{
    xml_open(out, name);
    xml_escape(out, text);
    xml_close(out, name);
}

void xml_put_number(struct buf *out, const char *name, uint64_t number)
{
    xml_open(out, name);
    buf_u64(out, number);
    xml_close(out, name);
}

void xml_put_time(struct buf *out, const char *name, int64_t ms)
{
    char text[TIME_TEXT];
    time_text(ms, text);
    xml_put(out, name, slice_str(text));
}
