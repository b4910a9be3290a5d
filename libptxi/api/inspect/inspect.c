#include "api/inspect/inspect.h"

#include "api/module/restored.h"
#include "exec/sched/workers.h"
#include "num/convert.h"

#include <assert.h>

void ptxi_inspect_build(struct ptxi_build_info *info)
{
    *info = (struct ptxi_build_info){ .lanes = PTXI_LANES, .cpu_level = ptxi_exec_level_name() };
}

static unsigned count_functions(const struct ptxi_module_ast *tree)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < tree->func_count; i++)
        n += !tree->funcs[i]->is_entry && tree->funcs[i]->has_body;
    return n;
}

ptxiResult ptxi_inspect_module(ptxiModule module, struct ptxi_module_info *info)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(module);

    if (r)
        return r;
    const struct ptxi_module_ast *tree = module->tree;

    assert(tree);
    *info = (struct ptxi_module_info){
        .ptx_version = tree->version,
        .sm = tree->target.sm,
        .suffix = tree->target.suffix,
        .functions = count_functions(tree),
    };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_inspect_kernel(ptxiFunction kernel, struct ptxi_kernel_info *info)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(kernel);

    if (r)
        return r;
    const uint32_t *required = kernel->func->reqntid;

    *info = (struct ptxi_kernel_info){ .block_shared = kernel->module->profile->block_shared };
    for (int k = 0; k < 3 && required[0]; k++)
        info->block[k] = required[k] ? required[k] : 1;
    return PTXI_SUCCESS;
}

/* ---- floating-point values */

double ptxi_inspect_float(enum ptxi_float_format format, uint64_t bits)
{
    switch (format) {
    case PTXI_FLOAT_F16: return (double)ptxi_num_f32_from_f16_bits((uint16_t)bits);
    case PTXI_FLOAT_BF16: return (double)ptxi_num_f32((uint32_t)bits << 16);
    case PTXI_FLOAT_F32: return (double)ptxi_num_f32((uint32_t)bits);
    default: return ptxi_num_f64(bits);
    }
}

/* Rounding to odd in f32 makes the second rounding exact. */
uint64_t ptxi_inspect_float_bits(enum ptxi_float_format format, double value)
{
    switch (format) {
    case PTXI_FLOAT_F16: return ptxi_num_f16_from_f32(ptxi_num_bits_f32(ptxi_num_f32_odd(value)), PTXI_NUM_RN);
    case PTXI_FLOAT_BF16: return ptxi_num_bf16_from_f32(ptxi_num_bits_f32(ptxi_num_f32_odd(value)), PTXI_NUM_RN);
    case PTXI_FLOAT_F32: return ptxi_num_bits_f32((float)value);
    default: return ptxi_num_bits_f64(value);
    }
}

unsigned ptxi_inspect_waiting_modules(void)
{
    API_CALL;
    ptxiContext ctx;
    unsigned n = 0;

    if (ptxi_api_context(&ctx))
        return 0;
    pthread_mutex_lock(&ctx->lock);
    for (const struct ptxi_restored *r = ctx->restored; r; r = r->next)
        n++;
    pthread_mutex_unlock(&ctx->lock);
    return n;
}
