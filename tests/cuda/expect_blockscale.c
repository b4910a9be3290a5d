/* Expected results of blockscale.cu. The operands are such that all sums are exact in f32. */
#include "cases.h"

#include <math.h>

enum { LANES = 32, WORDS = 16, A = 0, B = 4, C = 8, SCALE_A = 12, SCALE_B = 13, METADATA = 12 };

/* A format of 4 to 8 bits, and some codes of it. */
struct format {
    unsigned exponent, mantissa, shift; /* the first bit in a byte is `shift` */
    int bias;
    unsigned char codes[8];
};

static const struct format e4m3 = { 4, 3, 0, 7, { 0x38, 0x40, 0xb8, 0, 0x30, 0xb4, 0x3c, 0x80 } };
static const struct format e5m2 = { 5, 2, 0, 15, { 0x3c, 0x40, 0xbc, 0, 0x38, 0xbe, 0x41, 0x80 } };
static const struct format e2m3 = { 2, 3, 0, 1, { 0x00, 0x01, 0x2f, 0x38, 0x1f, 0x3f, 0x12, 0x09 } };
static const struct format e3m2 = { 3, 2, 0, 3, { 0x0c, 0x10, 0x2c, 0x00, 0x08, 0x11, 0x31, 0x14 } };
static const struct format e2m1 = { 2, 1, 2, 1, { 0x0, 0x1, 0x3, 0x5, 0x7, 0x9, 0xc, 0xf } };

static double value(const struct format *f, unsigned code)
{
    unsigned m = f->mantissa, e = code >> m & ((1u << f->exponent) - 1), fraction = code & ((1u << m) - 1);
    double v = e ? ldexp((1u << m) + fraction, (int)e - f->bias - (int)m) : ldexp(fraction, 1 - f->bias - (int)m);

    return code >> (m + f->exponent) & 1 ? -v : v;
}

/* Fills A and B with codes, in bytes or (`packed`) in halves of bytes, and C with small integers. */
static void fill(uint32_t *in, const struct format *a, const struct format *b, bool packed)
{
    for (int k = 0; k < LANES * WORDS; k++) {
        const struct format *f = k % WORDS < B ? a : b;

        in[k] = 0;
        if (k % WORDS >= C) {
            float c = (float)(int)(cuda_random() % 64) - 32;

            memcpy(&in[k], &c, sizeof c);
            continue;
        }
        for (int bit = 0; bit < 32; bit += packed ? 4 : 8)
            in[k] |= (uint32_t)f->codes[cuda_random() % 8] << (bit + (packed ? 0 : (int)f->shift));
    }
}

static void fill_scales(uint32_t *in, unsigned first, unsigned count)
{
    for (int k = 0; k < LANES * 2; k++) {
        uint32_t *to = in + k / 2 * WORDS + SCALE_A + k % 2;

        for (int bit = *to = 0; bit < 32; bit += 8)
            *to |= (first + cuda_random() % count) << bit;
    }
}

/* Element k of a row of A (of 16) or a column of B (of 8), of `bits` bits. A register has 4 * `columns` of them. */
static unsigned element(const uint32_t *in, int matrix, int row, int k, unsigned bits)
{
    int per_word = 32 / (int)bits, lane = 4 * (row % 8) + k / per_word % 4, word = k / (4 * per_word);

    word = matrix == A ? row / 8 + 2 * word : word;
    return in[WORDS * lane + matrix + word] >> (k % per_word * (int)bits) & ((1u << bits) - 1);
}

struct product {
    const struct format *a, *b;
    int depth, block; /* `block` elements have one scale; 0: no scales */
    bool packed, ue4m3;
};

static double scale(const struct product *p, uint32_t word, int block)
{
    unsigned code = word >> 8 * block & 0xff;

    return p->ue4m3 ? value(&e4m3, code) : ldexp(1, (int)code - 127);
}

static double term(const struct product *p, const uint32_t *in, int row, int column, int k)
{
    unsigned bits = p->packed ? 4 : 8;
    unsigned a = element(in, A, row, k, bits) >> (p->packed ? 0 : p->a->shift);
    unsigned b = element(in, B, column, k, bits) >> (p->packed ? 0 : p->b->shift);
    double v = value(p->a, a) * value(p->b, b);

    if (!p->block)
        return v;
    /* The selector of both scales is thread 1: lanes 2 and 3 of four have the scales of A, and lane 1 has that of B. */
    return v * scale(p, in[WORDS * (4 * (row % 8) + 2 + row / 8) + SCALE_A], k / p->block) *
           scale(p, in[WORDS * (4 * column + 1) + SCALE_B], k / p->block);
}

static void multiply(const struct product *p, const uint32_t *in, float *out)
{
    for (int t = 0; t < LANES; t++)
        for (int j = 0; j < 4; j++) {
            float c;
            double sum;

            memcpy(&c, &in[WORDS * t + C + j], sizeof c);
            sum = c;
            for (int k = 0; k < p->depth; k++)
                sum += term(p, in, t / 4 + 8 * (j / 2), t % 4 * 2 + j % 2, k);
            out[4 * t + j] = (float)sum;
        }
}

#define PRODUCT(name, ...)                                             \
    static const struct product name = { __VA_ARGS__ };                \
    static void fill_##name(void *in, size_t bytes)                    \
    {                                                                  \
        (void)bytes;                                                   \
        fill(in, name.a, name.b, name.packed);                         \
        fill_scales(in, name.ue4m3 ? 0x30 : 125, name.ue4m3 ? 16 : 5); \
    }                                                                  \
    static void expect_##name(const void *in, void *out, int n)        \
    {                                                                  \
        (void)n;                                                       \
        multiply(&name, in, out);                                      \
    }
PRODUCT(e4m3_e5m2, &e4m3, &e5m2, 32, 0, false, false)
PRODUCT(e2m3_e3m2, &e2m3, &e3m2, 32, 0, false, false)
PRODUCT(e2m1_e4m3, &e2m1, &e4m3, 32, 0, false, false)
PRODUCT(scaled_e5m2_e2m1, &e5m2, &e2m1, 32, 32, false, false)
PRODUCT(scaled_e2m1_32, &e2m1, &e2m1, 64, 32, true, false)
PRODUCT(scaled_e2m1_16, &e2m1, &e2m1, 64, 16, true, true)

/* ---- sparse: two of four elements, at increasing positions */

static void fill_sparse(void *in, size_t bytes)
{
    static const unsigned pairs[] = { 0x4, 0x8, 0xc, 0x9, 0xd, 0xe }; /* 0 1, 0 2, 0 3, 1 2, 1 3, 2 3 */
    uint32_t *p = in;

    (void)bytes;
    fill(p, &e4m3, &e5m2, false);
    for (int t = 0; t < LANES; t++)
        for (int k = p[WORDS * t + METADATA] = 0; k < 8; k++)
            p[WORDS * t + METADATA] |= pairs[cuda_random() % 6] << 4 * k;
}

static void expect_sparse(const void *in, void *out, int n)
{
    const uint32_t *p = in;
    float *o = out;

    (void)n;
    for (int t = 0; t < LANES; t++)
        for (int j = 0; j < 4; j++) {
            int row = t / 4 + 8 * (j / 2), column = t % 4 * 2 + j % 2;
            float c;
            double sum;

            memcpy(&c, &p[WORDS * t + C + j], sizeof c);
            sum = c;
            for (int k = 0; k < 32; k++) {
                uint32_t positions = p[WORDS * (4 * (row % 8) + row / 8 + 2 * (k / 16)) + METADATA];
                int at = 4 * (k / 2) + (int)(positions >> 2 * (k % 16) & 3);

                sum += value(&e4m3, element(p, A, row, k, 8)) * value(&e5m2, element(p, B, column, at, 8));
            }
            o[4 * t + j] = (float)sum;
        }
}

#define CASE(name) { #name, 0, 1, LANES, 0, LANES * WORDS * 4, LANES * 16, expect_##name, .fill = fill_##name }
const struct cuda_case blockscale_cases[] = {
    CASE(e4m3_e5m2),
    CASE(e2m3_e3m2),
    CASE(e2m1_e4m3),
    CASE(scaled_e5m2_e2m1),
    CASE(scaled_e2m1_32),
    CASE(scaled_e2m1_16),
    { "sparse_e4m3_e5m2", 0, 1, LANES, 0, LANES * WORDS * 4, LANES * 16, expect_sparse, .fill = fill_sparse },
};
CUDA_COUNT(blockscale);
