/* Small integers as matrix elements, for tests of mma and wmma. */
#ifndef PTXI_TESTS_UNIT_MATRIX_H
#define PTXI_TESTS_UNIT_MATRIX_H

#include <stdint.h>
#include <string.h>

#include "num/half.h"
#include "unit/support/bits.h"

static inline uint32_t random32(void)
{
    return (uint32_t)(random64() >> 32);
}

/* Encodes x in a type. Other text may follow the name of the type. Integers and bits encode themselves. */
static inline uint64_t encode(const char *type, int x)
{
    float v = (float)x;
    uint32_t bits = ptxi_num_bits_f32(v);
    double wide = x;
    uint64_t r;

    if (!strncmp(type, "f16", 3))
        return ptxi_num_minifloat_from_f32(ptxi_num_f16, bits, PTXI_NUM_RN, false);
    if (!strncmp(type, "bf16", 4))
        return bits >> 16;
    if (!strncmp(type, "e4m3", 4))
        return ptxi_num_minifloat_from_f32(ptxi_num_e4m3, bits, PTXI_NUM_RN, true);
    if (!strncmp(type, "e5m2", 4))
        return ptxi_num_minifloat_from_f32(ptxi_num_e5m2, bits, PTXI_NUM_RN, true);
    if (!strncmp(type, "f64", 3)) {
        memcpy(&r, &wide, sizeof r);
        return r;
    }
    return !strncmp(type, "f32", 3) || !strncmp(type, "tf32", 4) ? bits : (uint32_t)x;
}

#endif
