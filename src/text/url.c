// See url.h.
#include "text/url.h"

#include <arpa/inet.h>
#include <string.h>

enum { PORT_MAX = 65535, PORT_DIGITS = 5 };

// The characters of names of hosts; those beyond ASCII are for whoever resolves the name.
static bool host_character(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c >= 0x80;
}

static const char *name_judge(struct slice name)
{
    if (name.len == 0)
        return "there is no host";
    if (name.len > URL_HOST_MAX)
        return "the host is longer than 253 bytes";
    for (size_t i = 0; i < name.len; i++)
        if (!host_character(name.ptr[i]))
            return "the host has a character that no host has";
    return NULL;
}

// The zone of a link-local address ("%eth0") is no part of the address.
static const char *address_judge(struct slice text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr out;
    struct slice plain = slice_cut(&text, '%');
    if (plain.len >= sizeof(address) || memchr(plain.ptr, 0, plain.len) != NULL)
        return "what is in brackets is no IPv6 address";
    memcpy(address, plain.ptr, plain.len);
    address[plain.len] = 0;
    return inet_pton(AF_INET6, address, &out) == 1 ? NULL
                                                   : "what is in brackets is no IPv6 address";
}

static const char *port_read(struct slice text, unsigned *port)
{
    unsigned value = 0;
    bool sound = text.len > 0 && text.len <= PORT_DIGITS;
    for (size_t i = 0; sound && i < text.len; i++) {
        sound = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    if (!sound || value == 0 || value > PORT_MAX)
        return "the port is not a number from 1 to 65535";
    *port = value;
    return NULL;
}

const char *url_place_read(struct slice text, struct url_place *place)
{
    const char *wrong;
    struct slice port = slice_of(NULL, 0);
    bool has_port = false;
    *place = (struct url_place){.port = 0};
    if (text.len > 0 && text.ptr[0] == '[') {
        const uint8_t *end = memchr(text.ptr, ']', text.len);
        if (end == NULL)
            return "the bracket of an IPv6 address is not closed";
        place->host = slice_of(text.ptr + 1, (size_t)(end - text.ptr) - 1);
        port = slice_of(end + 1, text.len - place->host.len - 2);
        has_port = port.len > 0;
        if (has_port && port.ptr[0] != ':')
            return "behind the bracket of an IPv6 address comes its port, with a colon";
        if (has_port)
            port = slice_of(port.ptr + 1, port.len - 1);
        wrong = address_judge(place->host);
    } else {
        has_port = memchr(text.ptr, ':', text.len) != NULL;
        port = text;
        place->host = slice_cut(&port, ':');
        wrong = has_port && memchr(port.ptr, ':', port.len) != NULL
                    ? "an IPv6 address goes into brackets"
                    : name_judge(place->host);
    }
    return wrong != NULL || !has_port ? wrong : port_read(port, &place->port);
}

const char *url_http_read(struct slice url, struct url_place *place)
{
    struct slice scheme =
        slice_begins(url, SLICE_LIT("https://")) ? SLICE_LIT("https://") : SLICE_LIT("http://");
    if (!slice_begins(url, scheme))
        return "it does not begin with http:// or https://";
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= 0x20 || url.ptr[i] == 0x7f)
            return "it has a space or a control character in it";
    struct slice rest = slice_of(url.ptr + scheme.len, url.len - scheme.len);
    size_t len = 0;
    while (len < rest.len && memchr("/?#", rest.ptr[len], 3) == NULL)
        len++;
    struct slice authority = slice_of(rest.ptr, len);
    const uint8_t *at = len == 0 ? NULL : memrchr(authority.ptr, '@', len);
    if (at != NULL)
        authority = slice_of(at + 1, len - (size_t)(at + 1 - authority.ptr));
    return url_place_read(authority, place);
}
