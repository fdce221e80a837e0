// Sweeps: what `retain` and `keep` of a model ask for (docs/RETENTION.md, docs/adr/019-rules.md).
//
// Each rule is a run of its own (work/run.h), "retain/<table>/<rule>": a walk over the table that
// finds what is due, some thousand items at a time (a *bunch*). Of each bunch
//   1. every item is read again, and judged again;
//   2. if the rule says `archive`, the items go into an archive, which is read back and compared
//      before it gets its name (archive.h);
//   3. each is deleted by a write that asks for the very image that was judged, and archived. What
//      somebody has changed since stays, and is looked at by the next walk.
// The position is kept behind a bunch. After kill -9 the walk goes on from there; what was archived
// and not deleted yet is archived once more.
//
// A group of `keep` has its `latest` items in memory, and nothing else. An item is surplus while
// that many others of its group come before it: these are its *witnesses*. The write that deletes
// it asks, in the same transaction, for each of them to be what it was when they were last
// compared, as long as there are no more than RETAIN_WITNESSES; of larger groups they are read
// right before. If all groups do not fit into memory, several passes see to a part of them each.
#ifndef RETAIN_RETAIN_H
#define RETAIN_RETAIN_H

#include "guard/guard.h"
#include "model/rules.h"
#include "value/map.h"
#include "work/run.h"

enum {
    RETAIN_ID_MAX = 300,
    RETAIN_SAMPLES = 5,
    RETAIN_WITNESSES = 90, // of a transaction: with one delete more than it
    RETAIN_RATE = 2000,    // items a second that are removed; ten times as many are looked at
    RETAIN_EVERY_S = 3600,
};

// ---- Rules (rule.c) ---------------------------------------------------------------------------

// One rule of a model, for one table. Borrows from the model.
struct retain_rule {
    char id[RETAIN_ID_MAX]; // "retain-Job", "keep-AssetVersion-2": of a path, and of records
    struct slice text;      // as written
    const struct model_entity *entity;
    const struct model_retain *retain; // one of the two
    const struct model_keep *keep;
    enum model_fate fate;
    bool idle; // the entity's guard is not `enforce`: the rule is not kept
};

// The rules of a table, in the order of the file, in the arena. False when memory is out.
MUST_CHECK bool retain_rules(const struct model_table *table, struct arena *arena,
                             struct retain_rule **list, size_t *count);

// The instant of a value: a timestamp, a date (its midnight in UTC), or seconds since 1970. False
// if it is none.
MUST_CHECK bool retain_time(struct slice value, int64_t *seconds);

enum retain_answer {
    RETAIN_NO,
    RETAIN_YES,
    RETAIN_BUDGET, // memory is out
};

// Whether an item, which is of the rule's entity, is due by `retain`.
MUST_CHECK enum retain_answer retain_due(const struct retain_rule *rule, struct slice item,
                                         const struct env *env, struct arena *arena);

// Whether it counts in a group of `keep`, in which, and where it stands there. It does not if an
// attribute is missing or null, or if the item is soft-deleted. Both are in the arena.
MUST_CHECK enum retain_answer retain_place(const struct retain_rule *rule, struct slice item,
                                           struct arena *arena, struct slice *group,
                                           struct slice *rank);

// Whether it is of the rule's entity.
bool retain_concerns(const struct retain_rule *rule, struct slice item);

// ---- Finding (find.c) -------------------------------------------------------------------------

// A walk that finds what is due. The whole of it: while (finder_page(…) && !finder.ended).
struct retain_finder {
    struct engine *engine;
    struct table *table;
    const struct retain_rule *rule;
    struct keep_groups *groups; // of `keep`
    struct arena item;
    struct buf after; // tree key of the last item that was looked at
    uint64_t looked;  // in all passes
    uint64_t items;   // of the entity, in the first
    bool turn;        // a pass has ended, and another one begins with the next page
    bool ended;
    // Told of each that is due: its tree key, and its group.
    bool (*found)(void *context, struct slice key, struct slice group, struct error *error);
    void *context;
    struct error *error; // of the page at hand
};

void finder_init(struct retain_finder *finder, struct engine *engine, struct table *table,
                 const struct retain_rule *rule, size_t memory);
void finder_release(struct retain_finder *finder);
MUST_CHECK bool finder_page(struct retain_finder *finder, struct error *error);

// What a rule would remove now.
struct retain_sample {
    struct slice key; // an item with the key attributes
};
struct retain_count {
    uint64_t items; // of the entity
    uint64_t due;
    size_t sample_count;
    struct retain_sample samples[RETAIN_SAMPLES];
};
// Looks at about `most` items (0: at all).
MUST_CHECK bool retain_count(struct workshop *shop, struct table *table,
                             const struct retain_rule *rule, uint64_t most, struct arena *arena,
                             struct retain_count *out, struct error *error);

// ---- Groups (group.c) -------------------------------------------------------------------------

struct keep_entry {
    struct slice rank;
    struct slice key;
};
struct keep_group {
    struct keep_group *next;
    uint64_t hash;
    struct slice name;
    uint64_t surplus; // items beside these, so far
    size_t count;
    size_t capacity;
    struct keep_entry *entries; // a heap: the least is the first
};

// `most` entries of a group are kept. Above `memory` bytes groups are dropped, for a later pass.
struct keep_groups *groups_new(uint64_t most, size_t memory, uint64_t seed);
void groups_free(struct keep_groups *groups);
// Adds an item. *surplus becomes true if one of the group is surplus by that, and *key its key,
// until the next call. False with the error set.
MUST_CHECK bool groups_add(struct keep_groups *groups, struct slice name, struct slice rank,
                           struct slice key, bool *surplus, struct slice *surplus_key,
                           struct error *error);
// The group, or NULL if it is not of this pass.
const struct keep_group *groups_find(const struct keep_groups *groups, struct slice name);
// Whether some were dropped; goes over to the next pass, which forgets all groups of this one.
bool groups_more(const struct keep_groups *groups);
void groups_next(struct keep_groups *groups);
unsigned groups_passes(const struct keep_groups *groups);
// How many items are surplus, of all groups that had their pass.
uint64_t groups_surplus(const struct keep_groups *groups);
// By rank, then by key.
int keep_compare(const struct keep_entry *a, const struct keep_entry *b);

// ---- What is known of a rule (record.c) -------------------------------------------------------

enum retain_status { RETAIN_RESTS, RETAIN_RUNS, RETAIN_FAILED };

struct retain_record {
    struct slice table_id;
    struct slice text; // of the rule
    enum retain_status status;
    struct slice position;
    int64_t asked;      // how often a walk was asked for
    int64_t answered;   // as of which the walk at hand, or the last one, began
    int64_t done;       // as of which the last one that has ended began
    int64_t started_ms; // of this walk, or the last one
    int64_t ended_ms;
    int64_t looked; // by it
    int64_t found;
    int64_t removed;
    int64_t archived;
    int64_t left; // changed meanwhile, or refused
    int64_t all_removed;
    int64_t all_archived;
    int64_t walks;
    struct slice failure; // why the last one has failed, or an item was refused
    struct slice archive; // the last one: its path below the directory of archives
};
extern const struct map_form retain_form;

// A walk begins, from the start.
void retain_record_begin(struct retain_record *record, int64_t now_ms);

// All zeros if there is none, or it is of another table of that name. Slices are in the arena.
MUST_CHECK bool retain_record_read(struct engine *engine, const struct table *table, const char *id,
                                   struct arena *arena, struct retain_record *out,
                                   struct error *error);

// ---- Sweeping (sweep.c, desk.c) ---------------------------------------------------------------

struct retain_desk;

struct retain_settings {
    uint64_t rate; // items removed in a second, at most
    int64_t every_ms;
    size_t memory;       // of groups; 0 for what is usual
    size_t bunch;        // items; 0 for what is usual
    const char *archive; // the directory; NULL: below that of buckets
    bool asked;          // walks begin only if somebody asks for one
};

struct retain_totals {
    uint64_t walks;
    uint64_t failed;
    uint64_t looked;
    uint64_t removed;
    uint64_t archived;
    uint64_t left;
    uint64_t archives;
    uint64_t running;
};

struct retain_desk *retain_desk_new(void);
void retain_desk_free(struct retain_desk *desk);
// Once. Nothing is swept before: a tool that opens a directory for a moment does not.
void retain_set(struct workshop *shop, const struct retain_settings *settings);
void retain_totals(struct workshop *shop, struct retain_totals *out);
// NULL if there is nowhere to put archives.
const char *retain_archive_root(struct workshop *shop);

// A chore: begins the walks that are due. The first time it goes on with what the last process had
// not finished, and begins all others.
void retain_care(struct workshop *shop);
// Begins a walk for each rule of the table, now. If one is under way, another follows.
MUST_CHECK bool retain_begin(struct workshop *shop, struct slice table, struct error *error);
// When the next walk of a rule begins.
int64_t retain_next_ms(struct workshop *shop, const struct retain_record *record);

#endif
