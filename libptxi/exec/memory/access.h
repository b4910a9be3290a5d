/* Accesses to memory: checks, and the translation of addresses to host addresses. */
#ifndef PTXI_EXEC_MEMORY_ACCESS_H
#define PTXI_EXEC_MEMORY_ACCESS_H

#include "exec/engine/engine.h"
#include "exec/memmap/memmap.h"

/* Exempts a function from ThreadSanitizer. It is for accesses of kernels, in which PTX permits races. */
#define RACY __attribute__((no_sanitize("thread")))

/* The state space of an access. PTXI_MS_GENERIC is a generic address, in any of the first four spaces. */
enum ptxi_mem_space { PTXI_MS_GLOBAL, PTXI_MS_SHARED, PTXI_MS_GENERIC, PTXI_MS_LOCAL, PTXI_MS_CONST, PTXI_MS_PARAM };

/* The cache entry with the allocation that the instruction hit last. Instructions share entries by their address. */
static inline struct ptxi_access_hit *ptxi_access_hit(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return &w->hits[((uintptr_t)i / sizeof *i) % PTXI_ACCESS_HITS];
}

/* Whether the grid may read, or, if `write` is set, read and write the region. */
static inline bool ptxi_access_permits(const struct ptxi_grid *g, const struct ptxi_mem_region *r, bool write)
{
    return ptxi_mem_permits(r, write) && (!r->devices || ptxi_mem_is_accessible(r, atomic_load(g->devices)));
}

/* True if [lo, lo + size) is in the allocation that the instruction hit last. The size may be 0, because lanes at both
 * ends of the address space make it wrap. */
static inline __attribute__((always_inline)) bool
ptxi_access_is_cached(const struct ptxi_warp *w, const struct ptxi_access_hit *hit, uint64_t lo, uint64_t size,
                      bool store)
{
    return lo >= hit->lo && lo + size <= (store ? hit->write_hi : hit->hi) && lo + size > lo &&
           hit->generation == atomic_load_explicit(w->generation, memory_order_acquire);
}

/* Prefetches what the instruction loads some rounds later, if its address grows evenly. Loops over an array with all
 * threads of a grid read places that are far apart, which the host does not foresee. */
static inline void ptxi_prefetch_rounds(struct ptxi_access_hit *hit, uint64_t address)
{
    enum { AHEAD = 8, LINE = 64 };
    const uint64_t step = address - hit->last;

    if (step == hit->step) {
        __builtin_prefetch((const void *)(uintptr_t)(address + AHEAD * step));
        __builtin_prefetch((const void *)(uintptr_t)(address + AHEAD * step + LINE));
    }
    hit->step = step;
    hit->last = address;
}

/* The same. On a miss it looks up the range in the memory map and updates the cache entry. Returns false if the access
 * to some of the range is not permitted. */
bool ptxi_access_check(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t size,
                       enum ptxi_access access);

/* Returns the host address of one lane's access of `size` bytes. The address must be a multiple of `align`, a power of
 * two. Returns NULL if the access is a fault; the launch has then failed. */
unsigned char *ptxi_access_at(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, enum ptxi_mem_space space,
                              uint64_t address, uint32_t size, uint32_t align, enum ptxi_access access);

/* The same for an access after which the thread can continue. If the grid logs invalid accesses, the result of such a
 * fault is memory of the worker, w->worker->inaccessible. A load finds zeros there, after the bytes that are
 * accessible. ptxi_access_store_accessible() completes a store. */
unsigned char *ptxi_access_or_continue(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                       enum ptxi_mem_space space, uint64_t address, uint32_t size, uint32_t align,
                                       enum ptxi_access access);

/* As ptxi_access_at(), for any number of bytes at a generic address, without alignment. */
unsigned char *ptxi_access_range(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                              uint64_t size, enum ptxi_access access);

/* Checks an asynchronous access to global memory again when it is done. Instruction i of `code` has started it.
 * Returns false if the launch has failed. */
bool ptxi_access_recheck(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, unsigned lane,
                          uint64_t address, uint32_t size, enum ptxi_access access);

/* Returns the host address of a shared address in the CTA's own memory. Returns NULL, without a fault, if the access
 * is misaligned or not in that memory. */
static inline unsigned char *ptxi_access_own_shared(const struct ptxi_warp *w, uint64_t address, uint32_t size,
                                                    uint32_t align)
{
    uint64_t offset = address - w->shared_at;

    if (offset >= w->shared_size || size > w->shared_size - offset || offset & (align - 1))
        return NULL;
    return w->shared + offset;
}

/* Returns the CTA with the shared memory that contains p: this one or another of its cluster. NULL if p is not in
 * shared memory. */
struct ptxi_cta *ptxi_shared_owner(struct ptxi_cta *c, const unsigned char *p);

/* Copies what a store has written to w->worker->inaccessible to the memory at a global or generic address, as far as
 * it is accessible. */
void ptxi_access_store_accessible(const struct ptxi_warp *w, uint64_t address, size_t size);

/* Copies at most `size` bytes from a lane's generic address, up to the end of the readable memory. Returns the number
 * of bytes. */
size_t ptxi_access_read(struct ptxi_warp *w, unsigned lane, uint64_t address, void *to, size_t size);

/* Copies bytes from a global address. Bytes that the grid may not read become zeros, without a fault. */
void ptxi_access_read_or_zero(const struct ptxi_grid *g, uint64_t address, unsigned char *to, uint32_t size);

#endif
