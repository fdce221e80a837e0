// `dolmen generate typescript`: one file with interfaces, key functions and a client of each table
// over @aws-sdk/lib-dynamodb. The client derives keys and defaults itself, as the server's guard
// does, so that it writes the same items to a table that has no guard.
#include "generate/typescript.h"

#include "generate/runtime.h"

static void named_type(struct typescript *ts, const struct model_type *type)
{
    struct slice name = typescript_named(ts, type->name);
    buf_byte(ts->w->out, '\n');
    typescript_doc(ts, "", type->doc);
    if (type->kind != MODEL_OBJECT || type->field_count == 0) {
        PUT(ts->w, "export type %s = %s;\n", name, typescript_type_body(ts, type));
        return;
    }
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    PUT(ts->w, "export interface %s {\n", name);
    for (size_t i = 0; i < count; i++)
        typescript_attribute(ts, fields[i]);
    buf_text(ts->w->out, "}\n");
}

// What brings values of a named type to their normal form.
static void named_shape(struct typescript *ts, const struct model_type *type)
{
    if (typescript_nested_needed(type, 0))
        PUT(ts->w,
            "\nfunction shapeOf%s(value: unknown, item: any, now: Date, put: boolean): unknown {\n"
            "  return %s;\n}\n",
            typescript_named(ts, type->name), typescript_nested_body(ts, type));
}

static void body(struct typescript *ts)
{
    const struct model *model = ts->w->model;
    typescript_classes(ts);
    for (size_t i = 0; i < model->type_count; i++)
        named_type(ts, model->types[i]);
    for (size_t i = 0; i < model->type_count; i++)
        named_shape(ts, model->types[i]);
    for (const struct model_table *table = NULL; (table = next_table(ts->w, table)) != NULL;) {
        PUT(ts->w, "\n// ---- Table %s ----\n", table->name);
        for (size_t i = 0; i < table->entity_count; i++) {
            typescript_entity_types(ts, &table->entities[i]);
            typescript_entity_objects(ts, &table->entities[i]);
        }
        for (size_t i = 0; i < table->entity_count; i++)
            typescript_entity_kind(ts, &table->entities[i]);
        typescript_table(ts, table);
    }
}

static void imports(struct typescript *ts)
{
    static const struct {
        unsigned bit;
        struct slice name;
    } crypto[] = {{1U << TS_SHA256, SLICE_LIT("createHash")},
                  {1U << TS_ULID, SLICE_LIT("randomBytes")},
                  {TS_UUID, SLICE_LIT("randomUUID")}};
    struct slice names = {NULL, 0};
    for (size_t i = 0; i < sizeof(crypto) / sizeof(crypto[0]); i++) {
        if ((ts->used & crypto[i].bit) != 0)
            text_add(ts->w, &names, ", ", crypto[i].name);
    }
    if (names.len > 0)
        PUT(ts->w, "import { %s } from \"node:crypto\";\n", names);
    runtime_write(ts->w->out, runtime_client_ts, "imports", NULL);
}

// The bit of the helper whose section has this name; 0 if it is another section.
static unsigned helper_bit(struct slice name)
{
    static const char *const sections[] = {
#define X(helper, section) section,
        TYPESCRIPT_HELPERS(X)
#undef X
    };
    for (size_t i = 0; i < TS_HELPERS; i++) {
        if (slice_is(name, sections[i]))
            return 1U << i;
    }
    return 0;
}

// The bits of the helpers that a section needs.
static unsigned needed_bits(struct slice needs)
{
    unsigned bits = 0;
    for (size_t start = 0, i = 0; i <= needs.len; i++) {
        if (i < needs.len && needs.ptr[i] != ' ')
            continue;
        bits |= helper_bit(slice_of(needs.ptr + start, i - start));
        start = i + 1;
    }
    return bits;
}

static void helpers(struct buf *out, unsigned wanted)
{
    struct runtime_section section;
    for (const char *at = runtime_client_ts; runtime_next(&at, &section);) {
        if ((wanted & helper_bit(section.name)) != 0)
            wanted |= needed_bits(section.needs);
    }
    for (const char *at = runtime_client_ts; runtime_next(&at, &section);) {
        if ((wanted & helper_bit(section.name)) != 0)
            buf_slice(out, section.text);
    }
}

void generate_typescript(struct writer *w)
{
    // What the tables use is known only when they are written, and stands above them.
    struct typescript ts = {.w = w};
    struct buf *out = w->out;
    struct buf tables;
    buf_init(&tables, out->max);
    w->out = &tables;
    body(&ts);
    w->out = out;
    PUT(w,
        "// %s\n//\n// Keys, defaults and normal forms are made here, so that the client works "
        "with Dolmen and with\n// Amazon DynamoDB alike. Values are kept unique only by Dolmen.\n",
        text_banner(w));
    imports(&ts);
    if (w->model->type_count > 0)
        buf_text(out, "\n// ---- Types ----\n");
    buf_slice(out, buf_view(&tables));
    runtime_write(out, runtime_client_ts, "client", NULL);
    helpers(out, ts.used);
    out->failed = out->failed || tables.failed;
    buf_release(&tables);
}
