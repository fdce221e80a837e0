// All other formats, compressed or not: records that are items or have a reason, in bounded memory.
//
// Input: a byte for the format, then the file.
#include "transfer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    enum transfer_format format = (enum transfer_format)(fuzz_byte(&in) % TRANSFER_FORMATS);
    struct item_reader_options options = {.format = format, .compression = TRANSFER_GUESS};
    (void)fuzz_transfer(in, &options);
    return 0;
}
