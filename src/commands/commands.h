// The command line: `dolmen COMMAND …`. Returns the exit code: 0 ok, 1 failed, 2 usage;
// or the process ends with 12 if memory runs out (base/attributes.h).
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

int cli_main(int argc, char **argv);

#endif
