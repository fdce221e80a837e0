// The cursor over the tokens: taking, expecting, recovering, and finding the comments that document
// a declaration.
#include "model/parse.h"

bool parse_init(struct model_parser *p, struct slice text, struct arena *arena,
                struct arena *scratch, struct diagnostics *diagnostics)
{
    *p = (struct model_parser){.arena = arena, .scratch = scratch, .diagnostics = diagnostics};
    return model_tokens_read(&p->tokens, text, scratch, diagnostics);
}

const struct model_token *parse_peek_at(const struct model_parser *p, size_t ahead)
{
    size_t at = p->at + ahead;
    return &p->tokens.list[at < p->tokens.count ? at : p->tokens.count];
}

const struct model_token *parse_peek(const struct model_parser *p)
{
    return parse_peek_at(p, 0);
}

const struct model_token *parse_last(const struct model_parser *p)
{
    return &p->tokens.list[p->at > 0 ? p->at - 1 : 0];
}

const struct model_token *parse_take(struct model_parser *p)
{
    const struct model_token *token = parse_peek(p);
    if (p->at < p->tokens.count)
        p->at++;
    return token;
}

struct model_place parse_place(const struct model_parser *p)
{
    return model_token_place(parse_peek(p));
}

struct slice parse_text(const struct model_parser *p, const struct model_token *token)
{
    return model_token_text(&p->tokens, token);
}

bool parse_at(const struct model_parser *p, enum model_token_kind kind)
{
    return parse_peek(p)->kind == kind;
}

bool parse_at_word(const struct model_parser *p, const char *word)
{
    return model_token_is(&p->tokens, parse_peek(p), word);
}

bool parse_accept(struct model_parser *p, enum model_token_kind kind)
{
    if (!parse_at(p, kind))
        return false;
    (void)parse_take(p);
    return true;
}

bool parse_accept_word(struct model_parser *p, const char *word)
{
    if (!parse_at_word(p, word))
        return false;
    (void)parse_take(p);
    return true;
}

bool parse_accept_any(struct model_parser *p, const char *const *texts, size_t *position)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind == MODEL_TOKEN_STRING || token->quoted)
        return false;
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (slice_is(parse_text(p, token), texts[i])) {
            *position = i;
            (void)parse_take(p);
            return true;
        }
    }
    return false;
}

bool parse_expected(struct model_parser *p, const char *what)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind == MODEL_TOKEN_BAD)
        return false;
    return diagnostic_error(p->diagnostics, model_token_place(token), "expected %s, got %s", what,
                            model_token_say(&p->tokens, token, p->scratch));
}

bool parse_no_memory(struct model_parser *p)
{
    return diagnostic_error(p->diagnostics, (struct model_place){0},
                            "the file needs more memory than a model may");
}

bool parse_deeper(struct model_parser *p, struct model_place at)
{
    if (p->depth == LIMIT_MODEL_NESTING)
        return diagnostic_error(p->diagnostics, at, "this nests too deeply");
    p->depth++;
    return true;
}

bool parse_expect(struct model_parser *p, enum model_token_kind kind, const char *what)
{
    return parse_accept(p, kind) || parse_expected(p, what);
}

bool parse_expect_word(struct model_parser *p, const char *word)
{
    if (parse_accept_word(p, word))
        return true;
    const char *what = arena_printf(p->scratch, "\"%s\"", word);
    return parse_expected(p, what != NULL ? what : word);
}

bool parse_name(struct model_parser *p, const char *what, struct slice *name)
{
    const struct model_token *token = parse_peek(p);
    if (token->kind != MODEL_TOKEN_NAME)
        return parse_expected(p, what);
    struct slice text = parse_text(p, token);
    if (text.len == 0)
        return diagnostic_error(p->diagnostics, model_token_place(token), "a name is empty");
    *name = text;
    (void)parse_take(p);
    return true;
}

bool parse_choice(struct model_parser *p, const char *const *words, size_t *position)
{
    struct buf list;
    buf_init(&list, 4096);
    struct model_guess guess = model_guess_for(parse_text(p, parse_peek(p)));
    for (size_t i = 0; words[i] != NULL; i++) {
        if (parse_accept_word(p, words[i])) {
            *position = i;
            buf_release(&list);
            return true;
        }
        if (parse_at(p, MODEL_TOKEN_NAME))
            model_guess_candidate(&guess, slice_str(words[i]));
        buf_text(&list, i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ");
        buf_text(&list, words[i]);
    }
    const struct model_token *token = parse_peek(p);
    if (token->kind != MODEL_TOKEN_BAD)
        (void)diagnostic_error(p->diagnostics, model_token_place(token), "expected %.*s, got %s%s",
                               SLICE_FMT(buf_view(&list)),
                               model_token_say(&p->tokens, token, p->scratch),
                               model_guess_say(&guess, p->scratch));
    buf_release(&list);
    return false;
}

const char *const parse_declarations[] = {
    "table",  "entity", "mixin",  "type",    "access",  "include",    "retain",
    "keep",   "emit",   "audit",  "derive",  "publish", "idempotent", "quota",
    "object", "seed",   "tenant", "project", "allow",   "deny",       NULL};

// A word that begins a declaration, at the left margin: whatever brace is open was forgotten.
static bool begins_declaration(const struct model_parser *p, const struct model_token *token)
{
    for (size_t i = 0; token->first && token->column == 1 && parse_declarations[i] != NULL; i++)
        if (model_token_is(&p->tokens, token, parse_declarations[i]))
            return true;
    return false;
}

bool parse_declaration_begins(const struct model_parser *p)
{
    return begins_declaration(p, parse_peek(p));
}

// A word at the margin alone may be an attribute of a file that is not indented.
bool parse_brace_forgotten(const struct model_parser *p)
{
    const struct model_token *behind = parse_peek_at(p, 2);
    return parse_declaration_begins(p) && parse_peek_at(p, 1)->kind == MODEL_TOKEN_NAME &&
           (behind->kind == MODEL_TOKEN_LBRACE || behind->kind == MODEL_TOKEN_LPAREN ||
            model_token_is(&p->tokens, behind, "of") || model_token_is(&p->tokens, behind, "as") ||
            model_token_is(&p->tokens, behind, "with"));
}

void parse_recover_item(struct model_parser *p, size_t from)
{
    if (p->at == from && !parse_at(p, MODEL_TOKEN_RBRACE))
        (void)parse_take(p);
    int depth = 0;
    // What the item has opened and not closed has to be closed before the next one begins.
    for (size_t i = from; i < p->at; i++)
        depth += (p->tokens.list[i].kind == MODEL_TOKEN_LBRACE) -
                 (p->tokens.list[i].kind == MODEL_TOKEN_RBRACE);
    if (depth < 0)
        depth = 0;
    while (!parse_at(p, MODEL_TOKEN_END)) {
        const struct model_token *token = parse_peek(p);
        if (begins_declaration(p, token))
            return;
        if (depth == 0 && (token->kind == MODEL_TOKEN_RBRACE || token->first))
            return;
        depth += (token->kind == MODEL_TOKEN_LBRACE) - (token->kind == MODEL_TOKEN_RBRACE);
        (void)parse_take(p);
    }
}

// ---- Documentation --------------------------------------------------------------------------

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_rule(uint8_t c)
{
    return c == '-' || c == '=' || c == '*' || c == '/';
}

// Bytes of a ruled line ("-----") at one end of a text.
static size_t ruled(struct slice line, bool behind)
{
    size_t n = 0;
    while (n < line.len && is_rule(line.ptr[behind ? line.len - 1 - n : n]))
        n++;
    return n >= 3 ? n : 0;
}

static struct slice trimmed(struct slice line)
{
    while (line.len > 0 && is_blank(*line.ptr))
        line = slice_of(line.ptr + 1, line.len - 1);
    while (line.len > 0 && is_blank(line.ptr[line.len - 1]))
        line.len--;
    return line;
}

// One line of a comment without what is only decoration; empty if it is nothing else.
static struct slice comment_line(struct slice line)
{
    while (line.len > 0 && (is_blank(*line.ptr) || *line.ptr == '/' || *line.ptr == '*'))
        line = slice_of(line.ptr + 1, line.len - 1);
    line = trimmed(line);
    line.len -= ruled(line, true);
    size_t before = ruled(line, false);
    return trimmed(slice_of(line.ptr + before, line.len - before));
}

// Appends the text of a comment, line by line; what is for lint is no documentation.
static void add_comment(const struct model_parser *p, const struct model_comment *comment,
                        struct buf *out)
{
    struct slice left =
        slice_of(p->tokens.text.ptr + comment->start, comment->end - comment->start);
    if (left.len >= 4 && left.ptr[1] == '*' && memcmp(left.ptr + left.len - 2, "*/", 2) == 0)
        left.len -= 2;
    while (left.len > 0) {
        const uint8_t *end = memchr(left.ptr, '\n', left.len);
        size_t len = end == NULL ? left.len : (size_t)(end - left.ptr);
        struct slice line = comment_line(slice_of(left.ptr, len));
        size_t skipped = end == NULL ? len : len + 1;
        left = slice_of(left.ptr + skipped, left.len - skipped);
        if (slice_begins(line, SLICE_LIT("lint:")) || slice_begins(line, SLICE_LIT("dolmen:file ")))
            continue;
        bool paragraph = out->len > 1 && out->ptr[out->len - 1] == '\n';
        if (line.len == 0 && (out->len == 0 || paragraph))
            continue; // one empty line between paragraphs, none before them
        if (out->len > 0)
            buf_byte(out, '\n');
        buf_slice(out, line);
    }
}

// The position of the first comment at or behind an offset.
static size_t comment_from(const struct model_parser *p, uint32_t offset)
{
    size_t low = 0;
    size_t high = p->tokens.comment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->tokens.comments[middle].start < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct slice parse_doc(struct model_parser *p, size_t first, size_t last)
{
    struct buf text;
    buf_init(&text, 65536);
    const struct model_token *head = &p->tokens.list[first];
    const struct model_token *tail = &p->tokens.list[last];
    const struct model_comment *comments = p->tokens.comments;
    size_t below = comment_from(p, head->start);
    size_t above = below;
    uint32_t line = head->line;
    while (head->first && above > 0 && comments[above - 1].alone &&
           comments[above - 1].last_line + 1 == line) {
        above--;
        line = comments[above].line;
    }
    for (size_t i = above; i < below; i++)
        add_comment(p, &comments[i], &text);
    size_t behind = comment_from(p, tail->end);
    bool next_first = last + 1 > p->tokens.count || p->tokens.list[last + 1].first;
    if (behind < p->tokens.comment_count && !comments[behind].alone && next_first &&
        comments[behind].line == tail->line && comments[behind].end > tail->end)
        add_comment(p, &comments[behind], &text);
    struct slice doc = {0};
    while (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len > 0) {
        doc = arena_copy(p->arena, buf_view(&text));
        if (doc.ptr == NULL)
            (void)parse_no_memory(p);
    }
    buf_release(&text);
    return doc;
}

// ---- Did you mean ---------------------------------------------------------------------------

struct model_guess model_guess_for(struct slice name)
{
    return (struct model_guess){.name = name, .distance = name.len < 4 ? 2 : 3};
}

static uint8_t fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// How many letters are changed, missing, too many, or swapped with the next, without regard to case
// (which costs nothing: GSI1pk is GSI1PK).
static size_t distance(struct slice a, struct slice b)
{
    enum { MAX = 64 };
    size_t rows[3][MAX]; // of the letter before the last, of the last, and of this one
    if (a.len >= MAX || b.len >= MAX)
        return MAX;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        const size_t *above = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            uint8_t one = fold(a.ptr[i - 1]);
            uint8_t other = fold(b.ptr[j - 1]);
            row[j] = least(above[j - 1] + (one != other), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && one == fold(b.ptr[j - 2]) && fold(a.ptr[i - 2]) == other)
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

void model_guess_candidate(struct model_guess *guess, struct slice candidate)
{
    size_t far = distance(guess->name, candidate);
    if (far < guess->distance && far < candidate.len) {
        guess->distance = far;
        guess->best = candidate;
    }
}

void model_guess_attributes(struct model_guess *guess, const struct model_entity *entity)
{
    for (size_t i = 0; entity != NULL && i < entity->attribute_count; i++)
        model_guess_candidate(guess, entity->attributes[i].name);
}

const char *model_guess_say(const struct model_guess *guess, struct arena *arena)
{
    if (guess->best.len == 0)
        return "";
    const char *said = arena_printf(arena, "; did you mean \"%.*s\"?", SLICE_FMT(guess->best));
    return said != NULL ? said : "";
}
