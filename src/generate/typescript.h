// The parts of the TypeScript generator.
#ifndef GENERATE_TYPESCRIPT_H
#define GENERATE_TYPESCRIPT_H

#include "generate/generate.h"
#include "write/walk.h"

// Functions that a file has only if something in it calls them: X(name, section of client.ts)
#define TYPESCRIPT_HELPERS(X)                                                                      \
    X(TEXT, "text") /* text() and join() */                                                        \
    X(LOWER, "lower")                                                                              \
    X(UPPER, "upper")                                                                              \
    X(TRIM, "trim")                                                                                \
    X(SQUEEZE, "squeeze")                                                                          \
    X(NFC, "nfc")                                                                                  \
    X(EXACT, "exact")                                                                              \
    X(PRODUCT, "product")                                                                          \
    X(TEST, "test") /* holds() */                                                                  \
    X(SOFT, "soft") /* SoftEntityClient */                                                         \
    X(PAD, "pad")                                                                                  \
    X(FIXED, "fixed")                                                                              \
    X(ESCAPE, "escape")                                                                            \
    X(FORBID, "forbid")                                                                            \
    X(SHA256, "sha256")                                                                            \
    X(ULID, "ulid")                                                                                \
    X(SIZE, "size")                                                                                \
    X(TIME, "time") /* seconds() */                                                                \
    X(UTC, "utc")                                                                                  \
    X(TOLD, "told") /* partOf() */                                                                 \
    X(TIMESTAMP, "timestamp")                                                                      \
    X(DAY, "day")                                                                                  \
    X(DATEPART, "datepart")                                                                        \
    X(SUM, "sum")                                                                                  \
    X(STEP, "step")                                                                                \
    X(NESTED, "nested") /* shape() */                                                              \
    X(EACH, "each")

enum typescript_helper {
#define X(name, section) TS_##name,
    TYPESCRIPT_HELPERS(X)
#undef X
        TS_HELPERS
};

enum { TS_UUID = 1U << TS_HELPERS }; // randomUUID is imported

struct typescript {
    struct writer *w;
    unsigned used; // bits of enum typescript_helper, and TS_UUID
    // What the expression that was translated last refers to.
    bool item;
    bool now;
    size_t class_count; // of all entities
    const struct slice *classes;
};

// Fills in the classes; before anything else.
void typescript_classes(struct typescript *ts);

// A type, as it stands in an interface.
struct slice typescript_type(struct typescript *ts, const struct model_type *type);
// The type's own definition, not its name.
struct slice typescript_type_body(struct typescript *ts, const struct model_type *type);
// A member of an interface, on lines of its own.
void typescript_attribute(struct typescript *ts, const struct model_attribute *attribute);
// A name of an interface: no word of the language, none that the file has already.
struct slice typescript_entity(struct typescript *ts, const struct model_entity *entity);
// A named type's; entities come first, if one is called the same.
struct slice typescript_named(struct typescript *ts, struct slice name);
// A member's name: as it is, or quoted; and the access to it, ".name" or "[\"name\"]".
struct slice typescript_member(struct typescript *ts, struct slice name);
struct slice typescript_dot(struct typescript *ts, struct slice name);
// Whether callers cannot set it: it is computed, or counted.
bool typescript_read_only(const struct model_attribute *attribute);
// A comment before a declaration.
void typescript_doc(struct typescript *ts, const char *before, struct slice doc);

// An expression over `item` (or over `params`, if there is an access pattern), in the form that an
// attribute of the kind has.
struct slice typescript_expr(struct typescript *ts, const struct model_expr *expr,
                             enum model_kind want, const struct model_access *access);
struct slice typescript_template(struct typescript *ts, const struct model_template *template,
                                 const struct model_access *access);
// A test of `item`; `missing` is what a comparison with something missing is.
struct slice typescript_test(struct typescript *ts, const struct model_test *test, bool missing);
// An expression in its normal form.
struct slice typescript_normal(struct typescript *ts, unsigned normal, struct slice expr);
// Whether fields inside a type have normal forms or defaults; and the expression that applies them
// to what is called "value".
bool typescript_nested_needed(const struct model_type *type, unsigned depth);
struct slice typescript_nested(struct typescript *ts, const struct model_type *type);
// The same for a named type itself; elsewhere its function is called, as types may be recursive.
struct slice typescript_nested_body(struct typescript *ts, const struct model_type *type);

void typescript_entity_types(struct typescript *ts, const struct model_entity *entity);
void typescript_entity_objects(struct typescript *ts, const struct model_entity *entity);
void typescript_entity_kind(struct typescript *ts, const struct model_entity *entity);
// What of an entity's `Kind` the model's rules say.
void typescript_rules(struct typescript *ts, const struct model_entity *entity);
void typescript_table(struct typescript *ts, const struct model_table *table);

#endif
