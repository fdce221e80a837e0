// Notes of which items were changed, in bounded memory: the first change of each key that is found
// while a change log is read, for as many of the smallest keys as there is room for. Whoever wants
// all of them works through the keys in parts, and reads the log again for each:
//
//   do { read the log: notes_add(…); notes_sort(…); use notes->list; } while (notes_next(…));
#ifndef ENGINE_NOTES_H
#define ENGINE_NOTES_H

#include "base/arena.h"
#include "base/buf.h"

enum { NOTES_BYTES = 32 << 20 }; // what is usual

struct note {
    struct slice key;  // tree key
    uint64_t sequence; // of its first change
    uint64_t after;    // the caller's; 0 at first
    int64_t time_ms;   // of its last one
};

struct notes {
    size_t count;
    struct note *list; // sorted by key after notes_sort(), each key once
    // The rest is notes.c's.
    size_t max_bytes;
    size_t bytes;
    size_t sorted; // so many at the front are sorted and have different keys
    size_t capacity;
    struct arena arena; // of the keys
    struct buf low;     // the part is of keys from here
    struct buf high;    // up to but without this one, if it is bounded
    bool bounded;
};

void notes_init(struct notes *notes, size_t max_bytes);
void notes_release(struct notes *notes);

// Whether a key is in this part. The part may become smaller with each note.
bool notes_cover(const struct notes *notes, struct slice key);
// Notes a change of the key, if it is in this part; changes come in the order of their sequences.
void notes_add(struct notes *notes, struct slice key, uint64_t sequence, int64_t time_ms);
void notes_sort(struct notes *notes);
// The note of a key, or NULL; after notes_sort().
struct note *notes_find(const struct notes *notes, struct slice key);
// Goes on to the keys behind this part, with an empty list; false if there are none.
bool notes_next(struct notes *notes);

#endif
