// The way from argv to a command, and what is not one: help and version.
#include "commands/commands.h"

#include "cli/command.h"
#include "generate/generate.h"
#include "model/parse.h"
#include "rocks/rocks.h"

static const struct cli_command commands[] = {
#define X(name, most) {#name, help_##name##_txt, most, cli_##name},
    COMMAND_LIST(X)
#undef X
};

static const struct cli_command *command_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static struct model_guess command_guess(const char *name)
{
    struct model_guess guess = model_guess_for(slice_str(name));
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        model_guess_candidate(&guess, slice_str(commands[i].name));
    return guess;
}

// The generators are listed where they are made; their place in the text is marked.
static void print_help(const struct cli_command *command)
{
    static const char mark[] = "@GENERATORS\n";
    const char *rest = command->help;
    const char *marked = strstr(rest, mark);
    if (marked != NULL) {
        printf("%.*s", (int)(marked - rest), rest);
        for (const struct generator *generator = generators(); generator->name != NULL; generator++)
            printf("  %s: %s\n", generator->name, generator->summary);
        rest = marked + strlen(mark);
    }
    printf("%s", rest);
}

// The first line of a help is "dolmen NAME: what it does".
static void print_overview(void)
{
    printf("dolmen: a DynamoDB-compatible database.\n\nUsage: dolmen COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        const char *summary = strchr(commands[i].help, ':') + 2;
        printf("  %-10s %.*s\n", commands[i].name, (int)strcspn(summary, "\n"), summary);
    }
    printf("\n'dolmen COMMAND --help' tells more, with an example.\n"
           "Exit codes: 0 ok, 1 failed, 2 wrong usage.\n");
}

bool cli_help(struct cli_input *input)
{
    if (input->argument_count == 0) {
        print_overview();
        return true;
    }
    const struct cli_command *about = command_find(input->arguments[0]);
    if (about == NULL) {
        struct model_guess guess = command_guess(input->arguments[0]);
        return cli_misused(input, "there is no command '%s'%s", input->arguments[0],
                           cli_meant(input, &guess));
    }
    print_help(about);
    return true;
}

bool cli_version(struct cli_input *input)
{
    (void)input;
    printf("dolmen %s\n", DOLMEN_VERSION);
    return true;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (is_help(argv[i]))
            return true;
    }
    return false;
}

int cli_main(int argc, char **argv)
{
    store_end_cleanly();
    if (argc < 2) {
        print_overview();
        return CLI_USAGE;
    }
    const char *name = is_help(argv[1])                    ? "help"
                       : strcmp(argv[1], "--version") == 0 ? "version"
                                                           : argv[1];
    const struct cli_command *command = command_find(name);
    struct cli_input input = {
        .command = command, .argc = argc - 2, .argv = argv + 2, .code = CLI_FAILED};
    if (command == NULL) {
        struct model_guess guess = command_guess(name);
        (void)fprintf(stderr,
                      "dolmen: there is no command '%s'%s\n'dolmen help' lists all commands.\n",
                      name, cli_meant(&input, &guess));
        return CLI_USAGE;
    }
    if (asks_for_help(argc - 2, argv + 2)) {
        print_help(command);
        return CLI_OK;
    }
    bool ok = cli_parse(&input) && cli_configure(&input) && command->run(&input);
    cli_unconfigure(&input);
    return ok ? CLI_OK : input.code;
}
