// Running an update: every new value is computed from the item as it was, then
// all changes are made at once through an edit, in path order, so that it walks each container
// once.
//
// New values (sums, unions, joined lists) are encoded into the scratch arena; the edit borrows
// them until it has written the new item.
#include "expr/expr_internal.h"

#include "base/encode.h"
#include "value/number.h"

enum { VALUE_COUNTED = 64 }; // a shorter new value is not worth counting

struct run {
    const struct expr_update *update;
    struct slice item;
    struct arena *arena;
    struct steps *steps;
    struct error *error;
    struct edit *edit;
    size_t made; // bytes of the new values by AWS's formula, small ones left out
};

static bool operand_error(struct run *run)
{
    return error_validation(run->error,
                            run->update->legacy
                                ? "Type mismatch for attribute to update"
                                : "An operand in the update expression has an incorrect data type");
}

static bool path_error(struct run *run)
{
    return error_validation(
        run->error, "The document path provided in the update expression is invalid for update");
}

// A sum of more than 38 digits is told as an overflow, too.
static bool number_error(struct run *run, enum number_status status)
{
    bool under = status == NUMBER_UNDERFLOW;
    return error_validation(run->error,
                            "Number %sflow. Attempting to store a number with magnitude %s than "
                            "supported range",
                            under ? "under" : "over", under ? "smaller" : "larger");
}

// ---- New values ------------------------------------------------------------------------

static bool combine_numbers(struct run *run, bool plus, struct slice a, struct slice b,
                            struct slice *out)
{
    uint8_t *bytes = arena_alloc(run->arena, 2 + NUMBER_BYTES_MAX);
    if (bytes == NULL)
        return error_budget(run->error);
    size_t len = 0;
    enum number_status status =
        plus ? number_add(value_bytes(a), value_bytes(b), bytes + 2, &len)
             : number_subtract(value_bytes(a), value_bytes(b), bytes + 2, &len);
    if (status != NUMBER_OK)
        return number_error(run, status);
    bytes[0] = VALUE_TAG_N;
    bytes[1] = (uint8_t)len;
    *out = slice_of(bytes, len + 2);
    return true;
}

// A container is its tag, the length of what follows, the count, and the members.
enum { CONTAINER_HEAD = 1 + 4, CONTAINER_COUNT_MAX = 10 };

static struct slice container_members(struct slice container)
{
    const uint8_t *at = container.ptr + CONTAINER_HEAD;
    (void)varint_get(&at);
    return slice_of(at, (size_t)(container.ptr + container.len - at));
}

// Writes the head in front of members that stand at `members`, with room before them.
static struct slice container_finish(uint8_t tag, uint8_t *members, size_t len, size_t count)
{
    uint8_t *start = members - varint_len(count) - CONTAINER_HEAD;
    varint_put(start + CONTAINER_HEAD, count);
    start[0] = tag;
    uint32_t body = (uint32_t)(varint_len(count) + len);
    for (int i = 0; i < 4; i++)
        start[1 + i] = (uint8_t)(body >> (8 * i));
    return slice_of(start, CONTAINER_HEAD + body);
}

static uint8_t *container_room(struct run *run, size_t len)
{
    uint8_t *room = arena_alloc(run->arena, CONTAINER_HEAD + CONTAINER_COUNT_MAX + len);
    if (room == NULL)
        return error_no_memory(run->error);
    return room + CONTAINER_HEAD + CONTAINER_COUNT_MAX;
}

static bool join_lists(struct run *run, struct slice a, struct slice b, struct slice *out)
{
    struct slice first = container_members(a);
    struct slice second = container_members(b);
    uint8_t *members = container_room(run, first.len + second.len);
    if (members == NULL)
        return false;
    if (first.len > 0)
        memcpy(members, first.ptr, first.len);
    if (second.len > 0)
        memcpy(members + first.len, second.ptr, second.len);
    *out = container_finish(VALUE_TAG_L, members, first.len + second.len,
                            value_count(a) + value_count(b));
    return true;
}

static uint8_t *member_put(uint8_t *to, struct slice member, size_t *count)
{
    to += varint_put(to, member.len);
    memcpy(to, member.ptr, member.len);
    (*count)++;
    return to + member.len;
}

// The members of `a` and, for a union, of `b`; without those of `b` otherwise. Both are sorted, so
// one merge does it. An empty result is VALUE_NONE.
static bool merge_sets(struct run *run, bool unite, struct slice a, struct slice b,
                       struct slice *out)
{
    uint8_t *members = container_room(run, a.len + b.len);
    if (members == NULL)
        return false;
    uint8_t *to = members;
    size_t count = 0;
    steps_add(run->steps, value_count(a) + value_count(b));
    struct value_iter left;
    struct value_iter right;
    value_iter_init(&left, a);
    value_iter_init(&right, b);
    bool has_left = value_iter_next(&left);
    bool has_right = value_iter_next(&right);
    while (has_left || has_right) {
        int order = !has_left ? 1 : !has_right ? -1 : slice_compare(left.value, right.value);
        if (order < 0 || (order == 0 && unite))
            to = member_put(to, left.value, &count);
        else if (order > 0 && unite)
            to = member_put(to, right.value, &count);
        if (order <= 0)
            has_left = value_iter_next(&left);
        if (order >= 0)
            has_right = value_iter_next(&right);
    }
    *out = count == 0 ? VALUE_NONE
                      : container_finish(a.ptr[0], members, (size_t)(to - members), count);
    return true;
}

// ---- SET ---------------------------------------------------------------------------------

static bool term_combine(struct run *run, const struct term *term, struct slice a, struct slice b,
                         struct slice *out)
{
    if (term->kind == TERM_APPEND)
        return join_lists(run, a, b, out);
    return combine_numbers(run, term->kind == TERM_PLUS, a, b, out);
}

static bool set_value(struct run *run, const struct action *action, struct slice *out)
{
    struct slice stack[2];
    size_t depth = 0;
    for (size_t i = 0; i < action->term_count; i++) {
        const struct term *term = &action->terms[i];
        struct slice found = VALUE_NONE;
        switch (term->kind) {
        case TERM_PATH:
            found = term->place->found;
            if (found.len == 0)
                return error_validation(run->error,
                                        "The provided expression refers to an attribute that does "
                                        "not exist in the item");
            stack[depth++] = found;
            break;
        case TERM_VALUE:
            stack[depth++] = term->value;
            break;
        case TERM_DEFAULT:
            found = term->place->found;
            if (found.len != 0)
                stack[depth - 1] = found;
            break;
        default:
            depth--;
            if (!term_combine(run, term, stack[0], stack[1], &stack[0]))
                return false;
        }
        // A left operand is judged before the right one is looked for.
        if (term->wanted != VALUE_TYPES && value_type(stack[depth - 1]) != term->wanted)
            return operand_error(run);
    }
    ensure(depth == 1);
    *out = stack[0];
    return true;
}

// What ADD makes of the old value, if there is one.
static bool add_value(struct run *run, const struct action *action, struct slice *out)
{
    struct slice old = action->place->found;
    enum value_type type = value_type(action->value);
    *out = action->value;
    if (old.len == 0)
        return true;
    if (value_type(old) != type)
        return operand_error(run);
    if (type == VALUE_N)
        return combine_numbers(run, true, old, action->value, out);
    if (type == VALUE_L)
        return join_lists(run, old, action->value, out);
    return merge_sets(run, true, old, action->value, out);
}

// What DELETE leaves of the old set: VALUE_NONE if that is nothing.
static bool delete_value(struct run *run, const struct action *action, struct slice *out)
{
    struct slice old = action->place->found;
    *out = VALUE_NONE;
    if (old.len == 0)
        return true;
    if (value_type(old) != value_type(action->value))
        return operand_error(run);
    return merge_sets(run, false, old, action->value, out);
}

// Every new value will be in the item, each at a place of its own. So when they are together larger
// than an item may be, the others need not be made.
static bool count_value(struct run *run, struct slice value)
{
    steps_add(run->steps, 1);
    if (value.len >= VALUE_COUNTED) {
        steps_bytes(run->steps, value.len);
        steps_add(run->steps, value_type(value) >= VALUE_SS ? value_count(value) : 0);
        run->made += value_size(value);
    }
    if (run->made > LIMIT_ITEM_SIZE)
        return error_validation(run->error,
                                "Item size to update has exceeded the maximum allowed size");
    return !steps_over(run->steps);
}

static bool new_value(struct run *run, const struct action *action, struct slice *value)
{
    switch (action->kind) {
    case ACTION_SET:
        return set_value(run, action, value) && count_value(run, *value);
    case ACTION_ADD:
        return add_value(run, action, value) && count_value(run, *value);
    case ACTION_DELETE:
        return delete_value(run, action, value) && count_value(run, *value);
    case ACTION_REMOVE:
        break;
    }
    return true;
}

// Operands of ADD and DELETE are judged before the right sides of SET, and all of
// them before any path to be written.
static bool compute_values(struct run *run, struct slice *values)
{
    const struct expr_update *update = run->update;
    for (int sets = 0; sets < 2; sets++) {
        for (size_t i = 0; i < update->action_count; i++) {
            const struct action *action = &update->actions[i];
            if ((action->kind == ACTION_SET) == sets && !new_value(run, action, &values[i]))
                return false;
        }
    }
    return true;
}

// ---- Changes ------------------------------------------------------------------------------

static bool edit_result(struct run *run, enum edit_status status)
{
    if (status == EDIT_BUDGET)
        return error_budget(run->error);
    return status == EDIT_OK || path_error(run);
}

// Whether the last step of the path could be there.
static bool parent_fits(const struct action *action)
{
    if (action->path.count == 1)
        return true;
    struct slice parent = action->place->parent->found;
    enum value_type wanted = action->place->step.name.ptr == NULL ? VALUE_L : VALUE_M;
    return parent.len != 0 && value_type(parent) == wanted;
}

static bool apply_action(struct run *run, const struct action *action, struct slice value)
{
    if (action->kind == ACTION_SET || action->kind == ACTION_ADD || value.len != 0)
        return edit_result(run, edit_set(run->edit, action->path, value));
    // A DELETE that found nothing changes nothing.
    if (action->kind == ACTION_DELETE && action->place->found.len == 0)
        return parent_fits(action) || path_error(run);
    return edit_result(run, edit_remove(run->edit, action->path));
}

static bool run_update(struct run *run, struct value_builder *builder)
{
    const struct expr_update *update = run->update;
    run->edit = edit_new(run->arena, run->item);
    struct slice *values = arena_zalloc(run->arena, update->action_count + 1, sizeof *values);
    if (run->edit == NULL || values == NULL)
        return error_budget(run->error);
    places_find(update->places, run->item, run->steps);
    if (!compute_values(run, values))
        return false;
    for (size_t i = 0; i < update->action_count; i++) {
        const struct action *action = update->order[i];
        if (!apply_action(run, action, values[action - update->actions]))
            return false;
    }
    steps_bytes(run->steps, run->item.len);
    edit_finish(run->edit, builder);
    return true;
}

bool expr_update_apply(const struct expr_update *update, struct slice item,
                       struct value_builder *builder, struct arena *arena, struct steps *steps,
                       struct error *error)
{
    struct run run = {
        .update = update, .item = item, .arena = arena, .steps = steps, .error = error};
    return run_update(&run, builder);
}
