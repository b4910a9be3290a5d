/* Functions of LTO-IR that PTX calls. NVIDIA's library knows only the LTO-IR, and removes functions that no part of it
 * uses. So it gets one more part, a kernel that takes the addresses of these functions. NVRTC compiles the kernel. */
#include "nvjitlink.h"
#include "real.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define KERNEL "__ptxi_keep"

/* ---- functions in PTX */

/* A function that a text declares or defines. `start` is its first directive, and `name` is in the text. */
struct function {
    const char *start, *name;
    int length;                     /* of the name */
    bool external, plain;           /* .extern; no directive of linkage */
};

/* Reads the directive of linkage before .func. */
static void read_linkage(const char *text, struct function *f)
{
    const char *s = f->start, *end;

    while (s > text && (s[-1] == ' ' || s[-1] == '\t'))
        s--;
    for (end = s; s > text && (isalpha((unsigned char)s[-1]) || s[-1] == '.');)
        s--;
    f->plain = s == end;
    f->external = end - s == 7 && !memcmp(s, ".extern", 7);
    if (f->external)
        f->start = s;
}

/* Finds the first function in `text` at or after `from`. Returns false if there is none. */
static bool find_function(const char *text, const char *from, struct function *f)
{
    const char *s = strstr(from, ".func");

    for (; s; s = strstr(s + 1, ".func")) {
        f->start = s;
        f->name = s + 5 + strspn(s + 5, " \t\n");
        if (*f->name == '(') {
            f->name += strcspn(f->name, ")");
            f->name += *f->name ? 1 + strspn(f->name + 1, " \t\n") : 0;
        }
        f->length = 0;
        while (isalnum((unsigned char)f->name[f->length]) || f->name[f->length] == '_')
            f->length++;
        if (!f->length)
            continue;
        read_linkage(text, f);
        return true;
    }
    return false;
}

/* True if the device runtime has the function: it is not in LTO-IR, and NVRTC knows other declarations. */
static bool is_of_runtime(const struct function *f)
{
    static const char *const names[] = { "__assertfail", "free", "malloc", "memcpy", "memset", "vprintf" };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == (size_t)f->length && !memcmp(names[i], f->name, strlen(names[i])))
            return true;
    return false;
}

/* Writes the kernel, which takes the addresses of the functions that the PTX does not define. NULL: there are none. */
static char *write_kernel(const char *ptx)
{
    struct function f;
    char *text = NULL;
    size_t size;
    unsigned count = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (const char *s = ptx; find_function(ptx, s, &f); s = f.name)
        if (f.external && !is_of_runtime(&f))
            fprintf(out, "extern \"C\" __device__ void %.*s();\n", f.length, f.name), count++;
    fprintf(out, "extern \"C\" __global__ void %s(void **p)\n{\n", KERNEL);
    for (const char *s = ptx; find_function(ptx, s, &f); s = f.name)
        if (f.external && !is_of_runtime(&f))
            fprintf(out, "    *p++ = (void *)%.*s;\n", f.length, f.name);
    fputs("}\n", out);
    if (!fclose(out) && count)
        return text;
    free(text);
    return NULL;
}

/* ---- NVRTC */

struct compiler {
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*get_size)(void *program, size_t *size);
    int (*get)(void *program, char *ltoir);
    int (*destroy)(void **program);
};

static bool open_compiler(struct compiler *c)
{
    static const struct standin_library library = {
        .soname = "libnvrtc.so." TEXT(NVJITLINK_MAJOR),
        .variable = "PTXI_NVRTC",
        .wheel = NVJITLINK_MAJOR >= 13 ? "nvidia/cu" TEXT(NVJITLINK_MAJOR) "/lib" : "nvidia/cuda_nvrtc/lib",
    };
    char reason[512];
    void *handle = ptxi_standin_open(&library, reason, sizeof reason);

    if (!handle)
        return false;
    *(void **)&c->create = dlsym(handle, "nvrtcCreateProgram");
    *(void **)&c->compile = dlsym(handle, "nvrtcCompileProgram");
    *(void **)&c->get_size = dlsym(handle, "nvrtcGetLTOIRSize");
    *(void **)&c->get = dlsym(handle, "nvrtcGetLTOIR");
    *(void **)&c->destroy = dlsym(handle, "nvrtcDestroyProgram");
    return c->create && c->compile && c->get_size && c->get && c->destroy;
}

/* Compiles CUDA C++ to LTO-IR. NULL: this failed. */
static char *compile(const char *source, size_t *size)
{
    static const char *const options[] = { "-dlto", "-rdc=true" };
    struct compiler c;
    void *program = NULL;
    char *ltoir = NULL;

    if (!open_compiler(&c) || c.create(&program, source, KERNEL ".cu", 0, NULL, NULL))
        return NULL;
    if (!c.compile(program, 2, options) && !c.get_size(program, size))
        ltoir = malloc(*size);
    if (ltoir && c.get(program, ltoir)) {
        free(ltoir);
        ltoir = NULL;
    }
    c.destroy(&program);
    return ltoir;
}

char *ptxi_nvjitlink_keep(const char *ptx, size_t *size)
{
    char *source = write_kernel(ptx), *ltoir = source ? compile(source, size) : NULL;

    free(source);
    return ltoir;
}

/* ---- the result */

/* True if the PTX calls the function and does not define it. */
static bool calls(const char *ptx, const struct function *f)
{
    struct function other;

    for (const char *s = ptx; find_function(ptx, s, &other); s = other.name)
        if (other.external && other.length == f->length && !memcmp(other.name, f->name, (size_t)f->length))
            return true;
    return false;
}

/* Returns what follows `end` in a text: the text after a kernel or a declaration. */
static const char *after(const char *s, const char *end)
{
    const char *found = strstr(s, end);

    return found ? found + strlen(end) : s + strlen(s);
}

/* Copies a text up to `to`, without the kernel if it is there. */
static void copy(FILE *out, const char *from, const char *to)
{
    const char *kernel = strstr(from, ".visible .entry " KERNEL "(");

    if (!kernel || kernel >= to) {
        fwrite(from, 1, (size_t)(to - from), out);
        return;
    }
    fwrite(from, 1, (size_t)(kernel - from), out);
    kernel = after(kernel, "\n}\n");
    if (kernel < to)
        fwrite(kernel, 1, (size_t)(to - kernel), out);
}

bool ptxi_nvjitlink_publish(const char *callers, const char *ptx, char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);
    struct function f;
    const char *s = ptx, *from = ptx;

    if (!out)
        return false;
    for (; find_function(ptx, from, &f); from = f.name) {
        if (!calls(callers, &f) || !(f.external || f.plain))
            continue;
        copy(out, s, f.start);
        s = f.start;
        if (f.external)
            s = after(s, ";");      /* the LTO-IR does not define it, and only the kernel needs the declaration */
        else
            fputs(".visible ", out);
    }
    copy(out, s, s + strlen(s));
    if (fclose(out))
        return false;
    *size += 1;                     /* the NUL */
    return true;
}
