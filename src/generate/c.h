// The parts of the C generator.
#ifndef GENERATE_C_H
#define GENERATE_C_H

#include "generate/generate.h"
#include "generate/runtime.h"
#include "write/walk.h"

struct c_file {
    struct writer *w;
    struct slice prefix; // of every public name: the model's
    struct slice keys;   // which of its keys a section is about
    bool digests;        // something calls sha256_text()
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
struct slice c_member(const struct c_file *c, const struct model_attribute *attribute);
bool c_has_flag(const struct model_attribute *attribute);
bool c_is_pointer(const struct model_attribute *attribute);
// Whether only the server writes it: it is computed, or counted.
bool c_is_kept(const struct model_attribute *attribute);
struct slice c_entity_name(const struct c_file *c, const struct model_entity *entity);

// All structs: named types and entities, with what is inside them.
void c_structs(struct c_file *c);
// The tables that describe them.
void c_shapes(struct c_file *c);

// The text of an expression over `item`, in memory `memory`.
struct slice c_text(struct c_file *c, const struct model_expr *expr);
struct slice c_template(struct c_file *c, const struct model_template *template);
// What fills a missing attribute, as statements; nothing if only the server can.
void c_default(struct c_file *c, const struct model_attribute *attribute);
struct slice c_string(struct c_file *c, struct slice text);

#endif
