// Putting a scenario together, piece by piece or from a line of JSON.
#include "policy/scenario.h"
#include "base/limits.h"
#include "json/reader.h"

#include <stdarg.h>
#include <stdio.h>

enum { SCENARIO_MEMORY = 32 << 20 };

void scenario_init(struct scenario *scenario)
{
    memset(scenario, 0, sizeof(*scenario));
    arena_init(&scenario->arena, SCENARIO_MEMORY);
}

void scenario_release(struct scenario *scenario)
{
    for (size_t kind = 0; kind < POLICY_KINDS; kind++)
        for (size_t i = 0; i < scenario->counts[kind]; i++)
            policy_release(scenario->policies[kind][i].policy);
    arena_release(&scenario->arena);
}

static bool wrong(struct scenario *scenario, const char *format, ...) PRINTF_LIKE(2, 3);

static bool wrong(struct scenario *scenario, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(scenario->message, sizeof(scenario->message), format, arguments);
    va_end(arguments);
    return false;
}

static bool keep(struct scenario *scenario, struct slice text, struct slice *out)
{
    *out = arena_copy(&scenario->arena, text);
    return out->ptr != NULL || wrong(scenario, "there is no memory for it");
}

// ---- Piece by piece --------------------------------------------------------------------------

bool scenario_add_policy(struct scenario *scenario, enum policy_kind kind, struct slice name,
                         struct slice document)
{
    size_t *count = &scenario->counts[kind];
    bool one = kind == POLICY_BOUNDARY || kind == POLICY_RESOURCE;
    struct policy_fault fault;
    struct slice kept;
    if (*count == (one ? 1 : SCENARIO_POLICIES))
        return wrong(scenario, "there is more than %d %s", one ? 1 : SCENARIO_POLICIES,
                     policy_kind_name(kind));
    if (!keep(scenario, name, &kept))
        return false;
    struct policy *policy = policy_compile(document, kind, NULL, NULL, &fault);
    if (policy == NULL)
        return wrong(scenario, "%s%.*s%s%u:%u: %s%s%s", kept.len > 0 ? "" : policy_kind_name(kind),
                     SLICE_FMT(kept), kept.len > 0 ? ":" : " ", fault.line, fault.column,
                     fault.path, fault.path[0] != 0 ? ": " : "", fault.message);
    scenario->policies[kind][*count] = (struct scenario_policy){kept, policy};
    scenario->lists[kind][*count] = policy;
    (*count)++;
    return true;
}

bool scenario_add_value(struct scenario *scenario, struct slice key, struct slice value)
{
    struct policy_context *context = &scenario->context;
    struct slice name;
    size_t at = 0;
    if (!keep(scenario, key, &name))
        return false;
    struct policy_key found = policy_key_find(name);
    while (at < context->count && !policy_key_equal(&scenario->entries[at].key, &found))
        at++;
    if (at == SCENARIO_KEYS)
        return wrong(scenario, "there are more than %d context keys", SCENARIO_KEYS);
    struct policy_entry *entry = &scenario->entries[at];
    if (at == context->count)
        *entry = (struct policy_entry){.key = found};
    struct slice *list = arena_alloc(&scenario->arena, (entry->values.count + 1) * sizeof(*list));
    if (list == NULL)
        return wrong(scenario, "there is no memory for it");
    if (entry->values.count > 0)
        memcpy(list, entry->values.list, entry->values.count * sizeof(*list));
    if (!keep(scenario, value, &list[entry->values.count]))
        return false;
    entry->values = (struct policy_values){list, entry->values.count + 1};
    context->count += at == context->count;
    context->entries = scenario->entries;
    return true;
}

bool scenario_ask(struct scenario *scenario, struct slice principal, struct slice action,
                  struct slice resource, struct slice account)
{
    struct slice who;
    struct slice act;
    struct slice what;
    struct slice whose;
    if (!keep(scenario, principal, &who) || !keep(scenario, action, &act) ||
        !keep(scenario, resource, &what) || !keep(scenario, account, &whose))
        return false;
    if (!policy_principal_read(who, &scenario->arena, &scenario->principal))
        return wrong(scenario,
                     "\"%.*s\" is not a principal: write the ARN of a user, a role or a session, "
                     "the name of a service, or anonymous",
                     SLICE_FMT(who));
    if (memchr(act.ptr, ':', act.len) == NULL)
        return wrong(scenario, "\"%.*s\" is not an action: write dynamodb:GetItem", SLICE_FMT(act));
    policy_request_init(&scenario->request, &scenario->principal, act, what);
    if (whose.len > 0)
        scenario->request.account = whose;
    scenario->request.lookup = policy_context_lookup;
    scenario->request.context = &scenario->context;
    scenario->set = (struct policy_set){
        .identity = scenario->lists[POLICY_IDENTITY],
        .identity_count = scenario->counts[POLICY_IDENTITY],
        .boundary = scenario->lists[POLICY_BOUNDARY][0],
        .session = scenario->lists[POLICY_SESSION],
        .session_count = scenario->counts[POLICY_SESSION],
        .resource = scenario->lists[POLICY_RESOURCE][0],
    };
    return true;
}

// ---- From JSON -------------------------------------------------------------------------------

struct asked {
    struct slice principal;
    struct slice action;
    struct slice resource;
    struct slice account;
};

// A document: its text, as it stands.
static bool document_read(struct scenario *scenario, struct json_reader *reader,
                          enum policy_kind kind)
{
    (void)json_peek(reader);
    const uint8_t *from = reader->at;
    return json_skip(reader) && scenario_add_policy(scenario, kind, slice_of(NULL, 0),
                                                    slice_of(from, (size_t)(reader->at - from)));
}

static bool documents_read(struct scenario *scenario, struct json_reader *reader,
                           enum policy_kind kind)
{
    if (json_peek(reader) != JSON_ARRAY)
        return document_read(scenario, reader, kind);
    if (!json_enter(reader))
        return false;
    while (json_next_element(reader))
        if (!document_read(scenario, reader, kind))
            return false;
    return reader->error == NULL;
}

static bool value_read(struct scenario *scenario, struct json_reader *reader, struct slice key)
{
    enum json_kind kind = json_peek(reader);
    struct slice value;
    if (kind == JSON_STRING   ? !json_read_string(reader, &value)
        : kind == JSON_NUMBER ? !json_read_number(reader, &value)
                              : !json_read_literal(reader))
        return false;
    if (kind == JSON_TRUE || kind == JSON_FALSE)
        value = kind == JSON_TRUE ? SLICE_LIT("true") : SLICE_LIT("false");
    else if (kind == JSON_NULL)
        return wrong(scenario, "the value of a context key is a string, a number or a boolean");
    return scenario_add_value(scenario, key, value);
}

static bool context_read(struct scenario *scenario, struct json_reader *reader)
{
    struct slice key;
    if (json_peek(reader) != JSON_OBJECT)
        return wrong(scenario, "context must be an object of keys and values");
    if (!json_enter(reader))
        return false;
    while (json_next_name(reader, &key)) {
        if (json_peek(reader) != JSON_ARRAY) {
            if (!value_read(scenario, reader, key))
                return false;
            continue;
        }
        if (!json_enter(reader))
            return false;
        while (json_next_element(reader))
            if (!value_read(scenario, reader, key))
                return false;
    }
    return reader->error == NULL;
}

static bool text_read(struct scenario *scenario, struct json_reader *reader, struct slice name,
                      struct slice *out)
{
    if (json_peek(reader) != JSON_STRING)
        return wrong(scenario, "%.*s must be a string", SLICE_FMT(name));
    return json_read_string(reader, out) && keep(scenario, *out, out);
}

static bool member_read(struct scenario *scenario, struct json_reader *reader, struct slice name,
                        struct asked *asked)
{
    struct slice *text = slice_is(name, "principal")  ? &asked->principal
                         : slice_is(name, "action")   ? &asked->action
                         : slice_is(name, "resource") ? &asked->resource
                         : slice_is(name, "account")  ? &asked->account
                         : slice_is(name, "name")     ? &scenario->name
                         : slice_is(name, "expect")   ? &scenario->expected
                                                      : NULL;
    if (text != NULL)
        return text_read(scenario, reader, name, text);
    if (slice_is(name, "identity"))
        return documents_read(scenario, reader, POLICY_IDENTITY);
    if (slice_is(name, "session"))
        return documents_read(scenario, reader, POLICY_SESSION);
    if (slice_is(name, "boundary"))
        return document_read(scenario, reader, POLICY_BOUNDARY);
    if (slice_is(name, "resourcePolicy"))
        return document_read(scenario, reader, POLICY_RESOURCE);
    if (slice_is(name, "context"))
        return context_read(scenario, reader);
    return wrong(scenario, "a case has no member named \"%.*s\"", SLICE_FMT(name));
}

static bool expected_valid(struct scenario *scenario)
{
    for (int i = POLICY_ALLOW; i <= POLICY_EXPLICIT_DENY; i++)
        if (slice_is(scenario->expected, policy_outcome_name((enum policy_outcome)i)))
            return true;
    return scenario->expected.len == 0 ||
           wrong(scenario, "expect must be allow, implicitDeny or explicitDeny, not \"%.*s\"",
                 SLICE_FMT(scenario->expected));
}

bool scenario_read(struct scenario *scenario, struct slice json)
{
    struct asked asked = {0};
    struct json_reader reader;
    struct slice name;
    json_reader_init(&reader, json, &scenario->arena);
    bool ok = json_peek(&reader) == JSON_OBJECT || wrong(scenario, "a case must be a JSON object");
    ok = ok && json_enter(&reader);
    while (ok && json_next_name(&reader, &name))
        ok = member_read(scenario, &reader, name, &asked);
    if (reader.error != NULL)
        return wrong(scenario, "this is not JSON: %s at byte %zu", reader.error, reader.offset);
    if (!ok || !expected_valid(scenario))
        return false;
    if (!json_at_end(&reader))
        return wrong(scenario, "there is more behind the case");
    if (asked.principal.len == 0 || asked.action.len == 0 || asked.resource.len == 0)
        return wrong(scenario, "a case must have principal, action and resource");
    return scenario_ask(scenario, asked.principal, asked.action, asked.resource, asked.account);
}
