/* PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "red".
 *
 * mods holds the space (0 global, 1 shared, 2 generic), 4 for a scope wider than .cta, and 8 for .sys. Bits 4 and up
 * are the logarithm of the alignment that the address needs, relative to the size of the operand. They are not 0 for
 * the first element of a vector. A CTA runs on one worker, so its shared memory needs no atomic operations of the
 * host.
 *
 * atom_inl.h has the handler of one operation. It takes one of several paths, from fast to slow:
 *   - All lanes access one word (NAME_one_word). The word changes once.
 *   - All lanes access contiguous words (NAME_contiguous).
 *   - All lanes access any words (NAME_each_shared, NAME_each_global, in atom_lanes_inl.h).
 *   - Some lanes access words that are known to be accessible (NAME_few).
 *   - Each lane is checked on its own, or uses an atomic operation of the host (NAME_any). */
#include <assert.h>

#include "exec/memory/atom_op.h"
#include "exec/memory/atom_reduce.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"
#include "exec/memory/coalesce.h"
#include "exec/memory/gather_scatter.h"

/* The fast paths make no calls, so they need no stack. */
#define INLINE inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

#define OP_NAMED(name) OP(name)

enum { ATOM_SPACE = 3, ATOM_SHARED = 1, ATOM_WIDE_SCOPE = 4, ATOM_SYSTEM = 8, ATOM_ALIGN_SHIFT = 4 };

static inline enum ptxi_mem_space space_of(const struct ptxi_insn *i)
{
    if ((i->mods & ATOM_SPACE) == 0)
        return PTXI_MS_GLOBAL;
    return (i->mods & ATOM_SPACE) == ATOM_SHARED ? PTXI_MS_SHARED : PTXI_MS_GENERIC;
}

/* Returns the host address of lane l's word, or NULL after a fault. *shared is true if it is in shared memory. */
static inline unsigned char *find_word(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l, uint32_t size,
                                       bool *shared)
{
    enum ptxi_mem_space space = space_of(i);
    uint32_t align = size << (i->mods >> ATOM_ALIGN_SHIFT);
    uint64_t at;
    unsigned char *p;

    assert(l < PTXI_LANES);
    if (space == PTXI_MS_SHARED) {
        at = (uint32_t)(((const uint32_t *)PTXI_SLOT(w, i->a))[l] + (uint32_t)i->imm);
        *shared = true;
        p = ptxi_access_own_shared(w, at, size, size);
        if (p)
            return p;
    } else {
        at = ((const uint64_t *)PTXI_SLOT(w, i->a))[l] + (uint64_t)(int64_t)i->imm;
        *shared = false;
        if (!(at & (align - 1)) && ptxi_access_is_cached(w, ptxi_access_hit(w, i), at, size, true))
            return (unsigned char *)(uintptr_t)at;
    }
    p = ptxi_access_or_continue(w, i, l, space, at, size, align, PTXI_AK_ATOMIC);
    *shared = p && ptxi_shared_owner(w->cta, p);
    return p;
}

/* True if no other thread in the scope can run between a load and a store. The scope .cta promises atomicity in one
 * CTA only, but a GPU's global memory keeps it for all CTAs, and programs rely on that. A device with one worker runs
 * one thread at a time. The scope .sys includes the threads of the host. */
static inline bool is_exclusive(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->mods & ATOM_WIDE_SCOPE ? w->only_worker && !(i->mods & ATOM_SYSTEM) : w->one_worker;
}

/* True if the words of the active lanes are in the CTA's own shared memory and aligned. The instruction's space is
 * shared. */
NOINLINE bool active_are_in_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size,
                                   struct ptxi_address_range *r)
{
    *r = ptxi_address_range_32(PTXI_SLOT(w, i->a), w->active);
    return !((r->bits | (uint32_t)i->imm) & (size - 1)) && ptxi_shared_covers(w, i, r->lo, r->hi, size);
}

/* True if the words of the active lanes are in one allocation that may be written, and aligned. */
NOINLINE bool active_are_in_allocation(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size,
                                       struct ptxi_address_range *r)
{
    uint32_t align = size << (i->mods >> ATOM_ALIGN_SHIFT);

    *r = ptxi_address_range_64(PTXI_SLOT(w, i->a), w->active);
    return !((r->bits | (uint32_t)i->imm) & (align - 1)) &&
           ptxi_access_is_cached(w, ptxi_access_hit(w, i), r->lo + (uint64_t)(int64_t)i->imm, r->hi - r->lo + size,
                                 true);
}

/* The same for all lanes. Elements of vectors take the slower path. */
static INLINE bool all_are_in_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint32_t *a,
                                     uint32_t size)
{
    return w->active == PTXI_ALL_LANES &&
           ptxi_all_below_32(a, (uint32_t)i->imm - (uint32_t)w->shared_at, (uint32_t)w->shared_size, size);
}

static INLINE bool all_are_in_allocation(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *a,
                                         uint32_t size)
{
    return w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && ptxi_all_within_64(w, i, a, size);
}

/* The same for all lanes with contiguous words. */
static INLINE bool contiguous_in_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t at = a[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;

    return a[1] == a[0] + size && w->active == PTXI_ALL_LANES && !(at & (size - 1)) &&
           at + (uint64_t)PTXI_LANES * size <= w->shared_size && ptxi_is_contiguous_32(a, size);
}

static INLINE bool contiguous_in_allocation(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t at = a[0] + (uint64_t)(int64_t)i->imm;

    return a[1] == a[0] + size && w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && !(at & (size - 1)) &&
           ptxi_access_is_cached(w, ptxi_access_hit(w, i), at, (uint64_t)PTXI_LANES * size, true) &&
           ptxi_is_contiguous_64(a, size);
}

/* The same for all lanes with one word, including the lanes that are not active. */
static INLINE bool one_word_in_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t at = a[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;

    return a[1] == a[0] && !(at & (size - 1)) && at + (uint64_t)size <= w->shared_size && ptxi_is_contiguous_32(a, 0);
}

static INLINE bool one_word_in_allocation(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t at = a[0] + (uint64_t)(int64_t)i->imm;

    return a[1] == a[0] && !(i->mods >> ATOM_ALIGN_SHIFT) && !(at & (size - 1)) &&
           ptxi_access_is_cached(w, ptxi_access_hit(w, i), at, size, true) && ptxi_is_contiguous_64(a, 0);
}

/* --- 128 bits at once. Compilers call a library for them. --- */
typedef unsigned __int128 u128;

static inline u128 load_128(const u128 *p)
{
    return *p; /* may be half old and half new; then the exchange fails */
}

static inline void store_128(u128 *p, u128 x)
{
    *p = x;
}

static inline bool exchange_128(u128 *p, u128 *old, u128 new)
{
#if defined(__x86_64__) /* all processors but the very first ones */
    uint64_t low = (uint64_t)*old, high = (uint64_t)(*old >> 64);
    bool done;

    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*p), "+a"(low), "+d"(high)
                     : "b"((uint64_t)new), "c"((uint64_t)(new >> 64))
                     : "memory");
    *old = (u128)high << 64 | low;
    return done;
#else
    static atomic_flag lock = ATOMIC_FLAG_INIT;
    bool done;

    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    done = *p == *old;
    *old = *p;
    if (done)
        *p = new;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return done;
#endif
}

#define load_any(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define store_any(p, x) __atomic_store_n(p, x, __ATOMIC_RELAXED)
#define exchange_any(p, old, new) __atomic_compare_exchange_n(p, old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

/* --- operands --- */

/* The number to add to the addresses of the lanes. */
static INLINE uintptr_t base_of(const struct ptxi_warp *w, const struct ptxi_insn *i, bool shared)
{
    return (shared ? w->shared_origin : 0) + (uintptr_t)(intptr_t)i->imm;
}

/* The operand b. */
static INLINE const void *source_b(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return PTXI_SLOT(w, i->b);
}

/* The operand c of an operation with three operands. Others do not use it. */
static INLINE const void *source_c(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->c == PTXI_NO_SLOT ? PTXI_SLOT(w, i->b) : PTXI_SLOT(w, i->c);
}

/* The register of the old values, or NULL if the instruction discards them. It may be the slot of a source. */
static INLINE void *destination(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);
}

/* --- addresses --- */

typedef uint64_t aliasing_64 __attribute__((may_alias));

/* The addresses of lanes l and l + 1. */
struct address_pair {
    uintptr_t at[2];
};

/* Reads two 32-bit addresses with one load. */
static INLINE struct address_pair load_address_pair(const void *a, unsigned l, size_t address_size)
{
    const aliasing_64 *from = (const void *)((const char *)a + l * address_size);

    if (address_size == 4)
        return (struct address_pair){ { (uint32_t)*from, *from >> 32 } };
    return (struct address_pair){ { from[0], from[1] } };
}

/* Keeps base and offset apart in the addresses of a load and of the store after it, which saves an addition per lane.
 */
#define OPAQUE(offset) __asm__("" : "+r"(offset))
#define OPAQUE_4(p, q, r, s) __asm__("" : "+r"(p), "+r"(q), "+r"(r), "+r"(s))

/* Reads the words of all lanes. */
static INLINE void load_words(void *words, uintptr_t base, const void *a, size_t element_size, size_t address_size)
{
    if (element_size != 2) {
        ptxi_gather_lanes(words, base, a, PTXI_ALL_LANES, element_size, address_size);
        return;
    }
    for (int l = 0; l < PTXI_LANES; l++) {
        uint64_t at = address_size == 4 ? ((const uint32_t *)a)[l] : ((const uint64_t *)a)[l];

        ((uint16_t *)words)[l] = load_any((uint16_t *)(base + at));
    }
}

/* Prefetches the cache lines of all lanes. Atomic operations of the host would wait for each line in turn. */
static inline void prefetch_lines(const uint64_t *a, uint64_t by, ptxi_lanes on)
{
    for (; on; on &= on - 1)
        __builtin_prefetch((const void *)(uintptr_t)(a[ptxi_first_lane(on)] + by), 1);
}

/* Makes the compiler turn a loop of four iterations into vector code. It would otherwise unroll it first. */
#if defined(__clang__)
#define VECTOR_OF_FOUR _Pragma("clang loop vectorize_width(4)")
#else
#define VECTOR_OF_FOUR _Pragma("GCC unroll 1") _Pragma("GCC ivdep")
#endif

/* --- compare-and-swap of several lanes at one word --- */

#if defined(__AVX512F__)
/* The lanes of `on` with a compare-and-swap that changes a word with value `old`. */
static inline ptxi_lanes find_swaps_uint32_t(const uint32_t *x, const uint32_t *y, uint32_t old, ptxi_lanes on)
{
    const __m512i olds = _mm512_set1_epi32((int32_t)old);
    ptxi_lanes found = 0;

    for (int l = 0; l < PTXI_LANES; l += 16) {
        const __mmask16 equal = _mm512_cmpeq_epi32_mask(_mm512_load_si512(x + l), olds);

        found |= (ptxi_lanes)_mm512_mask_cmpneq_epi32_mask(equal, _mm512_load_si512(y + l), olds) << l;
    }
    return found & on;
}

static inline ptxi_lanes find_swaps_uint64_t(const uint64_t *x, const uint64_t *y, uint64_t old, ptxi_lanes on)
{
    const __m512i olds = _mm512_set1_epi64((int64_t)old);
    ptxi_lanes found = 0;

    for (int l = 0; l < PTXI_LANES; l += 8) {
        const __mmask8 equal = _mm512_cmpeq_epi64_mask(_mm512_load_si512(x + l), olds);

        found |= (ptxi_lanes)_mm512_mask_cmpneq_epi64_mask(equal, _mm512_load_si512(y + l), olds) << l;
    }
    return found & on;
}
#endif

#define T uint16_t
#include "exec/memory/atom_swap_inl.h"
#define T uint32_t
#define T_HAS_VECTORS
#include "exec/memory/atom_swap_inl.h"
#define T uint64_t
#define T_HAS_VECTORS
#include "exec/memory/atom_swap_inl.h"

#define SWAP_LANES(T, was, x, y, old, on)                                                                         \
    _Generic((T)0, uint16_t: swap_lanes_uint16_t, uint32_t: swap_lanes_uint32_t, default: swap_lanes_uint64_t)(   \
        (void *)(was), (const void *)(x), (const void *)(y), old, on)

/* --- the operations --- */

#define ATOM_TEMPLATE "exec/memory/atom_inl.h"
#include "exec/memory/atom.def"

#define ATOM (exch_b32, uint32_t, PLAIN, x)
#include ATOM_TEMPLATE
#define ATOM (exch_b64, uint64_t, PLAIN, x)
#include ATOM_TEMPLATE
#define ATOM (cas_b16, uint16_t, SWAP_16, old == x ? y : old)
#include ATOM_TEMPLATE
#define ATOM (cas_b32, uint32_t, SWAP, old == x ? y : old)
#include ATOM_TEMPLATE
#define ATOM (cas_b64, uint64_t, SWAP, old == x ? y : old)
#include ATOM_TEMPLATE
#define ATOM (exch_b128, u128, 128, x)
#include ATOM_TEMPLATE
#define ATOM (cas_b128, u128, 128, old == x ? y : old)
#include ATOM_TEMPLATE
