/* PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "red".
 *
 * mods: the space (0 global, 1 shared, 2 generic); 4 for a scope wider than .cta, 8 for .sys; from bit 4 on, how often the alignment that
 * the address must have is twice that of the operand: that of a vector, whose first element this is. A CTA lives on one worker, so its
 * shared memory needs no atomic operations of the host. */
#include "exec/memory/atomop.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"
#include "exec/memory/gather_scatter.h"
#include "exec/memory/coalesce.h"
#include "exec/memory/atom_reduce.h"

/* No calls on the short ways, which so need no stack. */
#define INLINE inline __attribute__((always_inline))

/* What operations at one word are sums of; or that they are compares and swaps. */
enum { NO_SUMS, INTEGERS, FLOATS, SWAPS };

enum { ATOM_SPACE = 3, ATOM_SHARED = 1, ATOM_WIDE_SCOPE = 4, ATOM_SYSTEM = 8, ATOM_ALIGN_SHIFT = 4 };

static inline enum ptxi_mem_space space_of(const struct ptxi_insn *i)
{
    return (i->mods & ATOM_SPACE) == 0 ? PTXI_MS_GLOBAL : (i->mods & ATOM_SPACE) == ATOM_SHARED ? PTXI_MS_SHARED : PTXI_MS_GENERIC;
}

/* Where lane l's operation leads; *shared tells whether into shared memory. NULL after a fault. */
static inline unsigned char *target(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l, uint32_t size, bool *shared)
{
    enum ptxi_mem_space space = space_of(i);
    uint32_t align = size << (i->mods >> ATOM_ALIGN_SHIFT);
    uint64_t at;
    unsigned char *p;

    if (space == PTXI_MS_SHARED) {
        at = (uint32_t)(((const uint32_t *)PTXI_SLOT(w, i->a))[l] + (uint32_t)i->imm);
        *shared = true;
        p = ptxi_mem_own(w, at, size, size);
        if (p)
            return p;
    } else {
        at = ((const uint64_t *)PTXI_SLOT(w, i->a))[l] + (int64_t)i->imm;
        *shared = false;
        if (!(at & (align - 1)) && ptxi_mem_covers(w, ptxi_mem_hit(w, i), at, size, true))
            return (unsigned char *)(uintptr_t)at;
    }
    p = ptxi_mem_at(w, i, l, space, at, size, align, PTXI_ACCESS_ATOMIC);
    *shared = p && ptxi_shared_owner(w->cta, p);
    return p;
}

/* Whether no thread that the scope includes can come between a load and a store. .cta is promised to one CTA only, but the GPU's global memory
 * keeps it for all, and programs rely on that. The threads of the device are alone where it has one worker; .sys includes the host's. */
static inline bool is_alone(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->mods & ATOM_WIDE_SCOPE ? w->only_worker && !(i->mods & ATOM_SYSTEM) : w->one_worker;
}

/* Whether the operations of the active lanes lead into the CTA's shared memory, as the instruction says, and are aligned. */
static __attribute__((noinline)) bool some_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size, struct span *s)
{
    *s = span32(PTXI_SLOT(w, i->a), w->active);
    return !((s->bits | (uint32_t)i->imm) & (size - 1)) && shared_covers(w, i, s->lo, s->hi, size);
}

/* Whether they lead into one allocation that may be written, and are aligned. */
static __attribute__((noinline)) bool some_global(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size, struct span *s)
{
    uint32_t align = size << (i->mods >> ATOM_ALIGN_SHIFT);

    *s = span64(PTXI_SLOT(w, i->a), w->active);
    return !((s->bits | (uint32_t)i->imm) & (align - 1)) &&
           ptxi_mem_covers(w, ptxi_mem_hit(w, i), s->lo + (uint64_t)(int64_t)i->imm, s->hi - s->lo + size, true);
}

/* The same for all lanes and elements that are no part of vectors. */
static INLINE bool all_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint32_t *a, uint32_t size)
{
    return w->active == PTXI_ALL_LANES && all_below32(a, (uint32_t)i->imm - (uint32_t)w->shared_at, (uint32_t)w->shared_size, size);
}

static INLINE bool all_global(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *a, uint32_t size)
{
    return w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && all_within64(w, i, a, size);
}

/* The same for all lanes in a row. */
static INLINE bool shared_row(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t at = a[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;

    return a[1] == a[0] + size && w->active == PTXI_ALL_LANES && !(at & (size - 1)) && at + (uint64_t)PTXI_LANES * size <= w->shared_size && in_row32(a, size);
}

static INLINE bool global_row(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t at = a[0] + (uint64_t)(int64_t)i->imm;

    return a[1] == a[0] + size && w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && !(at & (size - 1)) &&
           ptxi_mem_covers(w, ptxi_mem_hit(w, i), at, (uint64_t)PTXI_LANES * size, true) && in_row64(a, size);
}

/* The same for all lanes at one place, those that are not active included. */
static INLINE bool shared_word(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t at = a[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;

    return a[1] == a[0] && !(at & (size - 1)) && at + (uint64_t)size <= w->shared_size && in_row32(a, 0);
}

static INLINE bool global_word(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t at = a[0] + (uint64_t)(int64_t)i->imm;

    return a[1] == a[0] && !(i->mods >> ATOM_ALIGN_SHIFT) && !(at & (size - 1)) &&
           ptxi_mem_covers(w, ptxi_mem_hit(w, i), at, size, true) && in_row64(a, 0);
}

/* --- 128 bits at once, which compilers leave to a library --- */
typedef unsigned __int128 u128;

static inline u128 load_128(const u128 *p)
{
    return *p; /* perhaps half old, half new; then the exchange fails */
}

static inline void store_128(u128 *p, u128 x)
{
    *p = x;
}

static inline bool exchange_128(u128 *p, u128 *old, u128 new)
{
#if defined(__x86_64__) /* all but the very first ones */
    uint64_t low = (uint64_t)*old, high = (uint64_t)(*old >> 64);
    bool done;

    __asm__ volatile("lock cmpxchg16b %1" : "=@ccz"(done), "+m"(*p), "+a"(low), "+d"(high) : "b"((uint64_t)new), "c"((uint64_t)(new >> 64)) : "memory");
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

static INLINE void read_lanes(void *was, uintptr_t base, const void *a, size_t element, size_t address)
{
    if (element == 2)
        for (int l = 0; l < PTXI_LANES; l++)
            ((uint16_t *)was)[l] = load_any((uint16_t *)(base + (address == 4 ? ((const uint32_t *)a)[l] : ((const uint64_t *)a)[l])));
    else
        gather(was, base, a, PTXI_ALL_LANES, element, address);
}

/* Where old values go that nobody wants. */
#define UNWANTED ((void *)w->worker->unwanted)

/* Base and number stay apart in the addresses of what is loaded and of what is stored, which is one addition less a lane. */
#define AGAIN(offset) __asm__("" : "+r"(offset))
#define AGAIN_ALL(p, q, r, s) __asm__("" : "+r"(p), "+r"(q), "+r"(r), "+r"(s))

/* Lanes of `on` whose compare-and-swap changes a word that is `old`. */
#define CHANGING(T)                                                                                           \
    static inline ptxi_lanes changing_##T(const T *x, const T *y, T old, ptxi_lanes on)                       \
    {                                                                                                         \
        ptxi_lanes found = 0;                                                                                 \
                                                                                                              \
        for (int l = 0; l < PTXI_LANES; l++)                                                                  \
            found |= (ptxi_lanes)((x[l] == old) & (y[l] != old)) << l;                                        \
        return found & on;                                                                                    \
    }
CHANGING(uint16_t)
#if defined(__AVX512F__)
static inline ptxi_lanes changing_uint32_t(const uint32_t *x, const uint32_t *y, uint32_t old, ptxi_lanes on)
{
    const __m512i olds = _mm512_set1_epi32((int32_t)old);
    ptxi_lanes found = 0;

    for (int l = 0; l < PTXI_LANES; l += 16)
        found |= (ptxi_lanes)_mm512_mask_cmpneq_epi32_mask(_mm512_cmpeq_epi32_mask(_mm512_load_si512(x + l), olds), _mm512_load_si512(y + l), olds) << l;
    return found & on;
}

static inline ptxi_lanes changing_uint64_t(const uint64_t *x, const uint64_t *y, uint64_t old, ptxi_lanes on)
{
    const __m512i olds = _mm512_set1_epi64((int64_t)old);
    ptxi_lanes found = 0;

    for (int l = 0; l < PTXI_LANES; l += 8)
        found |= (ptxi_lanes)_mm512_mask_cmpneq_epi64_mask(_mm512_cmpeq_epi64_mask(_mm512_load_si512(x + l), olds), _mm512_load_si512(y + l), olds) << l;
    return found & on;
}
#else
CHANGING(uint32_t)
CHANGING(uint64_t)
#endif
#undef CHANGING

/* Compares and swaps of the lanes `on` at a word that is `old`, one after the other. Returns what it becomes; was[l] is what lane l has found there.
 * Few of them change it: in a loop that tries again, all lanes compare with one value. */
#define SWAPS_AT(T)                                                                                           \
    static inline __attribute__((always_inline)) T swaps_at_##T(T *was, const T *x, const T *y, T old, ptxi_lanes on)                        \
    {                                                                                                         \
        enum { FEW = 4 };                                                                                     \
        LANE_ARRAY(T, now);                                                                                   \
        ptxi_lanes changing;                                                                                  \
                                                                                                              \
        FOR_LANES was[l] = old;                                                                               \
        for (int n = 0; n < FEW && (changing = changing_##T(x, y, old, on)) != 0; n++) {                      \
            unsigned by = ptxi_first_lane(changing);                                                          \
                                                                                                              \
            old = y[by];                                                                                      \
            on &= ~(((ptxi_lanes)2 << by) - 1);                                                               \
            FOR_LANES now[l] = old;                                                                           \
            ptxi_merge(was, now, on, sizeof(T));                                                              \
        }                                                                                                     \
        for (changing = changing_##T(x, y, old, on) ? on : 0; changing; changing &= changing - 1) {           \
            unsigned l = ptxi_first_lane(changing);                                                           \
                                                                                                              \
            was[l] = old;                                                                                     \
            old = old == x[l] ? y[l] : old;                                                                   \
        }                                                                                                     \
        return old;                                                                                           \
    }
SWAPS_AT(uint16_t)
SWAPS_AT(uint32_t)
SWAPS_AT(uint64_t)
#undef SWAPS_AT

/* The registers of an instruction. c is read by operations of three only; d is NULL where no old values are wanted, and may be the slot of a source. */
#define OPERANDS(T)                                                                                           \
    const T *b = PTXI_SLOT(w, i->b), *c = i->c == PTXI_NO_SLOT ? b : PTXI_SLOT(w, i->c);                      \
    T *d = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);                                                  \
                                                                                                              \
    (void)c, (void)d

/* What is added to the numbers that registers of addresses hold. */
#define BASE(SHARED) ((SHARED ? w->shared_origin : 0) + (uintptr_t)(intptr_t)i->imm)

/* The registers of an instruction, and where its lanes go: numbers a, and what is added to them. */
#define PLACED_OPERANDS(T, SHARED)                                                                            \
    const bool shared = SHARED;                                                                               \
    const uintptr_t base = BASE(SHARED);                                                                      \
    OPERANDS(T);                                                                                              \
                                                                                                              \
    (void)shared

/* A block for every lane l of `on`. */
#define EACH_LANE(on, ...)                                                         \
    do {                                                                           \
        if ((on) == PTXI_ALL_LANES)                                                \
            UNROLLED for (unsigned l = 0; l < PTXI_LANES; l++)                     \
                __VA_ARGS__                                                        \
        else                                                                       \
            for (ptxi_lanes rest_ = (on); rest_; rest_ &= rest_ - 1) {             \
                unsigned l = ptxi_first_lane(rest_);                               \
                __VA_ARGS__                                                        \
            }                                                                      \
    } while (0)

/* Lane l's operation at p, where nobody else is near. */
#define STEP(size, T, p, l, NEW)                                                                              \
    T x = b[l], y = c[l], old = load_##size(p);                                                               \
                                                                                                              \
    (void)x, (void)y, (void)old;                                                                              \
    store_##size(p, NEW)

typedef uint64_t any_64 __attribute__((may_alias));

/* The addresses of lanes l and l + 1: narrow ones in one load. */
struct two_places {
    uintptr_t at[2];
};

static INLINE struct two_places two_places(const void *a, unsigned l, size_t address)
{
    const any_64 *from = (const void *)((const char *)a + l * address);

    return address == 4 ? (struct two_places){ { (uint32_t)*from, *from >> 32 } } : (struct two_places){ { from[0], from[1] } };
}

/* Lane l's turn, where nobody else is near. */
#define TURN(size, T, l, place, NEW, was)                                                                     \
    do {                                                                                                      \
        uintptr_t at = place;                                                                                 \
        T x = b[l], y = c[l], old = load_##size((T *)(base + at));                                            \
                                                                                                              \
        (void)x, (void)y;                                                                                     \
        AGAIN(at);                                                                                            \
        store_##size((T *)(base + at), NEW);                                                                  \
        was = old;                                                                                            \
    } while (0)
#define TWO_TURNS(size, T, l, A, NEW, first, second)                                                          \
    do {                                                                                                      \
        const struct two_places two = two_places(a, l, sizeof(A));                                            \
                                                                                                              \
        TURN(size, T, l, two.at[0], NEW, first);                                                              \
        TURN(size, T, (l) + 1, two.at[1], NEW, second);                                                       \
    } while (0)

/* What was there goes into registers four lanes at a time, in as few stores as can be: hosts have one store a cycle for lines that alternate. */
#define FOUR_TURNS(size, T, l, A, NEW)                                                                        \
    do {                                                                                                      \
        T was[4];                                                                                             \
                                                                                                              \
        TWO_TURNS(size, T, l, A, NEW, was[0], was[1]);                                                        \
        if (sizeof(T) == 4) {                                                                                 \
            uint64_t low = (uint32_t)was[0] | (uint64_t)was[1] << 32, high;                                   \
                                                                                                              \
            AGAIN(low); /* or it becomes a vector, element by element */                                      \
            TWO_TURNS(size, T, (l) + 2, A, NEW, was[2], was[3]);                                              \
            high = (uint32_t)was[2] | (uint64_t)was[3] << 32;                                                 \
            AGAIN(high);                                                                                      \
            ((any_64 *)(d + (l)))[0] = low;                                                                   \
            ((any_64 *)(d + (l)))[1] = high;                                                                  \
        } else {                                                                                              \
            TWO_TURNS(size, T, (l) + 2, A, NEW, was[2], was[3]);                                              \
            memcpy(d + (l), was, sizeof was);                                                                 \
        }                                                                                                     \
    } while (0)

/* Lane l's turn that wants no old value; a host may have one instruction for it. */
#define RED_TURN(T, number, l, X, NEW)                                                                        \
    do {                                                                                                      \
        struct { T v; } __attribute__((may_alias)) *at = (void *)(base + (number));                           \
        T x = X, y = c[l], old = at->v;                                                                       \
                                                                                                              \
        (void)x, (void)y, (void)old;                                                                          \
        at->v = (NEW);                                                                                        \
    } while (0)

/* All lanes, one after the other, at addresses known to be good, where nobody else is near. d may be the slot of a source: four lanes have read theirs before it changes. */
#define ATOM_TURNS(size, name, T, NEW, SHARED, A)                                                             \
    RACY static INLINE const struct ptxi_insn *name##_red(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a) \
    {                                                                                                         \
        PLACED_OPERANDS(T, SHARED);                                                                           \
                                                                                                              \
        UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 2) {                                               \
            const struct two_places two = two_places(a, l, sizeof(A));                                        \
            const uint64_t both = sizeof(T) == 4 ? *(const any_64 *)(b + l) : 0;                              \
                                                                                                              \
            RED_TURN(T, two.at[0], l, sizeof(T) == 4 ? (T)both : b[l], NEW);                                  \
            RED_TURN(T, two.at[1], l + 1, sizeof(T) == 4 ? (T)(both >> 32) : b[l + 1], NEW);                  \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_turns(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a) \
    {                                                                                                         \
        PLACED_OPERANDS(T, SHARED);                                                                           \
                                                                                                              \
        if (!d)                                                                                               \
            return name##_red(i, w, a);                                                                       \
        UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 4)                                                 \
            FOUR_TURNS(size, T, l, A, NEW);                                                                   \
        NEXT;                                                                                                 \
    }

/* A loop of four rounds that is to be one of vectors; compilers would unroll it before they think of that. */
#if defined(__clang__)
#define NOT_UNROLLED _Pragma("clang loop vectorize_width(4)")
#else
#define NOT_UNROLLED _Pragma("GCC unroll 1") _Pragma("GCC ivdep")
#endif

/* Four lanes after the other, at once; no two of the four may meet. A lane's words are loaded and stored by themselves: instructions that gather and
 * scatter are slow on some hosts. NEW_FOUR makes `are` of `were`, from lane l on. */
#define FOURS(name, T, NEW_FOUR, SHARED, A)                                                                   \
    RACY static INLINE const struct ptxi_insn *name##_fours(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a, bool wanted) \
    {                                                                                                         \
        typedef T four __attribute__((vector_size(4 * sizeof(T)), may_alias));                                \
        typedef struct { T v; } __attribute__((may_alias)) *place;                                            \
        PLACED_OPERANDS(T, SHARED);                                                                           \
                                                                                                              \
        UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 4) {                                               \
            uintptr_t p = a[l], q = a[l + 1], r = a[l + 2], s = a[l + 3];                                     \
            four were, are;                                                                                   \
                                                                                                              \
            AGAIN_ALL(p, q, r, s);                                                                            \
            were = (four){ PLACE(p)->v, PLACE(q)->v, PLACE(r)->v, PLACE(s)->v };                              \
            NEW_FOUR;                                                                                         \
            if (wanted)                                                                                       \
                *(four *)(d + l) = were;                                                                      \
            AGAIN_ALL(p, q, r, s);                                                                            \
            PLACE(p)->v = are[0], PLACE(q)->v = are[1], PLACE(r)->v = are[2], PLACE(s)->v = are[3];           \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }
#define PLACE(number) ((place)(base + (number)))

#define ATOM_FOURS(name, T, NEW, SHARED, A) FOURS( name, T, EACH_OF_FOUR(T, NEW), SHARED, A )
#define EACH_OF_FOUR(T, NEW)                                                                                  \
    do {                                                                                                      \
        T was[4], now[4];                                                                                     \
                                                                                                              \
        memcpy(was, &were, sizeof was);                                                                       \
        NOT_UNROLLED for (int k = 0; k < 4; k++) {                                                            \
            T old = was[k], x = b[l + k], y = c[l + k];                                                       \
                                                                                                              \
            (void)x, (void)y, (void)old;                                                                      \
            now[k] = (NEW);                                                                                   \
        }                                                                                                     \
        memcpy(&are, now, sizeof now);                                                                        \
    } while (0)

#if defined(__AVX2__)
/* Sums of floats: where the host's do not do, the four and those after it have turns. */
#define ATOM_FOUR_SUMS(size, name, T, NEW, SHARED, A)                                                         \
    RACY static __attribute__((noinline)) const struct ptxi_insn *name##_rest(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a, unsigned l) \
    {                                                                                                         \
        PLACED_OPERANDS(T, SHARED);                                                                           \
                                                                                                              \
        for (; l < PTXI_LANES; l++) {                                                                         \
            STEP(size, T, (T *)(base + a[l]), l, NEW);                                                        \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }                                                                                                         \
    FOURS( name, T, if (__builtin_expect(!(sizeof(T) == 4 ? sums_32(&are, &were, b + l, !shared) : sums_64(&are, &were, b + l, !shared)), 0)) return name##_rest(i, w, a, l), SHARED, A )
#else /* where nothing is done in fours */
#define ATOM_FOUR_SUMS(size, name, T, NEW, SHARED, A) ATOM_FOURS( name, T, NEW, SHARED, A )
#endif

/* Where no lanes meet so, that is how operations are done whose old values are wanted, for these then take few stores, and those of floats. */
#define ATOM_EACH(size, name, T, NEW, SHARED, A)                                                              \
    ATOM_TURNS( size, name, T, NEW, SHARED, A )                                                               \
    ATOM_FOURS( name, T, NEW, SHARED, A )                                                                     \
    static INLINE const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a)    \
    {                                                                                                         \
        if (i->d == PTXI_NO_SLOT)                                                                             \
            return name##_red(i, w, a);                                                                       \
        return apart_in_fours(a, sizeof(T), sizeof(A)) ? name##_fours(i, w, a, true) : name##_turns(i, w, a); \
    }
#define ATOM_EACH_FLOAT(size, name, T, NEW, SHARED, A)                                                        \
    ATOM_TURNS( size, name, T, NEW, SHARED, A )                                                               \
    ATOM_FOUR_SUMS( size, name, T, NEW, SHARED, A )                                                           \
    static INLINE const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a)    \
    {                                                                                                         \
        if (!apart_in_fours(a, sizeof(T), sizeof(A)))                                        \
            return name##_turns(i, w, a);                                                                     \
        return i->d == PTXI_NO_SLOT ? name##_fours(i, w, a, false) : name##_fours(i, w, a, true);             \
    }
#define ATOM_EACH_TURN(size, name, T, NEW, SHARED, A)                                                         \
    ATOM_TURNS( size, name, T, NEW, SHARED, A )                                                               \
    static INLINE const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a)    \
    {                                                                                                         \
        return name##_turns(i, w, a);                                                                         \
    }

/* As many lanes at once as find what was there before any; the rest has turns. For those where NEW is dear. */
#define ATOM_EACH_DEAR(size, name, T, NEW, SHARED, A)                                                         \
    RACY static INLINE const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, const A *a) \
    {                                                                                                         \
        LANE_ARRAY(T, was);                                                                                   \
        LANE_ARRAY(T, now);                                                                                   \
        ptxi_lanes left;                                                                                      \
        unsigned done;                                                                                        \
        PLACED_OPERANDS(T, SHARED);                                                                           \
                                                                                                              \
        read_lanes(was, base, a, sizeof(T), sizeof(A));                                                       \
        FOR_LANES {                                                                                           \
            T old = was[l], x = b[l], y = c[l];                                                               \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            now[l] = (NEW);                                                                                   \
        }                                                                                                     \
        UNROLLED for (done = 0; done < PTXI_LANES; done++) {                                                  \
            T *p = (T *)(base + a[done]);                                                                     \
                                                                                                              \
            if (load_##size(p) != was[done])                                                                  \
                break;                                                                                        \
            store_##size(p, now[done]);                                                                       \
        }                                                                                                     \
        left = done == PTXI_LANES ? 0 : PTXI_ALL_LANES << done;                                               \
        if (d)                                                                                                \
            ptxi_merge(d, was, ~left, sizeof(T));                                                             \
        EACH_LANE(left, {                                                                                     \
            STEP(size, T, (T *)(base + a[l]), l, NEW);                                                        \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        });                                                                                                   \
        NEXT;                                                                                                 \
    }

/* The host's atomic operations wait for each other's memory: all lines come at once. */
static inline void fetch_lines(const uint64_t *a, uint64_t by, ptxi_lanes on)
{
    for (; on; on &= on - 1)
        __builtin_prefetch((const void *)(uintptr_t)(a[ptxi_first_lane(on)] + by), 1);
}

/* Sums of all lanes at one address: SUMS tells whether they are such, and of what. */
#define ALL_TOGETHER(size, T, SUMS)                                                                           \
    if (SUMS == INTEGERS && w->active == PTXI_ALL_LANES) {                                                    \
        T total = 0, was = load_##size(p);                                                                    \
                                                                                                              \
        if (d)                                                                                                \
            total = sizeof(T) == 4 ? (T)running_sums_32((void *)d, (const void *)b) : (T)running_sums_64((void *)d, (const void *)b); \
        else                                                                                                  \
            FOR_LANES total += b[l];                                                                          \
        if (alone)                                                                                            \
            store_##size(p, was + total);                                                                     \
        else                                                                                                  \
            while (!exchange_##size(p, &was, was + total))                                                    \
                ;                                                                                             \
        if (d)                                                                                                \
            FOR_LANES d[l] += was;                                                                            \
        NEXT;                                                                                                 \
    }                                                                                                         \
    if (SUMS == FLOATS && w->active == PTXI_ALL_LANES) {                                                      \
        LANE_ARRAY(T, after);                                                                                 \
        T was = load_##size(p);                                                                               \
        bool good;                                                                                            \
                                                                                                              \
        do                                                                                                    \
            good = sizeof(T) == 4 ? running_float_sums_32(after, &was, b, !shared) : running_float_sums_64(after, &was, b, false); \
        while (good && !alone && !exchange_##size(p, &was, after[PTXI_LANES - 1]));                           \
        if (good) {                                                                                           \
            if (alone)                                                                                        \
                store_##size(p, after[PTXI_LANES - 1]);                                                       \
            if (d) {                                                                                          \
                d[0] = was;                                                                                   \
                memcpy(d + 1, after, (PTXI_LANES - 1) * sizeof(T));                                           \
            }                                                                                                 \
            NEXT;                                                                                             \
        }                                                                                                     \
    }

#define SWAP_LANES(T, was, x, y, old, on)                                                                     \
    _Generic((T)0, uint16_t: swaps_at_uint16_t, uint32_t: swaps_at_uint32_t, default: swaps_at_uint64_t)((void *)(was), (const void *)(x), (const void *)(y), old, on)

/* Every operation: NEW is the value that replaces `old`, from x = b and y = c. Functions that end in another one have its arguments, so that on the
 * short ways nothing is saved. */
#define ATOM_OF(EACH, SUMS, size, name, T, NEW)                                                               \
    static __attribute__((noinline)) const struct ptxi_insn *name##_anywhere(const struct ptxi_insn *i, struct ptxi_warp *w, bool inside) \
    {                                                                                                         \
        bool alone = is_alone(w, i);                                                                          \
        OPERANDS(T);                                                                                          \
                                                                                                              \
        if (inside)                                                                                           \
            fetch_lines(PTXI_SLOT(w, i->a), (uint64_t)(int64_t)i->imm, w->active);                            \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                                           \
            unsigned l = ptxi_first_lane(left);                                                               \
            bool shared = false;                                                                              \
            T *p = (T *)(inside ? (unsigned char *)(uintptr_t)(((const uint64_t *)PTXI_SLOT(w, i->a))[l] + (uint64_t)(int64_t)i->imm) \
                                : target(w, i, l, sizeof(T), &shared)),                                       \
              old, new, x = b[l], y = c[l];                                                                   \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            if (!p)                                                                                           \
                return w->stop;                                                                               \
            old = load_##size(p);                                                                             \
            if (shared || alone) {                                                                            \
                new = (NEW);                                                                                  \
                store_##size(p, new);                                                                         \
            } else {                                                                                          \
                do                                                                                            \
                    new = (NEW);                                                                              \
                while (!exchange_##size(p, &old, new));                                                       \
            }                                                                                                 \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }                                                                                                         \
    /* Some lanes at addresses known to be good, where nobody else is near. */                                \
    static INLINE const struct ptxi_insn *name##_few(const struct ptxi_insn *i, struct ptxi_warp *w, const bool shared) \
    {                                                                                                         \
        const uintptr_t base = BASE(shared);                                                                  \
        const void *a = PTXI_SLOT(w, i->a);                                                                   \
        OPERANDS(T);                                                                                          \
                                                                                                              \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                                           \
            unsigned l = ptxi_first_lane(left);                                                               \
            T *p = (T *)(base + (shared ? ((const uint32_t *)a)[l] : ((const uint64_t *)a)[l]));              \
            STEP(size, T, p, l, NEW);                                                                         \
                                                                                                              \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }                                                                                                         \
    /* All lanes at one address, which changes once. */                                                       \
    static INLINE const struct ptxi_insn *name##_at(const struct ptxi_insn *i, struct ptxi_warp *w, T *p, const bool shared) \
    {                                                                                                         \
        bool alone = shared || is_alone(w, i);                                                                \
        LANE_ARRAY(T, was);                                                                                   \
        T first, old;                                                                                         \
        OPERANDS(T);                                                                                          \
                                                                                                              \
        ALL_TOGETHER(size, T, SUMS)                                                                           \
        first = load_##size(p);                                                                               \
        do {                                                                                                  \
            old = first;                                                                                      \
            if (SUMS == SWAPS)                                                                                \
                old = SWAP_LANES(T, was, b, c, old, w->active);                                               \
            else                                                                                              \
                EACH_LANE(w->active, {                                                                        \
                    T x = b[l], y = c[l];                                                                     \
                                                                                                              \
                    (void)x, (void)y;                                                                         \
                    was[l] = old;                                                                             \
                    old = (NEW);                                                                              \
                });                                                                                           \
        } while (!alone && !exchange_##size(p, &first, old));                                                 \
        if (alone)                                                                                            \
            store_##size(p, old);                                                                             \
        if (d)                                                                                                \
            ptxi_merge(d, was, w->active, sizeof(T));                                                         \
        NEXT;                                                                                                 \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_together_shared(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                         \
        return name##_at(i, w, (T *)(w->shared_origin + (uint32_t)(((const uint32_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(w->active)] + (uint32_t)i->imm)), true); \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_together_global(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                         \
        return name##_at(i, w, (T *)(BASE(false) + ((const uint64_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(w->active)]), false); \
    }                                                                                                         \
    RACY static INLINE const struct ptxi_insn *name##_row(const struct ptxi_insn *i, struct ptxi_warp *w, uintptr_t at, const bool shared) \
    {                                                                                                         \
        struct { T v; } __attribute__((may_alias)) *p = (void *)at;                                           \
        OPERANDS(T);                                                                                          \
                                                                                                              \
        (void)shared;                                                                                         \
        d = d ? d : UNWANTED;                                                                                 \
        FOR_LANES {                                                                                           \
            T old = p[l].v, x = b[l], y = c[l];                                                               \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            p[l].v = (NEW);                                                                                   \
            d[l] = old;                                                                                       \
        }                                                                                                     \
        NEXT;                                                                                                 \
    }                                                                                                         \
    EACH( size, name##_each_shared, T, (NEW), true, uint32_t )                                                \
    EACH( size, name##_each_global, T, (NEW), false, uint64_t )                                               \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                         \
        bool shared = (i->mods & ATOM_SPACE) == ATOM_SHARED, inside;                                          \
        struct span s;                                                                                        \
                                                                                                              \
        inside = shared ? some_shared(w, i, sizeof(T), &s) : some_global(w, i, sizeof(T), &s);                \
        if (inside && s.lo == s.hi)                                                                           \
            return shared ? name##_together_shared(i, w) : name##_together_global(i, w);                      \
        if (inside && shared)                                                                                 \
            return name##_few(i, w, true);                                                                    \
        if (inside && is_alone(w, i))                                                                         \
            return name##_few(i, w, false);                                                                   \
        return name##_anywhere(i, w, inside);                                                                 \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_scattered_global(const struct ptxi_insn *i, struct ptxi_warp *w, const uint64_t *a) \
    {                                                                                                         \
        return is_alone(w, i) && all_global(w, i, a, sizeof(T)) ? name##_each_global(i, w, a) : name##_some(i, w); \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_global(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                         \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                               \
                                                                                                              \
        if (a[0] == a[1] && global_word(w, i, sizeof(T)))                                                     \
            return name##_together_global(i, w);                                                              \
        if (__builtin_expect(a[1] == a[0] + sizeof(T) && is_alone(w, i) && global_row(w, i, sizeof(T)), 1))   \
            return name##_row(i, w, BASE(false) + a[0], false);                                               \
        return name##_scattered_global(i, w, a);                                                              \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_scattered_shared(const struct ptxi_insn *i, struct ptxi_warp *w, const uint32_t *a) \
    {                                                                                                         \
        return all_shared(w, i, a, sizeof(T)) ? name##_each_shared(i, w, a) : name##_some(i, w);              \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_row_shared(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                         \
        return shared_row(w, i, sizeof(T)) ? name##_row(i, w, w->shared_origin + (uint32_t)(*(const uint32_t *)PTXI_SLOT(w, i->a) + (uint32_t)i->imm), true) \
                                           : name##_scattered_shared(i, w, PTXI_SLOT(w, i->a));              \
    }                                                                                                         \
    OP( atom_##name )                                                                                         \
    {                                                                                                         \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                               \
                                                                                                              \
        if ((i->mods & ATOM_SPACE) != ATOM_SHARED)                                                            \
            return name##_global(i, w);                                                                       \
        if (a[0] == a[1] && shared_word(w, i, sizeof(T)))                                                     \
            return name##_together_shared(i, w);                                                              \
        return a[1] == a[0] + sizeof(T) ? name##_row_shared(i, w) : name##_scattered_shared(i, w, a);         \
    }
#define ATOM(name, T, NEW) ATOM_OF(ATOM_EACH, NO_SUMS, any, name, T, NEW)
#define ATOM_SUM(name, T, NEW) ATOM_OF(ATOM_EACH, INTEGERS, any, name, T, NEW)
#define ATOM_DEAR(name, T, NEW) ATOM_OF(ATOM_EACH_DEAR, NO_SUMS, any, name, T, NEW)
#define ATOM_FLOAT(name, T, NEW) ATOM_OF(ATOM_EACH_FLOAT, FLOATS, any, name, T, NEW)

#include "exec/memory/atom.def"
ATOM( exch_b32, uint32_t, x )
ATOM( exch_b64, uint64_t, x )
ATOM_OF( ATOM_EACH_TURN, SWAPS, any, cas_b16, uint16_t, old == x ? y : old )
ATOM_OF( ATOM_EACH, SWAPS, any, cas_b32, uint32_t, old == x ? y : old )
ATOM_OF( ATOM_EACH, SWAPS, any, cas_b64, uint64_t, old == x ? y : old )
ATOM_OF( ATOM_EACH_TURN, NO_SUMS, 128, exch_b128, u128, x )
ATOM_OF( ATOM_EACH_TURN, NO_SUMS, 128, cas_b128, u128, old == x ? y : old )
