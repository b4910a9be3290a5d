/* Conformance cases of wmma. See wmma.c. */
#ifndef PTXI_TESTS_WMMA_H
#define PTXI_TESTS_WMMA_H

#include "conformance/cases.h"

/* Makes the case with this number. Returns false if there is none. */
bool wmma_build(struct conformance_case *c, unsigned number);

#endif
