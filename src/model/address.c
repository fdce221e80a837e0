// See address.h.
#include "model/address.h"

static void add_name(struct model_address *out, const struct model_entity *entity,
                     struct slice name, bool optional)
{
    size_t at = model_address_find(out, name);
    if (at < out->count)
        out->parts[at].optional = out->parts[at].optional && optional;
    else if (out->count < MODEL_ADDRESS_MAX)
        out->parts[out->count++] =
            (struct model_address_part){name, model_entity_attribute(entity, name), optional};
}

static void add_template(struct model_address *out, const struct model_entity *entity,
                         const struct model_template *template, bool optional);

static void add_expr(struct model_address *out, const struct model_entity *entity,
                     const struct model_expr *expr, bool optional)
{
    if (expr->kind == MODEL_EXPR_PATH)
        add_name(out, entity, expr->steps[0], optional);
    else if (expr->kind == MODEL_EXPR_TEMPLATE)
        add_template(out, entity, expr->template, optional);
    for (size_t i = 0; i < expr->arg_count; i++)
        add_expr(out, entity, expr->args[i], optional || (expr->kind == MODEL_EXPR_ELSE && i == 0));
}

static void add_template(struct model_address *out, const struct model_entity *entity,
                         const struct model_template *template, bool optional)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr != NULL)
            add_expr(out, entity, template->segments[i].expr, optional);
    }
}

size_t model_address_find(const struct model_address *address, struct slice name)
{
    size_t at = 0;
    while (at < address->count && !slice_equal(address->parts[at].name, name))
        at++;
    return at;
}

void model_address_add(const struct model_entity *entity, size_t which, struct model_address *out)
{
    const struct model_key_part *part = &entity->keys[which];
    if (part->template == NULL)
        add_name(out, entity, entity->table->keys.parts[which].name, false);
    else
        add_template(out, entity, part->template, false);
}

void model_address(const struct model_entity *entity, struct model_address *out)
{
    out->count = 0;
    for (size_t i = 0; i < 1 + (size_t)(entity->table->keys.range_count > 0); i++)
        model_address_add(entity, i, out);
}
