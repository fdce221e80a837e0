// `dolmen query --follow`: a live pattern of a server, event by event, over breaks.
#ifndef COMMANDS_FOLLOW_H
#define COMMANDS_FOLLOW_H

#include "cli/target.h"

#include "model/model.h"

// Prints events until standard output is closed, or the server says that the question is wrong.
// The arguments of the command line behind the pattern are those of the question. False after
// telling the user.
MUST_CHECK bool follow_pattern(struct cli_input *input, struct target *target,
                               const struct model_access *access);

#endif
