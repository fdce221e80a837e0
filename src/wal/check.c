// See check.h. A file is read whole, one after the other. Its records are followed from one to
// the next; where the chain breaks, the rest of the file is searched for a record that fits, which
// only a true one does: its sequence is salted, and its checksum covers everything.
#include "wal/check.h"

#include "base/encode.h"
#include "store/store_driver.h"
#include "wal/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)2 << 30)

enum { SEQUENCE_LAST = 15 }; // where in a record's header the last byte of the sequence is

// A file of the log that has been opened, and read when its turn came.
struct part {
    uint64_t number;
    bool finished;       // has a header that can be read, and is ours
    const char *foreign; // or that of another file: what is wrong with it
    struct wal_start start;
    uint64_t bytes;
    struct crypt_cipher *cipher; // of its records, if it is encrypted
};

// The whole log: what both functions of the header go over.
struct parts {
    const char *path; // of the directory; borrowed
    int directory;
    struct part *list; // ordered by number
    size_t count;
    struct buf content; // of one file
    const struct keyring *keys;
    struct buf plain; // of one record
};

static bool fail(struct store_error *error, const struct parts *parts, const char *name)
{
    return store_fail(error,
                      "cannot read %s/%s: %s. Make it a file of the log that this user may read, "
                      "or restore the data directory from a copy",
                      parts->path, name, strerror(errno));
}

// ---- Files ----------------------------------------------------------------------------------

static int compare_parts(const void *a, const void *b)
{
    const struct part *one = a;
    const struct part *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static void note_part(void *context, uint64_t number)
{
    struct parts *parts = context;
    parts->list = realloc(parts->list, (parts->count + 1) * sizeof(*parts->list));
    ensure_memory(parts->list);
    parts->list[parts->count++] = (struct part){.number = number};
}

static bool list_files(struct parts *parts, struct store_error *error)
{
    if (!wal_each_segment(parts->directory, note_part, parts))
        return fail(error, parts, "");
    if (parts->count > 0)
        qsort(parts->list, parts->count, sizeof(*parts->list), compare_parts);
    return true;
}

static int open_part(const struct parts *parts, const struct part *part, char name[WAL_NAME_BYTES])
{
    wal_segment_name(part->number, name);
    return openat(parts->directory, name, O_RDONLY | O_CLOEXEC);
}

static void disown(struct part *part, const char *why)
{
    part->finished = false;
    part->foreign = why;
}

// A header that somebody has changed is one that is damaged.
static void open_start(const struct parts *parts, struct part *part, struct slice bytes)
{
    part->cipher = wal_cipher_new(parts->keys, &part->start, false);
    part->finished = part->cipher != NULL && wal_start_open(part->cipher, bytes);
}

static bool read_start(const struct parts *parts, struct part *part, struct store_error *error)
{
    char name[WAL_NAME_BYTES];
    uint8_t bytes[WAL_START_SEALED];
    struct stat status;
    int file = open_part(parts, part, name);
    ssize_t got = file < 0 ? -1 : pread(file, bytes, sizeof(bytes), 0);
    bool ok = (got >= 0 && fstat(file, &status) == 0) || fail(error, parts, name);
    if (file >= 0)
        (void)close(file);
    if (!ok)
        return false;
    part->bytes = (uint64_t)status.st_size;
    bool whole = wal_start_decode(slice_of(bytes, (size_t)got), &part->start);
    part->finished = whole;
    if (whole && part->start.number != part->number)
        disown(part, "the file is a copy of another one");
    else if (whole && (part->start.key != 0) != (parts->keys != NULL))
        disown(part, parts->keys != NULL ? "the file is not encrypted, as the directory is"
                                         : "the file is encrypted, and the directory is not");
    else if (whole && parts->keys != NULL)
        open_start(parts, part, slice_of(bytes, (size_t)got));
    return true;
}

static bool read_part(struct parts *parts, const struct part *part, struct store_error *error)
{
    char name[WAL_NAME_BYTES];
    int file = open_part(parts, part, name);
    buf_clear(&parts->content);
    bool ok = (file >= 0 && file_read(file, &parts->content)) || fail(error, parts, name);
    if (file >= 0)
        (void)close(file);
    return ok;
}

static const char other_log[] = "the file is of another log";

// Whether a file may be the next one behind another; what their headers do not say may be.
static bool may_follow(const struct part *part, const struct part *before)
{
    return !part->finished || !before->finished || part->start.before == 0 ||
           part->number != before->number + 1 ||
           part->start.before == (uint32_t)wal_mark(before->start.salt);
}

// Which file the promise speaks of, if it is the one it speaks of; 0 otherwise. No file can be
// there whose number is above the next one's: a segment is promised before another is begun.
static size_t find_promised(struct parts *parts, const uint64_t promised[PROMISE_VALUES])
{
    size_t found = 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->list[i];
        if (!part->finished || promised[PROMISE_SEGMENT] == 0 || promised[PROMISE_SALT] == 0)
            continue;
        bool named = part->number == promised[PROMISE_SEGMENT];
        if (part->number > promised[PROMISE_SEGMENT] + 1 ||
            (named && wal_mark(part->start.salt) != promised[PROMISE_SALT]))
            disown(part, other_log);
        else if (named)
            found = i;
    }
    return found;
}

// Files are followed from the promised one to both sides, or else from the first.
static void find_foreign(struct parts *parts, const uint64_t promised[PROMISE_VALUES])
{
    size_t sure = find_promised(parts, promised);
    for (size_t i = sure; i > 0; i--) {
        if (!may_follow(&parts->list[i], &parts->list[i - 1]))
            disown(&parts->list[i - 1], other_log);
    }
    for (size_t i = sure + 1; i < parts->count; i++) {
        if (!may_follow(&parts->list[i], &parts->list[i - 1]))
            disown(&parts->list[i], other_log);
    }
}

static void parts_close(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        crypt_cipher_free(parts->list[i].cipher);
    buf_release(&parts->plain);
    buf_release(&parts->content);
    free(parts->list);
    if (parts->directory >= 0)
        (void)close(parts->directory);
}

static bool parts_open(struct parts *parts, const char *directory, const struct keyring *keys,
                       struct store_error *error)
{
    *parts = (struct parts){
        .path = directory,
        .keys = keys,
        .directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
    };
    buf_init(&parts->content, FILE_MAX_BYTES);
    buf_init(&parts->plain, WAL_RECORD_MAX);
    bool ok = (parts->directory >= 0 || fail(error, parts, "")) && list_files(parts, error);
    for (size_t i = 0; ok && i < parts->count; i++)
        ok = read_start(parts, &parts->list[i], error);
    if (!ok) {
        parts_close(parts);
        return false;
    }
    uint64_t promised[PROMISE_VALUES];
    promise_read(directory, promised);
    find_foreign(parts, promised);
    return true;
}

// ---- Records --------------------------------------------------------------------------------

// A place in the records of one file.
struct place {
    struct slice bytes; // the file
    uint64_t salt;
    uint64_t expected; // sequence of the record that should come next
    uint64_t limit;    // sequences from here on are void
    size_t at;
    struct crypt_cipher *cipher; // borrowed, or NULL; opens records into
    struct buf *plain;
};

static void step(struct place *place, const struct wal_record *record)
{
    place->at += record->bytes;
    place->expected = record->sequence + 1;
}

static bool record_at(const struct place *place, size_t at, struct wal_record *out)
{
    return wal_record_decode(slice_of(place->bytes.ptr + at, place->bytes.len - at), place->salt,
                             out) &&
           (place->cipher == NULL ||
            wal_record_open(place->cipher, place->salt, out, place->plain));
}

// The record that should come next.
static bool next_record(const struct place *place, struct wal_record *out)
{
    return place->expected < place->limit && place->at <= place->bytes.len &&
           record_at(place, place->at, out) && out->sequence == place->expected;
}

// The first intact record behind the place where one is missing; moves there.
static bool find_record(struct place *place, struct wal_record *out)
{
    uint64_t room = place->bytes.len / WAL_HEADER;
    // A file that was used before has much behind its records. No log gets to 2^56 of them, so the
    // last byte of a salted sequence is known, and can be looked for.
    int last = (int)((place->salt ^ place->expected) >> 56);
    for (size_t at = place->at; at + WAL_HEADER <= place->bytes.len; at++) {
        const uint8_t *hit = memchr(place->bytes.ptr + at + SEQUENCE_LAST, last,
                                    place->bytes.len - at - SEQUENCE_LAST);
        if (hit == NULL)
            return false;
        at = (size_t)(hit - place->bytes.ptr) - SEQUENCE_LAST;
        if (place->bytes.len - at < WAL_HEADER)
            return false;
        uint64_t sequence = le64_get(place->bytes.ptr + at + 8) ^ place->salt;
        // Few bytes pass for a sequence that could be here, so that few checksums are made.
        if (sequence - place->expected > room || sequence >= place->limit ||
            !record_at(place, at, out))
            continue;
        place->at = at;
        return true;
    }
    return false;
}

// The salt of a file whose header is lost, if its first record is the one that is due.
static uint64_t guess_salt(struct slice bytes, size_t at, uint64_t due)
{
    uint64_t salted = 0;
    if (bytes.len >= at + WAL_HEADER)
        memcpy(&salted, bytes.ptr + at + 8, 8);
    return salted ^ due;
}

// The data key of a file whose header is lost: the one that opens its first record.
static void guess_key(const struct parts *parts, struct part *part, struct place *place)
{
    struct wal_record record;
    struct wal_start start = {.salt = place->salt, .number = part->number};
    for (size_t i = 0; i < parts->keys->count; i++) {
        start.key = parts->keys->keys[i].id;
        crypt_cipher_free(part->cipher);
        part->cipher = wal_cipher_new(parts->keys, &start, false);
        place->cipher = part->cipher;
        if (next_record(place, &record))
            return;
    }
}

// The sequence below which the records of a file count: where the next file begins that says so.
static uint64_t part_limit(const struct parts *parts, size_t i)
{
    uint64_t limit = UINT64_MAX;
    for (size_t next = i + 1; next < parts->count; next++) {
        if (parts->list[next].finished && parts->list[next].start.first < limit)
            limit = parts->list[next].start.first;
    }
    return limit;
}

// Where the records of a file begin. `due` is the sequence behind those of the files before.
static struct place part_begin(struct parts *parts, size_t i, uint64_t due)
{
    struct part *part = &parts->list[i];
    struct place place = {.bytes = buf_view(&parts->content),
                          .limit = part_limit(parts, i),
                          .at = parts->keys == NULL ? WAL_START : WAL_START_SEALED,
                          .cipher = part->cipher,
                          .plain = &parts->plain};
    place.expected = part->finished ? part->start.first : due;
    place.salt = part->finished ? part->start.salt : guess_salt(place.bytes, place.at, due);
    if (part->foreign != NULL)
        place.bytes.len = 0;
    else if (!part->finished && parts->keys != NULL)
        guess_key(parts, part, &place);
    return place;
}

// ---- Judging --------------------------------------------------------------------------------

static void add_damage(struct wal_report *report, uint64_t number, uint64_t at, uint64_t sequence,
                       const char *what)
{
    if (report->damage_count < WAL_DAMAGES) {
        struct wal_damage *damage = &report->damages[report->damage_count];
        *damage = (struct wal_damage){.at = at, .sequence = sequence, .what = what};
        damage->behind = report->records; // for now: those in front of it
        wal_segment_name(number, damage->file);
    }
    report->damage_count++;
}

// What follows a break in the chain of a file's records: other records, and whether one of them
// says that what is missing had been synced. Where the next file begins says so, too.
static void judge_break(struct wal_report *report, const struct parts *parts, size_t i,
                        struct place place)
{
    const struct part *part = &parts->list[i];
    struct place broken = place;
    struct wal_record record;
    bool last = i + 1 == parts->count;
    bool proven = !last && parts->list[i + 1].finished;
    uint64_t found = 0;
    while (find_record(&place, &record)) {
        found++;
        proven = proven || record.sequence - record.unsynced > broken.expected;
        step(&place, &record);
    }
    if (!proven) {
        report->torn = last && part->bytes > broken.at ? part->bytes - broken.at : 0;
        report->adrift = found;
        return;
    }
    if (found == 0 && !last && parts->list[i + 1].number > part->number + 1)
        add_damage(report, part->number + 1, 0, broken.expected, "the file is missing");
    else if (part->foreign == NULL)
        add_damage(report, part->number, broken.at, broken.expected, "a record is damaged");
    report->records += found;
    if (found > 0)
        report->reach = place.expected - 1;
}

static bool all_zero(struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] != 0)
            return false;
    }
    return true;
}

// Leaves out a last file that was just being made when the process or the machine died.
static bool leave_unfinished(struct parts *parts, uint64_t made, struct wal_report *report,
                             struct store_error *error)
{
    if (parts->count == 0)
        return true;
    const struct part *last = &parts->list[parts->count - 1];
    if (last->finished || last->foreign != NULL)
        return true;
    if (!read_part(parts, last, error))
        return false;
    if ((made != 0 && last->number > made) || all_zero(buf_view(&parts->content))) {
        report->unfinished = last->number;
        parts->count--;
        crypt_cipher_free(last->cipher);
    }
    return true;
}

static void judge_part(struct wal_report *report, struct parts *parts, size_t i, uint64_t due)
{
    const struct part *part = &parts->list[i];
    struct place place = part_begin(parts, i, due);
    struct wal_segment *segment = &report->segments[report->segment_count++];
    *segment =
        (struct wal_segment){.number = part->number, .first = place.expected, .bytes = part->bytes};
    segment->salt = place.salt;
    if (part->foreign != NULL)
        add_damage(report, part->number, 0, due, part->foreign);
    else if (!part->finished)
        add_damage(report, part->number, 0, due, "the header is damaged");
    else if (i > 0 && part->start.first < due)
        add_damage(report, part->number, 0, due, "the file does not follow the one before it");
    else if (i > 0 && part->start.first == due && part->number != parts->list[i - 1].number + 1)
        add_damage(report, parts->list[i - 1].number + 1, 0, due, "the file is missing");
    struct wal_record record;
    while (next_record(&place, &record)) {
        segment->records++;
        report->records++;
        step(&place, &record);
    }
    segment->end = place.at;
    if (segment->records > 0)
        report->reach = place.expected - 1;
    if (place.expected < place.limit)
        judge_break(report, parts, i, place);
}

static uint64_t due_behind(const struct wal_report *report)
{
    if (report->segment_count == 0)
        return 1;
    const struct wal_segment *segment = &report->segments[report->segment_count - 1];
    return segment->first + segment->records;
}

// The last record that is reached without passing a damage.
static void find_ends(struct wal_report *report)
{
    for (size_t i = 0; i < report->damage_count && i < WAL_DAMAGES; i++)
        report->damages[i].behind = report->records - report->damages[i].behind;
    if (report->segment_count == 0)
        return;
    report->first = report->segments[0].first;
    report->last =
        report->damage_count == 0 ? due_behind(report) - 1 : report->damages[0].sequence - 1;
}

bool wal_check(const char *directory, const struct keyring *keys, uint64_t made,
               struct wal_report *out, struct store_error *error)
{
    struct parts parts;
    if (!parts_open(&parts, directory, keys, error))
        return false;
    struct wal_report report = {.segments = calloc(parts.count + 1, sizeof(struct wal_segment))};
    ensure_memory(report.segments);
    bool ok = leave_unfinished(&parts, made, &report, error);
    for (size_t i = 0; ok && i < parts.count; i++) {
        ok = read_part(&parts, &parts.list[i], error);
        if (ok)
            judge_part(&report, &parts, i, due_behind(&report));
    }
    parts_close(&parts);
    if (!ok) {
        free(report.segments);
        return false;
    }
    find_ends(&report);
    *out = report;
    return true;
}

void wal_report_compare(struct wal_report *report, uint64_t applied,
                        const uint64_t promised[PROMISE_VALUES])
{
    if (report->damage_count > 0)
        return; // that one is told first
    uint64_t records = promised[PROMISE_RECORDS];
    uint64_t segment = promised[PROMISE_SEGMENT];
    if (report->segment_count == 0) {
        add_damage(report, segment > 0 ? segment : 1, 0, applied + 1, "the file is missing");
        return;
    }
    const struct wal_segment *last = &report->segments[report->segment_count - 1];
    if (report->first > applied + 1)
        add_damage(report, report->segments[0].number - 1, 0, applied + 1, "the file is missing");
    else if (report->last >= records || applied >= records)
        return;
    else if (segment > last->number)
        add_damage(report, segment, 0, report->last + 1, "the file is missing");
    else
        add_damage(report, last->number, last->end, report->last + 1, "a record is damaged");
    report->damages[0].behind = report->first > applied + 1 ? report->records : report->adrift;
}

void wal_report_release(struct wal_report *report)
{
    free(report->segments);
    *report = (struct wal_report){.segments = NULL};
}

bool wal_report_fail(const struct wal_report *report, const char *data, struct store_error *error)
{
    const struct wal_damage *damage = &report->damages[0];
    return store_fail(error,
                      "%s/log/%s is damaged at byte %llu: %s (sequence %llu); %llu intact records "
                      "follow. Restore the directory from a copy, or run 'dolmen repair %s'",
                      data, damage->file, (unsigned long long)damage->at, damage->what,
                      (unsigned long long)damage->sequence, (unsigned long long)damage->behind,
                      data);
}

// ---- Walking --------------------------------------------------------------------------------

struct walk {
    uint64_t above;
    uint64_t upto;
    uint64_t due;
    wal_visit visit;
    void *context;
};

static bool walk_part(struct parts *parts, size_t i, struct walk *walk, struct store_error *error)
{
    struct place place = part_begin(parts, i, walk->due);
    struct wal_record record;
    if (place.limit > walk->upto)
        place.limit = walk->upto + 1;
    while (next_record(&place, &record) || find_record(&place, &record)) {
        step(&place, &record);
        if (record.sequence > walk->above &&
            !walk->visit(walk->context, record.sequence, record.payload, error))
            return false;
    }
    walk->due = place.expected;
    return true;
}

bool wal_walk(const char *directory, const struct keyring *keys, uint64_t above, uint64_t upto,
              wal_visit visit, void *context, struct store_error *error)
{
    struct parts parts;
    if (!parts_open(&parts, directory, keys, error))
        return false;
    struct walk walk = {above, upto, 1, visit, context};
    bool ok = true;
    for (size_t i = 0; ok && i < parts.count; i++)
        ok = read_part(&parts, &parts.list[i], error) && walk_part(&parts, i, &walk, error);
    parts_close(&parts);
    return ok;
}
