// See nfc.h. The text is taken apart into characters that are not made of others, marks are put in
// order, and what there is one character for is put together: Unicode's Annex 15. Hangul is
// computed, the rest looked up (nfc_tables.h).
#include "text/nfc.h"

#include "base/encode.h"
#include "text/nfc_tables.h"

#include <stdlib.h>
#include <string.h>

enum {
    // Of Hangul: leading, vowel and trailing parts, and the syllables that they make.
    SYLLABLE = 0xac00,
    LEAD = 0x1100,
    VOWEL = 0x1161,
    TRAIL = 0x11a7,
    LEADS = 19,
    VOWELS = 21,
    TRAILS = 28,
    SYLLABLES = LEADS * VOWELS * TRAILS,
    FIRST_MARK = 0x300, // below, nothing is ever joined to what stands before it
    DEPTH = 4,          // how often parts have parts, and more
    FEW = 16,           // marks, which are sorted by hand
    CLASSES = 256,
};

struct character {
    uint32_t point;
    uint32_t kind; // the class by which marks are ordered; 0 for what is no mark
};

struct characters {
    size_t count;
    struct character *list; // NULL: they are only counted
};

// ---- Look-ups ---------------------------------------------------------------------------------

static int compare_class(const void *point, const void *row)
{
    const struct nfc_class *class = row;
    uint32_t wanted = *(const uint32_t *)point;
    return wanted < class->from ? -1 : wanted > class->to;
}

static uint32_t kind_of(uint32_t point)
{
    const struct nfc_class *class =
        bsearch(&point, nfc_classes, sizeof(nfc_classes) / sizeof(nfc_classes[0]),
                sizeof(nfc_classes[0]), compare_class);
    return class == NULL ? 0 : class->kind;
}

static int compare_split(const void *point, const void *row)
{
    uint32_t wanted = *(const uint32_t *)point;
    uint32_t whole = ((const struct nfc_split *)row)->whole;
    return wanted < whole ? -1 : wanted > whole;
}

static const struct nfc_split *split_of(uint32_t point)
{
    return bsearch(&point, nfc_split, sizeof(nfc_split) / sizeof(nfc_split[0]),
                   sizeof(nfc_split[0]), compare_split);
}

// The one character of two, or 0.
static uint32_t joined(uint32_t first, uint32_t second)
{
    if (first - LEAD < LEADS && second - VOWEL < VOWELS)
        return SYLLABLE + ((first - LEAD) * VOWELS + (second - VOWEL)) * TRAILS;
    if (first - SYLLABLE < SYLLABLES && (first - SYLLABLE) % TRAILS == 0 &&
        second - TRAIL - 1 < TRAILS - 1)
        return first + (second - TRAIL);
    size_t low = 0;
    size_t high = sizeof(nfc_join) / sizeof(nfc_join[0]);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct nfc_join *row = &nfc_join[middle];
        if (row->first < first || (row->first == first && row->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < sizeof(nfc_join) / sizeof(nfc_join[0]) && nfc_join[low].first == first &&
                 nfc_join[low].second == second;
    return found ? nfc_join[low].whole : 0;
}

// ---- Apart ------------------------------------------------------------------------------------

static void add(struct characters *all, uint32_t point)
{
    if (all->list == NULL)
        all->count++;
    else
        all->list[all->count++] =
            (struct character){point, point < FIRST_MARK ? 0 : kind_of(point)};
}

static void add_parts(struct characters *all, uint32_t point, unsigned depth)
{
    const struct nfc_split *split = point < 0xc0 || depth == DEPTH ? NULL : split_of(point);
    if (point - SYLLABLE < SYLLABLES) {
        uint32_t at = point - SYLLABLE;
        add(all, LEAD + at / (VOWELS * TRAILS));
        add(all, VOWEL + at / TRAILS % VOWELS);
        if (at % TRAILS > 0)
            add(all, TRAIL + at % TRAILS);
    } else if (split == NULL) {
        add(all, point);
    } else {
        add_parts(all, split->first, depth + 1);
        if (split->second != 0)
            add_parts(all, split->second, depth + 1);
    }
}

// The next character of text that is UTF-8.
static uint32_t next_point(const uint8_t **at, const uint8_t *end)
{
    uint32_t point = *(*at)++;
    unsigned more = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
    if (more > 0)
        point &= 0x3fU >> more;
    for (; more > 0 && *at < end; more--)
        point = point << 6 | (*(*at)++ & 0x3f);
    return point;
}

static void take_apart(struct slice text, struct characters *all)
{
    const uint8_t *at = text.ptr;
    while (at < text.ptr + text.len)
        add_parts(all, next_point(&at, text.ptr + text.len), 0);
}

// ---- In order ---------------------------------------------------------------------------------

static void sort_few(struct character *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && list[k].kind < list[k - 1].kind; k--) {
            struct character moved = list[k];
            list[k] = list[k - 1];
            list[k - 1] = moved;
        }
}

// By counting; `room` is as long as the list.
static void sort_many(struct character *list, size_t count, struct character *room)
{
    size_t starts[CLASSES + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[list[i].kind + 1]++;
    for (size_t i = 0; i < CLASSES; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        room[starts[list[i].kind]++] = list[i];
    memcpy(list, room, count * sizeof(*list));
}

// Marks that follow a character are ordered by their classes; those of one class stay as they are.
static bool order_marks(struct characters *all, struct arena *arena)
{
    struct character *room = NULL;
    for (size_t i = 0; i < all->count; i++) {
        size_t end = i;
        while (end < all->count && all->list[end].kind != 0)
            end++;
        if (end - i > FEW && room == NULL)
            room = arena_alloc(arena, (all->count - i) * sizeof(*room));
        if (end - i > FEW && room == NULL)
            return false;
        if (end - i > FEW)
            sort_many(all->list + i, end - i, room);
        else if (end - i > 1)
            sort_few(all->list + i, end - i);
        i = end;
    }
    return true;
}

// ---- Together ---------------------------------------------------------------------------------

// A mark joins the character before it unless one of its class, or a character, stands between.
static void join_all(struct characters *all)
{
    struct character *list = all->list;
    size_t base = SIZE_MAX; // the last that is no mark
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct character one = list[i];
        bool near =
            base != SIZE_MAX &&
            (kept == base + 1 || (list[kept - 1].kind < one.kind && list[kept - 1].kind != 0));
        uint32_t whole = near ? joined(list[base].point, one.point) : 0;
        if (whole != 0) {
            list[base].point = whole;
            continue;
        }
        if (one.kind == 0)
            base = kept;
        list[kept++] = one;
    }
    all->count = kept;
}

bool nfc_is_plain(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] >= 0xcc) // the first byte of FIRST_MARK and of all behind it
            return false;
    return true;
}

struct slice nfc_compose(struct slice text, struct arena *arena)
{
    if (nfc_is_plain(text))
        return text;
    struct characters all = {.count = 0};
    take_apart(text, &all);
    all = (struct characters){.list = arena_alloc(arena, all.count * sizeof(*all.list))};
    if (all.list == NULL)
        return slice_of(NULL, 0);
    take_apart(text, &all);
    if (!order_marks(&all, arena))
        return slice_of(NULL, 0);
    join_all(&all);
    uint8_t *made = arena_alloc(arena, all.count * 4 + 1);
    if (made == NULL)
        return slice_of(NULL, 0);
    size_t len = 0;
    for (size_t i = 0; i < all.count; i++)
        len += utf8_put(made + len, all.list[i].point);
    struct slice composed = slice_of(made, len);
    return slice_equal(composed, text) ? text : composed;
}
