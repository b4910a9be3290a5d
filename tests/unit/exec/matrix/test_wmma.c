/* Tests wmma: whole matrices are loaded, multiplied and stored in all shapes, types and layouts, with numbers that
 * all formats represent exactly. */
#include "unit/support/bits.h"

#include "isa/fragment.h"
#include "ptxi.h"
#include "unit/support/matrix.h"

enum { AREA = 8192 /* bytes of a matrix */ };

static const struct form {
    unsigned m, n, k;
    const char *d, *a, *c, *tail; /* types; the qualifiers after the type of C */
    unsigned a_regs, b_regs, c_regs, d_regs;
} forms[] = {
#define F16(m, n, d, c, nd, nc) { m, n, 16, d, "f16", c, "", 8, 8, nc, nd }
#define SHAPE(m, n, na, nb) \
    F16(m, n, "f16", "f16", 4, 4), F16(m, n, "f32", "f16", 8, 4), F16(m, n, "f16", "f32", 4, 8), \
        F16(m, n, "f32", "f32", 8, 8), \
    { m, n, 16, "s32", "s8", "s32", "", na, nb, 8, 8 }, { m, n, 16, "s32", "u8", "s32", ".satfinite", na, nb, 8, 8 }, \
    { m, n, 16, "f32", "bf16", "f32", "", 2 * na, 2 * nb, 8, 8 }
    SHAPE(16, 16, 2, 2), SHAPE(8, 32, 1, 4), SHAPE(32, 8, 4, 1),
    { 16, 16, 8, "f32", "tf32", "f32", "", 4, 4, 8, 8 }, { 8, 8, 4, "f64", "f64", "f64", "", 1, 1, 2, 2 },
    { 8, 8, 32, "s32", "s4", "s32", "", 1, 1, 2, 2 }, { 8, 8, 32, "s32", "u4", "s32", "", 1, 1, 2, 2 },
    { 8, 8, 128, "s32", "b1", "s32", "", 1, 1, 2, 2 },
};
enum { FORMS = sizeof forms / sizeof *forms };

static bool is_type(const char *type, const char *name)
{
    return !strcmp(type, name);
}

static unsigned bits_of(const char *type)
{
    return is_type(type, "b1") ? 1 : is_type(type, "s4") || is_type(type, "u4") ? 4 : is_type(type, "s8") ||
        is_type(type, "u8") ? 8 : strstr(type, "16") ? 16 : is_type(type, "f64") ? 64 : 32;
}

/* --- the kernel: its parameters are the addresses of A, B, C and D --- */

static char *vector(char *p, char name, unsigned count)
{
    for (unsigned r = 0; r < count; r++)
        p += sprintf(p, "%s%%%c%u", r ? "," : "{", name, r);
    return p + sprintf(p, "}");
}

struct layouts {
    bool a, b, c, d; /* columns */
    unsigned pad;    /* extra elements between lines */
    bool shared;
};

static const char *layout(bool columns)
{
    return columns ? "col" : "row";
}

/* Returns the stride of a matrix with this many rows and columns. */
static unsigned stride(bool columns, unsigned m, unsigned n, unsigned pad)
{
    return (columns ? m : n) + pad;
}

static char *print_access(char *p, const char *operation, const struct form *f, const struct layouts *l, bool columns,
                          const char *type, char name, unsigned count, unsigned m, unsigned n)
{
    char shape[16];

    snprintf(shape, sizeof shape, "m%un%uk%u", f->m, f->n, f->k);
    p += sprintf(p, "wmma.%s.sync.aligned.%s.%s%s.%s ", operation, layout(columns), shape,
                 l->shared ? ".shared"
                 : l->pad  ? ".global"
                           : "",
                 type);
    if (name == 'd')
        p += sprintf(p, "[%%p%c], ", name);
    p = vector(p, name, count);
    if (name != 'd')
        p += sprintf(p, ", [%%p%c]", name);
    return p + (l->pad ? sprintf(p, ", %u;\n", stride(columns, m, n, l->pad)) : sprintf(p, ";\n"));
}

static void kernel(char *p, const struct form *f, const struct layouts *l)
{
    unsigned wide = is_type(f->a, "f64") ? 64 : 32;

    p += sprintf(p, ".version 8.7 .target sm_90a .address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
                    ".param .u64 c, .param .u64 d) {\n"
                    ".shared .align 16 .b8 s[%d]; .reg .b%u %%a<8>, %%b<8>, %%c<8>, %%d<8>; .reg .b32 %%t, %%x; "
                    ".reg .b64 %%u; .reg .pred %%p;\n"
                    ".reg .b%d %%pa, %%pb, %%pc, %%pd;\n", 4 * AREA, wide, l->shared ? 32 : 64);
    for (char name = 'a'; name <= 'd'; name++) {
        if (!l->shared) {
            p += sprintf(p, "ld.param.u64 %%p%c, [%c];\n", name, name);
            continue;
        }
        p += sprintf(p, "mov.u32 %%p%c, s; add.u32 %%p%c, %%p%c, %d; mov.u32 %%t, 0;\nL%c: ld.param.u64 %%u, [%c]; "
                        "cvt.u64.u32 %%u, %%t;\n", name, name, name,
                     (name - 'a') * AREA, name, name);
        p += sprintf(p, "{ .reg .b64 q; ld.param.u64 q, [%c]; add.u64 q, q, %%u; ld.global.b32 %%x, [q]; .reg .b32 r; "
                        "add.u32 r, %%p%c, %%t; st.shared.b32 [r], %%x; }\n"
                        "add.u32 %%t, %%t, 4; setp.lt.u32 %%p, %%t, %d; @%%p bra L%c;\n", name, name, AREA, name);
    }
    p = print_access(p, "load.a", f, l, l->a, f->a, 'a', f->a_regs, f->m, f->k);
    p = print_access(p, "load.b", f, l, l->b, f->a, 'b', f->b_regs, f->k, f->n);
    p = print_access(p, "load.c", f, l, l->c, f->c, 'c', f->c_regs, f->m, f->n);
    p += sprintf(p, "wmma.mma%s.sync.aligned.%s.%s.m%un%uk%u.%s", is_type(f->a, "b1") ? ".xor.popc" : "", layout(l->a),
                 layout(l->b), f->m, f->n, f->k, f->d);
    p += is_type(f->a, "f16") ? sprintf(p, ".%s ", f->c) : sprintf(p, ".%s.%s.%s%s ", f->a, f->a, f->c, f->tail);
    /* in place where that is possible: the results of one fragment must not disturb the others */
    p = vector(p, f->c_regs == f->d_regs ? 'c' : 'a', f->d_regs);
    p = vector(p + sprintf(p, ", "), 'a', f->a_regs);
    p = vector(p + sprintf(p, ", "), 'b', f->b_regs);
    p = vector(p + sprintf(p, ", "), 'c', f->c_regs);
    p += sprintf(p, ";\n");
    for (unsigned r = 0; r < f->d_regs; r++)
        p += sprintf(p, "mov.b%u %%d%u, %%%c%u;\n", wide, r, f->c_regs == f->d_regs ? 'c' : 'a', r);
    p = print_access(p, "store.d", f, l, l->d, f->d, 'd', f->d_regs, f->m, f->n);
    if (l->shared)
        p += sprintf(p, "mov.u32 %%t, 0;\nS: cvt.u64.u32 %%u, %%t;\n{ .reg .b64 q; ld.param.u64 q, [d]; "
                        "add.u64 q, q, %%u; .reg .b32 r; add.u32 r, %%pd, %%t;"
                        " ld.shared.b32 %%x, [r]; st.global.b32 [q], %%x; }\nadd.u32 %%t, %%t, 4; "
                        "setp.lt.u32 %%p, %%t, %d; @%%p bra S;\n", AREA);
    sprintf(p, "ret; }\n");
}

/* --- matrices --- */

static unsigned char memory[4][AREA], want[AREA];

static void put(unsigned char *to, unsigned bits, bool columns, unsigned m, unsigned n, unsigned pad, unsigned row,
                unsigned column, uint64_t code)
{
    unsigned at = (columns ? column * stride(columns, m, n, pad) + row : row * stride(columns, m, n, pad) +
                   column) * bits;
    uint64_t word = 0, mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    memcpy(&word, to + at / 8, bits < 8 ? 1 : bits / 8);
    word = (word & ~(mask << at % 8)) | (code & mask) << at % 8;
    memcpy(to + at / 8, &word, bits < 8 ? 1 : bits / 8);
}

static int random_value(const char *type)
{
    unsigned bits = bits_of(type), x = random32();

    if (bits > 8)
        return (int)(x % 7) - 3;
    return type[0] == 's' ? (int)(x << (32 - bits)) >> (32 - bits) : (int)(x & ((1u << bits) - 1));
}

static void make(const struct form *f, const struct layouts *l)
{
    static int a[32][128], b[128][32];
    unsigned bits = bits_of(f->a);

    memset(memory, 0, sizeof memory);
    memset(want, 0, sizeof want);
    for (unsigned k = 0; k < f->k; k++) {
        for (unsigned m = 0; m < f->m; m++)
            put(memory[0], bits, l->a, f->m, f->k, l->pad, m, k, encode(f->a, a[m][k] = random_value(f->a)));
        for (unsigned n = 0; n < f->n; n++)
            put(memory[1], bits, l->b, f->k, f->n, l->pad, k, n, encode(f->a, b[k][n] = random_value(f->a)));
    }
    for (unsigned m = 0; m < f->m; m++)
        for (unsigned n = 0; n < f->n; n++) {
            int sum = (int)(random32() % 100) - 50;

            put(memory[2], bits_of(f->c), l->c, f->m, f->n, l->pad, m, n, encode(f->c, sum));
            for (unsigned k = 0; k < f->k; k++)
                sum += is_type(f->a, "b1") ? a[m][k] ^ b[k][n] : a[m][k] * b[k][n];
            put(want, bits_of(f->d), l->d, f->m, f->n, l->pad, m, n, encode(f->d, sum));
        }
}

static void run(const struct form *f, const struct layouts *l)
{
    static char text[1 << 15];
    static unsigned char got[AREA];
    ptxiDevicePtr p[4];
    void *params[4];
    ptxiModule module;
    ptxiFunction function;

    kernel(text, f, l);
    make(f, l);
    ck_assert_msg(ptxiModuleLoadData(&module, text) == PTXI_SUCCESS, "%s", text);
    ck_assert_int_eq(ptxiModuleGetFunction(&function, module, "k"), PTXI_SUCCESS);
    for (unsigned k = 0; k < 4; k++) {
        params[k] = &p[k];
        ck_assert_int_eq(ptxiMemAlloc(&p[k], AREA), PTXI_SUCCESS);
        ptxiMemcpyHtoD(p[k], memory[k], AREA);
    }
    ck_assert_int_eq(ptxiLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), PTXI_SUCCESS);
    ptxiMemcpyDtoH(got, p[3], AREA);
    for (unsigned i = 0; i < AREA; i += 4)
        ck_bits32_at(*(uint32_t *)(got + i), *(uint32_t *)(want + i), "m%un%uk%u %s.%s.%s, %s %s %s %s, byte %u", f->m,
                     f->n, f->k, f->d, f->a, f->c,
                     layout(l->a), layout(l->b), layout(l->c), layout(l->d), i);
    for (unsigned k = 0; k < 4; k++)
        ptxiMemFree(p[k]);
    ptxiModuleUnload(module);
}

START_TEST(products)
{
    const struct form *f = &forms[_i];
    bool small = bits_of(f->a) < 8;
    ptxiDevice device;
    ptxiContext context;

    ck_assert_int_eq(ptxiInit(0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiDeviceGet(&device, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxCreate(&context, 0, device), PTXI_SUCCESS);
    for (unsigned k = 0; k < 16; k++) {
        struct layouts l = { k & 1, k >> 1 & 1, k >> 2 & 1, k >> 3, (k & 3) == 3 ? small ? 128 : 16 : 0, k % 5 == 2 };

        if (small && (l.a || !l.b)) /* only A by rows and B by columns */
            l.a = false, l.b = true;
        run(f, &l);
    }
    ptxiCtxDestroy(context);
}
END_TEST

/* The elements of a lane. The loads in the code of ptxas show their order: row, row + 8, then k + 8. The other
 * registers repeat them. */
START_TEST(fragments)
{
    struct ptxi_wmma_shape square = ptxi_wmma_shape(16, 16, 16), flat = ptxi_wmma_shape(8, 32, 16);
    static const struct { char operand; bool flat; uint8_t bits, lane, reg, row, column; } rows[] = {
        { 'a', false, 16, 5, 0, 1, 2 },  { 'a', false, 16, 5, 1, 9, 2 },  { 'a', false, 16, 5, 2, 1, 10 },
        { 'a', false, 16, 5, 7, 9, 10 },
        { 'b', false, 16, 5, 1, 10, 1 }, { 'b', false, 16, 5, 2, 2, 9 },  { 'b', false, 16, 5, 4, 2, 1 },
        { 'c', false, 32, 5, 1, 1, 3 },
        { 'c', false, 32, 5, 2, 9, 2 },  { 'c', false, 32, 5, 4, 1, 10 }, { 'a', true, 16, 5, 1, 1, 10 },
        { 'a', true, 16, 5, 2, 1, 2 },
        { 'b', true, 16, 5, 1, 2, 9 },   { 'b', true, 16, 5, 2, 10, 1 },  { 'b', true, 16, 5, 4, 2, 17 },
        { 'c', true, 32, 5, 1, 3, 1 },
        { 'c', true, 32, 5, 2, 2, 9 },   { 'c', true, 16, 5, 3, 2, 25 },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ptxi_element e = ptxi_wmma_element(rows[i].flat ? flat : square, rows[i].operand, rows[i].bits,
                                                  rows[i].lane, rows[i].reg, 0);

        ck_assert_msg(e.row == rows[i].row && e.column == rows[i].column, "row %u: (%u, %u)", i, e.row, e.column);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wmma");
    TCase *t = tcase_create("products");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, products, 0, FORMS);
    tcase_add_test(t, fragments);
    suite_add_tcase(s, t);
    return run_suite(s);
}
