// Conditions made at random, each with its truth: the text is for the compiler, the truth is found
// on the way by the simplest means that can work. A test draws from a seed, a fuzzer from its
// input.
//
// Whoever uses it sets `item`, `values` (naive_values in notation), `below` and `source`, and owns
// `text`. Only conditions that compile are made.
#ifndef TESTS_EXPR_NAIVE_H
#define TESTS_EXPR_NAIVE_H

#include "value/number.h"
#include "value/value.h"

#include <string.h>

enum { NAIVE_SIZES = 16 };

// All of them values of some type; the first NAIVE_SCALARS are scalars, and the first two strings.
static const char naive_values[] =
    "{:s=\"x\", :h=\"hello\", :n=1, :n2=2, :b=0x01, :e=\"\", :neg=-7.25, :ss=<\"a\", \"x\">, "
    ":ns=<2, 1>, :bs=<0x01>, :t=true, :nul=null, :l=[1], :m={k=\"x\"}, :TN=\"N\", :TS=\"S\", "
    ":TL=\"L\", :TBOOL=\"BOOL\", :TNULL=\"NULL\", :TM=\"M\", :TSS=\"SS\", :TNS=\"NS\", :TB=\"B\"}";
static const char *const naive_placeholders[] = {":s",  ":h",  ":n",  ":n2", ":b",   ":e", ":neg",
                                                 ":ss", ":ns", ":bs", ":t",  ":nul", ":l", ":m"};
enum { NAIVE_SCALARS = 7 };
static const char *const naive_types[] = {"TN", "TS",  "TL",  "TBOOL", "TNULL",
                                          "TM", "TSS", "TNS", "TB"};
static const char *const naive_paths[] = {"s",           "n",   "b",    "ss",   "ns",     "bs",
                                          "l",           "m",   "t",    "nul",  "zz",     "m.k",
                                          "m.n",         "m.z", "l[0]", "l[1]", "l[2].q", "l[7]",
                                          "m.deep.a[1]", "s.k", "s[0]", "l.k",  "m[0]"};
static const char *const naive_items[] = {
    ("{s=\"hello\", n=5, b=0x0102, ss=<\"a\", \"x\">, ns=<1, 2>, bs=<0x01, 0x0203>, "
     "l=[1, \"x\", {q=\"x\"}], m={k=\"x\", n=2, deep={a=[0, -7.25]}}, t=true, nul=null}"),
    "{s=\"x\", n=1, b=0x01, ss=<\"x\">, l=[[1], 1, 2], m={k=\"x\"}, t=false}",
    "{s=\"\", n=-7.25, ns=<2>, m={}, l=[], nul=null, zz=1e100}",
};

struct naive {
    struct slice item; // VALUE_NONE: there is none
    struct slice values;
    struct buf text;
    size_t (*below)(void *source, size_t bound);
    void *source;
    // Values of size(), which no item has: the last few are enough.
    uint8_t sizes[NAIVE_SIZES][2 + NUMBER_BYTES_MAX];
    size_t size_count;
};

static inline size_t naive_below(struct naive *naive, size_t bound)
{
    return naive->below(naive->source, bound);
}

// ---- Operands -------------------------------------------------------------------------------

struct leaf {
    const char *text;
    bool size;          // size(text)
    bool path;          // not a placeholder
    struct slice value; // as the naive evaluator finds it
};

// Looks up a path by hand; its list indexes have one digit.
static inline struct slice naive_path(struct slice item, const char *text)
{
    struct slice at = item;
    while (at.len != 0 && *text != '\0') {
        if (*text == '[') {
            at = value_type(at) == VALUE_L ? value_at(at, (size_t)(text[1] - '0')) : VALUE_NONE;
            text += 3;
        } else {
            text += *text == '.';
            size_t len = strcspn(text, ".[");
            at = value_type(at) == VALUE_M ? value_get(at, slice_of(text, len)) : VALUE_NONE;
            text += len;
        }
    }
    return at;
}

static inline struct leaf leaf_path(struct naive *naive)
{
    const char *text = naive_paths[naive_below(naive, COUNT_OF(naive_paths))];
    return (struct leaf){text, false, true, naive_path(naive->item, text)};
}

// `kinds`: from how many of the placeholders.
static inline struct leaf leaf_value(struct naive *naive, size_t kinds)
{
    const char *text = naive_placeholders[naive_below(naive, kinds)];
    return (struct leaf){text, false, false, value_get(naive->values, slice_str(text))};
}

static inline struct leaf leaf_size(struct naive *naive)
{
    struct leaf leaf = leaf_path(naive);
    size_t size;
    bool sized = leaf.value.len != 0 && value_function_size(leaf.value, &size);
    leaf.size = true;
    leaf.value = VALUE_NONE;
    if (sized) {
        uint8_t *bytes = naive->sizes[naive->size_count++ % NAIVE_SIZES];
        bytes[0] = VALUE_TAG_N;
        bytes[1] = (uint8_t)number_from_i64((int64_t)size, bytes + 2);
        leaf.value = slice_of(bytes, 2 + (size_t)bytes[1]);
    }
    return leaf;
}

// `kinds`: from how many of the placeholders, if it is one.
static inline struct leaf leaf_any(struct naive *naive, size_t kinds)
{
    switch (naive_below(naive, 5)) {
    case 0:
    case 1:
        return leaf_value(naive, kinds);
    case 2:
        return leaf_size(naive);
    default:
        return leaf_path(naive);
    }
}

// The first operand must not be a path that stands among the others as well.
static inline struct leaf leaf_other(struct naive *naive, size_t kinds, const struct leaf *first)
{
    struct leaf leaf = leaf_any(naive, kinds);
    if (first->path && !first->size && leaf.path && !leaf.size &&
        strcmp(first->text, leaf.text) == 0)
        return leaf_value(naive, NAIVE_SCALARS);
    return leaf;
}

static inline void leaf_write(struct naive *naive, const char *before, const struct leaf *leaf)
{
    buf_printf(&naive->text, leaf->size ? "%ssize(%s)" : "%s%s", before, leaf->text);
}

// ---- Tests -------------------------------------------------------------------------------------

static inline int naive_order(struct slice a, struct slice b, bool *comparable)
{
    *comparable =
        a.len != 0 && b.len != 0 && value_type(a) == value_type(b) &&
        (value_type(a) == VALUE_S || value_type(a) == VALUE_N || value_type(a) == VALUE_B);
    return *comparable ? slice_compare(value_bytes(a), value_bytes(b)) : 0;
}

static inline bool naive_equal(struct slice a, struct slice b)
{
    return a.len != 0 && slice_equal(a, b);
}

static inline bool naive_comparison(struct naive *naive)
{
    static const char *const operators[] = {" = ", " <> ", " < ", " <= ", " > ", " >= "};
    size_t op = naive_below(naive, COUNT_OF(operators));
    size_t kinds = op < 2 ? COUNT_OF(naive_placeholders) : (size_t)NAIVE_SCALARS;
    struct leaf a = leaf_any(naive, kinds);
    struct leaf b = leaf_other(naive, kinds, &a);
    leaf_write(naive, "", &a);
    leaf_write(naive, operators[op], &b);
    bool comparable;
    int order = naive_order(a.value, b.value, &comparable);
    switch (op) {
    case 0:
        return naive_equal(a.value, b.value);
    case 1:
        return !naive_equal(a.value, b.value);
    case 2:
        return comparable && order < 0;
    case 3:
        return comparable && order <= 0;
    case 4:
        return comparable && order > 0;
    default:
        return comparable && order >= 0;
    }
}

static inline bool naive_between(struct naive *naive)
{
    struct leaf a = leaf_any(naive, NAIVE_SCALARS);
    struct leaf low = leaf_other(naive, NAIVE_SCALARS, &a);
    struct leaf high = leaf_other(naive, NAIVE_SCALARS, &a);
    bool above;
    bool below;
    int order = naive_order(low.value, high.value, &above);
    // Two constants must be in order.
    if (!low.path && !high.path && !(above && order <= 0))
        high = low;
    leaf_write(naive, "", &a);
    leaf_write(naive, " BETWEEN ", &low);
    leaf_write(naive, " AND ", &high);
    int from = naive_order(a.value, low.value, &above);
    int to = naive_order(a.value, high.value, &below);
    return above && from >= 0 && below && to <= 0;
}

static inline bool naive_in(struct naive *naive)
{
    struct leaf a = leaf_any(naive, COUNT_OF(naive_placeholders));
    leaf_write(naive, "", &a);
    bool found = false;
    size_t count = 1 + naive_below(naive, 3);
    for (size_t i = 0; i < count; i++) {
        struct leaf b = leaf_other(naive, COUNT_OF(naive_placeholders), &a);
        leaf_write(naive, i == 0 ? " IN (" : ", ", &b);
        found = found || naive_equal(a.value, b.value);
    }
    buf_text(&naive->text, ")");
    return found;
}

static inline bool naive_contains(struct slice whole, struct slice part)
{
    if (whole.len == 0 || part.len == 0)
        return false;
    enum value_type type = value_type(whole);
    if (type == VALUE_S || type == VALUE_B)
        return value_type(part) == type && slice_contains(value_bytes(whole), value_bytes(part));
    if (type != VALUE_L && type != VALUE_SS && type != VALUE_NS && type != VALUE_BS)
        return false;
    enum value_type member = type == VALUE_SS ? VALUE_S : type == VALUE_NS ? VALUE_N : VALUE_B;
    struct value_iter iter;
    value_iter_init(&iter, whole);
    while (value_iter_next(&iter)) {
        if (type == VALUE_L
                ? slice_equal(iter.value, part)
                : value_type(part) == member && slice_equal(iter.value, value_bytes(part)))
            return true;
    }
    return false;
}

static inline bool naive_begins(struct slice whole, struct slice part)
{
    return whole.len != 0 && part.len != 0 && value_type(whole) == value_type(part) &&
           (value_type(whole) == VALUE_S || value_type(whole) == VALUE_B) &&
           slice_begins(value_bytes(whole), value_bytes(part));
}

static inline bool naive_function(struct naive *naive)
{
    struct leaf a = leaf_path(naive);
    struct leaf b = leaf_value(naive, COUNT_OF(naive_placeholders));
    const char *type;
    switch (naive_below(naive, 5)) {
    case 0:
        buf_printf(&naive->text, "attribute_exists(%s)", a.text);
        return a.value.len != 0;
    case 1:
        buf_printf(&naive->text, "attribute_not_exists(%s)", a.text);
        return a.value.len == 0;
    case 2:
        buf_printf(&naive->text, "contains(%s, %s)", a.text, b.text);
        return naive_contains(a.value, b.value);
    case 3:
        b = leaf_value(naive, 2);
        buf_printf(&naive->text, "begins_with(%s, %s)", a.text, b.text);
        return naive_begins(a.value, b.value);
    default:
        type = naive_types[naive_below(naive, COUNT_OF(naive_types))];
        buf_printf(&naive->text, "attribute_type(%s, :%s)", a.text, type);
        return a.value.len != 0 && strcmp(value_type_name(value_type(a.value)), type + 1) == 0;
    }
}

static inline bool naive_test(struct naive *naive)
{
    bool negated = naive_below(naive, 6) == 5;
    if (negated)
        buf_text(&naive->text, "NOT ");
    switch (naive_below(naive, 5)) {
    case 0:
        return naive_between(naive) != negated;
    case 1:
        return naive_in(naive) != negated;
    case 2:
        return naive_function(naive) != negated;
    default:
        return naive_comparison(naive) != negated;
    }
}

// ---- Conditions ---------------------------------------------------------------------

// Appends a condition to the text and returns its truth. Sides are both evaluated, so no short cut
// hides a difference.
static inline bool naive_condition(struct naive *naive, size_t depth)
{
    size_t kind = depth == 0 ? 3 : naive_below(naive, 4);
    if (kind == 3)
        return naive_test(naive);
    buf_text(&naive->text, kind == 2 ? "NOT (" : "(");
    bool first = naive_condition(naive, depth - 1);
    if (kind == 2) {
        buf_text(&naive->text, ")");
        return !first;
    }
    buf_text(&naive->text, kind == 0 ? ") AND " : ") OR ");
    bool second = naive_test(naive);
    if (naive_below(naive, 2) == 0) {
        // AND before OR: (first) OR second AND third.
        buf_text(&naive->text, " AND ");
        bool third = naive_test(naive);
        second = second && third;
    }
    return kind == 0 ? first && second : first || second;
}

#endif
