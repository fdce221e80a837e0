// See value.h: building values. A container is written in place behind a header whose
// length and count are filled in when it closes.
//
// For each open map or set its entries are noted as marks, a stack: an inner container takes
// its marks away again when it closes. Entries that came in order, as they do from the store
// and from many clients, cost one comparison each; otherwise closing sorts the marks and
// copies the entries once through scratch memory. Equal names keep the order they came in, so
// the last wins. Values of ordinary size need no memory but `out`: their marks have room in
// the builder, and what is sorted passes over the stack.
//
// Once out->failed is set nothing is read back from `out`, whose contents are then
// incomplete. The caller owns `out`; value_builder_release() frees the rest.
#include <stdlib.h>

#include "base/encode.h"
#include "value/copy.h"
#include "value/value.h"

enum {
    HEADER = 6,             // tag, u32 body length, and a count of one byte
    BODY = 5,               // where the body begins: the count is part of it
    LENGTH_MAX = 10,        // bytes of a varint
    SORT_RUN = 8,           // runs this short are sorted by insertion
    SORT_FEW = 24,          // and so is a whole container of this many
    BODY_FEW = 1024,        // a body that is sorted by way of the stack
    SCRATCH_BYTES_PER = 18, // bytes of scratch for each byte of out, at worst: a mark and itself
    SCRATCH_KEPT = 1 << 20  // more scratch than this is given back after a value
};

static size_t times_max(size_t bytes, size_t factor)
{
    return bytes > SIZE_MAX / factor ? SIZE_MAX : bytes * factor;
}

void value_builder_init(struct value_builder *builder, struct buf *out)
{
    builder->out = out;
    builder->many = NULL;
    builder->mark_count = 0;
    builder->mark_cap = VALUE_BUILDER_MARKS;
    buf_init(&builder->scratch, times_max(out->max, SCRATCH_BYTES_PER));
    builder->depth = 0;
}

static void marks_release(struct value_builder *builder)
{
    free(builder->many);
    builder->many = NULL;
    builder->mark_count = 0;
    builder->mark_cap = VALUE_BUILDER_MARKS;
}

void value_builder_release(struct value_builder *builder)
{
    marks_release(builder);
    buf_release(&builder->scratch);
    builder->depth = 0;
}

void value_builder_reset(struct value_builder *builder)
{
    builder->mark_count = 0;
    buf_clear(&builder->scratch);
    builder->depth = 0;
}

// ---- Scalars -------------------------------------------------------------------

static struct value_frame *top_frame(struct value_builder *builder)
{
    ensure(builder->depth > 0);
    return &builder->frames[builder->depth - 1];
}

// Every value counts as an element if a list is open; a map counts names.
static void count_element(struct value_builder *builder)
{
    if (builder->depth > 0 && top_frame(builder)->tag == VALUE_TAG_L)
        top_frame(builder)->count++;
}

static void put_tag(struct value_builder *builder, enum value_tag tag)
{
    count_element(builder);
    buf_byte(builder->out, (uint8_t)tag);
}

// A varint length and the bytes. Returns what is behind them.
ALWAYS_INLINE uint8_t *counted_put(uint8_t *to, struct slice bytes)
{
    to += varint_put(to, bytes.len);
    copy_bytes(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

void value_put_scalar(struct value_builder *builder, enum value_tag tag, struct slice bytes)
{
    count_element(builder);
    struct buf *out = builder->out;
    uint8_t *to = buf_reserve(out, 1 + varint_len(bytes.len) + bytes.len);
    if (to == NULL)
        return;
    *to = (uint8_t)tag;
    out->len = (size_t)(counted_put(to + 1, bytes) - out->ptr);
}

void value_put_null(struct value_builder *builder)
{
    put_tag(builder, VALUE_TAG_NULL);
}

void value_put_bool(struct value_builder *builder, bool value)
{
    put_tag(builder, value ? VALUE_TAG_TRUE : VALUE_TAG_FALSE);
}

void value_put_number(struct value_builder *builder, struct slice stored)
{
    value_put_scalar(builder, VALUE_TAG_N, stored);
}

void value_put_string(struct value_builder *builder, struct slice text)
{
    value_put_scalar(builder, VALUE_TAG_S, text);
}

void value_put_binary(struct value_builder *builder, struct slice bytes)
{
    value_put_scalar(builder, VALUE_TAG_B, bytes);
}

void value_put(struct value_builder *builder, struct slice value)
{
    count_element(builder);
    buf_slice(builder->out, value);
}

// ---- Containers ----------------------------------------------------------------

static void open_container(struct value_builder *builder, enum value_tag tag)
{
    ensure(builder->depth < VALUE_BUILDER_DEPTH);
    count_element(builder);
    builder->frames[builder->depth++] = (struct value_frame){
        .start = builder->out->len,
        .first_mark = builder->mark_count,
        .sorted = true,
        .tag = tag,
    };
    uint8_t *to = buf_reserve(builder->out, HEADER);
    if (to == NULL)
        return;
    memset(to, 0, HEADER);
    to[0] = (uint8_t)tag;
    builder->out->len += HEADER;
}

void value_open_map(struct value_builder *builder)
{
    open_container(builder, VALUE_TAG_M);
}

void value_open_list(struct value_builder *builder)
{
    open_container(builder, VALUE_TAG_L);
}

void value_open_set(struct value_builder *builder, enum value_type type)
{
    ensure(type == VALUE_SS || type == VALUE_NS || type == VALUE_BS);
    open_container(builder, type == VALUE_SS   ? VALUE_TAG_SS
                            : type == VALUE_NS ? VALUE_TAG_NS
                                               : VALUE_TAG_BS);
}

// The name or member that begins at an offset from the container's tag.
static struct slice key_at(const uint8_t *container, uint32_t offset)
{
    const uint8_t *at = container + offset;
    size_t len = (size_t)varint_get(&at);
    return slice_of(at, len);
}

static struct value_mark *marks_of(struct value_builder *builder)
{
    return builder->many != NULL ? builder->many : builder->few;
}

static bool marks_grow(struct value_builder *builder)
{
    size_t cap = 4 * builder->mark_cap;
    struct value_mark *many = realloc(builder->many, cap * sizeof(*many));
    if (many == NULL)
        return false;
    if (builder->many == NULL)
        memcpy(many, builder->few, sizeof(builder->few));
    builder->many = many;
    builder->mark_cap = cap;
    return true;
}

// The first eight bytes as a big-endian number; a shorter name reads as if zeros followed.
static inline uint64_t key_prefix(struct slice key)
{
    if (key.len >= 8)
        return be64_get(key.ptr);
    unsigned missing = 8 * (8 - (unsigned)key.len);
    if (key.len >= 4)
        return (uint64_t)be32_get(key.ptr) << 32 | (uint64_t)be32_get(key.ptr + key.len - 4)
                                                       << missing;
    uint64_t prefix = 0;
    for (size_t i = 0; i < key.len; i++)
        prefix = prefix << 8 | key.ptr[i];
    return key.len == 0 ? 0 : prefix << missing;
}

static inline bool mark_before(const uint8_t *container, const struct value_mark *mark,
                               uint64_t prefix, struct slice key)
{
    if (mark->prefix != prefix)
        return mark->prefix < prefix;
    return slice_compare(key_at(container, mark->offset), key) < 0;
}

// Begins an entry: remembers where, and whether it is still in order. Room for its key and
// `extra` bytes, or NULL.
ALWAYS_INLINE uint8_t *begin_entry(struct value_builder *builder, struct slice key, size_t extra)
{
    struct buf *out = builder->out;
    struct value_frame *frame = top_frame(builder);
    size_t offset = out->len - frame->start;
    uint8_t *to = buf_reserve(out, varint_len(key.len) + key.len + extra);
    if (to == NULL)
        return NULL;
    if (offset > UINT32_MAX || (builder->mark_count == builder->mark_cap && !marks_grow(builder))) {
        out->failed = true;
        return NULL;
    }
    struct value_mark *mark = marks_of(builder) + builder->mark_count++;
    mark->prefix = key_prefix(key);
    mark->offset = (uint32_t)offset;
    if (frame->count++ > 0 && frame->sorted)
        frame->sorted = mark_before(out->ptr + frame->start, mark - 1, mark->prefix, key);
    return to;
}

static void put_key(struct value_builder *builder, struct slice key)
{
    uint8_t *to = begin_entry(builder, key, 0);
    if (to != NULL)
        builder->out->len = (size_t)(counted_put(to, key) - builder->out->ptr);
}

void value_name(struct value_builder *builder, struct slice name)
{
    ensure(top_frame(builder)->tag == VALUE_TAG_M);
    put_key(builder, name);
}

void value_put_entry(struct value_builder *builder, struct slice name, enum value_tag tag,
                     struct slice bytes)
{
    ensure(top_frame(builder)->tag == VALUE_TAG_M);
    uint8_t *to = begin_entry(builder, name, 1 + varint_len(bytes.len) + bytes.len);
    if (to == NULL)
        return;
    to = counted_put(to, name);
    *to = (uint8_t)tag;
    builder->out->len = (size_t)(counted_put(to + 1, bytes) - builder->out->ptr);
}

void value_member(struct value_builder *builder, struct slice member)
{
    enum value_tag tag = top_frame(builder)->tag;
    ensure(tag != VALUE_TAG_M && tag != VALUE_TAG_L);
    put_key(builder, member);
}

// ---- Closing -------------------------------------------------------------------

static inline bool mark_after(const uint8_t *container, const struct value_mark *a,
                              const struct value_mark *b)
{
    if (a->prefix != b->prefix)
        return a->prefix > b->prefix;
    return slice_compare(key_at(container, a->offset), key_at(container, b->offset)) > 0;
}

static void insertion_sort(const uint8_t *container, struct value_mark *marks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct value_mark moving = marks[i];
        size_t at = i;
        for (; at > 0 && mark_after(container, &marks[at - 1], &moving); at--)
            marks[at] = marks[at - 1];
        marks[at] = moving;
    }
}

static void merge_runs(const uint8_t *container, const struct value_mark *left, size_t left_count,
                       const struct value_mark *right, size_t right_count, struct value_mark *to)
{
    const struct value_mark *left_end = left + left_count;
    const struct value_mark *right_end = right + right_count;
    while (left < left_end && right < right_end)
        *to++ = mark_after(container, left, right) ? *right++ : *left++;
    while (left < left_end)
        *to++ = *left++;
    while (right < right_end)
        *to++ = *right++;
}

// A stable sort. The result is in one of the two arrays, which is returned.
static struct value_mark *merge_sort(const uint8_t *container, struct value_mark *marks,
                                     struct value_mark *spare, size_t count)
{
    for (size_t at = 0; at < count; at += SORT_RUN)
        insertion_sort(container, marks + at, count - at < SORT_RUN ? count - at : SORT_RUN);
    for (size_t run = SORT_RUN; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t left = count - at < run ? count - at : run;
            size_t right = count - at - left < run ? count - at - left : run;
            merge_runs(container, marks + at, left, marks + at + left, right, spare + at);
        }
        struct value_mark *sorted = spare;
        spare = marks;
        marks = sorted;
    }
    return marks;
}

// Copies the entries in the order of the marks to `sorted`, all but the last of equal ones
// left out, and back. Returns whether all were different.
static bool place_entries(struct buf *out, struct value_frame *frame,
                          const struct value_mark *marks, uint8_t *sorted)
{
    uint8_t *container = out->ptr + frame->start;
    size_t count = frame->count;
    size_t len = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !mark_after(container, &marks[i + 1], &marks[i]))
            continue;
        copy_bytes(sorted + len, container + marks[i].offset, marks[i].len);
        len += marks[i].len;
        kept++;
    }
    memcpy(container + HEADER, sorted, len);
    out->len = frame->start + HEADER + len;
    frame->count = kept;
    return kept == count;
}

// Sorts the entries behind the header and drops all but the last of equal ones.
// Returns whether all were different.
static bool sort_container(struct value_builder *builder, struct value_frame *frame)
{
    struct buf *out = builder->out;
    size_t count = frame->count;
    size_t body = out->len - frame->start - HEADER;
    const uint8_t *container = out->ptr + frame->start;
    struct value_mark *marks = marks_of(builder) + frame->first_mark;
    uint32_t end = (uint32_t)(out->len - frame->start);
    for (size_t i = count; i-- > 0; end = marks[i].offset)
        marks[i].len = end - marks[i].offset;
    if (count <= SORT_FEW && body <= BODY_FEW) {
        uint8_t few[BODY_FEW];
        insertion_sort(container, marks, count);
        return place_entries(out, frame, marks, few);
    }
    size_t sorting = count * sizeof(struct value_mark);
    uint8_t *memory = buf_reserve(&builder->scratch, sorting + body);
    if (memory == NULL) {
        out->failed = true;
        return true;
    }
    marks = merge_sort(container, marks, (struct value_mark *)(void *)memory, count);
    return place_entries(out, frame, marks, memory + sorting);
}

// Fills in the count, for which there is one byte of room yet, and the length.
static void finish_header(struct buf *out, const struct value_frame *frame)
{
    size_t extra = varint_len(frame->count) - 1;
    if (buf_reserve(out, extra) == NULL)
        return;
    uint8_t *container = out->ptr + frame->start;
    size_t body = out->len - frame->start - HEADER;
    if (extra > 0)
        memmove(container + HEADER + extra, container + HEADER, body);
    varint_put(container + BODY, frame->count);
    out->len += extra;
    size_t length = out->len - frame->start - BODY;
    if (length > UINT32_MAX) {
        out->failed = true;
        return;
    }
    container[1] = (uint8_t)length;
    container[2] = (uint8_t)(length >> 8);
    container[3] = (uint8_t)(length >> 16);
    container[4] = (uint8_t)(length >> 24);
}

bool value_close(struct value_builder *builder)
{
    struct value_frame *frame = top_frame(builder);
    bool distinct = true;
    if (!builder->out->failed) {
        if (!frame->sorted)
            distinct = sort_container(builder, frame) || frame->tag == VALUE_TAG_M;
        if (!builder->out->failed)
            finish_header(builder->out, frame);
    }
    builder->mark_count = frame->first_mark;
    builder->depth--;
    if (builder->scratch.cap > SCRATCH_KEPT)
        buf_release(&builder->scratch);
    if (builder->depth == 0 && builder->mark_cap > SCRATCH_KEPT / sizeof(struct value_mark))
        marks_release(builder);
    return distinct;
}
