// Backups and restores, beside the requests: a backup is a copy of a table's items at one instant,
// kept as a hidden table, and a record that says what it is a copy of. A restore makes a new table
// from it, or from a table's own past.
//
// The table of a restore is CREATING until it is full; its settings say what it is filled with, so
// that a restore needs no record. Both are begun again from the start when a process has died in
// between, and come out the same.
#ifndef BACKUP_BACKUP_H
#define BACKUP_BACKUP_H

#include "engine/history.h"
#include "tables/table_settings.h"
#include "work/run.h"

enum backup_status { BACKUP_CREATING, BACKUP_AVAILABLE, BACKUP_FAILED };

struct backup {
    struct slice id; // 01489602797149-73d8d5bc: the time in ms, and chance
    struct slice name;
    enum backup_status status;
    bool system; // made by deleting a table that could be restored to a point in time
    int64_t created_ms;
    int64_t expiry_ms; // 0 if it stays until it is deleted
    int64_t size;      // in bytes
    int64_t items;
    struct slice failure; // why it failed; else empty
    struct slice source;  // catalog record of the table it is a copy of: see table_decode()
    struct slice table;   // its name
};

enum { BACKUP_ID_MAX = 40 };

// ---- Records (record.c) -----------------------------------------------------------------------

#define BACKUP_RECORDS "backup/" // what their names begin with

// A new id, in the arena.
struct slice backup_id_new(const struct env *env, struct arena *arena, int64_t now_ms);
// The name of the hidden table, and of the record, of a backup; in the arena.
struct slice backup_data_name(struct arena *arena, struct slice id);
struct slice backup_record_name(struct arena *arena, struct slice id);

extern const struct map_form backup_form; // of the record

// Makes a hidden copy's table of the source, without items and indexes; NULL when memory is out.
MUST_CHECK struct table *backup_data_table(const struct table *source, struct slice name);
// The catalog record of a table, in the arena; without bytes when memory is out.
struct slice backup_source_record(const struct table *table, struct arena *arena);

// What DeleteTable leaves of a table that can be restored to a point in time: the table itself,
// hidden, and its record.
MUST_CHECK bool backup_of_deleted(struct engine *engine, struct arena *arena, struct table *current,
                                  struct table **next, struct record_write *record,
                                  struct error *error);

// ---- Backups (backup_run.c, care.c) -----------------------------------------------------------

// Queues the copy of a backup whose record is there. The history is what is copied, and taken over
// in any case; without one it is the table as it is later. If the end has come, the next process
// finds the record.
void backup_begin(struct workshop *shop, struct slice id, struct history *history);
void backup_resume(struct workshop *shop);
// Removes backups whose time is up; called now and then.
void backup_expire(struct workshop *shop);
// False, with the error set, if a backup of the table is being made: it cannot be deleted then. On
// the writer's thread.
MUST_CHECK bool backup_check_idle(struct engine *engine, const struct table *table,
                                  struct error *error);

// ---- Restores (restore_run.c) -----------------------------------------------------------------

// Queues the filling of a table that is CREATING.
void restore_begin(struct workshop *shop, struct table *target);
// Goes on with what was not finished when the process ended.
void restore_resume(struct workshop *shop);
// Whether a table is being restored from the backup. On the writer's thread, nothing changes that.
bool restore_reads(struct engine *engine, struct slice id);
// As backup_check_idle(), for a table whose past another one is being restored from.
MUST_CHECK bool restore_check_idle(struct engine *engine, const struct table *table,
                                   struct error *error);
// Whether a table still has the past that a restore to that instant needs. A later table of the
// same name has not.
bool restore_has_past(struct engine *engine, const struct table *table, int64_t at_ms);

// The first instant that the table can be restored to; only if settings->pitr_days is not 0.
int64_t pitr_earliest_ms(const struct table_settings *settings, int64_t now_ms);
// Whether what happened since then is still known: a day longer than it can be asked for.
bool pitr_has(const struct table_settings *settings, int64_t at_ms, int64_t now_ms);

#endif
