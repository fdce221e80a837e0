// The type that fits a lot of values: each kind of value there is becomes an option of it. Texts
// are uuid, timestamp, date, email or url if all of them are, or a choice of a few words that come
// again and again. Maps are objects with a name of their own, or records if their names vary.
#include "infer/infer_internal.h"

#include "value/number.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    WORDS_MAX = 10,   // of a choice
    WORDS_LEAST = 8,  // values, before a few words are taken for all there are
    NAMES_MAX = 256,  // of an object
    DEPTH_MAX = 12,   // of types within types
    RECORD_LEAST = 4, // different names
    VALUES_MAX = 20000,
};

struct field {
    struct slice name;
    size_t count;
};

static void put_type(struct infer *infer, struct slice name, size_t count,
                     const struct slice *values, unsigned depth, struct buf *out, bool *mixed);

static size_t of_type(size_t count, const struct slice *values, enum value_type type,
                      const struct slice **out, struct infer *infer)
{
    struct slice *chosen = draft_alloc(&infer->draft, (count + 1) * sizeof(*chosen));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (value_type(values[i]) == type)
            chosen[kept++] = values[i];
    *out = chosen;
    return kept;
}

// ---- Texts and numbers -----------------------------------------------------------------------

static bool all_are(size_t count, const struct slice *values, enum model_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (!infer_is(value_bytes(values[i]), kind))
            return false;
    return true;
}

// A few words that all values are among; 0 if there are others.
static size_t find_words(size_t count, const struct slice *values, struct slice *words)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice text = value_bytes(values[i]);
        size_t k = 0;
        while (k < found && !slice_equal(words[k], text))
            k++;
        if (k < found)
            continue;
        if (found == WORDS_MAX || !infer_is_word(text))
            return 0;
        words[found++] = text;
    }
    return found;
}

static int compare_words(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// Ids and names are not of a few words, even if there are few of them yet.
static bool is_open(struct slice name)
{
    return slice_is(name, "name") || slice_is(name, "title") || slice_is(name, "username") ||
           infer_ends(name, "id");
}

static void put_string(struct slice name, size_t count, const struct slice *values, struct buf *out)
{
    static const struct {
        enum model_kind kind;
        const char *name;
    } kinds[] = {{MODEL_UUID, "uuid"},
                 {MODEL_TIMESTAMP, "timestamp"},
                 {MODEL_DATE, "date"},
                 {MODEL_EMAIL, "email"},
                 {MODEL_URL, "url"}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (all_are(count, values, kinds[i].kind)) {
            buf_text(out, kinds[i].name);
            return;
        }
    }
    struct slice words[WORDS_MAX];
    size_t found = is_open(name) ? 0 : find_words(count, values, words);
    if (found < 2 || count < WORDS_LEAST || count < 4 * found) {
        buf_text(out, "string");
        return;
    }
    qsort(words, found, sizeof(*words), compare_words);
    for (size_t i = 0; i < found; i++) {
        buf_text(out, i == 0 ? "\"" : " | \"");
        draft_put_literal(out, words[i]);
        buf_byte(out, '"');
    }
}

// Seconds since 1970, between 2000 and 2100, under a name that speaks of time.
static void put_number(struct slice name, size_t count, const struct slice *values, struct buf *out)
{
    bool seconds = infer_name_time(name);
    for (size_t i = 0; i < count && seconds; i++) {
        int64_t number = 0;
        seconds = number_to_i64(value_bytes(values[i]), &number) && number > 946684800 &&
                  number < 4102444800;
    }
    buf_text(out, seconds ? "epoch" : "number");
}

// ---- Lists and maps --------------------------------------------------------------------------

static struct slice singular(struct slice name)
{
    if (name.len > 3 && slice_is(slice_of(name.ptr + name.len - 3, 3), "ies"))
        return slice_of(name.ptr, name.len - 3);
    if (name.len > 1 && name.ptr[name.len - 1] == 's' && name.ptr[name.len - 2] != 's')
        return slice_of(name.ptr, name.len - 1);
    return name;
}

static void put_list(struct infer *infer, struct slice name, size_t count,
                     const struct slice *values, unsigned depth, struct buf *out, bool *mixed)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += value_count(values[i]);
    total = total > VALUES_MAX ? VALUES_MAX : total;
    struct slice *members = draft_alloc(&infer->draft, (total + 1) * sizeof(*members));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, values[i]);
        while (kept < total && value_iter_next(&iter))
            members[kept++] = iter.value;
    }
    struct buf inner;
    buf_init(&inner, 1 << 20);
    put_type(infer, singular(name), kept, members, depth + 1, &inner, mixed);
    bool options = slice_contains(buf_view(&inner), SLICE_LIT(" | "));
    buf_text(out, options ? "(" : "");
    buf_slice(out, buf_view(&inner));
    buf_text(out, options ? ")[]" : "[]");
    buf_release(&inner);
}

// The names in maps, in their order; NAMES_MAX + 1 if there are more.
static size_t find_fields(size_t count, const struct slice *values, struct field *fields)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, values[i]);
        while (value_iter_next(&iter)) {
            size_t k = 0;
            while (k < found && !slice_equal(fields[k].name, iter.name))
                k++;
            if (k == found) {
                if (found == NAMES_MAX)
                    return NAMES_MAX + 1;
                fields[found++] = (struct field){iter.name, 0};
            }
            fields[k].count++;
        }
    }
    return found;
}

static bool is_identifier(struct slice name)
{
    if (name.len == 0 || !(isalpha(name.ptr[0]) || name.ptr[0] == '_'))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!isalnum(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    return true;
}

// Names that are data: they vary from map to map, or are not what fields are called.
static bool is_record(size_t count, size_t found, const struct field *fields)
{
    size_t odd = 0;
    size_t entries = 0;
    for (size_t i = 0; i < found; i++) {
        odd += !is_identifier(fields[i].name) || infer_is_value(fields[i].name);
        entries += fields[i].count;
    }
    if (found > NAMES_MAX || 2 * odd > found)
        return true;
    return found > 2 * RECORD_LEAST && entries < found * count / 2;
}

static size_t field_values(struct infer *infer, struct slice name, size_t count,
                           const struct slice *values, const struct slice **out)
{
    struct slice *chosen = draft_alloc(&infer->draft, (count + 1) * sizeof(*chosen));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice value = value_get(values[i], name);
        if (value.len > 0)
            chosen[kept++] = value;
    }
    *out = chosen;
    return kept;
}

static void put_record(struct infer *infer, struct slice name, size_t count,
                       const struct slice *values, unsigned depth, struct buf *out, bool *mixed)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += value_count(values[i]);
    struct slice *members = draft_alloc(&infer->draft, (total + 1) * sizeof(*members));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, values[i]);
        while (value_iter_next(&iter))
            members[kept++] = iter.value;
    }
    buf_text(out, "Record<string, ");
    put_type(infer, singular(name), kept, members, depth + 1, out, mixed);
    buf_byte(out, '>');
}

static void put_map(struct infer *infer, struct slice name, size_t count,
                    const struct slice *values, unsigned depth, struct buf *out, bool *mixed)
{
    struct field *fields = draft_alloc(&infer->draft, (NAMES_MAX + 1) * sizeof(*fields));
    size_t found = find_fields(count, values, fields);
    if (found == 0) {
        buf_text(out, "object");
        return;
    }
    if (is_record(count, found, fields)) {
        put_record(infer, name, count, values, depth, out, mixed);
        return;
    }
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "{\n");
    for (size_t i = 0; i < found; i++) {
        const struct slice *inside = NULL;
        size_t kept = field_values(infer, fields[i].name, count, values, &inside);
        buf_text(&text, "  ");
        draft_put_name(&text, fields[i].name);
        buf_text(&text, ": ");
        put_type(infer, fields[i].name, kept, inside, depth + 1, &text, mixed);
        buf_text(&text, kept < count ? "?\n" : "\n");
    }
    buf_byte(&text, '}');
    struct slice type =
        draft_named_type(&infer->draft, draft_pascal(&infer->draft, name), buf_view(&text));
    draft_put_name(out, type);
    buf_release(&text);
}

// ---- All of it -------------------------------------------------------------------------------

static void put_kind(struct infer *infer, struct slice name, enum value_type type, size_t count,
                     const struct slice *values, unsigned depth, struct buf *out, bool *mixed)
{
    switch (type) {
    case VALUE_S:
        put_string(name, count, values, out);
        return;
    case VALUE_N:
        put_number(name, count, values, out);
        return;
    case VALUE_BOOL:
        buf_text(out, "boolean");
        return;
    case VALUE_B:
        buf_text(out, "binary");
        return;
    case VALUE_SS:
        buf_text(out, "set<string>");
        return;
    case VALUE_NS:
        buf_text(out, "set<number>");
        return;
    case VALUE_BS:
        buf_text(out, "set<binary>");
        return;
    case VALUE_L:
        put_list(infer, name, count, values, depth, out, mixed);
        return;
    case VALUE_M:
        put_map(infer, name, count, values, depth, out, mixed);
        return;
    default:
        buf_text(out, "null");
    }
}

static bool only_nulls(size_t count, const struct slice *values)
{
    for (size_t i = 0; i < count; i++)
        if (value_type(values[i]) != VALUE_NULL)
            return false;
    return true;
}

static void put_type(struct infer *infer, struct slice name, size_t count,
                     const struct slice *values, unsigned depth, struct buf *out, bool *mixed)
{
    // Null comes last; the rest in the order in which it reads well.
    static const enum value_type order[] = {VALUE_N,  VALUE_S,  VALUE_BOOL, VALUE_B, VALUE_SS,
                                            VALUE_NS, VALUE_BS, VALUE_L,    VALUE_M, VALUE_NULL};
    size_t options = 0;
    if (depth > DEPTH_MAX || only_nulls(count, values)) {
        buf_text(out, "any");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        const struct slice *chosen = NULL;
        size_t kept = of_type(count, values, order[i], &chosen, infer);
        if (kept == 0)
            continue;
        if (options++ > 0)
            buf_text(out, " | ");
        if (options > 1 && order[i] != VALUE_NULL)
            *mixed = true;
        put_kind(infer, name, order[i], kept, chosen, depth, out, mixed);
    }
}

struct slice infer_type(struct infer *infer, struct slice name, size_t count,
                        const struct slice *values, bool *mixed)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    *mixed = false;
    put_type(infer, name, count, values, 0, &text, mixed);
    return draft_keep(&infer->draft, &text);
}
