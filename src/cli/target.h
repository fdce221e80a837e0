// What most commands work on: a server, or a data directory opened here. How it is asked, what is
// read from its answers, and what is shown of progress.
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "api/api.h"
#include "base/error.h"
#include "cli/command.h"
#include "crypt/crypt.h"
#include "rocks/rocks.h"
#include "transfer/format.h"
#include "value/key.h"
#include "json/writer.h"

#define CLI_DATA_DEFAULT "dolmen-data"

struct client_trust;
struct sign_credentials;
struct sign_keys;

struct target {
    struct cli_input *input;
    struct api *api;      // NULL if there is an endpoint
    const char *endpoint; // else
    const char *region;
    unsigned patience_s;        // for an answer; 0: a minute
    const char *profile;        // whose credentials; NULL: those of --profile, or the usual ones
    struct client_trust *trust; // once it was asked for
    struct sign_credentials *credentials; // the same; NULL if there are none
    bool credentials_sought;
    struct buf response; // of the last call
};

// The master key of --master-key, or of DOLMEN_MASTER_KEY in the environment: into the options,
// which have a pointer to `key` if there is one. False after telling the user.
MUST_CHECK bool target_master(struct cli_input *input, struct crypt_key *key,
                              struct store_options *options);

// --encryption, of commands that may make a directory. False after telling the user.
MUST_CHECK bool target_encryption(struct cli_input *input, struct store_options *options);

// The store of `wanted` by itself, likewise.
MUST_CHECK struct store *database_store(struct cli_input *input,
                                        const struct store_options *wanted);
// Opens the database of `wanted`, whose path is NULL for memory, with the --durability of the
// command line; api_close closes it. Calls are counted in the budget, if there is one. NULL after
// telling the user.
MUST_CHECK struct api *database_open(struct cli_input *input, const struct store_options *wanted,
                                     struct budget *budget);

// The server that was named: by --endpoint, else by the environment (DOLMEN_ENDPOINT, and what the
// AWS SDKs read: AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL); or `otherwise`.
const char *target_endpoint(const struct cli_input *input, const char *otherwise);
// --region, or what AWS's tools take: AWS_REGION, AWS_DEFAULT_REGION, us-east-1.
const char *target_region(const struct cli_input *input);

// By --data or --endpoint, and --region. False, with nothing to close, after telling the user.
MUST_CHECK bool target_open(struct target *target, struct cli_input *input);
void target_close(struct target *target);

// Whom to believe that it is the server, for an endpoint with https://: by --ca or AWS_CA_BUNDLE,
// and
// --client-cert. NULL with a sentence in `error`; NULL without one if it is not needed.
const struct client_trust *target_trust(struct target *target, char *error, size_t error_size);

// Whose requests they are: by --profile, or where AWS's programs find it (sign/credentials.h). NULL
// with a sentence in `error`; NULL without one if there are no credentials.
const struct sign_keys *target_keys(struct target *target, char *error, size_t error_size);

// ---- Asking -----------------------------------------------------------------------

// One operation. Repeats it, with growing pauses, while the server throttles or is not to be
// reached. The status, with the answer in target->response; 0 after telling the user.
MUST_CHECK int target_call(struct target *target, const char *operation, struct slice body);
// The same once. 0 with a sentence in `error`.
MUST_CHECK int target_call_once(struct target *target, const char *operation, struct slice body,
                                char *error, size_t error_size);
// Says why there was no answer, and what to do; false.
bool target_silent(const struct target *target, const char *error);
// target_call of a request that is written as it looks (json_form).
MUST_CHECK int target_ask(struct target *target, const char *operation, const char *form, ...)
    PRINTF_LIKE(3, 4);
// Whether a status is 200; if not, the error has been told to the user.
MUST_CHECK bool target_fine(struct target *target, int status);

// "ValidationException: …" of the last answer, an error; into `out`.
void target_error(const struct target *target, char *out, size_t size);

struct target_wait {
    const char *operation;
    const char *busy;
    const char *what; // it does, for the bar
    bool quiet;       // no bar
};
// Asks again and again while the answer's Status is `busy`, with a bar. The last status. How far it
// is stands in the answer's Progress, or in the answer itself: Done, Total. The request is a form.
MUST_CHECK int target_await(struct target *target, const struct target_wait *wait, const char *form,
                            ...) PRINTF_LIKE(3, 4);

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

// ---- Files of items ---------------------------------------------------------------

// --format and --delimiter.
MUST_CHECK bool target_format(struct cli_input *input, enum transfer_format *format,
                              uint8_t *delimiter);
// What a run that was interrupted left at `path`, a JSON object of its table, in the arena; empty
// if there is none, or --restart forgets it. `what` it was for the message.
MUST_CHECK bool target_state(struct cli_input *input, const char *path, const char *what,
                             struct arena *arena, struct slice *state, struct error *error);

// ---- Answers ----------------------------------------------------------------------

// The text of a member of a JSON object; ptr NULL if there is none.
struct slice json_member(struct slice object, const char *name, struct arena *arena);
// A member that is a string, or empty; a whole number, or 0; whether one is true.
struct slice json_member_text(struct slice object, const char *name, struct arena *arena);
int64_t json_member_number(struct slice object, const char *name);
bool json_member_flag(struct slice object, const char *name);

// The elements of an array that is a member: for each of them `element` is its text.
struct json_list {
    struct slice rest;
    struct arena *arena;
};
struct json_list json_list(struct slice object, const char *name, struct arena *arena);
MUST_CHECK bool json_list_next(struct json_list *list, struct slice *element);

// `show` for each of them.
void json_each(struct slice object, const char *name, void (*show)(struct slice element));

// Prints a sentence with members of an object in it: "table {TableName}: {Done#} items\n". A string
// is printed as its text, all else as it is; nothing, or 0 if its name ends with "#", if there is
// none.
void json_print(struct slice object, const char *sentence);
// The same if the object has the member, and it is not empty.
bool json_print_given(struct slice object, const char *name, const char *sentence);

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
