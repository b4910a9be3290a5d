#include "compile.h"

#include "load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_THERE = -1 }; /* the compiler was not found */

static const char default_home[] = "/usr/local/cuda";

bool ptxi_cmd_is_cuda(const char *file)
{
    size_t n = strlen(file);

    return n > 3 && !strcmp(file + n - 3, ".cu");
}

static const char *toolkit(void)
{
    const char *home = getenv("CUDA_HOME");

    return home && *home ? home : default_home;
}

/* ---- nvcc */

/* Run a program and wait. Returns its exit status, or NOT_THERE. */
static int run_program(char **argv)
{
    extern char **environ;
    pid_t child;
    int status = 0;

    fflush(stdout);
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ))
        return NOT_THERE;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == CMD_NOT_FOUND ? NOT_THERE : WEXITSTATUS(status);
    return CMD_FAILED;
}

/* The compiler is that of NVCC, or in PATH, or in the toolkit. */
static int run_nvcc(char **argv)
{
    char path[PATH_MAX], *given = getenv("NVCC");
    static char name[] = "nvcc";
    int status;

    argv[0] = given && *given ? given : name;
    status = run_program(argv);
    if (status != NOT_THERE || (given && *given))
        return status;
    snprintf(path, sizeof path, "%s/bin/nvcc", toolkit());
    argv[0] = path;
    status = run_program(argv);
    argv[0] = name;
    return status;
}

/* Returns the status of nvcc. *text becomes the PTX if that is 0, or NULL after a message. */
static int compile_with_nvcc(const char *file, char **text, size_t *size)
{
    const char *tmp = getenv("TMPDIR");
    char directory[PATH_MAX - 16], output[PATH_MAX], arch[48];
    static char ptx[] = "-ptx", lines[] = "-lineinfo", to[] = "-o", nvcc[] = "nvcc";
    char *argv[] = { nvcc, ptx, lines, arch, to, output, (char *)(uintptr_t)file, NULL };

    snprintf(directory, sizeof directory, "%s/ptxi-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(directory)) {
        ptxi_cmd_error("%s: %s", directory, strerror(errno));
        return CMD_FAILED;
    }
    snprintf(output, sizeof output, "%s/kernel.ptx", directory);
    snprintf(arch, sizeof arch, "-arch=%s", ptxi_cmd_device());
    int status = run_nvcc(argv);

    *text = status ? NULL : ptxi_cmd_read(output, CMD_MOST_FILE, size);
    unlink(output);
    rmdir(directory);
    return status;
}

/* ---- NVRTC: "NVRTC (Runtime Compilation)", the parts of its interface that are needed */

typedef struct nvrtc_program *nvrtc_program;

#define NVRTC_FUNCTIONS(X) \
    X(CreateProgram, (nvrtc_program *, const char *source, const char *name, int, const char *const *, \
                      const char *const *)) \
    X(CompileProgram, (nvrtc_program, int count, const char *const *options)) \
    X(DestroyProgram, (nvrtc_program *)) \
    X(GetPTXSize, (nvrtc_program, size_t *)) \
    X(GetPTX, (nvrtc_program, char *)) \
    X(GetProgramLogSize, (nvrtc_program, size_t *)) \
    X(GetProgramLog, (nvrtc_program, char *))

static struct {
#define DECLARE(name, parameters) int (*name) parameters;
    NVRTC_FUNCTIONS(DECLARE)
#undef DECLARE
} nvrtc;

static bool load_nvrtc(void)
{
    static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12" };
    char path[PATH_MAX];
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library) {
        snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", toolkit());
        library = dlopen(path, RTLD_NOW);
    }
    if (!library)
        return false;
#define LOAD(name, parameters) \
    if (!(nvrtc.name = (int (*) parameters)dlsym(library, "nvrtc" #name))) \
        return false;
    NVRTC_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

/* Returns what get() returns, with a NUL, or NULL. */
static char *get_text(nvrtc_program p, int (*get_size)(nvrtc_program, size_t *), int (*get)(nvrtc_program, char *))
{
    size_t n = 0;
    char *s = get_size(p, &n) ? NULL : calloc(n + 1, 1);

    if (!s || !get(p, s))
        return s;
    free(s);
    return NULL;
}

static char *compile_program(nvrtc_program p, const char *file)
{
    char arch[64], include[PATH_MAX + 8], here[PATH_MAX + 8];
    const char *slash = strrchr(file, '/');
    const char *options[] = { arch, "--generate-line-info", include, here };

    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", ptxi_cmd_device() + strlen("sm_"));
    snprintf(include, sizeof include, "-I%s/include", toolkit());
    snprintf(here, sizeof here, "-I%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
    int error = nvrtc.CompileProgram(p, 4, options);
    char *log = get_text(p, nvrtc.GetProgramLogSize, nvrtc.GetProgramLog);

    if (log)
        fputs(log, stderr);
    free(log);
    return error ? NULL : get_text(p, nvrtc.GetPTXSize, nvrtc.GetPTX);
}

/* NULL after a message. */
static char *compile_with_nvrtc(const char *file, size_t *size)
{
    char *source = ptxi_cmd_read(file, CMD_MOST_FILE, size), *text = NULL;
    nvrtc_program p = NULL;

    if (source && nvrtc.CreateProgram(&p, source, file, 0, NULL, NULL))
        ptxi_cmd_error("%s: NVRTC does not accept the file", file);
    free(source);
    if (!p)
        return NULL;
    text = compile_program(p, file);
    nvrtc.DestroyProgram(&p);
    *size = text ? strlen(text) : 0;
    return text;
}

char *ptxi_cmd_compile(const char *file, size_t *size)
{
    char *text = NULL;

    if (access(file, R_OK)) {
        ptxi_cmd_error("%s: %s", file, strerror(errno));
        return NULL;
    }
    if (compile_with_nvcc(file, &text, size) != NOT_THERE)
        return text;
    if (load_nvrtc())
        return compile_with_nvrtc(file, size);
    ptxi_cmd_error("%s: CUDA C++ needs nvcc or NVRTC, and neither was found in PATH, NVCC, CUDA_HOME or %s", file,
                   default_home);
    return NULL;
}
