// See audit.h. The thread takes the loops' memory under a lock that waits for nothing, writes the
// bodies of their lines into `bodies`, and what the target does not take stays there. So an entry
// is lost only when that is full, and the loop's own memory after it.
#include "audit/audit.h"

#include "audit/trail.h"
#include "base/log.h"
#include "base/time_text.h"
#include "base/wait.h"
#include "base/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FLUSH_AT = 32 << 10,
    ENTRIES_MAX = 1 << 20, // bytes of packed entries of a loop
    STRICT_AT = ENTRIES_MAX - (256 << 10),
    BODIES_MAX = 4 << 20,
    EVERY_MS = 1000, // from one writing, and one seal, to the next
    LEAVE_MS = 500,
};

struct entries {
    _Alignas(64) pthread_mutex_t lock;
    struct buf packed;
    // The thread's:
    struct buf taken;  // packed entries
    struct slice rest; // of them
};

struct audit {
    enum audit_scope scope;
    enum audit_keys how;
    bool strict;
    unsigned loop_count;
    struct entries *loops;
    struct chain_keys keys;
    struct env env;
    struct worker worker;
    _Atomic uint64_t lost_now; // entries, not told yet
    _Atomic uint64_t lost;
    _Atomic uint64_t failures;
    _Atomic uint64_t refused;
    _Atomic uint64_t lines;
    _Atomic uint64_t seq;
    _Atomic uint64_t rotated;
    _Atomic bool failing;
    uint64_t missing;
    // The thread's.
    struct trail *trail;
    struct buf bodies; // of lines that the target does not have
    int64_t sealed_ms;
};

// ---- Writing, on the thread ------------------------------------------------------------------

static void note_written(struct audit *audit, bool done)
{
    struct trail_stats stats = trail_stats(audit->trail);
    atomic_fetch_add(&audit->lines, stats.seq - atomic_load(&audit->seq));
    atomic_store(&audit->seq, stats.seq);
    atomic_store(&audit->rotated, stats.files);
    if (!done)
        atomic_fetch_add(&audit->failures, 1);
    if (done == !atomic_load(&audit->failing))
        return;
    atomic_store(&audit->failing, !done);
    if (done)
        log_warn("the audit log is written again");
    else
        log_error("%s%s", trail_reason(audit->trail),
                  audit->strict ? "; requests are refused until it can be" : "");
}

// Writes `bodies`; what the target does not take stays.
static bool write_bodies(struct audit *audit)
{
    size_t taken = 0;
    struct buf *bodies = &audit->bodies;
    bool done = trail_write(audit->trail, buf_view(bodies), &taken);
    if (taken > 0)
        memmove(bodies->ptr, bodies->ptr + taken, bodies->len - taken);
    bodies->len -= taken;
    return done;
}

static void add_lost(struct audit *audit)
{
    char time[TIME_TEXT];
    uint64_t lost = atomic_exchange(&audit->lost_now, 0);
    if (lost == 0)
        return;
    time_text(env_now(&audit->env), time);
    buf_printf(&audit->bodies, "\"event\":\"lost\",\"time\":\"%s\",\"lines\":%llu\n", time,
               (unsigned long long)lost);
    if (audit->bodies.failed) {
        audit->bodies.failed = false;
        atomic_fetch_add(&audit->lost_now, lost);
    }
}

// Makes a body of the first entry; it is lost if there is no room.
static void add_body(struct audit *audit, struct slice *packed)
{
    struct buf *bodies = &audit->bodies;
    size_t before = bodies->len;
    entry_write(packed, audit->how, &audit->keys, bodies);
    buf_byte(bodies, '\n');
    if (!bodies->failed)
        return;
    bodies->len = before;
    bodies->failed = false;
    atomic_fetch_add(&audit->lost, 1);
    atomic_fetch_add(&audit->lost_now, 1);
}

static void take(struct audit *audit, unsigned loop)
{
    struct entries *entries = &audit->loops[loop];
    ensure(pthread_mutex_lock(&entries->lock) == 0);
    struct buf packed = entries->packed;
    entries->packed = entries->taken;
    ensure(pthread_mutex_unlock(&entries->lock) == 0);
    entries->taken = packed;
    entries->rest = buf_view(&packed);
}

// The loop whose next entry is the oldest; NULL if there are none.
static struct entries *oldest(struct audit *audit)
{
    struct entries *found = NULL;
    uint64_t time = UINT64_MAX;
    for (unsigned i = 0; i < audit->loop_count; i++) {
        uint64_t mine = entry_order(audit->loops[i].rest);
        if (mine < time) {
            time = mine;
            found = &audit->loops[i];
        }
    }
    return found;
}

// Takes what all loops have, and writes it in the order of time.
static bool write_entries(struct audit *audit)
{
    bool done = true;
    for (unsigned i = 0; i < audit->loop_count; i++)
        take(audit, i);
    for (struct entries *next; (next = oldest(audit)) != NULL;) {
        add_body(audit, &next->rest);
        if (done && audit->bodies.len > BODIES_MAX / 4)
            done = write_bodies(audit);
    }
    for (unsigned i = 0; i < audit->loop_count; i++)
        buf_clear(&audit->loops[i].taken);
    return done && write_bodies(audit);
}

// Sealing has the disk keep all of it, so it is not done for every few lines.
static bool seal(struct audit *audit)
{
    int64_t now = monotonic_ms();
    if (now - audit->sealed_ms < EVERY_MS && !worker_stopping(&audit->worker))
        return true;
    audit->sealed_ms = now;
    return trail_seal(audit->trail);
}

static void write_all(void *context)
{
    struct audit *audit = context;
    bool done = write_bodies(audit);
    // While the target takes nothing, entries stay with their loops: as many as there is room for.
    done = done && write_entries(audit);
    if (done) {
        add_lost(audit);
        done = write_bodies(audit) && seal(audit);
    }
    note_written(audit, done);
}

// ---- Entries ---------------------------------------------------------------------------------

bool audit_wants(const struct audit *audit, enum audit_decision decision, bool writes)
{
    return audit->scope == AUDIT_ALL || (decision != AUDIT_OPEN && decision != AUDIT_ALLOWED) ||
           (audit->scope == AUDIT_WRITES && writes);
}

bool audit_wants_keys(const struct audit *audit)
{
    return audit->how != AUDIT_KEYS_NONE;
}

void audit_add(struct audit *audit, unsigned loop, const struct audit_entry *entry)
{
    if (!audit_wants(audit, entry->decision, entry->writes))
        return;
    struct entries *entries = &audit->loops[loop];
    ensure(pthread_mutex_lock(&entries->lock) == 0);
    struct buf *packed = &entries->packed;
    size_t before = packed->len;
    entry_pack(packed, entry);
    bool dropped = packed->failed;
    if (dropped) {
        packed->len = before;
        packed->failed = false;
    }
    bool due = before < FLUSH_AT && packed->len >= FLUSH_AT;
    ensure(pthread_mutex_unlock(&entries->lock) == 0);
    if (dropped) {
        atomic_fetch_add(&audit->lost, 1);
        atomic_fetch_add(&audit->lost_now, 1);
    }
    if (due)
        worker_ask(&audit->worker);
}

bool audit_admits(struct audit *audit, unsigned loop)
{
    if (!audit->strict)
        return true;
    struct entries *entries = &audit->loops[loop];
    ensure(pthread_mutex_lock(&entries->lock) == 0);
    bool full = entries->packed.len >= STRICT_AT;
    ensure(pthread_mutex_unlock(&entries->lock) == 0);
    if (!full && !atomic_load_explicit(&audit->failing, memory_order_relaxed))
        return true;
    atomic_fetch_add(&audit->refused, 1);
    return false;
}

void audit_stats(struct audit *audit, struct audit_stats *out)
{
    *out = (struct audit_stats){
        .lines = atomic_load(&audit->lines),
        .lost = atomic_load(&audit->lost),
        .failures = atomic_load(&audit->failures),
        .refused = atomic_load(&audit->refused),
        .seq = atomic_load(&audit->seq),
        .rotated = atomic_load(&audit->rotated),
        .missing = audit->missing,
        .writable = !atomic_load(&audit->failing),
    };
}

// ---- Life ------------------------------------------------------------------------------------

static void audit_free(struct audit *audit)
{
    for (unsigned i = 0; i < audit->loop_count; i++) {
        ensure(pthread_mutex_destroy(&audit->loops[i].lock) == 0);
        buf_release(&audit->loops[i].packed);
        buf_release(&audit->loops[i].taken);
    }
    trail_free(audit->trail);
    buf_release(&audit->bodies);
    chain_keys_wipe(&audit->keys);
    free(audit->loops);
    free(audit);
}

static struct audit *audit_new(const struct audit_options *options)
{
    struct audit *audit = memory_zeroed(sizeof(*audit));
    audit->loops = aligned_alloc(_Alignof(struct entries), sizeof(*audit->loops) * options->loops);
    ensure_memory(audit->loops);
    audit->scope = options->scope;
    audit->how = options->keys;
    audit->strict = options->strict;
    audit->env = options->env;
    audit->loop_count = options->loops;
    buf_init(&audit->bodies, BODIES_MAX);
    for (unsigned i = 0; i < options->loops; i++) {
        ensure(pthread_mutex_init(&audit->loops[i].lock, NULL) == 0);
        buf_init(&audit->loops[i].packed, ENTRIES_MAX);
        buf_init(&audit->loops[i].taken, ENTRIES_MAX);
        audit->loops[i].rest = slice_of(NULL, 0);
    }
    return audit;
}

// The key that seals and hashes follow from.
static bool find_key(const struct audit_options *options, struct crypt_key *out, char *error,
                     size_t error_size)
{
    char path[4096];
    bool file = strcmp(options->place, "-") != 0 && strncmp(options->place, "syslog", 6) != 0 &&
                strncmp(options->place, "journald", 8) != 0;
    if (options->key != NULL)
        return crypt_master_read(options->key, out, error, error_size);
    if (options->master != NULL) {
        *out = *options->master;
        return true;
    }
    if (!file) {
        crypt_key_make(out);
        return true;
    }
    (void)snprintf(path, sizeof(path), "%s.key", options->place);
    return chain_key_file(path, true, out, error, error_size);
}

struct audit *audit_open(const struct audit_options *options, char *error, size_t error_size)
{
    struct crypt_key key;
    if (!find_key(options, &key, error, error_size))
        return NULL;
    struct audit *audit = audit_new(options);
    chain_keys_derive(&key, &audit->keys);
    crypt_key_wipe(&key);
    audit->trail = trail_open(
        &(struct trail_options){
            .place = options->place,
            .version = options->version,
            .env = options->env,
            .keys = audit->keys,
            .rotate_bytes = options->rotate_bytes,
            .rotate_ms = options->rotate_ms,
            .keep = options->keep,
        },
        error, error_size);
    if (audit->trail == NULL) {
        audit_free(audit);
        return NULL;
    }
    struct trail_stats stats = trail_stats(audit->trail);
    audit->seq = stats.seq;
    audit->missing = stats.missing;
    worker_start(&audit->worker,
                 &(struct worker_plan){
                     .work = write_all, .context = audit, .every_ms = EVERY_MS, .drains = true});
    return audit;
}

void audit_close(struct audit *audit)
{
    if (audit == NULL)
        return;
    worker_ask(&audit->worker);
    // It may be in a write that never returns; what it uses is left to it then.
    if (!worker_stop_within(&audit->worker, LEAVE_MS)) {
        log_warn("the last lines of the audit log are lost: nobody takes them");
        return;
    }
    if (audit->bodies.len > 0 || atomic_load(&audit->lost_now) > 0)
        log_warn("the last lines of the audit log are lost: %s", trail_reason(audit->trail));
    audit_free(audit);
}
