// S3's words for what is wrong with a signature.
#include "sign/check.h"

#include <stdio.h>

struct row {
    const char *code;
    int status;
    const char *message;
};

#define ROW(id, code, status, message) {code, status, message},
static const struct row rows[SIGN_RESULT_COUNT] = {SIGN_RESULT_LIST(ROW)};
#undef ROW

// What the message's first and second "%s" stand for.
static void fill(enum sign_result result, const struct sign_claim *claim,
                 const struct sign_rules *rules, struct slice values[2])
{
    if (claim == NULL)
        return;
    values[0] = claim->fault;
    if (result == SIGN_TERMINAL)
        values[1] = SLICE_LIT("aws4_request");
    else if (result == SIGN_DAY_WRONG)
        values[1] = slice_of(claim->date, SIGN_DAY);
    else if (result == SIGN_SERVICE && rules != NULL)
        values[1] = rules->service;
    else if (result == SIGN_REGION && rules != NULL)
        values[1] = rules->region;
}

static void message_write(const char *format, struct slice values[2], struct buf *out)
{
    size_t at = 0;
    for (; *format != 0; format++) {
        if (format[0] != '%' || at == 2) {
            buf_byte(out, (uint8_t)*format);
            continue;
        }
        struct slice value = values[at++];
        buf_slice(out, slice_of(value.ptr, value.len < 128 ? value.len : 128));
        format++;
    }
}

void sign_s3_error(enum sign_result result, const struct sign_claim *claim,
                   const struct sign_rules *rules, struct sign_error *out)
{
    const struct row *row = &rows[result];
    struct slice values[2] = {{NULL, 0}, {NULL, 0}};
    struct buf message;
    bool query = claim != NULL && claim->form == SIGN_IN_QUERY;
    bool malformed = strcmp(row->code, "AuthorizationHeaderMalformed") == 0;
    out->status = row->status;
    out->code = malformed && query ? "AuthorizationQueryParametersError" : row->code;
    fill(result, claim, rules, values);
    buf_init(&message, sizeof(out->message) * 2);
    if (malformed && result != SIGN_HEADER_MALFORMED)
        buf_text(&message, query ? "Error parsing the X-Amz-Credential parameter; "
                                 : "The authorization header is malformed; ");
    message_write(row->message, values, &message);
    (void)snprintf(out->message, sizeof(out->message), "%.*s", SLICE_FMT(buf_view(&message)));
    buf_release(&message);
}
