#include "api/module/library.h"

#include "api/memory/heap.h"
#include "api/module/binary.h"
#include "api/module/image.h"
#include "api/module/load.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ptxiKernel_st {
    struct ptxi_handle handle; /* a part of the library */
    struct ptxiLibrary_st *library;
    const char *name;
};

/* The module of a library in a context. */
struct loaded {
    struct loaded *next;
    ptxiContext ctx;
    ptxiModule module;
};

/* The PTX for devices sm_<sm>. */
struct device_text {
    unsigned sm;
    ptxiResult result;       /* error if there is no PTX for these devices */
    char *text;              /* has a NUL after its `size` bytes */
    size_t size;
};

/* The texts for the different devices; the first one is for device 0. */
struct device_texts {
    struct device_text at[PTXI_MAX_DEVICES];
    unsigned count;
};

struct ptxiLibrary_st {
    struct ptxi_handle handle;
    struct ptxiLibrary_st *next;
    struct ptxi_module_options options;
    struct device_texts texts;
    char *file;
    struct ptxi_arena arena; /* names */
    struct ptxiKernel_st *kernels;
    unsigned count;
    struct loaded *loaded;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and of the modules of each library */
static struct ptxiLibrary_st *libraries;

/* ---- handles */

static ptxiResult enter_library(ptxiLibrary l)
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

static bool list_kernels(struct ptxiLibrary_st *l, const struct ptxi_module_ast *tree)
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

/* The text for the first device that has one. All texts have the same kernels. */
static const struct device_text *first_text(const struct ptxiLibrary_st *l)
{
    unsigned i = 0;

    while (l->texts.at[i].result)
        i++;
    assert(i < l->texts.count);
    return &l->texts.at[i];
}

/* Parses the text, reports messages, and lists the kernels. */
static ptxiResult parse_library(struct ptxiLibrary_st *l, struct ptxi_load_options *o, struct ptxi_arena *arena)
{
    struct ptxi_texts texts;
    struct ptxi_diag diags;

    ptxi_diag_init(&diags, arena);
    const struct device_text *first = first_text(l);

    if (!ptxi_image_read(first->text, first->size, l->options.name, arena, &texts))
        return arena->oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_IMAGE;
    struct ptxi_parse_options options = { .file = l->options.name, .parts = &texts, .dialect = l->options.dialect };
    const struct ptxi_module_ast *tree = ptxi_parse(NULL, 0, &options, arena, &diags);

    if (!tree && (arena->oom || diags.oom || !diags.errors))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_load_report(o, &diags, &texts);
    if (!tree)
        return ptxi_load_is_ptx(first->text) ? PTXI_ERROR_INVALID_PTX : PTXI_ERROR_INVALID_IMAGE;
    return list_kernels(l, tree) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

static void free_texts(struct device_texts *texts)
{
    for (unsigned i = 0; i < texts->count; i++)
        free(texts->at[i].text);
    texts->count = 0;
}

static void free_library(void *library)
{
    struct ptxiLibrary_st *l = library;

    for (unsigned i = 0; l->kernels && i < l->count; i++)
        ptxi_handle_remove(&l->kernels[i].handle);
    ptxi_arena_free(&l->arena);
    free_texts(&l->texts);
    free(l->file);
    free(l);
}

static bool add_handles(struct ptxiLibrary_st *l)
{
    bool ok = true;

    ptxi_handle_init(&l->handle, PTXI_HANDLE_LIBRARY, NULL, free_library);
    for (unsigned i = 0; ok && i < l->count; i++)
        ok = ptxi_handle_add_part(&l->kernels[i].handle, PTXI_HANDLE_KERNEL, &l->handle);
    return ok && ptxi_handle_publish(&l->handle);
}

static void list_library(struct ptxiLibrary_st *l)
{
    pthread_mutex_lock(&lock);
    l->next = libraries;
    libraries = l;
    pthread_mutex_unlock(&lock);
}

static void unlist_library(struct ptxiLibrary_st *l)
{
    struct ptxiLibrary_st **p = &libraries;

    pthread_mutex_lock(&lock);
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    pthread_mutex_unlock(&lock);
}

/* Takes ownership of the texts, of which at least one is valid. */
static ptxiResult make_library(ptxiLibrary *library, struct device_texts *texts, struct ptxi_load_options *o)
{
    struct ptxiLibrary_st *l = calloc(1, sizeof *l);
    struct ptxi_arena arena;

    if (!l) {
        free_texts(texts);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    ptxi_arena_init(&l->arena, NULL);
    l->texts = *texts;
    l->file = strdup(o->module.name ? o->module.name : "<ptx>");
    l->options = o->module;
    l->options.name = l->file;
    ptxi_arena_init(&arena, NULL);
    ptxiResult r = l->file ? parse_library(l, o, &arena) : PTXI_ERROR_OUT_OF_MEMORY;

    ptxi_arena_free(&arena);
    if (r) {
        free_library(l);
        return r;
    }
    list_library(l);
    if (!add_handles(l)) {
        unlist_library(l);
        free_library(l);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *library = l;
    return PTXI_SUCCESS;
}

/* Chooses the PTX for one kind of device out of an image. */
typedef ptxiResult choose_text(const void *image, size_t image_size, unsigned sm, struct ptxi_load_options *o,
                               struct device_text *text);

static ptxiResult choose_from_memory(const void *image, size_t image_size, unsigned sm, struct ptxi_load_options *o,
                                     struct device_text *text)
{
    (void)image_size;
    return ptxi_binary_read(image, sm, o, &text->text, &text->size);
}

static ptxiResult choose_from_file(const void *image, size_t image_size, unsigned sm, struct ptxi_load_options *o,
                                   struct device_text *text)
{
    char *copy = malloc(image_size + 1);

    if (!copy)
        return PTXI_ERROR_OUT_OF_MEMORY;
    return ptxi_binary_convert(memcpy(copy, image, image_size + 1), image_size, sm, o, &text->text, &text->size);
}

static bool has_text(const struct device_texts *texts, unsigned sm)
{
    for (unsigned i = 0; i < texts->count; i++)
        if (texts->at[i].sm == sm)
            return true;
    return false;
}

/* A library belongs to no context, so its PTX is chosen for all devices. Fails if no device can use the image. */
static ptxiResult choose_texts(const void *image, size_t image_size, choose_text *choose, struct ptxi_load_options *o,
                               struct device_texts *texts)
{
    bool usable = false;

    texts->count = 0;
    for (unsigned i = 0; i < ptxi_state.device_count; i++) {
        const unsigned sm = atomic_load(&ptxi_state.devices[i].profile)->sm;
        struct device_text *t = &texts->at[texts->count];

        if (has_text(texts, sm))
            continue;
        *t = (struct device_text){ .sm = sm };
        t->result = choose(image, image_size, sm, o, t);
        usable |= !t->result;
        texts->count++;
    }
    return usable ? PTXI_SUCCESS : texts->at[0].result;
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

ptxiResult ptxiLibraryLoadData(ptxiLibrary *library, const void *code, ptxiJitOption *jitOptions,
                               void **jitOptionsValues, unsigned numJitOptions,
                               ptxiLibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned numLibraryOptions)
{
    API_CALL;
    struct ptxi_load_options o = { .wall_time = NULL };
    struct device_texts texts;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!library || !code)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_load_options(&o, numJitOptions, jitOptions, jitOptionsValues)) ||
        (r = check_options(libraryOptions, libraryOptionValues, numLibraryOptions)))
        return r;
    r = choose_texts(code, 0, choose_from_memory, &o, &texts);
    return r ? r : make_library(library, &texts, &o);
}

ptxiResult ptxiLibraryLoadFromFile(ptxiLibrary *library, const char *fileName, ptxiJitOption *jitOptions,
                                   void **jitOptionsValues,
                                   unsigned numJitOptions, ptxiLibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned numLibraryOptions)
{
    API_CALL;
    struct ptxi_load_options o = { .module.name = fileName };
    struct device_texts texts;
    ptxiResult r = ptxi_api_enter();
    char *image;
    size_t size;

    if (r)
        return r;
    if (!library || !fileName)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_load_options(&o, numJitOptions, jitOptions, jitOptionsValues)) ||
        (r = check_options(libraryOptions, libraryOptionValues, numLibraryOptions)) ||
        (r = ptxi_load_read_file(fileName, &image, &size)))
        return r;
    r = choose_texts(image, size, choose_from_file, &o, &texts);
    free(image);
    return r ? r : make_library(library, &texts, &o);
}

static struct loaded *find_loaded(const struct ptxiLibrary_st *l, ptxiContext ctx)
{
    struct loaded *at = l->loaded;

    while (at && at->ctx != ctx)
        at = at->next;
    return at;
}

/* Removes the entry of a context from the list. */
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

/* Removes the first module from the list. NULL if the list is empty. The context, and with it the module, may be
 * destroyed already. */
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

/* The text for a device. A device that got another profile after the library was loaded uses the first text. */
static const struct device_text *text_for(const struct ptxiLibrary_st *l, unsigned sm)
{
    for (unsigned i = 0; i < l->texts.count; i++)
        if (l->texts.at[i].sm == sm)
            return &l->texts.at[i];
    return first_text(l);
}

static ptxiResult load_module(struct ptxiLibrary_st *l, ptxiContext ctx, ptxiModule *module)
{
    const struct device_text *t = text_for(l, ctx->profile->sm);
    struct ptxi_load_options o = { .module = l->options };
    char *copy;

    if (t->result)
        return t->result;
    o.module.of_library = true;
    copy = malloc(t->size + 1);
    if (!copy)
        return PTXI_ERROR_OUT_OF_MEMORY;
    return ptxi_load_text(ctx, memcpy(copy, t->text, t->size + 1), t->size, &o, module);
}

static ptxiResult load_locked(struct ptxiLibrary_st *l, ptxiContext ctx, ptxiModule *module)
{
    struct loaded *at = find_loaded(l, ctx);

    if (!ptxi_handle_is(l, PTXI_HANDLE_LIBRARY)) /* another thread is unloading it */
        return PTXI_ERROR_INVALID_HANDLE;
    if (!at) {
        at = malloc(sizeof *at);
        if (!at)
            return PTXI_ERROR_OUT_OF_MEMORY;
        *at = (struct loaded){ .next = l->loaded, .ctx = ctx };
        ptxiResult r = load_module(l, ctx, &at->module);

        if (r) {
            free(at);
            return r;
        }
        assert(at->module->ctx == ctx);
        l->loaded = at;
    }
    *module = at->module;
    return PTXI_SUCCESS;
}

static ptxiResult load_in_context(ptxiLibrary l, ptxiContext ctx, ptxiModule *module)
{
    pthread_mutex_lock(&lock);
    ptxiResult r = load_locked(l, ctx, module);

    pthread_mutex_unlock(&lock);
    return r;
}

void ptxi_libraries_forget(ptxiContext ctx)
{
    pthread_mutex_lock(&lock);
    for (struct ptxiLibrary_st *l = libraries; l; l = l->next)
        free(take_loaded(l, ctx));
    pthread_mutex_unlock(&lock);
}

/* A call of its own, so that a thread holds one context at a time. */
static void unload_module(ptxiModule m)
{
    API_CALL;

    if (!ptxi_handle_use(m, PTXI_HANDLE_MODULE))
        ptxi_module_unload(m);
}

ptxiResult ptxiLibraryUnload(ptxiLibrary library)
{
    API_CALL;
    ptxiResult r = enter_library(library);

    if (r)
        return r;
    if ((r = ptxi_handle_retire(library, PTXI_HANDLE_LIBRARY)))
        return r;
    unlist_library(library);
    for (ptxiModule m; (m = take_module(library));)
        unload_module(m);
    ptxi_handle_unref(&library->handle);
    return PTXI_SUCCESS;
}

/* ---- kernels */

static struct ptxiKernel_st *find_kernel(const struct ptxiLibrary_st *l, const char *name)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!strcmp(l->kernels[i].name, name))
            return &l->kernels[i];
    return NULL;
}

ptxiResult ptxiLibraryGetKernel(ptxiKernel *pKernel, ptxiLibrary library, const char *name)
{
    API_CALL;
    ptxiResult r = enter_library(library);

    if (r)
        return r;
    if (!pKernel || !name)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxiKernel_st *k = find_kernel(library, name);

    if (!k)
        return PTXI_ERROR_NOT_FOUND;
    *pKernel = k;
    return PTXI_SUCCESS;
}

ptxiResult ptxiLibraryGetKernelCount(unsigned *count, ptxiLibrary lib)
{
    API_CALL;
    ptxiResult r = enter_library(lib);

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
    ptxiResult r = enter_library(lib);

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
    ptxiResult r = enter_library(l);

    return r || (r = ptxi_api_context(&ctx)) ? r : load_in_context(l, ctx, module);
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

static ptxiResult get_global(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary l, const char *name)
{
    ptxiModule m;
    ptxiResult r = enter_module(l, &m);

    return r ? r : ptxi_module_get_global(m, name, dptr, bytes);
}

ptxiResult ptxiLibraryGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name)
{
    API_CALL;
    return get_global(dptr, bytes, library, name);
}

static bool is_managed(ptxiDevicePtr address)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    return ptxi_heap_find(address, &b, &region) && region.flags & PTXI_MEM_MANAGED;
}

ptxiResult ptxiLibraryGetManaged(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name)
{
    API_CALL;
    ptxiDevicePtr address;
    size_t size;
    ptxiResult r = dptr || bytes ? get_global(&address, &size, library, name) : PTXI_ERROR_INVALID_VALUE;

    if (r == PTXI_ERROR_INVALID_VALUE && name && !enter_library(library) && find_kernel(library, name))
        return PTXI_ERROR_NOT_FOUND;
    if (r)
        return r;
    if (!is_managed(address))
        return PTXI_ERROR_NOT_FOUND;
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return PTXI_SUCCESS;
}

/* ---- kernels as functions of the current context */

static ptxiResult find_function(ptxiContext ctx, ptxiKernel k, ptxiFunction *f)
{
    ptxiModule m;
    ptxiResult r = load_in_context(k->library, ctx, &m);

    return r ? r : ptxi_module_get_function(m, k->name, f);
}

ptxiResult ptxi_kernel_enter(ptxiKernel k, ptxiFunction *f)
{
    ptxiContext ctx;
    ptxiResult r = enter_kernel(k);

    if (!r)
        r = ptxi_api_context(&ctx);
    return r ? r : find_function(ctx, k, f);
}

ptxiResult ptxi_kernel_enter_on(ptxiKernel k, ptxiDevice dev, ptxiFunction *f)
{
    ptxiResult r = enter_kernel(k);

    if (!r)
        r = ptxi_api_device(dev);
    return r ? r : ptxi_kernel_enter(k, f);
}

ptxiResult ptxiKernelGetFunction(ptxiFunction *pFunc, ptxiKernel kernel)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = enter_kernel(kernel);

    if (r)
        return r;
    if (!pFunc)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_kernel_enter(kernel, &f);
    if (!r)
        *pFunc = f;
    return r;
}

ptxiResult ptxi_resolve_function(ptxiFunction *f)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !ptxi_handle_is(*f, PTXI_HANDLE_KERNEL))
        return r ? r : ptxi_api_function(*f);
    return ptxi_kernel_enter((ptxiKernel)(void *)*f, f);
}
