/* An operation of exec/memory/atom.def on arrays. Each element is an atomic operation with .relaxed semantics. A sum
 * of f32 keeps subnormal numbers in every state space. NaNs of f64 are those of global memory. */
#include "exec/memory/atom_op_inl.h"

static void NAMED(reduce)(unsigned char *to, const unsigned char *from, uint32_t bytes)
{
    const bool shared = sizeof(T) == 4;

    assert(bytes % sizeof(T) == 0);
    for (uint32_t k = 0; k < bytes; k += sizeof(T)) {
        T *p = (T *)(void *)(to + k), old = __atomic_load_n(p, __ATOMIC_RELAXED), new, x;

        memcpy(&x, from + k, sizeof x);
        do
            new = NAMED(new_value)(old, x, x, shared);
        while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    }
}

static void NAMED(reduce_one)(unsigned char *to, uint64_t value)
{
    T old, new, x = (T)value;

    memcpy(&old, to, sizeof old);
    new = NAMED(new_value)(old, x, x, false);
    memcpy(to, &new, sizeof new);
}

enum { NAMED(bytes) = sizeof(T) };

#undef ATOM
#undef NAME
#undef KIND
#undef T
#undef NAMED
