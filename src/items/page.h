// One page of a table or an index: what Query, Scan and PartiQL's SELECT have in common.
#ifndef ITEMS_PAGE_H
#define ITEMS_PAGE_H

#include "call/operation.h"

// What the requests have in common, and what has been made of it.
struct page_call {
    struct api_call *call;
    struct json_writer w;
    struct page_request page;
    struct slice select;
    struct slice capacity;
    struct slice projection_expression;
    const struct field_list *attributes_to_get;
    const struct field_value *start_key;
    struct expr_projection *projection;
    bool legacy_filter;
    void (*finish)(struct page_call *p); // when all is read: completes the response
};

// Room for one, or for a struct of that size that begins with it, to be filled by the caller; the
// call's state keeps it. NULL when memory is out.
MUST_CHECK struct page_call *page_call_new(struct api_call *call, size_t size);
// Finds the table and, if index_name is given, its index; sets them in the page.
MUST_CHECK bool page_find_target(struct page_call *p, struct slice table_name,
                                 struct slice index_name);
// Everything that a Query is judged by against its table: target, key condition, filter, start.
MUST_CHECK bool page_open_query(struct page_call *p, const struct expr_key *key,
                                struct slice table_name, struct slice index_name);
// Reads the page, a slice at a time: page.emit gets the items, with the page_call as its context.
enum step page_read(struct page_call *p);
// No expression looks inside a key.
MUST_CHECK bool page_check_keys(struct page_call *p);
// The filter of a Query may only look at what the index holds.
MUST_CHECK bool page_check_filter_projected(struct page_call *p);
// What a global index lacks cannot be asked for; a local one fetches it from the table.
MUST_CHECK bool page_check_projected(struct page_call *p);
// Makes the page begin behind p->start_key. False, without an error, if that is no key of the
// target, or not one that this page could have ended at.
MUST_CHECK bool page_resume(struct page_call *p);
// Notes what was read, and writes ConsumedCapacity if it was asked for.
void page_write_capacity(struct page_call *p);

#endif
