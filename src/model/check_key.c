// Keys: of tables and indexes, their types, and how each entity makes them.
//
// A key attribute comes about in an entity in one of three ways: by a template that the entity
// gives
// ("PK = …", or as a part of "GSI1 = …, …"), natively (the entity declares an attribute of that
// name), or not at all. An index entry needs all of its parts.
#include "model/parse_internal.h"

static const char *type_name(enum value_type type)
{
    return type == VALUE_N ? "number" : type == VALUE_B ? "binary" : "string";
}

static struct raw_binding *find_binding(const struct raw_entity *raw, struct slice name)
{
    for (struct raw_binding *bound = raw->bindings.first; bound != NULL; bound = bound->next)
        if (slice_equal(bound->name, name))
            return bound;
    return NULL;
}

static bool schema_has(const struct key_schema *keys, struct slice name, size_t *position)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (!slice_equal(keys->parts[i].name, name))
            continue;
        *position = i;
        return true;
    }
    return false;
}

static bool is_key_attribute(const struct raw_table *table, struct slice name)
{
    size_t position = 0;
    if (schema_has(&table->table.keys, name, &position))
        return true;
    for (struct raw_index *one = table->indexes.first; one != NULL; one = one->next)
        if (schema_has(&one->index.keys, name, &position))
            return true;
    return false;
}

static bool is_index(const struct raw_table *table, struct slice name)
{
    for (struct raw_index *one = table->indexes.first; one != NULL; one = one->next)
        if (slice_equal(one->index.name, name))
            return true;
    return false;
}

// The template an entity gives for a key attribute, by its own name or by an index's; or NULL.
static struct raw_template *template_of(const struct raw_entity *raw, struct slice name)
{
    // A name may be both an attribute's and an index's. One template is then the attribute's,
    // several are the index's.
    struct raw_binding *bound = find_binding(raw, name);
    if (bound != NULL && is_key_attribute(raw->table, name) &&
        (bound->count == 1 || !is_index(raw->table, name)))
        return &bound->templates[0];
    for (struct raw_index *one = raw->table->indexes.first; one != NULL; one = one->next) {
        const struct key_schema *keys = &one->index.keys;
        size_t position = 0;
        bound = find_binding(raw, one->index.name);
        bool own = bound != NULL && bound->count == 1 && is_key_attribute(raw->table, bound->name);
        if (bound == NULL || own || !schema_has(keys, name, &position))
            continue;
        // The partition key of a local index is the table's, and need not be repeated.
        size_t first = one->index.local && bound->count == keys->range_count ? keys->hash_count : 0;
        if (position >= first && position - first < bound->count)
            return &bound->templates[position - first];
    }
    return NULL;
}

// ---- Tables and indexes ---------------------------------------------------------------------

static void check_schema(struct model_file *file, const struct key_schema *keys,
                         const struct model_place *at)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        size_t first = 0;
        if (schema_has(keys, keys->parts[i].name, &first) && first != i)
            (void)file_error(file, at[i], "\"%.*s\" is in this key twice",
                             SLICE_FMT(keys->parts[i].name));
    }
}

static void check_local(struct model_file *file, const struct raw_table *table,
                        const struct raw_index *one)
{
    const struct key_schema *keys = &one->index.keys;
    if (!one->index.local)
        return;
    if (table->table.keys.range_count == 0)
        (void)file_error(file, one->index.at, "a local index needs a table with a sort key");
    else if (keys->hash_count != 1 || keys->range_count != 1 ||
             !slice_equal(keys->parts[0].name, table->table.keys.parts[0].name))
        (void)file_error(file, one->index.at,
                         "a local index has the table's partition key \"%.*s\" and one sort key",
                         SLICE_FMT(table->table.keys.parts[0].name));
}

static void check_index(struct model_file *file, const struct raw_table *table,
                        const struct raw_index *one)
{
    const struct model_index *index = &one->index;
    check_schema(file, &index->keys, one->part_at);
    check_local(file, table, one);
    if (!file_name_fits(index->name))
        (void)file_error(file, index->at,
                         "an index's name has 3 to 255 letters, digits, \"_\", \"-\" or \".\"");
    for (struct raw_index *other = table->indexes.first; other != one; other = other->next)
        if (slice_equal(other->index.name, index->name))
            (void)file_error(file, index->at, "index \"%.*s\" is declared twice, first in %s",
                             SLICE_FMT(index->name), file_line(file, other->index.at.line));
}

static bool gather_indexes(struct model_file *file, struct raw_table *table)
{
    size_t local = 0;
    size_t global = 0;
    size_t included = 0;
    struct model_index *list = file_alloc(file, table->indexes.count + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (struct raw_index *one = table->indexes.first; one != NULL; one = one->next) {
        check_index(file, table, one);
        list[local + global] = one->index;
        one->index.local ? local++ : global++;
        included += one->index.include_count;
    }
    if (local > LIMIT_LSI || global > LIMIT_GSI)
        (void)file_error(file, table->table.at,
                         "a table has at most %d indexes and %d local ones, not %zu and %zu",
                         LIMIT_GSI, LIMIT_LSI, global, local);
    if (included > LIMIT_PROJECTED_ATTRIBUTES)
        (void)file_error(file, table->table.at,
                         "the indexes of a table include at most %d attributes together",
                         LIMIT_PROJECTED_ATTRIBUTES);
    table->final_indexes = list;
    table->final->indexes = list;
    table->final->index_count = local + global;
    return true;
}

// ---- Types of key attributes ----------------------------------------------------------------

// The expression that is all of a template, or NULL.
static const struct model_expr *single(const struct model_template *template)
{
    return template->segment_count == 1 ? template->segments[0].expr : NULL;
}

// Names of a template, once. False if one is wrong, which is told.
static bool resolve(struct model_file *file, const struct raw_entity *raw,
                    struct raw_template *given)
{
    if (!given->resolved) {
        struct model_names scope = check_scope(file, raw->final);
        given->resolved = true;
        given->wrong =
            !model_template_resolve(given->template, &scope, file->p.scratch, file->p.diagnostics);
        given->settled = given->wrong;
    }
    return !given->wrong;
}

// What a template says of its key's type: *type, or nothing (false). If it is an attribute's plain
// name, that goes to *native, and says it.
static bool template_says(const struct raw_template *given, enum value_type *type,
                          const struct model_attribute **native)
{
    const struct model_expr *only = single(given->template);
    enum value_type own = only != NULL ? check_gives(only) : VALUE_S;
    bool path = only != NULL && only->kind == MODEL_EXPR_PATH;
    *native = NULL;
    *type = VALUE_S;
    // "{n}" is a number where a number is wanted, and its text where text is.
    if (!given->plain)
        return own != VALUE_N && own != VALUE_B;
    if (path && only->step_count == 1)
        *native = only->attribute;
    if (!path && own == VALUE_N)
        *type = VALUE_N;
    return !path;
}

// What one entity says of a key attribute's type: *type, or nothing (false).
static bool entity_says(struct model_file *file, const struct raw_entity *raw, struct slice name,
                        enum value_type *type, struct model_place *at)
{
    const struct model_attribute *native = model_entity_attribute(raw->final, name);
    struct raw_template *given = template_of(raw, name);
    if (given != NULL) {
        *at = given->at;
        if (!resolve(file, raw, given))
            return false;
        if (template_says(given, type, &native))
            return true;
    }
    if (native == NULL)
        return false;
    if (given == NULL)
        *at = native->at;
    *type = model_type_stored(native->type);
    if (*type == VALUE_S || *type == VALUE_N || *type == VALUE_B)
        return true;
    if (native->type->kind == MODEL_ANY && raw->broken)
        return false;
    if (given != NULL)
        given->settled = given->wrong = true; // nothing more is to be said of it
    struct buf text;
    buf_init(&text, 200);
    model_type_text(native->type, &text);
    (void)file_error(file, *at,
                     "\"%.*s\" is a key: it has to be text, a number or binary, not %.*s",
                     SLICE_FMT(name), SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return false;
}

// All entities have to agree; without any, and without a word in the file, keys are strings.
static void settle_type(struct model_file *file, const struct raw_table *table,
                        struct key_part *part, bool typed)
{
    bool known = typed;
    struct slice by = {0};
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        enum value_type type = VALUE_S;
        struct model_place at = {0};
        if (raw->table != table || raw->final == NULL ||
            !entity_says(file, raw, part->name, &type, &at))
            continue;
        struct raw_template *given = template_of(raw, part->name);
        // The template will be judged again, as text for a number: that would be the same mistake.
        if (given != NULL)
            given->told = known && type != part->type;
        if (!known) {
            part->type = type;
            by = raw->entity.name;
            known = true;
        } else if (type != part->type && typed) {
            (void)file_error(file, at, "key attribute \"%.*s\" is declared as %s, here it is %s",
                             SLICE_FMT(part->name), type_name(part->type), type_name(type));
        } else if (type != part->type) {
            (void)file_error(
                file, at, "key attribute \"%.*s\" is %s here, but %s in entity \"%.*s\"",
                SLICE_FMT(part->name), type_name(type), type_name(part->type), SLICE_FMT(by));
        }
    }
}

// Whether the table or an index before this one has the key attribute, with its type settled: an
// attribute has one type in all keys of a table, and disagreement is to be told once.
static bool settled_before(const struct raw_table *table, size_t index, struct key_part *part)
{
    size_t position = 0;
    const struct key_schema *keys = &table->final->keys;
    for (size_t i = 0; !schema_has(keys, part->name, &position); i++) {
        if (i == index)
            return false;
        keys = &table->final_indexes[i].keys;
    }
    part->type = keys->parts[position].type;
    return true;
}

static void settle_types(struct model_file *file, struct raw_table *table)
{
    struct key_schema *keys = &table->final->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        settle_type(file, table, &keys->parts[i], table->typed[i]);
    size_t at = 0;
    for (struct raw_index *one = table->indexes.first; one != NULL; one = one->next, at++) {
        struct key_schema *own = &table->final_indexes[at].keys;
        for (size_t i = 0; i < own->hash_count + own->range_count; i++)
            if (!settled_before(table, at, &own->parts[i]))
                settle_type(file, table, &own->parts[i], one->typed[i]);
    }
}

// ---- Entities -------------------------------------------------------------------------------

static void unknown_binding(struct model_file *file, const struct raw_entity *raw,
                            const struct raw_binding *bound)
{
    const struct raw_table *table = raw->table;
    struct model_guess guess = model_guess_for(bound->name);
    for (size_t i = 0; i < 2; i++)
        model_guess_candidate(&guess, table->table.keys.parts[i].name);
    for (struct raw_index *one = table->indexes.first; one != NULL; one = one->next) {
        model_guess_candidate(&guess, one->index.name);
        for (size_t i = 0; i < one->index.keys.hash_count + one->index.keys.range_count; i++)
            model_guess_candidate(&guess, one->index.keys.parts[i].name);
    }
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++)
        model_guess_candidate(&guess, slice_str(one->word));
    (void)file_error(file, bound->at,
                     "\"%.*s\" is no key attribute and no index of table \"%.*s\" (an attribute "
                     "has a type before its \"=\")%s",
                     SLICE_FMT(bound->name), SLICE_FMT(table->table.name),
                     model_guess_say(&guess, file->p.scratch));
}

static struct model_index *index_named(const struct raw_table *table, struct slice name)
{
    for (size_t i = 0; i < table->final->index_count; i++)
        if (slice_equal(table->final_indexes[i].name, name))
            return &table->final_indexes[i];
    return NULL;
}

static void check_derived(struct model_file *file, const struct raw_entity *raw, struct slice name,
                          struct model_place at)
{
    const struct raw_template *given = template_of(raw, name);
    const struct model_expr *path = given != NULL ? single(given->template) : NULL;
    if (path != NULL && path->step_count == 1 && slice_equal(path->steps[0], name))
        return; // the attribute itself, natively
    if (model_entity_attribute(raw->final, name) != NULL)
        (void)file_error(file, at,
                         "\"%.*s\" is derived from a template here, so it cannot be declared as an "
                         "attribute too",
                         SLICE_FMT(name));
}

static void check_bindings(struct model_file *file, const struct raw_entity *raw)
{
    for (struct raw_binding *bound = raw->bindings.first; bound != NULL; bound = bound->next) {
        if (find_binding(raw, bound->name) != bound) {
            (void)file_error(file, bound->at, "\"%.*s\" is given twice", SLICE_FMT(bound->name));
            continue;
        }
        bool attribute = is_key_attribute(raw->table, bound->name);
        const struct model_index *index = index_named(raw->table, bound->name);
        if (attribute && (bound->count == 1 || index == NULL)) {
            if (bound->count > 1)
                (void)file_error(file, bound->templates[1].at,
                                 "\"%.*s\" is one attribute: it takes one template",
                                 SLICE_FMT(bound->name));
            check_derived(file, raw, bound->name, bound->at);
            continue;
        }
        if (index == NULL) {
            if (!raw->table->broken)
                unknown_binding(file, raw, bound);
            continue;
        }
        size_t parts = index->keys.hash_count + index->keys.range_count;
        if (bound->count != parts && !(index->local && bound->count == index->keys.range_count))
            (void)file_error(file, bound->at, "the key of index \"%.*s\" has %zu part%s, not %zu",
                             SLICE_FMT(index->name), parts, parts == 1 ? "" : "s", bound->count);
        for (size_t i = 0; i < parts; i++)
            check_derived(file, raw, index->keys.parts[i].name, bound->at);
    }
}

// A template of nothing but the attribute itself.
static struct model_template *native_template(struct model_file *file,
                                              const struct model_attribute *attribute)
{
    struct model_parser *p = &file->p;
    struct model_expr *path = parse_attribute_path(p, attribute->name, attribute->at);
    if (path == NULL)
        return NULL;
    path->attribute = attribute;
    struct model_template *template = parse_bare(p, path, attribute->name);
    if (template != NULL)
        template->bare = true;
    return template;
}

// Functions whose result is another at each write cannot make a key; lists and maps have no text.
static bool check_key_expr(struct model_file *file, const struct model_expr *expr,
                           enum value_type key_type, bool whole)
{
    bool ok = true;
    for (size_t i = 0; i < expr->arg_count; i++)
        ok = check_key_expr(file, expr->args[i], key_type, false) && ok;
    if (expr->kind == MODEL_EXPR_CALL &&
        (expr->function <= MODEL_FN_ULID || expr->function == MODEL_FN_ACTOR ||
         expr->function == MODEL_FN_OPERATION))
        return file_error(file, expr->at,
                          "a key cannot depend on the time or on chance; give an attribute this "
                          "default and name it here");
    for (size_t i = 0; expr->kind == MODEL_EXPR_TEMPLATE && i < expr->template->segment_count; i++)
        if (expr->template->segments[i].expr != NULL)
            ok = check_key_expr(file, expr->template->segments[i].expr, key_type, false) && ok;
    if (expr->kind != MODEL_EXPR_PATH)
        return ok;
    const struct model_type *type = model_path_type(expr);
    enum value_type stored = type == NULL ? VALUE_TYPES : model_type_stored(type);
    bool text = stored == VALUE_S || stored == VALUE_N || stored == VALUE_BOOL ||
                (stored == VALUE_B && whole && key_type == VALUE_B);
    if (stored == VALUE_TYPES) { // any, or a union: what has a text is taken
        text = type == NULL || type->kind == MODEL_ANY;
        for (size_t i = 0; type != NULL && type->kind == MODEL_UNION && i < type->option_count;
             i++) {
            enum value_type one = model_type_stored(type->options[i]);
            text = text || one == VALUE_S || one == VALUE_N || one == VALUE_BOOL;
        }
    }
    return ok && (text ||
                  file_error(file, expr->at, "only text, numbers and booleans can stand in a key"));
}

static void warn_optional(struct model_file *file, const struct model_template *template,
                          struct slice key)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr == NULL || expr->kind != MODEL_EXPR_PATH || expr->attribute == NULL)
            continue;
        const struct model_attribute *attribute = expr->attribute;
        if (attribute->optional && attribute->otherwise == NULL)
            diagnostic_warning(file->p.diagnostics, expr->at,
                               "\"%.*s\" is optional, but %.*s cannot be made without it",
                               SLICE_FMT(attribute->name), SLICE_FMT(key));
    }
}

// ---- Separators -----------------------------------------------------------------------------

// Whether the separator can stand in the text of a value of this type.
static bool type_can_hold(const struct model_type *type, struct slice separator)
{
    switch (type->kind) {
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_EPOCH:
    case MODEL_BOOLEAN:
    case MODEL_UUID:
    case MODEL_DATE:
    case MODEL_TIMESTAMP:
    case MODEL_NULL:
        return false;
    case MODEL_LITERAL:
        return value_type(type->literal) == VALUE_S &&
               slice_contains(value_bytes(type->literal), separator);
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++) {
            if (type_can_hold(type->options[i], separator))
                return true;
        }
        return false;
    default:
        return true;
    }
}

// Whether it can stand in the text that the expression gives.
static bool can_hold_separator(const struct model_expr *expr, struct slice separator)
{
    if (expr->kind == MODEL_EXPR_CALL)
        return expr->function != MODEL_FN_SHA256 && expr->function != MODEL_FN_FIXED &&
               expr->function != MODEL_FN_SIZE && expr->function != MODEL_FN_DATE_PART &&
               can_hold_separator(expr->args[0], separator);
    const struct model_type *type = model_path_type(expr);
    return type == NULL ? expr->kind != MODEL_EXPR_VALUE : type_can_hold(type, separator);
}

// function(expr, separator), in the model's memory; NULL when that is out.
static const struct model_expr *separated(struct model_file *file, enum model_function function,
                                          const struct model_expr *expr, struct slice separator)
{
    const struct model_expr **args = file_alloc(file, 2, sizeof(struct model_expr *));
    struct model_expr *call = file_alloc(file, 1, sizeof *call);
    struct model_expr *second = file_alloc(file, 1, sizeof *second);
    struct slice value = parse_encode(&file->p, VALUE_TAG_S, separator);
    if (args == NULL || call == NULL || second == NULL || value.ptr == NULL)
        return NULL;
    *second = (struct model_expr){.kind = MODEL_EXPR_VALUE, .at = expr->at, .value = value};
    args[0] = expr;
    args[1] = second;
    *call = (struct model_expr){.kind = MODEL_EXPR_CALL,
                                .at = expr->at,
                                .function = function,
                                .arg_count = 2,
                                .args = args};
    return call;
}

// Does to the fields of a template what they or their table say of separators: a field may say
// something else itself, and one that stands alone separates nothing.
static bool separate(struct model_file *file, const struct model_table *table,
                     const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        struct model_segment *segment = (struct model_segment *)&template->segments[i];
        const struct model_expr *expr = segment->expr;
        bool call = expr != NULL && expr->kind == MODEL_EXPR_CALL;
        enum model_function function = call ? expr->function : MODEL_FN_RAW;
        bool said = call && (function == MODEL_FN_ESCAPE || function == MODEL_FN_FORBID);
        bool wanted = expr != NULL && table->separating != MODEL_SEPARATOR_ANY &&
                      template->segment_count > 1 && can_hold_separator(expr, table->separator);
        if (call && function == MODEL_FN_RAW)
            segment->expr = expr->args[0];
        else if (said && expr->arg_count == 1)
            segment->expr = separated(file, function, expr->args[0], table->separator);
        else if (!said && wanted)
            segment->expr = separated(file,
                                      table->separating == MODEL_SEPARATOR_ESCAPE ? MODEL_FN_ESCAPE
                                                                                  : MODEL_FN_FORBID,
                                      expr, table->separator);
        if (expr != NULL && segment->expr == NULL)
            return false;
    }
    return true;
}

// Resolves a template that the entity gives for a part of a key.
static bool settle_template(struct model_file *file, const struct raw_entity *raw,
                            struct raw_template *given, enum value_type type)
{
    struct model_template *template = given->template;
    if (!resolve(file, raw, given))
        return false;
    const struct model_expr *only = single(template);
    for (size_t i = 0; i < template->segment_count; i++)
        if (template->segments[i].expr != NULL &&
            (!check_sums(file, template->segments[i].expr) ||
             !check_key_expr(file, template->segments[i].expr, type, only != NULL)))
            return false;
    if (!separate(file, raw->table->final, template))
        return false;
    only = single(template);
    template->bare = only != NULL &&check_gives(only) == type &&
                     (type != VALUE_S || only->kind == MODEL_EXPR_PATH);
    if (type == VALUE_S || template->bare)
        return true;
    if (given->told)
        return false;
    return file_error(file, given->at, "the key attribute is %s; text cannot make it",
                      type == VALUE_N ? "a number" : "binary");
}

// A part of a key: template, native, or nothing (false). Errors leave it without a template.
static bool settle_part(struct model_file *file, struct raw_entity *raw,
                        const struct key_part *part, struct model_key_part *out)
{
    *out = (struct model_key_part){.name = part->name};
    struct raw_template *given = template_of(raw, part->name);
    const struct model_attribute *native = model_entity_attribute(raw->final, part->name);
    if (given != NULL) {
        out->at = given->at;
        if (!given->settled) {
            given->settled = true;
            given->wrong = !settle_template(file, raw, given, part->type);
        }
        if (!given->wrong)
            out->template = given->template;
        return true;
    }
    if (native == NULL)
        return false;
    out->at = native->at;
    out->template = native_template(file, native);
    return true;
}

static void settle_table_keys(struct model_file *file, struct raw_entity *raw)
{
    const struct model_table *table = raw->table->final;
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        struct model_key_part *part = &raw->final->keys[i];
        const struct key_part *key = &table->keys.parts[i];
        bool there = settle_part(file, raw, key, part);
        if (there && part->template != NULL)
            warn_optional(file, part->template, key->name);
        else if (!there && !raw->broken)
            (void)file_error(file, raw->entity.at,
                             "entity \"%.*s\" does not say what its %.*s is: give a template "
                             "(%.*s = \"…\") or declare it as an attribute",
                             SLICE_FMT(raw->entity.name), SLICE_FMT(key->name),
                             SLICE_FMT(key->name));
    }
}

// Whether an entity says that it is in an index: by its name, or by a template for a part. What has
// no parts but the table's keys has all items.
static bool is_said(const struct raw_entity *raw, const struct model_index *index)
{
    size_t position = 0;
    bool turned = true;
    if (index->open || find_binding(raw, index->name) != NULL)
        return true;
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++) {
        struct slice name = index->keys.parts[i].name;
        bool own = schema_has(&raw->table->final->keys, name, &position);
        if (!own && template_of(raw, name) != NULL)
            return true;
        turned = turned && own;
    }
    return turned;
}

// Whether any item can have the attributes of an index: they are keys of the table, or attributes
// that some entity declares. All others are keys and nothing else, which the guard makes.
static bool can_have(const struct raw_table *table, const struct key_schema *keys)
{
    size_t position = 0;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        bool found = schema_has(&table->final->keys, keys->parts[i].name, &position);
        for (size_t k = 0; !found && k < table->final->entity_count; k++)
            found = model_entity_attribute(&table->entities[k], keys->parts[i].name) != NULL;
        if (!found)
            return false;
    }
    return true;
}

// An entity that natively has all attributes of an index is in it only if it says so. On a table
// whose items do not name their entity, the engine could not keep it out, and a local index cannot
// be built anew.
static void check_outside(struct model_file *file, const struct raw_entity *raw,
                          const struct model_entry *entry)
{
    const struct model_table *table = raw->table->final;
    const struct model_index *index = entry->index;
    if (raw->final->guard != MODEL_ENFORCE || (table->type_attribute.len > 0 && !index->local))
        return;
    struct model_place at = raw->entity.at;
    bool all = true; // of the key are attributes, so that the entity can name them
    struct buf names;
    buf_init(&names, 4096);
    for (size_t i = index->local ? 1 : 0; i < index->keys.hash_count + index->keys.range_count;
         i++) {
        struct slice name = index->keys.parts[i].name;
        const struct model_attribute *native = model_entity_attribute(raw->final, name);
        at = native != NULL ? native->at : at;
        all = all && native != NULL;
        buf_printf(&names, "%s%.*s", names.len == 0 ? "" : ", ", SLICE_FMT(name));
    }
    const char *how = all ? arena_printf(file->p.scratch, "\"%.*s = %.*s\" in the entity, or ",
                                         SLICE_FMT(index->name), SLICE_FMT(buf_view(&names)))
                          : "";
    (void)file_error(file, at,
                     "entity \"%.*s\" has the key of index \"%.*s\" without being in it: write "
                     "%s\"for all\" behind the index",
                     SLICE_FMT(raw->entity.name), SLICE_FMT(index->name), how == NULL ? "" : how);
    buf_release(&names);
}

static bool settle_entries(struct model_file *file, struct raw_entity *raw)
{
    const struct raw_table *table = raw->table;
    size_t count = table->final->index_count;
    struct model_entry *entries = file_alloc(file, count + 1, sizeof *entries);
    if (entries == NULL)
        return false;
    raw->final->entries = entries;
    raw->final->entry_count = count;
    for (size_t i = 0; i < count; i++) {
        struct model_entry *entry = &entries[i];
        const struct key_schema *keys = &table->final_indexes[i].keys;
        size_t parts = keys->hash_count + keys->range_count;
        entry->index = &table->final_indexes[i];
        entry->stated = true;
        bool said = is_said(raw, entry->index);
        for (size_t k = 0; k < parts; k++) {
            entry->stated =
                settle_part(file, raw, &keys->parts[k], &entry->parts[k]) && entry->stated;
            if (k == 0 || entry->at.line == 0)
                entry->at = entry->parts[k].at;
        }
        if (entry->stated && !said)
            check_outside(file, raw, entry);
        entry->stated = entry->stated && said;
        entry->outside = !entry->stated && can_have(raw->table, keys);
        for (size_t k = 0; !entry->stated && k < parts; k++)
            entry->parts[k].template = NULL;
    }
    return true;
}

// A template for one part of an index's key is of no use without the others.
static void check_partial(struct model_file *file, const struct raw_entity *raw)
{
    for (struct raw_binding *bound = raw->bindings.first; bound != NULL; bound = bound->next) {
        size_t position = 0;
        const struct model_index *index = NULL;
        bool used = schema_has(&raw->table->final->keys, bound->name, &position) ||
                    !is_key_attribute(raw->table, bound->name) || bound->count > 1;
        for (size_t i = 0; i < raw->final->entry_count && !used; i++) {
            const struct model_entry *entry = &raw->final->entries[i];
            if (!schema_has(&entry->index->keys, bound->name, &position))
                continue;
            used = entry->stated;
            index = entry->index;
        }
        if (used || index == NULL)
            continue;
        for (size_t k = 0; k < index->keys.hash_count + index->keys.range_count; k++) {
            struct slice name = index->keys.parts[k].name;
            if (template_of(raw, name) == NULL && model_entity_attribute(raw->final, name) == NULL)
                (void)file_error(file, bound->at,
                                 "\"%.*s\" alone makes no entry in index \"%.*s\": \"%.*s\" is "
                                 "missing",
                                 SLICE_FMT(bound->name), SLICE_FMT(index->name), SLICE_FMT(name));
        }
    }
}

// ---- Settings of a table --------------------------------------------------------------------

static void check_special(struct model_file *file, const struct raw_table *table)
{
    struct slice ttl = table->table.ttl_attribute;
    struct slice type = table->table.type_attribute;
    if (type.len > 0 && is_key_attribute(table, type))
        (void)file_error(file, table->type_at, "the type attribute cannot be a key attribute");
    for (size_t i = 0; i < table->final->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        const struct model_attribute *end = model_entity_attribute(entity, ttl);
        if (ttl.len > 0 && end != NULL && model_type_stored(end->type) != VALUE_N &&
            end->type->kind != MODEL_ANY)
            (void)file_error(file, end->at,
                             "\"%.*s\" is the table's ttl: it has to be an epoch or a number",
                             SLICE_FMT(ttl));
        const struct model_attribute *name = model_entity_attribute(entity, type);
        if (type.len > 0 && name != NULL && model_type_stored(name->type) != VALUE_S &&
            name->type->kind != MODEL_ANY)
            (void)file_error(file, name->at, "\"%.*s\" names the entity: it has to be text",
                             SLICE_FMT(type));
    }
}

void check_keys(struct model_file *file)
{
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next) {
        if (table->final == NULL)
            return;
        if (table->table.keys.hash_count == 0 && !table->broken)
            (void)file_error(file, table->table.at,
                             "table \"%.*s\" has no key: write \"key PK, SK\" or \"key id\"",
                             SLICE_FMT(table->table.name));
        check_schema(file, &table->table.keys, table->part_at);
        if (!gather_indexes(file, table))
            return;
        settle_types(file, table);
        check_special(file, table);
    }
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        if (raw->final == NULL)
            continue;
        check_bindings(file, raw);
        settle_table_keys(file, raw);
        if (!settle_entries(file, raw))
            return;
        check_partial(file, raw);
    }
}
