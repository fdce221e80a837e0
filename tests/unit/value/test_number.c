// Numbers: a golden table of texts, and properties of the stored form against a naive
// comparison of decimal digits and against 128-bit integers.
#include "value/support.h"

static void test_text_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        const char *out;
    } table[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.0", "0"},
        {"-0.00", "0"},
        {"0e125", "0"},
        {"0e-130", "0"},
        {"-0.0e126", "0"},
        {"1", "1"},
        {"+1", "1"},
        {"-1", "-1"},
        {"00012", "12"},
        {".5", "0.5"},
        {"5.", "5"},
        {"-.5", "-0.5"},
        {"1e5", "100000"},
        {"1E+5", "100000"},
        {"1e-5", "0.00001"},
        {"1e0005", "100000"},
        {"0.000001", "0.000001"},
        {"-1.50", "-1.5"},
        {"10", "10"},
        {"100", "100"},
        {"101", "101"},
        {"1000.001", "1000.001"},
        {"99.99", "99.99"},
        {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
        {"1234567890123456789012345678901234567.8", "1234567890123456789012345678901234567.8"},
        {"1234567890123456789012345678901234567800", "1234567890123456789012345678901234567800"},
        {"0.00012345678901234567890123456789012345678",
         "0.00012345678901234567890123456789012345678"},
        {"-12345678901234567890123456789012345678", "-12345678901234567890123456789012345678"},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct stored stored = stored_number(table[i].in);
        assert_true(number_valid(stored_view(&stored)));
        char text[NUMBER_TEXT_MAX];
        size_t len = number_to_text(stored_view(&stored), text);
        assert_slice(slice_of(text, len), table[i].out);
    }
}

// The ends of the range are answered in full, without an exponent.
static void test_text_extremes(void **state)
{
    (void)state;
    char text[NUMBER_TEXT_MAX];
    struct stored stored = stored_number("1E-130");
    assert_int_equal(number_to_text(stored_view(&stored), text), 132);
    assert_memory_equal(text, "0.0000", 6);
    assert_memory_equal(text + 128, "0001", 4);
    stored = stored_number("9.9999999999999999999999999999999999999E+125");
    assert_int_equal(number_to_text(stored_view(&stored), text), 126);
    assert_memory_equal(text, "99999999999999999999999999999999999999000", 41);
    stored = stored_number("-1.2345678901234567890123456789012345678e-130");
    assert_int_equal(number_to_text(stored_view(&stored), text), 3 + 129 + 38);
    stored = stored_number("-1e125");
    assert_int_equal(number_to_text(stored_view(&stored), text), 127);
}

static void test_text_refused(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        enum number_status status;
    } table[] = {
        {"", NUMBER_SYNTAX},
        {".", NUMBER_SYNTAX},
        {"+", NUMBER_SYNTAX},
        {"-", NUMBER_SYNTAX},
        {"e5", NUMBER_SYNTAX},
        {"1e", NUMBER_SYNTAX},
        {"1e+", NUMBER_SYNTAX},
        {"1e5.", NUMBER_SYNTAX},
        {".e1", NUMBER_SYNTAX},
        {" 1", NUMBER_SYNTAX},
        {"1 ", NUMBER_SYNTAX},
        {"1_0", NUMBER_SYNTAX},
        {"0x10", NUMBER_SYNTAX},
        {"NaN", NUMBER_SYNTAX},
        {"Infinity", NUMBER_SYNTAX},
        {"1f", NUMBER_SYNTAX},
        {"+-1", NUMBER_SYNTAX},
        {"--1", NUMBER_SYNTAX},
        {"1.2.3", NUMBER_SYNTAX},
        {"1,5", NUMBER_SYNTAX},
        {"1e99999999999", NUMBER_SYNTAX},
        {"1e2147483648", NUMBER_SYNTAX},
        {"1e2147483646", NUMBER_OVERFLOW},
        {"1e2147483647", NUMBER_UNDERFLOW},
        {"10e2147483646", NUMBER_UNDERFLOW},
        {"0.1e-2147483647", NUMBER_SYNTAX},
        {"0e126", NUMBER_OVERFLOW},
        {"0e-131", NUMBER_UNDERFLOW},
        {"0.0e-130", NUMBER_UNDERFLOW},
        {"1e126", NUMBER_OVERFLOW},
        {"100e124", NUMBER_OVERFLOW},
        {"-1e126", NUMBER_OVERFLOW},
        {"1e-131", NUMBER_UNDERFLOW},
        {"-0.1e-130", NUMBER_UNDERFLOW},
        {"1e-2147483647", NUMBER_UNDERFLOW},
        {"123456789012345678901234567890123456789", NUMBER_PRECISION},
        {"9.99999999999999999999999999999999999999E+125", NUMBER_PRECISION},
        {"0.100000000000000000000000000000000000001", NUMBER_PRECISION},
        {"1.00000000000000000000000000000000000000001e126", NUMBER_OVERFLOW},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        uint8_t out[NUMBER_BYTES_MAX];
        size_t len = 77;
        assert_int_equal(number_from_text(slice_str(table[i].in), out, &len), table[i].status);
        assert_int_equal(len, 77);
    }
}

// The newer layer of the service reads exponents of 64 bits.
static void test_text_judged_wide(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        enum number_status status;
    } table[] = {
        {"", NUMBER_SYNTAX},
        {"1e", NUMBER_SYNTAX},
        {"1e2147483647", NUMBER_OVERFLOW},
        {"1e99999999999", NUMBER_OVERFLOW},
        {"-1e-99999999999", NUMBER_UNDERFLOW},
        {"0e99999999999", NUMBER_OVERFLOW},
        {"1e9223372036854775807", NUMBER_OVERFLOW},
        {"1e-9223372036854775807", NUMBER_UNDERFLOW},
        {"1e9223372036854775808", NUMBER_SYNTAX},
        {"1e-99999999999999999999", NUMBER_SYNTAX},
        {"123456789012345678901234567890123456789", NUMBER_PRECISION},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        uint8_t out[NUMBER_BYTES_MAX];
        size_t len;
        enum number_status status = number_from_text(slice_str(table[i].in), out, &len);
        assert_int_not_equal(status, NUMBER_OK);
        assert_int_equal(number_judge_wide(slice_str(table[i].in), status), table[i].status);
    }
}

// The bytes themselves are fixed: they are on disk and go into the Scan order.
static void test_stored_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        uint8_t len;
        uint8_t bytes[4];
    } table[] = {
        {"0", 1, {0x80}},
        {"1", 2, {0xc1, 2}},
        {"-1", 3, {0x3e, 100, 102}},
        {"10", 2, {0xc1, 11}},
        {"100", 2, {0xc2, 2}},
        {"12.5", 3, {0xc1, 13, 51}},
        {"-12.5", 4, {0x3e, 89, 51, 102}},
        {"0.01", 2, {0xc0, 2}},
        {"0.001", 2, {0xbf, 11}},
        {"1e-130", 2, {0x80, 2}},
        {"9e125", 2, {0xff, 91}},
        {"-9e125", 3, {0x00, 11, 102}},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct stored stored = stored_number(table[i].in);
        assert_same(stored_view(&stored), slice_of(table[i].bytes, table[i].len));
    }
}

// A random number as sign, digits (no leading zero) and exponent of the last digit.
struct naive {
    bool negative;
    int exponent;
    char digits[40];
};

static struct naive naive_random(uint64_t *seed)
{
    struct naive naive = {.negative = random_below(seed, 2) == 1};
    size_t count = 1 + random_below(seed, random_below(seed, 2) ? 38 : 3);
    for (size_t i = 0; i < count; i++)
        naive.digits[i] = (char)('0' + random_below(seed, 10));
    if (naive.digits[0] == '0')
        naive.digits[0] = (char)('1' + random_below(seed, 9));
    int span = random_below(seed, 2) ? 4 : 120;
    naive.exponent = (int)random_below(seed, (size_t)span) - span / 2 - (int)count / 2;
    return naive;
}

static struct stored naive_stored(const struct naive *naive)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%s%se%d", naive->negative ? "-" : "", naive->digits,
                   naive->exponent);
    return stored_number(text);
}

static int naive_compare(const struct naive *a, const struct naive *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int sign = a->negative ? -1 : 1;
    int a_top = a->exponent + (int)strlen(a->digits);
    int b_top = b->exponent + (int)strlen(b->digits);
    if (a_top != b_top)
        return a_top < b_top ? -sign : sign;
    for (size_t i = 0; i < 40; i++) {
        char x = i < strlen(a->digits) ? a->digits[i] : '0';
        char y = i < strlen(b->digits) ? b->digits[i] : '0';
        if (x != y)
            return x < y ? -sign : sign;
    }
    return 0;
}

static int sign_of(int order)
{
    return (order > 0) - (order < 0);
}

static void test_order(void **state)
{
    (void)state;
    uint64_t seed = 42;
    struct stored zero = stored_number("0");
    for (int i = 0; i < 40000; i++) {
        struct naive a = naive_random(&seed);
        struct naive b = naive_random(&seed);
        if (random_below(&seed, 3) == 0) {
            // Neighbours: the same number but for its last digits, or its sign.
            b = a;
            b.digits[strlen(b.digits) - 1] = (char)('1' + random_below(&seed, 9));
            b.negative ^= random_below(&seed, 8) == 0;
        }
        struct stored x = naive_stored(&a);
        struct stored y = naive_stored(&b);
        assert_true(number_valid(stored_view(&x)));
        int order = slice_compare(stored_view(&x), stored_view(&y));
        assert_int_equal(sign_of(order), naive_compare(&a, &b));
        assert_int_equal(sign_of(slice_compare(stored_view(&x), stored_view(&zero))),
                         a.negative ? -1 : 1);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        struct naive naive = naive_random(&seed);
        struct stored stored = naive_stored(&naive);
        char text[NUMBER_TEXT_MAX];
        size_t len = number_to_text(stored_view(&stored), text);
        struct stored again = {.len = 0};
        assert_int_equal(number_from_text(slice_of(text, len), again.bytes, &again.len), NUMBER_OK);
        assert_same(stored_view(&stored), stored_view(&again));
    }
}

static void test_integers(void **state)
{
    (void)state;
    static const int64_t edges[] = {0,   1,     -1,        9,         10,           99,
                                    100, -100,  1000000,   INT32_MAX, INT64_MAX,    INT64_MIN,
                                    -99, 12345, 123456789, -10,       INT64_MAX - 7};
    uint64_t seed = 3;
    for (size_t i = 0; i < 5000; i++) {
        int64_t value =
            i < COUNT_OF(edges) ? edges[i] : (int64_t)random_next(&seed) >> random_below(&seed, 63);
        uint8_t out[NUMBER_BYTES_MAX];
        size_t len = number_from_i64(value, out);
        char text[32];
        (void)snprintf(text, sizeof(text), "%lld", (long long)value);
        struct stored stored = stored_number(text);
        assert_same(slice_of(out, len), stored_view(&stored));
        int64_t back = 0;
        assert_true(number_to_i64(slice_of(out, len), &back));
        assert_true(back == value);
    }
    static const char *const none[] = {"0.5",  "1e-130", "9223372036854775808",
                                       "1e19", "1e125",  "-9223372036854775809",
                                       "-1.5", "1e20"};
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        struct stored stored = stored_number(none[i]);
        int64_t back = 0;
        assert_false(number_to_i64(stored_view(&stored), &back));
    }
}

// Scaled integers: a × 10^-s + b × 10^-s must be (a + b) × 10^-s.
static struct stored scaled(__int128 value, int scale)
{
    char digits[48];
    size_t at = sizeof(digits);
    unsigned __int128 rest = value < 0 ? (unsigned __int128)-value : (unsigned __int128)value;
    do {
        digits[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest != 0);
    char text[80];
    (void)snprintf(text, sizeof(text), "%s%.*se%d", value < 0 ? "-" : "",
                   (int)(sizeof(digits) - at), digits + at, -scale);
    return stored_number(text);
}

static void test_arithmetic_against_integers(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        __int128 a = (__int128)(int64_t)random_next(&seed) >> random_below(&seed, 60);
        __int128 b = (__int128)(int64_t)random_next(&seed) >> random_below(&seed, 60);
        if (random_below(&seed, 4) == 0)
            b = -a;
        if (random_below(&seed, 3) == 0)
            a *= 100000000000000000;
        int scale = (int)random_below(&seed, 40) - 20;
        struct stored x = scaled(a, scale);
        struct stored y = scaled(b, scale);
        struct stored sum = {.len = 0};
        assert_int_equal(number_add(stored_view(&x), stored_view(&y), sum.bytes, &sum.len),
                         NUMBER_OK);
        struct stored expected = scaled(a + b, scale);
        assert_same(stored_view(&sum), stored_view(&expected));
        assert_int_equal(number_subtract(stored_view(&x), stored_view(&y), sum.bytes, &sum.len),
                         NUMBER_OK);
        expected = scaled(a - b, scale);
        assert_same(stored_view(&sum), stored_view(&expected));
    }
}

// (a × 10^-s) × (b × 10^-t) must be a × b × 10^-(s + t).
static void test_products_against_integers(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < 20000; i++) {
        __int128 a = (__int128)(int64_t)random_next(&seed) >> random_below(&seed, 64);
        __int128 b = (__int128)(int64_t)random_next(&seed) >> random_below(&seed, 64);
        int s = (int)random_below(&seed, 40) - 20;
        int t = (int)random_below(&seed, 40) - 20;
        struct stored x = scaled(a, s);
        struct stored y = scaled(b, t);
        struct stored product = {.len = 0};
        assert_int_equal(
            number_multiply(stored_view(&x), stored_view(&y), product.bytes, &product.len),
            NUMBER_OK);
        struct stored expected = scaled(a * b, s + t);
        assert_same(stored_view(&product), stored_view(&expected));
    }
}

static void test_products_table(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        enum number_status status;
        const char *product;
    } cases[] = {
        {"0", "5", NUMBER_OK, "0"},
        {"-0.5", "0", NUMBER_OK, "0"},
        {"-1.5", "-2", NUMBER_OK, "3"},
        {"0.2", "0.3", NUMBER_OK, "0.06"},
        {"99999999999999999999999999999999999999", "1", NUMBER_OK,
         "99999999999999999999999999999999999999"},
        {"9999999999999999999", "9999999999999999999", NUMBER_OK,
         "99999999999999999980000000000000000001"},
        {"99999999999999999999", "99999999999999999999", NUMBER_PRECISION, NULL},
        {"99999999999999999999999999999999999999", "11", NUMBER_PRECISION, NULL},
        {"1e70", "1e55", NUMBER_OK, "1e125"},
        {"1e70", "1e56", NUMBER_OVERFLOW, NULL},
        {"9e70", "9e55", NUMBER_OVERFLOW, NULL},
        {"1e-70", "1e-60", NUMBER_OK, "1e-130"},
        {"1e-70", "1e-61", NUMBER_UNDERFLOW, NULL},
        {"5e-66", "2e-65", NUMBER_OK, "1e-130"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stored x = stored_number(cases[i].a);
        struct stored y = stored_number(cases[i].b);
        struct stored product = {.len = 0};
        assert_int_equal(
            number_multiply(stored_view(&x), stored_view(&y), product.bytes, &product.len),
            cases[i].status);
        if (cases[i].product == NULL)
            continue;
        struct stored expected = stored_number(cases[i].product);
        assert_same(stored_view(&product), stored_view(&expected));
    }
}

static void test_arithmetic_table(void **state)
{
    (void)state;
    static const char nines[] = "99999999999999999999999999999999999999";
    static const struct {
        const char *a;
        const char *b;
        enum number_status status;
        const char *sum;
    } table[] = {
        {nines, "0.1", NUMBER_PRECISION, NULL},
        {nines, "1", NUMBER_OK, "1e38"},
        {"1e38", "0.5", NUMBER_PRECISION, NULL},
        {"1e38", "1", NUMBER_PRECISION, NULL},
        {"1e38", "-1", NUMBER_OK, nines},
        {"-1e38", "1", NUMBER_OK, "-99999999999999999999999999999999999999"},
        {"1.9e38", "-1", NUMBER_PRECISION, NULL},
        {"2e38", "-1", NUMBER_PRECISION, NULL},
        {"9e38", "1", NUMBER_PRECISION, NULL},
        {"1e39", "-1", NUMBER_PRECISION, NULL},
        {"1e39", "-10", NUMBER_OK, "999999999999999999999999999999999999990"},
        {"1e100", "1e-100", NUMBER_PRECISION, NULL},
        {"1e100", "0", NUMBER_OK, "1e100"},
        {"0", "1e-130", NUMBER_OK, "1e-130"},
        {"0", "0", NUMBER_OK, "0"},
        {"9e125", "9e125", NUMBER_OVERFLOW, NULL},
        {"9e125", "-9e125", NUMBER_OK, "0"},
        {"9.9999999999999999999999999999999999999E+125", "1e88", NUMBER_OVERFLOW, NULL},
        {"9.9999999999999999999999999999999999999E+125", "-1e88", NUMBER_OK,
         "9.9999999999999999999999999999999999998E+125"},
        {"1.1e-130", "1e-130", NUMBER_OK, "2.1e-130"},
        {"1.1e-130", "-1e-130", NUMBER_UNDERFLOW, NULL},
        {"1.1e-129", "-1e-129", NUMBER_OK, "1e-130"},
        {"0.1", "0.2", NUMBER_OK, "0.3"},
        {"-5", "5.5", NUMBER_OK, "0.5"},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct stored a = stored_number(table[i].a);
        struct stored b = stored_number(table[i].b);
        for (int swap = 0; swap < 2; swap++) {
            struct stored sum = {.len = 0};
            enum number_status status =
                swap ? number_add(stored_view(&b), stored_view(&a), sum.bytes, &sum.len)
                     : number_add(stored_view(&a), stored_view(&b), sum.bytes, &sum.len);
            assert_int_equal(status, table[i].status);
            if (status == NUMBER_OK) {
                struct stored expected = stored_number(table[i].sum);
                assert_same(stored_view(&sum), stored_view(&expected));
            }
        }
    }
}

static void test_size(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t size;
    } table[] = {
        {"0", 1},
        {"1", 2},
        {"-1", 3},
        {"100", 2},
        {"123", 3},
        {"-123", 4},
        {"1.5", 3},
        {"0.01", 2},
        {"12.34", 3},
        {"1e125", 2},
        {"12345678901234567890123456789012345678", 20},
        {"-12345678901234567890123456789012345678", 21},
        {"1234567890123456789012345678901234567.8", 21},
        {"-1234567890123456789012345678901234567.8", 22},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct stored stored = stored_number(table[i].in);
        assert_int_equal(number_size(stored_view(&stored)), table[i].size);
    }
}

// Bytes that pass for valid are exactly those that a text gives back.
static void test_valid_is_canonical(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 60000; i++) {
        struct naive naive = naive_random(&seed);
        struct stored stored = naive_stored(&naive);
        for (size_t change = random_below(&seed, 3); change > 0; change--)
            stored.bytes[random_below(&seed, stored.len)] = (uint8_t)random_next(&seed);
        if (random_below(&seed, 4) == 0)
            stored.len = random_below(&seed, NUMBER_BYTES_MAX + 1);
        uint8_t *exact = malloc(stored.len == 0 ? 1 : stored.len);
        memcpy(exact, stored.bytes, stored.len);
        struct slice bytes = slice_of(exact, stored.len);
        if (number_valid(bytes)) {
            char text[NUMBER_TEXT_MAX];
            size_t len = number_to_text(bytes, text);
            struct stored again = {.len = 0};
            assert_int_equal(number_from_text(slice_of(text, len), again.bytes, &again.len),
                             NUMBER_OK);
            assert_same(bytes, stored_view(&again));
        }
        free(exact);
    }
}

// Short texts have a way of their own; an exponent sends the same number the long way.
static void test_short_texts(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (int round = 0; round < 20000; round++) {
        char text[32];
        char longer[40];
        size_t len = 0;
        if (random_below(&seed, 3) == 0)
            text[len++] = '-';
        size_t digits = 1 + random_below(&seed, 17 - len);
        size_t point = random_below(&seed, 2) == 0 ? digits : random_below(&seed, digits);
        for (size_t i = 0; i < digits; i++) {
            if (i == point)
                text[len++] = '.';
            text[len++] = "0000123456789"[random_below(&seed, 13)];
        }
        text[len] = 0;
        (void)snprintf(longer, sizeof(longer), "%se0", text);
        struct stored a = stored_number(text);
        struct stored b = stored_number(longer);
        assert_true(number_valid(stored_view(&a)));
        assert_same(stored_view(&a), stored_view(&b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_texts),
        cmocka_unit_test(test_text_accepted),
        cmocka_unit_test(test_text_extremes),
        cmocka_unit_test(test_text_refused),
        cmocka_unit_test(test_text_judged_wide),
        cmocka_unit_test(test_stored_bytes),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_arithmetic_against_integers),
        cmocka_unit_test(test_products_against_integers),
        cmocka_unit_test(test_products_table),
        cmocka_unit_test(test_arithmetic_table),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_valid_is_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
