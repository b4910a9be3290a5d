/* Shared memory descriptors of tcgen05.mma and tcgen05.cp. PTX ISA, "Shared memory descriptor". */
#ifndef PTXI_EXEC_TCGEN05_TCGEN05_DESCRIPTOR_H
#define PTXI_EXEC_TCGEN05_TCGEN05_DESCRIPTOR_H

#include "exec/matrix/shared_matrix.h"

static inline struct shared_matrix tcgen05_decode_descriptor(const struct ptxi_cta *c, uint64_t d, bool mn_major,
                                                             unsigned packed_bits)
{
    static const uint8_t swizzle_bytes[8] = {
        UNIT_BYTES, 128, 128, 128, 64, 64, 32, 32
    };                               /* 3, 5 and 7 are not defined */
    bool atoms_of_32 = d >> 61 == 1; /* 128-byte swizzling with 32-byte atomicity */

    return (struct shared_matrix){ .memory = c->shared,
                                   .start = (uint32_t)(d & 0x3fff) << 4,
                                   .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                                   .stride = (uint32_t)(d >> 32 & 0x3fff) << 4,
                                   .base_offset = d >> 49 & 7,
                                   .swizzle_bytes = swizzle_bytes[d >> 61],
                                   .swizzle_rows = atoms_of_32 && mn_major ? 4 : 8,
                                   .atom_bytes = atoms_of_32 ? 2 * UNIT_BYTES : UNIT_BYTES,
                                   .mn_major = mn_major,
                                   .packed_bits = packed_bits,
                                   .absolute_leading = d >> 52 & 1 };
}

#endif
