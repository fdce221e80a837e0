// Responses: the same calls write XML, as the Query protocol has it, JSON or CBOR.
#include "base/time_text.h"
#include "watch/watch_internal.h"

static void xml_tag(struct answer *answer, const char *before, const char *name)
{
    buf_text(answer->out, before);
    buf_text(answer->out, name);
    buf_byte(answer->out, '>');
}

static void xml_text(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '<')
            buf_text(out, "&lt;");
        else if (c == '>')
            buf_text(out, "&gt;");
        else if (c == '&')
            buf_text(out, "&amp;");
        else
            buf_byte(out, c < ' ' && c != '\n' && c != '\t' ? '?' : c);
    }
}

// ---- Structures and lists ----------------------------------------------------------------------

void answer_open(struct answer *answer, const char *name)
{
    switch (answer->protocol) {
    case WATCH_QUERY:
        xml_tag(answer, "<", name);
        break;
    case WATCH_JSON:
        json_put_object(&answer->w, name);
        break;
    case WATCH_CBOR:
        cbor_text(answer->out, slice_str(name));
        cbor_open(answer->out, true);
        break;
    }
}

static void close_structure(struct answer *answer, const char *name)
{
    if (answer->protocol == WATCH_QUERY)
        xml_tag(answer, "</", name);
    else if (answer->protocol == WATCH_JSON)
        json_close_object(&answer->w);
    else
        cbor_close(answer->out);
}

void answer_close(struct answer *answer, const char *name)
{
    close_structure(answer, name);
}

void answer_open_list(struct answer *answer, const char *name)
{
    switch (answer->protocol) {
    case WATCH_QUERY:
        xml_tag(answer, "<", name);
        break;
    case WATCH_JSON:
        json_put_array(&answer->w, name);
        break;
    case WATCH_CBOR:
        cbor_text(answer->out, slice_str(name));
        cbor_open(answer->out, false);
        break;
    }
}

void answer_close_list(struct answer *answer, const char *name)
{
    if (answer->protocol == WATCH_JSON)
        json_close_array(&answer->w);
    else
        close_structure(answer, name);
}

void answer_open_member(struct answer *answer)
{
    if (answer->protocol == WATCH_QUERY)
        xml_tag(answer, "<", "member");
    else if (answer->protocol == WATCH_JSON)
        json_open_object(&answer->w);
    else
        cbor_open(answer->out, true);
}

void answer_close_member(struct answer *answer)
{
    close_structure(answer, "member");
}

// ---- Values ------------------------------------------------------------------------------------

// A name, or (NULL) a member of a list.
static void begin(struct answer *answer, const char *name)
{
    if (answer->protocol == WATCH_QUERY)
        xml_tag(answer, "<", name == NULL ? "member" : name);
    else if (answer->protocol == WATCH_CBOR && name != NULL)
        cbor_text(answer->out, slice_str(name));
    else if (answer->protocol == WATCH_JSON && name != NULL)
        json_name(&answer->w, name);
    else if (answer->protocol == WATCH_JSON && answer->w.comma)
        buf_byte(answer->out, ',');
}

static void end(struct answer *answer, const char *name)
{
    if (answer->protocol == WATCH_QUERY)
        xml_tag(answer, "</", name == NULL ? "member" : name);
    else
        answer->w.comma = true;
}

void answer_text(struct answer *answer, const char *name, struct slice text)
{
    if (answer->protocol == WATCH_JSON && name == NULL) {
        json_string(&answer->w, text);
        return;
    }
    begin(answer, name);
    if (answer->protocol == WATCH_JSON)
        json_string(&answer->w, text);
    else if (answer->protocol == WATCH_CBOR)
        cbor_text(answer->out, text);
    else
        xml_text(answer->out, text);
    end(answer, name);
}

void answer_number(struct answer *answer, const char *name, double number)
{
    begin(answer, name);
    if (answer->protocol == WATCH_CBOR)
        cbor_double(answer->out, number);
    else
        buf_printf(answer->out, "%.15g", number);
    end(answer, name);
}

void answer_integer(struct answer *answer, const char *name, int64_t number)
{
    begin(answer, name);
    if (answer->protocol == WATCH_CBOR)
        cbor_integer(answer->out, (uint32_t)number);
    else
        buf_printf(answer->out, "%lld", (long long)number);
    end(answer, name);
}

void answer_flag(struct answer *answer, const char *name, bool flag)
{
    begin(answer, name);
    if (answer->protocol == WATCH_CBOR)
        cbor_flag(answer->out, flag);
    else
        buf_text(answer->out, flag ? "true" : "false");
    end(answer, name);
}

void answer_time(struct answer *answer, const char *name, int64_t ms)
{
    char text[TIME_TEXT];
    begin(answer, name);
    time_text(ms, text);
    if (answer->protocol == WATCH_CBOR)
        cbor_time(answer->out, ms);
    else if (answer->protocol == WATCH_JSON)
        buf_printf(answer->out, "%.3f", (double)ms / 1000);
    else
        buf_text(answer->out, text);
    end(answer, name);
}
