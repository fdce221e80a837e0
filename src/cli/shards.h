// Reading the stream of a table (DynamoDB Streams, of any server of the API), shards parents first,
// a page of records at a time. Where it stands is a text, which whoever takes the records keeps
// with what becomes of them.
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "cli/target.h"

enum { SHARDS_MAX = 4096 };

struct shard {
    char id[128];
    char parent[128];
    char sequence[64]; // of the last record that was taken; or empty
    char *iterator;    // of the next page; or NULL
    bool done;
};

struct shards {
    struct target *target;
    const char *table;
    char *arn; // NULL if the table has no stream
    struct arena page;
    size_t count;
    struct shard *shards;
};

// False after telling the user.
MUST_CHECK bool shards_open(struct shards *stream, struct target *target, const char *table);
void shards_close(struct shards *stream);

// Where it stands. Reading a text of another stream is false, and leaves it at the beginning.
void shards_note(const struct shards *stream, struct buf *out);
MUST_CHECK bool shards_resume(struct shards *stream, struct slice note);
// Stands behind everything that is there now.
MUST_CHECK bool shards_newest(struct shards *stream);

// One page of each shard that has one. `take` gets the records of a page, each with json_list_next,
// and the text of where the stream stands behind them; if it is false, so is this. *any tells
// whether there was something.
MUST_CHECK bool shards_read(struct shards *stream,
                            bool (*take)(void *context, struct json_list *records,
                                         struct slice note),
                            void *context, bool *any);

// An image of a record: "Keys", "NewImage", "OldImage", in the page's memory; VALUE_NONE if it has
// none.
MUST_CHECK bool shards_image(struct shards *stream, struct slice record, const char *name,
                             struct slice *out);

#endif
