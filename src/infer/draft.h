// A model in the making: what inference and the importers propose, before it is text. Types,
// templates and modifiers are texts of the language already; a draft only keeps them in order and
// writes the file.
//
// Everything lives in the draft's arena; slices that are put in must live as long.
#ifndef INFER_DRAFT_H
#define INFER_DRAFT_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/key.h"

struct draft_attribute {
    struct draft_attribute *next;
    struct slice name;
    struct slice type; // "uuid", "\"a\" | \"b\""
    bool optional;
    struct slice modifiers; // "unique lower = now()", or empty
    struct slice doc;       // one line, or empty
};

struct draft_entry { // of an entity in an index
    struct draft_entry *next;
    struct slice index;
    size_t count;
    struct slice parts[2 * LIMIT_KEY_PARTS]; // templates without quotes; ptr NULL if native
};

struct draft_entity {
    struct draft_entity *next;
    struct slice name;
    struct slice type_value; // empty if it is the name
    struct slice doc;
    struct slice keys[2]; // templates without quotes; ptr NULL if native
    struct draft_entry *entries;
    struct draft_attribute *attributes;
};

struct draft_access {
    struct draft_access *next;
    struct slice name;
    struct slice params; // "userId, status"
    struct slice rest;   // "one User via GSI1 newest first"
    struct slice doc;
};

struct draft_index {
    struct draft_index *next;
    struct slice name;
    bool local;
    struct key_schema keys;
    struct slice project; // "all", "keys", "(a, b)"; empty for all
};

struct draft_table {
    struct draft_table *next;
    struct slice name;
    struct slice doc;
    struct key_schema keys;
    struct draft_index *indexes;
    struct slice type_attribute;
    struct slice ttl;
    struct slice stream; // "new_image", or empty
    struct draft_entity *entities;
    struct draft_access *accesses;
};

struct draft_type {
    struct draft_type *next;
    struct slice name;
    struct slice text; // behind the name: "{ a: string }" or "= …"
};

struct draft_note {
    struct draft_note *next;
    struct slice text;
};

struct draft {
    struct arena *arena;
    struct slice title;      // first line of the file
    const char *notes_title; // over the notes; NULL for that of inference
    struct draft_table *tables;
    struct draft_type *types;
    struct draft_note *notes; // what could not be explained or carried over
    size_t note_count;
};

void draft_init(struct draft *draft, struct arena *arena);

// Memory and texts; a draft is made by a tool, which ends when there is no more.
void *draft_alloc(struct draft *draft, size_t size);
struct slice draft_text(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);
struct slice draft_copy(struct draft *draft, struct slice bytes);
// What is in the buf; the buf is released.
struct slice draft_keep(struct draft *draft, struct buf *text);
// Texts one behind the other: `list`, which may be empty, and the next one.
struct slice draft_join(struct draft *draft, struct slice list, const char *separator,
                        struct slice next);
// Room for one more in an array of `count` elements, for which there is *room; its new place.
void *draft_grow(struct draft *draft, void *array, size_t count, size_t *room, size_t size);

struct draft_table *draft_add_table(struct draft *draft, struct slice name);
struct draft_index *draft_add_index(struct draft *draft, struct draft_table *table,
                                    struct slice name);
struct draft_entity *draft_add_entity(struct draft *draft, struct draft_table *table,
                                      struct slice name);
struct draft_entry *draft_add_entry(struct draft *draft, struct draft_entity *entity,
                                    struct slice index);
struct draft_attribute *draft_add_attribute(struct draft *draft, struct draft_entity *entity,
                                            struct slice name);
// The name is changed if the table has an access pattern of that name.
struct draft_access *draft_add_access(struct draft *draft, struct draft_table *table,
                                      struct slice name);
void draft_note(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);

// A named type of that text: the one that is there already, or a new one under `name`, or under
// another name if that is taken. Returns its name.
struct slice draft_named_type(struct draft *draft, struct slice name, struct slice text);

struct draft_attribute *draft_attribute(const struct draft_entity *entity, struct slice name);
struct draft_index *draft_index(const struct draft_table *table, struct slice name);
// The template of a key attribute in the entity's items: from the table's key, or from an entry
// before `until` (NULL for all). ptr NULL if there is none.
struct slice draft_template(const struct draft_table *table, const struct draft_entity *entity,
                            struct slice name, const struct draft_entry *until);
size_t draft_parts(const struct key_schema *keys);
// Whether the name is that of one of the key attributes; of the table or of one of its indexes.
bool draft_schema_has(const struct key_schema *keys, struct slice name);
bool draft_is_key(const struct draft_table *table, struct slice name);

// ---- Texts of the language -------------------------------------------------------------------

// A name, in backticks if it needs them; the text of a string literal or template, escaped.
void draft_put_name(struct buf *out, struct slice name);
size_t draft_name_width(struct slice name);
void draft_put_literal(struct buf *out, struct slice text);
struct slice draft_name_text(struct draft *draft, struct slice name);
// "USER_SESSION", "user-session" as UserSession; and as userSession.
struct slice draft_pascal(struct draft *draft, struct slice text);
struct slice draft_camel(struct draft *draft, struct slice text);

// The whole file; and only its types and entities, to be added to another.
void draft_write(const struct draft *draft, struct buf *out);
void draft_write_entities(const struct draft *draft, struct buf *out);

#endif
