/* Forms and kernels of matrix instructions. See matrix.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/case_build.h"

enum { PTX_VERSION = 90, TARGET = 90 };

/* ---- Forms ---- */

static int values_of(uint16_t type, char operand, bool sparse_any, bool halves)
{
    switch (operand) {
    case 'c':
        return type == PTXI_T_f16   ? MATRIX_C_F16
               : type == PTXI_T_f32 ? MATRIX_C_F32
               : type == PTXI_T_f64 ? MATRIX_F64
                                    : MATRIX_C_S32;
    case 'e': return halves ? MATRIX_HALVES : sparse_any ? MATRIX_PAIRS_ANY : MATRIX_PAIRS;
    default: break;
    }
    switch (type) {
    case PTXI_T_f16: return MATRIX_F16;
    case PTXI_T_bf16: return MATRIX_BF16;
    case PTXI_T_tf32: return MATRIX_TF32;
    case PTXI_T_e4m3: return MATRIX_E4M3;
    case PTXI_T_e5m2: return MATRIX_E5M2;
    case PTXI_T_f64: return MATRIX_F64;
    case PTXI_T_e3m2: case PTXI_T_e2m3: case PTXI_T_e2m1: return -1;
    default: return MATRIX_BITS;
    }
}

static uint16_t slot_of(const struct ptxi_match *m, char operand)
{
    char name[2] = { (char)(operand - 'a' + 'A'), 0 };

    return ptxi_isa_slot(m, name);
}

static struct matrix_operand drawn(const struct ptxi_match *m, char operand, char slot)
{
    bool halves = slot_of(m, 'a') == PTXI_T_tf32;

    return (struct matrix_operand){ (uint8_t)values_of(slot_of(m, slot), operand, false, halves), 0 };
}

static bool describe_group(struct matrix_form *f, const struct ptxi_match *m)
{
    const struct ptxi_opspec *d = m->row->specs;
    unsigned n, k;

    if (!m->row->spec_count || strcmp(d->name, "d") || !ptxi_isa_has(m, "aligned"))
        return false;
    if (sscanf(ptxi_words[ptxi_isa_slot(m, "shape")], "m64n%uk%u", &n, &k) != 2)
        return false;
    f->n = (uint16_t)n;
    f->k = (uint16_t)k;
    f->bits = ptxi_types[slot_of(m, 'a')].bits;
    f->sparse = ptxi_isa_has(m, "sp");
    f->a_in_memory = !strcmp(m->row->specs[1].name, "a_desc");
    f->results = (uint8_t)ptxi_isa_operand_vector(m, d);
    f->in[MATRIX_A] = drawn(m, 'a', 'a');
    f->in[MATRIX_B] = drawn(m, 'b', 'b');
    f->in[MATRIX_C] = drawn(m, 'c', 'd');
    f->in[MATRIX_E] = drawn(m, 'e', 'a');
    f->inputs = f->sparse ? 4 : 3;
    return true;
}

static bool describe(struct matrix_form *f, const struct ptxi_match *m)
{
    const struct ptxi_row *row = m->row;

    memset(f, 0, sizeof *f);
    f->selector = -1;
    f->row = row;
    if (!strcmp(row->mnemonic, "wgmma"))
        return describe_group(f, m);
    f->wide = ptxi_isa_slot(m, "D") == PTXI_T_f64;
    for (unsigned i = 0; i < row->spec_count; i++) {
        const struct ptxi_opspec *s = &row->specs[i];
        unsigned count = ptxi_isa_operand_vector(m, s);
        int values;

        if (!strcmp(s->name, "d")) {
            f->results = (uint8_t)count;
            continue;
        }
        if (!strcmp(s->name, "f")) {
            f->selector = 0;
            continue;
        }
        if (strlen(s->name) > 1)
            return false;
        values = values_of(slot_of(m, s->name[0]), s->name[0], !ptxi_isa_has(m, "sp::ordered_metadata"),
                           ptxi_isa_slot(m, "A") == PTXI_T_tf32);
        if (values < 0)
            return false;
        f->in[f->inputs++] = (struct matrix_operand){ (uint8_t)values, (uint8_t)(count ? count : 1) };
    }
    return true;
}

static void add_form(struct matrix_forms *forms, const struct ptxi_match *m)
{
    struct matrix_form f;
    size_t size;
    FILE *out;
    int selectors = 1;

    if (!describe(&f, m))
        return;
    if (f.selector == 0)
        selectors = m->row->specs[m->row->spec_count - 1].ranges[0].last + 1;
    for (int s = 0; s < selectors; s++) {
        struct matrix_form *to;

        f.selector = f.selector < 0 ? -1 : s;
        out = open_memstream(&f.name, &size);
        case_print_spelling(out, m->row, m->words);
        if (f.selector >= 0)
            fprintf(out, " %d", s);
        if (f.n)
            fputs(f.a_in_memory ? ", A in memory" : ", A in registers", out);
        fclose(out);
        f.key = column_hash(3, f.name, size);
        forms->v = realloc(forms->v, (forms->count + 1) * sizeof *forms->v);
        if (!forms->v)
            exit(2);
        to = &forms->v[forms->count++];
        *to = f;
    }
}

static void add_row(struct matrix_forms *forms, const struct ptxi_row *row)
{
    unsigned choice[PTXI_MAX_SLOTS] = { 0 };

    do {
        struct ptxi_match m = { .row = row };
        struct ptxi_need room;

        memset(m.words, 0xff, sizeof m.words);
        for (unsigned s = 0; s < row->slot_count; s++) {
            unsigned k = choice[s] - (row->slots[s].optional ? 1u : 0u);

            m.words[s] = k < row->slots[s].word_count ? row->slots[s].words[k] : PTXI_NO_WORD;
        }
        if (!ptxi_isa_unmet_need(&m, PTX_VERSION, (struct ptxi_target){ TARGET, 'a' }, &room))
            add_form(forms, &m);
    } while (case_next_choice(row, choice));
}

struct matrix_forms *matrix_make(void)
{
    struct matrix_forms *forms = calloc(1, sizeof *forms);

    for (unsigned i = 0; forms && i < ptxi_row_count; i++)
        if (!strcmp(ptxi_rows[i].mnemonic, "mma") || !strcmp(ptxi_rows[i].mnemonic, "wgmma"))
            add_row(forms, &ptxi_rows[i]);
    return forms;
}

void matrix_free(struct matrix_forms *forms)
{
    for (size_t i = 0; i < forms->count; i++)
        free(forms->v[i].name);
    free(forms->v);
    free(forms);
}

/* ---- Kernels ---- */

static void print_pool(FILE *out, enum matrix_values kind)
{
    bool wide = kind == MATRIX_F64;

    fprintf(out, ".global .align 16 .b%d pool_%s[%d] = {", wide ? 64 : 32, matrix_value_names[kind],
            MATRIX_REGIMES * MATRIX_STRIDE);
    for (unsigned i = 0; i < MATRIX_REGIMES * MATRIX_STRIDE; i++)
        fprintf(out, "%s%s0x%llx", i ? "," : "", i % 16 ? "" : "\n",
                (unsigned long long)matrix_value(kind, i / MATRIX_STRIDE, i % MATRIX_STRIDE % MATRIX_POOL));
    fputs("};\n", out);
}

void matrix_print_mix(FILE *out)
{
    fputs("    shr.u32 %y, %x, 16; xor.b32 %x, %x, %y; mul.lo.u32 %x, %x, 0x7feb352d; shr.u32 %y, %x, 15; xor.b32 %x, "
          "%x, %y;\n"
          "    mul.lo.u32 %x, %x, 0x846ca68b; shr.u32 %y, %x, 16; xor.b32 %x, %x, %y;\n",
          out);
}

void matrix_print_pick(FILE *out, enum matrix_values kind)
{
    fprintf(out,
            "    and.b32 %%x, %%x, %d; mov.u64 %%at, pool_%s; mad.lo.u32 %%x, %%regime, %d, %%x; mad.wide.u32 %%at, "
            "%%x, 4, %%at;\n",
            MATRIX_POOL - 1, matrix_value_names[kind], MATRIX_STRIDE);
}

static void print_operand(FILE *out, const struct matrix_operand *o, char name, unsigned number)
{
    unsigned bytes = o->values == MATRIX_F64 ? 8 : 4;

    fprintf(out, "    mov.u64 %%pool, pool_%s; mad.wide.u32 %%pool, %%regime, %u, %%pool;\n",
            matrix_value_names[o->values], bytes * MATRIX_STRIDE);
    for (unsigned r = 0; r < o->count; r++) {
        fprintf(out, "    mad.lo.u32 %%x, %%place, 0x9e3779b1, 0x%x;\n", 0x85ebca77u * (number * 16 + r + 1));
        matrix_print_mix(out);
        fprintf(out, "    and.b32 %%x, %%x, %d; mad.wide.u32 %%at, %%x, %u, %%pool; ld.global.b%u %%%c%u, [%%at];\n",
                MATRIX_POOL - 1, bytes, bytes * 8, name, r);
    }
}

static void print_vector(FILE *out, char name, unsigned count, bool braces)
{
    if (!braces) {
        fprintf(out, "%%%c0", name);
        return;
    }
    for (unsigned r = 0; r < count; r++)
        fprintf(out, "%s%%%c%u", r ? "," : "{", name, r);
    fputs("}", out);
}

static void print_instruction(FILE *out, const struct matrix_form *f)
{
    fprintf(out, "    %.*s ", (int)strcspn(f->name, " "), f->name);
    print_vector(out, 'd', f->results, true);
    for (unsigned i = 0; i < f->inputs; i++) {
        fputs(", ", out);
        print_vector(out, (char)("abce"[i]), f->in[i].count, i < 3);
    }
    if (f->selector >= 0)
        fprintf(out, ", %d", f->selector);
    fputs(";\n", out);
}

static void print_results(FILE *out, const struct matrix_form *f)
{
    unsigned words = matrix_words(f) / 32;

    for (unsigned r = 0; f->wide && r < f->results; r++)
        fprintf(out, "    mov.b64 {%%o%u,%%o%u}, %%d%u;\n", 2 * r, 2 * r + 1, r);
    for (unsigned r = 0; !f->wide && r < f->results; r++)
        fprintf(out, "    mov.b32 %%o%u, %%d%u;\n", r, r);
    for (unsigned r = 0; r < words; r++) {
        fprintf(out, "    mad.lo.u32 %%x, %%place, 0x9e3779b1, 0x%x; mad.lo.u32 %%x, %%o%u, 0xc2b2ae35, %%x;\n",
                0x27d4eb2fu * (r + 1), r);
        matrix_print_mix(out);
        fputs(r ? "    add.u32 %sum, %sum, %x;\n" : "    mov.u32 %sum, %x;\n", out);
    }
    fprintf(
        out,
        "    add.u32 %%x, %%slot, %%regime; mad.wide.u32 %%at, %%x, 4, %%digests; red.global.add.u32 [%%at], %%sum;\n"
        "    setp.ge.u32 %%skip, %%number, %%keep; @%%skip bra NEXT;\n"
        "    mul.lo.u32 %%x, %%number, %u; add.u32 %%x, %%x, %%lane; mad.wide.u32 %%at, %%x, 4, %%full;\n",
        matrix_words(f));
    for (unsigned r = 0; r < words; r++)
        fprintf(out, "    st.global.b32 [%%at+%u], %%o%u;\n", r * 128, r);
}

static void print_kernel(FILE *out, const struct matrix_form *f)
{
    fprintf(
        out,
        ".visible .entry m%016llx(.param .u64 d, .param .u64 f, .param .u32 k, .param .u32 b)\n{\n"
        "    .reg .b%d %%a<8>, %%b<4>, %%c<8>, %%d<8>;\n    .reg .b32 %%e0, %%o<16>, %%x, %%y, %%sum, %%warp, %%lane, "
        "%%number, %%place, %%regime, %%keep, %%slot;\n"
        "    .reg .b64 %%at, %%pool, %%digests, %%full;\n    .reg .pred %%skip;\n"
        "    ld.param.u64 %%digests, [d]; ld.param.u64 %%full, [f]; ld.param.u32 %%keep, [k]; ld.param.u32 %%x, [b];\n"
        "    mov.u32 %%warp, %%ctaid.x; add.u32 %%warp, %%warp, %%x; mov.u32 %%x, %%tid.x; and.b32 %%lane, %%x, 31; "
        "shr.u32 %%x, %%x, 5;\n"
        "    mad.lo.u32 %%warp, %%warp, %d, %%x; shr.u32 %%slot, %%warp, %d; shl.b32 %%slot, %%slot, 4; mov.u32 "
        "%%regime, 0;\n"
        "LOOP:\n    mad.lo.u32 %%number, %%warp, %d, %%regime; mad.lo.u32 %%place, %%number, 32, %%lane;\n",
        (unsigned long long)f->key, f->wide ? 64 : 32, MATRIX_BLOCK / 32,
        __builtin_ctz(MATRIX_BLOCKS * MATRIX_BLOCK / 32 / MATRIX_PARTS), MATRIX_REGIMES);
    for (unsigned i = 0; i < f->inputs; i++)
        print_operand(out, &f->in[i], (char)("abce"[i]), i);
    print_instruction(out, f);
    print_results(out, f);
    fprintf(
        out,
        "NEXT:\n    add.u32 %%regime, %%regime, 1; setp.lt.u32 %%skip, %%regime, %d; @%%skip bra LOOP;\n    ret;\n}\n",
        MATRIX_REGIMES);
}

void matrix_print_module(FILE *out, const struct matrix_form *forms, size_t count)
{
    bool needed[MATRIX_VALUES] = { false };

    fputs(".version 9.0\n.target sm_90a\n.address_size 64\n", out);
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < forms[i].inputs; k++)
            needed[forms[i].in[k].values] = true;
    for (unsigned k = 0; k < MATRIX_VALUES; k++)
        if (needed[k])
            print_pool(out, (enum matrix_values)k);
    for (size_t i = 0; i < count; i++)
        (forms[i].n ? matrix_print_group : print_kernel)(out, &forms[i]);
}
