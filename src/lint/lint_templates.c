// Rules about the texts of templates: fields that run together, delimiters inside of values, times
// that do not sort with each other.
#include "lint/lint_internal.h"

static bool is_delimiter(uint8_t byte)
{
    return byte == '#' || byte == '|' || byte == '/' || byte == ':' || byte == '~';
}

static struct model_place part_place(const struct lint_key *key, const struct model_key_part *part)
{
    return part->at.line > 0 ? part->at : key->at;
}

// ---- L010 ----------------------------------------------------------------------------------

static bool fixed_text(const struct lint_fields *fields)
{
    return fields->count == 1 &&
           (lint_type_fixed(fields->list[0].type) || fields->list[0].shaped ||
            (fields->list[0].pad > 0 && lint_type_numeric(fields->list[0].type)));
}

void lint_adjacent_fields(struct lint *lint, const struct lint_key *key,
                          const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    for (size_t i = 1; i < template->segment_count; i++) {
        struct lint_fields left;
        struct lint_fields right;
        if (template->segments[i - 1].expr == NULL || template->segments[i].expr == NULL)
            continue;
        lint_expr_fields(template->segments[i - 1].expr, &left);
        lint_expr_fields(template->segments[i].expr, &right);
        // What always has the same length needs no delimiter behind it.
        if (left.count == 0 || right.count == 0 || fixed_text(&left))
            continue;
        lint_find(lint, part_place(key, part), NULL,
                  "two fields of %.*s follow each other without a delimiter in \"%.*s\"",
                  SLICE_FMT(part->name), SLICE_FMT(template->source));
        return;
    }
}

// ---- L011 ----------------------------------------------------------------------------------

// Told once for an attribute of an entity: at the first key that has it so.
static bool reported(const struct lint *lint, struct model_place at)
{
    for (size_t i = 0; i < lint->count; i++) {
        const struct lint_finding *finding = &lint->findings[i];
        if (finding->rule == lint->rule && finding->diagnostic.at.line == at.line &&
            finding->diagnostic.at.column == at.column)
            return true;
    }
    return false;
}

void lint_delimiter_in_text(struct lint *lint, const struct lint_key *key,
                            const struct model_key_part *part)
{
    const struct model_template *template = part->template;
    for (size_t i = 0; i + 1 < template->segment_count; i++) {
        const struct model_segment *next = &template->segments[i + 1];
        struct lint_fields fields;
        if (template->segments[i].expr == NULL || next->expr != NULL || next->literal.len == 0 ||
            !is_delimiter(next->literal.ptr[0]))
            continue;
        lint_expr_fields(template->segments[i].expr, &fields);
        if (fields.count != 1 || fields.list[0].attribute == NULL || fields.list[0].shaped ||
            !lint_type_free(fields.list[0].type))
            continue;
        const struct model_attribute *attribute = fields.list[0].attribute;
        if (lint_name_id(attribute->name) || lint_name_time(attribute->name) ||
            reported(lint, attribute->at))
            continue;
        lint_find(lint, attribute->at,
                  lint_text(lint,
                            "put %.*s last in the template, give it a narrower type, or keep its "
                            "digest there: {%.*s:sha256}",
                            SLICE_FMT(attribute->name), SLICE_FMT(attribute->name)),
                  "%.*s of %.*s is free text and is followed by '%c' in \"%.*s\", which it may "
                  "contain",
                  SLICE_FMT(attribute->name), SLICE_FMT(key->entity->name), next->literal.ptr[0],
                  SLICE_FMT(template->source));
    }
}

// ---- L012 ----------------------------------------------------------------------------------

enum time_form {
    TIME_NONE,
    TIME_SECONDS,
    TIME_MILLISECONDS,
    TIME_MICROSECONDS,
    TIME_DATE,
    TIME_EPOCH,
    TIME_TEXT,
};

static const char *const form_names[] = {"",
                                         "a timestamp with seconds",
                                         "a timestamp with milliseconds",
                                         "a timestamp with microseconds",
                                         "a date",
                                         "epoch seconds",
                                         "a string of any form"};

static enum time_form form_of(const struct lint_field *field)
{
    if (field->attribute == NULL || field->shaped)
        return TIME_NONE;
    unsigned form = field->type == NULL ? 0 : model_type_form(field->type);
    if (model_type_has(field->type, MODEL_TIMESTAMP))
        return model_type_has(field->type, MODEL_EPOCH) || form == 0 ? TIME_TEXT
               : form == MODEL_SECONDS                               ? TIME_SECONDS
               : form == MODEL_MILLISECONDS                          ? TIME_MILLISECONDS
                                                                     : TIME_MICROSECONDS;
    if (model_type_has(field->type, MODEL_DATE))
        return TIME_DATE;
    if (model_type_has(field->type, MODEL_EPOCH))
        return TIME_EPOCH;
    return model_type_has(field->type, MODEL_STRING) && lint_name_time(field->attribute->name)
               ? TIME_TEXT
               : TIME_NONE;
}

// The time with which the sort key begins.
static enum time_form leading_form(const struct lint_key *key, struct lint_fields *fields)
{
    lint_key_fields(key, LINT_RANGE, fields);
    return fields->count == 0 ? TIME_NONE : form_of(&fields->list[0]);
}

static void text_times(struct lint *lint, const struct lint_key *key)
{
    struct lint_fields fields;
    lint_key_fields(key, LINT_RANGE, &fields);
    for (size_t i = 0; i < fields.count; i++) {
        const struct model_attribute *attribute = fields.list[i].attribute;
        if (form_of(&fields.list[i]) != TIME_TEXT || reported(lint, attribute->at))
            continue;
        lint_find(lint, attribute->at,
                  lint_text(lint, "%.*s timestamp, or epoch", SLICE_FMT(attribute->name)),
                  "%.*s of %.*s is a time and sorts, but may be of any form",
                  SLICE_FMT(attribute->name), SLICE_FMT(key->entity->name));
    }
}

// Two entities in the same partition whose sort keys are times of different forms.
static void mixed_forms(struct lint *lint, const struct lint_key *a, const struct lint_key *b)
{
    struct lint_fields in_a;
    struct lint_fields in_b;
    enum time_form one = leading_form(a, &in_a);
    enum time_form other = leading_form(b, &in_b);
    if (one == other || one == TIME_NONE || other == TIME_NONE)
        return;
    for (size_t i = 0; i < a->schema->hash_count; i++)
        if (!lint_parts_overlap(a->entity, &a->parts[i], b->entity, &b->parts[i], NULL))
            return;
    struct slice where = lint_key_where(a);
    lint_find(lint, b->at, NULL,
              "%.*s and %.*s share partitions of %.*s, but one sorts by %s and the other by %s",
              SLICE_FMT(a->entity->name), SLICE_FMT(b->entity->name), SLICE_FMT(where),
              form_names[one], form_names[other]);
}

static void index_times(struct lint *lint, const struct model_table *table,
                        const struct model_index *index)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        struct lint_key a;
        if (!lint_key_of(&table->entities[i], index, &a))
            continue;
        text_times(lint, &a);
        for (size_t k = i + 1; k < table->entity_count; k++) {
            struct lint_key b;
            if (lint_key_of(&table->entities[k], index, &b))
                mixed_forms(lint, &a, &b);
        }
    }
}

void lint_mixed_times(struct lint *lint, const struct model_table *table)
{
    for (size_t i = 0; i <= table->index_count; i++)
        index_times(lint, table, i == 0 ? NULL : &table->indexes[i - 1]);
}
