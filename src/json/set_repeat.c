// Printing sets with repeated members.
//
// The older wording shows the members as sent. The newer one quotes them and shows the
// order in which its sorted set met them: sorted up to the first repeat, then that repeat,
// then the rest as sent. Binary members sort by their bytes and print as base64.
#include "json/set_repeat.h"

#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"

struct member {
    struct slice text;  // as sent
    struct slice bytes; // what it stands for
    size_t index;
};

static int member_compare(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    int order = slice_compare(left->bytes, right->bytes);
    if (order != 0)
        return order;
    return (left->index > right->index) - (left->index < right->index);
}

static size_t count_members(struct json_reader at)
{
    size_t count = 0;
    if (!json_enter(&at))
        return 0;
    while (json_next_element(&at) && json_skip(&at))
        count++;
    return count;
}

static bool read_members(struct json_reader at, enum value_type type, struct arena *arena,
                         struct member *members)
{
    struct buf binary;
    buf_init(&binary, LIMIT_BODY);
    bool ok = json_enter(&at);
    for (size_t i = 0; ok && json_next_element(&at); i++) {
        struct member *member = &members[i];
        member->index = i;
        ok = json_read_string(&at, &member->text);
        member->bytes = member->text;
        if (!ok || type != VALUE_BS)
            continue;
        buf_clear(&binary);
        ok = base64_decode(&binary, member->text) && !binary.failed;
        if (ok)
            member->bytes = arena_copy(arena, buf_view(&binary));
        ok = ok && member->bytes.ptr != NULL;
    }
    buf_release(&binary);
    return ok;
}

// Sorts the members before the first repeat; `scratch` has room for all.
static void order_newer(struct member *members, struct member *scratch, size_t count)
{
    memcpy(scratch, members, count * sizeof *members);
    qsort(scratch, count, sizeof *scratch, member_compare);
    size_t repeat = count;
    for (size_t i = 1; i < count; i++) {
        if (slice_equal(scratch[i - 1].bytes, scratch[i].bytes) && scratch[i].index < repeat)
            repeat = scratch[i].index;
    }
    qsort(members, repeat, sizeof *members, member_compare);
}

static const char *print_members(const struct member *members, size_t count, enum value_type type,
                                 const char *quote, const char *comma, struct arena *arena)
{
    struct buf text;
    buf_init(&text, LIMIT_REQUEST_MEMORY);
    buf_text(&text, "One or more parameter values were invalid: Input collection [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_text(&text, comma);
        buf_text(&text, quote);
        buf_slice(&text, members[i].text);
        buf_text(&text, quote);
    }
    buf_text(&text, type == VALUE_BS ? "]of type BS" : "]");
    buf_text(&text, " contains duplicates.");
    struct slice copy = {NULL, 0};
    if (!text.failed)
        copy = arena_copy(arena, buf_view(&text));
    buf_release(&text);
    return (const char *)copy.ptr;
}

bool set_repeat_print(struct json_reader at, enum value_type type, struct arena *arena,
                      const char **older, const char **newer)
{
    size_t count = count_members(at);
    struct member *members = arena_zalloc(arena, 2 * count + 1, sizeof *members);
    if (members == NULL || !read_members(at, type, arena, members))
        return false;
    *older = print_members(members, count, type, "", ", ", arena);
    order_newer(members, members + count, count);
    *newer = print_members(members, count, type, "\"", type == VALUE_BS ? "," : ", ", arena);
    return *older != NULL && *newer != NULL;
}
