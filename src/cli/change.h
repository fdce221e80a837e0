// What the commands that change models have in common: sending the file, showing what would be or
// is being done.
#ifndef CLI_CHANGE_H
#define CLI_CHANGE_H

#include "cli/target.h"

// A request that begins with the text of a file under `member`, and its name. If the file cannot be
// read, the user has been told, and it will not be sent.
struct change_request {
    struct buf body;
    struct json_writer w;
    bool unread;
};
struct json_writer *change_begin(struct change_request *request, struct cli_input *input,
                                 const char *member, const char *path);
// Runs a command that has a target and names files: `one` for each of them, until it fails.
// `missing` is what to say if there is none.
MUST_CHECK bool change_run(struct cli_input *input, const char *missing,
                           bool (*one)(struct cli_input *input, struct target *target,
                                       const char *path));
// From here on SIGINT and SIGTERM end the command with a sentence that says what goes on without
// it, and how to come back to that. Before the first thread is started.
void change_interruptible(const struct cli_input *input);
// --sample and --rate, if they are given, as numbers of the request; false if they are none.
MUST_CHECK bool change_numbers(struct json_writer *w, struct cli_input *input);
// Sends it. The answer is in target->response; false after telling the user what is wrong.
MUST_CHECK bool change_send(struct change_request *request, struct target *target,
                            const char *operation);

// The same, but what is wrong is the caller's to tell (change_told): the status.
MUST_CHECK int change_call(struct change_request *request, struct target *target,
                           const char *operation);
bool change_told(struct target *target, int status);

// Prints the last answer: as it is with --json, else by `show`.
bool change_print(struct target *target, void (*show)(struct slice answer));
// Shows the answer of DiffModel or ApplyModel in words.
void change_show(struct slice answer);
// Shows what is known of rules that remove items, of an answer of DescribeModel (sweep.c).
void sweep_show(struct slice answer);
// What makes a count's noun right: "" for one, else "s".
const char *change_plural(struct slice answer, const char *name);
// Prints "{what} key  reason" for each element of a list of samples.
void change_show_samples(const char *what, struct slice answer, const char *name);

// `one` for each table of an answer of ApplyModel, with its element, until it fails.
MUST_CHECK bool change_each_table(struct target *target,
                                  bool (*one)(struct target *target, const char *name,
                                              struct slice table));
// Waits until the model of a table is attached, which comes before all other work.
MUST_CHECK bool change_attached(struct target *target, const char *table, struct slice unused);
// Waits until the work on a table is done (DescribeModel), with a bar on standard error.
MUST_CHECK bool change_wait(struct target *target, const char *table, bool quiet);

#endif
