// Sections of embedded files, and the words in them.
#include "generate/runtime.h"

static const char mark[] = "//# ";

bool runtime_next(const char **at, struct runtime_section *section)
{
    const char *line = strstr(*at, mark);
    if (line == NULL)
        return false;
    const char *name = line + strlen(mark);
    const char *text = strchr(name, '\n') + 1;
    const char *end = strstr(text, mark);
    end = end == NULL ? text + strlen(text) : end;
    size_t len = strcspn(name, " \n");
    section->name = slice_of(name, len);
    section->needs = slice_of(name + len, (size_t)(text - 1 - name) - len);
    section->text = slice_of(text, (size_t)(end - text));
    *at = end;
    return true;
}

// The word that stands at the beginning of a text, or NULL.
static const struct runtime_word *word_at(struct slice text, const struct runtime_word *words)
{
    for (; words != NULL && words->word != NULL; words++) {
        if (slice_begins(text, slice_str(words->word)))
            return words;
    }
    return NULL;
}

// Words need no limits around them: PREFIX_ENTITY_put is made of two, and so is shop_order_put.
// What is written for one is not looked at again.
static void replace(struct buf *out, struct slice text, const struct runtime_word *words)
{
    size_t from = 0; // what was not yet written
    for (size_t i = 0; i < text.len; i++) {
        const struct runtime_word *word = word_at(slice_of(text.ptr + i, text.len - i), words);
        if (word == NULL)
            continue;
        buf_add(out, text.ptr + from, i - from);
        buf_slice(out, word->text);
        from = i + strlen(word->word);
        i = from - 1;
    }
    buf_add(out, text.ptr + from, text.len - from);
}

void runtime_write(struct buf *out, const char *file, const char *name,
                   const struct runtime_word *words)
{
    struct runtime_section section;
    while (runtime_next(&file, &section)) {
        if (slice_is(section.name, name)) {
            replace(out, section.text, words);
            return;
        }
    }
    ensure(false); // the file has no such section
}
