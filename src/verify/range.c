// What a range of the store's keys is about: which tables and indexes, and between which of their
// keys. For whoever has lost it.
#include "verify/verify_internal.h"

#include "base/encode.h"

struct ranging {
    struct verifier *v;
    struct slice from;
    struct slice to; // empty: no end
    void (*visit)(void *context, const struct verify_place *place);
    void *context;
    size_t visits;
};

static bool touches(const struct ranging *ranging, tree_id tree)
{
    return tree >= tree_of(ranging->from) && (ranging->to.len == 0 || tree <= tree_of(ranging->to));
}

// A key at the end of the range as an item of key attributes, in the arena, if it is of the tree.
static struct slice end_of(const struct ranging *ranging, struct slice key, tree_id tree,
                           const struct key_schema *first, const struct key_schema *second)
{
    struct verifier *v = ranging->v;
    if (tree_of(key) != tree || key.len <= LAYOUT_PREFIX || first == NULL)
        return VALUE_NONE;
    struct slice rest = slice_of(key.ptr + LAYOUT_PREFIX, key.len - LAYOUT_PREFIX);
    struct slice item = verify_key(v, first, second, rest);
    return item.len == 0 ? item : arena_copy(&v->arena, item);
}

static void tell(struct ranging *ranging, enum verify_check check, tree_id tree, struct slice index,
                 const struct key_schema *first, const struct key_schema *second)
{
    if (tree == 0 || !touches(ranging, tree))
        return;
    struct verify_place place = {.check = check,
                                 .table = buf_view(&ranging->v->name),
                                 .index = index,
                                 .after = end_of(ranging, ranging->from, tree, first, second),
                                 .before = end_of(ranging, ranging->to, tree, first, second)};
    ranging->visit(ranging->context, &place);
    ranging->visits++;
}

static void tell_table(struct ranging *ranging, const struct table *table)
{
    struct slice none = slice_of(NULL, 0);
    tell(ranging, VERIFY_ITEMS, table->tree, none, &table->keys, NULL);
    for (size_t i = 0; i < table->index_count; i++)
        tell(ranging, VERIFY_INDEX, table->indexes[i].tree, table->indexes[i].name,
             &table->indexes[i].keys, &table->keys);
    for (size_t i = 0; i < table->vector_count; i++)
        tell(ranging, VERIFY_VECTOR_INDEX, table->vectors[i].base.tree, table->vectors[i].base.name,
             NULL, NULL);
    tell(ranging, VERIFY_TTL, table->ttl.tree, none, NULL, NULL);
    tell(ranging, VERIFY_COLLECTIONS, table->collections, none, NULL, NULL);
    tell(ranging, VERIFY_CLAIMS, table->claims, none, NULL, NULL);
    tell(ranging, VERIFY_CLAIMS, table->next_claims, none, NULL, NULL);
    tell(ranging, VERIFY_CLAIMS, table->notes, none, NULL, NULL);
    tell(ranging, VERIFY_CHANGES, table->log, none, NULL, NULL);
}

void verify_range(const struct verify_options *options, struct slice from, struct slice to,
                  void (*visit)(void *context, const struct verify_place *place), void *context)
{
    struct verifier *v = verifier_new(options);
    struct ranging ranging = {v, from, to, visit, context, 0};
    if (touches(&ranging, TREE_META)) {
        visit(context, &(struct verify_place){.check = VERIFY_CATALOG});
        ranging.visits++;
    }
    while (verifier_next_table(v)) {
        struct view view;
        if (!view_open(v, buf_view(&v->name), 0, &view))
            continue;
        tell_table(&ranging, view.table);
        view_close(v, &view);
    }
    // What a deleted table has left, such as its stream: nobody knows whether it is still wanted.
    if (ranging.visits == 0)
        visit(context, &(struct verify_place){.check = VERIFY_TREES});
    verifier_free(v);
}
