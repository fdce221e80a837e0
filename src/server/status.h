// The pages that are not DynamoDB's: /health, /metrics, and, if allowed, /admin/….
#ifndef SERVER_STATUS_H
#define SERVER_STATUS_H

#include "http/http.h"
#include "server/dynamo.h"

struct status_page {
    int status;
    struct slice type; // a literal
};

// Whether making the page can take long: the metrics of many tables, waiting for the writer.
bool status_is_long(const struct http_request *request);

// Whether the request is for such a page. If so, its text is in `out`, which was empty.
MUST_CHECK bool status_answer(struct dynamo *dynamo, const struct http_request *request,
                              struct buf *out, struct status_page *page);

#endif
