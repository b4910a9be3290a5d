/* Searches the NVIDIA library that a library of libptxi replaces. Its file is opened by path, because both have the
 * same soname, which the loader would answer with the replacement. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "real.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libptxi's libraries of this kind export this name. */
#define MARK "ptxi_standin"
__attribute__((visibility("default"))) extern const int ptxi_standin;
const int ptxi_standin = 1;

struct search {
    const struct standin_library *library;
    void *found;
    char *reason;                   /* error of the loader for the last file that exists but cannot be opened */
    size_t reason_bytes;
};

/* RTLD_DEEPBIND makes the library call its own functions and not those of the replacement, which have the same names.
 * The sanitizers do not support it. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

static bool open_file(struct search *s, const char *path)
{
    char real[PATH_MAX];
    void *handle;

    if (!realpath(path, real))
        return false;
    handle = dlopen(real, OPEN_FLAGS);
    if (!handle) {
        snprintf(s->reason, s->reason_bytes, "%s", dlerror());
        return false;
    }
    if (dlsym(handle, MARK)) {
        dlclose(handle);
        return false;
    }
    s->found = handle;
    return true;
}

/* Tries the library in `directory`/`below`; `below` may be empty. */
static bool open_in(struct search *s, const char *directory, size_t length, const char *below)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s/%s/%s", (int)length, directory, below, s->library->soname);

    return length && n > 0 && (size_t)n < sizeof path && open_file(s, path);
}

static bool open_in_variable(struct search *s, const char *variable, const char *below)
{
    const char *directory = getenv(variable);

    return directory && open_in(s, directory, strlen(directory), below);
}

static bool open_in_list(struct search *s, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":;");

        if (open_in(s, list, length, "."))
            return true;
        list += length + (list[length] != 0);
    }
    return false;
}

/* ---- wheels: a Python program has loaded libraries from its site-packages */

static const char site_packages[] = "/site-packages/";

struct names {
    char *text;                     /* each ends with a NUL */
    size_t used, size;
};

static int collect_name(struct dl_phdr_info *info, size_t size, void *data)
{
    struct names *n = data;
    size_t length = info->dlpi_name ? strlen(info->dlpi_name) + 1 : 0;

    (void)size;
    if (!length || !strstr(info->dlpi_name, site_packages))
        return 0;
    if (n->used + length > n->size) {
        char *more = realloc(n->text, 2 * (n->used + length));

        if (!more)
            return 1;
        n->text = more;
        n->size = 2 * (n->used + length);
    }
    memcpy(n->text + n->used, info->dlpi_name, length);
    n->used += length;
    return 0;
}

/* The callback of dl_iterate_phdr() holds a lock of the loader, so it only collects names. */
static bool open_in_wheels(struct search *s)
{
    struct names names = { NULL, 0, 0 };
    bool found = false;

    dl_iterate_phdr(collect_name, &names);
    for (const char *name = names.text; name && name < names.text + names.used && !found; name += strlen(name) + 1) {
        size_t length = (size_t)(strstr(name, site_packages) - name) + sizeof site_packages - 2;

        found = open_in(s, name, length, s->library->wheel);
    }
    free(names.text);
    return found;
}

static bool open_in_virtual_environment(struct search *s)
{
    const char *directory = getenv("VIRTUAL_ENV");
    char pattern[PATH_MAX];
    bool found = false;
    glob_t matches;
    int n = snprintf(pattern, sizeof pattern, "%s/lib/python*/site-packages", directory ? directory : "");

    if (!directory || n < 0 || (size_t)n >= sizeof pattern || glob(pattern, 0, NULL, &matches))
        return false;
    for (size_t i = 0; i < matches.gl_pathc && !found; i++)
        found = open_in(s, matches.gl_pathv[i], strlen(matches.gl_pathv[i]), s->library->wheel);
    globfree(&matches);
    return found;
}

/* ---- */

static bool open_anywhere(struct search *s)
{
    const char *file = getenv(s->library->variable);

    if (file && *file)
        return open_file(s, file); /* no other file instead of the one that the user names */
    return open_in_wheels(s) || open_in_virtual_environment(s) || open_in_variable(s, "CONDA_PREFIX", "lib") ||
           open_in_list(s, getenv("LD_LIBRARY_PATH")) || open_in_variable(s, "CUDA_HOME", "lib64") ||
           open_in_variable(s, "CUDA_PATH", "lib64") ||
           open_in_list(s, "/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/lib");
}

void *ptxi_standin_open(const struct standin_library *library, char *reason, size_t reason_bytes)
{
    struct search s = { library, NULL, reason, reason_bytes };

    snprintf(reason, reason_bytes, "NVIDIA's %s is not installed; %s may name its file", library->soname,
             library->variable);
    open_anywhere(&s);
    return s.found;
}
