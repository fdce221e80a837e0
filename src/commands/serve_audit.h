// The options of `dolmen serve` for its audit log, and for limits.
#ifndef COMMANDS_SERVE_AUDIT_H
#define COMMANDS_SERVE_AUDIT_H

#include "audit/audit.h"
#include "cli/command.h"
#include "server/server.h"

// False after telling the user.
MUST_CHECK bool audit_parse(struct cli_input *input, struct audit_options *out);
MUST_CHECK bool limits_parse(struct cli_input *input, struct server_options *out);

#endif
