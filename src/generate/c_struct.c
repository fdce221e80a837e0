// Structs, and the tables by which the runtime reads and writes them. Every object type has a
// struct: named types by their name, others by the way to them (shop_customer_preferences). Structs
// are declared inner ones first; an object that may be absent is a pointer, so that types may be
// recursive.
#include "generate/c.h"

enum { NESTING_MAX = 16 };

enum c_kind c_kind(const struct model_type *type)
{
    const struct model_type *bare = type_bare(type);
    switch (type_stored(type)) {
    case VALUE_S:
        return C_TEXT;
    case VALUE_N:
        return bare->kind == MODEL_INTEGER || bare->kind == MODEL_EPOCH ? C_INTEGER : C_NUMBER;
    case VALUE_BOOL:
        return C_BOOLEAN;
    case VALUE_B:
        return C_BYTES;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return bare->kind == MODEL_SET ? C_SET : C_JSON;
    case VALUE_L:
        return bare->kind == MODEL_LIST && bare->item != NULL ? C_LIST : C_JSON;
    case VALUE_M:
        return bare->kind == MODEL_RECORD                            ? C_RECORD
               : bare->kind == MODEL_OBJECT && bare->field_count > 0 ? C_OBJECT
                                                                     : C_JSON;
    default:
        return C_JSON;
    }
}

// ---- Names -----------------------------------------------------------------------------------

static bool is_keyword(struct slice name)
{
    static const char *const words[] = {
        "auto",  "bool",     "break",   "case",     "char",     "const",     "continue", "default",
        "do",    "double",   "else",    "enum",     "extern",   "false",     "float",    "for",
        "goto",  "if",       "inline",  "int",      "long",     "register",  "restrict", "return",
        "short", "signed",   "sizeof",  "static",   "struct",   "switch",    "true",     "typedef",
        "union", "unsigned", "void",    "volatile", "while",    "class",     "new",      "delete",
        "this",  "public",   "private", "template", "operator", "namespace",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_is(name, words[i]))
            return true;
    }
    return false;
}

// Whether one of the fields beside `own` that stand before it has the same name in C.
static bool clashes(struct slice snake, const struct model_attribute *own, size_t count,
                    const struct model_attribute *fields)
{
    bool clash = false;
    if (own < fields || own >= fields + count)
        return false;
    for (const struct model_attribute *field = fields; !clash && field < own; field++) {
        struct buf other;
        buf_init(&other, 4096);
        text_snake(&other, field->name);
        clash = slice_equal(buf_view(&other), snake);
        buf_release(&other);
    }
    return clash;
}

static bool clashes_anywhere(const struct model *model, struct slice snake,
                             const struct model_attribute *own)
{
    for (size_t i = 0; i < model->type_count; i++) {
        const struct model_type *type = model->types[i];
        if (clashes(snake, own, type->field_count, type->fields))
            return true;
    }
    for (size_t t = 0; t < model->table_count; t++) {
        for (size_t i = 0; i < model->tables[t].entity_count; i++) {
            const struct model_entity *entity = &model->tables[t].entities[i];
            if (clashes(snake, own, entity->attribute_count, entity->attributes))
                return true;
        }
    }
    return false;
}

void c_member(const struct c_file *c, struct buf *out, const struct model_attribute *attribute)
{
    struct buf snake;
    buf_init(&snake, 4096);
    text_snake(&snake, attribute->name);
    struct slice name = buf_view(&snake);
    buf_slice(out, name);
    if (is_keyword(name) || clashes_anywhere(c->model, name, attribute))
        buf_byte(out, '_');
    buf_release(&snake);
}

bool c_is_pointer(const struct model_attribute *attribute)
{
    return c_kind(attribute->type) == C_OBJECT &&
           (attribute->otherwise != NULL || !attribute_always(attribute));
}

bool c_has_flag(const struct model_attribute *attribute)
{
    switch (c_kind(attribute->type)) {
    case C_TEXT:
    case C_BYTES:
    case C_JSON:
    case C_OBJECT:
        return false;
    default:
        return attribute->otherwise != NULL || attribute->version || !attribute_always(attribute);
    }
}

void c_entity_name(struct buf *out, const struct model_entity *entity)
{
    struct buf name;
    buf_init(&name, 4096);
    text_entity(&name, entity);
    text_snake(out, buf_view(&name));
    buf_release(&name);
}

static bool names_entity(const struct model *model, struct slice snake)
{
    bool found = false;
    for (size_t t = 0; t < model->table_count; t++) {
        for (size_t i = 0; !found && i < model->tables[t].entity_count; i++) {
            struct buf name;
            buf_init(&name, 4096);
            c_entity_name(&name, &model->tables[t].entities[i]);
            found = slice_equal(buf_view(&name), snake);
            buf_release(&name);
        }
    }
    return found;
}

void c_object_name(struct buf *out, const struct c_file *c, const struct model_type *type,
                   struct slice owner, struct slice member)
{
    struct buf snake;
    buf_init(&snake, 4096);
    if (type->name.len > 0) {
        text_snake(&snake, type->name);
        buf_slice(out, buf_view(&snake));
        buf_text(out, names_entity(c->model, buf_view(&snake)) ? "_value" : "");
    } else {
        text_snake(&snake, member);
        buf_printf(out, "%.*s_%.*s", SLICE_FMT(owner), SLICE_FMT(buf_view(&snake)));
    }
    buf_release(&snake);
}

// ---- Declarations ----------------------------------------------------------------------------

// The type of a value, as far as it stands before the name.
static void value_type_text(struct c_file *c, const struct model_type *type, struct slice owner,
                            struct slice member, unsigned depth)
{
    const struct model_type *bare = type_bare(type);
    struct buf *out = c->out;
    switch (depth > NESTING_MAX ? C_JSON : c_kind(type)) {
    case C_NUMBER:
        buf_text(out, "double ");
        break;
    case C_INTEGER:
        buf_text(out, "int64_t ");
        break;
    case C_BOOLEAN:
        buf_text(out, "bool ");
        break;
    case C_BYTES:
        buf_printf(out, "struct %.*s_bytes ", SLICE_FMT(c->prefix));
        break;
    case C_OBJECT:
        buf_printf(out, "struct %.*s_", SLICE_FMT(c->prefix));
        c_object_name(out, c, bare, owner, member);
        buf_byte(out, ' ');
        break;
    case C_LIST:
    case C_SET:
        buf_text(out, "struct { size_t count; ");
        value_type_text(c, bare->item, owner, member, depth + 1);
        buf_text(out, "*items; } ");
        break;
    case C_RECORD:
        buf_text(out, "struct { size_t count; const char **names; ");
        value_type_text(c, bare->item, owner, member, depth + 1);
        buf_text(out, "*values; } ");
        break;
    default:
        buf_text(out, "const char *");
    }
}

static void member_line(struct c_file *c, const struct model_attribute *attribute,
                        struct slice owner)
{
    struct buf *out = c->out;
    text_comment(out, "    // ", attribute->doc);
    buf_text(out, "    ");
    value_type_text(c, attribute->type, owner, attribute->name, 0);
    buf_text(out, c_is_pointer(attribute) ? "*" : "");
    c_member(c, out, attribute);
    buf_byte(out, ';');
    if (c_kind(attribute->type) == C_JSON)
        buf_text(out, " // DynamoDB JSON");
    buf_byte(out, '\n');
    if (c_has_flag(attribute)) {
        buf_text(out, "    bool has_");
        c_member(c, out, attribute);
        buf_text(out, ";\n");
    }
}

// ---- All structs, inner ones first -----------------------------------------------------------

struct walk {
    struct c_file *c;
    void (*visit)(struct c_file *c, const struct c_struct *one);
    bool *done; // named types
};

static void walk_type(struct walk *walk, const struct model_type *type, struct slice owner,
                      struct slice member, unsigned depth);

static void walk_struct(struct walk *walk, const struct c_struct *one, unsigned depth)
{
    for (size_t i = 0; i < one->count; i++)
        walk_type(walk, one->fields[i]->type, one->name, one->fields[i]->name, depth + 1);
    walk->visit(walk->c, one);
}

static void walk_object(struct walk *walk, const struct model_type *type, struct slice owner,
                        struct slice member, unsigned depth)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t named = 0;
    while (named < walk->c->model->type_count && walk->c->model->types[named] != type)
        named++;
    if (type->name.len > 0 && named < walk->c->model->type_count) {
        if (walk->done[named])
            return;
        walk->done[named] = true;
    }
    struct buf name;
    buf_init(&name, 4096);
    c_object_name(&name, walk->c, type, owner, member);
    struct c_struct one = {
        .name = buf_view(&name), .count = type_fields(type, fields), .fields = fields};
    walk_struct(walk, &one, depth);
    buf_release(&name);
}

static void walk_type(struct walk *walk, const struct model_type *type, struct slice owner,
                      struct slice member, unsigned depth)
{
    const struct model_type *bare = type_bare(type);
    if (depth > NESTING_MAX)
        return;
    switch (c_kind(type)) {
    case C_OBJECT:
        walk_object(walk, bare, owner, member, depth);
        break;
    case C_LIST:
    case C_RECORD:
        walk_type(walk, bare->item, owner, member, depth + 1);
        break;
    default:
        break;
    }
}

static void walk_entity(struct walk *walk, const struct model_entity *entity)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = entity->attribute_count;
    count = count < TYPE_FIELDS_MAX ? count : TYPE_FIELDS_MAX;
    for (size_t i = 0; i < count; i++)
        fields[i] = &entity->attributes[i];
    struct buf name;
    buf_init(&name, 4096);
    c_entity_name(&name, entity);
    struct c_struct one = {.name = buf_view(&name), .count = count, .fields = fields};
    walk_struct(walk, &one, 0);
    buf_release(&name);
}

static void walk_all(struct c_file *c, void (*visit)(struct c_file *, const struct c_struct *))
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct walk walk = {.c = c, .visit = visit};
    walk.done = arena_zalloc(&arena, c->model->type_count + 1, sizeof(*walk.done));
    for (size_t i = 0; walk.done != NULL && i < c->model->type_count; i++)
        walk_type(&walk, c->model->types[i], SLICE_LIT(""), SLICE_LIT(""), 0);
    for (size_t t = 0; walk.done != NULL && t < c->model->table_count; t++) {
        const struct model_table *table = &c->model->tables[t];
        for (size_t i = 0; generate_wants(c->options, table) && i < table->entity_count; i++)
            walk_entity(&walk, &table->entities[i]);
    }
    c->out->failed = c->out->failed || walk.done == NULL;
    arena_release(&arena);
}

static void declare(struct c_file *c, const struct c_struct *one)
{
    buf_printf(c->out, "\nstruct %.*s_%.*s {\n", SLICE_FMT(c->prefix), SLICE_FMT(one->name));
    for (size_t i = 0; i < one->count; i++)
        member_line(c, one->fields[i], one->name);
    if (one->count == 0)
        buf_text(c->out, "    char nothing;\n");
    buf_text(c->out, "};\n");
}

static void forward(struct c_file *c, const struct c_struct *one)
{
    buf_printf(c->out, "struct %.*s_%.*s;\n", SLICE_FMT(c->prefix), SLICE_FMT(one->name));
}

void c_structs(struct c_file *c)
{
    buf_byte(c->out, '\n');
    walk_all(c, forward);
    walk_all(c, declare);
}

// ---- Shapes ----------------------------------------------------------------------------------

static void type_row(struct c_file *c, const struct model_type *type, struct slice owner,
                     struct slice member, unsigned depth)
{
    static const char *const rows[] = {[C_TEXT] = "TEXT, sizeof(const char *)",
                                       [C_NUMBER] = "NUMBER, sizeof(double)",
                                       [C_INTEGER] = "INTEGER, sizeof(int64_t)",
                                       [C_BOOLEAN] = "BOOLEAN, sizeof(bool)",
                                       [C_BYTES] = "BYTES, sizeof(struct %.*s_bytes)",
                                       [C_JSON] = "JSON, sizeof(const char *)",
                                       [C_OBJECT] = "OBJECT, sizeof(struct %.*s_",
                                       [C_LIST] = "LIST, sizeof(struct list)",
                                       [C_SET] = "SET, sizeof(struct list)",
                                       [C_RECORD] = "RECORD, sizeof(struct record)"};
    const struct model_type *bare = type_bare(type);
    enum c_kind kind = depth > NESTING_MAX ? C_JSON : c_kind(type);
    struct buf *out = c->out;
    buf_byte(out, '{');
    if (kind == C_BYTES || kind == C_OBJECT)
        buf_printf(out, rows[kind], SLICE_FMT(c->prefix));
    else
        buf_text(out, rows[kind]);
    if (kind == C_OBJECT) {
        c_object_name(out, c, bare, owner, member);
        buf_text(out, "), &shape_");
        c_object_name(out, c, bare, owner, member);
        buf_text(out, ", NULL}");
    } else if (kind == C_LIST || kind == C_SET || kind == C_RECORD) {
        buf_text(out, ", NULL, &(const struct type)");
        type_row(c, bare->item, owner, member, depth + 1);
        buf_byte(out, '}');
    } else {
        buf_text(out, ", NULL, NULL}");
    }
}

static void field_row(struct c_file *c, const struct c_struct *one,
                      const struct model_attribute *attribute)
{
    struct buf *out = c->out;
    buf_text(out, "    {");
    c_string(out, attribute->name);
    buf_text(out, ", ");
    type_row(c, attribute->type, one->name, attribute->name, 0);
    buf_printf(out, ",\n     offsetof(struct %.*s_%.*s, ", SLICE_FMT(c->prefix),
               SLICE_FMT(one->name));
    c_member(c, out, attribute);
    if (c_has_flag(attribute)) {
        buf_printf(out, "), (long)offsetof(struct %.*s_%.*s, has_", SLICE_FMT(c->prefix),
                   SLICE_FMT(one->name));
        c_member(c, out, attribute);
        buf_byte(out, ')');
    } else {
        buf_text(out, "), NO_FLAG");
    }
    bool null = !attribute->optional && type_nullable(attribute->type);
    buf_printf(out, ", %s, %s},\n", c_is_pointer(attribute) ? "true" : "false",
               null ? "true" : "false");
}

static void shape_forward(struct c_file *c, const struct c_struct *one)
{
    buf_printf(c->out, "static const struct shape shape_%.*s;\n", SLICE_FMT(one->name));
}

static void shape_table(struct c_file *c, const struct c_struct *one)
{
    struct slice name = one->name;
    if (one->count > 0) {
        buf_printf(c->out, "\nstatic const struct field fields_%.*s[] = {\n", SLICE_FMT(name));
        for (size_t i = 0; i < one->count; i++)
            field_row(c, one, one->fields[i]);
        buf_text(c->out, "};\n");
    }
    buf_printf(c->out, "static const struct shape shape_%.*s = {sizeof(struct %.*s_%.*s), %zu, ",
               SLICE_FMT(name), SLICE_FMT(c->prefix), SLICE_FMT(name), one->count);
    if (one->count > 0)
        buf_printf(c->out, "fields_%.*s};\n", SLICE_FMT(name));
    else
        buf_text(c->out, "NULL};\n");
}

void c_shapes(struct c_file *c)
{
    walk_all(c, shape_forward);
    walk_all(c, shape_table);
}
