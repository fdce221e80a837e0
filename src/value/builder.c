// See value.h: building values. A container is written in place behind a header whose
// length and count are filled in when it closes.
//
// For each open map or set the offsets of its entries are kept in `marks`, a stack: an
// inner container takes its marks away again when it closes. Entries that came in
// order, as they do from the store and from many clients, cost one comparison each;
// otherwise closing merge-sorts references to them in `scratch` and copies the entries
// once through it. Equal names keep the order they came in, so the last wins.
//
// Once out->failed is set nothing is read back from `out`, whose contents are then
// incomplete. The caller owns `out`; value_builder_release() frees the rest.
#include "base/encode.h"
#include "value/value.h"

enum {
    HEADER = 6,             // tag, u32 body length, and a count of one byte
    BODY = 5,               // where the body begins: the count is part of it
    SORT_RUN = 8,           // runs this short are sorted by insertion
    MARK_BYTES_PER = 4,     // bytes of marks for each byte of out, at worst
    SCRATCH_BYTES_PER = 28, // the same of scratch: two entries for a member of one byte
    SCRATCH_KEPT = 1 << 20  // more scratch than this is given back after a value
};

// One entry of a container while it is sorted: where it is, from the container's tag,
// and the first bytes of its name, which decide most comparisons.
struct entry {
    uint32_t offset;
    uint32_t len;
    uint32_t prefix;
};

static size_t times_max(size_t bytes, size_t factor)
{
    return bytes > SIZE_MAX / factor ? SIZE_MAX : bytes * factor;
}

void value_builder_init(struct value_builder *builder, struct buf *out)
{
    builder->out = out;
    buf_init(&builder->marks, times_max(out->max, MARK_BYTES_PER));
    buf_init(&builder->scratch, times_max(out->max, SCRATCH_BYTES_PER));
    builder->depth = 0;
}

void value_builder_release(struct value_builder *builder)
{
    buf_release(&builder->marks);
    buf_release(&builder->scratch);
    builder->depth = 0;
}

void value_builder_reset(struct value_builder *builder)
{
    buf_clear(&builder->marks);
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

// A varint length and the bytes.
static void put_counted(struct buf *out, struct slice bytes)
{
    uint8_t *to = buf_reserve(out, varint_len(bytes.len) + bytes.len);
    if (to == NULL)
        return;
    size_t n = varint_put(to, bytes.len);
    if (bytes.len > 0)
        memcpy(to + n, bytes.ptr, bytes.len);
    out->len += n + bytes.len;
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
    put_tag(builder, VALUE_TAG_N);
    put_counted(builder->out, stored);
}

void value_put_string(struct value_builder *builder, struct slice text)
{
    put_tag(builder, VALUE_TAG_S);
    put_counted(builder->out, text);
}

void value_put_binary(struct value_builder *builder, struct slice bytes)
{
    put_tag(builder, VALUE_TAG_B);
    put_counted(builder->out, bytes);
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
        .first_mark = builder->marks.len / sizeof(uint32_t),
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

// Begins an entry: remembers where, and whether it is still in order.
static void put_key(struct value_builder *builder, struct slice key)
{
    struct buf *out = builder->out;
    struct value_frame *frame = top_frame(builder);
    size_t offset = out->len - frame->start;
    if (offset > UINT32_MAX)
        out->failed = true;
    if (out->failed)
        return;
    if (frame->count > 0 && frame->sorted) {
        uint32_t last;
        memcpy(&last, builder->marks.ptr + builder->marks.len - sizeof(last), sizeof(last));
        frame->sorted = slice_compare(key_at(out->ptr + frame->start, last), key) < 0;
    }
    uint32_t mark = (uint32_t)offset;
    buf_add(&builder->marks, &mark, sizeof(mark));
    if (builder->marks.failed) {
        out->failed = true;
        return;
    }
    frame->count++;
    put_counted(out, key);
}

void value_name(struct value_builder *builder, struct slice name)
{
    ensure(top_frame(builder)->tag == VALUE_TAG_M);
    put_key(builder, name);
}

void value_member(struct value_builder *builder, struct slice member)
{
    enum value_tag tag = top_frame(builder)->tag;
    ensure(tag != VALUE_TAG_M && tag != VALUE_TAG_L);
    put_key(builder, member);
}

// ---- Closing -------------------------------------------------------------------

static bool entry_after(const uint8_t *container, struct entry a, struct entry b)
{
    if (a.prefix != b.prefix)
        return a.prefix > b.prefix;
    return slice_compare(key_at(container, a.offset), key_at(container, b.offset)) > 0;
}

static void insertion_sort(const uint8_t *container, struct entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct entry moving = entries[i];
        size_t at = i;
        for (; at > 0 && entry_after(container, entries[at - 1], moving); at--)
            entries[at] = entries[at - 1];
        entries[at] = moving;
    }
}

static void merge_runs(const uint8_t *container, const struct entry *left, size_t left_count,
                       const struct entry *right, size_t right_count, struct entry *to)
{
    const struct entry *left_end = left + left_count;
    const struct entry *right_end = right + right_count;
    while (left < left_end && right < right_end)
        *to++ = entry_after(container, *left, *right) ? *right++ : *left++;
    while (left < left_end)
        *to++ = *left++;
    while (right < right_end)
        *to++ = *right++;
}

// A stable sort. The result is in one of the two arrays, which is returned.
static struct entry *sort_entries(const uint8_t *container, struct entry *entries,
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

// The first four bytes as a big-endian number; a shorter name reads as if zeros followed.
static uint32_t key_prefix(struct slice key)
{
    uint8_t bytes[4] = {0};
    for (size_t i = 0; i < key.len && i < sizeof(bytes); i++)
        bytes[i] = key.ptr[i];
    return be32_get(bytes);
}

static void load_entries(const struct value_builder *builder, const struct value_frame *frame,
                         struct entry *entries)
{
    const uint8_t *container = builder->out->ptr + frame->start;
    const uint8_t *mark = builder->marks.ptr + frame->first_mark * sizeof(uint32_t);
    uint32_t end = (uint32_t)(builder->out->len - frame->start);
    for (size_t i = frame->count; i-- > 0;) {
        uint32_t offset;
        memcpy(&offset, mark + i * sizeof(offset), sizeof(offset));
        entries[i] = (struct entry){
            .offset = offset, .len = end - offset, .prefix = key_prefix(key_at(container, offset))};
        end = offset;
    }
}

// Sorts the entries behind the header and drops all but the last of equal ones.
// Returns whether all were different.
static bool sort_container(struct value_builder *builder, struct value_frame *frame)
{
    struct buf *out = builder->out;
    size_t count = frame->count;
    size_t body = out->len - frame->start - HEADER;
    size_t sorting = 2 * count * sizeof(struct entry);
    uint8_t *memory = buf_reserve(&builder->scratch, sorting + body);
    if (memory == NULL) {
        out->failed = true;
        return true;
    }
    struct entry *entries = (struct entry *)(void *)memory;
    load_entries(builder, frame, entries);
    uint8_t *container = out->ptr + frame->start;
    entries = sort_entries(container, entries, entries + count, count);

    uint8_t *sorted = memory + sorting;
    size_t len = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !entry_after(container, entries[i + 1], entries[i]))
            continue;
        memcpy(sorted + len, container + entries[i].offset, entries[i].len);
        len += entries[i].len;
        kept++;
    }
    memcpy(container + HEADER, sorted, len);
    out->len = frame->start + HEADER + len;
    frame->count = kept;
    return kept == count;
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
    for (unsigned i = 0; i < 4; i++)
        container[1 + i] = (uint8_t)(length >> (8 * i));
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
    builder->marks.len = frame->first_mark * sizeof(uint32_t);
    builder->depth--;
    if (builder->scratch.cap > SCRATCH_KEPT)
        buf_release(&builder->scratch);
    if (builder->depth == 0 && builder->marks.cap > SCRATCH_KEPT)
        buf_release(&builder->marks);
    return distinct;
}
