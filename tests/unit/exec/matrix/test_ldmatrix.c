/* Tests all forms of ldmatrix, stmatrix and movmatrix against the fragments of the manual, rows that may not be
 * accessed, and lanes that arrive at different times. */
#include "unit/support/kernels.h"
#include "unit/support/test_file.h"

#include <string.h>

#include "isa/fragment.h"

enum { WARP = 32, THREADS = 64, TILE = 4096, WORDS = 4 };

struct form {
    const char *text;      /* mnemonic and qualifiers; % marks the position of the state space */
    unsigned rows, bits;   /* number of addresses, bits of an element in memory */
    bool trans, store;
};

#define NUMS(text_, tail, n, rows_, bits_, trans_, store_) { text_ n tail, rows_, bits_, trans_, store_ }
#define FORMS_1_2_4(text, tail, bits, trans, store) \
    NUMS(text, tail, "x1", 8, bits, trans, store), NUMS(text, tail, "x2", 16, bits, trans, store), \
        NUMS(text, tail, "x4", 32, bits, trans, store)
#define FORMS_16(text, tail, bits) \
    NUMS(text, tail, "x1", 16, bits, true, false), NUMS(text, tail, "x2", 32, bits, true, false)

static const struct form forms[] = {
    FORMS_1_2_4("ldmatrix.sync.aligned.m8n8.", "%.b16", 16, false, false),
    FORMS_1_2_4("ldmatrix.sync.aligned.m8n8.", ".trans%.b16", 16, true, false),
    FORMS_16("ldmatrix.sync.aligned.m16n16.", ".trans%.b8", 8),
    FORMS_16("ldmatrix.sync.aligned.m16n16.", ".trans%.b8x16.b6x16_p32", 6),
    FORMS_16("ldmatrix.sync.aligned.m16n16.", ".trans%.b8x16.b4x16_p64", 4),
    FORMS_1_2_4("ldmatrix.sync.aligned.m8n16.", "%.b8x16.b6x16_p32", 6, false, false),
    FORMS_1_2_4("ldmatrix.sync.aligned.m8n16.", "%.b8x16.b4x16_p64", 4, false, false),
    FORMS_1_2_4("stmatrix.sync.aligned.m8n8.", "%.b16", 16, false, true),
    FORMS_1_2_4("stmatrix.sync.aligned.m8n8.", ".trans%.b16", 16, true, true),
    FORMS_1_2_4("stmatrix.sync.aligned.m16n8.", ".trans%.b8", 8, true, true),
};
enum { FORMS = sizeof forms / sizeof *forms };
static const char *const spaces[] = { ".shared", ".shared::cta", "" };
enum { SPACES = 3 };
/* the last offset does not fit into an instruction of our bytecode */
static const int32_t offsets[] = { 0, 32, -16, 0x7fff0000 };
enum { OFFSETS = sizeof offsets / sizeof *offsets };

static void fill_random(void *p, size_t size)
{
    for (size_t k = 0; k < size; k++)
        ((uint8_t *)p)[k] = (uint8_t)random_below(256);
}

/* --- the reference: the element for byte b of register r of a lane --- */
struct place {
    /* the row is the number of the lane that gives its address; byte within an element of 16 bits */
    unsigned row, element, byte;
};

static struct place place_of(const struct form *f, unsigned r, unsigned lane, unsigned b)
{
    unsigned g = lane / 4, t = lane % 4;

    if (f->bits == 16 && !f->trans)
        return (struct place){ 8 * r + g, 2 * t + b / 2, b % 2 };
    if (f->bits == 16)
        return (struct place){ 8 * r + 2 * t + b / 2, g, b % 2 };
    if (f->store) /* 16x8, transposed: columns 2t and 2t + 1 of row g, then of row g + 8 */
        return (struct place){ 8 * r + 2 * t + b % 2, g + 8 * (b / 2), 0 };
    if (f->trans) /* 16x16: columns 4t to 4t + 3 of row g in the first register, of row g + 8 in the second */
        return (struct place){ 16 * (r / 2) + 4 * t + b, g + 8 * (r % 2), 0 };
    return (struct place){ 8 * r + g, 4 * t + b, 0 };
}

static uint8_t element(const struct form *f, const uint8_t *row, const struct place *p)
{
    unsigned value = 0;

    if (f->bits >= 8)
        return row[p->element * (f->bits / 8) + p->byte];
    for (unsigned k = 0; k < f->bits; k++)
        value |= (unsigned)(row[(p->element * f->bits + k) / 8] >> (p->element * f->bits + k) % 8 & 1) << k;
    return (uint8_t)value;
}

/* --- kernels --- */
/* Prints a kernel that copies the tile in, runs the form with the registers from `regs`, and copies tile and
 * registers out. */
static void print_kernel(FILE *out, unsigned f, unsigned s, unsigned o)
{
    static const char *const vectors[] = { "{%r0}", "{%r0,%r1}", "{%r0,%r1,%r2,%r3}" };
    const struct form *form = &forms[f];
    const char *space_mark = strchr(form->text, '%'), *vector = vectors[form->rows == 8 ? 0 : form->rows == 16 ? 1 : 2];
    bool generic = !*spaces[s];

    fprintf(out, ".visible .entry k%u_%u_%u(.param .u64 rows, .param .u64 regs, .param .u64 image) {\n"
                 "  .shared .align 16 .b8 tile[%d]; .reg .b64 %%w<9>; .reg .b32 %%r<4>, %%a, %%b, %%t, %%n, %%v; "
                 ".reg .pred %%p;\n"
                 "  ld.param.u64 %%w0, [rows]; ld.param.u64 %%w1, [regs]; ld.param.u64 %%w2, [image]; "
                 "mov.u32 %%t, %%tid.x; mov.u32 %%b, tile;\n"
                 "  mov.u32 %%n, %%t;\n"
                 "IN: mad.wide.u32 %%w3, %%n, 4, %%w2; ld.global.u32 %%v, [%%w3]; mad.lo.u32 %%a, %%n, 4, %%b; "
                 "st.shared.u32 [%%a], %%v;\n"
                 "  add.u32 %%n, %%n, %d; setp.lt.u32 %%p, %%n, %d; @%%p bra IN; bar.sync 0;\n"
                 "  mad.wide.u32 %%w3, %%t, 4, %%w0; ld.global.u32 %%v, [%%w3]; add.u32 %%a, %%b, %%v; "
                 "sub.u32 %%a, %%a, %d;\n"
                 "  cvt.u64.u32 %%w4, %%b; cvta.shared.u64 %%w4, %%w4; cvt.s64.s32 %%w5, %%v; "
                 "add.u64 %%w4, %%w4, %%w5; sub.u64 %%w4, %%w4, %d;\n"
                 "  mad.wide.u32 %%w6, %%t, 16, %%w1; ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3}, [%%w6];\n",
            f, s, o, TILE, THREADS, TILE / 4, offsets[o], offsets[o]);
    fprintf(out, "  %.*s%s%s ", (int)(space_mark - form->text), form->text, spaces[s], space_mark + 1);
    if (form->store)
        fprintf(out, "[%%%s+%d], %s;\n", generic ? "w4" : "a", offsets[o], vector);
    else
        fprintf(out, "%s, [%%%s+%d];\n", vector, generic ? "w4" : "a", offsets[o]);
    fprintf(out, "  st.global.v4.b32 [%%w6], {%%r0,%%r1,%%r2,%%r3}; bar.sync 0; mov.u32 %%n, %%t;\n"
                 "OUT: mad.wide.u32 %%w3, %%n, 4, %%w2; mad.lo.u32 %%a, %%n, 4, %%b; ld.shared.u32 %%v, [%%a]; "
                 "st.global.u32 [%%w3], %%v;\n"
                 "  add.u32 %%n, %%n, %d; setp.lt.u32 %%p, %%n, %d; @%%p bra OUT; ret; }\n",
            THREADS, TILE / 4);
}

/* --- running --- */
static ptxiDevicePtr rows, regs, image;

static void print_kernels(FILE *out)
{
    fputs(test_file("exec/matrix/ldmatrix.ptx"), out);
    for (unsigned f = 0; f < FORMS; f++)
        for (unsigned s = 0; s < SPACES; s++)
            for (unsigned o = 0; o < OFFSETS; o++)
                print_kernel(out, f, s, o);
}

static void set_up(void)
{
    load_kernels("8.8", "sm_120a", print_kernels);
    ck_assert_int_eq(ptxiMemAlloc(&rows, THREADS * 4) | ptxiMemAlloc(&regs, THREADS * 16) | ptxiMemAlloc(&image, TILE),
                     PTXI_SUCCESS);
}

struct data {
    uint32_t rows[THREADS];
    uint8_t regs[THREADS][WORDS][4];
    uint8_t image[TILE];
};

/* Chooses different rows for stores. Loads may share rows. Lanes have an invalid address if it is not used. */
static void fill(const struct form *f, struct data *d)
{
    uint32_t slots[TILE / 16];

    for (unsigned k = 0; k < TILE / 16; k++) {
        uint32_t j = random_below(k + 1);

        slots[k] = slots[j];
        slots[j] = 16 * k;
    }
    for (unsigned t = 0; t < THREADS; t++)
        d->rows[t] = t % WARP >= f->rows ? 0x00dead01 : f->store ? slots[t] : 16 * random_below(TILE / 16);
    fill_random(d->image, sizeof d->image);
    fill_random(d->regs, sizeof d->regs);
}

static void expect(const struct form *f, struct data *d)
{
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned r = 0; r < f->rows / 8; r++)
            for (unsigned b = 0; b < 4; b++) {
                struct place p = place_of(f, r, t % WARP, b);
                uint8_t *row = d->image + d->rows[t / WARP * WARP + p.row];

                if (f->store)
                    row[p.element * (f->bits / 8) + p.byte] = d->regs[t][r][b];
                else
                    d->regs[t][r][b] = element(f, row, &p);
            }
}

START_TEST(fragments_match_the_manual)
{
    const struct form *f = &forms[_i];
    static struct data in, want, got;
    void *params[] = { &rows, &regs, &image };
    char name[32];

    for (unsigned k = 0; k < SPACES * OFFSETS * 3; k++) {
        fill(f, &in);
        want = got = in;
        expect(f, &want);
        ck_assert_int_eq(ptxiMemcpyHtoD(rows, in.rows, sizeof in.rows) | ptxiMemcpyHtoD(regs, in.regs, sizeof in.regs) |
                             ptxiMemcpyHtoD(image, in.image, sizeof in.image), PTXI_SUCCESS);
        snprintf(name, sizeof name, "k%d_%u_%u", _i, k % SPACES, k / SPACES % OFFSETS);
        ck_assert_int_eq(launch(name, THREADS, params), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(got.regs, regs, sizeof got.regs) |
                         ptxiMemcpyDtoH(got.image, image, sizeof got.image), PTXI_SUCCESS);
        for (unsigned b = 0; b < sizeof got.regs; b++)
            ck_bits8_at(got.regs[b / 16][b / 4 % 4][b % 4], want.regs[b / 16][b / 4 % 4][b % 4],
                        "%s %s: thread %u, register %u, byte %u", f->text, name, b / 16, b / 4 % 4, b % 4);
        for (unsigned b = 0; b < TILE; b++)
            ck_bits8_at(got.image[b], want.image[b], "%s %s: byte %u of memory", f->text, name, b);
    }
}
END_TEST

START_TEST(movmatrix_transposes)
{
    uint16_t in[THREADS][8], out[THREADS][8];
    void *params[] = { &regs };

    fill_random(in, sizeof in);
    ck_assert_int_eq(ptxiMemcpyHtoD(regs, in, sizeof in), PTXI_SUCCESS);
    ck_assert_int_eq(launch("mov", THREADS, params), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemcpyDtoH(out, regs, sizeof out), PTXI_SUCCESS);
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned h = 0; h < 2; h++) {
            /* element `column` of row `row` of the source */
            unsigned l = t % WARP, row = 2 * (l % 4) + h, column = l / 4;

            ck_bits16_at(out[t][h], in[t / WARP * WARP + 4 * row + column / 2][column % 2], "thread %u, half %u", t, h);
        }
}
END_TEST

START_TEST(destinations_may_be_dropped)
{
    uint32_t out[THREADS][4];
    void *params[] = { &regs };

    ck_assert_int_eq(launch("sinks", THREADS, params), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemcpyDtoH(out, regs, sizeof out), PTXI_SUCCESS);
    for (unsigned t = 0; t < THREADS; t++) {
        ck_bits32(out[t][0], 8 + t % WARP / 4);
        ck_bits32(out[t][1], 24 + t % WARP / 4);
    }
}
END_TEST

START_TEST(lanes_wait_for_each_other)
{
    uint32_t out[THREADS][4], last_lane;
    void *params[] = { &regs, &last_lane };

    /* lanes 0 to 7 give the rows, the other lanes may have exited */
    for (last_lane = 31; last_lane >= 7; last_lane -= 8) {
        ck_assert_int_eq(launch("late", WARP, params), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(out, regs, sizeof out), PTXI_SUCCESS);
        for (unsigned t = 0; t <= last_lane; t++)
            ck_bits32_at(out[t][0], t / 4, "thread %u of %u", t, last_lane + 1);
        if (last_lane == 7)
            break;
    }
    last_lane = 6;
    ck_assert_int_eq(launch("late", WARP, params), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(ptxiCtxSynchronize(), PTXI_SUCCESS);
    ck_assert_int_eq(launch("never", THREADS, NULL), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

START_TEST(bad_rows_are_faults)
{
    static const struct {
        uint64_t row_offset;
        uint32_t lane;
        ptxiResult result;
    } loads[] = {
        { 8, 0, PTXI_ERROR_MISALIGNED_ADDRESS }, { 512, 7, PTXI_ERROR_ILLEGAL_ADDRESS }, { 496, 7, PTXI_SUCCESS },
        { -(uint64_t)1040, 15, PTXI_ERROR_ILLEGAL_ADDRESS }, { UINT64_MAX / 2, 3, PTXI_ERROR_ILLEGAL_ADDRESS },
        { 0xabcdef01, 16, PTXI_SUCCESS },
    };

    for (unsigned k = 0; k < sizeof loads / sizeof *loads; k++) {
        uint64_t row_offset = loads[k].row_offset;
        uint32_t lane = loads[k].lane;
        void *params[] = { &row_offset, &lane };

        ck_assert_int_eq(launch("bad", WARP, params), loads[k].result);
        if (row_offset < 1024)
            ck_assert_int_eq(launch("bad_store", WARP, params), loads[k].result);
    }
}
END_TEST

/* `ptxi layout` draws the matrices below each other, or side by side if they are transposed. */
START_TEST(fragments_match_the_drawing)
{
    const struct form *f = &forms[_i];
    bool bytes = f->bits < 16;
    unsigned count = f->rows / (bytes && f->trans && !f->store ? 16 : 8), registers = bytes && f->trans &&
        !f->store ? 2 * count : count;
    struct ptxi_fragment x = !bytes ? ptxi_fragment_m8n8(count, f->trans) : f->store ? ptxi_fragment_m16n8(count)
                             : f->trans ? ptxi_fragment_m16n16(count) : ptxi_fragment_m8n16(count);

    for (unsigned l = 0; l < WARP; l++)
        for (unsigned r = 0; r < registers; r++)
            for (unsigned b = 0; b < 4; b += bytes ? 1 : 2) {
                struct place p = place_of(f, r, l, b);
                struct ptxi_element e = ptxi_fragment_element(&x, l, r, 8 * b);
                unsigned size = bytes ? 16 : 8;

                if (bytes && f->store) { /* a row of memory is a column */
                    ck_assert_uint_eq(e.row, p.element + p.row / 8 * 16);
                    ck_assert_uint_eq(e.column, p.row % 8);
                } else if (f->trans) {
                    ck_assert_uint_eq(e.row, p.row % size);
                    ck_assert_uint_eq(e.column, p.element + p.row / size * size);
                } else {
                    ck_assert_uint_eq(e.row, p.row);
                    ck_assert_uint_eq(e.column, p.element);
                }
            }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fragment");
    TCase *t = tcase_create("forms"), *u = tcase_create("rules");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, fragments_match_the_manual, 0, FORMS);
    tcase_add_loop_test(t, fragments_match_the_drawing, 0, FORMS);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(u, set_up, close_context);
    tcase_add_test(u, movmatrix_transposes);
    tcase_add_test(u, destinations_may_be_dropped);
    tcase_add_test(u, lanes_wait_for_each_other);
    tcase_add_test(u, bad_rows_are_faults);
    suite_add_tcase(s, u);
    return run_suite(s);
}
