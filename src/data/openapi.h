// The data API of some tables as an OpenAPI 3.1 document.
#ifndef DATA_OPENAPI_H
#define DATA_OPENAPI_H

#include "model/model.h"
#include "json/writer.h"

struct openapi_options {
    const char *title;   // NULL for a default
    const char *version; // of the document; NULL for 1.0.0
    const char *server;  // URL, such as http://127.0.0.1:8000; NULL for where it was read from
};

// Appends the document. Entities of several tables may have the same names.
void model_openapi(size_t count, const struct model_table *const *tables,
                   const struct openapi_options *options, struct buf *out);

#endif
