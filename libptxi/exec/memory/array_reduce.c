#include "exec/memory/array_reduce.h"

#include "exec/memory/atomop.h"
#include "isa/bytecode.h"

/* Each element is an operation of its own, of .relaxed semantics. Sums of f32 keep subnormal numbers, wherever they are; NaNs of f64 are those of
 * global memory. */
#define ATOM(name, T, NEW)                                                                            \
    static void reduce_##name(unsigned char *to, const unsigned char *from, uint32_t bytes)           \
    {                                                                                                 \
        const bool shared __attribute__((unused)) = sizeof(T) == 4;                                   \
                                                                                                      \
        for (uint32_t k = 0; k < bytes; k += sizeof(T)) {                                             \
            T *p = (T *)(void *)(to + k), old = __atomic_load_n(p, __ATOMIC_RELAXED), new, x;         \
                                                                                                      \
            memcpy(&x, from + k, sizeof x);                                                           \
            do                                                                                        \
                new = (NEW);                                                                          \
            while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        }                                                                                             \
    }
#include "exec/memory/atom.def"
#undef ATOM

void ptxi_reduce(unsigned op, unsigned char *to, const unsigned char *from, uint32_t bytes)
{
    switch (op) {
#define ATOM(name, T, NEW) case PTXI_OP_atom_##name: reduce_##name(to, from, bytes); break;
#include "exec/memory/atom.def"
#undef ATOM
    }
}
