// Sealed files (crypt/sealed.h) for the C++ of this room: what RocksDB reads and writes in a
// directory that is encrypted. Tables are files of pages, everything else is in frames.
#ifndef ROCKS_SEALED_IO_H
#define ROCKS_SEALED_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct keyring;

// ---- Tables ----

struct sealed_table;

// Of an open file, which stays the caller's. NULL if it is not a sealed table of one of the keys.
struct sealed_table *sealed_table_new(const struct keyring *keys, int fd);
void sealed_table_free(struct sealed_table *table);

// Reads as preadv does.
typedef ssize_t (*sealed_reader)(int fd, const struct iovec *parts, int count, off_t at);
// As pread does; EBADMSG if what is there is not what was written.
ssize_t sealed_table_read(struct sealed_table *table, uint64_t at, size_t size, void *to,
                          sealed_reader reader);

// Where the page with that byte begins in the file, at the latest.
uint64_t sealed_table_place(uint64_t at);
// The plain size of a table whose file has so many bytes; UINT64_MAX if none has.
uint64_t sealed_table_size(uint64_t raw);

// ---- Other files ----

// All of a file, which the caller frees; NULL with errno. `all` if nothing of it is missing.
void *sealed_content(const struct keyring *keys, const char *path, size_t *size, bool *all);

// ---- Writing ----

struct sealed_writer;

struct sealed_writer *sealed_writer_new(const struct keyring *keys, bool table);
void sealed_writer_free(struct sealed_writer *writer);
// False if the table has been ended.
bool sealed_writer_add(struct sealed_writer *writer, const void *bytes, size_t size);
// All of it was added: a table's last page. For other files nothing.
void sealed_writer_end(struct sealed_writer *writer);
// What is to be appended to the file now; valid until the writer is used again.
const void *sealed_writer_take(struct sealed_writer *writer, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
