// The two tables of facts.h as rows, and finding one by name. Keys and actions are found when a
// policy is compiled, and once for each operation; so a walk over the rows is quick enough.
#include "policy/facts.h"

static const struct policy_key_row key_rows[] = {
#define X(id, name, type, many, values) {name, POLICY_##type, many, values},
    POLICY_KEY_LIST(X)
#undef X
};

static const struct policy_action_row action_rows[] = {
#define X(name, keys, resources) {{(const uint8_t *)#name, sizeof(#name) - 1}, keys, resources},
    POLICY_ACTION_LIST(X)
#undef X
};

_Static_assert(POLICY_KEY_SELECT < 32, "the keys of DynamoDB have a bit each");

const struct policy_key_row *policy_key_row(enum policy_key_id id)
{
    return id < POLICY_KEY_COUNT ? &key_rows[id] : NULL;
}

struct policy_key policy_key_find(struct slice name)
{
    struct policy_key key = {.id = POLICY_KEY_UNKNOWN, .name = name};
    for (size_t i = 0; i < COUNT_OF(key_rows); i++) {
        struct slice own = slice_str(key_rows[i].name);
        bool tagged = own.ptr[own.len - 1] == '/';
        if (tagged && name.len > own.len && policy_letters_equal(own, slice_of(name.ptr, own.len)))
            key.tag = slice_of(name.ptr + own.len, name.len - own.len);
        else if (tagged || !policy_letters_equal(own, name))
            continue;
        key.id = (enum policy_key_id)i;
        key.many = key_rows[i].many;
        break;
    }
    return key;
}

bool policy_key_equal(const struct policy_key *a, const struct policy_key *b)
{
    if (a->id != b->id)
        return false;
    return a->id == POLICY_KEY_UNKNOWN ? policy_letters_equal(a->name, b->name)
                                       : policy_letters_equal(a->tag, b->tag);
}

const struct policy_action_row *policy_action_row(enum policy_action_id id)
{
    return id < POLICY_ACTION_COUNT ? &action_rows[id] : NULL;
}

enum policy_action_id policy_action_find(struct slice action)
{
    struct slice service = SLICE_LIT(POLICY_SERVICE);
    if (action.len < service.len ||
        !policy_letters_equal(service, slice_of(action.ptr, service.len)))
        return POLICY_ACTION_UNKNOWN;
    struct slice name = slice_of(action.ptr + service.len, action.len - service.len);
    for (size_t i = 0; i < COUNT_OF(action_rows); i++)
        if (policy_letters_equal(name, action_rows[i].name))
            return (enum policy_action_id)i;
    return POLICY_ACTION_UNKNOWN;
}
