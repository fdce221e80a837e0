// Files in pages: see sealed.h. A reader's ciphers are kept for the next read, a few for each file,
// so that threads do not wait for each other and a read allocates nothing. Whole pages are read to
// where they are wanted and opened in place; only the ends of a range go through memory of our own.
#include "crypt/sealed_internal.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    RAW_PAGE = SEALED_PAGE + CRYPT_TAG,
    KEPT = 4,     // ciphers of a file
    AT_ONCE = 32, // pages that are read in one call
};

static void page_nonce(uint64_t number, bool last, uint8_t out[CRYPT_NONCE])
{
    memset(out, 0, CRYPT_NONCE);
    out[0] = last;
    memcpy(out + 4, &number, 8);
}

uint64_t pages_raw_size(uint64_t plain)
{
    uint64_t count = plain == 0 ? 1 : (plain - 1) / SEALED_PAGE + 1;
    return SEALED_HEAD + plain + count * CRYPT_TAG;
}

// A file has at least one page; only that of an empty file is empty.
uint64_t pages_plain_size(uint64_t raw)
{
    if (raw < SEALED_HEAD + CRYPT_TAG)
        return UINT64_MAX;
    uint64_t body = raw - SEALED_HEAD;
    uint64_t rest = body % RAW_PAGE;
    if (rest != 0 && rest <= CRYPT_TAG && body != CRYPT_TAG)
        return UINT64_MAX;
    uint64_t plain = body / RAW_PAGE * SEALED_PAGE + (rest == 0 ? 0 : rest - CRYPT_TAG);
    return plain;
}

// ---- Writing ------------------------------------------------------------------------------------

// A full page stays here until it is known whether it is the last one.
struct page_writer {
    struct crypt_cipher *cipher;
    uint64_t number; // of the page that is being filled
    size_t filled;
    bool ended;
    uint8_t page[SEALED_PAGE];
};

struct page_writer *page_writer_new(const struct keyring *ring, struct buf *out)
{
    uint8_t head[SEALED_HEAD];
    struct crypt_key key;
    struct page_writer *writer = memory_zeroed(sizeof(*writer));
    sealed_begin(ring, SEALED_PAGES, head, &key);
    writer->cipher = crypt_cipher_new(&key, true);
    crypt_key_wipe(&key);
    buf_add(out, head, SEALED_HEAD);
    return writer;
}

void page_writer_free(struct page_writer *writer)
{
    if (writer == NULL)
        return;
    crypt_cipher_free(writer->cipher);
    explicit_bzero(writer->page, SEALED_PAGE);
    free(writer);
}

static void page_seal(struct page_writer *writer, struct slice plain, bool last, struct buf *out)
{
    uint8_t nonce[CRYPT_NONCE];
    uint8_t *to = buf_reserve(out, plain.len + CRYPT_TAG);
    ensure_memory(to);
    page_nonce(writer->number++, last, nonce);
    crypt_cipher_seal(writer->cipher, nonce, slice_of(NULL, 0), plain, to, to + plain.len);
    out->len += plain.len + CRYPT_TAG;
}

void page_writer_add(struct page_writer *writer, struct slice plain, struct buf *out)
{
    ensure(!writer->ended);
    while (plain.len > 0) {
        if (writer->filled == SEALED_PAGE) {
            page_seal(writer, slice_of(writer->page, SEALED_PAGE), false, out);
            writer->filled = 0;
        }
        size_t take = SEALED_PAGE - writer->filled;
        if (writer->filled == 0 && plain.len > SEALED_PAGE) {
            page_seal(writer, slice_of(plain.ptr, SEALED_PAGE), false, out);
        } else {
            take = take < plain.len ? take : plain.len;
            memcpy(writer->page + writer->filled, plain.ptr, take);
            writer->filled += take;
        }
        plain = slice_of(plain.ptr + take, plain.len - take);
    }
}

void page_writer_end(struct page_writer *writer, struct buf *out)
{
    if (writer->ended)
        return;
    page_seal(writer, slice_of(writer->page, writer->filled), true, out);
    writer->ended = true;
}

bool page_writer_ended(const struct page_writer *writer)
{
    return writer->ended;
}

// ---- Reading ------------------------------------------------------------------------------------

struct pages {
    struct crypt_key key;
    uint64_t size;
    uint64_t count;
    _Atomic(struct crypt_cipher *) kept[KEPT];
};

struct pages *pages_open(const struct keyring *ring, struct slice head, uint64_t raw_bytes)
{
    struct crypt_key key;
    uint64_t size = pages_plain_size(raw_bytes);
    if (size == UINT64_MAX || !sealed_key(ring, SEALED_PAGES, head, &key))
        return NULL;
    struct pages *pages = memory_zeroed(sizeof(*pages));
    pages->key = key;
    pages->size = size;
    pages->count = size == 0 ? 1 : (size - 1) / SEALED_PAGE + 1;
    crypt_key_wipe(&key);
    return pages;
}

void pages_close(struct pages *pages)
{
    if (pages == NULL)
        return;
    for (size_t i = 0; i < KEPT; i++)
        crypt_cipher_free(pages->kept[i]);
    crypt_key_wipe(&pages->key);
    free(pages);
}

uint64_t pages_size(const struct pages *pages)
{
    return pages->size;
}

static struct crypt_cipher *cipher_take(struct pages *pages)
{
    for (size_t i = 0; i < KEPT; i++) {
        struct crypt_cipher *kept = atomic_exchange(&pages->kept[i], NULL);
        if (kept != NULL)
            return kept;
    }
    return crypt_cipher_new(&pages->key, false);
}

static void cipher_give_back(struct pages *pages, struct crypt_cipher *cipher)
{
    for (size_t i = 0; cipher != NULL && i < KEPT; i++) {
        struct crypt_cipher *none = NULL;
        if (atomic_compare_exchange_strong(&pages->kept[i], &none, cipher))
            cipher = NULL;
    }
    crypt_cipher_free(cipher);
}

// A run of pages that is read in one call, and where they go: to the reader's memory if all of a
// page is wanted, or aside. Only the first and the last can be wanted in part.
struct run {
    uint64_t first;
    int count;
    uint8_t *at[AT_ONCE];
    size_t length[AT_ONCE];
    uint8_t tags[AT_ONCE][CRYPT_TAG];
    uint8_t aside[2][SEALED_PAGE];
};

static size_t page_length(const struct pages *pages, uint64_t number)
{
    return number + 1 < pages->count ? SEALED_PAGE : (size_t)(pages->size - number * SEALED_PAGE);
}

// Pages for plain bytes from a place on; `to` is where that place goes.
static void run_plan(struct run *run, const struct pages *pages, uint64_t at, size_t size,
                     uint8_t *to)
{
    run->first = at / SEALED_PAGE;
    run->count = 0;
    for (uint64_t number = run->first; run->count < AT_ONCE; number++) {
        uint64_t begin = number * SEALED_PAGE;
        if (begin >= at + size)
            break;
        size_t length = page_length(pages, number);
        bool whole = begin >= at && begin + length <= at + size;
        run->at[run->count] = whole ? to + (begin - at) : run->aside[number != run->first];
        run->length[run->count++] = length;
    }
}

static bool run_fetch(struct run *run, pages_source source, void *context)
{
    struct iovec parts[2 * AT_ONCE];
    for (int i = 0; i < run->count; i++) {
        parts[2 * i] = (struct iovec){run->at[i], run->length[i]};
        parts[2 * i + 1] = (struct iovec){run->tags[i], CRYPT_TAG};
    }
    return source(context, parts, 2 * run->count, SEALED_HEAD + run->first * RAW_PAGE);
}

static bool run_open(struct run *run, const struct pages *pages, struct crypt_cipher *cipher)
{
    for (int i = 0; i < run->count; i++) {
        uint8_t nonce[CRYPT_NONCE];
        uint64_t number = run->first + (uint64_t)i;
        page_nonce(number, number + 1 == pages->count, nonce);
        if (!crypt_cipher_open(cipher, nonce, slice_of(NULL, 0),
                               slice_of(run->at[i], run->length[i]), run->tags[i], run->at[i]))
            return false;
    }
    return true;
}

// What of the pages aside was wanted. Returns how many of the wanted bytes the run had.
static size_t run_deliver(const struct run *run, uint64_t at, size_t size, uint8_t *to)
{
    uint64_t end = at;
    for (int i = 0; i < run->count; i++) {
        uint64_t begin = (run->first + (uint64_t)i) * SEALED_PAGE;
        end = begin + run->length[i] < at + size ? begin + run->length[i] : at + size;
        uint64_t from = begin > at ? begin : at;
        if (run->at[i] == run->aside[0] || run->at[i] == run->aside[1])
            memcpy(to + (from - at), run->at[i] + (from - begin), (size_t)(end - from));
    }
    return (size_t)(end - at);
}

// One call for pages from `at` on; *got grows by what it had.
static enum pages_end read_run(struct pages *pages, struct crypt_cipher *cipher, uint64_t at,
                               size_t size, uint8_t *to, size_t *got, pages_source source,
                               void *context)
{
    struct run run;
    run_plan(&run, pages, at, size, to);
    if (pages->size == 0) { // its one page has nothing, and says so
        run.count = 1;
        run.at[0] = run.aside[0];
        run.length[0] = 0;
    }
    if (!run_fetch(&run, source, context))
        return PAGES_FAILED;
    if (!run_open(&run, pages, cipher))
        return PAGES_DAMAGED;
    if (pages->size > 0)
        *got += run_deliver(&run, at, size, to);
    return PAGES_DONE;
}

enum pages_end pages_read(struct pages *pages, uint64_t at, size_t size, uint8_t *to, size_t *got,
                          pages_source source, void *context)
{
    enum pages_end end = PAGES_DONE;
    *got = 0;
    if (at >= pages->size && pages->size > 0)
        return PAGES_DONE;
    if (pages->size == 0)
        at = size = 0;
    if (size > pages->size - at)
        size = (size_t)(pages->size - at);
    struct crypt_cipher *cipher = cipher_take(pages);
    do
        end = read_run(pages, cipher, at + *got, size - *got, to + *got, got, source, context);
    while (end == PAGES_DONE && *got < size);
    cipher_give_back(pages, cipher);
    return end;
}
