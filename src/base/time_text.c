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

// Years begin in March here, so that a leap day is the last day of its year.
int64_t time_days(struct time_civil civil)
{
    int64_t year = civil.year - (civil.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t month = (civil.month + 9) % 12;
    int64_t of_year = (153 * month + 2) / 5 + civil.day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct time_civil time_civil(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct time_civil civil = {.year = year + era * 400,
                               .month = (unsigned)(month < 10 ? month + 3 : month - 9),
                               .day = (unsigned)(of_year - (153 * month + 2) / 5 + 1)};
    civil.year += civil.month <= 2;
    return civil;
}

unsigned time_month_days(int64_t year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (unsigned)(month == 2 && leap);
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
    int year, month, day, hour, minute, second;
    int fraction = 0;
    bool fractional = text.len == 24 && at[19] == '.';
    if ((text.len != 20 && !fractional) || at[text.len - 1] != 'Z')
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        if (form[i] != '0' && at[i] != form[i])
            return false;
    }
    if (!digits(at, 4, 1970, 9999, &year) || !digits(at + 5, 2, 1, 12, &month) ||
        !digits(at + 8, 2, 1, 31, &day) || !digits(at + 11, 2, 0, 23, &hour) ||
        !digits(at + 14, 2, 0, 59, &minute) || !digits(at + 17, 2, 0, 59, &second) ||
        (fractional && !digits(at + 20, 3, 0, 999, &fraction)))
        return false;
    if ((unsigned)day > time_month_days(year, (unsigned)month))
        return false;
    int64_t days = time_days((struct time_civil){year, (unsigned)month, (unsigned)day});
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    *ms = seconds * 1000 + fraction;
    return true;
}
