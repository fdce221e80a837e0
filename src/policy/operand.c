// The values of conditions: numbers, dates, addresses, base64. The same functions read what a
// policy has, when it is compiled, and what a request has, in the decision. None of them allocates.
#include "policy/policy_internal.h"

#include <arpa/inet.h>

// Numbers are compared exactly, in DynamoDB's own 38 digits.
bool operand_number(struct slice text, struct decimal *out)
{
    return text.len > 0 && text.len <= NUMBER_TEXT_MAX &&
           number_from_text(text, out->bytes, &out->len) == NUMBER_OK;
}

bool operand_bool(struct slice text, bool *out)
{
    bool yes = policy_letters_equal(text, SLICE_LIT("true"));
    if (!yes && !policy_letters_equal(text, SLICE_LIT("false")))
        return false;
    *out = yes;
    return true;
}

// ---- Base64 ----------------------------------------------------------------------------------

static int digit64(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Strict, so that equal bytes have equal text and can be compared as text.
bool operand_base64(struct slice text)
{
    size_t padding = 0;
    if (text.len % 4 != 0)
        return false;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i + padding < text.len; i++)
        if (digit64(text.ptr[i]) < 0)
            return false;
    int stray = padding == 0 ? 0 : padding == 1 ? 3 : 15; // bits of the last digit
    return padding == 0 || (digit64(text.ptr[text.len - 1 - padding]) & stray) == 0;
}

// ---- Addresses -------------------------------------------------------------------------------

// An IPv4 address that is written as one of IPv6 is the IPv4 address.
static void address_unmap(struct address *address)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (address->len != 16 || memcmp(address->bytes, mapped, sizeof(mapped)) != 0)
        return;
    memmove(address->bytes, address->bytes + sizeof(mapped), 4);
    address->len = 4;
}

static bool bits_read(struct slice text, unsigned max, unsigned *out)
{
    unsigned bits = 0;
    if (text.len == 0 || text.len > 3 || (text.len > 1 && text.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        bits = bits * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *out = bits;
    return bits <= max;
}

bool operand_address(struct slice text, bool block, struct address *out)
{
    char host[INET6_ADDRSTRLEN];
    struct slice bits = text;
    if (text.len == 0)
        return false;
    struct slice name = slice_cut(&bits, '/');
    bool has_bits = name.len < text.len;
    if (name.len == 0 || name.len >= sizeof(host) || (has_bits && !block) ||
        memchr(name.ptr, 0, name.len) != NULL)
        return false;
    memcpy(host, name.ptr, name.len);
    host[name.len] = 0;
    struct address address = {.len = 4};
    if (inet_pton(AF_INET, host, address.bytes) != 1) {
        address.len = 16;
        if (inet_pton(AF_INET6, host, address.bytes) != 1)
            return false;
    }
    address.bits = address.len * 8;
    if (has_bits && !bits_read(bits, address.len * 8, &address.bits))
        return false;
    if (!block)
        address_unmap(&address);
    *out = address;
    return true;
}

bool address_within(const struct address *address, const struct address *block)
{
    unsigned whole = block->bits / 8;
    unsigned rest = block->bits % 8;
    if (address->len != block->len || memcmp(address->bytes, block->bytes, whole) != 0)
        return false;
    return rest == 0 || ((address->bytes[whole] ^ block->bytes[whole]) >> (8 - rest)) == 0;
}

// ---- Dates -----------------------------------------------------------------------------------

struct date {
    struct slice rest;
    bool ok;
};

static bool date_at(const struct date *date, uint8_t byte)
{
    return date->rest.len > 0 && date->rest.ptr[0] == byte;
}

static bool date_take(struct date *date, uint8_t byte)
{
    bool taken = date_at(date, byte);
    if (taken)
        date->rest = slice_of(date->rest.ptr + 1, date->rest.len - 1);
    return taken;
}

static bool date_digit(const struct date *date)
{
    return date->rest.len > 0 && date->rest.ptr[0] >= '0' && date->rest.ptr[0] <= '9';
}

static int64_t date_number(struct date *date, size_t digits, int64_t min, int64_t max)
{
    int64_t number = 0;
    for (size_t i = 0; i < digits; i++) {
        date->ok = date->ok && date_digit(date);
        if (!date->ok)
            return min;
        number = number * 10 + (date->rest.ptr[0] - '0');
        date->rest = slice_of(date->rest.ptr + 1, date->rest.len - 1);
    }
    date->ok = date->ok && number >= min && number <= max;
    return number;
}

// Thousandths behind a point; further digits are dropped.
static int64_t date_fraction(struct date *date)
{
    int64_t ms = 0;
    int64_t unit = 100;
    date->ok = date->ok && date_digit(date);
    while (date_digit(date)) {
        ms += (date->rest.ptr[0] - '0') * unit;
        unit /= 10;
        date->rest = slice_of(date->rest.ptr + 1, date->rest.len - 1);
    }
    return ms;
}

// Days from 1970-01-01; March begins the year, so that the leap day is its last.
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month == 2)
        return leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// hh:mm[:ss[.fff]] and Z, +hh:mm or nothing, which is Z.
static int64_t time_read(struct date *date)
{
    int64_t ms = date_number(date, 2, 0, 23) * 3600000;
    date->ok = date_take(date, ':') && date->ok;
    ms += date_number(date, 2, 0, 59) * 60000;
    if (date_take(date, ':')) {
        ms += date_number(date, 2, 0, 59) * 1000;
        if (date_take(date, '.'))
            ms += date_fraction(date);
    }
    bool east = date_at(date, '+');
    if (east || date_at(date, '-')) {
        date->rest = slice_of(date->rest.ptr + 1, date->rest.len - 1);
        int64_t offset = date_number(date, 2, 0, 23) * 3600000;
        (void)date_take(date, ':');
        offset += date_number(date, 2, 0, 59) * 60000;
        ms += east ? -offset : offset;
    } else {
        (void)date_take(date, 'Z');
    }
    return ms;
}

// Seconds since 1970, if the text is digits: more or fewer than the four of a year.
static bool epoch_read(struct slice text, int64_t *out)
{
    size_t digits = 0;
    size_t sign = text.len > 0 && text.ptr[0] == '-';
    while (sign + digits < text.len && text.ptr[sign + digits] >= '0' &&
           text.ptr[sign + digits] <= '9')
        digits++;
    if (digits == 0 || digits > 15 || (digits == 4 && sign == 0 && text.len == 4))
        return false;
    struct date date = {slice_of(text.ptr + sign, text.len - sign), true};
    int64_t ms = date_number(&date, digits, 0, INT64_MAX) * 1000;
    if (date_take(&date, '.'))
        ms += date_fraction(&date);
    if (!date.ok || date.rest.len > 0)
        return false;
    *out = sign != 0 ? -ms : ms;
    return true;
}

bool operand_date(struct slice text, int64_t *out)
{
    struct date date = {text, true};
    int64_t month = 1;
    int64_t day = 1;
    int64_t ms = 0;
    if (epoch_read(text, out))
        return true;
    int64_t year = date_number(&date, 4, 1, 9999);
    if (date_take(&date, '-')) {
        month = date_number(&date, 2, 1, 12);
        if (date_take(&date, '-')) {
            day = date_number(&date, 2, 1, month_days(year, month));
            if (date_take(&date, 'T'))
                ms = time_read(&date);
        }
    }
    if (!date.ok || date.rest.len > 0)
        return false;
    *out = days_of(year, month, day) * 86400000 + ms;
    return true;
}
