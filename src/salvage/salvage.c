// See salvage.h. All of it happens in the scratch directory of a look: the list of tables is
// checked and, if need be, made anew; the log is applied to the tables; then everything is read,
// around what cannot be, and written into the new store.
#include "salvage/salvage.h"

#include "base/buf.h"
#include "base/wait.h"
#include "rocks/data_dir.h"
#include "rocks/extras.h"
#include "rocks/manifest.h"
#include "rocks/options.h"
#include "rocks/tables.h"
#include "salvage/read.h"
#include "store/store_driver.h"
#include "wal/old.h"
#include "wal/payload.h"
#include "wal/promise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 20,
    PIECE_KEYS = 4096,
    READ_AHEAD = 1 << 20,
    CACHE_BYTES = 64 << 20,
    FLUSH_NAP_MS = 2,
};

struct salvaging {
    const struct look *look;
    struct store *to;
    struct salvage *out;
    void (*proceed)(void *context, uint64_t keys);
    void *context;
    struct store_error *error;
    rocksdb_t *db;
    rocksdb_writeoptions_t *write;
    rocksdb_readoptions_t *read; // one key
    rocksdb_readoptions_t *walk; // many, deleted ranges among them (see rocks/driver.c)
    struct store_batch *batch;
    uint64_t expected; // sequence of the next record
    uint64_t promised[PROMISE_VALUES];
    struct buf paths; // of damaged files, each with its NUL
    struct log_packer packer;
};

static void scratch_path(const struct salvaging *s, const char *part, char out[PATH_MAX + 16])
{
    (void)snprintf(out, PATH_MAX + 16, "%s/%s", s->look->scratch, part);
}

static bool report_failure(struct salvaging *s, const char *doing, char *message)
{
    (void)store_fail(s->error, "%s failed: %s", doing, message);
    s->error->no_room = strstr(message, "No space left") != NULL;
    look_translate(s->look, s->error);
    rocksdb_free(message);
    return false;
}

// ---- The tables ---------------------------------------------------------------------------------

// A table that is missing or cannot be opened does not keep the others from being read: it fails
// where it is needed, as a damaged block does.
static bool open_tables(struct salvaging *s, struct store_error *error)
{
    char path[PATH_MAX + 16];
    char *message = NULL;
    scratch_path(s, "db", path);
    struct store_options options = {
        .path = s->look->scratch, .passive = true, .cache_bytes = CACHE_BYTES};
    rocksdb_options_t *set = rocks_options_new(&options, s->look->files);
    rocksdb_options_set_paranoid_checks(set, 0);
    rocks_give_up(set);
    s->db = rocksdb_open(set, path, &message);
    rocksdb_options_destroy(set);
    if (message == NULL)
        return true;
    s->db = NULL;
    (void)store_fail(error, "%s", message);
    error->no_room = strstr(message, "No space left") != NULL;
    look_translate(s->look, error);
    rocksdb_free(message);
    return false;
}

static void close_tables(struct salvaging *s)
{
    if (s->db != NULL)
        rocksdb_close(s->db);
    s->db = NULL;
}

static void note_file(struct salvage *out, const char *name, const char *fault)
{
    for (size_t i = 0; i < out->file_count && i < SALVAGE_FILES; i++) {
        if (strcmp(out->files[i].name, name) == 0)
            return;
    }
    if (out->file_count < SALVAGE_FILES) {
        struct salvage_file *file = &out->files[out->file_count];
        (void)snprintf(file->name, sizeof(file->name), "%s", name);
        (void)snprintf(file->fault, sizeof(file->fault), "%s", fault);
    }
    out->file_count++;
}

static bool note_table(void *context, const char *path, const char *fault)
{
    struct salvaging *s = context;
    struct store_error text;
    if (fault == NULL)
        return true;
    (void)store_fail(&text, "%s", fault);
    look_translate(s->look, &text);
    note_file(s->out, strrchr(path, '/') + 1, text.text);
    buf_text(&s->paths, path);
    buf_byte(&s->paths, 0);
    return true;
}

static bool make_lost(const struct salvaging *s, char lost[PATH_MAX + 16])
{
    scratch_path(s, "db/lost", lost);
    return mkdir(lost, 0700) == 0 || errno == EEXIST ||
           store_fail(s->error, "cannot make %s: %s", lost, strerror(errno));
}

// Out of RocksDB's way, where it puts what it cannot use itself.
static bool move_to(const struct salvaging *s, const char *lost, const char *path)
{
    char to[PATH_MAX + 128];
    (void)snprintf(to, sizeof(to), "%s%s", lost, strrchr(path, '/'));
    return rename(path, to) == 0 || errno == ENOENT ||
           store_fail(s->error, "cannot move %s: %s", path, strerror(errno));
}

enum { ORIGIN = 128 };

struct sorting {
    struct salvaging *s;
    struct edits list;
    bool by_list; // the list will be used: else one is made of all tables that it may have had
    struct buf databases; // names of this one, each with its NUL
    char lost[PATH_MAX + 16];
};

// The number that a table was made under, whatever its file is called.
static uint64_t number_made(const struct sorting *sorting, const char *path, uint64_t named)
{
    char origin[ORIGIN];
    const char *space = rocks_table_origin(path, sorting->s->look->keys, origin, sizeof(origin))
                            ? strrchr(origin, ' ')
                            : NULL;
    return space == NULL ? named : strtoull(space + 1, NULL, 10);
}

static uint64_t number_of(const char *path)
{
    return strtoull(strrchr(path, '/') + 1, NULL, 10);
}

static bool is_own(const struct sorting *sorting, struct slice database)
{
    const char *names = (const char *)sorting->databases.ptr;
    for (size_t at = 0; at < sorting->databases.len; at += strlen(names + at) + 1)
        if (slice_is(database, names + at))
            return true;
    return false;
}

// What the tables say of their database that stand where they belong: it may have had several
// names.
static bool note_database(void *context, const char *path)
{
    struct sorting *sorting = context;
    char origin[ORIGIN];
    if (number_made(sorting, path, 0) != number_of(path) ||
        !rocks_table_origin(path, sorting->s->look->keys, origin, sizeof(origin)))
        return true;
    struct slice database = slice_of(origin, strcspn(origin, " "));
    if (!is_own(sorting, database)) {
        buf_slice(&sorting->databases, database);
        buf_byte(&sorting->databases, 0);
    }
    return true;
}

// A table under the name of another cannot be used in its place: its records have sequences of
// their own, which the list knows nothing of, and the log would be applied below them.
static bool move_stranger(void *context, const char *path)
{
    const struct sorting *sorting = context;
    uint64_t number = number_of(path);
    return number_made(sorting, path, number) == number || move_to(sorting->s, sorting->lost, path);
}

// If the list has a table of that name, it is missing.
static void note_missing(const struct sorting *sorting, const char *path, const char *why)
{
    const struct edits_table *missed = edits_find(&sorting->list, number_of(path));
    if (missed != NULL && missed->listed)
        note_file(sorting->s->out, strrchr(path, '/') + 1, why);
}

static bool leave_out(const struct sorting *sorting, const char *path)
{
    note_missing(sorting, path, "it is a table of another database");
    return unlink(path) == 0 ||
           store_fail(sorting->s->error, "cannot leave out %s: %s", path, strerror(errno));
}

// It goes where it belongs, unless that one is there: then it may have what that one has lost.
static bool place_stranger(void *context, const char *path)
{
    const struct sorting *sorting = context;
    char to[PATH_MAX + 64];
    char name[32];
    char origin[ORIGIN];
    char why[64];
    uint64_t made = number_made(sorting, path, 0);
    if (made == 0 || !rocks_table_origin(path, sorting->s->look->keys, origin, sizeof(origin)))
        return true;
    if (!is_own(sorting, slice_of(origin, strcspn(origin, " "))))
        return leave_out(sorting, path);
    (void)snprintf(name, sizeof(name), "%06llu.sst", (unsigned long long)made);
    (void)snprintf(to, sizeof(to), "%s/db/%s", sorting->s->look->scratch, name);
    (void)snprintf(why, sizeof(why), "it is a copy of %s", name);
    if (access(to, F_OK) == 0) {
        note_missing(sorting, path, why);
        return true;
    }
    return rename(path, to) == 0 ||
           store_fail(sorting->s->error, "cannot move %s: %s", path, strerror(errno));
}

static bool place_tables(struct sorting *sorting)
{
    const char *scratch = sorting->s->look->scratch;
    struct store_error *error = sorting->s->error;
    buf_init(&sorting->databases, 1 << 20);
    bool ok = rocks_tables_visit(scratch, "db", note_database, sorting, error) &&
              rocks_tables_visit(scratch, "db", move_stranger, sorting, error) &&
              rocks_tables_visit(scratch, "db/lost", place_stranger, sorting, error);
    buf_release(&sorting->databases);
    return ok;
}

// A sound table that is not as long as the list says was never part of this database, or of another
// state of it: nobody knows what its records are worth beside the others'.
static bool is_foreign(const struct sorting *sorting, const struct edits_table *table,
                       const char *path)
{
    struct stat status;
    char why[200];
    return table->bytes > 0 && stat(path, &status) == 0 &&
           rocks_table_bytes(&status, sorting->s->look->keys) != table->bytes &&
           rocks_table_opens(path, sorting->s->look->keys, why, sizeof(why));
}

// A table that the list does not name is set aside, or RocksDB would remove it: it may have what
// another one has lost. If the list is to be made anew, a table that was merged into others is no
// part of it, or what was deleted then would come back. It is the table that the list speaks of if
// it has the same size.
static bool sort_table(void *context, const char *path)
{
    struct sorting *sorting = context;
    struct stat status;
    uint64_t number = number_of(path);
    const struct edits_table *table = edits_find(&sorting->list, number);
    bool listed = table != NULL && table->listed;
    if (sorting->by_list && listed && is_foreign(sorting, table, path))
        return leave_out(sorting, path);
    if (sorting->by_list)
        return listed || move_to(sorting->s, sorting->lost, path);
    const struct edits_table *made = edits_find(&sorting->list, number_made(sorting, path, number));
    bool removed = made != NULL && !made->listed && made->bytes > 0 && stat(path, &status) == 0 &&
                   rocks_table_bytes(&status, sorting->s->look->keys) == made->bytes;
    return !removed || unlink(path) == 0 ||
           store_fail(sorting->s->error, "cannot leave out %s: %s", path, strerror(errno));
}

static bool sort_tables(struct salvaging *s, bool by_list)
{
    struct sorting sorting = {.s = s, .by_list = by_list};
    if (!make_lost(s, sorting.lost))
        return false;
    manifest_tables(s->look->scratch, s->look->keys, &sorting.list);
    bool ok = place_tables(&sorting) &&
              ((by_list && sorting.list.unknown) ||
               rocks_tables_visit(s->look->scratch, "db", sort_table, &sorting, s->error));
    edits_release(&sorting.list);
    return ok;
}

// The list of tables as it is, if it is sound, or made anew. A list that only lacks a file is used,
// so that what was in that file can be told.
static bool prepare_tables(struct salvaging *s)
{
    struct store_error why = {.text = ""};
    bool usable =
        manifest_judge(s->look->scratch, s->look->keys, s->promised, &why) != MANIFEST_DAMAGED;
    if (!sort_tables(s, usable) ||
        !rocks_tables_check(s->look->scratch, s->look->keys, note_table, s, s->error))
        return false;
    if (usable && open_tables(s, &why))
        return true;
    if (why.no_room) {
        *s->error = why;
        return false;
    }
    look_translate(s->look, &why);
    s->out->rebuilt = true;
    (void)snprintf(s->out->reason, sizeof(s->out->reason), "%s", why.text);
    return look_rebuild(s->look, s->error) && open_tables(s, s->error);
}

// ---- The log ------------------------------------------------------------------------------------

static void note_gap(struct salvage *out, uint64_t from, uint64_t to)
{
    if (out->gap_count < SALVAGE_GAPS)
        out->gaps[out->gap_count] = (struct salvage_gap){from, to};
    out->gap_count++;
    out->missing += to - from + 1;
}

static bool apply_record(void *context, uint64_t sequence, struct slice payload,
                         struct store_error *error)
{
    (void)error;
    struct salvaging *s = context;
    char *message = NULL;
    if (s->expected != 0 && sequence > s->expected)
        note_gap(s->out, s->expected, sequence - 1);
    s->expected = sequence + 1;
    struct slice bytes;
    if (!log_unpack(&s->packer, payload, &bytes)) {
        note_gap(s->out, sequence, sequence);
        return true;
    }
    rocksdb_writebatch_t *batch =
        rocksdb_writebatch_create_from((const char *)bytes.ptr, bytes.len);
    rocksdb_write(s->db, s->write, batch, &message);
    rocksdb_writebatch_destroy(batch);
    s->out->records++;
    s->out->last = sequence;
    return message == NULL || report_failure(s, "applying the log", message);
}

// What the tables say of the log. If the one that says it cannot be read, then what the log says of
// the tables: it begins where they ended.
static uint64_t read_applied(struct salvaging *s, uint64_t log_first)
{
    char *message = NULL;
    size_t length = 0;
    uint64_t applied = 0;
    char *value = rocksdb_get(s->db, s->read, "", 0, &length, &message);
    if (message != NULL && log_first > 0)
        applied = log_first - 1;
    else if (message == NULL && length == sizeof(applied))
        memcpy(&applied, value, sizeof(applied));
    rocksdb_free(value);
    rocksdb_free(message);
    return applied;
}

static uint64_t property(const struct salvaging *s, const char *name)
{
    uint64_t value = 0;
    (void)rocksdb_property_int(s->db, name, &value);
    return value;
}

// What stopped the tables from being written is what a write is told then.
static bool report_stopped(struct salvaging *s)
{
    char *message = NULL;
    rocksdb_writebatch_t *nothing = rocksdb_writebatch_create();
    rocksdb_writebatch_put(nothing, "", 0, "", 0);
    rocksdb_write(s->db, s->write, nothing, &message);
    rocksdb_writebatch_destroy(nothing);
    return message == NULL ? store_fail(s->error, "flushing failed")
                           : report_failure(s, "flushing", message);
}

// Whoever lets RocksDB wait for a flush waits for ever if there is no room.
static bool flush_tables(struct salvaging *s)
{
    static const char failures[] = "rocksdb.background-errors";
    char *message = NULL;
    uint64_t before = property(s, failures);
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(flush, 0);
    rocks_flush_at_once(flush);
    rocksdb_flush(s->db, flush, &message);
    rocksdb_flushoptions_destroy(flush);
    if (message != NULL)
        return report_failure(s, "flushing", message);
    while (property(s, "rocksdb.num-immutable-mem-table") > 0) {
        if (property(s, failures) > before)
            return report_stopped(s);
        sleep_ms(FLUSH_NAP_MS);
    }
    return true;
}

// FORMAT may be what is damaged: the log itself has the last word.
static bool is_old_log(const struct salvaging *s, const char *path)
{
    struct wal_old old;
    struct store_error why;
    return s->look->format > 0 && s->look->format < DATA_DIR_FORMAT_LOG &&
           wal_old_walk(path, &old, NULL, NULL, &why);
}

// A whole log is applied from its first record on, also over what the tables have of it: that may
// be damaged. Around a gap only what the tables do not have can be applied, or old would stand over
// new.
static bool apply_log(struct salvaging *s)
{
    struct salvage *out = s->out;
    struct wal_report *log = &out->log;
    char path[PATH_MAX + 16];
    scratch_path(s, "log", path);
    bool is_old = is_old_log(s, path);
    if (!is_old && !wal_check(path, s->look->keys, s->promised[PROMISE_SEGMENT], log, s->error))
        return false;
    out->applied = read_applied(s, log->first);
    out->last = out->applied;
    if (is_old) {
        struct wal_old old;
        return wal_old_walk(path, &old, apply_record, s, s->error);
    }
    wal_report_compare(log, out->applied, s->promised);
    bool overlaps = log->damage_count == 0 && log->first > 0 && log->first <= out->applied;
    uint64_t above = overlaps ? log->first - 1 : out->applied;
    s->expected = above + 1;
    if (!wal_walk(path, s->look->keys, above, log->reach, apply_record, s, s->error))
        return false;
    uint64_t promised = s->promised[PROMISE_RECORDS];
    if (out->last < out->applied)
        out->last = out->applied;
    if (promised > out->last)
        note_gap(out, out->last + 1, promised);
    return true;
}

// ---- Reading ------------------------------------------------------------------------------------

static bool commit(struct salvaging *s)
{
    if (store_batch_count(s->batch) == 0)
        return true;
    bool done = store_commit(s->to, s->batch, s->error) == STORE_DONE;
    store_batch_clear(s->batch);
    s->proceed(s->context, s->out->keys);
    return done;
}

// Whether a key that was walked to is in a deleted range.
static bool is_deleted(struct salvaging *s, struct slice key)
{
    char *message = NULL;
    rocksdb_pinnableslice_t *value =
        rocksdb_get_pinned(s->db, s->read, (const char *)key.ptr, key.len, &message);
    bool absent = value == NULL && message == NULL;
    rocksdb_pinnableslice_destroy(value);
    rocksdb_free(message);
    return absent;
}

static bool take(struct salvaging *s, struct slice key, struct slice value)
{
    if (key.len == 0 || key.len > STORE_KEY_MAX || value.len > STORE_VALUE_MAX)
        return true; // the store's own note, or nothing of ours
    store_batch_put(s->batch, key, value);
    s->out->keys++;
    return (store_batch_bytes(s->batch) < PIECE_BYTES &&
            store_batch_count(s->batch) < PIECE_KEYS) ||
           commit(s);
}

static struct slice keep(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.len + 1);
    ensure(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

// "… PATH/db/000012.sst …": a missing file is found by nothing else than failing to be read.
static void note_fault(struct salvaging *s, const char *fault)
{
    char db[PATH_MAX + 16];
    char name[64];
    struct store_error text;
    scratch_path(s, "db/", db);
    const char *at = strstr(fault, db);
    unsigned long long number = at == NULL ? 0 : strtoull(at + strlen(db), NULL, 10);
    if (number == 0)
        return;
    (void)snprintf(name, sizeof(name), "%06llu.sst", number);
    (void)store_fail(&text, "%s", fault);
    look_translate(s->look, &text);
    // RocksDB tries the name of old first and last, and names that one.
    for (char *end = text.text; (end = strstr(end, ".ldb")) != NULL; end += 4)
        memcpy(end, ".sst", 4);
    note_file(s->out, name, text.text);
}

static void note_range(struct salvaging *s, const struct salvage_read *read, bool more)
{
    struct salvage *out = s->out;
    struct slice to = more ? salvage_read_key(read) : slice_of(NULL, 0);
    note_fault(s, read->fault);
    if (out->range_count < SALVAGE_RANGES) {
        out->ranges[out->range_count] =
            (struct salvage_range){.from = keep(buf_view(&read->from)), .to = keep(to)};
    } else {
        struct salvage_range *last = &out->ranges[SALVAGE_RANGES - 1];
        free((void *)(uintptr_t)last->to.ptr);
        last->to = keep(to);
    }
    out->range_count++;
}

static rocksdb_iterator_t *make_iterator(void *context)
{
    struct salvaging *s = context;
    return s->out->rebuilt ? rocks_newest_iterator(s->db) : rocksdb_create_iterator(s->db, s->walk);
}

// Tables whose list was made anew may be of before and after a merge: they have the same versions
// of the same keys, which RocksDB's own iterator takes for impossible, and ends the process.
static rocksdb_iterator_t *make_newest_iterator(void *context)
{
    struct salvaging *s = context;
    return rocks_newest_iterator(s->db);
}

static bool take_all(struct salvaging *s)
{
    struct salvage_read read;
    salvage_read_init(&read, make_iterator, s);
    bool ok = true;
    bool more = salvage_read_first(&read, slice_of(NULL, 0));
    while (ok) {
        if (read.skipped)
            note_range(s, &read, more);
        if (!more)
            break;
        struct slice key = salvage_read_key(&read);
        ok = is_deleted(s, key) || take(s, key, salvage_read_value(&read));
        more = ok && salvage_read_next(&read);
    }
    salvage_read_release(&read);
    return ok && commit(s);
}

// ---- What other files have ----------------------------------------------------------------------

static bool take_if_absent(struct salvaging *s, struct salvage_range *range, struct slice key,
                           struct slice value)
{
    struct store_value there;
    struct slice pending;
    if (key.len == 0 || store_batch_get(s->batch, key, &pending) != BATCH_SILENT)
        return true;
    enum store_result result = store_get(s->to, NULL, key, &there, s->error);
    if (result == STORE_FOUND)
        store_value_release(s->to, &there);
    if (result != STORE_ABSENT)
        return result == STORE_FOUND;
    range->others++;
    s->out->older++;
    return take(s, key, value);
}

static bool take_range(struct salvaging *s, rocksdb_iterator_t *(*make)(void *context),
                       void *context, struct salvage_range *range)
{
    struct salvage_read read;
    salvage_read_init(&read, make, context);
    bool ok = true;
    bool more = salvage_read_first(&read, range->from);
    while (ok && more) {
        struct slice key = salvage_read_key(&read);
        if (range->to.len > 0 && slice_compare(key, range->to) >= 0)
            break;
        ok = (make == make_newest_iterator && is_deleted(s, key)) ||
             take_if_absent(s, range, key, salvage_read_value(&read));
        more = ok && salvage_read_next(&read);
    }
    salvage_read_release(&read);
    return ok;
}

static size_t ranges_known(const struct salvage *out)
{
    return out->range_count < SALVAGE_RANGES ? out->range_count : SALVAGE_RANGES;
}

static bool set_aside(struct salvaging *s)
{
    char lost[PATH_MAX + 16];
    bool ok = make_lost(s, lost);
    for (size_t at = 0; ok && at < s->paths.len; at += strlen((const char *)s->paths.ptr + at) + 1)
        ok = move_to(s, lost, (const char *)s->paths.ptr + at);
    return ok;
}

// The tables without the damaged files may have keys of the ranges that could not be read.
static bool take_others(struct salvaging *s)
{
    if (s->out->range_count == 0)
        return true;
    if (!flush_tables(s))
        return false;
    close_tables(s);
    if (!set_aside(s) || !look_rebuild(s->look, s->error) || !open_tables(s, s->error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < ranges_known(s->out); i++)
        ok = take_range(s, make_newest_iterator, s, &s->out->ranges[i]);
    return ok && commit(s);
}

static bool take_file(void *context, const char *file)
{
    struct salvaging *s = context;
    struct rocks_table *table = rocks_table_open(file, s->look->keys);
    if (table == NULL)
        return true;
    bool ok = true;
    struct salvage_range all = {.others = 0};
    if (s->out->rebuilt)
        ok = take_range(s, rocks_table_iterator, table, &all);
    for (size_t i = 0; ok && i < ranges_known(s->out); i++)
        ok = take_range(s, rocks_table_iterator, table, &s->out->ranges[i]);
    rocks_table_close(table);
    return ok;
}

// Files that could not be part of a list of tables.
static bool take_set_aside(struct salvaging *s)
{
    return look_at_lost(s->look->scratch, take_file, s, s->error) && commit(s);
}

// ---- All of it ----------------------------------------------------------------------------------

bool salvage_run(const struct look *look, struct store *to, struct salvage *out,
                 void (*proceed)(void *context, uint64_t keys), void *context,
                 struct store_error *error)
{
    char log[PATH_MAX + 16];
    struct salvaging s = {.look = look,
                          .to = to,
                          .out = out,
                          .proceed = proceed,
                          .context = context,
                          .error = error,
                          .batch = store_batch_new()};
    *out = (struct salvage){.rebuilt = false};
    ensure(s.batch != NULL);
    buf_init(&s.paths, 1 << 20);
    log_packer_init(&s.packer);
    s.write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(s.write, 1);
    s.read = rocksdb_readoptions_create();
    s.walk = rocksdb_readoptions_create();
    rocksdb_readoptions_set_ignore_range_deletions(s.walk, 1);
    rocksdb_readoptions_set_readahead_size(s.walk, READ_AHEAD);
    scratch_path(&s, "log", log);
    promise_read(log, s.promised);
    bool ok = prepare_tables(&s) && apply_log(&s) && take_all(&s) && take_others(&s) &&
              take_set_aside(&s);
    close_tables(&s);
    log_packer_release(&s.packer);
    rocksdb_readoptions_destroy(s.walk);
    rocksdb_readoptions_destroy(s.read);
    rocksdb_writeoptions_destroy(s.write);
    buf_release(&s.paths);
    store_batch_free(s.batch);
    return ok;
}

void salvage_release(struct salvage *salvage)
{
    for (size_t i = 0; i < salvage->range_count && i < SALVAGE_RANGES; i++) {
        free((void *)(uintptr_t)salvage->ranges[i].from.ptr);
        free((void *)(uintptr_t)salvage->ranges[i].to.ptr);
    }
    wal_report_release(&salvage->log);
}
