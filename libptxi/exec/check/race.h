/* Data races: compares the accesses of a warp's instruction with earlier ones in shadow memory. */
#ifndef PTXI_EXEC_CHECK_RACE_H
#define PTXI_EXEC_CHECK_RACE_H

#include "exec/check/shadow.h"
#include "exec/engine/warp.h"
#include "isa/isa.h"

/* The instruction after `i`, a check_access, accesses memory. addresses[l] is the address of lane l, global or shared
 * (the offset in the window of shared memory), as the bits of `shared` say. */
void ptxi_race_check(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses, ptxi_lanes shared,
                     ptxi_lanes lanes);
/* The same for neighbouring lanes that access neighbouring elements of global memory, or one element. False: it has not
 * been checked. */
bool ptxi_race_check_row(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address, bool same,
                         ptxi_lanes lanes);

/* The record of an access that it makes, without its warp: place, strength and scope. */
static inline uint32_t ptxi_race_meta(const struct ptxi_insn *i)
{
    uint32_t place = i->b | (uint32_t)i->c << 16, strength = i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3;
    uint32_t scope = strength ? i->mods >> PTXI_CHECK_SCOPE_SHIFT & 3 : 0;

    return (place < PTXI_PLACE_UNKNOWN ? place : PTXI_PLACE_UNKNOWN) | strength << PTXI_META_STRENGTH |
           scope << PTXI_META_SCOPE;
}

/* The instruction that a check_access checks. */
static inline const struct ptxi_insn *ptxi_race_checked(const struct ptxi_insn *i)
{
    return i[1].op == PTXI_OP_guard ? i + 2 : i + 1;
}

/* Whether it may take a lock. */
static inline bool ptxi_race_may_lock(const struct ptxi_insn *i)
{
    uint16_t op = ptxi_race_checked(i)->op;

    return op == PTXI_OP_atom_cas_b32 || op == PTXI_OP_atom_cas_b64;
}

/* It was a strong access that reads. */
void ptxi_race_acquire(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes);

/* The place of an instruction in the function that the warp executes. */
uint32_t ptxi_race_place(const struct ptxi_warp *w, const struct ptxi_insn *i);

/* An access of a thread by an instruction that is no load or store: a matrix instruction, or a copy. value: of at most
 * 16 bytes, what it stores, or NULL if that is not known. */
enum { PTXI_TOUCH_WRITE = 1, PTXI_TOUCH_SHARED = 2 /* an address in its window */,
       PTXI_TOUCH_ASYNC = 4, /* a write that ends later (ptxi_check_async_waits()) */
       PTXI_TOUCH_ATOMIC = 8 /* of scope .gpu */ };
void ptxi_race_touch(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address, uint32_t size,
                     unsigned how, const void *value);

/* A bulk operation accesses bytes of global memory, or of the shared memory of a CTA. Its end is told by an mbarrier,
 * or by a wait for a group of its thread. */
struct ptxi_bulk_touch {
    struct ptxi_cta *shared; /* NULL: global memory */
    uint64_t address;        /* in it */
    uint32_t size;
    bool write, reduces;     /* reduces: atomically */
    struct ptxi_cta *owner;  /* of the mbarrier; NULL: there is none */
    uint32_t mbarrier;       /* its offset */
};
/* A matrix instruction reads an operand in shared memory. */
struct ptxi_operand_touch {
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    unsigned lane;           /* that issues it */
    struct ptxi_cta *shared; /* tcgen05: whose memory. A later commit of the thread tells the end. NULL: wgmma; that of
                              * the warp, and a wait for its group tells the end */
};
void ptxi_race_touch_operand(const struct ptxi_operand_touch *r, uint32_t offset, uint32_t size);
void ptxi_race_touch_bulk(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                          const struct ptxi_bulk_touch *b);

#endif
