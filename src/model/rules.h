// What a model asks of the server beyond the shape of items: docs/adr/019-rules.md says which
// mechanism keeps which rule, docs/MODEL.md is the manual. All of it is resolved: entities and
// attributes are pointers, what a rule needs is there, or model_parse() has refused the file.
//
// Lives in the model's arena, as everything of a model does.
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include "model/model.h"

// ---- Tests -----------------------------------------------------------------------------------

// One comparison. The left side is any expression; of EXISTS, MISSING and CHANGED, a path.
struct model_comparison {
    const struct model_expr *left;
    enum model_op op;
    const struct model_expr *values[2]; // two for BETWEEN, none for EXISTS, MISSING, CHANGED
    struct model_place at;
};

// Comparisons that must all hold; a test holds if one of its clauses does.
struct model_clause {
    size_t count;
    const struct model_comparison *list;
};

struct model_test {
    struct slice text; // as written
    size_t clause_count;
    const struct model_clause *clauses;
    struct model_place at;
};

// ---- In entities -----------------------------------------------------------------------------

// check TEST "message"
struct model_check_rule {
    const struct model_test *test;
    struct slice message; // or empty
    struct slice doc;
    struct model_place at;
};

// unique (a, b): no two items of the entity have the same values, all of which are there.
struct model_unique {
    size_t count;
    const struct model_attribute **attributes;
    struct model_place at;
};

// moves a: x -> y: the values that an attribute may take from the one it has. A new item may begin
// with any value that some step leaves from, or with its default.
struct model_move {
    struct slice from; // an encoded value
    struct slice to;
};
struct model_moves {
    const struct model_attribute *attribute;
    struct slice text; // as written, behind the colon
    size_t count;
    const struct model_move *list;
    struct model_place at;
};

// What becomes of the items that refer to one that is deleted. LEAVE is what is not written: they
// are let be, so that no way to find them is needed (and `index` says nothing).
enum model_on_delete {
    MODEL_DELETE_REJECT,
    MODEL_DELETE_CASCADE,
    MODEL_DELETE_CLEAR,
    MODEL_DELETE_LEAVE,
};
extern const char *const model_on_delete_words[]; // of the first three

// a, b to ENTITY: the attributes, in the order of the target's address (guard/address.h), that name
// an item which has to be there. If one of them is missing or null, nothing is referred to.
struct model_reference {
    const struct model_entity *entity; // that has it
    const struct model_entity *target;
    size_t count;
    const struct model_attribute **attributes; // of the entity
    const struct model_attribute **keys;       // of the target: what each of them is there
    enum model_on_delete on_delete;
    // How the entity's items that refer to one are found: the whole partition key (and the sort key
    // up to a literal, if there is one) follows from the reference.
    const struct model_index *index; // NULL: the table's own key
    struct model_place at;
};

// An attribute that is joined: that of the source, and what it is in the target.
struct model_join {
    const struct model_attribute *source;
    const struct model_attribute *target;
};

// = count of SOURCE where …; = sum of SOURCE.amount where …
struct model_tally {
    struct slice id;                   // "Album.mediaCount", for the note and for what is pending
    struct slice text;                 // as written: count of AlbumMedia
    const struct model_entity *source; // whose items are counted
    const struct model_entity *target; // whose attribute it is
    const struct model_attribute *attribute;
    const struct model_attribute *amount; // of the source; NULL counts
    size_t join_count;                    // one for each attribute of the target's address
    const struct model_join *joins;
    const struct model_test *filter; // of the source; NULL for all
    // quota … counting: what is counted is that there are new items; that some go does not count.
    bool inserts;
    struct model_place at;
};

// ---- Rules -----------------------------------------------------------------------------------

enum model_event { MODEL_INSERT = 1, MODEL_MODIFY = 2, MODEL_REMOVE = 4 };

// NAME = expr, of an item that is made.
struct model_assignment {
    const struct model_attribute *attribute; // of the item that is made
    const struct model_expr *value;          // names are those of the source
    struct model_place at;
};

// emit, audit, derive: an item of `target` that a change of an item of `source` makes.
enum model_made_by { MODEL_EMIT, MODEL_AUDIT, MODEL_DERIVE };
struct model_made {
    enum model_made_by by;
    const struct model_entity *source;
    const struct model_entity *target;
    unsigned events;                    // EMIT, AUDIT: of enum model_event
    const struct model_test *when;      // or NULL
    const struct model_template *name;  // EMIT: of the event
    const struct model_attribute *each; // DERIVE: the list or set, an item for each member; or NULL
    const struct model_attribute *member; // DERIVE each: of the target, what holds the member
    bool before;                          // AUDIT: with the old image,
    bool after;                           // and the new one
    size_t
        assignment_count; // all that the item gets beyond defaults: those of the file first, then
    const struct model_assignment *assignments; // the attributes of the same name
    struct model_place at;
};

enum model_fate { MODEL_ARCHIVE, MODEL_DELETE };
extern const char *const model_fate_words[];

// retain ENTITY for SECONDS after ATTRIBUTE [when TEST] then FATE
struct model_retain {
    const struct model_entity *entity;
    uint64_t seconds;
    const struct model_attribute *after; // a time
    bool after_delete;                   // `after` is the entity's softdelete attribute
    const struct model_test *when;       // or NULL
    enum model_fate fate;
    struct model_place at;
};

// keep ENTITY latest COUNT by ATTRIBUTE per ATTRIBUTE, … then FATE
struct model_keep {
    const struct model_entity *entity;
    uint64_t count;
    const struct model_attribute *by;
    size_t per_count;
    const struct model_attribute **per;
    enum model_fate fate;
    struct model_place at;
};

// idempotent ENTITY by EXPR for SECONDS
struct model_idempotent {
    const struct model_entity *entity;
    const struct model_expr *by;
    uint64_t seconds;
    struct model_place at;
};

enum model_period { MODEL_NO_PERIOD, MODEL_HOUR, MODEL_DAY, MODEL_WEEK, MODEL_MONTH, MODEL_YEAR };
extern const char *const model_period_words[];

// quota ENTITY.ATTRIBUTE at most LIMIT [when TEST] {, LIMIT [when TEST]} [per PERIOD resets
// ATTRIBUTE]
struct model_limit {
    const struct model_expr *value;
    const struct model_test *when; // or NULL
};
struct model_quota {
    const struct model_entity *entity;
    const struct model_attribute *attribute;
    size_t limit_count; // the first whose test holds counts; none: no limit
    const struct model_limit *limits;
    enum model_period period;
    const struct model_attribute *resets; // when the period ends; NULL without a period
    const struct model_tally *counting;   // or NULL: the application counts
    struct model_place at;
};

// allow VERBS ENTITY [to TEST]
// deny VERBS of ATTRIBUTES of ENTITY [unless TEST]
// See docs/adr/026-model-policies.md. Sides of comparisons are paths, tags, actor() and literals.
enum model_verb {
    MODEL_MAY_READ = 1,
    MODEL_MAY_INSERT = 2,
    MODEL_MAY_UPDATE = 4,
    MODEL_MAY_DELETE = 8,
    MODEL_MAY_WRITE = MODEL_MAY_INSERT | MODEL_MAY_UPDATE | MODEL_MAY_DELETE,
};
struct model_policy {
    const struct model_entity *entity;
    bool deny;
    unsigned verbs;         // of enum model_verb; of a deny, never DELETE
    size_t attribute_count; // of a deny
    const struct model_attribute **attributes;
    const struct model_test *test; // under which it allows, or does not deny; NULL: always, never
    struct model_place at;
};

// Whether some entity of the table has a policy.
bool model_table_policed(const struct model_table *table);
// Whether what the attribute is, or a part of it, can be read out of that part of a key.
bool model_key_part_shows(const struct model_key_part *part,
                          const struct model_attribute *attribute);

// publish ENTITY to "target" { options }
struct model_option {
    struct slice name;
    struct slice source; // secret env "X": env, file; else empty
    struct slice value;  // text
    struct model_place at;
};
struct model_object;
struct model_publish {
    const struct model_entity *entity;
    struct slice name;             // of the consumer: the entity's, and a number if it has several
    struct slice target;           // a URL
    const struct model_test *when; // or NULL
    const struct model_attribute *mark; // set once the event is delivered; or NULL
    struct slice marked;                // to this value
    size_t option_count;
    const struct model_option *options;
    // Of `object … { on delete delete }`: what is told is that items go, to the store. Else NULL.
    const struct model_object *object;
    struct model_place at;
};

// object ENTITY.NAME = "path" signed SECONDS { type …  at most SIZE  on delete FATE  in "s3://…" }
// object ENTITY.LIST[] = …: a file for each member of a list, which each() is; of LIST[].FIELD, the
// field of it.
struct model_object {
    const struct model_entity *entity;
    struct slice name;                  // the list's, if it is one
    const struct model_attribute *each; // the list; or NULL
    struct slice member;                // the field; or empty
    const struct model_template *path;
    uint64_t seconds;
    size_t type_count;         // none: any
    const struct slice *types; // "image/jpeg"; "image/*" is all that begins so
    uint64_t most;             // bytes; 0: whatever the store takes
    bool on_delete;            // it goes with the item
    struct slice bucket;       // or empty: that of the server
    struct slice prefix;       // of all paths, with a slash at its end; or empty
    struct model_place at;
};

// ---- project ENTITY, … into "address" { mappings } -------------------------------------------

// How the values of a group's items become one.
enum model_fold {
    MODEL_FOLD_NONE, // all of them have the same: it is made of what they are grouped by
    MODEL_FOLD_COUNT,
    MODEL_FOLD_SUM,
    MODEL_FOLD_MIN,
    MODEL_FOLD_MAX,
    MODEL_FOLD_FIRST, // that of the item with the least or the greatest `by`
    MODEL_FOLD_LAST,
};
extern const char *const model_fold_words[]; // "", count, sum, min, max, first, last

// NAME, or NAME = expr
struct model_column {
    struct slice name;
    const struct model_expr *value; // names are those of the entity; in `each`, of the members, and
                                    // each() is the member itself. NULL: COUNT
    enum model_kind as;             // NAME: timestamp, NAME: epoch; or MODEL_ANY
    enum model_fold fold;           // in groups
    const struct model_attribute *by; // FIRST, LAST
    struct model_place at;
};

// key (a, b); unique (a); index (a, b DESC); both (a): names of columns
struct model_columns {
    size_t count;
    const struct slice *names;
    const bool *descending; // of an index; else NULL
    struct slice name;      // index "name" (…); or empty
    struct model_place at;
};

// references ENTITY (a, b) on delete …: columns that have the key of a row of the entity's table.
struct model_foreign {
    const struct model_entity *target;
    struct model_columns columns;
    enum model_on_delete on_delete;
    struct model_place at;
};

// each ATTRIBUTE as "table" { columns }
struct model_each {
    const struct model_attribute *attribute;
    const struct model_type *member; // the type of a member
    struct slice name;
    size_t column_count;
    const struct model_column *columns;
    struct model_place at;
};

// ENTITY as "table" { … }; group ENTITY by a, b as "table" { … }
struct model_mapping {
    const struct model_entity *entity;
    struct slice name;
    bool group;
    size_t by_count; // group
    const struct model_attribute **by;
    size_t column_count; // none: all attributes but `except`
    const struct model_column *columns;
    size_t except_count;
    const struct model_attribute **except;
    struct model_columns key; // none: the attributes of the item's key, or what it is grouped by
    size_t unique_count;
    const struct model_columns *uniques;
    size_t index_count;
    const struct model_columns *indexes;
    size_t foreign_count;
    const struct model_foreign *foreigns;
    size_t each_count;
    const struct model_each *eaches;
    bool both;                         // what is changed in SQL comes back:
    struct model_columns columns_both; // these columns; none: all that can, and whole rows
    struct slice tenant_via;           // tenant via COLUMN to …: a column, or empty
    struct slice tenant_to;            // the table it refers to; that of an entity by its mapping
    const struct model_entity *tenant_entity; // or of the entity's default mapping; else NULL
    struct model_place at;
};

// view "name" = ENTITY where TEST; view "name" = sql "SELECT …"
struct model_sql_view {
    struct slice name;
    const struct model_entity *entity; // or NULL
    const struct model_test *where;    // or NULL
    struct slice sql;
    struct model_place at;
};

struct model_project {
    struct slice name;   // of the consumer: "project", and a number if there are several
    struct slice target; // a URL: postgresql:, postgres:, sqlite:
    size_t entity_count;
    const struct model_entity **entities;
    size_t option_count; // schema, user, password
    const struct model_option *options;
    bool tenant; // tables that do not say whose their rows are are nobody's
    size_t mapping_count;
    const struct model_mapping *mappings;
    size_t view_count;
    const struct model_sql_view *views;
    struct model_place at;
};

// seed ENTITY { a = value }: an item of literals.
struct model_seed {
    const struct model_entity *entity;
    struct slice item; // an M value without keys, defaults and type
    struct model_place at;
};

// All of a model's, in the order of the file. Whoever works on one table takes those whose entity
// is of that table.
struct model_rules {
    size_t made_count;
    const struct model_made *made;
    size_t retain_count;
    const struct model_retain *retains;
    size_t keep_count;
    const struct model_keep *keeps;
    size_t idempotent_count;
    const struct model_idempotent *idempotents;
    size_t quota_count;
    const struct model_quota *quotas;
    size_t policy_count;
    const struct model_policy *policies;
    size_t publish_count;
    const struct model_publish *publishes;
    size_t object_count;
    const struct model_object *objects;
    size_t project_count;
    const struct model_project *projects;
    size_t seed_count;
    const struct model_seed *seeds;
    // Gathered from the entities, for whoever starts from the other end.
    size_t tally_count;
    const struct model_tally **tallies;
    size_t reference_count;
    const struct model_reference **references;
};

#endif
