// See value.h: building values. A container is written in place behind a header whose
// length and count are filled in when it closes.
//
// Entries of a map and members of a set that come in order, as they do from the store and
// from many clients, cost one comparison each. Otherwise closing walks over them, sorts
// references and copies the entries once through scratch memory; equal names keep the order
// they came in, so the last wins. Containers of ordinary size are sorted on the stack.
//
// Once out->failed is set nothing is read back from `out`, whose contents are then
// incomplete. The caller owns `out`; value_builder_release() frees the rest.
#include "value/entry.h"

enum {
    HEADER = VALUE_BODY + 1, // with a count of one byte
    SORT_RUN = 8,            // runs this short are sorted by insertion
    SORT_FEW = 24,           // and so is a whole container of this many
    BODY_FEW = 1024,         // its body may have this many bytes then
    SCRATCH_BYTES_PER = 34,  // bytes of scratch for each byte of out, at worst: two references
    SCRATCH_KEPT = 1 << 20   // more scratch than this is given back after a value
};

// One entry of a container while it is sorted: where it is, from the container's tag,
// and the first bytes of its name, which decide most comparisons.
struct entry {
    uint64_t prefix;
    uint32_t offset;
    uint32_t len;
};

static size_t times_max(size_t bytes, size_t factor)
{
    return bytes > SIZE_MAX / factor ? SIZE_MAX : bytes * factor;
}

void value_builder_init(struct value_builder *builder, struct buf *out)
{
    builder->out = out;
    buf_init_counted(&builder->scratch, times_max(out->max, SCRATCH_BYTES_PER), out->account,
                     out->kind);
    builder->depth = 0;
}

void value_builder_release(struct value_builder *builder)
{
    buf_release(&builder->scratch);
    builder->depth = 0;
}

void value_builder_reset(struct value_builder *builder)
{
    buf_clear(&builder->scratch);
    builder->depth = 0;
}

void value_begin(struct value_maker *maker, size_t max)
{
    buf_init(&maker->bytes, max);
    value_builder_init(&maker->b, &maker->bytes);
}

struct slice value_end(struct value_maker *maker, struct arena *arena)
{
    while (maker->b.depth > 0)
        (void)value_close(&maker->b);
    value_builder_release(&maker->b);
    return arena_keep(arena, &maker->bytes);
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
        .sorted = true,
        .tag = tag,
    };
    uint8_t *to = buf_reserve(builder->out, HEADER);
    if (to == NULL)
        return;
    *to = (uint8_t)tag; // the rest is written when it closes
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

// slice_compare, but most keys differ in the first byte, which saves a call.
static inline bool key_before(struct slice a, struct slice b)
{
    if (a.len > 0 && b.len > 0 && a.ptr[0] != b.ptr[0])
        return a.ptr[0] < b.ptr[0];
    return slice_compare(a, b) < 0;
}

bool value_key_follows(const struct value_builder *builder, const struct value_frame *frame,
                       struct slice key)
{
    const uint8_t *last = builder->out->ptr + frame->last;
    return key_before(value_counted(&last), key);
}

// Begins an entry.
static inline void put_key(struct value_builder *builder, struct value_frame *frame,
                           struct slice key)
{
    struct buf *out = builder->out;
    uint8_t *to = buf_reserve(out, varint_len(key.len) + key.len);
    if (to == NULL)
        return;
    frame_count(builder, frame, key);
    out->len = (size_t)(counted_put(to, key) - out->ptr);
}

void value_name(struct value_builder *builder, struct slice name)
{
    struct value_frame *frame = top_frame(builder);
    ensure(frame->tag == VALUE_TAG_M);
    put_key(builder, frame, name);
}

void value_member(struct value_builder *builder, struct slice member)
{
    struct value_frame *frame = top_frame(builder);
    ensure(frame->tag != VALUE_TAG_M && frame->tag != VALUE_TAG_L);
    put_key(builder, frame, member);
}

void value_put_run(struct value_builder *builder, struct slice run, size_t count,
                   const uint8_t *last)
{
    if (count == 0 || buf_reserve(builder->out, run.len) == NULL)
        return;
    struct value_frame *frame = top_frame(builder);
    const uint8_t *first = run.ptr;
    if (frame->tag == VALUE_TAG_M)
        frame_count(builder, frame, value_counted(&first));
    else
        frame->count++;
    frame->last = builder->out->len + (size_t)(last - run.ptr);
    frame->count += count - 1;
    buf_slice(builder->out, run);
}

// ---- Closing -------------------------------------------------------------------

// The name or member that begins at an offset from the container's tag.
static struct slice key_at(const uint8_t *container, uint32_t offset)
{
    const uint8_t *at = container + offset;
    return value_counted(&at);
}

// The first eight bytes as a big-endian number; a shorter key reads as if zeros followed.
// `end` is where the bytes behind the key end.
static inline uint64_t key_prefix(struct slice key, const uint8_t *end)
{
    uint64_t prefix = 0;
    if (end - key.ptr >= 8)
        prefix = be64_get(key.ptr);
    else
        for (size_t i = 0; i < key.len; i++)
            prefix |= (uint64_t)key.ptr[i] << (56 - 8 * i);
    if (key.len >= 8)
        return prefix;
    return prefix & ~(UINT64_MAX >> (8 * key.len));
}

static void load_entries(const uint8_t *container, const uint8_t *end,
                         const struct value_frame *frame, struct entry *entries)
{
    const uint8_t *at = container + HEADER;
    for (size_t i = 0; i < frame->count; i++) {
        const uint8_t *start = at;
        entries[i].prefix = key_prefix(value_counted(&at), end);
        if (frame->tag == VALUE_TAG_M)
            at += value_length(at);
        entries[i].offset = (uint32_t)(start - container);
        entries[i].len = (uint32_t)(at - start);
    }
}

static inline bool entry_after(const uint8_t *container, const struct entry *a,
                               const struct entry *b)
{
    if (a->prefix != b->prefix)
        return a->prefix > b->prefix;
    return slice_compare(key_at(container, a->offset), key_at(container, b->offset)) > 0;
}

static void insertion_sort(const uint8_t *container, struct entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct entry moving = entries[i];
        struct entry *at = entries + i;
        for (; at > entries && entry_after(container, at - 1, &moving); at--)
            *at = at[-1];
        *at = moving;
    }
}

static void merge_runs(const uint8_t *container, const struct entry *left, size_t left_count,
                       const struct entry *right, size_t right_count, struct entry *to)
{
    const struct entry *left_end = left + left_count;
    const struct entry *right_end = right + right_count;
    while (left < left_end && right < right_end)
        *to++ = entry_after(container, left, right) ? *right++ : *left++;
    while (left < left_end)
        *to++ = *left++;
    while (right < right_end)
        *to++ = *right++;
}

// A stable sort. The result is in one of the two arrays, which is returned.
static struct entry *merge_sort(const uint8_t *container, struct entry *entries,
                                struct entry *spare, size_t count)
{
    for (size_t at = 0; at < count; at += SORT_RUN)
        insertion_sort(container, entries + at, count - at < SORT_RUN ? count - at : SORT_RUN);
    for (size_t run = SORT_RUN; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t left = count - at < run ? count - at : run;
            size_t right = count - at - left < run ? count - at - left : run;
            merge_runs(container, entries + at, left, entries + at + left, right, spare + at);
        }
        struct entry *sorted = spare;
        spare = entries;
        entries = sorted;
    }
    return entries;
}

// Copies the entries in the order of the entries to `sorted`, all but the last of equal ones
// left out, and back. Returns whether all were different.
static bool place_entries(struct buf *out, struct value_frame *frame, const struct entry *entries,
                          uint8_t *sorted)
{
    uint8_t *container = out->ptr + frame->start;
    size_t count = frame->count;
    size_t len = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !entry_after(container, &entries[i + 1], &entries[i]))
            continue;
        copy_bytes(sorted + len, container + entries[i].offset, entries[i].len);
        len += entries[i].len;
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
    if (count <= SORT_FEW && body <= BODY_FEW) {
        struct entry few[SORT_FEW];
        uint8_t sorted[BODY_FEW];
        load_entries(container, out->ptr + out->len, frame, few);
        insertion_sort(container, few, count);
        return place_entries(out, frame, few, sorted);
    }
    size_t sorting = 2 * count * sizeof(struct entry);
    uint8_t *memory = buf_reserve(&builder->scratch, sorting + body);
    if (memory == NULL || body > UINT32_MAX - HEADER) {
        out->failed = true;
        return true;
    }
    struct entry *entries = (struct entry *)(void *)memory;
    load_entries(container, out->ptr + out->len, frame, entries);
    entries = merge_sort(container, entries, entries + count, count);
    return place_entries(out, frame, entries, memory + sorting);
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
    varint_put(container + VALUE_BODY, frame->count);
    out->len += extra;
    size_t length = out->len - frame->start - VALUE_BODY;
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
    builder->depth--;
    if (builder->scratch.cap > SCRATCH_KEPT)
        buf_release(&builder->scratch);
    return distinct;
}
