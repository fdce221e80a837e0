// Run-times: the parts of generated code that are the same for every model. They are files of
// src/generate/runtime, which their own compilers check, and which the build embeds. A line "//#
// name" begins a section; what the generator writes in between stands there as an example, in
// sections
// "-". Words in capitals stand for names of the model.
#ifndef GENERATE_RUNTIME_H
#define GENERATE_RUNTIME_H

#include "base/buf.h"

extern const char runtime_client_ts[];
extern const char runtime_entity_c[];
extern const char runtime_json_c[];
extern const char runtime_model_h[];
extern const char runtime_text_c[];

struct runtime_section {
    struct slice name;
    struct slice needs; // names of other sections, behind its own
    struct slice text;
};

// The next section of a file, of which *at is the rest; false at its end.
bool runtime_next(const char **at, struct runtime_section *section);

struct runtime_word {
    const char *word;
    struct slice text;
};

// Appends a section, its words replaced. The list of words ends with a NULL word; it may be NULL.
void runtime_write(struct buf *out, const char *file, const char *name,
                   const struct runtime_word *words);

#endif
