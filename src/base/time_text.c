// See time_text.h.
#include "base/time_text.h"

#include <stdio.h>
#include <time.h>

void time_text(int64_t ms, char out[TIME_TEXT])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL)
        utc = (struct tm){.tm_mday = 1, .tm_year = 70};
    size_t len = strftime(out, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + len, TIME_TEXT - len, ".%03uZ", (unsigned)(ms % 1000));
}

// A number of exactly that many digits between two bounds.
static bool digits(const char *at, size_t count, int min, int max, int *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        *out = *out * 10 + (at[i] - '0');
    }
    return *out >= min && *out <= max;
}

bool time_parse(struct slice text, int64_t *ms)
{
    static const char form[] = "0000-00-00T00:00:00";
    const char *at = (const char *)text.ptr;
    struct tm utc = {0};
    int fraction = 0;
    bool fractional = text.len == 24 && at[19] == '.';
    if ((text.len != 20 && !fractional) || at[text.len - 1] != 'Z')
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        if (form[i] != '0' && at[i] != form[i])
            return false;
    }
    if (!digits(at, 4, 1970, 9999, &utc.tm_year) || !digits(at + 5, 2, 1, 12, &utc.tm_mon) ||
        !digits(at + 8, 2, 1, 31, &utc.tm_mday) || !digits(at + 11, 2, 0, 23, &utc.tm_hour) ||
        !digits(at + 14, 2, 0, 59, &utc.tm_min) || !digits(at + 17, 2, 0, 59, &utc.tm_sec) ||
        (fractional && !digits(at + 20, 3, 0, 999, &fraction)))
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    int day = utc.tm_mday;
    int64_t seconds = timegm(&utc);
    if (utc.tm_mday != day) // timegm() makes another day of one that its month does not have
        return false;
    *ms = seconds * 1000 + fraction;
    return true;
}
