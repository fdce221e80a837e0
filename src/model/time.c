// See time.h.
#include "model/time.h"

#include "base/time_text.h"

enum { DAY = 86400, HOUR = 3600, MINUTE = 60 };

// `count` digits at *at, which moves behind them.
static bool digits(struct slice *at, size_t count, unsigned *value)
{
    if (at->len < count)
        return false;
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned)at->ptr[i] - '0';
        if (digit > 9)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    *at = slice_of(at->ptr + count, at->len - count);
    return true;
}

static bool mark(struct slice *at, uint8_t byte)
{
    if (at->len == 0 || at->ptr[0] != byte)
        return false;
    *at = slice_of(at->ptr + 1, at->len - 1);
    return true;
}

static bool date_part(struct slice *at, int64_t *seconds)
{
    unsigned year;
    struct time_civil civil;
    if (!digits(at, 4, &year) || !mark(at, '-') || !digits(at, 2, &civil.month) || !mark(at, '-') ||
        !digits(at, 2, &civil.day))
        return false;
    civil.year = year;
    if (civil.month < 1 || civil.month > 12 || civil.day < 1 ||
        civil.day > time_month_days(civil.year, civil.month))
        return false;
    *seconds = time_days(civil) * DAY;
    return true;
}

// HH:MM, with seconds and their fraction if they are there.
static bool time_part(struct slice *at, struct model_time *time)
{
    unsigned hour;
    unsigned minute;
    unsigned second = 0;
    if (!digits(at, 2, &hour) || !mark(at, ':') || !digits(at, 2, &minute))
        return false;
    time->minutes = !mark(at, ':');
    if (!time->minutes && !digits(at, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    time->seconds += (int64_t)hour * HOUR + (int64_t)minute * MINUTE + second;
    time->fraction = slice_of(at->ptr, 0);
    struct slice start = *at;
    if (time->minutes || !mark(at, '.'))
        return true;
    unsigned digit;
    while (digits(at, 1, &digit))
        continue;
    time->fraction = slice_of(start.ptr, start.len - at->len);
    return time->fraction.len > 1;
}

// Z, or a sign and HH, HHMM or HH:MM.
static bool zone_part(struct slice *at, struct model_time *time)
{
    time->zone = *at; // all that is left
    if (mark(at, 'Z'))
        return at->len == 0;
    bool west = mark(at, '-');
    unsigned hours;
    unsigned minutes = 0;
    if ((!west && !mark(at, '+')) || !digits(at, 2, &hours))
        return false;
    bool colon = mark(at, ':');
    if ((colon || at->len > 0) && !digits(at, 2, &minutes))
        return false;
    if (at->len > 0 || hours > 23 || minutes > 59)
        return false;
    int32_t offset = (int32_t)(hours * HOUR + minutes * MINUTE);
    time->offset = west ? -offset : offset;
    time->seconds -= time->offset;
    return true;
}

bool model_timestamp_parse(struct slice text, struct model_time *time)
{
    struct model_time parsed = {.date = false};
    if (!date_part(&text, &parsed.seconds) || !mark(&text, 'T') || !time_part(&text, &parsed) ||
        !zone_part(&text, &parsed))
        return false;
    *time = parsed;
    return true;
}

bool model_date_parse(struct slice text, struct model_time *time)
{
    struct model_time parsed = {.date = true};
    if (!date_part(&text, &parsed.seconds) || text.len > 0)
        return false;
    *time = parsed;
    return true;
}

// ---- Writing ----------------------------------------------------------------------------------

struct broken {
    struct time_civil civil;
    unsigned hour;
    unsigned minute;
    unsigned second;
};

static bool break_down(int64_t seconds, struct broken *out)
{
    if (seconds < -INT64_C(62167219200) || seconds > MODEL_EPOCH_MAX)
        return false;
    int64_t days = (seconds >= 0 ? seconds : seconds - (DAY - 1)) / DAY;
    unsigned left = (unsigned)(seconds - days * DAY);
    *out = (struct broken){time_civil(days), left / HOUR, left / MINUTE % 60, left % 60};
    return true;
}

static void put_digits(struct buf *out, size_t count, unsigned value)
{
    uint8_t text[4];
    for (size_t i = count; i > 0; i--) {
        text[i - 1] = (uint8_t)('0' + value % 10);
        value /= 10;
    }
    buf_add(out, text, count);
}

static void put_date(const struct broken *broken, struct buf *out)
{
    put_digits(out, 4, (unsigned)broken->civil.year);
    buf_byte(out, '-');
    put_digits(out, 2, broken->civil.month);
    buf_byte(out, '-');
    put_digits(out, 2, broken->civil.day);
}

static void put_time(const struct broken *broken, bool minutes, struct buf *out)
{
    buf_byte(out, 'T');
    put_digits(out, 2, broken->hour);
    buf_byte(out, ':');
    put_digits(out, 2, broken->minute);
    if (minutes && broken->second == 0)
        return;
    buf_byte(out, ':');
    put_digits(out, 2, broken->second);
}

bool model_time_text(const struct model_time *time, struct buf *out)
{
    struct broken broken;
    if (!break_down(time->seconds + time->offset, &broken))
        return false;
    put_date(&broken, out);
    if (time->date)
        return true;
    put_time(&broken, time->minutes, out);
    buf_slice(out, time->fraction);
    buf_slice(out, time->zone);
    return true;
}

// The digits of a fraction that a form has, without the point.
static size_t form_digits(unsigned form)
{
    return form == MODEL_SECONDS ? 0 : form == MODEL_MILLISECONDS ? 3 : 6;
}

bool model_time_has_form(const struct model_time *time, unsigned form)
{
    size_t digits = form_digits(form);
    return form == 0 || (!time->minutes && slice_is(time->zone, "Z") &&
                         time->fraction.len == (digits == 0 ? 0 : digits + 1));
}

bool model_time_put_form(const struct model_time *time, unsigned form, struct buf *out)
{
    struct broken broken;
    if (!break_down(time->seconds, &broken))
        return false;
    put_date(&broken, out);
    put_time(&broken, false, out);
    for (size_t i = 0; i <= form_digits(form) && form != MODEL_SECONDS; i++)
        buf_byte(out, i < time->fraction.len ? time->fraction.ptr[i] : i == 0 ? '.' : '0');
    buf_byte(out, 'Z');
    return true;
}

static int64_t floor_seconds(int64_t ms)
{
    return (ms >= 0 ? ms : ms - 999) / 1000;
}

bool model_time_from_ms(int64_t ms, struct buf *out)
{
    struct broken broken;
    int64_t seconds = floor_seconds(ms);
    if (!break_down(seconds, &broken))
        return false;
    put_date(&broken, out);
    put_time(&broken, false, out);
    buf_byte(out, '.');
    put_digits(out, 3, (unsigned)(ms - seconds * 1000));
    buf_byte(out, 'Z');
    return true;
}

bool model_date_from_ms(int64_t ms, struct buf *out)
{
    struct broken broken;
    if (!break_down(floor_seconds(ms), &broken))
        return false;
    put_date(&broken, out);
    return true;
}

bool model_time_pattern(int64_t seconds, struct slice pattern, struct buf *out)
{
    struct broken broken;
    if (!break_down(seconds, &broken))
        return false;
    const struct {
        struct slice word;
        unsigned value;
    } words[] = {
        {SLICE_LIT("yyyy"), (unsigned)broken.civil.year},
        {SLICE_LIT("mm"), broken.civil.month},
        {SLICE_LIT("dd"), broken.civil.day},
        {SLICE_LIT("HH"), broken.hour},
        {SLICE_LIT("MM"), broken.minute},
        {SLICE_LIT("SS"), broken.second},
    };
    for (size_t at = 0; at < pattern.len;) {
        struct slice rest = slice_of(pattern.ptr + at, pattern.len - at);
        size_t i = 0;
        while (i < sizeof(words) / sizeof(words[0]) && !slice_begins(rest, words[i].word))
            i++;
        if (i == sizeof(words) / sizeof(words[0])) {
            buf_byte(out, pattern.ptr[at++]);
            continue;
        }
        put_digits(out, words[i].word.len, words[i].value);
        at += words[i].word.len;
    }
    return true;
}
