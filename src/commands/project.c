// `dolmen project`: the projections of a model from outside: a client of Scan and DynamoDB Streams,
// so the tables may be of any server of the API. Each table that the projection takes items from
// has a projector of its own (project/projector.h), whose row in the database keeps where the
// stream stands.
#include "base/wait.h"
#include "cli/change.h"
#include "cli/scan.h"
#include "cli/shards.h"
#include "guard/entity.h"
#include "project/verify.h"
#include "publish/publish.h"
#include "value/map.h"

#include <stdlib.h>

enum {
    BATCH = 1000,
    BATCH_MEMORY = 128 << 20,
    IDLE_MS = 100,
    BACKOFF_FIRST_MS = 250,
    BACKOFF_LAST_MS = 15000,
    LOOKS = 5, // of --verify, while the projection is at work
    LOOK_MS = 1000,
    DIFFERENCES = 1000, // that are remembered
    SHOWN = 20,
};

// One table on its way.
struct follower {
    struct projecting *all;
    const struct model_table *table;
    char *name;
    struct shards stream;
    struct projector *projector;
    char id[256]; // of the table
    struct arena arena;
    size_t count;
    struct projector_change changes[BATCH];
};

struct projecting {
    struct cli_input *input;
    struct target target;
    struct model *model;
    const struct model_project *project; // or NULL
    const char *url;
    struct buf password;
    char user[256];
    uint64_t refused;
    size_t count;
    struct follower *followers;
};

// ---- Opening ---------------------------------------------------------------------------------

// user=…, password=env:…, password=file:…
static bool read_settings(struct projecting *p)
{
    const char *text;
    char error[256];
    struct publisher publisher = {.secrets = cli_value(p->input, "--secrets", ".")};
    struct outlet_request request = {
        .publisher = &publisher, .error = error, .error_size = sizeof(error)};
    buf_init(&p->password, 1 << 16);
    for (size_t i = 0; (text = cli_repeated(p->input, "--set", i)) != NULL; i++) {
        struct slice value = slice_str(text);
        struct slice name = slice_cut(&value, '=');
        struct outlet_option option = {.name = name};
        if (slice_is(name, "user") && value.len > 0 && value.len < sizeof(p->user)) {
            (void)snprintf(p->user, sizeof(p->user), "%.*s", SLICE_FMT(value));
            continue;
        }
        option.source = slice_cut(&value, ':');
        option.value = value;
        if (!slice_is(name, "password") || value.len == 0)
            return cli_misused(p->input,
                               "--set %s: it must be user=…, password=env:VARIABLE or "
                               "password=file:NAME.",
                               text);
        if (!outlet_secret(&request, &option, &p->password))
            return cli_fail(p->input, "%s.", error);
    }
    return true;
}

static struct projector_plan plan_of(const struct follower *f)
{
    struct projecting *p = f->all;
    return (struct projector_plan){.model = p->model,
                                   .project = p->project,
                                   .table = f->table,
                                   .table_id = slice_str(f->id),
                                   .target = {.url = slice_str(p->url),
                                              .user = slice_str(p->user),
                                              .password = buf_view(&p->password)}};
}

// What is over by itself is waited for, and told once.
static bool open_projector(struct follower *f)
{
    struct rdb_fault fault = {.class = RDB_FINE};
    int64_t wait = BACKOFF_FIRST_MS;
    const struct projector_plan plan = plan_of(f);
    while ((f->projector = projector_open(&plan, &fault)) == NULL) {
        if (fault.class == RDB_SCHEMA || fault.class == RDB_REFUSED)
            return cli_fail(f->all->input, "%s.", fault.text);
        if (wait == BACKOFF_FIRST_MS)
            cli_note(f->all->input, "%s%s; trying again.",
                     fault.class == RDB_FULL ? "the database is full: " : "", fault.text);
        sleep_ms(wait);
        wait = 2 * wait < BACKOFF_LAST_MS ? 2 * wait : BACKOFF_LAST_MS;
    }
    return true;
}

static bool lost(struct follower *f, const struct rdb_fault *fault)
{
    cli_note(f->all->input, "%s; trying again.", fault->text);
    projector_close(f->projector);
    f->projector = NULL;
    return false;
}

// ---- Writing ---------------------------------------------------------------------------------

static void tell_refused(struct follower *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct projector_change *change = &f->changes[i];
        if (!change->refused)
            continue;
        struct buf key;
        buf_init(&key, 1 << 20);
        struct json_writer w = json_writer_to(&key);
        json_item(&w, change->keys);
        if (f->all->refused++ < SHOWN)
            cli_note(f->all->input, "%s: %.*s is not written: %s", f->name,
                     SLICE_FMT(buf_view(&key)), change->reason);
        buf_release(&key);
    }
}

// False if the projector is lost.
static bool write_changes(struct follower *f, struct slice note)
{
    struct rdb_fault fault;
    bool ok = projector_apply_noted(f->projector, f->changes, f->count, note, &fault);
    if (ok)
        tell_refused(f);
    f->count = 0;
    arena_reset(&f->arena);
    return ok || lost(f, &fault);
}

static bool take_records(void *context, struct json_list *records, struct slice note)
{
    struct follower *f = context;
    struct slice record;
    while (json_list_next(records, &record)) {
        struct projector_change *change = &f->changes[f->count];
        *change = (struct projector_change){.refused = false};
        if (!shards_image(&f->stream, record, "Keys", &change->keys) ||
            !shards_image(&f->stream, record, "NewImage", &change->new_item) ||
            !shards_image(&f->stream, record, "OldImage", &change->old_item))
            return false;
        f->count++;
        if (f->count == BATCH && !write_changes(f, VALUE_NONE)) // the note comes with the last
            return false;
    }
    return write_changes(f, note);
}

// ---- Filling ---------------------------------------------------------------------------------

static bool fill_item(void *context, struct slice item)
{
    struct follower *f = context;
    struct error error;
    struct value_maker maker;
    error_init(&error, &f->arena);
    map_begin(&maker);
    for (size_t i = 0; i < f->table->keys.hash_count + f->table->keys.range_count; i++)
        map_put_value(&maker, f->table->keys.parts[i].name,
                      value_get(item, f->table->keys.parts[i].name));
    struct slice keys = map_end(&maker, &f->arena, &error);
    struct slice copy = arena_copy(&f->arena, item);
    if (keys.ptr == NULL || copy.ptr == NULL)
        return false;
    f->changes[f->count++] = (struct projector_change){.keys = keys, .new_item = copy};
    return (f->count < BATCH && f->arena.used < BATCH_MEMORY / 2) || write_changes(f, VALUE_NONE);
}

// The stream is read from where it was when the scan began, so that nothing is missed.
static bool fill(struct follower *f)
{
    struct rdb_fault fault;
    struct scan scan;
    struct buf note;
    if (f->stream.arn != NULL && !shards_newest(&f->stream))
        return false;
    if (!projector_begin(f->projector, &fault))
        return lost(f, &fault);
    scan_init(&scan, &f->all->target, f->name, fill_item, f);
    bool ok = scan_all(&scan, 0, 0, cli_given(f->all->input, "--quiet")) && f->projector != NULL;
    scan_release(&scan);
    ok = ok && (f->count == 0 || write_changes(f, VALUE_NONE));
    if (!ok)
        return false;
    buf_init(&note, 1 << 20);
    shards_note(&f->stream, &note);
    ok = projector_end(f->projector, 0, buf_view(&note), &fault) || lost(f, &fault);
    buf_release(&note);
    return ok;
}

// ---- Following -------------------------------------------------------------------------------

// Opens what is not open. False if it cannot be: fatally, unless the projector was lost meanwhile.
static bool be_open(struct follower *f, bool *again)
{
    *again = false;
    if (f->projector != NULL)
        return true;
    if (!open_projector(f))
        return false;
    struct projector_place place = projector_place(f->projector);
    bool resumes =
        !place.backfill && f->stream.arn != NULL && shards_resume(&f->stream, place.note);
    if (resumes || fill(f))
        return true;
    *again = f->projector == NULL;
    return false;
}

static bool follow_once(struct follower *f, bool *any)
{
    bool again = false;
    *any = true;
    if (!be_open(f, &again))
        return again;
    if (f->stream.arn == NULL) {
        *any = false;
        return true;
    }
    return shards_read(&f->stream, take_records, f, any) || f->projector == NULL;
}

static bool follow(struct projecting *p)
{
    bool once = cli_given(p->input, "--once");
    bool any = true;
    while (any || !once) {
        any = false;
        for (size_t i = 0; i < p->count; i++) {
            bool some = false;
            if (!follow_once(&p->followers[i], &some))
                return false;
            any = any || some;
        }
        if (!any && !once)
            sleep_ms(IDLE_MS);
    }
    return p->refused == 0 ||
           cli_fail(p->input, "%llu changes were not written.", (unsigned long long)p->refused);
}

// ---- Verifying -------------------------------------------------------------------------------

struct difference {
    enum verify_what what;
    char *text;
    bool again; // seen by the last look, too
};

struct looking {
    struct verifier *verifier;
    struct rdb_fault fault;
    bool first;
    size_t count; // that every look so far has seen
    struct difference list[DIFFERENCES];
    uint64_t found; // by this look
};

static bool look_item(void *context, struct slice item)
{
    struct looking *looking = context;
    return verifier_add(looking->verifier, item, &looking->fault);
}

static void look_found(void *context, const struct verify_difference *found)
{
    struct looking *looking = context;
    char *text = NULL;
    looking->found++;
    ensure_memory(asprintf(&text, "%.*s %.*s", SLICE_FMT(found->table), SLICE_FMT(found->key)) < 0
                      ? NULL
                      : text);
    for (size_t i = 0; i < looking->count && !looking->first; i++) {
        struct difference *known = &looking->list[i];
        known->again =
            known->again || (known->what == found->what && strcmp(known->text, text) == 0);
    }
    if (looking->first && looking->count < DIFFERENCES)
        looking->list[looking->count++] = (struct difference){found->what, text, true};
    else
        free(text);
}

static bool look(struct follower *f, struct looking *looking)
{
    struct scan scan;
    looking->found = 0;
    for (size_t i = 0; i < looking->count; i++)
        looking->list[i].again = false;
    if (!verifier_begin(looking->verifier, &looking->fault))
        return cli_fail(f->all->input, "%s.", looking->fault.text);
    scan_init(&scan, &f->all->target, f->name, look_item, looking);
    bool ok = scan_all(&scan, 0, 0, cli_given(f->all->input, "--quiet"));
    scan_release(&scan);
    if (!ok)
        return false;
    if (looking->fault.class != RDB_FINE ||
        !verifier_end(looking->verifier, look_found, looking, &looking->fault))
        return cli_fail(f->all->input, "%s.", looking->fault.text);
    size_t kept = 0;
    for (size_t i = 0; i < looking->count; i++) {
        if (looking->list[i].again)
            looking->list[kept++] = looking->list[i];
        else
            free(looking->list[i].text);
    }
    looking->count = kept;
    looking->first = false;
    return true;
}

// What differs because it is on its way does not differ each time.
static bool verify_table(struct follower *f, size_t *differences)
{
    struct looking *looking = memory_zeroed(sizeof(*looking));
    struct rdb_fault fault;
    const struct projector_plan plan = plan_of(f);
    looking->first = true;
    looking->verifier = verifier_open(&plan, &fault);
    bool ok = looking->verifier != NULL || cli_fail(f->all->input, "%s.", fault.text);
    for (size_t i = 0; i < LOOKS && ok; i++) {
        if (i > 0)
            sleep_ms(LOOK_MS);
        ok = look(f, looking);
        if (looking->count == 0)
            break;
    }
    for (size_t i = 0; i < looking->count && ok && i < SHOWN; i++)
        printf("%s: %s\n", verify_words[looking->list[i].what], looking->list[i].text);
    if (ok)
        printf("%s: %llu rows compared, %llu differ, %llu items cannot be rows\n", f->name,
               (unsigned long long)verifier_rows(looking->verifier),
               (unsigned long long)(looking->count == 0            ? 0
                                    : looking->count < DIFFERENCES ? looking->count
                                                                   : looking->found),
               (unsigned long long)verifier_refused(looking->verifier));
    *differences += looking->count;
    for (size_t i = 0; i < looking->count; i++)
        free(looking->list[i].text);
    if (looking->verifier != NULL)
        verifier_close(looking->verifier);
    free(looking);
    return ok;
}

// A backfill writes only what differs, and removes what should not be there. The one of a
// projection of the server is the server's to do.
static bool mend(struct follower *f)
{
    struct projecting *p = f->all;
    if (p->project != NULL && p->project->target.len > 0) {
        const char *name = arena_printf(&f->arena, "%.*s", SLICE_FMT(p->project->name));
        return name != NULL &&
               target_fine(&p->target,
                           target_ask(&p->target, "UpdateConsumer",
                                      "{'TableName':%s,'ConsumerName':%s,'Action':'BACKFILL'}",
                                      f->name, name));
    }
    return open_projector(f) && fill(f);
}

static bool verify(struct projecting *p)
{
    size_t differences = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!verify_table(&p->followers[i], &differences))
            return false;
    if (differences == 0)
        return true;
    if (!cli_given(p->input, "--mend"))
        return cli_fail(p->input, "Rows and items differ; --mend makes the rows anew.");
    for (size_t i = 0; i < p->count; i++)
        if (!mend(&p->followers[i]))
            return cli_fail(p->input, "Table %s could not be mended.", p->followers[i].name);
    cli_note(p->input, "The rows are being made anew where they differ.");
    return true;
}

// ---- Status ----------------------------------------------------------------------------------

static bool show_place(void *context, size_t count, const struct slice *values)
{
    (void)context;
    if (count == 5)
        printf("%.*s of %.*s: %s, position %.*s, last written %.*s\n", SLICE_FMT(values[0]),
               SLICE_FMT(values[1]),
               slice_is(values[2], "t") || slice_is(values[2], "1") ? "being filled" : "in step",
               SLICE_FMT(values[3]), SLICE_FMT(values[4]));
    return true;
}

static bool status_of_database(struct projecting *p)
{
    struct rdb_fault fault;
    struct rdb_target target = plan_of(&p->followers[0]).target;
    for (size_t i = 0; p->project != NULL && i < p->project->option_count; i++)
        if (slice_is(p->project->options[i].name, "schema"))
            target.schema = p->project->options[i].value;
    struct rdb *rdb = rdb_open(&target, &fault);
    bool ok = rdb != NULL &&
              rdb->ops->run(rdb,
                            SLICE_LIT("SELECT name, source, backfill, position, changed FROM "
                                      "dolmen_projections WHERE source <> '' ORDER BY 1, 2"),
                            show_place, NULL, &fault);
    if (rdb != NULL)
        rdb->ops->close(rdb);
    return ok || cli_fail(p->input, "%s.", fault.text);
}

static void show_projection(struct slice consumer)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice target = json_member_text(consumer, "Target", &arena);
    if (slice_begins(target, SLICE_LIT("postgres")) || slice_begins(target, SLICE_LIT("sqlite:"))) {
        json_print(consumer, "{ConsumerName} of {TableName} into {Target}\n");
        json_print(consumer, "  {State}, position {Position}, {LagRecords} behind, {LagSeconds} s; "
                             "{Delivered} changes written, {Failed} failed, {DeadLetters} dead "
                             "letters\n");
        (void)json_print_given(consumer, "Reason", "  {Reason}\n");
    }
    arena_release(&arena);
}

static void show_projections(struct slice answer)
{
    json_each(answer, "Consumers", show_projection);
}

static bool status_of_server(struct cli_input *input)
{
    struct target target;
    if (!target_open(&target, input))
        return false;
    bool ok = target_fine(&target, target_ask(&target, "ListConsumers", "{}")) &&
              change_print(&target, show_projections);
    target_close(&target);
    return ok;
}

// ---- The command -----------------------------------------------------------------------------

static bool find_rule(struct projecting *p)
{
    const struct model_rules *rules = p->model->rules_of;
    const char *wanted = cli_value(p->input, "--rule", NULL);
    for (size_t i = 0; i < rules->project_count && p->project == NULL; i++)
        if (wanted == NULL || slice_is(rules->projects[i].name, wanted))
            p->project = &rules->projects[i];
    return p->project != NULL || wanted == NULL ||
           cli_misused(p->input, "The model has no projection named \"%s\".", wanted);
}

static bool takes_from(const struct projecting *p, const struct model_table *table)
{
    for (size_t i = 0; p->project != NULL && i < p->project->entity_count; i++)
        if (p->project->entities[i]->table == table)
            return true;
    return p->project == NULL;
}

static void make_followers(struct projecting *p)
{
    p->followers = memory_zeroed((p->model->table_count + 1) * sizeof(*p->followers));
    for (size_t i = 0; i < p->model->table_count; i++) {
        const struct model_table *table = &p->model->tables[i];
        if (!takes_from(p, table))
            continue;
        struct follower *f = &p->followers[p->count++];
        f->all = p;
        f->table = table;
        f->name = slice_dup(table->name);
        arena_init(&f->arena, 2 * BATCH_MEMORY);
    }
}

static bool open_streams(struct projecting *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct follower *f = &p->followers[i];
        if (!shards_open(&f->stream, &p->target, f->name))
            return false;
        struct slice table = json_member(buf_view(&p->target.response), "Table", &f->stream.page);
        (void)snprintf(f->id, sizeof(f->id), "%.*s",
                       SLICE_FMT(json_member_text(table, "TableId", &f->stream.page)));
        if (f->stream.arn == NULL && !cli_given(p->input, "--once") &&
            !cli_given(p->input, "--verify"))
            return cli_fail(p->input,
                            "Table %s has no stream to follow: switch one on, with new and old "
                            "images, or use --once.",
                            f->name);
    }
    return true;
}

static void projecting_end(struct projecting *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct follower *f = &p->followers[i];
        if (f->projector != NULL)
            projector_close(f->projector);
        shards_close(&f->stream);
        arena_release(&f->arena);
        free(f->name);
    }
    free(p->followers);
    if (p->password.ptr != NULL)
        explicit_bzero(p->password.ptr, p->password.len);
    buf_release(&p->password);
    model_release(p->model);
}

bool cli_project(struct cli_input *input)
{
    struct projecting p = {.input = input, .url = cli_value(input, "--to", NULL)};
    enum sql_dialect dialect;
    if (p.url == NULL && cli_given(input, "--status"))
        return status_of_server(input);
    if (input->argument_count == 0 || p.url == NULL)
        return cli_misused(input, "Name the file of a model, and say --to where.");
    if (!rdb_dialect(slice_str(p.url), &dialect))
        return cli_misused(input, "--to is postgresql://… or sqlite:FILE.");
    p.model = cli_model_file(input, input->arguments[0]);
    if (p.model == NULL)
        return false;
    bool ok = find_rule(&p) && read_settings(&p);
    if (ok)
        make_followers(&p);
    if (ok && cli_given(input, "--status"))
        ok = status_of_database(&p);
    else if (ok && target_open(&p.target, input)) {
        ok = open_streams(&p) && (cli_given(input, "--verify") ? verify(&p) : follow(&p));
        target_close(&p.target);
    } else {
        ok = false;
    }
    projecting_end(&p);
    return ok;
}
