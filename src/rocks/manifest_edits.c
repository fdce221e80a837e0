// See manifest_edits.h. An edit is a row of fields, each a tag and what belongs to it; numbers are
// varints, strings have their length in front of them.
//
// All changes are gathered and sorted by table and time. So a table's own history stands together,
// and must be: added, removed, added, …
#include "rocks/manifest_edits.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_COMPARATOR = 1, // begins the snapshot that a list starts with
    TAG_LOG_NUMBER = 2,
    TAG_NEXT_FILE = 3,
    TAG_LAST_SEQUENCE = 4,
    TAG_COMPACT_CURSOR = 5,
    TAG_REMOVED = 6,
    TAG_PREVIOUS_LOG = 9,
    TAG_MIN_LOG = 10,
    TAG_ADDED = 103,
    TAG_FAMILY = 200,
    TAG_FAMILY_ADDED = 201,
    TAG_FAMILY_REMOVED = 202,
    TAG_FAMILY_MAX = 203,
    TAG_GROUP = 300,
    TAG_MAY_BE_SKIPPED = 1 << 13, // with this bit, a string follows
    FIELD_END = 1,                // of an added table
};

struct edits_change {
    uint64_t number;
    uint64_t at;
    size_t order;
    uint64_t bytes;
    bool added;
};

void edits_init(struct edits *edits)
{
    *edits = (struct edits){.changes = NULL};
}

void edits_release(struct edits *edits)
{
    free(edits->changes);
    free(edits->tables);
}

// ---- Reading ------------------------------------------------------------------------------------

static bool take_number(struct slice *rest, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < rest->len && i < 10; i++) {
        number |= (uint64_t)(rest->ptr[i] & 0x7f) << 7 * i;
        if (rest->ptr[i] < 0x80) {
            *rest = slice_of(rest->ptr + i + 1, rest->len - i - 1);
            *out = number;
            return true;
        }
    }
    return false;
}

static bool skip_numbers(struct slice *rest, int count)
{
    uint64_t ignored;
    while (count > 0 && take_number(rest, &ignored))
        count--;
    return count == 0;
}

static bool skip_string(struct slice *rest)
{
    uint64_t length;
    if (!take_number(rest, &length) || length > rest->len)
        return false;
    *rest = slice_of(rest->ptr + length, rest->len - length);
    return true;
}

static void find_fault(struct edits *edits, uint64_t at, const char *fault)
{
    if (edits->fault != NULL && edits->fault_at <= at)
        return;
    edits->fault = fault;
    edits->fault_at = at;
}

static void note_change(struct edits *edits, struct edits_change change)
{
    edits->changes = memory_grow(edits->changes, edits->change_count, &edits->change_capacity,
                                 sizeof(*edits->changes));
    change.order = edits->change_count;
    edits->changes[edits->change_count++] = change;
}

// Level, number, size, smallest and largest key, two sequences; then further fields to the end.
static bool take_added(struct edits *edits, uint64_t at, struct slice *rest)
{
    struct edits_change change = {.at = at, .added = true};
    uint64_t field = 0;
    bool ok = skip_numbers(rest, 1) && take_number(rest, &change.number) &&
              take_number(rest, &change.bytes) && skip_string(rest) && skip_string(rest) &&
              skip_numbers(rest, 2);
    while (ok && (ok = take_number(rest, &field)) && field != FIELD_END)
        ok = skip_string(rest);
    if (ok)
        note_change(edits, change);
    return ok;
}

static bool take_removed(struct edits *edits, uint64_t at, struct slice *rest)
{
    struct edits_change change = {.at = at, .added = false};
    bool ok = skip_numbers(rest, 1) && take_number(rest, &change.number);
    if (ok)
        note_change(edits, change);
    return ok;
}

// A number that never falls from one edit to the next.
static bool take_rising(struct edits *edits, uint64_t at, struct slice *rest, uint64_t *last)
{
    uint64_t number;
    if (!take_number(rest, &number))
        return false;
    if (number < *last)
        find_fault(edits, at, "an edit is older than those before it");
    *last = number;
    return true;
}

// False if the rest of the edit cannot be read.
static bool take_field(struct edits *edits, uint64_t at, uint64_t tag, struct slice *rest)
{
    switch (tag) {
    case TAG_COMPARATOR:
        if (edits->numbered)
            find_fault(edits, at, "another list begins there");
        return skip_string(rest);
    case TAG_NEXT_FILE:
        edits->numbered = true;
        return take_rising(edits, at, rest, &edits->next_file);
    case TAG_LAST_SEQUENCE:
        return take_rising(edits, at, rest, &edits->last_sequence);
    case TAG_REMOVED:
        return take_removed(edits, at, rest);
    case TAG_ADDED:
        return take_added(edits, at, rest);
    case TAG_COMPACT_CURSOR:
        return skip_numbers(rest, 1) && skip_string(rest);
    case TAG_LOG_NUMBER:
    case TAG_PREVIOUS_LOG:
    case TAG_MIN_LOG:
    case TAG_FAMILY:
    case TAG_FAMILY_MAX:
    case TAG_GROUP:
        return skip_numbers(rest, 1);
    case TAG_FAMILY_ADDED:
        return skip_string(rest);
    case TAG_FAMILY_REMOVED:
        return true;
    default:
        return (tag & TAG_MAY_BE_SKIPPED) != 0 && skip_string(rest);
    }
}

void edits_add(struct edits *edits, uint64_t at, struct slice edit)
{
    uint64_t tag;
    bool ok = true;
    while (ok && edit.len > 0)
        ok = take_number(&edit, &tag) && take_field(edits, at, tag, &edit);
    edits->unknown = edits->unknown || !ok;
}

// ---- All of them --------------------------------------------------------------------------------

static int compare_changes(const void *a, const void *b)
{
    const struct edits_change *one = a;
    const struct edits_change *other = b;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

void edits_settle(struct edits *edits)
{
    if (edits->change_count == 0)
        return;
    qsort(edits->changes, edits->change_count, sizeof(*edits->changes), compare_changes);
    edits->tables = calloc(edits->change_count, sizeof(*edits->tables));
    ensure_memory(edits->tables);
    struct edits_table *table = NULL;
    for (size_t i = 0; i < edits->change_count; i++) {
        const struct edits_change *change = &edits->changes[i];
        if (table == NULL || table->number != change->number) {
            table = &edits->tables[edits->table_count++];
            table->number = change->number;
        }
        if (change->added && table->listed)
            find_fault(edits, change->at, "an edit adds a table that is there already");
        else if (!change->added && !table->listed)
            find_fault(edits, change->at, "an edit removes a table that is not there");
        table->listed = change->added;
        if (change->added)
            table->bytes = change->bytes;
    }
}

static int compare_number(const void *key, const void *element)
{
    uint64_t number = *(const uint64_t *)key;
    const struct edits_table *table = element;
    return number < table->number ? -1 : number > table->number;
}

const struct edits_table *edits_find(const struct edits *edits, uint64_t number)
{
    if (edits->table_count == 0)
        return NULL;
    return bsearch(&number, edits->tables, edits->table_count, sizeof(*edits->tables),
                   compare_number);
}
