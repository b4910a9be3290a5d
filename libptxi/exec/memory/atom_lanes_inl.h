/* An operation of all lanes at words that are known to be accessible, while no other thread can access them. Included
 * by atom_inl.h for each operation and for shared and global memory. Parameters, besides those of atom_inl.h:
 *
 *   SHARED    true or false
 *   ADDRESS   type of an address in a register
 *   LANES     macro that makes the name of a function */

#if KIND == ATOM_COSTLY

/* As many lanes are done at once as find the word that was there before any of them. The others follow one by one. */
RACY static INLINE const struct ptxi_insn *LANES(each)(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    const uintptr_t base = base_of(w, i, SHARED);
    LANE_ARRAY(T, was);
    LANE_ARRAY(T, now);
    ptxi_lanes left;
    unsigned done;

    load_words(was, base, a, sizeof(T), sizeof(ADDRESS));
    FOR_LANES now[l] = NAMED(new_value)(was[l], b[l], c[l], SHARED);
    UNROLLED for (done = 0; done < PTXI_LANES; done++) {
        T *p = (T *)(base + a[done]);

        if (LOAD_WORD(p) != was[done])
            break;
        STORE_WORD(p, now[done]);
    }
    left = done == PTXI_LANES ? 0 : PTXI_ALL_LANES << done;
    if (d)
        ptxi_masked_write(d, was, ~left, sizeof(T));
    if (left == PTXI_ALL_LANES)
        UNROLLED for (unsigned l = 0; l < PTXI_LANES; l++) {
            T old = NAMED(update)((T *)(base + a[l]), b[l], c[l], SHARED);

            if (d)
                d[l] = old;
        }
    else
        for (; left; left &= left - 1) {
            unsigned l = ptxi_first_lane(left);
            T old = NAMED(update)((T *)(base + a[l]), b[l], c[l], SHARED);

            if (d)
                d[l] = old;
        }
    NEXT;
}

#else

/* One lane's operation. Returns the old value. */
static INLINE T LANES(take_turn)(uintptr_t base, uintptr_t at, T x, T y)
{
    T old = LOAD_WORD((T *)(base + at));

    OPAQUE(at);
    STORE_WORD((T *)(base + at), NAMED(new_value)(old, x, y, SHARED));
    return old;
}

/* One lane's operation without its old value. The host may have one instruction for it. */
RACY static INLINE void LANES(reduce_one)(uintptr_t base, uintptr_t at, T x, T y)
{
    struct { T v; } __attribute__((may_alias)) *p = (void *)(base + at);

    p->v = NAMED(new_value)(p->v, x, y, SHARED);
}

/* All lanes, one after the other, without old values. */
RACY static INLINE const struct ptxi_insn *LANES(reduce)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                         const ADDRESS *a)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    const uintptr_t base = base_of(w, i, SHARED);

    UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 2) {
        const struct address_pair pair = load_address_pair(a, l, sizeof(ADDRESS));
        const uint64_t both = sizeof(T) == 4 ? *(const aliasing_64 *)(b + l) : 0;

        LANES(reduce_one)(base, pair.at[0], sizeof(T) == 4 ? (T)both : b[l], c[l]);
        LANES(reduce_one)(base, pair.at[1], sizeof(T) == 4 ? (T)(both >> 32) : b[l + 1], c[l + 1]);
    }
    NEXT;
}

/* Lanes l to l + 3, one after the other. Their old values are written with as few stores as possible: hosts have one
 * store per cycle for alternating cache lines. */
static INLINE void LANES(take_four_turns)(T *d, const T *b, const T *c, uintptr_t base, const ADDRESS *a, unsigned l)
{
    struct address_pair pair = load_address_pair(a, l, sizeof(ADDRESS));
    T was[4];

    was[0] = LANES(take_turn)(base, pair.at[0], b[l], c[l]);
    was[1] = LANES(take_turn)(base, pair.at[1], b[l + 1], c[l + 1]);
    if (sizeof(T) == 4) {
        uint64_t low = (uint32_t)was[0] | (uint64_t)was[1] << 32, high;

        OPAQUE(low); /* else the compiler builds a vector of it, element by element */
        pair = load_address_pair(a, l + 2, sizeof(ADDRESS));
        was[2] = LANES(take_turn)(base, pair.at[0], b[l + 2], c[l + 2]);
        was[3] = LANES(take_turn)(base, pair.at[1], b[l + 3], c[l + 3]);
        high = (uint32_t)was[2] | (uint64_t)was[3] << 32;
        OPAQUE(high);
        ((aliasing_64 *)(d + l))[0] = low;
        ((aliasing_64 *)(d + l))[1] = high;
    } else {
        pair = load_address_pair(a, l + 2, sizeof(ADDRESS));
        was[2] = LANES(take_turn)(base, pair.at[0], b[l + 2], c[l + 2]);
        was[3] = LANES(take_turn)(base, pair.at[1], b[l + 3], c[l + 3]);
        memcpy(d + l, was, sizeof was);
    }
}

/* All lanes, one after the other. d may be the slot of a source: four lanes read their operands before d changes. */
NOINLINE const struct ptxi_insn *LANES(in_turn)(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    const uintptr_t base = base_of(w, i, SHARED);

    if (!d)
        return LANES(reduce)(i, w, a);
    UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 4)
        LANES(take_four_turns)(d, b, c, base, a, l);
    NEXT;
}

#if KIND == ATOM_FLOAT_SUM && defined(__AVX2__)
/* Lanes from l on, one after the other. */
RACY NOINLINE const struct ptxi_insn *LANES(rest_in_turn)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                          const ADDRESS *a, unsigned l)
{
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    const uintptr_t base = base_of(w, i, SHARED);

    for (; l < PTXI_LANES; l++) {
        T old = NAMED(update)((T *)(base + a[l]), b[l], c[l], SHARED);

        if (d)
            d[l] = old;
    }
    NEXT;
}
#endif

#if KIND == ATOM_PLAIN || KIND == ATOM_INTEGER_SUM || KIND == ATOM_SWAP || KIND == ATOM_FLOAT_SUM
/* Four lanes at once, then the next four. The four words must be distinct. Each word has a load and a store of its
 * own, because gather and scatter instructions are slow on some hosts. */
RACY static INLINE const struct ptxi_insn *LANES(in_fours)(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                           const ADDRESS *a,
                                                           bool needs_old)
{
    typedef T four __attribute__((vector_size(4 * sizeof(T)), may_alias));
    typedef struct { T v; } __attribute__((may_alias)) *word;
    const T *b = source_b(w, i), *c = source_c(w, i);
    T *d = destination(w, i);
    const uintptr_t base = base_of(w, i, SHARED);

    (void)c;
    UNROLLED for (unsigned l = 0; l < PTXI_LANES; l += 4) {
        uintptr_t p = a[l], q = a[l + 1], r = a[l + 2], s = a[l + 3];
        four old, new;

        OPAQUE_4(p, q, r, s);
        old = (four){ ((word)(base + p))->v, ((word)(base + q))->v, ((word)(base + r))->v, ((word)(base + s))->v };
#if KIND == ATOM_FLOAT_SUM && defined(__AVX2__)
        const bool good = sizeof(T) == 4 ? add_four_floats(&new, &old, b + l, !SHARED)
                                         : add_four_doubles(&new, &old, b + l);

        if (__builtin_expect(!good, 0))
            return LANES(rest_in_turn)(i, w, a, l);
#else
        T was[4], now[4];

        memcpy(was, &old, sizeof was);
        VECTOR_OF_FOUR for (int k = 0; k < 4; k++)
            now[k] = NAMED(new_value)(was[k], b[l + k], c[l + k], SHARED);
        memcpy(&new, now, sizeof new);
#endif
        if (needs_old)
            *(four *)(d + l) = old;
        OPAQUE_4(p, q, r, s);
        ((word)(base + p))->v = new[0], ((word)(base + q))->v = new[1];
        ((word)(base + r))->v = new[2], ((word)(base + s))->v = new[3];
    }
    NEXT;
}
#endif

/* Lanes with distinct words are done in fours if their old values are needed, because this takes few stores. Sums of
 * floats are always done in fours if possible. */
static INLINE const struct ptxi_insn *LANES(each)(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
#if KIND == ATOM_FLOAT_SUM
    if (!ptxi_are_distinct_in_fours(a, sizeof(T), sizeof(ADDRESS)))
        return LANES(in_turn)(i, w, a);
    return i->d == PTXI_NO_SLOT ? LANES(in_fours)(i, w, a, false) : LANES(in_fours)(i, w, a, true);
#elif KIND == ATOM_SWAP_16 || KIND == ATOM_128
    return LANES(in_turn)(i, w, a);
#else
    if (i->d == PTXI_NO_SLOT)
        return LANES(reduce)(i, w, a);
    if (ptxi_are_distinct_in_fours(a, sizeof(T), sizeof(ADDRESS)))
        return LANES(in_fours)(i, w, a, true);
    return LANES(in_turn)(i, w, a);
#endif
}

#endif

#undef SHARED
#undef ADDRESS
#undef LANES
