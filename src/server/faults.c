// See faults.h. The rules are behind a lock; a server without rules looks at one flag only.
#include "server/faults.h"

#include "api/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RULE_MAX = 120, EVERY_OPERATION = 254 };

struct rule {
    unsigned operation; // place in api_operations(), or EVERY_OPERATION
    enum fault_kind kind;
    unsigned latency_ms;
    double rate;
};

struct rules {
    size_t count;
    struct rule items[FAULT_RULES_MAX];
};

struct faults {
    atomic_bool active;
    pthread_mutex_t lock;
    struct rules rules;
};

static const char *const kind_names[] = {
    [FAULT_THROTTLE] = "throttle",
    [FAULT_CONFLICT] = "conflict",
    [FAULT_INTERNAL] = "internal",
    [FAULT_LATENCY] = "latency",
};

struct faults *faults_new(void)
{
    struct faults *faults = memory_zeroed(sizeof(*faults));
    ensure(pthread_mutex_init(&faults->lock, NULL) == 0);
    return faults;
}

void faults_free(struct faults *faults)
{
    if (faults == NULL)
        return;
    ensure(pthread_mutex_destroy(&faults->lock) == 0);
    free(faults);
}

// ---- Reading rules ---------------------------------------------------------------------------

// The rule is part of the sentence unless that could be cut inside a character.
static bool fail(char *error, size_t error_size, const char *what, struct slice rule)
{
    bool plain = rule.len <= RULE_MAX;
    for (size_t i = 0; plain && i < rule.len; i++)
        plain = rule.ptr[i] < 0x80;
    if (!plain)
        rule = SLICE_LIT("…");
    (void)snprintf(error, error_size, "%s in the fault '%.*s'", what, SLICE_FMT(rule));
    return false;
}

// "latency=200ms"
static bool latency_parse(struct slice text, unsigned *ms)
{
    static const struct slice unit = {(const uint8_t *)"ms", 2};
    *ms = 0;
    if (text.len < 3 || !slice_equal(slice_of(text.ptr + text.len - 2, 2), unit))
        return false;
    for (size_t i = 0; i < text.len - 2; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *ms > FAULT_LATENCY_MAX)
            return false;
        *ms = *ms * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return *ms <= FAULT_LATENCY_MAX;
}

static bool rate_parse(struct slice text, double *rate)
{
    char copy[32];
    char *end;
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *rate = strtod(copy, &end);
    return *end == 0 && *rate >= 0 && *rate <= 1;
}

static bool rule_parse(struct slice text, struct rule *rule, char *error, size_t error_size)
{
    struct slice rest = text;
    struct slice operation = slice_cut(&rest, ':');
    struct slice kind = slice_cut(&rest, ':');
    struct slice argument = kind;
    struct slice name = slice_cut(&argument, '=');
    *rule = (struct rule){.operation = EVERY_OPERATION, .rate = 1};
    if (!slice_is(operation, "*"))
        rule->operation = api_operation_number(operation);
    if (rule->operation == API_NO_OPERATION)
        return fail(error, error_size, "unknown operation", text);
    for (unsigned i = FAULT_THROTTLE; i <= FAULT_LATENCY; i++) {
        if (slice_is(name, kind_names[i]))
            rule->kind = (enum fault_kind)i;
    }
    if (rule->kind == FAULT_NONE)
        return fail(error, error_size, "unknown kind (throttle, conflict, internal or latency=Nms)",
                    text);
    if (rule->kind == FAULT_LATENCY ? !latency_parse(argument, &rule->latency_ms)
                                    : name.len != kind.len)
        return fail(error, error_size, "bad argument (only latency has one: latency=200ms)", text);
    if (rest.len > 0 && !rate_parse(rest, &rule->rate))
        return fail(error, error_size, "the rate must be from 0 to 1", text);
    return true;
}

bool faults_set(struct faults *faults, struct slice text, char *error, size_t error_size)
{
    struct rules rules = {.count = 0};
    while (text.len > 0) {
        struct slice one = slice_cut(&text, ',');
        if (rules.count == FAULT_RULES_MAX)
            return fail(error, error_size, "too many rules", one);
        if (!rule_parse(one, &rules.items[rules.count++], error, error_size))
            return false;
    }
    ensure(pthread_mutex_lock(&faults->lock) == 0);
    faults->rules = rules;
    atomic_store(&faults->active, rules.count > 0);
    ensure(pthread_mutex_unlock(&faults->lock) == 0);
    return true;
}

void faults_write(struct faults *faults, struct buf *out)
{
    ensure(pthread_mutex_lock(&faults->lock) == 0);
    for (size_t i = 0; i < faults->rules.count; i++) {
        const struct rule *rule = &faults->rules.items[i];
        const char *operation =
            rule->operation == EVERY_OPERATION ? "*" : api_operations()[rule->operation];
        buf_printf(out, "%s%s:%s", i == 0 ? "" : ",", operation, kind_names[rule->kind]);
        if (rule->kind == FAULT_LATENCY)
            buf_printf(out, "=%ums", rule->latency_ms);
        buf_printf(out, ":%g", rule->rate);
    }
    ensure(pthread_mutex_unlock(&faults->lock) == 0);
}

// ---- Drawing ---------------------------------------------------------------------------------

static bool can_conflict(struct slice operation)
{
    static const char *const names[] = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
                                        "TransactGetItems"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (slice_is(operation, names[i]))
            return true;
    }
    return false;
}

static bool concerns(const struct rule *rule, unsigned number, struct slice operation)
{
    if (rule->operation == EVERY_OPERATION)
        return rule->kind != FAULT_CONFLICT || can_conflict(operation);
    return rule->operation == number;
}

struct fault faults_draw(struct faults *faults, struct slice operation,
                         uint64_t (*random)(void *context), void *context)
{
    struct fault fault = {FAULT_NONE, 0};
    if (!atomic_load_explicit(&faults->active, memory_order_relaxed))
        return fault;
    unsigned number = api_operation_number(operation);
    if (number == API_NO_OPERATION)
        return fault;
    ensure(pthread_mutex_lock(&faults->lock) == 0);
    for (size_t i = 0; i < faults->rules.count; i++) {
        const struct rule *rule = &faults->rules.items[i];
        // 53 random bits make an even number from 0 to below 1.
        if (!concerns(rule, number, operation) ||
            (double)(random(context) >> 11) * 0x1p-53 >= rule->rate)
            continue;
        if (rule->kind == FAULT_LATENCY)
            fault.latency_ms += rule->latency_ms;
        else if (fault.failure == FAULT_NONE)
            fault.failure = rule->kind;
    }
    ensure(pthread_mutex_unlock(&faults->lock) == 0);
    return fault;
}
