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
    json_put_object(w, "Items");
    json_put_integer(w, "Examined", (int64_t)look->examined);
    json_put_flag(w, "Sampled", !look->whole);
    json_put_integer(w, "Total", target->live->stats->items);
    json_put_integer(w, "Violations", (int64_t)look->violations);
    json_put_integer(w, "Unmatched", (int64_t)look->unmatched);
    json_put_integer(w, "Duplicates", (int64_t)look->duplicates);
    json_put_integer(w, "Backfill", (int64_t)look->backfill);
    model_samples_json(w, "ViolationSamples", &look->violation_samples);
    model_samples_json(w, "UnmatchedSamples", &look->unmatched_samples);
    model_samples_json(w, "DuplicateSamples", &look->duplicate_samples);
    model_samples_json(w, "BackfillSamples", &look->backfill_samples);
    json_put_array(w, "Entities");
    for (size_t i = 0; i < target->wanted->entity_count; i++) {
        json_open_object(w);
        json_put_string(w, "Entity", target->wanted->entities[i].name);
        json_put_integer(w, "Items", (int64_t)look->entities[i].items);
        json_put_integer(w, "Backfill", (int64_t)look->entities[i].backfill);
        json_put_integer(w, "Violations", (int64_t)look->entities[i].violations);
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

static void target_json(struct json_writer *w, const struct model_target *target)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    json_open_object(w);
    json_put_string(w, "TableName", target->wanted->name);
    json_put_flag(w, "Exists", target->live != NULL);
    json_put_flag(w, "Unchanged", target->same);
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
    json_open_object(w);
    json_put_text(w, "Digest", plan->name + sizeof("model/text/") - 1);
    json_put_flag(w, "Clean", model_plan_clean(plan));
    json_put_array(w, "Tables");
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
