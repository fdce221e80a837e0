// See target.h.
#include "cli/target.h"

#include "base/limits.h"
#include "base/wait.h"
#include "client/client.h"
#include "model/parse.h"
#include "postgres/postgres.h"
#include "sign/credentials.h"
#include "transfer/files.h"
#include "value/value.h"
#include "json/reader.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
    TRIES = 12,
    TELL_AFTER = 4, // tries; these take a third of a second
    PAUSE_MAX_MS = 5000,
    POLL_MS = 150,
    MEMBER_MEMORY = 256 << 20,
    REMOTE_THREADS = 32,
};

// ---- Opening ----------------------------------------------------------------------

static bool open_failed(struct cli_input *input, const char *path, const struct store_error *error)
{
    if (error->in_use)
        return cli_fail(input, "the data directory '%s' is in use by another process.", path);
    return cli_fail(input, "cannot open '%s': %s", path == NULL ? "memory" : path, error->text);
}

// The value of an option that not every command has which opens a directory.
static const char *value_if_known(const struct cli_input *input, const char *option)
{
    bool takes_value;
    return cli_option(input, option, &takes_value) ? cli_value(input, option, NULL) : NULL;
}

const char *target_region(const struct cli_input *input)
{
    const char *region = value_if_known(input, "--region");
    if (region == NULL)
        region = getenv("AWS_REGION");
    if (region == NULL || region[0] == 0)
        region = getenv("AWS_DEFAULT_REGION");
    return region == NULL || region[0] == 0 ? "us-east-1" : region;
}

bool target_master(struct cli_input *input, struct crypt_key *key, struct store_options *options)
{
    char error[512];
    const char *source = value_if_known(input, "--master-key");
    if (options->master != NULL)
        return true; // the command knows better
    if (source == NULL)
        source = getenv("DOLMEN_MASTER_KEY");
    options->master = source == NULL || source[0] == 0 ? NULL : key;
    return options->master == NULL || crypt_master_read(source, key, error, sizeof(error)) ||
           cli_fail(input, "%s.", error);
}

bool target_encryption(struct cli_input *input, struct store_options *options)
{
    static const char *const choices[] = {"", "on", "off", NULL};
    static const enum store_encryption wishes[] = {STORE_AS_IT_IS, STORE_ENCRYPTED, STORE_PLAIN};
    size_t wish;
    if (!cli_choice(input, "--encryption", choices, "on or off", &wish))
        return false;
    options->encryption = wishes[wish];
    return true;
}

// The store of --store.
static struct store *store_open_remote(struct cli_input *input, const char *url,
                                       struct store_error *error)
{
#ifdef DOLMEN_HAVE_POSTGRES
    unsigned lease;
    if (!cli_number(input, "--lease", 0, 1, 3600, &lease))
        return NULL;
    return store_open_postgres(
        &(struct postgres_options){
            .url = url, .lease_s = lease, .takeover = cli_given(input, "--takeover")},
        error);
#else
    (void)input;
    (void)url;
    DISREGARD(store_fail(error, "this program was built without libpq"));
    return NULL;
#endif
}

struct store *database_store(struct cli_input *input, const struct store_options *wanted)
{
    const char *url = value_if_known(input, "--store");
    static const char *const durabilities[] = {"full", "relaxed", NULL};
    struct store_options options = *wanted;
    struct store_error error = {.text = ""};
    struct crypt_key master;
    size_t durability;
    if (!cli_choice(input, "--durability", durabilities, "full or relaxed", &durability) ||
        !target_master(input, &master, &options))
        return NULL;
    options.durability = durability == 0 ? STORE_FULL : STORE_RELAXED;
    struct store *store = url != NULL            ? store_open_remote(input, url, &error)
                          : options.path == NULL ? store_open_memory(&error)
                                                 : store_open_rocksdb(&options, &error);
    if (options.master == &master)
        crypt_key_wipe(&master);
    if (store == NULL)
        (void)(url != NULL ? cli_fail(input, "cannot open the store: %s.", error.text)
                           : open_failed(input, options.path, &error));
    return store;
}

struct api *database_open(struct cli_input *input, const struct store_options *wanted,
                          struct budget *budget)
{
    const char *url = value_if_known(input, "--store");
    struct store_error error = {.text = ""};
    struct store *store = database_store(input, wanted);
    if (store == NULL)
        return NULL;
    struct api_options of_api = {.store = store,
                                 .env = env_system(),
                                 .budget = budget,
                                 .pool = url != NULL ? REMOTE_THREADS : 0};
    struct api *api = api_open(&of_api, &error);
    if (api == NULL) {
        (void)(url != NULL ? cli_fail(input, "cannot open the store: %s.", error.text)
                           : open_failed(input, wanted->path, &error));
        store_close(store);
    }
    return api;
}

const char *target_endpoint(const struct cli_input *input, const char *otherwise)
{
    static const char *const names[] = {"DOLMEN_ENDPOINT", "AWS_ENDPOINT_URL_DYNAMODB",
                                        "AWS_ENDPOINT_URL"};
    const char *found = cli_value(input, "--endpoint", NULL);
    for (size_t i = 0; found == NULL && i < COUNT_OF(names); i++) {
        found = getenv(names[i]);
        if (found != NULL && found[0] == 0)
            found = NULL;
    }
    return found != NULL ? found : otherwise;
}

bool target_open(struct target *target, struct cli_input *input)
{
    const char *path = cli_value(input, "--data", NULL);
    *target = (struct target){.input = input,
                              .region = target_region(input),
                              .endpoint = target_endpoint(input, "http://127.0.0.1:8000")};
    buf_init(&target->response, 2 * (size_t)LIMIT_RESPONSE);
    if (!cli_exclusive(input, "--data", "--endpoint"))
        return false;
    if (path != NULL)
        target->api = database_open(input, &(struct store_options){.path = path}, NULL);
    return path == NULL || target->api != NULL;
}

const struct client_trust *target_trust(struct target *target, char *error, size_t error_size)
{
    const char *bundle = getenv("AWS_CA_BUNDLE");
    struct client_trust_options options = {
        .authorities =
            cli_value(target->input, "--ca", bundle != NULL && bundle[0] != 0 ? bundle : NULL),
        .certificate = cli_value(target->input, "--client-cert", NULL),
        .key = cli_value(target->input, "--client-key", NULL),
    };
    error[0] = 0;
    if (target->trust == NULL && strncasecmp(target->endpoint, "https:", 6) == 0)
        target->trust = client_trust_new(&options, error, error_size);
    return target->trust;
}

const struct sign_keys *target_keys(struct target *target, char *error, size_t error_size)
{
    const struct sign_source source = {
        .profile = target->profile != NULL ? target->profile
                                           : cli_value(target->input, "--profile", NULL)};
    error[0] = 0;
    if (!target->credentials_sought) {
        struct sign_credentials *found = memory_zeroed(sizeof(*found));
        enum sign_found outcome = sign_credentials_find(&source, found, error, error_size);
        target->credentials_sought = outcome != CREDENTIALS_WRONG;
        if (outcome == CREDENTIALS_FOUND) {
            target->credentials = found;
        } else {
            free(found);
            error[outcome == CREDENTIALS_NONE ? 0 : strlen(error)] = 0;
        }
    }
    return target->credentials == NULL ? NULL : &target->credentials->keys;
}

static void credentials_forget(struct target *target)
{
    if (target->credentials != NULL)
        sign_credentials_wipe(target->credentials);
    free(target->credentials);
    target->credentials = NULL;
}

void target_close(struct target *target)
{
    credentials_forget(target);
    client_trust_free(target->trust);
    if (target->api != NULL)
        api_close(target->api);
    buf_release(&target->response);
}

// What a string says; ptr NULL if it is none.
static struct slice string_text(struct slice value, struct arena *arena)
{
    struct slice text = {NULL, 0};
    struct json_reader reader;
    json_reader_init(&reader, value, arena);
    bool is = value.ptr != NULL && json_peek(&reader) == JSON_STRING;
    return is && json_read_string(&reader, &text) ? text : slice_of(NULL, 0);
}

// ---- Calls ------------------------------------------------------------------------

static int call_here(struct target *target, const char *operation, struct slice body)
{
    struct api_call call;
    api_call_init(&call, target->api);
    call.operation = slice_str(operation);
    call.region = slice_str(target->region);
    call.body = body;
    api_call_run(&call);
    int status = call.status;
    buf_slice(&target->response, buf_view(&call.response));
    api_call_release(&call);
    return status;
}

int target_call_once(struct target *target, const char *operation, struct slice body, char *error,
                     size_t error_size)
{
    buf_clear(&target->response);
    if (target->api != NULL)
        return call_here(target, operation, body);
    const struct client_trust *trust = target_trust(target, error, error_size);
    const struct sign_keys *keys = NULL;
    if (error[0] == 0)
        keys = target_keys(target, error, error_size);
    if (error[0] != 0)
        return 0;
    const struct client_request request = {.operation = operation,
                                           .of_streams =
                                               api_operation_of_streams(slice_str(operation)),
                                           .region = target->region,
                                           .body = body,
                                           .patience_s = target->patience_s,
                                           .trust = trust,
                                           .keys = keys};
    return client_call(target->endpoint, &request, &target->response, error, error_size);
}

static bool should_retry(const struct target *target, int status)
{
    static const char *const throttled[] = {"ThroughputExceeded", "#ThrottlingException",
                                            "#RequestLimitExceeded"};
    struct slice text = buf_view(&target->response);
    if (slice_contains(text, SLICE_LIT("data on disk is damaged")))
        return false;
    bool again = status == 0 || status >= 500;
    for (size_t i = 0; i < COUNT_OF(throttled); i++)
        again = again || (status == 400 && slice_contains(text, slice_str(throttled[i])));
    return again;
}

bool target_silent(const struct target *target, const char *error)
{
    bool nobody = slice_begins(slice_str(error), SLICE_LIT("no server answers"));
    return cli_fail(target->input, "%s.%s", error,
                    nobody ? " 'dolmen serve' starts one, --endpoint names another." : "");
}

int target_call(struct target *target, const char *operation, struct slice body)
{
    char error[512] = "";
    int status = 0;
    for (int try = 0; try < TRIES; try++) {
        if (try == TELL_AFTER) { // once, why it takes so long
            if (status != 0)
                target_error(target, error, sizeof(error));
            cli_note(target->input, "%s fails and is tried again for half a minute: %s", operation,
                     error);
        }
        if (try > 0)
            sleep_ms(20L << try < PAUSE_MAX_MS ? 20L << try : PAUSE_MAX_MS);
        status = target_call_once(target, operation, body, error, sizeof(error));
        if (!should_retry(target, status))
            return status;
        // A server that has never answered is not waited for.
        if (status == 0 && try == 3)
            break;
    }
    if (status == 0)
        (void)target_silent(target, error);
    return status;
}

// A request of a form.
static struct buf form_body(const char *form, va_list args)
{
    struct buf body;
    struct json_writer w = json_writer_to(&body);
    buf_init(&body, LIMIT_BODY);
    json_form_list(&w, form, args);
    return body;
}

int target_ask(struct target *target, const char *operation, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    struct buf body = form_body(form, args);
    va_end(args);
    int status = target_call(target, operation, buf_view(&body));
    buf_release(&body);
    return status;
}

void target_error(const struct target *target, char *out, size_t size)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice answer = buf_view(&target->response);
    struct slice type = json_member_text(answer, "__type", &arena);
    struct slice text = json_member_text(answer, "message", &arena);
    if (text.ptr == NULL)
        text = json_member_text(answer, "Message", &arena);
    const uint8_t *hash = type.len == 0 ? NULL : memchr(type.ptr, '#', type.len);
    if (hash != NULL)
        type = slice_of(hash + 1, (size_t)(type.ptr + type.len - hash - 1));
    (void)snprintf(out, size, "%.*s: %.*s", SLICE_FMT(type), SLICE_FMT(text));
    arena_release(&arena);
}

// There is no table of the name that the command line begins with: which may have been meant?
static void note_meant(struct target *target)
{
    struct arena arena;
    struct slice table;
    const char *wanted = cli_argument(target->input, 0, "");
    struct model_guess guess = model_guess_for(slice_str(wanted));
    if (target_call(target, "ListTables", SLICE_LIT("{}")) != 200)
        return;
    arena_init(&arena, MEMBER_MEMORY);
    struct json_list tables = json_list(buf_view(&target->response), "TableNames", &arena);
    while (json_list_next(&tables, &table))
        model_guess_candidate(&guess, string_text(table, &arena));
    if (guess.best.len > 0 && !slice_is(guess.best, wanted))
        cli_note(target->input, "there is no table '%s'%s", wanted,
                 cli_meant(target->input, &guess));
    arena_release(&arena);
}

bool target_fine(struct target *target, int status)
{
    char error[1024];
    if (status == 0 || status == 200)
        return status == 200;
    target_error(target, error, sizeof(error));
    (void)cli_fail(target->input, "%s", error);
    if (strncmp(error, "ResourceNotFoundException", 25) == 0)
        note_meant(target);
    return false;
}

int target_await(struct target *target, const struct target_wait *wait, const char *form, ...)
{
    va_list args;
    struct progress bar;
    struct arena arena;
    int status;
    bool again;
    va_start(args, form);
    struct buf body = form_body(form, args);
    va_end(args);
    arena_init(&arena, MEMBER_MEMORY);
    progress_begin(&bar, wait->what, 0, 0, false, wait->quiet);
    do {
        arena_reset(&arena);
        status = target_call(target, wait->operation, buf_view(&body));
        struct slice answer = buf_view(&target->response);
        struct slice progress = json_member(answer, "Progress", &arena);
        progress = progress.len > 0 ? progress : answer;
        again = status == 200 && slice_is(json_member_text(answer, "Status", &arena), wait->busy);
        if (!again)
            break;
        // Indexes come before items, and have no count of their own.
        struct slice phase = json_member_text(progress, "Phase", &arena);
        bool counting = json_member(answer, "Counting", &arena).len > 0;
        bar.what = slice_is(phase, "INDEXES")            ? "creating indexes"
                   : slice_is(phase, "CLAIMS")           ? "gathering unique values"
                   : counting && slice_is(phase, "DONE") ? "counting"
                                                         : wait->what;
        bar.total = (uint64_t)json_member_number(progress, "Total");
        uint64_t done = (uint64_t)json_member_number(progress, "Done");
        progress_show(&bar, done, done);
        sleep_ms(POLL_MS);
    } while (again);
    progress_end(&bar);
    buf_release(&body);
    arena_release(&arena);
    return status;
}

// ---- Answers ----------------------------------------------------------------------

// The value that the reader is at, as text; ptr NULL if it is broken.
static struct slice value_text(struct json_reader *reader)
{
    (void)json_peek(reader); // passes over blanks
    const uint8_t *from = reader->at;
    return json_skip(reader) ? slice_of(from, (size_t)(reader->at - from)) : slice_of(NULL, 0);
}

struct slice json_member(struct slice object, const char *name, struct arena *arena)
{
    struct json_reader reader;
    struct slice found = {NULL, 0};
    struct slice own;
    json_reader_init(&reader, object, arena);
    if (json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return found;
    while (json_next_name(&reader, &own)) {
        struct slice text = value_text(&reader);
        if (text.ptr == NULL)
            break;
        if (slice_is(own, name))
            found = text;
    }
    return found;
}

struct slice json_member_text(struct slice object, const char *name, struct arena *arena)
{
    return string_text(json_member(object, name, arena), arena);
}

int64_t json_member_number(struct slice object, const char *name)
{
    struct arena arena;
    char digits[32];
    arena_init(&arena, MEMBER_MEMORY);
    struct slice text = json_member(object, name, &arena);
    (void)snprintf(digits, sizeof(digits), "%.*s", SLICE_FMT(text));
    arena_release(&arena);
    return strtoll(digits, NULL, 10);
}

bool json_member_flag(struct slice object, const char *name)
{
    struct arena arena;
    arena_init(&arena, MEMBER_MEMORY);
    bool is = slice_is(json_member(object, name, &arena), "true");
    arena_release(&arena);
    return is;
}

struct json_list json_list(struct slice object, const char *name, struct arena *arena)
{
    struct slice array = json_member(object, name, arena);
    if (array.len < 2 || array.ptr[0] != '[')
        return (struct json_list){slice_of(NULL, 0), arena};
    return (struct json_list){slice_of(array.ptr + 1, array.len - 1), arena};
}

bool json_list_next(struct json_list *list, struct slice *element)
{
    const uint8_t *end = list->rest.ptr + list->rest.len;
    const uint8_t *at = json_skip_space(list->rest.ptr, end);
    if (at < end && *at == ',')
        at++;
    struct json_reader reader;
    json_reader_init(&reader, slice_of(at, (size_t)(end - at)), list->arena);
    if (at == end || *at == ']')
        return false;
    *element = value_text(&reader);
    list->rest = slice_of(reader.at, (size_t)(end - reader.at));
    return element->ptr != NULL;
}

void json_each(struct slice object, const char *name, void (*show)(struct slice element))
{
    struct arena arena;
    struct slice element;
    arena_init(&arena, MEMBER_MEMORY);
    struct json_list list = json_list(object, name, &arena);
    while (json_list_next(&list, &element))
        show(element);
    arena_release(&arena);
}

void json_print(struct slice object, const char *sentence)
{
    struct arena arena;
    arena_init(&arena, MEMBER_MEMORY);
    while (*sentence != 0) {
        char name[64];
        size_t plain = strcspn(sentence, "{");
        printf("%.*s", (int)plain, sentence);
        sentence += plain;
        if (*sentence == 0)
            break;
        size_t len = strcspn(sentence + 1, "#}");
        (void)snprintf(name, sizeof(name), "%.*s", (int)len, sentence + 1);
        sentence += len + 1;
        bool number = *sentence == '#';
        struct slice value = json_member(object, name, &arena);
        struct slice text = string_text(value, &arena);
        if (number)
            printf("%lld", (long long)json_member_number(object, name));
        else
            printf("%.*s", SLICE_FMT(text.ptr != NULL ? text : value));
        sentence += number ? 2 : 1;
    }
    arena_release(&arena);
}

bool json_print_given(struct slice object, const char *name, const char *sentence)
{
    struct arena arena;
    arena_init(&arena, MEMBER_MEMORY);
    struct slice value = json_member(object, name, &arena);
    struct slice text = string_text(value, &arena);
    bool given = (text.ptr != NULL ? text.len : value.len) > 0;
    arena_release(&arena);
    if (given)
        json_print(object, sentence);
    return given;
}

bool target_describe(struct target *target, const char *table, struct arena *arena,
                     struct target_table *out)
{
    *out = (struct target_table){.items = 0};
    if (!target_fine(target, target_ask(target, "DescribeTable", "{'TableName':%s}", table)))
        return false;
    struct slice answer = arena_copy(arena, buf_view(&target->response));
    out->description = json_member(answer, "Table", arena);
    out->items = (uint64_t)json_member_number(out->description, "ItemCount");
    struct json_list definitions = json_list(out->description, "AttributeDefinitions", arena);
    struct slice one;
    while (json_list_next(&definitions, &one)) {
        struct slice name = json_member_text(one, "AttributeName", arena);
        enum value_type type = value_type_from_name(json_member_text(one, "AttributeType", arena));
        if (name.len > 0 && type != VALUE_TYPES && out->key_count < COUNT_OF(out->keys))
            out->keys[out->key_count++] = (struct key_part){name, type};
    }
    return true;
}

// ---- Files of items ---------------------------------------------------------------

bool target_format(struct cli_input *input, enum transfer_format *format, uint8_t *delimiter)
{
    const char *name = cli_value(input, "--format", "dynamodb-json");
    const char *between = cli_value(input, "--delimiter", ",");
    *format = transfer_format_from_name(name);
    *delimiter = (uint8_t)between[0];
    if (*format == TRANSFER_FORMATS) {
        struct model_guess guess = model_guess_for(slice_str(name));
        for (int i = 0; i < TRANSFER_FORMATS; i++)
            model_guess_candidate(&guess, slice_str(transfer_format_name(i)));
        return cli_misused(input, "there is no format '%s'%s", name, cli_meant(input, &guess));
    }
    return strlen(between) == 1 || cli_misused(input, "--delimiter must be one character.");
}

bool target_state(struct cli_input *input, const char *path, const char *what, struct arena *arena,
                  struct slice *state, struct error *error)
{
    enum { STATE_MAX = 256 << 20 };
    bool there = false;
    struct buf text;
    *state = slice_of(NULL, 0);
    if (path == NULL || cli_given(input, "--restart"))
        return true;
    buf_init(&text, STATE_MAX);
    bool ok = files_read(path, &text, &there, error);
    if (ok && there)
        *state = arena_copy(arena, buf_view(&text));
    buf_release(&text);
    if (!ok || state->len == 0 ||
        slice_is(json_member_text(*state, "table", arena), input->arguments[0]))
        return ok;
    return error_set(error, ERR_VALIDATION, "'%s' is of another %s; give --restart to forget it",
                     path, what);
}

// ---- Progress ---------------------------------------------------------------------

static double seconds(void)
{
    return (double)monotonic_ns() / 1e9;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total, uint64_t before,
                    bool bytes, bool quiet)
{
    *progress = (struct progress){.what = what,
                                  .shown = !quiet && isatty(STDERR_FILENO) == 1,
                                  .bytes = bytes,
                                  .total = total,
                                  .before = before,
                                  .started = seconds()};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t items)
{
    enum { BAR = 24 };
    double now = progress->shown ? seconds() : 0;
    if (!progress->shown || now - progress->last < 0.2)
        return;
    progress->last = now;
    double spent = now - progress->started;
    double rate = spent > 0 ? (double)(done - progress->before) / spent : 0;
    double part = progress->total > 0 ? (double)done / (double)progress->total : 0;
    part = part > 1 ? 1 : part;
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(part * BAR) ? '#' : '.';
    bar[BAR] = 0;
    (void)fprintf(stderr, "\r%s [%s] %3d%%  %llu items", progress->what, bar, (int)(part * 100),
                  (unsigned long long)items);
    if (rate > 0) {
        double left = progress->total > done ? (double)(progress->total - done) / rate : 0;
        if (progress->bytes)
            (void)fprintf(stderr, "  %.1f MB/s  %.0f s left ", rate / 1e6, left);
        else
            (void)fprintf(stderr, "  %.0f/s  %.0f s left ", rate, left);
    }
    (void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown && progress->last > 0)
        (void)fprintf(stderr, "\r\033[K");
}
