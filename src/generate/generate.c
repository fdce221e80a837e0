// The one table of generators: the command line, its help and the tests are made of it.
#include "generate/generate.h"

#include "write/text.h"

enum { TEXTS_MAX = 256 << 20 }; // bytes that a generator makes on the way

static const struct generator list[] = {
#define X(name, summary, files, suffix, write, suffix2, write2)                                    \
    {name, summary, files, {{suffix, write}, {suffix2, write2}}},
    GENERATOR_LIST(X)
#undef X
        {NULL, NULL, 0, {{NULL, NULL}, {NULL, NULL}}},
};

const struct generator *generators(void)
{
    return list;
}

const struct generator *generator_find(const char *name)
{
    for (const struct generator *generator = list; generator->name != NULL; generator++) {
        if (strcmp(generator->name, name) == 0)
            return generator;
    }
    return NULL;
}

void generate(const struct generator_file *file, const struct model *model,
              const struct generate_options *options, struct buf *out)
{
    struct arena arena;
    arena_init(&arena, TEXTS_MAX);
    struct writer w = {
        .model = model, .only = options->table, .options = options, .out = out, .arena = &arena};
    file->write(&w);
    arena_release(&arena);
}
