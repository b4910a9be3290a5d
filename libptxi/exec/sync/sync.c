/* Handlers of barriers, fences and operations between the lanes of a warp: PTX ISA, "Parallel Synchronization and
 * Communication Instructions", "Data Movement and Conversion Instructions: shfl.sync". */
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "exec/engine/divergence.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"
#include "exec/sync/barrier.h"
#include "exec/sync/cluster_barrier.h"
#include "exec/sync/lane_collectives.h"
#include "exec/sync/warp_collectives.h"
#include "exec/sync/warp_sync.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Active lanes with an operand in `slot` that differs from the one of the first active lane, *first. */
static inline ptxi_lanes differing_lanes(const struct ptxi_warp *w, unsigned slot, uint32_t *first)
{
    const uint32_t *v = PTXI_SLOT(w, slot);
    ptxi_lanes other = 0;

    *first = v[ptxi_first_lane(w->active)];
    for (int l = 0; l < PTXI_LANES; l++)
        other |= (ptxi_lanes)(v[l] != *first) << l;
    return other & w->active;
}

/* --- CTA barriers --- */

/* All threads that arrive before a barrier is complete must give the same thread count. */
static inline bool has_same_count(const struct ptxi_warp *w, unsigned number, uint32_t threads)
{
    const struct ptxi_barrier *b = &w->cta->barriers[number];

    return !b->arrived || b->expected == threads;
}

/* The general case. Lanes that give different barriers or thread counts split off. */
static __attribute__((noinline)) const struct ptxi_insn *bar_general(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                                     ptxi_barrier_op *op)
{
    uint32_t number, threads = 0;
    ptxi_lanes other = differing_lanes(w, i->a, &number);

    if (i->b != PTXI_NO_SLOT)
        other |= differing_lanes(w, i->b, &threads);
    if (number >= PTXI_BARRIERS)
        return ptxi_fault(w, i, PTXI_FK_BARRIER, w->active & ~other, number, 0, "the barrier number is above 15");
    if (threads % 32)
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active & ~other, number, 0,
                          "the thread count is not a multiple of the warp size");
    if (op == ptxi_barrier_arrive && !threads)
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active & ~other, number, 0,
                          "the thread count of an arrival is 0");
    if (w->split_count == 1 && !other && !has_same_count(w, number, threads))
        return ptxi_fault(w, i, PTXI_FK_BARRIER_USE, w->active, number, 0,
                          "other warps at the barrier have given another thread count");
    if (other)
        ptxi_split_off(w, i, other);
    return w->split_count == 1 ? op(w, i, number, threads) : ptxi_leave_barrier(w, i, number);
}

/* The first and later arrivals have code of their own, so that the latter's has no jump. */
ALWAYS_INLINE const struct ptxi_insn *bar(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_barrier_op *op)
{
    unsigned number = (uint32_t)i->imm & (PTXI_BARRIERS - 1);
    uint32_t threads = (uint32_t)i->imm >> PTXI_BAR_COUNT_SHIFT;
    const struct ptxi_barrier *b = &w->cta->barriers[number];

    if (__builtin_expect(!(i->mods & PTXI_BAR_CONSTANT) || w->split_count != 1, 0))
        return bar_general(w, i, op);
    if (__builtin_expect(!b->arrived, 0))
        return op(w, i, number, threads);
    if (__builtin_expect(b->expected == threads, 1))
        return op(w, i, number, threads);
    return bar_general(w, i, op);
}

OP( bar_sync ) { return bar(w, i, ptxi_barrier_sync); }
OP( bar_arrive ) { return bar(w, i, ptxi_barrier_arrive); }
OP( bar_red_popc ) { return bar(w, i, ptxi_barrier_red); }
OP( bar_red_and ) { return bar(w, i, ptxi_barrier_red); }
OP( bar_red_or ) { return bar(w, i, ptxi_barrier_red); }

OP( cluster_arrive ) { return ptxi_cluster_barrier_arrive(w, i); }
OP( cluster_wait ) { return ptxi_cluster_barrier_wait(w, i); }

OP( fence )
{
    (void)w;
    if (i->mods & 2)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_acq_rel);
    NEXT;
}

/* --- .sync instructions --- */

/* Lanes that the active lanes must wait for according to the mask operand in `slot`. If the warp has diverged, the
 * result includes active lanes that are not in their own mask. */
static inline ptxi_lanes missing_lanes(const struct ptxi_warp *w, unsigned slot)
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

static __attribute__((noinline)) const struct ptxi_insn *wait_for_lanes(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                                        ptxi_lanes missing)
{
    if (missing & w->active)
        return ptxi_fault(w, i, PTXI_FK_ILLEGAL, missing & w->active, 0, 0,
                          "the mask does not include the thread itself");
    return ptxi_warp_sync_wait(w, i, missing | w->active);
}

OP( bar_warp_sync )
{
    ptxi_lanes missing = missing_lanes(w, i->a);

    atomic_thread_fence(memory_order_acq_rel);
    return missing ? wait_for_lanes(w, i, missing) : i + 1;
}

/* result[l] = a[from[l]], within warps of 32 */
static inline void permute(uint32_t *result, const uint32_t *a, const uint32_t *from)
{
#ifdef __AVX512F__
    for (int l = 0; l < PTXI_LANES; l += 16) {
        const uint32_t *warp = a + l / 32 * 32;
        __m512i x = _mm512_permutex2var_epi32(_mm512_load_si512(warp), _mm512_load_si512(from + l),
                                              _mm512_load_si512(warp + 16));

        _mm512_store_si512(result + l, x);
    }
#elif defined(__AVX2__)
    /* The lower three bits select an element of each quarter of a warp, the next two bits the quarter. */
    for (int l = 0; l < PTXI_LANES; l += 8) {
        const __m256i *warp = (const __m256i *)(a + l / 32 * 32), which = *(const __m256i *)(from + l);
        const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(which, 28));
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(which, 27));
        __m256 quarter[4], low, high;

        for (int k = 0; k < 4; k++)
            quarter[k] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(warp[k], which));
        low = _mm256_blendv_ps(quarter[0], quarter[1], odd);
        high = _mm256_blendv_ps(quarter[2], quarter[3], odd);
        _mm256_store_ps((float *)(result + l), _mm256_blendv_ps(low, high, upper));
    }
#else
    for (int l = 0; l < PTXI_LANES; l++)
        result[l] = a[from[l]];
#endif
}

/* Inactive lanes give 0, as on an H200. The PTX ISA leaves the result undefined. */
static __attribute__((noinline)) void permute_active(uint32_t *result, const uint32_t *a, const uint32_t *from,
                                                     ptxi_lanes active)
{
    _Alignas(64) uint32_t present[PTXI_LANES] = { 0 };

    ptxi_masked_write(present, a, active, sizeof *present);
    permute(result, present, from);
}

ALWAYS_INLINE const struct ptxi_insn *shfl(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_shfl_mode mode)
{
    unsigned pred_slot = (uint16_t)i->imm, mask_slot = (uint32_t)i->imm >> 16;
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);
    _Alignas(64) uint32_t from[PTXI_LANES], in_range[PTXI_LANES], result[PTXI_LANES];
    ptxi_lanes missing = missing_lanes(w, mask_slot), p = 0;

    if (missing)
        return wait_for_lanes(w, i, missing);
    FOR_LANES from[l] = ptxi_shfl_source(mode, (uint32_t)l, b[l], c[l], &in_range[l]);
    if (__builtin_expect(w->active == PTXI_ALL_LANES, 1))
        permute(result, a, from);
    else
        permute_active(result, a, from, w->active);
    WRITE_LANES(d, result[l]);
    if (pred_slot != PTXI_NO_SLOT) {
        for (int l = 0; l < PTXI_LANES; l++)
            p |= (ptxi_lanes)(in_range[l] & 1) << l;
        ptxi_set_pred(w, pred_slot, p);
    }
    NEXT;
}

OP( shfl_up ) { return shfl(w, i, PTXI_SHFL_UP); }
OP( shfl_down ) { return shfl(w, i, PTXI_SHFL_DOWN); }
OP( shfl_bfly ) { return shfl(w, i, PTXI_SHFL_BFLY); }
OP( shfl_idx ) { return shfl(w, i, PTXI_SHFL_IDX); }

/* The lanes with which lane l votes: those in its mask, or, without a mask, all active ones. */
static inline ptxi_lanes voters_of(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l)
{
    ptxi_lanes warp32 = (ptxi_lanes)UINT32_MAX << (l / 32 * 32);

    if (i->b == PTXI_NO_SLOT)
        return w->active & warp32;
    return w->active & (ptxi_lanes)((const uint32_t *)PTXI_SLOT(w, i->b))[l] << (l / 32 * 32);
}

/* Whether all active lanes have the same group of participating lanes, *group. */
static inline bool has_one_group(const struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes *group)
{
    uint32_t mask = UINT32_MAX;

    if (PTXI_WARP32S > 1 || (i->b != PTXI_NO_SLOT && differing_lanes(w, i->b, &mask)))
        return false;
    *group = w->active & mask;
    return true;
}

/* The lanes with a true predicate. */
static inline ptxi_lanes yes_votes(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return i->mods & PTXI_MOD_NOT_C ? ~ptxi_pred(w, i->a) : ptxi_pred(w, i->a);
}

ALWAYS_INLINE const struct ptxi_insn *vote(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_vote_mode mode)
{
    ptxi_lanes missing = missing_lanes(w, i->b), yes = yes_votes(w, i), out = 0, group;

    if (missing)
        return wait_for_lanes(w, i, missing);
    if (has_one_group(w, i, &group)) {
        ptxi_set_pred(w, i->d, ptxi_vote(mode, group, yes) ? w->active : 0);
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        out |= (ptxi_lanes)ptxi_vote(mode, voters_of(w, i, l), yes) << l;
    }
    ptxi_set_pred(w, i->d, out);
    NEXT;
}

OP( vote_all ) { return vote(w, i, PTXI_VOTE_ALL); }
OP( vote_any ) { return vote(w, i, PTXI_VOTE_ANY); }
OP( vote_uni ) { return vote(w, i, PTXI_VOTE_UNI); }

OP( vote_ballot )
{
    ptxi_lanes missing = missing_lanes(w, i->b), yes = yes_votes(w, i), group;
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (missing)
        return wait_for_lanes(w, i, missing);
    if (has_one_group(w, i, &group)) {
        WRITE_LANES(d, (uint32_t)(group & yes));
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        d[l] = (uint32_t)((voters_of(w, i, l) & yes) >> (l / 32 * 32));
    }
    NEXT;
}

OP( activemask )
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, (uint32_t)(w->active >> (l / 32 * 32)));
    NEXT;
}

/* --- match, redux and elect --- */

/* The general case: any groups of lanes. */
static const struct ptxi_insn *collective(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes missing = missing_lanes(w, i->b), p;
    _Alignas(64) uint32_t d[PTXI_LANES];

    if (missing)
        return wait_for_lanes(w, i, missing);
    ptxi_warp_collective(i, i->a == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), w->active, d, &p);
    ptxi_masked_write(PTXI_SLOT(w, i->d), d, w->active, sizeof *d);
    if ((uint16_t)i->imm != PTXI_NO_SLOT)
        ptxi_set_pred(w, (uint16_t)i->imm, p);
    NEXT;
}

/* The usual case: the active lanes are one group, and none is missing. */
static inline bool is_one_group(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes group;

    return !missing_lanes(w, i->b) && has_one_group(w, i, &group) && group == w->active;
}

/* d[l] = mask of the lanes that have the same value as lane l. */
#if defined(__AVX512F__)
#define SPLAT(n, value) _mm512_set1_epi##n((int##n##_t)(value))
#define ADD_EQUAL(n, sum, x, value, bit) \
    _mm512_mask_or_epi##n(sum, _mm512_cmpeq_epi##n##_mask(x, SPLAT(n, value)), sum, SPLAT(n, bit))
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
#undef SPLAT

/* match.any goes through the groups of equal values while they are large. Usually groups are large, or all lanes
 * differ. */
enum { LARGE_GROUP = 4 };

#define MATCH_ANY(n)                                                                                     \
    OP( match_any_b##n )                                                                                 \
    {                                                                                                    \
        const uint##n##_t *a = PTXI_SLOT(w, i->a);                                                       \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                \
        LANE_ARRAY(uint32_t, equal) = { 0 };                                                             \
                                                                                                         \
        if (!is_one_group(w, i) || (uint16_t)i->imm != PTXI_NO_SLOT)                                     \
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

#define REDUX(name, type, neutral, expr)                                \
    OP( redux_##name )                                                  \
    {                                                                   \
        uint32_t *d = PTXI_SLOT(w, i->d);                               \
        LANE_ARRAY(type, v);                                            \
        type x = (neutral);                                             \
                                                                        \
        if (!is_one_group(w, i))                                        \
            return collective(w, i);                                    \
        FOR_LANES v[l] = (neutral);                                     \
        ptxi_masked_write(v, PTXI_SLOT(w, i->a), w->active, sizeof *v); \
        for (int l = 0; l < PTXI_LANES; l++) {                          \
            type y = v[l];                                              \
                                                                        \
            x = (expr);                                                 \
        }                                                               \
        WRITE_LANES(d, (uint32_t)x);                                    \
        NEXT;                                                           \
    }
PTXI_REDUX_INT(REDUX)
#undef REDUX

#define COLLECTIVE(name) OP( name ) { return collective(w, i); }
COLLECTIVE(redux_min_f32) COLLECTIVE(redux_max_f32) COLLECTIVE(redux_min_abs_f32) COLLECTIVE(redux_max_abs_f32)
COLLECTIVE(match_all_b32) COLLECTIVE(match_all_b64)
COLLECTIVE(elect)
