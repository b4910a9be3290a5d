/* PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "red".
 *
 * mods: the space (0 global, 1 shared, 2 generic), and 4 for a scope wider than .cta. A CTA lives on one worker, so its shared memory and operations of scope .cta need no atomic
 * operations of the host. */
#include <string.h>

#include "exec/level.h"
#include "exec/memory.h"

enum { ATOM_SPACE = 3, ATOM_WIDE_SCOPE = 4 };

static inline enum ptxi_mem_space space_of(const struct ptxi_insn *i)
{
    return (i->mods & ATOM_SPACE) == 0 ? PTXI_MS_GLOBAL : (i->mods & ATOM_SPACE) == 1 ? PTXI_MS_SHARED : PTXI_MS_GENERIC;
}

/* Where lane l's operation leads; *shared tells whether into shared memory. NULL after a fault. */
static inline unsigned char *target(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l, uint32_t size, bool *shared)
{
    enum ptxi_mem_space space = space_of(i);
    uint64_t at;
    unsigned char *p;

    if (space == PTXI_MS_SHARED) {
        at = (uint32_t)(((const uint32_t *)PTXI_SLOT(w, i->a))[l] + (uint32_t)i->imm);
        *shared = true;
        if (!(at & (size - 1)) && at + size <= w->shared_size)
            return w->shared + at;
    } else {
        at = ((const uint64_t *)PTXI_SLOT(w, i->a))[l] + (int64_t)i->imm;
        *shared = false;
        if (!(at & (size - 1)) && ptxi_mem_covers(w, ptxi_mem_hit(w, i), at, size, true))
            return (unsigned char *)(uintptr_t)at;
    }
    p = ptxi_mem_at(w, i, l, space, at, size, size, PTXI_ACCESS_ATOMIC);
    *shared = p >= w->shared && p < w->shared + w->shared_size;
    return p;
}

/* True if all lanes' operations lead into the CTA's shared memory, as the instruction says, and are aligned. */
static __attribute__((noinline)) bool all_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    ptxi_lanes on = w->active;
    uint32_t highest = 0, bits = 0;

    if (space_of(i) != PTXI_MS_SHARED)
        return false;
    for (int l = 0; l < PTXI_LANES; l++) {
        uint32_t at = on >> l & 1 ? a[l] + (uint32_t)i->imm : 0;

        highest = at > highest ? at : highest;
        bits |= at;
    }
    return !(bits & (size - 1)) && (uint64_t)highest + size <= w->shared_size;
}

/* Every operation: NEW is the value that replaces `old`, from x = b and y = c. */
#define ATOM(name, T, NEW)                                                                                    \
    OP( atom_##name )                                                                                         \
    {                                                                                                         \
        const T *b = PTXI_SLOT(w, i->b), *c = i->c == PTXI_NO_SLOT ? b : PTXI_SLOT(w, i->c);                  \
        T *d = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);                                              \
        bool inside = all_shared(w, i, sizeof(T));                                                            \
                                                                                                              \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                                           \
            unsigned l = ptxi_first_lane(left);                                                               \
            bool shared = inside;                                                                             \
            T *p = (T *)(inside ? w->shared + (uint32_t)(((const uint32_t *)PTXI_SLOT(w, i->a))[l] + (uint32_t)i->imm) \
                                : target(w, i, l, sizeof(T), &shared)),                                       \
              old, new, x = b[l], y = c[l];                                                                   \
                                                                                                              \
            (void)x;                                                                                          \
            (void)y;                                                                                          \
            if (!p)                                                                                           \
                return w->stop;                                                                               \
            old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                       \
            if (shared || !(i->mods & ATOM_WIDE_SCOPE)) {                                                     \
                new = (NEW);                                                                                  \
                __atomic_store_n(p, new, __ATOMIC_RELAXED);                                                   \
            } else {                                                                                          \
                do                                                                                            \
                    new = (NEW);                                                                              \
                while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)); \
            }                                                                                                 \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }

static inline uint32_t flush(uint32_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

/* Subnormals are flushed in global memory and kept in shared memory. */
static inline uint32_t add_f32(uint32_t old, uint32_t x, bool shared)
{
    float a, b;
    uint32_t r;

    if (!shared) {
        old = flush(old);
        x = flush(x);
    }
    memcpy(&a, &old, 4);
    memcpy(&b, &x, 4);
    a += b;
    memcpy(&r, &a, 4);
    if (a != a)
        return 0x7fffffff;
    return shared ? r : flush(r);
}

static inline bool nan64(uint64_t x)
{
    return (x & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

/* NaNs as an H200 gives them: in global memory the operand's before the old value's, bits unchanged; in shared memory
 * the old value's first, made quiet. */
static inline uint64_t add_f64(uint64_t old, uint64_t x, bool shared)
{
    const uint64_t quiet = UINT64_C(1) << 51;
    double a, b;
    uint64_t r;

    if (shared && (nan64(old) || nan64(x)))
        return (nan64(old) ? old : x) | quiet;
    if (nan64(x) || nan64(old))
        return nan64(x) ? x : old;
    memcpy(&a, &old, 8);
    memcpy(&b, &x, 8);
    a += b;
    memcpy(&r, &a, 8);
    return a != a ? UINT64_C(0xfff8000000000000) : r;
}

ATOM( add_i32, uint32_t, old + x )
ATOM( add_i64, uint64_t, old + x )
ATOM( add_f32, uint32_t, add_f32(old, x, shared) )
ATOM( add_f64, uint64_t, add_f64(old, x, shared) )
ATOM( and_b32, uint32_t, old & x )
ATOM( and_b64, uint64_t, old & x )
ATOM( or_b32, uint32_t, old | x )
ATOM( or_b64, uint64_t, old | x )
ATOM( xor_b32, uint32_t, old ^ x )
ATOM( xor_b64, uint64_t, old ^ x )
ATOM( exch_b32, uint32_t, x )
ATOM( exch_b64, uint64_t, x )
ATOM( cas_b16, uint16_t, old == x ? y : old )
ATOM( cas_b32, uint32_t, old == x ? y : old )
ATOM( cas_b64, uint64_t, old == x ? y : old )
ATOM( inc_u32, uint32_t, old >= x ? 0 : old + 1 )
ATOM( dec_u32, uint32_t, old == 0 || old > x ? x : old - 1 )
ATOM( min_u32, uint32_t, old < x ? old : x )
ATOM( min_s32, int32_t, old < x ? old : x )
ATOM( min_u64, uint64_t, old < x ? old : x )
ATOM( min_s64, int64_t, old < x ? old : x )
ATOM( max_u32, uint32_t, old > x ? old : x )
ATOM( max_s32, int32_t, old > x ? old : x )
ATOM( max_u64, uint64_t, old > x ? old : x )
ATOM( max_s64, int64_t, old > x ? old : x )
