/* The compare-and-swaps of several lanes at one word. Parameters:
 *
 *   T               the type of the word
 *   T_HAS_VECTORS   defined if find_swaps_T() is written with AVX-512 */
#if !defined(T_HAS_VECTORS) || !defined(__AVX512F__)
static inline ptxi_lanes ATOM_PASTE(find_swaps, T)(const T *x, const T *y, T old, ptxi_lanes on)
{
    ptxi_lanes found = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        found |= (ptxi_lanes)((x[l] == old) & (y[l] != old)) << l;
    return found & on;
}
#endif

/* Executes the lanes of `on` in order at a word with value `old`. Returns its new value. was[l] is the value that lane
 * l finds. Usually few lanes change it: in a retry loop, all lanes compare with the same value. */
static INLINE T ATOM_PASTE(swap_lanes, T)(T *was, const T *x, const T *y, T old, ptxi_lanes on)
{
    enum { FEW = 4 };
    LANE_ARRAY(T, now);
    ptxi_lanes changing;

    FOR_LANES was[l] = old;
    for (int n = 0; n < FEW && (changing = ATOM_PASTE(find_swaps, T)(x, y, old, on)) != 0; n++) {
        unsigned by = ptxi_first_lane(changing);

        old = y[by];
        on &= ~(((ptxi_lanes)2 << by) - 1);
        FOR_LANES now[l] = old;
        ptxi_masked_write(was, now, on, sizeof(T));
    }
    for (changing = ATOM_PASTE(find_swaps, T)(x, y, old, on) ? on : 0; changing; changing &= changing - 1) {
        unsigned l = ptxi_first_lane(changing);

        was[l] = old;
        old = old == x[l] ? y[l] : old;
    }
    return old;
}

#undef T
#undef T_HAS_VECTORS
