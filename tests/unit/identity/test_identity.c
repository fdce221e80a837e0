// Identities: kept, compiled, found, changed under readers, and refused when they are damaged.
#include "engine/record.h"
#include "engine/support.h"
#include "identity/identity_internal.h"
#include "value/map.h"

#define ALLOW "{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"}}"
#define DENY  "{\"Statement\":{\"Effect\":\"Deny\",\"Action\":\"*\",\"Resource\":\"*\"}}"
#define TRUST                                                                                      \
    "{\"Statement\":{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"sts:AssumeRole\"}}"

struct house {
    struct world world;
    struct workshop shop;
    struct crypt_key master;
    struct identity *identity;
};

static void house_open(struct house *house)
{
    char error[256];
    *house = (struct house){.identity = NULL};
    world_open(&house->world);
    house->shop.engine = house->world.engine;
    memset(house->master.bytes, 7, CRYPT_KEY);
    house->identity = identity_open(&house->shop, &house->master, error, sizeof(error));
    assert_non_null(house->identity);
}

static void house_close(struct house *house)
{
    identity_close(house->identity);
    world_close(&house->world);
}

static void house_reopen(struct house *house)
{
    char error[256];
    identity_close(house->identity);
    house->identity = identity_open(&house->shop, &house->master, error, sizeof(error));
    assert_non_null(house->identity);
}

static struct identity_entity *entity(struct house *house, enum identity_kind kind,
                                      const char *name)
{
    struct identity_entity *one = arena_zalloc(&house->world.arena, 1, sizeof(*one));
    assert_non_null(one);
    one->kind = kind;
    one->name = slice_str(name);
    one->path = SLICE_LIT("/");
    one->id = slice_str(name);
    return one;
}

static void put(struct house *house, const struct identity_entity *one)
{
    struct identity_change change;
    identity_change_begin(&change, house->identity, &house->world.arena, &house->world.error);
    identity_change_put(&change, one);
    assert_true(identity_change_commit(&change));
    identity_change_end(&change);
}

static void put_key(struct house *house, const char *id, const char *user, const char *secret)
{
    struct identity_entity *key = entity(house, IDENTITY_KEY, id);
    key->user = slice_str(user);
    key->secret = slice_str(secret);
    put(house, key);
}

// ada, who is in a group and has a policy of each kind, and a key.
static void furnish(struct house *house)
{
    struct identity_entity *policy = entity(house, IDENTITY_POLICY, "all");
    struct identity_entity *group = entity(house, IDENTITY_GROUP, "staff");
    struct identity_entity *ada = entity(house, IDENTITY_USER, "ada");
    policy->document = SLICE_LIT(ALLOW);
    put(house, policy);
    group->inlines[group->inline_count++] =
        (struct identity_inline){SLICE_LIT("no"), SLICE_LIT(DENY)};
    put(house, group);
    ada->path = SLICE_LIT("/team/");
    ada->attached[ada->attached_count++].name = SLICE_LIT("all");
    ada->inlines[ada->inline_count++] =
        (struct identity_inline){SLICE_LIT("own"), SLICE_LIT(ALLOW)};
    ada->groups[ada->group_count++].name = SLICE_LIT("staff");
    ada->boundary = SLICE_LIT("all");
    ada->tags[ada->tag_count++] = (struct caller_tag){SLICE_LIT("team"), SLICE_LIT("red")};
    ada->tenant = SLICE_LIT("p1");
    ada->bound = true;
    put(house, ada);
    put_key(house, "AKIA1", "ada", "secret one");
}

static void expect_ada(struct house *house)
{
    struct identity_seat *seat = identity_seat_new(house->identity);
    struct identity_guest guest;
    struct slice team;
    identity_seat_look(seat, SLICE_LIT("AKIA1"), slice_of(NULL, 0), 0, &house->world.arena, &guest);
    assert_true(guest.known);
    assert_true(slice_is(guest.secret, "secret one"));
    assert_true(slice_is(guest.caller.principal.arn, "arn:aws:iam::000000000000:user/team/ada"));
    assert_true(slice_is(guest.caller.access_key, "AKIA1"));
    assert_int_equal(guest.caller.policies.identity_count, 3);
    assert_non_null(guest.caller.policies.boundary);
    assert_true(caller_tag(&guest.caller, SLICE_LIT("team"), &team) && slice_is(team, "red"));
    assert_true(guest.caller.bound && slice_is(guest.caller.tenant, "p1"));
    identity_guest_leave(&guest);
    identity_seat_free(seat);
}

static bool known(struct house *house, const char *id)
{
    struct identity_seat *seat = identity_seat_new(house->identity);
    struct identity_guest guest;
    identity_seat_look(seat, slice_str(id), slice_of(NULL, 0), 0, &house->world.arena, &guest);
    bool is = guest.known;
    assert_true(guest.secret.len > 0); // of nobody, if it is unknown
    identity_guest_leave(&guest);
    identity_seat_free(seat);
    return is;
}

static void test_kept(void **state)
{
    (void)state;
    struct house house;
    house_open(&house);
    furnish(&house);
    expect_ada(&house);
    house_reopen(&house);
    expect_ada(&house);
    assert_false(known(&house, "AKIA2"));
    struct identity_entity *key = entity(&house, IDENTITY_KEY, "AKIA1");
    key->user = SLICE_LIT("ada");
    key->secret = SLICE_LIT("secret one");
    key->inactive = true;
    put(&house, key);
    assert_false(known(&house, "AKIA1"));
    house_close(&house);
}

static void test_nothing_is_readable(void **state)
{
    (void)state;
    struct house house;
    struct slice value;
    house_open(&house);
    furnish(&house);
    assert_true(engine_record(house.world.engine, SLICE_LIT("identity/key/AKIA1"),
                              &house.world.arena, &value, &house.world.error));
    assert_true(value.len > 0);
    assert_null(memmem(value.ptr, value.len, "secret", 6));
    house_close(&house);
}

static void test_other_master_key(void **state)
{
    (void)state;
    struct house house;
    char error[256];
    house_open(&house);
    furnish(&house);
    house.master.bytes[0] ^= 1;
    assert_null(identity_open(&house.shop, &house.master, error, sizeof(error)));
    assert_non_null(strstr(error, "sealed under the master key"));
    house_close(&house);
}

// ---- Damage ------------------------------------------------------------------------------------

static void write_record(struct house *house, const char *name, struct slice value)
{
    struct record_write write = {slice_str(name), value};
    struct record_job job;
    record_job_init(&job, &house->world.error);
    job.count = 1;
    job.writes = &write;
    assert_true(engine_run(house->world.engine, &job.job));
}

static struct slice read_record(struct house *house, const char *name)
{
    struct slice value;
    assert_true(engine_record(house->world.engine, slice_str(name), &house->world.arena, &value,
                              &house->world.error));
    return value;
}

// Whoever depends on a damaged record is refused, whatever it is.
static void test_damage(void **state)
{
    (void)state;
    static const char *const names[] = {"identity/policy/all", "identity/group/staff",
                                        "identity/user/ada", "identity/key/AKIA1"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct house house;
        house_open(&house);
        furnish(&house);
        struct slice value = read_record(&house, names[i]);
        uint8_t *bytes = (uint8_t *)(uintptr_t)value.ptr;
        bytes[value.len - 3] ^= 1; // of what is sealed, or its tag
        write_record(&house, names[i], value);
        house_reopen(&house);
        assert_false(known(&house, "AKIA1"));
        // One that has gone is no better.
        write_record(&house, names[i], slice_of(NULL, 0));
        house_reopen(&house);
        assert_false(known(&house, "AKIA1"));
        house_close(&house);
    }
}

// A record that was kept under another name does not open there.
static void test_exchanged(void **state)
{
    (void)state;
    struct house house;
    house_open(&house);
    furnish(&house);
    struct identity_entity *mallory = entity(&house, IDENTITY_USER, "mallory");
    mallory->inlines[mallory->inline_count++] =
        (struct identity_inline){SLICE_LIT("no"), SLICE_LIT(DENY)};
    put(&house, mallory);
    put_key(&house, "AKIAM", "mallory", "other");
    assert_true(known(&house, "AKIAM"));
    write_record(&house, "identity/user/mallory", read_record(&house, "identity/user/ada"));
    house_reopen(&house);
    assert_false(known(&house, "AKIAM"));
    assert_true(known(&house, "AKIA1"));
    house_close(&house);
}

static void test_bad_policy(void **state)
{
    (void)state;
    struct house house;
    house_open(&house);
    furnish(&house);
    struct identity_entity *policy = entity(&house, IDENTITY_POLICY, "all");
    policy->document = SLICE_LIT("{\"Statement\":7}");
    put(&house, policy);
    assert_false(known(&house, "AKIA1"));
    house_close(&house);
}

// ---- Readers -----------------------------------------------------------------------------------

static void test_lease_outlives_change(void **state)
{
    (void)state;
    struct house house;
    struct identity_guest guest;
    house_open(&house);
    furnish(&house);
    struct identity_seat *seat = identity_seat_new(house.identity);
    identity_seat_look(seat, SLICE_LIT("AKIA1"), slice_of(NULL, 0), 0, &house.world.arena, &guest);
    struct identity_change change;
    identity_change_begin(&change, house.identity, &house.world.arena, &house.world.error);
    identity_change_remove(&change, IDENTITY_KEY, SLICE_LIT("AKIA1"));
    identity_change_remove(&change, IDENTITY_USER, SLICE_LIT("ada"));
    assert_true(identity_change_commit(&change));
    identity_change_end(&change);
    struct identity_guest later;
    identity_seat_look(seat, SLICE_LIT("AKIA1"), slice_of(NULL, 0), 0, &house.world.arena, &later);
    assert_false(later.known);
    assert_true(slice_is(guest.secret, "secret one")); // whoever came before goes on
    identity_guest_leave(&later);
    identity_guest_leave(&guest);
    identity_seat_free(seat);
    house_close(&house);
}

// ---- Sessions ----------------------------------------------------------------------------------

static void role_put(struct house *house, const char *id)
{
    struct identity_entity *role = entity(house, IDENTITY_ROLE, "reader");
    role->id = slice_str(id);
    role->document = SLICE_LIT(TRUST);
    role->inlines[role->inline_count++] =
        (struct identity_inline){SLICE_LIT("own"), SLICE_LIT(ALLOW)};
    role->tags[role->tag_count++] = (struct caller_tag){SLICE_LIT("team"), SLICE_LIT("red")};
    role->tags[role->tag_count++] = (struct caller_tag){SLICE_LIT("kind"), SLICE_LIT("role")};
    put(house, role);
}

static void test_session(void **state)
{
    (void)state;
    struct house house;
    struct buf token;
    struct identity_guest guest;
    struct slice text;
    house_open(&house);
    role_put(&house, "AROA1");
    struct identity_session *session = arena_zalloc(&house.world.arena, 1, sizeof(*session));
    *session = (struct identity_session){.key = SLICE_LIT("ASIA1"),
                                         .secret = SLICE_LIT("passing"),
                                         .issued_s = 1000,
                                         .expires_s = 2000,
                                         .role = SLICE_LIT("reader"),
                                         .id = SLICE_LIT("AROA1"),
                                         .name = SLICE_LIT("now"),
                                         .tag_count = 1,
                                         .policy_count = 1};
    session->tags[0] = (struct caller_tag){SLICE_LIT("team"), SLICE_LIT("blue")};
    session->policies[0].name = SLICE_LIT(ALLOW);
    buf_init(&token, 1 << 16);
    assert_true(identity_token_make(house.identity, session, &house.world.arena, &token,
                                    &house.world.error));
    struct identity_seat *seat = identity_seat_new(house.identity);
    for (int i = 0; i < 2; i++) { // opened, and then open
        identity_seat_look(seat, SLICE_LIT("ASIA1"), buf_view(&token), 1999, &house.world.arena,
                           &guest);
        assert_true(guest.known && !guest.token_expired && !guest.token_foreign);
        assert_true(slice_is(guest.secret, "passing"));
        assert_true(slice_is(guest.caller.principal.arn,
                             "arn:aws:sts::000000000000:assumed-role/reader/now"));
        assert_true(
            slice_is(guest.caller.principal.identity, "arn:aws:iam::000000000000:role/reader"));
        assert_true(slice_is(guest.caller.user_id, "AROA1:now"));
        assert_int_equal(guest.caller.policies.session_count, 1);
        assert_true(caller_tag(&guest.caller, SLICE_LIT("team"), &text) && slice_is(text, "blue"));
        assert_true(caller_tag(&guest.caller, SLICE_LIT("kind"), &text) && slice_is(text, "role"));
        assert_int_equal(guest.caller.tag_count, 2);
        identity_guest_leave(&guest);
    }
    identity_seat_look(seat, SLICE_LIT("ASIA1"), buf_view(&token), 2000, &house.world.arena,
                       &guest);
    assert_true(guest.known && guest.token_expired);
    identity_guest_leave(&guest);
    // Another key, a token that was changed, a role that was made again.
    identity_seat_look(seat, SLICE_LIT("ASIA2"), buf_view(&token), 0, &house.world.arena, &guest);
    assert_false(guest.known);
    identity_guest_leave(&guest);
    token.ptr[token.len / 2] ^= 1;
    identity_seat_look(seat, SLICE_LIT("ASIA1"), buf_view(&token), 0, &house.world.arena, &guest);
    assert_false(guest.known);
    identity_guest_leave(&guest);
    token.ptr[token.len / 2] ^= 1;
    role_put(&house, "AROA2");
    identity_seat_look(seat, SLICE_LIT("ASIA1"), buf_view(&token), 0, &house.world.arena, &guest);
    assert_false(guest.known);
    identity_guest_leave(&guest);
    identity_seat_free(seat);
    buf_release(&token);
    house_close(&house);
}

static void test_certificate(void **state)
{
    (void)state;
    struct house house;
    struct identity_guest guest;
    house_open(&house);
    furnish(&house);
    struct identity_entity *bob = entity(&house, IDENTITY_USER, "bob");
    bob->certificate = SLICE_LIT("0123abcd");
    put(&house, bob);
    struct identity_seat *seat = identity_seat_new(house.identity);
    identity_seat_certificate(seat, SLICE_LIT("0123abcd"), SLICE_LIT("CN=x"), &guest);
    assert_true(guest.known && slice_is(guest.caller.principal.name, "bob"));
    identity_guest_leave(&guest);
    // Those who have none are not those of an empty name.
    identity_seat_certificate(seat, SLICE_LIT("77"), slice_of(NULL, 0), &guest);
    assert_false(guest.known);
    identity_guest_leave(&guest);
    identity_seat_free(seat);
    house_close(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_nothing_is_readable),
        cmocka_unit_test(test_other_master_key),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_exchanged),
        cmocka_unit_test(test_bad_policy),
        cmocka_unit_test(test_lease_outlives_change),
        cmocka_unit_test(test_session),
        cmocka_unit_test(test_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
