// What is inferred from samples: the types of attributes that the model does not know, and entities
// for items that are of none.
#include "report/propose.h"

#include "infer/infer_internal.h"

bool propose_type(struct slice name, const struct report_finding *finding, struct arena *arena,
                  struct slice *out)
{
    struct infer_options options = {.table = SLICE_LIT("report")};
    struct infer *infer = infer_new_in(&options, arena);
    struct slice values[REPORT_SAMPLES];
    size_t count = 0;
    bool mixed;
    for (size_t i = 0; i < finding->sample_count; i++) {
        if (finding->samples[i].value.len > 0)
            values[count++] = finding->samples[i].value;
    }
    *out = count == 0 ? SLICE_LIT("any") : infer_type(infer, name, count, values, &mixed);
    // An object would need a type of its own beside the line.
    if (infer_draft(infer)->types != NULL)
        *out = SLICE_LIT("object");
    return true;
}

// The indexes and keys of the table, so that nothing has to be guessed.
static void describe(struct infer *infer, const struct model_table *table)
{
    struct draft *draft = infer_draft(infer);
    struct draft_table *to = infer_table(infer);
    to->keys = table->keys;
    for (size_t i = 0; i < table->index_count; i++) {
        struct draft_index *index = draft_add_index(draft, to, table->indexes[i].name);
        index->keys = table->indexes[i].keys;
        index->local = table->indexes[i].local;
    }
    infer_described(infer);
}

// An entity of the model may have the name already.
static void rename_taken(struct draft *draft, const struct model_table *table)
{
    for (struct draft_entity *e = draft->tables->entities; e != NULL; e = e->next) {
        struct slice name = e->name;
        if (e->type_value.len == 0)
            e->type_value = name;
        for (unsigned i = 2; model_table_entity(table, e->name) != NULL; i++)
            e->name = draft_text(draft, "%.*s%u", SLICE_FMT(name), i);
    }
    draft->tables->accesses = NULL; // their names may be taken, too; and nobody has asked
}

bool propose_entities(const struct report *report, const struct model_table *table,
                      struct arena *arena, struct proposals *out)
{
    struct infer_options options = {.table = table->name, .type = table->type_attribute};
    struct draft *draft = NULL;
    const char *why = "";
    struct buf text;
    if (report->item_count == 0)
        return true;
    struct infer *infer = infer_new_in(&options, arena);
    describe(infer, table);
    for (size_t i = 0; i < report->item_count; i++)
        (void)infer_add(infer, report->items[i].item);
    if (!infer_finish(infer, &draft, &why))
        return true;
    rename_taken(draft, table);
    buf_init(&text, LIMIT_MODEL_FILE);
    draft_write_entities(draft, &text);
    out->entities = arena_copy(arena, buf_view(&text));
    buf_clear(&text);
    for (const struct draft_note *note = draft->notes; note != NULL; note = note->next)
        buf_printf(&text, "%.*s\n", SLICE_FMT(note->text));
    out->notes = arena_copy(arena, buf_view(&text));
    bool fine = out->entities.ptr != NULL && out->notes.ptr != NULL && !text.failed;
    buf_release(&text);
    return fine;
}
