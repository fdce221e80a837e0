// Opening the database that a command line names: --data DIR, --memory, --durability.
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

#include "api/api.h"
#include "cli/command.h"
#include "rocks/rocks.h"

#define CLI_DATA_DEFAULT "dolmen-data"

// NULL after telling the user; *code is then the exit code. A path of NULL means memory. api_close
// closes everything. The durability is taken from the command line: the command has a row
// "--durability". Calls are counted in the budget, if there is one. The store below, to look at,
// goes to *below unless that is NULL.
MUST_CHECK struct api *cli_database_open(const struct cli_input *input,
                                         const struct store_options *wanted, struct budget *budget,
                                         struct store **below, int *code);

#endif
