// Which entity an item is of.
#include "guard/guard_support.h"

#include "guard/entity.h"

static const char source[] =
    "table shop { key PK, SK  type kind }\n"
    "entity User    { PK = \"USER#{id}\"  SK = \"META\"  id string  email string }\n"
    "entity Order   { PK = \"USER#{id}\"  SK = \"ORDER#{order}\"  id string  order number }\n"
    "entity Note    { PK = \"{owner}\"  SK = \"NOTE#{at}\"  owner string  at string  body string "
    "}\n"
    "entity Picture { PK = \"{owner}\"  SK = \"NOTE#{at}\"  owner string  at string  url url }\n"
    "entity Flag    as \"flag/1\" { PK = \"{owner}\"  SK = \"FLAG#{at}\"  owner string  at string  "
    "color \"red\" | \"green\" }\n"
    "entity Sign    { PK = \"{owner}\"  SK = \"FLAG#{at}\"  owner string  at string  "
    "color \"blue\" }\n";

static const struct {
    const char *item;
    const char *entity; // or NULL and the words
    const char *words;
} cases[] = {
    {"{\"PK\":\"USER#1\",\"SK\":\"META\"}", "User", ""},
    {"{\"PK\":\"USER#1\",\"SK\":\"ORDER#5\"}", "Order", ""},
    {"{\"kind\":\"User\"}", "User", ""},
    // The type attribute decides; whether the key is right is for others to say.
    {"{\"kind\":\"User\",\"PK\":\"x\",\"SK\":\"y\"}", "User", ""},
    {"{\"kind\":\"flag/1\"}", "Flag", ""},
    {"{\"kind\":\"Flag\"}", NULL, "kind is \"Flag\", which is no entity's"},
    {"{\"kind\":5}", NULL, "kind is 5, which is no entity's"},
    {"{\"PK\":\"x\",\"SK\":\"y\"}", NULL, "PK \"x\" and SK \"y\" can be no entity's"},
    {"{\"SK\":\"y\"}", NULL, "SK \"y\" can be no entity's"},
    // Without keys, by what only a client can give.
    {"{\"id\":\"1\",\"email\":\"e\"}", "User", ""},
    {"{\"PK\":\"o\",\"SK\":\"NOTE#1\",\"body\":\"b\"}", "Note", ""},
    {"{\"PK\":\"o\",\"SK\":\"NOTE#1\",\"url\":\"http://a\"}", "Picture", ""},
    {"{\"PK\":\"o\",\"SK\":\"NOTE#1\"}", NULL,
     "PK \"o\" and SK \"NOTE#1\" can be of Note and of Picture"},
    // By a value that only one of them may have.
    {"{\"PK\":\"o\",\"SK\":\"FLAG#1\",\"color\":\"blue\"}", "Sign", ""},
    {"{\"PK\":\"o\",\"SK\":\"FLAG#1\",\"color\":\"green\"}", "Flag", ""},
    {"{\"PK\":\"o\",\"SK\":\"FLAG#1\",\"color\":\"pink\"}", NULL,
     "PK \"o\" and SK \"FLAG#1\" can be of Flag and of Sign"},
    {"{}", NULL, "what it has can be of User and of Order and of 4 more"},
};

static void test_recognise(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice item = item_of(&fixture.arena, cases[i].item);
        struct model_recognition found = model_recognise(fixture.table, item);
        struct buf words;
        buf_init(&words, 4096);
        model_recognition_text(&found, fixture.table, item, &words);
        buf_byte(&words, 0);
        if ((found.entity != NULL) != (cases[i].entity != NULL) ||
            (found.entity != NULL && !slice_is(found.entity->name, cases[i].entity)) ||
            strcmp((const char *)words.ptr, cases[i].words) != 0)
            fail_msg("%s: %s %s", cases[i].item,
                     found.entity != NULL ? (const char *)found.entity->name.ptr : "none",
                     (const char *)words.ptr);
        assert_int_equal(found.doubt == MODEL_CERTAIN, found.entity != NULL);
        buf_release(&words);
    }
    fixture_release(&fixture);
}

static void test_by_key(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    const struct model_entity *list[1];
    struct slice key = item_of(&fixture.arena, "{\"PK\":\"o\",\"SK\":\"NOTE#1\"}");
    assert_int_equal(model_entities_of_key(fixture.table, key, list, 1), 2);
    assert_true(slice_is(list[0]->name, "Note"));
    key = item_of(&fixture.arena, "{\"PK\":\"USER#o\",\"SK\":\"META\"}");
    assert_int_equal(model_entities_of_key(fixture.table, key, list, 1), 1);
    assert_true(slice_is(list[0]->name, "User"));
    key = item_of(&fixture.arena, "{\"PK\":\"o\",\"SK\":\"META\"}");
    assert_int_equal(model_entities_of_key(fixture.table, key, list, 1), 0);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognise),
        cmocka_unit_test(test_by_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
