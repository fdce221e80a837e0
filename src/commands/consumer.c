// `dolmen consumers` and `dolmen consumer`: what delivers the events of `publish` rules, how far it
// is, and what it has failed at.
#include "cli/change.h"

#include <stdio.h>
#include <stdlib.h>

static void show_consumer(struct slice consumer)
{
    json_print(consumer, "{TableName} {ConsumerName} to {Target}\n");
    json_print(consumer, "  {State}, {LagRecords} behind, {LagSeconds} s; {Delivered} delivered, "
                         "{Failed} failed, {DeadLetters} dead letters\n");
    (void)json_print_given(consumer, "Reason", "  {Reason}\n");
}

static void show_consumers(struct slice answer)
{
    json_each(answer, "Consumers", show_consumer);
}

static void show_one(struct slice answer)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    show_consumer(json_member(answer, "Consumer", &arena));
    arena_release(&arena);
}

static void show_letter(struct slice letter)
{
    json_print(letter, "{Sequence} {Type} {EventId}, {Attempts} attempts: {Reason}\n  {Keys}\n");
}

static void show_letters(struct slice answer)
{
    json_each(answer, "DeadLetters", show_letter);
    (void)json_print_given(answer, "LastSequence",
                           "more: dolmen consumer dead-letters … --after {LastSequence}\n");
}

static void show_count(struct slice answer)
{
    (void)json_print_given(answer, "Retried", "{Retried} sent again\n");
    (void)json_print_given(answer, "Dropped", "{Dropped} dropped\n");
}

bool cli_consumers(struct cli_input *input)
{
    struct target target;
    if (!target_open(&target, input))
        return false;
    int status = input->argument_count == 0 ? target_ask(&target, "ListConsumers", "{}")
                                            : target_ask(&target, "ListConsumers",
                                                         "{'TableName':%s}", input->arguments[0]);
    bool ok = target_fine(&target, status) && change_print(&target, show_consumers);
    target_close(&target);
    return ok;
}

// ---- One of them ------------------------------------------------------------------------------

static int ask_update(struct target *target, const char *action)
{
    const struct cli_input *input = target->input;
    const char *from = cli_value(input, "--from", NULL);
    return from == NULL ? target_ask(target, "UpdateConsumer",
                                     "{'TableName':%s,'ConsumerName':%s,'Action':%s}",
                                     input->arguments[1], input->arguments[2], action)
                        : target_ask(target, "UpdateConsumer",
                                     "{'TableName':%s,'ConsumerName':%s,'Action':%s,'From':%s}",
                                     input->arguments[1], input->arguments[2], action, from);
}

// A number that is an option is left out if it is 0.
static int ask_letters(struct target *target, const char *operation, const char *option,
                       const char *member, bool drop)
{
    const struct cli_input *input = target->input;
    const char *number = cli_value(input, option, NULL);
    long long sequence = number == NULL ? 0 : strtoll(number, NULL, 10);
    struct buf body;
    buf_init(&body, 1 << 16);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", input->arguments[1]);
    json_put_text(&w, "ConsumerName", input->arguments[2]);
    if (sequence != 0)
        json_put_integer(&w, member, sequence);
    if (drop)
        json_put_flag(&w, "Drop", true);
    json_close_object(&w);
    int status = target_call(target, operation, buf_view(&body));
    buf_release(&body);
    return status;
}

static bool do_action(struct cli_input *input, struct target *target, const char *action)
{
    static const struct {
        const char *word;
        const char *action;
    } updates[] = {
        {"pause", "PAUSE"}, {"resume", "RESUME"}, {"replay", "REPLAY"}, {"backfill", "BACKFILL"}};
    for (size_t i = 0; i < COUNT_OF(updates); i++)
        if (strcmp(action, updates[i].word) == 0)
            return target_fine(target, ask_update(target, updates[i].action)) &&
                   change_print(target, show_one);
    if (strcmp(action, "dead-letters") == 0)
        return target_fine(target, ask_letters(target, "ListDeadLetters", "--after",
                                               "ExclusiveStartSequence", false)) &&
               change_print(target, show_letters);
    bool drop = strcmp(action, "drop") == 0;
    if (drop || strcmp(action, "retry") == 0)
        return target_fine(target, ask_letters(target, "RetryDeadLetters", "--sequence", "Sequence",
                                               drop)) &&
               change_print(target, show_count);
    return cli_misused(input,
                       "'%s' is nothing that a consumer can do: pause, resume, replay, backfill, "
                       "dead-letters, retry or drop.",
                       action);
}

bool cli_consumer(struct cli_input *input)
{
    struct target target;
    if (input->argument_count < 3)
        return cli_misused(input, "Say what to do, the table, and the consumer.");
    if (!target_open(&target, input))
        return false;
    bool ok = do_action(input, &target, input->arguments[0]);
    target_close(&target);
    return ok;
}
