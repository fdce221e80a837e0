// Which attributes a step of a migration counts on: see migration.h.
#include "migration/migration.h"

struct naming {
    const struct migration_step *step;
    void (*visit)(void *context, const struct model_expr *path);
    void *context;
};

static void visit_template(const struct naming *naming, const struct model_template *template);

// What is brought by the keys' templates.
static bool is_field(const struct model_template *template, struct slice name)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *expr = template->segments[i].expr;
        if (expr != NULL && expr->kind == MODEL_EXPR_PATH && slice_equal(expr->steps[0], name))
            return true;
    }
    return false;
}

static bool is_known(const struct migration_step *step, struct slice name)
{
    for (size_t i = 0; i < step->with_count; i++) {
        if (slice_equal(step->withs[i].name, name))
            return true;
    }
    for (size_t i = 0; i < step->shape.key_count; i++) {
        if (slice_equal(step->shape.key_names[i], name) || is_field(step->shape.keys[i], name))
            return true;
    }
    return step->shape.entity != NULL && migration_declared(step->shape.entity, name);
}

static void visit_expr(const struct naming *naming, const struct model_expr *expr)
{
    size_t first = 0;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
    case MODEL_EXPR_PARAM:
    case MODEL_EXPR_TAG:
        return;
    case MODEL_EXPR_PATH:
        if (!is_known(naming->step, expr->steps[0]))
            naming->visit(naming->context, expr);
        return;
    case MODEL_EXPR_TEMPLATE:
        visit_template(naming, expr->template);
        return;
    case MODEL_EXPR_ELSE:
        first = 1; // whoever writes ?? knows that it may be missing
        break;
    case MODEL_EXPR_CALL:
        first = expr->function == MODEL_FN_COALESCE ? expr->arg_count - 1 : 0;
        break;
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
    case MODEL_EXPR_MULTIPLY:
        break;
    }
    for (size_t i = first; i < expr->arg_count; i++)
        visit_expr(naming, expr->args[i]);
}

static void visit_template(const struct naming *naming, const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL)
            visit_expr(naming, template->segments[i].expr);
    }
}

void migration_step_names(const struct migration_step *step,
                          void (*visit)(void *context, const struct model_expr *path),
                          void *context)
{
    struct naming naming = {step, visit, context};
    for (size_t i = 0; i < step->condition_count; i++) {
        if (step->conditions[i].value != NULL)
            visit_expr(&naming, step->conditions[i].value);
    }
    for (size_t i = 0; i < step->with_count; i++) {
        for (size_t k = 0; k < step->withs[i].shape.key_count; k++)
            visit_template(&naming, step->withs[i].shape.keys[k]);
    }
    for (size_t i = 0; i < step->make_count; i++) {
        const struct migration_make *make = &step->makes[i];
        for (size_t k = 0; k < make->assign_count; k++) {
            if (make->assigns[k].kind == MIGRATION_SET)
                visit_expr(&naming, make->assigns[k].value);
        }
    }
}

bool migration_sets(const struct migration_way *way, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < way->steps[i].make_count; j++) {
            const struct migration_make *make = &way->steps[i].makes[j];
            for (size_t k = 0; k < make->assign_count; k++) {
                if (make->assigns[k].kind == MIGRATION_SET &&
                    slice_equal(make->assigns[k].name, name))
                    return true;
            }
        }
    }
    return false;
}

bool migration_declared(const struct model_entity *entity, struct slice name)
{
    const struct model_table *table = entity->table;
    if (model_entity_attribute(entity, name) != NULL || key_schema_has(&table->keys, name) ||
        slice_equal(table->type_attribute, name) || slice_equal(table->ttl_attribute, name))
        return true;
    for (size_t i = 0; i < table->index_count; i++) {
        if (key_schema_has(&table->indexes[i].keys, name))
            return true;
    }
    return false;
}
