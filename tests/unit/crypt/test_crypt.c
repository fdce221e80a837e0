// Sealed bytes are opened by the same key and context, unchanged, and by nothing else.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crypt/crypt.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct crypt_key key = {"0123456789abcdef0123456789abcde"};

static void opens_what_was_sealed(void **state)
{
    (void)state;
    for (size_t len = 0; len < 100; len += 7) {
        uint8_t plain[100];
        struct buf sealed;
        struct buf opened;
        memset(plain, (int)len, sizeof(plain));
        buf_init(&sealed, 1000);
        buf_init(&opened, 1000);
        crypt_seal(&key, SLICE_LIT("AKIA1"), slice_of(plain, len), &sealed);
        assert_int_equal(sealed.len, len + CRYPT_SEAL);
        assert_true(crypt_open(&key, SLICE_LIT("AKIA1"), buf_view(&sealed), &opened));
        assert_true(slice_equal(buf_view(&opened), slice_of(plain, len)));
        assert_false(crypt_open(&key, SLICE_LIT("AKIA2"), buf_view(&sealed), &opened));
        assert_int_equal(opened.len, len);
        buf_release(&sealed);
        buf_release(&opened);
    }
}

static void refuses_every_flipped_bit(void **state)
{
    (void)state;
    struct buf sealed;
    struct buf opened;
    buf_init(&sealed, 1000);
    buf_init(&opened, 1000);
    crypt_seal(&key, SLICE_LIT("c"), SLICE_LIT("secret"), &sealed);
    for (size_t bit = 0; bit < sealed.len * 8; bit++) {
        sealed.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(crypt_open(&key, SLICE_LIT("c"), buf_view(&sealed), &opened));
        sealed.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t len = 0; len < sealed.len; len++)
        assert_false(crypt_open(&key, SLICE_LIT("c"), slice_of(sealed.ptr, len), &opened));
    assert_int_equal(opened.len, 0);
    assert_true(crypt_open(&key, SLICE_LIT("c"), buf_view(&sealed), &opened));
    buf_release(&sealed);
    buf_release(&opened);
}

// The name is that of Python's hmac, by RFC 5869: keys that were derived once are derived again by
// every later version.
static void derives_by_purpose(void **state)
{
    (void)state;
    struct crypt_key log;
    struct crypt_key again;
    struct crypt_key tables;
    char name[CRYPT_NAME];
    crypt_key_derive(&key, "log", &log);
    crypt_key_derive(&key, "log", &again);
    crypt_key_derive(&key, "tables", &tables);
    assert_memory_equal(&log, &again, sizeof(log));
    assert_memory_not_equal(&log, &tables, sizeof(log));
    crypt_key_name(&key, name);
    assert_int_equal(strlen(name), CRYPT_NAME - 1);
    assert_string_equal(name, "05c40b887d18e33c");
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

#define DIGITS "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

static void reads_master_keys(void **state)
{
    (void)state;
    char directory[] = "/tmp/dolmen-crypt.XXXXXX";
    char path[64];
    char source[96];
    char error[256];
    struct crypt_key master;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/key", directory);
    (void)snprintf(source, sizeof(source), "file:%s", path);
    assert_false(crypt_master_read(source, &master, error, sizeof(error)));
    assert_non_null(strstr(error, "cannot be read"));
    write_file(path, " " DIGITS "\n", 0600);
    assert_true(crypt_master_read(source, &master, error, sizeof(error)));
    assert_int_equal(master.bytes[1], 0x11);
    assert_int_equal(master.bytes[31], 0xff);
    write_file(path, "ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=\n", 0400);
    assert_true(crypt_master_read(source, &master, error, sizeof(error)));
    assert_int_equal(master.bytes[31], 0xff);
    write_file(path, DIGITS, 0640);
    assert_false(crypt_master_read(source, &master, error, sizeof(error)));
    assert_non_null(strstr(error, "chmod 600"));
    static const char *const wrong[] = {"", "abc", DIGITS "0", "x" DIGITS};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        write_file(path, wrong[i], 0600);
        assert_false(crypt_master_read(source, &master, error, sizeof(error)));
        assert_non_null(strstr(error, "does not hold a master key"));
    }
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", directory, 1), 0);
    write_file(path, DIGITS, 0600);
    assert_true(crypt_master_read("credential:key", &master, error, sizeof(error)));
    assert_false(crypt_master_read("credential:../key", &master, error, sizeof(error)));
    assert_int_equal(setenv("DOLMEN_TEST_KEY", DIGITS, 1), 0);
    assert_true(crypt_master_read("env:DOLMEN_TEST_KEY", &master, error, sizeof(error)));
    assert_false(crypt_master_read("env:DOLMEN_TEST_NONE", &master, error, sizeof(error)));
    static const char *const sources[] = {"", "file:", DIGITS, "vault:x"};
    for (size_t i = 0; i < COUNT_OF(sources); i++)
        assert_false(crypt_master_read(sources[i], &master, error, sizeof(error)));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_what_was_sealed),
        cmocka_unit_test(refuses_every_flipped_bit),
        cmocka_unit_test(derives_by_purpose),
        cmocka_unit_test(reads_master_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
