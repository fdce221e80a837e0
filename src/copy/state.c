// How far a table is, in a file of its own: see copy.h.
#include "copy/copy.h"

#include "transfer/files.h"

#include <stdlib.h>
#include <unistd.h>

enum { STATE_MAX = 64 << 20 };

static char *state_path(const struct copy *copy, const struct copy_table *table,
                        struct arena *arena)
{
    return arena_printf(arena, "%s/%s.json", copy->state, table->name);
}

static void segments_read(struct copy_table *table, struct slice state)
{
    struct json_list list = json_list(state, "segments", &table->arena);
    struct slice one;
    for (size_t i = 0; i < table->segment_count && json_list_next(&list, &one); i++) {
        struct copy_segment *segment = &table->segments[i];
        segment->done = json_member_flag(one, "done");
        segment->items = (uint64_t)json_member_number(one, "items");
        buf_slice(&segment->key, json_member(one, "key", &table->arena));
        table->items += segment->items;
    }
}

static bool segments_make(struct copy_table *table, unsigned count)
{
    table->segment_count = count;
    table->segments = memory_zeroed(count * sizeof(*table->segments));
    for (size_t i = 0; i < count; i++)
        buf_init(&table->segments[i].key, 1 << 20);
    buf_init(&table->note, STATE_MAX);
    return true;
}

static bool state_matches(const struct copy *copy, struct copy_table *table, struct slice state)
{
    return slice_is(json_member_text(state, "source", &table->arena), copy->source.text) &&
           slice_is(json_member_text(state, "target", &table->arena), copy->target.text) &&
           slice_is(json_member_text(state, "table", &table->arena), table->name);
}

bool state_load(struct copy *copy, struct copy_table *table)
{
    bool there = false;
    struct error error;
    struct buf text;
    const char *path = state_path(copy, table, &table->arena);
    error_init(&error, &table->arena);
    buf_init(&text, STATE_MAX);
    bool restart = cli_given(copy->input, "--restart");
    bool ok = path != NULL && (restart || files_read(path, &text, &there, &error));
    struct slice state = ok && there ? arena_copy(&table->arena, buf_view(&text)) : VALUE_NONE;
    buf_release(&text);
    if (!ok)
        return cli_fail(copy->input, "%s.", error.message);
    if (state.len == 0)
        return segments_make(table, copy->segments);
    if (!state_matches(copy, table, state))
        return cli_fail(copy->input,
                        "'%s' is of another copy; name another directory with --state, or give "
                        "--restart to forget it.",
                        path);
    int64_t count = json_member_number(state, "count");
    if (count < 1 || count > COPY_SEGMENTS_MAX)
        return cli_fail(copy->input, "'%s' cannot be read; give --restart to forget it.", path);
    table->resumed = true;
    table->copied = json_member_flag(state, "copied");
    bool made = segments_make(table, (unsigned)count);
    segments_read(table, state);
    table->changes = (uint64_t)json_member_number(state, "changes");
    buf_slice(&table->note, json_member(state, "stream", &table->arena));
    return made;
}

bool state_save(struct copy *copy, struct copy_table *table)
{
    struct arena arena;
    struct error error;
    struct buf text;
    arena_init(&arena, STATE_MAX);
    error_init(&error, &arena);
    buf_init(&text, STATE_MAX);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'source':%s,'target':%s,'table':%s,'copied':%hhd,'changes':%zu,'count':%zu",
              copy->source.text, copy->target.text, table->name, table->copied,
              (size_t)table->changes, (size_t)table->segment_count);
    if (table->note.len > 0) {
        json_form(&w, "'stream':");
        buf_slice(&text, buf_view(&table->note));
        w.comma = true;
    }
    json_form(&w, "'segments':[");
    for (unsigned i = 0; i < table->segment_count; i++) {
        const struct copy_segment *segment = &table->segments[i];
        json_form(&w, "{'done':%hhd,'items':%zu", segment->done, (size_t)segment->items);
        if (segment->key.len > 0) {
            json_form(&w, "'key':");
            buf_slice(&text, buf_view(&segment->key));
            w.comma = true;
        }
        json_close_object(&w);
    }
    json_form(&w, "]}");
    const char *path = state_path(copy, table, &arena);
    bool ok = path != NULL && !text.failed && files_write(path, buf_view(&text), &error);
    buf_release(&text);
    if (!ok)
        (void)cli_fail(copy->input, "how far '%s' is cannot be kept: %s.", table->name,
                       error.message == NULL ? "there is not enough memory" : error.message);
    arena_release(&arena);
    return ok;
}

void state_forget(const struct copy *copy, const struct copy_table *table)
{
    struct arena arena;
    arena_init(&arena, 1 << 16);
    const char *path = state_path(copy, table, &arena);
    if (path != NULL)
        (void)unlink(path);
    arena_release(&arena);
}
