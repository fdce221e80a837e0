// The program: everything it can do is a subcommand.
#include "commands/commands.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
