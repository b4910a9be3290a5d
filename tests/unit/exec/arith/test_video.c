/* Tests random forms of the video instructions, from their text to their results, at each CPU level of this host.
 *
 * The reference follows the pseudocode of PTX ISA, "Video Instructions", for one lane and from the spelling of the
 * form. doc/explanation/numerics.md, "Video instructions", lists the exceptions. */
#include "unit/support/bits.h"

#include "base/cpu.h"
#include "ptxi.h"

#include <string.h>

enum { FORMS = 120, THREADS = 96, OLD_VALUE = 0x5a5a5a5a };
enum second { NO_SECOND, ADD, MIN, MAX };

/* The scalar operations, then those that also have forms for pairs and quads. All but the first three have the
 * suffixes 2 and 4. */
static const char *const names[] = { "vshl", "vshr", "vmad", "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset",
                                     "vavrg" };
enum op { VSHL, VSHR, VMAD, VADD, VSUB, VABSDIFF, VMIN, VMAX, VSET, VAVRG, OPS };
static const char *const comparisons[] = { "eq", "ne", "lt", "le", "gt", "ge" };
static const char *const seconds[] = { "", ".add", ".min", ".max" };

struct form {
    enum op op;
    unsigned count; /* number of elements */
    bool d_signed, a_signed, b_signed, sat, wrap, plus_one, minus_a, minus_b, minus_c, merges, guarded, in_place;
    enum second second;
    unsigned comparison, scale;
    char d[8], a[8], b[8]; /* selectors as spelled in the form */
};

static uint32_t random_below(uint32_t below)
{
    return (uint32_t)(random64() >> 32) % below;
}

/* --- forms --- */

/* Prints a part selector, a permutation of `count` elements, or nothing. */
static void choose_selector(char *s, unsigned count)
{
    *s = 0;
    if (random_below(3) == 0)
        return;
    if (count == 1) {
        bool half = random_below(2);

        sprintf(s, ".%c%u", half ? 'h' : 'b', random_below(half ? 2 : 4));
        return;
    }
    s += sprintf(s, count == 2 ? ".h" : ".b");
    for (unsigned i = 0; i < count; i++)
        s += sprintf(s, "%u", random_below(2 * count));
}

static void choose_mask(char *s, unsigned count)
{
    unsigned mask = random_below(1 << count);

    *s = 0;
    if (!mask)
        return;
    s += sprintf(s, count == 2 ? ".h" : ".b");
    for (unsigned i = count; i-- > 0;)
        if (mask >> i & 1)
            s += sprintf(s, "%u", i);
}

static struct form random_form(enum op op, unsigned count)
{
    struct form f = { .op = op,
                      .count = count,
                      .d_signed = random_below(2),
                      .a_signed = random_below(2),
                      .b_signed = random_below(2),
                      .guarded = random_below(2),
                      .in_place = random_below(4) == 0,
                      .comparison = random_below(6),
                      .wrap = random_below(2) };

    choose_selector(f.a, count);
    choose_selector(f.b, count);
    f.sat = op != VSET && random_below(2);
    if (op == VSHL || op == VSHR)
        f.b_signed = false;
    if (op == VSET)
        f.d_signed = f.a_signed;
    if (count > 1) {
        choose_mask(f.d, count);
        f.second = !f.sat && random_below(2) ? ADD : NO_SECOND;
    } else if (op == VMAD) {
        f.scale = (const unsigned[]){ 0, 7, 15 }[random_below(3)];
        f.plus_one = random_below(3) == 0;
        f.minus_a = !f.plus_one && random_below(3) == 0;
        f.minus_b = !f.plus_one && random_below(3) == 0;
        f.minus_c = !f.plus_one && f.minus_a == f.minus_b && random_below(2);
    } else if (random_below(2)) {
        f.second = random_below(4);
    } else {
        choose_selector(f.d, 1);
        f.merges = true;
    }
    return f;
}

static void spell(FILE *out, const struct form *f)
{
    bool c = f->count > 1 || f->op == VMAD || f->second || f->merges;

    fprintf(out, "%s", names[f->op]);
    if (f->count > 1)
        fprintf(out, "%u", f->count);
    if (f->op != VSET)
        fprintf(out, f->d_signed ? ".s32" : ".u32");
    fprintf(out, "%s%s", f->a_signed ? ".s32" : ".u32", f->b_signed ? ".s32" : ".u32");
    fprintf(out, "%s%s", f->plus_one ? ".po" : "", f->sat ? ".sat" : "");
    if (f->scale)
        fprintf(out, ".shr%u", f->scale);
    if (f->op == VSHL || f->op == VSHR)
        fprintf(out, f->wrap ? ".wrap" : ".clamp");
    if (f->op == VSET)
        fprintf(out, ".%s", comparisons[f->comparison]);
    fprintf(out, "%s %s%s, %s%%a%s, %s%%b%s", seconds[f->second], f->in_place ? "%a" : "%d", f->d,
            f->minus_a ? "-" : "", f->a, f->minus_b ? "-" : "", f->b);
    fprintf(out, c ? ", %s%%c;" : ";", f->minus_c ? "-" : "");
}

static char *module_text(const struct form *forms)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int k = 0; k < FORMS; k++) {
        fprintf(out, ".visible .entry k%d(.param .u64 in, .param .u64 out) { .reg .b32 %%a, %%b, %%c, %%d, %%t; "
                     ".reg .b64 %%i, %%o; .reg .pred %%p;\n"
                     "  ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; "
                     "mad.wide.u32 %%i, %%t, 12, %%i;\n"
                     "  mad.wide.u32 %%o, %%t, 4, %%o; ld.global.u32 %%a, [%%i]; ld.global.u32 %%b, [%%i+4]; "
                     "ld.global.u32 %%c, [%%i+8];\n"
                     "  rem.u32 %%t, %%t, 3; setp.ne.u32 %%p, %%t, 0; mov.b32 %%d, %d;\n  %s", k, OLD_VALUE,
                     forms[k].guarded ? "@%p " : "");
        spell(out, &forms[k]);
        fprintf(out, "\n  st.global.u32 [%%o], %s; ret; }\n", forms[k].in_place ? "%a" : "%d");
    }
    fclose(out);
    return text;
}

/* --- the reference --- */

static int64_t extended(uint32_t v, unsigned bits, bool is_signed)
{
    int64_t x = v & (UINT32_MAX >> (32 - bits));

    return is_signed && x >> (bits - 1) ? x - ((int64_t)1 << bits) : x;
}

/* partSelectSignExtend() */
static int64_t extract_part(uint32_t v, const char *selector, bool is_signed)
{
    unsigned bits = !*selector ? 32 : selector[1] == 'b' ? 8 : 16;

    return extended(*selector ? v >> bits * (unsigned)(selector[2] - '0') : v, bits, is_signed);
}

static int64_t clamped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static bool compare(unsigned comparison, int64_t x, int64_t y)
{
    return (bool[]){ x == y, x != y, x < y, x <= y, x > y, x >= y }[comparison];
}

static int64_t primary(const struct form *f, int64_t x, int64_t y)
{
    int64_t count = f->wrap ? y & 31 : clamped(y, 0, 32);

    switch (f->op) {
    case VADD: return x + y;
    case VSUB: return x - y;
    case VABSDIFF: return llabs(x - y);
    case VMIN: return x < y ? x : y;
    case VMAX: return x < y ? y : x;
    case VSET: return compare(f->comparison, x, y);
    case VAVRG: return x + y >= 0 ? (x + y + 1) / 2 : (x + y - ((x + y) & 1)) / 2;
    case VSHL: return (int64_t)((unsigned __int128)(__int128)x << count);
    default: return x >> count;
    }
}

static uint32_t expected_vmad(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    bool minus = f->minus_a != f->minus_b, is_signed = f->a_signed || f->b_signed || minus || f->minus_c;
    __int128 product =
        (__int128)(int32_t)extract_part(a, f->a, f->a_signed) * (int32_t)extract_part(b, f->b, f->b_signed);
    __int128 t = (minus ? -product : product) + (f->minus_c ? -(__int128)(int32_t)c : (int32_t)c) + f->plus_one;

    if (!is_signed && f->scale)
        t = (uint64_t)t;
    t >>= f->scale;
    if (f->sat)
        t = is_signed ? clamped((int64_t)t, INT32_MIN, INT32_MAX) : t > UINT32_MAX ? UINT32_MAX : t < 0 ? 0 : t;
    return (uint32_t)t;
}

/* optSaturate() */
static int64_t saturated(const struct form *f, int64_t t)
{
    bool shift = f->op == VSHL || f->op == VSHR;
    int64_t most = f->d_signed ? INT32_MAX : UINT32_MAX;

    if (shift)
        return clamped((int64_t)((uint64_t)t << 30) >> 30, f->d_signed ? INT32_MIN : 0, most);
    if (*f->d) {
        most >>= f->d[1] == 'b' ? 24 : 16;
        return t < 0 ? most : clamped(t, 0, most);
    }
    return f->d_signed ? clamped(t, INT32_MIN, INT32_MAX) : t < 0 ? 0 : t;
}

/* optSecOp() */
static uint32_t combined(const struct form *f, int64_t t, uint32_t c)
{
    bool first;

    if (f->second == NO_SECOND)
        return (uint32_t)t;
    if (f->second == ADD)
        return (uint32_t)t + c;
    if (f->op == VADD || f->op == VSUB || (f->op <= VSHR && f->sat))
        t = (int32_t)t;
    first = f->d_signed ? t < (int32_t)c : (uint64_t)t < c;
    return first == (f->second == MIN) ? (uint32_t)t : c;
}

/* optMerge() */
static uint32_t merge_part(const char *selector, uint32_t t, uint32_t c)
{
    uint32_t mask = selector[1] == 'b' ? 0xff : 0xffff, at = (mask == 0xff ? 8 : 16) * (uint32_t)(selector[2] - '0');

    return (!strcmp(selector, ".h1") ? t & 0xffff0000 : (t & mask) << at) | (c & ~(mask << at));
}

static uint32_t expected_scalar(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t t = primary(f, extract_part(a, f->a, f->a_signed), extract_part(b, f->b, f->b_signed));
    uint32_t r;

    if (f->sat)
        t = saturated(f, t);
    r = combined(f, t, c);
    return *f->d ? merge_part(f->d, r, c) : r;
}

/* Element i of b:a as the selector, or without one the digits, say. */
static int64_t element(const struct form *f, uint64_t sources, const char *selector, const char *digits, unsigned i,
                       bool is_signed)
{
    unsigned bits = 32 / f->count, digit = (unsigned)((*selector ? selector + 2 : digits)[f->count - 1 - i] - '0');

    return extended((uint32_t)(sources >> bits * digit), bits, is_signed);
}

static uint32_t expected_simd(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t sources = (uint64_t)b << 32 | a;
    unsigned bits = 32 / f->count;
    uint32_t sum = c, r = c;

    for (unsigned i = 0; i < f->count; i++) {
        int64_t x = element(f, sources, f->a, f->count == 2 ? "10" : "3210", i, f->a_signed);
        int64_t t = primary(f, x, element(f, sources, f->b, f->count == 2 ? "32" : "7654", i, f->b_signed)),
            top = (int64_t)1 << (bits - f->d_signed);
        uint32_t mask = UINT32_MAX >> (32 - bits) << bits * i;

        if (*f->d && !strchr(f->d + 2, '0' + (char)i))
            continue;
        if (f->sat)
            t = clamped(t, f->d_signed ? -top : 0, top - 1);
        sum += (uint32_t)t;
        r = (r & ~mask) | ((uint32_t)t << bits * i & mask);
    }
    return f->second ? sum : r;
}

static uint32_t expected(const struct form *f, const uint32_t *in, int thread)
{
    if (f->guarded && thread % 3 == 0)
        return f->in_place ? in[0] : OLD_VALUE;
    if (f->op == VMAD)
        return expected_vmad(f, in[0], in[1], in[2]);
    return (f->count > 1 ? expected_simd : expected_scalar)(f, in[0], in[1], in[2]);
}

/* --- running --- */

static uint32_t operand(void)
{
    static const uint32_t specials[] = { 0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
                                         0x80000000, 0x80000001, 0xffffffff,
                                         0xffff8000, 0x80808080, 0x7f7f7f7f, 0x80007fff };

    return random_below(2)   ? specials[random_below(sizeof specials / sizeof *specials)]
           : random_below(2) ? random_below(UINT32_MAX) >> random_below(32)
                             : random_below(UINT32_MAX);
}

static void check_form(const struct form *f, const uint32_t (*in)[3], const uint32_t *out)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);

    spell(o, f);
    fclose(o);
    for (int t = 0; t < THREADS; t++)
        ck_bits32_at(out[t], expected(f, in[t], t), "%s%s a %#x b %#x c %#x", f->guarded ? "@p " : "", text, in[t][0],
                     in[t][1], in[t][2]);
    free(text);
}

static void run_forms(const struct form *forms)
{
    uint32_t in[THREADS][3], out[THREADS];
    char *text = module_text(forms);
    ptxiContext ctx;
    ptxiModule module;
    ptxiDevicePtr from, to;
    void *params[] = { &from, &to };

    ck_assert_int_eq(ptxiInit(0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxCreate(&ctx, 0, 0), PTXI_SUCCESS);
    ck_assert_msg(ptxiModuleLoadData(&module, text) == PTXI_SUCCESS, "does not load: %s", text);
    ck_assert_int_eq(ptxiMemAlloc(&from, sizeof in) | ptxiMemAlloc(&to, sizeof out), PTXI_SUCCESS);
    for (int k = 0; k < FORMS; k++) {
        ptxiFunction function;
        char name[16];

        for (int t = 0; t < THREADS; t++)
            for (int n = 0; n < 3; n++)
                in[t][n] = operand();
        snprintf(name, sizeof name, "k%d", k);
        ck_assert_int_eq(ptxiModuleGetFunction(&function, module, name), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyHtoD(from, in, sizeof in), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(out, to, sizeof out), PTXI_SUCCESS);
        check_form(&forms[k], (const uint32_t(*)[3])in, out);
    }
    ck_assert_int_eq(ptxiCtxDestroy(ctx), PTXI_SUCCESS);
    free(text);
}

enum { SCALAR_CASES = VAVRG, SIMD_CASES = OPS - VADD, CASES = SCALAR_CASES + 2 * SIMD_CASES };

START_TEST(forms_agree)
{
    int level = _i / CASES, n = _i % CASES;
    bool scalar = n < SCALAR_CASES;
    static struct form forms[FORMS];

    if (!getenv("PTXI_CPU"))
        setenv("PTXI_CPU", ptxi_cpu_level_name((enum ptxi_cpu_level)level), 1);
    random_state += (uint64_t)_i;
    for (int k = 0; k < FORMS; k++)
        forms[k] =
            scalar ? random_form((enum op)n, 1) : random_form((enum op)(VADD + (n - SCALAR_CASES) / 2), n % 2 ? 2 : 4);
    run_forms(forms);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("video");
    TCase *t = tcase_create("forms");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, forms_agree, 0, CASES * ((int)ptxi_cpu_level_host() + 1));
    suite_add_tcase(s, t);
    return run_suite(s);
}
