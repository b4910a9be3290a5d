/* Tests the output and the results of vprintf, as on an H200, and the message of a failed assertion. */
#include "unit/support/context.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OUTPUT = 2000 };

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 "
    "a);\n"
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".visible .entry print(.param .u64 f, .param .u64 a, .param .u64 r) { .reg .b64 %d<4>; .reg .b32 %r; "
    ".param .b64 x; .param .b64 y; .param .b32 z;\n"
    "  ld.param.u64 %d1, [f]; ld.param.u64 %d2, [a]; ld.param.u64 %d3, [r]; st.param.b64 [x], %d1; "
    "st.param.b64 [y], %d2; call (z), vprintf, (x, y);\n"
    "  ld.param.b32 %r, [z]; st.global.u32 [%d3], %r; ret; }\n"
    ".visible .entry fail(.param .u64 f) { .reg .b64 %d<2>; .reg .b32 %r<3>; .reg .pred %p; .param .b64 a; "
    ".param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
    "  ld.param.u64 %d1, [f]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 3; setp.ne.u32 %p, %r1, 1; @%p bra E; "
    "st.param.b64 [a], %d1; st.param.b64 [b], %d1; st.param.b32 [c], 77;\n"
    "  st.param.b64 [d], %d1; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); E: ret; }\n";

static ptxiModule module;
static char *memory; /* the format; the arguments are at 1024 and the result at 2040 */
static char printed[MAX_OUTPUT];
static size_t length;

static void collect(void *user, const char *s, size_t size)
{
    (void)user;
    ck_assert(length + size < sizeof printed);
    memcpy(printed + length, s, size);
    length += size;
    printed[length] = 0;
}

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetOutput(ctx, collect, NULL));
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAllocManaged((ptxiDevicePtr *)&memory, 2048, PTXI_MEM_ATTACH_GLOBAL));
    memset(memory, 0, 2048);
    length = 0;
}

static ptxiResult run(const char *name, unsigned threads)
{
    ptxiDevicePtr format = (uintptr_t)memory, arguments = format + 1024, result = format + 2040;
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &format, &arguments, &result }, NULL));
    return ptxiCtxSynchronize();
}

/* Arguments: i for 32 bits, l for 64 bits, d for a double, s for the text "hello". */
#define I(x) { 4, { .i = x } }
#define L(x) { 8, { .l = x } }
#define D(x) { 8, { .d = x } }
#define S { 0, { 0 } }

static const struct row {
    const char *format, *text;
    unsigned result;
    struct { unsigned bytes; union { uint32_t i; uint64_t l; double d; } value; } arguments[5];
} rows[] = {
    { "%d %i %u", "-5 -6 4294967295", 3, { I(-5u), I(-6u), I(-1u) } },
    { "%zu %jd %td|", "%zu %jd %td|", 0, { L(5), L(-6ul), L(7) } },
    { "%lf %Lf|", "1.500000 %Lf|", 1, { D(1.5), D(2.5) } },
    { "%%|%5%|", "%|%5%|", 0, { I(0) } },
    { "%*d|%-*d|%.*f|", "   42|43    |%.*f|", 4, { I(5), I(42), I(6), I(43), I(2) } },
    { "%z|%y|%", "%z|%y|%", 0, { I(1), I(2) } },
    { "%ld %s", "7 hello", 2, { L(7), S } },
    { "%l%|%-5%|%.3%|%h|", "%l%|%-5%|%.3%|%h|", 0, { I(1) } },
    { "%.|%5.|%.-3d|", "%.|%5.|%.-3d|", 0, { I(1) } },
    { "%*.*d|%.*s|%.*x", "%*.*d|%.*s|%.*x", 0, { I(5), I(6) } },
    { "%hd|%lld|%hld|%lhd|%llld|%hhhd", "-8463|5|%hld|%lhd|%llld|%hhhd", 2, { I(0x7abcdef1), L(5), I(6) } },
    { "%qd|%Ld|%Lg|%zf", "%qd|%Ld|%Lg|%zf", 0, { I(5), I(6) } },
};

START_TEST(conversions)
{
    const struct row *row = &rows[_i];
    size_t at = 1024;

    strcpy(memory, row->format);
    strcpy(memory + 1000, "hello");
    for (int k = 0; k < 5; k++) {
        size_t bytes = row->arguments[k].bytes ? row->arguments[k].bytes : 8;
        uint64_t x = row->arguments[k].bytes ? row->arguments[k].value.l : (uint64_t)(uintptr_t)(memory + 1000);

        at = (at + bytes - 1) / bytes * bytes;
        memcpy(memory + at, &x, bytes);
        at += bytes;
    }
    ok(run("print", 1));
    ck_assert_msg(!strcmp(printed, row->text), "'%s' printed '%s', not '%s'", row->format, printed, row->text);
    ck_assert_uint_eq(*(uint32_t *)(void *)(memory + 2040), row->result);
}
END_TEST

START_TEST(assertions)
{
    char messages[MAX_OUTPUT] = "";
    FILE *file = tmpfile();
    int old = dup(STDERR_FILENO);

    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    strcpy(memory, "hello");
    ck_result(run("fail", 8), PTXI_ERROR_ASSERT);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    rewind(file);
    ck_assert_uint_gt(fread(messages, 1, sizeof messages - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(messages, "hello:77: hello: block: [0,0,0], thread: [1,0,0] Assertion `hello` failed.\n"
                               "hello:77: hello: block: [0,0,0], thread: [5,0,0] Assertion `hello` failed.\n");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("printf");
    TCase *t = tcase_create("printf");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, conversions, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, assertions);
    suite_add_tcase(s, t);
    return run_suite(s);
}
