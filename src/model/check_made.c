// Items that a rule makes (emit, audit, derive): what each of their attributes gets, and whether
// that makes a whole item.
#include "model/parse_internal.h"

struct making {
    struct model_file *file;
    const struct raw_rule *raw;
    struct model_made made;
    struct model_names scope; // of the source
    struct model_assignment *list;
    size_t count;
    bool *given; // by position in the target
};

// ---- Copies
// --------------------------------------------------------------------------------------

// What a rule assigns is resolved for each of its entities, so that each has a copy of its own.
static struct model_expr *expr_copy(struct model_file *file, const struct model_expr *expr);

static struct model_template *template_copy(struct model_file *file,
                                            const struct model_template *template)
{
    struct model_template *copy = file_alloc(file, 1, sizeof *copy);
    struct model_segment *segments =
        file_alloc(file, template->segment_count + 1, sizeof *segments);
    if (copy == NULL || segments == NULL)
        return NULL;
    *copy = *template;
    copy->segments = segments;
    for (size_t i = 0; i < template->segment_count; i++) {
        segments[i] = template->segments[i];
        if (segments[i].expr == NULL)
            continue;
        segments[i].expr = expr_copy(file, segments[i].expr);
        if (segments[i].expr == NULL)
            return NULL;
    }
    return copy;
}

static struct model_expr *expr_copy(struct model_file *file, const struct model_expr *expr)
{
    struct model_expr *copy = file_alloc(file, 1, sizeof *copy);
    const struct model_expr **args =
        file_alloc(file, expr->arg_count + 1, sizeof(struct model_expr *));
    if (copy == NULL || args == NULL)
        return NULL;
    *copy = *expr;
    copy->args = args;
    for (size_t i = 0; i < expr->arg_count; i++) {
        args[i] = expr_copy(file, expr->args[i]);
        if (args[i] == NULL)
            return NULL;
    }
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        copy->template = template_copy(file, expr->template);
    return expr->kind == MODEL_EXPR_TEMPLATE && copy->template == NULL ? NULL : copy;
}

// ---- Assignments
// ---------------------------------------------------------------------------------

static bool is_assigned(const struct making *making, const struct model_attribute *attribute)
{
    return making->given[attribute - making->made.target->attributes];
}

// Whether the server itself says what the attribute is.
static bool is_kept(const struct making *making, const struct model_attribute *attribute)
{
    return attribute->version || attribute->always || attribute->counted ||
           slice_equal(attribute->name, making->made.target->table->type_attribute);
}

static void assign(struct making *making, const struct model_attribute *attribute,
                   const struct model_expr *value, struct model_place at)
{
    making->given[attribute - making->made.target->attributes] = true;
    making->list[making->count++] = (struct model_assignment){attribute, value, at};
}

static bool assign_written(struct making *making)
{
    struct model_file *file = making->file;
    for (struct raw_assignment *one = making->raw->assignments.first; one != NULL;
         one = one->next) {
        const struct model_attribute *attribute =
            check_attribute_name(file, making->made.target, &one->name);
        struct model_expr *value = expr_copy(file, one->value);
        if (attribute == NULL || value == NULL)
            return false;
        if (is_assigned(making, attribute))
            return file_error(file, one->name.at, "\"%.*s\" is given twice",
                              SLICE_FMT(attribute->name));
        if (is_kept(making, attribute))
            return file_error(file, one->name.at,
                              "\"%.*s\" is made by the server: nothing can be assigned to it",
                              SLICE_FMT(attribute->name));
        if (!model_expr_resolve(value, &making->scope, file->p.scratch, file->p.diagnostics) ||
            !check_given(file, attribute, value, "the value"))
            return false;
        assign(making, attribute, value, one->name.at);
    }
    return true;
}

// attribute = function(), unless the file says something else, or there is no such attribute, or it
// cannot hold that.
static bool assign_call(struct making *making, const char *name, enum model_function function)
{
    const struct model_attribute *attribute =
        model_entity_attribute(making->made.target, slice_str(name));
    if (attribute == NULL || is_assigned(making, attribute) || is_kept(making, attribute))
        return true;
    struct model_expr *call = file_alloc(making->file, 1, sizeof *call);
    if (call == NULL)
        return false;
    *call =
        (struct model_expr){.kind = MODEL_EXPR_CALL, .at = making->made.at, .function = function};
    enum value_type gives = check_gives(call);
    enum value_type stored = model_type_stored(attribute->type);
    if (stored == gives || stored == VALUE_TYPES || gives == VALUE_TYPES)
        assign(making, attribute, call, making->made.at);
    return true;
}

// An item that is new was nothing before, and one that is gone is nothing after: what the rule puts
// there has to be optional, or such a write could not be done.
static bool check_image(struct making *making, bool with, const char *name, const char *why)
{
    const struct model_attribute *attribute =
        model_entity_attribute(making->made.target, slice_str(name));
    return !with || attribute == NULL || attribute->optional || is_assigned(making, attribute) ||
           file_error(making->file, making->made.at,
                      "\"%s\" of entity \"%.*s\" has to be optional: %s has none", name,
                      SLICE_FMT(making->made.target->name), why);
}

static bool assign_usual(struct making *making)
{
    const struct model_made *made = &making->made;
    bool ok = true;
    if (made->by != MODEL_DERIVE)
        ok = assign_call(making, "type", MODEL_FN_EVENT);
    if (made->by == MODEL_EMIT)
        ok = ok && assign_call(making, "payload", MODEL_FN_ITEM);
    if (made->by == MODEL_AUDIT)
        ok = ok && assign_call(making, "actor", MODEL_FN_ACTOR) &&
             assign_call(making, "operation", MODEL_FN_OPERATION);
    ok = ok && check_image(making, made->before, "before", "a new item") &&
         check_image(making, made->after, "after", "a removed item");
    if (made->before)
        ok = ok && assign_call(making, "before", MODEL_FN_OLD);
    if (made->after)
        ok = ok && assign_call(making, "after", MODEL_FN_ITEM);
    return ok;
}

// The attributes of the same name. An event is a thing of its own: what it has a default for, it
// does not take from the item. What is derived is a part of the item.
static bool assign_same(struct making *making)
{
    const struct model_made *made = &making->made;
    for (size_t i = 0; i < made->target->attribute_count; i++) {
        const struct model_attribute *attribute = &made->target->attributes[i];
        const struct model_attribute *source =
            model_entity_attribute(made->source, attribute->name);
        bool other = made->by != MODEL_DERIVE && attribute->otherwise != NULL;
        if (source == NULL || other || is_assigned(making, attribute) || is_kept(making, attribute))
            continue;
        enum value_type from = model_type_stored(source->type);
        enum value_type to = model_type_stored(attribute->type);
        if (from != to && from != VALUE_TYPES && to != VALUE_TYPES)
            continue;
        struct model_expr *path = parse_attribute_path(&making->file->p, attribute->name, made->at);
        if (path == NULL)
            return false;
        path->attribute = source;
        assign(making, attribute, path, made->at);
    }
    return true;
}

static bool check_whole(struct making *making)
{
    const struct model_entity *target = making->made.target;
    bool ok = true;
    for (size_t i = 0; i < target->attribute_count; i++) {
        const struct model_attribute *attribute = &target->attributes[i];
        if (attribute->optional || attribute->otherwise != NULL || is_kept(making, attribute) ||
            is_assigned(making, attribute))
            continue;
        ok = file_error(making->file, making->made.at,
                        "items of \"%.*s\" need \"%.*s\", and \"%.*s\" has nothing of that name: "
                        "write \"{ %.*s = … }\" behind the rule",
                        SLICE_FMT(target->name), SLICE_FMT(attribute->name),
                        SLICE_FMT(making->made.source->name), SLICE_FMT(attribute->name));
    }
    return ok;
}

// ---- Derived items
// -------------------------------------------------------------------------------

struct mention {
    const struct model_attribute *attribute;
    bool found;
};

static void note_mention(void *context, const struct model_expr *part)
{
    struct mention *mention = context;
    mention->found =
        mention->found || (part->kind == MODEL_EXPR_PATH && part->attribute == mention->attribute);
}

// Whether the key of what is made has this attribute of the source in it.
static bool is_in_key(const struct making *making, const struct model_address *address,
                      const struct model_attribute *attribute)
{
    struct mention mention = {.attribute = attribute};
    for (size_t i = 0; i < making->count; i++)
        if (model_address_find(address, making->list[i].attribute->name) < address->count)
            model_expr_visit(making->list[i].value, note_mention, &mention);
    return mention.found;
}

// All of the key is given, and no two items make the same one.
static bool check_derived_key(struct making *making)
{
    const struct model_made *made = &making->made;
    struct model_address address;
    struct model_address of_source;
    model_address(made->target, &address);
    model_address(made->source, &of_source);
    for (size_t i = 0; i < address.count; i++) {
        const struct model_attribute *attribute = address.parts[i].attribute;
        bool literal = attribute != NULL && attribute->otherwise != NULL &&
                       attribute->otherwise->kind == MODEL_EXPR_VALUE;
        if (attribute != NULL && !literal && !is_assigned(making, attribute))
            return file_error(making->file, made->at,
                              "the key of \"%.*s\" needs \"%.*s\": write \"{ %.*s = … }\"",
                              SLICE_FMT(made->target->name), SLICE_FMT(attribute->name),
                              SLICE_FMT(attribute->name));
    }
    for (size_t i = 0; i < of_source.count; i++)
        if (of_source.parts[i].attribute != NULL &&
            !is_in_key(making, &address, of_source.parts[i].attribute))
            return file_error(
                making->file, made->at,
                "two items of \"%.*s\" could make the same one of \"%.*s\": its key has to "
                "have \"%.*s\" of \"%.*s\" in it",
                SLICE_FMT(made->source->name), SLICE_FMT(made->target->name),
                SLICE_FMT(of_source.parts[i].name), SLICE_FMT(made->source->name));
    if (made->member != NULL && model_address_find(&address, made->member->name) == address.count)
        return file_error(
            making->file, making->raw->member.at,
            "\"%.*s\" has to be part of the key of \"%.*s\": there is an item for each "
            "member",
            SLICE_FMT(made->member->name), SLICE_FMT(made->target->name));
    return true;
}

static bool check_each(struct making *making)
{
    const struct raw_rule *raw = making->raw;
    struct model_made *made = &making->made;
    if (raw->member.name.len == 0)
        return true;
    made->each = check_attribute_name(making->file, made->source, &raw->names[0]);
    made->member = check_attribute_name(making->file, made->target, &raw->member);
    if (made->each == NULL || made->member == NULL)
        return false;
    if (!model_type_has(made->each->type, MODEL_LIST) &&
        !model_type_has(made->each->type, MODEL_SET) && made->each->type->kind != MODEL_ANY)
        return file_error(making->file, raw->names[0].at, "\"%.*s\" is neither a list nor a set",
                          SLICE_FMT(made->each->name));
    making->scope.allows |= MODEL_ALLOW_EACH;
    struct model_expr *call = file_alloc(making->file, 1, sizeof *call);
    if (call == NULL)
        return false;
    *call = (struct model_expr){
        .kind = MODEL_EXPR_CALL, .at = raw->member.at, .function = MODEL_FN_EACH};
    assign(making, made->member, call, raw->member.at);
    return true;
}

// ---- Rules
// ---------------------------------------------------------------------------------------

static bool make(struct making *making)
{
    struct model_file *file = making->file;
    struct model_made *made = &making->made;
    bool derive = made->by == MODEL_DERIVE;
    making->list = file_alloc(file, made->target->attribute_count + 1, sizeof *making->list);
    making->given = file_scratch(file, made->target->attribute_count + 1, sizeof *making->given);
    if (making->list == NULL || making->given == NULL || !check_each(making) ||
        !assign_written(making) || !assign_usual(making) || !assign_same(making) ||
        !check_whole(making))
        return false;
    if (derive && !check_derived_key(making))
        return false;
    if (!check_test(file, made->when, &making->scope, !derive))
        return false;
    struct model_template *name =
        making->raw->template != NULL ? template_copy(file, making->raw->template) : NULL;
    if (name != NULL &&
        !model_template_resolve(name, &making->scope, file->p.scratch, file->p.diagnostics))
        return false;
    made->name = name;
    made->assignments = making->list;
    made->assignment_count = making->count;
    struct model_made *place = check_add(file, made, made_count);
    if (place != NULL)
        *place = *made;
    return place != NULL;
}

static void check_made(struct model_file *file, const struct raw_rule *raw, enum model_made_by by)
{
    struct model_entity *target = check_entity(file, &raw->target);
    for (size_t i = 0; i < raw->entity_count; i++) {
        struct model_entity *source = check_entity(file, &raw->entities[i]);
        if (source == NULL)
            continue;
        struct making making = {.file = file, .raw = raw, .scope = check_scope(file, source)};
        if (by == MODEL_DERIVE)
            making.scope.allows = 0;
        else
            making.scope.allows |= MODEL_ALLOW_IMAGES | MODEL_ALLOW_EVENT;
        making.made = (struct model_made){.by = by,
                                          .source = source,
                                          .target = target,
                                          .events = raw->events,
                                          .when = raw->when,
                                          .before = raw->before,
                                          .after = raw->after,
                                          .at = raw->rule.at};
        if (target == NULL) { // the names of the source are judged all the same
            if (raw->template != NULL)
                DISREGARD(model_template_resolve(raw->template, &making.scope, file->p.scratch,
                                                 file->p.diagnostics));
            continue;
        }
        if (!make(&making))
            return;
        target->kept = target->kept || by != MODEL_EMIT;
    }
}

void check_emit(struct model_file *file, struct raw_rule *raw)
{
    check_made(file, raw, MODEL_EMIT);
}

void check_audit(struct model_file *file, struct raw_rule *raw)
{
    check_made(file, raw, MODEL_AUDIT);
}

void check_derive(struct model_file *file, struct raw_rule *raw)
{
    for (size_t i = 0; i < file->resolved->made_count; i++) {
        const struct model_made *other = &file->resolved->made[i];
        if (other->by == MODEL_DERIVE && slice_equal(other->target->name, raw->target.name)) {
            (void)file_error(file, raw->target.at, "\"%.*s\" is derived already, in %s",
                             SLICE_FMT(raw->target.name), file_line(file, other->at.line));
            return;
        }
    }
    check_made(file, raw, MODEL_DERIVE);
}

// ---- Circles
// -------------------------------------------------------------------------------------

// The position of an entity in the file.
static uint16_t entity_number(const struct model_file *file, const struct model_entity *entity)
{
    uint16_t number = 0;
    for (const struct raw_entity *raw = file->entities.first; raw != NULL && raw->final != entity;
         raw = raw->next)
        number++;
    return number;
}

struct circles {
    size_t count;
    uint16_t *from; // by rule: its source and its target
    uint16_t *to;
    bool *settled; // by entity
    bool *blocked;
};

// An entity is settled once all that is made of its items is. False when no more can be.
static bool settle(const struct model_rules *rules, struct circles *circles)
{
    bool more = false;
    memset(circles->blocked, 0, circles->count * sizeof *circles->blocked);
    for (size_t i = 0; i < rules->made_count; i++)
        circles->blocked[circles->from[i]] |= !circles->settled[circles->to[i]];
    for (size_t i = 0; i < circles->count; i++) {
        more = more || (!circles->settled[i] && !circles->blocked[i]);
        circles->settled[i] = circles->settled[i] || !circles->blocked[i];
    }
    return more;
}

// What cannot be settled makes items without end.
void check_made_circles(struct model_file *file)
{
    const struct model_rules *rules = file->resolved;
    size_t entities = file->entities.count + 1;
    struct circles circles = {
        .count = entities,
        .from = file_scratch(file, rules->made_count + 1, sizeof *circles.from),
        .to = file_scratch(file, rules->made_count + 1, sizeof *circles.to),
        .settled = file_scratch(file, entities, sizeof *circles.settled),
        .blocked = file_scratch(file, entities, sizeof *circles.blocked),
    };
    if (rules->made_count == 0 || circles.from == NULL || circles.to == NULL ||
        circles.settled == NULL || circles.blocked == NULL)
        return;
    for (size_t i = 0; i < rules->made_count; i++) {
        circles.from[i] = entity_number(file, rules->made[i].source);
        circles.to[i] = entity_number(file, rules->made[i].target);
    }
    while (settle(rules, &circles)) {}
    for (size_t i = 0; i < rules->made_count; i++) {
        if (circles.settled[circles.from[i]])
            continue;
        (void)file_error(
            file, rules->made[i].at,
            "this makes items without end: what is made of \"%.*s\" makes others of it",
            SLICE_FMT(rules->made[i].source->name));
        return;
    }
}
