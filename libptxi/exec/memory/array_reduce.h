/* The operations of atom and red on arrays. */
#ifndef PTXI_EXEC_MEMORY_ARRAY_REDUCE_H
#define PTXI_EXEC_MEMORY_ARRAY_REDUCE_H

#include <stdint.h>

/* `op` (PTXI_OP_atom_..., of two operands) with each element of `from`, atomically for every host thread. */
void ptxi_reduce(unsigned op, unsigned char *to, const unsigned char *from, uint32_t bytes);

#endif
