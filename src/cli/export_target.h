// What `dolmen export` and `dolmen import` work on: a server, or a data directory opened here. And
// what both show of their progress.
#ifndef CLI_EXPORT_TARGET_H
#define CLI_EXPORT_TARGET_H

#include "base/error.h"
#include "cli/command.h"
#include "value/key.h"

struct api;

struct target {
    const struct cli_input *input;
    struct api *api;      // NULL if there is an endpoint
    const char *endpoint; // else
    const char *region;
    unsigned patience_s; // for an answer; 0: a minute
    struct buf response; // of the last call
};

// The rows that both commands have.
#define TARGET_OPTIONS                                                                             \
    {"--endpoint", "URL", "The server to work on. Default: " TARGET_ENDPOINT "."},                 \
        {"--data", "DIR", "Open this data directory instead; no server may have it open."},        \
        {"--region", "NAME", "The region that ARNs carry. Default: us-east-1."},                   \
    {                                                                                              \
        "--durability", "full|relaxed", "As for 'dolmen serve'; of use only with --data."          \
    }
#define TARGET_ENDPOINT "http://127.0.0.1:8000"

// False after telling the user; *code is then the exit code.
MUST_CHECK bool target_open(struct target *target, const struct cli_input *input, int *code);
void target_close(struct target *target);

// One operation. Repeats it, with growing pauses, while the server throttles or is not to be
// reached. The status, with the answer in target->response; 0 after telling the user.
MUST_CHECK int target_call(struct target *target, const char *operation, struct slice body);

// "ValidationException: …" of the last answer, an error; into `out`.
void target_error(const struct target *target, char *out, size_t size);

// The text of a member of a JSON object; ptr NULL if there is none.
struct slice json_member(struct slice object, const char *name, struct arena *arena);
// A member that is a string, or empty.
struct slice json_member_text(struct slice object, const char *name, struct arena *arena);

// What a command needs to know of its table.
struct target_table {
    struct slice description; // JSON, in the arena
    uint64_t items;           // as of some time ago
    size_t key_count;
    struct key_part keys[64]; // all attributes that keys use
};
// False after telling the user.
MUST_CHECK bool target_describe(struct target *target, const char *table, struct arena *arena,
                                struct target_table *out);

// ---- Progress ---------------------------------------------------------------------

// One line on standard error, if that is a terminal.
struct progress {
    const char *what;
    bool shown;
    bool bytes; // counts bytes, else items
    uint64_t total;
    uint64_t before; // done by earlier runs
    double started;
    double last;
};
void progress_begin(struct progress *progress, const char *what, uint64_t total, uint64_t before,
                    bool bytes, bool quiet);
void progress_show(struct progress *progress, uint64_t done, uint64_t items);
void progress_end(struct progress *progress);

#endif
