#include "locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char driver_name[] = "libcuda.so.1";

bool ptxi_cmd_has_file(const char *directory, const char *file)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", directory, file);

    return n > 0 && (size_t)n < sizeof path && !access(path, R_OK);
}

/* Set `to` to base/name if that directory has the driver. */
static bool try_directory(char to[PATH_MAX], const char *base, const char *name)
{
    int n = snprintf(to, PATH_MAX, "%s%s", base, name);

    return n > 0 && n < PATH_MAX && ptxi_cmd_has_file(to, driver_name);
}

/* The directory of this program. */
static bool find_own_directory(char own[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", own, PATH_MAX - 1);

    if (n <= 0)
        return false;
    own[n] = 0;
    char *slash = strrchr(own, '/');

    if (!slash)
        return false;
    *slash = 0;
    return true;
}

/* An installation may have been moved as a whole: its libraries are where they were relative to this program. */
static bool find_relative(char to[PATH_MAX], const char *own)
{
    size_t common = 0, own_size = strlen(own);

    for (size_t i = 0; PTXI_BINDIR[i] && PTXI_BINDIR[i] == PTXI_DRIVERDIR[i]; i++)
        if (PTXI_BINDIR[i] == '/')
            common = i;
    const char *below = &PTXI_BINDIR[common]; /* "/bin" */
    size_t size = strlen(below);
    char prefix[PATH_MAX];

    if (own_size < size || strcmp(own + own_size - size, below))
        return false;
    snprintf(prefix, sizeof prefix, "%.*s", (int)(own_size - size), own);
    return try_directory(to, prefix, &PTXI_DRIVERDIR[common]);
}

bool ptxi_cmd_find_libraries(char directory[PATH_MAX])
{
    char own[PATH_MAX];

    if (find_own_directory(own) && (try_directory(directory, own, "/lib/ptxi") || find_relative(directory, own)))
        return true;
    if (try_directory(directory, PTXI_DRIVERDIR, ""))
        return true;
    ptxi_cmd_error("%s not found in " PTXI_DRIVERDIR, driver_name);
    return false;
}

bool ptxi_cmd_set_library_path(const char *directory)
{
    const char *rest = getenv("LD_LIBRARY_PATH");
    char *path = NULL;
    bool ok = asprintf(&path, "%s%s%s", directory, rest && *rest ? ":" : "", rest ? rest : "") >= 0 &&
              !setenv("LD_LIBRARY_PATH", path, 1);

    if (!ok)
        ptxi_cmd_error("out of memory");
    free(path);
    return ok;
}
