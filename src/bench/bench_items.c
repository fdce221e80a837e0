// See bench_items.h. Making a request must cost little beside answering it, so everything is
// appended to a buffer, without printf.
#include "bench/bench_items.h"

enum { SPREAD = 7919 }; // a prime: how far apart the albums of a creator's items are

// ---- Text ----------------------------------------------------------------------------------

// Exactly `width` digits; higher ones are lost.
static void digits(struct buf *out, uint64_t value, size_t width)
{
    uint8_t *to = buf_reserve(out, width);
    if (to == NULL)
        return;
    for (size_t i = width; i-- > 0; value /= 10)
        to[i] = (uint8_t)('0' + value % 10);
    out->len += width;
}

// A moment within 2025 for each item, five seconds apart.
static void timestamp(struct buf *out, uint64_t number)
{
    uint64_t second = number * 5;
    uint64_t day = second / 86400;
    buf_text(out, "2025-");
    digits(out, day / 28 % 12 + 1, 2);
    buf_byte(out, '-');
    digits(out, day % 28 + 1, 2);
    buf_byte(out, 'T');
    digits(out, second / 3600 % 24, 2);
    buf_byte(out, ':');
    digits(out, second / 60 % 60, 2);
    buf_byte(out, ':');
    digits(out, second % 60, 2);
    buf_text(out, ".000Z");
}

void bench_album(struct buf *out, uint64_t album)
{
    buf_text(out, "ALBUM#");
    digits(out, album, 12);
}

void bench_creator(struct buf *out, uint64_t creator)
{
    buf_text(out, "CREATOR#");
    digits(out, creator, 12);
}

void bench_media_id(struct buf *out, uint64_t number)
{
    digits(out, number, 14);
}

static uint64_t creator_of(const struct bench_data *data, uint64_t number)
{
    uint64_t albums = data->items / BENCH_GROUP;
    uint64_t album = number / BENCH_GROUP;
    if (number >= data->items)
        return album;
    return (album + number % BENCH_GROUP * SPREAD) % albums;
}

// ---- Items ---------------------------------------------------------------------------------

// What the item weighs so far is counted along: names and values.
struct writer {
    struct buf *out;
    size_t size;
    size_t start;
};

static void attribute_begin(struct writer *writer, const char *name, char type)
{
    buf_text(writer->out, ",\"");
    buf_text(writer->out, name);
    buf_text(writer->out, "\":{\"");
    buf_byte(writer->out, (uint8_t)type);
    buf_text(writer->out, "\":\"");
    writer->size += strlen(name);
    writer->start = writer->out->len;
}

static void attribute_end(struct writer *writer)
{
    writer->size += writer->out->len - writer->start;
    buf_text(writer->out, "\"}");
}

static void attribute_text(struct writer *writer, const char *name, const char *value)
{
    attribute_begin(writer, name, 'S');
    buf_text(writer->out, value);
    attribute_end(writer);
}

static void attribute_number(struct writer *writer, const char *name, uint64_t value)
{
    attribute_begin(writer, name, 'N');
    buf_u64(writer->out, value);
    attribute_end(writer);
}

static void attribute_media(struct writer *writer, const char *name, const char *before,
                            uint64_t number, const char *after)
{
    attribute_begin(writer, name, 'S');
    buf_text(writer->out, before);
    bench_media_id(writer->out, number);
    buf_text(writer->out, after);
    attribute_end(writer);
}

static void attribute_thumbnails(struct writer *writer, uint64_t number)
{
    static const char *const sizes[] = {"cover", "small", "medium"};
    buf_text(writer->out, ",\"thumbnailUrls\":{\"M\":{");
    writer->size += strlen("thumbnailUrls") + 3;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t start = writer->out->len;
        attribute_media(writer, sizes[i], "/t/", number, ".webp");
        if (i == 0 && !writer->out->failed) // the comma before the first is one too many
            memmove(writer->out->ptr + start, writer->out->ptr + start + 1,
                    --writer->out->len - start);
        writer->size++;
    }
    buf_text(writer->out, "}}");
}

// One row per index: the constant partition key (NULL: the creator), and what its sort key is
// made of: c creator, d date, i id, and other characters themselves.
static const struct index {
    const char *partition;
    const char *sort;
} indexes[BENCH_GSIS_MAX] = {
    {NULL, "d#i"},    {"MEDIA_ID", "i"},          {"MEDIA_BY_USER_true", "c#d#i"},
    {"MEDIA", "d#i"}, {"MEDIA_PUBLIC", "t"},      {"POPULARITY", "0"},
    {"CONTENT", "d"}, {"MEDIA_BY_TYPE", "c#d#i"},
};

static void sort_key(struct buf *out, const struct bench_data *data, const char *form,
                     uint64_t number)
{
    for (; *form != 0; form++) {
        if (*form == 'c')
            bench_creator(out, creator_of(data, number));
        else if (*form == 'd')
            timestamp(out, number);
        else if (*form == 'i')
            bench_media_id(out, number);
        else
            buf_byte(out, (uint8_t)*form);
    }
}

static void attribute_index_keys(struct writer *writer, const struct bench_data *data,
                                 uint64_t number)
{
    char name[] = "GSI0PK";
    for (unsigned i = 0; i < data->gsis; i++) {
        name[3] = (char)('1' + i);
        name[4] = 'P';
        attribute_begin(writer, name, 'S');
        if (indexes[i].partition == NULL)
            bench_creator(writer->out, creator_of(data, number));
        else
            buf_text(writer->out, indexes[i].partition);
        attribute_end(writer);
        name[4] = 'S';
        attribute_begin(writer, name, 'S');
        sort_key(writer->out, data, indexes[i].sort, number);
        attribute_end(writer);
    }
}

// Fills the item up to its size. A text that does not repeat itself within a block, or else the
// stores that compress would seem to write less than they do.
static void attribute_prompt(struct writer *writer, size_t size, uint64_t number)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789";
    size_t have = writer->size + strlen("prompt");
    size_t len = have < size ? size - have : 0;
    uint64_t random = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    attribute_begin(writer, "prompt", 'S');
    uint8_t *to = buf_reserve(writer->out, len);
    for (size_t i = 0; to != NULL && i < len; i++) {
        if (i % 10 == 0) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
        }
        to[i] = (uint8_t)letters[random >> (i % 10 * 6) & 63];
    }
    if (to != NULL)
        writer->out->len += len;
    attribute_end(writer);
}

static void key_attributes(struct buf *out, uint64_t number)
{
    buf_text(out, "\"PK\":{\"S\":\"");
    bench_album(out, number / BENCH_GROUP);
    buf_text(out, "\"},\"SK\":{\"S\":\"MEDIA#");
    digits(out, number % BENCH_GROUP, 4);
    buf_text(out, "\"}");
}

void bench_key(struct buf *out, uint64_t number)
{
    buf_byte(out, '{');
    key_attributes(out, number);
    buf_byte(out, '}');
}

void bench_item(struct buf *out, const struct bench_data *data, uint64_t number, uint64_t revision)
{
    struct writer writer = {.out = out, .size = 4 + 18 + 10};
    buf_byte(out, '{');
    key_attributes(out, number);
    attribute_text(&writer, "EntityType", "Media");
    attribute_media(&writer, "id", "", number, "");
    attribute_media(&writer, "filename", "media/", number, ".jpg");
    attribute_media(&writer, "originalFilename", "IMG_", number, ".JPG");
    attribute_text(&writer, "mimeType", "image/jpeg");
    attribute_number(&writer, "size", 1000000 + number % 999983);
    attribute_number(&writer, "width", 1024);
    attribute_number(&writer, "height", 1536);
    attribute_thumbnails(&writer, number);
    attribute_text(&writer, "status", "uploaded");
    attribute_begin(&writer, "createdAt", 'S');
    timestamp(out, number);
    attribute_end(&writer);
    attribute_begin(&writer, "updatedAt", 'S');
    timestamp(out, revision);
    attribute_end(&writer);
    attribute_text(&writer, "isPublic", "true");
    attribute_number(&writer, "likeCount", number % 97);
    attribute_number(&writer, "viewCount", revision);
    attribute_number(&writer, "commentCount", number % 13);
    attribute_begin(&writer, "createdBy", 'S');
    bench_creator(out, creator_of(data, number));
    attribute_end(&writer);
    attribute_index_keys(&writer, data, number);
    attribute_prompt(&writer, data->size, number);
    buf_byte(out, '}');
}

// ---- The table -----------------------------------------------------------------------------

static void key_definition(struct buf *out, const char *name)
{
    buf_printf(out, "{\"AttributeName\":\"%s\",\"AttributeType\":\"S\"}", name);
}

static void key_schema(struct buf *out, const char *hash, const char *range)
{
    buf_printf(out,
               "\"KeySchema\":[{\"AttributeName\":\"%s\",\"KeyType\":\"HASH\"},"
               "{\"AttributeName\":\"%s\",\"KeyType\":\"RANGE\"}]",
               hash, range);
}

void bench_table_name(struct buf *out, const struct bench_data *data)
{
    buf_text(out, "{\"TableName\":\"");
    buf_text(out, data->table);
    buf_byte(out, '"');
}

void bench_table_create(struct buf *out, const struct bench_data *data)
{
    char hash[] = "GSI0PK";
    char range[] = "GSI0SK";
    bench_table_name(out, data);
    buf_text(out, ",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[");
    key_definition(out, "PK");
    buf_byte(out, ',');
    key_definition(out, "SK");
    for (unsigned i = 0; i < data->gsis; i++) {
        hash[3] = range[3] = (char)('1' + i);
        buf_byte(out, ',');
        key_definition(out, hash);
        buf_byte(out, ',');
        key_definition(out, range);
    }
    buf_text(out, "],");
    key_schema(out, "PK", "SK");
    for (unsigned i = 0; i < data->gsis; i++) {
        hash[3] = range[3] = (char)('1' + i);
        buf_text(out, i == 0 ? ",\"GlobalSecondaryIndexes\":[" : ",");
        buf_printf(out, "{\"IndexName\":\"GSI%u\",\"Projection\":{\"ProjectionType\":\"ALL\"},",
                   i + 1);
        key_schema(out, hash, range);
        buf_byte(out, '}');
    }
    buf_text(out, data->gsis > 0 ? "]}" : "}");
}
