// What a guard says of a write: lines of warnings, what they are about, and items of no entity. See
// guard_internal.h.
#include "guard/guard_internal.h"

#include "guard/entity.h"

enum {
    MESSAGE_MAX = 256 << 10,
    UNMATCHED_KEPT = 4 << 10, // bytes of an item of no entity that a warning carries
};

// A line to the write's warnings.
bool guard_warn(struct guard_write *write, struct slice line, struct error *error)
{
    char *text =
        write->warnings.len == 0
            ? arena_printf(write->arena, "%.*s", SLICE_FMT(line))
            : arena_printf(write->arena, "%.*s\n%.*s", SLICE_FMT(write->warnings), SLICE_FMT(line));
    if (text == NULL)
        return error_budget(error);
    write->warnings = slice_str(text);
    return true;
}

// Says what a warning is about.
static bool warn_about(struct guard_write *write, const struct model_violations *what, bool passes,
                       struct slice item, struct error *error)
{
    struct model_warned *warned = arena_alloc(write->arena, sizeof(*warned));
    if (warned == NULL || what == NULL)
        return error_budget(error);
    *warned = (struct model_warned){write->details, what, passes, item};
    write->details = warned;
    return true;
}

bool guard_warn_report(struct guard_write *write, const struct model_entity *entity,
                       const struct model_report *report, bool passes, struct error *error)
{
    if (report->count == 0)
        return true;
    if (!warn_about(write, model_report_details(report, entity->name), passes, VALUE_NONE, error))
        return false;
    struct buf text;
    buf_init(&text, MESSAGE_MAX);
    buf_printf(&text, "Entity %.*s: ", SLICE_FMT(entity->name));
    model_report_text(report, &text);
    bool done = guard_warn(write, buf_view(&text), error);
    buf_release(&text);
    return done;
}

static void unmatched_text(const struct model_table *table,
                           const struct model_recognition *recognition, struct slice item,
                           struct buf *out)
{
    if (recognition->doubt == MODEL_AMBIGUOUS)
        buf_printf(out, "Several entities of table %.*s fit the item: ", SLICE_FMT(table->name));
    else
        buf_printf(out, "No entity of table %.*s fits the item: ", SLICE_FMT(table->name));
    model_recognition_text(recognition, table, item, out);
}

// One violation of the item as a whole.
struct model_violations *guard_whole_item(struct slice expected, struct slice actual,
                                          struct arena *arena)
{
    struct model_violations *details = arena_zalloc(arena, 1, sizeof(*details));
    struct model_violation *list = arena_zalloc(arena, 1, sizeof(*list));
    struct slice kept = arena_copy(arena, actual);
    if (details == NULL || list == NULL || kept.ptr == NULL)
        return NULL;
    *list = (struct model_violation){.expected = expected, .actual = kept};
    *details = (struct model_violations){.count = 1, .list = list};
    return details;
}

struct model_violations *guard_unmatched_details(const struct model_table *table,
                                                 const struct model_recognition *recognition,
                                                 struct slice item, struct arena *arena)
{
    struct buf why;
    buf_init(&why, MESSAGE_MAX);
    model_recognition_text(recognition, table, item, &why);
    struct model_violations *details =
        guard_whole_item(SLICE_LIT("an item of one entity"), buf_view(&why), arena);
    buf_release(&why);
    return details;
}

bool guard_refuse_unmatched(const struct model_table *table,
                            const struct model_recognition *recognition, struct slice item,
                            struct error *error)
{
    struct buf text;
    buf_init(&text, MESSAGE_MAX);
    unmatched_text(table, recognition, item, &text);
    struct model_violations *details =
        text.failed ? NULL : guard_unmatched_details(table, recognition, item, error->arena);
    (void)model_refuse(error, buf_view(&text), details);
    buf_release(&text);
    return false;
}

// Whether an item of no entity is refused where the model is enforced.
static bool could_refuse(const struct model_table *table,
                         const struct model_recognition *recognition)
{
    return recognition->doubt == MODEL_AMBIGUOUS || table->unmatched == MODEL_REJECT;
}

bool guard_is_refused(const struct model_table *table, const struct model_recognition *recognition)
{
    return table->guard == MODEL_ENFORCE && could_refuse(table, recognition);
}

bool guard_write_unmatched(const struct model_guard *guard, struct guard_write *write,
                           const struct model_recognition *recognition, struct error *error)
{
    const struct model_table *table = guard->table;
    if (table->guard == MODEL_OFF ||
        (recognition->doubt != MODEL_AMBIGUOUS && table->unmatched == MODEL_ALLOW))
        return true;
    if (guard_is_refused(table, recognition) && !write->touch)
        return guard_refuse_unmatched(table, recognition, write->after, error);
    struct buf text;
    buf_init(&text, MESSAGE_MAX);
    unmatched_text(table, recognition, write->after, &text);
    struct slice item =
        write->after.len <= UNMATCHED_KEPT ? arena_copy(write->arena, write->after) : VALUE_NONE;
    bool done =
        guard_warn(write, buf_view(&text), error) &&
        warn_about(write, guard_unmatched_details(table, recognition, write->after, write->arena),
                   !could_refuse(table, recognition), item, error);
    buf_release(&text);
    return done;
}
