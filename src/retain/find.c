// Walking over a table to find what a rule removes: see retain.h.
#include "retain/retain.h"

#include "engine/layout.h"

enum {
    PAGE_ITEMS = 256,
    PAGE_MEMORY = 64 << 20,
    ITEM_MEMORY = 16 << 20,
    GROUPS_MEMORY = 64 << 20,
};

void finder_init(struct retain_finder *finder, struct engine *engine, struct table *table,
                 const struct retain_rule *rule, size_t memory)
{
    const struct env *env = engine_env(engine);
    uint64_t seed;
    *finder = (struct retain_finder){.engine = engine, .table = table, .rule = rule};
    arena_init(&finder->item, ITEM_MEMORY);
    buf_init(&finder->after, STORE_KEY_MAX);
    if (rule->keep == NULL)
        return;
    env->random(env->context, (uint8_t *)&seed, sizeof(seed));
    finder->groups = groups_new(rule->keep->count, memory == 0 ? GROUPS_MEMORY : memory, seed);
}

void finder_release(struct retain_finder *finder)
{
    groups_free(finder->groups);
    buf_release(&finder->after);
    arena_release(&finder->item);
}

// ---- An item ----------------------------------------------------------------------------------

static bool look_grouped(struct retain_finder *finder, struct slice item, struct slice key)
{
    struct slice group;
    struct slice rank;
    struct slice gone;
    bool surplus;
    enum retain_answer answer = retain_place(finder->rule, item, &finder->item, &group, &rank);
    if (answer != RETAIN_YES)
        return answer == RETAIN_NO || error_budget(finder->error);
    if (!groups_add(finder->groups, group, rank, key, &surplus, &gone, finder->error))
        return false;
    return !surplus || finder->found(finder->context, gone, group, finder->error);
}

static bool look(void *context, struct slice item)
{
    struct retain_finder *finder = context;
    const struct retain_rule *rule = finder->rule;
    struct buf key;
    finder->looked++;
    arena_reset(&finder->item);
    if (!retain_concerns(rule, item))
        return true;
    finder->items++;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, finder->table->tree, &finder->table->keys, item);
    bool ok = !key.failed || error_budget(finder->error);
    if (ok && rule->keep != NULL) {
        ok = look_grouped(finder, item, buf_view(&key));
    } else if (ok) {
        enum retain_answer answer =
            retain_due(rule, item, engine_env(finder->engine), &finder->item);
        ok = answer == RETAIN_NO ||
             (answer == RETAIN_YES
                  ? finder->found(finder->context, buf_view(&key), slice_of(NULL, 0), finder->error)
                  : error_budget(finder->error));
    }
    buf_release(&key);
    return ok;
}

// ---- A page -----------------------------------------------------------------------------------

bool finder_page(struct retain_finder *finder, struct error *error)
{
    struct arena arena;
    arena_init(&arena, PAGE_MEMORY);
    struct page_request page = {
        .table = finder->table,
        .segments = 1,
        .after = buf_view(&finder->after),
        .limit = PAGE_ITEMS,
        .emit = look,
        .context = finder,
        .arena = &arena,
    };
    finder->error = error;
    if (finder->turn)
        groups_next(finder->groups);
    finder->turn = false;
    bool ok = engine_page(finder->engine, &page, error) && error->code == ERR_NONE;
    bool last = page.last.len == 0;
    buf_clear(&finder->after);
    if (ok && !last) {
        layout_item_key(&finder->after, finder->table->tree, &finder->table->keys, page.last);
        ok = !finder->after.failed || error_budget(error);
    }
    finder->turn = ok && last && finder->groups != NULL && groups_more(finder->groups);
    finder->ended = ok && last && !finder->turn;
    arena_release(&arena);
    return ok;
}

// ---- Counting ---------------------------------------------------------------------------------

struct counting {
    struct workshop *shop;
    struct table *table;
    struct arena *arena;
    struct retain_count *out;
};

static bool add_sample(struct counting *counting, struct slice tree_key, struct error *error)
{
    struct item_read read;
    const struct table *table = counting->table;
    if (!engine_get(counting->shop->engine, NULL, tree_key, &read, error))
        return false;
    if (read.item.len > 0) {
        struct value_maker maker;
        value_begin(&maker, 1 << 16);
        value_open_map(&maker.b);
        for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
            value_name(&maker.b, table->keys.parts[i].name);
            value_put(&maker.b, value_get(read.item, table->keys.parts[i].name));
        }
        struct slice key = value_end(&maker, counting->arena);
        if (key.ptr != NULL)
            counting->out->samples[counting->out->sample_count++].key = key;
    }
    item_read_release(counting->shop->engine, &read);
    return true;
}

static bool count_one(void *context, struct slice key, struct slice group, struct error *error)
{
    struct counting *counting = context;
    (void)group;
    counting->out->due++;
    return counting->out->sample_count == RETAIN_SAMPLES || add_sample(counting, key, error);
}

bool retain_count(struct workshop *shop, struct table *table, const struct retain_rule *rule,
                  uint64_t most, struct arena *arena, struct retain_count *out, struct error *error)
{
    struct counting counting = {shop, table, arena, out};
    struct retain_finder finder;
    *out = (struct retain_count){.due = 0};
    finder_init(&finder, shop->engine, table, rule, 0);
    finder.found = count_one;
    finder.context = &counting;
    bool ok = true;
    bool first = true;
    while (ok && !finder.ended && (most == 0 || finder.looked < most)) {
        ok = work_goes_on(shop, error) && finder_page(&finder, error);
        if (first && (finder.ended || finder.turn)) {
            out->items = finder.items; // later passes meet the same ones again
            first = false;
        }
    }
    if (first)
        out->items = finder.items;
    if (ok && finder.groups != NULL)
        out->due = groups_surplus(finder.groups);
    finder_release(&finder);
    return ok;
}
