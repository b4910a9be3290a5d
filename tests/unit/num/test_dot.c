/* Tests dot products of tensor cores (num/dot.h) with operands for which the models of the architectures give
 * different results. */
#include "unit/support/bits.h"

#include <math.h>

#include "num/dot.h"
#include "unit/support/minifloat_reference.h"

enum { K = 32, WARP = PTXI_DOT_WARP, ASYNC = PTXI_DOT_ASYNC, F32 = 0, F16 = 1 };
#define DOT(name) PTXI_DOT_##name

struct term {
    int k;
    double a, b;
};

static const struct probe {
    const char *name;
    unsigned sm, unit, type, f16;
    uint32_t c;
    struct term terms[4];
    uint32_t want;
} probes[] = {
#define EACH_HALF_WARP(X, ...) X(70, __VA_ARGS__) X(75, __VA_ARGS__) X(80, __VA_ARGS__) X(86, __VA_ARGS__) X(89, \
        __VA_ARGS__) X(90, __VA_ARGS__) \
    X(100, __VA_ARGS__) X(120, __VA_ARGS__)
#define BY_AGE(sm, volta, ampere, hopper) ((sm) < 75 ? (volta) : (sm) < 90 ? (ampere) : (hopper))

    /* number of bits that are kept */
#define BITS(sm, ...) { "kept bits", sm, WARP, DOT(f16), F32, 0x4b000000, \
                        { { 0, -4096, 2048 }, { 1, -1, 0.5 }, { 2, -1, 0.25 }, { 3, -1, 0.125 } }, \
                        BY_AGE(sm, 0, 0xbf000000, 0xbf400000) },
    EACH_HALF_WARP(BITS)
#define BITS_8(sm, unit, want) { "kept bits of bytes", sm, unit, DOT(e5m2), F32, 0x4b000000, \
                                 { { 0, -4096, 2048 }, { 1, -1, 0.5 }, { 2, -1, 0.25 }, { 3, -1, 0.125 } }, want },
    BITS_8(89, WARP, 0) BITS_8(90, ASYNC, 0) BITS_8(100, ASYNC, 0xbf400000) BITS_8(120, WARP, 0xbf400000)

    /* the length of a chunk */
#define LENGTH(sm, ...) \
    { "chunk", sm, WARP, DOT(f16), F32, 0, { { 0, 4096, 4096 }, { 1, 1, 0.5 }, { 8, -4096, 4096 } }, \
      sm < 90 ? 0 : 0x3f000000 },
    EACH_HALF_WARP(LENGTH)
#define LENGTH_TF32(sm) \
    { "chunk of tf32", sm, WARP, DOT(tf32), F32, 0, { { 0, 4096, 4096 }, { 1, 1, 0.5 }, { 4, -4096, 4096 } }, \
      sm < 90 ? 0 : 0x3f000000 },
    LENGTH_TF32(80) LENGTH_TF32(86) LENGTH_TF32(89) LENGTH_TF32(90) LENGTH_TF32(100) LENGTH_TF32(120)

    /* 1.5 * 1.5 is not normalized to 1.125 * 2, which would keep one bit less */
#define PRODUCT(sm, ...) { "product as it is", sm, WARP, DOT(f16), F32, 0, \
                           { { 0, 1.5, 1.5 }, { 1, -1.5, 1.5 }, { 2, 0x1p-12, 0x1p-13 } }, \
                           sm < 90 ? 0 : 0x33000000 },
    EACH_HALF_WARP(PRODUCT)

    /* 32 * 448^2 and the largest number, and a number with low bits */
    { "13 bits", 90, ASYNC, DOT(e4m3), F32, 0x7f7fffff, { { -1, 448, 448 } }, 0x7f7ffc00 },
    { "13 bits", 90, ASYNC, DOT(e4m3), F32, 0x461cfb6c, { { -1, 1, 1 } }, 0x461d7800 },
    { "13 bits kept", 89, WARP, DOT(e4m3), F32, 0, { { 0, 1, 1 }, { 1, 0x1p-6, 0x1p-6 }, { 2, 0x1p-7, 0x1p-7 } },
      0x3f800800 },
    { "13 bits kept", 90, ASYNC, DOT(e4m3), F32, 0, { { 0, 1, 1 }, { 1, 0x1p-6, 0x1p-6 }, { 2, 0x1p-7, 0x1p-7 } },
      0x3f800800 },
    { "bytes as halves", 90, WARP, DOT(e4m3), F32, 0, { { 0, 1, 1 }, { 1, 0x1p-6, 0x1p-6 }, { 2, 0x1p-7, 0x1p-7 } },
      0x3f800a00 },
    { "bytes as halves", 100, WARP, DOT(e4m3), F32, 0, { { 0, 1, 1 }, { 1, 0x1p-6, 0x1p-6 }, { 2, 0x1p-7, 0x1p-7 } },
      0x3f800a00 },
    { "to nearest at last", 90, WARP, DOT(e4m3), F32, 0x42800001, { { 0, 0x1p-9, 0x1p-9 } }, 0x42800002 },

    /* an intermediate sum exceeds the range */
#define RANGE(sm) \
    { "overflow of a chunk", sm, WARP, DOT(bf16), F32, 0, { { 0, 0x1p64, 0x1p64 }, { 8, -0x1p64, 0x1p64 } }, \
      sm < 90 ? 0x7f800000 : 0 },
    RANGE(80) RANGE(86) RANGE(89) RANGE(90) RANGE(100) RANGE(120)
#define TOO_LARGE(sm) { "overflow", sm, WARP, DOT(bf16), F32, 0x7f7fffff, { { 0, 0x1p127, 1 } }, 0x7f800000 },
    TOO_LARGE(80) TOO_LARGE(86) TOO_LARGE(89) TOO_LARGE(90) TOO_LARGE(100) TOO_LARGE(120)

#define ZEROS(sm, ...) { "zeros", sm, WARP, DOT(f16), F32, 0x80000000, { { -1, -0.0, 1 } }, 0 }, \
                       { "zeros", sm, WARP, DOT(f16), F16, 0x8000, { { -1, -0.0, 1 } }, 0 },
    EACH_HALF_WARP(ZEROS)
#define NANS(sm, ...) { "NaN and zero", sm, WARP, DOT(f16), F32, 0, { { 2, NAN, 0 } }, PTXI_NAN_F32 }, \
                      { "infinity and zero", sm, WARP, DOT(f16), F16, 0, { { 2, INFINITY, 0 } }, PTXI_NAN_F16 }, \
                      { "infinity", sm, WARP, DOT(f16), F32, 0x80000000, { { 2, INFINITY, -1 } }, 0xff800000 }, \
                      { "infinities", sm, WARP, DOT(f16), F32, 0x7f800000, { { 2, INFINITY, -1 } }, PTXI_NAN_F32 },
    EACH_HALF_WARP(NANS)
};

static void put(uint32_t *v, int k, enum ptxi_dot_type type, double x)
{
    const struct small *f = &smalls[type];
    uint32_t code = isnan(x) ? f->nan : isinf(x) ? (f->top + 1) | (x < 0 ? small_sign(f) : 0) : small_code(f, x,
            SMALL_RN, false, 0, 0);

    for (int i = k < 0 ? 0 : k; i < (k < 0 ? K : k + 1); i++)
        v[i] = code;
}

static uint32_t run(const struct probe *p, int n)
{
    struct ptxi_dot_model m = ptxi_dot_find(p->sm, (enum ptxi_dot_unit)p->unit, (enum ptxi_dot_type)p->type, p->f16);
    uint32_t a[K] = { 0 }, b[K] = { 0 };

    for (unsigned i = 0; i < 4 && (!i || p->terms[i].k); i++) {
        put(a, p->terms[i].k, (enum ptxi_dot_type)p->type, p->terms[i].a);
        put(b, p->terms[i].k, (enum ptxi_dot_type)p->type, p->terms[i].b);
    }
    return ptxi_dot(&m, (enum ptxi_dot_type)p->type, (enum ptxi_dot_type)p->type, a, b, (unsigned)n, p->c);
}

START_TEST(probes_give_the_expected_bits)
{
    const struct probe *p = &probes[_i];
    int n = p->type == DOT(tf32) ? 8 : p->type == DOT(f16) || p->type == DOT(bf16) ? 16 : 32;

    ck_bits32_at(run(p, n), p->want, "%s, sm_%u", p->name, p->sm);
}
END_TEST

/* The exponent of zero terms limits the bits that a chunk keeps. The smallest f32 must be kept to cancel the other
 * one. */
START_TEST(zero_exponent_f32)
{
    static const struct { unsigned sm; int last; } rows[] = { { 80, 156 }, { 86, 156 }, { 89, 156 }, { 90, 158 },
                                                              { 100, 158 }, { 120, 158 } };

    for (int k = 150; k < 166; k++) {
        struct probe p = { "", rows[_i].sm, WARP, DOT(bf16), F32, 0,
                           { { 0, 0x1p-75, 0x1p-74 }, { 1, -0x1p-75, ldexp(1, 75 - k) } }, 0 };

        ck_bits32_at(run(&p, 16), k > rows[_i].last, "sm_%u, 2^-%d", p.sm, k);
    }
}
END_TEST

/* Half of the smallest f16 and a term that makes the sum larger, if it is kept. */
START_TEST(zero_exponent_f16)
{
    static const struct { unsigned sm, unit; int last; } rows[] = { { 70, WARP, 43 }, { 75, WARP, 45 },
            { 80, WARP, 45 }, { 89, WARP, 45 }, { 90, WARP, 47 },
                                                                    { 90, ASYNC, 48 }, { 120, WARP, 47 } };

    for (int k = 40; k < 49; k++) {
        struct probe p = { "", rows[_i].sm, rows[_i].unit, DOT(f16), F16, 0,
                           { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, ldexp(1, 24 - k) } }, 0 };

        ck_bits32_at(run(&p, 16), k <= rows[_i].last, "sm_%u, 2^-%d", p.sm, k);
    }
}
END_TEST

/* Without a tensor core, each step is rounded to nearest. */
START_TEST(m8n8k4)
{
    static const uint32_t a[4] = { 0x3c00, 0x3c00, 0x1000, 0x0c00 }, b[4] = { 0x6c00, 0x0400, 0x0400, 0x0400 };
    struct ptxi_dot_model fused = ptxi_dot_find_m8n8k4(80, false), unit = ptxi_dot_find_m8n8k4(70, false);

    ck_bits32(ptxi_dot(&fused, DOT(f16), DOT(f16), a, b, 4, 0x3f800001), 0x45800800);
    ck_bits32(ptxi_dot(&unit, DOT(f16), DOT(f16), a, b, 4, 0x3f800001), 0x45800800);
    fused = ptxi_dot_find_m8n8k4(90, true);
    ck_bits32(ptxi_dot(&fused, DOT(f16), DOT(f16), a, b, 4, 0x6c00), 0x7000);
}
END_TEST

/* PTX ISA, "Block Scaling for mma.sync": groups of 16 elements of 4 bits keep 35 bits. */
START_TEST(block_scaling)
{
    uint32_t a[64] = { 0 }, b[64] = { 0 };
    uint8_t sa[4] = { 127, 127, 127, 127 }, sb[4] = { 127, 127, 127, 127 };
    struct ptxi_dot_scales s = { false, 16, sa, sb };

    a[0] = 2, b[0] = 2;             /* 1 */
    a[16] = 2, b[16] = 2, sa[1] = 150; /* 2^23 */
    a[32] = 2, b[32] = 10, sb[2] = 149; /* -2^22 */
    ck_bits32(ptxi_dot_scaled(DOT(e2m1), DOT(e2m1), a, b, 64, 0x3e000000, &s), 0x4a800002);
    sa[3] = 0xff;
    ck_bits32(ptxi_dot_scaled(DOT(e2m1), DOT(e2m1), a, b, 64, 0x3e000000, &s), PTXI_NAN_F32);
    s = (struct ptxi_dot_scales){ true, 16, sa, sb };
    sa[0] = sa[1] = sb[0] = sb[1] = 0x38, sb[2] = 0xb8, sa[2] = 0x40, sa[3] = sb[3] = 0;
    ck_bits32(ptxi_dot_scaled(DOT(e2m1), DOT(e2m1), a, b, 64, 0, &s), 0);
    a[0] = 0x38, b[0] = 0x38, sa[0] = 128, sb[0] = 127;
    s = (struct ptxi_dot_scales){ false, 32, sa, sb };
    a[16] = 0;
    ck_bits32(ptxi_dot_scaled(DOT(e4m3), DOT(e4m3), a, b, 32, 0x3f800000, &s), 0x40400000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dot");
    TCase *t = tcase_create("dot");

    tcase_add_loop_test(t, probes_give_the_expected_bits, 0, sizeof probes / sizeof *probes);
    tcase_add_loop_test(t, zero_exponent_f32, 0, 6);
    tcase_add_loop_test(t, zero_exponent_f16, 0, 7);
    tcase_add_test(t, m8n8k4);
    tcase_add_test(t, block_scaling);
    suite_add_tcase(s, t);
    return run_suite(s);
}
