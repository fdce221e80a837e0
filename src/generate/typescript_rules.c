// What a model's rules say of an entity, in its `Kind`: patterns of text, checks, transitions, soft
// delete. The client judges what it can see itself; what is between items (references, unique
// pairs, counts, events) is the server's.
#include "generate/typescript.h"

#include "eval/eval.h"
#include "model/rules.h"

// ---- Tests -----------------------------------------------------------------------------------

// [item.endsAt, ">", item.startsAt]
static struct slice comparison(struct typescript *ts, const struct model_comparison *one)
{
    const struct model_type *type =
        one->left->kind == MODEL_EXPR_PATH ? model_path_type(one->left) : NULL;
    enum model_kind want = type == NULL ? MODEL_ANY : type_bare(type)->kind;
    struct slice values = {NULL, 0};
    for (size_t i = 0; i < 2 && one->values[i] != NULL; i++)
        text_add(ts->w, &values, ", ", typescript_expr(ts, one->values[i], want, NULL));
    return TEXT(ts->w, values.len > 0 ? "[%s, \"%s\", %s]" : "[%s, \"%s\"%s]",
                typescript_expr(ts, one->left, want, NULL), slice_str(text_op(one->op)), values);
}

struct slice typescript_test(struct typescript *ts, const struct model_test *test, bool missing)
{
    struct slice clauses = {NULL, 0};
    for (size_t i = 0; i < test->clause_count; i++) {
        struct slice all = {NULL, 0};
        for (size_t k = 0; k < test->clauses[i].count; k++)
            text_add(ts->w, &all, ", ", comparison(ts, &test->clauses[i].list[k]));
        text_add(ts->w, &clauses, ", ", TEXT(ts->w, "[%s]", all));
    }
    ts->used |= 1U << TS_TEST;
    return TEXT(ts->w, "holds(%s, %s)", slice_str(missing ? "true" : "false"), clauses);
}

// ---- Rules of an entity ----------------------------------------------------------------------

static void matches(struct typescript *ts, const struct model_entity *entity)
{
    size_t count = 0;
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        if (attribute->pattern.len == 0)
            continue;
        PUT(ts->w,
            count++ == 0 ? "  matches: [\n    [%q, new RegExp(%q, \"u\"), %q],\n"
                         : "    [%q, new RegExp(%q, \"u\"), %q],\n",
            attribute->name, TEXT(ts->w, "^(?:%s)$", attribute->pattern), attribute->pattern);
    }
    buf_text(ts->w->out, count > 0 ? "  ],\n" : "");
}

static void checks(struct typescript *ts, const struct model_entity *entity)
{
    for (size_t i = 0; i < entity->check_count; i++) {
        const struct model_check_rule *rule = &entity->checks[i];
        PUT(ts->w, i == 0 ? "  checks: [\n    [(item) => %s, %q],\n" : "    [(item) => %s, %q],\n",
            typescript_test(ts, rule->test, true),
            rule->message.len > 0 ? rule->message
                                  : TEXT(ts->w, "expected %s", text_line(ts->w, rule->test->text)));
    }
    buf_text(ts->w->out, entity->check_count > 0 ? "  ],\n" : "");
}

static void moves(struct typescript *ts, const struct model_moves *rule)
{
    const struct model_expr *otherwise = rule->attribute->otherwise;
    struct slice begins = {NULL, 0};
    struct slice steps = {NULL, 0};
    if (otherwise != NULL && otherwise->kind == MODEL_EXPR_VALUE)
        text_add_once(ts->w, &begins, ", ", text_value(ts->w, otherwise->value, "null"));
    for (size_t i = 0; i < rule->count; i++) {
        struct slice from = text_value(ts->w, rule->list[i].from, "null");
        text_add_once(ts->w, &begins, ", ", from);
        text_add(ts->w, &steps, ", ",
                 TEXT(ts->w, "[%s, %s]", from, text_value(ts->w, rule->list[i].to, "null")));
    }
    PUT(ts->w, "    [%q, [%s], [%s]],\n", rule->attribute->name, begins, steps);
}

// The time at which an item is deleted, in the attribute's form.
static void softdelete(struct typescript *ts, const struct model_attribute *attribute)
{
    enum model_kind want = type_bare(attribute->type)->kind;
    bool seconds = want == MODEL_EPOCH || want == MODEL_NUMBER || want == MODEL_INTEGER;
    PUT(ts->w, "  softdelete: [%q, %s, %s],\n", attribute->name,
        want == MODEL_BOOLEAN
            ? SLICE_LIT("() => true")
            : TEXT(ts->w, "(_, now) => %s",
                   typescript_normal(ts, attribute->normal,
                                     slice_str(seconds ? "Math.floor(now.getTime() / 1000)"
                                               : want == MODEL_DATE
                                                   ? "now.toISOString().slice(0, 10)"
                                                   : "now.toISOString()"))),
        slice_str(attribute->optional ? "undefined" : "null"));
    ts->used |= 1U << TS_SOFT;
}

void typescript_rules(struct typescript *ts, const struct model_entity *entity)
{
    matches(ts, entity);
    checks(ts, entity);
    buf_text(ts->w->out, entity->moves_count > 0 ? "  moves: [\n" : "");
    for (size_t i = 0; i < entity->moves_count; i++)
        moves(ts, &entity->moves[i]);
    buf_text(ts->w->out, entity->moves_count > 0 ? "  ],\n" : "");
    if (entity->softdelete != NULL)
        softdelete(ts, entity->softdelete);
}
