/* Tests the content of memory that nothing has written: zeros, or the byte in PTXI_FILL, and never data of the
 * process, another kernel or another CTA. Each test runs with both settings, after the heap of the host was filled
 * with freed data. */
#include "unit/support/context.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, CTAS = 5, MAX_WORDS = 24, POISON = 0x5e, MORE_THAN_QUARANTINE = 4200 /* blocks */ };

static const char *const fills[] = { "0", "0xa5" };
#define RUNS ((int)(sizeof fills / sizeof *fills))

static ptxiModule module;
static unsigned fill;

/* Fills and frees heap blocks of the host. Kernels must not see this data. */
static void poison_heap(void)
{
    enum { BLOCKS = 400 };
    char *s[BLOCKS];

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = 0; k < BLOCKS; k++) {
            size_t size = 1000 + k * 64 + (k % 16 == 0) * (200 << 10);

            s[k] = malloc(size);
            memset(s[k], POISON, size);
        }
        for (unsigned k = 0; k < BLOCKS; k++)
            free(s[k]);
    }
}

static void launch(const char *name, uint64_t out)
{
    ptxiFunction f;
    uint32_t zero = 0;

    ok(ptxiModuleGetFunction(&f, module, name));
    ok(ptxiLaunchKernel(f, CTAS, 1, 1, THREADS, 1, 1, 8192, NULL, (void *[]){ &out, &zero }, NULL));
    ok(ptxiCtxSynchronize());
}

static void open_with(int run)
{
    setenv("PTXI_FILL", fills[run], 1);
    fill = (unsigned)strtoul(fills[run], NULL, 0);
    open_context();
    ok(ptxiCtxSetWorkers(ctx, 1));
    ok(ptxiModuleLoad(&module, PTX_FILE));
    poison_heap();
}

static uint64_t filled(void)
{
    return fill * UINT64_C(0x0101010101010101);
}

/* Checks the `words` words that each thread of a kernel stores. */
static void check_kernel(const char *name, unsigned words, uint64_t (*expect)(unsigned thread))
{
    static uint64_t got[CTAS * THREADS * MAX_WORDS];
    size_t count = (size_t)CTAS * THREADS * words;
    ptxiDevicePtr out;

    ok(ptxiMemAlloc(&out, sizeof got));
    for (unsigned round = 0; round < 3; round++) {
        if (round)
            launch("dirt", 0);
        ok(ptxiMemsetD8(out, 0x77, count * 8));
        launch(name, out);
        ok(ptxiMemcpyDtoH(got, out, count * 8));
        for (size_t k = 0; k < count; k++) {
            uint64_t want = expect((unsigned)(k / words % THREADS));

            ck_bits64_at(got[k], want, "%s: launch %u, thread %zu, word %zu", name, round, k / words, k % words);
        }
    }
    ok(ptxiMemFree(out));
}

static uint64_t fill_word(unsigned thread)
{
    (void)thread;
    return filled();
}

static uint64_t zero(unsigned thread)
{
    (void)thread;
    return 0;
}

static uint64_t lane_bit(unsigned thread)
{
    return filled() >> thread % 64 & 1;
}

static void check_filled(const char *name, unsigned words)
{
    check_kernel(name, words, fill_word);
}

START_TEST(registers)
{
    open_with(_i);
    check_filled("called", 24);
    check_filled("own", 6);
    check_filled("partly", 6);
    check_kernel("predicates", 1, lane_bit);
    close_context();
}
END_TEST

static uint64_t three(unsigned thread)
{
    (void)thread;
    return 3;
}

START_TEST(a_loop_at_the_entry)
{
    open_with(0);
    check_kernel("rounds", 1, three);
    close_context();
}
END_TEST

START_TEST(parameters_and_results)
{
    open_with(_i);
    check_filled("parameters", 6);
    check_filled("builtins", 2);
    close_context();
}
END_TEST

static uint64_t thread_number(unsigned thread)
{
    return thread;
}

START_TEST(local_memory)
{
    open_with(_i);
    check_filled("variables", 8);
    check_filled("many", 8);
    check_filled("depots", 16);
    check_filled("stack", 8);
    check_kernel("neighbours", 3, thread_number);
    close_context();
}
END_TEST

START_TEST(shared_and_tensor_memory)
{
    open_with(_i);
    check_filled("shared", 8);
    check_filled("peer", 2);
    check_kernel("system", 2, zero); /* cooperative groups rely on zeros */
    check_filled("tensor", 4);
    close_context();
}
END_TEST

/* ---- allocations */

/* Allocates this many bytes with one call of the API. */
struct source {
    const char *name;
    void *(*get)(size_t size);
    void (*put)(void *p);
};

static void *get_device(size_t size)
{
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, size));
    return (void *)(uintptr_t)p;
}

static void *get_managed(size_t size)
{
    ptxiDevicePtr p;

    ok(ptxiMemAllocManaged(&p, size, PTXI_MEM_ATTACH_GLOBAL));
    return (void *)(uintptr_t)p;
}

static void *get_ordered(size_t size)
{
    ptxiDevicePtr p;

    ok(ptxiMemAllocAsync(&p, size, NULL));
    return (void *)(uintptr_t)p;
}

static void put_device(void *p)
{
    ok(ptxiMemFree((uintptr_t)p));
}

static void put_ordered(void *p)
{
    ok(ptxiMemFreeAsync((uintptr_t)p, NULL));
    ok(ptxiCtxSynchronize());
}

static void *get_host(size_t size)
{
    void *p;

    ok(ptxiMemHostAlloc(&p, size, 0));
    return p;
}

static void put_host(void *p)
{
    ok(ptxiMemFreeHost(p));
}

static const struct source sources[] = {
    { "device", get_device, put_device },
    { "managed", get_managed, put_device },
    { "ordered", get_ordered, put_ordered },
    { "host", get_host, put_host },
};

/* Repeats until addresses of freed blocks are reused. */
static void check_source(const struct source *s, size_t size, unsigned repeats)
{
    for (unsigned n = 0; n < repeats; n++) {
        unsigned char *p = s->get(size);

        for (size_t k = 0; k < size; k += size < 4096 || k % 64 ? 1 : 64)
            ck_assert_msg(p[k] == fill, "%s, %zu bytes, allocation %u: byte %zu is 0x%x", s->name, size, n, k,
                          (unsigned)p[k]);
        memset(p, POISON, size);
        s->put(p);
    }
}

START_TEST(allocations)
{
    open_with(_i);
    for (unsigned k = 0; k < sizeof sources / sizeof *sources; k++) {
        check_source(&sources[k], 100, MORE_THAN_QUARANTINE);
        check_source(&sources[k], 60000, 300);
        check_source(&sources[k], 300000, 3);
    }
    close_context();
}
END_TEST

enum { WIDTH = 40, HEIGHT = 3 };

/* Copies between an array and the host. */
static void copy_texels(ptxiArray a, unsigned char *texels, bool to_host)
{
    PTXI_MEMCPY2D c = { .WidthInBytes = WIDTH, .Height = HEIGHT };

    c.srcMemoryType = to_host ? PTXI_MEMORYTYPE_ARRAY : PTXI_MEMORYTYPE_HOST;
    c.dstMemoryType = to_host ? PTXI_MEMORYTYPE_HOST : PTXI_MEMORYTYPE_ARRAY;
    c.srcArray = c.dstArray = a;
    c.srcHost = c.dstHost = texels;
    ok(ptxiMemcpy2D(&c));
}

START_TEST(arrays)
{
    PTXI_ARRAY_DESCRIPTOR d = { WIDTH, HEIGHT, PTXI_AD_FORMAT_UNSIGNED_INT8, 1 };
    unsigned char texels[WIDTH * HEIGHT];

    open_with(_i);
    for (unsigned n = 0; n < MORE_THAN_QUARANTINE; n++) {
        ptxiArray a;

        ok(ptxiArrayCreate(&a, &d));
        memset(texels, POISON, sizeof texels);
        copy_texels(a, texels, true);
        for (unsigned k = 0; k < sizeof texels; k++)
            ck_assert_msg(texels[k] == fill, "array %u: texel %u is 0x%x", n, k, (unsigned)texels[k]);
        memset(texels, POISON, sizeof texels);
        copy_texels(a, texels, false);
        ok(ptxiArrayDestroy(a));
    }
    close_context();
}
END_TEST

START_TEST(memory_allocated_by_kernels)
{
    uint64_t expected;
    ptxiDevicePtr variable;

    open_with(_i);
    expected = filled();
    ok(ptxiModuleGetGlobal(&variable, NULL, module, "variable"));
    for (unsigned n = 0; n < 3; n++) {
        uint64_t got[2 * CTAS * THREADS];
        ptxiDevicePtr out;

        ok(ptxiMemcpyHtoD(variable, &expected, sizeof expected));
        ok(ptxiMemAlloc(&out, sizeof got));
        launch("blocks", out);
        ok(ptxiMemcpyDtoH(got, out, sizeof got));
        for (unsigned k = 0; k < 2 * CTAS * THREADS; k++)
            ck_bits64_at(got[k], 0, "launch %u, word %u", n, k);
        ok(ptxiMemFree(out));
    }
    close_context();
}
END_TEST

/* The bytes that a strong access reads after the end of an allocation are zeros. */
START_TEST(bytes_after_an_allocation)
{
    ptxiDevicePtr out;
    ptxiFunction f;

    open_with(_i);
    for (unsigned n = 0; n < MORE_THAN_QUARANTINE; n++)
        put_device(memset(get_device(600), POISON, 600));
    ok(ptxiModuleGetFunction(&f, module, "behind"));
    ok(ptxiMemAlloc(&out, 4));
    for (unsigned n = 0; n < 600; n++) {
        ptxiDevicePtr p = (uintptr_t)get_device(514), from = p + 512;
        uint32_t word;

        ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &from, &out }, NULL));
        ok(ptxiMemcpyDtoH(&word, out, 4));
        ck_bits32(word, 0);
        put_device((void *)(uintptr_t)p);
    }
    close_context();
}
END_TEST

/* PTX ISA, "Initializers": .global variables without an initializer are zero, independent of PTXI_FILL. */
START_TEST(variables_of_modules)
{
    open_with(_i);
    for (unsigned n = 0; n < MORE_THAN_QUARANTINE; n++) {
        static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .b8 v[80];";
        unsigned char bytes[80];
        ptxiDevicePtr v;
        ptxiModule m;

        ok(ptxiModuleLoadData(&m, text));
        ok(ptxiModuleGetGlobal(&v, NULL, m, "v"));
        ok(ptxiMemcpyDtoH(bytes, v, sizeof bytes));
        for (unsigned k = 0; k < sizeof bytes; k++)
            ck_assert_uint_eq(bytes[k], 0);
        ok(ptxiMemsetD8(v, POISON, sizeof bytes));
        ok(ptxiModuleUnload(m));
    }
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("defined_content");
    TCase *t = tcase_create("defined_content");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, registers, 0, RUNS);
    tcase_add_test(t, a_loop_at_the_entry);
    tcase_add_loop_test(t, parameters_and_results, 0, RUNS);
    tcase_add_loop_test(t, local_memory, 0, RUNS);
    tcase_add_loop_test(t, shared_and_tensor_memory, 0, RUNS);
    tcase_add_loop_test(t, allocations, 0, RUNS);
    tcase_add_loop_test(t, arrays, 0, RUNS);
    tcase_add_loop_test(t, memory_allocated_by_kernels, 0, RUNS);
    tcase_add_loop_test(t, bytes_after_an_allocation, 0, RUNS);
    tcase_add_loop_test(t, variables_of_modules, 0, RUNS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
