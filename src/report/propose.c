// See propose.h. Each finding is led to the innermost declaration that it is about, and the type
// there is widened, value by value; then the declarations that have changed become changes of the
// text.
#include "report/propose.h"

#include "eval/validate.h"
#include "guard/plain.h"
#include "infer/draft.h"

enum { TEXT_MAX = 64 << 10, DEPTH_MAX = 8, OPTIONS_MAX = 24 };

// A declaration that is to change: of an attribute or field, or of a named type that is no object.
struct widened {
    const struct model_attribute *attribute; // or
    const struct model_type *named;
    struct slice entity;
    const struct model_type *type; // as it would be
    bool optional;
    bool strict; // not null
    bool changed;
};

// A change of the text: what is replaced, and by what.
struct edit {
    size_t offset;
    size_t length;
    struct slice text;
    bool is_line; // a new one, which begins with a line's end
};

struct proposing {
    const struct report *report;
    const struct model_table *table;
    struct arena *arena;
    bool failed; // no memory
    size_t count;
    struct widened list[PROPOSALS_MAX];
    size_t edit_count;
    struct edit edits[PROPOSALS_MAX];
    struct proposals *out;
};

static void *make(struct proposing *p, const void *from, size_t size)
{
    void *made = arena_alloc(p->arena, size);
    if (made == NULL)
        p->failed = true;
    else
        memcpy(made, from, size);
    return made;
}

// ---- Types that accept a value ------------------------------------------------------------------

static const struct model_type simple_types[] = {
    [VALUE_NULL] = {.kind = MODEL_NULL}, [VALUE_BOOL] = {.kind = MODEL_BOOLEAN},
    [VALUE_N] = {.kind = MODEL_NUMBER},  [VALUE_S] = {.kind = MODEL_STRING},
    [VALUE_B] = {.kind = MODEL_BINARY},  [VALUE_L] = {.kind = MODEL_LIST},
    [VALUE_M] = {.kind = MODEL_OBJECT},  [VALUE_SS] = {.kind = MODEL_SET},
    [VALUE_NS] = {.kind = MODEL_SET},    [VALUE_BS] = {.kind = MODEL_SET},
};

static const struct model_type *simple_type(struct proposing *p, enum value_type type)
{
    static const enum value_type members[] = {
        [VALUE_SS] = VALUE_S, [VALUE_NS] = VALUE_N, [VALUE_BS] = VALUE_B};
    static const struct model_type any = {.kind = MODEL_ANY};
    struct model_type made = simple_types[type];
    if (made.kind == MODEL_SET)
        made.item = &simple_types[members[type]];
    if (made.kind == MODEL_LIST)
        made.item = &any;
    return make(p, &made, sizeof(made));
}

// What was found, as far as it was kept: of a large value only the kind.
struct actual {
    struct slice value; // or VALUE_NONE
    enum value_type type;
};

// False if nothing was there.
static bool actual_of(const struct report_sample *sample, struct actual *out)
{
    static const struct {
        const char *text;
        enum value_type type;
    } words[] = {{"a list", VALUE_L}, {"a map", VALUE_M}, {"a set", VALUE_SS}, {"binary", VALUE_B}};
    *out = (struct actual){sample->value, VALUE_S};
    if (sample->value.len > 0) {
        out->type = value_type(sample->value);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (slice_is(sample->text, words[i].text))
            out->type = words[i].type;
    }
    return !slice_is(sample->text, "nothing");
}

static bool fits(const struct model_type *type, const struct actual *actual)
{
    if (actual->value.len > 0)
        return model_value_fits(type, actual->value);
    // It is large, and not the kind of thing that has other limits than its length.
    return model_type_stores(type, actual->type) && type->max.len == 0 &&
           (type->kind == MODEL_STRING || type->kind == MODEL_BINARY || type->kind == MODEL_LIST ||
            type->kind == MODEL_SET || type->kind == MODEL_RECORD || type->kind == MODEL_OBJECT ||
            type->kind == MODEL_ANY);
}

// The type with fewer limits, if one of these accepts the value; else NULL.
static const struct model_type *relaxed(struct proposing *p, const struct model_type *type,
                                        const struct actual *actual)
{
    bool text = model_type_stores(type, VALUE_S);
    struct model_type tries[5];
    if (type->kind == MODEL_LITERAL || !model_type_stores(type, actual->type))
        return NULL;
    for (size_t i = 0; i < COUNT_OF(tries); i++)
        tries[i] = *type;
    tries[0].max = VALUE_NONE;
    tries[1].min = VALUE_NONE;
    tries[2].min = tries[2].max = VALUE_NONE;
    tries[3].kind = type->kind == MODEL_INTEGER || type->kind == MODEL_EPOCH ? MODEL_NUMBER
                    : text                                                   ? MODEL_STRING
                                                                             : type->kind;
    tries[4] = (struct model_type){.kind = tries[3].kind, .item = type->item};
    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        if (fits(&tries[i], actual))
            return make(p, &tries[i], sizeof(tries[i]));
    }
    return NULL;
}

static const struct model_type *with_option(struct proposing *p, const struct model_type *type,
                                            const struct model_type *option)
{
    const struct model_type *options[OPTIONS_MAX];
    size_t count = 0;
    if (type->kind != MODEL_UNION)
        options[count++] = type;
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (count < OPTIONS_MAX - 1)
            options[count++] = type->options[i];
    }
    options[count++] = option;
    struct model_type made = {.kind = MODEL_UNION, .option_count = count};
    made.options = make(p, options, count * sizeof(*options));
    return made.options == NULL ? type : make(p, &made, sizeof(made));
}

// Without the literals of a kind: they are too many to be told.
static const struct model_type *without_literals(struct proposing *p, const struct model_type *type,
                                                 enum value_type stored)
{
    const struct model_type *options[OPTIONS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < type->option_count && count < OPTIONS_MAX; i++) {
        const struct model_type *option = type->options[i];
        if (option->kind != MODEL_LITERAL || value_type(option->literal) != stored)
            options[count++] = option;
    }
    struct model_type made = {.kind = MODEL_UNION, .option_count = count};
    made.options = make(p, options, (count + 1) * sizeof(*options));
    const struct model_type *rest = make(p, &made, sizeof(made));
    const struct model_type *simple = simple_type(p, stored);
    if (rest == NULL || made.options == NULL || simple == NULL)
        return type;
    return count == 0 ? simple : with_option(p, rest, simple);
}

// A choice of literals gets another one, unless there have been as many as are kept.
static const struct model_type *with_literal(struct proposing *p, const struct model_type *type,
                                             const struct actual *actual, bool many)
{
    struct model_type literal = {.kind = MODEL_LITERAL, .literal = actual->value};
    const struct model_type *made = make(p, &literal, sizeof(literal));
    const struct model_type *choice = type;
    if (type->kind == MODEL_LITERAL)
        choice = with_option(p, type, made);
    if (made == NULL || p->failed)
        return type;
    if (many)
        return without_literals(p, choice, actual->type);
    return type->kind == MODEL_LITERAL ? choice : with_option(p, type, made);
}

static bool has_literals(const struct model_type *type, enum value_type stored)
{
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (type->options[i]->kind == MODEL_LITERAL &&
            value_type(type->options[i]->literal) == stored)
            return true;
    }
    return type->kind == MODEL_LITERAL && value_type(type->literal) == stored;
}

// The type, wide enough for the value; the same if it is.
static const struct model_type *accept(struct proposing *p, const struct model_type *type,
                                       const struct actual *actual, bool many)
{
    if (fits(type, actual))
        return type;
    if (actual->value.len > 0 && has_literals(type, actual->type))
        return with_literal(p, type, actual, many);
    const struct model_type *wider = type->kind == MODEL_UNION ? NULL : relaxed(p, type, actual);
    for (size_t i = 0; type->kind == MODEL_UNION && wider == NULL && i < type->option_count; i++) {
        const struct model_type *option = relaxed(p, type->options[i], actual);
        if (option == NULL)
            continue;
        struct model_type made = *type;
        const struct model_type **options =
            make(p, type->options, type->option_count * sizeof(*type->options));
        if (options == NULL)
            return type;
        options[i] = option;
        made.options = options;
        made.name = slice_of(NULL, 0);
        wider = make(p, &made, sizeof(made));
    }
    if (wider == NULL)
        wider = with_option(p, type, simple_type(p, actual->type));
    return p->failed ? type : wider;
}

// ---- Places ---------------------------------------------------------------------------------

// The declaration that a finding is about, and what leads from its type to the place: members of
// lists and records.
struct place {
    const struct model_attribute *attribute; // NULL if it is new:
    const struct model_entity *entity;       // one of this entity,
    const struct model_type *object;         // or of this object, if it is not NULL
    const struct model_type *named;          // the declaration is that of a named type instead
    struct slice name;
    size_t depth; // from the declaration,
    size_t below; // and from the attribute, if these are not the same
};

// A type that has its own declaration, which is changed instead of the attribute's.
static void enter_type(struct place *place, const struct model_type *type)
{
    if (type->name.len > 0 && type->kind != MODEL_OBJECT && type->written.len > 0) {
        place->named = type;
        place->name = type->name;
        place->depth = 0;
    }
}

// A step of a JSON pointer as a name: ~1 is a slash, ~0 a tilde.
static struct slice next_name(struct proposing *p, struct slice *rest)
{
    struct slice step = slice_cut(rest, '/');
    uint8_t *name = arena_alloc(p->arena, step.len + 1);
    size_t len = 0;
    if (name == NULL) {
        p->failed = true;
        return step;
    }
    for (size_t i = 0; i < step.len; i++) {
        bool escape = step.ptr[i] == '~' && i + 1 < step.len;
        name[len++] = escape ? (step.ptr[++i] == '1' ? '/' : '~') : step.ptr[i];
    }
    return slice_of(name, len);
}

// False if there is no such place, or one that no line of the model can change.
static bool find_place(struct proposing *p, const struct report_finding *finding,
                       struct place *place)
{
    const struct model_entity *entity = model_table_entity(p->table, finding->entity);
    struct slice rest = finding->path;
    if (entity == NULL || rest.len < 2)
        return false;
    (void)slice_cut(&rest, '/');
    struct slice step = next_name(p, &rest);
    *place = (struct place){.entity = entity, .name = step};
    place->attribute = model_entity_attribute(entity, step);
    if (place->attribute == NULL)
        return rest.len == 0 && !model_table_derives(p->table, entity, step);
    const struct model_type *type = place->attribute->type;
    enter_type(place, type);
    while (rest.len > 0) {
        step = next_name(p, &rest);
        type = report_container(type);
        if (type->kind == MODEL_OBJECT) {
            *place = (struct place){.entity = entity, .object = type, .name = step};
            place->attribute = model_type_field(type, step);
            if (place->attribute == NULL)
                return rest.len == 0 && type->field_count > 0;
            type = place->attribute->type;
        } else if ((type->kind == MODEL_LIST || type->kind == MODEL_RECORD) && type->item != NULL) {
            place->depth++;
            place->below++;
            type = type->item;
        } else {
            return false;
        }
        enter_type(place, type);
    }
    return place->depth <= DEPTH_MAX;
}

// The type with the values accepted `depth` members further inside.
static const struct model_type *accept_inside(struct proposing *p, const struct model_type *type,
                                              size_t depth, const struct actual *actual, bool many)
{
    if (depth == 0)
        return accept(p, type, actual, many);
    struct model_type made = *report_container(type);
    made.item = accept_inside(p, made.item, depth - 1, actual, many);
    // A union of which only one option is a container: the others stay.
    if (type->kind != MODEL_UNION)
        return made.item == type->item ? type : make(p, &made, sizeof(made));
    struct model_type whole = *type;
    const struct model_type **options =
        make(p, type->options, type->option_count * sizeof(*type->options));
    const struct model_type *option = make(p, &made, sizeof(made));
    for (size_t i = 0; options != NULL && i < type->option_count; i++) {
        if (type->options[i] == report_container(type))
            options[i] = option;
    }
    whole.options = options;
    return p->failed ? type : make(p, &whole, sizeof(whole));
}

// ---- Findings -------------------------------------------------------------------------------

static struct widened *widened_of(struct proposing *p, const struct place *place)
{
    for (size_t i = 0; i < p->count; i++) {
        struct widened *one = &p->list[i];
        if (place->named != NULL ? one->named == place->named
                                 : one->attribute == place->attribute && one->named == NULL)
            return one;
    }
    if (p->count == PROPOSALS_MAX)
        return NULL;
    struct widened *one = &p->list[p->count++];
    *one = (struct widened){.entity = place->entity->name};
    one->named = place->named;
    one->attribute = place->attribute;
    one->type = place->named != NULL ? place->named : place->attribute->type;
    one->optional = place->named == NULL && place->attribute->optional;
    one->strict = one->optional && place->attribute->strict;
    if (place->named != NULL) {
        struct model_type bare = *place->named;
        bare.name = slice_of(NULL, 0);
        one->type = make(p, &bare, sizeof(bare));
    }
    return one;
}

// What is missing, and null where only that is too much, is for the mark of the attribute, whatever
// its type is called. False if it has the mark, or is not an attribute but a member of a list.
static bool widen_mark(struct proposing *p, const struct place *place, bool null)
{
    struct place attribute = *place;
    attribute.named = NULL;
    struct widened *one = place->below == 0 ? widened_of(p, &attribute) : NULL;
    if (one == NULL || (null ? !one->strict : one->optional))
        return false;
    one->optional = true;
    one->strict = false;
    one->changed = true;
    return true;
}

// Whether something of the declaration has become wider.
static bool widen(struct proposing *p, const struct report_finding *finding,
                  const struct place *place)
{
    bool many = finding->sample_count == REPORT_SAMPLES;
    bool changed = false;
    for (size_t i = 0; !p->failed && i < finding->sample_count; i++) {
        struct actual actual;
        bool there = actual_of(&finding->samples[i], &actual);
        if ((!there || actual.type == VALUE_NULL) && widen_mark(p, place, there)) {
            changed = true;
            continue;
        }
        struct widened *one = there ? widened_of(p, place) : NULL;
        if (one == NULL)
            continue;
        const struct model_type *wider = accept_inside(p, one->type, place->depth, &actual, many);
        one->changed = one->changed || wider != one->type;
        changed = changed || wider != one->type;
        one->type = wider;
    }
    return changed;
}

// ---- Changes of the text ----------------------------------------------------------------------

static size_t line_begin(struct slice text, size_t offset)
{
    while (offset > 0 && text.ptr[offset - 1] != '\n')
        offset--;
    return offset;
}

static size_t line_end(struct slice text, size_t offset)
{
    while (offset < text.len && text.ptr[offset] != '\n')
        offset++;
    return offset;
}

// Where it begins behind its blanks.
static size_t line_start(struct slice text, size_t offset)
{
    offset = line_begin(text, offset);
    while (offset < text.len && (text.ptr[offset] == ' ' || text.ptr[offset] == '\t'))
        offset++;
    return offset;
}

static bool is_within(struct slice whole, struct slice part)
{
    return part.len > 0 && part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static struct slice keep(struct proposing *p, struct buf *text)
{
    struct slice kept = arena_copy(p->arena, buf_view(text));
    p->failed = p->failed || kept.ptr == NULL || text->failed;
    buf_release(text);
    return kept;
}

// Edits are in the order of their places, and at one place in the order in which they come.
static void add_edit(struct proposing *p, struct edit edit)
{
    size_t at = p->edit_count;
    if (at == PROPOSALS_MAX)
        return;
    for (; at > 0 && p->edits[at - 1].offset > edit.offset; at--)
        p->edits[at] = p->edits[at - 1];
    p->edits[at] = edit;
    p->edit_count++;
}

// A declaration with another type.
static void change_type(struct proposing *p, const struct widened *one)
{
    struct slice text = p->table->model->text;
    struct slice written = one->named != NULL ? one->named->written : one->attribute->written;
    // `name?: T` has its mark in front.
    bool marked = one->named == NULL && one->attribute->optional && !one->attribute->strict &&
                  (written.len == 0 || written.ptr[written.len - 1] != '?');
    struct buf type;
    if (!is_within(text, written))
        return;
    buf_init(&type, TEXT_MAX);
    model_type_text(one->type, &type);
    if (one->optional && !marked)
        buf_text(&type, one->strict ? "?!" : "?");
    add_edit(p, (struct edit){.offset = (size_t)(written.ptr - text.ptr),
                              .length = written.len,
                              .text = keep(p, &type)});
}

// Behind which a new attribute stands: the last one in the file.
static const struct model_attribute *last_of(const struct place *place)
{
    bool field = place->object != NULL;
    const struct model_attribute *list = field ? place->object->fields : place->entity->attributes;
    size_t count = field ? place->object->field_count : place->entity->attribute_count;
    const struct model_attribute *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (last == NULL || list[i].written.ptr > last->written.ptr)
            last = &list[i];
    }
    return last;
}

// A new attribute on a line of its own, with its type below that of the last one; or a field behind
// the last one of an object that stands on one line. True if there is a place for it.
static bool add_attribute(struct proposing *p, const struct report_finding *finding,
                          const struct place *place)
{
    const struct model_attribute *last = last_of(place);
    struct slice text = p->table->model->text;
    struct slice type;
    if (last == NULL || !is_within(text, last->written) ||
        memchr(place->name.ptr, '`', place->name.len) != NULL ||
        place->name.len > LIMIT_MODEL_NAME || !propose_type(place->name, finding, p->arena, &type))
        return false;
    size_t at = (size_t)(last->written.ptr - text.ptr);
    size_t behind = at + last->written.len;
    size_t end = line_end(text, behind);
    bool inside = place->object != NULL && memchr(text.ptr + behind, '}', end - behind) != NULL;
    struct buf line;
    buf_init(&line, TEXT_MAX);
    if (inside) {
        buf_text(&line, "  ");
    } else {
        size_t begin = line_begin(text, at);
        buf_byte(&line, '\n');
        buf_add(&line, text.ptr + begin, line_start(text, at) - begin);
    }
    size_t start = line.len;
    draft_put_name(&line, place->name);
    buf_text(&line, place->object != NULL ? ": " : " ");
    while (!inside && place->object == NULL && line.len - start < at - line_start(text, at))
        buf_byte(&line, ' ');
    buf_printf(&line, "%.*s?", SLICE_FMT(type));
    add_edit(p, (struct edit){
                    .offset = inside ? behind : end, .text = keep(p, &line), .is_line = !inside});
    return true;
}

// ---- The file -------------------------------------------------------------------------------

// Of changes that lie within another one only the outer is made; the rest is for the next time.
static void drop_inner(struct proposing *p)
{
    size_t kept = 0;
    size_t end = 0;
    for (size_t i = 0; i < p->edit_count; i++) {
        if (p->edits[i].offset < end)
            continue;
        if (p->edits[i].offset + p->edits[i].length > end)
            end = p->edits[i].offset + p->edits[i].length;
        p->edits[kept++] = p->edits[i];
    }
    p->edit_count = kept;
}

// The text between two places, with the edits in between that are no lines of their own.
static void put_edited(const struct proposing *p, size_t from, size_t to, bool lines,
                       struct buf *out)
{
    struct slice text = p->table->model->text;
    for (size_t i = 0; i < p->edit_count; i++) {
        const struct edit *one = &p->edits[i];
        if (one->offset < from || one->offset > to || (one->is_line && !lines))
            continue;
        buf_add(out, text.ptr + from, one->offset - from);
        buf_slice(out, one->text);
        from = one->offset + one->length;
    }
    buf_add(out, text.ptr + from, to > from ? to - from : 0);
}

static void add_line(struct proposing *p, uint32_t at, bool is_new, struct slice line)
{
    if (p->out->count < PROPOSALS_MAX)
        p->out->list[p->out->count++] = (struct proposal){at, is_new, line};
}

// The lines that have changed, and those that are new.
static void gather_lines(struct proposing *p)
{
    struct slice text = p->table->model->text;
    size_t done = 0; // lines that begin before it
    uint32_t number = 1;
    size_t counted = 0;
    for (size_t i = 0; i < p->edit_count && !p->failed; i++) {
        const struct edit *one = &p->edits[i];
        for (; counted < one->offset; counted++)
            number += text.ptr[counted] == '\n';
        size_t begin = line_begin(text, one->offset);
        struct buf line;
        buf_init(&line, TEXT_MAX);
        if (one->is_line) {
            struct slice whole = slice_trim(slice_of(one->text.ptr + 1, one->text.len - 1));
            buf_slice(&line, whole);
        } else if (begin >= done) {
            done = line_end(text, one->offset + one->length);
            put_edited(p, line_start(text, one->offset), done, false, &line);
        }
        if (line.len > 0)
            add_line(p, number, one->is_line, keep(p, &line));
        else
            buf_release(&line);
    }
}

static void write_file(struct proposing *p)
{
    struct buf file;
    buf_init(&file, 2 * (size_t)LIMIT_MODEL_FILE);
    put_edited(p, 0, p->table->model->text.len, true, &file);
    buf_slice(&file, p->out->entities);
    p->out->model = keep(p, &file);
}

bool report_propose(const struct report *report, const struct model_table *table,
                    struct arena *arena, struct proposals *out)
{
    struct proposing *p = arena_zalloc(arena, 1, sizeof(*p));
    *out = (struct proposals){.count = 0};
    if (p == NULL)
        return false;
    p->report = report;
    p->table = table;
    p->arena = arena;
    p->out = out;
    for (size_t i = 0; i < report->count; i++) {
        const struct report_finding *finding = &report->list[i];
        struct place place;
        bool found =
            find_place(p, finding, &place) &&
            (place.attribute == NULL && place.named == NULL ? add_attribute(p, finding, &place)
                                                            : widen(p, finding, &place));
        if (!found)
            out->left[out->left_count++] = i;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].changed)
            change_type(p, &p->list[i]);
    }
    drop_inner(p);
    gather_lines(p);
    if (p->failed || !propose_entities(report, table, arena, out))
        return false;
    write_file(p);
    return !p->failed;
}
