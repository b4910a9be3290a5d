/* Dot products of the tensor cores. The products of a chunk and the addend are aligned to the largest exponent among
 * them, truncated, and summed exactly. The sum is rounded to the result, which is the addend of the next chunk. The
 * length of a chunk, the number of bits that are kept and the rounding depend on the architecture and the types.
 *
 * These functions compute one element of a matrix from the codes of a row and of a column. */
#ifndef PTXI_NUM_DOT_H
#define PTXI_NUM_DOT_H

#include "num/minifloat.h"

/* Elements of A and B, in the formats of num/minifloat.h. */
enum ptxi_dot_type {
#define X(name, ...) PTXI_DOT_##name,
    PTXI_NUM_MINIFLOAT_FORMATS(X)
#undef X
    PTXI_DOT_TYPES
};
extern const struct ptxi_num_minifloat ptxi_dot_formats[PTXI_DOT_TYPES];

enum ptxi_dot_rounding {
    PTXI_DOT_RZ_F32,   /* toward zero; infinite from 2^128 on */
    PTXI_DOT_RZ_E8M13, /* the same without the lower 10 bits of an f32 */
    PTXI_DOT_RN_F16    /* to nearest even */
};

/* The instructions of a warp, or the asynchronous ones of a warpgroup and of tensor memory. */
enum ptxi_dot_unit { PTXI_DOT_WARP, PTXI_DOT_ASYNC };

enum ptxi_dot_method {
    PTXI_DOT_CHUNKS,
    PTXI_DOT_HALVES, /* 8-bit floats in units for f16: k % 4 < 2, then the others, then an IEEE sum with c */
    PTXI_DOT_FUSED   /* without a unit: fma.rn.f32 and add.rn.f32 */
};

struct ptxi_dot_model {
    uint8_t chunk;    /* number of products that are summed at once */
    uint8_t kept;     /* number of fraction bits that are kept at the largest exponent */
    uint8_t rounding; /* enum ptxi_dot_rounding */
    uint8_t method;   /* enum ptxi_dot_method */
    int16_t zero;     /* exponent of a term that is 0 */
};

/* A model as five words of an instruction. */
static inline void ptxi_dot_pack(const struct ptxi_dot_model *m, uint16_t *words)
{
    words[0] = m->chunk;
    words[1] = m->kept;
    words[2] = m->rounding;
    words[3] = m->method;
    words[4] = (uint16_t)m->zero;
}

static inline struct ptxi_dot_model ptxi_dot_unpack(const uint16_t *words)
{
    return (struct ptxi_dot_model){ (uint8_t)words[0], (uint8_t)words[1], (uint8_t)words[2], (uint8_t)words[3],
                                    (int16_t)words[4] };
}

/* The model of architecture `sm` for elements of type `a` and a result in f16 or f32. */
struct ptxi_dot_model ptxi_dot_find(unsigned sm, enum ptxi_dot_unit unit, enum ptxi_dot_type a, bool f16_result);
/* The same for mma.m8n8k4, which has no unit from sm_80 on. */
struct ptxi_dot_model ptxi_dot_find_m8n8k4(unsigned sm, bool f16_result);

/* c + the sum of a[k] * b[k], for n codes each. c is an f16 if the result is an f16, else an f32. */
uint32_t ptxi_dot(const struct ptxi_dot_model *model, enum ptxi_dot_type ta, enum ptxi_dot_type tb, const uint32_t *a,
                  const uint32_t *b, unsigned n, uint32_t c);

/* Block scaling: `block` elements of a and b share a scale. c and the result are f32. */
enum ptxi_dot_scale_type { PTXI_SCALE_UE8M0, PTXI_SCALE_UE4M3, PTXI_SCALE_UE5M3 };
struct ptxi_dot_scales {
    enum ptxi_dot_scale_type type;
    uint8_t block;
    const uint8_t *a, *b;
};
uint32_t ptxi_dot_scaled(enum ptxi_dot_type ta, enum ptxi_dot_type tb, const uint32_t *a, const uint32_t *b, unsigned n,
                         uint32_t c, const struct ptxi_dot_scales *scales);

#endif
