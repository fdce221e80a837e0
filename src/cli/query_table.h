// Entities as an aligned table on a terminal.
#ifndef CLI_QUERY_TABLE_H
#define CLI_QUERY_TABLE_H

#include "items/entity.h"

// False, with nothing printed, if they do not fit: an attribute is a list or a map, or the lines
// are too long for the terminal.
MUST_CHECK bool query_table_print(const struct model_entity *entity, const struct api_page *page);

#endif
