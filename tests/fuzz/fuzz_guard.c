// Writes through a model's guard. The input is a way (put, update, touch) and two items in plain
// JSON, one a line: what was there, and what is to be stored. Any write is refused with violations
// or gives an item with which nothing is wrong, which a backfill leaves as it is, byte for byte;
// and a put that was prepared gives the same as one that was not.
#include "fuzz.h"

#include "guard/guard.h"
#include "json/plain.h"

enum { OUT_MAX = 16 << 20 };

static const char source[] =
    "type Node { name: string(1..9) lower trim  weight: number = 1  kids: Node[]? }\n"
    "table things { key PK, SK  index Gix (GPK, GSK)  index Hix (HPK, HSK)  index nat (s, t)\n"
    "  type Kind  ttl ttl }\n"
    "entity Thing {\n"
    "  PK = \"T#{id}\"  SK = \"{n:pad(4)}#{u ?? 'x'}\"\n"
    "  Gix = \"G#{s:lower}\", \"{t:yyyy/mm/dd}#{n}\"  Hix = \"{b:sha256}\", "
    "\"{node.weight:pad(3)}\"\n"
    "  id string(1..9)  n integer(0..99) = 7  u \"a\" | \"b\" | null?  s string? unique upper\n"
    "  t timestamp = now() immutable  x timestamp = now() on update  b boolean = true\n"
    "  v number version  ttl epoch? = t + 7d  node Node?  l (number | string)[]?\n"
    "  m Record<string, date>?  mail email? unique lower trim  link url?  id2 uuid = uuid()\n"
    "  full string? = \"{id}-{s ?? 'none'}\"  a any?\n"
    "}\n"
    "entity Other {\n"
    "  unknown reject\n"
    "  PK = \"O#{id}\"  SK = \"{d}\"  Gix = \"O\", \"{o.p}\"\n"
    "  id string  d date  o { p: string?  q: 5 | 8  r: boolean = false }  w "
    "number(-1..1.5)[](..3)?\n"
    "}\n"
    "entity Loose { guard warn  unknown warn  PK = \"L\"  SK = \"{k}\"  k string  j number }\n";

// The same for all inputs; made once, and kept.
static struct guard *guard_get(void)
{
    static struct guard *guard;
    static struct arena arena;
    if (guard != NULL)
        return guard;
    arena_init(&arena, FUZZ_BUDGET);
    struct diagnostics *found = arena_alloc(&arena, sizeof(*found));
    ensure(found != NULL);
    diagnostics_init(found, &arena);
    struct model *model = model_parse(SLICE_LIT("fuzz"), slice_str(source), found);
    ensure(model != NULL);
    guard = model_guard_new(model, &model->tables[0]);
    ensure(guard != NULL);
    return guard;
}

// An item of a line, or VALUE_NONE.
static struct slice item_of(struct slice text, struct arena *arena)
{
    struct buf out;
    struct value_builder builder;
    struct slice item = VALUE_NONE;
    buf_init(&out, OUT_MAX);
    value_builder_init(&builder, &out);
    if (plain_read(text, arena, &builder) == NULL && !out.failed)
        item = fuzz_copy(buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return item;
}

// Everything that a guard must have said of a write.
static bool run(struct guard_write *write, bool prepare, struct error *error)
{
    struct guard *guard = guard_get();
    struct env_fixed clock = {.now_ms = 1794800400123, .seed = 7};
    struct env env = env_fixed(&clock);
    write->env = &env;
    bool taken = (!prepare || model_guard_prepare(guard, &env, write->arena, NULL, &write->after,
                                                  &write->settled, error));
    write->prepared = prepare;
    // What was made up when it was prepared may be made up again: then it is the same.
    clock = (struct env_fixed){.now_ms = 1794800400123, .seed = 7};
    if (taken)
        taken = guard->ops->write(guard, write, error);
    if (taken)
        return true;
    fuzz_error(error);
    const struct model_violations *details = error->details;
    ensure(details != NULL && details->count > 0);
    for (size_t i = 0; i < details->count; i++)
        ensure(details->list[i].expected.len > 0 && details->list[i].actual.len > 0);
    return false;
}

static void check_result(const struct guard_write *write, struct arena *arena)
{
    ensure(value_valid(write->after));
    if (write->warnings.len > 0)
        return; // it may be stored as it is
    struct model_violations *found = model_guard_judge(guard_get(), arena, write->after);
    ensure(found != NULL && found->count == 0);
    struct error error;
    struct guard_write touch = {
        .touch = true, .before = write->after, .after = write->after, .arena = arena};
    error_init(&error, arena);
    ensure(run(&touch, false, &error));
    ensure(touch.warnings.len == 0);
    ensure(slice_equal(touch.after, write->after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t way = fuzz_byte(&in);
    (void)fuzz_line(&in);
    struct arena arena;
    arena_init(&arena, FUZZ_BUDGET);
    struct slice before = item_of(fuzz_line(&in), &arena);
    struct slice after = item_of(in, &arena);
    struct guard_write write = {
        .is_put = way == 'p', .touch = way == 't', .before = before, .arena = &arena};
    struct guard_write again = write;
    write.after = write.touch ? before : after;
    again.after = write.after;
    struct error error;
    error_init(&error, &arena);
    if (write.after.len > 0) {
        bool taken = run(&write, false, &error);
        if (taken)
            check_result(&write, &arena);
        if (write.is_put) {
            error_init(&error, &arena);
            ensure(run(&again, true, &error) == taken);
            ensure(!taken || slice_equal(write.after, again.after));
        }
    }
    if (before.len > 0)
        fuzz_free(before);
    if (after.len > 0)
        fuzz_free(after);
    arena_release(&arena);
    return 0;
}
