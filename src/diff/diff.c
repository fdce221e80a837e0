// See diff.h. Both models are walked by name; what is in one only was added or removed, what is in
// both is compared by its words, and types by their structure, because a named type keeps its name
// when its fields change.
#include "diff/diff.h"

enum { TYPE_DEPTH = 24, TEXT_MAX = 4096, CLAUSES_MAX = LIMIT_MODEL_FILE };

const char *model_change_name(enum model_change_kind kind)
{
    static const char *const names[] = {
#define X(kind, noun, verb) #kind,
        MODEL_CHANGE_LIST(X)
#undef X
    };
    return names[kind];
}

void model_changes_init(struct model_changes *changes, struct arena *arena)
{
    changes->arena = arena;
    changes->count = 0;
    changes->lost = 0;
}

void model_changes_add(struct model_changes *changes, struct model_change change)
{
    change.subject = arena_copy(changes->arena, change.subject);
    change.before = arena_copy(changes->arena, change.before);
    change.after = arena_copy(changes->arena, change.after);
    bool whole =
        change.subject.ptr != NULL && change.before.ptr != NULL && change.after.ptr != NULL;
    if (changes->count == MODEL_CHANGES_MAX || !whole)
        changes->lost++;
    else
        changes->list[changes->count++] = change;
}

// ---- Comparing --------------------------------------------------------------------------------

static bool type_same(const struct model_type *a, const struct model_type *b, unsigned depth);

static bool field_same(const struct model_attribute *a, const struct model_attribute *b,
                       unsigned depth)
{
    return slice_equal(a->name, b->name) && a->optional == b->optional &&
           type_same(a->type, b->type, depth);
}

// Recursive types come back to themselves through a member: there the comparison ends.
static bool type_same(const struct model_type *a, const struct model_type *b, unsigned depth)
{
    if (a == b || depth == TYPE_DEPTH)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind || !slice_equal(a->min, b->min) ||
        !slice_equal(a->max, b->max) || !slice_equal(a->literal, b->literal) ||
        a->option_count != b->option_count || a->field_count != b->field_count)
        return false;
    if (!type_same(a->item, b->item, depth + 1))
        return false;
    for (size_t i = 0; i < a->option_count; i++) {
        if (!type_same(a->options[i], b->options[i], depth + 1))
            return false;
    }
    for (size_t i = 0; i < a->field_count; i++) {
        if (!field_same(&a->fields[i], &b->fields[i], depth + 1))
            return false;
    }
    return true;
}

// ---- Noting -----------------------------------------------------------------------------------

// Where a change is noted: the texts are made in the buffers.
struct diff {
    struct model_changes *changes;
    const struct model_entity *entity; // of the new model
    struct buf subject;
    struct buf before;
    struct buf after;
};

static void note(struct diff *diff, enum model_change_kind kind)
{
    model_changes_add(diff->changes,
                      (struct model_change){kind, buf_view(&diff->subject), buf_view(&diff->before),
                                            buf_view(&diff->after), diff->entity});
}

// Begins a note of "subject" or "subject.part".
static void begin(struct diff *diff, struct slice subject, struct slice part)
{
    buf_clear(&diff->subject);
    buf_clear(&diff->before);
    buf_clear(&diff->after);
    buf_slice(&diff->subject, subject);
    buf_text(&diff->subject, part.len > 0 ? "." : "");
    buf_slice(&diff->subject, part);
}

static void note_word(struct diff *diff, enum model_change_kind kind, struct slice subject,
                      const char *before, const char *after)
{
    begin(diff, subject, slice_of(NULL, 0));
    buf_text(&diff->before, before);
    buf_text(&diff->after, after);
    note(diff, kind);
}

// Notes what the two texts say: added, removed or changed, which are three kinds in a row.
static void note_texts(struct diff *diff, enum model_change_kind added, bool was, bool is)
{
    if (!was && is)
        note(diff, added);
    else if (was && !is)
        note(diff, added + 1);
    else if (was && !slice_equal(buf_view(&diff->before), buf_view(&diff->after)))
        note(diff, added + 2);
}

// ---- Entities ---------------------------------------------------------------------------------

static void diff_part(struct diff *diff, struct slice entity, const struct model_key_part *before,
                      const struct model_key_part *after)
{
    const struct model_key_part *any = after != NULL ? after : before;
    bool was = before != NULL && before->template != NULL;
    bool is = after != NULL && after->template != NULL;
    if (any == NULL || any->name.len == 0)
        return;
    begin(diff, entity, any->name);
    if (was)
        model_template_text(before->template, &diff->before);
    if (is)
        model_template_text(after->template, &diff->after);
    note_texts(diff, MODEL_CHANGE_TEMPLATE_ADDED, was, is);
}

static const struct model_entry *entry_find(const struct model_entity *entity, struct slice index)
{
    for (size_t i = 0; entity != NULL && i < entity->entry_count; i++) {
        if (slice_equal(entity->entries[i].index->name, index))
            return &entity->entries[i];
    }
    return NULL;
}

static size_t part_count(const struct model_entry *entry)
{
    return entry == NULL ? 0 : entry->index->keys.hash_count + entry->index->keys.range_count;
}

static void diff_entry(struct diff *diff, struct slice name, const struct model_entry *before,
                       const struct model_entry *after)
{
    size_t old_parts = before != NULL && before->stated ? part_count(before) : 0;
    size_t new_parts = after != NULL && after->stated ? part_count(after) : 0;
    for (size_t i = 0; i < old_parts || i < new_parts; i++)
        diff_part(diff, name, i < old_parts ? &before->parts[i] : NULL,
                  i < new_parts ? &after->parts[i] : NULL);
}

static void diff_entries(struct diff *diff, const struct model_entity *before,
                         const struct model_entity *after)
{
    for (size_t i = 0; i < 2; i++)
        diff_part(diff, after->name, before == NULL ? NULL : &before->keys[i], &after->keys[i]);
    for (size_t i = 0; i < after->entry_count; i++)
        diff_entry(diff, after->name, entry_find(before, after->entries[i].index->name),
                   &after->entries[i]);
    for (size_t i = 0; before != NULL && i < before->entry_count; i++) {
        if (entry_find(after, before->entries[i].index->name) == NULL)
            diff_entry(diff, after->name, &before->entries[i], NULL);
    }
}

static void diff_attribute(struct diff *diff, struct slice entity,
                           const struct model_attribute *before,
                           const struct model_attribute *after)
{
    begin(diff, entity, after != NULL ? after->name : before->name);
    if (before != NULL)
        model_attribute_text(before, &diff->before);
    if (after != NULL)
        model_attribute_text(after, &diff->after);
    bool inside = before != NULL && after != NULL &&
                  slice_equal(buf_view(&diff->before), buf_view(&diff->after)) &&
                  !type_same(before->type, after->type, 0);
    if (inside)
        buf_text(&diff->after, " (with other members)");
    note_texts(diff, MODEL_CHANGE_ATTRIBUTE_ADDED, before != NULL, after != NULL);
}

static bool has_line(struct slice lines, struct slice wanted)
{
    while (lines.len > 0)
        if (slice_equal(slice_cut(&lines, '\n'), wanted))
            return true;
    return false;
}

// The lines of one that the other has not.
static void diff_lines(struct diff *diff, enum model_change_kind kind, struct slice entity,
                       struct slice lines, struct slice others)
{
    while (lines.len > 0) {
        struct slice line = slice_cut(&lines, '\n');
        if (has_line(others, line))
            continue;
        begin(diff, entity, slice_of(NULL, 0));
        buf_slice(kind == MODEL_CHANGE_CLAUSE_ADDED ? &diff->after : &diff->before, line);
        note(diff, kind);
    }
}

static void diff_clauses(struct diff *diff, const struct model_entity *before,
                         const struct model_entity *after)
{
    struct buf was;
    struct buf is;
    buf_init(&was, CLAUSES_MAX);
    buf_init(&is, CLAUSES_MAX);
    model_clauses_text(before, &was);
    model_clauses_text(after, &is);
    diff_lines(diff, MODEL_CHANGE_CLAUSE_ADDED, after->name, buf_view(&is), buf_view(&was));
    diff_lines(diff, MODEL_CHANGE_CLAUSE_REMOVED, after->name, buf_view(&was), buf_view(&is));
    buf_release(&was);
    buf_release(&is);
}

static void diff_entity(struct diff *diff, const struct model_entity *before,
                        const struct model_entity *after)
{
    diff->entity = after;
    if (!slice_equal(before->type_value, after->type_value)) {
        begin(diff, after->name, slice_of(NULL, 0));
        buf_printf(&diff->before, "as \"%.*s\"", SLICE_FMT(before->type_value));
        buf_printf(&diff->after, "as \"%.*s\"", SLICE_FMT(after->type_value));
        note(diff, MODEL_CHANGE_ENTITY_CHANGED);
    }
    if (before->guard != after->guard || before->unknown != after->unknown) {
        begin(diff, after->name, slice_of(NULL, 0));
        buf_printf(&diff->before, "guard %s, unknown %s", model_mode_name(before->guard),
                   model_leave_name(before->unknown));
        buf_printf(&diff->after, "guard %s, unknown %s", model_mode_name(after->guard),
                   model_leave_name(after->unknown));
        note(diff, MODEL_CHANGE_ENTITY_CHANGED);
    }
    diff_entries(diff, before, after);
    diff_clauses(diff, before, after);
    for (size_t i = 0; i < after->attribute_count; i++)
        diff_attribute(diff, after->name, model_entity_attribute(before, after->attributes[i].name),
                       &after->attributes[i]);
    for (size_t i = 0; i < before->attribute_count; i++) {
        if (model_entity_attribute(after, before->attributes[i].name) == NULL)
            diff_attribute(diff, after->name, &before->attributes[i], NULL);
    }
    diff->entity = NULL;
}

static void diff_entities(struct diff *diff, const struct model_table *before,
                          const struct model_table *after)
{
    for (size_t i = 0; i < after->entity_count; i++) {
        const struct model_entity *is = &after->entities[i];
        const struct model_entity *was = model_table_entity(before, is->name);
        if (was != NULL) {
            diff_entity(diff, was, is);
            continue;
        }
        diff->entity = is;
        note_word(diff, MODEL_CHANGE_ENTITY_ADDED, is->name, "", "");
        diff->entity = NULL;
    }
    for (size_t i = 0; i < before->entity_count; i++) {
        if (model_table_entity(after, before->entities[i].name) == NULL)
            note_word(diff, MODEL_CHANGE_ENTITY_REMOVED, before->entities[i].name, "", "");
    }
}

// ---- Patterns, rules, modes -------------------------------------------------------------------

static void diff_access(struct diff *diff, const struct model_access *before,
                        const struct model_access *after)
{
    begin(diff, after != NULL ? after->name : before->name, slice_of(NULL, 0));
    if (before != NULL)
        model_access_text(before, &diff->before);
    if (after != NULL)
        model_access_text(after, &diff->after);
    note_texts(diff, MODEL_CHANGE_PATTERN_ADDED, before != NULL, after != NULL);
}

static void diff_accesses(struct diff *diff, const struct model_table *before,
                          const struct model_table *after)
{
    for (size_t i = 0; i < after->access_count; i++)
        diff_access(diff, model_table_access(before, after->accesses[i].name), &after->accesses[i]);
    for (size_t i = 0; i < before->access_count; i++) {
        if (model_table_access(after, before->accesses[i].name) == NULL)
            diff_access(diff, &before->accesses[i], NULL);
    }
}

static bool has_rule(const struct model *model, struct slice text)
{
    for (size_t i = 0; i < model->rule_count; i++) {
        if (slice_equal(model->rules[i].text, text))
            return true;
    }
    return false;
}

static bool rule_concerns(const struct model_rule *rule, const struct model_table *table)
{
    return rule->entity.len == 0 || model_table_entity(table, rule->entity) != NULL;
}

static void diff_rules(struct diff *diff, const struct model_table *before,
                       const struct model_table *after)
{
    for (size_t i = 0; i < after->model->rule_count; i++) {
        const struct model_rule *rule = &after->model->rules[i];
        if (rule_concerns(rule, after) && !has_rule(before->model, rule->text))
            note_word(diff, MODEL_CHANGE_RULE_ADDED, rule->text, "", "");
    }
    for (size_t i = 0; i < before->model->rule_count; i++) {
        const struct model_rule *rule = &before->model->rules[i];
        if (rule_concerns(rule, before) && !has_rule(after->model, rule->text))
            note_word(diff, MODEL_CHANGE_RULE_REMOVED, rule->text, "", "");
    }
}

static void diff_modes(struct diff *diff, const struct model_table *before,
                       const struct model_table *after)
{
    if (before->guard != after->guard)
        note_word(diff, MODEL_CHANGE_MODE, SLICE_LIT("guard"), model_mode_name(before->guard),
                  model_mode_name(after->guard));
    if (before->unknown != after->unknown)
        note_word(diff, MODEL_CHANGE_MODE, SLICE_LIT("unknown"), model_leave_name(before->unknown),
                  model_leave_name(after->unknown));
    if (before->unmatched != after->unmatched)
        note_word(diff, MODEL_CHANGE_MODE, SLICE_LIT("unmatched"),
                  model_leave_name(before->unmatched), model_leave_name(after->unmatched));
    if (before->separating != after->separating ||
        !slice_equal(before->separator, after->separator)) {
        begin(diff, SLICE_LIT("separator"), slice_of(NULL, 0));
        buf_printf(&diff->before, "\"%.*s\" %s", SLICE_FMT(before->separator),
                   model_separator_words[before->separating]);
        buf_printf(&diff->after, "\"%.*s\" %s", SLICE_FMT(after->separator),
                   model_separator_words[after->separating]);
        note(diff, MODEL_CHANGE_MODE);
    }
    if (slice_equal(before->type_attribute, after->type_attribute))
        return;
    begin(diff, SLICE_LIT("type"), slice_of(NULL, 0));
    buf_slice(&diff->before, before->type_attribute);
    buf_slice(&diff->after, after->type_attribute);
    note(diff, MODEL_CHANGE_TYPE_ATTRIBUTE);
}

void model_diff(const struct model_table *before, const struct model_table *after,
                struct model_changes *changes)
{
    struct diff diff = {.changes = changes};
    buf_init(&diff.subject, TEXT_MAX);
    buf_init(&diff.before, TEXT_MAX);
    buf_init(&diff.after, TEXT_MAX);
    if (before == NULL) {
        begin(&diff, after->name, slice_of(NULL, 0));
        buf_printf(&diff.after, "%zu %s, %zu access %s, guard %s", after->entity_count,
                   after->entity_count == 1 ? "entity" : "entities", after->access_count,
                   after->access_count == 1 ? "pattern" : "patterns",
                   model_mode_name(after->guard));
        note(&diff, MODEL_CHANGE_MODEL_ATTACHED);
    } else {
        diff_modes(&diff, before, after);
        diff_entities(&diff, before, after);
        diff_accesses(&diff, before, after);
        diff_rules(&diff, before, after);
    }
    buf_release(&diff.subject);
    buf_release(&diff.before);
    buf_release(&diff.after);
}

// ---- In words ---------------------------------------------------------------------------------

static const struct {
    const char *noun;
    const char *verb;
} wordings[] = {
#define X(kind, noun, verb) {noun, verb},
    MODEL_CHANGE_LIST(X)
#undef X
};

void model_change_text(const struct model_change *change, struct buf *out)
{
    const char *noun = wordings[change->kind].noun;
    const char *verb = wordings[change->kind].verb;
    if (change->subject.len > 0 && !slice_is(change->subject, noun))
        buf_printf(out, "%s %.*s ", noun, SLICE_FMT(change->subject));
    else
        buf_printf(out, "%s ", noun);
    if (change->before.len > 0 && change->after.len > 0)
        buf_printf(out, "%s: %.*s becomes %.*s", verb, SLICE_FMT(change->before),
                   SLICE_FMT(change->after));
    else if (change->before.len + change->after.len > 0)
        buf_printf(out, "%s: %.*s%.*s", verb, SLICE_FMT(change->before), SLICE_FMT(change->after));
    else
        buf_text(out, verb);
}
