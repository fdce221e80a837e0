// A plan as JSON: the answers of DiffModel and ApplyModel.
#include "designs/designs.h"

enum { TEXT_MAX = 16384 };

static void change_json(struct json_writer *w, const struct model_change *change, struct buf *text)
{
    json_open_object(w);
    json_put_text(w, "Kind", model_change_name(change->kind));
    if (change->subject.len > 0)
        json_put_string(w, "Subject", change->subject);
    if (change->before.len > 0)
        json_put_string(w, "Before", change->before);
    if (change->after.len > 0)
        json_put_string(w, "After", change->after);
    buf_clear(text);
    model_change_text(change, text);
    json_put_string(w, "Text", buf_view(text));
    json_close_object(w);
}

void model_samples_json(struct json_writer *w, const char *name,
                        const struct model_samples *samples)
{
    json_put_array(w, name);
    for (size_t i = 0; i < samples->count; i++) {
        json_open_object(w);
        json_name(w, "Key");
        json_item(w, samples->list[i].key);
        if (samples->list[i].text.len > 0)
            json_put_string(w, "Text", samples->list[i].text);
        json_close_object(w);
    }
    json_close_array(w);
}

static void look_json(struct json_writer *w, const struct model_target *target)
{
    const struct model_look *look = &target->look;
    json_form(w,
              "'Items':{'Examined':%lld,'Sampled':%hhd,'Total':%lld,'Violations':%lld,"
              "'Unmatched':%lld,'Duplicates':%lld,'Backfill':%lld",
              (long long)look->examined, !look->whole, (long long)target->live->stats->items,
              (long long)look->violations, (long long)look->unmatched, (long long)look->duplicates,
              (long long)look->backfill);
    model_samples_json(w, "ViolationSamples", &look->violation_samples);
    model_samples_json(w, "UnmatchedSamples", &look->unmatched_samples);
    model_samples_json(w, "DuplicateSamples", &look->duplicate_samples);
    model_samples_json(w, "BackfillSamples", &look->backfill_samples);
    json_put_array(w, "Entities");
    for (size_t i = 0; i < target->wanted->entity_count; i++)
        json_form(w, "{'Entity':%.*s,'Items':%lld,'Backfill':%lld,'Violations':%lld}",
                  SLICE_FMT(target->wanted->entities[i].name), (long long)look->entities[i].items,
                  (long long)look->entities[i].backfill, (long long)look->entities[i].violations);
    json_close_array(w);
    json_close_object(w);
}

static void removals_json(struct json_writer *w, const struct model_target *target,
                          struct buf *text)
{
    if (target->removal_count == 0)
        return;
    json_put_array(w, "Removals");
    for (size_t i = 0; i < target->removal_count; i++) {
        const struct model_removal *removal = &target->removals[i];
        buf_clear(text);
        model_removal_text(removal, text);
        json_form(w, "{'RuleName':%s,'Rule':%.*s,'Entity':%.*s,'Items':%lld,'Due':%lld,'Text':%.*s",
                  removal->rule->id, SLICE_FMT(removal->rule->text),
                  SLICE_FMT(removal->rule->entity->name), (long long)removal->count.items,
                  (long long)removal->count.due, SLICE_FMT(buf_view(text)));
        json_put_array(w, "Samples");
        for (size_t j = 0; j < removal->count.sample_count; j++) {
            json_open_object(w);
            json_name(w, "Key");
            json_item(w, removal->count.samples[j].key);
            json_close_object(w);
        }
        json_close_array(w);
        json_close_object(w);
    }
    json_close_array(w);
}

static void target_json(struct json_writer *w, const struct model_target *target)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    json_form(w, "{'TableName':%.*s,'Exists':%hhd,'Unchanged':%hhd",
              SLICE_FMT(target->wanted->name), target->live != NULL, target->same);
    if (target->underway)
        json_put_flag(w, "Underway", true);
    if (target->impossible != NULL)
        json_put_text(w, "Impossible", target->impossible);
    json_put_integer(w, "Refused", (int64_t)target->look.refused);
    json_put_array(w, "Changes");
    for (size_t i = 0; i < target->changes->count; i++)
        change_json(w, &target->changes->list[i], &text);
    json_close_array(w);
    if (target->changes->lost > 0)
        json_put_integer(w, "MoreChanges", (int64_t)target->changes->lost);
    if (target->looked)
        look_json(w, target);
    removals_json(w, target, &text);
    if (target->seeds > 0)
        json_form(w, "'Seeds':{'Total':%lld,'Missing':%lld,'Made':%lld}", (long long)target->seeds,
                  (long long)target->seeds_missing, (long long)target->seeds_made);
    json_close_object(w);
    buf_release(&text);
}

void model_plan_json(struct json_writer *w, const struct model_plan *plan)
{
    json_form(w, "{'Digest':%s,'Clean':%hhd,'Tables':[", plan->name + sizeof("model/text/") - 1,
              model_plan_clean(plan));
    for (size_t i = 0; i < plan->count; i++)
        target_json(w, &plan->targets[i]);
    json_close_array(w);
    if (plan->unnamed_count == 0)
        return;
    json_put_array(w, "UnnamedTables");
    for (size_t i = 0; i < plan->unnamed_count; i++)
        json_string(w, plan->unnamed[i]);
    json_close_array(w);
}
