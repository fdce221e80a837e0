// The persistent tree's structure: the conformance suite sees only what it answers,
// this sees that it stays balanced, ordered and shared, and frees what it should.
#include "fixture.h"

#include "store/memory_tree.h"

enum { KEYS = 20000 };

static struct slice key_of(unsigned number, char out[16])
{
    return slice_of(out, (size_t)snprintf(out, 16, "%06u", number));
}

static void put_number(struct tree_edit *edit, unsigned number)
{
    char text[16];
    struct slice key = key_of(number, text);
    tree_put(edit, key, key);
}

static void delete_number(struct tree_edit *edit, unsigned number)
{
    char key[16];
    tree_delete(edit, key_of(number, key));
}

static void delete_numbers(struct tree_edit *edit, unsigned from, unsigned to)
{
    char lower[16];
    char upper[16];
    tree_delete_range(edit, key_of(from, lower), key_of(to, upper));
}

// Depth of the leftmost leaf: a bound on every search.
static unsigned depth_of(const struct tree_node *root)
{
    struct tree_path path;
    tree_path_seek(&path, root, slice_of(NULL, 0));
    return path.depth;
}

static void test_ascending_is_dense(void **state)
{
    (void)state;
    struct tree_edit edit = {.number = 1};
    for (unsigned i = 0; i < KEYS; i++)
        put_number(&edit, i);
    assert_int_equal(tree_check(edit.root), KEYS);
    assert_true(depth_of(edit.root) <= 3);
    tree_release(edit.root);
}

static void test_any_order_in_many_edits(void **state)
{
    (void)state;
    struct tree_edit edit = {0};
    for (unsigned i = 0; i < KEYS; i++) {
        edit.number = 1 + i / 100;
        put_number(&edit, i * 7919 % KEYS);
    }
    assert_int_equal(tree_check(edit.root), KEYS);
    assert_true(depth_of(edit.root) <= 4);
    for (unsigned i = 0; i < KEYS; i++) {
        edit.number = KEYS + i / 100;
        delete_number(&edit, i * 104729 % KEYS);
        if (i % 1000 == 0)
            assert_int_equal(tree_check(edit.root), KEYS - 1 - i);
    }
    assert_null(edit.root);
}

// Deleting all but a few leaves a small tree, not a tall one of sparse nodes.
static void test_deleting_shrinks(void **state)
{
    (void)state;
    struct tree_edit edit = {.number = 1};
    for (unsigned i = 0; i < KEYS; i++)
        put_number(&edit, i);
    edit.number = 2;
    for (unsigned i = 0; i < KEYS; i++)
        if (i % 1000 != 0)
            delete_number(&edit, i);
    assert_int_equal(tree_check(edit.root), KEYS / 1000);
    assert_true(depth_of(edit.root) <= 2);
    tree_release(edit.root);
}

// Every kind of range on a tree of three levels, with the old root still held.
static void test_ranges(void **state)
{
    (void)state;
    struct tree_edit base = {.number = 1};
    for (unsigned i = 0; i < KEYS; i++)
        put_number(&base, i);
    uint64_t seed = 5;
    for (uint64_t number = 2; number < 300; number++) {
        struct tree_edit edit = {.root = tree_hold(base.root), .number = number};
        unsigned from = random_below(&seed, KEYS + 1);
        unsigned to = from + random_below(&seed, KEYS + 1 - from);
        if (number % 3 == 0)
            to = from + random_below(&seed, 50) < KEYS ? from + random_below(&seed, 50) : KEYS;
        if (number % 7 == 0)
            from = 0;
        if (number % 11 == 0)
            to = KEYS;
        if (from > to)
            to = from;
        if (to > KEYS)
            to = KEYS;
        if (from < to)
            delete_numbers(&edit, from, to);
        size_t gone = from < to ? to - from : 0;
        assert_int_equal(tree_check(edit.root), KEYS - gone);
        char key[16];
        assert_true(from == to || tree_find(edit.root, key_of(from, key)) == NULL);
        assert_true(from == 0 || tree_find(edit.root, key_of(from - 1, key)) != NULL);
        assert_true(to == KEYS || tree_find(edit.root, key_of(to, key)) != NULL);
        tree_release(edit.root);
    }
    assert_int_equal(tree_check(base.root), KEYS);
    tree_release(base.root);
}

static void test_absent_changes_share_the_root(void **state)
{
    (void)state;
    struct tree_edit edit = {.number = 1};
    put_number(&edit, 1);
    put_number(&edit, 5);
    struct tree_node *before = edit.root;
    edit.number = 2;
    delete_number(&edit, 3);
    delete_numbers(&edit, 2, 5);
    assert_ptr_equal(edit.root, before);
    tree_release(edit.root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascending_is_dense),
        cmocka_unit_test(test_any_order_in_many_edits),
        cmocka_unit_test(test_deleting_shrinks),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_absent_changes_share_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
