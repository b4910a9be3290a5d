/* What the families of memory operations have in common. */
#ifndef PTXI_NATIVE_MEMORY_H
#define PTXI_NATIVE_MEMORY_H

#include <stddef.h>

#include "exec/engine/row_register.h"
#include "native/builder.h"

/* Parameters of emitters: bytes of an element in memory, number of elements, bits of an element in a register. */
#define PTXI_ELEMENTS(bytes, count, bits) ((bytes) | (count) << 8 | (bits) << 16)

static inline unsigned ptxi_element_bytes(uint32_t elements)
{
    return elements & 0xff;
}

static inline unsigned ptxi_element_count(uint32_t elements)
{
    return elements >> 8 & 0xff;
}

static inline unsigned ptxi_element_bits(uint32_t elements)
{
    return elements >> 16;
}

/* Where the addresses are: shared addresses in a register of 32 bits, or global ones in a register of 64 bits or in an
 * address register. */
enum ptxi_native_addresses { PTXI_SHARED_LANES, PTXI_GLOBAL_LANES, PTXI_ADDRESS_REGISTER };
enum { PTXI_STORES = 4, PTXI_EXTENDS_SIGN = 8 }; /* or-ed to it */

static inline struct ptxi_x86_rm ptxi_native_of_warp(size_t offset)
{
    return ptxi_x86_at(PTXI_NATIVE_WARP, (int32_t)offset);
}

#define OF_WARP(name) ptxi_native_of_warp(offsetof(struct ptxi_warp, name))

/* A field of a row register. */
#define OF_ROW(slot, name) ptxi_native_frame(slot, offsetof(struct ptxi_lane_row, name))

/* A field of the cache entry with the allocation that the instruction hit last: ptxi_access_hit(). */
static inline struct ptxi_x86_rm ptxi_native_of_hit(const struct ptxi_insn *i, size_t offset)
{
    const size_t entry = ((uintptr_t)i / sizeof *i) % PTXI_ACCESS_HITS * sizeof(struct ptxi_access_hit);

    return ptxi_x86_at(PTXI_NATIVE_HITS, (int32_t)(entry + offset));
}

#define OF_HIT(i, name) ptxi_native_of_hit(i, offsetof(struct ptxi_access_hit, name))

/* d = a general register, in all elements */
static inline void ptxi_native_broadcast(struct ptxi_native_builder *c, unsigned d, unsigned general, unsigned bits)
{
    ptxi_x86_vector_128(&c->x, PTXI_V_MOVQ, d, 0, ptxi_x86_reg(general));
    ptxi_x86_vector(&c->x, bits == 32 ? PTXI_V_BROADCASTD : PTXI_V_BROADCASTQ, d, 0, ptxi_x86_reg(d));
}

/* r = a 32-bit integer, extended to 64 bits */
static inline void ptxi_native_load_extended(struct ptxi_native_builder *c, bool is_signed, unsigned r,
                                             struct ptxi_x86_rm from)
{
    if (is_signed)
        ptxi_x86_movsxd(&c->x, r, from);
    else
        ptxi_x86_load(&c->x, 32, r, from);
}

/* The register becomes a row with first value rax and stride rcx. */
static inline void ptxi_native_set_row(struct ptxi_native_builder *c, unsigned slot)
{
    ptxi_x86_store(&c->x, 64, OF_ROW(slot, form), PTXI_NATIVE_ROW);
    ptxi_x86_store(&c->x, 64, OF_ROW(slot, first), PTXI_RAX);
    ptxi_x86_store(&c->x, 64, OF_ROW(slot, stride), PTXI_RCX);
}

/* The allocation that the access hit last: rax = the lowest address of an element of `size` bytes, less the immediate;
 * rcx: how much higher others may begin. */
void ptxi_native_load_bounds(struct ptxi_native_builder *c, const struct ptxi_insn *i, unsigned size, bool is_store);

/* Accesses and addresses of lanes that are not a row. */
ptxi_native_lanes_emitter ptxi_native_access_lanes, ptxi_native_address_wide_lanes, ptxi_native_address_index_lanes,
    ptxi_native_address_shift_lanes;

/* Runs such code in the place of an operation. */
void ptxi_native_put_lanes(struct ptxi_native_builder *c, const struct ptxi_insn *i, ptxi_native_lanes_emitter *lanes,
                           uint32_t first, uint32_t second);

#endif
