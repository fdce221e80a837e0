// See promise.h.
#include "wal/promise.h"

#include "base/encode.h"
#include "store/store_driver.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROMISE_FILE "promise"
enum { PROMISE_BYTES = 4096 }; // a page, allocated and zero but for the values

// The value and its place go into the check, so that another value does not pass for it.
static uint64_t seal(enum promise_value which, uint64_t value)
{
    uint64_t mixed = (value ^ ((uint64_t)which + 1) << 48) * 0x9e3779b97f4a7c15u;
    return value << 16 | mixed >> 48;
}

static uint64_t unseal(enum promise_value which, uint64_t sealed)
{
    uint64_t value = sealed >> 16;
    return seal(which, value) == sealed ? value : 0;
}

static int open_file(const char *directory, int flags)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/" PROMISE_FILE, directory);
    return open(path, flags | O_CLOEXEC, 0666);
}

// Which start of the machine this is, in 48 bits; 0 if that cannot be found out.
static uint64_t boot_number(void)
{
    char text[64];
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text));
    if (file >= 0)
        (void)close(file);
    if (length <= 0)
        return 0;
    uint64_t high = crc32_of(slice_of(text, (size_t)length / 2));
    return (high << 16) ^ crc32_of(slice_of(text, (size_t)length));
}

void promise_read(const char *directory, uint64_t values[PROMISE_VALUES])
{
    uint64_t sealed[PROMISE_VALUES] = {0};
    int file = open_file(directory, O_RDONLY);
    if (file < 0 || pread(file, sealed, sizeof(sealed), 0) != (ssize_t)sizeof(sealed))
        memset(sealed, 0, sizeof(sealed));
    if (file >= 0)
        (void)close(file);
    for (int i = 0; i < PROMISE_VALUES; i++)
        values[i] = unseal((enum promise_value)i, sealed[i]);
    if (values[PROMISE_BOOT] == 0 || values[PROMISE_BOOT] != boot_number())
        values[PROMISE_APPENDED] = 0;
    if (values[PROMISE_APPENDED] > values[PROMISE_RECORDS])
        values[PROMISE_RECORDS] = values[PROMISE_APPENDED];
}

// Makes the file as long as it has to be, on disk, so that a store to it cannot fail.
static bool fill_up(int file)
{
    static const uint8_t zeros[PROMISE_BYTES];
    off_t length = lseek(file, 0, SEEK_END);
    if (length < 0 || length >= PROMISE_BYTES)
        return length >= 0;
    size_t missing = (size_t)(PROMISE_BYTES - length);
    return pwrite(file, zeros, missing, length) == (ssize_t)missing && fdatasync(file) == 0;
}

static bool fail_open(struct store_error *error, const char *directory)
{
    (void)store_fail_errno(error, "cannot open %s/" PROMISE_FILE, directory);
    size_t length = strlen(error->text);
    if (!error->no_room)
        (void)snprintf(error->text + length, sizeof(error->text) - length,
                       ". Let this user read and write it, and start again");
    return false;
}

bool promise_open(struct promise *promise, const char *directory, struct store_error *error)
{
    promise->file = open_file(directory, O_RDWR | O_CREAT);
    if (promise->file < 0)
        return fail_open(error, directory);
    void *map = MAP_FAILED;
    if (fill_up(promise->file))
        map = mmap(NULL, PROMISE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, promise->file, 0);
    if (map == MAP_FAILED) {
        (void)fail_open(error, directory);
        (void)close(promise->file);
        return false;
    }
    promise->values = map;
    return true;
}

void promise_begin(struct promise *promise)
{
    promise_set(promise, PROMISE_APPENDED, 0);
    promise_set(promise, PROMISE_BOOT, boot_number());
}

void promise_close(struct promise *promise)
{
    (void)munmap((void *)(uintptr_t)promise->values, PROMISE_BYTES);
    (void)close(promise->file);
}

uint64_t promise_get(const struct promise *promise, enum promise_value which)
{
    return unseal(which, promise->values[which]);
}

void promise_set(struct promise *promise, enum promise_value which, uint64_t value)
{
    promise->values[which] = seal(which, value);
}

bool promise_sync(struct promise *promise, struct store_error *error)
{
    return fdatasync(promise->file) == 0 ||
           store_fail_errno(error, "syncing the log's promise failed");
}
