/* The operation that records an access to global memory. */
#include <string.h>

#include "exec/engine/address_space.h"
#include "exec/engine/cta.h"
#include "exec/engine/handler.h"
#include "exec/engine/simd.h"
#include "exec/memory/access.h"
#include "exec/memory/address_register.h"
#include "exec/track/track.h"

/* The first address and the bytes of a row of elements of neighbouring lanes, or of one element of all lanes. */
static inline bool find_row(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t *address, uint64_t *bytes)
{
    const uint32_t size = i->mods & PTXI_CHECK_BYTES;
    uint64_t stride;

    if (!ptxi_find_row(w, i, i->mods & PTXI_CHECK_ROW, address, &stride))
        return false;
    *bytes = stride ? size * (uint64_t)__builtin_popcountll(w->active) : size;
    return (!stride || stride == size) && *address + *bytes <= PTXI_SHARED_WINDOW;
}

static uint64_t element(const void *slot, uint32_t size, unsigned l)
{
    switch (size) {
    case 2: return ((const uint16_t *)slot)[l];
    case 4: return ((const uint32_t *)slot)[l];
    default: return ((const uint64_t *)slot)[l];
    }
}

static bool is_exchange(uint16_t op)
{
    return op == PTXI_OP_atom_exch_b32 || op == PTXI_OP_atom_exch_b64 || op == PTXI_OP_atom_exch_b128;
}

/* The instruction that the operation describes. */
static const struct ptxi_insn *described(const struct ptxi_insn *i)
{
    return i[1].op == PTXI_OP_guard ? i + 2 : i + 1;
}

typedef uint32_t eight __attribute__((vector_size(32), aligned(4)));

/* Records reads of eight words of memory, but not of bytes that were written before. Another worker that changes a word
 * at the same time sets some of the same bits. */
RACY static inline void read_eight(uint32_t *reads, const uint32_t *writes, uint32_t word)
{
    const eight before = *(const eight *)reads;
    const eight missing = ~*(const eight *)writes & ~before & PTXI_TRACK_MASK;
    const eight changed = (eight)(missing != 0);

    *(eight *)reads = (changed & (((before & PTXI_TRACK_MASK) | missing) + (word & ~(uint32_t)PTXI_TRACK_MASK))) |
                      (~changed & before);
}

/* Records reads of whole words of a page. False: it is something else. */
RACY static inline bool read_words(const struct ptxi_warp *w, uint64_t address, uint64_t bytes, uint32_t place)
{
    const uint64_t offset = address % PTXI_TRACK_PAGE;
    struct ptxi_track_page *p;
    uint32_t *reads, *writes;

    if (offset % 8 || bytes % 64 || offset + bytes > PTXI_TRACK_PAGE || !(p = ptxi_track_page(w, address)) ||
        !(reads = ptxi_track_words(w->cta->grid->tracker, p, PTXI_TRACK_READ)))
        return false;
    writes = p->words[PTXI_TRACK_WRITE];
    for (uint64_t at = offset / 8; at < (offset + bytes) / 8; at += 8)
        read_eight(reads + at, writes + at, place << PTXI_TRACK_PLACE | PTXI_TRACK_MASK);
    return true;
}

/* The addresses of the active lanes, among others. */
static inline const uint64_t *addresses_of(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t *buffer)
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);

    if (!(i->mods & PTXI_CHECK_ROW))
        return (const void *)a;
    return ptxi_row_lanes(&a->row) & w->active ? ptxi_address_lanes(a, buffer) : a->lanes;
}

/* is_packed: whether the elements of the active lanes follow each other.
 * find_starts: the active lanes whose element does not follow that of the active lane before.
 * Both load what was stored as vectors: the same vectors, or parts of one. Other loads wait for the stores. */
#if defined(__AVX512F__)
static bool is_packed(const struct ptxi_warp *w, const uint64_t *addresses, uint32_t size)
{
    const __m512i steps = _mm512_sll_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                           _mm_cvtsi32_si128(__builtin_ctz(size))); /* it is a power of two */
    uint64_t next = addresses[ptxi_first_lane(w->active)];
    __mmask8 others = 0;

    for (unsigned group = 0; group < PTXI_LANES; group += 8) {
        const __mmask8 active = (__mmask8)(w->active >> group);
        const unsigned count = (unsigned)__builtin_popcount(active);
        const __m512i packed = _mm512_maskz_compress_epi64(active, _mm512_loadu_si512(addresses + group));

        others |= _mm512_mask_cmpneq_epi64_mask((__mmask8)((1 << count) - 1), packed,
                                                _mm512_add_epi64(_mm512_set1_epi64((int64_t)next), steps));
        next += count * size;
    }
    return !others;
}

static ptxi_lanes find_starts_of_all(const uint64_t *addresses, uint32_t size)
{
    const __m512i step = _mm512_set1_epi64(size);
    __m512i before = _mm512_setzero_si512();
    ptxi_lanes starts = 1;

    for (unsigned group = 0; group < PTXI_LANES; group += 8) {
        const __m512i at = _mm512_loadu_si512(addresses + group);
        const __m512i end = _mm512_add_epi64(_mm512_alignr_epi64(at, before, 7), step);

        starts |= (ptxi_lanes)_mm512_cmpneq_epi64_mask(at, end) << group;
        before = at;
    }
    return starts | 1;
}
#else
typedef uint64_t four_words __attribute__((vector_size(32)));

/* For four lanes, by the active ones: how many are before each; all bits of the words of active ones. */
#define BIT(m, l) ((uint64_t)((m) >> (l)&1))
#define FOUR(m)                                                                                     \
    {                                                                                               \
        { 0, BIT(m, 0), BIT(m, 0) + BIT(m, 1), BIT(m, 0) + BIT(m, 1) + BIT(m, 2) },                 \
            { -BIT(m, 0), -BIT(m, 1), -BIT(m, 2), -BIT(m, 3) },                                     \
    }
static const struct {
    four_words before, words;
} four_lanes[16] = { FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7), FOUR(8), FOUR(9),
                     FOUR(10), FOUR(11), FOUR(12), FOUR(13), FOUR(14), FOUR(15) };
#undef FOUR
#undef BIT

static bool is_packed(const struct ptxi_warp *w, const uint64_t *addresses, uint32_t size)
{
    const int shift = __builtin_ctz(size); /* `size` is a power of two */
    uint64_t next = addresses[ptxi_first_lane(w->active)];
    four_words others = { 0 };

    for (unsigned group = 0; group < PTXI_LANES; group += 4) {
        const unsigned active = (unsigned)(w->active >> group) & 15;
        four_words at;

        memcpy(&at, addresses + group, sizeof at);
        others |= (at ^ (next + (four_lanes[active].before << shift))) & four_lanes[active].words;
        next += (uint64_t)__builtin_popcount(active) << shift;
    }
    return !(others[0] | others[1] | others[2] | others[3]);
}

static ptxi_lanes find_starts_of_all(const uint64_t *addresses, uint32_t size)
{
    ptxi_lanes starts = 1;

    for (unsigned l = 1; l < PTXI_LANES; l++)
        starts |= (ptxi_lanes)(addresses[l] - addresses[l - 1] != size) << l;
    return starts;
}
#endif

static ptxi_lanes find_starts(const struct ptxi_warp *w, const uint64_t *addresses, uint32_t size)
{
    uint64_t end = addresses[ptxi_first_lane(w->active)] - 1;
    ptxi_lanes starts = 0;

    if (is_packed(w, addresses, size))
        return w->active & -w->active;
    if (w->active == PTXI_ALL_LANES)
        return find_starts_of_all(addresses, size);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        const unsigned l = ptxi_first_lane(left);

        starts |= (ptxi_lanes)(addresses[l] != end) << l;
        end = addresses[l] + size;
    }
    return starts;
}

/* Records an access of each lane. Elements that follow each other are recorded at once. The launch fails at an address
 * that is misaligned or outside of memory, so what is recorded then does not matter. */
static __attribute__((noinline)) void track_lanes(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    _Alignas(64) uint64_t buffer[PTXI_LANES];
    const uint64_t *addresses = addresses_of(w, i, buffer);
    const uint32_t size = i->mods & PTXI_CHECK_BYTES, place = i->b | (uint32_t)i->c << 16;
    const enum ptxi_track_kind kind = i->mods & PTXI_CHECK_WRITE ? PTXI_TRACK_WRITE : PTXI_TRACK_READ;
    const bool is_noted = kind == PTXI_TRACK_WRITE && !((struct ptxi_tracker_head *)w->cta->grid->tracker)->reads;

    for (ptxi_lanes left = find_starts(w, addresses, size), next; left; left = next) {
        const unsigned first = ptxi_first_lane(left);
        const uint64_t address = addresses[first] + (uint64_t)(int64_t)i->imm;

        next = left & (left - 1);
        const ptxi_lanes before = next ? (next & -next) - 1 : ~(ptxi_lanes)0;
        const uint32_t bytes = size * (uint32_t)__builtin_popcountll(w->active & before & ~(ptxi_lanes)0 << first);

        if (is_noted)
            ptxi_track_note(w, address, bytes, place);
        else if (address < PTXI_SHARED_WINDOW && address + bytes <= PTXI_SHARED_WINDOW)
            ptxi_track_range(w, kind, address, bytes, place);
    }
}

/* The same for atomic operations. */
static __attribute__((noinline)) void track_atomics(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    _Alignas(64) uint64_t buffer[PTXI_LANES];
    const uint64_t *addresses = addresses_of(w, i, buffer);
    const struct ptxi_insn *real = described(i);
    const uint32_t size = i->mods & PTXI_CHECK_BYTES, place = i->b | (uint32_t)i->c << 16;
    const enum ptxi_track_kind kind = i->mods & PTXI_CHECK_WRITE ? PTXI_TRACK_WRITE : PTXI_TRACK_READ;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = addresses[l] + (uint64_t)(int64_t)i->imm;

        if (address >= PTXI_SHARED_WINDOW)
            continue;
        if (is_exchange(real->op))
            ptxi_track_range(w, kind, address, size, place);
        else if (!(address & (size - 1)) && !ptxi_track_is_recorded(w, address, size, real->op, place))
            ptxi_track_reduce(w, address, size, real->op, element(PTXI_SLOT(w, real->b), size, l), place);
    }
}

OP( track_access )
{
    bool atomic = (i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3) == PTXI_CHECK_ATOMIC;
    uint64_t address, bytes;

    if (__builtin_expect(!w->cta->grid->tracker, 0))
        NEXT;
    if (atomic) {
        track_atomics(w, i);
    } else if (find_row(w, i, &address, &bytes)) {
        uint32_t place = i->b | (uint32_t)i->c << 16;

        if (i->mods & PTXI_CHECK_WRITE)
            ptxi_track_range(w, PTXI_TRACK_WRITE, address, bytes, place);
        else if (!read_words(w, address, bytes, place))
            ptxi_track_range(w, PTXI_TRACK_READ, address, bytes, place);
    } else {
        track_lanes(w, i);
    }
    NEXT;
}

OP( track_row )
{
    const struct ptxi_lane_row *row = PTXI_SLOT(w, i->a);
    const uint64_t address = row->first + (uint64_t)(int64_t)i->imm;
    const uint32_t place = i->b | (uint32_t)i->c << 16;
    struct ptxi_track_ranges *r = w->noted;

    if (__builtin_expect((ptxi_inactive(w) | ptxi_row_missing(row) | (uint64_t)(row->stride ^ 4)) || r->next == r->end,
                         0))
        return PTXI_LEVELED(op_track_access)(i, w);
    if (!ptxi_track_write_row(r, address, place))
        *r->next++ = (struct ptxi_track_range){ address, PTXI_TRACK_ROW, place };
    NEXT;
}
