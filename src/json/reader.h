// A strict JSON pull reader over (pointer, length). No tree is built: the caller
// asks for what it expects. Strings are unescaped into the arena only if they hold
// an escape; otherwise they are slices of the input.
//
// A copy of the struct is a bookmark: reading on from the copy reads the same text again.
//
// Strict means: RFC 8259 grammar, well-formed UTF-8, paired surrogates, no control
// characters in strings, depth at most LIMIT_JSON_DEPTH, nothing behind the value.
// The error says what and at which byte offset.
#ifndef JSON_READER_H
#define JSON_READER_H

#include "base/arena.h"
#include "base/limits.h"

enum json_kind {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_BAD, // the input is malformed; see error and offset
};

struct json_reader {
    const uint8_t *at;
    const uint8_t *start;
    const uint8_t *end;
    struct arena *arena;
    unsigned depth;
    bool fresh;        // a container has just been entered: no comma is due
    bool budget;       // the error is not the text's: the arena is used up
    const char *error; // NULL, or what is wrong with the JSON text
    size_t offset;     // where
};

void json_reader_init(struct json_reader *reader, struct slice text, struct arena *arena);

// ---- The small steps, inline as far as the text has no spaces and no faults --------------

static inline const uint8_t *json_skip_space(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

// What kind of value begins with this byte.
static inline enum json_kind json_kind_of(uint8_t byte)
{
    switch (byte) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return byte == '-' || (byte >= '0' && byte <= '9') ? JSON_NUMBER : JSON_BAD;
    }
}

enum json_kind json_peek_slow(struct json_reader *reader);
MUST_CHECK bool json_enter_slow(struct json_reader *reader);
MUST_CHECK bool json_next_name_slow(struct json_reader *reader, struct slice *name);
MUST_CHECK bool json_next_element_slow(struct json_reader *reader);

// The kind of the next value, which is not consumed.
static inline enum json_kind json_peek(struct json_reader *reader)
{
    if (reader->at < reader->end && *reader->at == '"')
        return JSON_STRING;
    if (reader->at < reader->end && *reader->at == '{')
        return JSON_OBJECT;
    if (reader->at < reader->end && *reader->at == '[')
        return JSON_ARRAY;
    return json_peek_slow(reader);
}

// Consumes an object's or array's opening; then call json_next_name / json_next_element
// until it returns false, consuming exactly one value after each true. After false,
// check reader->error: NULL means that the container has ended.
static inline MUST_CHECK bool json_enter(struct json_reader *reader)
{
    if (reader->at == reader->end || (*reader->at != '{' && *reader->at != '[') ||
        reader->depth == LIMIT_JSON_DEPTH)
        return json_enter_slow(reader);
    reader->at++;
    reader->depth++;
    reader->fresh = true;
    return true;
}

static inline bool json_leave(struct json_reader *reader, uint8_t close)
{
    if (reader->at == reader->end || *reader->at != close)
        return false;
    reader->at++;
    reader->depth--;
    reader->fresh = false;
    return true;
}

static inline MUST_CHECK bool json_next_name(struct json_reader *reader, struct slice *name)
{
    return !json_leave(reader, '}') && json_next_name_slow(reader, name);
}

static inline MUST_CHECK bool json_next_element(struct json_reader *reader)
{
    return !json_leave(reader, ']') && json_next_element_slow(reader);
}

// Scalars; false if malformed (reader->error set).
MUST_CHECK bool json_read_string(struct json_reader *reader, struct slice *out);
MUST_CHECK bool json_read_number(struct json_reader *reader, struct slice *text);
MUST_CHECK bool json_read_literal(struct json_reader *reader); // true, false or null

// Consumes any value.
MUST_CHECK bool json_skip(struct json_reader *reader);

// True if only white space is left.
MUST_CHECK bool json_at_end(struct json_reader *reader);

#endif
