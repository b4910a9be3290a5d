/* The last step of the SIMD video instructions for one size of elements. alu_video.c includes this file for each
 * size, with these parameters:
 *
 *     ELEMENT_BITS        size of an element: 16 or 8
 *     ELEMENT_COUNT       number of elements in a register: 2 or 4
 *     WIDE                type of intermediate results, twice as wide as an element
 *     WIDE_MIN, WIDE_MAX  range of that type */

#define SIMD_PASTE_(a, b) a##b
#define SIMD_PASTE(a, b) SIMD_PASTE_(a, b)
#define SIMD_(name) SIMD_PASTE(name, ELEMENT_COUNT)
#define ELEMENT_LIMIT(prefix, suffix) SIMD_PASTE(prefix, SIMD_PASTE(ELEMENT_BITS, suffix))

/* d = c + the sum of the selected elements. */
static void SIMD_(accumulate_)(struct ptxi_warp *w, const struct ptxi_insn *i, const WIDE *t)
{
    LANE_ARRAY(uint32_t, sum);

    memcpy(sum, PTXI_SLOT(w, i->c), sizeof sum);
    for (int k = 0; k < ELEMENT_COUNT; k++)
        if (i->imm >> k & 1)
            FOR_LANES sum[l] += (uint32_t)t[ELEMENT_COUNT * l + k];
    write_buffer(PTXI_SLOT(w, i->d), sum, w->active, sizeof *sum);
}

/* d = c, with the selected elements replaced by those of t, saturated if .sat is given. */
static void SIMD_(finish_simd_)(struct ptxi_warp *w, const struct ptxi_insn *i, const WIDE *t)
{
    typedef ELEMENT_LIMIT(uint, _t) element;
    WIDE least = WIDE_MIN, most = WIDE_MAX;
    const uint32_t *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d), mask = 0;
    _Alignas(64) union {
        element elements[PTXI_LANES * ELEMENT_COUNT];
        uint32_t words[PTXI_LANES];
    } r;

    if (i->imm & PTXI_VIDEO_ADD) {
        SIMD_(accumulate_)(w, i, t);
        return;
    }
    if (i->mods & PTXI_MOD_SAT) {
        least = i->imm & PTXI_VIDEO_SIGNED_D ? ELEMENT_LIMIT(INT, _MIN) : 0;
        most = i->imm & PTXI_VIDEO_SIGNED_D ? ELEMENT_LIMIT(INT, _MAX) : ELEMENT_LIMIT(UINT, _MAX);
    }
    for (int k = 0; k < ELEMENT_COUNT; k++)
        if (i->imm >> k & 1)
            mask |= (uint32_t)ELEMENT_LIMIT(UINT, _MAX) << ELEMENT_BITS * k;
    FOR_ELEMENTS(ELEMENT_COUNT) {
        WIDE x = t[e] < least ? least : t[e];

        r.elements[e] = (element)(x > most ? most : x);
    }
    WRITE_LANES(d, (r.words[l] & mask) | (c[l] & ~mask));
}

#undef ELEMENT_BITS
#undef ELEMENT_COUNT
#undef WIDE
#undef WIDE_MIN
#undef WIDE_MAX
#undef SIMD_PASTE_
#undef SIMD_PASTE
#undef SIMD_
#undef ELEMENT_LIMIT
