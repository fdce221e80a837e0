// Small XML documents, read strictly and written plainly: what S3's requests and answers are.
//
// Read are elements and text, and attributes only to be passed over. Refused are document types,
// processing instructions behind the first line, CDATA, entities other than the five and numbers,
// anything that does not nest, and what is larger, deeper or has more elements than the limits.
#ifndef OBJECTS_XML_H
#define OBJECTS_XML_H

#include "base/arena.h"

enum {
    XML_DEPTH = 12,
    XML_NODES = 60000, // the parts of an upload have up to eight for each of ten thousand
};

struct xml {
    struct slice name; // without its prefix
    struct slice text; // between the tags, decoded; of elements without children
    struct xml *children;
    struct xml *next;
};

// The root, or NULL: the document is malformed, or the arena is used up. Everything is in the
// arena, or in the text.
MUST_CHECK struct xml *xml_read(struct slice text, struct arena *arena);
// The first child of that name from `node` on; NULL if there is none.
const struct xml *xml_find(const struct xml *node, const char *name);
// The text of a child; empty if there is none.
struct slice xml_text(const struct xml *parent, const char *name);

// ---- Writing ---------------------------------------------------------------------------------

void xml_begin(struct buf *out, const char *root); // the first line, and a root with S3's namespace
void xml_open(struct buf *out, const char *name);
void xml_close(struct buf *out, const char *name);
void xml_put(struct buf *out, const char *name, struct slice text);
void xml_put_number(struct buf *out, const char *name, uint64_t number);
void xml_put_time(struct buf *out, const char *name, int64_t ms);
// Text with what must not stand in XML replaced: "&lt;" and "&#xD;". Characters that XML has no
// words for become U+FFFD.
void xml_escape(struct buf *out, struct slice text);

#endif
