// `dolmen repair`: a sound directory out of a damaged one, and exactly what was lost. What can be
// read is taken over (salvage/salvage.h); then whatever does not fit together any more is mended
// (verify/verify.h).
#include "cli/scratch.h"

#include "base/encode.h"
#include "base/files.h"
#include "base/time_text.h"
#include "designs/verify.h"
#include "rocks/rocks.h"
#include "salvage/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LIMIT_DEFAULT = 100,
    LIMIT_MAX = 10000,
    REPORT_MEMORY = 256 << 20,
    DONE_WITH_LOSS = 3, // an exit code of this command alone
};

struct repair {
    struct cli_input *input;
    const char *target;           // NULL for a dry run
    struct store_options options; // of the new directory
    struct crypt_key master;
    struct scratch scratch;
    struct look look;
    struct store *to;
    struct salvage salvage;
    struct findings mended;
    struct buf cuts; // change logs that begin anew, as elements of a JSON array
    struct json_writer cuts_writer;
    bool lost_keys; // of something that cannot be made again
};

// Always false.
static bool fail_errno(struct store_error *error, const char *doing, const char *path)
{
    error->no_room = errno == ENOSPC || errno == EDQUOT;
    (void)snprintf(error->text, sizeof(error->text), "cannot %s %.400s: %s", doing, path,
                   strerror(errno));
    return false;
}

// ---- Working ------------------------------------------------------------------------------------

static void note_keys(void *context, uint64_t keys)
{
    struct repair *repair = context;
    progress_show(&repair->mended.bar, keys, keys);
}

static void note_cut(void *context, const struct verify_cut *cut)
{
    struct json_writer *w = &((struct repair *)context)->cuts_writer;
    char since[TIME_TEXT];
    time_text(cut->since_ms, since);
    json_form(w, "{'Table':%.*s,'Since':%s}", SLICE_FMT(cut->table), since);
}

// Which keys were lost is known of ranges; of a record of the log, or of a table file that is not
// known to be missing, it is not.
static bool cut_logs(struct repair *repair, const struct verify_options *options)
{
    const struct salvage *salvage = &repair->salvage;
    struct verify_loss ranges[SALVAGE_RANGES];
    struct verify_losses losses = {.ranges = ranges,
                                   .unknown = salvage->rebuilt || salvage->missing > 0};
    for (size_t i = 0; i < salvage->range_count && i < SALVAGE_RANGES; i++) {
        const struct salvage_range *range = &salvage->ranges[i];
        ranges[losses.count++] = (struct verify_loss){range->from, range->to};
        // The catalog says up to where the logs go.
        losses.unknown = losses.unknown || range->from.len < 4 || be32_get(range->from.ptr) == 0;
    }
    return verify_cut_logs(options, &losses, note_cut, repair);
}

static bool fill(struct repair *repair, struct store_error *error)
{
    bool quiet = cli_given(repair->input, "--json");
    progress_begin(&repair->mended.bar, "reading", 0, 0, false, quiet);
    bool ok = salvage_run(&repair->look, repair->to, &repair->salvage, note_keys, repair, error);
    progress_end(&repair->mended.bar);
    if (!ok)
        return false;
    const struct verify_watcher watcher = findings_watcher(&repair->mended);
    const struct verify_options options = {.store = repair->to,
                                           .env = env_system(),
                                           .knowledge = &verify_knowledge,
                                           .watcher = &watcher,
                                           .mend = true};
    progress_begin(&repair->mended.bar, "mending", 0, 0, false, quiet);
    ok = verify_store(&options) && cut_logs(repair, &options);
    progress_end(&repair->mended.bar);
    if (!ok && store_condition(repair->to, error) == STORE_WELL)
        (void)snprintf(error->text, sizeof(error->text), "the new directory cannot be written");
    return ok && store_sync(repair->to, error);
}

// ---- Telling ------------------------------------------------------------------------------------

static void write_files(struct json_writer *w, const struct salvage *salvage)
{
    json_put_array(w, "DamagedFiles");
    for (size_t i = 0; i < salvage->file_count && i < SALVAGE_FILES; i++)
        json_form(w, "{'File':%s,'What':%s}", salvage->files[i].name, salvage->files[i].fault);
    json_form(w, "],'DamagedFileCount':%zu", (size_t)salvage->file_count);
}

static void write_log(struct json_writer *w, const struct salvage *salvage)
{
    const struct wal_report *log = &salvage->log;
    json_put_array(w, "LogDamages");
    for (size_t i = 0; i < log->damage_count && i < WAL_DAMAGES; i++) {
        const struct wal_damage *damage = &log->damages[i];
        json_form(w, "{'File':%s,'Byte':%zu,'Sequence':%zu,'What':%s}", damage->file,
                  (size_t)damage->at, (size_t)damage->sequence, damage->what);
    }
    json_form(w, "],'MissingRecords':[");
    for (size_t i = 0; i < salvage->gap_count && i < SALVAGE_GAPS; i++)
        json_form(w, "{'From':%zu,'To':%zu}", (size_t)salvage->gaps[i].from,
                  (size_t)salvage->gaps[i].to);
    json_form(w, "],'MissingRecordCount':%zu,'AppliedRecords':%zu,'LastRecord':%zu",
              (size_t)salvage->missing, (size_t)salvage->records, (size_t)salvage->last);
}

// The tables and indexes of the new directory that a lost range lies in, with the keys at its ends.
static void write_ranges(struct json_writer *w, struct repair *repair)
{
    const struct salvage *salvage = &repair->salvage;
    json_put_array(w, "LostRanges");
    for (size_t i = 0; i < salvage->range_count && i < SALVAGE_RANGES; i++) {
        const struct salvage_range *range = &salvage->ranges[i];
        json_open_object(w);
        repair->lost_keys |= verify_range_write(repair->to, range->from, range->to, w);
        json_form(w, "'KeysFromOtherFiles':%zu}", (size_t)range->others);
    }
    json_form(w, "],'LostRangeCount':%zu", (size_t)salvage->range_count);
}

static bool lost_something(const struct repair *repair)
{
    const struct salvage *salvage = &repair->salvage;
    return salvage->rebuilt || repair->lost_keys || salvage->missing > 0;
}

static void write_report(struct repair *repair, struct buf *out)
{
    const struct salvage *salvage = &repair->salvage;
    struct json_writer w = json_writer_to(out);
    json_open_object(&w);
    if (salvage->rebuilt)
        json_put_text(&w, "TableListRebuilt", salvage->reason);
    write_files(&w, salvage);
    write_ranges(&w, repair);
    write_log(&w, salvage);
    json_put_array(&w, "ChangeLogsCut");
    buf_slice(w.out, buf_view(&repair->cuts));
    json_form(&w, "],'Keys':%zu,'KeysThatMayBeOld':%zu", (size_t)salvage->keys,
              (size_t)salvage->older);
    verify_report_write(&repair->mended.report, &w);
    json_form(&w, "'Lost':%hhd}", lost_something(repair));
}

static void show_file(struct slice file)
{
    json_print(file, "file {File}: {What}\n");
}

static void show_damage(struct slice damage)
{
    json_print(damage, "log {File}, byte {Byte#}: {What} (record {Sequence#})\n");
}

static void show_gap(struct slice gap)
{
    bool one = json_member_number(gap, "From") == json_member_number(gap, "To");
    json_print(gap, one ? "lost: log record {From#}\n" : "lost: log records {From#} to {To#}\n");
}

static void show_place(struct slice place)
{
    json_print(place, json_member_flag(place, "Lost") ? "lost: keys of {Kind} {Table}"
                                                      : "made again: keys of {Kind} {Table}");
    (void)json_print_given(place, "Index", ".{Index}");
    (void)json_print_given(place, "After", " after {After}");
    (void)json_print_given(place, "Before", " before {Before}");
    printf("\n");
}

static void show_range(struct slice range)
{
    json_each(range, "Affects", show_place);
}

static void show_cut(struct slice cut)
{
    json_print(cut, "cut: changes of {Table} before {Since}, a part of which may be lost; its "
                    "streams and its point-in-time recovery begin there\n");
}

static void show_mended(struct slice check)
{
    if (json_member_number(check, "Differences") == 0)
        return;
    json_print(check, "mended: {Differences} in {Check}");
    (void)json_print_given(check, "Table", " of {Table}");
    (void)json_print_given(check, "Index", ".{Index}");
    printf("\n");
}

static void show_words(struct slice report)
{
    (void)json_print_given(report, "TableListRebuilt",
                           "the list of tables was made anew: {TableListRebuilt}\n");
    json_each(report, "DamagedFiles", show_file);
    json_each(report, "LostRanges", show_range);
    json_each(report, "LogDamages", show_damage);
    json_each(report, "MissingRecords", show_gap);
    json_each(report, "Checks", show_mended);
    json_each(report, "ChangeLogsCut", show_cut);
    if (json_member_number(report, "KeysThatMayBeOld") > 0)
        json_print(report, "{KeysThatMayBeOld} keys come from other files than the newest and may "
                           "be old\n");
}

// What is known to be lost, and what may be.
static const char *verdict(const struct repair *repair)
{
    if (repair->lost_keys || repair->salvage.missing > 0)
        return "something was lost";
    if (repair->salvage.rebuilt)
        return "nothing else was lost, unless a table file is missing";
    return "nothing was lost";
}

static bool tell(struct repair *repair, struct slice report)
{
    const struct salvage *salvage = &repair->salvage;
    if (cli_given(repair->input, "--json")) {
        printf("%.*s\n", SLICE_FMT(report));
    } else {
        show_words(report);
        printf("%s %llu keys and %llu log records%s%s; %s\n",
               cli_given(repair->input, "--dry-run") ? "would take over" : "took over",
               (unsigned long long)salvage->keys, (unsigned long long)salvage->records,
               repair->target == NULL ? "" : " into ", repair->target == NULL ? "" : repair->target,
               verdict(repair));
    }
    bool shown = fflush(stdout) == 0;
    if (shown && lost_something(repair))
        repair->input->code = DONE_WITH_LOSS;
    return shown && !lost_something(repair);
}

// ---- The new directory --------------------------------------------------------------------------

// Without FORMAT no server starts on it: so it is until all is done.
static bool set_mark(const char *path, bool finished, struct store_error *error)
{
    char mark[PATH_MAX + 16];
    char hidden[PATH_MAX + 32];
    (void)snprintf(mark, sizeof(mark), "%s/FORMAT", path);
    (void)snprintf(hidden, sizeof(hidden), "%s.unfinished", mark);
    return rename(finished ? hidden : mark, finished ? mark : hidden) == 0 ||
           fail_errno(error, "mark", path);
}

static bool sync_directory(const char *path, struct store_error *error)
{
    return directory_sync(path) || fail_errno(error, "sync", path);
}

// Gives the new directory its name, which nobody may have taken meanwhile.
static bool finish(const struct repair *repair, const char *path, struct store_error *error)
{
    char parent[PATH_MAX];
    (void)snprintf(parent, sizeof(parent), "%s", repair->target);
    if (!look_copy_rest(&repair->look, path, error) || !set_mark(path, true, error) ||
        !sync_directory(path, error))
        return false;
    if (renameat2(AT_FDCWD, path, AT_FDCWD, repair->target, RENAME_NOREPLACE) != 0 &&
        (errno != EINVAL || rename(path, repair->target) != 0))
        return fail_errno(error, "make", repair->target);
    return sync_directory(dirname(parent), error);
}

// The store is filled and closed; the report, which needs it open, is in `report`.
static bool make_store(struct repair *repair, const char *path, struct buf *report,
                       struct store_error *error)
{
    struct store_options options = repair->options;
    options.path = path;
    options.durability = STORE_RELAXED;
    repair->to = store_open_rocksdb(&options, error);
    if (repair->to == NULL)
        return false;
    bool ok = set_mark(path, false, error) && fill(repair, error);
    if (ok)
        write_report(repair, report);
    store_close(repair->to);
    return ok;
}

static bool fail_repair(const struct repair *repair, const struct store_error *error)
{
    if (!error->no_room)
        return cli_fail(repair->input, "%s.", error->text);
    return cli_fail(repair->input,
                    "the disk is full: a repair of '%s' takes up to %llu MB where '%s' is made. "
                    "Nothing was made; free as much, or name a directory on another disk with "
                    "%s (%s).",
                    repair->input->arguments[0],
                    (unsigned long long)(look_room(&repair->look) >> 20),
                    repair->target == NULL ? "TMPDIR" : repair->target,
                    repair->target == NULL ? "TMPDIR" : "--to", error->text);
}

static bool repair_opened(struct repair *repair)
{
    char path[PATH_MAX + 16];
    struct store_error error = {.text = ""};
    struct buf report;
    buf_init(&report, REPORT_MEMORY);
    (void)snprintf(path, sizeof(path), "%s/new", repair->scratch.path);
    bool ok = make_store(repair, path, &report, &error) &&
              (repair->target == NULL || finish(repair, path, &error));
    ok = ok ? tell(repair, buf_view(&report)) : fail_repair(repair, &error);
    salvage_release(&repair->salvage);
    buf_release(&report);
    return ok;
}

static bool repair_scratch(struct repair *repair, unsigned limit)
{
    char copy[PATH_MAX + 16];
    struct store_error error = {.text = ""};
    (void)snprintf(copy, sizeof(copy), "%s/copy", repair->scratch.path);
    if (!look_open(&repair->look, repair->input->arguments[0], copy, repair->options.master,
                   &error))
        return fail_repair(repair, &error);
    verify_report_init(&repair->mended.report, limit);
    buf_init(&repair->cuts, REPORT_MEMORY);
    repair->cuts_writer = json_writer_to(&repair->cuts);
    bool ok = repair_opened(repair);
    verify_report_release(&repair->mended.report);
    buf_release(&repair->cuts);
    look_close(&repair->look);
    return ok;
}

// ---- The command --------------------------------------------------------------------------------

// The directory to make, without slashes at its end: the one that was named, or one beside the
// damaged one. False if it is too long.
static bool target_name(const struct cli_input *input, char out[PATH_MAX])
{
    const char *named = cli_value(input, "--to", NULL);
    const char *path = named != NULL ? named : input->arguments[0];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    int made =
        snprintf(out, PATH_MAX, "%.*s%s", (int)length, path, named != NULL ? "" : "-repaired");
    return made > 0 && made < PATH_MAX - 64;
}

// The new directory must not be there, nothing is ever written over; nor may it be in the damaged
// one, which is not changed.
static bool target_allowed(struct cli_input *input, const char *target)
{
    char parent[PATH_MAX];
    if (access(target, F_OK) == 0)
        return cli_fail(input, "'%s' exists: name a new directory with --to.", target);
    (void)snprintf(parent, sizeof(parent), "%s", target);
    char *above = realpath(dirname(parent), NULL);
    char *damaged = realpath(input->arguments[0], NULL);
    size_t length = damaged == NULL ? 0 : strlen(damaged);
    bool inside = above != NULL && damaged != NULL && strncmp(above, damaged, length) == 0 &&
                  (above[length] == 0 || above[length] == '/');
    free(above);
    free(damaged);
    return !inside || cli_fail(input,
                               "'%s' is inside the damaged directory, which is not changed: name "
                               "another one with --to.",
                               target);
}

// What an earlier repair left that was killed.
static void tell_leftovers(const struct cli_input *input, const char *target)
{
    char pattern[PATH_MAX + 32];
    glob_t found;
    (void)snprintf(pattern, sizeof(pattern), "%s.unfinished-??????", target);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        cli_note(input,
                 "'%s' was left by a repair that was interrupted, unless one is running: it can be "
                 "removed.",
                 found.gl_pathv[i]);
    globfree(&found);
}

bool cli_repair(struct cli_input *input)
{
    unsigned limit;
    struct store_error error = {.text = ""};
    char target[PATH_MAX];
    bool dry = cli_given(input, "--dry-run");
    if (!cli_number(input, "--limit", LIMIT_DEFAULT, 1, LIMIT_MAX, &limit))
        return false;
    if (input->argument_count != 1)
        return cli_misused(input, "name the damaged data directory.");
    if (cli_given(input, "--to") && dry)
        return cli_misused(input, "a --dry-run makes no directory: drop --to.");
    if (!target_name(input, target))
        return cli_fail(input, "the path of the new directory is too long.");
    if (!dry && !target_allowed(input, target))
        return false;
    tell_leftovers(input, target);
    struct repair *repair = memory_zeroed(sizeof(*repair));
    repair->input = input;
    repair->target = dry ? NULL : target;
    bool ok = false;
    if (!target_encryption(input, &repair->options) ||
        !target_master(input, &repair->master, &repair->options)) {
        free(repair);
        return false;
    }
    if (scratch_begin(&repair->scratch, repair->target, &error)) {
        ok = repair_scratch(repair, limit);
        scratch_end(&repair->scratch);
    } else {
        (void)cli_fail(input, "%s.", error.text);
    }
    crypt_key_wipe(&repair->master);
    free(repair);
    return ok;
}
