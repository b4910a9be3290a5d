/* Generates random programs: straight-line code, branches, loops, calls, memory accesses and communication between
 * threads.
 *
 * See program.h for operands, results, memory and parameters. Drawn instructions do not use registers with words as
 * names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "random/program.h"

#include "random/draw.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LOCAL_WORDS = 16, CONST_WORDS = 32, MOST_DEPTH = 3, FUNCTIONS = 2, ARGUMENTS = 3 };

const char *const program_kinds[PROGRAM_KINDS] = { "straight", "constants", "branches", "anything" };

enum program_kind program_kind(unsigned number)
{
    return (enum program_kind)(number % PROGRAM_KINDS);
}

struct program {
    struct scope s;
    unsigned number, depth, loops; /* loops: loop nesting depth */
    bool in_function, barriers;    /* barriers: all threads of the block are active */
    bool uses_local, uses_shared;
};

__attribute__((format(printf, 2, 3))) static void put(struct program *p, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fputs("    ", p->s.out);
    vfprintf(p->s.out, format, ap);
    fputs(";\n", p->s.out);
    va_end(ap);
}

static void put_label(struct program *p, unsigned label)
{
    fprintf(p->s.out, "L%u:\n", label);
}

static enum flavour any_flavour(struct program *p, enum width w)
{
    enum flavour f;

    do
        f = (enum flavour)draw(&p->s, FLAVOURS);
    while (flavours[f].width != w);
    return f;
}

/* ---- Blocks ---- */

static void put_statements(struct program *p, unsigned count);

/* Emits a block. New values are local to it. `mask`: active lanes, "" if not known. */
static void put_block(struct program *p, unsigned count, const char *mask)
{
    struct scope *s = &p->s;
    unsigned values = s->count;
    bool barriers = p->barriers;
    char before[sizeof s->mask];

    memcpy(before, s->mask, sizeof before);
    memmove(s->mask, mask, strlen(mask) + 1);
    p->barriers = false;
    p->depth++;
    put_statements(p, count);
    p->depth--;
    p->barriers = barriers;
    memcpy(s->mask, before, sizeof before);
    s->count = values;
}

static struct operand lanes_where(struct program *p, const char *predicate)
{
    struct operand m = { "" };

    if (*p->s.mask) {
        m = draw_register(&p->s, WIDTH_32);
        put(p, "vote.sync.ballot.b32 %s, %s, %s", m.s, predicate, p->s.mask);
    }
    return m;
}

static void put_if(struct program *p)
{
    struct scope *s = &p->s;
    struct operand c = draw_value(s, IS_PRED), yes = lanes_where(p, c.s), no = { "" };
    unsigned otherwise = s->labels++, end = s->labels++;
    bool both = chance(s, 50);

    if (*yes.s) {
        no = draw_register(s, WIDTH_32);
        put(p, "xor.b32 %s, %s, %s", no.s, yes.s, s->mask);
    }
    put(p, "@!%s bra L%u", c.s, otherwise);
    put_block(p, 1 + draw(s, 6), yes.s);
    if (both)
        put(p, "bra L%u", end);
    put_label(p, otherwise);
    if (both)
        put_block(p, 1 + draw(s, 6), no.s);
    put_label(p, end);
}

/* Emits a loop of a few iterations. The count is uniform or depends on a value. */
static void put_loop(struct program *p)
{
    struct scope *s = &p->s;
    struct operand left = draw_register(s, WIDTH_32), more = draw_register(s, WIDTH_1);
    unsigned again = s->labels++, end = s->labels++;
    bool same = chance(s, 50);

    if (same)
        put(p, "mov.u32 %s, %u", left.s, 1 + draw(s, 6));
    else
        put(p, "and.b32 %s, %s, 7", left.s, draw_value(s, IS_B32).s);
    put_label(p, again);
    p->loops++;
    put_block(p, 1 + draw(s, 6), same ? s->mask : "");
    p->loops--;
    if (!same && chance(s, 30))
        put(p, "@%s bra L%u", draw_value(s, IS_PRED).s, end);
    put(p, "sub.s32 %s, %s, 1", left.s, left.s);
    put(p, "setp.gt.s32 %s, %s, 0", more.s, left.s);
    put(p, "@%s bra L%u", more.s, again);
    put_label(p, end);
}

static void put_switch(struct program *p)
{
    enum { WAYS = 4 };
    struct scope *s = &p->s;
    struct operand which = draw_register(s, WIDTH_32);
    unsigned first = s->labels, end = first + WAYS;

    s->labels += WAYS + 1;
    put(p, "and.b32 %s, %s, %d", which.s, draw_value(s, IS_B32).s, WAYS - 1);
    fprintf(s->out, "T%u: .branchtargets L%u, L%u, L%u, L%u;\n", first, first, first + 1, first + 2, first + 3);
    put(p, "brx.idx %s, T%u", which.s, first);
    for (unsigned k = 0; k < WAYS; k++) {
        put_label(p, first + k);
        put_block(p, 1 + draw(s, 3), "");
        if (chance(s, 75)) /* else fall through */
            put(p, "bra L%u", end);
    }
    put_label(p, end);
}

/* ---- Memory ---- */

/* Returns a register with the address of a 64-bit word at `base`; its index is a multiple of `align`. */
static struct operand word_address(struct program *p, const char *base, unsigned words, unsigned align)
{
    struct scope *s = &p->s;
    struct operand i = draw_register(s, WIDTH_32), a = draw_register(s, WIDTH_64), b = draw_register(s, WIDTH_64);

    put(p, "and.b32 %s, %s, %u", i.s, draw_value(s, IS_B32).s, (words - 1) & ~(align - 1));
    put(p, "mul.wide.u32 %s, %s, 8", a.s, i.s);
    put(p, "mov.u64 %s, %s", b.s, base);
    put(p, "add.u64 %s, %s, %s", a.s, b.s, a.s);
    return a;
}

static void put_load(struct program *p, const char *space, struct operand address)
{
    struct scope *s = &p->s;
    enum width w = (enum width)(WIDTH_16 + draw(s, 3));
    enum flavour f = any_flavour(p, w);

    put(p, "ld%s.b%u %s, [%s]", space, width_bits[w], draw_destination(s, f, false).s, address.s);
}

static void put_load_vector(struct program *p, const char *space, struct operand address)
{
    struct scope *s = &p->s;
    bool four = chance(s, 50);
    enum flavour f = any_flavour(p, four ? WIDTH_32 : WIDTH_64);
    struct operand e[4];

    for (unsigned k = 0; k < (four ? 4 : 2); k++)
        e[k] = draw_destination(s, f, false);
    if (four)
        put(p, "ld%s.v4.b32 {%s, %s, %s, %s}, [%s]", space, e[0].s, e[1].s, e[2].s, e[3].s, address.s);
    else
        put(p, "ld%s.v2.b64 {%s, %s}, [%s]", space, e[0].s, e[1].s, address.s);
}

static void put_store(struct program *p, const char *space, struct operand address)
{
    enum width w = (enum width)(WIDTH_16 + draw(&p->s, 3));

    put(p, "st%s.b%u [%s], %s", space, width_bits[w], address.s, draw_value(&p->s, any_flavour(p, w)).s);
}

static void put_local(struct program *p)
{
    struct scope *s = &p->s;
    const char *space = ".local";
    struct operand a;

    p->uses_local = true;
    for (unsigned k = 0; k < 2; k++) {
        bool vector = chance(s, 30), generic = chance(s, 30);

        a = word_address(p, "local", LOCAL_WORDS, vector ? 2 : 1);
        if (generic)
            put(p, "cvta.local.u64 %s, %s", a.s, a.s);
        space = generic ? "" : ".local";
        if (k && vector)
            put_load_vector(p, space, a);
        else if (k)
            put_load(p, space, a);
        else if (vector)
            put(p, "st%s.v2.b64 [%s], {%s, %s}", space, a.s, draw_value(s, IS_F64).s, draw_value(s, IS_B64).s);
        else
            put_store(p, space, a);
    }
}

static void put_constant_memory(struct program *p)
{
    bool vector = chance(&p->s, 30);
    struct operand a;
    char base[32];

    snprintf(base, sizeof base, "c%u", p->number);
    a = word_address(p, base, CONST_WORDS, vector ? 2 : 1);
    if (vector)
        put_load_vector(p, ".const", a);
    else
        put_load(p, ".const", a);
}

static void put_parameter(struct program *p)
{
    struct scope *s = &p->s;
    struct operand a;

    if (p->in_function)
        return;
    if (chance(s, 50)) {
        a = word_address(p, "structure", PROGRAM_WORDS, 1);
        put_load(p, ".param", a);
    } else {
        enum flavour f = any_flavour(p, WIDTH_32);

        put(p, "ld.param.b32 %s, [structure+%u]", draw_destination(s, f, false).s, 4 * draw(s, 2 * PROGRAM_WORDS));
    }
}

/* Emits an exchange of values between threads. */
static void put_exchange(struct program *p)
{
    struct scope *s = &p->s;
    struct operand i = draw_register(s, WIDTH_32), a = draw_register(s, WIDTH_64);

    p->uses_shared = true;
    put(p, "st.shared.b64 [%%mine], %s", draw_value(s, chance(s, 50) ? IS_F64 : IS_B64).s);
    put(p, "bar.sync 0");
    put(p, "xor.b32 %s, %%thread, %u", i.s, 1 + draw(s, PROGRAM_BLOCK - 1));
    put(p, "mov.u64 %s, exchange", a.s);
    put(p, "mad.wide.u32 %s, %s, 8, %s", a.s, i.s, a.s);
    put_load(p, ".shared", a);
    put(p, "bar.sync 0");
}

/* Emits a reduction in shared memory. The result does not depend on the order. */
static void put_reduction(struct program *p)
{
    static const char *const operations[] = { "add.u32", "min.s32", "max.u32", "and.b32",
                                              "or.b32",  "xor.b32", "add.u64", "max.s64" };
    struct scope *s = &p->s;
    const char *operation = operations[draw(s, sizeof operations / sizeof *operations)];
    struct operand v = draw_value(s, strstr(operation, "64") ? IS_B64 : IS_B32);

    p->uses_shared = true;
    put(p, "st.shared.b64 [sum], %u", draw(s, 2));
    put(p, "bar.sync 0");
    if (chance(s, 50))
        fprintf(s->out, "    @%s", draw_value(s, IS_PRED).s);
    put(p, "red.shared.%s [sum], %s", operation, v.s);
    put(p, "bar.sync 0");
    put(p, "ld.shared.b64 %s, [sum]", draw_destination(s, IS_B64, false).s);
    put(p, "bar.sync 0");
}

/* ---- Calls ---- */

static void put_call(struct program *p, unsigned function)
{
    struct scope *s = &p->s;
    struct operand a[ARGUMENTS], d;

    for (unsigned k = 0; k < ARGUMENTS; k++)
        a[k] = draw_value(s, (enum flavour[]){ IS_B32, IS_F32, IS_F64 }[k]);
    d = draw_destination(s, any_flavour(p, WIDTH_64), false);
    fprintf(s->out, "    {\n    .param .b32 a0;\n    .param .align 8 .b8 a1[16];\n    .param .b64 result;\n");
    put(p, "st.param.b32 [a0], %s", a[0].s);
    put(p, "st.param.b32 [a1], %s", a[1].s);
    put(p, "st.param.b64 [a1+8], %s", a[2].s);
    put(p, "call (result), f%u_%u, (a0, a1)", p->number, function);
    put(p, "ld.param.b64 %s, [result]", d.s);
    fputs("    }\n", s->out);
}

/* ---- Statements ---- */

static void put_statement(struct program *p)
{
    struct scope *s = &p->s;
    bool control = program_kind(p->number) >= PROGRAM_BRANCHES, anything = program_kind(p->number) == PROGRAM_ANYTHING;
    unsigned what = draw(s, 200);

    if (!control || what >= 50 || p->depth > MOST_DEPTH)
        draw_instruction(s);
    else if (what < 16)
        put_if(p);
    else if (!anything)
        draw_instruction(s);
    else if (what < 24 && p->loops < 2)
        put_loop(p);
    else if (what < 28)
        put_switch(p);
    else if (what < 34 && !p->in_function)
        put_call(p, draw(s, FUNCTIONS));
    else if (what < 38)
        put_local(p);
    else if (what < 40)
        put_constant_memory(p);
    else if (what < 42)
        put_parameter(p);
    else if (p->barriers && what < 46)
        put_exchange(p);
    else if (p->barriers)
        put_reduction(p);
}

static void put_statements(struct program *p, unsigned count)
{
    while (count--)
        put_statement(p);
}

/* ---- Kernels and functions ---- */

static void begin(struct program *p, unsigned number, unsigned function, FILE *out)
{
    static const enum flavour themes[] = { IS_F32,    IS_F32, IS_F64, IS_F16, IS_BF16,  IS_F16X2,
                                           IS_BF16X2, IS_B32, IS_B32, IS_B64, FLAVOURS, FLAVOURS };

    memset(p, 0, sizeof *p);
    p->number = number;
    p->s.random = column_mix(column_seed() ^ ((uint64_t)number << 8 | function));
    p->s.out = out;
    p->s.theme = themes[draw(&p->s, sizeof themes / sizeof *themes)];
    p->s.folds = program_kind(number) == PROGRAM_CONSTANTS;
    p->s.constants = p->s.folds ? 45 : 12;
}

static void print_registers(FILE *out, const struct scope *s)
{
    static const char *const types[WIDTHS] = { "pred", "b16", "b32", "b64" };

    for (unsigned w = 0; w < WIDTHS; w++)
        fprintf(out, "    .reg .%s %%%c<%u>;\n", types[w], width_letters[w], s->registers[w] + 1);
}

static void print_data(FILE *out, const struct program *p)
{
    if (p->uses_local)
        fprintf(out, "    .local .align 16 .b8 local[%d];\n", LOCAL_WORDS * 8);
}

/* Defines the initial predicates and narrow values. */
static void make_predicates(struct program *p)
{
    for (unsigned k = 0; k < 2; k++) {
        struct operand b = draw_value(&p->s, IS_B32), q = draw_register(&p->s, WIDTH_1);

        put(p, "setp.lt.s32 %s, %s, %u", q.s, b.s, draw(&p->s, 2) << draw(&p->s, 31));
        add_value(&p->s, IS_PRED, q);
    }
}

static void clear_local(struct program *p, FILE *out)
{
    for (unsigned k = 0; p->uses_local && k < LOCAL_WORDS; k++)
        fprintf(out, "    st.local.b64 [local+%u], %u;\n", 8 * k, k * 0x01010101u);
}

/* Emits f<number>_<function>(u32, { f32, f64 }), which returns 64 bits. The last function is recursive. */
static void print_function(FILE *out, unsigned number, unsigned function)
{
    struct program p;
    char *text = NULL;
    size_t size;
    FILE *body = open_memstream(&text, &size);
    bool recursive = function == FUNCTIONS - 1;
    struct operand n, x, y, more, inner;

    begin(&p, number, 1 + function, body);
    p.in_function = true;
    n = draw_register(&p.s, WIDTH_32), x = draw_register(&p.s, WIDTH_32), y = draw_register(&p.s, WIDTH_64);
    put(&p, "ld.param.b32 %s, [a0]", n.s);
    put(&p, "ld.param.b32 %s, [a1]", x.s);
    put(&p, "ld.param.b64 %s, [a1+8]", y.s);
    add_value(&p.s, IS_B32, n), add_value(&p.s, IS_F32, x), add_value(&p.s, IS_F64, y);
    for (unsigned w = 0; w < 2; w++) {
        struct operand h = draw_register(&p.s, WIDTH_16);

        put(&p, "cvt.%s %s, %s", w ? "rn.bf16.f32" : "rn.f16.f32", h.s, x.s);
        add_value(&p.s, w ? IS_BF16 : IS_F16, h);
    }
    make_predicates(&p);
    if (recursive) {
        n = draw_register(&p.s, WIDTH_32), more = draw_register(&p.s, WIDTH_1), inner = draw_register(&p.s, WIDTH_64);
        put(&p, "and.b32 %s, %%r0, 3", n.s);
        put(&p, "setp.eq.u32 %s, %s, 0", more.s, n.s);
    }
    put_statements(&p, 3 + draw(&p.s, 8));
    if (recursive) {
        unsigned end = p.s.labels++;
        struct operand d = draw_value(&p.s, IS_F64), v = draw_value(&p.s, IS_F32), w = draw_value(&p.s, IS_F64);

        put(&p, "mov.b64 %s, %s", inner.s, d.s);
        put(&p, "@%s bra L%u", more.s, end);
        put(&p, "sub.u32 %s, %s, 1", n.s, n.s);
        fprintf(body, "    {\n    .param .b32 b0;\n    .param .align 8 .b8 b1[16];\n    .param .b64 again;\n");
        put(&p, "st.param.b32 [b0], %s", n.s);
        put(&p, "st.param.b32 [b1], %s", v.s);
        put(&p, "st.param.b64 [b1+8], %s", w.s);
        put(&p, "call (again), f%u_%u, (b0, b1)", number, function);
        put(&p, "ld.param.b64 %s, [again]", inner.s);
        fputs("    }\n", body);
        put_label(&p, end);
        put(&p, "st.param.b64 [result], %s", inner.s);
    } else {
        put(&p, "st.param.b64 [result], %s", draw_value(&p.s, chance(&p.s, 50) ? IS_F64 : IS_B64).s);
    }
    fclose(body);
    fprintf(out, ".func (.param .b64 result) f%u_%u(.param .b32 a0, .param .align 8 .b8 a1[16])\n{\n", number,
            function);
    print_registers(out, &p.s);
    print_data(out, &p);
    clear_local(&p, out);
    fprintf(out, "%s    ret;\n}\n", text);
    free(text);
}

/* Operands of a row: number of columns per flavour. Each column is a 64-bit word. */
static const struct { uint8_t flavour, count;
} columns[] = {
    { IS_B32, 3 },    { IS_F32, 4 }, { IS_F64, 3 },  { IS_B64, 2 }, { IS_F16X2, 3 },
    { IS_BF16X2, 3 }, { IS_F16, 3 }, { IS_BF16, 3 }, { IS_B16, 2 },
};
enum { GROUPS = sizeof columns / sizeof *columns };

unsigned program_columns(void)
{
    unsigned n = 0;

    for (unsigned g = 0; g < GROUPS; g++)
        n += columns[g].count;
    return n;
}

/* A quarter of the rows are combinations of special values. */
void program_operands(uint64_t *out)
{
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned k = 0; k < columns[g].count; k++)
            for (unsigned row = 0; row < PROGRAM_ROWS; row++) {
                struct column c = flavours[columns[g].flavour].column;

                c.position = (uint8_t)k;
                c.inputs = columns[g].count;
                *out++ = column_value(&c, row % 4 ? COLUMN_CROSSED + row * 12 % (COLUMN_ROWS - COLUMN_CROSSED) : row);
            }
}

static void load_operands(struct program *p)
{
    unsigned at = 0;

    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned k = 0; k < columns[g].count; k++, at++) {
            enum flavour f = (enum flavour)columns[g].flavour;
            struct operand r = draw_register(&p->s, (enum width)flavours[f].width);

            put(p, "ld.global.b%u %s, [%%at+%u]", width_bits[flavours[f].width], r.s, at * PROGRAM_ROWS * 8);
            add_value(&p->s, f, r);
        }
}

/* Stores all values without uses, and some others. */
static void store_outputs(struct program *p)
{
    static const char *const moves[WIDTHS] = { "selp.b64 %%word, 1, 0, %s", "cvt.u64.u16 %%word, %s",
                                               "cvt.u64.u32 %%word, %s", "mov.b64 %%word, %s" };
    unsigned at = 0;

    for (unsigned i = p->s.count; i-- > 0 && at < PROGRAM_OUTPUTS;) {
        const struct value *v = &p->s.values[i];
        enum width w = (enum width)flavours[v->flavour].width;
        char name[20];

        if (!v->made || (v->uses && !chance(&p->s, 20)))
            continue;
        snprintf(name, sizeof name, "%%%c%u", width_letters[w], v->number);
        fputs("    ", p->s.out);
        fprintf(p->s.out, moves[w], name);
        fputs(";\n", p->s.out);
        put(p, "st.global.b64 [%%to+%u], %%word", at++ * PROGRAM_ROWS * 8);
    }
    for (unsigned k = 0; k < PROGRAM_CELL / 8 && at < PROGRAM_OUTPUTS; k++, at++) {
        put(p, "ld.%s.b64 %%word, [%%%s]", k ? "shared" : "global", k ? "shared" : "cell");
        put(p, "st.global.b64 [%%to+%u], %%word", at * PROGRAM_ROWS * 8);
    }
}

/* Emits c<number>, the constants read by the program. */
static void print_constants(FILE *out, unsigned number)
{
    fprintf(out, ".const .align 16 .b64 c%u[%d] = {", number, CONST_WORDS);
    for (unsigned k = 0; k < CONST_WORDS; k++)
        fprintf(out, "%s0x%llx", k ? ", " : "", (unsigned long long)column_mix((uint64_t)number << 32 | k));
    fputs("};\n", out);
}

static void print_kernel(FILE *out, unsigned number)
{
    struct program p;
    char *text = NULL;
    size_t size;
    FILE *body = open_memstream(&text, &size);

    begin(&p, number, 0, body);
    strcpy(p.s.mask, "0xffffffff");
    p.barriers = p.s.cells = true;
    load_operands(&p);
    make_predicates(&p);
    p.s.outer = p.s.count;
    put_statements(&p, 8 + draw(&p.s, 60));
    store_outputs(&p);
    fclose(body);
    fprintf(out,
            ".visible .entry p%u(.param .u64 operands, .param .u64 outputs, .param .u64 cells, .param .align 8 .b8 "
            "structure[%d])\n{\n",
            number, PROGRAM_WORDS * 8);
    print_registers(out, &p.s);
    print_data(out, &p);
    fprintf(out,
            "    .reg .b32 %%thread, %%row;\n    .reg .b64 %%at, %%to, %%cell, %%generic, %%shared, %%mine, %%word;\n"
            "    .shared .align 16 .b8 own[%d];\n",
            PROGRAM_BLOCK * PROGRAM_CELL);
    if (p.uses_shared)
        fprintf(out, "    .shared .align 16 .b8 exchange[%d];\n    .shared .align 16 .b8 sum[8];\n", PROGRAM_BLOCK * 8);
    fprintf(
        out,
        "    mov.u32 %%thread, %%tid.x;\n    mov.u32 %%row, %%ctaid.x;\n    mad.lo.u32 %%row, %%row, %d, %%thread;\n"
        "    ld.param.u64 %%at, [operands];\n    mad.wide.u32 %%at, %%row, 8, %%at;\n"
        "    ld.param.u64 %%to, [outputs];\n    mad.wide.u32 %%to, %%row, 8, %%to;\n"
        "    ld.param.u64 %%cell, [cells];\n    mad.wide.u32 %%cell, %%row, %d, %%cell;\n    mov.u64 %%generic, "
        "%%cell;\n"
        "    mov.u64 %%shared, own;\n    mad.wide.u32 %%shared, %%thread, %d, %%shared;\n"
        "    ld.global.b64 %%word, [%%at];\n    st.global.b64 [%%cell], %%word;\n    st.shared.b64 [%%shared], "
        "%%word;\n"
        "    ld.global.b64 %%word, [%%at+%d];\n    st.global.b64 [%%cell+8], %%word;\n    st.shared.b64 [%%shared+8], "
        "%%word;\n",
        PROGRAM_BLOCK, PROGRAM_CELL, PROGRAM_CELL, 5 * PROGRAM_ROWS * 8);
    if (p.uses_shared)
        fputs("    mov.u64 %mine, exchange;\n    mad.wide.u32 %mine, %thread, 8, %mine;\n", out);
    clear_local(&p, out);
    fprintf(out, "%s    ret;\n}\n", text);
    free(text);
}

void program_print_head(FILE *out)
{
    fputs(".version 9.0\n.target sm_90a\n.address_size 64\n", out);
}

void program_print(FILE *out, unsigned number)
{
    if (program_kind(number) == PROGRAM_ANYTHING) {
        print_constants(out, number);
        for (unsigned k = 0; k < FUNCTIONS; k++)
            print_function(out, number, k);
    }
    print_kernel(out, number);
}
