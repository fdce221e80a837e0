// Formats, names, quoted strings and comments. Names are split into words where the writing
// changes: at anything that is no letter or digit, before a capital behind a small letter, and
// before the last capital of a row that goes on in small letters (URLPath is url and path).
#include "write/text.h"

#include "base/encode.h"
#include "value/number.h"

enum { TEXT_MAX = 16 << 20 }; // bytes of one text

// ---- Formats ---------------------------------------------------------------------------------

static void quoted(struct buf *out, struct slice text)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_text(out, "\\n");
        else if (c == '\t')
            buf_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\u%04x", c);
        else
            buf_byte(out, c);
    }
    buf_byte(out, '"');
}

void text_format(struct buf *out, const char *format, size_t count, const struct slice *parts)
{
    size_t used = 0;
    for (const char *hole; (hole = strchr(format, '%')) != NULL; format = hole + 2) {
        buf_add(out, format, (size_t)(hole - format));
        ensure(hole[1] == '%' || used < count);
        if (hole[1] == '%')
            buf_byte(out, '%');
        else if (hole[1] == 'q')
            quoted(out, parts[used++]);
        else
            buf_slice(out, parts[used++]);
    }
    ensure(used == count);
    buf_text(out, format);
}

struct slice text_keep(struct writer *w, struct buf *text)
{
    struct slice kept = arena_copy(w->arena, buf_view(text));
    w->out->failed = w->out->failed || text->failed || kept.ptr == NULL;
    buf_release(text);
    return kept;
}

struct slice text_make(struct writer *w, const char *format, size_t count,
                       const struct slice *parts)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    text_format(&text, format, count, parts);
    return text_keep(w, &text);
}

void text_add(struct writer *w, struct slice *list, const char *separator, struct slice item)
{
    *list = list->ptr == NULL ? item : TEXT(w, "%s%s%s", *list, slice_str(separator), item);
}

void text_add_once(struct writer *w, struct slice *list, const char *separator, struct slice item)
{
    size_t len = strlen(separator);
    for (struct slice rest = *list; rest.len > 0;) {
        const uint8_t *end = memmem(rest.ptr, rest.len, separator, len);
        size_t piece = end == NULL ? rest.len : (size_t)(end - rest.ptr);
        if (slice_equal(slice_of(rest.ptr, piece), item))
            return;
        piece = end == NULL ? piece : piece + len;
        rest = slice_of(rest.ptr + piece, rest.len - piece);
    }
    text_add(w, list, separator, item);
}

// ---- Names -----------------------------------------------------------------------------------

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_part(uint8_t c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}

// Whether a word ends before position i of the name.
static bool word_breaks(struct slice name, size_t i)
{
    uint8_t before = name.ptr[i - 1];
    uint8_t here = name.ptr[i];
    if (!is_upper(here))
        return false;
    if (is_lower(before))
        return true;
    return is_part(before) && i + 1 < name.len && is_lower(name.ptr[i + 1]);
}

// The next word at or behind *at; empty at the end.
static struct slice word_next(struct slice name, size_t *at)
{
    size_t start = *at;
    while (start < name.len && !is_part(name.ptr[start]))
        start++;
    size_t end = start;
    while (end < name.len && is_part(name.ptr[end]) && (end == start || !word_breaks(name, end)))
        end++;
    *at = end;
    return slice_of(name.ptr + start, end - start);
}

static uint8_t in_case(uint8_t c, bool upper)
{
    if (upper && is_lower(c))
        return (uint8_t)(c - 'a' + 'A');
    if (!upper && is_upper(c))
        return (uint8_t)(c - 'A' + 'a');
    return c;
}

bool text_alike(struct slice a, struct slice b)
{
    size_t at_a = 0;
    size_t at_b = 0;
    for (;;) {
        struct slice one = word_next(a, &at_a);
        struct slice other = word_next(b, &at_b);
        if (one.len != other.len)
            return false;
        for (size_t i = 0; i < one.len; i++) {
            if (in_case(one.ptr[i], false) != in_case(other.ptr[i], false))
                return false;
        }
        if (one.len == 0)
            return true;
    }
}

// How the words of a name are put together.
struct habit {
    bool joined;      // without _; a name that has no separators keeps its own capitals
    bool upper;       // all letters are capitals
    bool first_upper; // the first letter is one
};

static struct slice rewritten(struct writer *w, struct slice name, struct habit habit)
{
    struct buf out;
    size_t at = 0;
    size_t words = 0;
    bool own = habit.joined && text_is_word(name) && memchr(name.ptr, '_', name.len) == NULL;
    buf_init(&out, TEXT_MAX);
    for (struct slice word; (word = word_next(name, &at)).len > 0; words++) {
        if (words == 0 ? is_digit(word.ptr[0]) : !habit.joined)
            buf_byte(&out, '_');
        for (size_t i = 0; i < word.len; i++) {
            bool start = i == 0 && (words == 0 ? habit.first_upper : habit.joined);
            // UserID stays UserID: only the first letter is ours to choose.
            bool keep = own && words + i > 0;
            buf_byte(&out, keep ? word.ptr[i] : in_case(word.ptr[i], habit.upper || start));
        }
    }
    if (words == 0)
        buf_byte(&out, '_');
    return text_keep(w, &out);
}

struct slice text_snake(struct writer *w, struct slice name)
{
    return rewritten(w, name, (struct habit){.joined = false});
}

struct slice text_upper(struct writer *w, struct slice name)
{
    return rewritten(w, name, (struct habit){.upper = true});
}

struct slice text_pascal(struct writer *w, struct slice name)
{
    return rewritten(w, name, (struct habit){.joined = true, .first_upper = true});
}

struct slice text_camel(struct writer *w, struct slice name)
{
    return rewritten(w, name, (struct habit){.joined = true});
}

bool text_is_word(struct slice name)
{
    if (name.len == 0 || is_digit(name.ptr[0]))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_part(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    }
    return true;
}

struct slice text_entity(struct writer *w, const struct model_entity *entity)
{
    for (size_t i = 0; i < w->model->table_count; i++) {
        const struct model_table *table = &w->model->tables[i];
        if (table != entity->table && model_table_entity(table, entity->name) != NULL)
            return TEXT(w, "%s_%s", entity->table->name, entity->name);
    }
    return entity->name;
}

// ---- Strings and comments --------------------------------------------------------------------

struct slice text_escaped(struct writer *w, const char *characters, struct slice text)
{
    struct buf out;
    buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != 0 && strchr(characters, text.ptr[i]) != NULL)
            buf_byte(&out, '\\');
        buf_byte(&out, text.ptr[i]);
    }
    return text_keep(w, &out);
}

struct slice text_doubled(struct writer *w, uint8_t quote, struct slice text)
{
    struct buf out;
    buf_init(&out, TEXT_MAX);
    buf_byte(&out, quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == quote)
            buf_byte(&out, quote);
        buf_byte(&out, text.ptr[i]);
    }
    buf_byte(&out, quote);
    return text_keep(w, &out);
}

void text_comment(struct buf *out, const char *before, struct slice doc)
{
    size_t at = 0;
    while (at < doc.len) {
        const uint8_t *end = memchr(doc.ptr + at, '\n', doc.len - at);
        size_t stop = end == NULL ? doc.len : (size_t)(end - doc.ptr);
        size_t last = stop;
        while (last > at && (doc.ptr[last - 1] == ' ' || doc.ptr[last - 1] == '\r'))
            last--;
        size_t blank = strlen(before);
        while (last == at && blank > 0 && before[blank - 1] == ' ')
            blank--;
        buf_add(out, before, blank);
        buf_add(out, doc.ptr + at, last - at);
        buf_byte(out, '\n');
        at = stop + 1;
    }
}

struct slice text_line(struct writer *w, struct slice doc)
{
    struct buf out;
    bool blank = false; // one is due before the next word
    buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < doc.len; i++) {
        if (strchr("\n\r\t ", doc.ptr[i]) != NULL && doc.ptr[i] != 0) {
            blank = out.len > 0;
        } else {
            buf_text(&out, blank ? " " : "");
            buf_byte(&out, doc.ptr[i]);
            blank = false;
        }
    }
    return text_keep(w, &out);
}

struct slice text_stem(const struct model *model)
{
    struct slice name = model->file;
    for (size_t i = name.len; i > 0; i--) {
        if (name.ptr[i - 1] == '/') {
            name = slice_of(name.ptr + i, name.len - i);
            break;
        }
    }
    struct slice ending = SLICE_LIT(".dolmen");
    if (name.len > ending.len &&
        memcmp(name.ptr + name.len - ending.len, ending.ptr, ending.len) == 0)
        name.len -= ending.len;
    if (name.len == 0 || slice_is(name, "-"))
        return model->table_count > 0 ? model->tables[0].name : SLICE_LIT("model");
    return name;
}

struct slice text_banner(struct writer *w)
{
    uint8_t digest[32];
    char hex[2 * sizeof(digest)];
    sha256_of(w->model->text, digest);
    hex_text(slice_of(digest, sizeof(digest)), hex);
    return TEXT(w, "Generated by dolmen from %s.dolmen (sha256 %s); do not edit.",
                text_stem(w->model), slice_of(hex, sizeof(hex)));
}

struct slice text_number(struct writer *w, struct slice stored)
{
    char text[NUMBER_TEXT_MAX];
    return TEXT(w, "%s", slice_of(text, number_to_text(stored, text)));
}

struct slice text_u64(struct writer *w, uint64_t number)
{
    struct buf out;
    buf_init(&out, TEXT_MAX);
    buf_u64(&out, number);
    return text_keep(w, &out);
}
