// See chunked.h. A state machine over bytes, except for payload, which is moved whole.
#include "http/chunked.h"

enum step {
    SIZE,       // hexadecimal digits
    SIZE_SPACE, // white space behind them, as some clients send it
    EXTENSION,  // up to CR
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, // up to CR; an empty line ends the body
    TRAILER_LF,
    FINISHED,
    FAILED,
};

static enum step fail(struct http_problem *problem, int status, const char *reason)
{
    *problem = (struct http_problem){status, reason};
    return FAILED;
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum step size_step(struct http_chunked *state, uint8_t c, struct http_problem *problem)
{
    int digit = hex_value(c);
    if (digit >= 0) {
        if (++state->digits > 15)
            return fail(problem, 400, "A chunk's size is too large.");
        state->left = state->left << 4 | (unsigned)digit;
        return SIZE;
    }
    if (state->digits == 0)
        return fail(problem, 400, "A chunk's size is missing.");
    if (c == '\r')
        return SIZE_LF;
    if (c == ';')
        return EXTENSION;
    if (c == ' ' || c == '\t')
        return SIZE_SPACE;
    return fail(problem, 400, "A chunk's size is not a number.");
}

// A byte of an extension or a trailer: text, and not too much of it.
static bool extra_valid(struct http_chunked *state, uint8_t c, struct http_problem *problem)
{
    if ((c < 0x20 && c != '\t') || c == 0x7f) {
        (void)fail(problem, 400, "A chunk extension or trailer holds a control character.");
        return false;
    }
    if (++state->extras > HTTP_CHUNK_EXTRAS_MAX) {
        (void)fail(problem, 431, "Chunk extensions and trailers are too large.");
        return false;
    }
    return true;
}

// Nothing but the end of the line or an extension may follow.
static enum step space_step(struct http_chunked *state, uint8_t c, struct http_problem *problem)
{
    if (c == '\r')
        return SIZE_LF;
    if (c != ';' && c != ' ' && c != '\t')
        return fail(problem, 400, "A chunk's size is not a number.");
    if (!extra_valid(state, c, problem))
        return FAILED;
    return c == ';' ? EXTENSION : SIZE_SPACE;
}

static enum step size_end(struct http_chunked *state, uint64_t max, struct http_problem *problem)
{
    if (state->left > max - state->total)
        return fail(problem, 413, "The request body is too large.");
    state->total += state->left;
    state->digits = 0;
    state->line_empty = true;
    return state->left == 0 ? TRAILER : DATA;
}

static enum step byte_step(struct http_chunked *state, uint64_t max, uint8_t c,
                           struct http_problem *problem)
{
    enum step step = state->step;
    switch (step) {
    case SIZE:
        return size_step(state, c, problem);
    case SIZE_SPACE:
        return space_step(state, c, problem);
    case EXTENSION:
        if (c == '\r')
            return SIZE_LF;
        return extra_valid(state, c, problem) ? EXTENSION : FAILED;
    case SIZE_LF:
        if (c == '\n')
            return size_end(state, max, problem);
        break;
    case DATA_CR:
        if (c == '\r')
            return DATA_LF;
        break;
    case DATA_LF:
        if (c == '\n')
            return SIZE;
        break;
    case TRAILER:
        if (c == '\r')
            return TRAILER_LF;
        state->line_empty = false;
        return extra_valid(state, c, problem) ? TRAILER : FAILED;
    case TRAILER_LF:
        if (c != '\n')
            break;
        if (state->line_empty)
            return FINISHED;
        state->line_empty = true;
        return TRAILER;
    case DATA:
    case FINISHED:
    case FAILED:
        break;
    }
    return fail(problem, 400, "The chunked body is malformed.");
}

enum http_parse http_chunked_decode(struct http_chunked *state, uint64_t max, const uint8_t *in,
                                    size_t len, uint8_t *out, size_t *consumed, size_t *produced,
                                    struct http_problem *problem)
{
    size_t at = 0;
    size_t written = 0;
    while (at < len && state->step < FINISHED) {
        if (state->step != DATA) {
            state->step = byte_step(state, max, in[at++], problem);
            continue;
        }
        size_t piece = len - at < state->left ? len - at : (size_t)state->left;
        memmove(out + written, in + at, piece);
        at += piece;
        written += piece;
        state->left -= piece;
        if (state->left == 0)
            state->step = DATA_CR;
    }
    *consumed = at;
    *produced = written;
    if (state->step == FAILED)
        return HTTP_BAD;
    return state->step == FINISHED ? HTTP_DONE : HTTP_MORE;
}
