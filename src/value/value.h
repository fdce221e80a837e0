// Attribute values and items, as compact bytes that are read in place.
//
// A value is a slice that begins with a tag byte:
//   NULL, FALSE, TRUE   the tag alone
//   N                   tag, u8 length, stored number (number.h)
//   S, B                tag, varint length, bytes
//   SS, NS, BS          tag, u32 body length, varint count, then for each member:
//                       varint length, bytes; members sorted by memcmp, no duplicates
//   L                   tag, u32 body length, varint count, values
//   M                   tag, u32 body length, varint count, then for each entry:
//                       varint name length, name, value; entries sorted by name (memcmp),
//                       no duplicates
// u32 is little-endian and counts the bytes behind itself. An item is an M value.
// The form is canonical: equal values have equal bytes, so equality is memcmp.
//
// Readers trust the bytes (they come from a builder or from the store, which
// checksums them); value_valid() checks bytes that are not trusted.
#ifndef VALUE_VALUE_H
#define VALUE_VALUE_H

#include "base/arena.h"
#include "base/encode.h"

// X(type, name on the wire)
#define VALUE_TYPE_LIST(X)                                                                         \
    X(NULL, "NULL")                                                                                \
    X(BOOL, "BOOL")                                                                                \
    X(N, "N")                                                                                      \
    X(S, "S")                                                                                      \
    X(B, "B")                                                                                      \
    X(SS, "SS")                                                                                    \
    X(NS, "NS")                                                                                    \
    X(BS, "BS")                                                                                    \
    X(L, "L")                                                                                      \
    X(M, "M")

enum value_type {
#define X(type, name) VALUE_##type,
    VALUE_TYPE_LIST(X)
#undef X
        VALUE_TYPES
};

enum value_tag {
    VALUE_TAG_NULL,
    VALUE_TAG_FALSE,
    VALUE_TAG_TRUE,
    VALUE_TAG_N,
    VALUE_TAG_S,
    VALUE_TAG_B,
    VALUE_TAG_SS,
    VALUE_TAG_NS,
    VALUE_TAG_BS,
    VALUE_TAG_L,
    VALUE_TAG_M,
    VALUE_TAGS
};

// An absent value: no bytes.
#define VALUE_NONE ((struct slice){NULL, 0})

// "S", "N", … for a type; and the type for a wire name, or VALUE_TYPES.
const char *value_type_name(enum value_type type);
enum value_type value_type_from_name(struct slice name);

enum value_type value_type(struct slice value);

enum { VALUE_BODY = 5 }; // where the body of a container begins: behind tag and length

// The whole encoded length of the value that begins at `at`.
static inline size_t value_length(const uint8_t *at)
{
    switch (*at) {
    case VALUE_TAG_NULL:
    case VALUE_TAG_FALSE:
    case VALUE_TAG_TRUE:
        return 1;
    case VALUE_TAG_N:
        return 2 + (size_t)at[1];
    case VALUE_TAG_S:
    case VALUE_TAG_B: {
        const uint8_t *bytes = at + 1;
        uint64_t len = varint_get(&bytes);
        return (size_t)(bytes - at) + (size_t)len;
    }
    default:
        return VALUE_BODY +
               ((size_t)at[1] | (size_t)at[2] << 8 | (size_t)at[3] << 16 | (size_t)at[4] << 24);
    }
}

// The bytes of an S, a B or the stored form of an N.
static inline struct slice value_bytes(struct slice value)
{
    const uint8_t *bytes = value.ptr + 1;
    size_t len = (size_t)varint_get(&bytes);
    return (struct slice){bytes, len};
}
bool value_bool(struct slice value);

// Members of a set or list, entries of a map.
size_t value_count(struct slice value);

// Walks a container. For sets `value` is the member's raw bytes (text, binary or
// stored number); for lists and maps it is an encoded value; `name` is set for maps.
struct value_iter {
    const uint8_t *at;
    size_t left;
    enum value_type container;
    struct slice name;
    struct slice value;
};
void value_iter_init(struct value_iter *iter, struct slice container);

// A varint length and as many bytes; *at moves behind them.
static inline struct slice value_counted(const uint8_t **at)
{
    size_t len = (size_t)varint_get(at);
    struct slice bytes = {*at, len};
    *at += len;
    return bytes;
}

static inline bool value_iter_next(struct value_iter *iter)
{
    if (iter->left == 0)
        return false;
    iter->left--;
    if (iter->container != VALUE_M && iter->container != VALUE_L) {
        iter->value = value_counted(&iter->at);
        return true;
    }
    if (iter->container == VALUE_M)
        iter->name = value_counted(&iter->at);
    iter->value = slice_of(iter->at, value_length(iter->at));
    iter->at += iter->value.len;
    return true;
}

// slice_compare, but most names differ in the first byte, which saves a call.
static inline int value_name_compare(struct slice a, struct slice b)
{
    if (a.len > 0 && b.len > 0 && a.ptr[0] != b.ptr[0])
        return a.ptr[0] < b.ptr[0] ? -1 : 1;
    return slice_compare(a, b);
}

// Walks a map beside names that come in order, in one pass.
struct value_walk {
    struct value_iter iter;
    bool at_entry;
};

static inline void value_walk_init(struct value_walk *walk, struct slice map)
{
    value_iter_init(&walk->iter, map);
    walk->at_entry = value_iter_next(&walk->iter);
}

// The entry of the name, or VALUE_NONE. Later names are greater.
static inline struct slice value_walk_to(struct value_walk *walk, struct slice name)
{
    int order = -1;
    while (walk->at_entry && (order = value_name_compare(walk->iter.name, name)) < 0)
        walk->at_entry = value_iter_next(&walk->iter);
    return walk->at_entry && order == 0 ? walk->iter.value : VALUE_NONE;
}

// The entry of a map (an item), or VALUE_NONE.
struct slice value_get(struct slice map, struct slice name);
// The element of a list, or VALUE_NONE.
struct slice value_at(struct slice list, size_t index);
// Whether a set has the raw member.
bool value_set_has(struct slice set, struct slice member);

static inline bool value_equal(struct slice a, struct slice b)
{
    return slice_equal(a, b);
}

// Order of two N, S or B values of the same type, as memcmp gives it.
int value_compare(struct slice a, struct slice b);

// Bytes by AWS's size formula: of a value, and of an item (names included).
size_t value_size(struct slice value);
size_t value_item_size(struct slice item);

// Nesting: 0 for a scalar or set, 1 for a list or map of scalars, and so on.
size_t value_depth(struct slice value);

// What size() answers: UTF-16 units for S (the service counts as Java does), bytes for B,
// members otherwise; false for N, BOOL and NULL, which size() does not take.
MUST_CHECK bool value_function_size(struct slice value, size_t *out);

// Checks untrusted bytes: exactly one well-formed canonical value. Text must be UTF-8,
// sets must not be empty, and nesting ends at VALUE_BUILDER_DEPTH.
bool value_valid(struct slice bytes);

// The empty item.
struct slice value_empty_map(void);

// ---- Building ----------------------------------------------------------------
//
// A builder appends to a buf the caller owns. Containers are opened and closed;
// a map may receive its entries in any order and a set its members: closing sorts
// them. A repeated map name keeps the last value; a repeated set member makes
// value_close return false. Scratch memory is kept for the next use.
//
//   value_open_map(&b); value_name(&b, name); value_put_string(&b, s); value_close(&b);
enum { VALUE_BUILDER_DEPTH = 64 };

struct value_builder {
    struct buf *out;
    struct buf scratch; // for sorting
    size_t depth;
    struct value_frame {
        size_t start; // offset of the container's tag in out
        size_t last;  // and of its last entry, while they are sorted
        size_t count;
        bool sorted; // entries came in order so far
        enum value_tag tag;
    } frames[VALUE_BUILDER_DEPTH];
};

void value_builder_init(struct value_builder *builder, struct buf *out);
void value_builder_release(struct value_builder *builder);
// Abandons open containers (after an error); scratch memory stays.
void value_builder_reset(struct value_builder *builder);

void value_put_null(struct value_builder *builder);
void value_put_bool(struct value_builder *builder, bool value);
void value_put_number(struct value_builder *builder, struct slice stored);
void value_put_string(struct value_builder *builder, struct slice text);
void value_put_binary(struct value_builder *builder, struct slice bytes);
// One of these three; `tag` is N, S or B.
void value_put_scalar(struct value_builder *builder, enum value_tag tag, struct slice bytes);
// A whole encoded value.
void value_put(struct value_builder *builder, struct slice value);
// Children of an encoded map or list, as they stand there one after the other, into a map or list
// that is open. `last` is where the last of them begins; if nothing follows them, any.
void value_put_run(struct value_builder *builder, struct slice run, size_t count,
                   const uint8_t *last);
// Those attributes of a map whose names are among the given ones, which are sorted, as a map. It
// walks both once.
void value_pick(struct value_builder *builder, struct slice map, const struct slice *names,
                size_t count);

void value_open_map(struct value_builder *builder);
void value_open_list(struct value_builder *builder);
void value_open_set(struct value_builder *builder, enum value_type type);
// The next entry's name; only in a map.
void value_name(struct value_builder *builder, struct slice name);
// The next member's raw bytes; only in a set.
void value_member(struct value_builder *builder, struct slice member);
// False if a set received the same member twice (the set is complete otherwise).
bool value_close(struct value_builder *builder);

// A value in the making, in a buffer of its own that takes at most `max` bytes.
struct value_maker {
    struct buf bytes;
    struct value_builder b;
};
void value_begin(struct value_maker *maker, size_t max);
// The value, in the arena; VALUE_NONE when memory is out. Closes what is open.
struct slice value_end(struct value_maker *maker, struct arena *arena);

#endif
