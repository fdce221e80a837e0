// Entities: bindings of keys to templates, and attributes.
#include "model/parse_internal.h"

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
        one->template = parse_template(p, &one->plain);
        if (one->template == NULL)
            return false;
        bool more = parse_at(p, MODEL_TOKEN_COMMA);
        const struct model_token *next = parse_peek_at(p, 1);
        const struct model_token *after = parse_peek_at(p, 2);
        bool string = next->kind == MODEL_TOKEN_STRING;
        // "GSI1 = a, b" goes on; "PK = a, SK = b" and "PK = a, name string" do not.
        bool name = next->kind == MODEL_TOKEN_NAME && !next->first &&
                    (after->first || after->kind == MODEL_TOKEN_RBRACE ||
                     after->kind == MODEL_TOKEN_COMMA || after->kind == MODEL_TOKEN_DOT);
        if (!more || (!string && !name))
            break;
        (void)parse_take(p);
    }
    size_t others = 0;
    struct raw_binding **end = &raw->bindings;
    for (; *end != NULL; others++)
        end = &(*end)->next;
    if (others > (size_t)2 * LIMIT_KEY_PARTS * LIMIT_INDEXES)
        return file_error(file, bound->at, "an entity has no more keys than this");
    *end = bound;
    return true;
}

static bool is_one_of(const struct model_parser *p, const struct model_token *token,
                      const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (model_token_is(&p->tokens, token, words[i]))
            return !token->first;
    return false;
}

static bool attribute(struct model_file *file, struct raw_entity *raw, struct raw_attribute **last)
{
    struct raw_attribute *one = file_scratch(file, 1, sizeof *one);
    if (one == NULL)
        return false;
    bool ok = parse_attribute(file, false, &one->attribute);
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
    }
    if (raw->attribute_count == LIMIT_MODEL_MEMBERS)
        return file_error(file, one->attribute.at, "an entity has at most %d attributes",
                          LIMIT_MODEL_MEMBERS);
    for (struct raw_attribute *other = raw->attributes; other != NULL; other = other->next) {
        if (!slice_equal(other->attribute.name, one->attribute.name))
            continue;
        return file_error(file, one->attribute.at,
                          "attribute \"%.*s\" is declared twice, first in line %u",
                          SLICE_FMT(one->attribute.name), other->attribute.at.line);
    }
    if (*last == NULL)
        raw->attributes = one;
    else
        (*last)->next = one;
    *last = one;
    raw->attribute_count++;
    return ok;
}

static bool entity_item(struct model_file *file, struct raw_entity *raw,
                        struct raw_attribute **last)
{
    static const char *const modes[] = {"off", "warn", "enforce", NULL};
    static const char *const leaves[] = {"allow", "warn", "reject", NULL};
    struct model_parser *p = &file->p;
    const struct model_token *next = parse_peek_at(p, 1);
    if (parse_at(p, MODEL_TOKEN_NAME) && next->kind == MODEL_TOKEN_EQUAL)
        return binding(file, raw);
    if (parse_at_word(p, "guard") && is_one_of(p, next, modes)) {
        (void)parse_take(p);
        raw->own_guard = true;
        return parse_mode(file, &raw->entity.guard);
    }
    if (parse_at_word(p, "unknown") && is_one_of(p, next, leaves)) {
        (void)parse_take(p);
        raw->own_unknown = true;
        return parse_leave(file, &raw->entity.unknown);
    }
    return attribute(file, raw, last);
}

static bool entity_items(struct model_file *file, struct raw_entity *raw, struct model_place open)
{
    struct model_parser *p = &file->p;
    struct raw_attribute *last = NULL;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        size_t from = p->at;
        if (parse_at(p, MODEL_TOKEN_END) || parse_brace_forgotten(p)) {
            (void)file_error(file, open, "this \"{\" is never closed");
            return true;
        }
        if (!entity_item(file, raw, &last)) {
            raw->broken = true;
            parse_recover_item(p, from);
            if (p->at == from || parse_declaration_begins(p))
                return true;
        }
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
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
    if (parse_accept_word(p, "of")) {
        raw->table_at = parse_place(p);
        if (!parse_name(p, "the name of a table", &raw->table_name))
            return false;
    }
    if (parse_accept_word(p, "as") &&
        !parse_string(p, "a string: the entity's name in items", &entity->type_value))
        return false;
    struct model_place open = parse_place(p);
    if (!parse_expect(p, MODEL_TOKEN_LBRACE, "\"of\", \"as\" or \"{\""))
        return false;
    entity->doc = parse_doc(p, first, p->at - 1);
    raw->broken = false;
    return entity_items(file, raw, open);
}
