// From text to model: reads the declarations, checks and resolves them, and hands out the result.
//
// Two arenas: what the model keeps is in its own; lists and tokens are in a scratch one that ends
// with the call. A syntax error ends its item or declaration and reading goes on with the next, so
// that all mistakes are told in one run; the checks then run over what could be read.
#include "model/parse_internal.h"

enum { SCRATCH_MEMORY = 128 << 20 };

void *file_alloc(struct model_file *file, size_t count, size_t size)
{
    void *memory = arena_zalloc(file->p.arena, count, size);
    return memory != NULL ? memory : parse_exhausted(&file->p);
}

void *file_scratch(struct model_file *file, size_t count, size_t size)
{
    void *memory = arena_zalloc(file->p.scratch, count, size);
    return memory != NULL ? memory : parse_exhausted(&file->p);
}

struct raw_table *file_table(const struct model_file *file, struct slice name)
{
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next)
        if (slice_equal(table->table.name, name))
            return table;
    return NULL;
}

struct raw_entity *file_entity(const struct model_file *file, struct slice name)
{
    for (struct raw_entity *entity = file->entities.first; entity != NULL; entity = entity->next)
        if (slice_equal(entity->entity.name, name))
            return entity;
    return NULL;
}

const char *file_line(const struct model_file *file, uint32_t line)
{
    struct slice none = slice_of(NULL, 0);
    struct slice source = diagnostic_source(none, file->p.tokens.text, &line);
    const char *said =
        source.len == 0 ? arena_printf(file->p.scratch, "line %u", line)
                        : arena_printf(file->p.scratch, "line %u of %.*s", line, SLICE_FMT(source));
    return said != NULL ? said : "another line";
}

// ---- Declarations ---------------------------------------------------------------------------

static bool declaration(struct model_file *file)
{
    // In the order of parse_declarations; all others are rules.
    static bool (*const parsers[])(struct model_file * file, size_t first) = {
        parse_table,  parse_entity,  parse_mixin, parse_type_declaration,
        parse_access, parse_include, parse_rule};
    struct model_parser *p = &file->p;
    size_t first = p->at;
    size_t position = 0;
    if (!parse_choice(p, parse_declarations, &position))
        return false;
    if (file->tables.count >= LIMIT_MODEL_DECLARATIONS ||
        file->entities.count >= LIMIT_MODEL_DECLARATIONS ||
        file->mixins.count >= LIMIT_MODEL_DECLARATIONS ||
        file->accesses.count >= LIMIT_MODEL_DECLARATIONS ||
        file->rules.count >= LIMIT_MODEL_DECLARATIONS) {
        p->at = p->tokens.count;
        return file_error(file, model_token_place(&p->tokens.list[first]),
                          "a file has at most %d declarations of a kind", LIMIT_MODEL_DECLARATIONS);
    }
    size_t rule = COUNT_OF(parsers) - 1;
    return parsers[position < rule ? position : rule](file, first);
}

// To the next declaration: a name at the left margin outside of braces.
static void recover(struct model_file *file, size_t from)
{
    struct model_parser *p = &file->p;
    for (;;) {
        parse_recover_item(p, from);
        if (parse_at(p, MODEL_TOKEN_END) || parse_declaration_begins(p) ||
            (parse_at(p, MODEL_TOKEN_NAME) && parse_peek(p)->column == 1))
            return;
        from = p->at;
        if (parse_at(p, MODEL_TOKEN_RBRACE))
            (void)parse_take(p);
    }
}

static void declarations(struct model_file *file)
{
    struct model_parser *p = &file->p;
    while (!parse_at(p, MODEL_TOKEN_END)) {
        size_t from = p->at;
        p->depth = 0;
        if (!declaration(file)) {
            const struct model_token *head = &p->tokens.list[from];
            for (size_t i = 0; i < DECLARATIONS_OF_SHAPE; i++)
                file->unsound |= model_token_is(&p->tokens, head, parse_declarations[i]);
            recover(file, from);
        }
    }
}

// ---- Suppressions ---------------------------------------------------------------------------

// The last line of the declaration or item that begins behind a comment: where its braces close, or
// the line before the next token that is first in its line.
static uint32_t item_end(const struct model_file *file, const struct model_comment *comment)
{
    const struct model_tokens *tokens = &file->p.tokens;
    size_t low = 0;
    size_t high = tokens->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tokens->list[middle].start < comment->start)
            low = middle + 1;
        else
            high = middle;
    }
    int depth = 0;
    uint32_t line = tokens->list[low].line;
    for (size_t i = low; i < tokens->count; i++) {
        const struct model_token *token = &tokens->list[i];
        if (i > low && depth == 0 && token->first)
            break;
        depth += (token->kind == MODEL_TOKEN_LBRACE) - (token->kind == MODEL_TOKEN_RBRACE);
        if (depth < 0)
            break;
        line = token->line;
    }
    return line;
}

static bool is_code(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// "lint: ignore L003, L007" inside a comment; counts, and fills the list if there is one.
static size_t suppress(const struct model_file *file, const struct model_comment *comment,
                       struct model_suppression *out)
{
    static const char mark[] = "lint: ignore";
    struct slice text =
        slice_of(file->model->text.ptr + comment->start, comment->end - comment->start);
    const uint8_t *found = memmem(text.ptr, text.len, mark, sizeof mark - 1);
    if (found == NULL)
        return 0;
    size_t count = 0;
    const uint8_t *end = text.ptr + text.len;
    const uint8_t *at = found + sizeof mark - 1;
    while (at < end) {
        while (at < end && (*at == ' ' || *at == ','))
            at++;
        const uint8_t *start = at;
        while (at < end && is_code(*at))
            at++;
        if (at - start < 2 || *start != 'L')
            break;
        if (out != NULL)
            out[count] = (struct model_suppression){
                slice_of(start, (size_t)(at - start)), comment->line,
                comment->alone ? item_end(file, comment) : comment->line};
        count++;
    }
    return count;
}

static bool suppressions(struct model_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->p.tokens.comment_count; i++)
        count += suppress(file, &file->p.tokens.comments[i], NULL);
    if (count > LIMIT_MODEL_DECLARATIONS)
        return file_error(file, (struct model_place){0}, "too many \"lint: ignore\" comments");
    struct model_suppression *list = file_alloc(file, count + 1, sizeof *list);
    if (list == NULL)
        return false;
    file->model->suppressions = list;
    for (size_t i = 0; i < file->p.tokens.comment_count; i++)
        file->model->suppression_count +=
            suppress(file, &file->p.tokens.comments[i], list + file->model->suppression_count);
    return true;
}

// ---- The whole ------------------------------------------------------------------------------

static bool read_file(struct model_file *file)
{
    declarations(file);
    parse_mix(file);
    size_t errors = file->p.diagnostics->errors;
    check_types(file);
    check_entities(file);
    check_keys(file);
    check_expressions(file);
    // Patterns are completed from templates; those that are wrong would only make more errors.
    for (struct raw_table *table = file->tables.first; table != NULL; table = table->next)
        file->unsound = file->unsound || table->broken;
    for (struct raw_entity *entity = file->entities.first; entity != NULL; entity = entity->next)
        file->unsound = file->unsound || entity->broken;
    if (!file->unsound && file->p.diagnostics->errors == errors)
        check_accesses(file);
    if (!file->unsound && file->p.diagnostics->errors == errors) {
        check_clauses(file);
        check_deleted(file);
        check_references(file);
        check_tallies(file);
    }
    file->sound = !file->unsound && file->p.diagnostics->errors == errors;
    check_rules(file);
    return suppressions(file);
}

struct model *model_parse(struct slice name, struct slice text, struct diagnostics *diagnostics)
{
    return model_parse_counted(name, text, diagnostics, &(struct budget_account){.budget = NULL});
}

struct model *model_parse_counted(struct slice name, struct slice text,
                                  struct diagnostics *diagnostics, struct budget_account *account)
{
    struct arena arena;
    struct arena scratch;
    size_t errors = diagnostics->errors;
    arena_init_counted(&arena, LIMIT_MODEL_MEMORY, account, BUDGET_MODELS);
    arena_init_counted(&scratch, SCRATCH_MEMORY, account, BUDGET_CALLS);
    struct model *model = arena_zalloc(&arena, 1, sizeof *model);
    struct model_file file = {.model = model};
    bool ok = model != NULL;
    if (ok) {
        model->file = arena_copy(&arena, name);
        ok = model->file.ptr != NULL;
    }
    // Names point into the copy. A text that is too long is left where it is, for the lexer to
    // refuse.
    if (ok && text.len <= LIMIT_MODEL_FILE) {
        model->text = arena_copy(&arena, text);
        ok = model->text.ptr != NULL;
    }
    if (!ok)
        (void)diagnostic_error(diagnostics, (struct model_place){0}, "out of memory");
    else
        ok = parse_init(&file.p, text.len <= LIMIT_MODEL_FILE ? model->text : text, &arena,
                        &scratch, diagnostics) &&
             read_file(&file);
    diagnostics_sort(diagnostics);
    arena_release(&scratch);
    if (!ok || diagnostics->errors > errors) {
        arena_release(&arena);
        return NULL;
    }
    // The model lives in its arena, so that it can only be given the arena when it is complete; and
    // it outlives the caller's account.
    model->account.budget = account->budget;
    model->arena = arena;
    model->arena.account = &model->account;
    model->references = 1;
    return model;
}
