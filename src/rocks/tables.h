// The table files of a data directory, whoever has it open or nobody: found, checked, blamed.
#ifndef ROCKS_TABLES_H
#define ROCKS_TABLES_H

#include "crypt/keyring.h"
#include "store/store.h"

#include <sys/stat.h>

// Each file of a directory, in no order, until `visit` is false, which fails. A directory that is
// not there has none.
typedef bool (*rocks_visit_file)(void *context, const char *directory, const char *name,
                                 struct store_error *error);
MUST_CHECK bool rocks_each_file(const char *directory, rocks_visit_file visit, void *context,
                                struct store_error *error);
bool rocks_ends_with(const char *name, const char *end);

// Calls back with the path of each table file in a part ("db") of a data directory, whatever is in
// it, until `visit` is false, which fails.
MUST_CHECK bool rocks_tables_visit(const char *data, const char *part,
                                   bool (*visit)(void *context, const char *path), void *context,
                                   struct store_error *error);

// The bytes of a table, as the list of tables counts them. Here and below `keys` are those of a
// directory that is encrypted, or NULL.
uint64_t rocks_table_bytes(const struct stat *status, const struct keyring *keys);

// Reads every block of a table file and compares it with its checksum. Calls back with the path and
// what is wrong (NULL if nothing is) and returns what that does.
typedef bool (*rocks_visit_fault)(void *context, const char *path, const char *fault);
bool rocks_table_visit(const char *path, const struct keyring *keys, rocks_visit_fault visit,
                       void *context);
// The same for every table file of a data directory that nobody has open, until `visit` is false.
// False (and error) only if the directory cannot be read.
MUST_CHECK bool rocks_tables_check(const char *data, const struct keyring *keys,
                                   rocks_visit_fault visit, void *context,
                                   struct store_error *error);

// RocksDB blames its list of tables where it cannot open one of them. True, with an error that
// names the first such file, if there is one.
MUST_CHECK bool rocks_tables_blame(const char *data, const struct keyring *keys,
                                   struct store_error *error);

#endif
