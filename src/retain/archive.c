// See archive.h. What is compared is a chain: the digest of each item, hashed into that of all
// before it. Reading back gives the same chain, or the archive is not that of these items.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "retain/archive.h"

#include "base/files.h"
#include "base/time_text.h"
#include "transfer/export.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"
#include "value/digest.h"
#include "json/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CHAIN_BYTES = 32,
    MANIFEST_MAX = 64 << 20,
    READ_SIZE = 64 << 10,
    OPEN_DIRECTORIES = 16,
    DATE_LENGTH = 10, // 2026-11-18
    ARCHIVE_MEMORY = 64 << 20,
};

// What a walk over items comes to.
struct tally {
    uint64_t count;
    uint8_t chain[CHAIN_BYTES];
};

struct archive {
    struct archive_options options;
    struct arena arena;
    struct tally tally;
    int64_t started_ms;
    int64_t bytes;
    char id[EXPORT_ID_MAX];
    char *part;   // the directory of what has no name yet
    char *prefix; // "jobs/retain-Job/2026-11-18"
    char *path;   // "jobs/retain-Job/2026-11-18/AWSDynamoDB/<id>"
    struct export_writer *writer;
    bool published;
};

static void tally_add(struct tally *tally, struct slice item)
{
    uint8_t bytes[CHAIN_BYTES + DIGEST_BYTES];
    memcpy(bytes, tally->chain, CHAIN_BYTES);
    item_digest(item, bytes + CHAIN_BYTES);
    sha256_of(slice_of(bytes, sizeof(bytes)), tally->chain);
    tally->count++;
}

// ---- Directories ------------------------------------------------------------------------------

// Brings a directory and those above it, up to the root, to the disk.
static bool sync_up(const char *root, const char *path, struct error *error)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return error_budget(error);
    bool ok = true;
    size_t least = strlen(root);
    while (ok && strlen(copy) >= least) {
        ok = directory_sync(copy);
        char *slash = strrchr(copy, '/');
        if (slash == NULL || slash == copy)
            break;
        *slash = 0;
    }
    if (!ok)
        (void)error_set(error, ERR_INTERNAL, "cannot sync the directory '%s': %s", copy,
                        strerror(errno));
    free(copy);
    return ok;
}

// ---- Writing ----------------------------------------------------------------------------------

static bool name_all(struct archive *archive, struct error *error)
{
    const struct archive_options *options = &archive->options;
    char date[TIME_TEXT];
    time_text(archive->started_ms, date);
    archive->part = arena_printf(&archive->arena, "%s/.part-%.*s-%s", options->root,
                                 SLICE_FMT(options->table), options->rule);
    archive->prefix = arena_printf(&archive->arena, "%.*s/%s/%.*s", SLICE_FMT(options->table),
                                   options->rule, DATE_LENGTH, date);
    archive->path = archive->prefix == NULL ? NULL
                                            : arena_printf(&archive->arena, "%s/AWSDynamoDB/%s",
                                                           archive->prefix, archive->id);
    return (archive->part != NULL && archive->path != NULL) || error_budget(error);
}

struct archive *archive_open(const struct archive_options *options, struct error *error)
{
    struct archive *archive = memory_zeroed(sizeof(*archive));
    archive->options = *options;
    archive->started_ms = env_now(options->env);
    arena_init(&archive->arena, ARCHIVE_MEMORY);
    export_id(options->env, archive->started_ms, archive->id);
    bool ok = name_all(archive, error) && files_make_directory(options->root, error);
    if (ok && !directory_remove(archive->part))
        ok = error_set(error, ERR_INTERNAL, "cannot remove '%s': %s", archive->part,
                       strerror(errno));
    if (ok) {
        struct export_options writing = {.root = archive->part,
                                         .prefix = slice_str(archive->prefix),
                                         .id = archive->id,
                                         .format = TRANSFER_DYNAMODB_JSON,
                                         .env = options->env};
        archive->writer = export_open(&writing, error);
    }
    if (archive->writer != NULL)
        return archive;
    archive_free(archive);
    return NULL;
}

void archive_free(struct archive *archive)
{
    if (archive == NULL)
        return;
    export_free(archive->writer);
    if (archive->part != NULL)
        DISREGARD(directory_remove(archive->part));
    arena_release(&archive->arena);
    free(archive);
}

bool archive_add(struct archive *archive, struct slice item, struct error *error)
{
    archive->bytes += (int64_t)value_item_size(item);
    tally_add(&archive->tally, item);
    return export_item(archive->writer, item, error);
}

const char *archive_path(const struct archive *archive)
{
    return archive->path;
}

uint64_t archive_count(const struct archive *archive)
{
    return archive->tally.count;
}

bool archive_close(struct archive *archive, struct error *error)
{
    const char *root = archive->options.root;
    const char *slash = strrchr(root, '/');
    struct export_summary summary = {
        .export_arn = SLICE_LIT(""),
        .table_id = archive->options.table_id,
        .start_ms = archive->started_ms,
        .end_ms = env_now(archive->options.env),
        .export_ms = archive->started_ms,
        .bucket = slice_str(slash == NULL ? root : slash + 1),
        .prefix = slice_str(archive->prefix),
        .billed_bytes = archive->bytes,
    };
    char *own = arena_printf(&archive->arena, "%s/%s", archive->part, archive->path);
    char *data = arena_printf(&archive->arena, "%s/%s/data", archive->part, archive->path);
    if (own == NULL || data == NULL)
        return error_budget(error);
    return export_finish(archive->writer, &summary, error) && sync_up(own, data, error);
}

// ---- Reading back -----------------------------------------------------------------------------

// A line of manifest-files.json.
struct data_file {
    uint64_t items;
    struct slice md5; // base64
    struct slice key;
};

static bool read_line(struct slice line, struct arena *arena, struct data_file *out)
{
    struct json_reader reader;
    struct slice name;
    json_reader_init(&reader, line, arena);
    *out = (struct data_file){.items = 0};
    if (json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return false;
    while (json_next_name(&reader, &name)) {
        struct slice number;
        bool ok = slice_is(name, "itemCount")       ? json_read_number(&reader, &number)
                  : slice_is(name, "md5Checksum")   ? json_read_string(&reader, &out->md5)
                  : slice_is(name, "dataFileS3Key") ? json_read_string(&reader, &out->key)
                                                    : json_skip(&reader);
        if (!ok)
            return false;
        if (slice_is(name, "itemCount"))
            for (size_t i = 0; i < number.len; i++)
                out->items = out->items * 10 + (uint64_t)(number.ptr[i] - '0');
    }
    return reader.error == NULL && out->md5.len > 0 && files_key_safe(out->key);
}

static bool damaged(struct error *error, struct slice key, const char *what)
{
    return error_set(error, ERR_INTERNAL, "the archive's file '%.*s' %s: nothing is deleted",
                     SLICE_FMT(key), what);
}

static bool check_bytes(int fd, const struct data_file *file, struct error *error)
{
    uint8_t bytes[READ_SIZE];
    uint8_t digest[16];
    struct buf text;
    MD5_CTX md5;
    ssize_t got;
    // From the disk, not from what the kernel remembers.
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    MD5_Init(&md5);
    while ((got = read(fd, bytes, sizeof(bytes))) > 0)
        MD5_Update(&md5, bytes, (size_t)got);
    if (got < 0)
        return damaged(error, file->key, "cannot be read");
    MD5_Final(digest, &md5);
    buf_init(&text, 64);
    base64_encode(&text, slice_of(digest, sizeof(digest)));
    bool same = slice_equal(buf_view(&text), file->md5);
    buf_release(&text);
    return same || damaged(error, file->key, "has another checksum than its manifest says");
}

static bool check_items(int fd, const struct data_file *file, struct tally *tally,
                        struct error *error)
{
    struct item_reader_options options = {.format = TRANSFER_DYNAMODB_JSON,
                                          .compression = TRANSFER_GZIP};
    struct item_record record;
    uint64_t before = tally->count;
    struct item_reader *reader = item_reader_open_fd(fd, &options, error);
    if (reader == NULL)
        return false;
    bool ok = true;
    while (ok && item_reader_next(reader, &record, error)) {
        ok = record.bad == NULL || damaged(error, file->key, record.bad);
        if (ok)
            tally_add(tally, record.item);
    }
    item_reader_free(reader);
    return ok && error->code == ERR_NONE &&
           (tally->count - before == file->items ||
            damaged(error, file->key, "has another number of items than its manifest says"));
}

static bool check_file(const char *root, const struct data_file *file, struct tally *tally,
                       struct error *error)
{
    int fd = files_open(root, file->key, error);
    if (fd < 0)
        return false;
    bool ok = check_bytes(fd, file, error);
    if (ok && lseek(fd, 0, SEEK_SET) != 0)
        ok = damaged(error, file->key, "cannot be read");
    ok = ok && check_items(fd, file, tally, error);
    (void)close(fd);
    return ok;
}

// All that the manifest names.
static bool check_all(const char *root, const char *path, struct tally *tally, struct error *error)
{
    struct arena arena;
    struct buf text;
    struct data_file file;
    bool there = false;
    arena_init(&arena, 2 * (size_t)MANIFEST_MAX);
    buf_init(&text, MANIFEST_MAX);
    char *manifest = arena_printf(&arena, "%s/%s/manifest-files.json", root, path);
    bool ok = manifest != NULL ? files_read(manifest, &text, &there, error) : error_budget(error);
    if (ok && !there)
        ok = damaged(error, slice_str(path), "has no manifest");
    struct slice rest = buf_view(&text);
    while (ok && rest.len > 0) {
        struct slice line = slice_cut(&rest, '\n');
        ok = line.len == 0 || (read_line(line, &arena, &file)
                                   ? check_file(root, &file, tally, error)
                                   : damaged(error, slice_str(path), "has a damaged manifest"));
    }
    buf_release(&text);
    arena_release(&arena);
    return ok;
}

bool archive_check(const char *root, const char *path, struct error *error)
{
    struct tally tally = {.count = 0};
    return check_all(root, path, &tally, error);
}

// ---- Its name ---------------------------------------------------------------------------------

bool archive_publish(struct archive *archive, struct error *error)
{
    const char *root = archive->options.root;
    struct tally tally = {.count = 0};
    if (!check_all(archive->part, archive->path, &tally, error))
        return false;
    if (tally.count != archive->tally.count ||
        memcmp(tally.chain, archive->tally.chain, CHAIN_BYTES) != 0)
        return damaged(error, slice_str(archive->path), "does not have the items put into it");
    char *from = arena_printf(&archive->arena, "%s/%s", archive->part, archive->path);
    char *above = arena_printf(&archive->arena, "%s/%s/AWSDynamoDB", root, archive->prefix);
    char *to = arena_printf(&archive->arena, "%s/%s", root, archive->path);
    if (from == NULL || above == NULL || to == NULL)
        return error_budget(error);
    if (!files_make_directory(above, error))
        return false;
    if (rename(from, to) != 0)
        return error_set(error, ERR_INTERNAL, "cannot rename '%s' to '%s': %s", from, to,
                         strerror(errno));
    return sync_up(root, above, error);
}
