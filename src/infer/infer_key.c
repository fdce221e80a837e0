// How the keys of an entity come about. All its key texts are read from left to right at the same
// time: where the value of one and the same attribute (as it is, padded, with fixed decimals, in
// lower case, a part of a date, a digest) stands at the front of what is left of each of them, that
// is a field; what is the same in all is literal; the rest, up to the next delimiter, is a value
// that only the key has.
#include "infer/infer_key.h"

#include "base/encode.h"

#include <ctype.h>
#include <openssl/sha.h>

// ---- One row -----------------------------------------------------------------------------------

static struct slice row_rest(const struct key_row *row)
{
    return slice_of(row->text.ptr + row->at, row->text.len - row->at);
}

static bool is_delimiter(uint8_t byte)
{
    return byte == '#' || byte == '|' || byte == '~' || byte == '/' || byte == ':';
}

// A value ends where the text does, or at a delimiter.
static size_t begins(struct slice rest, struct slice value)
{
    if (value.len == 0 || !slice_begins(rest, value))
        return 0;
    return rest.len == value.len || is_delimiter(rest.ptr[value.len]) || rest.ptr[value.len] == '_'
               ? value.len
               : 0;
}

static size_t digit_run(struct slice rest)
{
    size_t len = 0;
    while (len < rest.len && isdigit(rest.ptr[len]))
        len++;
    return len;
}

// "0000000042" for 42.
static size_t begins_padded(struct slice rest, struct slice value, size_t width)
{
    size_t run = digit_run(rest);
    if (run != width || value.len > run || value.len == 0 || digit_run(value) != value.len)
        return 0;
    for (size_t i = 0; i < run - value.len; i++)
        if (rest.ptr[i] != '0')
            return 0;
    return begins(rest, slice_of(rest.ptr, run)) > 0 &&
                   memcmp(rest.ptr + run - value.len, value.ptr, value.len) == 0
               ? run
               : 0;
}

// The numbers at the place where all rows are.
struct digits {
    size_t width;    // before the point, if all have the same; else 0
    size_t decimals; // behind it, likewise
    bool zeros;      // some have zeros in front
};

// "00042.50" for 42.5.
static size_t begins_fixed(struct slice rest, struct slice value, const struct digits *digits)
{
    uint8_t text[64];
    size_t whole = digit_run(value);
    size_t front = digits->width > whole ? digits->width - whole : 0;
    size_t len = front + whole + 1 + digits->decimals;
    struct slice fraction = whole == value.len
                                ? slice_of(NULL, 0)
                                : slice_of(value.ptr + whole + 1, value.len - whole - 1);
    if (digits->decimals == 0 || whole == 0 || len > sizeof(text) ||
        fraction.len > digits->decimals || digit_run(fraction) != fraction.len ||
        (whole < value.len && value.ptr[whole] != '.'))
        return 0;
    memset(text, '0', len);
    memcpy(text + front, value.ptr, whole);
    text[front + whole] = '.';
    if (fraction.len > 0)
        memcpy(text + front + whole + 1, fraction.ptr, fraction.len);
    return begins(rest, slice_of(text, len));
}

static size_t begins_folded(struct slice rest, struct slice value, int (*fold)(int))
{
    uint8_t folded[256];
    bool changed = false;
    if (value.len == 0 || value.len > sizeof(folded))
        return 0;
    for (size_t i = 0; i < value.len; i++) {
        folded[i] = (uint8_t)fold(value.ptr[i]);
        changed = changed || folded[i] != value.ptr[i];
    }
    return changed ? begins(rest, slice_of(folded, value.len)) : 0;
}

// A date pattern applied to "2026-11-16T…".
static size_t begins_dated(struct slice rest, struct slice value, const char *pattern)
{
    uint8_t text[32];
    size_t len = 0;
    if (value.len < 10 || value.ptr[4] != '-' || value.ptr[7] != '-')
        return 0;
    for (; *pattern != 0; pattern++) {
        size_t from = *pattern == 'y' ? 0 : *pattern == 'm' ? 5 : *pattern == 'd' ? 8 : 99;
        if (from == 99) {
            text[len++] = (uint8_t)*pattern;
            continue;
        }
        size_t digits = *pattern == 'y' ? 4 : 2;
        memcpy(text + len, value.ptr + from, digits);
        len += digits;
        pattern += digits - 1;
    }
    return begins(rest, slice_of(text, len));
}

// The digest of guard/eval.c: of the text and a NUL.
static size_t begins_digest(struct slice rest, struct slice value)
{
    uint8_t bytes[1024];
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char text[2 * SHA256_DIGEST_LENGTH];
    if (rest.len < sizeof(text) || value.len == 0 || value.len >= sizeof(bytes))
        return 0;
    memcpy(bytes, value.ptr, value.len);
    bytes[value.len] = 0;
    (void)SHA256(bytes, value.len + 1, digest);
    hex_text(slice_of(digest, sizeof(digest)), text);
    return begins(rest, slice_of(text, sizeof(text)));
}

// ---- Fields ------------------------------------------------------------------------------------

static const char *const formats[] = {"",           "pad",        "fixed",   "lower",
                                      "upper",      "yyyy-mm-dd", "yyyy-mm", "yyyymmdd",
                                      "yyyy/mm/dd", "yyyy/mm",    "yyyy",    "sha256"};

enum {
    FORMAT_PLAIN,
    FORMAT_PAD,
    FORMAT_FIXED,
    FORMAT_LOWER,
    FORMAT_UPPER,
    FORMAT_DATE,
    FORMAT_SHA256 = 11,
};

// The value of a candidate in a row: of the item's attribute, or one that an earlier key has shown.
static struct slice candidate_text(const struct key_row *row, const struct key_candidate *candidate,
                                   struct infer_number *room)
{
    const struct key_unknown *unknown = candidate->unknown;
    if (unknown == NULL)
        return infer_value_text(value_get(row->item, candidate->name), room);
    // Rows of the keys of an entity are mostly the same items in the same order.
    if (row->number < unknown->count && unknown->items[row->number] == row->item.ptr)
        return unknown->values[row->number];
    for (size_t i = 0; i < unknown->count; i++)
        if (unknown->items[i] == row->item.ptr)
            return unknown->values[i];
    return VALUE_NONE;
}

static size_t match_row(const struct key_row *row, const struct key_candidate *candidate,
                        size_t format, const struct digits *digits)
{
    struct infer_number room;
    struct slice value = candidate_text(row, candidate, &room);
    struct slice rest = row_rest(row);
    if (value.ptr == NULL)
        return 0;
    switch (format) {
    case FORMAT_PLAIN:
        return begins(rest, value);
    case FORMAT_PAD:
        return digits->width < 2 ? 0 : begins_padded(rest, value, digits->width);
    case FORMAT_FIXED:
        return begins_fixed(rest, value, digits);
    case FORMAT_LOWER:
        return begins_folded(rest, value, tolower);
    case FORMAT_UPPER:
        return begins_folded(rest, value, toupper);
    case FORMAT_SHA256:
        return begins_digest(rest, value);
    default:
        return begins_dated(rest, value, formats[format]);
    }
}

// A text that has no case is the same in lower case: plain matches count for the others, too.
static size_t match_any(const struct key_row *row, const struct key_candidate *candidate,
                        size_t format, const struct digits *digits)
{
    size_t len = match_row(row, candidate, format, digits);
    if (len == 0 && (format == FORMAT_LOWER || format == FORMAT_UPPER))
        len = match_row(row, candidate, FORMAT_PLAIN, digits);
    return len;
}

struct field_match {
    const struct key_candidate *candidate;
    size_t format;
    struct digits digits;
    size_t rows;     // that match
    size_t bytes;    // of them together
    bool constant;   // it is the same in all
    int likely;      // by its name
    size_t fallback; // rows without the attribute, which all go on in the same way
    struct slice otherwise;
};

static void judge_field(const struct key_rows *rows, struct field_match *match)
{
    struct slice first = VALUE_NONE;
    match->rows = 0;
    match->bytes = 0;
    match->constant = true;
    for (size_t i = 0; i < rows->count; i++) {
        const struct key_row *row = &rows->list[i];
        size_t len = row->odd ? 0 : match_any(row, match->candidate, match->format, &match->digits);
        if (len == 0)
            continue;
        struct slice found = slice_of(row->text.ptr + row->at, len);
        match->rows++;
        match->bytes += len;
        if (first.ptr == NULL)
            first = found;
        else
            match->constant = match->constant && slice_equal(first, found);
    }
}

static bool contains_word(struct slice name, struct slice word)
{
    for (size_t i = 0; word.len > 1 && i + word.len <= name.len; i++)
        if (strncasecmp((const char *)name.ptr + i, (const char *)word.ptr, word.len) == 0)
            return true;
    return false;
}

// What the names of attributes with the same values let prefer.
static int likelihood(const struct key_rows *rows, struct slice name)
{
    int likely = 0;
    if (contains_word(name, rows->word))
        likely += 4;
    if (infer_ends(name, "id") && contains_word(name, rows->entity))
        likely += 2;
    for (size_t i = 0; i < rows->used_count; i++)
        likely += slice_equal(rows->used[i], name) ? 3 : 0;
    if (slice_begins(name, SLICE_LIT("updated")) || slice_begins(name, SLICE_LIT("modified")) ||
        slice_begins(name, SLICE_LIT("last")))
        likely -= 3;
    if (slice_begins(name, SLICE_LIT("created")))
        likely++;
    return likely;
}

// The one that explains most of the text. Then the simplest form, an attribute that all items have,
// and at last the name.
static bool is_better(const struct field_match *a, const struct field_match *b)
{
    if (b->rows == 0)
        return true;
    if (a->bytes * b->rows != b->bytes * a->rows)
        return a->bytes * b->rows > b->bytes * a->rows;
    if (a->format != b->format)
        return a->format < b->format;
    if (a->candidate->whole != b->candidate->whole)
        return a->candidate->whole;
    return a->likely > b->likely;
}

static size_t live_rows(const struct key_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += !rows->list[i].odd;
    return count;
}

// 19 of 20: a few odd items (of a test, of an old version) must not hide the template of the
// others.
static bool is_enough(size_t matched, size_t of)
{
    return matched > 0 && matched * 20 >= of * 19;
}

static void keep_common(size_t *common, size_t found, bool first)
{
    *common = first || *common == found ? found : 0;
}

static struct digits common_digits(const struct key_rows *rows)
{
    struct digits common = {.width = 0};
    bool first = true;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].odd)
            continue;
        struct slice rest = row_rest(&rows->list[i]);
        size_t run = digit_run(rest);
        bool point = run < rest.len && rest.ptr[run] == '.';
        keep_common(&common.width, run, first);
        keep_common(&common.decimals,
                    point ? digit_run(slice_of(rest.ptr + run + 1, rest.len - run - 1)) : 0, first);
        common.zeros = common.zeros || (run > 1 && rest.ptr[0] == '0');
        first = false;
    }
    return common;
}

// Rows without the attribute that go on with the same text, up to a delimiter or the end.
static void judge_fallback(const struct key_rows *rows, struct field_match *match)
{
    struct infer_number room;
    for (size_t i = 0; i < rows->count; i++) {
        const struct key_row *row = &rows->list[i];
        if (row->odd || candidate_text(row, match->candidate, &room).ptr != NULL)
            continue;
        struct slice rest = row_rest(row);
        size_t len = 0;
        while (len < rest.len && rest.ptr[len] != '#' && rest.ptr[len] != '|')
            len++;
        struct slice piece = slice_of(rest.ptr, len);
        if (len == 0 || (match->otherwise.ptr != NULL && !slice_equal(match->otherwise, piece)))
            return;
        match->otherwise = piece;
        match->fallback++;
    }
}

// The best field at the place where all rows are. False if there is none.
static bool find_field(const struct key_rows *rows, struct field_match *best)
{
    size_t live = live_rows(rows);
    struct digits digits = common_digits(rows);
    *best = (struct field_match){.rows = 0};
    for (size_t a = 0; a < rows->candidate_count; a++) {
        for (size_t f = 0; f < COUNT_OF(formats); f++) {
            struct field_match match = {.candidate = &rows->candidates[a],
                                        .format = f,
                                        .digits = digits,
                                        .likely = likelihood(rows, rows->candidates[a].name)};
            judge_field(rows, &match);
            if (f == FORMAT_PLAIN && match.rows > 1 && !is_enough(match.rows, live))
                judge_fallback(rows, &match);
            // A number that is as wide as its pad everywhere is as well a number without one.
            if (is_enough(match.rows + match.fallback, live) && is_better(&match, best))
                *best = match;
        }
    }
    return best->rows > 0;
}

// ---- Reading on --------------------------------------------------------------------------------

static void note_used(struct key_rows *rows, struct slice name)
{
    for (size_t i = 0; i < rows->used_count; i++)
        if (slice_equal(rows->used[i], name))
            return;
    if (rows->used_count < KEY_USED_MAX)
        rows->used[rows->used_count++] = name;
}

static void put_format(struct buf *out, size_t format, const struct digits *digits)
{
    if (format == FORMAT_PAD) {
        buf_printf(out, ":pad(%zu)", digits->width);
    } else if (format == FORMAT_FIXED) {
        buf_printf(out, ":fixed(%zu)", digits->decimals);
        if (digits->width > 0 && digits->zeros)
            buf_printf(out, ":pad(%zu)", digits->width + 1 + digits->decimals);
    } else if (format != FORMAT_PLAIN) {
        buf_printf(out, ":%s", formats[format]);
    }
}

static void take_field(struct key_rows *rows, const struct field_match *match)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct key_row *row = &rows->list[i];
        if (row->odd)
            continue;
        size_t len = match_any(row, match->candidate, match->format, &match->digits);
        if (len == 0 && match->fallback > 0 && slice_begins(row_rest(row), match->otherwise))
            len = match->otherwise.len;
        row->odd = len == 0;
        row->at += len;
    }
    note_used(rows, match->candidate->name);
    buf_byte(rows->out, '{');
    draft_put_name(rows->out, match->candidate->name);
    if (match->fallback > 0) {
        buf_text(rows->out, " ?? '");
        draft_put_literal(rows->out, match->otherwise);
        buf_byte(rows->out, '\'');
    }
    put_format(rows->out, match->format, &match->digits);
    buf_byte(rows->out, '}');
    rows->fields++;
}

static size_t common_prefix(const struct key_rows *rows, bool *all)
{
    struct slice prefix = VALUE_NONE;
    *all = true;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].odd)
            continue;
        struct slice rest = row_rest(&rows->list[i]);
        if (prefix.ptr == NULL) {
            prefix = rest;
            continue;
        }
        size_t len = 0;
        while (len < prefix.len && len < rest.len && prefix.ptr[len] == rest.ptr[len])
            len++;
        *all = *all && len == prefix.len && len == rest.len;
        prefix.len = len;
    }
    return prefix.len;
}

static void move_rows(struct key_rows *rows, size_t len)
{
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->list[i].odd)
            rows->list[i].at += len;
}

static struct slice front_of(const struct key_rows *rows, size_t len)
{
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->list[i].odd)
            return slice_of(rows->list[i].text.ptr + rows->list[i].at, len);
    return VALUE_NONE;
}

// The last word in a literal: what the value behind it is called.
static struct slice last_word(struct slice literal)
{
    size_t end = literal.len;
    while (end > 0 && !isalnum(literal.ptr[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && (isalnum(literal.ptr[start - 1]) || literal.ptr[start - 1] == '_'))
        start--;
    return slice_of(literal.ptr + start, end - start);
}

static void take_literal(struct key_rows *rows, size_t len)
{
    struct slice literal = front_of(rows, len);
    draft_put_literal(rows->out, literal);
    struct slice word = last_word(literal);
    if (word.len > 0)
        rows->word = word;
    move_rows(rows, len);
}

// A constant that is equal to an attribute's value is literal all the same, unless it looks like a
// value, or the attribute like an id, or there are too few items to tell.
static bool prefer_literal(const struct key_rows *rows, const struct field_match *match)
{
    if (!match->constant)
        return false;
    struct slice text = front_of(rows, match->bytes / (match->rows == 0 ? 1 : match->rows));
    if (infer_is_value(text) || infer_ends(match->candidate->name, "id") ||
        infer_ends(match->candidate->name, "by"))
        return false;
    return live_rows(rows) > 2 || infer_is_shouted(text);
}

// How much of what all rows have in common is literal: up to a place where a field begins, or
// behind the last delimiter. The longest such piece, or 0.
static size_t literal_length(struct key_rows *rows, size_t common, bool fields_only)
{
    size_t behind = 0;
    for (size_t cut = common; cut > 0; cut--) {
        struct slice front = front_of(rows, cut);
        uint8_t last = front.ptr[cut - 1];
        if (isalnum(last))
            continue;
        struct field_match match;
        // Try what would follow, and step back.
        move_rows(rows, cut);
        bool field = find_field(rows, &match) && !prefer_literal(rows, &match);
        move_rows(rows, (size_t)0 - cut);
        if (field)
            return cut;
        if (behind == 0 && is_delimiter(last))
            behind = cut;
    }
    return fields_only ? 0 : behind;
}

// Numbers that all have the same width and zeros in front are padded.
static bool are_padded(const struct key_unknown *unknown)
{
    bool zero = false;
    for (size_t i = 0; i < unknown->count; i++) {
        if (unknown->values[i].len != unknown->values[0].len)
            return false;
        zero = zero || unknown->values[i].ptr[0] == '0';
    }
    return zero && unknown->digits && unknown->values[0].len > 1;
}

// What follows in each row, up to the next delimiter.
static struct key_unknown *read_unknown(struct key_rows *rows, struct infer *infer)
{
    struct key_unknown *unknown = draft_alloc(&infer->draft, sizeof(*unknown));
    unknown->word = rows->word;
    unknown->digits = true;
    unknown->values = draft_alloc(&infer->draft, (rows->count + 1) * sizeof(struct slice));
    unknown->items = draft_alloc(&infer->draft, (rows->count + 1) * sizeof(uint8_t *));
    for (size_t i = 0; i < rows->count; i++) {
        struct key_row *row = &rows->list[i];
        struct slice rest = row_rest(row);
        size_t len = 0;
        while (len < rest.len && rest.ptr[len] != '#' && rest.ptr[len] != '|')
            len++;
        row->odd = row->odd || len == 0;
        if (row->odd)
            continue;
        struct slice value = slice_of(rest.ptr, len);
        unknown->digits = unknown->digits && digit_run(value) == len && len < 20;
        unknown->items[unknown->count] = row->item.ptr;
        unknown->values[unknown->count++] = value;
        row->at += len;
    }
    return unknown;
}

// A value that no attribute has. From here on it is a candidate for further keys.
static void take_unknown(struct key_rows *rows, struct infer *infer)
{
    struct key_unknown *unknown = read_unknown(rows, infer);
    if (unknown->count == 0)
        return;
    size_t width = are_padded(unknown) ? unknown->values[0].len : 0;
    for (size_t i = 0; i < unknown->count && unknown->digits; i++) {
        if (unknown->values[i].len > 1 && unknown->values[i].ptr[0] == '0' && width == 0)
            unknown->digits = false; // "007" is a name
    }
    unknown->name = infer_unknown_name(infer, rows, unknown);
    unknown->next = rows->unknowns;
    rows->unknowns = unknown;
    note_used(rows, unknown->name);
    buf_byte(rows->out, '{');
    draft_put_name(rows->out, unknown->name);
    if (width > 0)
        buf_printf(rows->out, ":pad(%zu)", width);
    buf_byte(rows->out, '}');
    rows->fields++;
    for (size_t i = 0; i < unknown->count && width > 0; i++) {
        struct slice *value = &unknown->values[i];
        while (value->len > 1 && value->ptr[0] == '0')
            *value = slice_of(value->ptr + 1, value->len - 1);
    }
    if (rows->candidate_count < KEY_CANDIDATES_MAX)
        rows->candidates[rows->candidate_count++] =
            (struct key_candidate){unknown->name, true, unknown};
}

// What is left is the same in all rows: a constant, unless it looks like a value that they share.
static bool is_constant(const struct key_rows *rows, struct slice rest)
{
    size_t live = live_rows(rows);
    return live > 2    ? rest.len < 4 || !infer_is_value(rest)
           : live == 2 ? !infer_is_value(rest)
                       : infer_is_word(rest);
}

void infer_explain(struct infer *infer, struct key_rows *rows)
{
    enum { STEPS_MAX = 64 };
    for (int step = 0; step < STEPS_MAX; step++) {
        struct field_match match;
        bool all = false;
        size_t common = common_prefix(rows, &all);
        if (live_rows(rows) == 0 || (common == 0 && all))
            return;
        bool field = find_field(rows, &match);
        if (field && !prefer_literal(rows, &match)) {
            take_field(rows, &match);
            continue;
        }
        struct slice rest = front_of(rows, common);
        bool constant = all && is_constant(rows, rest);
        size_t literal = literal_length(rows, common, constant);
        if (constant && literal == 0)
            literal = common;
        if (literal > 0)
            take_literal(rows, literal);
        else
            take_unknown(rows, infer);
    }
}
