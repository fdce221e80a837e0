// Rules about keys: how they spread, how they sort, whether they are one item's alone.
#include "lint/lint_internal.h"

#include "value/number.h"

enum { FEW = 16 }; // partitions that are too few to share the load of a table

// ---- L001, L002: partitions ------------------------------------------------------------------

static bool same_hash(const struct lint_key *a, const struct lint_key *b)
{
    for (size_t i = 0; i < a->schema->hash_count; i++)
        if (!slice_equal(lint_part_source(&a->parts[i]), lint_part_source(&b->parts[i])))
            return false;
    return true;
}

// An entity's own single item (constant in both parts) is no load.
static bool crowds_one_partition(const struct lint_key *key)
{
    return lint_key_constant(key, LINT_HASH) &&
           (key->index != NULL || (lint_key_has_range(key) && !lint_key_constant(key, LINT_RANGE)));
}

// The first field of the sort key, if it stands alone at its front: it could be moved.
static const struct lint_field *leading_field(const struct lint_key *key, struct lint_fields *room)
{
    if (!lint_key_has_range(key))
        return NULL;
    const struct model_template *template = key->parts[key->schema->hash_count].template;
    lint_key_fields(key, LINT_RANGE, room);
    if (template == NULL || template->segment_count == 0 || template->segments[0].expr == NULL ||
        room->count == 0 || room->list[0].path == NULL || room->list[0].attribute == NULL)
        return NULL;
    return &room->list[0];
}

static const char *spread_help(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields room;
    const struct lint_field *field = leading_field(key, &room);
    struct slice hash = lint_part_source(&key->parts[0]);
    if (field == NULL)
        return lint_text(lint,
                         "add a shard or a tenant to the partition key, such as "
                         "\"%.*s#{shard}\", or leave items nobody asks for out of the index",
                         SLICE_FMT(hash));
    struct slice name = field->attribute->name;
    if (model_type_has(field->type, MODEL_TIMESTAMP) || model_type_has(field->type, MODEL_EPOCH) ||
        model_type_has(field->type, MODEL_DATE))
        return lint_text(lint, "cut it by time: \"%.*s#{%.*s:yyyy-mm}\", one partition a month",
                         SLICE_FMT(hash), SLICE_FMT(name));
    return lint_text(lint, "move {%.*s} from the sort key into the partition key: \"%.*s#{%.*s}\"",
                     SLICE_FMT(name), SLICE_FMT(hash), SLICE_FMT(name));
}

// A partition that several entities crowd is one finding, at the first of them.
static bool told_before(const struct lint_key *key)
{
    const struct model_table *table = key->entity->table;
    for (size_t i = 0; &table->entities[i] != key->entity; i++) {
        struct lint_key before;
        if (lint_key_of(&table->entities[i], key->index, &before) &&
            crowds_one_partition(&before) && same_hash(&before, key))
            return true;
    }
    return false;
}

void lint_hot_partition(struct lint *lint, const struct lint_key *key)
{
    if (!crowds_one_partition(key) || told_before(key))
        return;
    const struct model_table *table = key->entity->table;
    const char *names = "";
    size_t count = 0;
    for (size_t i = 0; i < table->entity_count; i++) {
        struct lint_key other;
        if (!lint_key_of(&table->entities[i], key->index, &other) ||
            !crowds_one_partition(&other) || !same_hash(&other, key))
            continue;
        names = lint_text(lint, "%s%s%.*s", names, count++ == 0 ? "" : ", ",
                          SLICE_FMT(other.entity->name));
    }
    struct slice where = lint_key_where(key);
    lint_find(lint, key->at, spread_help(lint, key), "every %s%s is in one partition of %.*s: %s",
              count > 1 ? "item of " : "", names, SLICE_FMT(where),
              lint_key_source(lint, key, LINT_HASH));
}

void lint_few_partitions(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_HASH, &fields);
    size_t values = fields.count == 0 ? 0 : lint_fields_cardinality(&fields);
    if (values < 2 || values > FEW)
        return;
    struct slice where = lint_key_where(key);
    struct slice name =
        fields.list[0].attribute == NULL ? SLICE_LIT("its field") : fields.list[0].attribute->name;
    lint_find(lint, key->at, NULL,
              "all %.*s items share %zu partitions of %.*s: %.*s has no more values (%s)",
              SLICE_FMT(key->entity->name), values, SLICE_FMT(where), SLICE_FMT(name),
              lint_key_source(lint, key, LINT_HASH));
}

// ---- L003: sort keys that do not sort ----------------------------------------------------------

// Whether the partition of an index holds one item of the entity only: its key has all fields of
// the primary key, or one that no two items share.
static bool hash_is_unique(const struct lint_key *key)
{
    struct lint_key primary;
    struct lint_fields here;
    struct lint_fields there;
    lint_key_fields(key, LINT_HASH, &here);
    for (size_t i = 0; i < here.count; i++)
        if (lint_is_identity(here.list[i].attribute))
            return true;
    (void)lint_key_of(key->entity, NULL, &primary);
    lint_key_fields(&primary, LINT_BOTH, &there);
    return here.count > 0 && lint_fields_cover(&here, &there);
}

void lint_constant_sort(struct lint *lint, const struct lint_key *key)
{
    if (key->index == NULL || !lint_key_has_range(key) || hash_is_unique(key))
        return;
    struct lint_fields fields;
    lint_key_fields(key, LINT_RANGE, &fields);
    bool constant = lint_key_constant(key, LINT_RANGE);
    size_t values = fields.count == 0 ? 0 : lint_fields_cardinality(&fields);
    if (!constant && (values == 0 || values > FEW))
        return;
    const struct model_key_part *part = &key->parts[key->schema->hash_count];
    struct slice where = lint_key_where(key);
    struct model_place at = part->at.line > 0 ? part->at : key->at;
    if (constant)
        lint_find(lint, at, NULL, "the sort key of %.*s in %.*s is always %s: it cannot sort",
                  SLICE_FMT(key->entity->name), SLICE_FMT(where),
                  lint_key_source(lint, key, LINT_RANGE));
    else
        lint_find(lint, at, NULL,
                  "the sort key of %.*s in %.*s has %zu values only (%s): it filters, but does "
                  "not sort",
                  SLICE_FMT(key->entity->name), SLICE_FMT(where), values,
                  lint_key_source(lint, key, LINT_RANGE));
}

// ---- L004, L005: numbers as text ---------------------------------------------------------------

// The part of a range in which a number stands as text.
static bool range_is_text(const struct lint_key *key, size_t part, const struct lint_fields *fields)
{
    return !(fields->bare && key->schema->parts[part].type == VALUE_N);
}

static bool sorts_as_text(const struct lint_field *field)
{
    if (field->attribute == NULL || field->shaped || field->pad > 0)
        return false;
    struct slice name = field->path == NULL || field->path->step_count == 0
                            ? field->attribute->name
                            : field->path->steps[field->path->step_count - 1];
    if (model_type_has(field->type, MODEL_EPOCH))
        return false; // ten digits until the year 2286
    return lint_type_numeric(field->type) ||
           (model_type_has(field->type, MODEL_STRING) && lint_name_version(name));
}

void lint_number_as_text(struct lint *lint, const struct lint_key *key)
{
    for (size_t i = 0; i < key->schema->range_count; i++) {
        size_t place = key->schema->hash_count + i;
        const struct model_key_part *part = &key->parts[place];
        struct lint_fields fields;
        lint_part_fields(key->entity, part, &fields);
        if (!range_is_text(key, place, &fields))
            continue;
        for (size_t k = 0; k < fields.count; k++) {
            if (!sorts_as_text(&fields.list[k]))
                continue;
            struct slice name = fields.list[k].attribute->name;
            struct slice where = lint_key_where(key);
            lint_find(lint, part->at.line > 0 ? part->at : key->at,
                      lint_text(lint, "pad it to the digits it may ever have: {%.*s:pad(10)}",
                                SLICE_FMT(name)),
                      "%.*s of %.*s sorts as text in %.*s: 10 comes before 9", SLICE_FMT(name),
                      SLICE_FMT(key->entity->name), SLICE_FMT(where));
        }
    }
}

// Digits before the point; 0 if the limit is not given.
static size_t digits_of(struct slice limit)
{
    char text[NUMBER_TEXT_MAX];
    if (limit.len == 0)
        return 0;
    size_t len = number_to_text(limit, text);
    size_t digits = 0;
    for (size_t i = 0; i < len && text[i] != '.'; i++)
        digits += text[i] >= '0' && text[i] <= '9';
    return digits;
}

static bool below_zero(struct slice limit)
{
    char text[NUMBER_TEXT_MAX];
    return limit.len > 0 && number_to_text(limit, text) > 0 && text[0] == '-';
}

void lint_narrow_pad(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_RANGE, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        const struct lint_field *field = &fields.list[i];
        if (field->pad == 0 || field->type == NULL || !lint_type_numeric(field->type) ||
            field->attribute == NULL)
            continue;
        struct slice name = field->attribute->name;
        struct slice where = lint_key_where(key);
        size_t needed = model_type_has(field->type, MODEL_EPOCH) ? 10 : digits_of(field->type->max);
        if (needed > field->pad)
            lint_find(lint, key->at,
                      lint_text(lint, "write {%.*s:pad(%zu)}", SLICE_FMT(name), needed),
                      "pad(%zu) is too narrow for %.*s in %.*s, which may have %zu digits",
                      field->pad, SLICE_FMT(name), SLICE_FMT(where), needed);
        else if (below_zero(field->type->min))
            lint_find(lint, key->at,
                      lint_text(lint,
                                "give %.*s a range from 0, or keep a second attribute with "
                                "an offset added and put that into the key",
                                SLICE_FMT(name)),
                      "%.*s may be negative, and padded negative numbers do not sort in %.*s",
                      SLICE_FMT(name), SLICE_FMT(where));
    }
}

// ---- L006, L007: keys of two entities ----------------------------------------------------------

typedef void visit_pair(struct lint *lint, const struct lint_key *a, const struct lint_key *b,
                        struct slice hash, struct slice range);

static void judge_pair(struct lint *lint, const struct lint_key *a, const struct lint_key *b,
                       visit_pair *visit)
{
    struct buf hash;
    struct buf range;
    buf_init(&hash, 4096);
    buf_init(&range, 4096);
    if (lint_parts_overlap(a->entity, &a->parts[0], b->entity, &b->parts[0], &hash) &&
        (!lint_key_has_range(a) ||
         lint_parts_overlap(a->entity, &a->parts[1], b->entity, &b->parts[1], &range)))
        visit(lint, a, b, buf_view(&hash), buf_view(&range));
    buf_release(&hash);
    buf_release(&range);
}

static void each_overlap(struct lint *lint, const struct model_table *table, visit_pair *visit)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        for (size_t k = i + 1; k < table->entity_count; k++) {
            struct lint_key a;
            struct lint_key b;
            (void)lint_key_of(&table->entities[i], NULL, &a);
            (void)lint_key_of(&table->entities[k], NULL, &b);
            judge_pair(lint, &a, &b, visit);
        }
    }
}

static const char *example_of(struct lint *lint, const struct lint_key *key, struct slice hash,
                              struct slice range)
{
    if (!lint_key_has_range(key))
        return lint_text(lint, "%.*s = \"%.*s\"", SLICE_FMT(key->parts[0].name), SLICE_FMT(hash));
    return lint_text(lint, "%.*s = \"%.*s\", %.*s = \"%.*s\"", SLICE_FMT(key->parts[0].name),
                     SLICE_FMT(hash), SLICE_FMT(key->parts[1].name), SLICE_FMT(range));
}

static void colliding(struct lint *lint, const struct lint_key *a, const struct lint_key *b,
                      struct slice hash, struct slice range)
{
    struct slice name = b->entity->name;
    lint_find(lint, b->at,
              lint_text(lint, "give %.*s a prefix of its own in %.*s", SLICE_FMT(name),
                        SLICE_FMT(b->parts[lint_key_has_range(b) ? 1 : 0].name)),
              "%.*s and %.*s can have the same key: %s", SLICE_FMT(a->entity->name),
              SLICE_FMT(name), example_of(lint, a, hash, range));
}

void lint_colliding_keys(struct lint *lint, const struct model_table *table)
{
    if (table->type_attribute.len > 0)
        each_overlap(lint, table, colliding);
}

static void ambiguous(struct lint *lint, const struct lint_key *a, const struct lint_key *b,
                      struct slice hash, struct slice range)
{
    struct slice name = b->entity->name;
    lint_find(lint, b->at, NULL,
              "a key does not tell %.*s from %.*s, and the table has no type attribute: %s",
              SLICE_FMT(name), SLICE_FMT(a->entity->name), example_of(lint, a, hash, range));
}

void lint_ambiguous_entities(struct lint *lint, const struct model_table *table)
{
    if (table->type_attribute.len == 0)
        each_overlap(lint, table, ambiguous);
}

// ---- L008, L009, L013, L030: what stands in a primary key -----------------------------------

const char *lint_why_mutable(const struct model_attribute *attribute)
{
    if (attribute->immutable)
        return NULL;
    if (attribute->on_update)
        return "is set again at each write";
    if (attribute->version)
        return "counts the changes of the item";
    if (attribute->type != NULL && attribute->type->kind == MODEL_BOOLEAN)
        return "is a switch";
    if (lint_name_state(attribute->name))
        return "sounds like something that changes";
    return NULL;
}

void lint_mutable_key(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_BOTH, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        const char *why = attribute == NULL ? NULL : lint_why_mutable(attribute);
        if (why != NULL)
            lint_find(lint, key->at,
                      lint_text(lint,
                                "take {%.*s} out of the key (an index may have it), or mark it "
                                "immutable if it never changes",
                                SLICE_FMT(attribute->name)),
                      "%.*s is in the primary key of %.*s, and %s", SLICE_FMT(attribute->name),
                      SLICE_FMT(key->entity->name), why);
    }
}

static bool is_time(const struct lint_field *field)
{
    return lint_type_time(field->type) ||
           (field->attribute != NULL && model_type_has(field->type, MODEL_STRING) &&
            lint_name_time(field->attribute->name));
}

static bool is_id(const struct lint_field *field)
{
    return model_type_has(field->type, MODEL_UUID) ||
           (field->attribute != NULL && lint_name_id(field->attribute->name));
}

void lint_time_only_key(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_RANGE, &fields);
    const struct model_attribute *time = NULL;
    for (size_t i = 0; i < fields.count; i++) {
        if (is_id(&fields.list[i]))
            return;
        if (is_time(&fields.list[i]) && time == NULL)
            time = fields.list[i].attribute;
    }
    if (time != NULL)
        lint_find(
            lint, key->at,
            lint_text(lint, "end the sort key with an id: \"…{%.*s}#{id}\"", SLICE_FMT(time->name)),
            "only the time %.*s tells two %.*s items of a partition apart", SLICE_FMT(time->name),
            SLICE_FMT(key->entity->name));
}

void lint_deprecated_in_key(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_BOTH, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        struct slice where = lint_key_where(key);
        if (attribute != NULL && attribute->deprecated)
            lint_find(lint, key->at, NULL, "the deprecated %.*s is part of the key of %.*s in %.*s",
                      SLICE_FMT(attribute->name), SLICE_FMT(key->entity->name), SLICE_FMT(where));
    }
}

// Made here once, and so not changed by anybody.
static bool is_generated(const struct model_attribute *attribute)
{
    const struct model_expr *made = attribute->otherwise;
    return made != NULL && !attribute->on_update && made->kind == MODEL_EXPR_CALL &&
           (made->function == MODEL_FN_UUID || made->function == MODEL_FN_ULID ||
            made->function == MODEL_FN_NOW);
}

void lint_key_not_immutable(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_BOTH, &fields);
    const char *names = "";
    size_t count = 0;
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        if (attribute == NULL || attribute->immutable || is_generated(attribute) ||
            lint_why_mutable(attribute) != NULL)
            continue;
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before = before || fields.list[k].attribute == attribute;
        if (!before)
            names = lint_text(lint, "%s%s%.*s", names, count++ == 0 ? "" : ", ",
                              SLICE_FMT(attribute->name));
    }
    if (count > 0)
        lint_find(lint, key->entity->at, NULL,
                  "%s %s in the primary key of %.*s without being immutable", names,
                  count == 1 ? "is" : "are", SLICE_FMT(key->entity->name));
}
