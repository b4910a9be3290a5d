/* Cases of wgmma.mma_async. A block is a warpgroup. All shared memory is filled with hashes of the row's operand, so
 * the results show the bytes that a descriptor selects. If a thread has more registers of D than a case has words, they
 * are folded. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/warpgroups.h"
#include "conformance/words.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_ROWS = 2048, MANY_ROWS = 16384, A_BYTES = 8192, B_BYTES = 32768 };
static const struct group_type {
    const char *d, *a, *b, *tail;
    unsigned k;
    const struct words_masks *in_a, *in_b, *in_d;
    bool floats, turns, satfinite, dense_only;
} types[] = {
    { "f32", "f16", "f16", "", 16, &words_f16, &words_f16, &words_f32, true, true, false, false },
    { "f16", "f16", "f16", "", 16, &words_f16, &words_f16, &words_f16, true, true, false, false },
    { "f32", "bf16", "bf16", "", 16, &words_bf16, &words_bf16, &words_f32, true, true, false, false },
    { "f32", "tf32", "tf32", "", 8, &words_tf32, &words_tf32, &words_f32, true, false, false, false },
    { "f32", "e4m3", "e4m3", "", 32, &words_e4m3, &words_e4m3, &words_f32, true, false, false, false },
    { "f32", "e4m3", "e5m2", "", 32, &words_e4m3, &words_e5m2, &words_f32, true, false, false, false },
    { "f32", "e5m2", "e4m3", "", 32, &words_e5m2, &words_e4m3, &words_f32, true, false, false, false },
    { "f32", "e5m2", "e5m2", "", 32, &words_e5m2, &words_e5m2, &words_f32, true, false, false, false },
    { "f16", "e4m3", "e4m3", "", 32, &words_e4m3, &words_e4m3, &words_f16, true, false, false, false },
    { "f16", "e4m3", "e5m2", "", 32, &words_e4m3, &words_e5m2, &words_f16, true, false, false, false },
    { "f16", "e5m2", "e4m3", "", 32, &words_e5m2, &words_e4m3, &words_f16, true, false, false, false },
    { "f16", "e5m2", "e5m2", "", 32, &words_e5m2, &words_e5m2, &words_f16, true, false, false, false },
    { "s32", "s8", "s8", "", 32, &words_bits, &words_bits, &words_bits, false, false, false, false },
    { "s32", "s8", "u8", "", 32, &words_bits, &words_bits, &words_bits, false, false, false, false },
    { "s32", "u8", "s8", "", 32, &words_bits, &words_bits, &words_bits, false, false, false, false },
    { "s32", "u8", "u8", "", 32, &words_bits, &words_bits, &words_bits, false, false, false, false },
    { "s32", "s8", "s8", "", 32, &words_bits, &words_bits, &words_bits, false, false, true, false },
    { "s32", "s8", "u8", "", 32, &words_bits, &words_bits, &words_bits, false, false, true, false },
    { "s32", "u8", "s8", "", 32, &words_bits, &words_bits, &words_bits, false, false, true, false },
    { "s32", "u8", "u8", "", 32, &words_bits, &words_bits, &words_bits, false, false, true, false },
    { "s32", "b1", "b1", ".and.popc", 256, &words_bits, &words_bits, &words_bits, false, false, false, true },
};
enum { TYPES = sizeof types / sizeof *types };

/* A matrix descriptor. See PTX ISA, "Matrix Descriptor Format". Bytes count from the start of the matrix's memory. */
struct descriptor {
    unsigned offset, leading, stride, base, swizzle;
};

struct group {
    const struct group_type *type;
    bool sparse, a_in_registers, scale_d, negate_a, negate_b, turn_a, turn_b;
    unsigned n, kind, selector;
    struct descriptor a, b;
    uint32_t rows;
};

/* --- case selection --- */

/* The densest layout. Swizzling mode 1: rows of 128 bytes, 2: of 64, 3: of 32. */
static struct descriptor dense(unsigned swizzle, bool turned)
{
    static const unsigned widths[] = { 16, 128, 64, 32 };
    unsigned width = widths[swizzle];

    if (swizzle)
        return (struct descriptor){ .leading = turned ? 16 * width : 16, .stride = 8 * width, .swizzle = swizzle };
    return (struct descriptor){ .leading = turned ? 1024 : 128, .stride = turned ? 128 : 256 };
}

/* Varies values and qualifiers, in six ways for each type. */
enum { WAYS = 6 };

static bool arithmetic_group(struct group *g, unsigned number)
{
    unsigned way = number % WAYS;

    g->a_in_registers = number / WAYS % 2;
    g->sparse = number / WAYS / 2 % 2;
    g->type = &types[number / WAYS / 4];
    g->kind = way == 0 ? WORDS_WIDE : way == 1 || way == 3 ? WORDS_RAW : WORDS_NARROW;
    g->scale_d = way != 3;
    g->negate_a = g->type->floats && (way == 1 || way == 5);
    g->negate_b = g->type->floats && (way == 2 || way == 5);
    g->selector = g->sparse && g->type->k < 32 ? way % 2 : 0;
    g->n = way < 4 ? 8 : way == 4 ? 256 : g->type->floats ? 104 : 112;
    g->rows = way < 4 ? MANY_ROWS : FEW_ROWS;
    g->a = dense(way % 4, false);
    g->b = dense((way + 1) % 4, false);
    return !(g->sparse && g->type->dense_only);
}

/* Varies element placement: all layouts, dense and sparse, with any start address. */
static const unsigned layout_types[] = { 0, 3, 4, 12, 20 };
enum { LAYOUT_TYPES = sizeof layout_types / sizeof *layout_types, PLACES = 6 };

static void move(struct descriptor *d, unsigned place)
{
    static const unsigned offsets[PLACES] = { 0, 32, 0, 384, 384, 0 }, bases[PLACES] = { 0, 0, 0, 3, 0, 5 };

    d->offset = offsets[place];
    d->base = d->swizzle ? bases[place] : 0;
    if (place == 2) {
        d->leading += 592;
        d->stride += 80;
    }
}

static bool layout_group(struct group *g, unsigned number)
{
    unsigned place = number % PLACES, swizzle = number / PLACES % 4, turn = number / PLACES / 4 % 4;

    g->sparse = number / PLACES / 16 % 2;
    g->type = &types[layout_types[number / PLACES / 32]];
    g->turn_a = turn & 1;
    g->turn_b = turn & 2;
    g->kind = WORDS_NARROW;
    g->n = 32;
    g->rows = FEW_ROWS;
    g->a = dense(swizzle, g->turn_a);
    g->b = dense(swizzle, g->turn_b);
    move(&g->a, place);
    move(&g->b, (place + (turn ? 1 : 0)) % PLACES);
    return (g->type->turns || !turn) && !(g->sparse && g->type->dense_only);
}

static bool group_of(struct group *g, unsigned number, bool *is_one)
{
    enum { ARITHMETIC = TYPES * 4 * WAYS, LAYOUTS = LAYOUT_TYPES * 32 * PLACES };

    memset(g, 0, sizeof *g);
    g->scale_d = true;
    if (number < ARITHMETIC)
        *is_one = arithmetic_group(g, number);
    else if (number < ARITHMETIC + LAYOUTS)
        *is_one = layout_group(g, number - ARITHMETIC);
    return number < ARITHMETIC + LAYOUTS;
}

/* --- kernels --- */

static void put_masked(FILE *out, const char *x, const char *index, const struct words_masks *m, unsigned kind)
{
    words_put(out, x, index);
    words_mask(out, x, m, kind);
}

static void put_fill(FILE *out, const char *label, unsigned first, unsigned size, const struct words_masks *m,
                     unsigned kind)
{
    fprintf(out, "    shl.b32 %%i, %%thread, 2;\n    add.u32 %%i, %%i, %u;\n%s:\n", first, label);
    put_masked(out, "%x", "%i", m, kind);
    fprintf(out,
            "    add.u32 %%at32, %%tile, %%i;\n    st.shared.b32 [%%at32], %%x;\n    add.u32 %%i, %%i, %u;\n    "
            "setp.lt.u32 %%more, %%i, %u;\n"
            "    @%%more bra %s;\n",
            4 * CASE_BLOCK, first + size, label);
}

static void put_descriptor(FILE *out, const char *name, unsigned first, const struct descriptor *d)
{
    unsigned long long rest = (unsigned long long)(d->leading >> 4) << 16 | (unsigned long long)(d->stride >> 4) << 32 |
                              (unsigned long long)d->base << 49 | (unsigned long long)d->swizzle << 62;

    fprintf(out,
            "    add.u32 %%x, %%tile, %u;\n    bfe.u32 %%x, %%x, 4, 14;\n    cvt.u64.u32 %s, %%x;\n    or.b64 %s, %s, "
            "0x%016llx;\n",
            first + d->offset, name, name, name, rest);
}

/* Selects two indices in ascending order for every four elements, or one of two counted in halves. */
static void put_metadata(FILE *out, const struct group *g)
{
    fputs("    mov.u32 %i, 0x10001;\n", out);
    words_put(out, "%x", "%i");
    fputs("    mov.u32 %meta, 0;\n", out);
    for (unsigned k = 0; k < 8; k++) {
        fprintf(out, "    bfe.u32 %%i, %%x, %u, 4;\n", 4 * k);
        if (g->type->k == 8)
            fputs("    and.b32 %i, %i, 1;\n    mad.lo.u32 %i, %i, 10, 4;\n", out);
        else
            fputs("    mul.lo.u32 %i, %i, 6;\n    shr.u32 %i, %i, 4;\n    shl.b32 %i, %i, 2;\n    shr.u32 %i, "
                  "0xedc984, %i;\n    and.b32 %i, %i, 15;\n",
                  out);
        fprintf(out, "    bfi.b32 %%meta, %%i, %%meta, %u, 4;\n", 4 * k);
    }
}

static unsigned registers_of_d(const struct group *g)
{
    return g->type->d[1] == '1' ? g->n / 4 : g->n / 2;
}

static void put_spelling(FILE *out, const struct group *g)
{
    const struct group_type *t = g->type;

    fprintf(out, "wgmma.mma_async%s.sync.aligned.m64n%uk%u%s.%s.%s.%s%s", g->sparse ? ".sp" : "", g->n,
            g->sparse ? 2 * t->k : t->k, t->satfinite ? ".satfinite" : "", t->d, t->a, t->b, t->tail);
}

static void put_instruction(FILE *out, const struct group *g)
{
    fputs("    ", out);
    put_spelling(out, g);
    for (unsigned k = 0; k < registers_of_d(g); k++)
        fprintf(out, "%s%%acc%u", k ? ", " : " {", k);
    fprintf(out, "}, %s, %%db", g->a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%da");
    if (g->sparse)
        fprintf(out, ", %%meta, %u", g->selector);
    fprintf(out, ", %%scale");
    if (g->type->floats)
        fprintf(out, ", %d, %d", g->negate_a ? -1 : 1, g->negate_b ? -1 : 1);
    if (g->type->turns && !g->a_in_registers)
        fprintf(out, ", %d", g->turn_a);
    if (g->type->turns)
        fprintf(out, ", %d", g->turn_b);
    fputs(";\n", out);
}

static void put_operands(FILE *out, const struct group *g)
{
    char x[16];

    put_fill(out, "FILL_A", 0, A_BYTES, g->type->in_a, g->kind);
    put_fill(out, "FILL_B", A_BYTES, B_BYTES, g->type->in_b, g->kind);
    for (unsigned k = 0; k < registers_of_d(g); k++) {
        fprintf(out, "    mov.u32 %%i, 0x%x;\n", 0x20000 + k);
        snprintf(x, sizeof x, "%%acc%u", k);
        put_masked(out, x, "%i", g->type->in_d, g->kind);
    }
    for (unsigned k = 0; k < 4 && g->a_in_registers; k++) {
        fprintf(out, "    mov.u32 %%i, 0x%x;\n", 0x30000 + k);
        snprintf(x, sizeof x, "%%a%u", k);
        put_masked(out, x, "%i", g->type->in_a, g->kind);
    }
    if (!g->a_in_registers)
        put_descriptor(out, "%da", 0, &g->a);
    put_descriptor(out, "%db", A_BYTES, &g->b);
    if (g->sparse)
        put_metadata(out, g);
    fprintf(out, "    setp.eq.u32 %%scale, %d, 1;\n", g->scale_d);
}

static void put_results(FILE *out, const struct group *g, struct conformance_case *c)
{
    unsigned n = registers_of_d(g);

    for (unsigned k = 0; k < n; k++)
        if (k < CASE_WORDS)
            fprintf(out, "    mov.b32 %%r%u, %%acc%u;\n", k, k);
        else
            fprintf(out, "    mad.lo.u32 %%r%u, %%r%u, 0x9e3779b1, %%acc%u;\n", k % CASE_WORDS, k % CASE_WORDS, k);
    c->outputs = (uint8_t)(n < CASE_WORDS ? n : CASE_WORDS);
    for (unsigned k = 0; k < c->outputs; k++)
        c->output_register[k] = (uint8_t)k;
    c->registers[REG_32] = c->outputs;
}

static void put_body(FILE *out, const struct group *g, struct conformance_case *c)
{
    fprintf(out,
            "    {\n    .shared .align 1024 .b8 tile[%d];\n    .reg .b32 %%acc<%u>, %%a<4>, %%seed, %%s, %%x, %%i, "
            "%%at32, %%tile, %%meta;\n"
            "    .reg .b64 %%da, %%db;\n    .reg .pred %%more, %%scale;\n    mov.u32 %%tile, tile;\n    mov.b64 "
            "{%%seed, %%x}, %%d0;\n"
            "    mad.lo.u32 %%seed, %%seed, 0x85ebca6b, %%x;\n    mad.lo.u32 %%seed, %%row, 0xc2b2ae35, %%seed;\n",
            A_BYTES + B_BYTES, registers_of_d(g));
    put_operands(out, g);
    fputs("    fence.proxy.async;\n    bar.sync 0;\n    wgmma.fence.sync.aligned;\n", out);
    put_instruction(out, g);
    fputs("    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n", out);
    put_results(out, g, c);
    fputs("    }\n", out);
}

static void put_place(FILE *out, const char *name, const struct descriptor *d)
{
    fprintf(out, ", %s: swizzle %u, offset %u, leading %u, stride %u, base %u", name, d->swizzle, d->offset, d->leading,
            d->stride, d->base);
}

static void put_name(FILE *out, const struct group *g)
{
    put_spelling(out, g);
    fprintf(out, " (%s", words_kinds[g->kind]);
    if (!g->scale_d)
        fputs(", scale-d 0", out);
    if (g->negate_a || g->negate_b)
        fprintf(out, ", -%s%s", g->negate_a ? "a" : "", g->negate_b ? "b" : "");
    if (g->turn_a || g->turn_b)
        fprintf(out, ", transposed %s%s", g->turn_a ? "a" : "", g->turn_b ? "b" : "");
    if (g->sparse)
        fprintf(out, ", selector %u", g->selector);
    if (g->a_in_registers)
        fputs(", a in registers", out);
    else
        put_place(out, "a", &g->a);
    put_place(out, "b", &g->b);
    fputc(')', out);
}

unsigned warpgroup_build(struct conformance_case *c, unsigned number)
{
    struct group g;
    bool is_one;
    size_t size;
    FILE *out;

    do
        if (!group_of(&g, number++, &is_one))
            return 0;
    while (!is_one);
    memset(c, 0, sizeof *c);
    out = open_memstream(&c->body, &size);
    put_body(out, &g, c);
    fclose(out);
    out = open_memstream(&c->name, &size);
    put_name(out, &g);
    fclose(out);
    c->inputs = 1;
    c->input[0] = (struct column){ .class = VALUE_INT, .bits = 64, .lanes = 1, .width = 64 };
    c->registers[REG_64] = 1;
    c->rows = g.rows;
    c->key = column_hash(0, c->body, strlen(c->body));
    return number;
}
