// All consumers of a server: those that the models of its tables ask for (`publish`), and
// Kinesis streaming destinations. They are
// started and ended as the catalog changes, by a worker that is woken by it.
#ifndef CAPTURE_CONSUMERS_H
#define CAPTURE_CONSUMERS_H

#include "capture/consumer.h"

struct consumers;
struct kinesis;

// How the consumers of projections are made: src/project has the one of servers.
struct model_project;
struct consumers_projects {
    void *context;
    // Sets the source, the opener and the attempts. False when memory is out.
    bool (*plan)(void *context, struct table *table, const struct model_project *project,
                 struct consumer_plan *plan);
};

// The opener is borrowed, and NULL if nothing can be delivered from here: then consumers are there,
// say so, and keep their place in the log. Listens to the engine's commits.
// Kinesis destinations are delivered by `kinesis`, which is borrowed; NULL if they are not.
// `projects` is copied; NULL if nothing is projected from here.
struct consumers *consumers_new(struct workshop *shop, const struct outlet_opener *opener,
                                const struct kinesis *kinesis,
                                const struct consumers_projects *projects);
// Ends them, while the engine is open; and frees what is left, once it is closed. NULL is fine.
void consumers_stop(struct consumers *consumers);
void consumers_free(struct consumers *consumers);

// Calls back for each consumer, of one table if it is named, in the order of tables and names.
void consumers_each(struct consumers *consumers, struct slice table,
                    void (*visit)(void *context, struct consumer *consumer), void *context);

// Has a consumer do something, and waits for it. ResourceNotFoundException if there is none.
MUST_CHECK bool consumers_command(struct consumers *consumers, struct slice table,
                                  struct slice name, struct consumer_command *command,
                                  struct error *error);
// The dead letters of a consumer: see consumer_letters().
MUST_CHECK bool consumers_letters(struct consumers *consumers, struct slice table,
                                  struct slice name, uint64_t after,
                                  bool (*visit)(void *context, const struct letter *letter),
                                  void *context, struct error *error);

// For struct workshop's log_needed.
int64_t consumers_need(struct workshop *shop, const struct table *table, int64_t limit_ms);

// Until the list agrees with the catalog; for tests and operations.
void consumers_settle(struct consumers *consumers);

#endif
