// Access patterns: finds table, entities and index, completes the key condition from the entities'
// own templates, and judges what the file says itself. And the rules, which only have to name what
// is there.
//
// Completing: a template whose fields are all parameters gives "="; one of which only a beginning
// is fixed gives "begins", up to and with the literal behind the last fixed field.
#include "model/parse_internal.h"

struct pattern {
    struct model_file *file;
    struct raw_access *raw;
    struct model_access *access;
    const struct key_schema *keys;
    struct model_names scope; // of the parameters
    bool used[LIMIT_MODEL_PARAMETERS];
    bool placed[2 * LIMIT_KEY_PARTS]; // conditions of `where` that have found their key part
};

// ---- Names ----------------------------------------------------------------------------------

static bool has_entity(const struct raw_table *table, struct slice name)
{
    return model_table_entity(table->final, name) != NULL;
}

// The table that is named, or the one above the pattern, or any that has the first entity.
static struct raw_table *find_table(struct model_file *file, const struct raw_access *raw)
{
    struct slice first = raw->entity_names[0].name;
    if (raw->table_name.name.len > 0)
        return file_table_named(file, &raw->table_name);
    if (raw->above != NULL && has_entity(raw->above, first))
        return raw->above;
    struct raw_table *found = NULL;
    struct model_guess guess = model_guess_for(first);
    for (struct raw_table *one = file->tables.first; one != NULL; one = one->next) {
        for (size_t i = 0; i < one->final->entity_count; i++)
            model_guess_candidate(&guess, one->entities[i].name);
        if (!has_entity(one, first))
            continue;
        if (found != NULL)
            return diagnostic_fail(
                file->p.diagnostics, raw->entity_names[0].at,
                "tables \"%.*s\" and \"%.*s\" both have an entity \"%.*s\"; write "
                "\"of TABLE\"",
                SLICE_FMT(found->table.name), SLICE_FMT(one->table.name), SLICE_FMT(first));
        found = one;
    }
    if (found == NULL)
        (void)file_error(file, raw->entity_names[0].at, "unknown entity \"%.*s\"%s",
                         SLICE_FMT(first), model_guess_say(&guess, file->p.scratch));
    return found;
}

static bool find_entities(struct pattern *p, const struct raw_table *table)
{
    struct raw_access *raw = p->raw;
    const struct model_entity **list =
        file_alloc(p->file, raw->entity_count, sizeof(struct model_entity *));
    if (list == NULL)
        return false;
    for (size_t i = 0; i < raw->entity_count; i++) {
        struct model_guess guess = model_guess_for(raw->entity_names[i].name);
        for (size_t k = 0; k < table->final->entity_count; k++)
            model_guess_candidate(&guess, table->entities[k].name);
        list[i] = model_table_entity(table->final, raw->entity_names[i].name);
        if (list[i] == NULL)
            return file_error(p->file, raw->entity_names[i].at,
                              "table \"%.*s\" has no entity \"%.*s\"%s",
                              SLICE_FMT(table->table.name), SLICE_FMT(raw->entity_names[i].name),
                              model_guess_say(&guess, p->file->p.scratch));
        for (size_t k = 0; k < i; k++)
            if (list[k] == list[i])
                return file_error(p->file, raw->entity_names[i].at,
                                  "entity \"%.*s\" is there twice",
                                  SLICE_FMT(raw->entity_names[i].name));
    }
    p->access->entities = list;
    p->access->entity_count = raw->entity_count;
    return true;
}

// An entity that has all attributes of the index may only have forgotten to say that it is in it.
static bool no_entry(struct pattern *p, const struct model_index *index)
{
    const struct model_entity *entity = p->access->entities[0];
    bool has = true;
    for (size_t i = index->local ? 1 : 0; i < index->keys.hash_count + index->keys.range_count; i++)
        has = has && model_entity_attribute(entity, index->keys.parts[i].name) != NULL;
    return file_error(p->file, p->raw->index_name.at,
                      "entity \"%.*s\" has no entry in index \"%.*s\"%s", SLICE_FMT(entity->name),
                      SLICE_FMT(index->name),
                      has ? ": it has the attributes, but does not say so (write \"INDEX = "
                            "attribute, …\" in it, or \"for all\" behind the index)"
                          : "");
}

static bool find_index(struct pattern *p, const struct raw_table *table)
{
    struct raw_access *raw = p->raw;
    p->keys = &table->final->keys;
    if (raw->index_name.name.len == 0)
        return true;
    const struct model_index *index = model_table_index(table->final, raw->index_name.name);
    if (index == NULL) {
        struct model_guess guess = model_guess_for(raw->index_name.name);
        for (size_t i = 0; i < table->final->index_count; i++)
            model_guess_candidate(&guess, table->final_indexes[i].name);
        return file_error(p->file, raw->index_name.at, "table \"%.*s\" has no index \"%.*s\"%s",
                          SLICE_FMT(table->table.name), SLICE_FMT(raw->index_name.name),
                          model_guess_say(&guess, p->file->p.scratch));
    }
    size_t position = (size_t)(index - table->final->indexes);
    bool stated = false;
    for (size_t i = 0; i < p->access->entity_count; i++)
        stated = stated || p->access->entities[i]->entries[position].stated;
    if (!stated)
        return no_entry(p, index);
    p->access->index = index;
    p->keys = &index->keys;
    if (p->access->consistent && !index->local)
        return file_error(p->file, raw->index_name.at,
                          "a global index cannot be read consistently");
    return true;
}

// ---- Parameters -----------------------------------------------------------------------------

static const struct model_attribute *attribute_named(const struct pattern *p, struct slice name)
{
    for (size_t i = 0; i < p->access->entity_count; i++) {
        const struct model_attribute *found = model_entity_attribute(p->access->entities[i], name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static const struct model_type text_type = {.kind = MODEL_STRING};
static const struct model_type number_type = {.kind = MODEL_NUMBER};
static const struct model_type binary_type = {.kind = MODEL_BINARY};

// A parameter that is compared with an attribute and has no type is of that attribute's.
static void type_from_condition(struct pattern *p, const struct model_condition *condition)
{
    const struct model_type *type = NULL;
    const struct model_attribute *attribute =
        condition->step_count == 1 ? attribute_named(p, condition->steps[0]) : NULL;
    if (attribute != NULL)
        type = attribute->type;
    for (size_t i = 0; i < p->keys->hash_count + p->keys->range_count && type == NULL; i++)
        if (slice_equal(p->keys->parts[i].name, condition->steps[0]))
            type = p->keys->parts[i].type == VALUE_N   ? &number_type
                   : p->keys->parts[i].type == VALUE_B ? &binary_type
                                                       : &text_type;
    for (size_t i = 0; i < 2 && type != NULL; i++) {
        const struct model_expr *value = condition->values[i];
        if (value != NULL && value->kind == MODEL_EXPR_PARAM &&
            p->raw->params[value->param].type == NULL)
            p->raw->params[value->param].type = type;
    }
}

static void type_parameters(struct pattern *p)
{
    for (size_t i = 0; i < p->access->param_count; i++) {
        struct model_param *param = &p->raw->params[i];
        const struct model_attribute *same = attribute_named(p, param->name);
        if (param->type == NULL)
            param->type = same != NULL ? same->type : NULL;
    }
    for (size_t i = 0; i < p->raw->where_count; i++)
        type_from_condition(p, &p->raw->where[i]);
    for (size_t i = 0; i < p->raw->filter_count; i++)
        type_from_condition(p, &p->raw->filters[i]);
    for (size_t i = 0; i < p->access->param_count; i++)
        if (p->raw->params[i].type == NULL)
            p->raw->params[i].type = &text_type;
}

// ---- Completing from templates --------------------------------------------------------------

static size_t find_param(const struct pattern *p, const struct model_expr *path)
{
    if (path->step_count == 1)
        for (size_t i = 0; i < p->access->param_count; i++)
            if (slice_equal(p->raw->params[i].name, path->steps[0]))
                return i;
    return SIZE_MAX;
}

// The expression in the model's memory, or NULL.
static struct model_expr *keep(struct pattern *p, struct model_expr expr)
{
    struct model_expr *kept = file_alloc(p->file, 1, sizeof *kept);
    if (kept != NULL)
        *kept = expr;
    return kept;
}

static struct model_expr *call_of(struct pattern *p, enum model_function function,
                                  const struct model_expr *arg)
{
    const struct model_expr **args = file_alloc(p->file, 1, sizeof(struct model_expr *));
    if (args == NULL)
        return NULL;
    args[0] = arg;
    return keep(p, (struct model_expr){.kind = MODEL_EXPR_CALL,
                                       .at = arg->at,
                                       .function = function,
                                       .arg_count = 1,
                                       .args = args});
}

// The parameter in place of an attribute, changed as the attribute's text would be before it is
// stored.
static const struct model_expr *param_for(struct pattern *p, const struct model_expr *path,
                                          size_t param)
{
    static const struct {
        unsigned normal;
        enum model_function function;
    } normals[] = {
        {MODEL_TRIM, MODEL_FN_TRIM}, {MODEL_LOWER, MODEL_FN_LOWER}, {MODEL_UPPER, MODEL_FN_UPPER}};
    unsigned normal = path->attribute != NULL ? path->attribute->normal : 0;
    p->used[param] = true;
    const struct model_expr *result =
        keep(p, (struct model_expr){.kind = MODEL_EXPR_PARAM, .at = path->at, .param = param});
    for (size_t i = 0; i < COUNT_OF(normals) && result != NULL; i++)
        if ((normal & normals[i].normal) != 0)
            result = call_of(p, normals[i].function, result);
    return result;
}

static const struct model_template *
fix_template(struct pattern *p, const struct model_template *template, size_t count);

// Whether parameters fix the expression's value. *missing is a path that none does.
static bool is_fixed(const struct pattern *p, const struct model_expr *expr,
                     const struct model_expr **missing)
{
    if (expr->kind == MODEL_EXPR_PATH) {
        if (find_param(p, expr) != SIZE_MAX)
            return true;
        *missing = expr;
        return false;
    }
    if (expr->kind == MODEL_EXPR_ELSE)
        return is_fixed(p, expr->args[0], missing);
    for (size_t i = 0; i < expr->arg_count; i++)
        if (!is_fixed(p, expr->args[i], missing))
            return false;
    for (size_t i = 0; expr->kind == MODEL_EXPR_TEMPLATE && i < expr->template->segment_count; i++)
        if (expr->template->segments[i].expr != NULL &&
            !is_fixed(p, expr->template->segments[i].expr, missing))
            return false;
    return true;
}

// The expression with parameters in place of attributes; it is fixed. "a ?? b" is a: a parameter is
// always there.
static const struct model_expr *fix(struct pattern *p, const struct model_expr *expr)
{
    if (expr->kind == MODEL_EXPR_PATH)
        return param_for(p, expr, find_param(p, expr));
    if (expr->kind == MODEL_EXPR_ELSE)
        return fix(p, expr->args[0]);
    struct model_expr *copy = keep(p, *expr);
    if (copy == NULL)
        return NULL;
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        copy->template = fix_template(p, expr->template, expr->template->segment_count);
    if (expr->arg_count > 0) {
        const struct model_expr **args =
            file_alloc(p->file, expr->arg_count, sizeof(struct model_expr *));
        if (args == NULL)
            return NULL;
        for (size_t i = 0; i < expr->arg_count; i++) {
            args[i] = fix(p, expr->args[i]);
            if (args[i] == NULL)
                return NULL;
        }
        copy->args = args;
    }
    return expr->kind == MODEL_EXPR_TEMPLATE && copy->template == NULL ? NULL : copy;
}

// The first `count` segments with parameters in place of attributes.
static const struct model_template *
fix_template(struct pattern *p, const struct model_template *template, size_t count)
{
    struct model_template *out = file_alloc(p->file, 1, sizeof *out);
    struct model_segment *segments = file_alloc(p->file, count + 1, sizeof *segments);
    if (out == NULL || segments == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        segments[i] = template->segments[i];
        if (segments[i].expr == NULL)
            continue;
        segments[i].expr = fix(p, segments[i].expr);
        if (segments[i].expr == NULL)
            return NULL;
    }
    *out = (struct model_template){.source = template->source,
                                   .bare = template->bare && count == template->segment_count,
                                   .segment_count = count,
                                   .segments = segments};
    return out;
}

// The value of a key part from the first segments of its template.
static const struct model_expr *value_of(struct pattern *p, const struct model_template *template,
                                         size_t count, struct model_place at)
{
    if (template->bare && count == 1)
        return fix(p, template->segments[0].expr);
    const struct model_template *fixed = fix_template(p, template, count);
    return fixed == NULL ? NULL
                         : keep(p, (struct model_expr){
                                       .kind = MODEL_EXPR_TEMPLATE, .at = at, .template = fixed});
}

// ---- Key conditions -------------------------------------------------------------------------

static const struct model_key_part *part_of(const struct pattern *p,
                                            const struct model_entity *entity, size_t part)
{
    if (p->access->index == NULL)
        return &entity->keys[part];
    return &entity->entries[p->access->index - entity->table->indexes].parts[part];
}

// The first entity that says how the part is made.
static const struct model_key_part *stated_part(const struct pattern *p, size_t part)
{
    const struct model_key_part *first = part_of(p, p->access->entities[0], part);
    for (size_t i = 0; i < p->access->entity_count && first->template == NULL; i++)
        first = part_of(p, p->access->entities[i], part);
    return first;
}

static bool add_key(struct pattern *p, size_t part, enum model_op op,
                    const struct model_expr *value, struct model_place at)
{
    struct slice *step = file_alloc(p->file, 1, sizeof *step);
    if (value == NULL || step == NULL)
        return false;
    *step = p->keys->parts[part].name;
    p->access->keys[p->access->key_count++] = (struct model_condition){
        .step_count = 1, .steps = step, .op = op, .values = {value, NULL}, .at = at};
    return true;
}

static const struct model_condition *where_of(struct pattern *p, size_t part)
{
    for (size_t i = 0; i < p->raw->where_count; i++) {
        if (p->placed[i] || p->raw->where[i].step_count != 1 ||
            !slice_equal(p->raw->where[i].steps[0], p->keys->parts[part].name))
            continue;
        p->placed[i] = true;
        return &p->raw->where[i];
    }
    return NULL;
}

// Whether a value can be compared with a key part of this type.
static bool check_value(struct pattern *p, const struct key_part *part,
                        const struct model_expr *value)
{
    enum value_type given = value->kind == MODEL_EXPR_PARAM
                                ? model_type_stored(p->raw->params[value->param].type)
                                : check_gives(value);
    bool number = given == VALUE_N;
    if (given == VALUE_TYPES || number == (part->type == VALUE_N))
        return true;
    return file_error(p->file, value->at, "\"%.*s\" is %s, but this is %s", SLICE_FMT(part->name),
                      part->type == VALUE_N ? "a number" : "text", number ? "a number" : "none");
}

static bool add_where(struct pattern *p, size_t part, const struct model_condition *where)
{
    const struct key_part *key = &p->keys->parts[part];
    bool hash = part < p->keys->hash_count;
    if (hash && where->op != MODEL_OP_EQUAL)
        return file_error(p->file, where->at,
                          "\"%.*s\" is a partition key: it can only be given with \"=\"",
                          SLICE_FMT(key->name));
    if (where->op == MODEL_OP_NOT_EQUAL || where->op >= MODEL_OP_CONTAINS)
        return file_error(p->file, where->at,
                          "a key can be compared with =, <, <=, >, >=, begins or between");
    if (where->op == MODEL_OP_BEGINS && key->type == VALUE_N)
        return file_error(p->file, where->at, "\"%.*s\" is a number; \"begins\" is for text",
                          SLICE_FMT(key->name));
    for (size_t i = 0; i < 2; i++)
        if (where->values[i] != NULL && !check_value(p, key, where->values[i]))
            return false;
    p->access->keys[p->access->key_count++] = *where;
    return true;
}

static bool complete_hash(struct pattern *p, size_t part)
{
    const struct model_condition *where = where_of(p, part);
    if (where != NULL)
        return add_where(p, part, where);
    const struct key_part *key = &p->keys->parts[part];
    const struct model_key_part *made = stated_part(p, part);
    if (made->template == NULL)
        return file_error(p->file, p->access->at,
                          "nothing says what %.*s is: write \"where %.*s = …\"",
                          SLICE_FMT(key->name), SLICE_FMT(key->name));
    for (size_t i = 0; i < made->template->segment_count; i++) {
        const struct model_expr *missing = NULL;
        const struct model_expr *expr = made->template->segments[i].expr;
        if (expr == NULL || is_fixed(p, expr, &missing))
            continue;
        if (missing == NULL)
            return file_error(p->file, p->access->at, "nothing fixes %.*s", SLICE_FMT(key->name));
        return file_error(p->file, p->access->at,
                          "%.*s is \"%.*s\", and nothing fixes \"%.*s\"; make it a parameter, or "
                          "write \"where %.*s = …\"",
                          SLICE_FMT(key->name), SLICE_FMT(made->template->source),
                          SLICE_FMT(missing->steps[0]), SLICE_FMT(key->name));
    }
    return add_key(p, part, MODEL_OP_EQUAL,
                   value_of(p, made->template, made->template->segment_count, p->access->at),
                   p->access->at);
}

// Segments from the beginning that parameters fix, and whether a field is among them.
static size_t fixed_prefix(const struct pattern *p, const struct model_template *template,
                           bool *field)
{
    size_t count = 0;
    *field = false;
    for (; count < template->segment_count; count++) {
        const struct model_expr *missing = NULL;
        const struct model_expr *expr = template->segments[count].expr;
        if (expr != NULL && !is_fixed(p, expr, &missing))
            break;
        *field = *field || expr != NULL;
    }
    return count;
}

// *whole: the part is given with "=", so that the next one may have a condition too.
static bool complete_range(struct pattern *p, size_t part, bool *whole)
{
    *whole = false;
    const struct model_condition *where = where_of(p, part);
    if (where != NULL) {
        *whole = where->op == MODEL_OP_EQUAL;
        return add_where(p, part, where);
    }
    const struct model_key_part *made = stated_part(p, part);
    // Entities of one partition differ in their sort keys: a condition made from the templates of
    // one would lose the others.
    if (p->access->entity_count > 1 || made->template == NULL)
        return true;
    bool field = false;
    size_t count = fixed_prefix(p, made->template, &field);
    *whole = count == made->template->segment_count;
    if (count == 0)
        return true;
    const struct model_expr *last = made->template->segments[count - 1].expr;
    enum model_op op = *whole ? MODEL_OP_EQUAL : MODEL_OP_BEGINS;
    // A field that is followed by another without anything between does not end where it seems to.
    if (!*whole && last != NULL)
        count--;
    if (count == 0)
        return true;
    return add_key(p, part, op, value_of(p, made->template, count, p->access->at), p->access->at);
}

// Whether an expression begins with the attribute.
static bool begins_with(const struct model_expr *expr, struct slice name)
{
    while (expr != NULL && expr->kind != MODEL_EXPR_PATH)
        expr = expr->arg_count > 0 ? expr->args[0] : NULL;
    return expr != NULL && slice_equal(expr->steps[0], name);
}

// A condition on what is no key itself. If a key is made of it, the condition belongs there.
static bool refuse_where(struct pattern *p, const struct model_condition *where)
{
    struct slice name = where->steps[0];
    for (size_t k = 0; k < p->keys->hash_count + p->keys->range_count; k++) {
        const struct model_template *made = stated_part(p, k)->template;
        for (size_t i = 0; made != NULL && i < made->segment_count; i++)
            if (begins_with(made->segments[i].expr, name))
                return file_error(p->file, where->at,
                                  "\"%.*s\" is a part of the key %.*s (\"%.*s\"): write the "
                                  "condition on %.*s",
                                  SLICE_FMT(name), SLICE_FMT(p->keys->parts[k].name),
                                  SLICE_FMT(made->source), SLICE_FMT(p->keys->parts[k].name));
    }
    return file_error(
        p->file, where->at, "\"%.*s\" is no key of %s%.*s; write \"filter\" instead of \"where\"",
        SLICE_FMT(name), p->access->index != NULL ? "index " : "table ",
        SLICE_FMT(p->access->index != NULL ? p->access->index->name : p->access->table->name));
}

static bool complete_keys(struct pattern *p)
{
    size_t hashes = p->keys->hash_count;
    for (size_t i = 0; i < hashes; i++)
        if (!complete_hash(p, i))
            return false;
    bool whole = true;
    for (size_t i = hashes; whole && i < hashes + p->keys->range_count; i++)
        if (!complete_range(p, i, &whole))
            return false;
    for (size_t i = 0; i < p->raw->where_count; i++) {
        const struct model_condition *where = &p->raw->where[i];
        if (p->placed[i])
            continue;
        for (size_t k = 0; k < hashes + p->keys->range_count; k++)
            if (where->step_count == 1 && slice_equal(where->steps[0], p->keys->parts[k].name))
                return file_error(
                    p->file, where->at,
                    "\"%.*s\" can have one condition, and only if the key parts before "
                    "it are given with \"=\"",
                    SLICE_FMT(where->steps[0]));
        return refuse_where(p, where);
    }
    size_t parts = hashes + p->keys->range_count;
    // GetItem reads no index and has no filter.
    p->access->get = p->access->one && p->access->index == NULL && p->access->key_count == parts &&
                     whole && p->raw->filter_count == 0;
    return true;
}

// ---- Filters --------------------------------------------------------------------------------

// The type of what a filter names in one entity; NULL if the model does not say.
static const struct model_type *filtered_type(const struct model_attribute *attribute,
                                              const struct model_condition *filter)
{
    const struct model_type *type = attribute->type;
    for (size_t i = 1; i < filter->step_count && type != NULL; i++) {
        const struct model_attribute *field =
            type->kind == MODEL_OBJECT ? model_type_field(type, filter->steps[i]) : NULL;
        type = type->kind == MODEL_RECORD ? type->item : field != NULL ? field->type : NULL;
    }
    return type;
}

// Whether a value of the type can ever meet the condition.
static bool can_meet(const struct pattern *p, const struct model_type *type, enum model_op op,
                     const struct model_expr *value)
{
    enum value_type given = value->kind == MODEL_EXPR_PARAM
                                ? model_type_stored(p->raw->params[value->param].type)
                                : check_gives(value);
    enum value_type stored = model_type_stored(type);
    bool equal = op == MODEL_OP_EQUAL || op == MODEL_OP_NOT_EQUAL;
    if (type->kind == MODEL_ANY || stored == VALUE_TYPES)
        return true;
    if (op == MODEL_OP_CONTAINS && (type->kind == MODEL_LIST || type->kind == MODEL_SET))
        return type->item == NULL || can_meet(p, type->item, MODEL_OP_EQUAL, value);
    if (op == MODEL_OP_CONTAINS || op == MODEL_OP_BEGINS)
        return (stored == VALUE_S || stored == VALUE_B) &&
               (given == stored || given == VALUE_TYPES);
    if (!equal && stored != VALUE_S && stored != VALUE_N && stored != VALUE_B)
        return false;
    if (equal && value->kind == MODEL_EXPR_VALUE && given != VALUE_NULL)
        return check_literal(type, value->value);
    return given == stored || given == VALUE_TYPES || given == VALUE_NULL;
}

static bool refuse_filter(struct pattern *p, const struct model_condition *filter,
                          const struct model_type *type, const struct model_expr *value)
{
    struct buf text;
    buf_init(&text, 400);
    model_type_text(type, &text);
    (void)file_error(p->file, value->at, "\"%.*s\" is %.*s; \"%s\" with this value makes no sense",
                     SLICE_FMT(filter->steps[filter->step_count - 1]),
                     SLICE_FMT(text.failed ? SLICE_LIT("of another type") : buf_view(&text)),
                     model_op_words[filter->op]);
    buf_release(&text);
    return false;
}

// Of several entities one that can meet the condition is enough.
static bool check_meeting(struct pattern *p, const struct model_condition *filter)
{
    for (size_t i = 0; i < 2 && filter->values[i] != NULL; i++) {
        const struct model_type *refused = NULL;
        bool met = false;
        for (size_t k = 0; k < p->access->entity_count && !met; k++) {
            const struct model_attribute *attribute =
                model_entity_attribute(p->access->entities[k], filter->steps[0]);
            const struct model_type *type =
                attribute == NULL ? NULL : filtered_type(attribute, filter);
            met = attribute != NULL &&
                  (type == NULL || can_meet(p, type, filter->op, filter->values[i]));
            refused = type != NULL ? type : refused;
        }
        if (!met && refused != NULL)
            return refuse_filter(p, filter, refused, filter->values[i]);
    }
    return true;
}

static bool check_filter(struct pattern *p, const struct model_condition *filter)
{
    struct slice name = filter->steps[0];
    for (size_t i = 0; i < p->keys->hash_count + p->keys->range_count; i++)
        if (slice_equal(p->keys->parts[i].name, name))
            return file_error(p->file, filter->at,
                              "\"%.*s\" is a key here; write \"where\" instead of "
                              "\"filter\"",
                              SLICE_FMT(name));
    if (attribute_named(p, name) != NULL)
        return check_meeting(p, filter);
    if (slice_equal(p->access->table->type_attribute, name))
        return true;
    struct model_guess guess = model_guess_for(name);
    for (size_t i = 0; i < p->access->entity_count; i++)
        model_guess_attributes(&guess, p->access->entities[i]);
    return file_error(p->file, filter->at, "entity \"%.*s\" has no attribute \"%.*s\"%s",
                      SLICE_FMT(p->access->entities[0]->name), SLICE_FMT(name),
                      model_guess_say(&guess, p->file->p.scratch));
}

static bool resolve_conditions(struct pattern *p, const struct model_condition *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 2; k++)
            if (list[i].values[k] != NULL &&
                !model_expr_resolve(list[i].values[k], &p->scope, p->file->p.scratch,
                                    p->file->p.diagnostics))
                return false;
    return true;
}

static bool complete(struct pattern *p, const struct raw_table *table)
{
    struct raw_access *raw = p->raw;
    p->access->table = table->final;
    if (!find_entities(p, table) || !find_index(p, table))
        return false;
    p->scope = (struct model_names){.param_count = p->access->param_count,
                                    .params = raw->params,
                                    .used = p->used,
                                    .allows = MODEL_ALLOW_CHANCE,
                                    .what = "the pattern"};
    if (!resolve_conditions(p, raw->where, raw->where_count) ||
        !resolve_conditions(p, raw->filters, raw->filter_count))
        return false;
    type_parameters(p);
    if (!complete_keys(p))
        return false;
    for (size_t i = 0; i < raw->filter_count; i++)
        if (!check_filter(p, &raw->filters[i]))
            return false;
    p->access->params = raw->params;
    p->access->filters = raw->filters;
    p->access->filter_count = raw->filter_count;
    for (size_t i = 0; i < p->access->param_count; i++)
        if (!p->used[i])
            (void)file_error(p->file, raw->param_at[i], "nothing uses parameter \"%.*s\"",
                             SLICE_FMT(raw->params[i].name));
    return true;
}

// Patterns by table, so that each table's can be one array.
static bool gather_accesses(struct model_file *file)
{
    for (struct raw_access *raw = file->accesses.first; raw != NULL; raw = raw->next) {
        raw->table = find_table(file, raw);
        if (raw->table != NULL && raw->table->final->keys.hash_count == 0)
            raw->table = NULL;
        if (raw->table != NULL)
            raw->table->access_limit++;
    }
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next) {
        table->accesses = file_alloc(file, table->access_limit + 1, sizeof *table->accesses);
        if (table->accesses == NULL)
            return false;
    }
    return true;
}

static void check_name(struct model_file *file, const struct raw_access *raw)
{
    const struct raw_table *table = raw->table;
    for (size_t i = 0; i < table->access_count; i++)
        if (slice_equal(table->accesses[i].name, raw->access.name))
            (void)file_error(
                file, raw->access.at, "access pattern \"%.*s\" is declared twice, first in %s",
                SLICE_FMT(raw->access.name), file_line(file, table->accesses[i].at.line));
    if (model_table_entity(table->final, raw->access.name) != NULL)
        (void)file_error(file, raw->access.at,
                         "\"%.*s\" is the name of an entity; a pattern needs another",
                         SLICE_FMT(raw->access.name));
}

void check_accesses(struct model_file *file)
{
    if (!gather_accesses(file))
        return;
    for (struct raw_access *raw = file->accesses.first; raw != NULL; raw = raw->next) {
        struct raw_table *table = raw->table;
        if (table == NULL)
            continue;
        check_name(file, raw);
        // A pattern that is wrong leaves its place to the next one.
        struct model_access *access = &table->accesses[table->access_count];
        *access = raw->access;
        struct pattern pattern = {.file = file, .raw = raw, .access = access};
        if (complete(&pattern, table))
            table->access_count++;
    }
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next) {
        table->final->accesses = table->accesses;
        table->final->access_count = table->access_count;
    }
}

// The filter of one entity must not drop items of another that has such an attribute for itself.
static void check_access_others(struct model_file *file, const struct model_access *access,
                                const struct model_entity *entity)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_entity *other = access->entities[i];
        if (access->get || !model_access_meets_deleted(access, entity) ||
            other->softdelete != NULL ||
            model_entity_attribute(other, entity->softdelete->name) == NULL)
            continue;
        (void)file_error(file, access->at,
                         "\"%.*s\" says that a \"%.*s\" is deleted, and \"%.*s\" has it without "
                         "softdelete: they cannot be in one pattern",
                         SLICE_FMT(entity->softdelete->name), SLICE_FMT(entity->name),
                         SLICE_FMT(other->name));
    }
}

static void check_access_deleted(struct model_file *file, const struct model_access *access)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_entity *entity = access->entities[i];
        check_access_others(file, access, entity);
        if (access->get || !model_access_meets_deleted(access, entity) ||
            model_access_reads(access, entity->softdelete->name))
            continue;
        (void)file_error(file, access->at,
                         "index \"%.*s\" does not have \"%.*s\", so that items of \"%.*s\" that "
                         "are deleted would be shown; project it, or write \"when %.*s missing\" "
                         "behind the entity's entry",
                         SLICE_FMT(access->index->name), SLICE_FMT(entity->softdelete->name),
                         SLICE_FMT(entity->name), SLICE_FMT(entity->softdelete->name));
    }
}

void check_deleted(struct model_file *file)
{
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next)
        for (size_t i = 0; i < table->access_count; i++)
            check_access_deleted(file, &table->accesses[i]);
}
