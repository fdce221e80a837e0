// See database.h.
#include "cli/database.h"

#include <string.h>

static bool durability_parse(const struct cli_input *input, enum store_durability *out)
{
    const char *text = cli_value(input, "--durability", "full");
    *out = strcmp(text, "relaxed") == 0 ? STORE_RELAXED : STORE_FULL;
    if (*out == STORE_RELAXED || strcmp(text, "full") == 0)
        return true;
    (void)cli_fail(input->command, CLI_USAGE, "--durability must be full or relaxed, not '%s'.",
                   text);
    return false;
}

static void tell_open_failed(const struct cli_input *input, const char *path,
                             const struct store_error *error)
{
    if (error->in_use)
        (void)cli_fail(input->command, CLI_FAILED,
                       "the data directory '%s' is in use by another process.", path);
    else
        (void)cli_fail(input->command, CLI_FAILED, "cannot open '%s': %s",
                       path == NULL ? "memory" : path, error->text);
}

struct api *cli_database_open(const struct cli_input *input, const struct store_options *wanted,
                              struct budget *budget, struct store **below, int *code)
{
    struct store_options options = *wanted;
    const char *path = options.path;
    struct store_error error = {.text = ""};
    if (!durability_parse(input, &options.durability)) {
        *code = CLI_USAGE;
        return NULL;
    }
    *code = CLI_FAILED;
    struct store *store =
        path == NULL ? store_open_memory(&error) : store_open_rocksdb(&options, &error);
    if (store == NULL) {
        tell_open_failed(input, path, &error);
        return NULL;
    }
    struct api_options of_api = {.store = store, .env = env_system(), .budget = budget};
    struct api *api = api_open(&of_api, &error);
    if (api == NULL) {
        tell_open_failed(input, path, &error);
        store_close(store);
    } else if (below != NULL) {
        *below = store;
    }
    return api;
}
