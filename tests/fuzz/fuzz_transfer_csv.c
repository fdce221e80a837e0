// CSV: records that are items or have a reason; and items that are written come back.
//
// Input: a byte for the delimiter and the options, then the file.
#include "transfer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {',', '\t', ':', ';', '|', ' '};
    struct slice in = slice_of(data, size);
    uint8_t choice = fuzz_byte(&in);
    const struct key_part typed[] = {{SLICE_LIT("n"), VALUE_N}, {SLICE_LIT("b"), VALUE_B}};
    const struct slice header[] = {SLICE_LIT("n"), SLICE_LIT("b"), SLICE_LIT("c")};
    struct item_reader_options options = {
        .format = TRANSFER_CSV,
        .delimiter = (uint8_t)delimiters[choice % sizeof(delimiters)],
        .header_count = (choice & 0x40) != 0 ? 3 : 0,
        .header = header,
        .typed_count = 2,
        .typed = typed,
        .empty_is_absent = (choice & 0x80) != 0,
    };
    (void)fuzz_transfer(in, &options);
    return 0;
}
