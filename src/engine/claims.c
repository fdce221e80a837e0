// Values that only one item of a table may have.
//
// Claims are records in a tree of their own: the value's name to the tree key of the item that has
// it. They are written in the batch of the item, so that after a crash they say the same as the
// items.
//
// A part of a request may claim very many values, and give as many back. All of them go into one
// hash table, a row for each value, which knows who of the part wants it and who gives it back; so
// judging takes a look at each, and one look-up in the store.
//
// A claim may have an end (guard_claim.until_ms): its record has a mark that begins no key, the end
// in milliseconds, and then the key. After that it is as if it were not there; before, whoever
// claims the value with an end, too, repeats what has been done. A record under that time says when
// to forget it, so that forgetting is a range scan and not a search; what was given back, or
// claimed anew with another end, is let be.
//
// If there are many, the judge does the look-ups (judge.c), before the writer. That notes which
// claims it changes, in a ring of hashes; what has changed since the judge looked is looked up
// again.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "base/hash.h"
#include "engine/record.h"

#include <stdio.h>

enum {
    CLAIM_NAME_MAX = 512,
    CLAIM_ENDS = 0xffffffff, // in the place of a tree
    CLAIM_HEAD = 12,         // that, and the end
    SWEEP = 256,             // claims that are forgotten at a time
};

// An action that gives a value back and does not claim it again.
struct giver {
    struct giver *next;
    const struct claimant *claimant;
};

struct claim_row {
    tree_id tree;
    uint64_t hash;
    struct slice name;
    const struct claimant *first; // that claims it, in the order of the request; NULL for none
    const struct claimant *last;
    struct giver *givers;
    bool read;          // the owner is known
    struct slice owner; // the tree key of the item that has it; empty if none does
    bool ends;          // the owner's claim has an end, which has not come yet
};

struct ledger {
    uint64_t seen;   // claims noted before the owners were read
    size_t mask;     // slots - 1
    uint32_t *slots; // row + 1, or 0: at most half are taken
    size_t count;
    struct claim_row *rows;
};

// The last ones are of the table's next guard, and have a tree of their own.
static bool is_next(const struct claims *claims, size_t position)
{
    return position >= claims->count - claims->next_count;
}

static tree_id claim_tree(const struct claimant *claimant, size_t position)
{
    bool next = is_next(claimant->claims, position);
    return next ? claimant->table->next_claims : claimant->table->claims;
}

static tree_id release_tree(const struct claimant *claimant, size_t position)
{
    const struct claims *claims = claimant->claims;
    bool next = position >= claims->release_count - claims->next_releases;
    return next ? claimant->table->next_claims : claimant->table->claims;
}

static uint64_t claim_hash(const struct engine *engine, tree_id tree, struct slice name)
{
    return hash_of(engine->claims.seed ^ tree, name);
}

// ---- The ledger -------------------------------------------------------------------------------

static struct claim_row *row_of(struct ledger *ledger, const struct engine *engine, tree_id tree,
                                struct slice name)
{
    uint64_t hash = claim_hash(engine, tree, name);
    size_t slot = hash & ledger->mask;
    for (; ledger->slots[slot] != 0; slot = (slot + 1) & ledger->mask) {
        struct claim_row *row = &ledger->rows[ledger->slots[slot] - 1];
        if (row->hash == hash && row->tree == tree && slice_equal(row->name, name))
            return row;
    }
    struct claim_row *row = &ledger->rows[ledger->count++];
    *row = (struct claim_row){.tree = tree, .hash = hash, .name = name};
    ledger->slots[slot] = (uint32_t)ledger->count;
    return row;
}

static bool ledger_init(struct ledger *ledger, struct arena *arena, size_t most)
{
    size_t slots = 16;
    while (slots < 2 * most)
        slots *= 2;
    *ledger = (struct ledger){.mask = slots - 1};
    ledger->slots = arena_zalloc(arena, slots, sizeof(*ledger->slots));
    ledger->rows = arena_alloc(arena, most * sizeof(*ledger->rows));
    return ledger->slots != NULL && ledger->rows != NULL;
}

static bool enter(struct ledger *ledger, const struct engine *engine, struct arena *arena,
                  const struct claimant *claimant)
{
    struct claims *claims = claimant->claims;
    claims->rows = arena_alloc(arena, (claims->count + 1) * sizeof(struct claim_row *));
    claims->given = arena_alloc(arena, (claims->release_count + 1) * sizeof(struct claim_row *));
    struct giver *givers = arena_alloc(arena, (claims->release_count + 1) * sizeof(*givers));
    if (claims->rows == NULL || claims->given == NULL || givers == NULL)
        return false;
    for (size_t i = 0; i < claims->count; i++) {
        struct claim_row *row =
            row_of(ledger, engine, claim_tree(claimant, i), claims->list[i].name);
        row->first = row->first == NULL ? claimant : row->first;
        row->last = claimant;
        claims->rows[i] = row;
    }
    for (size_t i = 0; i < claims->release_count; i++) {
        struct claim_row *row =
            row_of(ledger, engine, release_tree(claimant, i), claims->releases[i].name);
        bool kept = row->last == claimant;
        claims->given[i] = kept ? NULL : row;
        if (kept)
            continue;
        givers[i] = (struct giver){row->givers, claimant};
        row->givers = &givers[i];
    }
    return true;
}

struct ledger *ledger_new(const struct engine *engine, struct arena *arena,
                          const struct claimant *all, size_t count)
{
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        most += all[i].claims->count + all[i].claims->release_count;
    struct ledger *ledger = arena_alloc(arena, sizeof(*ledger));
    if (ledger == NULL || !ledger_init(ledger, arena, most))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!enter(ledger, engine, arena, &all[i]))
            return NULL;
    }
    // Before any owner is read. What was noted up to here is committed, so that a read sees it;
    // what is noted later may or may not be in what will be read, and is looked up again.
    ledger->seen = atomic_load_explicit(&engine->claims.settled, memory_order_acquire);
    return ledger;
}

// ---- Owners -----------------------------------------------------------------------------------

// The key of a claim, in txn->key: a long name is represented by its digest.
static void claim_key(struct txn *txn, tree_id tree, struct slice name)
{
    uint8_t digest[32];
    if (name.len > CLAIM_NAME_MAX) {
        sha256_of(name, digest);
        name = slice_of(digest, sizeof(digest));
    }
    layout_tree_key(&txn->key, tree, name);
}

bool claim_ends(struct slice record)
{
    return record.len > CLAIM_HEAD && be32_get(record.ptr) == CLAIM_ENDS;
}

// Who has it, in the arena; empty if nobody has.
static bool read_owner(struct txn *txn, struct claim_row *row, struct arena *arena,
                       struct error *error)
{
    if (row->read)
        return true;
    row->owner = slice_of(NULL, 0);
    struct store_value value;
    bool found;
    claim_key(txn, row->tree, row->name);
    if (!txn_get(txn, buf_view(&txn->key), arena, &value, &found, error))
        return false;
    struct slice owner = value.bytes;
    row->ends = found && claim_ends(owner);
    if (row->ends) {
        found = (int64_t)be64_get(owner.ptr + 4) > env_now(&txn->engine->env);
        owner = slice_of(owner.ptr + CLAIM_HEAD, owner.len - CLAIM_HEAD);
    }
    if (found)
        row->owner = arena_copy(arena, owner);
    store_value_release(txn->engine->store, &value);
    row->read = !found || row->owner.ptr != NULL || error_budget(error);
    return row->read;
}

bool ledger_read(struct txn *txn, struct ledger *ledger, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (!read_owner(txn, &ledger->rows[i], arena, error))
            return false;
    }
    return true;
}

// ---- What changes meanwhile -------------------------------------------------------------------

// Notes that the claim in txn->key is changed by the batch.
static void note(struct txn *txn, tree_id tree, struct slice name)
{
    struct claim_notes *notes = &txn->engine->claims;
    notes->hashes[notes->count++ % CLAIM_NOTES] = claim_hash(txn->engine, tree, name);
}

void claims_settled(struct engine *engine)
{
    atomic_store_explicit(&engine->claims.settled, engine->claims.count, memory_order_release);
}

bool ledger_catch_up(const struct engine *engine, struct ledger *ledger)
{
    const struct claim_notes *notes = &engine->claims;
    if (notes->count - ledger->seen > CLAIM_NOTES)
        return false; // the ring has come round: what was noted first is gone
    for (; ledger->seen < notes->count; ledger->seen++) {
        uint64_t hash = notes->hashes[ledger->seen % CLAIM_NOTES];
        size_t slot = hash & ledger->mask;
        for (; ledger->slots[slot] != 0; slot = (slot + 1) & ledger->mask) {
            struct claim_row *row = &ledger->rows[ledger->slots[slot] - 1];
            row->read = row->read && row->hash != hash;
        }
    }
    return true;
}

// ---- Judging ----------------------------------------------------------------------------------

// Whether an action of the request that has the value gives it back.
static bool given_back(const struct claim_row *row)
{
    const struct giver *giver = row->givers;
    while (giver != NULL && !slice_equal(giver->claimant->key, row->owner))
        giver = giver->next;
    return giver != NULL;
}

static bool taken(const struct claimant *self, size_t position, struct error *error)
{
    const struct guard_claim *claim = &self->claims->list[position];
    const struct guard *guard = self->table->guard;
    if (is_next(self->claims, position)) {
        self->claims->clashed = true;
        return true;
    }
    if (guard->ops->taken != NULL)
        return guard->ops->taken(guard, claim, error);
    return error_validation(error, "%.*s: another item has this value", SLICE_FMT(claim->what));
}

static bool judge_claim(struct txn *txn, struct arena *arena, const struct claimant *self,
                        size_t position, bool divisible, struct error *error)
{
    struct claim_row *row = self->claims->rows[position];
    bool ends = self->claims->list[position].until_ms > 0;
    if (row->first == self) {
        if (!read_owner(txn, row, arena, error))
            return false;
        if (row->owner.len == 0 || slice_equal(row->owner, self->key) || given_back(row))
            return true;
        if (row->ends && ends) {
            self->claims->repeats = row->owner;
            return true;
        }
    } else if (ends && divisible) {
        self->claims->repeats = row->first->key;
        return true;
    }
    return taken(self, position, error);
}

bool claims_judge(struct txn *txn, struct arena *arena, const struct claimant *self, bool divisible,
                  struct error *error)
{
    const struct claims *claims = self->claims;
    for (size_t i = 0; i < claims->count; i++) {
        if (!judge_claim(txn, arena, self, i, divisible, error))
            return false;
    }
    for (size_t i = 0; i < claims->release_count; i++) {
        if (claims->given[i] != NULL && !read_owner(txn, claims->given[i], arena, error))
            return false;
    }
    return true;
}

// ---- Writing ----------------------------------------------------------------------------------

void claims_release(struct txn *txn, const struct claimant *claimant)
{
    const struct claims *claims = claimant->claims;
    for (size_t i = 0; i < claims->release_count; i++) {
        const struct claim_row *row = claims->given[i];
        if (row == NULL || !slice_equal(row->owner, claimant->key))
            continue;
        claim_key(txn, row->tree, row->name);
        store_batch_delete(txn->batch, buf_view(&txn->key));
        note(txn, row->tree, row->name);
    }
}

struct slice claims_clash_name(tree_id tree, char text[CLASH_NAME_MAX])
{
    int len = snprintf(text, CLASH_NAME_MAX, "claims/clash/%u", (unsigned)tree);
    return slice_of(text, (size_t)len);
}

static void note_clash(struct txn *txn, const struct table *table)
{
    char name[CLASH_NAME_MAX];
    const struct record_write clash = {claims_clash_name(table->next_claims, name),
                                       value_empty_map()};
    txn_record(txn, &clash);
}

// The claim in txn->key.
static void put_claim(struct txn *txn, struct slice owner, int64_t until_ms)
{
    if (until_ms == 0) {
        store_batch_put(txn->batch, buf_view(&txn->key), owner);
        return;
    }
    uint8_t *record = store_batch_put_room(txn->batch, buf_view(&txn->key), CLAIM_HEAD + owner.len);
    if (record == NULL)
        return; // the batch fails
    be32_put(record, CLAIM_ENDS);
    be64_put(record + 4, (uint64_t)until_ms);
    memcpy(record + CLAIM_HEAD, owner.ptr, owner.len);
    uint8_t time[8];
    be64_put(time, (uint64_t)until_ms);
    meta_key(&txn->old_key, META_LAPSE, slice_of(time, sizeof(time)));
    buf_slice(&txn->old_key, buf_view(&txn->key));
    store_batch_put(txn->batch, buf_view(&txn->old_key), slice_of(NULL, 0));
}

void claims_take(struct txn *txn, const struct claimant *claimant)
{
    const struct claims *claims = claimant->claims;
    for (size_t i = 0; i < claims->count; i++) {
        if (claims->rows != NULL && slice_equal(claims->rows[i]->owner, claimant->key))
            continue;
        tree_id tree = claim_tree(claimant, i);
        claim_key(txn, tree, claims->list[i].name);
        put_claim(txn, claimant->key, claims->list[i].until_ms);
        note(txn, tree, claims->list[i].name);
    }
    if (claims->clashed)
        note_clash(txn, claimant->table);
}

// ---- Forgetting -------------------------------------------------------------------------------

// Nobody is told: a claim whose end has come is as if it were not there already.
static void forget(struct txn *txn, struct slice lapse)
{
    enum { TIME = 8 };
    struct slice claim = slice_of(lapse.ptr + META_HEAD + TIME, lapse.len - META_HEAD - TIME);
    struct store_value value;
    struct store_error cause;
    store_batch_delete(txn->batch, lapse);
    if (store_get(txn->engine->store, NULL, claim, &value, &cause) != STORE_FOUND)
        return;
    if (claim_ends(value.bytes) && be64_get(value.bytes.ptr + 4) <= be64_get(lapse.ptr + META_HEAD))
        store_batch_delete(txn->batch, claim);
    store_value_release(txn->engine->store, &value);
}

bool claims_sweep(struct txn *txn)
{
    uint8_t lower[META_HEAD] = {0, 0, 0, TREE_META, META_LAPSE};
    uint8_t upper[META_HEAD + 8] = {0, 0, 0, TREE_META, META_LAPSE};
    be64_put(upper + META_HEAD, (uint64_t)env_now(&txn->engine->env));
    struct store_cursor *cursor = store_cursor_open(
        txn->engine->store, NULL, slice_of(lower, sizeof(lower)), slice_of(upper, sizeof(upper)));
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor) && count < SWEEP;
         store_cursor_next(cursor), count++)
        forget(txn, store_cursor_key(cursor));
    store_cursor_close(cursor);
    return count == SWEEP;
}
