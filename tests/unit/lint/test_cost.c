// What rules add to the cost of a write.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lint/cost.h"

// What rules add: an event, a counter with the entries it moves, a look at what is referred to.
static void test_costs_of_rules(void **state)
{
    (void)state;
    struct arena arena;
    struct diagnostics faults;
    arena_init(&arena, 16 << 20);
    diagnostics_init(&faults, &arena);
    struct model *model = model_parse(
        SLICE_LIT("test.dolmen"),
        SLICE_LIT(
            "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  type kind }\n"
            "entity Owner { PK = \"O#{owner}\" SK = \"x\"  GSI1 = \"ALL\", \"{things:pad(9)}\"\n"
            "  owner uuid  things number = count of Thing }\n"
            "entity Thing { PK = \"O#{owner}\" SK = \"T#{id}\"  id uuid  tags string[](0..4)\n"
            "  owner uuid references Owner on delete reject }\n"
            "entity Tag { PK = \"TAG#{tag}\" SK = \"{owner}#{id}\"  tag string  owner uuid  id "
            "uuid }\n"
            "entity Event { PK = \"E#{event}\" SK = \"x\"  event string = ulid()  type string }\n"
            "emit \"thing\" on insert of Thing into Event\n"
            "derive Tag from each Thing.tags as tag\n"),
        &faults);
    assert_non_null(model);
    struct cost_rules rules;
    static const struct {
        const char *what;
        uint64_t times;
        uint64_t writes;
        uint64_t reads;
    } rows[] = {{"emit", 1, 1, 0}, {"derive", 2, 2, 0}, {"count", 1, 3, 0}, {"reference", 1, 0, 1}};
    cost_entity_rules(model_table_entity(&model->tables[0], SLICE_LIT("Thing")), &rules);
    assert_int_equal(rules.count, COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(rules.list[i].what, rows[i].what);
        assert_int_equal(rules.list[i].times, rows[i].times);
        assert_int_equal(rules.list[i].writes, rows[i].writes);
        assert_int_equal(rules.list[i].reads, rows[i].reads);
    }
    struct buf out;
    buf_init(&out, 1 << 20);
    cost_show(&model->tables[0], NULL, &out);
    assert_true(
        slice_contains(buf_view(&out), SLICE_LIT("count: 3 write units, for Owner.things")));
    cost_json(&model->tables[0], NULL, &out);
    assert_true(slice_contains(buf_view(&out), SLICE_LIT("\"rules\":[{\"rule\":\"emit\"")));
    buf_release(&out);
    model_release(model);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_costs_of_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
