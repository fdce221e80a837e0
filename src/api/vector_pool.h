// Threads for searches that take long. A search of a large index reads hundreds of megabytes; on
// the thread of a connection loop it would hold up all its other requests for that time.
//
// The threads are started by the first such search. A search is done on one of them and its call
// is told so, as the writer does with jobs; its owner then makes the response.
#ifndef API_VECTOR_POOL_H
#define API_VECTOR_POOL_H

#include "api/api_internal.h"
#include "engine/vector.h"

struct vector_pool;

// A search on its way: in the call's arena.
struct vector_task {
    struct vector_task *next; // the queue's
    struct api_call *call;
    struct vector_search search;
};

// For api_open() and api_close(); the latter when no call is on its way, and while the engine is
// still open.
struct vector_pool *vector_pool_new(void);
void vector_pool_free(struct vector_pool *pool);

// Hands the search to a thread, which sets the call's error if it fails, and then calls its done
// function. False if there are no threads to be had: then nothing will happen.
MUST_CHECK bool vector_pool_submit(struct vector_pool *pool, struct vector_task *task);

#endif
