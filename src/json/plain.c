// See plain.h.
#include "json/plain.h"

#include "value/number.h"
#include "json/reader.h"
#include "json/writer.h"

enum { PLAIN_DEPTH = 48 };

// ---- Reading ----------------------------------------------------------------------

static const char *read_any(struct json_reader *reader, struct value_builder *builder);

static const char *read_number(struct json_reader *reader, struct value_builder *builder)
{
    struct slice text;
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len;
    if (!json_read_number(reader, &text))
        return reader->error;
    switch (number_from_text(text, number, &len)) {
    case NUMBER_OK:
        value_put_number(builder, slice_of(number, len));
        return NULL;
    case NUMBER_PRECISION:
        return "a number has more than 38 significant digits";
    default:
        return "a number is out of range";
    }
}

static const char *read_container(struct json_reader *reader, struct value_builder *builder,
                                  bool map)
{
    if (reader->depth == PLAIN_DEPTH)
        return "values are nested too deeply";
    if (!json_enter(reader))
        return reader->error;
    if (map)
        value_open_map(builder);
    else
        value_open_list(builder);
    struct slice name;
    while (map ? json_next_name(reader, &name) : json_next_element(reader)) {
        if (map)
            value_name(builder, name);
        const char *fault = read_any(reader, builder);
        if (fault != NULL)
            return fault;
    }
    if (reader->error != NULL)
        return reader->error;
    (void)value_close(builder);
    return NULL;
}

static const char *read_any(struct json_reader *reader, struct value_builder *builder)
{
    struct slice text;
    enum json_kind kind = json_peek(reader);
    switch (kind) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return read_container(reader, builder, kind == JSON_OBJECT);
    case JSON_NUMBER:
        return read_number(reader, builder);
    case JSON_STRING:
        if (!json_read_string(reader, &text))
            return reader->error;
        value_put_string(builder, text);
        return NULL;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        if (!json_read_literal(reader))
            return reader->error;
        if (kind == JSON_NULL)
            value_put_null(builder);
        else
            value_put_bool(builder, kind == JSON_TRUE);
        return NULL;
    default:
        return reader->error != NULL ? reader->error : "a value is missing";
    }
}

const char *plain_read(struct slice text, struct arena *arena, struct value_builder *builder)
{
    struct json_reader reader;
    json_reader_init(&reader, text, arena);
    const char *fault = json_peek(&reader) == JSON_OBJECT ? read_container(&reader, builder, true)
                                                          : "the record is not a JSON object";
    if (fault == NULL && !json_at_end(&reader))
        fault = "something follows the JSON object";
    if (fault != NULL)
        value_builder_reset(builder);
    return fault;
}

void plain_write(struct buf *out, struct slice value)
{
    struct json_writer w = json_writer_to(out);
    json_plain(&w, value);
}
