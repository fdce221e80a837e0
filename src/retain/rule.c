// What the rules of a model say of an item: see retain.h.
#include "retain/retain.h"

#include "eval/test.h"
#include "guard/entity.h"
#include "model/time.h"
#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>

// ---- The rules of a table ---------------------------------------------------------------------

// How many rules of the kind the entity has before this one.
static size_t earlier(const struct retain_rule *list, size_t count, const struct retain_rule *rule)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += list[i].entity == rule->entity && (list[i].keep == NULL) == (rule->keep == NULL);
    return same;
}

// As it stands in the file, without the line breaks.
static struct slice rule_text(const struct model *model, struct model_place at)
{
    for (size_t i = 0; i < model->rule_count; i++) {
        if (model->rules[i].at.line == at.line && model->rules[i].at.column == at.column)
            return model->rules[i].text;
    }
    return SLICE_LIT("");
}

static void add_rule(struct retain_rule *list, size_t *count, const struct model *model,
                     struct model_place at, struct retain_rule rule)
{
    size_t same = earlier(list, *count, &rule);
    rule.text = rule_text(model, at);
    rule.idle = rule.entity->guard != MODEL_ENFORCE;
    int len = snprintf(rule.id, sizeof(rule.id), "%s-%.*s", rule.keep == NULL ? "retain" : "keep",
                       SLICE_FMT(rule.entity->name));
    ensure(len > 0 && (size_t)len + 8 < sizeof(rule.id));
    if (same > 0)
        (void)snprintf(rule.id + len, sizeof(rule.id) - (size_t)len, "-%zu", same + 1);
    list[(*count)++] = rule;
}

bool retain_rules(const struct model_table *table, struct arena *arena, struct retain_rule **list,
                  size_t *count)
{
    const struct model_rules *rules = table->model->rules_of;
    size_t most = rules->retain_count + rules->keep_count;
    *count = 0;
    *list = arena_zalloc(arena, most + 1, sizeof(**list));
    if (*list == NULL)
        return false;
    for (size_t i = 0; i < rules->retain_count; i++) {
        const struct model_retain *retain = &rules->retains[i];
        if (retain->entity->table == table)
            add_rule(*list, count, table->model, retain->at,
                     (struct retain_rule){
                         .entity = retain->entity, .retain = retain, .fate = retain->fate});
    }
    for (size_t i = 0; i < rules->keep_count; i++) {
        const struct model_keep *keep = &rules->keeps[i];
        if (keep->entity->table == table)
            add_rule(
                *list, count, table->model, keep->at,
                (struct retain_rule){.entity = keep->entity, .keep = keep, .fate = keep->fate});
    }
    return true;
}

// ---- An item ----------------------------------------------------------------------------------

bool retain_concerns(const struct retain_rule *rule, struct slice item)
{
    return model_recognise(rule->entity->table, item).entity == rule->entity;
}

bool retain_time(struct slice value, int64_t *seconds)
{
    struct model_time time;
    if (value.len == 0)
        return false;
    if (value_type(value) == VALUE_S) {
        struct slice text = value_bytes(value);
        bool is = model_timestamp_parse(text, &time) || model_date_parse(text, &time);
        if (is)
            *seconds = time.seconds;
        return is;
    }
    if (value_type(value) != VALUE_N)
        return false;
    // A fraction of a second makes no difference here, but what has one is no whole number.
    int64_t number = 0;
    if (!number_to_i64(value_bytes(value), &number)) {
        char text[NUMBER_TEXT_MAX + 1];
        text[number_to_text(value_bytes(value), text)] = 0;
        double real = strtod(text, NULL);
        if (!(real >= (double)MODEL_EPOCH_MIN && real <= (double)MODEL_EPOCH_MAX))
            return false;
        number = (int64_t)real;
    }
    if (number < MODEL_EPOCH_MIN || number > MODEL_EPOCH_MAX)
        return false;
    *seconds = number;
    return true;
}

static bool is_there(struct slice value)
{
    return value.len > 0 && value.ptr[0] != VALUE_TAG_NULL;
}

enum retain_answer retain_due(const struct retain_rule *rule, struct slice item,
                              const struct env *env, struct arena *arena)
{
    const struct model_retain *retain = rule->retain;
    int64_t begins;
    int64_t now_s = env_now(env) / 1000;
    if (!retain_time(value_get(item, retain->after->name), &begins) || begins > now_s ||
        (uint64_t)(now_s - begins) < retain->seconds)
        return RETAIN_NO;
    if (retain->when == NULL)
        return RETAIN_YES;
    struct model_scope scope = {
        .item = item, .before = item, .entity = rule->entity, .env = env, .arena = arena};
    switch (model_test_when(retain->when, &scope)) {
    case TEST_YES:
        return RETAIN_YES;
    case TEST_NO:
        return RETAIN_NO;
    default:
        return RETAIN_BUDGET;
    }
}

enum retain_answer retain_place(const struct retain_rule *rule, struct slice item,
                                struct arena *arena, struct slice *group, struct slice *rank)
{
    const struct model_keep *keep = rule->keep;
    const struct model_attribute *softdelete = rule->entity->softdelete;
    struct slice by = value_get(item, keep->by->name);
    if (!is_there(by) || (softdelete != NULL && is_there(value_get(item, softdelete->name))))
        return RETAIN_NO;
    enum value_type type = value_type(by);
    if (type != VALUE_N && type != VALUE_S && type != VALUE_B)
        return RETAIN_NO;
    // No tenant's items count among those of another.
    const struct model_attribute *tenant = rule->entity->tenant;
    struct slice owner = tenant == NULL ? VALUE_NONE : value_get(item, tenant->name);
    size_t room = owner.len;
    for (size_t i = 0; i < keep->per_count; i++) {
        struct slice value = value_get(item, keep->per[i]->name);
        if (!is_there(value))
            return RETAIN_NO;
        room += value.len;
    }
    struct slice bytes = value_bytes(by);
    uint8_t *name = arena_alloc(arena, room + 1);
    uint8_t *place = arena_alloc(arena, bytes.len + 1);
    if (name == NULL || place == NULL)
        return RETAIN_BUDGET;
    // Values are canonical and say how long they are, so equal names are of equal values.
    if (owner.len > 0)
        memcpy(name, owner.ptr, owner.len);
    room = owner.len;
    for (size_t i = 0; i < keep->per_count; i++) {
        struct slice value = value_get(item, keep->per[i]->name);
        memcpy(name + room, value.ptr, value.len);
        room += value.len;
    }
    place[0] = by.ptr[0];
    memcpy(place + 1, bytes.ptr, bytes.len);
    *group = slice_of(name, room);
    *rank = slice_of(place, bytes.len + 1);
    return RETAIN_YES;
}
