// Rules: what the server does beyond the shape of items. They are read into raw_rule here, and
// resolved by the check of their kind.
#include "model/parse_internal.h"

const char *const model_fate_words[] = {"archive", "delete", NULL};
static const char *const event_words[] = {"insert", "modify", "remove", NULL};

bool parse_raw_name(struct model_parser *p, const char *what, struct raw_name *name)
{
    name->at = parse_place(p);
    return parse_name(p, what, &name->name);
}

// ---- Parts of several rules
// ----------------------------------------------------------------------

bool parse_raw_names(struct model_file *file, const char *what, size_t most, struct raw_name **list,
                     size_t *count)
{
    struct model_parser *p = &file->p;
    *list = file_scratch(file, most, sizeof **list);
    if (*list == NULL)
        return false;
    do {
        if (*count == most)
            return file_error(file, parse_place(p), "at most %zu names can stand here", most);
        if (!parse_raw_name(p, what, &(*list)[(*count)++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return true;
}

static bool one_entity(struct model_file *file, struct raw_rule *raw)
{
    raw->entities = file_scratch(file, 1, sizeof *raw->entities);
    raw->entity_count = 1;
    return raw->entities != NULL &&
           parse_raw_name(&file->p, "the name of an entity", &raw->entities[0]);
}

static bool text_template(struct model_file *file, const char *what, struct raw_rule *raw)
{
    if (!parse_at(&file->p, MODEL_TOKEN_STRING))
        return parse_expected(&file->p, what);
    raw->template = parse_template(&file->p);
    return raw->template != NULL;
}

static bool maybe_when(struct model_file *file, const struct model_test **when)
{
    if (!parse_accept_word(&file->p, "when"))
        return true;
    *when = parse_test(&file->p);
    return *when != NULL;
}

static bool fate(struct model_file *file, struct raw_rule *raw)
{
    size_t position = 0;
    if (!parse_expect_word(&file->p, "then") ||
        !parse_choice(&file->p, model_fate_words, &position))
        return false;
    raw->fate = (enum model_fate)position;
    return true;
}

// "{" { NAME "=" expr } "}"
static bool assignments(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        struct raw_assignment *one = file_scratch(file, 1, sizeof *one);
        if (one == NULL)
            return false;
        if (!parse_raw_name(p, "an attribute of the item that is made, or \"}\"", &one->name) ||
            !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\" and a value"))
            return false;
        one->value = parse_expr(p);
        if (one->value == NULL)
            return false;
        if (raw->assignments.count == LIMIT_MODEL_MEMBERS)
            return file_error(file, one->name.at, "an item has at most %d attributes",
                              LIMIT_MODEL_MEMBERS);
        LIST_APPEND(&raw->assignments, one);
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
    return true;
}

// ---- Items that are made
// -------------------------------------------------------------------------

static bool events(struct model_file *file, struct raw_rule *raw)
{
    do {
        size_t position = 0;
        if (!parse_choice(&file->p, event_words, &position))
            return false;
        raw->events |= 1U << position;
    } while (parse_accept(&file->p, MODEL_TOKEN_COMMA));
    return true;
}

// "job.{status}" on insert, modify of Job when … into Outbox { … }
static bool read_emit(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    return text_template(file, "a string: the name of the event", raw) &&
           parse_expect_word(p, "on") && events(file, raw) && parse_expect_word(p, "of") &&
           one_entity(file, raw) && maybe_when(file, &raw->when) && parse_expect_word(p, "into") &&
           parse_raw_name(p, "the name of an entity", &raw->target) && assignments(file, raw);
}

// Job, Step with before, after into Audit { … }
static bool read_audit(struct model_file *file, struct raw_rule *raw)
{
    static const char *const images[] = {"before", "after", NULL};
    enum { MOST = 64 };
    struct model_parser *p = &file->p;
    if (!parse_raw_names(file, "the name of an entity", MOST, &raw->entities, &raw->entity_count))
        return false;
    raw->events = MODEL_INSERT | MODEL_MODIFY | MODEL_REMOVE;
    if (parse_accept_word(p, "with")) {
        do {
            size_t position = 0;
            if (!parse_choice(p, images, &position))
                return false;
            raw->before |= position == 0;
            raw->after |= position == 1;
        } while (parse_accept(p, MODEL_TOKEN_COMMA));
    }
    return parse_expect_word(p, "into") &&
           parse_raw_name(p, "the name of an entity", &raw->target) && assignments(file, raw);
}

// TagIndex from each Image.tags as tag when … { … }
static bool read_derive(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!parse_raw_name(p, "the entity whose items are made", &raw->target) ||
        !parse_expect_word(p, "from"))
        return false;
    bool each = parse_at_word(p, "each") && parse_peek_at(p, 1)->kind == MODEL_TOKEN_NAME;
    if (each)
        (void)parse_take(p);
    if (!one_entity(file, raw))
        return false;
    if (each && (!parse_expect(p, MODEL_TOKEN_DOT, "\".\" and a list or a set of the entity") ||
                 !parse_raw_name(p, "a list or a set of the entity", &raw->names[0]) ||
                 !parse_expect_word(p, "as") ||
                 !parse_raw_name(p, "the attribute that holds the member", &raw->member)))
        return false;
    return maybe_when(file, &raw->when) && assignments(file, raw);
}

// ---- What is kept
// --------------------------------------------------------------------------------

// Job for 90d after updated_at when … then archive
static bool read_retain(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!one_entity(file, raw) || !parse_expect_word(p, "for") || !parse_duration(p, &raw->seconds))
        return false;
    if (parse_accept_word(p, "after")) {
        const struct model_token *next = parse_peek_at(p, 1);
        raw->deleted = parse_at_word(p, "delete") && (model_token_is(&p->tokens, next, "then") ||
                                                      model_token_is(&p->tokens, next, "when"));
        if (raw->deleted)
            (void)parse_take(p);
        else if (!parse_raw_name(p, "an attribute that is a time, or \"delete\"", &raw->names[0]))
            return false;
    }
    return maybe_when(file, &raw->when) && fate(file, raw);
}

// AssetVersion latest 10 by version per asset_id, lang then archive
static bool read_keep(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    return one_entity(file, raw) && parse_expect_word(p, "latest") &&
           parse_count(p, "a number", 1, INT32_MAX, &raw->count) && parse_expect_word(p, "by") &&
           parse_raw_name(p, "the name of an attribute", &raw->names[0]) &&
           parse_expect_word(p, "per") &&
           parse_raw_names(file, "the name of an attribute", LIMIT_MODEL_UNIQUE, &raw->per,
                           &raw->per_count) &&
           fate(file, raw);
}

// ---- Objects
// -------------------------------------------------------------------------------------

// "10MB": a size in bytes.
static bool object_size(struct model_file *file, uint64_t *bytes)
{
    struct model_parser *p = &file->p;
    const struct model_token *token = parse_peek(p);
    struct slice text = parse_text(p, token);
    uint64_t value = 0;
    if (token->kind != MODEL_TOKEN_SIZE)
        return parse_expected(p, "a size such as 10MB (units: KB, MB, GB)");
    for (size_t i = 0; i + 2 < text.len && value < UINT32_MAX; i++)
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    uint8_t unit = text.ptr[text.len - 2];
    *bytes = value << (unit == 'G' ? 30 : unit == 'M' ? 20 : 10);
    if (value == 0 || *bytes > LIMIT_MODEL_OBJECT)
        return file_error(file, model_token_place(token),
                          "an object has at least 1KB and at most 5120GB");
    (void)parse_take(p);
    return true;
}

static bool object_types(struct model_file *file, struct model_object *object)
{
    struct model_parser *p = &file->p;
    struct slice *types = file_alloc(file, LIMIT_MODEL_TESTS, sizeof *types);
    if (types == NULL)
        return false;
    object->types = types;
    object->type_count = 0;
    do {
        if (object->type_count == LIMIT_MODEL_TESTS)
            return file_error(file, parse_place(p), "at most %d types can stand here",
                              LIMIT_MODEL_TESTS);
        if (!parse_string(p, "a type such as \"image/jpeg\"", &types[object->type_count++]))
            return false;
    } while (parse_accept(p, MODEL_TOKEN_COMMA));
    return true;
}

// type "image/jpeg", "image/png"  at most 10MB  on delete keep  in "s3://bucket/prefix"
static bool object_option(struct model_file *file, struct raw_rule *raw)
{
    static const char *const words[] = {"type", "at", "on", "in", NULL};
    static const char *const fates[] = {"keep", "delete", NULL};
    struct model_parser *p = &file->p;
    size_t word = 0;
    size_t position = 0;
    struct model_place at = parse_place(p);
    if (!parse_choice(p, words, &word))
        return false;
    if (raw->events & 1U << word)
        return file_error(file, at, "\"%s\" stands here twice", words[word]);
    raw->events |= 1U << word;
    if (word == 0)
        return object_types(file, raw->object);
    if (word == 1)
        return parse_expect_word(p, "most") && object_size(file, &raw->object->most);
    if (word == 3)
        return parse_string(p, "a string such as \"s3://bucket\"", &raw->url);
    if (!parse_expect_word(p, "delete") || !parse_choice(p, fates, &position))
        return false;
    raw->object->on_delete = position == 1;
    return true;
}

// original, files[] or files[].path
static bool object_name(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!parse_raw_name(p, "a name for the object", &raw->target))
        return false;
    raw->object->name = raw->target.name;
    if (!parse_accept(p, MODEL_TOKEN_LBRACKET))
        return true;
    raw->names[0] = raw->target;
    return parse_expect(p, MODEL_TOKEN_RBRACKET, "\"]\"") &&
           (!parse_accept(p, MODEL_TOKEN_DOT) ||
            parse_name(p, "a field of a member", &raw->object->member));
}

// Image.original = "users/{user_id}.jpg" signed 10m { … }
static bool read_object(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    raw->object = file_alloc(file, 1, sizeof *raw->object);
    if (raw->object == NULL || !one_entity(file, raw) ||
        !parse_expect(p, MODEL_TOKEN_DOT, "\".\" and a name for the object") ||
        !object_name(file, raw) ||
        !parse_expect(p, MODEL_TOKEN_EQUAL, "\"=\" and the object's path") ||
        !text_template(file, "a string: the object's path", raw) ||
        !parse_expect_word(p, "signed") || !parse_duration(p, &raw->seconds))
        return false;
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        if (!object_option(file, raw))
            return false;
        (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
    return true;
}

// Step by sha256(project_id, inputs) for 72h
static bool read_idempotent(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!one_entity(file, raw) || !parse_expect_word(p, "by"))
        return false;
    raw->by = parse_expr(p);
    return raw->by != NULL && parse_expect_word(p, "for") && parse_duration(p, &raw->seconds);
}

// ---- Quotas
// --------------------------------------------------------------------------------------

const char *const model_period_words[] = {"", "hour", "day", "week", "month", "year", NULL};

// EXPR [when TEST] {, EXPR [when TEST]}
static bool limits(struct model_file *file, struct raw_rule *raw)
{
    do {
        struct raw_limit *one = file_scratch(file, 1, sizeof *one);
        if (one == NULL)
            return false;
        if (raw->limits.count == LIMIT_MODEL_TESTS)
            return file_error(file, parse_place(&file->p), "a quota has at most %d limits",
                              LIMIT_MODEL_TESTS);
        one->limit.value = parse_expr(&file->p);
        if (one->limit.value == NULL || !maybe_when(file, &one->limit.when))
            return false;
        LIST_APPEND(&raw->limits, one);
    } while (parse_accept(&file->p, MODEL_TOKEN_COMMA));
    return true;
}

// User.scansUsed at most 3 when tier = "free", scanLimit per month resets scanReset counting Scan
static bool read_quota(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    size_t period = 0;
    if (!one_entity(file, raw) ||
        !parse_expect(p, MODEL_TOKEN_DOT, "\".\" and the attribute that counts") ||
        !parse_raw_name(p, "the attribute that counts", &raw->names[0]) ||
        !parse_expect_word(p, "at") || !parse_expect_word(p, "most") || !limits(file, raw))
        return false;
    if (parse_accept_word(p, "per")) {
        if (!parse_choice(p, model_period_words + 1, &period) || !parse_expect_word(p, "resets") ||
            !parse_raw_name(p, "the attribute that says when the period ends", &raw->names[1]))
            return false;
        raw->period = (enum model_period)(period + 1);
    }
    if (!parse_at_word(p, "counting"))
        return true;
    size_t first = p->at;
    raw->counting = file_scratch(file, 1, sizeof *raw->counting);
    if (raw->counting == NULL)
        return false;
    raw->counting->at = parse_place(p);
    (void)parse_take(p);
    if (!parse_counted(file, false, raw->counting))
        return false;
    raw->counting->text = parse_text_since(p, first);
    return true;
}

// ---- Publishing
// ----------------------------------------------------------------------------------

// The value of an option as text: a string, a name, a number, or a duration in seconds.
static bool option_value(struct model_file *file, struct slice *value)
{
    struct model_parser *p = &file->p;
    uint64_t seconds = 0;
    if (parse_at(p, MODEL_TOKEN_STRING))
        return parse_string(p, "a value", value);
    if (parse_at(p, MODEL_TOKEN_DURATION)) {
        if (!parse_duration(p, &seconds))
            return false;
        char *text = arena_printf(p->arena, "%llu", (unsigned long long)seconds);
        *value = text == NULL ? slice_of(NULL, 0) : slice_str(text);
        return text != NULL || parse_no_memory(p);
    }
    if (!parse_at(p, MODEL_TOKEN_NUMBER) && !parse_at(p, MODEL_TOKEN_NAME))
        return parse_expected(p, "the option's value: a string, a name, a number or a duration");
    *value = parse_text(p, parse_take(p));
    return true;
}

bool parse_option(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    struct raw_option *one = file_scratch(file, 1, sizeof *one);
    if (one == NULL)
        return false;
    one->option.at = parse_place(p);
    if (raw->options.count == LIMIT_MODEL_TESTS)
        return file_error(file, one->option.at, "at most %d options can stand here",
                          LIMIT_MODEL_TESTS);
    if (!parse_name(p, "an option, or \"}\"", &one->option.name))
        return false;
    bool mark = slice_is(one->option.name, "mark") && parse_at(p, MODEL_TOKEN_NAME) &&
                parse_peek_at(p, 1)->kind == MODEL_TOKEN_EQUAL;
    if (mark) {
        if (!parse_raw_name(p, "an attribute", &raw->names[0]))
            return false;
        (void)parse_take(p);
        return parse_literal(p, &raw->marked);
    }
    (void)parse_accept(p, MODEL_TOKEN_EQUAL);
    if ((parse_at_word(p, "env") || parse_at_word(p, "file")) &&
        parse_peek_at(p, 1)->kind == MODEL_TOKEN_STRING)
        one->option.source = parse_text(p, parse_take(p));
    LIST_APPEND(&raw->options, one);
    return option_value(file, &one->option.value);
}

// Outbox to "https://…" when … { secret env "HOOK"  mark status = "published" }
static bool read_publish(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!one_entity(file, raw) || !parse_expect_word(p, "to") ||
        !parse_string(p, "a string: where to", &raw->url) || !maybe_when(file, &raw->when))
        return false;
    if (!parse_accept(p, MODEL_TOKEN_LBRACE))
        return true;
    while (!parse_accept(p, MODEL_TOKEN_RBRACE)) {
        if (!parse_option(file, raw))
            return false;
        if (!parse_accept(p, MODEL_TOKEN_COMMA))
            (void)parse_accept(p, MODEL_TOKEN_SEMICOLON);
    }
    return true;
}

// Plan { plan_id = "free"  name = "Free" }
static bool read_seed(struct model_file *file, struct raw_rule *raw)
{
    return one_entity(file, raw) &&
           (parse_at(&file->p, MODEL_TOKEN_LBRACE) ||
            parse_expected(&file->p, "\"{\" and the item's attributes")) &&
           assignments(file, raw);
}

static bool read_tenant(struct model_file *file, struct raw_rule *raw)
{
    return parse_raw_name(&file->p, "the name of an attribute", &raw->names[0]);
}

// ---- All of them
// ---------------------------------------------------------------------------------

bool parse_rule(struct model_file *file, size_t first)
{
    static const struct {
        const char *kind;
        bool (*read)(struct model_file *file, struct raw_rule *raw);
        void (*check)(struct model_file *file, struct raw_rule *raw);
    } kinds[] = {
        {"retain", read_retain, check_retain}, {"keep", read_keep, check_keep},
        {"emit", read_emit, check_emit},       {"audit", read_audit, check_audit},
        {"derive", read_derive, check_derive}, {"object", read_object, check_object},
        {"tenant", read_tenant, check_tenant}, {"idempotent", read_idempotent, check_idempotent},
        {"quota", read_quota, check_quota},    {"publish", read_publish, check_publish},
        {"seed", read_seed, check_seed},       {"project", read_project, check_project},
        {"allow", read_allow, check_policy},   {"deny", read_deny, check_policy},
    };
    struct model_parser *p = &file->p;
    struct raw_rule *raw = file_scratch(file, 1, sizeof *raw);
    if (raw == NULL)
        return false;
    const struct model_token *head = parse_last(p);
    raw->rule.kind = parse_text(p, head);
    raw->rule.at = model_token_place(head);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (!slice_is(raw->rule.kind, kinds[i].kind))
            continue;
        raw->check = kinds[i].check;
        if (!kinds[i].read(file, raw))
            return false;
    }
    raw->rule.entity = raw->entity_count > 0 ? raw->entities[0].name : slice_of(NULL, 0);
    raw->rule.text = slice_of(p->tokens.text.ptr + head->start, parse_last(p)->end - head->start);
    raw->rule.doc = parse_doc(p, first, p->at - 1);
    LIST_APPEND(&file->rules, raw);
    return true;
}
