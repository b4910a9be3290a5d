/* Attributes of functions and of libraries' kernels. */
#include "api/launch/launch.h"

#include "api/module/library.h"

ptxiResult ptxi_launch_no_code(const struct ptxiFunction_st *f, unsigned variant)
{
    const struct ptxi_program *p = ptxi_module_program(f->module, variant);

    return p && p->functions[f->func->index].too_large ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_OUT_OF_MEMORY;
}

/* PTX ISA, "Performance-Tuning Directives: .maxntid": the product of the three sizes limits the number of threads. */
unsigned ptxi_launch_max_threads(const struct ptxi_func *f)
{
    uint64_t n = f->maxntid[0];

    for (int i = 1; i < 3; i++)
        n *= f->maxntid[i] ? f->maxntid[i] : 1;

    return n && n < PTXI_MAX_CTA_THREADS ? (unsigned)n : PTXI_MAX_CTA_THREADS;
}

/* The limit of the kernel, or else of its module. A compiler keeps more values in local memory. */
static unsigned max_registers(const struct ptxiFunction_st *f)
{
    enum { MAX_REGISTERS = 255 };
    unsigned limit = f->func->maxnreg ? f->func->maxnreg : f->module->max_registers;

    return limit && limit < MAX_REGISTERS ? limit : MAX_REGISTERS;
}

/* Estimates the registers of a thread from the size of its frame. */
static unsigned estimate_registers(const struct ptxiFunction_st *f, const struct ptxi_code *code)
{
    unsigned n = code->frame_units / 2, limit = max_registers(f);

    if (n < 1)
        return 1;
    return n < limit ? n : limit;
}

int ptxi_launch_max_dynamic_shared(const struct ptxiFunction_st *f, const struct ptxi_code *code)
{
    if (f->max_dynamic_shared >= 0)
        return f->max_dynamic_shared;
    return code->shared_bytes < PTXI_DEFAULT_SHARED ? PTXI_DEFAULT_SHARED - (int)code->shared_bytes : 0;
}

/* ---- attributes */

ptxiResult ptxi_launch_enter(ptxiFunction *f, const struct ptxi_code **code)
{
    ptxiResult r = ptxi_resolve_function(f);

    if (r)
        return r;
    *code = ptxi_module_code((*f)->module, (*f)->func->index, false);
    return *code ? PTXI_SUCCESS : ptxi_launch_no_code(*f, false);
}

static bool read_attribute(const struct ptxiFunction_st *f, const struct ptxi_code *code, int which, int *value)
{
    switch (which) {
    case PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)ptxi_launch_max_threads(f->func); return true;
    case PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)code->shared_bytes; return true;
    case PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)f->module->layout->const_bytes; return true;
    case PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)code->local_bytes; return true;
    case PTXI_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)estimate_registers(f, code); return true;
    case PTXI_FUNC_ATTRIBUTE_PTX_VERSION: *value = f->module->tree->target.sm; return true;
    case PTXI_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)f->module->profile->sm; return true;
    case PTXI_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; return true;
    case PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = ptxi_launch_max_dynamic_shared(f, code);
        return true;
    case PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; return true;
    case PTXI_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = f->func->explicit_cluster; return true;
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        int k = which - PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;

        *value = f->func->cluster[0] ? (int)f->func->cluster[k] : f->cluster[k];
        return true;
    }
    case PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->nonportable_cluster; return true;
    case PTXI_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; return true;
    default: return false;
    }
}

ptxiResult ptxi_launch_attribute(ptxiFunction f, ptxiFunctionAttribute which, int *value)
{
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, false);

    if (!code)
        return ptxi_launch_no_code(f, false);
    pthread_mutex_lock(&f->module->lock);
    bool known = read_attribute(f, code, (int)which, value);
    pthread_mutex_unlock(&f->module->lock);
    return known ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static bool set_attribute(struct ptxiFunction_st *f, const struct ptxi_code *code, int which, int value)
{
    int room = (int)f->module->profile->block_shared - (int)code->shared_bytes;

    switch (which) {
    case PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > room)
            return false;
        f->max_dynamic_shared = value;
        return true;
    case PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return false;
        f->carveout = value;
        return true;
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        int k = which - PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;

        if (value < 0 || (f->func->cluster[0] && (unsigned)value != f->func->cluster[k]))
            return false;
        f->cluster[k] = value;
        return true;
    }
    case PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        f->nonportable_cluster = value != 0;
        return true;
    case PTXI_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > 2)
            return false;
        f->cluster_policy = value;
        return true;
    default:
        return false;
    }
}

ptxiResult ptxi_launch_set_attribute(ptxiFunction f, ptxiFunctionAttribute which, int value)
{
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&f, &code);

    if (r)
        return r;
    pthread_mutex_lock(&f->module->lock);
    bool ok = set_attribute(f, code, (int)which, value);
    pthread_mutex_unlock(&f->module->lock);
    return ok ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* ---- of functions */

static ptxiResult get_attribute(ptxiFunction f, ptxiFunctionAttribute which, int *value)
{
    int x;
    ptxiResult r = ptxi_launch_attribute(f, which, &x);

    if (r)
        return r;
    if (!value)
        return PTXI_ERROR_INVALID_VALUE;
    *value = x;
    return PTXI_SUCCESS;
}

ptxiResult ptxiFuncGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiFunction hfunc)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(hfunc);

    return r ? r : get_attribute(hfunc, attrib, pi);
}

ptxiResult ptxiFuncSetAttribute(ptxiFunction hfunc, ptxiFunctionAttribute attrib, int value)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(hfunc);

    return r ? r : ptxi_launch_set_attribute(hfunc, attrib, value);
}

/* ---- of libraries' kernels */

ptxiResult ptxiKernelGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiKernel kernel, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = ptxi_kernel_enter_on(kernel, dev, &f);

    return r ? r : get_attribute(f, attrib, pi);
}

ptxiResult ptxiKernelSetAttribute(ptxiFunctionAttribute attrib, int val, ptxiKernel kernel, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = ptxi_kernel_enter_on(kernel, dev, &f);

    return r ? r : ptxi_launch_set_attribute(f, attrib, val);
}

ptxiResult ptxiKernelSetCacheConfig(ptxiKernel kernel, ptxiFuncCache config, ptxiDevice dev)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = ptxi_kernel_enter_on(kernel, dev, &f);

    return r ? r : ptxi_function_check_cache_config(config);
}

ptxiResult ptxiKernelGetParamInfo(ptxiKernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    API_CALL;
    ptxiFunction f;
    ptxiResult r = kernel ? ptxi_kernel_enter(kernel, &f) : PTXI_ERROR_INVALID_VALUE;

    return r ? r : ptxi_function_param_info(f, paramIndex, paramOffset, paramSize);
}
