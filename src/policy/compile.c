// Documents into programs. The text is read as JSON once, so that what follows meets no syntax
// error; then its members, which may come in any order: the version first, because it says whether
// variables are variables, then the statements.
//
// Everything has one place, so every fault can say where it is: line, column and JSON pointer.
#include "policy/compile.h"
#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Faults ----------------------------------------------------------------------------------

static void fault_place(const struct compiler *compiler, const uint8_t *at,
                        struct policy_fault *fault)
{
    const uint8_t *line = compiler->text.ptr;
    fault->line = 1;
    for (const uint8_t *p = compiler->text.ptr; p < at; p++) {
        if (*p == '\n') {
            fault->line++;
            line = p + 1;
        }
    }
    fault->column = 1 + (unsigned)slice_characters(slice_of(line, (size_t)(at - line)));
    memcpy(fault->path, compiler->path, compiler->path_len);
    fault->path[compiler->path_len] = 0;
}

bool compile_fail(struct compiler *compiler, const uint8_t *at, const char *format, ...)
{
    va_list arguments;
    if (compiler->failed)
        return false;
    compiler->failed = true;
    fault_place(compiler, at, compiler->fault);
    va_start(arguments, format);
    (void)vsnprintf(compiler->fault->message, sizeof(compiler->fault->message), format, arguments);
    va_end(arguments);
    return false;
}

bool compile_no_memory(struct compiler *compiler)
{
    return compile_fail(compiler, compiler->text.ptr, "there is no memory to compile the policy");
}

void compile_warn(struct compiler *compiler, const uint8_t *at, const char *format, ...)
{
    struct policy_fault warning;
    va_list arguments;
    if (compiler->warn == NULL)
        return;
    fault_place(compiler, at, &warning);
    va_start(arguments, format);
    (void)vsnprintf(warning.message, sizeof(warning.message), format, arguments);
    va_end(arguments);
    compiler->warn(compiler->to, &warning);
}

const uint8_t *compile_place(struct compiler *compiler)
{
    (void)json_peek(&compiler->reader); // skips white space
    return compiler->reader.at;
}

// A path that is too long ends where it is.
size_t compile_enter(struct compiler *compiler, struct slice name)
{
    size_t before = compiler->path_len;
    if (before + 2 * name.len + 2 >= sizeof(compiler->path))
        return before;
    compiler->path[compiler->path_len++] = '/';
    for (size_t i = 0; i < name.len; i++) {
        bool special = name.ptr[i] == '~' || name.ptr[i] == '/';
        compiler->path[compiler->path_len++] = special ? '~' : (char)name.ptr[i];
        if (special)
            compiler->path[compiler->path_len++] = name.ptr[i] == '~' ? '0' : '1';
    }
    return before;
}

size_t compile_enter_index(struct compiler *compiler, size_t index)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%zu", index);
    return compile_enter(compiler, slice_str(text));
}

void compile_leave(struct compiler *compiler, size_t path_len)
{
    compiler->path_len = path_len;
}

bool compile_pattern_fault(struct compiler *compiler, const uint8_t *at, struct slice text,
                           enum pattern_fault fault)
{
    switch (fault) {
    case PATTERN_OPEN:
        return compile_fail(compiler, at,
                            "\"%.*s\" has a variable that is not closed: write ${key}, or ${$} "
                            "for a dollar sign",
                            SLICE_FMT(text));
    case PATTERN_NAME:
        return compile_fail(compiler, at,
                            "\"%.*s\" has a variable that names no condition key: write "
                            "${aws:username} or ${aws:PrincipalTag/team, 'default'}",
                            SLICE_FMT(text));
    case PATTERN_LONG:
        return compile_fail(compiler, at,
                            "the value has more than %d wildcards and texts, or more than %d "
                            "variables: split it",
                            LIMIT_POLICY_PIECES, LIMIT_POLICY_VARIABLES);
    case PATTERN_MEMORY:
        return compile_no_memory(compiler);
    case PATTERN_OK:
        break;
    }
    return true;
}

// ---- JSON ------------------------------------------------------------------------------------

static const char *kind_name(enum json_kind kind)
{
    static const char *const names[] = {"an object", "a list", "a string", "a number",
                                        "true",      "false",  "null",     "nothing"};
    return names[kind];
}

size_t compile_count(struct compiler *compiler)
{
    struct json_reader ahead = compiler->reader;
    struct slice name;
    size_t count = 0;
    bool list = json_peek(&ahead) == JSON_ARRAY;
    if (!json_enter(&ahead))
        return 0;
    while (list ? json_next_element(&ahead) : json_next_name(&ahead, &name)) {
        if (!json_skip(&ahead))
            return 0;
        count++;
    }
    return count;
}

static bool string_read(struct compiler *compiler, const char *what, struct slice *out)
{
    const uint8_t *at = compile_place(compiler);
    enum json_kind kind = json_peek(&compiler->reader);
    if (kind != JSON_STRING)
        return compile_fail(compiler, at, "%s must be a string, not %s", what, kind_name(kind));
    return json_read_string(&compiler->reader, out) || compile_no_memory(compiler);
}

bool compile_texts(struct compiler *compiler, const char *what, compile_text *each, void *to)
{
    const uint8_t *at = compile_place(compiler);
    struct slice text;
    enum json_kind kind = json_peek(&compiler->reader);
    if (kind == JSON_STRING)
        return string_read(compiler, what, &text) && each(compiler, at, text, to);
    if (kind != JSON_ARRAY)
        return compile_fail(compiler, at, "%s must be a string or a list of strings, not %s", what,
                            kind_name(kind));
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    size_t index = 0;
    while (json_next_element(&compiler->reader)) {
        size_t before = compile_enter_index(compiler, index++);
        const uint8_t *place = compile_place(compiler);
        if (!string_read(compiler, what, &text) || !each(compiler, place, text, to))
            return false;
        compile_leave(compiler, before);
    }
    return index > 0 || compile_fail(compiler, at, "%s must not be empty", what);
}

// Room for what a string or a list of strings has.
static void *texts_room(struct compiler *compiler, size_t size)
{
    size_t count = json_peek(&compiler->reader) == JSON_ARRAY ? compile_count(compiler) : (size_t)1;
    void *room = arena_zalloc(&compiler->policy->arena, count + 1, size);
    if (room == NULL)
        (void)compile_no_memory(compiler);
    return room;
}

// ---- Actions ---------------------------------------------------------------------------------

static bool is_service(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i] | 0x20;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || name.ptr[i] == '-'))
            return false;
    }
    return name.len > 0;
}

static bool action_one(struct compiler *compiler, const uint8_t *at, struct slice text, void *to)
{
    struct statement *statement = to;
    struct slice name = text;
    struct slice service = slice_cut(&name, ':');
    if (!slice_is(text, "*")) {
        if (service.len == text.len)
            return compile_fail(compiler, at,
                                "\"%.*s\" is not an action: write service:action, such as "
                                "dynamodb:GetItem, or \"*\"",
                                SLICE_FMT(text));
        if (!is_service(service))
            return compile_fail(compiler, at,
                                "\"%.*s\" is not a service: wildcards may only stand behind the "
                                "colon",
                                SLICE_FMT(service));
        if (name.len == 0 || memchr(name.ptr, ':', name.len) != NULL)
            return compile_fail(compiler, at, "\"%.*s\" names no action behind the service",
                                SLICE_FMT(text));
    }
    struct pattern *pattern = &statement->action[statement->action_count++];
    enum pattern_fault fault =
        pattern_compile(text, PATTERN_WILD, &compiler->policy->arena, pattern);
    if (fault != PATTERN_OK)
        return compile_pattern_fault(compiler, at, text, fault);
    lint_action(compiler, at, text, pattern);
    return true;
}

// Each action that there is, tried once, so that a decision looks at one bit.
static void actions_spread(struct statement *statement)
{
    char text[64];
    for (size_t id = 0; id < POLICY_ACTION_COUNT; id++) {
        const struct policy_action_row *row = policy_action_row((enum policy_action_id)id);
        int len = snprintf(text, sizeof(text), POLICY_SERVICE "%.*s", SLICE_FMT(row->name));
        ensure(len > 0 && (size_t)len < sizeof(text));
        bool found = false;
        for (size_t i = 0; i < statement->action_count && !found; i++)
            found = pattern_match(&statement->action[i], slice_of(text, (size_t)len), true, NULL) ==
                    VERDICT_YES;
        if (found != statement->not_action)
            statement->actions[id / 64] |= UINT64_C(1) << (id % 64);
    }
}

static bool actions_read(struct compiler *compiler, struct statement *statement, bool negated)
{
    statement->not_action = negated;
    statement->action = texts_room(compiler, sizeof(*statement->action));
    if (statement->action == NULL ||
        !compile_texts(compiler, negated ? "NotAction" : "Action", action_one, statement))
        return false;
    actions_spread(statement);
    return true;
}

// ---- Resources -------------------------------------------------------------------------------

static bool resource_one(struct compiler *compiler, const uint8_t *at, struct slice text, void *to)
{
    struct statement *statement = to;
    unsigned special = PATTERN_WILD | (compiler->policy->variables ? PATTERN_VARIABLES : 0);
    if (slice_is(text, "*"))
        statement->any_resource = true;
    else if (!slice_begins(text, SLICE_LIT("arn:")))
        return compile_fail(compiler, at,
                            "\"%.*s\" is not a resource: write an ARN, which begins with arn:, or "
                            "\"*\"",
                            SLICE_FMT(text));
    struct arn_pattern *pattern = &statement->resource[statement->resource_count++];
    enum pattern_fault fault =
        arn_pattern_compile(text, special, &compiler->policy->arena, pattern);
    if (fault != PATTERN_OK)
        return compile_pattern_fault(compiler, at, text, fault);
    if (!pattern->any && !pattern->whole && text.ptr[text.len - 1] != '*')
        return compile_fail(compiler, at,
                            "\"%.*s\" is not a whole ARN: write "
                            "arn:partition:service:region:account:resource; only a * at the end "
                            "stands for parts that are left out",
                            SLICE_FMT(text));
    lint_resource(compiler, at, text, pattern);
    return true;
}

static bool resources_read(struct compiler *compiler, struct statement *statement, bool negated)
{
    statement->not_resource = negated;
    statement->resource = texts_room(compiler, sizeof(*statement->resource));
    return statement->resource != NULL &&
           compile_texts(compiler, negated ? "NotResource" : "Resource", resource_one, statement);
}

// ---- Principals ------------------------------------------------------------------------------

struct principals {
    struct statement *statement;
    size_t room;
    struct slice type; // "AWS"
};

static bool principal_one(struct compiler *compiler, const uint8_t *at, struct slice text, void *to)
{
    struct principals *list = to;
    struct who *who = &list->statement->who[list->statement->who_count];
    ensure(list->statement->who_count < list->room);
    *who = (struct who){.kind = WHO_NOBODY, .text = text};
    if (slice_is(list->type, "AWS")) {
        if (!who_read(text, who))
            return compile_fail(compiler, at,
                                "\"%.*s\" is not a principal: write an account, the ARN of a user, "
                                "a role or a session without wildcards, or \"*\"",
                                SLICE_FMT(text));
    } else if (slice_is(list->type, "Service")) {
        who->kind = WHO_SERVICE;
    }
    if (who->kind == WHO_NOBODY)
        compile_warn(compiler, at, "no request is ever made by \"%.*s\"", SLICE_FMT(text));
    list->statement->who_count++;
    return true;
}

// How many principals an object of lists has, at most: its text is longer than that.
static size_t principals_count(struct compiler *compiler)
{
    struct json_reader ahead = compiler->reader;
    struct slice name;
    size_t count = 0;
    if (!json_enter(&ahead))
        return 0;
    while (json_next_name(&ahead, &name)) {
        struct compiler inner = {.reader = ahead};
        count += json_peek(&ahead) == JSON_ARRAY ? compile_count(&inner) : 1;
        if (!json_skip(&ahead))
            return count;
    }
    return count;
}

static bool principal_type(struct compiler *compiler, const uint8_t *at, struct slice name)
{
    return slice_is(name, "AWS") || slice_is(name, "Service") || slice_is(name, "Federated") ||
           slice_is(name, "CanonicalUser") ||
           compile_fail(compiler, at,
                        "\"%.*s\" is not a kind of principal: AWS, Service, Federated and "
                        "CanonicalUser are",
                        SLICE_FMT(name));
}

static bool principals_read(struct compiler *compiler, struct statement *statement, bool negated)
{
    const char *what = negated ? "NotPrincipal" : "Principal";
    const uint8_t *at = compile_place(compiler);
    enum json_kind kind = json_peek(&compiler->reader);
    struct principals list = {.statement = statement, .type = SLICE_LIT("AWS")};
    struct slice name;
    statement->not_principal = negated;
    statement->has_principal = true;
    list.room = kind == JSON_OBJECT ? principals_count(compiler) : 1;
    statement->who = arena_zalloc(&compiler->policy->arena, list.room + 1, sizeof(*statement->who));
    if (statement->who == NULL)
        return compile_no_memory(compiler);
    if (kind == JSON_STRING) {
        if (!string_read(compiler, what, &name))
            return false;
        return slice_is(name, "*") ? principal_one(compiler, at, name, &list)
                                   : compile_fail(compiler, at,
                                                  "%s must be \"*\" or an object such as {\"AWS\": "
                                                  "\"123456789012\"}",
                                                  what);
    }
    if (kind != JSON_OBJECT)
        return compile_fail(compiler, at, "%s must be \"*\" or an object, not %s", what,
                            kind_name(kind));
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    while (json_next_name(&compiler->reader, &name)) {
        const uint8_t *place = compile_place(compiler);
        size_t before = compile_enter(compiler, name);
        list.type = name;
        if (!principal_type(compiler, place, name) ||
            !compile_texts(compiler, what, principal_one, &list))
            return false;
        compile_leave(compiler, before);
    }
    return statement->who_count > 0 || compile_fail(compiler, at, "%s must not be empty", what);
}

// ---- Statements ------------------------------------------------------------------------------

enum member {
    MEMBER_SID = 1,
    MEMBER_EFFECT = 2,
    MEMBER_PRINCIPAL = 4,
    MEMBER_NOT_PRINCIPAL = 8,
    MEMBER_ACTION = 16,
    MEMBER_NOT_ACTION = 32,
    MEMBER_RESOURCE = 64,
    MEMBER_NOT_RESOURCE = 128,
    MEMBER_CONDITION = 256,
};

static const struct {
    const char *name;
    enum member member;
} statement_members[] = {
    {"Sid", MEMBER_SID},
    {"Effect", MEMBER_EFFECT},
    {"Principal", MEMBER_PRINCIPAL},
    {"NotPrincipal", MEMBER_NOT_PRINCIPAL},
    {"Action", MEMBER_ACTION},
    {"NotAction", MEMBER_NOT_ACTION},
    {"Resource", MEMBER_RESOURCE},
    {"NotResource", MEMBER_NOT_RESOURCE},
    {"Condition", MEMBER_CONDITION},
};

// 0 after telling what is wrong with the name.
static unsigned member_find(struct compiler *compiler, const uint8_t *at, struct slice name,
                            unsigned seen)
{
    for (size_t i = 0; i < COUNT_OF(statement_members); i++) {
        struct slice own = slice_str(statement_members[i].name);
        if (!policy_letters_equal(own, name))
            continue;
        if (!slice_equal(own, name))
            (void)compile_fail(compiler, at, "\"%.*s\" must be written \"%.*s\"", SLICE_FMT(name),
                               SLICE_FMT(own));
        else if ((seen & statement_members[i].member) != 0)
            (void)compile_fail(compiler, at, "the statement has %.*s twice", SLICE_FMT(own));
        else
            return statement_members[i].member;
        return 0;
    }
    (void)compile_fail(compiler, at, "a statement has no member named \"%.*s\"", SLICE_FMT(name));
    return 0;
}

static bool sid_read(struct compiler *compiler, struct statement *statement)
{
    const uint8_t *at = compile_place(compiler);
    const struct policy *policy = compiler->policy;
    if (!string_read(compiler, "Sid", &statement->sid))
        return false;
    for (size_t i = 0; i < statement->sid.len && policy->kind != POLICY_RESOURCE; i++) {
        uint8_t c = statement->sid.ptr[i] | 0x20;
        if (!((c >= 'a' && c <= 'z') ||
              (statement->sid.ptr[i] >= '0' && statement->sid.ptr[i] <= '9')))
            return compile_fail(compiler, at, "the Sid \"%.*s\" may only have letters and digits",
                                SLICE_FMT(statement->sid));
    }
    for (size_t i = 0; i < policy->count && statement->sid.len > 0; i++)
        if (slice_equal(policy->statements[i].sid, statement->sid))
            return compile_fail(compiler, at, "the Sid \"%.*s\" is that of statement %zu, too",
                                SLICE_FMT(statement->sid), i);
    return true;
}

static bool effect_read(struct compiler *compiler, struct statement *statement)
{
    const uint8_t *at = compile_place(compiler);
    struct slice effect;
    if (!string_read(compiler, "Effect", &effect))
        return false;
    statement->deny = slice_is(effect, "Deny");
    return statement->deny || slice_is(effect, "Allow") ||
           compile_fail(compiler, at, "Effect must be \"Allow\" or \"Deny\", not \"%.*s\"",
                        SLICE_FMT(effect));
}

static bool member_read(struct compiler *compiler, struct statement *statement, unsigned member)
{
    switch (member) {
    case MEMBER_SID:
        return sid_read(compiler, statement);
    case MEMBER_EFFECT:
        return effect_read(compiler, statement);
    case MEMBER_PRINCIPAL:
    case MEMBER_NOT_PRINCIPAL:
        return principals_read(compiler, statement, member == MEMBER_NOT_PRINCIPAL);
    case MEMBER_ACTION:
    case MEMBER_NOT_ACTION:
        return actions_read(compiler, statement, member == MEMBER_NOT_ACTION);
    case MEMBER_RESOURCE:
    case MEMBER_NOT_RESOURCE:
        return resources_read(compiler, statement, member == MEMBER_NOT_RESOURCE);
    default:
        return compile_conditions(compiler, statement);
    }
}

// One of two members, of which both or none is wrong.
static bool either(struct compiler *compiler, const uint8_t *at, unsigned seen, unsigned one,
                   unsigned other, const char *name)
{
    if ((seen & one) != 0 && (seen & other) != 0)
        return compile_fail(compiler, at, "the statement has both %s and Not%s: keep one", name,
                            name);
    return (seen & (one | other)) != 0 ||
           compile_fail(compiler, at, "the statement has no %s", name);
}

static bool statement_complete(struct compiler *compiler, const uint8_t *at, unsigned seen)
{
    bool resource = compiler->policy->kind == POLICY_RESOURCE;
    if ((seen & MEMBER_EFFECT) == 0)
        return compile_fail(compiler, at,
                            "the statement has no Effect, which is \"Allow\" or \"Deny\"");
    if (!resource && (seen & (MEMBER_PRINCIPAL | MEMBER_NOT_PRINCIPAL)) != 0)
        return compile_fail(compiler, at,
                            "only resource policies have a Principal; a policy of this kind is "
                            "for whom it is attached to");
    if (compiler->trust && (seen & (MEMBER_RESOURCE | MEMBER_NOT_RESOURCE)) != 0)
        return compile_fail(compiler, at,
                            "a role's trust policy has no Resource: it is about the role");
    return (!resource ||
            either(compiler, at, seen, MEMBER_PRINCIPAL, MEMBER_NOT_PRINCIPAL, "Principal")) &&
           either(compiler, at, seen, MEMBER_ACTION, MEMBER_NOT_ACTION, "Action") &&
           (compiler->trust ||
            either(compiler, at, seen, MEMBER_RESOURCE, MEMBER_NOT_RESOURCE, "Resource"));
}

static bool statement_read(struct compiler *compiler)
{
    const uint8_t *at = compile_place(compiler);
    struct policy *policy = compiler->policy;
    struct statement *statement = &policy->statements[policy->count];
    enum json_kind kind = json_peek(&compiler->reader);
    struct slice name;
    unsigned seen = 0;
    if (kind != JSON_OBJECT)
        return compile_fail(compiler, at, "a statement must be an object, not %s", kind_name(kind));
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    while (json_next_name(&compiler->reader, &name)) {
        const uint8_t *place = compile_place(compiler);
        size_t before = compile_enter(compiler, name);
        unsigned member = member_find(compiler, place, name, seen);
        if (member == 0 || !member_read(compiler, statement, member))
            return false;
        seen |= member;
        compile_leave(compiler, before);
    }
    if (!statement_complete(compiler, at, seen))
        return false;
    statement->any_resource = statement->any_resource || compiler->trust;
    policy->count++;
    lint_statement(compiler, at, statement);
    return true;
}

static bool statements_read(struct compiler *compiler)
{
    struct policy *policy = compiler->policy;
    const uint8_t *at = compile_place(compiler);
    bool list = json_peek(&compiler->reader) == JSON_ARRAY;
    size_t count = list ? compile_count(compiler) : 1;
    policy->statements = arena_zalloc(&policy->arena, count + 1, sizeof(*policy->statements));
    if (policy->statements == NULL)
        return compile_no_memory(compiler);
    if (!list)
        return statement_read(compiler);
    if (count == 0)
        return compile_fail(compiler, at, "Statement must not be empty");
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    for (size_t index = 0; json_next_element(&compiler->reader); index++) {
        size_t before = compile_enter_index(compiler, index);
        if (!statement_read(compiler))
            return false;
        compile_leave(compiler, before);
    }
    return true;
}

// ---- The document ----------------------------------------------------------------------------

struct document {
    bool version;
    bool id;
    bool statement;
    struct json_reader statements; // a bookmark
};

static bool version_read(struct compiler *compiler)
{
    const uint8_t *at = compile_place(compiler);
    struct slice version;
    if (!string_read(compiler, "Version", &version))
        return false;
    compiler->policy->variables = slice_is(version, "2012-10-17");
    return compiler->policy->variables || slice_is(version, "2008-10-17") ||
           compile_fail(compiler, at, "Version must be 2012-10-17 or 2008-10-17, not \"%.*s\"",
                        SLICE_FMT(version));
}

static bool document_member(struct compiler *compiler, struct slice name, struct document *document)
{
    const uint8_t *at = compile_place(compiler);
    struct slice ignored;
    bool *seen = slice_is(name, "Version")     ? &document->version
                 : slice_is(name, "Id")        ? &document->id
                 : slice_is(name, "Statement") ? &document->statement
                                               : NULL;
    if (seen == NULL)
        return compile_fail(compiler, at,
                            "a policy has no member named \"%.*s\": Version, Id and Statement are "
                            "its members",
                            SLICE_FMT(name));
    if (*seen)
        return compile_fail(compiler, at, "the policy has %.*s twice", SLICE_FMT(name));
    *seen = true;
    if (seen == &document->version)
        return version_read(compiler);
    if (seen == &document->id)
        return string_read(compiler, "Id", &ignored);
    document->statements = compiler->reader;
    return json_skip(&compiler->reader) || compile_no_memory(compiler);
}

static bool document_read(struct compiler *compiler)
{
    struct document document = {0};
    const uint8_t *at = compile_place(compiler);
    enum json_kind kind = json_peek(&compiler->reader);
    struct slice name;
    if (kind != JSON_OBJECT)
        return compile_fail(compiler, at, "a policy must be an object, not %s", kind_name(kind));
    if (!json_enter(&compiler->reader))
        return compile_no_memory(compiler);
    while (json_next_name(&compiler->reader, &name)) {
        size_t before = compile_enter(compiler, name);
        if (!document_member(compiler, name, &document))
            return false;
        compile_leave(compiler, before);
    }
    if (!document.statement)
        return compile_fail(compiler, at, "the policy has no Statement");
    compiler->reader = document.statements;
    lint_document(compiler, document.version);
    size_t before = compile_enter(compiler, SLICE_LIT("Statement"));
    bool ok = statements_read(compiler);
    if (ok)
        compile_leave(compiler, before);
    return ok;
}

static bool is_json(struct compiler *compiler)
{
    struct json_reader reader = compiler->reader;
    if (json_skip(&reader) && json_at_end(&reader))
        return true;
    if (reader.budget)
        return compile_no_memory(compiler);
    size_t offset = reader.offset < compiler->text.len ? reader.offset : compiler->text.len;
    return compile_fail(compiler, compiler->text.ptr + offset, "this is not JSON: %s",
                        reader.error != NULL ? reader.error : "there is more behind the policy");
}

static bool size_check(struct compiler *compiler)
{
    enum policy_kind kind = compiler->policy->kind;
    struct slice text = compiler->text;
    size_t size = text.len;
    size_t max = kind == POLICY_RESOURCE  ? LIMIT_POLICY_RESOURCE
                 : kind == POLICY_SESSION ? LIMIT_POLICY_SESSION
                                          : LIMIT_POLICY_IDENTITY;
    if (text.len > LIMIT_POLICY_TEXT)
        return compile_fail(compiler, text.ptr, "the policy has %zu bytes; at most %d are allowed",
                            text.len, LIMIT_POLICY_TEXT);
    for (size_t i = 0; kind != POLICY_RESOURCE && i < text.len; i++)
        size -= text.ptr[i] == ' ' || (text.ptr[i] >= '\t' && text.ptr[i] <= '\r');
    if (size > max)
        return compile_fail(
            compiler, text.ptr, "the policy has %zu %s; at most %zu are allowed", size,
            kind == POLICY_RESOURCE ? "bytes" : "characters that are not white space", max);
    return true;
}

static struct policy *compile(struct compiler *compiler, struct slice document,
                              enum policy_kind kind)
{
    struct policy *policy = calloc(1, sizeof(*policy));
    compiler->policy = policy;
    if (policy == NULL) {
        (void)compile_no_memory(compiler);
        return NULL;
    }
    arena_init(&policy->arena, LIMIT_POLICY_MEMORY);
    atomic_init(&policy->owners, 1);
    policy->kind = kind;
    bool ok = size_check(compiler);
    if (ok) {
        compiler->text = arena_copy(&policy->arena, document);
        ok = compiler->text.ptr != NULL;
        if (!ok) {
            compiler->text = document;
            (void)compile_no_memory(compiler);
        }
    }
    if (ok) {
        json_reader_init(&compiler->reader, compiler->text, &policy->arena);
        ok = is_json(compiler) && document_read(compiler);
    }
    if (ok)
        return policy;
    policy_release(policy);
    return NULL;
}

struct policy *policy_compile(struct slice document, enum policy_kind kind, policy_warn *warn,
                              void *to, struct policy_fault *fault)
{
    struct compiler compiler = {.fault = fault, .warn = warn, .to = to, .text = document};
    return compile(&compiler, document, kind);
}

struct policy *policy_compile_trust(struct slice document, struct policy_fault *fault)
{
    struct compiler compiler = {.fault = fault, .text = document, .trust = true};
    return compile(&compiler, document, POLICY_RESOURCE);
}

struct policy *policy_hold(struct policy *policy)
{
    if (policy != NULL)
        (void)atomic_fetch_add_explicit(&policy->owners, 1, memory_order_relaxed);
    return policy;
}

void policy_release(struct policy *policy)
{
    if (policy == NULL || atomic_fetch_sub_explicit(&policy->owners, 1, memory_order_acq_rel) != 1)
        return;
    arena_release(&policy->arena);
    free(policy);
}

size_t policy_statement_count(const struct policy *policy)
{
    return policy->count;
}

struct slice policy_sid(const struct policy *policy, size_t statement)
{
    return policy->statements[statement].sid;
}

bool policy_denies(const struct policy *policy, size_t statement)
{
    return policy->statements[statement].deny;
}
