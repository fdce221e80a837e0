// Short cuts over the text of a json_reader for what DynamoDB requests are full of: plain
// strings in typed values, {"S":"text"}, with no space between and no escape in them. Each
// looks ahead and answers where the text goes on, or NULL if it is anything else; nothing is
// consumed. Whoever takes what was found calls json_quick_take(); all the rest is for the
// reader's own functions, which also say what is wrong.
#ifndef JSON_QUICK_H
#define JSON_QUICK_H

#include "json/reader.h"
#include "json/scan.h"

struct json_quick {
    struct slice name; // of an entry
    struct slice text;
    uint8_t tag; // the one letter of the type's name
};

// From the type's letter on: S":"text"}
static inline const uint8_t *json_quick_typed(const struct json_reader *reader, const uint8_t *at,
                                              struct json_quick *found)
{
    if (memcmp(at + 1, "\":\"", 3) != 0)
        return NULL;
    const uint8_t *text = at + 4;
    const uint8_t *stop = scan_ascii(text, reader->end);
    if (reader->end - stop < 2 || stop[0] != '"' || stop[1] != '}')
        return NULL;
    found->tag = *at;
    found->text = slice_of(text, (size_t)(stop - text));
    return stop + 2;
}

// The next element of an array that has been entered, {"S":"text"}, with the comma that is
// due before it.
static inline const uint8_t *json_quick_element(const struct json_reader *reader,
                                                struct json_quick *found)
{
    const uint8_t *at = reader->at;
    if (reader->end - at < 9 || reader->depth == LIMIT_JSON_DEPTH)
        return NULL;
    if (!reader->fresh && *at++ != ',')
        return NULL;
    return memcmp(at, "{\"", 2) == 0 ? json_quick_typed(reader, at + 2, found) : NULL;
}

// The next member of an object that has been entered, "name":{"S":"text"}, with the comma
// that is due before it.
static inline const uint8_t *json_quick_entry(const struct json_reader *reader,
                                              struct json_quick *found)
{
    const uint8_t *at = reader->at;
    const uint8_t *end = reader->end;
    if (end - at < 13 || reader->depth == LIMIT_JSON_DEPTH)
        return NULL;
    if (!reader->fresh && *at++ != ',')
        return NULL;
    if (*at++ != '"')
        return NULL;
    const uint8_t *stop = scan_ascii(at, end);
    if (end - stop < 8 || memcmp(stop, "\":{\"", 4) != 0)
        return NULL;
    found->name = slice_of(at, (size_t)(stop - at));
    return json_quick_typed(reader, stop + 4, found);
}

// The opening of a typed value that is more than a string, {"M": up to the colon. The name of
// the type is found->text.
static inline const uint8_t *json_quick_open(const struct json_reader *reader,
                                             struct json_quick *found)
{
    const uint8_t *at = reader->at;
    if (reader->end - at < 8 || reader->depth == LIMIT_JSON_DEPTH || memcmp(at, "{\"", 2) != 0)
        return NULL;
    at += 2;
    size_t len = at[1] == '"' ? 1 : at[2] == '"' ? 2 : 4;
    if (at[len] != '"' || at[len + 1] != ':')
        return NULL;
    found->text = slice_of(at, len);
    return at + len + 2;
}

static inline void json_quick_take(struct json_reader *reader, const uint8_t *behind)
{
    reader->at = behind;
    reader->fresh = false;
}

#endif
