/* Cases of wmma. Each warp fills matrices in memory with random numbers, loads them, multiplies them and stores the
 * result. A product case therefore also covers the loads and the store. Other cases record the element order of a
 * loaded fragment's registers, which the PTX ISA leaves undefined. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/wmma.h"
#include "conformance/words.h"

#include <string.h>

enum {
    FEW_ROWS = 2048,
    MANY_ROWS = 16384,
    PART = 1536 /* maximum bytes of a matrix */,
    OFFSET = 256,
    CELLS = 512 /* bytes of a warp's cells */
};
enum { A, B, C, D, OPERANDS };

struct type {
    const char *name;
    unsigned bits;
    const struct words_masks *masks;
};
static const struct type f16 = { "f16", 16, &words_f16 }, bf16 = { "bf16", 16, &words_bf16 },
                         tf32 = { "tf32", 32, &words_tf32 };
static const struct type f32 = { "f32", 32, &words_f32 }, f64 = { "f64", 64, &words_f64 },
                         s32 = { "s32", 32, &words_sum };
static const struct type s8 = { "s8", 8, &words_bits }, u8 = { "u8", 8, &words_bits }, s4 = { "s4", 4, &words_bits };
static const struct type u4 = { "u4", 4, &words_bits }, b1 = { "b1", 1, &words_bits };

static const struct form {
    unsigned m, n, k;
    const char *op, *middle, *tail; /* before the layouts, before the types, after the types */
    const struct type *d, *ab, *c;
    unsigned registers[OPERANDS];
} forms[] = {
#define F16(m, n, d, c, nd, nc) { m, n, 16, "", "", "", d, &f16, c, { 8, 8, nc, nd } },
#define OTHER(m, n, d, ab, tail, na, nb) { m, n, 16, "", "", tail, d, ab, d, { na, nb, 8, 8 } },
#define SHAPE(m, n, na, nb) \
    F16(m, n, &f16, &f16, 4, 4) F16(m, n, &f32, &f16, 8, 4) F16(m, n, &f16, &f32, 4, 8) F16(m, n, &f32, &f32, 8, 8) \
    OTHER(m, n, &s32, &s8, "", na, nb) OTHER(m, n, &s32, &u8, "", na, nb) OTHER(m, n, &s32, &s8, ".satfinite", na, nb) \
    OTHER(m, n, &s32, &u8, ".satfinite", na, nb) OTHER(m, n, &f32, &bf16, "", 2 * na, 2 * nb)
    SHAPE(16, 16, 2, 2) SHAPE(8, 32, 1, 4) SHAPE(32, 8, 4, 1)
#undef SHAPE
#undef OTHER
#undef F16
    { 16, 16, 8, "", "", "", &f32, &tf32, &f32, { 4, 4, 8, 8 } },
#define F64(rounding) { 8, 8, 4, "", rounding, "", &f64, &f64, &f64, { 1, 1, 2, 2 } },
    F64("") F64(".rn") F64(".rz") F64(".rm") F64(".rp")
#undef F64
#define SMALL(k, op, ab, tail) { 8, 8, k, op, "", tail, &s32, ab, &s32, { 1, 1, 2, 2 } },
    SMALL(32, "", &s4, "") SMALL(32, "", &u4, "") SMALL(32, "", &s4, ".satfinite") SMALL(32, "", &u4, ".satfinite")
    SMALL(128, ".xor.popc", &b1, "") SMALL(128, ".and.popc", &b1, "")
#undef SMALL
};
enum { FORMS = sizeof forms / sizeof *forms, WAYS = 16, LOADS = 3 * 2 * 2 };

enum space { SHARED, GENERIC, GLOBAL, SPACES };

/* A matrix in memory. */
struct place {
    bool columns;
    enum space space;
    unsigned pad;    /* bytes between lines */
    enum { NO_STRIDE, CONSTANT, REGISTER } stride;
};

struct whole {
    const struct form *f;
    unsigned kind;
    bool offset;     /* addresses have an offset */
    struct place at[OPERANDS];
};

/* --- case selection --- */

static unsigned rows_of(const struct form *f, unsigned operand)
{
    return operand == B ? f->k : f->m;
}

static unsigned columns_of(const struct form *f, unsigned operand)
{
    return operand == A ? f->k : f->n;
}

static const struct type *type_of(const struct form *f, unsigned operand)
{
    return operand == C ? f->c : operand == D ? f->d : f->ab;
}

/* Elements between the starts of two lines. */
static unsigned stride_of(const struct whole *x, unsigned operand)
{
    const struct place *p = &x->at[operand];

    return (p->columns ? rows_of(x->f, operand) : columns_of(x->f, operand)) +
           p->pad * 8 / type_of(x->f, operand)->bits;
}

static unsigned bytes_of(const struct whole *x, unsigned operand)
{
    unsigned lines = x->at[operand].columns ? columns_of(x->f, operand) : rows_of(x->f, operand);

    return lines * stride_of(x, operand) * type_of(x->f, operand)->bits / 8;
}

/* Sub-byte elements have one layout. */
static void set_layout(struct whole *x, unsigned operand, bool columns)
{
    x->at[operand].columns = x->f->ab->bits >= 8 || operand >= C ? columns : operand == B;
}

static void set_place(struct whole *x, unsigned operand, unsigned choice)
{
    struct place *p = &x->at[operand];

    p->stride = choice % 3;
    p->pad = p->stride != NO_STRIDE && choice % 2 ? 16 : 0;
    p->space = choice / 2 % SPACES;
    if (p->space == GLOBAL && bytes_of(x, operand) > CELLS)
        p->space = SHARED;
}

static struct whole product(unsigned number)
{
    unsigned way = number % WAYS, form = number / WAYS;
    struct whole x = { .f = &forms[form], .kind = way % WORDS_KINDS, .offset = way / 4 % 2 };
    bool global = false;

    for (unsigned k = 0; k < OPERANDS; k++) {
        set_layout(&x, k, way >> k & 1);
        set_place(&x, k, way + form + 5 * k);
        if (x.at[k].space == GLOBAL && global) /* there is room for an offset */
            x.at[k].space = GENERIC;
        global |= x.at[k].space == GLOBAL;
    }
    return x;
}

static struct whole single_load(unsigned number, unsigned *operand)
{
    struct whole x = { .f = &forms[number / LOADS], .kind = WORDS_RAW };

    *operand = number % 3;
    set_layout(&x, *operand, number / 3 % 2);
    x.at[*operand].pad = number / 6 % 2 ? 16 : 0;
    x.at[*operand].stride = number / 6 % 2 ? CONSTANT : NO_STRIDE;
    return x;
}

/* --- kernels --- */

/* Turns the words of the operand's memory into numbers. For f64 the upper words set the exponents. */
static void put_fill(FILE *out, const struct whole *x, unsigned operand, unsigned kind)
{
    const struct words_masks *m = type_of(x->f, operand)->masks;
    bool global = x->at[operand].space == GLOBAL;

    fprintf(out, "    mov.u32 %%i, %%lane;\nFILL%u:\n    add.u32 %%x, %%i, %u;\n", operand, 0x1000 * (operand + 1));
    words_put(out, "%x", "%x");
    if (m == &words_f64) {
        fputs("    mov.u32 %y, %x;\n", out);
        words_mask(out, "%y", m, kind);
        fputs("    and.b32 %s, %i, 1;\n    setp.ne.u32 %more, %s, 0;\n    selp.b32 %x, %y, %x, %more;\n", out);
    } else {
        words_mask(out, "%x", m, kind);
    }
    if (global)
        fputs("    mad.wide.u32 %at64, %i, 4, %cells;\n    st.global.b32 [%at64], %x;\n", out);
    else
        fprintf(out, "    mad.lo.u32 %%at32, %%i, 4, %%tile;\n    st.shared.b32 [%%at32+%u], %%x;\n", operand * PART);
    fprintf(out, "    add.u32 %%i, %%i, 32;\n    setp.lt.u32 %%more, %%i, %u;\n    @%%more bra FILL%u;\n",
            bytes_of(x, operand) / 4, operand);
}

/* The address in %at32 or %at64, minus `offset`. */
static void put_address(FILE *out, const struct whole *x, unsigned operand, unsigned offset)
{
    int at = (int)(x->at[operand].space == GLOBAL ? 0 : operand * PART) - (int)offset;

    if (x->at[operand].space == GLOBAL)
        fprintf(out, "    add.s64 %%at64, %%cells, %d;\n", at);
    else
        fprintf(out, "    add.s32 %%at32, %%tile, %d;\n", at);
    if (x->at[operand].space == GENERIC)
        fputs("    cvt.u64.u32 %at64, %at32;\n    cvta.shared.u64 %at64, %at64;\n", out);
    if (x->at[operand].stride == REGISTER)
        fprintf(out, "    mov.u32 %%i, %u;\n", stride_of(x, operand));
}

static void put_fragment(FILE *out, const struct form *f, unsigned operand)
{
    for (unsigned k = 0; k < f->registers[operand]; k++)
        fprintf(out, "%s%%f%c%u", k ? ", " : "{", "abcd"[operand], k);
    fputc('}', out);
}

static const char *layout(bool columns)
{
    return columns ? "col" : "row";
}

static void put_access_name(FILE *out, const struct whole *x, unsigned operand)
{
    static const char *const spaces[SPACES] = { ".shared", "", ".global" };
    const struct form *f = x->f;

    fprintf(out, "wmma.%s.%c.sync.aligned.%s.m%un%uk%u%s.%s", operand == D ? "store" : "load", "abcd"[operand],
            layout(x->at[operand].columns), f -> m, f -> n, f -> k, spaces[x->at[operand].space],
            type_of(f, operand) -> name);
}

static void put_access(FILE *out, const struct whole *x, unsigned operand)
{
    unsigned offset = x->offset ? OFFSET : 0;

    put_address(out, x, operand, offset);
    fputs("    ", out);
    put_access_name(out, x, operand);
    fputc(' ', out);
    if (operand != D) {
        put_fragment(out, x->f, operand);
        fputs(", ", out);
    }
    fprintf(out, "[%s+%u]", x->at[operand].space == SHARED ? "%at32" : "%at64", offset);
    if (operand == D) {
        fputs(", ", out);
        put_fragment(out, x->f, operand);
    }
    if (x->at[operand].stride == CONSTANT)
        fprintf(out, ", %u", stride_of(x, operand));
    else if (x->at[operand].stride == REGISTER)
        fputs(", %i", out);
    fputs(";\n", out);
}

static void put_product_name(FILE *out, const struct whole *x)
{
    const struct form *f = x->f;

    fprintf(out, "wmma.mma%s.sync.aligned.%s.%s.m%un%uk%u%s.%s", f->op, layout(x->at[A].columns),
            layout(x->at[B].columns), f->m, f->n, f->k, f->middle, f->d->name);
    if (f->ab != &f16)
        fprintf(out, ".%s.%s", f->ab->name, f->ab->name);
    fprintf(out, ".%s%s", f->c->name, f->tail);
}

static void put_product(FILE *out, const struct whole *x)
{
    static const uint8_t operands[] = { D, A, B, C };

    fputs("    ", out);
    put_product_name(out, x);
    for (unsigned k = 0; k < OPERANDS; k++) {
        fputs(k ? ", " : " ", out);
        put_fragment(out, x->f, operands[k]);
    }
    fputs(";\n", out);
}

static void put_start(FILE *out, const struct form *f)
{
    fprintf(out,
            "    {\n    .shared .align 1024 .b8 tile[%d];\n    .reg .b32 %%seed, %%s, %%x, %%y, %%i, %%at32, %%tile, "
            "%%lane;\n    .reg .b64 %%at64, %%cells;\n"
            "    .reg .pred %%more;\n",
            OFFSET + CASE_BLOCK / 32 * OPERANDS * PART);
    for (unsigned k = 0; k < OPERANDS; k++)
        fprintf(out, "    .reg .b%u %%f%c<8>;\n", type_of(f, k)->bits == 64 ? 64 : 32, "abcd"[k]);
    fprintf(out,
            "    mov.u32 %%tile, tile;\n    add.u32 %%tile, %%tile, %d;\n    shr.u32 %%x, %%thread, 5;\n    mad.lo.u32 "
            "%%tile, %%x, %d, %%tile;\n    and.b32 %%lane, %%thread, 31;\n"
            "    mul.wide.u32 %%at64, %%lane, 16;\n    sub.u64 %%cells, %%global, %%at64;\n    mov.b64 {%%seed, %%x}, "
            "%%d0;\n"
            "    mad.lo.u32 %%seed, %%seed, 0x85ebca6b, %%x;\n    mad.lo.u32 %%seed, %%row, 0xc2b2ae35, %%seed;\n",
            OFFSET, OPERANDS * PART);
}

/* Outputs all words of D's memory, including the gaps between lines. */
static unsigned put_stored(FILE *out, const struct whole *x)
{
    unsigned words = (bytes_of(x, D) + 127) / 128;

    fputs("    bar.warp.sync -1;\n", out);
    for (unsigned k = 0; k < words; k++)
        if (x->at[D].space == GLOBAL)
            fprintf(out, "    mad.wide.u32 %%at64, %%lane, 4, %%cells;\n    ld.global.b32 %%r%u, [%%at64+%u];\n", k,
                    128 * k);
        else
            fprintf(out, "    mad.lo.u32 %%at32, %%lane, 4, %%tile;\n    ld.shared.b32 %%r%u, [%%at32+%u];\n", k,
                    D * PART + 128 * k);
    return words;
}

static unsigned put_whole(FILE *out, const struct whole *x)
{
    unsigned words;

    put_start(out, x->f);
    for (unsigned k = 0; k < OPERANDS; k++)
        put_fill(out, x, k, k == D ? WORDS_RAW : x->kind);
    fputs("    bar.warp.sync -1;\n", out);
    for (unsigned k = 0; k < D; k++)
        put_access(out, x, k);
    put_product(out, x);
    put_access(out, x, D);
    words = put_stored(out, x);
    fputs("    }\n", out);
    return words;
}

static unsigned put_load(FILE *out, const struct whole *x, unsigned operand)
{
    unsigned n = x->f->registers[operand], words = type_of(x->f, operand)->bits == 64 ? 2 : 1;

    put_start(out, x->f);
    put_fill(out, x, operand, x->kind);
    fputs("    bar.warp.sync -1;\n", out);
    put_access(out, x, operand);
    for (unsigned k = 0; k < n; k++)
        if (words == 2)
            fprintf(out, "    mov.b64 {%%r%u, %%r%u}, %%f%c%u;\n", 2 * k, 2 * k + 1, "abcd"[operand], k);
        else
            fprintf(out, "    mov.b32 %%r%u, %%f%c%u;\n", k, "abcd"[operand], k);
    fputs("    }\n", out);
    return n * words;
}

static void put_place(FILE *out, const struct whole *x, unsigned operand)
{
    static const char *const spaces[SPACES] = { "shared", "generic", "global" }, *const strides[] = {
        "", " as a constant", " in a register"
    };
    const struct place *p = &x->at[operand];

    fprintf(out, "; %c %s", "abcd"[operand], spaces[p->space]);
    if (operand >= C)
        fprintf(out, " %s", layout(p->columns));
    if (p->stride != NO_STRIDE)
        fprintf(out, ", stride %u%s", stride_of(x, operand), strides[p->stride]);
}

bool wmma_build(struct conformance_case *c, unsigned number)
{
    bool whole = number < FORMS * WAYS;
    unsigned operand = D;
    struct whole x;
    size_t size;
    FILE *out;

    if (number >= FORMS * (WAYS + LOADS))
        return false;
    x = whole ? product(number) : single_load(number - FORMS * WAYS, &operand);
    memset(c, 0, sizeof *c);
    out = open_memstream(&c->body, &size);
    c->outputs = (uint8_t)(whole ? put_whole(out, &x) : put_load(out, &x, operand));
    fclose(out);
    out = open_memstream(&c->name, &size);
    (whole ? put_product_name(out, &x) : put_access_name(out, &x, operand));
    fprintf(out, " (%s", words_kinds[x.kind]);
    for (unsigned k = 0; k < OPERANDS; k++)
        if (whole || k == operand)
            put_place(out, &x, k);
    fputs(x.offset ? "; addresses with an offset)" : ")", out);
    fclose(out);
    c->global_cell = true;
    c->inputs = 1;
    c->input[0] = (struct column){ .class = VALUE_INT, .bits = 64, .lanes = 1, .width = 64 };
    c->registers[REG_64] = 1;
    c->registers[REG_32] = c->outputs;
    for (unsigned k = 0; k < c->outputs; k++)
        c->output_register[k] = (uint8_t)k;
    c->rows = whole && x.kind != WORDS_NARROW ? MANY_ROWS : FEW_ROWS;
    c->key = column_hash(0, c->body, strlen(c->body));
    return true;
}
