// Rules about rules: what the server does besides a write, where that meets in one place, what
// nobody reads or removes, and what contradicts itself.
#include "lint/lint_internal.h"

#include "model/rules.h"

enum { FEW = 16 }; // items that all writes of another entity meet in

static const struct model_rules *rules_of(const struct lint *lint)
{
    return lint->model->rules_of;
}

// ---- L036, L037: counters ---------------------------------------------------------------------

// How many items the counter can be in: 1, a few, or 0 if that is not known to be few.
static size_t counters(const struct model_tally *tally)
{
    struct lint_key key;
    struct lint_fields fields;
    if (!lint_key_of(tally->target, NULL, &key))
        return 0;
    lint_key_fields(&key, LINT_BOTH, &fields);
    return fields.count == 0 ? 1 : lint_fields_cardinality(&fields);
}

void lint_hot_counter(struct lint *lint, const struct model_entity *entity,
                      const struct model_attribute *attribute)
{
    const struct model_tally *tally = attribute->tally;
    size_t places = tally == NULL ? 0 : counters(tally);
    if (places == 0 || places > FEW)
        return;
    lint_find(lint, attribute->at, NULL, "every write of %.*s changes %s %.*s",
              SLICE_FMT(tally->source->name),
              places == 1 ? "the one" : lint_text(lint, "one of %zu", places),
              SLICE_FMT(entity->name));
}

void lint_counted_key(struct lint *lint, const struct model_entity *entity,
                      const struct model_attribute *attribute)
{
    for (size_t i = 0; attribute->tally != NULL && i < entity->entry_count; i++) {
        struct lint_key key;
        struct lint_fields fields;
        if (!lint_key_of(entity, entity->entries[i].index, &key))
            continue;
        lint_key_fields(&key, LINT_BOTH, &fields);
        for (size_t k = 0; k < fields.count; k++) {
            if (fields.list[k].attribute != attribute)
                continue;
            lint_find(lint, key.at, NULL,
                      "each %.*s that comes or goes moves an entry of %.*s: %.*s is in its key",
                      SLICE_FMT(attribute->tally->source->name), SLICE_FMT(key.index->name),
                      SLICE_FMT(attribute->name));
            break;
        }
    }
}

// ---- L038, L039: events -----------------------------------------------------------------

static const struct model_publish *published(const struct lint *lint,
                                             const struct model_entity *entity)
{
    for (size_t i = 0; i < rules_of(lint)->publish_count; i++) {
        if (rules_of(lint)->publishes[i].entity == entity &&
            rules_of(lint)->publishes[i].object == NULL)
            return &rules_of(lint)->publishes[i];
    }
    return NULL;
}

bool lint_is_removed(const struct lint *lint, const struct model_entity *entity)
{
    const struct model_rules *rules = rules_of(lint);
    for (size_t i = 0; i < rules->retain_count; i++) {
        if (rules->retains[i].entity == entity && !rules->retains[i].after_delete)
            return true;
    }
    for (size_t i = 0; i < rules->keep_count; i++) {
        if (rules->keeps[i].entity == entity)
            return true;
    }
    struct slice ttl = entity->table->ttl_attribute;
    return ttl.len > 0 && model_entity_attribute(entity, ttl) != NULL;
}

// The first rule that makes items of the entity, if there is one among the table's.
static const struct model_made *maker(const struct lint *lint, const struct model_entity *entity,
                                      enum model_made_by by)
{
    for (size_t i = 0; i < rules_of(lint)->made_count; i++) {
        const struct model_made *made = &rules_of(lint)->made[i];
        if (made->target == entity && made->by == by)
            return made;
    }
    return NULL;
}

void lint_unread_events(struct lint *lint, const struct model_entity *entity)
{
    const struct model_made *made = maker(lint, entity, MODEL_EMIT);
    if (made != NULL && entity->table->stream == MODEL_STREAM_NONE &&
        published(lint, entity) == NULL)
        lint_find(lint, made->at,
                  lint_text(lint, "publish %.*s to \"https://…\", or give the table a stream",
                            SLICE_FMT(entity->name)),
                  "events are written into %.*s, and nothing reads them", SLICE_FMT(entity->name));
}

void lint_growing_events(struct lint *lint, const struct model_entity *entity)
{
    const struct model_made *made = maker(lint, entity, MODEL_EMIT);
    if (made != NULL && !lint_is_removed(lint, entity))
        lint_find(lint, entity->at,
                  lint_text(lint, "retain %.*s for 30d then delete", SLICE_FMT(entity->name)),
                  "nothing removes %.*s items, of which each change of %.*s makes one",
                  SLICE_FMT(entity->name), SLICE_FMT(made->source->name));
}

// ---- L040 to L043: references and retention
// ------------------------------------------------------

// Whether at most one item can refer to another in this way: its own key says so.
static bool refers_once(const struct model_reference *reference)
{
    struct lint_key key;
    struct lint_fields fields;
    if (!lint_key_of(reference->entity, NULL, &key))
        return false;
    lint_key_fields(&key, LINT_BOTH, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        bool named = false;
        for (size_t k = 0; k < reference->count; k++)
            named = named || fields.list[i].attribute == reference->attributes[k];
        if (!named)
            return false;
    }
    return true;
}

void lint_dangling_reference(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        if (reference->on_delete == MODEL_DELETE_LEAVE)
            lint_find(lint, reference->at, NULL,
                      "deleting one %.*s leaves %.*s items that refer to nothing",
                      SLICE_FMT(reference->target->name), SLICE_FMT(entity->name));
    }
}

void lint_wide_cascade(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        if (reference->on_delete == MODEL_DELETE_REJECT ||
            reference->on_delete == MODEL_DELETE_LEAVE || refers_once(reference))
            continue;
        lint_find(lint, reference->at, NULL,
                  "deleting one %.*s changes all %.*s items that refer to it, in one transaction",
                  SLICE_FMT(reference->target->name), SLICE_FMT(entity->name));
    }
}

void lint_short_retain(struct lint *lint, const struct model_entity *entity)
{
    enum { DAY = 86400 };
    for (size_t i = 0; i < rules_of(lint)->retain_count; i++) {
        const struct model_retain *retain = &rules_of(lint)->retains[i];
        if (retain->entity == entity && retain->seconds < DAY)
            lint_find(lint, retain->at, NULL,
                      "%.*s items are removed by a sweep, which comes once an hour",
                      SLICE_FMT(entity->name));
    }
}

void lint_kept_and_removed(struct lint *lint, const struct model_entity *entity)
{
    const struct model_rules *rules = rules_of(lint);
    for (size_t i = 0; entity->append_only && i < rules->retain_count; i++) {
        if (rules->retains[i].entity == entity && rules->retains[i].fate == MODEL_DELETE)
            lint_find(lint, rules->retains[i].at, NULL,
                      "%.*s is append only, and is deleted after a while", SLICE_FMT(entity->name));
    }
}

// ---- L044, L045: tenants -----------------------------------------------------------------------

void lint_tenant_invisible(struct lint *lint, const struct model_entity *entity)
{
    struct slice tenant = entity->table->tenant;
    if (tenant.len > 0 && entity->tenant == NULL && !entity->shared)
        lint_find(
            lint, entity->at,
            lint_text(lint, "put {%.*s} into its key, or write `shared` in it", SLICE_FMT(tenant)),
            "no tenant can see %.*s: %.*s is not in its partition key", SLICE_FMT(entity->name),
            SLICE_FMT(tenant));
}

void lint_shared_partition(struct lint *lint, const struct lint_key *key)
{
    const struct model_attribute *tenant = key->entity->tenant;
    struct lint_fields fields;
    if (tenant == NULL || key->index == NULL)
        return;
    lint_key_fields(key, LINT_HASH, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        // What is unique, or refers to one item, is one tenant's anyway.
        if (fields.list[i].attribute == tenant ||
            (fields.list[i].attribute != NULL && lint_is_identity(fields.list[i].attribute)))
            return;
    }
    lint_find(lint, key->at, NULL, "%.*s items of all tenants share partitions of %.*s: %s",
              SLICE_FMT(key->entity->name), SLICE_FMT(key->index->name),
              lint_key_source(lint, key, LINT_HASH));
}

// ---- L046: soft delete -------------------------------------------------------------------------

static bool entry_depends(const struct model_entry *entry, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < entry->when->clause_count; i++) {
        const struct model_clause *clause = &entry->when->clauses[i];
        for (size_t k = 0; k < clause->count; k++) {
            if (clause->list[k].left->kind == MODEL_EXPR_PATH &&
                clause->list[k].left->attribute == attribute)
                return true;
        }
    }
    return false;
}

void lint_deleted_entries(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; entity->softdelete != NULL && i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        struct lint_key key;
        if (!lint_key_of(entity, entry->index, &key) ||
            (entry->when != NULL && entry_depends(entry, entity->softdelete)))
            continue;
        lint_find(lint, key.at,
                  lint_text(lint, "%.*s = … when %.*s missing", SLICE_FMT(entry->index->name),
                            SLICE_FMT(entity->softdelete->name)),
                  "%.*s items that are deleted stay in %.*s", SLICE_FMT(entity->name),
                  SLICE_FMT(entry->index->name));
    }
}

// ---- L049, L050 --------------------------------------------------------------------------------

void lint_unmarked_events(struct lint *lint, const struct model_entity *entity)
{
    const struct model_publish *publish = published(lint, entity);
    if (publish != NULL && publish->mark == NULL)
        lint_find(lint, publish->at, NULL, "%.*s items do not tell whether they were delivered",
                  SLICE_FMT(entity->name));
}

void lint_endless_quota(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < rules_of(lint)->quota_count; i++) {
        const struct model_quota *quota = &rules_of(lint)->quotas[i];
        if (quota->entity == entity && quota->period == MODEL_NO_PERIOD && quota->counting != NULL)
            lint_find(lint, quota->at, NULL, "%.*s.%.*s only grows, and nothing resets it",
                      SLICE_FMT(entity->name), SLICE_FMT(quota->attribute->name));
    }
}
