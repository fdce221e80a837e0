// See scan_items.h. A Scan goes by the hash of the partition key, so that the first items of a
// table are a fair sample of all.
#include "cli/scan_items.h"

#include "json/reader.h"
#include "json/shape.h"
#include "json/writer.h"

enum { PAGE_MEMORY = 256 << 20 };

struct pages {
    struct scan_items *scan;
    struct arena arena;  // of one page
    struct buf key_text; // ExclusiveStartKey, or empty
    struct error error;
    bool ended;
};

static bool ask(struct pages *pages)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", pages->scan->table);
    if (pages->key_text.len > 0) {
        json_name(&w, "ExclusiveStartKey");
        buf_slice(&body, buf_view(&pages->key_text));
        w.comma = true;
    }
    json_close_object(&w);
    int status = target_call(pages->scan->target, "Scan", buf_view(&body));
    buf_release(&body);
    if (status == 200)
        return true;
    char text[512] = "no answer";
    if (status != 0)
        target_error(pages->scan->target, text, sizeof(text));
    return error_set(&pages->error, ERR_INTERNAL, "%s", text);
}

static bool take_items(struct pages *pages, struct slice answer)
{
    struct scan_items *scan = pages->scan;
    struct json_reader reader;
    json_reader_init(&reader, json_member(answer, "Items", &pages->arena), &pages->arena);
    if (json_peek(&reader) != JSON_ARRAY || !json_enter(&reader))
        return error_set(&pages->error, ERR_INTERNAL, "the answer has no items");
    while (!pages->ended && json_next_element(&reader)) {
        const uint8_t *from = reader.at;
        struct slice item;
        if (!json_skip(&reader))
            break;
        if (!json_decode_item(slice_of(from, (size_t)(reader.at - from)), &pages->arena, &item,
                              &pages->error))
            return false;
        scan->seen++;
        pages->ended =
            !scan->visit(scan->context, item) || (scan->sample > 0 && scan->seen == scan->sample);
    }
    return true;
}

static bool all_pages(struct pages *pages, struct progress *progress)
{
    do {
        if (!ask(pages))
            return false;
        arena_reset(&pages->arena);
        struct slice answer = buf_view(&pages->scan->target->response);
        if (!take_items(pages, answer))
            return false;
        struct slice last = json_member(answer, "LastEvaluatedKey", &pages->arena);
        buf_clear(&pages->key_text);
        buf_slice(&pages->key_text, last);
        progress_show(progress, pages->scan->seen, pages->scan->seen);
    } while (!pages->ended && pages->key_text.len > 0);
    return true;
}

bool scan_items(struct scan_items *scan)
{
    struct pages pages = {.scan = scan};
    struct progress progress;
    uint64_t total =
        scan->sample > 0 && scan->sample < scan->expected ? scan->sample : scan->expected;
    arena_init(&pages.arena, PAGE_MEMORY);
    buf_init(&pages.key_text, 1 << 20);
    error_init(&pages.error, &pages.arena);
    scan->seen = 0;
    progress_begin(&progress, scan->table, total, 0, false, scan->quiet);
    bool ok = all_pages(&pages, &progress);
    progress_end(&progress);
    if (!ok)
        (void)cli_fail(scan->target->input->command, CLI_FAILED, "%s.", pages.error.message);
    buf_release(&pages.key_text);
    arena_release(&pages.arena);
    return ok;
}
