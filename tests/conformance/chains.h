/* Conformance cases of several instructions. See chains.c. */
#ifndef PTXI_TESTS_CHAINS_H
#define PTXI_TESTS_CHAINS_H

#include "conformance/cases.h"

enum { CHAIN_TYPES = 8, CHAINS = 48 * CHAIN_TYPES };

/* Makes chain number 0 to CHAINS - 1. `apart`: for an assembler that does not fuse. */
void chain_build(struct conformance_case *c, unsigned number, bool apart);

#endif
