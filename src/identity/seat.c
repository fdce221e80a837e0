// Who signs. Whether or not the key is known, there is a secret to check with, and the way to it is
// the same.
#include "identity/identity_internal.h"

#include "sign/sign.h"

#include <openssl/crypto.h>
#include <stdlib.h>

struct identity_seat {
    struct identity_reader *reader;
    struct identity_tokens *tokens;
    struct sign_cache *cache;
    char nobody[IDENTITY_SECRET]; // a secret that nobody has
};

struct identity_seat *identity_seat_new(struct identity *identity)
{
    struct identity_seat *seat = memory_zeroed(sizeof(*seat));
    seat->reader = identity_reader_new(identity);
    seat->tokens = identity_tokens_new(identity);
    seat->cache = sign_cache_new();
    ensure_memory(seat->cache);
    identity_make_secret(seat->nobody);
    return seat;
}

void identity_seat_free(struct identity_seat *seat)
{
    if (seat == NULL)
        return;
    identity_reader_free(seat->reader);
    identity_tokens_free(seat->tokens);
    sign_cache_free(seat->cache);
    OPENSSL_cleanse(seat->nobody, sizeof(seat->nobody));
    free(seat);
}

struct sign_cache *identity_seat_cache(struct identity_seat *seat)
{
    return seat->cache;
}

static void look_key(const struct identity_view *view, struct slice id, struct identity_guest *out)
{
    const struct identity_one *key = identity_find(view, IDENTITY_KEY, id);
    if (key == NULL || key->damage != NULL || key->entity.inactive)
        return;
    out->known = true;
    out->secret = key->entity.secret;
    identity_caller(key->owner, &out->caller);
    out->caller.access_key = key->entity.name;
}

void identity_seat_look(struct identity_seat *seat, struct slice access_key, struct slice token,
                        int64_t now_s, struct arena *arena, struct identity_guest *out)
{
    *out = (struct identity_guest){.lease = identity_lease_take(seat->reader),
                                   .secret = slice_str(seat->nobody)};
    const struct identity_view *view = identity_lease_view(out->lease);
    if (token.len > 0)
        out->opened = identity_token_open(seat->tokens, token);
    if (out->opened != NULL && slice_equal(identity_opened_session(out->opened)->key, access_key)) {
        const struct identity_session *session = identity_opened_session(out->opened);
        out->secret = session->secret;
        out->known = identity_opened_caller(out->opened, view, arena, &out->caller);
        out->token_expired = now_s >= session->expires_s;
        return;
    }
    look_key(view, access_key, out);
    out->token_foreign = token.len > 0;
}

void identity_seat_certificate(struct identity_seat *seat, struct slice fingerprint,
                               struct slice subject, struct identity_guest *out)
{
    *out = (struct identity_guest){.lease = identity_lease_take(seat->reader)};
    const struct identity_one *user =
        identity_of_certificate(identity_lease_view(out->lease), fingerprint, subject);
    out->known = user != NULL;
    if (user != NULL)
        identity_caller(user, &out->caller);
}

void identity_guest_leave(struct identity_guest *guest)
{
    identity_lease_end(guest->lease);
    identity_opened_release(guest->opened);
    *guest = (struct identity_guest){.lease = NULL};
}
