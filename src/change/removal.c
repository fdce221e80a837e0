// What rules that are new, or other than before, would remove at once (retain/retain.h): nobody is
// to lose items because of a line in a file without having been told how many.
#include "change/model.h"

enum { TEXT_MAX = 16 << 10 };

// Whether the model that the table has keeps the very same rule.
static bool is_kept(const struct retain_rule *rule, const struct retain_rule *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!list[i].idle && slice_equal(list[i].text, rule->text))
            return true;
    }
    return false;
}

static bool look_at(struct workshop *shop, struct model_plan *plan, struct model_target *target,
                    uint64_t most, struct error *error)
{
    struct retain_rule *wanted;
    struct retain_rule *now = NULL;
    size_t wanted_count;
    size_t now_count = 0;
    if (!retain_rules(target->wanted, &plan->arena, &wanted, &wanted_count) ||
        (target->now != NULL && !retain_rules(target->now, &plan->arena, &now, &now_count)))
        return error_budget(error);
    target->removals = arena_zalloc(&plan->arena, wanted_count + 1, sizeof(*target->removals));
    if (target->removals == NULL)
        return error_budget(error);
    for (size_t i = 0; i < wanted_count; i++) {
        struct model_removal *removal = &target->removals[target->removal_count];
        if (wanted[i].idle || is_kept(&wanted[i], now, now_count))
            continue;
        removal->rule = &wanted[i];
        if (!retain_count(shop, target->live, &wanted[i], most, &plan->arena, &removal->count,
                          error))
            return false;
        target->removal_count++;
    }
    return true;
}

bool model_plan_removals(struct workshop *shop, struct model_plan *plan, uint64_t most,
                         struct error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct model_target *target = &plan->targets[i];
        if (target->live != NULL && target->impossible == NULL && !target->same &&
            !look_at(shop, plan, target, most, error))
            return false;
    }
    return true;
}

void model_removal_text(const struct model_removal *removal, struct buf *out)
{
    const struct retain_count *count = &removal->count;
    const struct retain_rule *rule = removal->rule;
    buf_printf(out, "%.*s: %llu of %llu item%s of %.*s %s", SLICE_FMT(rule->text),
               (unsigned long long)count->due, (unsigned long long)count->items,
               count->items == 1 ? "" : "s", SLICE_FMT(rule->entity->name),
               rule->keep != NULL ? (count->due == 1 ? "is surplus" : "are surplus")
                                  : (count->due == 1 ? "is due" : "are due"));
    if (count->due > 0)
        buf_printf(out, ": %s would be %sdeleted", count->due == 1 ? "it" : "they",
                   rule->fate == MODEL_ARCHIVE ? "archived, then " : "");
}

bool model_plan_consent(const struct model_plan *plan, bool given, struct error *error)
{
    struct buf text;
    uint64_t due = 0;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < plan->count; i++) {
        for (size_t j = 0; j < plan->targets[i].removal_count; j++) {
            const struct model_removal *removal = &plan->targets[i].removals[j];
            if (removal->count.due == 0)
                continue;
            due += removal->count.due;
            buf_text(&text, "\n  ");
            model_removal_text(removal, &text);
        }
    }
    bool refused = due > 0 && !given;
    if (refused)
        (void)error_set(error, ERR_REMOVAL_UNCONFIRMED,
                        "Applying the model would delete %llu item%s. Nothing was applied: confirm "
                        "it with RemoveItems (dolmen apply --yes, dolmen serve --yes).%.*s",
                        (unsigned long long)due, due == 1 ? "" : "s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return !refused;
}
