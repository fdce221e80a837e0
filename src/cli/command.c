// Parsing and printing what command.h describes. "--name value" and "--name=value" are
// the same; "--" ends the options; "-" is an argument.
#include "cli/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const struct cli_command *command, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "dolmen %s: ", command->name);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    if (code == CLI_USAGE)
        (void)fprintf(stderr, "Try 'dolmen %s --help'.\n", command->name);
    return code;
}

// ---- Parsing -------------------------------------------------------------------------------

// The row of the option that `word` names, up to an equal sign; -1 if there is none.
static int option_find(const struct cli_command *command, const char *word, size_t len)
{
    for (int i = 0; command->options != NULL && command->options[i].name != NULL; i++) {
        const char *name = command->options[i].name;
        if (strlen(name) == len && memcmp(name, word, len) == 0)
            return i;
    }
    return -1;
}

// Takes argv[*at], an option, and its value; *at moves to the last word taken.
static bool option_take(struct cli_input *input, int argc, char **argv, int *at)
{
    const struct cli_command *command = input->command;
    const char *word = argv[*at];
    const char *equal = strchr(word, '=');
    size_t len = equal == NULL ? strlen(word) : (size_t)(equal - word);
    int row = option_find(command, word, len);
    if (row < 0) {
        (void)cli_fail(command, CLI_USAGE, "there is no option '%.*s'.", (int)len, word);
        return false;
    }
    const struct cli_option *option = &command->options[row];
    if (option->value == NULL && equal != NULL) {
        (void)cli_fail(command, CLI_USAGE, "%s takes no value.", option->name);
        return false;
    }
    if (option->value == NULL) {
        input->values[row] = "";
        return true;
    }
    if (equal == NULL && *at + 1 >= argc) {
        (void)cli_fail(command, CLI_USAGE, "%s needs a value: %s %s.", option->name, option->name,
                       option->value);
        return false;
    }
    input->values[row] = equal != NULL ? equal + 1 : argv[++*at];
    return true;
}

bool cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_input *input)
{
    *input = (struct cli_input){.command = command, .argc = argc, .argv = argv};
    bool options_ended = false;
    for (int i = 0; i < argc; i++) {
        bool is_option = !options_ended && argv[i][0] == '-' && argv[i][1] != 0;
        if (is_option && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (is_option) {
            if (!option_take(input, argc, argv, &i))
                return false;
        } else if (input->argument_count == command->arguments_max) {
            (void)cli_fail(command, CLI_USAGE, "'%s' is one argument too many.", argv[i]);
            return false;
        } else {
            input->arguments[input->argument_count++] = argv[i];
        }
    }
    return true;
}

const char *cli_repeated(const struct cli_input *input, const char *option, size_t position)
{
    struct cli_input one = {.command = input->command};
    int row = option_find(input->command, option, strlen(option));
    ensure(row >= 0 && row < CLI_OPTIONS_MAX);
    // The line has been parsed once without a mistake.
    for (int i = 0; i < input->argc && strcmp(input->argv[i], "--") != 0; i++) {
        const char *word = input->argv[i];
        if (word[0] != '-' || word[1] == 0)
            continue;
        one.values[row] = NULL;
        if (!option_take(&one, input->argc, input->argv, &i))
            return NULL;
        if (one.values[row] != NULL && position-- == 0)
            return one.values[row];
    }
    return NULL;
}

const char *cli_value(const struct cli_input *input, const char *option, const char *otherwise)
{
    int row = option_find(input->command, option, strlen(option));
    ensure(row >= 0 && row < CLI_OPTIONS_MAX);
    return input->values[row] == NULL ? otherwise : input->values[row];
}

bool cli_given(const struct cli_input *input, const char *option)
{
    return cli_value(input, option, NULL) != NULL;
}

bool cli_number(const struct cli_input *input, const char *option, unsigned otherwise, unsigned min,
                unsigned max, unsigned *out)
{
    const char *text = cli_value(input, option, NULL);
    if (text == NULL) {
        *out = otherwise;
        return true;
    }
    char *end = NULL;
    unsigned long value = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != 0 || value < min || value > max) {
        (void)cli_fail(input->command, CLI_USAGE, "%s must be a number from %u to %u, not '%s'.",
                       option, min, max, text);
        return false;
    }
    *out = (unsigned)value;
    return true;
}

// "256M" as bytes; false if it is no size or too large to say.
static bool size_parse(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    errno = 0;
    unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (end == NULL || errno != 0)
        return false;
    if (*end != 0) {
        const char *unit = strchr(units, toupper((unsigned char)*end));
        if (unit == NULL || end[1] != 0)
            return false;
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (value > SIZE_MAX >> shift)
            return false;
        value <<= shift;
    }
    *out = (size_t)value;
    return true;
}

bool cli_size(const struct cli_input *input, const char *option, size_t min, size_t max,
              size_t *out)
{
    const char *text = cli_value(input, option, NULL);
    size_t value = 0;
    if (text != NULL && (!size_parse(text, &value) || value < min || value > max)) {
        (void)cli_fail(input->command, CLI_USAGE,
                       "%s must be a size from %zuM to %zuG, such as 256M or 2G, not '%s'.", option,
                       min >> 20, max >> 30, text);
        return false;
    }
    *out = value;
    return true;
}

bool cli_exclusive(const struct cli_input *input, const char *one, const char *other)
{
    if (!cli_given(input, one) || !cli_given(input, other))
        return true;
    (void)cli_fail(input->command, CLI_USAGE, "%s and %s exclude each other.", one, other);
    return false;
}

// ---- Help ----------------------------------------------------------------------------------

enum { HELP_COLUMN = 28 };

static void print_option(const struct cli_option *option)
{
    int used = printf("  %s%s%s", option->name, option->value == NULL ? "" : " ",
                      option->value == NULL ? "" : option->value);
    const char *line = option->help;
    while (line != NULL) {
        const char *newline = strchr(line, '\n');
        int len = newline == NULL ? (int)strlen(line) : (int)(newline - line);
        printf("%*s%.*s\n", used < HELP_COLUMN ? HELP_COLUMN - used : 1, "", len, line);
        used = 0;
        line = newline == NULL ? NULL : newline + 1;
    }
}

void cli_print_help(const struct cli_command *command)
{
    printf("dolmen %s: %s\n\nUsage: dolmen %s%s%s\n", command->name, command->summary,
           command->name, command->arguments[0] == 0 ? "" : " ", command->arguments);
    if (command->about != NULL)
        printf("\n%s\n", command->about);
    printf("\nOptions:\n");
    for (size_t i = 0; command->options != NULL && command->options[i].name != NULL; i++)
        print_option(&command->options[i]);
    print_option(&(struct cli_option){"--help", NULL, "This text."});
    printf("\nExample:\n%s\n", command->example);
}

void cli_print_overview(void)
{
    printf("dolmen: a DynamoDB-compatible database.\n\nUsage: dolmen COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; cli_commands()[i] != NULL; i++)
        printf("  %-10s %s\n", cli_commands()[i]->name, cli_commands()[i]->summary);
    printf("\n'dolmen COMMAND --help' tells more, with an example.\n"
           "Exit codes: 0 ok, 1 failed, 2 wrong usage.\n");
}
