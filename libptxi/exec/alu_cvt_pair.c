/* PTX ISA, "Data Movement and Conversion Instructions: cvt": two f32 to f16x2 or bf16x2, a in the upper half; f32 to tf32. */
#include "exec/convert.h"

#define A PTXI_SLOT(w, i->a)
#define B PTXI_SLOT(w, i->b)
#define C PTXI_SLOT(w, i->c)

#define PAIR(name, half, make_high, make_low)              \
    OP( name )                                             \
    {                                                      \
        LANE_ARRAY(uint16_t, high);                        \
        LANE_ARRAY(uint16_t, low);                         \
        RESULT_LANES(uint32_t, r);                         \
                                                           \
        make_high;                                         \
        make_low;                                          \
        limit_##half(high, i->mods);                       \
        limit_##half(low, i->mods);                        \
        FOR_LANES r[l] = (uint32_t)high[l] << 16 | low[l]; \
        NEXT_WITH_RESULT(r);                               \
    }
PAIR( cvt_f16x2_f32, f16, f16_of_f32(high, A, MODE_OF(i)), f16_of_f32(low, B, MODE_OF(i)) )
PAIR( cvt_bf16x2_f32, bf16, bf16_of_f32(high, A, MODE_OF(i)), bf16_of_f32(low, B, MODE_OF(i)) )

/* Each half of c has random bits for one of the two. */
#define AT_RANDOM(half, bits)                                                                                  \
    static void half##_at_random(uint16_t *restrict r, const uint32_t *a, const uint32_t *c, int shift)        \
    {                                                                                                          \
        FOR_LANES {                                                                                            \
            uint32_t random = c[l] >> shift & ((1 << bits) - 1);                                               \
                                                                                                               \
            r[l] = (uint16_t)ptxi_num_small_at_random(ptxi_num_##half, a[l], random, bits, false);             \
        }                                                                                                      \
    }                                                                                                          \
    PAIR( cvt_rs_##half##x2_f32, half, half##_at_random(high, A, C, 16), half##_at_random(low, B, C, 0) )
AT_RANDOM(f16, 13)
AT_RANDOM(bf16, 16)

/* --- tf32 --- */
OP( cvt_tf32_f32 )
{
    const uint32_t *a = A;
    RESULT_LANES(uint32_t, r);

    if (MODE_OF(i) == PTXI_NUM_RN)
        FOR_LANES r[l] = ptxi_num_tf32_from_f32(a[l], PTXI_NUM_RN);
    else
        FOR_LANES r[l] = ptxi_num_tf32_from_f32(a[l], PTXI_NUM_RZ);
    if (i->mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] -= (r[l] & 0x7fffffff) == 0x7f800000 ? 1u << 13 : 0;
    if (i->mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (int32_t)r[l] < 0 ? 0 : r[l];
    NEXT_WITH_RESULT(r);
}

OP( cvt_rna_tf32_f32 )
{
    const uint32_t *a = A;
    RESULT_LANES(uint32_t, r);

    if (i->mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] = ptxi_num_tf32_rna(a[l], true);
    else
        FOR_LANES r[l] = ptxi_num_tf32_rna(a[l], false);
    NEXT_WITH_RESULT(r);
}
