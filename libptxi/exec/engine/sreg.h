/* Special registers that have one value for all lanes. */
#ifndef PTXI_EXEC_ENGINE_SREG_H
#define PTXI_EXEC_ENGINE_SREG_H

#include "exec/engine/cta.h"
#include "exec/engine/handler.h"

uint64_t PTXI_LEVELED(sreg_of_warp)(struct ptxi_warp *w, int32_t imm);

/* The value of special register `imm`, as in the operation sreg_32. */
static inline uint64_t ptxi_sreg_of_warp(struct ptxi_warp *w, int32_t imm)
{
    const unsigned n = (unsigned)imm >> 8;

    if (__builtin_expect((imm & 0xff) == PTXI_SREG_ctaid && n < 3, 1))
        return w->cta->ctaid[n];
    return PTXI_LEVELED(sreg_of_warp)(w, imm);
}

#endif
