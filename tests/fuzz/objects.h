// An object store of one bucket, in a directory that is gone at the end, and requests to it without
// a connection: what the targets over src/objects share. The store keeps nothing of an input that
// another one looks at.
#ifndef TESTS_FUZZ_OBJECTS_H
#define TESTS_FUZZ_OBJECTS_H

#include "fuzz.h"

#include "base/limits.h"
#include "objects/s3.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

static struct objects *fuzz_store;
static char fuzz_directory[] = "/tmp/fuzz-objects.XXXXXX";

static int fuzz_remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void fuzz_remove(void)
{
    objects_close(fuzz_store);
    (void)nftw(fuzz_directory, fuzz_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct objects *fuzz_objects(void)
{
    static struct budget budget;
    char error[512];
    if (fuzz_store != NULL)
        return fuzz_store;
    budget_init(&budget, 0);
    ensure(mkdtemp(fuzz_directory) != NULL);
    fuzz_store = objects_open(&(struct objects_options){.directory = fuzz_directory,
                                                        .relaxed = true,
                                                        .loopback = true,
                                                        .region = "us-east-1",
                                                        .env = env_system(),
                                                        .memory_bytes = 8 << 20,
                                                        .budget = &budget,
                                                        .loops = 1},
                              error, sizeof(error));
    ensure(fuzz_store != NULL && objects_make_bucket(fuzz_store, SLICE_LIT("bucket")));
    fuzz_store->anonymous = true;
    ensure(atexit(fuzz_remove) == 0);
    return fuzz_store;
}

// A request whose head is this text; NULL if it is none.
static inline struct s3 *fuzz_request(struct slice head)
{
    struct http_scan scan = {0};
    struct http_problem problem;
    size_t len;
    struct s3 *s3 = calloc(1, sizeof(*s3));
    struct http_request *request = calloc(1, sizeof(*request));
    ensure(s3 != NULL && request != NULL);
    if (http_head_parse(&scan, head.ptr, head.len, request, &len, &problem) != HTTP_DONE) {
        free(request);
        free(s3);
        return NULL;
    }
    s3->objects = fuzz_objects();
    s3->request = request;
    s3->account = (struct budget_account){.budget = s3->objects->budget};
    s3->sending.fd = -1;
    s3->bucket = SLICE_LIT("bucket");
    s3->key = SLICE_LIT("key");
    s3->body_wanted = true;
    s3->payload = calloc(1, sizeof(*s3->payload));
    ensure(s3->payload != NULL);
    arena_init_counted(&s3->arena, FUZZ_BUDGET, &s3->account, BUDGET_CALLS);
    buf_init_counted(&s3->body, LIMIT_OBJECT_DOCUMENT, &s3->account, BUDGET_BODIES);
    buf_init(&s3->headers, 64 << 10);
    buf_init_counted(&s3->out, 64 << 20, &s3->account, BUDGET_ANSWERS);
    return s3;
}

static inline void fuzz_request_end(struct s3 *s3)
{
    s3_intake_drop(s3);
    s3_form_release(s3);
    buf_release(&s3->body);
    buf_release(&s3->headers);
    buf_release(&s3->out);
    arena_release(&s3->arena);
    ensure(atomic_load(&s3->objects->budget->used) == 0);
    free(s3->payload);
    free((void *)(uintptr_t)s3->request);
    free(s3);
}

#endif
