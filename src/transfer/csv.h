// CSV (RFC 4180) to items and back. A column is an attribute. All are strings, except key
// attributes, which have the types of the table.
#ifndef TRANSFER_CSV_H
#define TRANSFER_CSV_H

#include "base/error.h"
#include "value/key.h"

struct csv_columns {
    uint8_t delimiter;
    // Key attributes and their types; borrowed.
    size_t typed_count;
    const struct key_part *typed;
    // An empty field without quotes means that the item does not have the attribute; otherwise it
    // is the empty string, as DynamoDB takes it.
    bool empty_is_absent;

    size_t count;
    struct slice *names; // in `arena`
    struct arena *arena;
};

// The first record as the names of the columns. NULL, or what is wrong.
MUST_CHECK const char *csv_header(struct csv_columns *columns, struct slice record);
// Names from elsewhere.
MUST_CHECK const char *csv_names(struct csv_columns *columns, const struct slice *names,
                                 size_t count);

// One record as an item, appended through the builder. NULL, or what is wrong.
MUST_CHECK const char *csv_read(const struct csv_columns *columns, struct slice record,
                                struct value_builder *builder);

// The header line, and the line of an item. Lists, maps and sets are written as plain JSON, binary
// as base64. False if the item has an attribute that is no column.
void csv_write_header(struct buf *out, const struct csv_columns *columns);
MUST_CHECK bool csv_write(struct buf *out, const struct csv_columns *columns, struct slice item);

#endif
