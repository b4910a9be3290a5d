/* The handler of a load of one form in one state space. Included by load_store_space_inl.h, which describes the space.
 * Parameter:
 *
 *   LOAD   (name, number of elements, type of an element in memory, type of an element in a register, path) */
#define COUNT FORM_FIELD(FORM_COUNT, LOAD)
#define MEMORY FORM_FIELD(FORM_MEMORY, LOAD)
#define REGISTER FORM_FIELD(FORM_REGISTER, LOAD)
#define PATH FORM_FIELD(FORM_PATH, LOAD)
#define HANDLER PASTE_3(ld, SPACE, FORM_FIELD(FORM_NAME, LOAD))
#define SLOTS PASTE_2(LOAD_SLOTS, COUNT)
#define BASE PASTE_2(base, SPACE)
#define COVERS PASTE_2(covers, SPACE)
#define ADDRESS_RANGE PASTE_2(ptxi_address_range, ADDRESS_BITS)
#define IS_CONTIGUOUS PASTE_2(ptxi_is_contiguous, ADDRESS_BITS)

/* Any active lanes, any addresses. */
#define LOAD_ANY PASTE_2(any, HANDLER)
NOINLINE const struct ptxi_insn *LOAD_ANY(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const bool is_word = sizeof(MEMORY) == 4 || sizeof(MEMORY) == 8;
    const bool is_whole = COUNT == 1 && is_word && sizeof(MEMORY) == sizeof(REGISTER);
    const uint32_t slots[COUNT] = SLOTS;
    struct ptxi_address_range r = ADDRESS_RANGE(a, w->active);
    bool inside = is_aligned(i, r.bits, SIZE) && COVERS(w, i, r, SIZE, PTXI_AK_LOAD);

    if (inside && r.lo == r.hi && SPACE_ID != PTXI_MS_LOCAL) {
        const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + r.lo);

        for (int e = 0; e < COUNT; e++)
            if (COUNT == 1 || slots[e] != PTXI_NO_SLOT) {
                REGISTER x = (REGISTER)LOAD_AS(MEMORY, p + e * sizeof(MEMORY)), *d = PTXI_SLOT(w, slots[e]);

                WRITE_LANES(d, x);
            }
        NEXT;
    }
    if (inside && is_whole && SPACE_ID != PTXI_MS_LOCAL) {
        ptxi_gather_lanes(PTXI_SLOT(w, i->d), BASE(w, i, 0), a, w->active, sizeof(MEMORY), sizeof *a);
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const unsigned char *p = inside ? (const unsigned char *)(BASE(w, i, l) + a[l])
                                        : ptxi_access_or_continue(w, i, l, SPACE_ID, a[l] + (ADDRESS)i->imm, SIZE,
                                                                  SIZE, PTXI_AK_LOAD);

        if (!p)
            return w->stop;
        for (int e = 0; e < COUNT; e++)
            if (COUNT == 1 || slots[e] != PTXI_NO_SLOT)
                ((REGISTER *)PTXI_SLOT(w, slots[e]))[l] = (REGISTER)LOAD_AS(MEMORY, p + e * sizeof(MEMORY));
    }
    NEXT;
}

#if PATH == PATH_ANY

RACY OP_NAMED(HANDLER)
{
    return LOAD_ANY(i, w, PTXI_SLOT(w, i->a));
}

#elif PATH == PATH_CONTIGUOUS

RACY OP_NAMED(HANDLER)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const uint32_t slots[COUNT] = SLOTS;
    const ADDRESS *a = PTXI_SLOT(w, i->a);
    struct ptxi_address_range r = { a[0], a[PTXI_LANES - 1], a[0] };
    const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + a[0]);

    if (w->active != PTXI_ALL_LANES || !IS_CONTIGUOUS(a, SIZE) || !is_aligned(i, r.bits, SIZE) || r.hi < r.lo ||
        !COVERS(w, i, r, SIZE, PTXI_AK_LOAD))
        return LOAD_ANY(i, w, a);
    for (int e = 0; e < COUNT; e++)
        if (COUNT == 1 || slots[e] != PTXI_NO_SLOT) {
            REGISTER *d = PTXI_SLOT(w, slots[e]);
            const unsigned char *from = p + e * sizeof(MEMORY);

            FOR_LANES
            d[l] = (REGISTER)LOAD_AS(MEMORY, from + l * SIZE);
        }
    NEXT;
}

#else /* PATH_GROUPS: one element that is as wide in memory as in the register */

#define GROUP_LANES PASTE_2(PTXI_COALESCE_LANES, ADDRESS_BITS)
#define COALESCE_GROUP PASTE_2(ptxi_coalesce_group, ADDRESS_BITS)
#define LOAD_GROUPS PASTE_2(groups, HANDLER)
NOINLINE const struct ptxi_insn *LOAD_GROUPS(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
    enum { SIZE = sizeof(MEMORY) };
    typedef REGISTER group __attribute__((vector_size(GROUP_LANES * sizeof(REGISTER)), may_alias));
    const ADDRESS *first = a;
    group loaded[PTXI_LANES / GROUP_LANES];

    if (w->active != PTXI_ALL_LANES)
        return LOAD_ANY(i, w, a);
    for (int k = 0; k < PTXI_LANES / GROUP_LANES; k++, a += GROUP_LANES) {
        enum ptxi_coalesce_shape shape = COALESCE_GROUP(a, SIZE);
        struct ptxi_address_range r = { a[0], a[GROUP_LANES - 1], a[0] };
        const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + a[0]);

        if (shape == PTXI_COALESCE_MIXED || !is_aligned(i, r.bits, SIZE) || r.hi < r.lo ||
            !COVERS(w, i, r, SIZE, PTXI_AK_LOAD))
            return LOAD_ANY(i, w, first);
        if (shape == PTXI_COALESCE_CONTIGUOUS)
            memcpy(&loaded[k], p, sizeof loaded[k]);
        else
            loaded[k] = LOAD_AS(MEMORY, p) - (group){ 0 };
    }
    memcpy(PTXI_SLOT(w, i->d), loaded, sizeof loaded);
    NEXT;
}

RACY OP_NAMED(HANDLER)
{
    enum { SIZE = sizeof(MEMORY) };
    const ADDRESS *a = PTXI_SLOT(w, i->a);
    struct ptxi_address_range r = { a[0], a[PTXI_LANES - 1], a[0] };

    if (w->active != PTXI_ALL_LANES || r.hi - r.lo != (PTXI_LANES - 1) * SIZE || r.hi < r.lo ||
        !IS_CONTIGUOUS(a, SIZE) || !is_aligned(i, r.bits, SIZE) || !COVERS(w, i, r, SIZE, PTXI_AK_LOAD))
        return LOAD_GROUPS(i, w, a);
    memcpy(PTXI_SLOT(w, i->d), (const void *)(BASE(w, i, 0) + a[0]), PTXI_LANES * SIZE);
    NEXT;
}
#undef GROUP_LANES
#undef COALESCE_GROUP

#endif

#ifdef HAS_ADDRESS_REGISTERS
#if PATH == PATH_GROUPS
#define LOAD_LANES(i, w, a) ((w)->active == PTXI_ALL_LANES ? LOAD_GROUPS(i, w, a) : LOAD_ANY(i, w, a))
#else
#define LOAD_LANES(i, w, a) LOAD_ANY(i, w, a)
#endif

/* With an address register, all lanes at one address. */
#define LOAD_ONE PASTE_2(one, HANDLER)
NOINLINE const struct ptxi_insn *LOAD_ONE(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const uint32_t slots[COUNT] = SLOTS;
    const struct ptxi_address *at = PTXI_SLOT(w, i->a);
    const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + at->row.first);
    LANE_ARRAY(uint64_t, row);

    if (!is_aligned(i, at->row.first, SIZE) ||
        !ptxi_access_is_cached(w, ptxi_access_hit(w, i), (uintptr_t)p, SIZE, false))
        return LOAD_LANES(i, w, ptxi_address_lanes(at, row));
    for (int e = 0; e < COUNT; e++)
        if (COUNT == 1 || slots[e] != PTXI_NO_SLOT) {
            REGISTER *d = PTXI_SLOT(w, slots[e]), x = (REGISTER)LOAD_AS(MEMORY, p + e * sizeof(MEMORY));

            FOR_LANES
            d[l] = x;
        }
    NEXT;
}

/* With an address register, for any lanes. */
#define LOAD_AT PASTE_2(at, HANDLER)
NOINLINE const struct ptxi_insn *LOAD_AT(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const struct ptxi_address *at = PTXI_SLOT(w, i->a);
    const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + at->row.first);
    LANE_ARRAY(uint64_t, row);

    (void)p;
    if (!(ptxi_row_lanes(&at->row) & w->active))
        return LOAD_LANES(i, w, at->lanes);
    if (!(ptxi_row_missing(&at->row) | ptxi_inactive(w) | (uint64_t)at->row.stride))
        return LOAD_ONE(i, w);
#if PATH == PATH_GROUPS
    if (SIZE >= 4 && ptxi_row_has(&at->row, w->active) && at->row.stride == SIZE &&
        is_aligned(i, at->row.first, SIZE) && may_access_some(w, i, (uintptr_t)p, SIZE, PTXI_AK_LOAD)) {
        if (SIZE == 4)
            ptxi_load_row_32(PTXI_SLOT(w, i->d), p, w->active);
        else
            ptxi_load_row_64(PTXI_SLOT(w, i->d), p, w->active);
        NEXT;
    }
#endif
    return LOAD_LANES(i, w, ptxi_address_lanes(at, row));
}

/* The usual case: all lanes, in a row of elements, in the allocation that the instruction hit last. */
RACY OP_NAMED(PASTE_2(HANDLER, at))
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const uint32_t slots[COUNT] = SLOTS;
    const struct ptxi_address *at = PTXI_SLOT(w, i->a);
    const unsigned char *p = (const unsigned char *)(BASE(w, i, 0) + at->row.first);
    const uint64_t off = ptxi_row_missing(&at->row) | ptxi_inactive(w) | (uint64_t)(at->row.stride ^ SIZE);

    if (PATH == PATH_ANY || off || !is_aligned(i, at->row.first, SIZE) ||
        !ptxi_access_is_cached(w, ptxi_access_hit(w, i), (uintptr_t)p, PTXI_LANES * SIZE, false))
        return LOAD_AT(i, w);
    ptxi_prefetch_rounds(ptxi_access_hit(w, i), (uintptr_t)p);
    for (int e = 0; e < COUNT; e++)
        if (COUNT == 1 || slots[e] != PTXI_NO_SLOT) {
            REGISTER *d = PTXI_SLOT(w, slots[e]);
            const unsigned char *from = p + e * sizeof(MEMORY);

            FOR_LANES
            d[l] = (REGISTER)LOAD_AS(MEMORY, from + l * SIZE);
        }
    NEXT;
}
#undef LOAD_AT
#undef LOAD_ONE
#undef LOAD_LANES
#endif

#undef LOAD
#undef COUNT
#undef MEMORY
#undef REGISTER
#undef PATH
#undef HANDLER
#undef SLOTS
#undef BASE
#undef COVERS
#undef ADDRESS_RANGE
#undef IS_CONTIGUOUS
#undef LOAD_ANY
#undef LOAD_GROUPS
