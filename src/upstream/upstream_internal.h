// What the files of the gateway share.
//
//   upstream.c   which requests are passed on, and which are judged here
//   adopt.c      whether a model can be kept: at the start
//   flow.c       writes that are judged here: read, judge, write with pins, again
//   request.c    the requests that are sent for them
#ifndef UPSTREAM_INTERNAL_H
#define UPSTREAM_INTERNAL_H

#include "call/operation.h"
#include "upstream/upstream.h"
#include "json/reader.h"

#include "guard/guard.h"

// Claims of unique values are items of the same table, with keys that begin like this. They have
// an owner: a digest of the key of the item that has the value.
#define CLAIM_PREFIX "dolmen#unique#"
#define CLAIM_OWNER  "dolmen_owner"
#define CLAIM_WHAT   "dolmen_what"

enum { CLAIM_DIGEST = 64, CLAIM_KEY = sizeof(CLAIM_PREFIX) + CLAIM_DIGEST };

struct upstream {
    struct transport *transport;
    struct elsewhere elsewhere;
    struct api *api;
};

// flow.c
bool flow_start(void *context, struct api_call *call, struct write_job *job);

// request.c
struct claim_change {
    const struct table *table;
    const struct guard_claim *claim;
    size_t taker; // position of the action + 1; 0: nobody
    size_t giver;
};

// The digest of an item's key, which is the same in all gateways.
void owner_of(const struct write_action *action, char out[CLAIM_DIGEST + 1]);

void request_get(struct json_writer *w, const struct write_action *action);
// The members of a put, update, delete or check that is done only if the item there still is
// `before`, as far as `after` may depend on it. False if there is too much to pin.
MUST_CHECK bool request_write(struct json_writer *w, const struct write_action *action,
                              struct slice before, struct slice after, struct error *error);
// Its kind, as TransactWriteItems names it.
const char *request_kind(const struct write_action *action, struct slice before,
                         struct slice after);
// An element of TransactWriteItems that takes a claim, or gives it back.
void request_claim(struct json_writer *w, const struct claim_change *change,
                   const struct write_action *actions);
// The key of a claim of that name, as members of the object that is open.
void request_claim_key(struct json_writer *w, const struct table *table, const char *name);

// Parts of answers, of which nothing but the form is trusted. The text of a member; empty if there
// is none.
struct slice told_member(struct slice json, const char *name, struct arena *arena);
struct slice told_text(struct slice json, const char *name, struct arena *arena);
// The next element of an array, whose reader was made by told_array().
bool told_array(struct slice json, struct arena *arena, struct json_reader *reader);
bool told_element(struct json_reader *reader, struct slice *out);

#endif
