// The one table of generators: the command line, its help and the tests are made of it.
#include "generate/generate.h"

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
