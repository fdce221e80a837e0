// What else a model asks of its items, as far as a schema can: checks, unique pairs, foreign keys,
// triggers for transitions and append-only tables, views without what is deleted. What it cannot is
// a comment.
#include "generate/sql.h"

#include "model/rules.h"

static struct slice columns(struct writer *w, const struct model_entity *entity, size_t count,
                            const struct model_attribute *const *list)
{
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        text_add(w, &names, ", ", sql_column(w, sql_of(w, entity), list[i]));
    return names;
}

static struct slice snake(struct writer *w, const struct model_entity *entity)
{
    return text_snake(w, text_entity(w, entity));
}

// ---- In the table ----------------------------------------------------------------------------

// The message of a check is what the database says when it fails, so it is the constraint's name.
static struct slice check_name(struct writer *w, const struct model_entity *entity, size_t which)
{
    struct slice message = text_line(w, entity->checks[which].message);
    for (size_t i = 0; i < entity->check_count; i++) {
        if (i != which && slice_equal(entity->checks[i].message, entity->checks[which].message))
            message.len = 0; // it would be there twice
    }
    return message.len > 0 ? message : TEXT(w, "%s check %s", entity->name, text_u64(w, which + 1));
}

static void checks(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->check_count; i++) {
        struct slice test = sql_test(w, sql_of(w, entity), entity->checks[i].test);
        if (test.len == 0)
            PUT(w, "  -- Not in SQL: check %s\n", text_line(w, entity->checks[i].test->text));
        else
            PUT(w, "  CONSTRAINT %s CHECK (%s),\n", text_doubled(w, '"', check_name(w, entity, i)),
                test);
    }
}

static void uniques(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; entity->softdelete == NULL && i < entity->unique_count; i++)
        PUT(w, "  UNIQUE (%s),\n",
            columns(w, entity, entity->uniques[i].count, entity->uniques[i].attributes));
}

// Whether the reference names the columns of the target's primary key, each of the same kind.
static bool is_foreign_key(const struct writer *w, const struct model_reference *reference)
{
    struct fields keys = {0};
    fields_of_keys(&keys, reference->target);
    if (keys.count != reference->count || !is_wanted(w, reference->target->table) ||
        reference->on_delete == MODEL_DELETE_LEAVE)
        return false;
    for (size_t i = 0; i < reference->count; i++) {
        if (!fields_have(&keys, reference->keys[i]) ||
            sql_kind(reference->keys[i]->type) != sql_kind(reference->attributes[i]->type))
            return false;
    }
    return true;
}

static struct slice foreign_key(struct writer *w, const struct model_reference *reference)
{
    static const char *const actions[] = {[MODEL_DELETE_REJECT] = "RESTRICT",
                                          [MODEL_DELETE_CASCADE] = "CASCADE",
                                          [MODEL_DELETE_CLEAR] = "SET NULL"};
    return TEXT(w, "FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE %s",
                columns(w, reference->entity, reference->count, reference->attributes),
                sql_table_name(w, reference->target),
                columns(w, reference->target, reference->count, reference->keys),
                slice_str(actions[reference->on_delete]));
}

void sql_constraints(struct writer *w, const struct model_entity *entity)
{
    checks(w, entity);
    uniques(w, entity);
    for (size_t i = 0; is_sqlite(w) && i < entity->reference_count; i++) {
        if (is_foreign_key(w, &entity->references[i]))
            PUT(w, "  %s,\n", foreign_key(w, &entity->references[i]));
    }
}

// ---- Behind the tables -----------------------------------------------------------------------

// PostgreSQL wants the table that is referred to first; SQLite cannot add a constraint later.
void sql_references(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        if (!is_foreign_key(w, reference))
            PUT(w, "-- Not in SQL: %s (%s) refers to %s.\n", sql_table_name(w, entity),
                columns(w, entity, reference->count, reference->attributes),
                reference->target->name);
        else if (!is_sqlite(w))
            PUT(w, "ALTER TABLE %s ADD %s;\n", sql_table_name(w, entity),
                foreign_key(w, reference));
    }
}

// Values of what is deleted are free.
static void unique_index(struct writer *w, const struct model_entity *entity, size_t count,
                         const struct model_attribute *const *list)
{
    struct slice name = snake(w, entity);
    for (size_t i = 0; i < count; i++)
        name = TEXT(w, "%s_%s", name, text_snake(w, list[i]->name));
    PUT(w, "CREATE UNIQUE INDEX \"%s_unique\" ON %s (%s) WHERE %s IS NULL;\n", name,
        sql_table_name(w, entity), columns(w, entity, count, list),
        sql_column(w, sql_of(w, entity), entity->softdelete));
}

static void soft_delete(struct writer *w, const struct model_entity *entity)
{
    if (entity->softdelete == NULL)
        return;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->unique)
            unique_index(w, entity, 1, &attribute);
    }
    for (size_t i = 0; i < entity->unique_count; i++)
        unique_index(w, entity, entity->uniques[i].count, entity->uniques[i].attributes);
    PUT(w,
        "\n-- Without what is deleted.\nCREATE VIEW \"%s_present\" AS\n  SELECT * FROM %s WHERE "
        "%s IS NULL;\n",
        snake(w, entity), sql_table_name(w, entity),
        sql_column(w, sql_of(w, entity), entity->softdelete));
}

// ---- Triggers --------------------------------------------------------------------------------

static bool has_triggers(const struct model_entity *entity)
{
    return entity->append_only || entity->moves_count > 0;
}

// The function that PostgreSQL's triggers call.
void sql_refusal(struct writer *w)
{
    bool needed = false;
    for (const struct model_entity *entity = NULL; (entity = next_entity(w, entity)) != NULL;)
        needed = needed || has_triggers(entity);
    if (needed && !is_sqlite(w))
        buf_text(w->out,
                 "\nCREATE FUNCTION \"dolmen_refuse\"() RETURNS trigger LANGUAGE plpgsql AS\n"
                 "  $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;\n");
}

static void trigger(struct writer *w, const struct model_entity *entity, struct slice name,
                    const char *event, struct slice when, struct slice message)
{
    struct slice condition = when.len > 0 ? TEXT(w, "\n  WHEN (%s)", when) : SLICE_LIT("");
    PUT(w, "CREATE TRIGGER \"%s_%s\" BEFORE %s ON %s", snake(w, entity), name, slice_str(event),
        sql_table_name(w, entity));
    if (is_sqlite(w))
        PUT(w, "%s\n  BEGIN SELECT RAISE(ABORT, %s); END;\n", condition, sql_string(w, message));
    else
        PUT(w, " FOR EACH ROW%s\n  EXECUTE FUNCTION \"dolmen_refuse\"(%s);\n", condition,
            sql_string(w, message));
}

// The values with which an item may begin, and the steps: two lists.
static void moves(struct writer *w, const struct model_entity *entity,
                  const struct model_moves *rule)
{
    struct slice column = sql_column(w, sql_of(w, entity), rule->attribute);
    struct slice begins = {NULL, 0};
    struct slice steps = {NULL, 0};
    const struct model_expr *otherwise = rule->attribute->otherwise;
    if (otherwise != NULL && otherwise->kind == MODEL_EXPR_VALUE)
        text_add_once(w, &begins, ", ", sql_literal(w, otherwise->value));
    for (size_t i = 0; i < rule->count; i++) {
        struct slice from = sql_literal(w, rule->list[i].from);
        text_add_once(w, &begins, ", ", from);
        text_add(w, &steps, ", ", TEXT(w, "(%s, %s)", from, sql_literal(w, rule->list[i].to)));
    }
    struct slice name = text_snake(w, rule->attribute->name);
    trigger(w, entity, TEXT(w, "%s_begins", name), "INSERT",
            TEXT(w, "NEW.%s NOT IN (%s)", column, begins),
            TEXT(w, "%s cannot begin with this value", rule->attribute->name));
    trigger(w, entity, TEXT(w, "%s_moves", name), "UPDATE",
            is_sqlite(w)
                ? TEXT(w, "OLD.%s IS NOT NEW.%s AND (OLD.%s, NEW.%s) NOT IN (VALUES %s)", column,
                       column, column, column, steps)
                : TEXT(w, "OLD.%s IS DISTINCT FROM NEW.%s AND (OLD.%s, NEW.%s) NOT IN (%s)", column,
                       column, column, column, steps),
            TEXT(w, "%s: %s", rule->attribute->name, text_line(w, rule->text)));
}

static void triggers(struct writer *w, const struct model_entity *entity)
{
    struct slice message = TEXT(w, "%s is append only", entity->name);
    if (entity->append_only) {
        trigger(w, entity, SLICE_LIT("update"), "UPDATE", slice_of(NULL, 0), message);
        trigger(w, entity, SLICE_LIT("delete"), "DELETE", slice_of(NULL, 0), message);
    }
    for (size_t i = 0; i < entity->moves_count; i++)
        moves(w, entity, &entity->moves[i]);
}

// ---- Comments --------------------------------------------------------------------------------

// What happens elsewhere: columns that are counted, and the rules about the entity.
static void elsewhere(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->tally != NULL)
            PUT(w, "-- Kept by Dolmen: %s.%s is the %s.\n", sql_table_name(w, entity),
                sql_column(w, sql_of(w, entity), attribute), text_line(w, attribute->tally->text));
        else if (attribute->counted)
            PUT(w, "-- Kept by Dolmen: %s.%s is what its quota counts.\n",
                sql_table_name(w, entity), sql_column(w, sql_of(w, entity), attribute));
        else if (attribute->always && sql_generated(w, entity, attribute).len == 0)
            PUT(w, "-- Kept by Dolmen: %s.%s is %s.\n", sql_table_name(w, entity),
                sql_column(w, sql_of(w, entity), attribute),
                text_expr(w, attribute->otherwise, NULL));
    }
    for (size_t i = 0; i < w->model->rule_count; i++) {
        if (slice_equal(w->model->rules[i].entity, entity->name))
            PUT(w, "-- Kept by Dolmen: %s\n", text_line(w, w->model->rules[i].text));
    }
}

void sql_rules(struct writer *w, const struct model_entity *entity)
{
    soft_delete(w, entity);
    triggers(w, entity);
    elsewhere(w, entity);
}
