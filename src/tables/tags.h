// Tags: judging them, and keeping them in the settings of a table, as an M of S.
#ifndef TABLES_TAGS_H
#define TABLES_TAGS_H

#include "tables/table_settings.h"

// Tags that are to be added (struct request_tag), and keys that are to go (struct slice).
MUST_CHECK bool tags_check(const struct field_list *tags, struct error *error);
MUST_CHECK bool tags_check_keys(const struct field_list *keys, struct error *error);

// Changes the settings of a table that is being made or changed. Adding sets the error if there are
// too many.
MUST_CHECK bool tags_add(struct table *table, struct table_settings *settings,
                         const struct field_list *tags, struct error *error);
MUST_CHECK bool tags_remove(struct table *table, struct table_settings *settings,
                            const struct field_list *keys, struct error *error);

#endif
