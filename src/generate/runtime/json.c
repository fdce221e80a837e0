// The run-time of generated C: memory, DynamoDB JSON from and to structs that are described by
// tables, requests. PREFIX stands for the model's name. entity.c includes it, as a generated file
// contains it.

//# json
// ---- Memory ------------------------------------------------------------------------------------

#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

union block {
    union block *next;
    max_align_t aligned;
};

// Zeroed memory, freed with all the rest; NULL if there is none.
static void *grab(struct PREFIX_memory *memory, size_t size)
{
    union block *block = calloc(1, sizeof(*block) + size);
    if (block == NULL)
        return NULL;
    block->next = memory->blocks;
    memory->blocks = block;
    return block + 1;
}

void PREFIX_memory_free(struct PREFIX_memory *memory)
{
    union block *next;
    for (union block *block = memory->blocks; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    memory->blocks = NULL;
    memory->error = NULL;
}

// A text that grows; NULL in `bytes` once there is no memory.
struct text {
    struct PREFIX_memory *memory;
    char *bytes;
    size_t length;
    size_t room;
};

static struct text text_new(struct PREFIX_memory *memory)
{
    return (struct text){memory, grab(memory, 256), 0, 256};
}

static void add(struct text *text, const char *bytes, size_t length)
{
    if (text->bytes != NULL && text->length + length + 1 > text->room) {
        size_t room = 2 * (text->length + length + 1);
        char *larger = grab(text->memory, room);
        if (larger != NULL)
            memcpy(larger, text->bytes, text->length);
        text->bytes = larger;
        text->room = room;
    }
    if (text->bytes == NULL)
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static void add_text(struct text *text, const char *bytes)
{
    add(text, bytes, strlen(bytes));
}

// ---- Writing JSON ------------------------------------------------------------------------------

static void add_string(struct text *text, const char *string)
{
    add_text(text, "\"");
    for (; *string != 0; string++) {
        char escape[8] = {*string, 0};
        if (*string == '"' || *string == '\\')
            (void)snprintf(escape, sizeof(escape), "\\%c", *string);
        else if ((unsigned char)*string < 0x20)
            (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)*string);
        add_text(text, escape);
    }
    add_text(text, "\"");
}

static void add_base64(struct text *text, const unsigned char *data, size_t length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        unsigned long bits = (unsigned long)data[i] << 16;
        bits |= i + 1 < length ? (unsigned long)data[i + 1] << 8 : 0;
        bits |= i + 2 < length ? data[i + 2] : 0;
        char out[4] = {letters[bits >> 18 & 63], letters[bits >> 12 & 63],
                       i + 1 < length ? letters[bits >> 6 & 63] : '=',
                       i + 2 < length ? letters[bits & 63] : '='};
        add(text, out, 4);
    }
}

// The shortest digits that give the same number again.
static void double_digits(double value, char out[40])
{
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(out, 40, "%.*g", precision, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

// ---- Shapes ------------------------------------------------------------------------------------

enum kind { TEXT, NUMBER, INTEGER, BOOLEAN, BYTES, JSON, OBJECT, LIST, SET, RECORD };

struct type {
    enum kind kind;
    size_t size; // of a value in memory
    const struct shape *shape;
    const struct type *item;
};

enum { NO_FLAG = -1 };

struct field {
    const char *name;
    struct type type;
    size_t offset;
    long has;     // offset of the flag that says whether it is there, or NO_FLAG
    bool pointer; // to the object, NULL if it is not there
    bool null;    // what is not there is null
    bool kept;    // the server makes it: it is read, and not written
};

struct shape {
    size_t size;
    size_t count;
    const struct field *fields;
};

struct list {
    size_t count;
    void *items;
};

struct record {
    size_t count;
    const char **names;
    void *values;
};

static void encode_shape(struct text *out, const struct shape *shape, const char *from);

static void encode_scalar(struct text *out, enum kind kind, const char *from)
{
    char digits[40];
    if (kind == NUMBER)
        double_digits(*(const double *)(const void *)from, digits);
    else if (kind == INTEGER)
        (void)snprintf(digits, sizeof(digits), "%" PRId64, *(const int64_t *)(const void *)from);
    if (kind == TEXT) {
        add_string(out, *(const char *const *)(const void *)from);
    } else if (kind == BYTES) {
        const struct PREFIX_bytes *bytes = (const void *)from;
        add_text(out, "\"");
        add_base64(out, bytes->data, bytes->length);
        add_text(out, "\"");
    } else {
        add_string(out, digits);
    }
}

static const char *tag_of(const struct type *type)
{
    static const char *const tags[] = {"S", "N", "N", "BOOL", "B", "", "M", "L", "", "M"};
    if (type->kind != SET)
        return tags[type->kind];
    return type->item->kind == TEXT ? "SS" : type->item->kind == BYTES ? "BS" : "NS";
}

static void encode_value(struct text *out, const struct type *type, const char *from);

static void encode_members(struct text *out, const struct type *type, const char *from)
{
    const struct list *list = (const void *)from;
    add_text(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + i * type->item->size;
        add_text(out, i == 0 ? "" : ",");
        if (type->kind == SET)
            encode_scalar(out, type->item->kind, item);
        else
            encode_value(out, type->item, item);
    }
    add_text(out, "]");
}

static void encode_record(struct text *out, const struct type *type, const char *from)
{
    const struct record *record = (const void *)from;
    add_text(out, "{");
    for (size_t i = 0; i < record->count; i++) {
        add_text(out, i == 0 ? "" : ",");
        add_string(out, record->names[i]);
        add_text(out, ":");
        encode_value(out, type->item, (const char *)record->values + i * type->item->size);
    }
    add_text(out, "}");
}

// {"S":"…"}
static void encode_value(struct text *out, const struct type *type, const char *from)
{
    if (type->kind == JSON) {
        add_text(out, *(const char *const *)(const void *)from);
        return;
    }
    add_text(out, "{\"");
    add_text(out, tag_of(type));
    add_text(out, "\":");
    if (type->kind == BOOLEAN)
        add_text(out, *(const bool *)(const void *)from ? "true" : "false");
    else if (type->kind == OBJECT)
        encode_shape(out, type->shape, from);
    else if (type->kind == LIST || type->kind == SET)
        encode_members(out, type, from);
    else if (type->kind == RECORD)
        encode_record(out, type, from);
    else
        encode_scalar(out, type->kind, from);
    add_text(out, "}");
}

// Where a field's value is, or NULL if it is not there.
static const char *field_value(const struct field *field, const char *from)
{
    const char *at = from + field->offset;
    if (field->has != NO_FLAG && !*(const bool *)(const void *)(from + field->has))
        return NULL;
    if (field->pointer)
        return *(const char *const *)(const void *)at;
    if (field->type.kind == TEXT || field->type.kind == JSON || field->type.kind == BYTES)
        return *(const void *const *)(const void *)at == NULL ? NULL : at;
    return at;
}

// The members without braces; true if there were any.
static bool encode_fields(struct text *out, const struct shape *shape, const char *from)
{
    bool any = false;
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        const char *value = field_value(field, from);
        if (field->kept || (value == NULL && !field->null))
            continue;
        add_text(out, any ? "," : "");
        add_string(out, field->name);
        add_text(out, ":");
        if (value == NULL)
            add_text(out, "{\"NULL\":true}");
        else
            encode_value(out, &field->type, value);
        any = true;
    }
    return any;
}

static void encode_shape(struct text *out, const struct shape *shape, const char *from)
{
    add_text(out, "{");
    (void)encode_fields(out, shape, from);
    add_text(out, "}");
}

// ---- Reading JSON ------------------------------------------------------------------------------

struct reader {
    struct PREFIX_memory *memory;
    const char *at;
    const char *end;
};

static void blanks(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != 0)
        reader->at++;
}

static bool take(struct reader *reader, char c)
{
    blanks(reader);
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool take_hex(struct reader *reader, unsigned *out)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit =
            reader->at < reader->end && *reader->at != 0 ? strchr(digits, *reader->at) : NULL;
        if (digit == NULL)
            return false;
        value = value * 16 + (unsigned)(digit - digits) % 16;
    }
    *out = value;
    return true;
}

static void add_utf8(struct text *text, unsigned code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 63));
    bytes[0] = (char)(length == 1 ? code : marks[length] | code);
    add(text, bytes, length);
}

static bool take_escape(struct reader *reader, struct text *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = reader->at < reader->end ? *reader->at++ : 0;
    const char *simple = c != 0 ? strchr(from, c) : NULL;
    unsigned code;
    unsigned low;
    if (simple != NULL) {
        add(out, &to[simple - from], 1);
        return true;
    }
    if (c != 'u' || !take_hex(reader, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && reader->end - reader->at > 6 && reader->at[0] == '\\') {
        reader->at += 2;
        if (!take_hex(reader, &low))
            return false;
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
    }
    add_utf8(out, code);
    return true;
}

// A string, unescaped; NULL if there is none.
static const char *take_string(struct reader *reader)
{
    struct text out = text_new(reader->memory);
    if (!take(reader, '"'))
        return NULL;
    while (reader->at < reader->end && *reader->at != '"') {
        if (*reader->at == '\\') {
            reader->at++;
            if (!take_escape(reader, &out))
                return NULL;
        } else {
            add(&out, reader->at++, 1);
        }
    }
    if (!take(reader, '"'))
        return NULL;
    if (out.bytes != NULL)
        out.bytes[out.length] = 0;
    return out.bytes;
}

// Moves behind a value of any kind.
static bool skip(struct reader *reader)
{
    int depth = 0;
    bool quoted = false;
    blanks(reader);
    for (; reader->at < reader->end; reader->at++) {
        char c = *reader->at;
        if (quoted) {
            if (c == '\\')
                reader->at++;
            quoted = c != '"';
        } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            return true;
        } else {
            quoted = c == '"';
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        }
        if (depth == 0 && !quoted && (c == '}' || c == ']' || c == '"')) {
            reader->at++;
            return true;
        }
    }
    return depth == 0;
}

// The next element of a list, or member of an object, whose end mark is `end`.
static bool next(struct reader *reader, char end, bool *first, bool *ok)
{
    if (take(reader, end))
        return false;
    if (!*first && !take(reader, ',')) {
        *ok = false;
        return false;
    }
    *first = false;
    return true;
}

static bool decode_shape(struct reader *reader, const struct shape *shape, char *to);
static bool decode_value(struct reader *reader, const struct type *type, char *to, bool *there);

static bool decode_base64(struct reader *reader, struct PREFIX_bytes *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = take_string(reader);
    unsigned char *data = text == NULL ? NULL : grab(reader->memory, strlen(text) + 1);
    unsigned long bits = 0;
    int have = 0;
    if (data == NULL)
        return false;
    out->length = 0;
    for (; *text != 0 && *text != '='; text++) {
        const char *letter = strchr(letters, *text);
        if (letter == NULL)
            return false;
        bits = (bits << 6 | (unsigned long)(letter - letters)) & 0xffffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            data[out->length++] = (unsigned char)(bits >> have);
        }
    }
    out->data = data;
    return true;
}

static bool decode_scalar(struct reader *reader, enum kind kind, char *to)
{
    if (kind == BYTES)
        return decode_base64(reader, (struct PREFIX_bytes *)(void *)to);
    const char *text = take_string(reader);
    if (text == NULL)
        return false;
    if (kind == TEXT)
        *(const char **)(void *)to = text;
    else if (kind == NUMBER)
        *(double *)(void *)to = strtod(text, NULL);
    else
        *(int64_t *)(void *)to = (int64_t)strtoll(text, NULL, 10);
    return true;
}

// Room for one more of `count`; what is there stays.
static char *grow(struct PREFIX_memory *memory, void **items, size_t count, size_t size)
{
    bool full = (count & (count - 1)) == 0; // at 0, 1, 2, 4, 8 …
    if (full) {
        char *larger = grab(memory, (count == 0 ? 1 : 2 * count) * size);
        if (larger == NULL)
            return NULL;
        if (count > 0)
            memcpy(larger, *items, count * size);
        *items = larger;
    }
    return (char *)*items + count * size;
}

static bool decode_members(struct reader *reader, const struct type *type, char *to)
{
    struct list *list = (struct list *)(void *)to;
    bool first = true;
    bool ok = take(reader, '[');
    bool there;
    while (ok && next(reader, ']', &first, &ok)) {
        char *item = grow(reader->memory, &list->items, list->count, type->item->size);
        ok = item != NULL && (type->kind == SET ? decode_scalar(reader, type->item->kind, item)
                                                : decode_value(reader, type->item, item, &there));
        list->count++;
    }
    return ok;
}

static bool decode_record(struct reader *reader, const struct type *type, char *to)
{
    struct record *record = (struct record *)(void *)to;
    bool first = true;
    bool ok = take(reader, '{');
    bool there;
    while (ok && next(reader, '}', &first, &ok)) {
        void *names = (void *)record->names;
        char *name = grow(reader->memory, &names, record->count, sizeof(const char *));
        char *value = grow(reader->memory, &record->values, record->count, type->item->size);
        const char *text = take_string(reader);
        ok = name != NULL && value != NULL && text != NULL && take(reader, ':') &&
             decode_value(reader, type->item, value, &there);
        if (!ok)
            return false;
        record->names = names;
        record->names[record->count++] = text;
    }
    return ok;
}

static bool decode_json(struct reader *reader, char *to)
{
    blanks(reader);
    const char *start = reader->at;
    if (!skip(reader))
        return false;
    size_t length = (size_t)(reader->at - start);
    char *copy = grab(reader->memory, length + 1);
    if (copy != NULL)
        memcpy(copy, start, length);
    *(const char **)(void *)to = copy;
    return copy != NULL;
}

static bool decode_payload(struct reader *reader, const struct type *type, char *to)
{
    switch (type->kind) {
    case BOOLEAN:
        blanks(reader);
        *(bool *)(void *)to = reader->at < reader->end && *reader->at == 't';
        return skip(reader);
    case OBJECT:
        return decode_shape(reader, type->shape, to);
    case LIST:
    case SET:
        return decode_members(reader, type, to);
    case RECORD:
        return decode_record(reader, type, to);
    default:
        return decode_scalar(reader, type->kind, to);
    }
}

// {"S":"…"}; *there is false for null.
static bool decode_value(struct reader *reader, const struct type *type, char *to, bool *there)
{
    *there = true;
    if (type->kind == JSON)
        return decode_json(reader, to);
    const char *tag = take(reader, '{') ? take_string(reader) : NULL;
    if (tag == NULL || !take(reader, ':'))
        return false;
    if (strcmp(tag, "NULL") == 0) {
        *there = false;
        return skip(reader) && take(reader, '}');
    }
    if (strcmp(tag, tag_of(type)) != 0)
        return false;
    return decode_payload(reader, type, to) && take(reader, '}');
}

static bool decode_field(struct reader *reader, const struct field *field, char *to)
{
    bool there;
    char *at = to + field->offset;
    if (field->pointer) {
        char *object = grab(reader->memory, field->type.size);
        if (object == NULL || !decode_value(reader, &field->type, object, &there))
            return false;
        if (there)
            *(char **)(void *)at = object;
        return true;
    }
    if (!decode_value(reader, &field->type, at, &there))
        return false;
    if (field->has != NO_FLAG)
        *(bool *)(void *)(to + field->has) = there;
    return true;
}

static bool decode_shape(struct reader *reader, const struct shape *shape, char *to)
{
    bool first = true;
    bool ok = take(reader, '{');
    while (ok && next(reader, '}', &first, &ok)) {
        const char *name = take_string(reader);
        const struct field *field = NULL;
        if (name == NULL || !take(reader, ':'))
            return false;
        for (size_t i = 0; i < shape->count && field == NULL; i++) {
            if (strcmp(shape->fields[i].name, name) == 0)
                field = &shape->fields[i];
        }
        ok = field == NULL ? skip(reader) : decode_field(reader, field, to);
    }
    return ok;
}

static bool decode(struct PREFIX_memory *memory, const struct shape *shape, const char *json,
                   size_t length, void *to)
{
    struct reader reader = {memory, json, json + length};
    memset(to, 0, shape->size);
    return decode_shape(&reader, shape, to);
}

// ---- Requests ----------------------------------------------------------------------------------

static char *finished(struct text *text)
{
    if (text->bytes != NULL)
        text->bytes[text->length] = 0;
    return text->bytes;
}

// Executes an operation with {"TableName": …, "<name>": <json>}. The answer is in the memory.
static int call(dolmen *db, struct PREFIX_memory *memory, const char *operation, const char *table,
                const char *name, const char *json, const char **answer, size_t *length)
{
    struct text request = text_new(memory);
    struct dolmen_response response;
    memory->error = NULL;
    if (json == NULL) {
        memory->error = "something is missing of which the key is made";
        return 400;
    }
    add_text(&request, "{\"TableName\":");
    add_string(&request, table);
    add_text(&request, ",\"");
    add_text(&request, name);
    add_text(&request, "\":");
    add_text(&request, json);
    add_text(&request, "}");
    if (finished(&request) == NULL)
        return 500;
    dolmen_call(db, operation, request.bytes, request.length, &response);
    int status = response.status;
    char *copy = grab(memory, response.length + 1);
    if (copy != NULL)
        memcpy(copy, response.body, response.length);
    *answer = copy;
    *length = response.length;
    dolmen_response_free(&response);
    if (status != 200)
        memory->error = copy;
    return copy == NULL ? 500 : status;
}

// Finds "Item" in the answer of GetItem; NULL if there is none.
static const char *answer_item(struct PREFIX_memory *memory, const char *answer, size_t length,
                               size_t *item_length)
{
    struct reader reader = {memory, answer, answer + length};
    bool first = true;
    bool ok = take(&reader, '{');
    while (ok && next(&reader, '}', &first, &ok)) {
        const char *name = take_string(&reader);
        if (name == NULL || !take(&reader, ':'))
            return NULL;
        blanks(&reader);
        const char *start = reader.at;
        ok = skip(&reader);
        *item_length = (size_t)(reader.at - start);
        if (ok && strcmp(name, "Item") == 0)
            return start;
    }
    return NULL;
}

// One attribute of a key; false if it is missing.
static bool add_key(struct text *out, bool *any, const char *name, const char *tag,
                    const char *value)
{
    if (value == NULL || *value == 0)
        return false;
    add_text(out, *any ? "," : "");
    add_string(out, name);
    add_text(out, ":{\"");
    add_text(out, tag);
    add_text(out, "\":");
    add_string(out, value);
    add_text(out, "}");
    *any = true;
    return true;
}
