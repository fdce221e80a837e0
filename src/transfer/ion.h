// Amazon Ion text, as DynamoDB exports and imports it: a string is S, a decimal N, a blob B, lists
// and structs L and M, and lists annotated $dynamodb_SS, $dynamodb_NS or $dynamodb_BS are sets.
#ifndef TRANSFER_ION_H
#define TRANSFER_ION_H

#include "value/value.h"

// Reads one top-level struct, with version markers and comments around it, as an M value that is
// appended through the builder. NULL, or what is wrong; *empty tells that there was no value.
MUST_CHECK const char *ion_read(struct slice text, struct value_builder *builder, bool *empty);

// Writes a value; an item is a struct.
void ion_write(struct buf *out, struct slice value);

#endif
