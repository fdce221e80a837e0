// Who asks, and whom a resource policy speaks of.
//
// The sessions of a role are known by its name, which is unique in its account: the ARN of a
// session does not have the role's path.
#include "policy/policy_internal.h"

bool account_valid(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len == 12;
}

// What is behind a prefix; empty if the text does not begin with it.
static struct slice behind(struct slice text, struct slice prefix)
{
    if (!slice_begins(text, prefix))
        return slice_of(NULL, 0);
    return slice_of(text.ptr + prefix.len, text.len - prefix.len);
}

static struct slice last_name(struct slice path)
{
    for (size_t i = path.len; i-- > 0;)
        if (path.ptr[i] == '/')
            return slice_of(path.ptr + i + 1, path.len - i - 1);
    return path;
}

// ---- Who asks --------------------------------------------------------------------------------

static bool iam_read(struct slice resource, struct policy_principal *out)
{
    struct slice user = behind(resource, SLICE_LIT("user/"));
    struct slice role = behind(resource, SLICE_LIT("role/"));
    out->identity = out->arn;
    if (slice_is(resource, "root"))
        out->kind = PRINCIPAL_ROOT;
    else if (user.len > 0)
        out->kind = PRINCIPAL_USER;
    else
        out->kind = PRINCIPAL_SESSION; // of which only the role is known
    out->name = last_name(user.len > 0 ? user : role);
    return out->kind == PRINCIPAL_ROOT || out->name.len > 0;
}

static bool sts_read(struct slice resource, struct arena *arena, struct policy_principal *out)
{
    struct slice federated = behind(resource, SLICE_LIT("federated-user/"));
    struct slice session = behind(resource, SLICE_LIT("assumed-role/"));
    if (federated.len > 0) {
        out->kind = PRINCIPAL_FEDERATED;
        out->name = federated;
        out->identity = out->arn;
        return true;
    }
    if (session.len == 0)
        return false;
    out->kind = PRINCIPAL_SESSION;
    out->name = slice_cut(&session, '/');
    if (out->name.len == 0 || session.len == 0)
        return false;
    const char *role =
        arena_printf(arena, "arn:%.*s:iam::%.*s:role/%.*s", SLICE_FMT(out->partition),
                     SLICE_FMT(out->account), SLICE_FMT(out->name));
    if (role == NULL)
        return false;
    out->identity = slice_str(role);
    return true;
}

bool policy_principal_read(struct slice text, struct arena *arena, struct policy_principal *out)
{
    struct policy_principal principal = {.arn = text};
    struct arn arn;
    if (slice_is(text, "anonymous")) {
        *out = (struct policy_principal){.kind = PRINCIPAL_ANONYMOUS};
        return true;
    }
    if (slice_ends(text, SLICE_LIT(".amazonaws.com")) && memchr(text.ptr, ':', text.len) == NULL) {
        principal.kind = PRINCIPAL_SERVICE;
        *out = principal;
        return true;
    }
    if (!arn_parts(text, &arn) || !account_valid(arn.part[4]) || arn.part[3].len > 0)
        return false;
    principal.partition = arn.part[1];
    principal.account = arn.part[4];
    bool ok = slice_is(arn.part[2], "iam")   ? iam_read(arn.part[5], &principal)
              : slice_is(arn.part[2], "sts") ? sts_read(arn.part[5], arena, &principal)
                                             : false;
    if (ok)
        *out = principal;
    return ok;
}

// ---- Whom a statement is for -----------------------------------------------------------------

// The unique id of somebody who is no longer there: IAM writes it in place of the ARN.
static bool is_unique_id(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!((text.ptr[i] >= 'A' && text.ptr[i] <= 'Z') ||
              (text.ptr[i] >= '0' && text.ptr[i] <= '9')))
            return false;
    return text.len >= 16 && text.len <= 128 && text.ptr[0] == 'A';
}

static bool who_arn(struct slice text, struct who *out)
{
    struct arn arn;
    if (!arn_parts(text, &arn) || !account_valid(arn.part[4]) || arn.part[3].len > 0 ||
        memchr(text.ptr, '*', text.len) != NULL || memchr(text.ptr, '?', text.len) != NULL)
        return false;
    struct slice resource = arn.part[5];
    struct slice role = behind(resource, SLICE_LIT("role/"));
    bool iam = slice_is(arn.part[2], "iam");
    bool sts = slice_is(arn.part[2], "sts");
    *out = (struct who){.kind = WHO_ARN, .text = text, .partition = arn.part[1]};
    out->account = arn.part[4];
    if (iam && slice_is(resource, "root")) {
        out->kind = WHO_ACCOUNT;
        return true;
    }
    if (iam && role.len > 0) {
        out->kind = WHO_ROLE;
        out->name = last_name(role);
        return out->name.len > 0;
    }
    return (iam && behind(resource, SLICE_LIT("user/")).len > 0) ||
           (sts && (behind(resource, SLICE_LIT("assumed-role/")).len > 0 ||
                    behind(resource, SLICE_LIT("federated-user/")).len > 0));
}

bool who_read(struct slice text, struct who *out)
{
    *out = (struct who){.text = text};
    if (slice_is(text, "*")) {
        out->kind = WHO_ANYONE;
        return true;
    }
    if (account_valid(text)) {
        out->kind = WHO_ACCOUNT;
        out->account = text;
        return true;
    }
    if (is_unique_id(text)) {
        out->kind = WHO_NOBODY;
        return true;
    }
    return who_arn(text, out);
}

static enum grant grant_of(const struct who *who, const struct policy_principal *principal)
{
    bool known = principal->account.len > 0;
    switch (who->kind) {
    case WHO_ANYONE:
        return GRANT_ANYONE;
    case WHO_ACCOUNT:
        return known && slice_equal(who->account, principal->account) &&
                       (who->partition.len == 0 ||
                        slice_equal(who->partition, principal->partition))
                   ? GRANT_ACCOUNT
                   : GRANT_NONE;
    case WHO_ROLE:
        return principal->kind == PRINCIPAL_SESSION &&
                       slice_equal(who->account, principal->account) &&
                       slice_equal(who->name, principal->name) &&
                       slice_equal(who->partition, principal->partition)
                   ? GRANT_ROLE
                   : GRANT_NONE;
    case WHO_ARN:
        return known && slice_equal(who->text, principal->arn) ? GRANT_SELF : GRANT_NONE;
    case WHO_SERVICE:
        return principal->kind == PRINCIPAL_SERVICE && slice_equal(who->text, principal->arn)
                   ? GRANT_SELF
                   : GRANT_NONE;
    case WHO_NOBODY:
        break;
    }
    return GRANT_NONE;
}

enum grant who_grant(const struct who *list, size_t count, const struct policy_principal *principal)
{
    enum grant most = GRANT_NONE;
    for (size_t i = 0; i < count; i++) {
        enum grant grant = grant_of(&list[i], principal);
        if (grant > most)
            most = grant;
    }
    return most;
}
