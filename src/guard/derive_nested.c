// Defaults and normal forms of the fields of objects, however deep: see guard_internal.h. Maps and
// lists are built anew, and the new one is dropped if nothing in it has changed.
#include "guard/guard_internal.h"

enum { TYPES_MAX = 256 };

// The types that were looked at: a type may contain itself.
struct seen {
    size_t count;
    const struct model_type *types[TYPES_MAX];
};

static bool type_needed(const struct model_type *type, struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->types[i] == type)
            return false;
    if (seen->count == TYPES_MAX)
        return true; // it costs a little to look into values for nothing
    seen->types[seen->count++] = type;
    for (size_t i = 0; i < type->field_count; i++)
        if (type->fields[i].normal != 0 || type->fields[i].otherwise != NULL ||
            type_needed(type->fields[i].type, seen))
            return true;
    for (size_t i = 0; i < type->option_count; i++)
        if (type_needed(type->options[i], seen))
            return true;
    return type->item != NULL && type_needed(type->item, seen);
}

bool nested_needed(const struct model_type *type)
{
    struct seen seen = {.count = 0};
    return type_needed(type, &seen);
}

static struct slice field_value(struct guard_work *work, const struct model_attribute *field,
                                struct slice value, struct slice old)
{
    if (value.len > 0) {
        if (field->normal != 0 && value.ptr[0] == VALUE_TAG_S)
            return work_normal_of(work, field, value);
        return work_nested(work, field->type, value, old);
    }
    if (field->otherwise == NULL)
        return VALUE_NONE;
    // As with attributes: what was there is kept, and gone for good if it may be.
    if (old.len > 0)
        return field->optional ? VALUE_NONE : old;
    bool due = !field->optional || (work->occasion != GUARD_TOUCH && work->is_put);
    if (!due || model_eval(field->otherwise, &work->scope, model_kind_wanted(field->type),
                           &value) != EVAL_OK)
        return VALUE_NONE;
    return value;
}

// The new form of a member, or the same.
static struct slice member_value(struct guard_work *work, const struct model_type *type,
                                 struct slice name, struct slice value, struct slice old)
{
    if (type->kind != MODEL_OBJECT)
        return type->item != NULL ? work_nested(work, type->item, value, old) : value;
    steps_add(&work->check->steps, type->field_count / 4); // it looks at one after the other
    const struct model_attribute *field = model_type_field(type, name);
    return field != NULL ? field_value(work, field, value, old) : value;
}

// All members in their new form; true if one of them is another one.
static bool put_members(struct guard_work *work, const struct model_type *type, struct slice value,
                        struct slice old, struct value_builder *builder)
{
    struct value_iter iter;
    struct value_walk before; // members of lists have no name to be known by
    bool changed = false;
    bool map = value.ptr[0] == VALUE_TAG_M;
    bool had = map && old.len > 0 && old.ptr[0] == VALUE_TAG_M;
    if (had)
        value_walk_init(&before, old);
    steps_add(&work->check->steps, 2 * value_count(value) + type->field_count);
    steps_bytes(&work->check->steps, 2 * value.len); // into the builder, and into the arena
    value_iter_init(&iter, value);
    while (value_iter_next(&iter)) {
        struct slice was = had ? value_walk_to(&before, iter.name) : VALUE_NONE;
        struct slice made = member_value(work, type, iter.name, iter.value, was);
        work->failed = work->failed || made.ptr == NULL;
        changed = changed || made.ptr != iter.value.ptr;
        if (map)
            value_name(builder, iter.name);
        value_put(builder, made.len > 0 ? made : iter.value);
    }
    struct value_walk walk;
    if (type->field_count > 0)
        value_walk_init(&walk, value);
    if (had)
        value_walk_init(&before, old);
    for (size_t i = 0; i < type->field_count; i++) {
        struct slice name = type->fields[i].name;
        struct slice was = had ? value_walk_to(&before, name) : VALUE_NONE;
        if (value_walk_to(&walk, name).len > 0)
            continue;
        struct slice made = field_value(work, &type->fields[i], VALUE_NONE, was);
        if (made.len == 0)
            continue;
        changed = true;
        value_name(builder, name);
        value_put(builder, made);
    }
    return changed;
}

static struct slice rebuild(struct guard_work *work, const struct model_type *type,
                            struct slice value, struct slice old)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, (size_t)LIMIT_ITEM_SIZE * 4);
    value_builder_init(&builder, &out);
    if (value.ptr[0] == VALUE_TAG_M)
        value_open_map(&builder);
    else
        value_open_list(&builder);
    struct slice made = value;
    bool changed = put_members(work, type, value, old, &builder);
    bool whole = value_close(&builder) && !out.failed;
    if (changed)
        made = whole ? arena_copy(work->arena, buf_view(&out)) : VALUE_NONE;
    value_builder_release(&builder);
    buf_release(&out);
    return made;
}

// The option of a union that the value is of, if it has members.
static const struct model_type *option_of(const struct model_type *type, struct slice value)
{
    for (size_t i = 0; i < type->option_count; i++)
        if (model_type_stores(type->options[i], value_type(value)))
            return type->options[i];
    return type;
}

struct slice work_nested(struct guard_work *work, const struct model_type *type, struct slice value,
                         struct slice old)
{
    if (type->kind == MODEL_UNION)
        type = option_of(type, value);
    bool map = value.ptr[0] == VALUE_TAG_M;
    bool fits = (map && (type->kind == MODEL_OBJECT || type->kind == MODEL_RECORD)) ||
                (value.ptr[0] == VALUE_TAG_L && type->kind == MODEL_LIST);
    return fits && !check_over(work->check) ? rebuild(work, type, value, old) : value;
}
