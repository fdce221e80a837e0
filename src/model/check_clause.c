// What holds in entities beside keys and attributes: tests, checks, moves, what is unique together,
// soft deletion.
#include "model/parse_internal.h"

// ---- Names
// ---------------------------------------------------------------------------------------

struct model_entity *check_entity(struct model_file *file, const struct raw_name *name)
{
    struct raw_entity *found = file_entity(file, name->name);
    for (struct raw_entity *raw = found; raw != NULL; raw = raw->next)
        if (raw != found && slice_equal(raw->entity.name, name->name) &&
            raw->table != found->table && raw->table != NULL && found->table != NULL)
            return diagnostic_fail(file->p.diagnostics, name->at,
                                   "tables \"%.*s\" and \"%.*s\" both have an entity \"%.*s\"; "
                                   "rules need names that are there once",
                                   SLICE_FMT(found->table->table.name),
                                   SLICE_FMT(raw->table->table.name), SLICE_FMT(name->name));
    if (found != NULL)
        return found->final;
    struct model_guess guess = model_guess_for(name->name);
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next)
        model_guess_candidate(&guess, raw->entity.name);
    return diagnostic_fail(file->p.diagnostics, name->at, "unknown entity \"%.*s\"%s",
                           SLICE_FMT(name->name), model_guess_say(&guess, file->p.scratch));
}

struct model_attribute *check_attribute_name(struct model_file *file,
                                             const struct model_entity *entity,
                                             const struct raw_name *name)
{
    const struct model_attribute *found = model_entity_attribute(entity, name->name);
    if (found != NULL)
        return (struct model_attribute *)found;
    struct model_guess guess = model_guess_for(name->name);
    model_guess_attributes(&guess, entity);
    return diagnostic_fail(file->p.diagnostics, name->at,
                           "entity \"%.*s\" has no attribute \"%.*s\"%s", SLICE_FMT(entity->name),
                           SLICE_FMT(name->name), model_guess_say(&guess, file->p.scratch));
}

bool check_is_time(const struct model_type *type)
{
    return model_type_has(type, MODEL_TIMESTAMP) || model_type_has(type, MODEL_DATE) ||
           model_type_has(type, MODEL_EPOCH);
}

void *check_grow(struct model_file *file, void *list, size_t *count, size_t size)
{
    size_t had = *count;
    char *entries;
    memcpy(&entries, list, sizeof entries); // its own type is another one for each list
    if ((had & (had - 1)) == 0) {           // 0, 1, 2, 4, …: that many there were room for
        char *grown = file_alloc(file, had == 0 ? 1 : 2 * had, size);
        if (grown == NULL)
            return NULL;
        if (had > 0)
            memcpy(grown, entries, had * size);
        entries = grown;
        memcpy(list, &entries, sizeof entries);
    }
    *count = had + 1;
    return entries + had * size;
}

// ---- Tests
// ---------------------------------------------------------------------------------------

static bool is_null(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_NULL;
}

// A value that the attribute never has is a slip of the pen.
static bool check_compared(struct model_file *file, const struct model_comparison *one,
                           const struct model_expr *value)
{
    const struct model_type *type = model_path_type(one->left);
    if (is_null(value))
        return file_error(file, value->at,
                          "nothing is compared with null: write \"missing\" or \"exists\"");
    bool equal = one->op == MODEL_OP_EQUAL || one->op == MODEL_OP_NOT_EQUAL;
    if (type == NULL || value->kind != MODEL_EXPR_VALUE || !equal || value->duration ||
        check_is_time(type) || check_literal(type, value->value))
        return true;
    struct buf text;
    buf_init(&text, 400);
    model_type_text(type, &text);
    buf_text(&text, ", never ");
    model_literal_text(value->value, &text);
    (void)file_error(file, value->at, "\"%.*s\" is %.*s", SLICE_FMT(one->left->steps[0]),
                     SLICE_FMT(text.failed ? SLICE_LIT("of another type") : buf_view(&text)));
    buf_release(&text);
    return false;
}

static bool check_comparison(struct model_file *file, const struct model_comparison *one,
                             const struct model_names *scope, bool changes)
{
    bool ok = model_expr_resolve(one->left, scope, file->p.scratch, file->p.diagnostics) &&
              check_sums(file, one->left);
    if (one->op == MODEL_OP_CHANGED && !changes)
        ok = file_error(file, one->at,
                        "\"changed\" cannot stand here: this is asked of an item, not of a change");
    for (size_t i = 0; i < 2 && one->values[i] != NULL; i++)
        ok = model_expr_resolve(one->values[i], scope, file->p.scratch, file->p.diagnostics) &&
             check_sums(file, one->values[i]) && ok && check_compared(file, one, one->values[i]);
    return ok;
}

bool check_test(struct model_file *file, const struct model_test *test,
                const struct model_names *scope, bool changes)
{
    bool ok = true;
    for (size_t i = 0; test != NULL && i < test->clause_count; i++)
        for (size_t k = 0; k < test->clauses[i].count; k++)
            ok = check_comparison(file, &test->clauses[i].list[k], scope, changes) && ok;
    return ok;
}

// ---- Clauses
// -------------------------------------------------------------------------------------

static bool can_be_absent(const struct model_attribute *attribute)
{
    return attribute->optional || model_type_has(attribute->type, MODEL_NULL);
}

static void check_softdelete(struct model_file *file, struct raw_entity *raw)
{
    if (raw->softdelete.name.len == 0)
        return;
    const struct model_attribute *found = check_attribute_name(file, raw->final, &raw->softdelete);
    if (found == NULL)
        return;
    if (!check_is_time(found->type) || !can_be_absent(found))
        (void)file_error(file, raw->softdelete.at,
                         "\"%.*s\" says when an item was deleted: it has to be a time that may be "
                         "missing, such as timestamp?",
                         SLICE_FMT(found->name));
    else if ((found->otherwise != NULL && !is_null(found->otherwise)) || found->immutable)
        (void)file_error(file, raw->softdelete.at,
                         "\"%.*s\" says when an item was deleted: it has no default but null, and "
                         "is not immutable",
                         SLICE_FMT(found->name));
    else if (raw->final->append_only)
        (void)file_error(file, raw->softdelete.at,
                         "entity \"%.*s\" is append only: nothing is deleted",
                         SLICE_FMT(raw->final->name));
    raw->final->softdelete = found;
}

static bool can_be_unique(const struct model_attribute *attribute)
{
    enum value_type stored = model_type_stored(attribute->type);
    return stored == VALUE_S || stored == VALUE_N || stored == VALUE_B;
}

static bool check_unique(struct model_file *file, const struct raw_entity *raw,
                         const struct raw_unique *one, struct model_unique *out)
{
    const struct model_attribute **list =
        file_alloc(file, one->count, sizeof(struct model_attribute *));
    if (list == NULL)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        list[i] = check_attribute_name(file, raw->final, &one->names[i]);
        if (list[i] == NULL)
            return false;
        if (!can_be_unique(list[i]))
            return file_error(file, one->names[i].at,
                              "\"%.*s\" cannot be unique: only text, numbers and binary can",
                              SLICE_FMT(list[i]->name));
        for (size_t k = 0; k < i; k++)
            if (list[k] == list[i])
                return file_error(file, one->names[i].at, "\"%.*s\" is there twice",
                                  SLICE_FMT(list[i]->name));
    }
    *out = (struct model_unique){.count = one->count, .attributes = list, .at = one->at};
    return true;
}

static bool check_state(struct model_file *file, const struct model_attribute *attribute,
                        struct slice value, struct model_place at)
{
    if (check_literal(attribute->type, value))
        return true;
    struct buf text;
    buf_init(&text, 400);
    model_literal_text(value, &text);
    (void)file_error(file, at, "%.*s is no value of \"%.*s\"",
                     SLICE_FMT(text.failed ? SLICE_LIT("this") : buf_view(&text)),
                     SLICE_FMT(attribute->name));
    buf_release(&text);
    return false;
}

static bool check_moves(struct model_file *file, const struct raw_entity *raw,
                        const struct raw_moves *moves, struct model_moves *out)
{
    const struct model_attribute *attribute =
        check_attribute_name(file, raw->final, &moves->attribute);
    struct model_move *list = file_alloc(file, moves->list.count + 1, sizeof *list);
    bool ok = attribute != NULL && list != NULL;
    for (struct raw_moves *other = raw->moves.first; ok && other != moves; other = other->next)
        if (slice_equal(other->attribute.name, moves->attribute.name))
            return file_error(file, moves->attribute.at,
                              "\"%.*s\" has moves already, in %s: join them with a comma",
                              SLICE_FMT(attribute->name), file_line(file, other->moves.at.line));
    size_t count = 0;
    for (struct raw_move *one = moves->list.first; ok && one != NULL; one = one->next) {
        ok = check_state(file, attribute, one->move.from, one->from_at) &&
             check_state(file, attribute, one->move.to, one->to_at);
        list[count++] = one->move;
    }
    *out = moves->moves;
    out->attribute = attribute;
    out->list = list;
    out->count = count;
    return ok;
}

static bool check_lists(struct model_file *file, struct raw_entity *raw)
{
    struct model_entity *entity = raw->final;
    struct model_unique *uniques = file_alloc(file, raw->uniques.count + 1, sizeof *uniques);
    struct model_check_rule *checks = file_alloc(file, raw->checks.count + 1, sizeof *checks);
    struct model_moves *moves = file_alloc(file, raw->moves.count + 1, sizeof *moves);
    if (uniques == NULL || checks == NULL || moves == NULL)
        return false;
    struct model_names scope = check_scope(file, entity);
    for (struct raw_unique *one = raw->uniques.first; one != NULL; one = one->next)
        entity->unique_count += check_unique(file, raw, one, &uniques[entity->unique_count]);
    for (struct raw_check *one = raw->checks.first; one != NULL; one = one->next) {
        DISREGARD(check_test(file, one->rule.test, &scope, true));
        checks[entity->check_count++] = one->rule;
    }
    for (struct raw_moves *one = raw->moves.first; one != NULL; one = one->next)
        entity->moves_count += check_moves(file, raw, one, &moves[entity->moves_count]);
    entity->uniques = uniques;
    entity->checks = checks;
    entity->moves = moves;
    return true;
}

// ---- Entries with `when`
// -------------------------------------------------------------------------

// Whether an attribute of an entry is made by it alone: derived, and in no other key.
static bool is_own_part(const struct model_entity *entity, const struct model_entry *entry,
                        const struct model_key_part *part)
{
    const struct key_schema *table = &entity->table->keys;
    if (part->template == NULL || model_entity_attribute(entity, part->name) != NULL)
        return false;
    for (size_t i = 0; i < table->hash_count + table->range_count; i++)
        if (slice_equal(table->parts[i].name, part->name))
            return false;
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *other = &entity->entries[i];
        const struct key_schema *keys = &other->index->keys;
        for (size_t k = 0;
             other != entry && other->stated && k < keys->hash_count + keys->range_count; k++)
            if (slice_equal(keys->parts[k].name, part->name))
                return false;
    }
    return true;
}

static void check_entry(struct model_file *file, const struct raw_entity *raw,
                        const struct raw_binding *bound)
{
    struct model_entity *entity = raw->final;
    struct model_entry *entry = NULL;
    for (size_t i = 0; i < entity->entry_count; i++)
        if (slice_equal(entity->entries[i].index->name, bound->name))
            entry = (struct model_entry *)&entity->entries[i];
    if (entry == NULL || !entry->stated) {
        (void)file_error(
            file, bound->when->at,
            "\"when\" stands behind an index and all of its parts: INDEX = …, … when …");
        return;
    }
    bool own = false;
    for (size_t i = 0; i < entry->index->keys.hash_count + entry->index->keys.range_count; i++)
        own = own || is_own_part(entity, entry, &entry->parts[i]);
    if (!own) {
        (void)file_error(file, bound->when->at,
                         "the key of index \"%.*s\" is made of attributes that the item has in any "
                         "case: \"when\" needs a part with a template of its own",
                         SLICE_FMT(entry->index->name));
        return;
    }
    struct model_names scope = check_scope(file, entity);
    scope.allows = 0;
    DISREGARD(check_test(file, bound->when, &scope, false));
    entry->when = bound->when;
}

void check_clauses(struct model_file *file)
{
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        if (raw->final == NULL)
            continue;
        check_softdelete(file, raw);
        if (!check_lists(file, raw))
            return;
        for (struct raw_binding *bound = raw->bindings.first; bound != NULL; bound = bound->next)
            if (bound->when != NULL)
                check_entry(file, raw, bound);
    }
}
