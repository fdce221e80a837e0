// See plain.h. Reading is one pass over the text, straight into a value builder; the path to the
// value at hand is a list on the stack, made into a JSON pointer only when something is wrong.
// A patch is read twice: first for the names it removes, then for the values.
#include "guard/plain.h"

#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "eval/eval.h"
#include "eval/validate.h"
#include "value/number.h"
#include "json/reader.h"

struct plain {
    struct json_reader reader;
    struct arena *arena;
    struct error *error;
    struct buf out;
    struct buf binary;
    struct value_builder builder;
    struct model_report report;
    bool patch; // null removes
};

static bool read_value(struct plain *p, const struct model_type *type,
                       const struct model_pointer *place, struct slice before);

// ---- What is wrong --------------------------------------------------------------------------

// Notes a fault and goes on. `text` is what came, or NULL if there is no word for it.
static bool fault(struct plain *p, const struct model_pointer *place, const char *expected,
                  const struct slice *text)
{
    struct slice actual = text == NULL ? VALUE_NONE : model_string(p->arena, *text);
    model_report_add(&p->report, place, slice_str(expected), actual);
    return true;
}

static bool malformed(struct plain *p)
{
    if (p->reader.budget)
        return error_budget(p->error);
    return error_set(p->error, ERR_SERIALIZATION, "The body is not JSON: %s, at byte %zu",
                     p->reader.error == NULL ? "a value is missing" : p->reader.error,
                     p->reader.offset);
}

// ---- Types ------------------------------------------------------------------------------------

// How well a type suits a JSON value of that kind: 0 is not at all.
static int suits(const struct model_type *type, enum json_kind kind)
{
    enum value_type stored = model_type_stored(type);
    switch (kind) {
    case JSON_STRING:
        return stored == VALUE_S ? 2 : stored == VALUE_B;
    case JSON_NUMBER:
        return stored == VALUE_N;
    case JSON_ARRAY:
        return type->kind == MODEL_LIST ? 2 : type->kind == MODEL_SET;
    case JSON_OBJECT:
        return type->kind == MODEL_OBJECT ? 2 : type->kind == MODEL_RECORD;
    default:
        return 0;
    }
}

// The type that decides how a JSON value of that kind is read; NULL if none says anything.
static const struct model_type *type_for(const struct model_type *type, enum json_kind kind)
{
    if (type == NULL || type->kind != MODEL_UNION)
        return type;
    const struct model_type *best = NULL;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        if (suits(option, kind) > (best == NULL ? 0 : suits(best, kind)))
            best = option;
    }
    return best;
}

// ---- Scalars ------------------------------------------------------------------------------------

// The stored form of a number's text; what cannot be is a fault, and 0 stands for it.
static bool number_read(struct plain *p, const struct model_pointer *place, struct slice text,
                        uint8_t out[NUMBER_BYTES_MAX], size_t *len)
{
    enum number_status status = number_from_text(text, out, len);
    if (status == NUMBER_OK)
        return true;
    *len = number_from_i64(0, out);
    return fault(p, place,
                 status == NUMBER_PRECISION ? "a number of at most 38 digits"
                                            : "a number between 1E-130 and 9.99E+125",
                 &text);
}

// The bytes of base64 text, valid until the next; what is none is a fault.
static bool binary_read(struct plain *p, const struct model_pointer *place, struct slice text,
                        struct slice *bytes)
{
    buf_clear(&p->binary);
    bool fine = base64_decode(&p->binary, text);
    *bytes = buf_view(&p->binary);
    return fine || fault(p, place, "binary as base64", &text);
}

static bool read_string(struct plain *p, const struct model_type *type,
                        const struct model_pointer *place)
{
    struct slice text;
    if (!json_read_string(&p->reader, &text))
        return malformed(p);
    if (type == NULL || model_type_stored(type) != VALUE_B) {
        value_put_string(&p->builder, text);
        return true;
    }
    if (!binary_read(p, place, text, &text))
        return false;
    value_put_binary(&p->builder, text);
    return true;
}

static bool read_number(struct plain *p, const struct model_pointer *place)
{
    struct slice text;
    uint8_t number[NUMBER_BYTES_MAX];
    size_t len = 0;
    if (!json_read_number(&p->reader, &text))
        return malformed(p);
    if (!number_read(p, place, text, number, &len))
        return false;
    value_put_number(&p->builder, slice_of(number, len));
    return true;
}

// ---- Arrays ---------------------------------------------------------------------------------

static bool read_list(struct plain *p, const struct model_type *type,
                      const struct model_pointer *place)
{
    const struct model_type *item = type != NULL && type->kind == MODEL_LIST ? type->item : NULL;
    struct model_pointer here = {.up = place, .element = true};
    if (!json_enter(&p->reader))
        return malformed(p);
    value_open_list(&p->builder);
    for (; json_next_element(&p->reader); here.index++) {
        if (!read_value(p, item, &here, VALUE_NONE))
            return false;
    }
    if (p->reader.error != NULL)
        return malformed(p);
    return value_close(&p->builder);
}

// One member of a set. A member of another kind is a fault; it is then skipped.
static bool read_member(struct plain *p, enum value_type set, const struct model_pointer *place)
{
    enum json_kind kind = json_peek(&p->reader);
    enum json_kind wanted = set == VALUE_NS ? JSON_NUMBER : JSON_STRING;
    uint8_t number[NUMBER_BYTES_MAX];
    struct slice text;
    size_t len = 0;
    if (kind != wanted)
        return (json_skip(&p->reader) || malformed(p)) &&
               fault(p, place, wanted == JSON_NUMBER ? "number" : "string", NULL);
    if (kind == JSON_STRING) {
        if (!json_read_string(&p->reader, &text))
            return malformed(p);
        if (set == VALUE_BS && !binary_read(p, place, text, &text))
            return false;
        value_member(&p->builder, text);
        return true;
    }
    if (!json_read_number(&p->reader, &text))
        return malformed(p);
    if (!number_read(p, place, text, number, &len))
        return false;
    value_member(&p->builder, slice_of(number, len));
    return true;
}

static bool read_set(struct plain *p, enum value_type set, const struct model_pointer *place)
{
    struct model_pointer here = {.up = place, .element = true};
    if (!json_enter(&p->reader))
        return malformed(p);
    value_open_set(&p->builder, set);
    for (; json_next_element(&p->reader); here.index++) {
        if (!read_member(p, set, &here))
            return false;
    }
    if (p->reader.error != NULL)
        return malformed(p);
    if (!value_close(&p->builder))
        return fault(p, place, "a set without the same member twice", NULL);
    return here.index > 0 || fault(p, place, "a set with at least one member", NULL);
}

static bool read_array(struct plain *p, const struct model_type *type,
                       const struct model_pointer *place)
{
    enum value_type set =
        type != NULL && type->kind == MODEL_SET ? model_type_stored(type) : VALUE_TYPES;
    return set == VALUE_TYPES ? read_list(p, type, place) : read_set(p, set, place);
}

// ---- Objects --------------------------------------------------------------------------------

static int compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// The names of the members of an object that are null, in order. The reader is a copy.
static bool null_names(struct plain *p, struct json_reader reader, struct slice **names,
                       size_t *count)
{
    struct slice name;
    size_t room = 0;
    *count = 0;
    *names = NULL;
    if (!json_enter(&reader))
        return true; // said by the real reading
    while (json_next_name(&reader, &name)) {
        bool null = json_peek(&reader) == JSON_NULL;
        if (!json_skip(&reader))
            return true;
        if (!null)
            continue;
        if (*count == room) {
            room = room == 0 ? 16 : 2 * room;
            struct slice *more = arena_alloc(p->arena, room * sizeof(*more));
            if (more == NULL)
                return error_budget(p->error);
            if (*count > 0)
                memcpy(more, *names, *count * sizeof(*more));
            *names = more;
        }
        (*names)[(*count)++] = name;
    }
    if (*count > 1)
        qsort(*names, *count, sizeof(**names), compare_slices);
    return true;
}

// What a patched object keeps of what was there.
static bool keep_members(struct plain *p, struct slice before)
{
    struct slice *gone;
    size_t count;
    struct value_iter iter;
    if (before.len == 0 || value_type(before) != VALUE_M)
        return true;
    if (!null_names(p, p->reader, &gone, &count))
        return false;
    value_iter_init(&iter, before);
    while (value_iter_next(&iter)) {
        if (count > 0 && bsearch(&iter.name, gone, count, sizeof(*gone), compare_slices) != NULL)
            continue;
        value_name(&p->builder, iter.name);
        value_put(&p->builder, iter.value);
    }
    return true;
}

static const struct model_attribute *member_of(const struct model_type *type, struct slice name)
{
    return type != NULL && type->kind == MODEL_OBJECT ? model_type_field(type, name) : NULL;
}

// Of members that have no declaration of their own.
static const struct model_type *member_type(const struct model_type *type)
{
    return type != NULL && type->kind == MODEL_RECORD ? type->item : NULL;
}

// Whether a null in a patch removes the member. What is required cannot be removed (unless it is
// made again): there it is
// null, for the guard to judge.
static bool null_removes(const struct model_attribute *attribute)
{
    return attribute == NULL || attribute->optional || attribute->on_update;
}

// One member, behind its name.
static bool read_named(struct plain *p, const struct model_attribute *attribute,
                       const struct model_type *type, const struct model_pointer *place,
                       struct slice before)
{
    struct slice name = place->name;
    if (p->patch && json_peek(&p->reader) == JSON_NULL && null_removes(attribute))
        return json_read_literal(&p->reader) || malformed(p);
    if (name.len == 0)
        return fault(p, place, "a name", &name) && (json_skip(&p->reader) || malformed(p));
    value_name(&p->builder, name);
    struct slice old = VALUE_NONE;
    if (before.len > 0 && value_type(before) == VALUE_M)
        old = value_get(before, name);
    return read_value(p, type, place, old);
}

// The members of an object: those of an entity, or else of a type.
static bool read_members(struct plain *p, const struct model_entity *entity,
                         const struct model_type *type, const struct model_pointer *place,
                         struct slice before)
{
    struct model_pointer here = {.up = place};
    value_open_map(&p->builder);
    if (p->patch && !keep_members(p, before))
        return false;
    if (!json_enter(&p->reader))
        return malformed(p);
    while (json_next_name(&p->reader, &here.name)) {
        const struct model_attribute *member =
            entity != NULL ? model_entity_attribute(entity, here.name) : member_of(type, here.name);
        const struct model_type *own = member != NULL ? member->type : member_type(type);
        if (entity != NULL &&
            (slice_is(here.name, MODEL_PLAIN_ENTITY) || slice_is(here.name, MODEL_PLAIN_OBJECTS))) {
            if (!json_skip(&p->reader))
                return malformed(p);
        } else if (!read_named(p, member, own, &here, before)) {
            return false;
        }
    }
    if (p->reader.error != NULL)
        return malformed(p);
    return value_close(&p->builder);
}

static bool read_value(struct plain *p, const struct model_type *wanted,
                       const struct model_pointer *place, struct slice before)
{
    enum json_kind kind = json_peek(&p->reader);
    const struct model_type *type = type_for(wanted, kind);
    switch (kind) {
    case JSON_STRING:
        return read_string(p, type, place);
    case JSON_NUMBER:
        return read_number(p, place);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        if (!json_read_literal(&p->reader))
            return malformed(p);
        if (kind == JSON_NULL)
            value_put_null(&p->builder);
        else
            value_put_bool(&p->builder, kind == JSON_TRUE);
        return true;
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (p->reader.depth > LIMIT_NESTING) {
            value_put_null(&p->builder);
            return (json_skip(&p->reader) || malformed(p)) &&
                   fault(p, place, "at most 32 levels of lists and objects", NULL);
        }
        return kind == JSON_OBJECT ? read_members(p, NULL, type, place, before)
                                   : read_array(p, type, place);
    default:
        return malformed(p);
    }
}

// ---- Whole entities --------------------------------------------------------------------------

static bool read_entity(struct plain *p, const struct model_entity *entity, struct slice before,
                        struct slice *item)
{
    if (json_peek(&p->reader) == JSON_BAD)
        return malformed(p);
    if (json_peek(&p->reader) != JSON_OBJECT)
        return error_set(p->error, ERR_SERIALIZATION, "The body is not a JSON object");
    if (!read_members(p, entity, NULL, NULL, before))
        return false;
    if (!json_at_end(&p->reader))
        return malformed(p);
    if (p->report.count > 0)
        return model_report_refuse(&p->report, "Entity", entity->name, p->error);
    struct slice copy = p->out.failed ? VALUE_NONE : arena_copy(p->arena, buf_view(&p->out));
    if (copy.ptr == NULL)
        return error_budget(p->error);
    *item = copy;
    return true;
}

static bool read_text(const struct model_entity *entity, struct slice text, bool patch,
                      struct slice before, struct arena *arena, struct slice *item,
                      struct error *error)
{
    struct plain p = {.arena = arena, .error = error, .patch = patch};
    json_reader_init(&p.reader, text, arena);
    model_report_init(&p.report, arena);
    buf_init(&p.out, LIMIT_REQUEST_MEMORY);
    buf_init(&p.binary, LIMIT_BODY);
    value_builder_init(&p.builder, &p.out);
    bool fine = read_entity(&p, entity, before, item);
    value_builder_release(&p.builder);
    buf_release(&p.binary);
    buf_release(&p.out);
    return fine;
}

bool model_plain_read(const struct model_entity *entity, struct slice text, struct arena *arena,
                      struct slice *item, struct error *error)
{
    return read_text(entity, text, false, VALUE_NONE, arena, item, error);
}

bool model_plain_patch(const struct model_entity *entity, struct slice before, struct slice text,
                       struct arena *arena, struct slice *item, struct error *error)
{
    return read_text(entity, text, true, before, arena, item, error);
}
