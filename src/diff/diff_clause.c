// What an entity says of its items beside keys and attributes, in the words of the language: see
// diff.h.
#include "diff/diff.h"

#include "model/rules.h"

void model_line_text(struct slice text, struct buf *out)
{
    bool blank = false;
    for (size_t i = 0; i < text.len; i++) {
        bool space =
            text.ptr[i] == ' ' || text.ptr[i] == '\n' || text.ptr[i] == '\r' || text.ptr[i] == '\t';
        if (space && blank)
            continue;
        buf_byte(out, space ? ' ' : text.ptr[i]);
        blank = space;
    }
}

static void put_names(size_t count, const struct model_attribute *const *list, struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(list[i]->name));
}

static void put_uniques(const struct model_entity *entity, struct buf *out)
{
    for (size_t i = 0; i < entity->unique_count; i++) {
        buf_text(out, "unique (");
        put_names(entity->uniques[i].count, entity->uniques[i].attributes, out);
        buf_text(out, ")\n");
    }
}

static void put_checks(const struct model_entity *entity, struct buf *out)
{
    for (size_t i = 0; i < entity->check_count; i++) {
        buf_text(out, "check ");
        model_line_text(entity->checks[i].test->text, out);
        if (entity->checks[i].message.len > 0) {
            buf_text(out, " \"");
            model_line_text(entity->checks[i].message, out);
            buf_byte(out, '"');
        }
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < entity->moves_count; i++) {
        buf_printf(out, "moves %.*s: ", SLICE_FMT(entity->moves[i].attribute->name));
        model_line_text(entity->moves[i].text, out);
        buf_byte(out, '\n');
    }
}

static void put_references(const struct model_entity *entity, struct buf *out)
{
    for (size_t i = 0; i < entity->reference_count; i++) {
        const struct model_reference *reference = &entity->references[i];
        buf_text(out, "reference ");
        put_names(reference->count, reference->attributes, out);
        buf_printf(out, " to %.*s", SLICE_FMT(reference->target->name));
        const char *word = model_on_delete_words[reference->on_delete];
        if (word != NULL && word[0] != 0)
            buf_printf(out, " on delete %s", word);
        buf_byte(out, '\n');
    }
}

static void put_entries(const struct model_entity *entity, struct buf *out)
{
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (entry->when == NULL)
            continue;
        buf_printf(out, "%.*s when ", SLICE_FMT(entry->index->name));
        model_line_text(entry->when->text, out);
        buf_byte(out, '\n');
    }
}

void model_clauses_text(const struct model_entity *entity, struct buf *out)
{
    if (entity->append_only)
        buf_text(out, "append only\n");
    if (entity->shared)
        buf_text(out, "shared\n");
    if (entity->softdelete != NULL)
        buf_printf(out, "softdelete %.*s\n", SLICE_FMT(entity->softdelete->name));
    put_uniques(entity, out);
    put_checks(entity, out);
    put_references(entity, out);
    put_entries(entity, out);
}
