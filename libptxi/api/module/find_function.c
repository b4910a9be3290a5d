/* Kernels by names that are not mangled. */
#include "api/module/module.h"

#include "base/cpp_name.h"
#include "base/demangle.h"

/* How well the name describes the kernel: see ptxi_cpp_name_match(). */
static ptxiResult match(const struct ptxiFunction_st *kernel, const char *name, unsigned *found)
{
    struct ptxi_str s;
    ptxiResult r;

    ptxi_str_init(&s, NULL);
    ptxi_demangle(kernel->func->name->s, &s);
    r = s.oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_SUCCESS;
    *found = ptxi_cpp_name_match(ptxi_str_text(&s), name);
    ptxi_str_free(&s);
    return r;
}

/* Collects the kernels that the name describes best. */
static ptxiResult find_all(ptxiModule m, const char *name, ptxiFunction *functions, unsigned *count)
{
    unsigned room = *count, best = 1, found;

    *count = 0;
    for (unsigned k = 0; k < m->kernel_count; k++) {
        ptxiResult r = match(&m->kernels[k], name, &found);

        if (r)
            return r;
        if (found < best)
            continue;
        if (found > best)
            *count = 0;
        best = found;
        if (*count < room)
            functions[*count] = &m->kernels[k];
        ++*count;
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleFindFunctions(ptxiFunction *functions, unsigned *count, ptxiModule mod, const char *name)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(mod);
    ptxiFunction exact;

    if (r)
        return r;
    if (!count || !name || !*name || (*count && !functions))
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_module_get_function(mod, name, &exact))
        return find_all(mod, name, functions, count);
    if (*count)
        functions[0] = exact;
    *count = 1;
    return PTXI_SUCCESS;
}
