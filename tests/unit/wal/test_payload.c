// Payloads of the log: what is packed comes back, and what is damaged is refused.
#include "store/fixture.h"

#include "wal/payload.h"

enum { VALUES = 60, VALUE_MAX = 2000 };

// A batch as far as the packer is concerned: a zero, then values with something between them.
struct made {
    struct buf bytes;
    size_t repeated; // bytes of values that are those of the one before
};

static void make(struct made *made, struct log_packer *packer, uint64_t *seed)
{
    static uint8_t values[VALUES][VALUE_MAX];
    buf_init(&made->bytes, 1 << 20);
    made->repeated = 0;
    log_packer_begin(packer);
    buf_add(&made->bytes, "\0\0\0\0\0\0\0\0head", 12);
    size_t length = 0;
    for (size_t i = 0; i < VALUES; i++) {
        bool again = i > 0 && random_below(seed, 3) > 0;
        if (again) {
            memcpy(values[i], values[i - 1], length);
        } else {
            length = random_below(seed, VALUE_MAX);
            for (size_t k = 0; k < length; k++)
                values[i][k] = (uint8_t)random_next(seed);
        }
        buf_text(&made->bytes, "key");
        buf_add(&made->bytes, values[i], length);
        log_packer_value(packer, slice_of(values[i], length), made->bytes.len);
        made->repeated += again && length >= 128 ? length : 0;
    }
    buf_text(&made->bytes, "end");
}

static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct log_packer packer;
    struct log_packer other;
    log_packer_init(&packer);
    log_packer_init(&other);
    for (size_t i = 0; i < 300; i++) {
        struct made made;
        make(&made, &packer, &seed);
        struct slice batch = buf_view(&made.bytes);
        struct slice payload = log_pack(&packer, batch);
        struct slice back;
        assert_in_range(payload.len, 12, batch.len - made.repeated + (size_t)VALUES * 12);
        assert_true(log_unpack(&other, payload, &back));
        assert_true(slice_equal(back, batch));
        buf_release(&made.bytes);
    }
    log_packer_release(&packer);
    log_packer_release(&other);
}

// Whatever a packed payload is damaged to is refused or unpacked, within its bounds.
static void test_damage(void **state)
{
    (void)state;
    uint64_t seed = 9;
    struct log_packer packer;
    struct log_packer other;
    log_packer_init(&packer);
    log_packer_init(&other);
    struct made made;
    make(&made, &packer, &seed);
    struct slice payload = log_pack(&packer, buf_view(&made.bytes));
    struct slice back;
    for (size_t length = 0; length < payload.len; length++) {
        uint8_t *exact = malloc(length + 1); // for the address sanitizer
        assert_non_null(exact);
        memcpy(exact, payload.ptr, length);
        if (log_unpack(&other, slice_of(exact, length), &back))
            assert_true(back.len < made.bytes.len);
        free(exact);
    }
    for (size_t i = 0; i < 5000; i++) {
        uint8_t *at = packer.out.ptr + 1 + random_below(&seed, (unsigned)payload.len - 1);
        uint8_t was = *at;
        *at = (uint8_t)random_next(&seed);
        (void)!log_unpack(&other, payload, &back);
        *at = was;
    }
    buf_release(&made.bytes);
    log_packer_release(&packer);
    log_packer_release(&other);
}

static void test_no_payload(void **state)
{
    (void)state;
    struct log_packer packer;
    struct slice batch;
    log_packer_init(&packer);
    assert_false(log_unpack(&packer, slice_of(NULL, 0), &batch));
    assert_false(log_unpack(&packer, SLICE_LIT("Z"), &batch));
    assert_false(log_unpack(&packer, SLICE_LIT("Z\x05"), &batch));
    assert_false(log_unpack(&packer, SLICE_LIT("Z\x01x\x02\x01"), &batch));
    assert_false(log_unpack(&packer, SLICE_LIT("Z\x01x\x00\x02"), &batch));
    assert_false(
        log_unpack(&packer, SLICE_LIT("Z\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), &batch));
    assert_true(log_unpack(&packer, SLICE_LIT("Z\x01x\x00\x01"), &batch));
    assert_true(slice_equal(batch, SLICE_LIT("xx")));
    // A batch without copies is its own payload.
    log_packer_begin(&packer);
    struct slice plain = SLICE_LIT("\0\0\0\0\0\0\0\0batch");
    log_packer_value(&packer, slice_of(plain.ptr + 8, 5), 13);
    assert_ptr_equal(log_pack(&packer, plain).ptr, plain.ptr);
    log_packer_release(&packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
