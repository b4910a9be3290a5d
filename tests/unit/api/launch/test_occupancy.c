/* Tests occupancy queries. */
#include "unit/support/context.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry plain() { ret; }\n"
    ".visible .entry shares() .maxntid 512 { .shared .b8 s[16384]; .reg .u32 %a; mov.u32 %a, s; "
    "st.shared.u32 [%a], %a; ret; }\n";

static size_t shared_bytes(int threads)
{
    return (size_t)threads * 100;
}

START_TEST(occupancy)
{
    ptxiFunction plain, shares;
    ptxiModule module;
    int blocks, min_blocks, size;

    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleGetFunction(&plain, module, "plain"));
    ok(ptxiModuleGetFunction(&shares, module, "shares"));
    ok(ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 256, 0, 0));
    ck_assert_int_eq(blocks, 8); /* 2048 threads */
    ck_result(ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 256, 0, 2),
              PTXI_ERROR_INVALID_VALUE);
    ok(ptxiOccupancyMaxPotentialBlockSize(&min_blocks, &size, plain, NULL, 0, 0));
    ck_assert(size == 1024 && min_blocks == 2 * 132);
    ok(ptxiOccupancyMaxPotentialBlockSize(&min_blocks, &size, plain, NULL, 0, 700));
    ck_assert(size == 512 && min_blocks == 4 * 132); /* all 2048 threads, but with blocks of 672 threads it is 2016 */
    ok(ptxiOccupancyMaxPotentialBlockSizeWithFlags(&min_blocks, &size, shares, NULL, 0, 0, 1));
    ck_assert(size == 512 && min_blocks == 4 * 132);
    /* 228 KiB hold 2334 times 100 bytes, and 1024 threads take 102400 + 1024 bytes twice */
    ok(ptxiOccupancyMaxPotentialBlockSize(&min_blocks, &size, plain, shared_bytes, 0, 0));
    ck_assert(size == 1024 && min_blocks == 2 * 132);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("occupancy");
    TCase *t = tcase_create("occupancy");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, occupancy);
    suite_add_tcase(s, t);
    return run_suite(s);
}
