// What the tables say, found out before RocksDB may change anything: opened for writing it begins a
// new list of tables and removes each table file that is not in the list, whoever put it there.
//
// A file that is not in the list is removed if it is known to hold nothing that is needed: its
// writing was never finished (see files.cc); or the list itself says that it was taken
// off; or the last run made it, and died before it came into the list, while its content was still
// in the log or in the tables that it was made of. Any other is kept, as NAME.unlisted.
#include "rocks/rocks_internal.h"

#include "rocks/manifest.h"
#include "rocks/options.h"
#include "rocks/tables.h"

#include "base/files.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CACHE_BYTES = 8 << 20,
    NAME_BYTES = 64,
};

#define UNLISTED ".unlisted"

uint64_t rocks_session_mark(const char *session)
{
    uint64_t mark = 0xcbf29ce484222325u;
    for (; *session != 0 && *session != ' '; session++)
        mark = (mark ^ (uint8_t)*session) * 0x100000001b3u;
    return mark >> 16 | 1;
}

// ---- What they say ----------------------------------------------------------------------------

bool rocks_open_failed(const struct rocks_store *rocks, char *message, struct store_error *error)
{
    // Only where the directory could not be locked is it RocksDB that finds it in use.
    if (strstr(message, "While lock file") != NULL || strstr(message, "lock hold by") != NULL)
        (void)data_dir_in_use(rocks->path, error);
    else if (strstr(message, "No space left") != NULL)
        return rocks_fail(rocks, error, "opening", message);
    else if (!rocks_tables_blame(rocks->path, rocks->dir.keys, error))
        (void)store_fail(error,
                         "cannot open %s/db: %.400s. Restore it from a copy, or run 'dolmen "
                         "repair %s'",
                         rocks->path, message, rocks->path);
    rocksdb_free(message);
    return false;
}

static bool read_applied(const struct rocks_store *rocks, rocksdb_t *db, uint64_t *out,
                         struct store_error *error)
{
    char *message = NULL;
    size_t length = 0;
    rocksdb_readoptions_t *once = rocksdb_readoptions_create();
    char *value = rocksdb_get(db, once, "", 0, &length, &message);
    rocksdb_readoptions_destroy(once);
    if (message != NULL)
        return rocks_open_failed(rocks, message, error);
    *out = 0;
    if (length == sizeof(*out))
        memcpy(out, value, sizeof(*out));
    rocksdb_free(value);
    return true;
}

static void add_number(struct buf *to, uint64_t number)
{
    buf_add(to, &number, sizeof(number));
}

static bool has_number(const struct buf *of, uint64_t number)
{
    for (size_t at = 0; at < of->len; at += sizeof(number)) {
        if (memcmp(of->ptr + at, &number, sizeof(number)) == 0)
            return true;
    }
    return false;
}

bool rocks_judge(struct rocks_store *rocks, struct rocks_listed *out, struct store_error *error)
{
    char *message = NULL;
    struct store_options options = {.path = rocks->path, .passive = true};
    options.cache_bytes = CACHE_BYTES;
    buf_init(&out->tables, 64 << 20);
    if (!data_dir_has_tables(&rocks->dir))
        return true;
    rocksdb_options_t *set = rocks_options_new(&options, rocks->files);
    rocksdb_options_set_create_if_missing(set, 0);
    rocksdb_t *db = rocksdb_open_for_read_only(set, rocks->db_path, 0, &message);
    rocksdb_options_destroy(set);
    if (message != NULL)
        return rocks_open_failed(rocks, message, error);
    bool ok = read_applied(rocks, db, &out->applied, error);
    const rocksdb_livefiles_t *files = rocksdb_livefiles(db);
    for (int i = 0; i < rocksdb_livefiles_count(files); i++)
        add_number(&out->tables, strtoull(rocksdb_livefiles_name(files, i) + 1, NULL, 10));
    rocksdb_livefiles_destroy(files);
    rocksdb_close(db);
    return ok;
}

void rocks_listed_release(struct rocks_listed *listed)
{
    buf_release(&listed->tables);
}

// ---- Files that are not in the list -----------------------------------------------------------

// Whether the run that the promise speaks of made a table under this number.
static bool is_of_last_run(const struct rocks_store *rocks, const char *name, uint64_t number,
                           uint64_t session)
{
    char path[PATH_MAX + 96];
    char origin[128];
    (void)snprintf(path, sizeof(path), "%s/%s", rocks->db_path, name);
    if (session == 0 || !rocks_table_origin(path, rocks->dir.keys, origin, sizeof(origin)))
        return false;
    const char *space = strchr(origin, ' ');
    return space != NULL && rocks_session_mark(origin) == session &&
           strtoull(space + 1, NULL, 10) == number;
}

// Keeps a file under a name that RocksDB does not know, and that no other file has.
static bool keep_file(struct rocks_store *rocks, const char *name, struct store_error *error)
{
    char kept[NAME_BYTES + 32];
    for (int i = 1;; i++) {
        if (i == 1)
            (void)snprintf(kept, sizeof(kept), "%s" UNLISTED, name);
        else
            (void)snprintf(kept, sizeof(kept), "%s.%d" UNLISTED, name, i);
        if (faccessat(rocks->dir.db, kept, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            break;
    }
    if (renameat(rocks->dir.db, name, rocks->dir.db, kept) != 0)
        return store_fail_errno(error, "cannot rename %s/db/%s", rocks->path, name);
    log_warn("store: %s/db/%s is not in the list of tables; it is kept as %s", rocks->path, name,
             kept);
    return true;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    return length > strlen(end) && length < NAME_BYTES &&
           strcmp(name + length - strlen(end), end) == 0;
}

struct aside {
    struct rocks_store *rocks;
    const struct rocks_listed *listed;
    struct edits list;
    uint64_t session;
};

// Whether it is known that nobody needs a table that is not in the list.
static bool is_leftover(const struct aside *aside, const char *name, uint64_t number)
{
    struct stat status;
    const struct edits_table *table = edits_find(&aside->list, number);
    bool removed =
        table != NULL && fstatat(aside->rocks->dir.db, name, &status, 0) == 0 &&
        (table->bytes == 0 || table->bytes == rocks_table_bytes(&status, aside->rocks->dir.keys));
    return removed || is_of_last_run(aside->rocks, name, number, aside->session);
}

static bool look_at_file(struct aside *aside, const char *name, struct store_error *error)
{
    struct rocks_store *rocks = aside->rocks;
    uint64_t number = strtoull(name, NULL, 10);
    bool is_unfinished = ends_with(name, ROCKS_UNFINISHED);
    bool is_unlisted =
        ends_with(name, ".sst") && number != 0 && !has_number(&aside->listed->tables, number);
    if (is_unlisted && !is_leftover(aside, name, number))
        return keep_file(rocks, name, error);
    return (!is_unfinished && !is_unlisted) || unlinkat(rocks->dir.db, name, 0) == 0 ||
           store_fail_errno(error, "cannot remove %s/db/%s", rocks->path, name);
}

// Reading a directory that is being changed may show a file twice or not at all, so its names are
// read first: each with its NUL.
static bool read_names(const struct rocks_store *rocks, struct buf *out, struct store_error *error)
{
    DIR *listing = directory_list(rocks->dir.db);
    if (listing == NULL)
        return store_fail_errno(error, "cannot read the directory %s/db", rocks->path);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        buf_text(out, entry->d_name);
        buf_byte(out, 0);
    }
    (void)closedir(listing);
    return true;
}

bool rocks_set_aside(struct rocks_store *rocks, const struct rocks_listed *listed, uint64_t session,
                     struct store_error *error)
{
    struct aside aside = {.rocks = rocks, .listed = listed, .session = session};
    struct buf names;
    if (!rocks->dir.locked)
        return true; // another process may be making them; RocksDB finds that out
    buf_init(&names, 64 << 20);
    manifest_tables(rocks->path, rocks->dir.keys, &aside.list);
    bool ok = read_names(rocks, &names, error);
    for (size_t at = 0; ok && at < names.len; at += strlen((const char *)names.ptr + at) + 1)
        ok = look_at_file(&aside, (const char *)names.ptr + at, error);
    if (ok && fsync(rocks->dir.db) != 0)
        ok = store_fail_errno(error, "cannot sync %s/db", rocks->path);
    edits_release(&aside.list);
    buf_release(&names);
    return ok;
}
