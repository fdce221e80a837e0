// All identities at one moment, compiled. Made beside the requests, read by all threads.
#include "identity/identity_internal.h"

#include "base/hash.h"
#include "base/log.h"
#include "engine/record.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>

#define DAMAGED_RECORD "its record does not open"
#define DAMAGED_POLICY "one of its policies cannot be used"
#define DAMAGED_OWNER  "its user is not there, or damaged"

struct maker {
    struct identity *identity;
    const struct identity_view *before;
    struct identity_view *view;
    size_t rooms[IDENTITY_KINDS];
    size_t compiled_room;
    bool full; // memory is used up
};

// ---- Reading -----------------------------------------------------------------------------------

static struct identity_one *add_one(struct maker *maker, enum identity_kind kind)
{
    struct identity_view *view = maker->view;
    size_t *room = &maker->rooms[kind];
    if (view->counts[kind] == *room) {
        size_t larger = *room == 0 ? 16 : *room * 2;
        struct identity_one *list = realloc(view->lists[kind], larger * sizeof(*list));
        ensure_memory(list);
        view->lists[kind] = list;
        *room = larger;
    }
    struct identity_one *one = &view->lists[kind][view->counts[kind]++];
    memset(one, 0, sizeof(*one));
    return one;
}

static bool read_one(void *context, struct slice name, struct slice value)
{
    struct maker *maker = context;
    struct slice rest;
    enum identity_kind kind = record_kind(name, &rest);
    if (kind == IDENTITY_KINDS)
        return true; // the seal
    struct identity_one *one = add_one(maker, kind);
    if (record_open(maker->identity, name, value, &maker->view->arena, &one->entity))
        return true;
    // It is there, so that it is told, and whoever depends on it is refused.
    memset(one, 0, sizeof(*one));
    one->entity.kind = kind;
    one->entity.name = arena_copy(&maker->view->arena, rest);
    one->damage = DAMAGED_RECORD;
    maker->full = one->entity.name.ptr == NULL;
    return !maker->full;
}

// ---- Compiling ---------------------------------------------------------------------------------

static int compiled_order(const void *a, const void *b)
{
    const struct compiled *left = a;
    const struct compiled *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return slice_compare(left->document, right->document);
}

static struct policy *compiled_before(const struct maker *maker, const struct compiled *wanted)
{
    if (maker->before == NULL || maker->before->compiled_count == 0)
        return NULL;
    const struct compiled *found =
        bsearch(wanted, maker->before->compiled, maker->before->compiled_count, sizeof(*wanted),
                compiled_order);
    return found == NULL ? NULL : policy_hold(found->policy);
}

// The view has the policy; NULL if the document is none. A resource policy is what a role trusts.
static const struct policy *compile(struct maker *maker, struct slice document,
                                    enum policy_kind kind)
{
    struct identity_view *view = maker->view;
    struct policy_fault fault;
    struct compiled one = {document, kind, NULL};
    one.policy = compiled_before(maker, &one);
    if (one.policy == NULL && kind == POLICY_RESOURCE)
        one.policy = policy_compile_trust(document, &fault);
    else if (one.policy == NULL)
        one.policy = policy_compile(document, kind, NULL, NULL, &fault);
    if (one.policy == NULL)
        return NULL;
    if (view->compiled_count == maker->compiled_room) {
        maker->compiled_room = maker->compiled_room == 0 ? 16 : maker->compiled_room * 2;
        struct compiled *larger = realloc(view->compiled, maker->compiled_room * sizeof(*larger));
        ensure_memory(larger);
        view->compiled = larger;
    }
    view->compiled[view->compiled_count++] = one;
    return one.policy;
}

// ---- Putting together --------------------------------------------------------------------------

static struct slice make_arn(struct maker *maker, const struct identity_entity *entity)
{
    struct slice path = entity->path.len == 0 ? SLICE_LIT("/") : entity->path;
    const char *text =
        arena_printf(&maker->view->arena, "arn:aws:iam::" IDENTITY_ACCOUNT ":%s%.*s%.*s",
                     identity_word(entity->kind), SLICE_FMT(path), SLICE_FMT(entity->name));
    maker->full = maker->full || text == NULL;
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

struct gathering {
    const struct policy **list;
    size_t count;
    bool damaged;
};

static void gather(struct gathering *to, const struct policy *policy)
{
    if (policy == NULL)
        to->damaged = true;
    else
        to->list[to->count++] = policy;
}

static const struct policy *managed(const struct maker *maker, struct slice name)
{
    const struct identity_one *one = identity_find(maker->view, IDENTITY_POLICY, name);
    return one == NULL || one->damage != NULL ? NULL : one->compiled;
}

// Own and attached policies of a user, a group or a role.
static void gather_own(struct maker *maker, const struct identity_entity *entity,
                       struct gathering *to)
{
    for (size_t i = 0; i < entity->inline_count; i++)
        gather(to, compile(maker, entity->inlines[i].document, POLICY_IDENTITY));
    for (size_t i = 0; i < entity->attached_count; i++)
        gather(to, managed(maker, entity->attached[i].name));
}

// A group's policies are its own alone, so that its members take them from it.
static void gather_groups(const struct maker *maker, const struct identity_entity *user,
                          struct gathering *to)
{
    for (size_t i = 0; i < user->group_count; i++) {
        const struct identity_one *group =
            identity_find(maker->view, IDENTITY_GROUP, user->groups[i].name);
        if (group == NULL || group->damage != NULL) {
            to->damaged = true;
            continue;
        }
        for (size_t k = 0; k < group->policy_count; k++)
            gather(to, group->policies[k]);
    }
}

enum {
    POLICIES_MAX =
        (LIMIT_IDENTITY_INLINES + LIMIT_IDENTITY_ATTACHED) * (LIMIT_IDENTITY_MEMBERSHIPS + 1)
};

static void complete_holder(struct maker *maker, struct identity_one *one)
{
    const struct policy *list[POLICIES_MAX];
    struct gathering gathering = {list, 0, false};
    gather_own(maker, &one->entity, &gathering);
    gather_groups(maker, &one->entity, &gathering);
    const struct policy **kept =
        arena_zalloc(&maker->view->arena, gathering.count + 1, sizeof(*kept));
    if (kept == NULL) {
        maker->full = true;
        return;
    }
    memcpy(kept, list, gathering.count * sizeof(*kept));
    one->policies = kept;
    one->policy_count = gathering.count;
    if (one->entity.boundary.len > 0) {
        const struct identity_one *boundary =
            identity_find(maker->view, IDENTITY_POLICY, one->entity.boundary);
        if (boundary != NULL && boundary->damage == NULL)
            one->boundary = compile(maker, boundary->entity.document, POLICY_BOUNDARY);
        gathering.damaged = gathering.damaged || one->boundary == NULL;
    }
    if (one->entity.kind == IDENTITY_ROLE) {
        one->compiled = compile(maker, one->entity.document, POLICY_RESOURCE);
        gathering.damaged = gathering.damaged || one->compiled == NULL;
    }
    if (gathering.damaged)
        one->damage = DAMAGED_POLICY;
}

static void complete_one(struct maker *maker, struct identity_one *one)
{
    if (one->damage == NULL) {
        if (one->entity.kind != IDENTITY_KEY)
            one->arn = make_arn(maker, &one->entity);
        if (one->entity.kind == IDENTITY_POLICY) {
            one->compiled = compile(maker, one->entity.document, POLICY_IDENTITY);
            one->damage = one->compiled == NULL ? DAMAGED_POLICY : NULL;
        } else if (one->entity.kind == IDENTITY_KEY) {
            one->owner = identity_find(maker->view, IDENTITY_USER, one->entity.user);
            if (one->owner == NULL || one->owner->damage != NULL)
                one->damage = DAMAGED_OWNER;
        } else {
            complete_holder(maker, one);
        }
    }
    if (one->damage != NULL)
        log_warn("the %s %.*s is refused: %s", identity_word(one->entity.kind),
                 SLICE_FMT(one->entity.name), one->damage);
}

// Policies before what they are attached to, groups before users, users before keys.
static void complete(struct maker *maker)
{
    static const enum identity_kind order[] = {IDENTITY_POLICY, IDENTITY_GROUP, IDENTITY_USER,
                                               IDENTITY_ROLE, IDENTITY_KEY};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct identity_one *list = maker->view->lists[order[i]];
        for (size_t k = 0; !maker->full && k < maker->view->counts[order[i]]; k++)
            complete_one(maker, &list[k]);
    }
}

static void fill_slots(struct maker *maker)
{
    struct identity_view *view = maker->view;
    size_t count = view->counts[IDENTITY_KEY];
    size_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    ensure(RAND_bytes((uint8_t *)&view->seed, sizeof(view->seed)) == 1);
    view->slots = calloc(slots, sizeof(*view->slots));
    ensure_memory(view->slots);
    view->slot_count = slots;
    for (size_t i = 0; i < count; i++) {
        const struct identity_one *one = &view->lists[IDENTITY_KEY][i];
        size_t at = hash_of(view->seed, one->entity.name) & (slots - 1);
        while (view->slots[at].one != NULL)
            at = (at + 1) & (slots - 1);
        view->slots[at].one = one;
    }
}

// ---- The whole ---------------------------------------------------------------------------------

struct identity_view *view_make(struct identity *identity, const struct identity_view *before,
                                struct error *error)
{
    struct identity_view *view = memory_zeroed(sizeof(*view));
    struct maker maker = {.identity = identity, .before = before, .view = view};
    view->holders = 1;
    view->generation = before == NULL ? 1 : before->generation + 1;
    arena_init(&view->arena, LIMIT_IDENTITY_MEMORY);
    bool read = engine_records(identity->shop->engine, SLICE_LIT(IDENTITY_PREFIX),
                               slice_of(NULL, 0), read_one, &maker, error);
    if (read && !maker.full)
        complete(&maker);
    if (read && maker.full)
        read = error_set(error, ERR_INTERNAL, "there is too little memory for all identities");
    if (!read) {
        view_free(view);
        return NULL;
    }
    fill_slots(&maker);
    if (view->compiled_count > 0)
        qsort(view->compiled, view->compiled_count, sizeof(*view->compiled), compiled_order);
    return view;
}

void view_free(struct identity_view *view)
{
    const struct identity_one *keys = view->lists[IDENTITY_KEY];
    for (size_t i = 0; i < view->counts[IDENTITY_KEY]; i++) {
        struct slice secret = keys[i].entity.secret;
        if (secret.len > 0)
            OPENSSL_cleanse((void *)(uintptr_t)secret.ptr, secret.len);
    }
    for (size_t i = 0; i < view->compiled_count; i++)
        policy_release(view->compiled[i].policy);
    for (size_t i = 0; i < IDENTITY_KINDS; i++)
        free(view->lists[i]);
    free(view->compiled);
    free(view->slots);
    arena_release(&view->arena);
    free(view);
}

// ---- Looking -----------------------------------------------------------------------------------

static const struct identity_one *find_key(const struct identity_view *view, struct slice id)
{
    size_t mask = view->slot_count - 1;
    for (size_t at = hash_of(view->seed, id) & mask; view->slots[at].one != NULL;
         at = (at + 1) & mask) {
        if (slice_equal(view->slots[at].one->entity.name, id))
            return view->slots[at].one;
    }
    return NULL;
}

// Records come in the order of their names, and so the lists are sorted.
const struct identity_one *identity_find(const struct identity_view *view, enum identity_kind kind,
                                         struct slice name)
{
    if (kind == IDENTITY_KEY && view->slots != NULL)
        return find_key(view, name);
    const struct identity_one *list = view->lists[kind];
    size_t from = 0;
    size_t to = view->counts[kind];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = slice_compare(list[middle].entity.name, name);
        if (order == 0)
            return &list[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

const struct identity_one *identity_list(const struct identity_view *view, enum identity_kind kind,
                                         size_t *count)
{
    *count = view->counts[kind];
    return view->lists[kind];
}

const struct identity_one *identity_of_certificate(const struct identity_view *view,
                                                   struct slice fingerprint, struct slice subject)
{
    for (size_t i = 0; i < view->counts[IDENTITY_USER]; i++) {
        const struct identity_one *user = &view->lists[IDENTITY_USER][i];
        struct slice wanted = user->entity.certificate;
        if (user->damage == NULL && wanted.len > 0 &&
            (slice_equal(wanted, fingerprint) || slice_equal(wanted, subject)))
            return user;
    }
    return NULL;
}

bool identity_has_keys(const struct identity_view *view)
{
    for (size_t i = 0; i < view->counts[IDENTITY_KEY]; i++) {
        const struct identity_one *key = &view->lists[IDENTITY_KEY][i];
        if (key->damage == NULL && !key->entity.inactive)
            return true;
    }
    return false;
}

void identity_caller(const struct identity_one *user, struct caller *out)
{
    *out = (struct caller){
        .principal = {.kind = PRINCIPAL_USER,
                      .arn = user->arn,
                      .partition = SLICE_LIT("aws"),
                      .account = SLICE_LIT(IDENTITY_ACCOUNT),
                      .name = user->entity.name,
                      .identity = user->arn},
        .user_id = user->entity.id,
        .policies = {.identity = user->policies,
                     .identity_count = user->policy_count,
                     .boundary = user->boundary},
        .tags = user->entity.tags,
        .tag_count = user->entity.tag_count,
        .tenant = user->entity.tenant,
        .bound = user->entity.bound,
    };
}
