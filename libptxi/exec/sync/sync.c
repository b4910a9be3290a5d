/* Barriers, fences and the operations by which the lanes of a warp speak to each other: PTX ISA, "Parallel
 * Synchronization and Communication Instructions", "Data Movement and Conversion Instructions: shfl.sync". */
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "exec/sync/barrier.h"
#include "exec/sync/warp_collectives.h"
#include "exec/engine/engine.h"
#include "exec/engine/op_shapes.h"
#include "exec/engine/handler.h"
#include "exec/sync/lane_collectives.h"

/* Active lanes for which the operand in `slot` is another than for the first. */
static inline ptxi_lanes others(const struct ptxi_warp *w, unsigned slot, uint32_t *first)
{
    const uint32_t *v = PTXI_SLOT(w, slot);
    ptxi_lanes other = 0;

    *first = v[ptxi_first_lane(w->active)];
    for (int l = 0; l < PTXI_LANES; l++)
        other |= (ptxi_lanes)(v[l] != *first) << l;
    return other & w->active;
}

/* All that come to a barrier before it is complete have to name one count of threads. */
static inline bool is_agreed(const struct ptxi_warp *w, unsigned number, uint32_t threads)
{
    const struct ptxi_barrier *b = &w->cta->barriers[number];

    return !b->arrived || b->expected == threads;
}

/* Lanes that name different barriers part. */
static __attribute__((noinline)) const struct ptxi_insn *barrier(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_whole_warp *whole)
{
    uint32_t number, threads = 0;
    ptxi_lanes other = others(w, i->a, &number);

    if (i->b != PTXI_NO_SLOT)
        other |= others(w, i->b, &threads);
    if (number >= PTXI_BARRIERS)
        return ptxi_fault(w, i, PTXI_FK_BARRIER, w->active & ~other, number, 0, "its number is above 15");
    if (threads % 32)
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active & ~other, number, 0, "its thread count is no multiple of the warp size");
    if (whole == ptxi_cta_pass_by && !threads)
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active & ~other, number, 0, "a thread arrives at a barrier of 0 threads");
    if (w->split_count == 1 && !other && !is_agreed(w, number, threads))
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active, number, 0, "other warps wait there with another thread count");
    if (other)
        ptxi_split_off(w, i, other);
    return w->split_count == 1 ? whole(w, i, number, threads) : ptxi_leave_barrier(w, i, number);
}

/* Who comes first and who comes later have code of their own, without a jump in the latter's. */
#define BAR(name, whole)                                                                                  \
    OP( name )                                                                                            \
    {                                                                                                     \
        unsigned number = (uint32_t)i->imm & (PTXI_BARRIERS - 1);                                         \
        uint32_t threads = (uint32_t)i->imm >> PTXI_BAR_COUNT_SHIFT;                                      \
        const struct ptxi_barrier *b = &w->cta->barriers[number];                                         \
                                                                                                          \
        if (__builtin_expect(!(i->mods & PTXI_BAR_CONSTANT) || w->split_count != 1, 0))                   \
            return barrier(w, i, whole);                                                                  \
        if (__builtin_expect(!b->arrived, 0))                                                             \
            return whole(w, i, number, threads);                                                          \
        if (__builtin_expect(b->expected == threads, 1))                                                  \
            return whole(w, i, number, threads);                                                          \
        return barrier(w, i, whole);                                                                      \
    }
BAR( bar_sync, ptxi_cta_sync )
BAR( bar_arrive, ptxi_cta_pass_by )
BAR( bar_red_popc, ptxi_cta_red )
BAR( bar_red_and, ptxi_cta_red )
BAR( bar_red_or, ptxi_cta_red )
#undef BAR

OP( fence )
{
    (void)w;
    if (i->mods & 2)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_acq_rel);
    NEXT;
}

/* Lanes that the mask operand in `slot` names and that are not here; and, where lanes have parted, those that are here and not named by
 * their own. */
static inline ptxi_lanes missing(const struct ptxi_warp *w, unsigned slot)
{
    const uint32_t *mask;
    ptxi_lanes need = 0, named = 0;

    if (w->active == w->live || slot == PTXI_NO_SLOT)
        return 0;
    mask = PTXI_SLOT(w, slot);
    for (int l = 0; l < PTXI_LANES; l++)
        if (w->active >> l & 1) {
            need |= (ptxi_lanes)mask[l] << (l / 32 * 32);
            named |= (ptxi_lanes)(mask[l] >> l % 32 & 1) << l;
        }
    return (need & w->live & ~w->active) | (w->active & ~named);
}

static __attribute__((noinline)) const struct ptxi_insn *wait_for(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes more)
{
    if (more & w->active)
        return ptxi_fault(w, i, PTXI_FK_ILLEGAL, more & w->active, 0, 0, "the mask does not name the thread itself");
    return ptxi_leave_sync(w, i, more | w->active);
}

OP( bar_warp_sync )
{
    ptxi_lanes more = missing(w, i->a);

    atomic_thread_fence(memory_order_acq_rel);
    return more ? wait_for(w, i, more) : i + 1;
}

/* got[l] = a[from[l]], within warps of 32 */
static inline void pick(uint32_t *got, const uint32_t *a, const uint32_t *from)
{
#ifdef __AVX512F__
    for (int l = 0; l < PTXI_LANES; l += 16) {
        const uint32_t *warp = a + l / 32 * 32;
        __m512i x = _mm512_permutex2var_epi32(_mm512_load_si512(warp), _mm512_load_si512(from + l), _mm512_load_si512(warp + 16));

        _mm512_store_si512(got + l, x);
    }
#else
    for (int l = 0; l < PTXI_LANES; l++)
        got[l] = a[from[l]];
#endif
}

/* Lanes that are not there give 0 on an H200; to the PTX ISA the result is undefined. */
static __attribute__((noinline)) void pick_present(uint32_t *got, const uint32_t *a, const uint32_t *from, ptxi_lanes active)
{
    _Alignas(64) uint32_t present[PTXI_LANES] = { 0 };

    ptxi_merge(present, a, active, sizeof *present);
    pick(got, present, from);
}

#define SHFL(mode, MODE)                                                              \
    OP( shfl_##mode )                                                                 \
    {                                                                                 \
        unsigned to = (uint16_t)i->imm, mask = (uint32_t)i->imm >> 16;                \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        uint32_t *d = PTXI_SLOT(w, i->d);                                             \
        _Alignas(64) uint32_t from[PTXI_LANES], in[PTXI_LANES], got[PTXI_LANES];      \
        ptxi_lanes more = missing(w, mask), p = 0;                                    \
                                                                                      \
        if (more)                                                                     \
            return wait_for(w, i, more);                                              \
        FOR_LANES from[l] = ptxi_shfl_source(MODE, (uint32_t)l, b[l], c[l], &in[l]);  \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1))                         \
            pick(got, a, from);                                                       \
        else                                                                          \
            pick_present(got, a, from, w->active);                                    \
        WRITE_LANES(d, got[l]);                                                       \
        if (to != PTXI_NO_SLOT) {                                                     \
            for (int l = 0; l < PTXI_LANES; l++)                                      \
                p |= (ptxi_lanes)(in[l] & 1) << l;                                    \
            ptxi_set_pred(w, to, p);                                                  \
        }                                                                             \
        NEXT;                                                                         \
    }

SHFL( up, PTXI_SHFL_UP )
SHFL( down, PTXI_SHFL_DOWN )
SHFL( bfly, PTXI_SHFL_BFLY )
SHFL( idx, PTXI_SHFL_IDX )

/* The lanes with which lane l votes: those its mask names, or all active ones. */
static inline ptxi_lanes voters(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    ptxi_lanes warp32 = (ptxi_lanes)UINT32_MAX << (l / 32 * 32);

    if (i->b == PTXI_NO_SLOT)
        return w->active & warp32;
    return w->active & (ptxi_lanes)((const uint32_t *)PTXI_SLOT(w, i->b))[l] << (l / 32 * 32);
}

/* Whether all of them vote with the same lanes, *group. */
static inline bool vote_together(const struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes *group)
{
    uint32_t mask = UINT32_MAX;

    if (PTXI_WARP32S > 1 || (i->b != PTXI_NO_SLOT && others(w, i->b, &mask)))
        return false;
    *group = w->active & mask;
    return true;
}

static inline ptxi_lanes votes(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->mods & PTXI_MOD_NOT_C ? ~ptxi_pred(w, i->a) : ptxi_pred(w, i->a);
}

#define VOTE_PRED(mode, MODE)                                                      \
    OP( vote_##mode )                                                              \
    {                                                                              \
        ptxi_lanes more = missing(w, i->b), yes = votes(w, i), out = 0, group;     \
                                                                                   \
        if (more)                                                                  \
            return wait_for(w, i, more);                                           \
        if (vote_together(w, i, &group)) {                                         \
            ptxi_set_pred(w, i->d, ptxi_vote(MODE, group, yes) ? w->active : 0);   \
            NEXT;                                                                  \
        }                                                                          \
        for (ptxi_lanes left = w->active; left; left &= left - 1) {                \
            unsigned l = ptxi_first_lane(left);                                    \
                                                                                   \
            out |= (ptxi_lanes)ptxi_vote(MODE, voters(w, i, l), yes) << l;         \
        }                                                                          \
        ptxi_set_pred(w, i->d, out);                                               \
        NEXT;                                                                      \
    }

VOTE_PRED( all, PTXI_VOTE_ALL )
VOTE_PRED( any, PTXI_VOTE_ANY )
VOTE_PRED( uni, PTXI_VOTE_UNI )

OP( vote_ballot )
{
    ptxi_lanes more = missing(w, i->b), yes = votes(w, i), group;
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (more)
        return wait_for(w, i, more);
    if (vote_together(w, i, &group)) {
        WRITE_LANES(d, (uint32_t)(group & yes));
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        d[l] = (uint32_t)((voters(w, i, l) & yes) >> (l / 32 * 32));
    }
    NEXT;
}

OP( activemask )
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, (uint32_t)(w->active >> (l / 32 * 32)));
    NEXT;
}

static const struct ptxi_insn *collective(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes more = missing(w, i->b), p;
    _Alignas(64) uint32_t d[PTXI_LANES];

    if (more)
        return wait_for(w, i, more);
    ptxi_collective(i, i->a == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), w->active, d, &p);
    ptxi_merge(PTXI_SLOT(w, i->d), d, w->active, sizeof *d);
    if ((uint16_t)i->imm != PTXI_NO_SLOT)
        ptxi_set_pred(w, (uint16_t)i->imm, p);
    NEXT;
}

/* The usual case: the lanes that are here ask about all of them. */
static inline bool ask_together(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes group;

    return !missing(w, i->b) && vote_together(w, i, &group) && group == w->active;
}

/* For each lane those that hold what it holds. */
#if defined(__AVX512F__)
#define ADD_EQUAL(n, sum, x, value, bit) \
    _mm512_mask_or_epi##n(sum, _mm512_cmpeq_epi##n##_mask(x, _mm512_set1_epi##n((int##n##_t)(value))), sum, _mm512_set1_epi##n((int##n##_t)(bit)))
#define VECTOR_OF(n) __m512i
#else
#define ADD_EQUAL(n, sum, x, value, bit) ((sum) | ((vec)((x) == (vec){ 0 } + (value)) & (bit)))
#define VECTOR_OF(n) uint##n##_t __attribute__((vector_size(LANE_VECTOR), may_alias))
#endif
#define EQUAL_LANES(n)                                                                                   \
    static __attribute__((noinline)) void equal_lanes_##n(uint32_t *d, const uint##n##_t *a)             \
    {                                                                                                    \
        typedef VECTOR_OF(n) vec;                                                                        \
        LANE_ARRAY(uint##n##_t, equal);                                                                  \
        LANE_ARRAY(uint##n##_t, bit);                                                                    \
                                                                                                         \
        FOR_LANES bit[l] = (uint##n##_t)1 << l % 32;                                                     \
        for (unsigned k = 0; k < sizeof equal / (sizeof(vec)); k++) {                                    \
            vec x = ((const vec *)a)[k], sum = { 0 };                                                    \
                                                                                                         \
            UNROLLED for (int l = 0; l < 32; l++)                                                        \
                sum = ADD_EQUAL(n, sum, x, a[l], bit[l]);                                                \
            ((vec *)equal)[k] = sum;                                                                     \
        }                                                                                                \
        FOR_LANES d[l] = (uint32_t)equal[l];                                                             \
    }
EQUAL_LANES(32)
EQUAL_LANES(64)
#undef EQUAL_LANES
#undef VECTOR_OF
#undef ADD_EQUAL

/* Group after group as long as they are large: they mostly are, or each lane is alone. */
enum { LARGE_GROUP = 4 };

#define MATCH_ANY(n)                                                                                     \
    OP( match_any_b##n )                                                                                 \
    {                                                                                                    \
        const uint##n##_t *a = PTXI_SLOT(w, i->a);                                                       \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                \
        LANE_ARRAY(uint32_t, equal) = { 0 };                                                             \
                                                                                                         \
        if (!ask_together(w, i) || (uint16_t)i->imm != PTXI_NO_SLOT)                                     \
            return collective(w, i);                                                                     \
        for (ptxi_lanes left = w->active, group; left; left &= ~group) {                                 \
            uint##n##_t value = a[ptxi_first_lane(left)];                                                \
                                                                                                         \
            COMPARE_##n(group, uint##n##_t, a, a, x == value);                                           \
            group &= w->active;                                                                          \
            if (group != left && __builtin_popcountll(group) < LARGE_GROUP) {                            \
                equal_lanes_##n(equal, a);                                                               \
                break;                                                                                   \
            }                                                                                            \
            FOR_LANES equal[l] = a[l] == value ? (uint32_t)group : equal[l];                             \
        }                                                                                                \
        WRITE_LANES(d, equal[l] & (uint32_t)w->active);                                                  \
        NEXT;                                                                                            \
    }
MATCH_ANY(32)
MATCH_ANY(64)
#undef MATCH_ANY

#define REDUX(name, type, neutral, expr)                                                                 \
    OP( redux_##name )                                                                                   \
    {                                                                                                    \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                \
        LANE_ARRAY(type, v);                                                                             \
        type x = (neutral);                                                                              \
                                                                                                         \
        if (!ask_together(w, i))                                                                         \
            return collective(w, i);                                                                     \
        FOR_LANES v[l] = (neutral);                                                                      \
        ptxi_merge(v, PTXI_SLOT(w, i->a), w->active, sizeof *v);                                         \
        for (int l = 0; l < PTXI_LANES; l++) {                                                           \
            type y = v[l];                                                                               \
                                                                                                         \
            x = (expr);                                                                                  \
        }                                                                                                \
        WRITE_LANES(d, (uint32_t)x);                                                                     \
        NEXT;                                                                                            \
    }
PTXI_REDUX_INT(REDUX)
#undef REDUX

#define COLLECTIVE(name) OP( name ) { return collective(w, i); }
COLLECTIVE(redux_min_f32) COLLECTIVE(redux_max_f32) COLLECTIVE(redux_min_abs_f32) COLLECTIVE(redux_max_abs_f32)
COLLECTIVE(match_all_b32) COLLECTIVE(match_all_b64)
COLLECTIVE(elect)
