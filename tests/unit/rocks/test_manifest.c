// The list of tables: edits that cannot follow each other, and an end that is torn or damaged.
#include "fixture.h"

#include "base/buf.h"
#include "rocks/manifest.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t rocks_crc32c(const void *bytes, size_t length);

// ---- Edits ------------------------------------------------------------------------------------

static void number(struct buf *edit, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_byte(edit, (uint8_t)(value | 0x80));
    buf_byte(edit, (uint8_t)value);
}

static void string(struct buf *edit, const char *text)
{
    number(edit, strlen(text));
    buf_text(edit, text);
}

static void begin_list(struct buf *edit)
{
    number(edit, 1);
    string(edit, "a comparator");
}

static void numbers(struct buf *edit, uint64_t next_file, uint64_t sequence)
{
    number(edit, 3);
    number(edit, next_file);
    number(edit, 4);
    number(edit, sequence);
}

static void add_table(struct buf *edit, uint64_t table, unsigned level)
{
    number(edit, 103);
    number(edit, level);
    number(edit, table);
    number(edit, 1000 + table);
    string(edit, "from");
    string(edit, "to");
    number(edit, 1);
    number(edit, 2);
    number(edit, 7); // a further field
    string(edit, "?");
    number(edit, 1);
}

static void remove_table(struct buf *edit, uint64_t table, unsigned level)
{
    number(edit, 6);
    number(edit, level);
    number(edit, table);
}

struct list {
    struct buf edit;
    struct buf bytes; // the file
    struct edits edits;
};

static void list_begin(struct list *list)
{
    buf_init(&list->edit, 1 << 20);
    buf_init(&list->bytes, 1 << 20);
    edits_init(&list->edits);
}

static void list_end(struct list *list)
{
    buf_release(&list->edit);
    buf_release(&list->bytes);
    edits_release(&list->edits);
}

// The edit that was made, as one whole piece.
static void list_commit(struct list *list)
{
    uint8_t head[7];
    struct buf summed;
    buf_init(&summed, 1 << 20);
    buf_byte(&summed, 1);
    buf_slice(&summed, buf_view(&list->edit));
    uint32_t crc = rocks_crc32c(summed.ptr, summed.len);
    uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
    uint16_t length = (uint16_t)list->edit.len;
    memcpy(head, &masked, 4);
    memcpy(head + 4, &length, 2);
    head[6] = 1;
    edits_add(&list->edits, list->bytes.len, buf_view(&list->edit));
    buf_add(&list->bytes, head, sizeof(head));
    buf_slice(&list->bytes, buf_view(&list->edit));
    buf_clear(&list->edit);
    buf_release(&summed);
}

// Tables 10 and 11, which are then merged into 12.
static void make_list(struct list *list)
{
    list_begin(list);
    begin_list(&list->edit);
    list_commit(list);
    add_table(&list->edit, 10, 0);
    numbers(&list->edit, 11, 50);
    list_commit(list);
    add_table(&list->edit, 11, 0);
    numbers(&list->edit, 12, 60);
    list_commit(list);
}

static void merge(struct list *list)
{
    remove_table(&list->edit, 10, 0);
    remove_table(&list->edit, 11, 0);
    add_table(&list->edit, 12, 6);
    numbers(&list->edit, 13, 60);
    list_commit(list);
}

static void test_edits(void **state)
{
    (void)state;
    struct list list;
    make_list(&list);
    merge(&list);
    remove_table(&list.edit, 12, 6); // moved to another level
    add_table(&list.edit, 12, 5);
    list_commit(&list);
    edits_settle(&list.edits);
    assert_null(list.edits.fault);
    assert_false(list.edits.unknown);
    assert_false(edits_find(&list.edits, 10)->listed);
    assert_int_equal(edits_find(&list.edits, 10)->bytes, 1010);
    assert_true(edits_find(&list.edits, 12)->listed);
    assert_null(edits_find(&list.edits, 13));
    list_end(&list);
}

static void test_faults(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct list list;
        make_list(&list);
        uint64_t at = list.bytes.len;
        if (i == 0)
            add_table(&list.edit, 10, 0);
        else if (i == 1)
            remove_table(&list.edit, 9, 0);
        else if (i == 2)
            numbers(&list.edit, 11, 60);
        else if (i == 3)
            numbers(&list.edit, 12, 59);
        else
            begin_list(&list.edit);
        list_commit(&list);
        merge(&list);
        edits_settle(&list.edits);
        assert_non_null(list.edits.fault);
        assert_int_equal(list.edits.fault_at, at);
        list_end(&list);
    }
}

// What a later version writes is left to RocksDB.
static void test_unknown(void **state)
{
    (void)state;
    struct list list;
    make_list(&list);
    number(&list.edit, (1 << 13) + 5);
    string(&list.edit, "may be skipped");
    list_commit(&list);
    assert_false(list.edits.unknown);
    number(&list.edit, 999);
    list_commit(&list);
    assert_true(list.edits.unknown);
    list_end(&list);
}

// ---- Files --------------------------------------------------------------------------------------

static void write_file(const char *directory, const char *name, struct slice bytes)
{
    char path[3 * PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(file, bytes.ptr, bytes.len), bytes.len);
    (void)close(file);
}

static bool has_file(const char *directory, const char *name)
{
    char path[3 * PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static enum manifest_state judge(const char *data, const struct list *list, uint64_t promised,
                                 struct store_error *error)
{
    char db[2 * PATH_MAX];
    uint64_t values[PROMISE_VALUES] = {[PROMISE_MANIFEST] = 5, [PROMISE_MANIFEST_BYTES] = promised};
    (void)snprintf(db, sizeof(db), "%s/db", data);
    (void)mkdir(db, 0700);
    write_file(db, "CURRENT", SLICE_LIT("MANIFEST-000005\n"));
    write_file(db, "MANIFEST-000005", buf_view(&list->bytes));
    return manifest_judge(data, NULL, values, error);
}

static void test_torn_or_damaged(void **state)
{
    (void)state;
    char home[256];
    char data[PATH_MAX];
    char db[2 * PATH_MAX];
    char command[PATH_MAX + 32];
    struct store_error error;
    struct list list;
    temp_dir_make(home);
    // The sentence has room for a long path.
    (void)snprintf(data, sizeof(data), "%s/%0190d", home, 0);
    assert_int_equal(mkdir(data, 0700), 0);
    (void)snprintf(db, sizeof(db), "%s/db", data);
    (void)snprintf(command, sizeof(command), "or run 'dolmen repair %s'", data);
    make_list(&list);
    uint64_t promised = list.bytes.len;
    merge(&list);
    (void)judge(data, &list, promised, &error);
    write_file(db, "000012.sst", SLICE_LIT("table"));
    assert_int_equal(judge(data, &list, promised, &error), MANIFEST_SOUND);
    // The edit is not whole. The tables that it removed are there: it was never finished.
    list.bytes.ptr[promised + 12] ^= 4;
    write_file(db, "000010.sst", SLICE_LIT("table"));
    write_file(db, "000011.sst", SLICE_LIT("table"));
    assert_int_equal(judge(data, &list, promised, &error), MANIFEST_SOUND);
    assert_true(has_file(db, "MANIFEST-000005.torn"));
    // They are gone: it was finished once.
    char table[3 * PATH_MAX];
    (void)snprintf(table, sizeof(table), "%s/000010.sst", db);
    assert_int_equal(unlink(table), 0);
    assert_int_equal(judge(data, &list, promised, &error), MANIFEST_DAMAGED);
    assert_non_null(strstr(error.text, "db/MANIFEST-000005 is damaged at byte"));
    assert_non_null(strstr(error.text, "000010.sst, which is gone"));
    assert_non_null(strstr(error.text, command));
    // The list is whole, and a table is missing.
    list.bytes.len = promised;
    assert_int_equal(judge(data, &list, promised, &error), MANIFEST_LACKS_TABLE);
    assert_non_null(strstr(error.text, "db/000010.sst is missing"));
    assert_non_null(strstr(error.text, command));
    // It is shorter than promised: or the promise is another's.
    assert_int_equal(judge(data, &list, promised + 1, &error), MANIFEST_DAMAGED);
    assert_non_null(strstr(error.text, "log/promise says"));
    assert_non_null(strstr(error.text, command));
    list_end(&list);
    temp_dir_remove(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_torn_or_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
