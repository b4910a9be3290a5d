/* PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "red".
 *
 * mods: the space (0 global, 1 shared, 2 generic); 4 for a scope wider than .cta; from bit 3 on, how often the alignment that the
 * address must have is twice that of the operand: that of a vector, whose first element this is. A CTA lives on one worker, so its
 * shared memory needs no atomic operations of the host. */
#include "exec/atomop.h"
#include "exec/level.h"
#include "exec/memory.h"
#include "exec/scattered.h"
#include "exec/span.h"

/* No calls on the short ways, which so need no stack. */
#define INLINE inline __attribute__((always_inline))

enum { ATOM_SPACE = 3, ATOM_SHARED = 1, ATOM_WIDE_SCOPE = 4, ATOM_ALIGN_SHIFT = 3 };

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

/* Whether nobody else can come between a load and a store. .cta is promised to one CTA only, but the GPU's global memory keeps it for all, and
 * programs rely on that. */
static inline bool is_alone(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return !(i->mods & ATOM_WIDE_SCOPE) && w->cta->grid->one_worker;
}

/* Whether the operations of the active lanes lead into the CTA's shared memory, as the instruction says, and are aligned. */
static __attribute__((noinline)) bool some_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size, struct span *s)
{
    *s = span32(PTXI_SLOT(w, i->a), w->active);
    return !((s->bits | (uint32_t)i->imm) & (size - 1)) && shared_covers(w, i, s->lo, s->hi, size);
}

/* Whether all lanes, known to lead into the allocation that the instruction hit last, have a place in it that 31 bits hold. */
static inline bool are_near(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_mem_hit *hit = ptxi_mem_hit(w, i);

    return w->active == PTXI_ALL_LANES && hit->write_hi - hit->lo <= INT32_MAX;
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
static INLINE bool all_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    return w->active == PTXI_ALL_LANES && all_below32(PTXI_SLOT(w, i->a), (uint32_t)i->imm - (uint32_t)w->shared_at, (uint32_t)w->shared_size, size);
}

static INLINE bool all_global(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    return w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && all_within64(w, i, PTXI_SLOT(w, i->a), size);
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

/* The same for all lanes at one place. */
static INLINE bool shared_word(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t at = a[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;

    return a[1] == a[0] && w->active == PTXI_ALL_LANES && !(at & (size - 1)) && at + (uint64_t)size <= w->shared_size && in_row32(a, 0);
}

static INLINE bool global_word(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t at = a[0] + (uint64_t)(int64_t)i->imm;

    return a[1] == a[0] && w->active == PTXI_ALL_LANES && !(i->mods >> ATOM_ALIGN_SHIFT) && !(at & (size - 1)) &&
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
        gather_all(was, base, a, element, address);
}

/* Where old values go that nobody wants. */
#define UNWANTED ((void *)w->worker->unwanted)

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

/* Base and number stay apart in the addresses of what is loaded and of what is stored, which is one addition less a lane. */
#define AT(T, offset) ((T *)(base + (offset)))
#define AGAIN(offset) __asm__("" : "+r"(offset))

/* What was there goes into registers four lanes at a time, in as few stores as can be: hosts have one store a cycle for lines that alternate. */
enum { ATOM_LANES = 4 };

static INLINE void put_four(void *d, const void *was, size_t element)
{
    typedef uint64_t two __attribute__((may_alias));
    const uint32_t *word = was;

    if (element == 4)
        for (int k = 0; k < ATOM_LANES / 2; k++) {
            ((two *)d)[k] = (uint64_t)word[2 * k + 1] << 32 | word[2 * k];
            __asm__ volatile("" : : : "memory"); /* lest it become a vector, element by element */
        }
    else
        memcpy(d, was, ATOM_LANES * element);
}

/* Where all addresses, `base` and a number of type A each, are known to be good and nobody else is near. d may be the slot of a source, or a. */
#define ATOM_EACH(size, name, T, NEW, SHARED, A)                                                              \
    static __attribute__((noinline)) const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c, \
                                                                  const uintptr_t base, const A *a)           \
    {                                                                                                         \
        const bool shared = SHARED;                                                                           \
                                                                                                              \
        (void)shared;                                                                                         \
        if (w->active == PTXI_ALL_LANES && !d)                                                                \
            UNROLLED for (unsigned l = 0; l < PTXI_LANES; l++) {                                              \
                uintptr_t at = a[l];                                                                          \
                T x = b[l], y = c[l], old = load_##size(AT(T, at));                                           \
                                                                                                              \
                (void)x, (void)y, (void)old;                                                                  \
                AGAIN(at);                                                                                    \
                store_##size(AT(T, at), NEW);                                                                 \
            }                                                                                                 \
        else if (w->active == PTXI_ALL_LANES)                                                                 \
            for (unsigned l = 0; l < PTXI_LANES; l += ATOM_LANES) {                                           \
                T was[ATOM_LANES];                                                                            \
                                                                                                              \
                UNROLLED for (unsigned k = 0; k < ATOM_LANES; k++) {                                          \
                    uintptr_t at = a[l + k];                                                                  \
                    T x = b[l + k], y = c[l + k], old = load_##size(AT(T, at));                               \
                                                                                                              \
                    (void)x, (void)y;                                                                         \
                    AGAIN(at);                                                                                \
                    store_##size(AT(T, at), NEW);                                                             \
                    was[k] = old;                                                                             \
                }                                                                                             \
                put_four(d + l, was, sizeof(T));                                                              \
            }                                                                                                 \
        else                                                                                                  \
            EACH_LANE(w->active, {                                                                            \
                T *p = AT(T, a[l]), x = b[l], y = c[l], old = load_##size(p);                                 \
                                                                                                              \
                (void)x, (void)y, (void)old;                                                                  \
                store_##size(p, NEW);                                                                         \
                if (d)                                                                                        \
                    d[l] = old;                                                                               \
            });                                                                                               \
        NEXT;                                                                                                 \
    }

/* The same, where NEW is dear, for all lanes at once if no two of them meet. If some do, for as many as find what was there before any; the lanes that
 * are left over have their turns. */
#define ATOM_EACH_DEAR(size, name, T, NEW, SHARED, A)                                                         \
    RACY static __attribute__((noinline)) const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c, \
                                                                       const uintptr_t base, const A *a)      \
    {                                                                                                         \
        const bool shared = SHARED;                                                                           \
        ptxi_lanes left = w->active;                                                                          \
                                                                                                              \
        (void)shared;                                                                                         \
        if (left == PTXI_ALL_LANES) {                                                                         \
            const bool apart = sizeof(T) >= 4 && all_apart(a, sizeof(T), sizeof(A));                          \
            LANE_ARRAY(T, was);                                                                               \
            LANE_ARRAY(T, now);                                                                               \
            unsigned done;                                                                                    \
                                                                                                              \
            read_lanes(was, base, a, sizeof(T), sizeof(A));                                                   \
            FOR_LANES {                                                                                       \
                T old = was[l], x = b[l], y = c[l];                                                           \
                                                                                                              \
                (void)x, (void)y;                                                                             \
                now[l] = (NEW);                                                                               \
            }                                                                                                 \
            if (apart) {                                                                                      \
                scatter_all(base, a, now, sizeof(T), sizeof(A));                                              \
                if (d)                                                                                        \
                    memcpy(d, was, sizeof was);                                                               \
                NEXT;                                                                                         \
            }                                                                                                 \
            UNROLLED for (done = 0; done < PTXI_LANES; done++) {                                              \
                T *p = (T *)(base + a[done]);                                                                 \
                                                                                                              \
                if (load_##size(p) != was[done])                                                              \
                    break;                                                                                    \
                store_##size(p, now[done]);                                                                   \
            }                                                                                                 \
            left = done == PTXI_LANES ? 0 : left << done;                                                     \
            if (d)                                                                                            \
                ptxi_merge(d, was, ~left, sizeof(T));                                                         \
        }                                                                                                     \
        EACH_LANE(left, {                                                                                     \
            T *p = (T *)(base + a[l]), x = b[l], y = c[l], old = load_##size(p);                              \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            store_##size(p, NEW);                                                                             \
            if (d)                                                                                            \
                d[l] = old;                                                                                   \
        });                                                                                                   \
        NEXT;                                                                                                 \
    }

/* For all lanes at once if no two of them meet, else lane by lane. */
#define ATOM_EACH_APART(size, name, T, NEW, SHARED, A)                                                        \
    ATOM_EACH( size, name##_turns, T, NEW, SHARED, A )                                                        \
    RACY static __attribute__((noinline)) const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c, \
                                                                       const uintptr_t base, const A *a)      \
    {                                                                                                         \
        const bool shared = SHARED;                                                                           \
        LANE_ARRAY(T, was);                                                                                   \
        LANE_ARRAY(T, now);                                                                                   \
                                                                                                              \
        (void)shared;                                                                                         \
        if (w->active != PTXI_ALL_LANES || !all_apart(a, sizeof(T), sizeof(A)))                               \
            return name##_turns(i, w, d, b, c, base, a);                                                      \
        read_lanes(was, base, a, sizeof(T), sizeof(A));                                                       \
        FOR_LANES {                                                                                           \
            T old = was[l], x = b[l], y = c[l];                                                               \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            now[l] = (NEW);                                                                                   \
        }                                                                                                     \
        scatter_all(base, a, now, sizeof(T), sizeof(A));                                                      \
        if (d)                                                                                                \
            memcpy(d, was, sizeof was);                                                                       \
        NEXT;                                                                                                 \
    }

/* Sums of floats are dear where subnormals are flushed. */
#define ATOM_EACH_FLOAT_true ATOM_EACH_APART
#define ATOM_EACH_FLOAT_false ATOM_EACH_DEAR
#define ATOM_EACH_FLOAT(size, name, T, NEW, SHARED, A) ATOM_EACH_FLOAT_##SHARED(size, name, T, NEW, SHARED, A)

/* Those that look whether lanes meet are given 32-bit addresses where hosts are fast at that. */
enum { ATOM_EACH_STEPS = false, ATOM_EACH_APART_STEPS = PTXI_TELLS_APART, ATOM_EACH_FLOAT_STEPS = PTXI_TELLS_APART, ATOM_EACH_DEAR_STEPS = PTXI_TELLS_APART };

/* d[l] = x[0] + ... + x[l - 1]. Returns the sum of all. d may be x. */
#if defined(__AVX512F__)
#define ABOVE(n, s, steps) _mm512_alignr_epi##n(s, _mm512_setzero_si512(), 512 / n - (steps))
#define RUNNING_SUMS(n)                                                                                       \
    static inline uint##n##_t running_sums_##n(uint##n##_t *d, const uint##n##_t *x)                          \
    {                                                                                                         \
        __m512i sum = _mm512_setzero_si512();                                                                 \
                                                                                                              \
        for (int k = 0; k < PTXI_LANES; k += 512 / n) {                                                       \
            __m512i v = _mm512_load_si512(x + k), s = _mm512_add_epi##n(v, ABOVE(n, v, 1));                   \
                                                                                                              \
            s = _mm512_add_epi##n(s, ABOVE(n, s, 2));                                                         \
            s = _mm512_add_epi##n(s, ABOVE(n, s, 4));                                                         \
            if (n == 32)                                                                                      \
                s = _mm512_add_epi##n(s, ABOVE(n, s, 256 / n));                                               \
            s = _mm512_add_epi##n(s, sum);                                                                    \
            _mm512_store_si512(d + k, _mm512_sub_epi##n(s, v));                                               \
            sum = _mm512_permutexvar_epi##n(_mm512_set1_epi##n(512 / n - 1), s);                              \
        }                                                                                                     \
        return (uint##n##_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(sum));                                   \
    }
#else
#define RUNNING_SUMS(n)                                                                                       \
    static inline uint##n##_t running_sums_##n(uint##n##_t *d, const uint##n##_t *x)                          \
    {                                                                                                         \
        uint##n##_t sum = 0;                                                                                  \
                                                                                                              \
        UNROLLED for (int l = 0; l < PTXI_LANES; l++) {                                                       \
            uint##n##_t v = x[l];                                                                             \
                                                                                                              \
            d[l] = sum;                                                                                       \
            sum += v;                                                                                         \
        }                                                                                                     \
        return sum;                                                                                           \
    }
#endif
RUNNING_SUMS(32)
RUNNING_SUMS(64)
#undef RUNNING_SUMS
#undef ABOVE

/* Sums of all lanes at one address: SUMS tells whether this is one. */
#define ALL_TOGETHER(size, T, SUMS)                                                                           \
    if (SUMS && w->active == PTXI_ALL_LANES) {                                                                \
        T total = 0, was = load_##size(p);                                                                    \
                                                                                                              \
        if (d)                                                                                                \
            total = sizeof(T) == 4 ? (T)running_sums_32((void *)d, (const void *)b) : (T)running_sums_64((void *)d, (const void *)b); \
        else                                                                                                  \
            FOR_LANES total += b[l];                                                                          \
        if (shared || is_alone(w, i))                                                                         \
            store_##size(p, was + total);                                                                     \
        else                                                                                                  \
            while (!exchange_##size(p, &was, was + total))                                                    \
                ;                                                                                             \
        if (d)                                                                                                \
            FOR_LANES d[l] += was;                                                                            \
        NEXT;                                                                                                 \
    }

/* Every operation: NEW is the value that replaces `old`, from x = b and y = c. d, where no old values are wanted, is NULL. */
#define ATOM_OF(EACH, SUMS, size, name, T, NEW)                                                                     \
    static __attribute__((noinline)) const struct ptxi_insn *name##_anywhere(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, \
                                                                             const T *c, bool inside)         \
    {                                                                                                         \
        bool alone = is_alone(w, i);                                                                          \
                                                                                                              \
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
    /* All lanes at one address, which changes once. */                                                       \
    static __attribute__((noinline)) const struct ptxi_insn *name##_together(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, \
                                                                             const T *c, T *p, const bool shared) \
    {                                                                                                         \
        bool alone = shared || is_alone(w, i);                                                                \
        T first, old;                                                                                         \
                                                                                                              \
        ALL_TOGETHER(size, T, SUMS)                                                                           \
        first = old = load_##size(p);                                                                         \
        if (!alone || !d)                                                                                     \
            do {                                                                                              \
                old = first;                                                                                  \
                EACH_LANE(w->active, {                                                                        \
                    T x = b[l], y = c[l];                                                                     \
                                                                                                              \
                    (void)x, (void)y;                                                                         \
                    old = (NEW);                                                                              \
                });                                                                                           \
            } while (!alone && !exchange_##size(p, &first, old));                                             \
        if (d) {                                                                                              \
            old = first;                                                                                      \
            EACH_LANE(w->active, {                                                                            \
                T was = old, x = b[l], y = c[l];                                                              \
                                                                                                              \
                (void)x, (void)y;                                                                             \
                old = (NEW);                                                                                  \
                d[l] = was;                                                                                   \
            });                                                                                               \
        }                                                                                                     \
        if (alone)                                                                                            \
            store_##size(p, old);                                                                             \
        NEXT;                                                                                                 \
    }                                                                                                         \
    RACY static inline void name##_row(unsigned char *at, const T *b, const T *c, T *d, const bool shared)    \
    {                                                                                                         \
        struct { T v; } __attribute__((may_alias)) *p = (void *)at;                                           \
                                                                                                              \
        (void)shared;                                                                                         \
        FOR_LANES {                                                                                           \
            T old = p[l].v, x = b[l], y = c[l];                                                               \
                                                                                                              \
            (void)x, (void)y;                                                                                 \
            p[l].v = (NEW);                                                                                   \
            d[l] = old;                                                                                       \
        }                                                                                                     \
    }                                                                                                         \
    EACH( size, name##_each_shared, T, (NEW), true, uint32_t )                                                \
    EACH( size, name##_each_near, T, (NEW), false, uint32_t )                                                 \
    EACH( size, name##_each_global, T, (NEW), false, uint64_t )                                               \
    static inline const struct ptxi_insn *name##_in_shared(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c) \
    {                                                                                                         \
        return name##_each_shared(i, w, d, b, c, w->shared_origin + (uintptr_t)(intptr_t)i->imm, PTXI_SLOT(w, i->a)); \
    }                                                                                                         \
    static inline const struct ptxi_insn *name##_in_global(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c) \
    {                                                                                                         \
        const uint64_t *a = PTXI_SLOT(w, i->a), from = ptxi_mem_hit(w, i)->lo;                                \
        LANE_ARRAY(uint32_t, steps);                                                                          \
                                                                                                              \
        if (EACH##_STEPS && are_near(w, i)) {                                                                 \
            FOR_LANES steps[l] = (uint32_t)a[l] + (uint32_t)i->imm - (uint32_t)from;                          \
            return name##_each_near(i, w, d, b, c, (uintptr_t)from, steps);                                   \
        }                                                                                                     \
        return name##_each_global(i, w, d, b, c, (uintptr_t)(int64_t)i->imm, a);                              \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c) \
    {                                                                                                         \
        bool shared = (i->mods & ATOM_SPACE) == ATOM_SHARED, inside;                                          \
        struct span s;                                                                                        \
                                                                                                              \
        inside = shared ? some_shared(w, i, sizeof(T), &s) : some_global(w, i, sizeof(T), &s);                \
        if (inside && s.lo == s.hi)                                                                           \
            return name##_together(i, w, d, b, c, (T *)((shared ? w->shared_origin : 0) + (uintptr_t)s.lo + (uintptr_t)(intptr_t)i->imm), shared); \
        if (inside && shared)                                                                                 \
            return name##_in_shared(i, w, d, b, c);                                                          \
        if (inside && is_alone(w, i))                                                                         \
            return name##_in_global(i, w, d, b, c);                                                          \
        return name##_anywhere(i, w, d, b, c, inside);                                                        \
    }                                                                                                         \
    static __attribute__((noinline)) const struct ptxi_insn *name##_global(const struct ptxi_insn *i, struct ptxi_warp *w, T *d, const T *b, const T *c) \
    {                                                                                                         \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                               \
                                                                                                              \
        if (global_word(w, i, sizeof(T)))                                                                     \
            return name##_together(i, w, d, b, c, (T *)(uintptr_t)(a[0] + (uint64_t)(int64_t)i->imm), false); \
        if (!is_alone(w, i) || a[0] == a[1])                                                                  \
            return name##_some(i, w, d, b, c);                                                                \
        if (global_row(w, i, sizeof(T))) {                                                                    \
            name##_row((unsigned char *)(uintptr_t)(a[0] + (uint64_t)(int64_t)i->imm), b, c, d ? d : UNWANTED, false);\
            NEXT;                                                                                             \
        }                                                                                                     \
        return all_global(w, i, sizeof(T)) ? name##_in_global(i, w, d, b, c) : name##_some(i, w, d, b, c);  \
    }                                                                                                         \
    OP( atom_##name )                                                                                         \
    {                                                                                                         \
        const T *b = PTXI_SLOT(w, i->b), *c = i->c == PTXI_NO_SLOT ? b : PTXI_SLOT(w, i->c);                  \
        T *d = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);                                              \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                               \
                                                                                                              \
        if ((i->mods & ATOM_SPACE) != ATOM_SHARED)                                                            \
            return name##_global(i, w, d, b, c);                                                              \
        if (shared_row(w, i, sizeof(T))) {                                                                    \
            name##_row((unsigned char *)(w->shared_origin + (uint32_t)(a[0] + (uint32_t)i->imm)), b, c, d ? d : UNWANTED, true);\
            NEXT;                                                                                             \
        }                                                                                                     \
        if (shared_word(w, i, sizeof(T)))                                                                     \
            return name##_together(i, w, d, b, c, (T *)(w->shared_origin + (uint32_t)(a[0] + (uint32_t)i->imm)), true);\
        return a[0] != a[1] && all_shared(w, i, sizeof(T)) ? name##_in_shared(i, w, d, b, c) : name##_some(i, w, d, b, c);\
    }
#define ATOM(name, T, NEW) ATOM_OF(ATOM_EACH, false, any, name, T, NEW)
#define ATOM_SUM(name, T, NEW) ATOM_OF(ATOM_EACH, true, any, name, T, NEW)
#define ATOM_DEAR(name, T, NEW) ATOM_OF(ATOM_EACH_DEAR, false, any, name, T, NEW)
#define ATOM_FLOAT(name, T, NEW) ATOM_OF(ATOM_EACH_FLOAT, false, any, name, T, NEW)

#include "exec/atom.def"
ATOM( exch_b32, uint32_t, x )
ATOM( exch_b64, uint64_t, x )
ATOM( cas_b16, uint16_t, old == x ? y : old )
ATOM_OF( ATOM_EACH_APART, false, any, cas_b32, uint32_t, old == x ? y : old )
ATOM_OF( ATOM_EACH_APART, false, any, cas_b64, uint64_t, old == x ? y : old )
ATOM_OF( ATOM_EACH, false, 128, exch_b128, u128, x )
ATOM_OF( ATOM_EACH, false, 128, cas_b128, u128, old == x ? y : old )
