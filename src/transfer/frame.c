// See frame.h. A scanner for each framing looks at every byte once: it goes on where it stopped
// when more bytes have come, with its state in the framer. It answers whether the record that
// begins at `at` ends before `scan`.
#include "transfer/frame.h"

enum { READ_SIZE = 256 << 10 };

enum cut {
    CUT_MORE, // more bytes are needed
    CUT_HERE, // the record ends at `scan`
    CUT_SKIP, // nothing of what was seen belongs to a record
    CUT_BROKEN,
};

void framer_init(struct framer *framer, enum framing framing, uint8_t delimiter,
                 struct source *source)
{
    *framer =
        (struct framer){.source = source, .framing = framing, .delimiter = delimiter, .line = 1};
    buf_init(&framer->data, FRAME_MAX + 2 * READ_SIZE);
}

void framer_release(struct framer *framer)
{
    buf_release(&framer->data);
}

// Forgets what is before `at` and reads more behind.
static bool more(struct framer *framer, struct error *error)
{
    if (framer->at > 0) {
        framer->data.len -= framer->at;
        framer->scan -= framer->at;
        memmove(framer->data.ptr, framer->data.ptr + framer->at, framer->data.len);
        framer->at = 0;
    }
    uint8_t *to = buf_reserve(&framer->data, READ_SIZE);
    if (to == NULL)
        return error_budget(error);
    size_t got;
    if (!source_read(framer->source, to, READ_SIZE, &got, error))
        return false;
    framer->data.len += got;
    framer->ended = got == 0;
    return true;
}

static enum cut scan_line(struct framer *framer)
{
    size_t left = framer->data.len - framer->scan;
    const uint8_t *from = framer->data.ptr + framer->scan;
    const uint8_t *newline = left == 0 ? NULL : memchr(from, '\n', left);
    framer->scan = newline == NULL ? framer->data.len : framer->scan + (size_t)(newline - from) + 1;
    return newline == NULL ? CUT_MORE : CUT_HERE;
}

enum csv_mode { CSV_START, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE };

// A quote opens a quoted field at the beginning of a field only.
static enum cut scan_csv(struct framer *framer)
{
    while (framer->scan < framer->data.len) {
        uint8_t c = framer->data.ptr[framer->scan++];
        if (framer->mode == CSV_QUOTED) {
            if (c == '"')
                framer->mode = CSV_QUOTE;
        } else if (c == '\n') {
            framer->mode = CSV_START;
            return CUT_HERE;
        } else if (c == framer->delimiter) {
            framer->mode = CSV_START;
        } else if (c == '"' && framer->mode != CSV_PLAIN) {
            framer->mode = CSV_QUOTED;
        } else {
            framer->mode = CSV_PLAIN;
        }
    }
    return CUT_MORE;
}

// ---- Ion ---------------------------------------------------------------------------------------

enum ion_mode {
    ION_OUTSIDE,
    ION_STRING,
    ION_SYMBOL,
    ION_LONG,
    ION_LINE_COMMENT,
    ION_BLOCK_COMMENT,
    ION_BLOB,
};

static bool follows(const struct framer *framer, const char *text)
{
    size_t len = strlen(text);
    return framer->data.len - framer->scan >= len &&
           memcmp(framer->data.ptr + framer->scan, text, len) == 0;
}

// Inside of something that is not structure. True if the byte has been dealt with.
static bool scan_ion_inside(struct framer *framer, uint8_t c)
{
    if (framer->escaped || (c == '\\' && framer->mode <= ION_LONG && framer->mode != ION_OUTSIDE)) {
        framer->escaped = !framer->escaped;
        return true;
    }
    switch (framer->mode) {
    case ION_STRING:
    case ION_SYMBOL:
        // A newline ends an unfinished one, so that a broken line does not eat the next.
        if (c == (framer->mode == ION_STRING ? '"' : '\'') || c == '\n')
            framer->mode = ION_OUTSIDE;
        return true;
    case ION_LONG:
        if (c == '\'' && follows(framer, "''")) {
            framer->scan += 2;
            framer->mode = ION_OUTSIDE;
        }
        return true;
    case ION_LINE_COMMENT:
        if (c == '\n')
            framer->mode = ION_OUTSIDE;
        return true;
    case ION_BLOCK_COMMENT:
        if (c == '*' && follows(framer, "/")) {
            framer->scan++;
            framer->mode = ION_OUTSIDE;
        }
        return true;
    case ION_BLOB: // base64 has slashes, which are no comments; text inside is a clob's
        if (c == '}' && follows(framer, "}")) {
            framer->scan++;
            framer->mode = ION_OUTSIDE;
        } else if (c == '"' || c == '\'') {
            framer->mode = ION_OUTSIDE;
            framer->depth += 2;
            return false;
        }
        return true;
    default:
        return false;
    }
}

// Opens what is not structure.
static void scan_ion_open(struct framer *framer, uint8_t c)
{
    if (c == '"') {
        framer->mode = ION_STRING;
    } else if (c == '\'' && follows(framer, "''")) {
        framer->scan += 2;
        framer->mode = ION_LONG;
    } else if (c == '\'') {
        framer->mode = ION_SYMBOL;
    } else if (c == '/' && follows(framer, "/")) {
        framer->mode = ION_LINE_COMMENT;
    } else if (c == '/' && follows(framer, "*")) {
        framer->scan++;
        framer->mode = ION_BLOCK_COMMENT;
    } else if (c == '{' && follows(framer, "{")) {
        framer->scan++;
        framer->mode = ION_BLOB;
    }
}

// AWS writes one record a line, each with a version marker: such a line begins a record even if the
// one before is not finished.
static bool ion_resync(const struct framer *framer, uint8_t c)
{
    return c == '\n' && (framer->mode != ION_LONG || framer->escaped) &&
           follows(framer, "$ion_1_0");
}

static enum cut scan_ion(struct framer *framer)
{
    // What is decided by a look ahead needs that many bytes.
    enum { LOOK_AHEAD = 10 };
    while (framer->data.len - framer->scan > (framer->ended ? 0 : LOOK_AHEAD)) {
        uint8_t c = framer->data.ptr[framer->scan++];
        if (framer->depth > 0 && ion_resync(framer, c)) {
            framer->depth = 0;
            framer->mode = ION_OUTSIDE;
            framer->escaped = false;
            return CUT_HERE;
        }
        if (scan_ion_inside(framer, c))
            continue;
        scan_ion_open(framer, c);
        if (framer->mode != ION_OUTSIDE)
            continue;
        if (c == '{' || c == '[' || c == '(')
            framer->depth++;
        bool closes = c == '}' || c == ']' || c == ')';
        if (closes && framer->depth > 0)
            framer->depth--;
        if (closes && framer->depth == 0)
            return CUT_HERE;
    }
    return CUT_MORE;
}

// ---- One JSON document ------------------------------------------------------------

enum document_mode { DOCUMENT_OUTSIDE, DOCUMENT_STRING };

static void document_name(struct framer *framer, uint8_t c)
{
    if (framer->naming && framer->name_len < FRAME_NAME_MAX)
        framer->name[framer->name_len++] = c;
}

// Whether an element of an array of the outermost object is what `scan` is in.
static bool in_element(const struct framer *framer)
{
    return framer->depth > 2 && framer->containers[0] == '{' && framer->containers[1] == '[';
}

static enum cut document_close(struct framer *framer)
{
    if (framer->depth == 0)
        return CUT_BROKEN;
    bool was_in_element = in_element(framer);
    framer->depth--;
    if (was_in_element && framer->depth == 2)
        return CUT_HERE;
    framer->closed = framer->depth == 0;
    return framer->depth < 3 ? CUT_SKIP : CUT_MORE;
}

static enum cut document_open(struct framer *framer, uint8_t c)
{
    if (framer->depth < 2)
        framer->containers[framer->depth] = c;
    framer->depth++;
    if (framer->depth == 3 && in_element(framer)) {
        framer->at = framer->scan - 1;
        return CUT_MORE;
    }
    return framer->depth == 1 && c != '{' ? CUT_BROKEN : CUT_MORE;
}

static enum cut scan_document(struct framer *framer)
{
    while (framer->scan < framer->data.len) {
        uint8_t c = framer->data.ptr[framer->scan++];
        if (c == '\n' && !in_element(framer))
            framer->line++; // those inside of elements are counted with them
        if (framer->mode == DOCUMENT_STRING) {
            if (c == '"' && !framer->escaped)
                framer->mode = DOCUMENT_OUTSIDE;
            else
                document_name(framer, c);
            framer->escaped = c == '\\' && !framer->escaped;
            continue;
        }
        enum cut cut = CUT_MORE;
        if (c == '"') {
            framer->mode = DOCUMENT_STRING;
            framer->naming = framer->depth == 1;
            if (framer->naming)
                framer->name_len = 0;
        } else if (c == '{' || c == '[') {
            cut = document_open(framer, c);
        } else if (c == '}' || c == ']') {
            cut = document_close(framer);
        }
        if (cut == CUT_HERE || cut == CUT_BROKEN)
            return cut;
        if (framer->closed)
            return CUT_SKIP;
    }
    return CUT_MORE;
}

// ---- All of them ------------------------------------------------------------------

static enum cut scan(struct framer *framer)
{
    switch (framer->framing) {
    case FRAME_LINE:
        return scan_line(framer);
    case FRAME_CSV:
        return scan_csv(framer);
    case FRAME_ION:
        return scan_ion(framer);
    default:
        return scan_document(framer);
    }
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// White space between records does not begin one; nor does the mark some editors put in front.
static void skip_space(struct framer *framer)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (!framer->begun && framer->data.len >= sizeof(mark)) {
        if (memcmp(framer->data.ptr, mark, sizeof(mark)) == 0)
            framer->at = sizeof(mark);
        framer->begun = true;
    }
    if (framer->framing == FRAME_CSV) {
        // Only a line with nothing in it: blanks may be fields.
        while (framer->at < framer->data.len &&
               (framer->data.ptr[framer->at] == '\n' || framer->data.ptr[framer->at] == '\r'))
            framer->line += framer->data.ptr[framer->at++] == '\n';
    } else {
        while (framer->at < framer->data.len && is_space(framer->data.ptr[framer->at]))
            framer->line += framer->data.ptr[framer->at++] == '\n';
    }
    framer->scan = framer->at;
}

static void give(struct framer *framer, struct frame *out, const char *bad)
{
    size_t end = framer->scan;
    *out = (struct frame){
        .text = slice_of(framer->data.ptr + framer->at, end - framer->at),
        .name = slice_of(framer->name, framer->name_len),
        .line = framer->line,
        .bad = bad,
    };
    for (size_t i = framer->at; i < end; i++)
        framer->line += framer->data.ptr[i] == '\n';
    framer->at = end;
}

// What is too long is dropped piece by piece up to the next line.
static bool skip_long(struct framer *framer, struct frame *out, struct error *error)
{
    framer->depth = framer->framing == FRAME_DOCUMENT ? framer->depth : 0;
    framer->mode = 0;
    framer->escaped = false;
    give(framer, out, "the record is too long");
    out->text = slice_of(NULL, 0);
    if (framer->framing == FRAME_DOCUMENT) {
        framer->closed = true;
        return true;
    }
    while (scan_line(framer) == CUT_MORE && !framer->ended) {
        framer->at = framer->scan;
        if (!more(framer, error))
            return false;
    }
    framer->line++;
    framer->at = framer->scan;
    return true;
}

// The source has ended: what is left is the last record, or the beginning of one.
static bool give_last(struct framer *framer, struct frame *out)
{
    if (framer->framing == FRAME_DOCUMENT) {
        framer->closed = true;
        framer->scan = framer->at = framer->data.len;
        give(framer, out, "the document ends too early");
        return true;
    }
    framer->scan = framer->data.len;
    if (framer->at == framer->data.len)
        return false;
    bool open = (framer->framing == FRAME_CSV && framer->mode == CSV_QUOTED) ||
                (framer->framing == FRAME_ION && framer->depth > 0);
    give(framer, out, open ? "the record ends too early" : NULL);
    framer->depth = 0;
    framer->mode = 0;
    framer->escaped = false;
    return true;
}

// Before a record: at what is not white space, or at the end.
static bool find_start(struct framer *framer, struct error *error)
{
    do {
        skip_space(framer);
    } while (framer->at == framer->data.len && !framer->ended && more(framer, error));
    return error->code == ERR_NONE;
}

bool framer_next(struct framer *framer, struct frame *out, struct error *error)
{
    if (framer->framing == FRAME_DOCUMENT) {
        if (framer->closed)
            return false;
    } else if (!find_start(framer, error)) {
        return false;
    }
    for (;;) {
        enum cut cut = scan(framer);
        if (framer->framing == FRAME_DOCUMENT && !in_element(framer) && cut != CUT_HERE)
            framer->at = framer->scan;
        if (cut == CUT_HERE) {
            give(framer, out, NULL);
            return true;
        }
        if (cut == CUT_BROKEN) {
            framer->closed = true;
            give(framer, out, "this is not a JSON object");
            return true;
        }
        if (framer->closed)
            return false;
        if (framer->data.len - framer->at > FRAME_MAX)
            return skip_long(framer, out, error);
        if (framer->ended)
            return give_last(framer, out);
        if (!more(framer, error))
            return false;
    }
}
