// Rules about access patterns: what they read and throw away, what they promise and nothing keeps.
#include "guard/projected.h"
#include "lint/lint_internal.h"

#include "model/rules.h"

static const struct key_schema *schema_of(const struct model_access *access)
{
    return access->index == NULL ? &access->table->keys : &access->index->keys;
}

static struct slice where_of(const struct model_access *access)
{
    return access->index == NULL ? SLICE_LIT("the table") : access->index->name;
}

// The part of the schema that a condition is on, or the number of parts.
static size_t part_of(const struct model_access *access, const struct model_condition *condition)
{
    const struct key_schema *schema = schema_of(access);
    size_t count = schema->hash_count + schema->range_count;
    for (size_t i = 0; i < count; i++)
        if (condition->step_count > 0 && slice_equal(schema->parts[i].name, condition->steps[0]))
            return i;
    return count;
}

static bool has_param(const struct model_expr *expr)
{
    if (expr == NULL)
        return false;
    if (expr->kind == MODEL_EXPR_PARAM)
        return true;
    if (expr->kind == MODEL_EXPR_TEMPLATE) {
        for (size_t i = 0; i < expr->template->segment_count; i++)
            if (has_param(expr->template->segments[i].expr))
                return true;
        return false;
    }
    for (size_t i = 0; i < expr->arg_count; i++)
        if (has_param(expr->args[i]))
            return true;
    return false;
}

static bool condition_has_param(const struct model_condition *condition)
{
    return has_param(condition->values[0]) || has_param(condition->values[1]);
}

// ---- L019, L020 ----------------------------------------------------------------------------

// The key of the pattern's index that the attribute stands in behind what is fixed; empty if none.
static struct slice sort_key_with(const struct model_access *access, struct slice name)
{
    struct lint_key key;
    if (!lint_key_of(access->entities[0], access->index, &key))
        return slice_of(NULL, 0);
    for (size_t i = 0; i < key.schema->range_count; i++) {
        struct lint_fields fields;
        size_t part = key.schema->hash_count + i;
        lint_part_fields(key.entity, &key.parts[part], &fields);
        for (size_t k = 0; k < fields.count; k++)
            if (fields.list[k].attribute != NULL &&
                slice_equal(fields.list[k].attribute->name, name))
                return key.schema->parts[part].name;
    }
    return slice_of(NULL, 0);
}

static const char *filter_help(struct lint *lint, const struct model_access *access,
                               const struct model_condition *filter, struct slice name)
{
    struct slice key = sort_key_with(access, name);
    if (key.len > 0)
        return lint_text(lint, "%.*s is made of {%.*s}: write the condition on %.*s, behind where",
                         SLICE_FMT(key), SLICE_FMT(name), SLICE_FMT(key));
    if (filter->op == MODEL_OP_EXISTS)
        return lint_text(lint,
                         "put {%.*s} into the key of an index: it has entries only of the items "
                         "that have it",
                         SLICE_FMT(name));
    if (filter->op == MODEL_OP_MISSING)
        return "keep a status that says so, and put it into the key of an index";
    return lint_text(lint,
                     "put {%.*s} into the key of an index, so that only what is wanted is read",
                     SLICE_FMT(name));
}

void lint_filter_discards(struct lint *lint, const struct model_access *access)
{
    if (access->filter_count == 0)
        return;
    const struct model_condition *first = &access->filters[0];
    struct slice name = first->step_count > 0 ? first->steps[0] : SLICE_LIT("it");
    struct slice where = where_of(access);
    lint_find(lint, first->at.line > 0 ? first->at : access->at,
              filter_help(lint, access, first, name),
              "%.*s reads items of %.*s and throws away those whose %.*s does not fit",
              SLICE_FMT(access->name), SLICE_FMT(where), SLICE_FMT(name));
}

void lint_whole_partition(struct lint *lint, const struct model_access *access)
{
    if (access->one || access->get || access->limit > 0)
        return;
    for (size_t i = 0; i < access->key_count; i++)
        if (condition_has_param(&access->keys[i]))
            return;
    struct slice where = where_of(access);
    lint_find(lint, access->at, NULL,
              "%.*s has neither a parameter nor a limit: it reads a whole partition of %.*s",
              SLICE_FMT(access->name), SLICE_FMT(where));
}

// ---- L021 ----------------------------------------------------------------------------------

static bool reads_also(const struct model_access *access, const struct model_entity *entity)
{
    struct lint_key key;
    for (size_t i = 0; i < access->entity_count; i++)
        if (access->entities[i] == entity)
            return false;
    if (!lint_key_of(entity, access->index, &key))
        return false;
    for (size_t i = 0; i < access->key_count; i++) {
        size_t part = part_of(access, &access->keys[i]);
        if (part < key.schema->hash_count + key.schema->range_count &&
            !lint_condition_meets(access, &access->keys[i], entity, &key.parts[part]))
            return false;
    }
    return true;
}

void lint_mixed_collection(struct lint *lint, const struct model_access *access)
{
    if (access->get)
        return;
    const char *names = "";
    size_t count = 0;
    for (size_t i = 0; i < access->table->entity_count; i++) {
        const struct model_entity *entity = &access->table->entities[i];
        if (reads_also(access, entity))
            names = lint_text(lint, "%s%s%.*s", names, count++ == 0 ? "" : ", ",
                              SLICE_FMT(entity->name));
    }
    struct slice where = where_of(access);
    if (count > 0)
        lint_find(lint, access->at,
                  lint_text(lint,
                            "narrow it by the sort key (where … begins …), or name them in the "
                            "pattern: = %.*s, %s",
                            SLICE_FMT(access->entities[0]->name), names),
                  "%.*s also reads %s: they can be in the same partition of %.*s",
                  SLICE_FMT(access->name), names, SLICE_FMT(where));
}

// ---- L022 ----------------------------------------------------------------------------------

// The last parameter of a prefix, if the prefix ends with one; *place is its segment.
static const struct model_param *ends_with_param(const struct model_access *access,
                                                 const struct model_expr *value, size_t *place)
{
    const struct model_expr *last = value;
    *place = 0;
    if (value->kind == MODEL_EXPR_TEMPLATE) {
        if (value->template->segment_count == 0)
            return NULL;
        *place = value->template->segment_count - 1;
        last = value->template->segments[*place].expr;
    }
    if (last == NULL || last->kind != MODEL_EXPR_PARAM || last->param >= access->param_count)
        return NULL;
    return &access->params[last->param];
}

static void judge_prefix(struct lint *lint, const struct model_access *access,
                         const struct model_condition *condition)
{
    size_t place = 0;
    const struct model_param *param = ends_with_param(access, condition->values[0], &place);
    struct lint_key key;
    size_t part = part_of(access, condition);
    if (param == NULL || lint_type_fixed(param->type) || lint_type_time(param->type) ||
        !lint_key_of(access->entities[0], access->index, &key) ||
        part >= key.schema->hash_count + key.schema->range_count)
        return;
    const struct model_template *template = key.parts[part].template;
    if (template == NULL || place >= template->segment_count ||
        template->segments[place].expr == NULL)
        return;
    struct model_place at = condition->at.line > 0 ? condition->at : access->at;
    bool more = place + 1 < template->segment_count;
    struct slice behind = more && template->segments[place + 1].expr == NULL
                              ? template->segments[place + 1].literal
                              : SLICE_LIT("");
    struct lint_fields fields;
    lint_expr_fields(template->segments[place].expr, &fields);
    bool same = fields.count == 1 && fields.list[0].attribute != NULL &&
                slice_equal(fields.list[0].attribute->name, param->name);
    if (!more && !same)
        return; // a search by a prefix, as it seems
    const char *help = behind.len > 0
                           ? lint_text(lint, "end the prefix with the delimiter: {%.*s}%.*s",
                                       SLICE_FMT(param->name), SLICE_FMT(behind))
                       : more ? NULL
                              : "compare with = instead of begins";
    lint_find(lint, at, help,
              "the prefix of %.*s ends with {%.*s}, so that \"1\" also finds \"10\"",
              SLICE_FMT(access->name), SLICE_FMT(param->name));
}

void lint_open_prefix(struct lint *lint, const struct model_access *access)
{
    for (size_t i = 0; i < access->key_count; i++)
        if (access->keys[i].op == MODEL_OP_BEGINS)
            judge_prefix(lint, access, &access->keys[i]);
}

// ---- L023, L024 ----------------------------------------------------------------------------

// Range parts that a condition fixes to one value.
static size_t fixed_ranges(const struct model_access *access)
{
    const struct key_schema *schema = schema_of(access);
    size_t count = 0;
    for (size_t i = 0; i < access->key_count; i++)
        count += access->keys[i].op == MODEL_OP_EQUAL &&
                 part_of(access, &access->keys[i]) >= schema->hash_count;
    return count;
}

void lint_order_without_sort(struct lint *lint, const struct model_access *access)
{
    const struct key_schema *schema = schema_of(access);
    if (!access->descending || access->get)
        return;
    bool sorts = false;
    bool may_sort = schema->range_count > fixed_ranges(access);
    for (size_t i = 0; may_sort && i < access->entity_count; i++) {
        struct lint_key key;
        sorts = sorts || (lint_key_of(access->entities[i], access->index, &key) &&
                          !lint_key_constant(&key, LINT_RANGE));
    }
    struct slice where = where_of(access);
    if (!sorts)
        lint_find(lint, access->at, NULL,
                  "%.*s asks for an order, but nothing sorts its items in %.*s",
                  SLICE_FMT(access->name), SLICE_FMT(where));
}

// The attributes that conditions fix: those in the templates of parts compared with =.
static void fixed_fields(const struct model_access *access, const struct lint_key *key,
                         struct lint_fields *out)
{
    *out = (struct lint_fields){.count = 0};
    for (size_t i = 0; i < access->key_count; i++) {
        size_t part = part_of(access, &access->keys[i]);
        struct lint_fields fields;
        if (access->keys[i].op != MODEL_OP_EQUAL ||
            part >= key->schema->hash_count + key->schema->range_count)
            continue;
        lint_part_fields(key->entity, &key->parts[part], &fields);
        for (size_t k = 0; k < fields.count && out->count < LINT_FIELDS_MAX; k++)
            out->list[out->count++] = fields.list[k];
    }
}

static bool all_of_primary(const struct lint_fields *fixed, const struct model_entity *entity)
{
    struct lint_key primary;
    struct lint_fields fields;
    (void)lint_key_of(entity, NULL, &primary);
    lint_key_fields(&primary, LINT_BOTH, &fields);
    return fields.count > 0 && lint_fields_cover(fixed, &fields);
}

// Whether the attribute stands in the primary key, which other items share with this one.
static bool in_primary(const struct model_entity *entity, const struct model_attribute *attribute)
{
    struct lint_key primary;
    struct lint_fields fields;
    (void)lint_key_of(entity, NULL, &primary);
    lint_key_fields(&primary, LINT_BOTH, &fields);
    for (size_t i = 0; i < fields.count; i++)
        if (fields.list[i].attribute == attribute)
            return true;
    return false;
}

static const char *one_help(struct lint *lint, const struct model_access *access,
                            const struct lint_fields *fixed)
{
    const struct model_attribute *last =
        fixed->count == 0 ? NULL : fixed->list[fixed->count - 1].attribute;
    if (last == NULL || in_primary(access->entities[0], last))
        return "say which one is meant ('newest first' or 'limit 1'), or drop 'one'";
    if (fixed->count > 1) {
        const char *names = "";
        for (size_t i = 0; i < fixed->count; i++)
            if (fixed->list[i].attribute != NULL)
                names = lint_text(lint, "%s%s%.*s", names, names[0] == 0 ? "" : ", ",
                                  SLICE_FMT(fixed->list[i].attribute->name));
        return lint_text(lint, "write unique (%s) in %.*s, or drop 'one'", names,
                         SLICE_FMT(access->entities[0]->name));
    }
    return lint_text(lint, "mark %.*s unique, or drop 'one'", SLICE_FMT(last->name));
}

// Whether no two items of the entity have the same values of the fields.
static bool unique_together(const struct model_entity *entity, const struct lint_fields *fixed)
{
    for (size_t i = 0; i < entity->unique_count; i++) {
        const struct model_unique *unique = &entity->uniques[i];
        size_t found = 0;
        for (size_t k = 0; k < unique->count; k++)
            for (size_t n = 0; n < fixed->count; n++)
                found += fixed->list[n].attribute == unique->attributes[k];
        if (found >= unique->count)
            return true;
    }
    return false;
}

void lint_one_not_unique(struct lint *lint, const struct model_access *access)
{
    struct lint_key key;
    struct lint_fields fixed;
    if (!access->one || access->get || access->descending || access->limit == 1 ||
        !lint_key_of(access->entities[0], access->index, &key))
        return;
    fixed_fields(access, &key, &fixed);
    for (size_t i = 0; i < fixed.count; i++)
        if (lint_is_identity(fixed.list[i].attribute))
            return;
    if (all_of_primary(&fixed, access->entities[0]) || unique_together(access->entities[0], &fixed))
        return;
    lint_find(lint, access->at, one_help(lint, access, &fixed),
              "%.*s promises one %.*s, but nothing keeps two from having the same key",
              SLICE_FMT(access->name), SLICE_FMT(access->entities[0]->name));
}

// ---- L025 ----------------------------------------------------------------------------------

static bool is_read(const struct model_table *table, const struct model_entity *entity)
{
    for (size_t i = 0; i < table->access_count; i++)
        for (size_t k = 0; k < table->accesses[i].entity_count; k++)
            if (table->accesses[i].entities[k] == entity)
                return true;
    return false;
}

void lint_unread_entity(struct lint *lint, const struct model_table *table)
{
    if (table->access_count == 0) {
        lint_find(lint, table->at, NULL, "%.*s has no access patterns", SLICE_FMT(table->name));
        return;
    }
    for (size_t i = 0; i < table->entity_count; i++)
        if (!is_read(table, &table->entities[i]))
            lint_find(lint, table->entities[i].at, NULL, "no access pattern reads %.*s",
                      SLICE_FMT(table->entities[i].name));
}

// ---- L034 ----------------------------------------------------------------------------------

void lint_partial_items(struct lint *lint, const struct model_access *access)
{
    for (size_t i = 0; model_access_partial(access) && i < access->entity_count; i++) {
        const struct model_entity *entity = access->entities[i];
        struct slice names = {NULL, 0};
        for (size_t k = 0; k < entity->attribute_count; k++) {
            const struct model_attribute *attribute = &entity->attributes[k];
            if (model_projected_has(entity, access->index, attribute) == MODEL_PROJECTED_NOT)
                names = slice_str(lint_text(lint, names.len == 0 ? "%.*s%.*s" : "%.*s, %.*s",
                                            SLICE_FMT(names), SLICE_FMT(attribute->name)));
        }
        if (names.len > 0)
            lint_find(lint, access->at, NULL,
                      "%.*s returns %.*s without %.*s, which %.*s does not have",
                      SLICE_FMT(access->name), SLICE_FMT(entity->name), SLICE_FMT(names),
                      SLICE_FMT(access->index->name));
    }
}

// ---- L035 ----------------------------------------------------------------------------------

// What keys tell does not help here: a filter sees attributes only.
static bool index_shows(const struct model_access *access, struct slice name)
{
    const struct key_schema *keys[] = {&access->table->keys, &access->index->keys};
    for (size_t i = 0; i < access->index->include_count; i++) {
        if (slice_equal(access->index->include[i], name))
            return true;
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        for (size_t k = 0; k < keys[i]->hash_count + keys[i]->range_count; k++) {
            if (slice_equal(keys[i]->parts[k].name, name))
                return true;
        }
    }
    return false;
}

void lint_blind_filter(struct lint *lint, const struct model_access *access)
{
    for (size_t i = 0; model_access_partial(access) && i < access->filter_count; i++) {
        struct slice name = access->filters[i].steps[0];
        if (!index_shows(access, name))
            lint_find(lint, access->at,
                      lint_text(lint, "project (%.*s) in %.*s", SLICE_FMT(name),
                                SLICE_FMT(access->index->name)),
                      "%.*s filters by %.*s, which %.*s does not have", SLICE_FMT(access->name),
                      SLICE_FMT(name), SLICE_FMT(access->index->name));
    }
}
