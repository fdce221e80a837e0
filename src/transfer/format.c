// The names of formats, from the one list in format.h.
#include "transfer/format.h"

static const struct {
    const char *name;
    const char *extension;
} formats[] = {
#define X(format, name, extension) {name, extension},
    TRANSFER_FORMAT_LIST(X)
#undef X
};

const char *transfer_format_name(enum transfer_format format)
{
    return formats[format].name;
}

const char *transfer_format_extension(enum transfer_format format)
{
    return formats[format].extension;
}

enum transfer_format transfer_format_from_name(const char *name)
{
    for (int i = 0; i < TRANSFER_FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return (enum transfer_format)i;
    }
    return TRANSFER_FORMATS;
}

const char *transfer_compression_extension(enum transfer_compression compression)
{
    return compression == TRANSFER_GZIP ? ".gz" : compression == TRANSFER_ZSTD ? ".zst" : "";
}
