// See matcher.h. A pattern becomes a tree of nodes, and the tree a program in the manner of
// Thompson: SET takes a character, SPLIT goes on at two places, JUMP at another one. Repetitions
// with counts are written out. A text is matched by a list of the places the program is at, each
// once.
#include "text/matcher.h"

#include "base/limits.h"

#include <string.h>

enum { LAST_CHARACTER = 0x10ffff, REPEAT_MAX = 1000, NODE_MAX = 2 * MATCHER_PATTERN_MAX + 2 };

// ---- The program
// ---------------------------------------------------------------------------------

struct range {
    uint32_t first;
    uint32_t last;
};

struct set {
    bool negated;
    uint16_t count;
    const struct range *ranges;
};

enum code_kind { CODE_SET, CODE_SPLIT, CODE_JUMP, CODE_END };

struct code {
    enum code_kind kind;
    uint16_t to;    // SPLIT, JUMP
    uint16_t other; // SPLIT
    const struct set *set;
};

struct model_matcher {
    size_t count;
    struct code code[]; // MATCHER_CODE_MAX while it is written
};

// ---- Reading
// -------------------------------------------------------------------------------------

enum node_kind { NODE_EMPTY, NODE_SET, NODE_THEN, NODE_OR, NODE_REPEAT };

struct node {
    enum node_kind kind;
    const struct set *set;
    const struct node *left;
    const struct node *right;
    unsigned least;
    unsigned most; // UINT32_MAX: any number
};

struct reading {
    struct slice pattern;
    size_t at;
    unsigned depth;
    size_t nodes;
    struct arena *arena;   // of the sets
    struct arena *scratch; // of the nodes
    struct matcher_error *error;
};

static struct node *fail(struct reading *r, size_t at, size_t length, const char *message)
{
    if (r->error->message == NULL)
        *r->error = (struct matcher_error){message, at, length};
    return NULL;
}

static struct node *new_node(struct reading *r, struct node node)
{
    if (++r->nodes > NODE_MAX)
        return fail(r, 0, r->pattern.len, "the pattern is too large");
    struct node *kept = arena_zalloc(r->scratch, 1, sizeof(*kept));
    if (kept == NULL)
        return fail(r, 0, r->pattern.len, "the file needs more memory than a model may");
    *kept = node;
    return kept;
}

static uint8_t peek(const struct reading *r)
{
    return r->at < r->pattern.len ? r->pattern.ptr[r->at] : 0;
}

static bool at_end(const struct reading *r)
{
    return r->at >= r->pattern.len;
}

// The character at a place of a UTF-8 text, and how many bytes it has.
static uint32_t character(struct slice text, size_t at, size_t *length)
{
    uint8_t head = text.ptr[at];
    size_t wanted = head < 0x80 ? 1 : head < 0xe0 ? 2 : head < 0xf0 ? 3 : 4;
    if (wanted == 1 || head < 0xc0 || at + wanted > text.len) {
        *length = 1;
        return head;
    }
    uint32_t c = head & (0x7fU >> wanted);
    for (size_t i = 1; i < wanted; i++)
        c = c << 6 | (text.ptr[at + i] & 0x3fU);
    *length = wanted;
    return c;
}

static uint32_t take(struct reading *r)
{
    size_t length;
    uint32_t c = character(r->pattern, r->at, &length);
    r->at += length;
    return c;
}

// ---- Sets
// ----------------------------------------------------------------------------------------

enum { RANGES_MAX = 256 };

struct ranges {
    size_t count;
    struct range list[RANGES_MAX];
};

static bool add_range(struct reading *r, struct ranges *ranges, uint32_t first, uint32_t last)
{
    if (ranges->count == RANGES_MAX) {
        (void)fail(r, r->at, 1, "a class has too many members");
        return false;
    }
    ranges->list[ranges->count++] = (struct range){first, last};
    return true;
}

// \d \w \s, or all but them; false if it is none of these.
static bool add_named(struct reading *r, struct ranges *ranges, uint8_t letter, bool *named)
{
    static const struct range digits[] = {{'0', '9'}};
    static const struct range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    static const struct range blanks[] = {{'\t', '\r'}, {' ', ' '}};
    uint8_t lower = letter | 0x20;
    const struct range *list = lower == 'd' ? digits : lower == 'w' ? words : blanks;
    size_t count = lower == 'd' ? 1 : lower == 'w' ? 4 : 2;
    *named = lower == 'd' || lower == 'w' || lower == 's';
    bool ok = true;
    uint32_t next = 0;
    for (size_t i = 0; *named && i < count; i++) {
        if (letter == lower)
            ok = ok && add_range(r, ranges, list[i].first, list[i].last);
        else if (list[i].first > next)
            ok = ok && add_range(r, ranges, next, list[i].first - 1);
        next = list[i].last + 1;
    }
    if (*named && letter != lower)
        ok = ok && add_range(r, ranges, next, LAST_CHARACTER);
    return ok;
}

// Behind "\": the character that it stands for.
static bool escaped(struct reading *r, uint32_t *c)
{
    size_t from = r->at - 1;
    *c = at_end(r) ? 0 : take(r);
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (*c == 'n' || *c == 't' || *c == 'r')
        *c = *c == 'n' ? '\n' : *c == 't' ? '\t' : '\r';
    else if (*c == 0 || letter)
        return fail(r, from, r->at - from,
                    "unknown escape; there are \\d \\w \\s \\D \\W \\S \\n \\t \\r, and \\ before "
                    "what is no letter") != NULL;
    return true;
}

static struct node *set_node(struct reading *r, const struct ranges *ranges, bool negated)
{
    struct range *copy = arena_zalloc(r->arena, ranges->count + 1, sizeof(*copy));
    struct set *set = arena_zalloc(r->arena, 1, sizeof(*set));
    if (copy == NULL || set == NULL)
        return fail(r, 0, r->pattern.len, "the file needs more memory than a model may");
    memcpy(copy, ranges->list, ranges->count * sizeof(*copy));
    *set = (struct set){.negated = negated, .count = (uint16_t)ranges->count, .ranges = copy};
    return new_node(r, (struct node){.kind = NODE_SET, .set = set});
}

// One member of a class, or the first of a range; *named if it was \d or its like.
static bool class_member(struct reading *r, struct ranges *ranges, uint32_t *c, bool *named)
{
    *named = false;
    *c = take(r);
    if (*c != '\\')
        return true;
    if (!add_named(r, ranges, peek(r), named))
        return false;
    if (!*named)
        return escaped(r, c);
    r->at++;
    return true;
}

// Behind "[".
static struct node *class_of(struct reading *r)
{
    struct ranges ranges = {.count = 0};
    size_t from = r->at - 1;
    bool negated = peek(r) == '^';
    r->at += negated;
    do {
        uint32_t first = 0;
        uint32_t last = 0;
        bool named = false;
        size_t begun = r->at;
        if (at_end(r))
            return fail(r, from, 1, "this \"[\" has no \"]\"");
        if (peek(r) == ']' && ranges.count == 0)
            return fail(r, from, r->at + 1 - from,
                        "a class without members; for \"]\" write \"\\]\"");
        if (!class_member(r, &ranges, &first, &named))
            return NULL;
        bool range =
            peek(r) == '-' && r->at + 1 < r->pattern.len && r->pattern.ptr[r->at + 1] != ']';
        if (named && !range)
            continue;
        last = first;
        if (range) {
            r->at++;
            bool other = named;
            if (!class_member(r, &ranges, &last, &named))
                return NULL;
            if (other || named || last < first)
                return fail(r, begun, r->at - begun, "this is no range: its ends are in no order");
        }
        if (!add_range(r, &ranges, first, last))
            return NULL;
    } while (peek(r) != ']' || at_end(r));
    r->at++;
    return set_node(r, &ranges, negated);
}

static struct node *one_character(struct reading *r, uint32_t c)
{
    struct ranges ranges = {.count = 1, .list = {{c, c}}};
    return set_node(r, &ranges, false);
}

// ---- Expressions
// ---------------------------------------------------------------------------------

static struct node *alternatives(struct reading *r);

// Behind "(".
static struct node *group(struct reading *r)
{
    size_t from = r->at - 1;
    if (peek(r) == '?') {
        if (r->at + 1 >= r->pattern.len || r->pattern.ptr[r->at + 1] != ':')
            return fail(r, from, 2, "groups have no options: write \"(…)\"");
        r->at += 2;
    }
    if (r->depth == LIMIT_MODEL_NESTING)
        return fail(r, from, 1, "this nests too deeply");
    r->depth++;
    struct node *inside = alternatives(r);
    r->depth--;
    if (inside == NULL)
        return NULL;
    if (peek(r) != ')')
        return fail(r, from, 1, "this \"(\" has no \")\"");
    r->at++;
    return inside;
}

static struct node *atom(struct reading *r)
{
    struct ranges any = {.count = 1, .list = {{'\n', '\n'}}};
    size_t from = r->at;
    uint32_t c = take(r);
    bool named = false;
    switch (c) {
    case '(':
        return group(r);
    case '[':
        return class_of(r);
    case '.':
        return set_node(r, &any, true);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(r, from, 1,
                    "there is nothing to repeat; for the character itself write \\ "
                    "before it");
    case '^':
    case '$':
        return fail(r, from, 1,
                    "a pattern is for the whole text: it has no ^ and no $; for the "
                    "character itself write \\ before it");
    case '\\':
        any.count = 0;
        if (!add_named(r, &any, peek(r), &named))
            return NULL;
        if (named) {
            r->at++;
            return set_node(r, &any, false);
        }
        return escaped(r, &c) ? one_character(r, c) : NULL;
    default:
        return one_character(r, c);
    }
}

static bool number(struct reading *r, unsigned *out)
{
    size_t from = r->at;
    *out = 0;
    while (peek(r) >= '0' && peek(r) <= '9' && r->at - from < 5)
        *out = *out * 10 + (unsigned)(r->pattern.ptr[r->at++] - '0');
    return r->at > from;
}

// Behind "{": {3}, {2,}, {2,5}
static bool counts(struct reading *r, unsigned *least, unsigned *most)
{
    size_t from = r->at - 1;
    bool ok = number(r, least);
    *most = *least;
    if (ok && peek(r) == ',') {
        r->at++;
        if (!number(r, most))
            *most = UINT32_MAX;
    }
    ok = ok && peek(r) == '}';
    bool far = *least > REPEAT_MAX || (*most != UINT32_MAX && *most > REPEAT_MAX);
    if (!ok || far || *most < *least)
        return fail(
                   r, from,
                   r->at + 1 - from > r->pattern.len - from ? r->pattern.len - from
                                                            : r->at + 1 - from,
                   "repetitions are {3}, {2,} or {2,5}, up to 1000; for the character itself write "
                   "\\{") != NULL;
    r->at++;
    return true;
}

// An atom with what repeats it.
static struct node *repeated(struct reading *r)
{
    struct node *node = atom(r);
    while (node != NULL && !at_end(r)) {
        unsigned least = peek(r) == '+';
        unsigned most = peek(r) == '?' ? 1 : UINT32_MAX;
        if (peek(r) != '*' && peek(r) != '+' && peek(r) != '?' && peek(r) != '{')
            return node;
        bool counted = peek(r) == '{';
        r->at++;
        if (counted && !counts(r, &least, &most))
            return NULL;
        node = new_node(
            r, (struct node){.kind = NODE_REPEAT, .left = node, .least = least, .most = most});
    }
    return node;
}

static struct node *sequence(struct reading *r)
{
    struct node *all = NULL;
    while (!at_end(r) && peek(r) != '|' && peek(r) != ')') {
        struct node *next = repeated(r);
        if (next == NULL)
            return NULL;
        all = all == NULL
                  ? next
                  : new_node(r, (struct node){.kind = NODE_THEN, .left = all, .right = next});
        if (all == NULL)
            return NULL;
    }
    return all != NULL ? all : new_node(r, (struct node){.kind = NODE_EMPTY});
}

static struct node *alternatives(struct reading *r)
{
    struct node *all = sequence(r);
    while (all != NULL && peek(r) == '|' && !at_end(r)) {
        r->at++;
        struct node *next = sequence(r);
        all = next == NULL
                  ? NULL
                  : new_node(r, (struct node){.kind = NODE_OR, .left = all, .right = next});
    }
    return all;
}

// ---- Writing
// -------------------------------------------------------------------------------------

// Sequences lean to the left, so that the recursion is as deep as they are long, which the length
// of a pattern bounds.
static bool write_node(struct model_matcher *m, const struct node *node);

// The position of a new instruction; MATCHER_CODE_MAX if there is no room.
static size_t put(struct model_matcher *m, struct code code)
{
    if (m->count == MATCHER_CODE_MAX)
        return MATCHER_CODE_MAX;
    m->code[m->count] = code;
    return m->count++;
}

static bool write_or(struct model_matcher *m, const struct node *node)
{
    size_t split = put(m, (struct code){.kind = CODE_SPLIT});
    if (split == MATCHER_CODE_MAX || !write_node(m, node->left))
        return false;
    size_t jump = put(m, (struct code){.kind = CODE_JUMP});
    if (jump == MATCHER_CODE_MAX)
        return false;
    m->code[split].to = (uint16_t)(split + 1);
    m->code[split].other = (uint16_t)m->count;
    if (!write_node(m, node->right))
        return false;
    m->code[jump].to = (uint16_t)m->count;
    return true;
}

// x x x, then (x (x)?)? for those that may be there, or x* without an end.
static bool write_repeat(struct model_matcher *m, const struct node *node)
{
    for (unsigned i = 0; i < node->least; i++) {
        size_t before = m->count;
        if (!write_node(m, node->left))
            return false;
        if (m->count == before)
            break; // nothing, however often
    }
    size_t begun = m->count;
    bool endless = node->most == UINT32_MAX;
    unsigned more = endless ? 1 : node->most - node->least;
    for (unsigned i = 0; i < more; i++) {
        size_t split = put(m, (struct code){.kind = CODE_SPLIT});
        if (split == MATCHER_CODE_MAX || !write_node(m, node->left))
            return false;
        m->code[split].to = (uint16_t)(split + 1);
    }
    if (endless &&
        put(m, (struct code){.kind = CODE_JUMP, .to = (uint16_t)begun}) == MATCHER_CODE_MAX)
        return false;
    // All of the splits of this repetition leave for its end. Those of an inner one have one
    // already.
    for (size_t i = begun; i < m->count; i++)
        if (m->code[i].kind == CODE_SPLIT && m->code[i].other == 0)
            m->code[i].other = (uint16_t)m->count;
    return true;
}

static bool write_node(struct model_matcher *m, const struct node *node)
{
    switch (node->kind) {
    case NODE_EMPTY:
        return true;
    case NODE_SET:
        return put(m, (struct code){.kind = CODE_SET, .set = node->set}) < MATCHER_CODE_MAX;
    case NODE_THEN:
        return write_node(m, node->left) && write_node(m, node->right);
    case NODE_OR:
        return write_or(m, node);
    case NODE_REPEAT:
        return write_repeat(m, node);
    }
    return false;
}

static size_t matcher_size(size_t count)
{
    return sizeof(struct model_matcher) + count * sizeof(struct code);
}

const struct model_matcher *matcher_compile(struct slice pattern, struct arena *arena,
                                            struct arena *scratch, struct matcher_error *error)
{
    *error = (struct matcher_error){.message = NULL};
    struct reading r = {.pattern = pattern, .arena = arena, .scratch = scratch, .error = error};
    if (pattern.len > MATCHER_PATTERN_MAX) {
        (void)fail(&r, 0, pattern.len, "a pattern has at most 1024 bytes");
        return NULL;
    }
    const struct node *tree = alternatives(&r);
    if (tree != NULL && !at_end(&r))
        tree = fail(&r, r.at, 1, "this \")\" has no \"(\"");
    if (tree == NULL)
        return NULL;
    struct model_matcher *draft = arena_zalloc(scratch, 1, matcher_size(MATCHER_CODE_MAX));
    if (draft != NULL && (!write_node(draft, tree) ||
                          put(draft, (struct code){.kind = CODE_END}) == MATCHER_CODE_MAX)) {
        (void)fail(&r, 0, pattern.len, "the pattern is too large: its repetitions are written out");
        return NULL;
    }
    struct model_matcher *whole =
        draft == NULL ? NULL : arena_zalloc(arena, 1, matcher_size(draft->count));
    if (whole == NULL)
        (void)fail(&r, 0, pattern.len, "the file needs more memory than a model may");
    else
        memcpy(whole, draft, matcher_size(draft->count));
    return whole;
}

// ---- Matching
// ------------------------------------------------------------------------------------

// The places a program is at, each once.
struct places {
    size_t count;
    uint16_t list[MATCHER_CODE_MAX];
};

struct matching {
    const struct model_matcher *matcher;
    uint32_t round; // that a place was met last in
    uint32_t met[MATCHER_CODE_MAX];
    uint16_t waiting[2 * MATCHER_CODE_MAX + 1]; // each place met brings two at most
    bool ended;                                 // the end can be reached without another character
    size_t work;
};

// Adds a place, and those that it leads to without a character.
static void add_place(struct matching *m, struct places *places, uint16_t at)
{
    size_t waiting = 0;
    m->waiting[waiting++] = at;
    while (waiting > 0) {
        uint16_t next = m->waiting[--waiting];
        const struct code *code = &m->matcher->code[next];
        if (m->met[next] == m->round)
            continue;
        m->met[next] = m->round;
        m->work++;
        if (code->kind == CODE_SET) {
            places->list[places->count++] = next;
        } else if (code->kind == CODE_END) {
            m->ended = true;
        } else {
            m->waiting[waiting++] = code->to;
            if (code->kind == CODE_SPLIT)
                m->waiting[waiting++] = code->other;
        }
    }
}

static bool set_has(const struct set *set, uint32_t c)
{
    for (size_t i = 0; i < set->count; i++)
        if (c >= set->ranges[i].first && c <= set->ranges[i].last)
            return !set->negated;
    return set->negated;
}

bool matcher_matches(const struct model_matcher *matcher, struct slice text, struct steps *steps)
{
    struct places lists[2];
    struct matching m = {.matcher = matcher, .round = 1};
    struct places *now = &lists[0];
    now->count = 0;
    add_place(&m, now, 0);
    for (size_t at = 0; at < text.len;) {
        size_t length;
        uint32_t c = character(text, at, &length);
        struct places *next = now == &lists[0] ? &lists[1] : &lists[0];
        next->count = 0;
        m.ended = false;
        m.round++;
        m.work = 1;
        for (size_t i = 0; i < now->count; i++) {
            const struct code *code = &matcher->code[now->list[i]];
            m.work += code->set->count;
            if (set_has(code->set, c))
                add_place(&m, next, (uint16_t)(now->list[i] + 1));
        }
        if (steps != NULL) {
            steps_add(steps, m.work);
            if (steps_over(steps))
                return false;
        }
        if (next->count == 0 && !m.ended)
            return false;
        now = next;
        at += length;
    }
    return m.ended;
}
