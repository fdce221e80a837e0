// Streams: what a table's change log (engine/log.h) looks like to DynamoDB Streams.
//
// A stream is a record "stream/<table>/<label>": what it shows of the log, and its shards. A shard
// is a range of sequences and a range of the hashes of partition keys. Shards that are open at the
// same time share out all hashes, and a shard's children together have its hashes, so whoever reads
// parents before children sees the changes of an item in their order. Streams are made and ended
// in the same batch as the table change that does it, and shards are closed on the writer's thread,
// where the last sequence is known exactly: no change is in two shards, and none in no shard.
//
// Slices of a struct stream live in the arena it was read into.
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "engine/record.h"
#include "tables/table_settings.h"
#include "work/workshop.h"

#define STREAM_PREFIX "stream/"

enum {
    STREAM_SHARDS_OPEN = 8,     // at most, for one stream
    STREAM_SHARD_FULL = 250000, // changes after which a shard is closed
    STREAM_LABEL_MAX = 80,
    STREAM_SEQUENCE_TEXT = 22, // 21 digits and a NUL
};

#define STREAM_RETENTION_MS (INT64_C(24) * 3600 * 1000)
#define STREAM_SHARD_AGE_MS (INT64_C(4) * 3600 * 1000)
#define STREAM_QUICK_MS     (INT64_C(10) * 60 * 1000) // what is full by then is split in two

struct stream_shard {
    struct slice id;
    struct slice parent; // empty if it has none
    uint64_t start;      // its first sequence; all of its changes are in [start, end]
    uint64_t end;        // of a closed one; start - 1 if nothing was written
    uint64_t trim;       // its changes below this one are too old to be read
    uint64_t low;        // hashes, both inclusive
    uint64_t high;
    int64_t created_ms;
    int64_t closed_ms; // 0 as long as it is open
};

struct stream {
    struct slice table;
    struct slice label; // the moment it began: 2026-01-31T12:00:00.000
    struct slice view;  // StreamViewType
    size_t hash_count;
    size_t key_count;
    struct slice keys[2 * LIMIT_KEY_PARTS];
    tree_id log;      // 0 as long as the table has it
    tree_id readable; // not stored: where the changes are, if stream_read() knows; else 0
    int64_t created_ms;
    int64_t disabled_ms; // 0 as long as it is enabled
    uint64_t trim;       // the sequence up to which changes were found to be too old
    int64_t stamp_ms;    // of the newest shard's id: ids grow even if the clock does not
    uint32_t made;       // shards made so far
    size_t shard_count;
    struct stream_shard *shards; // parents before children
};

// ---- The record (stream.c) ----------------------------------------------------------------

// The name of a stream's record, in the arena; ptr is NULL when memory is out.
struct slice stream_name(struct arena *arena, struct slice table, struct slice label);

// Both are false with the error set when memory is out.
MUST_CHECK bool stream_encode(const struct stream *stream, struct arena *arena, struct slice *out,
                              struct error *error);
MUST_CHECK bool stream_decode(struct slice record, struct arena *arena, struct stream *out,
                              struct error *error);

// A disabled stream can be read for a day.
bool stream_gone(const struct stream *stream, int64_t now_ms);

// The names of all streams, or of a table's, in order, in the arena.
struct stream_names {
    size_t count;
    struct slice *names;
};
MUST_CHECK bool stream_names(struct engine *engine, struct slice table, struct arena *arena,
                             struct stream_names *out, struct error *error);

// The stream of that record; *found is false if there is none, or if it is gone.
MUST_CHECK bool stream_read(struct engine *engine, struct slice name, struct arena *arena,
                            struct stream *out, bool *found, struct error *error);

// The record's name that an ARN stands for, in the arena; "Invalid StreamArn".
MUST_CHECK bool stream_parse_arn(struct slice arn, struct arena *arena, struct slice *name,
                                 struct error *error);
// The stream that an ARN names; ResourceNotFoundException if there is none.
MUST_CHECK bool stream_find(struct engine *engine, struct slice arn, struct arena *arena,
                            struct stream *out, struct error *error);

const struct stream_shard *stream_shard(const struct stream *stream, struct slice id);
// The hash by which shards are told apart, from the key attributes of a change.
uint64_t stream_hash(const struct stream *stream, struct slice keys);

// Sequence numbers as text: 21 digits, so that their order is that of the numbers.
void stream_sequence_text(uint64_t sequence, char text[STREAM_SEQUENCE_TEXT]);
// False if it is not a number that could be one of ours.
MUST_CHECK bool stream_sequence_parse(struct slice text, uint64_t *out);

// ---- Changes of it (change.c) --------------------------------------------------------

// For the `alter` of the table change, when the next version (NULL or a hidden one: the table goes)
// is made: opens and closes streams as its settings ask for, in the same batch. It may change the
// settings of the next version, for no two streams have the same label.
MUST_CHECK bool stream_alter(struct table_change *change, struct arena *arena,
                             const struct table *current, struct table *next, struct error *error);

// What an edit has done: nothing, something, or it wants the stream to be forgotten.
enum stream_verdict { STREAM_SAME, STREAM_CHANGED, STREAM_ENDED };

typedef enum stream_verdict stream_edit_fn(void *context, struct engine *engine,
                                           struct stream *stream, struct arena *arena);

// Changes a stream's record: `edit` is called on the writer's thread, unless there is no such
// record. Waits for it, so it is not for the writer's thread.
MUST_CHECK bool stream_edit(struct engine *engine, struct slice name, stream_edit_fn *edit,
                            void *context, struct error *error);

// Which shards to close, and into how many children each goes on.
struct shard_roll {
    struct slice id;
    bool split;
};
MUST_CHECK bool stream_roll(struct engine *engine, struct slice name,
                            const struct shard_roll *rolls, size_t count, struct error *error);
// All open shards of the table's stream. False if it has none, or it could not be written.
MUST_CHECK bool streams_roll(struct engine *engine, struct slice table, bool split);

// ---- Care (care.c) --------------------------------------------------------------------

// How many changes the open shards of one stream have had.
struct stream_count {
    char *name;    // of the stream's record
    uint64_t next; // counted up to here
    bool seen;
    size_t shard_count;
    struct {
        char id[64];
        uint64_t changes;
    } shards[STREAM_SHARDS_OPEN];
};

// Counted only when it could matter, and only by the janitor.
struct stream_counts {
    uint64_t full; // changes after which a shard is closed
    size_t count;
    size_t capacity;
    struct stream_count *streams;
};

struct stream_counts *stream_counts_new(void);
void stream_counts_free(struct stream_counts *counts);

// Closes the shards that are old or full.
void streams_roll_due(struct workshop *shop);
// Forgets what is older than it has to be: changes, shards, streams, and the logs of gone tables.
void streams_trim(struct workshop *shop);

#endif
