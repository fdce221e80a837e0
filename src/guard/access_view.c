// See access_view.h.
#include "guard/access_view.h"

#include "eval/check.h"
#include "guard/entity.h"
#include "guard/projected.h"

bool access_view_init(struct access_view *view, const struct model_access *access, bool keys,
                      struct arena *arena)
{
    *view = (struct access_view){.access = access, .keys = keys, .arena = arena};
    view->layouts = arena_zalloc(arena, access->table->entity_count + 1, sizeof(*view->layouts));
    return view->layouts != NULL;
}

// Entities that are recognised by their keys take some looking.
static const struct model_entity *entity_of(const struct model_access *access, struct slice item,
                                            struct steps *steps)
{
    if (access->entity_count == 1)
        return access->entities[0];
    struct model_check check;
    check_init(&check);
    const struct model_entity *entity = model_recognise_within(&check, access->table, item).entity;
    steps_add(steps, check.steps.taken);
    check_release(&check);
    return entity;
}

static bool wanted(const struct model_access *access, struct slice item)
{
    struct slice name = access->table->type_attribute;
    struct slice type = name.len == 0 ? VALUE_NONE : value_get(item, name);
    if (!access->get || type.len == 0 || value_type(type) != VALUE_S)
        return true;
    for (size_t i = 0; i < access->entity_count; i++) {
        if (slice_equal(access->entities[i]->type_value, value_bytes(type)))
            return true;
    }
    return false;
}

bool access_view_shows(const struct access_view *view, struct slice item, struct steps *steps,
                       const struct model_entity **entity)
{
    const struct model_access *access = view->access;
    *entity = NULL;
    if (!wanted(access, item))
        return false;
    if (!access->count || access->get)
        *entity = entity_of(access, item, steps);
    return !access->get || *entity == NULL || !access_hides(access) ||
           !model_item_deleted(*entity, item);
}

static struct model_plain_layout *layout_of(struct access_view *view,
                                            const struct model_entity *entity)
{
    const struct model_table *table = view->access->table;
    size_t at = entity == NULL ? table->entity_count : (size_t)(entity - table->entities);
    if (view->layouts[at] != NULL)
        return view->layouts[at];
    struct model_plain_view *plain = arena_alloc(view->arena, sizeof(*plain));
    if (plain == NULL)
        return NULL;
    *plain = (struct model_plain_view){.table = table,
                                       .entity = entity,
                                       .keys = view->keys,
                                       .name = view->access->entity_count > 1,
                                       .more = view->more};
    return view->layouts[at] = model_plain_layout(plain, view->arena);
}

bool access_view_write(struct access_view *view, const struct model_entity *entity,
                       struct slice item, struct arena *scratch, struct json_writer *w)
{
    struct model_plain_layout *layout = layout_of(view, entity);
    if (entity != NULL && model_access_partial(view->access))
        item = model_projected_item(entity, item, scratch);
    if (layout == NULL || item.len == 0)
        return false;
    model_plain_item(w, layout, item);
    return !w->out->failed;
}
