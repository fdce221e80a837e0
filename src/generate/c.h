// The parts of the C generator.
#ifndef GENERATE_C_H
#define GENERATE_C_H

#include "generate/runtime.h"
#include "generate/text.h"
#include "generate/walk.h"

struct c_file {
    const struct model *model;
    const struct generate_options *options;
    struct buf *out;
    struct slice prefix; // of every public name: the model's
};

// How a value is kept in memory.
enum c_kind {
    C_TEXT, // const char *, NULL if it is not there
    C_NUMBER,
    C_INTEGER,
    C_BOOLEAN,
    C_BYTES,
    C_JSON, // what has no C type: const char * of DynamoDB JSON
    C_OBJECT,
    C_LIST,
    C_SET,
    C_RECORD,
};

enum c_kind c_kind(const struct model_type *type);

// A struct that is to be declared: of an entity, a named type, or an object inside of one. `fields`
// are in the order of the file.
struct c_struct {
    struct slice name; // without the prefix, snake case
    size_t count;
    const struct model_attribute *const *fields;
};

// A member's name (with a _ behind it if another one is called the same, but for capitals); and
// whether there is a flag "has_…" beside it, or it is a pointer to an object.
void c_member(const struct c_file *c, struct buf *out, const struct model_attribute *attribute);
bool c_has_flag(const struct model_attribute *attribute);
bool c_is_pointer(const struct model_attribute *attribute);
// The name of the struct of an object type that is a member of another struct.
void c_object_name(struct buf *out, const struct c_file *c, const struct model_type *type,
                   struct slice owner, struct slice member);
void c_entity_name(struct buf *out, const struct model_entity *entity);

// All structs: named types and entities, with what is inside them.
void c_structs(struct c_file *c);
// The tables that describe them.
void c_shapes(struct c_file *c);

// The text of an expression over `item`, in memory `memory`.
void c_text(struct c_file *c, const struct model_expr *expr);
void c_template(struct c_file *c, const struct model_template *template);
// What fills a missing attribute, as statements; nothing if only the server can.
void c_default(struct c_file *c, const struct model_attribute *attribute);
void c_string(struct buf *out, struct slice text);

#endif
