/* Virtual memory management: reserved addresses, memory without an address, and mappings of such memory.
 *
 * Memory is a part of a file in memory. Memory that can be exported has a file of its own; all other memory is in one
 * file, so that the number of open files does not limit it. A mapping is in the memory map while the device has access
 * to it. */
#include "api/context/context.h"
#include "api/ipc/shared_file.h"
#include "api/memory/heap.h"

#include "exec/memmap/memmap.h"
#include "exec/memmap/rcu.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20 };

struct allocation {
    struct ptxi_handle handle; /* its references are unused, because calls hold the lock */
    size_t program, mapped;    /* references of the program, and of mappings */
    int fd;
    bool own_file;
    off_t offset;              /* in the file */
    size_t size;               /* bytes */
    ptxiMemAllocationProp prop;
};

struct mapping {
    struct mapping *next; /* of the reservation, in the order of addresses */
    uint64_t base;
    size_t size;
    struct allocation *allocation;
    uint64_t readers, writers; /* devices that may read, and those that may also write; bits of PTXI_ON_DEVICE() */
    struct ptxi_heap_block *block; /* owner of its region in the memory map, which exists while there is access */
};

struct reservation {
    struct reservation *next;
    uint64_t base;
    size_t size;
    struct mapping *mappings;
};

/* Taken before the heap's lock. No kernel takes it, so a call may hold it during ptxi_rcu_synchronize(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reservation *reservations;
static int common_fd = -1;
static off_t common_size;

/* The begin of all calls here. */
static ptxiResult enter(void)
{
    ptxiResult r = ptxi_api_enter();

    if (!r)
        ptxi_call_lock(&lock);
    return r;
}

static bool is_aligned(uint64_t value, uint64_t unit)
{
    return !(value & (unit - 1));
}

/* ---- reserved addresses */

static void *map_reserved(void *at, size_t bytes, int flags)
{
    void *p = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Reserves addresses at a multiple of the alignment. 0: there are none. */
static uint64_t reserve_aligned(size_t size, size_t alignment)
{
    size_t more;

    if (__builtin_add_overflow(size, alignment, &more))
        return 0;
    char *p = map_reserved(NULL, more, 0);

    if (!p)
        return 0;
    size_t head = -(uintptr_t)p & (alignment - 1);

    if (head)
        munmap(p, head);
    munmap(p + head + size, alignment - head);
    return (uintptr_t)p + head;
}

static uint64_t reserve_at(ptxiDevicePtr hint, size_t size, size_t alignment)
{
    void *wanted = (void *)(uintptr_t)hint;
    void *p = hint && is_aligned(hint, alignment) ? map_reserved(wanted, size, MAP_FIXED_NOREPLACE) : NULL;

    if (p && p != wanted) { /* an old kernel takes the address as a hint */
        munmap(p, size);
        p = NULL;
    }
    return p ? hint : reserve_aligned(size, alignment);
}

ptxiResult ptxiMemAddressReserve(ptxiDevicePtr *ptr, size_t size, size_t alignment, ptxiDevicePtr addr,
                                 unsigned long long flags)
{
    API_CALL;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ptxiResult r = enter();

    if (r)
        return r;
    if (!ptr || !size || flags || !is_aligned(size, GRANULARITY) || !is_aligned(addr, page) ||
        alignment & (alignment - 1))
        return PTXI_ERROR_INVALID_VALUE;
    struct reservation *v = calloc(1, sizeof *v);

    if (!v)
        return PTXI_ERROR_OUT_OF_MEMORY;
    v->size = size;
    v->base = reserve_at(addr, size, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (!v->base || !ptxi_heap_add_addresses(v->base, size)) {
        if (v->base)
            munmap((void *)(uintptr_t)v->base, size);
        free(v);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    v->next = reservations;
    reservations = v;
    *ptr = v->base;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemAddressFree(ptxiDevicePtr ptr, size_t size)
{
    API_CALL;
    ptxiResult r = enter();
    struct reservation **at = &reservations;

    if (r)
        return r;
    while (*at && (*at)->base != ptr)
        at = &(*at)->next;
    struct reservation *v = *at;

    if (!v || v->size != size || v->mappings)
        return PTXI_ERROR_INVALID_VALUE;
    *at = v->next;
    ptxi_memmap_remove(ptxi_state.addresses, v->base);
    munmap((void *)(uintptr_t)v->base, v->size);
    free(v);
    return PTXI_SUCCESS;
}

/* ---- memory */

static ptxiResult check_prop(const ptxiMemAllocationProp *p)
{
    enum { COMPRESSION = 1, WINDOWS = PTXI_MEM_HANDLE_TYPE_WIN32 | PTXI_MEM_HANDLE_TYPE_WIN32_KMT };

    if (!p || p->type != PTXI_MEM_ALLOCATION_TYPE_PINNED || (int)p->requestedHandleTypes & WINDOWS ||
        p->allocFlags.compressionType > COMPRESSION || !p->location.type ||
        (unsigned)p->location.type > PTXI_MEM_LOCATION_TYPE_HOST_NUMA)
        return PTXI_ERROR_INVALID_VALUE;
    if (p->location.type == PTXI_MEM_LOCATION_TYPE_DEVICE && ptxi_api_device(p->location.id))
        return PTXI_ERROR_INVALID_DEVICE;
    if (p->location.type != PTXI_MEM_LOCATION_TYPE_DEVICE || p->allocFlags.usage ||
        p->requestedHandleTypes & PTXI_MEM_HANDLE_TYPE_FABRIC)
        return PTXI_ERROR_NOT_SUPPORTED;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemGetAllocationGranularity(size_t *granularity, const ptxiMemAllocationProp *prop,
                                           ptxiMemAllocationGranularityFlags option)
{
    API_CALL;
    ptxiResult r = enter();

    if (r)
        return r;
    if (!granularity || !prop || (unsigned)option > PTXI_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return PTXI_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return PTXI_SUCCESS;
}

/* Takes a part of the common file that was never used. */
static bool extend_common(struct allocation *a)
{
    if (common_fd < 0)
        common_fd = memfd_create("ptxi", MFD_CLOEXEC);
    if (common_fd < 0 || ftruncate(common_fd, common_size + (off_t)a->size))
        return false;
    a->fd = common_fd;
    a->offset = common_size;
    common_size += (off_t)a->size;
    return true;
}

static bool allocate_file(struct allocation *a)
{
    a->own_file = a->prop.requestedHandleTypes & PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!a->own_file)
        return extend_common(a);
    a->fd = ptxi_shared_file_create(a->size);
    return a->fd >= 0;
}

static void free_file(const struct allocation *a)
{
    if (a->own_file)
        close(a->fd);
    else
        fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, a->offset, (off_t)a->size);
}

static struct allocation *use_allocation(ptxiMemGenericAllocationHandle handle)
{
    struct allocation *a = (struct allocation *)(uintptr_t)handle;

    return ptxi_handle_is(a, PTXI_HANDLE_ALLOCATION) ? a : NULL;
}

/* Gives the program a reference. False: no memory. */
static bool add_reference(struct allocation *a)
{
    if (!a->program && !ptxi_handle_add(&a->handle, PTXI_HANDLE_ALLOCATION, NULL, NULL))
        return false;
    a->program++;
    return true;
}

static void free_unused(struct allocation *a)
{
    if (a->program || a->mapped)
        return;
    free_file(a);
    ptxi_heap_unreserve(a->size);
    free(a);
}

/* Gives the program the handle of memory that has a file. Frees the memory on failure. */
static ptxiResult publish(struct allocation *a, ptxiMemGenericAllocationHandle *handle)
{
    if (!add_reference(a)) {
        free_unused(a);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *handle = (uintptr_t)a;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemCreate(ptxiMemGenericAllocationHandle *handle, size_t size, const ptxiMemAllocationProp *prop,
                         unsigned long long flags)
{
    API_CALL;
    ptxiResult r = enter();

    if (r || (r = check_prop(prop)))
        return r;
    if (!handle || !size || !is_aligned(size, GRANULARITY) || flags)
        return PTXI_ERROR_INVALID_VALUE;
    struct allocation *a = calloc(1, sizeof *a);

    if (!a || !ptxi_heap_reserve(size)) {
        free(a);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    a->size = size;
    a->prop = *prop;
    a->prop.allocFlags.compressionType = 0;
    if (allocate_file(a))
        return publish(a, handle);
    ptxi_heap_unreserve(size);
    free(a);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiMemRelease(ptxiMemGenericAllocationHandle handle)
{
    API_CALL;
    ptxiResult r = enter();
    struct allocation *a = r ? NULL : use_allocation(handle);

    if (r || !a)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (!--a->program)
        ptxi_handle_remove(&a->handle);
    free_unused(a);
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemGetAllocationPropertiesFromHandle(ptxiMemAllocationProp *prop, ptxiMemGenericAllocationHandle handle)
{
    API_CALL;
    ptxiResult r = enter();
    const struct allocation *a = r ? NULL : use_allocation(handle);

    if (r || !a || !prop)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *prop = a->prop;
    return PTXI_SUCCESS;
}

/* ---- other processes */

ptxiResult ptxiMemExportToShareableHandle(void *shareableHandle, ptxiMemGenericAllocationHandle handle,
                                          ptxiMemAllocationHandleType handleType, unsigned long long flags)
{
    API_CALL;
    ptxiResult r = enter();
    const struct allocation *a = r ? NULL : use_allocation(handle);

    if (r || !a || !shareableHandle || flags || !a->own_file ||
        handleType != PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    int fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(int *)shareableHandle = fd;
    return PTXI_SUCCESS;
}

/* Returns the size of a file that ptxiMemCreate() has made, in any process. 0: it is another file, such as that of a
 * pool, which has a page more. */
static size_t file_size(int fd)
{
    uint64_t size = ptxi_shared_file_size(fd);

    return is_aligned(size, GRANULARITY) ? (size_t)size : 0;
}

ptxiResult ptxiMemImportFromShareableHandle(ptxiMemGenericAllocationHandle *handle, void *osHandle,
                                            ptxiMemAllocationHandleType shHandleType)
{
    API_CALL;
    ptxiResult r = enter();

    if (r || !handle)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (shHandleType != PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return shHandleType == PTXI_MEM_HANDLE_TYPE_FABRIC ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
    int fd = (int)(intptr_t)osHandle;
    size_t size = file_size(fd);

    if (!size)
        return PTXI_ERROR_INVALID_VALUE;
    struct allocation *a = calloc(1, sizeof *a);

    if (!a || !ptxi_heap_reserve(size)) {
        free(a);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    a->size = size;
    a->own_file = true;
    a->prop = (ptxiMemAllocationProp){ .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                       .requestedHandleTypes = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    a->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (a->fd >= 0)
        return publish(a, handle);
    ptxi_heap_unreserve(size);
    free(a);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

/* ---- mappings */

static bool is_within(uint64_t base, size_t size, uint64_t outer, size_t outer_size)
{
    return base >= outer && size <= outer_size && base - outer <= outer_size - size;
}

static struct reservation *find_reservation(uint64_t base, size_t size)
{
    struct reservation *v = reservations;

    while (v && !is_within(base, size, v->base, v->size))
        v = v->next;
    return v;
}

/* Finds the link of the first mapping that ends after the address. */
static struct mapping **find_link(struct reservation *v, uint64_t addr)
{
    struct mapping **at = &v->mappings;

    while (*at && (*at)->base + (*at)->size <= addr)
        at = &(*at)->next;
    return at;
}

static struct mapping *find_mapping(uint64_t addr)
{
    struct reservation *v = find_reservation(addr, 1);
    struct mapping *m = v ? *find_link(v, addr) : NULL;

    return m && m->base <= addr ? m : NULL;
}

/* Finds the first mapping of a range that has no parts of mappings, and at least one mapping. NULL: it is no such
 * range. *gaps: the mappings do not cover it. */
static struct mapping **find_whole(uint64_t base, size_t size, bool *gaps)
{
    struct reservation *v = size ? find_reservation(base, size) : NULL;
    struct mapping **first = v ? find_link(v, base) : NULL;
    uint64_t covered = 0;

    for (struct mapping *m = first ? *first : NULL; m && m->base < base + size; m = m->next) {
        if (!is_within(m->base, m->size, base, size))
            return NULL;
        covered += m->size;
    }
    *gaps = covered < size;
    return covered ? first : NULL;
}

static ptxiResult make_mapping(struct mapping **at, uint64_t base, size_t size, struct allocation *a)
{
    struct mapping *m = calloc(1, sizeof *m);

    if (!m)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *m = (struct mapping){ .base = base, .size = size, .allocation = a, 
                           .block = ptxi_heap_make_mapped(a->prop.location.id, base, size) };
    if (!m->block || mmap((void *)(uintptr_t)base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, a->fd,
                          a->offset) == MAP_FAILED) {
        ptxi_heap_free_mapped(m->block);
        free(m);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    a->mapped++;
    m->next = *at;
    *at = m;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemMap(ptxiDevicePtr ptr, size_t size, size_t offset, ptxiMemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    API_CALL;
    ptxiResult r = enter();
    struct allocation *a = r ? NULL : use_allocation(handle);

    if (r)
        return r;
    struct reservation *v = find_reservation(ptr, size);

    if (!a || !v || flags || !size || !is_aligned(ptr | size, GRANULARITY))
        return PTXI_ERROR_INVALID_VALUE;
    if (offset || size > a->size)
        return PTXI_ERROR_NOT_SUPPORTED;
    struct mapping **at = find_link(v, ptr);

    if (*at && (*at)->base < ptr + size)
        return PTXI_ERROR_INVALID_VALUE;
    return make_mapping(at, ptr, size, a);
}

static void free_mapping(struct mapping *m)
{
    struct allocation *a = m->allocation;

    if (!map_reserved((void *)(uintptr_t)m->base, m->size, MAP_FIXED)) /* no memory for the kernel's list of mappings */
        mprotect((void *)(uintptr_t)m->base, m->size, PROT_NONE);
    ptxi_heap_free_mapped(m->block);
    a->mapped--;
    free_unused(a);
    free(m);
}

ptxiResult ptxiMemUnmap(ptxiDevicePtr ptr, size_t size)
{
    API_CALL;
    ptxiResult r = enter();
    bool gaps;
    struct mapping **first = r ? NULL : find_whole(ptr, size, &gaps);

    if (r || !first)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    for (struct mapping *m = *first; m && m->base < ptr + size; m = m->next)
        if (m->readers)
            ptxi_memmap_remove(ptxi_state.memmap, m->base);
    ptxi_rcu_synchronize();
    while (*first && (*first)->base < ptr + size) {
        struct mapping *m = *first;

        *first = m->next;
        free_mapping(m);
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemRetainAllocationHandle(ptxiMemGenericAllocationHandle *handle, void *addr)
{
    API_CALL;
    ptxiResult r = enter();
    const struct mapping *m = r ? NULL : find_mapping((uintptr_t)addr);

    if (r || !m || !handle)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (!add_reference(m->allocation))
        return PTXI_ERROR_OUT_OF_MEMORY;
    *handle = (uintptr_t)m->allocation;
    return PTXI_SUCCESS;
}

/* ---- access */

/* The access of each device after a change. */
struct access {
    uint64_t changed, readers, writers; /* devices */
};

/* Kernels of all devices that may access a region have the same access, so all may write if one may. */
static struct ptxi_mem_region region_of(const struct mapping *m, uint64_t readers, uint64_t writers)
{
    return (struct ptxi_mem_region){
        .base = m->base, .size = m->size, .devices = readers, .owner = m->block,
        .flags = PTXI_MEM_MAPPED | PTXI_MEM_WORDS | (writers ? PTXI_MEM_RWA : PTXI_MEM_READ),
    };
}

static uint64_t change_set(uint64_t before, uint64_t changed, uint64_t after)
{
    return (before & ~changed) | after;
}

/* Adds the regions of mappings without access, which may fail, before regions are changed, which may not. */
static bool add_regions(struct mapping *first, uint64_t end, const struct access *a)
{
    struct mapping *m = first;

    for (; m && m->base < end; m = m->next) {
        struct ptxi_mem_region region = region_of(m, a->readers, a->writers);

        if (!m->readers && ptxi_memmap_add(ptxi_state.memmap, &region) != PTXI_MEMMAP_OK)
            break;
    }
    if (!m || m->base >= end)
        return true;
    for (struct mapping *k = first; k != m; k = k->next)
        if (!k->readers)
            ptxi_memmap_remove(ptxi_state.memmap, k->base);
    return false;
}

static void change_regions(struct mapping *first, uint64_t end, const struct access *a)
{
    for (struct mapping *m = first; m && m->base < end; m = m->next) {
        uint64_t readers = change_set(m->readers, a->changed, a->readers);
        uint64_t writers = change_set(m->writers, a->changed, a->writers);
        struct ptxi_mem_region region = region_of(m, readers, writers);

        if (readers) {
            ptxi_memmap_set_devices(ptxi_state.memmap, m->base, region.devices);
            ptxi_memmap_set_flags(ptxi_state.memmap, m->base, region.flags);
        } else if (m->readers) {
            ptxi_memmap_remove(ptxi_state.memmap, m->base);
        }
        m->readers = readers;
        m->writers = writers;
    }
}

static ptxiResult check_access(const ptxiMemAccessDesc *d)
{
    if ((int)d->flags != PTXI_MEM_ACCESS_FLAGS_PROT_NONE && (int)d->flags != PTXI_MEM_ACCESS_FLAGS_PROT_READ &&
        (int)d->flags != PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return PTXI_ERROR_INVALID_VALUE;
    if (d->location.type == PTXI_MEM_LOCATION_TYPE_DEVICE)
        return ptxi_api_device(d->location.id) ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
    return d->location.type == PTXI_MEM_LOCATION_TYPE_HOST || d->location.type == PTXI_MEM_LOCATION_TYPE_HOST_NUMA
           ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
}

/* The last description of a device counts. */
static ptxiResult read_access(const ptxiMemAccessDesc *d, size_t count, struct access *a)
{
    *a = (struct access){ .changed = 0 };
    for (size_t i = 0; i < count; i++) {
        ptxiResult r = check_access(&d[i]);

        if (r)
            return r;
        uint64_t device = PTXI_ON_DEVICE(d[i].location.id);

        a->changed |= device;
        a->readers = change_set(a->readers, device, d[i].flags ? device : 0);
        a->writers = change_set(a->writers, device, d[i].flags == PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE ? device : 0);
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemSetAccess(ptxiDevicePtr ptr, size_t size, const ptxiMemAccessDesc *desc, size_t count)
{
    API_CALL;
    ptxiResult r = enter();
    struct access a;

    if (r || !desc || !count)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    r = read_access(desc, count, &a);
    bool gaps;
    struct mapping **first = find_whole(ptr, size, &gaps);

    if (r || !first || gaps)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (a.readers && !add_regions(*first, ptr + size, &a))
        return PTXI_ERROR_OUT_OF_MEMORY;
    change_regions(*first, ptr + size, &a);
    ptxi_rcu_synchronize();
    return PTXI_SUCCESS;
}

bool ptxi_heap_has_mappings(ptxiDevice device)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (const struct reservation *v = reservations; v; v = v->next)
        for (const struct mapping *m = v->mappings; m; m = m->next)
            found = found || m->readers & PTXI_ON_DEVICE(device);
    pthread_mutex_unlock(&lock);
    return found;
}

static ptxiMemAccessFlags access_of(const struct mapping *m, ptxiDevice dev)
{
    if (m->writers & PTXI_ON_DEVICE(dev))
        return PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return m->readers & PTXI_ON_DEVICE(dev) ? PTXI_MEM_ACCESS_FLAGS_PROT_READ : PTXI_MEM_ACCESS_FLAGS_PROT_NONE;
}

ptxiResult ptxiMemGetAccess(unsigned long long *flags, const ptxiMemLocation *location, ptxiDevicePtr ptr)
{
    API_CALL;
    ptxiResult r = enter();
    const struct mapping *m = r ? NULL : find_mapping(ptr);

    if (r || !m || !flags || !location)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    switch ((int)location->type) {
    case PTXI_MEM_LOCATION_TYPE_DEVICE:
        r = ptxi_api_device(location->id);
        if (!r)
            *flags = access_of(m, location->id);
        return r;
    case PTXI_MEM_LOCATION_TYPE_HOST:
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA:
        *flags = PTXI_MEM_ACCESS_FLAGS_PROT_NONE;
        return PTXI_SUCCESS;
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
}
