// The workloads of `dolmen bench`, each of which makes one request after the other, and the table
// and the items that they are about: media entries of a site that keeps
// everything in one table. Item number n is always the same item, so nothing about the data has
// to be remembered.
//
//     album n / 20, position n % 20    the primary key: a Query of an album finds 20 items
//     creator                          20 items each, spread over the albums: the key of GSI1
//     GSI2 … GSI8                      media by id, by user, by date, popular, …: their partition
//                                      keys are constants, as single-table designs have them
//
// Numbers from `items` on are items that the loading did not make; they have albums and creators
// of their own, so that a Query of the loaded ones keeps finding exactly 20.
#ifndef BENCH_BENCH_WORKLOAD_H
#define BENCH_BENCH_WORKLOAD_H

#include "base/buf.h"

enum {
    BENCH_GROUP = 20, // items of an album, and of a creator
    BENCH_GSIS_MAX = 8,
    BENCH_SIZE_MIN = 512,
    BENCH_SIZE_MAX = 64 << 10,
    BENCH_TABLE_MAX = 64,
};

struct bench_data {
    const char *table;
    uint64_t items; // a multiple of BENCH_GROUP
    unsigned gsis;
    unsigned size; // bytes of an item, as DynamoDB counts; the index keys may make it larger
};

// Appends a form, the text of a request or a part of one, in which a dollar sign and a letter stand
// for something of the item of that number and revision:
//
//     $t  the table's name              $d  when it was made        $u  when it was changed
//     $k  its key: {"PK":…,"SK":…}      $i  its id                  $c  its creator
//     $n  the whole item: {…}           $a  its album               $g  the creator of that number
//     $s  $l  $m  $v                    bytes, likes, comments, views
//
// Revisions of an item differ in what is not indexed.
void bench_fill(struct buf *out, const struct bench_data *data, const char *form, uint64_t number,
                uint64_t revision);

// The body of CreateTable.
void bench_table_create(struct buf *out, const struct bench_data *data);

// What the next request is, besides its body.
struct bench_request {
    const char *operation;
    const char *expect; // a right answer contains this
    unsigned written;   // items that it writes
};

// Where the numbers of items come from. One for all workloads of a run, so that none makes an
// item that another has made.
struct bench_source {
    const struct bench_data *data;
    uint64_t random;
    uint64_t next_new;
    uint64_t next_load;
};

struct bench_workload {
    const char *name;
    bool wants_gsi;
    unsigned form; // of its requests: see bench_workload.c
};

// Ends with a NULL name. The first one, "load", makes the items and is not for users to name.
extern const struct bench_workload bench_workloads[];

void bench_source_init(struct bench_source *source, const struct bench_data *data);
// Appends the body of the workload's next request.
void bench_next(const struct bench_workload *workload, struct bench_source *source,
                struct buf *body, struct bench_request *request);

#endif
