/* Places: numbers of the instructions of checked functions. Shadow memory has no room for pointers. */
#ifndef PTXI_EXEC_CHECK_PLACE_H
#define PTXI_EXEC_CHECK_PLACE_H

#include <stdint.h>

#include "isa/bytecode.h"

enum { PTXI_PLACE_BITS = 23, PTXI_PLACE_UNKNOWN = (1 << PTXI_PLACE_BITS) - 1 };

/* The function and the index of its instruction at a place. NULL: the place is not known, or its module is unloaded. */
const struct ptxi_code *ptxi_place_find(uint32_t place, uint32_t *at);

#endif
