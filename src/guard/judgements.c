// The rules of an entity that are a function of an item's old and new image: attributes that are
// computed, checks, patterns of text, moves between values, `append only`, quotas. Soft delete is
// in guard.c, what follows for other items elsewhere (docs/adr/019-rules.md).
//
// Entities without such rules have plan->rules == NULL, and nothing here is called for them.
#include "guard/guard_internal.h"

#include "eval/test.h"
#include "model/time.h"
#include "value/number.h"

enum { ROUNDS = 8, WORDS_MAX = 4 << 10, EXPR_DEPTH = 4, DAY = 86400 };

// ---- Compiling ------------------------------------------------------------------------------

// Calls that give something else at each moment, or for each client.
enum { GIVES_MOMENT = 1, GIVES_ORIGIN = 2 };

static void visit_call(void *context, const struct model_expr *part)
{
    unsigned *gives = context;
    if (part->kind != MODEL_EXPR_CALL)
        return;
    switch (part->function) {
    case MODEL_FN_NOW:
    case MODEL_FN_UUID:
    case MODEL_FN_ULID:
    case MODEL_FN_OLD:
        *gives |= GIVES_MOMENT;
        break;
    case MODEL_FN_ACTOR:
    case MODEL_FN_OPERATION:
        *gives |= GIVES_ORIGIN;
        break;
    default:
        break;
    }
}

static unsigned expr_gives(const struct model_expr *expr)
{
    unsigned gives = 0;
    if (expr != NULL)
        model_expr_visit(expr, visit_call, &gives);
    return gives;
}

static bool fields_ask(const struct model_type *type, unsigned depth)
{
    if (type == NULL || depth == EXPR_DEPTH)
        return false;
    for (size_t i = 0; i < type->field_count; i++)
        if ((expr_gives(type->fields[i].otherwise) & GIVES_ORIGIN) != 0 ||
            fields_ask(type->fields[i].type, depth + 1))
            return true;
    return fields_ask(type->item, depth + 1);
}

bool guard_asks(const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->attribute_count; i++)
        if ((expr_gives(entity->attributes[i].otherwise) & GIVES_ORIGIN) != 0 ||
            fields_ask(entity->attributes[i].type, 0))
            return true;
    return false;
}

static bool fill_rules(struct arena *arena, const struct guard_entity *plan,
                       struct guard_rules *rules)
{
    const struct model_entity *entity = plan->entity;
    const struct model_rules *all = entity->table->model->rules_of;
    size_t count = entity->attribute_count + 1;
    struct guard_computed *computed = arena_zalloc(arena, count, sizeof(*computed));
    uint16_t *matched = arena_zalloc(arena, count, sizeof(*matched));
    rules->quotas = arena_zalloc(arena, all->quota_count + 1, sizeof(const struct model_quota *));
    if (computed == NULL || matched == NULL || rules->quotas == NULL)
        return false;
    rules->computed = computed;
    rules->matched.slots = matched;
    rules->softdelete = GUARD_NO_SLOT;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->always)
            computed[rules->computed_count++] =
                (struct guard_computed){plan->places[i], expr_gives(attribute->otherwise) != 0};
        if (attribute->matches != NULL)
            matched[rules->matched.count++] = plan->places[i];
        if (entity->softdelete == attribute)
            rules->softdelete = plan->places[i];
    }
    for (size_t i = 0; i < all->quota_count; i++)
        if (all->quotas[i].entity == entity)
            rules->quotas[rules->quota_count++] = &all->quotas[i];
    return true;
}

bool guard_compile_rules(struct arena *arena, struct guard_entity *plan)
{
    struct guard_rules rules = {.softdelete = GUARD_NO_SLOT};
    const struct model_entity *entity = plan->entity;
    if (!fill_rules(arena, plan, &rules))
        return false;
    if (rules.computed_count == 0 && rules.matched.count == 0 && rules.quota_count == 0 &&
        rules.softdelete == GUARD_NO_SLOT && entity->check_count == 0 && entity->moves_count == 0 &&
        !entity->append_only)
        return true;
    struct guard_rules *kept = arena_alloc(arena, sizeof(*kept));
    if (kept == NULL)
        return false;
    *kept = rules;
    plan->rules = kept;
    return true;
}

// ---- Computed attributes --------------------------------------------------------------------

// What the attribute is; VALUE_NONE if it cannot be made of what there is.
static struct slice computed_value(struct guard_work *work, const struct model_attribute *attribute)
{
    struct slice value = VALUE_NONE;
    enum eval_status status =
        model_eval(attribute->otherwise, &work->scope, model_kind_wanted(attribute->type), &value);
    if (status == EVAL_OK)
        value = work_normal_of(work, attribute, value);
    if (status == EVAL_BUDGET || (status == EVAL_OK && value.ptr == NULL))
        work->failed = true;
    return status == EVAL_OK ? value : VALUE_NONE;
}

static bool is_computed_now(const struct guard_work *work, const struct guard_computed *computed)
{
    if (work->occasion == GUARD_PREPARE)
        return !work->plan->slots[computed->slot].deferred;
    return !(computed->momentary && (work->occasion == GUARD_TOUCH || work->restored) &&
             work->values[computed->slot].len > 0);
}

static bool compute(struct guard_work *work, const struct guard_computed *computed)
{
    uint16_t slot = computed->slot;
    struct slice value = computed_value(work, work->plan->slots[slot].attribute);
    bool changed = !slice_equal(value, work->values[slot]);
    work->values[slot] = value;
    return changed;
}

// One may be made of another that stands below it, so that it may take several rounds.
void work_computed(struct guard_work *work)
{
    const struct guard_rules *rules = work->plan->rules;
    bool changed = rules->computed_count > 0;
    for (int round = 0; changed && round < ROUNDS && !check_over(work->check); round++) {
        changed = false;
        for (size_t i = 0; i < rules->computed_count; i++) {
            const struct guard_computed *computed = &rules->computed[i];
            bool again = round > 0 && computed->momentary;
            if (is_computed_now(work, computed) && !again)
                changed = compute(work, computed) || changed;
        }
    }
}

// A client may repeat what there was, or say what there will be.
static void judge_computed(struct guard_work *work, const struct guard_computed *computed)
{
    uint16_t slot = computed->slot;
    const struct guard_slot *meta = &work->plan->slots[slot];
    struct slice sent = work->sent[slot];
    struct model_pointer at = {.name = meta->name};
    if (sent.len == 0 || slice_equal(sent, work->values[slot]) ||
        slice_equal(sent, work->old[slot]) || model_is_absent(meta->attribute, sent))
        return;
    struct slice normal = work_normal_of(work, meta->attribute, sent);
    if (normal.ptr != NULL && slice_equal(normal, work->values[slot]))
        return;
    model_report_value(&work->violations, &at, work->values[slot], " (it is computed)", sent);
}

// An item that is not deleted any more has null where it has to have something.
void work_undeleted(struct guard_work *work)
{
    static const uint8_t null = VALUE_TAG_NULL;
    uint16_t slot = work->plan->rules->softdelete;
    if (slot == GUARD_NO_SLOT || work->values[slot].len > 0 || work->old[slot].len == 0 ||
        work->fresh)
        return;
    const struct model_attribute *attribute = work->plan->slots[slot].attribute;
    if (!attribute->optional && model_type_has(attribute->type, MODEL_NULL))
        work->values[slot] = slice_of(&null, 1);
}

// ---- Checks and patterns ----------------------------------------------------------------------

// The attribute that a test speaks of first.
static const struct model_expr *test_path(const struct model_test *test)
{
    for (size_t i = 0; i < test->clause_count; i++)
        for (size_t k = 0; k < test->clauses[i].count; k++) {
            const struct model_expr *path = work_first_path(test->clauses[i].list[k].left);
            if (path != NULL)
                return path;
        }
    return NULL;
}

static void report_check(struct guard_work *work, const struct model_check_rule *rule)
{
    enum { STEPS = 8 };
    struct model_pointer at[STEPS];
    const struct model_expr *path = test_path(rule->test);
    size_t count = path == NULL || path->step_count > STEPS ? 0 : path->step_count;
    struct slice value = VALUE_NONE;
    for (size_t i = 0; i < count; i++)
        at[i] = (struct model_pointer){.up = i > 0 ? &at[i - 1] : NULL, .name = path->steps[i]};
    if (count == 0 || model_eval(path, &work->scope, MODEL_ANY, &value) != EVAL_OK)
        value = VALUE_NONE;
    const struct model_pointer *place = count == 0 ? NULL : &at[count - 1];
    if (rule->message.len > 0)
        model_report_addf(&work->violations, place, value, "%.*s (%.*s)",
                          SLICE_FMT(rule->test->text), SLICE_FMT(rule->message));
    else
        model_report_addf(&work->violations, place, value, "%.*s", SLICE_FMT(rule->test->text));
}

static enum test_answer check_answer(struct guard_work *work, const struct model_check_rule *rule)
{
    enum test_answer answer = model_test_check(rule->test, &work->scope);
    work->failed = work->failed || answer == TEST_BUDGET;
    return answer;
}

// Whether the old image has failed the check already: then what the server does is not to blame.
static bool failed_before(struct guard_work *work, const struct model_check_rule *rule,
                          struct slice before)
{
    if (before.len == 0)
        return false;
    struct model_scope scope = work->scope;
    scope.entity = NULL;
    scope.values = NULL;
    scope.item = before;
    return model_test_check(rule->test, &scope) == TEST_NO;
}

static void judge_checks(struct guard_work *work, struct slice before)
{
    const struct model_entity *entity = work->plan->entity;
    for (size_t i = 0; i < entity->check_count && !check_over(work->check); i++) {
        const struct model_check_rule *rule = &entity->checks[i];
        if (check_answer(work, rule) != TEST_NO)
            continue;
        report_check(work, rule);
        if (work->derived && !failed_before(work, rule, before))
            work->bound = true;
    }
}

static void judge_matched(struct guard_work *work)
{
    const struct guard_list *matched = &work->plan->rules->matched;
    for (size_t i = 0; i < matched->count && !check_over(work->check); i++) {
        uint16_t slot = matched->slots[i];
        const struct model_attribute *attribute = work->plan->slots[slot].attribute;
        struct model_pointer at = {.name = attribute->name};
        if (work->values[slot].len > 0 &&
            !model_text_matches(work->check, attribute, work->values[slot]))
            model_report_pattern(&work->violations, &at, attribute, work->values[slot]);
    }
}

// ---- Moves ------------------------------------------------------------------------------------

// "a", "b" or "c": the values that may come behind `from`, or, if that is none, those that a new
// item may begin with. Returns how many.
static size_t put_allowed(const struct model_moves *moves, struct slice from, struct slice first,
                          struct buf *out)
{
    size_t count = 0;
    if (first.len > 0) {
        model_value_describe(first, out);
        count++;
    }
    for (size_t i = 0; i < moves->count; i++) {
        const struct model_move *move = &moves->list[i];
        struct slice value = from.len > 0 ? move->to : move->from;
        if (from.len > 0 ? !slice_equal(move->from, from) : slice_equal(move->from, first))
            continue;
        bool told = false;
        for (size_t k = 0; from.len == 0 && k < i && !told; k++)
            told = slice_equal(moves->list[k].from, value);
        if (told)
            continue;
        buf_text(out, count++ == 0 ? "" : " or ");
        model_value_describe(value, out);
    }
    return count;
}

static void report_move(struct guard_work *work, const struct model_moves *moves, struct slice from,
                        struct slice first, struct slice value)
{
    struct model_pointer at = {.name = moves->attribute->name};
    struct buf words;
    buf_init(&words, WORDS_MAX);
    size_t count = put_allowed(moves, from, first, &words);
    if (from.len > 0) {
        if (count > 0)
            buf_text(&words, " after ");
        model_value_describe(from, &words);
        if (count == 0)
            buf_text(&words, " (nothing follows it)");
    } else {
        buf_text(&words, " (a new item begins with it)");
    }
    model_report_add(&work->violations, &at, buf_view(&words), value);
    buf_release(&words);
}

static bool may_move(const struct model_moves *moves, struct slice from, struct slice to)
{
    for (size_t i = 0; i < moves->count; i++)
        if (slice_equal(moves->list[i].from, from) && slice_equal(moves->list[i].to, to))
            return true;
    return false;
}

// Items that come in batches may have come a long way.
static bool may_begin(const struct guard_work *work, const struct model_moves *moves,
                      struct slice value)
{
    for (size_t i = 0; i < moves->count; i++)
        if (slice_equal(moves->list[i].from, value) ||
            (work->batch && slice_equal(moves->list[i].to, value)))
            return true;
    return false;
}

static struct slice there(struct slice value)
{
    return value.len > 0 && value.ptr[0] != VALUE_TAG_NULL ? value : VALUE_NONE;
}

static void judge_moves(struct guard_work *work, const struct model_moves *moves)
{
    const struct guard_entity *plan = work->plan;
    uint16_t slot = plan->places[moves->attribute - plan->entity->attributes];
    struct slice value = there(work->values[slot]);
    struct slice old = there(work->fresh ? VALUE_NONE : work->old[slot]);
    steps_add(&work->check->steps, moves->count);
    if (old.len > 0) {
        if (!slice_equal(old, value) && !may_move(moves, old, value))
            report_move(work, moves, old, VALUE_NONE, value);
        return;
    }
    if (value.len == 0 || may_begin(work, moves, value))
        return;
    struct slice first =
        moves->attribute->otherwise == NULL ? VALUE_NONE : computed_value(work, moves->attribute);
    if (!slice_equal(first, value))
        report_move(work, moves, VALUE_NONE, first, value);
}

// ---- Append only ------------------------------------------------------------------------------

static void report_append(struct guard_work *work, struct slice name, struct slice old,
                          struct slice value)
{
    struct model_pointer at = {.name = name};
    const char *reason =
        arena_printf(work->arena, " (%.*s is append only)", SLICE_FMT(work->plan->entity->name));
    model_report_value(&work->violations, &at, old, reason == NULL ? "" : reason, value);
}

void work_report_removal(struct guard_work *work)
{
    model_report_addf(&work->violations, NULL, VALUE_NONE, "the item to stay (%.*s is append only)",
                      SLICE_FMT(work->plan->entity->name));
}

// What no slot is for: each has what the other has.
static void judge_unknown_kept(struct guard_work *work, struct slice item, struct slice before)
{
    for (size_t i = 0; i < work->unknown_count; i++) {
        const struct guard_unknown *unknown = &work->unknown[i];
        struct slice old = value_get(before, unknown->name);
        if (!slice_equal(old, unknown->value))
            report_append(work, unknown->name, old, unknown->value);
    }
    struct value_iter iter;
    struct value_walk walk;
    size_t slot = 0;
    value_iter_init(&iter, before);
    value_walk_init(&walk, item);
    while (value_iter_next(&iter)) {
        while (slot < work->plan->slot_count &&
               slice_compare(work->plan->slots[slot].name, iter.name) < 0)
            slot++;
        bool known =
            slot < work->plan->slot_count && slice_equal(work->plan->slots[slot].name, iter.name);
        if (!known && value_walk_to(&walk, iter.name).len == 0)
            report_append(work, iter.name, iter.value, VALUE_NONE);
    }
}

// An item stays what it is; what the server makes of it is no change.
static void judge_append(struct guard_work *work, struct slice item, struct slice before)
{
    const struct guard_entity *plan = work->plan;
    steps_add(&work->check->steps, 2 * plan->slot_count + work->count);
    for (size_t i = 0; i < plan->slot_count; i++) {
        struct slice old = work->old[i];
        struct slice value = work->values[i];
        const struct model_attribute *attribute = plan->slots[i].attribute;
        if (attribute == NULL || attribute->always || plan->slots[i].derived ||
            slice_equal(old, value) || (old.len == 0 && work->sent[i].len == 0))
            continue;
        report_append(work, plan->slots[i].name, old, value);
    }
    judge_unknown_kept(work, item, before);
}

// ---- Quotas -----------------------------------------------------------------------------------

// The first moment of the period that follows, in seconds; false beyond the years.
static bool next_month(int64_t ms, bool year, int64_t *seconds)
{
    struct buf text;
    struct model_time time;
    buf_init(&text, 64);
    bool made = model_date_from_ms(ms, &text) && !text.failed && text.len == 10;
    if (made) {
        unsigned month = year ? 12 : (unsigned)(text.ptr[5] - '0') * 10 + (text.ptr[6] - '0');
        unsigned years = 0;
        for (size_t i = 0; i < 4; i++)
            years = years * 10 + (text.ptr[i] - '0');
        years += month == 12;
        month = month == 12 ? 1 : month + 1;
        buf_clear(&text);
        buf_printf(&text, "%04u-%02u-01", years, month);
        made = !text.failed && model_date_parse(buf_view(&text), &time);
    }
    buf_release(&text);
    if (made)
        *seconds = time.seconds;
    return made;
}

static bool period_end(enum model_period period, int64_t ms, int64_t *seconds)
{
    enum { HOUR = 3600, WEEK = 7 * DAY, MONDAY = 3 * DAY }; // 1970 began three days into a week
    int64_t now = ms / 1000;
    switch (period) {
    case MODEL_HOUR:
        *seconds = (now / HOUR + 1) * HOUR;
        return true;
    case MODEL_DAY:
        *seconds = (now / DAY + 1) * DAY;
        return true;
    case MODEL_WEEK:
        *seconds = ((now + MONDAY) / WEEK + 1) * WEEK - MONDAY;
        return true;
    case MODEL_MONTH:
    case MODEL_YEAR:
        return next_month(ms, period == MODEL_YEAR, seconds);
    case MODEL_NO_PERIOD:
        break;
    }
    return false;
}

static int64_t work_now(struct guard_work *work)
{
    if (work->scope.now_ms == 0 && work->scope.env != NULL)
        work->scope.now_ms = env_now(work->scope.env);
    return work->scope.now_ms;
}

static struct slice number_there(struct slice value)
{
    return value.len > 0 && value.ptr[0] == VALUE_TAG_N ? value : VALUE_NONE;
}

// a - b, either of which may be nothing, which is 0; VALUE_NONE if it cannot be said.
static struct slice difference(struct guard_work *work, struct slice a, struct slice b)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    uint8_t zero[NUMBER_BYTES_MAX];
    struct slice none = slice_of(zero, number_from_i64(0, zero));
    size_t len;
    if (number_subtract(a.len > 0 ? value_bytes(a) : none, b.len > 0 ? value_bytes(b) : none,
                        stored, &len) != NUMBER_OK)
        return VALUE_NONE;
    struct slice made = model_number(work->arena, slice_of(stored, len));
    work->failed = work->failed || made.ptr == NULL;
    return made;
}

static bool is_positive(struct guard_work *work, struct slice number)
{
    struct slice zero = model_integer(work->arena, 0);
    work->failed = work->failed || zero.ptr == NULL;
    return number.len > 0 && zero.ptr != NULL && value_compare(number, zero) > 0;
}

// Whether the moment has come.
static bool is_over(struct guard_work *work, struct slice resets)
{
    struct model_time time;
    if (there(resets).len == 0 || !model_value_time(resets, &time))
        return true;
    return time.seconds <= work_now(work) / 1000;
}

// One quota at work.
struct quota_work {
    const struct model_quota *quota;
    uint16_t slot;
    uint16_t resets; // or GUARD_NO_SLOT
};

static struct quota_work quota_work(const struct guard_work *work, const struct model_quota *quota)
{
    const struct guard_entity *plan = work->plan;
    const struct model_attribute *first = plan->entity->attributes;
    return (struct quota_work){quota, plan->places[quota->attribute - first],
                               quota->resets == NULL ? (uint16_t)GUARD_NO_SLOT
                                                     : plan->places[quota->resets - first]};
}

// Begins a new period: what was counted is over, and what is added now is what there is.
static void begin_period(struct guard_work *work, const struct quota_work *self, struct slice added)
{
    int64_t seconds;
    if (added.len == 0 || !period_end(self->quota->period, work_now(work), &seconds))
        return;
    work_set(work, self->slot, added);
    work_set(work, self->resets,
             model_time_value(seconds * 1000, self->quota->resets->type, work->arena));
}

static void report_quota(struct guard_work *work, const struct quota_work *self, struct slice most)
{
    static const char *const periods[] = {
        [MODEL_NO_PERIOD] = "",  [MODEL_HOUR] = "an hour",  [MODEL_DAY] = "a day",
        [MODEL_WEEK] = "a week", [MODEL_MONTH] = "a month", [MODEL_YEAR] = "a year",
    };
    struct model_pointer at = {.name = self->quota->attribute->name};
    struct buf words;
    buf_init(&words, WORDS_MAX);
    buf_text(&words, "at most ");
    model_value_describe(most, &words);
    if (self->resets == GUARD_NO_SLOT) {
        buf_text(&words, " (its quota)");
    } else {
        buf_printf(&words, " (quota of %s, until ", periods[self->quota->period]);
        struct slice until = work->values[self->resets];
        if (until.len == 0 || model_value_text(until, &words) != EVAL_OK)
            buf_text(&words, "it begins anew");
        buf_byte(&words, ')');
    }
    model_report_add(&work->violations, &at, buf_view(&words), work->values[self->slot]);
    buf_release(&words);
    work->bound = true;
}

// The limit that holds now, or VALUE_NONE.
static struct slice quota_limit(struct guard_work *work, const struct model_quota *quota)
{
    for (size_t i = 0; i < quota->limit_count; i++) {
        const struct model_limit *limit = &quota->limits[i];
        enum test_answer answer =
            limit->when == NULL ? TEST_YES : model_test_when(limit->when, &work->scope);
        struct slice most = VALUE_NONE;
        if (answer == TEST_NO)
            continue;
        enum eval_status status = answer == TEST_YES
                                      ? model_eval(limit->value, &work->scope, MODEL_NUMBER, &most)
                                      : EVAL_BUDGET;
        work->failed = work->failed || status == EVAL_BUDGET;
        return status == EVAL_OK ? number_there(most) : VALUE_NONE;
    }
    return VALUE_NONE;
}

// Whether what is counted became more; *begun if that was in a period that this write began.
static bool is_raised(struct guard_work *work, const struct quota_work *self, bool *begun)
{
    struct slice old = number_there(work->fresh ? VALUE_NONE : work->old[self->slot]);
    struct slice added = difference(work, number_there(work->values[self->slot]), old);
    bool raised = is_positive(work, added);
    *begun = false;
    if (self->resets == GUARD_NO_SLOT)
        return raised;
    struct slice was = work->fresh ? VALUE_NONE : work->old[self->resets];
    if (raised && is_over(work, work->values[self->resets])) {
        begin_period(work, self, added);
        work_computed(work); // which may be made of either
        *begun = true;
    } else {
        // What follows from several changes comes one by one: the first has begun the period.
        *begun = work->derived && !slice_equal(was, work->values[self->resets]);
    }
    return raised;
}

// If the server counts, the end of the period that is under way is the server's, too: whoever
// could change it, or leave it out, could begin a new one. A client may repeat it.
static void keep_period(struct guard_work *work, const struct quota_work *self)
{
    if (self->quota->counting == NULL || self->resets == GUARD_NO_SLOT || work->derived ||
        work->fresh)
        return;
    struct slice old = work->old[self->resets];
    struct slice sent = work->sent[self->resets];
    if (there(old).len == 0)
        return;
    struct model_pointer at = {.name = self->quota->resets->name};
    if (!work->batch && there(sent).len > 0 && !slice_equal(sent, old))
        model_report_value(&work->violations, &at, old, " (the server sets it)", sent);
    work->values[self->resets] = old;
}

void work_quotas(struct guard_work *work)
{
    const struct guard_rules *rules = work->plan->rules;
    if ((work->occasion != GUARD_WRITE && !work->derived) || work->restored)
        return;
    for (size_t i = 0; i < rules->quota_count && !check_over(work->check); i++) {
        struct quota_work self = quota_work(work, rules->quotas[i]);
        bool begun;
        keep_period(work, &self);
        if (!is_raised(work, &self, &begun) && !begun)
            continue;
        struct slice most = quota_limit(work, self.quota);
        struct slice count = number_there(work->values[self.slot]);
        // A new item takes what was counted before it came, however much that is: else it could
        // never come.
        if (work->derived && work->fresh)
            continue;
        if (most.len > 0 && count.len > 0 && value_compare(count, most) > 0)
            report_quota(work, &self, most);
    }
}

// ---- All of them ------------------------------------------------------------------------------

void work_judge_rules(struct guard_work *work, struct slice item, struct slice before)
{
    const struct model_entity *entity = work->plan->entity;
    const struct guard_rules *rules = work->plan->rules;
    judge_matched(work);
    judge_checks(work, before);
    if (work->derived || work->touch)
        return;
    for (size_t i = 0; i < rules->computed_count; i++)
        judge_computed(work, &rules->computed[i]);
    if (entity->append_only && !work->fresh)
        judge_append(work, item, before);
    for (size_t i = 0; i < entity->moves_count && !check_over(work->check); i++)
        judge_moves(work, &entity->moves[i]);
}

void work_judge_stored(struct guard_work *work)
{
    const struct guard_rules *rules = work->plan->rules;
    for (size_t i = 0; i < rules->computed_count; i++) {
        const struct guard_slot *slot = &work->plan->slots[rules->computed[i].slot];
        struct slice stored = work->values[rules->computed[i].slot];
        struct slice value =
            rules->computed[i].momentary ? stored : computed_value(work, slot->attribute);
        struct model_pointer at = {.name = slot->name};
        if (!slice_equal(stored, value) && !(value.len == 0 && there(stored).len == 0))
            model_report_value(&work->violations, &at, value, " (it is computed)", stored);
    }
    judge_matched(work);
    judge_checks(work, VALUE_NONE);
}
