/* ld and st of every space: PTX ISA, "Data Movement and Conversion Instructions: ld", "st".
 *
 * Ways through an access, from fast to slow: lanes in a row (lane l at base + l * size), which is one wide copy;
 * groups of lanes in a row or at one address; all lanes within one allocation, checked by the lowest and the highest
 * address; lane by lane, which finds the fault. */
#include <string.h>

#include "exec/memory/coalesce_groups.h"
#include "exec/engine/handler.h"
#include "exec/memory/gather_scatter.h"
#include "exec/memory/coalesce.h"

/* How a space finds memory. Each gives, for an instruction whose lanes use addresses in slot a:
 *   ADDRESS        element type of the address slot
 *   BASE(l)        what to add to a lane's address; an integer, for it need not lie in an object of C
 *   COVERS(s, n)   whether all of span s, n bytes at its highest address, may be accessed
 *   SPACE          for the slow path */
#define GLOBAL_ADDRESS uint64_t
#define GLOBAL_SPAN span64
#define GLOBAL_IN_ROW in_row64
#define GLOBAL_GROUP ptxi_group64
#define GLOBAL_GROUP_LANES PTXI_GROUP64
#define GLOBAL_BASE(l) ((uintptr_t)(intptr_t)i->imm)
#define GLOBAL_COVERS(s, n, access) may_access(w, i, (s).lo + (int64_t)i->imm, (s).hi - (s).lo + (n), access)
#define GLOBAL_SPACE PTXI_MS_GLOBAL

#define GENERIC_ADDRESS uint64_t
#define GENERIC_SPAN span64
#define GENERIC_IN_ROW in_row64
#define GENERIC_GROUP ptxi_group64
#define GENERIC_GROUP_LANES PTXI_GROUP64
#define GENERIC_BASE(l) GLOBAL_BASE(l)
#define GENERIC_COVERS(s, n, access) (!(((s).bits | ((s).lo + (int64_t)i->imm)) >> 60) && GLOBAL_COVERS(s, n, access))
#define GENERIC_SPACE PTXI_MS_GENERIC

#define SHARED_ADDRESS uint32_t
#define SHARED_SPAN span32
#define SHARED_IN_ROW in_row32
#define SHARED_GROUP ptxi_group32
#define SHARED_GROUP_LANES PTXI_GROUP32
#define SHARED_BASE(l) (w->shared_origin + (uintptr_t)(intptr_t)i->imm)
#define SHARED_COVERS(s, n, access) shared_covers(w, i, (s).lo, (s).hi, n)
#define SHARED_SPACE PTXI_MS_SHARED

#define LOCAL_ADDRESS uint64_t
#define LOCAL_SPAN span64
#define LOCAL_IN_ROW in_row64
#define LOCAL_BASE(l) ((uintptr_t)w->local + (l) * w->local_stride + (uintptr_t)(intptr_t)i->imm)
#define OFFSETS_COVER(s, n, limit) ((int64_t)(s).lo >= 0 && (s).hi < (limit) && (int64_t)(s).lo + i->imm >= 0 && (s).hi + (int64_t)i->imm + (n) <= (limit))
/* The first store beyond what has been written takes the slow path, which notes it. */
#define LOCAL_COVERS(s, n, access) OFFSETS_COVER(s, n, access == PTXI_ACCESS_LOAD ? w->local_stride : w->local_written)
#define LOCAL_SPACE PTXI_MS_LOCAL

#define CONST_ADDRESS uint64_t
#define CONST_SPAN span64
#define CONST_IN_ROW in_row64
#define CONST_BASE(l) ((uintptr_t)w->cta->grid->program->const_bank + (uintptr_t)(intptr_t)i->imm)
#define CONST_COVERS(s, n, access) OFFSETS_COVER(s, n, w->cta->grid->program->const_size)
#define CONST_SPACE PTXI_MS_CONST

#define PARAM_ADDRESS uint64_t
#define PARAM_SPAN span64
#define PARAM_IN_ROW in_row64
#define PARAM_BASE(l) ((uintptr_t)w->cta->grid->params + (uintptr_t)(intptr_t)i->imm)
#define PARAM_COVERS(s, n, access) OFFSETS_COVER(s, n, w->cta->grid->code->param_bytes)
#define PARAM_SPACE PTXI_MS_PARAM

/* 16 bytes that the host reads and writes at once, where it has AVX. */
typedef uint64_t whole __attribute__((vector_size(16)));

/* Accesses that gather and scatter do: one element, as wide in memory as in the register. */
#define WHOLE(n, M, D, SPACE) (n == 1 && sizeof(M) == sizeof(D) && (sizeof(M) == 4 || sizeof(M) == 8) && SPACE != PTXI_MS_LOCAL)

/* Slots of a vector's elements, in order; of 32 bits, since gcc keeps 16 on the stack by a store of two bytes and a load of eight, and such a load
 * waits until all stores before it have reached the cache. */
#define LOAD_SLOTS_1 { i->d }
#define LOAD_SLOTS_2 { i->d, i->c }
#define LOAD_SLOTS_4 { i->d, i->b, i->c, i->mods }
#define STORE_SLOTS_1 { i->b }
#define STORE_SLOTS_2 { i->b, i->c }
#define STORE_SLOTS_4 { i->b, i->c, i->d, i->mods }

#define NOINLINE RACY static __attribute__((noinline))
#define ALIGNED(s, size) (!(((s).bits | (uint32_t)i->imm) & ((size)-1)))

/* One element of each lane in a row of memory; size bytes a lane. */
#define LOAD_ROW(D, M, slot, p, size)                      \
    do {                                                   \
        D *d_ = PTXI_SLOT(w, slot);                        \
        const unsigned char *p_ = (p);                     \
        FOR_LANES d_[l] = (D)LOAD_AS(M, p_ + l * (size));  \
    } while (0)

/* Any active lanes, any addresses. */
#define LOAD_ANYWHERE(space, SP, name, n, M, D)                                                                 \
    NOINLINE const struct ptxi_insn *anywhere_ld_##space##_##name(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                           \
        enum { SIZE = sizeof(M) * n };                                                                          \
        const uint32_t slots[n] = LOAD_SLOTS_##n;                                                               \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                             \
        struct span s = SP##_SPAN(a, w->active);                                                                \
        bool inside = ALIGNED(s, SIZE) && SP##_COVERS(s, SIZE, PTXI_ACCESS_LOAD);                               \
                                                                                                                \
        if (inside && s.lo == s.hi && PTXI_MS_LOCAL != SP##_SPACE) {                                            \
            const unsigned char *p = (const unsigned char *)(SP##_BASE(0) + s.lo);                              \
                                                                                                                \
            for (int e = 0; e < n; e++)                                                                         \
                if (n == 1 || slots[e] != PTXI_NO_SLOT) {                                                       \
                    D x = (D)LOAD_AS(M, p + e * sizeof(M)), *d = PTXI_SLOT(w, slots[e]);                        \
                                                                                                                \
                    WRITE_LANES(d, x);                                                                          \
                }                                                                                               \
            NEXT;                                                                                               \
        }                                                                                                       \
        if (inside && WHOLE(n, M, D, SP##_SPACE)) {                                                             \
            gather(PTXI_SLOT(w, i->d), SP##_BASE(0), a, w->active, sizeof(M), sizeof *a);                       \
            NEXT;                                                                                               \
        }                                                                                                       \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                                             \
            unsigned l = ptxi_first_lane(left);                                                                 \
            const unsigned char *p = inside ? (const unsigned char *)(SP##_BASE(l) + a[l])                      \
                                            : ptxi_mem_at(w, i, l, SP##_SPACE, a[l] + (SP##_ADDRESS)i->imm, SIZE, SIZE, PTXI_ACCESS_LOAD); \
                                                                                                                \
            if (!p)                                                                                             \
                return w->stop;                                                                                 \
            for (int e = 0; e < n; e++)                                                                         \
                if (n == 1 || slots[e] != PTXI_NO_SLOT)                                                         \
                    ((D *)PTXI_SLOT(w, slots[e]))[l] = (D)LOAD_AS(M, p + e * sizeof(M));                        \
        }                                                                                                       \
        NEXT;                                                                                                   \
    }

/* With the short way for lanes in a row. */
#define LOAD_FAST(space, SP, name, n, M, D)                                                             \
    LOAD_ANYWHERE(space, SP, name, n, M, D)                                                             \
    RACY OP( ld_##space##_##name )                                                                      \
    {                                                                                                   \
        enum { SIZE = sizeof(M) * n };                                                                  \
        const uint32_t slots[n] = LOAD_SLOTS_##n;                                                       \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                     \
        struct span s = { a[0], a[PTXI_LANES - 1], a[0] };                                              \
        const unsigned char *p = (const unsigned char *)(SP##_BASE(0) + a[0]);                          \
                                                                                                        \
        if (w->active != PTXI_ALL_LANES || !SP##_IN_ROW(a, SIZE) || !ALIGNED(s, SIZE) || s.hi < s.lo || \
            !SP##_COVERS(s, SIZE, PTXI_ACCESS_LOAD))                                                    \
            return anywhere_ld_##space##_##name(i, w);                                                  \
        for (int e = 0; e < n; e++)                                                                     \
            if (n == 1 || slots[e] != PTXI_NO_SLOT)                                                     \
                LOAD_ROW(D, M, slots[e], p + e * sizeof(M), SIZE);                                      \
        NEXT;                                                                                           \
    }

/* With the way for groups of lanes, too: registers of one element as wide as in memory. */
#define LOAD_GROUPED(space, SP, name, n, M, D)                                                          \
    LOAD_ANYWHERE(space, SP, name, n, M, D)                                                             \
    NOINLINE const struct ptxi_insn *groups_ld_##space##_##name(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                   \
        enum { G = SP##_GROUP_LANES, SIZE = sizeof(M) };                                                \
        typedef D group __attribute__((vector_size(G * sizeof(D)), may_alias));                         \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                     \
        group got[PTXI_LANES / G];                                                                      \
                                                                                                        \
        if (w->active != PTXI_ALL_LANES)                                                                \
            return anywhere_ld_##space##_##name(i, w);                                                  \
        for (int k = 0; k < PTXI_LANES / G; k++, a += G) {                                              \
            enum ptxi_group shape = SP##_GROUP(a, SIZE);                                                \
            struct span s = { a[0], a[G - 1], a[0] };                                                   \
            const unsigned char *p = (const unsigned char *)(SP##_BASE(0) + a[0]);                      \
                                                                                                        \
            if (shape == PTXI_GROUP_MIXED || !ALIGNED(s, SIZE) || s.hi < s.lo ||                        \
                !SP##_COVERS(s, SIZE, PTXI_ACCESS_LOAD))                                                \
                return anywhere_ld_##space##_##name(i, w);                                              \
            if (shape == PTXI_GROUP_ROW)                                                                \
                memcpy(&got[k], p, sizeof got[k]);                                                      \
            else                                                                                        \
                got[k] = LOAD_AS(M, p) - (group){ 0 };                                                  \
        }                                                                                               \
        memcpy(PTXI_SLOT(w, i->d), got, sizeof got);                                                    \
        NEXT;                                                                                           \
    }                                                                                                   \
    RACY OP( ld_##space##_##name )                                                                      \
    {                                                                                                   \
        enum { SIZE = sizeof(M) };                                                                      \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                     \
        struct span s = { a[0], a[PTXI_LANES - 1], a[0] };                                              \
                                                                                                        \
        if (w->active != PTXI_ALL_LANES || s.hi - s.lo != (PTXI_LANES - 1) * SIZE || s.hi < s.lo ||     \
            !SP##_IN_ROW(a, SIZE) || !ALIGNED(s, SIZE) || !SP##_COVERS(s, SIZE, PTXI_ACCESS_LOAD))      \
            return groups_ld_##space##_##name(i, w);                                                    \
        memcpy(PTXI_SLOT(w, i->d), (const void *)(SP##_BASE(0) + a[0]), PTXI_LANES * SIZE);             \
        NEXT;                                                                                           \
    }

#define LOAD_SLOW(space, SP, name, n, M, D)          \
    LOAD_ANYWHERE(space, SP, name, n, M, D)          \
    RACY OP( ld_##space##_##name )                   \
    {                                                \
        return anywhere_ld_##space##_##name(i, w);   \
    }

/* Which way each load may go: LOAD_ONE those of whole registers, LOAD others that are frequent. */
#define LOADS(LOAD, LOAD_ONE, space, SP) \
    LOAD(space, SP, u8_16, 1, uint8_t, uint16_t) \
    LOAD(space, SP, s8_16, 1, int8_t, int16_t) \
    LOAD_SLOW(space, SP, u8_32, 1, uint8_t, uint32_t) \
    LOAD_SLOW(space, SP, s8_32, 1, int8_t, int32_t) \
    LOAD_SLOW(space, SP, u8_64, 1, uint8_t, uint64_t) \
    LOAD_SLOW(space, SP, s8_64, 1, int8_t, int64_t) \
    LOAD_ONE(space, SP, 16, 1, uint16_t, uint16_t) \
    LOAD_SLOW(space, SP, u16_32, 1, uint16_t, uint32_t) \
    LOAD_SLOW(space, SP, s16_32, 1, int16_t, int32_t) \
    LOAD_SLOW(space, SP, u16_64, 1, uint16_t, uint64_t) \
    LOAD_SLOW(space, SP, s16_64, 1, int16_t, int64_t) \
    LOAD_ONE(space, SP, 32, 1, uint32_t, uint32_t) \
    LOAD_SLOW(space, SP, u32_64, 1, uint32_t, uint64_t) \
    LOAD_SLOW(space, SP, s32_64, 1, int32_t, int64_t) \
    LOAD_ONE(space, SP, 64, 1, uint64_t, uint64_t) \
    LOAD_SLOW(space, SP, 128, 1, whole, whole) \
    LOAD_SLOW(space, SP, v2_u8_16, 2, uint8_t, uint16_t) \
    LOAD(space, SP, v4_u8_16, 4, uint8_t, uint16_t) \
    LOAD_SLOW(space, SP, v2_s8_16, 2, int8_t, int16_t) \
    LOAD_SLOW(space, SP, v4_s8_16, 4, int8_t, int16_t) \
    LOAD(space, SP, v2_16, 2, uint16_t, uint16_t) \
    LOAD(space, SP, v4_16, 4, uint16_t, uint16_t) \
    LOAD(space, SP, v2_32, 2, uint32_t, uint32_t) \
    LOAD(space, SP, v4_32, 4, uint32_t, uint32_t) \
    LOAD(space, SP, v2_64, 2, uint64_t, uint64_t)

LOADS(LOAD_FAST, LOAD_GROUPED, global, GLOBAL)
LOADS(LOAD_FAST, LOAD_GROUPED, shared, SHARED)
LOADS(LOAD_SLOW, LOAD_GROUPED, generic, GENERIC)
LOADS(LOAD_SLOW, LOAD_SLOW, local, LOCAL)
LOADS(LOAD_SLOW, LOAD_SLOW, const, CONST)
LOADS(LOAD_SLOW, LOAD_SLOW, param, PARAM)

/* --- shared memory at addresses that do not change --- */

OP( shape )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    struct ptxi_shape *s = PTXI_SLOT(w, i->d);
    struct span all = span32(a, PTXI_ALL_LANES);

    *s = (struct ptxi_shape){ (uint32_t)all.lo, (uint32_t)all.hi, (uint32_t)all.bits, .usable = all.hi <= INT32_MAX };
    for (int k = 0; k < PTXI_LANES / PTXI_GROUP32; k++, a += PTXI_GROUP32) {
        enum ptxi_group shape = ptxi_group32(a, (unsigned)i->imm);

        s->usable &= shape != PTXI_GROUP_MIXED;
        s->row[k] = shape == PTXI_GROUP_ROW;
        s->first[k] = a[0];
    }
    NEXT;
}

#define LOAD_SHAPED(n, M)                                                                                    \
    RACY OP( ld_shared_##n##_shaped )                                                                        \
    {                                                                                                        \
        typedef M group __attribute__((vector_size(PTXI_GROUP32 * sizeof(M)), may_alias));                   \
        const struct ptxi_shape *s = PTXI_SLOT(w, i->b);                                                     \
        group *d = PTXI_SLOT(w, i->d);                                                                       \
                                                                                                             \
        if (w->active != PTXI_ALL_LANES || !s->usable || !ALIGNED(*s, sizeof(M)) || !SHARED_COVERS(*s, (int)sizeof(M), PTXI_ACCESS_LOAD)) \
            return PTXI_LEVELED(op_ld_shared_##n)(i, w);                                                     \
        for (int k = 0; k < PTXI_LANES / PTXI_GROUP32; k++) {                                                \
            const unsigned char *p = (const unsigned char *)(SHARED_BASE(0) + s->first[k]);                  \
                                                                                                             \
            if (s->row[k])                                                                                   \
                memcpy(&d[k], p, sizeof d[k]);                                                               \
            else                                                                                             \
                d[k] = LOAD_AS(M, p) - (group){ 0 };                                                         \
        }                                                                                                    \
        NEXT;                                                                                                \
    }
LOAD_SHAPED(32, uint32_t)
LOAD_SHAPED(64, uint64_t)

#define STORE_ROW(D, M, slot, p, size)                            \
    do {                                                          \
        const D *x_ = PTXI_SLOT(w, slot);                         \
        unsigned char *p_ = (p);                                  \
        FOR_LANES STORE_AS(M, p_ + l * (size), (M)x_[l]);         \
    } while (0)

/* So few lanes that a scatter, which takes the time of all, is slower than one after the other. */
#define IS_FEW(lanes) (__builtin_popcountll(lanes) <= 8)

#define STORE_ANYWHERE(space, SP, name, n, M, D)                                                                 \
    NOINLINE const struct ptxi_insn *anywhere_st_##space##_##name(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                            \
        enum { SIZE = sizeof(M) * n };                                                                           \
        const uint32_t slots[n] = STORE_SLOTS_##n;                                                               \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                              \
        struct span s = SP##_SPAN(a, w->active);                                                                 \
        bool inside = ALIGNED(s, SIZE) && SP##_COVERS(s, SIZE, PTXI_ACCESS_STORE);                               \
                                                                                                                 \
        if (inside && WHOLE(n, M, D, SP##_SPACE) && !IS_FEW(w->active)) {                                        \
            scatter(SP##_BASE(0), a, PTXI_SLOT(w, i->b), w->active, sizeof(M), sizeof *a);                       \
            NEXT;                                                                                                \
        }                                                                                                        \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                                              \
            unsigned l = ptxi_first_lane(left);                                                                  \
            unsigned char *p = inside ? (unsigned char *)(SP##_BASE(l) + a[l])                                   \
                                      : ptxi_mem_at(w, i, l, SP##_SPACE, a[l] + (SP##_ADDRESS)i->imm, SIZE, SIZE, PTXI_ACCESS_STORE); \
                                                                                                                 \
            if (!p)                                                                                              \
                return w->stop;                                                                                  \
            for (int e = 0; e < n; e++)                                                                          \
                STORE_AS(M, p + e * sizeof(M), (M)((const D *)PTXI_SLOT(w, slots[e]))[l]);                       \
        }                                                                                                        \
        NEXT;                                                                                                    \
    }

#define STORE_FAST(space, SP, name, n, M, D)                                                            \
    STORE_ANYWHERE(space, SP, name, n, M, D)                                                            \
    RACY OP( st_##space##_##name )                                                                      \
    {                                                                                                   \
        enum { SIZE = sizeof(M) * n };                                                                  \
        const uint32_t slots[n] = STORE_SLOTS_##n;                                                      \
        const SP##_ADDRESS *a = PTXI_SLOT(w, i->a);                                                     \
        struct span s = { a[0], a[PTXI_LANES - 1], a[0] };                                              \
        unsigned char *p = (unsigned char *)(SP##_BASE(0) + a[0]);                                      \
                                                                                                        \
        if (w->active != PTXI_ALL_LANES || !SP##_IN_ROW(a, SIZE) || !ALIGNED(s, SIZE) || s.hi < s.lo || \
            !SP##_COVERS(s, SIZE, PTXI_ACCESS_STORE))                                                   \
            return anywhere_st_##space##_##name(i, w);                                                  \
        for (int e = 0; e < n; e++)                                                                     \
            STORE_ROW(D, M, slots[e], p + e * sizeof(M), SIZE);                                         \
        NEXT;                                                                                           \
    }

#define STORE_SLOW(space, SP, name, n, M, D)         \
    STORE_ANYWHERE(space, SP, name, n, M, D)         \
    RACY OP( st_##space##_##name )                   \
    {                                                \
        return anywhere_st_##space##_##name(i, w);   \
    }

#define STORES(STORE, space, SP)                     \
    STORE(space, SP, 8, 1, uint8_t, uint16_t)        \
    STORE(space, SP, 16, 1, uint16_t, uint16_t)      \
    STORE(space, SP, 32, 1, uint32_t, uint32_t)      \
    STORE(space, SP, 64, 1, uint64_t, uint64_t)      \
    STORE(space, SP, 128, 1, whole, whole)           \
    STORE(space, SP, v2_8, 2, uint8_t, uint16_t)     \
    STORE(space, SP, v4_8, 4, uint8_t, uint16_t)     \
    STORE(space, SP, v2_16, 2, uint16_t, uint16_t)   \
    STORE(space, SP, v4_16, 4, uint16_t, uint16_t)   \
    STORE(space, SP, v2_32, 2, uint32_t, uint32_t)   \
    STORE(space, SP, v4_32, 4, uint32_t, uint32_t)   \
    STORE(space, SP, v2_64, 2, uint64_t, uint64_t)

STORES(STORE_FAST, global, GLOBAL)
STORES(STORE_FAST, shared, SHARED)
STORES(STORE_SLOW, generic, GENERIC)
STORES(STORE_SLOW, local, LOCAL)
