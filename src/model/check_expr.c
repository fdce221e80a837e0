// Names in expressions, what expressions give, and whether attributes are what they say.
#include "model/parse_internal.h"
#include "value/number.h"

// Everything here is ours until model_parse() ends; the const is for those who come later.
static struct model_expr *own(const struct model_expr *expr)
{
    return (struct model_expr *)expr;
}

// ---- Resolving ------------------------------------------------------------------------------

static bool is_name(const struct model_names *scope, struct slice name)
{
    for (size_t i = 0; i < scope->param_count; i++)
        if (slice_equal(scope->params[i].name, name))
            return true;
    return scope->entity != NULL && model_entity_attribute(scope->entity, name) != NULL;
}

static bool unknown_name(const struct model_expr *expr, const struct model_names *scope,
                         struct arena *scratch, struct diagnostics *diagnostics)
{
    struct slice name = expr->steps[0];
    struct model_guess guess = model_guess_for(name);
    for (size_t i = 0; i < scope->param_count; i++)
        model_guess_candidate(&guess, scope->params[i].name);
    model_guess_attributes(&guess, scope->entity);
    if (scope->entity == NULL && scope->param_count == 0)
        return diagnostic_error(diagnostics, expr->at, "%s cannot name an attribute", scope->what);
    const uint8_t *dash = memchr(name.ptr, '-', name.len);
    if (dash != NULL && is_name(scope, slice_of(name.ptr, (size_t)(dash - name.ptr))))
        return diagnostic_error(diagnostics, expr->at,
                                "\"%.*s\" is one name; to subtract, write spaces around \"-\"",
                                SLICE_FMT(name));
    const char *what = scope->entity != NULL ? "has no attribute" : "has no parameter";
    return diagnostic_error(diagnostics, expr->at, "%s %s \"%.*s\"%s", scope->what, what,
                            SLICE_FMT(name), model_guess_say(&guess, scratch));
}

// The type of a path's end. *known is false if the model does not say (any, or a field that is not
// declared of an object without fields).
static const struct model_type *follow(const struct model_type *type, const struct model_expr *path,
                                       size_t from, bool *wrong)
{
    *wrong = false;
    for (size_t i = from; i < path->step_count; i++) {
        if (type->kind == MODEL_RECORD) {
            type = type->item;
            continue;
        }
        if (type->kind == MODEL_ANY || type->kind == MODEL_UNION ||
            (type->kind == MODEL_OBJECT && type->field_count == 0))
            return NULL;
        const struct model_attribute *field =
            type->kind == MODEL_OBJECT ? model_type_field(type, path->steps[i]) : NULL;
        *wrong = field == NULL;
        if (field == NULL)
            return NULL;
        type = field->type;
    }
    return type;
}

// actor.NAME, where there is somebody who asks.
static bool resolve_tag(const struct model_expr *expr, const struct model_names *scope,
                        struct diagnostics *diagnostics)
{
    if (scope->entity != NULL && model_entity_attribute(scope->entity, expr->steps[0]) != NULL)
        return diagnostic_error(diagnostics, expr->at,
                                "\"actor\" is whoever asks, and an attribute of %s: a policy "
                                "cannot tell them apart",
                                scope->what);
    if (expr->step_count != 2)
        return diagnostic_error(diagnostics, expr->at,
                                "write \"actor.NAME\" for a tag of whoever asks, or \"actor()\"");
    own(expr)->kind = MODEL_EXPR_TAG;
    return true;
}

static bool resolve_path(const struct model_expr *expr, const struct model_names *scope,
                         struct arena *scratch, struct diagnostics *diagnostics)
{
    if ((scope->allows & MODEL_ALLOW_TAGS) && slice_is(expr->steps[0], "actor"))
        return resolve_tag(expr, scope, diagnostics);
    for (size_t i = 0; i < scope->param_count; i++) {
        if (!slice_equal(scope->params[i].name, expr->steps[0]))
            continue;
        if (expr->step_count > 1)
            return diagnostic_error(diagnostics, expr->at, "a parameter has no members");
        own(expr)->kind = MODEL_EXPR_PARAM;
        own(expr)->param = i;
        if (scope->used != NULL)
            scope->used[i] = true;
        return true;
    }
    const struct model_attribute *attribute =
        scope->entity == NULL ? NULL : model_entity_attribute(scope->entity, expr->steps[0]);
    if (attribute == NULL)
        return scope->lax || unknown_name(expr, scope, scratch, diagnostics);
    own(expr)->attribute = attribute;
    bool wrong = false;
    (void)follow(attribute->type, expr, 1, &wrong);
    if (wrong && !scope->lax)
        return diagnostic_error(diagnostics, expr->at, "\"%.*s\" has no such field",
                                SLICE_FMT(attribute->name));
    return true;
}

// The second argument of pad() and fixed(): a whole number within bounds.
static bool check_digits(const struct model_expr *expr, int64_t least, int64_t most,
                         struct diagnostics *diagnostics)
{
    const struct model_expr *second = expr->args[1];
    int64_t number = 0;
    if (second->kind == MODEL_EXPR_VALUE && value_type(second->value) == VALUE_N &&
        number_to_i64(value_bytes(second->value), &number) && number >= least && number <= most)
        return true;
    return diagnostic_error(diagnostics, second->at,
                            "%s() takes a whole number of %s from %lld to %lld",
                            model_function_words[expr->function],
                            expr->function == MODEL_FN_PAD ? "characters" : "digits",
                            (long long)least, (long long)most);
}

static bool check_call(const struct model_expr *expr, struct diagnostics *diagnostics)
{
    const struct model_expr *second = expr->arg_count > 1 ? expr->args[1] : NULL;
    bool text =
        second != NULL && second->kind == MODEL_EXPR_VALUE && value_type(second->value) == VALUE_S;
    switch (expr->function) {
    case MODEL_FN_PAD:
        return check_digits(expr, 1, 1024, diagnostics);
    case MODEL_FN_FIXED: {
        const struct model_type *type = model_path_type(expr->args[0]);
        enum value_type stored = type == NULL ? VALUE_TYPES : model_type_stored(type);
        if (stored != VALUE_N && stored != VALUE_TYPES)
            return diagnostic_error(diagnostics, expr->args[0]->at, "fixed() is for numbers");
        return check_digits(expr, 0, 30, diagnostics);
    }
    case MODEL_FN_DATE_PART:
        return (text && model_date_pattern(value_bytes(second->value))) ||
               diagnostic_error(diagnostics, second->at,
                                "date() takes a pattern of yyyy, mm, dd, HH, MM and SS");
    case MODEL_FN_ESCAPE:
    case MODEL_FN_FORBID:
        return second == NULL || (text && file_separator_fits(value_bytes(second->value))) ||
               diagnostic_error(diagnostics, second->at,
                                "%s() takes a separator of 1 to 8 bytes, without letters, digits "
                                "and \"%%\"",
                                model_function_words[expr->function]);
    default:
        return true;
    }
}

// Whether a function means something where it stands.
static bool check_allowed(const struct model_expr *expr, const struct model_names *scope,
                          struct diagnostics *diagnostics)
{
    static const unsigned needs[MODEL_FUNCTIONS] = {
        [MODEL_FN_NOW] = MODEL_ALLOW_CHANCE,       [MODEL_FN_UUID] = MODEL_ALLOW_CHANCE,
        [MODEL_FN_ULID] = MODEL_ALLOW_CHANCE,      [MODEL_FN_ACTOR] = MODEL_ALLOW_ORIGIN,
        [MODEL_FN_OPERATION] = MODEL_ALLOW_ORIGIN, [MODEL_FN_ITEM] = MODEL_ALLOW_IMAGES,
        [MODEL_FN_OLD] = MODEL_ALLOW_IMAGES,       [MODEL_FN_EACH] = MODEL_ALLOW_EACH,
        [MODEL_FN_EVENT] = MODEL_ALLOW_EVENT,
    };
    const char *name = model_function_words[expr->function];
    unsigned missing = needs[expr->function] & ~scope->allows;
    if (expr->function >= MODEL_FN_OF_MIGRATIONS && !scope->lax)
        return diagnostic_error(diagnostics, expr->at, "%s() is only for migrations", name);
    if (missing == 0)
        return true;
    const char *where = missing == MODEL_ALLOW_EACH     ? "is for \"derive … from each\""
                        : missing == MODEL_ALLOW_IMAGES ? "is for \"emit\" and \"audit\""
                        : missing == MODEL_ALLOW_EVENT  ? "is for \"emit\" and \"audit\""
                        : missing == MODEL_ALLOW_ORIGIN
                            ? "cannot stand here: who writes is known at a write alone"
                            : "cannot stand here: it is another each time";
    return diagnostic_error(diagnostics, expr->at, "%s() %s", name, where);
}

bool model_expr_resolve(const struct model_expr *expr, const struct model_names *scope,
                        struct arena *scratch, struct diagnostics *diagnostics)
{
    bool ok = true;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
    case MODEL_EXPR_PARAM:
    case MODEL_EXPR_TAG:
        return true;
    case MODEL_EXPR_PATH:
        return resolve_path(expr, scope, scratch, diagnostics);
    case MODEL_EXPR_TEMPLATE:
        return model_template_resolve(expr->template, scope, scratch, diagnostics);
    default:
        for (size_t i = 0; i < expr->arg_count; i++)
            ok = model_expr_resolve(expr->args[i], scope, scratch, diagnostics) && ok;
        return ok && (expr->kind != MODEL_EXPR_CALL ||
                      (check_allowed(expr, scope, diagnostics) && check_call(expr, diagnostics)));
    }
}

bool model_template_resolve(const struct model_template *template, const struct model_names *scope,
                            struct arena *scratch, struct diagnostics *diagnostics)
{
    bool ok = true;
    for (size_t i = 0; i < template->segment_count; i++)
        if (template->segments[i].expr != NULL)
            ok = model_expr_resolve(template->segments[i].expr, scope, scratch, diagnostics) && ok;
    return ok;
}

// ---- What an expression gives ---------------------------------------------------------------

const struct model_type *model_path_type(const struct model_expr *path)
{
    bool wrong = false;
    if (path->kind != MODEL_EXPR_PATH || path->attribute == NULL)
        return NULL;
    return follow(path->attribute->type, path, 1, &wrong);
}

static enum value_type call_gives(const struct model_expr *expr)
{
    switch (expr->function) {
    case MODEL_FN_NOW:
        return VALUE_TYPES; // text or a number, as is wanted
    case MODEL_FN_EACH:
        return VALUE_TYPES;
    case MODEL_FN_SIZE:
        return VALUE_N;
    case MODEL_FN_ITEM:
    case MODEL_FN_OLD:
        return VALUE_M;
    default:
        return VALUE_S;
    }
}

enum value_type check_gives(const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return value_type(expr->value);
    case MODEL_EXPR_PATH: {
        const struct model_type *type = model_path_type(expr);
        return type == NULL ? VALUE_TYPES : model_type_stored(type);
    }
    case MODEL_EXPR_TEMPLATE:
        return VALUE_S;
    case MODEL_EXPR_CALL:
        return call_gives(expr);
    case MODEL_EXPR_ELSE: {
        enum value_type first = check_gives(expr->args[0]);
        return first == check_gives(expr->args[1]) ? first : VALUE_TYPES;
    }
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT: // a time and seconds are what the time is: text or a number
        return check_gives(expr->args[0]) == VALUE_N ? VALUE_N : VALUE_TYPES;
    case MODEL_EXPR_MULTIPLY:
        return VALUE_N;
    default:
        return VALUE_TYPES;
    }
}

// ---- Attributes -----------------------------------------------------------------------------

static bool is_text(const struct model_type *type)
{
    return model_type_stored(type) == VALUE_S || type->kind == MODEL_ANY;
}

static void check_attribute(struct model_file *file, const struct model_attribute *attribute)
{
    enum value_type stored = model_type_stored(attribute->type);
    struct slice name = attribute->name;
    if (attribute->type->kind == MODEL_ANY && attribute->type->name.len > 0)
        return; // a type that is not known
    ((struct model_attribute *)attribute)->normal |= model_type_form(attribute->type);
    if (attribute->version && stored != VALUE_N)
        (void)file_error(file, attribute->at, "\"%.*s\" counts versions: it has to be a number",
                         SLICE_FMT(name));
    if (attribute->unique && stored != VALUE_S && stored != VALUE_N && stored != VALUE_B)
        (void)file_error(file, attribute->at,
                         "\"%.*s\" cannot be unique: only text, numbers and binary can",
                         SLICE_FMT(name));
    if ((attribute->normal & ~(unsigned)MODEL_TIMES) != 0 && !is_text(attribute->type))
        (void)file_error(file, attribute->at,
                         "lower, upper, trim, squeeze and nfc are for text; \"%.*s\" is none",
                         SLICE_FMT(name));
    if (attribute->matches != NULL && !is_text(attribute->type))
        (void)file_error(file, attribute->at, "\"matches\" is for text; \"%.*s\" is none",
                         SLICE_FMT(name));
}

static void check_fields(struct model_file *file, const struct model_type *type,
                         const struct model_names *scope);

static void check_member(struct model_file *file, const struct model_attribute *attribute,
                         const struct model_names *scope)
{
    check_attribute(file, attribute);
    if (attribute->otherwise != NULL &&
        model_expr_resolve(attribute->otherwise, scope, file->p.scratch, file->p.diagnostics))
        (void)check_default(file, attribute);
    if (attribute->type->name.len == 0)
        check_fields(file, attribute->type, scope);
}

// Fields of objects that stand inside a type; named types are checked once, on their own.
static void check_fields(struct model_file *file, const struct model_type *type,
                         const struct model_names *scope)
{
    struct model_names inner = *scope;
    inner.entity = NULL;
    inner.what = "a field's default";
    if (type->kind == MODEL_LIST || type->kind == MODEL_RECORD) {
        if (type->item->name.len == 0)
            check_fields(file, type->item, scope);
    } else if (type->kind == MODEL_UNION) {
        for (size_t i = 0; i < type->option_count; i++)
            if (type->options[i]->name.len == 0)
                check_fields(file, type->options[i], scope);
    } else if (type->kind == MODEL_OBJECT) {
        for (size_t i = 0; i < type->field_count; i++)
            check_member(file, &type->fields[i], &inner);
    }
}

struct model_names check_scope(struct model_file *file, const struct model_entity *entity)
{
    const char *what = arena_printf(file->p.scratch, "entity \"%.*s\"", SLICE_FMT(entity->name));
    return (struct model_names){.entity = entity,
                                .allows = MODEL_ALLOW_ORIGIN | MODEL_ALLOW_CHANCE,
                                .what = what != NULL ? what : "it"};
}

void check_expressions(struct model_file *file)
{
    struct model_names none = {.allows = MODEL_ALLOW_CHANCE, .what = "a field's default"};
    for (size_t i = 0; i < file->model->type_count; i++)
        check_fields(file, file->model->types[i], &none);
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        if (raw->final == NULL)
            continue;
        struct model_names scope = check_scope(file, raw->final);
        for (size_t i = 0; i < raw->final->attribute_count; i++)
            check_member(file, &raw->final->attributes[i], &scope);
        check_circles(file, raw->final);
    }
}
