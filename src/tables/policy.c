// Judging a policy document: an object with Version and Statement, and in each statement an Effect,
// a Principal, an Action and a Resource. It is read once, without building a tree.
//
// The service words these faults in more ways than it documents; here each begins with the same
// sentence and then says what is wrong.
#include "tables/policy.h"

#include "value/map.h"
#include "json/reader.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { POLICY_MAX = 20 * 1024 }; // AWS

static bool invalid(struct error *error, const char *what)
{
    return error_validation(error, "The resource-based policy document is invalid: %s", what);
}

// What reads a part returns false with the error set if the part is invalid. If the text is not
// JSON the reader knows, and policy_check says so.

// A string, or a list of strings of which there is at least one; each goes to `judge` if it is set.
static bool texts(struct json_reader *reader, const char *what, bool (*judge)(struct slice),
                  struct error *error)
{
    struct slice text;
    size_t count = 0;
    if (json_peek(reader) == JSON_STRING) {
        return json_read_string(reader, &text) &&
               (judge == NULL || judge(text) || invalid(error, what));
    }
    if (json_peek(reader) != JSON_ARRAY)
        return invalid(error, what);
    if (!json_enter(reader))
        return false;
    while (json_next_element(reader)) {
        if (json_peek(reader) != JSON_STRING)
            return invalid(error, what);
        if (!json_read_string(reader, &text))
            return false;
        if (judge != NULL && !judge(text))
            return invalid(error, what);
        count++;
    }
    return reader->error == NULL && (count > 0 || invalid(error, what));
}

static bool is_action(struct slice text)
{
    return slice_is(text, "*") || (text.len > 9 && slice_begins(text, SLICE_LIT("dynamodb:")));
}

static bool is_effect(struct slice text)
{
    return slice_is(text, "Allow") || slice_is(text, "Deny");
}

// "*", or an object such as {"AWS": "…"}.
static bool principal(struct json_reader *reader, struct error *error)
{
    static const char what[] = "Principal must be \"*\" or name who may act";
    struct slice name;
    size_t count = 0;
    if (json_peek(reader) == JSON_STRING) {
        return json_read_string(reader, &name) && (slice_is(name, "*") || invalid(error, what));
    }
    if (json_peek(reader) != JSON_OBJECT)
        return invalid(error, what);
    if (!json_enter(reader))
        return false;
    while (json_next_name(reader, &name)) {
        if (!texts(reader, what, NULL, error))
            return false;
        count++;
    }
    return reader->error == NULL && (count > 0 || invalid(error, what));
}

// Which parts of a statement have been seen.
enum { HAS_EFFECT = 1, HAS_PRINCIPAL = 2, HAS_ACTION = 4, HAS_RESOURCE = 8, HAS_ALL = 15 };

static bool statement_member(struct json_reader *reader, struct slice name, unsigned *seen,
                             struct error *error)
{
    if (slice_is(name, "Effect")) {
        *seen |= HAS_EFFECT;
        return texts(reader, "Effect must be Allow or Deny", is_effect, error);
    }
    if (slice_is(name, "Principal") || slice_is(name, "NotPrincipal")) {
        *seen |= HAS_PRINCIPAL;
        return principal(reader, error);
    }
    if (slice_is(name, "Action") || slice_is(name, "NotAction")) {
        *seen |= HAS_ACTION;
        return texts(reader, "Action must name operations of dynamodb", is_action, error);
    }
    if (slice_is(name, "Resource") || slice_is(name, "NotResource")) {
        *seen |= HAS_RESOURCE;
        return texts(reader, "Resource must name resources", NULL, error);
    }
    if (!slice_is(name, "Sid") && !slice_is(name, "Condition"))
        return invalid(error, "a Statement has a member that policies do not know");
    return json_skip(reader);
}

static bool statement(struct json_reader *reader, struct error *error)
{
    struct slice name;
    unsigned seen = 0;
    if (json_peek(reader) != JSON_OBJECT)
        return invalid(error, "a Statement must be an object");
    if (!json_enter(reader))
        return false;
    while (json_next_name(reader, &name)) {
        if (!statement_member(reader, name, &seen, error))
            return false;
    }
    return reader->error == NULL &&
           (seen == HAS_ALL ||
            invalid(error, "a Statement must have Effect, Principal, Action and Resource"));
}

static bool statements(struct json_reader *reader, struct error *error)
{
    size_t count = 0;
    if (json_peek(reader) != JSON_ARRAY)
        return statement(reader, error);
    if (!json_enter(reader))
        return false;
    while (json_next_element(reader)) {
        if (!statement(reader, error))
            return false;
        count++;
    }
    return reader->error == NULL && (count > 0 || invalid(error, "Statement must not be empty"));
}

static bool is_version(struct slice text)
{
    return slice_is(text, "2012-10-17") || slice_is(text, "2008-10-17");
}

static bool policy(struct json_reader *reader, struct error *error)
{
    struct slice name;
    bool version = false;
    bool statement_seen = false;
    bool ok = true;
    if (json_peek(reader) != JSON_OBJECT)
        return json_peek(reader) != JSON_BAD && invalid(error, "it must be a JSON object");
    if (!json_enter(reader))
        return false;
    while (ok && json_next_name(reader, &name)) {
        if (slice_is(name, "Version")) {
            version = true;
            ok = texts(reader, "Version must be 2012-10-17 or 2008-10-17", is_version, error);
        } else if (slice_is(name, "Statement")) {
            statement_seen = true;
            ok = statements(reader, error);
        } else {
            ok = slice_is(name, "Id") ? json_skip(reader)
                                      : invalid(error, "it has a member that policies do not know");
        }
    }
    return ok && json_at_end(reader) &&
           ((version && statement_seen) || invalid(error, "it must have Version and Statement"));
}

// What only the compiler sees: operators, ARNs, values that do not fit.
static bool compiles(struct slice document, struct error *error)
{
    struct policy_fault fault;
    struct policy *compiled = policy_compile(document, POLICY_RESOURCE, NULL, NULL, &fault);
    if (compiled == NULL)
        return error_validation(error, "The resource-based policy document is invalid: %s: %s",
                                fault.path, fault.message);
    policy_release(compiled);
    return true;
}

bool policy_check(struct slice document, struct arena *arena, struct error *error)
{
    struct json_reader reader;
    if (document.len > POLICY_MAX)
        return error_validation(error,
                                "The resource-based policy document exceeds the maximum size of "
                                "%d bytes",
                                POLICY_MAX);
    json_reader_init(&reader, document, arena);
    bool ok = policy(&reader, error);
    // If something before that is invalid, the error says so already.
    return reader.error == NULL ? ok && compiles(document, error)
                                : error_validation(error,
                                                   "The resource-based policy document is invalid: "
                                                   "it is not JSON (%s at byte %zu)",
                                                   reader.error, reader.offset);
}

// ---- Keeping ----------------------------------------------------------------------

bool policy_put(struct table *table, struct table_settings *settings, struct slice entry,
                struct slice document, int64_t now_ms, struct error *error)
{
    int64_t last = map_integer(map_value(settings->policies, entry), "revision");
    struct value_maker maker;
    map_begin(&maker);
    map_put_text(&maker, "document", document);
    map_put_integer(&maker, "revision", now_ms > last ? now_ms : last + 1);
    struct slice policy = map_end(&maker, &table->arena, error);
    return policy.ptr != NULL && map_set(&table->arena, &settings->policies, entry, policy, error);
}

bool policy_of_new_table(struct table *table, struct table_settings *settings,
                         struct slice document, int64_t now_ms, struct error *error)
{
    return document.ptr == NULL ||
           policy_put(table, settings, SLICE_LIT(POLICY_OF_TABLE), document, now_ms, error);
}

// ---- In force -----------------------------------------------------------------------------------

struct compiled {
    struct table_made made; // first
    size_t count;
    struct table_policy policies[];
};

static void compiled_free(struct table_made *made)
{
    struct compiled *compiled = (struct compiled *)made;
    for (size_t i = 0; i < compiled->count; i++)
        policy_release((struct policy *)(uintptr_t)compiled->policies[i].policy);
    free(compiled);
}

static struct compiled *compile_all(const struct table *table)
{
    struct table_settings settings;
    struct value_iter iter;
    table_settings_read(table, &settings);
    size_t count = settings.policies.len == 0 ? 0 : value_count(settings.policies);
    struct compiled *compiled =
        memory_zeroed(sizeof(*compiled) + count * sizeof(compiled->policies[0]));
    compiled->made.free = compiled_free;
    if (count == 0)
        return compiled;
    value_iter_init(&iter, settings.policies);
    while (compiled->count < count && value_iter_next(&iter)) {
        struct policy_fault fault;
        compiled->policies[compiled->count++] =
            (struct table_policy){iter.name, policy_compile(map_text(iter.value, "document"),
                                                            POLICY_RESOURCE, NULL, NULL, &fault)};
    }
    return compiled;
}

const struct table_policy *table_policy(const struct table *table, struct slice entry)
{
    const struct table_made *made = atomic_load_explicit(&table->made, memory_order_acquire);
    if (made == NULL)
        made = table_keep_made(table, &compile_all(table)->made);
    const struct compiled *compiled = (const struct compiled *)made;
    for (size_t i = 0; i < compiled->count; i++) {
        if (slice_equal(compiled->policies[i].entry, entry))
            return &compiled->policies[i];
    }
    return NULL;
}
