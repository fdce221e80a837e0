// Contributor Insights: UpdateContributorInsights, DescribeContributorInsights and
// ListContributorInsights. The counting itself is in insights_count.c.
//
// Kept in the table's settings: an M by resource ("." for the table, else the index's name) of
// M {enabled, mode, changed_ms, rule_ms}. A change is answered with ENABLING or DISABLING, as the
// service does, and has happened by then.
#include "call/insights.h"

#include "call/table_ops.h"

#include <stdio.h>

enum { LIST_MAX = 100, TOKEN_MAX = 1024 };

static const char mode_all[] = "ACCESSED_AND_THROTTLED_KEYS";
static const char mode_throttled[] = "THROTTLED_KEYS";

static struct slice entry_name(struct slice index)
{
    return index.len == 0 ? SLICE_LIT(".") : index;
}

static struct slice entry_mode(struct slice entry)
{
    struct slice mode = map_text(entry, "mode");
    return mode.len == 0 ? slice_str(mode_all) : mode;
}

// The table's global index of that name; true if none is meant.
static bool index_find(const struct table *table, struct slice name, struct error *error)
{
    const struct index *index = name.len == 0 ? NULL : table_index(table, name);
    return name.len == 0 || (index != NULL && index->global) ||
           error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Index: %.*s not found", SLICE_FMT(name));
}

static void write_resource(struct json_writer *w, struct slice table, struct slice index)
{
    json_put_string(w, "TableName", table);
    if (index.len > 0)
        json_put_string(w, "IndexName", index);
}

// ---- Updating --------------------------------------------------------------------------------

struct insights_change {
    const struct update_contributor_insights_request *request;
    int64_t now_ms;
    bool changed; // out
};

static struct slice entry_make(struct table *table, const struct insights_change *change,
                               struct slice before, struct error *error)
{
    const struct update_contributor_insights_request *request = change->request;
    bool enabled = slice_is(request->action, "ENABLE");
    bool was = map_flag(before, "enabled");
    struct value_maker maker;
    map_begin(&maker);
    map_put_flag(&maker, "enabled", enabled);
    map_put_text(&maker, "mode", request->mode.len > 0 ? request->mode : entry_mode(before));
    map_put_integer(&maker, "changed_ms", change->now_ms);
    map_put_integer(&maker, "rule_ms",
                    enabled && was ? map_integer(before, "rule_ms") : change->now_ms);
    return map_end(&maker, &table->arena, error);
}

static bool insights_edit(void *context, struct table *table, struct table_settings *settings,
                          struct error *error)
{
    struct insights_change *change = context;
    const struct update_contributor_insights_request *request = change->request;
    if (table == NULL)
        return table_not_found(error, table_name_plain(request->table_name));
    if (!index_find(table, request->index_name, error))
        return false;
    struct slice name = entry_name(request->index_name);
    struct slice before = map_value(settings->insights, name);
    bool enable = slice_is(request->action, "ENABLE");
    bool same_mode = request->mode.len == 0 || slice_equal(request->mode, entry_mode(before));
    change->changed = enable != map_flag(before, "enabled") || (enable && !same_mode);
    if (!change->changed)
        return true;
    struct slice entry = entry_make(table, change, before, error);
    return entry.ptr != NULL && map_set(&table->arena, &settings->insights, name, entry, error);
}

enum step update_contributor_insights_start(struct api_call *call, const void *request)
{
    struct insights_change change = {.request = request, .now_ms = call_now(call)};
    return call_edit(call, table_name_plain(change.request->table_name), insights_edit, &change,
                     sizeof(change));
}

void update_contributor_insights_finish(struct api_call *call, const void *decoded)
{
    const struct update_contributor_insights_request *request = decoded;
    const struct insights_change *change = call->state->own;
    const struct table *table = call->state->change->after;
    struct table_settings settings;
    insights_follow(call->api, table);
    table_settings_read(table, &settings);
    bool enable = slice_is(request->action, "ENABLE");
    struct json_writer w = call_open(call);
    write_resource(&w, table->name, request->index_name);
    json_put_text(&w, "ContributorInsightsStatus",
                  change->changed ? (enable ? "ENABLING" : "DISABLING")
                                  : (enable ? "ENABLED" : "DISABLED"));
    if (enable)
        json_put_string(&w, "ContributorInsightsMode",
                        entry_mode(map_value(settings.insights, entry_name(request->index_name))));
    json_close_object(&w);
}

// ---- Describing ------------------------------------------------------------------------------

// DynamoDBContributorInsights-PKC-<table>[-<index>]-<milliseconds>
static void write_rule(struct json_writer *w, const char *kind, const struct table *table,
                       struct slice index, int64_t rule_ms)
{
    struct buf rule;
    buf_init(&rule, TOKEN_MAX);
    buf_printf(&rule, "DynamoDBContributorInsights-%s-%.*s%s%.*s-%lld", kind,
               SLICE_FMT(table->name), index.len > 0 ? "-" : "", SLICE_FMT(index),
               (long long)rule_ms);
    json_string(w, buf_view(&rule));
    buf_release(&rule);
}

static void write_rules(struct json_writer *w, const struct table *table, struct slice index,
                        struct slice entry)
{
    const struct key_schema *keys =
        index.len == 0 ? &table->keys : &table_index(table, index)->keys;
    bool sorted = keys->range_count > 0;
    bool accessed = !slice_is(entry_mode(entry), mode_throttled);
    int64_t rule_ms = map_integer(entry, "rule_ms");
    json_put_array(w, "ContributorInsightsRuleList");
    if (accessed)
        write_rule(w, "PKC", table, index, rule_ms);
    if (accessed && sorted)
        write_rule(w, "SKC", table, index, rule_ms);
    write_rule(w, "PKT", table, index, rule_ms);
    if (sorted)
        write_rule(w, "SKT", table, index, rule_ms);
    json_close_array(w);
}

enum step describe_contributor_insights_start(struct api_call *call, const void *decoded)
{
    const struct describe_contributor_insights_request *request = decoded;
    struct table_settings settings;
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL || !index_find(table, request->index_name, &call->error))
        return STEP_FAILED;
    table_settings_read(table, &settings);
    struct slice entry = map_value(settings.insights, entry_name(request->index_name));
    bool enabled = map_flag(entry, "enabled");
    struct json_writer w = call_open(call);
    write_resource(&w, table->name, request->index_name);
    if (enabled)
        write_rules(&w, table, request->index_name, entry);
    json_put_text(&w, "ContributorInsightsStatus", enabled ? "ENABLED" : "DISABLED");
    if (entry.len > 0)
        json_put_time(&w, "LastUpdateDateTime", map_integer(entry, "changed_ms"));
    if (enabled)
        json_put_string(&w, "ContributorInsightsMode", entry_mode(entry));
    json_close_object(&w);
    return STEP_READY;
}

// ---- Listing ---------------------------------------------------------------------------------

// A token is the base64 of "<table>/<index>": the resource that the page ended with.
struct listing {
    struct json_writer *w;
    size_t left;
    struct slice after_table;
    struct slice after_index;
    struct slice last_table; // of the resource that was written last; valid in the call's arena
    struct slice last_index;
    bool more;
};

static bool token_read(struct api_call *call, struct slice token, struct listing *listing)
{
    struct buf text;
    buf_init(&text, TOKEN_MAX);
    bool ok = token.len < TOKEN_MAX && base64_decode(&text, token);
    struct slice plain = ok ? arena_copy(&call->arena, buf_view(&text)) : slice_of(NULL, 0);
    buf_release(&text);
    const uint8_t *slash = plain.len == 0 ? NULL : memchr(plain.ptr, '/', plain.len);
    if (slash == NULL)
        return error_validation(&call->error, "Invalid NextToken: %.*s", SLICE_FMT(token));
    listing->after_table = slice_of(plain.ptr, (size_t)(slash - plain.ptr));
    listing->after_index = slice_of(slash + 1, plain.len - listing->after_table.len - 1);
    return true;
}

static void token_write(struct json_writer *w, const struct listing *listing)
{
    struct buf plain, text;
    buf_init(&plain, TOKEN_MAX);
    buf_init(&text, 2 * TOKEN_MAX);
    buf_printf(&plain, "%.*s/%.*s", SLICE_FMT(listing->last_table), SLICE_FMT(listing->last_index));
    base64_encode(&text, buf_view(&plain));
    json_put_string(w, "NextToken", buf_view(&text));
    buf_release(&plain);
    buf_release(&text);
}

static void list_one(struct listing *listing, const struct table *table, struct slice index,
                     struct slice entry)
{
    struct json_writer *w = listing->w;
    if (listing->left == 0) {
        listing->more = true;
        return;
    }
    bool enabled = map_flag(entry, "enabled");
    listing->left--;
    listing->last_table = table->name;
    listing->last_index = index;
    json_open_object(w);
    write_resource(w, table->name, index);
    json_put_text(w, "ContributorInsightsStatus", enabled ? "ENABLED" : "DISABLED");
    if (enabled)
        json_put_string(w, "ContributorInsightsMode", entry_mode(entry));
    json_close_object(w);
}

// The global index whose name comes next behind `after`, or NULL.
static const struct index *index_behind(const struct table *table, struct slice after)
{
    const struct index *next = NULL;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        if (index->global && slice_compare(index->name, after) > 0 &&
            (next == NULL || slice_compare(index->name, next->name) < 0))
            next = index;
    }
    return next;
}

// The table and its global indexes, or those behind the place where the page before ended. The
// table is held by the call.
static void list_table(struct listing *listing, const struct table *table)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    bool resumed = slice_equal(listing->after_table, table->name);
    struct slice after = resumed ? listing->after_index : slice_of(NULL, 0);
    if (!resumed)
        list_one(listing, table, slice_of(NULL, 0),
                 map_value(settings.insights, entry_name(slice_of(NULL, 0))));
    for (const struct index *index = index_behind(table, after); index != NULL && !listing->more;
         index = index_behind(table, index->name))
        list_one(listing, table, index->name, map_value(settings.insights, index->name));
}

static void list_all(struct api_call *call, struct listing *listing)
{
    struct table_walk walk;
    const struct table *table;
    table_walk_init(&walk, call_engine(call), slice_of(NULL, 0));
    while (!listing->more && call->error.code == ERR_NONE &&
           (table = table_walk_next(&walk)) != NULL) {
        if (slice_compare(table->name, listing->after_table) < 0)
            continue;
        list_table(listing, table);
        // The token needs the names of what was written last beyond the table's life.
        listing->last_table = arena_copy(&call->arena, listing->last_table);
        listing->last_index = arena_copy(&call->arena, listing->last_index);
    }
    table_walk_release(&walk);
}

enum step list_contributor_insights_start(struct api_call *call, const void *decoded)
{
    const struct list_contributor_insights_request *request = decoded;
    struct json_writer w = call_writer(call);
    struct listing listing = {.w = &w, .left = LIST_MAX};
    if (request->max_results.set && request->max_results.value > 0)
        listing.left = (size_t)request->max_results.value;
    if (request->next_token.len > 0 && !token_read(call, request->next_token, &listing))
        return STEP_FAILED;
    struct table *table = NULL;
    if (request->table_name.len > 0) {
        table = call_own_table(call, request->table_name);
        if (table == NULL)
            return STEP_FAILED;
    }
    json_open_object(&w);
    json_put_array(&w, "ContributorInsightsSummaries");
    if (table != NULL)
        list_table(&listing, table);
    else
        list_all(call, &listing);
    json_close_array(&w);
    if (listing.more)
        token_write(&w, &listing);
    json_close_object(&w);
    return STEP_READY;
}
