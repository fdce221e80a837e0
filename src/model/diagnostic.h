// What is wrong with a file, or could be better: a place, a sentence, and how it is shown:
//
//   pornspot.dolmen:14:9: error: unknown type "strng"; did you mean "string"?
//     14 |   email   strng  unique
//        |           ^~~~~
#ifndef MODEL_DIAGNOSTIC_H
#define MODEL_DIAGNOSTIC_H

#include "base/arena.h"
#include "base/buf.h"

// Counted from 1; a column is a byte of its line. line 0: nowhere in particular.
struct model_place {
    uint32_t line;
    uint32_t column;
    uint32_t length; // of what the caret underlines
};

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

struct diagnostic {
    enum severity severity;
    const char *code; // of a lint rule, "L003"; NULL otherwise
    struct model_place at;
    const char *message;
    const char *help; // how to mend it, or NULL
};

enum { DIAGNOSTICS_MAX = 100 }; // further ones are counted, not kept

struct diagnostics {
    struct arena *arena; // of the texts
    size_t count;
    size_t errors; // of the count, and beyond what is kept
    size_t lost;
    struct diagnostic list[DIAGNOSTICS_MAX];
};

void diagnostics_init(struct diagnostics *diagnostics, struct arena *arena);
// Always false, so that `return diagnostic_error(…)` reads well.
bool diagnostic_error(struct diagnostics *diagnostics, struct model_place at, const char *format,
                      ...) PRINTF_LIKE(3, 4);
// The same for what makes something: always NULL.
#define diagnostic_fail(...) ((void)diagnostic_error(__VA_ARGS__), (void *)NULL)
void diagnostic_warning(struct diagnostics *diagnostics, struct model_place at, const char *format,
                        ...) PRINTF_LIKE(3, 4);
void diagnostic_add(struct diagnostics *diagnostics, struct diagnostic diagnostic);
// A text that was made of several files says so in comments: the line behind such a mark is that
// line of that file. Whatever shows a place looks for the file it comes from.
#define DIAGNOSTIC_FILE_MARK "//dolmen:file "
void diagnostic_file_mark(struct buf *out, struct slice file, uint32_t line);
// The file and the line that a line of the text comes from: `file` and the line itself without
// marks.
struct slice diagnostic_source(struct slice file, struct slice text, uint32_t *line);

// In the order of the file.
void diagnostics_sort(struct diagnostics *diagnostics);

// One or all as text, with the line and the caret; and as JSON, an array of objects.
void diagnostic_show(const struct diagnostic *diagnostic, struct slice file, struct slice text,
                     struct buf *out);
void diagnostics_show(const struct diagnostics *diagnostics, struct slice file, struct slice text,
                      struct buf *out);
void diagnostics_json(const struct diagnostics *diagnostics, struct slice file, struct slice text,
                      struct buf *out);

#endif
