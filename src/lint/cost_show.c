// What reads and writes of a table cost, as a table for people and as JSON.
#include "lint/cost.h"
#include "lint/evidence.h"
#include "json/writer.h"

enum { NAME = 28 }; // columns of a name

static size_t size_of(const struct evidence *evidence, const struct model_entity *entity)
{
    return evidence == NULL ? 0 : evidence_size(evidence, entity);
}

// ---- Text ----------------------------------------------------------------------------------

static void show_name(struct buf *out, struct slice name)
{
    buf_printf(out, "  %-*.*s", NAME, (int)name.len, (const char *)name.ptr);
}

// What a change of one attribute costs, if it moves entries.
static void show_moves(const struct cost_write *cost, struct buf *out)
{
    for (size_t i = 0; i < cost->entity->attribute_count; i++) {
        const struct model_attribute *attribute = &cost->entity->attributes[i];
        const struct model_index *moved[LIMIT_INDEXES];
        size_t count = attribute->on_update ? 0 // it is part of every change
                                            : cost_attribute_moves(cost->entity, attribute, moved);
        if (count == 0)
            continue;
        buf_printf(out, "      a change of %.*s: %llu units, it moves ", SLICE_FMT(attribute->name),
                   (unsigned long long)cost_attribute_change(cost, attribute));
        for (size_t k = 0; k < count; k++)
            buf_printf(out, "%s%.*s", k == 0 ? "" : ", ", SLICE_FMT(moved[k]->name));
        buf_byte(out, '\n');
    }
}

// What rules add to a write.
static void show_rules(const struct model_entity *entity, struct buf *out)
{
    struct cost_rules rules;
    cost_entity_rules(entity, &rules);
    for (size_t i = 0; i < rules.count; i++) {
        const struct cost_rule *rule = &rules.list[i];
        buf_printf(out, "      %s: %llu %s unit%s, for ", rule->what,
                   (unsigned long long)(rule->writes + rule->reads),
                   rule->reads > 0 ? "read" : "write", rule->writes + rule->reads == 1 ? "" : "s");
        if (rule->times == 1)
            buf_printf(out, "%.*s%s%.*s", SLICE_FMT(rule->entity->name),
                       rule->attribute == NULL ? "" : ".",
                       SLICE_FMT(rule->attribute == NULL ? SLICE_LIT("") : rule->attribute->name));
        else
            buf_printf(out, "about %llu %.*s items", (unsigned long long)rule->times,
                       SLICE_FMT(rule->entity->name));
        buf_printf(out, " (~%zu bytes)\n", rule->size);
    }
}

static void show_write(const struct model_entity *entity, const struct evidence *evidence,
                       struct buf *out)
{
    struct cost_write cost;
    cost_entity_write(entity, size_of(evidence, entity), &cost);
    show_name(out, entity->name);
    buf_printf(out, " %7zu%s %6llu %7llu %6llu  ", cost.size, cost.measured ? " " : "~",
               (unsigned long long)cost.put, (unsigned long long)cost.update,
               (unsigned long long)cost.worst);
    buf_printf(out, "table %llu", (unsigned long long)cost.table);
    for (size_t i = 0; i < cost.index_count; i++)
        buf_printf(out, ", %.*s %llu", SLICE_FMT(cost.indexes[i].index->name),
                   (unsigned long long)cost.indexes[i].units);
    buf_byte(out, '\n');
    show_moves(&cost, out);
    show_rules(entity, out);
}

static void read_cost(const struct model_access *access, const struct evidence *evidence,
                      struct cost_read *out)
{
    enum { ENTITIES = 64 };
    size_t sizes[ENTITIES] = {0};
    for (size_t i = 0; i < access->entity_count && i < ENTITIES; i++)
        sizes[i] = size_of(evidence, access->entities[i]);
    cost_access_read(access, access->entity_count <= ENTITIES ? sizes : NULL, out);
}

static void show_read(const struct model_access *access, const struct evidence *evidence,
                      struct buf *out)
{
    struct cost_read cost;
    read_cost(access, evidence, &cost);
    show_name(out, access->name);
    buf_printf(out, " %7zu%s %6.1f %7.1f %6llu  ", cost.item_size, evidence == NULL ? "~" : " ",
               cost.one, cost.page, (unsigned long long)cost.items);
    if (access->get)
        buf_text(out, "GetItem");
    else if (access->index == NULL)
        buf_text(out, "Query");
    else
        buf_printf(out, "Query %.*s", SLICE_FMT(access->index->name));
    if (access->filter_count > 0)
        buf_text(out, ", and a filter: what it throws away is paid for");
    buf_byte(out, '\n');
}

void cost_show(const struct model_table *table, const struct evidence *evidence, struct buf *out)
{
    buf_printf(out, "Writes of table %.*s, in write units (1 KB each)\n", SLICE_FMT(table->name));
    buf_printf(out, "  %-*s %8s %6s %7s %6s\n", NAME, "entity", "bytes", "new", "change", "worst");
    for (size_t i = 0; i < table->entity_count; i++)
        show_write(&table->entities[i], evidence, out);
    buf_printf(out, "Reads of table %.*s, in read units (4 KB each; half without consistency)\n",
               SLICE_FMT(table->name));
    buf_printf(out, "  %-*s %8s %6s %7s %6s\n", NAME, "access pattern", "bytes", "one", "page",
               "items");
    for (size_t i = 0; i < table->access_count; i++)
        show_read(&table->accesses[i], evidence, out);
    buf_text(out,
             "  new: an item that was not there. change: of attributes outside of keys. worst: a\n"
             "  change that moves all index entries it can. ~ is an estimate by the types; a page\n"
             "  is the pattern's limit, or 1 MB. What rules cost comes on top of a write.\n");
}

// ---- JSON ----------------------------------------------------------------------------------

static void number(struct json_writer *w, const char *name, uint64_t value)
{
    json_put_integer(w, name, (int64_t)value);
}

static void rules_json(struct json_writer *w, const struct model_entity *entity)
{
    struct cost_rules rules;
    cost_entity_rules(entity, &rules);
    json_put_array(w, "rules");
    for (size_t i = 0; i < rules.count; i++) {
        const struct cost_rule *rule = &rules.list[i];
        json_open_object(w);
        json_put_text(w, "rule", rule->what);
        json_put_string(w, "entity", rule->entity->name);
        if (rule->attribute != NULL)
            json_put_string(w, "attribute", rule->attribute->name);
        number(w, "items", rule->times);
        number(w, "bytes", rule->size);
        number(w, "writes", rule->writes);
        number(w, "reads", rule->reads);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_json(struct json_writer *w, const struct model_entity *entity,
                       const struct evidence *evidence)
{
    struct cost_write cost;
    cost_entity_write(entity, size_of(evidence, entity), &cost);
    json_open_object(w);
    json_put_string(w, "entity", entity->name);
    number(w, "bytes", cost.size);
    json_put_flag(w, "measured", cost.measured);
    number(w, "new", cost.put);
    number(w, "change", cost.update);
    number(w, "worst", cost.worst);
    number(w, "table", cost.table);
    json_put_object(w, "indexes");
    for (size_t i = 0; i < cost.index_count; i++) {
        json_name_slice(w, cost.indexes[i].index->name);
        json_i64(w, (int64_t)cost.indexes[i].units);
    }
    json_close_object(w);
    rules_json(w, entity);
    json_close_object(w);
}

static void read_json(struct json_writer *w, const struct model_access *access,
                      const struct evidence *evidence)
{
    struct cost_read cost;
    read_cost(access, evidence, &cost);
    json_open_object(w);
    json_put_string(w, "pattern", access->name);
    json_put_text(w, "operation", access->get ? "GetItem" : "Query");
    if (access->index != NULL)
        json_put_string(w, "index", access->index->name);
    number(w, "bytes", cost.item_size);
    json_name(w, "one");
    json_units(w, cost.one);
    json_name(w, "page");
    json_units(w, cost.page);
    number(w, "items", cost.items);
    json_close_object(w);
}

void cost_json(const struct model_table *table, const struct evidence *evidence, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    json_put_string(&w, "table", table->name);
    json_put_array(&w, "writes");
    for (size_t i = 0; i < table->entity_count; i++)
        write_json(&w, &table->entities[i], evidence);
    json_close_array(&w);
    json_put_array(&w, "reads");
    for (size_t i = 0; i < table->access_count; i++)
        read_json(&w, &table->accesses[i], evidence);
    json_close_array(&w);
    json_close_object(&w);
}
