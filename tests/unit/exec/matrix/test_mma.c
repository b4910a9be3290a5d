/* Tests the position of every element of every mma operand with numbers that all formats represent exactly, for
 * converged and diverged warps. Also tests sums of floats of all kinds, which num/dot.h models. */
#include "unit/support/bits.h"

#include <string.h>

#include "isa/fragment.h"
#include "num/dot.h"
#include "ptxi.h"
#include "unit/support/matrix.h"

enum { ROUNDS = 4, KERNEL = 1024, LANE = 256 /* bytes of the operands of a lane */ };

static const struct form {
    const char *types, *tail; /* D.A.B.C */
    unsigned m, k;
    char kind;                /* f, i, b, d */
    unsigned bits, chunk;     /* K of A and B; for sparse A, the elements of a chunk */
    unsigned selectors;
} forms[] = {
    { "f32.f16.f16.f32", "", 16, 8, 'f', 16, 0, 0 },      { "f16.f16.f16.f16", "", 16, 8, 'f', 16, 0, 0 },
    { "f32.f16.f16.f32", "", 16, 16, 'f', 16, 0, 0 },     { "f16.f16.f16.f16", "", 16, 16, 'f', 16, 0, 0 },
    { "f32.bf16.bf16.f32", "", 16, 8, 'f', 16, 0, 0 },    { "f32.bf16.bf16.f32", "", 16, 16, 'f', 16, 0, 0 },
    { "f32.tf32.tf32.f32", "", 16, 4, 'f', 32, 0, 0 },    { "f32.tf32.tf32.f32", "", 16, 8, 'f', 32, 0, 0 },
    { "f32.e4m3.e5m2.f32", "", 16, 16, 'f', 8, 0, 0 },    { "f16.e5m2.e4m3.f16", "", 16, 32, 'f', 8, 0, 0 },
    { "f32.e5m2.e5m2.f32", "", 16, 32, 'f', 8, 0, 0 },    { "f64.f64.f64.f64", "", 8, 4, 'd', 64, 0, 0 },
    { "f64.f64.f64.f64", "", 16, 4, 'd', 64, 0, 0 },      { "f64.f64.f64.f64", "", 16, 8, 'd', 64, 0, 0 },
    { "f64.f64.f64.f64", "", 16, 16, 'd', 64, 0, 0 },     { "s32.s8.u8.s32", "", 8, 16, 'i', 8, 0, 0 },
    { "s32.u8.s8.s32", "", 16, 16, 'i', 8, 0, 0 },        { "s32.s8.s8.s32", "", 16, 32, 'i', 8, 0, 0 },
    { "s32.u8.u8.s32", "", 16, 32, 'i', 8, 0, 0 },        { "s32.s4.u4.s32", "", 8, 32, 'i', 4, 0, 0 },
    { "s32.u4.s4.s32", "", 16, 32, 'i', 4, 0, 0 },        { "s32.s4.s4.s32", "", 16, 64, 'i', 4, 0, 0 },
    { "s32.b1.b1.s32", ".xor.popc", 8, 128, 'b', 1, 0, 0 }, { "s32.b1.b1.s32", ".and.popc", 16, 128, 'b', 1, 0, 0 },
    { "s32.b1.b1.s32", ".xor.popc", 16, 256, 'b', 1, 0, 0 },
    { "f32.f16.f16.f32", "", 16, 16, 'f', 16, 4, 4 },     { "f16.f16.f16.f16", "", 16, 32, 'f', 16, 4, 2 },
    { "f32.bf16.bf16.f32", "", 16, 32, 'f', 16, 4, 2 },   { "f32.tf32.tf32.f32", "", 16, 8, 'f', 32, 2, 4 },
    { "f32.tf32.tf32.f32", "", 16, 16, 'f', 32, 2, 2 },   { "f32.e4m3.e4m3.f32", "", 16, 64, 'f', 8, 4, 1 },
    { "s32.s8.u8.s32", "", 16, 32, 'i', 8, 4, 2 },        { "s32.u8.s8.s32", "", 16, 64, 'i', 8, 4, 1 },
    { "s32.s4.u4.s32", "", 16, 64, 'i', 4, 8, 2 },        { "s32.u4.u4.s32", "", 16, 128, 'i', 4, 8, 1 },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* --- the kernel --- */

struct counts {
    unsigned a, b, c;
};

static struct counts registers(const struct form *f)
{
    unsigned width = f->kind == 'd' ? 64 : 32, per_register = width / f->bits;

    return (struct counts){ f->m * (f->chunk ? f->k / 2 : f->k) / 32 / per_register, 8 * f->k / 32 / per_register,
                            f->m * 8 / 32 / (strncmp(f->types, "f16", 3) ? 1 : 2) };
}

static char *vector(char *p, char name, unsigned count)
{
    for (unsigned r = 0; r < count; r++)
        p += sprintf(p, "%s%%%c%u", r ? "," : "{", name, r);
    return p + sprintf(p, "}, ");
}

static char *print_loads(char *p, char name, unsigned count, unsigned at, unsigned bytes)
{
    for (unsigned r = 0; r < count; r++)
        p += sprintf(p, "ld.global.b%u %%%c%u, [%%i+%u];\n", bytes * 8, name, r, at + r * bytes);
    return p;
}

static void instruction(char *p, const struct form *f, unsigned selector)
{
    struct counts n = registers(f);

    p += sprintf(p, "mma.%ssync.aligned.m%un8k%u.row.col.%s%s ", f->chunk ? "sp::ordered_metadata." : "", f->m, f->k,
                 f->types, f->tail);
    p = vector(vector(vector(vector(p, 'd', n.c), 'a', n.a), 'b', n.b), 'c', n.c) - 2;
    sprintf(p, f->chunk ? ", %%e, %u;\n" : ";\n", selector);
}

/* In two parts: odd lanes reach the instruction later. */
static void kernel(char *p, const struct form *f, unsigned selector, bool two_arms)
{
    struct counts n = registers(f);
    unsigned bytes = f->kind == 'd' ? 8 : 4;

    p += sprintf(p, ".version 8.7 .target sm_90a .address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) "
                    "{\n"
                    ".reg .b%u %%a<8>, %%b<8>, %%c<8>, %%d<8>; .reg .b32 %%t, %%e; .reg .b64 %%i, %%o; "
                    ".reg .pred %%p;\n"
                    "ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; "
                    "mad.wide.u32 %%i, %%t, %d, %%i; mad.wide.u32 %%o, %%t, 64, %%o;\n",
                 bytes * 8, LANE);
    p = print_loads(print_loads(print_loads(p, 'a', n.a, 0, bytes), 'b', n.b, 64, bytes), 'c', n.c, 128, bytes);
    p += sprintf(p, "ld.global.b32 %%e, [%%i+192];\n");
    if (two_arms)
        p += sprintf(p, "and.b32 %%t, %%t, 1; setp.eq.u32 %%p, %%t, 0; @%%p bra TOGETHER; "
                        "nanosleep.u32 0;\nTOGETHER:\n");
    instruction(p, f, selector);
    p += strlen(p);
    for (unsigned r = 0; r < n.c; r++)
        p += sprintf(p, "st.global.b%u [%%o+%u], %%d%u;\n", bytes * 8, r * bytes, r);
    sprintf(p, "ret; }\n");
}

/* --- numbers --- */

static int random_value(const struct form *f, const char *type)
{
    int x = (int)(random32() & ((1u << f->bits % 32) - 1));

    if (f->kind != 'i')
        return f->kind == 'b' ? (int)(random32() & 1) : (int)(random32() % 7) - 3;
    return type[0] == 's' ? (int)((uint32_t)x << (32 - f->bits)) >> (32 - f->bits) : x;
}

/* --- operands and expected results --- */

static unsigned char in[32 * LANE], out[32 * 64], want[32 * 64];

static void put(unsigned char *to, unsigned lane_bytes, const struct ptxi_fragment *f, unsigned row, unsigned column,
                uint64_t code)
{
    struct ptxi_fragment_position p = ptxi_fragment_locate(f, row, column);
    unsigned char *at = to + p.lane * lane_bytes + p.reg * f->width / 8;
    uint64_t word = 0, mask = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;

    memcpy(&word, at, f->width / 8);
    word |= (code & mask) << p.bit;
    memcpy(at, &word, f->width / 8);
}

/* Chooses which elements of the chunk are stored, and returns the column of A of stored element `at` of a row. */
static unsigned column_of(const struct form *f, unsigned row, unsigned at, unsigned selector)
{
    static const uint8_t pairs[] = { 0x4, 0x8, 0x9, 0xc, 0xd, 0xe };
    struct ptxi_fragment_position p = ptxi_sparse_locate_index(f->bits, row, at / (f->chunk / 2), f->k / f->chunk,
                                                               selector);
    uint32_t word;

    memcpy(&word, in + p.lane * LANE + 192, sizeof word);
    if (!(word >> p.bit & 15)) {
        word |= (f->chunk == 2 ? random32() & 1 ? 0x4u : 0xeu : pairs[random32() % 6]) << p.bit;
        memcpy(in + p.lane * LANE + 192, &word, sizeof word);
    }
    return ptxi_sparse_column(f->bits, at, word >> p.bit & 15);
}

static void make_operands(const struct form *f, unsigned selector)
{
    const char *d = f->types, *ta = strchr(d, '.') + 1, *tb = strchr(ta, '.') + 1;
    unsigned c_bits = strncmp(d, "f16", 3) ? f->kind == 'd' ? 64 : 32 : 16;
    struct ptxi_fragment a = ptxi_fragment_a(f->m, f->bits), b = ptxi_fragment_b(8, f->bits), c = ptxi_fragment_c(f->m,
            c_bits);
    static int va[16][256], vb[256][8];

    memset(in, 0, sizeof in);
    memset(want, 0, sizeof want);
    memset(va, 0, sizeof va);
    for (unsigned m = 0; m < f->m; m++)
        for (unsigned at = 0; at < (f->chunk ? f->k / 2 : f->k); at++) {
            int x = random_value(f, ta);

            va[m][f->chunk ? column_of(f, m, at, selector) : at] = x;
            put(in, LANE, &a, m, at, encode(ta, x));
        }
    for (unsigned k = 0; k < f->k; k++)
        for (unsigned n = 0; n < 8; n++)
            put(in + 64, LANE, &b, k, n, encode(tb, vb[k][n] = random_value(f, tb)));
    for (unsigned m = 0; m < f->m; m++)
        for (unsigned n = 0; n < 8; n++) {
            int sum = (int)(random32() % 100) - 50;

            put(in + 128, LANE, &c, m, n, encode(d, sum));
            for (unsigned k = 0; k < f->k; k++)
                sum += strcmp(f->tail, ".xor.popc") ? va[m][k] * vb[k][n] : va[m][k] ^ vb[k][n];
            put(want, 64, &c, m, n, encode(d, sum));
        }
}

/* --- sums --- */

enum value_range { LARGEST /* significands, chosen so that sums of one sign are as large as possible */,
              NEAR_EXPONENTS /* exponents */, SPARSE, ANY_BITS /* bits */, POSITIONS };

static uint32_t code_of(const struct ptxi_num_minifloat *f, enum value_range value_range)
{
    uint32_t sign = random32() % 2 << (f->fraction + f->exponent), fraction = random32() & ((1u << f->fraction) - 1);

    switch (value_range) {
    case LARGEST: return (uint32_t)f->bias << f->fraction | ((1u << f->fraction) - 1);
    case NEAR_EXPONENTS: return sign | ((uint32_t)f->bias - random32() % 12) << f->fraction | fraction;
    case SPARSE: return random32() % 8 ? 0 : sign | ((uint32_t)f->bias - random32() % 3) << f->fraction | fraction;
    default: return random32() & (uint32_t)((UINT64_C(1) << (f->fraction + f->exponent + 1)) - 1);
    }
}

static void make_sums(const struct form *f, enum value_range value_range)
{
    static const struct ptxi_num_minifloat f32 = { 23, 8, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff };
    bool f16 = !strncmp(f->types, "f16", 3);
    enum ptxi_dot_type type = f->bits == 32 ? PTXI_DOT_tf32 : strstr(f->types, "bf16") ? PTXI_DOT_bf16 : PTXI_DOT_f16;
    struct ptxi_dot_model model = ptxi_dot_find(90, PTXI_DOT_WARP, type, f16);
    struct ptxi_fragment a = ptxi_fragment_a(f->m, f->bits), b = ptxi_fragment_b(8, f->bits), c = ptxi_fragment_c(f->m,
            f16 ? 16 : 32);
    uint32_t va[16][16], vb[8][16], unused_bits = type == PTXI_DOT_tf32 ? 13 : 0;

    memset(in, 0, sizeof in);
    memset(want, 0, sizeof want);
    for (unsigned l = 0; l < 16; l++)
        for (unsigned k = 0; k < f->k; k++) {
            put(in, LANE, &a, l, k, (va[l][k] = code_of(&ptxi_dot_formats[type], value_range)) << unused_bits);
            if (l < 8)
                put(in + 64, LANE, &b, k, l, (vb[l][k] = code_of(&ptxi_dot_formats[type], value_range)) << unused_bits);
        }
    for (unsigned m = 0; m < 16; m++)
        for (unsigned n = 0; n < 8; n++) {
            uint32_t to = code_of(f16 ? &ptxi_num_f16 : &f32, value_range);

            put(in + 128, LANE, &c, m, n, to);
            put(want, 64, &c, m, n, ptxi_dot(&model, type, type, va[m], vb[n], f->k, to));
        }
}

/* --- running --- */

static void run(const struct form *f, unsigned selector, bool two_arms, enum value_range value_range, const char *text)
{
    ptxiDevicePtr from, to;
    void *params[] = { &from, &to };
    ptxiModule module;
    ptxiFunction function;

    ck_assert_int_eq(ptxiModuleLoadData(&module, text), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiModuleGetFunction(&function, module, "k"), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemAlloc(&from, sizeof in), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemAlloc(&to, sizeof out), PTXI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        if (value_range == POSITIONS)
            make_operands(f, selector);
        else
            make_sums(f, value_range);
        ptxiMemsetD8(to, 0, sizeof out);
        ptxiMemcpyHtoD(from, in, sizeof in);
        ck_assert_int_eq(ptxiLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), PTXI_SUCCESS);
        ptxiMemcpyDtoH(out, to, sizeof out);
        for (unsigned i = 0; i < sizeof out; i += 4)
            ck_bits32_at(*(uint32_t *)(out + i), *(uint32_t *)(want + i),
                         "m%un8k%u.%s%s, selector %u, %s, numbers %u, lane %u, byte %u", f->m, f->k,
                         f->types, f->tail, selector, two_arms ? "parted" : "together", value_range, i / 64, i % 64);
    }
    ptxiMemFree(from);
    ptxiMemFree(to);
    ptxiModuleUnload(module);
}

static ptxiContext begin(void)
{
    ptxiDevice device;
    ptxiContext context;

    ck_assert_int_eq(ptxiInit(0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiDeviceGet(&device, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxCreate(&context, 0, device), PTXI_SUCCESS);
    return context;
}

START_TEST(element_positions)
{
    static char text[16 * KERNEL];
    const struct form *f = &forms[_i];
    ptxiContext context = begin();

    for (unsigned s = 0; s < (f->selectors ? f->selectors : 1); s++)
        for (int two_arms = 0; two_arms < 2; two_arms++) {
            kernel(text, f, s, two_arms);
            run(f, s, two_arms, POSITIONS, text);
        }
    ptxiCtxDestroy(context);
}
END_TEST

START_TEST(sums)
{
    static char text[16 * KERNEL];
    const struct form *f = &forms[_i];
    ptxiContext context;

    if (f->kind != 'f' || f->chunk || f->bits < 16)
        return;
    context = begin();
    kernel(text, f, 0, false);
    for (enum value_range r = LARGEST; r < POSITIONS; r++)
        run(f, 0, false, r, text);
    ptxiCtxDestroy(context);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mma");
    TCase *t = tcase_create("matrices");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, element_positions, 0, FORMS);
    tcase_add_loop_test(t, sums, 0, FORMS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
