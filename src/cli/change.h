// What the commands that change models have in common: reading the file, asking the server (or the
// database opened here), showing what would be or is being done.
#ifndef CLI_CHANGE_H
#define CLI_CHANGE_H

#include "cli/export_target.h"
#include "json/writer.h"

struct api;

// Reads a whole file; false after telling the user.
MUST_CHECK bool change_read(const struct cli_input *input, const char *path, struct buf *out);

// A request that begins with the text of a file under `member`, and its name.
struct change_request {
    struct buf body;
    struct json_writer w;
};
struct json_writer *change_begin(struct change_request *request, const char *member,
                                 const char *path, const struct buf *text);
// Sends it. The answer is in target->response; 0 after telling the user what is wrong.
MUST_CHECK int change_send(struct change_request *request, struct target *target,
                           const char *operation);

// The elements of a JSON array, one after the other; false at the end.
struct change_list {
    struct slice rest;
    struct arena *arena;
};
struct change_list change_list(struct slice object, const char *name, struct arena *arena);
MUST_CHECK bool change_next(struct change_list *list, struct slice *element);
int64_t change_number(struct slice object, const char *name, struct arena *arena);
bool change_flag(struct slice object, const char *name, struct arena *arena);

// Shows the answer of DiffModel or ApplyModel in words.
void change_show(struct slice answer);

// Waits until the work on a table is done (DescribeModel), with a bar on standard error. The exit
// code.
MUST_CHECK int change_wait(struct target *target, const char *table, bool quiet);

#endif
