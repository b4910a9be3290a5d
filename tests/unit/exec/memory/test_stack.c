/* alloca, stacksave, stackrestore; and instructions that only say something about caches and register files. */
#include "unit/support/context.h"

#include <string.h>

enum { THREADS = 96 };

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define REGISTERS ".reg .b64 %p, %q, %o, %s, %n, %g; .reg .b32 %t, %u, %v, %w; .reg .pred %c; "
/* %o = address of this thread's 16 bytes of output, %t = its number */
#define START(name) ".visible .entry " name "(.param .u64 out) { " REGISTERS \
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 16, %o;\n"

static const char kernels[] = HEAD
    /* two blocks of sizes that differ by thread, with a variable beside them: nobody writes into another's */
    START("blocks")
    ".local .align 4 .b8 var[4]; mov.u64 %g, var; st.local.u32 [%g], 0x1234;\n"
    "  rem.u32 %u, %t, 5; mad.lo.u32 %u, %u, 8, 4; cvt.u64.u32 %n, %u;\n"
    "  alloca.u64 %p, %n; alloca.u64 %q, %n, 64;\n"
    "  add.u64 %s, %p, %n; st.local.u32 [%s+-4], %t; st.local.u32 [%p], %t;\n"
    "  cvta.local.u64 %s, %q; add.u64 %g, %s, %n; not.b32 %v, %t; st.u32 [%g+-4], %v; st.u32 [%s], %v;\n"
    "  ld.local.u32 %u, [%p]; st.global.u32 [%o], %u; ld.local.u32 %u, [%q]; st.global.u32 [%o+4], %u;\n"
    "  mov.u64 %g, var; ld.local.u32 %u, [%g]; st.global.u32 [%o+8], %u;\n"
    "  or.b64 %p, %p, 0; and.b64 %p, %p, 7; and.b64 %q, %q, 63; or.b64 %p, %p, %q; cvt.u32.u64 %u, %p; st.global.u32 [%o+12], %u; ret; }\n"
    /* what is restored is given again; 32-bit pointers; under a guard */
    START("restored")
    "  .reg .b32 %a, %b, %d, %e; setp.ne.u32 %c, %t, 7; mov.b32 %a, 0; mov.b32 %b, 0;\n"
    "  stacksave.u32 %d; @%c alloca.u32 %a, 24, 4; st.global.u32 [%o], %a; stackrestore.u32 %d;\n"
    "  stacksave.u32 %e; sub.u32 %e, %e, %d; st.global.u32 [%o+4], %e; @%c alloca.u32 %b, 24; sub.u32 %b, %b, %a; st.global.u32 [%o+8], %b;\n"
    "  stackrestore.u32 %d; alloca.u32 %b, 0; sub.u32 %b, %d, %b; st.global.u32 [%o+12], %b; ret; }\n"
    /* a function's memory goes back when it returns, from whichever ret */
    ".func (.reg .b32 r) takes(.reg .b32 x) { " REGISTERS "alloca.u64 %p, 400; st.local.u32 [%p+396], x;\n"
    "  setp.lt.u32 %c, x, 40; ld.local.u32 r, [%p+396]; @%c ret; add.u32 r, r, 1; ret; }\n"
    START("returned")
    "  alloca.u64 %p, 16; st.local.u32 [%p], %t; mov.b32 %u, 100; stacksave.u64 %s;\n"
    "L: call (%v), takes, (%t); sub.u32 %u, %u, 1; setp.ne.u32 %c, %u, 0; @%c bra L;\n"
    "  st.global.u32 [%o], %v; ld.local.u32 %v, [%p]; st.global.u32 [%o+4], %v; stacksave.u64 %q; sub.u64 %q, %q, %s; st.global.u64 [%o+8], %q; ret; }\n"
    /* registers of 8 and 16 bits to a function and back, of some lanes; declared in a body */
    ".visible .entry narrow(.param .u64 out) { " REGISTERS ".reg .b16 a, b, e; .reg .f16 h, g; .reg .b8 c, x; ld.param.u64 %o, [out];\n"
    "  .func (.reg .b16 r, .reg .f16 s, .reg .b8 t) some(.reg .b16 a, .reg .f16 h, .reg .b8 c, .reg .b32 w);\n"
    "  mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 16, %o; cvt.u16.u32 a, %t; cvt.rn.f16.u32 h, %t; cvt.u8.u32 c, %t; and.b32 %u, %t, 1; setp.eq.u32 %c, %u, 1;\n"
    "  mov.b16 b, 7; mov.b16 g, a; cvt.u8.u32 x, 9; @%c call (b, g, x), some, (a, h, c, %t); mov.b32 %v, {b, g}; cvt.u32.u8 %w, x;\n"
    "  st.global.b32 [%o], %v; st.global.b32 [%o+4], %w; ret; }\n"
    ".func (.reg .b16 r, .reg .f16 s, .reg .b8 t) some(.reg .b16 a, .reg .f16 h, .reg .b8 c, .reg .b32 w) { .reg .b16 b;\n"
    "  cvt.u16.u32 b, w; add.u16 r, a, b; mov.b16 s, h; cvt.u16.u8 b, c; add.u16 b, b, 200; cvt.u8.u16 t, b; ret; }\n"
    /* arrays without a size, as nvcc has them for functions with an ellipsis: summed up, read at a place, called by address; what is passed is a copy */
    ".func (.param .b32 r) sum(.param .b32 n, .param .align 8 .b8 list[]) { " REGISTERS "mov.u64 %p, list; ld.param.b32 %t, [n]; mov.b32 %u, 0;\n"
    "L: ld.local.b32 %v, [%p]; st.local.b32 [%p], 0; mad.lo.u32 %u, %u, 10, %v; add.u64 %p, %p, 4; sub.u32 %t, %t, 1; setp.ne.u32 %c, %t, 0; @%c bra L;\n"
    "  st.param.b32 [r], %u; ret; }\n"
    ".func (.param .b32 r) second(.param .b32 n, .param .align 8 .b8 list[]) { .reg .b32 %v; ld.param.b32 %v, [list+4]; st.param.b32 [r], %v; ret; }\n"
    START("open")
    "  .param .b32 x, z; .param .align 8 .b8 few[4], some[12]; st.param.b32 [x], 1; st.param.b32 [few], %t; call (z), sum, (x, few); ld.param.b32 %u, [z]; st.global.b32 [%o], %u;\n"
    "  st.param.b32 [x], 3; st.param.b32 [some], %t; st.param.b32 [some+4], 2; st.param.b32 [some+8], 3; call (z), sum, (x, some); call (z), second, (x, some);\n"
    "  ld.param.b32 %u, [z]; st.global.b32 [%o+4], %u;\n"
    "  setp.lt.u32 %c, %t, 40; @%c bra NOT; mov.u64 %p, sum; P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[]);\n"
    "  call (z), %p, (x, some), P; ld.param.b32 %u, [z]; st.global.b32 [%o+8], %u; NOT: ret; }\n"
    /* both ends meet: calls nest until there is no room */
    ".func nests(.reg .b32 depth) { " REGISTERS "alloca.u64 %p, 64; st.local.u32 [%p], depth; setp.eq.u32 %c, depth, 0; @%c ret;\n"
    "  sub.u32 %t, depth, 1; call nests, (%t); ld.local.u32 %u, [%p]; setp.ne.u32 %c, %u, depth; @%c trap; ret; }\n"
    ".visible .entry nested(.param .u32 depth) { .reg .b32 %t; ld.param.u32 %t, [depth]; call nests, (%t); ret; }\n"
    ".func deep() { .local .b8 big[300]; " REGISTERS "mov.u64 %p, big; st.local.u8 [%p+299], 1; ret; }\n"
    ".visible .entry calls(.param .u32 size) { " REGISTERS "ld.param.u32 %t, [size]; cvt.u64.u32 %n, %t; alloca.u64 %p, %n; call deep, (); ret; }\n"
    ".visible .entry takes_much(.param .u32 size) { " REGISTERS "ld.param.u32 %t, [size]; cvt.s64.s32 %n, %t; mov.u32 %t, %tid.x;\n"
    "  setp.lt.u32 %c, %t, 5; @%c alloca.u64 %p, %n; ret; }\n"
    ".visible .entry aligned(.param .u32 times) { " REGISTERS "ld.param.u32 %t, [times];\n"
    "L: alloca.u64 %p, 8, 8388608; sub.u32 %t, %t, 1; setp.ne.u32 %c, %t, 0; @%c bra L; ret; }\n"
    ".visible .entry wild() { " REGISTERS "mov.u64 %p, 0xfffffffffffff000; stackrestore.u64 %p; alloca.u64 %p, 8; ret; }\n"
    /* lanes that leave in between leave nothing behind for the next block */
    ".func leaves() { " REGISTERS "alloca.u64 %p, 600; mov.u32 %t, %tid.x; and.b32 %t, %t, 1; setp.eq.u32 %c, %t, 0; @%c exit; ret; }\n"
    ".visible .entry left() { call leaves, (); ret; }\n"
    ".visible .entry policies(.param .u64 out) { .reg .b64 %o, %p; .reg .f32 %f; ld.param.u64 %o, [out];\n"
    "  createpolicy.fractional.L2::evict_last.b64 %p; st.global.b64 [%o], %p;\n"
    "  createpolicy.fractional.L2::evict_first.L2::evict_first.b64 %p, 0.5; st.global.b64 [%o+8], %p;\n"
    "  mov.f32 %f, 0.33; createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %p, %f; st.global.b64 [%o+16], %p;\n"
    "  createpolicy.fractional.L2::evict_unchanged.b64 %p, 0.0625; st.global.b64 [%o+24], %p;\n"
    "  mov.u64 %p, 0x7f1234567800; createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %p, [%p], 0x12345, 8388609; st.global.b64 [%o+32], %p;\n"
    "  createpolicy.cvt.L2.b64 %p, %o; st.global.b64 [%o+40], %p;\n"
    "  setmaxnreg.dec.sync.aligned.u32 64; setmaxnreg.inc.sync.aligned.u32 128; ret; }\n";

static ptxiModule module;
static ptxiDevicePtr mem;
static uint32_t out[THREADS][4];

static void set_up(void)
{
    open_context();
    ck_assert_msg(ptxiModuleLoadData(&module, kernels) == PTXI_SUCCESS, "the kernels do not load");
    ok(ptxiMemAlloc(&mem, sizeof out));
}

static ptxiResult run(const char *name, unsigned blocks, void *param)
{
    void *params[] = { param };
    ptxiFunction f;
    ptxiResult r;

    ok(ptxiModuleGetFunction(&f, module, name));
    r = ptxiLaunchKernel(f, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL);
    return r ? r : ptxiCtxSynchronize();
}

static void results(const char *name)
{
    ok(run(name, 1, &mem));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
}

START_TEST(blocks_are_apart)
{
    results("blocks");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t, "thread %u", t);
        ck_bits32_at(out[t][1], ~t, "thread %u", t);
        ck_bits32_at(out[t][2], 0x1234, "thread %u", t);
        ck_bits32_at(out[t][3], 0, "alignment, thread %u", t);
    }
}
END_TEST

START_TEST(restored_memory_is_given_again)
{
    results("restored");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_assert((out[t][0] == 0) == (t == 7)); /* the guard */
        ck_bits32_at(out[t][0] & 7, 0, "8 is the least alignment, thread %u", t);
        ck_bits32_at(out[t][1], 0, "thread %u", t);
        ck_bits32_at(out[t][2], 0, "thread %u", t);
        ck_bits32_at(out[t][3], 0, "thread %u", t);
    }
}
END_TEST

START_TEST(functions_give_back)
{
    results("returned");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t < 40 ? t : t + 1, "thread %u", t);
        ck_bits32_at(out[t][1], t, "thread %u", t);
        ck_bits32_at(out[t][2] | out[t][3], 0, "thread %u", t);
    }
    for (int k = 0; k < 3; k++)
        ok(run("left", 7, NULL));
}
END_TEST

/* PTX ISA, "Kernel and Function Directives: .func" */
START_TEST(narrow_registers_are_passed)
{
    results("narrow");
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t exponent = 31 - (uint32_t)__builtin_clz(t | 1), half = (exponent + 15) << 10 | ((t << (10 - exponent)) & 0x3ff);

        ck_bits32_at(out[t][0], t & 1 ? half << 16 | t * 2 : t << 16 | 7, "thread %u", t);
        ck_bits32_at(out[t][1], t & 1 ? (t + 200) & 0xff : 9, "thread %u", t);
    }
}
END_TEST

/* PTX ISA, "Variadic Functions" */
START_TEST(open_arrays_are_passed)
{
    memset(out, 0, sizeof out);
    ok(ptxiMemcpyHtoD(mem, out, sizeof out));
    results("open");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t, "thread %u", t);
        ck_bits32_at(out[t][1], 2, "thread %u", t);
        ck_bits32_at(out[t][2], t < 40 ? 0 : 100 * t + 23, "thread %u", t);
    }
}
END_TEST

START_TEST(overflow_is_a_failure)
{
    static const struct {
        const char *name;
        uint32_t param;
        bool fits;
        unsigned threads;
    } cases[] = {
        { "nested", 8, true, 0 },        { "nested", 10000, false, 32 },    { "calls", 600, true, 0 },        { "calls", 900, false, 32 },
        { "takes_much", 1024, true, 0 }, { "takes_much", 100000, false, 5 }, { "takes_much", -16u, false, 5 }, { "aligned", 1, true, 0 },
        { "aligned", 2, false, 32 },      { "wild", 0, false, 32 },
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ptxiReport report = { .size = sizeof report };
        uint32_t param = cases[k].param;
        ptxiResult r = run(cases[k].name, 1, &param);

        ck_assert_msg(r == (cases[k].fits ? PTXI_SUCCESS : PTXI_ERROR_ILLEGAL_ADDRESS), "%s %u: %d", cases[k].name, param, r);
        if (cases[k].fits)
            continue;
        ok(ptxiGetLastReport(NULL, &report));
        ck_assert_int_eq(report.fault, PTXI_FAULT_STACK_OVERFLOW);
        ck_assert_uint_eq(report.threads % 32, cases[k].threads % 32);
    }
}
END_TEST

START_TEST(policies_are_the_gpus)
{
    uint64_t p[6];

    ok(run("policies", 1, &mem));
    ok(ptxiMemcpyDtoH(p, mem, sizeof p));
    ck_bits64(p[0], 0x14f0000000000000);
    ck_bits64(p[1], 0x1370000000000000);
    ck_bits64(p[2], 0x1650000000000000);
    ck_bits64(p[3], 0x1000000000000000);
    ck_bits64(p[4], 0x1d45604000000000);
    ck_bits64(p[5], mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stack");
    TCase *t = tcase_create("kernels");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, blocks_are_apart);
    tcase_add_test(t, restored_memory_is_given_again);
    tcase_add_test(t, functions_give_back);
    tcase_add_test(t, narrow_registers_are_passed);
    tcase_add_test(t, open_arrays_are_passed);
    tcase_add_test(t, overflow_is_a_failure);
    tcase_add_test(t, policies_are_the_gpus);
    suite_add_tcase(s, t);
    return run_suite(s);
}
