// See eval.h. An expression is a small tree, walked recursively; the parser bounds its depth. Texts
// are made in a buf and copied to the arena once they are whole.
#include "eval/eval.h"

#include "base/encode.h"
#include "eval/migration_eval.h"
#include "eval/template.h"
#include "model/time.h"
#include "text/nfc.h"
#include "value/copy.h"
#include "value/number.h"

enum { TEXT_MAX = LIMIT_ITEM_SIZE + LIMIT_ITEM_SIZE / 3 + 64, PAD_MAX = 1024, FIXED_MAX = 30 };

// ---- Making values -----------------------------------------------------------------------------

static struct slice make_counted(struct arena *arena, enum value_tag tag, struct slice bytes)
{
    uint8_t *value = arena_alloc(arena, 1 + varint_len(bytes.len) + bytes.len);
    if (value == NULL)
        return VALUE_NONE;
    value[0] = (uint8_t)tag;
    size_t head = 1 + varint_put(value + 1, bytes.len);
    copy_bytes(value + head, bytes.ptr, bytes.len);
    return slice_of(value, head + bytes.len);
}

struct slice model_string(struct arena *arena, struct slice text)
{
    return make_counted(arena, VALUE_TAG_S, text);
}

struct slice model_number(struct arena *arena, struct slice stored)
{
    return make_counted(arena, VALUE_TAG_N, stored);
}

struct slice model_integer(struct arena *arena, int64_t number)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(number, stored);
    return model_number(arena, slice_of(stored, len));
}

// The result of an evaluation out of what a maker gave.
static enum eval_status made(struct slice value, struct slice *out)
{
    if (value.ptr == NULL)
        return EVAL_BUDGET;
    *out = value;
    return EVAL_OK;
}

// ---- Normal forms ---------------------------------------------------------------------------

static bool is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static struct slice trimmed(struct slice text)
{
    while (text.len > 0 && is_space(text.ptr[0]))
        text = slice_of(text.ptr + 1, text.len - 1);
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static uint8_t cased(uint8_t byte, bool upper)
{
    uint8_t first = upper ? 'a' : 'A';
    return (uint8_t)(byte - first) < 26 ? byte ^ 0x20 : byte;
}

static bool is_cased(struct slice text, bool upper)
{
    for (size_t i = 0; i < text.len; i++)
        if (cased(text.ptr[i], upper) != text.ptr[i])
            return false;
    return true;
}

// A time in the one form of its type. What is no time stays, and will be refused.
static struct slice normal_time(struct slice value, unsigned form, struct arena *arena)
{
    struct model_time time;
    struct buf text;
    if (!model_timestamp_parse(value_bytes(value), &time) || model_time_has_form(&time, form))
        return value;
    buf_init(&text, 64);
    bool fits = model_time_put_form(&time, form, &text);
    struct slice made = !fits ? value : model_string(arena, buf_view(&text));
    buf_release(&text);
    return made;
}

// One blank instead of several inside of a text; true if there were several. In place.
static bool squeeze(uint8_t *bytes, size_t *len)
{
    size_t kept = 0;
    for (size_t i = 0; i < *len; i++) {
        if (is_space(bytes[i]) && kept > 0 && is_space(bytes[kept - 1])) {
            bytes[kept - 1] = ' ';
            continue;
        }
        bytes[kept++] = bytes[i];
    }
    bool squeezed = kept < *len;
    *len = kept;
    return squeezed;
}

static bool has_several(struct slice text)
{
    for (size_t i = 1; i < text.len; i++)
        if (is_space(text.ptr[i]) && is_space(text.ptr[i - 1]))
            return true;
    return false;
}

// The text with `normal` done to it, in the arena; an encoded S.
static struct slice normal_copy(struct slice text, unsigned normal, struct arena *arena)
{
    uint8_t *bytes = arena_alloc(arena, text.len + 1);
    if (bytes == NULL)
        return VALUE_NONE;
    size_t len = text.len;
    copy_bytes(bytes, text.ptr, len);
    if ((normal & MODEL_SQUEEZE) != 0)
        (void)squeeze(bytes, &len);
    for (size_t i = 0; (normal & (MODEL_LOWER | MODEL_UPPER)) != 0 && i < len; i++)
        bytes[i] = cased(bytes[i], (normal & MODEL_UPPER) != 0);
    return model_string(arena, slice_of(bytes, len));
}

struct slice model_normalise(struct slice value, unsigned normal, struct arena *arena)
{
    if ((normal & MODEL_TIMES) != 0)
        return normal_time(value, normal & MODEL_TIMES, arena);
    struct slice text = value_bytes(value);
    struct slice composed = (normal & MODEL_NFC) != 0 ? nfc_compose(text, arena) : text;
    if (composed.ptr == NULL && text.len > 0)
        return VALUE_NONE;
    struct slice wanted = (normal & MODEL_TRIM) != 0 ? trimmed(composed) : composed;
    bool upper = (normal & MODEL_UPPER) != 0;
    bool same = ((normal & (MODEL_LOWER | MODEL_UPPER)) == 0 || is_cased(wanted, upper)) &&
                ((normal & MODEL_SQUEEZE) == 0 || !has_several(wanted));
    if (same && slice_equal(wanted, text))
        return value;
    return same ? model_string(arena, wanted) : normal_copy(wanted, normal, arena);
}

enum model_kind model_kind_wanted(const struct model_type *type)
{
    if (type->kind != MODEL_UNION)
        return type->kind;
    for (size_t i = 0; i < type->option_count; i++)
        if (type->options[i]->kind != MODEL_NULL)
            return type->options[i]->kind;
    return MODEL_NULL;
}

// ---- Work ----------------------------------------------------------------------------------

// Bytes of text that go through an evaluation a few at a step.
enum { BYTES_COPIED = 16, BYTES_HASHED = 2 };

static void count(const struct model_scope *scope, size_t steps)
{
    if (scope->steps != NULL)
        steps_add(scope->steps, steps);
}

// ---- Names ----------------------------------------------------------------------------------

static struct slice first_step(const struct model_expr *expr, const struct model_scope *scope)
{
    const struct model_entity *entity = scope->entity;
    if (entity != NULL && expr->attribute >= entity->attributes &&
        expr->attribute < entity->attributes + entity->attribute_count) {
        size_t position = (size_t)(expr->attribute - entity->attributes);
        if (scope->values != NULL)
            return scope->values[scope->places != NULL ? scope->places[position] : position];
    }
    return scope->item.len > 0 ? value_get(scope->item, expr->steps[0]) : VALUE_NONE;
}

static enum eval_status eval_path(const struct model_expr *expr, const struct model_scope *scope,
                                  struct slice *out)
{
    struct slice value = first_step(expr, scope);
    for (size_t i = 1; i < expr->step_count && value.len > 0; i++) {
        if (value_type(value) != VALUE_M)
            return EVAL_MISSING;
        count(scope, value_count(value));
        value = value_get(value, expr->steps[i]);
    }
    if (value.len == 0 || value.ptr[0] == VALUE_TAG_NULL)
        return EVAL_MISSING;
    *out = value;
    return EVAL_OK;
}

static enum eval_status eval_param(const struct model_expr *expr, const struct model_scope *scope,
                                   struct slice *out)
{
    if (expr->param >= scope->param_count || scope->params[expr->param].len == 0 ||
        scope->params[expr->param].ptr[0] == VALUE_TAG_NULL)
        return EVAL_MISSING;
    *out = scope->params[expr->param];
    return EVAL_OK;
}

// ---- Times ----------------------------------------------------------------------------------

static int64_t scope_now(struct model_scope *scope)
{
    if (scope->now_ms == 0 && scope->env != NULL)
        scope->now_ms = env_now(scope->env);
    return scope->now_ms;
}

bool model_value_time(struct slice value, struct model_time *time)
{
    if (value.ptr[0] == VALUE_TAG_S) {
        struct slice text = value_bytes(value);
        return model_timestamp_parse(text, time) || model_date_parse(text, time);
    }
    *time = (struct model_time){.date = false};
    return value.ptr[0] == VALUE_TAG_N && number_to_i64(value_bytes(value), &time->seconds);
}

static enum eval_status time_value(int64_t ms, bool date, struct model_scope *scope,
                                   struct slice *out)
{
    struct buf text;
    buf_init(&text, 64);
    bool fits = date ? model_date_from_ms(ms, &text) : model_time_from_ms(ms, &text);
    struct slice value = fits ? model_string(scope->arena, buf_view(&text)) : VALUE_NONE;
    bool failed = text.failed;
    buf_release(&text);
    return fits && !failed ? made(value, out) : EVAL_UNFIT;
}

static bool is_seconds(enum model_kind kind)
{
    return kind == MODEL_EPOCH || kind == MODEL_NUMBER || kind == MODEL_INTEGER;
}

struct slice model_time_value(int64_t ms, const struct model_type *type, struct arena *arena)
{
    struct model_scope scope = {.arena = arena};
    struct slice value = VALUE_NONE;
    enum model_kind kind = model_kind_wanted(type);
    unsigned form = model_type_form(type);
    if (is_seconds(kind))
        return model_integer(arena, ms / 1000);
    if (time_value(ms, kind == MODEL_DATE, &scope, &value) != EVAL_OK)
        return VALUE_NONE;
    return form == 0 ? value : model_normalise(value, form, arena);
}

static enum eval_status eval_now(struct model_scope *scope, enum model_kind want, struct slice *out)
{
    int64_t ms = scope_now(scope);
    if (ms == 0 && scope->env == NULL)
        return EVAL_MISSING; // nobody knows
    if (is_seconds(want))
        return made(model_integer(scope->arena, ms / 1000), out);
    return time_value(ms, want == MODEL_DATE, scope, out);
}

// A time in the form of the attribute it is for; everything else stays.
static enum eval_status convert(struct slice value, enum model_kind want, struct model_scope *scope,
                                struct slice *out)
{
    struct model_time time;
    uint8_t tag = value.ptr[0];
    *out = value;
    if (tag == VALUE_TAG_S && is_seconds(want) && model_value_time(value, &time))
        return made(model_integer(scope->arena, time.seconds), out);
    if (tag == VALUE_TAG_N && (want == MODEL_TIMESTAMP || want == MODEL_DATE)) {
        if (!model_value_time(value, &time) || time.seconds < MODEL_EPOCH_MIN ||
            time.seconds > MODEL_EPOCH_MAX)
            return EVAL_UNFIT;
        return time_value(time.seconds * 1000, want == MODEL_DATE, scope, out);
    }
    if (tag == VALUE_TAG_S && want == MODEL_DATE && model_value_time(value, &time) && !time.date)
        return time_value(time.seconds * 1000, true, scope, out);
    return EVAL_OK;
}

static enum eval_status time_moved(struct slice text, int64_t seconds, struct model_scope *scope,
                                   struct slice *out)
{
    struct model_time time;
    if ((!model_timestamp_parse(text, &time) && !model_date_parse(text, &time)) ||
        __builtin_add_overflow(time.seconds, seconds, &time.seconds))
        return EVAL_UNFIT;
    struct buf moved;
    buf_init(&moved, text.len + 64);
    bool fits = model_time_text(&time, &moved) && !moved.failed;
    struct slice value = fits ? model_string(scope->arena, buf_view(&moved)) : VALUE_NONE;
    buf_release(&moved);
    return fits ? made(value, out) : EVAL_UNFIT;
}

// ---- Sums -----------------------------------------------------------------------------------

static enum eval_status sum_numbers(struct slice a, struct slice b, bool minus,
                                    struct model_scope *scope, struct slice *out)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    enum number_status status = minus
                                    ? number_subtract(value_bytes(a), value_bytes(b), stored, &len)
                                    : number_add(value_bytes(a), value_bytes(b), stored, &len);
    if (status != NUMBER_OK)
        return EVAL_UNFIT;
    return made(model_number(scope->arena, slice_of(stored, len)), out);
}

static enum eval_status eval_product(const struct model_expr *expr, struct model_scope *scope,
                                     struct slice *out)
{
    struct slice values[2];
    for (size_t i = 0; i < 2; i++) {
        enum eval_status status = model_eval(expr->args[i], scope, MODEL_ANY, &values[i]);
        if (status != EVAL_OK)
            return status;
        if (values[i].ptr[0] != VALUE_TAG_N)
            return EVAL_UNFIT;
    }
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    if (number_multiply(value_bytes(values[0]), value_bytes(values[1]), stored, &len) != NUMBER_OK)
        return EVAL_UNFIT;
    return made(model_number(scope->arena, slice_of(stored, len)), out);
}

static enum eval_status eval_sum(const struct model_expr *expr, struct model_scope *scope,
                                 enum model_kind want, struct slice *out)
{
    bool minus = expr->kind == MODEL_EXPR_SUBTRACT;
    struct slice a;
    struct slice b;
    // The time is wanted in that form, not the seconds that are added to it.
    bool first = expr->args[0]->kind != MODEL_EXPR_VALUE;
    enum eval_status status = model_eval(expr->args[0], scope, first ? want : MODEL_ANY, &a);
    if (status == EVAL_OK)
        status = model_eval(expr->args[1], scope, first ? MODEL_ANY : want, &b);
    if (status != EVAL_OK)
        return status;
    if (a.ptr[0] == VALUE_TAG_N && b.ptr[0] == VALUE_TAG_N)
        return sum_numbers(a, b, minus, scope, out);
    struct model_time from;
    struct model_time to;
    if (minus && b.ptr[0] == VALUE_TAG_S && model_value_time(a, &to) && model_value_time(b, &from))
        return made(model_integer(scope->arena, to.seconds - from.seconds), out);
    bool turned = !minus && a.ptr[0] == VALUE_TAG_N; // 7d + createdAt
    struct slice time = turned ? b : a;
    struct slice number = turned ? a : b;
    int64_t seconds;
    if (time.ptr[0] != VALUE_TAG_S || number.ptr[0] != VALUE_TAG_N ||
        !number_to_i64(value_bytes(number), &seconds) || seconds == INT64_MIN)
        return EVAL_UNFIT;
    return time_moved(value_bytes(time), minus ? -seconds : seconds, scope, out);
}

// ---- Functions ------------------------------------------------------------------------------

static void hex_put(struct buf *out, const uint8_t *bytes, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        buf_byte(out, (uint8_t)hex[bytes[i] >> 4]);
        buf_byte(out, (uint8_t)hex[bytes[i] & 15]);
    }
}

static enum eval_status text_sha256(const struct model_expr *expr, struct model_scope *scope,
                                    struct buf *out)
{
    size_t start = out->len; // the arguments are put behind what is there, and taken away again
    for (size_t i = 0; i < expr->arg_count; i++) {
        enum eval_status status = model_eval_text(expr->args[i], scope, out);
        if (status != EVAL_OK)
            return status;
        buf_byte(out, 0);
    }
    if (out->failed)
        return EVAL_BUDGET;
    uint8_t digest[32];
    count(scope, (out->len - start) / BYTES_HASHED);
    sha256_of(slice_of(out->ptr + start, out->len - start), digest);
    out->len = start;
    hex_put(out, digest, sizeof(digest));
    return EVAL_OK;
}

static enum eval_status two_values(const struct model_expr *expr, struct model_scope *scope,
                                   struct slice *first, struct slice *second)
{
    enum eval_status status = model_eval(expr->args[0], scope, MODEL_ANY, first);
    return status == EVAL_OK ? model_eval(expr->args[1], scope, MODEL_ANY, second) : status;
}

// Fills up with zeros in front, as padStart(width, "0") does; of a number, the digits before the
// point, behind the sign.
static enum eval_status text_pad(const struct model_expr *expr, struct model_scope *scope,
                                 struct buf *out)
{
    struct slice value;
    struct slice width;
    enum eval_status status = two_values(expr, scope, &value, &width);
    int64_t wanted;
    if (status != EVAL_OK)
        return status;
    if (width.ptr[0] != VALUE_TAG_N || !number_to_i64(value_bytes(width), &wanted) || wanted < 0 ||
        wanted > PAD_MAX)
        return EVAL_UNFIT;
    size_t start = out->len;
    status = model_value_text(value, out);
    if (status != EVAL_OK)
        return status;
    if (out->failed)
        return EVAL_BUDGET;
    struct slice text = slice_of(out->ptr + start, out->len - start);
    size_t sign = 0;
    size_t have = slice_characters(text);
    if (value.ptr[0] == VALUE_TAG_N) {
        sign = text.ptr[0] == '-';
        const uint8_t *point = memchr(text.ptr, '.', text.len);
        have = (point != NULL ? (size_t)(point - text.ptr) : text.len) - sign;
    }
    if (have >= (size_t)wanted)
        return EVAL_OK;
    size_t zeros = (size_t)wanted - have;
    size_t moved = text.len - sign;
    uint8_t *at = buf_reserve(out, zeros);
    if (at == NULL)
        return EVAL_BUDGET;
    at = out->ptr + start + sign;
    memmove(at + zeros, at, moved);
    memset(at, '0', zeros);
    out->len += zeros;
    return EVAL_OK;
}

// A decimal number with that many digits behind the point, rounded half away from zero.
static enum eval_status text_fixed(const struct model_expr *expr, struct model_scope *scope,
                                   struct buf *out)
{
    struct slice value;
    struct slice width;
    int64_t wanted;
    char text[NUMBER_TEXT_MAX + 2];
    enum eval_status status = two_values(expr, scope, &value, &width);
    if (status != EVAL_OK)
        return status;
    if (value.ptr[0] != VALUE_TAG_N || width.ptr[0] != VALUE_TAG_N ||
        !number_to_i64(value_bytes(width), &wanted) || wanted < 0 || wanted > FIXED_MAX)
        return EVAL_UNFIT;
    text[0] = '0'; // for what is carried
    size_t len = 1 + number_to_text(value_bytes(value), text + 1);
    bool minus = text[1] == '-';
    if (minus)
        text[1] = '0';
    char *point = memchr(text, '.', len);
    size_t whole = point == NULL ? len : (size_t)(point - text);
    size_t behind = point == NULL ? 0 : len - whole - 1;
    size_t end = behind > (size_t)wanted ? whole + 1 + (size_t)wanted : len;
    bool up = behind > (size_t)wanted && text[end] >= '5';
    for (size_t i = end; up && i > 0; i--) {
        if (text[i - 1] == '.')
            continue;
        up = text[i - 1] == '9';
        text[i - 1] = up ? '0' : (char)(text[i - 1] + 1);
    }
    size_t first = 0;
    while (first + 1 < whole && text[first] == '0')
        first++;
    text[end] = 0;
    bool zero = strspn(text + first, "0.") == end - first;
    if (minus && !zero)
        buf_byte(out, '-');
    buf_add(out, text + first, (wanted == 0 ? whole : end) - first);
    if (wanted > 0 && point == NULL)
        buf_byte(out, '.');
    for (size_t i = behind; i < (size_t)wanted; i++)
        buf_byte(out, '0');
    return EVAL_OK;
}

// The text of the first argument, behind what is there; *from is where it begins.
static enum eval_status text_first(const struct model_expr *expr, struct model_scope *scope,
                                   struct buf *out, size_t *from)
{
    *from = out->len;
    enum eval_status status = model_eval_text(expr->args[0], scope, out);
    if (status == EVAL_OK && out->failed)
        return EVAL_BUDGET;
    count(scope, (out->len - *from) / BYTES_COPIED);
    return status;
}

static struct slice separator_of(const struct model_expr *call)
{
    return call->arg_count > 1 ? value_bytes(call->args[1]->value) : SLICE_LIT("#");
}

bool model_has_separator(const struct model_expr *call, struct slice text)
{
    struct slice separator = separator_of(call);
    return memmem(text.ptr, text.len, separator.ptr, separator.len) != NULL;
}

// Percent-encoding of "%" and of the byte with which a separator begins: what comes out has no
// separator in it, and can be read back.
static enum eval_status text_escape(const struct model_expr *expr, struct model_scope *scope,
                                    struct buf *out)
{
    size_t from;
    enum eval_status status = text_first(expr, scope, out, &from);
    uint8_t mark = separator_of(expr).ptr[0];
    size_t more = 0;
    for (size_t i = from; status == EVAL_OK && i < out->len; i++)
        more += out->ptr[i] == '%' || out->ptr[i] == mark ? 2 : 0;
    if (status != EVAL_OK || more == 0)
        return status;
    size_t len = out->len;
    if (buf_reserve(out, more) == NULL)
        return EVAL_BUDGET;
    uint8_t *to = out->ptr + len + more;
    for (const uint8_t *at = out->ptr + len; at > out->ptr + from;) {
        uint8_t byte = *--at;
        if (byte != '%' && byte != mark) {
            *--to = byte;
            continue;
        }
        *--to = (uint8_t) "0123456789ABCDEF"[byte & 15];
        *--to = (uint8_t) "0123456789ABCDEF"[byte >> 4];
        *--to = '%';
    }
    out->len += more;
    return EVAL_OK;
}

static enum eval_status text_forbid(const struct model_expr *expr, struct model_scope *scope,
                                    struct buf *out)
{
    size_t from;
    enum eval_status status = text_first(expr, scope, out, &from);
    if (status != EVAL_OK)
        return status;
    return model_has_separator(expr, slice_of(out->ptr + from, out->len - from)) ? EVAL_UNFIT
                                                                                 : EVAL_OK;
}

static enum eval_status text_raw(const struct model_expr *expr, struct model_scope *scope,
                                 struct buf *out)
{
    return model_eval_text(expr->args[0], scope, out);
}

static enum eval_status text_date(const struct model_expr *expr, struct model_scope *scope,
                                  struct buf *out)
{
    struct slice value;
    struct slice pattern;
    enum eval_status status = two_values(expr, scope, &value, &pattern);
    if (status != EVAL_OK)
        return status;
    struct model_time time;
    bool fits = pattern.ptr[0] == VALUE_TAG_S && model_value_time(value, &time) &&
                model_time_pattern(time.seconds, value_bytes(pattern), out);
    return fits ? EVAL_OK : EVAL_UNFIT;
}

static enum eval_status text_normal(const struct model_expr *expr, struct model_scope *scope,
                                    struct buf *out)
{
    size_t start = out->len;
    enum eval_status status = model_eval_text(expr->args[0], scope, out);
    if (status != EVAL_OK)
        return status;
    if (out->failed)
        return EVAL_BUDGET;
    uint8_t *bytes = out->ptr + start;
    struct slice text = slice_of(bytes, out->len - start);
    count(scope, text.len / BYTES_COPIED);
    if (expr->function == MODEL_FN_TRIM) {
        text = trimmed(text);
        memmove(bytes, text.ptr, text.len);
        out->len = start + text.len;
        return EVAL_OK;
    }
    for (size_t i = 0; i < text.len; i++)
        bytes[i] = cased(bytes[i], expr->function == MODEL_FN_UPPER);
    return EVAL_OK;
}

static enum eval_status text_uuid(const struct model_expr *expr, struct model_scope *scope,
                                  struct buf *out)
{
    (void)expr;
    char uuid[37];
    if (scope->env == NULL)
        return EVAL_MISSING;
    env_uuid(scope->env, uuid);
    buf_add(out, uuid, 36);
    return EVAL_OK;
}

static enum eval_status text_ulid(const struct model_expr *expr, struct model_scope *scope,
                                  struct buf *out)
{
    (void)expr;
    char ulid[27];
    if (scope->env == NULL)
        return EVAL_MISSING;
    env_ulid(scope->env, scope_now(scope), ulid);
    buf_add(out, ulid, sizeof(ulid) - 1);
    return EVAL_OK;
}

// Who writes, how, and what the event is called: told by whoever evaluates a rule.
static enum eval_status text_told(const struct model_expr *expr, struct model_scope *scope,
                                  struct buf *out)
{
    struct slice told = expr->function == MODEL_FN_ACTOR       ? scope->actor
                        : expr->function == MODEL_FN_OPERATION ? scope->operation
                                                               : scope->event;
    buf_slice(out, told);
    return told.len > 0 ? EVAL_OK : EVAL_MISSING;
}

// Functions that give a text, by enum model_function.
static enum eval_status (*const text_calls[MODEL_FUNCTIONS])(const struct model_expr *,
                                                             struct model_scope *, struct buf *) = {
    [MODEL_FN_UUID] = text_uuid,     [MODEL_FN_ULID] = text_ulid,
    [MODEL_FN_LOWER] = text_normal,  [MODEL_FN_UPPER] = text_normal,
    [MODEL_FN_TRIM] = text_normal,   [MODEL_FN_PAD] = text_pad,
    [MODEL_FN_SHA256] = text_sha256, [MODEL_FN_DATE_PART] = text_date,
    [MODEL_FN_FIXED] = text_fixed,   [MODEL_FN_ESCAPE] = text_escape,
    [MODEL_FN_FORBID] = text_forbid, [MODEL_FN_RAW] = text_raw,
    [MODEL_FN_ACTOR] = text_told,    [MODEL_FN_OPERATION] = text_told,
    [MODEL_FN_EVENT] = text_told,
};

// Characters of text, bytes of binary, members of the rest.
static enum eval_status eval_size(const struct model_expr *expr, struct model_scope *scope,
                                  struct slice *out)
{
    struct slice value;
    enum eval_status status = model_eval(expr->args[0], scope, MODEL_ANY, &value);
    if (status != EVAL_OK)
        return status;
    size_t size;
    count(scope, value.len / BYTES_COPIED);
    if (value.ptr[0] == VALUE_TAG_S)
        size = slice_characters(value_bytes(value));
    else if (!value_function_size(value, &size))
        return EVAL_UNFIT;
    return made(model_integer(scope->arena, (int64_t)size), out);
}

// ---- All of them ----------------------------------------------------------------------------

// What is text by nature: made in a buffer, then copied.
static enum eval_status eval_as_text(const struct model_expr *expr, struct model_scope *scope,
                                     struct slice *out)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    enum eval_status status = expr->kind == MODEL_EXPR_TEMPLATE
                                  ? model_template_render(expr->template, scope, &text)
                                  : text_calls[expr->function](expr, scope, &text);
    if (status == EVAL_OK && text.failed)
        status = EVAL_BUDGET;
    if (status == EVAL_OK)
        status = made(model_string(scope->arena, buf_view(&text)), out);
    buf_release(&text);
    return status;
}

static enum eval_status eval_raw(const struct model_expr *expr, struct model_scope *scope,
                                 enum model_kind want, struct slice *out)
{
    enum eval_status status;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        *out = expr->value;
        return EVAL_OK;
    case MODEL_EXPR_PATH:
        return eval_path(expr, scope, out);
    case MODEL_EXPR_PARAM:
        return eval_param(expr, scope, out);
    case MODEL_EXPR_TEMPLATE:
        return eval_as_text(expr, scope, out);
    case MODEL_EXPR_ELSE:
        status = model_eval(expr->args[0], scope, want, out);
        return status == EVAL_MISSING ? model_eval(expr->args[1], scope, want, out) : status;
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        return eval_sum(expr, scope, want, out);
    case MODEL_EXPR_MULTIPLY:
        return eval_product(expr, scope, out);
    case MODEL_EXPR_TAG: // of policies, which are judged elsewhere (guard/permit.h)
        return EVAL_MISSING;
    case MODEL_EXPR_CALL:
        break;
    }
    if (expr->function == MODEL_FN_ITEM || expr->function == MODEL_FN_OLD ||
        expr->function == MODEL_FN_EACH) {
        *out = expr->function == MODEL_FN_ITEM  ? scope->item
               : expr->function == MODEL_FN_OLD ? scope->before
                                                : scope->each;
        return out->len > 0 ? EVAL_OK : EVAL_MISSING;
    }
    if (expr->function == MODEL_FN_NOW)
        return eval_now(scope, want, out);
    if (expr->function >= MODEL_FN_OF_MIGRATIONS)
        return migration_call(expr, scope, out);
    return expr->function == MODEL_FN_SIZE ? eval_size(expr, scope, out)
                                           : eval_as_text(expr, scope, out);
}

enum eval_status model_eval(const struct model_expr *expr, struct model_scope *scope,
                            enum model_kind want, struct slice *value)
{
    struct slice raw;
    count(scope, 1);
    enum eval_status status = eval_raw(expr, scope, want, &raw);
    if (status != EVAL_OK)
        return status;
    return convert(raw, want, scope, value);
}

enum eval_status model_value_text(struct slice value, struct buf *out)
{
    switch ((enum value_tag)value.ptr[0]) {
    case VALUE_TAG_S:
        buf_slice(out, value_bytes(value));
        return EVAL_OK;
    case VALUE_TAG_N: {
        char text[NUMBER_TEXT_MAX];
        buf_add(out, text, number_to_text(value_bytes(value), text));
        return EVAL_OK;
    }
    case VALUE_TAG_TRUE:
    case VALUE_TAG_FALSE:
        buf_text(out, value_bool(value) ? "true" : "false");
        return EVAL_OK;
    case VALUE_TAG_B:
        base64_encode(out, value_bytes(value));
        return EVAL_OK;
    case VALUE_TAG_NULL:
        return EVAL_MISSING;
    default:
        return EVAL_UNFIT;
    }
}

enum eval_status model_eval_text(const struct model_expr *expr, struct model_scope *scope,
                                 struct buf *out)
{
    enum eval_status status;
    struct slice value;
    if (expr->kind == MODEL_EXPR_TEMPLATE)
        return model_template_render(expr->template, scope, out);
    if (expr->kind == MODEL_EXPR_CALL && text_calls[expr->function] != NULL)
        return text_calls[expr->function](expr, scope, out);
    if (expr->kind == MODEL_EXPR_ELSE) {
        size_t start = out->len;
        status = model_eval_text(expr->args[0], scope, out);
        if (status != EVAL_MISSING)
            return status;
        out->len = start;
        return model_eval_text(expr->args[1], scope, out);
    }
    status = model_eval(expr, scope, MODEL_ANY, &value);
    if (status != EVAL_OK)
        return status;
    count(scope, value.len / BYTES_COPIED);
    return model_value_text(value, out);
}
