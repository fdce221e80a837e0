// Parsing what command.h describes. "--name value" and "--name=value" are the same; "--" ends the
// options; "-" is an argument. Command lines are short: each question goes through argv again.
#include "cli/command.h"

#include "base/files.h"
#include "model/parse.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Telling the user ----------------------------------------------------------------------

static void tell(const struct cli_input *input, const char *format, va_list arguments)
{
    (void)fprintf(stderr, "dolmen %s: ", input->command->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

bool cli_fail(struct cli_input *input, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(input, format, arguments);
    va_end(arguments);
    input->code = CLI_FAILED;
    return false;
}

bool cli_misused(struct cli_input *input, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(input, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "Try 'dolmen %s --help'.\n", input->command->name);
    input->code = CLI_USAGE;
    return false;
}

void cli_note(const struct cli_input *input, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(input, format, arguments);
    va_end(arguments);
}

const char *cli_meant(struct cli_input *input, const struct model_guess *guess)
{
    if (guess->best.len == 0)
        return ".";
    (void)snprintf(input->meant, sizeof(input->meant), "; did you mean '%.*s'?",
                   SLICE_FMT(guess->best));
    return input->meant;
}

// ---- Parsing -------------------------------------------------------------------------------

// A word of the command line and, if it is an option, its value.
struct word {
    const char *text;
    size_t len;          // of the option's name; 0 if it is an argument
    const char *value;   // "" of a flag
    struct slice wanted; // what stands for the value in the help; empty if it takes none
};

// The next option that begins a line of the help: "\n  --port N   …".
static struct slice option_next(const char **help)
{
    const char *line = strstr(*help, "\n  --");
    if (line == NULL)
        return slice_of(NULL, 0);
    *help = line + 3;
    return slice_of(line + 3, strcspn(line + 3, " "));
}

// Finds an option. One blank is before what stands for its value, two or more behind a flag.
static bool option_find(const struct cli_input *input, const char *name, size_t len,
                        struct slice *wanted)
{
    const char *at = input->command->help;
    for (struct slice option; (option = option_next(&at)).len > 0;) {
        if (slice_equal(option, slice_of(name, len))) {
            *wanted = slice_of(at + len + 1, strcspn(at + len + 1, " "));
            return true;
        }
    }
    return false;
}

static bool option_unknown(struct cli_input *input, struct slice name)
{
    struct model_guess guess = model_guess_for(name);
    const char *at = input->command->help;
    for (struct slice option; (option = option_next(&at)).len > 0;)
        model_guess_candidate(&guess, option);
    return cli_misused(input, "there is no option '%.*s'%s", SLICE_FMT(name),
                       cli_meant(input, &guess));
}

// Takes the word at *at, with its value if that is the next one; *at moves behind. `ended`: "--"
// was before.
static bool word_take(struct cli_input *input, int *at, bool ended, struct word *out)
{
    const char *text = input->argv[(*at)++];
    *out = (struct word){.text = text};
    if (ended || text[0] != '-' || text[1] == 0)
        return true;
    out->len = strcspn(text, "=");
    if (!option_find(input, text, out->len, &out->wanted))
        return option_unknown(input, slice_of(text, out->len));
    bool equal = text[out->len] == '=';
    if (out->wanted.len == 0 && equal)
        return cli_misused(input, "%.*s takes no value.", (int)out->len, text);
    if (out->wanted.len > 0 && !equal && *at == input->argc)
        return cli_misused(input, "%s needs a value: %s %.*s.", text, text, SLICE_FMT(out->wanted));
    out->value = out->wanted.len == 0 ? "" : equal ? text + out->len + 1 : input->argv[(*at)++];
    return true;
}

static bool is_end_of_options(const char *word)
{
    return strcmp(word, "--") == 0;
}

bool cli_parse(struct cli_input *input)
{
    bool ended = false;
    for (int at = 0; at < input->argc;) {
        struct word word;
        if (!ended && is_end_of_options(input->argv[at])) {
            ended = true;
            at++;
            continue;
        }
        if (!word_take(input, &at, ended, &word))
            return false;
        if (word.len > 0)
            continue;
        if (input->argument_count == input->command->arguments_max)
            return cli_misused(input, "'%s' is one argument too many.", word.text);
        input->arguments[input->argument_count++] = word.text;
    }
    return true;
}

bool cli_option(const struct cli_input *input, const char *option, bool *takes_value)
{
    struct slice wanted;
    if (!option_find(input, option, strlen(option), &wanted))
        return false;
    *takes_value = wanted.len > 0;
    return true;
}

const char *cli_repeated(const struct cli_input *input, const char *option, size_t position)
{
    struct cli_input again = *input;
    struct slice wanted;
    struct word word;
    size_t len = strlen(option);
    ensure(option_find(input, option, len, &wanted));
    for (int at = 0; at < again.argc && !is_end_of_options(again.argv[at]);) {
        ensure(word_take(&again, &at, false, &word));
        if (word.len == len && memcmp(word.text, option, len) == 0 && position-- == 0)
            return word.value;
    }
    return NULL;
}

// The last mention counts, so that a script's option can be overruled behind it.
const char *cli_value(const struct cli_input *input, const char *option, const char *otherwise)
{
    const char *last = otherwise;
    const char *text;
    for (size_t i = 0; (text = cli_repeated(input, option, i)) != NULL; i++)
        last = text;
    return last;
}

bool cli_given(const struct cli_input *input, const char *option)
{
    return cli_value(input, option, NULL) != NULL;
}

const char *cli_argument(const struct cli_input *input, size_t position, const char *otherwise)
{
    return position < input->argument_count ? input->arguments[position] : otherwise;
}

// ---- Values --------------------------------------------------------------------------------

// A decimal number that begins the text, which goes on at *end; false if none does.
static bool number_parse(const char *text, const char **end, unsigned long long *out)
{
    char *behind = NULL;
    errno = 0;
    *out = isdigit((unsigned char)text[0]) ? strtoull(text, &behind, 10) : 0;
    *end = behind;
    return behind != NULL && errno == 0;
}

bool cli_number(struct cli_input *input, const char *option, unsigned otherwise, unsigned min,
                unsigned max, unsigned *out)
{
    const char *text = cli_value(input, option, NULL);
    const char *end;
    unsigned long long value = otherwise;
    if (text != NULL &&
        (!number_parse(text, &end, &value) || *end != 0 || value < min || value > max))
        return cli_misused(input, "%s must be a number from %u to %u, not '%s'.", option, min, max,
                           text);
    *out = (unsigned)value;
    return true;
}

// "256M" as bytes; false if it is no size or too large to say.
static bool size_parse(const char *text, unsigned long long *out)
{
    static const char units[] = "KMGT";
    const char *end;
    if (!number_parse(text, &end, out))
        return false;
    const char *unit = *end == 0 ? NULL : strchr(units, toupper((unsigned char)*end));
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (*end != 0 && (unit == NULL || end[1] != 0))
        return false;
    if (*out > SIZE_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

bool cli_size(struct cli_input *input, const char *option, size_t min, size_t max, size_t *out)
{
    const char *text = cli_value(input, option, NULL);
    unsigned long long value = 0;
    if (text != NULL && (!size_parse(text, &value) || value < min || value > max))
        return cli_misused(input,
                           "%s must be a size from %zuM to %zuG, such as 256M or 2G, not '%s'.",
                           option, min >> 20, max >> 30, text);
    *out = (size_t)value;
    return true;
}

bool cli_choice(struct cli_input *input, const char *option, const char *const *choices,
                const char *wanted, size_t *out)
{
    const char *text = cli_value(input, option, choices[0]);
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return cli_misused(input, "%s must be %s, not '%s'.", option, wanted, text);
}

bool cli_exclusive(struct cli_input *input, const char *one, const char *other)
{
    return !cli_given(input, one) || !cli_given(input, other) ||
           cli_misused(input, "%s and %s exclude each other.", one, other);
}

// ---- Files and output -----------------------------------------------------------------------

bool cli_read(struct cli_input *input, const char *path, struct buf *out)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail(input, "cannot read '%s': %s.", path, strerror(errno));
    bool ok = file_read(fd, out);
    const char *why = out->failed ? "it is too large" : strerror(errno);
    if (!standard)
        (void)close(fd);
    return ok || cli_fail(input, "cannot read '%s': %s.", standard ? "standard input" : path, why);
}

bool cli_print(struct buf *text, FILE *to)
{
    bool ok = !text->failed && (text->len == 0 || fwrite(text->ptr, 1, text->len, to) == text->len);
    buf_release(text);
    return fflush(to) == 0 && ok;
}

bool cli_is_directory(const char *path)
{
    struct stat info;
    size_t len = strlen(path);
    return (len > 0 && path[len - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

enum { MEMORY = 16 << 20, SHOWN_MAX = 64 << 20 };

struct model *cli_model_text(struct slice name, struct slice text)
{
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, MEMORY);
    diagnostics_init(&found, &arena);
    struct model *model = model_parse(name, text, &found);
    if (model == NULL) {
        struct buf shown;
        buf_init(&shown, SHOWN_MAX);
        diagnostics_show(&found, name, text, &shown);
        (void)cli_print(&shown, stderr);
    }
    arena_release(&arena);
    return model;
}

struct model *cli_model_file(struct cli_input *input, const char *path)
{
    struct buf text;
    struct model *model = NULL;
    buf_init(&text, SHOWN_MAX); // more than a model may have, so that the parser says it
    if (cli_read_model(input, path, &text))
        model = cli_model_text(slice_str(strcmp(path, "-") == 0 ? "model.dolmen" : path),
                               buf_view(&text));
    buf_release(&text);
    return model;
}

struct model_guess cli_table_guess(const struct model *model, const char *name)
{
    struct model_guess guess = model_guess_for(slice_str(name));
    for (size_t i = 0; i < model->table_count; i++)
        model_guess_candidate(&guess, model->tables[i].name);
    return guess;
}
