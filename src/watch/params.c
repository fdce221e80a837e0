// Requests of the Query protocol and of JSON as one list of names and values; cbor.c has the third.
#include "watch/watch_internal.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "json/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARAMS_MAX = 5000, DEPTH_MAX = 8 };

bool params_add(struct params *params, struct slice name, struct slice value)
{
    if (params->list == NULL)
        params->list = arena_zalloc(params->arena, PARAMS_MAX, sizeof(*params->list));
    if (params->list == NULL || params->count == PARAMS_MAX || name.len > WATCH_NAME_MAX)
        return false;
    params->list[params->count++] = (struct param){name, value};
    return true;
}

// ---- Forms -----------------------------------------------------------------------------------

static struct slice decode(struct arena *arena, struct slice text)
{
    uint8_t *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    if (out == NULL)
        return slice_of(NULL, 0);
    for (size_t i = 0; i < text.len; i++) {
        int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        if (low >= 0)
            out[len++] = (uint8_t)(high << 4 | low);
        else
            out[len++] = text.ptr[i] == '+' ? ' ' : text.ptr[i];
        i += low >= 0 ? 2 : 0;
    }
    return slice_of(out, len);
}

bool params_of_form(struct params *params, struct slice body)
{
    while (body.len > 0) {
        struct slice value = slice_cut(&body, '&');
        struct slice name = slice_cut(&value, '=');
        struct slice text = decode(params->arena, value);
        name = decode(params->arena, name);
        if (name.ptr == NULL || text.ptr == NULL || !utf8_valid(text) ||
            memchr(text.ptr, 0, text.len) != NULL || !params_add(params, name, text))
            return false;
    }
    return true;
}

void params_write_form(const struct params *params, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < params->count; i++) {
        buf_text(out, i == 0 ? "" : "&");
        buf_slice(out, params->list[i].name);
        buf_byte(out, '=');
        for (size_t k = 0; k < params->list[i].value.len; k++) {
            uint8_t c = params->list[i].value.ptr[k];
            buf_byte(out, '%');
            buf_byte(out, (uint8_t)hex[c >> 4]);
            buf_byte(out, (uint8_t)hex[c & 15]);
        }
    }
}

// ---- JSON ------------------------------------------------------------------------------------

static bool json_param(struct params *params, struct json_reader *reader, const char *name,
                       unsigned depth);

static bool json_members(struct params *params, struct json_reader *reader, const char *name,
                         unsigned depth)
{
    struct slice member;
    char path[WATCH_NAME_MAX];
    if (!json_enter(reader))
        return false;
    while (json_next_name(reader, &member)) {
        int len = snprintf(path, sizeof(path), "%s%s%.*s", name, name[0] == 0 ? "" : ".",
                           SLICE_FMT(member));
        if (len >= (int)sizeof(path) || !json_param(params, reader, path, depth + 1))
            return false;
    }
    return reader->error == NULL;
}

static bool json_elements(struct params *params, struct json_reader *reader, const char *name,
                          unsigned depth)
{
    char path[WATCH_NAME_MAX];
    if (!json_enter(reader))
        return false;
    for (size_t i = 1; json_next_element(reader); i++) {
        int len = snprintf(path, sizeof(path), "%s.member.%zu", name, i);
        if (len >= (int)sizeof(path) || !json_param(params, reader, path, depth + 1))
            return false;
    }
    return reader->error == NULL;
}

static bool json_param(struct params *params, struct json_reader *reader, const char *name,
                       unsigned depth)
{
    struct slice text;
    if (depth > DEPTH_MAX)
        return false;
    enum json_kind kind = json_peek(reader);
    if (kind == JSON_OBJECT)
        return json_members(params, reader, name, depth);
    if (kind == JSON_ARRAY)
        return json_elements(params, reader, name, depth);
    if (kind == JSON_STRING) {
        if (!json_read_string(reader, &text))
            return false;
    } else {
        const uint8_t *start = json_skip_space(reader->at, reader->end);
        if (kind == JSON_BAD || !json_skip(reader))
            return false;
        text = slice_of(start, (size_t)(reader->at - start));
        if (kind == JSON_NULL)
            return true;
    }
    struct slice kept = arena_copy(params->arena, slice_str(name));
    return kept.ptr != NULL && memchr(text.ptr, 0, text.len) == NULL &&
           params_add(params, kept, text);
}

bool params_of_json(struct params *params, struct slice body)
{
    struct json_reader reader;
    json_reader_init(&reader, body.len == 0 ? SLICE_LIT("{}") : body, params->arena);
    return json_peek(&reader) == JSON_OBJECT && json_param(params, &reader, "", 0) &&
           json_at_end(&reader);
}

// ---- Reading ---------------------------------------------------------------------------------

static const struct param *find(const struct params *params, const char *format, va_list args)
{
    char name[WATCH_NAME_MAX];
    (void)vsnprintf(name, sizeof(name), format, args);
    for (size_t i = 0; i < params->count; i++) {
        if (slice_is(params->list[i].name, name))
            return &params->list[i];
    }
    return NULL;
}

struct slice param_text(const struct params *params, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct param *param = find(params, format, args);
    va_end(args);
    return param == NULL ? slice_of(NULL, 0) : param->value;
}

bool param_is_given(const struct params *params, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct param *param = find(params, format, args);
    va_end(args);
    return param != NULL;
}

static bool number_of(struct slice text, double *out)
{
    char copy[64];
    char *end;
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *out = strtod(copy, &end);
    return *end == 0 && isfinite(*out);
}

bool param_number(const struct params *params, const char *name, double otherwise, double *out)
{
    struct slice text = param_text(params, "%s", name);
    *out = otherwise;
    return text.ptr == NULL || number_of(text, out);
}

bool param_time(const struct params *params, const char *name, int64_t *out)
{
    struct slice text = param_text(params, "%s", name);
    double seconds;
    char zulu[40];
    if (number_of(text, &seconds) && seconds >= 0 && seconds < 1e11) {
        *out = (int64_t)(seconds * 1000);
        return true;
    }
    if (time_parse(text, out))
        return true;
    // botocore says +00:00, or nothing, where others say Z, and microseconds where others do not.
    const char *form = "%.*s.%.*sZ";
    struct slice fraction = {(const uint8_t *)"000", 3};
    if (text.len < 19)
        return false;
    if (text.len > 23 && text.ptr[19] == '.')
        fraction = slice_of(text.ptr + 20, 3);
    (void)snprintf(zulu, sizeof(zulu), form, 19, (const char *)text.ptr, SLICE_FMT(fraction));
    return time_parse(slice_str(zulu), out);
}
