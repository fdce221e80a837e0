// What text has to look like: a small language of patterns, matched in linear time.
//
//   abc        these characters          [a-z0-9_]  one of these      [^#]   any other
//   .          any but a line's end      \d \w \s   digit, word, blank; \D \W \S any other
//   x|y        one or the other          (x)        a group
//   x* x+ x?   any number, at least one, at most one
//   x{3} x{2,} x{2,5}                    \. \{ …    the character itself; \n \t \r
//
// A pattern matches the whole text or nothing, so that it has no anchors. It is compiled into a
// program of bounded size; matching follows all of its threads at once, character by character, and
// never goes back: it takes at most as many steps as the program has instructions times the text
// has characters.
#ifndef TEXT_MATCHER_H
#define TEXT_MATCHER_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/steps.h"

struct model_matcher;

enum { MATCHER_CODE_MAX = 1024, MATCHER_PATTERN_MAX = 1024 };

// What is wrong with a pattern, and the byte of it where.
struct matcher_error {
    const char *message;
    size_t at;
    size_t length;
};

// In the arena; NULL with an error.
MUST_CHECK const struct model_matcher *matcher_compile(struct slice pattern, struct arena *arena,
                                                       struct arena *scratch,
                                                       struct matcher_error *error);

// Whether all of the text, which is UTF-8, is as the pattern says. Counts its steps, and gives up
// (false) when they are over; NULL if nobody counts.
bool matcher_matches(const struct model_matcher *matcher, struct slice text, struct steps *steps);

#endif
