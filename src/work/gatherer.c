// See gatherer.h.
//
// What an image claims is what it would claim once the model has completed it: a value that is to
// be lower case is claimed as such. What completing makes anew each time (uuid(), now()) cannot be
// claimed before it is made; it is left to the backfill.
#include "work/gatherer.h"

#include "base/arena.h"

#include <stdlib.h>

struct gatherer {
    struct guard guard; // first
    struct guard *of;
    size_t text_len;
    uint8_t text[];
};

// ---- The guard --------------------------------------------------------------------------------

struct claim_list {
    struct slice completed;
    size_t count;
    struct guard_claim *list;
};

// What the image claims when it is touched; nothing if it cannot be. False as a guard's write.
static bool touch(const struct gatherer *gatherer, const struct guard_write *like,
                  struct slice image, struct claim_list *out, struct error *error)
{
    struct error fault;
    struct guard_write write = {.touch = true,
                                .before = image,
                                .after = image,
                                .env = like->env,
                                .arena = like->arena,
                                .steps = like->steps};
    error_init(&fault, like->arena);
    *out = (struct claim_list){.completed = image};
    if (!gatherer->of->ops->write(gatherer->of, &write, &fault))
        return fault.code == ERR_BUDGET ? error_budget(error) : fault.code != ERR_NONE;
    *out = (struct claim_list){write.after, write.claim_count, write.claims};
    return true;
}

static bool has_claim(const struct claim_list *list, struct slice name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->list[i].name, name))
            return true;
    }
    return false;
}

static bool claims_of(const struct gatherer *gatherer, const struct guard_write *like,
                      struct slice image, struct claim_list *out, struct error *error)
{
    struct claim_list again;
    *out = (struct claim_list){.count = 0};
    if (image.len == 0)
        return true;
    if (!touch(gatherer, like, image, out, error))
        return false;
    if (out->count == 0 || slice_equal(out->completed, image))
        return true;
    // Completed twice: what is another value each time does not count.
    if (!touch(gatherer, like, image, &again, error))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (has_claim(&again, out->list[i].name))
            out->list[kept++] = out->list[i];
    }
    out->count = kept;
    return true;
}

static bool gatherer_write(const struct guard *guard, struct guard_write *write,
                           struct error *error)
{
    const struct gatherer *gatherer = (const struct gatherer *)guard;
    struct claim_list claims;
    struct claim_list releases;
    if (!claims_of(gatherer, write, write->after, &claims, error) ||
        !claims_of(gatherer, write, write->before, &releases, error))
        return false;
    write->claims = claims.list;
    write->claim_count = claims.count;
    write->releases = releases.list;
    write->release_count = releases.count;
    return true;
}

static void gatherer_free(struct guard *guard)
{
    guard_release(((struct gatherer *)guard)->of);
    free(guard);
}

struct guard *gatherer_new(struct guard *guard, struct slice text)
{
    static const struct guard_ops ops = {.write = gatherer_write, .free = gatherer_free};
    struct gatherer *gatherer = memory_zeroed(sizeof(*gatherer) + text.len);
    gatherer->guard.ops = &ops;
    gatherer->guard.references = 1;
    gatherer->guard.claims = guard->claims;
    gatherer->of = guard_hold(guard);
    gatherer->text_len = text.len;
    memcpy(gatherer->text, text.ptr, text.len);
    return &gatherer->guard;
}

struct guard *gatherer_guard(const struct guard *gatherer)
{
    return ((const struct gatherer *)gatherer)->of;
}

struct slice gatherer_text(const struct guard *gatherer)
{
    const struct gatherer *own = (const struct gatherer *)gatherer;
    return slice_of(own->text, own->text_len);
}

bool gatherer_follow(struct table *table)
{
    struct guard *guard = gatherer_guard(table->next);
    if (!table_set_guard(table, gatherer_text(table->next), guard))
        return false;
    table_take_claims(table);
    if (guard->claims == 0)
        table->claims = 0;
    return true;
}
