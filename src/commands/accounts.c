// `dolmen user`, `group`, `role` and `key`: thin commands over the operations on identities. A row
// of the table is one: its operation, and what the arguments are in the request.
#include "cli/change.h"

#include <stdlib.h>

enum { MEMBERS_MAX = 3, DOCUMENT_MAX = 1 << 20, ANSWER_MEMORY = 64 << 20 };

#define DOCUMENT "PolicyDocument"
#define TRUST    "AssumeRolePolicyDocument"

struct verb {
    const char *command;
    const char *word;
    const char *operation;
    const char *members[MEMBERS_MAX]; // that the arguments are; documents are files
    const char *status;               // of a key, or NULL
};

// A row is a line.
// clang-format off
static const struct verb verbs[] = {
    {"user", "create", "CreateUser", {"UserName"}, NULL},
    {"user", "show", "GetUser", {"UserName"}, NULL},
    {"user", "list", "ListUsers", {NULL}, NULL},
    {"user", "delete", "DeleteUser", {"UserName"}, NULL},
    {"user", "allow", "PutUserPolicy", {"UserName", "PolicyName", DOCUMENT}, NULL},
    {"user", "disallow", "DeleteUserPolicy", {"UserName", "PolicyName"}, NULL},
    {"user", "policies", "ListUserPolicies", {"UserName"}, NULL},
    {"user", "attach", "AttachUserPolicy", {"UserName", "PolicyArn"}, NULL},
    {"user", "detach", "DetachUserPolicy", {"UserName", "PolicyArn"}, NULL},
    {"group", "create", "CreateGroup", {"GroupName"}, NULL},
    {"group", "list", "ListGroups", {NULL}, NULL},
    {"group", "delete", "DeleteGroup", {"GroupName"}, NULL},
    {"group", "add", "AddUserToGroup", {"GroupName", "UserName"}, NULL},
    {"group", "remove", "RemoveUserFromGroup", {"GroupName", "UserName"}, NULL},
    {"group", "allow", "PutGroupPolicy", {"GroupName", "PolicyName", DOCUMENT}, NULL},
    {"group", "disallow", "DeleteGroupPolicy", {"GroupName", "PolicyName"}, NULL},
    {"group", "policies", "ListGroupPolicies", {"GroupName"}, NULL},
    {"group", "attach", "AttachGroupPolicy", {"GroupName", "PolicyArn"}, NULL},
    {"group", "detach", "DetachGroupPolicy", {"GroupName", "PolicyArn"}, NULL},
    {"role", "create", "CreateRole", {"RoleName", TRUST}, NULL},
    {"role", "show", "GetRole", {"RoleName"}, NULL},
    {"role", "list", "ListRoles", {NULL}, NULL},
    {"role", "delete", "DeleteRole", {"RoleName"}, NULL},
    {"role", "allow", "PutRolePolicy", {"RoleName", "PolicyName", DOCUMENT}, NULL},
    {"role", "disallow", "DeleteRolePolicy", {"RoleName", "PolicyName"}, NULL},
    {"role", "policies", "ListRolePolicies", {"RoleName"}, NULL},
    {"role", "attach", "AttachRolePolicy", {"RoleName", "PolicyArn"}, NULL},
    {"role", "detach", "DetachRolePolicy", {"RoleName", "PolicyArn"}, NULL},
    {"key", "create", "CreateAccessKey", {"UserName"}, NULL},
    {"key", "list", "ListAccessKeys", {"UserName"}, NULL},
    {"key", "disable", "UpdateAccessKey", {"UserName", "AccessKeyId"}, "Inactive"},
    {"key", "enable", "UpdateAccessKey", {"UserName", "AccessKeyId"}, "Active"},
    {"key", "delete", "DeleteAccessKey", {"UserName", "AccessKeyId"}, NULL},
};
// clang-format on

// ---- Asking ------------------------------------------------------------------------------------

static bool put_file(struct cli_input *input, struct json_writer *w, const char *member,
                     const char *path)
{
    struct buf text;
    buf_init(&text, DOCUMENT_MAX);
    bool read = cli_read(input, path, &text);
    if (read)
        json_put_string(w, member, buf_view(&text));
    buf_release(&text);
    return read;
}

// `marker`, if there is one, is where a list goes on.
static bool ask(struct target *target, const struct verb *verb, const char *marker)
{
    struct cli_input *input = target->input;
    struct buf body;
    bool ok = true;
    buf_init(&body, 2 * DOCUMENT_MAX);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    for (size_t i = 0; ok && i < MEMBERS_MAX && verb->members[i] != NULL; i++) {
        const char *member = verb->members[i];
        const char *value = input->arguments[i + 1];
        if (strcmp(member, DOCUMENT) == 0 || strcmp(member, TRUST) == 0)
            ok = put_file(input, &w, member, value);
        else
            json_put_text(&w, member, value);
    }
    if (verb->status != NULL)
        json_put_text(&w, "Status", verb->status);
    if (marker != NULL)
        json_put_text(&w, "Marker", marker);
    json_close_object(&w);
    // Once: what makes something must not make it twice because an answer was lost.
    char error[512] = "";
    int status =
        ok ? target_call_once(target, verb->operation, buf_view(&body), error, sizeof(error)) : 0;
    buf_release(&body);
    if (ok && status == 0)
        return target_silent(target, error);
    return ok && target_fine(target, status);
}

// ---- Showing -----------------------------------------------------------------------------------

static void show_one(struct slice one)
{
    json_print(one, "{Arn}\n");
    (void)json_print_given(one, "Description", "  {Description}\n");
    (void)json_print_given(one, "PermissionsBoundary", "  boundary: {PermissionsBoundary}\n");
    (void)json_print_given(one, "Damage", "  DAMAGED: {Damage}\n");
}

static void show_key(struct slice key)
{
    json_print(key, "{AccessKeyId}  {Status}  {UserName}\n");
    (void)json_print_given(key, "SecretAccessKey",
                           "secret, which is not shown again: {SecretAccessKey}\n");
}

// A string of JSON whose letters need no escaping.
static void show_name(struct slice name)
{
    if (name.len > 2)
        printf("%.*s\n", (int)name.len - 2, (const char *)name.ptr + 1);
}

static void show(struct slice answer)
{
    static const struct {
        const char *member;
        void (*show)(struct slice one);
    } parts[] = {
        {"User", show_one}, {"Group", show_one}, {"Role", show_one}, {"AccessKey", show_key}};
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct slice part = json_member(answer, parts[i].member, &arena);
        if (part.len > 0)
            parts[i].show(part);
    }
    arena_release(&arena);
    json_each(answer, "Users", show_one);
    json_each(answer, "Groups", show_one);
    json_each(answer, "Roles", show_one);
    json_each(answer, "AccessKeyMetadata", show_key);
    json_each(answer, "PolicyNames", show_name);
}

// ---- Commands ----------------------------------------------------------------------------------

static const struct verb *verb_find(const char *command, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        if (strcmp(verbs[i].command, command) == 0 && strcmp(verbs[i].word, word) == 0)
            return &verbs[i];
    }
    return NULL;
}

static bool complete(struct cli_input *input, const struct verb *verb)
{
    size_t count = 0;
    while (count < MEMBERS_MAX && verb->members[count] != NULL)
        count++;
    return input->argument_count == count + 1 ||
           cli_misused(input, "%s takes %zu argument%s.", input->arguments[0], count,
                       count == 1 ? "" : "s");
}

// A directory that is opened here has identities if there is a master key.
static bool open_identities(struct target *target)
{
    char error[512];
    const char *source = cli_value(target->input, "--master-key", getenv("DOLMEN_MASTER_KEY"));
    if (target->api == NULL || source == NULL || source[0] == 0)
        return true;
    return api_set_master_key(target->api, source, error, sizeof(error)) ||
           cli_fail(target->input, "%s.", error);
}

// Asks, and shows the answer; of a long list, one part after the other.
static bool ask_all(struct target *target, const struct verb *verb)
{
    char *marker = NULL;
    bool ok;
    do {
        struct arena arena;
        ok = ask(target, verb, marker) && change_print(target, show);
        free(marker);
        arena_init(&arena, ANSWER_MEMORY);
        struct slice next = ok ? json_member_text(buf_view(&target->response), "Marker", &arena)
                               : slice_of(NULL, 0);
        marker = next.len > 0 ? slice_dup(next) : NULL;
        arena_release(&arena);
    } while (marker != NULL);
    return ok;
}

static bool run(struct cli_input *input, const char *command)
{
    struct target target;
    const char *word = input->argument_count == 0 ? "" : input->arguments[0];
    bool rotate = strcmp(command, "key") == 0 && strcmp(word, "rotate") == 0;
    const struct verb *verb = verb_find(command, rotate ? "disable" : word);
    if (verb == NULL && word[0] == 0)
        return cli_misused(input, "say what to do.");
    if (verb == NULL)
        return cli_misused(input, "%s has no '%s'.", command, word);
    if (!complete(input, verb) || !target_open(&target, input))
        return false;
    bool ok = open_identities(&target);
    // The new key is there, and told, before the old one ends.
    if (ok && rotate)
        ok = ask_all(&target, verb_find("key", "create")) && ask(&target, verb, NULL);
    else if (ok)
        ok = ask_all(&target, verb);
    target_close(&target);
    return ok;
}

bool cli_user(struct cli_input *input)
{
    return run(input, "user");
}

bool cli_group(struct cli_input *input)
{
    return run(input, "group");
}

bool cli_role(struct cli_input *input)
{
    return run(input, "role");
}

bool cli_key(struct cli_input *input)
{
    return run(input, "key");
}
