// Blobs and metadata: records and their keys, files and their trash, commits in groups, what a
// start finds.
#include "objects/meta.h"

#include "base/env.h"

#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

// ---- Records
// -----------------------------------------------------------------------------------------

static void test_record(void **state)
{
    (void)state;
    struct buf bytes;
    struct buf pairs;
    struct buf blobs;
    struct record out;
    struct slice name;
    struct slice value;
    const struct blob_id id = {{1, 2, 3}};
    buf_init(&bytes, 1 << 16);
    buf_init(&pairs, 1 << 16);
    buf_init(&blobs, 1 << 16);
    pair_add(&pairs, SLICE_LIT("a"), SLICE_LIT(""));
    pair_add(&pairs, SLICE_LIT("b"), SLICE_LIT("c"));
    record_add_blob(&blobs, &id, 77);
    const struct record in = {.size = UINT64_MAX,
                              .modified_ms = 1700000000000,
                              .etag = SLICE_LIT("abc"),
                              .headers[RECORD_EXPIRES] = SLICE_LIT("never"),
                              .checksum_kind = 3,
                              .checksum_whole = true,
                              .checksum = SLICE_LIT("sum"),
                              .meta = buf_view(&pairs),
                              .blobs = buf_view(&blobs),
                              .parts = 2};
    record_encode(&bytes, &in);
    assert_true(record_decode(buf_view(&bytes), &out));
    assert_int_equal(out.size, UINT64_MAX);
    assert_int_equal(out.modified_ms, 1700000000000);
    assert_true(slice_is(out.headers[RECORD_EXPIRES], "never"));
    assert_int_equal(out.headers[RECORD_CONTENT_TYPE].len, 0);
    assert_true(out.checksum_kind == 3 && out.checksum_whole && out.parts == 2);
    assert_int_equal(pair_count(out.meta), 2);
    assert_true(pair_next(&out.meta, &name, &value) && value.len == 0);
    assert_true(pair_next(&out.meta, &name, &value) && slice_is(value, "c"));
    assert_false(pair_next(&out.meta, &name, &value));
    struct blob_id read;
    uint64_t size;
    record_blob(&out, 0, &read, &size);
    assert_true(size == 77 && memcmp(&read, &id, sizeof(id)) == 0);
    // Whatever is cut off is noticed, or ends with a field; nothing is read behind the end.
    for (size_t len = 0; len < bytes.len; len++) {
        uint8_t *copy = malloc(len + 1);
        memcpy(copy, bytes.ptr, len);
        bool whole = record_decode(slice_of(copy, len), &out);
        (void)whole;
        free(copy);
    }
    buf_release(&bytes);
    buf_release(&pairs);
    buf_release(&blobs);
}

static void test_keys(void **state)
{
    (void)state;
    struct record_key a = key_of_object(SLICE_LIT("b"), SLICE_LIT("a"));
    struct record_key b = key_of_object(SLICE_LIT("b"), SLICE_LIT("a/b"));
    struct record_key other = key_of_object(SLICE_LIT("b-c"), SLICE_LIT("a"));
    struct record_key upper = key_upper('O', SLICE_LIT("b"), SLICE_LIT(""));
    assert_true(slice_compare(record_key_view(&a), record_key_view(&b)) < 0);
    assert_true(slice_compare(record_key_view(&b), record_key_view(&upper)) < 0);
    assert_true(slice_compare(record_key_view(&other), record_key_view(&upper)) >= 0);
    struct record_key last = key_upper('O', SLICE_LIT("b"), SLICE_LIT("\xff\xff"));
    assert_true(slice_equal(record_key_view(&last), record_key_view(&upper)));
}

// ---- A store
// -----------------------------------------------------------------------------------------

struct fixture {
    char root[64];
    char path[80];
    struct blobs *blobs;
    struct meta *meta;
};

static void store_open(struct fixture *f)
{
    char error[4096] = "";
    f->blobs = blobs_open(f->root, false, env_system(), error, sizeof(error));
    assert_non_null(f->blobs);
    f->meta =
        meta_open(&(struct meta_options){.path = f->path, .blobs = f->blobs}, error, sizeof(error));
    assert_non_null(f->meta);
}

static void store_end(struct fixture *f)
{
    meta_close(f->meta);
    blobs_close(f->blobs);
}

static void start(struct fixture *f)
{
    (void)snprintf(f->root, sizeof(f->root), "/tmp/dolmen-objects-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    (void)snprintf(f->path, sizeof(f->path), "%s/meta", f->root);
    store_open(f);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void finish(struct fixture *f)
{
    store_end(f);
    assert_int_equal(nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct blob_id blob_make(struct fixture *f, const char *text)
{
    struct blob_id id;
    int fd = blob_create(f->blobs, &id);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_true(blob_seal(f->blobs, fd, &id));
    return id;
}

static bool blob_there(struct fixture *f, const struct blob_id *id)
{
    int fd = blob_open(f->blobs, id);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static void wait_gone(struct fixture *f, const struct blob_id *id)
{
    for (int i = 0; i < 20000 && blob_there(f, id); i++)
        (void)usleep(1000);
    assert_false(blob_there(f, id));
}

static void test_trash(void **state)
{
    (void)state;
    struct fixture f;
    struct blob_pin before;
    struct blob_pin after;
    start(&f);
    struct blob_id one = blob_make(&f, "one");
    struct blob_id two = blob_make(&f, "two");
    blob_pin(f.blobs, &before);
    blobs_trash(f.blobs, &one, 1);
    blob_pin(f.blobs, &after); // did not see it any more
    (void)usleep(20000);
    assert_true(blob_there(&f, &one));
    blob_unpin(f.blobs, &before);
    wait_gone(&f, &one);
    blobs_trash(f.blobs, &two, 1);
    (void)usleep(20000);
    assert_true(blob_there(&f, &two));
    blob_unpin(f.blobs, &after);
    wait_gone(&f, &two);
    finish(&f);
}

static enum blob_known is_known(void *context, const struct blob_id *id)
{
    return memcmp(context, id, sizeof(*id)) == 0 ? BLOB_KNOWN : BLOB_ORPHAN;
}

static void test_orphans(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct blob_id kept = blob_make(&f, "kept");
    struct blob_id lost = blob_make(&f, "lost");
    assert_int_equal(blobs_sweep(f.blobs, is_known, &kept), 1);
    assert_true(blob_there(&f, &kept));
    assert_false(blob_there(&f, &lost));
    finish(&f);
}

// ---- Jobs
// --------------------------------------------------------------------------------------------

enum { THREADS = 8, ROUNDS = 50 };

struct counting {
    struct meta_job job; // first
    struct record_key key;
    bool refuse;
};

// Adds one to the number under the key.
static bool count_run(struct meta_job *job, struct meta_group *group)
{
    struct counting *own = (struct counting *)job;
    struct slice found;
    uint32_t number = 0;
    if (group_get(group, &own->key, &found) == STORE_FOUND)
        memcpy(&number, found.ptr, sizeof(number));
    if (own->refuse) {
        group_count(group, 100, 100);
        return false;
    }
    number++;
    group_put(group, &own->key, slice_of(&number, sizeof(number)));
    group_count(group, 1, 10);
    return true;
}

static void *count_main(void *context)
{
    struct fixture *f = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct counting own = {.job = {.run = count_run, .alone = i % 7 == 0},
                               .key = key_of_bucket('B', SLICE_LIT("number")),
                               .refuse = i % 5 == 4};
        enum meta_end end = meta_do(f->meta, &own.job);
        assert_int_equal(end, own.refuse ? META_REFUSED : META_DONE);
    }
    return NULL;
}

static void test_jobs(void **state)
{
    (void)state;
    struct fixture f;
    pthread_t threads[THREADS];
    start(&f);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_main, &f), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    store_end(&f);
    store_open(&f);
    struct store_value value;
    struct store_error error;
    uint32_t number;
    struct record_key key = key_of_bucket('B', SLICE_LIT("number"));
    assert_int_equal(store_get(meta_store(f.meta), NULL, record_key_view(&key), &value, &error),
                     STORE_FOUND);
    memcpy(&number, value.bytes.ptr, sizeof(number));
    store_value_release(meta_store(f.meta), &value);
    assert_int_equal(number, THREADS * ROUNDS * 4 / 5);
    assert_int_equal(meta_totals(f.meta).objects, number);
    assert_int_equal(meta_totals(f.meta).bytes, number * 10);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),  cmocka_unit_test(test_keys), cmocka_unit_test(test_trash),
        cmocka_unit_test(test_orphans), cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
