// The table and the items that `dolmen bench` works on: media entries of a site that keeps
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
#ifndef BENCH_BENCH_ITEMS_H
#define BENCH_BENCH_ITEMS_H

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

#endif
