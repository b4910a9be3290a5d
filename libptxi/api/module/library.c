/* Libraries: PTX that is loaded in each context when that first uses it. */
#include "api/module/load.h"

#include <stdlib.h>
#include <string.h>

struct ptxiKernel_st {
    struct ptxi_handle handle; /* a part of the library's */
    struct ptxiLibrary_st *library;
    const char *name;
};

/* What it is in a context. */
struct loaded {
    struct loaded *next;
    ptxiContext ctx;
    ptxiModule module;
};

struct ptxiLibrary_st {
    struct ptxi_handle handle;
    struct ptxiLibrary_st *next;
    struct ptxi_module_options options;
    char *text, *file;
    size_t size;
    struct ptxi_arena arena; /* names */
    struct ptxiKernel_st *kernels;
    unsigned count;
    struct loaded *loaded;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list, and what each has loaded */
static struct ptxiLibrary_st *libraries;

/* ---- handles */

static ptxiResult enter(ptxiLibrary l)
{
    ptxiResult r = ptxi_api_enter();

    return r ? r : ptxi_handle_use(l, PTXI_HANDLE_LIBRARY);
}

static ptxiResult enter_kernel(ptxiKernel k)
{
    ptxiResult r = ptxi_api_enter();

    return r ? r : ptxi_handle_use(k, PTXI_HANDLE_KERNEL);
}

/* ---- loading */

static bool list_kernels(struct ptxiLibrary_st *l, const struct ptxi_module_tree *tree)
{
    l->kernels = ARENA_NEW(&l->arena, struct ptxiKernel_st, tree->func_count + 1);
    for (uint32_t i = 0; l->kernels && i < tree->func_count; i++) {
        const struct ptxi_func *f = tree->funcs[i];

        if (!f->is_entry || !f->has_body)
            continue;
        struct ptxiKernel_st *k = &l->kernels[l->count++];

        *k = (struct ptxiKernel_st){ .library = l, .name = ptxi_arena_strndup(&l->arena, f->name->s, f->name->len) };
        if (!k->name)
            return false;
    }
    return l->kernels;
}

/* Parses the text, says what there is to say, and lists its kernels. */
static ptxiResult read(struct ptxiLibrary_st *l, struct ptxi_load_options *o, struct ptxi_arena *arena)
{
    struct ptxi_texts texts;
    struct ptxi_diag diags;

    ptxi_diag_init(&diags, arena);
    if (!ptxi_image_read(l->text, l->size, l->options.name, arena, &texts))
        return arena->oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_IMAGE;
    struct ptxi_parse_options options = { .file = l->options.name, .parts = &texts, .dialect = l->options.dialect };
    const struct ptxi_module_tree *tree = ptxi_parse(NULL, 0, &options, arena, &diags);

    if (!tree && (arena->oom || diags.oom || !diags.errors))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_load_say(o, &diags, &texts);
    if (!tree)
        return ptxi_load_is_ptx(l->text) ? PTXI_ERROR_INVALID_PTX : PTXI_ERROR_INVALID_IMAGE;
    return list_kernels(l, tree) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

static void free_library(void *library)
{
    struct ptxiLibrary_st *l = library;

    for (unsigned i = 0; l->kernels && i < l->count; i++)
        ptxi_handle_remove(&l->kernels[i].handle);
    ptxi_arena_free(&l->arena);
    free(l->text);
    free(l->file);
    free(l);
}

static bool add_handles(struct ptxiLibrary_st *l)
{
    bool ok = ptxi_handle_add(&l->handle, PTXI_HANDLE_LIBRARY, NULL, free_library);

    for (unsigned i = 0; ok && i < l->count; i++)
        ok = ptxi_handle_add_part(&l->kernels[i].handle, PTXI_HANDLE_KERNEL, &l->handle);
    return ok;
}

/* Takes the text over. */
static ptxiResult make(ptxiLibrary *library, char *text, size_t size, struct ptxi_load_options *o)
{
    struct ptxiLibrary_st *l = calloc(1, sizeof *l);
    struct ptxi_arena arena;

    if (!l) {
        free(text);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    ptxi_arena_init(&l->arena, NULL);
    l->text = text;
    l->size = size;
    l->file = strdup(o->module.name ? o->module.name : "<ptx>");
    l->options = o->module;
    l->options.name = l->file;
    ptxi_arena_init(&arena, NULL);
    ptxiResult r = l->file ? read(l, o, &arena) : PTXI_ERROR_OUT_OF_MEMORY;

    ptxi_arena_free(&arena);
    if (!r && !add_handles(l)) {
        ptxi_handle_remove(&l->handle);
        r = PTXI_ERROR_OUT_OF_MEMORY;
    }
    if (r) {
        free_library(l);
        return r;
    }
    pthread_mutex_lock(&lock);
    l->next = libraries;
    libraries = l;
    pthread_mutex_unlock(&lock);
    *library = l;
    return PTXI_SUCCESS;
}

static ptxiResult check_options(const ptxiLibraryOption *options, void **values, unsigned n)
{
    if (n && (!options || !values))
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++)
        if ((unsigned)options[i] > PTXI_LIBRARY_BINARY_IS_PRESERVED)
            return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}

ptxiResult ptxiLibraryLoadData(ptxiLibrary *library, const void *code, ptxiJitOption *jitOptions, void **jitOptionsValues, unsigned numJitOptions,
                               ptxiLibraryOption *libraryOptions, void **libraryOptionValues, unsigned numLibraryOptions)
{
    API_CALL;
    struct ptxi_load_options o = { .wall_time = NULL };
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!library || !code)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_load_options(&o, numJitOptions, jitOptions, jitOptionsValues)) || (r = check_options(libraryOptions, libraryOptionValues, numLibraryOptions)))
        return r;
    char *text = strdup(code);

    return text ? make(library, text, strlen(text), &o) : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiLibraryLoadFromFile(ptxiLibrary *library, const char *fileName, ptxiJitOption *jitOptions, void **jitOptionsValues,
                                   unsigned numJitOptions, ptxiLibraryOption *libraryOptions, void **libraryOptionValues, unsigned numLibraryOptions)
{
    API_CALL;
    struct ptxi_load_options o = { .module.name = fileName };
    ptxiResult r = ptxi_api_enter();
    char *text;
    size_t size;

    if (r)
        return r;
    if (!library || !fileName)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_load_options(&o, numJitOptions, jitOptions, jitOptionsValues)) || (r = check_options(libraryOptions, libraryOptionValues, numLibraryOptions)) ||
        (r = ptxi_load_read_file(fileName, &text, &size)))
        return r;
    return make(library, text, size, &o);
}

static struct loaded *find_loaded(const struct ptxiLibrary_st *l, ptxiContext ctx)
{
    struct loaded *at = l->loaded;

    while (at && at->ctx != ctx)
        at = at->next;
    return at;
}

/* Takes what belongs to the context off the list. */
static struct loaded *take_loaded(struct ptxiLibrary_st *l, ptxiContext ctx)
{
    for (struct loaded **p = &l->loaded; *p; p = &(*p)->next)
        if ((*p)->ctx == ctx) {
            struct loaded *at = *p;

            *p = at->next;
            return at;
        }
    return NULL;
}

/* Take the first module off the list and free its entry. NULL if the list is empty. The module may be gone with its context. */
static ptxiModule take_module(struct ptxiLibrary_st *l)
{
    ptxiModule m = NULL;

    pthread_mutex_lock(&lock);
    struct loaded *at = l->loaded;

    if (at) {
        m = at->module;
        l->loaded = at->next;
    }
    pthread_mutex_unlock(&lock);
    free(at);
    return m;
}

static ptxiResult load_locked(struct ptxiLibrary_st *l, ptxiContext ctx, ptxiModule *module)
{
    struct ptxi_load_options o = { .module = l->options };
    struct loaded *at = find_loaded(l, ctx);
    ptxiResult r = PTXI_SUCCESS;

    if (!ptxi_handle_is(l, PTXI_HANDLE_LIBRARY)) /* another thread unloads it */
        return PTXI_ERROR_INVALID_HANDLE;
    if (!at) {
        char *text = malloc(l->size + 1);

        at = malloc(sizeof *at);
        if (!at || !text) {
            free(at);
            free(text);
            return PTXI_ERROR_OUT_OF_MEMORY;
        }
        *at = (struct loaded){ .next = l->loaded, .ctx = ctx };
        r = ptxi_load_text(ctx, memcpy(text, l->text, l->size + 1), l->size, &o, &at->module);
        if (r) {
            free(at);
            return r;
        }
        at->module->of_library = true;
        l->loaded = at;
    }
    *module = at->module;
    return PTXI_SUCCESS;
}

static ptxiResult load(ptxiLibrary l, ptxiContext ctx, ptxiModule *module)
{
    pthread_mutex_lock(&lock);
    ptxiResult r = load_locked(l, ctx, module);

    pthread_mutex_unlock(&lock);
    return r;
}

void ptxi_api_forget_libraries(ptxiContext ctx)
{
    pthread_mutex_lock(&lock);
    for (struct ptxiLibrary_st *l = libraries; l; l = l->next)
        free(take_loaded(l, ctx));
    pthread_mutex_unlock(&lock);
}

static void unlist(struct ptxiLibrary_st *l)
{
    struct ptxiLibrary_st **p = &libraries;

    pthread_mutex_lock(&lock);
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    pthread_mutex_unlock(&lock);
}

/* An entry point of its own, so that the call holds one context at a time. */
static void unload_module(ptxiModule m)
{
    API_CALL;

    if (!ptxi_handle_use(m, PTXI_HANDLE_MODULE))
        ptxi_module_unload(m);
}

ptxiResult ptxiLibraryUnload(ptxiLibrary library)
{
    API_CALL;
    ptxiResult r = enter(library);

    if (r)
        return r;
    if ((r = ptxi_handle_retire(library, PTXI_HANDLE_LIBRARY)))
        return r;
    unlist(library);
    for (ptxiModule m; (m = take_module(library));)
        unload_module(m);
    ptxi_handle_unref(&library->handle);
    return PTXI_SUCCESS;
}

/* ---- kernels */

ptxiResult ptxiLibraryGetKernel(ptxiKernel *pKernel, ptxiLibrary library, const char *name)
{
    API_CALL;
    ptxiResult r = enter(library);

    if (r)
        return r;
    if (!pKernel || !name)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < library->count; i++)
        if (!strcmp(library->kernels[i].name, name)) {
            *pKernel = &library->kernels[i];
            return PTXI_SUCCESS;
        }
    return PTXI_ERROR_NOT_FOUND;
}

ptxiResult ptxiLibraryGetKernelCount(unsigned *count, ptxiLibrary lib)
{
    API_CALL;
    ptxiResult r = enter(lib);

    if (r)
        return r;
    if (!count)
        return PTXI_ERROR_INVALID_VALUE;
    *count = lib->count;
    return PTXI_SUCCESS;
}

ptxiResult ptxiLibraryEnumerateKernels(ptxiKernel *kernels, unsigned numKernels, ptxiLibrary lib)
{
    API_CALL;
    ptxiResult r = enter(lib);

    if (r)
        return r;
    if (!kernels)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numKernels && i < lib->count; i++)
        kernels[i] = &lib->kernels[i];
    return PTXI_SUCCESS;
}

ptxiResult ptxiKernelGetName(const char **name, ptxiKernel hfunc)
{
    API_CALL;
    ptxiResult r = name && hfunc ? enter_kernel(hfunc) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    *name = hfunc->name;
    return PTXI_SUCCESS;
}

ptxiResult ptxiKernelGetLibrary(ptxiLibrary *pLib, ptxiKernel kernel)
{
    API_CALL;
    ptxiResult r = enter_kernel(kernel);

    if (r)
        return r;
    if (!pLib)
        return PTXI_ERROR_INVALID_VALUE;
    *pLib = kernel->library;
    return PTXI_SUCCESS;
}

/* ---- in a context */

static ptxiResult enter_module(ptxiLibrary l, ptxiModule *module)
{
    ptxiContext ctx;
    ptxiResult r = enter(l);

    return r || (r = ptxi_api_context(&ctx)) ? r : load(l, ctx, module);
}

ptxiResult ptxiLibraryGetModule(ptxiModule *pMod, ptxiLibrary library)
{
    API_CALL;
    ptxiModule m;
    ptxiResult r = pMod ? enter_module(library, &m) : PTXI_ERROR_INVALID_VALUE;

    if (!r)
        *pMod = m;
    return r;
}

ptxiResult ptxiLibraryGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name)
{
    API_CALL;
    ptxiModule m;
    ptxiResult r = enter_module(library, &m);

    return r ? r : ptxiModuleGetGlobal(dptr, bytes, m, name);
}

ptxiResult ptxiLibraryGetManaged(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name)
{
    API_CALL;
    ptxiDevicePtr address;
    size_t size;
    int managed = 0;
    ptxiKernel kernel;
    ptxiResult r = !dptr && !bytes ? PTXI_ERROR_INVALID_VALUE : ptxiLibraryGetGlobal(&address, &size, library, name);

    if (r == PTXI_ERROR_INVALID_VALUE && name && !ptxiLibraryGetKernel(&kernel, library, name))
        return PTXI_ERROR_NOT_FOUND;
    if (r || (r = ptxiPointerGetAttribute(&managed, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, address)))
        return r;
    if (!managed)
        return PTXI_ERROR_NOT_FOUND;
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_kernel_function(ptxiContext ctx, ptxiKernel k, ptxiFunction *f)
{
    ptxiModule m;
    ptxiResult r = load(k->library, ctx, &m);

    return r ? r : ptxiModuleGetFunction(f, m, k->name);
}

ptxiResult ptxiKernelGetFunction(ptxiFunction *pFunc, ptxiKernel kernel)
{
    API_CALL;
    ptxiContext ctx;
    ptxiFunction f;
    ptxiResult r = enter_kernel(kernel);

    if (r)
        return r;
    if (!pFunc)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_context(&ctx)) || (r = ptxi_kernel_function(ctx, kernel, &f)))
        return r;
    *pFunc = f;
    return PTXI_SUCCESS;
}

static ptxiResult enter_function(ptxiKernel k, ptxiFunction *f)
{
    ptxiResult r = enter_kernel(k);

    return r ? r : ptxiKernelGetFunction(f, k);
}

/* What calls begin with that name a device, too. */
static ptxiResult enter_on(ptxiKernel k, ptxiDevice dev, ptxiFunction *f)
{
    ptxiResult r = enter_kernel(k);

    return r || (r = ptxi_api_device(dev)) ? r : enter_function(k, f);
}

ptxiResult ptxiKernelGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiKernel kernel, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = enter_on(kernel, dev, &f);

    return r ? r : ptxiFuncGetAttribute(pi, attrib, f);
}

ptxiResult ptxiKernelSetAttribute(ptxiFunctionAttribute attrib, int val, ptxiKernel kernel, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = enter_on(kernel, dev, &f);

    return r ? r : ptxiFuncSetAttribute(f, attrib, val);
}

ptxiResult ptxiKernelSetCacheConfig(ptxiKernel kernel, ptxiFuncCache config, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = enter_on(kernel, dev, &f);

    return r ? r : ptxiFuncSetCacheConfig(f, config);
}

ptxiResult ptxiKernelGetParamInfo(ptxiKernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = kernel ? enter_function(kernel, &f) : PTXI_ERROR_INVALID_VALUE;

    return r ? r : ptxiFuncGetParamInfo(f, paramIndex, paramOffset, paramSize);
}
