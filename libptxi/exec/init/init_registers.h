/* Masks and shadows in registers (compile/codegen/track_init.c). */
#ifndef PTXI_EXEC_INIT_INIT_REGISTERS_H
#define PTXI_EXEC_INIT_INIT_REGISTERS_H

#include "exec/engine/warp.h"

#include <string.h>

/* Classes of registers: 0 is a predicate. */
static inline uint32_t ptxi_init_class_bytes(unsigned class)
{
    return 1u << class; /* 16 bits: class 1, 128 bits: class 4 */
}

static inline unsigned char *ptxi_init_shadow_at(const struct ptxi_warp *w, unsigned slot, unsigned class,
                                                 unsigned lane)
{
    return (unsigned char *)PTXI_SLOT(w, slot) + (size_t)lane * ptxi_init_class_bytes(class);
}

static inline bool ptxi_init_any_undefined(const unsigned char *shadow, uint32_t size)
{
    for (uint32_t k = 0; k < size; k++)
        if (shadow[k])
            return true;
    return false;
}

static inline void ptxi_init_fill_shadow(const struct ptxi_warp *w, unsigned slot, unsigned class, ptxi_lanes lanes,
                                         int byte)
{
    for (; lanes && class; lanes &= lanes - 1)
        memset(ptxi_init_shadow_at(w, slot, class, ptxi_first_lane(lanes)), byte, ptxi_init_class_bytes(class));
}

static inline ptxi_lanes ptxi_init_mask_in(const struct ptxi_warp *w, uint16_t slot)
{
    return slot == PTXI_NO_SLOT ? 0 : ptxi_pred(w, slot);
}

/* --- the registers of one instruction --- */

struct ptxi_init_view {
    const struct ptxi_init_list *list;
    const uint16_t *to, *from; /* slots of results and sources: shadows, then masks */
};

static inline struct ptxi_init_view ptxi_init_view_at(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_init_list *list = (const struct ptxi_init_list *)(w->frame->code->pool + i->imm);
    const uint16_t *to = list->words + list->head;

    return (struct ptxi_init_view){ list, to, to + 2 * list->writes };
}

static inline int32_t ptxi_init_imm(const struct ptxi_init_list *list)
{
    return (int32_t)(list->imm[0] | (uint32_t)list->imm[1] << 16);
}

/* The active lanes in which source k is undefined. */
static inline ptxi_lanes ptxi_init_source_mask(const struct ptxi_warp *w, const struct ptxi_init_view *v, unsigned k)
{
    return ptxi_init_mask_in(w, v->from[v->list->reads + k]) & w->active;
}

/* Lanes in which any of the sources from number `from` to `end` is undefined. */
static inline ptxi_lanes ptxi_init_source_masks(const struct ptxi_warp *w, const struct ptxi_init_view *v,
                                                unsigned from, unsigned end)
{
    ptxi_lanes any = 0;

    for (unsigned k = from; k < end; k++)
        any |= ptxi_init_source_mask(w, v, k);
    return any;
}

/* Sets the mask of result k. */
static inline void ptxi_init_set_result(struct ptxi_warp *w, const struct ptxi_init_view *v, unsigned k,
                                        ptxi_lanes undefined)
{
    if (v->to[v->list->writes + k] != PTXI_NO_SLOT)
        ptxi_set_pred(w, v->to[v->list->writes + k], undefined);
}

/* All results are defined. */
static inline void ptxi_init_define_results(struct ptxi_warp *w, const struct ptxi_init_view *v)
{
    for (unsigned k = 0; k < v->list->writes; k++)
        ptxi_init_set_result(w, v, k, 0);
}

/* The mask of result k follows from its shadow, which is valid in all active lanes. */
static inline void ptxi_init_finish_result(struct ptxi_warp *w, const struct ptxi_init_view *v, unsigned k,
                                           unsigned class)
{
    ptxi_lanes undefined = 0;

    if (v->to[k] == PTXI_NO_SLOT)
        return;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        undefined |= (ptxi_lanes)ptxi_init_any_undefined(ptxi_init_shadow_at(w, v->to[k], class, l),
                                                         ptxi_init_class_bytes(class)) << l;
    }
    ptxi_init_set_result(w, v, k, undefined);
}

/* The shadow of source k in 32 lanes, of `bytes` bytes each. */
static inline void ptxi_init_source(const struct ptxi_warp *w, const struct ptxi_init_view *v, unsigned k,
                                    unsigned first, unsigned bytes, void *to)
{
    ptxi_lanes undefined = ptxi_init_source_mask(w, v, k) & ptxi_warp32_lanes(first / 32);

    memset(to, 0, 32 * (size_t)bytes);
    for (; undefined; undefined &= undefined - 1) {
        unsigned l = ptxi_first_lane(undefined);

        memcpy((unsigned char *)to + (l - first) * (size_t)bytes,
               (const unsigned char *)PTXI_SLOT(w, v->from[k]) + l * (size_t)bytes, bytes);
    }
}

#endif
