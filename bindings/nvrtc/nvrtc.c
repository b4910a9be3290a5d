/* libnvrtc for programs that ask NVRTC for GPU code: NVIDIA's library compiles to PTX, which is returned instead. All
 * functions are forwarded to that library, from the list in functions.def. */
#include "ptxi.h"
#include "real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

/* nvrtcResult */
enum nvrtc_result { SUCCESS = 0, ERROR_OUT_OF_MEMORY = 1, ERROR_INTERNAL = 11 };

struct nvrtc_program;

/* ---- NVIDIA's library */

static struct {
#define FUNCTION(name, parameters, arguments) int (*name) parameters;
#define OWN FUNCTION
#include "functions.def"
#undef FUNCTION
#undef OWN
    const char *(*GetErrorString)(int result);
} functions;

static void load(void)
{
    static const struct standin_library library = {
        .soname = "libnvrtc.so." TEXT(NVRTC_MAJOR),
        .variable = "PTXI_NVRTC",
        .wheel = NVRTC_MAJOR >= 13 ? "nvidia/cu" TEXT(NVRTC_MAJOR) "/lib" : "nvidia/cuda_nvrtc/lib",
    };
    char reason[512];
    void *handle = ptxi_standin_open(&library, reason, sizeof reason);

    if (!handle) {
        fprintf(stderr, "libptxi: CUDA C++ cannot be compiled at run time: %s\n", reason);
        return;
    }
#define FUNCTION(name, parameters, arguments) \
    functions.name = (int (*) parameters)dlsym(handle, "nvrtc" #name);
#define OWN FUNCTION
#include "functions.def"
#undef FUNCTION
#undef OWN
    functions.GetErrorString = (const char *(*)(int))dlsym(handle, "nvrtcGetErrorString");
}

static void load_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
}

#define FUNCTION(name, parameters, arguments) \
    PTXI_API int nvrtc##name parameters; \
    int nvrtc##name parameters \
    { \
        load_once(); \
        return functions.name ? functions.name arguments : (int)ERROR_INTERNAL; \
    }
#define OWN(name, parameters, arguments) PTXI_API int nvrtc##name parameters;
#include "functions.def"
#undef FUNCTION
#undef OWN

PTXI_API const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result)
{
    load_once();
    if (functions.GetErrorString)
        return functions.GetErrorString(result);
    return result ? "NVRTC_ERROR_INTERNAL_ERROR" : "NVRTC_SUCCESS";
}

/* ---- compilation */

/* Finds "sm_" in the value of an option for the architecture, either after "=" or in a string of its own. */
static const char *find_architecture(const char *option, const char *before)
{
    static const char *const names[] = { "--gpu-architecture", "-gpu-architecture", "-arch", "--arch" };
    const char *value = NULL;

    for (unsigned i = 0; i < sizeof names / sizeof *names && !value; i++) {
        const size_t length = strlen(names[i]);

        if (!strncmp(option, names[i], length) && option[length] == '=')
            value = option + length + 1;
        else if (before && !strcmp(before, names[i]))
            value = option;
    }
    return value && !strncmp(value, "sm_", 3) ? value : NULL;
}

/* Replaces "sm_" at `value` within `option` by "compute_". The caller frees the result. */
static char *make_virtual(const char *option, const char *value)
{
    char *text;

    return asprintf(&text, "%.*scompute_%s", (int)(value - option), option, value + 3) < 0 ? NULL : text;
}

/* Options for PTX instead of GPU code. The strings in `copies` are new. */
static bool convert_options(int count, const char *const *options, const char **converted, char **copies)
{
    for (int i = 0; i < count; i++) {
        const char *value = options[i] ? find_architecture(options[i], i ? options[i - 1] : NULL) : NULL;

        converted[i] = options[i];
        if (!value)
            continue;
        copies[i] = make_virtual(options[i], value);
        if (!copies[i])
            return false;
        converted[i] = copies[i];
    }
    return true;
}

int nvrtcCompileProgram(struct nvrtc_program *program, int count, const char *const *options)
{
    const char **converted;
    char **copies;
    int result = ERROR_OUT_OF_MEMORY;

    load_once();
    if (!functions.CompileProgram)
        return ERROR_INTERNAL;
    if (count <= 0 || !options)
        return functions.CompileProgram(program, count, options);
    converted = calloc((size_t)count, sizeof *converted);
    copies = calloc((size_t)count, sizeof *copies);
    if (converted && copies && convert_options(count, options, converted, copies))
        result = functions.CompileProgram(program, count, converted);
    for (int i = 0; copies && i < count; i++)
        free(copies[i]);
    free(copies);
    free(converted);
    return result;
}

/* PTX ends with a NUL, which is part of its size. */
int nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *size)
{
    return nvrtcGetPTXSize(program, size);
}

int nvrtcGetCUBIN(struct nvrtc_program *program, char *cubin)
{
    return nvrtcGetPTX(program, cubin);
}
