// The run-time of generated C: what keys and defaults are made of. PREFIX stands for the model's
// name. entity.c includes it, as a generated file contains it.

//# text

// ---- What keys and defaults are made of --------------------------------------------------------
//
// Each gives NULL if something it needs is missing.

// Adds `count` texts, and behind each the first `ending` bytes of its NUL; false if one is missing.
static bool add_parts(struct text *out, size_t ending, size_t count, va_list parts)
{
    for (size_t i = 0; i < count; i++) {
        const char *part = va_arg(parts, const char *);
        if (part == NULL)
            return false;
        add(out, part, strlen(part) + ending);
    }
    return true;
}

// `count` texts, one behind the other.
MAYBE_UNUSED static const char *join(struct PREFIX_memory *memory, size_t count, ...)
{
    struct text out = text_new(memory);
    va_list parts;
    va_start(parts, count);
    bool all = add_parts(&out, 0, count, parts);
    va_end(parts);
    return all ? finished(&out) : NULL;
}

MAYBE_UNUSED static const char *or_else(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

MAYBE_UNUSED static const char *integer_text(struct PREFIX_memory *memory, bool there,
                                             int64_t value)
{
    char digits[40];
    (void)snprintf(digits, sizeof(digits), "%" PRId64, value);
    return there ? join(memory, 1, digits) : NULL;
}

// Without an exponent.
MAYBE_UNUSED static const char *number_text(struct PREFIX_memory *memory, bool there, double value)
{
    char digits[400];
    double_digits(value, digits);
    if (strchr(digits, 'e') != NULL)
        (void)snprintf(digits, sizeof(digits), "%.*f", value < 1 && value > -1 ? 30 : 0, value);
    size_t length = strlen(digits);
    while (strchr(digits, '.') != NULL &&
           (digits[length - 1] == '0' || digits[length - 1] == '.')) {
        bool point = digits[--length] == '.';
        digits[length] = 0;
        if (point)
            break;
    }
    return there ? join(memory, 1, digits) : NULL;
}

// Of numbers as texts; nothing if one is missing.
MAYBE_UNUSED static const char *sum_text(struct PREFIX_memory *memory, const char *a, const char *b,
                                         int sign)
{
    if (a == NULL || b == NULL)
        return NULL;
    return number_text(memory, true, strtod(a, NULL) + sign * strtod(b, NULL));
}

MAYBE_UNUSED static const char *boolean_text(bool there, bool value)
{
    return !there ? NULL : value ? "true" : "false";
}

MAYBE_UNUSED static const char *bytes_text(struct PREFIX_memory *memory, struct PREFIX_bytes bytes)
{
    struct text out = text_new(memory);
    if (bytes.data == NULL)
        return NULL;
    add_base64(&out, bytes.data, bytes.length);
    return finished(&out);
}

static const char *cased(struct PREFIX_memory *memory, const char *text, char first, int change)
{
    char *copy = text == NULL ? NULL : grab(memory, strlen(text) + 1);
    for (size_t i = 0; copy != NULL && text[i] != 0; i++)
        copy[i] = text[i] >= first && text[i] < first + 26 ? (char)(text[i] + change) : text[i];
    return copy;
}

MAYBE_UNUSED static const char *lower(struct PREFIX_memory *memory, const char *text)
{
    return cased(memory, text, 'A', 32);
}

MAYBE_UNUSED static const char *upper(struct PREFIX_memory *memory, const char *text)
{
    return cased(memory, text, 'a', -32);
}

MAYBE_UNUSED static const char *trim(struct PREFIX_memory *memory, const char *text)
{
    static const char space[] = " \t\n\v\f\r";
    if (text == NULL)
        return NULL;
    text += strspn(text, space);
    size_t length = strlen(text);
    while (length > 0 && strchr(space, text[length - 1]) != NULL)
        length--;
    char *copy = grab(memory, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

// Zeros in front; of a number, of its digits before the point.
MAYBE_UNUSED static const char *pad(struct PREFIX_memory *memory, const char *text, size_t width,
                                    bool number)
{
    struct text out = text_new(memory);
    if (text == NULL)
        return NULL;
    bool minus = number && *text == '-';
    size_t have = 0;
    for (const char *at = text + minus; *at != 0 && !(number && *at == '.'); at++)
        have += ((unsigned char)*at & 0xc0) != 0x80;
    add_text(&out, minus ? "-" : "");
    for (; have < width; have++)
        add_text(&out, "0");
    add_text(&out, text + minus);
    return finished(&out);
}

// A number's text with that many digits behind the point, rounded half away from zero.
MAYBE_UNUSED static const char *fixed(struct PREFIX_memory *memory, const char *text, size_t digits)
{
    if (text == NULL)
        return NULL;
    bool minus = *text == '-';
    text += minus;
    size_t whole = strcspn(text, ".");
    const char *behind = text[whole] == '.' ? text + whole + 1 : "";
    size_t have = strlen(behind);
    char *out = grab(memory, whole + digits + 4);
    if (out == NULL)
        return NULL;
    char *first = out + 1;
    char *end = first + 1; // one place for what is carried
    *first = '0';
    memcpy(end, text, whole);
    end += whole;
    for (size_t i = 0; i < digits; i++)
        *end++ = i < have ? behind[i] : '0';
    bool up = have > digits && behind[digits] >= '5';
    for (char *at = end - 1; up && at >= first; at--) {
        up = *at == '9';
        *at = up ? '0' : (char)(*at + 1);
    }
    memmove(end - digits + 1, end - digits, digits);
    end[-(ptrdiff_t)digits] = '.';
    end[1] = 0;
    if (digits == 0)
        end[0] = 0;
    while (first[0] == '0' && first[1] != '.' && first[1] != 0)
        first++;
    if (minus && strspn(first, "0.") < strlen(first))
        *--first = '-';
    return first;
}

// The text with "%" and the separator's first byte written as %25, %23.
MAYBE_UNUSED static const char *escape(struct PREFIX_memory *memory, const char *text,
                                       const char *separator)
{
    static const char hex[] = "0123456789ABCDEF";
    struct text out = text_new(memory);
    if (text == NULL)
        return NULL;
    for (; *text != 0; text++) {
        unsigned char byte = (unsigned char)*text;
        char coded[] = {'%', hex[byte >> 4], hex[byte & 15], 0};
        char plain[] = {*text, 0};
        add_text(&out, *text == '%' || *text == separator[0] ? coded : plain);
    }
    return finished(&out);
}

// The text, or no key at all if it has the separator.
MAYBE_UNUSED static const char *forbid(struct PREFIX_memory *memory, const char *text,
                                       const char *separator)
{
    (void)memory;
    return text == NULL || strstr(text, separator) != NULL ? NULL : text;
}

// ---- Times

// Days since 1970 of a date, whose years begin in March.
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct moment {
    int year, month, day, hour, minute, second;
};

static struct moment moment_of(int64_t seconds)
{
    int64_t days = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
    int64_t left = seconds - days * 86400;
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct moment moment = {(int)(year + era * 400),
                            (int)(month < 10 ? month + 3 : month - 9),
                            (int)(of_year - (153 * month + 2) / 5 + 1),
                            (int)(left / 3600),
                            (int)(left / 60 % 60),
                            (int)(left % 60)};
    moment.year += moment.month <= 2;
    return moment;
}

// Seconds since 1970 of a timestamp, a date, or seconds as text; false if it is none.
MAYBE_UNUSED static bool seconds_of(const char *text, int64_t *out)
{
    struct moment m = {0};
    int hours = 0;
    int minutes = 0;
    char sign = 'Z';
    if (text == NULL)
        return false;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &m.year, &m.month, &m.day, &m.hour, &m.minute,
               &m.second) < 3) {
        char *end;
        *out = (int64_t)strtoll(text, &end, 10);
        return end != text && *end == 0;
    }
    const char *zone = strlen(text) > 16 ? text + 16 + strcspn(text + 16, "Z+-") : "Z";
    if (*zone != 'Z')
        (void)sscanf(zone, "%c%2d:%2d", &sign, &hours, &minutes);
    *out = days_of(m.year, m.month, m.day) * 86400 + m.hour * 3600 + m.minute * 60 + m.second -
           (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

// 2026-11-16T03:40:00.000Z
MAYBE_UNUSED static const char *timestamp_text(struct PREFIX_memory *memory, int64_t seconds,
                                               int milliseconds)
{
    char text[80];
    struct moment m = moment_of(seconds);
    (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", m.year, m.month,
                   m.day, m.hour, m.minute, m.second, milliseconds);
    return join(memory, 1, text);
}

// A time in UTC with that many digits of a second, as the server keeps it; what is none stays.
MAYBE_UNUSED static const char *utc(struct PREFIX_memory *memory, const char *time, size_t digits)
{
    int64_t seconds;
    struct text out = text_new(memory);
    if (time == NULL || strlen(time) < 17 || time[10] != 'T' || !seconds_of(time, &seconds))
        return time;
    const char *fraction = strchr(time, '.');
    size_t given = fraction == NULL ? 0 : strspn(fraction + 1, "0123456789");
    add(&out, timestamp_text(memory, seconds, 0), 19);
    add(&out, ".", digits > 0 ? 1 : 0);
    if (fraction != NULL)
        add(&out, fraction + 1, given < digits ? given : digits);
    for (size_t i = given; i < digits; i++)
        add(&out, "0", 1);
    add(&out, "Z", 1);
    return finished(&out);
}

MAYBE_UNUSED static const char *now_text(struct PREFIX_memory *memory)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return timestamp_text(memory, (int64_t)now.tv_sec, (int)(now.tv_nsec / 1000000));
}

// A time in UTC by a pattern of yyyy mm dd HH MM SS.
MAYBE_UNUSED static const char *date_text(struct PREFIX_memory *memory, const char *time,
                                          const char *pattern)
{
    struct text out = text_new(memory);
    int64_t seconds;
    if (!seconds_of(time, &seconds))
        return NULL;
    struct moment m = moment_of(seconds);
    const struct {
        const char *word;
        int value;
    } words[] = {{"yyyy", m.year}, {"mm", m.month},  {"dd", m.day},
                 {"HH", m.hour},   {"MM", m.minute}, {"SS", m.second}};
    while (*pattern != 0) {
        size_t i = 0;
        char digits[16];
        while (i < 6 && strncmp(pattern, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i == 6) {
            add(&out, pattern++, 1);
            continue;
        }
        (void)snprintf(digits, sizeof(digits), "%0*d", (int)strlen(words[i].word), words[i].value);
        add_text(&out, digits);
        pattern += strlen(words[i].word);
    }
    return finished(&out);
}

// A time moved by seconds. Milliseconds and zone of a timestamp stay only if it is in UTC.
MAYBE_UNUSED static const char *moved_text(struct PREFIX_memory *memory, const char *time,
                                           int64_t by)
{
    int64_t seconds;
    if (!seconds_of(time, &seconds))
        return NULL;
    if (strlen(time) == 10)
        return date_text(memory, integer_text(memory, true, seconds + by), "yyyy-mm-dd");
    const char *fraction = strchr(time, '.');
    return timestamp_text(memory, seconds + by,
                          (int)(fraction == NULL ? 0 : strtod(fraction, NULL) * 1000 + 0.5));
}

// ---- Identities

static void random_bytes(unsigned char *out, size_t length)
{
    FILE *source = fopen("/dev/urandom", "rb");
    size_t got = source == NULL ? 0 : fread(out, 1, length, source);
    if (source != NULL)
        (void)fclose(source);
    for (; got < length; got++)
        out[got] = (unsigned char)rand();
}

MAYBE_UNUSED static const char *uuid_text(struct PREFIX_memory *memory)
{
    unsigned char b[16];
    char text[40];
    random_bytes(b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    (void)snprintf(text, sizeof(text),
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
    return join(memory, 1, text);
}

MAYBE_UNUSED static const char *ulid_text(struct PREFIX_memory *memory)
{
    static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    struct timespec now;
    unsigned char chance[16];
    char text[27] = {0};
    (void)timespec_get(&now, TIME_UTC);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    random_bytes(chance, sizeof(chance));
    for (int i = 0; i < 10; i++)
        text[i] = letters[ms >> (45 - 5 * i) & 31];
    for (int i = 0; i < 16; i++)
        text[10 + i] = letters[chance[i] & 31];
    return join(memory, 1, text);
}
//# sha256

static uint32_t turn(uint32_t value, int by)
{
    return value >> by | value << (32 - by);
}

static void sha256_block(uint32_t state[8], const unsigned char block[64])
{
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64];
    uint32_t s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t a = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
                     ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t b = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
                     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += a;
        s[0] = a + b;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

// The digest of `count` texts, each ended by a NUL.
static const char *sha256_text(struct PREFIX_memory *memory, size_t count, ...)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    struct text all = text_new(memory);
    char hex[65];
    va_list parts;
    va_start(parts, count);
    bool there = add_parts(&all, 1, count, parts);
    va_end(parts);
    uint64_t bits = (uint64_t)all.length * 8;
    add(&all, "\x80", 1);
    while (all.bytes != NULL && all.length % 64 != 56) // without memory it does not grow
        add(&all, "\0", 1);
    for (int i = 56; i >= 0; i -= 8)
        add(&all, (const char[]){(char)(bits >> i)}, 1);
    if (!there || all.bytes == NULL)
        return NULL;
    for (size_t at = 0; at < all.length; at += 64)
        sha256_block(state, (const unsigned char *)all.bytes + at);
    for (int i = 0; i < 8; i++)
        (void)snprintf(hex + 8 * i, 9, "%08" PRIx32, state[i]);
    return join(memory, 1, hex);
}
