// ImportTable: checks the request, makes the table (CREATING) together with the import's record,
// and leaves the work to a task.
#include "history/exchange_call.h"

#include "base/limits.h"
#include "json/reader.h"

struct importing {
    struct import_record record;
    struct create_table_request create;
    struct record_write write;
    struct api_call *call;
    bool repeated;
};

static void creation_of(const struct table_creation_parameters *from,
                        struct create_table_request *to)
{
    *to = (struct create_table_request){
        .table_name = from->table_name,
        .attribute_definitions = from->attribute_definitions,
        .key_schema = from->key_schema,
        .billing_mode = from->billing_mode,
        .provisioned_throughput = from->provisioned_throughput,
        .on_demand_throughput = from->on_demand_throughput,
        .sse_specification = from->sse_specification,
        .global_secondary_indexes = from->global_secondary_indexes,
    };
}

// The text of a member of the body, which has been read before and is well-formed: descriptions
// repeat what the request said.
static struct slice body_member(struct api_call *call, const char *wanted)
{
    struct json_reader reader;
    struct slice name;
    struct slice found = {NULL, 0};
    json_reader_init(&reader, call->body, &call->arena);
    if (!json_enter(&reader))
        return found;
    while (json_next_name(&reader, &name)) {
        const uint8_t *from = reader.at;
        if (!json_skip(&reader))
            break;
        if (slice_is(name, wanted))
            found = slice_of(from, (size_t)(reader.at - from));
    }
    return found;
}

// The names of HeaderList as an L value.
static struct slice header_of(struct api_call *call, const struct csv_options *csv)
{
    if (csv == NULL || csv->header_list.count == 0)
        return VALUE_NONE;
    const struct slice *names = csv->header_list.items;
    struct value_maker maker;
    value_begin(&maker, LIMIT_BODY);
    value_open_list(&maker.b);
    for (size_t i = 0; i < csv->header_list.count; i++)
        value_put_string(&maker.b, names[i]);
    return value_end(&maker, &call->arena);
}

static bool fill_record(struct api_call *call, const struct import_table_request *request,
                        struct import_record *out)
{
    const struct s3_bucket_source *source = request->s3_bucket_source;
    const struct csv_options *csv =
        request->input_format_options == NULL ? NULL : request->input_format_options->csv;
    *out = (struct import_record){
        .format = request->input_format,
        .compression = request->input_compression_type.ptr == NULL
                           ? SLICE_LIT("NONE")
                           : request->input_compression_type,
        .delimiter = csv == NULL ? slice_of(NULL, 0) : csv->delimiter,
        .header = header_of(call, csv),
        .options = body_member(call, "InputFormatOptions"),
        .creation = body_member(call, "TableCreationParameters"),
    };
    out->base = (struct exchange){
        .table = request->table_creation_parameters->table_name,
        .token = request->client_token,
        .status = EXCHANGE_IN_PROGRESS,
        .bucket = source->s3_bucket,
        .owner = source->s3_bucket_owner,
        .prefix = source->s3_key_prefix,
    };
    const struct slice parts[] = {source->s3_bucket, source->s3_bucket_owner, source->s3_key_prefix,
                                  out->format,       out->compression,        out->options,
                                  out->creation};
    return call_exchange_init(call, &out->base, parts, COUNT_OF(parts));
}

// Whether the token was used before; then *importing is about that import.
static bool check_token(struct api_call *call, struct importing *importing)
{
    struct slice found;
    struct exchange *base = &importing->record.base;
    if (!exchange_by_token(call_engine(call), "import", base->token, base->started_ms, &call->arena,
                           &found, &call->error))
        return false;
    if (found.len == 0)
        return true;
    struct import_record before;
    map_decode(&import_form, found, &before);
    if (!slice_equal(before.base.digest, base->digest))
        return error_set(&call->error, ERR_IMPORT_CONFLICT,
                         "Import with the same client token but different parameters exists: %.*s",
                         SLICE_FMT(base->token));
    importing->record = before;
    importing->repeated = true;
    return true;
}

static bool create_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct importing *importing = context;
    const struct exchange *base = &importing->record.base;
    if (current != NULL)
        return error_set(error, ERR_RESOURCE_IN_USE, "Table already exists: %.*s",
                         SLICE_FMT(base->table));
    *next = table_spec_make(&importing->create, base->table, base->started_ms);
    if (*next == NULL)
        return error_budget(error);
    (*next)->status = TABLE_CREATING;
    return true;
}

static bool check_options(struct api_call *call, const struct import_table_request *request)
{
    bool csv = request->input_format_options != NULL && request->input_format_options->csv != NULL;
    return !csv || slice_is(request->input_format, "CSV") ||
           error_validation(&call->error,
                            "InputFormatOptions are not supported for the InputFormat %.*s",
                            SLICE_FMT(request->input_format));
}

enum step import_table_start(struct api_call *call, const void *decoded)
{
    const struct import_table_request *request = decoded;
    struct importing *importing = call_alloc(call, 1, sizeof(*importing));
    if (importing == NULL)
        return STEP_FAILED;
    creation_of(request->table_creation_parameters, &importing->create);
    if (!table_spec_check(&importing->create, &call->error) || !check_options(call, request) ||
        !call_check_place(call, slice_of(NULL, 0)) ||
        !fill_record(call, request, &importing->record) || !check_token(call, importing))
        return STEP_FAILED;
    if (importing->repeated) {
        import_respond(call, &importing->record);
        return STEP_READY;
    }
    importing->write.name = exchange_name(&call->arena, "import", importing->record.base.id);
    importing->write.value =
        map_encode(&import_form, &importing->record, &call->arena, &call->error);
    struct table_change *change = call_table_change(call);
    if (change == NULL || importing->write.name.ptr == NULL || importing->write.value.len == 0)
        return STEP_FAILED;
    change->name = importing->record.base.table;
    change->alter = create_alter;
    change->context = importing;
    change->record_count = 1;
    change->records = &importing->write;
    call->state->own = importing;
    return call_submit(call);
}

void import_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    struct importing *importing = call->state->own;
    importing->record.base.table_id = call->state->change->after->uuid;
    // If the end has come, the next process finds the record.
    (void)run_begin(call_shop(call), &import_kind, importing->record.base.id);
    import_respond(call, &importing->record);
}
