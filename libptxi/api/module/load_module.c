/* The calls that load modules from images and files. */
#include "api/module/binary.h"

ptxiResult ptxiModuleLoadDataEx(ptxiModule *module, const void *image, unsigned numOptions, ptxiJitOption *options,
                                void **optionValues)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_load_options o = { .wall_time = NULL };
    char *text;
    size_t size;

    if (r)
        return r;
    if (!module || !image)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_load_options(&o, numOptions, options, optionValues);
    if (r)
        return r;
    r = ptxi_binary_read(image, ctx->profile->sm, &o, &text, &size);
    return r ? r : ptxi_load_text(ctx, text, size, &o, module);
}

ptxiResult ptxiModuleLoadData(ptxiModule *module, const void *image)
{
    API_CALL;
    return ptxiModuleLoadDataEx(module, image, 0, NULL, NULL);
}

ptxiResult ptxiModuleLoadFatBinary(ptxiModule *module, const void *fatCubin)
{
    API_CALL;
    return ptxiModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

ptxiResult ptxiModuleLoad(ptxiModule *module, const char *fname)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_load_options o = { .module.name = fname };
    char *text;
    size_t size;

    if (r)
        return r;
    if (!module || !fname)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_load_read_file(fname, &text, &size);
    if (!r)
        r = ptxi_binary_convert(text, size, ctx->profile->sm, &o, &text, &size);
    return r ? r : ptxi_load_text(ctx, text, size, &o, module);
}
