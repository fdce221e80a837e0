// PostObject: a form that a browser posts, with a file as its last field. Fields are gathered until
// the file begins; then the policy is judged, and the file goes into a blob as it comes. What
// follows the file is passed over, as S3 does.
#include "objects/s3.h"

#include "base/limits.h"

#include <stdio.h>
#include <strings.h>

enum { FIELDS_MAX = 100, PENDING_MAX = 512 << 10, BOUNDARY_MAX = 74 };

enum form_step {
    FORM_PREAMBLE, // before the first boundary
    FORM_BOUNDARY, // behind one
    FORM_HEAD,     // of a field
    FORM_FIELD,
    FORM_FILE,
    FORM_OVER,
};

struct s3_form {
    enum form_step step;
    size_t line_len;
    char line[BOUNDARY_MAX + 4]; // CR LF, "--", the boundary
    struct buf pending;          // what is not understood yet
    struct slice name;           // of the field
    struct slice filename;
    struct sign_field fields[FIELDS_MAX];
    struct sign_form_fields all;
    size_t bytes; // of the fields
    struct sign_range range;
    bool filed; // there was a file
};

const struct sign_form_fields *s3_form_fields(const struct s3 *s3)
{
    return &s3->form->all;
}

static bool same_name(struct slice name, const char *text)
{
    return name.len == strlen(text) && strncasecmp((const char *)name.ptr, text, name.len) == 0;
}

const struct slice *s3_form_field(const struct s3 *s3, const char *name)
{
    const struct sign_form_fields *all = &s3->form->all;
    for (size_t i = 0; i < all->count; i++) {
        if (same_name(all->fields[i].name, name))
            return &all->fields[i].value;
    }
    return NULL;
}

// ---- The policy
// --------------------------------------------------------------------------------------

static bool refuse(struct s3 *s3, enum sign_result result, const struct sign_rules *rules)
{
    sign_s3_error(result, &s3->claim, rules, &s3->signature);
    return s3_fail(s3, S3_ERRORS);
}

static bool form_authenticate(struct s3 *s3)
{
    struct s3_form *form = s3->form;
    const struct objects *objects = s3->objects;
    struct sign_claim claim;
    const struct sign_rules rules = {
        .service = SLICE_LIT("s3"), .now = env_now(&objects->env) / 1000, .skew_s = SIGN_SKEW_S};
    memset(&claim, 0, sizeof(claim));
    enum sign_result result = sign_policy_read(&form->all, &rules, &s3->arena, &claim);
    if (result == SIGN_NONE) {
        bool free = s3->signer || (objects->anonymous && (!s3->foreign || s3->page_allowed));
        return free || s3_fail(s3, S3_ACCESS_DENIED);
    }
    const struct objects_key *key =
        result == SIGN_OK ? s3_find_key(objects, claim.access_key) : NULL;
    if (result == SIGN_OK && key == NULL)
        result = SIGN_UNKNOWN_KEY;
    if (result == SIGN_OK && claim.token.len > 0)
        result = SIGN_TOKEN;
    if (result == SIGN_OK)
        result = sign_policy_check(&form->all, &claim, &rules, slice_str(key->secret), NULL,
                                   &s3->arena, &form->range);
    if (result == SIGN_OK)
        return true;
    s3->claim = claim;
    return refuse(s3, result, &rules);
}

// "${filename}" in the key stands for the name of the file, without its directories.
static bool form_key(struct s3 *s3)
{
    static const char variable[] = "${filename}";
    const struct slice *field = s3_form_field(s3, "key");
    struct buf key;
    if (field == NULL)
        return s3_fail(s3, S3_NO_KEY_FIELD);
    struct slice rest = *field;
    struct slice file = s3->form->filename;
    for (size_t i = file.len; i > 0; i--) {
        if (file.ptr[i - 1] == '/' || file.ptr[i - 1] == '\\') {
            file = slice_of(file.ptr + i, file.len - i);
            break;
        }
    }
    buf_init(&key, 4 * LIMIT_OBJECT_KEY);
    const uint8_t *at;
    while (rest.len > 0 &&
           (at = memmem(rest.ptr, rest.len, variable, sizeof(variable) - 1)) != NULL) {
        buf_slice(&key, slice_of(rest.ptr, (size_t)(at - rest.ptr)));
        buf_slice(&key, file);
        at += sizeof(variable) - 1;
        rest = slice_of(at, (size_t)(rest.ptr + rest.len - at));
    }
    buf_slice(&key, rest);
    if (key.failed) {
        buf_release(&key);
        return s3_fail(s3, S3_KEY_TOO_LONG);
    }
    s3->key = arena_keep(&s3->arena, &key);
    return s3->key.ptr != NULL ? s3_key_valid(s3, s3->key) : s3_fail(s3, S3_SLOW_DOWN);
}

// All fields are there, and the file begins.
static bool file_begin(struct s3 *s3)
{
    struct s3_form *form = s3->form;
    enum checksum_kind kind;
    if (form->filed)
        return s3_fail(s3, S3_NO_FILE);
    form->filed = true;
    form->step = FORM_FILE;
    if (!form_authenticate(s3) || !form_key(s3) || !s3_refuse_unsupported_fields(s3) ||
        !s3_checksum_asked(s3, &kind))
        return false;
    uint64_t most = form->range.most < LIMIT_OBJECT_PUT ? form->range.most : LIMIT_OBJECT_PUT;
    return s3_intake_begin(s3, kind, most);
}

// ---- The body
// ----------------------------------------------------------------------------------------

static void pending_drop(struct s3_form *form, size_t count)
{
    memmove(form->pending.ptr, form->pending.ptr + count, form->pending.len - count);
    form->pending.len -= count;
}

// The value of `name="…"` among parameters of a header.
static struct slice parameter(struct slice text, const char *name)
{
    size_t len = strlen(name);
    while (text.len > 0) {
        struct slice part = slice_trim(slice_cut(&text, ';'));
        if (part.len > len + 1 && part.ptr[len] == '=' &&
            strncasecmp((const char *)part.ptr, name, len) == 0) {
            struct slice value = slice_of(part.ptr + len + 1, part.len - len - 1);
            if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
                value = slice_of(value.ptr + 1, value.len - 2);
            return value;
        }
    }
    return slice_of(NULL, 0);
}

static bool head_line(struct s3 *s3, struct slice line)
{
    struct s3_form *form = s3->form;
    struct slice value = line;
    struct slice name = slice_cut(&value, ':');
    value = slice_trim(value);
    if (same_name(name, "content-disposition")) {
        form->name = arena_copy(&s3->arena, parameter(value, "name"));
        form->filename = arena_copy(&s3->arena, parameter(value, "filename"));
        return (form->name.ptr != NULL && form->filename.ptr != NULL) || s3_fail(s3, S3_SLOW_DOWN);
    }
    return true;
}

// The head of a field, up to its empty line. *enough is false while that has not come.
static bool head_take(struct s3 *s3, bool *enough)
{
    struct s3_form *form = s3->form;
    struct slice text = buf_view(&form->pending);
    const uint8_t *end = text.len == 0 ? NULL : memmem(text.ptr, text.len, "\r\n\r\n", 4);
    *enough = end != NULL;
    if (end == NULL)
        return text.len <= SIGN_POLICY_MAX || s3_fail(s3, S3_MALFORMED_POST);
    size_t len = (size_t)(end - text.ptr);
    form->name = slice_of(NULL, 0);
    struct slice rest = slice_of(text.ptr, len + 2);
    while (rest.len > 0) {
        struct slice line = slice_cut(&rest, '\n');
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len > 0 && !head_line(s3, line))
            return false;
    }
    pending_drop(form, len + 4);
    if (form->name.len == 0)
        return s3_fail(s3, S3_MALFORMED_POST);
    form->step = FORM_FIELD;
    if (same_name(form->name, "file"))
        return file_begin(s3);
    return true;
}

static bool field_add(struct s3 *s3, struct slice value)
{
    struct s3_form *form = s3->form;
    struct slice copy = arena_copy(&s3->arena, value);
    form->bytes += form->name.len + value.len;
    if (copy.ptr == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    if (form->all.count == FIELDS_MAX || form->bytes > SIGN_POLICY_MAX)
        return s3_fail(s3, S3_TOO_LARGE_BODY);
    if (form->filed)
        return true; // behind the file
    for (size_t i = 0; i < form->all.count; i++) {
        // Twice the same field: nobody could tell which of them the policy has judged.
        if (form->fields[i].name.len == form->name.len &&
            strncasecmp((const char *)form->fields[i].name.ptr, (const char *)form->name.ptr,
                        form->name.len) == 0)
            return s3_fail(s3, S3_MALFORMED_POST);
    }
    form->fields[form->all.count++] = (struct sign_field){form->name, copy};
    return true;
}

// What stands before the next boundary: all of a field, or some of a file.
static bool content_take(struct s3 *s3, bool *enough)
{
    struct s3_form *form = s3->form;
    struct slice text = buf_view(&form->pending);
    const uint8_t *end =
        text.len == 0 ? NULL : memmem(text.ptr, text.len, form->line, form->line_len);
    bool file = form->step == FORM_FILE;
    *enough = end != NULL;
    size_t len = end != NULL                 ? (size_t)(end - text.ptr)
                 : text.len > form->line_len ? text.len - form->line_len
                                             : 0;
    if (end == NULL && !file)
        return text.len <= SIGN_POLICY_MAX || s3_fail(s3, S3_TOO_LARGE_BODY);
    if (file && len > 0 && !s3_intake_add(s3, slice_of(text.ptr, len)))
        return false;
    if (!file && !field_add(s3, slice_of(text.ptr, len)))
        return false;
    pending_drop(form, end != NULL ? len + form->line_len : len);
    if (end != NULL)
        form->step = FORM_BOUNDARY;
    return true;
}

// Behind a boundary is the end of its line, or "--" at the end of the form.
static bool boundary_take(struct s3 *s3, bool *enough)
{
    struct s3_form *form = s3->form;
    *enough = form->pending.len >= 2;
    if (!*enough)
        return true;
    if (memcmp(form->pending.ptr, "--", 2) == 0)
        form->step = FORM_OVER;
    else if (memcmp(form->pending.ptr, "\r\n", 2) == 0)
        form->step = FORM_HEAD;
    else
        return s3_fail(s3, S3_MALFORMED_POST);
    pending_drop(form, 2);
    return true;
}

static bool preamble_take(struct s3 *s3, bool *enough)
{
    struct s3_form *form = s3->form;
    size_t len = form->line_len - 2; // without its line break
    *enough = form->pending.len >= len;
    if (!*enough)
        return true;
    if (memcmp(form->pending.ptr, form->line + 2, len) != 0)
        return s3_fail(s3, S3_MALFORMED_POST);
    pending_drop(form, len);
    form->step = FORM_BOUNDARY;
    return true;
}

bool s3_form_feed(struct s3 *s3, struct slice bytes)
{
    struct s3_form *form = s3->form;
    bool enough = true;
    bool ok = true;
    buf_slice(&form->pending, bytes);
    if (form->pending.failed)
        return s3_fail(s3, s3->account.starved ? S3_SLOW_DOWN : S3_TOO_LARGE_BODY);
    while (ok && enough && form->step != FORM_OVER) {
        switch (form->step) {
        case FORM_PREAMBLE:
            ok = preamble_take(s3, &enough);
            break;
        case FORM_BOUNDARY:
            ok = boundary_take(s3, &enough);
            break;
        case FORM_HEAD:
            ok = head_take(s3, &enough);
            break;
        case FORM_FIELD:
        case FORM_FILE:
            ok = content_take(s3, &enough);
            break;
        case FORM_OVER:
            break;
        }
    }
    if (form->step == FORM_OVER)
        buf_clear(&form->pending);
    return ok;
}

bool s3_form_begin(struct s3 *s3)
{
    const struct slice *type = http_header(s3->request, HTTP_CONTENT_TYPE);
    struct slice parameters = type == NULL ? slice_of(NULL, 0) : *type;
    struct slice kind = slice_trim(slice_cut(&parameters, ';'));
    if (!same_name(kind, "multipart/form-data"))
        return s3_fail(s3, S3_METHOD_NOT_ALLOWED);
    struct slice boundary = parameter(parameters, "boundary");
    if (boundary.len == 0 || boundary.len > 70 || !s3->body_wanted)
        return s3_fail(s3, S3_MALFORMED_POST);
    struct s3_form *form = arena_zalloc(&s3->arena, 1, sizeof(*form));
    if (form == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    form->line_len =
        (size_t)snprintf(form->line, sizeof(form->line), "\r\n--%.*s", SLICE_FMT(boundary));
    form->all = (struct sign_form_fields){.fields = form->fields, .bucket = s3->bucket};
    form->range.most = UINT64_MAX;
    buf_init_counted(&form->pending, PENDING_MAX, &s3->account, BUDGET_BODIES);
    s3->form = form;
    return true;
}

void s3_form_release(struct s3 *s3)
{
    if (s3->form != NULL)
        buf_release(&s3->form->pending);
}

// ---- The answer
// --------------------------------------------------------------------------------------

static void answer_posted(struct s3 *s3, const struct record *record)
{
    const struct slice *redirect = s3_form_field(s3, "success_action_redirect");
    const struct slice *status = s3_form_field(s3, "success_action_status");
    struct buf *headers = &s3->headers;
    s3_add_quoted(s3, "ETag", record->etag);
    if (redirect != NULL && redirect->len > 0 && s3_value_valid(*redirect)) {
        buf_text(headers, "Location: ");
        buf_slice(headers, *redirect);
        buf_text(headers, memchr(redirect->ptr, '?', redirect->len) == NULL ? "?" : "&");
        buf_printf(headers, "bucket=%.*s&key=", SLICE_FMT(s3->bucket));
        sign_encode(headers, s3->key, false);
        buf_printf(headers, "&etag=%%22%.*s%%22\r\n", SLICE_FMT(record->etag));
        s3_answer_empty(s3, 303);
        return;
    }
    buf_printf(headers, "Location: /%.*s/", SLICE_FMT(s3->bucket));
    sign_encode(headers, s3->key, true);
    buf_text(headers, "\r\n");
    if (status == NULL || !slice_is(*status, "201")) {
        s3_answer_empty(s3, status != NULL && slice_is(*status, "200") ? 200 : 204);
        return;
    }
    xml_begin(&s3->out, "PostResponse");
    xml_open(&s3->out, "Location");
    buf_text(&s3->out, "http://");
    xml_escape(&s3->out, s3->request->host);
    buf_printf(&s3->out, "/%.*s/", SLICE_FMT(s3->bucket));
    sign_encode(&s3->out, s3->key, true);
    xml_close(&s3->out, "Location");
    xml_put(&s3->out, "Bucket", s3->bucket);
    xml_put(&s3->out, "Key", s3->key);
    s3_put_etag(&s3->out, record->etag);
    xml_close(&s3->out, "PostResponse");
    s3_answer_xml(s3, 201);
}

static bool read_tagging(struct s3 *s3, struct record *record)
{
    const struct slice *tagging = s3_form_field(s3, "tagging");
    return tagging == NULL || s3_parse_tags_xml(s3, *tagging, &record->tags);
}

void s3_post_object(struct s3 *s3)
{
    const struct s3_write_condition any = {.absent = false};
    struct record record = {.size = 0};
    struct s3_form *form = s3->form;
    if (form->step != FORM_OVER || !form->filed) {
        (void)s3_fail(s3, form->filed ? S3_MALFORMED_POST : S3_NO_FILE);
        return;
    }
    if (s3->intake.size < form->range.least)
        (void)s3_fail(s3, S3_ENTITY_TOO_SMALL);
    if (s3_ok(s3) && s3_read_attributes(s3, &record) && s3_read_meta(s3, &record) &&
        read_tagging(s3, &record) && s3_intake_seal(s3) && s3_checksum_compare(s3) &&
        s3_record_intake(s3, &record) && s3_store_object(s3, s3->bucket, s3->key, &record, &any))
        answer_posted(s3, &record);
}
