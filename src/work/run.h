// A run: work that a request has asked for and that outlives it. Backups, restores, exports,
// imports, bulk operations, backfills and migrations are kinds of it.
//
// What a run is about and how far it is stands in its record, "<kind>/<id>", whose member `status`
// tells whether it is unfinished. A process that ends, in whatever way, leaves the record; the next
// one finds it (run_resume) and begins the run again, from the start or from the position that the
// record has. A kind must therefore come out the same however often it begins.
//
// The life of a run, on a thread of its lane:
//   (the record is decoded into the kind's struct)
//   load      opens what it speaks of. False with the error set: the run has failed before it began
//   perform   all of it. False with the error set, or because the end has come
//   finish    how it ended goes into the record; `failed` tells why. Not if the end came in between
//   suspend   the end came: keeps the position. NULL if there is none
//   release   in any case, last, but for the table, which run.c releases. NULL if there is no more
// What fails for now is tried again inside (jobs.h); what fails for good fails the run, once, and
// its record says so.
#ifndef WORK_RUN_H
#define WORK_RUN_H

#include "base/arena.h"
#include "value/map.h"
#include "work/jobs.h"

enum { RUN_NAME_MAX = 600 };

struct run;
struct run_saving;

struct run_kind {
    const char *name; // "export", for the record and the log
    enum lane_kind lane;
    size_t size;                 // of the kind's struct, which begins with a struct run
    const struct map_form *form; // of the record; NULL if the kind has none
    size_t record;               // where it is in the kind's struct
    int unfinished;              // the status
    bool (*load)(struct run *run);
    bool (*perform)(struct run *run);
    void (*finish)(struct run *run, bool ok);
    void (*suspend)(struct run *run);
    void (*release)(struct run *run);
    bool (*save)(struct run *run, struct slice there, struct run_saving *saving);
};

// A kind, its members in their order; `field` is the record in its struct.
#define RUN_KIND(name, lane, type, field, form, unfinished, ...)                                   \
    {                                                                                              \
        name, lane, sizeof(struct type), form, offsetof(struct type, field), unfinished,           \
            __VA_ARGS__                                                                            \
    }

struct run {
    struct task task; // first
    const struct run_kind *kind;
    struct workshop *shop;
    struct arena arena; // of the whole run
    struct error error;
    struct table *table;      // that it is about, if it is about one: a reference
    struct slice record_name; // empty if the kind has no records
    struct slice id;          // what is behind "<kind>/" in it
    char name[RUN_NAME_MAX];
};

// A run that does nothing yet, for those who have something to give it. Only one with the same
// subject, which may be empty, runs at a time.
struct run *run_new(const struct run_kind *kind, struct slice id, struct slice subject);
// Queues it. False if the end has come: it is released then, and the next process finds its record.
bool run_start(struct workshop *shop, struct run *run);
bool run_begin(struct workshop *shop, const struct run_kind *kind, struct slice id);

// Whether a run waits or is performed in this process. A record may say that it is unfinished while
// nobody works on it: its end could not be written, or it could not be read when its turn came.
bool run_goes_on(struct workshop *shop, const struct run_kind *kind, struct slice id);

// Begins all runs of a kind that the last process had not finished; the subject of each is its id
// up to the first slash, if the kind wants that.
void run_resume(struct workshop *shop, const struct run_kind *kind, bool by_subject);

// What a save writes: the record of the run, and perhaps another one.
struct run_saving {
    struct arena arena;
    struct error *error;
    size_t count; // 1 at first; 0 to write nothing
    struct record_write writes[2];
};
// Writes the record. Before, kind->save (or NULL) may change it, on the writer's thread, where it
// sees what the record says now (`there`) and nothing changes meanwhile; or ask for no write, or
// for a second one. A failure is told in the log.
void run_save(struct run *run);
// The same for who is on the writer's thread already, and has a job to add it to: fills saving,
// whose arena and error are set. False with the error set; count is 0 if nothing is to be written.
MUST_CHECK bool run_saving_fill(struct run *run, struct run_saving *saving);

#endif
