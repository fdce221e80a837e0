// What the parser has read and the checks have not yet resolved: lists in the order of the file, in
// the scratch memory of one model_parse(). The parts that outlive it (types, expressions,
// templates) are already in the model's arena.
#ifndef MODEL_PARSE_INTERNAL_H
#define MODEL_PARSE_INTERNAL_H

#include "model/address.h"
#include "model/parse.h"
#include "model/rules.h"

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
struct model_file;

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

// = count of X where …; = sum of X.a where …
struct raw_tally {
    struct raw_name source;
    struct raw_name amount;         // empty: items are counted
    const struct model_test *where; // or NULL
    struct slice text;
    struct model_place at;
};

// a, b to X on delete …; or behind an attribute: references X on delete …
struct raw_reference {
    struct raw_reference *next;
    struct raw_name target;
    size_t count;
    struct raw_name names[MODEL_ADDRESS_MAX];
    enum model_on_delete on_delete;
    struct model_place at;
};

struct raw_attribute {
    struct raw_attribute *next;
    struct model_attribute attribute;
    struct raw_tally *tally;
    struct raw_reference *reference;
};

struct raw_check {
    struct raw_check *next;
    struct model_check_rule rule;
};

struct raw_unique {
    struct raw_unique *next;
    size_t count;
    struct raw_name names[LIMIT_MODEL_UNIQUE];
    struct model_place at;
};

struct raw_move {
    struct raw_move *next;
    struct model_move move;
    struct model_place from_at;
    struct model_place to_at;
};

struct raw_moves {
    struct raw_moves *next;
    struct raw_name attribute;
    struct model_moves moves;
    RAW_LIST(raw_move) list;
};

// PK = "…", or GSI1 = "…", "…"
struct raw_binding {
    struct raw_binding *next;
    struct slice name;
    struct model_place at;
    const struct model_test *when; // of an index: or NULL
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
    size_t mixin_count;
    struct raw_name mixins[LIMIT_MODEL_MIXINS];
    size_t clause_count;
    struct raw_name softdelete; // empty without it
    RAW_LIST(raw_check) checks;
    RAW_LIST(raw_unique) uniques;
    RAW_LIST(raw_moves) moves;
    RAW_LIST(raw_reference) references;
};

// What entities can have in common. Its items are read once for each of them, because names mean
// something else in each.
struct raw_mixin {
    struct raw_mixin *next;
    struct raw_name name;
    size_t body; // the token behind "{"
    bool broken;
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

// NAME = expr, of an item that a rule makes.
struct raw_assignment {
    struct raw_assignment *next;
    struct raw_name name;
    const struct model_expr *value;
};

struct raw_limit {
    struct raw_limit *next;
    struct model_limit limit;
};

struct raw_option {
    struct raw_option *next;
    struct model_option option;
};

// `project`: see check_project.c.
struct raw_column {
    struct raw_column *next;
    struct model_column column;
    struct raw_name by; // first, last
};

struct raw_columns {
    struct raw_columns *next;
    struct model_columns columns;
};

struct raw_foreign {
    struct raw_foreign *next;
    struct raw_name target;
    struct model_foreign foreign;
};

struct raw_each {
    struct raw_each *next;
    struct raw_name attribute;
    struct slice name;
    RAW_LIST(raw_column) columns;
};

struct raw_mapping {
    struct raw_mapping *next;
    struct raw_name entity;
    struct model_mapping mapping;
    size_t by_count;
    struct raw_name *by;
    size_t except_count;
    struct raw_name *except;
    struct raw_name tenant_to; // an entity; or empty
    RAW_LIST(raw_column) columns;
    RAW_LIST(raw_columns) uniques;
    RAW_LIST(raw_columns) indexes;
    RAW_LIST(raw_foreign) foreigns;
    RAW_LIST(raw_each) eaches;
};

struct raw_sql_view {
    struct raw_sql_view *next;
    struct raw_name entity;
    struct model_sql_view view;
};

struct raw_project {
    bool tenant;
    RAW_LIST(raw_mapping) mappings;
    RAW_LIST(raw_sql_view) views;
};

struct raw_rule {
    struct raw_rule *next;
    struct model_rule rule;
    void (*check)(struct model_file *file, struct raw_rule *raw);
    size_t entity_count; // what it speaks of: one, but for audit
    struct raw_name *entities;
    struct raw_name target;   // into
    struct raw_name names[2]; // attributes of the entity; tenant
    size_t per_count;         // keep … per
    struct raw_name *per;
    struct raw_name member; // derive … as
    const struct model_template *template;
    const struct model_test *when;
    unsigned events; // of enum model_event
    bool before;
    bool after;
    bool deleted; // retain … after delete
    uint64_t seconds;
    uint64_t count;
    enum model_fate fate;
    RAW_LIST(raw_assignment) assignments; // emit, audit, derive; seed
    const struct model_expr *by;          // idempotent
    struct raw_tally *counting;           // quota
    enum model_period period;
    RAW_LIST(raw_limit) limits;
    struct slice url; // publish
    struct model_object *object;
    RAW_LIST(raw_option) options;
    struct slice marked;
    struct raw_project *project;
    unsigned verbs; // allow, deny
};

struct model_file {
    struct model_parser p;
    struct model *model;
    bool unsound; // a table, an entity or a type could not be read
    bool sound;   // what is not a rule is right
    RAW_LIST(raw_type) types;
    RAW_LIST(raw_use) uses;
    RAW_LIST(raw_union) unions;
    RAW_LIST(raw_union) sets;
    RAW_LIST(raw_table) tables;
    RAW_LIST(raw_entity) entities;
    RAW_LIST(raw_mixin) mixins;
    size_t mixed; // tokens that were read again for them
    RAW_LIST(raw_access) accesses;
    RAW_LIST(raw_rule) rules;
    struct model_rules *resolved; // model->rules_of
};

// Zeroed; NULL after telling that memory is out.
MUST_CHECK void *file_alloc(struct model_file *file, size_t count, size_t size);   // the model's
MUST_CHECK void *file_scratch(struct model_file *file, size_t count, size_t size); // for a while
#define file_error(file, at, ...) diagnostic_error((file)->p.diagnostics, at, __VA_ARGS__)

// "line 5", or "line 5 of common.dolmen" if the text was made of several files. Never NULL.
const char *file_line(const struct model_file *file, uint32_t line);

// ---- Parsing --------------------------------------------------------------------------------

MUST_CHECK bool parse_table(struct model_file *file, size_t first);
MUST_CHECK bool parse_entity(struct model_file *file, size_t first);
MUST_CHECK bool parse_mixin(struct model_file *file, size_t first);
// Gives entities what their mixins have, once all of those are known.
void parse_mix(struct model_file *file);
MUST_CHECK bool parse_include(struct model_file *file, size_t first); // always an error here
MUST_CHECK bool parse_type_declaration(struct model_file *file, size_t first);
MUST_CHECK bool parse_access(struct model_file *file, size_t first);
MUST_CHECK bool parse_rule(struct model_file *file, size_t first);

// A rule's own file; and an option in braces, of publish and project.
MUST_CHECK bool read_project(struct model_file *file, struct raw_rule *raw);
MUST_CHECK bool read_allow(struct model_file *file, struct raw_rule *raw);
MUST_CHECK bool read_deny(struct model_file *file, struct raw_rule *raw);
// NAME {"," NAME}, of which there are at most as many.
MUST_CHECK bool parse_raw_names(struct model_file *file, const char *what, size_t most,
                                struct raw_name **list, size_t *count);
MUST_CHECK bool parse_option(struct model_file *file, struct raw_rule *raw);

// A name and its place.
MUST_CHECK bool parse_raw_name(struct model_parser *p, const char *what, struct raw_name *name);
// `optional` is set by a "?" or "?!" at the end.
enum raw_optional { RAW_REQUIRED, RAW_OPTIONAL, RAW_STRICT };
MUST_CHECK const struct model_type *parse_type(struct model_file *file,
                                               enum raw_optional *optional);
// A name with its type and modifiers; `field` if it is a member of an object.
MUST_CHECK bool parse_attribute(struct model_file *file, bool field, struct raw_attribute *raw);
// Words behind an attribute; one that stands first in its line, before ":" or before a type, is the
// next attribute's name.
bool parse_at_modifier(const struct model_parser *p, const char *word);
// The word of a type, in the same line as what is before it.
bool parse_is_type_word(const struct model_parser *p, const struct model_token *token);
// What else can stand behind an attribute: references X, matches "…"; *taken if one did.
MUST_CHECK bool parse_attribute_clause(struct model_file *file, struct raw_attribute *raw,
                                       bool *taken);
bool parse_at_attribute_clause(const struct model_parser *p);
// count of X, sum of X.a, behind "=".
bool parse_at_tally(const struct model_parser *p);
MUST_CHECK struct raw_tally *parse_tally(struct model_file *file);
// X where …, behind the words that say what is done with it.
MUST_CHECK bool parse_counted(struct model_file *file, bool sum, struct raw_tally *tally);
// A literal: a string, a number, true or false, encoded.
MUST_CHECK bool parse_literal(struct model_parser *p, struct slice *value);
// What an entity has beside attributes and keys: check, moves, unique (a, b), …; *taken if one was.
MUST_CHECK bool parse_clause(struct model_file *file, struct raw_entity *raw, bool *taken);
// The text of the tokens from the one at `first` to the one taken last.
struct slice parse_text_since(const struct model_parser *p, size_t first);

// cond {and cond} {or cond {and cond}}; names are not resolved.
MUST_CHECK const struct model_test *parse_test(struct model_parser *p);
// Whether what stands `ahead` of the next token reads as a test, and not as a type.
bool parse_at_test(const struct model_parser *p, size_t ahead);
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
// What is deleted softly is not shown, so that patterns have to be able to tell.
void check_deleted(struct model_file *file);
void check_clauses(struct model_file *file); // what else holds in entities
void check_references(struct model_file *file);
void check_tallies(struct model_file *file);
void check_rules(struct model_file *file);

// An expression that an attribute is given; `what` it is called: "the default".
bool check_given(struct model_file *file, const struct model_attribute *attribute,
                 const struct model_expr *expr, const char *what);
// Resolves a test. Only where an item's change is judged may it ask what has changed.
bool check_test(struct model_file *file, const struct model_test *test,
                const struct model_names *scope, bool changes);
// The entity of a rule, the attribute of an entity; NULL after telling that there is none.
struct model_entity *check_entity(struct model_file *file, const struct raw_name *name);
struct model_attribute *check_attribute_name(struct model_file *file,
                                             const struct model_entity *entity,
                                             const struct raw_name *name);
// Has the server alone count the attribute: it begins at zero.
void check_counted(struct model_file *file, const struct model_attribute *attribute,
                   struct model_place at);
const struct model_tally *check_tally(struct model_file *file, const struct model_entity *target,
                                      const struct model_attribute *attribute,
                                      const struct raw_tally *raw, bool inserts);
void check_tally_circles(struct model_file *file);
bool check_is_time(const struct model_type *type);

// Rules of one kind (check_made.c, check_rule.c): what parse_rule() has read.
void check_emit(struct model_file *file, struct raw_rule *raw);
void check_audit(struct model_file *file, struct raw_rule *raw);
void check_derive(struct model_file *file, struct raw_rule *raw);
void check_made_circles(struct model_file *file);
void check_retain(struct model_file *file, struct raw_rule *raw);
void check_keep(struct model_file *file, struct raw_rule *raw);
void check_object(struct model_file *file, struct raw_rule *raw);
void check_tenant(struct model_file *file, struct raw_rule *raw);
void check_idempotent(struct model_file *file, struct raw_rule *raw);
void check_quota(struct model_file *file, struct raw_rule *raw);
void check_publish(struct model_file *file, struct raw_rule *raw);
void check_seed(struct model_file *file, struct raw_rule *raw);
void check_project(struct model_file *file, struct raw_rule *raw);
void check_policy(struct model_file *file, struct raw_rule *raw);
// A list of `resolved` that grows by one: the place of the new entry, NULL without memory.
#define check_add(file, list, count)                                                               \
    check_grow(file, &(file)->resolved->list, &(file)->resolved->count,                            \
               sizeof(*(file)->resolved->list))
// `list` is where the pointer to the first entry is.
void *check_grow(struct model_file *file, void *list, size_t *count, size_t size);

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
