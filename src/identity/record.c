// Entities as records: an M value, sealed with the record's name as context, so that a record
// cannot stand in for another one.
#include "identity/identity_internal.h"

#include "value/map.h"

#include <stddef.h>

static const char *const words[IDENTITY_KINDS] = {
#define X(id, word, prefix, most) word,
    IDENTITY_KIND_LIST(X)
#undef X
};

const char *identity_word(enum identity_kind kind)
{
    return words[kind];
}

// ---- The form ----------------------------------------------------------------------------------

static const struct map_row tag_rows[] = {
    MAP_SAME(caller_tag, TEXT, key),
    MAP_SAME(caller_tag, TEXT, value),
};
static const struct map_form tag_form = MAP_FORM(caller_tag, tag_rows);

static const struct map_row inline_rows[] = {
    MAP_SAME(identity_inline, TEXT, name),
    MAP_SAME(identity_inline, TEXT, document),
};
static const struct map_form inline_form = MAP_FORM(identity_inline, inline_rows);

static const struct map_row name_rows[] = {
    MAP_SAME(identity_name, TEXT, name),
};
static const struct map_form name_form = MAP_FORM(identity_name, name_rows);

// A row is a line.
// clang-format off
static const struct map_row rows[] = {
    MAP_SAME(identity_entity, TEXT, name),
    MAP_SAME(identity_entity, TEXT, path),
    MAP_SAME(identity_entity, TEXT, id),
    MAP_ROW(identity_entity, INTEGER, created_ms, "created"),
    MAP_SAME(identity_entity, TEXT, description),
    MAP_SAME(identity_entity, TEXT, document),
    MAP_ROW(identity_entity, INTEGER, session_s, "session"),
    MAP_SAME(identity_entity, TEXT, boundary),
    MAP_SAME(identity_entity, TEXT, tenant),
    MAP_SAME(identity_entity, FLAG, bound),
    MAP_SAME(identity_entity, TEXT, certificate),
    MAP_SAME(identity_entity, TEXT, user),
    MAP_SAME(identity_entity, TEXT, secret),
    MAP_SAME(identity_entity, FLAG, inactive),
    MAP_LIST_ROW(identity_entity, tags, tag_count, LIMIT_IDENTITY_TAGS, "tags", &tag_form),
    MAP_LIST_ROW(identity_entity, inlines, inline_count, LIMIT_IDENTITY_INLINES, "inlines", &inline_form),
    MAP_LIST_ROW(identity_entity, attached, attached_count, LIMIT_IDENTITY_ATTACHED, "attached", &name_form),
    MAP_LIST_ROW(identity_entity, groups, group_count, LIMIT_IDENTITY_MEMBERSHIPS, "groups", &name_form),
};
// clang-format on
static const struct map_form form = MAP_FORM(identity_entity, rows);

// ---- Names -------------------------------------------------------------------------------------

struct slice record_name(struct arena *arena, enum identity_kind kind, struct slice name)
{
    const char *text = arena_printf(arena, IDENTITY_PREFIX "%s/%.*s", words[kind], SLICE_FMT(name));
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

enum identity_kind record_kind(struct slice name, struct slice *rest)
{
    static const struct slice prefix = {(const uint8_t *)IDENTITY_PREFIX,
                                        sizeof(IDENTITY_PREFIX) - 1};
    if (!slice_begins(name, prefix))
        return IDENTITY_KINDS;
    *rest = slice_of(name.ptr + prefix.len, name.len - prefix.len);
    struct slice word = slice_cut(rest, '/');
    unsigned kind = 0;
    while (kind < IDENTITY_KINDS && !slice_is(word, words[kind]))
        kind++;
    return rest->len == 0 ? IDENTITY_KINDS : (enum identity_kind)kind;
}

// ---- Sealing -----------------------------------------------------------------------------------

struct sealed {
    struct slice bytes;
};
static const struct map_row sealed_rows[] = {MAP_SAME(sealed, BYTES, bytes)};
static const struct map_form sealed_form = MAP_FORM(sealed, sealed_rows);

struct slice record_seal(const struct identity *identity, const struct identity_entity *entity,
                         struct slice name, struct arena *arena, struct error *error)
{
    struct buf bytes;
    struct slice plain = map_encode(&form, entity, arena, error);
    if (plain.len == 0)
        return plain;
    buf_init(&bytes, LIMIT_IDENTITY_RECORD);
    crypt_seal(&identity->records, name, plain, &bytes);
    if (bytes.failed) {
        buf_release(&bytes);
        (void)error_set(error, ERR_LIMIT_EXCEEDED, "The %s is too large", words[entity->kind]);
        return VALUE_NONE;
    }
    struct sealed sealed = {buf_view(&bytes)};
    struct slice value = map_encode(&sealed_form, &sealed, arena, error);
    buf_release(&bytes);
    return value;
}

bool record_open(const struct identity *identity, struct slice name, struct slice value,
                 struct arena *arena, struct identity_entity *out)
{
    struct slice rest;
    struct sealed sealed;
    struct buf plain;
    enum identity_kind kind = record_kind(name, &rest);
    if (kind == IDENTITY_KINDS || !value_valid(value) || value_type(value) != VALUE_M)
        return false;
    map_decode(&sealed_form, value, &sealed);
    buf_init(&plain, LIMIT_IDENTITY_RECORD);
    bool opened = sealed.bytes.len > 0 &&
                  crypt_open(&identity->records, name, sealed.bytes, &plain) &&
                  value_valid(buf_view(&plain));
    struct slice kept = opened ? arena_copy(arena, buf_view(&plain)) : slice_of(NULL, 0);
    if (plain.ptr != NULL)
        explicit_bzero(plain.ptr, plain.cap);
    buf_release(&plain);
    if (kept.ptr == NULL)
        return false;
    map_decode(&form, kept, out);
    out->kind = kind;
    return slice_equal(out->name, rest);
}
