/* spcompress and spdecompress: every form, on random elements. The reference works on arrays of elements. */
#include "unit/support/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/bits.h"
#include "unit/support/minifloat_reference.h"

enum { THREADS = 64, MOST = 253, ROW = 256 };

/* Element n of a string of bits. */
static unsigned get(const uint32_t *v, unsigned n, unsigned bits)
{
    unsigned r = 0;

    for (unsigned b = 0; b < bits; b++)
        r |= (v[(n * bits + b) / 32] >> (n * bits + b) % 32 & 1) << b;
    return r;
}

static void put(uint32_t *v, unsigned n, unsigned bits, unsigned value)
{
    for (unsigned b = 0; b < bits; b++) {
        v[(n * bits + b) / 32] &= ~(1u << (n * bits + b) % 32);
        v[(n * bits + b) / 32] |= (value >> b & 1) << (n * bits + b) % 32;
    }
}

static void write_vector(FILE *out, unsigned first, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "%s%%r%u", k ? "," : "{", first + k);
    fputs("}", out);
}

/* A kernel that loads `sources` registers of its row, executes the instruction, and stores `results`. */
struct form {
    char name[64];
    unsigned counts[3], results; /* registers of each operand; the first `results` ones are written */
    bool described;              /* a descriptor is the last operand, register 255 of the row */
};

static void write_text(FILE *out, const struct form *f)
{
    unsigned at = 0, writes = f->counts[0] + (f->results > 1 ? f->counts[1] : 0);
    unsigned total = f->counts[0] + f->counts[1] + f->counts[2];

    fprintf(out, ".version 9.4\n.target sm_107a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                 "  .reg .b64 %%d; .reg .b32 %%r<256>, %%t;\n  ld.param.u64 %%d, [p]; mov.u32 %%t, %%tid.x;\n"
                 "  mad.wide.u32 %%d, %%t, %d, %%d;\n  ld.global.u32 %%r255, [%%d+%d];\n", 4 * ROW, 4 * (ROW - 1));
    for (unsigned k = 0; k < total; k++)
        fprintf(out, "  ld.global.u32 %%r%u, [%%d+%u];\n", k, 4 * k);
    fprintf(out, "  %s ", f->name);
    for (unsigned k = 0; k < 3; at += f->counts[k++]) {
        fputs(k ? ", " : "", out);
        write_vector(out, at, f->counts[k]);
    }
    fprintf(out, "%s;\n", f->described ? ", %r255" : "");
    for (unsigned k = 0; k < writes; k++)
        fprintf(out, "  st.global.u32 [%%d+%u], %%r%u;\n", 4 * k, k);
    fprintf(out, "  ret;\n}\n");
}

static ptxiResult run(const struct form *f, uint32_t (*rows)[ROW])
{
    ptxiModule module;
    ptxiFunction function;
    ptxiDevicePtr p;
    void *params[] = { &p };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ptxiResult r;

    write_text(out, f);
    fclose(out);
    ok(ptxiModuleLoadData(&module, text));
    free(text);
    ok(ptxiModuleGetFunction(&function, module, "k"));
    ok(ptxiMemAlloc(&p, THREADS * sizeof *rows));
    ok(ptxiMemcpyHtoD(p, rows, THREADS * sizeof *rows));
    ok(ptxiLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    r = ptxiCtxSynchronize();
    if (r)
        return r;
    ok(ptxiMemcpyDtoH(rows, p, THREADS * sizeof *rows));
    ok(ptxiMemFree(p));
    ok(ptxiModuleUnload(module));
    return PTXI_SUCCESS;
}

/* Few different elements, so that many are equal, and special ones. */
static void fill(uint32_t (*rows)[ROW])
{
    static const uint32_t special[] = { 0, 0x80008000, 0x7c007c00, 0x7f7fffff, 0xff80ff00, 0x80808080, 0x01020304,
                                        0xfefefefe, 0x7e7e7d7d, 0x00800080, 0x3f3f1f1f };

    srand(7);
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < ROW; k++) {
            uint32_t random = (uint32_t)rand() << 16 ^ (uint32_t)rand();

            rows[t][k] = t % 2 ? special[random % (sizeof special / sizeof *special)] : random;
        }
}

/* --- spcompress --- */
enum { U8_, S8_, F16_TYPE, BF16_TYPE, E5M2_TYPE, E4M3_TYPE, E3M2_TYPE, E2M3_TYPE, TYPES };
static const struct type {
    unsigned bits, code;
    int format; /* or -1 */
} types[TYPES] = {
    [U8_] = { 8, 0, -1 }, [S8_] = { 8, 1, -1 }, [F16_TYPE] = { 16, 0, F16_ }, [BF16_TYPE] = { 16, 1, BF16_ },
    [E5M2_TYPE] = { 8, 2, E5M2 }, [E4M3_TYPE] = { 8, 3, E4M3 }, [E3M2_TYPE] = { 8, 4, E3M2 },
    [E2M3_TYPE] = { 8, 5, E2M3 },
};
enum { MAX, MAXABS, MIN, MINABS, OPERATIONS };

static double value(int type, unsigned code)
{
    if (type == U8_)
        return code;
    if (type == S8_)
        return (int8_t)code;
    return small_number(&smalls[types[type].format], code & (2 * small_sign(&smalls[types[type].format]) - 1));
}

/* Whether x must be taken rather than y. */
static bool precedes(double x, double y, int operation)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && !isnan(y);
    if (operation == MAXABS || operation == MINABS) {
        x = fabs(x);
        y = fabs(y);
    }
    if (x == y) /* -0 is less than 0 */
        return operation <= MAXABS ? !signbit(x) && signbit(y) : signbit(x) && !signbit(y);
    return operation <= MAXABS ? x > y : x < y;
}

static void check_group(int type, int operation, const unsigned *code, const unsigned *index, const unsigned *kept)
{
    ck_assert(index[0] < index[1] && index[1] < 4);
    for (int k = 0; k < 2; k++)
        ck_assert_uint_eq(kept[k], code[index[k]]);
    for (unsigned k = 0; k < 4; k++)
        for (int taken = 0; taken < 2 && k != index[0] && k != index[1]; taken++)
            ck_assert_msg(!precedes(value(type, code[k]), value(type, kept[taken]), operation),
                          "type %d, operation %d: %#x is left out, %#x is not", type, operation, code[k], kept[taken]);
}

static void check_compress(int type, unsigned index_bits, unsigned num, int operation)
{
    static uint32_t before[THREADS][ROW], rows[THREADS][ROW];
    unsigned bits = types[type].bits, meta = (num * index_bits + bits - 1) / bits;
    struct form f = { .counts = { meta, num, 2 * num }, .results = 2, .described = true };

    snprintf(f.name, sizeof f.name, "spcompress.b%u.b%u.sp::2:4.x%u", bits, index_bits, num);
    fill(rows);
    for (int t = 0; t < THREADS; t++)
        rows[t][ROW - 1] = (uint32_t)operation | types[type].code << 2;
    memcpy(before, rows, sizeof before);
    ok(run(&f, rows));
    for (int t = 0; t < THREADS; t++) {
        const uint32_t *data = before[t] + meta + num, *cdata = rows[t] + meta;
        unsigned groups = num * 2 * 32 / bits / 4;

        for (unsigned g = 0; g < groups; g++) {
            unsigned code[4], index[2], kept[2];

            for (unsigned k = 0; k < 4; k++)
                code[k] = get(data, 4 * g + k, bits);
            for (unsigned k = 0; k < 2; k++) {
                index[k] = get(rows[t], 2 * g + k, index_bits);
                kept[k] = get(cdata, 2 * g + k, bits);
            }
            check_group(type, operation, code, index, kept);
        }
        for (unsigned b = groups * 2 * index_bits; b < 32 * meta; b++)
            ck_assert_uint_eq(get(rows[t], b, 1), 0);
    }
}

START_TEST(two_of_four_are_selected)
{
    for (int type = 0; type < TYPES; type++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            check_compress(type, _i % 2 ? 4 : 2, 1u << _i / 2, operation);
}
END_TEST

START_TEST(descriptors_must_fit)
{
    static uint32_t rows[THREADS][ROW];
    static const uint32_t bad[] = { 2 << 2, 6 << 2, 1 << 5 };
    struct form f = { .name = "spcompress.b16.b2.sp::2:4.x1", .counts = { 1, 1, 2 }, .results = 2, .described = true };

    rows[5][ROW - 1] = bad[_i];
    ck_result(run(&f, rows), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

/* --- spdecompress --- */
static void check_decompress(unsigned bits, unsigned index_bits, unsigned source, unsigned target, unsigned num)
{
    static uint32_t before[THREADS][ROW], rows[THREADS][ROW];
    struct form f = { .counts = { target * bits * num / 32, (source * index_bits * num + 31) / 32,
                                  (source * bits * num + 31) / 32 }, .results = 1 };
    unsigned meta = f.counts[0], cdata = meta + f.counts[1];

    snprintf(f.name, sizeof f.name, "spdecompress.b%u.b%u.sp::%u:%u.x%u", bits, index_bits, source, target, num);
    fill(rows);
    memcpy(before, rows, sizeof before);
    ok(run(&f, rows));
    for (int t = 0; t < THREADS; t++) {
        uint32_t want[ROW] = { 0 };

        for (unsigned n = 0; n < num * source; n++) {
            unsigned to = get(before[t] + meta, n, index_bits);

            if (to < target)
                put(want, n / source * target + to, bits, get(before[t] + cdata, n, bits));
        }
        for (unsigned k = 0; k < f.counts[0]; k++)
            ck_assert_msg(rows[t][k] == want[k], "%s: thread %d, register %u: %#x, want %#x", f.name, t, k, rows[t][k],
                          want[k]);
    }
}

START_TEST(elements_go_to_their_indices)
{
    static const unsigned factors[][2] = { { 1, 2 }, { 1, 4 }, { 1, 8 }, { 1, 16 }, { 2, 4 }, { 2, 8 }, { 2, 16 },
                                           { 4, 8 }, { 4, 16 } };

    for (unsigned k = 0; k < sizeof factors / sizeof *factors; k++)
        for (unsigned bits = 8; bits <= 16; bits *= 2)
            for (unsigned index_bits = 2; index_bits <= 4; index_bits += 2)
                for (unsigned num = 1; num <= 64; num *= 2) {
                    unsigned size = factors[k][1] * bits * num;

                    if (factors[k][0] * bits <= 32 && factors[k][1] <= 1u << index_bits && size >= 32 && size <= 4096)
                        check_decompress(bits, index_bits, factors[k][0], factors[k][1], num);
                }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sparse");
    TCase *t = tcase_create("sparse");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, two_of_four_are_selected, 0, 14);
    tcase_add_loop_test(t, descriptors_must_fit, 0, 3);
    tcase_add_test(t, elements_go_to_their_indices);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return run_suite(s);
}
