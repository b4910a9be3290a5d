/* ldmatrix, stmatrix, movmatrix: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: ldmatrix", "stmatrix", "movmatrix".
 *
 * A fragment of 8 rows of 16 bytes is one register of a warp, as it lies in memory: thread 4 * g + t holds word t of row g. So a matrix is
 * loaded row by row into the register; .trans then exchanges rows and columns in it. */
#include <stdio.h>
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/memory/access.h"
#include "exec/arith/transpose.h"

enum { ROW = 16, ROWS = 8, FRAGMENT = ROW * ROWS };

/* --- what happens to rows --- */

/* 16x16 bytes, in two fragments */
static void transpose_8(unsigned char *m)
{
    unsigned char from[ROW][ROW];

    memcpy(from, m, sizeof from);
    for (int r = 0; r < ROW; r++)
        for (int c = 0; c < ROW; c++)
            m[r * ROW + c] = from[c][r];
}

/* PTX ISA, "Optional Decompression": 16 elements of so many bits, then padding, become bytes with zeros above. */
static void decompress(unsigned char *row, unsigned bits)
{
    uint64_t low, high;

    memcpy(&low, row, sizeof low);
    memcpy(&high, row + sizeof low, sizeof high);
    for (unsigned k = 0; k < ROW; k++) {
        row[k] = (unsigned char)(low & ((1u << bits) - 1));
        low = low >> bits | high << (64 - bits);
        high >>= bits;
    }
}

/* --- where rows are --- */

static inline unsigned row_count(const struct ptxi_insn *i)
{
    return ROWS << (i->imm & PTXI_MATRIX_ROWS);
}

static const struct ptxi_insn *has_left(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    char text[96];

    snprintf(text, sizeof text, "lane %u, which gives the address of a row, has exited", lane % 32);
    return ptxi_fault(w, i, PTXI_FK_MISUSE, w->active, 0, 0, text);
}

/* Finds out what is wrong with the address of a row. */
static const struct ptxi_insn *bad_row(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, enum ptxi_access access)
{
    bool generic = i->imm & PTXI_MATRIX_GENERIC;

    for (unsigned l = first; l < first + row_count(i); l++) {
        const void *a = PTXI_SLOT(w, i->a);
        uint64_t at = generic ? ((const uint64_t *)a)[l] + (int64_t)(i->imm >> PTXI_MATRIX_OFFSET)
                              : ((const uint32_t *)a)[l] + (uint32_t)(i->imm >> PTXI_MATRIX_OFFSET);

        if (!(w->active >> l & 1))
            return has_left(w, i, l);
        if (generic && at - PTXI_SHARED_WINDOW >= PTXI_WINDOW_SIZE)
            return ptxi_fault(w, i, PTXI_FK_OTHER_SHARED, (ptxi_lanes)1 << l, at, ROW, access == PTXI_ACCESS_STORE ? "store" : "load");
        if (!ptxi_mem_at(w, i, l, generic ? PTXI_MS_GENERIC : PTXI_MS_SHARED, at, ROW, ROW, access))
            return w->stop;
    }
    return NULL;
}

/* Offsets in shared memory of the rows whose addresses the lanes from `first` on give; false if not all may be accessed. */
static inline bool find_rows(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, uint32_t *at)
{
    const int32_t offset = i->imm >> PTXI_MATRIX_OFFSET;
    const unsigned rows = row_count(i);
    uint64_t limit = w->shared_size < ROW ? 0 : w->shared_size - ROW + 1, beyond = 0;
    uint32_t bits = 0;

    if (i->imm & PTXI_MATRIX_GENERIC) {
        const uint64_t *a = (const uint64_t *)PTXI_SLOT(w, i->a) + first;

        for (unsigned k = 0; k < rows; k++) {
            uint64_t x = a[k] + (uint64_t)(int64_t)offset - PTXI_SHARED_WINDOW - w->shared_at;

            beyond |= x >= limit;
            at[k] = (uint32_t)x;
        }
    } else {
        const uint32_t *a = (const uint32_t *)PTXI_SLOT(w, i->a) + first;

        for (unsigned k = 0; k < rows; k++) {
            at[k] = a[k] + (uint32_t)offset - (uint32_t)w->shared_at;
            beyond |= at[k] >= limit;
        }
    }
    for (unsigned k = 0; k < rows; k++)
        bits |= at[k];
    return !beyond && !(bits & (ROW - 1)) && (~(w->active >> first) & (uint32_t)((UINT64_C(1) << rows) - 1)) == 0;
}

/* --- the instructions --- */

static inline unsigned format(const struct ptxi_insn *i)
{
    return i->imm >> PTXI_MATRIX_FORMAT & PTXI_MATRIX_FORMAT_MASK;
}

/* Elements that are not 16 bits wide; m holds all fragments. */
static __attribute__((noinline)) void unpack(const struct ptxi_insn *i, unsigned char *m)
{
    static const uint8_t bits[] = { [PTXI_MATRIX_B6] = 6, [PTXI_MATRIX_B4] = 4 };

    if (format(i) != PTXI_MATRIX_B8)
        for (unsigned k = 0; k < row_count(i); k++)
            decompress(m + k * ROW, bits[format(i)]);
    for (unsigned k = 0; k < row_count(i) && i->imm & PTXI_MATRIX_TRANS; k += 2 * ROWS)
        transpose_8(m + k * ROW);
}

static inline void load(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, const uint32_t *at)
{
    const uint16_t slots[] = { i->d, i->b, i->c, i->mods };
    const unsigned fragments = row_count(i) / ROWS;
    row16 m[4][ROWS];

    for (unsigned k = 0; k < fragments * ROWS; k++)
        memcpy(&m[k / ROWS][k % ROWS], w->shared + at[k], ROW);
    if (format(i) != PTXI_MATRIX_B16)
        unpack(i, (unsigned char *)m);
    else if (i->imm & PTXI_MATRIX_TRANS)
        for (unsigned k = 0; k < fragments; k++)
            transpose_16(m[k], m[k]);
    for (unsigned k = 0; k < fragments; k++)
        if (slots[k] != PTXI_NO_SLOT)
            memcpy((uint32_t *)PTXI_SLOT(w, slots[k]) + first, m[k], FRAGMENT);
}

/* Four elements of 8 bits a thread, of two rows of 16x8: PTX ISA, "stmatrix", layout for one 16x8 matrix. In memory its columns are rows. */
static void gather_8(unsigned char *m)
{
    unsigned char from[FRAGMENT];

    memcpy(from, m, sizeof from);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned e = 0; e < 4; e++)
            m[(2 * (lane % 4) + e % 2) * ROW + lane / 4 + 8 * (e / 2)] = from[4 * lane + e];
}

static inline void store(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, const uint32_t *at)
{
    const uint16_t slots[] = { i->b, i->c, i->d, i->mods };
    row16 m[ROWS];

    for (unsigned k = 0; k < row_count(i) / ROWS; k++) {
        memcpy(m, (const uint32_t *)PTXI_SLOT(w, slots[k]) + first, FRAGMENT);
        if (format(i) == PTXI_MATRIX_B8)
            gather_8((unsigned char *)m);
        else if (i->imm & PTXI_MATRIX_TRANS)
            transpose_16(m, m);
        for (unsigned r = 0; r < ROWS; r++)
            memcpy(w->shared + at[k * ROWS + r], &m[r], ROW);
    }
}

/* The same for each warp of 32 that is here as a whole. */
static inline __attribute__((always_inline)) const struct ptxi_insn *move(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_access access)
{
    uint32_t at[32];
    const struct ptxi_insn *bad;

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        if (!(w->active & ptxi_warp32_lanes(first / 32)))
            continue;
        if (!find_rows(w, i, first, at) && (bad = bad_row(w, i, first, access)))
            return bad;
        (access == PTXI_ACCESS_LOAD ? load : store)(w, i, first, at);
    }
    NEXT;
}

OP( ldmatrix ) { return move(w, i, PTXI_ACCESS_LOAD); }
OP( stmatrix ) { return move(w, i, PTXI_ACCESS_STORE); }

OP( movmatrix )
{
    const row16 *a = PTXI_SLOT(w, i->a);
    row16 *d = PTXI_SLOT(w, i->d);

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_LANES * 4 / ROW; k += ROWS)
        transpose_16(d + k, a + k);
    NEXT;
}
