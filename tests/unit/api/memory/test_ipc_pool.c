/* Tests memory pools that two processes share. */
#include "unit/support/peer.h"

#include <sys/mman.h>

enum { SIZE = 3 << 20 };

static const ptxiMemAllocationHandleType FD = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static struct peer peer;
static ptxiMemoryPool pool;
static unsigned files_before;

static ptxiMemoryPool make_pool(int handle_types, size_t most)
{
    ptxiMemPoolProps props = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = handle_types,
                               .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE, .maxSize = most };
    ptxiMemoryPool made;

    ok(ptxiMemPoolCreate(&made, &props));
    return made;
}

static void set_up(void)
{
    open_context();
    files_before = count_files();
    peer = start_peer();
    pool = make_pool(FD, 0);
}

static void tear_down(void)
{
    if (peer.process)
        stop_peer(&peer);
    close_context();
}

static ptxiDevicePtr allocate(ptxiMemoryPool from, size_t bytes)
{
    ptxiDevicePtr p;

    ok(ptxiMemAllocFromPoolAsync(&p, bytes, from, NULL));
    return p;
}

static int export_pool(ptxiMemoryPool of)
{
    int fd;

    ok(ptxiMemPoolExportToShareableHandle(&fd, of, FD, 0));
    return fd;
}

static ptxiMemPoolPtrExportData export_pointer(ptxiDevicePtr p)
{
    ptxiMemPoolPtrExportData data;

    ok(ptxiMemPoolExportPointer(&data, p));
    return data;
}

static void pass_pool(ptxiMemoryPool of)
{
    int fd = export_pool(of);

    ck_assert(send_message(peer.socket, (struct peer_message){ .operation = PEER_IMPORT_POOL, .fd = fd }));
    close(fd);
    ck_assert_int_eq(answer_of(&peer).result, PTXI_SUCCESS);
}

static ptxiResult import_pool(ptxiMemoryPool *imported, int fd)
{
    return ptxiMemPoolImportFromShareableHandle(imported, (void *)(intptr_t)fd, FD, 0);
}

static unsigned load(ptxiDevicePtr p)
{
    unsigned word;

    ok(ptxiMemcpyDtoH(&word, p, sizeof word));
    return word;
}

static uint64_t used(ptxiMemoryPool of)
{
    uint64_t bytes;

    ok(ptxiMemPoolGetAttribute(of, PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

/* ---- use */

START_TEST(both_processes_use_the_memory)
{
    static const size_t sizes[] = { SIZE, 4, 4096, 100000 };
    const size_t bytes = sizes[_i];
    ptxiDevicePtr p = allocate(pool, bytes), other = allocate(pool, bytes);
    unsigned long long types;

    ok(ptxiMemsetD32(p, 40, bytes / 4));
    ok(ptxiMemsetD32(other, 50, bytes / 4));
    ok(ptxiPointerGetAttribute(&types, PTXI_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p));
    ck_assert_uint_eq(types, FD);
    ptxiMemPoolPtrExportData data = export_pointer(p), same = export_pointer(p), second = export_pointer(other);

    ck_assert_mem_eq(&data, &same, sizeof data);
    pass_pool(pool);
    ptxiDevicePtr q = demand(&peer, PEER_IMPORT, 0, &data), r = demand(&peer, PEER_IMPORT, 0, &second);

    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q, NULL), 40);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, r, NULL), 50);
    demand(&peer, PEER_INCREMENT, q + bytes - 4, NULL);
    ck_assert_uint_eq(load(p + bytes - 4), 41);
    ck_assert_int_eq(ask(&peer, PEER_INCREMENT, q + bytes, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
    demand(&peer, PEER_FREE_ASYNC, q, NULL);
    demand(&peer, PEER_FINISH, 0, NULL);
    ck_assert_int_eq(ask(&peer, PEER_INCREMENT, q, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
    demand(&peer, PEER_DESTROY_POOL, 0, NULL);
    demand(&peer, PEER_INCREMENT, r, NULL); /* the memory outlives the pool */
    demand(&peer, PEER_FREE, r, NULL);
    ck_assert_uint_eq(load(other), 51);
    ck_assert_uint_eq(used(pool), 2 * bytes);
    ok(ptxiMemFree(p));
    ok(ptxiMemFreeAsync(other, NULL));
    ok(ptxiStreamSynchronize(NULL));
    ck_assert_uint_eq(used(pool), 0);
    ok(ptxiMemPoolDestroy(pool));
    ck_assert_uint_eq(count_shared_mappings(), 0);
    ck_assert_uint_eq(count_files(), files_before + 1); /* the socket */
}
END_TEST

START_TEST(new_memory_is_empty)
{
    for (int i = 0; i < 20; i++) {
        ptxiDevicePtr p = allocate(pool, SIZE);

        ck_assert_uint_eq(load(p), 0);
        ck_assert_uint_eq(load(p + SIZE - 4), 0);
        ok(ptxiMemsetD32(p, 0xffffffff, SIZE / 4));
        ok(ptxiMemFree(p));
    }
}
END_TEST

START_TEST(limits)
{
    ptxiMemoryPool limited = make_pool(FD, 32 << 20);
    ptxiDevicePtr p = allocate(limited, 32 << 20), q;

    ck_result(ptxiMemAllocFromPoolAsync(&q, 4, limited, NULL), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemFree(p));
    ok(ptxiMemAllocFromPoolAsync(&q, 4, limited, NULL));
    ok(ptxiDeviceSetMemPool(0, limited));
    ok(ptxiMemAllocAsync(&p, 4, NULL));
    export_pointer(p);
    ok(ptxiMemPoolDestroy(limited));
    ok(ptxiMemFree(p));
    ok(ptxiMemFree(q));
}
END_TEST

/* ---- pools of this process, imported again */

START_TEST(imported_pools)
{
    ptxiDevicePtr p = allocate(pool, SIZE), q;
    ptxiMemPoolPtrExportData data = export_pointer(p);
    ptxiMemoryPool imported;
    ptxiMemLocation location = { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 };
    ptxiMemAccessDesc access = { location, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ptxiMemAccessFlags flags;
    int fd = export_pool(pool), other;

    ok(import_pool(&imported, fd));
    close(fd);
    ok(ptxiMemPoolGetAccess(&flags, imported, &location));
    ck_assert_int_eq((int)flags, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ok(ptxiMemPoolSetAccess(imported, &access, 1));
    ck_result(ptxiMemAllocFromPoolAsync(&q, 4, imported, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceSetMemPool(0, imported), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportToShareableHandle(&other, imported, FD, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemPoolImportPointer(&q, imported, &data));
    ck_assert_uint_ne(q, p);
    ck_result(ptxiMemPoolExportPointer(&data, q), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(used(imported), SIZE);
    ok(ptxiMemsetD32(p, 6, 1));
    ck_assert_uint_eq(load(q), 6);
    ok(ptxiMemFree(p));
    ck_assert_uint_eq(load(q), 0);
    ok(ptxiMemsetD32(q, 7, 1)); /* nobody sees it, and nothing crashes */
    ck_result(ptxiMemPoolImportPointer(&p, imported, &data), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemPoolDestroy(imported));
    ok(ptxiMemFree(q));
}
END_TEST

START_TEST(memory_outlives_its_owner)
{
    ptxiDevicePtr p = allocate(pool, SIZE);
    ptxiMemPoolPtrExportData data = export_pointer(p);

    pass_pool(pool);
    ptxiDevicePtr q = demand(&peer, PEER_IMPORT, 0, &data);

    ok(ptxiMemFree(p));
    ok(ptxiMemPoolDestroy(pool));
    demand(&peer, PEER_INCREMENT, q, NULL);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q, NULL), 1);
    ck_assert_int_eq(ask(&peer, PEER_IMPORT, 0, &data).result, PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(a_killed_process_changes_nothing)
{
    ptxiDevicePtr p = allocate(pool, SIZE);
    ptxiMemPoolPtrExportData data = export_pointer(p);

    pass_pool(pool);
    ptxiDevicePtr q = demand(&peer, PEER_IMPORT, 0, &data);

    demand(&peer, PEER_INCREMENT, q, NULL);
    kill_peer(&peer);
    ck_assert_uint_eq(load(p), 1);
    ok(ptxiMemFree(p));
}
END_TEST

/* ---- invalid arguments */

START_TEST(pools_and_pointers_that_cannot_be_shared)
{
    ptxiMemoryPool private = make_pool(0, 0), device;
    ptxiMemPoolPtrExportData data;
    ptxiDevicePtr p = allocate(private, SIZE), plain, shared = allocate(pool, SIZE);
    int fd;

    ok(ptxiDeviceGetDefaultMemPool(&device, 0));
    ok(ptxiMemAlloc(&plain, SIZE));
    ck_result(ptxiMemPoolExportToShareableHandle(&fd, private, FD, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportToShareableHandle(&fd, device, FD, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportToShareableHandle(&fd, pool, PTXI_MEM_HANDLE_TYPE_NONE, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportToShareableHandle(&fd, pool, FD, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportToShareableHandle(NULL, pool, FD, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportPointer(&data, p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportPointer(&data, plain), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportPointer(&data, shared + 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportPointer(&data, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolExportPointer(NULL, shared), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFree(shared));
    ck_result(ptxiMemPoolExportPointer(&data, shared), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemPoolDestroy(private));
}
END_TEST

START_TEST(files_that_are_no_pools)
{
    ptxiMemAllocationProp prop = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = FD,
                                   .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiMemGenericAllocationHandle h, other;
    ptxiMemoryPool imported;
    int files[] = { -1, open("/dev/null", O_RDWR), memfd_create("ptxi", MFD_ALLOW_SEALING), -1, peer.socket };
    int of_pool = export_pool(pool);

    ok(ptxiMemCreate(&h, 2 << 20, &prop, 0));
    ok(ptxiMemExportToShareableHandle(&files[3], h, FD, 0));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_result(import_pool(&imported, files[i]), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)of_pool, PTXI_MEM_HANDLE_TYPE_NONE, 0),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)of_pool, FD, 1),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(import_pool(NULL, of_pool), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemImportFromShareableHandle(&other, (void *)(intptr_t)of_pool, FD), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemRelease(h));
}
END_TEST

START_TEST(data_that_are_not_of_the_pool)
{
    ptxiMemoryPool second = make_pool(FD, 0), imported;
    ptxiDevicePtr p = allocate(pool, SIZE), q = allocate(second, SIZE), got;
    ptxiMemPoolPtrExportData data = export_pointer(p), foreign = export_pointer(q), changed;
    int fd = export_pool(pool);

    ok(import_pool(&imported, fd));
    ck_result(ptxiMemPoolImportPointer(&got, imported, &foreign), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolImportPointer(&got, pool, &data), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolImportPointer(&got, imported, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPoolImportPointer(NULL, imported, &data), PTXI_ERROR_INVALID_VALUE);
    for (unsigned bit = 0; bit < 320; bit++) { /* what describes the part of the file */
        changed = data;
        changed.reserved[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_result(ptxiMemPoolImportPointer(&got, imported, &changed), PTXI_ERROR_INVALID_VALUE);
    }
    for (unsigned i = 0; i < 20000; i++) {
        for (size_t k = 0; k < sizeof changed; k++)
            changed.reserved[k] = i & 1 || random64() % 16 == 0 ? (unsigned char)random64() : data.reserved[k];
        if (memcmp(&changed, &data, 40))
            ck_result(ptxiMemPoolImportPointer(&got, imported, &changed), PTXI_ERROR_INVALID_VALUE);
    }
    ck_assert_uint_eq(used(imported), 0);
    ok(ptxiMemPoolImportPointer(&got, imported, &data));
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, both_processes_use_the_memory, 0, 4);
    tcase_add_test(t, new_memory_is_empty);
    tcase_add_test(t, limits);
    tcase_add_test(t, imported_pools);
    tcase_add_test(t, memory_outlives_its_owner);
    tcase_add_test(t, a_killed_process_changes_nothing);
    tcase_add_test(t, pools_and_pointers_that_cannot_be_shared);
    tcase_add_test(t, files_that_are_no_pools);
    tcase_add_test(t, data_that_are_not_of_the_pool);
}

int main(int argc, char **argv)
{
    return run_tests_with_peer(argc, argv, "pools of other processes", add_tests);
}
