// Items as records of a format, into a buf. What stands around the records of a document
// (BATCH_WRITE, DYNAMODUMP) is written by item_write_open() and item_write_close(); for the other
// formats these two do nothing, except that CSV has its header line.
#ifndef TRANSFER_ITEM_WRITER_H
#define TRANSFER_ITEM_WRITER_H

#include "transfer/csv.h"
#include "transfer/format.h"

struct item_writer {
    enum transfer_format format;
    struct slice table;         // BATCH_WRITE
    struct csv_columns columns; // CSV: delimiter, count, names
    uint64_t count;             // items since item_write_open()
};

void item_write_open(struct item_writer *writer, struct buf *out);
// False if a CSV has no column for one of the item's attributes; the record is then not complete.
MUST_CHECK bool item_write(struct item_writer *writer, struct buf *out, struct slice item);
void item_write_close(struct item_writer *writer, struct buf *out);

// One line of an incremental export; images may be VALUE_NONE, and are not written then.
struct change_images {
    int64_t time_micros;
    struct slice keys;
    struct slice old_image;
    struct slice new_image;
};
void item_write_change(struct buf *out, enum transfer_format format,
                       const struct change_images *change);

#endif
