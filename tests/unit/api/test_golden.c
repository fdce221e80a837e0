// Golden tests: every file tests/golden/*.txt is a scenario, run in order against a fresh
// database in memory, through the same calls as the server's. tests/golden/README.md describes
// the format. With GOLDEN_PRINT=1 in the environment each answer is printed, too.
#include "calls.h"

#include "json/reader.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCENARIOS_MAX = 200, FILE_MAX = 8 << 20 };

// ---- Comparing ------------------------------------------------------------------------------

static bool same(struct json_reader *expected, struct json_reader *actual);

// "*" stands for any value, and "text*" for any string that begins with the text.
static bool is_anything(struct json_reader *expected)
{
    struct json_reader copy = *expected;
    struct slice text;
    return json_peek(&copy) == JSON_STRING && json_read_string(&copy, &text) && slice_is(text, "*");
}

static bool same_string(struct json_reader *expected, struct json_reader *actual)
{
    struct slice pattern;
    struct slice text;
    if (!json_read_string(expected, &pattern) || !json_read_string(actual, &text))
        return false;
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*')
        return slice_begins(text, slice_of(pattern.ptr, pattern.len - 1));
    return slice_equal(pattern, text);
}

static bool same_array(struct json_reader *expected, struct json_reader *actual)
{
    if (!json_enter(expected) || !json_enter(actual))
        return false;
    while (json_next_element(expected))
        if (!json_next_element(actual) || !same(expected, actual))
            return false;
    return !json_next_element(actual);
}

// Leaves the reader at the member's value.
static bool find_member(struct json_reader *object, struct slice wanted)
{
    struct slice name;
    if (!json_enter(object))
        return false;
    while (json_next_name(object, &name)) {
        if (slice_equal(name, wanted))
            return true;
        if (!json_skip(object))
            return false;
    }
    return false;
}

// Members in any order, but exactly the same ones.
static bool same_object(struct json_reader *expected, struct json_reader *actual)
{
    struct json_reader start = *actual;
    struct slice name;
    size_t left = 0;
    if (!json_enter(actual))
        return false;
    for (; json_next_name(actual, &name); left++)
        if (!json_skip(actual))
            return false;
    if (!json_enter(expected))
        return false;
    for (; json_next_name(expected, &name); left--) {
        struct json_reader member = start;
        if (left == 0 || !find_member(&member, name) || !same(expected, &member))
            return false;
    }
    return left == 0;
}

static bool same(struct json_reader *expected, struct json_reader *actual)
{
    if (is_anything(expected))
        return json_skip(expected) && json_skip(actual);
    enum json_kind kind = json_peek(expected);
    if (kind != json_peek(actual))
        return false;
    struct slice a;
    struct slice b;
    switch (kind) {
    case JSON_OBJECT:
        return same_object(expected, actual);
    case JSON_ARRAY:
        return same_array(expected, actual);
    case JSON_STRING:
        return same_string(expected, actual);
    case JSON_NUMBER:
        return json_read_number(expected, &a) && json_read_number(actual, &b) && slice_equal(a, b);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return json_read_literal(expected) && json_read_literal(actual);
    case JSON_BAD:
        break;
    }
    return false;
}

static bool answer_is(const struct api_call *call, struct slice expected)
{
    struct arena arena;
    struct json_reader readers[2];
    arena_init(&arena, 64 << 20);
    json_reader_init(&readers[0], expected, &arena);
    json_reader_init(&readers[1], buf_view(&call->response), &arena);
    bool equal = same(&readers[0], &readers[1]);
    arena_release(&arena);
    return equal;
}

// "ValidationException: message"
static bool failure_is(const struct api_call *call, struct slice expected)
{
    if (call->status == 200)
        return false;
    const struct error_row *row = error_row(call->error_code);
    struct slice name = slice_str(row->name);
    if (!slice_begins(expected, name))
        return false;
    struct slice rest = slice_of(expected.ptr + name.len, expected.len - name.len);
    if (rest.len == 0)
        return call->error.message[0] == 0;
    if (!slice_begins(rest, SLICE_LIT(": ")))
        return false;
    struct slice message = slice_str(call->error.message);
    rest = slice_of(rest.ptr + 2, rest.len - 2);
    if (rest.ptr[rest.len - 1] == '*')
        return slice_begins(message, slice_of(rest.ptr, rest.len - 1));
    return slice_equal(rest, message);
}

// ---- Scenarios ---------------------------------------------------------------------------------

// Who asks, with one identity policy.
struct golden_caller {
    struct caller caller;
    struct arena arena;
    struct policy *policy;
    const struct policy *list[1];
};

struct scenario {
    struct golden_caller who;
    const char *path;
    char *text;
    const char *at;
    int line;
    struct api *api;
    struct api_call call;
    int failures;
};

// The next line that is neither empty nor a comment; false at the end.
static bool next_line(struct scenario *s, struct slice *out)
{
    while (*s->at != 0) {
        const char *end = strchrnul(s->at, '\n');
        *out = slice_of(s->at, (size_t)(end - s->at));
        s->at = *end == 0 ? end : end + 1;
        s->line++;
        if (out->len > 0 && out->ptr[0] != '#')
            return true;
    }
    return false;
}

static void forget_caller(struct scenario *s)
{
    policy_release(s->who.policy);
    arena_release(&s->who.arena);
    s->who = (struct golden_caller){0};
    s->call.caller = NULL;
}

// "!caller NAME [POLICY]": requests are asked by the user of that name, who is in the team "blue";
// "!caller" alone ends it.
static void set_caller(struct scenario *s, struct slice rest)
{
    struct golden_caller *who = &s->who;
    static const struct caller_tag tags[] = {{SLICE_LIT("team"), SLICE_LIT("blue")}};
    struct policy_fault fault;
    forget_caller(s);
    struct slice name = slice_cut(&rest, ' ');
    if (name.len == 0)
        return;
    arena_init(&who->arena, 1 << 20);
    const char *arn =
        arena_printf(&who->arena, "arn:aws:iam::000000000000:user/%.*s", SLICE_FMT(name));
    assert_true(policy_principal_read(slice_str(arn), &who->arena, &who->caller.principal));
    if (rest.len > 0) {
        who->policy = policy_compile(rest, POLICY_IDENTITY, NULL, NULL, &fault);
        if (who->policy == NULL)
            fail_msg("%s:%d: %s: %s", s->path, s->line, fault.path, fault.message);
        who->list[0] = who->policy;
        who->caller.policies.identity = who->list;
        who->caller.policies.identity_count = 1;
    }
    who->caller.user_id = SLICE_LIT("AIDAEXAMPLE");
    who->caller.address = SLICE_LIT("192.0.2.7");
    who->caller.agent = SLICE_LIT("golden/1.0");
    who->caller.referer = SLICE_LIT("https://example.com/");
    who->caller.source_identity = SLICE_LIT("source");
    who->caller.token_issued_s = 1767225000;
    who->caller.secure = true;
    who->caller.tags = tags;
    who->caller.tag_count = 1;
    s->call.caller = &who->caller;
}

// "!settle" waits for background work; "!region NAME" changes the region of the requests; "!texts
// 2026-05" and "!texts" the words of errors.
static void directive(struct scenario *s, struct slice line)
{
    struct slice region = SLICE_LIT("!region ");
    struct slice caller = SLICE_LIT("!caller");
    if (slice_begins(line, caller))
        set_caller(s, slice_trim(slice_of(line.ptr + caller.len, line.len - caller.len)));
    else if (slice_is(line, "!warn"))
        s->who.caller.warn = true;
    else if (slice_is(line, "!settle"))
        engine_settle(s->api->shop.engine);
    else if (slice_is(line, "!texts 2026-05") || slice_is(line, "!texts"))
        assert_true(api_service_texts(s->api, line.len > 6 ? "2026-05" : NULL));
    else if (slice_begins(line, region))
        s->call.region = slice_of(line.ptr + region.len, line.len - region.len);
    else
        fail_msg("%s:%d: unknown directive %.*s", s->path, s->line, SLICE_FMT(line));
}

// "@{ab*3}" stands for "ababab", so that what is large can be written down.
static struct slice expand(struct buf *out, struct slice line)
{
    const char *at = (const char *)line.ptr;
    const char *end = at + line.len;
    buf_init(out, FILE_MAX * 4);
    while (at < end) {
        const char *open = memmem(at, (size_t)(end - at), "@{", 2);
        const char *star = open == NULL ? NULL : memchr(open, '*', (size_t)(end - open));
        if (star == NULL)
            break;
        buf_add(out, at, (size_t)(open - at));
        char *close;
        for (unsigned long left = strtoul(star + 1, &close, 10); left > 0; left--)
            buf_add(out, open + 2, (size_t)(star - open - 2));
        at = close + 1;
    }
    buf_add(out, at, (size_t)(end - at));
    return buf_view(out);
}

static void run_case(struct scenario *s, struct slice operation)
{
    int line = s->line;
    struct slice body;
    struct slice expected;
    if (!next_line(s, &body) || !next_line(s, &expected)) {
        fail_msg("%s:%d: a case is three lines", s->path, line);
        return;
    }
    struct buf large[2];
    body = expand(&large[0], body);
    expected = expand(&large[1], expected);
    call_run(&s->call, operation, body);
    bool ok = expected.ptr[0] == '{'            ? answer_is(&s->call, expected)
              : slice_is(expected, "(allowed)") ? s->call.error_code != ERR_ACCESS_DENIED
              : slice_is(expected, "(nothing)") ? s->call.status == 200 && s->call.response.len == 0
                                                : failure_is(&s->call, expected);
    if (!ok || getenv("GOLDEN_PRINT") != NULL)
        (void)fprintf(stderr, "%s:%d: %.*s %s\n  expected %.*s\n  got      %.*s\n", s->path, line,
                      SLICE_FMT(operation), ok ? "is right" : "is WRONG", SLICE_FMT(expected),
                      SLICE_FMT(buf_view(&s->call.response)));
    s->failures += !ok;
    buf_release(&large[0]);
    buf_release(&large[1]);
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, FILE_MAX + 1);
    assert_non_null(text);
    size_t len = fread(text, 1, FILE_MAX, file);
    assert_int_equal(ferror(file), 0);
    assert_true(len < FILE_MAX);
    (void)fclose(file);
    return text;
}

static void run_scenario(void **state)
{
    struct env_fixed clock = {.now_ms = 1767225600123, .seed = 7};
    struct store_error error;
    struct api_options options = {.store = store_open_memory(&error), .env = env_fixed(&clock)};
    struct scenario s = {.path = *state};
    assert_non_null(options.store);
    s.api = api_open(&options, &error);
    assert_non_null(s.api);
    api_call_init(&s.call, s.api);
    s.text = file_text(s.path);
    s.at = s.text;
    struct slice line;
    while (next_line(&s, &line)) {
        if (line.ptr[0] == '!')
            directive(&s, line);
        else
            run_case(&s, line);
    }
    api_call_release(&s.call);
    forget_caller(&s);
    api_close(s.api);
    free(s.text);
    assert_int_equal(s.failures, 0);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[SCENARIOS_MAX];
    glob_t paths;
    if (glob(argc > 1 ? argv[1] : "tests/golden/*.txt", 0, NULL, &paths) != 0 ||
        paths.gl_pathc > SCENARIOS_MAX) {
        (void)fprintf(stderr, "no scenarios, or too many; run this from the root of the tree\n");
        return 1;
    }
    for (size_t i = 0; i < paths.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){.name = paths.gl_pathv[i],
                                       .test_func = run_scenario,
                                       .initial_state = paths.gl_pathv[i]};
    int failures = _cmocka_run_group_tests("golden", tests, paths.gl_pathc, NULL, NULL);
    globfree(&paths);
    return failures;
}
