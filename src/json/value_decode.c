// Decoding AttributeValues.
//
// The idea: one pass, no tree. Each value goes into the builder as it is read. A fault (a
// number that is none, an empty set, …) is noted and mutes the builder, while reading goes
// on: a wrong JSON type or broken text behind it is a SerializationException, which
// comes first. Which fault is reported: the first in the text, except that an empty
// attribute name at the top of an item outweighs all, and one inside a map is outweighed
// by all.
//
// A JSON member given twice counts as its last. In a map the builder sees to that. That an
// AttributeValue names the same type twice is found only after the first has been built;
// the field is then decoded again, this time looking ahead for the last of each type.
#include "json/value_decode.h"

#include <stdlib.h>
#include <strings.h>

#include "base/encode.h"
#include "base/limits.h"
#include "value/entry.h"
#include "value/number.h"
#include "json/quick.h"
#include "json/shape_check.h"

enum {
    SCRATCH_FIRST = 16384, // bytes of the first scratch memory
    PLACE_TEXT = 2048,     // with this much text left, or less, values are built in the arena
    PLACE_SLACK = 16,      // no value takes more bytes than its text, but for an item's header
};
enum { WEIGHT_INNER_NAME = 1, WEIGHT_FAULT = 2, WEIGHT_TOP_NAME = 3 };

#define FAULT_EMPTY                                                                                \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define FAULT_SEVERAL                                                                              \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define FAULT_NULL INVALID "Null attribute value types must have the value of true"
#define FAULT_NESTING                                                                              \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"
#define FAULT_NAME      "Empty attribute name"
#define FAULT_NAME_SIZE INVALID "Attribute name is too large, must be less than 65536 bytes"
#define FAULT_NUMERIC   "The parameter cannot be converted to a numeric value"
#define FAULT_DIGITS    "Attempting to store more than 38 significant digits in a Number"
#define FAULT_OVERFLOW                                                                             \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define FAULT_UNDERFLOW                                                                            \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"

// What the three sets have of their own.
static const struct set_row {
    const char *empty;
    const char *null;
} set_rows[] = {
    [VALUE_SS] = {INVALID "An string set  may not be empty",
                  INVALID "An string set may not have a null string as a member"},
    [VALUE_NS] = {INVALID "An number set  may not be empty",
                  INVALID "An number set may not have a null string as a member"},
    [VALUE_BS] = {INVALID "Binary sets should not be empty",
                  INVALID "Binary sets may not contain null values"},
};

static bool decode_value(struct value_decoder *d, enum json_place place, unsigned level);

void value_decoder_init(struct value_decoder *decoder, struct json_reader *reader,
                        enum service_layer layer, struct arena *arena, struct error *error)
{
    decoder->layer = layer;
    decoder->reader = reader;
    decoder->error = error;
    decoder->arena = arena;
    buf_init_counted(&decoder->out, LIMIT_REQUEST_MEMORY, arena->account, BUDGET_CALLS);
    buf_init_counted(&decoder->binary, LIMIT_BODY, arena->account, BUDGET_CALLS);
    value_builder_init(&decoder->builder, &decoder->out);
}

void value_decoder_release(struct value_decoder *decoder)
{
    value_builder_release(&decoder->builder);
    buf_release(&decoder->binary);
    buf_release(&decoder->out);
}

static void decoder_begin(struct value_decoder *d)
{
    d->fault = NULL;
    d->too_deep = false;
    d->fault_weight = 0;
    d->fault_name = VALUE_NONE;
    d->top_name = VALUE_NONE;
    d->mute = false;
    d->repeats = false;
    value_builder_reset(&d->builder);
    size_t left = (size_t)(d->reader->end - d->reader->at);
    if (left <= PLACE_TEXT) {
        size_t room = left + PLACE_SLACK;
        d->place = (struct buf){.ptr = arena_alloc(d->arena, room), .cap = room, .max = room};
        d->builder.out = &d->place;
        d->place.failed = d->place.ptr == NULL;
        return;
    }
    // A value is about as long encoded as in JSON: growing once is enough for most.
    d->builder.out = &d->out;
    buf_clear(&d->out);
    (void)buf_reserve(&d->out, left < SCRATCH_FIRST ? left : SCRATCH_FIRST);
}

static bool text_error(struct value_decoder *d)
{
    return json_text_error(d->reader, d->error);
}

// Notes a fault; true, for reading goes on. False only without memory (a NULL text).
static bool note_fault(struct value_decoder *d, int weight, bool malformed, const char *text)
{
    if (text == NULL)
        return error_budget(d->error);
    d->mute = true;
    if (weight <= d->fault_weight)
        return true;
    d->fault_weight = weight;
    d->fault = text;
    d->malformed = malformed;
    d->fault_name = d->top_name;
    return true;
}

// A value that cannot be; and what is no AttributeValue at all.
static bool fault(struct value_decoder *d, const char *text)
{
    return note_fault(d, WEIGHT_FAULT, false, text);
}

static bool malformed(struct value_decoder *d, const char *text)
{
    return note_fault(d, WEIGHT_FAULT, true, text);
}

// A fault whose text holds what the client sent is only made if it would be kept.
static bool fault_is_kept(const struct value_decoder *d)
{
    return d->fault_weight < WEIGHT_FAULT;
}

// Notes the fault that `text` describes, and releases it.
static bool fault_made(struct value_decoder *d, struct buf *text)
{
    return fault(d, (const char *)arena_keep(d->arena, text).ptr);
}

// ---- Scalars -------------------------------------------------------------------

static bool expect(struct value_decoder *d, enum json_kind kind, const struct shape *shape,
                   enum json_place place)
{
    enum json_kind found = json_peek(d->reader);
    return found == kind || json_type_error(d->reader, shape, place, found, d->error);
}

static bool read_string(struct value_decoder *d, enum json_place place, struct slice *out)
{
    if (!expect(d, JSON_STRING, &shape_string, place))
        return false;
    return json_read_string(d->reader, out) || text_error(d);
}

bool value_decode_blob(struct json_reader *reader, enum json_place place, struct buf *out,
                       struct error *error)
{
    enum json_kind found = json_peek(reader);
    if (found != JSON_STRING)
        return json_type_error(reader, &shape_blob, place, found, error);
    struct slice text;
    if (!json_read_string(reader, &text))
        return json_text_error(reader, error);
    buf_clear(out);
    bool valid = base64_decode(out, text);
    if (out->failed)
        return error_budget(error);
    return valid || json_base64_error(text, error);
}

static bool text_means(struct slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp((const char *)text.ptr, word, text.len) == 0;
}

bool value_decode_bool(struct json_reader *reader, enum json_place place, bool *out,
                       struct error *error)
{
    enum json_kind found = json_peek(reader);
    struct slice text;
    switch (found) {
    case JSON_TRUE:
    case JSON_FALSE:
        *out = found == JSON_TRUE;
        return json_read_literal(reader) || json_text_error(reader, error);
    case JSON_STRING:
        if (!json_read_string(reader, &text))
            return json_text_error(reader, error);
        if (text_means(text, "true") || text_means(text, "1") || text_means(text, "yes"))
            *out = true;
        else if (text_means(text, "false") || text_means(text, "0") || text_means(text, "no"))
            *out = false;
        else
            return json_boolean_error(error);
        return true;
    default:
        return json_type_error(reader, &shape_boolean, place, found, error);
    }
}

static bool number_fault(struct value_decoder *d, enum number_status status, struct slice text)
{
    if (!fault_is_kept(d))
        return true;
    if (status == NUMBER_OVERFLOW || status == NUMBER_UNDERFLOW)
        return fault(d, status == NUMBER_OVERFLOW ? FAULT_OVERFLOW : FAULT_UNDERFLOW);
    if (status == NUMBER_PRECISION)
        return fault(d, FAULT_DIGITS);
    if (text.len == 0)
        return fault(d, layer_is_new(d->layer) ? FAULT_NUMERIC ": " : FAULT_NUMERIC);
    struct buf message;
    buf_init(&message, LIMIT_REQUEST_MEMORY);
    buf_text(&message, FAULT_NUMERIC ": ");
    echo_text(&message, text);
    return fault_made(d, &message);
}

// Reads a number's text; *len is 0 if it has a fault, which is noted.
static bool read_number(struct value_decoder *d, enum json_place place,
                        uint8_t stored[NUMBER_BYTES_MAX], size_t *len)
{
    struct slice text;
    *len = 0;
    if (!read_string(d, place, &text))
        return false;
    enum number_status status = number_from_text(text, stored, len);
    if (status == NUMBER_OK)
        return true;
    if (layer_is_new(d->layer))
        status = number_judge_wide(text, status);
    return number_fault(d, status, text);
}

static bool decode_scalar(struct value_decoder *d, enum value_type type)
{
    struct slice text;
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    bool flag;
    switch (type) {
    case VALUE_S:
        if (!read_string(d, PLACE_FIELD, &text))
            return false;
        if (!d->mute)
            value_put_string(&d->builder, text);
        return true;
    case VALUE_N:
        if (!read_number(d, PLACE_FIELD, stored, &len))
            return false;
        if (!d->mute)
            value_put_number(&d->builder, slice_of(stored, len));
        return true;
    case VALUE_B:
        if (!value_decode_blob(d->reader, PLACE_FIELD, &d->binary, d->error))
            return false;
        if (!d->mute)
            value_put_binary(&d->builder, buf_view(&d->binary));
        return true;
    case VALUE_BOOL:
        if (!value_decode_bool(d->reader, PLACE_FIELD, &flag, d->error))
            return false;
        if (!d->mute)
            value_put_bool(&d->builder, flag);
        return true;
    default:
        if (!value_decode_bool(d->reader, PLACE_FIELD, &flag, d->error))
            return false;
        if (!flag)
            return malformed(d, FAULT_NULL);
        if (!d->mute)
            value_put_null(&d->builder);
        return true;
    }
}

// ---- Sets ----------------------------------------------------------------------

// The members of a set that has been read without error before. False without memory.
static bool read_members(struct value_decoder *d, struct json_reader at, struct slice **out,
                         size_t *count)
{
    size_t room = 0;
    bool more = json_enter(&at);
    *out = NULL;
    *count = 0;
    for (struct slice member; more && json_next_element(&at) && json_read_string(&at, &member);) {
        if (*count == room) {
            struct slice *larger = arena_alloc(d->arena, (2 * room + 16) * sizeof(*larger));
            if (larger == NULL)
                return false;
            if (room > 0)
                memcpy(larger, *out, room * sizeof(*larger));
            *out = larger;
            room = 2 * room + 16;
        }
        (*out)[(*count)++] = member;
    }
    return at.error == NULL;
}

static int compare_members(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// By what they point to, and the same by where they point.
static int compare_places(const void *a, const void *b)
{
    const struct slice *left = *(const struct slice *const *)a;
    const struct slice *right = *(const struct slice *const *)b;
    int order = compare_members(left, right);
    return order != 0 ? order : (left > right) - (left < right);
}

// How many there are up to the first that comes again, that one included. Sorted, because a set may
// be made to be slow. 0 without memory.
static size_t count_to_repeat(struct value_decoder *d, const struct slice *members, size_t count)
{
    const struct slice **places = arena_alloc(d->arena, (count + 1) * sizeof(*places));
    if (places == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        places[i] = &members[i];
    qsort(places, count, sizeof(*places), compare_places);
    const struct slice *first = &members[count - 1];
    for (size_t i = 1; i < count; i++) {
        if (slice_equal(*places[i - 1], *places[i]) && places[i] < first)
            first = places[i];
    }
    return (size_t)(first - members) + 1;
}

// The set has a member twice: reads it once more, from before its array, to say so. The older layer
// shows it as it was sent; the newer one strings in order and binaries as sent, in quotes, up to
// the one that comes again.
static bool repeat_fault(struct value_decoder *d, enum value_type type, struct json_reader at)
{
    bool anew = layer_is_new(d->layer);
    struct slice *members;
    size_t count;
    if (!fault_is_kept(d))
        return true;
    if (type == VALUE_NS)
        return fault(d, anew ? INVALID "Input collection contains duplicates."
                             : "Input collection contains duplicates");
    if (!read_members(d, at, &members, &count))
        return error_budget(d->error);
    if (anew && type == VALUE_SS)
        qsort(members, count, sizeof(*members), compare_members);
    if (anew && (count = count_to_repeat(d, members, count)) == 0)
        return error_budget(d->error);
    const char *quote = anew ? "\"" : "";
    struct buf message;
    buf_init(&message, LIMIT_REQUEST_MEMORY);
    buf_text(&message, INVALID "Input collection [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_text(&message, anew && type == VALUE_BS ? "," : ", ");
        buf_text(&message, quote);
        echo_text(&message, members[i]);
        buf_text(&message, quote);
    }
    buf_text(&message, type == VALUE_BS ? "]of type BS" : "]");
    buf_text(&message, " contains duplicates.");
    return fault_made(d, &message);
}

static bool decode_member(struct value_decoder *d, enum value_type type)
{
    struct slice member;
    uint8_t stored[NUMBER_BYTES_MAX];
    if (json_peek(d->reader) == JSON_NULL)
        return json_read_literal(d->reader) ? malformed(d, set_rows[type].null) : text_error(d);
    if (type == VALUE_SS) {
        if (!read_string(d, PLACE_ELEMENT, &member))
            return false;
    } else if (type == VALUE_NS) {
        size_t len;
        if (!read_number(d, PLACE_ELEMENT, stored, &len))
            return false;
        member = slice_of(stored, len);
    } else {
        if (!value_decode_blob(d->reader, PLACE_ELEMENT, &d->binary, d->error))
            return false;
        member = buf_view(&d->binary);
    }
    if (!d->mute)
        value_member(&d->builder, member);
    return true;
}

static bool decode_set(struct value_decoder *d, enum value_type type)
{
    if (!expect(d, JSON_ARRAY, &shape_string_list, PLACE_FIELD))
        return false;
    struct json_reader bookmark = *d->reader;
    if (!json_enter(d->reader))
        return text_error(d);
    if (!d->mute)
        value_open_set(&d->builder, type);
    size_t count = 0;
    for (; json_next_element(d->reader); count++) {
        if (!decode_member(d, type))
            return false;
    }
    if (d->reader->error != NULL)
        return text_error(d);
    if (count == 0)
        return malformed(d, set_rows[type].empty);
    if (d->mute || value_close(&d->builder))
        return true;
    return repeat_fault(d, type, bookmark);
}

// ---- Lists and maps --------------------------------------------------------------

// What a quick value says, as the tag and bytes of its encoded form; `stored` has room for a
// number. False if it is neither an S nor a good N.
static inline bool quick_bytes(const struct json_quick *quick, enum value_tag *tag,
                               struct slice *bytes, uint8_t stored[NUMBER_BYTES_MAX])
{
    if (quick->tag == 'S') {
        *tag = VALUE_TAG_S;
        *bytes = quick->text;
        return true;
    }
    size_t len;
    if (quick->tag != 'N' || number_from_text(quick->text, stored, &len) != NUMBER_OK)
        return false;
    *tag = VALUE_TAG_N;
    *bytes = slice_of(stored, len);
    return true;
}

// Decodes as many elements or entries as are plain, without the detour over tokens. It stops
// before the first that is not, or that has a fault.
ALWAYS_INLINE void decode_quick(struct value_decoder *d, bool entries)
{
    struct json_quick quick;
    uint8_t stored[NUMBER_BYTES_MAX];
    enum value_tag tag;
    struct slice bytes;
    for (;;) {
        const uint8_t *behind =
            entries ? json_quick_entry(d->reader, &quick) : json_quick_element(d->reader, &quick);
        if (behind == NULL ||
            (entries && (quick.name.len == 0 || quick.name.len > LIMIT_ATTRIBUTE_NAME)) ||
            !quick_bytes(&quick, &tag, &bytes, stored))
            return;
        if (entries)
            value_put_entry(&d->builder, quick.name, tag, bytes);
        else
            value_put_scalar(&d->builder, tag, bytes);
        json_quick_take(d->reader, behind);
    }
}

static void decode_quick_elements(struct value_decoder *d)
{
    decode_quick(d, false);
}

static void decode_quick_entries(struct value_decoder *d)
{
    decode_quick(d, true);
}

static inline bool enter(struct value_decoder *d, enum json_kind kind, const struct shape *shape,
                         enum json_place place)
{
    return expect(d, kind, shape, place) && (json_enter(d->reader) || text_error(d));
}

static inline bool leave(struct value_decoder *d)
{
    if (d->reader->error != NULL)
        return text_error(d);
    if (!d->mute)
        (void)value_close(&d->builder);
    return true;
}

static bool decode_list(struct value_decoder *d, unsigned level)
{
    if (!enter(d, JSON_ARRAY, &shape_value_list, PLACE_FIELD))
        return false;
    if (!d->mute)
        value_open_list(&d->builder);
    for (;;) {
        if (!d->mute)
            decode_quick_elements(d);
        if (!json_next_element(d->reader))
            break;
        if (!decode_value(d, PLACE_ELEMENT, level + 1))
            return false;
    }
    return leave(d);
}

static bool check_name(struct value_decoder *d, struct slice name, bool top)
{
    if (name.len == 0)
        return note_fault(d, top ? WEIGHT_TOP_NAME : WEIGHT_INNER_NAME, false, FAULT_NAME);
    if (name.len > LIMIT_ATTRIBUTE_NAME)
        return malformed(d, FAULT_NAME_SIZE);
    return true;
}

static bool decode_map(struct value_decoder *d, enum json_place place, unsigned level)
{
    if (!enter(d, JSON_OBJECT, &shape_value_map, place))
        return false;
    if (!d->mute)
        value_open_map(&d->builder);
    struct slice name;
    for (;;) {
        if (!d->mute)
            decode_quick_entries(d);
        if (!json_next_name(d->reader, &name))
            break;
        if (level == 0)
            d->top_name = name;
        if (!check_name(d, name, level == 0))
            return false;
        if (!d->mute)
            value_name(&d->builder, name);
        if (!decode_value(d, PLACE_ELEMENT, level + 1))
            return false;
    }
    return leave(d);
}

// ---- One AttributeValue ------------------------------------------------------------

// The type a member's name means, or VALUE_TYPES.
static inline enum value_type type_of_name(struct slice name)
{
    // By the first letter: what it means alone, and with an S behind it; one more than the type.
    static const uint8_t types[2][256] = {
        {['S'] = VALUE_S + 1,
         ['N'] = VALUE_N + 1,
         ['B'] = VALUE_B + 1,
         ['L'] = VALUE_L + 1,
         ['M'] = VALUE_M + 1},
        {['S'] = VALUE_SS + 1, ['N'] = VALUE_NS + 1, ['B'] = VALUE_BS + 1},
    };
    if (name.len != 1 && (name.len != 2 || name.ptr[1] != 'S'))
        return value_type_from_name(name);
    unsigned type = types[name.len - 1][name.ptr[0]];
    return type == 0 ? VALUE_TYPES : (enum value_type)(type - 1);
}

static bool decode_typed(struct value_decoder *d, enum value_type type, unsigned level)
{
    switch (type) {
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return decode_set(d, type);
    case VALUE_L:
    case VALUE_M:
        // The scalar at the bottom counts as a level, too.
        if (level >= d->levels) {
            bool kept = fault_is_kept(d);
            if (!fault(d, FAULT_NESTING))
                return false;
            d->too_deep = d->too_deep || kept;
            return json_skip(d->reader) || text_error(d);
        }
        return type == VALUE_L ? decode_list(d, level) : decode_map(d, PLACE_FIELD, level);
    default:
        return decode_scalar(d, type);
    }
}

// How often each type is named in the AttributeValue whose members the reader is at.
struct type_counts {
    size_t left[VALUE_TYPES];
};

static bool count_types(struct value_decoder *d, struct type_counts *counts)
{
    struct json_reader ahead = *d->reader;
    struct slice name;
    *counts = (struct type_counts){{0}};
    while (json_next_name(&ahead, &name)) {
        enum value_type type = type_of_name(name);
        if (type != VALUE_TYPES)
            counts->left[type]++;
        if (!json_skip(&ahead))
            return json_text_error(&ahead, d->error);
    }
    return ahead.error == NULL || json_text_error(&ahead, d->error);
}

static bool decode_null_value(struct value_decoder *d)
{
    return json_read_literal(d->reader) ? malformed(d, FAULT_EMPTY) : text_error(d);
}

// Not white space, nor null.
static inline bool is_plain_opening(uint8_t byte)
{
    return byte == '"' || byte == '{' || byte == '[' || byte == 't' || byte == 'f';
}

// Enters a value that opens as plainly as most do, and decodes its first member. *seen is that
// member's bit; 0 if there was none, and then nothing is consumed. A null and an unknown type
// are not for here.
static bool decode_first(struct value_decoder *d, unsigned level, unsigned *seen)
{
    struct json_quick quick;
    const uint8_t *behind = d->careful ? NULL : json_quick_open(d->reader, &quick);
    *seen = 0;
    if (behind == NULL || behind == d->reader->end || !is_plain_opening(*behind))
        return true;
    enum value_type type = type_of_name(quick.text);
    if (type == VALUE_TYPES)
        return true;
    *seen = 1u << type;
    json_quick_take(d->reader, behind);
    d->reader->depth++;
    return decode_typed(d, type, level);
}

// Decodes the members of the AttributeValue that the reader is in, behind those `seen`.
static bool decode_types(struct value_decoder *d, unsigned level, unsigned seen)
{
    struct type_counts counts;
    if (d->careful && !count_types(d, &counts))
        return false;
    unsigned named = seen;
    struct slice name;
    while (json_next_name(d->reader, &name)) {
        enum value_type type = type_of_name(name);
        bool skipped = type == VALUE_TYPES;
        if (!skipped && d->careful)
            skipped = --counts.left[type] > 0;
        else if (!skipped && (named & 1u << type) != 0)
            d->repeats = d->mute = true;
        named |= 1u << type;
        if (skipped || json_peek(d->reader) == JSON_NULL) {
            if (!json_skip(d->reader))
                return text_error(d);
            continue;
        }
        if (seen != 0)
            d->mute = true; // the fault is noted at the end of the object
        seen |= 1u << type;
        if (!decode_typed(d, type, level))
            return false;
    }
    if (d->reader->error != NULL)
        return text_error(d);
    if (seen == 0)
        return malformed(d, FAULT_EMPTY);
    return (seen & (seen - 1)) == 0 || malformed(d, FAULT_SEVERAL);
}

// `level` is 1 for the value of an attribute, one more in each list or map.
static bool decode_value(struct value_decoder *d, enum json_place place, unsigned level)
{
    unsigned seen;
    if (!decode_first(d, level, &seen))
        return false;
    if (seen != 0)
        return json_leave(d->reader, '}') || decode_types(d, level, seen);
    enum json_kind found = json_peek(d->reader);
    if (found == JSON_NULL)
        return decode_null_value(d);
    if (found != JSON_OBJECT)
        return json_type_error(d->reader, &shape_value, place, found, d->error);
    if (!json_enter(d->reader))
        return text_error(d);
    return decode_types(d, level, 0);
}

// ---- Whole fields --------------------------------------------------------------------

// The first name of the map that is not taken; what stands there has been read without error.
static struct slice find_bad_name(struct json_reader at, bool (*takes)(struct slice))
{
    struct slice name;
    if (takes == NULL || !json_enter(&at))
        return VALUE_NONE;
    while (json_next_name(&at, &name)) {
        if (!takes(name))
            return name;
        if (!json_skip(&at))
            break;
    }
    return VALUE_NONE;
}

static bool decode_finish(struct value_decoder *d, const struct json_reader *bookmark,
                          bool (*takes)(struct slice), struct field_value *out)
{
    if (d->fault != NULL) {
        *out = (struct field_value){.value = value_empty_map(),
                                    .fault = d->fault,
                                    .malformed = d->malformed,
                                    .too_deep = d->too_deep,
                                    .fault_name = d->fault_name,
                                    .bad_name = find_bad_name(*bookmark, takes)};
        return true;
    }
    const struct buf *built = d->builder.out;
    struct slice value = buf_view(built);
    if (built == &d->out)
        value = arena_copy(d->arena, value);
    if (built->failed || value.ptr == NULL)
        return error_budget(d->error);
    *out = (struct field_value){.value = value};
    return true;
}

static bool decode_field(struct value_decoder *d, enum json_place place, bool item,
                         bool (*takes)(struct slice), struct field_value *out)
{
    struct json_reader bookmark = *d->reader;
    d->careful = false;
    for (;;) {
        decoder_begin(d);
        if (!(item ? decode_map(d, place, 0) : decode_value(d, place, 1)))
            return false;
        if (!d->repeats)
            return decode_finish(d, &bookmark, takes, out);
        d->careful = true;
        *d->reader = bookmark;
    }
}

bool value_decode(struct value_decoder *decoder, enum json_place place, struct field_value *out)
{
    decoder->levels = LIMIT_NESTING;
    return decode_field(decoder, place, false, NULL, out);
}

bool value_decode_item(struct value_decoder *decoder, enum json_place place,
                       bool (*takes)(struct slice), struct field_value *out)
{
    // The older layer lets a value of an expression be as deep as the whole of an item.
    decoder->levels = LIMIT_NESTING;
    if (takes != NULL && decoder->layer == LAYER_OLD)
        decoder->levels++;
    return decode_field(decoder, place, true, takes, out);
}
