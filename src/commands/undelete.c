// `dolmen undelete`: an item that is deleted softly is there again. An UpdateItem that takes its
// mark away, under the condition that it has one.
#include "cli/target.h"

#include "guard/address.h"
#include "guard/plain.h"
#include "model/parse.h"

enum { UNDELETE_MEMORY = 64 << 20 };

struct undelete {
    struct cli_input *input;
    struct arena arena;
    struct target target;
    struct model *model;
    const struct model_entity *entity;
    struct slice key;
};

// The model that is attached to the table.
static bool find_model(struct undelete *self, const char *table)
{
    if (!target_fine(&self->target,
                     target_ask(&self->target, "DescribeModel", "{'TableName':%s}", table)))
        return false;
    struct slice answer = arena_copy(&self->arena, buf_view(&self->target.response));
    struct slice text = json_member_text(answer, "Model", &self->arena);
    if (text.len == 0)
        return cli_fail(self->input, "table '%s' has no model, so nothing of it is deleted softly.",
                        table);
    self->model = cli_model_text(json_member_text(answer, "FileName", &self->arena), text);
    return self->model != NULL;
}

static bool find_entity(struct undelete *self, const char *table, const char *name)
{
    const struct model_table *found = model_table(self->model, slice_str(table));
    if (found == NULL)
        return cli_fail(self->input, "the model has no table '%s'.", table);
    self->entity = model_table_entity(found, slice_str(name));
    if (self->entity == NULL) {
        struct model_guess guess = model_guess_for(slice_str(name));
        for (size_t i = 0; i < found->entity_count; i++)
            model_guess_candidate(&guess, found->entities[i].name);
        return cli_misused(self->input, "table '%s' has no entity '%s'%s", table, name,
                           cli_meant(self->input, &guess));
    }
    return self->entity->softdelete != NULL ||
           cli_fail(self->input, "entity '%s' is not deleted softly: its model has no softdelete.",
                    name);
}

// The key of the arguments name=value.
static bool read_key(struct undelete *self)
{
    static const struct model_type string = {.kind = MODEL_STRING};
    struct value_maker maker;
    struct error error;
    bool fine = true;
    error_init(&error, &self->arena);
    value_begin(&maker, LIMIT_ITEM_SIZE);
    value_open_map(&maker.b);
    for (size_t i = 2; fine && i < self->input->argument_count; i++) {
        const char *argument = self->input->arguments[i];
        const char *equal = strchr(argument, '=');
        fine = equal != NULL && utf8_valid(slice_str(argument));
        if (!fine)
            break;
        struct slice name = slice_of(argument, (size_t)(equal - argument));
        const struct model_attribute *attribute = model_entity_attribute(self->entity, name);
        value_name(&maker.b, name);
        value_put(&maker.b, model_plain_text(attribute == NULL ? &string : attribute->type,
                                             slice_str(equal + 1), &self->arena));
    }
    struct slice fields = value_end(&maker, &self->arena);
    if (!fine || fields.ptr == NULL)
        return cli_misused(self->input, "name the key by arguments of the form name=value.");
    if (model_address_key(self->entity, fields, &self->arena, &self->key, &error))
        return true;
    return cli_misused(self->input, "%s", error.message);
}

// A mark that has to be there becomes null; else it goes.
static bool take_mark(struct undelete *self, const char *table)
{
    const struct model_attribute *mark = self->entity->softdelete;
    struct buf body;
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", table);
    json_name(&w, "Key");
    json_item(&w, self->key);
    json_put_text(&w, "UpdateExpression", mark->optional ? "REMOVE #mark" : "SET #mark = :null");
    json_put_text(&w, "ConditionExpression", "attribute_exists(#mark) AND #mark <> :null");
    json_form(&w, "'ExpressionAttributeNames':{'#mark':%.*s}", SLICE_FMT(mark->name));
    json_form(&w, "'ExpressionAttributeValues':{':null':{'NULL':true}}");
    json_put_text(&w, "ReturnValuesOnConditionCheckFailure", "ALL_OLD");
    json_close_object(&w);
    int status = target_call(&self->target, "UpdateItem", buf_view(&body));
    buf_release(&body);
    struct slice answer = buf_view(&self->target.response);
    struct slice type =
        status == 0 ? slice_of(NULL, 0) : json_member_text(answer, "__type", &self->arena);
    if (status != 400 || memmem(type.ptr, type.len, "ConditionalCheckFailed", 22) == NULL)
        return status != 0 && target_fine(&self->target, status);
    return json_member(answer, "Item", &self->arena).len > 0
               ? cli_fail(self->input, "it is not deleted.")
               : cli_fail(self->input, "there is no %.*s with this key.",
                          SLICE_FMT(self->entity->name));
}

static bool undelete(struct undelete *self)
{
    const char *table = self->input->arguments[0];
    return find_model(self, table) && find_entity(self, table, self->input->arguments[1]) &&
           read_key(self) && take_mark(self, table);
}

bool cli_undelete(struct cli_input *input)
{
    if (input->argument_count < 2)
        return cli_misused(input, "name a table, an entity, and the attributes of its key.");
    struct undelete self = {.input = input};
    if (!target_open(&self.target, input))
        return false;
    arena_init(&self.arena, UNDELETE_MEMORY);
    bool ok = undelete(&self);
    if (ok)
        printf("undeleted\n");
    model_release(self.model);
    arena_release(&self.arena);
    target_close(&self.target);
    return ok;
}
