// See migration_eval.h. A function takes the values of its arguments; if one is missing, so is what
// comes out, but for coalesce() and choose(), which look at theirs one after the other.
#include "eval/migration_eval.h"

#include "model/time.h"
#include "value/number.h"

enum {
    MOST = 32,
    TEXT_MAX = LIMIT_ITEM_SIZE + 64,
    VALUE_MAX = 2 * LIMIT_ITEM_SIZE,
    SCALE_MAX = 40
};

struct call {
    const struct model_expr *expr;
    struct model_scope *scope;
    size_t count;
    struct slice args[MOST]; // encoded
};

// ---- Values -----------------------------------------------------------------------------------

static enum eval_status made(struct slice value, struct slice *out)
{
    *out = value;
    return value.ptr == NULL ? EVAL_BUDGET : EVAL_OK;
}

static enum eval_status made_text(const struct call *call, struct buf *text, struct slice *out)
{
    enum eval_status status =
        text->failed ? EVAL_BUDGET : made(model_string(call->scope->arena, buf_view(text)), out);
    buf_release(text);
    return status;
}

static bool is_text(struct slice value, struct slice *text)
{
    if (value_type(value) != VALUE_S)
        return false;
    *text = value_bytes(value);
    return true;
}

static bool is_whole(struct slice value, int64_t *number)
{
    return value_type(value) == VALUE_N && number_to_i64(value_bytes(value), number);
}

static bool is_list(struct slice value)
{
    return value_type(value) == VALUE_L;
}

static bool is_set(struct slice value)
{
    enum value_type type = value_type(value);
    return type == VALUE_SS || type == VALUE_NS || type == VALUE_BS;
}

// A position from the front, or from the back if it is negative. False if there is none.
static bool position_of(int64_t wanted, size_t count, size_t *position)
{
    int64_t at = wanted < 0 ? wanted + (int64_t)count : wanted;
    *position = (size_t)at;
    return at >= 0 && at < (int64_t)count;
}

// A repeated member of a set is no mistake here.
static enum eval_status making_end(struct value_maker *making, const struct call *call,
                                   struct slice *out)
{
    return made(value_end(making, call->scope->arena), out);
}

// ---- Texts ------------------------------------------------------------------------------------

// The next part of what is left, which is moved behind the separator. False if there is none.
static bool next_part(struct slice *left, struct slice separator, bool *more, struct slice *part)
{
    if (!*more)
        return false;
    const uint8_t *at =
        left->len == 0 ? NULL : memmem(left->ptr, left->len, separator.ptr, separator.len);
    *more = at != NULL;
    *part = at == NULL ? *left : slice_of(left->ptr, (size_t)(at - left->ptr));
    if (at != NULL)
        *left = slice_of(at + separator.len, left->len - part->len - separator.len);
    return true;
}

static enum eval_status split_all(const struct call *call, struct slice text,
                                  struct slice separator, struct slice *out)
{
    struct value_maker making;
    struct slice part;
    bool more = true;
    value_begin(&making, VALUE_MAX);
    value_open_list(&making.b);
    while (next_part(&text, separator, &more, &part))
        value_put_string(&making.b, part);
    return making_end(&making, call, out);
}

static enum eval_status do_split(const struct call *call, struct slice *out)
{
    struct slice text;
    struct slice separator;
    struct slice part;
    int64_t wanted;
    size_t count = 0;
    size_t position;
    bool more = true;
    if (!is_text(call->args[0], &text) || !is_text(call->args[1], &separator) || separator.len == 0)
        return EVAL_UNFIT;
    if (call->count == 2)
        return split_all(call, text, separator, out);
    if (!is_whole(call->args[2], &wanted))
        return EVAL_UNFIT;
    for (struct slice left = text; next_part(&left, separator, &more, &part);)
        count++;
    if (!position_of(wanted, count, &position))
        return EVAL_MISSING;
    more = true;
    for (size_t i = 0; i <= position; i++)
        (void)next_part(&text, separator, &more, &part);
    return made(model_string(call->scope->arena, part), out);
}

// Appends the text of a member of a list or set.
static enum eval_status member_text(enum value_type container, struct slice member, struct buf *out)
{
    char text[NUMBER_TEXT_MAX];
    if (container == VALUE_L)
        return model_value_text(member, out);
    if (container == VALUE_SS)
        buf_slice(out, member);
    else if (container == VALUE_NS)
        buf_add(out, text, number_to_text(member, text));
    return container == VALUE_BS ? EVAL_UNFIT : EVAL_OK;
}

static enum eval_status do_join(const struct call *call, struct slice *out)
{
    struct slice separator;
    struct value_iter iter;
    struct buf text;
    bool first = true;
    if ((!is_list(call->args[0]) && !is_set(call->args[0])) || !is_text(call->args[1], &separator))
        return EVAL_UNFIT;
    buf_init(&text, TEXT_MAX);
    value_iter_init(&iter, call->args[0]);
    for (; value_iter_next(&iter); first = false) {
        if (!first)
            buf_slice(&text, separator);
        enum eval_status status = member_text(value_type(call->args[0]), iter.value, &text);
        if (status != EVAL_OK) {
            buf_release(&text);
            return EVAL_UNFIT;
        }
    }
    return made_text(call, &text, out);
}

static enum eval_status do_replace(const struct call *call, struct slice *out)
{
    struct slice left;
    struct slice what;
    struct slice by;
    struct slice part;
    struct buf text;
    bool more = true;
    if (!is_text(call->args[0], &left) || !is_text(call->args[1], &what) ||
        !is_text(call->args[2], &by) || what.len == 0)
        return EVAL_UNFIT;
    buf_init(&text, TEXT_MAX);
    while (next_part(&left, what, &more, &part)) {
        buf_slice(&text, part);
        if (more)
            buf_slice(&text, by);
    }
    return made_text(call, &text, out);
}

// The bytes of the characters from one position to another.
static struct slice characters(struct slice text, size_t from, size_t to)
{
    size_t start = text.len;
    size_t end = text.len;
    size_t character = 0;
    for (size_t i = 0; i < text.len; i++) {
        if ((text.ptr[i] & 0xc0) == 0x80)
            continue;
        if (character == from)
            start = i;
        if (character == to)
            end = i;
        character++;
    }
    return start >= end ? slice_of(text.ptr, 0) : slice_of(text.ptr + start, end - start);
}

static enum eval_status do_substring(const struct call *call, struct slice *out)
{
    struct slice text;
    int64_t from;
    int64_t most = INT64_MAX;
    if (!is_text(call->args[0], &text) || !is_whole(call->args[1], &from) ||
        (call->count == 3 && (!is_whole(call->args[2], &most) || most < 0)))
        return EVAL_UNFIT;
    int64_t count = (int64_t)slice_characters(text);
    from = from < 0 ? from + count : from;
    from = from < 0 ? 0 : from > count ? count : from;
    int64_t to = most > count - from ? count : from + most;
    return made(model_string(call->scope->arena, characters(text, (size_t)from, (size_t)to)), out);
}

static enum eval_status concat_lists(const struct call *call, struct slice *out)
{
    struct value_maker making;
    struct value_iter iter;
    for (size_t i = 0; i < call->count; i++) {
        if (!is_list(call->args[i]))
            return EVAL_UNFIT;
    }
    value_begin(&making, VALUE_MAX);
    value_open_list(&making.b);
    for (size_t i = 0; i < call->count; i++) {
        value_iter_init(&iter, call->args[i]);
        while (value_iter_next(&iter))
            value_put(&making.b, iter.value);
    }
    return making_end(&making, call, out);
}

static enum eval_status do_concat(const struct call *call, struct slice *out)
{
    struct buf text;
    if (is_list(call->args[0]))
        return concat_lists(call, out);
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < call->count; i++) {
        if (model_value_text(call->args[i], &text) != EVAL_OK) {
            buf_release(&text);
            return EVAL_UNFIT;
        }
    }
    return made_text(call, &text, out);
}

static enum eval_status do_text(const struct call *call, struct slice *out)
{
    return is_list(call->args[0]) ? EVAL_UNFIT : do_concat(call, out);
}

// ---- Numbers and times ------------------------------------------------------------------------

static enum eval_status number_of(const struct call *call, struct slice text, struct slice *out)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    if (number_from_text(text, stored, &len) != NUMBER_OK)
        return EVAL_UNFIT;
    return made(model_number(call->scope->arena, slice_of(stored, len)), out);
}

static enum eval_status do_number(const struct call *call, struct slice *out)
{
    struct slice text;
    if (value_type(call->args[0]) == VALUE_N)
        return made(call->args[0], out);
    if (!is_text(call->args[0], &text))
        return EVAL_UNFIT;
    return number_of(call, slice_trim(text), out);
}

// The digits with another exponent.
static enum eval_status do_scale(const struct call *call, struct slice *out)
{
    char digits[NUMBER_TEXT_MAX];
    int64_t by;
    struct buf text;
    if (value_type(call->args[0]) != VALUE_N || !is_whole(call->args[1], &by) || by < -SCALE_MAX ||
        by > SCALE_MAX)
        return EVAL_UNFIT;
    size_t len = number_to_text(value_bytes(call->args[0]), digits);
    buf_init(&text, NUMBER_TEXT_MAX + 16);
    buf_add(&text, digits, len);
    // A number as text has an exponent only if it is very large or small.
    bool plain = memchr(digits, 'E', len) == NULL && memchr(digits, 'e', len) == NULL;
    buf_printf(&text, "e%lld", (long long)by);
    enum eval_status status = plain ? number_of(call, buf_view(&text), out) : EVAL_UNFIT;
    buf_release(&text);
    return status;
}

static int64_t fraction_ms(struct slice fraction)
{
    int64_t ms = 0;
    for (size_t i = 1; i <= 3; i++)
        ms = ms * 10 + (i < fraction.len ? fraction.ptr[i] - '0' : 0);
    return ms;
}

// Whatever denotes a time, in milliseconds: a text, seconds, or milliseconds (which would be later
// than the year 9999 as seconds).
static bool time_of(struct slice value, int64_t *ms)
{
    struct model_time time;
    struct slice text;
    if (is_text(value, &text)) {
        if (!model_timestamp_parse(text, &time) && !model_date_parse(text, &time))
            return false;
        *ms = time.seconds * 1000 + fraction_ms(time.fraction);
        return true;
    }
    if (!is_whole(value, ms))
        return false;
    return *ms < MODEL_EPOCH_MIN || *ms > MODEL_EPOCH_MAX || !__builtin_mul_overflow(*ms, 1000, ms);
}

static enum eval_status do_epoch(const struct call *call, struct slice *out)
{
    int64_t ms;
    if (!time_of(call->args[0], &ms))
        return EVAL_UNFIT;
    int64_t seconds = ms / 1000 - (ms % 1000 < 0);
    return made(model_integer(call->scope->arena, seconds), out);
}

static enum eval_status do_timestamp(const struct call *call, struct slice *out)
{
    int64_t ms;
    struct buf text;
    buf_init(&text, 64);
    if (time_of(call->args[0], &ms) && model_time_from_ms(ms, &text))
        return made_text(call, &text, out);
    buf_release(&text);
    return EVAL_UNFIT;
}

// ---- Lists and sets ---------------------------------------------------------------------------

// The members of a set as values.
static void put_members(struct value_maker *making, struct slice set)
{
    static const enum value_tag tags[] = {
        [VALUE_SS] = VALUE_TAG_S, [VALUE_NS] = VALUE_TAG_N, [VALUE_BS] = VALUE_TAG_B};
    struct value_iter iter;
    value_iter_init(&iter, set);
    while (value_iter_next(&iter))
        value_put_scalar(&making->b, tags[value_type(set)], iter.value);
}

static enum eval_status do_list(const struct call *call, struct slice *out)
{
    struct value_maker making;
    value_begin(&making, VALUE_MAX);
    value_open_list(&making.b);
    if (call->count == 1 && is_set(call->args[0])) {
        put_members(&making, call->args[0]);
    } else {
        for (size_t i = 0; i < call->count; i++)
            value_put(&making.b, call->args[i]);
    }
    return making_end(&making, call, out);
}

static bool set_type(struct slice member, enum value_type *type)
{
    switch (value_type(member)) {
    case VALUE_S:
        *type = VALUE_SS;
        return true;
    case VALUE_N:
        *type = VALUE_NS;
        return true;
    case VALUE_B:
        *type = VALUE_BS;
        return true;
    default:
        return false;
    }
}

// A set of the members of a list; there is no empty set.
static enum eval_status set_of(const struct call *call, struct slice list, struct slice *out)
{
    struct value_maker making;
    struct value_iter iter;
    enum value_type type = VALUE_SS;
    enum value_type own;
    bool fits = true;
    bool any = false;
    value_iter_init(&iter, list);
    for (; fits && value_iter_next(&iter); any = true) {
        fits = set_type(iter.value, &own) && (!any || own == type);
        type = own;
    }
    if (!fits || !any)
        return fits ? EVAL_MISSING : EVAL_UNFIT;
    value_begin(&making, VALUE_MAX);
    value_open_set(&making.b, type);
    value_iter_init(&iter, list);
    while (value_iter_next(&iter)) {
        // A member that comes again is the same member.
        value_member(&making.b, value_bytes(iter.value));
    }
    return making_end(&making, call, out);
}

static enum eval_status do_set(const struct call *call, struct slice *out)
{
    struct slice list;
    if (call->count == 1 && is_set(call->args[0]))
        return made(call->args[0], out);
    if (call->count == 1 && is_list(call->args[0]))
        return set_of(call, call->args[0], out);
    enum eval_status status = do_list(call, &list);
    return status == EVAL_OK ? set_of(call, list, out) : status;
}

static enum eval_status do_element(const struct call *call, struct slice *out)
{
    struct value_iter iter;
    int64_t wanted;
    size_t position;
    if (!is_list(call->args[0]) || !is_whole(call->args[1], &wanted))
        return EVAL_UNFIT;
    if (!position_of(wanted, value_count(call->args[0]), &position))
        return EVAL_MISSING;
    value_iter_init(&iter, call->args[0]);
    for (size_t i = 0; i <= position; i++)
        (void)value_iter_next(&iter);
    return made(iter.value, out);
}

// ---- One after the other ----------------------------------------------------------------------

static enum eval_status argument(const struct call *call, size_t i, struct slice *out)
{
    return model_eval(call->expr->args[i], call->scope, MODEL_ANY, out);
}

static enum eval_status do_coalesce(const struct call *call, struct slice *out)
{
    enum eval_status status = EVAL_MISSING;
    for (size_t i = 0; status == EVAL_MISSING && i < call->expr->arg_count; i++)
        status = argument(call, i, out);
    return status;
}

// A value and what stands for it, in pairs; one more at the end is for all others.
static enum eval_status do_choose(const struct call *call, struct slice *out)
{
    size_t count = call->expr->arg_count;
    struct slice value;
    struct slice candidate;
    enum eval_status status = argument(call, 0, &value);
    if (status != EVAL_OK)
        return status;
    for (size_t i = 1; i + 1 < count; i += 2) {
        status = argument(call, i, &candidate);
        if (status != EVAL_OK && status != EVAL_MISSING)
            return status;
        if (status == EVAL_OK && value_equal(value, candidate))
            return argument(call, i + 1, out);
    }
    return count % 2 == 0 ? argument(call, count - 1, out) : EVAL_MISSING;
}

// ---- All of them ------------------------------------------------------------------------------

struct function {
    enum eval_status (*run)(const struct call *call, struct slice *out);
    bool lazy; // takes its arguments itself
};

enum eval_status migration_call(const struct model_expr *expr, struct model_scope *scope,
                                struct slice *out)
{
    static const struct function functions[MODEL_FUNCTIONS] = {
        [MODEL_FN_SPLIT] = {do_split, false},         [MODEL_FN_JOIN] = {do_join, false},
        [MODEL_FN_REPLACE] = {do_replace, false},     [MODEL_FN_SUBSTRING] = {do_substring, false},
        [MODEL_FN_CONCAT] = {do_concat, false},       [MODEL_FN_NUMBER] = {do_number, false},
        [MODEL_FN_TEXT] = {do_text, false},           [MODEL_FN_EPOCH] = {do_epoch, false},
        [MODEL_FN_TIMESTAMP] = {do_timestamp, false}, [MODEL_FN_SCALE] = {do_scale, false},
        [MODEL_FN_LIST] = {do_list, false},           [MODEL_FN_SET] = {do_set, false},
        [MODEL_FN_ELEMENT] = {do_element, false},     [MODEL_FN_COALESCE] = {do_coalesce, true},
        [MODEL_FN_CHOOSE] = {do_choose, true},
    };
    struct call call = {.expr = expr, .scope = scope};
    const struct function *function = &functions[expr->function];
    for (size_t i = 0; !function->lazy && i < expr->arg_count; i++) {
        enum eval_status status = argument(&call, i, &call.args[call.count++]);
        if (status != EVAL_OK)
            return status;
    }
    return function->run(&call, out);
}
