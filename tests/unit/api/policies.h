// The world of the policies' test: items as the test knows them, callers, and another evaluator of
// the model's policies than the server's. It knows items by how they were drawn, and says of each
// rule in its own words whether it holds.
#ifndef TESTS_UNIT_API_POLICIES_H
#define TESTS_UNIT_API_POLICIES_H

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

static const char policies_model[] =
    "table app {\n"
    "  key PK, SK\n"
    "  index GSI1 (GSI1PK, GSI1SK)\n"
    "  index GSI2 (GSI2PK, GSI2SK) project keys\n"
    "  type kind\n"
    "  stream new_and_old_images\n"
    "}\n"
    "entity Order {\n"
    "  PK = \"C#{customer}\"  SK = \"O#{order_id}\"\n"
    "  GSI1 = \"S#{status}\", \"{customer}#{order_id}\"\n"
    "  GSI2 = \"W#{owner}\", \"{customer}#{order_id}\"\n"
    "  customer string\n"
    "  order_id string\n"
    "  owner string?\n"
    "  status string = \"new\"\n"
    "  secret string?\n"
    "  note string?\n"
    "}\n"
    "entity User {\n"
    "  PK = \"U#{user_id}\"  SK = \"U\"\n"
    "  GSI1 = \"S#user\", \"{user_id}\"\n"
    "  user_id string\n"
    "  role string = \"member\"\n"
    "  email string?\n"
    "  team string?\n"
    "}\n"
    "entity Page {\n"
    "  PK = \"P#{page_id}\"  SK = \"P\"\n"
    "  GSI1 = \"S#page\", \"{page_id}\"\n"
    "  page_id string\n"
    "  note string?\n"
    "}\n"
    "access orders(customer) = Order\n"
    "allow read Order to actor.customer = customer or actor.name = owner\n"
    "allow read, write Order to actor.role = \"admin\"\n"
    "allow insert Order to actor.customer = customer and status = \"new\"\n"
    "allow update Order to actor.customer = customer\n"
    "allow delete Order to actor.customer = customer and status = \"new\"\n"
    "deny read of secret of Order unless actor.role = \"admin\" or actor.name = owner\n"
    "deny update of note of Order unless actor.name = owner\n"
    "allow read User to actor.team = team\n"
    "allow read, insert, update User to actor.name = user_id\n"
    "allow read, write User to actor.role = \"admin\"\n"
    "deny write of role of User unless actor.role = \"admin\"\n"
    "deny read of email of User unless actor.name = user_id\n";

// ---- Items --------------------------------------------------------------------------------------

enum kind { ORDER, USER, PAGE, KINDS };
enum { NAMES = 3, ORDERS = 4, KEYS = NAMES * ORDERS + NAMES + 2 };
enum attribute { OWNER, STATUS, SECRET, NOTE, ROLE, EMAIL, TEAM, ATTRIBUTES };

static const char *const attribute_names[] = {"owner", "status", "secret", "note",
                                              "role",  "email",  "team"};

struct item {
    bool there;
    char values[ATTRIBUTES][12]; // empty: not there
};

static inline void set_value(struct item *item, size_t attribute, const char *value)
{
    (void)snprintf(item->values[attribute], sizeof(item->values[attribute]), "%s", value);
}

static inline enum kind kind_of(size_t key)
{
    return key < NAMES * ORDERS ? ORDER : key < NAMES * ORDERS + NAMES ? USER : PAGE;
}

static inline bool kind_has(enum kind kind, enum attribute attribute)
{
    return kind == ORDER ? attribute <= NOTE : kind == USER ? attribute >= ROLE : attribute == NOTE;
}

static inline void key_text(size_t key, struct buf *out)
{
    if (kind_of(key) == ORDER)
        buf_printf(out, "\"PK\":{\"S\":\"C#n%zu\"},\"SK\":{\"S\":\"O#o%zu\"}", key / ORDERS,
                   key % ORDERS);
    else if (kind_of(key) == USER)
        buf_printf(out, "\"PK\":{\"S\":\"U#n%zu\"},\"SK\":{\"S\":\"U\"}", key - NAMES * ORDERS);
    else
        buf_printf(out, "\"PK\":{\"S\":\"P#p%zu\"},\"SK\":{\"S\":\"P\"}",
                   key - NAMES * ORDERS - NAMES);
}

// What a client sends.
static inline void sent_text(size_t key, const struct item *item, struct buf *out)
{
    static const char *const kinds[] = {"Order", "User", "Page"};
    key_text(key, out);
    buf_printf(out, ",\"kind\":{\"S\":\"%s\"}", kinds[kind_of(key)]);
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (item->values[i][0] != 0)
            buf_printf(out, ",\"%s\":{\"S\":\"%s\"}", attribute_names[i], item->values[i]);
    }
}

// What is stored then.
static inline void stored_text(size_t key, const struct item *item, struct buf *out)
{
    sent_text(key, item, out);
    size_t id = key - NAMES * ORDERS;
    if (kind_of(key) == ORDER) {
        buf_printf(out,
                   ",\"customer\":{\"S\":\"n%zu\"},\"order_id\":{\"S\":\"o%zu\"},\"GSI1PK\":{"
                   "\"S\":\"S#%s\"},\"GSI1SK\":{\"S\":\"n%zu#o%zu\"}",
                   key / ORDERS, key % ORDERS, item->values[STATUS], key / ORDERS, key % ORDERS);
        if (item->values[OWNER][0] != 0)
            buf_printf(out, ",\"GSI2PK\":{\"S\":\"W#%s\"},\"GSI2SK\":{\"S\":\"n%zu#o%zu\"}",
                       item->values[OWNER], key / ORDERS, key % ORDERS);
    } else if (kind_of(key) == USER) {
        buf_printf(out,
                   ",\"user_id\":{\"S\":\"n%zu\"},\"GSI1PK\":{\"S\":\"S#user\"},"
                   "\"GSI1SK\":{\"S\":\"n%zu\"}",
                   id, id);
    } else {
        buf_printf(out,
                   ",\"page_id\":{\"S\":\"p%zu\"},\"GSI1PK\":{\"S\":\"S#page\"},"
                   "\"GSI1SK\":{\"S\":\"p%zu\"}",
                   id - NAMES, id - NAMES);
    }
}

// ---- Callers, and what they may -----------------------------------------------------------------

struct who {
    const char *name; // tags; NULL: it has none
    const char *customer;
    const char *role;
    const char *team;
};

static const struct who callers[] = {
    {"n0", "n0", NULL, "t0"}, {"n1", "n1", "support", "t0"}, {NULL, NULL, NULL, NULL},
    {"n2", "n0", NULL, "t1"}, {NULL, NULL, "admin", NULL},   {"", "", "", ""},
};
enum { CALLERS = 6 };

static inline bool is(const char *tag, const char *value)
{
    return tag != NULL && value[0] != 0 && strcmp(tag, value) == 0;
}

static inline const char *owner_of(size_t key)
{
    static const char *const names[] = {"n0", "n1", "n2"};
    return kind_of(key) == ORDER  ? names[key / ORDERS]
           : kind_of(key) == USER ? names[key - NAMES * ORDERS]
                                  : "";
}

static inline bool may_read(const struct who *who, size_t key, const struct item *item)
{
    if (kind_of(key) == ORDER)
        return is(who->customer, owner_of(key)) || is(who->name, item->values[OWNER]) ||
               is(who->role, "admin");
    return kind_of(key) == PAGE || is(who->team, item->values[TEAM]) ||
           is(who->name, owner_of(key)) || is(who->role, "admin");
}

static inline bool is_hidden(const struct who *who, size_t key, const struct item *item,
                             enum attribute attribute)
{
    if (kind_of(key) == ORDER && attribute == SECRET)
        return !is(who->role, "admin") && !is(who->name, item->values[OWNER]);
    return kind_of(key) == USER && attribute == EMAIL && !is(who->name, owner_of(key));
}

static inline bool may_insert(const struct who *who, size_t key, const struct item *item)
{
    bool admin = is(who->role, "admin");
    if (kind_of(key) == ORDER)
        return admin || (is(who->customer, owner_of(key)) && is("new", item->values[STATUS]));
    return kind_of(key) == PAGE || admin || is(who->name, owner_of(key));
}

static inline bool may_update(const struct who *who, size_t key)
{
    bool admin = is(who->role, "admin");
    if (kind_of(key) == ORDER)
        return admin || is(who->customer, owner_of(key));
    return kind_of(key) == PAGE || admin || is(who->name, owner_of(key));
}

static inline bool may_delete(const struct who *who, size_t key, const struct item *item)
{
    bool admin = is(who->role, "admin");
    if (kind_of(key) == ORDER)
        return admin || (is(who->customer, owner_of(key)) && is("new", item->values[STATUS]));
    return kind_of(key) == PAGE || admin;
}

static inline bool is_changed(const struct item *before, const struct item *sent,
                              const struct item *made, enum attribute attribute)
{
    const char *old = before->there ? before->values[attribute] : "";
    return strcmp(old, made->values[attribute]) != 0 && strcmp(old, sent->values[attribute]) != 0;
}

// Whether the client, who sends `sent` where `before` was, changes what it must not; `made` is what
// the model makes of it.
static inline bool writes_denied(const struct who *who, size_t key, const struct item *before,
                                 const struct item *sent, const struct item *made)
{
    if (kind_of(key) == USER)
        return !is(who->role, "admin") && is_changed(before, sent, made, ROLE);
    if (kind_of(key) != ORDER || !before->there)
        return false;
    bool both = is(who->name, before->values[OWNER]) && is(who->name, made->values[OWNER]);
    return !both && is_changed(before, sent, made, NOTE);
}

// What the model adds: defaults are for new items, an old one keeps what a put leaves out.
static inline void complete(size_t key, const struct item *before, struct item *item)
{
    static const char *const defaults[ATTRIBUTES] = {[STATUS] = "new", [ROLE] = "member"};
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (defaults[i] != NULL && kind_has(kind_of(key), (enum attribute)i) &&
            item->values[i][0] == 0)
            set_value(item, i, before->there ? before->values[i] : defaults[i]);
    }
    item->there = true;
}

// The item as the caller may know it.
static inline struct item seen_by(const struct who *who, size_t key, const struct item *item)
{
    struct item seen = *item;
    if (!item->there || !may_read(who, key, item))
        return (struct item){.there = false};
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (is_hidden(who, key, item, (enum attribute)i))
            seen.values[i][0] = 0;
    }
    return seen;
}

// ---- Writes -------------------------------------------------------------------------------------

enum outcome { DONE, DENIED, FAILED };
enum condition { NO_CONDITION, ITEM_EXISTS, ITEM_MISSING, SECRET_IS, EMAIL_MISSING, CONDITIONS };
enum act { PUT, SET, REMOVE, COPY, DELETE, ACTS };

struct write {
    enum act act;
    enum condition condition;
    enum attribute attribute;
    size_t key;
    struct item item; // of a put; of SET, the value
};

static const char *const values_of[ATTRIBUTES][3] = {
    {"n0", "n1", "n2"},           {"new", "paid", "new"}, {"v1", "v2", "v3"}, {"v1", "v2", "v3"},
    {"member", "boss", "member"}, {"v1", "v2", "v3"},     {"t0", "t1", "t2"}};

#endif
