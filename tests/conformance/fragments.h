/* Conformance cases of ldmatrix, stmatrix and movmatrix. See fragments.c. */
#ifndef PTXI_TESTS_FRAGMENTS_H
#define PTXI_TESTS_FRAGMENTS_H

#include "conformance/cases.h"

/* Makes the case with this number. Returns false if there is none. */
bool fragment_build(struct conformance_case *c, unsigned number);

#endif
