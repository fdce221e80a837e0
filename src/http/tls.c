// The server's side of TLS that all connections share. See tls.h.
//
// The idea: an SSL_CTX is immutable once it is made. A reload makes another and puts it in the
// place of the first, which lives as long as its last connection. What must outlive it is here: the
// keys of tickets.
//
// A ticket holds what a session is, sealed by the server. OpenSSL does not ask again whether a
// client's certificate is good when a session is resumed; so a ticket is good only where the
// authorities of clients are the same: their digest is the context of the session.
#include "http/tls_internal.h"

#include "base/log.h"
#include "base/slice.h"
#include "base/worker.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    FILES = 3,
    KEY_NAME = 16,
    KEY_BYTES = 32,
    TICKET_KEYS = 8,        // that are still good for opening: the last eight hours
    TICKET_ROTATE_S = 3600, // how long one seals
    SESSION_S = 4 * 3600,   // how long a session can be resumed
    WATCH_MS = 1000,
    PATH_MOST = 4096,
};

struct ticket_key {
    uint8_t name[KEY_NAME]; // stands in the ticket
    uint8_t cipher[KEY_BYTES];
    uint8_t mac[KEY_BYTES];
    int64_t made_s; // 0: there is none
};

// What tells that a file is another than it was.
struct tls_mark {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct tls {
    char *paths[FILES]; // certificate, key, authorities of clients (or NULL)
    bool client_required;
    BIO_METHOD *method;

    pthread_mutex_t lock; // of what follows
    SSL_CTX *context;

    pthread_mutex_t reloading; // of what follows
    struct tls_mark marks[FILES];
    bool failed; // with these marks, once: the next look tells of it
    bool told;   // it has been told

    pthread_mutex_t tickets_lock;
    struct ticket_key tickets[TICKET_KEYS]; // newest first
    int64_t later_s;                        // tests make time pass

    bool watched;
    struct worker watcher;
};

static bool fail(char *error, size_t size, const char *format, const char *name)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
    int len = snprintf(error, size, format, name);
    if (reason != NULL && len > 0 && (size_t)len < size)
        (void)snprintf(error + len, size - (size_t)len, " (%s)", reason);
    ERR_clear_error();
    return false;
}

// ---- Tickets ---------------------------------------------------------------------------------

static int64_t now_s(const struct tls *tls)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec + 1 + tls->later_s;
}

void tls_tickets_age(struct tls *tls, int64_t seconds)
{
    (void)pthread_mutex_lock(&tls->tickets_lock);
    tls->later_s += seconds;
    (void)pthread_mutex_unlock(&tls->tickets_lock);
}

// The key that seals now; a new one each hour. The oldest is forgotten.
static bool ticket_key_now(struct tls *tls, struct ticket_key *out)
{
    int64_t now = now_s(tls);
    struct ticket_key *newest = &tls->tickets[0];
    if (newest->made_s == 0 || now - newest->made_s >= TICKET_ROTATE_S) {
        struct ticket_key made = {.made_s = now};
        if (RAND_bytes(made.name, sizeof(made.name)) != 1 ||
            RAND_priv_bytes(made.cipher, sizeof(made.cipher)) != 1 ||
            RAND_priv_bytes(made.mac, sizeof(made.mac)) != 1)
            return false;
        memmove(newest + 1, newest, sizeof(tls->tickets) - sizeof(*newest));
        *newest = made;
        OPENSSL_cleanse(&made, sizeof(made));
    }
    *out = *newest;
    return true;
}

static bool ticket_key_find(struct tls *tls, const uint8_t *name, struct ticket_key *out)
{
    int64_t now = now_s(tls);
    for (int i = 0; i < TICKET_KEYS; i++) {
        const struct ticket_key *key = &tls->tickets[i];
        if (key->made_s != 0 && now - key->made_s < (int64_t)TICKET_KEYS * TICKET_ROTATE_S &&
            memcmp(key->name, name, KEY_NAME) == 0) {
            *out = *key;
            return true;
        }
    }
    return false;
}

// OpenSSL's contract: 1 to go on, 2 to go on and give the client a new ticket, 0 for no ticket.
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int sealing)
{
    struct tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct ticket_key key;
    (void)pthread_mutex_lock(&tls->tickets_lock);
    bool found = sealing ? ticket_key_now(tls, &key) : ticket_key_find(tls, name, &key);
    (void)pthread_mutex_unlock(&tls->tickets_lock);
    if (!found)
        return 0;
    if (sealing)
        memcpy(name, key.name, KEY_NAME);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac, sizeof(key.mac)),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t) "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    bool ok = !sealing || RAND_bytes(iv, EVP_MAX_IV_LENGTH) == 1;
    ok = ok && EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv, sealing) == 1 &&
         EVP_MAC_CTX_set_params(mac, parameters) == 1;
    OPENSSL_cleanse(&key, sizeof(key));
    return ok ? sealing ? 1 : 2 : -1;
}

// ---- The context -----------------------------------------------------------------------------

static const unsigned char *alpn_find(const unsigned char *in, unsigned in_len, const char *name)
{
    for (unsigned i = 0; i < in_len; i += in[i] + 1U) {
        if (in[i] == 8 && i + 8 < in_len && memcmp(in + i + 1, name, 8) == 0)
            return in + i + 1;
    }
    return NULL;
}

// HTTP/1 is all that is spoken here. A client that speaks others alone is told so.
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                   const unsigned char *in, unsigned in_len, void *context)
{
    (void)ssl;
    (void)context;
    const unsigned char *found = alpn_find(in, in_len, "http/1.1");
    if (found == NULL)
        found = alpn_find(in, in_len, "http/1.0");
    if (found == NULL)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = found;
    *out_len = 8;
    return SSL_TLSEXT_ERR_OK;
}

// A key behind a passphrase would have OpenSSL ask for it on the terminal.
static int no_passphrase(char *out, int size, int writing, void *context)
{
    (void)writing;
    (void)context;
    if (size > 0)
        out[0] = 0;
    return 0;
}

static bool context_rules(SSL_CTX *context, struct tls *tls)
{
    SSL_CTX_set_app_data(context, tls);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_PRIORITIZE_CHACHA);
    // An idle connection keeps no buffers.
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); // the clients keep them
    (void)SSL_CTX_set_timeout(context, SESSION_S);
    SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
           SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket) == 1;
}

// Sessions of clients of these authorities: see above.
static bool context_bind(SSL_CTX *context, const struct tls *tls, STACK_OF(X509_NAME) * names)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool ok = sum != NULL && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(sum, tls->client_required ? "r" : "o", 1) == 1;
    const STACK_OF(X509_OBJECT) *trusted = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
    for (int i = 0; ok && names != NULL && i < sk_X509_OBJECT_num(trusted); i++) {
        const X509 *one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, i));
        uint8_t of_one[EVP_MAX_MD_SIZE];
        unsigned of_one_len = 0;
        ok = one == NULL || (X509_digest(one, EVP_sha256(), of_one, &of_one_len) == 1 &&
                             EVP_DigestUpdate(sum, of_one, of_one_len) == 1);
    }
    ok = ok && EVP_DigestFinal_ex(sum, digest, &len) == 1 &&
         SSL_CTX_set_session_id_context(context, digest, len) == 1;
    EVP_MD_CTX_free(sum);
    return ok;
}

// The server calls itself where its objects are, and shows the certificate it has. Only who has its
// key can do that.
static int verify_client(X509_STORE_CTX *store, void *nothing)
{
    (void)nothing;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (!tls_is_own(ssl, X509_STORE_CTX_get0_cert(store)))
        return X509_verify_cert(store);
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

bool tls_is_own(const SSL *ssl, const X509 *certificate)
{
    const X509 *own = SSL_get_certificate(ssl);
    return own != NULL && certificate != NULL && X509_cmp(own, certificate) == 0;
}

static bool context_clients(SSL_CTX *context, const struct tls *tls, char *error, size_t size)
{
    const char *path = tls->paths[2];
    STACK_OF(X509_NAME) *names = NULL;
    if (path != NULL) {
        names = SSL_load_client_CA_file(path);
        if (names == NULL || SSL_CTX_load_verify_file(context, path) != 1) {
            sk_X509_NAME_pop_free(names, X509_NAME_free);
            return fail(error, size, "'%s' does not hold certificates of authorities", path);
        }
        int required = tls->client_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | required, NULL);
        SSL_CTX_set_cert_verify_callback(context, verify_client, NULL);
    }
    bool ok = context_bind(context, tls, names);
    SSL_CTX_set_client_CA_list(context, names); // takes it
    return ok || fail(error, size, "TLS cannot be prepared%s", "");
}

// A context of the files as they are. NULL with a sentence in `error`.
static SSL_CTX *context_make(struct tls *tls, char *error, size_t size)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    bool ok = context != NULL && context_rules(context, tls);
    if (!ok)
        (void)fail(error, size, "TLS cannot be prepared%s", "");
    if (ok && SSL_CTX_use_certificate_chain_file(context, tls->paths[0]) != 1)
        ok = fail(error, size, "'%s' does not hold a certificate that can be used", tls->paths[0]);
    // This one checks that they belong together, too.
    if (ok && SSL_CTX_use_PrivateKey_file(context, tls->paths[1], SSL_FILETYPE_PEM) != 1)
        ok = fail(error, size, "'%s' does not hold the private key of the certificate",
                  tls->paths[1]);
    ok = ok && context_clients(context, tls, error, size);
    if (ok)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

// ---- The files -------------------------------------------------------------------------------

static bool mark_equal(const struct tls_mark *a, const struct tls_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

// As the files are now; one that is not there has an empty mark. True if one is another.
static bool marks_look(struct tls *tls)
{
    bool changed = false;
    for (int i = 0; i < FILES; i++) {
        struct stat about;
        struct tls_mark mark = {.inode = 0};
        if (tls->paths[i] != NULL && stat(tls->paths[i], &about) == 0)
            mark = (struct tls_mark){about.st_dev, about.st_ino, about.st_size, about.st_mtim};
        changed = changed || !mark_equal(&mark, &tls->marks[i]);
        tls->marks[i] = mark;
    }
    return changed;
}

static void warn_of_readers(const struct tls *tls)
{
    struct stat about;
    if (stat(tls->paths[1], &about) == 0 && (about.st_mode & S_IRWXO) != 0)
        log_warn("tls: everyone on this machine may read or write the private key '%s'; chmod 600",
                 tls->paths[1]);
}

static void context_put(struct tls *tls, SSL_CTX *made)
{
    (void)pthread_mutex_lock(&tls->lock);
    SSL_CTX *before = tls->context;
    tls->context = made;
    (void)pthread_mutex_unlock(&tls->lock);
    SSL_CTX_free(before);
}

// Files come one after the other: for a moment a new key stands beside the old certificate. So what
// does not fit is told at the second look that finds it so, or at once if `insist`.
static bool load(struct tls *tls, bool insist)
{
    char error[PATH_MOST + 512];
    SSL_CTX *made = context_make(tls, error, sizeof(error));
    if (made != NULL) {
        context_put(tls, made);
        tls->failed = tls->told = false;
        log_info("tls: read '%s' again; new connections use it", tls->paths[0]);
        warn_of_readers(tls);
        return true;
    }
    if (!tls->told && (tls->failed || insist)) {
        log_error("tls: %s; the certificate that was read before goes on", error);
        tls->told = true;
    }
    tls->failed = true;
    return false;
}

bool tls_reload(struct tls *tls)
{
    (void)pthread_mutex_lock(&tls->reloading);
    (void)marks_look(tls);
    tls->told = false;
    bool ok = load(tls, true);
    (void)pthread_mutex_unlock(&tls->reloading);
    return ok;
}

static void watch(void *context)
{
    struct tls *tls = context;
    (void)pthread_mutex_lock(&tls->reloading);
    bool changed = marks_look(tls);
    if (changed)
        tls->failed = tls->told = false;
    if (changed || (tls->failed && !tls->told))
        (void)load(tls, false);
    (void)pthread_mutex_unlock(&tls->reloading);
}

void tls_watch(struct tls *tls)
{
    if (tls->watched)
        return;
    tls->watched = true;
    worker_start(&tls->watcher,
                 &(struct worker_plan){.work = watch, .context = tls, .every_ms = WATCH_MS});
}

// ---- Connections ------------------------------------------------------------------------------

SSL *tls_session_new(struct tls *tls)
{
    (void)pthread_mutex_lock(&tls->lock);
    SSL *ssl = SSL_new(tls->context);
    (void)pthread_mutex_unlock(&tls->lock);
    if (ssl == NULL)
        ERR_clear_error();
    else
        SSL_set_accept_state(ssl);
    return ssl;
}

bool tls_session_pipe(struct tls *tls, SSL *ssl, const struct tls_pipe *pipe)
{
    return tls_pipe_attach(tls->method, ssl, pipe);
}

// ---- Life ------------------------------------------------------------------------------------

struct tls *tls_open(const struct tls_options *options, char *error, size_t size)
{
    struct tls *tls = calloc(1, sizeof(*tls));
    bool ok = tls != NULL;
    if (ok) {
        (void)pthread_mutex_init(&tls->lock, NULL);
        (void)pthread_mutex_init(&tls->reloading, NULL);
        (void)pthread_mutex_init(&tls->tickets_lock, NULL);
        tls->client_required = options->client_required;
        tls->paths[0] = strdup(options->certificate);
        tls->paths[1] = strdup(options->key);
        tls->paths[2] = options->client_ca == NULL ? NULL : strdup(options->client_ca);
        tls->method = tls_pipe_method();
        ok = tls->paths[0] != NULL && tls->paths[1] != NULL && tls->method != NULL &&
             (tls->paths[2] != NULL || options->client_ca == NULL);
    }
    if (!ok) {
        (void)snprintf(error, size, "out of memory");
        tls_close(tls);
        return NULL;
    }
    (void)marks_look(tls);
    tls->context = context_make(tls, error, size);
    if (tls->context == NULL) {
        tls_close(tls);
        return NULL;
    }
    warn_of_readers(tls);
    return tls;
}

void tls_close(struct tls *tls)
{
    if (tls == NULL)
        return;
    if (tls->watched)
        worker_stop(&tls->watcher);
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    for (int i = 0; i < FILES; i++)
        free(tls->paths[i]);
    OPENSSL_cleanse(tls->tickets, sizeof(tls->tickets));
    (void)pthread_mutex_destroy(&tls->lock);
    (void)pthread_mutex_destroy(&tls->reloading);
    (void)pthread_mutex_destroy(&tls->tickets_lock);
    free(tls);
}
