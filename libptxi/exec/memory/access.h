/* Memory as instructions see it: which accesses are allowed, and where they lead. */
#ifndef PTXI_EXEC_MEMORY_ACCESS_H
#define PTXI_EXEC_MEMORY_ACCESS_H

#include "exec/engine/engine.h"
#include "exec/memmap/memmap.h"

/* Kernels may race with each other as far as PTX lets them: their accesses are not for a checker of data races. */
#define RACY __attribute__((no_sanitize("thread")))

enum ptxi_access { PTXI_ACCESS_LOAD, PTXI_ACCESS_STORE, PTXI_ACCESS_ATOMIC };

/* Space of an access whose space is only known per instruction (atomics, slow paths). */
enum ptxi_mem_space { PTXI_MS_GLOBAL, PTXI_MS_SHARED, PTXI_MS_GENERIC, PTXI_MS_LOCAL, PTXI_MS_CONST, PTXI_MS_PARAM };

/* What an instruction hit last. Instructions share entries by their address. */
static inline struct ptxi_mem_hit *ptxi_mem_hit(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return &w->hits[((uintptr_t)i / sizeof *i) % PTXI_MEM_HITS];
}

/* True if [lo, lo + size) lies in the allocation that the instruction hit last. Lanes at both ends of the address space make
 * a size that wraps to 0. */
static inline __attribute__((always_inline)) bool ptxi_mem_covers(const struct ptxi_warp *w, const struct ptxi_mem_hit *hit, uint64_t lo, uint64_t size, bool store)
{
    return lo >= hit->lo && lo + size <= (store ? hit->write_hi : hit->hi) && lo + size > lo &&
           hit->generation == atomic_load_explicit(w->generation, memory_order_acquire);
}

/* The same; on a miss it looks the range up and makes it the instruction's hit. False: not all of it may be accessed so. */
bool ptxi_mem_check(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t size, enum ptxi_access access);

/* Where one lane's access of `size` bytes (a power of two, to which it must be aligned; vectors: `align`) leads.
 * NULL: the launch has failed. */
unsigned char *ptxi_mem_at(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, enum ptxi_mem_space space, uint64_t address, uint32_t size,
                           uint32_t align, enum ptxi_access access);

/* The same of any number of bytes at a generic address. */
unsigned char *ptxi_mem_range(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                              uint64_t size, enum ptxi_access access);

/* Checks global memory anew at the time of an access that instruction i of `code` has asked for before. False: the
 * launch has failed. */
bool ptxi_mem_check_later(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, unsigned lane,
                          uint64_t address, uint32_t size, enum ptxi_access access);

/* The same as ptxi_mem_at() of a shared address in the CTA's own memory; NULL: it is not there, or does not fit. */
static inline unsigned char *ptxi_mem_own(const struct ptxi_warp *w, uint64_t address, uint32_t size, uint32_t align)
{
    uint64_t offset = address - w->shared_at;

    return offset < w->shared_size && size <= w->shared_size - offset && !(offset & (align - 1)) ? w->shared + offset : NULL;
}

/* The CTA whose shared memory p lies in, if it is this one or one of its cluster; else NULL. */
struct ptxi_cta *ptxi_shared_owner(struct ptxi_cta *c, const unsigned char *p);

/* Copies from what a lane's generic address names, as far as readable, at most `size` bytes; returns how many. */
size_t ptxi_mem_read(struct ptxi_warp *w, unsigned lane, uint64_t address, void *to, size_t size);

#endif
