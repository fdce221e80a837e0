// Differential: the input's bytes decide on an update; its text is compiled and applied, and a
// naive copy of the item is changed by hand. Both must fail, or both give the same item.
//
// Targets are top-level attributes, entries of the map m and elements of the list l, each at most
// once in an update, so that no two paths overlap.
#include "expr_sample.h"

enum { TARGETS_MAX = 6, TEXT_MAX = 4096 };
enum kind { SET, REMOVE, ADD, DELETE, KINDS, UNTOUCHED };

static const char *const section_names[] = {"SET ", "REMOVE ", "ADD ", "DELETE "};
static const char *const target_paths[] = {"s",   "n",    "b",    "ss",   "ns",   "bs",
                                           "t",   "nul",  "zz",   "q",    "m.k",  "m.n",
                                           "m.z", "l[0]", "l[1]", "l[2]", "l[7]", "l[9]"};
enum { TARGET_PATHS = COUNT_OF(target_paths) };

struct change {
    enum kind kind;
    struct slice value; // SET: the new one; REMOVE and DELETE of the last member: VALUE_NONE
};

struct model {
    struct sample *sample;
    struct slice in;
    struct slice item;
    struct buf text;
    struct buf out;
    struct value_builder builder;
    bool fails;
    struct change changes[TARGET_PATHS];
};

static size_t draw(struct model *model, size_t bound)
{
    return fuzz_byte(&model->in) % bound;
}

// What was built last, kept in the arena.
static struct slice built(struct model *model)
{
    struct slice copy = arena_copy(&model->sample->fixture.arena, buf_view(&model->out));
    ensure(copy.ptr != NULL && !model->out.failed);
    buf_clear(&model->out);
    return copy;
}

static struct slice value_of(struct model *model, const char *placeholder)
{
    return value_get(model->sample->fixture.values, slice_str(placeholder));
}

static bool is(struct slice value, enum value_type type)
{
    return value.len > 0 && value_type(value) == type;
}

// ---- New values -----------------------------------------------------------------------------

static struct slice add_numbers(struct model *model, struct slice a, struct slice b, bool minus)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    enum number_status status = minus
                                    ? number_subtract(value_bytes(a), value_bytes(b), stored, &len)
                                    : number_add(value_bytes(a), value_bytes(b), stored, &len);
    if (status != NUMBER_OK) {
        model->fails = true;
        return VALUE_NONE;
    }
    value_put_number(&model->builder, slice_of(stored, len));
    return built(model);
}

static struct slice join_lists(struct model *model, struct slice a, struct slice b)
{
    value_open_list(&model->builder);
    for (size_t i = 0; i < value_count(a); i++)
        value_put(&model->builder, value_at(a, i));
    for (size_t i = 0; i < value_count(b); i++)
        value_put(&model->builder, value_at(b, i));
    (void)value_close(&model->builder);
    return built(model);
}

// The members of `a` that are not in `b`, and for a union those of `b`.
static struct slice merge_sets(struct model *model, struct slice a, struct slice b, bool unite)
{
    size_t count = 0;
    struct value_iter iter;
    value_open_set(&model->builder, value_type(a));
    value_iter_init(&iter, a);
    while (value_iter_next(&iter)) {
        if (!value_set_has(b, iter.value)) {
            value_member(&model->builder, iter.value);
            count++;
        }
    }
    value_iter_init(&iter, b);
    while (unite && value_iter_next(&iter)) {
        value_member(&model->builder, iter.value);
        count++;
    }
    ensure(value_close(&model->builder));
    struct slice set = built(model);
    return count == 0 ? VALUE_NONE : set;
}

// A path, a placeholder, or a path with a placeholder for its default.
static struct slice operand(struct model *model, const char *const *placeholders, size_t count)
{
    const char *path = naive_paths[draw(model, COUNT_OF(naive_paths))];
    const char *placeholder = placeholders[draw(model, count)];
    struct slice found = naive_path(model->item, path);
    switch (draw(model, 3)) {
    case 0:
        buf_text(&model->text, placeholder);
        return value_of(model, placeholder);
    case 1:
        buf_printf(&model->text, "if_not_exists(%s, %s)", path, placeholder);
        return found.len > 0 ? found : value_of(model, placeholder);
    default:
        buf_text(&model->text, path);
        model->fails = model->fails || found.len == 0;
        return found;
    }
}

// The right side of SET.
static struct slice set_value(struct model *model)
{
    static const char *const numbers[] = {":n", ":n2", ":neg"};
    static const char *const lists[] = {":l"};
    struct slice a;
    struct slice b;
    size_t form = draw(model, 4);
    switch (form) {
    case 0:
    case 1:
        a = operand(model, numbers, COUNT_OF(numbers));
        buf_text(&model->text, form == 0 ? " + " : " - ");
        b = operand(model, numbers, COUNT_OF(numbers));
        if (is(a, VALUE_N) && is(b, VALUE_N))
            return add_numbers(model, a, b, form == 1);
        model->fails = true;
        return VALUE_NONE;
    case 2:
        buf_text(&model->text, "list_append(");
        a = operand(model, lists, COUNT_OF(lists));
        buf_text(&model->text, ", ");
        b = operand(model, lists, COUNT_OF(lists));
        buf_text(&model->text, ")");
        if (is(a, VALUE_L) && is(b, VALUE_L))
            return join_lists(model, a, b);
        model->fails = true;
        return VALUE_NONE;
    default:
        return operand(model, naive_placeholders, COUNT_OF(naive_placeholders));
    }
}

// The operand of ADD and DELETE, and what comes of it.
static struct slice member_value(struct model *model, enum kind kind, struct slice old)
{
    static const char *const operands[] = {":ss", ":ns", ":bs", ":n", ":neg"};
    const char *placeholder = operands[draw(model, kind == ADD ? COUNT_OF(operands) : 3)];
    struct slice value = value_of(model, placeholder);
    buf_printf(&model->text, " %s", placeholder);
    if (old.len == 0)
        return kind == ADD ? value : VALUE_NONE;
    if (value_type(old) != value_type(value)) {
        model->fails = true;
        return VALUE_NONE;
    }
    if (value_type(value) == VALUE_N)
        return add_numbers(model, old, value, false);
    return merge_sets(model, old, value, kind == ADD);
}

// ---- The update ------------------------------------------------------------------------------

static void make_change(struct model *model, size_t target, bool first)
{
    struct change *change = &model->changes[target];
    const char *path = target_paths[target];
    buf_printf(&model->text, "%s%s", first ? section_names[change->kind] : ", ", path);
    // What is changed must have a place.
    if (strchr(path, '.') != NULL || strchr(path, '[') != NULL) {
        enum value_type wanted = path[1] == '.' ? VALUE_M : VALUE_L;
        struct slice parent = value_get(model->item, slice_of(path, 1));
        model->fails = model->fails || !is(parent, wanted);
    }
    struct slice old = naive_path(model->item, path);
    if (change->kind == SET) {
        buf_text(&model->text, " = ");
        change->value = set_value(model);
    } else if (change->kind != REMOVE) {
        change->value = member_value(model, change->kind, old);
    }
}

static void make_update(struct model *model)
{
    for (size_t i = 0; i < TARGET_PATHS; i++)
        model->changes[i] = (struct change){.kind = UNTOUCHED};
    size_t count = 1 + draw(model, TARGETS_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t target = draw(model, TARGET_PATHS);
        model->changes[target].kind = (enum kind)draw(model, KINDS);
    }
    for (enum kind kind = SET; kind < KINDS; kind++) {
        bool first = true;
        for (size_t i = 0; i < TARGET_PATHS; i++) {
            if (model->changes[i].kind != kind)
                continue;
            make_change(model, i, first);
            first = false;
        }
        if (!first)
            buf_text(&model->text, " ");
    }
}

// ---- The new item ------------------------------------------------------------------------------

// Puts what a map holds after the changes to the paths that begin with `prefix`.
static void put_map(struct model *model, struct slice map, const char *prefix);

// Changed elements in their places, without the removed ones; then what was set behind the end.
static void put_list(struct model *model, struct slice list)
{
    value_open_list(&model->builder);
    for (size_t i = 0; i < 10 || i < value_count(list); i++) {
        const struct change *change = NULL;
        for (size_t j = 0; j < TARGET_PATHS; j++) {
            const char *path = target_paths[j];
            if (path[0] == 'l' && path[1] == '[' && (size_t)(path[2] - '0') == i &&
                model->changes[j].kind != UNTOUCHED)
                change = &model->changes[j];
        }
        struct slice value = change == NULL ? value_at(list, i) : change->value;
        if (value.len > 0)
            value_put(&model->builder, value);
    }
    (void)value_close(&model->builder);
}

static void put_entry(struct model *model, struct slice name, struct slice value, bool top)
{
    value_name(&model->builder, name);
    if (top && slice_is(name, "m") && is(value, VALUE_M))
        put_map(model, value, "m.");
    else if (top && slice_is(name, "l") && is(value, VALUE_L))
        put_list(model, value);
    else
        value_put(&model->builder, value);
}

static void put_map(struct model *model, struct slice map, const char *prefix)
{
    size_t skip = strlen(prefix);
    bool changed[TARGET_PATHS] = {false};
    value_open_map(&model->builder);
    for (size_t i = 0; i < TARGET_PATHS; i++) {
        const char *path = target_paths[i];
        changed[i] = model->changes[i].kind != UNTOUCHED && strncmp(path, prefix, skip) == 0 &&
                     strpbrk(path + skip, ".[") == NULL;
        if (changed[i] && model->changes[i].value.len > 0)
            put_entry(model, slice_str(path + skip), model->changes[i].value, false);
    }
    struct value_iter iter;
    value_iter_init(&iter, map);
    while (value_iter_next(&iter)) {
        bool kept = true;
        for (size_t i = 0; i < TARGET_PATHS; i++)
            kept = kept && !(changed[i] && slice_is(iter.name, target_paths[i] + skip));
        if (kept)
            put_entry(model, iter.name, iter.value, skip == 0);
    }
    (void)value_close(&model->builder);
}

// ---- Both ---------------------------------------------------------------------------------------

static void compare(struct model *model)
{
    struct sample *sample = model->sample;
    struct expr_update *update =
        expr_compile_update(&sample->fixture.params, buf_view(&model->text));
    bool applied = update != NULL && expr_update_apply(update, model->item, sample_builder(sample),
                                                       &sample->fixture.arena, &(struct steps){0},
                                                       &sample->fixture.error);
    bool same = update != NULL && applied == !model->fails;
    if (same && applied) {
        put_map(model, model->item, "");
        same = slice_equal(buf_view(&sample->out), built(model));
    }
    if (!same)
        (void)fprintf(stderr, "expected %s: %.*s: %s\n", model->fails ? "an error" : "success",
                      SLICE_FMT(buf_view(&model->text)), fixture_message(&sample->fixture));
    ensure(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model model; // large: not for the stack
    model = (struct model){.sample = sample_begin(), .in = slice_of(data, size)};
    buf_init(&model.text, TEXT_MAX);
    buf_init(&model.out, 1 << 20);
    value_builder_init(&model.builder, &model.out);
    size_t item = draw(&model, COUNT_OF(model.sample->items) + 1);
    model.item =
        item < COUNT_OF(model.sample->items) ? model.sample->items[item] : value_empty_map();
    make_update(&model);
    if (!model.text.failed)
        compare(&model);
    value_builder_release(&model.builder);
    buf_release(&model.out);
    buf_release(&model.text);
    return 0;
}
