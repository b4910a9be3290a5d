/* Tests address registers (exec/memory/address_register.h): loads and stores whose addresses the program computes from
 * indices that are rows, or are not, or overflow, in all lanes and in some, inside and across the end of an allocation.
 * The reference is the same kernel with an operation on each address that makes the compiler use plain registers.
 * Memory and reports of failures must be equal. */
#include "unit/support/context.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 80, CTAS = 2, BYTES = 4096, VALUES = 4 };

/* How the kernel computes the address %p of index %i: base %b, scale %u. OPAQUE stands for the operation after each
 * definition of %p. */
static const char *const forms[] = {
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE",
    "mul.wide.u32 %p, %i, SCALE; OPAQUE add.s64 %p, %p, %b; OPAQUE",
    "cvt.s64.s32 %e, %i; shl.b64 %p, %e, SHIFT; OPAQUE add.s64 %p, %b, %p; OPAQUE",
    /* a pointer that moves */
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE mov.u32 %k, 0;"
    "N: add.s64 %p, %p, 16; OPAQUE add.u32 %k, %k, 1; setp.lt.u32 %s, %k, 3; @%s bra N;",
    /* lanes leave the loop one after the other */
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE mov.u32 %k, %t;"
    "N: add.s64 %p, %p, 16; OPAQUE add.u32 %k, %k, 7; setp.lt.u32 %s, %k, 40; @%s bra N;",
    /* some lanes get other addresses, another row, or the address of the base */
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE setp.gt.u32 %s, %l, 20; @!%s bra N;"
    "xor.b32 %i, %i, 2; mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE N:",
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE setp.gt.u32 %s, %l, 20; @!%s bra N;"
    "add.u32 %i, %i, 3; mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE N:",
    "mul.wide.s32 %p, %i, SCALE; OPAQUE add.s64 %p, %b, %p; OPAQUE setp.lt.u32 %s, %l, 9; @!%s bra N;"
    "mov.u64 %p, %b; OPAQUE N:",
};
enum { FORMS = sizeof forms / sizeof *forms };

/* The access to `SCALE` bytes at %p: loads to %v0 ..., stores of %t. */
static const struct {
    const char *load, *store;
    unsigned bytes, shift;
} widths[] = {
    { "ld.global.u8 %v0, [%p+OFFSET];", "st.global.u8 [%p+OFFSET], %t;", 1, 0 },
    { "ld.global.s16 %v0, [%p+OFFSET];", "st.global.u16 [%p+OFFSET], %t;", 2, 1 },
    { "ld.global.u32 %v0, [%p+OFFSET];", "st.global.u32 [%p+OFFSET], %t;", 4, 2 },
    { "ld.global.u64 %e, [%p+OFFSET]; mov.b64 {%v0, %v1}, %e;", "cvt.u64.u32 %e, %t; st.global.u64 [%p+OFFSET], %e;",
      8, 3 },
    { "ld.global.v2.u32 {%v0, %v1}, [%p+OFFSET];", "st.global.v2.u32 [%p+OFFSET], {%t, %l};", 8, 3 },
    { "ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%p+OFFSET];", "st.global.v4.u32 [%p+OFFSET], {%t, %l, %t, %l};", 16, 4 },
};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* The lanes that run: %q does not hold. */
static const char *const masks[] = {
    "setp.gt.u32 %q, %t, 1000;",
    "setp.lt.u32 %q, %l, 7;",
    "and.b32 %k, %t, 1; setp.eq.u32 %q, %k, 0;",
    "setp.gt.u32 %q, %t, 50;",
};
enum { MASKS = sizeof masks / sizeof *masks };

/* Appends `text` with its words replaced. */
static void append(char *to, size_t size, const char *text, unsigned width, int offset, const char *opaque)
{
    const char *const words[] = { "SCALE", "SHIFT", "OFFSET", "OPAQUE" };
    size_t n = strlen(to);

    while (*text && n + 64 < size) {
        unsigned w = 0;

        while (w < 4 && strncmp(text, words[w], strlen(words[w])))
            w++;
        if (w == 4) {
            to[n++] = *text++;
            continue;
        }
        text += strlen(words[w]);
        if (w == 3)
            n += (size_t)snprintf(to + n, size - n, "%s", opaque);
        else
            n += (size_t)snprintf(to + n, size - n, "%d",
                                  w == 2 ? offset : (int)(w ? widths[width].shift : widths[width].bytes));
    }
    ck_assert(!*text);
    to[n] = 0;
}

static ptxiFunction make_kernel(ptxiModule *m, int form, unsigned width, int mask, int offset, bool opaque)
{
    const char *op = opaque ? "xor.b64 %p, %p, %z;" : "xor.b64 %y, %y, %z;";
    char text[6000] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                      ".visible .entry k(.param .u64 mem, .param .u64 out, .param .u32 start, .param .u32 step, "
                      ".param .u64 zero)\n"
                      "{ .reg .b32 %t, %l, %i, %k, %v<4>; .reg .b64 %b, %p, %e, %z, %y, %o; .reg .pred %q, %s;\n"
                      "ld.param.u64 %b, [mem]; ld.param.u64 %z, [zero]; mov.u64 %y, 0;\n"
                      "ld.param.u32 %i, [start]; ld.param.u32 %k, [step]; mov.u32 %t, %tid.x; mov.u32 %l, %laneid;\n"
                      "mad.lo.u32 %i, %t, %k, %i;\n"
                      "mov.u32 %v0, -1; mov.u32 %v1, -1; mov.u32 %v2, -1; mov.u32 %v3, -1;\n";
    ptxiFunction f;

    append(text, sizeof text, masks[mask], width, offset, op);
    append(text, sizeof text, " @%q bra D;\n", width, offset, op);
    append(text, sizeof text, forms[form], width, offset, op);
    append(text, sizeof text, "\n", width, offset, op);
    append(text, sizeof text, widths[width].load, width, offset, op);
    append(text, sizeof text, "\n", width, offset, op);
    append(text, sizeof text, widths[width].store, width, offset, op);
    append(text, sizeof text, "\nD: ld.param.u64 %o, [out]; mov.u32 %k, %ctaid.x; mad.lo.u32 %k, %k, 80, %t; "
           "mul.wide.u32 %e, %k, 16; add.u64 %o, %o, %e; st.global.v4.u32 [%o], {%v0, %v1, %v2, %v3}; ret; }\n",
           width, offset, op);
    ok(ptxiModuleLoadData(m, text));
    ok(ptxiModuleGetFunction(&f, *m, "k"));
    return f;
}

struct outcome {
    ptxiResult result;
    ptxiReport report;
    unsigned char mem[BYTES];
    uint32_t out[CTAS * THREADS][VALUES];
};

static void run(ptxiFunction f, ptxiDevicePtr mem, ptxiDevicePtr out, uint32_t start, uint32_t step, uint64_t base,
                struct outcome *o)
{
    uint64_t zero = 0;
    void *params[] = { &base, &out, &start, &step, &zero };

    for (unsigned k = 0; k < BYTES; k++)
        o->mem[k] = (unsigned char)(k * 7 + k / 256);
    memset(o->out, 0, sizeof o->out);
    memset(&o->report, 0, sizeof o->report);
    ok(ptxiMemcpyHtoD(mem, o->mem, BYTES));
    ok(ptxiMemcpyHtoD(out, o->out, sizeof o->out));
    ok(ptxiLaunchKernel(f, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    o->result = ptxiCtxSynchronize();
    o->report.size = sizeof o->report;
    if (o->result != PTXI_SUCCESS)
        ok(ptxiGetLastReport(NULL, &o->report));
    ok(ptxiMemcpyDtoH(o->mem, mem, BYTES));
    ok(ptxiMemcpyDtoH(o->out, out, sizeof o->out));
}

static void compare(const struct outcome *a, const struct outcome *b, const char *what)
{
    const ptxiReport *x = &a->report, *y = &b->report;

    ck_assert_msg(a->result == b->result, "%s: results %d, %d", what, a->result, b->result);
    ck_assert_msg(!memcmp(a->mem, b->mem, BYTES), "%s: memory differs", what);
    ck_assert_msg(!memcmp(a->out, b->out, sizeof a->out), "%s: loaded values differ", what);
    ck_assert_msg(x->fault == y->fault && x->threads == y->threads && x->access == y->access &&
                      x->accessSize == y->accessSize && x->address == y->address && x->ptxLine == y->ptxLine &&
                      !memcmp(x->block, y->block, sizeof x->block) && !memcmp(x->thread, y->thread, sizeof x->thread),
                  "%s: reports differ", what);
}

/* Indices of thread 0. The base is chosen so that this index is at `at` bytes of the allocation. */
static const struct {
    uint32_t start;
    int at;
} places[] = {
    { 0, 64 }, { 5, 1024 }, { 0, BYTES - 200 }, { 0, -16 }, { 0, 1 }, { INT32_MAX - 40, 512 }, { UINT32_MAX - 20, 512 },
    { (uint32_t)-30, 1024 },
};
static const uint32_t steps[] = { 1, 0, 2, UINT32_MAX };

static int64_t extended(int form, uint32_t index)
{
    return form == 1 ? (int64_t)index : (int32_t)index;
}

START_TEST(address_registers_change_nothing)
{
    const int form = _i / WIDTHS;
    const unsigned width = (unsigned)(_i % WIDTHS);
    static struct outcome direct, plain;
    ptxiDevicePtr mem, out;
    unsigned succeeded = 0, failed = 0;

    open_context();
    ok(ptxiCtxSetWorkers(NULL, 1));
    ok(ptxiMemAlloc(&mem, BYTES));
    ok(ptxiMemAlloc(&out, sizeof direct.out));
    for (int mask = 0; mask < MASKS; mask++)
        for (int offset = -16; offset <= 16; offset += 16) {
            ptxiModule m[2];
            ptxiFunction f = make_kernel(&m[0], form, width, mask, offset, false),
                         g = make_kernel(&m[1], form, width, mask, offset, true);

            for (unsigned p = 0; p < sizeof places / sizeof *places; p++)
                for (unsigned s = 0; s < sizeof steps / sizeof *steps; s++) {
                    uint64_t base = mem + (uint64_t)(int64_t)places[p].at -
                                    (uint64_t)(extended(form, places[p].start) * widths[width].bytes);
                    char what[120];

                    snprintf(what, sizeof what, "form %d, width %u, mask %d, offset %d, place %u, step %d", form, width,
                             mask, offset, p, (int)steps[s]);
                    run(f, mem, out, places[p].start, steps[s], base, &direct);
                    run(g, mem, out, places[p].start, steps[s], base, &plain);
                    compare(&direct, &plain, what);
                    *(plain.result == PTXI_SUCCESS ? &succeeded : &failed) += 1;
                }
            ok(ptxiModuleUnload(m[0]));
            ok(ptxiModuleUnload(m[1]));
        }
    ck_assert_uint_gt(succeeded, 20);
    ck_assert_uint_gt(failed, 20);
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("address_register");
    TCase *t = tcase_create("address_register");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, address_registers_change_nothing, 0, FORMS * WIDTHS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
