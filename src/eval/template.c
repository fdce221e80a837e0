// See template.h. Rendering appends segment by segment. Matching walks literals through the key:
// what is between two of them is a field. Runs of fields without a literal between them match
// together, and none of them can be read.
#include "eval/template.h"

#include "base/encode.h"
#include "eval/validate.h"
#include "value/number.h"

enum eval_status model_template_render(const struct model_template *template,
                                       struct model_scope *scope, struct buf *out)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        if (segment->expr == NULL) {
            buf_slice(out, segment->literal);
            continue;
        }
        enum eval_status status = model_eval_text(segment->expr, scope, out);
        if (status != EVAL_OK)
            return status;
    }
    return out->failed ? EVAL_BUDGET : EVAL_OK;
}

static bool is_empty(struct slice value)
{
    return value_bytes(value).len == 0;
}

static enum eval_status number_of_text(struct slice text, struct arena *arena, struct slice *value)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    if (number_from_text(text, stored, &len) != NUMBER_OK)
        return EVAL_UNFIT;
    *value = model_number(arena, slice_of(stored, len));
    return value->ptr != NULL ? EVAL_OK : EVAL_BUDGET;
}

static enum eval_status bare_value(const struct model_template *template, struct model_scope *scope,
                                   enum value_type type, struct slice *value)
{
    struct slice found;
    enum eval_status status = model_eval(template->segments[0].expr, scope, MODEL_ANY, &found);
    if (status != EVAL_OK)
        return status;
    if (value_type(found) != type || is_empty(found))
        return EVAL_MISSING;
    *value = found;
    return EVAL_OK;
}

enum eval_status model_template_value(const struct model_template *template,
                                      struct model_scope *scope, enum value_type type,
                                      struct buf *scratch, struct slice *value)
{
    if (template->bare)
        return bare_value(template, scope, type, value);
    buf_clear(scratch);
    enum eval_status status = model_template_render(template, scope, scratch);
    if (status != EVAL_OK)
        return status;
    struct slice text = buf_view(scratch);
    if (text.len == 0)
        return EVAL_MISSING;
    if (type == VALUE_N)
        return number_of_text(text, scope->arena, value);
    struct slice made = model_string(scope->arena, text);
    if (made.ptr == NULL)
        return EVAL_BUDGET;
    if (type == VALUE_B)
        ((uint8_t *)made.ptr)[0] = VALUE_TAG_B;
    *value = made;
    return EVAL_OK;
}

// ---- Matching -------------------------------------------------------------------------------

static bool is_call(const struct model_expr *expr, enum model_function function)
{
    return expr != NULL && expr->kind == MODEL_EXPR_CALL && expr->function == function;
}

const struct model_expr *model_segment_path(const struct model_segment *segment)
{
    const struct model_expr *expr = segment->expr;
    if (is_call(expr, MODEL_FN_ESCAPE) || is_call(expr, MODEL_FN_FORBID))
        expr = expr->args[0];
    if (is_call(expr, MODEL_FN_PAD))
        expr = expr->args[0];
    return expr != NULL && expr->kind == MODEL_EXPR_PATH ? expr : NULL;
}

bool model_segment_tells(const struct model_segment *segment)
{
    const struct model_expr *path = model_segment_path(segment);
    const struct model_type *type = path == NULL ? NULL : model_path_type(path);
    const struct model_expr *inner = segment->expr;
    if (is_call(inner, MODEL_FN_ESCAPE) || is_call(inner, MODEL_FN_FORBID))
        inner = inner->args[0];
    if (path == NULL)
        return false;
    return type == NULL || model_type_stores(type, VALUE_S)
               ? inner == path
               : model_type_stores(type, VALUE_N) || model_type_stores(type, VALUE_BOOL);
}

// The next piece of a key by its template: *at is the first segment of a run of fields, or a
// literal, and moves behind it.
struct walk {
    const struct model_template *template;
    size_t at;
    struct slice rest;
    const struct model_segment *field; // if the piece is one field alone
    struct slice text;                 // of the piece
};

static bool take_literal(struct walk *walk, struct slice literal)
{
    if (!slice_begins(walk->rest, literal))
        return false;
    walk->rest = slice_of(walk->rest.ptr + literal.len, walk->rest.len - literal.len);
    return true;
}

// How long the field in front of a literal is; the whole rest is too long to be right if the
// literal does not come.
static size_t field_len(const struct walk *walk, struct slice literal, bool last)
{
    if (last && walk->rest.len > literal.len) {
        size_t len = walk->rest.len - literal.len;
        return memcmp(walk->rest.ptr + len, literal.ptr, literal.len) == 0 ? len : 0;
    }
    // A field is not empty, so that the literal cannot begin where the field does.
    if (walk->rest.len < 2)
        return 0;
    const uint8_t *found = memmem(walk->rest.ptr + 1, walk->rest.len - 1, literal.ptr, literal.len);
    return found != NULL ? (size_t)(found - walk->rest.ptr) : 0;
}

static bool take_fields(struct walk *walk)
{
    const struct model_template *template = walk->template;
    size_t first = walk->at;
    while (walk->at < template->segment_count && template->segments[walk->at].expr != NULL)
        walk->at++;
    size_t len = walk->rest.len;
    if (walk->at < template->segment_count)
        len = field_len(walk, template->segments[walk->at].literal,
                        walk->at + 1 == template->segment_count);
    if (len == 0)
        return false;
    walk->field = walk->at == first + 1 ? &template->segments[first] : NULL;
    walk->text = slice_of(walk->rest.ptr, len);
    walk->rest = slice_of(walk->rest.ptr + len, walk->rest.len - len);
    return true;
}

static bool walk_piece(struct walk *walk)
{
    const struct model_segment *segment = &walk->template->segments[walk->at];
    walk->field = NULL;
    if (segment->expr != NULL)
        return take_fields(walk);
    walk->at++;
    return take_literal(walk, segment->literal);
}

bool model_template_fits(const struct model_template *template, struct slice key)
{
    if (template->bare)
        return true;
    uint8_t tag = key.ptr[0];
    if (tag != VALUE_TAG_S && tag != VALUE_TAG_B)
        return tag == VALUE_TAG_N;
    struct walk walk = {.template = template, .rest = value_bytes(key)};
    while (walk.at < template->segment_count)
        if (!walk_piece(&walk))
            return false;
    return walk.rest.len == 0;
}

static struct slice bool_of_text(struct slice text)
{
    static const uint8_t tags[] = {VALUE_TAG_FALSE, VALUE_TAG_TRUE};
    if (slice_is(text, "true"))
        return slice_of(&tags[1], 1);
    return slice_is(text, "false") ? slice_of(&tags[0], 1) : VALUE_NONE;
}

// The text that text_escape() made this of; VALUE_NONE if it is none, or if memory is out.
static struct slice unescaped(struct slice text, struct arena *arena)
{
    uint8_t *made = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; made != NULL && i < text.len; i++, len++) {
        made[len] = text.ptr[i];
        if (text.ptr[i] != '%')
            continue;
        int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
        if (high < 0 || low < 0)
            return VALUE_NONE;
        made[len] = (uint8_t)(high << 4 | low);
        i += 2;
    }
    return made == NULL ? VALUE_NONE : slice_of(made, len);
}

// A field's text as its attribute stores it. Padding is taken away from numbers only: whether a
// text had zeros of its own, nobody knows, so that a padded text is not read; neither is binary.
static bool read_field(const struct model_segment *segment, const struct model_expr *path,
                       struct slice text, struct arena *arena, struct model_match *match)
{
    const struct model_type *type = model_path_type(path);
    struct slice value = VALUE_NONE;
    if (!model_segment_tells(segment))
        return true;
    if (is_call(segment->expr, MODEL_FN_ESCAPE)) {
        text = unescaped(text, arena);
        if (text.ptr == NULL)
            return false;
    }
    if (type == NULL || model_type_stores(type, VALUE_S)) {
        value = model_string(arena, text);
    } else if (model_type_stores(type, VALUE_N)) {
        if (number_of_text(text, arena, &value) != EVAL_OK)
            return false;
    } else {
        value = bool_of_text(text);
    }
    if (value.len == 0)
        return false;
    if (match->count < MODEL_FIELDS_MAX)
        match->fields[match->count++] = (struct model_field){path, value};
    return true;
}

bool model_template_match(const struct model_template *template, struct slice key,
                          struct arena *arena, struct model_match *match)
{
    match->count = 0;
    if (template->bare) {
        const struct model_expr *expr = template->segments[0].expr;
        if (expr->kind == MODEL_EXPR_PATH)
            match->fields[match->count++] = (struct model_field){expr, key};
        return true;
    }
    uint8_t tag = key.ptr[0];
    if (tag != VALUE_TAG_S && tag != VALUE_TAG_B)
        return tag == VALUE_TAG_N;
    struct walk walk = {.template = template, .rest = value_bytes(key)};
    while (walk.at < template->segment_count) {
        if (!walk_piece(&walk))
            return false;
        const struct model_expr *path = walk.field != NULL ? model_segment_path(walk.field) : NULL;
        if (path != NULL && !read_field(walk.field, path, walk.text, arena, match))
            return false;
    }
    return walk.rest.len == 0;
}

// How often a literal stands in a text, those that overlap too; no more than `most` are counted.
static size_t occurrences(struct slice text, struct slice literal, size_t most)
{
    size_t count = 0;
    size_t at = 0;
    while (count < most && at + literal.len <= text.len) {
        const uint8_t *found = memmem(text.ptr + at, text.len - at, literal.ptr, literal.len);
        if (found == NULL)
            break;
        count++;
        at = (size_t)(found - text.ptr) + 1;
    }
    return count;
}

bool model_template_clear(const struct model_template *template, struct slice key)
{
    for (size_t i = 1; i + 1 < template->segment_count; i++) {
        const struct model_segment *between = &template->segments[i];
        size_t expected = 0;
        if (between->expr != NULL)
            continue;
        for (size_t k = 0; k < template->segment_count; k++) {
            if (template->segments[k].expr == NULL)
                expected += occurrences(template->segments[k].literal, between->literal, SIZE_MAX);
        }
        if (occurrences(key, between->literal, expected + 1) != expected)
            return false;
    }
    return true;
}
