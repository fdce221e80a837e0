// Ion text: a value that is well-formed, or a reason; what was read is written and read back the
// same.
//
// Input: the text.
#include "fuzz.h"

#include "transfer/ion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = fuzz_copy(slice_of(data, size));
    struct buf bytes;
    struct buf again;
    struct buf written;
    struct value_builder builder;
    bool empty = false;
    buf_init(&bytes, FUZZ_BUDGET);
    buf_init(&again, FUZZ_BUDGET);
    buf_init(&written, FUZZ_BUDGET);
    value_builder_init(&builder, &bytes);
    const char *fault = ion_read(text, &builder, &empty);
    if (fault == NULL && !empty) {
        ensure(value_valid(buf_view(&bytes)));
        ion_write(&written, buf_view(&bytes));
        struct value_builder second;
        value_builder_init(&second, &again);
        ensure(ion_read(buf_view(&written), &second, &empty) == NULL && !empty);
        ensure(slice_equal(buf_view(&again), buf_view(&bytes)));
        value_builder_release(&second);
    }
    value_builder_release(&builder);
    buf_release(&bytes);
    buf_release(&again);
    buf_release(&written);
    fuzz_free(text);
    return 0;
}
