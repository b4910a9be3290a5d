/* Tests the addresses of shared variables against ptxas 13.0 for sm_75, where shared memory begins at 0. Here it
 * begins at 0x400, as on an H200. */
#include "unit/support/context.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_ADDRESS = 0x400, MAX_NAMES = 6 };

static const struct row {
    const char *module, *body, *names[MAX_NAMES];
    uint32_t at[MAX_NAMES];
    int bytes;
} rows[] = {
    /* the order of declarations, of names or of uses */
#define FOUR ".shared .align 4 .b8 a[10]; .shared .align 16 .b8 b[100]; .shared .b8 c; .shared .align 8 .b64 d;"
    { FOUR, "", { "d", "c", "b", "a" }, { 0x78, 0x74, 0x10, 0 }, 128 },
    { FOUR, "", { "d", "b" }, { 0x68, 0 }, 112 },
    { "", FOUR, { "d", "c", "a", "b" }, { 0x78, 0x74, 0, 0x10 }, 128 },
    { "", FOUR, { "d", "b" }, { 0x68, 0 }, 123 }, /* variables that the kernel does not name are allocated at the end */
    { ".shared .b8 z; .shared .b32 n;", ".shared .align 4 .b8 y[10]; .shared .b8 b;", { "n", "z", "b", "y" },
      { 0xc, 0xb, 0xa, 0 }, 16 },
    { ".shared .align 128 .b8 z[4]; .shared .b32 n;", ".shared .align 4 .b8 y[10]; .shared .b8 b;",
      { "n", "z", "b", "y" }, { 0x84, 0x80, 0xa, 0 }, 136 },
    { ".shared .align 4 .b8 m[4]; .shared .b32 n;", ".shared .align 4 .b8 a[10]; { .shared .align 32 .b8 b[7]; "
                                                    "} .shared .b8 e;", { "n", "m", "a", "e" }, { 0x10, 0xc, 0, 0xa },
                                                    39 },
    /* dynamic arrays */
    { ".extern .shared .align 1 .b8 dyn[]; .shared .align 4 .b8 m[5];", ".shared .align 4 .b8 a[10];",
      { "m", "a", "dyn" }, { 0xc, 0, 0x20 }, 32 },
    { ".extern .shared .align 16 .b8 dyn[]; .extern .shared .align 64 .b8 wide[]; .shared .align 4 .b8 m[5];",
      ".shared .align 4 .b8 a[10];", { "m", "a", "dyn", "wide" },
      { 0xc, 0, 0x20, 0x40 }, 64 },
    { ".extern .shared .align 4 .b8 dyn[]; .extern .shared .align 64 .b8 wide[]; .shared .align 4 .b8 m[5];", "",
      { "m", "dyn" }, { 0, 0x10 }, 64 },
    { ".extern .shared .align 4 .b8 dyn[];", "", { "dyn" }, { 0 }, 0 },
    /* variables of functions come last; `f` stores the addresses of its variables after those of the kernel */
#define CALLED ".shared .b8 n[8]; .shared .b8 m[16]; .shared .b8 q[32]; .extern .shared .align 32 .b8 dyn[];\n" \
    ".func f(.param .b64 p) { .reg .b32 %r; .reg .b64 %d; .shared .b8 w2[128]; ld.param.b64 %d, [p];\n" \
    "  mov.u32 %r, m; st.global.u32 [%d+8], %r; mov.u32 %r, q; st.global.u32 [%d+12], %r; mov.u32 %r, w2; " \
    "st.global.u32 [%d+16], %r; mov.u32 %r, dyn; st.global.u32 [%d+20], %r; ret; }\n"
    { CALLED, ".shared .b8 a[100]; .shared .b8 b[100]; .shared .b8 c[50];", { "b", "n", "CALL" },
      { 0, 0x64, 0x6c, 0x7c, 0x9c, 0x120 }, 448 },
    { CALLED, ".shared .b8 a[100]; .shared .b8 b[100]; .shared .b8 c[50];", { "b", "n", "dyn" }, { 0, 0x64, 0x80 },
      288 },
};

START_TEST(addresses_match_ptxas)
{
    const struct row *row = &rows[_i];
    uint32_t out[MAX_NAMES], expected[MAX_NAMES];
    char text[4000];
    ptxiDevicePtr mem;
    ptxiModule module;
    ptxiFunction f;
    int bytes, n = snprintf(text, sizeof text,
                            ".version 8.0\n.target sm_75\n.address_size 64\n%s\n.visible .entry k(.param .u64 p) { "
                            ".reg .b32 %%r; .reg .b64 %%d; %s\nld.param.u64 %%d, [p];\n",
                            row->module, row->body);

    for (int k = 0; k < MAX_NAMES && row->names[k]; k++)
        n += strcmp(row->names[k], "CALL") ? snprintf(text + n, sizeof text - (size_t)n, "mov.u32 %%r, %s; "
                                                      "st.global.u32 [%%d+%d], %%r;\n", row->names[k], 4 * k)
                                           : snprintf(text + n, sizeof text - (size_t)n, "{ .param .b64 x; "
                                                      "st.param.b64 [x], %%d; call f, (x); }\n");
    snprintf(text + n, sizeof text - (size_t)n, "ret; }\n");
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleGetFunction(&f, module, "k"));
    ok(ptxiMemAlloc(&mem, sizeof out));
    ok(ptxiMemsetD32(mem, 0, MAX_NAMES));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &mem }, NULL));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
    for (int k = 0; k < MAX_NAMES; k++) {
        expected[k] = row->at[k] || (k < MAX_NAMES && row->names[k]) ? FIRST_ADDRESS + row->at[k] : 0;
        ck_assert_msg(out[k] == expected[k], "%s %s: address %d is 0x%x, not 0x%x", row->module, row->body, k, out[k],
                      expected[k]);
    }
    ok(ptxiFuncGetAttribute(&bytes, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    ck_assert_int_eq(bytes, row->bytes);
    close_context();
}
END_TEST

/* A function that two kernels call exists once. Its variables come after those of both kernels. */
START_TEST(kernels_that_share_a_function)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.shared .b8 m[16];\n.func f(.param .b64 p) { .reg .b32 %r; "
        ".reg .b64 %d; ld.param.b64 %d, [p]; mov.u32 %r, m; st.global.u32 [%d], %r; ret; }\n"
#define KERNEL(name, size) \
        ".visible .entry " name "(.param .u64 p) { .reg .b32 %r; .reg .b64 %d; " \
                                ".shared .b8 a[" size "]; ld.param.u64 %d, [p]; mov.u32 %r, a; " \
                                                      "st.global.u32 [%d+4], %r;\n" \
        "  mov.u32 %r, m; st.global.u32 [%d+8], %r; { .param .b64 x; st.param.b64 [x], %d; call f, (x); } ret; }\n"
        KERNEL("small", "10") KERNEL("large", "200");
    uint32_t out[3];
    ptxiDevicePtr mem;
    ptxiModule module;
    ptxiFunction f;

    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAlloc(&mem, sizeof out));
    for (int k = 0; k < 2; k++) {
        ok(ptxiModuleGetFunction(&f, module, k ? "large" : "small"));
        ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &mem }, NULL));
        ok(ptxiMemcpyDtoH(out, mem, sizeof out));
        ck_assert(out[0] == FIRST_ADDRESS + 200 && out[1] == FIRST_ADDRESS && out[2] == FIRST_ADDRESS + 200);
    }
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shared");
    TCase *t = tcase_create("shared");

    tcase_add_loop_test(t, addresses_match_ptxas, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, kernels_that_share_a_function);
    suite_add_tcase(s, t);
    return run_suite(s);
}
