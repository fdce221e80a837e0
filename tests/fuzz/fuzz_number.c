// Numbers: text to the stored form and back, order and arithmetic, all against the naive decimals
// of decimal.h; and stored forms out of nowhere.
//
// Input: two lines of decimal text. The whole input is also tried as a stored form.
#include "fuzz.h"

#include "decimal.h"

struct number {
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
};

static struct slice view(const struct number *number)
{
    return slice_of(number->bytes, number->len);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

// The stored form means the same as the naive decimal, and its text reads back.
static void check_stored(struct slice stored, const struct decimal *naive)
{
    ensure(number_valid(stored) && stored.len < NUMBER_BYTES_MAX);
    ensure(number_size(stored) >= stored.len && number_size(stored) <= NUMBER_BYTES_MAX);
    char *text = malloc(NUMBER_TEXT_MAX);
    ensure(text != NULL);
    size_t len = number_to_text(stored, text);
    ensure(len > 0 && len <= NUMBER_TEXT_MAX && memchr(text, 'e', len) == NULL);
    struct number again;
    ensure(number_from_text(slice_of(text, len), again.bytes, &again.len) == NUMBER_OK);
    ensure(slice_equal(stored, view(&again)));
    struct decimal read;
    ensure(decimal_read(slice_of(text, len), &read) == NUMBER_OK);
    ensure(naive == NULL || decimal_compare(&read, naive) == 0);
    free(text);
    int64_t integer;
    if (number_to_i64(stored, &integer)) {
        again.len = number_from_i64(integer, again.bytes);
        ensure(slice_equal(stored, view(&again)));
    }
}

static bool check_text(struct slice text, struct number *number, struct decimal *naive)
{
    struct slice copy = fuzz_copy(text);
    enum number_status wanted = decimal_read(copy, naive);
    number->len = 0;
    enum number_status status = number_from_text(copy, number->bytes, &number->len);
    ensure(status == wanted);
    fuzz_free(copy);
    if (status != NUMBER_OK)
        return false;
    check_stored(view(number), naive);
    return true;
}

// The result, or the reason why there is none. A sum that is too large and too precise at once may
// be refused for either.
static void check_result(enum number_status status, const struct number *result,
                         const struct decimal *naive)
{
    bool precise;
    enum number_status wanted = decimal_fits(naive, &precise);
    ensure(status == wanted || (wanted != NUMBER_OK && status == NUMBER_PRECISION && !precise));
    if (status == NUMBER_OK)
        check_stored(view(result), naive);
}

static void check_pair(const struct number *a, const struct decimal *naive_a,
                       const struct number *b, struct decimal *naive_b)
{
    ensure(sign(slice_compare(view(a), view(b))) == decimal_compare(naive_a, naive_b));
    struct number result;
    struct decimal naive;
    enum number_status status = number_add(view(a), view(b), result.bytes, &result.len);
    decimal_add(naive_a, naive_b, &naive);
    check_result(status, &result, &naive);
    status = number_subtract(view(a), view(b), result.bytes, &result.len);
    naive_b->negative = !naive_b->negative;
    decimal_add(naive_a, naive_b, &naive);
    check_result(status, &result, &naive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    if (number_valid(in))
        check_stored(in, NULL);
    struct number a;
    struct number b;
    struct decimal naive_a;
    struct decimal naive_b;
    bool first = check_text(fuzz_line(&in), &a, &naive_a);
    if (check_text(fuzz_line(&in), &b, &naive_b) && first)
        check_pair(&a, &naive_a, &b, &naive_b);
    return 0;
}
