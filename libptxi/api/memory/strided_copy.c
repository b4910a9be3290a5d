#include "api/memory/strided_copy.h"

#include "exec/init/init_shadow.h"
#include "exec/memmap/rcu.h"

#include <assert.h>
#include <string.h>

/* Limits and ptxiMemHostUnregister() wait for the end of a piece. Shorter pieces would make memmove() slower. */
enum { PIECE = 32 << 20, PIECE_ROWS = 4096, STORE = 512 };

bool ptxi_rows_extent(size_t width, size_t pitch, size_t height, size_t slice, size_t depth, size_t *bytes)
{
    size_t slices;

    return !__builtin_mul_overflow(pitch, height - 1, bytes) && !__builtin_add_overflow(*bytes, width, bytes) &&
           !__builtin_mul_overflow(slice, depth - 1, &slices) && !__builtin_add_overflow(*bytes, slices, bytes);
}

bool ptxi_rows_may_access(const struct ptxi_mem_region *region, bool write)
{
    return ptxi_mem_permits(region, write && !(region->flags & PTXI_MEM_MODULE));
}

static enum ptxi_fault_kind check_range(const struct ptxi_rows *r, uint64_t address, uint64_t size, bool write)
{
    struct ptxi_mem_region region;

    if (!ptxi_memmap_covers(ptxi_state.memmap, address, size, &region))
        return PTXI_FK_OUT_OF_BOUNDS;
    if (r->by_kernel ? ptxi_mem_permits(&region, write) : ptxi_rows_may_access(&region, write))
        return PTXI_FK_NONE;
    return region.flags & PTXI_MEM_FREED ? PTXI_FK_FREED : PTXI_FK_READ_ONLY;
}

static bool check_side(const struct ptxi_rows *r, uint64_t address, size_t extent, bool write,
                       struct ptxi_rows_fault *fault)
{
    uint32_t size = extent < UINT32_MAX ? (uint32_t)extent : UINT32_MAX;

    *fault = (struct ptxi_rows_fault){ check_range(r, address, extent, write), address, size, write };
    return fault->kind == PTXI_FK_NONE;
}

bool ptxi_rows_check(const struct ptxi_rows *r, struct ptxi_rows_fault *fault)
{
    size_t extent;

    *fault = (struct ptxi_rows_fault){ .kind = PTXI_FK_OUT_OF_BOUNDS, .address = (uintptr_t)r->dst, .write = true };
    if (!ptxi_rows_extent(r->width, r->dst_pitch, r->height, r->dst_slice, r->depth, &extent) ||
        (r->dst_known && !check_side(r, (uintptr_t)r->dst, extent, true, fault)))
        return false;
    *fault = (struct ptxi_rows_fault){ .kind = PTXI_FK_OUT_OF_BOUNDS, .address = (uintptr_t)r->src };
    if (r->src && (!ptxi_rows_extent(r->width, r->src_pitch, r->height, r->src_slice, r->depth, &extent) ||
                   (r->src_known && !check_side(r, (uintptr_t)r->src, extent, false, fault))))
        return false;
    fault->kind = PTXI_FK_NONE;
    return true;
}

static void fill_row(unsigned char *p, size_t n, const struct ptxi_rows *r)
{
    switch (r->element) {
    case 1:
        memset(p, (int)r->value, n);
        break;
    case 2:
        for (size_t k = 0; k < n / 2; k++)
            ((uint16_t *)(void *)p)[k] = (uint16_t)r->value;
        break;
    default:
        if (n == 4) { /* a stream may wait for this word */
            __atomic_store_n((uint32_t *)(void *)p, r->value, __ATOMIC_RELEASE);
            break;
        }
        for (size_t k = 0; k < n / 4; k++)
            ((uint32_t *)(void *)p)[k] = r->value;
    }
}

/* The next byte to move. */
struct position {
    size_t done, row, slice; /* done: bytes of the row */
};

/* For the tracking of uninitialised memory. `from` 0: a fill. Memory of the host counts as initialised. */
static void note_written(uint64_t to, uint64_t from, size_t n)
{
    struct ptxi_mem_region r;

    if (!ptxi_init_is_used())
        return;
    if (from && ptxi_memmap_find(ptxi_state.memmap, to, &r) == PTXI_MEMMAP_INSIDE && ptxi_mem_is_of_device(&r))
        ptxi_init_copy(to, from, n);
    else
        ptxi_init_define(to, n);
}

/* Moves the next n bytes of a row. A row that overlaps a source before it is moved from its end. */
static void move_part(const struct ptxi_rows *r, const struct position *at, size_t n)
{
    unsigned char *dst = r->dst + at->slice * r->dst_slice + at->row * r->dst_pitch;
    const unsigned char *src = r->src + at->slice * r->src_slice + at->row * r->src_pitch;

    assert(at->done + n <= r->width && at->row < r->height && at->slice < r->depth);
    bool from_end = r->src && (uintptr_t)dst - (uintptr_t)src < r->width;
    size_t first = from_end ? r->width - at->done - n : at->done;

    note_written((uintptr_t)dst + first, r->src ? (uintptr_t)src + first : 0, n);
    if (r->src)
        memmove(dst + first, src + first, n);
    else
        fill_row(dst + first, n, r);
}

static uint64_t move_piece(const struct ptxi_rows *r, struct position *at)
{
    uint64_t stores = 0;
    size_t left = PIECE;

    for (unsigned rows = 0; rows < PIECE_ROWS && left && at->slice < r->depth; rows++) {
        size_t n = r->width - at->done < left ? r->width - at->done : left;

        move_part(r, at, n);
        stores += (n + STORE - 1) / STORE;
        left -= n;
        at->done += n;
        if (at->done < r->width)
            break;
        at->done = 0;
        if (++at->row == r->height) {
            at->row = 0;
            at->slice++;
        }
    }
    return stores;
}

ptxiResult ptxi_rows_move(const struct ptxi_rows *r, ptxi_rows_go_on *go_on, void *ctx, struct ptxi_rows_fault *fault)
{
    struct ptxi_rcu_reader *g = ptxi_rcu_register();
    struct position at = { 0 };
    bool more = g;

    while (more && at.slice < r->depth) {
        uint64_t stores = 0;

        ptxi_rcu_read_lock(g);
        more = ptxi_rows_check(r, fault);
        if (more)
            stores = move_piece(r, &at);
        ptxi_rcu_read_unlock(g);
        more = more && (!go_on || go_on(ctx, stores));
    }
    ptxi_rcu_unregister(g);
    if (!g)
        return PTXI_ERROR_OUT_OF_MEMORY;
    return fault->kind == PTXI_FK_NONE ? PTXI_SUCCESS : PTXI_ERROR_ILLEGAL_ADDRESS;
}
