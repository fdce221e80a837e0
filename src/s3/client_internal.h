// What the files of the client share.
#ifndef S3_CLIENT_INTERNAL_H
#define S3_CLIENT_INTERNAL_H

#include "base/limits.h"
#include "s3/client.h"

#include <sys/types.h>

// A request and its answer.
struct s3_exchange {
    const char *method;
    struct slice bucket;
    struct slice key;
    struct slice query; // encoded; or empty
    struct slice body;  // or
    int from_fd;        // a part of a file; -1 for none
    off_t from;
    uint64_t length;
    int to_fd; // where a good answer goes; -1: into `answer`
    // Out.
    long status;
    struct buf answer;
    char etag[128];
    uint64_t size; // of HEAD
};

// True if there was an answer, whatever it says; false with the error set.
MUST_CHECK bool s3_exchange(struct s3_client *client, struct s3_exchange *exchange,
                            struct error *error);
// Whether it says that all is well; else false with what is wrong.
MUST_CHECK bool s3_answer_good(const struct s3_exchange *exchange, struct error *error);

// The hash of a part of a file, in digits. False with errno.
MUST_CHECK bool file_part_hash(int fd, off_t from, uint64_t length, char out[SIGN_HEX]);

#endif
