/* Tests tensor memory: allocation, and loads and stores in every shape. */
#include "unit/support/kernels.h"
#include "unit/support/test_file.h"

#include <string.h>

enum { THREADS = 128, COLUMNS = 128, NUMS = 8, SHAPES = 5, ROWS = 2, FORMS = SHAPES * NUMS * 2 * ROWS * 2, SPLIT = 40 };

/* The number of registers and columns of a shape. PTX ISA, "Matrix fragments for shape ...". */
static const struct shape {
    const char *name;
    unsigned registers, width; /* registers and columns of .x1 */
} shapes[SHAPES] = { { "32x32b", 1, 1 }, { "16x64b", 1, 2 }, { "16x128b", 2, 4 }, { "16x256b", 4, 8 },
                     { "16x32bx2", 1, 1 } };

struct form {
    const struct shape *shape;
    unsigned num, row;
    bool packed, store;
};

static bool form_of(unsigned n, struct form *f)
{
    *f = (struct form){ .shape = &shapes[n % SHAPES], .num = 1u << n / SHAPES % NUMS, .packed = n / SHAPES / NUMS % 2,
                        .row = n / SHAPES / NUMS / 2 % ROWS * 16,
                        .store = n / SHAPES / NUMS / 2 / ROWS };
    return f->shape->registers * f->num <= 128 && f->shape->width * f->num * (f->packed ? 2 : 1) +
        (f->shape == &shapes[4] ? SPLIT : 0) <= COLUMNS &&
           !(f->shape == &shapes[4] && f->num * (f->packed ? 2 : 1) > SPLIT) && !(f->row && f->shape == &shapes[0]);
}

/* --- the reference: row and column of register r of thread t, in unpacked columns of 32 bits --- */

static void find_cell(const struct form *f, unsigned t, unsigned r, unsigned *row, unsigned *column)
{
    static const uint8_t pairs[4] = { 0, 8, 0, 8 }, halves[4] = { 0, 0, 1, 1 };

    switch (f->shape - shapes) {
    case 0: *row = t; *column = r; break;
    /* four threads per row, and the row eight below */
    case 1: *row = t >> 2 | pairs[t & 3]; *column = halves[t & 3] + 2 * r; break;
    /* like D of mma with elements of 32 bits in rows of four */
    case 2: *row = (t >> 2) + 8 * (r & 1); *column = (t & 3) + 4 * (r >> 1); break;
    /* like D of mma */
    case 3: *row = (t >> 2) + 8 * (r >> 1 & 1); *column = 2 * (t & 3) + (r & 1) + 8 * (r >> 2); break;
    default: *row = t & 15; *column = r; break;
    }
    *row += f->row;
}

/* --- kernels --- */

static void print_form(FILE *out, unsigned n, const struct form *f)
{
    unsigned registers = f->shape->registers * f->num;
    char vector[1024], *p = vector, split[16] = "";

    for (unsigned r = 0; r < registers; r++)
        p += sprintf(p, "%s%%r%u", r ? "," : "{", r);
    strcpy(p, "}");
    if (f->shape == &shapes[4])
        sprintf(split, ", %d", SPLIT);
    fprintf(out, ".visible .entry k%u(.param .u64 image, .param .u64 regs) { .shared .b32 at; "
                 ".reg .b32 %%r<128>, %%t, %%a, %%q, %%c, %%v; .reg .b64 %%w<3>; .reg .pred %%p, %%first;\n"
                 "  ld.param.u64 %%w0, [image]; ld.param.u64 %%w1, [regs]; mov.u32 %%t, %%tid.x; "
                 "mad.wide.u32 %%w0, %%t, %d, %%w0; mad.wide.u32 %%w1, %%t, 512, %%w1;\n"
                 "  shr.u32 %%q, %%t, 5; setp.eq.u32 %%first, %%q, 0; "
                 "@%%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], %d; bar.sync 0;\n"
                 "  ld.shared.u32 %%a, [at]; shl.b32 %%q, %%q, 21; add.u32 %%a, %%a, %%q; mov.u32 %%c, 0; "
                 "mov.b64 %%w2, %%w0;\n"
                 "IN: ld.global.u32 %%v, [%%w2]; add.u32 %%q, %%a, %%c; "
                 "tcgen05.st.sync.aligned.32x32b.x1.b32 [%%q], {%%v}; add.u64 %%w2, %%w2, 4; add.u32 %%c, %%c, 1;\n"
                 "  setp.lt.u32 %%p, %%c, %d; @%%p bra IN; tcgen05.wait::st.sync.aligned;\n", n, 4 * COLUMNS, COLUMNS,
                 COLUMNS);
    for (unsigned r = 0; r < registers; r++)
        fprintf(out, "  ld.global.u32 %%r%u, [%%w1+%u];\n", r, 4 * r);
    fprintf(out, "  add.u32 %%q, %%a, %u;\n", f->row << 16);
    if (f->store)
        fprintf(out, "  tcgen05.st.sync.aligned.%s.x%u%s.b32 [%%q]%s, %s; tcgen05.wait::st.sync.aligned;\n",
                f->shape->name, f->num, f->packed ? ".unpack::16b" : "",
                split, vector);
    else
        fprintf(out, "  tcgen05.ld.sync.aligned.%s.x%u%s.b32 %s, [%%q]%s; tcgen05.wait::ld.sync.aligned;\n",
                f->shape->name, f->num, f->packed ? ".pack::16b" : "", vector,
                split);
    for (unsigned r = 0; r < registers; r++)
        fprintf(out, "  st.global.u32 [%%w1+%u], %%r%u;\n", 4 * r, r);
    fprintf(out, "  mov.u32 %%c, 0;\nOUT: add.u32 %%q, %%a, %%c; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%v}, [%%q]; "
                 "tcgen05.wait::ld.sync.aligned; st.global.u32 [%%w0], %%v;\n"
                 "  add.u64 %%w0, %%w0, 4; add.u32 %%c, %%c, 1; setp.lt.u32 %%p, %%c, %d; @%%p bra OUT; bar.sync 0; "
                 "ld.shared.u32 %%a, [at];\n"
                 "  @%%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%a, %d; ret; }\n", COLUMNS, COLUMNS);
}

#define ALLOC "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
#define DEALLOC "tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
static ptxiDevicePtr image, regs;

static void print_kernels(FILE *out)
{
    struct form f;

    fputs(test_file("exec/tcgen05/tmem.ptx"), out);
    for (unsigned n = 0; n < FORMS; n++)
        if (form_of(n, &f))
            print_form(out, n, &f);
}

static void set_up(void)
{
    load_kernels("8.6", "sm_100a", print_kernels);
    ok(ptxiMemAlloc(&image, THREADS * COLUMNS * 4));
    ok(ptxiMemAlloc(&regs, THREADS * 128 * 4));
}

struct data {
    uint32_t image[THREADS][COLUMNS], regs[THREADS][128];
};

static void expect(const struct form *f, struct data *d)
{
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned r = 0; r < f->shape->registers * f->num; r++) {
            unsigned row, column, step = f->packed ? 2 : 1;
            uint32_t *cell;

            find_cell(f, t % 32, r, &row, &column);
            cell = &d->image[t / 32 * 32 + row][column * step + (f->shape == &shapes[4] && t % 32 >= 16 ? SPLIT : 0)];
            if (!f->store) {
                d->regs[t][r] = f->packed ? (cell[0] & 0xffff) | cell[1] << 16 : *cell;
            } else {
                *cell = f->packed ? d->regs[t][r] & 0xffff : d->regs[t][r];
                if (f->packed)
                    cell[1] = d->regs[t][r] >> 16;
            }
        }
}

static void check_form(unsigned n, const struct form *f)
{
    static struct data want, got;
    void *params[] = { &image, &regs };
    char name[16];

    for (unsigned k = 0; k < sizeof want / 4; k++)
        ((uint32_t *)&want)[k] = random_below(UINT32_MAX);
    ok(ptxiMemcpyHtoD(image, want.image, sizeof want.image));
    ok(ptxiMemcpyHtoD(regs, want.regs, sizeof want.regs));
    snprintf(name, sizeof name, "k%u", n);
    ok(launch(name, THREADS, params));
    ok(ptxiMemcpyDtoH(got.image, image, sizeof got.image));
    ok(ptxiMemcpyDtoH(got.regs, regs, sizeof got.regs));
    expect(f, &want);
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned c = 0; c < COLUMNS; c++)
            ck_bits32_at(got.image[t][c], want.image[t][c], "%s.x%u, %s: lane %u, column %u", f->shape->name, f->num,
                         f->store ? "store" : "load", t, c);
        for (unsigned r = 0; r < 128; r++)
            ck_bits32_at(got.regs[t][r], want.regs[t][r], "%s.x%u, %s: thread %u, register %u", f->shape->name, f->num,
                         f->store ? "store" : "load", t, r);
    }
}

START_TEST(shapes_match_the_manual)
{
    struct form f;

    for (unsigned n = (unsigned)_i; n < FORMS; n += SHAPES)
        if (form_of(n, &f))
            check_form(n, &f);
}
END_TEST

START_TEST(columns_are_allocated_and_freed)
{
    static const uint32_t want[5] = { 0, 256, 0, 64, 0 };
    uint32_t out[64];
    void *params[] = { &regs };

    ok(launch("places", 32, params));
    ok(ptxiMemcpyDtoH(out, regs, sizeof want));
    for (unsigned k = 0; k < 5; k++)
        ck_bits32_at(out[k], want[k], "allocation %u", k);
    ok(ptxiMemsetD32(regs, 0, 2));
    ok(launch("waits", 64, params));
    ok(ptxiMemcpyDtoH(out, regs, 8));
    ck_bits32(out[1], 7);
    ok(launch("commits", 64, params));
    ok(ptxiMemcpyDtoH(out, regs, sizeof out));
    for (unsigned t = 0; t < 64; t++)
        ck_bits32_at(out[t], 3, "thread %u", t);
}
END_TEST

static void check_late(const char *name, uint32_t waits, uint32_t add)
{
    uint32_t out[32];
    void *params[] = { &regs, &waits };

    ok(launch(name, 32, params));
    ok(ptxiMemcpyDtoH(out, regs, sizeof out));
    for (unsigned t = 0; t < 32; t++)
        ck_bits32_at(out[t], waits ? t + add : 0, "%s %s a wait: thread %u", name, waits ? "with" : "without", t);
}

/* Threads that do not wait see the old content. Threads that wait see everything in order, however late it is
 * executed. */
START_TEST(a_missing_wait_is_visible)
{
    check_late("stores", 0, 0);
    check_late("copies", 0, 0);
    for (uint64_t seed = 0; seed < 12; seed++) {
        ok(ptxiCtxSetSchedule(NULL, seed));
        check_late("stores", 1, 0);
        check_late("copies", 1, 1000);
    }
}
END_TEST

/* Addresses of tensor memory are not taken for truncated addresses of large memory. */
START_TEST(addresses_of_32_bits_are_valid)
{
    ptxiDiagnostic d = { .size = sizeof d };

    ck_assert_int_ne(ptxiGetLastDiagnostic(0, &d), PTXI_SUCCESS);
}
END_TEST

START_TEST(misuse_is_reported)
{
    static const char *const bad[] = { "too_many", "too_late", "no_peer", "twice" };
    uint32_t by = 62;
    void *params[] = { &by };

    for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_result(launch(bad[k], 32, NULL), PTXI_ERROR_LAUNCH_FAILED);
    ok(launch("beyond", 32, params));
    by = 63;
    ck_result(launch("beyond", 32, params), PTXI_ERROR_LAUNCH_FAILED);
    by = 32 << 16; /* lanes of another warp */
    ck_result(launch("beyond", 32, params), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

/* --- tcgen05.ld.red --- */

static const struct reduction {
    const char *text;
    bool split, max, is_signed, floats, abs, nan;
} reductions[] = {
    { "32x32b.x8.min.u32", false, false, false, false, false, false }, { "32x32b.x8.max.s32", false, true, true, false,
            false, false },
    { "16x32bx2.x4.min.s32", true, false, true, false, false, false },  { "16x32bx2.x2.max.u32", true, true, false,
            false, false, false },
    { "32x32b.x16.min.f32", false, false, false, true, false, false },  { "32x32b.x8.max.NaN.f32", false, true, false,
            true, false, true },
    { "16x32bx2.x8.max.abs.f32", true, true, false, true, true, false }, { "32x32b.x2.min.abs.NaN.f32", false, false,
            false, true, true, true },
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

static unsigned number_of(const struct reduction *r)
{
    return (unsigned)atoi(strstr(r->text, ".x") + 2);
}

static void print_reductions(FILE *out)
{
    for (unsigned k = 0; k < REDUCTIONS; k++) {
        const struct reduction *r = &reductions[k];
        char vector[256], *p = vector;

        for (unsigned n = 0; n < number_of(r); n++)
            p += sprintf(p, "%s%%r%u", n ? "," : "{", n);
        fprintf(out, ".visible .entry k%u(.param .u64 image, .param .u64 regs) { .shared .b32 at; "
                     ".reg .b32 %%r<16>, %%a, %%c, %%q, %%t, %%v; .reg .b64 %%w<2>; .reg .pred %%p;\n"
                     "  ld.param.u64 %%w0, [image]; ld.param.u64 %%w1, [regs]; mov.u32 %%t, %%tid.x; "
                     "mad.wide.u32 %%w0, %%t, 256, %%w0; mad.wide.u32 %%w1, %%t, 4, %%w1;\n"
                     "  " ALLOC "[at], 64; ld.shared.u32 %%a, [at]; mov.u32 %%c, 0;\n"
                     "IN: ld.global.u32 %%v, [%%w0]; add.u32 %%q, %%a, %%c; "
                     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%%q], {%%v}; add.u64 %%w0, %%w0, 4; add.u32 %%c, %%c, 1;\n"
                     "  setp.lt.u32 %%p, %%c, 64; @%%p bra IN; tcgen05.wait::st.sync.aligned; "
                     "tcgen05.ld.red.sync.aligned.%s %s}, %%v, [%%a]%s; tcgen05.wait::ld.sync.aligned;\n"
                     "  st.global.u32 [%%w1], %%v; " DEALLOC "%%a, 64; ret; }\n", k, r->text, vector,
                     r->split ? ", 32" : "");
    }
}

static void set_up_reductions(void)
{
    load_kernels("9.0", "sm_110f", print_reductions);
    ok(ptxiMemAlloc(&image, 32 * 64 * 4));
    ok(ptxiMemAlloc(&regs, 32 * 4));
}

/* True if the reduction prefers x to y. */
static bool is_below(const struct reduction *r, uint32_t x, uint32_t y)
{
    float a, b;

    if (!r->floats)
        return r->is_signed ? (int32_t)x < (int32_t)y : x < y;
    memcpy(&a, &x, 4);
    memcpy(&b, &y, 4);
    return a < b || (a == b && x >> 31 && !(y >> 31));
}

static uint32_t reduced(const struct reduction *r, const uint32_t *cell)
{
    uint32_t best = 0x7fffffff;
    bool any_number = false;

    for (unsigned k = 0; k < number_of(r); k++) {
        uint32_t x = cell[k] & (r->abs ? 0x7fffffff : UINT32_MAX);

        if (r->floats && (x & 0x7fffffff) > 0x7f800000) {
            if (r->nan)
                return 0x7fffffff;
            continue;
        }
        if (!any_number || (r->max ? is_below(r, best, x) : is_below(r, x, best)))
            best = x;
        any_number = true;
    }
    return best;
}

START_TEST(loads_reduce)
{
    static const uint32_t floats[] = { 0, 0x80000000, 0x3f800000, 0xc0000000, 0x7fc00000, 0x7f800000, 0xff800000, 1,
                                       0x80000001, 0x42280000 };
    const struct reduction *r = &reductions[_i];
    uint32_t in[32][64], out[32];
    void *params[] = { &image, &regs };
    char name[16];

    snprintf(name, sizeof name, "k%d", _i);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned k = 0; k < 32 * 64; k++)
            in[k / 64][k % 64] = r->floats ? floats[random_below(round % 2 ? 4 : 10)] : random_below(UINT32_MAX);
        ok(ptxiMemcpyHtoD(image, in, sizeof in));
        ok(launch(name, 32, params));
        ok(ptxiMemcpyDtoH(out, regs, sizeof out));
        for (unsigned t = 0; t < 32; t++)
            ck_bits32_at(out[t], reduced(r, r->split ? &in[t % 16][t / 16 * 32] : in[t]), "%s, thread %u", r->text, t);
    }
}
END_TEST

/* --- tcgen05.ld.spcompress: PTX ISA, "tcgen05.ld" and "spcompress" --- */

enum { COMPRESSIONS = 6 * 2 * 2 * 3, COMPRESSED_COLUMNS = 128 };

struct compression {
    unsigned num;
    bool max, abs, reduces, nan;
};

static struct compression compression_of(unsigned n)
{
    return (struct compression){ 4u << n % 6, n / 6 % 2, n / 12 % 2, n / 24 > 0, n / 24 > 1 };
}

static void print_registers(FILE *out, const char *name, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "%s%%%s%u", k ? ", " : "{", name, k);
    fputs("}, ", out);
}

/* A thread's results: the metadata, the compressed elements, and the reduction. */
static void print_compressions(FILE *out)
{
    for (unsigned n = 0; n < COMPRESSIONS; n++) {
        struct compression c = compression_of(n);
        unsigned words = (c.num + 31) / 32;

        fprintf(out, ".visible .entry k%u(.param .u64 image, .param .u64 regs) { .shared .b32 at; "
                     ".reg .b32 %%m<4>, %%r<64>, %%a, %%c, %%q, %%t, %%v; .reg .f32 %%red; .reg .b64 %%w<2>; "
                     ".reg .pred %%p;\n"
                     "  ld.param.u64 %%w0, [image]; ld.param.u64 %%w1, [regs]; mov.u32 %%t, %%tid.x; "
                     "mad.wide.u32 %%w0, %%t, %d, %%w0; mad.wide.u32 %%w1, %%t, 512, %%w1; mov.f32 %%red, 0f00000000;\n"
                     "  " ALLOC "[at], %d; ld.shared.u32 %%a, [at]; mov.u32 %%c, 0;\n"
                     "IN: ld.global.u32 %%v, [%%w0]; add.u32 %%q, %%a, %%c; "
                     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%%q], {%%v}; add.u64 %%w0, %%w0, 4; add.u32 %%c, %%c, 1;\n"
                     "  setp.lt.u32 %%p, %%c, %d; @%%p bra IN; tcgen05.wait::st.sync.aligned; "
                     "tcgen05.ld%s.spcompress.sync.aligned.32x32b.x%u.%s.sp::2:4%s%s.f32.b2 ", n,
                4 * COMPRESSED_COLUMNS, COMPRESSED_COLUMNS, COMPRESSED_COLUMNS, c.reduces ? ".red" : "", c.num,
                c.max ? "max" : "min", c.abs ? ".abs" : "", c.nan ? ".NaN" : "");
        print_registers(out, "m", words);
        print_registers(out, "r", c.num / 2);
        fprintf(out, "%s[%%a]; tcgen05.wait::ld.sync.aligned;\n", c.reduces ? "%red, " : "");
        for (unsigned k = 0; k < words; k++)
            fprintf(out, "  st.global.u32 [%%w1+%u], %%m%u;\n", 4 * k, k);
        for (unsigned k = 0; k < c.num / 2; k++)
            fprintf(out, "  st.global.u32 [%%w1+%u], %%r%u;\n", 16 + 4 * k, k);
        fprintf(out, "  st.global.f32 [%%w1+%u], %%red; " DEALLOC "%%a, %d; ret; }\n", 16 + 4 * 64,
                COMPRESSED_COLUMNS);
    }
}

static void set_up_compressions(void)
{
    load_kernels("9.4", "sm_107a", print_compressions);
    ok(ptxiMemAlloc(&image, 32 * COMPRESSED_COLUMNS * 4));
    ok(ptxiMemAlloc(&regs, 32 * 512));
}

/* The order of elements as unsigned numbers: NaNs above all others, -0 below 0; reversed for .min. */
static uint32_t rank_of(const struct compression *c, uint32_t x)
{
    if ((x & 0x7fffffff) > 0x7f800000)
        return UINT32_MAX;
    if (c->abs)
        x &= 0x7fffffff;
    x = x >> 31 ? ~x : x | 0x80000000;
    return c->max ? x : ~x;
}

static void check_row(const struct compression *c, const uint32_t *in, const uint32_t *out, unsigned thread)
{
    const struct reduction r = { "", false, c->max, false, true, c->abs, c->nan };
    unsigned words = (c->num + 31) / 32, n = 0;

    for (unsigned g = 0; g < c->num / 4; g++) {
        const uint32_t *x = in + 4 * g;

        for (unsigned k = 0; k < 4; k++) { /* an element is kept if fewer than two precede it */
            unsigned better = 0;

            for (unsigned other = 0; other < 4; other++)
                better += rank_of(c, x[other]) > rank_of(c, x[k]) ||
                          (other < k && rank_of(c, x[other]) == rank_of(c, x[k]));
            if (better >= 2)
                continue;
            ck_bits32_at(out[4 + n], x[k], "element %u of thread %u", n, thread);
            ck_bits32_at(out[n / 16] >> n % 16 * 2 & 3, k, "index %u of thread %u", n, thread);
            n++;
        }
        ck_assert_uint_eq(n, 2 * g + 2);
    }
    for (; n < 16 * words; n++)
        ck_bits32_at(out[n / 16] >> n % 16 * 2 & 3, 0, "unused index %u of thread %u", n, thread);
    if (c->reduces) {
        uint32_t want = 0x7fffffff;
        bool any = false;

        for (unsigned k = 0; k < c->num; k++) {
            uint32_t x = in[k] & (c->abs ? 0x7fffffff : UINT32_MAX);

            if ((x & 0x7fffffff) > 0x7f800000) {
                if (!c->nan)
                    continue;
                want = 0x7fffffff;
                break;
            }
            if (!any || (r.max ? is_below(&r, want, x) : is_below(&r, x, want)))
                want = x;
            any = true;
        }
        ck_bits32_at(out[4 + 64], want, "reduction of thread %u", thread);
    }
}

START_TEST(loads_compress)
{
    static const uint32_t floats[] = { 0, 0x80000000, 0x3f800000, 0xbf800000, 0x7fc00000, 0xffc00001, 0x7f800000,
                                       0xff800000, 1, 0x80000001, 0x42280000, 0xc2280000 };
    struct compression c = compression_of((unsigned)_i);
    static uint32_t in[32][COMPRESSED_COLUMNS], out[32][128];
    void *params[] = { &image, &regs };
    char name[16];

    snprintf(name, sizeof name, "k%d", _i);
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned k = 0; k < 32 * COMPRESSED_COLUMNS; k++)
            in[k / COMPRESSED_COLUMNS][k % COMPRESSED_COLUMNS] =
                round % 3 == 2 ? random_below(UINT32_MAX) : floats[random_below(round % 3 ? 4 : 12)];
        ok(ptxiMemcpyHtoD(image, in, sizeof in));
        ok(launch(name, 32, params));
        ok(ptxiMemcpyDtoH(out, regs, sizeof out));
        for (unsigned t = 0; t < 32; t++)
            check_row(&c, in[t], out[t], t);
    }
}
END_TEST

/* --- tcgen05.alloc.exclusive --- */

static void print_exclusive(FILE *out)
{
    fputs(test_file("exec/tcgen05/exclusive.ptx"), out);
}

static void set_up_exclusive(void)
{
    load_kernels("9.4", "sm_107a", print_exclusive);
    ok(ptxiMemAlloc(&regs, 32 * 4));
}

static void set_up_exclusive_100(void)
{
    load_kernels("9.4", "sm_100f", print_exclusive);
    ok(ptxiMemAlloc(&regs, 32 * 4));
}

static ptxiResult run_exclusive(const char *name, unsigned ctas, unsigned threads, uint32_t n, uint32_t *out)
{
    void *params[] = { &regs, &n };
    ptxiResult r;

    ok(ptxiMemsetD32(regs, 0, 8));
    r = launch_grid(name, ctas, threads, params);
    ok(ptxiMemcpyDtoH(out, regs, 32));
    return r;
}

START_TEST(an_allocation_may_be_exclusive)
{
    uint32_t out[8], most = _i ? 576 : 512; /* sm_107, or sm_100 */

    for (uint32_t n = 32; n <= most; n += 32) {
        ok(run_exclusive("one", 1, 32, n, out));
        ck_bits32_at(out[0], 0, "address of %u columns", n);
        ck_bits32_at(out[1], n, "content of %u columns", n);
        ck_bits32_at(out[2], 0, "address after %u columns", n);
    }
    for (uint32_t n = 0; n < 1024; n++)
        if (n % 32 || !n || n > most)
            ck_result(run_exclusive("one", 1, 32, n, out), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

/* Others wait for the exclusive allocation, and it waits for others. */
START_TEST(an_exclusive_allocation_is_alone)
{
    uint32_t out[8];

    ok(run_exclusive("first", 1, 64, 32, out));
    ck_bits32(out[1], 7);
    ok(run_exclusive("last", 1, 64, 32, out));
    ck_bits32(out[1], 7);
    ok(run_exclusive("pair", 2, 32, 96, out));
    ck_bits32(out[0], 5);
    ck_bits32(out[1], 5);
}
END_TEST

START_TEST(exclusive_allocations_are_checked)
{
    static const char *const bad[] = { "shared_dealloc", "exclusive_dealloc", "other_size", "both" };
    uint32_t out[8];

    for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_result(run_exclusive(bad[k], 1, 32, 64, out), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tmem");
    TCase *t = tcase_create("tensor memory"), *u = tcase_create("reductions");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, shapes_match_the_manual, 0, SHAPES);
    tcase_add_test(t, columns_are_allocated_and_freed);
    tcase_add_test(t, a_missing_wait_is_visible);
    tcase_add_test(t, misuse_is_reported);
    tcase_add_test(t, addresses_of_32_bits_are_valid);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(u, set_up_reductions, close_context);
    tcase_add_loop_test(u, loads_reduce, 0, REDUCTIONS);
    suite_add_tcase(s, u);
    t = tcase_create("exclusive, sm_100");
    tcase_add_checked_fixture(t, set_up_exclusive_100, close_context);
    tcase_add_loop_test(t, an_allocation_may_be_exclusive, 0, 1);
    suite_add_tcase(s, t);
    t = tcase_create("exclusive, sm_107");
    tcase_add_checked_fixture(t, set_up_exclusive, close_context);
    tcase_add_loop_test(t, an_allocation_may_be_exclusive, 1, 2);
    tcase_add_test(t, an_exclusive_allocation_is_alone);
    tcase_add_test(t, exclusive_allocations_are_checked);
    suite_add_tcase(s, t);
    t = tcase_create("compression");
    tcase_add_checked_fixture(t, set_up_compressions, close_context);
    tcase_add_loop_test(t, loads_compress, 0, COMPRESSIONS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
