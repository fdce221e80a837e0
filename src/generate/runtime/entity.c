// The source of generated C: what it includes, and the functions of one entity. PREFIX stands for
// the model's name, ENTITY for the entity's, "TABLE" for its table's, KEYS for the key attributes
// meant: "primary" are all, "made" those that are no attributes of the entity. The bodies that
// stand in sections "-" are examples of what the generator writes there, so that the whole is C:
// the build compiles it, with the warnings that all of the project is compiled with.
#include "model.h"

//# includes

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

//# -

#include "json.c"

#include "text.c"

//# shapes

// ---- Shapes of this model ----------------------------------------------------------------------

//# -

static const struct field fields_ENTITY[] = {
    {"id",
     {TEXT, sizeof(const char *), NULL, NULL},
     offsetof(struct PREFIX_ENTITY, id),
     NO_FLAG,
     false,
     false,
     false},
};
static const struct shape shape_ENTITY = {sizeof(struct PREFIX_ENTITY), 1, fields_ENTITY};

// Names have other lengths in a model, so that aligned arguments would not be.
// clang-format off
//# complete

void PREFIX_ENTITY_complete(struct PREFIX_memory *memory, struct PREFIX_ENTITY *item)
{
    (void)memory;
    (void)item;
//# -
    item->id = lower(memory, item->id);
    if (item->id == NULL)
        item->id = sha256_text(memory, 1, uuid_text(memory));
}
//# keys

static bool add_KEYS_ENTITY(struct text *out, bool *any, struct PREFIX_memory *memory,
    const struct PREFIX_ENTITY *item)
{
    (void)memory;
    (void)item;
    (void)out;
    (void)any;
//# -
    return add_key(out, any, "PK", "S", item->id);
}
#define add_primary_ENTITY add_KEYS_ENTITY
#define add_made_ENTITY    add_KEYS_ENTITY
//# entries

static void add_entries_ENTITY(struct text *out, bool *any, struct PREFIX_memory *memory,
    const struct PREFIX_ENTITY *item)
{
    struct text mark;
    bool before;
//# -
    mark = *out;
    before = *any;
    if (!add_key(out, any, "GSI1PK", "S", item->id)) {
        *out = mark;
        *any = before;
    }
//# entries-end
    (void)memory;
    (void)item;
}
//# item

const char *PREFIX_ENTITY_key(struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item)
{
    struct text text = text_new(memory);
    bool any = false;
    add_text(&text, "{");
    if (!add_primary_ENTITY(&text, &any, memory, item))
        return NULL;
    add_text(&text, "}");
    return finished(&text);
}

const char *PREFIX_ENTITY_item(struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item)
{
    struct text text = text_new(memory);
    add_text(&text, "{");
    bool any = encode_fields(&text, &shape_ENTITY, (const char *)item);
    if (!add_made_ENTITY(&text, &any, memory, item))
        return NULL;
    add_entries_ENTITY(&text, &any, memory, item);
//# -
    (void)add_key(&text, &any, "type", "S", "ENTITY");
//# calls
    add_text(&text, "}");
    return finished(&text);
}

bool PREFIX_ENTITY_decode(struct PREFIX_memory *memory, const char *json, size_t length,
    struct PREFIX_ENTITY *item)
{
    return decode(memory, &shape_ENTITY, json, length, item);
}

int PREFIX_ENTITY_put(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item)
{
    const char *answer;
    size_t length;
    return call(db, memory, "PutItem", "TABLE", "Item", PREFIX_ENTITY_item(memory, item),
                &answer, &length);
}

int PREFIX_ENTITY_get(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *key,
    struct PREFIX_ENTITY *item)
{
    const char *answer;
    size_t length;
    int status = call(db, memory, "GetItem", "TABLE", "Key", PREFIX_ENTITY_key(memory, key),
                      &answer, &length);
    if (status != 200)
        return status;
    const char *found = answer_item(memory, answer, length, &length);
    if (found == NULL)
        return 404;
    return PREFIX_ENTITY_decode(memory, found, length, item) ? 200 : 500;
}

int PREFIX_ENTITY_delete(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *key)
{
    const char *answer;
    size_t length;
    return call(db, memory, "DeleteItem", "TABLE", "Key", PREFIX_ENTITY_key(memory, key),
                &answer, &length);
}
