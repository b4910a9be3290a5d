/* The handler that tracks uninitialised values in mma: an element of D is undefined if one of its row of A, of its
 * column of B, or of C is. */
#include "exec/init/init_registers.h"
#include "exec/matrix/mma.h"

enum { PRODUCTS = 4, MAX_ROWS = 16, MAX_C = 8 };

/* What is undefined, for each product of m8n8k4, or for the only one: rows of A, columns of B, and in each row the
 * columns of C. */
struct undefined {
    uint32_t rows[PRODUCTS], columns[PRODUCTS], c[PRODUCTS][MAX_ROWS];
};

struct product {
    const struct ptxi_warp *w;
    const struct ptxi_init_view *v;
    const struct ptxi_mma *x;
    unsigned first; /* lane */
    bool quads;     /* m8n8k4 */
};

static unsigned register_bytes(const struct product *p)
{
    return p->x->a_bits == 64 ? 8 : 4;
}

static unsigned element_bits(const struct product *p, unsigned operand)
{
    switch (operand) {
    case OPERAND_A: return p->x->a_bits;
    case OPERAND_B: return p->x->b_bits;
    case OPERAND_C: return p->x->c_f16 ? 16 : 8 * register_bytes(p);
    default: return p->x->d_f16 ? 16 : 8 * register_bytes(p);
    }
}

/* The element of an operand in register r of a lane from `bit` on. */
static struct ptxi_element element_at(const struct product *p, unsigned operand, unsigned lane, unsigned r,
                                      unsigned bit)
{
    unsigned bits = element_bits(p, operand), number = (r * 8 * register_bytes(p) + bit) / bits;
    struct ptxi_fragment f;

    if (p->quads && operand == OPERAND_A)
        return ptxi_fragment_m8n8k4_a(p->x->a_col, lane, number);
    if (p->quads && operand == OPERAND_B)
        return ptxi_fragment_m8n8k4_b(p->x->b_col, lane, number);
    if (p->quads)
        return ptxi_fragment_m8n8k4_c(bits == 32, lane, number);
    if (operand == OPERAND_A)
        f = ptxi_fragment_a(p->x->m, bits);
    else
        f = operand == OPERAND_B ? ptxi_fragment_b(N, bits) : ptxi_fragment_c(p->x->m, bits);
    return ptxi_fragment_element(&f, lane, r, bit);
}

static void note_element(const struct product *p, unsigned operand, unsigned lane, unsigned r, unsigned bit,
                         struct undefined *u)
{
    struct ptxi_element e = element_at(p, operand, lane, r, bit);
    unsigned q = p->quads ? lane / 4 % 4 : 0;

    if (operand == OPERAND_A)
        u->rows[q] |= UINT32_C(1) << e.row;
    else if (operand == OPERAND_B)
        u->columns[q] |= UINT32_C(1) << e.column;
    else
        u->c[q][e.row] |= UINT32_C(1) << e.column;
}

/* Notes the undefined elements of a register of a source. */
static void note_register(const struct product *p, unsigned operand, unsigned r, struct undefined *u)
{
    unsigned source = p->x->first[operand] + r - p->x->first[OPERAND_A], bytes = register_bytes(p);
    unsigned bits = element_bits(p, operand);
    unsigned char shadows[32 * sizeof(uint64_t)];

    if (!ptxi_init_source_mask(p->w, p->v, source))
        return;
    ptxi_init_source(p->w, p->v, source, p->first, bytes, shadows);
    for (unsigned l = 0; l < 32; l++) {
        uint64_t shadow = 0;

        memcpy(&shadow, shadows + l * bytes, bytes);
        for (unsigned bit = 0; shadow && bit < 8 * bytes; bit += bits)
            if (shadow >> bit & (~UINT64_C(0) >> (64 - bits)))
                note_element(p, operand, l, r, bit, u);
    }
}

static bool is_undefined(const struct product *p, const struct undefined *u, unsigned lane, unsigned r, unsigned bit)
{
    struct ptxi_element e = element_at(p, OPERAND_D, lane, r, bit);
    unsigned q = p->quads ? lane / 4 % 4 : 0;

    return u->rows[q] >> e.row & 1 || u->columns[q] >> e.column & 1 || u->c[q][e.row] >> e.column & 1;
}

static void write_results(const struct product *p, const struct undefined *u)
{
    unsigned bytes = register_bytes(p), bits = element_bits(p, OPERAND_D);

    for (unsigned r = 0; r < register_count(p->x, OPERAND_D); r++)
        for (unsigned l = 0; p->v->to[r] != PTXI_NO_SLOT && l < 32; l++) {
            uint64_t shadow = 0;

            for (unsigned bit = 0; bit < 8 * bytes; bit += bits)
                if (is_undefined(p, u, l, r, bit))
                    shadow |= ~UINT64_C(0) >> (64 - bits) << bit;
            memcpy((unsigned char *)PTXI_SLOT(p->w, p->v->to[r]) + (p->first + l) * bytes, &shadow, bytes);
        }
}

OP( init_mma )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    const struct ptxi_mma *x = (const struct ptxi_mma *)v.list->words;
    unsigned others = x->first[OPERAND_METADATA] - x->first[OPERAND_A];

    if (!ptxi_init_source_masks(w, &v, 0, v.list->reads) || (w->active != w->live && ptxi_absent_lanes(w))) {
        ptxi_init_define_results(w, &v);
        NEXT;
    }
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        struct product p = { w, &v, x, first, x->m == 8 && x->k == 4 && x->a_bits == 16 };
        struct undefined u;

        if (!(w->active & ptxi_warp32_lanes(first / 32)))
            continue;
        memset(&u, 0, sizeof u);
        for (unsigned operand = OPERAND_A; operand <= OPERAND_C; operand++)
            for (unsigned r = 0; r < register_count(x, operand); r++)
                note_register(&p, operand, r, &u);
        if (ptxi_init_source_masks(w, &v, others, v.list->reads)) /* metadata and scales, of all elements */
            memset(u.rows, 0xff, sizeof u.rows);
        write_results(&p, &u);
    }
    for (unsigned r = 0; r < v.list->writes; r++)
        ptxi_init_finish_result(w, &v, r, x->a_bits == 64 ? 3 : 2);
    NEXT;
}
