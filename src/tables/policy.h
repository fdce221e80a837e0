// Resource policies: judging a document, and keeping it in the settings of a table. There they are
// an M by resource ("table", or the label of the stream) of M {document, revision}. Revisions are
// times in milliseconds, and each is greater than the one before.
#ifndef TABLES_POLICY_H
#define TABLES_POLICY_H

#include "policy/policy.h"
#include "tables/table_settings.h"

#define POLICY_OF_TABLE "table" // the entry of the table itself

// Judges a policy document: JSON, its size, and the parts that a policy must have.
MUST_CHECK bool policy_check(struct slice document, struct arena *arena, struct error *error);

// Notes a policy for an entry ("table", or a stream's label) in the settings of a table that is
// being changed, with a new revision.
MUST_CHECK bool policy_put(struct table *table, struct table_settings *settings, struct slice entry,
                           struct slice document, int64_t now_ms, struct error *error);

// CreateTable's ResourcePolicy, which was checked and may be absent.
MUST_CHECK bool policy_of_new_table(struct table *table, struct table_settings *settings,
                                    struct slice document, int64_t now_ms, struct error *error);

// ---- In force -----------------------------------------------------------------------------------

// One of a table's policies, compiled.
struct table_policy {
    struct slice entry;          // POLICY_OF_TABLE, or the label of a stream
    const struct policy *policy; // NULL: what is kept cannot be read as a policy
};

// The policy of an entry; NULL if it has none. Compiled when a version of the table is first asked,
// and kept with it: it lives as long as that version. Any thread.
const struct table_policy *table_policy(const struct table *table, struct slice entry);

#endif
