// See outbox.h.
#include "capture/outbox.h"

#include "base/hash.h"
#include "base/time_text.h"
#include "eval/object.h"
#include "eval/test.h"
#include "guard/entity.h"
#include "guard/plain.h"
#include "tables/table_settings.h"
#include "value/edit.h"
#include "value/map.h"
#include "json/writer.h"

#include <stdlib.h>

enum { OUTBOX_MEMORY = 32 << 20, ORDER_SEED = 0x0eed };

struct outbox {
    struct consumer_source base; // first
    struct guard *guard;
    const struct model_publish *publish;
    const struct model_table *table;
    struct env env;
    struct slice order; // the attribute whose values stay in order; empty: the item's key
    struct arena arena; // of the expressions
    struct arena scratch;
    const struct expr_update *update;
    const struct expr_condition *exists;
};

const struct model_option *publish_option(const struct model_publish *publish, const char *name)
{
    for (size_t i = 0; i < publish->option_count; i++)
        if (slice_is(publish->options[i].name, name))
            return &publish->options[i];
    return NULL;
}

// ---- The body --------------------------------------------------------------------------------

static void put_image(struct json_writer *w, const char *name, const struct outbox_event *event,
                      struct slice item)
{
    if (item.len == 0)
        return;
    json_name(w, name);
    if (event->model == NULL) {
        json_plain(w, item);
        return;
    }
    model_plain_write(w, &(struct model_plain_view){.table = event->model, .entity = event->entity},
                      item);
}

void outbox_event_write(struct buf *out, const struct outbox_event *event)
{
    struct json_writer w = json_writer_to(out);
    char time[TIME_TEXT];
    time_text(event->time_ms, time);
    json_open_object(&w);
    json_put_string(&w, "id", event->id);
    json_put_string(&w, "type", event->type);
    json_put_text(&w, "time", time);
    json_put_string(&w, "table", event->table);
    if (event->entity != NULL)
        json_put_string(&w, "entity", event->entity->name);
    json_name(&w, "keys");
    json_plain(&w, event->keys);
    put_image(&w, "item", event, event->item);
    put_image(&w, "old", event, event->old);
    json_close_object(&w);
}

// ---- Events ----------------------------------------------------------------------------------

// What an event item calls itself, if it does.
static struct slice type_of(const struct outbox *own, struct slice item, bool snapshot)
{
    struct slice type = value_get(item, SLICE_LIT("type"));
    bool derived = slice_is(own->table->type_attribute, "type");
    if (type.len > 0 && value_type(type) == VALUE_S && !derived)
        return value_bytes(type);
    return snapshot ? SLICE_LIT("snapshot") : SLICE_LIT("insert");
}

static bool passes(struct outbox *own, const struct log_entry *entry)
{
    struct model_scope scope = {.item = entry->new_item,
                                .entity = own->publish->entity,
                                .before = entry->old_item,
                                .env = &own->env,
                                .arena = &own->scratch};
    if (own->publish->when == NULL)
        return true;
    bool yes = model_test_when(own->publish->when, &scope) == TEST_YES;
    arena_reset(&own->scratch);
    return yes;
}

// ---- Objects of items that have gone -----------------------------------------------------------

static void removal_add(struct outbox *own, struct slice item, struct slice member,
                        struct json_writer *w)
{
    const struct model_object *object = own->publish->object;
    struct buf key;
    buf_init(&key, 4 * OBJECT_KEY_MAX);
    if (model_object_key(object, item, member, &own->scratch, &key) == EVAL_OK) {
        json_open_object(w);
        json_put_string(w, "bucket", object->bucket);
        json_put_string(w, "key", buf_view(&key));
        json_close_object(w);
    }
    buf_release(&key);
    arena_reset(&own->scratch);
}

// What s3/remove.c reads.
static bool removal_event(struct outbox *own, const struct log_entry *entry,
                          struct consumer_draft *draft)
{
    const struct model_object *object = own->publish->object;
    struct object_members members;
    struct slice member;
    struct json_writer w = json_writer_to(draft->body);
    if (entry->event != LOG_REMOVE || entry->old_item.len == 0 ||
        model_recognise(own->table, entry->old_item).entity != object->entity)
        return false;
    draft->type = SLICE_LIT("remove");
    draft->entity = object->entity->name;
    json_open_object(&w);
    json_put_string(&w, "id", draft->id);
    json_put_string(&w, "table", own->table->name);
    json_put_string(&w, "entity", draft->entity);
    json_name(&w, "keys");
    json_plain(&w, entry->keys);
    json_put_array(&w, "objects");
    if (object->each == NULL)
        removal_add(own, entry->old_item, VALUE_NONE, &w);
    object_members_init(&members, object, entry->old_item);
    while (object_members_next(&members, &member))
        if (member.len > 0)
            removal_add(own, entry->old_item, member, &w);
    json_close_array(&w);
    json_close_object(&w);
    return true;
}

static bool outbox_event(struct consumer_source *source, const struct log_entry *entry,
                         struct consumer_draft *draft)
{
    struct outbox *own = (struct outbox *)source;
    if (own->publish->object != NULL)
        return removal_event(own, entry, draft);
    if (entry->event != LOG_INSERT || entry->new_item.len == 0 ||
        model_recognise(own->table, entry->new_item).entity != own->publish->entity ||
        !passes(own, entry))
        return false;
    draft->type = type_of(own, entry->new_item, draft->snapshot);
    draft->entity = own->publish->entity->name;
    struct slice order = own->order.len == 0 ? VALUE_NONE : value_get(entry->new_item, own->order);
    if (order.len > 0)
        draft->key = hash_of(ORDER_SEED, order);
    outbox_event_write(draft->body, &(struct outbox_event){.id = draft->id,
                                                           .type = draft->type,
                                                           .time_ms = entry->time_ms,
                                                           .table = own->table->name,
                                                           .model = own->table,
                                                           .entity = own->publish->entity,
                                                           .keys = entry->keys,
                                                           .item = entry->new_item,
                                                           .old = entry->old_item});
    return true;
}

// ---- Marks -----------------------------------------------------------------------------------

static bool outbox_mark(struct consumer_source *source, struct table *table, struct slice keys,
                        struct arena *arena, struct write_action *out)
{
    const struct outbox *own = (const struct outbox *)source;
    (void)arena;
    if (own->update == NULL)
        return false;
    *out = (struct write_action){.kind = WRITE_UPDATE,
                                 .table = table,
                                 .item = keys,
                                 .condition = own->exists,
                                 .update = own->update};
    return true;
}

// SET mark = value, if the item is still there and not marked yet.
static bool compile_mark(struct outbox *own)
{
    struct error error;
    error_init(&error, &own->arena);
    struct expr_builder b = {.arena = &own->arena, .error = &error};
    struct slice name = own->publish->mark->name;
    struct path_step *step = arena_zalloc(&own->arena, 1, sizeof(*step));
    if (step == NULL)
        return false;
    *step = (struct path_step){.name = name};
    struct expr_change set = {.action = ACTION_SET,
                              .path = {.steps = step, .count = 1},
                              .value = expr_value(&b, own->publish->marked)};
    struct expr_node *there =
        expr_test(&b, OP_EXISTS, expr_name(&b, own->table->keys.parts[0].name), NULL);
    own->exists = expr_build_condition(&b, there, EXPR_CONDITION);
    own->update = own->exists == NULL ? NULL : expr_build_update(&b, 1, &set);
    return own->update != NULL;
}

static void outbox_free(struct consumer_source *source)
{
    struct outbox *own = (struct outbox *)source;
    guard_release(own->guard);
    arena_release(&own->arena);
    arena_release(&own->scratch);
    free(own);
}

static const struct consumer_source_ops outbox_ops = {
    .event = outbox_event, .mark = outbox_mark, .free = outbox_free};
static const struct consumer_source_ops unmarked_ops = {.event = outbox_event, .free = outbox_free};

struct consumer_source *outbox_new(struct guard *guard, const struct model_publish *publish,
                                   const struct env *env)
{
    struct outbox *own = memory_zeroed(sizeof(*own));
    const struct model_option *order = publish_option(publish, "order");
    own->base.ops = publish->mark != NULL ? &outbox_ops : &unmarked_ops;
    own->guard = guard_hold(guard);
    own->publish = publish;
    own->table = model_guard_table(guard);
    own->env = *env;
    own->order = order == NULL ? slice_of(NULL, 0) : order->value;
    arena_init(&own->arena, OUTBOX_MEMORY);
    arena_init(&own->scratch, OUTBOX_MEMORY);
    if (publish->mark == NULL || compile_mark(own))
        return &own->base;
    outbox_free(&own->base);
    return NULL;
}

// ---- Tables ----------------------------------------------------------------------------------

bool project_takes(const struct model_project *project, const struct model_table *table)
{
    if (project->target.len == 0)
        return false; // from outside only
    for (size_t i = 0; i < project->entity_count; i++)
        if (project->entities[i]->table == table)
            return true;
    return false;
}

// Adds what there is of a consumer of that name, or that it begins now.
static bool add_entry(struct engine *engine, struct table *next, struct slice before,
                      struct slice name, struct slice *entries, struct error *error)
{
    struct slice entry = map_value(before, name);
    if (entry.len == 0) {
        struct value_maker maker;
        map_begin(&maker);
        map_put_integer(&maker, "start", (int64_t)engine_sequence(engine));
        entry = map_end(&maker, &next->arena, error);
    }
    return entry.len > 0 && map_set(&next->arena, entries, name, entry, error);
}

bool outbox_alter(struct engine *engine, const struct model_table *model, struct table *next,
                  struct error *error)
{
    struct table_settings settings;
    struct slice publishes = VALUE_NONE;
    table_settings_read(next, &settings);
    const struct model_rules *rules = model == NULL ? NULL : model->model->rules_of;
    for (size_t i = 0; rules != NULL && i < rules->publish_count; i++)
        if (rules->publishes[i].entity->table == model &&
            !add_entry(engine, next, settings.publishes, rules->publishes[i].name, &publishes,
                       error))
            return false;
    for (size_t i = 0; rules != NULL && i < rules->project_count; i++)
        if (project_takes(&rules->projects[i], model) &&
            !add_entry(engine, next, settings.publishes, rules->projects[i].name, &publishes,
                       error))
            return false;
    if (publishes.len == 0 && settings.publishes.len == 0)
        return true;
    settings.publishes = publishes;
    return table_settings_write(next, &settings) || error_budget(error);
}
