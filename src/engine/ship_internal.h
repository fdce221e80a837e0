// What ship.c and follow.c share: see ship.h.
#ifndef ENGINE_SHIP_INTERNAL_H
#define ENGINE_SHIP_INTERNAL_H

#include "base/slice.h"

enum { SHIP_PUT = 'P', SHIP_DELETE = 'D', SHIP_RANGE = 'R' };

enum { SHIP_ENTRY_MAX = 512 << 20 };

// Keys of the log and of a replica's state: of their own store alone.
bool ship_own_key(struct slice key);

#endif
