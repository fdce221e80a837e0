// See signature.h. Host, date, target and token are signed: what says to whom a request goes, when,
// and what it asks for.
#include "client/signature.h"

#include "base/limits.h"

#include <stdio.h>
#include <time.h>

enum { HOST_SIZE = CLIENT_HOST_MAX + 16 };

static void host_write(const struct client_address *address, char out[HOST_SIZE])
{
    bool bracket = strchr(address->host, ':') != NULL;
    (void)snprintf(out, HOST_SIZE, "%s%s%s:%s", bracket ? "[" : "", address->host,
                   bracket ? "]" : "", address->port);
}

void client_head_begin(struct buf *head, const struct client_address *address,
                       const struct client_signature *signature)
{
    char host[HOST_SIZE];
    host_write(address, host);
    buf_text(head, signature->method);
    buf_byte(head, ' ');
    buf_text(head, signature->path);
    buf_text(head, " HTTP/1.1\r\nHost: ");
    buf_text(head, host);
    buf_text(head, "\r\n");
}

static void authorize(struct buf *head, const struct client_signature *signature,
                      const struct sign_header *headers, size_t count, int64_t now)
{
    char payload[SIGN_HEX];
    struct slice query = slice_str(signature->path);
    struct slice path = slice_cut(&query, '?');
    const struct sign_request request = {slice_str(signature->method), path, query, headers, count};
    const struct sign_scope scope = {slice_str(signature->region), SLICE_LIT("dynamodb"), now};
    sign_payload_hash(signature->body, payload);
    sign_by_header(&request, &scope, signature->keys, slice_of(payload, sizeof(payload)),
                   signature->cache, head);
}

void client_head_sign(struct buf *head, const struct client_address *address,
                      const struct client_signature *signature)
{
    char host[HOST_SIZE];
    char date[SIGN_DATE];
    const struct sign_keys *keys = signature->keys;
    struct sign_header headers[4];
    size_t count = 0;
    int64_t now = (int64_t)time(NULL);
    host_write(address, host);
    sign_date(now, date);
    headers[count++] = (struct sign_header){SLICE_LIT("Host"), slice_str(host)};
    headers[count++] = (struct sign_header){SLICE_LIT("X-Amz-Date"), slice_str(date)};
    if (signature->operation != NULL)
        headers[count++] =
            (struct sign_header){SLICE_LIT("X-Amz-Target"), slice_str(signature->operation)};
    if (keys != NULL && keys->token.len > 0)
        headers[count++] = (struct sign_header){SLICE_LIT("X-Amz-Security-Token"), keys->token};
    for (size_t i = 1; i < count; i++) { // the host is there
        buf_slice(head, headers[i].name);
        buf_text(head, ": ");
        buf_slice(head, headers[i].value);
        buf_text(head, "\r\n");
    }
    if (keys == NULL && signature->certified)
        return;
    buf_text(head, "Authorization: ");
    if (keys != NULL)
        authorize(head, signature, headers, count, now);
    else
        buf_printf(head,
                   SIGN_ALGORITHM " Credential=dolmen/%.8s/%s/dynamodb/aws4_request, "
                                  "SignedHeaders=host;x-amz-date%s, Signature=%064d",
                   date, signature->region, signature->operation != NULL ? ";x-amz-target" : "", 0);
    buf_text(head, "\r\n");
}
