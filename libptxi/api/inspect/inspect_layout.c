/* The layouts of matrices for ptxi_inspect_layout(). isa/fragment.h has the rules. */
#include "api/inspect/inspect.h"

#include "isa/fragment.h"
#include "isa/isa.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- layouts */

static struct ptxi_element_place *place_of(const struct ptxi_matrix_layout *l, unsigned row, unsigned column)
{
    assert(row < l->rows && column < l->columns);
    return &l->places[row * l->columns + column];
}

static void set_place(struct ptxi_matrix_layout *l, struct ptxi_element e, unsigned lane, unsigned reg)
{
    assert(lane < 32 && reg < 256);
    *place_of(l, e.row, e.column) = (struct ptxi_element_place){ .lane = (uint8_t)lane, .reg = (uint8_t)reg };
}

/* The title stays. False: out of memory. */
static bool start_layout(struct ptxi_matrix_layout *l, unsigned rows, unsigned columns)
{
    assert(rows && columns);
    l->rows = rows;
    l->columns = columns;
    l->group = 1;
    l->places = calloc((size_t)rows * columns, sizeof *l->places);
    return l->places;
}

static enum ptxi_layout_result layout_fragment(struct ptxi_matrix_layout *l, const struct ptxi_fragment *f,
                                               unsigned rows, unsigned columns)
{
    unsigned elements = f->width / f->bits; /* of a register */

    if (!start_layout(l, rows, columns))
        return PTXI_LAYOUT_NO_MEMORY;
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++) {
            struct ptxi_fragment_position p = ptxi_fragment_locate(f, r, c);

            *place_of(l, r, c) = (struct ptxi_element_place){ p.lane, p.reg, p.bit };
        }
    l->group = f->piece < elements ? f->piece : elements;
    l->group_is_partial = l->group < elements;
    l->group_in_column = f->columns;
    return PTXI_LAYOUT_OK;
}

/* ---- multiplications: which row of the instruction table a name such as wgmma.sp.m64n8k32.f16 means */

struct multiplication {
    const struct ptxi_row *row;
    enum ptxi_type type;
    unsigned m, n, k;
    bool sparse;
};

static bool slot_has(const struct ptxi_slot *s, uint16_t word)
{
    for (unsigned i = 0; i < s->word_count; i++)
        if (s->words[i] == word)
            return true;
    return false;
}

static bool row_has(const struct ptxi_row *row, const char *text)
{
    uint16_t word = ptxi_isa_word(text, strlen(text));

    for (unsigned s = 0; s < row->slot_count && word != PTXI_NO_WORD; s++)
        if (slot_has(&row->slots[s], word))
            return true;
    return false;
}

static bool has_type_of_a(const struct ptxi_row *row, const char *type)
{
    uint16_t word = ptxi_isa_word(type, strlen(type));

    for (unsigned s = 0; s < row->slot_count; s++)
        if (!strcmp(row->slots[s].name, "A"))
            return slot_has(&row->slots[s], word);
    return false;
}

static bool is_sparse(const struct ptxi_row *row)
{
    return row_has(row, "sp") || row_has(row, "sp::ordered_metadata");
}

/* The rows of wmma.mma do not have the type of A and B; those of wmma.load do. */
static bool loads_a(const struct ptxi_row *row, const char *type)
{
    return row_has(row, "load") && row_has(row, "a") && row_has(row, type);
}

static const struct ptxi_row *find_row(uint16_t family, bool sparse, const char *shape, const char *type)
{
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        const struct ptxi_row *row = &ptxi_rows[i];

        if (row->family == family && row_has(row, shape) && is_sparse(row) == sparse &&
            (has_type_of_a(row, type) || loads_a(row, type)))
            return row;
    }
    return NULL;
}

static bool parse_multiplication(const char *text, struct multiplication *x)
{
    static const uint16_t families[] = { PTXI_M_mma, PTXI_M_wgmma, PTXI_M_wmma };
    char name[64], *shape, *type;

    snprintf(name, sizeof name, "%s", text);
    shape = strchr(name, '.');
    if (!shape)
        return false;
    *shape++ = 0;
    x->sparse = !strncmp(shape, "sp.", 3);
    shape += x->sparse ? 3 : 0;
    type = strchr(shape, '.');
    if (!type || sscanf(shape, "m%un%uk%u", &x->m, &x->n, &x->k) != 3)
        return false;
    *type++ = 0;
    for (unsigned i = 0; i < sizeof families / sizeof *families && !x->row; i++)
        if (!strcmp(name, ptxi_families[families[i]].mnemonic))
            x->row = find_row(families[i], x->sparse, shape, type);
    if (!x->row)
        return false;
    x->type = (enum ptxi_type)ptxi_isa_word(type, strlen(type));
    return true;
}

/* ---- operands of multiplications */

/* Bits of an element of A and B in its container. */
static unsigned container_bits(const struct multiplication *x)
{
    return row_has(x->row, "kind::mxf4") || row_has(x->row, "kind::mxf4nvf4") ? 4 : ptxi_types[x->type].bits;
}

/* Bits of an element of C and D. */
static unsigned result_bits(const struct multiplication *x, const char *operand)
{
    if (x->type == PTXI_T_f64)
        return 64;
    return strstr(operand, ".f16") ? 16 : 32;
}

static struct ptxi_element element_m8n8k4(const char *operand, unsigned lane, unsigned i)
{
    bool col = strstr(operand, ".col");

    switch (operand[0]) {
    case 'A': return ptxi_fragment_m8n8k4_a(col, lane, i);
    case 'B': return ptxi_fragment_m8n8k4_b(col, lane, i);
    default: return ptxi_fragment_m8n8k4_c(!strstr(operand, ".f16"), lane, i);
    }
}

/* mma.m8n8k4.f16 computes four products. */
static enum ptxi_layout_result layout_m8n8k4(struct ptxi_matrix_layout *l, const char *operand)
{
    bool is_result = operand[0] != 'A' && operand[0] != 'B', one_each = is_result && !strstr(operand, ".f16");
    unsigned elements = is_result ? 8 : 4; /* of a lane */
    unsigned rows = operand[0] == 'B' ? 4 : 8;
    unsigned columns = operand[0] == 'A' ? 4 : 8;

    if (!start_layout(l, rows, columns))
        return PTXI_LAYOUT_NO_MEMORY;
    l->note = "First of four products. The others use the lanes 4, 8 and 12 higher.";
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < elements && lane % 16 < 4; i++)
            set_place(l, element_m8n8k4(operand, lane, i), lane, one_each ? i : i / 2);
    return PTXI_LAYOUT_OK;
}

static enum ptxi_layout_result layout_metadata(struct ptxi_matrix_layout *l, const struct multiplication *x)
{
    unsigned bits = container_bits(x), size = ptxi_sparse_chunk(bits), chunks = x->k / size;

    if (!start_layout(l, 16, x->k))
        return PTXI_LAYOUT_NO_MEMORY;
    for (unsigned r = 0; r < 16; r++)
        for (unsigned c = 0; c < chunks; c++) {
            struct ptxi_fragment_position p = ptxi_sparse_locate_index(bits, r, c, chunks, 0);

            *place_of(l, r, c * size) = (struct ptxi_element_place){ .lane = p.lane, .bit = p.bit };
        }
    l->group = size;
    l->is_metadata = true;
    return PTXI_LAYOUT_OK;
}

/* wmma: the fragments of the products of 16x8 elements that the whole product consists of. */
static enum ptxi_layout_result layout_wmma(struct ptxi_matrix_layout *l, const struct multiplication *x,
                                           const char *operand)
{
    bool is_result = operand[0] > 'B';
    unsigned bits = is_result ? result_bits(x, operand) : container_bits(x);
    unsigned rows = operand[0] == 'B' ? x->k : x->m;
    unsigned columns = operand[0] == 'A' ? x->k : x->n;
    char name = is_result ? 'c' : (char)(operand[0] - 'A' + 'a');
    struct ptxi_wmma_shape s = ptxi_wmma_shape(x->m, x->n, x->k);
    struct ptxi_fragment f = ptxi_wmma_fragment(s, name, bits);

    if (!start_layout(l, rows, columns))
        return PTXI_LAYOUT_NO_MEMORY;
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned r = rows * columns * bits / 32 / f.width; r--;)
            for (unsigned bit = 0; bit < f.width; bit += bits)
                set_place(l, ptxi_wmma_element(s, name, bits, lane, r, bit), lane, r);
    l->group = f.width / bits;
    l->group_in_column = f.columns != s.transposed;
    return PTXI_LAYOUT_OK;
}

/* Only the dot of a suffix is checked. */
static bool is_operand(const struct multiplication *x, const char *operand)
{
    if (!operand || !operand[0] || !strchr("ABCDE", operand[0]) || (operand[1] && operand[1] != '.'))
        return false;
    return (operand[0] != 'E' || x->sparse) && (operand[0] != 'B' || x->row->family != PTXI_M_wgmma);
}

/* wgmma reads B from shared memory. */
static const char *operands_of(const struct multiplication *x)
{
    static const char *const names[2][2] = {
        { "A, B, C or D", "A, B, C, D or E (metadata)" },
        { "A, C or D", "A, C, D or E (metadata)" },
    };

    return names[x->row->family == PTXI_M_wgmma][x->sparse];
}

static enum ptxi_layout_result layout_operand(struct ptxi_matrix_layout *l, const struct multiplication *x,
                                              const char *operand)
{
    bool group = x->row->family == PTXI_M_wgmma;
    unsigned rows = group ? 16 : x->m;
    struct ptxi_fragment f;

    snprintf(l->title, sizeof l->title, "%s%s m%un%uk%u .%s, %s", x->row->mnemonic, x->sparse ? ".sp" : "", x->m, x->n,
             x->k, ptxi_types[x->type].name, operand);
    if (group)
        l->note = "Rows of the warpgroup's first warp. Each further warp has the next 16 rows.";
    if (x->row->family == PTXI_M_wmma)
        return layout_wmma(l, x, operand);
    if (rows == 8 && x->type == PTXI_T_f16)
        return layout_m8n8k4(l, operand);
    switch (operand[0]) {
    case 'A':
        f = ptxi_fragment_a(rows, container_bits(x));
        return layout_fragment(l, &f, rows, x->sparse ? x->k / 2 : x->k);
    case 'B':
        f = ptxi_fragment_b(x->n, container_bits(x));
        return layout_fragment(l, &f, x->k, x->n);
    case 'E':
        return layout_metadata(l, x);
    default:
        f = ptxi_fragment_c(rows, result_bits(x, operand));
        return layout_fragment(l, &f, rows, x->n);
    }
}

/* ---- ldmatrix, stmatrix and movmatrix */

static struct ptxi_fragment fragment_m8n8(unsigned count)
{
    return ptxi_fragment_m8n8(count, false);
}

static struct ptxi_fragment fragment_m8n8_transposed(unsigned count)
{
    return ptxi_fragment_m8n8(count, true);
}

static const struct matrix_move {
    const char *name, *suffix; /* before and after .xN */
    unsigned most;             /* matrices; 0: the name has no .xN */
    unsigned rows, columns;    /* of one matrix */
    struct ptxi_fragment (*fragment)(unsigned count);
} matrix_moves[] = {
    { "ldmatrix.m8n8", "", 4, 8, 8, fragment_m8n8 },
    { "ldmatrix.m8n8", ".trans", 4, 8, 8, fragment_m8n8_transposed },
    { "stmatrix.m8n8", "", 4, 8, 8, fragment_m8n8 },
    { "stmatrix.m8n8", ".trans", 4, 8, 8, fragment_m8n8_transposed },
    { "movmatrix.m8n8", "", 0, 8, 8, fragment_m8n8 },
    { "ldmatrix.m16n16", ".trans", 2, 16, 16, ptxi_fragment_m16n16 },
    { "ldmatrix.m8n16", "", 4, 8, 16, ptxi_fragment_m8n16 },
    { "stmatrix.m16n8", ".trans", 4, 16, 8, ptxi_fragment_m16n8 },
};

static bool is_name(const struct matrix_move *x, unsigned count, const char *name)
{
    char known[64];

    if (x->most)
        snprintf(known, sizeof known, "%s.x%u%s", x->name, count, x->suffix);
    else
        snprintf(known, sizeof known, "%s", x->name);
    return !strcmp(name, known);
}

static enum ptxi_layout_result layout_move(struct ptxi_matrix_layout *l, const char *name)
{
    for (unsigned k = 0; k < sizeof matrix_moves / sizeof *matrix_moves; k++) {
        const struct matrix_move *x = &matrix_moves[k];

        for (unsigned count = 1; count <= (x->most ? x->most : 1); count *= 2) {
            struct ptxi_fragment f = x->fragment(count);

            if (!is_name(x, count, name))
                continue;
            if (f.columns)
                return layout_fragment(l, &f, x->rows, x->columns * count);
            return layout_fragment(l, &f, x->rows * count, x->columns);
        }
    }
    return PTXI_LAYOUT_UNKNOWN;
}

/* ---- tcgen05.ld and tcgen05.st */

enum { MOST_TMEM_COLUMNS = 256, MOST_TMEM_COUNT = 128 };

static const struct tmem_access {
    const char *name;
    enum ptxi_tmem_shape shape;
    unsigned lanes, registers, columns; /* of .x1 */
} tmem_accesses[] = {
    { "32x32b", PTXI_TMEM_32X32B, 32, 1, 1 },
    { "16x64b", PTXI_TMEM_16X64B, 16, 1, 2 },
    { "16x128b", PTXI_TMEM_16X128B, 16, 2, 4 },
    { "16x256b", PTXI_TMEM_16X256B, 16, 4, 8 },
    { "16x32bx2", PTXI_TMEM_16X32BX2, 16, 1, 2 },
};

/* The second columns of 16x32bx2 are to the right of the first ones. */
static enum ptxi_layout_result layout_tmem_access(struct ptxi_matrix_layout *l, const struct tmem_access *x,
                                                  unsigned count)
{
    if (!start_layout(l, x->lanes, x->columns * count))
        return PTXI_LAYOUT_NO_MEMORY;
    l->note = "Rows are lanes of tensor memory.";
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned r = 0; r < x->registers * count; r++) {
            struct ptxi_element e = ptxi_fragment_tmem(x->shape, lane, r);

            if (x->shape == PTXI_TMEM_16X32BX2 && lane >= 16)
                e.column = (uint16_t)(e.column + count);
            set_place(l, e, lane, r);
        }
    return PTXI_LAYOUT_OK;
}

static enum ptxi_layout_result layout_tmem(struct ptxi_matrix_layout *l, const char *name)
{
    for (unsigned k = 0; k < sizeof tmem_accesses / sizeof *tmem_accesses; k++) {
        const struct tmem_access *x = &tmem_accesses[k];

        for (unsigned count = 1; x->columns * count <= MOST_TMEM_COLUMNS && count <= MOST_TMEM_COUNT; count *= 2) {
            char known[64];

            snprintf(known, sizeof known, "tcgen05.%s.x%u", x->name, count);
            if (!strcmp(name, known))
                return layout_tmem_access(l, x, count);
        }
    }
    return PTXI_LAYOUT_UNKNOWN;
}

enum ptxi_layout_result ptxi_inspect_layout(const char *name, const char *operand, struct ptxi_matrix_layout *layout,
                                            const char **expected)
{
    struct multiplication x = { .row = NULL };
    enum ptxi_layout_result r = PTXI_LAYOUT_UNKNOWN;

    *layout = (struct ptxi_matrix_layout){ .places = NULL };
    snprintf(layout->title, sizeof layout->title, "%s", name);
    if (!operand)
        r = layout_move(layout, name);
    if (!operand && r == PTXI_LAYOUT_UNKNOWN)
        r = layout_tmem(layout, name);
    if (r != PTXI_LAYOUT_UNKNOWN || !parse_multiplication(name, &x))
        return r;
    if (is_operand(&x, operand))
        return layout_operand(layout, &x, operand);
    *expected = operands_of(&x);
    return PTXI_LAYOUT_WRONG_OPERAND;
}
