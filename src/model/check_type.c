// Types: every name is known, aliases are what they stand for, unions are flat, and no type needs
// an endless value.
#include "model/parse_internal.h"
#include "model/time.h"

// Names that other languages have, and modifiers that stand where the type was forgotten.
static const char *type_hint(struct slice name)
{
    static const struct {
        const char *name;
        const char *hint;
    } hints[] = {
        {"bool", "boolean"},       {"int", "integer"},    {"long", "integer"},
        {"float", "number"},       {"double", "number"},  {"decimal", "number"},
        {"str", "string"},         {"text", "string"},    {"varchar", "string"},
        {"datetime", "timestamp"}, {"Date", "timestamp"}, {"time", "timestamp"},
        {"map", "object"},         {"json", "any"},       {"unknown", "any"},
        {"bytes", "binary"},       {"blob", "binary"},    {"array", "list"},
    };
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        if (slice_is(name, hints[i].name))
            return hints[i].hint;
    return NULL;
}

static bool is_modifier(struct slice name)
{
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++)
        if (slice_is(name, one->word))
            return true;
    return false;
}

static void unknown_type(struct model_file *file, const struct raw_use *use)
{
    struct slice name = use->named->type->name;
    struct model_guess guess = model_guess_for(name);
    const char *hint = type_hint(name);
    if (is_modifier(name)) {
        (void)file_error(file, use->at, "expected a type before \"%.*s\"", SLICE_FMT(name));
        return;
    }
    for (size_t i = 0; i <= MODEL_KINDS; i++)
        model_guess_candidate(&guess, slice_str(model_type_words[i]));
    for (struct raw_type *other = file->types.first; other != NULL; other = other->next)
        if (other->at.line > 0)
            model_guess_candidate(&guess, other->type->name);
    if (hint != NULL)
        guess.best = slice_str(hint);
    (void)file_error(file, use->at, "unknown type \"%.*s\"%s", SLICE_FMT(name),
                     model_guess_say(&guess, file->p.scratch));
}

static bool same_option(const struct model_type *a, const struct model_type *b)
{
    return a == b || (a->kind == MODEL_LITERAL && b->kind == MODEL_LITERAL &&
                      slice_equal(a->literal, b->literal));
}

struct gathered {
    const struct model_type *list[LIMIT_MODEL_MEMBERS];
    size_t count;
    bool full;
};

static void gather(struct gathered *all, const struct model_type *option)
{
    for (size_t i = 0; i < all->count; i++)
        if (same_option(all->list[i], option))
            return;
    if (all->count == LIMIT_MODEL_MEMBERS)
        all->full = true;
    else
        all->list[all->count++] = option;
}

static struct raw_type *named_type(const struct model_file *file, const struct model_type *type)
{
    for (struct raw_type *named = file->types.first; type->name.len > 0 && named != NULL;
         named = named->next)
        if (named->type == type)
            return named;
    return NULL;
}

static bool resolve_named(struct model_file *file, struct raw_type *named);

// The options of options in place of unions. Unions without a name nest only as deep as the parser
// allows; named ones know when they meet themselves.
static bool flatten(struct model_file *file, struct model_type *type, struct model_place at)
{
    bool nested = false;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        struct raw_type *named = named_type(file, option);
        if (named != NULL && !resolve_named(file, named))
            return false;
        if (option->kind != MODEL_UNION)
            continue;
        nested = true;
        if (named == NULL && !flatten(file, (struct model_type *)option, at))
            return false;
    }
    struct gathered *all = nested ? file_scratch(file, 1, sizeof *all) : NULL;
    if (!nested)
        return true;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        for (size_t k = 0; option->kind == MODEL_UNION && k < option->option_count; k++)
            gather(all, option->options[k]);
        if (option->kind != MODEL_UNION)
            gather(all, option);
    }
    if (all->full)
        return file_error(file, at, "a union has at most %d options", LIMIT_MODEL_MEMBERS);
    const struct model_type **options = file_alloc(file, all->count, sizeof(struct model_type *));
    if (options == NULL)
        return false;
    memcpy(options, all->list, all->count * sizeof(struct model_type *));
    type->options = options;
    type->option_count = all->count;
    return true;
}

static bool resolve_named(struct model_file *file, struct raw_type *named)
{
    if (named->state == TYPE_DONE)
        return true;
    if (named->state == TYPE_BUSY)
        return file_error(file, named->at, "type \"%.*s\" is nothing but itself",
                          SLICE_FMT(named->type->name));
    named->state = TYPE_BUSY; // whoever comes here again while this is so has met itself
    bool ok = true;
    if (named->alias != NULL) {
        struct raw_type *other = named_type(file, named->alias);
        if (other != NULL)
            ok = resolve_named(file, other);
        else if (named->alias->kind == MODEL_UNION)
            ok = flatten(file, (struct model_type *)named->alias, named->at);
        if (ok) {
            // Mentions have the address already: the type is filled in place, and keeps its name.
            struct slice name = named->type->name;
            *named->type = *named->alias;
            named->type->name = name;
            named->type->doc = named->doc;
            named->type->written = named->written;
        }
    }
    named->state = TYPE_DONE;
    return ok;
}

// Members of a set: text, numbers or binary, of one kind.
static bool set_member(const struct model_type *type, enum value_type *common)
{
    if (type->kind == MODEL_UNION) {
        for (size_t i = 0; i < type->option_count; i++)
            if (type->options[i]->kind == MODEL_UNION || !set_member(type->options[i], common))
                return false;
        return true;
    }
    if (type->kind == MODEL_SET)
        return false;
    enum value_type stored = model_type_stored(type);
    if (stored != VALUE_S && stored != VALUE_N && stored != VALUE_B)
        return false;
    if (*common == VALUE_TYPES)
        *common = stored;
    return *common == stored;
}

static void check_sets(struct model_file *file)
{
    static const struct model_type text = {.kind = MODEL_STRING};
    for (struct raw_union *set = file->sets.first; set != NULL; set = set->next) {
        enum value_type common = VALUE_TYPES;
        if (set_member(set->type->item, &common))
            continue;
        (void)file_error(file, set->at,
                         "the members of a set are all text, all numbers or all "
                         "binary");
        set->type->item = &text;
    }
}

// ---- Endless types --------------------------------------------------------------------------

static void visit(struct model_file *file, struct raw_type *named);

// Objects that a value of the object must have inside it. Lists, records and optional fields may be
// empty, and unions have another way out.
static void visit_fields(struct model_file *file, const struct model_type *object)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const struct model_type *type = object->fields[i].type;
        if (object->fields[i].optional || type->kind != MODEL_OBJECT)
            continue;
        struct raw_type *named = named_type(file, type);
        if (named == NULL)
            visit_fields(file, type);
        else
            visit(file, named);
    }
}

static void visit(struct model_file *file, struct raw_type *named)
{
    if (named->state == TYPE_BUSY)
        (void)file_error(file, named->at,
                         "type \"%.*s\" contains itself without end; make a field optional, or a "
                         "list",
                         SLICE_FMT(named->type->name));
    if (named->state != TYPE_NEW)
        return;
    named->state = TYPE_BUSY;
    visit_fields(file, named->type);
    named->state = TYPE_DONE;
}

static void check_endless(struct model_file *file)
{
    for (struct raw_type *named = file->types.first; named != NULL; named = named->next)
        named->state = TYPE_NEW;
    for (struct raw_type *named = file->types.first; named != NULL; named = named->next)
        if (named->type->kind == MODEL_OBJECT)
            visit(file, named);
}

// ---- All ------------------------------------------------------------------------------------

static bool gather_types(struct model_file *file)
{
    const struct model_type **list =
        file_alloc(file, file->types.count + 1, sizeof(struct model_type *));
    uint32_t *lines = file_scratch(file, file->types.count + 1, sizeof *lines);
    if (list == NULL || lines == NULL)
        return false;
    size_t count = 0;
    for (struct raw_type *named = file->types.first; named != NULL; named = named->next) {
        if (named->at.line == 0)
            continue;
        size_t at = count++;
        for (; at > 0 && lines[at - 1] > named->at.line; at--) {
            lines[at] = lines[at - 1];
            list[at] = list[at - 1];
        }
        lines[at] = named->at.line;
        list[at] = named->type;
    }
    file->model->types = list;
    file->model->type_count = count;
    return true;
}

void check_types(struct model_file *file)
{
    for (struct raw_use *use = file->uses.first; use != NULL; use = use->next)
        if (use->named->at.line == 0)
            unknown_type(file, use);
    bool ok = true;
    for (struct raw_type *named = file->types.first; named != NULL; named = named->next)
        ok = resolve_named(file, named) && ok;
    for (struct raw_union *one = file->unions.first; ok && one != NULL; one = one->next)
        ok = flatten(file, one->type, one->at);
    check_sets(file);
    check_endless(file);
    (void)gather_types(file);
}

bool check_literal(const struct model_type *type, struct slice value)
{
    enum value_type stored = value_type(value);
    struct model_time time;
    switch (type->kind) {
    case MODEL_ANY:
        return true;
    case MODEL_LITERAL:
        return slice_equal(type->literal, value);
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++)
            if (type->options[i]->kind != MODEL_UNION && check_literal(type->options[i], value))
                return true;
        return false;
    case MODEL_LIST: // the empty one is all that can be written
        return stored == VALUE_L && model_length_fits(type, 0);
    case MODEL_RECORD:
        return stored == VALUE_M;
    case MODEL_TIMESTAMP: // it is brought into its form
        return stored == VALUE_S && model_timestamp_parse(value_bytes(value), &time);
    case MODEL_SET:
        return false;
    case MODEL_OBJECT:
        for (size_t i = 0; i < type->field_count; i++)
            if (!type->fields[i].optional && type->fields[i].otherwise == NULL)
                return false;
        return stored == VALUE_M;
    default:
        return model_scalar_fits(type, (enum value_tag)value.ptr[0],
                                 stored == VALUE_S || stored == VALUE_N ? value_bytes(value)
                                                                        : VALUE_NONE);
    }
}
