// The policies that a server, or a directory, has for a request: for `dolmen policy explain`.
#ifndef COMMANDS_POLICY_KEPT_H
#define COMMANDS_POLICY_KEPT_H

#include "cli/target.h"
#include "policy/scenario.h"

// Adds what is kept of the principal (policies of its own, attached ones, those of its groups, its
// boundary and tags) and of the resource, if that is a table. False after telling the user.
MUST_CHECK bool policies_kept(struct target *target, struct scenario *scenario,
                              const char *principal, const char *resource);

#endif
