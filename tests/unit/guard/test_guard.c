// The guard: what becomes of writes, and what is said of those that are refused. Images are plain
// JSON; a write is (before, after) and what is stored, or the message.
#include "guard/guarded.h"

static const char model[] = "table shop {\n"
                            "  key PK, SK\n"
                            "  index GSI1 (GSI1PK, GSI1SK)  index GSI2 (GSI2PK, GSI2SK)\n"
                            "  index byState (state, createdAt)\n"
                            "  type kind\n"
                            "  ttl ttl\n"
                            "}\n"
                            "entity User {\n"
                            "  PK = \"USER#{userId}\"  SK = \"META\"\n"
                            "  GSI1 = \"EMAIL\", \"{email}\"\n"
                            "  GSI2 = \"GOOGLE\", \"{googleId}\"\n"
                            "  userId uuid = uuid()\n"
                            "  email email unique, lower, trim\n"
                            "  googleId string?\n"
                            "  role \"user\" | \"admin\" = \"user\"\n"
                            "  nick string? = \"{email}!\"\n"
                            "  createdAt timestamp = now() immutable\n"
                            "  updatedAt timestamp = now() on update\n"
                            "}\n"
                            "entity Order {\n"
                            "  PK = \"USER#{user}\"  SK = \"ORDER#{number:pad(6)}\"\n"
                            "  GSI1 = \"ORDERS#{state}\", \"{total:pad(8)}#{number}\"\n"
                            "  user string\n"
                            "  number integer\n"
                            "  state \"open\" | \"paid\" = \"open\"\n"
                            "  total number = 0\n"
                            "  rev number version\n"
                            "  ttl epoch? = paidAt + 7d\n"
                            "  paidAt timestamp?\n"
                            "  address { city: string trim  country: string = \"DE\" }?\n"
                            "}\n";

#define U1 "00000000-0000-4000-8000-000000000001"

#define NOW "2026-11-16T03:40:00.123Z"
#define USER_HEAD                                                                                  \
    "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#" U1 "\",\"SK\":\"META\","
#define USER_TAIL                                                                                  \
    "\"kind\":\"User\",\"nick\":\"a@b.de!\",\"role\":\"user\",\"updatedAt\":\"" NOW                \
    "\",\"userId\":\"" U1 "\"}"
#define USER USER_HEAD "\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\"," USER_TAIL

// An old user: the same, an hour before.
#define OLD_NOW "2026-11-16T02:40:00.000Z"
#define OLD_USER                                                                                   \
    USER_HEAD "\"createdAt\":\"" OLD_NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\","              \
              "\"nick\":\"a@b.de!\",\"role\":\"user\",\"updatedAt\":\"" OLD_NOW                    \
              "\",\"userId\":\"" U1 "\"}"

static void test_new_items(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        // Everything is derived.
        {PUT, NULL, "{\"kind\":\"User\",\"userId\":\"" U1 "\",\"email\":\" A@b.DE\"}", USER},
        // The key is enough for its attributes, and tells the entity.
        {PUT, NULL, "{\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"email\":\"a@b.de\"}", USER},
        // Right keys may be sent.
        {PUT, NULL, USER, USER},
        {UPDATE, NULL, "{\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"email\":\"A@B.de\"}", USER},
        // Sparse: GSI2 appears with its attribute. What the model does not know stays.
        {PUT, NULL,
         "{\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"email\":\"a@b.de\",\"googleId\":\"g\","
         "\"0first\":1,\"more\":[2],\"zlast\":true}",
         "{\"0first\":1,\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"GSI2PK\":\"GOOGLE\","
         "\"GSI2SK\":\"g\",\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"createdAt\":\"" NOW
         "\",\"email\":\"a@b.de\",\"googleId\":\"g\",\"kind\":\"User\",\"more\":[2],\"nick\":"
         "\"a@b.de!\",\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1
         "\",\"zlast\":true}"},
        // An empty text means no entry.
        {PUT, NULL,
         "{\"kind\":\"User\",\"userId\":\"" U1 "\",\"email\":\"a@b.de\",\"googleId\":\"\"}",
         USER_HEAD "\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\",\"googleId\":\"\"," USER_TAIL},
        // Padded numbers come back out of keys; defaults of defaults; objects are completed.
        {PUT, NULL,
         "{\"PK\":\"USER#7\",\"SK\":\"ORDER#000042\",\"paidAt\":\"1970-01-01T00:00:00Z\","
         "\"address\":{\"city\":\" Ulm \"}}",
         "{\"GSI1PK\":\"ORDERS#open\",\"GSI1SK\":\"00000000#42\",\"PK\":\"USER#7\",\"SK\":"
         "\"ORDER#000042\",\"address\":{\"city\":\"Ulm\",\"country\":\"DE\"},\"kind\":\"Order\","
         "\"number\":42,\"paidAt\":\"1970-01-01T00:00:00.000Z\",\"rev\":1,\"state\":\"open\","
         "\"total\":"
         "0,\"ttl\":604800,\"user\":\"7\"}"},
    };
    RUN(model, cases);
}

static void test_violations(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"kind\":\"User\",\"email\":\"x\",\"role\":\"root\"}",
         "Entity User: /email: expected email, got \"x\"; /role: expected \"user\" | \"admin\", "
         "got \"root\""},
        {PUT, NULL, "{\"kind\":\"User\"}", "Entity User: /email: expected email, got nothing"},
        // Keys that are not those of the attributes.
        {PUT, NULL,
         "{\"PK\":\"USER#2\",\"SK\":\"META\",\"userId\":\"" U1 "\",\"email\":\"a@b.de\"}",
         "Entity User: /PK: expected \"USER#" U1 "\", got \"USER#2\""},
        {PUT, NULL,
         "{\"kind\":\"User\",\"userId\":\"" U1 "\",\"email\":\"a@b.de\",\"GSI1SK\":\"b@b.de\","
         "\"GSI2SK\":\"g\"}",
         "Entity User: /GSI1SK: expected \"a@b.de\", got \"b@b.de\"; /GSI2SK: expected nothing, "
         "got \"g\""},
        {PUT, NULL, "{\"kind\":\"Order\",\"SK\":\"ORDER#1\"}",
         "Entity Order: /SK: expected \"ORDER#000001\", got \"ORDER#1\"; /user: expected string, "
         "got nothing"},
        {PUT, NULL, "{\"kind\":\"Order\",\"user\":\"1\",\"number\":1,\"address\":{}}",
         "Entity Order: /address/city: expected string, got nothing"},
        // A key of nothing.
        {PUT, NULL, "{\"kind\":\"Order\",\"user\":\"\",\"number\":1}",
         "Entity Order: /user: expected a value, as PK is made of it, got \"\""},
        // No entity.
        {PUT, NULL, "{\"kind\":\"Usr\"}",
         "No entity of table shop fits the item: kind is \"Usr\", which is no entity's"},
        {PUT, NULL, "{\"PK\":\"a\",\"SK\":\"b\"}",
         "No entity of table shop fits the item: PK \"a\" and SK \"b\" can be no entity's"},
        {PUT, NULL, "{\"x\":1}",
         "Several entities of table shop fit the item: what it has can be of User and of Order"},
    };
    RUN(model, cases);
}

static void test_updates(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        // A partial update: keys follow, updatedAt is set.
        {UPDATE, OLD_USER,
         USER_HEAD "\"createdAt\":\"" OLD_NOW "\",\"email\":\"NEW@b.de\",\"kind\":\"User\","
                   "\"nick\":\"a@b.de!\",\"role\":\"user\",\"updatedAt\":\"" OLD_NOW
                   "\",\"userId\":\"" U1 "\"}",
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"new@b.de\",\"PK\":\"USER#" U1
         "\",\"SK\":\"META\",\"createdAt\":\"" OLD_NOW
         "\",\"email\":\"new@b.de\",\"kind\":\"User\",\"nick\":\"a@b.de!\",\"role\":\"user\","
         "\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}"},
        // What the client set itself stays; the optional default does not come back.
        {UPDATE, OLD_USER,
         USER_HEAD "\"createdAt\":\"" OLD_NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\","
                   "\"role\":\"user\",\"updatedAt\":\"2000-01-01T00:00:00.000Z\",\"userId\":\"" U1
                   "\"}",
         USER_HEAD "\"createdAt\":\"" OLD_NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\","
                   "\"role\":\"user\",\"updatedAt\":\"2000-01-01T00:00:00.000Z\",\"userId\":\"" U1
                   "\"}"},
        // A sparse entry goes with its source. So does what was stale before.
        {UPDATE,
         "{\"GSI1PK\":\"OLD\",\"GSI1SK\":\"old\",\"GSI2PK\":\"GOOGLE\",\"GSI2SK\":\"g\",\"PK\":"
         "\"USER#" U1 "\",\"SK\":\"META\",\"createdAt\":\"" NOW
         "\",\"email\":\"a@b.de\",\"googleId\":\"g\",\"kind\":\"User\",\"nick\":\"a@b.de!\","
         "\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}",
         "{\"GSI1PK\":\"OLD\",\"GSI1SK\":\"old\",\"GSI2PK\":\"GOOGLE\",\"GSI2SK\":\"g\",\"PK\":"
         "\"USER#" U1 "\",\"SK\":\"META\",\"createdAt\":\"" NOW
         "\",\"email\":\"a@b.de\",\"kind\":\"User\",\"nick\":\"a@b.de!\","
         "\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}",
         USER},
        // The type comes back.
        {UPDATE, USER,
         USER_HEAD "\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\",\"nick\":\"a@b.de!\","
                   "\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}",
         USER},
        // The primary key cannot change.
        {UPDATE, USER,
         USER_HEAD "\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\",\"role\":"
                   "\"user\",\"userId\":\"00000000-0000-4000-8000-000000000002\"}",
         "Entity User: /userId: expected \"" U1 "\", as the primary key (PK) is made of it and "
         "cannot change, got \"00000000-0000-4000-8000-000000000002\""},
        // An index key set by hand, and wrong.
        {UPDATE, USER,
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"x@b.de\",\"PK\":\"USER#" U1
         "\",\"SK\":\"META\",\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\"," USER_TAIL,
         "Entity User: /GSI1SK: expected \"a@b.de\", got \"x@b.de\""},
        // A put over the same item may bring the keys it has read.
        {PUT, USER,
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"a@b.de\",\"PK\":\"USER#" U1
         "\",\"SK\":\"META\",\"createdAt\":\"" NOW "\",\"email\":\"c@b.de\",\"nick\":\"n\","
         "\"updatedAt\":\"" NOW "\"}",
         "{\"GSI1PK\":\"EMAIL\",\"GSI1SK\":\"c@b.de\",\"PK\":\"USER#" U1
         "\",\"SK\":\"META\",\"createdAt\":\"" NOW "\",\"email\":\"c@b.de\",\"kind\":\"User\","
         "\"nick\":\"n\",\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}"},
        {UPDATE, USER, USER, USER},
    };
    RUN(model, cases);
}

static void test_immutable(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        // A put without it takes the old one.
        {PUT, OLD_USER, "{\"kind\":\"User\",\"userId\":\"" U1 "\",\"email\":\"a@b.de\"}",
         USER_HEAD "\"createdAt\":\"" OLD_NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\","
                   "\"role\":\"user\",\"updatedAt\":\"" NOW "\",\"userId\":\"" U1 "\"}"},
        {PUT, OLD_USER,
         "{\"kind\":\"User\",\"userId\":\"" U1 "\",\"email\":\"a@b.de\",\"createdAt\":\"" NOW "\"}",
         "Entity User: /createdAt: expected \"" OLD_NOW "\" (it is immutable), got \"" NOW "\""},
        {UPDATE, OLD_USER,
         USER_HEAD "\"email\":\"a@b.de\",\"kind\":\"User\",\"role\":\"user\",\"userId\":\"" U1
                   "\"}",
         "Entity User: /createdAt: expected \"" OLD_NOW "\" (it is immutable), got nothing"},
    };
    RUN(model, cases);
}

#define CONFLICT "The conditional request failed: Entity Order: "
#define ORDER(rev, more)                                                                           \
    "{\"GSI1PK\":\"ORDERS#open\",\"GSI1SK\":\"00000000#1\",\"PK\":\"USER#7\",\"SK\":"              \
    "\"ORDER#000001\",\"kind\":\"Order\",\"number\":1," rev "\"state\":\"open\",\"total\":0,"      \
    "\"user\":\"7\"" more "}"

static void test_version(void **state)
{
    (void)state;
    static const struct case_ cases[] = {
        {PUT, NULL, ORDER("", ""), ORDER("\"rev\":1,", "")},
        {PUT, NULL, ORDER("\"rev\":0,", ""), ORDER("\"rev\":1,", "")},
        {PUT, NULL, ORDER("\"rev\":1,", ""), ORDER("\"rev\":1,", "")},
        {PUT, NULL, ORDER("\"rev\":2,", ""), CONFLICT "/rev: expected 1 (the item is new), got 2"},
        // What comes from elsewhere keeps its count, unless something is there.
        {BATCH, NULL, ORDER("\"rev\":2,", ""), ORDER("\"rev\":2,", "")},
        {BATCH, NULL, ORDER("", ""), ORDER("\"rev\":1,", "")},
        {BATCH, ORDER("\"rev\":4,", ""), ORDER("\"rev\":2,", ""),
         CONFLICT "/rev: expected 4 (the version that is stored), got 2"},
        {PUT, ORDER("\"rev\":4,", ""), ORDER("", ""), ORDER("\"rev\":5,", "")},
        {PUT, ORDER("\"rev\":4,", ""), ORDER("\"rev\":4,", ""), ORDER("\"rev\":5,", "")},
        {PUT, ORDER("\"rev\":4,", ""), ORDER("\"rev\":5,", ""), ORDER("\"rev\":5,", "")},
        {PUT, ORDER("\"rev\":4,", ""), ORDER("\"rev\":3,", ""),
         CONFLICT "/rev: expected 4 (the version that is stored), got 3"},
        {UPDATE, ORDER("\"rev\":4,", ""), ORDER("\"rev\":4,", ",\"x\":1"),
         ORDER("\"rev\":5,", ",\"x\":1")},
        {UPDATE, ORDER("\"rev\":4,", ""), ORDER("\"rev\":7,", ""),
         CONFLICT "/rev: expected 4 (the version that is stored), got 7"},
        {UPDATE, ORDER("", ""), ORDER("", ",\"x\":1"), ORDER("\"rev\":1,", ",\"x\":1")},
        // A backfill is no change.
        {TOUCH, ORDER("\"rev\":4,", ""), ORDER("\"rev\":4,", ""), ORDER("\"rev\":4,", "")},
        {TOUCH, ORDER("", ""), ORDER("", ""), ORDER("\"rev\":1,", "")},
    };
    RUN(model, cases);
}

static void test_touch(void **state)
{
    (void)state;
    static const char bad[] = "{\"PK\":\"USER#x\",\"SK\":\"META\",\"email\":\"bad\"}";
    static const struct case_ cases[] = {
        // Keys and required defaults are completed; updatedAt stays, optional defaults do not come.
        {TOUCH,
         "{\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"email\":\"a@b.de\",\"updatedAt\":\"" OLD_NOW
         "\"}",
         "{\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"email\":\"a@b.de\",\"updatedAt\":\"" OLD_NOW
         "\"}",
         USER_HEAD "\"createdAt\":\"" NOW "\",\"email\":\"a@b.de\",\"kind\":\"User\",\"role\":"
                   "\"user\",\"updatedAt\":\"" OLD_NOW "\",\"userId\":\"" U1 "\"}"},
        {TOUCH, OLD_USER, OLD_USER, OLD_USER},
        {TOUCH, bad, bad, bad},
        {TOUCH, "{\"PK\":\"x\",\"SK\":\"y\"}", "{\"PK\":\"x\",\"SK\":\"y\"}",
         "{\"PK\":\"x\",\"SK\":\"y\"}"},
    };
    RUN(model, cases);
    struct guarded guarded;
    guarded_init(&guarded, model);
    (void)written(&guarded, TOUCH, bad, bad);
    assert_true(slice_is(guarded.write.warnings,
                         "Entity User: /userId: expected uuid, got \"x\"; /email: expected email, "
                         "got \"bad\""));
    // The same bytes if there is nothing to do.
    struct slice item = item_of(&guarded.fixture.arena, OLD_USER);
    guarded.write = (struct guard_write){.touch = true,
                                         .before = item,
                                         .after = item,
                                         .env = &guarded.fixture.env,
                                         .arena = &guarded.arena};
    assert_true(guarded.guard->ops->write(guarded.guard, &guarded.write, &guarded.error));
    assert_ptr_equal(guarded.write.after.ptr, item.ptr);
    guarded_release(&guarded);
}

static void test_modes(void **state)
{
    (void)state;
    struct guarded guarded;
    const char *bad = "{\"PK\":\"T#1\",\"x\":true,\"y\":1}";
    guarded_init(&guarded, "table things { key PK  guard warn  unknown reject }\n"
                           "entity T { PK = \"T#{id}\"  id string  x number }\n");
    assert_string_equal(written(&guarded, PUT, NULL, bad), bad);
    assert_true(slice_is(
        guarded.write.warnings,
        "Entity T: /x: expected number, got true; /y: expected nothing (no such attribute), "
        "got 1"));
    assert_string_equal(written(&guarded, PUT, NULL, "{\"PK\":\"U\"}"), "{\"PK\":\"U\"}");
    assert_true(slice_is(guarded.write.warnings,
                         "No entity of table things fits the item: PK \"U\" "
                         "can be no entity's"));
    guarded_release(&guarded);
    guarded_init(&guarded, "table things { key PK  guard off }\n"
                           "entity T { PK = \"T#{id}\"  id string  x number }\n");
    assert_string_equal(written(&guarded, PUT, NULL, bad), bad);
    assert_int_equal(guarded.write.warnings.len, 0);
    guarded_release(&guarded);
    // An entity may have its own mode.
    guarded_init(&guarded,
                 "table things { key PK }\n"
                 "entity T { PK = \"T#{id}\"  guard warn  id string  x number }\n"
                 "entity U { PK = \"U#{id}\"  guard off  id string  x number }\n"
                 "entity V { PK = \"V#{id}\"  unknown warn  id string  o { a: number? }? }\n"
                 "entity W { PK = \"W#{id}\"  unknown reject  id string }\n");
    assert_string_equal(written(&guarded, PUT, NULL, bad), bad);
    assert_true(guarded.write.warnings.len > 0);
    assert_string_equal(written(&guarded, PUT, NULL, "{\"PK\":\"U#1\"}"), "{\"PK\":\"U#1\"}");
    assert_int_equal(guarded.write.warnings.len, 0);
    assert_string_equal(written(&guarded, PUT, NULL, "{\"PK\":\"V#1\",\"o\":{\"b\":1},\"y\":1}"),
                        "{\"PK\":\"V#1\",\"id\":\"1\",\"o\":{\"b\":1},\"y\":1}");
    assert_true(
        slice_is(guarded.write.warnings,
                 "Entity V: /o/b: expected nothing (no such attribute), got 1; /y: expected "
                 "nothing (no such attribute), got 1"));
    assert_string_equal(written(&guarded, PUT, NULL, "{\"PK\":\"W#1\",\"y\":1}"),
                        "Entity W: /y: expected nothing (no such attribute), got 1");
    guarded_release(&guarded);
}

static void test_unmatched(void **state)
{
    (void)state;
    struct guarded guarded;
    const char *alien = "{\"PK\":\"X\"}";
    guarded_init(&guarded, "table things { key PK  unmatched allow }\n"
                           "entity T { PK = \"T#{id}\"  id string }\n");
    assert_string_equal(written(&guarded, PUT, NULL, alien), alien);
    assert_int_equal(guarded.write.warnings.len, 0);
    guarded_release(&guarded);
    guarded_init(&guarded, "table things { key PK  unmatched warn }\n"
                           "entity T { PK = \"T#{id}\"  id string }\n");
    assert_string_equal(written(&guarded, PUT, NULL, alien), alien);
    assert_true(slice_is(guarded.write.warnings,
                         "No entity of table things fits the item: PK \"X\" "
                         "can be no entity's"));
    guarded_release(&guarded);
}

// Names and values of claims in one text.
static const char *claims_of(struct guarded *guarded, size_t count, const struct guard_claim *list)
{
    const char *all = "";
    for (size_t i = 0; i < count; i++)
        all = arena_printf(&guarded->fixture.arena, "%s%.*s=%s;", all, SLICE_FMT(list[i].what),
                           text_of(&guarded->fixture.arena, list[i].value));
    assert_non_null(all);
    return all;
}

static const char *claims(struct guarded *guarded, enum way way, const char *before,
                          const char *after)
{
    (void)written(guarded, way, before, after);
    return arena_printf(&guarded->fixture.arena, "+%s -%s",
                        claims_of(guarded, guarded->write.claim_count, guarded->write.claims),
                        claims_of(guarded, guarded->write.release_count, guarded->write.releases));
}

static void test_unique(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, "table things { key PK  type kind }\n"
                           "entity T { PK = \"T#{id}\"  id string  mail string? unique, lower  "
                           "code (number | null)? unique }\n"
                           "entity U { PK = \"T#{id}\"  id string  mail string? unique }\n");
    assert_true(guarded.guard->claims);
    const char *one = "{\"PK\":\"T#1\",\"id\":\"1\",\"kind\":\"T\",\"mail\":\"a\"}";
    const char *loud = "{\"PK\":\"T#1\",\"id\":\"1\",\"kind\":\"T\",\"mail\":\"A\"}";
    const char *two = "{\"PK\":\"T#1\",\"code\":5,\"id\":\"1\",\"kind\":\"T\",\"mail\":\"b\"}";
    const char *null = "{\"PK\":\"T#1\",\"code\":null,\"id\":\"1\",\"kind\":\"T\"}";
    const char *other = "{\"PK\":\"T#1\",\"id\":\"1\",\"kind\":\"U\",\"mail\":\"a\"}";
    assert_string_equal(claims(&guarded, PUT, NULL, loud), "+T.mail=\"a\"; -");
    assert_string_equal(claims(&guarded, PUT, one, two), "+T.mail=\"b\";T.code=5; -T.mail=\"a\";");
    assert_string_equal(claims(&guarded, PUT, one, loud), "+ -"); // still has it
    assert_string_equal(claims(&guarded, UPDATE, two, null), "+ -T.mail=\"b\";T.code=5;");
    assert_string_equal(claims(&guarded, PUT, two, other),
                        "+U.mail=\"a\"; -T.mail=\"b\";T.code=5;");
    assert_string_equal(claims(&guarded, UPDATE, two, NULL), "+ -T.mail=\"b\";T.code=5;");
    assert_string_equal(claims(&guarded, TOUCH, loud, loud), "+T.mail=\"a\"; -T.mail=\"a\";");
    // The same value of two entities or attributes is not the same claim.
    (void)claims(&guarded, PUT, NULL, one);
    struct slice name = exact(&guarded.fixture.arena, guarded.write.claims[0].name);
    (void)claims(&guarded, PUT, NULL, other);
    assert_false(slice_equal(name, guarded.write.claims[0].name));
    error_init(&guarded.error, &guarded.fixture.arena);
    assert_false(
        guarded.guard->ops->taken(guarded.guard, &guarded.write.claims[0], &guarded.error));
    assert_string_equal(guarded.error.message,
                        "Entity U: /mail: expected a value that no other item has, got \"a\"");
    const struct model_violations *details = guarded.error.details;
    assert_int_equal(details->count, 1);
    assert_true(slice_is(details->list[0].pointer, "/mail"));
    guarded_release(&guarded);
}

static void test_details(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, model);
    (void)written(&guarded, PUT, NULL, "{\"kind\":\"User\",\"email\":\"x\"}");
    const struct model_violations *details = guarded.error.details;
    assert_non_null(details);
    assert_true(slice_is(details->entity, "User"));
    assert_int_equal(details->count, 1);
    assert_true(slice_is(details->list[0].pointer, "/email"));
    assert_true(slice_is(details->list[0].expected, "email"));
    assert_true(slice_is(details->list[0].actual, "\"x\""));
    (void)written(&guarded, PUT, NULL, "{\"kind\":\"x\"}");
    details = guarded.error.details;
    assert_int_equal(details->entity.len, 0);
    assert_int_equal(details->count, 1);
    assert_int_equal(details->list[0].pointer.len, 0);
    guarded_release(&guarded);
}

// A stored item as it is.
static const char *judged(struct guarded *guarded, const char *item)
{
    struct arena *arena = &guarded->fixture.arena;
    struct model_violations *found = model_guard_judge(guarded->guard, arena, item_of(arena, item));
    assert_non_null(found);
    const char *all = "";
    for (size_t i = 0; i < found->count; i++)
        all = arena_printf(arena, "%s%.*s: %.*s, %.*s; ", all, SLICE_FMT(found->list[i].pointer),
                           SLICE_FMT(found->list[i].expected), SLICE_FMT(found->list[i].actual));
    assert_non_null(all);
    return all;
}

static void test_judge(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, model);
    assert_string_equal(judged(&guarded, USER), "");
    assert_string_equal(
        judged(&guarded,
               "{\"GSI2PK\":\"GOOGLE\",\"PK\":\"USER#" U1 "\",\"SK\":\"META\",\"createdAt\":\"" NOW
               "\",\"email\":\"A@b.de\",\"role\":\"root\",\"updatedAt\":\"" NOW
               "\",\"userId\":\"" U1 "\"}"),
        "/email: \"a@b.de\", \"A@b.de\"; /kind: \"User\", nothing; /GSI1PK: \"EMAIL\", nothing; "
        "/GSI1SK: \"A@b.de\", nothing; /GSI2PK: nothing, \"GOOGLE\"; /role: \"user\" | \"admin\", "
        "\"root\"; ");
    assert_string_equal(judged(&guarded, "{\"PK\":\"a\",\"SK\":\"b\"}"),
                        ": an item of one entity, PK \"a\" and SK \"b\" can be no entity's; ");
    guarded_release(&guarded);
}

// Native keys, numbers as keys, indexes over native attributes and with several parts.
static void test_native(void **state)
{
    (void)state;
    static const char text[] = "table events { key device, at number\n"
                               "  index byKind (kind + zone, at number) for all\n"
                               "  index byDay (day, device) }\n"
                               "entity Event {\n"
                               "  byDay = \"{time:yyyy-mm-dd}\", device\n"
                               "  device string = \"d\"\n"
                               "  at number\n"
                               "  kind string?\n"
                               "  zone string?\n"
                               "  time timestamp?\n"
                               "}\n";
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"at\":5,\"time\":\"2026-11-16T00:00:00Z\"}",
         "{\"at\":5,\"day\":\"2026-11-16\",\"device\":\"d\",\"time\":\"2026-11-16T00:00:00."
         "000Z\"}"},
        {PUT, NULL, "{\"at\":5,\"kind\":\"k\",\"zone\":\"z\"}",
         "{\"at\":5,\"device\":\"d\",\"kind\":\"k\",\"zone\":\"z\"}"},
        {PUT, NULL, "{\"kind\":\"k\"}", "Entity Event: /at: expected number, got nothing"},
    };
    RUN(text, cases);
}

// Fields of objects are completed however deep they are, also of a type that contains itself.
static void test_nested(void **state)
{
    (void)state;
    static const char text[] =
        "type Node { name: string lower trim  weight: number = 1  note: string? = \"n\"\n"
        "  kids: Node[]? }\n"
        "table things { key id }\n"
        "entity E { id string  node (Node | null)?  all Record<string, Node>? }\n";
    static const char whole[] =
        "{\"id\":\"i\",\"node\":{\"kids\":[{\"name\":\"b\",\"note\":\"n\",\"weight\":1}],\"name\":"
        "\"a\",\"note\":\"n\",\"weight\":2}}";
    static const struct case_ cases[] = {
        {PUT, NULL,
         "{\"id\":\"i\",\"node\":{\"kids\":[{\"name\":\" B\"}],\"name\":\"A\",\"weight\":2}}",
         whole},
        {PUT, NULL, whole, whole},
        {PUT, NULL, "{\"all\":{\"k\":{\"name\":\"X\"}},\"id\":\"i\",\"node\":null}",
         "{\"all\":{\"k\":{\"name\":\"x\",\"note\":\"n\",\"weight\":1}},\"id\":\"i\",\"node\":"
         "null}"},
        // What is required stays what it was; only a new object gets the default.
        {UPDATE, whole, "{\"id\":\"i\",\"node\":{\"name\":\"A\"}}",
         "{\"id\":\"i\",\"node\":{\"name\":\"a\",\"weight\":2}}"},
        {PUT, whole, "{\"id\":\"i\",\"node\":{\"name\":\"A\"}}",
         "{\"id\":\"i\",\"node\":{\"name\":\"a\",\"weight\":2}}"},
        {UPDATE, "{\"id\":\"i\"}", "{\"id\":\"i\",\"node\":{\"name\":\"A\"}}",
         "{\"id\":\"i\",\"node\":{\"name\":\"a\",\"weight\":1}}"},
        {PUT, NULL, "{\"id\":\"i\",\"node\":{\"kids\":[{\"weight\":1},\"x\"],\"name\":1}}",
         "Entity E: /node/kids/0/name: expected string, got nothing; /node/kids/1: expected Node, "
         "got \"x\"; /node/name: expected string, got 1"},
    };
    RUN(text, cases);
}

// An attribute of the key that need not be there must be there all the same.
static void test_optional_key(void **state)
{
    (void)state;
    static const char text[] = "table things { key PK, id }\n"
                               "entity E { PK = \"E#{a}#{b.c}\"  a string?  b { c: number? }?\n"
                               "  id string? }\n";
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"b\":{\"c\":1},\"id\":\"x\"}",
         "Entity E: /a: expected a value, as PK is made of it, got nothing"},
        {PUT, NULL, "{\"a\":\"1\",\"b\":{},\"id\":\"x\"}",
         "Entity E: /b/c: expected a value, as PK is made of it, got nothing"},
        {PUT, NULL, "{\"a\":\"1\",\"b\":{\"c\":2}}",
         "Entity E: /id: expected a value, as it is the table's key, got nothing"},
        {PUT, NULL, "{\"a\":\"1\",\"b\":{\"c\":2},\"id\":\"x\"}",
         "{\"PK\":\"E#1#2\",\"a\":\"1\",\"b\":{\"c\":2},\"id\":\"x\"}"},
    };
    RUN(text, cases);
}

// Two indexes share an attribute: it stays as long as one entry needs it.
static void test_shared(void **state)
{
    (void)state;
    static const char text[] = "table t1x { key id  index one (K, S1)  index two (K, S2) }\n"
                               "entity E { K = \"k#{id}\"  S1 = \"1#{a}\"  S2 = \"2#{b}\"\n"
                               "  id string  a string?  b string? }\n";
    static const struct case_ cases[] = {
        {PUT, NULL, "{\"id\":\"i\",\"a\":\"a\"}",
         "{\"K\":\"k#i\",\"S1\":\"1#a\",\"a\":\"a\",\"id\":\"i\"}"},
        {PUT, NULL, "{\"id\":\"i\",\"b\":\"b\"}",
         "{\"K\":\"k#i\",\"S2\":\"2#b\",\"b\":\"b\",\"id\":\"i\"}"},
        {PUT, NULL, "{\"id\":\"i\"}", "{\"id\":\"i\"}"},
    };
    RUN(text, cases);
}

// Without memory a write fails as such, and nothing is read or freed that should not be.
static void test_budget(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, model);
    struct slice item = item_of(&guarded.fixture.arena, "{\"kind\":\"User\",\"email\":\"A@b.de\"}");
    unsigned failures = 0;
    for (size_t budget = 0; budget < 64 << 10; budget += 512) {
        struct arena arena;
        arena_init(&arena, budget);
        error_init(&guarded.error, &guarded.fixture.arena);
        struct slice made = item;
        struct guard_settled settled;
        if (!model_guard_prepare(guarded.guard, &guarded.fixture.env, &arena, NULL, &made, &settled,
                                 &guarded.error)) {
            assert_int_equal(guarded.error.code, ERR_BUDGET);
            failures++;
        }
        arena_release(&arena);
    }
    assert_true(failures > 0 && failures < 128);
    guarded_release(&guarded);
}

// ---- Work ---------------------------------------------------------------------------------------

// {"id":"1","l":[v,v,…]}
static struct slice long_list(struct fixture *fixture, size_t members, const char *value)
{
    struct buf text;
    buf_init(&text, 4 << 20);
    buf_text(&text, "{\"id\":\"1\",\"l\":[");
    for (size_t i = 0; i < members; i++) {
        buf_text(&text, i == 0 ? "" : ",");
        buf_text(&text, value);
    }
    buf_add(&text, "]}", 3);
    struct slice item = item_of(&fixture->arena, (char *)text.ptr);
    buf_release(&text);
    return item;
}

static bool write_counted(struct guarded *guarded, struct slice item, bool touch,
                          struct steps *steps)
{
    error_init(&guarded->error, &guarded->fixture.arena);
    guarded->write = (struct guard_write){.before = item,
                                          .after = item,
                                          .touch = touch,
                                          .env = &guarded->fixture.env,
                                          .arena = &guarded->arena,
                                          .steps = steps};
    return guarded->guard->ops->write(guarded->guard, &guarded->write, &guarded->error);
}

// A guard that has more to do than its caller has steps gives up, and says nothing.
static void test_steps(void **state)
{
    (void)state;
    enum { MEMBERS = 30000 };
    struct guarded guarded;
    guarded_init(&guarded, "table things { key id }\n"
                           "type Json = string | number | boolean | null | Json[] | "
                           "Record<string, Json>\n"
                           "entity E { id string  l Json? }\n");
    struct slice item = long_list(&guarded.fixture, MEMBERS, "null");
    struct steps steps = {.limit = LIMIT_WRITER_WORK};
    assert_false(write_counted(&guarded, item, false, &steps));
    assert_int_equal(guarded.error.code, ERR_NONE);
    assert_true(steps_over(&steps));
    assert_true(steps.taken < LIMIT_WRITER_WORK + 100);
    steps = (struct steps){.taken = 5};
    assert_true(write_counted(&guarded, item, false, &steps));
    assert_in_range(steps.taken, MEMBERS, 10 * MEMBERS);
    assert_ptr_equal(guarded.write.after.ptr, item.ptr);
    // So does a put that is prepared.
    steps = (struct steps){.limit = LIMIT_INLINE_STEPS};
    struct slice sent = item;
    struct guard_settled settled;
    assert_false(model_guard_prepare(guarded.guard, &guarded.fixture.env, &guarded.arena, &steps,
                                     &sent, &settled, &guarded.error));
    assert_int_equal(guarded.error.code, ERR_NONE);
    assert_ptr_equal(sent.ptr, item.ptr);
    // A small item takes few.
    steps = (struct steps){.limit = 100};
    assert_true(write_counted(&guarded, long_list(&guarded.fixture, 3, "1"), false, &steps));
    guarded_release(&guarded);
}

// There is an end to what is done for an item, whoever asks.
static void test_too_much(void **state)
{
    (void)state;
    struct guarded guarded;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "table things { key id }\ntype Many = 0");
    for (int i = 1; i < 900; i++)
        buf_printf(&text, " | %d", i);
    buf_add(&text, "\nentity E { id string  l Many[]? }\n", 36);
    guarded_init(&guarded, (char *)text.ptr);
    buf_release(&text);
    struct slice item = long_list(&guarded.fixture, 20000, "899");
    const char *said = "The item takes too much work to check against the model of its table: make "
                       "it smaller, or its types simpler";
    struct steps steps = {.taken = 0};
    assert_false(write_counted(&guarded, item, false, &steps));
    assert_int_equal(guarded.error.code, ERR_VALIDATION);
    assert_string_equal(guarded.error.message, said);
    assert_in_range(steps.taken, LIMIT_GUARD_WORK, LIMIT_GUARD_WORK + 1000);
    assert_false(write_counted(&guarded, item, false, NULL));
    assert_string_equal(guarded.error.message, said);
    // A backfill leaves it, and reports it.
    assert_true(write_counted(&guarded, item, true, NULL));
    assert_true(slice_is(guarded.write.warnings, said));
    assert_ptr_equal(guarded.write.after.ptr, item.ptr);
    struct model_violations *found = model_guard_judge(guarded.guard, &guarded.arena, item);
    assert_non_null(found);
    assert_int_equal(found->count, 1);
    assert_true(slice_is(found->list[0].expected, "an item that can be checked"));
    guarded_release(&guarded);
}

// What is hashed and normalised counts, too.
static void test_texts_count(void **state)
{
    (void)state;
    struct guarded guarded;
    guarded_init(&guarded, "table things { key id }\n"
                           "entity E { id string  l string[]  big string lower\n"
                           "  h string = sha256(big) on update }\n");
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "{\"id\":\"1\",\"l\":[],\"h\":\"x\",\"big\":\"");
    for (int i = 0; i < 10000; i++)
        buf_text(&text, "abcdefgh");
    buf_add(&text, "\"}", 3);
    struct slice item = item_of(&guarded.fixture.arena, (char *)text.ptr);
    buf_release(&text);
    struct steps steps = {.taken = 0};
    assert_true(write_counted(&guarded, item, false, &steps));
    assert_in_range(steps.taken, 40000, 100000);
    guarded_release(&guarded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_items),    cmocka_unit_test(test_violations),
        cmocka_unit_test(test_updates),      cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_version),      cmocka_unit_test(test_touch),
        cmocka_unit_test(test_modes),        cmocka_unit_test(test_unmatched),
        cmocka_unit_test(test_unique),       cmocka_unit_test(test_details),
        cmocka_unit_test(test_judge),        cmocka_unit_test(test_native),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_shared),
        cmocka_unit_test(test_optional_key), cmocka_unit_test(test_budget),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_texts_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
