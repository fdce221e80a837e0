// Where a URL leads: the part of it that decides whom a server talks to. It is read strictly, so
// that whoever connects later does not read it in another way. Pure over its text.
#ifndef TEXT_URL_H
#define TEXT_URL_H

#include "base/attributes.h"
#include "base/slice.h"

#include <stdbool.h>

enum { URL_HOST_MAX = 253 };

struct url_place {
    struct slice host; // a name or an address, without the brackets of IPv6; part of the text
    unsigned port;     // 0 if none is given
};

// "host", "host:port", "[v6]" or "[v6]:port". NULL if it is one, else what is wrong with it: words
// that go behind a colon.
MUST_CHECK const char *url_place_read(struct slice text, struct url_place *place);

// "http://" or "https://", perhaps a name and a password with "@", the place, and perhaps a path
// and a query. NULL, or what is wrong with it.
MUST_CHECK const char *url_http_read(struct slice url, struct url_place *place);

#endif
