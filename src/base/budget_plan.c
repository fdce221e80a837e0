// How much memory there is, and who gets what of it. See budget.h.
#include "base/budget.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t megabyte = (size_t)1 << 20;
static const size_t little = (size_t)2 << 30;

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

static size_t minus(size_t from, size_t what)
{
    return from > what ? from - what : 0;
}

// A third for the cache, which can use all that it gets: a block that is not in it makes a GetItem
// half as dear again (ADR 014). Where there is little, a quarter must do, so that connections have
// enough. A quarter for write buffers, as far as they can use it. A sixteenth for the metadata of
// objects, which are small and few. An eighth is not given out: it is
// for the program, its threads, the group that is being committed, and for what the allocator
// loses.
void budget_divide(struct budget_plan *plan)
{
    size_t limit = plan->limit;
    if (plan->cache == 0)
        plan->cache = clamp(limit / (limit < little ? 4 : 3), 8 * megabyte, SIZE_MAX);
    if (plan->write_buffers == 0)
        plan->write_buffers = clamp(limit / 4, 6 * megabyte, 240 * megabyte);
    plan->objects = plan->stores_objects ? clamp(limit / 16, 4 * megabyte, 32 * megabyte) : 0;
    size_t own = clamp(limit / 8, 0, 256 * megabyte);
    size_t given = plan->cache + plan->write_buffers + plan->objects;
    size_t rest = minus(minus(limit, given), own);
    plan->requests = rest > limit / 8 ? rest : limit / 8;
    plan->connections = plan->requests / 8 * 5 / BUDGET_CONNECTION;
}

// ---- The machine ----------------------------------------------------------------------------

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The number in a file of a control group; SIZE_MAX if it says "max", or is not there.
static size_t group_limit(const char *path)
{
    unsigned long long bytes;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return SIZE_MAX;
    bool number = fscanf(file, "%llu", &bytes) == 1;
    (void)fclose(file);
    return number && bytes > 0 && bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

// The least limit of a group and of all groups above it.
static size_t groups_limit(const char *base, const char *group, const char *name)
{
    char path[2048];
    char inner[512];
    size_t limit = SIZE_MAX;
    (void)snprintf(inner, sizeof(inner), "%s", group);
    for (;;) {
        (void)snprintf(path, sizeof(path), "%s%s/%s", base, inner, name);
        limit = least(limit, group_limit(path));
        char *slash = strrchr(inner, '/');
        if (slash == NULL)
            return limit;
        *slash = 0;
    }
}

// A line of /proc/self/cgroup: "0::/path" of version 2, "4:memory:/path" of version 1.
static size_t line_limit(const char *root, char *line)
{
    char base[512];
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL)
        return SIZE_MAX;
    *group++ = 0;
    controllers++;
    group[strcspn(group, "\n")] = 0;
    bool second = controllers[0] == 0;
    if (!second && strcmp(controllers, "memory") != 0)
        return SIZE_MAX;
    (void)snprintf(base, sizeof(base), "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    return groups_limit(base, group, second ? "memory.max" : "memory.limit_in_bytes");
}

static size_t control_group(const char *root)
{
    char path[512];
    char line[512];
    size_t limit = SIZE_MAX;
    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        limit = least(limit, line_limit(root, line));
    if (file != NULL)
        (void)fclose(file);
    return limit;
}

static size_t resource_limit(int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

size_t budget_machine(const char *root)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 1024 * megabyte;
    bytes = least(bytes, control_group(root));
    return least(bytes, least(resource_limit(RLIMIT_AS), resource_limit(RLIMIT_DATA)));
}
