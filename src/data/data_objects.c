// The objects of entities (docs/OBJECTS.md): links in answers, and POST
// /v1/{table}/{Entity}/$upload/{name}, which says how one may be uploaded.
#include "data/data_internal.h"

#include "base/time_text.h"
#include "eval/object.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 16 << 10 };

static struct slice host_of(const struct data *data)
{
    return data->exchange->request.host;
}

// ---- Links -----------------------------------------------------------------------------------

static bool may_use(struct data *data, const char *action, struct slice bucket, struct slice key)
{
    if (data->caller == NULL)
        return true;
    struct buf arn;
    buf_init(&arn, TEXT_MAX);
    if (bucket.len == 0)
        bucket = s3_store_bucket(data->service->objects);
    buf_printf(&arn, "arn:aws:s3:::%.*s/%.*s", SLICE_FMT(bucket), SLICE_FMT(key));
    bool may = !arn.failed && data_may(data, action, slice_of(NULL, 0), buf_view(&arn));
    buf_release(&arn);
    return may;
}

// The URL of one object as a JSON string; null if the item has none, or if the caller may not have
// it.
static void link_write(struct data *data, const struct model_object *object, struct slice item,
                       struct slice member, struct json_writer *w)
{
    struct buf key;
    struct buf url;
    buf_init(&key, TEXT_MAX);
    buf_init(&url, TEXT_MAX);
    bool known = model_object_key(object, item, member, &data->scratch, &key) == EVAL_OK;
    bool may = known && may_use(data, "s3:GetObject", object->bucket, buf_view(&key));
    if (known && !may)
        error_init(&data->error, &data->arena);
    if (may)
        s3_url_get(data->service->objects,
                   &(struct s3_object){object->bucket, buf_view(&key), host_of(data)},
                   (unsigned)object->seconds, &url);
    if (url.len > 0 && !url.failed)
        json_string(w, buf_view(&url));
    else
        json_null(w);
    buf_release(&key);
    buf_release(&url);
    arena_reset(&data->scratch);
    data->links++;
}

static bool has_object(struct data *data, const struct model_object *object, struct slice item)
{
    struct buf key;
    if (object->each != NULL)
        return value_get(item, object->each->name).len > 0;
    buf_init(&key, TEXT_MAX);
    bool has = model_object_key(object, item, VALUE_NONE, &data->scratch, &key) == EVAL_OK;
    buf_release(&key);
    arena_reset(&data->scratch);
    return has;
}

static void object_write(struct data *data, const struct model_object *object, struct slice item,
                         struct json_writer *w)
{
    struct object_members members;
    struct slice member;
    json_name_slice(w, object->name);
    if (object->each == NULL) {
        link_write(data, object, item, VALUE_NONE, w);
        return;
    }
    json_open_array(w);
    object_members_init(&members, object, item);
    while (object_members_next(&members, &member)) {
        if (member.len > 0)
            link_write(data, object, item, member, w);
        else
            json_null(w);
    }
    json_close_array(w);
}

static void objects_write(void *context, const struct model_entity *entity, struct slice item,
                          struct json_writer *w)
{
    struct data *data = context;
    const struct model_rules *rules = entity->table->model->rules_of;
    bool any = false;
    for (size_t i = 0; i < rules->object_count && !w->out->failed; i++) {
        const struct model_object *object = &rules->objects[i];
        if (object->entity != entity || !has_object(data, object, item))
            continue;
        if (!any)
            json_put_object(w, MODEL_PLAIN_OBJECTS);
        any = true;
        object_write(data, object, item, w);
    }
    if (any)
        json_close_object(w);
}

struct model_plain_more data_objects_more(struct data *data, const struct slice *wanted)
{
    bool off = wanted != NULL && (slice_is(*wanted, "false") || slice_is(*wanted, "0"));
    return (struct model_plain_more){data,
                                     off || data->service->objects == NULL ? NULL : objects_write};
}

// ---- Uploads ---------------------------------------------------------------------------------

// What is asked for: {"type": "image/jpeg", "size": 12345, "each": "front.png"}
struct data_upload {
    const struct model_object *object;
    struct slice each; // text
    struct s3_upload upload;
    bool form;
};

static bool refuse(struct data *data, const char *format, ...) PRINTF_LIKE(2, 3);
static bool refuse(struct data *data, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *detail = arena_vprintf(&data->arena, format, args);
    va_end(args);
    (void)data_answer_problem(data, (struct data_problem){.kind = DATA_INVALID, .detail = detail});
    return false;
}

static bool size_read(struct json_reader *reader, struct s3_upload *upload)
{
    struct slice text;
    uint64_t size = 0;
    if (json_peek(reader) != JSON_NUMBER || !json_read_number(reader, &text) || text.len > 15)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        size = size * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    upload->size = size;
    upload->sized = true;
    return true;
}

static bool body_read(struct data *data, struct data_upload *upload)
{
    struct json_reader reader;
    struct slice name;
    struct slice body = data->exchange->request.body;
    if (body.len == 0)
        return true;
    if (!data_body_is_json(data))
        return false;
    json_reader_init(&reader, body, &data->arena);
    if (json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return refuse(data, "The body is not an object: {\"type\": …, \"size\": …}");
    while (json_next_name(&reader, &name)) {
        bool type = slice_is(name, "type");
        bool fine = slice_is(name, "size") ? size_read(&reader, &upload->upload)
                    : type || slice_is(name, "each")
                        ? json_peek(&reader) == JSON_STRING &&
                              json_read_string(&reader, type ? &upload->upload.type : &upload->each)
                        : false;
        if (!fine)
            return refuse(
                data, "/%.*s: the body has type (text), size (bytes), and for lists each (text)",
                SLICE_FMT(name));
    }
    if (reader.error != NULL || !json_at_end(&reader))
        return refuse(data, "The body is not JSON: %s, at byte %zu",
                      reader.error == NULL ? "something is behind it" : reader.error,
                      reader.offset);
    return true;
}

static bool type_fits(struct slice type, struct slice allowed)
{
    if (!slice_ends(allowed, SLICE_LIT("*")))
        return slice_equal(type, allowed);
    return slice_begins(type, slice_of(allowed.ptr, allowed.len - 1)) && type.len >= allowed.len;
}

static const char *types_say(struct data *data, const struct model_object *object)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < object->type_count; i++)
        buf_printf(&text, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(object->types[i]));
    struct slice kept = arena_keep(&data->arena, &text);
    return kept.ptr == NULL ? "" : (const char *)kept.ptr;
}

// A type may be left out where there is only one; in a form also where it is a family.
static bool type_judge(struct data *data, struct data_upload *upload)
{
    const struct model_object *object = upload->object;
    struct slice *type = &upload->upload.type;
    bool family = object->type_count == 1 && slice_ends(object->types[0], SLICE_LIT("*"));
    for (size_t i = 0; i < type->len; i++)
        if (type->ptr[i] < ' ' || type->ptr[i] >= 0x7f || type->ptr[i] == ',' ||
            type->ptr[i] == '*')
            return refuse(data, "/type: \"%.*s\" is not a type", SLICE_FMT(*type));
    if (object->type_count == 0)
        return true;
    if (type->len == 0 && object->type_count == 1 && (!family || upload->form)) {
        *type = object->types[0];
        return true;
    }
    for (size_t i = 0; i < object->type_count; i++)
        if (type_fits(*type, object->types[i]))
            return true;
    return type->len == 0
               ? refuse(data, "/type: is missing: it is one of %s", types_say(data, object))
               : refuse(data, "/type: %.*s is not one of %s", SLICE_FMT(*type),
                        types_say(data, object));
}

static bool size_judge(struct data *data, struct data_upload *upload)
{
    uint64_t most = upload->object->most;
    upload->upload.most = upload->upload.sized ? upload->upload.size : most;
    if (most == 0 || (upload->form && !upload->upload.sized))
        return true;
    if (!upload->upload.sized)
        return refuse(data, "/size: is missing: say how many bytes will be sent, at most %llu",
                      (unsigned long long)most);
    return upload->upload.size <= most ||
           refuse(data, "/size: %llu bytes are more than the %llu that are allowed",
                  (unsigned long long)upload->upload.size, (unsigned long long)most);
}

static bool each_judge(struct data *data, const struct data_upload *upload)
{
    bool list = upload->object->each != NULL;
    if (list == (upload->each.ptr != NULL))
        return true;
    return list ? refuse(data, "/each: is missing: which member of %.*s is uploaded",
                         SLICE_FMT(upload->object->name))
                : refuse(data, "/each: %.*s is not a list", SLICE_FMT(upload->object->name));
}

static void put_write(struct data *data, const struct data_upload *upload,
                      const struct s3_object *object, struct json_writer *w)
{
    struct buf url;
    char number[24];
    const struct s3_upload *bound = &upload->upload;
    buf_init(&url, TEXT_MAX);
    s3_url_put(data->service->objects, object, bound, (unsigned)upload->object->seconds, &url);
    data->body.failed = data->body.failed || url.failed;
    json_put_text(w, "method", "PUT");
    json_put_string(w, "url", buf_view(&url));
    json_put_object(w, "headers");
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)bound->size);
    if (bound->type.len > 0)
        json_put_string(w, "content-type", bound->type);
    if (bound->sized)
        json_put_text(w, "content-length", number);
    json_close_object(w);
    buf_release(&url);
}

static bool form_write(struct data *data, const struct data_upload *upload,
                       const struct s3_object *object, struct json_writer *w)
{
    struct s3_form form;
    if (!s3_form_make(data->service->objects, object, &upload->upload,
                      (unsigned)upload->object->seconds, &data->arena, &form))
        return false;
    json_put_text(w, "method", "POST");
    json_put_string(w, "url", form.url);
    json_put_object(w, "fields");
    json_put_string(w, "key", object->key);
    if (upload->upload.type.len > 0 && !slice_ends(upload->upload.type, SLICE_LIT("*")))
        json_put_string(w, "Content-Type", upload->upload.type);
    json_put_string(w, "x-amz-algorithm", form.fields.algorithm);
    json_put_string(w, "x-amz-credential", form.fields.credential);
    json_put_string(w, "x-amz-date", form.fields.date);
    if (form.fields.token.len > 0)
        json_put_string(w, "x-amz-security-token", form.fields.token);
    json_put_string(w, "policy", form.fields.policy);
    json_put_string(w, "x-amz-signature", form.fields.signature);
    json_close_object(w);
    return true;
}

static void upload_answer(struct data *data, struct slice key)
{
    const struct data_upload *upload = data->upload;
    struct json_writer w = json_writer_to(&data->body);
    struct s3_object object = {upload->object->bucket, key, host_of(data)};
    if (object.bucket.len == 0)
        object.bucket = s3_store_bucket(data->service->objects);
    if (!may_use(data, "s3:PutObject", object.bucket, key)) {
        DISREGARD(data_answer_error(data));
        return;
    }
    json_open_object(&w);
    json_put_string(&w, "bucket", object.bucket);
    json_put_string(&w, "key", key);
    if (upload->form && !form_write(data, upload, &object, &w)) {
        (void)data_answer_problem(data, data_problem_memory(data));
        return;
    }
    if (!upload->form)
        put_write(data, upload, &object, &w);
    json_put_integer(&w, "expiresIn", (int64_t)upload->object->seconds);
    json_close_object(&w);
    (void)data_answer_json(data, 200);
}

// The item is read: its key is what is to be uploaded.
static void upload_complete(struct data *data)
{
    const struct data_change *change = &data->tasks[0].changes[0];
    const struct data_upload *upload = data->upload;
    struct slice member = VALUE_NONE;
    struct buf key;
    if (change->failed) {
        (void)data_answer_problem(data, change->problem);
        return;
    }
    if (upload->object->each != NULL)
        member = model_string(&data->arena, upload->each);
    buf_init(&key, TEXT_MAX);
    if (model_object_key(upload->object, change->item, member, &data->scratch, &key) == EVAL_OK)
        upload_answer(data, buf_view(&key));
    else
        (void)refuse(data,
                     "This %.*s has no %.*s: a value that its path \"%.*s\" needs is missing, or "
                     "has a slash in it",
                     SLICE_FMT(change->entity->name), SLICE_FMT(upload->object->name),
                     SLICE_FMT(upload->object->path->source));
    buf_release(&key);
    arena_reset(&data->scratch);
}

static const struct model_object *object_find(const struct model_entity *entity, struct slice name)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    for (size_t i = 0; i < rules->object_count; i++)
        if (rules->objects[i].entity == entity && slice_equal(rules->objects[i].name, name))
            return &rules->objects[i];
    return NULL;
}

enum data_step data_upload(struct data *data, const struct model_entity *entity, struct slice name)
{
    const struct model_object *object = object_find(entity, name);
    if (!data_method_in(data, "POST"))
        return DATA_READY;
    if (object == NULL)
        return data_answer_not_found(data, "Entity %.*s has no object %.*s in its model",
                                     SLICE_FMT(entity->name), SLICE_FMT(name));
    if (data->service->objects == NULL)
        return data_answer_not_found(data, "This server has no store for objects: start it with "
                                           "--objects or --s3-bucket");
    struct data_upload *upload = arena_zalloc(&data->arena, 1, sizeof(*upload));
    if (upload == NULL)
        return data_answer_problem(data, data_problem_memory(data));
    upload->object = object;
    upload->form = data_param_true(data, "form");
    data->upload = upload;
    if (!body_read(data, upload) || !each_judge(data, upload) || !type_judge(data, upload) ||
        !size_judge(data, upload))
        return DATA_READY;
    return data_entity_read(data, entity, upload_complete);
}
