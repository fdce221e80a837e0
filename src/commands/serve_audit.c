// See serve_audit.h.
#include "commands/serve_audit.h"

#include <stdlib.h>

enum { ROTATE_MIN = 64 << 10 };

// "100M" or "1d", or both with a comma between them.
static bool rotate_part(struct slice text, struct audit_options *out)
{
    static const struct {
        char unit;
        uint64_t bytes;
        uint64_t ms;
    } units[] = {
        {'K', UINT64_C(1) << 10, 0}, {'M', UINT64_C(1) << 20, 0},
        {'G', UINT64_C(1) << 30, 0}, {'m', 0, 60000},
        {'h', 0, 3600000},           {'d', 0, 86400000},
    };
    uint64_t number = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || number > 1000000)
            return false;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    for (size_t i = 0; number > 0 && i < COUNT_OF(units); i++) {
        if (text.ptr[text.len - 1] != units[i].unit)
            continue;
        if (units[i].bytes > 0)
            out->rotate_bytes = number * units[i].bytes;
        else
            out->rotate_ms = number * units[i].ms;
        return units[i].bytes == 0 || out->rotate_bytes >= ROTATE_MIN;
    }
    return false;
}

static bool rotate_parse(struct cli_input *input, struct audit_options *out)
{
    const char *text = cli_value(input, "--audit-rotate", "100M");
    struct slice rest = slice_str(text);
    if (strcmp(text, "never") == 0)
        return true;
    do {
        if (!rotate_part(slice_cut(&rest, ','), out))
            return cli_misused(
                input,
                "--audit-rotate: '%s' is not a size of at least 64K, such as 100M, "
                "a time such as 12h or 1d, both with a comma between them, or never.",
                text);
    } while (rest.len > 0);
    return true;
}

bool audit_parse(struct cli_input *input, struct audit_options *out)
{
    static const char *const scopes[] = {"all", "writes", "denied", NULL};
    static const char *const keys[] = {"hashed", "plain", "none", NULL};
    static const char *const others[] = {"--audit",      "--audit-keys",   "--audit-rotate",
                                         "--audit-keep", "--audit-strict", "--audit-key"};
    size_t scope = AUDIT_ALL;
    size_t how = AUDIT_KEYS_HASHED;
    *out = (struct audit_options){.place = cli_value(input, "--audit-log", NULL),
                                  .key = cli_value(input, "--audit-key", NULL),
                                  .strict = cli_given(input, "--audit-strict")};
    for (size_t i = 0; out->place == NULL && i < COUNT_OF(others); i++) {
        if (cli_given(input, others[i]))
            return cli_misused(input, "%s is for --audit-log.", others[i]);
    }
    if (!cli_choice(input, "--audit", scopes, "all, writes or denied", &scope) ||
        !cli_choice(input, "--audit-keys", keys, "hashed, plain or none", &how) ||
        !cli_number(input, "--audit-keep", 0, 1, 100000, &out->keep) || !rotate_parse(input, out))
        return false;
    if (out->key == NULL)
        out->key = cli_value(input, "--master-key", NULL);
    out->scope = (enum audit_scope)scope;
    out->keys = (enum audit_keys)how;
    return true;
}

bool limits_parse(struct cli_input *input, struct server_options *out)
{
    static const char *const lockouts[] = {"on", "off", NULL};
    const char *rate = cli_value(input, "--rate-limit", NULL);
    size_t lockout;
    if (rate != NULL && !limits_rate_parse(slice_str(rate), &out->rate))
        return cli_misused(input, "--rate-limit: '%s' is not a rate such as 100/s or 600/m.", rate);
    if (!cli_choice(input, "--lockout", lockouts, "on or off", &lockout))
        return false;
    out->lockout = lockout == 0;
    return true;
}
