// See validate.h: the words for what does not fit. Nothing here is in the way of a good write.
#include "eval/validate.h"

#include <stdarg.h>
#include <stdio.h>

#include "value/number.h"

enum {
    SHOWN = 60,
    VALUE_KEPT = 256,
    WORDS_MAX = 4096,
    TEXT_MAX = 64 << 10,
    MESSAGE_MAX = 256 << 10
};

void model_report_init(struct model_report *report, struct arena *arena)
{
    report->arena = arena;
    report->failed = false;
    report->more = 0;
    report->count = 0;
}

// ---- Words ----------------------------------------------------------------------------------

// Text that may go into a header or onto a terminal.
static void put_clean(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        buf_byte(out, byte < ' ' || byte == 0x7f ? ' ' : byte);
    }
}

static void describe_text(struct slice text, struct buf *out)
{
    size_t characters = 0;
    size_t end = 0;
    while (end < text.len) {
        if ((text.ptr[end] & 0xc0) != 0x80 && ++characters > SHOWN)
            break;
        end++;
    }
    buf_byte(out, '"');
    put_clean(out, slice_of(text.ptr, end));
    buf_text(out, end < text.len ? "…\"" : "\"");
}

void model_value_describe(struct slice value, struct buf *out)
{
    if (value.len == 0) {
        buf_text(out, "nothing");
        return;
    }
    static const char *const words[VALUE_TYPES] = {
        [VALUE_NULL] = "null", [VALUE_B] = "binary", [VALUE_SS] = "a set", [VALUE_NS] = "a set",
        [VALUE_BS] = "a set",  [VALUE_L] = "a list", [VALUE_M] = "a map"};
    enum value_type type = value_type(value);
    char number[NUMBER_TEXT_MAX];
    if (type == VALUE_S)
        describe_text(value_bytes(value), out);
    else if (type == VALUE_N)
        buf_add(out, number, number_to_text(value_bytes(value), number));
    else
        buf_text(out, type != VALUE_BOOL ? words[type] : value_bool(value) ? "true" : "false");
}

static void put_pointer(const struct model_pointer *at, struct buf *out)
{
    if (at == NULL)
        return;
    put_pointer(at->up, out);
    buf_byte(out, '/');
    if (at->element) {
        buf_u64(out, at->index);
        return;
    }
    for (size_t i = 0; i < at->name.len; i++) {
        uint8_t byte = at->name.ptr[i];
        if (byte == '~')
            buf_text(out, "~0");
        else if (byte == '/')
            buf_text(out, "~1");
        else
            buf_byte(out, byte < ' ' || byte == 0x7f ? ' ' : byte);
    }
}

// ---- Adding ---------------------------------------------------------------------------------

// A copy in the report's arena of what was written to `words`, which is emptied.
static struct slice keep(struct model_report *report, struct buf *words)
{
    struct slice copy = arena_copy(report->arena, buf_view(words));
    if (copy.ptr == NULL || words->failed) {
        report->failed = true;
        copy = slice_of("", 0);
    }
    buf_clear(words);
    return copy;
}

static struct model_violation *next(struct model_report *report, const struct model_pointer *at,
                                    struct slice actual, struct buf *words)
{
    if (report->count == MODEL_VIOLATIONS_MAX) {
        report->more++;
        return NULL;
    }
    struct model_violation *violation = &report->list[report->count++];
    put_pointer(at, words);
    violation->pointer = keep(report, words);
    model_value_describe(actual, words);
    violation->actual = keep(report, words);
    violation->value = VALUE_NONE;
    if (actual.len > 0 && actual.len <= VALUE_KEPT) {
        violation->value = arena_copy(report->arena, actual);
        report->failed = report->failed || violation->value.ptr == NULL;
    }
    return violation;
}

void model_report_add(struct model_report *report, const struct model_pointer *at,
                      struct slice expected, struct slice actual)
{
    struct buf words;
    buf_init(&words, TEXT_MAX * 4);
    struct model_violation *violation = next(report, at, actual, &words);
    if (violation != NULL) {
        put_clean(&words, expected);
        violation->expected = keep(report, &words);
    }
    buf_release(&words);
}

// Whether all that is kept is there: what comes now is only counted, and needs no words.
static bool is_full(struct model_report *report)
{
    if (report->count < MODEL_VIOLATIONS_MAX)
        return false;
    report->more++;
    return true;
}

void model_report_addf(struct model_report *report, const struct model_pointer *at,
                       struct slice actual, const char *expected, ...)
{
    if (is_full(report))
        return;
    char text[WORDS_MAX];
    va_list arguments;
    va_start(arguments, expected);
    int len = vsnprintf(text, sizeof(text), expected, arguments);
    va_end(arguments);
    size_t shown = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    model_report_add(report, at, slice_of(text, shown), actual);
}

void model_report_type(struct model_report *report, const struct model_pointer *at,
                       const struct model_type *type, struct slice actual)
{
    if (is_full(report))
        return;
    struct model_type shown = *type;
    // Who reads this may not have the model at hand: the choices of a named union help, its name
    // alone does not.
    if (type->kind == MODEL_UNION)
        shown.name = slice_of(NULL, 0);
    struct buf words;
    buf_init(&words, WORDS_MAX);
    model_type_text(&shown, &words);
    model_report_add(report, at, buf_view(&words), actual);
    buf_release(&words);
}

void model_report_pattern(struct model_report *report, const struct model_pointer *at,
                          const struct model_attribute *attribute, struct slice actual)
{
    model_report_addf(report, at, actual, "text that matches \"%.*s\"",
                      SLICE_FMT(attribute->pattern));
}

void model_report_value(struct model_report *report, const struct model_pointer *at,
                        struct slice expected, const char *reason, struct slice actual)
{
    struct buf words;
    buf_init(&words, WORDS_MAX);
    model_value_describe(expected, &words);
    buf_text(&words, reason);
    model_report_add(report, at, buf_view(&words), actual);
    buf_release(&words);
}

// ---- Judging --------------------------------------------------------------------------------

static void judge_unknown(const struct model_pointer *at, struct slice value,
                          const struct model_judge *judge)
{
    struct slice expected = SLICE_LIT(MODEL_EXPECTED_NONE);
    if (judge->unknown == MODEL_REJECT)
        model_report_add(judge->violations, at, expected, value);
    else if (judge->unknown == MODEL_REPORT && judge->warnings != NULL)
        model_report_add(judge->warnings, at, expected, value);
}

// Both the map and the fields are sorted by name.
static void judge_fields(const struct model_type *type, struct slice value,
                         const struct model_pointer *at, const struct model_judge *judge)
{
    struct value_walk walk;
    value_walk_init(&walk, value);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct model_attribute *field = &type->fields[i];
        struct model_pointer inside = {.up = at, .name = field->name};
        struct slice found = value_walk_to(&walk, field->name);
        if (found.len > 0 && !model_is_absent(field, found)) {
            model_type_judge(field->type, found, &inside, judge);
            if (!model_text_matches(judge->check, field, found))
                model_report_pattern(judge->violations, &inside, field, found);
        } else if (!field->optional)
            model_report_type(judge->violations, &inside, field->type, VALUE_NONE);
    }
}

static void judge_object(const struct model_type *type, struct slice value,
                         const struct model_pointer *at, const struct model_judge *judge)
{
    if (type->field_count == 0)
        return;
    steps_add(&judge->check->steps, 2 * (type->field_count + value_count(value)));
    judge_fields(type, value, at, judge);
    struct value_iter iter;
    size_t field = 0;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter)) {
        struct model_pointer inside = {.up = at, .name = iter.name};
        int order = -1;
        while (field < type->field_count &&
               (order = slice_compare(type->fields[field].name, iter.name)) < 0)
            field++;
        if (field == type->field_count || order != 0)
            judge_unknown(&inside, iter.value, judge);
    }
}

// Members of a list or a record.
static void judge_members(const struct model_type *type, struct slice value,
                          const struct model_pointer *at, const struct model_judge *judge)
{
    struct model_type bounds = {.kind = MODEL_LIST, .min = type->min, .max = type->max};
    struct value_iter iter;
    struct model_pointer inside = {.up = at, .element = type->kind == MODEL_LIST};
    value_iter_init(&iter, value);
    if (type->kind == MODEL_LIST) {
        if (!model_type_fits(judge->check, &bounds, value, false))
            model_report_type(judge->violations, at, type, value);
    }
    while (type->item != NULL && value_iter_next(&iter)) {
        inside.name = iter.name;
        model_type_judge(type->item, iter.value, &inside, judge);
        inside.index++;
    }
}

// The one option of a union that has members as the value has, or NULL: there, it can be said more
// precisely what is wrong.
static const struct model_type *option_of(const struct model_type *type, struct slice value)
{
    const struct model_type *found = NULL;
    enum value_type stored = value_type(value);
    if (stored != VALUE_M && stored != VALUE_L)
        return NULL;
    for (size_t i = 0; i < type->option_count; i++)
        if (model_type_stores(type->options[i], stored)) {
            if (found != NULL)
                return NULL;
            found = type->options[i];
        }
    return found;
}

void model_type_judge(const struct model_type *type, struct slice value,
                      const struct model_pointer *at, const struct model_judge *judge)
{
    if (model_type_fits(judge->check, type, value, judge->unknown != MODEL_ALLOW) ||
        check_over(judge->check))
        return;
    const struct model_type *option = type->kind == MODEL_UNION ? option_of(type, value) : type;
    uint8_t tag = value.ptr[0];
    if (option != NULL && option->kind == MODEL_OBJECT && tag == VALUE_TAG_M)
        judge_object(option, value, at, judge);
    else if (option != NULL && ((option->kind == MODEL_RECORD && tag == VALUE_TAG_M) ||
                                (option->kind == MODEL_LIST && tag == VALUE_TAG_L)))
        judge_members(option, value, at, judge);
    else if (!model_type_fits(judge->check, type, value, judge->unknown == MODEL_REJECT))
        model_report_type(judge->violations, at, type, value);
}

// ---- All of it ------------------------------------------------------------------------------

void model_report_text(const struct model_report *report, struct buf *out)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct model_violation *violation = &report->list[i];
        if (i > 0)
            buf_text(out, "; ");
        if (violation->pointer.len > 0) {
            buf_slice(out, violation->pointer);
            buf_text(out, ": ");
        }
        buf_text(out, "expected ");
        buf_slice(out, violation->expected);
        buf_text(out, ", got ");
        buf_slice(out, violation->actual);
    }
    if (report->more > 0)
        buf_printf(out, "; and %zu more", report->more);
}

struct model_violations *model_report_details(const struct model_report *report,
                                              struct slice entity)
{
    size_t bytes = report->count * sizeof(struct model_violation);
    struct model_violations *details = arena_alloc(report->arena, sizeof(*details));
    struct model_violation *list = arena_alloc(report->arena, bytes + 1);
    if (details == NULL || list == NULL || report->failed)
        return NULL;
    if (bytes > 0)
        memcpy(list, report->list, bytes);
    *details = (struct model_violations){.entity = entity, .count = report->count, .list = list};
    return details;
}

bool model_refuse(struct error *error, struct slice text, const struct model_violations *details)
{
    if (details == NULL || text.ptr == NULL)
        return error_budget(error);
    (void)error_validation(error, "%.*s", SLICE_FMT(text));
    error->details = details;
    return false;
}

bool model_report_refuse(const struct model_report *report, const char *what, struct slice name,
                         struct error *error)
{
    struct buf text;
    buf_init(&text, MESSAGE_MAX);
    buf_printf(&text, "%s %.*s: ", what, SLICE_FMT(name));
    model_report_text(report, &text);
    struct model_violations *details = text.failed ? NULL : model_report_details(report, name);
    (void)model_refuse(error, buf_view(&text), details);
    buf_release(&text);
    return false;
}
