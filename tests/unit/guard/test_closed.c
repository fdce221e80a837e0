// What the guard must not let through: keys of indexes that an entity is not in, another entity for
// an item that is there, defaults for what was taken away, keys in another form.
#include "guard/guarded.h"

static const char model[] =
    "table apps {\n"
    "  key PK, SK\n"
    "  index GSI1 (GSI1PK, GSI1SK)  index GSI2 (GSI2PK, GSI2SK)\n"
    "  type kind\n"
    "}\n"
    "entity User {\n"
    "  PK = \"USER#{email}\"  SK = \"META\"\n"
    "  GSI1 = \"EMAIL\", \"{email}\"\n"
    "  email email lower\n"
    "  public boolean = true\n"
    "  since timestamp = now()\n"
    "  level string? = \"basic\"\n"
    "}\n"
    "entity Admin {\n"
    "  PK = \"USER#{email}\"  SK = \"META\"\n"
    "  GSI2 = \"ADMIN\", \"{email}\"\n"
    "  email email lower\n"
    "}\n"
    "entity Cache { PK = \"CACHE#{name}\"  SK = \"x\"  name string  GSI1SK string? }\n";

#define NOW               "2026-11-16T03:40:00.123Z"
#define USER(email, more) USER_OF("User", "true", email, more)
#define USER_OF(kind, public, email, more)                                                         \
    "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"" email "\",\"PK\":\"USER#" email                          \
    "\",\"SK\":\"META\",\"email\":\"" email "\",\"kind\":\"" kind                                  \
    "\",\"public\":" public ",\"since\":\"" NOW "\"" more "}"
#define CACHE(more) "{\"PK\":\"CACHE#a\",\"SK\":\"x\",\"kind\":\"Cache\",\"name\":\"a\"" more "}"
#define FOREIGN     ",\"GSI2PK\":\"ADMIN\",\"GSI2SK\":\"z\""

static void test_foreign_keys(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {PUT, NULL, CACHE(",\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"ada@x.y\""),
         "Entity Cache: /GSI1PK: expected nothing (Cache has no entry in GSI1), got \"EMAIL\""},
        {BATCH, NULL, CACHE(FOREIGN),
         "Entity Cache: /GSI2PK: expected nothing (Cache has no entry in GSI2), got \"ADMIN\"; "
         "/GSI2SK: expected nothing (Cache has no entry in GSI2), got \"z\""},
        {UPDATE, NULL, CACHE(",\"GSI2SK\":\"z\""),
         "Entity Cache: /GSI2SK: expected nothing (Cache has no entry in GSI2), got \"z\""},
        {UPDATE, CACHE(""), CACHE(",\"GSI2SK\":\"z\""),
         "Entity Cache: /GSI2SK: expected nothing (Cache has no entry in GSI2), got \"z\""},
        {PUT, CACHE(FOREIGN), CACHE(",\"GSI2PK\":\"OTHER\""),
         "Entity Cache: /GSI2PK: expected nothing (Cache has no entry in GSI2), got \"OTHER\""},
        // What is there since before the model goes with the next write, or with a backfill.
        {UPDATE, CACHE(FOREIGN), CACHE(FOREIGN), CACHE("")},
        {PUT, CACHE(FOREIGN), CACHE(FOREIGN), CACHE("")},
        {TOUCH, CACHE(FOREIGN), CACHE(FOREIGN), CACHE("")},
        // An attribute that the entity declares is its own, whatever index has its name.
        {PUT, NULL, CACHE(",\"GSI1SK\":\"mine\""),
         "{\"GSI1SK\":\"mine\",\"PK\":\"CACHE#a\",\"SK\":\"x\",\"kind\":\"Cache\",\"name\":\"a\"}"},
    };
    RUN(model, cases);
}

static void test_judged(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, model);
    struct slice item = item_of(&guarded.fixture.arena, CACHE(FOREIGN));
    const struct model_violations *found = model_guard_judge(guarded.guard, &guarded.arena, item);
    assert_non_null(found);
    assert_int_equal(found->count, 2);
    assert_true(slice_is(found->list[0].pointer, "/GSI2PK"));
    guarded_release(&guarded);
}

static void test_entity_stays(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {UPDATE, USER("a@b.de", ""), USER_OF("Admin", "true", "a@b.de", ""),
         "Entity User: /kind: expected \"User\" (an update does not change the entity), got "
         "\"Admin\""},
        {UPDATE, USER("a@b.de", ""), USER_OF("Nobody", "true", "a@b.de", ""),
         "No entity of table apps fits the item: kind is \"Nobody\", which is no entity's"},
        // A put is another item; an item of no entity may become one.
        {PUT, USER("a@b.de", ""), "{\"kind\":\"Admin\",\"email\":\"A@b.de\"}",
         "{\"GSI2PK\":\"ADMIN\",\"GSI2SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","
         "\"email\":\"a@b.de\",\"kind\":\"Admin\"}"},
        {UPDATE, USER_OF("Nobody", "true", "a@b.de", ""), USER("a@b.de", ",\"level\":\"x\""),
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","
         "\"email\":\"a@b.de\",\"kind\":\"User\",\"level\":\"x\",\"public\":true,\"since\":"
         "\"" NOW "\"}"},
    };
    RUN(model, cases);
    static const char native[] = "table shapes { key id }\n"
                                 "entity Round { id string  radius number }\n"
                                 "entity Square { id string  side number }\n";
    static const struct case_ told[] = {
        {UPDATE, "{\"id\":\"1\",\"radius\":1}", "{\"id\":\"1\",\"side\":1}",
         "Entity Round: expected an item of entity Round (an update does not change the entity), "
         "got \"Square\""},
    };
    RUN(native, told);
}

static void test_entity_warned(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, "table shapes { key id  type kind  guard warn }\n"
                           "entity Round { id string }\n"
                           "entity Square { id string }\n");
    static const char after[] = "{\"id\":\"1\",\"kind\":\"Square\"}";
    assert_string_equal(written(&guarded, UPDATE, "{\"id\":\"1\",\"kind\":\"Round\"}", after),
                        after);
    assert_true(slice_is(guarded.write.warnings,
                         "Entity Round: /kind: expected \"Round\" (an update does not change the "
                         "entity), got \"Square\""));
    guarded_release(&guarded);
}

#define OLD "2020-01-01T00:00:00.000Z"
#define PRIVATE                                                                                    \
    "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","          \
    "\"email\":\"a@b.de\",\"kind\":\"User\",\"public\":false,\"since\":\"" OLD "\"}"

static void test_defaults_are_for_new_items(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"kind\":\"User\",\"email\":\"a@b.de\"}",
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","
         "\"email\":\"a@b.de\",\"kind\":\"User\",\"level\":\"basic\",\"public\":true,\"since\":"
         "\"" NOW "\"}"},
        // A put that leaves it out keeps what is required, and drops what is optional.
        {PUT, PRIVATE, "{\"kind\":\"User\",\"email\":\"a@b.de\"}", PRIVATE},
        {BATCH, PRIVATE, "{\"kind\":\"User\",\"email\":\"a@b.de\"}", PRIVATE},
        // An update that takes it away is refused, if it is required.
        {UPDATE, PRIVATE,
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","
         "\"email\":\"a@b.de\",\"kind\":\"User\",\"since\":\"" OLD "\"}",
         "Entity User: /public: expected boolean, got nothing"},
        {UPDATE, USER("a@b.de", ",\"level\":\"x\""), USER("a@b.de", ""), USER("a@b.de", "")},
        // An item that is older than the attribute gets it.
        {UPDATE, "{\"PK\":\"USER#a@b.de\",\"SK\":\"META\",\"email\":\"a@b.de\",\"kind\":\"User\"}",
         "{\"PK\":\"USER#a@b.de\",\"SK\":\"META\",\"email\":\"a@b.de\",\"kind\":\"User\"}",
         USER("a@b.de", "")},
        // One of another entity is no old one.
        {PUT, "{\"PK\":\"USER#a@b.de\",\"SK\":\"META\",\"kind\":\"Admin\",\"email\":\"a@b.de\"}",
         "{\"kind\":\"User\",\"email\":\"a@b.de\",\"level\":\"x\"}",
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#a@b.de\",\"SK\":\"META\","
         "\"email\":\"a@b.de\",\"kind\":\"User\",\"level\":\"x\",\"public\":true,\"since\":"
         "\"" NOW "\"}"},
    };
    RUN(model, cases);
}

static void test_keys_have_normal_forms(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {UPDATE, NULL, "{\"PK\":\"USER#Eve@x.org\",\"SK\":\"META\",\"kind\":\"User\"}",
         "Entity User: /PK: expected \"USER#eve@x.org\", got \"USER#Eve@x.org\""},
        {PUT, NULL, "{\"PK\":\"USER#Eve@x.org\",\"SK\":\"META\",\"kind\":\"User\"}",
         "Entity User: /PK: expected \"USER#eve@x.org\", got \"USER#Eve@x.org\""},
    };
    RUN(model, cases);
}

static void test_null_is_absent(void **state)
{
    (void)state;
    static const char text[] =
        "table things { key id  index byMail (mail) for all  index GSI1 (P, S)  type kind }\n"
        "entity E {\n"
        "  id string  GSI1 = \"N#{nick}\", \"{id}\"\n"
        "  mail email?  nick string?  name string?!  still number? immutable\n"
        "  inner { a: string?  b: string?! }?  must string | null  had string? = \"x\" }\n";
#define THING(more) "{\"id\":\"1\",\"kind\":\"E\",\"must\":null" more "}"
    static const struct case_ cases[] = {
        // Null is kept, and means what absence means: no entry in an index, no default.
        {PUT, NULL, THING(",\"had\":null,\"inner\":{\"a\":null},\"nick\":null"),
         "{\"had\":null,\"id\":\"1\",\"inner\":{\"a\":null},\"kind\":\"E\",\"must\":null,\"nick\":"
         "null}"},
        {UPDATE,
         "{\"P\":\"N#a\",\"S\":\"1\",\"id\":\"1\",\"kind\":\"E\",\"must\":null,\"nick\":\"a\"}",
         "{\"P\":\"N#a\",\"S\":\"1\",\"id\":\"1\",\"kind\":\"E\",\"must\":null,\"nick\":null}",
         THING(",\"nick\":null")},
        // Where it would be the key of an index, it cannot be stored.
        {PUT, NULL, THING(",\"had\":\"y\",\"mail\":null"),
         "{\"had\":\"y\",\"id\":\"1\",\"kind\":\"E\",\"must\":null}"},
        // The strict form, also inside of objects.
        {PUT, NULL, THING(",\"inner\":{\"b\":null},\"name\":null"),
         "Entity E: /name: expected string, got null; /inner/b: expected string, got null"},
        // What is required is there, and null if its type says so.
        {PUT, NULL, "{\"id\":null,\"kind\":\"E\"}",
         "Entity E: /id: expected string, got null; /must: expected string | null, got nothing"},
        // Nothing was there before.
        {UPDATE, THING(",\"still\":null"), THING(",\"still\":5"), THING(",\"still\":5")},
        {UPDATE, THING(",\"still\":5"), THING(",\"still\":null"),
         "Entity E: /still: expected 5 (it is immutable), got null"},
    };
    RUN(text, cases);
}

static void test_times_have_one_form(void **state)
{
    (void)state;
    static const char text[] =
        "table logs { key id  index GSI1 (P, S) }\n"
        "entity E {\n"
        "  id string  GSI1 = \"ALL\", \"{at}\"\n"
        "  at timestamp?  second timestamp(seconds)?  micro timestamp(microseconds)?\n"
        "  free timestamp(any)?  list timestamp[]?  inner { at: timestamp(seconds) }?\n"
        "  either timestamp | epoch?  made timestamp(seconds)? = at + 1h }\n";
#define LOG(more)       "{\"id\":\"1\"" more "}"
#define KEYED(at, more) "{\"P\":\"ALL\",\"S\":\"" at "\",\"at\":\"" at "\"" more
    static const struct case_ cases[] = {
        {PUT, NULL, LOG(",\"at\":\"2026-11-16T10:00:00+02:00\",\"made\":null"),
         KEYED("2026-11-16T08:00:00.000Z", ",\"id\":\"1\",\"made\":null}")},
        {PUT, NULL, LOG(",\"at\":\"2026-11-16T08:00:00.123456Z\""),
         KEYED("2026-11-16T08:00:00.123Z", ",\"id\":\"1\",\"made\":\"2026-11-16T09:00:00Z\"}")},
        {PUT, NULL, LOG(",\"second\":\"2026-12-31T23:30:00.9-01:00\""),
         LOG(",\"second\":\"2027-01-01T00:30:00Z\"")},
        {PUT, NULL, LOG(",\"micro\":\"2026-12-31T23:30Z\""),
         LOG(",\"micro\":\"2026-12-31T23:30:00.000000Z\"")},
        {PUT, NULL, LOG(",\"free\":\"2026-12-31T23:30+01:00\""),
         "{\"free\":\"2026-12-31T23:30+01:00\",\"id\":\"1\"}"},
        {PUT, NULL, LOG(",\"inner\":{\"at\":\"2026-12-31T23:30:00.5Z\"}"),
         LOG(",\"inner\":{\"at\":\"2026-12-31T23:30:00Z\"}")},
        {PUT, NULL, "{\"either\":\"2026-01-01T00:00Z\",\"id\":\"1\"}",
         "{\"either\":\"2026-01-01T00:00:00.000Z\",\"id\":\"1\"}"},
        {PUT, NULL, "{\"either\":5,\"id\":\"1\"}", "{\"either\":5,\"id\":\"1\"}"},
        // In a list it has to come in its form; and what is no time is none.
        {PUT, NULL, LOG(",\"list\":[\"2026-12-31T23:30:00Z\"]"),
         "Entity E: /list/0: expected timestamp, got \"2026-12-31T23:30:00Z\""},
        {PUT, NULL, LOG(",\"second\":\"2026-12-31\""),
         "Entity E: /second: expected timestamp(seconds), got \"2026-12-31\""},
        // The year 0 in UTC is none.
        {PUT, NULL, LOG(",\"at\":\"0000-01-01T00:00:00+01:00\""),
         "Entity E: /at: expected timestamp, got \"0000-01-01T00:00:00+01:00\""},
    };
    RUN(text, cases);
}

#define ROW(pk, sk, more) "{\"PK\":\"" pk "\",\"SK\":\"" sk "\"," more "}"

static void test_separators_are_forbidden(void **state)
{
    (void)state;
    static const char text[] =
        "table jobs { key PK, SK  index GSI1 (P, S)  separator \"#\" forbid }\n"
        "entity J {\n"
        "  PK = \"U#{user}\"  SK = \"S#{state}#{n}\"\n"
        "  GSI1 = \"{tag}\", \"N#{note:raw}\"\n"
        "  user string  state string  n number  note string?  tag string?  part { x: string }? }\n";
#define J(user, state, more) "{\"user\":\"" user "\",\"state\":\"" state "\",\"n\":1" more "}"
    static const struct case_ cases[] = {
        {PUT, NULL, J("a", "X#Y", ""),
         "Entity J: /state: expected text without \"#\", which separates the parts of SK, got "
         "\"X#Y\""},
        {PUT, NULL, J("a#X", "Y", ""),
         "Entity J: /user: expected text without \"#\", which separates the parts of PK, got "
         "\"a#X\""},
        // What says so itself may have it, and what stands alone separates nothing.
        {PUT, NULL, J("a", "Y", ",\"note\":\"c#\",\"tag\":\"#1\""),
         "{\"P\":\"#1\",\"PK\":\"U#a\",\"S\":\"N#c#\",\"SK\":\"S#Y#1\",\"n\":1,\"note\":\"c#\","
         "\"state\":\"Y\",\"tag\":\"#1\",\"user\":\"a\"}"},
        // A key is read as it was made.
        {PUT, NULL, ROW("U#a", "S#b#2", "\"n\":2"),
         ROW("U#a", "S#b#2", "\"n\":2,\"state\":\"b\",\"user\":\"a\"")},
    };
    RUN(text, cases);
    static const char fields[] =
        "table jobs { key id  index GSI1 (P, S) }\n"
        "entity J { id string  GSI1 = \"{a:forbid}#{b:escape}\", \"{id}\"\n"
        "  a string?  b string? }\n";
    static const struct case_ indexed[] = {
        {UPDATE, "{\"id\":\"1\"}", "{\"a\":\"x#\",\"b\":\"y\",\"id\":\"1\"}",
         "Entity J: /a: expected text without \"#\", which separates the parts of P, got \"x#\""},
        {PUT, NULL, "{\"a\":\"x\",\"b\":\"y#\",\"id\":\"1\"}",
         "{\"P\":\"x#y%23\",\"S\":\"1\",\"a\":\"x\",\"b\":\"y#\",\"id\":\"1\"}"},
    };
    RUN(fields, indexed);
    // Also where something else is done to the text, or stands in its place.
    static const char changed[] =
        "table jobs { key id  index GSI1 (P, S)  separator \"#\" forbid }\n"
        "entity J { id string  GSI1 = \"A#{a ?? b}\", \"B#{b:lower}\"  a string?  b string? }\n";
    static const struct case_ refused[] = {
        {PUT, NULL, "{\"a\":\"x#\",\"b\":\"y\",\"id\":\"1\"}",
         "Entity J: /a: expected text without \"#\", which separates the parts of P, got \"x#\""},
        {UPDATE, "{\"id\":\"1\"}", "{\"a\":\"x\",\"b\":\"Y#\",\"id\":\"1\"}",
         "Entity J: /b: expected text without \"#\", which separates the parts of S, got \"y#\""},
    };
    RUN(changed, refused);
}

static void test_separators_are_escaped(void **state)
{
    (void)state;
    static const char text[] =
        "table jobs { key PK, SK  separator \"::\" escape }\n"
        "entity J { PK = \"U::{user}::{n}\"  SK = \"{state}::x\"  user string  state string\n"
        "  n number }\n";
    static const struct case_ cases[] = {
        {PUT, NULL, J("a::1%:", "b", ""),
         ROW("U::a%3A%3A1%25%3A::1", "b::x", "\"n\":1,\"state\":\"b\",\"user\":\"a::1%:\"")},
        // And back.
        {PUT, NULL, "{\"PK\":\"U::a%3A%3A1%25%3A::1\",\"SK\":\"b::x\"}",
         ROW("U::a%3A%3A1%25%3A::1", "b::x", "\"n\":1,\"state\":\"b\",\"user\":\"a::1%:\"")},
        {PUT, NULL, "{\"PK\":\"U::a%3::1\",\"SK\":\"b::x\"}",
         "Entity J: /user: expected string, got nothing; /n: expected number, got nothing"},
    };
    RUN(text, cases);
}

static void test_fixed(void **state)
{
    (void)state;
    static const char text[] =
        "table pays { key id  index GSI1 (P, S)  index GSI2 (P2, rank number) }\n"
        "entity P { id string  GSI1 = \"ALL\", \"{sum:fixed(2):pad(23)}#{id}\"\n"
        "  GSI2 = \"RANKS\", rank\n"
        "  sum number  rank number?  whole string? = fixed(sum, 0) }\n";
#define PAY(sum, sort, whole)                                                                      \
    {                                                                                              \
        PUT, NULL, "{\"id\":\"i\",\"sum\":" sum "}",                                               \
            "{\"P\":\"ALL\",\"S\":\"" sort "#i\",\"id\":\"i\",\"sum\":" sum ",\"whole\":\"" whole  \
            "\"}"                                                                                  \
    }
    static const struct case_ cases[] = {
        PAY("0", "00000000000000000000.00", "0"),
        PAY("12.5", "00000000000000000012.50", "13"),
        PAY("9.995", "00000000000000000010.00", "10"),
        PAY("0.004", "00000000000000000000.00", "0"),
        PAY("99999999999999999999.99", "99999999999999999999.99", "100000000000000000000"),
        PAY("-0.001", "00000000000000000000.00", "0"),
        PAY("-1.005", "000000000000000000-1.01", "-1"),
        // A number stays one as the key of an index.
        {PUT, NULL, "{\"id\":\"i\",\"rank\":7,\"sum\":1,\"whole\":\"w\"}",
         "{\"P\":\"ALL\",\"P2\":\"RANKS\",\"S\":\"00000000000000000001.00#i\",\"id\":\"i\","
         "\"rank\":7,\"sum\":1,\"whole\":\"w\"}"},
    };
    RUN(text, cases);
}

#define X100                                                                                       \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
    "xxxxxxxx"
#define X1000 X100 X100 X100 X100 X100 X100 X100 X100 X100 X100

// A key that would be too long is a violation, which a backfill counts and an apply foresees.
static void test_long_keys(void **state)
{
    (void)state;
    static const char text[] = "table tab { key P  index GSI1 (A, B) }\n"
                               "entity E { P = \"E#{id}\"  GSI1 = \"{b}\", \"{a}#{b}\"\n"
                               "  id string  a string?  b string? }\n";
    static const struct {
        enum way way;
        const char *before, *after, *begins;
    } cases[] = {
        {PUT, NULL, "{\"id\":\"" X1000 X1000 X100 "\"}",
         "Entity E: /id: expected a shorter value, as P, which is made of it, has at most 2048 "
         "bytes"},
        {PUT, NULL, "{\"a\":\"1\",\"b\":\"" X1000 X100 "\",\"id\":\"i\"}",
         "Entity E: /b: expected a shorter value, as B, which is made of it, has at most 1024 "
         "bytes"},
        {UPDATE, "{\"P\":\"E#i\",\"id\":\"i\"}",
         "{\"P\":\"E#i\",\"a\":\"" X1000 X100 "\",\"b\":\"1\",\"id\":\"i\"}",
         "Entity E: /a: expected a shorter value, as B, which is made of it, has at most 1024 "
         "bytes"},
        // Without the other part there is no entry.
        {PUT, NULL, "{\"a\":\"" X1000 X100 "\",\"id\":\"i\"}", "{\"P\":\"E#i\",\"a\":\"xx"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct guarded guarded;
        guarded_init(&guarded, text);
        const char *made = written(&guarded, cases[i].way, cases[i].before, cases[i].after);
        if (strncmp(made, cases[i].begins, strlen(cases[i].begins)) != 0)
            fail_msg("%s", made);
        guarded_release(&guarded);
    }
}

// Keys that are numbers: counted natively, copied, or made by an expression.
static void test_number_keys(void **state)
{
    (void)state;
    static const char text[] = "table media { key id  index GSI1 (P1, S1 number)\n"
                               "  index GSI2 (P2, S2)  index GSI3 (P3, S3) }\n"
                               "entity A { id string  P1 = \"POPULAR\"  S1 number = 0\n"
                               "  GSI2 = \"LIKED\", likes ?? 0  GSI3 = \"BOTH\", likes + views\n"
                               "  likes number?  views number? }\n";
#define MEDIA(popular, liked, more)                                                                \
    "{\"P1\":\"POPULAR\",\"P2\":\"LIKED\"" more "\"S1\":" popular ",\"S2\":" liked
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"id\":\"i\"}", MEDIA("0", "0", ",") ",\"id\":\"i\"}"},
        {PUT, NULL, "{\"S1\":7.5,\"S2\":3.0,\"id\":\"i\",\"likes\":3,\"views\":-1}",
         MEDIA("7.5", "3", ",\"P3\":\"BOTH\",") ",\"S3\":2,\"id\":\"i\",\"likes\":3,\"views\":-1}"},
        // What it is made of changes, and it follows; the native one is the client's.
        {UPDATE, MEDIA("1", "3", ",") ",\"id\":\"i\",\"likes\":3}",
         MEDIA("2", "3", ",") ",\"id\":\"i\",\"likes\":4,\"views\":5}",
         MEDIA("2", "4", ",\"P3\":\"BOTH\",") ",\"S3\":9,\"id\":\"i\",\"likes\":4,\"views\":5}"},
        {UPDATE, MEDIA("2", "4", ",") ",\"id\":\"i\",\"likes\":4}",
         MEDIA("2", "4", ",") ",\"id\":\"i\"}", MEDIA("2", "0", ",") ",\"id\":\"i\"}"},
        {TOUCH, "{\"id\":\"i\",\"likes\":4}", "{\"id\":\"i\",\"likes\":4}",
         MEDIA("0", "4", ",") ",\"id\":\"i\",\"likes\":4}"},
        {PUT, NULL, "{\"S1\":\"7\",\"id\":\"i\"}", "Entity A: /S1: expected number, got \"7\""},
        {PUT, NULL, "{\"S2\":1,\"id\":\"i\"}", "Entity A: /S2: expected 0, got 1"},
        {PUT, NULL, "{\"S2\":\"0\",\"id\":\"i\"}", "Entity A: /S2: expected 0, got \"0\""},
        {PUT, NULL, "{\"S3\":1,\"id\":\"i\"}", "Entity A: /S3: expected nothing, got 1"},
        {UPDATE, MEDIA("2", "0", ",") ",\"id\":\"i\"}", MEDIA("2", "1", ",") ",\"id\":\"i\"}",
         "Entity A: /S2: expected 0, got 1"},
    };
    RUN(text, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_keys),
        cmocka_unit_test(test_judged),
        cmocka_unit_test(test_entity_stays),
        cmocka_unit_test(test_entity_warned),
        cmocka_unit_test(test_defaults_are_for_new_items),
        cmocka_unit_test(test_keys_have_normal_forms),
        cmocka_unit_test(test_null_is_absent),
        cmocka_unit_test(test_times_have_one_form),
        cmocka_unit_test(test_separators_are_forbidden),
        cmocka_unit_test(test_separators_are_escaped),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_long_keys),
        cmocka_unit_test(test_number_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
