// What all work beside requests stands on. The rooms that do such work (backup, exchange, stream,
// change, capture, expire) take this, and know nothing of calls.
#ifndef WORK_WORKSHOP_H
#define WORK_WORKSHOP_H

#include "engine/engine.h"
#include "work/buckets.h"

#include <stdatomic.h>

struct lanes;
struct stream_counts;
struct report_book;
struct consumers;
struct live;
struct table;
struct retain_desk;
struct identity;

struct workshop {
    struct engine *engine;
    struct budget *budget; // that notes and models are counted in, or NULL
    struct lanes *lanes;   // the threads
    char *bucket_root;     // the directory whose directories are buckets; NULL if there is none
    struct bucket_store buckets; // those that are elsewhere; its functions are NULL if none are
    size_t note_bytes;           // memory of a task's notes; 0 for what is usual. For tests.
    struct stream_counts *stream_counts; // see stream/stream.h
    // NULL, or what is to be done before a table is filled with items, and after (change/adopt.c).
    bool (*filling)(struct workshop *shop, struct slice table, struct error *error);
    void (*filled)(struct workshop *shop, struct slice table);
    struct report_book *reports; // see report/report.h
    struct consumers *consumers; // see capture/consumers.h; NULL if there are none
    struct live *live;           // see live/live.h; NULL if there is none
    // NULL, or the time of the oldest change of the table that somebody has to read yet, INT64_MAX
    // if there is none; what is older than the limit is not waited for.
    int64_t (*log_needed)(struct workshop *shop, const struct table *table, int64_t limit_ms);
    struct retain_desk *retain; // see retain/retain.h
    struct identity *identity;  // see identity/identity.h; NULL without a master key
    _Atomic int64_t look_done;  // items that a look at a table has seen, of:
    _Atomic int64_t look_total;
};

// Calls back for each table, in the order of names, until `visit` returns false.
void work_each_table(struct workshop *shop, bool (*visit)(void *context, struct table *table),
                     void *context);

#endif
