// May they: what policies say of a call (docs/adr/024-gate.md). Where a call has no caller nothing
// is asked.
//
// A decision is made of the decoded request alone, before anything is read, so that it cannot tell
// what is stored; what it knows of a table is its name, its key schema, its tags and its resource
// policy. authorize_list.h says for each operation what it asks for. What begins without a decoded
// request (PartiQL's statements, the data API) asks by call_ask() itself; what forgets to ask finds
// no table (call_any_table).
//
// What is not allowed ends in AccessDeniedException. If the caller is only to be warned, it is
// noted in call->decision, call->usage and call->warnings, and done.
#ifndef CALL_AUTHORIZE_H
#define CALL_AUTHORIZE_H

#include "call/operation.h"
#include "partiql/partiql.h"

// ---- Operations ---------------------------------------------------------------------------------

// What an operation asks for.
struct authorize_row {
    struct slice action; // "dynamodb:GetItem"
    enum policy_action_id id;
    // Asks for all that the request needs; `at` is where in it the name or ARN stands.
    bool (*ask)(struct api_call *call, const struct authorize_row *row, const void *request);
    size_t at;
};

// By AUTHORIZE_GetItem, …: a row of the list of operations that has none here does not compile.
extern const struct authorize_row authorize_rows[];

// Whether the caller of the call, which is decoded, may do it. Only if there is a caller.
MUST_CHECK bool call_authorize(struct api_call *call);

// ---- Questions ----------------------------------------------------------------------------------

// One question: an action on a resource, and what its condition keys are made of when a statement
// asks for them. All of it is borrowed until call_ask() returns.
struct ask {
    struct slice action;
    enum policy_action_id id;

    // The resource: a table, or what belongs to it …
    struct slice table; // name or ARN; the region is the call's
    const char *part;   // "index", "stream", "backup", …; NULL for the table itself
    struct slice part_id;
    // … or any, if this is set. Its policy and tags are those of the table, if there is one.
    struct slice resource;

    // Items to be put, of which there are `whole`, and keys: of them come the leading keys and
    // names of attributes.
    size_t item_count;
    const struct slice *items;
    size_t whole;
    struct slice entity; // a put of the data API: the entity that its key follows from

    // What else names attributes; and what names the partition of a Query.
    struct slice key_condition, condition, update, projection;
    const struct field_map *names;    // of expressions
    const struct field_value *values; //
    const struct field_list *attributes_to_get;
    const struct field_map *key_conditions;
    const struct field_map *legacy[2]; // Expected, AttributeUpdates, filters: by attribute
    const struct expr_key *range;      // the same, compiled
    const struct expr_condition *compiled;
    const struct partiql_statement *statement;

    struct slice select;               // as given; what is returned follows from the rest, too
    bool reads;                        // it returns items
    struct slice return_values;        //
    struct slice on_failure;           // ReturnValuesOnConditionCheckFailure
    struct slice capacity;             // ReturnConsumedCapacity
    struct slice enclosing;            // EnclosingOperation
    const struct field_list *tags;     // that the request brings
    const struct field_list *tag_keys; // that it takes away
};

// The action of a question, or of a row.
#define ASK_DYNAMODB(name) .action = SLICE_LIT("dynamodb:" #name), .id = POLICY_ACTION_##name
#define ASK_OTHER(name)    .action = SLICE_LIT(name), .id = POLICY_ACTION_UNKNOWN

// True if it is allowed, or if nobody asks.
MUST_CHECK bool call_ask(struct api_call *call, const struct ask *ask);
// The same for a statement, whose kind is its action.
MUST_CHECK bool call_ask_statement(struct api_call *call,
                                   const struct partiql_statement *statement);

// The values of a condition key, for call_ask(): see authorize_keys.c.
struct question {
    struct api_call *call;
    const struct ask *ask;
    struct caller_request *request; // which gets the time when it is asked for
    const struct table *table;      // NULL if there is none

    // What was found so far.
    const struct policy_action_row *row; // NULL: the action is not DynamoDB's
    bool has_attributes, has_plan, has_range;
    struct policy_values attributes;
    struct partiql_plan *plan; // NULL if it cannot be made; the operation fails for the same reason
    const struct expr_key *range;
    unsigned has_partitions; // a bit for each part of the partition key
    struct policy_values partitions[4];
    struct policy_values tag_keys;
    struct error error; // of what cannot be compiled; the operation says it again
    bool failed;        // memory was out: no decision can be made
};
policy_lookup question_lookup;

#endif
