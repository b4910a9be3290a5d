/* The handler functions of one f32 approximation unit. alu_approx.c includes this file once for each unit, with these
 * parameters:
 *
 *     UNIT                name of the unit, for example rcp. UNIT_vectors() computes a group of vectors, and
 *                         ptxi_approx_UNIT has the constants
 *     UNIT_SIGN           whether the sign counts when an operand is classified
 *     UNIT_CHECKS_FIRST   whether the operands are checked before the computation. Otherwise UNIT_vectors() returns
 *                         whether any operand was special
 *     UNIT_FIX            function that replaces the results for special operands */

#define UNIT_PASTE_(prefix, suffix) prefix##_##suffix
#define UNIT_PASTE(prefix, suffix) UNIT_PASTE_(prefix, suffix)
#define UNIT_(name) UNIT_PASTE(UNIT, name)
#define UNIT_CONSTANTS (&UNIT_PASTE(ptxi_approx, UNIT))

/* Nonzero if any operand is special. */
ALWAYS_INLINE special_mask UNIT_(find_special)(const uint32_t *a)
{
    special_mask special = find_special(&CONST_VECTOR(a, 0), UNIT_CONSTANTS, UNIT_SIGN);

    for (int k = GROUP; k < PTXI_LANES / VEC_LANES; k += GROUP)
        special |= find_special(&CONST_VECTOR(a, k), UNIT_CONSTANTS, UNIT_SIGN);
    return special;
}

/* The results for any operands. Only the lanes of the mask are needed. `scalar` computes one result. */
OUT_OF_LINE void UNIT_(compute_any)(uint32_t *r, const uint32_t *a, ptxi_lanes lanes, unary *scalar)
{
    FOR_GROUPS UNIT_(vectors)(&VECTOR(r, k), &CONST_VECTOR(a, k));
    if (ANY_SET(UNIT_(find_special)(a)))
        UNIT_FIX(r, a, lanes, scalar, UNIT_CONSTANTS, UNIT_SIGN);
}

/* For special operands, and if some lanes are inactive. */
HANDLER_PART(OUT_OF_LINE, UNIT_(run_slow), unary *scalar)
{
    LANE_ARRAY(uint32_t, r);

    UNIT_(compute_any)(r, PTXI_SLOT(w, i->a), w->active, scalar);
    write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);
    NEXT;
}

HANDLER_PART(OUT_OF_LINE, UNIT_(run), unary *scalar)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (__builtin_expect(w->active != PTXI_ALL_LANES || (UNIT_CHECKS_FIRST && ANY_SET(UNIT_(find_special)(a))), 0))
        return UNIT_(run_slow)(i, w, scalar);
    if (UNIT_CHECKS_FIRST) {
        FOR_GROUPS {
            vec y[GROUP];

            UNIT_(vectors)(y, &CONST_VECTOR(a, k));
            FOR_GROUP VECTOR(d, k + j) = y[j];
        }
    } else {
        vec y[PTXI_LANES / VEC_LANES];
        bool special = false;

        FOR_GROUPS special |= UNIT_(vectors)(y + k, &CONST_VECTOR(a, k));
        if (__builtin_expect(special, 0))
            return UNIT_(run_slow)(i, w, scalar);
        FOR_GROUPS FOR_GROUP VECTOR(d, k + j) = y[k + j];
    }
    NEXT;
}

#undef UNIT
#undef UNIT_SIGN
#undef UNIT_CHECKS_FIRST
#undef UNIT_FIX
#undef UNIT_PASTE_
#undef UNIT_PASTE
#undef UNIT_
#undef UNIT_CONSTANTS
