// The texts that a key can be, as a machine: literals are bytes in a row, a field is whatever its
// type allows. Two keys can collide if some text is accepted by both machines, which a search over
// pairs of states finds, together with an example.
//
// Free text is taken to be without '#' and '|': that it may contain the delimiter is a smell of its
// own, and would make everything collide with everything. A machine that would be too large ends
// early, and then accepts more than it should: rules may warn too often then, never too rarely.
#include "lint/lint_internal.h"

#include "value/number.h"

#include <stdlib.h>

enum { STATES_MAX = 1200, OPTIONS_MAX = 64, NOWHERE = -1 };

struct letters {
    uint64_t bits[4];
};

struct state {
    struct letters on; // reading one of these leads to
    int32_t to;
    int32_t free[2]; // these are reached without reading
};

struct machine {
    struct state *states;
    int32_t count;
    int32_t at;  // the last state so far: the one that accepts
    bool capped; // STATES_MAX is reached: anything may follow
};

// ---- Building ------------------------------------------------------------------------------

static void letters_add(struct letters *letters, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        letters->bits[c >> 6] |= (uint64_t)1 << (c & 63);
}

static struct letters letters_of(const char *text)
{
    struct letters letters = {{0}};
    for (; *text != 0; text++)
        letters_add(&letters, (uint8_t)*text, (uint8_t)*text);
    return letters;
}

static struct letters letters_digits(void)
{
    return letters_of("0123456789");
}

static struct letters letters_free(void)
{
    struct letters letters = {{0}};
    letters_add(&letters, 0x20, 0x22);
    letters_add(&letters, 0x24, 0x7b);
    letters_add(&letters, 0x7d, 0x7e);
    letters_add(&letters, 0x80, 0xff);
    return letters;
}

static int32_t state_new(struct machine *m)
{
    if (m->count == STATES_MAX) {
        m->capped = true;
        return m->count - 1;
    }
    m->states[m->count] = (struct state){.to = NOWHERE, .free = {NOWHERE, NOWHERE}};
    return m->count++;
}

static void free_edge(struct machine *m, int32_t from, int32_t to)
{
    struct state *state = &m->states[from];
    state->free[state->free[0] == NOWHERE ? 0 : 1] = to;
}

static void read_one(struct machine *m, struct letters letters)
{
    if (m->capped)
        return;
    int32_t next = state_new(m);
    m->states[m->at].on = letters;
    m->states[m->at].to = next;
    m->at = next;
}

// `more` is a loop on a state of its own: the one before may read something else, too.
static void read_many(struct machine *m, struct letters letters, unsigned least, bool more)
{
    for (unsigned i = 0; i < least; i++)
        read_one(m, letters);
    if (!more || m->capped)
        return;
    int32_t loop = state_new(m);
    int32_t after = state_new(m);
    free_edge(m, m->at, loop);
    m->states[loop].on = letters;
    m->states[loop].to = loop;
    free_edge(m, loop, after);
    m->at = after;
}

// Some text of which nothing is known.
static void read_free(struct machine *m)
{
    read_many(m, letters_free(), 1, true);
}

static void read_text(struct machine *m, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        struct letters one = {{0}};
        letters_add(&one, text.ptr[i], text.ptr[i]);
        read_one(m, one);
    }
}

// '9' digit, 'x' hexadecimal digit, everything else itself.
static void read_form(struct machine *m, const char *form)
{
    for (; *form != 0; form++) {
        char itself[2] = {*form, 0};
        read_one(m, *form == '9'   ? letters_digits()
                    : *form == 'x' ? letters_of("0123456789abcdefABCDEF")
                                   : letters_of(itself));
    }
}

// Alternatives: each begins at `fork`, and all end at `join`. A state has two free edges only, so
// that forks are a chain.
struct choice {
    int32_t fork;
    int32_t join;
};

static struct choice choice_open(struct machine *m)
{
    struct choice choice = {.fork = m->at, .join = state_new(m)};
    return choice;
}

static void choice_next(struct machine *m, struct choice *choice)
{
    int32_t begin = state_new(m);
    int32_t more = state_new(m);
    if (m->capped)
        return;
    free_edge(m, choice->fork, begin);
    free_edge(m, choice->fork, more);
    choice->fork = more;
    m->at = begin;
}

static void choice_done(struct machine *m, const struct choice *choice)
{
    if (!m->capped)
        free_edge(m, m->at, choice->join);
}

static void choice_close(struct machine *m, const struct choice *choice)
{
    if (!m->capped)
        m->at = choice->join;
}

// ---- Types and expressions -----------------------------------------------------------------

static void read_type(struct machine *m, const struct model_type *type);

static void read_literal(struct machine *m, struct slice value)
{
    if (value.len == 0)
        return;
    switch (value_type(value)) {
    case VALUE_S:
        read_text(m, value_bytes(value));
        return;
    case VALUE_N: {
        char text[NUMBER_TEXT_MAX];
        read_text(m, slice_of(text, number_to_text(value_bytes(value), text)));
        return;
    }
    case VALUE_BOOL:
        read_text(m, value_bool(value) ? SLICE_LIT("true") : SLICE_LIT("false"));
        return;
    default:
        read_free(m);
    }
}

static void read_options(struct machine *m, const struct model_type *type)
{
    if (type->option_count > OPTIONS_MAX) {
        read_free(m);
        return;
    }
    struct choice choice = choice_open(m);
    for (size_t i = 0; i < type->option_count; i++) {
        if (type->options[i]->kind == MODEL_NULL)
            continue;
        choice_next(m, &choice);
        read_type(m, type->options[i]);
        choice_done(m, &choice);
    }
    choice_close(m, &choice);
}

static void read_type(struct machine *m, const struct model_type *type)
{
    if (type == NULL) {
        read_free(m);
        return;
    }
    switch (type->kind) {
    case MODEL_LITERAL:
        read_literal(m, type->literal);
        return;
    case MODEL_UNION:
        read_options(m, type);
        return;
    case MODEL_BOOLEAN: {
        struct choice choice = choice_open(m);
        choice_next(m, &choice);
        read_text(m, SLICE_LIT("true"));
        choice_done(m, &choice);
        choice_next(m, &choice);
        read_text(m, SLICE_LIT("false"));
        choice_done(m, &choice);
        choice_close(m, &choice);
        return;
    }
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_EPOCH:
        read_many(m, letters_of("0123456789.-"), 1, true);
        return;
    case MODEL_UUID:
        read_form(m, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
        return;
    case MODEL_DATE:
        read_form(m, "9999-99-99");
        return;
    case MODEL_TIMESTAMP:
        read_form(m, "9999-99-99T99:99");
        read_many(m, letters_of("0123456789:.Z+-"), 1, true);
        return;
    case MODEL_EMAIL:
        read_free(m);
        read_one(m, letters_of("@"));
        read_free(m);
        return;
    default:
        read_free(m);
    }
}

static void read_template(struct machine *m, const struct model_access *access,
                          const struct model_template *template);

static void read_expr(struct machine *m, const struct model_access *access,
                      const struct model_expr *expr);

// A padded number has digits only; text may be filled with anything.
static void read_padded(struct machine *m, const struct model_expr *expr)
{
    struct lint_fields fields;
    lint_expr_fields(expr, &fields);
    if (fields.count == 1 && lint_type_numeric(fields.list[0].type))
        read_many(m, letters_digits(), (unsigned)fields.list[0].pad, true);
    else
        read_free(m);
}

static void read_call(struct machine *m, const struct model_expr *expr)
{
    const struct model_expr *first = expr->arg_count > 0 ? expr->args[0] : NULL;
    switch (expr->function) {
    case MODEL_FN_PAD:
        read_padded(m, expr);
        return;
    case MODEL_FN_LOWER:
    case MODEL_FN_UPPER:
    case MODEL_FN_TRIM:
        if (first != NULL && first->kind == MODEL_EXPR_PATH && first->attribute != NULL &&
            lint_type_cardinality(first->attribute->type) == 0)
            read_expr(m, NULL, first);
        else
            read_free(m);
        return;
    case MODEL_FN_SHA256:
        for (int i = 0; i < 8; i++)
            read_form(m, "xxxxxxxx");
        return;
    case MODEL_FN_UUID:
        read_form(m, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
        return;
    case MODEL_FN_SIZE:
        read_many(m, letters_digits(), 1, true);
        return;
    case MODEL_FN_DATE_PART:
        read_many(m, letters_of("0123456789-/:. T_"), 1, true);
        return;
    default: // some text
        read_free(m);
    }
}

static void read_expr(struct machine *m, const struct model_access *access,
                      const struct model_expr *expr)
{
    struct lint_fields fields;
    struct choice choice;
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        read_literal(m, expr->value);
        return;
    case MODEL_EXPR_PATH:
        lint_expr_fields(expr, &fields);
        read_type(m, fields.list[0].type);
        return;
    case MODEL_EXPR_PARAM:
        read_type(m, access != NULL && expr->param < access->param_count
                         ? access->params[expr->param].type
                         : NULL);
        return;
    case MODEL_EXPR_TEMPLATE:
        read_template(m, access, expr->template);
        return;
    case MODEL_EXPR_CALL:
        read_call(m, expr);
        return;
    case MODEL_EXPR_ELSE:
        choice = choice_open(m);
        for (size_t i = 0; i < expr->arg_count; i++) {
            choice_next(m, &choice);
            read_expr(m, access, expr->args[i]);
            choice_done(m, &choice);
        }
        choice_close(m, &choice);
        return;
    default: // sums: numbers and times
        read_many(m, letters_of("0123456789.-:TZ+"), 1, true);
    }
}

static void read_template(struct machine *m, const struct model_access *access,
                          const struct model_template *template)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].expr == NULL)
            read_text(m, template->segments[i].literal);
        else
            read_expr(m, access, template->segments[i].expr);
    }
}

// Two machines that accept nothing but the empty text; machines_meet() frees them. False if there
// is no memory.
static bool machines_init(struct machine *one, struct machine *other)
{
    *one = (struct machine){.states = malloc(STATES_MAX * sizeof(struct state))};
    *other = (struct machine){.states = malloc(STATES_MAX * sizeof(struct state))};
    if (one->states == NULL || other->states == NULL) {
        free(one->states);
        free(other->states);
        return false;
    }
    (void)state_new(one);
    (void)state_new(other);
    return true;
}

static void read_part(struct machine *m, const struct model_entity *entity,
                      const struct model_key_part *part)
{
    if (part->template != NULL) {
        read_template(m, NULL, part->template);
        return;
    }
    const struct model_attribute *native = model_entity_attribute(entity, part->name);
    read_type(m, native == NULL ? NULL : native->type);
}

// ---- Both at once --------------------------------------------------------------------------

struct pair {
    int32_t a;
    int32_t b;
    int32_t from; // the pair before, in `queue`
    int16_t byte; // that led here, or -1
};

struct search {
    const struct machine *a;
    const struct machine *b;
    uint8_t *seen; // a bit for each pair
    struct pair *queue;
    int32_t count;
    int32_t room;
};

static void search_push(struct search *s, int32_t a, int32_t b, int32_t from, int byte)
{
    size_t place = (size_t)a * (size_t)s->b->count + (size_t)b;
    if (a == NOWHERE || b == NOWHERE || (s->seen[place >> 3] & (1 << (place & 7))) != 0)
        return;
    if (s->count == s->room) {
        int32_t room = s->room == 0 ? 1024 : 2 * s->room;
        struct pair *queue = realloc(s->queue, (size_t)room * sizeof(*queue));
        if (queue == NULL)
            return;
        s->queue = queue;
        s->room = room;
    }
    s->seen[place >> 3] |= (uint8_t)(1 << (place & 7));
    s->queue[s->count++] = (struct pair){a, b, from, (int16_t)byte};
}

// A byte that both read: one that looks well in an example, if there is one.
static int common_byte(const struct letters *a, const struct letters *b)
{
    struct letters both;
    for (size_t i = 0; i < 4; i++)
        both.bits[i] = a->bits[i] & b->bits[i];
    for (const char *c = "a10Zz-T:"; *c != 0; c++)
        if ((both.bits[(uint8_t)*c >> 6] >> ((uint8_t)*c & 63) & 1) != 0)
            return (uint8_t)*c;
    for (size_t i = 0; i < 4; i++)
        if (both.bits[i] != 0)
            return (int)(i * 64) + __builtin_ctzll(both.bits[i]);
    return -1;
}

static void search_witness(const struct search *s, int32_t at, struct buf *out)
{
    size_t len = 0;
    for (int32_t i = at; i >= 0; i = s->queue[i].from)
        len += s->queue[i].byte >= 0;
    uint8_t *text = buf_reserve(out, len);
    if (text == NULL)
        return;
    out->len += len;
    for (int32_t i = at; i >= 0; i = s->queue[i].from)
        if (s->queue[i].byte >= 0)
            text[--len] = (uint8_t)s->queue[i].byte;
}

// A machine that was cut off accepts whatever got as far as its last state.
static bool search_accepts(const struct search *s, const struct pair *pair)
{
    return (pair->a == s->a->at || (s->a->capped && pair->a == s->a->count - 1)) &&
           (pair->b == s->b->at || (s->b->capped && pair->b == s->b->count - 1));
}

// Breadth first, so that the example is as short as there is one. Both machines are freed.
static bool machines_meet(const struct machine *a, const struct machine *b, struct buf *witness)
{
    struct search s = {.a = a, .b = b};
    s.seen = calloc((size_t)a->count * (size_t)b->count / 8 + 1, 1);
    bool met = s.seen == NULL; // better one warning too many
    if (s.seen != NULL)
        search_push(&s, 0, 0, -1, -1);
    for (int32_t i = 0; !met && i < s.count; i++) {
        struct pair pair = s.queue[i];
        if (search_accepts(&s, &pair)) { // the way here is the example
            met = true;
            if (witness != NULL)
                search_witness(&s, i, witness);
            break;
        }
        const struct state *in_a = &a->states[pair.a];
        const struct state *in_b = &b->states[pair.b];
        for (int f = 0; f < 2; f++) {
            search_push(&s, in_a->free[f], pair.b, i, -1);
            search_push(&s, pair.a, in_b->free[f], i, -1);
        }
        int byte =
            in_a->to == NOWHERE || in_b->to == NOWHERE ? -1 : common_byte(&in_a->on, &in_b->on);
        if (byte >= 0)
            search_push(&s, in_a->to, in_b->to, i, byte);
    }
    free(s.seen);
    free(s.queue);
    free(a->states);
    free(b->states);
    return met;
}

// What every text of a template begins with; empty if nothing is known.
static struct slice front_of(const struct model_template *template)
{
    return template == NULL || template->segment_count == 0 || template->segments[0].expr != NULL
               ? SLICE_LIT("")
               : template->segments[0].literal;
}

// Most keys differ in their first letters; then there is no need for machines.
static bool fronts_differ(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    return len > 0 && memcmp(a.ptr, b.ptr, len) != 0;
}

bool lint_parts_overlap(const struct model_entity *a, const struct model_key_part *part_a,
                        const struct model_entity *b, const struct model_key_part *part_b,
                        struct buf *witness)
{
    struct machine one;
    struct machine other;
    if (fronts_differ(front_of(part_a->template), front_of(part_b->template)))
        return false;
    if (!machines_init(&one, &other))
        return true;
    read_part(&one, a, part_a);
    read_part(&other, b, part_b);
    return machines_meet(&one, &other, witness);
}

bool lint_condition_meets(const struct model_access *access,
                          const struct model_condition *condition,
                          const struct model_entity *entity, const struct model_key_part *part)
{
    struct machine wanted;
    struct machine kept;
    const struct model_expr *value = condition->values[0];
    if (condition->op != MODEL_OP_EQUAL && condition->op != MODEL_OP_BEGINS)
        return true; // order tells little of texts
    if (value->kind == MODEL_EXPR_TEMPLATE &&
        fronts_differ(front_of(value->template), front_of(part->template)))
        return false;
    if (!machines_init(&wanted, &kept))
        return true;
    read_expr(&wanted, access, value);
    if (condition->op == MODEL_OP_BEGINS) {
        struct letters any = {{0}};
        letters_add(&any, 0, 0xff);
        read_many(&wanted, any, 0, true);
    }
    read_part(&kept, entity, part);
    return machines_meet(&wanted, &kept, NULL);
}
