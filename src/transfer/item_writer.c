// See item_writer.h.
#include "transfer/item_writer.h"

#include "transfer/ion.h"
#include "json/plain.h"
#include "json/writer.h"

void item_write_open(struct item_writer *writer, struct buf *out)
{
    writer->count = 0;
    if (writer->format == TRANSFER_CSV)
        csv_write_header(out, &writer->columns);
    if (writer->format == TRANSFER_DYNAMODUMP)
        buf_text(out, "{\"Items\":[");
    if (writer->format == TRANSFER_BATCH_WRITE) {
        struct json_writer w = json_writer_to(out);
        json_open_object(&w);
        json_name_slice(&w, writer->table);
        json_open_array(&w);
    }
}

static void write_document(struct item_writer *writer, struct buf *out, struct slice item)
{
    buf_text(out, writer->count == 0 ? "\n" : ",\n");
    struct json_writer w = json_writer_to(out);
    if (writer->format == TRANSFER_BATCH_WRITE) {
        buf_text(out, "{\"PutRequest\":{\"Item\":");
        json_item(&w, item);
        buf_text(out, "}}");
    } else {
        json_item(&w, item);
    }
}

bool item_write(struct item_writer *writer, struct buf *out, struct slice item)
{
    struct json_writer w = json_writer_to(out);
    switch (writer->format) {
    case TRANSFER_DYNAMODB_JSON:
        buf_text(out, "{\"Item\":");
        json_item(&w, item);
        buf_text(out, "}\n");
        break;
    case TRANSFER_ION:
        buf_text(out, "$ion_1_0 {Item:");
        ion_write(out, item);
        buf_text(out, "}\n");
        break;
    case TRANSFER_CSV:
        if (!csv_write(out, &writer->columns, item))
            return false;
        break;
    case TRANSFER_TYPED:
        json_item(&w, item);
        buf_byte(out, '\n');
        break;
    case TRANSFER_PLAIN:
        plain_write(out, item);
        buf_byte(out, '\n');
        break;
    default:
        write_document(writer, out, item);
        break;
    }
    writer->count++;
    return true;
}

void item_write_close(struct item_writer *writer, struct buf *out)
{
    if (writer->format == TRANSFER_DYNAMODUMP)
        buf_printf(out, "\n],\"Count\":%llu,\"ScannedCount\":%llu}\n",
                   (unsigned long long)writer->count, (unsigned long long)writer->count);
    if (writer->format == TRANSFER_BATCH_WRITE)
        buf_text(out, "\n]}\n");
}

void item_write_change(struct buf *out, enum transfer_format format,
                       const struct change_images *change)
{
    static const char *const names[] = {"Keys", "OldImage", "NewImage"};
    const struct slice images[] = {change->keys, change->old_image, change->new_image};
    long long micros = (long long)change->time_micros;
    bool ion = format == TRANSFER_ION;
    buf_printf(out,
               ion ? "$ion_1_0 {Metadata:{WriteTimestampMicros:%lld.}"
                   : "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"%lld\"}}",
               micros);
    struct json_writer w = {out, true};
    for (size_t i = 0; i < COUNT_OF(images); i++) {
        if (images[i].len == 0)
            continue;
        if (ion) {
            buf_printf(out, ",%s:", names[i]);
            ion_write(out, images[i]);
        } else {
            json_name(&w, names[i]);
            json_item(&w, images[i]);
        }
    }
    buf_text(out, "}\n");
}
