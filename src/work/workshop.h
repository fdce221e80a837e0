// What all work beside requests stands on. The rooms that do such work (backup, exchange, stream,
// change, capture, expire) take this, and know nothing of calls.
#ifndef WORK_WORKSHOP_H
#define WORK_WORKSHOP_H

#include "engine/engine.h"

#include <stdatomic.h>

struct lanes;
struct stream_counts;
struct report_book;

struct workshop {
    struct engine *engine;
    struct budget *budget; // that notes and models are counted in, or NULL
    struct lanes *lanes;   // the threads
    char *bucket_root;     // the directory whose directories are buckets; NULL if there is none
    size_t note_bytes;     // memory of a task's notes; 0 for what is usual. For tests.
    struct stream_counts *stream_counts; // see stream/stream.h
    // NULL, or what is to be done before a table is filled with items, and after (change/adopt.c).
    bool (*filling)(struct workshop *shop, struct slice table, struct error *error);
    void (*filled)(struct workshop *shop, struct slice table);
    struct report_book *reports; // see report/report.h
    _Atomic int64_t look_done;   // items that a look at a table has seen, of:
    _Atomic int64_t look_total;
};

#endif
