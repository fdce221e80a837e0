// What the tests of the store on disk share, besides what those of any store do.
#ifndef TESTS_ROCKS_FIXTURE_H
#define TESTS_ROCKS_FIXTURE_H

#include "store/fixture.h"

#include "rocks/rocks.h"

static inline struct store *open_rocksdb(const char *path, enum store_durability durability)
{
    struct store_error error;
    struct store_options options = {.path = path, .durability = durability};
    struct store *store = store_open_rocksdb(&options, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

#endif
