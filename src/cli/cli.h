// The command line: `dolmen COMMAND …`. Returns the exit code: 0 ok, 1 failed, 2 usage.
#ifndef CLI_CLI_H
#define CLI_CLI_H

int cli_main(int argc, char **argv);

#endif
