/* Queries of the AST: types and names of a function's registers. */
#include "parse/ast.h"

#include <stdio.h>

static const struct ptxi_reg_range *find_range(const struct ptxi_func *f, uint32_t reg)
{
    uint32_t lo = 0, hi = f->reg_range_count;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (reg < f->regs[mid].first)
            hi = mid;
        else if (reg - f->regs[mid].first >= f->regs[mid].count)
            lo = mid + 1;
        else
            return &f->regs[mid];
    }
    return NULL;
}

enum ptxi_type ptxi_ast_reg_type(const struct ptxi_func *f, uint32_t reg)
{
    const struct ptxi_reg_range *r = find_range(f, reg);

    return r ? r->type : PTXI_T_NONE;
}

const char *ptxi_ast_reg_name(const struct ptxi_func *f, uint32_t reg, char *buf, size_t size)
{
    const struct ptxi_reg_range *r = find_range(f, reg);
    char number[16] = "";
    uint32_t at;

    if (!r) {
        snprintf(buf, size, "?%u", reg);
        return buf;
    }
    at = reg - r->first;
    if (r->numbered)
        snprintf(number, sizeof number, "%u", at / r->vector);
    if (r->vector > 1)
        snprintf(buf, size, "%s%s.%c", r->name->s, number, "xyzw"[at % r->vector]);
    else
        snprintf(buf, size, "%s%s", r->name->s, number);
    return buf;
}
