/* Conformance cases of wgmma. See warpgroups.c. */
#ifndef PTXI_TESTS_WARPGROUPS_H
#define PTXI_TESTS_WARPGROUPS_H

#include "conformance/cases.h"

/* Makes the case with this number, or the next existing one. Returns the next number, or 0 if there is none. */
unsigned warpgroup_build(struct conformance_case *c, unsigned number);

#endif
