/* The device code of the program. nvcc's host code registers fat binaries, kernels and variables before main() begins;
 * a fat binary is loaded when one of its kernels or variables is used for the first time ("lazy loading"). */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A fat binary of the program or of one of its shared libraries. */
struct fat_binary {
    const void *wrapper;            /* structure that nvcc emits; owned by the program */
    ptxiLibrary library;            /* NULL: not loaded */
    int error;                      /* result of the attempt to load it */
    bool tried;
};

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_VARIABLE, SYMBOL_MANAGED };

/* Address of the host that names a kernel or a variable. */
struct symbol {
    const void *host;               /* key: the host function or the shadow of the variable */
    struct fat_binary *owner;
    const char *name;               /* in the PTX; owned by the program */
    enum symbol_kind kind;
    void **address;                 /* SYMBOL_MANAGED: where the program reads the address of the variable */
    size_t bytes;                   /* of a variable */
    _Atomic(ptxiKernel) kernel;     /* NULL: not loaded */
    UT_hash_handle hh;
};

/* Guards the table and the loading of fat binaries. Kernels are looked up far more often than they are registered. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct symbol *symbols;

static struct symbol *find_symbol(const void *host)
{
    struct symbol *s;

    pthread_rwlock_rdlock(&lock);
    HASH_FIND_PTR(symbols, &host, s);
    pthread_rwlock_unlock(&lock);
    return s;
}

/* nvcc replaces a managed variable in an expression by the memory that its pointer points to, so the address of the
 * variable is that of this memory. */
static struct symbol *find_managed(const void *address)
{
    struct symbol *found = NULL;

    pthread_rwlock_rdlock(&lock);
    for (struct symbol *s = symbols; s && !found; s = (struct symbol *)s->hh.next)
        if (s->kind == SYMBOL_MANAGED && *s->address == address)
            found = s;
    pthread_rwlock_unlock(&lock);
    return found;
}

/* ---- registration */

static void add_symbol(void **handle, const void *host, const char *name, enum symbol_kind kind, void **address,
                       size_t bytes)
{
    struct symbol *s = calloc(1, sizeof *s), *old;

    if (!s)
        return; /* The function has no result. Uses of the symbol fail with an error. */
    *s = (struct symbol){ .host = host, .owner = (struct fat_binary *)handle, .name = name, .kind = kind,
                          .address = address, .bytes = bytes };
    pthread_rwlock_wrlock(&lock);
    HASH_FIND_PTR(symbols, &host, old);
    if (!old)
        HASH_ADD_PTR(symbols, host, s);
    pthread_rwlock_unlock(&lock);
    if (old || !s->hh.tbl)
        free(s);
}

PTXI_API void **__cudaRegisterFatBinary(void *wrapper);
PTXI_API void **__cudaRegisterFatBinary(void *wrapper)
{
    struct fat_binary *f = calloc(1, sizeof *f);

    if (f)
        f->wrapper = wrapper;
    return (void **)f;
}

PTXI_API void __cudaRegisterFatBinaryEnd(void **handle);
PTXI_API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* Called when the program ends, or when one of its shared libraries is closed. */
PTXI_API void __cudaUnregisterFatBinary(void **handle);
PTXI_API void __cudaUnregisterFatBinary(void **handle)
{
    struct fat_binary *f = (struct fat_binary *)handle;
    struct symbol *s, *next;

    if (!f)
        return;
    pthread_rwlock_wrlock(&lock);
    HASH_ITER (hh, symbols, s, next) {
        if (s->owner != f)
            continue;
        HASH_DEL(symbols, s);
        free(s);
    }
    pthread_rwlock_unlock(&lock);
    if (f->library)
        ptxiLibraryUnload(f->library);
    free(f);
}

PTXI_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                     void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size);
PTXI_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                     void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    add_symbol(handle, host, name, SYMBOL_KERNEL, NULL, 0);
}

PTXI_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_external,
                                size_t bytes, int constant, int global);
PTXI_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_external,
                                size_t bytes, int constant, int global)
{
    (void)device, (void)is_external, (void)constant, (void)global;
    add_symbol(handle, host, name, SYMBOL_VARIABLE, NULL, bytes);
}

PTXI_API void __cudaRegisterManagedVar(void **handle, void **address, char *device, const char *name, int is_external,
                                       size_t bytes, int constant, int global);
PTXI_API void __cudaRegisterManagedVar(void **handle, void **address, char *device, const char *name, int is_external,
                                       size_t bytes, int constant, int global)
{
    (void)device, (void)is_external, (void)constant, (void)global;
    add_symbol(handle, address, name, SYMBOL_MANAGED, address, bytes);
}

/* Variables of the host that kernels use exist only with heterogeneous memory management, and unified tables only for
 * functions that host and device share. PTX does not refer to them. */
PTXI_API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
PTXI_API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}

PTXI_API void __cudaRegisterUnifiedTable(void **handle, void *table);
PTXI_API void __cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)handle, (void)table;
}

/* ---- loading */

/* A program usually ignores this error and prints wrong results, so the reason is also written to stderr. */
static void print_load_error(const struct symbol *s, int error)
{
    ptxiDiagnostic d;
    const char *text = NULL;

    ptxiGetErrorString((ptxiResult)error, &text);
    if (!ptxiGetLastDiagnostic(0, &d) && d.message)
        text = d.message;
    fprintf(stderr, "libptxi: the device code of '%s' cannot be loaded: %s\n", s->name, text ? text : "unknown error");
}

static int load(struct symbol *s)
{
    struct fat_binary *f = s->owner;

    if (!f->tried) {
        f->tried = true;
        f->error = ptxiLibraryLoadData(&f->library, f->wrapper, NULL, NULL, 0, NULL, NULL, 0);
        if (f->error)
            print_load_error(s, f->error);
    }
    return f->error;
}

static int load_owner(struct symbol *s)
{
    int error;

    pthread_rwlock_wrlock(&lock);
    error = load(s);
    pthread_rwlock_unlock(&lock);
    return error;
}

/* Loads the kernel of a symbol unless that is done. */
static int load_kernel(struct symbol *s, ptxiKernel *kernel)
{
    int error;

    *kernel = s->kernel;
    if (*kernel)
        return 0;
    if (s->kind != SYMBOL_KERNEL)
        return ERROR_INVALID_DEVICE_FUNCTION;
    error = load_owner(s);
    if (!error)
        error = ptxiLibraryGetKernel(kernel, s->owner->library, s->name);
    if (error == PTXI_ERROR_NOT_FOUND)
        return ERROR_INVALID_DEVICE_FUNCTION;
    if (!error)
        s->kernel = *kernel;
    return error;
}

/* Writes the addresses of the managed variables of a fat binary to the program. */
static int load_managed(struct fat_binary *f)
{
    int error = 0;

    pthread_rwlock_wrlock(&lock);
    for (struct symbol *s = symbols; s && !error; s = (struct symbol *)s->hh.next) {
        ptxiDevicePtr address;
        size_t bytes;

        if (s->owner != f || s->kind != SYMBOL_MANAGED)
            continue;
        error = load(s);
        if (!error)
            error = ptxiLibraryGetManaged(&address, &bytes, f->library, s->name);
        if (!error)
            *s->address = (void *)address;
    }
    pthread_rwlock_unlock(&lock);
    return error;
}

/* Called before the host uses a managed variable for the first time. */
PTXI_API char __cudaInitModule(void **handle);
PTXI_API char __cudaInitModule(void **handle)
{
    int error = ptxi_runtime_enter();

    if (!error && handle)
        error = load_managed((struct fat_binary *)handle);
    if (error)
        ptxi_runtime_record(__func__, error);
    return !error;
}

/* ---- look-up */

/* Called once for each kernel that the program launches. The result is only used as an argument of
 * __cudaLaunchKernel(). */
PTXI_API int __cudaGetKernel(const void **symbol, const void *function);
PTXI_API int __cudaGetKernel(const void **symbol, const void *function)
{
    *symbol = find_symbol(function);
    return *symbol ? 0 : ptxi_runtime_record(__func__, ERROR_INVALID_DEVICE_FUNCTION);
}

int ptxi_runtime_find_symbol_kernel(const void *symbol, ptxiFunction *result)
{
    ptxiKernel kernel;
    int error = symbol ? load_kernel((struct symbol *)(uintptr_t)symbol, &kernel) : ERROR_INVALID_DEVICE_FUNCTION;

    *result = error ? NULL : (ptxiFunction)kernel;
    return error;
}

int ptxi_runtime_find_kernel(const void *function, ptxiFunction *result)
{
    struct symbol *s = find_symbol(function);
    ptxiKernel kernel;
    ptxiModule module;
    const char *name;
    int error;

    if (s && s->kind == SYMBOL_KERNEL) {
        error = load_kernel(s, &kernel);
        *result = (ptxiFunction)kernel;
        return error;
    }
    /* A handle that cudaGetKernel(), cudaLibraryGetKernel() or cudaGetFuncBySymbol() returned. */
    *result = (ptxiFunction)(uintptr_t)function;
    if (!function)
        return ERROR_INVALID_DEVICE_FUNCTION;
    if (!ptxiKernelGetName(&name, (ptxiKernel)(uintptr_t)function) || !ptxiFuncGetModule(&module, *result))
        return 0;
    return PTXI_ERROR_INVALID_HANDLE;
}

void *ptxi_runtime_find_host_function(ptxiFunction function, ptxiKernel kernel)
{
    void *host = NULL;

    pthread_rwlock_rdlock(&lock);
    for (struct symbol *s = symbols; s && !host; s = (struct symbol *)s->hh.next) {
        ptxiKernel loaded = s->kernel;
        ptxiFunction current;

        if (loaded && (loaded == kernel || (ptxiFunction)loaded == function ||
                       (!ptxiKernelGetFunction(&current, loaded) && current == function)))
            host = (void *)(uintptr_t)s->host;
    }
    pthread_rwlock_unlock(&lock);
    if (host)
        return host;
    return function ? (void *)function : (void *)kernel;
}

int ptxi_runtime_find_variable(const void *symbol, ptxiDevicePtr *address, size_t *bytes)
{
    struct symbol *s = find_symbol(symbol);
    size_t unused;
    int error;

    if (!s && symbol)
        s = find_managed(symbol);
    if (!s || s->kind == SYMBOL_KERNEL)
        return ERROR_INVALID_SYMBOL;
    error = load_owner(s);
    if (error)
        return error;
    if (s->kind == SYMBOL_MANAGED)
        error = ptxiLibraryGetManaged(address, bytes ? bytes : &unused, s->owner->library, s->name);
    else
        error = ptxiLibraryGetGlobal(address, bytes ? bytes : &unused, s->owner->library, s->name);
    return error == PTXI_ERROR_NOT_FOUND ? ERROR_INVALID_SYMBOL : error;
}

int ptxi_runtime_get_kernel(ptxiKernel *kernel, const void *function)
{
    struct symbol *s = find_symbol(function);

    if (!kernel)
        return PTXI_ERROR_INVALID_VALUE;
    return s ? load_kernel(s, kernel) : ERROR_INVALID_DEVICE_FUNCTION;
}

int ptxi_runtime_get_function(ptxiFunction *result, const void *symbol)
{
    ptxiFunction kernel;
    int error;

    if (!result)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxi_runtime_find_kernel(symbol, &kernel);
    if (error == PTXI_ERROR_INVALID_HANDLE)
        return ERROR_INVALID_DEVICE_FUNCTION;
    return error ? error : (int)ptxiKernelGetFunction(result, (ptxiKernel)kernel);
}

int ptxi_runtime_get_symbol_address(void **address, const void *symbol)
{
    ptxiDevicePtr found = 0;
    int error;

    if (!address)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxi_runtime_find_variable(symbol, &found, NULL);
    if (!error)
        *address = (void *)found;
    return error;
}

int ptxi_runtime_get_symbol_size(size_t *bytes, const void *symbol)
{
    ptxiDevicePtr address;

    return bytes ? ptxi_runtime_find_variable(symbol, &address, bytes) : (int)PTXI_ERROR_INVALID_VALUE;
}
