/* Tests snapshots of contexts: what they restore, bases, damaged files, and what is refused. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64, LARGE = 3 << 20, MOST_FILE = 1 << 20 };

static ptxiModule module;
static ptxiFunction step;
static ptxiDevicePtr small, large;
static char directory[] = "/tmp/ptxi-snapshot-XXXXXX", names[4][64];

static void load(void)
{
    ok(ptxiModuleLoadData(&module, test_file("api/snapshot/snapshot.ptx")));
    ok(ptxiModuleGetFunction(&step, module, "step"));
}

static void set_up(void)
{
    open_context();
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (int k = 0; k < 4; k++)
        snprintf(names[k], sizeof names[k], "%s/%d.snap", directory, k);
    load();
    ok(ptxiMemAlloc(&small, WORDS * 4));
    ok(ptxiMemAlloc(&large, LARGE));
    ok(ptxiMemsetD32(small, 100, WORDS));
}

static void tear_down(void)
{
    close_context();
    for (int k = 0; k < 4; k++)
        unlink(names[k]);
    ck_assert_msg(!rmdir(directory), "a temporary file is left");
    memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
}

static void run_step(void)
{
    void *params[] = { &small };

    ok(ptxiLaunchKernel(step, 1, 1, 1, WORDS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
}

static uint32_t word(ptxiDevicePtr at)
{
    uint32_t v = 0;

    ok(ptxiMemcpyDtoH(&v, at, sizeof v));
    return v;
}

static void save(int number, int base)
{
    ok(ptxiCtxSave(NULL, names[number], base < 0 ? NULL : names[base], "note", 5));
}

static void restore(int number)
{
    char *note;
    size_t bytes;

    ok(ptxiCtxRestore(NULL, names[number], (void **)&note, &bytes));
    ck_assert_uint_eq(bytes, 5);
    ck_assert_str_eq(note, "note");
    ptxiFree(note);
}

static void ck_refused(ptxiResult found, ptxiResult expected, const char *reason)
{
    ptxiReport report = { .size = sizeof report };

    ck_result(found, expected);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(strstr(report.text, reason), "%s: %s", reason, report.text);
}

START_TEST(memory_and_variables_return)
{
    void *host;
    ptxiDevicePtr other;
    ptxiCounters counters = { .size = sizeof counters };

    ok(ptxiMemHostAlloc(&host, 100, 0));
    memset(host, 7, 100);
    ok(ptxiCtxSetCounting(NULL, 1));
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 1000000));
    run_step(); /* adds 3 * 5 + 2 */
    ok(ptxiMemsetD32(large + LARGE - 4, 42, 1));
    save(0, -1);
    run_step();
    ck_assert_uint_eq(word(small), 100 + 17 + 22);
    memset(host, 8, 100);
    ok(ptxiMemsetD8(large, 1, LARGE));
    ok(ptxiMemFree(small));
    ok(ptxiMemAlloc(&other, 10));
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 2000000));
    restore(0);
    ck_assert_uint_eq(word(small), 117);
    ck_assert_uint_eq(word(large), 0);
    ck_assert_uint_eq(word(large + LARGE - 4), 42);
    ck_assert_int_eq(((char *)host)[99], 7);
    ck_result(ptxiMemFree(other), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiCtxGetCounters(NULL, &counters));
    ck_assert_uint_eq(counters.launches, 1);
    size_t limit;

    ok(ptxiCtxGetLimit(&limit, PTXI_LIMIT_INSTRUCTIONS));
    ck_assert_uint_eq(limit, 1000000);
    run_step();
    ck_assert_uint_eq(word(small), 117 + 22);
}
END_TEST

START_TEST(modules_are_loaded_later)
{
    ptxiDevicePtr before, after;
    size_t bytes;

    ok(ptxiModuleGetGlobal(&before, &bytes, module, "aligned"));
    run_step();
    save(0, -1);
    run_step();
    ok(ptxiModuleUnload(module));
    restore(0);
    save(1, -1); /* not loaded yet */
    restore(1);
    load();
    ok(ptxiModuleGetGlobal(&after, &bytes, module, "aligned"));
    ck_assert_uint_eq(before, after);
    ck_assert_uint_eq(word(after + 1996), 4);
    run_step();
    ck_assert_uint_eq(word(small), 117 + 22);
    load(); /* a second one has variables of its own */
    ok(ptxiModuleGetGlobal(&after, &bytes, module, "aligned"));
    ck_assert_uint_ne(before, after);
    run_step();
    ck_assert_uint_eq(word(small), 117 + 22 + 17);
    restore(1);
}
END_TEST

START_TEST(loaded_elsewhere_is_refused)
{
    save(0, -1);
    ok(ptxiModuleUnload(module));
    load();
    ck_refused(ptxiCtxRestore(NULL, names[0], NULL, NULL), PTXI_ERROR_INVALID_VALUE, "other addresses");
}
END_TEST

static long size_of(int number)
{
    FILE *f = fopen(names[number], "rb");

    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);

    fclose(f);
    return size;
}

START_TEST(bases_save_space)
{
    ok(ptxiMemsetD8(large, 1, LARGE));
    save(0, -1);
    run_step();
    ok(ptxiMemsetD8(large, 0, 1 << 20));
    save(1, 0);
    ok(ptxiMemsetD8(large + (1 << 20), 9, 4096));
    save(2, 1);
    ck_assert_int_gt(size_of(0), LARGE);
    ck_assert_int_lt(size_of(1), 60000);
    ck_assert_int_lt(size_of(2), 60000);
    ok(ptxiMemsetD8(large, 5, LARGE));
    run_step();
    restore(2);
    ck_assert_uint_eq(word(large), 0);
    ck_assert_uint_eq(word(large + (1 << 20)), 0x09090909);
    ck_assert_uint_eq(word(large + (2 << 20)), 0x01010101);
    restore(1);
    ck_assert_uint_eq(word(large + (1 << 20)), 0x01010101);
    ck_assert_uint_eq(word(small), 117);
    restore(0);
    ck_assert_uint_eq(word(large), 0x01010101);
    save(3, -1); /* the same again */
    ok(ptxiMemsetD8(large, 5, LARGE));
    save(0, -1);
    ck_refused(ptxiCtxRestore(NULL, names[2], NULL, NULL), PTXI_ERROR_INVALID_IMAGE, "is not its base");
    unlink(names[0]);
    ck_refused(ptxiCtxRestore(NULL, names[2], NULL, NULL), PTXI_ERROR_FILE_NOT_FOUND, "cannot be read");
    ck_refused(ptxiCtxSave(NULL, names[0], "/tmp/else/x", NULL, 0), PTXI_ERROR_INVALID_VALUE, "one directory");
    ck_refused(ptxiCtxSave(NULL, names[3], names[3], NULL, 0), PTXI_ERROR_INVALID_VALUE, "different files");
}
END_TEST

static void write_file(int number, const void *data, size_t size)
{
    FILE *f = fopen(names[number], "wb");

    ck_assert(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static size_t read_file(int number, unsigned char *data)
{
    FILE *f = fopen(names[number], "rb");

    ck_assert_ptr_nonnull(f);
    size_t size = fread(data, 1, MOST_FILE, f);

    fclose(f);
    return size;
}

/* Every flipped byte and every truncation. */
START_TEST(damaged_files_are_refused)
{
    unsigned char *data = malloc(MOST_FILE);

    ok(ptxiMemFree(large));
    save(0, -1);
    ok(ptxiMemsetD32(small, 1, WORDS));
    size_t size = read_file(0, data);

    ck_assert_uint_lt(size, 12000);
    for (size_t k = 0; k < size; k++) {
        data[k] ^= (unsigned char)(1u << k % 8);
        write_file(1, data, size);
        ck_result(ptxiCtxRestore(NULL, names[1], NULL, NULL), PTXI_ERROR_INVALID_IMAGE);
        data[k] ^= (unsigned char)(1u << k % 8);
        write_file(1, data, k);
        ck_result(ptxiCtxRestore(NULL, names[1], NULL, NULL), PTXI_ERROR_INVALID_IMAGE);
    }
    write_file(1, data, size + 1);
    ck_refused(ptxiCtxRestore(NULL, names[1], NULL, NULL), PTXI_ERROR_INVALID_IMAGE, "cut off or too long");
    write_file(1, "something", 9);
    ck_refused(ptxiCtxRestore(NULL, names[1], NULL, NULL), PTXI_ERROR_INVALID_IMAGE, "not a snapshot");
    ck_assert_uint_eq(word(small), 1);
    restore(0);
    ck_assert_uint_eq(word(small), 100);
    free(data);
}
END_TEST

START_TEST(mappings_are_refused)
{
    ptxiMemAllocationProp prop = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                   .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiMemAccessDesc access = { .location = prop.location, .flags = PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ptxiMemGenericAllocationHandle handle;
    const size_t bytes = 2 << 20;
    ptxiDevicePtr at;

    ok(ptxiMemAddressReserve(&at, bytes, 0, 0, 0));
    ok(ptxiMemCreate(&handle, bytes, &prop, 0));
    ok(ptxiMemMap(at, bytes, 0, handle, 0));
    save(0, -1); /* no kernel may access it yet */
    ok(ptxiMemSetAccess(at, bytes, &access, 1));
    ck_refused(ptxiCtxSave(NULL, names[1], NULL, NULL, 0), PTXI_ERROR_NOT_SUPPORTED, "mappings of ptxiMemMap");
    ok(ptxiMemUnmap(at, bytes));
    save(1, -1);
    ok(ptxiMemRelease(handle));
    ok(ptxiMemAddressFree(at, bytes));
}
END_TEST

START_TEST(some_contexts_are_refused)
{
    static char memory[8192];
    PTXI_ARRAY_DESCRIPTOR d = { .Width = 8, .Height = 8, .Format = PTXI_AD_FORMAT_FLOAT, .NumChannels = 1 };
    ptxiArray array;

    ok(ptxiArrayCreate(&array, &d));
    ck_refused(ptxiCtxSave(NULL, names[0], NULL, NULL, 0), PTXI_ERROR_NOT_SUPPORTED, "arrays");
    ok(ptxiArrayDestroy(array));
    ok(ptxiMemHostRegister(memory, sizeof memory, 0));
    ck_refused(ptxiCtxSave(NULL, names[0], NULL, NULL, 0), PTXI_ERROR_NOT_SUPPORTED, "registered");
    ok(ptxiMemHostUnregister(memory));
    ck_refused(ptxiCtxSave(NULL, "/nowhere/at/all", NULL, NULL, 0), PTXI_ERROR_OPERATING_SYSTEM, "cannot be written");
    ck_result(ptxiCtxSave(NULL, NULL, NULL, NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ck_refused(ptxiCtxRestore(NULL, names[0], NULL, NULL), PTXI_ERROR_FILE_NOT_FOUND, "cannot be read");
    save(0, -1);
    ok(ptxiMemFree(large));
    ok(ptxiCtxDestroy(ctx));
    ok(ptxiCtxCreate(&ctx, 0, 0));
    restore(0); /* into another context, since nothing else has the addresses */
    load();
    run_step();
    ck_assert_uint_eq(word(small), 117);
    ptxiContext other;

    ok(ptxiCtxCreate(&other, 0, 0));
    ck_refused(ptxiCtxRestore(NULL, names[0], NULL, NULL), PTXI_ERROR_INVALID_VALUE, "are in use");
    ok(ptxiCtxDestroy(other));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("snapshot");
    TCase *t = tcase_create("snapshot");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, memory_and_variables_return);
    tcase_add_test(t, modules_are_loaded_later);
    tcase_add_test(t, loaded_elsewhere_is_refused);
    tcase_add_test(t, bases_save_space);
    tcase_add_test(t, damaged_files_are_refused);
    tcase_add_test(t, mappings_are_refused);
    tcase_add_test(t, some_contexts_are_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
