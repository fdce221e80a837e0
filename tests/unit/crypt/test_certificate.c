// Certificates that were made are what OpenSSL takes for good ones, and nothing is overwritten
// that nobody asked for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/files.h"
#include "crypt/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char directory[64];
    char paths[4][96]; // ca, its key, certificate, its key
    struct certificate_wish wish;
    char error[256];
};

static int begin(void **state)
{
    static const char *const names[] = {"ca.pem", "ca.key", "server.pem", "server.key"};
    struct fixture *f = calloc(1, sizeof(*f));
    char directory[] = "/tmp/dolmen-certificate.XXXXXX";
    assert_non_null(mkdtemp(directory));
    (void)snprintf(f->directory, sizeof(f->directory), "%s", directory);
    for (int i = 0; i < 4; i++) // from a copy: a compiler cannot tell that they do not overlap
        (void)snprintf(f->paths[i], sizeof(f->paths[i]), "%s/%s", directory, names[i]);
    f->wish = (struct certificate_wish){.authority_certificate = f->paths[0],
                                        .authority_key = f->paths[1],
                                        .certificate = f->paths[2],
                                        .key = f->paths[3]};
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    assert_true(directory_remove(f->directory));
    free(f);
    return 0;
}

static X509 *certificate_of(const char *path)
{
    BIO *file = BIO_new_file(path, "r");
    assert_non_null(file);
    X509 *read = PEM_read_bio_X509(file, NULL, NULL, NULL);
    assert_non_null(read);
    BIO_free(file);
    return read;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

// As a client verifies it: 1 if it is good for the purpose.
static int verified(const struct fixture *f, int purpose)
{
    X509 *authority = certificate_of(f->paths[0]);
    X509 *made = certificate_of(f->paths[2]);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    assert_int_equal(X509_STORE_add_cert(store, authority), 1);
    assert_int_equal(X509_STORE_CTX_init(context, store, made, NULL), 1);
    (void)X509_STORE_CTX_set_purpose(context, purpose);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context), X509_V_FLAG_X509_STRICT);
    int result = X509_verify_cert(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(authority);
    X509_free(made);
    return result;
}

static void makes_an_authority_and_a_server(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"db.example.com", "*.tables.example", "10.1.2.3",
                                        "fe80::1"};
    f->wish.names = names;
    f->wish.name_count = 4;
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    assert_int_equal(mode_of(f->paths[0]), 0644);
    assert_int_equal(mode_of(f->paths[1]), 0600);
    assert_int_equal(mode_of(f->paths[2]), 0644);
    assert_int_equal(mode_of(f->paths[3]), 0600);
    assert_int_equal(verified(f, X509_PURPOSE_SSL_SERVER), 1);
    assert_int_equal(verified(f, X509_PURPOSE_SSL_CLIENT), 0);
    X509 *made = certificate_of(f->paths[2]);
    static const char *const good[] = {"localhost", "db.example.com", "a.tables.example"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(X509_check_host(made, good[i], 0, 0, NULL), 1);
    static const char *const addresses[] = {"127.0.0.1", "::1", "10.1.2.3", "fe80::1"};
    for (size_t i = 0; i < COUNT_OF(addresses); i++)
        assert_int_equal(X509_check_ip_asc(made, addresses[i], 0), 1);
    assert_int_equal(X509_check_host(made, "example.com", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(made, "10.1.2.4", 0), 0);
    assert_int_equal(X509_cmp_current_time(X509_get0_notBefore(made)), -1);
    int days = 0;
    int seconds = 0;
    assert_int_equal(
        ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(made), X509_get0_notAfter(made)), 1);
    assert_int_equal(days, CERTIFICATE_DAYS);
    X509_free(made);
}

static void signs_with_the_authority_that_is_there(void **state)
{
    struct fixture *f = *state;
    char first[CERTIFICATE_FINGERPRINT];
    char again[CERTIFICATE_FINGERPRINT];
    char server[CERTIFICATE_FINGERPRINT];
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    assert_true(certificate_fingerprint(f->paths[0], first, f->error, sizeof(f->error)));
    assert_true(certificate_fingerprint(f->paths[2], server, f->error, sizeof(f->error)));
    assert_int_equal(strlen(first), 64);
    assert_false(certificate_make(&f->wish, f->error, sizeof(f->error)));
    assert_non_null(strstr(f->error, "server.key' is there already"));
    f->wish.replace = true;
    f->wish.client = "alice";
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    assert_true(certificate_fingerprint(f->paths[0], again, f->error, sizeof(f->error)));
    assert_string_equal(first, again);
    assert_true(certificate_fingerprint(f->paths[2], again, f->error, sizeof(f->error)));
    assert_string_not_equal(server, again);
    assert_int_equal(verified(f, X509_PURPOSE_SSL_CLIENT), 1);
    assert_int_equal(verified(f, X509_PURPOSE_SSL_SERVER), 0);
    X509 *made = certificate_of(f->paths[2]);
    char name[64];
    (void)X509_NAME_get_text_by_NID(X509_get_subject_name(made), NID_commonName, name,
                                    sizeof(name));
    assert_string_equal(name, "alice");
    X509_free(made);
}

static void refuses(struct fixture *f, const char *why)
{
    f->error[0] = 0;
    assert_false(certificate_make(&f->wish, f->error, sizeof(f->error)));
    if (strstr(f->error, why) == NULL)
        fail_msg("'%s' does not say '%s'", f->error, why);
}

static void refuses_what_is_no_name(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"",   "a b", "a,DNS:evil", ".a",         "a..b",
                                      "a.", "*",   "a*.b",       "10.1.2.3/8", "a\nb"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        f->wish.names = &bad[i];
        f->wish.name_count = 1;
        refuses(f, "is not a host name or an address");
        assert_int_not_equal(access(f->paths[1], F_OK), 0);
    }
    f->wish.name_count = 0;
    f->wish.client = "";
    refuses(f, "is not a name of 1 to 64 bytes");
}

static void copy(const char *from, const char *to)
{
    struct buf bytes;
    buf_init(&bytes, 1 << 20);
    FILE *in = fopen(from, "re");
    FILE *out = fopen(to, "we");
    assert_true(in != NULL && out != NULL);
    assert_true(file_read(fileno(in), &bytes));
    assert_true(file_write(fileno(out), buf_view(&bytes)));
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
    buf_release(&bytes);
}

static void refuses_a_wrong_authority(void **state)
{
    struct fixture *f = *state;
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    f->wish.replace = true;
    assert_int_equal(rename(f->paths[1], f->paths[3]), 0);
    refuses(f, "of the authority's two files only");
    copy(f->paths[2], f->paths[1]); // a certificate for a key
    refuses(f, "does not hold a private key");
    copy(f->paths[3], f->paths[1]);
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    copy(f->paths[3], f->paths[1]); // the server's key
    refuses(f, "is of another certificate");
    copy(f->paths[2], f->paths[0]); // the server for an authority
    refuses(f, "is not the certificate of an authority");
    assert_int_equal(truncate(f->paths[0], 20), 0);
    refuses(f, "does not hold a certificate");
    assert_false(certificate_fingerprint(f->paths[0], f->error, f->error, sizeof(f->error)));
}

static void leaves_nothing_half_done(void **state)
{
    struct fixture *f = *state;
    f->wish.certificate = "/nowhere/server.pem";
    refuses(f, "cannot write '/nowhere/server.pem'");
    f->wish.certificate = f->paths[2];
    f->wish.replace = true;
    assert_true(certificate_make(&f->wish, f->error, sizeof(f->error)));
    assert_int_equal(verified(f, X509_PURPOSE_SSL_SERVER), 1);
    char beside[128];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(beside, sizeof(beside), "%s.new", f->paths[i]);
        assert_int_not_equal(access(beside, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(makes_an_authority_and_a_server, begin, end),
        cmocka_unit_test_setup_teardown(signs_with_the_authority_that_is_there, begin, end),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_name, begin, end),
        cmocka_unit_test_setup_teardown(refuses_a_wrong_authority, begin, end),
        cmocka_unit_test_setup_teardown(leaves_nothing_half_done, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
