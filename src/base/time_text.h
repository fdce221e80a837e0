// Times as people and scripts read them: 2026-01-01T00:00:00.000Z.
#ifndef BASE_TIME_TEXT_H
#define BASE_TIME_TEXT_H

#include "base/attributes.h"
#include "base/slice.h"

enum { TIME_TEXT = 32 };

void time_text(int64_t ms, char out[TIME_TEXT]);
// The same form, the fraction being optional. From 1970 to 9999.
MUST_CHECK bool time_parse(struct slice text, int64_t *ms);

// A day by the proleptic Gregorian calendar, and days since 1970.
struct time_civil {
    int64_t year;
    unsigned month; // 1 to 12
    unsigned day;
};
int64_t time_days(struct time_civil civil);
struct time_civil time_civil(int64_t days);
unsigned time_month_days(int64_t year, unsigned month);

#endif
