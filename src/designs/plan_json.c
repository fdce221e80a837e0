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
    json_close_object(w);
    buf_release(&text);
}

static void note_json(struct json_writer *w, const struct model *model)
{
    struct buf note;
    buf_init(&note, TEXT_MAX);
    model_note(model, &note);
    if (note.len > 0)
        json_put_string(w, "Note", buf_view(&note));
    buf_release(&note);
}

void model_plan_json(struct json_writer *w, const struct model_plan *plan)
{
    json_form(w, "{'Digest':%s,'Clean':%hhd,'Tables':[", plan->name + sizeof("model/text/") - 1,
              model_plan_clean(plan));
    for (size_t i = 0; i < plan->count; i++)
        target_json(w, &plan->targets[i]);
    json_close_array(w);
    note_json(w, plan->model);
    if (plan->unnamed_count == 0)
        return;
    json_put_array(w, "UnnamedTables");
    for (size_t i = 0; i < plan->unnamed_count; i++)
        json_string(w, plan->unnamed[i]);
    json_close_array(w);
}
