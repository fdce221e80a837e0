// The view of a table's keys: for each row of each entity the values of the table's and the
// indexes' key attributes, as templates make them.
#include "generate/sql.h"

// ---- The view --------------------------------------------------------------------------------

// The value of one key attribute: the entity's own, or of the table's key, or of the first entry
// that makes it.
static struct slice key_column(struct writer *w, const struct model_entity *entity,
                               struct slice name)
{
    const struct model_attribute *native = model_entity_attribute(entity, name);
    if (native != NULL)
        return sql_key_text(w, sql_of(w, entity), native);
    for (size_t i = 0; i < keys_count(&entity->table->keys); i++) {
        if (slice_equal(entity->keys[i].name, name))
            return sql_part(w, sql_of(w, entity), &entity->keys[i]);
    }
    const struct model_entry *first = NULL;
    size_t which = 0;
    for (size_t e = 0; e < entity->entry_count; e++) {
        const struct model_entry *entry = &entity->entries[e];
        for (size_t i = 0; i < keys_count(&entry->index->keys); i++) {
            if (slice_equal(entry->parts[i].name, name) &&
                (first == NULL || (!first->stated && entry->stated))) {
                first = entry;
                which = i;
            }
        }
    }
    return first == NULL ? SLICE_LIT("NULL") : sql_entry(w, sql_of(w, entity), first, which);
}

void sql_view(struct writer *w, const struct model_table *table)
{
    struct key_names names;
    if (table->entity_count == 0)
        return;
    key_names(table, &names);
    PUT(w, "\n-- The keys of each row's item in table %s.\nCREATE VIEW \"%s_keys\" (\"entity\"",
        table->name, text_snake(w, table->name));
    for (size_t i = 0; i < names.count; i++)
        PUT(w, ", %q", names.list[i]->name);
    buf_text(w->out, ") AS\n");
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        PUT(w, "%s%s", slice_str(i == 0 ? "  SELECT " : "\n  UNION ALL SELECT "),
            sql_string(w, entity->name));
        for (size_t k = 0; k < names.count; k++)
            PUT(w, ",\n    %s", key_column(w, entity, names.list[k]->name));
        PUT(w, "\n  FROM %s", sql_table_name(w, entity));
    }
    buf_text(w->out, ";\n");
}
