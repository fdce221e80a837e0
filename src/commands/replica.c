// `dolmen replica`: a server whose store is a copy of another server's (engine/ship.h), and which
// goes on to be one. The copy is made before anything is served; then a thread asks the source for
// what follows, and has the engine apply it.
//
// Falling off the source's log and being promoted end in the same way: everything is stopped and
// closed, and the program runs itself again. So there is one way to begin, which every kill tests.
#include "commands/replica.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/wait.h"
#include "client/client.h"
#include "dolmen.h"
#include "engine/ship.h"
#include "identity/identity.h"
#include "server/server.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAUSE_MS = 100,       // between two questions, when there was nothing new
    TROUBLE_MS = 500,     // when the source does not answer
    PATIENCE_S = 20,      // for an answer
    WORDS_MAX = 4096,     // of a command line
    COMMAND_MAX = 1 << 20 // bytes of one
};

struct source {
    struct target target;
    struct buf answer;
    char error[512];
    bool told; // that it does not answer
};

struct replica {
    struct source source;
    struct api *api;
    pthread_t thread;
    atomic_bool stop;
    bool lost;
};

// ---- Asking ------------------------------------------------------------------------------------

static const char *source_url(const struct cli_input *input)
{
    bool takes_value;
    return cli_option(input, "--from", &takes_value) ? cli_value(input, "--from", NULL) : NULL;
}

static void source_open(struct source *source, struct cli_input *input, const char *url)
{
    *source = (struct source){.target = {.input = input, .region = target_region(input)}};
    source->target.endpoint = url;
    buf_init(&source->target.response, 1);
    buf_init(&source->answer, 2 * (size_t)LIMIT_RESPONSE);
}

static void source_close(struct source *source)
{
    buf_release(&source->answer);
    target_close(&source->target);
}

// The status, with the answer; 0 with a sentence in source->error.
static int ask(struct source *source, const char *method, const char *path)
{
    struct target *target = &source->target;
    char *error = source->error;
    const struct sign_keys *keys = NULL;
    const struct client_trust *trust = target_trust(target, error, sizeof(source->error));
    if (error[0] == 0)
        keys = target_keys(target, error, sizeof(source->error));
    if (error[0] != 0)
        return 0;
    const struct client_request request = {.method = method,
                                           .path = path,
                                           .region = target->region,
                                           .patience_s = PATIENCE_S,
                                           .trust = trust,
                                           .keys = keys};
    buf_clear(&source->answer);
    return client_call(target->endpoint, &request, &source->answer, error, sizeof(source->error));
}

// What an answer that is no data says, in source->error.
static void explain(struct source *source, int status)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice text = buf_view(&source->answer);
    struct slice message = json_member_text(text, "message", &arena);
    if (message.len == 0)
        message = json_member_text(text, "Message", &arena);
    (void)snprintf(
        source->error, sizeof(source->error), "%s answers with status %d: %.*s",
        source->target.endpoint, status,
        SLICE_FMT(message.len > 0 ? message : slice_of(text.ptr, text.len < 200 ? text.len : 200)));
    arena_release(&arena);
}

// Takes the version off an answer. False with a sentence in source->error.
static bool same_version(struct source *source, struct slice *out)
{
    char own[SHIP_VERSION_BYTES] = {0};
    struct slice all = buf_view(&source->answer);
    (void)snprintf(own, sizeof(own), "dolmen %s", dolmen_version());
    if (all.len < sizeof(own) || memcmp(all.ptr, own, sizeof(own)) != 0) {
        (void)snprintf(source->error, sizeof(source->error),
                       "%s is not a server of this version (%s): a replica runs the version of its "
                       "source",
                       source->target.endpoint, own);
        return false;
    }
    *out = slice_of(all.ptr + sizeof(own), all.len - sizeof(own));
    return true;
}

static int ask_log(struct source *source, uint64_t number, uint64_t mark)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "/replica/log?from=%llu&mark=%llx",
                   (unsigned long long)number, (unsigned long long)mark);
    return ask(source, "GET", path);
}

static void tell_trouble(struct source *source)
{
    if (!source->told)
        log_warn("replica: %s; it is tried again", source->error);
    source->told = true;
}

// ---- The copy ----------------------------------------------------------------------------------

static bool asked_to_stop(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

// Asks until there is an answer that is worth something: 200 or 410. False after telling the user.
static bool insist(struct cli_input *input, struct source *source, const char *method,
                   const char *path, int *status)
{
    for (;;) {
        *status = ask(source, method, path);
        if (*status == 200 || *status == 410)
            return true;
        if (*status != 0)
            explain(source, *status);
        if (*status >= 400 && *status < 500 && *status != 429)
            return cli_fail(input, "%s", source->error);
        tell_trouble(source);
        for (int i = 0; i < TROUBLE_MS / PAUSE_MS; i++) {
            if (asked_to_stop())
                return cli_fail(input, "stopped before the copy was complete; it goes on at the "
                                       "next start.");
            sleep_ms(PAUSE_MS);
        }
    }
}

static bool fetch_page(struct cli_input *input, struct source *source, struct store *store,
                       struct follow_state *state)
{
    struct buf path;
    struct slice page;
    struct store_error error = {.text = ""};
    int status = 0;
    buf_init(&path, 3 * STORE_KEY_MAX);
    buf_text(&path, "/replica/copy?after=");
    for (size_t i = 0; i < state->after_len; i++)
        buf_printf(&path, "%02x", state->after[i]);
    buf_byte(&path, 0);
    bool ok = insist(input, source, "POST", (const char *)path.ptr, &status) &&
              (status == 200 || cli_fail(input, "%s cannot be copied.", source->target.endpoint)) &&
              (same_version(source, &page) || cli_fail(input, "%s.", source->error)) &&
              (follow_page(store, page, state, &error) || cli_fail(input, "%s.", error.text));
    buf_release(&path);
    return ok;
}

static void begin_anew(struct follow_state *state)
{
    state->phase = FOLLOW_COPYING;
    state->number = state->mark = state->until = 0;
    state->after_len = 0;
}

// A page of the log, on the way to a copy that fits together.
static bool fetch_log(struct cli_input *input, struct source *source, struct store *store,
                      struct follow_state *state)
{
    char path[128];
    struct slice entries;
    struct store_error error = {.text = ""};
    uint64_t last;
    int status;
    (void)snprintf(path, sizeof(path), "/replica/log?from=%llu&mark=%llx",
                   (unsigned long long)state->number, (unsigned long long)state->mark);
    if (!insist(input, source, "GET", path, &status))
        return false;
    if (status == 410) {
        log_warn("replica: the log of %s has lost what was written since the copy began; it is "
                 "copied anew. A larger log helps: 'dolmen serve --replica-log SIZE'",
                 source->target.endpoint);
        begin_anew(state);
        return follow_save(store, state, &error) || cli_fail(input, "%s.", error.text);
    }
    return (same_version(source, &entries) || cli_fail(input, "%s.", source->error)) &&
           (follow_entries(store, entries, state, &last, &error) ||
            cli_fail(input, "%s.", error.text));
}

static bool is_empty(struct store *store)
{
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    bool empty = !store_cursor_valid(cursor);
    store_cursor_close(cursor);
    return empty;
}

static bool state_prepare(struct cli_input *input, struct store *store, const char *url,
                          struct follow_state *state)
{
    struct store_error error = {.text = ""};
    if (!follow_load(store, state, &error))
        return cli_fail(input, "%s.", error.text);
    if (state->phase == FOLLOW_PROMOTED)
        return cli_fail(input,
                        "this directory was a replica of %s and has been promoted, so it follows "
                        "nothing any more: start it with 'dolmen serve', or name another "
                        "directory with --data.",
                        state->source);
    if (state->phase == FOLLOW_NONE && !is_empty(store))
        return cli_fail(input,
                        "this directory has data of its own: name an empty one with --data.");
    if (state->phase != FOLLOW_NONE && strcmp(state->source, url) == 0)
        return true;
    if (state->phase == FOLLOW_NONE)
        begin_anew(state);
    (void)snprintf(state->source, sizeof(state->source), "%s", url);
    return follow_save(store, state, &error) || cli_fail(input, "%s.", error.text);
}

static bool copy_all(struct cli_input *input, struct source *source, struct store *store,
                     struct follow_state *state)
{
    bool ok = true;
    bool began = state->phase == FOLLOW_COPYING;
    if (began)
        log_info("replica: copying %s%s", source->target.endpoint,
                 state->after_len > 0 ? ", from where an earlier run stopped" : "");
    while (ok && (state->phase == FOLLOW_COPYING || state->number < state->until)) {
        if (asked_to_stop())
            return cli_fail(input,
                            "stopped before the copy was complete; it goes on at the next start.");
        ok = state->phase == FOLLOW_COPYING ? fetch_page(input, source, store, state)
                                            : fetch_log(input, source, store, state);
    }
    if (ok && began)
        log_info("replica: the copy is complete, and follows from entry %llu on",
                 (unsigned long long)state->number);
    return ok;
}

bool replica_copy(struct cli_input *input, const struct store_options *options)
{
    const char *url = source_url(input);
    if (url == NULL)
        return true;
    if (strlen(url) >= SHIP_URL_MAX)
        return cli_misused(input, "--from: the URL is too long.");
    struct store *store = database_store(input, options);
    if (store == NULL)
        return false;
    struct source source;
    struct follow_state *state = memory_zeroed(sizeof(*state));
    source_open(&source, input, url);
    bool ok = state_prepare(input, store, url, state) && copy_all(input, &source, store, state);
    source_close(&source);
    free(state);
    store_close(store);
    return ok;
}

bool replica_fits(struct cli_input *input, struct api *api)
{
    struct engine_replica replica;
    engine_replica(api_engine(api), &replica);
    return source_url(input) != NULL || !replica.follows ||
           cli_fail(input,
                    "this directory is a replica of %s: 'dolmen replica --from %s' follows it, "
                    "'dolmen promote --data DIR' makes it a server of its own.",
                    replica.source, replica.source);
}

// ---- Following ---------------------------------------------------------------------------------

static bool apply(struct replica *replica, struct slice entries)
{
    struct arena arena;
    struct error error;
    bool identities = false;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    bool ok = engine_follow(api_engine(replica->api), entries, &identities, &error);
    if (identities && api_identity(replica->api) != NULL)
        identity_refresh(api_identity(replica->api));
    if (!ok)
        (void)snprintf(replica->source.error, sizeof(replica->source.error), "%s",
                       error.message == NULL ? "there is not enough memory" : error.message);
    arena_release(&arena);
    return ok;
}

// One question. How long to wait before the next.
static long follow_once(struct replica *replica)
{
    struct source *source = &replica->source;
    struct engine *engine = api_engine(replica->api);
    struct engine_replica at;
    struct slice entries;
    engine_replica(engine, &at);
    if (at.promoted)
        return TROUBLE_MS;
    int status = ask_log(source, at.number, at.mark);
    if (status == 410) {
        log_error("replica: the log of %s does not reach back to entry %llu, which was applied "
                  "last: everything is copied anew. A larger log helps: 'dolmen serve "
                  "--replica-log SIZE'",
                  source->target.endpoint, (unsigned long long)at.number);
        replica->lost = true;
        atomic_store(&replica->stop, true);
        (void)kill(getpid(), SIGTERM);
        return 0;
    }
    if (status != 200 && status != 0)
        explain(source, status);
    if (status == 200 && same_version(source, &entries) && apply(replica, entries)) {
        if (source->told)
            log_info("replica: %s answers again", source->target.endpoint);
        source->told = false;
        return entries.len > 8 ? 0 : PAUSE_MS;
    }
    engine_follow_problem(engine, source->error);
    tell_trouble(source);
    return TROUBLE_MS;
}

static void *follow(void *context)
{
    struct replica *replica = context;
    while (!atomic_load(&replica->stop)) {
        long pause = follow_once(replica);
        if (pause > 0 && !atomic_load(&replica->stop))
            sleep_ms(pause);
    }
    return NULL;
}

struct replica *replica_start(struct cli_input *input, struct api *api)
{
    const char *url = source_url(input);
    if (url == NULL)
        return NULL;
    struct replica *replica = memory_zeroed(sizeof(*replica));
    source_open(&replica->source, input, url);
    replica->api = api;
    ensure(pthread_create(&replica->thread, NULL, follow, replica) == 0);
    return replica;
}

enum replica_how replica_stop(struct replica *replica)
{
    struct engine_replica at;
    if (replica == NULL)
        return REPLICA_STOPPED;
    atomic_store(&replica->stop, true);
    (void)pthread_join(replica->thread, NULL);
    engine_replica(api_engine(replica->api), &at);
    enum replica_how how = at.promoted     ? REPLICA_PROMOTED
                           : replica->lost ? REPLICA_LOST
                                           : REPLICA_STOPPED;
    source_close(&replica->source);
    free(replica);
    return how;
}

// ---- Again -------------------------------------------------------------------------------------

// The words of this process; they stay in `text`.
static size_t own_words(struct buf *text, char **words, size_t most)
{
    size_t count = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (file == NULL)
        return 0;
    uint8_t *room = buf_reserve(text, COMMAND_MAX);
    text->len = room == NULL ? 0 : fread(room, 1, COMMAND_MAX - 1, file);
    (void)fclose(file);
    for (size_t at = 0; at < text->len && count < most; at += strlen((char *)text->ptr + at) + 1)
        words[count++] = (char *)text->ptr + at;
    return count;
}

// Leaves out what only a replica has, and makes the command `serve`.
static size_t as_server(char **words, size_t count)
{
    static const char *const own[] = {"--from", "--ca", "--client-cert", "--client-key",
                                      "--profile"};
    static char serve[] = "serve";
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool drop = false;
        bool joined = strchr(words[i], '=') != NULL;
        size_t len = strcspn(words[i], "=");
        for (size_t k = 0; k < COUNT_OF(own); k++)
            drop = drop || (strlen(own[k]) == len && memcmp(words[i], own[k], len) == 0);
        if (drop)
            i += !joined; // its value
        else
            words[kept++] = i == 1 ? serve : words[i];
    }
    return kept;
}

static bool forget_copy(struct cli_input *input, const struct store_options *options)
{
    struct store_error error = {.text = ""};
    struct store *store = database_store(input, options);
    if (store == NULL)
        return false;
    struct follow_state *state = memory_zeroed(sizeof(*state));
    bool ok = follow_load(store, state, &error);
    if (ok && state->phase == FOLLOW_ON) {
        begin_anew(state);
        ok = follow_save(store, state, &error);
    }
    free(state);
    store_close(store);
    return ok || cli_fail(input, "%s.", error.text);
}

bool replica_again(struct cli_input *input, const struct store_options *options,
                   const struct replica_end *end)
{
    if (end->how == REPLICA_STOPPED)
        return true;
    if (end->how == REPLICA_LOST && !forget_copy(input, options))
        return false;
    static char port_option[] = "--port";
    char port[16];
    struct buf text;
    char **words = memory_zeroed((WORDS_MAX + 3) * sizeof(*words));
    buf_init(&text, 2 * COMMAND_MAX);
    size_t count = own_words(&text, words, WORDS_MAX);
    if (end->how == REPLICA_PROMOTED) {
        count = as_server(words, count);
        log_info("replica: promoted; it is a server of its own from now on");
    }
    // The same one, also if it was picked by the system: the last word counts.
    (void)snprintf(port, sizeof(port), "%u", end->port);
    words[count++] = port_option;
    words[count++] = port;
    words[count] = NULL;
    (void)execv("/proc/self/exe", words);
    buf_release(&text);
    free(words);
    return cli_fail(input, "cannot be started again; start it with 'dolmen %s'.",
                    end->how == REPLICA_PROMOTED ? "serve" : "replica");
}

// ---- Commands ----------------------------------------------------------------------------------

static bool show_status(struct cli_input *input)
{
    struct source source;
    source_open(&source, input, target_endpoint(input, "http://127.0.0.1:8000"));
    int status = ask(&source, "GET", "/replica");
    if (status != 0 && status != 200)
        explain(&source, status);
    bool ok = status == 200 || cli_fail(input, "%s.", source.error);
    if (ok) {
        json_print(buf_view(&source.answer), "source: {source}\napplied: entry {applied#}\nbehind: "
                                             "{behind#} entries\nlag: {lag_ms#} ms\n");
        (void)json_print_given(buf_view(&source.answer), "problem", "problem: {problem}\n");
    }
    source_close(&source);
    return ok;
}

static bool from_on_line(void)
{
    struct buf text;
    bool found = false;
    char **words = memory_zeroed(WORDS_MAX * sizeof(*words));
    buf_init(&text, 2 * COMMAND_MAX);
    size_t count = own_words(&text, words, WORDS_MAX);
    for (size_t i = 0; i < count; i++)
        found = found || slice_begins(slice_str(words[i]), SLICE_LIT("--from"));
    buf_release(&text);
    free(words);
    return found;
}

bool cli_replica(struct cli_input *input)
{
    if (cli_given(input, "--status"))
        return show_status(input);
    if (cli_value(input, "--from", NULL) == NULL)
        return cli_misused(input, "--from URL says which server to follow.");
    static const char *const others[] = {"--memory", "--store", "--model"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (cli_given(input, others[i]))
            return cli_misused(input,
                               "%s is not for a replica, which has a directory and what its "
                               "source has.",
                               others[i]);
    }
    if (!from_on_line())
        return cli_misused(input, "--from belongs on the command line, not into the file of "
                                  "--config: once the replica is promoted, 'dolmen serve' reads "
                                  "that file.");
    return cli_serve(input);
}

// A replica that nobody has open.
static bool promote_directory(struct cli_input *input, const char *path)
{
    struct store_error error = {.text = ""};
    if (!cli_is_directory(path))
        return cli_fail(input, "there is no directory '%s'.", path);
    struct store *store = database_store(input, &(struct store_options){.path = path});
    if (store == NULL)
        return false;
    struct follow_state *state = memory_zeroed(sizeof(*state));
    bool ok = follow_load(store, state, &error) || cli_fail(input, "%s.", error.text);
    if (ok && (state->phase != FOLLOW_ON || state->number < state->until))
        ok = cli_fail(input, "'%s' is not a replica with a complete copy.", path);
    if (ok) {
        state->phase = FOLLOW_PROMOTED;
        ok = follow_save(store, state, &error) || cli_fail(input, "%s.", error.text);
    }
    if (ok)
        printf("promoted at entry %llu of %s: 'dolmen serve --data %s' serves it\n",
               (unsigned long long)state->number, state->source, path);
    free(state);
    store_close(store);
    return ok;
}

bool cli_promote(struct cli_input *input)
{
    const char *path = cli_value(input, "--data", NULL);
    if (!cli_exclusive(input, "--data", "--endpoint"))
        return false;
    if (path != NULL)
        return promote_directory(input, path);
    struct source source;
    source_open(&source, input, target_endpoint(input, "http://127.0.0.1:8000"));
    int status = ask(&source, "POST",
                     cli_given(input, "--now") ? "/replica/promote?now=1" : "/replica/promote");
    if (status != 0 && status != 200)
        explain(&source, status);
    bool ok = status == 200 || cli_fail(input, "%s.", source.error);
    if (ok)
        json_print(buf_view(&source.answer),
                   "promoted at entry {applied#} of {source}; it serves writes in a moment\n");
    source_close(&source);
    return ok;
}
