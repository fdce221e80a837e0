// Unicode's composed form (NFC): a letter and its marks are one character where there is one, and
// marks stand in one order, so that texts that look the same have the same bytes.
#ifndef TEXT_NFC_H
#define TEXT_NFC_H

#include "base/arena.h"
#include "base/slice.h"

// Whether nothing in the text can be composed, as a look at its bytes tells: most texts.
bool nfc_is_plain(struct slice text);

// The text (UTF-8) in its composed form, which may be the same slice; NULL if the arena is used up.
// It takes time in proportion to the length, whatever the text is.
struct slice nfc_compose(struct slice text, struct arena *arena);

#endif
