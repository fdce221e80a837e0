// Helpers for engine tests: a table made in a few words, items in a small notation, and
// blocking calls around the engine's jobs.
#ifndef TESTS_ENGINE_SUPPORT_H
#define TESTS_ENGINE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "engine/engine.h"
#include "engine/layout.h"
#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>

// One test's world: an engine over a memory store, and an arena for everything else.
struct world {
    struct env_fixed clock;
    struct store *store;
    struct engine *engine;
    struct arena arena;
    struct error error;
};

static inline void world_open(struct world *world)
{
    struct store_error cause;
    *world = (struct world){.clock = {.now_ms = 1700000000000, .seed = 7}};
    world->store = store_open_memory(&cause);
    assert_non_null(world->store);
    world->engine = engine_open(world->store, env_fixed(&world->clock), NULL, &cause);
    assert_non_null(world->engine);
    arena_init(&world->arena, LIMIT_REQUEST_MEMORY);
    error_init(&world->error, &world->arena);
}

static inline void world_close(struct world *world)
{
    engine_close(world->engine);
    arena_release(&world->arena);
}

// An item from "name=text" and "name=#number" words, NULL-terminated.
static inline struct slice item_of(struct world *world, ...)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    va_list words;
    va_start(words, world);
    for (const char *word; (word = va_arg(words, const char *)) != NULL;) {
        const char *equals = strchr(word, '=');
        assert_non_null(equals);
        value_name(&builder, slice_of(word, (size_t)(equals - word)));
        if (equals[1] == '#') {
            uint8_t stored[NUMBER_BYTES_MAX];
            size_t len;
            assert_int_equal(number_from_text(slice_str(equals + 2), stored, &len), NUMBER_OK);
            value_put_number(&builder, slice_of(stored, len));
        } else {
            value_put_string(&builder, slice_str(equals + 1));
        }
    }
    va_end(words);
    assert_true(value_close(&builder));
    struct slice item = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    assert_non_null(item.ptr);
    return item;
}

static inline struct key_schema schema_of(const char *hash, const char *range)
{
    struct key_schema schema = {.hash_count = 1, .range_count = range != NULL};
    schema.parts[0] = (struct key_part){slice_str(hash), VALUE_S};
    if (range != NULL)
        schema.parts[1] = (struct key_part){slice_str(range), VALUE_S};
    return schema;
}

// The table `name` with keys pk and sk, and an index on g and h if `indexed`.
struct table_request {
    const char *name;
    bool indexed;
    bool local;
};

static inline bool alter_create(void *context, struct table *current, struct table **next,
                                struct error *error)
{
    const struct table_request *request = context;
    if (current != NULL)
        return error_set(error, ERR_RESOURCE_IN_USE, "exists");
    struct table *table = table_new();
    assert_non_null(table);
    table->name = arena_copy(&table->arena, slice_str(request->name));
    table->keys = schema_of("pk", "sk");
    if (request->indexed) {
        table->indexes[table->index_count++] =
            (struct index){.name = SLICE_LIT("byG"), .global = true, .keys = schema_of("g", "h")};
    }
    if (request->local) {
        table->indexes[table->index_count++] = (struct index){
            .name = SLICE_LIT("byH"),
            .keys = schema_of("pk", "h"),
            .projection = PROJECT_KEYS_ONLY,
        };
    }
    *next = table;
    return true;
}

static inline bool alter_drop(void *context, struct table *current, struct table **next,
                              struct error *error)
{
    (void)context;
    (void)next;
    return current != NULL || error_set(error, ERR_RESOURCE_NOT_FOUND, "no such table");
}

static inline bool alter_add_index(void *context, struct table *current, struct table **next,
                                   struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    (*next)->indexes[(*next)->index_count++] = (struct index){.name = SLICE_LIT("byG"),
                                                              .global = true,
                                                              .keys = schema_of("g", "h"),
                                                              .status = INDEX_CREATING};
    return true;
}

static inline bool alter_remove_index(void *context, struct table *current, struct table **next,
                                      struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    (*next)->indexes[0].status = INDEX_DELETING;
    return true;
}

static inline bool
change_table(struct world *world, const char *name,
             bool (*alter)(void *, struct table *, struct table **, struct error *), void *context)
{
    struct table_change change;
    error_init(&world->error, &world->arena);
    table_change_init(&change, world->engine, &world->error);
    change.name = slice_str(name);
    change.alter = alter;
    change.context = context;
    bool ok = engine_run(world->engine, &change.job);
    table_change_release(&change);
    return ok;
}

static inline void create_table(struct world *world, const char *name, bool indexed, bool local)
{
    struct table_request request = {name, indexed, local};
    assert_true(change_table(world, name, alter_create, &request));
}

static inline struct slice tree_key(struct world *world, const struct table *table,
                                    struct slice item)
{
    struct buf key;
    buf_init(&key, 1 << 16);
    layout_item_key(&key, table->tree, &table->keys, item);
    struct slice copy = arena_copy(&world->arena, buf_view(&key));
    buf_release(&key);
    return copy;
}

// Runs one action and waits. The action's results stay in it.
static inline bool run_action(struct world *world, const char *table_name,
                              struct write_action *action)
{
    struct table *table = engine_table(world->engine, slice_str(table_name));
    assert_non_null(table);
    action->table = table;
    struct write_job job;
    error_init(&world->error, &world->arena);
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = 1;
    job.actions = action;
    bool ok = engine_run(world->engine, &job.job);
    write_job_release(&job);
    table_release(table);
    return ok;
}

static inline bool put_item(struct world *world, const char *table, struct slice item)
{
    struct write_action action = {.kind = WRITE_PUT, .item = item};
    return run_action(world, table, &action);
}

static inline bool delete_item(struct world *world, const char *table, struct slice key)
{
    struct write_action action = {.kind = WRITE_DELETE, .item = key};
    return run_action(world, table, &action);
}

// What a page brought: count and the items one after the other.
struct page_result {
    size_t count;
    struct buf items;
};

static inline bool collect(void *context, struct slice item)
{
    struct page_result *result = context;
    result->count++;
    buf_slice(&result->items, item);
    return true;
}

static inline void scan_all(struct world *world, const char *table_name, const char *index_name,
                            struct page_result *result)
{
    struct table *table = engine_table(world->engine, slice_str(table_name));
    assert_non_null(table);
    *result = (struct page_result){.count = 0};
    buf_init(&result->items, 64 << 20);
    struct page_request page = {
        .table = table, .segments = 1, .emit = collect, .context = result, .arena = &world->arena};
    if (index_name != NULL) {
        page.index = table_index(table, slice_str(index_name));
        assert_non_null(page.index);
    }
    assert_true(engine_page(world->engine, &page, &world->error));
    table_release(table);
}

#endif
