// Operations on identities: IAM's names and members, as JSON. Every row of the table below is one
// operation; they share one request, whose members are checked by the row.
//
// All of them run on a lane's thread, for a change waits for the disk and compiles policies. What
// is judged under identity_change_begin() is still so at its commit.
#include "call/operation.h"
#include "identity/identity.h"
#include "requests/requests_control.h"

// One operation that is being served.
struct account {
    struct api_call *call;
    struct identity *identity;
    const struct account_request *request;
    const struct account_row *row;
    struct arena *arena;
    struct error *error;
    struct identity_change change;
};

// Members that an operation cannot do without.
enum {
    NEEDS_USER = 1 << 0,
    NEEDS_GROUP = 1 << 1,
    NEEDS_ROLE = 1 << 2,
    NEEDS_POLICY = 1 << 3,
    NEEDS_ARN = 1 << 4,
    NEEDS_KEY = 1 << 5,
    NEEDS_DOCUMENT = 1 << 6,
    NEEDS_TRUST = 1 << 7,
    NEEDS_BOUNDARY = 1 << 8,
    NEEDS_STATUS = 1 << 9,
    NEEDS_TAGS = 1 << 10,
    NEEDS_TAG_KEYS = 1 << 11,
};

struct account_row {
    const char *name;
    enum identity_kind kind; // what is read or changed
    bool adds;               // of the operations that have an opposite
    unsigned needs;
    bool (*run)(struct account *account); // false with the error set
};

// ---- What is asked for -------------------------------------------------------------------------

#define POLICY_ARN "arn:aws:iam::" IDENTITY_ACCOUNT ":policy/"

static const struct slice none = {NULL, 0};

static bool name_valid(struct slice name, size_t most)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (c == 0 || strchr("_+=,.@-", c) == NULL))
            return false;
    }
    return name.len > 0 && name.len <= most;
}

static bool name_check(struct account *account, const char *member, struct slice name, size_t most)
{
    return name_valid(name, most) ||
           error_validation(account->error,
                            "%s has to be 1 to %zu letters, digits or any of _+=,.@-", member,
                            most);
}

static bool missing(struct account *account, enum identity_kind kind, struct slice name)
{
    return error_set(account->error, ERR_RESOURCE_NOT_FOUND,
                     "The %s with name %.*s cannot be found.", identity_word(kind),
                     SLICE_FMT(name));
}

static struct slice asked_name(const struct account_request *request, enum identity_kind kind)
{
    switch (kind) {
    case IDENTITY_USER:
        return request->user_name;
    case IDENTITY_GROUP:
        return request->group_name;
    case IDENTITY_ROLE:
        return request->role_name;
    case IDENTITY_KEY:
        return request->access_key_id;
    case IDENTITY_POLICY:
    case IDENTITY_KINDS:
        break;
    }
    return request->policy_name;
}

// The name in the ARN of a policy of this account, or a name as it is. What is neither is the name
// of nothing.
static struct slice policy_name_of(struct slice text)
{
    static const struct slice prefix = {(const uint8_t *)POLICY_ARN, sizeof(POLICY_ARN) - 1};
    return slice_begins(text, prefix) ? slice_of(text.ptr + prefix.len, text.len - prefix.len)
                                      : text;
}

// A copy that may be changed, of what is there; NULL with the error set.
static struct identity_entity *edit(struct account *account, enum identity_kind kind)
{
    struct slice name = asked_name(account->request, kind);
    const struct identity_one *one = identity_find(account->change.view, kind, name);
    struct identity_entity *copy = arena_zalloc(account->arena, 1, sizeof(*copy));
    if (one == NULL || copy == NULL) {
        (void)(one == NULL ? missing(account, kind, name) : error_budget(account->error));
        return NULL;
    }
    *copy = one->entity;
    return copy;
}

// ---- Documents ---------------------------------------------------------------------------------

static bool document_check(struct account *account, struct slice document, enum policy_kind kind)
{
    struct policy_fault fault = {.line = 0};
    struct policy *policy = kind == POLICY_RESOURCE
                                ? policy_compile_trust(document, &fault)
                                : policy_compile(document, kind, NULL, NULL, &fault);
    policy_release(policy);
    return policy != NULL ||
           error_validation(account->error, "The policy is malformed: line %u, column %u: %s",
                            fault.line, fault.column, fault.message);
}

// ---- Answers -----------------------------------------------------------------------------------

static void write_tags(struct json_writer *w, const struct identity_entity *entity)
{
    json_put_array(w, "Tags");
    for (size_t i = 0; i < entity->tag_count; i++) {
        json_open_object(w);
        json_put_string(w, "Key", entity->tags[i].key);
        json_put_string(w, "Value", entity->tags[i].value);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_key(struct json_writer *w, const struct identity_entity *key, bool secret)
{
    json_put_string(w, "UserName", key->user);
    json_put_string(w, "AccessKeyId", key->name);
    json_put_text(w, "Status", key->inactive ? "Inactive" : "Active");
    if (secret)
        json_put_string(w, "SecretAccessKey", key->secret);
    json_put_time(w, "CreateDate", key->created_ms);
}

// The members of a user, a group, a role or a policy, in the object that is open.
static void write_one(struct json_writer *w, const struct identity_one *one, bool whole)
{
    static const struct {
        const char *name;
        const char *id;
    } members[] = {{"UserName", "UserId"},
                   {"GroupName", "GroupId"},
                   {"RoleName", "RoleId"},
                   {"PolicyName", "PolicyId"}};
    const struct identity_entity *entity = &one->entity;
    if (entity->kind == IDENTITY_KEY) {
        write_key(w, entity, false);
        return;
    }
    json_put_string(w, members[entity->kind].name, entity->name);
    json_put_string(w, members[entity->kind].id, entity->id);
    json_put_string(w, "Arn", one->arn);
    json_put_time(w, "CreateDate", entity->created_ms);
    json_put_given(w, "Description", entity->description);
    if (entity->kind == IDENTITY_ROLE)
        json_put_string(w, "AssumeRolePolicyDocument", entity->document);
    if (entity->kind == IDENTITY_ROLE)
        json_put_integer(w, "MaxSessionDuration", entity->session_s);
    if (entity->kind == IDENTITY_POLICY && whole)
        json_put_string(w, "Document", entity->document);
    json_put_given(w, "PermissionsBoundary", entity->boundary);
    if (one->damage != NULL)
        json_put_text(w, "Damage", one->damage);
    if (whole && entity->kind != IDENTITY_POLICY && entity->kind != IDENTITY_GROUP)
        write_tags(w, entity);
}

static const char *const titles[IDENTITY_KINDS] = {"User", "Group", "Role", "Policy", "AccessKey"};

// {"User":{…}}, as it is now.
static void answer_one(struct account *account, enum identity_kind kind, struct slice name)
{
    struct identity_view *view = identity_view_hold(account->identity);
    const struct identity_one *one = identity_find(view, kind, name);
    if (one == NULL) {
        (void)missing(account, kind, name);
    } else {
        struct json_writer w = call_open(account->call);
        json_put_object(&w, titles[kind]);
        write_one(&w, one, true);
        json_close_object(&w);
        json_close_object(&w);
    }
    identity_view_release(view);
}

static void answer_nothing(struct account *account)
{
    struct json_writer w = call_open(account->call);
    json_close_object(&w);
}

// ---- Making ------------------------------------------------------------------------------------

static bool tags_put(struct account *account, struct identity_entity *entity)
{
    const struct request_tag *tags = account->request->tags.items;
    for (size_t i = 0; i < account->request->tags.count; i++) {
        size_t at = 0;
        while (at < entity->tag_count && !slice_equal(entity->tags[at].key, tags[i].key))
            at++;
        if (at == LIMIT_IDENTITY_TAGS)
            return error_set(account->error, ERR_LIMIT_EXCEEDED, "There may be %d tags",
                             LIMIT_IDENTITY_TAGS);
        entity->tags[at] = (struct caller_tag){tags[i].key, tags[i].value};
        entity->tag_count += at == entity->tag_count;
    }
    return true;
}

static bool boundary_put(struct account *account, struct identity_entity *entity)
{
    struct slice name = policy_name_of(account->request->permissions_boundary);
    if (name.len == 0)
        return true;
    if (identity_find(account->change.view, IDENTITY_POLICY, name) == NULL)
        return missing(account, IDENTITY_POLICY, name);
    entity->boundary = name;
    return true;
}

static bool room_for(struct account *account, enum identity_kind kind)
{
    static const size_t most[IDENTITY_KINDS] = {
#define X(id, word, prefix, most) most,
        IDENTITY_KIND_LIST(X)
#undef X
    };
    size_t count;
    (void)identity_list(account->change.view, kind, &count);
    return count < most[kind] ||
           error_set(account->error, ERR_LIMIT_EXCEEDED, "There may be %zu of them", most[kind]);
}

static bool make_document(struct account *account, struct identity_entity *entity)
{
    const struct account_request *request = account->request;
    if (entity->kind == IDENTITY_POLICY) {
        entity->document = request->policy_document;
        return document_check(account, entity->document, POLICY_IDENTITY);
    }
    if (entity->kind != IDENTITY_ROLE)
        return true;
    entity->document = request->trust;
    entity->session_s = 3600;
    return document_check(account, entity->document, POLICY_RESOURCE);
}

static bool make_entity(struct account *account)
{
    static const char *const prefixes[IDENTITY_KINDS] = {
#define X(id, word, prefix, most) prefix,
        IDENTITY_KIND_LIST(X)
#undef X
    };
    enum identity_kind kind = account->row->kind;
    struct slice name = asked_name(account->request, kind);
    struct identity_entity *entity = arena_zalloc(account->arena, 1, sizeof(*entity));
    char *id = arena_alloc(account->arena, IDENTITY_ID);
    size_t most = kind == IDENTITY_USER || kind == IDENTITY_ROLE ? 64 : LIMIT_IDENTITY_NAME;
    if (entity == NULL || id == NULL)
        return error_budget(account->error);
    if (!name_check(account, "The name", name, most))
        return false;
    if (identity_find(account->change.view, kind, name) != NULL)
        return error_set(account->error, ERR_RESOURCE_IN_USE,
                         "The %s with name %.*s already exists.", identity_word(kind),
                         SLICE_FMT(name));
    identity_make_id(prefixes[kind], id);
    entity->kind = kind;
    entity->name = name;
    entity->id = slice_str(id);
    entity->path = SLICE_LIT("/");
    entity->description = account->request->description;
    entity->created_ms = identity_now_ms(account->identity);
    if (!room_for(account, kind) || !make_document(account, entity) ||
        !boundary_put(account, entity) || !tags_put(account, entity))
        return false;
    identity_change_put(&account->change, entity);
    if (!identity_change_commit(&account->change))
        return false;
    answer_one(account, kind, name);
    return true;
}

// ---- Removing ----------------------------------------------------------------------------------

static bool attached_to(const struct identity_entity *entity, struct slice policy)
{
    bool is = slice_equal(entity->boundary, policy);
    for (size_t i = 0; i < entity->attached_count; i++)
        is = is || slice_equal(entity->attached[i].name, policy);
    return is;
}

// Whether something refers to it: as IAM has it, that goes first.
static bool in_use(const struct account *account, const struct identity_entity *entity)
{
    static const enum identity_kind kinds[] = {IDENTITY_USER, IDENTITY_GROUP, IDENTITY_ROLE};
    size_t count;
    bool used = entity->inline_count > 0 || entity->attached_count > 0;
    const struct identity_one *list = identity_list(account->change.view, IDENTITY_KEY, &count);
    for (size_t i = 0; entity->kind == IDENTITY_USER && i < count; i++)
        used = used || slice_equal(list[i].entity.user, entity->name);
    for (size_t k = 0; entity->kind == IDENTITY_POLICY && k < COUNT_OF(kinds); k++) {
        list = identity_list(account->change.view, kinds[k], &count);
        for (size_t i = 0; i < count; i++)
            used = used || attached_to(&list[i].entity, entity->name);
    }
    list = identity_list(account->change.view, IDENTITY_USER, &count);
    for (size_t i = 0; entity->kind == IDENTITY_GROUP && i < count; i++) {
        for (size_t k = 0; k < list[i].entity.group_count; k++)
            used = used || slice_equal(list[i].entity.groups[k].name, entity->name);
    }
    return used;
}

static bool delete_entity(struct account *account)
{
    enum identity_kind kind = account->row->kind;
    struct identity_entity *entity = edit(account, kind);
    if (entity == NULL)
        return false;
    if (kind == IDENTITY_KEY && !slice_equal(entity->user, account->request->user_name))
        return missing(account, kind, entity->name);
    if (in_use(account, entity))
        return error_set(account->error, ERR_RESOURCE_IN_USE,
                         "Cannot delete entity, must remove %s first.",
                         kind == IDENTITY_USER    ? "its access keys and policies"
                         : kind == IDENTITY_GROUP ? "its users and policies"
                         : kind == IDENTITY_ROLE  ? "its policies"
                                                  : "it from what it is attached to");
    identity_change_remove(&account->change, kind, entity->name);
    if (!identity_change_commit(&account->change))
        return false;
    answer_nothing(account);
    return true;
}

// ---- Keys --------------------------------------------------------------------------------------

static bool make_key(struct account *account)
{
    size_t count;
    size_t own = 0;
    struct slice user = account->request->user_name;
    const struct identity_one *list = identity_list(account->change.view, IDENTITY_KEY, &count);
    char id[IDENTITY_ID];
    char secret[IDENTITY_SECRET];
    struct identity_entity *key = arena_zalloc(account->arena, 1, sizeof(*key));
    if (key == NULL)
        return error_budget(account->error);
    if (identity_find(account->change.view, IDENTITY_USER, user) == NULL)
        return missing(account, IDENTITY_USER, user);
    for (size_t i = 0; i < count; i++)
        own += slice_equal(list[i].entity.user, user);
    if (own >= LIMIT_IDENTITY_KEYS)
        return error_set(account->error, ERR_LIMIT_EXCEEDED,
                         "Cannot exceed quota for AccessKeysPerUser: %d", LIMIT_IDENTITY_KEYS);
    identity_make_id("AKIA", id);
    identity_make_secret(secret);
    key->kind = IDENTITY_KEY;
    key->name = slice_str(id);
    key->user = user;
    key->secret = slice_str(secret);
    key->created_ms = identity_now_ms(account->identity);
    identity_change_put(&account->change, key);
    bool kept = identity_change_commit(&account->change);
    if (kept) {
        struct json_writer w = call_open(account->call);
        json_put_object(&w, "AccessKey");
        write_key(&w, key, true);
        json_close_object(&w);
        json_close_object(&w);
    }
    explicit_bzero(secret, sizeof(secret));
    return kept;
}

static bool update_key(struct account *account)
{
    struct identity_entity *key = edit(account, IDENTITY_KEY);
    if (key == NULL)
        return false;
    if (!slice_equal(key->user, account->request->user_name))
        return missing(account, IDENTITY_KEY, key->name);
    key->inactive = slice_is(account->request->status, "Inactive");
    identity_change_put(&account->change, key);
    if (!identity_change_commit(&account->change))
        return false;
    answer_nothing(account);
    return true;
}

// ---- Policies and groups -----------------------------------------------------------------------

static bool list_edit(struct account *account, struct identity_name *list, size_t *count,
                      size_t most, struct slice name, bool add)
{
    size_t at = 0;
    while (at < *count && !slice_equal(list[at].name, name))
        at++;
    bool there = at < *count;
    if (add && !there) {
        if (*count == most)
            return error_set(account->error, ERR_LIMIT_EXCEEDED, "There may be %zu of them", most);
        list[(*count)++].name = name;
    } else if (!add) {
        if (!there)
            return error_set(account->error, ERR_RESOURCE_NOT_FOUND, "%.*s is not among them",
                             SLICE_FMT(name));
        list[at] = list[--*count];
    }
    return true;
}

static bool commit_one(struct account *account, const struct identity_entity *entity)
{
    identity_change_put(&account->change, entity);
    if (!identity_change_commit(&account->change))
        return false;
    answer_nothing(account);
    return true;
}

static bool attach(struct account *account)
{
    struct slice name = policy_name_of(account->request->policy_arn);
    struct identity_entity *entity = edit(account, account->row->kind);
    if (entity == NULL)
        return false;
    if (account->row->adds && identity_find(account->change.view, IDENTITY_POLICY, name) == NULL)
        return missing(account, IDENTITY_POLICY, name);
    return list_edit(account, entity->attached, &entity->attached_count, LIMIT_IDENTITY_ATTACHED,
                     name, account->row->adds) &&
           commit_one(account, entity);
}

static bool member(struct account *account)
{
    struct identity_entity *user = edit(account, IDENTITY_USER);
    struct slice group = account->request->group_name;
    if (user == NULL)
        return false;
    if (identity_find(account->change.view, IDENTITY_GROUP, group) == NULL)
        return missing(account, IDENTITY_GROUP, group);
    return list_edit(account, user->groups, &user->group_count, LIMIT_IDENTITY_MEMBERSHIPS, group,
                     account->row->adds) &&
           commit_one(account, user);
}

static bool inline_policy(struct account *account)
{
    struct identity_entity *entity = edit(account, account->row->kind);
    const struct account_request *request = account->request;
    size_t at = 0;
    if (entity == NULL)
        return false;
    while (at < entity->inline_count &&
           !slice_equal(entity->inlines[at].name, request->policy_name))
        at++;
    if (!account->row->adds) {
        if (at == entity->inline_count)
            return missing(account, IDENTITY_POLICY, request->policy_name);
        entity->inlines[at] = entity->inlines[--entity->inline_count];
        return commit_one(account, entity);
    }
    if (at == LIMIT_IDENTITY_INLINES)
        return error_set(account->error, ERR_LIMIT_EXCEEDED, "There may be %d inline policies",
                         LIMIT_IDENTITY_INLINES);
    if (!name_check(account, "PolicyName", request->policy_name, LIMIT_IDENTITY_NAME) ||
        !document_check(account, request->policy_document, POLICY_IDENTITY))
        return false;
    entity->inlines[at] = (struct identity_inline){request->policy_name, request->policy_document};
    entity->inline_count += at == entity->inline_count;
    return commit_one(account, entity);
}

static bool boundary(struct account *account)
{
    struct identity_entity *entity = edit(account, account->row->kind);
    if (entity == NULL)
        return false;
    entity->boundary = none;
    return (!account->row->adds || boundary_put(account, entity)) && commit_one(account, entity);
}

static bool tag(struct account *account)
{
    struct identity_entity *entity = edit(account, account->row->kind);
    const struct slice *keys = account->request->tag_keys.items;
    if (entity == NULL)
        return false;
    if (account->row->adds)
        return tags_put(account, entity) && commit_one(account, entity);
    for (size_t i = 0; i < account->request->tag_keys.count; i++) {
        for (size_t k = 0; k < entity->tag_count; k++) {
            if (slice_equal(entity->tags[k].key, keys[i]))
                entity->tags[k] = entity->tags[--entity->tag_count];
        }
    }
    return commit_one(account, entity);
}

// ---- Reading -----------------------------------------------------------------------------------

static bool get_entity(struct account *account)
{
    struct slice name = asked_name(account->request, account->row->kind);
    answer_one(account, account->row->kind, name);
    return account->error->code == ERR_NONE;
}

static bool list_entities(struct account *account)
{
    static const char *const members[IDENTITY_KINDS] = {"Users", "Groups", "Roles", "Policies",
                                                        "AccessKeyMetadata"};
    const struct account_request *request = account->request;
    enum identity_kind kind = account->row->kind;
    size_t count;
    size_t most = request->max_items.set ? (size_t)request->max_items.value : 1000;
    size_t shown = 0;
    struct slice last = none;
    bool more = false;
    const struct identity_one *list = identity_list(account->change.view, kind, &count);
    if (kind == IDENTITY_KEY && edit(account, IDENTITY_USER) == NULL)
        return false;
    struct json_writer w = call_open(account->call);
    json_put_array(&w, members[kind]);
    for (size_t i = 0; i < count && !more; i++) {
        const struct identity_entity *entity = &list[i].entity;
        bool other = kind == IDENTITY_KEY && request->user_name.len > 0 &&
                     !slice_equal(entity->user, request->user_name);
        if (other || slice_compare(entity->name, request->marker) <= 0)
            continue;
        more = shown == most;
        if (more)
            break;
        json_open_object(&w);
        write_one(&w, &list[i], false);
        json_close_object(&w);
        last = entity->name;
        shown++;
    }
    json_close_array(&w);
    json_put_flag(&w, "IsTruncated", more);
    if (more)
        json_put_string(&w, "Marker", last);
    json_close_object(&w);
    return true;
}

static bool get_inline(struct account *account)
{
    static const char *const names[] = {"UserName", "GroupName", "RoleName"};
    const struct identity_entity *entity = edit(account, account->row->kind);
    struct slice wanted = account->request->policy_name;
    for (size_t i = 0; entity != NULL && i < entity->inline_count; i++) {
        if (!slice_equal(entity->inlines[i].name, wanted))
            continue;
        struct json_writer w = call_open(account->call);
        json_put_string(&w, names[account->row->kind], entity->name);
        json_put_string(&w, "PolicyName", wanted);
        json_put_string(&w, "PolicyDocument", entity->inlines[i].document);
        json_close_object(&w);
        return true;
    }
    return entity != NULL && missing(account, IDENTITY_POLICY, wanted);
}

static bool list_inlines(struct account *account)
{
    const struct identity_entity *entity = edit(account, account->row->kind);
    if (entity == NULL)
        return false;
    struct json_writer w = call_open(account->call);
    json_put_array(&w, "PolicyNames");
    for (size_t i = 0; i < entity->inline_count; i++)
        json_string(&w, entity->inlines[i].name);
    json_close_array(&w);
    json_put_flag(&w, "IsTruncated", false);
    json_close_object(&w);
    return true;
}

static bool list_attached(struct account *account)
{
    const struct identity_entity *entity = edit(account, account->row->kind);
    if (entity == NULL)
        return false;
    struct json_writer w = call_open(account->call);
    json_put_array(&w, "AttachedPolicies");
    for (size_t i = 0; i < entity->attached_count; i++) {
        const struct identity_one *policy =
            identity_find(account->change.view, IDENTITY_POLICY, entity->attached[i].name);
        json_open_object(&w);
        json_put_string(&w, "PolicyName", entity->attached[i].name);
        json_put_string(&w, "PolicyArn", policy == NULL ? none : policy->arn);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_put_flag(&w, "IsTruncated", false);
    json_close_object(&w);
    return true;
}

static bool list_groups_of(struct account *account)
{
    const struct identity_entity *user = edit(account, IDENTITY_USER);
    if (user == NULL)
        return false;
    struct json_writer w = call_open(account->call);
    json_put_array(&w, "Groups");
    for (size_t i = 0; i < user->group_count; i++) {
        const struct identity_one *group =
            identity_find(account->change.view, IDENTITY_GROUP, user->groups[i].name);
        if (group == NULL)
            continue;
        json_open_object(&w);
        write_one(&w, group, false);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_put_flag(&w, "IsTruncated", false);
    json_close_object(&w);
    return true;
}

// ---- The table ---------------------------------------------------------------------------------

// A row is a line.
// clang-format off
static const struct account_row rows[] = {
    {"AddUserToGroup", IDENTITY_USER, true, NEEDS_USER | NEEDS_GROUP, member},
    {"AttachGroupPolicy", IDENTITY_GROUP, true, NEEDS_GROUP | NEEDS_ARN, attach},
    {"AttachRolePolicy", IDENTITY_ROLE, true, NEEDS_ROLE | NEEDS_ARN, attach},
    {"AttachUserPolicy", IDENTITY_USER, true, NEEDS_USER | NEEDS_ARN, attach},
    {"CreateAccessKey", IDENTITY_KEY, true, NEEDS_USER, make_key},
    {"CreateGroup", IDENTITY_GROUP, true, NEEDS_GROUP, make_entity},
    {"CreatePolicy", IDENTITY_POLICY, true, NEEDS_POLICY | NEEDS_DOCUMENT, make_entity},
    {"CreateRole", IDENTITY_ROLE, true, NEEDS_ROLE | NEEDS_TRUST, make_entity},
    {"CreateUser", IDENTITY_USER, true, NEEDS_USER, make_entity},
    {"DeleteAccessKey", IDENTITY_KEY, false, NEEDS_USER | NEEDS_KEY, delete_entity},
    {"DeleteGroup", IDENTITY_GROUP, false, NEEDS_GROUP, delete_entity},
    {"DeleteGroupPolicy", IDENTITY_GROUP, false, NEEDS_GROUP | NEEDS_POLICY, inline_policy},
    {"DeletePolicy", IDENTITY_POLICY, false, NEEDS_ARN, delete_entity},
    {"DeleteRole", IDENTITY_ROLE, false, NEEDS_ROLE, delete_entity},
    {"DeleteRolePermissionsBoundary", IDENTITY_ROLE, false, NEEDS_ROLE, boundary},
    {"DeleteRolePolicy", IDENTITY_ROLE, false, NEEDS_ROLE | NEEDS_POLICY, inline_policy},
    {"DeleteUser", IDENTITY_USER, false, NEEDS_USER, delete_entity},
    {"DeleteUserPermissionsBoundary", IDENTITY_USER, false, NEEDS_USER, boundary},
    {"DeleteUserPolicy", IDENTITY_USER, false, NEEDS_USER | NEEDS_POLICY, inline_policy},
    {"DetachGroupPolicy", IDENTITY_GROUP, false, NEEDS_GROUP | NEEDS_ARN, attach},
    {"DetachRolePolicy", IDENTITY_ROLE, false, NEEDS_ROLE | NEEDS_ARN, attach},
    {"DetachUserPolicy", IDENTITY_USER, false, NEEDS_USER | NEEDS_ARN, attach},
    {"GetGroup", IDENTITY_GROUP, false, NEEDS_GROUP, get_entity},
    {"GetGroupPolicy", IDENTITY_GROUP, false, NEEDS_GROUP | NEEDS_POLICY, get_inline},
    {"GetPolicy", IDENTITY_POLICY, false, NEEDS_ARN, get_entity},
    {"GetRole", IDENTITY_ROLE, false, NEEDS_ROLE, get_entity},
    {"GetRolePolicy", IDENTITY_ROLE, false, NEEDS_ROLE | NEEDS_POLICY, get_inline},
    {"GetUser", IDENTITY_USER, false, NEEDS_USER, get_entity},
    {"GetUserPolicy", IDENTITY_USER, false, NEEDS_USER | NEEDS_POLICY, get_inline},
    {"ListAccessKeys", IDENTITY_KEY, false, NEEDS_USER, list_entities},
    {"ListAttachedGroupPolicies", IDENTITY_GROUP, false, NEEDS_GROUP, list_attached},
    {"ListAttachedRolePolicies", IDENTITY_ROLE, false, NEEDS_ROLE, list_attached},
    {"ListAttachedUserPolicies", IDENTITY_USER, false, NEEDS_USER, list_attached},
    {"ListGroupPolicies", IDENTITY_GROUP, false, NEEDS_GROUP, list_inlines},
    {"ListGroups", IDENTITY_GROUP, false, 0, list_entities},
    {"ListGroupsForUser", IDENTITY_USER, false, NEEDS_USER, list_groups_of},
    {"ListPolicies", IDENTITY_POLICY, false, 0, list_entities},
    {"ListRolePolicies", IDENTITY_ROLE, false, NEEDS_ROLE, list_inlines},
    {"ListRoles", IDENTITY_ROLE, false, 0, list_entities},
    {"ListUserPolicies", IDENTITY_USER, false, NEEDS_USER, list_inlines},
    {"ListUsers", IDENTITY_USER, false, 0, list_entities},
    {"PutGroupPolicy", IDENTITY_GROUP, true, NEEDS_GROUP | NEEDS_POLICY | NEEDS_DOCUMENT, inline_policy},
    {"PutRolePermissionsBoundary", IDENTITY_ROLE, true, NEEDS_ROLE | NEEDS_BOUNDARY, boundary},
    {"PutRolePolicy", IDENTITY_ROLE, true, NEEDS_ROLE | NEEDS_POLICY | NEEDS_DOCUMENT, inline_policy},
    {"PutUserPermissionsBoundary", IDENTITY_USER, true, NEEDS_USER | NEEDS_BOUNDARY, boundary},
    {"PutUserPolicy", IDENTITY_USER, true, NEEDS_USER | NEEDS_POLICY | NEEDS_DOCUMENT, inline_policy},
    {"RemoveUserFromGroup", IDENTITY_USER, false, NEEDS_USER | NEEDS_GROUP, member},
    {"TagRole", IDENTITY_ROLE, true, NEEDS_ROLE | NEEDS_TAGS, tag},
    {"TagUser", IDENTITY_USER, true, NEEDS_USER | NEEDS_TAGS, tag},
    {"UntagRole", IDENTITY_ROLE, false, NEEDS_ROLE | NEEDS_TAG_KEYS, tag},
    {"UntagUser", IDENTITY_USER, false, NEEDS_USER | NEEDS_TAG_KEYS, tag},
    {"UpdateAccessKey", IDENTITY_KEY, true, NEEDS_USER | NEEDS_KEY | NEEDS_STATUS, update_key},
};
// clang-format on

static bool complete(struct account *account)
{
    const struct account_request *request = account->request;
    const struct {
        unsigned bit;
        bool given;
        const char *name;
    } members[] = {
        {NEEDS_USER, request->user_name.len > 0, "UserName"},
        {NEEDS_GROUP, request->group_name.len > 0, "GroupName"},
        {NEEDS_ROLE, request->role_name.len > 0, "RoleName"},
        {NEEDS_POLICY, request->policy_name.len > 0, "PolicyName"},
        {NEEDS_ARN, request->policy_arn.len > 0, "PolicyArn"},
        {NEEDS_KEY, request->access_key_id.len > 0, "AccessKeyId"},
        {NEEDS_DOCUMENT, request->policy_document.len > 0, "PolicyDocument"},
        {NEEDS_TRUST, request->trust.len > 0, "AssumeRolePolicyDocument"},
        {NEEDS_BOUNDARY, request->permissions_boundary.len > 0, "PermissionsBoundary"},
        {NEEDS_STATUS, request->status.len > 0, "Status"},
        {NEEDS_TAGS, request->tags.count > 0, "Tags"},
        {NEEDS_TAG_KEYS, request->tag_keys.count > 0, "TagKeys"},
    };
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        if ((account->row->needs & members[i].bit) != 0 && !members[i].given)
            return error_validation(account->error, "%s needs %s", account->row->name,
                                    members[i].name);
    }
    return true;
}

static void run(struct api_call *call, const void *decoded)
{
    struct account_request request = *(const struct account_request *)decoded;
    struct account account = {.call = call,
                              .identity = call_shop(call)->identity,
                              .request = &request,
                              .arena = &call->arena,
                              .error = &call->error};
    for (size_t i = 0; i < COUNT_OF(rows) && account.row == NULL; i++) {
        if (slice_is(call->operation, rows[i].name))
            account.row = &rows[i];
    }
    ensure(account.row != NULL);
    if (account.identity == NULL) {
        (void)error_validation(&call->error,
                               "There are no identities here: start the server with --master-key; "
                               "'dolmen init --secure' prepares one");
        return;
    }
    if (!complete(&account))
        return;
    // What was decided about is what is done: an ARN that is asked for overrules a name.
    if ((account.row->needs & NEEDS_ARN) != 0)
        request.policy_name = policy_name_of(request.policy_arn);
    identity_change_begin(&account.change, account.identity, account.arena, account.error);
    if (!account.row->run(&account))
        ensure(call->error.code != ERR_NONE);
    identity_change_end(&account.change);
}

// Each operation of the table.
enum step account_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_ACCOUNTS, run);
}
