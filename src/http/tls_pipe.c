// See tls_pipe.h: a BIO, as OpenSSL calls it.
#include "http/tls_pipe.h"

static int pipe_read(BIO *bio, char *out, size_t size, size_t *got)
{
    const struct tls_pipe *pipe = BIO_get_data(bio);
    ssize_t len = pipe->pull(pipe->context, out, size);
    BIO_clear_retry_flags(bio);
    if (len < 0)
        BIO_set_retry_read(bio);
    if (len <= 0)
        return 0;
    *got = (size_t)len;
    return 1;
}

static int pipe_write(BIO *bio, const char *bytes, size_t size, size_t *written)
{
    const struct tls_pipe *pipe = BIO_get_data(bio);
    ssize_t len = pipe->push(pipe->context, bytes, size);
    BIO_clear_retry_flags(bio);
    if (len < 0)
        BIO_set_retry_write(bio);
    if (len <= 0)
        return 0;
    *written = (size_t)len;
    return 1;
}

static long pipe_control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD *tls_pipe_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pipe");
    if (method != NULL && BIO_meth_set_read_ex(method, pipe_read) == 1 &&
        BIO_meth_set_write_ex(method, pipe_write) == 1 &&
        BIO_meth_set_ctrl(method, pipe_control) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

bool tls_pipe_attach(const BIO_METHOD *method, SSL *ssl, const struct tls_pipe *pipe)
{
    BIO *bio = BIO_new(method);
    if (bio == NULL)
        return false;
    BIO_set_data(bio, (void *)(uintptr_t)pipe);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); // takes it
    return true;
}
