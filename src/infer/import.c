// The one list of formats, and what the importers share.
#include "infer/import.h"

#include "infer/infer_internal.h"

#include <ctype.h>

const struct import_format import_formats[] = {
    {"onetable", "a schema of OneTable: indexes, models, params (JSON, or a .js or .ts file)",
     import_onetable},
    {"workbench", "a data model of NoSQL Workbench (JSON): DataModel, facets, sample data",
     import_workbench},
    {"aws-schema", "the schema.json of AWS's DynamoDB data-modeling tool: tables, entities",
     import_aws},
    {NULL, NULL, NULL},
};

const struct import_format *import_format_find(struct slice name)
{
    for (const struct import_format *format = import_formats; format->name != NULL; format++)
        if (slice_is(name, format->name))
            return format;
    return NULL;
}

// ---- Templates -------------------------------------------------------------------------------

// A field of a path is the attribute's that it begins with.
static void need_attribute(struct draft *draft, struct draft_entity *entity, struct slice path)
{
    const uint8_t *dot = memchr(path.ptr, '.', path.len);
    struct slice name = slice_of(path.ptr, dot == NULL ? path.len : (size_t)(dot - path.ptr));
    if (name.len == 0 || draft_attribute(entity, name) != NULL)
        return;
    (void)draft_add_attribute(draft, entity, name);
    draft_note(draft,
               "%.*s: \"%.*s\" stands in a key template but is not declared; taken as string",
               SLICE_FMT(entity->name), SLICE_FMT(name));
}

// "name", "name:7:0" (padded to 7 with zeros), "address.zip".
static void put_field(struct draft *draft, struct draft_entity *entity, struct slice inside,
                      struct buf *out)
{
    const uint8_t *colon = memchr(inside.ptr, ':', inside.len);
    struct slice path =
        slice_of(inside.ptr, colon == NULL ? inside.len : (size_t)(colon - inside.ptr));
    need_attribute(draft, entity, path);
    buf_byte(out, '{');
    size_t start = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '.')
            continue;
        if (start > 0)
            buf_byte(out, '.');
        draft_put_name(out, slice_of(path.ptr + start, i - start));
        start = i + 1;
    }
    size_t width = 0;
    for (const uint8_t *c = colon; c != NULL && ++c < inside.ptr + inside.len && isdigit(*c);)
        width = width * 10 + (size_t)(*c - '0');
    if (width > 0)
        buf_printf(out, ":pad(%zu)", width);
    buf_byte(out, '}');
}

struct slice import_template(struct draft *draft, struct draft_entity *entity, struct slice source,
                             const char *open)
{
    struct buf out;
    size_t len = strlen(open);
    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < source.len;) {
        struct slice rest = slice_of(source.ptr + i, source.len - i);
        const uint8_t *end =
            slice_begins(rest, slice_str(open)) ? memchr(rest.ptr, '}', rest.len) : NULL;
        if (end == NULL) {
            draft_put_literal(&out, slice_of(rest.ptr, 1));
            i++;
            continue;
        }
        put_field(draft, entity, slice_of(rest.ptr + len, (size_t)(end - rest.ptr) - len), &out);
        i += (size_t)(end - rest.ptr) + 1;
    }
    return draft_keep(draft, &out);
}

// ---- Keys ------------------------------------------------------------------------------------

void import_require_keys(const struct draft_table *table, struct draft_entity *entity)
{
    for (size_t i = 0; i < draft_parts(&table->keys); i++) {
        struct slice names[16] = {table->keys.parts[i].name};
        size_t count = entity->keys[i].ptr == NULL
                           ? 1
                           : infer_template_fields(entity->keys[i], names, COUNT_OF(names));
        for (size_t k = 0; k < count; k++) {
            struct draft_attribute *attribute = draft_attribute(entity, names[k]);
            if (attribute != NULL)
                attribute->optional = false;
        }
    }
}

static const char *key_type(enum value_type type)
{
    return type == VALUE_N ? "number" : type == VALUE_B ? "binary" : "string";
}

void import_native_keys(struct draft *draft, const struct draft_table *table,
                        struct draft_entity *entity)
{
    for (size_t i = 0; i < draft_parts(&table->keys); i++) {
        const struct key_part *part = &table->keys.parts[i];
        if (entity->keys[i].ptr == NULL && draft_attribute(entity, part->name) == NULL)
            draft_add_attribute(draft, entity, part->name)->type = slice_str(key_type(part->type));
    }
}

struct slice import_choice(struct draft *draft, const struct tree *list)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    for (const struct tree *each = tree_first(list); each != NULL; each = each->next) {
        if (each->kind == TREE_OBJECT || each->kind == TREE_ARRAY)
            continue;
        if (out.len > 0)
            buf_text(&out, " | ");
        if (each->kind == TREE_STRING) {
            buf_byte(&out, '"');
            draft_put_literal(&out, each->text);
            buf_byte(&out, '"');
        } else {
            buf_slice(&out, each->text);
        }
    }
    if (out.len == 0)
        buf_text(&out, "string");
    return draft_keep(draft, &out);
}
