/* Bank conflicts in shared memory, counted like the GPU's profiler.
 *
 * Memory has 32 banks, and word n of 4 bytes is in bank n % 32. The request of a warp is served in parts of at most
 * 128 bytes: all lanes at once with up to 4 bytes each, half of them with 8 bytes, a quarter with 16 bytes, or eight
 * rows of a matrix. A part takes one wavefront for each word that its busiest bank reads or writes. A word that
 * several lanes read counts once, but atomic operations of several lanes on a word are serialised. The wavefronts of a
 * part after the first one are bank conflicts. */
#include <assert.h>

#include "exec/engine/handler.h"
#include "exec/engine/engine.h"

enum { BANKS = 32, WORD = 4, PART = BANKS * WORD, MAX_WORDS = 32 };

struct part {
    uint32_t words[MAX_WORDS];
    unsigned count;
};

static void add_word(struct part *p, uint32_t word, bool atomic)
{
    for (unsigned k = 0; k < p->count && !atomic; k++)
        if (p->words[k] == word)
            return;
    assert(p->count < MAX_WORDS);
    p->words[p->count++] = word;
}

static unsigned count_wavefronts(const struct part *p)
{
    unsigned load[BANKS] = { 0 }, most = 0;

    for (unsigned k = 0; k < p->count; k++) {
        unsigned n = ++load[p->words[k] % BANKS];

        most = n > most ? n : most;
    }
    return most;
}

/* Computes the offset of a lane's access in shared memory. Returns false if it accesses other memory. */
static bool find_offset(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, int32_t by, uint32_t *at)
{
    const void *a = PTXI_SLOT(w, i->a);
    uint64_t address;

    if (!(i->mods & PTXI_SHARED_GENERIC)) {
        *at = ((const uint32_t *)a)[lane] + (uint32_t)by;
        return true;
    }
    address = ((const uint64_t *)a)[lane] + (uint64_t)(int64_t)by - PTXI_SHARED_WINDOW;
    *at = (uint32_t)address;
    return address < PTXI_WINDOW_SIZE;
}

/* The words that some lanes access. */
static struct part find_words(const struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, int32_t by)
{
    uint32_t bytes = i->mods & PTXI_SHARED_BYTES, at;
    struct part p = { .count = 0 };

    for (ptxi_lanes left = lanes; left; left &= left - 1) {
        if (!find_offset(w, i, ptxi_first_lane(left), by, &at))
            continue;
        for (uint32_t word = at / WORD; word <= (at + bytes - 1) / WORD && p.count < MAX_WORDS; word++)
            add_word(&p, word, i->mods & PTXI_SHARED_ATOMIC);
    }
    return p;
}

/* Counts the request of lanes of one warp of 32. */
static void count_request(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, int32_t by)
{
    struct ptxi_shared_counts *c = &w->cta->shared_counts;
    unsigned bytes = i->mods & PTXI_SHARED_BYTES, lanes_per_part = bytes > WORD ? PART / bytes : 32;
    bool any = false;

    for (unsigned first = 0; first < PTXI_LANES; first += lanes_per_part) {
        ptxi_lanes these = lanes & ((ptxi_lanes)(((UINT64_C(1) << lanes_per_part) - 1) << first));
        struct part p = find_words(w, i, these, by);

        if (!p.count)
            continue;
        any = true;
        c->wavefronts += count_wavefronts(&p);
        c->conflicts += count_wavefronts(&p) - 1;
    }
    c->requests += any;
}

OP( count_shared )
{
    bool matrix = i->mods & PTXI_SHARED_MATRIX;
    ptxi_lanes lanes = matrix ? (ptxi_lanes)((UINT64_C(1) << (8 << (i->imm & PTXI_MATRIX_ROWS))) - 1) : UINT32_MAX;

    if (matrix && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        count_request(w, i, w->active & lanes << 32 * k, matrix ? i->imm >> PTXI_MATRIX_OFFSET : i->imm);
    return i + 1;
}
