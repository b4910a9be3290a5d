/* Tests the linker with several PTX texts, and undefined symbols. */
#include "unit/support/context.h"

#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
/* A kernel that stores what `statements` leave in %r. */
#define KERNEL(name, statements) \
    ".visible .entry " name "(.param .u64 out) { .reg .u32 %r, %t; .reg .u64 %d; .param .b32 a, b; " \
                            "ld.param.u64 %d, [out];\n" statements \
    "\n st.global.u32 [%d], %r; ret; }\n"

/* Links texts named 0.ptx, 1.ptx, ... and returns the result of the call that fails. */
static ptxiResult link_all(const char *const *texts, unsigned options, ptxiJitOption *keys, void **values,
                           ptxiModule *m)
{
    ptxiLinkState s;
    void *image;
    size_t size;
    ptxiResult r = ptxiLinkCreate(options, keys, values, &s);

    ck_assert_int_eq(r, PTXI_SUCCESS);
    for (unsigned i = 0; texts[i] && !r; i++)
        r = ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)texts[i], strlen(texts[i]) + 1,
                            (char[]){ (char)('0' + i), '.', 'p', 't', 'x', 0 },
                            0, NULL, NULL);
    if (!r)
        r = ptxiLinkComplete(s, &image, &size);
    if (!r) {
        ck_assert_uint_eq(size, strlen(image));
        r = ptxiModuleLoadData(m, image);
    }
    ok(ptxiLinkDestroy(s));
    return r;
}

static ptxiModule load_linked(const char *const *texts)
{
    ptxiModule m = NULL;
    ptxiDiagnostic d = { .size = sizeof d };
    ptxiResult r = link_all(texts, 0, NULL, NULL, &m);

    if (r && ptxiGetLastDiagnostic(0, &d) == PTXI_SUCCESS)
        ck_abort_msg("%s", d.text);
    ok(r);
    return m;
}

static ptxiResult launch(ptxiModule m, const char *kernel, unsigned *out)
{
    ptxiFunction f;
    ptxiDevicePtr p;

    ok(ptxiModuleGetFunction(&f, m, kernel));
    ok(ptxiMemAlloc(&p, 4));
    ptxiResult r = ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &p }, NULL);

    if (!r)
        r = ptxiCtxSynchronize();
    *out = *(unsigned *)(uintptr_t)p;
    ok(ptxiMemFree(p));
    return r;
}

#define EXPECT(m, kernel, want)              \
    do {                                     \
        unsigned got_;                       \
        ok(launch(m, kernel, &got_));        \
        ck_assert_uint_eq(got_, want);       \
    } while (0)

#define CALL(f, arg) "st.param.b32 [a], " arg "; call (b), " f ", (a); ld.param.b32 %r, [b];"
#define PROTOTYPE(f) "(.param .b32 r) " f "(.param .b32 x)"
#define BODY(op) "{ .reg .u32 %r; ld.param.b32 %r, [x]; " op " st.param.b32 [r], %r; ret; }\n"

START_TEST(functions_across_modules)
{
    ptxiModule m = load_linked((const char *[]){
        HEAD ".extern .func " PROTOTYPE("twice") ";\n" KERNEL("first", CALL("twice", "21")),
        HEAD ".extern .func " PROTOTYPE("square") ";\n.visible .func " PROTOTYPE("twice") BODY("add.u32 %r, %r, %r;")
            KERNEL("second", CALL("square", "9")),
        HEAD ".visible .func " PROTOTYPE("square") BODY("mul.lo.u32 %r, %r, %r;"), NULL });
    unsigned kernels;

    EXPECT(m, "first", 42);
    EXPECT(m, "second", 81);
    ok(ptxiModuleGetFunctionCount(&kernels, m));
    ck_assert_uint_eq(kernels, 2);
    ok(ptxiModuleUnload(m));
}
END_TEST

START_TEST(names_without_linkage_are_private)
{
    ptxiModule m = load_linked((const char *[]){
        HEAD ".global .u32 v = 1;\n.func " PROTOTYPE("f") BODY("add.u32 %r, %r, 1;")
        KERNEL("a", "ld.global.u32 %r, [v];") KERNEL("fa", CALL("f", "5")),
        HEAD ".global .u64 v = 2;\n.func " PROTOTYPE("f") BODY("sub.u32 %r, %r, 1;")
        KERNEL("b", "ld.global.u32 %r, [v];") KERNEL("fb", CALL("f", "5")),
        HEAD ".visible .global .u32 v = 3;\n" KERNEL("c", "ld.global.u32 %r, [v];"),
        HEAD ".extern .global .u32 v;\n" KERNEL("d", "ld.global.u32 %r, [v];"), NULL });

    EXPECT(m, "a", 1);
    EXPECT(m, "b", 2);
    EXPECT(m, "c", 3);
    EXPECT(m, "d", 3);
    EXPECT(m, "fa", 6);
    EXPECT(m, "fb", 4);
}
END_TEST

START_TEST(variables_across_modules)
{
    /* an address in an initializer, an array declared without its size, and constants */
    ptxiModule m = load_linked((const char *[]){
        HEAD ".extern .global .align 4 .u32 table[];\n.extern .const .u32 four;\n.visible .global .u64 where = table;\n"
            KERNEL("third", "ld.global.u32 %r, [table+8];") KERNEL("four_", "ld.const.u32 %r, [four];"),
        HEAD ".const .u32 before = 7;\n.visible .const .u32 four = 4;\n.visible .global .align 4 .u32 table[4] = { 10, "
             "11, 12, 13 };\n"
             ".extern .global .u64 where;\n"
            KERNEL("through", ".reg .u64 %p; ld.global.u64 %p, [where]; ld.global.u32 %r, [%p+4];")
            KERNEL("seven", "ld.const.u32 %r, [before];"),
        NULL });
    ptxiDevicePtr p;
    size_t bytes;

    EXPECT(m, "third", 12);
    EXPECT(m, "four_", 4);
    EXPECT(m, "through", 11);
    EXPECT(m, "seven", 7);
    ok(ptxiModuleGetGlobal(&p, &bytes, m, "table"));
    ck_assert_uint_eq(bytes, 16);
}
END_TEST

/* The number of registers of a kernel. `limit`: the option of the link; 0: none. */
static int registers(const char *text, const char *kernel, unsigned limit)
{
    ptxiJitOption key = PTXI_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)limit;
    ptxiModule m;
    ptxiFunction f;
    int n;

    ok(link_all((const char *[]){ text, NULL }, limit != 0, &key, &value, &m));
    ok(ptxiModuleGetFunction(&f, m, kernel));
    ok(ptxiFuncGetAttribute(&n, PTXI_FUNC_ATTRIBUTE_NUM_REGS, f));
    ok(ptxiModuleUnload(m));
    return n;
}

START_TEST(registers_are_limited)
{
    static const char text[] = HEAD KERNEL("free", "mov.u32 %r, 1;")
        ".visible .entry bound(.param .u64 out) .maxnreg 3 { .reg .u32 %r; .reg .u64 %d; ld.param.u64 %d, [out];"
        "ld.global.u32 %r, [%d]; st.global.u32 [%d+4], %r; ret; }\n";
    const int count = registers(text, "free", 0);

    ck_assert_int_gt(count, 2);
    ck_assert_int_eq(registers(text, "free", 2), 2);
    ck_assert_int_eq(registers(text, "free", 200), count);
    ck_assert_int_eq(registers(text, "bound", 0), 3);
    ck_assert_int_eq(registers(text, "bound", 2), 3);
}
END_TEST

#define READ \
    HEAD ".extern .global .u32 v;\n.extern .func " PROTOTYPE("f") ";\n" KERNEL("read", "ld.global.u32 %r, [v];") \
    KERNEL("call", CALL("f", "5"))
#define DEFINE(linkage, value) HEAD linkage " .global .u32 v = " value ";\n"
#define DEFINE_F(linkage, value) HEAD linkage " .func " PROTOTYPE("f") BODY("add.u32 %r, %r, " value ";")

START_TEST(weak_definitions_are_replaced)
{
    EXPECT(load_linked((const char *[]){ READ, DEFINE(".weak", "1"), DEFINE(".visible", "2"), DEFINE(".weak", "3"),
                                         DEFINE_F(".weak", "0"), NULL }),
           "read", 2);
    EXPECT(load_linked(
               (const char *[]){ DEFINE(".visible", "2"), DEFINE(".weak", "1"), READ, DEFINE_F(".weak", "0"), NULL }),
           "read", 2);
    EXPECT(
        load_linked((const char *[]){ DEFINE(".weak", "1"), DEFINE(".weak", "3"), READ, DEFINE_F(".weak", "0"), NULL }),
        "read", 1);
    EXPECT(load_linked((const char *[]){ DEFINE_F(".weak", "1"), DEFINE_F(".visible", "2"), DEFINE_F(".weak", "3"),
                                         READ, NULL }),
           "call", 7);
    EXPECT(load_linked((const char *[]){ DEFINE_F(".visible", "2"), DEFINE_F(".weak", "1"), READ, NULL }), "call", 7);
    EXPECT(load_linked((const char *[]){ DEFINE_F(".weak", "1"), READ, DEFINE_F(".weak", "3"), NULL }), "call", 6);
}
END_TEST

START_TEST(common_variables)
{
    const char common[] = HEAD ".common .global .align 4 .b8 v[4];\n", large[] = HEAD
    ".common .global .align 8 .b8 v[16];\n";
    ptxiDevicePtr p;
    size_t bytes;

    EXPECT(load_linked((const char *[]){ READ, common, DEFINE(".visible", "9"), NULL }), "read", 9);
    EXPECT(load_linked((const char *[]){ common, DEFINE(".weak", "9"), READ, NULL }), "read", 0);
    ok(ptxiModuleGetGlobal(&p, &bytes, load_linked((const char *[]){ common, large, common, NULL }), "v"));
    ck_assert_uint_eq(bytes, 16);
    ck_assert_uint_eq(p % 8, 0);
}
END_TEST

START_TEST(type_names_may_differ_between_modules)
{
    EXPECT(load_linked((const char *[]){
               HEAD ".extern .func " PROTOTYPE("twice") ";\n" KERNEL("first", CALL("twice", "21")),
               HEAD ".visible .func (.param .u32 r) twice(.param .s32 x)" BODY("add.u32 %r, %r, %r;"), NULL }),
           "first", 42);
}
END_TEST

START_TEST(an_image_can_be_linked_again)
{
    const char *texts[] = { DEFINE(".visible", "5"), DEFINE_F(".visible", "1") };
    ptxiLinkState a, b;
    ptxiModule m;
    void *image, *all;

    ok(ptxiLinkCreate(0, NULL, NULL, &a));
    for (int i = 0; i < 2; i++)
        ok(ptxiLinkAddData(a, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)texts[i], strlen(texts[i]), NULL, 0, NULL, NULL));
    ok(ptxiLinkComplete(a, &image, NULL));
    ck_result(ptxiLinkComplete(a, &image, NULL), PTXI_ERROR_ILLEGAL_STATE);
    ok(ptxiLinkCreate(0, NULL, NULL, &b));
    ok(ptxiLinkAddData(b, PTXI_JIT_INPUT_CUBIN, image, strlen(image), "lib", 0, NULL, NULL));
    ok(ptxiLinkAddData(b, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)(READ), sizeof(READ), "read", 0, NULL, NULL));
    ok(ptxiLinkDestroy(a));
    ok(ptxiLinkComplete(b, &all, NULL));
    ok(ptxiModuleLoadData(&m, all));
    EXPECT(m, "read", 5);
    EXPECT(m, "call", 6);
    /* a truncated or incomplete image is refused */
    char *truncated = strdup(all);

    truncated[strlen(truncated) / 2] = 0;
    ck_result(ptxiModuleLoadData(&m, truncated), PTXI_ERROR_INVALID_IMAGE);
    *strchr(truncated, '\n') = 0;
    ck_result(ptxiModuleLoadData(&m, truncated), PTXI_ERROR_INVALID_IMAGE);
    free(truncated);
    ok(ptxiLinkDestroy(b));
    ck_result(ptxiLinkDestroy(NULL), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

/* Definitions that conflict, and the two positions that the message names. */
static const struct {
    const char *texts[3];
    const char *message;
    unsigned line;
    const char *note_file;
} wrong[] = {
    { { DEFINE(".visible", "1"), DEFINE(".visible", "2") }, "'v' is already defined in another module", 4, "0.ptx" },
    { { DEFINE_F(".visible", "1"), HEAD "\n.visible .func " PROTOTYPE("f") BODY("add.u32 %r, %r, 1;") },
      "redefinition of the body of 'f'", 5, "0.ptx" },
    { { HEAD KERNEL("k", "mov.u32 %r, 1;"), HEAD KERNEL("k", "mov.u32 %r, 2;") }, "redefinition of the body of 'k'", 4,
      "0.ptx" },
    { { READ, HEAD ".visible .global .u64 v;" }, "'v' has a different size in another module", 4, "0.ptx" },
    { { READ, HEAD ".visible .const .u32 v = 1;" }, "'v' has a different state space in another module", 4, "0.ptx" },
    { { HEAD ".weak .global .u32 v;", HEAD ".weak .global .u64 v;" }, "'v' has a different size in another module", 4,
      "0.ptx" },
    { { READ, HEAD ".visible .func (.param .b32 r) f(.param .b64 x) { ret; }" },
      "'f' has different parameters than its previous declaration", 4, "0.ptx" },
    { { READ, HEAD ".visible .func f(.param .b32 x) { ret; }" },
      "'f' has different parameters than its previous declaration", 4, "0.ptx" },
    { { READ, HEAD ".visible .global .u32 f;" }, "'f' is already defined in another module", 4, "0.ptx" },
    { { HEAD ".visible .const .b8 a[40000] = {1};", HEAD ".visible .const .b8 b[40000] = {1};" },
      "'b' exceeds the size of the .const space, which is 65536 bytes", 4, NULL },
};

START_TEST(conflicts)
{
    char log[2000];
    ptxiJitOption keys[] = { PTXI_JIT_ERROR_LOG_BUFFER, PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    ptxiDiagnostic d = { .size = sizeof d };
    ptxiModule m;

    ck_result(link_all(wrong[_i].texts, 2, keys, values, &m), PTXI_ERROR_INVALID_SOURCE);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_str_eq(d.message, wrong[_i].message);
    ck_assert_str_eq(d.file, "1.ptx");
    ck_assert_uint_eq(d.line, wrong[_i].line);
    ck_assert(strstr(log, d.text) == log && strlen(log) + 1 == (size_t)values[1]);
    if (wrong[_i].note_file) {
        ok(ptxiGetLastDiagnostic(1, &d));
        ck_assert_int_eq(d.severity, PTXI_SEVERITY_NOTE);
        ck_assert_str_eq(d.file, wrong[_i].note_file);
        ck_assert(strstr(log, d.text));
    }
}
END_TEST

START_TEST(other_types_of_the_same_size_give_a_warning)
{
    ptxiLinkState s;
    ptxiDiagnostic d = { .size = sizeof d };
    void *image;

    ok(ptxiLinkCreate(0, NULL, NULL, &s));
    ok(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)(READ), sizeof(READ), "a", 0, NULL, NULL));
    ok(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)(HEAD ".visible .global .f32 v = 1.0;"), 1000, "b", 0,
                       NULL, NULL));
    ok(ptxiLinkComplete(s, &image, NULL));
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_int_eq(d.severity, PTXI_SEVERITY_WARNING);
    ck_assert_str_eq(d.message, "'v' has type .f32 here and .u32 in another module");
    ok(ptxiLinkDestroy(s));
}
END_TEST

START_TEST(invalid_inputs_are_refused)
{
    ptxiLinkState s;
    ptxiDiagnostic d = { .size = sizeof d };
    char elf[] = "\177ELF\2\1", bad[] = HEAD ".func f() { nonsense; }", incomplete[] = HEAD ".visible .func f() { ret;";
    void *image;

    ptxiModule m;
    unsigned kernels;

    ok(ptxiLinkCreate(0, NULL, NULL, &s));
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_CUBIN, elf, sizeof elf, "x.cubin", 0, NULL, NULL),
              PTXI_ERROR_INVALID_IMAGE);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert(strstr(d.message, "x.cubin: only PTX can be linked"));
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, elf, sizeof elf, "x.cubin", 0, NULL, NULL),
              PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_LIBRARY, bad, sizeof bad, NULL, 0, NULL, NULL),
              PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, (ptxiJitInputType)6, bad, sizeof bad, NULL, 0, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, bad, 0, NULL, 0, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, bad, sizeof bad, "bad", 0, NULL, NULL), PTXI_ERROR_INVALID_PTX);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, incomplete, sizeof incomplete, "incomplete", 0, NULL, NULL),
              PTXI_ERROR_INVALID_PTX);
    ck_result(ptxiLinkAddFile(s, PTXI_JIT_INPUT_PTX, "/nonexistent.ptx", 0, NULL, NULL), PTXI_ERROR_FILE_NOT_FOUND);
    ok(ptxiLinkComplete(s, &image, NULL)); /* no inputs */
    ok(ptxiModuleLoadData(&m, image));
    ok(ptxiModuleGetFunctionCount(&kernels, m));
    ck_assert_uint_eq(kernels, 0);
    ok(ptxiLinkDestroy(s));
}
END_TEST

START_TEST(reports_name_the_input)
{
    static const char text[] = HEAD ".file 1 \"b.cu\"\n.visible .global .u32 v;\n.visible .func " PROTOTYPE("f")
                                    "{\n.loc 1 17 3\ntrap;\n ret; }\n";
    ptxiModule m = load_linked((const char *[]){ READ, text, NULL });
    ptxiReport report = { .size = sizeof report };
    unsigned out;

    ck_result(launch(m, "call", &out), PTXI_ERROR_LAUNCH_FAILED);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_str_eq(report.ptxFile, "1.ptx");
    ck_assert_uint_eq(report.ptxLine, 8);
    ck_assert_str_eq(report.sourceFile, "b.cu");
    ck_assert_uint_eq(report.sourceLine, 17);
    ck_assert_msg(strstr(report.text, "b.cu:17:3: error: trap instruction\n"), "%s", report.text);
    ck_assert_msg(strstr(report.text, "1.ptx:8:1"), "%s", report.text);
}
END_TEST

START_TEST(undefined_symbols)
{
    static const char text[] = HEAD ".extern .func " PROTOTYPE("f") ";\n.extern .func " PROTOTYPE("g")
    ";\n.extern .global .u32 v;\n"
        ".func " PROTOTYPE("via") "{ .param .b32 a, b; st.param.b32 [a], 1; call (b), g, (a); ret; }\n"
        KERNEL("both", CALL("f", "1") CALL("via", "1")) KERNEL("variable", "ld.global.u32 %r, [v];")
        KERNEL("none", "mov.u32 %r, 8;");
    ptxiJitOption strict = PTXI_JIT_STRICT_SYMBOLS;
    void *enabled = (void *)1;
    ptxiReport report = { .size = sizeof report };
    ptxiDiagnostic d = { .size = sizeof d };
    ptxiModule m;
    unsigned out;

    ok(ptxiModuleLoadData(&m, text));
    EXPECT(m, "none", 8);
    ck_result(launch(m, "both", &out), PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_int_eq(report.fault, PTXI_FAULT_UNRESOLVED);
    ck_assert(strstr(report.text, "<ptx>:4:31: error: 'f', which kernel both can reach, is undefined"));
    ck_assert(strstr(report.text, "<ptx>:5:31: error: 'g', which kernel both can reach, is undefined"));
    ck_assert(!strstr(report.text, "'v'"));
    ck_result(launch(m, "variable", &out), PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert(strstr(report.text, "'v', which kernel variable can reach, is undefined"));
    ck_result(ptxiModuleLoadDataEx(&m, text, 1, &strict, &enabled), PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    for (unsigned i = 0; i < 3; i++) {
        ok(ptxiGetLastDiagnostic(i, &d));
        ck_assert(strstr(d.message, "is undefined"));
    }
    ck_result(link_all((const char *[]){ text, DEFINE_F(".visible", "1"), NULL }, 1, &strict, &enabled, &m),
              PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    ok(link_all((const char *[]){ READ, DEFINE_F(".visible", "1"), DEFINE(".visible", "1"), NULL }, 1, &strict,
                &enabled, &m));
}
END_TEST

/* Each thread adds 1 to a counter, waits for the grid, and reads the counter, three times. out[i] = the value that
 * thread i read first, with the last value << 12 and the result of the barrier << 20. */
#define GRID_ROUND \
    "atom.global.add.u32 %r, [arrived], 1;\n" \
    "call (b), cudaCGSynchronize, (h, a); ld.param.b32 %code, [b];\n" \
    "ld.volatile.global.u32 %r, [arrived];\n" \
    "call (b), cudaCGSynchronizeGrid, (h, a);\n"
static const char grid_barrier[] =
    HEAD ".extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 flags);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 h, .param .b32 flags);\n"
    ".global .u32 arrived;\n"
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .u32 %r, %first, %i, %n, %t, %code; .reg .u64 %d, %at, %h; .param .b64 h; .param .b32 a, b;\n"
    "ld.param.u64 %d, [out];\n"
    "st.param.b32 [a], 1; call (h), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %h, [h]; st.param.b64 [h], %h;\n"
    GRID_ROUND "mov.u32 %first, %r;\n" GRID_ROUND GRID_ROUND
    "shl.b32 %r, %r, 12; or.b32 %first, %first, %r; shl.b32 %code, %code, 20; or.b32 %first, %first, %code;\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;\n"
    "mad.wide.u32 %at, %i, 4, %d; st.global.u32 [%at], %first; ret; }\n";

START_TEST(the_grid_barrier_of_the_device_runtime)
{
    enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS };
    ptxiJitOption strict = PTXI_JIT_STRICT_SYMBOLS;
    void *enabled = (void *)1;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p;

    if (_i)
        ok(link_all((const char *[]){ grid_barrier, NULL }, 1, &strict, &enabled, &m));
    else
        ok(ptxiModuleLoadDataEx(&m, grid_barrier, 1, &strict, &enabled));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, ALL * sizeof(unsigned)));
    ok(ptxiLaunchCooperativeKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){ &p }));
    ok(ptxiCtxSynchronize());
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_uint_eq(((unsigned *)(uintptr_t)p)[i], ALL | 3 * ALL << 12);
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &p }, NULL)); /* no barrier: it is not cooperative */
    ok(ptxiCtxSynchronize());
    ck_assert_uint_eq(*(unsigned *)(uintptr_t)p >> 20, 999);
    ok(ptxiMemFree(p));
}
END_TEST

/* Only the part with debug data needs a section of it. */
START_TEST(parts_with_and_without_debug_data)
{
    static const char debug[] = ".version 8.0\n.target sm_80, debug\n.address_size 64\n"
        ".visible .func " PROTOTYPE("f") BODY("add.u32 %r, %r, 1;") ".section .debug_info { .b8 0 }\n";
    static const char plain[] = HEAD ".extern .func " PROTOTYPE("f") ";\n" KERNEL("k", CALL("f", "5"));
    ptxiModule m;

    EXPECT(load_linked((const char *[]){ debug, plain, NULL }), "k", 6);
    EXPECT(load_linked((const char *[]){ plain, debug, NULL }), "k", 6);
    ck_result(link_all((const char *[]){ debug, ".version 8.0\n.target sm_80, debug\n", NULL }, 0, NULL, NULL, &m),
              PTXI_ERROR_INVALID_PTX);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("link");
    TCase *t = tcase_create("link");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, functions_across_modules);
    tcase_add_test(t, names_without_linkage_are_private);
    tcase_add_test(t, variables_across_modules);
    tcase_add_test(t, registers_are_limited);
    tcase_add_test(t, weak_definitions_are_replaced);
    tcase_add_test(t, common_variables);
    tcase_add_test(t, type_names_may_differ_between_modules);
    tcase_add_test(t, an_image_can_be_linked_again);
    tcase_add_loop_test(t, conflicts, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(t, other_types_of_the_same_size_give_a_warning);
    tcase_add_test(t, invalid_inputs_are_refused);
    tcase_add_test(t, reports_name_the_input);
    tcase_add_test(t, undefined_symbols);
    tcase_add_loop_test(t, the_grid_barrier_of_the_device_runtime, 0, 2);
    tcase_add_test(t, parts_with_and_without_debug_data);
    suite_add_tcase(s, t);
    return run_suite(s);
}
