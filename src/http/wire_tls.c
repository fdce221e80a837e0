// One connection's TLS: sealed bytes between the socket and OpenSSL, plain ones between OpenSSL and
// the connection's buffers.
//
// Reading: the loop has one buffer for sealed bytes, and they are opened at once, straight into the
// connection's read buffer. A plain byte is never more than a sealed one; so if no more is read
// than there is room for, less what OpenSSL holds of a record that is not whole (`partial`, which
// is counted here), all of it has room, and nothing waits anywhere but in the socket.
//
// Sending: a slice is sealed into the loop's other buffer and given to the kernel. Only what it
// does not take is copied, for libuv, and the next slice is sealed when that is gone. So a client
// that reads slowly holds one slice, and what is sent is borrowed as it is without TLS.
//
// The greeting (the handshake) is work: a few of them in a turn of the loop, so that a crowd of new
// clients does not hold up the others.
#include "http/http_internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLICE = 32 << 10,    // sealed at once
    TURN = 256 << 10,    // sealed in a turn of the loop
    NEXT_MAX = 64 << 10, // answers to what the client asks of TLS itself, while it takes nothing
};

static void on_flown(uv_write_t *write, int status);

// ---- OpenSSL's side ----------------------------------------------------------------------------

static ssize_t pull(void *context, void *out, size_t size)
{
    struct connection *c = context;
    struct slice *input = &c->wire->input;
    size_t len = input->len < size ? input->len : size;
    if (len == 0)
        return -1;
    memcpy(out, input->ptr, len);
    *input = slice_of(input->ptr + len, input->len - len);
    return (ssize_t)len;
}

static ssize_t push(void *context, const void *bytes, size_t size)
{
    const struct connection *c = context;
    buf_add(&c->loop->sealed_out, bytes, size);
    return c->loop->sealed_out.failed ? 0 : (ssize_t)size;
}

// ---- Sending ---------------------------------------------------------------------------------

// What the kernel has not taken is libuv's.
static bool fly(struct connection *c, struct slice rest)
{
    struct wire *w = c->wire;
    buf_clear(&w->flying);
    buf_slice(&w->flying, rest);
    if (w->flying.failed)
        return false;
    uv_buf_t part = uv_buf_init((char *)w->flying.ptr, (unsigned)w->flying.len);
    w->flies = uv_write(&c->write, (uv_stream_t *)&c->tcp, &part, 1, on_flown) == 0;
    return w->flies;
}

// Empties the loop's buffer of sealed bytes. False if the connection is of no use any more.
static bool flush(struct connection *c)
{
    struct wire *w = c->wire;
    struct buf *out = &c->loop->sealed_out;
    struct slice sealed = buf_view(out);
    bool ok = !out->failed;
    if (ok && sealed.len > 0 && w->flies) {
        buf_slice(&w->next, sealed);
        ok = !w->next.failed && w->next.len <= NEXT_MAX;
    } else if (ok && sealed.len > 0) {
        int taken = wire_try(c, sealed);
        size_t sent = taken < 0 ? 0 : (size_t)taken;
        ok = taken >= 0 || taken == UV_EAGAIN || taken == UV_EINTR;
        if (ok && sent < sealed.len)
            ok = fly(c, slice_of(sealed.ptr + sent, sealed.len - sent));
    }
    buf_clear(out);
    return ok;
}

// Seals a slice of what is left.
static bool seal_some(struct connection *c)
{
    struct wire *w = c->wire;
    for (size_t room = SLICE; room > 0 && w->plain_left > 0;) {
        uv_buf_t *part = &w->parts[w->part];
        size_t len = part->len < room ? part->len : room;
        size_t written = 0;
        if (len == 0) {
            w->part++;
            continue;
        }
        tls_errors_clear();
        if (SSL_write_ex(w->ssl, part->base, len, &written) != 1) {
            w->failed = true;
            return false;
        }
        part->base += written;
        part->len -= written;
        w->plain_left -= written;
        room -= written;
    }
    return true;
}

static enum http_piece send_on(struct connection *c)
{
    struct wire *w = c->wire;
    for (size_t sealed = 0; !w->flies; sealed += SLICE) {
        if (w->plain_left == 0) {
            w->sending = false;
            return HTTP_PIECE_TAKEN;
        }
        if (sealed >= TURN) {
            w->yields = true;
            loop_queue(c);
            return HTTP_PIECE_WAITS;
        }
        bool sealed_it = !w->failed && seal_some(c);
        if (!flush(c) || !sealed_it) {
            w->sending = false;
            w->plain_left = 0;
            return HTTP_PIECE_LOST;
        }
    }
    return HTTP_PIECE_WAITS;
}

// Goes on behind the connection's back: it hears of the end.
static void send_later(struct connection *c, int status)
{
    enum http_piece result = status == 0 ? send_on(c) : HTTP_PIECE_LOST;
    if (result == HTTP_PIECE_WAITS)
        return;
    c->wire->sending = false;
    c->wire->plain_left = 0;
    c->written(c, result == HTTP_PIECE_TAKEN ? 0 : UV_EPIPE);
}

static void on_flown(uv_write_t *write, int status)
{
    struct connection *c = write->handle->data;
    struct wire *w = c->wire;
    w->flies = false;
    if (c->state == CONNECTION_CLOSED)
        return;
    if (status == 0 && w->next.len > 0) {
        // The two change places, so that what flies stays where it is.
        struct buf behind = w->next;
        w->next = w->flying;
        w->flying = behind;
        buf_clear(&w->next);
        uv_buf_t part = uv_buf_init((char *)w->flying.ptr, (unsigned)w->flying.len);
        w->flies = uv_write(&c->write, (uv_stream_t *)&c->tcp, &part, 1, on_flown) == 0;
        status = w->flies ? 0 : UV_EPIPE;
    }
    if (w->sending && !w->flies)
        send_later(c, status);
}

enum http_piece sealed_send(struct connection *c, const uv_buf_t *parts, unsigned count)
{
    struct wire *w = c->wire;
    ensure(count <= COUNT_OF(w->parts) && !w->sending && !w->yields);
    memcpy(w->parts, parts, count * sizeof(*parts));
    w->part = 0;
    w->plain_left = 0;
    for (unsigned i = 0; i < count; i++)
        w->plain_left += parts[i].len;
    size_t total = w->plain_left;
    w->sending = true;
    enum http_piece result = send_on(c);
    size_t left = result == HTTP_PIECE_WAITS ? wire_left(c) : 0;
    c->moved += total > left ? total - left : 0;
    if (result == HTTP_PIECE_WAITS)
        c->left = left;
    return result;
}

void sealed_say(struct connection *c, struct slice line)
{
    struct wire *w = c->wire;
    size_t written = 0;
    tls_errors_clear();
    if (w->failed || SSL_write_ex(w->ssl, line.ptr, line.len, &written) != 1)
        w->failed = true;
    w->failed = !flush(c) || w->failed;
}

// ---- Reading ---------------------------------------------------------------------------------

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    (void)suggested;
    struct connection *c = handle->data;
    size_t room = READ_BITE;
    *out = uv_buf_init(NULL, 0); // which makes the read fail with UV_ENOBUFS
    if (c->state == CONNECTION_GREETING)
        room = READ_BUFFER; // what comes with the end of the greeting has room in a usual buffer
    else if (c->state != CONNECTION_LINGERING)
        room = connection_room(c);
    if (room > 0)
        *out = uv_buf_init((char *)c->loop->sealed_in,
                           (unsigned)(room < READ_BITE ? room : READ_BITE));
}

// Counts how much of a record has come that is not whole.
static void track(struct wire *w, struct slice bytes)
{
    while (bytes.len > 0) {
        size_t len = 1;
        if (w->header_len < sizeof(w->header)) {
            w->header[w->header_len++] = bytes.ptr[0];
            w->record_left = (size_t)w->header[3] << 8 | w->header[4];
        } else {
            len = bytes.len < w->record_left ? bytes.len : w->record_left;
            w->record_left -= len;
        }
        w->partial += len;
        if (w->header_len == sizeof(w->header) && w->record_left == 0)
            w->partial = w->header_len = 0;
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
    }
}

enum opened { OPENED, OPENED_END, OPENED_BAD };

// Opens what there is into the read buffer, behind its end.
static enum opened open_all(struct connection *c, size_t *got)
{
    struct wire *w = c->wire;
    *got = 0;
    while (w->input.len > 0) {
        size_t len = 0;
        size_t room = c->cap - c->len - *got;
        ensure(room > 0);
        tls_errors_clear();
        int result = SSL_read_ex(w->ssl, c->in + c->len + *got, room, &len);
        *got += len;
        if (result == 1)
            continue;
        switch (SSL_get_error(w->ssl, result)) {
        case SSL_ERROR_WANT_READ:
            break;
        case SSL_ERROR_ZERO_RETURN:
            return OPENED_END;
        default:
            w->failed = true;
            return OPENED_BAD;
        }
    }
    return OPENED;
}

// Part of a record is part of a request, and waited for as such. What TLS says to itself is not.
static void state_follow(struct connection *c)
{
    bool empty = c->begin == c->len && !c->head_done;
    c->progress = uv_now(&c->loop->uv);
    if (c->state == CONNECTION_IDLE && c->wire->partial > 0)
        connection_enter(c, CONNECTION_READING);
    else if (c->state == CONNECTION_READING && empty && c->wire->partial == 0 && !c->queued)
        connection_enter(c, CONNECTION_IDLE);
}

static void receive(struct connection *c, bool more)
{
    size_t got;
    enum opened result = open_all(c, &got);
    if (!flush(c))
        result = OPENED_BAD;
    if (got > 0)
        connection_received(c, got, more);
    else
        state_follow(c);
    if (result != OPENED && c->state != CONNECTION_CLOSED)
        connection_read_failed(c, result == OPENED_END ? UV_EOF : UV_EPROTO);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct connection *c = stream->data;
    struct wire *w = c->wire;
    if (count == 0 || c->state == CONNECTION_CLOSED)
        return;
    if (count < 0) {
        connection_read_failed(c, count);
        return;
    }
    struct slice sealed = slice_of(buffer->base, (size_t)count);
    if (c->state == CONNECTION_LINGERING) {
        connection_received(c, sealed.len, false); // thrown away as it is
        return;
    }
    if (c->state == CONNECTION_GREETING) {
        // It waits for its turn, and so does what comes behind it.
        wire_read_stop(c);
        c->moved += sealed.len;
        c->progress = uv_now(&c->loop->uv);
        buf_slice(&w->held, sealed);
        loop_queue(c);
        return;
    }
    track(w, sealed);
    w->input = sealed;
    receive(c, count >= READ_BITE);
}

bool sealed_read_start(struct connection *c)
{
    return uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) == 0;
}

// ---- The client's certificate ------------------------------------------------------------------

// Names with a NUL inside have fooled many.
static void name_copy(char out[HTTP_CERTIFICATE_NAME], const ASN1_STRING *name)
{
    uint8_t *text = NULL;
    int len = name == NULL ? -1 : ASN1_STRING_to_UTF8(&text, name);
    if (len > 0 && len < HTTP_CERTIFICATE_NAME && memchr(text, 0, (size_t)len) == NULL)
        memcpy(out, text, (size_t)len);
    OPENSSL_free(text);
}

static void names_read(X509 *peer, struct http_certificate *out)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(peer, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);
        char *to = type == GEN_URI     ? out->uri
                   : type == GEN_DNS   ? out->dns
                   : type == GEN_EMAIL ? out->email
                                       : NULL;
        if (to != NULL && to[0] == 0)
            name_copy(to, value);
    }
    GENERAL_NAMES_free(names);
}

static bool certificate_read(X509 *peer, struct http_certificate *out)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    const X509_NAME *subject = X509_get_subject_name(peer);
    int last = -1;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
        last = at;
    if (last >= 0)
        name_copy(out->common_name, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
    names_read(peer, out);
    if (X509_digest(peer, EVP_sha256(), digest, &len) != 1)
        return false;
    for (unsigned i = 0; i < len; i++)
        (void)snprintf(out->fingerprint + (size_t)2 * i, 3, "%02x", digest[i]);
    return true;
}

// Who the client is, if it has said so. A session that is resumed was verified when it began, and
// its certificate may have run out since. False: it is not to be served.
static bool client_check(struct wire *w)
{
    X509 *peer = SSL_get0_peer_certificate(w->ssl);
    if (peer == NULL)
        return true;
    if (SSL_get_verify_result(w->ssl) != X509_V_OK ||
        X509_cmp_current_time(X509_get0_notAfter(peer)) <= 0)
        return false;
    if (tls_is_own(w->ssl, peer))
        return true; // the server itself, which is nobody
    w->certificate = calloc(1, sizeof(*w->certificate));
    return w->certificate != NULL && certificate_read(peer, w->certificate);
}

// ---- The greeting ------------------------------------------------------------------------------

// A record of a handshake begins with 22; a request with a letter.
static bool is_plain_http(uint8_t first)
{
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

// Somebody speaks plain HTTP here, and is told so in plain HTTP.
static void answer_plain(struct connection *c)
{
    static const struct http_problem wrong = {
        400, "This server speaks HTTPS: the request came as plain HTTP. Use https:// in its URL."};
    sealed_free(c);
    c->paused = true; // reading goes on when it lingers
    connection_reject(c, &wrong);
}

static bool session_begin(struct connection *c)
{
    struct wire *w = c->wire;
    struct tls *tls = c->loop->server->options.tls;
    w->ssl = tls_session_new(tls);
    w->pipe = (struct tls_pipe){.pull = pull, .push = push, .context = c};
    return w->ssl != NULL && tls_session_pipe(tls, w->ssl, &w->pipe);
}

// The client is known; what came with the end of its greeting may be a request.
static void greeted(struct connection *c)
{
    struct wire *w = c->wire;
    w->agreed = true;
    connection_enter(c, CONNECTION_IDLE);
    bool room = c->cap >= READ_BUFFER || connection_grow(c, READ_BUFFER);
    if (!room || !client_check(w) || !sealed_read_start(c)) {
        connection_close(c);
        return;
    }
    if (w->input.len > 0)
        receive(c, false);
    buf_release(&w->held);
}

static void greet(struct connection *c)
{
    struct wire *w = c->wire;
    if (w->ssl == NULL && is_plain_http(w->held.ptr[0])) {
        answer_plain(c);
        return;
    }
    if (w->ssl == NULL && !session_begin(c)) {
        connection_close(c);
        return;
    }
    track(w, buf_view(&w->held));
    w->input = buf_view(&w->held);
    tls_errors_clear();
    int result = SSL_do_handshake(w->ssl);
    int why = result == 1 ? SSL_ERROR_NONE : SSL_get_error(w->ssl, result);
    w->failed = why != SSL_ERROR_NONE && why != SSL_ERROR_WANT_READ;
    tls_errors_clear();
    if (!flush(c)) {
        connection_close(c);
    } else if (w->failed) {
        c->paused = true;
        connection_linger(c); // so that it hears why
    } else if (result == 1) {
        greeted(c);
    } else {
        buf_clear(&w->held);
        if (!sealed_read_start(c))
            connection_close(c);
    }
}

void sealed_turn(struct connection *c)
{
    struct wire *w = c->wire;
    if (c->state != CONNECTION_GREETING) {
        w->yields = false;
        send_later(c, 0);
    } else if (c->loop->greetings == 0) {
        loop_queue(c);
    } else {
        c->loop->greetings--;
        greet(c);
    }
}

// ---- Life ------------------------------------------------------------------------------------

bool sealed_open(struct connection *c)
{
    struct wire *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return false;
    c->wire = w;
    w->account = (struct budget_account){.budget = c->account.budget, .overdraw = true};
    ensure(budget_take(&w->account, BUDGET_CONNECTIONS, TLS_CONNECTION));
    buf_init(&w->held, READ_BUFFER);
    buf_init_counted(&w->flying, SIZE_MAX / 2, &w->account, BUDGET_ANSWERS);
    buf_init_counted(&w->next, SIZE_MAX / 2, &w->account, BUDGET_ANSWERS);
    connection_enter(c, CONNECTION_GREETING);
    return true;
}

void sealed_end(struct connection *c)
{
    struct wire *w = c->wire;
    if (!w->agreed || w->failed || w->flies || w->sending)
        return;
    w->failed = true; // nothing is said behind it
    tls_errors_clear();
    (void)SSL_shutdown(w->ssl);
    (void)flush(c);
}

void sealed_rest(struct connection *c)
{
    struct wire *w = c->wire;
    if (w->flies)
        return;
    buf_release(&w->flying);
    buf_release(&w->next);
}

void sealed_free(struct connection *c)
{
    struct wire *w = c->wire;
    buf_release(&w->held);
    buf_release(&w->flying);
    buf_release(&w->next);
    budget_give(&w->account, BUDGET_CONNECTIONS, TLS_CONNECTION);
    SSL_free(w->ssl);
    free(w->certificate);
    free(w);
    c->wire = NULL;
}
