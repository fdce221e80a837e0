// What TLS adds to a server: certificates, sessions, clients' names, those who do not speak it.
// That requests and answers are the same over TLS is shown by test_server_tls.c and its like.
#define HTTP_TLS
#include "base/buf.h"
#include "http/http.h"
#include "http/tls_internal.h"

#include "http/peer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
    struct peer_files files;
    struct certificate_wish wish;
    struct tls *tls;
    struct http_server *server;
    SSL_CTX *context; // a client's
    SSL_SESSION *session;
    char error[512];
};

// ---- The handler -----------------------------------------------------------------------------

struct talk {
    char text[2048];
};

static bool on_open(struct http_exchange *exchange, void *context)
{
    (void)context;
    exchange->user = calloc(1, sizeof(struct talk));
    return exchange->user != NULL;
}

// Says who asks.
static void on_handle(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct talk *talk = exchange->user;
    const struct http_certificate *shown = http_exchange_certificate(exchange);
    if (shown == NULL)
        (void)snprintf(talk->text, sizeof(talk->text), "<%s nobody>",
                       http_exchange_secure(exchange) ? "secure" : "plain");
    else
        (void)snprintf(talk->text, sizeof(talk->text), "<%s|%s|%s|%s|%s>", shown->common_name,
                       shown->uri, shown->dns, shown->email, shown->fingerprint);
    http_respond(exchange, &(struct http_response){.status = 200, .body = slice_str(talk->text)});
}

static void on_nothing(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    (void)context;
}

static void on_close(struct http_exchange *exchange, void *context)
{
    (void)context;
    free(exchange->user);
}

static void on_reject(struct http_exchange *exchange, const struct http_problem *problem,
                      void *context)
{
    (void)context;
    http_respond(exchange, &(struct http_response){.status = problem->status,
                                                   .body = slice_str(problem->reason)});
}

// ---- The fixture -----------------------------------------------------------------------------

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct fixture *f = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    SSL_SESSION_free(f->session);
    f->session = session;
    return 1;
}

static SSL_CTX *client_context(struct fixture *f)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_app_data(context, f);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(context, on_session);
    assert_int_equal(SSL_CTX_load_verify_file(context, f->files.paths[0]), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

static void serve(struct fixture *f, const char *client_ca, bool required, unsigned request_ms)
{
    struct http_options options = {.host = "127.0.0.1",
                                   .threads = 1,
                                   .max_body = 1 << 20,
                                   .request_ms = request_ms,
                                   .handler = {.open = on_open,
                                               .handle = on_handle,
                                               .resume = on_nothing,
                                               .sent = on_nothing,
                                               .close = on_close,
                                               .reject = on_reject}};
    f->tls = tls_open(&(struct tls_options){.certificate = f->files.paths[2],
                                            .key = f->files.paths[3],
                                            .client_ca = client_ca,
                                            .client_required = required},
                      f->error, sizeof(f->error));
    assert_non_null(f->tls);
    options.tls = f->tls;
    f->server = http_server_start(&options, f->error, sizeof(f->error));
    assert_non_null(f->server);
}

static int begin(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->wish = peer_files_make(&f->files);
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    f->wish.replace = true;
    f->context = client_context(f);
    (void)signal(SIGPIPE, SIG_IGN);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    if (f->server != NULL) {
        http_server_stop(f->server);
        http_server_free(f->server);
    }
    tls_close(f->tls);
    SSL_SESSION_free(f->session);
    SSL_CTX_free(f->context);
    assert_true(directory_remove(f->files.directory));
    free(f);
    return 0;
}

struct client {
    int fd;
    SSL *ssl;
};

static bool client_try(struct fixture *f, struct client *client)
{
    client->fd = peer_connect(http_server_port(f->server), 20);
    client->ssl = SSL_new(f->context);
    assert_true(client->fd >= 0 && SSL_set_fd(client->ssl, client->fd) == 1);
    return SSL_connect(client->ssl) == 1;
}

// OpenSSL forgets the session of a connection that does not say goodbye.
static void client_end(struct client *client)
{
    if (SSL_is_init_finished(client->ssl))
        (void)SSL_shutdown(client->ssl);
    ERR_clear_error();
    SSL_free(client->ssl);
    (void)close(client->fd);
}

// Sends bytes and reads until `until`, or the end.
static bool client_hears(const struct client *client, const char *sent, const char *until,
                         char *out, size_t size)
{
    size_t len = 0;
    if (sent != NULL && SSL_write(client->ssl, sent, (int)strlen(sent)) <= 0)
        return false;
    out[0] = 0;
    while (len + 1 < size && strstr(out, until) == NULL) {
        int got = SSL_read(client->ssl, out + len, (int)(size - len - 1));
        if (got <= 0)
            return false;
        len += (size_t)got;
        out[len] = 0;
    }
    return true;
}

#define GET "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

static void ask(struct fixture *f, const char *expected)
{
    struct client client;
    char got[4096];
    assert_true(client_try(f, &client));
    assert_true(client_hears(&client, GET, ">", got, sizeof(got)));
    if (strstr(got, expected) == NULL)
        fail_msg("'%s' is not in '%s'", expected, got);
    client_end(&client);
}

static void wait_for_end(int fd)
{
    char got[4096];
    while (recv(fd, got, sizeof(got), 0) > 0)
        continue;
    (void)close(fd);
}

// ---- Versions and protocols ------------------------------------------------------------------

static void speaks_both_versions(void **state)
{
    struct fixture *f = *state;
    serve(f, NULL, false, 0);
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        assert_int_equal(SSL_CTX_set_min_proto_version(f->context, versions[i]), 1);
        assert_int_equal(SSL_CTX_set_max_proto_version(f->context, versions[i]), 1);
        ask(f, "<secure nobody>");
    }
    assert_int_equal(SSL_CTX_set_min_proto_version(f->context, TLS1_1_VERSION), 1);
    assert_int_equal(SSL_CTX_set_max_proto_version(f->context, TLS1_1_VERSION), 1);
    assert_int_equal(SSL_CTX_set_cipher_list(f->context, "ALL:@SECLEVEL=0"), 1);
    struct client client;
    assert_false(client_try(f, &client));
    client_end(&client);
}

static void speaks_http_1_1_alone(void **state)
{
    struct fixture *f = *state;
    struct client client;
    const unsigned char *chosen;
    unsigned len;
    serve(f, NULL, false, 0);
    assert_int_equal(SSL_CTX_set_alpn_protos(f->context, (const uint8_t *)"\x02h2\x08http/1.1", 12),
                     0);
    assert_true(client_try(f, &client));
    SSL_get0_alpn_selected(client.ssl, &chosen, &len);
    assert_int_equal(len, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    client_end(&client);
    assert_int_equal(SSL_CTX_set_alpn_protos(f->context, (const uint8_t *)"\x02h2", 3), 0);
    assert_false(client_try(f, &client));
    client_end(&client);
}

static void refuses_renegotiation(void **state)
{
    struct fixture *f = *state;
    struct client client;
    char got[4096];
    serve(f, NULL, false, 0);
    assert_int_equal(SSL_CTX_set_max_proto_version(f->context, TLS1_2_VERSION), 1);
    assert_true(client_try(f, &client));
    assert_true(client_hears(&client, GET, ">", got, sizeof(got)));
    assert_int_equal(SSL_renegotiate(client.ssl), 1);
    assert_true(SSL_do_handshake(client.ssl) != 1 || SSL_renegotiate_pending(client.ssl) != 0 ||
                !client_hears(&client, GET, ">", got, sizeof(got)));
    client_end(&client);
    ask(f, "<secure nobody>");
}

// ---- Those who do not speak it -----------------------------------------------------------------

static void tells_plain_http(void **state)
{
    struct fixture *f = *state;
    char got[4096];
    serve(f, NULL, false, 0);
    int fd = peer_connect(http_server_port(f->server), 20);
    assert_int_equal(send(fd, GET, strlen(GET), MSG_NOSIGNAL), (ssize_t)strlen(GET));
    size_t len = 0;
    for (ssize_t part; (part = recv(fd, got + len, sizeof(got) - len - 1, 0)) > 0;)
        len += (size_t)part;
    got[len] = 0;
    assert_non_null(strstr(got, "HTTP/1.1 400 Bad Request\r\n"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    assert_non_null(strstr(got, "This server speaks HTTPS"));
    (void)close(fd);
}

static void bears_garbage(void **state)
{
    struct fixture *f = *state;
    serve(f, NULL, false, 0);
    uint32_t seed = 7;
    for (int round = 0; round < 200; round++) {
        uint8_t bytes[300];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(seed >> 24);
        }
        if (round % 2 == 0)
            memcpy(bytes, "\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03", 11); // like a hello
        int fd = peer_connect(http_server_port(f->server), 20);
        (void)send(fd, bytes, sizeof(bytes) - (size_t)round, MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_WR);
        wait_for_end(fd);
    }
    ask(f, "<secure nobody>");
}

// Who connects and says nothing, or half of a hello, is cut as a slow request is.
static void cuts_slow_greetings(void **state)
{
    struct fixture *f = *state;
    serve(f, NULL, false, 400);
    int silent = peer_connect(http_server_port(f->server), 20);
    int half = peer_connect(http_server_port(f->server), 20);
    assert_int_equal(send(half, "\x16\x03\x01\x02\x00\x01", 6, MSG_NOSIGNAL), 6);
    struct client agreed;
    assert_true(client_try(f, &agreed));
    wait_for_end(silent);
    wait_for_end(half);
    // Half of a record is part of a request: it is told.
    char got[4096];
    assert_true(client_hears(&agreed, GET, ">", got, sizeof(got)));
    assert_int_equal(send(agreed.fd, "\x17\x03\x03\x00\x40half", 9, MSG_NOSIGNAL), 9);
    assert_true(client_hears(&agreed, NULL, "took too long", got, sizeof(got)));
    assert_non_null(strstr(got, "HTTP/1.1 408 "));
    client_end(&agreed);
}

// ---- The end ---------------------------------------------------------------------------------

static void says_goodbye(void **state)
{
    struct fixture *f = *state;
    struct client client;
    char got[4096];
    serve(f, NULL, false, 0);
    assert_true(client_try(f, &client));
    assert_false(
        client_hears(&client, "GET / HTTP/1.0\r\nHost: h\r\n\r\n", "never", got, sizeof(got)));
    assert_non_null(strstr(got, "<secure nobody>"));
    assert_true((SSL_get_shutdown(client.ssl) & SSL_RECEIVED_SHUTDOWN) != 0);
    client_end(&client);
}

static void answers_the_half_closed(void **state)
{
    struct fixture *f = *state;
    struct client client;
    char got[4096];
    serve(f, NULL, false, 0);
    assert_true(client_try(f, &client));
    assert_int_equal(SSL_write(client.ssl, GET, (int)strlen(GET)), (int)strlen(GET));
    assert_true(SSL_shutdown(client.ssl) >= 0);
    (void)shutdown(client.fd, SHUT_WR);
    assert_true(client_hears(&client, NULL, "<secure nobody>", got, sizeof(got)));
    client_end(&client);
}

static void survives_key_updates(void **state)
{
    struct fixture *f = *state;
    struct client client;
    char got[4096];
    serve(f, NULL, false, 0);
    assert_int_equal(SSL_CTX_set_min_proto_version(f->context, TLS1_3_VERSION), 1);
    assert_true(client_try(f, &client));
    for (int i = 0; i < 20; i++) {
        assert_int_equal(SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_true(client_hears(&client, GET, ">", got, sizeof(got)));
    }
    client_end(&client);
}

// ---- Sessions --------------------------------------------------------------------------------

// Whether a second connection is resumed. It reads an answer, since tickets come before it.
static bool resumes(struct fixture *f)
{
    struct client client;
    char got[4096];
    client.fd = peer_connect(http_server_port(f->server), 20);
    client.ssl = SSL_new(f->context);
    assert_int_equal(SSL_set_fd(client.ssl, client.fd), 1);
    if (f->session != NULL)
        assert_int_equal(SSL_set_session(client.ssl, f->session), 1);
    assert_int_equal(SSL_connect(client.ssl), 1);
    bool reused = SSL_session_reused(client.ssl) == 1;
    assert_true(client_hears(&client, GET, ">", got, sizeof(got)));
    // A ticket that takes the place of another is not told to on_session in TLS 1.2.
    SSL_SESSION_free(f->session);
    f->session = SSL_get1_session(client.ssl);
    client_end(&client);
    return reused;
}

static void resumes_sessions(void **state)
{
    struct fixture *f = *state;
    serve(f, NULL, false, 0);
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        assert_int_equal(SSL_CTX_set_min_proto_version(f->context, versions[i]), 1);
        assert_int_equal(SSL_CTX_set_max_proto_version(f->context, versions[i]), 1);
        SSL_SESSION_free(f->session);
        f->session = NULL;
        assert_false(resumes(f));
        assert_true(resumes(f));
        // The certificate changes, the keys of tickets do not.
        assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
        assert_true(tls_reload(f->tls));
        assert_true(resumes(f));
        // They change by the hour, and the last eight are known.
        for (int hour = 0; hour < 9; hour++) {
            tls_tickets_age(f->tls, 3600);
            assert_true(resumes(f));
        }
        SSL_SESSION *old = f->session;
        assert_int_equal(SSL_SESSION_up_ref(old), 1);
        for (int hour = 0; hour < 9; hour++) {
            tls_tickets_age(f->tls, 3600);
            assert_true(resumes(f));
        }
        SSL_SESSION_free(f->session);
        f->session = old;
        assert_false(resumes(f));
    }
}

// ---- Clients' certificates ---------------------------------------------------------------------

static void client_shows(struct fixture *f, const char *name, char fingerprint[65])
{
    struct certificate_wish wish = f->wish;
    char certificate[128];
    char key[128];
    (void)snprintf(certificate, sizeof(certificate), "%s/%s.pem", f->files.directory, name);
    (void)snprintf(key, sizeof(key), "%s/%s.key", f->files.directory, name);
    wish.certificate = certificate;
    wish.key = key;
    wish.client = name;
    assert_true(certificate_make(&wish, f->error, sizeof(f->error)));
    assert_true(certificate_fingerprint(certificate, fingerprint, f->error, sizeof(f->error)));
    assert_int_equal(SSL_CTX_use_certificate_chain_file(f->context, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(f->context, key, SSL_FILETYPE_PEM), 1);
}

static void knows_clients(void **state)
{
    struct fixture *f = *state;
    char fingerprint[65];
    char expected[256];
    serve(f, f->files.paths[0], false, 0);
    ask(f, "<secure nobody>");
    client_shows(f, "alice", fingerprint);
    (void)snprintf(expected, sizeof(expected), "<alice||||%s>", fingerprint);
    ask(f, expected);
    // Also if the session is resumed.
    SSL_SESSION_free(f->session);
    f->session = NULL;
    assert_false(resumes(f));
    assert_true(resumes(f));
    ask(f, expected);
}

static void requires_clients(void **state)
{
    struct fixture *f = *state;
    char fingerprint[65];
    char got[4096];
    struct client client;
    serve(f, f->files.paths[0], true, 0);
    // With TLS 1.3 a client hears of it when it reads.
    assert_false(client_try(f, &client) && client_hears(&client, GET, ">", got, sizeof(got)));
    client_end(&client);
    client_shows(f, "bob", fingerprint);
    ask(f, "<bob|");
    // One of another authority.
    struct peer_files others;
    struct certificate_wish wish = peer_files_make(&others);
    wish.client = "mallory";
    assert_true(certificate_make(&wish, f->error, sizeof(f->error)));
    assert_int_equal(SSL_CTX_use_certificate_chain_file(f->context, wish.certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(f->context, wish.key, SSL_FILETYPE_PEM), 1);
    assert_false(client_try(f, &client) && client_hears(&client, GET, ">", got, sizeof(got)));
    client_end(&client);
    assert_true(directory_remove(others.directory));
    // The server itself may come, and is nobody.
    assert_int_equal(SSL_CTX_use_certificate_chain_file(f->context, f->files.paths[2]), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(f->context, f->files.paths[3], SSL_FILETYPE_PEM),
                     1);
    ask(f, "<secure nobody>");
}

// Sessions end with the authority that their clients were known by.
static void forgets_clients_of_other_authorities(void **state)
{
    struct fixture *f = *state;
    char fingerprint[65];
    char path[128];
    struct buf bytes;
    (void)snprintf(path, sizeof(path), "%s/clients.pem", f->files.directory);
    assert_int_equal(link(f->files.paths[0], path), 0);
    serve(f, path, false, 0);
    client_shows(f, "carol", fingerprint);
    assert_false(resumes(f));
    assert_true(resumes(f));
    struct peer_files others;
    struct certificate_wish wish = peer_files_make(&others);
    assert_true(certificate_make(&wish, f->error, sizeof(f->error)));
    buf_init(&bytes, 1 << 20);
    int from = open(others.paths[0], O_RDONLY | O_CLOEXEC);
    assert_true(from >= 0 && unlink(path) == 0 && file_read(from, &bytes));
    (void)close(from);
    int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(to >= 0 && file_write(to, buf_view(&bytes)));
    (void)close(to);
    buf_release(&bytes);
    assert_true(tls_reload(f->tls));
    // Its certificate is not believed any more, neither shown again nor by its session.
    struct client client;
    char got[4096];
    client.fd = peer_connect(http_server_port(f->server), 20);
    client.ssl = SSL_new(f->context);
    assert_int_equal(SSL_set_fd(client.ssl, client.fd), 1);
    assert_int_equal(SSL_set_session(client.ssl, f->session), 1);
    assert_false(SSL_connect(client.ssl) == 1 && client_hears(&client, GET, ">", got, sizeof(got)));
    client_end(&client);
    assert_true(directory_remove(others.directory));
}

// ---- Files -----------------------------------------------------------------------------------

static void reads_files_again(void **state)
{
    struct fixture *f = *state;
    char before[65];
    char after[65];
    serve(f, NULL, false, 0);
    struct client client;
    for (int round = 0; round < 3; round++) {
        assert_true(client_try(f, &client));
        X509 *shown = SSL_get0_peer_certificate(client.ssl);
        uint8_t digest[32];
        unsigned len;
        assert_int_equal(X509_digest(shown, EVP_sha256(), digest, &len), 1);
        for (unsigned i = 0; i < len; i++)
            (void)snprintf(after + (size_t)2 * i, 3, "%02x", digest[i]);
        client_end(&client);
        char expected[65];
        if (round == 0) {
            memcpy(before, after, sizeof(before));
            // A key of another certificate changes nothing.
            struct certificate_wish wish = f->wish;
            char aside[128];
            (void)snprintf(aside, sizeof(aside), "%s/aside.pem", f->files.directory);
            wish.certificate = aside;
            assert_true(certificate_make(&wish, f->error, sizeof(f->error)));
            assert_false(tls_reload(f->tls));
        } else if (round == 1) {
            assert_string_equal(before, after);
            assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
            assert_true(tls_reload(f->tls));
        } else {
            assert_true(
                certificate_fingerprint(f->files.paths[2], expected, f->error, sizeof(f->error)));
            assert_string_equal(expected, after);
        }
    }
}

static void refuses_wrong_files(void **state)
{
    struct fixture *f = *state;
    struct tls_options options = {.certificate = "/nowhere/server.pem", .key = f->files.paths[3]};
    assert_null(tls_open(&options, f->error, sizeof(f->error)));
    assert_non_null(strstr(f->error, "'/nowhere/server.pem' does not hold a certificate"));
    options.certificate = f->files.paths[2];
    options.key = f->files.paths[1]; // the authority's
    assert_null(tls_open(&options, f->error, sizeof(f->error)));
    assert_non_null(strstr(f->error, "does not hold the private key of the certificate"));
    options.key = f->files.paths[3];
    options.client_ca = f->files.paths[3];
    assert_null(tls_open(&options, f->error, sizeof(f->error)));
    assert_non_null(strstr(f->error, "does not hold certificates of authorities"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(speaks_both_versions, begin, end),
        cmocka_unit_test_setup_teardown(speaks_http_1_1_alone, begin, end),
        cmocka_unit_test_setup_teardown(refuses_renegotiation, begin, end),
        cmocka_unit_test_setup_teardown(tells_plain_http, begin, end),
        cmocka_unit_test_setup_teardown(bears_garbage, begin, end),
        cmocka_unit_test_setup_teardown(cuts_slow_greetings, begin, end),
        cmocka_unit_test_setup_teardown(says_goodbye, begin, end),
        cmocka_unit_test_setup_teardown(answers_the_half_closed, begin, end),
        cmocka_unit_test_setup_teardown(survives_key_updates, begin, end),
        cmocka_unit_test_setup_teardown(resumes_sessions, begin, end),
        cmocka_unit_test_setup_teardown(knows_clients, begin, end),
        cmocka_unit_test_setup_teardown(requires_clients, begin, end),
        cmocka_unit_test_setup_teardown(forgets_clients_of_other_authorities, begin, end),
        cmocka_unit_test_setup_teardown(reads_files_again, begin, end),
        cmocka_unit_test_setup_teardown(refuses_wrong_files, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
