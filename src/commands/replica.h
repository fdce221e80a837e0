// What `dolmen replica` does beside serving: the copy before it, and following meanwhile. All of it
// does nothing in `dolmen serve`, which has no --from.
#ifndef COMMANDS_REPLICA_H
#define COMMANDS_REPLICA_H

#include "cli/target.h"

struct replica;

enum replica_how {
    REPLICA_STOPPED,
    REPLICA_LOST,     // the source's log does not reach back to where this stands
    REPLICA_PROMOTED, // it goes on as a server
};
struct replica_end {
    enum replica_how how;
    unsigned port; // that was listened on
};

// Makes the directory a copy of the source, or goes on with one that is not complete. False after
// telling the user.
MUST_CHECK bool replica_copy(struct cli_input *input, const struct store_options *store);
// Whether what was opened is a replica if and only if it is to be one. False after telling the
// user.
MUST_CHECK bool replica_fits(struct cli_input *input, struct api *api);
struct replica *replica_start(struct cli_input *input, struct api *api);
enum replica_how replica_stop(struct replica *replica);
// When all is closed: runs the program again, with a new copy or as a server, if it ended so. False
// after telling the user.
MUST_CHECK bool replica_again(struct cli_input *input, const struct store_options *store,
                              const struct replica_end *end);

#endif
