/* Declarations of kernels: names, parameters, signatures. Attributes are in launch/function_attribute.c. */
#include "api/module/module.h"

#include <string.h>

#include "base/demangle.h"

ptxiResult ptxiFuncGetModule(ptxiModule *hmod, ptxiFunction hfunc)
{
    API_CALL;
    ptxiResult r = hfunc && hmod ? ptxi_api_function(hfunc) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    *hmod = hfunc->module;
    return PTXI_SUCCESS;
}

ptxiResult ptxiFuncGetName(const char **name, ptxiFunction hfunc)
{
    API_CALL;
    ptxiResult r = hfunc && name ? ptxi_api_function(hfunc) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    *name = hfunc->func->name->s;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_function_param_info(ptxiFunction f, size_t index, size_t *offset, size_t *size)
{
    const struct ptxi_signature *s = &f->func->signature;

    if (!offset || index >= s->param_count)
        return PTXI_ERROR_INVALID_VALUE;
    *offset = ptxi_layout_param(f->func, (uint32_t)index);
    if (size)
        *size = s->params[index]->size;
    return PTXI_SUCCESS;
}

ptxiResult ptxiFuncGetParamInfo(ptxiFunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(func);

    return r ? r : ptxi_function_param_info(func, paramIndex, paramOffset, paramSize);
}

size_t ptxi_module_param_bytes(ptxiFunction f)
{
    uint32_t n = f->func->signature.param_count;

    return n ? ptxi_layout_param(f->func, n - 1) + f->func->signature.params[n - 1]->size : 0;
}

ptxiResult ptxi_function_check_cache_config(ptxiFuncCache config)
{
    return (unsigned)config <= PTXI_FUNC_CACHE_PREFER_EQUAL ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiFuncSetCacheConfig(ptxiFunction hfunc, ptxiFuncCache config)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(hfunc);

    return r ? r : ptxi_function_check_cache_config(config);
}

ptxiResult ptxiFuncSetSharedMemConfig(ptxiFunction hfunc, ptxiSharedConfig config)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(hfunc);

    return r ? r : ptxi_api_check_shared_config(config);
}

/* ---- parameters */

static const char *const space_names[] = {
    [PTXI_SPACE_GENERIC] = NULL, [PTXI_SPACE_CONST] = "const", [PTXI_SPACE_GLOBAL] = "global",
    [PTXI_SPACE_LOCAL] = "local",
    [PTXI_SPACE_PARAM] = "param", [PTXI_SPACE_SHARED] = "shared", [PTXI_SPACE_TEX] = NULL,
};

static const char *type_name(const struct ptxi_var *v)
{
    switch (v->opaque) {
    case 0: return ptxi_types[v->type].name;
    case 't': return "texref";
    case 's': return "samplerref";
    default: return "surfref";
    }
}

static bool is_array(const struct ptxi_var *v)
{
    return !v->opaque && v->size != v->element;
}

static uint64_t count_elements(const struct ptxi_var *v)
{
    return v->element ? v->size / v->element : v->size;
}

void ptxi_signature_param(const struct ptxi_var *v, struct ptxi_str *out)
{
    const char *space = space_names[v->ptr_space];

    if (is_array(v))
        ptxi_str_printf(out, ".align %u ", v->align);
    ptxi_str_printf(out, ".%s", type_name(v));
    if (space)
        ptxi_str_printf(out, " .ptr .%s", space);
    ptxi_str_printf(out, " %s", v->name->s);
    if (is_array(v))
        ptxi_str_printf(out, "[%llu]", (unsigned long long)count_elements(v));
}

void ptxi_signature(const struct ptxiFunction_st *f, struct ptxi_str *out)
{
    const struct ptxi_signature *s = &f->func->signature;

    ptxi_str_printf(out, "%s(", f->func->name->s);
    for (uint32_t i = 0; i < s->param_count; i++) {
        if (i)
            ptxi_str_puts(out, ", ");
        ptxi_signature_param(s->params[i], out);
    }
    ptxi_str_putc(out, ')');
}

ptxiResult ptxiFuncGetParam(ptxiFunction func, size_t paramIndex, ptxiParam *param)
{
    API_CALL;
    ptxiResult r = ptxi_api_function(func);

    if (r)
        return r;
    if (!param || param->size < offsetof(ptxiParam, name) || paramIndex >= func->func->signature.param_count)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_var *v = func->func->signature.params[paramIndex];
    size_t size = param->size;
    ptxiParam p = {
        .size = size, .offset = ptxi_layout_param(func->func,
                                                  (uint32_t)paramIndex), .bytes = v->size, .align = v->align,
        .count = is_array(v) ? count_elements(v) : 0, .name = v->name->s, .type = type_name(v),
        .space = space_names[v->ptr_space],
    };

    memcpy(param, &p, size < sizeof p ? size : sizeof p);
    return PTXI_SUCCESS;
}

/* Gives what `write` appends to the caller. */
static ptxiResult give_text(ptxiFunction func, char **text,
                            void (*write)(const struct ptxiFunction_st *f, struct ptxi_str *out))
{
    ptxiResult r = ptxi_api_function(func);
    struct ptxi_str s;

    if (r)
        return r;
    if (!text)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_str_init(&s, NULL);
    write(func, &s);
    return ptxi_api_give_text(&s, text);
}

ptxiResult ptxiFuncGetSignature(ptxiFunction func, char **text)
{
    API_CALL;
    return give_text(func, text, ptxi_signature);
}

static void write_source_name(const struct ptxiFunction_st *f, struct ptxi_str *out)
{
    ptxi_demangle(f->func->name->s, out);
}

ptxiResult ptxiFuncGetSourceName(ptxiFunction func, char **text)
{
    API_CALL;
    return give_text(func, text, write_source_name);
}
