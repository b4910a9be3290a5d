/* PTX ISA, "Integer Arithmetic Instructions". */
#include "exec/engine/op_shapes.h"
#include "num/integer.h"

#define EACH_SIGNLESS(X) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)
#define EACH_INT(X) X(u16, uint16_t) X(s16, int16_t) X(u32, uint32_t) X(s32, int32_t) X(u64, uint64_t) X(s64, int64_t)

/* Conversions to an unsigned type of at least 32 bits, so that no operation overflows in C. uint16_t would be
 * promoted to int. */
#define U_16(x) ((uint32_t)(x))
#define U_32(x) (x)
#define U_64(x) (x)

#define SIGNLESS(n, t)                                                             \
    OP2(add_i##n, t, t, t, a[l] + b[l])                                            \
    OP2(sub_i##n, t, t, t, a[l] - b[l])                                            \
    OP2(mul_lo_i##n, t, t, t, (t)(U_##n(a[l]) * b[l]))                             \
    OP3(mad_lo_i##n, t, t, t, t, (t)(U_##n(a[l]) * b[l] + c[l]))                   \
    OP1(neg_i##n, t, t, (t)-U_##n(a[l]))
EACH_SIGNLESS(SIGNLESS)

#define MIN_MAX(n, t)                                          \
    OP2(min_##n, t, t, t, a[l] < b[l] ? a[l] : b[l])           \
    OP2(max_##n, t, t, t, a[l] > b[l] ? a[l] : b[l])
EACH_INT(MIN_MAX)

#define SAD(n, t, u)                                                                                    \
    OP3(sad_##n, u, t, t, u, (u)(c[l] + (a[l] < b[l] ? (u)((u)b[l] - (u)a[l]) : (u)((u)a[l] - (u)b[l]))))
SAD(u16, uint16_t, uint16_t)
SAD(s16, int16_t, uint16_t)
SAD(u32, uint32_t, uint32_t)
SAD(s32, int32_t, uint32_t)
SAD(u64, uint64_t, uint64_t)
SAD(s64, int64_t, uint64_t)

OP1(abs_s16, uint16_t, int16_t, (uint16_t)(a[l] < 0 ? -(uint32_t)a[l] : (uint32_t)a[l]))
OP1(abs_s32, uint32_t, int32_t, a[l] < 0 ? -(uint32_t)a[l] : (uint32_t)a[l])
OP1(abs_s64, uint64_t, int64_t, a[l] < 0 ? -(uint64_t)a[l] : (uint64_t)a[l])

OP2(add_sat_s32, int32_t, int32_t, int32_t, ptxi_num_clamp_s32((int64_t)a[l] + b[l]))
OP2(sub_sat_s32, int32_t, int32_t, int32_t, ptxi_num_clamp_s32((int64_t)a[l] - b[l]))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MIN_RELU(x, y) MAX(MIN(x, y), 0)
#define MAX_RELU(x, y) MAX(MAX(x, y), 0)
OP2(min_relu_s32, int32_t, int32_t, int32_t, MIN_RELU(a[l], b[l]))
OP2(max_relu_s32, int32_t, int32_t, int32_t, MAX_RELU(a[l], b[l]))

/* --- products. Wide products are named by the width of the factors; their type is twice as wide. --- */
#define WIDE(n, t, wt, wu)                                                                     \
    OP2(mul_wide_##n, wu, t, t, (wu)((wt)a[l] * (wt)b[l]))                                     \
    OP3(mad_wide_##n, wu, t, t, wu, (wu)((wu)((wt)a[l] * (wt)b[l]) + c[l]))
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
#define WIDE_32_OP(name, n, t, addend)                                                         \
    OP( name )                                                                                 \
    {                                                                                          \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                              \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                      \
                                                                                               \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {                                \
            ptxi_wide_##n(d, a, b, addend);                                                    \
        } else {                                                                               \
            LANE_ARRAY(uint64_t, r);                                                           \
                                                                                               \
            ptxi_wide_##n(r, a, b, addend);                                                    \
            ptxi_masked_write_64(d, r, w->active);                                                    \
        }                                                                                      \
        NEXT;                                                                                  \
    }
#define WIDE_32(n, t)                                                                          \
    WIDE_32_OP(mul_wide_##n, n, t, NULL)                                                       \
    WIDE_32_OP(mad_wide_##n, n, t, PTXI_SLOT(w, i->c))
WIDE_32(u32, uint32_t)
WIDE_32(s32, int32_t)

#define HIGH(n, t, u, wt, bits)                                                                \
    OP2(mul_hi_##n, u, t, t, (u)((wt)a[l] * (wt)b[l] >> bits))                                 \
    OP3(mad_hi_##n, u, t, t, u, (u)((u)((wt)a[l] * (wt)b[l] >> bits) + c[l]))
HIGH(u16, uint16_t, uint16_t, uint32_t, 16)
HIGH(s16, int16_t, uint16_t, int32_t, 16)
HIGH(u32, uint32_t, uint32_t, uint64_t, 32)
HIGH(s32, int32_t, uint32_t, int64_t, 32)

#define HIGH_64(n, t, mul_hi)                                                                  \
    OP( mul_hi_##n )                                                                           \
    {                                                                                          \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                              \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                      \
                                                                                               \
        WRITE_LANES_COLD(d, mul_hi(a[l], b[l]));                                               \
        NEXT;                                                                                  \
    }                                                                                          \
    OP( mad_hi_##n )                                                                           \
    {                                                                                          \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                              \
        const uint64_t *c = PTXI_SLOT(w, i->c);                                                \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                      \
                                                                                               \
        WRITE_LANES_COLD(d, mul_hi(a[l], b[l]) + c[l]);                                        \
        NEXT;                                                                                  \
    }
HIGH_64(u64, uint64_t, ptxi_num_mul_hi_u64)
HIGH_64(s64, int64_t, ptxi_num_mul_hi_s64)

OP3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t, ptxi_num_clamp_s32(((int64_t)a[l] * b[l] >> 32) + c[l]))

#define PRODUCT_24_u(a, b) ((uint64_t)((a) & 0xffffff) * ((b) & 0xffffff))
#define PRODUCT_24_s(a, b) ((int64_t)((int32_t)((a) << 8) >> 8) * ((int32_t)((b) << 8) >> 8))
#define MUL24(s)                                                                                               \
    OP2(mul24_lo_##s##32, uint32_t, uint32_t, uint32_t, (uint32_t)PRODUCT_24_##s(a[l], b[l]))                  \
    OP2(mul24_hi_##s##32, uint32_t, uint32_t, uint32_t, (uint32_t)(PRODUCT_24_##s(a[l], b[l]) >> 16))          \
    OP3(mad24_lo_##s##32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)PRODUCT_24_##s(a[l], b[l]) + c[l]) \
    OP3(mad24_hi_##s##32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(PRODUCT_24_##s(a[l], b[l]) >> 16) + c[l])
MUL24(u)
MUL24(s)
OP3(mad24_hi_sat_s32, int32_t, uint32_t, uint32_t, int32_t,
    ptxi_num_clamp_s32((int32_t)(PRODUCT_24_s(a[l], b[l]) >> 16) + (int64_t)c[l]))

/* --- division: one copy of the code for all masks. The functions accept any operands, so inactive lanes are divided,
 * too. --- */
#define DIVIDE(n, t)                                                       \
    OP( div_##n )                                                          \
    {                                                                      \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);          \
        t *d = PTXI_SLOT(w, i->d);                                         \
                                                                           \
        WRITE_LANES_COLD(d, ptxi_num_div_##n(a[l], b[l]));                 \
        NEXT;                                                              \
    }                                                                      \
    OP( rem_##n )                                                          \
    {                                                                      \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);          \
        t *d = PTXI_SLOT(w, i->d);                                         \
                                                                           \
        WRITE_LANES_COLD(d, ptxi_num_rem_##n(a[l], b[l]));                 \
        NEXT;                                                              \
    }
EACH_INT(DIVIDE)

/* --- two 16-bit elements in a 32-bit register --- */
#define EACH_HALF(n, t, x, y, f)                                                                              \
    OP2(n, uint32_t, uint32_t, uint32_t,                                                                      \
        (uint32_t)(uint16_t)f((t)a[l], (t)b[l]) | (uint32_t)(uint16_t)f((t)(a[l] >> 16), (t)(b[l] >> 16)) << 16)
#define ADD(x, y) ((x) + (y))
EACH_HALF(add_i16x2, uint16_t, x, y, ADD)
EACH_HALF(min_u16x2, uint16_t, x, y, MIN)
EACH_HALF(max_u16x2, uint16_t, x, y, MAX)
EACH_HALF(min_s16x2, int16_t, x, y, MIN)
EACH_HALF(max_s16x2, int16_t, x, y, MAX)
EACH_HALF(min_relu_s16x2, int16_t, x, y, MIN_RELU)
EACH_HALF(max_relu_s16x2, int16_t, x, y, MAX_RELU)

#define EACH_COMPARISON(F) F(eq, ==) F(ne, !=) F(lt, <) F(le, <=) F(gt, >) F(ge, >=)
#define SET_HALF(n, t, op)                                                                                           \
    OP2(n, uint32_t, uint32_t, uint32_t,                                                                             \
        ((t)a[l] op (t)b[l] ? 0xffff : 0u) | ((t)(a[l] >> 16) op (t)(b[l] >> 16) ? 0xffff0000 : 0u))
#define SET_HALVES(cmp, op) SET_HALF(set_##cmp##_u16x2, uint16_t, op) SET_HALF(set_##cmp##_s16x2, int16_t, op)
EACH_COMPARISON(SET_HALVES)

#define CLAMP(x, low, high) MIN(MAX(x, low), high)
#define ADD_SAT_U16(x, y) MIN((x) + (y), 0xffff)
#define ADD_SAT_S16(x, y) CLAMP((x) + (y), INT16_MIN, INT16_MAX)
EACH_HALF(add_sat_u16x2, uint16_t, x, y, ADD_SAT_U16)
EACH_HALF(add_sat_s16x2, int16_t, x, y, ADD_SAT_S16)
OP2(add_sat_u32, uint32_t, uint32_t, uint32_t, a[l] + b[l] < a[l] ? UINT32_MAX : a[l] + b[l])

/* --- four 8-bit elements in a 32-bit register: an array of four times as many elements --- */
#define EACH_BYTE(n, t, expr)                                                            \
    OP( n )                                                                              \
    {                                                                                    \
        typedef t __attribute__((may_alias)) element;                                    \
        RESULT_LANES(uint32_t, r);                                                       \
        const element *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                  \
        element *d = (element *)r;                                                       \
                                                                                         \
        PTXI_SIMD for (int l = 0; l < 4 * PTXI_LANES; l++) d[l] = (t)(expr);             \
        NEXT_WITH_RESULT(r);                                                             \
    }
EACH_BYTE(add_u8x4, uint8_t, a[l] + b[l])
EACH_BYTE(add_s8x4, int8_t, a[l] + b[l])
EACH_BYTE(add_sat_u8x4, uint8_t, MIN(a[l] + b[l], UINT8_MAX))
EACH_BYTE(add_sat_s8x4, int8_t, CLAMP(a[l] + b[l], INT8_MIN, INT8_MAX))
EACH_BYTE(sub_u8x4, uint8_t, a[l] - b[l])
EACH_BYTE(sub_s8x4, int8_t, a[l] - b[l])
EACH_BYTE(sub_sat_u8x4, uint8_t, MAX(a[l] - b[l], 0))
EACH_BYTE(sub_sat_s8x4, int8_t, CLAMP(a[l] - b[l], INT8_MIN, INT8_MAX))
EACH_BYTE(min_u8x4, uint8_t, MIN(a[l], b[l]))
EACH_BYTE(max_u8x4, uint8_t, MAX(a[l], b[l]))
EACH_BYTE(min_s8x4, int8_t, MIN(a[l], b[l]))
EACH_BYTE(max_s8x4, int8_t, MAX(a[l], b[l]))
EACH_BYTE(min_relu_s8x4, int8_t, MIN_RELU(a[l], b[l]))
EACH_BYTE(max_relu_s8x4, int8_t, MAX_RELU(a[l], b[l]))
#define SET_BYTES(cmp, op) EACH_BYTE(set_##cmp##_u8x4, uint8_t, -(a[l] op b[l])) \
    EACH_BYTE(set_##cmp##_s8x4, int8_t, -(a[l] op b[l]))
EACH_COMPARISON(SET_BYTES)
/* In each byte 0x80 - (x & 0x7f), which does not borrow from the next byte, and the sign of -x. */
OP1(neg_s8x4, uint32_t, uint32_t, (0x80808080 - (a[l] & 0x7f7f7f7f)) ^ (~a[l] & 0x80808080))

/* --- dp4a, dp2a --- */
#define BYTE_u(x, k) ((uint32_t)(uint8_t)((x) >> (8 * (k))))
#define BYTE_s(x, k) ((uint32_t)(int32_t)(int8_t)((x) >> (8 * (k))))
#define HALF_u(x, k) ((uint32_t)(uint16_t)((x) >> (16 * (k))))
#define HALF_s(x, k) ((uint32_t)(int32_t)(int16_t)((x) >> (16 * (k))))
#define DOT(at, bt)                                                                                \
    OP3(dp4a_##at##32_##bt##32, uint32_t, uint32_t, uint32_t, uint32_t,                            \
        c[l] + BYTE_##at(a[l], 0) * BYTE_##bt(b[l], 0) + BYTE_##at(a[l], 1) * BYTE_##bt(b[l], 1) + \
            BYTE_##at(a[l], 2) * BYTE_##bt(b[l], 2) + BYTE_##at(a[l], 3) * BYTE_##bt(b[l], 3))     \
    OP3(dp2a_lo_##at##32_##bt##32, uint32_t, uint32_t, uint32_t, uint32_t,                         \
        c[l] + HALF_##at(a[l], 0) * BYTE_##bt(b[l], 0) + HALF_##at(a[l], 1) * BYTE_##bt(b[l], 1))  \
    OP3(dp2a_hi_##at##32_##bt##32, uint32_t, uint32_t, uint32_t, uint32_t,                         \
        c[l] + HALF_##at(a[l], 0) * BYTE_##bt(b[l], 2) + HALF_##at(a[l], 1) * BYTE_##bt(b[l], 3))
DOT(u, u)
DOT(u, s)
DOT(s, u)
DOT(s, s)

/* --- clmad: products without carries --- */
#define CLMAD(mode)                                                                                    \
    OP( clmad_##mode##_u64 )                                                                           \
    {                                                                                                  \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);      \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                              \
                                                                                                       \
        WRITE_LANES_COLD(d, ptxi_num_carryless_##mode(a[l], b[l]) ^ c[l]);                             \
        NEXT;                                                                                          \
    }
CLMAD(lo)
CLMAD(hi)
