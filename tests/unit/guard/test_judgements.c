// Rules of an entity that are judged by the old and the new image of an item: each case is a
// write, and what is stored or said.
#include "guard/guarded.h"

#include "guard/access.h"
#include "guard/entity.h"

// ---- Computed ---------------------------------------------------------------------------------

static const char computed[] = "table things { key id }\n"
                               "entity Line {\n"
                               "  id string\n"
                               "  grand number? = total + tax always\n"
                               "  price number\n"
                               "  count number = 1\n"
                               "  total number = price * count always\n"
                               "  tax number?\n"
                               "  label string? = \"<{note}>\" always  lower\n"
                               "  note string?\n"
                               "}\n";

static void test_computed(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"a\",\"price\":3}",
         "{\"count\":1,\"id\":\"a\",\"price\":3,\"total\":3}"},
        {PUT, NULL, "{\"id\":\"a\",\"price\":3,\"count\":4,\"tax\":1,\"note\":\"X\"}",
         "{\"count\":4,\"grand\":13,\"id\":\"a\",\"label\":\"<x>\",\"note\":\"X\",\"price\":3,"
         "\"tax\":1,\"total\":12}"},
        // What a client says has to be so.
        {PUT, NULL, "{\"id\":\"a\",\"price\":3,\"count\":4,\"total\":12}",
         "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}"},
        {PUT, NULL, "{\"id\":\"a\",\"price\":3,\"count\":4,\"total\":13}",
         "Entity Line: /total: expected 12 (it is computed), got 13"},
        {PUT, NULL, "{\"id\":\"a\",\"price\":3,\"grand\":1}",
         "Entity Line: /grand: expected nothing (it is computed), got 1"},
        // An update leaves it as it was: it follows. So does a put of what was read.
        {UPDATE, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}",
         "{\"count\":5,\"id\":\"a\",\"price\":3,\"total\":12}",
         "{\"count\":5,\"id\":\"a\",\"price\":3,\"total\":15}"},
        {PUT, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}",
         "{\"count\":5,\"id\":\"a\",\"price\":3,\"total\":12}",
         "{\"count\":5,\"id\":\"a\",\"price\":3,\"total\":15}"},
        {UPDATE, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}",
         "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":14}",
         "Entity Line: /total: expected 12 (it is computed), got 14"},
        // A put keeps the default that was given, and what is computed of it.
        {PUT, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}", "{\"id\":\"a\",\"price\":5}",
         "{\"count\":4,\"id\":\"a\",\"price\":5,\"total\":20}"},
        // What it is made of has gone, so it goes.
        {UPDATE, "{\"count\":1,\"grand\":4,\"id\":\"a\",\"price\":3,\"tax\":1,\"total\":3}",
         "{\"count\":1,\"grand\":4,\"id\":\"a\",\"price\":3,\"total\":3}",
         "{\"count\":1,\"id\":\"a\",\"price\":3,\"total\":3}"},
        // A backfill computes.
        {TOUCH, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":1}",
         "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":1}",
         "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}"},
    };
    RUN(computed, rows);
}

// What depends on the moment is made anew by each write, but not by a backfill, which would never
// end.
static void test_momentary(void **state)
{
    (void)state;
    static const char source[] = "table things { key id }\n"
                                 "entity Line {\n"
                                 "  id string\n"
                                 "  seen timestamp = now() always\n"
                                 "  token uuid = uuid() always\n"
                                 "  text string = \"at {now()}\" always\n"
                                 "  label string = \"<{id}>\" always\n"
                                 "}\n";
#define OLD                                                                                        \
    "{\"id\":\"a\",\"label\":\"<a>\",\"seen\":\"2020-01-01T00:00:00.000Z\",\"text\":\"x\","        \
    "\"token\":\"7f0c6d1e-3a52-4c6b-9e0a-1f2d3c4b5a69\"}"
    static const struct case_ rows[] = {
        {TOUCH, OLD, OLD, OLD},
        {TOUCH,
         "{\"id\":\"a\",\"label\":\"<b>\",\"seen\":\"2020-01-01T00:00:00.000Z\",\"text\":\"x\","
         "\"token\":\"7f0c6d1e-3a52-4c6b-9e0a-1f2d3c4b5a69\"}",
         "{\"id\":\"a\",\"label\":\"<b>\",\"seen\":\"2020-01-01T00:00:00.000Z\",\"text\":\"x\","
         "\"token\":\"7f0c6d1e-3a52-4c6b-9e0a-1f2d3c4b5a69\"}",
         OLD},
        {PUT, OLD, "{\"id\":\"a\",\"seen\":\"2019-01-01T00:00:00.000Z\"}",
         "Entity Line: /seen: expected \"2026-11-16T03:40:00.123Z\" (it is computed), got "
         "\"2019-01-01T00:00:00.000Z\""},
    };
    RUN(source, rows);
    struct guarded guarded;
    guarded_init(&guarded, source);
    const char *got = written(&guarded, UPDATE, OLD, OLD);
    assert_non_null(strstr(got, "\"seen\":\"2026-11-16T03:40:00.123Z\",\"text\":\"at 2026"));
    assert_null(strstr(got, "7f0c6d1e"));
    const struct model_violations *found =
        model_guard_judge(guarded.guard, &guarded.arena, item_of(&guarded.fixture.arena, OLD));
    assert_int_equal(found->count, 0);
    guarded_release(&guarded);
}

// Who writes is known to the writer alone: what was prepared without it is not settled.
static void test_actor(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, "table things { key id }\n"
                           "entity Line {\n"
                           "  id string\n"
                           "  owner string? = actor()\n"
                           "  last string? = \"{actor()} by {operation()}\" always\n"
                           "}\n");
    struct write_origin origin = {.principal = SLICE_LIT("ada"), .operation = SLICE_LIT("PutItem")};
    struct slice item = item_of(&guarded.fixture.arena, "{\"id\":\"a\"}");
    struct guard_write write = {.is_put = true,
                                .prepared = true,
                                .origin = &origin,
                                .env = &guarded.fixture.env,
                                .arena = &guarded.arena};
    error_init(&guarded.error, &guarded.fixture.arena);
    assert_true(model_guard_prepare(guarded.guard, &guarded.fixture.env, &guarded.arena, NULL,
                                    &item, &write.settled, &guarded.error));
    write.after = item;
    assert_true(guarded.guard->ops->write(guarded.guard, &write, &guarded.error));
    assert_string_equal(text_of(&guarded.fixture.arena, write.after),
                        "{\"id\":\"a\",\"last\":\"ada by PutItem\",\"owner\":\"ada\"}");
    guarded_release(&guarded);
}

// ---- Checks -----------------------------------------------------------------------------------

static const char checks[] = "table things { key id }\n"
                             "entity Event {\n"
                             "  id string\n"
                             "  startsAt timestamp?\n"
                             "  endsAt timestamp?\n"
                             "  seats number?\n"
                             "  taken number?\n"
                             "  kind string?\n"
                             "  check endsAt > startsAt \"ends before it starts\"\n"
                             "  check taken <= seats or kind = \"open\"\n"
                             "}\n";

static void test_checks(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {PUT, NULL,
         "{\"id\":\"a\",\"startsAt\":\"2026-11-16T10:00:00.000Z\",\"endsAt\":\"2026-11-16T09:00:00."
         "000Z\"}",
         "Entity Event: /endsAt: expected endsAt > startsAt (ends before it starts), got "
         "\"2026-11-16T09:00:00.000Z\""},
        {PUT, NULL, "{\"endsAt\":\"2026-11-16T09:00:00.000Z\",\"id\":\"a\"}",
         "{\"endsAt\":\"2026-11-16T09:00:00.000Z\",\"id\":\"a\"}"},
        // The kind that is missing might be the right one.
        {PUT, NULL, "{\"id\":\"a\",\"seats\":3,\"taken\":4}",
         "{\"id\":\"a\",\"seats\":3,\"taken\":4}"},
        {PUT, NULL, "{\"id\":\"a\",\"kind\":\"closed\",\"seats\":3,\"taken\":4}",
         "Entity Event: /taken: expected taken <= seats or kind = \"open\", got 4"},
        {PUT, NULL, "{\"id\":\"a\",\"kind\":\"open\",\"seats\":3,\"taken\":4}",
         "{\"id\":\"a\",\"kind\":\"open\",\"seats\":3,\"taken\":4}"},
        {UPDATE, "{\"id\":\"a\",\"kind\":\"x\",\"seats\":3,\"taken\":3}",
         "{\"id\":\"a\",\"kind\":\"x\",\"seats\":2,\"taken\":3}",
         "Entity Event: /taken: expected taken <= seats or kind = \"open\", got 3"},
        // A backfill leaves what it cannot mend.
        {TOUCH, "{\"id\":\"a\",\"kind\":\"x\",\"seats\":2,\"taken\":3}",
         "{\"id\":\"a\",\"kind\":\"x\",\"seats\":2,\"taken\":3}",
         "{\"id\":\"a\",\"kind\":\"x\",\"seats\":2,\"taken\":3}"},
    };
    RUN(checks, rows);
}

// What an entity takes from mixins is judged as its own.
static void test_mixins(void **state)
{
    (void)state;
    static const char source[] =
        "table things { key pk, sk  index GSI1 (g1pk, g1sk) }\n"
        "mixin Dated {\n"
        "  starts number\n"
        "  ends number?\n"
        "  state string = \"a\"\n"
        "  gone timestamp?\n"
        "  length number? = ends - starts always\n"
        "  check ends > starts \"turned\"\n"
        "  moves state: \"a\" -> \"b\"\n"
        "  softdelete gone\n"
        "}\n"
        "entity Job with Dated {\n"
        "  pk = \"J#{id}\"  sk = \"x\"\n"
        "  GSI1 = \"S#{state}\", \"{id}\" when gone missing\n"
        "  unique (id, state)\n"
        "  id string\n"
        "}\n"
        "entity Trip with Dated { pk = \"T#{id}\"  sk = \"x\"  id string }\n";
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"1\",\"pk\":\"J#1\",\"sk\":\"x\",\"starts\":2,\"ends\":5}",
         "{\"ends\":5,\"g1pk\":\"S#a\",\"g1sk\":\"1\",\"id\":\"1\",\"length\":3,\"pk\":\"J#1\","
         "\"sk\":\"x\",\"starts\":2,\"state\":\"a\"}"},
        {PUT, NULL, "{\"id\":\"1\",\"pk\":\"J#1\",\"sk\":\"x\",\"starts\":2,\"ends\":1}",
         "Entity Job: /ends: expected ends > starts (turned), got 1"},
        {PUT, NULL, "{\"id\":\"1\",\"pk\":\"T#1\",\"sk\":\"x\",\"starts\":2,\"ends\":1}",
         "Entity Trip: /ends: expected ends > starts (turned), got 1"},
        {PUT, NULL, "{\"id\":\"1\",\"pk\":\"T#1\",\"sk\":\"x\",\"starts\":2,\"state\":\"b\"}",
         "Entity Trip: /state: expected \"a\" (a new item begins with it), got \"b\""},
        {UPDATE, "{\"id\":\"1\",\"pk\":\"T#1\",\"sk\":\"x\",\"starts\":2,\"state\":\"b\"}", NULL,
         "{\"gone\":\"2026-11-16T03:40:00.123Z\",\"id\":\"1\",\"pk\":\"T#1\",\"sk\":\"x\","
         "\"starts\":2,\"state\":\"b\"}"},
    };
    RUN(source, rows);
}

// ---- Moves ------------------------------------------------------------------------------------

static const char moves[] = "table things { key id }\n"
                            "entity Job {\n"
                            "  id string\n"
                            "  status \"new\" | \"queued\" | \"running\" | \"done\" | \"failed\" = "
                            "\"new\"\n"
                            "  n number?\n"
                            "  moves status: \"queued\" -> \"running\" -> \"done\" | \"failed\", "
                            "\"failed\" -> \"queued\", \"new\" -> \"queued\"\n"
                            "}\n";

static void test_moves(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"a\"}", "{\"id\":\"a\",\"status\":\"new\"}"},
        {PUT, NULL, "{\"id\":\"a\",\"status\":\"queued\"}", "{\"id\":\"a\",\"status\":\"queued\"}"},
        {PUT, NULL, "{\"id\":\"a\",\"status\":\"done\"}",
         "Entity Job: /status: expected \"new\" or \"queued\" or \"running\" or \"failed\" (a new "
         "item begins with it), got \"done\""},
        // What comes in batches may have come a long way, but not from nowhere.
        {BATCH, NULL, "{\"id\":\"a\",\"status\":\"done\"}", "{\"id\":\"a\",\"status\":\"done\"}"},
        {UPDATE, "{\"id\":\"a\",\"status\":\"queued\"}", "{\"id\":\"a\",\"status\":\"running\"}",
         "{\"id\":\"a\",\"status\":\"running\"}"},
        {UPDATE, "{\"id\":\"a\",\"status\":\"queued\"}", "{\"id\":\"a\",\"status\":\"done\"}",
         "Entity Job: /status: expected \"running\" after \"queued\", got \"done\""},
        {PUT, "{\"id\":\"a\",\"status\":\"running\"}", "{\"id\":\"a\",\"status\":\"queued\"}",
         "Entity Job: /status: expected \"done\" or \"failed\" after \"running\", got \"queued\""},
        {BATCH, "{\"id\":\"a\",\"status\":\"running\"}", "{\"id\":\"a\",\"status\":\"queued\"}",
         "Entity Job: /status: expected \"done\" or \"failed\" after \"running\", got \"queued\""},
        {PUT, "{\"id\":\"a\",\"status\":\"running\"}", "{\"id\":\"a\",\"n\":1}",
         "{\"id\":\"a\",\"n\":1,\"status\":\"running\"}"},
        {UPDATE, "{\"id\":\"a\",\"status\":\"done\"}", "{\"id\":\"a\",\"status\":\"queued\"}",
         "Entity Job: /status: expected \"done\" (nothing follows it), got \"queued\""},
        {UPDATE, "{\"id\":\"a\",\"status\":\"done\"}", "{\"id\":\"a\",\"n\":1,\"status\":\"done\"}",
         "{\"id\":\"a\",\"n\":1,\"status\":\"done\"}"},
    };
    RUN(moves, rows);
}

// ---- Append only ------------------------------------------------------------------------------

static const char appended[] = "table things { key id }\n"
                               "entity Entry {\n"
                               "  append only\n"
                               "  unknown allow\n"
                               "  id string\n"
                               "  amount number\n"
                               "  kind string = \"x\"\n"
                               "  at timestamp = now() on update\n"
                               "  v integer version\n"
                               "  note string?\n"
                               "}\n";

static void test_append_only(void **state)
{
    (void)state;
#define STORED                                                                                     \
    "{\"amount\":5,\"at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"a\",\"kind\":\"y\",\"other\":1,"   \
    "\"v\":1}"
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"a\",\"amount\":5}",
         "{\"amount\":5,\"at\":\"2026-11-16T03:40:00.123Z\",\"id\":\"a\",\"kind\":\"x\",\"v\":1}"},
        // The same again, whole or without what the server has set.
        {PUT, STORED, STORED, STORED},
        {PUT, STORED, "{\"id\":\"a\",\"amount\":5,\"other\":1}", STORED},
        {UPDATE, STORED, STORED, STORED},
        {TOUCH, STORED, STORED, STORED},
        {PUT, STORED, "{\"id\":\"a\",\"amount\":6,\"other\":1}",
         "Entity Entry: /amount: expected 5 (Entry is append only), got 6"},
        {PUT, STORED, "{\"id\":\"a\",\"amount\":5}",
         "Entity Entry: /other: expected 1 (Entry is append only), got nothing"},
        {PUT, STORED, "{\"id\":\"a\",\"amount\":5,\"other\":2}",
         "Entity Entry: /other: expected 1 (Entry is append only), got 2"},
        {PUT, STORED, "{\"id\":\"a\",\"amount\":5,\"other\":1,\"another\":1}",
         "Entity Entry: /another: expected nothing (Entry is append only), got 1"},
        {UPDATE, STORED,
         "{\"amount\":5,\"at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"a\",\"kind\":\"y\",\"note\":"
         "\"n\",\"other\":1,\"v\":1}",
         "Entity Entry: /note: expected nothing (Entry is append only), got \"n\""},
        {UPDATE, STORED, NULL,
         "Entity Entry: expected the item to stay (Entry is append only), got nothing"},
    };
    RUN(appended, rows);
}

// ---- Patterns of text -------------------------------------------------------------------------

static const char matched[] = "table things { key id }\n"
                              "entity Page {\n"
                              "  id string\n"
                              "  slug string?  matches \"[a-z0-9-]+\"  lower, squeeze, nfc\n"
                              "  inner { code: string? matches \"[A-Z]{2}\" }?\n"
                              "}\n";

static void test_matched(void **state)
{
    (void)state;
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"a\",\"slug\":\"My-Page\"}", "{\"id\":\"a\",\"slug\":\"my-page\"}"},
        {PUT, NULL, "{\"id\":\"a\",\"slug\":\"my page\"}",
         "Entity Page: /slug: expected text that matches \"[a-z0-9-]+\", got \"my page\""},
        {PUT, NULL, "{\"id\":\"a\",\"slug\":null}", "{\"id\":\"a\",\"slug\":null}"},
        {PUT, NULL, "{\"id\":\"a\",\"inner\":{\"code\":\"DE\"}}",
         "{\"id\":\"a\",\"inner\":{\"code\":\"DE\"}}"},
        {PUT, NULL, "{\"id\":\"a\",\"inner\":{\"code\":\"DEU\"}}",
         "Entity Page: /inner/code: expected text that matches \"[A-Z]{2}\", got \"DEU\""},
    };
    RUN(matched, rows);
}

// ---- Quotas -----------------------------------------------------------------------------------

static const char quotas[] = "table things { key id }\n"
                             "entity User {\n"
                             "  id string\n"
                             "  tier \"free\" | \"paid\" | \"staff\" = \"free\"\n"
                             "  most number?\n"
                             "  used number?\n"
                             "  resets timestamp?\n"
                             "  hour number?\n"
                             "  hourEnds epoch?\n"
                             "  ever number?\n"
                             "}\n"
                             "quota User.used at most 3 when tier = \"free\", most when tier = "
                             "\"paid\" per month resets resets\n"
                             "quota User.hour at most 2 per hour resets hourEnds\n"
                             "quota User.ever at most 10\n";

static void test_quotas(void **state)
{
    (void)state;
#define MONTH "\"2026-12-01T00:00:00.000Z\""
#define FREE  ",\"tier\":\"free\"}"
    static const struct case_ rows[] = {
        {PUT, NULL, "{\"id\":\"a\"}", "{\"id\":\"a\"" FREE},
        {PUT, NULL, "{\"id\":\"a\",\"used\":1}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":1}"},
        {PUT, NULL, "{\"id\":\"a\",\"used\":4}",
         "Entity User: /used: expected at most 3 (quota of a month, until "
         "2026-12-01T00:00:00.000Z), got 4"},
        {UPDATE, "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":4}",
         "Entity User: /used: expected at most 3 (quota of a month, until "
         "2026-12-01T00:00:00.000Z), got 4"},
        {UPDATE, "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"most\":1,\"resets\":" MONTH ",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"most\":1,\"resets\":" MONTH ",\"tier\":\"free\",\"used\":3}"},
        // Less is always fine, also if it is still too much.
        {UPDATE, "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":9}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":8}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":8}"},
        // The month is over: what is added is all there is.
        {UPDATE,
         "{\"id\":\"a\",\"resets\":\"2026-11-01T00:00:00.000Z\",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"resets\":\"2026-11-01T00:00:00.000Z\",\"tier\":\"free\",\"used\":5}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":2}"},
        {UPDATE,
         "{\"id\":\"a\",\"resets\":\"2026-11-01T00:00:00.000Z\",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"resets\":\"2026-11-01T00:00:00.000Z\",\"tier\":\"free\",\"used\":7}",
         "Entity User: /used: expected at most 3 (quota of a month, until "
         "2026-12-01T00:00:00.000Z), got 4"},
        // It ends at the moment itself.
        {UPDATE,
         "{\"id\":\"a\",\"resets\":\"2026-11-16T03:40:00.000Z\",\"tier\":\"free\",\"used\":3}",
         "{\"id\":\"a\",\"resets\":\"2026-11-16T03:40:00.000Z\",\"tier\":\"free\",\"used\":4}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"free\",\"used\":1}"},
        // The limit that holds is the first whose test does; none: no limit.
        {UPDATE, "{\"id\":\"a\",\"most\":5,\"resets\":" MONTH ",\"tier\":\"paid\",\"used\":5}",
         "{\"id\":\"a\",\"most\":5,\"resets\":" MONTH ",\"tier\":\"paid\",\"used\":6}",
         "Entity User: /used: expected at most 5 (quota of a month, until "
         "2026-12-01T00:00:00.000Z), got 6"},
        {UPDATE, "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"staff\",\"used\":5}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"staff\",\"used\":600}",
         "{\"id\":\"a\",\"resets\":" MONTH ",\"tier\":\"staff\",\"used\":600}"},
        // An hour, in seconds; and without a period.
        {PUT, NULL, "{\"id\":\"a\",\"hour\":1}",
         "{\"hour\":1,\"hourEnds\":1794801600,\"id\":\"a\"" FREE},
        {UPDATE, "{\"hour\":2,\"hourEnds\":1794801600,\"id\":\"a\"" FREE,
         "{\"hour\":3,\"hourEnds\":1794801600,\"id\":\"a\"" FREE,
         "Entity User: /hour: expected at most 2 (quota of an hour, until 1794801600), got 3"},
        {UPDATE, "{\"ever\":10,\"id\":\"a\"" FREE, "{\"ever\":11,\"id\":\"a\"" FREE,
         "Entity User: /ever: expected at most 10 (its quota), got 11"},
        // A backfill neither counts nor begins anything.
        {TOUCH, "{\"hour\":9,\"hourEnds\":5,\"id\":\"a\"" FREE,
         "{\"hour\":9,\"hourEnds\":5,\"id\":\"a\"" FREE,
         "{\"hour\":9,\"hourEnds\":5,\"id\":\"a\"" FREE},
    };
    RUN(quotas, rows);
}

// Where periods end: the clock is moved, and one is counted.
static void test_periods(void **state)
{
    (void)state;
    static const struct {
        const char *period;
        int64_t now; // seconds
        const char *ends;
    } rows[] = {
        {"day", 1794800400, "2026-11-17"}, // a Monday
        {"week", 1794800400, "2026-11-23"},
        {"week", 1795391999, "2026-11-23"},  // the Sunday's last second
        {"week", 1795392000, "2026-11-30"},  // and the next Monday's first
        {"month", 1798761599, "2027-01-01"}, // the year's last second
        {"month", 1798761600, "2027-02-01"},
        {"month", 1835308800, "2028-03-01"}, // a leap day
        {"year", 1794800400, "2027-01-01"},
        {"day", 0, "1970-01-02"},
        {"week", 0, "1970-01-05"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct guarded guarded;
        char source[512];
        char expected[128];
        (void)snprintf(source, sizeof(source),
                       "table things { key id }\nentity User {\n  id string\n  n number\n"
                       "  ends date?\n}\nquota User.n at most 3 per %s resets ends\n",
                       rows[i].period);
        (void)snprintf(expected, sizeof(expected), "{\"ends\":\"%s\",\"id\":\"a\",\"n\":1}",
                       rows[i].ends);
        guarded_init(&guarded, source);
        guarded.fixture.clock.now_ms = rows[i].now * 1000 + 1;
        assert_string_equal(written(&guarded, PUT, NULL, "{\"id\":\"a\",\"n\":1}"), expected);
        guarded_release(&guarded);
    }
}

// What the server itself does because of other items is bound by quotas and checks, too.
static void test_derived(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *after;
        const char *expected;
    } rows[] = {
        {"{\"ever\":9,\"id\":\"a\"" FREE, "{\"ever\":10,\"id\":\"a\"" FREE,
         "{\"ever\":10,\"id\":\"a\"" FREE},
        {"{\"ever\":10,\"id\":\"a\"" FREE, "{\"ever\":11,\"id\":\"a\"" FREE,
         "Entity User: /ever: expected at most 10 (its quota), got 11"},
        // The second of several in one transaction: the first has begun the hour.
        {"{\"hour\":2,\"hourEnds\":5,\"id\":\"a\"" FREE,
         "{\"hour\":2,\"hourEnds\":1794801600,\"id\":\"a\"" FREE,
         "{\"hour\":2,\"hourEnds\":1794801600,\"id\":\"a\"" FREE},
        {"{\"hour\":9,\"hourEnds\":5,\"id\":\"a\"" FREE,
         "{\"hour\":3,\"hourEnds\":1794801600,\"id\":\"a\"" FREE,
         "Entity User: /hour: expected at most 2 (quota of an hour, until 1794801600), got 3"},
    };
    struct guarded guarded;
    guarded_init(&guarded, quotas);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct guard_write write = {.touch = true,
                                    .derived = true,
                                    .before = item_of(&guarded.fixture.arena, rows[i].before),
                                    .env = &guarded.fixture.env,
                                    .arena = &guarded.arena,
                                    .after = item_of(&guarded.fixture.arena, rows[i].after)};
        error_init(&guarded.error, &guarded.fixture.arena);
        bool done = guarded.guard->ops->write(guarded.guard, &write, &guarded.error);
        assert_string_equal(done ? text_of(&guarded.fixture.arena, write.after)
                                 : guarded.error.message,
                            rows[i].expected);
    }
    guarded_release(&guarded);
}

// A write of the server's own, because of another item.
static const char *derived(struct guarded *guarded, bool put, const char *before, const char *after)
{
    struct guard_write write = {.is_put = put,
                                .touch = !put,
                                .derived = true,
                                .before = item_of(&guarded->fixture.arena, before),
                                .env = &guarded->fixture.env,
                                .arena = &guarded->arena,
                                .after = item_of(&guarded->fixture.arena, after)};
    error_init(&guarded->error, &guarded->fixture.arena);
    return guarded->guard->ops->write(guarded->guard, &write, &guarded->error)
               ? text_of(&guarded->fixture.arena, write.after)
               : guarded->error.message;
}

static void test_derived_checks(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, checks);
    const char *refused = "Entity Event: /taken: expected taken <= seats or kind = \"open\", got ";
    const char *four = "{\"id\":\"a\",\"kind\":\"x\",\"seats\":3,\"taken\":4}";
    const char *five = "{\"id\":\"a\",\"kind\":\"x\",\"seats\":3,\"taken\":5}";
    assert_non_null(strstr(derived(&guarded, false,
                                   "{\"id\":\"a\",\"kind\":\"x\",\"seats\":3,"
                                   "\"taken\":3}",
                                   four),
                           refused));
    assert_non_null(strstr(derived(&guarded, false, NULL, four), refused));
    assert_non_null(strstr(derived(&guarded, true, NULL, four), refused));
    // It was so before: what the server does is not to blame.
    assert_string_equal(derived(&guarded, false, four, five), five);
    guarded_release(&guarded);
    // Moves, immutable attributes and `append only` are for clients; a removal softens all the
    // same.
    guarded_init(&guarded, moves);
    assert_string_equal(derived(&guarded, false, "{\"id\":\"a\",\"status\":\"done\"}",
                                "{\"id\":\"a\",\"status\":\"queued\"}"),
                        "{\"id\":\"a\",\"status\":\"queued\"}");
    guarded_release(&guarded);
    guarded_init(&guarded, appended);
    assert_string_equal(derived(&guarded, false, STORED,
                                "{\"amount\":6,\"at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"a\","
                                "\"kind\":\"y\",\"other\":1,\"v\":1}"),
                        "{\"amount\":6,\"at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"a\",\"kind\":"
                        "\"y\",\"other\":1,\"v\":1}");
    assert_string_equal(derived(&guarded, false, STORED, NULL), "nothing");
    guarded_release(&guarded);
}

// ---- Unique pairs -----------------------------------------------------------------------------

static const char pairs[] = "table things { key id }\n"
                            "entity Doc {\n"
                            "  id string\n"
                            "  org string?\n"
                            "  slug string?  lower, trim\n"
                            "  mail string?  unique\n"
                            "  gone timestamp?\n"
                            "  unique (org, slug)\n"
                            "  softdelete gone\n"
                            "}\n";

static void assert_claims(struct guarded *guarded, size_t claims, size_t releases)
{
    assert_int_equal(guarded->write.claim_count, claims);
    assert_int_equal(guarded->write.release_count, releases);
}

static void test_pairs(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, pairs);
    assert_int_equal(guarded.guard->claims, 2);
    (void)written(&guarded, PUT, NULL, "{\"id\":\"a\",\"org\":\"o\"}");
    assert_claims(&guarded, 0, 0);
    (void)written(&guarded, PUT, NULL, "{\"id\":\"a\",\"org\":\"o\",\"slug\":\" Intro \"}");
    assert_claims(&guarded, 1, 0);
    struct slice name = arena_copy(&guarded.fixture.arena, guarded.write.claims[0].name);
    assert_true(slice_is(guarded.write.claims[0].what, "Doc.(org, slug)"));
    // The same, normalised.
    (void)written(&guarded, UPDATE, "{\"id\":\"a\",\"org\":\"o\"}",
                  "{\"id\":\"a\",\"org\":\"o\",\"slug\":\"intro\"}");
    assert_claims(&guarded, 1, 0);
    assert_true(slice_equal(guarded.write.claims[0].name, name));
    struct error error;
    error_init(&error, &guarded.fixture.arena);
    assert_false(guarded.guard->ops->taken(guarded.guard, &guarded.write.claims[0], &error));
    assert_string_equal(error.message, "Entity Doc: /slug: expected a value that no other item has "
                                       "with this org, got \"intro\"");
    assert_true(((const struct model_violations *)error.details)->taken);
    // Neither half can be taken for the other.
    (void)written(&guarded, PUT, NULL, "{\"id\":\"a\",\"org\":\"ointro\",\"slug\":\"x\"}");
    assert_false(slice_equal(guarded.write.claims[0].name, name));
    // One half changes: one is claimed, the other given back.
    (void)written(&guarded, UPDATE, "{\"id\":\"a\",\"org\":\"o\",\"slug\":\"intro\"}",
                  "{\"id\":\"a\",\"org\":\"p\",\"slug\":\"intro\"}");
    assert_claims(&guarded, 1, 1);
    assert_true(slice_equal(guarded.write.releases[0].name, name));
    (void)written(&guarded, UPDATE, "{\"id\":\"a\",\"org\":\"o\",\"slug\":\"intro\"}",
                  "{\"id\":\"a\",\"mail\":\"m\",\"org\":\"o\",\"slug\":\"intro\"}");
    assert_claims(&guarded, 1, 0);
    guarded_release(&guarded);
}

// ---- Soft delete ------------------------------------------------------------------------------

#define NOW "\"2026-11-16T03:40:00.123Z\""

static void test_soft_claims(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, pairs);
    // A delete gives them back, and an undelete claims them again.
    assert_string_equal(written(&guarded, UPDATE,
                                "{\"id\":\"a\",\"mail\":\"m\",\"org\":\"o\",\"slug\":\"s\"}", NULL),
                        "{\"gone\":" NOW
                        ",\"id\":\"a\",\"mail\":\"m\",\"org\":\"o\",\"slug\":\"s\"}");
    assert_claims(&guarded, 0, 2);
    (void)written(&guarded, UPDATE,
                  "{\"gone\":" NOW ",\"id\":\"a\",\"mail\":\"m\",\"org\":\"o\",\"slug\":\"s\"}",
                  "{\"id\":\"a\",\"mail\":\"m\",\"org\":\"o\",\"slug\":\"s\"}");
    assert_claims(&guarded, 2, 0);
    (void)written(&guarded, UPDATE, "{\"gone\":" NOW ",\"id\":\"a\",\"mail\":\"m\"}",
                  "{\"gone\":" NOW ",\"id\":\"a\",\"mail\":\"n\"}");
    assert_claims(&guarded, 0, 0);
    (void)written(&guarded, TOUCH, "{\"gone\":" NOW ",\"id\":\"a\",\"mail\":\"m\"}",
                  "{\"gone\":" NOW ",\"id\":\"a\",\"mail\":\"m\"}");
    assert_claims(&guarded, 0, 0);
    guarded_release(&guarded);
}

static const char soft[] = "table things { key pk, sk  index GSI1 (g1pk, g1sk) }\n"
                           "entity Job {\n"
                           "  pk = \"J#{id}\"  sk = \"x\"\n"
                           "  GSI1 = \"S#{status}\", \"{id}\" when deleted missing\n"
                           "  softdelete deleted\n"
                           "  id string\n"
                           "  status string\n"
                           "  made string = \"m\"  immutable\n"
                           "  at epoch = now() on update\n"
                           "  v integer version\n"
                           "  deleted epoch | null = null\n"
                           "  check status != \"bad\"\n"
                           "}\n";

static void test_soft_delete(void **state)
{
    (void)state;
#define KEYS  "\"pk\":\"J#1\",\"sk\":\"x\""
#define ENTRY "\"g1pk\":\"S#on\",\"g1sk\":\"1\","
#define LIVE                                                                                       \
    "{\"at\":1,\"deleted\":null," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS                        \
    ",\"status\":\"on\",\"v\":3}"
#define DEAD                                                                                       \
    "{\"at\":1794800400,\"deleted\":1794800400,\"id\":\"1\",\"made\":\"m\"," KEYS                  \
    ",\"status\":\"on\",\"v\":4}"
    static const struct case_ rows[] = {
        {UPDATE, LIVE, NULL, DEAD},
        {UPDATE, DEAD, NULL, DEAD}, // it is deleted already
        // An item that would be refused can be deleted all the same.
        {UPDATE,
         "{\"at\":1,\"deleted\":null,\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"bad\",\"v\":3}",
         NULL,
         "{\"at\":1794800400,\"deleted\":1794800400,\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"bad\",\"v\":4}"},
        // A put over one that is deleted makes a new one.
        {PUT, DEAD, "{\"id\":\"1\",\"made\":\"n\",\"status\":\"on\"}",
         "{\"at\":1794800400,\"deleted\":null," ENTRY "\"id\":\"1\",\"made\":\"n\"," KEYS
         ",\"status\":\"on\",\"v\":1}"},
        // An update that takes the mark away goes on from what is there: by null, or by removing
        // it.
        {UPDATE, DEAD,
         "{\"at\":1794800400,\"deleted\":null,\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":4}",
         "{\"at\":1794800400,\"deleted\":null," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":5}"},
        {UPDATE, DEAD,
         "{\"at\":1794800400,\"id\":\"1\",\"made\":\"m\"," KEYS ",\"status\":\"on\",\"v\":4}",
         "{\"at\":1794800400,\"deleted\":null," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":5}"},
        {UPDATE, DEAD,
         "{\"at\":1794800400,\"id\":\"1\",\"made\":\"n\"," KEYS ",\"status\":\"on\",\"v\":4}",
         "Entity Job: /made: expected \"m\" (it is immutable), got \"n\""},
        // The entry goes and comes by the attribute alone.
        {UPDATE, LIVE,
         "{\"at\":1,\"deleted\":5," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":3}",
         "{\"at\":1794800400,\"deleted\":5,\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":4}"},
        {TOUCH,
         "{\"at\":1,\"deleted\":5," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":3}",
         "{\"at\":1,\"deleted\":5," ENTRY "\"id\":\"1\",\"made\":\"m\"," KEYS
         ",\"status\":\"on\",\"v\":3}",
         "{\"at\":1,\"deleted\":5,\"id\":\"1\",\"made\":\"m\"," KEYS ",\"status\":\"on\",\"v\":3}"},
        {PUT, NULL, "{\"id\":\"1\",\"status\":\"on\",\"deleted\":5," ENTRY "\"made\":\"m\"}",
         "Entity Job: /g1pk: expected nothing, got \"S#on\"; /g1sk: expected nothing, got \"1\""},
    };
    RUN(soft, rows);
}

static void test_for_good(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, soft);
    for (int i = 0; i < 2; i++) {
        struct guard_write write = {.for_good = true,
                                    .before = item_of(&guarded.fixture.arena, i == 0 ? LIVE : DEAD),
                                    .env = &guarded.fixture.env,
                                    .arena = &guarded.arena,
                                    .after = VALUE_NONE};
        error_init(&guarded.error, &guarded.fixture.arena);
        assert_true(guarded.guard->ops->write(guarded.guard, &write, &guarded.error));
        assert_int_equal(write.after.len, 0);
    }
    guarded_release(&guarded);
    guarded_init(&guarded, appended);
    struct guard_write write = {.for_good = true,
                                .before = item_of(&guarded.fixture.arena, STORED),
                                .env = &guarded.fixture.env,
                                .arena = &guarded.arena,
                                .after = VALUE_NONE};
    assert_true(guarded.guard->ops->write(guarded.guard, &write, &guarded.error));
    assert_int_equal(write.after.len, 0);
    guarded_release(&guarded);
}

// ---- Other modes ------------------------------------------------------------------------------

static void test_warn(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, "table things { key id  guard warn }\n"
                           "entity Job {\n"
                           "  append only\n"
                           "  id string\n"
                           "  n number\n"
                           "  m number = n + 1 always\n"
                           "  s string?\n"
                           "  gone timestamp?\n"
                           "  check n > 0\n"
                           "  moves s: \"a\" -> \"b\"\n"
                           "}\n");
    assert_string_equal(written(&guarded, PUT, NULL, "{\"id\":\"x\",\"m\":5,\"n\":0,\"s\":\"b\"}"),
                        "{\"id\":\"x\",\"m\":5,\"n\":0,\"s\":\"b\"}");
    assert_true(slice_is(guarded.write.warnings,
                         "Entity Job: /n: expected n > 0, got 0; /m: expected 1 (it is computed), "
                         "got 5; /s: expected \"a\" (a new item begins with it), got \"b\""));
    // Nothing is softened, but it is said.
    assert_string_equal(written(&guarded, UPDATE, "{\"id\":\"x\",\"m\":2,\"n\":1}", NULL),
                        "nothing");
    assert_true(
        slice_is(guarded.write.warnings,
                 "Entity Job: expected the item to stay (Job is append only), got nothing"));
    guarded_release(&guarded);
    guarded_init(&guarded, "table things { key id  guard off }\n"
                           "entity Job {\n  softdelete gone\n  id string\n  n number\n"
                           "  gone timestamp?\n  check n > 0\n}\n");
    assert_string_equal(written(&guarded, PUT, NULL, "{\"id\":\"x\",\"n\":0}"),
                        "{\"id\":\"x\",\"n\":0}");
    assert_string_equal(written(&guarded, UPDATE, "{\"id\":\"x\",\"n\":0}", NULL), "nothing");
    assert_int_equal(guarded.write.warnings.len, 0);
    guarded_release(&guarded);
}

// What diff and lint say of items that are there.
static void test_judge(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *item;
        const char *expected; // of the first violation, or NULL
    } rows[] = {
        {computed, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":12}", NULL},
        {computed, "{\"count\":4,\"id\":\"a\",\"price\":3,\"total\":13}", "12 (it is computed)"},
        {computed, "{\"count\":4,\"grand\":null,\"id\":\"a\",\"price\":3,\"total\":12}", NULL},
        {checks, "{\"id\":\"a\",\"kind\":\"x\",\"seats\":3,\"taken\":4}",
         "taken <= seats or kind = \"open\""},
        {checks, "{\"id\":\"a\",\"seats\":3}", NULL},
        {soft, LIVE, NULL},
        {soft, DEAD, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct guarded guarded;
        guarded_init(&guarded, rows[i].source);
        const struct model_violations *found = model_guard_judge(
            guarded.guard, &guarded.arena, item_of(&guarded.fixture.arena, rows[i].item));
        assert_non_null(found);
        assert_int_equal(found->count, rows[i].expected != NULL);
        if (found->count > 0 && !slice_is(found->list[0].expected, rows[i].expected))
            fail_msg("row %zu: %.*s", i, SLICE_FMT(found->list[0].expected));
        guarded_release(&guarded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed),       cmocka_unit_test(test_checks),
        cmocka_unit_test(test_moves),          cmocka_unit_test(test_append_only),
        cmocka_unit_test(test_matched),        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_periods),        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_derived_checks), cmocka_unit_test(test_momentary),
        cmocka_unit_test(test_mixins),         cmocka_unit_test(test_actor),
        cmocka_unit_test(test_pairs),          cmocka_unit_test(test_soft_claims),
        cmocka_unit_test(test_soft_delete),    cmocka_unit_test(test_for_good),
        cmocka_unit_test(test_warn),           cmocka_unit_test(test_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
