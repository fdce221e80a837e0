// The type that fits a lot of values: each kind of value there is becomes an option of it. Texts
// are uuid, timestamp, date, email or url if all of them are, or a choice of a few words that come
// again and again. Maps are objects with a name of their own, or records if their names vary.
#include "infer/infer_internal.h"

#include "eval/validate.h"

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

// Values of which a type is to be found, under a name.
struct values {
    struct slice name;
    size_t count;
    struct slice *list;
};

struct typing {
    struct infer *infer;
    unsigned depth; // of types within types
    bool mixed;     // some values were of several kinds
};

static void put_type(struct typing *typing, const struct values *values, struct buf *out);

// No values yet, and room for that many.
static struct values values_for(struct typing *typing, struct slice name, size_t room)
{
    struct slice *list = draft_alloc(&typing->infer->draft, (room + 1) * sizeof(*list));
    return (struct values){.name = name, .list = list};
}

static void add_value(struct values *values, struct slice value)
{
    values->list[values->count++] = value;
}

// ---- Texts and numbers -----------------------------------------------------------------------

static bool all_are(const struct values *values, enum model_kind kind)
{
    for (size_t i = 0; i < values->count; i++)
        if (!infer_is(value_bytes(values->list[i]), kind))
            return false;
    return true;
}

// A few words that all values are among; 0 if there are others.
static size_t find_words(const struct values *values, struct slice *words)
{
    size_t found = 0;
    for (size_t i = 0; i < values->count; i++) {
        struct slice text = value_bytes(values->list[i]);
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

// Times of one form keep it; others may have any, so that nothing has to be written anew.
static const char *time_form(const struct values *values)
{
    static const struct {
        unsigned form;
        const char *text;
    } forms[] = {{MODEL_MILLISECONDS, ""},
                 {MODEL_SECONDS, "(seconds)"},
                 {MODEL_MICROSECONDS, "(microseconds)"}};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const struct model_type type = {.kind = MODEL_TIMESTAMP, .form = forms[i].form};
        size_t same = 0;
        while (same < values->count && model_value_fits(&type, values->list[same]))
            same++;
        if (same == values->count)
            return forms[i].text;
    }
    return "(any)";
}

static void put_string(const struct values *values, struct buf *out)
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
        if (all_are(values, kinds[i].kind)) {
            buf_text(out, kinds[i].name);
            if (kinds[i].kind == MODEL_TIMESTAMP)
                buf_text(out, time_form(values));
            return;
        }
    }
    struct slice words[WORDS_MAX];
    size_t found = is_open(values->name) ? 0 : find_words(values, words);
    if (found < 2 || values->count < WORDS_LEAST || values->count < 4 * found) {
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
static void put_number(const struct values *values, struct buf *out)
{
    bool seconds = infer_name_time(values->name);
    for (size_t i = 0; i < values->count && seconds; i++) {
        int64_t number = 0;
        seconds = number_to_i64(value_bytes(values->list[i]), &number) && number > 946684800 &&
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

// The members of lists or maps, at most so many.
static struct values members_of(struct typing *typing, const struct values *values, size_t most)
{
    size_t total = 0;
    for (size_t i = 0; i < values->count; i++)
        total += value_count(values->list[i]);
    total = total > most ? most : total;
    struct values members = values_for(typing, singular(values->name), total);
    for (size_t i = 0; i < values->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, values->list[i]);
        while (members.count < total && value_iter_next(&iter))
            add_value(&members, iter.value);
    }
    return members;
}

static void put_list(struct typing *typing, const struct values *values, struct buf *out)
{
    struct values members = members_of(typing, values, VALUES_MAX);
    struct buf inner;
    buf_init(&inner, 1 << 20);
    put_type(typing, &members, &inner);
    bool options = slice_contains(buf_view(&inner), SLICE_LIT(" | "));
    buf_printf(out, options ? "(%.*s)[]" : "%.*s[]", SLICE_FMT(buf_view(&inner)));
    buf_release(&inner);
}

// The names in maps, in their order; NAMES_MAX + 1 if there are more.
static size_t find_fields(const struct values *values, struct field *fields)
{
    size_t found = 0;
    for (size_t i = 0; i < values->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, values->list[i]);
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
    // Many names, of which an average map has less than half.
    return found > 2 * RECORD_LEAST && entries < found * count / 2;
}

static void put_object(struct typing *typing, const struct values *values, size_t found,
                       const struct field *fields, struct buf *out)
{
    struct draft *draft = &typing->infer->draft;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "{\n");
    for (size_t i = 0; i < found; i++) {
        struct values inside = values_for(typing, fields[i].name, values->count);
        for (size_t k = 0; k < values->count; k++) {
            struct slice value = value_get(values->list[k], fields[i].name);
            if (value.len > 0 && value_type(value) != VALUE_NULL)
                add_value(&inside, value);
        }
        buf_text(&text, "  ");
        draft_put_name(&text, fields[i].name);
        buf_text(&text, ": ");
        put_type(typing, &inside, &text);
        buf_text(&text, inside.count < values->count ? "?\n" : "\n");
    }
    buf_byte(&text, '}');
    draft_put_name(out,
                   draft_named_type(draft, draft_pascal(draft, values->name), buf_view(&text)));
    buf_release(&text);
}

static void put_map(struct typing *typing, const struct values *values, struct buf *out)
{
    struct field *fields =
        draft_alloc(&typing->infer->draft, (NAMES_MAX + 1) * sizeof(struct field));
    size_t found = find_fields(values, fields);
    if (found == 0) {
        buf_text(out, "object");
    } else if (is_record(values->count, found, fields)) {
        struct values members = members_of(typing, values, SIZE_MAX);
        buf_text(out, "Record<string, ");
        put_type(typing, &members, out);
        buf_byte(out, '>');
    } else {
        put_object(typing, values, found, fields, out);
    }
}

// ---- All of it -------------------------------------------------------------------------------

static void put_kind(struct typing *typing, enum value_type type, const struct values *values,
                     struct buf *out)
{
    static const char *const names[] = {
        [VALUE_BOOL] = "boolean",   [VALUE_B] = "binary",       [VALUE_SS] = "set<string>",
        [VALUE_NS] = "set<number>", [VALUE_BS] = "set<binary>", [VALUE_NULL] = "null"};
    switch (type) {
    case VALUE_S:
        put_string(values, out);
        return;
    case VALUE_N:
        put_number(values, out);
        return;
    case VALUE_L:
        put_list(typing, values, out);
        return;
    case VALUE_M:
        put_map(typing, values, out);
        return;
    default:
        buf_text(out, names[type]);
    }
}

static bool only_nulls(const struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (value_type(values->list[i]) != VALUE_NULL)
            return false;
    return true;
}

static void put_type(struct typing *typing, const struct values *values, struct buf *out)
{
    // Null comes last; the rest in the order in which it reads well.
    static const enum value_type order[] = {VALUE_N,  VALUE_S,  VALUE_BOOL, VALUE_B, VALUE_SS,
                                            VALUE_NS, VALUE_BS, VALUE_L,    VALUE_M, VALUE_NULL};
    size_t options = 0;
    if (typing->depth > DEPTH_MAX || only_nulls(values)) {
        buf_text(out, "any");
        return;
    }
    typing->depth++;
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct values chosen = values_for(typing, values->name, values->count);
        for (size_t k = 0; k < values->count; k++)
            if (value_type(values->list[k]) == order[i])
                add_value(&chosen, values->list[k]);
        if (chosen.count == 0)
            continue;
        if (options++ > 0)
            buf_text(out, " | ");
        if (options > 1 && order[i] != VALUE_NULL)
            typing->mixed = true;
        put_kind(typing, order[i], &chosen, out);
    }
    typing->depth--;
}

struct slice infer_type(struct infer *infer, struct slice name, size_t count,
                        const struct slice *values, bool *mixed)
{
    struct typing typing = {.infer = infer};
    struct values all = values_for(&typing, name, count);
    struct buf text;
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < count; i++)
        add_value(&all, values[i]);
    put_type(&typing, &all, &text);
    *mixed = typing.mixed;
    return draft_keep(&infer->draft, &text);
}
