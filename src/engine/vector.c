// Vector indexes: reading vectors from items, judging them, and keeping the entries of an index.
// As with other indexes an entry is a function of the item alone, so that the difference between
// two images of an item is known without reading.
#include "engine/vector.h"

#include "engine/engine_internal.h"
#include "value/number.h"

#include <math.h>
#include <stdlib.h>

// ---- Numbers --------------------------------------------------------------------------------

static bool number_by_text(struct slice stored, float *out)
{
    char text[NUMBER_TEXT_MAX + 1];
    text[number_to_text(stored, text)] = 0;
    *out = strtof(text, NULL);
    return isfinite(*out);
}

// Up to nine base-100 digits are an integer that a long double holds exactly, and so is the power
// of ten; the others, which nobody sends, go through text.
bool vector_number(struct slice stored, float *out)
{
    enum { DIGITS = 9, POWERS = 14 };
    static const long double powers[POWERS] = {1e0L,  1e2L,  1e4L,  1e6L,  1e8L,  1e10L, 1e12L,
                                               1e14L, 1e16L, 1e18L, 1e20L, 1e22L, 1e24L, 1e26L};
    uint8_t head = stored.ptr[0];
    *out = 0;
    if (head == 0x80)
        return true;
    bool negative = head < 0x80;
    size_t digits = stored.len - 1;
    if (negative && stored.ptr[digits] == 102)
        digits--;
    int exponent = (int)(negative ? (uint8_t)~head : head) - 0xc0 - (int)digits;
    if (digits > DIGITS || exponent <= -POWERS || exponent >= POWERS)
        return number_by_text(stored, out);
    uint64_t whole = 0;
    for (size_t i = 1; i <= digits; i++)
        whole = whole * 100 + (negative ? 101u - stored.ptr[i] : stored.ptr[i] - 1u);
    long double value = exponent < 0 ? (long double)whole / powers[-exponent]
                                     : (long double)whole * powers[exponent];
    *out = (float)(negative ? -value : value);
    return isfinite(*out);
}

enum vector_fault vector_read(struct slice value, size_t dimensions, float *out)
{
    if (value.len == 0 || value_type(value) != VALUE_L)
        return VECTOR_NO_LIST;
    bool fits = value_count(value) == dimensions;
    struct value_iter iter;
    value_iter_init(&iter, value);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        float number;
        if (value_type(iter.value) != VALUE_N)
            return VECTOR_NO_NUMBER;
        if (fits && !vector_number(value_bytes(iter.value), &number))
            return VECTOR_RANGE;
        if (fits)
            out[i] = number;
    }
    return fits ? VECTOR_FIT : VECTOR_LENGTH;
}

// ---- Judging --------------------------------------------------------------------------------

static bool refuse_vector(const struct vector_index *index, struct slice value,
                          enum vector_fault fault, struct error *error)
{
    struct slice name = index->attribute;
    struct slice of = index->base.name;
    switch (fault) {
    case VECTOR_FIT:
        break;
    case VECTOR_NO_LIST:
        return error_validation(error,
                                INVALID "Type mismatch for Vector Attribute %.*s Expected: L "
                                        "Actual: %s IndexName: %.*s",
                                SLICE_FMT(name), value_type_name(value_type(value)), SLICE_FMT(of));
    case VECTOR_NO_NUMBER:
        return error_validation(error,
                                INVALID "Vector Attribute %.*s must be a list of numbers. "
                                        "IndexName: %.*s",
                                SLICE_FMT(name), SLICE_FMT(of));
    case VECTOR_LENGTH:
        return error_validation(error,
                                INVALID "Dimension mismatch for Vector Attribute %.*s Expected: "
                                        "%zu Actual: %zu IndexName: %.*s",
                                SLICE_FMT(name), index->dimensions, value_count(value),
                                SLICE_FMT(of));
    case VECTOR_RANGE:
        return error_validation(error,
                                INVALID "Vector Attribute %.*s has a value that does not fit in "
                                        "32-bit IEEE-754 floating point format. IndexName: %.*s",
                                SLICE_FMT(name), SLICE_FMT(of));
    }
    return true;
}

static bool check_vector(const struct vector_index *index, struct slice value, struct error *error)
{
    float numbers[LIMIT_DIMENSIONS];
    return refuse_vector(index, value, vector_read(value, index->dimensions, numbers), error);
}

// The attribute in the new image, or VALUE_NONE if it is not there or is as it was.
static struct slice changed(struct slice before, struct slice after, struct slice name)
{
    struct slice value = value_get(after, name);
    bool same = value.len > 0 && before.len > 0 && value_equal(value, value_get(before, name));
    return same ? VALUE_NONE : value;
}

static bool check_index(const struct vector_index *index, struct slice before, struct slice after,
                        struct error *error)
{
    struct slice value = changed(before, after, index->attribute);
    if (value.len > 0 && !check_vector(index, value, error))
        return false;
    if (index->base.keys.hash_count > 0) {
        value = changed(before, after, index->base.keys.parts[0].name);
        if (value.len > 0 && !index_check_key(&index->base, 0, value, error))
            return false;
    }
    for (size_t i = 0; i < index->filter_count; i++) {
        value = changed(before, after, index->filters[i].name);
        if (value.len > 0 &&
            !index_check_type(&index->base, &index->filters[i], value_type(value), error))
            return false;
    }
    return true;
}

// What the update left alone is not its fault: an item may be older than the index.
bool vectors_check_changed(const struct table *table, struct slice before, struct slice after,
                           struct error *error)
{
    for (size_t i = 0; i < table->vector_count; i++) {
        if (!check_index(&table->vectors[i], before, after, error))
            return false;
    }
    return true;
}

bool vectors_check_item(const struct table *table, struct slice item, struct error *error)
{
    return vectors_check_changed(table, VALUE_NONE, item, error);
}

// ---- Entries --------------------------------------------------------------------------------

static const struct key_part *filter_of(const struct vector_index *index, struct slice name)
{
    for (size_t i = 0; i < index->filter_count; i++) {
        if (slice_equal(index->filters[i].name, name))
            return &index->filters[i];
    }
    return NULL;
}

bool vector_projects(const struct table *table, const struct vector_index *index,
                     struct slice attribute)
{
    return layout_index_projects(table, &index->base, attribute) ||
           slice_equal(attribute, index->attribute) || filter_of(index, attribute) != NULL;
}

// The image with the size of what the index projects of it.
static struct image projected(const struct table *table, const struct vector_index *index,
                              struct image image)
{
    if (index->base.projection == PROJECT_ALL)
        return image;
    image.size = 0;
    struct value_iter iter;
    value_iter_init(&iter, image.item);
    while (value_iter_next(&iter)) {
        if (vector_projects(table, index, iter.name))
            image.size += iter.name.len + value_size(iter.value);
    }
    return image;
}

// The partition part of the entry's key. False if the item has none.
static bool put_partition(struct buf *out, const struct vector_index *index, struct slice item)
{
    const struct key_schema *keys = &index->base.keys;
    if (keys->hash_count == 0) {
        layout_tree_key(out, index->base.tree, slice_of(NULL, 0));
        return true;
    }
    struct slice value = value_get(item, keys->parts[0].name);
    if (value.len == 0 || value_type(value) != keys->parts[0].type)
        return false;
    size_t len = value_bytes(value).len;
    if (len == 0 || len > LIMIT_PARTITION_KEY)
        return false;
    layout_partition(out, index->base.tree, &value, 1);
    return true;
}

static void put_filters(struct value_builder *builder, const struct vector_index *index,
                        struct slice item)
{
    value_open_map(builder);
    for (size_t i = 0; i < index->filter_count; i++) {
        const struct key_part *part = &index->filters[i];
        struct slice value = value_get(item, part->name);
        if (value.len > 0 && value_type(value) == part->type) {
            value_name(builder, part->name);
            value_put(builder, value);
        }
    }
    (void)value_close(builder);
}

// The entry of an image: its key and value in these buffers. False if it has none.
static bool make_entry(struct txn *txn, const struct vector_index *index, struct slice tree_key,
                       struct slice item, struct buf *key, struct buf *value)
{
    float numbers[LIMIT_DIMENSIONS];
    buf_clear(key);
    buf_clear(value);
    if (item.len == 0 ||
        vector_read(value_get(item, index->attribute), index->dimensions, numbers) != VECTOR_FIT)
        return false;
    if (!put_partition(key, index, item))
        return false;
    buf_add(key, tree_key.ptr + 4, tree_key.len - 4);
    buf_add(value, numbers, index->dimensions * sizeof(float));
    if (index->filter_count > 0) {
        buf_clear(&txn->image);
        value_builder_reset(&txn->builder);
        put_filters(&txn->builder, index, item);
        buf_slice(value, buf_view(&txn->image));
    }
    ensure(!key->failed && !value->failed && !txn->image.failed);
    return true;
}

// Whether both images have the same entry, if any.
static bool same_entry(const struct vector_index *index, struct slice before, struct slice after)
{
    if (before.len == 0 || after.len == 0 ||
        !value_equal(value_get(before, index->attribute), value_get(after, index->attribute)))
        return false;
    for (size_t i = 0; i < index->base.keys.hash_count; i++) {
        struct slice name = index->base.keys.parts[i].name;
        if (!value_equal(value_get(before, name), value_get(after, name)))
            return false;
    }
    for (size_t i = 0; i < index->filter_count; i++) {
        struct slice name = index->filters[i].name;
        if (!value_equal(value_get(before, name), value_get(after, name)))
            return false;
    }
    return true;
}

// Moves to the next attribute that the index projects.
static bool next_projected(struct value_iter *iter, const struct table *table,
                           const struct vector_index *index)
{
    while (value_iter_next(iter)) {
        if (vector_projects(table, index, iter->name))
            return true;
    }
    return false;
}

// Whether a search would answer the same for both images.
static bool same_view(const struct table *table, const struct vector_index *index,
                      struct slice before, struct slice after)
{
    struct value_iter a;
    struct value_iter b;
    value_iter_init(&a, before);
    value_iter_init(&b, after);
    while (true) {
        bool more = next_projected(&a, table, index);
        if (more != next_projected(&b, table, index))
            return false;
        if (!more)
            return true;
        if (!slice_equal(a.name, b.name) || !value_equal(a.value, b.value))
            return false;
    }
}

// Brings the entry from what is in the buffers for the old image to what is there for the new one.
static void move_entry(struct txn *txn, struct entry_change entry)
{
    bool was = entry.before.item.len > 0;
    bool is = entry.after.item.len > 0;
    if (was && !(is && slice_equal(buf_view(&txn->old_key), buf_view(&txn->key)))) {
        struct entry_change old = entry;
        old.key = buf_view(&txn->old_key);
        old.after = entry.before = (struct image){.size = 0};
        txn_remove(txn, &old);
    }
    entry.key = buf_view(&txn->key);
    if (is)
        txn_put_entry(txn, &entry, &txn->record);
}

uint64_t vector_apply(struct txn *txn, const struct table *table, const struct vector_index *index,
                      const struct change *change)
{
    if (!index_holds(&index->base, change->key))
        return 0;
    struct slice old_keys = image_keys(change->before);
    struct slice new_keys = image_keys(change->after);
    bool same = same_entry(index, old_keys, new_keys);
    bool is = make_entry(txn, index, change->key, new_keys, &txn->key, &txn->record);
    bool was =
        same ? is : make_entry(txn, index, change->key, old_keys, &txn->old_key, &txn->old_record);
    if (!was && !is)
        return 0;
    struct image none = {.size = 0};
    struct entry_change entry = {
        .tree = index->base.tree,
        .stats = index->base.stats,
        .before = was ? projected(table, index, change->before) : none,
        .after = is ? projected(table, index, change->after) : none,
    };
    size_t old_size = entry.before.size;
    size_t new_size = entry.after.size;
    if (same)
        txn_recount(txn, &entry);
    else
        move_entry(txn, entry);
    if (same && (change->same || same_view(table, index, change->before.item, change->after.item)))
        return 0;
    return new_size > old_size ? new_size : old_size;
}
