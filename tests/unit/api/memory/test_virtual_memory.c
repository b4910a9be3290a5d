/* Tests reserved addresses, memory without an address, mappings, access and file descriptors. */
#include "unit/support/context.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNIT = 2 << 20, N = 32 };

/* Adds 1 to the words at p + 4 * tid. */
static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) { .reg .u64 %p; .reg .u32 %x; ld.param.u64 %p, [p]; mov.u32 %x, %tid.x;\n"
    "  mad.wide.u32 %p, %x, 4, %p; ld.global.u32 %x, [%p]; add.u32 %x, %x, 1; st.global.u32 [%p], %x; ret; }\n";

static ptxiFunction kernel;
static ptxiDevicePtr base;
static const ptxiMemAllocationProp plain = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                             .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
static const ptxiMemAccessDesc both = { { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE },
    reading = { { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, PTXI_MEM_ACCESS_FLAGS_PROT_READ },
    nothing = { { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, PTXI_MEM_ACCESS_FLAGS_PROT_NONE };

static void load(void)
{
    ptxiModule m;

    open_context();
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&kernel, m, "k"));
    ok(ptxiMemAddressReserve(&base, 8 * UNIT, 0, 0, 0));
}

static void unload(void)
{
    close_context();
    ok(ptxiMemAddressFree(base, 8 * UNIT));
}

static ptxiMemGenericAllocationHandle create(size_t units)
{
    ptxiMemGenericAllocationHandle h;

    ok(ptxiMemCreate(&h, units * UNIT, &plain, 0));
    return h;
}

static void map(unsigned unit, size_t units, ptxiMemGenericAllocationHandle h)
{
    ok(ptxiMemMap(base + unit * UNIT, units * UNIT, 0, h, 0));
}

static ptxiResult run(ptxiDevicePtr p)
{
    void *params[] = { &p };

    ok(ptxiLaunchKernel(kernel, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

static unsigned word(ptxiDevicePtr p)
{
    unsigned x;

    ok(ptxiMemcpyDtoH(&x, p, sizeof x));
    return x;
}

START_TEST(kernels_use_mapped_memory)
{
    ptxiMemGenericAllocationHandle h = create(1);

    ck_result(run(base), PTXI_ERROR_ILLEGAL_ADDRESS);
    map(0, 1, h);
    ok(ptxiMemRelease(h)); /* the mapping keeps the memory */
    ck_result(run(base), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemSetAccess(base, UNIT, &both, 1));
    ok(ptxiMemsetD32(base, 5, UNIT / 4));
    ok(run(base));
    ck_assert_uint_eq(word(base), 6);
    ok(ptxiMemSetAccess(base, UNIT, &reading, 1));
    ck_assert_uint_ne(run(base), PTXI_SUCCESS);
    ck_result(ptxiMemsetD32(base, 5, 1), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(word(base), 6);
    ok(ptxiMemSetAccess(base, UNIT, &nothing, 1));
    ck_result(ptxiMemsetD32(base, 5, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemSetAccess(base, UNIT, &both, 1));
    ck_assert_uint_eq(word(base), 6);
    ok(ptxiMemUnmap(base, UNIT));
    ck_result(run(base), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_result(ptxiMemFree(base), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(adjacent_mappings_are_one_range)
{
    ptxiMemGenericAllocationHandle a = create(1), b = create(2);
    ptxiDevicePtr start;
    size_t size;

    map(1, 2, b);
    map(0, 1, a);
    ok(ptxiMemSetAccess(base, 3 * UNIT, &both, 1));
    ok(ptxiMemsetD32(base, 9, 3 * UNIT / 4));
    ok(run(base + UNIT - N / 2 * 4)); /* half of the warp on each side */
    ck_assert(word(base + UNIT - 4) == 10 && word(base + UNIT) == 10 && word(base + UNIT + N / 2 * 4) == 9);
    ok(ptxiMemcpyDtoD(base + UNIT, base, 2 * UNIT));
    ok(ptxiMemGetAddressRange(&start, &size, base + UNIT));
    ck_assert(start == base && size == 3 * UNIT);
    ck_result(ptxiMemUnmap(base, UNIT / 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemUnmap(base, 2 * UNIT), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemSetAccess(base, 4 * UNIT, &both, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemUnmap(base + 3 * UNIT, UNIT), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemSetAccess(base, 2 * UNIT, &both, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemSetAccess(base, UNIT, &reading, 1));
    ck_result(ptxiMemsetD32(base, 9, 2 * UNIT / 4), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemUnmap(base, 4 * UNIT)); /* the last unit is not mapped */
    ok(ptxiMemRelease(a));
    ok(ptxiMemRelease(b));
}
END_TEST

START_TEST(memory_at_two_addresses)
{
    ptxiMemGenericAllocationHandle h = create(2), same;

    map(0, 2, h);
    ck_result(ptxiMemMap(base + 3 * UNIT, UNIT, UNIT, h, 0), PTXI_ERROR_NOT_SUPPORTED); /* the second half */
    ok(ptxiMemMap(base + 3 * UNIT, UNIT, 0, h, 0));
    ok(ptxiMemSetAccess(base, 2 * UNIT, &both, 1));
    ok(ptxiMemSetAccess(base + 3 * UNIT, UNIT, &reading, 1));
    ok(ptxiMemsetD32(base, 77, 1));
    ck_assert_uint_eq(word(base + 3 * UNIT), 77);
    ok(ptxiMemRelease(h));
    ck_result(ptxiMemRelease(h), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemRetainAllocationHandle(&same, (void *)(uintptr_t)(base + 3 * UNIT + 5)));
    ck_assert_uint_eq(same, h);
    ok(ptxiMemUnmap(base, 2 * UNIT));
    ok(ptxiMemUnmap(base + 3 * UNIT, UNIT));
    map(4, 2, same);
    ok(ptxiMemSetAccess(base + 4 * UNIT, 2 * UNIT, &both, 1));
    ck_assert_uint_eq(word(base + 4 * UNIT), 77);
    ok(ptxiMemUnmap(base + 4 * UNIT, 2 * UNIT));
    ok(ptxiMemRelease(same));
    ck_result(ptxiMemRetainAllocationHandle(&same, (void *)(uintptr_t)base), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(new_memory_is_empty)
{
    ptxiMemGenericAllocationHandle h = create(1);
    size_t before, after, total;

    map(0, 1, h);
    ok(ptxiMemSetAccess(base, UNIT, &both, 1));
    ok(ptxiMemsetD8(base, 255, UNIT));
    ok(ptxiMemGetInfo(&before, &total));
    ok(ptxiMemUnmap(base, UNIT));
    ok(ptxiMemRelease(h));
    ok(ptxiMemGetInfo(&after, &total));
    ck_assert_uint_eq(after - before, UNIT);
    h = create(1);
    map(0, 1, h);
    ok(ptxiMemSetAccess(base, UNIT, &both, 1));
    ck_assert_uint_eq(word(base), 0);
    ok(ptxiMemUnmap(base, UNIT));
    ok(ptxiMemRelease(h));
}
END_TEST

START_TEST(access_and_properties)
{
    ptxiMemGenericAllocationHandle h;
    ptxiMemAllocationProp prop = plain, got;
    ptxiMemAccessDesc bad = both, host = both;
    unsigned long long flags;
    size_t granularity;

    ok(ptxiMemGetAllocationGranularity(&granularity, &prop, PTXI_MEM_ALLOC_GRANULARITY_MINIMUM));
    ck_assert_uint_eq(granularity, UNIT);
    ck_result(ptxiMemGetAllocationGranularity(&granularity, &prop, (ptxiMemAllocationGranularityFlags)2),
          PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemCreate(&h, UNIT / 2, &prop, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemCreate(&h, 0, &prop, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemCreate(&h, UNIT, &prop, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemCreate(&h, (size_t)1 << 60, &prop, 0), PTXI_ERROR_OUT_OF_MEMORY);
    prop.location.id = 1;
    ck_result(ptxiMemCreate(&h, UNIT, &prop, 0), PTXI_ERROR_INVALID_DEVICE);
    prop.location = (ptxiMemLocation){ PTXI_MEM_LOCATION_TYPE_HOST, 0 };
    ck_result(ptxiMemCreate(&h, UNIT, &prop, 0), PTXI_ERROR_NOT_SUPPORTED);
    prop = plain;
    prop.requestedHandleTypes = PTXI_MEM_HANDLE_TYPE_FABRIC;
    ck_result(ptxiMemCreate(&h, UNIT, &prop, 0), PTXI_ERROR_NOT_SUPPORTED);
    h = create(1);
    ok(ptxiMemGetAllocationPropertiesFromHandle(&got, h));
    ck_assert_mem_eq(&got, &plain, sizeof got);
    ck_result(ptxiMemGetAccess(&flags, &both.location, base), PTXI_ERROR_INVALID_VALUE);
    map(0, 1, h);
    ok(ptxiMemGetAccess(&flags, &both.location, base + 1));
    ck_assert_uint_eq(flags, PTXI_MEM_ACCESS_FLAGS_PROT_NONE);
    ok(ptxiMemSetAccess(base, UNIT, &both, 1));
    ok(ptxiMemGetAccess(&flags, &both.location, base));
    ck_assert_uint_eq(flags, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE);
    bad.flags = (ptxiMemAccessFlags)2;
    ck_result(ptxiMemSetAccess(base, UNIT, &bad, 1), PTXI_ERROR_INVALID_VALUE);
    bad = both;
    bad.location.id = 3;
    ck_result(ptxiMemSetAccess(base, UNIT, &bad, 1), PTXI_ERROR_INVALID_VALUE);
    host.location.type = PTXI_MEM_LOCATION_TYPE_HOST;
    ck_result(ptxiMemSetAccess(base, UNIT, &host, 1), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiMemSetAccess(base, UNIT, &both, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressFree(base, 8 * UNIT), PTXI_ERROR_INVALID_VALUE); /* memory is mapped */
    ok(ptxiMemUnmap(base, UNIT));
    ok(ptxiMemRelease(h));
}
END_TEST

START_TEST(bad_ranges)
{
    ptxiMemGenericAllocationHandle h = create(2);
    ptxiDevicePtr p, q;

    ck_result(ptxiMemAddressReserve(&p, 0, 0, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressReserve(&p, 4096, 0, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressReserve(&p, UNIT, 3, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressReserve(&p, UNIT, 0, 0, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressReserve(&p, (size_t)1 << 60, 0, 0, 0), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemAddressReserve(&p, UNIT, 64 * UNIT, 0, 0));
    ck_assert_uint_eq(p % (64 * UNIT), 0);
    ck_result(ptxiMemAddressFree(p, 2 * UNIT), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAddressFree(p + 4096, UNIT), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAddressFree(p, UNIT));
    ok(ptxiMemAddressReserve(&q, UNIT, 0, p, 0)); /* the same address again */
    ck_assert_uint_eq(q, p);
    ok(ptxiMemAddressFree(q, UNIT));
    ck_result(ptxiMemAddressFree(q, UNIT), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(p, UNIT, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base + 4096, UNIT, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base, 4 * UNIT, 0, h, 0), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiMemMap(base, UNIT, 0, h, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base + 7 * UNIT, 2 * UNIT, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base, 0, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base, UNIT, 0, 12345, 0), PTXI_ERROR_INVALID_VALUE);
    map(1, 2, h);
    ck_result(ptxiMemMap(base, 2 * UNIT, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemMap(base + 2 * UNIT, 2 * UNIT, 0, h, 0), PTXI_ERROR_INVALID_VALUE);
    map(3, 2, h);
    ok(ptxiMemUnmap(base + UNIT, 4 * UNIT));
    ok(ptxiMemRelease(h));
}
END_TEST

/* The child process cannot use the library after fork(), so it writes through the file descriptor. */
START_TEST(file_descriptors)
{
    ptxiMemAllocationProp prop = plain;
    ptxiMemGenericAllocationHandle h, other;
    int fd, status, foreign = memfd_create("foreign", 0);

    h = create(1);
    ck_result(ptxiMemExportToShareableHandle(&fd, h, PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemRelease(h));
    prop.requestedHandleTypes = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ok(ptxiMemCreate(&h, UNIT, &prop, 0));
    ok(ptxiMemExportToShareableHandle(&fd, h, PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ck_assert_int_ne(ftruncate(fd, 0), 0);
    pid_t child = fork();

    if (!child)
        _exit(pwrite(fd, "\x2a\0\0\0", 4, 8) != 4);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ok(ptxiMemImportFromShareableHandle(&other, (void *)(intptr_t)fd, PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    map(0, 1, h);
    map(1, 1, other);
    ok(ptxiMemSetAccess(base, 2 * UNIT, &both, 1));
    ck_assert(word(base + 8) == 42 && word(base + UNIT + 8) == 42);
    ok(ptxiMemsetD32(base, 7, 1));
    ck_assert_uint_eq(word(base + UNIT), 7);
    ok(ptxiMemUnmap(base, 2 * UNIT));
    ok(ptxiMemRelease(h));
    ok(ptxiMemRelease(other));
    ck_assert_int_eq(ftruncate(foreign, UNIT), 0);
    ck_result(ptxiMemImportFromShareableHandle(&other, (void *)(intptr_t)foreign,
                                           PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemImportFromShareableHandle(&other, (void *)-1, PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          PTXI_ERROR_INVALID_VALUE);
    close(foreign);
}
END_TEST

START_TEST(more_memory_than_files)
{
    enum { MANY = 1100 };
    static ptxiMemGenericAllocationHandle handles[MANY];

    for (unsigned k = 0; k < MANY; k++)
        ok(ptxiMemCreate(&handles[k], UNIT, &plain, 0));
    for (unsigned k = 0; k < MANY; k++)
        ok(ptxiMemRelease(handles[k]));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("virtual memory");
    TCase *t = tcase_create("virtual memory");

    tcase_add_checked_fixture(t, load, unload);
    tcase_add_test(t, kernels_use_mapped_memory);
    tcase_add_test(t, adjacent_mappings_are_one_range);
    tcase_add_test(t, memory_at_two_addresses);
    tcase_add_test(t, new_memory_is_empty);
    tcase_add_test(t, access_and_properties);
    tcase_add_test(t, bad_ranges);
    tcase_add_test(t, file_descriptors);
    tcase_add_test(t, more_memory_than_files);
    suite_add_tcase(s, t);
    return run_suite(s);
}
