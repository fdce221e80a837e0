// The header of generated C, with the declarations of one entity. UPPER and PREFIX stand for the
// model's name, ENTITY for the entity's. A line that begins with "//#" starts a section, which the
// generator writes out by its name; "-" is what only this file needs, to be C of its own.

//# head
#ifndef UPPER_MODEL_H
#define UPPER_MODEL_H

#include <dolmen.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Everything that is made here lives in a memory, {0} at first, and is freed with it.
struct PREFIX_memory {
    void *blocks;
    const char *error; // of the last call: a message, or the error document
};

void PREFIX_memory_free(struct PREFIX_memory *memory);

struct PREFIX_bytes {
    const unsigned char *data; // NULL if it is not there
    size_t length;
};

// A text or a pointer that is NULL is not there; a number, a boolean or a list that may be
// absent has a flag beside it. Numbers are doubles, which keep 15 digits.
//# -

struct PREFIX_ENTITY {
    const char *id;
};

// Names have other lengths in a model, so that aligned arguments would not be.
// clang-format off
//# entity
// Brings texts to their normal form and fills in defaults.
void PREFIX_ENTITY_complete(struct PREFIX_memory *memory, struct PREFIX_ENTITY *item);
// The primary key, and the whole item with all keys, as DynamoDB JSON; NULL if something is
// missing of which the key is made.
const char *PREFIX_ENTITY_key(struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item);
const char *PREFIX_ENTITY_item(struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item);
// An item out of DynamoDB JSON; false if it is not of this shape.
bool PREFIX_ENTITY_decode(struct PREFIX_memory *memory, const char *json, size_t length,
    struct PREFIX_ENTITY *item);
// 200, or the status and memory->error. Of `key` only what the key is made of is used.
int PREFIX_ENTITY_put(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *item);
int PREFIX_ENTITY_get(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *key,
    struct PREFIX_ENTITY *item); // 404 if there is none
int PREFIX_ENTITY_delete(dolmen *db, struct PREFIX_memory *memory, const struct PREFIX_ENTITY *key);
//# -
// clang-format on
//# tail

#ifdef __cplusplus
}
#endif

#endif
