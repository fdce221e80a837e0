// `dolmen report`: what a table's model would refuse if it were enforced, and the lines that would
// accept it (src/report).
#include "cli/target.h"

#include "base/error.h"
#include "guard/guard.h"
#include "transfer/files.h"

enum { ANSWER_MEMORY = 256 << 20, SAMPLES_SHOWN = 3 };

// "12 writes", "1 item".
static void print_count(int64_t count, bool scanned)
{
    printf("%lld %s%s", (long long)count, scanned ? "item" : "write", count == 1 ? "" : "s");
}

static void print_samples(struct slice finding, struct arena *arena)
{
    struct json_list samples = json_list(finding, "Samples", arena);
    struct slice sample;
    size_t shown = 0;
    while (json_list_next(&samples, &sample)) {
        if (shown == SAMPLES_SHOWN) {
            printf(", …");
            return;
        }
        printf("%s", shown++ == 0 ? "" : ", ");
        json_print(sample, "{Value}");
    }
}

static void print_finding(struct slice finding, bool scanned, struct arena *arena)
{
    struct json_list samples = json_list(finding, "Samples", arena);
    struct slice sample = {NULL, 0};
    printf("  ");
    json_print(finding, "{Path}: ");
    print_count(json_member_number(finding, "Count"), scanned);
    bool unknown = slice_is(json_member_text(finding, "Expected", arena), MODEL_EXPECTED_NONE);
    json_print(finding, unknown ? ", no such attribute: " : ", expected {Expected}, got ");
    print_samples(finding, arena);
    if (json_list_next(&samples, &sample))
        json_print(sample, "\n      such as {Key}");
    if (!json_member_flag(finding, "Refused"))
        printf("\n      (a warning only, also when the model is enforced)");
    else if (!json_member_flag(finding, "Proposed"))
        printf("\n      (no line of the model can accept this)");
    printf("\n");
}

static void print_findings(struct slice report, bool scanned, struct arena *arena)
{
    struct json_list findings = json_list(report, "Findings", arena);
    struct slice entity = {NULL, 0};
    struct slice one;
    while (json_list_next(&findings, &one)) {
        struct slice own = json_member_text(one, "Entity", arena);
        if (!slice_equal(own, entity))
            printf("\nentity %.*s\n", SLICE_FMT(own));
        entity = own;
        print_finding(one, scanned, arena);
    }
}

static void print_proposals(struct slice report, struct arena *arena)
{
    struct json_list lines = json_list(report, "Lines", arena);
    struct slice entities = json_member_text(report, "Entities", arena);
    struct slice file = json_member_text(report, "FileName", arena);
    struct slice line;
    bool any = false;
    while (json_list_next(&lines, &line)) {
        printf("%s", any ? "" : "\nThese lines would accept it:\n");
        any = true;
        printf("  %.*s", SLICE_FMT(file));
        json_print(line, json_member_flag(line, "New") ? ", behind line {At#}:  {Line}\n"
                                                       : ", line {At#}:  {Line}\n");
    }
    if ((any || entities.len > 0) && !json_member_flag(report, "ModelValid"))
        printf("With them the model has errors, which 'dolmen check' tells: mend them first.\n");
    if (entities.len > 0)
        printf("\nThese entities would accept items that are of none:\n%.*s", SLICE_FMT(entities));
}

static void print_report(struct slice report, bool scanned, struct arena *arena)
{
    int64_t count = json_member_number(report, "Count");
    int64_t refused = json_member_number(report, "Refused");
    int64_t unmatched = json_member_number(report, "OfNoEntity");
    int64_t duplicates = json_member_number(report, "Duplicates");
    json_print(report, "table {TableName}, guard {Guard}: ");
    if (scanned)
        json_print(report, "{Examined#} items looked at. ");
    if (count == 0 && duplicates == 0) {
        printf("nothing would be refused.\n");
        return;
    }
    print_count(refused, scanned);
    printf(" would be refused if the model were enforced");
    if (count > refused)
        printf(", %lld more only warned about", (long long)(count - refused));
    printf(".\n");
    print_findings(report, scanned, arena);
    if (unmatched > 0) {
        printf("\nof no entity: ");
        print_count(unmatched, scanned);
        printf("\n");
    }
    if (duplicates > 0)
        printf("\nnot unique: %lld value%s\n", (long long)duplicates, duplicates == 1 ? "" : "s");
    if (json_member_number(report, "OtherFindings") > 0)
        json_print(report, "\nand {OtherFindings} findings that are not told apart\n");
    print_proposals(report, arena);
}

static bool write_model(struct cli_input *input, struct slice report, struct arena *arena)
{
    const char *path = cli_value(input, "--out", NULL);
    struct error error;
    error_init(&error, arena);
    return path == NULL || files_write(path, json_member_text(report, "Model", arena), &error) ||
           cli_fail(input, "%s.", error.message);
}

// Whether there is nothing that would be refused.
static bool show(struct cli_input *input, struct slice report)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    if (cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(report));
    else
        print_report(report, cli_given(input, "--scan"), &arena);
    bool clean =
        json_member_number(report, "Refused") + json_member_number(report, "Duplicates") == 0;
    bool ok = fflush(stdout) == 0 && write_model(input, report, &arena) && clean;
    arena_release(&arena);
    return ok;
}

bool cli_report(struct cli_input *input)
{
    struct target target;
    unsigned sample;
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    if (!cli_number(input, "--sample", 0, 1, 1000000000, &sample))
        return false;
    bool ok = target_open(&target, input);
    target.patience_s = 24 * 3600; // all items may have to be read before the answer
    int status =
        !ok ? 0
            : target_ask(&target, "DescribeModelReport",
                         "{'TableName':%s,'Scan':%hhd,'Sample':%d,'Forget':%hhd}",
                         input->arguments[0], cli_given(input, "--scan"),
                         sample > 0 ? (int)sample : INT32_MAX, cli_given(input, "--forget"));
    ok = ok && target_fine(&target, status) && show(input, buf_view(&target.response));
    target_close(&target);
    return ok;
}
