// `dolmen encryption`: the keys of an encrypted data directory, looked at and changed.
#include "cli/target.h"

#include "base/time_text.h"
#include "identity/identity.h"
#include "rocks/encryption.h"

#include <stdio.h>

static bool fail(struct cli_input *input, const struct store_error *error)
{
    return cli_fail(input, "%s%s.", error->text, error->in_use ? "; stop it first" : "");
}

static bool show_status(struct cli_input *input, const char *data, const struct crypt_key *master)
{
    char name[CRYPT_NAME];
    struct encryption_status status;
    struct store_error error;
    if (!encryption_look(data, master, &status, &error))
        return fail(input, &error);
    crypt_key_name(master, name);
    printf("%s is encrypted under the master key %s\n", data, name);
    for (size_t i = 0; i < status.count; i++) {
        const struct encryption_use *use = &status.keys[i];
        char made[TIME_TEXT];
        time_text(use->made_s * 1000, made);
        printf("data key %u, made %s: %llu file%s, %llu KB%s\n", use->id, made,
               (unsigned long long)use->files, use->files == 1 ? "" : "s",
               (unsigned long long)((use->bytes + 1023) >> 10),
               i + 1 == status.count ? "; new files use it" : "");
    }
    if (status.others > 0)
        printf("%llu file%s not encrypted with any of them: run 'dolmen verify'\n",
               (unsigned long long)status.others, status.others == 1 ? " is" : "s are");
    return fflush(stdout) == 0;
}

// Has the identities of the directory, which opens with `master`, opened by all of these master
// keys from now on.
static bool rewrap(struct cli_input *input, const char *data, const struct crypt_key *master,
                   const struct crypt_key *const *masters, size_t count)
{
    struct store_error error = {.text = ""};
    char why[512] = "";
    struct arena arena;
    struct error failure;
    struct store *store =
        store_open_rocksdb(&(struct store_options){.path = data, .master = master}, &error);
    struct api *api =
        store == NULL
            ? NULL
            : api_open(&(struct api_options){.store = store, .env = env_system()}, &error);
    if (api == NULL) {
        store_close(store);
        return fail(input, &error);
    }
    arena_init(&arena, 1 << 16);
    error_init(&failure, &arena);
    bool ok = (api_use_master_key(api, master, why, sizeof(why)) || cli_fail(input, "%s.", why)) &&
              (identity_rewrap(api_identity(api), masters, count, &failure) ||
               cli_fail(input, "%s.", failure.message));
    arena_release(&arena);
    api_close(api);
    return ok;
}

static bool rotate_master(struct cli_input *input, const char *data, const struct crypt_key *master)
{
    char why[512];
    char name[CRYPT_NAME];
    struct crypt_key next;
    struct store_error error;
    const char *source = cli_value(input, "--new-master-key", NULL);
    if (source == NULL)
        return cli_misused(input, "name the new key with --new-master-key.");
    if (!crypt_master_read(source, &next, why, sizeof(why)))
        return cli_fail(input, "%s.", why);
    crypt_key_name(&next, name);
    // Both keys open the identities while the directory changes its own: a crash leaves one that
    // does.
    const struct crypt_key *const both[] = {master, &next};
    bool ok = rewrap(input, data, master, both, 2) &&
              (encryption_rotate_master(data, master, &next, &error) || fail(input, &error)) &&
              rewrap(input, data, &next, both + 1, 1);
    crypt_key_wipe(&next);
    if (!ok)
        return false;
    printf("%s opens with the master key %s from now on\n", data, name);
    return fflush(stdout) == 0;
}

static bool rotate_data(struct cli_input *input, const char *data, const struct crypt_key *master)
{
    size_t forgotten = 0;
    struct store_error error;
    if (!encryption_rotate_data(data, master, &forgotten, &error))
        return fail(input, &error);
    printf("new files of %s are encrypted with a new data key", data);
    if (forgotten > 0)
        printf("; %zu that no file used %s forgotten", forgotten, forgotten == 1 ? "was" : "were");
    printf("\n");
    return fflush(stdout) == 0;
}

bool cli_encryption(struct cli_input *input)
{
    static const struct {
        const char *name;
        bool (*run)(struct cli_input *input, const char *data, const struct crypt_key *master);
    } actions[] = {
        {"status", show_status}, {"rotate-master", rotate_master}, {"rotate-data", rotate_data}};
    struct crypt_key master;
    struct store_options options = {.path = NULL};
    if (input->argument_count != 2)
        return cli_misused(input, "say what to do (status, rotate-master or rotate-data), and name "
                                  "the data directory.");
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (strcmp(input->arguments[0], actions[i].name) != 0)
            continue;
        if (!target_master(input, &master, &options))
            return false;
        if (options.master == NULL)
            return cli_misused(input, "name the master key with --master-key.");
        bool ok = actions[i].run(input, input->arguments[1], &master);
        crypt_key_wipe(&master);
        return ok;
    }
    return cli_misused(input, "'%s' is not status, rotate-master or rotate-data.",
                       input->arguments[0]);
}
