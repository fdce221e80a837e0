// Advice about policies: what nobody can read, what those whom a rule allows can make of it, tags
// that are probably misspelt.
#include "lint/lint_internal.h"

#include "model/parse.h"
#include "model/rules.h"

static const struct model_rules *rules_of(const struct lint *lint)
{
    return lint->model->rules_of;
}

// The first rule that allows one of the verbs on the entity, or NULL.
static const struct model_policy *allows(const struct lint *lint, const struct model_entity *entity,
                                         unsigned verbs)
{
    for (size_t i = 0; i < rules_of(lint)->policy_count; i++) {
        const struct model_policy *policy = &rules_of(lint)->policies[i];
        if (policy->entity == entity && !policy->deny && (policy->verbs & verbs))
            return policy;
    }
    return NULL;
}

static bool is_unreadable(const struct lint *lint, const struct model_entity *entity)
{
    return allows(lint, entity, MODEL_MAY_WRITE) != NULL &&
           allows(lint, entity, MODEL_MAY_READ) == NULL;
}

// ---- L062, L063: what nobody can read ---------------------------------------------------------

void lint_write_only(struct lint *lint, const struct model_entity *entity)
{
    if (is_unreadable(lint, entity))
        lint_find(lint, allows(lint, entity, MODEL_MAY_WRITE)->at,
                  lint_text(lint, "allow read %.*s to …", SLICE_FMT(entity->name)),
                  "no policy lets anyone read %.*s: items can be inserted, and nothing else",
                  SLICE_FMT(entity->name));
}

void lint_unreadable_pattern(struct lint *lint, const struct model_access *access)
{
    for (size_t i = 0; i < access->entity_count; i++) {
        if (!is_unreadable(lint, access->entities[i]))
            return;
    }
    lint_find(lint, access->at, NULL, "no policy lets anyone read what %.*s returns",
              SLICE_FMT(access->name));
}

// ---- L064: self-promotion ---------------------------------------------------------------------

static bool is_in_key(const struct model_entity *entity, const struct model_attribute *attribute)
{
    for (size_t i = 0; i < entity->table->keys.hash_count + entity->table->keys.range_count; i++) {
        if (model_key_part_shows(&entity->keys[i], attribute))
            return true;
    }
    return false;
}

static bool is_attribute(const struct model_expr *expr, const struct model_attribute *attribute)
{
    return expr != NULL && expr->kind == MODEL_EXPR_PATH && expr->attribute == attribute;
}

static bool compares(const struct model_comparison *one, const struct model_attribute *attribute)
{
    return is_attribute(one->left, attribute) || is_attribute(one->values[0], attribute) ||
           is_attribute(one->values[1], attribute);
}

// Whether the rule says in every clause what the attribute has to be: then it cannot be changed by
// means of the rule.
static bool pins(const struct model_policy *policy, const struct model_attribute *attribute)
{
    for (size_t i = 0; policy->test != NULL && i < policy->test->clause_count; i++) {
        const struct model_clause *clause = &policy->test->clauses[i];
        bool pinned = false;
        for (size_t k = 0; k < clause->count; k++)
            pinned = pinned || (clause->list[k].op == MODEL_OP_EQUAL &&
                                compares(&clause->list[k], attribute));
        if (!pinned)
            return false;
    }
    return policy->test != NULL;
}

static bool is_protected(const struct lint *lint, const struct model_entity *entity,
                         const struct model_attribute *attribute)
{
    if (attribute->immutable || attribute->always || attribute->counted ||
        is_in_key(entity, attribute))
        return true;
    for (size_t i = 0; i < rules_of(lint)->policy_count; i++) {
        const struct model_policy *policy = &rules_of(lint)->policies[i];
        for (size_t k = 0; policy->entity == entity && (policy->verbs & MODEL_MAY_UPDATE) &&
                           k < policy->attribute_count;
             k++) {
            if (policy->attributes[k] == attribute)
                return true;
        }
    }
    return false;
}

// Whether what the caller is, and not a constant, decides.
static bool asks_who(const struct model_policy *policy)
{
    for (size_t i = 0; policy->test != NULL && i < policy->test->clause_count; i++) {
        const struct model_clause *clause = &policy->test->clauses[i];
        bool literal = true;
        for (size_t k = 0; k < clause->count; k++)
            literal = literal && clause->list[k].left->kind == MODEL_EXPR_TAG &&
                      clause->list[k].values[0] != NULL &&
                      clause->list[k].values[0]->kind == MODEL_EXPR_VALUE;
        if (!literal)
            return true;
    }
    return policy->test == NULL;
}

// Those who may update an item without saying what the attribute is can give it any value, and so
// come to have what other rules give for that. Administrators, whom a literal names, are trusted.
static bool promotes(struct lint *lint, const struct model_policy *by,
                     const struct model_attribute *attribute)
{
    for (size_t i = 0; i < rules_of(lint)->policy_count; i++) {
        const struct model_policy *policy = &rules_of(lint)->policies[i];
        if (policy->entity != by->entity || policy->deny || policy == by ||
            !(policy->verbs & MODEL_MAY_UPDATE) || pins(policy, attribute) || !asks_who(policy))
            continue;
        lint_find(lint, policy->at,
                  lint_text(lint, "deny update of %.*s of %.*s unless …",
                            SLICE_FMT(attribute->name), SLICE_FMT(by->entity->name)),
                  "whoever this allows can change %.*s, which another policy of %.*s asks for",
                  SLICE_FMT(attribute->name), SLICE_FMT(by->entity->name));
        return true;
    }
    return false;
}

void lint_self_promotion(struct lint *lint, const struct model_entity *entity)
{
    for (size_t a = 0; a < entity->attribute_count; a++) {
        const struct model_attribute *attribute = &entity->attributes[a];
        bool told = is_protected(lint, entity, attribute);
        for (size_t i = 0; !told && i < rules_of(lint)->policy_count; i++) {
            const struct model_policy *policy = &rules_of(lint)->policies[i];
            bool asks = false;
            for (size_t c = 0;
                 policy->entity == entity && policy->test != NULL && c < policy->test->clause_count;
                 c++) {
                for (size_t k = 0; k < policy->test->clauses[c].count; k++)
                    asks = asks || compares(&policy->test->clauses[c].list[k], attribute);
            }
            told = asks && promotes(lint, policy, attribute);
        }
    }
}

// ---- L065: tags -------------------------------------------------------------------------------

// Calls visit with each tag that a policy of the model asks for.
struct tags {
    void (*visit)(struct tags *tags, const struct model_expr *tag);
    struct slice name;
    size_t count;
    struct model_guess guess;
};

static void visit_tags(const struct lint *lint, struct tags *tags)
{
    for (size_t i = 0; i < rules_of(lint)->policy_count; i++) {
        const struct model_test *test = rules_of(lint)->policies[i].test;
        for (size_t c = 0; test != NULL && c < test->clause_count; c++) {
            for (size_t k = 0; k < test->clauses[c].count; k++) {
                const struct model_comparison *one = &test->clauses[c].list[k];
                const struct model_expr *sides[] = {one->left, one->values[0], one->values[1]};
                for (size_t s = 0; s < COUNT_OF(sides); s++) {
                    if (sides[s] != NULL && sides[s]->kind == MODEL_EXPR_TAG)
                        tags->visit(tags, sides[s]);
                }
            }
        }
    }
}

static void weigh(struct tags *tags, const struct model_expr *tag)
{
    if (slice_equal(tag->steps[1], tags->name))
        tags->count++;
    else
        model_guess_candidate(&tags->guess, tag->steps[1]);
}

static void judge_tag(struct lint *lint, const struct model_expr *tag)
{
    struct tags tags = {
        .visit = weigh, .name = tag->steps[1], .guess = model_guess_for(tag->steps[1])};
    visit_tags(lint, &tags);
    const char *guess = model_guess_say(&tags.guess, lint->arena);
    if (tags.count == 1 && guess[0] != 0)
        lint_find(lint, tag->at, NULL, "the tag \"%.*s\" is asked for only here%s",
                  SLICE_FMT(tags.name), guess);
}

void lint_lonely_tag(struct lint *lint, const struct model_entity *entity)
{
    for (size_t i = 0; i < rules_of(lint)->policy_count; i++) {
        const struct model_policy *policy = &rules_of(lint)->policies[i];
        for (size_t c = 0;
             policy->entity == entity && policy->test != NULL && c < policy->test->clause_count;
             c++) {
            for (size_t k = 0; k < policy->test->clauses[c].count; k++) {
                const struct model_comparison *one = &policy->test->clauses[c].list[k];
                if (one->left->kind == MODEL_EXPR_TAG)
                    judge_tag(lint, one->left);
                else if (one->values[0] != NULL && one->values[0]->kind == MODEL_EXPR_TAG)
                    judge_tag(lint, one->values[0]);
            }
        }
    }
}
