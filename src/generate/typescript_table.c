// The client of one table: a member for each entity, a method for each access pattern.
#include "generate/typescript.h"

// ---- Conditions ------------------------------------------------------------------------------

static const char *operator_text(enum model_op op)
{
    switch (op) {
    case MODEL_OP_NOT_EQUAL:
        return "<>";
    case MODEL_OP_BEGINS:
        return "begins_with";
    default:
        return text_op(op);
    }
}

static void condition(struct typescript *ts, const struct model_condition *condition,
                      const struct model_access *access)
{
    buf_text(ts->out, "[[");
    for (size_t i = 0; i < condition->step_count; i++) {
        buf_text(ts->out, i == 0 ? "" : ", ");
        text_quoted(ts->out, condition->steps[i]);
    }
    buf_printf(ts->out, "], \"%s\"", operator_text(condition->op));
    for (size_t i = 0; i < 2 && condition->values[i] != NULL; i++) {
        buf_text(ts->out, ", ");
        typescript_expr(ts, condition->values[i], MODEL_ANY, access);
    }
    buf_byte(ts->out, ']');
}

static void conditions(struct typescript *ts, const char *name, size_t count,
                       const struct model_condition *list, const struct model_access *access)
{
    if (count == 0)
        return;
    buf_printf(ts->out, "        %s: [\n", name);
    for (size_t i = 0; i < count; i++) {
        buf_text(ts->out, "          ");
        condition(ts, &list[i], access);
        buf_text(ts->out, ",\n");
    }
    buf_text(ts->out, "        ],\n");
}

// ---- Patterns --------------------------------------------------------------------------------

static void params(struct typescript *ts, const struct model_access *access)
{
    if (access->param_count == 0)
        return;
    buf_text(ts->out, "params: { ");
    for (size_t i = 0; i < access->param_count; i++) {
        buf_text(ts->out, i == 0 ? "" : "; ");
        typescript_member(ts->out, access->params[i].name);
        buf_text(ts->out, ": ");
        typescript_type(ts, access->params[i].type);
    }
    buf_text(ts->out, " }");
}

static bool is_partial(const struct model_access *access)
{
    return access->index != NULL && access->index->projection != MODEL_PROJECT_ALL;
}

static void one_result(struct typescript *ts, const struct model_access *access,
                       const struct model_entity *entity)
{
    buf_text(ts->out, is_partial(access) ? "Partial<" : "");
    typescript_entity(ts->out, entity);
    buf_text(ts->out, is_partial(access) ? ">" : "");
}

// An entity, or one of several with its name: { entity: "User"; item: User } | ….
static void result_type(struct typescript *ts, const struct model_access *access)
{
    if (access->entity_count == 1) {
        one_result(ts, access, access->entities[0]);
        return;
    }
    for (size_t i = 0; i < access->entity_count; i++) {
        buf_text(ts->out, i == 0 ? "{ entity: " : " | { entity: ");
        text_quoted(ts->out, access->entities[i]->name);
        buf_text(ts->out, "; item: ");
        one_result(ts, access, access->entities[i]);
        buf_text(ts->out, " }");
    }
}

static void kinds(struct typescript *ts, const struct model_access *access)
{
    buf_text(ts->out, "        kinds: [");
    for (size_t i = 0; i < access->entity_count; i++) {
        buf_text(ts->out, i == 0 ? "kindOf" : ", kindOf");
        typescript_entity(ts->out, access->entities[i]);
    }
    buf_text(ts->out, "],\n");
}

static void pattern_object(struct typescript *ts, const struct model_access *access)
{
    buf_text(ts->out, "new Pattern<");
    result_type(ts, access);
    buf_text(ts->out, ">(\n      this,\n      {\n");
    if (access->index != NULL) {
        buf_text(ts->out, "        index: ");
        text_quoted(ts->out, access->index->name);
        buf_text(ts->out, ",\n");
    }
    conditions(ts, "keys", access->key_count, access->keys, access);
    conditions(ts, "filters", access->filter_count, access->filters, access);
    kinds(ts, access);
    if (access->descending)
        buf_text(ts->out, "        descending: true,\n");
    if (access->consistent)
        buf_text(ts->out, "        consistent: true,\n");
    if (access->limit > 0)
        buf_printf(ts->out, "        limit: %llu,\n", (unsigned long long)access->limit);
    buf_text(ts->out, "      },\n      (kind, item) => ");
    buf_text(ts->out, access->entity_count == 1
                          ? "attributesOf(kind, item)"
                          : "({ entity: kind.name, item: attributesOf(kind, item) }) as never");
    buf_text(ts->out, ",\n    )");
}

static void get_body(struct typescript *ts, const struct model_access *access)
{
    buf_text(ts->out, "    const key: Bag = { ");
    for (size_t i = 0; i < access->key_count; i++) {
        buf_text(ts->out, i == 0 ? "" : ", ");
        typescript_member(ts->out, access->keys[i].steps[0]);
        buf_text(ts->out, ": ");
        typescript_expr(ts, access->keys[i].values[0], MODEL_ANY, access);
    }
    buf_printf(ts->out, " };\n    const item = await readItem(this, key, %s);\n",
               access->consistent ? "true" : "false");
    buf_text(ts->out, "    return item !== undefined && kindOf");
    typescript_entity(ts->out, access->entities[0]);
    buf_text(ts->out, ".fits(item) ? attributesOf(kindOf");
    typescript_entity(ts->out, access->entities[0]);
    buf_text(ts->out, ", item) : undefined;\n");
}

// A method must not be called like a member of the class.
static void method_name(struct buf *out, const struct model_access *access)
{
    size_t start = out->len;
    if (text_is_word(access->name))
        buf_slice(out, access->name);
    else
        text_camel(out, access->name);
    struct slice name = slice_of(out->ptr + start, out->failed ? 0 : out->len - start);
    bool clash = slice_is(name, "client") || slice_is(name, "tableName") ||
                 slice_is(name, "constructor") || model_table_entity(access->table, name) != NULL;
    if (clash)
        buf_byte(out, '_');
}

static void pattern_method(struct typescript *ts, const struct model_access *access)
{
    bool get = access->get && access->entity_count == 1;
    buf_byte(ts->out, '\n');
    typescript_doc(ts, "  ", access->doc);
    buf_text(ts->out, get ? "  async " : "  ");
    method_name(ts->out, access);
    buf_byte(ts->out, '(');
    params(ts, access);
    buf_text(ts->out, access->one ? "): Promise<" : "): Pattern<");
    if (access->one && access->entity_count > 1)
        buf_byte(ts->out, '(');
    result_type(ts, access);
    if (access->one && access->entity_count > 1)
        buf_byte(ts->out, ')');
    buf_text(ts->out, access->one ? " | undefined> {\n" : "> {\n");
    if (get) {
        get_body(ts, access);
    } else {
        buf_text(ts->out, "    return ");
        pattern_object(ts, access);
        buf_text(ts->out, access->one ? ".first();\n" : ";\n");
    }
    buf_text(ts->out, "  }\n");
}

// ---- The class -------------------------------------------------------------------------------

static void client_type(struct typescript *ts, const struct model_entity *entity)
{
    static const char *const suffixes[] = {"", "Input", "Key", "Changes"};
    buf_text(ts->out, "EntityClient<");
    for (size_t i = 0; i < 4; i++) {
        buf_text(ts->out, i == 0 ? "" : ", ");
        typescript_entity(ts->out, entity);
        buf_text(ts->out, suffixes[i]);
    }
    buf_byte(ts->out, '>');
}

static void entity_member(struct typescript *ts, const struct model_entity *entity)
{
    typescript_doc(ts, "  ", entity->doc);
    buf_text(ts->out, "  readonly ");
    typescript_member(ts->out, entity->name);
    buf_text(ts->out, ": ");
    client_type(ts, entity);
    buf_text(ts->out, ";\n");
}

void typescript_table(struct typescript *ts, const struct model_table *table)
{
    buf_byte(ts->out, '\n');
    typescript_doc(ts, "", table->doc);
    buf_text(ts->out, "export class ");
    text_pascal(ts->out, table->name);
    buf_text(ts->out, "Table {\n");
    for (size_t i = 0; i < table->entity_count; i++)
        entity_member(ts, &table->entities[i]);
    buf_text(ts->out, "\n  constructor(\n    readonly client: DynamoDBDocumentClient,\n"
                      "    readonly tableName = ");
    text_quoted(ts->out, table->name);
    buf_text(ts->out, ",\n  ) {\n");
    for (size_t i = 0; i < table->entity_count; i++) {
        buf_text(ts->out, "    this");
        typescript_dot(ts->out, table->entities[i].name);
        buf_text(ts->out, " = new EntityClient(this, kindOf");
        typescript_entity(ts->out, &table->entities[i]);
        buf_text(ts->out, ");\n");
    }
    buf_text(ts->out, "  }\n");
    for (size_t i = 0; i < table->access_count; i++)
        pattern_method(ts, &table->accesses[i]);
    buf_text(ts->out, "}\n");
}
