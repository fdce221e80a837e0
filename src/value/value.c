// See value.h: reading values in place. Every container carries its length, so that
// walking past a value costs one look at its first bytes. No reader allocates; those
// that descend recurse at most as deep as a builder can nest.
//
// value_valid() is the only function here that may meet arbitrary bytes. It accepts
// exactly what a builder writes, except that an empty set is no value in DynamoDB.
#include "value/value.h"

#include "base/encode.h"
#include "value/number.h"

enum {
    CONTAINER_OVERHEAD = 3, // AWS's size of an empty list or map
    ELEMENT_OVERHEAD = 1    // and of each of its elements, besides their contents
};

static const char *const type_names[VALUE_TYPES] = {
#define X(type, name) name,
    VALUE_TYPE_LIST(X)
#undef X
};

static const uint8_t tag_types[VALUE_TAGS] = {
    [VALUE_TAG_NULL] = VALUE_NULL, [VALUE_TAG_FALSE] = VALUE_BOOL, [VALUE_TAG_TRUE] = VALUE_BOOL,
    [VALUE_TAG_N] = VALUE_N,       [VALUE_TAG_S] = VALUE_S,        [VALUE_TAG_B] = VALUE_B,
    [VALUE_TAG_SS] = VALUE_SS,     [VALUE_TAG_NS] = VALUE_NS,      [VALUE_TAG_BS] = VALUE_BS,
    [VALUE_TAG_L] = VALUE_L,       [VALUE_TAG_M] = VALUE_M,
};

const char *value_type_name(enum value_type type)
{
    return type_names[type];
}

enum value_type value_type_from_name(struct slice name)
{
    for (unsigned type = 0; type < VALUE_TYPES; type++)
        if (name.len > 0 && name.ptr[0] == (uint8_t)type_names[type][0] &&
            slice_is(name, type_names[type]))
            return (enum value_type)type;
    return VALUE_TYPES;
}

enum value_type value_type(struct slice value)
{
    return (enum value_type)tag_types[value.ptr[0]];
}

bool value_bool(struct slice value)
{
    return value.ptr[0] == VALUE_TAG_TRUE;
}

size_t value_count(struct slice value)
{
    const uint8_t *at = value.ptr + VALUE_BODY;
    return (size_t)varint_get(&at);
}

void value_iter_init(struct value_iter *iter, struct slice container)
{
    const uint8_t *at = container.ptr + VALUE_BODY;
    iter->container = value_type(container);
    iter->left = (size_t)varint_get(&at);
    iter->at = at;
    iter->name = VALUE_NONE;
    iter->value = VALUE_NONE;
}

struct slice value_get(struct slice map, struct slice name)
{
    const uint8_t *at = map.ptr + VALUE_BODY;
    for (size_t left = (size_t)varint_get(&at); left > 0; left--) {
        struct slice found = value_counted(&at);
        int order = value_name_compare(found, name);
        if (order == 0)
            return slice_of(at, value_length(at));
        if (order > 0)
            break;
        at += value_length(at);
    }
    return VALUE_NONE;
}

struct slice value_at(struct slice list, size_t index)
{
    const uint8_t *at = list.ptr + VALUE_BODY;
    if (index >= varint_get(&at))
        return VALUE_NONE;
    while (index-- > 0)
        at += value_length(at);
    return slice_of(at, value_length(at));
}

bool value_set_has(struct slice set, struct slice member)
{
    const uint8_t *at = set.ptr + VALUE_BODY;
    for (size_t left = (size_t)varint_get(&at); left > 0; left--) {
        int order = slice_compare(value_counted(&at), member);
        if (order >= 0)
            return order == 0;
    }
    return false;
}

int value_compare(struct slice a, struct slice b)
{
    return slice_compare(value_bytes(a), value_bytes(b));
}

// The size of the value at *at, which moves behind it.
static size_t size_step(const uint8_t **at)
{
    enum value_tag tag = (enum value_tag) * (*at)++;
    switch (tag) {
    case VALUE_TAG_NULL:
    case VALUE_TAG_FALSE:
    case VALUE_TAG_TRUE:
        return 1;
    case VALUE_TAG_N:
        return number_size(value_counted(at));
    case VALUE_TAG_S:
    case VALUE_TAG_B:
        return value_counted(at).len;
    default:
        break;
    }
    *at += VALUE_BODY - 1;
    size_t size = tag == VALUE_TAG_L || tag == VALUE_TAG_M ? CONTAINER_OVERHEAD : 0;
    for (size_t left = (size_t)varint_get(at); left > 0; left--) {
        if (tag == VALUE_TAG_NS)
            size += number_size(value_counted(at));
        else if (tag == VALUE_TAG_SS || tag == VALUE_TAG_BS)
            size += value_counted(at).len;
        else
            size +=
                ELEMENT_OVERHEAD + (tag == VALUE_TAG_M ? value_counted(at).len : 0) + size_step(at);
    }
    return size;
}

size_t value_size(struct slice value)
{
    const uint8_t *at = value.ptr;
    return size_step(&at);
}

size_t value_item_size(struct slice item)
{
    const uint8_t *at = item.ptr + VALUE_BODY;
    size_t size = 0;
    for (size_t left = (size_t)varint_get(&at); left > 0; left--) {
        size += value_counted(&at).len;
        // Most values are texts: no call for them.
        if (*at == VALUE_TAG_S) {
            at++;
            size += value_counted(&at).len;
        } else {
            size += size_step(&at);
        }
    }
    return size;
}

size_t value_depth(struct slice value)
{
    enum value_type type = value_type(value);
    if (type != VALUE_L && type != VALUE_M)
        return 0;
    struct value_iter iter;
    value_iter_init(&iter, value);
    size_t deepest = 0;
    while (value_iter_next(&iter)) {
        size_t depth = value_depth(iter.value);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

// Java's String.length(): UTF-16 units, that is, two for a character of four bytes.
// Eight bytes at a time: of each the highest bit tells, where others have been moved beside it.
static size_t utf16_length(struct slice text)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    size_t units = 0;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8) {
        uint64_t bytes = be64_get(text.ptr + i);
        uint64_t inside = bytes & ~(bytes << 1) & high;                      // 10xxxxxx
        uint64_t four = bytes & bytes << 1 & bytes << 2 & bytes << 3 & high; // 1111xxxx
        units += 8 - (size_t)__builtin_popcountll(inside) + (size_t)__builtin_popcountll(four);
    }
    for (; i < text.len; i++)
        units += ((text.ptr[i] & 0xc0) != 0x80) + (size_t)(text.ptr[i] >= 0xf0);
    return units;
}

bool value_function_size(struct slice value, size_t *out)
{
    switch (value_type(value)) {
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_N:
        return false;
    case VALUE_S:
        *out = utf16_length(value_bytes(value));
        return true;
    case VALUE_B:
        *out = value_bytes(value).len;
        return true;
    default:
        *out = value_count(value);
        return true;
    }
}

struct slice value_empty_map(void)
{
    static const uint8_t empty[] = {VALUE_TAG_M, 1, 0, 0, 0, 0};
    return slice_of(empty, sizeof(empty));
}

// ---- Checking bytes that are not trusted ---------------------------------------

// The unread rest of the bytes; every take checks before it reads.
struct check {
    const uint8_t *at;
    size_t left;
};

// Reads a varint of the shortest form that is at most `limit`.
static bool check_varint(struct check *check, size_t limit, size_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35 && check->left > 0; shift += 7) {
        uint8_t byte = *check->at++;
        check->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *out = (size_t)value;
        return value <= limit && (byte != 0 || shift == 0);
    }
    return false;
}

static bool check_counted(struct check *check, struct slice *out)
{
    size_t len;
    if (!check_varint(check, check->left, &len) || len > check->left)
        return false;
    *out = slice_of(check->at, len);
    check->at += len;
    check->left -= len;
    return true;
}

static bool member_valid(enum value_tag tag, struct slice member)
{
    if (tag == VALUE_TAG_NS)
        return number_valid(member);
    return tag == VALUE_TAG_BS || utf8_valid(member);
}

static bool check_value(struct check *check, size_t depth);

// Tag and length are read; `body` holds exactly the body.
static bool check_body(struct check *body, enum value_tag tag, size_t depth)
{
    size_t count;
    if (!check_varint(body, body->left, &count))
        return false;
    bool set = tag != VALUE_TAG_L && tag != VALUE_TAG_M;
    if (set && count == 0)
        return false;
    struct slice previous = VALUE_NONE;
    for (size_t i = 0; i < count; i++) {
        struct slice key = VALUE_NONE;
        if (tag != VALUE_TAG_L) {
            if (!check_counted(body, &key) || (i > 0 && slice_compare(previous, key) >= 0))
                return false;
            if (!(set ? member_valid(tag, key) : utf8_valid(key)))
                return false;
            previous = key;
        }
        if (!set && !check_value(body, depth))
            return false;
    }
    return body->left == 0;
}

static bool check_container(struct check *check, enum value_tag tag, size_t depth)
{
    if (check->left < VALUE_BODY - 1 || depth == VALUE_BUILDER_DEPTH)
        return false;
    size_t len = value_length(check->at - 1) - VALUE_BODY;
    check->at += VALUE_BODY - 1;
    check->left -= VALUE_BODY - 1;
    if (len > check->left)
        return false;
    struct check body = {check->at, len};
    check->at += len;
    check->left -= len;
    return check_body(&body, tag, depth + 1);
}

static bool check_value(struct check *check, size_t depth)
{
    if (check->left == 0)
        return false;
    uint8_t tag = *check->at++;
    check->left--;
    struct slice bytes;
    switch (tag) {
    case VALUE_TAG_NULL:
    case VALUE_TAG_FALSE:
    case VALUE_TAG_TRUE:
        return true;
    case VALUE_TAG_N:
        // A number is shorter than 128 bytes, so its length byte reads as a varint.
        return check_counted(check, &bytes) && number_valid(bytes);
    case VALUE_TAG_S:
        return check_counted(check, &bytes) && utf8_valid(bytes);
    case VALUE_TAG_B:
        return check_counted(check, &bytes);
    default:
        return tag < VALUE_TAGS && check_container(check, (enum value_tag)tag, depth);
    }
}

bool value_valid(struct slice bytes)
{
    struct check check = {bytes.ptr, bytes.len};
    return check_value(&check, 0) && check.left == 0;
}

void value_pick(struct value_builder *builder, struct slice map, const struct slice *names,
                size_t count)
{
    struct value_iter iter;
    value_iter_init(&iter, map);
    value_open_map(builder);
    for (size_t i = 0; i < count && value_iter_next(&iter);) {
        int order;
        while (i < count && (order = value_name_compare(iter.name, names[i])) > 0)
            i++;
        if (i < count && order == 0) {
            value_name(builder, iter.name);
            value_put(builder, iter.value);
        }
    }
    (void)value_close(builder);
}
