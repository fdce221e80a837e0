// CBOR (RFC 8949) as Smithy's RPC protocol uses it: a request as one list of names and values, and
// the pieces that answers are written with.
#include "watch/watch_internal.h"

#include <math.h>
#include <stdio.h>

enum { DEPTH_MAX = 8, TAGS_MAX = 4 };
enum { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE };
enum { FALSE = 20, TRUE = 21, NOTHING = 22, UNDEFINED = 23, HALF = 25, SINGLE = 26, DOUBLE = 27 };
enum { INDEFINITE = 31, BREAK = 0xff };

struct reader {
    struct slice rest;
    struct params *params;
};

struct head {
    unsigned major;
    unsigned more; // the low five bits
    uint64_t value;
};

// ---- Reading -----------------------------------------------------------------------------------

static bool take(struct reader *r, size_t count, uint64_t *out)
{
    *out = 0;
    if (r->rest.len < count)
        return false;
    for (size_t i = 0; i < count; i++)
        *out = *out << 8 | r->rest.ptr[i];
    r->rest = slice_of(r->rest.ptr + count, r->rest.len - count);
    return true;
}

static bool head_read(struct reader *r, struct head *out)
{
    uint64_t first;
    if (!take(r, 1, &first))
        return false;
    *out = (struct head){(unsigned)first >> 5, first & 31, first & 31};
    if (out->more < 24)
        return true;
    if (out->more < 28)
        return take(r, (size_t)1 << (out->more - 24), &out->value);
    return out->more == INDEFINITE && out->major >= BYTES && out->major <= MAP;
}

// Whether a break is next, which is taken.
static bool ends(struct reader *r)
{
    if (r->rest.len == 0 || r->rest.ptr[0] != BREAK)
        return false;
    r->rest = slice_of(r->rest.ptr + 1, r->rest.len - 1);
    return true;
}

static bool text_piece(struct reader *r, uint64_t len, struct slice *out)
{
    if (len > r->rest.len)
        return false;
    *out = slice_of(r->rest.ptr, (size_t)len);
    r->rest = slice_of(r->rest.ptr + len, r->rest.len - (size_t)len);
    return utf8_valid(*out) && (len == 0 || memchr(out->ptr, 0, (size_t)len) == NULL);
}

// Its pieces are brought together in the arena.
static bool text_read(struct reader *r, const struct head *head, struct slice *out)
{
    struct buf whole;
    struct head piece;
    struct slice part;
    if (head->more != INDEFINITE)
        return text_piece(r, head->value, out);
    buf_init(&whole, WATCH_BODY_MAX);
    bool ok = true;
    while (ok && !ends(r)) {
        ok = head_read(r, &piece) && piece.major == TEXT && piece.more != INDEFINITE &&
             text_piece(r, piece.value, &part);
        if (ok)
            buf_slice(&whole, part);
    }
    *out = ok && !whole.failed ? arena_copy(r->params->arena, buf_view(&whole)) : slice_of(NULL, 0);
    buf_release(&whole);
    return out->ptr != NULL;
}

// The number of a float of so many bytes.
static double float_of(unsigned more, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float single;
    double number;
    if (more == DOUBLE) {
        memcpy(&number, &bits, sizeof(number));
        return number;
    }
    if (more == SINGLE) {
        memcpy(&single, &narrow, sizeof(single));
        return (double)single;
    }
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    number = exponent == 0    ? ldexp(fraction, -24)
             : exponent != 31 ? ldexp(fraction + 1024, exponent - 25)
                              : INFINITY;
    return (bits & 0x8000) != 0 ? -number : number;
}

static bool add_text(struct reader *r, const char *name, struct slice text)
{
    struct slice kept = arena_copy(r->params->arena, slice_str(name));
    return kept.ptr != NULL && params_add(r->params, kept, text);
}

static bool add_printed(struct reader *r, const char *name, const char *text)
{
    struct slice kept = arena_copy(r->params->arena, slice_str(text));
    return kept.ptr != NULL && add_text(r, name, kept);
}

static bool simple_read(struct reader *r, const struct head *head, const char *name)
{
    char text[40];
    switch (head->more) {
    case FALSE:
    case TRUE:
        return add_printed(r, name, head->more == TRUE ? "true" : "false");
    case NOTHING:
    case UNDEFINED:
        return true;
    case HALF:
    case SINGLE:
    case DOUBLE:
        (void)snprintf(text, sizeof(text), "%.17g", float_of(head->more, head->value));
        return add_printed(r, name, text);
    default:
        return false;
    }
}

static bool value_read(struct reader *r, const char *name, unsigned depth);

static bool array_read(struct reader *r, const struct head *head, const char *name, unsigned depth)
{
    char path[WATCH_NAME_MAX];
    for (uint64_t i = 1;; i++) {
        if (head->more == INDEFINITE ? ends(r) : i > head->value)
            return true;
        int len = snprintf(path, sizeof(path), "%s.member.%llu", name, (unsigned long long)i);
        if (len >= (int)sizeof(path) || !value_read(r, path, depth + 1))
            return false;
    }
}

static bool map_read(struct reader *r, const struct head *head, const char *name, unsigned depth)
{
    char path[WATCH_NAME_MAX];
    for (uint64_t i = 0;; i++) {
        struct head key;
        struct slice member;
        if (head->more == INDEFINITE ? ends(r) : i == head->value)
            return true;
        if (!head_read(r, &key) || key.major != TEXT || !text_read(r, &key, &member))
            return false;
        int len = snprintf(path, sizeof(path), "%s%s%.*s", name, name[0] == 0 ? "" : ".",
                           SLICE_FMT(member));
        if (len >= (int)sizeof(path) || !value_read(r, path, depth + 1))
            return false;
    }
}

static bool value_read(struct reader *r, const char *name, unsigned depth)
{
    struct head head;
    struct slice text;
    char number[40];
    if (depth > DEPTH_MAX || !head_read(r, &head))
        return false;
    for (int i = 0; head.major == TAG; i++) // times are numbers with one
        if (i == TAGS_MAX || !head_read(r, &head))
            return false;
    switch (head.major) {
    case UNSIGNED:
    case NEGATIVE:
        (void)snprintf(number, sizeof(number), head.major == NEGATIVE ? "-%.17g" : "%.17g",
                       (double)head.value + (head.major == NEGATIVE ? 1 : 0));
        return add_printed(r, name, number);
    case TEXT:
        return text_read(r, &head, &text) && add_text(r, name, text);
    case ARRAY:
        return array_read(r, &head, name, depth);
    case MAP:
        return map_read(r, &head, name, depth);
    case SIMPLE:
        return simple_read(r, &head, name);
    default:
        return false;
    }
}

bool params_of_cbor(struct params *params, struct slice body)
{
    struct reader r = {body, params};
    if (body.len == 0)
        return true; // an operation without input may have no body
    return body.ptr[0] >> 5 == MAP && value_read(&r, "", 0) && r.rest.len == 0;
}

// ---- Writing -----------------------------------------------------------------------------------

static void put_head(struct buf *out, unsigned major, uint64_t value)
{
    unsigned size = value < 24 ? 0 : value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : 4;
    unsigned more = size == 0 ? (unsigned)value : size == 1 ? 24 : size == 2 ? 25 : 26;
    buf_byte(out, (uint8_t)(major << 5 | more));
    for (unsigned i = size; i-- > 0;)
        buf_byte(out, (uint8_t)(value >> (8 * i)));
}

void cbor_open(struct buf *out, bool map)
{
    buf_byte(out, (uint8_t)((map ? MAP : ARRAY) << 5 | INDEFINITE));
}

void cbor_close(struct buf *out)
{
    buf_byte(out, BREAK);
}

void cbor_text(struct buf *out, struct slice text)
{
    put_head(out, TEXT, text.len);
    buf_slice(out, text);
}

void cbor_integer(struct buf *out, uint32_t number)
{
    put_head(out, UNSIGNED, number);
}

void cbor_double(struct buf *out, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    buf_byte(out, SIMPLE << 5 | DOUBLE);
    for (unsigned i = sizeof(bits); i-- > 0;)
        buf_byte(out, (uint8_t)(bits >> (8 * i)));
}

void cbor_time(struct buf *out, int64_t ms)
{
    put_head(out, TAG, 1);
    cbor_double(out, (double)ms / 1000);
}

void cbor_flag(struct buf *out, bool flag)
{
    buf_byte(out, (uint8_t)(SIMPLE << 5 | (flag ? TRUE : FALSE)));
}
