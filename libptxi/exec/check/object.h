/* Objects of pointers: what the operation of object_ops.c needs. */
#ifndef PTXI_EXEC_CHECK_OBJECT_H
#define PTXI_EXEC_CHECK_OBJECT_H

#include "exec/engine/warp.h"

/* The bytes of an object. */
struct ptxi_object_bounds {
    uint64_t base, end; /* the same: none */
};

enum { PTXI_OBJECT_ORIGINS = 3 };

/* The object that contains an address, if an access that leaves it is wrong. */
struct ptxi_object_bounds ptxi_object_at(const struct ptxi_warp *w, uint64_t address);

/* Whether the address is in memory that the program accesses on the host. */
bool ptxi_object_is_of_host(const struct ptxi_warp *w, uint64_t address);

/* Reports lanes that access another object than the origins of the address. addresses[l] is the address of lane l,
 * origins[k] the registers that it may have been computed from, or NULL. */
void ptxi_object_check(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses,
                       const uint64_t *const origins[PTXI_OBJECT_ORIGINS]);

/* Reports lanes that access memory outside of the variables. Slots b, c and d have the bounds of the variables.
 * addresses[l] is that of lane l in the shared memory of the CTA, or in the thread's .local memory; lanes: those with
 * such an address. */
void ptxi_object_check_variables(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses,
                                 ptxi_lanes lanes, bool local);

#endif
