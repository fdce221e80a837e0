// Where a run has its files: in the bucket, if that is a directory; else in a directory of its own,
// which is pushed to the bucket, or was pulled from it, and removed at the end. What a killed
// process has left is removed when its run is done again.
#include "exchange/exchange.h"

#include "base/files.h"
#include "work/lanes.h"

static bool is_elsewhere(const struct run *run)
{
    return run->shop->buckets.push != NULL;
}

static char *own_directory(struct run *run)
{
    return arena_printf(&run->arena, "%s/.%.*s", run->shop->bucket_root, SLICE_FMT(run->id));
}

char *exchange_place(struct run *run, struct slice bucket, bool out)
{
    if (!is_elsewhere(run))
        return exchange_bucket(run->shop, bucket, &run->arena, &run->error);
    char *own = own_directory(run);
    char *place = own == NULL ? NULL
                              : arena_printf(&run->arena, "%s/%s/%.*s", own, out ? "out" : "in",
                                             SLICE_FMT(bucket));
    if (place == NULL)
        (void)error_budget(&run->error);
    return place;
}

bool exchange_push(struct run *run, struct slice bucket, const char *place)
{
    const struct bucket_store *buckets = &run->shop->buckets;
    return !is_elsewhere(run) || buckets->push(buckets->context, bucket, slice_of("", 0), place,
                                               work_stops, run->shop, &run->error);
}

bool exchange_pull(struct run *run, struct slice bucket, struct slice prefix, const char *place)
{
    const struct bucket_store *buckets = &run->shop->buckets;
    return !is_elsewhere(run) || buckets->pull(buckets->context, bucket, prefix, place, work_stops,
                                               run->shop, &run->error);
}

void exchange_clear(struct run *run)
{
    char *own = is_elsewhere(run) ? own_directory(run) : NULL;
    if (own != NULL)
        DISREGARD(directory_remove(own)); // the next run of this id tries again
}
