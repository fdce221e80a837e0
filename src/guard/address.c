// See address.h.
#include "guard/address.h"

#include "eval/template.h"
#include "eval/validate.h"

enum { MESSAGE_MAX = 16 << 10, KEY_MAX = 64 << 10 };

static size_t key_parts(const struct model_entity *entity)
{
    return 1 + (entity->table->keys.range_count > 0);
}

// ---- Keys -------------------------------------------------------------------------------------

struct address_work {
    const struct model_entity *entity;
    struct model_address address;
    struct arena *arena;
    struct model_report report;
    struct slice attributes; // normalised
};

static const struct model_address_part *part_named(const struct address_work *work,
                                                   struct slice name)
{
    for (size_t i = 0; i < work->address.count; i++) {
        if (slice_equal(work->address.parts[i].name, name))
            return &work->address.parts[i];
    }
    return NULL;
}

static bool is_key(const struct address_work *work, struct slice name)
{
    const struct key_schema *keys = &work->entity->table->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (slice_equal(keys->parts[i].name, name))
            return true;
    }
    return false;
}

static void refuse_attribute(struct address_work *work, struct slice name, struct slice value)
{
    struct model_pointer at = {.name = name};
    struct buf words;
    buf_init(&words, MESSAGE_MAX);
    buf_text(&words, "only what makes the key:");
    for (size_t i = 0; i < work->address.count; i++)
        buf_printf(&words, "%s %.*s", i == 0 ? "" : ",", SLICE_FMT(work->address.parts[i].name));
    model_report_add(&work->report, &at, buf_view(&words), value);
    buf_release(&words);
}

// Judges what came and normalises it. False only without memory.
static bool take_attributes(struct address_work *work, struct slice given)
{
    struct value_maker maker;
    struct value_iter iter;
    bool fine = true;
    value_begin(&maker, LIMIT_ITEM_SIZE * 4);
    value_open_map(&maker.b);
    value_iter_init(&iter, given);
    while (fine && value_iter_next(&iter)) {
        const struct model_address_part *part = part_named(work, iter.name);
        const struct model_attribute *attribute = part == NULL ? NULL : part->attribute;
        struct model_pointer at = {.name = iter.name};
        struct slice value = iter.value;
        if (part == NULL && !is_key(work, iter.name)) {
            refuse_attribute(work, iter.name, value);
            continue;
        }
        if (attribute != NULL && attribute->normal != 0 && value_type(value) == VALUE_S)
            value = model_normalise(value, attribute->normal, work->arena);
        fine = value.len > 0;
        if (fine && attribute != NULL && !model_type_stores(attribute->type, value_type(value)))
            model_report_type(&work->report, &at, attribute->type, value);
        value_name(&maker.b, iter.name);
        value_put(&maker.b, value);
    }
    work->attributes = value_end(&maker, work->arena);
    return fine && work->attributes.ptr != NULL;
}

// A part that could not be made: says which attributes are missing.
static void report_missing(struct address_work *work, size_t which)
{
    struct model_address of_part = {.count = 0};
    struct slice own = work->entity->table->keys.parts[which].name;
    size_t before = work->report.count;
    model_address_add(work->entity, which, &of_part);
    for (size_t i = 0; i < of_part.count; i++) {
        const struct model_address_part *one = &of_part.parts[i];
        struct model_pointer at = {.name = one->name};
        if (one->optional || value_get(work->attributes, one->name).len > 0)
            continue;
        if (one->attribute != NULL)
            model_report_type(&work->report, &at, one->attribute->type, VALUE_NONE);
        else
            model_report_add(&work->report, &at, SLICE_LIT("a part of the key"), VALUE_NONE);
    }
    struct model_pointer at = {.name = own};
    if (work->report.count == before)
        model_report_addf(&work->report, &at, VALUE_NONE, "a key of type %s",
                          value_type_name(work->entity->table->keys.parts[which].type));
}

// The value of one part of the key; false only without memory.
static bool make_part(struct address_work *work, size_t which, struct buf *scratch,
                      struct slice *value)
{
    const struct key_part *schema = &work->entity->table->keys.parts[which];
    const struct model_template *template = work->entity->keys[which].template;
    struct slice given = value_get(work->attributes, schema->name);
    *value = VALUE_NONE;
    if (given.len > 0 || template == NULL) {
        bool fits =
            given.len > 0 && value_type(given) == schema->type && value_bytes(given).len > 0;
        if (fits)
            *value = given;
        else
            report_missing(work, which);
        return true;
    }
    struct model_scope scope = {.item = work->attributes, .arena = work->arena};
    enum eval_status status = model_template_value(template, &scope, schema->type, scratch, value);
    if (status == EVAL_MISSING || status == EVAL_UNFIT) {
        *value = VALUE_NONE;
        report_missing(work, which);
    }
    return status != EVAL_BUDGET;
}

static bool make_key(struct address_work *work, struct slice *key)
{
    struct value_maker maker;
    struct buf scratch;
    bool fine = true;
    buf_init(&scratch, KEY_MAX);
    value_begin(&maker, KEY_MAX);
    value_open_map(&maker.b);
    for (size_t i = 0; fine && i < key_parts(work->entity); i++) {
        struct slice value;
        fine = make_part(work, i, &scratch, &value);
        if (!fine || value.len == 0)
            continue;
        value_name(&maker.b, work->entity->table->keys.parts[i].name);
        value_put(&maker.b, value);
    }
    *key = value_end(&maker, work->arena);
    buf_release(&scratch);
    return fine && key->ptr != NULL;
}

bool model_address_key(const struct model_entity *entity, struct slice attributes,
                       struct arena *arena, struct slice *key, struct error *error)
{
    struct address_work work = {.entity = entity, .arena = arena};
    struct slice made;
    model_address(entity, &work.address);
    model_report_init(&work.report, arena);
    if (!take_attributes(&work, attributes) || !make_key(&work, &made))
        return error_budget(error);
    if (work.report.count > 0)
        return model_report_refuse(&work.report, "Key of entity", entity->name, error);
    *key = made;
    return true;
}
