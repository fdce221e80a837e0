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

static void image_ion(struct buf *out, const char *name, struct slice image)
{
    if (image.len == 0)
        return;
    buf_printf(out, ",%s:", name);
    ion_write(out, image);
}

static void image_json(struct json_writer *w, const char *name, struct slice image)
{
    if (image.len == 0)
        return;
    json_name(w, name);
    json_item(w, image);
}

void item_write_change(struct buf *out, enum transfer_format format,
                       const struct change_images *change)
{
    long long micros = (long long)change->time_micros;
    if (format == TRANSFER_ION) {
        buf_printf(out, "$ion_1_0 {Metadata:{WriteTimestampMicros:%lld.}", micros);
        image_ion(out, "Keys", change->keys);
        image_ion(out, "OldImage", change->old_image);
        image_ion(out, "NewImage", change->new_image);
        buf_text(out, "}\n");
        return;
    }
    buf_printf(out, "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"%lld\"}}", micros);
    struct json_writer w = {out, true};
    image_json(&w, "Keys", change->keys);
    image_json(&w, "OldImage", change->old_image);
    image_json(&w, "NewImage", change->new_image);
    buf_text(out, "}\n");
}
