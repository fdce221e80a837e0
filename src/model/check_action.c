// Rules of repetition, quotas, publishing, and items that are there from the beginning.
#include "model/parse_internal.h"

#include "text/url.h"

// ---- Repetition
// ----------------------------------------------------------------------------------

void check_idempotent(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    if (entity == NULL)
        return;
    for (size_t i = 0; i < file->resolved->idempotent_count; i++) {
        if (file->resolved->idempotents[i].entity == entity) {
            (void)file_error(file, raw->rule.at, "\"%.*s\" has an \"idempotent\" already, in %s",
                             SLICE_FMT(entity->name),
                             file_line(file, file->resolved->idempotents[i].at.line));
            return;
        }
    }
    struct model_names scope = check_scope(file, entity);
    scope.allows = MODEL_ALLOW_ORIGIN;
    if (!model_expr_resolve(raw->by, &scope, file->p.scratch, file->p.diagnostics) ||
        !check_sums(file, raw->by))
        return;
    enum value_type gives = check_gives(raw->by);
    if (gives != VALUE_S && gives != VALUE_N && gives != VALUE_B && gives != VALUE_TYPES) {
        (void)file_error(file, raw->by->at,
                         "what tells a repetition has to be text, a number or binary; sha256(…) "
                         "makes text of several");
        return;
    }
    struct model_idempotent *place = check_add(file, idempotents, idempotent_count);
    if (place != NULL)
        *place = (struct model_idempotent){
            .entity = entity, .by = raw->by, .seconds = raw->seconds, .at = raw->rule.at};
}

// ---- Quotas
// --------------------------------------------------------------------------------------

static bool check_limits(struct model_file *file, const struct raw_rule *raw,
                         const struct model_entity *entity, struct model_limit *limits)
{
    struct model_names scope = check_scope(file, entity);
    size_t count = 0;
    scope.allows = MODEL_ALLOW_CHANCE | MODEL_ALLOW_ORIGIN;
    for (struct raw_limit *one = raw->limits.first; one != NULL; one = one->next) {
        const struct model_expr *value = one->limit.value;
        if (!model_expr_resolve(value, &scope, file->p.scratch, file->p.diagnostics) ||
            !check_sums(file, value) || !check_test(file, one->limit.when, &scope, false))
            return false;
        enum value_type gives = check_gives(value);
        if (gives != VALUE_N && gives != VALUE_TYPES)
            return file_error(file, value->at, "a limit is a number");
        if (one->limit.when == NULL && one->next != NULL)
            return file_error(file, one->next->limit.value->at,
                              "the limit before this one has no \"when\": this one never counts");
        limits[count++] = one->limit;
    }
    return true;
}

static bool check_quota_parts(struct model_file *file, const struct raw_rule *raw,
                              const struct model_entity *entity, struct model_quota *quota)
{
    quota->attribute = check_attribute_name(file, entity, &raw->names[0]);
    if (raw->names[1].name.len > 0)
        quota->resets = check_attribute_name(file, entity, &raw->names[1]);
    if (quota->attribute == NULL || (raw->names[1].name.len > 0 && quota->resets == NULL))
        return false;
    if (model_type_stored(quota->attribute->type) != VALUE_N)
        return file_error(file, raw->names[0].at, "\"%.*s\" counts: it has to be a number",
                          SLICE_FMT(quota->attribute->name));
    if (quota->resets != NULL && !check_is_time(quota->resets->type))
        return file_error(file, raw->names[1].at,
                          "\"%.*s\" says when a period ends: it has to be a time",
                          SLICE_FMT(quota->resets->name));
    if (quota->attribute->always || quota->attribute->version)
        return file_error(file, raw->names[0].at, "\"%.*s\" is computed: it cannot count",
                          SLICE_FMT(quota->attribute->name));
    if ((raw->counting != NULL || quota->resets != NULL) && quota->attribute->tally != NULL)
        return file_error(file, raw->names[0].at, "\"%.*s\" is counted already, as \"%.*s\"",
                          SLICE_FMT(quota->attribute->name),
                          SLICE_FMT(quota->attribute->tally->text));
    for (size_t i = 0; i < file->resolved->quota_count; i++)
        if (file->resolved->quotas[i].attribute == quota->attribute)
            return file_error(file, raw->rule.at, "\"%.*s\" has a quota already, in %s",
                              SLICE_FMT(quota->attribute->name),
                              file_line(file, file->resolved->quotas[i].at.line));
    return true;
}

void check_quota(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    struct model_limit *limits = file_alloc(file, raw->limits.count + 1, sizeof *limits);
    struct model_quota quota = {.entity = entity,
                                .limit_count = raw->limits.count,
                                .limits = limits,
                                .period = raw->period,
                                .at = raw->rule.at};
    if (entity == NULL || limits == NULL || !check_quota_parts(file, raw, entity, &quota) ||
        !check_limits(file, raw, entity, limits))
        return;
    if (raw->counting != NULL && file->sound) {
        quota.counting = check_tally(file, entity, quota.attribute, raw->counting, true);
        if (quota.counting == NULL)
            return;
        check_counted(file, quota.attribute, raw->counting->at);
    }
    struct model_quota *place = check_add(file, quotas, quota_count);
    if (place != NULL)
        *place = quota;
}

// ---- Publishing
// ----------------------------------------------------------------------------------

// The entity's name; the second one of it has a 2 behind it.
static struct slice publish_name(struct model_file *file, const struct model_entity *entity)
{
    size_t number = 1;
    for (size_t i = 0; i < file->resolved->publish_count; i++)
        number += file->resolved->publishes[i].entity == entity &&
                  file->resolved->publishes[i].object == NULL;
    if (number == 1)
        return entity->name;
    char *name = arena_printf(file->p.arena, "%.*s%zu", SLICE_FMT(entity->name), number);
    return name == NULL ? entity->name : slice_str(name);
}

// What can be published to, and what each takes beside `order` and `attempts`.
struct scheme {
    const char *begins;
    enum { HTTP_NONE, HTTP_WHOLE, HTTP_BEHIND } http; // which part is a URL of http or https
    const char *options[8];
};
static const struct scheme schemes[] = {
    {"http:", HTTP_WHOLE, {"secret", "parallel", "batch", "timeout"}},
    {"https:", HTTP_WHOLE, {"secret", "parallel", "batch", "timeout"}},
    {"sqs:", HTTP_BEHIND, {"region", "endpoint", "key", "secret", "token", "parallel", "timeout"}},
    {"sns:", HTTP_NONE, {"region", "endpoint", "key", "secret", "token", "parallel", "timeout"}},
    {"eventbridge:",
     HTTP_BEHIND,
     {"region", "endpoint", "key", "secret", "token", "parallel", "timeout"}},
    {"kafka:", HTTP_NONE, {NULL}},
    {"nats:", HTTP_NONE, {"credentials"}},
    {"file:", HTTP_NONE, {NULL}},
    {"stdout:", HTTP_NONE, {NULL}},
};

static const struct scheme *check_scheme(struct model_file *file, const struct raw_rule *raw)
{
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        if (slice_begins(raw->url, slice_str(schemes[i].begins)))
            return &schemes[i];
    (void)file_error(file, raw->rule.at,
                     "\"%.*s\" is nothing that can be published to: use http:, https:, sqs:, sns:, "
                     "eventbridge:, kafka:, nats:, file: or stdout:",
                     SLICE_FMT(raw->url));
    return NULL;
}

// Whether a URL can lead anywhere: it would be tried for ever.
static bool check_address(struct model_file *file, const struct raw_rule *raw,
                          const struct scheme *scheme)
{
    size_t skip = scheme->http == HTTP_BEHIND ? strlen(scheme->begins) : 0;
    struct slice url = slice_of(raw->url.ptr + skip, raw->url.len - skip);
    struct url_place place;
    const char *wrong = scheme->http == HTTP_NONE ? NULL : url_http_read(url, &place);
    return wrong == NULL || file_error(file, raw->rule.at, "\"%.*s\" cannot be published to: %s",
                                       SLICE_FMT(raw->url), wrong);
}

static bool check_option(struct model_file *file, const struct model_entity *entity,
                         const struct scheme *scheme, const struct model_option *option)
{
    struct model_guess guess = model_guess_for(option->name);
    if (slice_is(option->name, "order"))
        return check_attribute_name(file, entity, &(struct raw_name){option->value, option->at}) !=
               NULL;
    bool known = slice_is(option->name, "attempts");
    for (size_t i = 0; i < COUNT_OF(scheme->options) && scheme->options[i] != NULL; i++) {
        known = known || slice_is(option->name, scheme->options[i]);
        model_guess_candidate(&guess, slice_str(scheme->options[i]));
    }
    model_guess_candidate(&guess, SLICE_LIT("attempts"));
    model_guess_candidate(&guess, SLICE_LIT("order"));
    model_guess_candidate(&guess, SLICE_LIT("mark"));
    return known || file_error(file, option->at, "\"%.*s\" is no option of a target of %s%s",
                               SLICE_FMT(option->name), scheme->begins,
                               model_guess_say(&guess, file->p.scratch));
}

void check_publish(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    struct model_option *options = file_alloc(file, raw->options.count + 1, sizeof *options);
    const struct model_attribute *mark = NULL;
    if (entity == NULL || options == NULL)
        return;
    struct model_names scope = check_scope(file, entity);
    scope.allows = 0;
    if (!check_test(file, raw->when, &scope, false))
        return;
    if (raw->url.len == 0) {
        (void)file_error(file, raw->rule.at, "this does not say where to");
        return;
    }
    const struct scheme *scheme = check_scheme(file, raw);
    if (scheme == NULL || !check_address(file, raw, scheme))
        return;
    if (file->resolved->publish_count == LIMIT_MODEL_PUBLISHES) {
        (void)file_error(file, raw->rule.at, "a file has at most %d \"publish\" rules",
                         LIMIT_MODEL_PUBLISHES);
        return;
    }
    if (raw->names[0].name.len > 0) {
        mark = check_attribute_name(file, entity, &raw->names[0]);
        if (mark == NULL)
            return;
        if (!check_literal(mark->type, raw->marked)) {
            (void)file_error(file, raw->names[0].at, "this is no value of \"%.*s\"",
                             SLICE_FMT(mark->name));
            return;
        }
    }
    size_t count = 0;
    for (struct raw_option *one = raw->options.first; one != NULL; one = one->next) {
        if (!check_option(file, entity, scheme, &one->option))
            return;
        options[count++] = one->option;
    }
    struct slice name = publish_name(file, entity);
    struct model_publish *place = check_add(file, publishes, publish_count);
    if (place != NULL)
        *place = (struct model_publish){.entity = entity,
                                        .name = name,
                                        .target = raw->url,
                                        .when = raw->when,
                                        .mark = mark,
                                        .marked = raw->marked,
                                        .option_count = count,
                                        .options = options,
                                        .at = raw->rule.at};
}

// ---- Seeds
// ---------------------------------------------------------------------------------------

static bool seed_value(struct model_file *file, const struct model_entity *entity,
                       const struct raw_rule *raw, const struct raw_assignment *one)
{
    const struct model_attribute *attribute = check_attribute_name(file, entity, &one->name);
    if (attribute == NULL)
        return false;
    for (struct raw_assignment *other = raw->assignments.first; other != one; other = other->next)
        if (slice_equal(other->name.name, one->name.name))
            return file_error(file, one->name.at, "\"%.*s\" is given twice",
                              SLICE_FMT(attribute->name));
    if (one->value->kind != MODEL_EXPR_VALUE)
        return file_error(file, one->value->at,
                          "the item of a seed is made of values alone: strings, numbers, true, "
                          "false, null, [] and {}");
    if (attribute->counted || attribute->always || attribute->version)
        return file_error(file, one->name.at, "\"%.*s\" is made by the server",
                          SLICE_FMT(attribute->name));
    return check_given(file, attribute, one->value, "the value");
}

// What is neither given nor made by the server.
static bool seed_whole(struct model_file *file, const struct model_entity *entity,
                       struct slice item, const struct raw_rule *raw)
{
    bool ok = true;
    struct model_address address;
    model_address(entity, &address);
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        bool given = value_get(item, attribute->name).len > 0;
        bool key = model_address_find(&address, attribute->name) < address.count;
        const struct model_expr *otherwise = attribute->otherwise;
        bool same = otherwise != NULL && otherwise->kind == MODEL_EXPR_VALUE;
        if (!given && key && !same)
            ok = file_error(file, raw->rule.at,
                            "the seed of a \"%.*s\" has to say what \"%.*s\" is: it is part of the "
                            "key",
                            SLICE_FMT(entity->name), SLICE_FMT(attribute->name));
        else if (!given && !attribute->optional && otherwise == NULL && !attribute->version &&
                 !slice_equal(attribute->name, entity->table->type_attribute))
            ok = file_error(file, raw->rule.at, "a \"%.*s\" needs \"%.*s\"",
                            SLICE_FMT(entity->name), SLICE_FMT(attribute->name));
    }
    return ok;
}

void check_seed(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    struct value_maker maker;
    bool ok = entity != NULL;
    if (!ok)
        return;
    value_begin(&maker, (size_t)2 * LIMIT_MODEL_FILE);
    value_open_map(&maker.b);
    for (struct raw_assignment *one = raw->assignments.first; one != NULL; one = one->next) {
        if (seed_value(file, entity, raw, one)) {
            value_name(&maker.b, one->name.name);
            value_put(&maker.b, one->value->value);
        } else {
            ok = false;
        }
    }
    struct slice item = value_end(&maker, file->p.arena);
    if (item.ptr == NULL) {
        (void)parse_no_memory(&file->p);
        return;
    }
    if (!ok || !file->sound || !seed_whole(file, entity, item, raw))
        return;
    struct model_seed *place = check_add(file, seeds, seed_count);
    if (place != NULL)
        *place = (struct model_seed){.entity = entity, .item = item, .at = raw->rule.at};
}
