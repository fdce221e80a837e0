// What the parser has read and the checks have not yet resolved: lists in the order of the file, in
// the scratch memory of one model_parse(). The parts that outlive it (types, expressions,
// templates) are already in the model's arena.
#ifndef MODEL_PARSE_INTERNAL_H
#define MODEL_PARSE_INTERNAL_H

#include "model/parse.h"

// A list in the order of the file.
#define LIST_APPEND(list, entry)                                                                   \
    do {                                                                                           \
        void *list_entry = (entry);                                                                \
        (entry)->next = NULL;                                                                      \
        if ((list)->last == NULL)                                                                  \
            (list)->first = list_entry;                                                            \
        else                                                                                       \
            (list)->last->next = list_entry;                                                       \
        (list)->last = list_entry;                                                                 \
        (list)->count++;                                                                           \
    } while (0)

#define RAW_LIST(type)                                                                             \
    struct {                                                                                       \
        struct type *first;                                                                        \
        struct type *last;                                                                         \
        size_t count;                                                                              \
    }

struct raw_table;

// A name, and where it stands.
struct raw_name {
    struct slice name;
    struct model_place at;
};

// A named type, known by its name from its first mention; `type` is filled where it is declared.
struct raw_type {
    struct raw_type *next;
    struct model_type *type;
    const struct model_type *alias; // of "type NAME = alias", until that is resolved
    struct slice written;           // the alias, as it stands in the file
    struct slice doc;
    struct model_place at; // of the declaration; line 0 if there is none
    enum { TYPE_NEW, TYPE_BUSY, TYPE_DONE } state;
};

// A mention of a named type.
struct raw_use {
    struct raw_use *next;
    struct raw_type *named;
    struct model_place at;
};

// A union, to be made flat once all types are known; or a set, whose members are to be judged.
struct raw_union {
    struct raw_union *next;
    struct model_type *type;
    struct model_place at;
};

struct raw_index {
    struct raw_index *next;
    struct model_index index;
    bool typed[2 * LIMIT_KEY_PARTS]; // the file gives the part's type
    struct model_place part_at[2 * LIMIT_KEY_PARTS];
};

struct raw_table {
    struct raw_table *next;
    struct model_table table;
    bool typed[2];
    struct model_place part_at[2];
    struct model_place type_at;
    struct model_place ttl_at;
    unsigned given; // bits of the items that were there
    RAW_LIST(raw_index) indexes;
    bool broken; // had syntax errors: what seems missing may be there
    // Once gathered:
    struct model_table *final;
    struct model_entity *entities;
    struct model_index *final_indexes;
    struct model_access *accesses;
    size_t access_count;
    size_t access_limit;
};

struct raw_attribute {
    struct raw_attribute *next;
    struct model_attribute attribute;
};

// PK = "…", or GSI1 = "…", "…"
struct raw_binding {
    struct raw_binding *next;
    struct slice name;
    struct model_place at;
    size_t count;
    struct raw_template {
        struct model_template *template;
        struct model_place at;
        bool plain; // an expression without quotes
        bool resolved;
        bool settled;
        bool wrong;
        bool told; // that its type is not the key's
    } templates[2 * LIMIT_KEY_PARTS];
};

struct raw_entity {
    struct raw_entity *next;
    struct model_entity entity;
    struct raw_name table_name; // empty if the file does not say
    struct raw_table *table;    // the one above, or the one named
    bool own_guard;
    bool own_unknown;
    bool broken;
    struct model_entity *final; // in the model; NULL if it has no table
    RAW_LIST(raw_attribute) attributes;
    RAW_LIST(raw_binding) bindings;
};

struct raw_access {
    struct raw_access *next;
    struct model_access access;
    struct raw_name table_name;
    struct raw_table *above;
    struct raw_table *table; // once it is known
    struct raw_name index_name;
    size_t entity_count;
    struct raw_name *entity_names;
    struct model_param *params; // type NULL if not written
    struct model_place *param_at;
    size_t where_count;
    struct model_condition where[2 * LIMIT_KEY_PARTS];
    size_t filter_count;
    struct model_condition *filters;
};

struct raw_rule {
    struct raw_rule *next;
    struct model_rule rule;
    struct raw_name entity;   // of any table
    struct raw_name target;   // emit … into
    struct raw_name names[2]; // attributes of the entity
    const struct model_template *template;
};

struct model_file {
    struct model_parser p;
    struct model *model;
    bool unsound; // a table, an entity or a type could not be read
    RAW_LIST(raw_type) types;
    RAW_LIST(raw_use) uses;
    RAW_LIST(raw_union) unions;
    RAW_LIST(raw_union) sets;
    RAW_LIST(raw_table) tables;
    RAW_LIST(raw_entity) entities;
    RAW_LIST(raw_access) accesses;
    RAW_LIST(raw_rule) rules;
};

// Zeroed; NULL after telling that memory is out.
MUST_CHECK void *file_alloc(struct model_file *file, size_t count, size_t size);   // the model's
MUST_CHECK void *file_scratch(struct model_file *file, size_t count, size_t size); // for a while
#define file_error(file, at, ...) diagnostic_error((file)->p.diagnostics, at, __VA_ARGS__)

// ---- Parsing --------------------------------------------------------------------------------

MUST_CHECK bool parse_table(struct model_file *file, size_t first);
MUST_CHECK bool parse_entity(struct model_file *file, size_t first);
MUST_CHECK bool parse_type_declaration(struct model_file *file, size_t first);
MUST_CHECK bool parse_access(struct model_file *file, size_t first);
MUST_CHECK bool parse_rule(struct model_file *file, size_t first);

// A name and its place.
MUST_CHECK bool parse_raw_name(struct model_parser *p, const char *what, struct raw_name *name);
// `optional` is set by a "?" or "?!" at the end.
enum raw_optional { RAW_REQUIRED, RAW_OPTIONAL, RAW_STRICT };
MUST_CHECK const struct model_type *parse_type(struct model_file *file,
                                               enum raw_optional *optional);
// A name with its type and modifiers; `field` if it is a member of an object.
MUST_CHECK bool parse_attribute(struct model_file *file, bool field,
                                struct model_attribute *attribute);
// The items of a declaration, with the closing brace; false if some could not be read.
MUST_CHECK bool parse_items(struct model_file *file,
                            bool (*item)(struct model_file *file, void *raw), void *raw);

// A literal, encoded, in the arena; VALUE_NONE after an error. L and M are empty ones.
MUST_CHECK struct slice parse_encode(struct model_parser *p, enum value_tag tag,
                                     struct slice bytes);
// yyyy mm dd HH MM SS and what is no letter and no digit.
bool model_date_pattern(struct slice pattern);

// ---- Checking, in this order
// --------------------------------------------------------------------- Each goes on after an error
// where it can, so that all are told at once.

void check_types(struct model_file *file);    // names, aliases, flat unions, endless types
void check_entities(struct model_file *file); // gathers entities by table; attributes
void check_keys(struct model_file *file);     // of tables, their types; entries of entities
void check_expressions(struct model_file *file);
// Whether an attribute's default fits it; and that those of an entity do not need each other.
bool check_sums(struct model_file *file, const struct model_expr *expr); // of numbers and times
bool check_default(struct model_file *file, const struct model_attribute *attribute);
void check_circles(struct model_file *file, const struct model_entity *entity);
void check_accesses(struct model_file *file);
void check_rules(struct model_file *file);

// The names that stand for themselves in an entity.
struct model_names check_scope(struct model_file *file, const struct model_entity *entity);
// Whether a literal (an encoded value) is one of the type's values, formats of text left aside.
bool check_literal(const struct model_type *type, struct slice value);
// What an expression gives, VALUE_TYPES if that depends.
enum value_type check_gives(const struct model_expr *expr);
// Whether it can be the name of a table or an index.
bool file_name_fits(struct slice name);
// Whether the text can be a separator.
bool file_separator_fits(struct slice text);
// The table, entity of any table, by name; NULL if there is none.
struct raw_table *file_table(const struct model_file *file, struct slice name);
// The table; NULL after telling that there is none.
struct raw_table *file_table_named(struct model_file *file, const struct raw_name *name);
struct raw_entity *file_entity(const struct model_file *file, struct slice name);

#endif
