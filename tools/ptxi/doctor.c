/* ptxi doctor: whether a program that was made for a GPU can run, and if not, why. */
#include "doctor.h"
#include "locate.h"

#include "base/paint.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor {
    char own[PATH_MAX];            /* directory of the libraries */
    char device[32];               /* "sm_90" */
    struct doctor_list libraries;  /* all that were examined */
    bool quiet, colour;
    unsigned problems;
    bool uses_cuda;
    bool in_package;               /* of Python: files may be for optional features */
};

/* ---- output */

enum line { LINE_OK, LINE_NOTE, LINE_PROBLEM };

/* `advice` NULL: none. */
static void print_line(struct doctor *d, enum line kind, const char *file, const char *text, const char *advice)
{
    static const char *const names[] = { "ok", "note", "problem" }, *const colours[] = { "32", "33", "31" };

    d->problems += kind == LINE_PROBLEM;
    if (d->quiet && kind != LINE_PROBLEM)
        return;
    if (d->colour)
        printf("\033[%sm%-7s\033[0m", colours[kind], names[kind]);
    else
        printf("%-7s", names[kind]);
    printf("  %s: %s\n", file, text);
    if (advice)
        printf("         %s\n", advice);
}

static void print_targets(char *to, size_t size, const struct doctor_targets *t)
{
    size_t n = 0;

    *to = 0;
    for (unsigned i = 0; i < t->count && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%s", i ? ", " : "", t->name[i]);
}

/* ---- device code */

/* 90 for "sm_90a"; 0 for other texts. */
static unsigned target_number(const char *name)
{
    return strncmp(name, "sm_", 3) ? 0 : (unsigned)strtoul(name + 3, NULL, 10);
}

static void report_missing_ptx(struct doctor *d, const char *path, const struct doctor_file *f, bool is_library)
{
    char sass[256], text[384], advice[128];
    unsigned device = target_number(d->device);

    print_targets(sass, sizeof sass, &f->sass);
    if (f->without_ptx == f->programs)
        snprintf(text, sizeof text, "no PTX, only code for %s", sass);
    else
        snprintf(text, sizeof text, "%u of %u device programs have no PTX; the file has code for %s", f->without_ptx,
                 f->programs, sass);
    snprintf(advice, sizeof advice, "compile with PTX: nvcc -gencode arch=compute_%u,code=compute_%u", device, device);
    print_line(d, LINE_PROBLEM, path, text,
               is_library ? "calls that launch its kernels fail; it would have to be built with PTX" : advice);
}

static void report_ptx(struct doctor *d, const char *path, const struct doctor_file *f)
{
    char ptx[256], text[384], advice[128];
    bool newer = target_number(f->ptx.name[0]) > target_number(d->device);

    print_targets(ptx, sizeof ptx, &f->ptx);
    snprintf(text, sizeof text, "PTX for %s", ptx);
    snprintf(advice, sizeof advice, "a GPU of %s could not run it, but ptxi does; --device selects another one",
             d->device);
    print_line(d, newer ? LINE_NOTE : LINE_OK, path, text, newer ? advice : NULL);
}

static void check_code(struct doctor *d, const char *path, const struct doctor_file *f, bool is_library)
{
    if (f->error)
        print_line(d, LINE_PROBLEM, path, f->error, NULL);
    else if (f->without_ptx)
        report_missing_ptx(d, path, f, is_library);
    else if (f->programs)
        report_ptx(d, path, f);
    d->uses_cuda |= f->error || f->programs;
}

/* ---- the runtime and the driver */

static void check_static_runtime(struct doctor *d, const char *path, bool is_library)
{
    print_line(d, LINE_PROBLEM, path, "the CUDA runtime is linked into the file, and this one needs a GPU",
               is_library ? "its calls of the runtime fail; it would have to be built with the shared runtime"
                          : "link the shared one: nvcc -cudart shared; cmake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared; "
                            "nvcc $(ptxi config --libs)");
    d->uses_cuda = true;
}

/* Whether the path is in the directory that `ptxi exec` names. */
static bool is_own(const struct doctor *d, const char *path)
{
    char directory[PATH_MAX], real[PATH_MAX], own[PATH_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    return realpath(directory, real) && realpath(d->own, own) && !strcmp(real, own);
}

/* The versions of the runtime that this library has. */
static void list_runtimes(const struct doctor *d, char *to, size_t size)
{
    DIR *directory = opendir(d->own);
    size_t n = 0;

    *to = 0;
    for (struct dirent *e; directory && n < size && (e = readdir(directory));) {
        const char *version = strncmp(e->d_name, "libcudart.so.", 13) ? NULL : e->d_name + 13;

        if (version && !version[strspn(version, "0123456789")])
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", e->d_name);
    }
    if (directory)
        closedir(directory);
}

/* A runtime or driver library that the file is linked with. */
static void check_shared_runtime(struct doctor *d, const char *file, const struct doctor_library *l)
{
    char text[PATH_MAX + 128], have[128];
    bool provided = ptxi_cmd_has_file(d->own, l->name);

    d->uses_cuda = true;
    if (l->path && is_own(d, l->path)) {
        snprintf(text, sizeof text, "uses %s of this library", l->name);
        print_line(d, LINE_OK, file, text, NULL);
    } else if (provided) {
        snprintf(text, sizeof text, "the loader takes %s instead of the one of this library", l->path);
        print_line(d, LINE_PROBLEM, file, text, "a DT_RPATH names its directory; remove it: patchelf --remove-rpath");
    } else {
        list_runtimes(d, have, sizeof have);
        snprintf(text, sizeof text, "needs %s, but this library has %s", l->name, have);
        print_line(d, LINE_PROBLEM, file, text, "compile with a version of CUDA that fits");
    }
}

static bool is_cuda_library(const char *name)
{
    return !strncmp(name, "libcudart.so", 12) || !strncmp(name, "libcuda.so", 10);
}

/* ---- files */

static void check_library(struct doctor *d, const char *path)
{
    struct doctor_file f;

    if (ptxi_cmd_examine(path, &f))
        return; /* the loader finds it, but it is not readable */
    if (f.has_runtime)
        check_static_runtime(d, path, true);
    check_code(d, path, &f, true);
}

/* Functions of CUDA that the file uses and no library has. */
static void check_missing(struct doctor *d, const char *file, const struct doctor_list *missing)
{
    char text[512] = "functions that this library does not have:";
    size_t n = strlen(text), i;

    for (i = 0; i < missing->count && n + strlen(missing->at[i].name) + 16 < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", i ? "," : "", missing->at[i].name);
    if (i < missing->count)
        snprintf(text + n, sizeof text - n, ", ...");
    if (i)
        print_line(d, LINE_PROBLEM, file, text, "a call of such a function ends the program");
}

/* Check what the loader loads for a file. Libraries that several files need are checked once. */
static bool check_libraries(struct doctor *d, const char *file)
{
    struct doctor_list list = { 0 }, missing = { 0 };
    bool ok = ptxi_cmd_list_libraries(file, &list, &missing);

    check_missing(d, file, &missing);
    for (size_t i = 0; ok && i < list.count; i++) {
        const struct doctor_library *l = &list.at[i];
        size_t before = d->libraries.count;

        ok = ptxi_cmd_add_library(&d->libraries, l->name, l->path);
        if (!ok)
            ptxi_cmd_error("out of memory");
        else if (d->libraries.count == before)
            continue;
        else if (is_cuda_library(l->name))
            check_shared_runtime(d, file, l);
        else if (l->path)
            check_library(d, l->path);
        else
            print_line(d, d->in_package ? LINE_NOTE : LINE_PROBLEM, file, l->name,
                       "the loader does not find this library");
    }
    ptxi_cmd_free_libraries(&list);
    ptxi_cmd_free_libraries(&missing);
    return ok;
}

static bool check_program(struct doctor *d, const char *file)
{
    struct doctor_file f;
    const char *error = ptxi_cmd_examine(file, &f);

    if (error) {
        ptxi_cmd_error("%s: %s", file, error);
        return false;
    }
    if (f.has_runtime)
        check_static_runtime(d, file, false);
    check_code(d, file, &f, false);
    return check_libraries(d, file);
}

static bool check_package(struct doctor *d, const char *package, bool *found)
{
    struct doctor_list files = { 0 };
    bool ok = ptxi_cmd_list_package(package, &files);

    *found = files.count != 0;
    d->in_package = true;
    for (size_t i = 0; ok && i < files.count; i++) {
        check_library(d, files.at[i].path);
        ok = check_libraries(d, files.at[i].path);
    }
    d->in_package = false;
    ptxi_cmd_free_libraries(&files);
    return ok;
}

/* Packages of Python that doc/reference/clients.md describes, and what they contain (cuda.core). Most load CUDA later,
 * which their files do not show. */
static void advise_on_package(struct doctor *d, const char *package)
{
    static const struct {
        const char *package, *use, *first; /* `first` NULL: nothing */
    } known[] = {
        { "cuda", "programs run with `ptxi exec --toolkit`", NULL },
        { "cupy", "programs run with `CUPY_ACCELERATORS= ptxi exec --toolkit`, without sort, matmul, fft and random",
          "first replace the runtime in it: ptxi exec python -m ptxi.rebuild_cupy" },
        { "numba", "programs that use numba.cuda run with `ptxi exec --toolkit`", NULL },
        { "numba_cuda", "programs run with `ptxi exec --toolkit`", NULL },
        { "pycuda", "programs run with `ptxi exec --toolkit`", NULL },
        { "torch", "memory, Triton kernels and torch.compile run with `ptxi exec --toolkit`, other operations do not",
          NULL },
        { "triton", "kernels run with the backend of the Python package: TRITON_DEFAULT_BACKEND=ptxi", NULL },
        { "warp", "programs run with `ptxi exec --toolkit`",
          "first build it from source with the shared runtime: build_lib.py --use-dynamic-cuda" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcspn(package, ".") == strlen(known[i].package) &&
            !strncmp(package, known[i].package, strlen(known[i].package)))
            print_line(d, LINE_NOTE, package, known[i].use, known[i].first);
}

static void print_verdict(const struct doctor *d, const char *name, bool is_package, unsigned problems)
{
    if (d->quiet)
        return;
    if (!problems)
        printf("%s: can run\n", name);
    else if (is_package)
        printf("%s: what needs these files cannot run (%u problem%s)\n", name, problems, problems == 1 ? "" : "s");
    else
        printf("%s: cannot run\n", name);
}

/* True if the program can run. */
static bool check(struct doctor *d, const char *name)
{
    bool is_package = access(name, F_OK) && !strchr(name, '/'), found = true;
    unsigned before = d->problems;

    d->uses_cuda = false;
    if (is_package ? !check_package(d, name, &found) : !check_program(d, name))
        return false;
    if (!found) {
        ptxi_cmd_error("%s: neither a file nor a Python package with shared libraries", name);
        return false;
    }
    if (!d->uses_cuda)
        print_line(d, LINE_NOTE, name, "does not use CUDA, or only libraries that it loads later", NULL);
    if (is_package)
        advise_on_package(d, name);
    print_verdict(d, name, is_package, d->problems - before);
    return d->problems == before;
}

int ptxi_cmd_doctor(int argc, char **argv)
{
    static const struct option options[] = {
        { "quiet", no_argument, NULL, 'q' }, { "device", required_argument, NULL, 'd' },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct doctor d = { .colour = ptxi_paint_wanted(stdout) };
    const char *device = NULL;
    bool ok = true;

    for (int c; (c = getopt_long(argc, argv, "qd:h", options, NULL)) != -1;) {
        switch (c) {
        case 'q': d.quiet = true; break;
        case 'd': device = optarg; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(device) || ptxiDeviceGetProfile(d.device, sizeof d.device, 0))
        return CMD_USAGE;
    /* The loader must search as it does under `ptxi exec`. */
    if (!ptxi_cmd_find_libraries(d.own) || !ptxi_cmd_set_library_path(d.own))
        return CMD_FAILED;
    for (int i = optind; i < argc; i++)
        ok &= check(&d, argv[i]);
    ptxi_cmd_free_libraries(&d.libraries);
    return ok ? CMD_OK : CMD_FAILED;
}
