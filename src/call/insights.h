// Contributor Insights: which keys of a table or index are asked for most, and which are refused
// most for want of throughput. Counted in memory since insights were enabled (or the start).
//
// The hooks cost one comparison as long as no table has insights enabled.
#ifndef CALL_INSIGHTS_H
#define CALL_INSIGHTS_H

#include "call/operation.h"

#include <stdatomic.h>

// For api_open() and api_close().
struct insights *insights_new(struct api *api);
void insights_free(struct insights *insights);
// The keys that are asked for most, as JSON; of one table if it is named.
void insights_write(struct insights *insights, struct slice table, struct buf *out);

// How many tables and indexes are watched; at the start of struct insights.
struct insights_head {
    _Atomic size_t watched;
};

static inline bool insights_on(const struct api_call *call)
{
    struct insights_head *head = (struct insights_head *)call->api->insights;
    return atomic_load_explicit(&head->watched, memory_order_relaxed) != 0;
}

void insights_note(struct api_call *call, const struct table *table, const struct index *index,
                   struct slice item, bool throttled);
void insights_note_job(struct api_call *call);

// An item (or its key) was read from a table, or through an index (else NULL).
static inline void insights_read(struct api_call *call, const struct table *table,
                                 const struct index *index, struct slice item)
{
    if (insights_on(call))
        insights_note(call, table, index, item, false);
}

// The call's write job is done.
static inline void insights_written(struct api_call *call)
{
    if (insights_on(call))
        insights_note_job(call);
}

// Before the call's write job runs: asks for the images that counting indexes needs.
void insights_prepare_job(struct api_call *call);
static inline void insights_prepare(struct api_call *call)
{
    if (insights_on(call))
        insights_prepare_job(call);
}

// A request about an item (empty: about none in particular) was refused for want of throughput.
static inline void insights_throttled(struct api_call *call, const struct table *table,
                                      const struct index *index, struct slice item)
{
    if (insights_on(call) && item.len > 0)
        insights_note(call, table, index, item, true);
}

// Watches what the settings of a table say, and forgets what they do not say any more.
void insights_follow(struct api *api, const struct table *table);

#endif
