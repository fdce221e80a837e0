// CRC-32 (the one of gzip) of an answer's body.
#ifndef HTTP_CHECKSUM_H
#define HTTP_CHECKSUM_H

#include "base/slice.h"

uint32_t http_checksum(struct slice bytes);

#endif
