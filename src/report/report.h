// What a table's model would refuse if it were enforced: findings, by entity and attribute.
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "engine/engine.h"
#include "guard/guard.h"
#include "work/workshop.h"

enum {
    REPORT_FINDINGS = 64,    // told apart; others are counted together
    REPORT_SAMPLES = 8,      // different values of a finding
    REPORT_ITEMS = 24,       // of no entity
    REPORT_BYTES = 96 << 10, // of all texts and values of a report
};

struct report_sample {
    struct slice text;  // the value in a few words, or "nothing"
    struct slice value; // encoded; VALUE_NONE if it is nothing, or large
    struct slice key;   // of an item that has it: M
};

// Something that is wrong with one attribute, for one reason.
struct report_finding {
    struct slice entity;
    struct slice path;     // a JSON pointer, in which * stands for each member of a list or record
    struct slice expected; // "email", MODEL_EXPECTED_NONE
    bool passes;           // what is enforced lets it pass as well
    int64_t count;         // writes, or items
    int64_t first_ms;
    int64_t last_ms;
    size_t sample_count;
    struct report_sample samples[REPORT_SAMPLES];
    uint64_t hash; // of the three; not stored
};

struct report_item {
    struct slice item;
};

struct report {
    struct slice table_id; // uuid
    struct slice model;    // the name of its text's record
    int64_t since_ms;
    int64_t writes;    // that were warned about, or items that were looked at and are wrong
    int64_t refused;   // of them, those that would be refused
    int64_t unmatched; // of them, those of no entity
    int64_t others;    // findings that are not told apart
    size_t count;
    struct report_finding list[REPORT_FINDINGS];
    size_t item_count;
    struct report_item items[REPORT_ITEMS]; // of no entity, different ones
    struct arena arena;                     // of all slices; not stored
};

// The option of a union that has members, or the type itself.
const struct model_type *report_container(const struct model_type *type);

// A new, empty report of the table as it is now; report_free frees it, NULL is fine. Not NULL.
struct report *report_new(const struct table *table, int64_t now_ms);
void report_free(struct report *report);

// One write, or stored item, and all that is wrong with it. Its key is taken from `item`.
void report_add(struct report *report, const struct table *table, const struct model_table *model,
                struct slice item, const struct model_warned *warned, int64_t now_ms);
// Adds what the other one has found, if it is of the same table and model.
void report_merge(struct report *report, const struct report *other);

// ---- The reports of a process (book.c) --------------------------------------------------------

struct report_book;
struct report_book *report_book_new(void);
// Whatever was not kept is gone.
void report_book_free(struct report_book *book);

// A write of a call was warned about. Any thread; waits for nothing but others who note something.
void report_note(struct report_book *book, const struct table *table, struct slice item,
                 const struct model_warned *warned, int64_t now_ms);
// The chore: adds what was noted to what is kept.
void report_keep(struct workshop *shop);
// All that is known of a table, for report_free; NULL with the error set.
MUST_CHECK struct report *report_read(struct workshop *shop, const struct table *table,
                                      struct error *error);
// Begins anew.
MUST_CHECK bool report_forget(struct workshop *shop, const struct table *table,
                              struct error *error);

#endif
