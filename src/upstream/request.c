// See upstream_internal.h. A pinned write has a condition that names every attribute its judgement
// may depend on: those of the item that was read, with their values; and those that it had not,
// which the new image or the model of its entity has.
#include "upstream/upstream_internal.h"

#include "base/encode.h"
#include "engine/layout.h"
#include "guard/entity.h"
#include "value/digest.h"
#include "json/shape.h"

#include <stdio.h>

enum {
    PINS_MAX = 145,        // an expression has up to 300 operators
    EXPRESSION_MAX = 4096, // and as many bytes
    WORDS_MAX = 4 << 20,
};

void owner_of(const struct write_action *action, char out[CLAIM_DIGEST + 1])
{
    uint8_t digest[CLAIM_DIGEST / 2];
    // Without the number of the tree, which is this process's own.
    sha256_of(slice_of(action->key.ptr + LAYOUT_PREFIX, action->key.len - LAYOUT_PREFIX), digest);
    hex_text(slice_of(digest, sizeof(digest)), out);
    out[CLAIM_DIGEST] = 0;
}

// ---- Writes ----------------------------------------------------------------------------------

static void put_key(struct json_writer *w, const struct table *table, struct slice item)
{
    json_put_object(w, "Key");
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        json_name_slice(w, table->keys.parts[i].name);
        json_value(w, value_get(item, table->keys.parts[i].name));
    }
    json_close_object(w);
}

void request_get(struct json_writer *w, const struct write_action *action)
{
    json_put_string(w, "TableName", action->table->name);
    put_key(w, action->table, action->item);
}

// Expressions and their parameters, as they are gathered.
struct words {
    size_t count; // of names
    struct buf condition;
    struct buf set;
    struct buf remove;
    struct buf names_text;
    struct buf values_text;
    struct json_writer names;
    struct json_writer values;
};

static void words_init(struct words *words)
{
    *words = (struct words){.count = 0};
    struct buf *const all[] = {&words->condition, &words->set, &words->remove, &words->names_text,
                               &words->values_text};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        buf_init(all[i], WORDS_MAX);
    words->names = json_writer_to(&words->names_text);
    words->values = json_writer_to(&words->values_text);
    json_open_object(&words->names);
    json_open_object(&words->values);
}

static void words_release(struct words *words)
{
    buf_release(&words->condition);
    buf_release(&words->set);
    buf_release(&words->remove);
    buf_release(&words->names_text);
    buf_release(&words->values_text);
}

static size_t add_name(struct words *words, struct slice name)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "#%zu", words->count);
    json_name(&words->names, text);
    json_string(&words->names, name);
    return words->count++;
}

static void add_value(struct words *words, const char *mark, size_t number, struct slice value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), ":%s%zu", mark, number);
    json_name(&words->values, text);
    json_value(&words->values, value);
}

static size_t pin_absent(struct words *words, struct slice name)
{
    size_t number = add_name(words, name);
    buf_printf(&words->condition, "%sattribute_not_exists(#%zu)",
               words->condition.len > 0 ? " AND " : "", number);
    return number;
}

static size_t pin_value(struct words *words, struct slice name, struct slice value)
{
    size_t number = add_name(words, name);
    buf_printf(&words->condition, "%s#%zu=:%zu", words->condition.len > 0 ? " AND " : "", number,
               number);
    add_value(words, "", number, value);
    return number;
}

static void add_set(struct words *words, size_t number, struct slice value)
{
    buf_printf(&words->set, "%s#%zu=:n%zu", words->set.len > 0 ? "," : "SET ", number, number);
    add_value(words, "n", number, value);
}

// What the model could have asked for, and the item had not.
static void pin_unset(struct words *words, const struct table *table, struct slice before,
                      struct slice after)
{
    const struct model_entity *entity =
        table->guard == NULL ? NULL
                             : model_recognise(model_guard_table(table->guard), before).entity;
    for (size_t i = 0; entity != NULL && i < entity->attribute_count; i++) {
        struct slice name = entity->attributes[i].name;
        if (value_get(before, name).len == 0 && (after.len == 0 || value_get(after, name).len == 0))
            (void)pin_absent(words, name);
    }
}

static void pin_all(struct words *words, const struct table *table, struct slice before,
                    struct slice after, bool update)
{
    struct value_iter iter;
    if (before.len == 0) {
        (void)pin_absent(words, table->keys.parts[0].name);
        return;
    }
    value_iter_init(&iter, before);
    while (value_iter_next(&iter)) {
        size_t number = pin_value(words, iter.name, iter.value);
        struct slice now = after.len == 0 ? VALUE_NONE : value_get(after, iter.name);
        if (!update || slice_equal(now, iter.value))
            continue;
        if (now.len > 0)
            add_set(words, number, now);
        else
            buf_printf(&words->remove, "%s#%zu", words->remove.len > 0 ? "," : " REMOVE ", number);
    }
    if (after.len > 0)
        value_iter_init(&iter, after);
    while (after.len > 0 && value_iter_next(&iter)) {
        if (value_get(before, iter.name).len > 0)
            continue;
        size_t number = pin_absent(words, iter.name);
        if (update)
            add_set(words, number, iter.value);
    }
    pin_unset(words, table, before, after);
}

const char *request_kind(const struct write_action *action, struct slice before, struct slice after)
{
    if (slice_equal(before, after))
        return "ConditionCheck";
    if (after.len == 0)
        return "Delete";
    return before.len == 0 || action->kind == WRITE_PUT ? "Put" : "Update";
}

bool request_write(struct json_writer *w, const struct write_action *action, struct slice before,
                   struct slice after, struct error *error)
{
    const char *kind = request_kind(action, before, after);
    bool put = strcmp(kind, "Put") == 0;
    bool update = strcmp(kind, "Update") == 0;
    struct words words;
    words_init(&words);
    pin_all(&words, action->table, before, after, update);
    bool fits = words.count <= PINS_MAX && words.condition.len <= EXPRESSION_MAX &&
                words.set.len + words.remove.len <= EXPRESSION_MAX;
    json_put_string(w, "TableName", action->table->name);
    if (put)
        json_put_item(w, "Item", after);
    else
        put_key(w, action->table, action->item);
    json_put_string(w, "ConditionExpression", buf_view(&words.condition));
    if (update) {
        buf_slice(&words.set, buf_view(&words.remove));
        json_put_string(w, "UpdateExpression", slice_trim(buf_view(&words.set)));
    }
    json_close_object(&words.names);
    json_name(w, "ExpressionAttributeNames");
    buf_slice(w->out, buf_view(&words.names_text));
    if (words.values_text.len > 1) {
        json_close_object(&words.values);
        w->comma = true;
        json_name(w, "ExpressionAttributeValues");
        buf_slice(w->out, buf_view(&words.values_text));
    }
    w->comma = true;
    json_put_text(w, "ReturnValuesOnConditionCheckFailure", "ALL_OLD");
    bool made = !words.condition.failed && !words.set.failed && !words.remove.failed &&
                !words.names_text.failed && !words.values_text.failed;
    words_release(&words);
    if (!made)
        return error_budget(error);
    return fits || error_validation(error,
                                    "The item has more than %d attributes with those of its "
                                    "model: too many for the condition by which a gateway "
                                    "changes it",
                                    PINS_MAX);
}

// ---- Claims ----------------------------------------------------------------------------------

void request_claim_key(struct json_writer *w, const struct table *table, const char *name)
{
    const struct key_part *parts = table->keys.parts;
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        json_name_slice(w, parts[i].name);
        json_open_object(w);
        if (parts[i].type == VALUE_N)
            json_put_text(w, "N", "0");
        else
            json_put_text(w, "S", name);
        json_close_object(w);
    }
}

static void put_owner(struct json_writer *w, const char *name, const char *owner)
{
    json_put_object(w, name);
    json_put_text(w, "S", owner);
    json_close_object(w);
}

void request_claim(struct json_writer *w, const struct claim_change *change,
                   const struct write_action *actions)
{
    char name[CLAIM_KEY] = CLAIM_PREFIX;
    char taker[CLAIM_DIGEST + 1] = "";
    char giver[CLAIM_DIGEST + 1] = "";
    uint8_t digest[CLAIM_DIGEST / 2];
    sha256_of(change->claim->name, digest);
    hex_text(slice_of(digest, sizeof(digest)), name + sizeof(CLAIM_PREFIX) - 1);
    name[CLAIM_KEY - 1] = 0;
    bool take = change->taker > 0;
    if (take)
        owner_of(&actions[change->taker - 1], taker);
    if (change->giver > 0)
        owner_of(&actions[change->giver - 1], giver);
    json_open_object(w);
    json_put_object(w, take ? "Put" : "Delete");
    json_put_string(w, "TableName", change->table->name);
    json_put_object(w, take ? "Item" : "Key");
    request_claim_key(w, change->table, name);
    if (take) {
        put_owner(w, CLAIM_OWNER, taker);
        json_put_object(w, CLAIM_WHAT);
        json_put_string(w, "S", change->claim->what);
        json_close_object(w);
    }
    json_close_object(w);
    json_put_text(w, "ConditionExpression",
                  take && giver[0] != 0
                      ? "attribute_not_exists(" CLAIM_OWNER ") OR " CLAIM_OWNER " IN (:a, :b)"
                      : "attribute_not_exists(" CLAIM_OWNER ") OR " CLAIM_OWNER " = :a");
    json_put_object(w, "ExpressionAttributeValues");
    put_owner(w, ":a", take ? taker : giver);
    if (take && giver[0] != 0)
        put_owner(w, ":b", giver);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

// ---- Answers ---------------------------------------------------------------------------------

struct slice told_member(struct slice json, const char *name, struct arena *arena)
{
    struct json_reader reader;
    struct slice found;
    json_reader_init(&reader, json, arena);
    if (json_peek(&reader) != JSON_OBJECT || !json_enter(&reader))
        return slice_of(NULL, 0);
    while (json_next_name(&reader, &found)) {
        (void)json_peek(&reader);
        const uint8_t *from = json_skip_space(reader.at, reader.end);
        if (!json_skip(&reader))
            break;
        if (slice_is(found, name))
            return slice_of(from, (size_t)(reader.at - from));
    }
    return slice_of(NULL, 0);
}

struct slice told_text(struct slice json, const char *name, struct arena *arena)
{
    struct json_reader reader;
    struct slice text;
    struct slice raw = told_member(json, name, arena);
    json_reader_init(&reader, raw, arena);
    if (raw.len == 0 || json_peek(&reader) != JSON_STRING || !json_read_string(&reader, &text))
        return slice_of(NULL, 0);
    return text;
}

bool told_array(struct slice json, struct arena *arena, struct json_reader *reader)
{
    json_reader_init(reader, json, arena);
    return json.len > 0 && json_peek(reader) == JSON_ARRAY && json_enter(reader);
}

bool told_element(struct json_reader *reader, struct slice *out)
{
    if (!json_next_element(reader))
        return false;
    const uint8_t *from = json_skip_space(reader->at, reader->end);
    if (!json_skip(reader))
        return false;
    *out = slice_of(from, (size_t)(reader->at - from));
    return true;
}
