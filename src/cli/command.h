// What a subcommand is: a row of the table in cli.c, described by its own file. Options
// are data, so that parsing, --help and the errors are the same for all of them.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

enum { CLI_OPTIONS_MAX = 24, CLI_ARGUMENTS_MAX = 64 };

struct cli_option {
    const char *name;  // "--port"
    const char *value; // what stands for its value in the help; NULL if it takes none
    const char *help;  // lines after the first are indented by the printer
};

struct cli_input;

struct cli_command {
    const char *name;
    const char *arguments;            // of the usage line: "OPERATION [JSON | -]"
    const char *summary;              // one line
    const char *about;                // a paragraph for --help, or NULL
    const char *example;              // lines for --help
    const struct cli_option *options; // ends with a NULL name; or NULL
    size_t arguments_max;
    int (*run)(const struct cli_input *input);
};

// A parsed command line. Everything points into argv.
struct cli_input {
    const struct cli_command *command;
    const char *values[CLI_OPTIONS_MAX]; // by the option's row; "" for a flag; NULL if not given
    const char *arguments[CLI_ARGUMENTS_MAX];
    size_t argument_count;
    int argc; // all of it, for options that may be given more than once
    char **argv;
};

extern const struct cli_command cli_serve;
extern const struct cli_command cli_call;
extern const struct cli_command cli_export;
extern const struct cli_command cli_import;
extern const struct cli_command cli_bench;
extern const struct cli_command cli_generate;
extern const struct cli_command cli_check;
extern const struct cli_command cli_infer;
extern const struct cli_command cli_lint;
extern const struct cli_command cli_query;
extern const struct cli_command cli_diff;
extern const struct cli_command cli_apply;
extern const struct cli_command cli_abandon;
extern const struct cli_command cli_migrate;
extern const struct cli_command cli_verify;
extern const struct cli_command cli_repair;
extern const struct cli_command cli_version;
extern const struct cli_command cli_help;

// The commands of the table, and one by its name (NULL if there is none).
const struct cli_command *const *cli_commands(void);
const struct cli_command *cli_command_find(const char *name);

// False: the mistake has been told to the user; exit with CLI_USAGE.
MUST_CHECK bool cli_parse(const struct cli_command *command, int argc, char **argv,
                          struct cli_input *input);
bool cli_given(const struct cli_input *input, const char *option);
// The option's value, or `otherwise`.
const char *cli_value(const struct cli_input *input, const char *option, const char *otherwise);
// The value of the option's `position`th mention (from 0), or NULL if there are fewer.
const char *cli_repeated(const struct cli_input *input, const char *option, size_t position);
// A decimal number between min and max; false after telling the user.
MUST_CHECK bool cli_number(const struct cli_input *input, const char *option, unsigned otherwise,
                           unsigned min, unsigned max, unsigned *out);
// Bytes between min and max, as "64M" or "2G" (K, M, G, T; powers of 1024); 0 if the option is not
// given; false after telling the user.
MUST_CHECK bool cli_size(const struct cli_input *input, const char *option, size_t min, size_t max,
                         size_t *out);
// At most one of two options; false after telling the user.
MUST_CHECK bool cli_exclusive(const struct cli_input *input, const char *one, const char *other);

void cli_print_help(const struct cli_command *command);
void cli_print_overview(void);

// "dolmen serve: …" on standard error. Returns the code it is given.
int cli_fail(const struct cli_command *command, int code, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
