// The names of formats, from the one list in format.h.
#include "transfer/format.h"

static const char *const names[] = {
#define X(format, name, extension) name,
    TRANSFER_FORMAT_LIST(X)
#undef X
};

static const char *const extensions[] = {
#define X(format, name, extension) extension,
    TRANSFER_FORMAT_LIST(X)
#undef X
};

const char *transfer_format_name(enum transfer_format format)
{
    return names[format];
}

const char *transfer_format_extension(enum transfer_format format)
{
    return extensions[format];
}

enum transfer_format transfer_format_from_name(const char *name)
{
    for (int i = 0; i < TRANSFER_FORMATS; i++) {
        if (strcmp(names[i], name) == 0)
            return (enum transfer_format)i;
    }
    return TRANSFER_FORMATS;
}

const char *transfer_compression_extension(enum transfer_compression compression)
{
    return compression == TRANSFER_GZIP ? ".gz" : compression == TRANSFER_ZSTD ? ".zst" : "";
}
