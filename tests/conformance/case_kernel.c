/* The PTX of the conformance kernels. See cases.h. */
#include "conformance/cases.h"

unsigned case_digests(const struct conformance_case *c)
{
    return c->fine / CASE_FINE + (c->rows - c->fine) / CASE_COARSE;
}

unsigned case_record_words(const struct conformance_case *c)
{
    return case_digests(c) + c->outputs * CASE_FULL;
}

void case_print_head(FILE *out)
{
    fputs(".version 9.0\n.target sm_90a\n.address_size 64\n", out);
}

static const char *const register_types[REG_KINDS] = { "pred", "b8", "b16", "b32", "b64", "b128" };
static const char register_letters[REG_KINDS] = { 'p', 'b', 'h', 'r', 'd', 'q' };

static void print_registers(FILE *out, const struct conformance_case *c)
{
    for (unsigned k = 0; k < REG_KINDS; k++)
        if (c->registers[k])
            fprintf(out, "    .reg .%s %%%c<%u>;\n", register_types[k], register_letters[k], c->registers[k]);
}

static char input_letter(const struct column *c)
{
    return c->width == 16 ? 'h' : c->width == 32 ? 'r' : 'd';
}

void case_print_kernel(FILE *out, const struct conformance_case *c)
{
    fprintf(out,
            ".visible .entry k%016llx(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 o, "
            ".param .u64 m, .param .u32 n)\n{\n",
            (unsigned long long)c->key);
    print_registers(out, c);
    fprintf(out, "    .reg .b32 %%block, %%thread, %%row, %%n;\n    .reg .b64 %%at, %%by, %%global, %%shared;\n");
    if (c->shared_cell)
        fprintf(out, "    .shared .align 16 .b8 cells[%d];\n", CASE_BLOCK * 16);
    fprintf(out,
            "    mov.u32 %%block, %%ctaid.x;\n    mov.u32 %%thread, %%tid.x;\n    mad.lo.u32 %%row, %%block, %d, "
            "%%thread;\n",
            CASE_BLOCK);
    if (c->shared_cell)
        fputs("    mov.u64 %shared, cells;\n    mad.wide.u32 %shared, %thread, 16, %shared;\n", out);
    if (c->global_cell)
        fputs("    ld.param.u64 %global, [m];\n    mad.wide.u32 %global, %row, 16, %global;\n", out);
    for (unsigned i = 0; i < c->inputs; i++)
        fprintf(out,
                "    ld.param.u64 %%at, [%c];\n    mad.wide.u32 %%at, %%row, %u, %%at;\n    ld.global.b%u %%%c%u, "
                "[%%at];\n",
                'a' + i, c->input[i].width / 8, c->input[i].width, input_letter(&c->input[i]), c->input_register[i]);
    fputs(c->body, out);
    fputs("    ld.param.u64 %at, [o];\n    ld.param.u32 %n, [n];\n    mul.wide.u32 %by, %n, 4;\n    mad.wide.u32 %at, "
          "%row, 4, %at;\n",
          out);
    for (unsigned i = 0; i < c->outputs; i++)
        fprintf(out, "%s    st.global.b32 [%%at], %%r%u;\n", i ? "    add.u64 %at, %at, %by;\n" : "",
                c->output_register[i]);
    fputs("    ret;\n}\n", out);
}

/* Computes one row's contribution to a digest, which is a sum. The result is in %h. The inputs are %row and the output
 * words. Each output contributes differently. */
static void print_hash_start(FILE *out)
{
    fputs("    mul.lo.u32 %h, %row, 0x9e3779b1;\n", out);
}

static void print_hash_word(FILE *out, const char *word)
{
    fprintf(out,
            "    xor.b32 %%h, %%h, %s;\n    mul.lo.u32 %%h, %%h, 0x85ebca6b;\n    shr.u32 %%s, %%h, 15;\n    xor.b32 "
            "%%h, %%h, %%s;\n"
            "    mul.lo.u32 %%h, %%h, 0xc2b2ae35;\n    shr.u32 %%s, %%h, 13;\n    xor.b32 %%h, %%h, %%s;\n",
            word);
}

static void print_spread(FILE *out, const struct exhaustive *x)
{
    unsigned a = x->of->input_register[0], b = x->of->input_register[1];

    switch (x->spread) {
    case SPREAD_WHOLE:
        fprintf(out, "    mov.b32 %%r%u, %%row;\n", a);
        break;
    case SPREAD_HALVES:
        fprintf(out, "    mov.b32 {%%h%u, %%h%u}, %%row;\n", b, a);
        break;
    case SPREAD_UPPER:
        fprintf(out, "    mov.b64 %%d%u, {%%constant, %%row};\n", a);
        break;
    case SPREAD_SECOND:
        fprintf(out, "    mov.b32 %%r%u, %%constant;\n    mov.b32 %%r%u, %%row;\n", a, b);
        break;
    }
}

/* Derives the constant from a parameter that is always 0. This prevents constant folding by the assembler. */
void case_print_exhaustive(FILE *out, const struct exhaustive *x)
{
    unsigned rows = (unsigned)((1ull << 32) / EXHAUSTIVE_DIGESTS / EXHAUSTIVE_BLOCKS);

    fprintf(out, ".visible .entry x%016llx(.param .u64 digests, .param .u32 first, .param .u32 zero)\n{\n",
            (unsigned long long)x->key);
    print_registers(out, x->of);
    fputs("    .reg .pred %more;\n    .reg .b32 %block, %thread, %row, %count, %h, %s, %sum, %constant;\n    .reg .b64 "
          "%at;\n",
          out);
    fprintf(out, "    ld.param.u32 %%constant, [zero];\n    xor.b32 %%constant, %%constant, 0x%08x;\n", x->constant);
    fprintf(out,
            "    ld.param.u32 %%row, [first];\n    mov.u32 %%block, %%ctaid.x;\n    add.u32 %%row, %%row, %%block;\n   "
            " mov.u32 %%thread, %%tid.x;\n"
            "    mad.lo.u32 %%row, %%row, %u, %%thread;\n    mov.u32 %%count, 0;\n    mov.u32 %%sum, 0;\nNEXT:\n",
            rows);
    print_spread(out, x);
    fputs(x->of->body, out);
    print_hash_start(out);
    for (unsigned i = 0; i < x->of->outputs; i++) {
        char word[8];

        snprintf(word, sizeof word, "%%r%u", x->of->output_register[i]);
        print_hash_word(out, word);
    }
    fprintf(out,
            "    add.u32 %%sum, %%sum, %%h;\n    add.u32 %%row, %%row, %d;\n    add.u32 %%count, %%count, 1;\n    "
            "setp.lt.u32 %%more, %%count, %u;\n"
            "    @%%more bra NEXT;\n",
            EXHAUSTIVE_THREADS, rows / EXHAUSTIVE_THREADS);
    fprintf(out,
            "    div.u32 %%block, %%block, %d;\n    ld.param.u64 %%at, [digests];\n    mad.wide.u32 %%at, %%block, 4, "
            "%%at;\n"
            "    red.global.add.u32 [%%at], %%sum;\n    ret;\n}\n",
            EXHAUSTIVE_BLOCKS);
}

/* Each warp computes one digest: each lane adds every 32nd row. The first threads also copy the rows kept in full. */
void case_print_digest(FILE *out)
{
    fputs(".visible .entry digest(.param .u64 o, .param .u64 record, .param .u32 rows, .param .u32 fine, .param .u32 "
          "words, .param .u32 step)\n{\n"
          "    .reg .pred %p, %coarse;\n    .reg .b32 %digest, %lane, %row, %end, %rows, %fine, %fines, %words, %w, "
          "%h, %s, %sum, %out, %step;\n"
          "    .reg .b64 %o, %at, %by, %record;\n"
          "    ld.param.u64 %o, [o];\n    ld.param.u64 %record, [record];\n    ld.param.u32 %rows, [rows];\n    "
          "ld.param.u32 %fine, [fine];\n"
          "    ld.param.u32 %words, [words];\n    mul.wide.u32 %by, %rows, 4;\n    mov.u32 %digest, %ctaid.x;\n    "
          "mov.u32 %lane, %tid.x;\n",
          out);
    fprintf(out,
            "    mad.lo.u32 %%digest, %%digest, %d, %%lane;\n    shr.u32 %%digest, %%digest, 5;\n    and.b32 %%lane, "
            "%%lane, 31;\n"
            "    div.u32 %%fines, %%fine, %d;\n    sub.u32 %%s, %%rows, %%fine;\n    div.u32 %%s, %%s, %d;\n    "
            "add.u32 %%s, %%s, %%fines;\n"
            "    setp.ge.u32 %%p, %%digest, %%s;\n    @%%p bra DONE;\n",
            CASE_BLOCK, CASE_FINE, CASE_COARSE);
    fprintf(out,
            "    setp.ge.u32 %%coarse, %%digest, %%fines;\n    mul.lo.u32 %%row, %%digest, %d;\n    add.u32 %%end, "
            "%%row, %d;\n"
            "    sub.u32 %%s, %%digest, %%fines;\n    @%%coarse mad.lo.u32 %%row, %%s, %d, %%fine;\n    @%%coarse "
            "add.u32 %%end, %%row, %d;\n"
            "    add.u32 %%row, %%row, %%lane;\n    mov.u32 %%sum, 0;\n",
            CASE_FINE, CASE_FINE, CASE_COARSE, CASE_COARSE);
    fputs("ROW:\n    mad.wide.u32 %at, %row, 4, %o;\n    mov.u32 %w, 0;\n", out);
    print_hash_start(out);
    fputs("WORD:\n    ld.global.b32 %out, [%at];\n", out);
    print_hash_word(out, "%out");
    fputs(
        "    add.u64 %at, %at, %by;\n    add.u32 %w, %w, 1;\n    setp.lt.u32 %p, %w, %words;\n    @%p bra WORD;\n"
        "    add.u32 %sum, %sum, %h;\n    add.u32 %row, %row, 32;\n    setp.lt.u32 %p, %row, %end;\n    @%p bra ROW;\n"
        "    mad.wide.u32 %at, %digest, 4, %record;\n    red.global.add.u32 [%at], %sum;\n",
        out);
    fprintf(
        out,
        "    setp.ne.u32 %%p, %%digest, 0;\n    @%%p bra DONE;\n    setp.ge.u32 %%p, %%lane, %d;\n    @%%p bra DONE;\n"
        "    sub.u32 %%s, %%rows, %%fine;\n    div.u32 %%s, %%s, %d;\n    add.u32 %%s, %%s, %%fines;\n    add.u32 %%s, "
        "%%s, %%lane;\n"
        "    mad.wide.u32 %%record, %%s, 4, %%record;\n",
        CASE_FULL, CASE_COARSE);
    fprintf(
        out,
        "    ld.param.u32 %%step, [step];\n    mul.lo.u32 %%row, %%lane, %%step;\n    rem.u32 %%row, %%row, %%rows;\n"
        "    mad.wide.u32 %%at, %%row, 4, %%o;\n    mov.u32 %%w, 0;\n"
        "COPY:\n    ld.global.b32 %%out, [%%at];\n    st.global.b32 [%%record], %%out;\n    add.u64 %%record, "
        "%%record, %d;\n"
        "    add.u64 %%at, %%at, %%by;\n    add.u32 %%w, %%w, 1;\n    setp.lt.u32 %%p, %%w, %%words;\n    @%%p bra "
        "COPY;\nDONE:\n    ret;\n}\n",
        CASE_FULL * 4);
}
