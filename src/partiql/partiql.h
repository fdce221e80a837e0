// PartiQL for DynamoDB: one statement, from its text to a plan. Two steps:
//
//   partiql_parse   needs nothing but the text and its parameters; its mistakes are of the language
//   partiql_plan    lays the statement over the keys of a table or index: what is a key condition
//                   becomes ranges of keys, the rest a filter or condition, SET and REMOVE an
//                   update
//
// A plan says what to read or write in the terms of expr/ and engine/; executing it is the API's
// business. Everything lives in the arena and borrows the text and the parameters. Messages are the
// service's.
#ifndef PARTIQL_PARTIQL_H
#define PARTIQL_PARTIQL_H

#include "engine/table.h"
#include "expr/expr.h"

enum partiql_kind {
    PARTIQL_SELECT,
    PARTIQL_INSERT,
    PARTIQL_UPDATE,
    PARTIQL_DELETE,
    PARTIQL_EXISTS, // EXISTS(SELECT …): the condition check of a transaction
};

enum partiql_returning {
    RETURNING_NOTHING,
    RETURNING_ALL_OLD,
    RETURNING_ALL_NEW,
    RETURNING_MODIFIED_OLD,
    RETURNING_MODIFIED_NEW,
};

// A parsed statement. The syntax tree behind it is private.
struct partiql_statement {
    enum partiql_kind kind;
    struct slice table; // as written: a name or an ARN, of any length
    struct slice index; // ptr NULL for the table itself
    enum partiql_returning returning;
    const struct partiql_tree *tree;
};

// `parameters` are the encoded values that stand for the question marks. NULL with the error set.
MUST_CHECK struct partiql_statement *partiql_parse(struct arena *arena, struct slice text,
                                                   size_t parameter_count,
                                                   const struct slice *parameters,
                                                   struct error *error);

// One entry of a SELECT list: what is at the path, under the name of the path's end.
struct partiql_output {
    struct path path;
    struct slice name;
};

struct partiql_plan {
    enum partiql_kind kind;

    // SELECT. Without ranges it is a Scan, with one a Query, with several a Query for each value
    // of IN, in the order of the answer.
    size_t range_count;
    struct key_range *ranges;
    bool reverse;
    const struct expr_condition *filter; // what the ranges do not say; or NULL
    size_t output_count;                 // 0 for SELECT *
    struct partiql_output *outputs;
    struct expr_paths *output_paths;    // theirs; NULL for SELECT *
    struct expr_projection *projection; // the same paths, for checks; NULL for SELECT *

    // The full primary key of the table as an item, if the WHERE clause has it; else VALUE_NONE.
    // `exact` tells that it says nothing else.
    struct slice key;
    bool exact;

    struct slice item;                      // INSERT
    const struct expr_update *update;       // UPDATE
    const struct expr_condition *condition; // INSERT, UPDATE, DELETE, EXISTS; or NULL
};

// Lays the statement over the table and, for SELECT, its index (else NULL). The key's values have
// the right types; whether they are empty or too long is judged for ranges only.
MUST_CHECK bool partiql_plan(struct arena *arena, const struct partiql_statement *statement,
                             const struct table *table, const struct index *index,
                             struct partiql_plan *out, struct error *error);

// Builds the answer to SELECT from an item: an M value.
void partiql_project(const struct partiql_plan *plan, struct slice item,
                     struct value_builder *builder, struct steps *steps);

#endif
