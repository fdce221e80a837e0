// `dolmen generate typescript`: one file with interfaces, key functions and a client of each table
// over @aws-sdk/lib-dynamodb. The client derives keys and defaults itself, as the server's guard
// does, so that it writes the same items to a table that has no guard.
#include "generate/typescript.h"

#include "generate/runtime.h"

static void named_type(struct typescript *ts, const struct model_type *type)
{
    buf_byte(ts->out, '\n');
    typescript_doc(ts, "", type->doc);
    if (type->kind == MODEL_OBJECT && type->field_count > 0) {
        const struct model_attribute *fields[TYPE_FIELDS_MAX];
        size_t count = type_fields(type, fields);
        buf_text(ts->out, "export interface ");
        typescript_named(ts, type->name);
        buf_text(ts->out, " {\n");
        for (size_t i = 0; i < count; i++)
            typescript_attribute(ts, fields[i]);
        buf_text(ts->out, "}\n");
        return;
    }
    buf_text(ts->out, "export type ");
    typescript_named(ts, type->name);
    buf_text(ts->out, " = ");
    typescript_type_body(ts, type);
    buf_text(ts->out, ";\n");
}

// What brings values of a named type to their normal form.
static void named_shape(struct typescript *ts, const struct model_type *type)
{
    if (!typescript_nested_needed(type, 0))
        return;
    buf_text(ts->out, "\nfunction shapeOf");
    typescript_named(ts, type->name);
    buf_text(ts->out, "(value: unknown, item: any, now: Date, put: boolean): unknown {\n  return ");
    typescript_nested_body(ts, type);
    buf_text(ts->out, ";\n}\n");
}

static void tables(struct typescript *ts)
{
    for (size_t t = 0; t < ts->model->table_count; t++) {
        const struct model_table *table = &ts->model->tables[t];
        if (!generate_wants(ts->options, table))
            continue;
        buf_printf(ts->out, "\n// ---- Table %.*s ----\n", SLICE_FMT(table->name));
        for (size_t i = 0; i < table->entity_count; i++)
            typescript_entity_types(ts, &table->entities[i]);
        for (size_t i = 0; i < table->entity_count; i++)
            typescript_entity_kind(ts, &table->entities[i]);
        typescript_table(ts, table);
    }
}

static void imports(struct typescript *ts)
{
    static const struct {
        unsigned bit;
        const char *name;
    } crypto[] = {
        {1U << TS_SHA256, "createHash"}, {1U << TS_ULID, "randomBytes"}, {TS_UUID, "randomUUID"}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(crypto) / sizeof(crypto[0]); i++) {
        if ((ts->used & crypto[i].bit) == 0)
            continue;
        buf_printf(ts->out, "%s%s", count++ == 0 ? "import { " : ", ", crypto[i].name);
    }
    buf_text(ts->out, count > 0 ? " } from \"node:crypto\";\n" : "");
    runtime_write(ts->out, runtime_client_ts, "imports", NULL);
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

void generate_typescript(const struct model *model, const struct generate_options *options,
                         struct buf *out)
{
    // What the tables use is known only when they are written, and stands above them.
    struct buf body;
    buf_init(&body, out->max);
    struct typescript ts = {.model = model, .options = options, .out = &body};
    for (size_t i = 0; i < model->type_count; i++)
        named_type(&ts, model->types[i]);
    for (size_t i = 0; i < model->type_count; i++)
        named_shape(&ts, model->types[i]);
    tables(&ts);
    ts.out = out;
    buf_text(out, "// ");
    text_banner(out, model);
    buf_text(out,
             "\n//\n// Keys, defaults and normal forms are made here, so that the client works "
             "with Dolmen and with\n// Amazon DynamoDB alike. Values are kept unique only by "
             "Dolmen.\n");
    imports(&ts);
    if (model->type_count > 0)
        buf_text(out, "\n// ---- Types ----\n");
    buf_slice(out, buf_view(&body));
    runtime_write(out, runtime_client_ts, "client", NULL);
    helpers(out, ts.used);
    out->failed = out->failed || body.failed;
    buf_release(&body);
}
