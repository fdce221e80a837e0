// Entities as plain JSON: any text is an item or has an error; an item written comes back as it
// was; a patch makes an item of an item. The first line is the entity, the rest a patch.
#include "fuzz.h"

#include "guard/plain.h"

enum { OUT_MAX = 64 << 20 };

static const char source[] =
    "table things { key PK, SK  index Gix (GPK, GSK)  type Kind }\n"
    "type Point { x: number  raw: binary?  next: Point? }\n"
    "entity Thing {\n"
    "  PK = \"T#{id}\"  SK = \"T\"  Gix = \"G\", \"{s}\"\n"
    "  id string  s string?  n number?  b binary?  ss set<string>?  ns set<number>?\n"
    "  bs set<binary>?  l binary[]?  u binary | number | null?  p Point?\n"
    "  m Record<string, set<string>>?  r string | null  a any?\n"
    "}\n";

// The same for all inputs; made once, and kept.
static const struct model *model_get(void)
{
    static struct model *model;
    static struct arena arena;
    if (model != NULL)
        return model;
    arena_init(&arena, FUZZ_BUDGET);
    struct diagnostics *found = arena_alloc(&arena, sizeof(*found));
    ensure(found != NULL);
    diagnostics_init(found, &arena);
    model = model_parse(SLICE_LIT("fuzz"), slice_str(source), found);
    ensure(model != NULL);
    return model;
}

// What is written is read as the same item.
static void check_round(const struct model_entity *entity, struct slice item, struct arena *arena)
{
    struct buf out;
    struct error error;
    struct slice again;
    struct model_plain_view view = {.table = entity->table, .entity = entity, .keys = true};
    buf_init(&out, OUT_MAX);
    error_init(&error, arena);
    struct json_writer w = json_writer_to(&out);
    model_plain_write(&w, &view, item);
    ensure(!out.failed);
    ensure(model_plain_read(entity, buf_view(&out), arena, &again, &error));
    ensure(slice_equal(item, again));
    buf_release(&out);
}

static void check_patch(const struct model_entity *entity, struct slice item, struct slice patch,
                        struct arena *arena)
{
    struct error error;
    struct slice after;
    error_init(&error, arena);
    ensure(model_plain_patch(entity, item, SLICE_LIT("{}"), arena, &after, &error));
    ensure(slice_equal(item, after));
    if (model_plain_patch(entity, item, patch, arena, &after, &error)) {
        ensure(value_valid(after));
        check_round(entity, after, arena);
    } else {
        fuzz_error(&error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct slice first = fuzz_copy(fuzz_line(&in));
    struct slice patch = fuzz_copy(in);
    struct arena arena;
    struct error error;
    struct slice item;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    const struct model_entity *entity = &model_get()->tables[0].entities[0];
    if (model_plain_read(entity, first, &arena, &item, &error)) {
        ensure(value_valid(item));
        check_round(entity, item, &arena);
        check_patch(entity, item, patch, &arena);
    } else {
        fuzz_error(&error);
    }
    arena_release(&arena);
    fuzz_free(first);
    fuzz_free(patch);
    return 0;
}
