// Until the parser and the guard are here.
#include "model/guard.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

__attribute__((weak)) void diagnostics_init(struct diagnostics *diagnostics, struct arena *arena)
{
    *diagnostics = (struct diagnostics){.arena = arena};
}
__attribute__((weak)) struct model *model_parse(struct slice file, struct slice text,
                                                struct diagnostics *diagnostics)
{
    return NULL;
}
__attribute__((weak)) struct guard *model_guard_new(struct model *model,
                                                    const struct model_table *table)
{
    return NULL;
}
__attribute__((weak)) const struct model_table *model_guard_table(const struct guard *guard)
{
    return NULL;
}
__attribute__((weak)) bool model_guard_prepare(const struct guard *guard, const struct env *env,
                                               struct arena *arena, struct slice *item,
                                               struct error *error)
{
    return true;
}
