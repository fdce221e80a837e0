// What rules are resolved into: joins, ways back, what is assigned to items that are made.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "diff/diff.h"
#include "model/rules.h"
#include "text/matcher.h"

static struct model *parse(const char *text)
{
    struct arena arena;
    struct diagnostics found;
    arena_init(&arena, 16 << 20);
    diagnostics_init(&found, &arena);
    struct model *model = model_parse(slice_str("rules.dolmen"), slice_str(text), &found);
    for (size_t i = 0; i < found.count; i++)
        print_error("%u:%u: %s\n", found.list[i].at.line, found.list[i].at.column,
                    found.list[i].message);
    assert_non_null(model);
    arena_release(&arena);
    return model;
}

static const struct model_entity *entity_of(const struct model *model, const char *name)
{
    const struct model_entity *entity = model_table_entity(&model->tables[0], slice_str(name));
    assert_non_null(entity);
    return entity;
}

static const struct model_attribute *attribute_of(const struct model *model, const char *entity,
                                                  const char *name)
{
    const struct model_attribute *attribute =
        model_entity_attribute(entity_of(model, entity), slice_str(name));
    assert_non_null(attribute);
    return attribute;
}

static void same(struct slice text, const char *expected)
{
    if (!slice_is(text, expected))
        print_error("\"%.*s\" is not \"%s\"\n", SLICE_FMT(text), expected);
    assert_true(slice_is(text, expected));
}

#define TABLE                                                                                      \
    "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  index GSI2 (GSI2PK, GSI2SK) }\n"

static void test_tests(void **state)
{
    (void)state;
    struct model *model =
        parse(TABLE "entity E { PK = \"E#{id}\"  SK = \"x\"  id string  a number  b number\n"
                    "  check a * 2 + b > 5 and b between 1 and a + 1\n"
                    "    or id changed \"no\"\n"
                    "  check b exists\n"
                    "  c number = (a + b) * 2 - (a - b) + (a ?? b) always\n"
                    "}\n");
    const struct model_entity *entity = entity_of(model, "E");
    assert_int_equal(entity->check_count, 2);
    const struct model_check_rule *check = &entity->checks[0];
    same(check->message, "no");
    assert_int_equal(check->test->clause_count, 2);
    assert_int_equal(check->test->clauses[0].count, 2);
    const struct model_comparison *first = &check->test->clauses[0].list[0];
    assert_int_equal(first->op, MODEL_OP_MORE);
    assert_int_equal(first->left->kind, MODEL_EXPR_ADD);
    assert_int_equal(first->left->args[0]->kind, MODEL_EXPR_MULTIPLY);
    assert_ptr_equal(first->left->args[1]->attribute, attribute_of(model, "E", "b"));
    assert_int_equal(check->test->clauses[0].list[1].op, MODEL_OP_BETWEEN);
    assert_int_equal(check->test->clauses[1].list[0].op, MODEL_OP_CHANGED);
    same(entity->checks[1].test->text, "b exists");
    struct buf text;
    buf_init(&text, 4096);
    model_attribute_text(attribute_of(model, "E", "c"), &text);
    same(buf_view(&text), "number always = (a + b) * 2 - (a - b) + a ?? b");
    buf_release(&text);
    model_release(model);
}

static void test_moves(void **state)
{
    (void)state;
    struct model *model = parse(
        TABLE "entity E { PK = \"E#{id}\"  SK = \"x\"  id string  s \"a\" | \"b\" | \"c\" | \"d\"\n"
              "  moves s: \"a\" -> \"b\" | \"c\" -> \"d\", \"d\" -> \"a\", n number }\n");
    const struct model_entity *entity = entity_of(model, "E");
    static const char *const expected[] = {"ab", "ac", "bd", "cd", "da"};
    assert_int_equal(entity->moves_count, 1);
    assert_int_equal(entity->moves[0].count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct model_move *move = &entity->moves[0].list[i];
        assert_int_equal(value_bytes(move->from).ptr[0], expected[i][0]);
        assert_int_equal(value_bytes(move->to).ptr[0], expected[i][1]);
    }
    same(entity->moves[0].text, "\"a\" -> \"b\" | \"c\" -> \"d\", \"d\" -> \"a\"");
    assert_int_equal(entity->attribute_count, 3);
    model_release(model);
}

static void test_references(void **state)
{
    (void)state;
    struct model *model = parse(
        TABLE
        "entity Job { PK = \"P#{project}\"  SK = \"JOB#{job}\"  project string  job string }\n"
        "entity Own { PK = \"P#{project}\"  SK = \"JOB#{job}#{n}\"  project string  job string  n "
        "string\n"
        "  reference project, job to Job on delete cascade }\n"
        "entity Far { PK = \"F#{id}\"  SK = \"x\"  id string  p string  j string  at string?\n"
        "  GSI1 = \"P#{p}\", \"{at}\"  GSI2 = \"P#{p}\", \"{j}#{id}\"\n"
        "  reference p, j to Job on delete reject }\n"
        "entity Loose { PK = \"L#{id}\"  SK = \"x\"  id string  a string?  b string?  GSI1 = "
        "\"{a}\", \"x\"\n"
        "  reference a, b to Job on delete clear }\n"
        "entity Plain { PK = \"X#{id}\"  SK = \"x\"  id string  f string references Far }\n");
    assert_int_equal(model->rules_of->reference_count, 4);
    const struct model_reference *own = &entity_of(model, "Own")->references[0];
    assert_null(own->index);
    assert_int_equal(own->on_delete, MODEL_DELETE_CASCADE);
    assert_ptr_equal(own->target, entity_of(model, "Job"));
    assert_ptr_equal(own->keys[1], attribute_of(model, "Job", "job"));
    // GSI1 may lack items, and has less of the reference in it.
    same(entity_of(model, "Far")->references[0].index->name, "GSI2");
    same(entity_of(model, "Loose")->references[0].index->name, "GSI1");
    assert_int_equal(entity_of(model, "Plain")->references[0].on_delete, MODEL_DELETE_LEAVE);
    model_release(model);
}

static void test_tallies(void **state)
{
    (void)state;
    struct model *model = parse(
        TABLE
        "entity Album { PK = \"A#{owner}\"  SK = \"{albumId}\"  owner string  albumId string\n"
        "  media integer = count of Media\n"
        "  likes number = count of Like where target = albumId and user = owner and kind = "
        "\"album\"\n"
        "  bytes number = sum of Media.size where size > 5 }\n"
        "entity Media { PK = \"M#{id}\"  SK = \"x\"  id string  owner string  album string  size "
        "number\n"
        "  reference owner, album to Album }\n"
        "entity Like { PK = \"L#{target}\"  SK = \"{user}\"  target string  user string  kind "
        "string }\n");
    const struct model_attribute *media = attribute_of(model, "Album", "media");
    assert_int_equal(model->rules_of->tally_count, 3);
    assert_non_null(media->otherwise);
    assert_int_equal(media->tally->join_count, 2);
    same(media->tally->id, "Album.media");
    same(media->tally->joins[1].source->name, "album");
    same(media->tally->joins[1].target->name, "albumId");
    assert_null(media->tally->filter);
    const struct model_tally *likes = attribute_of(model, "Album", "likes")->tally;
    same(likes->joins[0].source->name, "user");
    same(likes->joins[1].source->name, "target");
    assert_int_equal(likes->filter->clauses[0].count, 1);
    const struct model_tally *bytes = attribute_of(model, "Album", "bytes")->tally;
    same(bytes->amount->name, "size");
    same(bytes->text, "sum of Media.size where size > 5");
    struct buf text;
    buf_init(&text, 4096);
    model_attribute_text(attribute_of(model, "Album", "bytes"), &text);
    same(buf_view(&text), "number = sum of Media.size where size > 5");
    buf_release(&text);
    model_release(model);
}

static const struct model_assignment *assigned(const struct model_made *made, const char *name)
{
    for (size_t i = 0; i < made->assignment_count; i++)
        if (slice_is(made->assignments[i].attribute->name, name))
            return &made->assignments[i];
    return NULL;
}

static bool calls(const struct model_assignment *one, enum model_function function)
{
    return one != NULL && one->value->kind == MODEL_EXPR_CALL && one->value->function == function;
}

static void test_made(void **state)
{
    (void)state;
    struct model *model = parse(
        TABLE "entity Job { PK = \"J#{id}\"  SK = \"x\"  id string  status string  tags "
              "set<string>?  at timestamp = now() }\n"
              "entity Out { PK = \"O#{key}\"  SK = \"x\"  key string = ulid()  type string  "
              "payload object  status string = \"new\"  id string }\n"
              "entity Tag { PK = \"T#{tag}\"  SK = \"{id}\"  tag string  id string  at timestamp = "
              "now()  note string }\n"
              "entity Log { PK = \"L#{key}\"  SK = \"x\"  key string = ulid()  type string  actor "
              "string  operation string  before object?  after object?  status string? }\n"
              "emit \"job.{status}\" on insert, remove of Job when status changed into Out\n"
              "derive Tag from each Job.tags as tag { note = \"{id}/{status}\" }\n"
              "audit Job, Tag with before into Log { after = item() }\n");
    const struct model_rules *rules = model->rules_of;
    assert_int_equal(rules->made_count, 4);
    const struct model_made *emit = &rules->made[0];
    assert_int_equal(emit->events, MODEL_INSERT | MODEL_REMOVE);
    assert_true(calls(assigned(emit, "type"), MODEL_FN_EVENT));
    assert_true(calls(assigned(emit, "payload"), MODEL_FN_ITEM));
    assert_ptr_equal(assigned(emit, "id")->value->attribute, attribute_of(model, "Job", "id"));
    assert_null(assigned(emit, "status")); // an event has its own default
    assert_null(assigned(emit, "key"));
    assert_int_equal(emit->name->segment_count, 2);
    const struct model_made *derive = &rules->made[1];
    same(derive->each->name, "tags");
    assert_true(calls(assigned(derive, "tag"), MODEL_FN_EACH));
    assert_ptr_equal(assigned(derive, "at")->value->attribute, attribute_of(model, "Job", "at"));
    assert_true(entity_of(model, "Tag")->kept);
    assert_true(entity_of(model, "Log")->kept);
    assert_false(entity_of(model, "Out")->kept);
    const struct model_made *audit = &rules->made[3];
    assert_ptr_equal(audit->source, entity_of(model, "Tag"));
    assert_true(calls(assigned(audit, "actor"), MODEL_FN_ACTOR));
    assert_true(calls(assigned(audit, "before"), MODEL_FN_OLD));
    assert_true(calls(assigned(audit, "after"), MODEL_FN_ITEM));
    assert_null(assigned(audit, "status"));
    assert_non_null(assigned(&rules->made[2], "status"));
    model_release(model);
}

static void test_others(void **state)
{
    (void)state;
    struct model *model = parse(
        TABLE
        "entity User { PK = \"U#{org}#{id}\"  SK = \"x\"  org string  id string  slug string? "
        "matches \"[a-z]+\\d?\"\n"
        "  GSI1 = \"{org}\", \"x\" when gone missing  softdelete gone  gone timestamp?\n"
        "  used number = 0  most number = 5  until timestamp?  made timestamp = now()  seen "
        "timestamp = now() on update  state string? }\n"
        "entity Scan { PK = \"S#{org}#{n}\"  SK = \"x\"  org string  n string  user string }\n"
        "entity Free { PK = \"F\"  SK = \"{n}\"  n string  org string? }\n"
        "retain User for 2d then archive\n"
        "retain User for 1h after delete when used > 5 then delete\n"
        "keep Scan latest 3 by n per org, user then delete\n"
        "idempotent Scan by sha256(org, n) for 72h\n"
        "quota User.used at most 3 when state = \"x\", most per week resets until counting Scan "
        "where user = id\n"
        "publish Scan to \"https://a\" { secret env \"A\"  secret file \"B\"  timeout 2m  order "
        "org  timeout 5 }\n"
        "publish Scan to \"https://b\" when n begins \"x\"\n"
        "publish User to \"https://c\" { mark state = \"sent\" }\n"
        "seed User { org = \"o\"  id = \"i\"  most = 7 }\n"
        "tenant org\n");
    const struct model_rules *rules = model->rules_of;
    same(rules->retains[0].after->name, "made");
    assert_true(rules->retains[1].after_delete);
    assert_int_equal(rules->retains[1].seconds, 3600);
    assert_int_equal(rules->keeps[0].per_count, 2);
    assert_int_equal(rules->idempotents[0].seconds, 72 * 3600);
    const struct model_quota *quota = &rules->quotas[0];
    assert_int_equal(quota->limit_count, 2);
    assert_int_equal(quota->period, MODEL_WEEK);
    same(quota->resets->name, "until");
    assert_true(quota->counting->inserts);
    same(quota->counting->joins[1].source->name, "user");
    assert_int_equal(rules->tally_count, 0); // that of a quota is the quota's
    assert_int_equal(rules->publishes[0].option_count, 5);
    same(rules->publishes[0].options[1].source, "file");
    same(rules->publishes[0].options[2].value, "120");
    same(rules->publishes[0].options[3].value, "org");
    same(rules->publishes[0].name, "Scan");
    same(rules->publishes[1].name, "Scan2");
    same(value_bytes(rules->publishes[2].marked), "sent");
    same(value_bytes(value_get(rules->seeds[0].item, slice_str("org"))), "o");
    same(model->tables[0].tenant, "org");
    assert_ptr_equal(entity_of(model, "User")->tenant, attribute_of(model, "User", "org"));
    assert_null(entity_of(model, "Free")->tenant);
    assert_non_null(entity_of(model, "User")->entries[0].when);
    assert_true(
        matcher_matches(attribute_of(model, "User", "slug")->matches, slice_str("ab7"), NULL));
    model_release(model);
}

// What is shown of a text that was made of several files.
static void test_sources(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 4096);
    buf_text(&text, "one\n");
    diagnostic_file_mark(&text, slice_str("a b.dolmen"), 1);
    buf_text(&text, "two\nthree\n");
    diagnostic_file_mark(&text, slice_str("main"), 7);
    buf_text(&text, "four\n//dolmen:file x\n//dolmen:file 99999999999 y\nfive");
    static const struct {
        uint32_t line;
        const char *file;
        uint32_t source;
    } cases[] = {{0, "top", 0},        {1, "top", 1},  {2, "top", 2},  {3, "a b.dolmen", 1},
                 {4, "a b.dolmen", 2}, {6, "main", 7}, {9, "main", 10}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t line = cases[i].line;
        same(diagnostic_source(slice_str("top"), buf_view(&text), &line), cases[i].file);
        assert_int_equal(line, cases[i].source);
    }
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tests),      cmocka_unit_test(test_moves),
        cmocka_unit_test(test_references), cmocka_unit_test(test_tallies),
        cmocka_unit_test(test_made),       cmocka_unit_test(test_others),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
