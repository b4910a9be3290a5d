/* The handler of a store of one form in one state space. Included by load_store_space_inl.h, which describes the space.
 * Parameter:
 *
 *   STORE   (name, number of elements, type of an element in memory, type of an element in a register, path) */
#define COUNT FORM_FIELD(FORM_COUNT, STORE)
#define MEMORY FORM_FIELD(FORM_MEMORY, STORE)
#define REGISTER FORM_FIELD(FORM_REGISTER, STORE)
#define PATH FORM_FIELD(FORM_PATH, STORE)
#define HANDLER PASTE_3(st, SPACE, FORM_FIELD(FORM_NAME, STORE))
#define SLOTS PASTE_2(STORE_SLOTS, COUNT)
#define BASE PASTE_2(base, SPACE)
#define COVERS PASTE_2(covers, SPACE)

/* Any active lanes, any addresses. */
#define STORE_ANY PASTE_2(any, HANDLER)
NOINLINE const struct ptxi_insn *STORE_ANY(const struct ptxi_insn *i, struct ptxi_warp *w, const ADDRESS *a)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const bool is_word = sizeof(MEMORY) == 4 || sizeof(MEMORY) == 8;
    const bool is_whole = COUNT == 1 && is_word && sizeof(MEMORY) == sizeof(REGISTER);
    const uint32_t slots[COUNT] = SLOTS;
    struct ptxi_address_range r = PASTE_2(ptxi_address_range, ADDRESS_BITS)(a, w->active);
    bool inside = is_aligned(i, r.bits, SIZE) && COVERS(w, i, r, SIZE, PTXI_AK_STORE);

    if (inside && is_whole && SPACE_ID != PTXI_MS_LOCAL && !are_few(w->active)) {
        ptxi_scatter_lanes(BASE(w, i, 0), a, PTXI_SLOT(w, i->b), w->active, sizeof(MEMORY), sizeof *a);
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char *p = inside ? (unsigned char *)(BASE(w, i, l) + a[l])
                                  : ptxi_access_or_continue(w, i, l, SPACE_ID, a[l] + (ADDRESS)i->imm, SIZE, SIZE,
                                                            PTXI_AK_STORE);

        if (!p)
            return w->stop;
        for (int e = 0; e < COUNT; e++)
            STORE_AS(MEMORY, p + e * sizeof(MEMORY), (MEMORY)((const REGISTER *)PTXI_SLOT(w, slots[e]))[l]);
        if (COUNT > 1 && (SPACE_ID == PTXI_MS_GLOBAL || SPACE_ID == PTXI_MS_GENERIC) &&
            p == w->worker->inaccessible)
            ptxi_access_store_accessible(w, a[l] + (ADDRESS)i->imm, SIZE);
    }
    NEXT;
}

#if PATH == PATH_ANY

RACY OP_NAMED(HANDLER)
{
    return STORE_ANY(i, w, PTXI_SLOT(w, i->a));
}

#else /* PATH_CONTIGUOUS */

RACY OP_NAMED(HANDLER)
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const uint32_t slots[COUNT] = SLOTS;
    const ADDRESS *a = PTXI_SLOT(w, i->a);
    struct ptxi_address_range r = { a[0], a[PTXI_LANES - 1], a[0] };
    unsigned char *p = (unsigned char *)(BASE(w, i, 0) + a[0]);

    if (w->active != PTXI_ALL_LANES || !PASTE_2(ptxi_is_contiguous, ADDRESS_BITS)(a, SIZE) ||
        !is_aligned(i, r.bits, SIZE) ||
        r.hi < r.lo || !COVERS(w, i, r, SIZE, PTXI_AK_STORE))
        return STORE_ANY(i, w, a);
    for (int e = 0; e < COUNT; e++) {
        const REGISTER *x = PTXI_SLOT(w, slots[e]);
        unsigned char *to = p + e * sizeof(MEMORY);

        FOR_LANES
        STORE_AS(MEMORY, to + l * SIZE, (MEMORY)x[l]);
    }
    NEXT;
}

#endif

#ifdef HAS_ADDRESS_REGISTERS
/* With an address register, for any lanes. */
#define STORE_AT PASTE_2(at, HANDLER)
NOINLINE const struct ptxi_insn *STORE_AT(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const struct ptxi_address *at = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint64_t, row);

    return STORE_ANY(i, w, ptxi_address_lanes(at, row));
}

/* The usual case: all lanes, in a row of elements, in the allocation that the instruction hit last. */
RACY OP_NAMED(PASTE_2(HANDLER, at))
{
    enum { SIZE = sizeof(MEMORY) * COUNT };
    const uint32_t slots[COUNT] = SLOTS;
    const struct ptxi_address *at = PTXI_SLOT(w, i->a);
    unsigned char *p = (unsigned char *)(BASE(w, i, 0) + at->row.first);
    const uint64_t off = ptxi_row_missing(&at->row) | ptxi_inactive(w) | (uint64_t)(at->row.stride ^ SIZE);

    if (PATH == PATH_ANY || off || !is_aligned(i, at->row.first, SIZE) ||
        !ptxi_access_is_cached(w, ptxi_access_hit(w, i), (uintptr_t)p, PTXI_LANES * SIZE, true))
        return STORE_AT(i, w);
    for (int e = 0; e < COUNT; e++) {
        const REGISTER *x = PTXI_SLOT(w, slots[e]);
        unsigned char *to = p + e * sizeof(MEMORY);

        FOR_LANES
        STORE_AS(MEMORY, to + l * SIZE, (MEMORY)x[l]);
    }
    NEXT;
}
#undef STORE_AT
#endif

#undef STORE
#undef COUNT
#undef MEMORY
#undef REGISTER
#undef PATH
#undef HANDLER
#undef SLOTS
#undef BASE
#undef COVERS
#undef STORE_ANY
