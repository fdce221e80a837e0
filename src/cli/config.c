// The file of --config: options by their names, one in a line.
#include "cli/command.h"

#include <stdlib.h>

enum { CONFIG_MAX = 1 << 20, OPTION_NAME = 64 };

// The words that the file comes to, and then those of the line.
struct words {
    char **list;
    int count;
};

static void add_word(struct words *words, char *word)
{
    char **larger = realloc(words->list, (size_t)(words->count + 1) * sizeof(*larger));
    ensure_memory(larger);
    words->list = larger;
    words->list[words->count++] = word;
}

static bool is_one_of(struct slice text, const char *const *list)
{
    while (*list != NULL && !slice_is(text, *list))
        list++;
    return *list != NULL;
}

// Without white space at its ends, a carriage return among it.
static struct slice trimmed(struct slice text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '\r')
        text.len--;
    return slice_trim(text);
}

static bool flag_add(struct cli_input *input, struct words *words, const char *place,
                     const char *option, struct slice value)
{
    static const char *const on[] = {"true", "yes", "on", NULL};
    static const char *const off[] = {"false", "no", "off", NULL};
    if (is_one_of(value, off))
        return true;
    if (!is_one_of(value, on))
        return cli_misused(input, "%s: %s is true or false, not '%.*s'.", place, option + 2,
                           SLICE_FMT(value));
    add_word(words, slice_dup(slice_str(option)));
    return true;
}

static bool line_add(struct cli_input *input, struct words *words, const char *place,
                     struct slice line)
{
    char option[OPTION_NAME + 3];
    bool takes_value;
    struct slice value = line;
    struct slice name = slice_trim(slice_cut(&value, '='));
    if (name.len == line.len)
        return cli_misused(input, "%s: '%.*s' is not 'name = value'.", place, SLICE_FMT(line));
    value = trimmed(value);
    (void)snprintf(option, sizeof(option), "--%.*s", SLICE_FMT(name));
    if (name.len > OPTION_NAME || !cli_option(input, option, &takes_value) ||
        slice_is(name, "config") || slice_is(name, "help"))
        return cli_misused(input, "%s: there is no option '%.*s'.", place, SLICE_FMT(name));
    if (!takes_value)
        return flag_add(input, words, place, option, value);
    if (value.len == 0)
        return cli_misused(input, "%s: %.*s has no value.", place, SLICE_FMT(name));
    add_word(words, slice_dup(slice_str(option)));
    add_word(words, slice_dup(value));
    return true;
}

static bool file_add(struct cli_input *input, struct words *words, const char *path)
{
    struct buf text;
    unsigned number = 0;
    buf_init(&text, CONFIG_MAX);
    bool ok = cli_read(input, path, &text);
    struct slice rest = buf_view(&text);
    while (ok && rest.len > 0) {
        char place[512];
        struct slice line = trimmed(slice_cut(&rest, '\n'));
        number++;
        (void)snprintf(place, sizeof(place), "%s:%u", path, number);
        if (line.len > 0 && line.ptr[0] != '#')
            ok = line_add(input, words, place, line);
    }
    buf_release(&text);
    return ok;
}

bool cli_configure(struct cli_input *input)
{
    bool takes_value;
    struct words words = {NULL, 0};
    const char *path =
        cli_option(input, "--config", &takes_value) ? cli_value(input, "--config", NULL) : NULL;
    if (path == NULL)
        return true;
    bool ok = file_add(input, &words, path);
    input->owned_count = words.count;
    for (int i = 0; i < input->argc; i++)
        add_word(&words, input->argv[i]);
    input->owned = words.list;
    input->argv = words.list;
    input->argc = words.count;
    input->argument_count = 0;
    return ok && cli_parse(input);
}

void cli_unconfigure(struct cli_input *input)
{
    for (int i = 0; i < input->owned_count; i++)
        free(input->owned[i]);
    free(input->owned);
    input->owned = NULL;
    input->owned_count = 0;
}
