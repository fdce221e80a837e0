// Opening the database that a command line names: --data DIR, --memory, --durability.
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

#include "api/api.h"
#include "cli/command.h"

#define CLI_DATA_DEFAULT "dolmen-data"

// NULL after telling the user; *code is then the exit code. `path` NULL means memory. api_close
// closes everything. The command has a row "--durability".
MUST_CHECK struct api *cli_database_open(const struct cli_input *input, const char *path,
                                         int *code);

#endif
