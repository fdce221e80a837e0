// `project ENTITY, … into "…"` in a server: each table that a projection takes items from has a
// consumer (capture/consumer.h) whose events are the changes of those items, with their images, and
// whose target is a projector (projector.h), which keeps the position.
#ifndef PROJECT_PROJECT_H
#define PROJECT_PROJECT_H

#include "capture/consumers.h"
#include "publish/publish.h"

// How consumers of projections are made, with these settings, which stay where they are.
struct consumers_projects projects_of(const struct publisher *publisher);

#endif
