// See export.h. Data files are written one after the other, each ended when it is large enough; its
// line of the manifest is made when it is on disk.
#include "transfer/export.h"

#include "base/time_text.h"
#include "transfer/files.h"
#include "transfer/sink.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINES_MAX = 256 << 20, RECORD_MAX = 64 << 20 };

struct export_writer {
    struct export_options options;
    struct item_writer items;
    struct arena arena; // paths
    struct buf base;    // the key of the export's directory
    struct buf record;  // one line of data
    struct buf manifest;
    struct sink *sink; // NULL between data files
    struct buf key;    // of the data file
    char *path;
    uint64_t file_items;
    uint64_t item_count;
};

void export_id(const struct env *env, int64_t now_ms, char out[EXPORT_ID_MAX])
{
    uint8_t random[4];
    env->random(env->context, random, sizeof(random));
    (void)snprintf(out, EXPORT_ID_MAX, "%014llu-%02x%02x%02x%02x",
                   (unsigned long long)now_ms % 100000000000000ULL, random[0], random[1], random[2],
                   random[3]);
}

static void base_key(struct buf *out, struct slice prefix)
{
    while (prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    buf_slice(out, prefix);
    buf_text(out, prefix.len > 0 ? "/AWSDynamoDB/" : "AWSDynamoDB/");
}

void export_manifest_key(struct buf *out, struct slice prefix, const char *id)
{
    base_key(out, prefix);
    buf_text(out, id);
    buf_text(out, "/manifest-summary.json");
}

bool export_is_data(struct slice key)
{
    static const char *const others[] = {"manifest-summary.json",
                                         "manifest-summary.checksum",
                                         "manifest-files.json",
                                         "manifest-files.checksum",
                                         "_started",
                                         "schema.json"};
    struct slice state = SLICE_LIT(".dolmen-state");
    const uint8_t *slash = memrchr(key.ptr, '/', key.len);
    struct slice name =
        slash == NULL ? key : slice_of(slash + 1, (size_t)(key.ptr + key.len - slash - 1));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (slice_is(name, others[i]))
            return false;
    }
    return name.len < state.len ||
           !slice_equal(slice_of(name.ptr + name.len - state.len, state.len), state);
}

// Where data files go: beside those of other exports if it is incremental.
static void data_key(struct buf *out, const struct export_options *options)
{
    base_key(out, options->prefix);
    if (!options->incremental)
        buf_printf(out, "%s/", options->id);
    buf_text(out, "data");
}

// ---- Files ------------------------------------------------------------------------

static char *path_of(struct export_writer *writer, struct slice base, const char *name,
                     struct error *error)
{
    char *path =
        arena_printf(&writer->arena, "%s/%.*s%s", writer->options.root, SLICE_FMT(base), name);
    if (path == NULL)
        (void)error_budget(error);
    return path;
}

static bool write_beside(struct export_writer *writer, const char *name, struct slice bytes,
                         struct error *error)
{
    char *path = path_of(writer, buf_view(&writer->base), name, error);
    return path != NULL && files_write(path, bytes, error);
}

// A file and the one with its checksum.
static bool write_checked(struct export_writer *writer, const char *stem, struct slice bytes,
                          struct error *error)
{
    char name[64];
    uint8_t md5[16];
    struct buf text;
    buf_init(&text, 64);
    md5_of(bytes, slice_of(NULL, 0), md5);
    base64_encode(&text, slice_of(md5, sizeof(md5)));
    (void)snprintf(name, sizeof(name), "%s.json", stem);
    bool ok = write_beside(writer, name, bytes, error);
    (void)snprintf(name, sizeof(name), "%s.checksum", stem);
    ok = ok && write_beside(writer, name, buf_view(&text), error);
    buf_release(&text);
    return ok;
}

struct export_writer *export_open(const struct export_options *options, struct error *error)
{
    struct export_writer *writer = memory_zeroed(sizeof(*writer));
    writer->options = *options;
    writer->items.format = options->format;
    writer->item_count = options->item_count;
    if (writer->options.file_bytes == 0)
        writer->options.file_bytes = EXPORT_FILE_BYTES;
    arena_init(&writer->arena, 64 << 20);
    buf_init(&writer->base, 8192);
    buf_init(&writer->record, RECORD_MAX);
    buf_init(&writer->manifest, LINES_MAX);
    buf_init(&writer->key, 8192);
    base_key(&writer->base, options->prefix);
    buf_printf(&writer->base, "%s/", options->id);
    buf_slice(&writer->manifest, options->manifest);
    struct buf data;
    buf_init(&data, 8192);
    data_key(&data, options);
    char *own = path_of(writer, buf_view(&writer->base), "", error);
    char *path = path_of(writer, buf_view(&data), "", error);
    buf_release(&data);
    if (own == NULL || path == NULL || !files_make_directory(own, error) ||
        !files_make_directory(path, error) ||
        !write_beside(writer, "_started", slice_of(NULL, 0), error)) {
        export_free(writer);
        return NULL;
    }
    return writer;
}

void export_free(struct export_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->sink != NULL) {
        sink_free(writer->sink);
        (void)unlink(writer->path);
    }
    arena_release(&writer->arena);
    buf_release(&writer->base);
    buf_release(&writer->record);
    buf_release(&writer->manifest);
    buf_release(&writer->key);
    free(writer);
}

// ---- Data -------------------------------------------------------------------------

static bool data_open(struct export_writer *writer, struct error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t random[26];
    writer->options.env->random(writer->options.env->context, random, sizeof(random));
    buf_clear(&writer->key);
    data_key(&writer->key, &writer->options);
    buf_byte(&writer->key, '/');
    for (size_t i = 0; i < sizeof(random); i++)
        buf_byte(&writer->key, (uint8_t)letters[random[i] % 32]);
    buf_printf(&writer->key, ".%s.gz", transfer_format_extension(writer->options.format));
    arena_reset(&writer->arena);
    writer->path = path_of(writer, buf_view(&writer->key), "", error);
    if (writer->path == NULL)
        return false;
    writer->sink = sink_open(writer->path, TRANSFER_GZIP, 0, error);
    writer->file_items = 0;
    return writer->sink != NULL;
}

bool export_cut(struct export_writer *writer, struct error *error)
{
    if (writer->sink == NULL)
        return true;
    uint8_t md5[16];
    struct sink *sink = writer->sink;
    writer->sink = NULL;
    if (!sink_close(sink, md5, error))
        return false;
    struct buf checksum;
    char etag[2 * sizeof(md5)];
    struct json_writer w = json_writer_to(&writer->manifest);
    buf_init(&checksum, 64);
    base64_encode(&checksum, slice_of(md5, sizeof(md5)));
    hex_text(slice_of(md5, sizeof(md5)), etag);
    json_form(&w, "{'itemCount':%zu,'md5Checksum':%.*s,'etag':%.*s,'dataFileS3Key':%.*s}\n",
              (size_t)writer->file_items, SLICE_FMT(buf_view(&checksum)), (int)sizeof(etag), etag,
              SLICE_FMT(buf_view(&writer->key)));
    buf_release(&checksum);
    return !writer->manifest.failed || error_budget(error);
}

// The line in `record`.
static bool line_write(struct export_writer *writer, struct error *error)
{
    if (writer->record.failed)
        return error_budget(error);
    if (writer->sink == NULL && !data_open(writer, error))
        return false;
    if (!sink_write(writer->sink, buf_view(&writer->record), error))
        return false;
    writer->file_items++;
    writer->item_count++;
    return sink_size(writer->sink) < writer->options.file_bytes || export_cut(writer, error);
}

bool export_item(struct export_writer *writer, struct slice item, struct error *error)
{
    buf_clear(&writer->record);
    ensure(item_write(&writer->items, &writer->record, item)); // only CSV can refuse one
    return line_write(writer, error);
}

bool export_change(struct export_writer *writer, const struct change_images *change,
                   struct error *error)
{
    buf_clear(&writer->record);
    item_write_change(&writer->record, writer->options.format, change);
    return line_write(writer, error);
}

struct slice export_manifest(const struct export_writer *writer)
{
    return buf_view(&writer->manifest);
}

uint64_t export_item_count(const struct export_writer *writer)
{
    return writer->item_count;
}

uint64_t export_file_bytes(const struct export_writer *writer)
{
    return writer->sink == NULL ? 0 : sink_size(writer->sink);
}

// ---- The summary ------------------------------------------------------------------

static void time_member(struct json_writer *w, const char *name, int64_t ms)
{
    char text[TIME_TEXT];
    time_text(ms, text);
    json_put_text(w, name, text);
}

static void write_summary(struct export_writer *writer, const struct export_summary *s,
                          struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'version':'2023-08-01'");
    json_put_or_null(&w, "exportArn", s->export_arn);
    time_member(&w, "startTime", s->start_ms);
    time_member(&w, "endTime", s->end_ms);
    json_put_or_null(&w, "tableArn", s->table_arn);
    json_put_or_null(&w, "tableId", s->table_id);
    if (writer->options.incremental) {
        time_member(&w, "exportFromTime", s->from_ms);
        time_member(&w, "exportToTime", s->to_ms);
    } else {
        time_member(&w, "exportTime", s->export_ms);
    }
    json_put_or_null(&w, "s3Bucket", s->bucket);
    json_put_or_null(&w, "s3Prefix", s->prefix);
    json_put_or_null(&w, "s3SseAlgorithm",
                     s->sse_algorithm.len > 0 ? s->sse_algorithm : SLICE_LIT("AES256"));
    json_put_or_null(&w, "s3SseKmsKeyId", s->sse_key);
    struct buf key;
    buf_init(&key, 8192);
    buf_slice(&key, buf_view(&writer->base));
    buf_text(&key, "manifest-files.json");
    json_form(&w,
              "'manifestFilesS3Key':%.*s,'billedSizeBytes':%lld,'itemCount':%zu,'outputFormat':%s",
              SLICE_FMT(buf_view(&key)), (long long)s->billed_bytes, (size_t)writer->item_count,
              writer->options.format == TRANSFER_ION ? "ION" : "DYNAMODB_JSON");
    buf_release(&key);
    if (writer->options.incremental)
        json_put_or_null(&w, "outputView", s->view);
    json_form(&w, "'exportType':%s}",
              writer->options.incremental ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
}

bool export_finish(struct export_writer *writer, const struct export_summary *summary,
                   struct error *error)
{
    // A table without items has one data file, too: an empty one.
    if (writer->manifest.len == 0 && writer->sink == NULL && !data_open(writer, error))
        return false;
    if (!export_cut(writer, error))
        return false;
    struct buf text;
    buf_init(&text, 64 << 10);
    write_summary(writer, summary, &text);
    bool ok = !text.failed || error_budget(error);
    ok = ok && write_checked(writer, "manifest-files", buf_view(&writer->manifest), error) &&
         write_checked(writer, "manifest-summary", buf_view(&text), error);
    buf_release(&text);
    return ok;
}
