// Problem documents (RFC 9457): what each error of the database is over HTTP.
#include "data/data_internal.h"

#define TYPE_PREFIX "urn:dolmen:problem:"

static const struct problem_row {
    const char *name;
    int status;
    const char *title;
} rows[] = {
#define X(kind, status, title) [DATA_##kind] = {#kind, status, title},
    DATA_PROBLEM_LIST(X)
#undef X
};

int data_problem_status(const struct data_problem *problem)
{
    return rows[problem->kind].status;
}

// Violations come with what the guard has refused: a value, or a version that is not the stored
// one.
static enum data_problem_kind kind_of(enum error_code code,
                                      const struct model_violations *violations)
{
    switch (code) {
    case ERR_VALIDATION:
    case ERR_EMPTY_KEY:
        return violations != NULL && violations->taken ? DATA_NOT_UNIQUE : DATA_INVALID;
    case ERR_ACCESS_DENIED:
        return DATA_FORBIDDEN;
    case ERR_SERIALIZATION:
        return DATA_MALFORMED;
    case ERR_RESOURCE_NOT_FOUND:
    case ERR_TABLE_NOT_FOUND:
        return DATA_NOT_FOUND;
    case ERR_CONDITIONAL_CHECK_FAILED:
        return violations != NULL ? DATA_CONFLICT : DATA_PRECONDITION;
    case ERR_TRANSACTION_CANCELED:
        return DATA_CANCELED;
    case ERR_TRANSACTION_CONFLICT:
    case ERR_RESOURCE_IN_USE:
        return DATA_CONFLICT;
    case ERR_THROTTLING:
    case ERR_THROUGHPUT_EXCEEDED:
    case ERR_REQUEST_LIMIT:
        return DATA_THROTTLED;
    case ERR_UNAVAILABLE:
        return DATA_UNAVAILABLE;
    case ERR_COLLECTION_SIZE:
    case ERR_LIMIT_EXCEEDED:
        return DATA_INVALID;
    default:
        return DATA_INTERNAL;
    }
}

struct data_problem data_problem_of(enum error_code code, const char *message, const void *details)
{
    bool guarded = code == ERR_VALIDATION || code == ERR_CONDITIONAL_CHECK_FAILED;
    return (struct data_problem){
        .kind = kind_of(code, guarded ? details : NULL),
        .detail = message,
        .violations = guarded ? details : NULL,
        .code = code,
    };
}

struct data_problem data_problem_error(const struct error *error)
{
    return data_problem_of(error->code, error->message, error->details);
}

struct data_problem data_problem_memory(struct data *data)
{
    struct error error;
    error_init(&error, &data->arena);
    (void)error_budget(&error);
    return data_problem_error(&error);
}

static void write_type(struct json_writer *w, const struct problem_row *row)
{
    char type[64] = TYPE_PREFIX;
    size_t at = sizeof(TYPE_PREFIX) - 1;
    for (const char *c = row->name; *c != 0 && at + 1 < sizeof(type); c++)
        type[at++] = *c == '_' ? '-' : (char)(*c | 0x20);
    type[at] = 0;
    json_put_text(w, "type", type);
}

static void write_violations(struct json_writer *w, const struct model_violations *violations,
                             const char *where)
{
    json_put_array(w, "errors");
    for (size_t i = 0; i < violations->count; i++) {
        const struct model_violation *one = &violations->list[i];
        struct buf text;
        buf_init(&text, 64 << 10);
        buf_printf(&text, "%s%.*s", where, SLICE_FMT(one->pointer));
        json_form(w, "{'pointer':%.*s,'expected':%.*s,'actual':%.*s", SLICE_FMT(buf_view(&text)),
                  SLICE_FMT(one->expected), SLICE_FMT(one->actual));
        buf_clear(&text);
        buf_printf(&text, "expected %.*s, got %.*s", SLICE_FMT(one->expected),
                   SLICE_FMT(one->actual));
        json_form(w, "'detail':%.*s}", SLICE_FMT(buf_view(&text)));
        buf_release(&text);
    }
    json_close_array(w);
}

void data_problem_members(struct json_writer *w, const struct data_problem *problem,
                          const char *where)
{
    const struct problem_row *row = &rows[problem->kind];
    write_type(w, row);
    json_form(w, "'title':%s,'status':%d", row->title, row->status);
    if (problem->detail != NULL && problem->detail[0] != 0)
        json_put_text(w, "detail", problem->detail);
    if (problem->code != ERR_NONE)
        json_put_text(w, "exception", error_row(problem->code)->name);
    if (problem->violations != NULL && problem->violations->count > 0) {
        if (problem->violations->entity.len > 0)
            json_put_string(w, "entity", problem->violations->entity);
        write_violations(w, problem->violations, where);
    }
}
