#include "exec/memory/array_reduce.h"

#include <assert.h>

#include "exec/memory/atom_op.h"
#include "isa/bytecode.h"

#define ATOM_TEMPLATE "exec/memory/array_reduce_inl.h"
#include "exec/memory/atom.def"
#undef ATOM_TEMPLATE

void ptxi_array_reduce(unsigned op, unsigned char *to, const unsigned char *from, uint32_t bytes)
{
    switch (op) {
#define ATOM_TEMPLATE "exec/memory/array_reduce_case_inl.h"
#include "exec/memory/atom.def"
#undef ATOM_TEMPLATE
    default: assert(!"an operation of two operands");
    }
}

void ptxi_array_reduce_one(unsigned op, unsigned char *to, uint64_t value)
{
    switch (op) {
#define ATOM_TEMPLATE "exec/memory/array_reduce_one_case_inl.h"
#include "exec/memory/atom.def"
#undef ATOM_TEMPLATE
    default: assert(!"an operation of two operands");
    }
}

uint32_t ptxi_array_reduce_bytes(unsigned op)
{
    switch (op) {
#define ATOM_TEMPLATE "exec/memory/array_reduce_bytes_case_inl.h"
#include "exec/memory/atom.def"
#undef ATOM_TEMPLATE
    default: return 0;
    }
}
