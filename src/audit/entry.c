// See entry.h. Packed, an entry is its length (u32, without itself), fixed numbers, and texts with
// their lengths before them; nobody but this file reads it, and only in this process.
#include "audit/entry.h"

#include "base/time_text.h"
#include "value/value.h"
#include "json/writer.h"

enum {
    TEXTS = 13,
    KEYS_TEXT_MAX = 64 << 10, // keys beyond are counted alone: a line has an end
};

struct packed {
    uint32_t len; // of all that follows the struct
    uint16_t status;
    uint16_t port;
    uint32_t note_count;
    uint32_t decision;
    int64_t now_ms;
    uint64_t latency_ns;
    uint64_t order_ns;
    uint64_t note_total;
};

const char *audit_decision_name(enum audit_decision decision)
{
    static const char *const names[] = {
#define X(decision, name) name,
        AUDIT_DECISION_LIST(X)
#undef X
    };
    return names[decision];
}

// ---- Packing ---------------------------------------------------------------------------------

static void pack_text(struct buf *out, struct slice text)
{
    uint8_t *to = buf_reserve(out, text.len + 10);
    if (to == NULL)
        return;
    size_t n = varint_put(to, text.len);
    if (text.len > 0)
        memcpy(to + n, text.ptr, text.len);
    out->len += n + text.len;
}

// The table, and each attribute of the key.
static void pack_note(struct buf *out, const struct call_note *note)
{
    pack_text(out, note->table);
    buf_byte(out, (uint8_t)note->count);
    for (size_t i = 0; i < note->count; i++) {
        pack_text(out, note->parts[i].name);
        pack_text(out, note->parts[i].value);
    }
}

void entry_pack(struct buf *out, const struct audit_entry *entry)
{
    const struct slice texts[TEXTS] = {
        entry->request_id, entry->principal, entry->access_key, entry->tenant, entry->address,
        entry->operation,  entry->table,     entry->reason,     entry->action, entry->resource,
        entry->policy,     entry->sid,       entry->error,
    };
    struct packed packed = {
        .status = (uint16_t)entry->status,
        .port = (uint16_t)entry->port,
        .decision = entry->decision,
        .now_ms = entry->now_ms,
        .latency_ns = entry->latency_ns,
        .order_ns = entry->order_ns,
        .note_total = entry->note_count,
    };
    size_t begin = out->len;
    buf_add(out, &packed, sizeof(packed));
    for (size_t i = 0; i < TEXTS; i++)
        pack_text(out, texts[i]);
    for (const struct call_note *note = entry->notes; note != NULL; note = note->next) {
        pack_note(out, note);
        packed.note_count++;
    }
    if (out->failed)
        return;
    packed.len = (uint32_t)(out->len - begin - sizeof(packed));
    memcpy(out->ptr + begin, &packed, sizeof(packed));
}

// ---- Writing ---------------------------------------------------------------------------------

static void write_value(struct json_writer *w, struct slice value, enum audit_keys how,
                        const struct chain_keys *keys)
{
    char digits[5 + 2 * CHAIN_HASHED];
    if (how == AUDIT_KEYS_PLAIN) {
        json_value(w, value);
        return;
    }
    // The stored form of a value is canonical: 1 and 1.0 are the same.
    memcpy(digits, "hmac:", 5);
    chain_hash(keys, value, digits + 5);
    json_string(w, slice_of(digits, sizeof(digits)));
}

// One element of "keys".
static void write_note(struct json_writer *w, const uint8_t **at, struct slice table,
                       enum audit_keys how, const struct chain_keys *keys)
{
    struct slice of = value_counted(at);
    json_open_object(w);
    if (!slice_equal(of, table))
        json_put_string(w, "table", of);
    json_put_object(w, "key");
    for (unsigned left = *(*at)++; left > 0; left--) {
        json_name_slice(w, value_counted(at));
        write_value(w, value_counted(at), how, keys);
    }
    json_close_object(w);
    json_close_object(w);
}

static void write_notes(struct json_writer *w, const uint8_t *at, const struct packed *packed,
                        struct slice table, enum audit_keys how, const struct chain_keys *keys)
{
    struct buf *out = w->out;
    size_t begin = out->len;
    uint32_t told = 0;
    if (packed->note_count == 0)
        return;
    json_put_array(w, "keys");
    for (; told < packed->note_count && out->len - begin < KEYS_TEXT_MAX; told++)
        write_note(w, &at, table, how, keys);
    json_close_array(w);
    if (told < packed->note_total)
        json_put_integer(w, "keys_total", (int64_t)packed->note_total);
}

// A text of the client's need not be UTF-8, and may be long.
static void put_text(struct json_writer *w, const char *name, struct slice text)
{
    enum { TEXT_MAX = 2048 };
    char copy[TEXT_MAX + 1];
    if (text.len == 0)
        return;
    size_t len = text.len < TEXT_MAX ? text.len : TEXT_MAX;
    if (len == text.len && utf8_valid(text)) {
        json_put_string(w, name, text);
        return;
    }
    for (size_t i = 0; i < len; i++)
        copy[i] = text.ptr[i] >= 0x20 && text.ptr[i] < 0x7f ? (char)text.ptr[i] : '?';
    copy[len] = 0;
    json_put_text(w, name, copy);
}

uint64_t entry_order(struct slice packed_entries)
{
    struct packed packed = {.order_ns = UINT64_MAX};
    if (packed_entries.len > 0)
        memcpy(&packed, packed_entries.ptr, sizeof(packed));
    return packed.order_ns;
}

void entry_write(struct slice *packed_entries, enum audit_keys how, const struct chain_keys *keys,
                 struct buf *out)
{
    struct packed packed;
    struct slice texts[TEXTS];
    char time[TIME_TEXT];
    memcpy(&packed, packed_entries->ptr, sizeof(packed));
    const uint8_t *at = packed_entries->ptr + sizeof(packed);
    size_t whole = sizeof(packed) + packed.len;
    *packed_entries = slice_of(packed_entries->ptr + whole, packed_entries->len - whole);
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = value_counted(&at);
    struct json_writer w = json_writer_to(out);
    time_text(packed.now_ms, time);
    json_put_text(&w, "time", time);
    put_text(&w, "request_id", texts[0]);
    put_text(&w, "principal", texts[1]);
    put_text(&w, "access_key", texts[2]);
    put_text(&w, "tenant", texts[3]);
    put_text(&w, "address", texts[4]);
    if (packed.port != 0)
        json_put_integer(&w, "port", packed.port);
    put_text(&w, "operation", texts[5]);
    put_text(&w, "table", texts[6]);
    write_notes(&w, at, &packed, texts[6], how, keys);
    json_put_text(&w, "decision", audit_decision_name((enum audit_decision)packed.decision));
    put_text(&w, "reason", texts[7]);
    put_text(&w, "action", texts[8]);
    put_text(&w, "resource", texts[9]);
    put_text(&w, "policy", texts[10]);
    put_text(&w, "sid", texts[11]);
    json_put_integer(&w, "status", packed.status);
    put_text(&w, "error", texts[12]);
    json_name(&w, "latency_ms");
    char micro[4] = {'.', '0', '0', '0'};
    uint64_t us = (packed.latency_ns + 500) / 1000;
    for (unsigned i = 3, rest = (unsigned)(us % 1000); i > 0; i--, rest /= 10)
        micro[i] = (char)('0' + rest % 10);
    buf_u64(out, us / 1000);
    buf_add(out, micro, sizeof(micro));
}
