/* Kernels of wgmma.mma_async. See matrix.h. */
#include "conformance/matrix.h"

#include <string.h>

#include "conformance/case_build.h"

enum { UNIT = 16, B_BEGINS = 8192, TILE_BYTES = B_BEGINS + 32768, SWIZZLES = 4 };

/* ---- Ways ---- */

/* A matrix in shared memory: its extent, and its descriptor without the address. See PTX ISA, "Matrix Descriptor
 * Format". */
struct place {
    unsigned bytes, offset, leading, stride, swizzle;
};

static int bit_of(const struct ptxi_opspec *s, unsigned bits)
{
    return bits & 1 ? s->ranges[s->range_count - 1].last : s->ranges[0].first;
}

/* Returns the value of a constant operand in a way, or 0 if the form has no such operand. Over all N, each way covers
 * all combinations. */
static int constant(const struct matrix_form *f, unsigned way, const char *name)
{
    unsigned bits = f->n / 8 - 1 + 8 * way;

    for (unsigned i = 0; i < f->row->spec_count; i++) {
        const struct ptxi_opspec *s = &f->row->specs[i];

        if (s->kind != PTXI_OPK_IMMEDIATE)
            continue;
        if (!strcmp(s->name, name))
            return bit_of(s, bits);
        if (bit_of(s, 0) != bit_of(s, 1))
            bits >>= 1;
    }
    return 0;
}

static bool has_ways(const struct matrix_form *f)
{
    for (unsigned i = 0; i < f->row->spec_count; i++)
        if (f->row->specs[i].kind == PTXI_OPK_IMMEDIATE && bit_of(&f->row->specs[i], 0) != bit_of(&f->row->specs[i], 1))
            return true;
    return false;
}

/* Uses the dense layout. `depth` is the number of stored elements per line. */
static struct place layout(const struct matrix_form *f, unsigned swizzle, bool turned, unsigned lines, unsigned depth,
                           unsigned step)
{
    static const unsigned widths[SWIZZLES] = { UNIT, 128, 64, 32 };
    unsigned width = widths[swizzle], row = (turned ? lines : depth) * f->bits / 8, rows = turned ? depth : lines,
             across = (row + width - 1) / width;
    struct place p = { .bytes = rows * width * across, .swizzle = swizzle };

    if (swizzle) {
        p.leading = rows * width;
        p.stride = 8 * width;
        p.offset = turned ? 0 : step * row % width;
    } else if (turned) {
        p.stride = 8 * UNIT;
        p.leading = 8 * UNIT * across;
    } else {
        p.leading = 8 * UNIT;
        p.stride = 8 * UNIT * across;
    }
    return p;
}

static struct place place_of(const struct matrix_form *f, unsigned way, bool b)
{
    unsigned number = f->n / 8 - 1, step = number + way;

    if (b)
        return layout(f, (number / 4 + way) % SWIZZLES, constant(f, way, "trans_b"), f->n, f->k, step);
    return layout(f, way, constant(f, way, "trans_a"), 64, f->sparse ? f->k / 2u : f->k, step);
}

/* ---- Kernels ---- */

static void print_place(FILE *out, unsigned way, char name, const struct place *p)
{
    unsigned long long rest = (unsigned long long)(p->leading / UNIT) << 16 |
                              (unsigned long long)(p->stride / UNIT) << 32 | (unsigned long long)p->swizzle << 62;
    unsigned begins = name == 'b' ? B_BEGINS : 0;

    fprintf(
        out,
        "    @%%way%u mov.u32 %%end%c, %u; @%%way%u add.u32 %%x, %%tile, %u; @%%way%u mov.u64 %%desc%c, 0x%016llx;\n",
        way, name, p->bytes / UNIT, way, begins + p->offset, way, name, rest);
}

static void print_places(FILE *out, const struct matrix_form *f, char name)
{
    for (unsigned way = 0; way < MATRIX_PARTS; way++) {
        struct place p = place_of(f, way, name == 'b');

        print_place(out, way, name, &p);
    }
    fprintf(out, "    bfe.u32 %%x, %%x, 4, 14; cvt.u64.u32 %%at, %%x; or.b64 %%desc%c, %%desc%c, %%at;\n", name, name);
}

static void print_head(FILE *out, const struct matrix_form *f)
{
    fprintf(
        out,
        ".visible .entry m%016llx(.param .u64 d, .param .u64 f, .param .u32 k, .param .u32 b)\n{\n    .shared .align "
        "1024 .b8 memory[%d];\n"
        "    .reg .b32 %%d<%u>, %%a<4>, %%w<4>, %%e, %%x, %%y, %%i, %%enda, %%endb, %%tile, %%thread, %%block, "
        "%%number, %%regime, %%keep, %%slot;\n"
        "    .reg .b64 %%at, %%digests, %%full, %%desca, %%descb;\n    .reg .pred %%skip, %%scale, %%way<%d>;\n"
        "    ld.param.u64 %%digests, [d]; ld.param.u64 %%full, [f]; ld.param.u32 %%keep, [k]; ld.param.u32 %%x, [b];\n"
        "    mov.u32 %%block, %%ctaid.x; add.u32 %%block, %%block, %%x; mov.u32 %%thread, %%tid.x; mov.u32 %%tile, "
        "memory;\n"
        "    div.u32 %%slot, %%block, %u;\n",
        (unsigned long long)f->key, TILE_BYTES, f->results, MATRIX_PARTS, matrix_blocks(f) / MATRIX_PARTS);
    for (unsigned way = 0; way < MATRIX_PARTS; way++)
        fprintf(out, "    setp.eq.u32 %%way%u, %%slot, %u;\n", way, way);
    fputs("    shl.b32 %slot, %slot, 4; mov.u32 %regime, 0;\n", out);
}

/* Computes %x from the instruction number and `from`. */
static void print_choice(FILE *out, const char *from, unsigned salt)
{
    fprintf(out, "    mad.lo.u32 %%x, %%number, 0x9e3779b1, 0x%x; mad.lo.u32 %%x, %s, 0xc2b2ae35, %%x;\n",
            0x85ebca77u * salt, from);
    matrix_print_mix(out);
}

static void print_fill(FILE *out, const struct matrix_form *f, char name)
{
    print_places(out, f, name);
    fprintf(out, "    mov.u32 %%i, %%thread;\nFILL%c:\n", name);
    print_choice(out, "%i", name == 'b' ? 2 : 1);
    matrix_print_pick(out, (enum matrix_values)f->in[name == 'b' ? MATRIX_B : MATRIX_A].values);
    fprintf(out,
            "    ld.global.b32 %%w0, [%%at]; ld.global.b32 %%w1, [%%at+4]; ld.global.b32 %%w2, [%%at+8]; ld.global.b32 "
            "%%w3, [%%at+12];\n"
            "    mad.lo.u32 %%y, %%i, %d, %%tile; st.shared.v4.b32 [%%y+%d], {%%w0,%%w1,%%w2,%%w3};\n"
            "    add.u32 %%i, %%i, %d; setp.lt.u32 %%skip, %%i, %%end%c; @%%skip bra FILL%c;\n",
            UNIT, name == 'b' ? B_BEGINS : 0, MATRIX_BLOCK, name, name);
}

static void print_operands(FILE *out, const struct matrix_form *f)
{
    if (f->a_in_memory) {
        print_fill(out, f, 'a');
    } else {
        print_choice(out, "%thread", 1);
        matrix_print_pick(out, (enum matrix_values)f->in[MATRIX_A].values);
        for (unsigned r = 0; r < 4; r++)
            fprintf(out, "    ld.global.b32 %%a%u, [%%at+%u];\n", r, 4 * r);
    }
    print_fill(out, f, 'b');
    print_choice(out, "%thread", 3);
    matrix_print_pick(out, (enum matrix_values)f->in[MATRIX_C].values);
    for (unsigned r = 0; r < f->results; r++)
        fprintf(out, "    ld.global.b32 %%d%u, [%%at+%u];\n", r, 4 * r);
    if (f->sparse) {
        print_choice(out, "%thread", 4);
        matrix_print_pick(out, (enum matrix_values)f->in[MATRIX_E].values);
        fputs("    ld.global.b32 %e, [%at];\n", out);
    }
    print_choice(out, "1", 5);
    fputs("    and.b32 %x, %x, 7; setp.ne.u32 %scale, %x, 0;\n", out);
}

static void print_vector(FILE *out, char name, unsigned count)
{
    for (unsigned r = 0; r < count; r++)
        fprintf(out, "%s%%%c%u", r ? "," : "{", name, r);
    fputc('}', out);
}

static void print_instruction(FILE *out, const struct matrix_form *f, unsigned way)
{
    fprintf(out, "    %.*s ", (int)strcspn(f->name, ","), f->name);
    for (unsigned i = 0; i < f->row->spec_count; i++) {
        const struct ptxi_opspec *s = &f->row->specs[i];

        fputs(i ? ", " : "", out);
        if (s->kind == PTXI_OPK_IMMEDIATE)
            fprintf(out, "%d", constant(f, way, s->name));
        else if (!strcmp(s->name, "d") || !strcmp(s->name, "a"))
            print_vector(out, s->name[0], s->name[0] == 'd' ? f->results : 4);
        else if (strstr(s->name, "_desc"))
            fprintf(out, "%%desc%c", s->name[0]);
        else
            fputs(strcmp(s->name, "scale_d") ? "%e" : "%scale", out);
    }
    fputs(";\n", out);
}

static void print_instructions(FILE *out, const struct matrix_form *f)
{
    fputs("    fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n", out);
    for (unsigned way = 0; way < (has_ways(f) ? MATRIX_PARTS : 1); way++) {
        if (has_ways(f))
            fprintf(out, "    @!%%way%u bra.uni NOT%u;\n", way, way);
        print_instruction(out, f, way);
        if (has_ways(f))
            fprintf(out, "NOT%u:\n", way);
    }
    fputs("    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n", out);
}

static void print_results(FILE *out, const struct matrix_form *f)
{
    print_choice(out, "%thread", 6);
    for (unsigned r = 0; r < f->results; r++)
        fprintf(out, "    mad.lo.u32 %%x, %%x, 0x9e3779b1, %%d%u;\n", r);
    matrix_print_mix(out);
    fputs("    add.u32 %y, %slot, %regime; mad.wide.u32 %at, %y, 4, %digests; red.global.add.u32 [%at], %x;\n", out);
    if (!matrix_words(f))
        return;
    fprintf(out, "    setp.ge.u32 %%skip, %%number, %%keep; @%%skip bra NEXT;\n"
                 "    mad.lo.u32 %%x, %%number, %u, %%thread; mad.wide.u32 %%at, %%x, 4, %%full;\n", matrix_words(f));
    for (unsigned r = 0; r < f->results; r++)
        fprintf(out, "    st.global.b32 [%%at+%u], %%d%u;\n", r * MATRIX_BLOCK * 4, r);
}

void matrix_print_group(FILE *out, const struct matrix_form *f)
{
    print_head(out, f);
    fprintf(out, "LOOP:\n    mad.lo.u32 %%number, %%block, %d, %%regime; bar.sync 0;\n", MATRIX_REGIMES);
    print_operands(out, f);
    print_instructions(out, f);
    print_results(out, f);
    fprintf(out,
            "NEXT:\n    add.u32 %%regime, %%regime, 1; setp.lt.u32 %%skip, %%regime, %d; @%%skip bra.uni LOOP;\n    "
            "ret;\n}\n",
            MATRIX_REGIMES);
}
