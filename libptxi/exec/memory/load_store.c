/* ld and st in every state space: PTX ISA, "Data Movement and Conversion Instructions: ld", "st".
 *
 * An access takes one of several paths, from fast to slow:
 *   - The lanes access contiguous memory: lane l at base + l * size. This is one wide copy. An address register
 *     (address_register.h) says so without a look at the lanes.
 *   - Groups of neighbouring lanes access contiguous memory or one address.
 *   - All lanes access one allocation. The lowest and the highest address are checked.
 *   - Each lane is checked on its own. This path finds and reports the fault.
 *
 * load_inl.h and store_inl.h are the handlers of one form in one state space. load_store_space_inl.h lists the forms.
 */
#include <string.h>

#include "exec/memory/address_register.h"
#include "exec/memory/coalesce.h"
#include "exec/engine/handler.h"
#include "exec/memory/gather_scatter.h"
#include "exec/memory/shape.h"

#define NOINLINE RACY static __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

#define PASTE_2_(a, b) a##_##b
#define PASTE_2(a, b) PASTE_2_(a, b)
#define PASTE_3_(a, b, c) a##_##b##_##c
#define PASTE_3(a, b, c) PASTE_3_(a, b, c)
#define OP_NAMED(name) OP(name)

/* 16 bytes that the host reads and writes with one instruction if it has AVX. */
typedef uint64_t bytes_16 __attribute__((vector_size(16)));

/* --- state spaces ---
 *
 * A space S has two functions for an instruction with addresses in slot a:
 *   base_S(w, i, l)                the number to add to the address of lane l. It is an integer, because it may point
 *                                  outside of any C object.
 *   covers_S(w, i, r, n, access)   true if the program may access range r and n bytes at its highest address */

INLINE uintptr_t base_global(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    (void)w, (void)l;
    return (uintptr_t)(intptr_t)i->imm;
}

INLINE bool covers_global(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n,
                          enum ptxi_access access)
{
    return ptxi_may_access(w, i, r.lo + (uint64_t)(int64_t)i->imm, r.hi - r.lo + n, access);
}

INLINE uintptr_t base_generic(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    return base_global(w, i, l);
}

/* The windows of shared and local memory are above all host addresses. */
INLINE bool covers_generic(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n,
                           enum ptxi_access access)
{
    return !((r.bits | (r.lo + (uint64_t)(int64_t)i->imm)) >> 60) && covers_global(w, i, r, n, access);
}

INLINE uintptr_t base_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    (void)l;
    return w->shared_origin + (uintptr_t)(intptr_t)i->imm;
}

INLINE bool covers_shared(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r,
                          uint32_t n, enum ptxi_access access)
{
    (void)access;
    return ptxi_shared_covers(w, i, r.lo, r.hi, n);
}

/* True if the offsets of range r, and of n bytes at the highest one, are below `limit`. */
INLINE bool offsets_are_below(const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n, uint64_t limit)
{
    return (int64_t)r.lo >= 0 && r.hi < limit && (int64_t)r.lo + i->imm >= 0 &&
           r.hi + (uint64_t)(int64_t)i->imm + n <= limit;
}

INLINE uintptr_t base_local(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    return (uintptr_t)w->local + l * w->local_stride + (uintptr_t)(intptr_t)i->imm;
}

/* The first store beyond the bytes that have been written takes the slow path, which updates local_written. */
INLINE bool covers_local(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n,
                         enum ptxi_access access)
{
    return offsets_are_below(i, r, n, access == PTXI_AK_LOAD ? w->local_stride : w->local_written);
}

INLINE uintptr_t base_const(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    (void)l;
    return (uintptr_t)w->cta->grid->program->const_bank + (uintptr_t)(intptr_t)i->imm;
}

INLINE bool covers_const(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n,
                         enum ptxi_access access)
{
    (void)access;
    return offsets_are_below(i, r, n, w->cta->grid->program->const_size);
}

INLINE uintptr_t base_param(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    (void)l;
    return (uintptr_t)w->cta->grid->params + (uintptr_t)(intptr_t)i->imm;
}

INLINE bool covers_param(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_address_range r, uint32_t n,
                         enum ptxi_access access)
{
    (void)access;
    return offsets_are_below(i, r, n, w->cta->grid->code->param_bytes);
}

/* True if the program may access the elements of a row, from that of the first active lane to that of the last. p is
 * the address of lane 0. */
INLINE bool may_access_some(struct ptxi_warp *w, const struct ptxi_insn *i, uintptr_t p, uint32_t size,
                            enum ptxi_access access)
{
    const unsigned first = ptxi_first_lane(w->active), last = 63 - (unsigned)__builtin_clzll(w->active);

    return ptxi_may_access(w, i, p + first * size, (last - first + 1) * (uint64_t)size, access);
}

/* --- forms --- */

/* The slots of a vector's elements, in order. They have 32 bits, since gcc keeps slots of 16 bits on the stack: it
 * writes them with a store of two bytes and reads them with a load of eight, and such a load waits until the stores
 * before it have reached the cache. */
#define LOAD_SLOTS_1 { i->d }
#define LOAD_SLOTS_2 { i->d, i->c }
#define LOAD_SLOTS_4 { i->d, i->b, i->c, i->mods }
#define STORE_SLOTS_1 { i->b }
#define STORE_SLOTS_2 { i->b, i->c }
#define STORE_SLOTS_4 { i->b, i->c, i->d, i->mods }

INLINE bool is_aligned(const struct ptxi_insn *i, uint64_t bits, uint32_t size)
{
    return !((bits | (uint32_t)i->imm) & (size - 1));
}

/* A scatter takes the time of all lanes. For few lanes a loop is faster. */
INLINE bool are_few(ptxi_lanes lanes)
{
    return __builtin_popcountll(lanes) <= 8;
}

/* How to reach an element of a form: (name, number of elements, type in memory, type in a register, path). */
#define FORM_FIELD(field, form) field form
#define FORM_NAME(name, count, memory, reg, path) name
#define FORM_COUNT(name, count, memory, reg, path) count
#define FORM_MEMORY(name, count, memory, reg, path) memory
#define FORM_REGISTER(name, count, memory, reg, path) reg
#define FORM_PATH(name, count, memory, reg, path) path

/* The fastest path that a form has in a space. */
#define PATH_ANY 0
#define PATH_CONTIGUOUS 1
#define PATH_GROUPS 2

#define SPACE global
#define SPACE_ID PTXI_MS_GLOBAL
#define ADDRESS_BITS 64
#define PATH_OF_LOADS PATH_CONTIGUOUS
#define PATH_OF_WHOLE_LOADS PATH_GROUPS
#define PATH_OF_STORES PATH_CONTIGUOUS
#define HAS_ADDRESS_REGISTERS
#include "exec/memory/load_store_space_inl.h"

#define SPACE shared
#define SPACE_ID PTXI_MS_SHARED
#define ADDRESS_BITS 32
#define PATH_OF_LOADS PATH_CONTIGUOUS
#define PATH_OF_WHOLE_LOADS PATH_GROUPS
#define PATH_OF_STORES PATH_CONTIGUOUS
#include "exec/memory/load_store_space_inl.h"

#define SPACE generic
#define SPACE_ID PTXI_MS_GENERIC
#define ADDRESS_BITS 64
#define PATH_OF_LOADS PATH_ANY
#define PATH_OF_WHOLE_LOADS PATH_GROUPS
#define PATH_OF_STORES PATH_ANY
#include "exec/memory/load_store_space_inl.h"

#define SPACE local
#define SPACE_ID PTXI_MS_LOCAL
#define ADDRESS_BITS 64
#define PATH_OF_LOADS PATH_ANY
#define PATH_OF_WHOLE_LOADS PATH_ANY
#define PATH_OF_STORES PATH_ANY
#include "exec/memory/load_store_space_inl.h"

#define SPACE const
#define SPACE_ID PTXI_MS_CONST
#define ADDRESS_BITS 64
#define PATH_OF_LOADS PATH_ANY
#define PATH_OF_WHOLE_LOADS PATH_ANY
#include "exec/memory/load_store_space_inl.h"

#define SPACE param
#define SPACE_ID PTXI_MS_PARAM
#define ADDRESS_BITS 64
#define PATH_OF_LOADS PATH_ANY
#define PATH_OF_WHOLE_LOADS PATH_ANY
#include "exec/memory/load_store_space_inl.h"

/* --- loads of shared memory at launch-invariant addresses, which are analysed once --- */

OP( shape )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    struct ptxi_shape *s = PTXI_SLOT(w, i->d);
    struct ptxi_address_range all = ptxi_address_range_32(a, PTXI_ALL_LANES);

    *s = (struct ptxi_shape){ (uint32_t)all.lo, (uint32_t)all.hi, (uint32_t)all.bits, .usable = all.hi <= INT32_MAX };
    for (int k = 0; k < PTXI_LANES / PTXI_COALESCE_LANES_32; k++, a += PTXI_COALESCE_LANES_32) {
        enum ptxi_coalesce_shape shape = ptxi_coalesce_group_32(a, (unsigned)i->imm);

        s->usable &= shape != PTXI_COALESCE_MIXED;
        s->contiguous[k] = shape == PTXI_COALESCE_CONTIGUOUS;
        s->first[k] = a[0];
    }
    NEXT;
}

#define SHAPED_BITS 32
#include "exec/memory/load_shaped_inl.h"
#define SHAPED_BITS 64
#include "exec/memory/load_shaped_inl.h"

static bool is_in_window(uint64_t address)
{
    return address - PTXI_SHARED_WINDOW < PTXI_WINDOW_SIZE || address - PTXI_LOCAL_WINDOW < PTXI_WINDOW_SIZE;
}

/* prefetch.valid_addr: an H100 reports 717 for addresses of shared and local memory, and 700 for others that are not
 * in global memory. a, imm: the address. */
OP( prefetch )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);

    for (unsigned l = 0; l < PTXI_LANES; l++) {
        uint64_t address = a[l] + (uint64_t)(int64_t)i->imm;

        if (!(w->active >> l & 1))
            continue;
        if (is_in_window(address))
            return ptxi_fault_access(w, i, PTXI_FK_ADDRESS_SPACE, (ptxi_lanes)1 << l, address, 1, PTXI_AK_LOAD, NULL);
        if (!ptxi_access_or_continue(w, i, l, PTXI_MS_GLOBAL, address, 1, 1, PTXI_AK_LOAD))
            return w->stop;
    }
    NEXT;
}
