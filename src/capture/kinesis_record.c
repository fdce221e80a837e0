// A change as the record that DynamoDB puts into a Kinesis stream.
#include "capture/kinesis.h"

#include "tables/arn.h"
#include "json/writer.h"

#include <stdio.h>

enum { HEX = 33 }; // sixteen bytes in hex, and a NUL

// Sixteen bytes in lower-case hex.
static void hex_of(const uint8_t bytes[16], char out[HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[32] = 0;
}

// The same change has the same id whenever it is delivered, so that consumers can tell repetitions.
static void write_id(struct json_writer *w, struct slice table_id, uint64_t sequence)
{
    uint8_t digest[16];
    uint8_t number[8];
    char hex[HEX];
    char id[37];
    be64_put(number, sequence);
    md5_of(table_id, slice_of(number, sizeof(number)), digest);
    hex_of(digest, hex);
    (void)snprintf(id, sizeof(id), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
                   hex + 20);
    json_put_text(w, "eventID", id);
}

static size_t image_size(struct slice item)
{
    return item.len == 0 ? 0 : value_item_size(item);
}

static void write_change(struct json_writer *w, const struct kinesis_source *source,
                         const struct log_entry *entry)
{
    json_open_object(w);
    json_put_integer(w, "ApproximateCreationDateTime",
                     source->microseconds ? entry->time_ms * 1000 : entry->time_ms);
    if (source->microseconds)
        json_put_text(w, "ApproximateCreationDateTimePrecision", "MICROSECOND");
    json_put_item(w, "Keys", entry->keys);
    json_put_item(w, "NewImage", entry->new_item);
    json_put_item(w, "OldImage", entry->old_item);
    json_put_integer(w, "SizeBytes",
                     (int64_t)(image_size(entry->keys) + image_size(entry->new_item) +
                               image_size(entry->old_item)));
    json_close_object(w);
}

void kinesis_record_write(struct buf *out, const struct kinesis_source *source,
                          const struct log_entry *entry)
{
    static const char *const names[] = {
        [LOG_INSERT] = "INSERT", [LOG_MODIFY] = "MODIFY", [LOG_REMOVE] = "REMOVE"};
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_string(&w, "awsRegion", source->region);
    write_id(&w, source->table_id, entry->sequence);
    json_put_text(&w, "eventName", names[entry->event]);
    json_name(&w, "userIdentity");
    if (entry->expired) {
        json_open_object(&w);
        json_put_text(&w, "principalId", "dynamodb.amazonaws.com");
        json_put_text(&w, "type", "Service");
        json_close_object(&w);
    } else {
        json_null(&w);
    }
    json_put_text(&w, "recordFormat", "application/json");
    json_put_string(&w, "tableName", source->table);
    json_name(&w, "dynamodb");
    write_change(&w, source, entry);
    json_put_text(&w, "eventSource", "aws:dynamodb");
    json_close_object(&w);
}

bool kinesis_stream_name(struct slice text, struct slice *name)
{
    struct slice prefix = SLICE_LIT("stream/");
    struct arn arn;
    if (!arn_split(text, &arn) || !slice_is(arn.service, "kinesis") || arn.region.len == 0 ||
        arn.account.len == 0 || !slice_begins(arn.rest, prefix))
        return false;
    struct slice rest = slice_of(arn.rest.ptr + prefix.len, arn.rest.len - prefix.len);
    // The bytes are those of tables' names.
    if (!table_name_matches(rest) || rest.len > 128 || rest.ptr[0] == '.')
        return false;
    *name = rest;
    return true;
}
