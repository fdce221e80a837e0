// The data keys in their two files: read with the right master key, whatever happens to one of
// them, and never with another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/files.h"
#include "crypt/keyring.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct crypt_key one = {"0123456789abcdef0123456789abcde"};
static const struct crypt_key other = {"0123456789abcdef0123456789abcdf"};

struct place {
    char path[64];
    int fd;
};

static int begin(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    (void)snprintf(place->path, sizeof(place->path), "/tmp/dolmen-keys.XXXXXX");
    if (mkdtemp(place->path) == NULL)
        return 1;
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = place;
    return 0;
}

static int end(void **state)
{
    struct place *place = *state;
    (void)unlinkat(place->fd, KEYRING_FILE, 0);
    (void)unlinkat(place->fd, KEYRING_COPY, 0);
    (void)close(place->fd);
    (void)rmdir(place->path);
    free(place);
    return 0;
}

static void write_file(const struct place *place, const char *name, struct slice text)
{
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && file_write(fd, text));
    (void)close(fd);
}

static void read_file(const struct place *place, const char *name, struct buf *out)
{
    int fd = openat(place->fd, name, O_RDONLY);
    buf_init(out, 1 << 20);
    assert_true(fd >= 0 && file_read(fd, out));
    (void)close(fd);
}

static bool open_ring(const struct place *place, const struct crypt_key *master,
                      struct keyring *ring, bool *uneven, char error[400])
{
    error[0] = 0;
    return keyring_read(ring, master, place->fd, "DIR", uneven, error, 400);
}

static struct keyring make_ring(const struct place *place, size_t keys)
{
    struct keyring ring;
    keyring_init(&ring, 1000);
    while (ring.count < keys)
        assert_true(keyring_add(&ring, 2000));
    assert_true(keyring_write(&ring, &one, place->fd));
    return ring;
}

static void reads_what_was_written(void **state)
{
    struct place *place = *state;
    char error[400];
    bool uneven = true;
    struct keyring found;
    assert_false(keyring_is_there(place->fd));
    struct keyring ring = make_ring(place, KEYRING_MOST);
    assert_false(keyring_add(&ring, 3000));
    assert_true(keyring_is_there(place->fd));
    assert_true(open_ring(place, &one, &found, &uneven, error));
    assert_false(uneven);
    assert_int_equal(found.count, KEYRING_MOST);
    for (uint32_t id = 1; id <= KEYRING_MOST; id++) {
        const struct keyring_key *key = keyring_find(&found, id);
        assert_non_null(key);
        assert_int_equal(key->made_s, id == 1 ? 1000 : 2000);
        assert_memory_equal(key->key.bytes, ring.keys[id - 1].key.bytes, CRYPT_KEY);
    }
    assert_null(keyring_find(&found, KEYRING_MOST + 1));
    struct stat status;
    assert_int_equal(fstatat(place->fd, KEYRING_FILE, &status, 0), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void names_the_key_that_is_needed(void **state)
{
    struct place *place = *state;
    char error[400];
    char name[CRYPT_NAME];
    bool uneven;
    struct keyring found;
    (void)make_ring(place, 1);
    crypt_key_name(&one, name);
    assert_false(open_ring(place, NULL, &found, &uneven, error));
    assert_non_null(strstr(error, "DIR is encrypted under the master key"));
    assert_non_null(strstr(error, name));
    assert_non_null(strstr(error, "--master-key"));
    assert_false(open_ring(place, &other, &found, &uneven, error));
    assert_non_null(strstr(error, name));
    crypt_key_name(&other, name);
    assert_non_null(strstr(error, name));
}

// Whatever becomes of one file, the other has all; of both, it is said.
static void one_file_is_enough(void **state)
{
    struct place *place = *state;
    char error[400];
    bool uneven = false;
    struct buf text;
    struct keyring found;
    struct keyring ring = make_ring(place, 2);
    read_file(place, KEYRING_FILE, &text);
    for (size_t bit = 0; bit < text.len * 8; bit++) {
        text.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_file(place, bit % 2 ? KEYRING_FILE : KEYRING_COPY, buf_view(&text));
        assert_true(open_ring(place, &one, &found, &uneven, error));
        // A digit may become a large letter, which says the same.
        assert_memory_equal(&found.keys[1].key, &ring.keys[1].key, CRYPT_KEY);
        text.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_file(place, bit % 2 ? KEYRING_FILE : KEYRING_COPY, buf_view(&text));
    }
    for (size_t len = 0; len < text.len; len++) {
        write_file(place, KEYRING_FILE, slice_of(text.ptr, len));
        assert_true(open_ring(place, &one, &found, &uneven, error));
        assert_true(uneven);
    }
    assert_int_equal(unlinkat(place->fd, KEYRING_COPY, 0), 0);
    assert_false(open_ring(place, &one, &found, &uneven, error));
    assert_non_null(strstr(error, "both KEYS and KEYS.copy in it are missing or damaged"));
    buf_release(&text);
}

// A change of the master key that was interrupted between the two files.
static void either_key_opens_after_half_a_change(void **state)
{
    struct place *place = *state;
    char error[400];
    bool uneven = false;
    struct buf before;
    struct keyring found;
    struct keyring ring = make_ring(place, 1);
    read_file(place, KEYRING_FILE, &before);
    assert_true(keyring_write(&ring, &other, place->fd));
    assert_true(open_ring(place, &other, &found, &uneven, error));
    assert_false(uneven);
    assert_false(open_ring(place, &one, &found, &uneven, error));
    write_file(place, KEYRING_FILE, buf_view(&before));
    for (int turn = 0; turn < 2; turn++) {
        assert_true(open_ring(place, turn == 0 ? &one : &other, &found, &uneven, error));
        assert_true(uneven);
        assert_memory_equal(&found.keys[0].key, &ring.keys[0].key, CRYPT_KEY);
    }
    assert_true(keyring_write(&found, &other, place->fd));
    assert_false(open_ring(place, &one, &found, &uneven, error));
    buf_release(&before);
}

// A new data key that is in one of the two files is not lost.
static void the_newer_file_counts(void **state)
{
    struct place *place = *state;
    char error[400];
    bool uneven = false;
    struct buf before;
    struct keyring found;
    struct keyring ring = make_ring(place, 1);
    read_file(place, KEYRING_FILE, &before);
    assert_true(keyring_add(&ring, 5));
    assert_true(keyring_write(&ring, &one, place->fd));
    static const char *const names[] = {KEYRING_FILE, KEYRING_COPY};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        write_file(place, names[i], buf_view(&before));
        assert_true(open_ring(place, &one, &found, &uneven, error));
        assert_true(uneven);
        assert_int_equal(found.count, 2);
        assert_true(keyring_write(&found, &one, place->fd));
    }
    buf_release(&before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(reads_what_was_written), TEST(names_the_key_that_is_needed),
        TEST(one_file_is_enough),     TEST(either_key_opens_after_half_a_change),
        TEST(the_newer_file_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
