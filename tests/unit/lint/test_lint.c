// Each rule of lint: a model that has the smell, one that has not, and the comments that silence
// it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "lint/cost.h"
#include "lint/evidence.h"
#include "lint/lint.h"
#include "smells.h"
#include "json/plain.h"

struct run {
    struct arena arena;
    struct diagnostics *faults;
    struct model *model;
    struct lint lint;
};

static void run_lint(struct run *run, const char *text)
{
    arena_init(&run->arena, 64 << 20);
    run->faults = arena_alloc(&run->arena, sizeof(*run->faults));
    assert_non_null(run->faults);
    diagnostics_init(run->faults, &run->arena);
    run->model = model_parse(SLICE_LIT("test.dolmen"), slice_str(text), run->faults);
    if (run->model == NULL) {
        struct buf shown;
        buf_init(&shown, 1 << 20);
        diagnostics_show(run->faults, SLICE_LIT("test.dolmen"), slice_str(text), &shown);
        print_error("%.*s\nof %s\n", SLICE_FMT(buf_view(&shown)), text);
        buf_release(&shown);
    }
    assert_non_null(run->model);
    assert_true(lint_run(run->model, &run->arena, &run->lint));
}

static void end_lint(struct run *run)
{
    model_release(run->model);
    arena_release(&run->arena);
}

static const struct lint_finding *find(const struct run *run, const char *code, bool suppressed)
{
    for (size_t i = 0; i < run->lint.count; i++)
        if (strcmp(run->lint.findings[i].rule->code, code) == 0 &&
            run->lint.findings[i].suppressed == suppressed)
            return &run->lint.findings[i];
    return NULL;
}

static bool says(const struct run *run, const char *code, const char *text)
{
    for (size_t i = 0; i < run->lint.count; i++)
        if (strcmp(run->lint.findings[i].rule->code, code) == 0 &&
            strstr(run->lint.findings[i].diagnostic.message, text) != NULL)
            return true;
    return false;
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(smells); i++) {
        const struct smell *smell = &smells[i];
        struct run run;
        run_lint(&run, smell->smells);
        const struct lint_finding *finding = find(&run, smell->code, false);
        if (finding == NULL || !says(&run, smell->code, smell->where)) {
            print_error("%s does not say \"%s\" but \"%s\" of\n%s\n", smell->code, smell->where,
                        finding == NULL ? "nothing" : finding->diagnostic.message, smell->smells);
            fail();
        }
        assert_true(finding->diagnostic.at.line > 0 && finding->diagnostic.at.column > 0);
        assert_true(finding->diagnostic.help[0] != 0);
        assert_string_equal(finding->diagnostic.code, smell->code);
        end_lint(&run);
        run_lint(&run, smell->clean);
        finding = find(&run, smell->code, false);
        if (finding != NULL) {
            print_error("%s says \"%s\" of\n%s\n", smell->code, finding->diagnostic.message,
                        smell->clean);
            fail();
        }
        end_lint(&run);
    }
}

// What is proposed fits the case.
static void test_helps(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        const char *model;
        const char *help;
    } helps[] = {
        {"L019",
         TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{due}#{n}\"  id uuid  due date  n uuid }\n"
               "access things(id, from date) = Thing filter due > from\n",
         "SK is made of {due}: write the condition on SK, behind where"},
        {"L019",
         TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid  gone date? }\n"
               "access things(id) = Thing filter gone exists\n",
         "put {gone} into the key of an index: it has entries only of the items that have it"},
        {"L019",
         TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid  gone date? }\n"
               "access things(id) = Thing filter gone missing\n",
         "keep a status that says so, and put it into the key of an index"},
        {"L024",
         TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid }\n"
               "access first(id) = one Thing\n",
         "say which one is meant ('newest first' or 'limit 1'), or drop 'one'"},
        {"L024",
         TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{org}\", \"{slug}\"\n"
               "  id uuid  org string  slug string }\n"
               "access bySlug(org, slug) = one Thing via GSI1\n",
         "write unique (org, slug) in Thing, or drop 'one'"},
    };
    for (size_t i = 0; i < COUNT_OF(helps); i++) {
        struct run run;
        run_lint(&run, helps[i].model);
        const struct lint_finding *finding = find(&run, helps[i].code, false);
        assert_non_null(finding);
        assert_string_equal(finding->diagnostic.help, helps[i].help);
        end_lint(&run);
    }
}

static void test_every_rule_is_tested(void **state)
{
    (void)state;
    size_t count;
    const struct lint_rule *rules = lint_rules(&count);
    for (size_t i = 0; i < count; i++) {
        bool tested = false;
        for (size_t k = 0; k < COUNT_OF(smells); k++)
            tested = tested || strcmp(smells[k].code, rules[i].code) == 0;
        if (!tested)
            fail_msg("%s has no test", rules[i].code);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rules[k].name, rules[i].name);
        char code[32];
        (void)snprintf(code, sizeof(code), "L%03zu", i + 1);
        assert_string_equal(rules[i].code, code);
    }
}

static const struct lint_rule *rule_of(const char *code)
{
    size_t count;
    const struct lint_rule *rules = lint_rules(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i].code, code) == 0)
            return &rules[i];
    fail_msg("there is no %s", code);
    return NULL;
}

static void test_ignored_in_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(smells); i++) {
        for (int by_name = 0; by_name < 2; by_name++) {
            char text[4096];
            const struct lint_rule *rule = rule_of(smells[i].code);
            (void)snprintf(text, sizeof(text), "// lint: ignore-file %s\n\n%s",
                           by_name ? rule->name : rule->code, smells[i].smells);
            struct run run;
            run_lint(&run, text);
            assert_null(find(&run, smells[i].code, false));
            assert_non_null(find(&run, smells[i].code, true));
            assert_true(run.lint.suppressed > 0);
            end_lint(&run);
        }
    }
}

static void test_ignored_here(void **state)
{
    (void)state;
    struct run run;
    run_lint(&run, "table shop { key id }\n"
                   "entity Thing {\n"
                   "  id uuid\n"
                   "  // lint: ignore L028, L029\n"
                   "  email email? unique\n"
                   "}\n"
                   "entity Other {\n"
                   "  id uuid\n"
                   "  email email? unique\n"
                   "}\n");
    const struct lint_finding *silent = find(&run, "L028", true);
    const struct lint_finding *loud = find(&run, "L028", false);
    assert_non_null(silent);
    assert_non_null(loud);
    assert_int_equal(silent->diagnostic.at.line, 5);
    assert_int_equal(loud->diagnostic.at.line, 9);
    assert_non_null(find(&run, "L029", true));
    end_lint(&run);
}

static void test_shown(void **state)
{
    (void)state;
    struct run run;
    struct buf out;
    buf_init(&out, 1 << 20);
    run_lint(&run,
             "table shop { key id  ttl ttl }\nentity Thing { id uuid immutable  ttl number? }\n"
             "access thing(id) = one Thing\n");
    assert_int_equal(run.lint.warnings, 1);
    assert_int_equal(run.lint.notes, 0);
    lint_show(&run.lint.findings[0], run.model, &out);
    buf_byte(&out, 0);
    assert_non_null(strstr((char *)out.ptr, "test.dolmen:2:35: warning L026: "));
    assert_non_null(strstr((char *)out.ptr, "why: Items expire by whole seconds"));
    assert_non_null(strstr((char *)out.ptr, "fix: ttl epoch"));
    buf_clear(&out);
    lint_json(&run.lint, &out);
    buf_byte(&out, 0);
    assert_non_null(strstr((char *)out.ptr, "\"code\":\"L026\",\"rule\":\"ttl-not-epoch\","
                                            "\"severity\":\"warning\",\"line\":2,\"column\":35"));
    buf_clear(&out);
    lint_rules_markdown(&out);
    assert_false(out.failed);
    buf_release(&out);
    end_lint(&run);
}

// ---- Costs ---------------------------------------------------------------------------------

static void test_costs(void **state)
{
    (void)state;
    struct run run;
    run_lint(&run, "table shop { key PK, SK  index inA (a, b)  index inB (c, d) project keys }\n"
                   "entity Thing { PK = \"T#{id}\" SK = \"A\"  inA = \"{status}\", \"{id}\"  inB = "
                   "\"{owner}\", \"{id}\"\n"
                   "  id uuid immutable  owner uuid immutable  status string }\n"
                   "access thing(id) = one Thing\n"
                   "access byStatus(status) = Thing via inA limit 100\n"
                   "access consistently(id) = one Thing consistent\n");
    const struct model_table *table = &run.model->tables[0];
    const struct model_entity *thing = &table->entities[0];
    struct cost_write write;
    cost_entity_write(thing, 0, &write);
    assert_false(write.measured);
    assert_true(write.size > 100 && write.size < 1000);
    assert_int_equal(write.table, 1);
    assert_int_equal(write.put, 3);
    assert_int_equal(write.update, 2); // B keeps only keys
    assert_int_equal(write.worst, 3);  // A moves, which costs two; B cannot
    cost_entity_write(thing, 2500, &write);
    assert_true(write.measured);
    assert_int_equal(write.table, 3);
    assert_int_equal(write.put, 3 + 3 + 1);
    const struct model_index *moved[LIMIT_INDEXES];
    assert_int_equal(
        cost_attribute_moves(thing, model_entity_attribute(thing, SLICE_LIT("status")), moved), 1);
    assert_ptr_equal(moved[0], &table->indexes[0]);
    struct cost_read read;
    size_t size = 4097;
    cost_access_read(&table->accesses[0], &size, &read);
    assert_int_equal(read.items, 1);
    assert_true(read.one == 1.0 && read.page == 1.0);
    size = 1000;
    cost_access_read(&table->accesses[1], &size, &read);
    assert_int_equal(read.items, 100);
    assert_true(read.one == 0.5 && read.page == 12.5); // 100,000 bytes are 25 times 4 KB
    cost_access_read(&table->accesses[2], NULL, &read);
    assert_true(read.one == 1.0);
    struct buf out;
    buf_init(&out, 1 << 20);
    cost_show(table, NULL, &out);
    cost_json(table, NULL, &out);
    assert_false(out.failed);
    buf_release(&out);
    end_lint(&run);
}

// An index that copies some attributes is written when one of these changes, and by no other.
static void test_costs_of_projections(void **state)
{
    (void)state;
    struct run run;
    run_lint(&run, "table shop { key id  index inA (a, b) project keys\n"
                   "  index inB (c, d) project (title)  index inC (e, f) project (seen, more) }\n"
                   "entity Thing { inA = \"{plan}\", \"{id}\"  inB = \"{state}\", \"{id}\"\n"
                   "  inC = \"{owner}\", \"{id}\"  id uuid  owner uuid immutable  plan string\n"
                   "  state string  title string  body string  more string  seen timestamp }\n"
                   "access thing(id) = one Thing\n");
    const struct model_entity *thing = &run.model->tables[0].entities[0];
    struct cost_write write;
    static const struct {
        const char *name;
        uint64_t units;
    } rows[] = {{"plan", 3}, {"state", 3}, {"title", 2}, {"body", 1}, {"more", 2}};
    cost_entity_write(thing, 500, &write);
    assert_int_equal(write.update, 3); // the title and what is seen
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(
            cost_attribute_change(&write, model_entity_attribute(thing, slice_str(rows[i].name))),
            rows[i].units);
    end_lint(&run);
}

// ---- Evidence ------------------------------------------------------------------------------

static void add_item(struct run *run, struct evidence *evidence, const char *json)
{
    struct buf item;
    struct value_builder builder;
    buf_init(&item, 1 << 16);
    value_builder_init(&builder, &item);
    assert_null(plain_read(slice_str(json), &run->arena, &builder));
    assert_true(evidence_add(evidence, buf_view(&item)));
    value_builder_release(&builder);
    buf_release(&item);
}

static void test_evidence(void **state)
{
    (void)state;
    struct run run;
    run_lint(&run, "table shop { key PK, SK  index GSI1 (GSI1PK, n number)  index none (x) }\n"
                   "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1PK = \"ALL\"  id string  n "
                   "number?  at timestamp }\n");
    struct evidence *evidence = evidence_new(&run.model->tables[0]);
    assert_non_null(evidence);
    for (int i = 0; i < 600; i++) {
        char json[256];
        (void)snprintf(
            json, sizeof(json),
            "{\"PK\":\"T#%d\",\"SK\":\"A\",\"id\":\"%d\",\"GSI1PK\":\"%s\"%s,\"at\":\"%s\"}", i, i,
            i % 4 == 0 ? "SOME" : "ALL", i < 400 ? ",\"n\":1" : "",
            i % 2 == 0 ? "2026-11-16T10:00:00Z" : "2026-11-16T10:00:00+02:00");
        add_item(&run, evidence, json);
    }
    add_item(&run, evidence, "{\"PK\":\"odd\",\"SK\":\"one\"}");
    assert_true(evidence_size(evidence, &run.model->tables[0].entities[0]) > 40);
    static const char *const shown[] = {"601 items looked at, 1 of no entity",
                                        "Thing: 600 items",
                                        "shop: 601 items in 601 partitions",
                                        "GSI1: 400 items in 2 partitions",
                                        "75.0 %  ALL",
                                        "25.0 %  SOME",
                                        "none: empty",
                                        "at is written in several forms",
                                        "2026-11-16T10:00:00+02:00 (300)"};
    struct buf out;
    buf_init(&out, 1 << 20);
    evidence_show(evidence, &out);
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        if (!slice_contains(buf_view(&out), slice_str(shown[i])))
            fail_msg("no \"%s\" in %.*s", shown[i], SLICE_FMT(buf_view(&out)));
    static const char *const members[] = {"\"items\":601,\"unmatched\":1",
                                          "\"entity\":\"Thing\",\"items\":600",
                                          "\"mixedTimes\":{\"at\":[",
                                          "{\"items\":601,\"partitions\":601,",
                                          "\"index\":\"GSI1\",\"items\":400,\"partitions\":2,"
                                          "\"hottest\":[{\"key\":\"ALL\",\"items\":300",
                                          "\"index\":\"none\",\"items\":0,\"partitions\":0,"
                                          "\"hottest\":[]}"};
    buf_clear(&out);
    evidence_json(evidence, &out);
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (!slice_contains(buf_view(&out), slice_str(members[i])))
            fail_msg("no %s in %.*s", members[i], SLICE_FMT(buf_view(&out)));
    buf_release(&out);
    evidence_free(evidence);
    end_lint(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_helps),
        cmocka_unit_test(test_every_rule_is_tested),
        cmocka_unit_test(test_ignored_in_file),
        cmocka_unit_test(test_ignored_here),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_costs_of_projections),
        cmocka_unit_test(test_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
