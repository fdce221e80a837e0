// Documents of our own, written as they look: see json_form() in writer.h. For what is made now and
// then; answers that are made often are put together by the functions beside it.
#include "json/writer.h"

// Whether a comma is due behind a piece that ends so.
static bool ends_value(char last)
{
    return strchr("{[:,", last) == NULL;
}

// A list of arguments that functions can take from in turn.
struct arguments {
    va_list left;
};

// Fills the hole whose letters begin at `hole`; answers the last of them.
static const char *put_hole(struct buf *out, const char *hole, struct arguments *args)
{
    struct json_writer alone = json_writer_to(out);
    if (*hole == 's') {
        json_text(&alone, va_arg(args->left, const char *));
        return hole;
    }
    if (*hole == 'd') {
        json_i64(&alone, va_arg(args->left, int));
        return hole;
    }
    if (strncmp(hole, "zu", 2) == 0) {
        buf_u64(out, va_arg(args->left, size_t));
        return hole + 1;
    }
    if (strncmp(hole, "lld", 3) == 0)
        json_i64(&alone, va_arg(args->left, long long));
    else if (strncmp(hole, "hhd", 3) == 0)
        json_bool(&alone, va_arg(args->left, int) != 0);
    else {
        ensure(strncmp(hole, ".*s", 3) == 0);
        size_t len = (size_t)va_arg(args->left, int);
        json_string(&alone, slice_of(va_arg(args->left, const char *), len));
    }
    return hole + 2;
}

void json_form_list(struct json_writer *w, const char *form, va_list list)
{
    struct arguments args;
    const char *at = form;
    ensure(*form != 0);
    if (w->comma && *form != '}' && *form != ']')
        buf_byte(w->out, ',');
    va_copy(args.left, list);
    for (; *at != 0; at++) {
        if (*at == '%')
            at = put_hole(w->out, at + 1, &args);
        else
            buf_byte(w->out, *at == '\'' ? '"' : (uint8_t)*at);
    }
    va_end(args.left);
    w->comma = ends_value(at[-1]);
}

void json_form(struct json_writer *w, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    json_form_list(w, form, args);
    va_end(args);
}
