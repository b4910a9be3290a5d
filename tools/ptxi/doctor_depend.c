#include "doctor.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- lists */

bool ptxi_cmd_add_library(struct doctor_list *list, const char *name, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->at[i].name, name) && !strcmp(list->at[i].path ? list->at[i].path : "", path ? path : ""))
            return true;
    struct doctor_library *at = realloc(list->at, (list->count + 1) * sizeof *at);

    if (!at)
        return false;
    list->at = at;
    at[list->count] = (struct doctor_library){ strdup(name), path ? strdup(path) : NULL };
    list->count++;
    return at[list->count - 1].name && (!path || at[list->count - 1].path);
}

void ptxi_cmd_free_libraries(struct doctor_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].name);
        free(list->at[i].path);
    }
    free(list->at);
    *list = (struct doctor_list){ 0 };
}

static bool report_memory(bool ok)
{
    if (!ok)
        ptxi_cmd_error("out of memory");
    return ok;
}

/* ---- the output of a program */

/* Start a program. Returns its output, with that on stderr if `all`, or NULL with errno. */
static FILE *start(char **argv, bool all, pid_t *child)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int ends[2], error;

    if (pipe(ends))
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (all)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *f = error ? NULL : fdopen(ends[0], "r");

    if (!f)
        close(ends[0]);
    if (error)
        errno = error;
    return f;
}

/* Close the output and wait. True if the program succeeded. */
static bool finish(FILE *f, pid_t child)
{
    int status = 0;

    fclose(f);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- libraries: the loader as ldd(1) calls it with -r */

static const char undefined[] = "undefined symbol: ";

/* Add the function of CUDA that a line "undefined symbol: cudaMalloc, version libcudart.so.13\t(./program)" names. */
static bool add_missing(struct doctor_list *missing, char *line)
{
    char *name = line + strlen(undefined);

    name[strcspn(name, ",\t ")] = 0;
    if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6) && (strncmp(name, "cu", 2) || !isupper(name[2])))
        return true;
    return ptxi_cmd_add_library(missing, name, NULL);
}

/* Add a line such as "\tlibm.so.6 => /lib/libm.so.6 (0x...)", or "=> not found". Other lines are not libraries that
 * the program requests by name. */
static bool add_line(struct doctor_list *list, char *line)
{
    char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => "), *end;

    if (!arrow)
        return true;
    *arrow = 0;
    char *path = arrow + 4;

    if (*path != '/')
        return ptxi_cmd_add_library(list, name, NULL);
    end = strstr(path, " (0x");
    if (end)
        *end = 0;
    return ptxi_cmd_add_library(list, name, path);
}

/* The loader of this program. The one that a file names might be anything. NULL: this program is linked statically. */
static char *find_loader(void)
{
#ifdef __GLIBC__ /* other loaders would run the file */
    Dl_info info;

    if (dladdr((void *)getauxval(AT_BASE), &info))
        return (char *)(uintptr_t)info.dli_fname;
#endif
    return NULL;
}

bool ptxi_cmd_list_libraries(const char *file, struct doctor_list *list, struct doctor_list *missing)
{
    static char env[] = "env", trace[] = "LD_TRACE_LOADED_OBJECTS=1", warn[] = "LD_WARN=1", now[] = "LD_BIND_NOW=1";
    char path[PATH_MAX]; /* the loader searches names without a slash */
    char *argv[] = { env, trace, warn, now, find_loader(), path, NULL };
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    pid_t child;

    if (!argv[4] || !realpath(file, path))
        return true;
    FILE *f = start(argv, true, &child);

    if (!f) {
        ptxi_cmd_error("%s: %s", argv[0], strerror(errno));
        return false;
    }
    while (ok && getline(&line, &room, f) > 0)
        ok = strncmp(line, undefined, strlen(undefined)) ? add_line(list, line) : add_missing(missing, line);
    free(line);
    finish(f, child);
    return report_memory(ok);
}

/* ---- Python packages */

static struct doctor_list *package_list; /* nftw() passes no argument */

static int add_file(const char *path, const struct stat *st, int type, struct FTW *position)
{
    const char *name = path + position->base;

    (void)st;
    if (type != FTW_F || !(strstr(name, ".so.") || (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".so"))))
        return 0;
    return !ptxi_cmd_add_library(package_list, path, path);
}

bool ptxi_cmd_list_package(const char *package, struct doctor_list *list)
{
    static char python[] = "python3", option[] = "-c";
    static char script[] = "import importlib.util, os, sys\n"
                           "top, *below = sys.argv[1].split('.')\n"
                           "spec = importlib.util.find_spec(top) if top and all(below) else None\n"
                           "for p in spec.submodule_search_locations or [spec.origin] if spec else []:\n"
                           "    print(os.path.join(p, *below))\n";
    char *argv[] = { python, option, script, (char *)(uintptr_t)package, NULL };
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    pid_t child;

    /* find_spec() imports the packages that contain a package, so it is called for the one at the top only. */
    if (package[strspn(package, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")])
        return true;
    FILE *f = start(argv, false, &child);

    if (!f)
        return true;
    package_list = list;
    while (ok && getline(&line, &room, f) > 0) {
        line[strcspn(line, "\n")] = 0;
        ok = nftw(line, add_file, 16, FTW_PHYS) <= 0;
    }
    free(line);
    finish(f, child);
    return report_memory(ok);
}
