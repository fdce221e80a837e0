// The table of lint's rules, running them, and suppressing. A rule is a function that is asked
// about each table, index, key, … of the model (its row says which) and calls lint_find();
// everything else about it is in its row, too, from which --rules and docs/LINT.md are written.
#include "lint/lint_internal.h"

#include "model/rules.h"
#include "json/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// A rule: what it is and who judges, why it matters, how to mend it. Prose is not broken into
// lines, so that it can be read and searched as sentences.
// clang-format off
static const struct lint_rule rules[] = {
    {"L001", "hot-partition", SEVERITY_WARNING, "all items of an entity are in one partition",
     "A partition takes at most 1,000 writes and 3,000 reads a second on Amazon DynamoDB, however large the table is. With a constant partition key all traffic meets in that one place, and an index that throttles holds up the writes of the table.",
     "Put something that spreads into the partition key: an owner, a month, a shard number.", .key = lint_hot_partition},
    {"L002", "few-partitions", SEVERITY_WARNING, "the partition key has a handful of values (a boolean, an enum)",
     "A key with a few values makes a few partitions, each as large as a good part of the table. The busiest value (\"true\", \"active\") is as hot as a constant would be.",
     "Combine it with something of many values: \"JOB#{status}#{createdAt:yyyy-mm-dd}\".", .key = lint_few_partitions},
    {"L003", "constant-sort-key", SEVERITY_WARNING, "the sort key of an index is constant, or has a few values",
     "Items with equal sort keys come in no useful order, and no condition can choose among them. A page of \"the most popular\" is then just some items.",
     "Sort by what the pattern wants: \"{likeCount:pad(10)}#{id}\", or drop the sort key.", .key = lint_constant_sort},
    {"L004", "number-as-text", SEVERITY_WARNING, "a number or version stands in a sort key as text without padding",
     "Text is compared character by character, so 10 comes before 9 and V#10 before V#9. \"The latest version\" is then wrong from the tenth on, which tests with few items do not show.",
     "Pad it to a fixed width, {version:pad(10)}, or make the key attribute a number.", .key = lint_number_as_text},
    {"L005", "narrow-pad", SEVERITY_WARNING, "a padded number can be wider than its pad, or negative",
     "Padding keeps the order only while all values have the same number of digits. A value beyond that, or one with a minus sign, sorts in the wrong place without an error.",
     "Pad to the digits of the largest value; keep negative numbers out of texts.", .key = lint_narrow_pad},
    {"L006", "colliding-keys", SEVERITY_WARNING, "two entities can have the same primary key",
     "A put of one entity then replaces an item of the other without a word. The type attribute does not help: the key is all that tells items apart.",
     "Give each entity a prefix of its own in the partition key or in the sort key.", .table = lint_colliding_keys},
    {"L007", "ambiguous-entities", SEVERITY_WARNING, "keys do not tell two entities apart, and there is no type attribute",
     "Which entity an item is of is found by its keys alone, and these fit both. The guard refuses such writes as ambiguous, and readers have to guess.",
     "Add `type EntityType` to the table, or give each entity a prefix of its own.", .table = lint_ambiguous_entities},
    {"L008", "mutable-key", SEVERITY_WARNING, "something that changes is part of a primary key",
     "An item's primary key cannot change: a new value means a new item, and deleting the old one. Every reference to the old key breaks, and the guard refuses the update.",
     "Take it out of the key, or mark it immutable if it never changes.", .primary = lint_mutable_key},
    {"L009", "time-only-key", SEVERITY_WARNING, "only a time tells two items of a partition apart",
     "Two items of the same instant have the same key, and the second replaces the first. That is rare on a developer's machine and certain under load or after an import.",
     "End the sort key with an id: \"{createdAt}#{eventId}\".", .primary = lint_time_only_key},
    {"L010", "adjacent-fields", SEVERITY_WARNING, "two fields of a template follow each other without a delimiter",
     "\"1\" and \"23\" make the same key as \"12\" and \"3\", so that different items share one. The values cannot be read back out of the key either.",
     "Put a delimiter between them: \"{a}#{b}\".", .part = lint_adjacent_fields},
    {"L011", "delimiter-in-text", SEVERITY_WARNING, "free text stands before a delimiter that it may contain",
     "A value that contains the delimiter shifts everything behind it: two different items can get the same key, and reading the values back gives wrong ones. Users do type '#'.",
     "Write `separator \"#\" forbid` (or `escape`) in the table, or `{name:forbid}` in the template.", .part = lint_delimiter_in_text},
    {"L012", "mixed-times", SEVERITY_WARNING, "times in sort keys are of no fixed form, or of different forms",
     "Times sort as text only if all have the same form, zone and precision: \"…T10:00:00+02:00\" comes behind \"…T09:00:00Z\", \"…00Z\" behind \"…00.5Z\", and seconds since 1970 before everything. Lists by date are then wrong in places.",
     "Declare it as timestamp (or epoch) and write it in UTC with milliseconds, as now() does.", .table = lint_mixed_times},
    {"L013", "deprecated-in-key", SEVERITY_WARNING, "a deprecated attribute is part of a key",
     "What is deprecated will stop being written one day. Then the key cannot be derived, and the item drops out of the index, or cannot be written at all.",
     "Build the key from the attribute that replaces it.", .key = lint_deprecated_in_key},
    {"L014", "unused-index", SEVERITY_WARNING, "no access pattern uses an index, or an entity's entry in it",
     "Each write pays for every index that has the item, and each stored entry costs as much as in the table. An index that nothing reads is all cost.",
     "Drop it, or write down the access pattern that needs it.", .index = lint_unused_index},
    {"L015", "empty-index", SEVERITY_WARNING, "no entity has an entry in an index",
     "An index whose key attributes no item has stays empty, and counts against the twenty that a table may have. Often the name of a key attribute is misspelt.",
     "Give the entities that belong there an entry, or drop the index.", .index = lint_empty_index},
    {"L016", "duplicate-index", SEVERITY_WARNING, "an entity is kept in two indexes in the same order",
     "Both indexes answer the same questions, and every write pays twice. A condition on the sort key, or a filter of two values, makes one of them enough.",
     "Keep one; if both partition keys matter, combine them into one.", .entity = lint_duplicate_index},
    {"L017", "wide-projection", SEVERITY_NOTE, "an index copies large items whole",
     "A change of any attribute is then written to the index as well, in units of 1 KB. An index that serves lists or lookups needs a few attributes only.",
     "project (…) what its patterns show, or `project keys`, and read the rest by key.", .index = lint_wide_projection},
    {"L018", "write-amplification", SEVERITY_NOTE, "a write of an entity costs many units",
     "An item is written once to the table and once to each index that has it, and an index key that changes costs two writes there. See `dolmen lint --cost` for all figures.",
     "Merge indexes, make entries sparse, or project less.", .entity = lint_write_amplification},
    {"L019", "filter-discards", SEVERITY_WARNING, "an access pattern reads items and filters them",
     "A filter works behind the read: what it throws away is paid for and waited for, and pages come back short or empty. The fewer items fit, the worse it gets.",
     "Put the filtered attribute into the key of an index (a sparse one, if few items fit).", .access = lint_filter_discards},
    {"L020", "whole-partition", SEVERITY_WARNING, "an access pattern reads all there is, without a limit",
     "Nothing in its key condition depends on what the caller asks for, so that it reads all items of the entity, page after page. It is fast today, and slower with every day's data.",
     "Give it a parameter, or a limit.", .access = lint_whole_partition},
    {"L021", "mixed-collection", SEVERITY_WARNING, "an access pattern also reads items of entities it does not name",
     "Other entities share the partition, and the key condition does not leave them out. Their items are read, paid for, and handed to code that does not expect them.",
     "Narrow the pattern by the sort key, or name all entities it returns.", .access = lint_mixed_collection},
    {"L022", "open-prefix", SEVERITY_WARNING, "a prefix ends within a value",
     "begins_with compares characters: the prefix USER#1 also finds USER#10 and USER#1999. Items of somebody else come back, which is wrong and may be a leak.",
     "End the prefix with the delimiter, or compare with =.", .access = lint_open_prefix},
    {"L023", "order-without-sort", SEVERITY_WARNING, "an access pattern asks for an order that no key gives",
     "A query is ordered by the sort key only, and here that is constant or fixed by the pattern. \"Newest first\" then means nothing.",
     "Use an index that sorts by the attribute in question.", .access = lint_order_without_sort},
    {"L024", "one-not-unique", SEVERITY_WARNING, "an access pattern promises one item that nothing keeps unique",
     "An index may have many items under the same key, and `one` takes whichever comes first. A login by a doubled address is then a matter of luck.",
     "Mark the attribute unique, or let the pattern return a list.", .access = lint_one_not_unique},
    {"L025", "unread-entity", SEVERITY_NOTE, "no access pattern reads an entity",
     "Access patterns are the reason for the keys; without one nobody can tell whether they are right. Generated code and documents have no way to read it either.",
     "Write down how it is read, even if it is only by its key.", .table = lint_unread_entity},
    {"L026", "ttl-not-epoch", SEVERITY_WARNING, "the expiry attribute is not of type epoch",
     "Items expire by whole seconds since 1970. Milliseconds lie tens of thousands of years ahead, and text is ignored, so that nothing ever goes away.",
     "Declare it as epoch.", .attribute = lint_ttl_not_epoch},
    {"L027", "ttl-undeclared", SEVERITY_WARNING, "an entity has an expiry that the table does not know, or the other way round",
     "An attribute named like an expiry does nothing unless the table names it. Sessions and tokens then stay for ever, and every query reads them.",
     "Write `ttl NAME` in the table, and the attribute in the entities that expire.", .attribute = lint_ttl_unnamed, .table = lint_ttl_undeclared},
    {"L028", "unique-as-written", SEVERITY_WARNING, "an address or user name is unique, or looked up, as it was typed",
     "Upper and lower case make different values, so that one person registers twice, or cannot log in. Keys compare bytes.",
     "Add `lower`; the guard then stores and compares one form.", .attribute = lint_unique_as_written},
    {"L029", "unique-optional", SEVERITY_NOTE, "a unique attribute may be missing",
     "Only values that are there are kept unique: any number of items may have none. That is often meant (an optional phone number), and sometimes a forgotten requirement.",
     "Make it required if every item needs it.", .attribute = lint_unique_optional},
    {"L030", "key-not-immutable", SEVERITY_NOTE, "an attribute in a primary key is not marked immutable",
     "The guard refuses to change it in any case, because the key cannot change. Saying so in the model lets readers, generated types and forms know.",
     "Add `immutable`.", .primary = lint_key_not_immutable},
    {"L031", "local-index", SEVERITY_NOTE, "the table has a local index",
     "With local indexes all items of one partition key together may have 10 GB, and the index can neither be added nor dropped later. A global index has neither limit.",
     "Use a global index, unless reads of it must be strongly consistent.", .index = lint_local_index},
    {"L032", "unbounded-list", SEVERITY_NOTE, "an item has a list of objects without a limit",
     "An item has at most 400 KB, and each change of a list writes all of it again. A list that grows with use gets slow, then fails.",
     "Limit it, `Line[](0..100)`, or make its members items of their own.", .attribute = lint_unbounded_list},
    {"L033", "outsider", SEVERITY_WARNING, "an entity has the attributes of an index that it is not in",
     "Here the index leaves its items out. Amazon DynamoDB puts every item that has the key attributes into an index, so that a table that is copied there answers differently.",
     "Say that it is in the index (`INDEX = attribute, …`, or `for all` behind the index), or give one of the attributes another name.", .entity = lint_outsider},
    {"L034", "partial-items", SEVERITY_NOTE, "an access pattern reads an index that has only a part of its items",
     "What the index does not project is missing in the answer, except for what its keys tell. Generated types say so, but whoever expects whole items finds gaps.",
     "Project what the pattern needs, or read the rest by key.", .access = lint_partial_items},
    {"L035", "blind-filter", SEVERITY_WARNING, "a filter looks at an attribute that its index does not have",
     "An index shows a filter only what it projects; what is missing there is missing for every item. The pattern then finds nothing, or all, whatever the items hold.",
     "Project the attribute, or put it into the key of the index.", .access = lint_blind_filter},
    {"L036", "hot-counter", SEVERITY_WARNING, "all writes of an entity are counted in one item, or in a few",
     "A count is kept in the write's own transaction, so that each write also writes the item that counts. If that is one item for the whole table, it is the partition in which all writes meet.",
     "Count in an item that many share among them: per owner, per day, per shard.", .attribute = lint_hot_counter},
    {"L037", "counted-key", SEVERITY_WARNING, "a counted attribute is part of the key of an index",
     "Each item that comes or goes changes the count, and so moves the entry: two writes in the index for each write elsewhere. A busy counter moves its entry hundreds of times a second.",
     "Leave the count out of keys, and sort a short list in the application.", .attribute = lint_counted_key},
    {"L038", "unread-events", SEVERITY_WARNING, "events are emitted, and nothing reads them",
     "Each change pays for an event item. Without a publisher or a stream nobody hears of it.",
     "Write `publish OUTBOX to …`, or give the table a stream.", .entity = lint_unread_events},
    {"L039", "growing-events", SEVERITY_WARNING, "nothing removes the events that are emitted",
     "There is an event for each change of each item, delivered or not. Without an end the outbox becomes the largest part of the table.",
     "Write `retain OUTBOX for 30d then delete`, or give it a time to live.", .entity = lint_growing_events},
    {"L040", "dangling-reference", SEVERITY_NOTE, "a reference says nothing of deletes",
     "What is referred to has to be there when an item is written, and can be deleted afterwards. Readers then find references to nothing.",
     "Write `on delete reject`, `cascade` or `clear` behind it.", .entity = lint_dangling_reference},
    {"L041", "wide-cascade", SEVERITY_NOTE, "a delete takes along any number of other items",
     "All of them change in one transaction, which has a limit. Beyond it the delete is refused, and the others have to be deleted first.",
     "Use `on delete reject` where there can be thousands, and delete them in pages.", .entity = lint_wide_cascade},
    {"L042", "short-retain", SEVERITY_NOTE, "items are to be removed within a day",
     "A sweep walks over the whole table, once an hour if nothing else is said, so that items stay longer than the rule says. Expiry by a time to live is exact to seconds.",
     "Give the table a `ttl`, and the entity its attribute: `expiresAt epoch = createdAt + 1h`.", .entity = lint_short_retain},
    {"L043", "kept-and-removed", SEVERITY_NOTE, "an append-only entity is deleted after a while",
     "`append only` promises that nothing goes; the retention rule removes it without a copy.",
     "Write `then archive`.", .entity = lint_kept_and_removed},
    {"L044", "tenant-invisible", SEVERITY_WARNING, "nothing in an entity's key says whose it is",
     "A request that is bound to a tenant sees and writes only the tenant's items. An entity whose partition key does not say whose it is belongs to nobody.",
     "Put the tenant's attribute into its partition key, or write `shared` in it.", .entity = lint_tenant_invisible},
    {"L045", "shared-partition", SEVERITY_NOTE, "tenants share the partitions of an index",
     "A tenant that writes much makes the partition hot for all, and each query reads past the items of the others.",
     "Put the tenant's attribute into the partition key.", .key = lint_shared_partition},
    {"L046", "deleted-entries", SEVERITY_NOTE, "items that are deleted softly stay in an index",
     "They are stored and written there, and queries read past them. Patterns do not show them, but pay for them.",
     "Make the entry conditional: `GSI1 = … when deleted_at missing`.", .entity = lint_deleted_entries},
    {"L047", "loose-moves", SEVERITY_WARNING, "no transition names a value, or leads to it",
     "An item cannot come to have such a value, or can never leave it. Often a step was forgotten, or a value is no longer used.",
     "Add the step, or take the value out of the type.", .entity = lint_loose_moves},
    {"L048", "impossible-check", SEVERITY_WARNING, "no value that the types allow passes a check",
     "Each write of the entity is refused, whatever it says.",
     "Mend the check, or the range of the type.", .entity = lint_impossible_check},
    {"L049", "unmarked-events", SEVERITY_NOTE, "published events do not tell whether they were delivered",
     "The publisher knows its position; whoever looks at the items does not. A mark makes the undelivered ones a query.",
     "Write `mark status = \"published\"` in the publish rule.", .entity = lint_unmarked_events},
    {"L050", "endless-quota", SEVERITY_NOTE, "a quota is never reset",
     "What is counted only grows, so that the limit is one of a lifetime.",
     "Write `per month resets ATTRIBUTE`, if a period is meant.", .entity = lint_endless_quota},
    {"L051", "shared-object", SEVERITY_WARNING, "two items, or two rules, can have the same object",
     "An upload for one replaces the file of the other, and deleting one can delete the file of both. Whoever may read one item gets a link to the other's file.",
     "Put all attributes of the item's key into the path, or an id that is drawn by uuid() or ulid().", .object = lint_shared_object},
    {"L052", "moving-object", SEVERITY_WARNING, "something that changes is in the path of an object",
     "The file stays where it was uploaded. Once the value is another, links lead to nothing, and deleting the item leaves the file behind.",
     "Take it out of the path, or mark it immutable if it never changes.", .object = lint_moving_object},
    {"L053", "object-not-immutable", SEVERITY_NOTE, "an attribute in the path of an object is not marked immutable",
     "Nothing keeps it from being changed, and then the file is not found any more: it stays where it was uploaded.",
     "Add `immutable`.", .object = lint_object_not_immutable},
    {"L054", "left-objects", SEVERITY_NOTE, "items are removed by a rule, and their objects stay",
     "What nothing refers to any more is still stored and paid for.",
     "Write `on delete delete` in the rule of the object, or give the bucket a lifecycle.", .object = lint_left_objects},
    {"L055", "open-upload", SEVERITY_NOTE, "an object of any type or size can be uploaded",
     "A link for an upload goes to browsers. Without limits it takes a page with scripts, or whatever fits on the disk.",
     "Write `type \"image/jpeg\"` and `at most 10MB` in the rule.", .object = lint_open_upload},
    {"L056", "moving-row", SEVERITY_NOTE, "the key of a projected row can change",
     "A row whose key changes is deleted, and another one is inserted: what refers to it in SQL refers to nothing, or goes along.",
     "Use the attributes of the item's key, or mark the attribute immutable.", .project = lint_moving_row},
    {"L057", "unindexed-column", SEVERITY_NOTE, "no index of a projected table begins with what a pattern asks for",
     "What is a Query here is a scan of the whole table there. A mapping that lists columns has only the indexes that it lists.",
     "Add `index (…)` with the columns of the pattern, those that are compared by = first.", .project = lint_unindexed_column},
    {"L058", "deleted-rows", SEVERITY_WARNING, "projected rows do not tell that their item is deleted",
     "An item that is deleted softly keeps its row. Without the attribute that says so, SQL counts and shows it like any other.",
     "Add the attribute as a column, and a view that leaves such rows out.", .project = lint_deleted_rows},
    {"L059", "open-rows", SEVERITY_WARNING, "projected rows of all tenants are open to every role",
     "Row-level security needs a column that says whose a row is. A table without one shows every tenant's rows to whoever may read it.",
     "Add the tenant's attribute as a column, or `tenant via COLUMN to ENTITY`; `tenant` in the braces closes all other tables.", .project = lint_open_rows},
    {"L060", "secret-in-address", SEVERITY_WARNING, "the address of a database has a password in it",
     "A model is stored, shown and committed, and so is the password.",
     "Write `password env \"DOLMEN_…\"` or `password file \"…\"` in the rule.", .project = lint_secret_in_address},
    {"L061", "unstreamed-projection", SEVERITY_WARNING, "a projection without an address is of a table without a stream",
     "Without `into`, rows are kept in step from outside, by `dolmen project`, which reads the stream of the table with the images before and after each change.",
     "Write `stream new_and_old_images` in the table, or `into \"postgresql://…\"` in the rule.", .project = lint_unstreamed_projection},
    {"L062", "write-only", SEVERITY_WARNING, "policies let nobody read an entity",
     "An entity with an `allow` is closed. Without one that lets somebody read, its items are as if they were not there, so that they cannot be updated or deleted either.",
     "Add `allow read ENTITY to …`, unless it is a box that is only filled.", .entity = lint_write_only},
    {"L063", "unreadable-pattern", SEVERITY_WARNING, "policies let nobody read what a pattern returns",
     "The pattern answers with nothing to everyone whom policies bind.",
     "Add `allow read ENTITY to …`, or drop the pattern.", .access = lint_unreadable_pattern},
    {"L064", "self-promotion", SEVERITY_WARNING, "whoever may update an item can change what policies ask of it",
     "A policy asks for the value of an attribute, and another one lets callers update the item without a say in it: they write the value that gives them more.",
     "Protect it with `deny update of ATTRIBUTE of ENTITY unless …`, or make it immutable.", .entity = lint_self_promotion},
    {"L065", "lonely-tag", SEVERITY_NOTE, "a tag of the caller is asked for once, and is spelt almost like another",
     "A tag that the caller does not have meets no test. A misspelt one allows nothing, to nobody, without an error.",
     "Mend the name, or leave it if both tags exist.", .entity = lint_lonely_tag},
};
// clang-format on

const struct lint_rule *lint_rules(size_t *count)
{
    *count = COUNT_OF(rules);
    return rules;
}

// ---- Reporting -----------------------------------------------------------------------------

static const char *format_text(struct arena *arena, const char *format, va_list arguments)
{
    char text[2048];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    struct slice kept = arena_copy(arena, slice_str(text));
    return kept.ptr == NULL ? "" : (const char *)kept.ptr;
}

const char *lint_text(struct lint *lint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(lint->arena, format, arguments);
    va_end(arguments);
    return text;
}

static bool make_room(struct lint *lint)
{
    if (lint->count < lint->room)
        return true;
    size_t room = lint->room == 0 ? 64 : 2 * lint->room;
    struct lint_finding *list = arena_zalloc(lint->arena, room, sizeof(*list));
    if (list == NULL)
        return false;
    if (lint->count > 0)
        memcpy(list, lint->findings, lint->count * sizeof(*list));
    lint->findings = list;
    lint->room = room;
    return true;
}

void lint_find(struct lint *lint, struct model_place at, const char *help, const char *format, ...)
{
    va_list arguments;
    if (!make_room(lint))
        return;
    va_start(arguments, format);
    const char *message = format_text(lint->arena, format, arguments);
    va_end(arguments);
    lint->findings[lint->count++] = (struct lint_finding){
        .rule = lint->rule,
        .diagnostic = {.severity = lint->rule->severity,
                       .code = lint->rule->code,
                       .at = at,
                       .message = message,
                       .help = help == NULL ? lint->rule->fix : help},
    };
}

// ---- Suppressing ---------------------------------------------------------------------------

static bool names_rule(struct slice text, const struct lint_rule *rule)
{
    return slice_is(text, rule->code) || slice_is(text, rule->name) || slice_is(text, "all");
}

// A line of a comment "lint: ignore-file L001, hot-partition" anywhere in the file.
static bool ignored_in_file(const struct model *model, const struct lint_rule *rule)
{
    static const struct slice mark = SLICE_LIT("lint: ignore-file");
    struct slice rest = model->text;
    while (rest.len > 0) {
        const uint8_t *found = memmem(rest.ptr, rest.len, mark.ptr, mark.len);
        if (found == NULL)
            return false;
        const uint8_t *at = found + mark.len;
        const uint8_t *end = rest.ptr + rest.len;
        while (at < end && *at != '\n') {
            const uint8_t *word = at;
            while (at < end && (*at == '-' || (*at >= '0' && *at <= '9') ||
                                (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z')))
                at++;
            if (at > word && names_rule(slice_of(word, (size_t)(at - word)), rule))
                return true;
            if (at < end && at == word)
                at++;
        }
        rest = slice_of(at, (size_t)(end - at));
    }
    return false;
}

static bool ignored(const struct model *model, const struct lint_finding *finding)
{
    uint32_t line = finding->diagnostic.at.line;
    for (size_t i = 0; i < model->suppression_count; i++) {
        const struct model_suppression *s = &model->suppressions[i];
        if (line >= s->line && line <= s->until && names_rule(s->code, finding->rule))
            return true;
    }
    return ignored_in_file(model, finding->rule);
}

// By line, then by rule: what is wrong with one declaration stays together. The message last, so
// that the order does not depend on qsort.
static int compare_findings(const void *a, const void *b)
{
    const struct lint_finding *one = a;
    const struct lint_finding *other = b;
    const struct model_place *at = &one->diagnostic.at;
    const struct model_place *to = &other->diagnostic.at;
    if (at->line != to->line)
        return at->line < to->line ? -1 : 1;
    if (one->rule != other->rule)
        return one->rule < other->rule ? -1 : 1;
    if (at->column != to->column)
        return at->column < to->column ? -1 : 1;
    return strcmp(one->diagnostic.message, other->diagnostic.message);
}

// ---- Running -------------------------------------------------------------------------------

static void judge_key(struct lint *lint, const struct lint_rule *rule, const struct lint_key *key)
{
    if (rule->key != NULL)
        rule->key(lint, key);
    if (rule->primary != NULL && key->index == NULL)
        rule->primary(lint, key);
    size_t parts = key->schema->hash_count + key->schema->range_count;
    for (size_t i = 0; rule->part != NULL && i < parts; i++)
        if (key->parts[i].template != NULL)
            rule->part(lint, key, &key->parts[i]);
}

static void judge_entity(struct lint *lint, const struct lint_rule *rule,
                         const struct model_entity *entity)
{
    if (rule->entity != NULL)
        rule->entity(lint, entity);
    for (size_t i = 0; rule->attribute != NULL && i < entity->attribute_count; i++)
        rule->attribute(lint, entity, &entity->attributes[i]);
    for (size_t i = 0; i <= entity->table->index_count; i++) {
        struct lint_key key;
        if (lint_key_of(entity, i == 0 ? NULL : &entity->table->indexes[i - 1], &key))
            judge_key(lint, rule, &key);
    }
}

static void judge_table(struct lint *lint, const struct lint_rule *rule,
                        const struct model_table *table)
{
    if (rule->table != NULL)
        rule->table(lint, table);
    for (size_t i = 0; rule->index != NULL && i < table->index_count; i++)
        rule->index(lint, table, &table->indexes[i]);
    for (size_t i = 0; rule->access != NULL && i < table->access_count; i++)
        rule->access(lint, &table->accesses[i]);
    for (size_t i = 0; i < table->entity_count; i++)
        judge_entity(lint, rule, &table->entities[i]);
}

static void judge_rules(struct lint *lint, const struct lint_rule *rule)
{
    const struct model_rules *rules_of = lint->model->rules_of;
    for (size_t i = 0; rule->object != NULL && i < rules_of->object_count; i++)
        rule->object(lint, &rules_of->objects[i]);
    for (size_t i = 0; rule->project != NULL && i < rules_of->project_count; i++)
        rule->project(lint, &rules_of->projects[i]);
}

bool lint_run(const struct model *model, struct arena *arena, struct lint *out)
{
    *out = (struct lint){.model = model, .arena = arena};
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        out->rule = &rules[i];
        for (size_t t = 0; t < model->table_count; t++)
            judge_table(out, &rules[i], &model->tables[t]);
        judge_rules(out, &rules[i]);
    }
    if (out->count > 0)
        qsort(out->findings, out->count, sizeof(*out->findings), compare_findings);
    for (size_t i = 0; i < out->count; i++) {
        struct lint_finding *finding = &out->findings[i];
        finding->suppressed = ignored(model, finding);
        if (finding->suppressed)
            out->suppressed++;
        else if (finding->diagnostic.severity == SEVERITY_NOTE)
            out->notes++;
        else
            out->warnings++;
    }
    return arena_alloc(arena, 1) != NULL;
}
