#include "doctor.h"

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

/* Start a program without stderr. Returns its output, or NULL with errno. */
static FILE *start(char **argv, pid_t *child)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int ends[2], error;

    if (pipe(ends))
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
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

/* ---- libraries: ld.so(8), "--list" */

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
    Dl_info info;

    return dladdr((void *)getauxval(AT_BASE), &info) ? (char *)(uintptr_t)info.dli_fname : NULL;
}

bool ptxi_cmd_list_libraries(const char *file, struct doctor_list *list)
{
    static char option[] = "--list";
    char path[PATH_MAX]; /* the loader searches names without a slash */
    char *argv[] = { find_loader(), option, path, NULL };
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    pid_t child;

    if (!argv[0] || !realpath(file, path))
        return true;
    FILE *f = start(argv, &child);

    if (!f) {
        ptxi_cmd_error("%s: %s", argv[0], strerror(errno));
        return false;
    }
    while (ok && getline(&line, &room, f) > 0)
        ok = add_line(list, line);
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
    static char script[] = "import importlib.util, sys\n"
                           "spec = importlib.util.find_spec(sys.argv[1])\n"
                           "for p in spec.submodule_search_locations or [spec.origin] if spec else []: print(p)\n";
    char *argv[] = { python, option, script, (char *)(uintptr_t)package, NULL };
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    pid_t child;

    /* find_spec() imports the packages that contain a package, so only those at the top are accepted. */
    if (package[strspn(package, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
        return true;
    FILE *f = start(argv, &child);

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
