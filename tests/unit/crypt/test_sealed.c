// Files of pages and frames against a plain copy of what was written; whatever is changed in them
// is noticed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crypt/sealed.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTHS = 40, READS = 200, MOST = 40000, RAW_PAGE = SEALED_PAGE + CRYPT_TAG };

struct world {
    struct keyring ring;
    uint64_t random;
    uint8_t plain[MOST];
};

static uint32_t chance(struct world *world, uint32_t below)
{
    world->random = world->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(world->random >> 33) % below;
}

static int begin(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->random = 20261118;
    keyring_init(&world->ring, 1);
    for (size_t i = 0; i < MOST; i++)
        world->plain[i] = (uint8_t)chance(world, 256);
    *state = world;
    return 0;
}

static int end(void **state)
{
    free(*state);
    return 0;
}

// ---- Pages --------------------------------------------------------------------------------------

// A file of the first bytes, appended in pieces.
static void write_pages(struct world *world, size_t length, struct buf *out)
{
    buf_init(out, 1 << 20);
    struct page_writer *writer = page_writer_new(&world->ring, out);
    for (size_t at = 0; at < length;) {
        size_t piece = 1 + chance(world, chance(world, 2) ? 100 : 9000);
        piece = piece < length - at ? piece : length - at;
        page_writer_add(writer, slice_of(world->plain + at, piece), out);
        at += piece;
    }
    page_writer_end(writer, out);
    page_writer_free(writer);
    assert_int_equal(out->len, pages_raw_size(length));
    assert_int_equal(pages_plain_size(out->len), length);
}

static bool read_memory(void *context, const struct iovec *parts, int count, uint64_t at)
{
    const struct buf *raw = context;
    for (int i = 0; i < count; i++) {
        if (at + parts[i].iov_len > raw->len)
            return false;
        memcpy(parts[i].iov_base, raw->ptr + at, parts[i].iov_len);
        at += parts[i].iov_len;
    }
    return true;
}

static enum pages_end read_all(struct world *world, struct buf *raw, uint8_t *to, size_t *got)
{
    struct pages *pages = pages_open(&world->ring, buf_view(raw), raw->len);
    if (pages == NULL)
        return PAGES_DAMAGED;
    enum pages_end end = pages_read(pages, 0, MOST, to, got, read_memory, raw);
    pages_close(pages);
    return end;
}

static size_t some_length(struct world *world, size_t i)
{
    static const size_t edges[] = {0,    1,    4095,  4096,  4097,  8191,
                                   8192, 8193, 12288, 36864, 40000, 39999};
    return i < COUNT_OF(edges) ? edges[i] : chance(world, MOST);
}

static void pages_are_read_as_written(void **state)
{
    struct world *world = *state;
    uint8_t *to = malloc(MOST);
    for (size_t i = 0; i < LENGTHS; i++) {
        struct buf raw;
        size_t length = some_length(world, i);
        write_pages(world, length, &raw);
        struct pages *pages = pages_open(&world->ring, buf_view(&raw), raw.len);
        assert_non_null(pages);
        assert_int_equal(pages_size(pages), length);
        for (size_t j = 0; j < READS; j++) {
            size_t got = 99;
            size_t at = chance(world, MOST);
            size_t size = chance(world, chance(world, 2) ? 5000 : MOST);
            assert_int_equal(pages_read(pages, at, size, to, &got, read_memory, &raw), PAGES_DONE);
            size_t there = at >= length ? 0 : length - at;
            assert_int_equal(got, size < there ? size : there);
            assert_memory_equal(to, world->plain + at, got);
        }
        pages_close(pages);
        buf_release(&raw);
    }
    free(to);
}

static void every_flipped_bit_is_noticed(void **state)
{
    struct world *world = *state;
    struct buf raw;
    size_t got;
    uint8_t *to = malloc(MOST);
    write_pages(world, 5000, &raw);
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DONE);
    for (size_t bit = 0; bit < raw.len * 8; bit++) {
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buf_release(&raw);
    free(to);
}

static void other_lengths_are_noticed(void **state)
{
    struct world *world = *state;
    struct buf raw;
    size_t got;
    uint8_t *to = malloc(MOST);
    write_pages(world, 12288, &raw);
    size_t whole = raw.len;
    for (raw.len = 0; raw.len < whole; raw.len++)
        assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    for (size_t more = 1; more < 100; more++) {
        buf_byte(&raw, 0);
        raw.len = whole + more;
        assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    }
    buf_release(&raw);
    free(to);
}

static void exchanged_pages_are_noticed(void **state)
{
    struct world *world = *state;
    struct buf raw;
    struct buf other;
    size_t got;
    uint8_t *to = malloc(MOST);
    uint8_t page[RAW_PAGE];
    write_pages(world, 12288, &raw);
    write_pages(world, 12288, &other);
    assert_memory_not_equal(raw.ptr + SEALED_HEAD, other.ptr + SEALED_HEAD, RAW_PAGE);
    uint8_t *first = raw.ptr + SEALED_HEAD;
    memcpy(page, first, RAW_PAGE);
    memcpy(first, other.ptr + SEALED_HEAD, RAW_PAGE); // of the same content in another file
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    memcpy(first, first + RAW_PAGE, RAW_PAGE); // of another place
    memcpy(first + RAW_PAGE, page, RAW_PAGE);
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    memcpy(first + RAW_PAGE, first, RAW_PAGE);
    memcpy(first, page, RAW_PAGE);
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DONE);
    buf_release(&raw);
    buf_release(&other);
    free(to);
}

static void keys_are_found_by_their_number(void **state)
{
    struct world *world = *state;
    struct buf raw;
    size_t got;
    uint8_t *to = malloc(MOST);
    write_pages(world, 100, &raw);
    assert_int_equal(sealed_key_id(buf_view(&raw)), 1);
    assert_true(keyring_add(&world->ring, 2));
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DONE);
    struct keyring one = world->ring;
    world->ring.keys[0] = world->ring.keys[1];
    world->ring.count = 1; // the old one is gone
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    world->ring = one;
    crypt_key_make(&world->ring.keys[0].key);
    assert_int_equal(read_all(world, &raw, to, &got), PAGES_DAMAGED);
    buf_release(&raw);
    free(to);
}

// ---- Frames -------------------------------------------------------------------------------------

enum { FRAMES = 12 };

// Returns where in the file each frame begins.
static void write_frames(struct world *world, size_t length, struct buf *out, size_t at[FRAMES + 1],
                         size_t plain[FRAMES + 1])
{
    buf_init(out, 1 << 20);
    struct frame_writer *writer = frame_writer_new(&world->ring, out);
    for (size_t i = 0; i <= FRAMES; i++) {
        at[i] = out->len;
        plain[i] = i == 0 ? 0 : plain[i - 1] + length;
        if (i < FRAMES)
            frame_writer_add(writer, slice_of(world->plain + plain[i], length), out);
    }
    frame_writer_free(writer);
}

static uint64_t read_frames(struct world *world, const struct buf *raw, struct buf *plain,
                            bool *all)
{
    buf_clear(plain);
    return frames_read(&world->ring, buf_view(raw), plain, all);
}

static void frames_are_read_up_to_where_they_were_cut(void **state)
{
    struct world *world = *state;
    struct buf raw;
    struct buf plain;
    bool all;
    size_t at[FRAMES + 1];
    size_t before[FRAMES + 1];
    write_frames(world, 57, &raw, at, before);
    buf_init(&plain, MOST);
    size_t frame = 0;
    size_t whole = raw.len;
    for (raw.len = SEALED_HEAD; raw.len <= whole; raw.len++) {
        while (frame < FRAMES && raw.len >= at[frame + 1])
            frame++;
        assert_int_equal(read_frames(world, &raw, &plain, &all), before[frame]);
        assert_int_equal(all, raw.len == at[frame]);
        assert_int_equal(plain.len, before[frame]);
        assert_memory_equal(plain.ptr, world->plain, plain.len);
    }
    buf_release(&raw);
    buf_release(&plain);
}

static void a_damaged_frame_leaves_the_others(void **state)
{
    struct world *world = *state;
    struct buf raw;
    struct buf plain;
    bool all;
    size_t at[FRAMES + 1];
    size_t before[FRAMES + 1];
    write_frames(world, 57, &raw, at, before);
    buf_init(&plain, MOST);
    for (size_t bit = at[4] * 8; bit < at[5] * 8; bit++) {
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_frames(world, &raw, &plain, &all), before[4]);
        assert_false(all);
        assert_int_equal(plain.len, before[FRAMES]);
        assert_memory_equal(plain.ptr, world->plain, before[4]);
        assert_memory_equal(plain.ptr + before[5], world->plain + before[5],
                            before[FRAMES] - before[5]);
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < SEALED_HEAD * 8; bit++) {
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_frames(world, &raw, &plain, &all), 0);
        assert_false(all);
        raw.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(read_frames(world, &raw, &plain, &all), before[FRAMES]);
    assert_true(all);
    buf_release(&raw);
    buf_release(&plain);
}

static void a_frame_elsewhere_is_none(void **state)
{
    struct world *world = *state;
    struct buf raw;
    struct buf plain;
    bool all;
    size_t at[FRAMES + 1];
    size_t before[FRAMES + 1];
    uint8_t one[200];
    write_frames(world, 57, &raw, at, before);
    buf_init(&plain, MOST);
    size_t length = at[1] - at[0];
    memcpy(one, raw.ptr + at[2], length);
    memcpy(raw.ptr + at[2], raw.ptr + at[3], length);
    memcpy(raw.ptr + at[3], one, length);
    assert_int_equal(read_frames(world, &raw, &plain, &all), before[2]);
    assert_false(all);
    buf_release(&raw);
    buf_release(&plain);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(pages_are_read_as_written),         TEST(every_flipped_bit_is_noticed),
        TEST(other_lengths_are_noticed),         TEST(exchanged_pages_are_noticed),
        TEST(keys_are_found_by_their_number),    TEST(frames_are_read_up_to_where_they_were_cut),
        TEST(a_damaged_frame_leaves_the_others), TEST(a_frame_elsewhere_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
