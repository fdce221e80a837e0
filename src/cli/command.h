// What a subcommand is: a row of the list below, a file with its function, and help/NAME.txt. That
// text is what --help prints, and the parser knows options by it too: a line "  --port N  …" is an
// option that takes a value, "  --memory  …" a flag. So they cannot disagree.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/buf.h"

#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

enum { CLI_ARGUMENTS_MAX = 64 };

// X(name, most arguments): the commands, in the order of `dolmen help`.
#define COMMAND_LIST(X)                                                                            \
    X(serve, 0)                                                                                    \
    X(replica, 0)                                                                                  \
    X(promote, 0)                                                                                  \
    X(init, 1)                                                                                     \
    X(call, 2)                                                                                     \
    X(query, CLI_ARGUMENTS_MAX)                                                                    \
    X(undelete, CLI_ARGUMENTS_MAX)                                                                 \
    X(export, 2)                                                                                   \
    X(import, 2)                                                                                   \
    X(copy, 2)                                                                                     \
    X(bench, 0)                                                                                    \
    X(generate, 2)                                                                                 \
    X(check, CLI_ARGUMENTS_MAX)                                                                    \
    X(infer, 1)                                                                                    \
    X(report, 1)                                                                                   \
    X(lint, CLI_ARGUMENTS_MAX)                                                                     \
    X(diff, 1)                                                                                     \
    X(apply, CLI_ARGUMENTS_MAX)                                                                    \
    X(model, 1)                                                                                    \
    X(abandon, 1)                                                                                  \
    X(sweep, 1)                                                                                    \
    X(archives, 1)                                                                                 \
    X(publish, 2)                                                                                  \
    X(project, 1)                                                                                  \
    X(consumers, 1)                                                                                \
    X(consumer, 3)                                                                                 \
    X(migrate, CLI_ARGUMENTS_MAX)                                                                  \
    X(audit, CLI_ARGUMENTS_MAX)                                                                    \
    X(user, 4)                                                                                     \
    X(group, 4)                                                                                    \
    X(role, 4)                                                                                     \
    X(key, 3)                                                                                      \
    X(policy, CLI_ARGUMENTS_MAX)                                                                   \
    X(verify, 1)                                                                                   \
    X(repair, 1)                                                                                   \
    X(encryption, 2)                                                                               \
    X(version, 0)                                                                                  \
    X(help, 1)

// A command line. Everything points into argv, which has been parsed once without a mistake.
struct cli_input {
    const struct cli_command *command;
    const char *arguments[CLI_ARGUMENTS_MAX];
    size_t argument_count;
    int argc;
    char **argv;
    char **owned; // argv, if a file has brought words; these are in front
    int owned_count;
    int code; // of the exit, if the command fails: what was told last, or CLI_FAILED
    char meant[160];
};

// Reads the arguments of a line that has the rest; false after telling the user.
MUST_CHECK bool cli_parse(struct cli_input *input);

// Whether the command has that option, and whether it takes a value.
bool cli_option(const struct cli_input *input, const char *option, bool *takes_value);
// Puts the options of the file of --config before those of the line, which so overrule them: a line
// "name = value" is the option --name, "name = true" a flag. Reads the arguments anew. False after
// telling the user. (config.c)
MUST_CHECK bool cli_configure(struct cli_input *input);
// Frees what that has read; the line is of no use any more.
void cli_unconfigure(struct cli_input *input);

// Does what the command says; false if it failed, after telling the user.
typedef bool cli_run(struct cli_input *input);

struct cli_command {
    const char *name;
    const char *help;
    size_t arguments_max;
    cli_run *run;
};

#define X(name, most)                                                                              \
    extern const char help_##name##_txt[];                                                         \
    cli_run cli_##name;
COMMAND_LIST(X)
#undef X

bool cli_given(const struct cli_input *input, const char *option);
// The option's value, or `otherwise`.
const char *cli_value(const struct cli_input *input, const char *option, const char *otherwise);
// The value of the option's `position`th mention (from 0), or NULL if there are fewer.
const char *cli_repeated(const struct cli_input *input, const char *option, size_t position);
// The argument at a position; `otherwise` if there are fewer.
const char *cli_argument(const struct cli_input *input, size_t position, const char *otherwise);

// Those that return bool answer false after telling the user.

// A decimal number between min and max.
MUST_CHECK bool cli_number(struct cli_input *input, const char *option, unsigned otherwise,
                           unsigned min, unsigned max, unsigned *out);
// Bytes between min and max, as "64M" or "2G" (K, M, G, T; powers of 1024); 0 if the option is not
// given.
MUST_CHECK bool cli_size(struct cli_input *input, const char *option, size_t min, size_t max,
                         size_t *out);
// The position of the option's value in a list that ends with NULL; otherwise the mistake is the
// option's name and `wanted`.
MUST_CHECK bool cli_choice(struct cli_input *input, const char *option, const char *const *choices,
                           const char *wanted, size_t *out);
// At most one of two options.
MUST_CHECK bool cli_exclusive(struct cli_input *input, const char *one, const char *other);

// "dolmen serve: …" on standard error. Always false, so that a command can return it: one that
// could not be done, and one that was called in a wrong way.
bool cli_fail(struct cli_input *input, const char *format, ...) PRINTF_LIKE(2, 3);
bool cli_misused(struct cli_input *input, const char *format, ...) PRINTF_LIKE(2, 3);
// The same line, but nothing is wrong.
void cli_note(const struct cli_input *input, const char *format, ...) PRINTF_LIKE(2, 3);

struct model_guess;
// What ends a sentence about a name that is none: "; did you mean 'serve'?", or "." if no candidate
// is near. Valid until it is asked again.
const char *cli_meant(struct cli_input *input, const struct model_guess *guess);

// ---- Files and output -----------------------------------------------------------------------

// Reads a whole file, or standard input if the path is "-".
MUST_CHECK bool cli_read(struct cli_input *input, const char *path, struct buf *out);
// A model with the files that it includes in their places.
MUST_CHECK bool cli_read_model(struct cli_input *input, const char *path, struct buf *out);
// Prints the text and releases it; false if the stream does not take it.
bool cli_print(struct buf *text, FILE *to);
bool cli_is_directory(const char *path); // or ends with a slash

struct model;
// Parses a model; or the file of one, or standard input if the path is "-". NULL after showing what
// is wrong with it.
MUST_CHECK struct model *cli_model_text(struct slice name, struct slice text);
MUST_CHECK struct model *cli_model_file(struct cli_input *input, const char *path);
// Which of its tables may have been meant.
struct model_guess cli_table_guess(const struct model *model, const char *name);

#endif
