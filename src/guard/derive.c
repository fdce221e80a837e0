// Taking an item apart, completing it, and putting it together: see guard_internal.h. Values that
// are made here live in the write's arena; everything else is borrowed from the images and the
// model.
#include "guard/guard_internal.h"

#include "base/encode.h"
#include "eval/test.h"
#include "value/copy.h"

enum { KEY_TEXT_MAX = LIMIT_ITEM_SIZE * 2, ROUNDS = 8 };

bool work_init(struct guard_work *work, const struct guard_entity *plan, const struct env *env,
               struct arena *arena, struct model_check *check)
{
    // The lists of the reports are large and need no zeros.
    size_t count = plan->slot_count;
    struct slice *slots = arena_zalloc(arena, count * 4, sizeof(*slots));
    if (slots == NULL)
        return false;
    work->plan = plan;
    work->occasion = GUARD_WRITE;
    work->is_put = false;
    work->batch = false;
    work->restored = false;
    work->touch = false;
    work->derived = false;
    work->prepared = false;
    work->fresh = true;
    work->arena = arena;
    work->check = check;
    work->values = slots;
    work->sent = slots + count;
    work->old = slots + 2 * count;
    work->wanted = slots + 3 * count;
    work->unknown_count = 0;
    work->unknown = NULL;
    work->count = 0;
    work->scope = (struct model_scope){.entity = plan->entity,
                                       .values = work->values,
                                       .places = plan->places,
                                       .env = env,
                                       .arena = arena,
                                       .steps = &check->steps};
    buf_init(&work->scratch, KEY_TEXT_MAX);
    model_report_init(&work->violations, arena);
    model_report_init(&work->warnings, arena);
    work->stale = false;
    work->bound = false;
    work->failed = false;
    return true;
}

void work_release(struct guard_work *work)
{
    buf_release(&work->scratch);
}

// ---- Apart ----------------------------------------------------------------------------------

static void add_unknown(struct guard_work *work, struct guard_unknown unknown, size_t most)
{
    if (work->unknown == NULL)
        work->unknown = arena_zalloc(work->arena, most, sizeof(*work->unknown));
    if (work->unknown == NULL)
        work->failed = true;
    else
        work->unknown[work->unknown_count++] = unknown;
}

// slice_compare, but most names differ in the first byte, which saves a call.
static inline int compare_names(struct slice a, struct slice b)
{
    if (a.len > 0 && b.len > 0 && a.ptr[0] != b.ptr[0])
        return a.ptr[0] < b.ptr[0] ? -1 : 1;
    return slice_compare(a, b);
}

void work_load(struct guard_work *work, struct slice item, struct slice *values, bool unknown)
{
    const struct guard_slot *slots = work->plan->slots;
    size_t count = work->plan->slot_count;
    const uint8_t *at = item.ptr + VALUE_BODY;
    size_t entries = (size_t)varint_get(&at);
    size_t slot = 0;
    for (size_t left = entries; left > 0; left--) {
        const uint8_t *start = at;
        struct slice name = value_counted(&at);
        struct slice value = slice_of(at, value_length(at));
        at += value.len;
        int order = 1;
        while (slot < count && (order = compare_names(slots[slot].name, name)) < 0)
            slot++;
        if (slot < count && order == 0)
            values[slot++] = value;
        else if (unknown)
            add_unknown(
                work,
                (struct guard_unknown){slice_of(start, (size_t)(at - start)), name, value, slot},
                entries);
    }
    steps_add(&work->check->steps, entries + count);
    if (unknown)
        work->count = entries;
}

// ---- Completing -----------------------------------------------------------------------------

void work_set(struct guard_work *work, uint16_t slot, struct slice value)
{
    if (value.ptr == NULL)
        work->failed = true;
    else
        work->values[slot] = value;
}

struct slice work_normal_of(struct guard_work *work, const struct model_attribute *attribute,
                            struct slice value)
{
    if (attribute->normal == 0 || value.ptr[0] != VALUE_TAG_S)
        return value;
    check_text(work->check, value.len);
    if ((attribute->normal & MODEL_NFC) != 0)
        steps_add(&work->check->steps, 4 * value.len);
    return model_normalise(value, attribute->normal, work->arena);
}

struct slice work_normal(struct guard_work *work, size_t i)
{
    uint16_t slot = work->plan->normal.slots[i];
    struct slice value = work->values[slot];
    if (value.len == 0 || value.ptr[0] != VALUE_TAG_S)
        return VALUE_NONE;
    value = work_normal_of(work, work->plan->slots[slot].attribute, value);
    work->failed = work->failed || value.ptr == NULL;
    return value;
}

void work_normalise(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    for (size_t i = 0; i < plan->normal.count; i++) {
        struct slice normal = work_normal(work, i);
        if (normal.len > 0)
            work->values[plan->normal.slots[i]] = normal;
    }
}

// Null cannot be the key of an index: where an attribute is one, it is absent.
void work_nulls(struct guard_work *work)
{
    const struct guard_list *keys = &work->plan->native;
    for (size_t i = 0; i < keys->count; i++) {
        struct slice value = work->values[keys->slots[i]];
        if (value.len > 0 && model_is_absent(work->plan->slots[keys->slots[i]].attribute, value))
            work->values[keys->slots[i]] = VALUE_NONE;
    }
}

void work_objects(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    for (size_t i = 0; i < plan->nested.count; i++) {
        uint16_t slot = plan->nested.slots[i];
        const struct guard_slot *meta = &plan->slots[slot];
        if (work->values[slot].len > 0 && !(work->occasion == GUARD_PREPARE && meta->deferred))
            work_set(work, slot,
                     work_nested(work, meta->attribute->type, work->values[slot],
                                 work->fresh ? VALUE_NONE : work->old[slot]));
    }
}

static void read_key(struct guard_work *work, const struct guard_part *part)
{
    struct model_match match;
    struct slice key = work->values[part->slot];
    const struct model_entity *entity = work->plan->entity;
    if (!part->derived || key.len == 0 ||
        !model_template_match(part->template, key, work->arena, &match))
        return;
    for (size_t i = 0; i < match.count; i++) {
        const struct model_expr *path = match.fields[i].path;
        if (path->step_count != 1 || path->attribute == NULL)
            continue;
        uint16_t slot = work->plan->places[path->attribute - entity->attributes];
        if (work->values[slot].len == 0)
            work_set(work, slot, work_normal_of(work, path->attribute, match.fields[i].value));
    }
}

// Whether an attribute that the template shows is missing.
static bool lacks_field(const struct guard_work *work, const struct guard_part *part)
{
    const struct model_template *template = part->template;
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *path = model_segment_path(&template->segments[i]);
        if (path != NULL && path->step_count == 1 && path->attribute != NULL &&
            work->values[work->plan->places[path->attribute - work->plan->entity->attributes]]
                    .len == 0)
            return true;
    }
    return false;
}

void work_read_keys(struct guard_work *work)
{
    for (size_t i = 0; i < work->plan->key_count; i++)
        if (work->plan->keys[i].derived && lacks_field(work, &work->plan->keys[i]))
            read_key(work, &work->plan->keys[i]);
}

// Defaults are for new items: what an update or a put has taken away stays away, which is for the
// judge to allow. Only an item that is older than its attribute is completed, at the next write or
// by a backfill.
static bool default_due(const struct guard_work *work, uint16_t slot)
{
    const struct guard_slot *meta = &work->plan->slots[slot];
    if (work->values[slot].len > 0)
        return false;
    if (work->occasion == GUARD_PREPARE)
        return !meta->deferred;
    if (work->fresh)
        return true;
    if (work->old[slot].len > 0)
        return meta->attribute->on_update && !meta->attribute->immutable;
    return !meta->attribute->optional ||
           (meta->attribute->on_update && work->occasion != GUARD_TOUCH);
}

// False if it cannot be made of what there is.
static bool set_default(struct guard_work *work, uint16_t slot)
{
    const struct model_attribute *attribute = work->plan->slots[slot].attribute;
    struct slice value;
    enum eval_status status =
        model_eval(attribute->otherwise, &work->scope, model_kind_wanted(attribute->type), &value);
    if (status == EVAL_BUDGET)
        work->failed = true;
    if (status != EVAL_OK)
        return false;
    work_set(work, slot, work_normal_of(work, attribute, value));
    return true;
}

// What each write sets again: what the client left as it was.
static void renew(struct guard_work *work)
{
    const struct guard_list *updates = &work->plan->updates;
    if (work->occasion != GUARD_WRITE || work->fresh || work->restored)
        return;
    for (size_t i = 0; i < updates->count && !check_over(work->check); i++) {
        uint16_t slot = updates->slots[i];
        if (work->old[slot].len > 0 && slice_equal(work->old[slot], work->values[slot]))
            (void)set_default(work, slot);
    }
}

// A default may need another one that stands below it, so that it may take several rounds.
void work_defaults(struct guard_work *work)
{
    const struct guard_list *defaults = &work->plan->defaults;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;
        steps_add(&work->check->steps, defaults->count);
        for (size_t i = 0; i < defaults->count && !check_over(work->check); i++)
            if (default_due(work, defaults->slots[i]))
                changed = set_default(work, defaults->slots[i]) || changed;
        if (!changed)
            break;
    }
    renew(work);
}

void work_type(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    if (plan->type != GUARD_NO_SLOT && work->values[plan->type].len == 0)
        work->values[plan->type] = plan->type_value;
}

// ---- Keys -----------------------------------------------------------------------------------

// The value of a key part; the slot's own if that is what it has.
static enum eval_status part_value(struct guard_work *work, const struct guard_part *part,
                                   struct slice *value)
{
    struct slice own = work->values[part->slot];
    if (!part->derived) {
        *value = own;
        return own.len > 0 && value_type(own) == part->type && value_bytes(own).len > 0
                   ? EVAL_OK
                   : EVAL_MISSING;
    }
    if (part->template->bare || part->type != VALUE_S)
        return model_template_value(part->template, &work->scope, part->type, &work->scratch,
                                    value);
    buf_clear(&work->scratch);
    enum eval_status status = model_template_render(part->template, &work->scope, &work->scratch);
    struct slice text = buf_view(&work->scratch);
    if (status != EVAL_OK || text.len == 0)
        return status != EVAL_OK ? status : EVAL_MISSING;
    if (own.len > 0 && own.ptr[0] == VALUE_TAG_S && slice_equal(value_bytes(own), text)) {
        *value = own;
        return EVAL_OK;
    }
    *value = model_string(work->arena, text);
    return value->ptr != NULL ? EVAL_OK : EVAL_BUDGET;
}

// Whether a key can be made of the value: an empty one would make a key that tells nothing.
static bool is_blank(struct slice value)
{
    return value.len == 0 || value.ptr[0] == VALUE_TAG_NULL ||
           (value.ptr[0] == VALUE_TAG_S && value_bytes(value).len == 0);
}

// Says that a path of a key has nothing in it; true if it has nothing. A required attribute is
// missed anyway.
static bool report_blank(struct guard_work *work, const struct model_expr *path, struct slice key)
{
    enum { STEPS = 8 };
    struct model_pointer at[STEPS];
    struct slice value = VALUE_NONE;
    enum eval_status status = model_eval(path, &work->scope, MODEL_ANY, &value);
    if ((status == EVAL_OK && !is_blank(value)) || path->step_count > STEPS)
        return false;
    size_t last = path->step_count - 1;
    if (value.len == 0 && last == 0 && !path->attribute->optional)
        return true;
    for (size_t i = 0; i <= last; i++)
        at[i] = (struct model_pointer){.up = i > 0 ? &at[i - 1] : NULL, .name = path->steps[i]};
    model_report_addf(&work->violations, &at[last], value, "a value, as %.*s is made of it",
                      SLICE_FMT(key));
    return true;
}

const struct model_expr *work_first_path(const struct model_expr *expr)
{
    while (expr != NULL && expr->kind != MODEL_EXPR_PATH)
        expr = expr->arg_count > 0 ? expr->args[0] : NULL;
    return expr;
}

// Says which attributes of a key have a separator that is forbidden there; false if none has.
static bool report_separator(struct guard_work *work, const struct guard_part *part)
{
    bool found = false;
    for (size_t i = 0; i < part->template->segment_count; i++) {
        const struct model_expr *call = part->template->segments[i].expr;
        if (call == NULL || call->kind != MODEL_EXPR_CALL || call->function != MODEL_FN_FORBID)
            continue;
        buf_clear(&work->scratch);
        if (model_eval_text(call->args[0], &work->scope, &work->scratch) != EVAL_OK ||
            !model_has_separator(call, buf_view(&work->scratch)))
            continue;
        const struct model_expr *path = work_first_path(call);
        struct slice key = work->plan->slots[part->slot].name;
        struct model_pointer at = {.name = path != NULL ? path->steps[0] : key};
        struct slice text = model_string(work->arena, buf_view(&work->scratch));
        work->failed = work->failed || text.ptr == NULL;
        model_report_addf(&work->violations, &at, text,
                          "text without \"%.*s\", which separates the parts of %.*s",
                          SLICE_FMT(value_bytes(call->args[1]->value)), SLICE_FMT(key));
        found = true;
    }
    return found;
}

// The field of a template that is the longest now; NULL if there is none.
static const struct model_expr *longest_field(struct guard_work *work,
                                              const struct model_template *template)
{
    const struct model_expr *longest = NULL;
    size_t most = 0;
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *path = work_first_path(template->segments[i].expr);
        buf_clear(&work->scratch);
        if (path == NULL ||
            model_eval_text(template->segments[i].expr, &work->scope, &work->scratch) != EVAL_OK ||
            work->scratch.len <= most)
            continue;
        longest = path;
        most = work->scratch.len;
    }
    return longest;
}

// Whether a key has more bytes than keys may have, which is said.
static bool is_too_long(struct guard_work *work, const struct guard_part *part, struct slice value)
{
    if (value_bytes(value).len <= part->most)
        return false;
    const struct model_expr *path = longest_field(work, part->template);
    struct slice key = work->plan->slots[part->slot].name;
    struct model_pointer at = {.name = path != NULL ? path->steps[0] : key};
    model_report_addf(&work->violations, &at, value,
                      "a shorter value, as %.*s, which is made of it, has at most %u bytes",
                      SLICE_FMT(key), (unsigned)part->most);
    return true;
}

// Says which attributes a key lacks.
static void report_lack(struct guard_work *work, const struct guard_part *part)
{
    const struct model_template *template = part->template;
    struct slice key = work->plan->slots[part->slot].name;
    bool named = false;
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_expr *path = work_first_path(template->segments[i].expr);
        if (path != NULL && path->attribute != NULL)
            named = report_blank(work, path, key) || named;
    }
    struct model_pointer at = {.name = key};
    if (!named)
        model_report_addf(&work->violations, &at, work->values[part->slot], "\"%.*s\"",
                          SLICE_FMT(template->source));
}

// The index that the entity has no entry in and that has this key; or NULL.
static const struct model_index *foreign_index(const struct guard_work *work, struct slice key)
{
    const struct model_entity *entity = work->plan->entity;
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        const struct key_schema *keys = &entry->index->keys;
        for (size_t k = 0; !entry->stated && k < keys->hash_count + keys->range_count; k++)
            if (slice_equal(keys->parts[k].name, key))
                return entry->index;
    }
    return NULL;
}

static void report_key(struct guard_work *work, uint16_t slot, struct slice expected,
                       struct slice actual)
{
    struct slice name = work->plan->slots[slot].name;
    struct model_pointer at = {.name = name};
    const struct model_index *foreign = expected.len == 0 ? foreign_index(work, name) : NULL;
    if (foreign == NULL)
        model_report_value(&work->violations, &at, expected, "", actual);
    else
        model_report_addf(&work->violations, &at, actual, "nothing (%.*s has no entry in %.*s)",
                          SLICE_FMT(work->plan->entity->name), SLICE_FMT(foreign->name));
}

// Names the attributes of a key that the write changed. False if there is none.
static bool report_changed(struct guard_work *work, const struct guard_part *part)
{
    bool found = false;
    const struct model_template *template = part->template;
    for (size_t i = 0; !work->fresh && i < template->segment_count; i++) {
        const struct model_expr *path = model_segment_path(&template->segments[i]);
        if (path == NULL || path->attribute == NULL)
            continue;
        uint16_t slot = work->plan->places[path->attribute - work->plan->entity->attributes];
        struct slice old = work->old[slot];
        if (old.len == 0 || slice_equal(old, work->values[slot]))
            continue;
        struct slice key = work->plan->slots[part->slot].name;
        const char *reason =
            arena_printf(work->arena, ", as the primary key (%.*s) is made of it and cannot change",
                         SLICE_FMT(key));
        struct model_pointer at = {.name = path->steps[0]};
        model_report_value(&work->violations, &at, old, reason == NULL ? "" : reason,
                           work->values[slot]);
        found = true;
    }
    return found;
}

// A required attribute is missed anyway.
static void report_native(struct guard_work *work, const struct guard_part *part)
{
    const struct guard_slot *slot = &work->plan->slots[part->slot];
    struct model_pointer at = {.name = slot->name};
    if (work->values[part->slot].len == 0 && (slot->attribute == NULL || slot->attribute->optional))
        model_report_addf(&work->violations, &at, VALUE_NONE, "a value, as it is the table's key");
}

void work_primary_key(struct guard_work *work)
{
    for (size_t i = 0; i < work->plan->key_count; i++) {
        const struct guard_part *part = &work->plan->keys[i];
        struct slice own = work->values[part->slot];
        struct slice value = VALUE_NONE;
        if (!part->derived) {
            report_native(work, part);
            continue;
        }
        enum eval_status status = part_value(work, part, &value);
        if (status == EVAL_BUDGET)
            work->failed = true;
        else if (status == EVAL_UNFIT && report_separator(work, part))
            continue;
        else if (status != EVAL_OK || !model_template_fits(part->template, value))
            report_lack(work, part);
        else if (is_too_long(work, part, value))
            continue;
        else if (own.len == 0)
            work->values[part->slot] = value;
        else if (!slice_equal(own, value) && !report_changed(work, part))
            report_key(work, part->slot, value, own);
    }
}

// Whether the test of an entry holds.
static bool entry_due(struct guard_work *work, const struct guard_entry *entry)
{
    enum test_answer answer = model_test_when(entry->when, &work->scope);
    work->failed = work->failed || answer == TEST_BUDGET;
    return answer == TEST_YES;
}

// All parts of an entry, or none.
static void want_entry(struct guard_work *work, const struct guard_entry *entry)
{
    struct slice made[2 * LIMIT_KEY_PARTS];
    if (entry->when != NULL && !entry_due(work, entry))
        return;
    for (size_t i = 0; i < entry->part_count; i++) {
        enum eval_status status = part_value(work, &entry->parts[i], &made[i]);
        if (status == EVAL_BUDGET)
            work->failed = true;
        if (status == EVAL_UNFIT && entry->parts[i].derived)
            (void)report_separator(work, &entry->parts[i]);
        if (status != EVAL_OK ||
            (entry->parts[i].derived && is_too_long(work, &entry->parts[i], made[i])))
            return;
    }
    for (size_t i = 0; i < entry->part_count; i++)
        if (entry->parts[i].derived)
            work->wanted[entry->parts[i].slot] = made[i];
}

static void want_entries(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    for (size_t i = 0; i < plan->entry_count && !check_over(work->check); i++)
        want_entry(work, &plan->entries[i]);
}

// Puts a wanted key in its place, if that is not what is there: one that the client left as it was
// follows its attributes; one that it sent must be right. False if it is not.
static bool follow_key(struct guard_work *work, uint16_t slot, bool *changed)
{
    struct slice own = work->values[slot];
    struct slice wanted = work->wanted[slot];
    if (own.ptr == wanted.ptr || slice_equal(own, wanted))
        return true;
    bool untouched = own.len == 0 ? work->occasion != GUARD_JUDGE
                                  : work->old[slot].len > 0 && slice_equal(own, work->old[slot]);
    if (!untouched)
        return false;
    work->values[slot] = wanted;
    *changed = true;
    return true;
}

// Whether the item would be in an index that its entity is not in; a part that it should not have
// goes to *slot.
static bool has_key(struct guard_work *work, const struct guard_entry *entry, uint16_t *slot)
{
    for (size_t i = 0; i < entry->part_count; i++) {
        struct slice value;
        if (part_value(work, &entry->parts[i], &value) != EVAL_OK)
            return false;
        if (!is_primary(work->plan, entry->parts[i].slot))
            *slot = entry->parts[i].slot;
    }
    return true;
}

static void judge_barred(struct guard_work *work)
{
    for (size_t i = 0; i < work->plan->barred_count; i++) {
        const struct guard_entry *entry = &work->plan->barred[i];
        uint16_t slot = 0;
        if (!has_key(work, entry, &slot))
            continue;
        struct model_pointer at = {.name = work->plan->slots[slot].name};
        model_report_addf(&work->violations, &at, work->values[slot],
                          "nothing (with it, the item would be in %.*s, and %.*s has no entry "
                          "there)",
                          SLICE_FMT(entry->index->name), SLICE_FMT(work->plan->entity->name));
    }
}

void work_index_keys(struct guard_work *work)
{
    const struct guard_list *derived = &work->plan->derived;
    bool changed;
    want_entries(work);
    for (size_t i = 0; i < derived->count; i++) {
        uint16_t slot = derived->slots[i];
        if (!follow_key(work, slot, &changed))
            report_key(work, slot, work->wanted[slot], work->values[slot]);
    }
    judge_barred(work);
}

bool work_settle_keys(struct guard_work *work, bool *changed)
{
    const struct guard_list *derived = &work->plan->derived;
    bool settled = true;
    *changed = false;
    want_entries(work);
    // One that is not right may be that of the old image, which then follows its attributes.
    for (size_t i = 0; settled && i < derived->count; i++)
        settled = follow_key(work, derived->slots[i], changed);
    judge_barred(work);
    return settled && !work->failed && !check_over(work->check);
}

// ---- Together -------------------------------------------------------------------------------

static bool has_changed(const struct guard_work *work)
{
    for (size_t i = 0; i < work->plan->slot_count; i++)
        if (work->values[i].ptr != work->sent[i].ptr &&
            !slice_equal(work->values[i], work->sent[i]))
            return true;
    return false;
}

static uint8_t *put_bytes(uint8_t *to, struct slice bytes)
{
    copy_bytes(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

struct slice work_store(struct guard_work *work, struct slice item)
{
    const struct guard_entity *plan = work->plan;
    steps_bytes(&work->check->steps, 2 * item.len);
    if (!has_changed(work))
        return item;
    size_t count = work->unknown_count;
    size_t body = 0;
    for (size_t i = 0; i < plan->slot_count; i++)
        if (work->values[i].len > 0) {
            count++;
            body += plan->slots[i].head.len + work->values[i].len;
        }
    for (size_t i = 0; i < work->unknown_count; i++)
        body += work->unknown[i].entry.len;
    body += varint_len(count);
    uint8_t *made = arena_alloc(work->arena, VALUE_BODY + body);
    if (made == NULL)
        return VALUE_NONE;
    made[0] = VALUE_TAG_M;
    for (unsigned i = 0; i < 4; i++)
        made[1 + i] = (uint8_t)(body >> (8 * i));
    uint8_t *at = made + VALUE_BODY;
    at += varint_put(at, count);
    size_t unknown = 0;
    for (size_t i = 0; i <= plan->slot_count; i++) {
        while (unknown < work->unknown_count && work->unknown[unknown].before == i)
            at = put_bytes(at, work->unknown[unknown++].entry);
        if (i == plan->slot_count || work->values[i].len == 0)
            continue;
        at = put_bytes(at, plan->slots[i].head);
        at = put_bytes(at, work->values[i]);
    }
    return slice_of(made, VALUE_BODY + body);
}
