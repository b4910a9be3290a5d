/* Conformance cases of wgmma. See warpgroups.c. */
#ifndef PTXI_TESTS_WARPGROUPS_H
#define PTXI_TESTS_WARPGROUPS_H

#include "conformance/cases.h"

/* Makes the case of that number, or of the next that has one. Returns the number to go on with, 0 when there was none.
 */
unsigned warpgroup_build(struct conformance_case *c, unsigned number);

#endif
