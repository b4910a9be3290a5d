/* The handler of one operation of atom and red. Parameter: ATOM, see exec/memory/atom.def. The expression of the new
 * value may also use the second operand, y.
 *
 * A function that ends in another one passes its arguments on, so that the fast paths save no registers. */
#include "exec/memory/atom_op_inl.h"

#if KIND == ATOM_128
#define LOAD_WORD load_128
#define STORE_WORD store_128
#define EXCHANGE_WORD exchange_128
#else
#define LOAD_WORD load_any
#define STORE_WORD store_any
#define EXCHANGE_WORD exchange_any
#endif

/* One operation at p while no other thread can access it. Returns the old value. */
static INLINE T NAMED(update)(T *p, T x, T y, bool shared)
{
    T old = LOAD_WORD(p);

    STORE_WORD(p, NAMED(new_value)(old, x, y, shared));
    return old;
}

/* One operation at p with an atomic operation of the host. Returns the old value. */
static INLINE T NAMED(update_atomically)(T *p, T x, T y)
{
    T old = LOAD_WORD(p), new;

    do
        new = NAMED(new_value)(old, x, y, false);
    while (!EXCHANGE_WORD(p, &old, new));
    return old;
}

/* Any active lanes, any addresses. `inside` is true if all words are in one allocation. */
NOINLINE const struct ptxi_insn *NAMED(any)(const struct ptxi_insn *i, struct ptxi_warp *w, bool inside)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    bool exclusive = is_exclusive(w, i);

    if (inside)
        prefetch_lines(PTXI_SLOT(w, i->a), (uint64_t)(int64_t)i->imm, w->active);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        bool shared = false;
        T old, *p;

        if (inside)
            p = (T *)(uintptr_t)(((const uint64_t *)PTXI_SLOT(w, i->a))[l] + (uint64_t)(int64_t)i->imm);
        else
            p = (T *)(void *)find_word(w, i, l, sizeof(T), &shared);
        if (!p)
            return w->stop;
        if (shared || exclusive)
            old = NAMED(update)(p, b[l], c[l], shared);
        else
            old = NAMED(update_atomically)(p, b[l], c[l]);
        if (d)
            d[l] = old;
    }
    NEXT;
}

/* Some lanes at words that are known to be accessible, while no other thread can access them. */
static INLINE const struct ptxi_insn *NAMED(few)(const struct ptxi_insn *i, struct ptxi_warp *w, const bool shared)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    const uintptr_t base = base_of(w, i, shared);
    const void *a = PTXI_SLOT(w, i->a);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        T *p = (T *)(base + (shared ? ((const uint32_t *)a)[l] : ((const uint64_t *)a)[l]));
        T old = NAMED(update)(p, b[l], c[l], shared);

        if (d)
            d[l] = old;
    }
    NEXT;
}

#if KIND == ATOM_INTEGER_SUM
/* Adds the operands of all lanes to one word. */
static INLINE const struct ptxi_insn *NAMED(add_all)(const struct ptxi_insn *i, struct ptxi_warp *w, T *p,
                                                     const bool exclusive)
{
    const T *b = source_b(w, i);
    T *d = destination(w, i), total = 0, was = LOAD_WORD(p);

    if (d)
        total = sizeof(T) == 4 ? (T)exclusive_scan_32((void *)d, (const void *)b)
                               : (T)exclusive_scan_64((void *)d, (const void *)b);
    else
        FOR_LANES total += b[l];
    if (exclusive)
        STORE_WORD(p, was + total);
    else
        while (!EXCHANGE_WORD(p, &was, was + total))
            ;
    if (d)
        FOR_LANES d[l] += was;
    NEXT;
}
#endif

#if KIND == ATOM_FLOAT_SUM
/* Adds the operands of all lanes to one word, in order. Returns false, without any effect, if the host's sums may
 * differ from a GPU's. */
static INLINE bool NAMED(add_all)(const struct ptxi_insn *i, struct ptxi_warp *w, T *p, const bool shared,
                                  const bool exclusive)
{
    const T *b = source_b(w, i);
    T *d = destination(w, i), was = LOAD_WORD(p);
    LANE_ARRAY(T, after);
    bool good;

    do
        good = sizeof(T) == 4 ? scan_floats(after, &was, b, !shared) : scan_doubles(after, &was, b, false);
    while (good && !exclusive && !EXCHANGE_WORD(p, &was, after[PTXI_LANES - 1]));
    if (!good)
        return false;
    if (exclusive)
        STORE_WORD(p, after[PTXI_LANES - 1]);
    if (d) {
        d[0] = was;
        memcpy(d + 1, after, (PTXI_LANES - 1) * sizeof(T));
    }
    return true;
}
#endif

/* The operations of the active lanes, one after the other, at a word with value `old`. Returns its new value. was[l]
 * is the value that lane l finds. */
static INLINE T NAMED(fold)(T *was, const T *b, const T *c, T old, ptxi_lanes on, const bool shared)
{
#if KIND == ATOM_SWAP || KIND == ATOM_SWAP_16
    (void)shared;
    old = SWAP_LANES(T, was, b, c, old, on);
#else
    if (on == PTXI_ALL_LANES)
        UNROLLED for (unsigned l = 0; l < PTXI_LANES; l++) {
            T x = b[l], y = c[l];

            was[l] = old;
            old = NAMED(new_value)(old, x, y, shared);
        }
    else
        for (; on; on &= on - 1) {
            unsigned l = ptxi_first_lane(on);
            T x = b[l], y = c[l];

            was[l] = old;
            old = NAMED(new_value)(old, x, y, shared);
        }
#endif
    return old;
}

/* All active lanes at one word, which changes once. */
static INLINE const struct ptxi_insn *NAMED(one_word)(const struct ptxi_insn *i, struct ptxi_warp *w, T *p,
                                                      const bool shared)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    bool exclusive = shared || is_exclusive(w, i);
    LANE_ARRAY(T, was);
    T first, old;

#if KIND == ATOM_INTEGER_SUM
    if (w->active == PTXI_ALL_LANES)
        return NAMED(add_all)(i, w, p, exclusive);
#elif KIND == ATOM_FLOAT_SUM
    if (w->active == PTXI_ALL_LANES && NAMED(add_all)(i, w, p, shared, exclusive))
        NEXT;
#endif
    first = LOAD_WORD(p);
    do
        old = NAMED(fold)(was, b, c, first, w->active, shared);
    while (!exclusive && !EXCHANGE_WORD(p, &first, old));
    if (exclusive)
        STORE_WORD(p, old);
    if (d)
        ptxi_masked_write(d, was, w->active, sizeof(T));
    NEXT;
}

NOINLINE const struct ptxi_insn *NAMED(one_word_shared)(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);

    const uint32_t at = a[ptxi_first_lane(w->active)] + (uint32_t)i->imm;

    return NAMED(one_word)(i, w, (T *)(w->shared_origin + at), true);
}

NOINLINE const struct ptxi_insn *NAMED(one_word_global)(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);

    return NAMED(one_word)(i, w, (T *)(base_of(w, i, false) + a[ptxi_first_lane(w->active)]), false);
}

/* All lanes at contiguous words, while no other thread can access them. */
RACY static INLINE const struct ptxi_insn *NAMED(contiguous)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                             uintptr_t at, const bool shared)
{
    struct { T v; } __attribute__((may_alias)) *p = (void *)at;
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);

    d = d ? d : (void *)w->worker->unwanted;
    FOR_LANES {
        T old = p[l].v;

        p[l].v = NAMED(new_value)(old, b[l], c[l], shared);
        d[l] = old;
    }
    NEXT;
}

#define LANES(function) ATOM_PASTE(NAMED(function), shared)
#define SHARED true
#define ADDRESS uint32_t
#include "exec/memory/atom_lanes_inl.h"

#define LANES(function) ATOM_PASTE(NAMED(function), global)
#define SHARED false
#define ADDRESS uint64_t
#include "exec/memory/atom_lanes_inl.h"

/* Any active lanes: finds the fastest path. */
NOINLINE const struct ptxi_insn *NAMED(some)(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    bool shared = (i->mods & ATOM_SPACE) == ATOM_SHARED, inside;
    struct ptxi_address_range r;

    inside = shared ? active_are_in_shared(w, i, sizeof(T), &r) : active_are_in_allocation(w, i, sizeof(T), &r);
    if (inside && r.lo == r.hi)
        return shared ? NAMED(one_word_shared)(i, w) : NAMED(one_word_global)(i, w);
    if (inside && shared)
        return NAMED(few)(i, w, true);
    if (inside && is_exclusive(w, i))
        return NAMED(few)(i, w, false);
    return NAMED(any)(i, w, inside);
}

NOINLINE const struct ptxi_insn *NAMED(scattered_global)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                         const uint64_t *a)
{
    if (is_exclusive(w, i) && all_are_in_allocation(w, i, a, sizeof(T)))
        return NAMED(each_global)(i, w, a);
    return NAMED(some)(i, w);
}

NOINLINE const struct ptxi_insn *NAMED(global)(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);

    if (a[0] == a[1] && one_word_in_allocation(w, i, sizeof(T)))
        return NAMED(one_word_global)(i, w);
    if (__builtin_expect(a[1] == a[0] + sizeof(T) && is_exclusive(w, i) &&
                         contiguous_in_allocation(w, i, sizeof(T)), 1))
        return NAMED(contiguous)(i, w, base_of(w, i, false) + a[0], false);
    return NAMED(scattered_global)(i, w, a);
}

NOINLINE const struct ptxi_insn *NAMED(scattered_shared)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                         const uint32_t *a)
{
    return all_are_in_shared(w, i, a, sizeof(T)) ? NAMED(each_shared)(i, w, a) : NAMED(some)(i, w);
}

NOINLINE const struct ptxi_insn *NAMED(contiguous_shared)(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);

    if (contiguous_in_shared(w, i, sizeof(T)))
        return NAMED(contiguous)(i, w, w->shared_origin + (uint32_t)(a[0] + (uint32_t)i->imm), true);
    return NAMED(scattered_shared)(i, w, a);
}

OP_NAMED(ATOM_PASTE(atom, NAME))
{
    const uint32_t *a = PTXI_SLOT(w, i->a);

    if ((i->mods & ATOM_SPACE) != ATOM_SHARED)
        return NAMED(global)(i, w);
    if (a[0] == a[1] && one_word_in_shared(w, i, sizeof(T)))
        return NAMED(one_word_shared)(i, w);
    return a[1] == a[0] + sizeof(T) ? NAMED(contiguous_shared)(i, w) : NAMED(scattered_shared)(i, w, a);
}

#undef ATOM
#undef NAME
#undef KIND
#undef T
#undef NAMED
#undef LOAD_WORD
#undef STORE_WORD
#undef EXCHANGE_WORD
