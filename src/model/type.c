// Types in words, and what is stored for them.
#include "model/model.h"
#include "value/number.h"

static const enum value_type stored_as[] = {
#define X(kind, name, stored) stored,
    MODEL_TYPE_LIST(X)
#undef X
};

const char *const model_type_words[] = {
#define X(kind, name, stored) name,
    MODEL_TYPE_LIST(X)
#undef X
        "list"};

// What the options of a union have in common, null left aside.
static enum value_type common_type(const struct model_type *type,
                                   enum value_type (*of)(const struct model_type *))
{
    enum value_type common = VALUE_NULL;
    for (size_t i = 0; i < type->option_count; i++) {
        enum value_type one = of(type->options[i]);
        if (one == VALUE_NULL || one == common)
            continue;
        if (common != VALUE_NULL)
            return VALUE_TYPES;
        common = one;
    }
    return common;
}

// Of what cannot be a set or a union: a set of them would be endless.
static enum value_type plain_stored(const struct model_type *type)
{
    return type->kind == MODEL_LITERAL ? value_type(type->literal) : stored_as[type->kind];
}

enum value_type model_type_stored(const struct model_type *type)
{
    if (type->kind == MODEL_UNION)
        return common_type(type, model_type_stored);
    if (type->kind != MODEL_SET)
        return plain_stored(type);
    enum value_type member = type->item->kind == MODEL_UNION ? common_type(type->item, plain_stored)
                                                             : plain_stored(type->item);
    return member == VALUE_S   ? VALUE_SS
           : member == VALUE_N ? VALUE_NS
           : member == VALUE_B ? VALUE_BS
                               : VALUE_TYPES;
}

static void number_text(struct slice stored, struct buf *out)
{
    char text[NUMBER_TEXT_MAX];
    buf_add(out, text, number_to_text(stored, text));
}

static void range_text(const struct model_type *type, struct buf *out)
{
    if (type->min.len == 0 && type->max.len == 0)
        return;
    buf_byte(out, '(');
    if (type->min.len > 0)
        number_text(type->min, out);
    buf_text(out, "..");
    if (type->max.len > 0)
        number_text(type->max, out);
    buf_byte(out, ')');
}

static void string_text(struct slice text, struct buf *out)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\')
            buf_byte(out, '\\');
        if (c == '\n' || c == '\t')
            buf_text(out, c == '\n' ? "\\n" : "\\t");
        else
            buf_byte(out, c);
    }
    buf_byte(out, '"');
}

unsigned model_type_form(const struct model_type *type)
{
    unsigned form = type->kind == MODEL_TIMESTAMP ? type->form : 0;
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        if (option->kind == MODEL_TIMESTAMP && form == 0)
            form = option->form;
        else if (model_type_stored(option) == VALUE_S || option->kind == MODEL_ANY)
            return 0;
    }
    return form;
}

bool model_type_has(const struct model_type *type, enum model_kind kind)
{
    for (size_t i = 0; type != NULL && i < type->option_count; i++)
        if (type->options[i]->kind == kind)
            return true;
    return type != NULL && type->kind == kind;
}

void model_literal_text(struct slice value, struct buf *out)
{
    switch (value.len == 0 ? VALUE_TYPES : value_type(value)) {
    case VALUE_S:
        string_text(value_bytes(value), out);
        break;
    case VALUE_N:
        number_text(value_bytes(value), out);
        break;
    case VALUE_BOOL:
        buf_text(out, value_bool(value) ? "true" : "false");
        break;
    case VALUE_L:
        buf_text(out, "[]");
        break;
    case VALUE_M:
        buf_text(out, "{}");
        break;
    default:
        buf_text(out, "null");
    }
}

static bool plain_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9';
        bool dash = c == '-' && i > 0 && i + 1 < name.len && name.ptr[i + 1] != '-';
        if (!letter && !(i > 0 && digit) && !dash)
            return false;
    }
    return name.len > 0;
}

static void name_text(struct slice name, struct buf *out)
{
    bool plain = plain_name(name);
    buf_text(out, plain ? "" : "`");
    buf_slice(out, name);
    buf_text(out, plain ? "" : "`");
}

const char *model_optional_mark(const struct model_attribute *attribute)
{
    return !attribute->optional ? "" : attribute->strict ? "?!" : "?";
}

static void object_text(const struct model_type *type, struct buf *out)
{
    if (type->field_count == 0) {
        buf_text(out, "object");
        return;
    }
    buf_text(out, "{ ");
    for (size_t i = 0; i < type->field_count; i++) {
        const struct model_attribute *field = &type->fields[i];
        buf_text(out, i == 0 ? "" : ", ");
        name_text(field->name, out);
        buf_text(out, ": ");
        model_type_text(field->type, out);
        buf_text(out, model_optional_mark(field));
    }
    buf_text(out, " }");
}

static void list_text(const struct model_type *type, struct buf *out)
{
    bool several = type->item->kind == MODEL_UNION && type->item->name.len == 0;
    buf_text(out, several ? "(" : "");
    model_type_text(type->item, out);
    buf_text(out, several ? ")[]" : "[]");
    range_text(type, out);
}

static const char *form_word(unsigned form)
{
    size_t word = 0;
    while (form >> word >= MODEL_SECONDS)
        word++;
    return model_form_words[word];
}

void model_type_text(const struct model_type *type, struct buf *out)
{
    if (type->name.len > 0) {
        name_text(type->name, out);
        return;
    }
    switch (type->kind) {
    case MODEL_LITERAL:
        model_literal_text(type->literal, out);
        break;
    case MODEL_LIST:
        list_text(type, out);
        break;
    case MODEL_SET:
    case MODEL_RECORD:
        buf_text(out, type->kind == MODEL_SET ? "set<" : "Record<string, ");
        model_type_text(type->item, out);
        buf_byte(out, '>');
        range_text(type, out);
        break;
    case MODEL_OBJECT:
        object_text(type, out);
        break;
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++) {
            buf_text(out, i == 0 ? "" : " | ");
            model_type_text(type->options[i], out);
        }
        break;
    default:
        buf_text(out, model_type_words[type->kind]);
        range_text(type, out);
        if (type->kind == MODEL_TIMESTAMP && type->form != MODEL_MILLISECONDS)
            buf_printf(out, "(%s)", form_word(type->form));
        break;
    }
}
