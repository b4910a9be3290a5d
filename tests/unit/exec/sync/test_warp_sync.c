/* Tests shfl.sync, vote.sync and bar.warp.sync with lanes that arrive from several places at different times, in
 * groups that their masks select. Some lanes have exited. Different groups must not wait for each other.
 * (test_warp_collectives.c tests redux, match and elect.) */
#include "unit/support/kernels.h"
#include "unit/support/test_file.h"

#include <string.h>

enum { THREADS = 64, WARP = 32, ARMS = 3 };

static const char *const forms[] = {
    "shfl.sync.up.b32", "shfl.sync.down.b32", "shfl.sync.bfly.b32", "shfl.sync.idx.b32",
    "vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred", "vote.sync.ballot.b32",
};
enum { FORMS = sizeof forms / sizeof *forms, SHFLS = 4, BALLOT = 7 };

struct lane {
    uint32_t value, mask, arm, delay, exits, b, c, unused;
};

/* --- the reference: result in the low half, predicate in bit 32 --- */
static const uint64_t any_result = UINT64_C(1) << 63; /* any result is accepted */

/* PTX ISA, "shfl.sync": values of lanes that are not in the mask or have exited are undefined. Exited lanes give 0
 * on an H200. */
static uint64_t shuffled(int k, const struct lane *warp, int lane, uint32_t present)
{
    int b = (int)warp[lane].b % 32, clamp = (int)warp[lane].c % 32, segment = (int)(warp[lane].c >> 8) % 32;
    int most = (lane & segment) | (clamp & ~segment & 31), from;
    bool in;

    switch (k) {
    case 0: from = lane - b; in = from >= most; break;
    case 1: from = lane + b; in = from <= most; break;
    case 2: from = lane ^ b; in = from <= most; break;
    default: from = (lane & segment) | (b & ~segment & 31); in = from <= most;
    }
    if (!in)
        return warp[lane].value;
    return (uint64_t)1 << 32 | (present >> from & 1 ? warp[from].value : warp[from].exits ? 0 : any_result);
}

static uint64_t expected(int k, const struct lane *warp, int lane)
{
    uint32_t present = 0, votes = 0, group;

    for (int l = 0; l < WARP; l++) {
        present |= (uint32_t)!warp[l].exits << l;
        votes |= (warp[l].value & 1) << l;
    }
    if (k < SHFLS)
        return shuffled(k, warp, lane, present & warp[lane].mask);
    group = present & warp[lane].mask;
    switch (k) {
    case 4: return (uint64_t)((group & votes) == group) << 32;
    case 5: return (uint64_t)!!(group & votes) << 32;
    case 6: return (uint64_t)((group & votes) == group || !(group & votes)) << 32;
    default: return group & votes;
    }
}

/* --- kernels --- */

static void print_instruction(FILE *out, int k)
{
    if (k < SHFLS)
        fprintf(out, "%s %%d|%%p, %%v, %%b, %%c, %%m;", forms[k]);
    else
        fprintf(out, "%s %s, %%q, %%m;", forms[k], k == BALLOT ? "%d" : "%p");
}

/* Each lane branches to its arm, delays there as its data says, and executes the operation. */
static void print_kernel(FILE *out, int k)
{
    fprintf(out, ".visible .entry k%d(.param .u64 in, .param .u64 out) { .reg .b32 %%v, %%m, %%a, %%t, %%e, %%b, %%c, "
                 "%%d; .reg .b64 %%i, %%o, %%w; .reg .pred %%p, %%q;\n"
                 "  ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%d, %%tid.x; "
                 "mad.wide.u32 %%i, %%d, 32, %%i; mad.wide.u32 %%o, %%d, 8, %%o;\n"
                 "  ld.global.v4.b32 {%%v, %%m, %%a, %%t}, [%%i]; ld.global.v4.b32 {%%e, %%b, %%c, _}, [%%i+16]; "
                 "mov.u32 %%d, 0; setp.ne.u32 %%p, 0, 0;\n"
                 "  setp.ne.u32 %%q, %%e, 0; @%%q exit; T: .branchtargets A0, A1, A2; brx.idx %%a, T;\n", k);
    for (int arm = 0; arm < ARMS; arm++) {
        fprintf(out, "A%d: setp.eq.u32 %%q, %%t, 0; @%%q bra B%d; sub.u32 %%t, %%t, 1; nanosleep.u32 %d; bra A%d;\n"
                     "B%d: and.b32 %%e, %%v, 1; setp.ne.u32 %%q, %%e, 0; ", arm, arm, arm, arm, arm);
        print_instruction(out, k);
        fprintf(out, " bra END;\n");
    }
    fprintf(out, "END: selp.u32 %%e, 1, 0, %%p; mov.b64 %%w, {%%d, %%e}; st.global.b64 [%%o], %%w; ret; }\n");
}

static ptxiDevicePtr from, to;

static void print_kernels(FILE *out)
{
    fputs(test_file("exec/sync/warp_sync.ptx"), out);
    for (int k = 0; k < FORMS; k++)
        print_kernel(out, k);
}

static void set_up(void)
{
    load_kernels("8.0", "sm_90", print_kernels);
    ck_assert_int_eq(ptxiMemAlloc(&from, THREADS * sizeof(struct lane)) | ptxiMemAlloc(&to, THREADS * 8), PTXI_SUCCESS);
}

/* Fills in one to four groups. Masks may name lanes that exit. */
static void make_lanes(struct lane *lanes, int round)
{
    static const uint32_t clamps[] = { 31, 0, 0x1f, 0x181f, 0x1007, 0x1c03, 0x1f00 };
    uint32_t groups = 1 + random_below(4), votes = random_below(3);

    for (int w = 0; w < THREADS; w += WARP) {
        uint32_t masks[4] = { 0 }, group[WARP];

        for (int l = 0; l < WARP; l++)
            masks[group[l] = random_below(groups)] |= 1u << l;
        for (int l = 0; l < WARP; l++)
            lanes[w + l] =
                (struct lane){ .value = random_below(UINT32_MAX) * 2 + (votes == 2 ? random_below(2) : votes),
                               .mask = masks[group[l]],
                               .arm = random_below(round % ARMS + 1),
                               .delay = random_below(round % 5 + 1),
                               .exits = round % 4 == 3 && random_below(5) == 0,
                               .b = random_below(32),
                               .c = clamps[random_below(7)] };
    }
}

START_TEST(groups_synchronize)
{
    struct lane lanes[THREADS];
    uint64_t out[THREADS];
    void *params[] = { &from, &to };
    char name[16];

    snprintf(name, sizeof name, "k%d", _i);
    for (int round = 0; round < 60; round++) {
        make_lanes(lanes, round);
        ck_assert_int_eq(ptxiMemcpyHtoD(from, lanes, sizeof lanes), PTXI_SUCCESS);
        ck_assert_int_eq(launch(name, THREADS, params), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(out, to, sizeof out), PTXI_SUCCESS);
        for (int t = 0; t < THREADS; t++) {
            uint64_t want = expected(_i, lanes + t / WARP * WARP, t % WARP);

            if (want & any_result)
                out[t] = (out[t] & ~(uint64_t)UINT32_MAX) | any_result;
            if (!lanes[t].exits)
                ck_bits64_at(out[t], want, "%s, round %d, thread %d, mask %#x", forms[_i], round, t, lanes[t].mask);
        }
    }
}
END_TEST

static void check_words(const char *name, uint32_t (*want)(uint32_t thread))
{
    uint64_t out[THREADS];
    void *params[] = { &to };

    ck_assert_int_eq(launch(name, WARP, params), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemcpyDtoH(out, to, sizeof out), PTXI_SUCCESS);
    for (uint32_t t = 0; t < WARP; t++)
        ck_bits32_at((uint32_t)out[t], want(t), "%s, thread %u", name, t);
}

static uint32_t own_half(uint32_t t)
{
    return t < 16 ? 0x0000ffff : 0xffff0000;
}

static uint32_t neighbour(uint32_t t)
{
    return t ^ 1;
}

static uint32_t own_arm(uint32_t t)
{
    return t % 4 ? 0xeeeeeeee : 0x11111111;
}

START_TEST(groups_do_not_wait_for_each_other)
{
    check_words("crossed", own_half);
    check_words("ordered", neighbour);
    check_words("active", own_arm);
}
END_TEST

START_TEST(waiting_for_exited_lanes_is_an_error)
{
    ck_assert_int_eq(launch("apart", WARP, NULL), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(launch("absent", WARP, NULL), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(ptxiCtxSynchronize(), PTXI_SUCCESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("meet");
    TCase *t = tcase_create("warps");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, groups_synchronize, 0, FORMS);
    tcase_add_test(t, groups_do_not_wait_for_each_other);
    tcase_add_test(t, waiting_for_exited_lanes_is_an_error);
    suite_add_tcase(s, t);
    return run_suite(s);
}
