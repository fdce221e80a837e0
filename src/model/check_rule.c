// Rules only have to name what is there: entities of any table of the file, and their attributes.
#include "model/parse_internal.h"

static struct model_entity *rule_entity(struct model_file *file, const struct raw_name *name)
{
    struct raw_entity *found = file_entity(file, name->name);
    if (found != NULL)
        return found->final;
    struct model_guess guess = model_guess_for(name->name);
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next)
        model_guess_candidate(&guess, raw->entity.name);
    return diagnostic_fail(file->p.diagnostics, name->at, "unknown entity \"%.*s\"%s",
                           SLICE_FMT(name->name), model_guess_say(&guess, file->p.scratch));
}

static void rule_attribute(struct model_file *file, const struct model_entity *entity,
                           const struct raw_name *name)
{
    if (name->name.len == 0 || model_entity_attribute(entity, name->name) != NULL)
        return;
    struct model_guess guess = model_guess_for(name->name);
    model_guess_attributes(&guess, entity);
    (void)file_error(file, name->at, "entity \"%.*s\" has no attribute \"%.*s\"%s",
                     SLICE_FMT(entity->name), SLICE_FMT(name->name),
                     model_guess_say(&guess, file->p.scratch));
}

// tenant: an attribute of some entity.
static void rule_tenant(struct model_file *file, const struct raw_name *name)
{
    struct model_guess guess = model_guess_for(name->name);
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        if (raw->final != NULL && model_entity_attribute(raw->final, name->name) != NULL)
            return;
        model_guess_attributes(&guess, raw->final);
    }
    (void)file_error(file, name->at, "no entity has an attribute \"%.*s\"%s", SLICE_FMT(name->name),
                     model_guess_say(&guess, file->p.scratch));
}

static void check_rule(struct model_file *file, const struct raw_rule *raw)
{
    if (raw->entity.name.len == 0) {
        rule_tenant(file, &raw->names[0]);
        return;
    }
    const struct model_entity *entity = rule_entity(file, &raw->entity);
    if (raw->target.name.len > 0)
        (void)rule_entity(file, &raw->target);
    if (entity == NULL)
        return;
    rule_attribute(file, entity, &raw->names[0]);
    rule_attribute(file, entity, &raw->names[1]);
    struct model_names scope = check_scope(file, entity);
    if (raw->template != NULL)
        DISREGARD(
            model_template_resolve(raw->template, &scope, file->p.scratch, file->p.diagnostics));
}

void check_rules(struct model_file *file)
{
    struct model_rule *rules = file_alloc(file, file->rules.count + 1, sizeof *rules);
    if (rules == NULL)
        return;
    file->model->rules = rules;
    for (struct raw_rule *raw = file->rules.first; raw != NULL; raw = raw->next) {
        check_rule(file, raw);
        rules[file->model->rule_count++] = raw->rule;
    }
}
