/* The handlers of stacksave, stackrestore and alloca. Parameter:
 *
 *   STACK_BITS   bits of an address, 32 or 64 */
#if STACK_BITS == 32
#define ADDRESS uint32_t
#else
#define ADDRESS uint64_t
#endif

OP_NAMED(STACK_PASTE(stacksave, STACK_BITS))
{
    ADDRESS *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, (ADDRESS)w->stack_top[l]);
    NEXT;
}

OP_NAMED(STACK_PASTE(stackrestore, STACK_BITS))
{
    const ADDRESS *a = PTXI_SLOT(w, i->a);

    for (int l = 0; l < PTXI_LANES; l++)
        if (w->active >> l & 1)
            w->stack_top[l] = a[l];
    w->stack_moved = true;
    w->as_started = false;
    NEXT;
}

/* imm is the alignment, a power of two. */
OP_NAMED(STACK_PASTE(alloca, STACK_BITS))
{
    const ADDRESS *a = PTXI_SLOT(w, i->a);
    ADDRESS *d = PTXI_SLOT(w, i->d);
    uint64_t align = (uint32_t)i->imm;
    ptxi_lanes overflow = 0;

    for (int l = 0; l < PTXI_LANES; l++) {
        uint64_t top = w->stack_top[l], room = free_below(w, top), at = (top - a[l]) & -align;

        if (!(w->active >> l & 1))
            continue;
        if (a[l] > room || top - at > room)
            overflow |= (ptxi_lanes)1 << l;
        else
            d[l] = (ADDRESS)push_stack(w, (unsigned)l, at);
    }
    w->stack_moved = true;
    w->as_started = false;
    if (overflow)
        return ptxi_fault(w, i, PTXI_FK_STACK, overflow, 0, 0, "alloca");
    NEXT;
}

#undef STACK_BITS
#undef ADDRESS
