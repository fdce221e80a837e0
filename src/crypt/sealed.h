// Files that are sealed in parts: in pages, which can be read in any order and are written once, or
// in frames, which are appended one by one and read from the front.
//
//   head    "DLE1", kind ('P' or 'F') and three zeros, the id of a data key (u32), 16 random bytes,
//           the CRC-32 of all this (u32); little-endian
//   pages   4096 bytes each but for the last one, each with a tag of 16 bytes behind it
//   frames  length of the content (u32), its complement (u32), how much content was before it
//   (u64),
//           content, tag
//
// A file has a key of its own, which follows from the data key, the kind and the random bytes; so
// nothing of one file passes for a part of another. A page's nonce is its number, and whether it is
// the last one: pages that were exchanged are noticed, and a file that was cut or grew. The nonce
// of a frame is the place where it stands, and its head is authenticated with it. A file of frames
// may have been cut between two of them; who cares knows how long it was.
//
// No page and no frame is ever written twice under one key: a file is made anew instead.
#ifndef CRYPT_SEALED_H
#define CRYPT_SEALED_H

#include "crypt/keyring.h"

#include <sys/uio.h>

enum {
    SEALED_HEAD = 32,
    SEALED_PAGE = 4096, // plain bytes
    SEALED_FRAME = 16,  // bytes before those of a frame
};

// Which data key a file was made with; 0 if it is not sealed.
uint32_t sealed_key_id(struct slice head);

// ---- Pages ----

// Bytes of a file of pages that has so many plain ones; and the other way round, UINT64_MAX if no
// file has that size.
uint64_t pages_raw_size(uint64_t plain);
uint64_t pages_plain_size(uint64_t raw);

// Writing: the raw bytes are appended to a buffer, which whoever writes empties.
struct page_writer;
struct page_writer *page_writer_new(const struct keyring *ring, struct buf *out);
void page_writer_free(struct page_writer *writer);
void page_writer_add(struct page_writer *writer, struct slice plain, struct buf *out);
// The last page. Nothing can be added then.
void page_writer_end(struct page_writer *writer, struct buf *out);
bool page_writer_ended(const struct page_writer *writer);

// Reading, on any number of threads at once.
struct pages;
// NULL if the head is not one of pages under a key that is there, or no file has that size.
struct pages *pages_open(const struct keyring *ring, struct slice head, uint64_t raw_bytes);
void pages_close(struct pages *pages);
uint64_t pages_size(const struct pages *pages);

enum pages_end { PAGES_DONE, PAGES_FAILED, PAGES_DAMAGED };

// Reads raw bytes of the file into the parts: true if all were there.
typedef bool (*pages_source)(void *context, const struct iovec *parts, int count, uint64_t at);
// Plain bytes, fewer at the end of the file. FAILED if the source did.
MUST_CHECK enum pages_end pages_read(struct pages *pages, uint64_t at, size_t size, uint8_t *to,
                                     size_t *got, pages_source source, void *context);

// ---- Frames ----

struct frame_writer;
struct frame_writer *frame_writer_new(const struct keyring *ring, struct buf *out);
void frame_writer_free(struct frame_writer *writer);
void frame_writer_add(struct frame_writer *writer, struct slice plain, struct buf *out);

// The plain bytes of a whole file. What cannot be opened is zeros, as far as what is behind it says
// how much it was. Returns how many bytes are right from the front, and whether that is all that
// the file has.
uint64_t frames_read(const struct keyring *ring, struct slice raw, struct buf *plain, bool *all);

#endif
