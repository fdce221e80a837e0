// `dolmen help [COMMAND]`.
#include "cli/command.h"

static int help_run(const struct cli_input *input)
{
    if (input->argument_count == 0) {
        cli_print_overview();
        return CLI_OK;
    }
    const struct cli_command *about = cli_command_find(input->arguments[0]);
    if (about == NULL)
        return cli_fail(input->command, CLI_USAGE, "there is no command '%s'.",
                        input->arguments[0]);
    cli_print_help(about);
    return CLI_OK;
}

const struct cli_command cli_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .example = "  dolmen help serve",
    .arguments_max = 1,
    .run = help_run,
};
