// A compiled model: what a .dolmen file says of tables, entities and access patterns, checked and
// resolved. docs/MODEL.md is the manual of the language.
//
// A model is immutable and lives in its arena; everything here points into it (source text too) and
// is valid as long as the model. Names are resolved: a template knows its attribute, a pattern its
// index. Whatever could be wrong with the text is found by model_parse(); afterwards deriving,
// validating and querying meet only bad data, never a bad model.
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/diagnostic.h"
#include "value/key.h"
#include "value/value.h"

// The functions that only migrations have: they take old values apart and put them together anew.
// X(function, name, least arguments, most arguments)
#define MIGRATION_FUNCTION_LIST(X)                                                                 \
    X(SPLIT, "split", 2, 3)     /* text, separator: a list; with a position, one of the parts */   \
    X(JOIN, "join", 2, 2)       /* a list or set, and what stands between its members */           \
    X(REPLACE, "replace", 3, 3) /* text, what, by what: everywhere */                              \
    X(SUBSTRING, "substring", 2, 3) /* text, first character, how many */                          \
    X(CONCAT, "concat", 1, 32)      /* texts, or lists */                                          \
    X(NUMBER, "number", 1, 1)       /* of a text */                                                \
    X(TEXT, "text", 1, 1)           /* of a number, a boolean, bytes */                            \
    X(EPOCH, "epoch", 1, 1)         /* a time as seconds since 1970 */                             \
    X(TIMESTAMP, "timestamp", 1, 1) /* a time as text */                                           \
    X(SCALE, "scale", 2, 2)         /* a number times a power of ten: scale(cents, -2) */          \
    X(LIST, "list", 1, 32)          /* of values; of a set's members */                            \
    X(SET, "set", 1, 32)            /* of values; of a list's members */                           \
    X(ELEMENT, "element", 2, 2)     /* of a list, by its position */                               \
    X(COALESCE, "coalesce", 1, 32)  /* the first that is there */                                  \
    X(CHOOSE, "choose", 3, 32)      /* choose(x, a, 1, b, 2, otherwise) */

struct model_table;
struct model_entity;
struct model_attribute;

// How the text of an attribute is changed before it is judged.
enum model_normal {
    MODEL_LOWER = 1,
    MODEL_UPPER = 2,
    MODEL_TRIM = 4,
    MODEL_SECONDS = 8, // times: 2026-11-16T09:30:00Z
    MODEL_MILLISECONDS = 16,
    MODEL_MICROSECONDS = 32,
    MODEL_SQUEEZE = 64, // blanks inside of text: one instead of several
    MODEL_NFC = 128,    // Unicode's composed form
    MODEL_TIMES = MODEL_SECONDS | MODEL_MILLISECONDS | MODEL_MICROSECONDS,
};

// ---- Types -------------------------------------------------------------------------------

// X(kind, name in the language, the type an item stores it as or VALUE_TYPES if several)
#define MODEL_TYPE_LIST(X)                                                                         \
    X(STRING, "string", VALUE_S)                                                                   \
    X(NUMBER, "number", VALUE_N)                                                                   \
    X(INTEGER, "integer", VALUE_N)                                                                 \
    X(BOOLEAN, "boolean", VALUE_BOOL)                                                              \
    X(BINARY, "binary", VALUE_B)                                                                   \
    X(UUID, "uuid", VALUE_S)                                                                       \
    X(TIMESTAMP, "timestamp", VALUE_S) /* ISO 8601 in UTC, see model_type.form */                  \
    X(DATE, "date", VALUE_S)           /* 2026-11-16 */                                            \
    X(EPOCH, "epoch", VALUE_N)         /* whole seconds since 1970 */                              \
    X(EMAIL, "email", VALUE_S)                                                                     \
    X(URL, "url", VALUE_S)                                                                         \
    X(ANY, "any", VALUE_TYPES)                                                                     \
    X(NULL, "null", VALUE_NULL)                                                                    \
    X(LITERAL, "", VALUE_TYPES)  /* "a", 5, true */                                                \
    X(LIST, "", VALUE_L)         /* T[] */                                                         \
    X(SET, "", VALUE_TYPES)      /* set<string>, set<number>, set<binary> */                       \
    X(RECORD, "", VALUE_M)       /* Record<string, T> */                                           \
    X(OBJECT, "object", VALUE_M) /* { a: T  b: T? }, or any map if it has no fields */             \
    X(UNION, "", VALUE_TYPES)    /* T | U */

enum model_kind {
#define X(kind, name, stored) MODEL_##kind,
    MODEL_TYPE_LIST(X)
#undef X
        MODEL_KINDS
};

// A limit of a range: the stored form of a number (value/number.h); empty if there is none.
struct model_type {
    enum model_kind kind;
    struct slice name;    // of a named type ("type ThumbnailUrls {…}"), else empty
    struct slice doc;     // of a named type
    struct slice written; // of a named type that is no object: as it stands in the file
    struct slice min;     // NUMBER, INTEGER, EPOCH: of the value; STRING, BINARY, LIST, SET: of the
    struct slice max;     // length (characters, bytes, members)
    struct slice literal; // LITERAL: an encoded value (S, N or BOOL)
    unsigned form;        // TIMESTAMP: one of MODEL_TIMES, or 0: any date and time with a zone
    const struct model_type *item;        // LIST, SET, RECORD: of each member
    size_t option_count;                  // UNION
    const struct model_type **options;    // never unions themselves
    size_t field_count;                   // OBJECT
    const struct model_attribute *fields; // sorted by name
};

// ---- Expressions and templates -----------------------------------------------------------

// X(function, name, least arguments, most arguments)
#define MODEL_FUNCTION_LIST(X)                                                                     \
    X(NOW, "now", 0, 0) /* the type of the attribute decides: timestamp, date, epoch */            \
    X(UUID, "uuid", 0, 0)                                                                          \
    X(ULID, "ulid", 0, 0)                                                                          \
    X(LOWER, "lower", 1, 1)                                                                        \
    X(UPPER, "upper", 1, 1)                                                                        \
    X(TRIM, "trim", 1, 1)                                                                          \
    X(PAD, "pad", 2, 2)             /* number to that many digits, text to that many characters */ \
    X(SHA256, "sha256", 1, 32)      /* hex digest of the arguments' texts, each ended by a NUL */  \
    X(DATE_PART, "date", 2, 2)      /* a time and a pattern: date(createdAt, 'yyyy/mm/dd') */      \
    X(SIZE, "size", 1, 1)           /* characters of text, members of a list, set or map */        \
    X(FIXED, "fixed", 2, 2)         /* number with that many digits behind the point */            \
    X(ESCAPE, "escape", 1, 2)       /* text in which a separator is written as %23 */              \
    X(FORBID, "forbid", 1, 2)       /* text in which no separator may stand */                     \
    X(RAW, "raw", 1, 1)             /* text as it is, whatever the table says of separators */     \
    X(ACTOR, "actor", 0, 0)         /* who asked for the write */                                  \
    X(OPERATION, "operation", 0, 0) /* and how: "UpdateItem" */                                    \
    X(ITEM, "item", 0, 0)           /* the item itself, in rules; and as it was before */          \
    X(OLD, "old", 0, 0)                                                                            \
    X(EACH, "each", 0, 0)   /* in `derive … from each`: the member */                            \
    X(EVENT, "event", 0, 0) /* in `emit`, `audit`: the event's name */                             \
    MIGRATION_FUNCTION_LIST(X)

enum model_function {
#define X(function, name, least, most) MODEL_FN_##function,
    MODEL_FUNCTION_LIST(X)
#undef X
        MODEL_FUNCTIONS
};

#define MODEL_FN_OF_MIGRATIONS MODEL_FN_SPLIT // from here on: only in migrations

enum model_expr_kind {
    MODEL_EXPR_VALUE,    // a literal; a duration (7d) is its number of seconds
    MODEL_EXPR_PATH,     // an attribute, or a member of one: request.seed
    MODEL_EXPR_PARAM,    // a parameter of an access pattern
    MODEL_EXPR_TEMPLATE, // "{firstName} {lastName}"
    MODEL_EXPR_CALL,     // function(args)
    MODEL_EXPR_ELSE,     // a ?? b: b where a is missing or null
    MODEL_EXPR_ADD,      // numbers; or a time (timestamp, epoch) and seconds
    MODEL_EXPR_SUBTRACT,
    MODEL_EXPR_MULTIPLY, // numbers
    MODEL_EXPR_TAG,      // actor.NAME in a policy: the caller's tag, which is always text
};

struct model_template;

// A tree that is small and never changes. Evaluation: guard/eval.h.
struct model_expr {
    enum model_expr_kind kind;
    struct model_place at;                   // in the file
    struct slice value;                      // VALUE: encoded
    bool duration;                           // VALUE: was written as a duration
    size_t step_count;                       // PATH: names, the first is the attribute's
    const struct slice *steps;               // TAG: its name is the second
    const struct model_attribute *attribute; // PATH: what the first step names, or NULL if the
                                             // entity does not declare it
    size_t param;                            // PARAM: its position in the pattern
    const struct model_template *template;
    enum model_function function;
    size_t arg_count; // CALL; ELSE, ADD, SUBTRACT have two
    const struct model_expr **args;
};

// "USER#{userId}": literal texts and expressions in turn.
struct model_segment {
    struct slice literal; // unescaped; used if expr is NULL
    const struct model_expr *expr;
};

struct model_template {
    struct slice source; // as written, without the quotes
    // The template is nothing but one attribute, unchanged: the key keeps that attribute's own
    // type (N stays N). So is a native key, for which the file has no template at all. Where the
    // key is a number, it may be any expression that gives one: likes ?? 0.
    bool bare;
    size_t segment_count;
    const struct model_segment *segments;
};

// ---- Entities ----------------------------------------------------------------------------

struct model_tally;
struct model_matcher;
struct model_test;
struct model_rules;

struct model_attribute {
    struct slice name;
    struct slice doc;      // comment above it or behind it, without slashes; may be empty
    struct model_place at; // of its name in the file
    const struct model_type *type;
    struct slice written;               // the type as it stands in the file, with its mark
    bool optional;                      // may be absent, and null unless it is strict
    bool strict;                        // "?!": absent, but not null
    const struct model_expr *otherwise; // default, or NULL
    bool on_update;                     // the default is taken again at each write
    bool unique;                        // among the items of its entity
    bool immutable;                     // cannot change once it is there
    bool version;                       // 1 at first, one more with each change
    bool always;                        // computed: it is its default at each write, and no other
    bool deprecated;
    struct slice pattern;                // what text must look like; empty for anything
    const struct model_matcher *matches; // the same, compiled (model/matcher.h); or NULL
    const struct model_tally *tally;     // counted by the server; or NULL. Its default is 0
    bool counted;                        // that, or `quota … counting`: clients cannot set it
    unsigned normal;                     // enum model_normal; that of its type, too
};

// How a key part (of the table, or of one index) comes about in an entity's items.
struct model_key_part {
    struct slice name;                     // the item's attribute: "GSI1PK"
    const struct model_template *template; // NULL: the entity says nothing; a native attribute
                                           // that happens to be there is taken
    struct model_place at;
};

// An entity's entry in one index. All parts are derived or, if one cannot be, none. An entity is in
// an index if it says so: by a template, by naming its own attributes, or because the index is for
// all.
struct model_entry {
    const struct model_index *index;
    bool stated;
    bool outside; // it is not in the index, but its items can have all attributes of the key
    const struct model_test *when; // there is an entry only if this holds; NULL: always
    struct model_place at;
    struct model_key_part parts[2 * LIMIT_KEY_PARTS]; // as index->keys.parts
};

// What becomes of the table's separator inside of values, in templates of several parts.
enum model_separator { MODEL_SEPARATOR_ANY, MODEL_SEPARATOR_FORBID, MODEL_SEPARATOR_ESCAPE };
enum model_mode { MODEL_OFF, MODEL_WARN, MODEL_ENFORCE }; // guard
enum model_leave {
    MODEL_ALLOW,
    MODEL_REPORT,
    MODEL_REJECT
}; // unknown, unmatched: allow|warn|reject

struct model_entity {
    const struct model_table *table;
    struct slice name;
    struct slice type_value; // what the table's type attribute holds; the name, if not given
    struct slice doc;
    struct model_place at;
    enum model_mode guard;
    enum model_leave unknown;
    struct model_key_part keys[2]; // of the table: hash, range
    size_t entry_count;            // one for each index of the table, in the same order
    const struct model_entry *entries;
    size_t attribute_count;
    const struct model_attribute *attributes; // in the order of the file
    const uint16_t *by_name;                  // positions in attributes, sorted by name

    // What else holds for its items: see rules.h.
    bool append_only;
    bool shared;                              // all tenants may read it
    bool kept;                                // the server makes its items: derive, audit
    const struct model_attribute *softdelete; // set when an item is deleted; or NULL
    const struct model_attribute *tenant;     // whose item it is; NULL if that is not said
    size_t unique_count;                      // of several attributes
    const struct model_unique *uniques;
    size_t check_count;
    const struct model_check_rule *checks;
    size_t moves_count;
    const struct model_moves *moves;
    size_t reference_count;
    const struct model_reference *references;
};

// Whether a value stands for an optional attribute that is not there.
static inline bool model_is_absent(const struct model_attribute *attribute, struct slice value)
{
    return attribute->optional && !attribute->strict && value.ptr[0] == VALUE_TAG_NULL;
}

// ---- Tables ------------------------------------------------------------------------------

enum model_projection { MODEL_PROJECT_ALL, MODEL_PROJECT_KEYS, MODEL_PROJECT_INCLUDE };
enum model_stream {
    MODEL_STREAM_NONE,
    MODEL_STREAM_KEYS_ONLY,
    MODEL_STREAM_NEW_IMAGE,
    MODEL_STREAM_OLD_IMAGE,
    MODEL_STREAM_BOTH,
};

struct model_index {
    struct slice name;
    struct slice doc;
    struct model_place at;
    bool local;
    bool open; // "for all": every entity that has its attributes is in it
    struct key_schema keys;
    enum model_projection projection;
    size_t include_count;
    const struct slice *include;
};

struct model_table {
    const struct model *model;
    struct slice name;
    struct slice doc;
    struct model_place at;
    struct key_schema keys;
    size_t index_count;
    const struct model_index *indexes;
    struct slice type_attribute; // empty if entities are told by their keys alone
    struct slice ttl_attribute;
    struct slice separator; // "#", if the file says nothing else
    enum model_separator separating;
    enum model_stream stream;
    bool pitr;
    bool provisioned; // else on demand
    uint64_t read_units;
    uint64_t write_units;
    enum model_mode guard;
    enum model_leave unknown;
    enum model_leave unmatched;
    size_t entity_count;
    const struct model_entity *entities;
    size_t access_count;
    const struct model_access *accesses;
    struct slice tenant; // the attribute that says whose an item is; empty without tenants
};

// ---- Access patterns -----------------------------------------------------------------------

struct model_param {
    struct slice name;
    const struct model_type *type; // as written, or the attribute's of that name, or string
};

// X(operator, text in the file)
#define MODEL_OP_LIST(X)                                                                           \
    X(EQUAL, "=")                                                                                  \
    X(NOT_EQUAL, "!=") /* filters only, as all below BETWEEN */                                    \
    X(LESS, "<")                                                                                   \
    X(AT_MOST, "<=")                                                                               \
    X(MORE, ">")                                                                                   \
    X(AT_LEAST, ">=")                                                                              \
    X(BEGINS, "begins")                                                                            \
    X(BETWEEN, "between")                                                                          \
    X(CONTAINS, "contains")                                                                        \
    X(EXISTS, "exists")                                                                            \
    X(MISSING, "missing")                                                                          \
    X(CHANGED, "changed") /* in tests of rules: it is not what it was */

enum model_op {
#define X(op, text) MODEL_OP_##op,
    MODEL_OP_LIST(X)
#undef X
        MODEL_OPS
};

struct model_condition {
    size_t step_count; // a path; one step in key conditions
    const struct slice *steps;
    enum model_op op;
    const struct model_expr *values[2]; // two for BETWEEN, none for EXISTS and MISSING
    struct model_place at;
};

// A pattern's whole key condition is here, also what the file leaves to us to complete.
struct model_access {
    const struct model_table *table;
    struct slice name;
    struct slice doc;
    struct model_place at;
    size_t param_count;
    const struct model_param *params;
    bool one;   // at most one item is expected
    bool count; // how many there are is asked, not which
    bool get;   // the whole primary key is given: GetItem instead of Query
    size_t entity_count;
    const struct model_entity **entities; // that may come back; at least one
    const struct model_index *index;      // NULL for the table
    size_t key_count;                     // conditions on hash parts (EQUAL), then on range parts
    struct model_condition keys[2 * LIMIT_KEY_PARTS];
    size_t filter_count; // all must hold
    const struct model_condition *filters;
    bool descending; // newest first
    bool consistent;
    uint64_t limit; // 0: none
};

// ---- The words of the language ---------------------------------------------------------------

// For the values of an enumeration, in its order; the lists end with NULL. What is parsed and what
// is shown come from the same ones.
extern const char *const model_mode_words[];
extern const char *const model_leave_words[];
extern const char *const model_stream_words[];
extern const char *const model_op_words[];
extern const char *const model_separator_words[];
extern const char *const model_form_words[]; // any, seconds, milliseconds, microseconds
extern const char *const model_function_words[];
// Types by their kind, "" for those that have no word; and "list" behind them.
extern const char *const model_type_words[MODEL_KINDS + 1];

// A word behind an attribute: it sets a flag, or one of enum model_normal.
struct model_modifier {
    const char *word;
    size_t flag; // where it is in struct model_attribute
    unsigned normal;
};
extern const struct model_modifier model_modifiers[]; // ends with NULL

// ---- Rules -----------------------------------------------------------------------------------

// Every rule as it stands in the file, for documents and comparisons; what it means is in
// model->rules_of (rules.h).
struct model_rule {
    struct slice kind;   // "retain"
    struct slice entity; // the entity it speaks of, or empty
    struct slice text;   // the whole rule as written
    struct slice doc;
    struct model_place at;
};

// A comment "lint: ignore CODE, CODE" holds for its line and the declaration that follows.
struct model_suppression {
    struct slice code;
    uint32_t line;
    uint32_t until; // last line it holds for
};

struct model {
    struct arena arena;
    struct budget_account account; // of the arena
    _Atomic unsigned references;
    struct slice file; // for messages
    struct slice text; // a copy of the source
    size_t table_count;
    const struct model_table *tables;
    size_t type_count;
    const struct model_type **types; // named ones, in the order of the file
    size_t rule_count;
    const struct model_rule *rules;
    const struct model_rules *rules_of; // the same, resolved; never NULL
    size_t suppression_count;
    const struct model_suppression *suppressions;
};

// Parses and checks a file. NULL if it has errors, which are in `diagnostics` (which may have
// warnings otherwise). The text is copied. One reference for the caller.
MUST_CHECK struct model *model_parse(struct slice file, struct slice text,
                                     struct diagnostics *diagnostics);
// The same, counted in the account's budget; the account says afterwards whether that has refused.
MUST_CHECK struct model *model_parse_counted(struct slice file, struct slice text,
                                             struct diagnostics *diagnostics,
                                             struct budget_account *account);
struct model *model_hold(struct model *model);
void model_release(struct model *model); // NULL is fine

const struct model_table *model_table(const struct model *model, struct slice name);
const struct model_index *model_table_index(const struct model_table *table, struct slice name);
const struct model_entity *model_table_entity(const struct model_table *table, struct slice name);
const struct model_access *model_table_access(const struct model_table *table, struct slice name);
const struct model_attribute *model_entity_attribute(const struct model_entity *entity,
                                                     struct slice name);
// Whether what a pattern reads has the attribute, if the item does.
bool model_access_reads(const struct model_access *access, struct slice name);
// Whether a pattern may meet items of the entity that are deleted softly: it has to look.
bool model_access_meets_deleted(const struct model_access *access,
                                const struct model_entity *entity);
// A field of an OBJECT type, or NULL.
const struct model_attribute *model_type_field(const struct model_type *type, struct slice name);

// Calls visit() for the expression and everything in it, templates included.
void model_expr_visit(const struct model_expr *expr,
                      void (*visit)(void *context, const struct model_expr *part), void *context);

// What items store a type's values as: VALUE_S for uuid or "a" | "b", and null left aside.
// VALUE_TYPES if it can be several.
enum value_type model_type_stored(const struct model_type *type);
// Whether it, or an option of it, is of this kind. NULL is of none.
bool model_type_has(const struct model_type *type, enum model_kind kind);
// The form that times of this type have, or 0: it is no time, or may be other text as well.
unsigned model_type_form(const struct model_type *type);
// The type of what a resolved path names, or NULL if the model does not say.
const struct model_type *model_path_type(const struct model_expr *path);
// "?" or "?!" behind the type of an optional attribute, else "".
const char *model_optional_mark(const struct model_attribute *attribute);
// A type as the language writes it: "user" | "admin", number(1..10), ThumbnailUrls?
void model_type_text(const struct model_type *type, struct buf *out);
// A value as the language writes it: "x", 5, true, [], {}, null.
void model_literal_text(struct slice value, struct buf *out);

// ---- Whether a scalar is of a type (forms.c) ---------------------------------------------------

// A scalar as a value, or as a member of a set: its tag and its bytes.
bool model_scalar_fits(const struct model_type *type, enum value_tag tag, struct slice bytes);
// Whether a length is in the range of a type.
bool model_length_fits(const struct model_type *type, size_t length);

#endif
