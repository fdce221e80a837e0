// See policy_kept.h. It asks by the operations on identities: whoever may call these may know, and
// a server needs no other way to tell.
#include "commands/policy_kept.h"

#include "identity/identity.h"
#include "json/reader.h"

#include <stdlib.h>

enum { KEPT_MEMORY = 64 << 20, RESPONSE_MAX = 16 << 20, OPERATION = 64 };

#define POLICY_ARN "arn:aws:iam::" IDENTITY_ACCOUNT ":policy/"

struct kept {
    struct target *target;
    struct scenario *scenario;
    struct arena arena;
    struct slice answer; // of the last call, in the arena
};

// "ListUserPolicies" of "List%sPolicies" and "User", about the one of that name. `more` is a member
// of the request, or NULL.
static bool ask(struct kept *kept, const char *form, const char *kind, struct slice name,
                const char *more, struct slice value)
{
    char operation[OPERATION];
    char member[OPERATION];
    struct buf body;
    (void)snprintf(operation, sizeof(operation), form, kind);
    (void)snprintf(member, sizeof(member), "%sName", kind);
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    if (name.len > 0)
        json_put_string(&w, member, name);
    if (more != NULL)
        json_put_string(&w, more, value);
    json_close_object(&w);
    int status = target_call(kept->target, operation, buf_view(&body));
    buf_release(&body);
    kept->answer = arena_copy(&kept->arena, buf_view(&kept->target->response));
    return target_fine(kept->target, status);
}

static bool add(struct kept *kept, enum policy_kind kind, const char *whose, struct slice owner,
                struct slice name, struct slice document)
{
    const char *title = owner.len == 0 ? arena_printf(&kept->arena, "%.*s", SLICE_FMT(name))
                                       : arena_printf(&kept->arena, "%.*s of %s %.*s",
                                                      SLICE_FMT(name), whose, SLICE_FMT(owner));
    return (title != NULL &&
            scenario_add_policy(kept->scenario, kind, slice_str(title), document)) ||
           cli_fail(kept->target->input, "%s.", kept->scenario->message);
}

// A managed policy, by its ARN.
static bool add_managed(struct kept *kept, enum policy_kind kind, struct slice arn)
{
    if (!ask(kept, "Get%s", "Policy", slice_of(NULL, 0), "PolicyArn", arn))
        return false;
    struct slice policy = json_member(kept->answer, "Policy", &kept->arena);
    return add(kept, kind, NULL, slice_of(NULL, 0),
               json_member_text(policy, "PolicyName", &kept->arena),
               json_member_text(policy, "Document", &kept->arena));
}

// Policies of a user, a role or a group, its own and those that are attached.
static bool add_policies(struct kept *kept, const char *kind, struct slice name)
{
    struct slice element;
    if (!ask(kept, "List%sPolicies", kind, name, NULL, slice_of(NULL, 0)))
        return false;
    struct json_list inlines = json_list(kept->answer, "PolicyNames", &kept->arena);
    while (json_list_next(&inlines, &element)) {
        struct slice own = slice_of(NULL, 0);
        struct json_reader reader;
        json_reader_init(&reader, element, &kept->arena);
        if (!json_read_string(&reader, &own) ||
            !ask(kept, "Get%sPolicy", kind, name, "PolicyName", own) ||
            !add(kept, POLICY_IDENTITY, kind, name, own,
                 json_member_text(kept->answer, "PolicyDocument", &kept->arena)))
            return false;
    }
    if (!ask(kept, "ListAttached%sPolicies", kind, name, NULL, slice_of(NULL, 0)))
        return false;
    struct json_list attached = json_list(kept->answer, "AttachedPolicies", &kept->arena);
    while (json_list_next(&attached, &element)) {
        if (!add_managed(kept, POLICY_IDENTITY,
                         json_member_text(element, "PolicyArn", &kept->arena)))
            return false;
    }
    return true;
}

static bool add_groups(struct kept *kept, struct slice user)
{
    struct slice element;
    if (!ask(kept, "ListGroupsFor%s", "User", user, NULL, slice_of(NULL, 0)))
        return false;
    struct json_list groups = json_list(kept->answer, "Groups", &kept->arena);
    while (json_list_next(&groups, &element)) {
        if (!add_policies(kept, "Group", json_member_text(element, "GroupName", &kept->arena)))
            return false;
    }
    return true;
}

static bool add_tags(struct kept *kept, struct slice entity)
{
    struct slice element;
    struct json_list tags = json_list(entity, "Tags", &kept->arena);
    while (json_list_next(&tags, &element)) {
        struct slice key = json_member_text(element, "Key", &kept->arena);
        const char *name = arena_printf(&kept->arena, "aws:PrincipalTag/%.*s", SLICE_FMT(key));
        if (name == NULL || !scenario_add_value(kept->scenario, slice_str(name),
                                                json_member_text(element, "Value", &kept->arena)))
            return cli_fail(kept->target->input, "%s.", kept->scenario->message);
    }
    return true;
}

static bool add_principal(struct kept *kept, const struct policy_principal *principal)
{
    const char *kind = principal->kind == PRINCIPAL_USER ? "User" : "Role";
    if (!ask(kept, "Get%s", kind, principal->name, NULL, slice_of(NULL, 0)))
        return false;
    struct slice entity = json_member(kept->answer, kind, &kept->arena);
    struct slice boundary = json_member_text(entity, "PermissionsBoundary", &kept->arena);
    if (!add_tags(kept, entity) || !add_policies(kept, kind, principal->name) ||
        (principal->kind == PRINCIPAL_USER && !add_groups(kept, principal->name)))
        return false;
    if (boundary.len == 0)
        return true;
    const char *arn = arena_printf(&kept->arena, POLICY_ARN "%.*s", SLICE_FMT(boundary));
    return add_managed(kept, POLICY_BOUNDARY, arn == NULL ? boundary : slice_str(arn));
}

// The policy of a table decides also on its indexes. A table that is not there has none.
static bool add_resource(struct kept *kept, struct slice resource)
{
    static const struct slice marks[] = {{(const uint8_t *)"/index/", 7},
                                         {(const uint8_t *)"/backup/", 8}};
    if (!slice_begins(resource, SLICE_LIT("arn:aws:dynamodb:")) ||
        !slice_contains(resource, SLICE_LIT(":table/")) || slice_contains(resource, SLICE_LIT("*")))
        return true;
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        const uint8_t *at = memmem(resource.ptr, resource.len, marks[i].ptr, marks[i].len);
        if (at != NULL)
            resource.len = (size_t)(at - resource.ptr);
    }
    const char *arn = arena_printf(&kept->arena, "%.*s", SLICE_FMT(resource));
    int status =
        arn == NULL ? 0 : target_ask(kept->target, "GetResourcePolicy", "{'ResourceArn':%s}", arn);
    struct slice answer = buf_view(&kept->target->response);
    if (status == 400 && (slice_contains(answer, SLICE_LIT("PolicyNotFoundException")) ||
                          slice_contains(answer, SLICE_LIT("ResourceNotFoundException"))))
        return true;
    if (!target_fine(kept->target, status))
        return false;
    answer = arena_copy(&kept->arena, answer);
    return add(kept, POLICY_RESOURCE, NULL, slice_of(NULL, 0), SLICE_LIT("of the table"),
               json_member_text(answer, "Policy", &kept->arena));
}

bool policies_kept(struct target *target, struct scenario *scenario, const char *principal,
                   const char *resource)
{
    struct kept kept = {.target = target, .scenario = scenario};
    struct policy_principal who;
    arena_init(&kept.arena, KEPT_MEMORY);
    bool ok = policy_principal_read(slice_str(principal), &kept.arena, &who);
    if (!ok)
        DISREGARD(cli_fail(target->input, "\"%s\" is not a principal.", principal));
    bool has = ok && (who.kind == PRINCIPAL_USER || who.kind == PRINCIPAL_SESSION);
    ok = ok && (!has || add_principal(&kept, &who)) && add_resource(&kept, slice_str(resource));
    arena_release(&kept.arena);
    return ok;
}
