// Places, and the whole of a run: see copy.h.
#include "copy/copy.h"

#include "base/limits.h"
#include "transfer/files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TABLES_MAX = LIMIT_TABLES, DESCRIPTION_MEMORY = 64 << 20, LIST_MEMORY = 64 << 20 };

// ---- Places ---------------------------------------------------------------------------------

bool place_open(struct place *place, struct cli_input *input, const char *text, const char *region,
                const char *profile)
{
    struct slice name = slice_str(text);
    struct stat about;
    *place = (struct place){.text = text};
    place->target = (struct target){.input = input, .region = region, .profile = profile};
    buf_init(&place->target.response, 2 * (size_t)LIMIT_RESPONSE);
    if (slice_begins(name, SLICE_LIT("http://")) || slice_begins(name, SLICE_LIT("https://"))) {
        place->target.endpoint = text;
    } else if (memmem(text, name.len, "://", 3) != NULL) {
        return cli_misused(input, "'%s' is neither a URL (http, https) nor a directory.", text);
    } else {
        place->directory = true;
        // A source that is not there would be made, and be empty.
        if (strcmp(text, cli_argument(input, 0, "")) == 0 && stat(text, &about) != 0)
            return cli_fail(input, "there is no directory '%s'.", text);
        place->target.api = database_open(input, &(struct store_options){.path = text}, NULL);
        if (place->target.api == NULL)
            return false;
    }
    int status = target_ask(&place->target, "ListModels", "{}");
    place->dolmen = status == 200;
    return status != 0;
}

void place_close(struct place *place)
{
    target_close(&place->target);
}

void place_share(const struct place *place, struct cli_input *input, struct target *out)
{
    *out = place->target;
    out->input = input;
    buf_init(&out->response, 2 * (size_t)LIMIT_RESPONSE);
}

void place_unshare(struct target *target)
{
    buf_release(&target->response);
}

// ---- Tables ---------------------------------------------------------------------------------

static bool add_table(struct copy *copy, struct slice name)
{
    if (copy->table_count == TABLES_MAX || name.len >= COPY_TABLE_NAME)
        return cli_fail(copy->input, "there are more tables than can be copied at once.");
    struct copy_table *table = &copy->tables[copy->table_count++];
    (void)snprintf(table->name, sizeof(table->name), "%.*s", SLICE_FMT(name));
    arena_init(&table->arena, DESCRIPTION_MEMORY);
    return true;
}

static bool list_tables(struct copy *copy)
{
    struct arena arena;
    struct target *source = &copy->source.target;
    char last[COPY_TABLE_NAME] = "";
    bool ok = true;
    arena_init(&arena, LIST_MEMORY);
    do {
        int status = last[0] == 0
                         ? target_ask(source, "ListTables", "{}")
                         : target_ask(source, "ListTables", "{'ExclusiveStartTableName':%s}", last);
        ok = target_fine(source, status);
        struct slice answer = buf_view(&source->response);
        struct json_list names = json_list(answer, "TableNames", &arena);
        struct slice one;
        // Names of tables need no escapes.
        while (ok && json_list_next(&names, &one))
            ok = one.len >= 2 && add_table(copy, slice_of(one.ptr + 1, one.len - 2));
        (void)snprintf(last, sizeof(last), "%.*s",
                       SLICE_FMT(json_member_text(answer, "LastEvaluatedTableName", &arena)));
    } while (ok && last[0] != 0);
    arena_release(&arena);
    return ok;
}

static bool find_tables(struct copy *copy)
{
    const char *name;
    copy->tables = memory_zeroed(TABLES_MAX * sizeof(*copy->tables));
    for (size_t i = 0; (name = cli_repeated(copy->input, "--table", i)) != NULL; i++)
        if (!add_table(copy, slice_str(name)))
            return false;
    if (copy->table_count == 0 && !list_tables(copy))
        return false;
    return copy->table_count > 0 || cli_fail(copy->input, "%s has no tables.", copy->source.text);
}

static void release_tables(struct copy *copy)
{
    for (size_t i = 0; i < copy->table_count; i++) {
        struct copy_table *table = &copy->tables[i];
        copy->items += table->items;
        copy->changes += table->changes;
        if (table->streaming)
            shards_close(&table->stream);
        for (unsigned k = 0; k < table->segment_count; k++)
            buf_release(&table->segments[k].key);
        free(table->segments);
        buf_release(&table->note);
        arena_release(&table->arena);
    }
    free(copy->tables);
    copy->tables = NULL;
}

// ---- The run --------------------------------------------------------------------------------

static bool begin_table(struct copy *copy, struct copy_table *table)
{
    if (!define_describe(copy, table) || !state_load(copy, table))
        return false;
    if (table->resumed && !copy->quiet)
        cli_note(copy->input, "table '%s': resumed at %llu items.", table->name,
                 (unsigned long long)table->items);
    return define_create(copy, table) &&
           (!copy->follow || (define_stream(copy, table) && follow_begin(copy, table))) &&
           state_save(copy, table);
}

static bool interrupted(struct copy *copy)
{
    return cli_fail(copy->input, "interrupted. Run the same command again: it goes on from here.");
}

static bool copy_all(struct copy *copy)
{
    for (size_t i = 0; i < copy->table_count; i++)
        if (!begin_table(copy, &copy->tables[i]))
            return false;
    for (size_t i = 0; i < copy->table_count; i++) {
        struct copy_table *table = &copy->tables[i];
        if (!items_copy(copy, table))
            return atomic_load(&copy->stop) ? interrupted(copy) : false;
        if (!copy->quiet)
            cli_note(copy->input, "table '%s': %llu items copied.", table->name,
                     (unsigned long long)table->items);
    }
    if (copy->follow && !follow_all(copy))
        return false;
    for (size_t i = 0; i < copy->table_count; i++)
        if (!define_settings(copy, &copy->tables[i]))
            return false;
    return define_models(copy);
}

static bool describe_all(struct copy *copy)
{
    for (size_t i = 0; i < copy->table_count; i++)
        if (!define_describe(copy, &copy->tables[i]))
            return false;
    return true;
}

bool copy_run(struct copy *copy, bool verify, bool verify_only)
{
    struct error error;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    ensure(pthread_mutex_init(&copy->lock, NULL) == 0);
    bool ok = find_tables(copy);
    if (ok && !verify_only)
        ok = files_make_directory(copy->state, &error) ||
             cli_fail(copy->input, "'%s' cannot be made: %s.", copy->state, error.message);
    ok = ok && (verify_only ? describe_all(copy) : copy_all(copy));
    ok = ok && (!(verify || verify_only) || compare_all(copy));
    for (size_t i = 0; ok && !verify_only && i < copy->table_count; i++)
        state_forget(copy, &copy->tables[i]);
    if (ok && !verify_only)
        (void)rmdir(copy->state); // if nothing else is in it
    release_tables(copy);
    (void)pthread_mutex_destroy(&copy->lock);
    arena_release(&arena);
    return ok;
}
