// Models: any text is a model or has errors with places inside it; both can be shown. What a model
// says of itself holds: names are resolved, unions are flat, every pattern has its partition key.
#include "fuzz.h"

#include "diff/diff.h"
#include "model/address.h"
#include "model/rules.h"
#include "text/matcher.h"

enum { MEMORY = 64 << 20, SHOWN = 64 << 20 };

static void check_type(const struct model_type *type, unsigned depth)
{
    ensure(type->kind < MODEL_KINDS && depth < 64);
    (void)model_type_stored(type);
    for (size_t i = 0; i < type->option_count; i++)
        ensure(type->options[i]->kind != MODEL_UNION);
    if (type->name.len > 0 && depth > 0)
        return;
    if (type->item != NULL)
        check_type(type->item, depth + 1);
    for (size_t i = 0; i < type->option_count; i++)
        check_type(type->options[i], depth + 1);
    for (size_t i = 0; i < type->field_count; i++) {
        ensure(i == 0 || slice_compare(type->fields[i - 1].name, type->fields[i].name) < 0);
        ensure(model_type_field(type, type->fields[i].name) == &type->fields[i]);
        check_type(type->fields[i].type, depth + 1);
    }
}

static void check_expr(const struct model_expr *expr, size_t params)
{
    ensure(expr->kind != MODEL_EXPR_VALUE || value_valid(expr->value));
    ensure(expr->kind != MODEL_EXPR_PATH || (expr->step_count > 0 && params == SIZE_MAX));
    ensure(expr->kind != MODEL_EXPR_PARAM || expr->param < params);
    for (size_t i = 0; i < expr->arg_count; i++)
        check_expr(expr->args[i], params);
    for (size_t i = 0; expr->template != NULL && i < expr->template->segment_count; i++)
        if (expr->template->segments[i].expr != NULL)
            check_expr(expr->template->segments[i].expr, params);
}

static void check_entity(const struct model_entity *entity)
{
    const struct model_table *table = entity->table;
    ensure(entity->entry_count == table->index_count);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++)
        ensure(entity->keys[i].template != NULL);
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        ensure(entry->index == &table->indexes[i]);
        for (size_t k = 0; k < entry->index->keys.hash_count + entry->index->keys.range_count; k++)
            ensure((entry->parts[k].template != NULL) == entry->stated);
    }
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        ensure(model_entity_attribute(entity, attribute->name) == attribute);
        check_type(attribute->type, 0);
        if (attribute->otherwise != NULL)
            check_expr(attribute->otherwise, SIZE_MAX);
    }
}

static void check_access(const struct model_access *access)
{
    const struct key_schema *keys =
        access->index != NULL ? &access->index->keys : &access->table->keys;
    ensure(access->entity_count > 0 && access->key_count >= keys->hash_count);
    for (size_t i = 0; i < access->key_count; i++) {
        const struct model_condition *key = &access->keys[i];
        ensure(key->step_count == 1 && slice_equal(key->steps[0], keys->parts[i].name));
        ensure(i >= keys->hash_count || key->op == MODEL_OP_EQUAL);
        check_expr(key->values[0], access->param_count);
        ensure((key->values[1] != NULL) == (key->op == MODEL_OP_BETWEEN));
    }
    for (size_t i = 0; i < access->param_count; i++)
        check_type(access->params[i].type, 0);
}

static void check_test(const struct model_test *test)
{
    ensure(test == NULL || test->clause_count > 0);
    for (size_t i = 0; test != NULL && i < test->clause_count; i++) {
        ensure(test->clauses[i].count > 0);
        for (size_t k = 0; k < test->clauses[i].count; k++) {
            const struct model_comparison *one = &test->clauses[i].list[k];
            bool unary = one->op == MODEL_OP_EXISTS || one->op == MODEL_OP_MISSING ||
                         one->op == MODEL_OP_CHANGED;
            check_expr(one->left, SIZE_MAX);
            ensure((one->values[0] != NULL) != unary);
            ensure((one->values[1] != NULL) == (one->op == MODEL_OP_BETWEEN));
        }
    }
}

static void check_tally(const struct model_tally *tally)
{
    struct model_address address;
    model_address(tally->target, &address);
    ensure(tally->join_count == address.count);
    for (size_t i = 0; i < tally->join_count; i++)
        ensure(tally->joins[i].source != NULL &&
               tally->joins[i].target == address.parts[i].attribute);
    check_test(tally->filter);
}

// Items that are made are whole: whatever has to be there is given, or made by the server.
static void check_made(const struct model_made *made)
{
    for (size_t i = 0; i < made->target->attribute_count; i++) {
        const struct model_attribute *attribute = &made->target->attributes[i];
        bool given = attribute->optional || attribute->otherwise != NULL || attribute->version ||
                     slice_equal(attribute->name, made->target->table->type_attribute);
        for (size_t k = 0; k < made->assignment_count; k++)
            given = given || made->assignments[k].attribute == attribute;
        ensure(given);
    }
    for (size_t i = 0; i < made->assignment_count; i++)
        check_expr(made->assignments[i].value, SIZE_MAX);
    check_test(made->when);
}

static void check_rules(const struct model *model)
{
    const struct model_rules *rules = model->rules_of;
    for (size_t i = 0; i < rules->tally_count; i++)
        check_tally(rules->tallies[i]);
    for (size_t i = 0; i < rules->reference_count; i++)
        for (size_t k = 0; k < rules->references[i]->count; k++)
            ensure(rules->references[i]->attributes[k] != NULL &&
                   rules->references[i]->keys[k] != NULL);
    for (size_t i = 0; i < rules->made_count; i++)
        check_made(&rules->made[i]);
    for (size_t i = 0; i < rules->retain_count; i++)
        ensure(rules->retains[i].after != NULL);
    for (size_t i = 0; i < rules->quota_count; i++) {
        ensure(rules->quotas[i].attribute != NULL && rules->quotas[i].limit_count > 0);
        if (rules->quotas[i].counting != NULL)
            check_tally(rules->quotas[i].counting);
    }
    for (size_t i = 0; i < rules->seed_count; i++)
        ensure(value_valid(rules->seeds[i].item));
}

static void check_clauses(const struct model_entity *entity, struct buf *text)
{
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        model_attribute_text(attribute, text);
        ensure((attribute->matches != NULL) == (attribute->pattern.ptr != NULL));
        if (attribute->matches != NULL)
            (void)matcher_matches(attribute->matches, attribute->name, NULL);
    }
    for (size_t i = 0; i < entity->check_count; i++)
        check_test(entity->checks[i].test);
    for (size_t i = 0; i < entity->moves_count; i++)
        ensure(entity->moves[i].count > 0 && value_valid(entity->moves[i].list[0].from));
    for (size_t i = 0; i < entity->entry_count; i++)
        check_test(entity->entries[i].when);
    model_clauses_text(entity, text);
}

static void check_model(const struct model *model)
{
    struct buf text;
    buf_init(&text, SHOWN);
    for (size_t i = 0; i < model->type_count; i++) {
        check_type(model->types[i], 0);
        model_type_text(model->types[i], &text);
    }
    for (size_t i = 0; i < model->table_count; i++) {
        const struct model_table *table = &model->tables[i];
        ensure(model_table(model, table->name) == table && table->keys.hash_count == 1);
        for (size_t k = 0; k < table->entity_count; k++) {
            check_entity(&table->entities[k]);
            check_clauses(&table->entities[k], &text);
            for (size_t a = 0; a < table->entities[k].attribute_count; a++)
                model_type_text(table->entities[k].attributes[a].type, &text);
        }
        for (size_t k = 0; k < table->access_count; k++)
            check_access(&table->accesses[k]);
    }
    check_rules(model);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_copy(slice_of(data, size));
    struct arena arena;
    static struct diagnostics found;
    struct buf shown;
    arena_init(&arena, MEMORY);
    buf_init(&shown, SHOWN);
    diagnostics_init(&found, &arena);
    struct model *model = model_parse(slice_str("fuzz.dolmen"), input, &found);
    ensure((model == NULL) == (found.errors > 0));
    diagnostics_show(&found, slice_str("fuzz.dolmen"), input, &shown);
    diagnostics_json(&found, slice_str("fuzz.dolmen"), input, &shown);
    fuzz_free(input); // a model has a copy of the text
    if (model != NULL)
        check_model(model);
    model_release(model);
    buf_release(&shown);
    arena_release(&arena);
    return 0;
}
