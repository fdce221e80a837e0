// Ordinary JSON to values and back: strings are S, numbers N (every digit of them), objects and
// arrays M and L. On the way out binary becomes base64 and a set an array; they do not come back.
#ifndef JSON_PLAIN_H
#define JSON_PLAIN_H

#include "base/arena.h"
#include "value/value.h"

// One object, appended through the builder as an M value. NULL, or what is wrong. The arena is for
// unescaped strings.
MUST_CHECK const char *plain_read(struct slice text, struct arena *arena,
                                  struct value_builder *builder);

void plain_write(struct buf *out, struct slice value);

#endif
