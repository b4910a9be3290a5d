/* The operations of atom and red, applied to arrays. */
#ifndef PTXI_EXEC_MEMORY_ARRAY_REDUCE_H
#define PTXI_EXEC_MEMORY_ARRAY_REDUCE_H

#include <stdint.h>

/* Applies operation `op` (PTXI_OP_atom_..., with two operands) to `bytes` bytes at `to`, with the elements at `from`.
 * Each element is updated atomically for all host threads. */
void ptxi_array_reduce(unsigned op, unsigned char *to, const unsigned char *from, uint32_t bytes);

/* The same for one element, as red in global memory does it, while no other thread can access it. */
void ptxi_array_reduce_one(unsigned op, unsigned char *to, uint64_t value);

/* Bytes of an element; 0: not an operation with two operands. */
uint32_t ptxi_array_reduce_bytes(unsigned op);

#endif
