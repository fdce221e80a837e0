// Templates: rendering keys out of items, and reading attributes back out of keys.
#include "guard/guard_support.h"

#include "eval/template.h"

// Each index has one template to be tested, by the name of its key.
static const char source[] =
    "table things { key PK  index Ix1 (k1) index Ix2 (k2) index Ix3 (k3) index Ix4 (k4)\n"
    "  index Ix5 (k5) index Ix6 (k6) index Ix7 (k7 number) index Ix8 (k8) index Ix9 (k9)\n"
    "}\n"
    "entity Thing {\n"
    "  PK = \"T#{id}\"\n"
    "  k1 = \"A#{name}#{count}\"\n"
    "  k2 = \"{count:pad(6)}#{id}\"\n"
    "  k3 = \"{name:lower}|{id}\"\n"
    "  k4 = \"{name}{id}#X\"\n"
    "  k5 = \"{flag}#{inner.seed}#END\"\n"
    "  k6 = \"CONSTANT\"\n"
    "  k7 = count\n"
    "  k8 = \"{day ?? 'none'}#{id}\"\n"
    "  k9 = \"{name:pad(8)}#{id}\"\n"
    "  id string\n"
    "  name string?\n"
    "  count number?\n"
    "  flag boolean?\n"
    "  day date?\n"
    "  inner { seed: number? }?\n"
    "}\n";

static const struct model_template *template_of(const struct fixture *fixture, const char *key)
{
    const struct model_entity *entity = &fixture->table->entities[0];
    if (strcmp(key, "PK") == 0)
        return entity->keys[0].template;
    for (size_t i = 0; i < entity->entry_count; i++)
        if (slice_is(entity->entries[i].parts[0].name, key))
            return entity->entries[i].parts[0].template;
    fail_msg("no key %s", key);
    return NULL;
}

static enum value_type type_of(const struct fixture *fixture, const char *key)
{
    for (size_t i = 0; i < fixture->table->index_count; i++)
        if (slice_is(fixture->table->indexes[i].keys.parts[0].name, key))
            return fixture->table->indexes[i].keys.parts[0].type;
    return VALUE_S;
}

static void test_render(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *item;
        const char *expected; // NULL: no entry
    } cases[] = {
        {"PK", "{\"id\":\"7\"}", "\"T#7\""},
        {"PK", "{}", NULL},
        {"PK", "{\"id\":null}", NULL},
        {"k1", "{\"name\":\"n\",\"count\":1.0}", "\"A#n#1\""},
        {"k1", "{\"name\":\"n\"}", NULL},
        {"k2", "{\"count\":42,\"id\":\"x\"}", "\"000042#x\""},
        {"k3", "{\"name\":\"AB\",\"id\":\"x\"}", "\"ab|x\""},
        {"k5", "{\"flag\":false,\"inner\":{\"seed\":3}}", "\"false#3#END\""},
        {"k6", "{}", "\"CONSTANT\""},
        {"k7", "{\"count\":12}", "12"},
        {"k7", "{\"count\":\"12\"}", NULL},
        {"k8", "{\"id\":\"x\"}", "\"none#x\""},
        {"k8", "{\"id\":\"x\",\"day\":\"2026-01-01\"}", "\"2026-01-01#x\""},
        {"k9", "{\"id\":\"x\",\"name\":\"ab\"}", "\"000000ab#x\""},
    };
    struct fixture fixture;
    struct buf scratch;
    fixture_init(&fixture, source);
    buf_init(&scratch, 4096);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct model_scope scope = {.item = item_of(&fixture.arena, cases[i].item),
                                    .entity = &fixture.table->entities[0],
                                    .arena = &fixture.arena};
        struct slice value = VALUE_NONE;
        enum eval_status status =
            model_template_value(template_of(&fixture, cases[i].key), &scope,
                                 type_of(&fixture, cases[i].key), &scratch, &value);
        const char *expected = cases[i].expected != NULL ? cases[i].expected : "nothing";
        if (strcmp(text_of(&fixture.arena, value), expected) != 0)
            fail_msg("%s of %s: %s", cases[i].key, cases[i].item, text_of(&fixture.arena, value));
        assert_int_equal(status, cases[i].expected != NULL ? EVAL_OK : EVAL_MISSING);
    }
    buf_release(&scratch);
    fixture_release(&fixture);
}

// What a key gives, as name=value; in one text, or NULL if it does not match.
static const char *read_key(struct fixture *fixture, const char *key, const char *text)
{
    struct slice item = item_of(&fixture->arena, arena_printf(&fixture->arena, "{\"k\":%s}", text));
    struct slice value = value_get(item, slice_str("k"));
    const struct model_template *template = template_of(fixture, key);
    struct model_match match;
    bool matches = model_template_match(template, value, &fixture->arena, &match);
    if (matches)
        assert_true(model_template_fits(template, value));
    if (!matches)
        return NULL;
    const char *all = "";
    for (size_t i = 0; i < match.count; i++) {
        const struct model_expr *path = match.fields[i].path;
        all = arena_printf(&fixture->arena, "%s%s%.*s=%s", all, i > 0 ? " " : "",
                           SLICE_FMT(path->steps[path->step_count - 1]),
                           text_of(&fixture->arena, match.fields[i].value));
        assert_non_null(all);
    }
    return all;
}

static void test_match(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *text;
        const char *expected;
    } cases[] = {
        {"PK", "\"T#7\"", "id=\"7\""},
        {"PK", "\"T#a#b\"", "id=\"a#b\""}, // the last field takes the rest
        {"PK", "\"T#\"", NULL},            // fields are not empty
        {"PK", "\"U#7\"", NULL},
        {"PK", "\"T\"", NULL},
        {"k1", "\"A#n#12\"", "name=\"n\" count=12"},
        {"k1", "\"A#n#m#12\"", NULL}, // the first one stops at the first literal
        {"k1", "\"A#n#x\"", NULL},    // no number
        {"k1", "\"A##12\"", NULL},
        {"k2", "\"000042#x\"", "count=42 id=\"x\""},
        {"k3", "\"ab|x\"", "id=\"x\""}, // lower() cannot be undone
        {"k4", "\"abc#X\"", ""},        // where one field ends, nobody knows
        {"k4", "\"abc\"", NULL},
        {"k5", "\"true#3#END\"", "flag=true seed=3"},
        {"k5", "\"maybe#3#END\"", NULL},
        {"k5", "\"true#3#END#END\"", NULL},
        {"k6", "\"CONSTANT\"", ""},
        {"k6", "\"CONSTANTS\"", NULL},
        {"k7", "12", "count=12"},
        {"k8", "\"none#x\"", "id=\"x\""}, // a fallback may have been taken
        {"k9", "\"000000ab#x\"", "id=\"x\""},
    };
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = read_key(&fixture, cases[i].key, cases[i].text);
        const char *expected = cases[i].expected;
        if ((found == NULL) != (expected == NULL) ||
            (found != NULL && strcmp(found, expected) != 0))
            fail_msg("%s out of %s: %s", cases[i].key, cases[i].text,
                     found != NULL ? found : "no match");
    }
    fixture_release(&fixture);
}

// A literal at the end belongs to the end, wherever else it occurs.
static void test_last_literal(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, "table things { key PK }\n"
                           "entity E { PK = \"A#{x}#B\"  x string }\n");
    assert_string_equal(read_key(&fixture, "PK", "\"A#1#B#B\""), "x=\"1#B\"");
    assert_null(read_key(&fixture, "PK", "\"A##B\""));
    assert_null(read_key(&fixture, "PK", "\"A#B\""));
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_render),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_last_literal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
