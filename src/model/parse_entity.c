// Entities: bindings of keys to templates, attributes, and clauses.
#include "model/parse_internal.h"

// Whether the key goes on behind the comma that is next: "GSI1 = a, b" and "GSI1 = a, b when c
// exists" do; "PK = a, SK = b" and "PK = a, name string" do not.
static bool goes_on(const struct model_parser *p)
{
    const struct model_token *next = parse_peek_at(p, 1);
    const struct model_token *after = parse_peek_at(p, 2);
    static const enum model_token_kind behind_name[] = {
        MODEL_TOKEN_RBRACE, MODEL_TOKEN_COMMA, MODEL_TOKEN_DOT, MODEL_TOKEN_ELSE,
        MODEL_TOKEN_PLUS,   MODEL_TOKEN_MINUS, MODEL_TOKEN_STAR};
    bool name = next->kind == MODEL_TOKEN_NAME && !next->first;
    for (size_t i = 0; name && i < COUNT_OF(behind_name); i++)
        if (after->first || after->kind == behind_name[i])
            return true;
    if (name && model_token_is(&p->tokens, after, "when") && parse_at_test(p, 3))
        return true;
    return next->kind == MODEL_TOKEN_STRING || next->kind == MODEL_TOKEN_NUMBER ||
           next->kind == MODEL_TOKEN_MINUS;
}

// NAME = template {"," template}. A comma that is followed by no template belongs to what comes
// next.
static bool binding(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    struct raw_binding *bound = file_scratch(file, 1, sizeof *bound);
    if (bound == NULL)
        return false;
    bound->at = parse_place(p);
    if (!parse_name(p, "a key attribute or an index", &bound->name))
        return false;
    (void)parse_take(p); // "="
    for (;;) {
        if (bound->count == COUNT_OF(bound->templates))
            return file_error(file, parse_place(p), "a key has at most %zu parts",
                              COUNT_OF(bound->templates));
        struct raw_template *one = &bound->templates[bound->count++];
        one->at = parse_place(p);
        one->template = parse_key(p, &one->plain);
        if (one->template == NULL)
            return false;
        bool more = parse_at(p, MODEL_TOKEN_COMMA);
        if (!more || !goes_on(p))
            break;
        (void)parse_take(p);
    }
    if (parse_at_word(p, "when") && parse_at_test(p, 1)) {
        (void)parse_take(p);
        bound->when = parse_test(p);
        if (bound->when == NULL)
            return false;
    }
    if (raw->bindings.count > (size_t)2 * LIMIT_KEY_PARTS * LIMIT_INDEXES)
        return file_error(file, bound->at, "an entity has no more keys than this");
    LIST_APPEND(&raw->bindings, bound);
    return true;
}

// Whether the next word is this setting with a value of its own: an attribute may have its name.
static bool at_setting(const struct model_parser *p, const char *word, const char *const *values)
{
    const struct model_token *next = parse_peek_at(p, 1);
    for (size_t i = 0; parse_at_word(p, word) && values[i] != NULL; i++)
        if (model_token_is(&p->tokens, next, values[i]))
            return !next->first;
    return false;
}

static bool attribute(struct model_file *file, struct raw_entity *raw)
{
    struct raw_attribute *one = file_scratch(file, 1, sizeof *one);
    if (one == NULL)
        return false;
    bool ok = parse_attribute(file, false, one);
    if (one->attribute.name.len == 0)
        return false;
    if (!ok) { // known by its name all the same, so that other lines are not blamed
        one->attribute.otherwise = NULL;
        struct model_type *any = file_alloc(file, 1, sizeof *any);
        if (any == NULL)
            return false;
        any->kind = MODEL_ANY;
        one->attribute.type = any;
        one->attribute.unique = one->attribute.version = false;
        one->attribute.normal = 0;
        one->tally = NULL;
        one->reference = NULL;
    }
    if (raw->attributes.count == LIMIT_MODEL_MEMBERS)
        return file_error(file, one->attribute.at, "an entity has at most %d attributes",
                          LIMIT_MODEL_MEMBERS);
    for (struct raw_attribute *other = raw->attributes.first; other != NULL; other = other->next) {
        if (!slice_equal(other->attribute.name, one->attribute.name))
            continue;
        return file_error(
            file, one->attribute.at, "attribute \"%.*s\" is declared twice, first in %s",
            SLICE_FMT(one->attribute.name), file_line(file, other->attribute.at.line));
    }
    LIST_APPEND(&raw->attributes, one);
    if (one->reference != NULL)
        LIST_APPEND(&raw->references, one->reference);
    return ok;
}

static bool entity_item(struct model_file *file, void *entity)
{
    struct model_parser *p = &file->p;
    struct raw_entity *raw = entity;
    size_t value = 0;
    if (parse_at(p, MODEL_TOKEN_NAME) && parse_peek_at(p, 1)->kind == MODEL_TOKEN_EQUAL)
        return binding(file, raw);
    if (at_setting(p, "guard", model_mode_words)) {
        if (raw->own_guard)
            (void)file_error(file, parse_place(p), "a second \"guard\"");
        (void)parse_take(p);
        raw->own_guard = parse_choice(p, model_mode_words, &value);
        raw->entity.guard = (enum model_mode)value;
        return raw->own_guard;
    }
    if (at_setting(p, "unknown", model_leave_words)) {
        if (raw->own_unknown)
            (void)file_error(file, parse_place(p), "a second \"unknown\"");
        (void)parse_take(p);
        raw->own_unknown = parse_choice(p, model_leave_words, &value);
        raw->entity.unknown = (enum model_leave)value;
        return raw->own_unknown;
    }
    bool taken = false;
    bool ok = parse_clause(file, raw, &taken);
    return taken ? ok : attribute(file, raw);
}

static bool mixin_names(struct model_file *file, struct raw_entity *raw)
{
    struct model_parser *p = &file->p;
    do {
        if (raw->mixin_count == LIMIT_MODEL_MIXINS)
            return file_error(file, parse_place(p), "an entity has at most %d mixins",
                              LIMIT_MODEL_MIXINS);
        struct raw_name *name = &raw->mixins[raw->mixin_count];
        if (!parse_raw_name(p, "the name of a mixin", name))
            return false;
        for (size_t i = 0; i < raw->mixin_count; i++)
            if (slice_equal(raw->mixins[i].name, name->name))
                return file_error(file, name->at, "mixin \"%.*s\" is there twice",
                                  SLICE_FMT(name->name));
        raw->mixin_count++;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return true;
}

bool parse_entity(struct model_file *file, size_t first)
{
    struct model_parser *p = &file->p;
    struct raw_entity *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    struct model_entity *entity = &raw->entity;
    entity->at = parse_place(p);
    if (!parse_name(p, "a name for the entity", &entity->name))
        return false;
    entity->type_value = entity->name;
    raw->table = file->tables.last;
    raw->broken = true;
    LIST_APPEND(&file->entities, raw);
    if (parse_accept_word(p, "of") && !parse_raw_name(p, "the name of a table", &raw->table_name))
        return false;
    if (parse_accept_word(p, "as") &&
        !parse_string(p, "a string: the entity's name in items", &entity->type_value))
        return false;
    if (parse_accept_word(p, "with") && !mixin_names(file, raw))
        return false;
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"of\", \"as\", \"with\" or \"{\""))
        return false;
    entity->doc = parse_doc(p, first, p->at - 1);
    raw->broken = !parse_items(file, entity_item, raw);
    return true;
}

// ---- Mixins
// --------------------------------------------------------------------------------------

static struct raw_mixin *find_mixin(const struct model_file *file, struct slice name)
{
    for (struct raw_mixin *mixin = file->mixins.first; mixin != NULL; mixin = mixin->next)
        if (slice_equal(mixin->name.name, name))
            return mixin;
    return NULL;
}

// mixin NAME { items of an entity }
bool parse_mixin(struct model_file *file, size_t first)
{
    struct model_parser *p = &file->p;
    struct raw_mixin *mixin = file_scratch(file, 1, sizeof *mixin);
    struct raw_entity *trial = file_scratch(file, 1, sizeof *trial); // tells what is wrong, once
    (void)first;
    if (mixin == NULL || trial == NULL)
        return false;
    if (!parse_raw_name(p, "a name for the mixin", &mixin->name) ||
        !parse_expect(p, MODEL_TOKEN_LBRACE, "\"{\" and what the mixin has"))
        return false;
    const struct raw_mixin *same = find_mixin(file, mixin->name.name);
    if (same != NULL)
        (void)file_error(file, mixin->name.at, "mixin \"%.*s\" is declared twice, first in %s",
                         SLICE_FMT(mixin->name.name), file_line(file, same->name.at.line));
    mixin->body = p->at;
    mixin->broken = !parse_items(file, entity_item, trial);
    LIST_APPEND(&file->mixins, mixin);
    return true;
}

static bool mix(struct model_file *file, struct raw_entity *raw, const struct raw_name *name)
{
    const struct raw_mixin *mixin = find_mixin(file, name->name);
    if (mixin == NULL) {
        struct model_guess guess = model_guess_for(name->name);
        for (struct raw_mixin *one = file->mixins.first; one != NULL; one = one->next)
            model_guess_candidate(&guess, one->name.name);
        return file_error(file, name->at, "unknown mixin \"%.*s\"%s", SLICE_FMT(name->name),
                          model_guess_say(&guess, file->p.scratch));
    }
    file->p.at = mixin->body;
    file->p.depth = 0;
    if (mixin->broken || !parse_items(file, entity_item, raw))
        return false;
    file->mixed += file->p.at - mixin->body;
    return file->mixed <= LIMIT_MODEL_MIXED ||
           file_error(file, name->at, "mixins make more of the file than a file may have");
}

void parse_mix(struct model_file *file)
{
    size_t at = file->p.at;
    for (struct raw_entity *raw = file->entities.first; raw != NULL; raw = raw->next)
        for (size_t i = 0; i < raw->mixin_count && file->mixed <= LIMIT_MODEL_MIXED; i++)
            raw->broken = !mix(file, raw, &raw->mixins[i]) || raw->broken;
    file->p.at = at;
}

// ---- Includes
// ------------------------------------------------------------------------------------

// Whoever reads files has put them in place before.
bool parse_include(struct model_file *file, size_t first)
{
    struct slice name;
    struct model_place at = model_token_place(&file->p.tokens.list[first]);
    return parse_string(&file->p, "the name of a file", &name) &&
           file_error(file, at,
                      "a model that is not read from a file cannot include one: \"dolmen check\", "
                      "\"dolmen apply\" and \"dolmen serve --model\" put \"%.*s\" in its place",
                      SLICE_FMT(name));
}
