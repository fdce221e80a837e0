// The client of one table: a member for each entity, a method for each access pattern.
#include "generate/typescript.h"

#include "guard/projected.h"

// ---- Conditions ------------------------------------------------------------------------------

static const char *operator_text(enum model_op op)
{
    return op == MODEL_OP_NOT_EQUAL ? "<>" : op == MODEL_OP_BEGINS ? "begins_with" : text_op(op);
}

static void conditions(struct typescript *ts, const char *name, size_t count,
                       const struct model_condition *list, const struct model_access *access)
{
    if (count == 0)
        return;
    PUT(ts->w, "        %s: [\n", slice_str(name));
    for (size_t i = 0; i < count; i++) {
        struct slice steps = {NULL, 0};
        for (size_t k = 0; k < list[i].step_count; k++)
            text_add(ts->w, &steps, ", ", TEXT(ts->w, "%q", list[i].steps[k]));
        PUT(ts->w, "          [[%s], \"%s\"", steps, slice_str(operator_text(list[i].op)));
        for (size_t k = 0; k < 2 && list[i].values[k] != NULL; k++)
            PUT(ts->w, ", %s", typescript_expr(ts, list[i].values[k], MODEL_ANY, access));
        buf_text(ts->w->out, "],\n");
    }
    buf_text(ts->w->out, "        ],\n");
}

// ---- Patterns --------------------------------------------------------------------------------

static struct slice params(struct typescript *ts, const struct model_access *access)
{
    struct slice list = {NULL, 0};
    for (size_t i = 0; i < access->param_count; i++)
        text_add(ts->w, &list, "; ",
                 TEXT(ts->w, "%s: %s", typescript_member(ts, access->params[i].name),
                      typescript_type(ts, access->params[i].type)));
    return access->param_count == 0 ? list : TEXT(ts->w, "params: { %s }", list);
}

// "a" | "b": the attributes that items have which are read through the index.
static struct slice projected_names(struct typescript *ts, const struct model_access *access,
                                    const struct model_entity *entity, enum model_projected wanted)
{
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (model_projected_has(entity, access->index, &entity->attributes[i]) == wanted)
            text_add(ts->w, &names, " | ", TEXT(ts->w, "%q", entity->attributes[i].name));
    }
    return names;
}

// An entity, or what an index has of it.
static struct slice one_result(struct typescript *ts, const struct model_access *access,
                               const struct model_entity *entity)
{
    struct slice name = typescript_entity(ts, entity);
    struct slice part = {NULL, 0};
    if (!model_access_partial(access))
        return name;
    struct slice always = projected_names(ts, access, entity, MODEL_PROJECTED_ALWAYS);
    struct slice perhaps = projected_names(ts, access, entity, MODEL_PROJECTED_PERHAPS);
    if (always.len > 0 || perhaps.len == 0)
        part = TEXT(ts->w, "Pick<%s, %s>", name, always.len > 0 ? always : SLICE_LIT("never"));
    if (perhaps.len > 0)
        text_add(ts->w, &part, " & ", TEXT(ts->w, "Partial<Pick<%s, %s>>", name, perhaps));
    return part;
}

// An entity, or one of several with its name: { entity: "User"; item: User } | ….
static struct slice result_type(struct typescript *ts, const struct model_access *access)
{
    struct buf all;
    if (access->entity_count == 1)
        return one_result(ts, access, access->entities[0]);
    buf_init(&all, LIMIT_MODEL_FILE);
    for (size_t i = 0; i < access->entity_count; i++)
        text_format(&all, i == 0 ? "{ entity: %q; item: %s }" : " | { entity: %q; item: %s }", 2,
                    (struct slice[]){access->entities[i]->name,
                                     one_result(ts, access, access->entities[i])});
    return text_keep(ts->w, &all);
}

static void pattern_object(struct typescript *ts, const struct model_access *access)
{
    PUT(ts->w, "    return new Pattern<%s>(\n      this,\n      {\n", result_type(ts, access));
    if (access->index != NULL)
        PUT(ts->w, "        index: %q,\n", access->index->name);
    conditions(ts, "keys", access->key_count, access->keys, access);
    conditions(ts, "filters", access->filter_count, access->filters, access);
    buf_text(ts->w->out, "        kinds: [");
    for (size_t i = 0; i < access->entity_count; i++)
        PUT(ts->w, i == 0 ? "kindOf%s" : ", kindOf%s", typescript_entity(ts, access->entities[i]));
    PUT(ts->w, "],\n%s%s", slice_str(access->descending ? "        descending: true,\n" : ""),
        slice_str(access->consistent ? "        consistent: true,\n" : ""));
    if (access->limit > 0)
        PUT(ts->w, "        limit: %s,\n", text_u64(ts->w, access->limit));
    PUT(ts->w,
        access->entity_count == 1 ? "      },\n      (kind, item) => %s(kind, item),\n    )%s;\n"
                                  : "      },\n      (kind, item) => ({ entity: kind.name, item: "
                                    "%s(kind, item) }) as never,\n"
                                    "    )%s;\n",
        slice_str(model_access_partial(access) ? "partOf" : "attributesOf"),
        slice_str(access->count ? ".count()"
                  : access->one ? ".first()"
                                : ""));
    if (model_access_partial(access))
        ts->used |= 1U << TS_TOLD;
}

static void get_body(struct typescript *ts, const struct model_access *access)
{
    struct slice key = {NULL, 0};
    struct slice entity = typescript_entity(ts, access->entities[0]);
    for (size_t i = 0; i < access->key_count; i++)
        text_add(ts->w, &key, ", ",
                 TEXT(ts->w, "%s: %s", typescript_member(ts, access->keys[i].steps[0]),
                      typescript_expr(ts, access->keys[i].values[0], MODEL_ANY, access)));
    PUT(ts->w,
        "    const key: Bag = { %s };\n    const item = await readItem(this, key, %s);\n"
        "    return item !== undefined && kindOf%s.fits(item)%s ? attributesOf(kindOf%s, item) : "
        "undefined;\n",
        key, slice_str(access->consistent ? "true" : "false"), entity,
        access->entities[0]->softdelete == NULL
            ? SLICE_LIT("")
            : TEXT(ts->w, " && !isDeleted(kindOf%s, item)", entity),
        entity);
}

// A method must not be called like a member of the class.
static struct slice method_name(struct typescript *ts, const struct model_access *access)
{
    struct slice name = text_is_word(access->name) ? access->name : text_camel(ts->w, access->name);
    bool clash = slice_is(name, "client") || slice_is(name, "tableName") ||
                 slice_is(name, "constructor") || model_table_entity(access->table, name) != NULL;
    return clash ? TEXT(ts->w, "%s_", name) : name;
}

static void pattern_method(struct typescript *ts, const struct model_access *access)
{
    bool get = access->get && access->entity_count == 1 && !access->count;
    buf_byte(ts->w->out, '\n');
    typescript_doc(ts, "  ", access->doc);
    PUT(ts->w, get ? "  async %s(%s): " : "  %s(%s): ", method_name(ts, access),
        params(ts, access));
    PUT(ts->w,
        access->count               ? "Promise<%s> {\n"
        : !access->one              ? "Pattern<%s> {\n"
        : access->entity_count == 1 ? "Promise<%s | undefined> {\n"
                                    : "Promise<(%s) | undefined> {\n",
        access->count ? SLICE_LIT("number") : result_type(ts, access));
    if (get)
        get_body(ts, access);
    else
        pattern_object(ts, access);
    buf_text(ts->w->out, "  }\n");
}

// ---- The class -------------------------------------------------------------------------------

// What can be done with items of the entity: those that the server makes can only be read, and what
// is append only does not change.
static const char *client_type(const struct model_entity *entity)
{
    if (entity->kept)
        return "  readonly %s: Pick<EntityClient<%s, %sInput, %sKey, %sChanges>, \"get\" | "
               "\"key\">;\n";
    if (entity->append_only)
        return "  readonly %s: Pick<EntityClient<%s, %sInput, %sKey, %sChanges>, \"get\" | \"key\" "
               "| \"item\" | \"create\">;\n";
    return entity->softdelete != NULL
               ? "  readonly %s: SoftEntityClient<%s, %sInput, %sKey, %sChanges>;\n"
               : "  readonly %s: EntityClient<%s, %sInput, %sKey, %sChanges>;\n";
}

void typescript_table(struct typescript *ts, const struct model_table *table)
{
    buf_byte(ts->w->out, '\n');
    typescript_doc(ts, "", table->doc);
    PUT(ts->w, "export class %sTable {\n", text_pascal(ts->w, table->name));
    for (size_t i = 0; i < table->entity_count; i++) {
        struct slice name = typescript_entity(ts, &table->entities[i]);
        typescript_doc(ts, "  ", table->entities[i].doc);
        PUT(ts->w, client_type(&table->entities[i]), typescript_member(ts, table->entities[i].name),
            name, name, name, name);
    }
    PUT(ts->w,
        "\n  constructor(\n    readonly client: DynamoDBDocumentClient,\n"
        "    readonly tableName = %q,\n  ) {\n",
        table->name);
    for (size_t i = 0; i < table->entity_count; i++)
        PUT(ts->w,
            table->entities[i].softdelete != NULL
                ? "    this%s = new SoftEntityClient(this, kindOf%s);\n"
                : "    this%s = new EntityClient(this, kindOf%s);\n",
            typescript_dot(ts, table->entities[i].name),
            typescript_entity(ts, &table->entities[i]));
    buf_text(ts->w->out, "  }\n");
    for (size_t i = 0; i < table->access_count; i++)
        pattern_method(ts, &table->accesses[i]);
    buf_text(ts->w->out, "}\n");
}
