// How much JSON a stored item becomes, found by walking over it once and writing nothing: what an
// answer needs is known before there is memory for it. Escapes are taken for six bytes each, and
// numbers for what their exponent says, so the result is never too small.
#include "json/writer.h"

#include "value/number.h"
#include "value/value.h"
#include "json/scan.h"

// The text between its quotes, which the callers count.
static size_t text_room(struct slice text)
{
    const uint8_t *end = text.ptr + text.len;
    size_t room = text.len;
    for (const uint8_t *at = scan_text(text.ptr, end); at < end; at++)
        room += scan_is_special(*at) ? 5 : 0;
    return room;
}

static size_t base64_room(struct slice bytes)
{
    return (bytes.len + 2) / 3 * 4;
}

// These take where a value begins and move behind it, as in the writer.

static size_t value_room(const uint8_t **at);

// A set's members with quotes and commas: {"NS":["1","2"]}
static size_t set_room(const uint8_t **at, size_t (*member)(struct slice))
{
    *at += VALUE_BODY;
    uint64_t count = varint_get(at);
    size_t room = 10;
    for (uint64_t i = 0; i < count; i++)
        room += member(value_counted(at)) + 3;
    return room;
}

static size_t list_room(const uint8_t **at)
{
    *at += VALUE_BODY;
    uint64_t count = varint_get(at);
    size_t room = 9;
    for (uint64_t i = 0; i < count; i++)
        room += value_room(at) + 1;
    return room;
}

static size_t map_room(const uint8_t **at)
{
    *at += VALUE_BODY;
    uint64_t count = varint_get(at);
    size_t room = 2;
    for (uint64_t i = 0; i < count; i++) {
        room += text_room(value_counted(at)) + 4;
        room += value_room(at);
    }
    return room;
}

// Recursion is bounded: a stored value has at most LIMIT_NESTING levels.
static size_t value_room(const uint8_t **at)
{
    enum value_tag tag = (enum value_tag) * *at;
    switch (tag) {
    case VALUE_TAG_NULL:
    case VALUE_TAG_FALSE:
    case VALUE_TAG_TRUE:
        ++*at;
        return sizeof("{\"BOOL\":false}") - 1;
    case VALUE_TAG_N:
        ++*at;
        return number_text_room(value_counted(at)) + 8;
    case VALUE_TAG_S:
        ++*at;
        return text_room(value_counted(at)) + 8;
    case VALUE_TAG_B:
        ++*at;
        return base64_room(value_counted(at)) + 8;
    case VALUE_TAG_SS:
        return set_room(at, text_room);
    case VALUE_TAG_NS:
        return set_room(at, number_text_room);
    case VALUE_TAG_BS:
        return set_room(at, base64_room);
    case VALUE_TAG_L:
        return list_room(at);
    case VALUE_TAG_M:
        return map_room(at) + 6;
    case VALUE_TAGS:
        break;
    }
    ensure(!"a value has a known tag");
    return 0;
}

size_t json_item_room(struct slice item)
{
    const uint8_t *at = item.ptr;
    return item.len == 0 ? 0 : map_room(&at);
}
