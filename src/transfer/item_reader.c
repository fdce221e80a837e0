// See item_reader.h. A framer cuts the records, and one function for each format decodes them.
#include "transfer/item_reader.h"

#include "transfer/csv.h"
#include "transfer/frame.h"
#include "transfer/ion.h"
#include "json/plain.h"
#include "json/reader.h"
#include "json/shape.h"

#include <stdlib.h>

enum { RECORD_MEMORY = 4 * FRAME_MAX };

struct item_reader {
    struct item_reader_options options;
    struct source *source;
    struct framer framer;
    struct csv_columns columns;
    bool header_read;
    uint64_t number;
    struct arena lasting; // names of columns
    struct arena arena;   // of one record
    struct buf item;
    struct value_builder builder; // into item
};

static struct item_reader *reader_new(struct source *source,
                                      const struct item_reader_options *options)
{
    if (source == NULL)
        return NULL;
    struct item_reader *reader = memory_zeroed(sizeof(*reader));
    static const enum framing framings[TRANSFER_FORMATS] = {
        [TRANSFER_ION] = FRAME_ION,
        [TRANSFER_CSV] = FRAME_CSV,
        [TRANSFER_BATCH_WRITE] = FRAME_DOCUMENT,
        [TRANSFER_DYNAMODUMP] = FRAME_DOCUMENT,
    };
    reader->options = *options;
    reader->source = source;
    source_ask(source, options->stop, options->stop_context);
    uint8_t delimiter = options->delimiter == 0 ? ',' : options->delimiter;
    framer_init(&reader->framer, framings[options->format], delimiter, source);
    arena_init(&reader->lasting, RECORD_MEMORY);
    arena_init(&reader->arena, RECORD_MEMORY);
    buf_init(&reader->item, RECORD_MEMORY);
    value_builder_init(&reader->builder, &reader->item);
    reader->columns = (struct csv_columns){
        .delimiter = delimiter,
        .typed_count = options->typed_count,
        .typed = options->typed,
        .empty_is_absent = options->empty_is_absent,
        .arena = &reader->lasting,
    };
    return reader;
}

struct item_reader *item_reader_open(const char *path, const struct item_reader_options *options,
                                     struct error *error)
{
    return reader_new(source_open(path, options->compression, error), options);
}

struct item_reader *item_reader_open_fd(int fd, const struct item_reader_options *options,
                                        struct error *error)
{
    return reader_new(source_open_fd(fd, options->compression, error), options);
}

void item_reader_free(struct item_reader *reader)
{
    if (reader == NULL)
        return;
    value_builder_release(&reader->builder);
    buf_release(&reader->item);
    arena_release(&reader->arena);
    arena_release(&reader->lasting);
    framer_release(&reader->framer);
    source_free(reader->source);
    free(reader);
}

uint64_t item_reader_consumed(const struct item_reader *reader)
{
    return source_consumed(reader->source);
}

// ---- Typed JSON -------------------------------------------------------------------

// The members of a record that mean something: {"Item":…}, or of an incremental export
// {"Keys":…,"NewImage":…}, without an image if the item was deleted; {"PutRequest":{"Item":…}},
// {"DeleteRequest":{"Key":…}}.
enum member { ITEM, KEYS, NEW_IMAGE, PUT, REMOVE, KEY, MEMBERS };

static const char *const member_names[MEMBERS] = {"Item",       "Keys",          "NewImage",
                                                  "PutRequest", "DeleteRequest", "Key"};

// Finds them. NULL, or what is wrong with the text.
static const char *members_find(struct slice text, struct arena *arena, struct slice out[MEMBERS])
{
    memset(out, 0, MEMBERS * sizeof(*out));
    struct json_reader reader;
    json_reader_init(&reader, text, arena);
    if (json_peek(&reader) != JSON_OBJECT)
        return reader.error != NULL ? reader.error : "the record is not a JSON object";
    if (!json_enter(&reader))
        return reader.error;
    struct slice name;
    while (json_next_name(&reader, &name)) {
        const uint8_t *from = reader.at;
        if (!json_skip(&reader))
            return reader.error;
        for (size_t i = 0; i < MEMBERS; i++)
            if (slice_is(name, member_names[i]))
                out[i] = slice_of(from, (size_t)(reader.at - from));
    }
    if (reader.error != NULL)
        return reader.error;
    return json_at_end(&reader) ? NULL : "something follows the JSON object";
}

static const char *decode_typed(struct item_reader *reader, struct slice text,
                                struct item_record *out)
{
    struct error error;
    error_init(&error, &reader->arena);
    if (json_decode_item(text, &reader->arena, &out->item, &error))
        return NULL;
    return error.message[0] != 0 ? error.message : "the text is not valid JSON";
}

static const char *decode_dynamodb(struct item_reader *reader, const struct slice *members,
                                   struct item_record *out)
{
    if (members[ITEM].ptr != NULL)
        return decode_typed(reader, members[ITEM], out);
    if (members[KEYS].ptr == NULL)
        return "the record has no \"Item\"";
    out->removes = members[NEW_IMAGE].ptr == NULL;
    return decode_typed(reader, members[out->removes ? KEYS : NEW_IMAGE], out);
}

static const char *decode_request(struct item_reader *reader, const struct slice *members,
                                  struct item_record *out)
{
    struct slice inside[MEMBERS];
    out->removes = members[PUT].ptr == NULL;
    struct slice request = members[out->removes ? REMOVE : PUT];
    if (request.ptr == NULL)
        return "the element has neither PutRequest nor DeleteRequest";
    const char *fault = members_find(request, &reader->arena, inside);
    struct slice item = inside[out->removes ? KEY : ITEM];
    if (fault == NULL && item.ptr == NULL)
        fault = "the request has no Item or Key";
    return fault != NULL ? fault : decode_typed(reader, item, out);
}

// ---- The other formats ------------------------------------------------------------

static const char *decode_ion(struct item_reader *reader, struct slice text,
                              struct item_record *out, bool *empty)
{
    const char *fault = ion_read(text, &reader->builder, empty);
    if (fault != NULL || *empty)
        return fault;
    struct slice record = buf_view(&reader->item);
    out->item = value_get(record, SLICE_LIT("Item"));
    if (out->item.len == 0) {
        struct slice keys = value_get(record, SLICE_LIT("Keys"));
        out->item = value_get(record, SLICE_LIT("NewImage"));
        out->removes = out->item.len == 0;
        if (out->removes)
            out->item = keys;
        if (keys.len == 0)
            out->item = VALUE_NONE;
    }
    if (out->item.len == 0 || value_type(out->item) != VALUE_M) {
        out->item = VALUE_NONE;
        return "the record has no Item";
    }
    return NULL;
}

static const char *decode(struct item_reader *reader, const struct frame *frame,
                          struct item_record *out, bool *empty)
{
    const char *fault;
    struct slice members[MEMBERS];
    switch (reader->options.format) {
    case TRANSFER_DYNAMODB_JSON:
        fault = members_find(frame->text, &reader->arena, members);
        return fault != NULL ? fault : decode_dynamodb(reader, members, out);
    case TRANSFER_ION:
        return decode_ion(reader, frame->text, out, empty);
    case TRANSFER_BATCH_WRITE:
        out->table = frame->name;
        fault = members_find(frame->text, &reader->arena, members);
        return fault != NULL ? fault : decode_request(reader, members, out);
    case TRANSFER_TYPED:
    case TRANSFER_DYNAMODUMP:
        return decode_typed(reader, frame->text, out);
    case TRANSFER_CSV:
        fault = csv_read(&reader->columns, frame->text, &reader->builder);
        break;
    default:
        fault = plain_read(frame->text, &reader->arena, &reader->builder);
        break;
    }
    if (fault == NULL)
        out->item = buf_view(&reader->item);
    return fault;
}

// ---- Going through ----------------------------------------------------------------

// The names of the columns, before the first record.
static bool read_header(struct item_reader *reader, struct error *error)
{
    if (reader->header_read || reader->options.format != TRANSFER_CSV)
        return true;
    reader->header_read = true;
    const char *fault;
    if (reader->options.header_count > 0) {
        fault = csv_names(&reader->columns, reader->options.header, reader->options.header_count);
    } else {
        struct frame frame;
        if (!framer_next(&reader->framer, &frame, error))
            return error->code == ERR_NONE;
        fault = frame.bad != NULL ? frame.bad : csv_header(&reader->columns, frame.text);
    }
    return fault == NULL || error_set(error, ERR_VALIDATION, "the header is not valid: %s", fault);
}

// The next frame that is a record of this format.
static bool next_frame(struct item_reader *reader, struct frame *frame, struct error *error)
{
    do {
        if (!framer_next(&reader->framer, frame, error))
            return false;
        // A dump has arrays of other things behind its items.
    } while (reader->options.format == TRANSFER_DYNAMODUMP && frame->bad == NULL &&
             !slice_is(frame->name, "Items"));
    return true;
}

bool item_reader_skip(struct item_reader *reader, uint64_t records, struct error *error)
{
    struct item_record record;
    // Ion may have comments that count as nothing: there the records must be looked at.
    if (reader->options.format == TRANSFER_ION) {
        while (reader->number < records && item_reader_next(reader, &record, error))
            continue;
        return error->code == ERR_NONE;
    }
    struct frame frame;
    if (!read_header(reader, error))
        return false;
    while (reader->number < records && next_frame(reader, &frame, error))
        reader->number++;
    return error->code == ERR_NONE;
}

bool item_reader_next(struct item_reader *reader, struct item_record *out, struct error *error)
{
    if (!read_header(reader, error))
        return false;
    for (;;) {
        struct frame frame;
        if (!next_frame(reader, &frame, error))
            return false;
        arena_reset(&reader->arena);
        buf_clear(&reader->item);
        *out = (struct item_record){.line = frame.line, .bad = frame.bad};
        bool empty = false;
        if (out->bad == NULL)
            out->bad = decode(reader, &frame, out, &empty);
        if (out->bad == NULL && empty)
            continue;
        if (out->bad == NULL && reader->item.failed)
            out->bad = "the record takes too much memory";
        if (out->bad != NULL) {
            out->item = VALUE_NONE;
            out->removes = false;
        }
        out->number = ++reader->number;
        return true;
    }
}
