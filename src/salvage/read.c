// See read.h. RocksDB does not tell where the next block begins, so it is searched for: a
// seek fails exactly for the keys of the block that cannot be read. Keys are taken for large
// numbers; from the last key that was read on, the steps double until a seek succeeds, and are
// halved again until the first key behind the damage is known.
#include "salvage/read.h"

#include "store/store.h"

#include <stdio.h>

enum { TARGET_MAX = STORE_KEY_MAX, TARGET_MORE = 4 };

void salvage_read_init(struct salvage_read *read, rocksdb_iterator_t *(*make)(void *context),
                       void *context)
{
    *read = (struct salvage_read){.make = make, .context = context, .iterator = make(context)};
    buf_init(&read->last, 1 << 20);
    buf_init(&read->from, 1 << 20);
}

void salvage_read_release(struct salvage_read *read)
{
    rocksdb_iter_destroy(read->iterator);
    buf_release(&read->last);
    buf_release(&read->from);
}

// ---- Keys as numbers ----------------------------------------------------------------------------

struct target {
    size_t len;
    uint8_t bytes[TARGET_MAX + TARGET_MORE];
};

// target + 2^bit; false if that is beyond all keys.
static bool target_step(const struct target *from, size_t bit, struct target *out)
{
    out->len = from->len;
    memcpy(out->bytes, from->bytes, from->len);
    size_t at = from->len - 1 - bit / 8;
    unsigned carry = 1u << bit % 8;
    for (size_t i = at + 1; i-- > 0 && carry > 0;) {
        unsigned sum = out->bytes[i] + carry;
        out->bytes[i] = (uint8_t)sum;
        carry = sum >> 8;
    }
    return carry == 0;
}

// ---- Reading ------------------------------------------------------------------------------------

// Whether the iterator is well: on a key, or at the end.
static bool is_well(struct salvage_read *read)
{
    char *message = NULL;
    if (rocksdb_iter_valid(read->iterator))
        return true;
    rocksdb_iter_get_error(read->iterator, &message);
    if (message == NULL)
        return true;
    if (read->fault[0] == 0)
        (void)snprintf(read->fault, sizeof(read->fault), "%s", message);
    rocksdb_free(message);
    return false;
}

static bool seek(struct salvage_read *read, const struct target *target)
{
    rocksdb_iter_destroy(read->iterator);
    read->iterator = read->make(read->context);
    rocksdb_iter_seek(read->iterator, (const char *)target->bytes, target->len);
    return is_well(read);
}

// To the first key that can be read behind the damage that follows `read->last`.
static void skip(struct salvage_read *read)
{
    struct target low;
    struct target high;
    struct target middle;
    size_t kept = read->last.len < TARGET_MAX ? read->last.len : TARGET_MAX;
    memset(low.bytes, 0, sizeof(low.bytes));
    if (kept > 0)
        memcpy(low.bytes, read->last.ptr, kept);
    low.len = kept + TARGET_MORE;
    size_t bits = 8 * low.len;
    size_t bit = 0;
    bool inside = target_step(&low, 0, &high);
    while (inside && !seek(read, &high))
        inside = ++bit < bits && target_step(&low, bit, &high);
    if (!inside) {
        // Nothing behind it can be read.
        high.len = sizeof(high.bytes);
        memset(high.bytes, 0xff, high.len);
        (void)seek(read, &high);
        return;
    }
    // It failed half a step before.
    while (bit-- > 0) {
        if (target_step(&low, bit, &middle) && memcmp(middle.bytes, high.bytes, low.len) < 0) {
            struct target *end = seek(read, &middle) ? &high : &low;
            memcpy(end->bytes, middle.bytes, middle.len);
        }
    }
    (void)seek(read, &high);
}

static bool settle(struct salvage_read *read)
{
    read->skipped = !is_well(read);
    if (read->skipped) {
        buf_clear(&read->from);
        buf_slice(&read->from, buf_view(&read->last));
        skip(read);
    }
    if (!rocksdb_iter_valid(read->iterator))
        return false;
    buf_clear(&read->last);
    buf_slice(&read->last, salvage_read_key(read));
    return true;
}

bool salvage_read_first(struct salvage_read *read, struct slice after)
{
    struct buf behind;
    read->fault[0] = 0;
    buf_clear(&read->last);
    buf_slice(&read->last, after);
    buf_init(&behind, 1 << 20);
    buf_slice(&behind, after);
    buf_byte(&behind, 0);
    rocksdb_iter_seek(read->iterator, (const char *)behind.ptr, after.len == 0 ? 0 : behind.len);
    buf_release(&behind);
    return settle(read);
}

bool salvage_read_next(struct salvage_read *read)
{
    read->fault[0] = 0;
    rocksdb_iter_next(read->iterator);
    return settle(read);
}

struct slice salvage_read_key(const struct salvage_read *read)
{
    size_t len;
    const char *key = rocksdb_iter_key(read->iterator, &len);
    return slice_of(key, len);
}

struct slice salvage_read_value(const struct salvage_read *read)
{
    size_t len;
    const char *value = rocksdb_iter_value(read->iterator, &len);
    return slice_of(value, len);
}
