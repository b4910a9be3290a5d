/* A stack is captured as addresses, which is fast. They are turned into names when a launch has failed. */
#include "api/observe/host_stack.h"

#include "api/observe/symbol.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#ifdef HAVE_BACKTRACE
#include <execinfo.h>
#endif

enum { MOST_CALLS = 64 };

struct ptxi_host_stack {
    int count;
    void *at[]; /* return addresses */
};

static _Atomic bool enabled;

void ptxi_host_stack_enable(void)
{
    atomic_store(&enabled, true);
}

static struct ptxi_host_stack *capture(void)
{
#ifdef HAVE_BACKTRACE
    void *at[MOST_CALLS];
    int n = backtrace(at, MOST_CALLS);
    struct ptxi_host_stack *s = n > 0 ? malloc(sizeof *s + (size_t)n * sizeof *s->at) : NULL;

    if (s) {
        s->count = n;
        memcpy(s->at, at, (size_t)n * sizeof *s->at);
    }
    return s;
#else
    return NULL;
#endif
}

struct ptxi_host_stack *ptxi_host_stack_capture(void)
{
    return atomic_load_explicit(&enabled, memory_order_relaxed) ? capture() : NULL;
}

size_t ptxi_host_stack_size(const struct ptxi_host_stack *s)
{
    return sizeof *s + (size_t)s->count * sizeof *s->at;
}

struct ptxi_host_stack *ptxi_host_stack_copy(const struct ptxi_host_stack *s)
{
    size_t size = ptxi_host_stack_size(s);
    struct ptxi_host_stack *copy = malloc(size);

    return copy ? memcpy(copy, s, size) : NULL;
}

void ptxi_host_stack_free(struct ptxi_host_stack *s)
{
    free(s);
}

static const void *object_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

struct ptxi_host_stack *ptxi_host_stack_take(void)
{
    bool is_static = object_of((const void *)(uintptr_t)ptxi_host_stack_take) ==
                     object_of((const void *)getauxval(AT_ENTRY));

    return is_static ? NULL : capture();
}

/* The libraries that pass calls of a program on to libptxi. */
static bool is_binding(const char *file)
{
    static const char *const names[] = { "libcuda.so", "libcudart.so", "libgpuocelot.so" };
    const char *slash = strrchr(file, '/');

    file = slash ? slash + 1 : file;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Number of calls at the beginning that are not the program's. */
static int count_own(const struct ptxi_host_stack *s)
{
    const void *own = object_of((const void *)(uintptr_t)ptxi_host_stack_capture);
    const void *program = object_of((const void *)getauxval(AT_ENTRY));
    Dl_info info;
    int n = 1; /* capture() */

    /* With the static library, this code and the program are in one file. */
    while (n < s->count && dladdr(s->at[n], &info) &&
           ((info.dli_fbase == own && own != program) || is_binding(info.dli_fname)))
        n++;
    return n;
}

uintptr_t ptxi_host_stack_caller(const struct ptxi_host_stack *s)
{
    int n = count_own(s);

    return n < s->count ? (uintptr_t)s->at[n] : 0;
}

/* nvcc makes such functions between a launch and the runtime's call. */
static bool is_stub(const char *call)
{
    static const char *const parts[] = { "__cudaLaunchKernel_helper", "__device_stub_" };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call, parts[i]))
            return true;
    return false;
}

void ptxi_host_stack_print(const struct ptxi_host_stack *s, int most, struct ptxi_str *out)
{
    struct ptxi_str call;
    int number = 0;
    bool end = false;

    ptxi_str_init(&call, NULL);
    for (int i = count_own(s); i < s->count && !end && number < most; i++) {
        ptxi_str_clear(&call);
        end = ptxi_symbol_describe((char *)s->at[i] - 1, &call); /* the call is before the return address */
        if (!number && is_stub(ptxi_str_text(&call)))
            continue;
        ptxi_str_printf(out, "  #%d %s\n", number++, ptxi_str_text(&call));
    }
    ptxi_str_free(&call);
}
