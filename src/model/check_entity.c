// Entities are gathered by table, with their attributes in arrays that do not move any more.
#include "model/parse_internal.h"

struct raw_table *file_table_named(struct model_file *file, const struct raw_name *name)
{
    struct raw_table *found = file_table(file, name->name);
    if (found != NULL)
        return found;
    struct model_guess guess = model_guess_for(name->name);
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next)
        model_guess_candidate(&guess, table->table.name);
    return diagnostic_fail(file->p.diagnostics, name->at, "unknown table \"%.*s\"%s",
                           SLICE_FMT(name->name), model_guess_say(&guess, file->p.scratch));
}

// The table of an entity; NULL after telling that there is none.
static struct raw_table *table_of(struct model_file *file, const struct raw_entity *raw)
{
    if (raw->table_name.name.len > 0)
        return file_table_named(file, &raw->table_name);
    if (raw->table == NULL)
        (void)file_error(file, raw->entity.at,
                         "entity \"%.*s\" has no table: declare one above it, or write \"of "
                         "TABLE\"",
                         SLICE_FMT(raw->entity.name));
    return raw->table;
}

static bool gather_attributes(struct model_file *file, struct raw_entity *raw)
{
    size_t count = raw->attributes.count;
    struct model_attribute *attributes = file_alloc(file, count + 1, sizeof *attributes);
    uint16_t *by_name = file_alloc(file, count + 1, sizeof *by_name);
    if (attributes == NULL || by_name == NULL)
        return false;
    size_t at = 0;
    for (struct raw_attribute *one = raw->attributes.first; one != NULL; one = one->next)
        attributes[at++] = one->attribute;
    for (size_t i = 0; i < count; i++) {
        size_t to = i;
        for (; to > 0 && slice_compare(attributes[by_name[to - 1]].name, attributes[i].name) > 0;
             to--)
            by_name[to] = by_name[to - 1];
        by_name[to] = (uint16_t)i;
    }
    raw->final->attributes = attributes;
    raw->final->attribute_count = count;
    raw->final->by_name = by_name;
    return true;
}

static void check_duplicates(struct model_file *file, const struct raw_table *table,
                             const struct model_entity *entity)
{
    for (size_t i = 0; i < table->final->entity_count; i++) {
        const struct model_entity *other = &table->entities[i];
        if (slice_equal(other->name, entity->name))
            (void)file_error(file, entity->at, "entity \"%.*s\" is declared twice, first in %s",
                             SLICE_FMT(entity->name), file_line(file, other->at.line));
        else if (slice_equal(other->type_value, entity->type_value) &&
                 table->table.type_attribute.len > 0)
            (void)file_error(file, entity->at,
                             "entities \"%.*s\" and \"%.*s\" have the same \"%.*s\": \"%.*s\"",
                             SLICE_FMT(other->name), SLICE_FMT(entity->name),
                             SLICE_FMT(table->table.type_attribute), SLICE_FMT(entity->type_value));
        else
            continue;
        return;
    }
}

static bool gather_tables(struct model_file *file)
{
    struct model_table *tables = file_alloc(file, file->tables.count + 1, sizeof *tables);
    if (tables == NULL)
        return false;
    file->model->tables = tables;
    file->model->table_count = file->tables.count;
    for (struct raw_table *raw = file->tables.first; raw != NULL; raw = raw->next) {
        raw->final = tables++;
        *raw->final = raw->table;
        raw->final->model = file->model;
        size_t count = 0;
        for (struct raw_entity *one = file->entities.first; one != NULL; one = one->next)
            count += one->table == raw;
        raw->entities = file_alloc(file, count + 1, sizeof *raw->entities);
        if (raw->entities == NULL)
            return false;
        raw->final->entities = raw->entities;
        raw->final->entity_count = 0;
    }
    return true;
}

void check_entities(struct model_file *file)
{
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next)
        raw->table = table_of(file, raw);
    if (!gather_tables(file))
        return;
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next) {
        struct raw_table *table = raw->table;
        if (table == NULL)
            continue;
        check_duplicates(file, table, &raw->entity);
        raw->final = &table->entities[table->final->entity_count++];
        *raw->final = raw->entity;
        raw->final->table = table->final;
        if (!raw->own_guard)
            raw->final->guard = table->table.guard;
        if (!raw->own_unknown)
            raw->final->unknown = table->table.unknown;
        if (!gather_attributes(file, raw))
            return;
    }
}
