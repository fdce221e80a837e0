// The relational form of a model: tables, columns, keys, indexes, views and policies as a
// structure, for one dialect. `dolmen generate sql` writes it down, a projection makes it in a
// database and fills it; both read what is here, so that what is generated is what is kept in step.
//
// A schema is made of a compiled model, which it borrows, and of one of its `project` rules; or of
// no rule: then every entity has a table of the default mapping. It is immutable and lives in the
// arena it was made in. Names are those of the database, unquoted; sql_name() quotes them.
#ifndef SQL_SCHEMA_H
#define SQL_SCHEMA_H

#include "model/rules.h"

enum sql_dialect { SQL_POSTGRES, SQL_SQLITE };

// What a column holds.
// X(kind, PostgreSQL's type, SQLite's)
#define SQL_KIND_LIST(X)                                                                           \
    X(TEXT, "text", "TEXT")                                                                        \
    X(NUMERIC, "numeric", "") /* SQLite: an integer, a double, or text if neither holds it */      \
    X(BIGINT, "bigint", "INTEGER")                                                                 \
    X(BOOLEAN, "boolean", "INTEGER")                                                               \
    X(BYTES, "bytea", "BLOB")                                                                      \
    X(UUID, "uuid", "TEXT")                                                                        \
    X(TIMESTAMP, "timestamptz", "TEXT") /* SQLite: as the item has it */                           \
    X(DATE, "date", "TEXT")                                                                        \
    X(JSON, "jsonb", "TEXT")

enum sql_kind {
#define X(kind, postgres, sqlite) SQL_##kind,
    SQL_KIND_LIST(X)
#undef X
        SQL_KINDS
};

// "text", "bigint": the word of a kind in canonical texts; and its type in a dialect.
const char *sql_kind_word(enum sql_kind kind);
const char *sql_type_name(enum sql_dialect dialect, enum sql_kind kind);
// The kind of a type's column.
enum sql_kind sql_kind(const struct model_type *type);

// ---- Columns -----------------------------------------------------------------------------------

// Where a column's value comes from.
enum sql_source {
    SQL_FROM_ITEM,     // `value`, of the item
    SQL_FROM_MEMBER,   // CHILD: `value`, of the member; each() is the member itself
    SQL_FROM_POSITION, // CHILD: which member it is, from 0
    SQL_FROM_GROUP,    // GROUP: `fold`, of the rows of the table of members
};

struct sql_column {
    struct slice name;
    enum sql_kind kind;
    bool required; // NOT NULL
    bool both;     // changes of it are taken back
    enum sql_source source;
    const struct model_expr *value;          // NULL in a schema that was read from its text
    const struct model_attribute *attribute; // of the entity (or the member) if it is nothing else
    enum model_fold fold;                    // GROUP
    size_t by;                               // FIRST, LAST: the column of the members' table
    struct slice from; // what makes it, in the words of the language: columns of one `from` are one
    struct slice doc;
};

struct sql_columns {
    size_t count;
    const size_t *list; // positions in the table's columns
};

// ---- Tables ------------------------------------------------------------------------------------

struct sql_index {
    struct slice name;
    bool unique; // deferred where the dialect can; else the writer has to mind the order of rows
    struct sql_columns columns;
    const bool *descending; // for each of them
    struct slice where;     // a condition in SQL, of a partial index; or empty
};

struct sql_foreign {
    struct slice name;
    struct sql_columns columns;
    const struct sql_table *target;
    struct sql_columns keys; // of the target
    enum model_on_delete on_delete;
    bool soft; // the target's changes come from another log, so that neither is known to be first:
               // a trigger does what is to be done if a row of the target is deleted in SQL
};

enum sql_table_kind {
    SQL_TABLE_ENTITY, // a row for each item
    SQL_TABLE_CHILD,  // a row for each member of a list or set, or each entry of a map, of an item:
                      // all of an item are replaced with it
    SQL_TABLE_MEMBERS, // a row for each item, from which the rows of a GROUP are computed;
                       // "dolmen_…"
    SQL_TABLE_GROUP,   // a row for each group of items
};

struct sql_table {
    enum sql_table_kind kind;
    struct slice name;
    const struct model_entity *entity; // NULL in a schema that was read from its text
    struct slice entity_name;
    struct slice doc;
    size_t column_count;
    const struct sql_column *columns;
    struct sql_columns key; // the primary key; of a CHILD, the parent's columns and the position
    bool loose; // a column of the key can be NULL: there is no primary key but a unique index, to
                // which NULLs are the same in PostgreSQL; rows are deleted (IS NOT DISTINCT FROM,
                // IS) and inserted
    // The key does not follow from that of the item: an item can come to have another row. Whoever
    // writes deletes the row of the old image, if its key is another one.
    bool moves;
    size_t index_count;
    const struct sql_index *indexes;
    size_t foreign_count;
    const struct sql_foreign *foreigns;
    // CHILD: the table of the items; its first columns are those of the parent's key.
    const struct sql_table *parent;
    const struct model_attribute *each;
    // MEMBERS: the GROUP that is computed of it, whose columns it has, as they are before they are
    // folded. GROUP: its MEMBERS.
    const struct sql_table *group;
    // Row-level security: rows whose column is the tenant; or that refer, by the column, to a row
    // of another table that is the tenant's. Without a column and with `closed`: nobody's.
    bool closed;
    size_t tenant;                      // position of the column; column_count if there is none
    const struct sql_table *tenant_via; // or NULL
    size_t tenant_key;                  // the column of tenant_via that is referred to
    bool both;                          // some columns are taken back,
    bool both_rows;                     // and rows that come and go, too
};

struct sql_view {
    struct slice name;
    struct slice query; // SELECT …
};

struct sql_schema {
    enum sql_dialect dialect;
    struct slice name;       // of the database's schema; empty for what is usual (SQLite has none)
    struct slice projection; // the rule's name, or empty
    struct slice tenant;     // the model's tenant attribute, or empty
    size_t table_count;
    const struct sql_table **tables; // parents before children, MEMBERS before their GROUP
    size_t view_count;
    const struct sql_view *views;
};

// What to make one of.
struct sql_request {
    const struct model *model;
    const struct model_project *project; // or NULL: the default mapping
    const struct model_table *table;     // without a rule: only the entities of this one; or NULL
    enum sql_dialect dialect;
};

// NULL if names collide, or memory is out: *error says so, in the arena (or is empty: no memory).
MUST_CHECK const struct sql_schema *sql_schema_make(const struct sql_request *request,
                                                    struct arena *arena, struct slice *error);

const struct sql_table *sql_schema_table(const struct sql_schema *schema, struct slice name);
// The next table that has rows of the entity's items (ENTITY, CHILD, MEMBERS), behind `last`, which
// is NULL at first. Entities are compared by name and table, so that it may be of another model.
const struct sql_table *sql_schema_next(const struct sql_schema *schema,
                                        const struct model_entity *entity,
                                        const struct sql_table *last);
// The position of a column, or column_count.
size_t sql_table_column(const struct sql_table *table, struct slice name);
bool sql_columns_have(const struct sql_columns *columns, size_t column);

// ---- Rows --------------------------------------------------------------------------------------

// A value on its way into a column. The text is PostgreSQL's input format, whatever the kind (true,
// 12.5, 2026-11-16T09:30:00.000Z, JSON), and raw bytes for SQL_BYTES. For SQLite the form says how
// it is bound.
enum sql_form { SQL_FORM_NULL, SQL_FORM_TEXT, SQL_FORM_BYTES, SQL_FORM_INTEGER, SQL_FORM_REAL };

struct sql_value {
    enum sql_form form; // PostgreSQL: NULL, TEXT or BYTES
    struct slice text;  // NULL: empty
    int64_t integer;    // INTEGER; a boolean is 0 or 1
    double real;        // REAL
};

struct sql_row {
    const struct sql_value *values; // one for each column
};

struct sql_rows {
    size_t count;
    const struct sql_row *list;
};

// The rows of an item (an M value with all its attributes) in a table of its entity: one; of a
// CHILD, one for each member, or none. False if a column cannot take its value, or memory is out:
// *error says which and why, for people, in the arena (or is empty: no memory).
MUST_CHECK bool sql_rows_make(const struct sql_schema *schema, const struct sql_table *table,
                              struct slice item, struct arena *arena, struct sql_rows *rows,
                              struct slice *error);

// The other way, for what `both` takes back. `row` is a JSON object of columns, as the inbox has it
// (triggers of sql_create()); the attributes of those columns, as an M value in the arena. Where
// the column is NULL, the attribute is null: it is to be removed. False, with *error as above, if
// it is no such object, or a value is none of its attribute.
MUST_CHECK bool sql_row_back(const struct sql_table *table, struct slice row, struct arena *arena,
                             struct slice *item, struct slice *error);

// ---- Statements --------------------------------------------------------------------------------

// Statements in the order in which they are executed; each without its semicolon.
struct sql_statements {
    struct arena *arena;
    bool failed; // memory is out
    size_t count;
    size_t room;
    struct slice *list;
};

void sql_statements_init(struct sql_statements *out, struct arena *arena);

// A name in double quotes; "schema"."name" of a table, view or function; a text in single quotes.
void sql_name(struct buf *out, struct slice name);
void sql_qualified(struct buf *out, const struct sql_schema *schema, struct slice name);
void sql_quote(struct buf *out, struct slice text);

// Everything from nothing: the schema, tables, indexes, foreign keys, policies, views, and the
// triggers of `both`. Those write into "dolmen_inbox" (sql_inbox()), which has to be there.
void sql_create(const struct sql_schema *schema, struct sql_statements *out);
void sql_drop(const struct sql_schema *schema, struct sql_statements *out);

// What changes of columns that are taken back are written into, by the triggers:
//   id      ascending, in the order of the changes
//   name    the table's
//   act     "insert", "update" or "delete"
//   key     JSON object of the columns that are attributes of the item's key: the row before the
//           change; of an insert, after it
//   row     JSON object of the columns that are taken back and have changed; NULL of a delete
//   at      when
//   refused NULL; else why it was not done
// Triggers do nothing while the projection writes: in PostgreSQL, while the setting
// dolmen.projecting is "on" (SET LOCAL); in SQLite, while "dolmen_projecting" has a row, which the
// projection inserts first and deletes last in its transactions.
void sql_inbox(const struct sql_schema *schema, struct sql_statements *out);

// What stands in the way of a backfill, which meets items in the order of their keys: unique
// indexes and foreign keys; dropped before and made again behind it. For all tables, or those of
// one entity.
void sql_loosen(const struct sql_schema *schema, const struct sql_table *table,
                struct sql_statements *out);
void sql_tighten(const struct sql_schema *schema, const struct sql_table *table,
                 struct sql_statements *out);

// Computes the rows of a GROUP anew, for the groups that the relation `touched` names: a table with
// the columns of the group's key, as the rows of MEMBERS have them. Two statements.
void sql_group_refresh(const struct sql_schema *schema, const struct sql_table *group,
                       struct slice touched, struct sql_statements *out);
// The rows that a GROUP should have, as a query of the relation `members`, which has the columns of
// its MEMBERS. One statement.
void sql_group_select(const struct sql_schema *schema, const struct sql_table *group,
                      struct slice members, struct sql_statements *out);

// ---- Changes of a schema -----------------------------------------------------------------------

// A schema as text, which is kept beside the tables it describes; the same text for the same
// tables.
void sql_schema_text(const struct sql_schema *schema, struct buf *out);
// Reads it back: all but the expressions, the entities and what they point to. NULL if it is no
// such text, or memory is out.
MUST_CHECK const struct sql_schema *sql_schema_read(struct slice text, struct arena *arena);

struct sql_change {
    struct sql_statements before; // now
    struct sql_statements after;  // once the backfill is done: NOT NULL of new columns, and what
                                  // sql_loosen() of these tables has dropped
    bool *backfill; // for each table of the new schema: rows have to be made anew (of a GROUP,
                    // those of its MEMBERS)
    bool *anew;     // statements concern it
    bool any;       // there is something to do
};

// What makes `to` out of `from`, a schema of the same dialect. A table or column that is made of
// the same thing and has another name is renamed; a column of another type is converted where that
// cannot fail, or else made anew; a table with another key is made anew. False if memory is out.
MUST_CHECK bool sql_schema_change(const struct sql_schema *from, const struct sql_schema *to,
                                  struct arena *arena, struct sql_change *out);

#endif
