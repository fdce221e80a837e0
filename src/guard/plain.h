// Entities as ordinary JSON, both ways. What JSON cannot tell apart, the model's types do: text in
// base64 is binary where the model says binary, an array is a set where it says set. Numbers keep
// every digit; no double is in between.
//
// What the server derives (keys, index keys, the type attribute) is not shown unless asked for.
#ifndef GUARD_PLAIN_H
#define GUARD_PLAIN_H

#include "base/error.h"
#include "guard/guard.h"
#include "model/model.h"
#include "json/writer.h"

// The member that tells the entity where a list has several. Reading ignores it.
#define MODEL_PLAIN_ENTITY "$entity"
// The member that has links to the item's objects. Reading ignores it, so that what was read can be
// written back.
#define MODEL_PLAIN_OBJECTS "$objects"

// Reads one JSON object into an item, which lives in the arena. Malformed text is a
// SerializationException that says what and where; what no item can hold (text that is not base64,
// a set with twice the same member) a ValidationException with model_violations for details.
// Whether the item fits the model is for the guard to say.
MUST_CHECK bool model_plain_read(const struct model_entity *entity, struct slice text,
                                 struct arena *arena, struct slice *item, struct error *error);

// Applies a JSON Merge Patch (RFC 7386) to an item: members replace, objects merge, null removes.
// One exception: null for a required attribute is null, which its type may allow.
MUST_CHECK bool model_plain_patch(const struct model_entity *entity, struct slice before,
                                  struct slice text, struct arena *arena, struct slice *item,
                                  struct error *error);

// The value that a text of a URL or a command line stands for, in the arena. A text that does not
// fit the type stays text, and the type's validation will say so. VALUE_NONE without memory.
MUST_CHECK struct slice model_plain_text(const struct model_type *type, struct slice text,
                                         struct arena *arena);

// Writes further members of an item's object, behind its attributes.
struct model_plain_more {
    void *context;
    void (*write)(void *context, const struct model_entity *entity, struct slice item,
                  struct json_writer *w); // NULL: there are none
};

struct model_plain_view {
    const struct model_table *table;
    const struct model_entity *entity; // NULL if unknown
    bool keys;                         // show what is derived, too
    bool name;                         // add MODEL_PLAIN_ENTITY
    struct model_plain_more more;
};

// An item as a JSON object: the attributes in the order of the model, then others.
void model_plain_write(struct json_writer *w, const struct model_plain_view *view,
                       struct slice item);

// The same for many items: what the view says of names is put in order once, and an item is then
// walked once beside them. One thread at a time may use a layout, which lives in the arena; NULL
// without memory. The view is borrowed.
struct model_plain_layout;
MUST_CHECK struct model_plain_layout *model_plain_layout(const struct model_plain_view *view,
                                                         struct arena *arena);
void model_plain_item(struct json_writer *w, struct model_plain_layout *layout, struct slice item);

// Whether the attribute is one that the guard derives: a key of the table or an index, or the type
// attribute, and not an attribute that the entity (or NULL) declares.
bool model_table_derives(const struct model_table *table, const struct model_entity *entity,
                         struct slice name);

#endif
