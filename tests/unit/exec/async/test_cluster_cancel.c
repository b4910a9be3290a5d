/* Clusters take over the work of clusters that have not begun. The work of each CTA must be done exactly once. PTX
 * ISA, "Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel". */
#include "unit/support/kernels.h"

enum { CTAS = 240, SEEDS = 10 };

/* out[ctaid] counts how often the work of a CTA was done, out[CTAS] counts the CTAs that were taken over. The kernel
 * uses each form of query_cancel. */
static void print_kernels(FILE *out)
{
    static const char loop[] =
        "  ld.param.u64 %%o, [p]; mov.u32 %%a, answer; mov.u32 %%b, bar; mov.u32 %%id, %%ctaid.x; mov.u32 %%parity, 0; "
        "mov.u32 %%rank, %%cluster_ctarank; mbarrier.init.shared.b64 [%%b], 1;\n"
        "  fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "WORK: mul.wide.u32 %%w, %%id, 4; add.u64 %%w, %%w, %%o; red.global.add.u32 [%%w], 1; "
        "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%%b], 16;\n"
        "  setp.eq.u32 %%p, %%rank, 0; "
        "@%%p clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes%s.b128 [%%a], [%%b];\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 %%p, [%%b], %%parity; @!%%p bra WAIT; "
        "xor.b32 %%parity, %%parity, 1; ld.shared.b128 %%h, [%%a];\n"
        "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%p, %%h; @!%%p ret; "
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%%id, %%y, %%z, _}, %%h;\n"
        "  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %%x, %%h; setp.ne.u32 %%p, %%x, %%id; "
        "@%%p trap;\n"
        "  clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %%x, %%h; setp.ne.u32 %%p, %%x, %%y; "
        "@%%p trap; setp.ne.u32 %%p, %%y, 0; @%%p trap;\n"
        "  clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %%x, %%h; setp.ne.u32 %%p, %%x, %%z; "
        "@%%p trap; setp.ne.u32 %%p, %%z, 0; @%%p trap;\n"
        "  add.u32 %%id, %%id, %%rank; red.global.add.u32 [%%o+960], 1; "
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n"
        "  barrier.cluster.arrive.relaxed; barrier.cluster.wait; "
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; bra WORK; }\n";
    static const char head[] = " { .reg .b64 %%o, %%w; .reg .b32 %%a, %%b, %%id, %%x, %%y, %%z, %%parity, %%rank; "
                               ".reg .b128 %%h; .reg .pred %%p; .shared .b128 answer; .shared .b64 bar;\n";

    fprintf(out, ".visible .entry alone(.param .u64 p)");
    fprintf(out, head);
    fprintf(out, loop, "");
    fprintf(out, ".visible .entry together(.param .u64 p) .reqnctapercluster 4");
    fprintf(out, head);
    fprintf(out, loop, ".multicast::cluster::all");
}

static void set_up(void)
{
    load_kernels("8.8", "sm_100a", print_kernels);
}

START_TEST(all_work_is_done_exactly_once)
{
    const char *name = _i ? "together" : "alone";
    uint32_t got[CTAS + 1], taken = 0;
    ptxiDevicePtr p;
    void *params[] = { &p };

    ok(ptxiMemAlloc(&p, sizeof got));
    for (unsigned seed = 0; seed <= SEEDS; seed++) {
        ok(ptxiCtxSetSchedule(NULL, seed));
        ok(ptxiMemsetD32(p, 0, CTAS + 1));
        ok(launch_grid(name, CTAS, 1, params));
        ok(ptxiMemcpyDtoH(got, p, sizeof got));
        for (int k = 0; k < CTAS; k++)
            ck_assert_msg(got[k] == 1, "%s, seed %u: CTA %d is done %u times", name, seed, k, got[k]);
        taken += got[CTAS];
    }
    ck_assert_uint_gt(taken, 0);
    ok(ptxiMemFree(p));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cancel");
    TCase *t = tcase_create("cancel");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, all_work_is_done_exactly_once, 0, 2);
    suite_add_tcase(s, t);
    return run_suite(s);
}
