/* Tests matrix fragments (isa/fragment.h) against the formulas of the PTX ISA for each shape. */
#include "unit/support/bits.h"

#include "isa/fragment.h"

/* Element i of lane l: its line, and its position in the line. */
typedef unsigned formula(unsigned l, unsigned i);

static unsigned group(unsigned l, unsigned i) { (void)i; return l >> 2; }
static unsigned lane_in_group(unsigned l, unsigned i) { (void)i; return l % 4; }
static unsigned c_row(unsigned l, unsigned i) { return (l >> 2) + (i < 2 ? 0 : 8); }
static unsigned c_column(unsigned l, unsigned i) { return l % 4 * 2 + (i & 1); }
static unsigned k8_row(unsigned l, unsigned i) { return (l >> 2) + (i < 2 ? 0 : 8); }
static unsigned k16_row(unsigned l, unsigned i) { return (l >> 2) + (i < 2 || (i >= 4 && i < 6) ? 0 : 8); }
static unsigned k16_column(unsigned l, unsigned i) { return l % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0); }
static unsigned k16_b(unsigned l, unsigned i) { return l % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0); }
static unsigned tf32_row(unsigned l, unsigned i) { return (l >> 2) + (i == 0 || i == 2 ? 0 : 8); }
static unsigned tf32_column(unsigned l, unsigned i) { return l % 4 + (i < 2 ? 0 : 4); }
static unsigned tf32_b(unsigned l, unsigned i) { return l % 4 + (i ? 4 : 0); }
static unsigned f64_row(unsigned l, unsigned i) { return (l >> 2) + (i % 2 ? 8 : 0); }
static unsigned f64_column(unsigned l, unsigned i) { return i % 2 == 0 ? i * 2 + l % 4 : i * 2 - 2 + l % 4; }
static unsigned f64_b(unsigned l, unsigned i) { return l % 4 + i * 4; }
static unsigned s8_row(unsigned l, unsigned i) { return (l >> 2) + (i < 4 || (i >= 8 && i < 12) ? 0 : 8); }
static unsigned s8_column(unsigned l, unsigned i) { return l % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0); }
static unsigned s8_b(unsigned l, unsigned i) { return l % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0); }
static unsigned s4_row(unsigned l, unsigned i) { return (l >> 2) + (i < 8 || (i >= 16 && i < 24) ? 0 : 8); }
static unsigned s4_column(unsigned l, unsigned i) { return l % 4 * 8 + (i & 7) + (i >= 16 ? 32 : 0); }
static unsigned s4_b(unsigned l, unsigned i) { return l % 4 * 8 + (i & 7) + (i >= 8 ? 32 : 0); }
static unsigned b1_row(unsigned l, unsigned i) { return (l >> 2) + (i < 32 || (i >= 64 && i < 96) ? 0 : 8); }
static unsigned b1_column(unsigned l, unsigned i) { return l % 4 * 32 + (i & 31) + (i >= 64 ? 128 : 0); }
static unsigned b1_b(unsigned l, unsigned i) { return l % 4 * 32 + (i & 31) + (i >= 32 ? 128 : 0); }
static unsigned wgmma_row(unsigned l, unsigned i) { return (l >> 2) + (i & 2) * 4; }
static unsigned wgmma_column(unsigned l, unsigned i) { return i / 4 * 8 + l % 4 * 2 + (i & 1); }
static unsigned pair(unsigned l, unsigned i) { return l % 4 * 2 + i % 2; }
static unsigned matrix(unsigned l, unsigned i) { return i / 2 * 8 + l / 4; }

static const struct {
    const char *name;
    char operand;
    unsigned lines, bits, count; /* elements per lane */
    formula *line, *at;
} rows[] = {
    { "m8n8k4.f64 A", 'a', 8, 64, 1, group, lane_in_group },
    { "m8n8k4.f64 B", 'b', 8, 64, 1, group, lane_in_group },
    { "m8n8k4.f64 C", 'c', 8, 64, 2, group, c_column },
    { "m16n8k4.f64 A", 'a', 16, 64, 2, f64_row, f64_column },
    { "m16n8k16.f64 A", 'a', 16, 64, 8, f64_row, f64_column },
    { "m16n8k16.f64 B", 'b', 8, 64, 4, group, f64_b },
    { "m16n8k16.f64 C", 'c', 16, 64, 4, c_row, c_column },
    { "m16n8k8.f16 A", 'a', 16, 16, 4, k8_row, pair },
    { "m16n8k8.f16 B", 'b', 8, 16, 2, group, pair },
    { "m16n8k16.f16 A", 'a', 16, 16, 8, k16_row, k16_column },
    { "m16n8k16.f16 B", 'b', 8, 16, 4, group, k16_b },
    { "m16n8k16.f16 C", 'c', 16, 16, 4, c_row, c_column },
    { "m16n8k16.f32 C", 'c', 16, 32, 4, c_row, c_column },
    { "m16n8k4.tf32 A", 'a', 16, 32, 2, tf32_row, lane_in_group },
    { "m16n8k8.tf32 A", 'a', 16, 32, 4, tf32_row, tf32_column },
    { "m16n8k8.tf32 B", 'b', 8, 32, 2, group, tf32_b },
    { "m16n8k32.s8 A", 'a', 16, 8, 16, s8_row, s8_column },
    { "m16n8k32.s8 B", 'b', 8, 8, 8, group, s8_b },
    { "m16n8k64.s4 A", 'a', 16, 4, 32, s4_row, s4_column },
    { "m16n8k64.s4 B", 'b', 8, 4, 16, group, s4_b },
    { "m16n8k256.b1 A", 'a', 16, 1, 128, b1_row, b1_column },
    { "m16n8k256.b1 B", 'b', 8, 1, 64, group, b1_b },
    { "wgmma m64n64 D", 'c', 16, 32, 32, wgmma_row, wgmma_column },
    { "wgmma m64n64.f16 D", 'c', 16, 16, 32, wgmma_row, wgmma_column },
    { "ldmatrix.x4", 'm', 4, 16, 8, matrix, pair },
    { "ldmatrix.x2.trans", 't', 2, 16, 4, matrix, pair },
};

static struct ptxi_fragment fragment(char operand, unsigned lines, unsigned bits)
{
    switch (operand) {
    case 'a': return ptxi_fragment_a(lines, bits);
    case 'b': return ptxi_fragment_b(lines, bits);
    case 'c': return ptxi_fragment_c(lines, bits);
    default: return ptxi_fragment_m8n8(lines, operand == 't');
    }
}

START_TEST(layouts_match_the_formulas)
{
    struct ptxi_fragment f = fragment(rows[_i].operand, rows[_i].lines, rows[_i].bits);
    unsigned per_register = f.width / f.bits;

    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < rows[_i].count; i++) {
            unsigned line = rows[_i].line(l, i), at = rows[_i].at(l, i);
            struct ptxi_element e = ptxi_fragment_element(&f, l, i / per_register, i % per_register * f.bits);
            struct ptxi_fragment_position p = ptxi_fragment_locate(&f, e.row, e.column);

            ck_assert_msg(e.row == (f.columns ? at : line) && e.column == (f.columns ? line : at),
                          "%s: element %u of lane %u is (%u, %u)", rows[_i].name,
                          i, l, e.row, e.column);
            ck_assert_msg(p.lane == l && p.reg == i / per_register && p.bit == i % per_register * f.bits,
                          "%s: (%u, %u) is in lane %u, register %u, bit %u", rows[_i].name, e.row, e.column, p.lane,
                          p.reg, p.bit);
        }
}
END_TEST

/* Each element of the four products has one position, in the lanes of one quad. */
START_TEST(elements_stay_in_their_quads)
{
    for (unsigned form = 0; form < 6; form++)
        for (unsigned q = 0; q < 4; q++) {
            uint64_t seen = 0;
            unsigned count = form < 4 ? 4 : 8;

            for (unsigned l = 0; l < 32; l++)
                for (unsigned i = 0; i < count && l / 4 % 4 == q; i++) {
                    struct ptxi_element e = form < 2   ? ptxi_fragment_m8n8k4_a(form, l, i)
                                            : form < 4 ? ptxi_fragment_m8n8k4_b(form & 1, l, i)
                                                       : ptxi_fragment_m8n8k4_c(form & 1, l, i);

                    ck_assert(!(seen >> (e.row * 8 + e.column) & 1));
                    seen |= UINT64_C(1) << (e.row * 8 + e.column);
                }
            ck_bits64(seen, form < 2 ? 0x0f0f0f0f0f0f0f0f : form < 4 ? 0xffffffff : UINT64_MAX);
        }
}
END_TEST

/* The metadata of all rows fill the lanes that contribute. Stored elements keep their order in a chunk. */
START_TEST(sparse_metadata)
{
    for (unsigned form = 0; form < 4; form++)
        for (unsigned bits = form < 2 ? 16 : 8, chunks = 4u << (form - form / 2), selector = 0; selector < 16 / chunks;
             selector++) {
            uint32_t seen[32] = { 0 };

            for (unsigned row = 0; row < 16; row++)
                for (unsigned c = 0; c < chunks; c++) {
                    struct ptxi_fragment_position p = ptxi_sparse_locate_index(bits, row, c, chunks, selector);

                    ck_assert_uint_lt(p.lane, 32);
                    ck_assert(!(seen[p.lane] >> p.bit & 15));
                    seen[p.lane] |= 15u << p.bit;
                }
            for (unsigned l = 0; l < 32; l++)
                ck_bits32(seen[l], l % 4 / (chunks / 4) == selector ? UINT32_MAX : 0);
        }
    ck_assert_uint_eq(ptxi_sparse_column(16, 3, 0xd), 7);
    ck_assert_uint_eq(ptxi_sparse_column(8, 2, 0x4), 4);
    ck_assert_uint_eq(ptxi_sparse_column(32, 2, 0x4), 4);
    ck_assert_uint_eq(ptxi_sparse_column(32, 2, 0xe), 5);
    ck_assert_uint_eq(ptxi_sparse_column(4, 5, 0xc), 9);
    ck_assert_uint_eq(ptxi_sparse_column(4, 7, 0xc), 15);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("place");
    TCase *t = tcase_create("place");

    tcase_add_loop_test(t, layouts_match_the_formulas, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, elements_stay_in_their_quads);
    tcase_add_test(t, sparse_metadata);
    suite_add_tcase(s, t);
    return run_suite(s);
}
