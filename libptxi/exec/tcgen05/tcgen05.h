/* What the handlers of tcgen05 share. */
#ifndef PTXI_EXEC_TCGEN05_TCGEN05_H
#define PTXI_EXEC_TCGEN05_TCGEN05_H

#include "exec/matrix/shared_matrix.h"
#include "exec/tcgen05/tmem.h"

/* PTX ISA, "Shared memory descriptor". */
static inline struct shared_matrix tcgen05_matrix(const struct ptxi_cta *c, uint64_t d, bool turned, unsigned packed)
{
    static const uint8_t widths[8] = { LINE_UNIT, 128, 128, 128, 64, 64, 32, 32 }; /* 3, 5 and 7 mean nothing */
    bool wide = d >> 61 == 1; /* 128 bytes of which 32 stay together */

    return (struct shared_matrix){ .memory = c->shared, .start = (uint32_t)(d & 0x3fff) << 4, .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                                   .stride = (uint32_t)(d >> 32 & 0x3fff) << 4, .base = d >> 49 & 7, .width = widths[d >> 61],
                                   .height = wide && turned ? 4 : 8, .granule = wide ? 2 * LINE_UNIT : LINE_UNIT, .turned = turned, .packed = packed,
                                   .absolute = d >> 52 & 1 };
}

#endif
