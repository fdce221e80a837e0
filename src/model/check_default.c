// Defaults: whether what they give is of the attribute's type, and whether they can be made at all.
#include "model/parse_internal.h"

// A name for what an expression gives.
static const char *given_name(enum value_type type)
{
    static const char *const names[] = {
        "null",           "true or false",    "a number",          "text",   "binary",
        "a set of texts", "a set of numbers", "a set of binaries", "a list", "a map"};
    return type < VALUE_TYPES ? names[type] : "something else";
}

static bool accepts(const struct model_type *type, enum value_type given)
{
    if (type->kind == MODEL_ANY)
        return true;
    if (type->kind != MODEL_UNION)
        return model_type_stored(type) == given || model_type_stored(type) == VALUE_TYPES;
    for (size_t i = 0; i < type->option_count; i++)
        if (accepts(type->options[i], given))
            return true;
    return false;
}

// uuid() is for uuid and string, ulid() for string, now() for times.
static bool check_function(struct model_file *file, const struct model_attribute *attribute,
                           const struct model_expr *expr)
{
    const struct model_type *type = attribute->type;
    if (expr->kind != MODEL_EXPR_CALL)
        return true;
    if (type->kind == MODEL_ANY)
        return true;
    bool text = model_type_has(type, MODEL_STRING);
    bool number = model_type_has(type, MODEL_NUMBER) || model_type_has(type, MODEL_INTEGER);
    if (expr->function == MODEL_FN_UUID && !text && !model_type_has(type, MODEL_UUID))
        return file_error(file, expr->at, "uuid() is for a uuid or a string");
    if (expr->function == MODEL_FN_ULID && !text)
        return file_error(file, expr->at, "ulid() is for a string");
    if (expr->function == MODEL_FN_NOW && !text && !number &&
        !model_type_has(type, MODEL_TIMESTAMP) && !model_type_has(type, MODEL_DATE) &&
        !model_type_has(type, MODEL_EPOCH))
        return file_error(file, expr->at,
                          "now() is for a timestamp, a date, an epoch, a string or a number");
    return true;
}

// ---- Sums -----------------------------------------------------------------------------------

// Whether something can be added to what an expression gives: a number, or a time.
static bool can_grow(const struct model_expr *expr)
{
    const struct model_type *type = model_path_type(expr);
    enum value_type given = check_gives(expr);
    if (given == VALUE_N || given == VALUE_TYPES)
        return true;
    return type == NULL
               ? expr->kind == MODEL_EXPR_ELSE
               : model_type_has(type, MODEL_TIMESTAMP) || model_type_has(type, MODEL_DATE) ||
                     model_type_has(type, MODEL_STRING);
}

static bool check_sum(struct model_file *file, const struct model_expr *expr)
{
    enum value_type by = check_gives(expr->args[1]);
    if (!can_grow(expr->args[0]))
        return file_error(file, expr->args[0]->at,
                          "this is neither a number nor a time: nothing can be added to it");
    bool between = expr->kind == MODEL_EXPR_SUBTRACT && can_grow(expr->args[1]); // two times
    return by == VALUE_N || by == VALUE_TYPES || between ||
           file_error(file, expr->args[1]->at,
                      "only a number or a duration can be added or subtracted");
}

bool check_sums(struct model_file *file, const struct model_expr *expr)
{
    bool ok = true;
    for (size_t i = 0; i < expr->arg_count; i++)
        ok = check_sums(file, expr->args[i]) && ok;
    for (size_t i = 0; expr->kind == MODEL_EXPR_TEMPLATE && i < expr->template->segment_count; i++)
        if (expr->template->segments[i].expr != NULL)
            ok = check_sums(file, expr->template->segments[i].expr) && ok;
    for (size_t i = 0; ok && expr->kind == MODEL_EXPR_MULTIPLY && i < 2; i++) {
        enum value_type given = check_gives(expr->args[i]);
        if (given != VALUE_N && given != VALUE_TYPES)
            return file_error(file, expr->args[i]->at, "only numbers can be multiplied");
    }
    bool sum = expr->kind == MODEL_EXPR_ADD || expr->kind == MODEL_EXPR_SUBTRACT;
    return ok && (!sum || check_sum(file, expr));
}

// ---- Types ----------------------------------------------------------------------------------

// Texts of one form are never of another one; times become each other.
static bool is_other_form(const struct model_type *type, const struct model_expr *expr)
{
    static const enum model_kind forms[] = {MODEL_EMAIL, MODEL_URL, MODEL_UUID, MODEL_TIMESTAMP,
                                            MODEL_DATE};
    const struct model_type *from = model_path_type(expr);
    bool known = false;
    bool wanted = false;
    for (size_t i = 0; from != NULL && i < COUNT_OF(forms); i++) {
        known = known || from->kind == forms[i];
        wanted = wanted || type->kind == forms[i];
    }
    bool times = known && wanted && (from->kind == MODEL_TIMESTAMP || from->kind == MODEL_DATE) &&
                 (type->kind == MODEL_TIMESTAMP || type->kind == MODEL_DATE);
    return known && wanted && from->kind != type->kind && !times;
}

static const char *article(const struct model_type *type)
{
    bool literal = type->kind == MODEL_LITERAL || type->kind == MODEL_UNION;
    bool vowel =
        type->kind == MODEL_EMAIL || type->kind == MODEL_INTEGER || type->kind == MODEL_EPOCH;
    return literal ? "" : vowel ? "an " : "a ";
}

static bool not_of_type(struct model_file *file, const struct model_attribute *attribute,
                        const struct model_expr *expr, const char *what, struct slice type)
{
    struct buf value;
    buf_init(&value, 400);
    model_literal_text(expr->value, &value);
    (void)file_error(file, expr->at, "%s %.*s is not %s%.*s", what,
                     SLICE_FMT(value.failed ? SLICE_LIT("value") : buf_view(&value)),
                     article(attribute->type), SLICE_FMT(type));
    buf_release(&value);
    return false;
}

bool check_default(struct model_file *file, const struct model_attribute *attribute)
{
    return check_given(file, attribute, attribute->otherwise, "the default");
}

bool check_given(struct model_file *file, const struct model_attribute *attribute,
                 const struct model_expr *expr, const char *what)
{
    struct buf type;
    buf_init(&type, 400);
    model_type_text(attribute->type, &type);
    struct slice text = type.failed ? SLICE_LIT("the type") : buf_view(&type);
    bool ok = true;
    enum value_type given = check_gives(expr);
    if (expr->kind == MODEL_EXPR_VALUE) {
        ok = check_literal(attribute->type, expr->value) ||
             not_of_type(file, attribute, expr, what, text);
    } else if (!check_sums(file, expr)) {
        ok = false;
    } else if (is_other_form(attribute->type, expr)) {
        ok = file_error(file, expr->at, "%s is %s%s, but \"%.*s\" is %.*s", what,
                        article(model_path_type(expr)),
                        model_type_words[model_path_type(expr)->kind], SLICE_FMT(attribute->name),
                        SLICE_FMT(text));
    } else if (given != VALUE_TYPES && !accepts(attribute->type, given)) {
        ok = file_error(file, expr->at, "%s is %s, but \"%.*s\" is %.*s", what, given_name(given),
                        SLICE_FMT(attribute->name), SLICE_FMT(text));
    } else {
        ok = check_function(file, attribute, expr);
    }
    buf_release(&type);
    return ok;
}

// ---- Circles --------------------------------------------------------------------------------

// The attribute of the entity that the expression needs and that cannot be made yet; NULL if there
// is none.
static const struct model_attribute *needs(const struct model_entity *entity,
                                           const struct model_expr *expr, const bool *made)
{
    const struct model_attribute *found = NULL;
    if (expr->kind == MODEL_EXPR_PATH && expr->attribute != NULL &&
        !made[expr->attribute - entity->attributes])
        return expr->attribute;
    for (size_t i = 0; i < expr->arg_count && found == NULL; i++)
        found = needs(entity, expr->args[i], made);
    for (size_t i = 0;
         expr->kind == MODEL_EXPR_TEMPLATE && found == NULL && i < expr->template->segment_count;
         i++)
        if (expr->template->segments[i].expr != NULL)
            found = needs(entity, expr->template->segments[i].expr, made);
    return found;
}

// Says which attributes are in the circle that this one leads into, and takes them as made.
static void tell_circle(struct model_file *file, const struct model_entity *entity,
                        const struct model_attribute *one, bool *made)
{
    struct buf names;
    size_t count = 0;
    for (size_t i = 0; i < entity->attribute_count; i++)
        one = needs(entity, one->otherwise, made);
    const struct model_attribute *first = one;
    buf_init(&names, 64 << 10);
    do {
        buf_printf(&names, "%s\"%.*s\"", count++ == 0 ? "" : ", ", SLICE_FMT(one->name));
        one = needs(entity, one->otherwise, made);
    } while (one != first);
    (void)file_error(file, first->otherwise->at,
                     count == 1 ? "the default of %.*s needs the attribute itself"
                                : "the defaults of %.*s need each other, so that none can be made",
                     SLICE_FMT(buf_view(&names)));
    buf_release(&names);
    // From here on it is as if the first one had a value; the others follow.
    made[first - entity->attributes] = true;
}

// What each write makes again (on update) may well need what was there before.
static bool make_more(const struct model_entity *entity, bool *made)
{
    bool more = false;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (made[i] || (attribute->otherwise != NULL && !attribute->on_update &&
                        needs(entity, attribute->otherwise, made) != NULL))
            continue;
        made[i] = more = true;
    }
    return more;
}

void check_circles(struct model_file *file, const struct model_entity *entity)
{
    bool *made = file_scratch(file, entity->attribute_count + 1, sizeof *made);
    for (bool all = false; made != NULL && !all;) {
        while (make_more(entity, made)) {}
        all = true;
        for (size_t i = 0; i < entity->attribute_count && all; i++) {
            all = made[i];
            if (!all)
                tell_circle(file, entity, &entity->attributes[i], made);
        }
    }
}
