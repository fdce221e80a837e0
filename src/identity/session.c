// Tokens of sessions. A token is the session itself, sealed: nothing is kept of it, so that it
// survives a restart and costs no memory. What a loop has opened it keeps for the next request, for
// compiling the policies of a session takes longer than a request may.
#include "identity/identity_internal.h"

#include "base/encode.h"
#include "base/hash.h"
#include "value/map.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stddef.h>
#include <stdlib.h>

#define TOKEN_CONTEXT "dolmen session token 1"
#define TOKEN_PREFIX  "DOL1" // base64 goes on behind it

enum { SESSION_MEMORY = 4 << 20, TOKEN_MAX = 24 << 10, OPENED_SLOTS = 128 };

// ---- The form ----------------------------------------------------------------------------------

static const struct map_row tag_rows[] = {
    MAP_SAME(caller_tag, TEXT, key),
    MAP_SAME(caller_tag, TEXT, value),
};
static const struct map_form tag_form = MAP_FORM(caller_tag, tag_rows);
static const struct map_row name_rows[] = {
    MAP_ROW(identity_name, TEXT, name, "document"),
};
static const struct map_form name_form = MAP_FORM(identity_name, name_rows);

// A row is a line.
// clang-format off
static const struct map_row rows[] = {
    MAP_SAME(identity_session, TEXT, key),
    MAP_SAME(identity_session, TEXT, secret),
    MAP_ROW(identity_session, INTEGER, issued_s, "issued"),
    MAP_ROW(identity_session, INTEGER, expires_s, "expires"),
    MAP_SAME(identity_session, TEXT, role),
    MAP_SAME(identity_session, TEXT, user),
    MAP_SAME(identity_session, TEXT, id),
    MAP_SAME(identity_session, TEXT, name),
    MAP_ROW(identity_session, TEXT, source_identity, "source"),
    MAP_LIST_ROW(identity_session, tags, tag_count, LIMIT_IDENTITY_TAGS, "tags", &tag_form),
    MAP_LIST_ROW(identity_session, policies, policy_count, LIMIT_IDENTITY_ATTACHED + 1, "policies", &name_form),
};
// clang-format on
static const struct map_form form = MAP_FORM(identity_session, rows);

bool identity_token_make(const struct identity *identity, const struct identity_session *session,
                         struct arena *arena, struct buf *out, struct error *error)
{
    struct buf sealed;
    struct slice plain = map_encode(&form, session, arena, error);
    if (plain.len == 0)
        return false;
    buf_init(&sealed, TOKEN_MAX);
    crypt_seal(&identity->tokens, SLICE_LIT(TOKEN_CONTEXT), plain, &sealed);
    bool made = !sealed.failed;
    buf_text(out, TOKEN_PREFIX);
    base64_encode(out, buf_view(&sealed));
    buf_release(&sealed);
    return (made && !out->failed) ||
           error_set(error, ERR_VALIDATION,
                     "The session's policies and tags are too large for a token");
}

// ---- Tokens that are open ----------------------------------------------------------------------

struct identity_opened {
    size_t holders; // requests, and one for the slot
    struct arena arena;
    struct slice token;
    struct slice plain;
    struct identity_session session;
    struct slice arn; // of the session of a role
    struct slice user_id;
    const struct policy *policies[LIMIT_IDENTITY_ATTACHED + 1];
};

struct identity_tokens {
    struct identity *identity;
    uint64_t seed;
    struct identity_opened *slots[OPENED_SLOTS];
};

struct identity_tokens *identity_tokens_new(struct identity *identity)
{
    struct identity_tokens *tokens = memory_zeroed(sizeof(*tokens));
    tokens->identity = identity;
    ensure(RAND_bytes((uint8_t *)&tokens->seed, sizeof(tokens->seed)) == 1);
    return tokens;
}

void identity_tokens_free(struct identity_tokens *tokens)
{
    for (size_t i = 0; tokens != NULL && i < OPENED_SLOTS; i++)
        identity_opened_release(tokens->slots[i]);
    free(tokens);
}

void identity_opened_release(struct identity_opened *opened)
{
    if (opened == NULL || --opened->holders > 0)
        return;
    for (size_t i = 0; i < opened->session.policy_count; i++)
        policy_release((struct policy *)(uintptr_t)opened->policies[i]);
    if (opened->plain.len > 0)
        OPENSSL_cleanse((void *)(uintptr_t)opened->plain.ptr, opened->plain.len);
    arena_release(&opened->arena);
    free(opened);
}

const struct identity_session *identity_opened_session(const struct identity_opened *opened)
{
    return &opened->session;
}

// The plain bytes of a token, in the arena; empty if it is none.
static struct slice unseal(const struct identity *identity, struct slice token, struct arena *arena)
{
    static const size_t skip = sizeof(TOKEN_PREFIX) - 1;
    struct buf sealed;
    struct buf plain;
    if (token.len > TOKEN_MAX * 2 || !slice_begins(token, SLICE_LIT(TOKEN_PREFIX)))
        return slice_of(NULL, 0);
    buf_init(&sealed, TOKEN_MAX);
    buf_init(&plain, TOKEN_MAX);
    bool opened =
        base64_decode(&sealed, slice_of(token.ptr + skip, token.len - skip)) &&
        crypt_open(&identity->tokens, SLICE_LIT(TOKEN_CONTEXT), buf_view(&sealed), &plain) &&
        value_valid(buf_view(&plain));
    struct slice kept = opened ? arena_copy(arena, buf_view(&plain)) : slice_of(NULL, 0);
    if (plain.ptr != NULL)
        OPENSSL_cleanse(plain.ptr, plain.cap);
    buf_release(&sealed);
    buf_release(&plain);
    return kept;
}

static bool complete(struct identity_opened *opened)
{
    struct identity_session *session = &opened->session;
    struct policy_fault fault;
    size_t count = session->policy_count;
    session->policy_count = 0;
    for (size_t i = 0; i < count; i++) {
        opened->policies[i] =
            policy_compile(session->policies[i].name, POLICY_SESSION, NULL, NULL, &fault);
        if (opened->policies[i] == NULL)
            return false;
        session->policy_count++;
    }
    if (session->role.len == 0)
        return true;
    char *arn =
        arena_printf(&opened->arena, "arn:aws:sts::" IDENTITY_ACCOUNT ":assumed-role/%.*s/%.*s",
                     SLICE_FMT(session->role), SLICE_FMT(session->name));
    char *id =
        arena_printf(&opened->arena, "%.*s:%.*s", SLICE_FMT(session->id), SLICE_FMT(session->name));
    if (arn == NULL || id == NULL)
        return false;
    opened->arn = slice_str(arn);
    opened->user_id = slice_str(id);
    return true;
}

static struct identity_opened *open_new(const struct identity *identity, struct slice token)
{
    struct identity_opened *opened = memory_zeroed(sizeof(*opened));
    opened->holders = 1;
    arena_init(&opened->arena, SESSION_MEMORY);
    opened->plain = unseal(identity, token, &opened->arena);
    opened->token = arena_copy(&opened->arena, token);
    bool fine = opened->plain.len > 0 && opened->token.ptr != NULL;
    if (fine) {
        map_decode(&form, opened->plain, &opened->session);
        fine = complete(opened);
    }
    if (fine)
        return opened;
    identity_opened_release(opened);
    return NULL;
}

struct identity_opened *identity_token_open(struct identity_tokens *tokens, struct slice token)
{
    struct identity_opened **slot = &tokens->slots[hash_of(tokens->seed, token) % OPENED_SLOTS];
    if (*slot == NULL || !slice_equal((*slot)->token, token)) {
        struct identity_opened *opened = open_new(tokens->identity, token);
        if (opened == NULL)
            return NULL;
        identity_opened_release(*slot);
        *slot = opened;
    }
    (*slot)->holders++;
    return *slot;
}

// ---- Who asks ----------------------------------------------------------------------------------

// Tags of the role, but for those that the session has in their place; then those of the session.
static bool merge_tags(const struct identity_session *session, const struct identity_entity *role,
                       struct arena *arena, struct caller *out)
{
    if (session->tag_count == 0) {
        out->tags = role->tags;
        out->tag_count = role->tag_count;
        return true;
    }
    struct caller_tag *tags =
        arena_zalloc(arena, session->tag_count + role->tag_count, sizeof(*tags));
    if (tags == NULL)
        return false;
    memcpy(tags, session->tags, session->tag_count * sizeof(*tags));
    out->tags = tags;
    out->tag_count = session->tag_count;
    for (size_t i = 0; i < role->tag_count; i++) {
        struct slice ignored;
        if (!caller_tag(out, role->tags[i].key, &ignored))
            tags[out->tag_count++] = role->tags[i];
    }
    return true;
}

bool identity_opened_caller(const struct identity_opened *opened, const struct identity_view *view,
                            struct arena *arena, struct caller *out)
{
    const struct identity_session *session = &opened->session;
    bool own = session->role.len == 0;
    const struct identity_one *one = identity_find(view, own ? IDENTITY_USER : IDENTITY_ROLE,
                                                   own ? session->user : session->role);
    if (one == NULL || one->damage != NULL || !slice_equal(one->entity.id, session->id))
        return false;
    identity_caller(one, out);
    out->access_key = session->key;
    out->token_issued_s = session->issued_s;
    out->source_identity = session->source_identity;
    out->policies.session = opened->policies;
    out->policies.session_count = session->policy_count;
    if (own)
        return true;
    out->principal.kind = PRINCIPAL_SESSION;
    out->principal.arn = opened->arn;
    out->user_id = opened->user_id;
    return merge_tags(session, &one->entity, arena, out);
}
