// See scan.h. A Scan goes by the hash of the partition key, so that the first items of a table are
// a fair sample of all.
#include "cli/scan.h"

#include "base/limits.h"
#include "json/shape.h"

void scan_init(struct scan *scan, struct target *target, const char *table, scan_visit *visit,
               void *context)
{
    *scan = (struct scan){.target = target, .table = table, .visit = visit, .context = context};
    arena_init(&scan->page, LIMIT_REQUEST_MEMORY);
    buf_init(&scan->key, 1 << 20);
    error_init(&scan->error, &scan->page);
}

void scan_release(struct scan *scan)
{
    buf_release(&scan->key);
    arena_release(&scan->page);
}

static bool ask(struct scan *scan)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%s", scan->table);
    if (scan->key.len > 0) {
        json_form(&w, "'ExclusiveStartKey':");
        buf_slice(&body, buf_view(&scan->key));
    }
    json_close_object(&w);
    int status = target_call(scan->target, "Scan", buf_view(&body));
    buf_release(&body);
    char text[512] = "no answer";
    if (status != 0 && status != 200)
        target_error(scan->target, text, sizeof(text));
    return status == 200 || error_set(&scan->error, ERR_INTERNAL, "%s", text);
}

bool scan_page(struct scan *scan)
{
    arena_reset(&scan->page);
    if (!ask(scan))
        return false;
    struct slice answer = buf_view(&scan->target->response);
    struct slice text;
    struct slice item;
    if (json_member(answer, "Items", &scan->page).len == 0)
        return error_set(&scan->error, ERR_INTERNAL, "the answer has no items");
    struct json_list items = json_list(answer, "Items", &scan->page);
    while (json_list_next(&items, &text)) {
        if (!json_decode_item(text, &scan->page, &item, &scan->error) ||
            !scan->visit(scan->context, item))
            return false;
    }
    struct slice last = json_member(answer, "LastEvaluatedKey", &scan->page);
    // Copied: the next page reuses the memory of this one.
    buf_clear(&scan->key);
    buf_slice(&scan->key, last);
    return true;
}

// ---- A sample -------------------------------------------------------------------------------

// Stands before the visitor of a scan of all pages.
struct sampling {
    scan_visit *visit;
    void *context;
    uint64_t most; // 0: all
    uint64_t seen;
};

static bool visit_sample(void *context, struct slice item)
{
    struct sampling *sampling = context;
    sampling->seen++;
    return sampling->visit(sampling->context, item) && sampling->seen != sampling->most;
}

bool scan_all(struct scan *scan, uint64_t expected, uint64_t sample, bool quiet)
{
    struct sampling sampling = {scan->visit, scan->context, sample, 0};
    struct progress progress;
    bool more;
    scan->visit = visit_sample;
    scan->context = &sampling;
    progress_begin(&progress, scan->table, sample > 0 && sample < expected ? sample : expected, 0,
                   false, quiet);
    do {
        more = scan_page(scan) && scan->key.len > 0;
        progress_show(&progress, sampling.seen, sampling.seen);
    } while (more);
    progress_end(&progress);
    return scan->error.code == ERR_NONE ||
           cli_fail(scan->target->input, "%s.", scan->error.message);
}
