// The source of `publish ENTITY to …`: inserts of items of an entity as events, in plain JSON by
// the types of the model. An event that was delivered may be marked in its item; that is an update,
// and no event again.
#ifndef CAPTURE_OUTBOX_H
#define CAPTURE_OUTBOX_H

#include "capture/consumer.h"
#include "guard/guard.h"
#include "model/rules.h"

// One of the publish rules of the guard's model, and of its table. Holds the guard. NULL when
// memory is out.
MUST_CHECK struct consumer_source *
outbox_new(struct guard *guard, const struct model_publish *publish, const struct env *env);

// The option of that name, or NULL.
const struct model_option *publish_option(const struct model_publish *publish, const char *name);

// Whether a projection that has an address takes items of the table.
bool project_takes(const struct model_project *project, const struct model_table *table);

// For the `alter` of a change that attaches a model (or takes it away: NULL) to a table: notes in
// the table's settings what is published or projected from it, and from where on. False when memory
// is out.
MUST_CHECK bool outbox_alter(struct engine *engine, const struct model_table *model,
                             struct table *next, struct error *error);

// Appends an event as JSON, of which `item` is the image that counts.
struct outbox_event {
    struct slice id;
    struct slice type;
    int64_t time_ms;
    struct slice table;
    const struct model_table *model;   // or NULL
    const struct model_entity *entity; // or NULL
    struct slice keys;
    struct slice item; // VALUE_NONE if it was removed
    struct slice old;  // VALUE_NONE if it is new
};
void outbox_event_write(struct buf *out, const struct outbox_event *event);

#endif
