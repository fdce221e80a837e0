// What a replica is made of: the store of another server, key by key.
//
// The source keeps a log of its own commits in its store (the "shipped" log): an entry has the keys
// and values of one batch, and is written with that batch, so that the two cannot disagree. Entries
// are numbered without gaps, and each has a random mark: a replica that says which entry it has
// applied last, and its mark, is either told what follows or that it has to begin anew. It is never
// told something that does not fit.
//
// A copy is made in pages, each of a range of keys at some moment. Pages of different moments do
// not fit together; but all that was changed since the first of them is in the log, and an entry
// says what a key has become, whatever it was. So a copy is right once the log was applied up to
// the moment of its last page. Nothing is held at the source for it.
//
// On the replica the position is a record in the batch that it speaks of: an entry is applied once,
// wherever a process is killed. Only source and replica of one version understand each other.
#ifndef ENGINE_SHIP_H
#define ENGINE_SHIP_H

#include "engine/engine.h"

enum {
    SHIP_URL_MAX = 512,
    SHIP_PAGE = 2 << 20,     // bytes of an answer, or one entry if that is larger
    SHIP_LOG = 1 << 30,      // bytes that the log has, if nobody says otherwise
    SHIP_VERSION_BYTES = 32, // which begin each answer
};

// ---- The source --------------------------------------------------------------------------------

// Has the log written from now on, with at most so many bytes of entries; 0 ends it. Nothing is
// done if that is so already.
MUST_CHECK bool engine_ship(struct engine *engine, uint64_t bytes, struct error *error);
// The same with SHIP_LOG, if it is not written yet.
MUST_CHECK bool engine_ship_begin(struct engine *engine, struct error *error);
bool engine_ships(struct engine *engine);
// The number of the last entry.
uint64_t engine_shipped(struct engine *engine);
// The number of the oldest entry that is still there; 0 if there is none.
uint64_t engine_ship_oldest(struct engine *engine);
// Removes entries beyond the limit; called now and then.
void engine_ship_trim(struct engine *engine);

// Appends what follows an entry. *anew if the log does not have that entry, or not what follows.
MUST_CHECK bool engine_ship_read(struct engine *engine, uint64_t number, uint64_t mark,
                                 struct buf *out, bool *anew, struct error *error);
// Appends the keys behind `after`, a page of them.
MUST_CHECK bool engine_ship_copy(struct engine *engine, struct slice after, struct buf *out,
                                 struct error *error);

// ---- The replica -------------------------------------------------------------------------------

enum follow_phase {
    FOLLOW_NONE = 0,
    FOLLOW_COPYING = 'C',
    FOLLOW_ON = 'F',
    FOLLOW_PROMOTED = 'P', // it was a replica, and is a server of its own
};

struct follow_state {
    enum follow_phase phase;
    uint64_t number; // of the last entry that was applied, and
    uint64_t mark;   // its mark
    uint64_t until;  // the copy is right when this entry is applied
    char source[SHIP_URL_MAX];
    size_t after_len; // the last key of the last page
    uint8_t after[STORE_KEY_MAX];
};

// What the store says of it: phase FOLLOW_NONE if it is no replica.
MUST_CHECK bool follow_load(struct store *store, struct follow_state *out,
                            struct store_error *error);

// Work on a store that no engine has open: a state, a page of a copy, and entries. Each is
// committed with the state. Keys of the page's range that the page does not have are deleted.
MUST_CHECK bool follow_save(struct store *store, const struct follow_state *state,
                            struct store_error *error);
MUST_CHECK bool follow_page(struct store *store, struct slice page, struct follow_state *state,
                            struct store_error *error);
MUST_CHECK bool follow_entries(struct store *store, struct slice entries,
                               struct follow_state *state, uint64_t *last,
                               struct store_error *error);

// The same on an engine that has such a store open, whose tables are then as the source's. *last is
// the number of the source's last entry. *identities tells whether users, keys or policies changed.
MUST_CHECK bool engine_follow(struct engine *engine, struct slice entries, bool *identities,
                              struct error *error);
// What the replica's follower has found out beside that: a problem, or NULL.
void engine_follow_problem(struct engine *engine, const char *problem);
// From now on nothing is followed, and the next who opens the store may write. Unless `now`, only
// if all that is known of is applied.
MUST_CHECK bool engine_promote(struct engine *engine, bool now, struct error *error);

struct engine_replica {
    bool follows;
    bool promoted; // and is to be opened again
    char source[SHIP_URL_MAX];
    uint64_t number; // of the last entry that was applied
    uint64_t mark;
    uint64_t known;    // of the last one that the source has told of
    int64_t behind_ms; // since it last had all that the source had
    char problem[256]; // why nothing is heard of the source; or empty
};
void engine_replica(struct engine *engine, struct engine_replica *out);

#endif
