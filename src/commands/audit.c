// `dolmen audit verify` and `dolmen audit show`: argv around src/audit/inspect.h. No server is
// asked.
#include "audit/audit.h"
#include "audit/inspect.h"
#include "base/encode.h"
#include "base/files.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "value/number.h"
#include "value/value.h"
#include "json/reader.h"
#include "json/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAME_BYTES = 4096 + 32, HEAD_MAX = 1 << 20, OUTPUT_MAX = 256 << 20, OUTPUT_PART = 1 << 20 };

struct reading {
    struct cli_input *input;
    struct inspect_options options;
    struct inspect *inspect;
    struct buf head;
    const char *base;          // of the log, or its only file
    char (*names)[NAME_BYTES]; // of its files
    struct buf out;
    struct json_writer w;
    bool json;
    bool printed; // all could be
    // show
    const char *who, *table, *operation, *address;
    char since[TIME_TEXT], until[TIME_TEXT];
    const char *decision; // as lines have it; "" for all that were refused; NULL for any
    bool refused;
    struct buf item_plain;  // {"S":"…"}
    struct buf item_hashed; // "hmac:…" for each key
    size_t last;            // 0: all
    struct slice *kept;
    size_t kept_count;
};

// ---- Files -----------------------------------------------------------------------------------

static bool read_fd(struct reading *reading, const char *name, int fd)
{
    if (inspect_file(reading->inspect, name, fd))
        return true;
    return cli_fail(reading->input, "%s: %s.", name, strerror(errno));
}

static bool read_named(struct reading *reading, const char *name)
{
    if (strcmp(name, "-") == 0)
        return read_fd(reading, "standard input", STDIN_FILENO);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail(reading->input, "%s: %s.", name, strerror(errno));
    bool read = read_fd(reading, name, fd);
    (void)close(fd);
    return read;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The numbers of rotated files, in order; to be freed.
static uint64_t *rotated_find(const char *base, size_t *count)
{
    char directory[NAME_BYTES];
    const char *slash = strrchr(base, '/');
    const char *name = slash == NULL ? base : slash + 1;
    size_t len = strlen(name);
    uint64_t *numbers = NULL;
    size_t room = 0;
    *count = 0;
    (void)snprintf(directory, sizeof(directory), "%.*s",
                   slash == NULL   ? 1
                   : slash == base ? 1
                                   : (int)(slash - base),
                   slash == NULL ? "." : base);
    DIR *list = opendir(directory);
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        const char *at = entry->d_name;
        char *end;
        if (strncmp(at, name, len) != 0 || at[len] != '.' || at[len + 1] < '1' || at[len + 1] > '9')
            continue;
        uint64_t number = strtoull(at + len + 1, &end, 10);
        if (*end != 0)
            continue;
        numbers = memory_grow(numbers, *count, &room, sizeof(*numbers));
        numbers[(*count)++] = number;
    }
    if (list != NULL)
        (void)closedir(list);
    if (*count > 1)
        qsort(numbers, *count, sizeof(*numbers), compare_numbers);
    return numbers;
}

// FILE with all that belongs to it. Names are told with breaks, so they stay.
static bool read_log(struct reading *reading, const char *base)
{
    size_t count;
    uint64_t *numbers = rotated_find(base, &count);
    char(*names)[NAME_BYTES] = memory_zeroed((count + 1) * sizeof(*names));
    reading->names = names;
    bool read = true;
    for (size_t i = 0; read && i < count; i++) {
        (void)snprintf(names[i], NAME_BYTES, "%s.%llu", base, (unsigned long long)numbers[i]);
        read = read_named(reading, names[i]);
    }
    // Between two files there may be none.
    if (read && (count == 0 || access(base, F_OK) == 0))
        read = read_named(reading, base);
    free(numbers);
    return read;
}

static bool read_all(struct reading *reading)
{
    const struct cli_input *input = reading->input;
    if (input->argument_count == 2 && !reading->options.stream)
        return read_log(reading, input->arguments[1]);
    for (size_t i = 1; i < input->argument_count; i++) {
        if (!read_named(reading, input->arguments[i]))
            return false;
    }
    return true;
}

// ---- Options ---------------------------------------------------------------------------------

static bool key_add(struct reading *reading, const char *source)
{
    char error[4400];
    struct crypt_key key;
    struct inspect_options *options = &reading->options;
    if (options->key_count == INSPECT_KEYS_MAX)
        return cli_misused(reading->input, "--key: there may be %d.", INSPECT_KEYS_MAX);
    if (!crypt_master_read(source, &key, error, sizeof(error)))
        return cli_fail(reading->input, "--key %s: %s.", source, error);
    chain_keys_derive(&key, &options->keys[options->key_count++]);
    crypt_key_wipe(&key);
    return true;
}

static bool keys_parse(struct reading *reading)
{
    const char *source;
    char own[NAME_BYTES + 8];
    for (size_t i = 0; (source = cli_repeated(reading->input, "--key", i)) != NULL; i++) {
        if (!key_add(reading, source))
            return false;
    }
    (void)snprintf(own, sizeof(own), "file:%s.key", reading->base);
    return reading->options.key_count > 0 || access(own + 5, F_OK) != 0 || key_add(reading, own);
}

static bool expect_parse(struct reading *reading)
{
    const char *text = cli_value(reading->input, "--expect", NULL);
    if (text == NULL)
        return true;
    struct slice chain = slice_str(text);
    struct slice seq = slice_cut(&chain, ':');
    char *end;
    reading->options.expect_seq = strtoull(text, &end, 10);
    return (reading->options.expect_seq > 0 && end == text + seq.len &&
            chain_unhex(chain, reading->options.expect_digest, CHAIN_DIGEST)) ||
           cli_misused(reading->input, "--expect must be SEQ:CHAIN, not '%s'.", text);
}

static void head_read(struct reading *reading)
{
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof(name), "%s.head", reading->base);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (file_read(fd, &reading->head))
        reading->options.head = buf_view(&reading->head);
    (void)close(fd);
}

static bool reading_open(struct reading *reading, struct cli_input *input)
{
    reading->input = input;
    if (input->argument_count < 2)
        return cli_misused(input, "%s takes the name of a log, or '-'.", input->arguments[0]);
    bool standard = strcmp(input->arguments[1], "-") == 0;
    reading->base = input->arguments[1];
    reading->json = cli_given(input, "--json");
    reading->options.stream = standard || cli_given(input, "--stream");
    reading->options.part = input->argument_count > 2;
    if (strlen(reading->base) >= 4096)
        return cli_misused(input, "the name of the log is too long.");
    if (!keys_parse(reading) || !expect_parse(reading))
        return false;
    head_read(reading);
    reading->options.to = reading;
    reading->inspect = inspect_new(&reading->options);
    return true;
}

static void reading_init(struct reading *reading)
{
    *reading = (struct reading){.printed = true};
    buf_init(&reading->head, HEAD_MAX);
    buf_init(&reading->out, OUTPUT_MAX);
    buf_init(&reading->item_plain, HEAD_MAX);
    buf_init(&reading->item_hashed, HEAD_MAX);
}

static void reading_release(struct reading *reading)
{
    if (reading->inspect != NULL)
        inspect_free(reading->inspect);
    for (size_t i = 0; i < reading->last; i++)
        free((void *)(uintptr_t)reading->kept[i].ptr);
    free(reading->kept);
    free(reading->names);
    buf_release(&reading->head);
    buf_release(&reading->out);
    buf_release(&reading->item_plain);
    buf_release(&reading->item_hashed);
}

// ---- verify ----------------------------------------------------------------------------------

static void tell_break(void *to, const struct inspect_break *place)
{
    struct reading *reading = to;
    if (reading->json) {
        json_form(&reading->w, "{'file':%s,'line':%lld,'seq':%lld,'message':%s}", place->file,
                  (long long)place->line, (long long)place->seq, place->text);
    } else if (place->line > 0) {
        buf_printf(&reading->out, "%s:%llu: %s\n", place->file, (unsigned long long)place->line,
                   place->text);
    } else {
        buf_printf(&reading->out, "%s: %s\n", place->file, place->text);
    }
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void tell_result(struct reading *reading, const struct inspect_result *result)
{
    struct buf *out = &reading->out;
    buf_printf(out, "%s: %llu file%s, %llu line%s (%llu to %llu): ", reading->base,
               (unsigned long long)result->files, plural(result->files),
               (unsigned long long)result->lines, plural(result->lines),
               (unsigned long long)result->first_seq, (unsigned long long)result->end.seq);
    if (result->breaks > 0)
        buf_printf(out, "the chain breaks in %llu place%s.\n", (unsigned long long)result->breaks,
                   plural(result->breaks));
    else
        buf_printf(out, "the chain is whole, and %llu of %llu seals %s checked.\n",
                   (unsigned long long)result->checked, (unsigned long long)result->seals,
                   result->checked == 1 ? "is" : "are");
    if (result->seals > result->checked && result->checked == 0)
        buf_text(out, "Without the key of the log (--key) a chain that was made anew is not "
                      "noticed.\n");
    if (result->unsealed > 0)
        buf_printf(out, "The last %llu line%s not sealed yet.\n",
                   (unsigned long long)result->unsealed, result->unsealed == 1 ? " is" : "s are");
    if (result->torn > 0)
        buf_printf(out, "%llu line%s torn by a crash or a full disk, and closed.\n",
                   (unsigned long long)result->torn, result->torn == 1 ? " was" : "s were");
    if (result->lost > 0)
        buf_printf(out, "%llu request%s not told, because the log could not be written.\n",
                   (unsigned long long)result->lost, result->lost == 1 ? " was" : "s were");
}

static void tell_json(struct reading *reading, const struct inspect_result *result)
{
    char chain[CHAIN_HEX];
    hex_text(slice_of(result->end.digest, CHAIN_DIGEST), chain);
    json_form(&reading->w,
              "],'whole':%hhd,'log':%s,'files':%lld,'lines':%lld,'first':%lld,'last':%lld,"
              "'chain':%.*s,'seals':%lld,'checked':%lld,'unsealed':%lld,'torn':%lld,'lost':%lld}",
              result->breaks == 0, result->log, (long long)result->files, (long long)result->lines,
              (long long)result->first_seq, (long long)result->end.seq, CHAIN_HEX, chain,
              (long long)result->seals, (long long)result->checked, (long long)result->unsealed,
              (long long)result->torn, (long long)result->lost);
    buf_byte(&reading->out, '\n');
}

static bool run_verify(struct reading *reading, struct cli_input *input)
{
    struct inspect_result result;
    reading->options.broken = tell_break;
    reading->w = json_writer_to(&reading->out);
    if (!reading_open(reading, input))
        return false;
    if (reading->json)
        json_form(&reading->w, "{'breaks':[");
    if (!read_all(reading))
        return false;
    inspect_end(reading->inspect, reading->base, &result);
    if (reading->json)
        tell_json(reading, &result);
    else
        tell_result(reading, &result);
    bool printed = cli_print(&reading->out, stdout);
    buf_init(&reading->out, OUTPUT_MAX);
    return printed && result.breaks == 0;
}

// ---- show: which lines ------------------------------------------------------------------------

static bool has(struct slice text, const char *part)
{
    return part == NULL || slice_contains(text, slice_str(part));
}

static bool is(struct slice text, const char *wanted)
{
    return wanted == NULL || slice_is(text, wanted);
}

static bool by_who(const struct reading *reading, struct slice body)
{
    return reading->who == NULL || has(chain_member(body, "principal"), reading->who) ||
           has(chain_member(body, "access_key"), reading->who) ||
           slice_is(chain_member(body, "tenant"), reading->who);
}

static bool by_time(const struct reading *reading, struct slice body)
{
    struct slice time = chain_member(body, "time");
    struct slice until = slice_str(reading->until);
    struct slice begun = slice_of(time.ptr, time.len < until.len ? time.len : until.len);
    return slice_compare(time, slice_str(reading->since)) >= 0 &&
           (until.len == 0 || slice_compare(begun, until) <= 0);
}

static bool by_decision(const struct reading *reading, struct slice body)
{
    struct slice decision = chain_member(body, "decision");
    if (reading->refused)
        return !slice_is(decision, "allowed") && !slice_is(decision, "not checked");
    return is(decision, reading->decision);
}

static bool by_table(const struct reading *reading, struct slice body)
{
    char named[300];
    if (reading->table == NULL || slice_is(chain_member(body, "table"), reading->table))
        return true;
    (void)snprintf(named, sizeof(named), "\"table\":\"%s\"", reading->table);
    return slice_contains(chain_member(body, "keys"), slice_str(named));
}

static bool by_item(const struct reading *reading, struct slice body)
{
    if (reading->item_plain.len == 0)
        return true;
    struct slice keys = chain_member(body, "keys");
    struct slice hashed = buf_view(&reading->item_hashed);
    if (slice_contains(keys, buf_view(&reading->item_plain)))
        return true;
    while (hashed.len > 0) {
        if (slice_contains(keys, slice_cut(&hashed, '\n')))
            return true;
    }
    return false;
}

static bool wanted(const struct reading *reading, struct slice body)
{
    struct slice address = chain_member(body, "address");
    return chain_member(body, "operation").len > 0 && by_time(reading, body) &&
           by_who(reading, body) && by_table(reading, body) && by_decision(reading, body) &&
           is(chain_member(body, "operation"), reading->operation) &&
           (reading->address == NULL || slice_begins(address, slice_str(reading->address))) &&
           by_item(reading, body);
}

// ---- show: how they look ----------------------------------------------------------------------

static void show_part(struct buf *out, const char *before, struct slice text)
{
    if (text.len > 0)
        buf_printf(out, "%s%.*s", before, SLICE_FMT(text));
}

// "2026-01-31T22:15:00.123Z denied PutItem Music by arn:… from 10.0.0.1: 400 AccessDenied… {…}"
static void show_line(struct buf *out, struct slice body)
{
    struct slice who = chain_member(body, "principal");
    struct slice key = chain_member(body, "access_key");
    show_part(out, "", chain_member(body, "time"));
    show_part(out, "  ", chain_member(body, "decision"));
    show_part(out, "  ", chain_member(body, "operation"));
    show_part(out, " ", chain_member(body, "table"));
    show_part(out, " ", chain_member(body, "keys"));
    show_part(out, "  by ", who.len > 0 ? who : key);
    if (who.len > 0)
        show_part(out, " with ", key);
    show_part(out, " of tenant ", chain_member(body, "tenant"));
    show_part(out, " from ", chain_member(body, "address"));
    show_part(out, "  ", chain_member(body, "status"));
    show_part(out, " ", chain_member(body, "error"));
    show_part(out, ": ", chain_member(body, "reason"));
    show_part(out, "  decided by the ", chain_member(body, "policy"));
    show_part(out, " ", chain_member(body, "sid"));
    buf_byte(out, '\n');
}

static void show(struct reading *reading, const struct chain_line *line)
{
    struct buf *out = &reading->out;
    if (reading->json) {
        char digits[CHAIN_HEX];
        hex_text(slice_of(line->digest, CHAIN_DIGEST), digits);
        buf_slice(out, line->covered);
        buf_printf(out, ",\"chain\":\"%.*s\"}\n", CHAIN_HEX, digits);
    } else {
        show_line(out, line->body);
    }
    if (out->len > OUTPUT_PART && reading->last == 0) {
        reading->printed = cli_print(out, stdout) && reading->printed;
        buf_init(out, OUTPUT_MAX);
    }
}

// With --last, the newest are kept until all are read.
static void on_line(void *to, const struct chain_line *line, bool good)
{
    struct reading *reading = to;
    (void)good; // breaks are told apart
    if (!reading->printed || !wanted(reading, line->body))
        return;
    show(reading, line);
    if (reading->last == 0)
        return;
    struct slice *place = &reading->kept[reading->kept_count++ % reading->last];
    free((void *)(uintptr_t)place->ptr);
    *place = slice_of(slice_dup(buf_view(&reading->out)), reading->out.len);
    ensure_memory(place->ptr);
    buf_clear(&reading->out);
}

static void warn_break(void *to, const struct inspect_break *place)
{
    const struct reading *reading = to;
    cli_note(reading->input, "%s:%llu: %s", place->file, (unsigned long long)place->line,
             place->text);
}

// ---- show: options ------------------------------------------------------------------------------

// "90m": so long ago; else the beginning of a time.
static bool time_option(struct cli_input *input, const char *option, char out[TIME_TEXT])
{
    const char *text = cli_value(input, option, "");
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    int64_t unit = *end == 's'   ? 1000
                   : *end == 'm' ? 60000
                   : *end == 'h' ? 3600000
                   : *end == 'd' ? 86400000
                                 : 0;
    struct env env = env_system();
    if (end > text && unit > 0 && end[1] == 0 && number < 1000000) {
        time_text(env_now(&env) - (int64_t)number * unit, out);
        return true;
    }
    bool formed = strlen(text) < TIME_TEXT - 1 && (text[0] == 0 || strlen(text) >= 4);
    for (const char *at = text; *at != 0; at++)
        formed = formed && strchr("0123456789-:.TZ", *at) != NULL;
    if (!formed)
        return cli_misused(input, "%s: '%s' is not a time such as 2026-01-31T22:15 or 90m.", option,
                           text);
    (void)snprintf(out, TIME_TEXT, "%s", text);
    return true;
}

static bool decision_option(struct reading *reading)
{
    static const char *const words[] = {"allowed",   "denied",      "unauthenticated",
                                        "throttled", "not-checked", "would-be-denied",
                                        "refused",   NULL};
    static const enum audit_decision means[] = {
        AUDIT_ALLOWED,   AUDIT_DENIED, AUDIT_UNAUTHENTICATED,
        AUDIT_THROTTLED, AUDIT_OPEN,   AUDIT_WOULD_DENY};
    size_t at;
    if (!cli_given(reading->input, "--decision"))
        return true;
    if (!cli_choice(reading->input, "--decision", words,
                    "allowed, denied, unauthenticated, throttled, not-checked, would-be-denied or "
                    "refused",
                    &at))
        return false;
    reading->refused = at == COUNT_OF(means);
    reading->decision = reading->refused ? NULL : audit_decision_name(means[at]);
    return true;
}

// The forms that a value has in lines.
static bool item_option(struct reading *reading)
{
    const char *text = cli_value(reading->input, "--item", NULL);
    struct value_maker maker;
    struct arena arena;
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t stored_len = 0;
    if (text == NULL)
        return true;
    bool number = strncmp(text, "N:", 2) == 0;
    if (number && number_from_text(slice_str(text + 2), stored, &stored_len) != NUMBER_OK)
        return cli_misused(reading->input, "--item %s: this is not a number.", text);
    arena_init(&arena, HEAD_MAX);
    value_begin(&maker, HEAD_MAX);
    if (number)
        value_put_number(&maker.b, slice_of(stored, stored_len));
    else
        value_put_string(&maker.b, slice_str(strncmp(text, "S:", 2) == 0 ? text + 2 : text));
    struct slice value = value_end(&maker, &arena);
    ensure_memory(value.ptr);
    struct json_writer w = json_writer_to(&reading->item_plain);
    json_value(&w, value);
    for (size_t i = 0; i < reading->options.key_count; i++) {
        char digits[2 * CHAIN_HASHED];
        chain_hash(&reading->options.keys[i], value, digits);
        buf_printf(&reading->item_hashed, "hmac:%.*s\n", 2 * CHAIN_HASHED, digits);
    }
    arena_release(&arena);
    return true;
}

static bool run_show(struct reading *reading, struct cli_input *input)
{
    struct inspect_result result;
    unsigned last;
    reading->options.broken = warn_break;
    reading->options.line = on_line;
    reading->who = cli_value(input, "--who", NULL);
    reading->table = cli_value(input, "--table", NULL);
    reading->operation = cli_value(input, "--operation", NULL);
    reading->address = cli_value(input, "--address", NULL);
    if (!reading_open(reading, input) || !time_option(input, "--since", reading->since) ||
        !time_option(input, "--until", reading->until) || !decision_option(reading) ||
        !item_option(reading) || !cli_number(input, "--last", 0, 1, 1000000, &last))
        return false;
    reading->last = last;
    reading->kept = memory_zeroed((reading->last + 1) * sizeof(*reading->kept));
    if (!read_all(reading))
        return false;
    inspect_end(reading->inspect, reading->base, &result);
    size_t from = reading->kept_count > reading->last ? reading->kept_count - reading->last : 0;
    for (size_t i = from; i < reading->kept_count; i++)
        buf_slice(&reading->out, reading->kept[i % reading->last]);
    bool printed = cli_print(&reading->out, stdout);
    buf_init(&reading->out, OUTPUT_MAX);
    return printed && reading->printed;
}

bool cli_audit(struct cli_input *input)
{
    struct reading *reading = malloc(sizeof(*reading));
    ensure_memory(reading);
    const char *what = cli_argument(input, 0, "");
    bool ok = false;
    reading_init(reading);
    if (strcmp(what, "verify") == 0)
        ok = run_verify(reading, input);
    else if (strcmp(what, "show") == 0)
        ok = run_show(reading, input);
    else
        (void)cli_misused(input, "say 'verify' or 'show'.");
    reading_release(reading);
    free(reading);
    return ok;
}
