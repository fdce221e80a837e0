// Collecting diagnostics, and showing them: the line as the file has it with a caret below. Tabs
// are shown as spaces up to the next multiple of four, columns count characters, and of a long line
// only what surrounds the place is shown.
#include "model/diagnostic.h"

#include "json/writer.h"

#include <stdarg.h>
#include <stdio.h>

enum { TAB = 4, SHOWN = 100, AROUND = 40 }; // columns

void diagnostics_init(struct diagnostics *diagnostics, struct arena *arena)
{
    diagnostics->arena = arena;
    diagnostics->count = 0;
    diagnostics->errors = 0;
    diagnostics->lost = 0;
}

void diagnostic_add(struct diagnostics *diagnostics, struct diagnostic diagnostic)
{
    if (diagnostic.severity == SEVERITY_ERROR)
        diagnostics->errors++;
    if (diagnostics->count == DIAGNOSTICS_MAX) {
        diagnostics->lost++;
        return;
    }
    diagnostics->list[diagnostics->count++] = diagnostic;
}

static void add_formatted(struct diagnostics *diagnostics, enum severity severity,
                          struct model_place at, const char *format, va_list arguments)
{
    char text[2048];
    (void)vsnprintf(text, sizeof text, format, arguments);
    struct slice kept = arena_copy(diagnostics->arena, slice_str(text));
    const char *message = kept.ptr == NULL ? "out of memory" : (const char *)kept.ptr;
    diagnostic_add(diagnostics,
                   (struct diagnostic){.severity = severity, .at = at, .message = message});
}

bool diagnostic_error(struct diagnostics *diagnostics, struct model_place at, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(diagnostics, SEVERITY_ERROR, at, format, arguments);
    va_end(arguments);
    return false;
}

void diagnostic_warning(struct diagnostics *diagnostics, struct model_place at, const char *format,
                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(diagnostics, SEVERITY_WARNING, at, format, arguments);
    va_end(arguments);
}

static bool comes_after(const struct diagnostic *a, const struct diagnostic *b)
{
    if (a->at.line != b->at.line)
        return a->at.line > b->at.line;
    return a->at.column > b->at.column;
}

void diagnostics_sort(struct diagnostics *diagnostics)
{
    // A hundred at most, nearly in order: insertion, which keeps equal places in their order.
    for (size_t i = 1; i < diagnostics->count; i++) {
        struct diagnostic moved = diagnostics->list[i];
        size_t at = i;
        for (; at > 0 && comes_after(&diagnostics->list[at - 1], &moved); at--)
            diagnostics->list[at] = diagnostics->list[at - 1];
        diagnostics->list[at] = moved;
    }
}

void diagnostic_file_mark(struct buf *out, struct slice file, uint32_t line)
{
    buf_printf(out, DIAGNOSTIC_FILE_MARK "%u %.*s\n", line, SLICE_FMT(file));
}

// What a mark says: the number and the name behind it. False if it is none.
static bool read_mark(struct slice line, struct slice *file, uint32_t *number)
{
    struct slice mark = SLICE_LIT(DIAGNOSTIC_FILE_MARK);
    size_t at = mark.len;
    if (!slice_begins(line, mark))
        return false;
    uint64_t value = 0;
    for (; at < line.len && line.ptr[at] >= '0' && line.ptr[at] <= '9' && value < UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(line.ptr[at] - '0');
    if (at == mark.len || at >= line.len || line.ptr[at] != ' ' || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    *file = slice_of(line.ptr + at + 1, line.len - at - 1);
    return true;
}

struct slice diagnostic_source(struct slice file, struct slice text, uint32_t *line)
{
    uint32_t wanted = *line;
    struct slice left = text;
    for (uint32_t n = 1; n < wanted && left.len > 0; n++) {
        const uint8_t *end = memchr(left.ptr, '\n', left.len);
        size_t len = end == NULL ? left.len : (size_t)(end - left.ptr);
        uint32_t number = 0;
        if (read_mark(slice_of(left.ptr, len), &file, &number))
            *line = number + (wanted - n - 1);
        left = slice_of(left.ptr + len + (end != NULL), left.len - len - (end != NULL));
    }
    return file;
}

static struct slice find_line(struct slice text, uint32_t line)
{
    size_t start = 0;
    for (uint32_t n = 1; n < line; n++) {
        const uint8_t *end =
            start < text.len ? memchr(text.ptr + start, '\n', text.len - start) : NULL;
        if (end == NULL)
            return (struct slice){0};
        start = (size_t)(end - text.ptr) + 1;
    }
    if (start >= text.len)
        return slice_of(text.ptr, 0);
    const uint8_t *end = memchr(text.ptr + start, '\n', text.len - start);
    size_t stop = end == NULL ? text.len : (size_t)(end - text.ptr);
    if (stop > start && text.ptr[stop - 1] == '\r')
        stop--;
    return slice_of(text.ptr + start, stop - start);
}

// Columns on the screen up to the byte `upto` of a line.
static size_t columns(struct slice line, size_t upto)
{
    size_t column = 0;
    for (size_t i = 0; i < upto && i < line.len; i++) {
        if (line.ptr[i] == '\t')
            column += TAB - column % TAB;
        else if ((line.ptr[i] & 0xc0) != 0x80)
            column++;
    }
    return column;
}

// The columns from `from` to `to` of a line; what is no text is shown as "?".
static void show_columns(struct slice line, size_t from, size_t to, struct buf *out)
{
    size_t column = 0;
    for (size_t i = 0; i < line.len; i++) {
        uint8_t c = line.ptr[i];
        if (c == '\t') {
            size_t next = column + TAB - column % TAB;
            for (; column < next; column++)
                if (column >= from && column < to)
                    buf_byte(out, ' ');
            continue;
        }
        bool inside = (c & 0xc0) == 0x80; // of a character whose column is counted already
        size_t own = inside && column > 0 ? column - 1 : column;
        if (own >= from && own < to)
            buf_byte(out, c < 0x20 || c == 0x7f ? '?' : c);
        if (!inside)
            column++;
    }
}

static void repeat(struct buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_byte(out, (uint8_t)c);
}

static void show_place(const struct model_place *at, uint32_t shown, struct slice text,
                       struct buf *out)
{
    struct slice line = find_line(text, at->line);
    if (line.ptr == NULL)
        return;
    size_t start_byte = at->column - 1;
    if (start_byte > line.len)
        start_byte = line.len;
    size_t length = at->length > line.len - start_byte ? line.len - start_byte : at->length;
    size_t start = columns(line, start_byte);
    size_t end = columns(line, start_byte + length);
    size_t whole = columns(line, line.len);
    size_t from = whole > SHOWN && start > AROUND ? start - AROUND : 0;
    size_t to = whole - from > SHOWN ? from + SHOWN : whole;
    buf_printf(out, "%5u | %s", shown, from > 0 ? "…" : "");
    show_columns(line, from, to, out);
    buf_text(out, to < whole ? "…\n" : "\n");
    buf_text(out, "      | ");
    repeat(out, ' ', start - from + (from > 0 ? 1 : 0));
    buf_byte(out, '^');
    if (end > to)
        end = to;
    if (end > start + 1)
        repeat(out, '~', end - start - 1);
    buf_byte(out, '\n');
}

static const char *severity_name(enum severity severity)
{
    return severity == SEVERITY_ERROR ? "error" : severity == SEVERITY_WARNING ? "warning" : "note";
}

// The column a reader counts: in characters.
static unsigned shown_column(const struct model_place *at, struct slice text)
{
    struct slice line = find_line(text, at->line);
    unsigned column = 1;
    for (size_t i = 0; i + 1 < at->column && i < line.len; i++)
        if ((line.ptr[i] & 0xc0) != 0x80)
            column++;
    return column;
}

void diagnostic_show(const struct diagnostic *diagnostic, struct slice file, struct slice text,
                     struct buf *out)
{
    const struct model_place *at = &diagnostic->at;
    uint32_t line = at->line;
    buf_slice(out, diagnostic_source(file, text, &line));
    if (at->line > 0)
        buf_printf(out, ":%u:%u", line, shown_column(at, text));
    buf_printf(out, ": %s", severity_name(diagnostic->severity));
    if (diagnostic->code != NULL)
        buf_printf(out, " %s", diagnostic->code);
    buf_text(out, ": ");
    buf_text(out, diagnostic->message);
    buf_byte(out, '\n');
    if (at->line > 0)
        show_place(at, line, text, out);
    if (diagnostic->help != NULL) {
        buf_text(out, "      = ");
        buf_text(out, diagnostic->help);
        buf_byte(out, '\n');
    }
}

void diagnostics_show(const struct diagnostics *diagnostics, struct slice file, struct slice text,
                      struct buf *out)
{
    for (size_t i = 0; i < diagnostics->count; i++)
        diagnostic_show(&diagnostics->list[i], file, text, out);
    if (diagnostics->lost > 0) {
        buf_slice(out, file);
        buf_printf(out, ": and %zu more\n", diagnostics->lost);
    }
}

void diagnostics_json(const struct diagnostics *diagnostics, struct slice file, struct slice text,
                      struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_open_array(&w);
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *d = &diagnostics->list[i];
        json_open_object(&w);
        uint32_t line = d->at.line;
        json_put_string(&w, "file", diagnostic_source(file, text, &line));
        json_put_integer(&w, "line", line);
        json_put_integer(&w, "column", d->at.column);
        json_put_integer(&w, "length", d->at.length);
        json_put_text(&w, "severity", severity_name(d->severity));
        if (d->code != NULL)
            json_put_text(&w, "code", d->code);
        json_put_text(&w, "message", d->message);
        if (d->help != NULL)
            json_put_text(&w, "help", d->help);
        json_close_object(&w);
    }
    json_close_array(&w);
}
