// One report. Slices are in its arena, whose limit bounds them; when it is used up, findings and
// samples that are new are only counted.
#include "report/report.h"

#include "base/hash.h"
#include "value/value.h"

#include <stdlib.h>

enum { PATH_MAX_BYTES = 512, KEY_MAX = 2048, ALIKE_MAX = 6 };

struct report *report_new(const struct table *table, int64_t now_ms)
{
    struct report *report = memory_zeroed(sizeof(*report));
    arena_init(&report->arena, REPORT_BYTES);
    report->table_id = arena_copy(&report->arena, table->uuid);
    report->model = arena_copy(&report->arena, table->model);
    report->since_ms = now_ms;
    ensure_memory(report->table_id.ptr);
    ensure_memory(report->model.ptr);
    return report;
}

void report_free(struct report *report)
{
    if (report == NULL)
        return;
    arena_release(&report->arena);
    free(report);
}

// ---- Places -----------------------------------------------------------------------------------

const struct model_type *report_container(const struct model_type *type)
{
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        enum model_kind kind = type->options[i]->kind;
        if (kind == MODEL_OBJECT || kind == MODEL_LIST || kind == MODEL_RECORD)
            return type->options[i];
    }
    return type;
}

// A violation's pointer with * for members of lists and records, which would else be as many
// places as there are members.
static void put_path(const struct model_table *model, struct slice entity, struct slice pointer,
                     struct buf *out)
{
    const struct model_entity *of = model_table_entity(model, entity);
    const struct model_type *type = NULL;
    for (size_t depth = 0; pointer.len > 0; depth++) {
        struct slice rest = slice_of(pointer.ptr + 1, pointer.len - 1);
        struct slice step = slice_cut(&rest, '/');
        pointer = step.ptr + step.len == pointer.ptr + pointer.len
                      ? slice_of(NULL, 0)
                      : slice_of(step.ptr + step.len, rest.len + 1);
        const struct model_type *up = type == NULL ? NULL : report_container(type);
        bool member = up != NULL && (up->kind == MODEL_LIST || up->kind == MODEL_RECORD);
        const struct model_attribute *attribute = NULL;
        if (depth == 0 && of != NULL)
            attribute = model_entity_attribute(of, step);
        else if (up != NULL && up->kind == MODEL_OBJECT)
            attribute = model_type_field(up, step);
        type = member ? up->item : attribute == NULL ? NULL : attribute->type;
        buf_byte(out, '/');
        buf_slice(out, member ? SLICE_LIT("*") : step);
    }
}

// ---- Adding -----------------------------------------------------------------------------------

// The finding of that place and reason, or a new one; NULL if there are too many.
static struct report_finding *finding_of(struct report *report, struct slice entity,
                                         struct slice path, struct slice expected, bool passes)
{
    uint64_t hash = hash_of(hash_of(hash_of(0, entity), path), expected);
    for (size_t i = 0; i < report->count; i++) {
        struct report_finding *one = &report->list[i];
        if (one->hash == hash && slice_equal(one->entity, entity) && slice_equal(one->path, path) &&
            slice_equal(one->expected, expected))
            return one;
    }
    struct report_finding made = {.entity = arena_copy(&report->arena, entity),
                                  .path = arena_copy(&report->arena, path),
                                  .expected = arena_copy(&report->arena, expected),
                                  .passes = passes,
                                  .hash = hash};
    if (report->count == REPORT_FINDINGS || made.entity.ptr == NULL || made.path.ptr == NULL ||
        made.expected.ptr == NULL)
        return NULL;
    report->list[report->count] = made;
    return &report->list[report->count++];
}

static bool has_sample(const struct report_finding *finding, const struct report_sample *sample)
{
    for (size_t i = 0; i < finding->sample_count; i++) {
        const struct report_sample *one = &finding->samples[i];
        if (slice_equal(one->text, sample->text) && slice_equal(one->value, sample->value))
            return true;
    }
    return false;
}

static bool wants_sample(const struct report_finding *finding, const struct report_sample *sample)
{
    return finding->sample_count < REPORT_SAMPLES && !has_sample(finding, sample);
}

static void keep_sample(struct report *report, struct report_finding *finding,
                        const struct report_sample *sample)
{
    struct report_sample kept = {arena_copy(&report->arena, sample->text),
                                 arena_copy(&report->arena, sample->value),
                                 arena_copy(&report->arena, sample->key)};
    if (kept.text.ptr != NULL && kept.value.ptr != NULL && kept.key.ptr != NULL)
        finding->samples[finding->sample_count++] = kept;
}

// Counts one that was found elsewhere, or is found now; the finding, without its samples.
static struct report_finding *count_finding(struct report *report,
                                            const struct report_finding *found)
{
    struct report_finding *to =
        finding_of(report, found->entity, found->path, found->expected, found->passes);
    if (to == NULL) {
        report->others += found->count;
        return NULL;
    }
    if (to->count == 0 || found->first_ms < to->first_ms)
        to->first_ms = found->first_ms;
    if (found->last_ms > to->last_ms)
        to->last_ms = found->last_ms;
    to->count += found->count;
    return to;
}

static bool same_names(struct slice a, struct slice b)
{
    struct value_iter one;
    struct value_iter other;
    value_iter_init(&one, a);
    value_iter_init(&other, b);
    while (value_iter_next(&one)) {
        if (!value_iter_next(&other) || !slice_equal(one.name, other.name))
            return false;
    }
    return !value_iter_next(&other);
}

// Of items that have the same attributes a few are enough: the room is for different ones.
static void keep_item(struct report *report, struct slice item)
{
    size_t alike = 0;
    if (item.len == 0 || report->item_count == REPORT_ITEMS)
        return;
    for (size_t i = 0; i < report->item_count; i++) {
        if (slice_equal(report->items[i].item, item))
            return;
        alike += same_names(report->items[i].item, item);
    }
    if (alike >= ALIKE_MAX)
        return;
    struct slice kept = arena_copy(&report->arena, item);
    if (kept.ptr != NULL)
        report->items[report->item_count++].item = kept;
}

// The key of the item, which only samples need.
static void put_key(const struct table *table, struct slice item, struct buf *out)
{
    struct value_builder builder;
    value_builder_init(&builder, out);
    value_open_map(&builder);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        value_name(&builder, table->keys.parts[i].name);
        value_put(&builder, value_get(item, table->keys.parts[i].name));
    }
    (void)value_close(&builder);
    value_builder_release(&builder);
}

static void add_sample(struct report *report, struct report_finding *finding,
                       const struct model_violation *one, const struct table *table,
                       struct slice item)
{
    struct report_sample sample = {.text = one->actual, .value = one->value};
    struct buf key;
    if (!wants_sample(finding, &sample))
        return;
    buf_init(&key, KEY_MAX);
    put_key(table, item, &key);
    sample.key = key.failed ? VALUE_NONE : buf_view(&key);
    keep_sample(report, finding, &sample);
    buf_release(&key);
}

void report_add(struct report *report, const struct table *table, const struct model_table *model,
                struct slice item, const struct model_warned *warned, int64_t now_ms)
{
    bool refused = false;
    struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    report->writes++;
    for (; warned != NULL; warned = warned->next) {
        const struct model_violations *what = warned->what;
        refused = refused || !warned->passes;
        if (what->entity.len == 0) {
            report->unmatched++;
            keep_item(report, warned->item);
        }
        for (size_t i = 0; what->entity.len > 0 && i < what->count; i++) {
            buf_clear(&path);
            put_path(model, what->entity, what->list[i].pointer, &path);
            if (path.failed) { // names that long are nobody's
                path.failed = false;
                report->others++;
                continue;
            }
            struct report_finding *finding =
                count_finding(report, &(struct report_finding){.entity = what->entity,
                                                               .path = buf_view(&path),
                                                               .expected = what->list[i].expected,
                                                               .passes = warned->passes,
                                                               .count = 1,
                                                               .first_ms = now_ms,
                                                               .last_ms = now_ms});
            if (finding != NULL)
                add_sample(report, finding, &what->list[i], table, item);
        }
    }
    report->refused += refused;
    buf_release(&path);
}

void report_merge(struct report *report, const struct report *other)
{
    if (!slice_equal(report->table_id, other->table_id) ||
        !slice_equal(report->model, other->model))
        return;
    if (other->since_ms < report->since_ms)
        report->since_ms = other->since_ms;
    report->writes += other->writes;
    report->refused += other->refused;
    report->unmatched += other->unmatched;
    report->others += other->others;
    for (size_t i = 0; i < other->count; i++) {
        const struct report_finding *from = &other->list[i];
        struct report_finding *to = count_finding(report, from);
        for (size_t k = 0; to != NULL && k < from->sample_count; k++) {
            if (wants_sample(to, &from->samples[k]))
                keep_sample(report, to, &from->samples[k]);
        }
    }
    for (size_t i = 0; i < other->item_count; i++)
        keep_item(report, other->items[i].item);
}
