// `dolmen version`.
#include "cli/command.h"

#include <stdio.h>

static int version_run(const struct cli_input *input)
{
    (void)input;
    printf("dolmen %s\n", DOLMEN_VERSION);
    return CLI_OK;
}

const struct cli_command cli_version = {
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .example = "  dolmen version",
    .run = version_run,
};
