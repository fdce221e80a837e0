// See export_out.h.
#include "cli/export_out.h"

#include "transfer/files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    CUT_BYTES = 4 << 20, // compressed bytes after which a file is cut
    BATCH_ITEMS = 25,    // of BatchWriteItem
    RECORDS_MAX = 256 << 20,
};

static bool open_file(struct out *out, const struct out_state *state, struct error *error)
{
    out->sink = out->path == NULL ? sink_open_fd(STDOUT_FILENO, out->compression, error)
                                  : sink_open(out->path, out->compression, state->size, error);
    if (out->sink == NULL)
        return false;
    out->part = state->size;
    if (state->count > 0)
        return true;
    item_write_open(&out->items, &out->record);
    bool ok = sink_write(out->sink, buf_view(&out->record), error);
    buf_clear(&out->record);
    return ok;
}

static bool open_layout(struct out *out, const struct out_state *state, struct error *error)
{
    out->started_ms = env_now(out->env);
    export_id(out->env, out->started_ms, out->id);
    if (state->id.len > 0 && state->id.len < sizeof(out->id)) {
        memcpy(out->id, state->id.ptr, state->id.len);
        out->id[state->id.len] = 0;
        out->started_ms = state->started_ms;
    }
    struct export_options options = {
        .root = out->path,
        .id = out->id,
        .format = out->items.format,
        .env = out->env,
        .manifest = state->manifest,
        .item_count = state->count,
    };
    out->layout = export_open(&options, error);
    return out->layout != NULL;
}

bool out_open(struct out *out, const struct out_state *state, struct error *error)
{
    buf_init(&out->record, RECORDS_MAX);
    out->count = state->count;
    out->part = state->part;
    switch (out->kind) {
    case OUT_FILE:
        return open_file(out, state, error);
    case OUT_LAYOUT:
        return open_layout(out, state, error);
    default:
        return files_make_directory(out->path, error);
    }
}

// ---- Numbered files ---------------------------------------------------------------

// Ends the part that is in `record`.
static bool part_write(struct out *out, struct error *error)
{
    char path[4096];
    if (out->record.len == 0)
        return true;
    item_write_close(&out->items, &out->record);
    (void)snprintf(path, sizeof(path), "%s/%04llu.json%s", out->path,
                   (unsigned long long)out->part + 1,
                   transfer_compression_extension(out->compression));
    if (out->record.failed)
        return error_budget(error);
    struct sink *sink = sink_open(path, out->compression, 0, error);
    if (sink == NULL)
        return false;
    if (!sink_write(sink, buf_view(&out->record), error)) {
        sink_free(sink);
        return false;
    }
    out->part++;
    buf_clear(&out->record);
    return sink_close(sink, NULL, error);
}

static bool part_item(struct out *out, struct slice item, struct error *error)
{
    if (out->record.len == 0)
        item_write_open(&out->items, &out->record);
    if (!item_write(&out->items, &out->record, item))
        return false;
    return out->items.format != TRANSFER_BATCH_WRITE || out->items.count < BATCH_ITEMS ||
           part_write(out, error);
}

// ---- All of them ------------------------------------------------------------------

bool out_item(struct out *out, struct slice item, struct error *error)
{
    out->count++;
    if (out->kind == OUT_LAYOUT)
        return export_item(out->layout, item, error);
    if (out->kind == OUT_PARTS)
        return part_item(out, item, error);
    buf_clear(&out->record);
    if (!item_write(&out->items, &out->record, item))
        return error_set(error, ERR_VALIDATION,
                         "an item has an attribute that is none of the columns; name it in "
                         "--columns, or leave the option out");
    return (!out->record.failed || error_budget(error)) &&
           sink_write(out->sink, buf_view(&out->record), error);
}

bool out_page(struct out *out, bool *safe, struct out_state *state, struct error *error)
{
    *state = (struct out_state){.count = out->count, .started_ms = out->started_ms};
    switch (out->kind) {
    case OUT_FILE:
        *safe = out->path != NULL && (out->compression == TRANSFER_NONE ||
                                      sink_size(out->sink) - out->part >= CUT_BYTES);
        if (!*safe)
            return true;
        if (!sink_cut(out->sink, error))
            return false;
        state->size = sink_size(out->sink);
        out->part = state->size; // where the last cut is
        return true;
    case OUT_LAYOUT:
        *safe = export_file_bytes(out->layout) == 0 || export_file_bytes(out->layout) >= CUT_BYTES;
        if (*safe && !export_cut(out->layout, error))
            return false;
        state->manifest = export_manifest(out->layout);
        state->id = slice_str(out->id);
        return true;
    default:
        *safe = true;
        if (!part_write(out, error))
            return false;
        state->part = out->part;
        return true;
    }
}

bool out_finish(struct out *out, struct slice table_arn, struct slice table_id, struct error *error)
{
    if (out->kind == OUT_PARTS)
        return part_write(out, error);
    if (out->kind == OUT_FILE) {
        struct sink *sink = out->sink;
        out->sink = NULL;
        return sink_close(sink, NULL, error);
    }
    char *arn = arena_printf(out->arena, "%.*s/export/%s", SLICE_FMT(table_arn), out->id);
    if (arn == NULL)
        return error_budget(error);
    struct export_summary summary = {
        .export_arn = slice_str(arn),
        .table_arn = table_arn,
        .table_id = table_id,
        .start_ms = out->started_ms,
        .end_ms = env_now(out->env),
        .export_ms = out->started_ms,
    };
    return export_finish(out->layout, &summary, error);
}

void out_release(struct out *out)
{
    sink_free(out->sink);
    export_free(out->layout);
    buf_release(&out->record);
}
