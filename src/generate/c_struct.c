// Structs, and the tables by which the runtime reads and writes them. Every object type has a
// struct: named types by their name, others by the way to them (shop_customer_preferences). Structs
// are declared inner ones first; an object that may be absent is a pointer, so that types may be
// recursive.
#include "generate/c.h"

enum { NESTING_MAX = 16 }; // what is deeper stays DynamoDB JSON

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

// Whether an attribute is one of these, and one before it has the same name in C.
static bool clashes(const struct model_attribute *own, size_t count,
                    const struct model_attribute *fields)
{
    bool among = own >= fields && own < fields + count;
    for (const struct model_attribute *field = fields; among && field < own; field++) {
        if (text_alike(field->name, own->name))
            return true;
    }
    return false;
}

static bool clashes_anywhere(const struct model *model, const struct model_attribute *own)
{
    for (size_t i = 0; i < model->type_count; i++) {
        if (clashes(own, model->types[i]->field_count, model->types[i]->fields))
            return true;
    }
    for (size_t t = 0; t < model->table_count; t++) {
        for (size_t i = 0; i < model->tables[t].entity_count; i++) {
            const struct model_entity *entity = &model->tables[t].entities[i];
            if (clashes(own, entity->attribute_count, entity->attributes))
                return true;
        }
    }
    return false;
}

struct slice c_member(const struct c_file *c, const struct model_attribute *attribute)
{
    struct slice name = text_snake(c->w, attribute->name);
    return is_keyword(name) || clashes_anywhere(c->w->model, attribute) ? TEXT(c->w, "%s_", name)
                                                                        : name;
}

bool c_is_pointer(const struct model_attribute *attribute)
{
    return c_kind(attribute->type) == C_OBJECT &&
           (attribute->otherwise != NULL || !attribute_always(attribute));
}

// A NULL says that a text, bytes or an object are not there; a number has no value to spare for
// that. What has a default needs a flag, too: only so is a 0 told from nothing.
bool c_has_flag(const struct model_attribute *attribute)
{
    switch (c_kind(attribute->type)) {
    case C_TEXT:
    case C_BYTES:
    case C_JSON:
    case C_OBJECT:
        return false;
    default:
        return attribute->otherwise != NULL || attribute->version || attribute->counted ||
               !attribute_always(attribute);
    }
}

bool c_is_kept(const struct model_attribute *attribute)
{
    return attribute->always || attribute->counted;
}

struct slice c_entity_name(const struct c_file *c, const struct model_entity *entity)
{
    return entity == NULL ? SLICE_LIT("") : text_snake(c->w, text_entity(c->w, entity));
}

static bool names_entity(struct writer *w, struct slice name)
{
    for (size_t t = 0; t < w->model->table_count; t++) {
        for (size_t i = 0; i < w->model->tables[t].entity_count; i++) {
            if (text_alike(name, text_entity(w, &w->model->tables[t].entities[i])))
                return true;
        }
    }
    return false;
}

// The name of the struct of an object type that is a member of another struct.
static struct slice object_name(const struct c_file *c, const struct model_type *type,
                                struct slice owner, struct slice member)
{
    if (type->name.len == 0)
        return TEXT(c->w, "%s_%s", owner, text_snake(c->w, member));
    struct slice name = text_snake(c->w, type->name);
    return names_entity(c->w, type->name) ? TEXT(c->w, "%s_value", name) : name;
}

// ---- Declarations ----------------------------------------------------------------------------

// The type of a value, as far as it stands before the name.
static struct slice value_type_text(struct c_file *c, const struct model_type *type,
                                    struct slice owner, struct slice member, unsigned depth)
{
    const struct model_type *bare = type_bare(type);
    switch (depth > NESTING_MAX ? C_JSON : c_kind(type)) {
    case C_NUMBER:
        return SLICE_LIT("double ");
    case C_INTEGER:
        return SLICE_LIT("int64_t ");
    case C_BOOLEAN:
        return SLICE_LIT("bool ");
    case C_BYTES:
        return TEXT(c->w, "struct %s_bytes ", c->prefix);
    case C_OBJECT:
        return TEXT(c->w, "struct %s_%s ", c->prefix, object_name(c, bare, owner, member));
    case C_LIST:
    case C_SET:
        return TEXT(c->w, "struct { size_t count; %s*items; } ",
                    value_type_text(c, bare->item, owner, member, depth + 1));
    case C_RECORD:
        return TEXT(c->w, "struct { size_t count; const char **names; %s*values; } ",
                    value_type_text(c, bare->item, owner, member, depth + 1));
    default:
        return SLICE_LIT("const char *");
    }
}

static void member_line(struct c_file *c, const struct model_attribute *attribute,
                        struct slice owner)
{
    struct slice member = c_member(c, attribute);
    text_comment(c->w->out, "    // ", attribute->doc);
    if (c_is_kept(attribute))
        buf_text(c->w->out, "    // Read-only: the server keeps it.\n");
    PUT(c->w, c_is_pointer(attribute) ? "    %s*%s;%s\n" : "    %s%s;%s\n",
        value_type_text(c, attribute->type, owner, attribute->name, 0), member,
        slice_str(c_kind(attribute->type) == C_JSON ? " // DynamoDB JSON" : ""));
    if (c_has_flag(attribute))
        PUT(c->w, "    bool has_%s;\n", member);
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
    const struct model *model = walk->c->w->model;
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t named = 0;
    while (named < model->type_count && model->types[named] != type)
        named++;
    if (type->name.len > 0 && named < model->type_count) {
        if (walk->done[named])
            return;
        walk->done[named] = true; // before its fields: it may be one of them
    }
    struct c_struct one = {.name = object_name(walk->c, type, owner, member),
                           .count = type_fields(type, fields),
                           .fields = fields};
    walk_struct(walk, &one, depth);
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
    struct c_struct one = {
        .name = c_entity_name(walk->c, entity), .count = count, .fields = fields};
    walk_struct(walk, &one, 0);
}

static void walk_all(struct c_file *c, void (*visit)(struct c_file *, const struct c_struct *))
{
    struct writer *w = c->w;
    struct walk walk = {.c = c, .visit = visit};
    walk.done = arena_zalloc(w->arena, w->model->type_count + 1, sizeof(*walk.done));
    if (walk.done == NULL) {
        w->out->failed = true;
        return;
    }
    for (size_t i = 0; i < w->model->type_count; i++)
        walk_type(&walk, w->model->types[i], SLICE_LIT(""), SLICE_LIT(""), 0);
    for (const struct model_entity *entity = NULL; (entity = next_entity(w, entity)) != NULL;)
        walk_entity(&walk, entity);
}

static void declare(struct c_file *c, const struct c_struct *one)
{
    PUT(c->w, "\nstruct %s_%s {\n", c->prefix, one->name);
    for (size_t i = 0; i < one->count; i++)
        member_line(c, one->fields[i], one->name);
    if (one->count == 0)
        buf_text(c->w->out, "    char nothing;\n");
    buf_text(c->w->out, "};\n");
}

static void forward(struct c_file *c, const struct c_struct *one)
{
    PUT(c->w, "struct %s_%s;\n", c->prefix, one->name);
}

void c_structs(struct c_file *c)
{
    buf_byte(c->w->out, '\n');
    walk_all(c, forward);
    walk_all(c, declare);
}

// ---- Shapes ----------------------------------------------------------------------------------

static struct slice type_row(struct c_file *c, const struct model_type *type, struct slice owner,
                             struct slice member, unsigned depth)
{
    static const char *const rows[] = {[C_TEXT] = "{TEXT, sizeof(const char *), NULL, NULL}",
                                       [C_NUMBER] = "{NUMBER, sizeof(double), NULL, NULL}",
                                       [C_INTEGER] = "{INTEGER, sizeof(int64_t), NULL, NULL}",
                                       [C_BOOLEAN] = "{BOOLEAN, sizeof(bool), NULL, NULL}",
                                       [C_JSON] = "{JSON, sizeof(const char *), NULL, NULL}",
                                       [C_LIST] = "LIST, sizeof(struct list)",
                                       [C_SET] = "SET, sizeof(struct list)",
                                       [C_RECORD] = "RECORD, sizeof(struct record)"};
    const struct model_type *bare = type_bare(type);
    enum c_kind kind = depth > NESTING_MAX ? C_JSON : c_kind(type);
    switch (kind) {
    case C_BYTES:
        return TEXT(c->w, "{BYTES, sizeof(struct %s_bytes), NULL, NULL}", c->prefix);
    case C_OBJECT: {
        struct slice name = object_name(c, bare, owner, member);
        return TEXT(c->w, "{OBJECT, sizeof(struct %s_%s), &shape_%s, NULL}", c->prefix, name, name);
    }
    case C_LIST:
    case C_SET:
    case C_RECORD:
        return TEXT(c->w, "{%s, NULL, &(const struct type)%s}", slice_str(rows[kind]),
                    type_row(c, bare->item, owner, member, depth + 1));
    default:
        return slice_str(rows[kind]);
    }
}

static void field_row(struct c_file *c, const struct c_struct *one,
                      const struct model_attribute *attribute)
{
    struct slice member = c_member(c, attribute);
    bool null = !attribute->optional && type_nullable(attribute->type);
    struct slice flag = c_has_flag(attribute) ? TEXT(c->w, "(long)offsetof(struct %s_%s, has_%s)",
                                                     c->prefix, one->name, member)
                                              : SLICE_LIT("NO_FLAG");
    PUT(c->w, "    {%s, %s,\n     offsetof(struct %s_%s, %s), %s, %s, %s, %s},\n",
        c_string(c, attribute->name), type_row(c, attribute->type, one->name, attribute->name, 0),
        c->prefix, one->name, member, flag, slice_str(c_is_pointer(attribute) ? "true" : "false"),
        slice_str(null ? "true" : "false"), slice_str(c_is_kept(attribute) ? "true" : "false"));
}

// Recursive types name the shapes of others, which may come later.
static void shape_forward(struct c_file *c, const struct c_struct *one)
{
    PUT(c->w, "static const struct shape shape_%s;\n", one->name);
}

static void shape_table(struct c_file *c, const struct c_struct *one)
{
    struct slice fields = SLICE_LIT("NULL");
    if (one->count > 0) {
        fields = TEXT(c->w, "fields_%s", one->name);
        PUT(c->w, "\nstatic const struct field %s[] = {\n", fields);
        for (size_t i = 0; i < one->count; i++)
            field_row(c, one, one->fields[i]);
        buf_text(c->w->out, "};\n");
    }
    PUT(c->w, "static const struct shape shape_%s = {sizeof(struct %s_%s), %s, %s};\n", one->name,
        c->prefix, one->name, text_u64(c->w, one->count), fields);
}

void c_shapes(struct c_file *c)
{
    walk_all(c, shape_forward);
    walk_all(c, shape_table);
}
