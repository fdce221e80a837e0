// Writing JSON straight into a buf. Commas are the writer's business; a failed
// buf makes everything after it a no-op, so check `out->failed` once at the end.
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include "base/buf.h"

#include <stdarg.h>

struct json_writer {
    struct buf *out;
    bool comma; // a comma is due before the next name or element
};

static inline struct json_writer json_writer_to(struct buf *out)
{
    return (struct json_writer){out, false};
}

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);

// A member's name, which needs no escaping (one of ours); any name with json_name_slice.
void json_name(struct json_writer *w, const char *name);
void json_name_slice(struct json_writer *w, struct slice name);

void json_string(struct json_writer *w, struct slice text);
// Text that is not UTF-8 is taken for Latin-1, as HTTP does.
void json_text(struct json_writer *w, const char *text);
void json_i64(struct json_writer *w, int64_t value);
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
// Capacity units and the like: the shortest form that keeps one decimal (1.0, 0.5, 12.0).
void json_units(struct json_writer *w, double value);

// Members: a name and what it is, or the beginning of that.
void json_put_object(struct json_writer *w, const char *name);
void json_put_array(struct json_writer *w, const char *name);
void json_put_string(struct json_writer *w, const char *name, struct slice text);
void json_put_text(struct json_writer *w, const char *name, const char *text);
void json_put_integer(struct json_writer *w, const char *name, int64_t value);
void json_put_flag(struct json_writer *w, const char *name, bool value);
// Seconds since 1970 with milliseconds, as DynamoDB writes times: 1700000000.123
void json_put_time(struct json_writer *w, const char *name, int64_t milliseconds);
// null if the text is empty.
void json_put_or_null(struct json_writer *w, const char *name, struct slice text);
// Left out if there is none: an empty text, the time 0.
void json_put_given(struct json_writer *w, const char *name, struct slice text);
void json_put_given_time(struct json_writer *w, const char *name, int64_t milliseconds);

// A piece of JSON as it looks, with ' for ": "'key':[],'name':%s,'parts':[". It may begin and end
// between any two tokens; the comma before it is the writer's. The holes are printf's, so that the
// compiler checks them: %s and %.*s are strings and get their quotes, %hhd is true or false, and
// %d, %zu and %lld are numbers. (form.c)
void json_form(struct json_writer *w, const char *form, ...) PRINTF_LIKE(2, 3);
void json_form_list(struct json_writer *w, const char *form, va_list args) PRINTF_LIKE(2, 0);

// A value in DynamoDB's typed JSON, {"S":"…"}; and an item, {"name":{"S":"…"},…}.
void json_value(struct json_writer *w, struct slice value);
void json_item(struct json_writer *w, struct slice item);
// A member, left out if there is no item.
void json_put_item(struct json_writer *w, const char *name, struct slice item);
// A value as plain JSON; and some entries of an item, in the order given, as members of the object
// that is open. An entry begins where its name does in the item: value_iter's `at` before it.
void json_plain(struct json_writer *w, struct slice value);
void json_plain_entries(struct json_writer *w, struct slice item, size_t count,
                        const uint8_t *const *entries);
// How many bytes json_item() writes at most, without writing them; 0 for VALUE_NONE. (room.c)
size_t json_item_room(struct slice item);

#endif
