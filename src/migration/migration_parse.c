// Reading a migration; see migration.h for what one looks like, docs/MODEL.md for the grammar.
// Expressions and templates are the model's.
#include "migration/migration.h"

#include "model/parse.h"

enum { TEXT_MAX = 1 << 20 };

struct reading {
    struct model_parser p;
    bool cut; // the file ends within a block, which has been told
    struct migration_assign list[MIGRATION_ASSIGNS];
};

static bool complain(struct reading *r, struct model_place at, const char *text)
{
    return diagnostic_error(r->p.diagnostics, at, "%s", text);
}

// Names are looked for in the items, so that any may be there; what functions take is checked.
static const struct model_names anything = {.lax = true, .allows = MODEL_ALLOW_CHANCE};

static const struct model_expr *read_expr(struct reading *r)
{
    struct model_expr *expr = parse_expr(&r->p);
    bool ok = expr != NULL && model_expr_resolve(expr, &anything, r->p.scratch, r->p.diagnostics);
    return ok ? expr : NULL;
}

static const struct model_template *read_template(struct reading *r)
{
    struct model_template *template = parse_template(&r->p);
    bool ok = template != NULL &&
              model_template_resolve(template, &anything, r->p.scratch, r->p.diagnostics);
    return ok ? template : NULL;
}

// Whether a block ends here: with its brace, which is taken, or with the file.
static bool ended(struct reading *r)
{
    if (parse_at(&r->p, MODEL_TOKEN_END) && !r->cut)
        r->cut = !parse_expect(&r->p, MODEL_TOKEN_RBRACE, "\"}\"");
    return r->cut || parse_accept(&r->p, MODEL_TOKEN_RBRACE);
}

// ---- Shapes and conditions --------------------------------------------------------------------

// item [KEY = template {"," KEY = template}] | ENTITY
static bool read_shape(struct reading *r, struct migration_shape *shape)
{
    struct model_parser *p = &r->p;
    shape->at = parse_place(p);
    if (!parse_accept_word(p, "item"))
        return parse_name(p, "\"item\" or the name of an entity", &shape->entity_name);
    while (parse_at(p, MODEL_TOKEN_NAME) && parse_peek_at(p, 1)->kind == MODEL_TOKEN_EQUAL) {
        if (shape->key_count == COUNT_OF(shape->keys))
            return complain(r, parse_place(p), "a table has no more than two key attributes");
        if (!parse_name(p, "a key attribute", &shape->key_names[shape->key_count]) ||
            !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\""))
            return false;
        const struct model_template *template = read_template(r);
        if (template == NULL)
            return false;
        shape->keys[shape->key_count++] = template;
        (void)parse_accept(p, MODEL_TOKEN_COMMA);
    }
    return true;
}

static bool read_type(struct reading *r, struct migration_condition *condition)
{
    static const char *const words[] = {"null",   "boolean", "number",  "string",
                                        "binary", "strings", "numbers", "binaries",
                                        "list",   "map",     NULL};
    size_t position;
    if (!parse_choice(&r->p, words, &position))
        return false;
    condition->type = (enum value_type)position;
    return true;
}

static bool read_condition(struct reading *r, struct migration_condition *condition)
{
    // In the order of enum migration_op.
    static const char *const ops[] = {"exists", "missing", "=", "!=", "begins", "is", NULL};
    struct model_parser *p = &r->p;
    size_t position;
    condition->path = read_expr(r);
    if (condition->path == NULL)
        return false;
    if (!parse_accept_any(p, ops, &position))
        return parse_expected(p, "exists, missing, is, begins, \"=\" or \"!=\"");
    condition->op = (enum migration_op)position;
    if (condition->op == MIGRATION_EXISTS || condition->op == MIGRATION_MISSING)
        return true;
    if (condition->op == MIGRATION_IS)
        return read_type(r, condition);
    condition->value = read_expr(r);
    return condition->value != NULL;
}

static bool read_conditions(struct reading *r, struct migration_step *step)
{
    if (!parse_accept_word(&r->p, "where"))
        return true;
    do {
        if (step->condition_count == MIGRATION_CONDITIONS)
            return complain(r, parse_place(&r->p), "there are too many conditions");
        if (!read_condition(r, &step->conditions[step->condition_count++]))
            return false;
    } while (parse_accept_word(&r->p, "and"));
    return true;
}

// with NAME = shape [optional]
static bool read_with(struct reading *r, struct migration_step *step)
{
    struct model_parser *p = &r->p;
    struct migration_with *with = &step->withs[step->with_count];
    if (step->with_count == MIGRATION_WITHS)
        return complain(r, parse_place(p), "there are too many of these");
    step->with_count++;
    if (!parse_name(p, "a name for the other item", &with->name) ||
        !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\"") || !read_shape(r, &with->shape))
        return false;
    if (with->shape.entity_name.len == 0 && with->shape.key_count == 0)
        return complain(r, with->shape.at, "the other item needs its key: item PK = \"…\"");
    with->optional = parse_accept_word(p, "optional");
    return true;
}

// ---- What is made -----------------------------------------------------------------------------

static size_t with_find(const struct migration_step *step, struct slice name)
{
    for (size_t i = 0; i < step->with_count; i++) {
        if (slice_equal(step->withs[i].name, name))
            return i + 1;
    }
    return 0;
}

static struct migration_assign *assign_new(struct reading *r, size_t *count,
                                           enum migration_assign_kind kind)
{
    if (*count == MIGRATION_ASSIGNS) {
        (void)complain(r, parse_place(&r->p), "there are too many attributes");
        return NULL;
    }
    r->list[*count] = (struct migration_assign){.kind = kind, .at = parse_place(&r->p)};
    return &r->list[(*count)++];
}

// without A, B
static bool read_without(struct reading *r, size_t *count)
{
    do {
        struct migration_assign *without = assign_new(r, count, MIGRATION_WITHOUT);
        if (without == NULL || !parse_name(&r->p, "an attribute", &without->name))
            return false;
    } while (parse_accept(&r->p, MODEL_TOKEN_COMMA));
    return true;
}

// copy [NAME] [without A, B]
static bool read_copy(struct reading *r, const struct migration_step *step, size_t *count)
{
    struct model_parser *p = &r->p;
    struct migration_assign *copy = assign_new(r, count, MIGRATION_COPY);
    if (copy == NULL)
        return false;
    const struct model_token *token = parse_peek(p);
    bool named = token->kind == MODEL_TOKEN_NAME && !token->first &&
                 with_find(step, parse_text(p, token)) > 0 &&
                 parse_peek_at(p, 1)->kind != MODEL_TOKEN_EQUAL;
    if (named)
        copy->from = with_find(step, parse_text(p, parse_take(p)));
    return !parse_accept_word(p, "without") || read_without(r, count);
}

static bool read_assign(struct reading *r, size_t *count)
{
    struct model_parser *p = &r->p;
    struct migration_assign *assign = assign_new(r, count, MIGRATION_SET);
    if (assign == NULL || !parse_name(p, "an attribute, copy or \"}\"", &assign->name))
        return false;
    // A name alone stands for itself: mediaId is mediaId = mediaId.
    assign->value = parse_accept(p, MODEL_TOKEN_EQUAL)
                        ? read_expr(r)
                        : parse_attribute_path(p, assign->name, assign->at);
    return assign->value != NULL;
}

// Whether a word stands here that is no attribute to be set.
static bool at_keyword(const struct model_parser *p, const char *word)
{
    return parse_at_word(p, word) && parse_peek_at(p, 1)->kind != MODEL_TOKEN_EQUAL;
}

static bool read_entry(struct reading *r, const struct migration_step *step, bool in_place,
                       size_t *count)
{
    struct model_parser *p = &r->p;
    if (at_keyword(p, "copy"))
        return parse_take(p) != NULL && read_copy(r, step, count);
    if (in_place && at_keyword(p, "without"))
        return parse_take(p) != NULL && read_without(r, count);
    return read_assign(r, count);
}

static bool read_assigns(struct reading *r, const struct migration_step *step,
                         struct migration_make *make)
{
    struct model_parser *p = &r->p;
    size_t count = 0;
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\""))
        return false;
    while (!ended(r)) {
        size_t first = p->at;
        if (!read_entry(r, step, make->in_place, &count))
            parse_recover_item(p, first);
        while (parse_accept(p, MODEL_TOKEN_COMMA) || parse_accept(p, MODEL_TOKEN_SEMICOLON)) {}
    }
    struct migration_assign *assigns = arena_zalloc(p->arena, count + 1, sizeof(*assigns));
    if (assigns == NULL)
        return parse_no_memory(p);
    memcpy(assigns, r->list, count * sizeof(*assigns));
    make->assign_count = count;
    make->assigns = assigns;
    return true;
}

static bool read_make(struct reading *r, struct migration_step *step, bool replace, bool in_place)
{
    struct model_parser *p = &r->p;
    if (step->make_count == MIGRATION_MAKES)
        return complain(r, parse_place(p), "too much is made of one item");
    struct migration_make *make = &step->makes[step->make_count++];
    make->at = parse_place(p);
    make->replace = replace;
    make->in_place = in_place;
    if (!in_place && !parse_accept_word(p, "item") &&
        !parse_name(p, "\"item\" or the name of an entity", &make->entity_name))
        return false;
    return read_assigns(r, step, make);
}

static bool read_delete(struct reading *r, struct migration_step *step)
{
    struct slice name;
    struct model_place at = parse_place(&r->p);
    if (!parse_name(&r->p, "the name of another item", &name))
        return false;
    size_t which = with_find(step, name);
    if (which == 0)
        return complain(r, at, "there is no `with` of this name above");
    step->withs[which - 1].removed = true;
    return true;
}

// ---- Steps ------------------------------------------------------------------------------------

static bool read_action(struct reading *r, struct migration_step *step)
{
    struct model_parser *p = &r->p;
    if (parse_accept_word(p, "make"))
        return read_make(r, step, false, false);
    if (parse_accept_word(p, "replace"))
        return read_make(r, step, true, false);
    if (parse_accept_word(p, "set"))
        return read_make(r, step, true, true);
    if (parse_accept_word(p, "delete"))
        return read_delete(r, step);
    if (!parse_accept_word(p, "keep"))
        return parse_expected(p, "make, replace, set, delete, keep or \"}\"");
    step->keep = true;
    return true;
}

static bool read_step(struct reading *r, struct migration_way *way)
{
    struct model_parser *p = &r->p;
    if (way->count == MIGRATION_STEPS)
        return complain(r, parse_place(p), "there are too many of these");
    struct migration_step *step = &way->steps[way->count++];
    step->at = parse_place(p);
    if (!parse_expect_word(p, "from") || !read_shape(r, &step->shape) || !read_conditions(r, step))
        return false;
    while (parse_accept_word(p, "with")) {
        if (!read_with(r, step))
            return false;
    }
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\""))
        return false;
    while (!ended(r)) {
        size_t first = p->at;
        if (!read_action(r, step))
            parse_recover_item(p, first);
    }
    return true;
}

static bool read_way(struct reading *r, struct migration_way *way)
{
    if (way->stated)
        return complain(r, parse_place(&r->p), "this way is there already");
    way->stated = true;
    if (!parse_expect(&r->p, MODEL_TOKEN_LBRACE, "\"{\""))
        return false;
    while (!ended(r)) {
        size_t first = r->p.at;
        if (!read_step(r, way))
            parse_recover_item(&r->p, first);
    }
    return true;
}

// after NAME {"," NAME}
static bool read_after(struct reading *r, struct migration *migration)
{
    struct model_parser *p = &r->p;
    if (!parse_accept_word(p, "after"))
        return true;
    do {
        if (migration->after_count == MIGRATION_AFTERS)
            return complain(r, parse_place(p), "there are too many of these");
        if (!parse_name(p, "the name of another migration",
                        &migration->after[migration->after_count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return true;
}

static bool read_ways(struct reading *r, struct migration *migration)
{
    struct model_parser *p = &r->p;
    bool up = parse_accept_word(p, "up");
    if (!up && !parse_accept_word(p, "down"))
        return parse_expected(p, "up, down or \"}\"");
    return read_way(r, up ? &migration->up : &migration->down);
}

static bool read_migration(struct reading *r, struct migration *migration)
{
    struct model_parser *p = &r->p;
    migration->at = parse_place(p);
    migration->doc = parse_doc(p, p->at, p->at);
    if (!parse_expect_word(p, "migration") ||
        !parse_name(p, "a name for the migration", &migration->name) ||
        !parse_expect_word(p, "of") || !parse_name(p, "the name of a table", &migration->table) ||
        !read_after(r, migration) || !parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\""))
        return false;
    while (!ended(r)) {
        size_t first = p->at;
        if (!read_ways(r, migration))
            parse_recover_item(p, first);
    }
    if (!migration->up.stated)
        return complain(r, migration->at, "a migration needs its way up");
    return parse_at(p, MODEL_TOKEN_END) || complain(r, parse_place(p), "a file has one migration");
}

struct migration *migration_parse(struct slice text, struct arena *arena,
                                  struct diagnostics *diagnostics)
{
    struct arena scratch;
    struct reading *r = arena_zalloc(arena, 1, sizeof(*r));
    struct migration *migration = arena_zalloc(arena, 1, sizeof(*migration));
    struct slice copy = arena_copy(arena, text);
    if (r == NULL || migration == NULL || copy.ptr == NULL || text.len > TEXT_MAX)
        return diagnostic_fail(diagnostics, (struct model_place){0}, "the file is too large");
    arena_init(&scratch, LIMIT_MODEL_MEMORY);
    bool ok = parse_init(&r->p, copy, arena, &scratch, diagnostics) && read_migration(r, migration);
    arena_release(&scratch);
    return ok && diagnostics->errors == 0 ? migration : NULL;
}

// ---- Entities ---------------------------------------------------------------------------------

struct resolving {
    const struct model_table *table;
    struct arena scratch;
    struct diagnostics *diagnostics;
    bool ok;
};

static void find_entity(struct resolving *r, struct slice name, struct model_place at,
                        const struct model_entity **out)
{
    struct model_guess guess = model_guess_for(name);
    if (name.len == 0)
        return;
    *out = r->table == NULL ? NULL : model_table_entity(r->table, name);
    if (*out != NULL)
        return;
    for (size_t i = 0; r->table != NULL && i < r->table->entity_count; i++)
        model_guess_candidate(&guess, r->table->entities[i].name);
    r->ok = diagnostic_error(r->diagnostics, at, "the table's model has no entity \"%.*s\"%s",
                             SLICE_FMT(name), model_guess_say(&guess, &r->scratch));
}

// What an entity is given, it has to declare.
static void check_assigns(struct resolving *r, const struct model_entity *entity,
                          const struct migration_make *make)
{
    for (size_t i = 0; entity != NULL && i < make->assign_count; i++) {
        const struct migration_assign *assign = &make->assigns[i];
        if (assign->kind != MIGRATION_SET || migration_declared(entity, assign->name))
            continue;
        struct model_guess guess = model_guess_for(assign->name);
        model_guess_attributes(&guess, entity);
        r->ok = diagnostic_error(r->diagnostics, assign->at,
                                 "entity %.*s has no attribute \"%.*s\"%s", SLICE_FMT(entity->name),
                                 SLICE_FMT(assign->name), model_guess_say(&guess, &r->scratch));
    }
}

static void resolve_step(struct resolving *r, struct migration_step *step)
{
    find_entity(r, step->shape.entity_name, step->shape.at, &step->shape.entity);
    for (size_t i = 0; i < step->with_count; i++) {
        struct migration_shape *shape = &step->withs[i].shape;
        find_entity(r, shape->entity_name, shape->at, &shape->entity);
    }
    for (size_t i = 0; i < step->make_count; i++) {
        struct migration_make *make = &step->makes[i];
        find_entity(r, make->entity_name, make->at, &make->entity);
        check_assigns(r, make->in_place ? step->shape.entity : make->entity, make);
    }
}

bool migration_resolve(struct migration_way *way, const struct model_table *table,
                       struct diagnostics *diagnostics)
{
    struct resolving r = {.table = table, .diagnostics = diagnostics, .ok = true};
    arena_init(&r.scratch, LIMIT_MODEL_MEMORY);
    for (size_t i = 0; i < way->count; i++)
        resolve_step(&r, &way->steps[i]);
    arena_release(&r.scratch);
    return r.ok;
}
