/* Benchmark of matrix instructions, in multiply-adds per second, for several operand distributions. Exact sums cost
 * more if exponents differ widely, and with infinities and NaNs.
 *
 * One warp or warpgroup runs a loop of UNROLLED copies of the form on operands from memory. */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNROLLED = 16, TURNS = 400, QUICK_TURNS = 2, MOST_REGISTERS = 64, LANES = 32 };

/* --- elements --- */

enum element { F16, BF16, TF32, E4M3, E5M2, F32, F64, INTEGER };

/* Bits per element in a register, and the number of unused low bits. */
static const struct format {
    int bits, unused, fraction, bias;
} formats[] = {
    [F16] = { 16, 0, 10, 15 }, [BF16] = { 16, 0, 7, 127 }, [TF32] = { 32, 13, 10, 127 }, [E4M3] = { 8, 0, 3, 7 },
    [E5M2] = { 8, 0, 2, 15 },  [F32] = { 32, 0, 23, 127 }, [F64] = { 64, 0, 52, 1023 },
};

/* Rounds toward zero and saturates to the largest finite number. */
static uint64_t encode(const struct format *f, double v)
{
    uint64_t one = UINT64_C(1) << f->fraction, sign = v < 0 ? UINT64_C(1) << (f->bits - f->unused - 1) : 0, magnitude;
    int e = v != 0 ? ilogb(v) : -f->bias;

    v = fabs(v);
    if (e < 1 - f->bias)
        magnitude = (uint64_t)ldexp(v, f->bias - 1 + f->fraction);
    else if (e > f->bias)
        magnitude = ((uint64_t)(2 * f->bias) << f->fraction) + one - 1;
    else
        magnitude = ((uint64_t)(e + f->bias) << f->fraction) + (uint64_t)ldexp(v, f->fraction - e) - one;
    return (sign | magnitude) << f->unused;
}

/* --- operand distributions --- */

enum { ONE_TO_TWO, NORMAL, SCALED, LARGE_C, SMALL_C, BITS, KINDS };
static const char *const kinds[KINDS] = {
    "1 to 2", "normal", "normal * 2^[-8, 8]", "normal, C * 2^40", "normal, C * 2^-40", "random bits"
};

static uint64_t state;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static double uniform(void)
{
    return ldexp((double)(random_bits() >> 11), -53);
}

static double value(int kind, bool of_c)
{
    double sum = -6;

    if (kind == ONE_TO_TWO)
        return 1 + uniform();
    for (int k = 0; k < 12; k++)
        sum += uniform();
    if (kind == SCALED)
        sum = ldexp(sum, (int)(random_bits() >> 40) % 17 - 8);
    return !of_c ? sum : kind == LARGE_C ? ldexp(sum, 40) : kind == SMALL_C ? ldexp(sum, -40) : sum;
}

static void fill(uint64_t *words, int count, enum element e, int kind, bool of_c)
{
    for (int k = 0; k < count; k++) {
        words[k] = random_bits();
        if (kind == BITS || e == INTEGER)
            continue;
        words[k] = 0;
        for (int at = 0; at < 64; at += formats[e].bits)
            words[k] |= encode(&formats[e], value(kind, of_c)) << at;
    }
}

/* --- forms --- */

enum shape { WARP, SPARSE, GROUP /* A and B in shared memory */ };

static const struct form {
    const char *name, *tail;
    enum shape shape;
    int d, a, b, c; /* registers */
    enum element type, sum;
    double products;
} forms[] = {
    { "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", WARP, 4, 4, 2, 4, F16, F32, 2048 },
    { "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "", WARP, 2, 4, 2, 2, F16, F16, 2048 },
    { "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "", WARP, 4, 4, 2, 4, BF16, F32, 2048 },
    { "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "", WARP, 4, 4, 2, 4, TF32, F32, 1024 },
    { "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "", WARP, 4, 4, 2, 4, E4M3, F32, 4096 },
    { "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", "", WARP, 2, 4, 2, 2, E5M2, F16, 4096 },
    { "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "", WARP, 4, 8, 4, 4, F64, F64, 2048 },
    { "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", ", %e, 0", SPARSE, 4, 4, 4, 4, F16, F32,
      4096 },
    { "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", ", %e, 0", SPARSE, 4, 4, 4, 4, INTEGER,
      INTEGER, 8192 },
    { "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "", WARP, 8, 8, 8, 8, F16, F32, 4096 },
    { "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", ", 1, 1, 1, 0, 0", GROUP, 64, 0, 0, 64, F16, F32, 131072 },
    { "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", ", 1, 1, 1", GROUP, 64, 0, 0, 64, E4M3, F32, 262144 },
    { "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8", ", 1", GROUP, 64, 0, 0, 64, INTEGER, INTEGER, 262144 },
    { "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "", WARP, 4, 4, 2, 4, INTEGER, INTEGER, 4096 },
    { "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", "", WARP, 4, 4, 2, 4, INTEGER, INTEGER, 8192 },
    { "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "", WARP, 4, 4, 2, 4, INTEGER, INTEGER, 32768 },
};
enum { COUNT = sizeof forms / sizeof *forms };

static int width(const struct form *f)
{
    return f->type == F64 ? 64 : 32;
}

static int threads(const struct form *f)
{
    return f->shape == GROUP ? 4 * LANES : LANES;
}

static int list(char *to, char name, int count)
{
    int n = 0;

    for (int k = 0; k < count; k++)
        n += sprintf(to + n, "%s%%%c%d", k ? ", " : "{", name, k);
    return n + sprintf(to + n, "}");
}

static int loads(char *to, char name, int count, int bits, int from)
{
    int n = 0;

    for (int k = 0; k < count; k++)
        n += sprintf(to + n, "ld.global.b%d %%%c%d, [%%p+%d];\n", bits, name, k, (from + k) * 4 * LANES * 8);
    return n;
}

static int put_copy(char *to, const struct form *f)
{
    int n = sprintf(to, "%s ", f->name);

    n += list(to + n, f->shape == GROUP ? 'c' : 'd', f->d);
    if (f->shape == GROUP)
        return n + sprintf(to + n, ", %%s, %%t%s;\n", f->tail);
    for (int k = 0; k < 3; k++) {
        n += sprintf(to + n, ", ");
        n += list(to + n, "abc"[k], (int[]){ f->a, f->b, f->c }[k]);
    }
    return n + sprintf(to + n, "%s;\n", f->tail);
}

static char *kernel_text(const struct form *f)
{
    char *text = malloc(16384 + (UNROLLED + 3) * 2048);
    int n, bits = width(f);

    if (!text)
        abort();
    n = sprintf(
        text,
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 turns)\n{\n"
        ".shared .align 128 .b8 tiles[32768];\n"
        ".reg .b%d %%a<%d>, %%b<%d>, %%c<%d>, %%d<%d>; .reg .b64 %%p, %%o, %%s, %%t, %%v; .reg .b32 %%n, %%e, %%i, "
        "%%x; .reg .pred %%q;\n"
        "ld.param.u64 %%p, [p]; ld.param.u32 %%n, [turns]; mov.u32 %%i, %%tid.x; mul.wide.u32 %%o, %%i, 8; add.u64 "
        "%%p, %%p, %%o;\n"
        "mov.b32 %%e, 0x44444444; shl.b32 %%i, %%i, 3; mov.u32 %%x, tiles; add.u32 %%i, %%i, %%x;\n",
        bits, MOST_REGISTERS, MOST_REGISTERS, MOST_REGISTERS, MOST_REGISTERS);
    n += loads(text + n, 'a', f->a, bits, 0);
    n += loads(text + n, 'b', f->b, bits, f->a);
    n += loads(text + n, 'c', f->c, bits, MOST_REGISTERS / 2);
    if (f->shape ==
        GROUP) { /* each of 128 threads copies 64 bits at a time; no swizzling, consecutive 8-row matrices */
        for (int k = 0; k < MOST_REGISTERS / 2; k++)
            n += sprintf(text + n, "ld.global.b64 %%v, [%%p+%d]; st.shared.b64 [%%i+%d], %%v;\n", k * 1024, k * 1024);
        n += sprintf(text + n,
                     "bar.sync 0; shr.u32 %%x, %%x, 4; cvt.u64.u32 %%s, %%x; or.b64 %%s, %%s, %" PRIu64
                     "; add.u64 %%t, %%s, 512;\n"
                     "wgmma.fence.sync.aligned;\n",
                     UINT64_C(8) << 16 | UINT64_C(16) << 32);
    }
    n += sprintf(text + n, "L:\n");
    for (int k = 0; k < UNROLLED; k++)
        n += put_copy(text + n, f);
    if (f->shape == GROUP)
        n += sprintf(text + n, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    n += sprintf(text + n, "sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra L;\n");
    for (int k = 0; k < f->d; k++)
        n += sprintf(text + n, "st.global.b%d [%%p+%d], %%%c%d;\n", bits, (MOST_REGISTERS * 2 + k) * 1024,
                     f->shape == GROUP ? 'c' : 'd', k);
    sprintf(text + n, "ret;\n}\n");
    return text;
}

/* --- the table --- */

static void put_operands(ptxiDevicePtr mem, const struct form *f, int kind)
{
    static uint64_t words[2 * MOST_REGISTERS * 4 * LANES];
    int half = MOST_REGISTERS / 2 * 4 * LANES;

    state = 1;
    fill(words, half, f->type, kind, false);
    fill(words + half, (int)(sizeof words / sizeof *words) - half, f->sum, kind, true);
    bench_must(ptxiMemcpyHtoD(mem, words, sizeof words), "operands");
}

static double rate(const struct form *f, ptxiFunction kernel, ptxiDevicePtr mem, const struct options *o)
{
    double *ns = calloc((size_t)o->rounds, sizeof *ns), median;

    if (!ns)
        abort();
    for (int i = 0; i < o->rounds; i++)
        ns[i] = bench_time_turns(kernel, (unsigned)threads(f), mem,
                                 o->quick            ? QUICK_TURNS
                                 : f->shape == GROUP ? TURNS / 16
                                                     : TURNS) /
                UNROLLED;
    median = bench_median(ns, o->rounds);
    free(ns);
    return f->products / median;
}

void bench_matrix(const struct options *o)
{
    ptxiDevicePtr mem;

    bench_must(ptxiMemAlloc(&mem, 3 * MOST_REGISTERS * 4 * LANES * 8), "memory");
    printf(o->csv ? "form" : "| G multiply-adds/s");
    for (int kind = 0; kind < KINDS; kind++)
        printf(o->csv ? ",\"%s\"" : " | %s", kinds[kind]);
    printf(o->csv ? "\n" : " |\n|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < COUNT; k++) {
        const struct form *f = &forms[k];
        char *text = kernel_text(f);
        ptxiModule module;
        ptxiFunction kernel;

        if (o->kernel && !strstr(f->name, o->kernel)) {
            free(text);
            continue;
        }
        bench_must(ptxiModuleLoadData(&module, text), f->name);
        bench_must(ptxiModuleGetFunction(&kernel, module, "k"), f->name);
        free(text);
        printf(o->csv ? "\"%s\"" : "| `%s`", f->name);
        for (int kind = 0; kind < KINDS; kind++) {
            if (f->type == INTEGER && kind != BITS) {
                printf(o->csv ? "," : " |");
                continue;
            }
            put_operands(mem, f, kind);
            printf(o->csv ? ",%.2f" : " | %.1f", rate(f, kernel, mem, o));
        }
        printf(o->csv ? "\n" : " |\n");
        fflush(stdout);
        bench_must(ptxiModuleUnload(module), f->name);
    }
    bench_must(ptxiMemFree(mem), "memory");
}
