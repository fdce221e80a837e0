// A gateway: this server's API over tables that another server has (Amazon DynamoDB, or any server
// of its API). It keeps nothing: what models ask of writes is kept by conditional writes that pin
// what the guard has read, so that any number of gateways may stand side by side (ADR 030).
//
// The api of a gateway has the tables of its models, and none of their items: they are what
// requests are judged by. All that is not a write to one of them is passed on as it came, signed
// anew.
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include "upstream/transport.h"

struct api;
struct upstream;

// NULL with a sentence in `error`.
MUST_CHECK struct upstream *upstream_open(const char *url, char *error, size_t error_size);
// The api, whose models are applied, is a gateway's from now on. False with a sentence if a model
// asks for what cannot be kept here, or the tables there are not those of the model. With `callers`
// requests are somebody's, which policies of a model would be about.
MUST_CHECK bool upstream_adopt(struct upstream *upstream, struct api *api, bool callers,
                               char *error, size_t error_size);
// The server is to stop: nothing is tried again.
void upstream_hurry(struct upstream *upstream);
// When no call is in progress.
void upstream_close(struct upstream *upstream);

void upstream_stats(struct upstream *upstream, struct transport_stats *out);
const char *upstream_url(const struct upstream *upstream);

#endif
