// How RocksDB reaches its files. It works with paths, and a path may lead to another directory
// tomorrow: somebody moves the data directory away and puts a copy in its place. So RocksDB is
// given paths that lead through the open descriptor of the directory (data_dir_path). What it
// writes and removes is then always ours, and never a file of the copy that happens to have the
// same name.
//
// In what people read the directory has the name that they gave it.
#include "rocks/rocks_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define DESCRIPTORS "/proc/self/fd/"

void rocks_find_paths(struct rocks_store *rocks, bool passive)
{
    char data[DATA_DIR_NAME];
    char db[DATA_DIR_NAME];
    char log[DATA_DIR_NAME];
    // A directory that is only looked at is a scratch directory, which nobody knows of.
    bool found = !passive && data_dir_path(rocks->dir.fd, data) &&
                 data_dir_path(rocks->dir.db, db) && data_dir_path(rocks->dir.log, log);
    if (found) {
        (void)snprintf(rocks->data_path, sizeof(rocks->data_path), "%s", data);
        (void)snprintf(rocks->db_path, sizeof(rocks->db_path), "%s", db);
        (void)snprintf(rocks->log_path, sizeof(rocks->log_path), "%s", log);
    } else {
        (void)snprintf(rocks->data_path, sizeof(rocks->data_path), "%s", rocks->path);
        (void)snprintf(rocks->db_path, sizeof(rocks->db_path), "%s/db", rocks->path);
        (void)snprintf(rocks->log_path, sizeof(rocks->log_path), "%s/log", rocks->path);
    }
}

// What follows the name of the data directory in the name of one that is open; NULL if it is
// neither it nor one inside.
static const char *inner_of(const struct rocks_store *rocks, long fd)
{
    if (fd == rocks->dir.fd)
        return "";
    if (fd == rocks->dir.db)
        return "/db";
    return fd == rocks->dir.log ? "/log" : NULL;
}

void rocks_plain_paths(const struct rocks_store *rocks, char *text, size_t size)
{
    for (char *at = text; (at = strstr(at, DESCRIPTORS)) != NULL;) {
        char *end = at + strlen(DESCRIPTORS);
        const char *inner =
            isdigit((unsigned char)*end) ? inner_of(rocks, strtol(end, &end, 10)) : NULL;
        if (inner == NULL) {
            at = end;
            continue;
        }
        // The rest is kept aside, and cut where there is no room for it any more.
        char *rest = strdup(end);
        ensure_memory(rest);
        size_t left = size - (size_t)(at - text);
        size_t name = strlen(rocks->path) + strlen(inner);
        (void)snprintf(at, left, "%s%s%s", rocks->path, inner, rest);
        free(rest);
        at += name < left ? name : left - 1;
    }
}
