// The janitor: one thread of the api for what has to be done now and then without being asked for.
// What that is, is a list in janitor.c: a function, and how often it runs. The times between are
// the real clock's; when the api's clock is moved, everything runs at once. A chore may read the
// engine and use engine_run(), must come back soon, and must bear with failing: it will be called
// again.
#ifndef API_JANITOR_H
#define API_JANITOR_H

struct api;
struct janitor;

// For api_open() and api_close(); the latter while the engine is still open.
void janitor_start(struct api *api);
void janitor_stop(struct api *api);

// Lets the thread do all chores now. Any thread; does not wait.
void janitor_wake(struct api *api);
// Does all chores before it returns; for tests and tools.
void janitor_run(struct api *api);

#endif
