// References between entities, and what is counted of others: both join attributes of one entity
// with the address of another.
#include "model/parse_internal.h"

#include "value/number.h"

// Text is joined with text, a number with a number.
static bool types_agree(const struct model_attribute *a, const struct model_attribute *b)
{
    enum value_type one = model_type_stored(a->type);
    enum value_type other = model_type_stored(b->type);
    return one == other || one == VALUE_TYPES || other == VALUE_TYPES;
}

static void address_text(const struct model_address *address, struct buf *out)
{
    for (size_t i = 0; i < address->count; i++)
        buf_printf(out, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(address->parts[i].name));
}

// ---- The way back
// --------------------------------------------------------------------------------

// Which attributes of a reference an expression needs, and whether it needs anything else.
struct following {
    const struct model_reference *reference;
    uint32_t used; // by position
    bool other;
};

static void follow_part(void *context, const struct model_expr *part)
{
    struct following *following = context;
    if (part->kind != MODEL_EXPR_PATH)
        return;
    for (size_t i = 0; i < following->reference->count; i++) {
        if (following->reference->attributes[i] == part->attribute) {
            following->used |= 1U << i;
            return;
        }
    }
    following->other = true;
}

// The segments of a template up to the first that does not follow from the reference; whether that
// is all of them.
static bool follows(const struct model_template *template, struct following *following)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        struct following trial = *following;
        if (template->segments[i].expr != NULL)
            model_expr_visit(template->segments[i].expr, follow_part, &trial);
        if (trial.other)
            return false;
        *following = trial;
    }
    return true;
}

// Whether a template can be made for each item of the entity.
static void note_optional(void *context, const struct model_expr *part)
{
    bool *optional = context;
    *optional = *optional || (part->kind == MODEL_EXPR_PATH &&
                              (part->step_count > 1 || part->attribute == NULL ||
                               (part->attribute->optional && part->attribute->otherwise == NULL)));
}

static bool is_whole(const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        bool optional = false;
        const struct model_expr *expr = template->segments[i].expr;
        if (expr != NULL && expr->kind != MODEL_EXPR_ELSE)
            model_expr_visit(expr, note_optional, &optional);
        if (optional)
            return false;
    }
    return true;
}

// How many attributes of the reference a key is made of: 0 if its partition key needs others, or if
// an item that refers to something can be without it.
static int way_worth(const struct model_reference *reference, const struct model_key_part *parts,
                     size_t hash_count, size_t range_count)
{
    struct following following = {.reference = reference};
    for (size_t i = 0; i < hash_count; i++)
        if (parts[i].template == NULL || !follows(parts[i].template, &following))
            return 0;
    if (following.used == 0)
        return 0;
    bool whole = true; // of the sort key follows
    for (size_t i = hash_count; i < hash_count + range_count; i++) {
        if (parts[i].template == NULL)
            return 0;
        struct following trial = following;
        bool all = follows(parts[i].template, &trial);
        if (!all && !is_whole(parts[i].template))
            return 0;
        if (whole)
            following = trial;
        whole = whole && all;
    }
    return __builtin_popcount(following.used);
}

// Whether the entries are those of all items that are not deleted softly: nobody looks for others.
static bool has_all_live(const struct model_entity *entity, const struct model_test *when)
{
    if (entity->softdelete == NULL || when->clause_count != 1 || when->clauses[0].count != 1)
        return false;
    const struct model_comparison *one = &when->clauses[0].list[0];
    return one->op == MODEL_OP_MISSING && one->left->kind == MODEL_EXPR_PATH &&
           one->left->step_count == 1 && slice_equal(one->left->steps[0], entity->softdelete->name);
}

static bool find_way(struct model_reference *reference)
{
    const struct model_entity *entity = reference->entity;
    int best = way_worth(reference, entity->keys, 1, entity->table->keys.range_count);
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (!entry->stated || (entry->when != NULL && !has_all_live(entity, entry->when)))
            continue;
        int worth = way_worth(reference, entry->parts, entry->index->keys.hash_count,
                              entry->index->keys.range_count);
        if (worth > best) {
            best = worth;
            reference->index = entry->index;
        }
    }
    return best > 0;
}

// ---- References
// ----------------------------------------------------------------------------------

static bool check_clear(struct model_file *file, const struct model_reference *reference,
                        struct model_place at)
{
    struct model_address own;
    model_address(reference->entity, &own);
    bool any = false;
    for (size_t i = 0; i < reference->count; i++) {
        const struct model_attribute *one = reference->attributes[i];
        bool empties = one->optional || model_type_has(one->type, MODEL_NULL);
        any = any || (empties && !one->immutable && !one->always &&
                      model_address_find(&own, one->name) == own.count);
    }
    return any ||
           file_error(file, at,
                      "\"on delete clear\" needs an attribute that may be missing or null, is not "
                      "immutable, and is no part of the item's own key");
}

static bool check_delete(struct model_file *file, struct model_reference *reference)
{
    if (reference->on_delete == MODEL_DELETE_LEAVE)
        return true;
    if (reference->on_delete == MODEL_DELETE_CLEAR && !check_clear(file, reference, reference->at))
        return false;
    return find_way(reference) ||
           file_error(
               file, reference->at,
               "the items that refer to \"%.*s\" cannot be found: \"on delete\" needs a table "
               "key or an index of \"%.*s\" whose partition key is made of \"%.*s\"",
               SLICE_FMT(reference->target->name), SLICE_FMT(reference->entity->name),
               SLICE_FMT(reference->attributes[0]->name));
}

static bool wrong_count(struct model_file *file, const struct raw_reference *raw,
                        const struct model_entity *target, const struct model_address *address)
{
    struct buf names;
    buf_init(&names, 4096);
    address_text(address, &names);
    (void)file_error(file, raw->at,
                     "the key of %.*s is made of %.*s: a reference names as many attributes, in "
                     "this order (reference … to %.*s)",
                     SLICE_FMT(target->name), SLICE_FMT(buf_view(&names)), SLICE_FMT(target->name));
    buf_release(&names);
    return false;
}

static bool check_reference(struct model_file *file, const struct raw_entity *raw,
                            const struct raw_reference *from, struct model_reference *out)
{
    struct model_address address;
    const struct model_entity *target = check_entity(file, &from->target);
    const struct model_attribute **own =
        file_alloc(file, from->count, sizeof(struct model_attribute *));
    const struct model_attribute **keys =
        file_alloc(file, from->count, sizeof(struct model_attribute *));
    if (target == NULL || own == NULL || keys == NULL)
        return false;
    model_address(target, &address);
    if (address.count != from->count)
        return wrong_count(file, from, target, &address);
    for (size_t i = 0; i < from->count; i++) {
        own[i] = check_attribute_name(file, raw->final, &from->names[i]);
        keys[i] = address.parts[i].attribute;
        if (own[i] == NULL || keys[i] == NULL)
            return false;
        if (!types_agree(own[i], keys[i]))
            return file_error(file, from->names[i].at,
                              "\"%.*s\" refers to \"%.*s\" of %.*s, which is of another type",
                              SLICE_FMT(own[i]->name), SLICE_FMT(keys[i]->name),
                              SLICE_FMT(target->name));
    }
    *out = (struct model_reference){.entity = raw->final,
                                    .target = target,
                                    .count = from->count,
                                    .attributes = own,
                                    .keys = keys,
                                    .on_delete = from->on_delete,
                                    .at = from->at};
    return check_delete(file, out);
}

void check_references(struct model_file *file)
{
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        struct model_reference *list = NULL;
        if (raw->final == NULL)
            continue;
        if (raw->references.count > 0)
            list = file_alloc(file, raw->references.count, sizeof *list);
        for (struct raw_reference *one = raw->references.first; list != NULL && one != NULL;
             one = one->next)
            raw->final->reference_count +=
                check_reference(file, raw, one, &list[raw->final->reference_count]);
        raw->final->references = list;
    }
}

// ---- Tallies
// -------------------------------------------------------------------------------------

struct counting {
    const struct raw_tally *raw;
    struct model_tally *tally;
    struct model_address address; // of the target
    const struct model_attribute *joined[MODEL_ADDRESS_MAX];
};

static bool is_name(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_PATH && expr->step_count == 1;
}

// `a = b`, b being an attribute of the entity that counts.
static bool is_join(const struct counting *counting, const struct model_comparison *one)
{
    return one->op == MODEL_OP_EQUAL && is_name(one->left) && is_name(one->values[0]) &&
           model_entity_attribute(counting->tally->target, one->values[0]->steps[0]) != NULL;
}

static bool add_join(struct model_file *file, struct counting *counting,
                     const struct model_comparison *one)
{
    const struct raw_name name = {one->left->steps[0], one->left->at};
    struct slice to = one->values[0]->steps[0];
    const struct model_attribute *source =
        check_attribute_name(file, counting->tally->source, &name);
    size_t at = model_address_find(&counting->address, to);
    if (source == NULL)
        return false;
    if (at == counting->address.count)
        return file_error(file, one->values[0]->at,
                          "\"%.*s\" is no part of the key of %.*s: what is counted has to name the "
                          "item it counts for",
                          SLICE_FMT(to), SLICE_FMT(counting->tally->target->name));
    counting->joined[at] = source;
    return true;
}

static bool split_where(struct model_file *file, struct counting *counting)
{
    const struct model_test *where = counting->raw->where;
    if (where == NULL)
        return true;
    struct model_test *filter = file_alloc(file, 1, sizeof *filter);
    struct model_clause *clause = file_alloc(file, 1, sizeof *clause);
    struct model_comparison *list = file_alloc(file, where->clauses[0].count, sizeof *list);
    if (filter == NULL || clause == NULL || list == NULL)
        return false;
    for (size_t i = 0; i < where->clauses[0].count; i++) {
        const struct model_comparison *one = &where->clauses[0].list[i];
        if (!is_join(counting, one))
            list[clause->count++] = *one;
        else if (!add_join(file, counting, one))
            return false;
    }
    clause->list = list;
    *filter = (struct model_test){
        .text = where->text, .clause_count = 1, .clauses = clause, .at = where->at};
    if (clause->count > 0)
        counting->tally->filter = filter;
    struct model_names scope = check_scope(file, counting->tally->source);
    scope.allows = 0;
    return check_test(file, counting->tally->filter, &scope, false);
}

// The one reference of the source to the target, or NULL.
static const struct model_reference *only_reference(const struct model_tally *tally)
{
    const struct model_reference *found = NULL;
    for (size_t i = 0; i < tally->source->reference_count; i++) {
        if (tally->source->references[i].target != tally->target)
            continue;
        if (found != NULL)
            return NULL;
        found = &tally->source->references[i];
    }
    return found;
}

static bool complete_joins(struct model_file *file, struct counting *counting)
{
    struct model_tally *tally = counting->tally;
    const struct model_reference *reference = only_reference(tally);
    struct model_join *joins = file_alloc(file, counting->address.count + 1, sizeof *joins);
    if (joins == NULL)
        return false;
    for (size_t i = 0; i < counting->address.count; i++) {
        const struct model_address_part *part = &counting->address.parts[i];
        const struct model_attribute *source = counting->joined[i];
        if (source == NULL && reference != NULL)
            source = reference->attributes[i];
        if (source == NULL)
            source = model_entity_attribute(tally->source, part->name);
        if (source == NULL)
            return file_error(file, tally->at,
                              "entity \"%.*s\" has no attribute \"%.*s\" that would say which "
                              "%.*s it counts for: write \"where ATTRIBUTE = %.*s\"",
                              SLICE_FMT(tally->source->name), SLICE_FMT(part->name),
                              SLICE_FMT(tally->target->name), SLICE_FMT(part->name));
        if (part->attribute == NULL || !types_agree(source, part->attribute))
            return file_error(file, tally->at,
                              "\"%.*s\" of %.*s and \"%.*s\" of %.*s are of different types",
                              SLICE_FMT(source->name), SLICE_FMT(tally->source->name),
                              SLICE_FMT(part->name), SLICE_FMT(tally->target->name));
        joins[i] = (struct model_join){source, part->attribute};
    }
    tally->joins = joins;
    tally->join_count = counting->address.count;
    return true;
}

static bool is_number(const struct model_attribute *attribute)
{
    return model_type_stored(attribute->type) == VALUE_N;
}

static struct model_expr *zero(struct model_file *file, struct model_place at)
{
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(0, bytes);
    struct model_expr *expr = file_alloc(file, 1, sizeof *expr);
    struct slice value = parse_encode(&file->p, VALUE_TAG_N, slice_of(bytes, len));
    if (expr == NULL || value.ptr == NULL)
        return NULL;
    *expr = (struct model_expr){.kind = MODEL_EXPR_VALUE, .at = at, .value = value};
    return expr;
}

void check_counted(struct model_file *file, const struct model_attribute *attribute,
                   struct model_place at)
{
    struct model_attribute *counted = (struct model_attribute *)attribute; // ours, while we parse
    counted->counted = true;
    counted->otherwise = zero(file, at);
}

const struct model_tally *check_tally(struct model_file *file, const struct model_entity *target,
                                      const struct model_attribute *attribute,
                                      const struct raw_tally *raw, bool inserts)
{
    struct model_tally *tally = file_alloc(file, 1, sizeof *tally);
    const struct model_entity *source = check_entity(file, &raw->source);
    char *id = arena_printf(file->p.arena, "%.*s.%.*s", SLICE_FMT(target->name),
                            SLICE_FMT(attribute->name));
    if (tally == NULL || source == NULL || id == NULL)
        return NULL;
    if (!is_number(attribute))
        return diagnostic_fail(file->p.diagnostics, attribute->at,
                               "\"%.*s\" counts: it has to be a number",
                               SLICE_FMT(attribute->name));
    *tally = (struct model_tally){.id = slice_str(id),
                                  .text = raw->text,
                                  .source = source,
                                  .target = target,
                                  .attribute = attribute,
                                  .inserts = inserts,
                                  .at = raw->at};
    if (raw->amount.name.len > 0) {
        tally->amount = check_attribute_name(file, source, &raw->amount);
        if (tally->amount == NULL)
            return NULL;
        if (!is_number(tally->amount))
            return diagnostic_fail(file->p.diagnostics, raw->amount.at,
                                   "\"%.*s\" is no number: it cannot be summed",
                                   SLICE_FMT(tally->amount->name));
    }
    struct counting counting = {.raw = raw, .tally = tally};
    model_address(target, &counting.address);
    if (model_address_find(&counting.address, attribute->name) < counting.address.count)
        return diagnostic_fail(file->p.diagnostics, attribute->at,
                               "\"%.*s\" is part of the key: it cannot be counted",
                               SLICE_FMT(attribute->name));
    return split_where(file, &counting) && complete_joins(file, &counting) ? tally : NULL;
}

// ---- Circles of tallies
// --------------------------------------------------------------------------

// What a count depends on is followed through the items that are counted; whoever is met again is
// in a circle.
struct circling {
    const struct model_attribute *start;
    const struct model_attribute *path[64];
    size_t depth;
    bool found;
};

static void circle_attribute(struct circling *circling, const struct model_attribute *attribute);

static void circle_expr(void *context, const struct model_expr *part)
{
    if (part->kind == MODEL_EXPR_PATH && part->attribute != NULL)
        circle_attribute(context, part->attribute);
}

static void circle_attribute(struct circling *circling, const struct model_attribute *attribute)
{
    const struct model_tally *tally = attribute->tally;
    if (circling->depth > 0 && attribute == circling->start) {
        circling->found = true;
        return;
    }
    for (size_t i = 0; i < circling->depth; i++)
        if (circling->path[i] == attribute)
            return;
    if (circling->found || circling->depth == COUNT_OF(circling->path))
        return;
    circling->path[circling->depth++] = attribute;
    for (size_t i = 0; tally != NULL && i < tally->join_count; i++)
        circle_attribute(circling, tally->joins[i].source);
    if (tally != NULL && tally->amount != NULL)
        circle_attribute(circling, tally->amount);
    for (size_t i = 0;
         tally != NULL && tally->filter != NULL && i < tally->filter->clauses[0].count; i++) {
        const struct model_comparison *one = &tally->filter->clauses[0].list[i];
        model_expr_visit(one->left, circle_expr, circling);
        for (size_t k = 0; k < 2 && one->values[k] != NULL; k++)
            model_expr_visit(one->values[k], circle_expr, circling);
    }
    if (tally == NULL && attribute->otherwise != NULL)
        model_expr_visit(attribute->otherwise, circle_expr, circling);
}

void check_tally_circles(struct model_file *file)
{
    for (size_t i = 0; i < file->resolved->tally_count; i++) {
        const struct model_tally *tally = file->resolved->tallies[i];
        struct circling circling = {.start = tally->attribute};
        circle_attribute(&circling, tally->attribute);
        if (circling.found)
            (void)file_error(file, tally->at, "\"%.*s\" would count itself, through others",
                             SLICE_FMT(tally->id));
    }
}

void check_tallies(struct model_file *file)
{
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        size_t at = 0;
        for (struct raw_attribute *one = raw->attributes.first; one != NULL && raw->final != NULL;
             one = one->next, at++) {
            struct model_attribute *attribute =
                (struct model_attribute *)&raw->final->attributes[at];
            if (one->tally == NULL)
                continue;
            attribute->tally = check_tally(file, raw->final, attribute, one->tally, false);
            check_counted(file, attribute, one->tally->at);
        }
    }
}
