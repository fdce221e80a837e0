// Checking a decoded request against the constraints of its shape, and the message
// "N validation errors detected: Value '…' at '…' failed to satisfy constraint: …; …".
//
// The idea: the walk costs next to nothing while all is well. Where we are is a chain of
// frames on the stack, printed only for a failure. Order: the members of a structure as
// the shape lists them; of one member whether it is there, its pattern, its least and
// greatest length or value, its enumeration, then what it contains. DynamoDB stops
// counting at ten failures, and so do we.
//
// That is the older layer. The newer one tells of the first length, range or pattern that is broken
// and of nothing else ("Value at 'TableName' failed …", without the value), then of enumerations
// that it knows by other names (new_values); what it does not judge itself, it leaves to the older
// one, and so it does with a request that lacks a member. So a request is first judged the old way,
// which costs good ones nothing more, and the new one has its say if something is wrong.
#include "json/shape_check.h"

#include "base/limits.h"

enum { FAILURES_MAX = 10 };

// One step of where we are; prints as its parent, a dot, and itself.
struct place {
    const struct place *parent;
    const char *member; // of a structure
    struct slice entry; // of a map
    size_t position;    // in a list, from 1
};

struct checker {
    enum service_layer layer;
    const struct shape *shape; // of the whole request
    const void *request;
    bool anew;       // looks for what the newer layer would say
    struct buf text; // the failures so far, with "; " between
    size_t count;
};

static void check_inside(struct checker *c, const struct shape *shape, const void *at,
                         bool inline_struct, const struct place *place);

// ---- Messages --------------------------------------------------------------------

static void print_place(struct buf *out, const struct place *place, bool anew)
{
    if (place->parent != NULL) {
        print_place(out, place->parent, anew);
        buf_byte(out, '.');
    }
    if (place->member != NULL) {
        uint8_t first = (uint8_t)place->member[0];
        buf_byte(out, !anew && first >= 'A' && first <= 'Z' ? (uint8_t)(first + 32) : first);
        buf_text(out, place->member + 1);
        return;
    }
    if (place->position != 0)
        buf_u64(out, place->position);
    else
        echo_text(out, place->entry);
    buf_text(out, ".member");
}

// The text in which the next failure is to be told.
static struct buf *next_failure(struct checker *c)
{
    if (c->count == 0)
        buf_init(&c->text, LIMIT_RESPONSE);
    else
        buf_text(&c->text, "; ");
    c->count++;
    return &c->text;
}

// Begins a failure; the constraint's text follows. `at` is NULL for what is absent.
static struct buf *begin_failure(struct checker *c, const struct place *place,
                                 const struct shape *shape, const void *at, bool inline_struct)
{
    struct buf *out = next_failure(c);
    buf_text(out, "Value ");
    if (at == NULL) {
        buf_text(out, "null ");
    } else if (!c->anew) {
        buf_byte(out, '\'');
        shape_echo(out, shape, c->layer, at, inline_struct);
        buf_text(out, "' ");
    }
    buf_text(out, "at '");
    print_place(out, place, c->anew);
    buf_text(out, "' failed to satisfy constraint: ");
    return out;
}

static void tell_missing(struct checker *c, const struct place *place, const struct shape *shape)
{
    if (!c->anew)
        buf_text(begin_failure(c, place, shape, NULL, true), "Member must not be null");
}

static bool is_full(const struct checker *c)
{
    return c->count >= (c->anew ? 1 : FAILURES_MAX);
}

// ---- The constraints of one value ---------------------------------------------------

// The length of a text as Java counts it: in UTF-16 units.
static int64_t text_length(struct slice text)
{
    int64_t units = 0;
    for (size_t i = 0; i < text.len; i++)
        units += (text.ptr[i] & 0xc0) != 0x80 ? 1 + (text.ptr[i] >= 0xf0) : 0;
    return units;
}

// What min and max are about: a number's value, the length of anything else.
static int64_t measure(const struct shape *shape, const void *at)
{
    switch (shape->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        return text_length(*(const struct slice *)at);
    case SHAPE_BLOB:
        return (int64_t)((const struct slice *)at)->len;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return ((const struct field_int *)at)->value;
    case SHAPE_LIST:
        return (int64_t)((const struct field_list *)at)->count;
    case SHAPE_MAP:
        return (int64_t)((const struct field_map *)at)->count;
    case SHAPE_ITEM:
        return (int64_t)value_count(((const struct field_value *)at)->value);
    default:
        return 0;
    }
}

// A text that needs no counting: a unit takes one to three bytes.
static inline bool is_surely_within(const struct shape *shape, const void *at)
{
    if (shape->kind != SHAPE_STRING)
        return false;
    int64_t bytes = (int64_t)((const struct slice *)at)->len;
    return (!shape->has_min || bytes >= 3 * shape->min) && (!shape->has_max || bytes <= shape->max);
}

static const char *measure_name(const struct shape *shape)
{
    return shape->kind == SHAPE_INTEGER || shape->kind == SHAPE_LONG ? "value" : "length";
}

static bool is_exempt(const struct shape *shape, const void *at)
{
    return shape->exempts != NULL && shape->exempts(*(const struct slice *)at);
}

static bool breaks_pattern(const struct shape *shape, const void *at)
{
    return shape->pattern != NULL && shape->matches != NULL &&
           !shape->matches(*(const struct slice *)at) && !is_exempt(shape, at);
}

static bool breaks_min(enum service_layer layer, const struct shape *shape, const void *at)
{
    return shape->has_min && (layer_is_new(layer) || !shape->new_min) &&
           !is_surely_within(shape, at) && measure(shape, at) < shape->min && !is_exempt(shape, at);
}

static bool breaks_max(enum service_layer layer, const struct shape *shape, const void *at)
{
    if (!shape->has_max || is_surely_within(shape, at))
        return false;
    int64_t max = shape->old_max != 0 && !layer_is_new(layer) ? shape->old_max : shape->max;
    return measure(shape, at) > max && !is_exempt(shape, at);
}

static bool breaks_enum(const struct shape *shape, const void *at)
{
    if (shape->values == NULL)
        return false;
    for (const char *const *value = shape->values; *value != NULL; value++) {
        if (slice_is(*(const struct slice *)at, *value))
            return false;
    }
    return true;
}

static void print_pattern(struct buf *out, const struct shape *shape)
{
    buf_text(out, "Member must satisfy regular expression pattern: ");
    buf_text(out, shape->pattern);
}

static void print_limit(struct buf *out, const struct shape *shape, const char *relation,
                        int64_t limit)
{
    buf_printf(out, "Member must have %s %s than or equal to ", measure_name(shape), relation);
    buf_i64(out, limit);
}

static void print_enum(struct buf *out, const struct shape *shape)
{
    buf_text(out, "Member must satisfy enum value set: [");
    for (const char *const *value = shape->values; *value != NULL; value++) {
        if (value != shape->values)
            buf_text(out, ", ");
        buf_text(out, *value);
    }
    buf_byte(out, ']');
}

// "UPDATE_NEW" is how the newer layer spells it.
static void print_new_enum(struct buf *out, const struct shape *shape)
{
    buf_printf(out, "Failed to satisfy constraint: Member must satisfy enum value set: [%s]",
               shape->new_values);
}

static bool is_constrained(const struct shape *shape)
{
    return shape != NULL &&
           (shape->has_min || shape->has_max || shape->pattern != NULL || shape->values != NULL);
}

// The newer layer leaves a request that lacks a member to the older one.
static bool lacks_member(const struct shape *shape, const void *structure)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        if (member->required &&
            !shape_slot_set(member->shape, (const char *)structure + member->offset))
            return true;
    }
    return false;
}

// Each broken constraint of a value that is there, as a failure of its own.
static void check_own(struct checker *c, const struct shape *shape, const void *at,
                      const struct place *place)
{
    if (breaks_pattern(shape, at) && !is_full(c))
        print_pattern(begin_failure(c, place, shape, at, false), shape);
    if (breaks_min(c->layer, shape, at) && !is_full(c))
        print_limit(begin_failure(c, place, shape, at, false), shape, "greater", shape->min);
    if (breaks_max(c->layer, shape, at) && !is_full(c))
        print_limit(begin_failure(c, place, shape, at, false), shape, "less", shape->max);
    if (c->anew || !breaks_enum(shape, at) || is_full(c))
        return;
    if (shape->new_values != NULL && c->layer == LAYER_JOINED &&
        !lacks_member(c->shape, c->request))
        print_new_enum(next_failure(c), shape);
    else
        print_enum(begin_failure(c, place, shape, at, false), shape);
}

// ---- The constraints of all elements at once --------------------------------------------
//
// What is asked of the elements of a list, of a map's names or of its values is reported for
// the container, once for each of them that breaks it, with all that is asked in brackets.

static bool breaks_any(enum service_layer layer, const struct shape *shape, const void *at)
{
    return breaks_max(layer, shape, at) || breaks_min(layer, shape, at) ||
           breaks_pattern(shape, at) || breaks_enum(shape, at);
}

static void print_all(struct buf *out, const char *what, const struct shape *shape)
{
    const char *comma = "";
    buf_text(out, what);
    buf_text(out, " must satisfy constraint: [");
    if (shape->has_max) {
        print_limit(out, shape, "less", shape->max);
        comma = ", ";
    }
    if (shape->has_min) {
        buf_text(out, comma);
        print_limit(out, shape, "greater", shape->min);
        comma = ", ";
    }
    if (shape->pattern != NULL) {
        buf_text(out, comma);
        print_pattern(out, shape);
        comma = ", ";
    }
    if (shape->values != NULL) {
        buf_text(out, comma);
        print_enum(out, shape);
    }
    buf_byte(out, ']');
}

// `items` are `count` slots of `element`; `holder` is their list or map.
static void check_all(struct checker *c, const char *what, const struct shape *element,
                      const void *items, size_t count, const struct shape *holder,
                      const void *holder_at, const struct place *place)
{
    if (c->anew || !is_constrained(element))
        return;
    size_t size = shape_slot_size(element, true);
    for (size_t i = 0; i < count && !is_full(c); i++) {
        const void *at = (const char *)items + i * size;
        if (shape_slot_set(element, at) && breaks_any(c->layer, element, at))
            print_all(begin_failure(c, place, holder, holder_at, false), what, element);
    }
}

// ---- The walk -------------------------------------------------------------------------

static void check_element(struct checker *c, const struct shape *shape, const void *at,
                          const struct place *place)
{
    if (is_full(c))
        return;
    if (shape->kind != SHAPE_STRUCT && !shape_slot_set(shape, at))
        tell_missing(c, place, shape);
    else
        check_inside(c, shape, at, true, place);
}

static void check_list(struct checker *c, const struct shape *shape, const struct field_list *list,
                       const struct place *place)
{
    const struct shape *element = shape->element;
    size_t size = shape_slot_size(element, true);
    check_all(c, "Member", element, list->items, list->count, shape, list, place);
    for (size_t i = 0; i < list->count; i++) {
        struct place step = {.parent = place, .position = i + 1};
        check_element(c, element, (const char *)list->items + i * size, &step);
    }
}

static void check_names(struct checker *c, const struct shape *shape, const struct field_map *map,
                        const struct place *place)
{
    check_all(c, "Map keys", shape->key, map->names, map->count, shape, map, place);
}

static void check_map(struct checker *c, const struct shape *shape, const struct field_map *map,
                      const struct place *place)
{
    const struct shape *element = shape->element;
    size_t size = shape_slot_size(element, true);
    // In the older layer a bad name of a table is not told of behind other mistakes, and the newer
    // one looks at names before all else.
    if (c->count == 0)
        check_names(c, shape, map, place);
    check_all(c, "Map value", element, map->items, map->count, shape, map, place);
    for (size_t i = 0; i < map->count; i++) {
        struct place step = {.parent = place, .entry = map->names[i]};
        check_element(c, element, (const char *)map->items + i * size, &step);
    }
}

static inline bool has_inside(const struct shape *shape)
{
    return shape->kind == SHAPE_STRUCT || shape->kind == SHAPE_LIST || shape->kind == SHAPE_MAP;
}

static void check_members(struct checker *c, const struct shape *shape, const void *structure,
                          const struct place *place)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape_member *member = &shape->members[i];
        const void *at = (const char *)structure + member->offset;
        bool set = shape_slot_set(member->shape, at);
        if (set ? !is_constrained(member->shape) && !has_inside(member->shape) : !member->required)
            continue;
        if (is_full(c))
            return;
        struct place step = {.parent = place, .member = member->name};
        if (set) {
            check_own(c, member->shape, at, &step);
            check_inside(c, member->shape, at, false, &step);
        } else {
            tell_missing(c, &step, member->shape);
        }
    }
}

// What a value that is there contains.
static void check_inside(struct checker *c, const struct shape *shape, const void *at,
                         bool inline_struct, const struct place *place)
{
    if (shape->kind == SHAPE_STRUCT)
        check_members(c, shape, inline_struct ? at : *(void *const *)at, place);
    else if (shape->kind == SHAPE_LIST)
        check_list(c, shape, at, place);
    else if (shape->kind == SHAPE_MAP)
        check_map(c, shape, at, place);
}

// The first enumeration that the newer layer judges by itself.
static bool check_new_enums(struct checker *c, const struct shape *shape, const void *structure)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct shape *member = shape->members[i].shape;
        const void *at = (const char *)structure + shape->members[i].offset;
        if (member->new_values == NULL || !shape_slot_set(member, at) || !breaks_enum(member, at))
            continue;
        print_new_enum(next_failure(c), member);
        return false;
    }
    return true;
}

// False with what the newer layer says of a request that has all its members.
static bool check_anew(const struct shape *shape, enum service_layer layer, const void *request,
                       struct error *error)
{
    struct checker c = {.layer = layer, .anew = true};
    check_members(&c, shape, request, NULL);
    bool good = c.count == 0 && (layer == LAYER_JOINED || check_new_enums(&c, shape, request));
    if (!good)
        (void)error_validation(error, "%s%.*s", layer_envelope(layer),
                               SLICE_FMT(buf_view(&c.text)));
    if (c.count > 0)
        buf_release(&c.text);
    return good;
}

// The names in the maps of a request.
static void check_all_names(struct checker *c)
{
    for (size_t i = 0; i < c->shape->member_count; i++) {
        const struct shape_member *member = &c->shape->members[i];
        const void *at = (const char *)c->request + member->offset;
        struct place step = {.member = member->name};
        if (member->shape->kind == SHAPE_MAP && shape_slot_set(member->shape, at))
            check_names(c, member->shape, at, &step);
    }
}

bool shape_check(const struct shape *shape, enum service_layer layer, const void *request,
                 struct error *error)
{
    struct checker c;
    c.layer = layer;
    c.shape = shape;
    c.request = request;
    c.anew = false;
    c.count = 0;
    check_members(&c, shape, request, NULL);
    if (c.count == 0)
        return true;
    bool anew = layer_is_new(layer) && !lacks_member(shape, request);
    bool told = anew && !check_anew(shape, layer, request, error);
    if (anew && !told) {
        buf_release(&c.text);
        c.count = 0;
        check_all_names(&c);
        check_members(&c, shape, request, NULL);
    }
    if (!told && c.text.failed)
        (void)error_budget(error);
    else if (!told)
        (void)error_validation(error, "%zu validation error%s detected: %.*s", c.count,
                               c.count > 1 ? "s" : "", SLICE_FMT(buf_view(&c.text)));
    buf_release(&c.text);
    return false;
}
