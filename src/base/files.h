// What the system's calls on files leave to their callers: whole reads and writes, listings,
// directories on disk. False, or NULL, with errno.
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include "base/buf.h"

#include <dirent.h>

// All of the bytes, from where the file stands.
MUST_CHECK bool file_write(int fd, struct slice bytes);
// The file from where it stands to its end, behind what the buf has.
MUST_CHECK bool file_read(int fd, struct buf *out);

// Appends whole lines to a file that others may append to as well, of this process or another: all
// of them or none, on disk when it returns. A line that somebody began and did not live to finish
// is cut off before. The file is open for reading and appending. EWOULDBLOCK if somebody keeps it
// locked. Without lines it only cuts.
MUST_CHECK bool file_append_lines(int fd, struct slice lines);

// An open directory from its beginning, for readdir() and closedir(). The descriptor stays open and
// where it is.
MUST_CHECK DIR *directory_list(int fd);
// Removes it with all that is below, if it is there. Links are removed, not followed.
MUST_CHECK bool directory_remove(const char *path);
// What was made in it, renamed or removed is so after a power cut, too.
MUST_CHECK bool directory_sync(const char *path);

#endif
