/* Tests the counters of accesses to shared memory: requests, wavefronts and bank conflicts. */
#include "unit/support/kernels.h"

#include <string.h>

/* Lane l accesses stride * l, if l < lanes. */
static const struct row {
    /* the instruction; %a is the address in shared memory, %g the generic address, %y an address in global memory,
     * %x the address for odd lanes */
    const char *form;
    unsigned stride, lanes, requests, wavefronts, conflicts;
    const char *reason;
} rows[] = {
    { "ld.shared.b32 %r0, [%a];", 4, 32, 1, 1, 0, "a word in each bank" },
    { "ld.shared.b32 %r0, [%a+8];", 0, 32, 1, 1, 0, "one word is given to all at once" },
    { "ld.shared.b32 %r0, [%a];", 8, 32, 1, 2, 1, "two words a bank" },
    { "ld.shared.b32 %r0, [%a];", 12, 32, 1, 1, 0, "odd strides meet all banks" },
    { "ld.shared.b32 %r0, [%a];", 128, 32, 1, 32, 31, "all in one bank" },
    { "ld.shared.b32 %r0, [%a];", 128, 5, 1, 5, 4, "five lanes in one bank" },
    { "ld.shared.b32 %r0, [%a];", 4, 0, 0, 0, 0, "nobody" },
    { "ld.shared.u8 %h0, [%a];", 1, 32, 1, 1, 0, "four lanes a word" },
    { "ld.shared.u8 %h0, [%a];", 128, 32, 1, 32, 31, "one byte a word, one bank" },
    { "ld.shared.b16 %h0, [%a];", 2, 32, 1, 1, 0, "two lanes a word" },
    { "ld.shared.v2.b16 {%h0, %h1}, [%a];", 4, 32, 1, 1, 0, "vectors count by their bytes" },
    { "ld.shared.b64 %w0, [%a];", 8, 32, 1, 2, 0, "half a warp at a time" },
    { "ld.shared.b64 %w0, [%a];", 0, 32, 1, 2, 0, "the halves are apart" },
    { "ld.shared.b64 %w0, [%a];", 8, 16, 1, 1, 0, "one half only" },
    { "ld.shared.b64 %w0, [%a];", 16, 32, 1, 4, 2, "two words a bank in each half" },
    { "ld.shared.v2.b32 {%r0, %r1}, [%a];", 8, 32, 1, 2, 0, "the same as a vector" },
    { "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%a];", 16, 32, 1, 4, 0, "a quarter at a time" },
    { "ld.shared.v2.b64 {%w0, %w1}, [%a];", 32, 32, 1, 8, 4, "two words a bank in each quarter" },
    { "ld.shared.v2.b64 {%w0, %w1}, [%a];", 16, 9, 1, 2, 0, "a quarter and a lane" },
    { "st.shared.b32 [%a], %r0;", 8, 32, 1, 2, 1, "stores are like loads" },
    { "st.shared.b32 [%a], %r0;", 0, 32, 1, 1, 0, "one of them wins" },
    { "st.shared.b8 [%a], %h0;", 1, 32, 1, 1, 0, "bytes of one word" },
    { "st.shared.v4.b32 [%a], {%r0, %r1, %r2, %r3};", 16, 32, 1, 4, 0, "a quarter at a time" },
    { "atom.shared.add.u32 %r0, [%a], 1;", 4, 32, 1, 1, 0, "each its own bank" },
    { "atom.shared.add.u32 %r0, [%a], 1;", 0, 32, 1, 32, 31, "turns at one word" },
    { "red.shared.add.u32 [%a], 1;", 0, 3, 1, 3, 2, "turns without a result" },
    { "atom.shared.exch.b64 %w0, [%a], %w1;", 0, 32, 1, 32, 30, "turns in each half" },
    { "ld.b32 %r0, [%g];", 8, 32, 1, 2, 1, "generic addresses" },
    { "ld.b32 %r0, [%x];", 128, 32, 1, 16, 15, "of which half lead elsewhere" },
    { "atom.add.u32 %r0, [%x], 1;", 0, 32, 1, 16, 15, "of which half lead elsewhere" },
    { "ld.global.b32 %r0, [%y];", 4, 32, 0, 0, 0, "global memory" },
    { "ld.b32 %r0, [%y];", 4, 32, 0, 0, 0, "global memory by generic addresses" },
    { "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a+32];", 16, 32, 1, 4, 0,
      "rows one after the other" },
    { "ldmatrix.sync.aligned.m8n8.x2.b16 {%r0, %r1}, [%g];", 32, 32, 1, 4, 2, "every other row" },
    { "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%a];", 128, 32, 1, 8, 7, "a column of rows" },
    { "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];", 0, 32, 1, 4, 0, "one row for all" },
    { "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%r0, %r1, %r2, %r3};", 144, 32, 1, 4, 0, "rows with a gap" },
};
enum { ROWS = sizeof rows / sizeof *rows };

static ptxiDevicePtr global;

static void print_kernel(FILE *out, unsigned k)
{
    const struct row *r = &rows[k];
    bool is_matrix = strstr(r->form, "matrix");

    fprintf(out, ".visible .entry k%u(.param .u64 global) { .shared .align 16 .b8 tile[8192]; .reg .b16 %%h<2>; "
                 ".reg .b32 %%r<4>, %%a, %%b, %%t;\n"
                 "  .reg .b64 %%w<2>, %%g, %%x, %%y; .reg .pred %%p, %%q; ld.param.u64 %%y, [global]; "
                 "mov.u32 %%t, %%tid.x; and.b32 %%t, %%t, 31;\n"
                 "  mov.u32 %%b, tile; mad.lo.u32 %%a, %%t, %u, %%b; cvt.u64.u32 %%g, %%a; cvta.shared.u64 %%g, %%g; "
                 "and.b32 %%b, %%t, 1;\n"
                 "  setp.eq.u32 %%q, %%b, 0; selp.b64 %%x, %%g, %%y, %%q; setp.lt.u32 %%p, %%t, %u;\n  %s%s ret; }\n",
            k, r->stride, r->lanes, is_matrix ? "" : "@%p ", r->form);
}

static void print_kernels(FILE *out)
{
    for (unsigned k = 0; k < ROWS; k++)
        print_kernel(out, k);
}

static void set_up(void)
{
    load_kernels("8.0", "sm_90", print_kernels);
    ck_assert_int_eq(ptxiMemAlloc(&global, 4096), PTXI_SUCCESS);
}

static ptxiCounters count_accesses(unsigned k, bool enabled)
{
    ptxiCounters c = { .size = sizeof c };
    void *params[] = { &global };
    char name[16];

    snprintf(name, sizeof name, "k%u", k);
    ck_assert_int_eq(ptxiCtxSetCounting(ctx, enabled) | ptxiCtxResetCounters(ctx), PTXI_SUCCESS);
    ok(launch_grid(name, 3, 64, params));
    ck_assert_int_eq(ptxiCtxGetCounters(ctx, &c), PTXI_SUCCESS);
    return c;
}

START_TEST(accesses_are_counted)
{
    const struct row *r = &rows[_i];
    ptxiCounters c = count_accesses((unsigned)_i, true);

    ck_bits64_at(c.sharedRequests, 6 * r->requests, "requests of %s stride %u: %s", r->form, r->stride, r->reason);
    ck_bits64_at(c.sharedWavefronts, 6 * r->wavefronts, "wavefronts of %s stride %u: %s", r->form, r->stride,
                 r->reason);
    ck_bits64_at(c.sharedBankConflicts, 6 * r->conflicts, "conflicts of %s stride %u: %s", r->form, r->stride,
                 r->reason);
    c = count_accesses((unsigned)_i, false);
    ck_bits64(c.sharedRequests | c.sharedWavefronts | c.sharedBankConflicts, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("banks");
    TCase *t = tcase_create("counters");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, accesses_are_counted, 0, ROWS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
