// Making certificates: see certificate.h.
//
// Everything is made in memory first, then written: keys before certificates, since a certificate
// without its key is of no use, and whoever watches the files looks again when the second comes.
#include "crypt/certificate.h"

#include "base/encode.h"
#include "base/files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SERIAL = 20,
    PATH_MOST = 4096,
    NAME_MAX_BYTES = 253,
    CLIENT_MAX_BYTES = 64,
    PEM_MAX = 1 << 20
};

struct pair {
    X509 *certificate;
    EVP_PKEY *key;
};

static bool fail(char *error, size_t size, const char *format, const char *name)
{
    (void)snprintf(error, size, format, name);
    ERR_clear_error();
    return false;
}

static void pair_free(struct pair *pair)
{
    X509_free(pair->certificate);
    EVP_PKEY_free(pair->key);
}

// ---- What a certificate says
// ---------------------------------------------------------------------

static bool extension_add(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool ok = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static bool is_address(const char *name)
{
    uint8_t bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

// Letters, digits, "-", "_" and dots between them; "*." may stand before.
static bool is_host_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_BYTES)
        return false;
    const char *at = strncmp(name, "*.", 2) == 0 ? name + 2 : name;
    for (const char *before = "."; *at != 0; before = at++) {
        bool dot = *at == '.';
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == '-' || *at == '_';
        if ((!dot && !plain) || (dot && *before == '.'))
            return false;
    }
    return name[len - 1] != '.';
}

static bool name_push(GENERAL_NAMES *names, const char *name)
{
    GENERAL_NAME *one = GENERAL_NAME_new();
    if (one == NULL)
        return false;
    bool address = is_address(name);
    ASN1_STRING *value = address ? a2i_IPADDRESS(name) : ASN1_IA5STRING_new();
    bool ok = value != NULL && (address || ASN1_STRING_set(value, name, -1) == 1);
    if (ok)
        GENERAL_NAME_set0_value(one, address ? GEN_IPADD : GEN_DNS, value);
    else
        ASN1_STRING_free(value);
    if (ok && sk_GENERAL_NAME_push(names, one) > 0)
        return true;
    GENERAL_NAME_free(one);
    return false;
}

static bool names_add(X509 *certificate, const struct certificate_wish *wish)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool ok = names != NULL && name_push(names, "localhost") && name_push(names, "127.0.0.1") &&
              name_push(names, "::1");
    for (size_t i = 0; ok && i < wish->name_count; i++)
        ok = name_push(names, wish->names[i]);
    ok = ok && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return ok;
}

static bool serial_set(X509 *certificate)
{
    uint8_t bytes[SERIAL];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40); // positive, and as long as it may be
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool ok =
        number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return ok;
}

// Valid from an hour ago: clocks differ.
static X509 *certificate_begin(EVP_PKEY *key, const char *common_name, unsigned days)
{
    X509 *made = X509_new();
    X509_NAME *name = made == NULL ? NULL : X509_get_subject_name(made);
    if (name != NULL && X509_set_version(made, X509_VERSION_3) == 1 && serial_set(made) &&
        X509_gmtime_adj(X509_getm_notBefore(made), -3600) != NULL &&
        X509_time_adj_ex(X509_getm_notAfter(made), (int)days, 0, NULL) != NULL &&
        X509_set_pubkey(made, key) == 1 &&
        X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const uint8_t *)"Dolmen", -1, -1,
                                   0) == 1 &&
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const uint8_t *)common_name, -1, -1,
                                   0) == 1 &&
        extension_add(made, made, NID_subject_key_identifier, "hash"))
        return made;
    X509_free(made);
    return NULL;
}

// ---- Making ----------------------------------------------------------------------------------

static bool authority_make(struct pair *out)
{
    char name[64];
    uint8_t random[4];
    // Two authorities of one name are hard to tell apart, for people and for programs.
    if (RAND_bytes(random, sizeof(random)) != 1)
        return false;
    (void)snprintf(name, sizeof(name), "Dolmen authority %02x%02x%02x%02x", random[0], random[1],
                   random[2], random[3]);
    out->key = EVP_EC_gen("P-256");
    out->certificate =
        out->key == NULL ? NULL : certificate_begin(out->key, name, CERTIFICATE_AUTHORITY_DAYS);
    X509 *made = out->certificate;
    return made != NULL && X509_set_issuer_name(made, X509_get_subject_name(made)) == 1 &&
           extension_add(made, made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           extension_add(made, made, NID_key_usage, "critical,keyCertSign,cRLSign") &&
           X509_sign(made, out->key, EVP_sha256()) > 0;
}

static bool leaf_make(const struct certificate_wish *wish, const struct pair *authority,
                      struct pair *out)
{
    unsigned days = wish->days > 0 ? wish->days : CERTIFICATE_DAYS;
    bool client = wish->client != NULL;
    const char *name = client ? wish->client : "Dolmen server";
    out->key = EVP_EC_gen("P-256");
    out->certificate = out->key == NULL ? NULL : certificate_begin(out->key, name, days);
    X509 *made = out->certificate;
    X509 *issuer = authority->certificate;
    return made != NULL && X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 &&
           extension_add(made, issuer, NID_authority_key_identifier, "keyid:always") &&
           extension_add(made, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           extension_add(made, issuer, NID_key_usage, "critical,digitalSignature") &&
           extension_add(made, issuer, NID_ext_key_usage, client ? "clientAuth" : "serverAuth") &&
           (client || names_add(made, wish)) && X509_sign(made, authority->key, EVP_sha256()) > 0;
}

// ---- Files -----------------------------------------------------------------------------------

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static bool directory_of_sync(const char *path)
{
    char directory[PATH_MOST];
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    if (len >= sizeof(directory))
        return false;
    (void)snprintf(directory, sizeof(directory), "%.*s", (int)len, path);
    return directory_sync(slash == NULL ? "." : len == 0 ? "/" : directory);
}

static bool bytes_write(const char *path, struct slice bytes, mode_t mode, char *error, size_t size)
{
    char beside[PATH_MOST];
    int len = snprintf(beside, sizeof(beside), "%s.new", path);
    if (len < 0 || (size_t)len >= sizeof(beside))
        return fail(error, size, "the path '%s' is too long", path);
    (void)unlink(beside); // of a run that was cut off
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    bool ok = fd >= 0 && fchmod(fd, mode) == 0 && file_write(fd, bytes) && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        (void)close(fd);
    if (ok && rename(beside, path) == 0)
        return directory_of_sync(path) ||
               fail(error, size, "cannot sync the directory of '%s'", path);
    if (ok)
        why = errno;
    if (fd >= 0)
        (void)unlink(beside);
    (void)snprintf(error, size, "cannot write '%s': %s", path, strerror(why));
    return false;
}

static bool pem_write(const char *path, BIO *pem, mode_t mode, char *error, size_t size)
{
    char *text = NULL;
    long len = pem == NULL ? 0 : BIO_get_mem_data(pem, &text);
    bool ok = len > 0 ? bytes_write(path, slice_of(text, (size_t)len), mode, error, size)
                      : fail(error, size, "cannot make '%s'", path);
    BIO_free(pem);
    return ok;
}

static BIO *key_pem(EVP_PKEY *key)
{
    BIO *pem = BIO_new(BIO_s_secmem());
    if (pem != NULL && PEM_write_bio_PKCS8PrivateKey(pem, key, NULL, NULL, 0, NULL, NULL) == 1)
        return pem;
    BIO_free(pem);
    return NULL;
}

static BIO *certificate_pem(X509 *certificate)
{
    BIO *pem = BIO_new(BIO_s_mem());
    if (pem != NULL && PEM_write_bio_X509(pem, certificate) == 1)
        return pem;
    BIO_free(pem);
    return NULL;
}

static bool pair_write(const struct pair *pair, const char *certificate, const char *key,
                       char *error, size_t size)
{
    return pem_write(key, key_pem(pair->key), 0600, error, size) &&
           pem_write(certificate, certificate_pem(pair->certificate), 0644, error, size);
}

static X509 *certificate_read(const char *path)
{
    BIO *file = BIO_new_file(path, "r");
    X509 *read = file == NULL ? NULL : PEM_read_bio_X509(file, NULL, NULL, NULL);
    BIO_free(file);
    return read;
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

static bool authority_read(const struct certificate_wish *wish, struct pair *out, char *error,
                           size_t size)
{
    BIO *file = BIO_new_file(wish->authority_key, "r");
    out->key = file == NULL ? NULL : PEM_read_bio_PrivateKey(file, NULL, no_passphrase, NULL);
    BIO_free(file);
    if (out->key == NULL)
        return fail(error, size, "'%s' does not hold a private key that can be read",
                    wish->authority_key);
    out->certificate = certificate_read(wish->authority_certificate);
    if (out->certificate == NULL)
        return fail(error, size, "'%s' does not hold a certificate that can be read",
                    wish->authority_certificate);
    if (X509_check_private_key(out->certificate, out->key) != 1)
        return fail(error, size, "the key of the authority '%s' is of another certificate",
                    wish->authority_certificate);
    if (X509_check_ca(out->certificate) <= 0)
        return fail(error, size, "'%s' is not the certificate of an authority",
                    wish->authority_certificate);
    return true;
}

// ---- The wish --------------------------------------------------------------------------------

static bool wish_check(const struct certificate_wish *wish, char *error, size_t size)
{
    for (size_t i = 0; i < wish->name_count; i++) {
        if (!is_address(wish->names[i]) && !is_host_name(wish->names[i]))
            return fail(error, size, "'%s' is not a host name or an address", wish->names[i]);
    }
    if (wish->client != NULL && (wish->client[0] == 0 || strlen(wish->client) > CLIENT_MAX_BYTES))
        return fail(error, size, "'%s' is not a name of 1 to 64 bytes", wish->client);
    if (!wish->replace && is_there(wish->key))
        return fail(error, size, "'%s' is there already", wish->key);
    if (!wish->replace && is_there(wish->certificate))
        return fail(error, size, "'%s' is there already", wish->certificate);
    if (is_there(wish->authority_key) != is_there(wish->authority_certificate))
        return fail(error, size, "of the authority's two files only '%s' is there",
                    is_there(wish->authority_key) ? wish->authority_key
                                                  : wish->authority_certificate);
    return true;
}

bool certificate_make(const struct certificate_wish *wish, char *error, size_t size)
{
    struct pair authority = {NULL, NULL};
    struct pair made = {NULL, NULL};
    if (!wish_check(wish, error, size))
        return false;
    bool there = is_there(wish->authority_key);
    bool ok =
        there ? authority_read(wish, &authority, error, size)
              : authority_make(&authority) || fail(error, size, "cannot make an authority%s", "");
    ok = ok && (leaf_make(wish, &authority, &made) ||
                fail(error, size, "cannot make the certificate '%s'", wish->certificate));
    ok = ok && (there || pair_write(&authority, wish->authority_certificate, wish->authority_key,
                                    error, size));
    ok = ok && pair_write(&made, wish->certificate, wish->key, error, size);
    pair_free(&authority);
    pair_free(&made);
    return ok;
}

bool certificate_fingerprint(const char *path, char out[CERTIFICATE_FINGERPRINT], char *error,
                             size_t size)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    X509 *certificate = certificate_read(path);
    bool ok = certificate != NULL && X509_digest(certificate, EVP_sha256(), digest, &len) == 1;
    X509_free(certificate);
    if (!ok)
        return fail(error, size, "'%s' does not hold a certificate that can be read", path);
    for (unsigned i = 0; i < len; i++)
        (void)snprintf(out + (size_t)2 * i, 3, "%02x", digest[i]);
    return true;
}
