// Times as items hold them: ISO 8601 text, dates, and seconds since 1970. Pure functions.
#ifndef MODEL_TIME_H
#define MODEL_TIME_H

#include "model/model.h"

// A point in time and the form it was written in, so that a sum can be written in the same form.
struct model_time {
    int64_t seconds;       // since 1970, in UTC
    struct slice fraction; // ".123", or empty
    struct slice zone;     // "Z", "+01:00"; empty for a date
    int32_t offset;        // of the zone, in seconds
    bool date;             // only a date
    bool minutes;          // written without seconds
};

// 2026-11-16T03:40:00.123Z, 2026-11-16T04:40+01:00: a day that there is, a time of day, a zone.
// *time borrows from the text.
MUST_CHECK bool model_timestamp_parse(struct slice text, struct model_time *time);

// 2026-11-16.
MUST_CHECK bool model_date_parse(struct slice text, struct model_time *time);

// Whether it is written in one of the forms of enum model_normal (0: any); and the text in that
// form: in UTC, with as many digits of the fraction, the others cut off. False outside of the
// years.
bool model_time_has_form(const struct model_time *time, unsigned form);
MUST_CHECK bool model_time_put_form(const struct model_time *time, unsigned form, struct buf *out);

// In the time's own form. False (nothing appended) outside of the years 0 to 9999.
MUST_CHECK bool model_time_text(const struct model_time *time, struct buf *out);

// As JavaScript writes it: 2026-11-16T03:40:00.123Z.
MUST_CHECK bool model_time_from_ms(int64_t ms, struct buf *out);
MUST_CHECK bool model_date_from_ms(int64_t ms, struct buf *out);

// A pattern of yyyy mm dd HH MM SS (month is mm, minute is MM) and other characters, in UTC.
MUST_CHECK bool model_time_pattern(int64_t seconds, struct slice pattern, struct buf *out);

// The years 1 to 9999; what is beyond are most likely milliseconds.
#define MODEL_EPOCH_MIN INT64_C(-62135596800)
#define MODEL_EPOCH_MAX INT64_C(253402300799)

#endif
