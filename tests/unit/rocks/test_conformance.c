// The rules of store.h, on the drivers of this machine.
#include "fixture.h"
#include "store/conformance.h"

static int set_up_memory(void **state)
{
    struct store_error error;
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->store = store_open_memory(&error);
    fixture->batch = store_batch_new();
    *state = fixture;
    return 0;
}

static int set_up_rocksdb(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    temp_dir_make(fixture->path);
    fixture->store = open_rocksdb(fixture->path, STORE_FULL);
    fixture->batch = store_batch_new();
    *state = fixture;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define X(test) {"memory: " #test, test, set_up_memory, tear_down, NULL},
        CONFORMANCE(X)
#undef X
#define X(test) {"rocksdb: " #test, test, set_up_rocksdb, tear_down, NULL},
            CONFORMANCE(X)
#undef X
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
