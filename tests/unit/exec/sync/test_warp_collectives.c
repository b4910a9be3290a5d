/* Tests redux.sync, match.sync and elect.sync with converged lanes, lanes in two arms of a branch, groups selected
 * by masks, and exited lanes. */
#include "unit/support/kernels.h"

#include <math.h>
#include <string.h>

enum { THREADS = 128, WARP = 32 };

static const char *const forms[] = {
    "redux.sync.add.u32", "redux.sync.add.s32", "redux.sync.min.u32", "redux.sync.max.u32", "redux.sync.min.s32",
        "redux.sync.max.s32",
    "redux.sync.and.b32", "redux.sync.or.b32", "redux.sync.xor.b32", "redux.sync.min.f32", "redux.sync.max.f32",
    "redux.sync.min.NaN.f32",
    "redux.sync.max.NaN.f32", "redux.sync.min.abs.f32", "redux.sync.max.abs.f32", "redux.sync.min.abs.NaN.f32",
    "redux.sync.max.abs.NaN.f32",
    "match.any.sync.b32", "match.any.sync.b64", "match.all.sync.b32", "match.all.sync.b64", "elect.sync",
};
enum { FORMS = sizeof forms / sizeof *forms };

struct lane {
    uint64_t value;
    uint32_t mask, exits; /* the lane exits before */
};

static bool has_word(const char *form, const char *word)
{
    return strstr(form, word);
}

/* --- the reference --- */
static float f32(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof f);
    return f;
}

/* True if min or max prefers x to y. */
static bool is_preferred(const char *form, uint32_t x, uint32_t y)
{
    bool less;

    if (has_word(form, "f32"))
        less = f32(x) < f32(y) || (f32(x) == f32(y) && x >> 31 && !(y >> 31));
    else
        less = has_word(form, "s32") ? (int32_t)x < (int32_t)y : x < y;
    return less == !!has_word(form, "min");
}

static uint32_t reduced(const char *form, const struct lane *warp, uint32_t group)
{
    uint32_t r = has_word(form, "and") ? UINT32_MAX : 0, chosen = 0;

    for (int l = 0; l < WARP; l++) {
        uint32_t x = (uint32_t)warp[l].value;

        if (!(group >> l & 1))
            continue;
        if (has_word(form, "f32")) {
            x &= has_word(form, "abs") ? 0x7fffffff : UINT32_MAX;
            if (isnan(f32(x)) && has_word(form, "NaN"))
                return 0x7fffffff;
            if (isnan(f32(x)))
                continue;
        }
        if (has_word(form, "add"))
            r += x;
        else if (has_word(form, ".and"))
            r &= x;
        else if (has_word(form, ".or"))
            r |= x;
        else if (has_word(form, "xor"))
            r ^= x;
        else if (!chosen++ || is_preferred(form, x, r))
            r = x;
    }
    return has_word(form, "f32") && !chosen ? 0x7fffffff : r;
}

static uint32_t equals(const char *form, const struct lane *warp, uint32_t group, int lane)
{
    uint64_t value_mask = has_word(form, "b64") ? UINT64_MAX : UINT32_MAX;
    uint32_t same = 0;

    for (int l = 0; l < WARP; l++)
        same |= (uint32_t)(group >> l & 1 && !((warp[l].value ^ warp[lane].value) & value_mask)) << l;
    return same;
}

/* d in the low half, p in bit 32. */
static uint64_t expected(const char *form, const struct lane *warp, int lane)
{
    uint32_t group = 0, same;

    for (int l = 0; l < WARP; l++)
        group |= (uint32_t)(!warp[l].exits) << l;
    group &= warp[lane].mask;
    if (has_word(form, "redux"))
        return reduced(form, warp, group);
    if (has_word(form, "elect"))
        return (uint64_t)(__builtin_ctz(group) == lane) << 32 | (uint32_t)__builtin_ctz(group);
    same = equals(form, warp, group, lane);
    if (has_word(form, "any"))
        return same;
    return same == group ? (uint64_t)1 << 32 | group : 0;
}

/* --- kernels: k<form> has the instruction once, x<form> has it in two arms --- */
static void print_instruction(FILE *out, const char *form)
{
    const char *a = has_word(form, "b64") ? "%w" : "%a";

    if (has_word(form, "redux") || has_word(form, "any"))
        fprintf(out, "  %s %%d, %s, %%m;\n", form, a);
    else if (has_word(form, "elect"))
        fprintf(out, "  %s %%d|%%p, %%m;\n", form);
    else
        fprintf(out, "  %s %%d|%%p, %s, %%m;\n", form, a);
}

static void print_kernel(FILE *out, int k, bool two_arms)
{
    fprintf(out, ".visible .entry %c%d(.param .u64 in, .param .u64 out) { .reg .b32 %%a, %%m, %%d, %%t, %%e; "
                 ".reg .b64 %%w, %%i, %%o; .reg .pred %%p, %%q;\n"
                 "  ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; "
                 "mad.wide.u32 %%i, %%t, 16, %%i; mad.wide.u32 %%o, %%t, 8, %%o;\n"
                 "  ld.global.b64 %%w, [%%i]; cvt.u32.u64 %%a, %%w; ld.global.b32 %%m, [%%i+8]; "
                 "ld.global.b32 %%e, [%%i+12];\n"
                 "  setp.ne.u32 %%q, %%e, 0; @%%q exit; setp.ne.u32 %%p, 0, 0; and.b32 %%t, %%t, 1; "
                 "setp.eq.u32 %%q, %%t, 1;\n", two_arms ? 'x' : 'k', k);
    if (two_arms)
        fprintf(out, "  @%%q bra ODD;\n");
    print_instruction(out, forms[k]);
    if (two_arms) {
        fprintf(out, "  bra.uni END;\nODD: add.u32 %%t, %%t, 1;\n");
        print_instruction(out, forms[k]);
        fprintf(out, "END:\n");
    }
    fprintf(out, "  selp.u32 %%a, 1, 0, %%p; mov.b64 %%w, {%%d, %%a}; st.global.b64 [%%o], %%w; ret; }\n");
}

/* --- running --- */
static ptxiDevicePtr from, to;

static void print_kernels(FILE *out)
{
    for (int k = 0; k < FORMS; k++) {
        print_kernel(out, k, false);
        print_kernel(out, k, true);
    }
}

static void set_up(void)
{
    load_kernels("8.6", "sm_100a", print_kernels);
    ck_assert_int_eq(ptxiMemAlloc(&from, THREADS * sizeof(struct lane)) | ptxiMemAlloc(&to, THREADS * 8), PTXI_SUCCESS);
}

/* Fills in values, some of them equal, in one to three groups. */
static void make_lanes(struct lane *lanes, int round)
{
    static const uint32_t floats[] = { 0, 0x80000000, 0x3f800000, 0xbf800000, 0x7fc00000, 0xff812345, 0x7f800000,
                                       0xff800000, 1, 0x80000001 };
    uint32_t values = 1 + random_below(4), groups = 1 + random_below(3);

    for (int w = 0; w < THREADS; w += WARP) {
        uint32_t masks[3] = { 0 }, group[WARP];

        for (int l = 0; l < WARP; l++)
            masks[group[l] = random_below(groups)] |= 1u << l;
        for (int l = 0; l < WARP; l++) {
            struct lane *x = &lanes[w + l];

            x->value = round % 3 == 0 ? random_below(values) * 0x80000001ull : round % 3 == 1 ? floats[random_below(10)]
                : (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
            x->value |= (uint64_t)random_below(values) << 40;
            x->mask = masks[group[l]];
            x->exits = round % 4 == 3 && random_below(5) == 0;
        }
    }
}

static void run(char kind, int k, const struct lane *lanes)
{
    uint64_t out[THREADS];
    void *params[] = { &from, &to };
    char name[16];

    snprintf(name, sizeof name, "%c%d", kind, k);
    ck_assert_int_eq(ptxiMemcpyHtoD(from, lanes, THREADS * sizeof *lanes), PTXI_SUCCESS);
    ok(launch(name, THREADS, params));
    ck_assert_int_eq(ptxiMemcpyDtoH(out, to, sizeof out), PTXI_SUCCESS);
    for (int t = 0; t < THREADS; t++)
        if (!lanes[t].exits)
            ck_bits64_at(out[t], expected(forms[k], lanes + t / WARP * WARP, t % WARP), "%s in %s, thread %d, mask %#x",
                         forms[k], name, t, lanes[t].mask);
}

START_TEST(results_match_the_reference)
{
    struct lane lanes[THREADS];

    for (int round = 0; round < 24; round++) {
        make_lanes(lanes, round);
        run('k', _i, lanes);
        run('x', _i, lanes);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("collective");
    TCase *t = tcase_create("forms");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, results_match_the_reference, 0, FORMS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
