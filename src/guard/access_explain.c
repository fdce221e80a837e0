// Access patterns for people: what a pattern asks for, and what a plan will do and cost.
#include "guard/access.h"

#include "diff/diff.h"
#include "guard/plain.h"

enum { TEXT_MAX = 64 << 10, UNIT_BYTES = 4096, PAGE_BYTES = 1 << 20 };

// ---- Patterns ---------------------------------------------------------------------------------

void access_describe(const struct model_access *access, struct buf *out)
{
    struct slice where = access->index == NULL ? access->table->name : access->index->name;
    buf_printf(out, "%s %.*s: ", access->get ? "GetItem" : "Query", SLICE_FMT(where));
    model_conditions_text(access, access->keys, access->key_count, out);
    if (access->filter_count > 0) {
        buf_text(out, ", filter ");
        model_conditions_text(access, access->filters, access->filter_count, out);
    }
    if (access->count)
        buf_text(out, ", counted");
    if (access->descending)
        buf_text(out, ", newest first");
    if (access->limit > 0)
        buf_printf(out, ", limit %llu", (unsigned long long)access->limit);
}

void access_signature(const struct model_access *access, struct buf *out)
{
    buf_slice(out, access->name);
    model_params_text(access, out);
}

// ---- Plans ------------------------------------------------------------------------------------

static void write_keys(const struct access_plan *plan, struct buf *out)
{
    struct value_iter iter;
    if (!plan->access->get) {
        access_write_tests(plan->key_count, plan->keys, out);
        return;
    }
    bool first = true;
    value_iter_init(&iter, plan->key);
    for (; value_iter_next(&iter); first = false) {
        struct json_writer w = json_writer_to(out);
        buf_printf(out, "%s%.*s = ", first ? "" : " AND ", SLICE_FMT(iter.name));
        json_plain(&w, iter.value);
    }
}

static double units_for(const struct access_plan *plan, double bytes)
{
    double units = (double)(((uint64_t)bytes + UNIT_BYTES - 1) / UNIT_BYTES);
    if (units < 1)
        units = 1;
    return plan->access->consistent ? units : units / 2;
}

// The most items a page can have, as far as that can be told; 0 if it cannot.
static double page_items(const struct access_plan *plan, const struct access_sizes *sizes)
{
    double items = sizes->item_bytes > 0 ? (double)(uint64_t)(PAGE_BYTES / sizes->item_bytes) : 0;
    if (plan->access->get)
        return 1;
    if (plan->limit > 0 && (items == 0 || (double)plan->limit < items))
        return (double)plan->limit;
    return items;
}

static void write_capacity(const struct access_plan *plan, const struct access_sizes *sizes,
                           struct buf *out)
{
    const char *how = plan->access->consistent ? "consistent" : "eventually consistent";
    double items = page_items(plan, sizes);
    buf_printf(out, "%s read units for each 4 KB (%s), at most %g a page",
               plan->access->consistent ? "1" : "0.5", how,
               plan->access->get ? units_for(plan, 409600) : units_for(plan, PAGE_BYTES));
    if (sizes->item_bytes <= 0)
        return;
    buf_printf(out, "; items have about %.0f bytes", sizes->item_bytes);
    if (plan->limit == 0 && !plan->access->get && sizes->item_bytes < UNIT_BYTES)
        buf_printf(out, ", %.0f of them in 4 KB", UNIT_BYTES / sizes->item_bytes);
    else if (items > 0)
        buf_printf(out, ", so %g for a page of %.0f", units_for(plan, items * sizes->item_bytes),
                   items);
}

static void explain_line(struct buf *out, const char *name, struct slice text)
{
    if (text.len > 0)
        buf_printf(out, "  %-9s %.*s\n", name, SLICE_FMT(text));
}

void access_explain(const struct access_plan *plan, const struct access_sizes *sizes,
                    struct buf *out)
{
    const struct model_access *access = plan->access;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    access_signature(access, out);
    for (size_t i = 0; i < access->entity_count; i++)
        buf_printf(out, "%s%.*s",
                   i > 0           ? ", "
                   : access->one   ? ": one "
                   : access->count ? ": count "
                                   : ": ",
                   SLICE_FMT(access->entities[i]->name));
    buf_byte(out, '\n');
    explain_line(out, "operation", slice_str(plan->operation));
    explain_line(out, "table", access->table->name);
    if (access->index != NULL)
        explain_line(out, "index", access->index->name);
    write_keys(plan, &text);
    explain_line(out, "keys", buf_view(&text));
    buf_clear(&text);
    access_write_tests(plan->filter_count, plan->filters, &text);
    if (plan->by_type)
        buf_text(&text, "   (other entities stand in the same range)");
    if (plan->softly)
        buf_text(&text, "   (what is deleted is hidden)");
    explain_line(out, "filter", buf_view(&text));
    if (!access->get)
        explain_line(out, "order",
                     access->descending ? SLICE_LIT("descending") : SLICE_LIT("ascending"));
    buf_clear(&text);
    if (plan->limit > 0)
        buf_u64(&text, plan->limit);
    explain_line(out, "limit", buf_view(&text));
    buf_clear(&text);
    write_capacity(plan, sizes, &text);
    explain_line(out, "capacity", buf_view(&text));
    buf_clear(&text);
    struct json_writer w = json_writer_to(&text);
    access_request(plan, &w);
    explain_line(out, "request", buf_view(&text));
    buf_release(&text);
}

static void json_filled(struct json_writer *w, const char *name, struct buf *text)
{
    if (text->len > 0)
        json_put_string(w, name, buf_view(text));
    buf_clear(text);
}

static void json_capacity(const struct access_plan *plan, const struct access_sizes *sizes,
                          struct json_writer *w)
{
    double items = page_items(plan, sizes);
    json_put_object(w, "capacity");
    json_name(w, "unitsPer4KB");
    json_units(w, plan->access->consistent ? 1 : 0.5);
    json_name(w, "mostPerPage");
    json_units(w, plan->access->get ? units_for(plan, 409600) : units_for(plan, PAGE_BYTES));
    if (sizes->item_bytes > 0 && items > 0) {
        json_put_integer(w, "itemBytes", (int64_t)sizes->item_bytes);
        json_name(w, "expectedPerPage");
        json_units(w, units_for(plan, items * sizes->item_bytes));
        json_put_integer(w, "itemsPerPage", (int64_t)items);
    }
    json_close_object(w);
}

void access_explain_json(const struct access_plan *plan, const struct access_sizes *sizes,
                         struct json_writer *w)
{
    const struct model_access *access = plan->access;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    json_open_object(w);
    json_put_string(w, "pattern", access->name);
    json_put_text(w, "operation", plan->operation);
    json_put_string(w, "table", access->table->name);
    if (access->index != NULL)
        json_put_string(w, "index", access->index->name);
    write_keys(plan, &text);
    json_filled(w, "keys", &text);
    access_write_tests(plan->filter_count, plan->filters, &text);
    json_filled(w, "filter", &text);
    json_put_flag(w, "typeFilter", plan->by_type);
    if (!access->get)
        json_put_text(w, "order", access->descending ? "descending" : "ascending");
    json_capacity(plan, sizes, w);
    json_name(w, "request");
    access_request(plan, w);
    json_close_object(w);
    buf_release(&text);
}
