// The one table of subcommands, and the way from argv to one of them.
#include "cli/cli.h"

#include "cli/command.h"
#include "rocks/rocks.h"

#include <stdio.h>
#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_serve,  &cli_call,   &cli_query,   &cli_export, &cli_import, &cli_bench,   &cli_generate,
    &cli_check,  &cli_infer,  &cli_lint,    &cli_diff,   &cli_apply,  &cli_abandon, &cli_migrate,
    &cli_verify, &cli_repair, &cli_version, &cli_help,   NULL,
};

const struct cli_command *const *cli_commands(void)
{
    return commands;
}

const struct cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

int cli_main(int argc, char **argv)
{
    store_end_cleanly();
    if (argc < 2) {
        cli_print_overview();
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct cli_command *command = cli_command_find(name);
    if (command == NULL) {
        (void)fprintf(stderr,
                      "dolmen: there is no command '%s'; 'dolmen help' lists those there are.\n",
                      name);
        return CLI_USAGE;
    }
    if (asks_for_help(argc - 2, argv + 2)) {
        cli_print_help(command);
        return CLI_OK;
    }
    struct cli_input input;
    if (!cli_parse(command, argc - 2, argv + 2, &input))
        return CLI_USAGE;
    return command->run(&input);
}
