/* Handlers of the operations that track uninitialised values in calls and in .local memory. */
#include <stdlib.h>

#include "exec/check/order.h"
#include "exec/engine/handler.h"
#include "exec/init/init.h"
#include "exec/init/init_registers.h"

/* --- calls --- */

static struct ptxi_passed_words *passed_words(const struct ptxi_warp *w, bool create)
{
    struct ptxi_check_cta *k = w->cta->check;

    if (!k || w->index >= PTXI_CHECK_WARPS)
        return NULL;
    if (!k->passed[w->index] && create)
        k->passed[w->index] = calloc(1, sizeof *k->passed[w->index]);
    return k->passed[w->index];
}

OP( init_clear )
{
    struct ptxi_passed_words *p = passed_words(w, false);

    for (uint32_t k = 0; p && k < p->used; k++)
        p->mask[k] &= ~w->active;
    NEXT;
}

OP( init_pass )
{
    ptxi_lanes undefined = ptxi_init_mask_in(w, i->a) & w->active;
    unsigned k = (unsigned)i->imm;
    struct ptxi_passed_words *p = undefined && k < PTXI_PASSED_WORDS ? passed_words(w, true) : NULL;
    const uint32_t *from = PTXI_SLOT(w, i->b);

    if (!p)
        NEXT;
    p->used = k < p->used ? p->used : k + 1;
    p->mask[k] |= undefined;
    for (; undefined; undefined &= undefined - 1)
        p->shadow[k][ptxi_first_lane(undefined)] = from[ptxi_first_lane(undefined)];
    NEXT;
}

OP( init_receive )
{
    unsigned k = (unsigned)i->imm;
    const struct ptxi_passed_words *p = k < PTXI_PASSED_WORDS ? passed_words(w, false) : NULL;
    ptxi_lanes undefined = p ? p->mask[k] & w->active : 0;
    uint32_t *to = PTXI_SLOT(w, i->b);

    ptxi_set_pred(w, i->d, undefined);
    for (; undefined; undefined &= undefined - 1)
        to[ptxi_first_lane(undefined)] = p->shadow[k][ptxi_first_lane(undefined)];
    NEXT;
}

OP( init_insert )
{
    ptxi_lanes word = ptxi_pred(w, i->d), value = ptxi_init_mask_in(w, i->a), result = 0;
    uint32_t *to = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = (word | value) & w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint16_t from = value >> l & 1 ? ((const uint16_t *)PTXI_SLOT(w, i->c))[l] : 0;

        if (!(word >> l & 1))
            to[l] = 0;
        memcpy((unsigned char *)&to[l] + i->imm, &from, i->mods);
        result |= (ptxi_lanes)(to[l] != 0) << l;
    }
    ptxi_set_pred(w, i->d, result);
    NEXT;
}

/* --- .local memory --- */

/* Without memory for shadows, .local memory counts as initialised. */
static void undefine(const struct ptxi_warp *w, unsigned l, uint64_t at, uint64_t bytes)
{
    unsigned char *shadow = ptxi_init_local(w, l, at, (uint32_t)bytes);

    if (shadow)
        memset(shadow, 0xff, bytes);
}

static void make_local_shadow(const struct ptxi_warp *w)
{
    struct ptxi_check_cta *k = w->cta->check;

    if (k && !k->local_undefined && w->cta->local)
        k->local_undefined = calloc(1, w->cta->local_bytes);
}

OP( init_depot )
{
    make_local_shadow(w);
    for (ptxi_lanes left = w->active; left; left &= left - 1)
        undefine(w, ptxi_first_lane(left), w->frame->local_base, (uint32_t)i->imm);
    NEXT;
}

OP( init_alloca )
{
    make_local_shadow(w);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t size = i->mods ? ((const uint64_t *)PTXI_SLOT(w, i->a))[l] : ((const uint32_t *)PTXI_SLOT(w, i->a))[l];
        uint64_t top = w->stack_top[l], at = (top - size) & -(uint64_t)(uint32_t)i->imm;

        if (size <= top)
            undefine(w, l, at, top - at);
    }
    NEXT;
}
