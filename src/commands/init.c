// `dolmen init --secure`: everything that a server needs to face a network, made once: a master key
// outside of the data, an administrator with an access key, and a configuration.
//
// It works on the directory itself, before any server does: that is how the first identity comes to
// be, for whom nobody could sign yet. Where it was interrupted it goes on: the configuration is
// the last file that it makes.
#include "cli/target.h"
#include "crypt/certificate.h"
#include "identity/identity.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADMIN_POLICY "AdministratorAccess"
#define ADMIN_DOCUMENT                                                                             \
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"Everything\",\"Effect\":\"Allow\","     \
    "\"Action\":\"*\",\"Resource\":\"*\"}]}"

enum { PLACE = PATH_MAX + 64, INIT_MEMORY = 16 << 20 };

struct init {
    struct cli_input *input;
    char root[PATH_MAX];
    char data[PLACE];
    char master[PLACE];
    char config[PLACE];
    char authority[PLACE];
    char authority_key[PLACE];
    char certificate[PLACE];
    char certificate_key[PLACE];
    const char *user;
    char key[IDENTITY_ID];
    char secret[IDENTITY_SECRET];
    const char *host;
    unsigned port;
};

static bool make_directory(struct init *init, const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ||
           cli_fail(init->input, "cannot make the directory '%s': %s.", path, strerror(errno));
}

// A new file with that mode, whole and on disk.
static bool make_file(struct init *init, const char *path, struct slice text, mode_t mode)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    bool made = fd >= 0 && file_write(fd, text) && fsync(fd) == 0;
    if (fd >= 0)
        made = close(fd) == 0 && made;
    return made || cli_fail(init->input, "cannot write '%s': %s.", path, strerror(errno));
}

static void place(const struct init *init, char out[PLACE], const char *name)
{
    (void)snprintf(out, PLACE, "%s/%s", init->root, name);
}

static bool places_make(struct init *init)
{
    char secrets[PLACE];
    const char *directory = cli_argument(init->input, 0, "dolmen");
    if (!make_directory(init, directory))
        return false;
    if (realpath(directory, init->root) == NULL)
        return cli_fail(init->input, "cannot find '%s': %s.", directory, strerror(errno));
    (void)snprintf(secrets, sizeof(secrets), "%s/secrets", init->root);
    place(init, init->data, "data");
    place(init, init->master, "secrets/master.key");
    place(init, init->config, "dolmen.conf");
    place(init, init->authority, "ca.crt");
    place(init, init->authority_key, "secrets/ca.key");
    place(init, init->certificate, "server.crt");
    place(init, init->certificate_key, "secrets/server.key");
    if (access(init->config, F_OK) == 0)
        return cli_fail(init->input, "'%s' is there already: '%s' has been prepared before.",
                        init->config, directory);
    return make_directory(init, secrets);
}

// The master key: 64 digits, that its owner alone may read. One that is there is kept, for
// something may be sealed under it.
static bool master_make(struct init *init)
{
    struct crypt_key key;
    char text[2 * CRYPT_KEY + 2];
    if (access(init->master, F_OK) == 0)
        return true;
    crypt_key_make(&key);
    for (size_t i = 0; i < CRYPT_KEY; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", key.bytes[i]);
    text[sizeof(text) - 2] = '\n';
    bool made = make_file(init, init->master, slice_of(text, sizeof(text) - 1), 0600);
    crypt_key_wipe(&key);
    explicit_bzero(text, sizeof(text));
    return made;
}

// An authority of its own, and a certificate of the server that it has signed.
static bool certificates_make(struct init *init)
{
    enum { NAMES = 32 };
    char error[512];
    const char *names[NAMES];
    struct certificate_wish wish = {.authority_certificate = init->authority,
                                    .authority_key = init->authority_key,
                                    .certificate = init->certificate,
                                    .key = init->certificate_key,
                                    .names = names};
    const char *name;
    for (size_t i = 0; (name = cli_repeated(init->input, "--name", i)) != NULL; i++) {
        if (i == NAMES)
            return cli_misused(init->input, "--name: there may be %d.", NAMES);
        names[wish.name_count++] = name;
    }
    return certificate_make(&wish, error, sizeof(error)) || cli_fail(init->input, "%s.", error);
}

// A user, the policy that lets him do everything, and his key.
static bool admin_put(struct init *init, struct identity *identity, struct arena *arena,
                      struct error *error)
{
    struct identity_change change;
    char user_id[IDENTITY_ID];
    char policy_id[IDENTITY_ID];
    int64_t now = identity_now_ms(identity);
    struct identity_entity *parts = arena_zalloc(arena, 3, sizeof(*parts));
    if (parts == NULL)
        return error_budget(error);
    identity_make_id("AIDA", user_id);
    identity_make_id("ANPA", policy_id);
    identity_make_id("AKIA", init->key);
    identity_make_secret(init->secret);
    struct identity_entity *policy = &parts[0];
    struct identity_entity *user = &parts[1];
    struct identity_entity *key = &parts[2];
    policy->kind = IDENTITY_POLICY;
    policy->name = SLICE_LIT(ADMIN_POLICY);
    policy->id = slice_str(policy_id);
    policy->description = SLICE_LIT("Everything is allowed");
    policy->document = SLICE_LIT(ADMIN_DOCUMENT);
    user->kind = IDENTITY_USER;
    user->name = slice_str(init->user);
    user->id = slice_str(user_id);
    user->attached[user->attached_count++].name = policy->name;
    key->kind = IDENTITY_KEY;
    key->name = slice_str(init->key);
    key->user = user->name;
    key->secret = slice_str(init->secret);
    identity_change_begin(&change, identity, arena, error);
    for (size_t i = 0; i < 3; i++) {
        parts[i].path = SLICE_LIT("/");
        parts[i].created_ms = now;
        identity_change_put(&change, &parts[i]);
    }
    bool done = identity_change_commit(&change);
    identity_change_end(&change);
    return done;
}

static bool admin_make(struct init *init)
{
    char text[512];
    char source[PLACE + 8];
    struct arena arena;
    struct error error;
    struct crypt_key master;
    (void)snprintf(source, sizeof(source), "file:%s", init->master);
    if (!crypt_master_read(source, &master, text, sizeof(text)))
        return cli_fail(init->input, "%s.", text);
    // A directory that is made with a master key is encrypted.
    struct api *api = database_open(
        init->input, &(struct store_options){.path = init->data, .master = &master}, NULL);
    crypt_key_wipe(&master);
    if (api == NULL)
        return false;
    (void)snprintf(source, sizeof(source), "file:%s", init->master);
    arena_init(&arena, INIT_MEMORY);
    error_init(&error, &arena);
    bool made =
        api_set_master_key(api, source, text, sizeof(text)) || cli_fail(init->input, "%s.", text);
    if (made)
        made = admin_put(init, api_identity(api), &arena, &error) ||
               cli_fail(init->input, "the administrator cannot be kept: %s.",
                        error.message == NULL ? "" : error.message);
    arena_release(&arena);
    api_close(api);
    return made;
}

static bool config_make(struct init *init)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_printf(&text,
               "# Made by 'dolmen init --secure'. Each line is an option of 'dolmen serve'.\n"
               "host = %s\n"
               "port = %u\n"
               "data = %s\n"
               "auth = enforce\n"
               "master-key = file:%s\n"
               "tls-cert = %s\n"
               "tls-key = %s\n",
               init->host, init->port, init->data, init->master, init->certificate,
               init->certificate_key);
    const char *name;
    for (size_t i = 0; (name = cli_repeated(init->input, "--name", i)) != NULL; i++)
        buf_printf(&text, "allowed-host = %s\n", name);
    bool made = make_file(init, init->config, buf_view(&text), 0600);
    buf_release(&text);
    return made;
}

static void report(const struct init *init)
{
    printf(
        "A secured server is prepared in %s.\n"
        "\n"
        "  data            %s\n"
        "  master key      %s\n"
        "  configuration   %s\n"
        "\n"
        "Keep a copy of the master key in another place than the backups of the data: without it\n"
        "the data cannot be read. The administrator's secret is shown\n"
        "this once:\n"
        "\n"
        "  export AWS_ACCESS_KEY_ID=%s\n"
        "  export AWS_SECRET_ACCESS_KEY=%s\n"
        "  export AWS_REGION=us-east-1\n"
        "  export AWS_CA_BUNDLE=%s\n"
        "\n"
        "Start the server, and ask it for something:\n"
        "\n"
        "  dolmen serve --config %s\n"
        "  aws dynamodb list-tables --endpoint-url https://localhost:%u\n",
        init->root, init->data, init->master, init->config, init->key, init->secret,
        init->authority, init->config, init->port);
}

static void report_json(const struct init *init)
{
    struct buf text;
    struct json_writer w = json_writer_to(&text);
    buf_init(&text, 1 << 20);
    json_form(&w,
              "{'Directory':%s,'Data':%s,'MasterKey':%s,'Authority':%s,'Configuration':%s,"
              "'UserName':%s,'AccessKeyId':%s,'SecretAccessKey':%s}",
              init->root, init->data, init->master, init->authority, init->config, init->user,
              init->key, init->secret);
    buf_byte(&text, '\n');
    (void)cli_print(&text, stdout);
}

bool cli_init(struct cli_input *input)
{
    struct init init = {.input = input,
                        .user = cli_value(input, "--user", "admin"),
                        .host = cli_value(input, "--host", "127.0.0.1")};
    if (!cli_given(input, "--secure"))
        return cli_misused(input, "give --secure. A server without it needs no preparation: "
                                  "'dolmen serve' starts one.");
    if (!cli_number(input, "--port", 8000, 1, 65535, &init.port) || !places_make(&init) ||
        !master_make(&init) || !certificates_make(&init) || !admin_make(&init) ||
        !config_make(&init))
        return false;
    if (cli_given(input, "--json"))
        report_json(&init);
    else
        report(&init);
    explicit_bzero(&init, sizeof(init));
    return true;
}
