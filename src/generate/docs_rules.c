// What a model's rules say, in words: of an entity below its attributes, of the whole model in a
// section and a diagram of what makes what.
#include "generate/docs.h"

#include "model/rules.h"

// ---- Of an entity ----------------------------------------------------------------------------

static struct slice code_list(struct writer *w, size_t count,
                              const struct model_attribute *const *list)
{
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        text_add(w, &names, i + 1 == count ? " and " : ", ", docs_code(w, list[i]->name));
    return names;
}

static void references(struct writer *w, const struct model_entity *entity)
{
    static const char *const actions[] = {
        [MODEL_DELETE_REJECT] = "which cannot be deleted as long as something refers to it",
        [MODEL_DELETE_CASCADE] = "and the item is deleted with it",
        [MODEL_DELETE_CLEAR] = "and is removed when that is deleted",
        [MODEL_DELETE_LEAVE] = "which has to be there when the item is written"};
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        PUT(w, "- %s %s to a %s, %s.\n", code_list(w, reference->count, reference->attributes),
            slice_str(reference->count == 1 ? "refers" : "refer"), reference->target->name,
            slice_str(actions[reference->on_delete]));
    }
}

static struct slice state_name(struct writer *w, struct slice value)
{
    struct slice text =
        value_type(value) == VALUE_S ? value_bytes(value) : text_value(w, value, "null");
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        buf_byte(&out, word ? c : '_');
    }
    return TEXT(w, "s_%s", text_keep(w, &out));
}

// The values of an attribute and the steps between them.
static void moves(struct writer *w, const struct model_moves *rule)
{
    const struct model_expr *begin = rule->attribute->otherwise;
    struct slice told = {NULL, 0};
    PUT(w, "\nHow `%s` moves:\n\n```mermaid\nstateDiagram-v2\n", rule->attribute->name);
    for (size_t i = 0; i < 2 * rule->count; i++) {
        struct slice value = i % 2 == 0 ? rule->list[i / 2].from : rule->list[i / 2].to;
        text_add_once(w, &told, "\n",
                      TEXT(w, "    state %s as %s",
                           TEXT(w, "%q",
                                value_type(value) == VALUE_S ? value_bytes(value)
                                                             : text_value(w, value, "null")),
                           state_name(w, value)));
    }
    PUT(w, "%s\n", told);
    if (begin != NULL && begin->kind == MODEL_EXPR_VALUE)
        PUT(w, "    [*] --> %s\n", state_name(w, begin->value));
    for (size_t i = 0; i < rule->count; i++)
        PUT(w, "    %s --> %s\n", state_name(w, rule->list[i].from),
            state_name(w, rule->list[i].to));
    buf_text(w->out, "```\n");
}

static bool has_rules(const struct model_entity *entity)
{
    return entity->append_only || entity->kept || entity->shared || entity->softdelete != NULL ||
           entity->unique_count + entity->check_count + entity->moves_count +
                   entity->reference_count >
               0;
}

void docs_entity_rules(const struct docs *docs, const struct model_entity *entity)
{
    struct writer *w = docs->w;
    if (!has_rules(entity))
        return;
    if (entity->kept)
        buf_text(w->out, "- The server writes these items; clients only read them.\n");
    if (entity->append_only)
        buf_text(w->out, "- Append only: an item is written once, and neither changed nor "
                         "deleted.\n");
    if (entity->shared)
        buf_text(w->out, "- Shared: every tenant may read it, none may write it.\n");
    if (entity->softdelete != NULL)
        PUT(w,
            "- Deleted softly: a delete sets `%s`, and the item is no longer found until it is "
            "undeleted.\n",
            entity->softdelete->name);
    for (size_t i = 0; i < entity->unique_count; i++)
        PUT(w, "- No two items have the same %s.\n",
            code_list(w, entity->uniques[i].count, entity->uniques[i].attributes));
    for (size_t i = 0; i < entity->check_count; i++)
        PUT(w, entity->checks[i].message.len > 0 ? "- Always %s; else: %s.\n" : "- Always %s%s.\n",
            docs_code(w, text_line(w, entity->checks[i].test->text)),
            text_line(w, entity->checks[i].message));
    references(w, entity);
    for (size_t i = 0; i < entity->moves_count; i++)
        moves(w, &entity->moves[i]);
    buf_byte(w->out, '\n');
}

// ---- What makes what -------------------------------------------------------------------------

static struct slice node(struct writer *w, const struct model_entity *entity)
{
    return text_pascal(w, text_entity(w, entity));
}

static void edge(struct writer *w, const struct model_entity *from, struct slice label,
                 const struct model_entity *to)
{
    PUT(w, "    %s -- %q --> %s\n", node(w, from), label, node(w, to));
}

// Quotes and braces would end the label.
static struct slice label(struct writer *w, const char *word, struct slice text)
{
    struct buf out;
    buf_init(&out, 4096);
    buf_text(&out, word);
    for (size_t i = 0; i < text.len; i++)
        buf_byte(&out, memchr("\"{}[]<>|", text.ptr[i], 8) != NULL ? '\'' : text.ptr[i]);
    return text_keep(w, &out);
}

static void made_edge(struct writer *w, const struct model_made *made)
{
    edge(w, made->source,
         made->by == MODEL_EMIT
             ? label(w, "emit ", made->name == NULL ? SLICE_LIT("") : made->name->source)
         : made->by == MODEL_AUDIT ? SLICE_LIT("audit")
         : made->each == NULL      ? SLICE_LIT("derive")
                                   : label(w, "each of ", made->each->name),
         made->target);
}

void docs_consequences(const struct docs *docs)
{
    struct writer *w = docs->w;
    const struct model_rules *rules = w->model->rules_of;
    if (rules->made_count + rules->tally_count + rules->publish_count == 0)
        return;
    docs_heading(docs, 0, SLICE_LIT("What Makes What"));
    buf_text(w->out, "```mermaid\nflowchart LR\n");
    for (size_t i = 0; i < rules->made_count; i++) {
        if (is_wanted(w, rules->made[i].source->table))
            made_edge(w, &rules->made[i]);
    }
    for (size_t i = 0; i < rules->tally_count; i++) {
        const struct model_tally *tally = rules->tallies[i];
        if (is_wanted(w, tally->source->table))
            edge(w, tally->source,
                 label(w, tally->amount == NULL ? "counted in " : "summed in ",
                       tally->attribute->name),
                 tally->target);
    }
    for (size_t i = 0; i < rules->publish_count; i++) {
        const struct model_publish *publish = &rules->publishes[i];
        if (is_wanted(w, publish->entity->table))
            PUT(w, "    %s -- \"publish\" --> to%s[%q]\n", node(w, publish->entity),
                text_u64(w, i + 1), label(w, "", publish->target));
    }
    buf_text(w->out, "```\n\n");
}
