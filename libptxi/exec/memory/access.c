#include "exec/memory/access.h"

#include "exec/engine/fault_log.h"
#include "exec/memmap/annotation.h"

#include <assert.h>
#include <string.h>

static bool is_parameter(const struct ptxi_grid *g, uint64_t address, uint64_t size)
{
    uint64_t offset = address - (uintptr_t)g->params;

    return offset < g->code->param_bytes && size <= g->code->param_bytes - offset;
}

/* Whether the bytes are in one region, or, if the launch is checked, in one part of a pool. */
static bool find_region(const struct ptxi_grid *g, uint64_t address, uint64_t size, struct ptxi_mem_region *r)
{
    return ptxi_memmap_covers(g->memmap, address, size, r) &&
           (!g->tools || ptxi_annotation_narrow(address, r)) &&
           size <= r->size - (address - r->base);
}

bool ptxi_access_check(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t size,
                       enum ptxi_access access)
{
    const struct ptxi_grid *g = w->cta->grid;
    struct ptxi_access_hit *hit = ptxi_access_hit(w, i);
    struct ptxi_mem_region r;
    uint64_t generation, write_end;

    if (ptxi_access_is_cached(w, hit, lo, size, access != PTXI_AK_LOAD))
        return true;
    if (!size)
        return false;
    generation = atomic_load_explicit(w->generation, memory_order_acquire);
    if (g->unchecked) {
        *hit = (struct ptxi_access_hit){ .lo = 0, .hi = PTXI_SHARED_WINDOW, .write_hi = PTXI_SHARED_WINDOW,
                                         .generation = generation };
        return true;
    }
    if (is_parameter(g, lo, size)) /* the generic address of a kernel parameter */
        return access == PTXI_AK_LOAD;
    if (!find_region(g, lo, size, &r) || !ptxi_access_permits(g, &r, false))
        return false;
    assert(lo >= r.base && lo + size <= r.base + r.size);
    write_end = r.flags & PTXI_MEM_WRITE ? r.base + r.size : 0;
    *hit = (struct ptxi_access_hit){ .lo = r.base, .hi = r.base + r.size, .write_hi = write_end,
                                     .generation = generation };
    return access == PTXI_AK_LOAD || r.flags & PTXI_MEM_WRITE;
}

/* Why an access is invalid. */
struct fault {
    enum ptxi_fault_kind kind;
    bool in_area;                /* the address is an offset in `area`; else it is global */
    uint64_t address;
    struct ptxi_fault_area area;
};

/* Fails the launch. */
static unsigned char *raise_fault(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct fault *f,
                                  uint32_t size, enum ptxi_access access)
{
    assert(lane < PTXI_LANES);
    ptxi_fault_access(w, i, f->kind, (ptxi_lanes)1 << lane, f->address, size, access, f->in_area ? &f->area : NULL);
    return NULL;
}

static bool is_strong_load(const struct ptxi_insn *i)
{
    switch (i->op) {
    case PTXI_OP_ld_global_16: case PTXI_OP_ld_generic_16: case PTXI_OP_ld_shared_16:
    case PTXI_OP_ld_global_32: case PTXI_OP_ld_generic_32: case PTXI_OP_ld_shared_32:
        return i->mods == PTXI_LD_STRONG;
    default:
        return false;
    }
}

/* True if an access may exceed the end of its memory, up to the end of the last word. libcu++ implements atomic
 * operations on a byte with strong loads of two bytes and with operations on the word that contains it. A device's
 * memory has whole words. */
static bool may_exceed_end(const struct ptxi_insn *i, uint32_t size, enum ptxi_access access)
{
    return size <= 4 && (access == PTXI_AK_ATOMIC || (access == PTXI_AK_LOAD && is_strong_load(i)));
}

/* The end of shared memory for an access. Compilers load three elements of a vector with ld.v4 if the address has the
 * alignment for it, so a load of 16 bytes may exceed the end by the last element. A device's shared memory consists of
 * units of PTXI_SHARED_GRANULARITY. */
static uint64_t shared_end(const struct ptxi_insn *i, uint64_t end, uint32_t size, enum ptxi_access access)
{
    if (may_exceed_end(i, size, access))
        return (end + 3) & ~UINT64_C(3);
    if (size == 16 && access == PTXI_AK_LOAD && end % 16 >= 12)
        return (end + 15) & ~UINT64_C(15);
    return end;
}

static bool in_last_word(const struct ptxi_grid *g, uint64_t address)
{
    struct ptxi_mem_region r;

    return find_region(g, address, 1, &r) && r.flags & PTXI_MEM_WORDS &&
           ptxi_access_permits(g, &r, true);
}

/* The kind of the fault of an access to global memory. */
static enum ptxi_fault_kind global_fault(const struct ptxi_grid *g, uint64_t address, uint64_t size)
{
    struct ptxi_mem_region r;

    if (address < 4096)
        return PTXI_FK_NULL;
    if (is_parameter(g, address, size))
        return PTXI_FK_READ_ONLY;
    if (!find_region(g, address, size, &r))
        return PTXI_FK_OUT_OF_BOUNDS;
    if (r.flags & PTXI_MEM_FREED)
        return PTXI_FK_FREED;
    return ptxi_access_permits(g, &r, false) ? PTXI_FK_READ_ONLY : PTXI_FK_PEER;
}

static unsigned char *find_global(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address, uint32_t size,
                                  enum ptxi_access access, struct fault *f)
{
    if (ptxi_access_check(w, i, address, size, access))
        return (unsigned char *)(uintptr_t)address;
    if (may_exceed_end(i, size, access) && in_last_word(w->cta->grid, address))
        return (unsigned char *)(uintptr_t)address;
    *f = (struct fault){ .kind = global_fault(w->cta->grid, address, size), .address = address };
    return NULL;
}

bool ptxi_access_recheck(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, unsigned lane,
                          uint64_t address, uint32_t size, enum ptxi_access access)
{
    const struct ptxi_grid *g = w->cta->grid;
    struct ptxi_mem_region r;
    enum ptxi_fault_kind kind = PTXI_FK_FREED; /* memory that is unknown now was known when the access was started */

    if (g->unchecked || (access == PTXI_AK_LOAD && is_parameter(g, address, size)))
        return true;
    if (find_region(g, address, size, &r)) {
        if (ptxi_access_permits(g, &r, access != PTXI_AK_LOAD))
            return true;
        kind = global_fault(g, address, size);
    }
    ptxi_fault_async_access(w, code, i, kind, (ptxi_lanes)1 << lane, address, size, access);
    return false;
}

struct space {
    unsigned char *base;
    struct ptxi_fault_area area;
    enum ptxi_fault_kind beyond;
};

/* The memory of a lane in a state space other than global memory. */
static struct space space_of(const struct ptxi_warp *w, const struct ptxi_cta *c, unsigned lane,
                             enum ptxi_mem_space space)
{
    const struct ptxi_grid *g = w->cta->grid;

    switch (space) {
    case PTXI_MS_SHARED:
        return (struct space){ c->shared,
                               { PTXI_FS_SHARED, "the block's shared memory", w->shared_size, g->code->shared_base },
                               PTXI_FK_OTHER_SHARED };
    case PTXI_MS_LOCAL:
        return (struct space){ w->local + lane * w->local_stride,
                               { PTXI_FS_LOCAL, "the thread's local memory", w->local_stride, 0 },
                               PTXI_FK_OTHER_LOCAL };
    case PTXI_MS_CONST:
        return (struct space){ g->program->const_bank,
                               { PTXI_FS_CONST, "the module's constants", g->program->const_size, 0 },
                               PTXI_FK_OUT_OF_BOUNDS };
    default:
        assert(space == PTXI_MS_PARAM);
        return (struct space){ (unsigned char *)(uintptr_t)g->params,
                               { PTXI_FS_PARAM, "the kernel's parameters", g->code->param_bytes, 0 },
                               PTXI_FK_OUT_OF_BOUNDS };
    }
}

/* Returns the CTA of a shared address, and converts the address to an offset. With `any`, it may be another CTA of the
 * cluster. Returns NULL if there is no such CTA. */
static const struct ptxi_cta *find_cta(const struct ptxi_warp *w, bool any, uint64_t *address)
{
    struct ptxi_cta *c = w->cta;

    if (*address - w->shared_at < PTXI_SHARED_STEP) {
        *address -= w->shared_at;
        return c;
    }
    return any && c->grid->code->in_clusters ? ptxi_cta_of_shared(c, address) : NULL;
}

/* Returns the state space of a generic address, and converts it to an address in that space. */
static enum ptxi_mem_space resolve_generic(uint64_t *address)
{
    if (*address - PTXI_SHARED_WINDOW < PTXI_WINDOW_SIZE) {
        *address -= PTXI_SHARED_WINDOW;
        return PTXI_MS_SHARED;
    }
    if (*address - PTXI_LOCAL_WINDOW < PTXI_WINDOW_SIZE) {
        *address -= PTXI_LOCAL_WINDOW;
        return PTXI_MS_LOCAL;
    }
    return PTXI_MS_GLOBAL;
}

/* Updates local_written. It at least doubles, so that stores to an array rarely take this path. */
static void note_local_store(struct ptxi_warp *w, uint64_t end)
{
    uint64_t written = (end + 15) & ~UINT64_C(15);

    if (end <= w->local_written)
        return;
    written = written < UINT64_C(2) * w->local_written ? UINT64_C(2) * w->local_written : written;
    w->local_written = (uint32_t)(written < w->local_stride ? written : w->local_stride);
    assert(w->local_written >= end || end > w->local_stride);
}

/* Returns the host address of an access, or NULL with the reason in *f. */
static unsigned char *find_memory(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                  enum ptxi_mem_space space, uint64_t address, uint32_t size, uint32_t align,
                                  enum ptxi_access access, struct fault *f)
{
    bool generic = space == PTXI_MS_GENERIC;
    const struct ptxi_cta *c = w->cta;

    assert(lane < PTXI_LANES && align && !(align & (align - 1)));
    if (generic)
        space = resolve_generic(&address);
    if (space == PTXI_MS_GLOBAL && !(address & (align - 1)))
        return find_global(w, i, address, size, access, f);
    *f = (struct fault){ .kind = PTXI_FK_MISALIGNED, .address = address };
    if (space == PTXI_MS_GLOBAL)
        return NULL;
    if (space == PTXI_MS_SHARED)
        c = find_cta(w, generic, &address);
    struct space s = space_of(w, c ? c : w->cta, lane, space);

    *f = (struct fault){ .kind = PTXI_FK_MISALIGNED, .in_area = true, .address = address, .area = s.area };
    if (!c)
        f->kind = generic && w->cta->lead->member_count > 1 ? PTXI_FK_NO_RANK : PTXI_FK_NO_CTA;
    if (!c || address & (align - 1))
        return NULL;
    uint64_t end = space == PTXI_MS_SHARED ? shared_end(i, s.area.size, size, access) : s.area.size;

    f->kind = s.beyond;
    if (address > end || size > end - address)
        return NULL;
    if (space == PTXI_MS_LOCAL && access != PTXI_AK_LOAD)
        note_local_store(w, address + size);
    return s.base + address;
}

unsigned char *ptxi_access_at(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, enum ptxi_mem_space space,
                              uint64_t address, uint32_t size, uint32_t align, enum ptxi_access access)
{
    struct fault f;
    unsigned char *p = find_memory(w, i, lane, space, address, size, align, access, &f);

    return p ? p : raise_fault(w, i, lane, &f, size, access);
}

unsigned char *ptxi_access_or_continue(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                       enum ptxi_mem_space space, uint64_t address, uint32_t size, uint32_t align,
                                       enum ptxi_access access)
{
    struct ptxi_fault_log *log = w->cta->grid->fault_log;
    struct fault f;
    unsigned char *p = find_memory(w, i, lane, space, address, size, align, access, &f);

    if (p)
        return p;
    if (!log || !ptxi_fault_may_continue(f.kind) || size > PTXI_INACCESSIBLE)
        return raise_fault(w, i, lane, &f, size, access);
    ptxi_fault_log_add(log, w, i, f.kind, lane, f.address, size, access, f.in_area ? &f.area : NULL);
    p = memset(w->worker->inaccessible, 0, PTXI_INACCESSIBLE);
    if (access == PTXI_AK_LOAD && !f.in_area)
        ptxi_access_read(w, lane, f.address, p, size);
    return p;
}

unsigned char *ptxi_access_range(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                              uint64_t size, enum ptxi_access access)
{
    if (size <= UINT32_MAX)
        return ptxi_access_at(w, i, lane, PTXI_MS_GENERIC, address, (uint32_t)size, 1, access);
    if (address < PTXI_SHARED_WINDOW && size <= PTXI_SHARED_WINDOW - address &&
        ptxi_access_check(w, i, address, size, access))
        return (unsigned char *)(uintptr_t)address;
    return raise_fault(w, i, lane,
                       &(struct fault){ .kind = global_fault(w->cta->grid, address, size), .address = address },
                       UINT32_MAX, access);
}

struct ptxi_cta *ptxi_shared_owner(struct ptxi_cta *c, const unsigned char *p)
{
    if ((uintptr_t)p - (uintptr_t)c->shared < c->shared_bytes)
        return c;
    for (uint32_t k = 0; c->lead && k < c->lead->member_count; k++) {
        struct ptxi_cta *member = c->lead->members[k];

        if ((uintptr_t)p - (uintptr_t)member->shared < member->shared_bytes)
            return member;
    }
    return NULL;
}

/* Finds the readable bytes from a generic address on. */
static const unsigned char *find_readable(struct ptxi_warp *w, unsigned lane, uint64_t address, size_t *size)
{
    const struct ptxi_grid *g = w->cta->grid;
    const uint64_t in_shared = address - PTXI_SHARED_WINDOW - w->shared_at, in_local = address - PTXI_LOCAL_WINDOW;
    struct ptxi_mem_region r;

    *size = 0;
    if (in_shared < w->shared_size) {
        *size = w->shared_size - in_shared;
        return w->shared + in_shared;
    }
    if (in_local < w->local_stride) {
        *size = w->local_stride - in_local;
        return w->local + lane * w->local_stride + in_local;
    }
    if (address - (uintptr_t)g->params < g->code->param_bytes)
        *size = g->code->param_bytes - (address - (uintptr_t)g->params);
    else if (ptxi_memmap_find(g->memmap, address, &r) == PTXI_MEMMAP_INSIDE && ptxi_access_permits(g, &r, false))
        *size = r.base + r.size - address;
    return (const unsigned char *)(uintptr_t)address;
}

size_t ptxi_access_read(struct ptxi_warp *w, unsigned lane, uint64_t address, void *to, size_t size)
{
    size_t count;
    const unsigned char *p = find_readable(w, lane, address, &count);

    if (count > size)
        count = size;
    if (count) /* else p may be null */
        memcpy(to, p, count);
    return count;
}

/* The number of bytes that the grid may read from a global address on. */
static uint64_t readable_bytes(const struct ptxi_grid *g, uint64_t address)
{
    struct ptxi_mem_region r;

    return find_region(g, address, 1, &r) && ptxi_access_permits(g, &r, false) ? r.base + r.size - address : 0;
}

RACY void ptxi_access_read_or_zero(const struct ptxi_grid *g, uint64_t address, unsigned char *to, uint32_t size)
{
    for (uint32_t k = 0, n; k < size; k += n) {
        uint64_t readable = readable_bytes(g, address + k);

        n = readable < size - k ? (uint32_t)readable : size - k;
        if (n) {
            memcpy(to + k, (const unsigned char *)(uintptr_t)(address + k), n);
        } else {
            to[k] = 0;
            n = 1;
        }
    }
}

void ptxi_access_store_accessible(const struct ptxi_warp *w, uint64_t address, size_t size)
{
    const struct ptxi_grid *g = w->cta->grid;
    struct ptxi_mem_region r;

    if (ptxi_memmap_find(g->memmap, address, &r) != PTXI_MEMMAP_INSIDE || !ptxi_access_permits(g, &r, true))
        return;
    size_t rest = r.base + r.size - address;

    memcpy((void *)(uintptr_t)address, w->worker->inaccessible, rest < size ? rest : size);
}
