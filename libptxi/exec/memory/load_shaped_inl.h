/* A load of shared memory at addresses of a known shape (struct ptxi_shape in load_store.c). Parameter:
 *
 *   SHAPED_BITS   bits of an element, 32 or 64 */
#if SHAPED_BITS == 32
#define ELEMENT uint32_t
#else
#define ELEMENT uint64_t
#endif

RACY OP_NAMED(PASTE_3(ld_shared, SHAPED_BITS, shaped))
{
    typedef ELEMENT group __attribute__((vector_size(PTXI_COALESCE_LANES_32 * sizeof(ELEMENT)), may_alias));
    const struct ptxi_shape *s = PTXI_SLOT(w, i->b);
    const struct ptxi_address_range all = { s->lo, s->hi, s->bits };
    group *d = PTXI_SLOT(w, i->d);

    if (w->active != PTXI_ALL_LANES || !s->usable || !is_aligned(i, all.bits, sizeof(ELEMENT)) ||
        !covers_shared(w, i, all, sizeof(ELEMENT), PTXI_AK_LOAD))
        return PTXI_LEVELED(PASTE_2(op_ld_shared, SHAPED_BITS))(i, w);
    for (int k = 0; k < PTXI_LANES / PTXI_COALESCE_LANES_32; k++) {
        const unsigned char *p = (const unsigned char *)(base_shared(w, i, 0) + s->first[k]);

        if (s->contiguous[k])
            memcpy(&d[k], p, sizeof d[k]);
        else
            d[k] = LOAD_AS(ELEMENT, p) - (group){ 0 };
    }
    NEXT;
}

#undef SHAPED_BITS
#undef ELEMENT
