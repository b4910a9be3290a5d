/* Integer operations that C does not define or does not have. They work on one element, without branches, so that a
 * loop over lanes becomes vector code. */
#ifndef PTXI_NUM_INTEGER_H
#define PTXI_NUM_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t ptxi_num_clamp_s32(int64_t x)
{
    x = x < INT32_MIN ? INT32_MIN : x;
    return (int32_t)(x > INT32_MAX ? INT32_MAX : x);
}

static inline uint64_t ptxi_num_mul_hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

static inline uint64_t ptxi_num_mul_hi_s64(int64_t a, int64_t b)
{
    return (uint64_t)((__int128)a * b >> 64);
}

/* Division. x / 0 and x % 0 are all ones, and MIN / -1 wraps. Narrow types are divided as floats, which is possible in
 * vector code. The result is correct, because a quotient that is not an integer differs from one by more than the
 * rounding error. */
static inline uint16_t ptxi_num_div_u16(uint16_t a, uint16_t b)
{
    int32_t q = (int32_t)((float)(int32_t)a / (float)(b ? (int32_t)b : 1));

    return b ? (uint16_t)q : 0xffff;
}

static inline uint32_t ptxi_num_div_u32(uint32_t a, uint32_t b)
{
    uint32_t q = (uint32_t)((double)a / (double)(b ? b : 1));

    return b ? q : 0xffffffff;
}

static inline uint64_t ptxi_num_div_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}

/* Signed division divides the magnitudes. The quotient 2^(bits-1) is MIN. */
#define PTXI_NUM_DIVISION(bits)                                                                             \
    static inline int##bits##_t ptxi_num_div_s##bits(int##bits##_t a, int##bits##_t b)                      \
    {                                                                                                       \
        uint##bits##_t ua = (uint##bits##_t)(a < 0 ? -(uint##bits##_t)a : (uint##bits##_t)a);               \
        uint##bits##_t ub = (uint##bits##_t)(b < 0 ? -(uint##bits##_t)b : (uint##bits##_t)b);               \
        uint##bits##_t q = ptxi_num_div_u##bits(ua, ub);                                                    \
                                                                                                            \
        return (int##bits##_t)((a ^ b) < 0 && b ? -q : q);                                                  \
    }                                                                                                       \
    static inline uint##bits##_t ptxi_num_rem_u##bits(uint##bits##_t a, uint##bits##_t b)                   \
    {                                                                                                       \
        uint##bits##_t q = ptxi_num_div_u##bits(a, b);                                                      \
                                                                                                            \
        return b ? (uint##bits##_t)(a - (uint##bits##_t)((uint64_t)q * b)) : (uint##bits##_t)-1;            \
    }                                                                                                       \
    static inline int##bits##_t ptxi_num_rem_s##bits(int##bits##_t a, int##bits##_t b)                      \
    {                                                                                                       \
        uint##bits##_t q = (uint##bits##_t)ptxi_num_div_s##bits(a, b);                                      \
        uint##bits##_t r = (uint##bits##_t)a - (uint##bits##_t)((uint64_t)q * (uint##bits##_t)b);           \
                                                                                                            \
        return b ? (int##bits##_t)r : (int##bits##_t)-1;                                                    \
    }
PTXI_NUM_DIVISION(16)
PTXI_NUM_DIVISION(32)
PTXI_NUM_DIVISION(64)
#undef PTXI_NUM_DIVISION

/* --- bits --- */
static inline uint32_t ptxi_num_popc_b32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}

static inline uint32_t ptxi_num_popc_b64(uint64_t x)
{
    return ptxi_num_popc_b32((uint32_t)x) + ptxi_num_popc_b32((uint32_t)(x >> 32));
}

static inline uint32_t ptxi_num_clz_b32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return ptxi_num_popc_b32(~x);
}

static inline uint32_t ptxi_num_clz_b64(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32);
    uint32_t n = ptxi_num_clz_b32(high ? high : (uint32_t)x);

    return high ? n : n + 32;
}

/* The position of the highest set bit, or with `shiftamt` the shift that moves it to the top. All ones if no bit is
 * set. */
static inline uint32_t ptxi_num_bfind_b32(uint32_t x, bool shiftamt)
{
    uint32_t zeros = ptxi_num_clz_b32(x);
    uint32_t found = shiftamt ? zeros : 31 - zeros;

    return x ? found : UINT32_MAX;
}

static inline uint32_t ptxi_num_bfind_b64(uint64_t x, bool shiftamt)
{
    uint32_t zeros = ptxi_num_clz_b64(x);
    uint32_t found = shiftamt ? zeros : 63 - zeros;

    return x ? found : UINT32_MAX;
}

static inline uint32_t ptxi_num_brev_b32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

static inline uint64_t ptxi_num_brev_b64(uint64_t x)
{
    return (uint64_t)ptxi_num_brev_b32((uint32_t)x) << 32 | ptxi_num_brev_b32((uint32_t)(x >> 32));
}

/* Shifts by any count. */
#define PTXI_NUM_SHIFTS(bits, wide)                                                                               \
    static inline uint##bits##_t ptxi_num_shl_b##bits(uint##bits##_t a, uint32_t n)                               \
    {                                                                                                             \
        return n < bits ? (uint##bits##_t)((wide)a << (n & (bits - 1))) : 0;                                      \
    }                                                                                                             \
    static inline uint##bits##_t ptxi_num_shr_u##bits(uint##bits##_t a, uint32_t n)                               \
    {                                                                                                             \
        return n < bits ? (uint##bits##_t)(a >> (n & (bits - 1))) : 0;                                            \
    }                                                                                                             \
    static inline int##bits##_t ptxi_num_shr_s##bits(int##bits##_t a, uint32_t n)                                 \
    {                                                                                                             \
        return (int##bits##_t)(a >> (n < bits ? n : bits - 1));                                                   \
    }
PTXI_NUM_SHIFTS(16, uint32_t)
PTXI_NUM_SHIFTS(32, uint32_t)
PTXI_NUM_SHIFTS(64, uint64_t)
#undef PTXI_NUM_SHIFTS

/* A mask of the low n bits. n may be greater than the width. */
static inline uint32_t ptxi_num_low_bits_32(uint32_t n)
{
    return n < 32 ? ((uint32_t)1 << (n & 31)) - 1 : UINT32_MAX;
}

static inline uint64_t ptxi_num_low_bits_64(uint32_t n)
{
    return n < 64 ? ((uint64_t)1 << (n & 63)) - 1 : UINT64_MAX;
}

/* bfe: bits past the end are 0, or the sign for signed types, which is bit min(pos + len - 1, width - 1) of a. 32-bit
 * forms use the low 8 bits of position and length, and 64-bit forms use all bits. */
#define PTXI_NUM_FIELDS(bits, seen)                                                                               \
    static inline uint##bits##_t ptxi_num_bfe_u##bits(uint##bits##_t a, uint32_t pos, uint32_t len)               \
    {                                                                                                             \
        return ptxi_num_shr_u##bits(a, pos & seen) & ptxi_num_low_bits_##bits(len & seen);                        \
    }                                                                                                             \
    static inline uint##bits##_t ptxi_num_bfe_s##bits(uint##bits##_t a, uint32_t pos, uint32_t len)               \
    {                                                                                                             \
        uint32_t at = (pos & seen) < bits ? pos & seen : bits;                                                    \
        uint32_t n = (len & seen) < bits ? len & seen : bits;                                                     \
        uint32_t end = at + n - 1;                                                                                \
        uint##bits##_t mask = ptxi_num_low_bits_##bits(n);                                                        \
        uint##bits##_t sign = -(a >> (end < bits ? end : bits - 1) & 1);                                          \
                                                                                                                  \
        sign = n ? sign : 0;                                                                                      \
        return ((uint##bits##_t)ptxi_num_shr_s##bits((int##bits##_t)a, at) & mask) | (sign & ~mask);              \
    }                                                                                                             \
    static inline uint##bits##_t ptxi_num_bfi_b##bits(uint##bits##_t a, uint##bits##_t b, uint32_t pos, uint32_t len) \
    {                                                                                                             \
        uint##bits##_t mask = ptxi_num_shl_b##bits(ptxi_num_low_bits_##bits(len & seen), pos & seen);             \
                                                                                                                  \
        return (ptxi_num_shl_b##bits(a, pos & seen) & mask) | (b & ~mask);                                        \
    }
PTXI_NUM_FIELDS(32, 0xff)
PTXI_NUM_FIELDS(64, UINT32_MAX)
#undef PTXI_NUM_FIELDS

/* The position of the offset-th set bit of the mask from `base` on, upwards or downwards. The smallest offset gives 0.
 */
static inline uint32_t ptxi_num_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    int step = offset < 0 ? -1 : 1;
    uint32_t want = offset < 0 ? -(uint32_t)offset : (uint32_t)offset;

    if (offset == INT32_MIN)
        return 0;
    if (base > 31 || want > 32)
        return UINT32_MAX;
    if (!want)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (int p = (int)base; p >= 0 && p < 32; p += step)
        if (mask >> p & 1 && !--want)
            return (uint32_t)p;
    return UINT32_MAX;
}

/* The lower and the upper half of the product of polynomials over the field of two elements. */
static inline uint64_t ptxi_num_carryless_lo(uint64_t a, uint64_t b)
{
    uint64_t r = 0;

    for (unsigned k = 0; k < 64; k++)
        r ^= a << k & -(b >> k & 1);
    return r;
}

static inline uint64_t ptxi_num_carryless_hi(uint64_t a, uint64_t b)
{
    uint64_t r = 0;

    for (unsigned k = 1; k < 64; k++)
        r ^= a >> (64 - k) & -(b >> k & 1);
    return r;
}

#endif
