// The canonical form of a request: what both sides hash. It is made from the raw request alone.
#include "sign/sign_internal.h"

#include <stdlib.h>

// ---- The path ------------------------------------------------------------------------------

// A path that S3 is asked for is a key: decoded and encoded, so that it does not matter how it
// came.
static bool path_write_s3(struct slice path, struct buf *out)
{
    struct buf plain;
    buf_init(&plain, LIMIT_SIGN_HEAD);
    bool ok = sign_decode(&plain, path, false);
    sign_encode(out, buf_view(&plain), true);
    buf_release(&plain);
    return ok;
}

// Without "", "." and "..", and encoded once more than it is.
static bool path_write(struct slice path, struct arena *arena, struct buf *out)
{
    size_t parts_max = 1;
    size_t count = 0;
    struct slice last = slice_of(NULL, 0);
    bool slash = slice_ends(path, SLICE_LIT("/"));
    for (size_t i = 0; i < path.len; i++)
        parts_max += path.ptr[i] == '/';
    struct slice *parts = arena_zalloc(arena, parts_max, sizeof(*parts));
    if (parts == NULL)
        return false;
    while (path.len > 0) {
        struct slice part = slice_cut(&path, '/');
        last = part;
        if (slice_is(part, ".."))
            count -= count > 0;
        else if (part.len > 0 && !slice_is(part, "."))
            parts[count++] = part;
    }
    for (size_t i = 0; i < count; i++) {
        buf_byte(out, '/');
        sign_encode(out, parts[i], false);
    }
    if (count == 0 || slash || slice_is(last, ".") || slice_is(last, ".."))
        buf_byte(out, '/');
    return true;
}

// ---- The query -----------------------------------------------------------------------------

struct parameter {
    struct slice name; // both encoded, in the arena
    struct slice value;
};

static int parameter_order(const void *a, const void *b)
{
    const struct parameter *left = a;
    const struct parameter *right = b;
    int order = slice_compare(left->name, right->name);
    return order != 0 ? order : slice_compare(left->value, right->value);
}

// However it is encoded on the wire, as we would encode it.
static bool encode_again(struct slice text, struct arena *arena, struct slice *out)
{
    struct buf plain;
    struct buf encoded;
    buf_init(&plain, LIMIT_SIGN_HEAD);
    buf_init(&encoded, 3 * LIMIT_SIGN_HEAD);
    bool ok = sign_decode(&plain, text, true);
    sign_encode(&encoded, buf_view(&plain), false);
    *out = ok && !encoded.failed ? arena_copy(arena, buf_view(&encoded)) : slice_of(NULL, 0);
    buf_release(&plain);
    buf_release(&encoded);
    return out->ptr != NULL;
}

static bool query_write(struct slice query, bool in_query, struct arena *arena, struct buf *out)
{
    size_t most = 1;
    size_t count = 0;
    for (size_t i = 0; i < query.len; i++)
        most += query.ptr[i] == '&';
    if (most > LIMIT_SIGN_PARAMETERS)
        return false;
    struct parameter *list = arena_zalloc(arena, most, sizeof(*list));
    if (list == NULL)
        return false;
    while (query.len > 0) {
        struct slice value = slice_cut(&query, '&');
        if (value.len == 0)
            continue;
        struct slice name = slice_cut(&value, '=');
        struct parameter *parameter = &list[count];
        if (!encode_again(name, arena, &parameter->name) ||
            !encode_again(value, arena, &parameter->value))
            return false;
        count += !in_query || !slice_is(name, "X-Amz-Signature");
    }
    qsort(list, count, sizeof(*list), parameter_order);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(out, '&');
        buf_slice(out, list[i].name);
        buf_byte(out, '=');
        buf_slice(out, list[i].value);
    }
    return true;
}

// ---- Headers -------------------------------------------------------------------------------

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

bool sign_name_equal(struct slice a, struct slice small)
{
    if (a.len != small.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != small.ptr[i])
            return false;
    return true;
}

size_t sign_header_find(const struct sign_request *request, struct slice name, struct slice *value)
{
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        if (!sign_name_equal(request->headers[i].name, name))
            continue;
        if (count++ == 0)
            *value = slice_trim(request->headers[i].value);
    }
    return count;
}

// Without blanks at its ends, and one where there are several.
static void value_write(struct slice value, struct buf *out)
{
    bool blank = false;
    value = slice_trim(value);
    // Tabs are rare; without them whole words are taken.
    while (value.len > 0 && memchr(value.ptr, '\t', value.len) == NULL) {
        buf_slice(out, slice_cut(&value, ' '));
        if (value.len > 0)
            buf_byte(out, ' ');
        value = slice_trim(value);
    }
    for (size_t i = 0; i < value.len; i++) {
        bool is = value.ptr[i] == ' ' || value.ptr[i] == '\t';
        if (!is || !blank)
            buf_byte(out, is ? ' ' : value.ptr[i]);
        blank = is;
    }
}

static void headers_write(const struct sign_request *request, struct slice names, struct buf *out)
{
    while (names.len > 0) {
        struct slice name = slice_cut(&names, ';');
        bool first = true;
        buf_slice(out, name);
        buf_byte(out, ':');
        for (size_t i = 0; i < request->header_count; i++) {
            if (request->headers[i].name.len != name.len ||
                !sign_name_equal(request->headers[i].name, name))
                continue;
            if (!first)
                buf_byte(out, ',');
            first = false;
            value_write(request->headers[i].value, out);
        }
        buf_byte(out, '\n');
    }
}

static int name_order(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

struct slice sign_header_names(const struct sign_request *request, struct arena *arena)
{
    static const struct slice none = {NULL, 0};
    struct slice *names = arena_zalloc(arena, request->header_count + 1, sizeof(*names));
    struct buf text;
    if (names == NULL)
        return none;
    for (size_t i = 0; i < request->header_count; i++) {
        struct slice name = arena_copy(arena, request->headers[i].name);
        if (name.ptr == NULL)
            return none;
        for (size_t k = 0; k < name.len; k++)
            ((uint8_t *)(uintptr_t)name.ptr)[k] = lower(name.ptr[k]);
        names[i] = name;
    }
    qsort(names, request->header_count, sizeof(*names), name_order);
    buf_init(&text, LIMIT_SIGN_HEAD);
    for (size_t i = 0; i < request->header_count; i++) {
        if (i > 0 && slice_equal(names[i - 1], names[i]))
            continue;
        if (i > 0)
            buf_byte(&text, ';');
        buf_slice(&text, names[i]);
    }
    return arena_keep(arena, &text);
}

// ---- The whole -----------------------------------------------------------------------------

bool sign_canonical_write(const struct sign_canonical *canonical, struct arena *arena,
                          struct buf *out)
{
    const struct sign_request *request = canonical->request;
    if (!slice_begins(request->path, SLICE_LIT("/")))
        return false;
    buf_slice(out, request->method);
    buf_byte(out, '\n');
    if (!(canonical->s3 ? path_write_s3(request->path, out)
                        : path_write(request->path, arena, out)))
        return false;
    buf_byte(out, '\n');
    if (!query_write(request->query, canonical->in_query, arena, out))
        return false;
    buf_byte(out, '\n');
    headers_write(request, canonical->signed_headers, out);
    buf_byte(out, '\n');
    buf_slice(out, canonical->signed_headers);
    buf_byte(out, '\n');
    buf_slice(out, canonical->payload);
    return !out->failed;
}
