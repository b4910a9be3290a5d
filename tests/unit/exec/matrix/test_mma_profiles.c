/* Tests mma on every device profile with operands that give different sums on the architectures, and the elements and
 * scales of block scaling. test_dot.c explains the probes and tests the models directly. */
#include "unit/support/kernels.h"

#include <math.h>
#include <string.h>

#include "isa/fragment.h"
#include "unit/support/minifloat_reference.h"

enum generation { VOLTA, TURING, AMPERE, ADA, HOPPER, SM_100, SM_120, GENERATIONS };
#define SKIP 0xdeadbeef /* no such instruction, or a result that does not distinguish anything */

struct term {
    int k; /* -1: all */
    double a, b;
};

static const struct probe {
    const char *name, *types;
    unsigned type, k;
    uint32_t c;
    struct term terms[4];
    uint32_t want[GENERATIONS];
} probes[] = {
#define HALVES "f32.f16.f16.f32", F16_, 0
#define HALF_SUM "f16.f16.f16.f16", F16_, 0
#define BRAINS "f32.bf16.bf16.f32", BF16_, 16
#define BYTES "f32.e4m3.e4m3.f32", E4M3, 32
#define FROM(sm80, sm89, sm90, sm100, sm120) { SKIP, SKIP, sm80, sm89, sm90, sm100, sm120 }
#define ALL(x) { x, x, x, x, x, x, x }
#define ALL_80(x) FROM(x, x, x, x, x)
    { "P1, kept bits", HALVES, 0x4b000000, { { 0, -4096, 2048 }, { 1, -1, 0.5 }, { 2, -1, 0.25 }, { 3, -1, 0.125 } },
      { 0, 0xbf000000, 0xbf000000, 0xbf000000, 0xbf400000, 0xbf400000, 0xbf400000 } },
    { "P1, kept bits", "f32.e5m2.e5m2.f32", E5M2, 32, 0x4b000000,
      { { 0, -4096, 2048 }, { 1, -1, 0.5 }, { 2, -1, 0.25 }, { 3, -1, 0.125 } },
      FROM(SKIP, 0, 0, 0, 0xbf400000) },
    { "P2, length of a chunk", "f32.f16.f16.f32", F16_, 16, 0, { { 0, 4096, 4096 }, { 1, 1, 0.5 }, { 8, -4096, 4096 } },
      FROM(0, 0, 0x3f000000, 0x3f000000, 0x3f000000) },
    { "P3, products as they are", HALVES, 0, { { 0, 1.5, 1.5 }, { 1, -1.5, 1.5 }, { 2, 0x1p-12, 0x1p-13 } },
      { 0, 0, 0, 0, 0x33000000, 0x33000000, 0x33000000 } },
    { "P4, zeros, kept", BRAINS, 0, { { 0, 0x1p-75, 0x1p-74 }, { 1, -0x1p-75, 0x1p-81 } }, FROM(0, 0, 0, 0, 0) },
    { "P4, zeros, on Ampere cut", BRAINS, 0, { { 0, 0x1p-75, 0x1p-74 }, { 1, -0x1p-75, 0x1p-82 } },
      FROM(1, 1, 0, 0, 0) },
    { "P4, zeros, on Hopper kept", BRAINS, 0, { { 0, 0x1p-75, 0x1p-74 }, { 1, -0x1p-75, 0x1p-83 } },
      FROM(1, 1, 0, 0, 0) },
    { "P4, zeros, cut", BRAINS, 0, { { 0, 0x1p-75, 0x1p-74 }, { 1, -0x1p-75, 0x1p-84 } }, FROM(1, 1, 1, 1, 1) },
    { "P5, zeros of f16, kept", HALF_SUM, 0, { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, 0x1p-19 } }, ALL(1) },
    { "P5, zeros of f16, on Volta cut", HALF_SUM, 0, { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, 0x1p-20 } },
      { 0, 1, 1, 1, 1, 1, 1 } },
    { "P5, zeros of f16, on Turing kept", HALF_SUM, 0, { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, 0x1p-21 } },
      { 0, 1, 1, 1, 1, 1, 1 } },
    { "P5, zeros of f16, on Turing cut", HALF_SUM, 0, { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, 0x1p-22 } },
      { 0, 0, 0, 0, 1, 1, 1 } },
    { "P5, zeros of f16, cut", HALF_SUM, 0, { { 0, 0x1p-11, 0x1p-14 }, { 1, 0x1p-24, 0x1p-24 } }, ALL(0) },
    { "P7, bytes", BYTES, 0, { { 0, 1, 1 }, { 1, 0x1p-6, 0x1p-6 }, { 2, 0x1p-7, 0x1p-7 } },
      FROM(SKIP, 0x3f800800, 0x3f800a00, 0x3f800a00, 0x3f800a00) },
    { "P8, the last addition", BYTES, 0x42800001, { { 0, 0x1p-9, 0x1p-9 } },
      FROM(SKIP, 0x42800000, 0x42800002, 0x42800002, 0x42800001) },
    { "P9, overflow of a chunk", BRAINS, 0, { { 0, 0x1p64, 0x1p64 }, { 8, -0x1p64, 0x1p64 } },
      FROM(0x7f800000, 0x7f800000, 0, 0, 0) },
    { "P10, zeros have no sign", HALVES, 0x80000000, { { -1, -0.0, 1 } }, ALL(0) },
    { "P10, nor have sums that are cut off", BRAINS, 0, { { 0, -0x1p-75, 0x1p-75 } }, ALL_80(0) },
    { "P11, NaN and zero", HALVES, 0, { { 2, NAN, 0 } }, ALL(0x7fffffff) },
    { "P11, infinity and zero", HALF_SUM, 0, { { 2, INFINITY, 0 } }, ALL(0x7fff) },
    { "P12, overflow", BRAINS, 0x7f7fffff, { { 0, 0x1p127, 1 } }, ALL_80(0x7f800000) },
    { "P12, overflow", HALF_SUM, 0x7bff, { { 0, 32, 1 } }, ALL(0x7c00) },
};
enum { PROBES = sizeof probes / sizeof *probes };

/* --- one mma in a kernel: registers are loaded from the 32 words of the lane --- */

enum { A_AT = 0, B_AT = 4, C_AT = 8, SCALE_A_AT = 16, SCALE_B_AT = 17, META_AT = 18, D_AT = 19, WORDS = 32 };
static char instruction[512];

static char *put_list(char *p, char name, unsigned count)
{
    for (unsigned r = 0; r < count; r++)
        p += sprintf(p, "%s%%%c%u", r ? "," : "{", name, r);
    return p + sprintf(p, "}");
}

static void print_kernel(FILE *out)
{
    static const struct { char name; unsigned at, count; } operands[] = { { 'a', A_AT, 4 }, { 'b', B_AT, 4 },
            { 'c', C_AT, 8 }, { 's', SCALE_A_AT, 2 }, { 'e', META_AT, 1 } };

    fputs(".visible .entry k(.param .u64 p) { .reg .b32 %a<4>, %b<4>, %c<8>, %d<8>, %s<2>, %e<1>, %t; .reg .b64 %p;\n"
          "  ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 128, %p;\n", out);
    for (unsigned k = 0; k < 8; k++)
        fprintf(out, "  mov.b32 %%d%u, 0;\n", k);
    for (unsigned l = 0; l < sizeof operands / sizeof *operands; l++)
        for (unsigned r = 0; r < operands[l].count; r++)
            fprintf(out, "  ld.global.b32 %%%c%u, [%%p+%u];\n", operands[l].name, r, 4 * (operands[l].at + r));
    fprintf(out, "  %s\n", instruction);
    for (unsigned r = 0; r < 8; r++)
        fprintf(out, "  st.global.b32 [%%p+%u], %%d%u;\n", 4 * (D_AT + r), r);
    fputs("  ret; }\n", out);
}

static void run(const char *version, const char *target, uint32_t (*words)[WORDS])
{
    ptxiDevicePtr p;
    void *params[] = { &p };

    load_kernels(version, target, print_kernel);
    ok(ptxiMemAlloc(&p, 32 * sizeof *words));
    ok(ptxiMemcpyHtoD(p, words, 32 * sizeof *words));
    ok(launch("k", 32, params));
    ok(ptxiMemcpyDtoH(words, p, 32 * sizeof *words));
    close_context();
}

static void put(uint32_t (*words)[WORDS], unsigned at, struct ptxi_fragment f, unsigned row, unsigned column,
                uint32_t code)
{
    struct ptxi_fragment_position p = ptxi_fragment_locate(&f, row, column);

    words[p.lane][at + p.reg] |= code << p.bit;
}

/* --- probes: row 0 of A, column 0 of B --- */

static enum generation generation_of(unsigned sm)
{
    return sm < 75 ? VOLTA : sm < 80 ? TURING : sm < 89 ? AMPERE : sm < 90 ? ADA : sm < 100 ? HOPPER : sm < 120 ? SM_100
        : SM_120;
}

static uint32_t code_of(unsigned type, double x)
{
    const struct small *f = &smalls[type];

    return isinf(x) ? (f->top + 1) | (x < 0 ? small_sign(f) : 0) : small_code(f, x, SMALL_RN, false, 0, 0);
}

/* K, which depends on the shapes of the architecture */
static unsigned depth_of(const struct probe *p, enum generation g)
{
    return p->k ? p->k : g == VOLTA ? 4 : g == TURING ? 8 : 16;
}

static void write_instruction(const struct probe *p, unsigned depth)
{
    unsigned sums = strncmp(p->types, "f16", 3) ? 1 : 2, bits = p->k == 32 ? 8 : 16;
    char *at = instruction;

    at += sprintf(at, "mma.sync.aligned.m%un8k%u.row.col.%s ", depth == 4 ? 8 : 16, depth, p->types);
    at = put_list(at, 'd', (depth == 4 ? 8 : 4) / sums);
    *at++ = ',';
    at = put_list(at, 'a', depth == 4 ? 2 : depth * bits / 64);
    *at++ = ',';
    at = put_list(at, 'b', depth == 4 ? 2 : depth * bits / 128);
    *at++ = ',';
    strcpy(put_list(at, 'c', (depth == 4 ? 8 : 4) / sums), ";");
}

/* For m8n8k4, lane 0 also has row 0 of A, column 0 of B and the first element of D. */
static void put_term(uint32_t (*words)[WORDS], const struct probe *p, unsigned depth, unsigned k, const struct term *t)
{
    unsigned bits = p->k == 32 ? 8 : 16;
    uint32_t a = code_of(p->type, t->a), b = code_of(p->type, t->b);

    if (depth == 4) {
        words[0][A_AT + k / 2] |= a << k % 2 * 16;
        words[0][B_AT + k / 2] |= b << k % 2 * 16;
        return;
    }
    put(words, A_AT, ptxi_fragment_a(16, bits), 0, k, a);
    put(words, B_AT, ptxi_fragment_b(8, bits), k, 0, b);
}

static void check_probe(const struct probe *p, unsigned sm)
{
    uint32_t words[32][WORDS] = { { 0 } }, want = p->want[generation_of(sm)];
    unsigned depth = depth_of(p, generation_of(sm));
    char target[16];

    if (want == SKIP)
        return;
    for (unsigned i = 0; i < 4 && (!i || p->terms[i].k); i++)
        for (unsigned k = 0; k < depth; k++)
            if (p->terms[i].k < 0 || p->terms[i].k == (int)k)
                put_term(words, p, depth, k, &p->terms[i]);
    words[0][C_AT] = p->c;
    write_instruction(p, depth);
    snprintf(target, sizeof target, "sm_%u", sm);
    run("9.5", target, words);
    ck_bits32_at(words[0][D_AT] & (want > 0xffff || strncmp(p->types, "f16", 3) ? UINT32_MAX : 0xffff), want,
                 "%s: %s on %s", p->name, p->types, target);
}

START_TEST(profiles_give_their_own_bits)
{
    const char *name;
    unsigned sm;

    ok(ptxiInit(0));
    for (unsigned i = 0; ptxiDeviceEnumerateProfile(&name, i) == PTXI_SUCCESS; i++) {
        if (sscanf(name, "sm_%u", &sm) != 1 || sm < 70)
            continue;
        ok(ptxiDeviceSetProfile(0, name));
        check_probe(&probes[_i], sm);
    }
}
END_TEST

/* --- elements in containers, and scales --- */

static const struct scaled {
    /* the kind with its scale vector size; types of D to C; type of the scales, or NULL */
    const char *kind, *types, *scales;
    unsigned k, bits, a, b, vector;    /* elements per scale */
    bool sparse;
} forms[] = {
#define BOTH(kind, types, scales, k, bits, a, b, vector) \
    { kind, types, scales, k, bits, a, b, vector, false }, { kind, types, scales, 2 * k, bits, a, b, 2 * vector, true }
#define BYTE_TYPES(X) \
    X(e4m3, e2m1, E4M3, E2M1) X(e2m1, e3m2, E2M1, E3M2) X(e3m2, e2m3, E3M2, E2M3) X(e2m3, e5m2, E2M3, E5M2) \
    X(e5m2, e4m3, E5M2, E4M3)
#define PLAIN(a, b, ta, tb) \
    BOTH("f8f6f4", "f32." #a "." #b ".f32", NULL, 32, 8, ta, tb, 0), BOTH("f8f6f4", "f16." #a "." #b ".f16", NULL, \
            32, 8, ta, tb, 0),
    BYTE_TYPES(PLAIN)
#define MX(a, b, ta, tb) BOTH("mxf8f6f4.block_scale", "f32." #a "." #b ".f32", "ue8m0", 32, 8, ta, tb, 32),
    BYTE_TYPES(MX)
#define FOUR(kind, scales, vector) BOTH(kind, "f32.e2m1.e2m1.f32", scales, 64, 4, E2M1, E2M1, vector),
    FOUR("mxf4.block_scale.scale_vec::2X", "ue8m0", 32)
    FOUR("mxf4nvf4.block_scale.scale_vec::2X", "ue8m0", 32)
    FOUR("mxf4nvf4.block_scale.scale_vec::4X", "ue4m3", 16)
    FOUR("mxf4nvf4.block_scale.scale_vec::4X", "ue8m0", 16)
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Returns the lanes of a quad and their bytes that hold the scales. */
struct selectors {
    unsigned byte_a, lane_a, byte_b, lane_b;
};

static void write_scaled(const struct scaled *f, const struct selectors *s)
{
    unsigned sums = strncmp(f->types, "f16", 3) ? 4 : 2;
    char *at = instruction;

    at += sprintf(at, "mma%s.sync.aligned.m16n8k%u.row.col.kind::%s.%s%s%s ", f->sparse ? ".sp::ordered_metadata" : "",
                  f->k, f->kind, f->types,
                  f->scales ? "." : "", f->scales ? f->scales : "");
    at = put_list(at, 'd', sums);
    *at++ = ',';
    at = put_list(at, 'a', 4);
    *at++ = ',';
    at = put_list(at, 'b', f->sparse ? 4 : 2);
    *at++ = ',';
    at = put_list(at, 'c', sums);
    at += sprintf(at, f->sparse ? ", %%e0, 0" : "");
    if (f->scales)
        at += sprintf(at, ", %%s0, {%u, %u}, %%s1, {%u, %u}", s->byte_a, s->lane_a, s->byte_b, s->lane_b);
    strcpy(at, ";");
}

/* Encodes a number that all formats represent in its container. The unused bits are random. */
static uint32_t random_code(unsigned type, unsigned bits, double *value)
{
    static const double values[] = { 0, 0.5, 1, 2, -0.5, -1, -2 };
    uint32_t code = code_of(type, *value = values[random_below(7)]);

    if (bits == 4)
        return code;
    switch (type) {
    case E2M1: return (code << 2 | random_below(256)) & (code << 2 | 0xc3);
    case E3M2: case E2M3: return code | random_below(4) << 6;
    default: return code;
    }
}

static double random_scale(const struct scaled *f, uint32_t *code)
{
    int e = (int)random_below(5) - 2;

    /* its sign is ignored */
    *code = f->scales[2] == '8' ? (uint32_t)(127 + e) : (uint32_t)(7 + e) << 3 | (random_below(2) << 7);
    return ldexp(1, e);
}

struct product {
    double a[16][128], b[128][8], scale_a[16][4], scale_b[8][4];
};

/* A sparse A stores the first half of each chunk. */
static void fill_elements(const struct scaled *f, struct product *x, uint32_t (*words)[WORDS])
{
    unsigned chunk = ptxi_sparse_chunk(f->bits);

    for (unsigned m = 0; m < 16; m++)
        for (unsigned at = 0; at < (f->sparse ? f->k / 2 : f->k); at++) {
            unsigned column = f->sparse ? at / (chunk / 2) * chunk + at % (chunk / 2) : at;

            put(words, A_AT, ptxi_fragment_a(16, f->bits), m, at, random_code(f->a, f->bits, &x->a[m][column]));
        }
    for (unsigned n = 0; n < 8; n++)
        for (unsigned k = 0; k < f->k; k++)
            put(words, B_AT, ptxi_fragment_b(8, f->bits), k, n, random_code(f->b, f->bits, &x->b[k][n]));
    for (unsigned l = 0; l < 32; l++)
        words[l][META_AT] = 0x44444444;
}

static void fill_scales(const struct scaled *f, const struct selectors *s, struct product *x, uint32_t (*words)[WORDS])
{
    unsigned count = f->scales ? f->k / f->vector : 0;
    uint32_t code;

    for (unsigned l = 0; l < 32; l++) {
        words[l][SCALE_A_AT] = random_below(UINT32_MAX);
        words[l][SCALE_B_AT] = random_below(UINT32_MAX);
    }
    for (unsigned line = 0; line < 16; line++)
        for (unsigned v = 0; v < count; v++) {
            uint32_t *to = &words[line % 8 * 4 + s->lane_a * 2 + line / 8][SCALE_A_AT];

            x->scale_a[line][v] = random_scale(f, &code);
            *to = (*to & ~(0xffu << 8 * (s->byte_a + v))) | code << 8 * (s->byte_a + v);
            if (line >= 8)
                continue;
            to = &words[line * 4 + s->lane_b][SCALE_B_AT];
            x->scale_b[line][v] = random_scale(f, &code);
            *to = (*to & ~(0xffu << 8 * (s->byte_b + v))) | code << 8 * (s->byte_b + v);
        }
}

static double expected(const struct scaled *f, const struct product *x, unsigned m, unsigned n)
{
    double sum = 0;

    for (unsigned k = 0; k < f->k; k++)
        sum += x->a[m][k] * x->b[k][n] * (f->scales ? x->scale_a[m][k / f->vector] * x->scale_b[n][k / f->vector] : 1);
    return sum;
}

static void check_scaled(const struct scaled *f, const struct selectors *s)
{
    static uint32_t words[32][WORDS];
    static struct product x;
    bool half = !strncmp(f->types, "f16", 3);
    struct ptxi_fragment c = ptxi_fragment_c(16, half ? 16 : 32);

    memset(words, 0, sizeof words);
    memset(&x, 0, sizeof x);
    fill_elements(f, &x, words);
    fill_scales(f, s, &x, words);
    write_scaled(f, s);
    run("9.1", "sm_120a", words);
    for (unsigned m = 0; m < 16; m++)
        for (unsigned n = 0; n < 8; n++) {
            struct ptxi_fragment_position p = ptxi_fragment_locate(&c, m, n);
            float sum = (float)expected(f, &x, m, n);
            uint32_t want, got = words[p.lane][D_AT + p.reg] >> p.bit;

            memcpy(&want, &sum, sizeof want);
            if (half) {
                want = sum ? code_of(F16_, sum) : 0;
                got &= 0xffff;
            } else if (!sum) {
                want = 0;
            }
            ck_bits32_at(got, want, "%.160s, row %u, column %u", instruction, m, n);
        }
}

START_TEST(scales_and_containers)
{
    const struct scaled *f = &forms[_i];
    unsigned count = f->scales ? f->k / f->vector : 4;

    ok(ptxiInit(0));
    ok(ptxiDeviceSetProfile(0, "sm_120"));
    for (unsigned byte = 0; byte + count <= 4; byte += count)
        for (unsigned lane = 0; lane < 4; lane++)
            check_scaled(f, &(struct selectors){ byte, lane % 2, 4 - count - byte, lane });
}
END_TEST

/* Probe P1 with scales: products of 4-bit elements keep 35 bits, those of bytes keep 25. Also a scale that is a NaN. */
static uint32_t sum_of_four(const char *kind, uint32_t c, const uint32_t *a, const uint32_t *scales)
{
    uint32_t words[32][WORDS] = { { 0 } };
    bool bytes = strstr(kind, "e5m2");

    for (unsigned k = 0; k < 4; k++) {
        put(words, A_AT, ptxi_fragment_a(16, bytes ? 8 : 4), 0, bytes ? k : 16 * k, a[k]);
        put(words, B_AT, ptxi_fragment_b(8, bytes ? 8 : 4), bytes ? k : 16 * k, 0, bytes ? 0x3c : 2);
    }
    words[0][C_AT] = c;
    words[0][SCALE_A_AT] = scales[0];
    words[0][SCALE_B_AT] = scales[1];
    snprintf(instruction, sizeof instruction,
             "mma.sync.aligned.m16n8k%u.row.col.kind::%s "
             "{%%d0,%%d1,%%d2,%%d3},{%%a0,%%a1,%%a2,%%a3},{%%b0,%%b1},{%%c0,%%c1,%%c2,%%c3}, "
             "%%s0, {0, 0}, %%s1, {0, 0};", bytes ? 32 : 64, kind);
    run("9.1", "sm_120a", words);
    return words[0][D_AT];
}

START_TEST(scaled_sums_keep_their_bits)
{
    static const char mx4[] = "mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        nv2[] = "mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
                      nv4[] = "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
                      mx8[] = "mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0";
    /* -2^23, 0, -4/8, -3/8 */
    static const uint32_t far[] = { 0xa, 0, 0xe, 0xd }, far_scales[] = { 0x7c96, 0x7f7f };
    /* -6 * 4^2, 0, 0, -1 / 4^8 */
    static const uint32_t small[] = { 0xf, 0, 0, 0xa }, small_scales[] = { 0x01000048, 0x01000048 };
    /* -2^15, -2^-9, -2^-10, -2^-11, times 2^8 */
    static const uint32_t bytes[] = { 0xf8, 0x98, 0x94, 0x90 }, byte_scales[] = { 0x83, 0x83 }, nan_scales[] = { 0xffff,
            0x7f7f };

    ok(ptxiInit(0));
    ok(ptxiDeviceSetProfile(0, "sm_120"));
    ck_bits32(sum_of_four(mx4, 0x4b000000, far, far_scales), 0xbf600000);
    ck_bits32(sum_of_four(nv2, 0x4b000000, far, far_scales), 0xbf600000);
    ck_bits32(sum_of_four(nv4, 0x42c00000, small, small_scales), 0xb6800000);
    ck_bits32(sum_of_four(mx8, 0x4b000000, bytes, byte_scales), 0xbf400000);
    ck_bits32(sum_of_four(mx4, 0, far, nan_scales), 0x7fffffff);
    ck_bits32(sum_of_four(mx8, 0, bytes, nan_scales), 0x7fffffff);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("probe");
    TCase *t = tcase_create("profiles");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, profiles_give_their_own_bits, 0, PROBES);
    tcase_add_loop_test(t, scales_and_containers, 0, FORMS);
    tcase_add_test(t, scaled_sums_keep_their_bits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
