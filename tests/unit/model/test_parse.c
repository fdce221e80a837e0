// What each construct of the language becomes. Mistakes are in tests/model/errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/model.h"
#include "value/number.h"

struct parsed {
    struct arena arena;
    struct diagnostics found;
    struct model *model;
};

static struct parsed *parse(const char *text)
{
    struct parsed *p = calloc(1, sizeof *p);
    assert_non_null(p);
    arena_init(&p->arena, 16 << 20);
    diagnostics_init(&p->found, &p->arena);
    p->model = model_parse(slice_str("test.dolmen"), slice_str(text), &p->found);
    if (p->model == NULL) {
        struct buf shown;
        buf_init(&shown, 1 << 20);
        diagnostics_show(&p->found, slice_str("test.dolmen"), slice_str(text), &shown);
        print_error("%.*s", SLICE_FMT(buf_view(&shown)));
        buf_release(&shown);
    }
    assert_non_null(p->model);
    return p;
}

static void done(struct parsed *p)
{
    model_release(p->model);
    arena_release(&p->arena);
    free(p);
}

static void same(struct slice actual, const char *expected)
{
    if (!slice_is(actual, expected))
        print_error("expected \"%s\", got \"%.*s\"\n", expected, SLICE_FMT(actual));
    assert_true(slice_is(actual, expected));
}

static const struct model_attribute *attribute(const struct model_entity *entity, const char *name)
{
    const struct model_attribute *found = model_entity_attribute(entity, slice_str(name));
    assert_non_null(found);
    return found;
}

static void type_is(const struct model_type *type, const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    model_type_text(type, &out);
    same(buf_view(&out), expected);
    buf_release(&out);
}

// ---- Tables --------------------------------------------------------------------------------

static void test_table(void **state)
{
    (void)state;
    struct parsed *p = parse("// Everything of the shop.\n"
                             "table shop { // one table\n"
                             "  key PK, SK\n"
                             "  index GSI1 (GSI1PK, GSI1SK) project keys  // by email\n"
                             "  index by-day (day number) project (a, `b c`)\n"
                             "  index many (a + b, c number + d)\n"
                             "  local index LSI1 (rank number)\n"
                             "  local index LSI2 (PK, at)\n"
                             "  type kind\n  ttl ends\n  stream old_image\n"
                             "  guard warn\n  unknown reject\n  unmatched allow\n"
                             "  pitr on\n  billing provisioned (5, 6)\n"
                             "}\n"
                             "table `a.b` { key id binary }\n");
    const struct model_table *shop = model_table(p->model, SLICE_LIT("shop"));
    assert_non_null(shop);
    same(shop->doc, "Everything of the shop.\none table");
    assert_int_equal(shop->keys.hash_count, 1);
    assert_int_equal(shop->keys.range_count, 1);
    same(shop->type_attribute, "kind");
    same(shop->ttl_attribute, "ends");
    assert_int_equal(shop->stream, MODEL_STREAM_OLD_IMAGE);
    assert_int_equal(shop->guard, MODEL_WARN);
    assert_int_equal(shop->unknown, MODEL_REJECT);
    assert_int_equal(shop->unmatched, MODEL_ALLOW);
    assert_true(shop->pitr && shop->provisioned);
    assert_int_equal(shop->read_units, 5);
    assert_int_equal(shop->write_units, 6);
    assert_int_equal(shop->index_count, 5);
    const struct model_index *index = &shop->indexes[0];
    assert_int_equal(index->projection, MODEL_PROJECT_KEYS);
    same(index->doc, "by email");
    index = model_table_index(shop, SLICE_LIT("by-day"));
    assert_int_equal(index->keys.range_count, 0);
    assert_int_equal(index->keys.parts[0].type, VALUE_N);
    assert_int_equal(index->projection, MODEL_PROJECT_INCLUDE);
    same(index->include[1], "b c");
    index = &shop->indexes[2];
    assert_int_equal(index->keys.hash_count, 2);
    assert_int_equal(index->keys.range_count, 2);
    assert_int_equal(index->keys.parts[2].type, VALUE_N);
    for (size_t i = 3; i < 5; i++) {
        assert_true(shop->indexes[i].local);
        same(shop->indexes[i].keys.parts[0].name, "PK");
    }
    const struct model_table *other = model_table(p->model, SLICE_LIT("a.b"));
    assert_int_equal(other->keys.parts[0].type, VALUE_B);
    assert_int_equal(other->guard, MODEL_ENFORCE);
    assert_int_equal(other->unknown, MODEL_REPORT);
    assert_int_equal(other->unmatched, MODEL_REJECT);
    assert_int_equal(other->stream, MODEL_STREAM_NONE);
    assert_false(other->pitr || other->provisioned);
    done(p);
}

// ---- Types -----------------------------------------------------------------------------------

static void test_types(void **state)
{
    static const struct {
        const char *written;
        const char *shown;
        enum value_type stored;
    } cases[] = {
        {"string", "string", VALUE_S},
        {"string(1..100)", "string(1..100)", VALUE_S},
        {"string(..5)", "string(..5)", VALUE_S},
        {"number(-1.5..)", "number(-1.5..)", VALUE_N},
        {"integer", "integer", VALUE_N},
        {"boolean", "boolean", VALUE_BOOL},
        {"binary(1..16)", "binary(1..16)", VALUE_B},
        {"uuid", "uuid", VALUE_S},
        {"timestamp", "timestamp", VALUE_S},
        {"date", "date", VALUE_S},
        {"epoch", "epoch", VALUE_N},
        {"email", "email", VALUE_S},
        {"url", "url", VALUE_S},
        {"any", "any", VALUE_TYPES},
        {"null", "null", VALUE_NULL},
        {"object", "object", VALUE_M},
        {"list", "any[]", VALUE_L},
        {"\"a\" | 'b' | \"q\\\"\"", "\"a\" | \"b\" | \"q\\\"\"", VALUE_S},
        {"5 | 8 | -1.50", "5 | 8 | -1.5", VALUE_N},
        {"true | null", "true | null", VALUE_BOOL},
        {"| \"x\" | \"y\"", "\"x\" | \"y\"", VALUE_S},
        {"number | string", "number | string", VALUE_TYPES},
        {"string[]", "string[]", VALUE_L},
        {"string[](1..10)", "string[](1..10)", VALUE_L},
        {"(string | number)[][]", "(string | number)[][]", VALUE_L},
        {"Array<number>", "number[]", VALUE_L},
        {"set<string>(..3)", "set<string>(..3)", VALUE_SS},
        {"Set<1 | 2>", "set<1 | 2>", VALUE_NS},
        {"set<binary>", "set<binary>", VALUE_BS},
        {"Record<string, number[]>", "Record<string, number[]>", VALUE_M},
        {"{ b: string?, a?: number; `c d` Other }", "{ a: number?, b: string?, `c d`: Other }",
         VALUE_M},
        {"Other", "Other", VALUE_M},
        {"Level | \"max\" | \"low\"", "\"low\" | \"high\" | \"max\"", VALUE_S},
        {"Json", "Json", VALUE_TYPES},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text;
        buf_init(&text, 4096);
        buf_printf(&text,
                   "table tab { key id }\nentity E { id string\n a %s\n}\n"
                   "type Other { x: string }\ntype Level = \"low\" | \"high\"\n"
                   "type Json = string | number | Json[] | Record<string, Json>%c",
                   cases[i].written, 0);
        struct parsed *p = parse((const char *)text.ptr);
        const struct model_type *type = attribute(&p->model->tables[0].entities[0], "a")->type;
        type_is(type, cases[i].shown);
        assert_int_equal(model_type_stored(type), cases[i].stored);
        assert_int_equal(p->model->type_count, 3);
        done(p);
        buf_release(&text);
    }
}

// ---- Attributes --------------------------------------------------------------------------------

static void test_attributes(void **state)
{
    (void)state;
    struct parsed *p = parse("table tab { key id }\n"
                             "entity E as \"e!\" {\n"
                             "  guard off\n  unknown warn\n"
                             "  id uuid = uuid()  immutable\n"
                             "  // Where to write to.\n"
                             "  email: string unique, lower, trim // lower case\n"
                             "  name? : string deprecated\n"
                             "  rev number version\n"
                             "  guard string?\n"
                             "  lower string, upper: string?\n"
                             "  updatedAt timestamp = now() on update\n"
                             "  ttl epoch = updatedAt + 7d\n"
                             "  full string = \"{name ?? 'no one'} <{email}>\"\n"
                             "  code string = pad(rev, 5) upper\n"
                             "  nested { a: string = \"x\"  lower: string  b? : { c: number } }\n"
                             "  tags string[] = []\n"
                             "  one string version number\n"
                             "}\n");
    const struct model_entity *entity = &p->model->tables[0].entities[0];
    same(entity->type_value, "e!");
    assert_int_equal(entity->guard, MODEL_OFF);
    assert_int_equal(entity->unknown, MODEL_REPORT);
    const struct model_attribute *email = attribute(entity, "email");
    assert_true(email->unique);
    assert_int_equal(email->normal, MODEL_LOWER | MODEL_TRIM);
    same(email->doc, "Where to write to.\nlower case");
    assert_true(attribute(entity, "id")->immutable);
    assert_int_equal(attribute(entity, "id")->otherwise->function, MODEL_FN_UUID);
    assert_true(attribute(entity, "name")->optional && attribute(entity, "name")->deprecated);
    assert_true(attribute(entity, "rev")->version);
    assert_true(attribute(entity, "guard")->optional);
    assert_false(attribute(entity, "lower")->optional);
    assert_true(attribute(entity, "upper")->optional);
    assert_true(attribute(entity, "updatedAt")->on_update);
    const struct model_expr *ttl = attribute(entity, "ttl")->otherwise;
    assert_int_equal(ttl->kind, MODEL_EXPR_ADD);
    assert_ptr_equal(ttl->args[0]->attribute, attribute(entity, "updatedAt"));
    int64_t seconds = 0;
    assert_true(ttl->args[1]->duration);
    assert_true(number_to_i64(value_bytes(ttl->args[1]->value), &seconds));
    assert_int_equal(seconds, 7 * 86400);
    const struct model_expr *full = attribute(entity, "full")->otherwise;
    assert_int_equal(full->kind, MODEL_EXPR_TEMPLATE);
    assert_int_equal(full->template->segment_count, 4);
    assert_int_equal(full->template->segments[0].expr->kind, MODEL_EXPR_ELSE);
    same(full->template->segments[1].literal, " <");
    assert_int_equal(attribute(entity, "code")->normal, MODEL_UPPER);
    assert_int_equal(attribute(entity, "nested")->type->field_count, 3);
    assert_int_equal(value_type(attribute(entity, "tags")->otherwise->value), VALUE_L);
    assert_non_null(model_entity_attribute(entity, SLICE_LIT("version")));
    assert_false(attribute(entity, "one")->version);
    assert_int_equal(entity->attribute_count, 15);
    done(p);
}

// ---- Keys -----------------------------------------------------------------------------------

static void test_keys(void **state)
{
    (void)state;
    struct parsed *p = parse(
        "table tab { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  index turned (SK, PK)\n"
        "  index day-index (day, n) for all  index multi (a + b, c) }\n"
        "entity E {\n"
        "  PK = 'E#{id}'  SK = \"{at:yyyy/mm/dd HH:MM}#{n:pad(8)}\\{\\}\", GSI1 = kind, \"{n}\"\n"
        "  multi = \"x\", \"y\",\n    \"z\"\n"
        "  id string, at timestamp\n  day date\n  n number\n  kind string? }\n"
        "entity F { PK = \"F\"  SK = id  id string  GSI1PK = \"x\"  GSI1SK = \"{n}\"  n integer "
        "}\n");
    const struct model_table *table = &p->model->tables[0];
    const struct model_entity *entity = &table->entities[0];
    assert_int_equal(entity->entry_count, 4);
    same(entity->keys[0].template->source, "E#{id}");
    assert_false(entity->keys[0].template->bare);
    const struct model_template *sk = entity->keys[1].template;
    assert_int_equal(sk->segment_count, 4);
    assert_int_equal(sk->segments[0].expr->function, MODEL_FN_DATE_PART);
    same(value_bytes(sk->segments[0].expr->args[1]->value), "yyyy/mm/dd HH:MM");
    assert_int_equal(sk->segments[2].expr->function, MODEL_FN_PAD);
    same(sk->segments[3].literal, "{}");
    // An index over text: the number in quotes is its text there.
    assert_int_equal(table->indexes[0].keys.parts[1].type, VALUE_S);
    assert_true(entity->entries[0].stated && entity->entries[0].parts[0].template->bare);
    assert_false(entity->entries[0].parts[1].template->bare);
    // Over the table's own keys: the same templates, the other way round.
    assert_true(entity->entries[1].stated);
    assert_ptr_equal(entity->entries[1].parts[0].template, sk);
    // Native attributes make an entry without a word; the number stays one.
    assert_true(entity->entries[2].stated && entity->entries[2].parts[1].template->bare);
    assert_int_equal(table->indexes[2].keys.parts[1].type, VALUE_N);
    assert_true(entity->entries[3].stated);
    assert_false(table->entities[1].entries[2].stated);
    assert_null(table->entities[1].entries[2].parts[1].template);
    assert_true(table->entities[1].entries[0].stated);
    assert_true(table->entities[1].keys[1].template->bare);
    done(p);
}

// Expressions without quotes; where they give a number, so is the key.
static void test_key_expressions(void **state)
{
    (void)state;
    struct parsed *p = parse("table tab { key id  index one (h1, r1)  index two (h2, r2 number)\n"
                             "  index three (h3, r3)  index four (h4, r4) }\n"
                             "entity E {\n"
                             "  id string  likes number?  views integer  nick string?\n"
                             "  one = \"ALL\", likes + views ?? 0\n"
                             "  two = nick ?? id, -1, three = nick, views - 1\n"
                             "  h4 = 'x'  r4 = views\n  label (\"a\" | \"b\")? }\n"
                             "entity F { id string  score number?\n"
                             "  two = \"F\", \"{score ?? 0}\" }\n");
    static const struct {
        const char *sources[2];
        enum model_expr_kind kind;
        bool bare[2];
    } expected[] = {
        {{"ALL", "{likes + views ?? 0}"}, MODEL_EXPR_ADD, {false, true}},
        {{"{nick ?? id}", "{-1}"}, MODEL_EXPR_VALUE, {false, true}},
        {{"{nick}", "{views - 1}"}, MODEL_EXPR_SUBTRACT, {true, true}},
        {{"x", "{views}"}, MODEL_EXPR_PATH, {false, true}},
    };
    const struct model_table *table = &p->model->tables[0];
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct model_entry *entry = &table->entities[0].entries[i];
        assert_true(entry->stated);
        assert_int_equal(table->indexes[i].keys.parts[0].type, VALUE_S);
        assert_int_equal(table->indexes[i].keys.parts[1].type, VALUE_N);
        for (size_t k = 0; k < 2; k++) {
            same(entry->parts[k].template->source, expected[i].sources[k]);
            assert_int_equal(entry->parts[k].template->bare, expected[i].bare[k]);
        }
        assert_int_equal(entry->parts[1].template->segments[0].expr->kind, expected[i].kind);
    }
    assert_int_equal(table->entities[0].attribute_count, 5);
    assert_true(table->entities[1].entries[1].parts[1].template->bare);
    done(p);
}

static void test_native_keys(void **state)
{
    (void)state;
    struct parsed *p = parse("entity A of tab { id string  rank number }\n"
                             "table tab { key id, rank }\n"
                             "table other { key id number, at }\n"
                             "entity B { id = n  at timestamp  n number }\n"
                             "entity C of tab { id string  rank integer }\n");
    const struct model_table *table = &p->model->tables[0];
    assert_int_equal(table->entity_count, 2);
    assert_int_equal(table->keys.parts[1].type, VALUE_N);
    assert_true(table->entities[0].keys[1].template->bare);
    same(table->entities[0].keys[1].template->source, "{rank}");
    assert_true(p->model->tables[1].entities[0].keys[0].template->bare);
    done(p);
}

// ---- Access patterns ------------------------------------------------------------------------

static const char shop[] =
    "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  index by-n (kind, n) for all type T\n"
    "  index wide (a + b, c + d) for all }\n"
    "entity User { PK = \"USER#{id}\"  SK = \"METADATA\"\n"
    "  GSI1 = \"EMAIL\", \"{email}\"\n  id uuid\n  email string lower\n  age number? }\n"
    "entity Order { PK = \"USER#{id}\"  SK = \"ORDER#{at}#{no:pad(5)}\"\n"
    "  id uuid\n  at timestamp\n  no number\n  kind string\n  n number\n  state { paid: boolean }\n"
    "  a string\n  b string\n  c string\n  d string }\n";

static const struct model_access *access_of(const struct parsed *p)
{
    const struct model_table *table = &p->model->tables[0];
    assert_int_equal(table->access_count, 1);
    return &table->accesses[0];
}

// "PK = USER#{0}; SK begins ORDER#": a pattern's key condition, parameters by their position.
static void keys_text(const struct model_access *access, struct buf *out);

static void expr_text(const struct model_expr *expr, struct buf *out)
{
    static const char *const functions[] = {
#define X(function, name, least, most) name,
        MODEL_FUNCTION_LIST(X)
#undef X
    };
    char number[NUMBER_TEXT_MAX];
    if (expr->kind == MODEL_EXPR_PARAM) {
        buf_printf(out, "{%zu}", expr->param);
    } else if (expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_N) {
        buf_add(out, number, number_to_text(value_bytes(expr->value), number));
    } else if (expr->kind == MODEL_EXPR_VALUE) {
        buf_slice(out, value_bytes(expr->value));
    } else if (expr->kind == MODEL_EXPR_TEMPLATE) {
        for (size_t i = 0; i < expr->template->segment_count; i++) {
            if (expr->template->segments[i].expr != NULL)
                expr_text(expr->template->segments[i].expr, out);
            else
                buf_slice(out, expr->template->segments[i].literal);
        }
    } else if (expr->kind == MODEL_EXPR_CALL) {
        buf_printf(out, "%s(", functions[expr->function]);
        for (size_t i = 0; i < expr->arg_count; i++) {
            buf_text(out, i == 0 ? "" : ",");
            expr_text(expr->args[i], out);
        }
        buf_byte(out, ')');
    } else {
        buf_text(out, "?");
    }
}

static void keys_text(const struct model_access *access, struct buf *out)
{
    static const char *const ops[] = {
#define X(op, text) text,
        MODEL_OP_LIST(X)
#undef X
    };
    for (size_t i = 0; i < access->key_count; i++) {
        const struct model_condition *key = &access->keys[i];
        buf_printf(out, "%s%.*s %s ", i == 0 ? "" : "; ", SLICE_FMT(key->steps[0]), ops[key->op]);
        expr_text(key->values[0], out);
        if (key->values[1] != NULL) {
            buf_text(out, " and ");
            expr_text(key->values[1], out);
        }
    }
    buf_text(out, access->get ? " (get)" : "");
    buf_text(out, access->descending ? " (descending)" : "");
}

static void test_access(void **state)
{
    static const struct {
        const char *pattern;
        const char *keys;
    } cases[] = {
        {"access a(id) = one User", "PK = USER#{0}; SK = METADATA (get)"},
        {"access a(id) = User", "PK = USER#{0}; SK = METADATA"},
        {"access a(email) = one User via GSI1", "GSI1PK = EMAIL; GSI1SK = lower({0})"},
        {"access a() = User via GSI1", "GSI1PK = EMAIL"},
        {"access a(prefix) = User via GSI1 where GSI1SK begins prefix",
         "GSI1PK = EMAIL; GSI1SK begins {0}"},
        {"access a(id) = Order newest first", "PK = USER#{0}; SK begins ORDER# (descending)"},
        {"access a(id, at) = Order latest first",
         "PK = USER#{0}; SK begins ORDER#{1}# (descending)"},
        {"access a(at, id, no) = one Order", "PK = USER#{1}; SK = ORDER#{0}#pad({2},5) (get)"},
        {"access a(id) = User, Order oldest first", "PK = USER#{0}"},
        {"access a(id, from, to) = Order where SK between \"ORDER#{from}\" and \"ORDER#{to}\"",
         "PK = USER#{0}; SK between ORDER#{1} and ORDER#{2}"},
        {"access a(u) = Order where PK = \"USER#{u}\" and SK >= \"ORDER#2\" descending",
         "PK = USER#{0}; SK >= ORDER#2 (descending)"},
        {"access a(kind) = Order via by-n ascending", "kind = {0}"},
        {"access a(kind, n) = Order via by-n", "kind = {0}; n = {1}"},
        {"access a(kind) = Order via by-n where n > 5 consistent filter", NULL},
        {"access a(kind) = Order via by-n where n > 5", "kind = {0}; n > 5"},
        {"access a(a, b) = Order via wide", "a = {0}; b = {1}"},
        {"access a(a, b, c) = Order via wide", "a = {0}; b = {1}; c = {2}"},
        {"access a(a, b, c, x) = Order via wide where d > x", "a = {0}; b = {1}; c = {2}; d > {3}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].keys == NULL)
            continue;
        struct buf text;
        buf_init(&text, 8192);
        buf_printf(&text, "%s%s\n%c", shop, cases[i].pattern, 0);
        struct parsed *p = parse((const char *)text.ptr);
        buf_clear(&text);
        keys_text(access_of(p), &text);
        same(buf_view(&text), cases[i].keys);
        done(p);
        buf_release(&text);
    }
}

static void test_access_details(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 8192);
    buf_printf(
        &text,
        "%s/* The ones\n * that are paid. */\naccess paid(id, least: number, since, k string) "
        "= Order of shop\n"
        "  where SK > since filter state.paid = true and n >= least and kind != \"x\"\n"
        "  and T exists and a between k and \"z\" and b contains k and d missing\n"
        "  newest first limit 7 consistent\n%c",
        shop, 0);
    struct parsed *p = parse((const char *)text.ptr);
    const struct model_access *access = access_of(p);
    same(access->doc, "The ones\nthat are paid.");
    assert_int_equal(access->param_count, 4);
    type_is(access->params[0].type, "uuid");
    type_is(access->params[1].type, "number");
    type_is(access->params[2].type, "string");
    assert_int_equal(access->filter_count, 7);
    assert_int_equal(access->filters[0].step_count, 2);
    assert_int_equal(access->filters[4].op, MODEL_OP_BETWEEN);
    assert_int_equal(access->filters[6].op, MODEL_OP_MISSING);
    assert_int_equal(access->limit, 7);
    assert_true(access->consistent && access->descending && !access->one && !access->get);
    done(p);
    buf_release(&text);
}

// ---- The rest -------------------------------------------------------------------------------

static void test_rules(void **state)
{
    (void)state;
    struct parsed *p = parse("table tab { key PK }\n"
                             "entity Job { PK = \"JOB#{project_id}#{id}\"  id uuid  status "
                             "string  project_id string  at timestamp = now() }\n"
                             "entity Outbox { PK = \"OUT#{id}\"  id string = ulid() }\n"
                             "// Old ones go.\n"
                             "retain Job for 90d then archive\n"
                             "keep Job latest 10 by at per status then delete\n"
                             "emit \"job.{status}\" on insert, modify of Job into Outbox\n"
                             "object Job.file = \"jobs/{at:yyyy/mm/dd}/{id}.jpg\" signed 10m\n"
                             "tenant project_id\n");
    assert_int_equal(p->model->rule_count, 5);
    const struct model_rule *rule = &p->model->rules[0];
    same(rule->kind, "retain");
    same(rule->entity, "Job");
    same(rule->doc, "Old ones go.");
    same(rule->text, "retain Job for 90d then archive");
    same(p->model->rules[2].text, "emit \"job.{status}\" on insert, modify of Job into Outbox");
    same(p->model->rules[4].entity, "");
    assert_int_equal(rule->at.line, 5);
    done(p);
}

static void test_suppressions(void **state)
{
    (void)state;
    struct parsed *p = parse("table tab { key PK }\n"
                             "// A user.\n"
                             "// lint: ignore L003, L007\n"
                             "entity User {\n"
                             "  PK = \"USER#{id}\" // lint: ignore L001\n"
                             "  id uuid\n"
                             "}\n"
                             "entity Other { PK = \"x\" }\n");
    assert_int_equal(p->model->suppression_count, 3);
    const struct model_suppression *first = p->model->suppressions;
    same(first[0].code, "L003");
    assert_int_equal(first[0].line, 3);
    assert_int_equal(first[0].until, 7);
    same(first[1].code, "L007");
    same(first[2].code, "L001");
    assert_int_equal(first[2].line, 5);
    assert_int_equal(first[2].until, 5);
    same(p->model->tables[0].entities[0].doc, "A user.");
    done(p);
}

static void test_comments(void **state)
{
    (void)state;
    struct parsed *p = parse("// Not this.\n\n// A table.\ntable tab { key PK }\n"
                             "// ---------- Users ----------\n"
                             "/** A user\n * of ours. */\n"
                             "entity User { PK = \"x\" // behind\n"
                             "  a string, // first\n  b string // second\n"
                             "  c /* within */ string\n} // not this\n"
                             "type T { // of T\n  x: string }\n"
                             "type U = string // of U\n");
    const struct model_table *table = &p->model->tables[0];
    same(table->doc, "A table.");
    same(table->entities[0].doc, "Users\nA user\nof ours.");
    same(attribute(&table->entities[0], "a")->doc, "first");
    same(attribute(&table->entities[0], "b")->doc, "second");
    same(attribute(&table->entities[0], "c")->doc, "");
    done(p);
}

static void test_long_and_strange(void **state)
{
    (void)state;
    struct parsed *p = parse("\xef\xbb\xbftable tab{key PK}entity `größe` as '\\n\\t\\\\'{PK='x'"
                             " `a b c`?:string `string` number}");
    same(p->model->tables[0].entities[0].name, "größe");
    same(p->model->tables[0].entities[0].type_value, "\n\t\\");
    assert_int_equal(p->model->tables[0].entities[0].attribute_count, 2);
    model_release(model_hold(p->model));
    done(p);
    // Too long a file, and bytes that are no text, are errors like any other.
    struct arena arena;
    static struct diagnostics found;
    arena_init(&arena, 16 << 20);
    diagnostics_init(&found, &arena);
    char *large = calloc(1, LIMIT_MODEL_FILE + 1);
    assert_non_null(large);
    assert_null(model_parse(SLICE_LIT("x"), slice_of(large, LIMIT_MODEL_FILE + 1), &found));
    assert_null(model_parse(SLICE_LIT("x"), SLICE_LIT("table a\n\x61\xff"), &found));
    assert_int_equal(found.list[1].at.line, 2);
    assert_int_equal(found.list[1].at.column, 2);
    assert_string_equal(found.list[1].message, "the file is not UTF-8 text from here on");
    free(large);
    arena_release(&arena);
}

// ---- Limits --------------------------------------------------------------------------------

static void repeat(struct buf *text, const char *format, int count)
{
    char line[200];
    for (int i = 0; i < count; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(line, sizeof line, format, i, i);
#pragma GCC diagnostic pop
        buf_text(text, line);
    }
}

// One more than there may be of something.
static void test_limits(void **state)
{
    static const struct {
        const char *before;
        const char *repeated;
        int count;
        const char *after;
        const char *message;
    } cases[] = {
        {"", "table tab%d { key id }\n", 1001, "",
         "a file has at most 1000 declarations of a kind"},
        {"", "type T%d = string\n", 1001, "", "a file has at most 1000 types"},
        {"table tab { key id }\nentity E {\n id string\n", "a%d string\n", 1000, "}",
         "an entity has at most 1000 attributes"},
        {"type T { ", "a%d: string\n", 1001, "}", "an object has at most 1000 fields"},
        {"type T = 'a'", "| %d", 1001, "", "a union has at most 1000 options"},
        {"table tab { key id }\nentity E { id string }\naccess a(b", ", a%d", 32, ") = E",
         "a pattern has at most 32 parameters"},
        {"table tab { key id }\nentity E { id string }\naccess a(id) = E", ", E%d", 64, "",
         "a pattern has at most 64 entities"},
        {"table tab { key id }\nentity E { id string }\naccess a(id) = E filter x = 1",
         " and a%d = 1", 32, "", "at most 32 conditions can stand here"},
        {"table tab { key id index GSI (a) project (b", ", a%d", 100, ") }",
         "an index includes at most 100 attributes"},
        {"table tab { key id\n", "index GSI%d (a%d)\n", 26, "}",
         "a table has at most 20 indexes and 5 local ones"},
        {"table tab { key id }\nentity E {\n id string\n id = 'x'", ", 'y%d'", 8, "}",
         "a key has at most 8 parts"},
        {"table tab { key id }\nentity E {\n id string\n", "k%d = 'x'\n", 300, "}",
         "an entity has no more keys than this"},
        {"table tab { key id }\nentity E {\n id string\n a string", "[]", 33, "}",
         "this nests too deeply"},
        {"// ", "lint: ignore L%d\n// ", 1001, "", "too many \"lint: ignore\" comments"},
        {"table ", "a", 256, " { key id }", "this name is longer than 255 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena;
        static struct diagnostics found;
        struct buf text;
        arena_init(&arena, 16 << 20);
        diagnostics_init(&found, &arena);
        buf_init(&text, 1 << 20);
        buf_text(&text, cases[i].before);
        repeat(&text, cases[i].repeated, cases[i].count);
        buf_text(&text, cases[i].after);
        assert_null(model_parse(SLICE_LIT("x"), buf_view(&text), &found));
        bool told = false;
        for (size_t k = 0; k < found.count; k++)
            told = told || strcmp(found.list[k].message, cases[i].message) == 0;
        if (!told)
            print_error("not told: %s (but %s)\n", cases[i].message, found.list[0].message);
        assert_true(told);
        buf_release(&text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_key_expressions),
        cmocka_unit_test(test_native_keys),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_access_details),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_suppressions),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_long_and_strange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
