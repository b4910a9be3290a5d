/* Where the system refuses executable memory, kernels are interpreted. */
#include "unit/support/context.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 64 };

static const char *const text = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry k(.param .u64 out)\n{\n"
                                ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
                                "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, %r1;\n"
                                "mul.wide.s32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"
                                "st.global.b32 [%d3], %r2;\nret;\n}\n";

static void filter(const struct sock_filter *code, size_t count)
{
    struct sock_fprog program = { (unsigned short)count, (struct sock_filter *)code };

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* memfd_create() fails. */
static void refuse_memory_files(void)
{
    static const struct sock_filter code[] = {
        LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1), REFUSE, ALLOW,
    };

    filter(code, sizeof code / sizeof *code);
    ck_assert_int_eq(syscall(SYS_memfd_create, "x", 0), -1);
}

/* mmap() of executable memory fails. */
static void refuse_executable_mappings(void)
{
    static const struct sock_filter code[] = {
        LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), REFUSE, ALLOW,
    };

    filter(code, sizeof code / sizeof *code);
    ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
}

/* Whether the process has executable memory for native code. */
static bool has_native_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[400];
    bool found = false;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "ptxi-native") && strstr(line, "r-x");
    fclose(maps);
    return found;
}

static void check_kernel(void)
{
    uint32_t values[THREADS] = { 0 };
    ptxiDevicePtr out;
    ptxiModule m;
    ptxiFunction f;

    ok(ptxiCtxSetTier(NULL, PTXI_TIER_NATIVE));
    ok(ptxiMemAlloc(&out, sizeof values));
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    for (int round = 0; round < 3; round++) {
        void *params[] = { &out };

        ok(ptxiMemsetD32(out, 0, THREADS));
        ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
        ok(ptxiCtxSynchronize());
        ok(ptxiMemcpyDtoH(values, out, sizeof values));
        for (uint32_t k = 0; k < THREADS; k++)
            ck_assert_uint_eq(values[k], k * k);
    }
    ok(ptxiModuleUnload(m));
    ok(ptxiMemFree(out));
}

/* Each runs in a process of its own, because a filter stays. */
START_TEST(without_memory_files)
{
    open_context();
    refuse_memory_files();
    check_kernel();
    ck_assert(!has_native_memory());
    close_context();
}
END_TEST

START_TEST(without_executable_mappings)
{
    open_context();
    refuse_executable_mappings();
    check_kernel();
    ck_assert(!has_native_memory());
    close_context();
}
END_TEST
#endif

int main(void)
{
    Suite *s = suite_create("refusal");
    TCase *tc = tcase_create("refusal");
    SRunner *sr;
    int failed;

#if defined(__linux__) && defined(__x86_64__)
    tcase_add_test(tc, without_memory_files);
    tcase_add_test(tc, without_executable_mappings);
#endif
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_set_fork_status(sr, CK_FORK);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
