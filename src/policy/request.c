// Requests: what a decision knows of one, and the keys that follow from it.
#include "policy/policy_internal.h"

void policy_request_init(struct policy_request *request, const struct policy_principal *principal,
                         struct slice action, struct slice resource)
{
    struct arn arn;
    *request = (struct policy_request){
        .principal = principal,
        .action = action,
        .action_id = policy_action_find(action),
        .resource = resource,
        .account = principal->account,
    };
    if (arn_parts(resource, &arn) && arn.part[4].len > 0)
        request->account = arn.part[4];
}

void policy_context_lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    const struct policy_context *table = context;
    for (size_t i = 0; i < table->count; i++) {
        if (policy_key_equal(&table->entries[i].key, key)) {
            *out = table->entries[i].values;
            return;
        }
    }
}

static struct slice principal_type(enum policy_principal_kind kind)
{
    switch (kind) {
    case PRINCIPAL_ANONYMOUS:
        return SLICE_LIT("Anonymous");
    case PRINCIPAL_ROOT:
        return SLICE_LIT("Account");
    case PRINCIPAL_USER:
        return SLICE_LIT("User");
    case PRINCIPAL_SESSION:
        return SLICE_LIT("AssumedRole");
    case PRINCIPAL_FEDERATED:
        return SLICE_LIT("FederatedUser");
    case PRINCIPAL_SERVICE:
        break;
    }
    return slice_of(NULL, 0);
}

// What the request implies; empty if nothing.
static struct slice implied(const struct policy_request *request, enum policy_key_id id)
{
    const struct policy_principal *principal = request->principal;
    bool service = principal->kind == PRINCIPAL_SERVICE;
    switch ((int)id) {
    case POLICY_KEY_PRINCIPAL_ARN:
        return principal->identity;
    case POLICY_KEY_PRINCIPAL_ACCOUNT:
        return principal->account;
    case POLICY_KEY_PRINCIPAL_TYPE:
        return principal_type(principal->kind);
    case POLICY_KEY_PRINCIPAL_IS_SERVICE:
        return service ? SLICE_LIT("true") : SLICE_LIT("false");
    case POLICY_KEY_PRINCIPAL_SERVICE:
        return service ? principal->arn : slice_of(NULL, 0);
    case POLICY_KEY_USERNAME:
        return principal->kind == PRINCIPAL_USER ? principal->name : slice_of(NULL, 0);
    case POLICY_KEY_RESOURCE_ACCOUNT:
        return request->account;
    default:
        return slice_of(NULL, 0);
    }
}

void request_values(const struct policy_request *request, const struct policy_key *key,
                    struct slice *own, struct policy_values *out)
{
    *out = (struct policy_values){0};
    if (request->lookup != NULL)
        request->lookup(request->context, key, out);
    if (out->count > 0)
        return;
    *own = implied(request, key->id);
    if (own->len > 0)
        *out = (struct policy_values){own, 1};
}
