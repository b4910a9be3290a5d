/* ptxi layout: where the elements of matrices are, in registers and in swizzled shared memory, drawn as grids. */
#include "cmd.h"

#include "isa/fragment.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which matrix --- */

/* What a name such as wgmma.sp.m64n8k32.f16 says. */
struct request {
    char name[64];
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

static bool multiplies(const struct ptxi_row *row, const char *type)
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

/* wmma has the type of A and B in its loads. */
static bool loads_a(const struct ptxi_row *row, const char *type)
{
    return row_has(row, "load") && row_has(row, "a") && row_has(row, type);
}

/* The row of the table that has that shape and type. */
static const struct ptxi_row *find_row(uint16_t family, bool sparse, const char *shape, const char *type)
{
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        const struct ptxi_row *row = &ptxi_rows[i];

        if (row->family == family && row_has(row, shape) && is_sparse(row) == sparse &&
            (multiplies(row, type) || loads_a(row, type)))
            return row;
    }
    return NULL;
}

static bool read_request(const char *text, struct request *q)
{
    static const uint16_t families[] = { PTXI_M_mma, PTXI_M_wgmma, PTXI_M_wmma };
    char *shape, *type;

    snprintf(q->name, sizeof q->name, "%s", text);
    shape = strchr(q->name, '.');
    if (!shape)
        return false;
    *shape++ = 0;
    q->sparse = !strncmp(shape, "sp.", 3);
    shape += q->sparse ? 3 : 0;
    type = strchr(shape, '.');
    if (!type || sscanf(shape, "m%un%uk%u", &q->m, &q->n, &q->k) != 3)
        return false;
    *type++ = 0;
    for (unsigned i = 0; i < sizeof families / sizeof *families && !q->row; i++)
        if (!strcmp(q->name, ptxi_families[families[i]].mnemonic))
            q->row = find_row(families[i], q->sparse, shape, type);
    q->type = q->row ? (enum ptxi_type)ptxi_isa_word(type, strlen(type)) : PTXI_T_NONE;
    return q->row;
}

/* --- grids --- */

enum { MOST_ROWS = 256, MOST_COLUMNS = 256 };

/* `across` elements of a row, or of a column, are in one cell: they fill a register. */
struct grid {
    unsigned rows, columns, across;
    bool down;
    bool parts; /* a cell is but a part of a register */
    char cell[MOST_ROWS][MOST_COLUMNS][24];
};

static void put_wide_range(int width, unsigned first, unsigned count)
{
    char text[16];

    snprintf(text, sizeof text, count > 1 ? "%u-%u" : "%u", first, first + count - 1);
    printf("%*s", width, text);
}

static void put_range(unsigned first, unsigned count)
{
    put_wide_range(8, first, count);
}

static void print_grid(const struct grid *g)
{
    unsigned right = g->down ? 1 : g->across, below = g->down ? g->across : 1;
    int width = g->parts ? 12 : 8;

    printf("%8s", "");
    for (unsigned c = 0; c < g->columns; c += right)
        put_wide_range(width, c, right);
    puts("");
    for (unsigned r = 0; r < g->rows; r += below) {
        put_range(r, below);
        for (unsigned c = 0; c < g->columns; c += right)
            printf("%*s", width, g->cell[r][c]);
        puts("");
    }
}

static struct grid *new_grid(unsigned rows, unsigned columns)
{
    struct grid *g = calloc(1, sizeof *g);

    if (!g)
        ptxi_cmd_error("not enough memory");
    else
        *g = (struct grid){ .rows = rows, .columns = columns, .across = 1 };
    return g;
}

static void set_cell(struct grid *g, unsigned row, unsigned column, unsigned lane, unsigned reg)
{
    snprintf(g->cell[row][column], sizeof g->cell[row][column], "%u:%u", lane, reg);
}

static int show(const char *what, struct grid *g)
{
    if (!g)
        return CMD_FAILED;
    printf("%s: lane:register%s of each element%s\n", what, g->parts ? "[lowest bit]" : "",
           g->parts || g->across == 1 ? "" : g->down ? "; elements of a cell from the top down fill the register from its low bits up"
                                         : "; elements of a cell from the left fill the register from its low bits up");
    print_grid(g);
    free(g);
    return CMD_OK;
}

static int show_fragment(const char *what, const struct ptxi_fragment *f, unsigned rows, unsigned columns)
{
    struct grid *g = new_grid(rows, columns);

    for (unsigned r = 0; r < rows && g; r++)
        for (unsigned c = 0; c < columns; c++) {
            struct ptxi_place p = ptxi_fragment_place(f, r, c);

            set_cell(g, r, c, p.lane, p.reg);
            if (f->piece < f->width / f->bits)
                snprintf(g->cell[r][c], sizeof g->cell[r][c], "%u:%u[%u]", p.lane, p.reg, p.bit);
        }
    if (g) {
        g->across = f->piece < f->width / f->bits ? f->piece : f->width / f->bits;
        g->parts = g->across < f->width / f->bits;
        g->down = f->columns;
    }
    return show(what, g);
}

/* --- operands --- */

static unsigned container_bits(const struct request *q)
{
    return row_has(q->row, "kind::mxf4") || row_has(q->row, "kind::mxf4nvf4") ? 4 : ptxi_types[q->type].bits;
}

/* mma.m8n8k4.f16: the first of its four products. */
static int show_m8n8k4(const char *what, const char *operand)
{
    bool col = strstr(operand, ".col"), f16 = strstr(operand, ".f16");
    unsigned rows = operand[0] == 'B' ? 4 : 8, columns = operand[0] == 'A' ? 4 : 8;
    struct grid *g = new_grid(rows, columns);

    for (unsigned l = 0; l < 32 && g; l++)
        for (unsigned i = 0; i < (rows == columns ? 8 : 4) && l % 16 < 4; i++) {
            struct ptxi_element e = operand[0] == 'A' ? ptxi_fragment_m8n8k4_a(col, l, i) : operand[0] == 'B' ? ptxi_fragment_m8n8k4_b(col, l, i)
                                                                                            : ptxi_fragment_m8n8k4_c(!f16, l, i);

            set_cell(g, e.row, e.column, l, rows == columns && !f16 ? i : i / 2);
        }
    puts("The first of four products: the others have the lanes 4, 8 and 12 higher.");
    return show(what, g);
}

/* The metadata of a sparse operation for selector 0: a cell holds the lane and the lowest of a chunk's 4 bits. */
static int show_metadata(const struct request *q, const char *what)
{
    unsigned bits = container_bits(q), size = ptxi_sparse_chunk(bits), chunks = q->k / size;
    struct grid *g = new_grid(16, q->k);

    for (unsigned r = 0; r < 16 && g; r++)
        for (unsigned c = 0; c < chunks; c++) {
            struct ptxi_place p = ptxi_sparse_place(bits, r, c, chunks, 0);

            snprintf(g->cell[r][c * size], sizeof g->cell[r][c * size], "%u:[%u]", p.lane, p.bit);
        }
    if (!g)
        return CMD_FAILED;
    g->across = size;
    printf("%s, selector 0: lane:[lowest bit] of the 4 bits of each chunk of A\n", what);
    print_grid(g);
    free(g);
    return CMD_OK;
}

/* wmma: fragments of the products of 16x8 elements that the whole is made of. */
static int show_wmma(const struct request *q, const char *what, const char *operand)
{
    bool f16 = strstr(operand, ".f16"), result = operand[0] > 'B';
    unsigned bits = result ? q->type == PTXI_T_f64 ? 64 : f16 ? 16 : 32 : container_bits(q);
    unsigned rows = operand[0] == 'B' ? q->k : q->m, columns = operand[0] == 'A' ? q->k : q->n;
    struct ptxi_wmma_shape s = ptxi_wmma_shape(q->m, q->n, q->k);
    char name = result ? 'c' : operand[0] == 'A' ? 'a' : 'b';
    struct ptxi_fragment f = ptxi_wmma_fragment(s, name, bits);
    struct grid *g = new_grid(rows, columns);

    for (unsigned l = 0; l < 32 && g; l++)
        for (unsigned r = rows * columns * bits / 32 / f.width; r--;)
            for (unsigned bit = 0; bit < f.width; bit += bits) {
                struct ptxi_element e = ptxi_wmma_element(s, name, bits, l, r, bit);

                set_cell(g, e.row, e.column, l, r);
            }
    if (g) {
        g->across = f.width / bits;
        g->down = f.columns != s.transposed;
    }
    return show(what, g);
}

static int show_operand(const struct request *q, const char *operand)
{
    bool group = q->row->family == PTXI_M_wgmma, f16 = strstr(operand, ".f16");
    unsigned bits = container_bits(q), rows = group ? 16 : q->m, result = q->type == PTXI_T_f64 ? 64 : f16 ? 16 : 32;
    struct ptxi_fragment f;
    char what[96];

    snprintf(what, sizeof what, "%s%s m%un%uk%u .%s, %s", q->row->mnemonic, q->sparse ? ".sp" : "", q->m, q->n, q->k, ptxi_types[q->type].name, operand);
    if (group)
        puts("Rows of the warpgroup's first warp; each further warp has the 16 rows below.");
    if (q->row->family == PTXI_M_wmma)
        return show_wmma(q, what, operand);
    if (rows == 8 && q->type == PTXI_T_f16)
        return show_m8n8k4(what, operand);
    switch (operand[0]) {
    case 'A':
        f = ptxi_fragment_a(rows, bits);
        return show_fragment(what, &f, rows, q->sparse ? q->k / 2 : q->k);
    case 'B':
        f = ptxi_fragment_b(q->n, bits);
        return show_fragment(what, &f, q->k, q->n);
    case 'E':
        return show_metadata(q, what);
    default:
        f = ptxi_fragment_c(rows, result);
        return show_fragment(what, &f, rows, q->n);
    }
}

static bool fits(const struct request *q, const char *operand)
{
    if (!operand || !strchr("ABCDE", operand[0]) || (operand[1] && operand[1] != '.'))
        return false;
    return (operand[0] != 'E' || q->sparse) && (operand[0] != 'B' || q->row->family != PTXI_M_wgmma);
}

/* --- matrices that are moved --- */

static struct ptxi_fragment fragment_m8n8(unsigned count)
{
    return ptxi_fragment_m8n8(count, false);
}

static struct ptxi_fragment fragment_turned(unsigned count)
{
    return ptxi_fragment_m8n8(count, true);
}

static const struct moved {
    const char *name, *tail;  /* before and behind .xN */
    unsigned most;            /* matrices; 0: the name has no .xN */
    unsigned rows, columns;   /* of one */
    struct ptxi_fragment (*of)(unsigned count);
} moved[] = {
    { "ldmatrix.m8n8", "", 4, 8, 8, fragment_m8n8 },
    { "ldmatrix.m8n8", ".trans", 4, 8, 8, fragment_turned },
    { "stmatrix.m8n8", "", 4, 8, 8, fragment_m8n8 },
    { "stmatrix.m8n8", ".trans", 4, 8, 8, fragment_turned },
    { "movmatrix.m8n8", "", 0, 8, 8, fragment_m8n8 },
    { "ldmatrix.m16n16", ".trans", 2, 16, 16, ptxi_fragment_m16n16 },
    { "ldmatrix.m8n16", "", 4, 8, 16, ptxi_fragment_m8n16 },
    { "stmatrix.m16n8", ".trans", 4, 16, 8, ptxi_fragment_m16n8 },
};

/* False: it is no such name. */
static bool show_moved(const char *name, int *rc)
{
    for (unsigned k = 0; k < sizeof moved / sizeof *moved; k++) {
        const struct moved *x = &moved[k];

        for (unsigned count = 1; count <= (x->most ? x->most : 1); count *= 2) {
            struct ptxi_fragment f = x->of(count);
            char known[64];

            snprintf(known, sizeof known, x->most ? "%s.x%u%s" : "%s", x->name, count, x->tail);
            if (strcmp(name, known))
                continue;
            *rc = show_fragment(name, &f, x->rows * (f.columns ? 1 : count), x->columns * (f.columns ? count : 1));
            return true;
        }
    }
    return false;
}

/* --- tensor memory --- */

static const struct {
    const char *name;
    enum ptxi_tmem_shape shape;
    unsigned lanes, registers, columns; /* of .x1 */
} tensor_shapes[] = { { "32x32b", PTXI_TMEM_32X32B, 32, 1, 1 },   { "16x64b", PTXI_TMEM_16X64B, 16, 1, 2 },    { "16x128b", PTXI_TMEM_16X128B, 16, 2, 4 },
                      { "16x256b", PTXI_TMEM_16X256B, 16, 4, 8 }, { "16x32bx2", PTXI_TMEM_16X32BX2, 16, 1, 2 } };

/* tcgen05.ld and tcgen05.st. The second columns of 16x32bx2 are drawn beside the first ones. */
static bool show_tensor(const char *name, int *rc)
{
    for (unsigned k = 0; k < sizeof tensor_shapes / sizeof *tensor_shapes; k++)
        for (unsigned count = 1; tensor_shapes[k].columns * count <= MOST_COLUMNS && count <= 128; count *= 2) {
            char known[64];
            struct grid *g;

            snprintf(known, sizeof known, "tcgen05.%s.x%u", tensor_shapes[k].name, count);
            if (strcmp(name, known))
                continue;
            g = new_grid(tensor_shapes[k].lanes, tensor_shapes[k].columns * count);
            for (unsigned l = 0; l < 32 && g; l++)
                for (unsigned r = 0; r < tensor_shapes[k].registers * count; r++) {
                    struct ptxi_element e = ptxi_fragment_tmem(tensor_shapes[k].shape, l, r);

                    set_cell(g, e.row, e.column + (tensor_shapes[k].shape == PTXI_TMEM_16X32BX2 && l >= 16 ? count : 0), l, r);
                }
            puts("Lanes of tensor memory down, columns across.");
            *rc = show(name, g);
            return true;
        }
    return false;
}

/* --- swizzled shared memory --- */

static int show_swizzle(unsigned width)
{
    enum { UNIT = 16, LINE = 128 };
    unsigned units = width / UNIT, rows = LINE / width; /* in a line */

    printf("swizzle.%uB: shared memory in lines of 128 bytes, at a multiple of %u bytes; row:unit of 16 bytes that lies there\n", width, 8 * width);
    printf("%8s", "byte");
    for (unsigned at = 0; at < LINE; at += UNIT)
        printf("%8u", at);
    printf("\n%8s", "banks");
    for (unsigned at = 0; at < LINE; at += UNIT)
        put_range(at / 4, 4);
    puts("");
    for (unsigned line = 0; line < 8 / rows; line++) {
        printf("%8u", line * LINE);
        for (unsigned place = 0; place < LINE / UNIT; place++) {
            char text[16];

            snprintf(text, sizeof text, "%u:%u", line * rows + place / units, place % units ^ (line % units));
            printf("%8s", text);
        }
        puts("");
    }
    return CMD_OK;
}

static unsigned swizzle_width(const char *name)
{
    static const unsigned widths[] = { 32, 64, 128 };
    char known[32];

    for (unsigned k = 0; k < sizeof widths / sizeof *widths; k++) {
        snprintf(known, sizeof known, "swizzle.%uB", widths[k]);
        if (!strcmp(name, known))
            return widths[k];
    }
    return 0;
}

int ptxi_cmd_layout(int argc, char **argv)
{
    struct request q = { .m = 0 };
    int rc;

    if (argc < 2) {
        ptxi_cmd_error("which layout?");
        return ptxi_cmd_usage();
    }
    if (argc == 2 && swizzle_width(argv[1]))
        return show_swizzle(swizzle_width(argv[1]));
    if (argc == 2 && (show_moved(argv[1], &rc) || show_tensor(argv[1], &rc)))
        return rc;
    if (!read_request(argv[1], &q)) {
        ptxi_cmd_error("no layout '%s'", argv[1]);
        return ptxi_cmd_usage();
    }
    if (argc != 3 || !fits(&q, argv[2])) {
        ptxi_cmd_error("which operand of %s: %sC or D%s?", argv[1], q.row->family != PTXI_M_wgmma ? "A, B, " : "A, ", q.sparse ? ", or E, the metadata" : "");
        return ptxi_cmd_usage();
    }
    return show_operand(&q, argv[2]);
}
