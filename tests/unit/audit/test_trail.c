// A log that was written is whole; and whatever is done to its bytes afterwards is noticed: every
// byte flipped, every line removed, doubled or moved, every file cut, removed or exchanged, and a
// chain that somebody made anew without the key. What a crash or a full disk leaves is closed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/inspect.h"
#include "audit/trail.h"
#include "base/files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 16, TEXT_MAX = 1 << 20 };

struct world {
    char root[64];
    char path[96];
    struct env_fixed clock;
    struct chain_keys keys;
    struct inspect_result result;
    char first[INSPECT_TEXT]; // break
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    struct crypt_key key = {"a key of the test, 32 bytes long"};
    // In memory, if there is such a place: seals are synced.
    (void)snprintf(world->root, sizeof(world->root), "%s/dolmen-audit-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(world->root));
    (void)snprintf(world->path, sizeof(world->path), "%s/log", world->root);
    world->clock.now_ms = INT64_C(1700000000000);
    world->clock.seed = 7;
    chain_keys_derive(&key, &world->keys);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    assert_true(directory_remove(world->root));
    free(world);
    return 0;
}

static struct trail_options options_of(struct world *world, uint64_t rotate)
{
    return (struct trail_options){.place = world->path,
                                  .version = "1",
                                  .env = env_fixed(&world->clock),
                                  .keys = world->keys,
                                  .rotate_bytes = rotate};
}

static struct trail *open_trail(const struct trail_options *options)
{
    char error[512] = "";
    struct trail *trail = trail_open(options, error, sizeof(error));
    if (trail == NULL)
        fail_msg("%s", error);
    return trail;
}

static void write_bodies(struct trail *trail, unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        char body[128];
        size_t taken;
        int len =
            snprintf(body, sizeof(body), "\"time\":\"t\",\"operation\":\"Op%u\",\"n\":%u\n", i, i);
        assert_true(trail_write(trail, slice_of(body, (size_t)len), &taken));
        assert_int_equal(taken, (size_t)len);
    }
}

// ---- Inspecting ------------------------------------------------------------------------------

static void on_break(void *to, const struct inspect_break *place)
{
    struct world *world = to;
    if (world->first[0] == 0)
        (void)snprintf(world->first, sizeof(world->first), "%s:%llu: %.250s",
                       strrchr(place->file, '/'), (unsigned long long)place->line, place->text);
}

static bool read_file(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    buf_clear(out);
    assert_true(file_read(fd, out));
    (void)close(fd);
    return true;
}

// The name of a file of the log: numbered ones first, then the log itself; NULL behind the last.
static const char *file_name(struct world *world, unsigned index, char out[128])
{
    unsigned rotated = 0;
    for (unsigned n = 1; n < 2 * FILES_MAX; n++) {
        (void)snprintf(out, 128, "%s.%u", world->path, n);
        if (access(out, F_OK) == 0 && rotated++ == index)
            return out;
    }
    (void)snprintf(out, 128, "%s", world->path);
    return index == rotated && access(out, F_OK) == 0 ? out : NULL;
}

static uint64_t inspect_with(struct world *world, struct inspect_options options)
{
    char name[128];
    char names[FILES_MAX][128];
    struct buf head;
    buf_init(&head, TEXT_MAX);
    (void)snprintf(name, sizeof(name), "%s.head", world->path);
    options.head = read_file(name, &head) ? buf_view(&head) : slice_of(NULL, 0);
    options.broken = on_break;
    options.to = world;
    world->first[0] = 0;
    struct inspect *inspect = inspect_new(&options);
    for (unsigned i = 0; file_name(world, i, names[i]) != NULL; i++) {
        int fd = open(names[i], O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0 && inspect_file(inspect, names[i], fd));
        (void)close(fd);
    }
    inspect_end(inspect, world->path, &world->result);
    inspect_free(inspect);
    buf_release(&head);
    return world->result.breaks;
}

static uint64_t inspect(struct world *world)
{
    return inspect_with(world, (struct inspect_options){.keys = {world->keys}, .key_count = 1});
}

static void assert_whole(struct world *world)
{
    if (inspect(world) != 0)
        fail_msg("%s", world->first);
}

#define assert_noticed(world, ...)                                                                 \
    do {                                                                                           \
        if (inspect(world) == 0)                                                                   \
            fail_msg(__VA_ARGS__);                                                                 \
    } while (0)

// ---- Tampering -------------------------------------------------------------------------------

static void write_file(const char *path, struct slice text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && file_write(fd, text));
    (void)close(fd);
}

struct lines {
    size_t count;
    struct slice list[256]; // with their newlines
};

static void split(struct slice text, struct lines *out)
{
    out->count = 0;
    while (text.len > 0) {
        struct slice line = slice_cut(&text, '\n');
        out->list[out->count++] = slice_of(line.ptr, line.len + 1);
    }
}

static void write_lines(const char *path, const struct lines *lines)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < lines->count; i++)
        buf_slice(&text, lines->list[i]);
    write_file(path, buf_view(&text));
    buf_release(&text);
}

// A log of three files, closed as it should be.
static void make_log(struct world *world)
{
    struct trail_options options = options_of(world, 1200);
    struct trail *trail = open_trail(&options);
    for (unsigned i = 0; i < 24; i++) {
        write_bodies(trail, i, 1);
        if (i % 5 == 4)
            assert_true(trail_seal(trail));
    }
    assert_true(trail_seal(trail));
    assert_true(trail_stats(trail).files >= 2);
    trail_free(trail);
    assert_whole(world);
}

static void each_flipped_byte_is_noticed(void **state)
{
    struct world *world = *state;
    struct buf text;
    char name[128];
    buf_init(&text, TEXT_MAX);
    make_log(world);
    for (unsigned f = 0; f < 4; f++) {
        bool head = file_name(world, f, name) == NULL;
        if (head)
            (void)snprintf(name, sizeof(name), "%s.head", world->path);
        assert_true(read_file(name, &text));
        for (size_t i = 0; i < text.len; i++) {
            uint8_t bit = (uint8_t)(1 << i % 8);
            text.ptr[i] ^= bit;
            write_file(name, buf_view(&text));
            assert_noticed(world, "%s: byte %zu", name, i);
            text.ptr[i] ^= bit;
        }
        write_file(name, buf_view(&text));
        assert_whole(world);
        if (head)
            break;
    }
    buf_release(&text);
}

static void each_line_is_missed(void **state)
{
    struct world *world = *state;
    struct buf text;
    char name[128];
    struct lines lines;
    buf_init(&text, TEXT_MAX);
    make_log(world);
    for (unsigned f = 0; file_name(world, f, name) != NULL; f++) {
        assert_true(read_file(name, &text));
        split(buf_view(&text), &lines);
        for (size_t i = 0; i < lines.count; i++) {
            struct lines fewer = {.count = 0};
            struct lines doubled = {.count = 0};
            struct lines moved = lines;
            for (size_t j = 0; j < lines.count; j++) {
                if (j != i)
                    fewer.list[fewer.count++] = lines.list[j];
                doubled.list[doubled.count++] = lines.list[j];
                if (j == i)
                    doubled.list[doubled.count++] = lines.list[j];
            }
            write_lines(name, &fewer);
            assert_noticed(world, "%s: line %zu removed", name, i);
            write_lines(name, &doubled);
            assert_noticed(world, "%s: line %zu doubled", name, i);
            if (i + 1 < lines.count) {
                moved.list[i] = lines.list[i + 1];
                moved.list[i + 1] = lines.list[i];
                write_lines(name, &moved);
                assert_noticed(world, "%s: line %zu moved", name, i);
            }
            struct lines cut = lines;
            cut.count = i;
            write_lines(name, &cut);
            assert_noticed(world, "%s: cut behind line %zu", name, i);
            write_file(name, slice_of(text.ptr, (size_t)(lines.list[i].ptr - text.ptr) + 5));
            assert_noticed(world, "%s: cut in line %zu", name, i);
        }
        write_lines(name, &lines);
        assert_whole(world);
    }
    buf_release(&text);
}

static void each_file_is_missed(void **state)
{
    struct world *world = *state;
    struct buf texts[FILES_MAX];
    char names[FILES_MAX][128];
    unsigned count = 0;
    make_log(world);
    for (; file_name(world, count, names[count]) != NULL; count++) {
        buf_init(&texts[count], TEXT_MAX);
        assert_true(read_file(names[count], &texts[count]));
    }
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(unlink(names[i]), 0);
        assert_noticed(world, "file %u removed", i);
        write_file(names[i], buf_view(&texts[i]));
        for (unsigned j = 0; j < count; j++) {
            if (i == j)
                continue;
            write_file(names[i], buf_view(&texts[j]));
            assert_noticed(world, "file %u is file %u", i, j);
            write_file(names[j], buf_view(&texts[i]));
            assert_noticed(world, "files %u and %u exchanged", i, j);
            write_file(names[i], buf_view(&texts[i]));
            write_file(names[j], buf_view(&texts[j]));
        }
    }
    assert_whole(world);
    char head[128];
    (void)snprintf(head, sizeof(head), "%s.head", world->path);
    assert_int_equal(unlink(head), 0);
    assert_noticed(world, "no head");
    for (unsigned i = 0; i < count; i++)
        buf_release(&texts[i]);
}

// Makes the chain anew behind a changed line, as anybody can; with or without the seals.
static void forge(struct world *world, unsigned from, bool seals)
{
    struct chain chain = {.seq = 0};
    char name[128];
    struct buf text;
    struct buf out;
    buf_init(&text, TEXT_MAX);
    buf_init(&out, TEXT_MAX);
    for (unsigned f = 0; file_name(world, f, name) != NULL; f++) {
        struct lines lines;
        assert_true(read_file(name, &text));
        split(buf_view(&text), &lines);
        buf_clear(&out);
        for (size_t i = 0; i < lines.count; i++) {
            struct chain_line line;
            assert_true(chain_read(slice_of(lines.list[i].ptr, lines.list[i].len - 1), &line));
            bool seal = slice_is(chain_member(line.body, "event"), "seal");
            if (seal && !seals && line.seq > from)
                continue;
            bool changed = line.seq == from;
            chain_add(&chain,
                      changed ? SLICE_LIT("\"time\":\"t\",\"operation\":\"Nothing\"") : line.body,
                      &out);
        }
        write_file(name, buf_view(&out));
    }
    buf_release(&text);
    buf_release(&out);
}

static void chains_made_anew_are_noticed(void **state)
{
    struct world *world = *state;
    make_log(world);
    struct inspect_options no_key = {.key_count = 0};
    struct inspect_options noted = {.keys = {world->keys}, .key_count = 1, .expect_seq = 12};
    forge(world, 9999, true); // the same bytes
    assert_whole(world);
    noted.expect_digest[0] = 1;
    assert_int_equal(inspect_with(world, noted), 1);
    forge(world, 12, true);
    assert_noticed(world, "forged with its seals");
    if (strstr(world->first, "the seal is false") == NULL)
        fail_msg("%s", world->first);
    // Without the key only the head shows it.
    assert_int_equal(inspect_with(world, no_key), 1);
    forge(world, 12, false);
    assert_noticed(world, "forged without seals");
}

// ---- Crashes ---------------------------------------------------------------------------------

static uint64_t size_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

// The file is cut at every byte behind the last seal: the next start goes on.
static void goes_on_after_a_crash(void **state)
{
    struct world *world = *state;
    struct trail_options options = options_of(world, 0);
    struct buf text;
    buf_init(&text, TEXT_MAX);
    struct trail *trail = open_trail(&options);
    write_bodies(trail, 0, 3);
    assert_true(trail_seal(trail));
    size_t sealed = size_of(world->path);
    write_bodies(trail, 3, 2);
    trail_free(trail); // without a word
    assert_true(read_file(world->path, &text));
    for (size_t len = sealed; len <= text.len; len++) {
        write_file(world->path, slice_of(text.ptr, len));
        trail = open_trail(&options);
        write_bodies(trail, 9, 1);
        assert_true(trail_seal(trail));
        trail_free(trail);
        if (inspect(world) != 0)
            fail_msg("cut at %zu: %s", len - sealed, world->first);
        bool torn = text.ptr[len - 1] != '\n';
        assert_int_equal(world->result.torn, torn);
        // The head has gone on: the next cut begins from its own.
        char head[128];
        (void)snprintf(head, sizeof(head), "%s.head", world->path);
        assert_int_equal(unlink(head), 0);
    }
    buf_release(&text);
}

static void missing_lines_are_told_at_the_start(void **state)
{
    struct world *world = *state;
    struct trail_options options = options_of(world, 0);
    struct buf text;
    struct lines lines;
    buf_init(&text, TEXT_MAX);
    struct trail *trail = open_trail(&options);
    write_bodies(trail, 0, 5);
    assert_true(trail_seal(trail));
    trail_free(trail);
    assert_true(read_file(world->path, &text));
    split(buf_view(&text), &lines);
    lines.count -= 3;
    write_lines(world->path, &lines);
    trail = open_trail(&options);
    assert_int_equal(trail_stats(trail).missing, 3);
    assert_true(trail_seal(trail));
    trail_free(trail);
    assert_noticed(world, "cut before a start");
    // The log is gone as a whole.
    assert_int_equal(unlink(world->path), 0);
    trail = open_trail(&options);
    assert_true(trail_stats(trail).missing > 3);
    assert_true(trail_seal(trail));
    trail_free(trail);
    assert_noticed(world, "removed before a start");
    buf_release(&text);
}

static void other_files_are_not_appended_to(void **state)
{
    struct world *world = *state;
    char error[512] = "";
    struct trail_options options = options_of(world, 0);
    write_file(world->path, SLICE_LIT("precious notes\n"));
    assert_null(trail_open(&options, error, sizeof(error)));
    assert_true(strstr(error, "is not an audit log") != NULL);
    assert_int_equal(size_of(world->path), 15);
    assert_int_equal(unlink(world->path), 0);
    struct trail *first = open_trail(&options);
    assert_null(trail_open(&options, error, sizeof(error)));
    assert_true(strstr(error, "another server") != NULL);
    trail_free(first);
}

// ---- Full disks ------------------------------------------------------------------------------

static void set_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// A file may have so many bytes and no more, for each number of them; then it may have more. No
// line is lost, and none is there twice.
static void writes_the_rest_when_there_is_room(void **state)
{
    struct world *world = *state;
    static const char bodies[] = "\"n\":\"one\"\n\"n\":\"two\"\n\"n\":\"three\"\n";
    struct trail_options options = options_of(world, 0);
    struct buf text;
    buf_init(&text, TEXT_MAX);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (unsigned more = 0; more < 340; more += 3) {
        size_t taken;
        size_t left;
        struct trail *trail = open_trail(&options);
        set_limit(size_of(world->path) + more);
        bool done = trail_write(trail, SLICE_LIT(bodies), &taken);
        left = sizeof(bodies) - 1 - taken;
        assert_int_equal(done, left == 0);
        assert_true(taken == 0 || bodies[taken - 1] == '\n');
        if (!done) {
            size_t again;
            assert_false(trail_write(trail, slice_of(bodies + taken, left), &again));
            assert_int_equal(again, 0);
            set_limit(size_of(world->path) + 40); // not enough for closing what is torn
            DISREGARD(trail_write(trail, slice_of(bodies + taken, left), &again));
            taken += again;
            left -= again;
        }
        set_limit(RLIM_INFINITY);
        assert_true(trail_write(trail, slice_of(bodies + taken, left), &taken));
        assert_true(trail_seal(trail));
        trail_free(trail);
        if (inspect(world) != 0)
            fail_msg("with room for %u bytes: %s", more, world->first);
        assert_true(read_file(world->path, &text));
        struct slice rest = buf_view(&text);
        unsigned seen = 0;
        while (rest.len > 0) {
            struct chain_line line;
            if (chain_read(slice_cut(&rest, '\n'), &line))
                seen += chain_member(line.body, "n").len > 0;
        }
        // A line that was whole but for its newline looks like one; it was torn, and came again.
        assert_in_range(seen, 3, 4);
        char head[128];
        (void)snprintf(head, sizeof(head), "%s.head", world->path);
        assert_int_equal(unlink(world->path) + unlink(head), 0);
    }
    buf_release(&text);
}

// ---- Rotation --------------------------------------------------------------------------------

static void rotates_and_removes(void **state)
{
    struct world *world = *state;
    char name[128];
    struct trail_options options = options_of(world, 1200);
    options.keep = 2;
    struct trail *trail = open_trail(&options);
    write_bodies(trail, 0, 60);
    assert_true(trail_seal(trail));
    assert_true(trail_stats(trail).files > 4);
    trail_free(trail);
    assert_whole(world);
    (void)snprintf(name, sizeof(name), "%s.1", world->path);
    assert_int_equal(access(name, F_OK), -1);
    for (unsigned i = 0; file_name(world, i, name) != NULL; i++) {
        struct stat about;
        assert_int_equal(stat(name, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
        assert_true(i < 3);
    }
    // One that the log has not removed.
    assert_non_null(file_name(world, 0, name));
    assert_int_equal(unlink(name), 0);
    assert_noticed(world, "the oldest file removed");
}

static void rotates_by_time(void **state)
{
    struct world *world = *state;
    struct trail_options options = options_of(world, 0);
    options.rotate_ms = 3600000;
    struct trail *trail = open_trail(&options);
    write_bodies(trail, 0, 3);
    world->clock.now_ms += 3599999;
    write_bodies(trail, 3, 3);
    assert_int_equal(trail_stats(trail).files, 0);
    trail_free(trail);
    trail = open_trail(&options); // the age of a file is not that of the process
    world->clock.now_ms += 1;
    write_bodies(trail, 6, 3);
    assert_int_equal(trail_stats(trail).files, 1);
    assert_true(trail_seal(trail));
    trail_free(trail);
    assert_whole(world);
}

// The crash comes between renaming a file and making the next.
static void goes_on_without_a_file(void **state)
{
    struct world *world = *state;
    char name[128];
    struct trail_options options = options_of(world, 0);
    struct trail *trail = open_trail(&options);
    write_bodies(trail, 0, 3);
    assert_true(trail_seal(trail));
    trail_free(trail);
    (void)snprintf(name, sizeof(name), "%s.1", world->path);
    assert_int_equal(rename(world->path, name), 0);
    trail = open_trail(&options);
    write_bodies(trail, 3, 3);
    assert_true(trail_seal(trail));
    trail_free(trail);
    assert_whole(world);
    assert_int_equal(world->result.files, 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(each_flipped_byte_is_noticed),
        T(each_line_is_missed),
        T(each_file_is_missed),
        T(chains_made_anew_are_noticed),
        T(goes_on_after_a_crash),
        T(missing_lines_are_told_at_the_start),
        T(other_files_are_not_appended_to),
        T(writes_the_rest_when_there_is_room),
        T(rotates_and_removes),
        T(rotates_by_time),
        T(goes_on_without_a_file),
    };
#undef T
    return cmocka_run_group_tests_name("audit trail", tests, NULL, NULL);
}
