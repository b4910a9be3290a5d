/* ldmatrix, stmatrix, movmatrix. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: ldmatrix",
 * "stmatrix", "movmatrix".
 * A register of a warp holds a fragment of 8 rows of 16 bytes in memory order: thread 4 * g + t holds word t of row
 * g. So rows are copied to the register, and .trans then exchanges rows and columns in it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "exec/check/race.h"
#include "exec/engine/handler.h"
#include "exec/init/init.h"
#include "exec/init/init_registers.h"
#include "exec/memory/access.h"
#include "exec/matrix/transpose_inl.h"

enum { ROW = 16, ROWS = 8, FRAGMENT = ROW * ROWS };

/* --- conversions of rows --- */

/* Transposes 16x16 bytes, which are two fragments. */
static void transpose_8(unsigned char *m)
{
    unsigned char from[ROW][ROW];

    memcpy(from, m, sizeof from);
    for (int r = 0; r < ROW; r++)
        for (int c = 0; c < ROW; c++)
            m[r * ROW + c] = from[c][r];
}

/* Extends 16 elements of 4 or 6 bits, followed by padding, to bytes. PTX ISA, "Optional Decompression". */
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

/* Extends 16 signed elements of 4 bits. */
static void extend_4(unsigned char *row)
{
    for (unsigned k = ROW; k-- > 0;)
        row[k] = (unsigned char)(((row[k / 2] >> (k % 2 * 4) & 0xf) ^ 8) - 8);
}

/* --- addresses of rows --- */

static inline enum ptxi_matrix_format format_of(const struct ptxi_insn *i)
{
    return (enum ptxi_matrix_format)(i->imm >> PTXI_MATRIX_FORMAT & PTXI_MATRIX_FORMAT_MASK);
}

/* The bytes of a row in memory, which are also its alignment. */
static inline uint32_t row_bytes(const struct ptxi_insn *i)
{
    return format_of(i) == PTXI_MATRIX_S4 ? ROW / 2 : ROW;
}

static inline unsigned row_count(const struct ptxi_insn *i)
{
    return ROWS << (i->imm & PTXI_MATRIX_ROWS);
}

static const struct ptxi_insn *report_exited_lane(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    char detail[96];

    snprintf(detail, sizeof detail, "lane %u, which gives the address of a row, has exited", lane % 32);
    return ptxi_fault(w, i, PTXI_FK_MISUSE, w->active, 0, 0, detail);
}

/* Looks for an invalid address of a row, and reports it. NULL: all are valid. */
static const struct ptxi_insn *report_invalid_row(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first,
                                                  enum ptxi_access access)
{
    bool generic = i->imm & PTXI_MATRIX_GENERIC;
    uint32_t bytes = row_bytes(i);

    for (unsigned l = first; l < first + row_count(i); l++) {
        const void *a = PTXI_SLOT(w, i->a);
        uint64_t at;

        if (generic)
            at = ((const uint64_t *)a)[l] + (int64_t)(i->imm >> PTXI_MATRIX_OFFSET);
        else
            at = ((const uint32_t *)a)[l] + (uint32_t)(i->imm >> PTXI_MATRIX_OFFSET);
        if (!(w->active >> l & 1))
            return report_exited_lane(w, i, l);
        if (generic && at - PTXI_SHARED_WINDOW >= PTXI_WINDOW_SIZE)
            return ptxi_fault_access(w, i, PTXI_FK_OTHER_SHARED, (ptxi_lanes)1 << l, at, bytes, access, NULL);
        if (!ptxi_access_at(w, i, l, generic ? PTXI_MS_GENERIC : PTXI_MS_SHARED, at, bytes, bytes, access))
            return w->stop;
    }
    return NULL;
}

/* Sets the offsets in shared memory of the rows whose addresses the lanes from `first` on give. False: not all are
 * valid, or they are in the memory of another CTA. */
static inline bool find_rows(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, uint32_t *at)
{
    const int32_t offset = i->imm >> PTXI_MATRIX_OFFSET;
    const unsigned rows = row_count(i);
    const uint32_t bytes = row_bytes(i);
    uint64_t limit = w->shared_size < bytes ? 0 : w->shared_size - bytes + 1, outside = 0;
    uint32_t bits = 0;

    if (i->imm & PTXI_MATRIX_GENERIC) {
        const uint64_t *a = (const uint64_t *)PTXI_SLOT(w, i->a) + first;

        for (unsigned k = 0; k < rows; k++) {
            uint64_t x = a[k] + (uint64_t)(int64_t)offset - PTXI_SHARED_WINDOW - w->shared_at;

            outside |= x >= limit;
            at[k] = (uint32_t)x;
        }
    } else {
        const uint32_t *a = (const uint32_t *)PTXI_SLOT(w, i->a) + first;

        for (unsigned k = 0; k < rows; k++) {
            at[k] = a[k] + (uint32_t)offset - (uint32_t)w->shared_at;
            outside |= at[k] >= limit;
        }
    }
    for (unsigned k = 0; k < rows; k++)
        bits |= at[k];
    return !outside && !(bits & (bytes - 1)) && (~(w->active >> first) & (uint32_t)((UINT64_C(1) << rows) - 1)) == 0;
}

/* --- the instructions --- */

/* Converts elements that are not 16 bits wide. m holds all fragments. */
static __attribute__((noinline)) void convert_rows(const struct ptxi_insn *i, unsigned char *m)
{
    static const uint8_t bits[] = { [PTXI_MATRIX_B6] = 6, [PTXI_MATRIX_B4] = 4 };

    if (format_of(i) == PTXI_MATRIX_S4)
        for (unsigned k = 0; k < row_count(i); k++)
            extend_4(m + k * ROW);
    else if (format_of(i) != PTXI_MATRIX_B8)
        for (unsigned k = 0; k < row_count(i); k++)
            decompress(m + k * ROW, bits[format_of(i)]);
    for (unsigned k = 0; k < row_count(i) && i->imm & PTXI_MATRIX_TRANS; k += 2 * ROWS)
        transpose_8(m + k * ROW);
}

/* memory: where the rows are. */
static inline void load_from(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, const uint32_t *at,
                             const unsigned char *memory)
{
    const uint16_t slots[] = { i->d, i->b, i->c, i->mods };
    const unsigned fragments = row_count(i) / ROWS;
    row16 m[4][ROWS];

    assert(fragments <= 4);
    for (unsigned k = 0; k < fragments * ROWS; k++)
        memcpy(&m[k / ROWS][k % ROWS], memory + at[k], row_bytes(i));
    if (format_of(i) != PTXI_MATRIX_B16)
        convert_rows(i, (unsigned char *)m);
    else if (i->imm & PTXI_MATRIX_TRANS)
        for (unsigned k = 0; k < fragments; k++)
            transpose_16(m[k], m[k]);
    for (unsigned k = 0; k < fragments; k++)
        if (slots[k] != PTXI_NO_SLOT)
            memcpy((uint32_t *)PTXI_SLOT(w, slots[k]) + first, m[k], FRAGMENT);
}

static inline void load(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, const uint32_t *at)
{
    load_from(w, i, first, at, w->shared);
}

/* Arranges a 16x8 matrix of bytes, of which each thread holds four elements from two rows, as in memory, where its
 * columns are rows. PTX ISA, "stmatrix". */
static void transpose_16x8(unsigned char *m)
{
    unsigned char from[FRAGMENT];

    memcpy(from, m, sizeof from);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned e = 0; e < 4; e++)
            m[(2 * (lane % 4) + e % 2) * ROW + lane / 4 + 8 * (e / 2)] = from[4 * lane + e];
}

/* A fragment becomes rows. */
static inline void arrange(const struct ptxi_insn *i, row16 *m)
{
    if (format_of(i) == PTXI_MATRIX_B8)
        transpose_16x8((unsigned char *)m);
    else if (i->imm & PTXI_MATRIX_TRANS)
        transpose_16(m, m);
}

/* Stores fragment k, and changes it. */
static inline void store_fragment(const struct ptxi_insn *i, unsigned k, row16 *m, const uint32_t *at,
                                  unsigned char *memory)
{
    arrange(i, m);
    for (unsigned r = 0; r < ROWS; r++)
        memcpy(memory + at[k * ROWS + r], &m[r], ROW);
}

static inline void store(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, const uint32_t *at)
{
    const uint16_t slots[] = { i->b, i->c, i->d, i->mods };
    row16 m[ROWS];

    for (unsigned k = 0; k < row_count(i) / ROWS; k++) {
        memcpy(m, (const uint32_t *)PTXI_SLOT(w, slots[k]) + first, FRAGMENT);
        store_fragment(i, k, m, at, w->shared);
    }
}

/* The rows that stmatrix stores. */
static void find_stored(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, row16 *m)
{
    const uint16_t slots[] = { i->b, i->c, i->d, i->mods };

    for (unsigned k = 0; k < row_count(i) / ROWS; k++) {
        memcpy(m + k * ROWS, (const uint32_t *)PTXI_SLOT(w, slots[k]) + first, FRAGMENT);
        arrange(i, m + k * ROWS);
    }
}

/* Whether an earlier row has the same place and the same content. Stores of the same value are no race. */
static bool is_repeated(const row16 *m, const uint32_t *at, unsigned k)
{
    for (unsigned r = 0; r < k; r++)
        if (at[r] == at[k] && !memcmp(&m[r], &m[k], ROW))
            return true;
    return false;
}

/* Tells the checker about the rows that a warp of 32 accesses. */
static __attribute__((noinline)) void note_rows(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first,
                                                const uint32_t *at, bool stores)
{
    row16 m[4 * ROWS];

    if (stores)
        find_stored(w, i, first, m);
    for (unsigned k = 0; k < row_count(i); k++)
        if (!stores || !is_repeated(m, at, k))
            ptxi_race_touch(w, i, first + k, at[k] + (uint32_t)w->shared_at, row_bytes(i),
                            (stores ? PTXI_TOUCH_WRITE : 0) | PTXI_TOUCH_SHARED, stores ? &m[k] : NULL);
}

/* Executes the instruction for each active warp of 32. */
static inline __attribute__((always_inline)) const struct ptxi_insn *load_or_store(struct ptxi_warp *w,
                                                                                   const struct ptxi_insn *i,
                                                                                   enum ptxi_access access)
{
    uint32_t at[32];
    const struct ptxi_insn *fault;

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        if (!(w->active & ptxi_warp32_lanes(first / 32)))
            continue;
        if (!find_rows(w, i, first, at) && (fault = report_invalid_row(w, i, first, access)))
            return fault;
        if (w->cta->check)
            note_rows(w, i, first, at, access == PTXI_AK_STORE);
        (access == PTXI_AK_LOAD ? load : store)(w, i, first, at);
    }
    NEXT;
}

OP( ldmatrix ) { return load_or_store(w, i, PTXI_AK_LOAD); }
OP( stmatrix ) { return load_or_store(w, i, PTXI_AK_STORE); }

OP( movmatrix )
{
    const row16 *a = PTXI_SLOT(w, i->a);
    row16 *d = PTXI_SLOT(w, i->d);

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_LANES * 4 / ROW; k += ROWS)
        transpose_16(d + k, a + k);
    NEXT;
}

/* --- uninitialised values: the same with the shadows of memory and registers --- */

enum { WORD_CLASS = 2 };

/* The instruction that an operation describes, with its address. */
static struct ptxi_insn described(const struct ptxi_init_view *v, const struct ptxi_insn *i, uint16_t op)
{
    return (struct ptxi_insn){ .op = op, .a = i->a, .d = PTXI_NO_SLOT, .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT,
                               .mods = PTXI_NO_SLOT, .imm = ptxi_init_imm(v->list) };
}

static bool is_together(const struct ptxi_warp *w)
{
    return w->active == w->live || !ptxi_absent_lanes(w);
}

static bool rows_are_defined(const struct ptxi_insn *i, const uint32_t *at, const unsigned char *shadow)
{
    uint32_t any = 0;

    for (unsigned k = 0; k < row_count(i); k++)
        for (unsigned b = 0; b < row_bytes(i); b++)
            any |= shadow[at[k] + b];
    return !any;
}

/* If a row is not in the shared memory of the CTA, all count as defined. */
OP( init_ldmatrix )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    struct ptxi_insn of = described(&v, i, PTXI_OP_ldmatrix);
    const unsigned char *shadow = ptxi_init_own_shared(w);
    uint16_t *const slots[] = { &of.d, &of.b, &of.c, &of.mods };
    bool undefined = false;
    uint32_t at[32];

    for (unsigned k = 0; k < v.list->writes; k++)
        *slots[k] = v.to[k];
    for (unsigned first = 0; first < PTXI_LANES; first += 32)
        if (w->active & ptxi_warp32_lanes(first / 32) && shadow && is_together(w) && find_rows(w, &of, first, at) &&
            !rows_are_defined(&of, at, shadow)) {
            load_from(w, &of, first, at, shadow);
            undefined = true;
        }
    for (unsigned k = 0; k < v.list->writes; k++)
        if (undefined && PTXI_LANES == 32)
            ptxi_init_finish_result(w, &v, k, WORD_CLASS);
        else
            ptxi_init_set_result(w, &v, k, 0);
    NEXT;
}

OP( init_stmatrix )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    struct ptxi_insn of = described(&v, i, PTXI_OP_stmatrix);
    unsigned char *shadow = ptxi_init_own_shared(w);
    row16 m[ROWS];
    uint32_t at[32];

    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        if (!(w->active & ptxi_warp32_lanes(first / 32)) || !shadow || !is_together(w) ||
            !find_rows(w, &of, first, at))
            continue;
        for (unsigned k = 0; k < v.list->reads; k++) {
            ptxi_init_source(w, &v, k, first, sizeof(uint32_t), m);
            if (ptxi_init_source_mask(w, &v, k))
                ptxi_init_shared_spoilt(w->cta);
            store_fragment(&of, k, m, at, shadow);
        }
    }
    NEXT;
}

OP( init_movmatrix )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    row16 m[ROWS];

    if (!ptxi_init_source_mask(w, &v, 0) || !is_together(w) || PTXI_LANES != 32) {
        ptxi_init_define_results(w, &v);
        NEXT;
    }
    ptxi_init_source(w, &v, 0, 0, sizeof(uint32_t), m);
    transpose_16(PTXI_SLOT(w, v.to[0]), m);
    ptxi_init_finish_result(w, &v, 0, WORD_CLASS);
    NEXT;
}
