/* What an instruction asks of shared memory, counted as the GPU's profiler does. Memory has 32 banks, word n of 4 bytes being in bank
 * n % 32. A warp's request is served in parts of at most 128 bytes: all lanes at once up to 4 bytes each, half of them with 8 bytes, a
 * quarter with 16, eight rows of a matrix. A part takes a wavefront for each word that its busiest bank has to give or take; a word that
 * several lanes want is given once, but lanes that do atomic operations on it take turns. What a part takes beyond its first wavefront are
 * bank conflicts. */
#include "exec/engine/engine.h"

enum { BANKS = 32, WORD = 4, PART = BANKS * WORD, MOST_WORDS = 32 };

struct part {
    uint32_t words[MOST_WORDS];
    unsigned count;
};

static void add_word(struct part *p, uint32_t word, bool atomic)
{
    for (unsigned k = 0; k < p->count && !atomic; k++)
        if (p->words[k] == word)
            return;
    p->words[p->count++] = word;
}

static unsigned wavefronts(const struct part *p)
{
    unsigned load[BANKS] = { 0 }, most = 0;

    for (unsigned k = 0; k < p->count; k++) {
        unsigned n = ++load[p->words[k] % BANKS];

        most = n > most ? n : most;
    }
    return most;
}

/* The offset in shared memory of a lane's access; false if it goes elsewhere. */
static bool offset_of(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, int32_t by, uint32_t *at)
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

static struct part part_of(const struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, int32_t by)
{
    uint32_t bytes = i->mods & PTXI_SHARED_BYTES, at;
    struct part p = { .count = 0 };

    for (ptxi_lanes left = lanes; left; left &= left - 1) {
        if (!offset_of(w, i, ptxi_first_lane(left), by, &at))
            continue;
        for (uint32_t word = at / WORD; word <= (at + bytes - 1) / WORD && p.count < MOST_WORDS; word++)
            add_word(&p, word, i->mods & PTXI_SHARED_ATOMIC);
    }
    return p;
}

/* The request of lanes of one warp of 32. */
static void count(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, int32_t by)
{
    struct ptxi_shared_counts *c = &w->cta->shared_counts;
    unsigned bytes = i->mods & PTXI_SHARED_BYTES, lanes_a_part = bytes > WORD ? PART / bytes : 32;
    bool any = false;

    for (unsigned first = 0; first < PTXI_LANES; first += lanes_a_part) {
        ptxi_lanes these = lanes & ((ptxi_lanes)(((UINT64_C(1) << lanes_a_part) - 1) << first));
        struct part p = part_of(w, i, these, by);

        if (!p.count)
            continue;
        any = true;
        c->wavefronts += wavefronts(&p);
        c->conflicts += wavefronts(&p) - 1;
    }
    c->requests += any;
}

const struct ptxi_insn *ptxi_count_shared(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    bool matrix = i->mods & PTXI_SHARED_MATRIX;
    ptxi_lanes given = matrix ? (ptxi_lanes)((UINT64_C(1) << (8 << (i->imm & PTXI_MATRIX_ROWS))) - 1) : UINT32_MAX;

    if (matrix && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        count(w, i, w->active & given << 32 * k, matrix ? i->imm >> PTXI_MATRIX_OFFSET : i->imm);
    return i + 1;
}
