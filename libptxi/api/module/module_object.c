/* The life of modules: creation, unloading, functions and variables. */
#include "api/module/module.h"

#include "api/error/report.h"
#include "api/memory/heap.h"
#include "api/module/device_text.h"
#include "api/module/image.h"
#include "api/module/restored.h"
#include "api/module/symbols.h"

#include "base/hash.h"
#include "exec/check/check.h"
#include "exec/engine/fault_log.h"
#include "exec/memmap/memmap.h"
#include "exec/texture/texture.h"
#include "native/native.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ptxi_kernel_entry {
    const char *name;
    struct ptxiFunction_st *kernel;
    UT_hash_handle hh;
};

/* ---- addresses */

static uint64_t const_base(const struct ptxiModule_st *m)
{
    return m->constants ? m->constants->base : 0;
}

static uint64_t global_address(void *ctx, const struct ptxi_var *var)
{
    struct ptxiModule_st *m = ctx;
    uint32_t i = ptxi_layout_global(m->layout, var);

    return i == UINT32_MAX ? 0 : m->globals[i];
}

static uint64_t function_address(void *ctx, const struct ptxi_func *func)
{
    struct ptxiModule_st *m = ctx;

    return (uintptr_t)m->function_addresses + (uint64_t)func->index * PTXI_FUNCTION_STRIDE;
}

static uint32_t function_at(void *ctx, uint64_t address)
{
    struct ptxi_variant *v = ctx;
    uint64_t at = address - (uintptr_t)v->module->function_addresses;

    if (at % PTXI_FUNCTION_STRIDE || at / PTXI_FUNCTION_STRIDE >= v->module->tree->func_count)
        return UINT32_MAX;
    return (uint32_t)(at / PTXI_FUNCTION_STRIDE);
}

/* ---- variables */

static void store_address(struct ptxiModule_st *m, unsigned char *data, const struct ptxi_reloc *r)
{
    uint64_t value = (uint64_t)r->addend;

    if (r->func)
        value += function_address(m, r->func);
    else if (r->var && r->var->space == PTXI_SPACE_CONST)
        value += ptxi_layout_const(m->layout, r->var) + (r->generic ? const_base(m) : 0);
    else if (r->var)
        value += global_address(m, r->var);
    value >>= r->shift;
    for (unsigned i = 0; i < r->bytes; i++)
        data[r->offset + i] = (unsigned char)(value >> 8 * i);
}

static enum ptxi_object_kind kind_of_reference(const struct ptxi_var *v)
{
    switch (v->opaque) {
    case 't': return PTXI_OBJECT_TEXTURE;
    case 's': return PTXI_OBJECT_SAMPLER;
    default: return PTXI_OBJECT_SURFACE;
    }
}

/* The upper bits of a reference are its kind. The modes of a sampler are in the lower bits. */
static void initialise_reference(const struct ptxi_var *v, unsigned char *data)
{
    enum ptxi_object_kind kind = kind_of_reference(v);
    uint64_t value = v->init ? *v->init : 0;

    for (uint64_t k = 0; k < v->size; k += sizeof value)
        memcpy(data + k, &(uint64_t){ value | (uint64_t)kind << PTXI_REFERENCE_KIND }, sizeof value);
}

/* Fills in the bytes that are not zero. */
static void initialise_variable(struct ptxiModule_st *m, const struct ptxi_var *v, unsigned char *data)
{
    if (v->opaque) {
        initialise_reference(v, data);
        return;
    }
    if (v->init)
        memcpy(data, v->init, v->init_size);
    for (uint32_t i = 0; i < v->reloc_count; i++)
        store_address(m, data, &v->relocs[i]);
}

/* Allocates zeroed memory for variables. */
static ptxiResult allocate_variables(struct ptxiModule_st *m, size_t size, uint32_t mem_flags,
                                     struct ptxi_heap_block **b)
{
    ptxiResult r = ptxi_heap_alloc(m->ctx, size, PTXI_HEAP_MODULE, mem_flags | PTXI_MEM_MODULE, 0, b);

    if (r)
        return r;
    (*b)->module = m;
    return PTXI_SUCCESS;
}

static ptxiResult place_global(struct ptxiModule_st *m, uint32_t i)
{
    enum { BLOCK_ALIGN = 512 };
    const struct ptxi_var *v = m->layout->globals[i].var;
    struct ptxi_heap_block *b;
    uint64_t slack = v->align > BLOCK_ALIGN ? v->align : 0;

    if (v->size == 0) /* an extern without a size has no storage */
        return PTXI_SUCCESS;
    ptxiResult r = allocate_variables(m, v->size + slack, PTXI_MEM_RWA | (v->managed ? PTXI_MEM_MANAGED : 0), &b);

    if (r)
        return r;
    m->globals[i] = slack ? (b->base + slack - 1) / slack * slack : b->base;
    return PTXI_SUCCESS;
}

static ptxiResult place_variables(struct ptxiModule_st *m)
{
    struct ptxi_layout *l = m->layout;
    ptxiResult r = PTXI_SUCCESS;

    m->globals = calloc(l->global_count + 1, sizeof *m->globals);
    if (!m->globals)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (ptxi_restored_take(m))
        return PTXI_SUCCESS;
    if (!m->function_addresses)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (l->const_bytes)
        r = allocate_variables(m, l->const_bytes, PTXI_MEM_READ, &m->constants);
    for (uint32_t i = 0; i < l->global_count && !r; i++)
        r = place_global(m, i);
    if (r)
        return r;
    for (uint32_t i = 0; i < l->const_count; i++)
        initialise_variable(m, l->consts[i].var, (unsigned char *)(uintptr_t)(const_base(m) + l->consts[i].offset));
    for (uint32_t i = 0; i < l->global_count; i++)
        if (m->globals[i])
            initialise_variable(m, l->globals[i].var, (unsigned char *)(uintptr_t)m->globals[i]);
    return PTXI_SUCCESS;
}

/* ---- functions */

static const struct ptxi_func *resolve_alias(const struct ptxi_func *f)
{
    while (f->alias_of)
        f = f->alias_of;
    return f;
}

static uint32_t take_places(void *ctx, uint32_t count)
{
    (void)ctx;
    return ptxi_places_take(count);
}

static enum ptxi_track_option track_option(unsigned variant)
{
    if (variant & PTXI_VARIANT_TRACK_READS)
        return PTXI_TRACK_ALL;
    return variant & PTXI_VARIANT_TRACK ? PTXI_TRACK_WRITES : PTXI_TRACK_NONE;
}

static const struct ptxi_code *compile_function_locked(struct ptxi_variant *v, uint32_t function)
{
    struct ptxiModule_st *m = v->module;
    const struct ptxi_func *f = resolve_alias(m->tree->funcs[function]);
    struct ptxi_callee *own = &v->program.functions[function], *real = &v->program.functions[f->index];
    const struct ptxi_code *code = atomic_load(&real->code);

    if (!code && f->has_body && !atomic_load(&real->too_large)) {
        struct ptxi_compile_options options = {
            .ctx = m, .global_address = global_address, .function_address = function_address,
            .sm = m->profile->sm, .contract = m->contract, .as_written = m->as_written,
            .count = v->flags & PTXI_VARIANT_COUNTING,
            .init = v->flags & PTXI_VARIANT_INIT, .pointers = v->flags & PTXI_VARIANT_POINTERS,
            .check = v->flags & PTXI_VARIANT_CHECKED, .track = track_option(v->flags), .take_places = take_places,
        };
        struct ptxi_diag diags;

        ptxi_diag_init(&diags, &m->arena);
        code = ptxi_compile(m->layout, f, &options, &m->arena, &diags);
        if (!code && diags.first)
            atomic_store(&real->too_large, diags.first->msg);
        if (code && (options.check || options.track))
            ptxi_places_add(code, m);
        atomic_store(&real->code, code);
    }
    atomic_store(&own->code, code);
    atomic_store(&own->too_large, atomic_load(&real->too_large));
    return code;
}

static const struct ptxi_code *compile_function(void *ctx, uint32_t function)
{
    struct ptxi_variant *v = ctx;

    pthread_mutex_lock(&v->module->lock);
    const struct ptxi_code *code = compile_function_locked(v, function);
    pthread_mutex_unlock(&v->module->lock);
    return code;
}

static bool make_program(struct ptxi_variant *v)
{
    struct ptxiModule_st *m = v->module;
    struct ptxi_callee *f = calloc(m->tree->func_count + 1, sizeof *f);

    if (!f)
        return false;
    for (uint32_t i = 0; i < m->tree->func_count; i++) {
        f[i].name = m->tree->funcs[i]->name->s;
        f[i].without_body = !resolve_alias(m->tree->funcs[i])->has_body;
    }
    v->program = (struct ptxi_program){
        .functions = f, .function_count = m->tree->func_count, .compile = compile_function, .function_at = function_at,
        .ctx = v,
        .const_bank = (unsigned char *)(uintptr_t)const_base(m), .const_size = m->layout->const_bytes,
    };
    return true;
}

const struct ptxi_program *ptxi_module_program(ptxiModule m, unsigned variant)
{
    struct ptxi_variant *v = &m->variants[variant];

    pthread_mutex_lock(&m->lock);
    bool made = v->program.functions || make_program(v);
    pthread_mutex_unlock(&m->lock);
    return made ? &v->program : NULL;
}

const struct ptxi_code *ptxi_module_code(ptxiModule m, uint32_t function, unsigned variant)
{
    const struct ptxi_program *p = ptxi_module_program(m, variant);

    if (!p)
        return NULL;
    const struct ptxi_code *code = atomic_load(&p->functions[function].code);

    return code ? code : compile_function(&m->variants[variant], function);
}

static ptxiResult list_kernels(struct ptxiModule_st *m)
{
    struct ptxi_arena *hash_arena = &m->arena;
    struct ptxi_kernel_entry *entries, *same;

    for (uint32_t i = 0; i < m->tree->func_count; i++)
        m->kernel_count += m->tree->funcs[i]->is_entry && m->tree->funcs[i]->has_body;
    m->kernels = calloc(m->kernel_count + 1, sizeof *m->kernels);
    entries = ARENA_NEW(&m->arena, struct ptxi_kernel_entry, m->kernel_count + 1);
    if (!m->kernels || !entries)
        return PTXI_ERROR_OUT_OF_MEMORY;
    unsigned n = 0;

    for (uint32_t i = 0; i < m->tree->func_count; i++) {
        const struct ptxi_func *f = m->tree->funcs[i];

        if (!f->is_entry || !f->has_body)
            continue;
        struct ptxi_kernel_entry *e = &entries[n];

        assert(n < m->kernel_count);
        m->kernels[n] = (struct ptxiFunction_st){
            .module = m, .func = f, .max_dynamic_shared = -1, .carveout = -1,
        };
        e->name = f->name->s;
        e->kernel = &m->kernels[n++];
        HASH_FIND(hh, m->by_name, e->name, strlen(e->name), same);
        if (same) /* a kernel of another part, both without linkage: the name finds the first one */
            continue;
        HASH_ADD_KEYPTR(hh, m->by_name, e->name, strlen(e->name), e);
        if (!HASH_ADDED(hh, e))
            return PTXI_ERROR_OUT_OF_MEMORY;
    }
    return PTXI_SUCCESS;
}

/* ---- destruction */

static void free_blocks(struct ptxiModule_st *m)
{
    for (;;) {
        struct ptxi_heap_block *b;

        pthread_mutex_lock(&m->ctx->lock);
        for (b = m->ctx->blocks; b && b->module != m; b = b->next)
            ;
        pthread_mutex_unlock(&m->ctx->lock);
        if (!b)
            return;
        ptxi_heap_free(b);
    }
}

static void free_program(struct ptxi_program *p)
{
    for (uint32_t k = 0; k < p->function_count; k++) {
        const struct ptxi_code *code = atomic_load(&p->functions[k].code);

        if (code)
            ptxi_native_release(code);
    }
    free(p->functions);
}

static void destroy_module(void *module)
{
    ptxiModule m = module;

    ptxi_handle_remove(&m->handle);
    for (unsigned i = 0; i < m->kernel_count && m->kernels; i++)
        ptxi_handle_remove(&m->kernels[i].handle);
    pthread_mutex_lock(&m->ctx->lock);
    assert(*m->link == m);
    *m->link = m->next;
    if (m->next)
        m->next->link = m->link;
    pthread_mutex_unlock(&m->ctx->lock);
    if (m->free_references)
        m->free_references(m->references);
    free_blocks(m);
    ptxi_places_remove(m);
    for (int i = 0; i < PTXI_VARIANTS; i++)
        free_program(&m->variants[i].program);
    free(m->kernels);
    if (m->fault_log)
        ptxi_report_write_total(m->name, m->fault_log);
    ptxi_fault_log_destroy(m->fault_log);
    ptxi_bindings_unref(m->bindings);
    free(m->globals);
    if (m->tree)
        ptxi_restored_unreserve(m->function_addresses, PTXI_FUNCTION_BYTES(m->tree));
    free(m->name);
    free(m->text);
    ptxi_arena_free(&m->arena);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

struct ptxi_fault_log *ptxi_module_fault_log(ptxiModule m)
{
    pthread_mutex_lock(&m->lock);
    if (!m->fault_log)
        m->fault_log = ptxi_fault_log_create();
    struct ptxi_fault_log *log = m->fault_log;

    pthread_mutex_unlock(&m->lock);
    return log;
}

/* ---- creation */

bool ptxi_module_publish(ptxiModule m)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < m->kernel_count; i++)
        ok = ptxi_handle_add_part(&m->kernels[i].handle, PTXI_HANDLE_FUNCTION, &m->handle);
    return ok && ptxi_handle_publish(&m->handle);
}

static bool keep_texts(struct ptxiModule_st *m, const struct ptxi_texts *texts)
{
    struct ptxi_text *at = ARENA_NEW(&m->arena, struct ptxi_text, texts->count);

    for (uint32_t i = 0; at && i < texts->count; i++) {
        at[i] = texts->at[i];
        at[i].name = ptxi_arena_strndup(&m->arena, at[i].name, strlen(at[i].name));
        if (!at[i].name)
            return false;
    }
    m->texts = (struct ptxi_texts){ at, texts->count };
    return at;
}

/* Adds the device text after the texts of the program. */
static bool add_device_text(struct ptxiModule_st *m)
{
    const uint32_t n = m->texts.count;
    struct ptxi_text *at = ARENA_NEW(&m->arena, struct ptxi_text, n + 1);

    if (!at)
        return false;
    memcpy(at, m->texts.at, n * sizeof *at);
    at[n] = (struct ptxi_text){ "<device runtime>", ptxi_device_text, strlen(ptxi_device_text),
                                at[n - 1].first_line + ptxi_image_lines(&at[n - 1]) };
    m->texts = (struct ptxi_texts){ at, n + 1 };
    return true;
}

/* Parses the texts. Those that need the device text are parsed a second time, with it. NULL: errors, or no memory. */
static struct ptxi_module_ast *parse_texts(struct ptxiModule_st *m, unsigned dialect, struct ptxi_diag *diags)
{
    struct ptxi_parse_options options = { .file = m->name, .parts = &m->texts, .dialect = dialect };
    struct ptxi_module_ast *tree = ptxi_parse(NULL, 0, &options, &m->arena, diags);

    if (!tree || !ptxi_device_text_is_needed(tree))
        return tree;
    ptxi_diag_init(diags, diags->arena); /* the second time has the same messages */
    return add_device_text(m) ? ptxi_parse(NULL, 0, &options, &m->arena, diags) : NULL;
}

static ptxiResult build_module(struct ptxiModule_st *m, const struct ptxi_module_options *how, struct ptxi_diag *diags)
{
    ptxiResult r;

    m->tree = parse_texts(m, how->dialect | m->ctx->dialect, diags);
    if (!m->tree && (m->arena.oom || diags->oom || !diags->errors)) {
        ptxi_diag_init(diags, diags->arena); /* its messages are not about the text */
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    if (!m->tree)
        return PTXI_ERROR_INVALID_PTX;
    m->as_written |= m->tree->debug;
    if (!ptxi_isa_target_runs_on(m->tree->target, m->ctx->profile->sm)) {
        if (how->strict)
            return PTXI_ERROR_NO_BINARY_FOR_GPU;
        m->profile = ptxi_profile_for_sm(m->tree->target.sm);
    }
    m->layout = ptxi_layout_module(m->tree, m->profile->reserved, &m->arena);
    m->function_addresses = ptxi_restored_reserve(0, PTXI_FUNCTION_BYTES(m->tree));
    if (!m->layout || !m->function_addresses)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (how->resolved && (r = ptxi_symbols_check(m->tree, diags)))
        return r;
    r = place_variables(m);
    return r ? r : list_kernels(m);
}

ptxiResult ptxi_module_create(ptxiContext ctx, char *text, const struct ptxi_texts *texts,
                              const struct ptxi_module_options *options,
                              struct ptxi_diag *diags, ptxiModule *module)
{
    struct ptxiModule_st *m = calloc(1, sizeof *m);

    if (!m)
        return PTXI_ERROR_OUT_OF_MEMORY;
    m->ctx = ctx;
    m->profile = ctx->profile;
    m->text = text;
    m->contract = !options->no_contract;
    m->as_written = options->as_written;
    m->max_registers = options->max_registers;
    m->of_library = options->of_library;
    m->name = strdup(options->name);
    ptxi_handle_init(&m->handle, PTXI_HANDLE_MODULE, &ctx->gate, destroy_module);
    for (unsigned i = 0; i < PTXI_VARIANTS; i++)
        m->variants[i] = (struct ptxi_variant){ .module = m, .flags = i };
    ptxi_arena_init(&m->arena, NULL);
    pthread_mutex_init(&m->lock, NULL);

    ptxiResult r = m->name && keep_texts(m, texts) ? build_module(m, options, diags) : PTXI_ERROR_OUT_OF_MEMORY;

    pthread_mutex_lock(&ctx->lock);
    m->next = ctx->modules;
    m->link = &ctx->modules;
    if (m->next)
        m->next->link = &m->next;
    ctx->modules = m;
    pthread_mutex_unlock(&ctx->lock);
    if (r) {
        m->text = NULL; /* the caller keeps it */
        destroy_module(m);
    } else {
        *module = m;
    }
    return r;
}

void ptxi_module_free(ptxiModule m)
{
    ptxi_handle_remove(&m->handle);
    ptxi_handle_unref(&m->handle);
}

void ptxi_modules_free_all(ptxiContext ctx)
{
    while (ctx->modules)
        ptxi_module_free(ctx->modules);
}

/* ---- calls on modules */

ptxiResult ptxi_api_module(ptxiModule m)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : ptxi_handle_use(m, PTXI_HANDLE_MODULE);
}

ptxiResult ptxi_api_function(ptxiFunction f)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : ptxi_handle_use(f, PTXI_HANDLE_FUNCTION);
}

ptxiResult ptxi_module_unload(ptxiModule m)
{
    ptxiResult r = ptxi_handle_retire(m, PTXI_HANDLE_MODULE);

    if (r)
        return r;
    ptxi_handle_wait_unused(&m->handle, m->ctx);
    ptxi_module_free(m);
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleUnload(ptxiModule hmod)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(hmod);

    if (r)
        return r;
    if (hmod->of_library)
        return PTXI_ERROR_NOT_PERMITTED;
    return ptxi_module_unload(hmod);
}

ptxiResult ptxiModuleGetFunctionCount(unsigned *count, ptxiModule mod)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(mod);

    if (r)
        return r;
    if (!count)
        return PTXI_ERROR_INVALID_VALUE;
    *count = mod->kernel_count;
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleEnumerateFunctions(ptxiFunction *functions, unsigned numFunctions, ptxiModule mod)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(mod);

    if (r)
        return r;
    if (!functions)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numFunctions && i < mod->kernel_count; i++)
        functions[i] = &mod->kernels[i];
    return PTXI_SUCCESS;
}

/* Finds a variable of module scope. *address is 0 if it has no storage. */
static const struct ptxi_var *find_variable(ptxiModule m, const char *name, uint64_t *address)
{
    const struct ptxi_layout *l = m->layout;

    for (uint32_t i = 0; i < l->global_count; i++)
        if (!l->globals[i].func && !strcmp(l->globals[i].var->name->s, name)) {
            *address = m->globals[i];
            return l->globals[i].var;
        }
    for (uint32_t i = 0; i < l->const_count; i++)
        if (!l->consts[i].func && !strcmp(l->consts[i].var->name->s, name)) {
            *address = const_base(m) + l->consts[i].offset;
            return l->consts[i].var;
        }
    return NULL;
}

ptxiResult ptxi_module_get_function(ptxiModule m, const char *name, ptxiFunction *f)
{
    ptxiResult r = ptxi_api_module(m);
    struct ptxi_kernel_entry *e;

    if (r)
        return r;
    if (!f || !name || !*name)
        return PTXI_ERROR_INVALID_VALUE;
    HASH_FIND(hh, m->by_name, name, strlen(name), e);
    if (!e)
        return PTXI_ERROR_NOT_FOUND;
    *f = e->kernel;
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleGetFunction(ptxiFunction *hfunc, ptxiModule hmod, const char *name)
{
    API_CALL;
    return ptxi_module_get_function(hmod, name, hfunc);
}

ptxiResult ptxi_module_get_global(ptxiModule m, const char *name, ptxiDevicePtr *dptr, size_t *bytes)
{
    ptxiResult r = ptxi_api_module(m);
    const struct ptxi_kernel_entry *kernel;
    uint64_t address = 0;

    if (r)
        return r;
    if (!name || !*name || (!dptr && !bytes))
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_var *v = find_variable(m, name, &address);

    if (!v || !address) {
        HASH_FIND(hh, m->by_name, name, strlen(name), kernel);
        return kernel ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_NOT_FOUND;
    }
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = v->size;
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiModule hmod, const char *name)
{
    API_CALL;
    return ptxi_module_get_global(hmod, name, dptr, bytes);
}
