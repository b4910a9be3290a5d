/* Tests wgmma with small integers. Their sums are exact in every type. Covers all canonical layouts of shared memory,
 * A in registers, sparse A, signs, transposition, and the order of asynchronous operations. */
#include "unit/support/canonical.h"
#include "unit/support/kernels.h"
#include "unit/support/test_file.h"

#include <string.h>

enum { THREADS = 128, M = 64, N = 32, MAX_K = 256, IMAGE = 49152, B_AT = 16384 };

static const struct type {
    const char *d, *a, *b, *tail;
    unsigned bits, k;
    bool can_transpose, floats;
} types[] = {
    { "f32", "f16", "f16", "", 16, 16, true, true },      { "f16", "f16", "f16", "", 16, 16, true, true },
    { "f32", "bf16", "bf16", "", 16, 16, true, true },    { "f32", "tf32", "tf32", "", 32, 8, false, true },
    { "f32", "e4m3", "e5m2", "", 8, 32, false, true },    { "f16", "e5m2", "e4m3", "", 8, 32, false, true },
    { "s32", "s8", "u8", "", 8, 32, false, false },       { "s32", "u8", "s8", "", 8, 32, false, false },
    { "s32", "b1", "b1", ".and.popc", 1, 256, false, false },
};
enum { TYPES = sizeof types / sizeof *types };

/* The parts of a form that are in the instruction. The launch gives the rest. */
struct form {
    const struct type *t;
    bool a_in_registers, sparse, transpose_a, transpose_b, negate_a, negate_b;
};
enum { FORMS = TYPES * 16 };

static bool form_of(unsigned number, struct form *f)
{
    unsigned transpose = number / TYPES / 4;

    *f = (struct form){ .t = &types[number % TYPES], .a_in_registers = number / TYPES & 1, .sparse = number / TYPES & 2,
                        .transpose_a = transpose & 1, .transpose_b = transpose & 2 };
    f->negate_a = f->t->floats && (transpose == 1 || transpose == 3);
    f->negate_b = f->t->floats && (transpose == 2 || transpose == 3);
    if (f->a_in_registers)
        f->transpose_a = false;
    if (!f->t->can_transpose)
        f->transpose_a = f->transpose_b = false;
    return (f->t->bits > 1 || !f->sparse) && (f->t->floats || !transpose);
}

/* --- numbers --- */

/* Encodes a small integer. */
static uint32_t code_of(const char *type, int v)
{
    static const struct {
        const char *type;
        int bias, fraction, sign;
    } floats[] = { { "f16", 15, 10, 15 }, { "bf16", 127, 7, 15 }, { "tf32", 127, 23, 31 }, { "f32", 127, 23, 31 },
                   { "e4m3", 7, 3, 7 }, { "e5m2", 15, 2, 7 } };
    uint32_t magnitude = (uint32_t)(v < 0 ? -v : v);

    for (unsigned k = 0; k < sizeof floats / sizeof *floats; k++)
        if (!strcmp(type, floats[k].type)) {
            int top_bit = magnitude ? 31 - __builtin_clz(magnitude) : 0;

            if (!magnitude)
                return 0;
            return (uint32_t)(v < 0) << floats[k].sign | (uint32_t)(top_bit + floats[k].bias) << floats[k].fraction |
                   (magnitude - (1u << top_bit)) << floats[k].fraction >> top_bit;
        }
    return (uint32_t)v;
}

static int random_number(const char *type)
{
    return !strcmp(type, "b1")   ? (int)random_below(2)
           : !strcmp(type, "u8") ? (int)random_below(256)
           : !strcmp(type, "s8") ? (int)random_below(256) - 128
                                 : (int)random_below(5) - 2;
}

/* --- layouts --- */

static struct layout random_layout(unsigned swizzle, bool mn_major, unsigned lines)
{
    static const unsigned widths[] = { 16, 128, 64, 32 };
    unsigned width = widths[swizzle], gap = 16 * random_below(3);

    if (swizzle == 0 && mn_major) /* stride: distance of 8 lines; leading: distance of 8 elements of k */
        return (struct layout){ 0, 128 * (lines / 8) + gap, 128, 16 * random_below(8), 0 };
    if (swizzle == 0)
        return (struct layout){ 0, 128, 512 + gap, 16 * random_below(8), 0 };
    if (mn_major)
        return (struct layout){ swizzle, 8 * width * 4 + 16 * random_below(2), 8 * width, 1024 * random_below(2), 0 };
    return (struct layout){ swizzle, 16 * random_below(100), 8 * width + 1024 * random_below(2), 1024 * random_below(2),
                            0 };
}

/* --- kernels --- */

static void print_kernel(FILE *out, unsigned number, const struct form *f)
{
    const struct type *t = f->t;
    unsigned registers = t->d[1] == '1' ? N / 4 : N / 2;

    fprintf(out, ".visible .entry k%u(.param .u64 image, .param .u64 regs, .param .u64 da, .param .u64 db, .param .u32 "
                 "scale) {\n"
                 "  .shared .align 1024 .b8 tile[%d]; .reg .b64 %%w<4>, %%da, %%db; "
                 ".reg .b32 %%d<16>, %%a<4>, %%m, %%t, %%n, %%v, %%b; .reg .pred %%p, %%q;\n"
                 "  ld.param.u64 %%w0, [image]; ld.param.u64 %%w1, [regs]; ld.param.u64 %%da, [da]; "
                 "ld.param.u64 %%db, [db]; ld.param.u32 %%n, [scale];\n"
                 "  setp.ne.u32 %%q, %%n, 0; mov.u32 %%t, %%tid.x; mov.u32 %%n, %%t; mov.u32 %%b, tile;\n"
                 "IN: mad.wide.u32 %%w2, %%n, 4, %%w0; ld.global.u32 %%v, [%%w2]; mad.lo.u32 %%m, %%n, 4, %%b; "
                 "st.shared.u32 [%%m], %%v;\n"
                 "  add.u32 %%n, %%n, %d; setp.lt.u32 %%p, %%n, %d; @%%p bra IN;\n"
                 "  shr.u32 %%b, %%b, 4; cvt.u64.u32 %%w2, %%b; add.u64 %%da, %%da, %%w2; add.u64 %%db, %%db, %%w2; "
                 "mad.wide.u32 %%w1, %%t, 96, %%w1;\n"
                 "  ld.global.u32 %%m, [%%w1+80];\n", number, IMAGE, THREADS, IMAGE / 4);
    for (unsigned k = 0; k < 16; k++)
        fprintf(out, "  ld.global.u32 %%d%u, [%%w1+%u];\n", k, 4 * k);
    for (unsigned k = 0; k < 4; k++)
        fprintf(out, "  ld.global.u32 %%a%u, [%%w1+%u];\n", k, 64 + 4 * k);
    fprintf(out, "  fence.proxy.async; bar.sync 0; "
                 "wgmma.fence.sync.aligned;\n  wgmma.mma_async%s.sync.aligned.m64n%dk%u.%s.%s.%s%s ",
                 f->sparse ? ".sp" : "", N,
            t->k * (f->sparse + 1u), t->d, t->a, t->b, t->tail);
    for (unsigned k = 0; k < registers; k++)
        fprintf(out, "%s%%d%u", k ? "," : "{", k);
    fprintf(out, "}, %s, %%db%s, %%q", f->a_in_registers ? "{%a0,%a1,%a2,%a3}" : "%da", f->sparse ? ", %m, 0" : "");
    if (t->floats)
        fprintf(out, ", %d, %d", f->negate_a ? -1 : 1, f->negate_b ? -1 : 1);
    if (t->can_transpose && !f->a_in_registers)
        fprintf(out, ", %d", f->transpose_a);
    if (t->can_transpose)
        fprintf(out, ", %d", f->transpose_b);
    fprintf(out, ";\n  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    for (unsigned k = 0; k < 16; k++)
        fprintf(out, "  st.global.u32 [%%w1+%u], %%d%u;\n", 4 * k, k);
    fprintf(out, "  ret; }\n");
}

static ptxiDevicePtr memory_image, memory_regs;

static void print_kernels(FILE *out)
{
    struct form f;

    fputs(test_file("exec/matrix/wgmma.ptx"), out);
    for (unsigned k = 0; k < FORMS; k++)
        if (form_of(k, &f))
            print_kernel(out, k, &f);
}

static void set_up(void)
{
    load_kernels("8.4", "sm_90a", print_kernels);
    ck_assert_int_eq(ptxiMemAlloc(&memory_image, IMAGE) | ptxiMemAlloc(&memory_regs, THREADS * 96), PTXI_SUCCESS);
}

/* --- one multiplication --- */

struct problem {
    struct form f;
    unsigned k, stored;  /* columns of A, and how many of them are stored */
    int a[M][MAX_K], b[MAX_K][N], d[M][N];
    uint8_t pair[M][16]; /* sparse: 4 bits per chunk */
    unsigned char image[IMAGE];
    uint32_t regs[THREADS][24]; /* D, A, metadata */
};

/* Half of A is zero in each chunk. The pairs of indices say which half. */
static void make_sparse(struct problem *p)
{
    static const uint8_t pairs[] = { 0x4, 0x8, 0x9, 0xc, 0xd, 0xe }, halves[] = { 0x4, 0xe };
    unsigned size = p->f.t->bits == 32 ? 2 : 4;

    for (unsigned m = 0; m < M; m++)
        for (unsigned c = 0; c < p->k / size; c++) {
            unsigned pair = size == 2 ? halves[random_below(2)] : pairs[random_below(6)];

            p->pair[m][c] = (uint8_t)pair;
            for (unsigned e = 0; e < size; e++)
                if (size == 2 ? e != pair / 8 : e != (pair & 3) && e != pair / 4)
                    p->a[m][c * size + e] = 0;
        }
}

/* Stored element `at` of row m. */
static int stored(const struct problem *p, unsigned m, unsigned at)
{
    if (!p->f.sparse)
        return p->a[m][at];
    if (p->f.t->bits == 32)
        return p->a[m][2 * at + p->pair[m][at] / 8];
    return p->a[m][at / 2 * 4 + (at % 2 ? p->pair[m][at / 2] / 4 : p->pair[m][at / 2] & 3)];
}

static void fill_registers(struct problem *p)
{
    const struct type *t = p->f.t;
    unsigned per = 32 / t->bits, chunks = p->f.sparse ? p->stored / (t->bits == 32 ? 1 : 2) : 0;

    memset(p->regs, 0, sizeof p->regs);
    for (unsigned m = 0; m < M; m++) {
        uint32_t (*warp)[24] = p->regs + m / 16 * 32;

        /* words t and t + 4 of a row in registers 0 and 2, those of the row 8 below in 1 and 3 */
        for (unsigned k = 0; k < p->stored; k++) {
            unsigned word = k / per, mask = t->bits == 32 ? 0 : (1u << t->bits) - 1;
            uint32_t code = code_of(t->a, stored(p, m, k)) & (mask ? mask : UINT32_MAX);

            warp[m % 8 * 4 + word % 4][16 + word / 4 * 2 + m / 8 % 2] |= code << k % per * t->bits;
        }
        for (unsigned c = 0; c < chunks; c++)
            if (chunks == 16) /* a lane has half of one row */
                warp[m % 8 * 4 + c / 8 * 2 + m / 8 % 2][20] |= (uint32_t)p->pair[m][c] << c % 8 * 4;
            else /* or a quarter of two rows: selector 0 */
                warp[m % 8 * 4 + c / 4][20] |= (uint32_t)p->pair[m][c] << (m / 8 % 2 * 16 + c % 4 * 4);
        for (unsigned n = 0; n < N; n++) {
            uint32_t *reg = warp[m % 8 * 4 + n % 8 / 2];

            if (t->d[1] == '1')
                reg[n / 8 * 2 + m / 8 % 2] |= code_of(t->d, p->d[m][n]) << n % 2 * 16;
            else
                reg[n / 8 * 4 + m / 8 % 2 * 2 + n % 2] = code_of(t->d, p->d[m][n]);
        }
    }
}

static void make_problem(struct problem *p, const struct form *f)
{
    *p = (struct problem){ .f = *f, .k = f->t->k * (f->sparse + 1u), .stored = f->t->k };
    for (unsigned k = 0; k < p->k; k++) {
        for (unsigned m = 0; m < M; m++)
            p->a[m][k] = random_number(f->t->a);
        for (unsigned n = 0; n < N; n++)
            p->b[k][n] = random_number(f->t->b);
    }
    for (unsigned m = 0; m < M; m++)
        for (unsigned n = 0; n < N; n++)
            p->d[m][n] = (int)random_below(101) - 50;
    if (f->sparse)
        make_sparse(p);
}

static void lay_out(struct problem *p, const struct layout *a, const struct layout *b)
{
    const struct type *t = p->f.t;

    for (unsigned k = 0; k < IMAGE; k++)
        p->image[k] = (unsigned char)random_below(256);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < p->stored; k++)
            put_element(p->image, a, p->f.transpose_a, t->bits, m, k, code_of(t->a, stored(p, m, k)));
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < p->k; k++)
            put_element(p->image + B_AT, b, p->f.transpose_b, t->bits, n, k, code_of(t->b, p->b[k][n]));
}

static void multiply(struct problem *p, bool accumulate)
{
    int sign = p->f.negate_a != p->f.negate_b ? -1 : 1;

    for (unsigned m = 0; m < M; m++)
        for (unsigned n = 0; n < N; n++) {
            int sum = 0;

            for (unsigned k = 0; k < p->k; k++)
                sum += p->a[m][k] * p->b[k][n];
            p->d[m][n] = (accumulate ? p->d[m][n] : 0) + sign * sum;
        }
}

static void check_one(unsigned number, const struct form *f, unsigned swizzle, uint32_t accumulate)
{
    static struct problem p;
    static uint32_t got[THREADS][24];
    struct layout a = random_layout(swizzle, f->transpose_a, M),
                  b = random_layout((swizzle + random_below(4)) % 4, f->transpose_b, N);
    uint64_t da = descriptor(&a, 0), db;
    void *params[] = { &memory_image, &memory_regs, &da, &db, &accumulate };
    char name[16];

    if (f->sparse && b.swizzle == 3) /* 64 bytes of a line do not fit into a row of this pattern */
        b = random_layout(1, f->transpose_b, N);
    db = descriptor(&b, B_AT);
    make_problem(&p, f);
    lay_out(&p, &a, &b);
    fill_registers(&p);
    ck_assert_int_eq(ptxiMemcpyHtoD(memory_image, p.image, IMAGE) | ptxiMemcpyHtoD(memory_regs, p.regs, sizeof p.regs),
                     PTXI_SUCCESS);
    snprintf(name, sizeof name, "k%u", number);
    ck_assert_int_eq(launch(name, THREADS, params), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemcpyDtoH(got, memory_regs, sizeof got), PTXI_SUCCESS);
    multiply(&p, accumulate);
    fill_registers(&p);
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned r = 0; r < (f->t->d[1] == '1' ? N / 4 : N / 2); r++)
            ck_bits32_at(got[t][r], p.regs[t][r],
                         "%s.%s.%s, %s%sturned %d%d, swizzle %u and %u: thread %u, register %u", f->t->d, f->t->a,
                         f->t->b, f->a_in_registers ? "a in registers, " : "", f->sparse ? "sparse, " : "",
                         f->transpose_a, f->transpose_b, a.swizzle, b.swizzle, t, r);
}

START_TEST(products_are_exact)
{
    struct form f;

    for (unsigned n = (unsigned)_i; n < FORMS; n += TYPES)
        for (unsigned swizzle = 0; swizzle < 4 && form_of(n, &f); swizzle++)
            for (uint32_t accumulate = 0; accumulate < 2; accumulate++)
                check_one(n, &f, swizzle, accumulate);
}
END_TEST

START_TEST(all_warps_of_the_group_are_waited_for)
{
    static const char *const kernels[] = { "late", "filled" };
    uint32_t out[THREADS];
    void *params[] = { &memory_regs };

    for (unsigned k = 0; k < 2; k++) {
        ck_assert_int_eq(launch(kernels[k], THREADS, params), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(out, memory_regs, sizeof out), PTXI_SUCCESS);
        for (unsigned t = 0; t < THREADS; t++)
            ck_bits32_at(out[t], 128, "%s: thread %u", kernels[k], t);
    }
    ck_assert_int_eq(launch("never", THREADS, NULL), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(launch("no_fence", THREADS, NULL), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(launch("gone", THREADS, NULL), PTXI_SUCCESS);
}
END_TEST

START_TEST(accumulators_may_be_copies_of_each_other)
{
    uint32_t out[THREADS];
    void *params[] = { &memory_regs };

    for (unsigned t = 0; t < THREADS; t++)
        out[t] = t;
    ck_assert_int_eq(ptxiMemcpyHtoD(memory_regs, out, sizeof out), PTXI_SUCCESS);
    ck_assert_int_eq(launch("copied", THREADS, params), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemcpyDtoH(out, memory_regs, sizeof out), PTXI_SUCCESS);
    for (unsigned t = 0; t < THREADS; t++)
        ck_bits32_at(out[t], t + 32, "thread %u", t); /* the sum of 32 products is 32 */
}
END_TEST

START_TEST(out_of_bounds_access_is_a_fault)
{
    uint64_t inside = 0x1000080000, outside = inside | 250;
    void *params[] = { &inside }, *bad[] = { &outside };

    ck_assert_int_eq(launch("beyond", THREADS, params), PTXI_SUCCESS);
    ck_assert_int_eq(launch("beyond", THREADS, bad), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wgmma");
    TCase *t = tcase_create("forms");

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, products_are_exact, 0, TYPES);
    tcase_add_test(t, all_warps_of_the_group_are_waited_for);
    tcase_add_test(t, accumulators_may_be_copies_of_each_other);
    tcase_add_test(t, out_of_bounds_access_is_a_fault);
    suite_add_tcase(s, t);
    return run_suite(s);
}
