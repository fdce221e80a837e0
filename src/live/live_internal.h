// What the files of this directory share.
//
//   live.c      the service: the reader, the tables it follows, switching logs on and off
//   group.c     who has asked what: groups, and what a change means to them
//   listener.c  one listener: its queue, and its own way through the log
//   question.c  a pattern with its arguments, compiled; events and their ids
//   top.c       the first N of a limited result
#ifndef LIVE_LIVE_INTERNAL_H
#define LIVE_LIVE_INTERNAL_H

#include "base/worker.h"
#include "engine/layout.h"
#include "engine/log.h"
#include "live/live.h"

#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    QUESTION_MEMORY = 4 << 20,
    ID_BYTES = 16,       // sequence and time
    ID_TAG = 16,         // of the signature
    EVENT_MAX = 8 << 20, // bytes of one event; an item of 400 KB takes a tenth
    TABLE_BUCKETS = 1024,
    ROUND_ENTRIES = 4096, // that the reader takes of a table before it hands out what it has
    ROUND_BYTES = 4 << 20,
    CATCH_ENTRIES = 2048, // that a listener reads in a slice
    CATCH_BYTES = 2 << 20,
    PACE_MS = 4, // the reader gathers what comes within
};

// ---- Windows (top.c) ----------------------------------------------------------------------

// The first items of an ordered result, by their place: the key in the index, or in the table.
struct top_entry {
    uint8_t *place; // malloc
    size_t len;
    uint8_t id[16]; // the digest of the item's key
};

struct top {
    size_t limit; // 0: there is none
    bool reverse;
    size_t count;
    size_t capacity;
    struct top_entry *entries; // in order
};

void top_release(struct top *top);
void top_clear(struct top *top);
// Where the item of that id is; false if it is not.
bool top_find(const struct top *top, const uint8_t id[16], size_t *at);
// Whether an item at that place belongs among the first.
bool top_admits(const struct top *top, struct slice place);
// False when memory is out.
MUST_CHECK bool top_insert(struct top *top, struct slice place, const uint8_t id[16]);
void top_remove(struct top *top, size_t at);

// ---- Questions -------------------------------------------------------------------------------

struct live_question {
    struct live *live;
    struct arena arena;
    struct arena scratch; // reset for each item
    struct model *model;
    struct table *table; // that it was made for
    const struct index *index;
    struct live_ask ask; // its slices are in the arena
    struct access_plan *plan;
    struct access_view view;
    struct write_origin reader;
    const struct write_origin *bound; // NULL, or the reader
    struct expr_condition *filter;
    struct key_range range;
    struct buf lower, upper; // where the keys of its items are
    struct slice scope;      // what tells it from all others
    SHA256_CTX signing[2];
    struct buf place; // of the image that was looked at last
    struct buf image; // as the index has it
    struct buf other;
    struct top top;
};

// Whether an image (VALUE_NONE: there is none) is in the result, the limit aside; its place is in
// `place` then. The entity is for writing it.
bool question_has(struct live_question *question, struct slice item,
                  const struct model_entity **entity);
// Events that follow from a change, appended to `out`; the number of them. Without regard to a
// limit.
unsigned question_change(struct live_question *question, const struct log_entry *entry,
                         struct buf *out);
// The digest by which a client tells items apart: of the key attributes.
void question_id(struct live_question *question, struct slice item, uint8_t out[16]);
void question_write_put(struct live_question *question, const struct log_entry *entry,
                        const uint8_t id[16], const struct model_entity *entity, struct slice item,
                        struct buf *out);
void question_write_remove(struct live_question *question, const struct log_entry *entry,
                           const uint8_t id[16], struct buf *out);

// The same for a limited result: reads what moves up. False with the error set.
MUST_CHECK bool question_change_top(struct live_question *question, const struct log_entry *entry,
                                    struct buf *out, struct error *error);

// ---- Groups and tables -----------------------------------------------------------------------

struct live_block {
    _Atomic unsigned references;
    struct live *live;
    uint64_t first; // the sequence of its first event
    uint64_t last;  // and of its last
    int64_t time_ms;
    unsigned events;
    size_t len;
    uint8_t text[];
};

struct live_group {
    struct live_group *next; // of the bucket
    struct live_group *touched_next;
    struct live_question *question;
    uint64_t hash;
    size_t listener_count;
    struct live_listener *listeners;
    uint64_t since; // events behind this sequence are written for it
    // Of the round in progress.
    bool touched;
    struct buf text;
    unsigned events;
    uint64_t first;
    uint64_t last;
    int64_t last_ms;
};

enum log_wish { LOG_ASKED, LOG_ON, LOG_REFUSED };

struct live_table {
    struct live_table *next;
    struct live *live;
    char *name;
    struct slice uuid;   // in `table`
    struct table *table; // the version that was looked at last
    enum log_wish log;
    uint64_t begun;     // since this sequence the log has both images
    uint64_t position;  // the reader has handed out everything up to here,
    uint64_t applied;   // and has written everything up to here
    int64_t idle_since; // when the last listener left; 0 while there are some
    size_t listener_count;
    struct live_listener *waiting; // for the log
    size_t group_count;
    // Which trees somebody listens to: of indexes, or of the table itself.
    struct {
        tree_id tree;
        size_t groups;
    } used[LIMIT_INDEXES + 1];
    struct live_group *buckets[TABLE_BUCKETS];
};

struct live {
    struct workshop *shop;
    uint8_t secret[LIVE_SECRET];
    struct log_listener ear;
    struct worker worker;
    struct budget_account account; // of blocks; the reader takes, others give
    pthread_mutex_t lock;          // of all below
    struct live_table *tables;
    size_t listener_count;
    size_t group_count;
    atomic_bool any; // there are tables
    _Atomic uint64_t events, delivered, resets, overruns, resumed;
    int64_t beat_ms; // when quiet listeners were last looked for
    bool found;      // tables that kept their changes before a restart have been found
};

struct live_listener {
    struct live *live;
    struct live_table *table;
    struct live_question *question;
    struct live_question *spare;         // for a group, if it is the first of it
    struct live_group *group;            // NULL if it has not joined
    struct live_listener *next, *before; // of the group, or `next` of those that wait for the log
    void (*wake)(void *context);
    void *context;
    bool armed; // the owner sleeps, and `wake` is owed
    bool overrun;
    bool ended;
    bool beat;
    uint64_t position; // everything up to here has been given to the owner
    int64_t position_ms;
    uint64_t joined_at; // blocks begin behind this
    uint64_t begun;     // the client knew everything up to here when it began to follow
    int64_t quiet_since;
    size_t bytes;
    size_t first;
    size_t count;
    struct live_block *queue[LIVE_QUEUE_BLOCKS];
};

// group.c, with the lock.
struct live_group *group_join(struct live_listener *listener);
void group_leave(struct live_listener *listener);
// What an entry means to all groups of the table; those it means something to are put in front of
// *touched.
void groups_apply(struct live_table *table, const struct log_entry *entry,
                  struct live_group **touched);
// Hands out what a round has written to a group.
void group_hand_out(struct live_group *group);
// Frees the groups that nobody listens to; the reader alone does, so that it may hold on to others.
void groups_reap(struct live_table *table);
// Ends the listeners of those groups that another version of the table is not the same to.
void groups_judge(struct live_table *table, const struct table *now);

// listener.c
void listener_wake(struct live_listener *listener); // with the lock
void block_release(struct live_block *block);

// live.c
struct live_table *live_table_new(struct live *live, struct table *table); // with the lock
int64_t live_now(const struct live *live);

#endif
