// Policies: who may read and write which items, and which of their attributes. The decisions are in
// docs/adr/026-model-policies.md. What is accepted here can be kept on every path: a test is
// comparisons of attributes, tags and literals, and what is hidden stands in no key.
#include "model/parse_internal.h"

bool model_table_policed(const struct model_table *table)
{
    const struct model_rules *rules = table->model->rules_of;
    for (size_t i = 0; i < rules->policy_count; i++)
        if (rules->policies[i].entity->table == table)
            return true;
    return false;
}

// ---- Reading
// -------------------------------------------------------------------------------------

// read, insert, …
static bool verbs(struct model_file *file, struct raw_rule *raw)
{
    static const char *const words[] = {"read", "insert", "update", "delete", "write", NULL};
    static const unsigned meant[] = {MODEL_MAY_READ, MODEL_MAY_INSERT, MODEL_MAY_UPDATE,
                                     MODEL_MAY_DELETE, MODEL_MAY_WRITE};
    do {
        size_t position = 0;
        struct model_place at = parse_place(&file->p);
        if (!parse_choice(&file->p, words, &position))
            return false;
        if ((raw->verbs & meant[position]) == meant[position])
            return file_error(file, at, "\"%s\" stands here twice", words[position]);
        raw->verbs |= meant[position];
    } while (parse_accept(&file->p, MODEL_TOKEN_COMMA));
    return true;
}

static bool maybe_test(struct model_file *file, const char *word, const char *other,
                       struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if ((parse_at_word(p, other) || parse_at_word(p, "when")) && !parse_peek(p)->first)
        return file_error(file, parse_place(p), "a policy that %s is \"%.*s … %s …\"",
                          word[0] == 't' ? "allows" : "denies", SLICE_FMT(raw->rule.kind), word);
    if (!parse_accept_word(p, word))
        return true;
    raw->when = parse_test(p);
    return raw->when != NULL;
}

static bool policy_entity(struct model_file *file, struct raw_rule *raw)
{
    raw->entities = file_scratch(file, 1, sizeof *raw->entities);
    raw->entity_count = 1;
    return raw->entities != NULL &&
           parse_raw_name(&file->p, "the name of an entity", &raw->entities[0]);
}

// read, update Order to actor.customerId = customerId
bool read_allow(struct model_file *file, struct raw_rule *raw)
{
    if (!verbs(file, raw))
        return false;
    if (parse_at_word(&file->p, "of"))
        return file_error(file, parse_place(&file->p),
                          "\"allow\" is about whole items: hide or protect attributes with "
                          "\"deny … of … of ENTITY unless …\"");
    return policy_entity(file, raw) && maybe_test(file, "to", "unless", raw);
}

// write of role, plan of User unless actor.role = "admin"
bool read_deny(struct model_file *file, struct raw_rule *raw)
{
    struct model_parser *p = &file->p;
    if (!verbs(file, raw))
        return false;
    if (!parse_at_word(p, "of"))
        return file_error(file, parse_place(p),
                          "\"deny\" is about attributes: \"deny %s of ATTRIBUTE of ENTITY\". Items "
                          "are denied to all whom no \"allow\" names",
                          raw->verbs & MODEL_MAY_READ ? "read" : "write");
    (void)parse_take(p);
    return parse_raw_names(file, "the name of an attribute", LIMIT_MODEL_HIDDEN, &raw->per,
                           &raw->per_count) &&
           parse_expect_word(p, "of") && policy_entity(file, raw) &&
           maybe_test(file, "unless", "to", raw);
}

// ---- Checking
// ------------------------------------------------------------------------------------

static bool is_operand(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_PATH || expr->kind == MODEL_EXPR_TAG ||
           expr->kind == MODEL_EXPR_VALUE ||
           (expr->kind == MODEL_EXPR_CALL && expr->function == MODEL_FN_ACTOR);
}

static bool check_side(struct model_file *file, const struct model_expr *side)
{
    return side == NULL || is_operand(side) ||
           file_error(file, side->at,
                      "a policy compares attributes, actor.NAME, actor() and literals, and "
                      "computes nothing");
}

// A tag is text, whatever it is compared with: it can be read as a number or a boolean.
static bool check_tag(struct model_file *file, const struct model_comparison *one)
{
    if (one->op == MODEL_OP_MISSING && one->left->kind == MODEL_EXPR_TAG)
        return file_error(file, one->at,
                          "a policy cannot ask for a tag that is missing: whoever lacks one would "
                          "be allowed more");
    return true;
}

static bool check_comparisons(struct model_file *file, const struct model_test *test)
{
    bool ok = true;
    for (size_t i = 0; test != NULL && i < test->clause_count; i++)
        for (size_t k = 0; k < test->clauses[i].count; k++) {
            const struct model_comparison *one = &test->clauses[i].list[k];
            ok = check_side(file, one->left) && check_side(file, one->values[0]) &&
                 check_side(file, one->values[1]) && check_tag(file, one) && ok;
        }
    return ok;
}

struct search {
    const struct model_attribute *attribute;
    bool found;
};

static void look_for(void *context, const struct model_expr *part)
{
    struct search *search = context;
    search->found =
        search->found || (part->kind == MODEL_EXPR_PATH && part->attribute == search->attribute);
}

bool model_key_part_shows(const struct model_key_part *part,
                          const struct model_attribute *attribute)
{
    struct search search = {.attribute = attribute,
                            .found = slice_equal(part->name, attribute->name)};
    for (size_t i = 0; part->template != NULL && i < part->template->segment_count; i++)
        if (part->template->segments[i].expr != NULL)
            model_expr_visit(part->template->segments[i].expr, look_for, &search);
    return search.found;
}

static bool keys_show(const struct model_key_part *parts, const struct key_schema *keys,
                      const struct model_attribute *attribute)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        if (model_key_part_shows(&parts[i], attribute))
            return true;
    return false;
}

// What is in a key is shown by it.
static bool check_keys_hide(struct model_file *file, const struct model_entity *entity,
                            const struct model_attribute *attribute, struct model_place at)
{
    struct slice name = attribute->name;
    if (keys_show(entity->keys, &entity->table->keys, attribute))
        return file_error(file, at,
                          "\"%.*s\" stands in the primary key, which shows it: it cannot be hidden",
                          SLICE_FMT(name));
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (keys_show(entry->parts, &entry->index->keys, attribute))
            return file_error(file, at,
                              "\"%.*s\" stands in the key of index \"%.*s\", which shows it: it "
                              "cannot be hidden",
                              SLICE_FMT(name), SLICE_FMT(entry->index->name));
    }
    return true;
}

static bool check_hidden(struct model_file *file, const struct model_entity *entity,
                         const struct model_attribute *attribute, struct model_place at)
{
    if (attribute == entity->softdelete ||
        slice_equal(attribute->name, entity->table->type_attribute))
        return file_error(file, at, "\"%.*s\" says %s: it cannot be hidden",
                          SLICE_FMT(attribute->name),
                          attribute == entity->softdelete ? "whether an item is deleted"
                                                          : "of which entity an item is");
    return check_keys_hide(file, entity, attribute, at);
}

static bool check_denied(struct model_file *file, const struct raw_rule *raw,
                         const struct model_entity *entity, const struct raw_name *name,
                         const struct model_attribute *attribute)
{
    if (attribute == NULL)
        return false;
    if ((raw->verbs & MODEL_MAY_WRITE) &&
        (attribute->always || attribute->version || attribute->counted))
        return file_error(file, name->at, "\"%.*s\" is the server's: no client can write it",
                          SLICE_FMT(attribute->name));
    return !(raw->verbs & MODEL_MAY_READ) || check_hidden(file, entity, attribute, name->at);
}

static bool check_verbs(struct model_file *file, struct raw_rule *raw, bool deny)
{
    if (!deny || !(raw->verbs & MODEL_MAY_DELETE))
        return true;
    if ((raw->verbs & MODEL_MAY_WRITE) != MODEL_MAY_WRITE)
        return file_error(file, raw->rule.at,
                          "attributes are not deleted, items are: write "
                          "\"deny update of …\" or \"deny write of …\"");
    raw->verbs &= ~(unsigned)MODEL_MAY_DELETE;
    return true;
}

static size_t hidden_before(const struct model_file *file, const struct model_entity *entity)
{
    size_t count = 0;
    for (size_t i = 0; i < file->resolved->policy_count; i++)
        if (file->resolved->policies[i].entity == entity)
            count += file->resolved->policies[i].attribute_count;
    return count;
}

void check_policy(struct model_file *file, struct raw_rule *raw)
{
    const struct model_entity *entity = check_entity(file, &raw->entities[0]);
    const struct model_attribute **attributes =
        file_alloc(file, raw->per_count + 1, sizeof(struct model_attribute *));
    if (entity == NULL || attributes == NULL)
        return;
    bool deny = slice_is(raw->rule.kind, "deny");
    bool ok = check_verbs(file, raw, deny);
    if (file->sound && entity->guard != MODEL_ENFORCE)
        ok = file_error(file, raw->entities[0].at,
                        "entity \"%.*s\" is not enforced: a policy needs \"guard enforce\"",
                        SLICE_FMT(entity->name));
    for (size_t i = 0; i < raw->per_count; i++) {
        attributes[i] = check_attribute_name(file, entity, &raw->per[i]);
        ok = check_denied(file, raw, entity, &raw->per[i], attributes[i]) && ok;
    }
    if (raw->per_count + hidden_before(file, entity) > LIMIT_MODEL_HIDDEN)
        ok = file_error(file, raw->rule.at, "at most %d attributes of an entity can be denied",
                        LIMIT_MODEL_HIDDEN);
    struct model_names scope = check_scope(file, entity);
    scope.allows = MODEL_ALLOW_ORIGIN | MODEL_ALLOW_TAGS;
    ok = check_test(file, raw->when, &scope, false) && check_comparisons(file, raw->when) && ok;
    struct model_policy *policy = ok ? check_add(file, policies, policy_count) : NULL;
    if (policy != NULL)
        *policy = (struct model_policy){.entity = entity,
                                        .deny = deny,
                                        .verbs = raw->verbs,
                                        .attribute_count = raw->per_count,
                                        .attributes = attributes,
                                        .test = raw->when,
                                        .at = raw->rule.at};
}
