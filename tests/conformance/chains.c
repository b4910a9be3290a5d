/* Cases of several instructions: products and sums without rounding modifiers, which ptxas may fuse. See cases.h.
 *
 * Each case is a random straight-line program over one type. A value is used once or several times, by the next
 * instruction or by a later one. All unused values and some used values are outputs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/chains.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS = 4, MAX_VALUES = INPUTS + 8, ROWS = 8192 };

/* The types. The bits select the instructions that support them. */
enum {
    F32 = 1,
    F64 = 2,
    F16 = 4,
    F16X2 = 8,
    BF16 = 16,
    BF16X2 = 32,
    HALVES = F16 | F16X2,
    BRAINS = BF16 | BF16X2,
    ALL = 63
};

static const struct chain_type {
    unsigned is;
    const char *name, *ftz;
    struct column column;
    enum case_register kind;
} types[] = {
    { F32, "f32", "", { VALUE_FLOAT, 32, 23, 1, 32, 0, INPUTS, 0 }, REG_32 },
    { F32, "f32", ".ftz", { VALUE_FLOAT, 32, 23, 1, 32, 0, INPUTS, 0 }, REG_32 },
    { F64, "f64", "", { VALUE_FLOAT, 64, 52, 1, 64, 0, INPUTS, 0 }, REG_64 },
    { F16, "f16", "", { VALUE_FLOAT, 16, 10, 1, 16, 0, INPUTS, 0 }, REG_16 },
    { F16, "f16", ".ftz", { VALUE_FLOAT, 16, 10, 1, 16, 0, INPUTS, 0 }, REG_16 },
    { F16X2, "f16x2", "", { VALUE_FLOAT, 16, 10, 2, 32, 0, INPUTS, 0 }, REG_32 },
    { BF16, "bf16", "", { VALUE_FLOAT, 16, 7, 1, 16, 0, INPUTS, 0 }, REG_16 },
    { BF16X2, "bf16x2", "", { VALUE_FLOAT, 16, 7, 2, 32, 0, INPUTS, 0 }, REG_32 },
};

static const struct operation {
    const char *before_ftz, *after_ftz;
    unsigned types, operands, weight;
    bool guarded;
} operations[] = {
    { "mul", "", ALL, 2, 30, false },
    { "add", "", ALL, 2, 26, false },
    { "sub", "", ALL, 2, 18, false },
    { "add", ".sat", F32 | HALVES, 2, 4, false },
    { "mul", ".sat", F32 | HALVES, 2, 2, false },
    { "add", "", ALL, 2, 3, true },
    { "mul", "", ALL, 2, 2, true },
    { "neg", "", ALL, 1, 6, false },
    { "abs", "", F32 | F64, 1, 2, false },
    { "mul.rn", "", ALL, 2, 3, false },
    { "add.rn", "", ALL, 2, 3, false },
    { "fma.rn", "", ALL, 3, 3, false },
    { "div.full", "", F32, 2, 5, false },
    { "div.approx", "", F32, 2, 5, false },
    { "rcp.approx", "", F32, 1, 4, false },
};

struct program {
    const struct chain_type *type;
    FILE *body;
    uint64_t seed;
    unsigned values, uses[MAX_VALUES], words, registers32;
};

static unsigned draw(struct program *p, unsigned below)
{
    p->seed = column_mix(p->seed + 0x9e3779b97f4a7c15);
    return (unsigned)((p->seed >> 32) * below >> 32);
}

static const struct operation *choose_operation(struct program *p)
{
    unsigned total = 0, n = sizeof operations / sizeof *operations, left;

    for (unsigned i = 0; i < n; i++)
        total += operations[i].types & p->type->is ? operations[i].weight : 0;
    left = draw(p, total);
    for (unsigned i = 0;; i++) {
        unsigned weight = operations[i].types & p->type->is ? operations[i].weight : 0;

        if (left < weight)
            return &operations[i];
        left -= weight;
    }
}

/* Selects a value, usually a recent one. */
static unsigned choose_value(struct program *p)
{
    unsigned recent = p->values < 3 ? p->values : 3;
    unsigned v = draw(p, 10) < 6 ? p->values - 1 - draw(p, recent) : draw(p, p->values);

    p->uses[v]++;
    return v;
}

static char letter(const struct chain_type *t)
{
    return t->kind == REG_16 ? 'h' : t->kind == REG_32 ? 'r' : 'd';
}

static void put_operation(struct program *p)
{
    const struct operation *o = choose_operation(p);
    char r = letter(p->type);
    unsigned d = p->values;

    if (o->guarded)
        fprintf(p->body, "    mov.b%u %%%c%u, %%%c%u;\n", p->type->column.width, r, d, r, draw(p, INPUTS));
    fprintf(p->body, "    %s%s%s%s.%s %%%c%u", o->guarded ? "@%p0 " : "", o->before_ftz, p->type->ftz, o->after_ftz,
            p->type->name, r, d);
    for (unsigned i = 0; i < o->operands; i++)
        fprintf(p->body, ", %%%c%u", r, choose_value(p));
    fputs(";\n", p->body);
    p->values++;
}

/* 32-bit registers per value: one or two. */
static void put_output(struct program *p, struct conformance_case *c, unsigned v)
{
    unsigned first = p->registers32, n = p->type->kind == REG_64 ? 2 : 1;

    if (c->outputs + n > CASE_WORDS)
        return;
    switch (p->type->kind) {
    case REG_16:
        fprintf(p->body, "    cvt.u32.u16 %%r%u, %%h%u;\n", first, v);
        break;
    case REG_64:
        fprintf(p->body, "    mov.b64 {%%r%u, %%r%u}, %%d%u;\n", first, first + 1, v);
        break;
    default:
        fprintf(p->body, "    mov.b32 %%r%u, %%r%u;\n", first, v);
    }
    p->registers32 += n;
    while (n--)
        c->output_register[c->outputs++] = (uint8_t)first++;
}

static void set_inputs(const struct program *p, struct conformance_case *c)
{
    c->inputs = INPUTS;
    for (unsigned i = 0; i < INPUTS; i++) {
        c->input[i] = p->type->column;
        c->input[i].position = (uint8_t)i;
        c->input_register[i] = (uint8_t)i;
    }
}

void chain_build(struct conformance_case *c, unsigned number, bool apart)
{
    struct program p = { .type = &types[number % CHAIN_TYPES],
                         .seed = column_mix(number ^ column_seed()),
                         .values = INPUTS };
    unsigned length = 3 + draw(&p, MAX_VALUES - INPUTS - 2);
    size_t size;

    _Static_assert(CHAIN_TYPES == sizeof types / sizeof *types, "the number of types");
    memset(c, 0, sizeof *c);
    p.body = open_memstream(&c->body, &size);
    p.registers32 = p.type->kind == REG_32 ? MAX_VALUES : 0;
    fprintf(p.body, "    mov.u32 %%r%u, %%laneid;\n    setp.lt.u32 %%p0, %%r%u, 16;\n", p.registers32, p.registers32);
    p.registers32++;
    for (unsigned i = 0; i < length; i++)
        put_operation(&p);
    for (unsigned v = INPUTS; v < p.values; v++)
        if (!p.uses[v] || !draw(&p, 5))
            put_output(&p, c, v);
    fclose(p.body);
    set_inputs(&p, c);
    c->registers[REG_PRED] = 1;
    c->registers[p.type->kind] = MAX_VALUES;
    c->registers[REG_32] = (uint8_t)p.registers32;
    c->rows = ROWS;
    c->fine = COLUMN_CROSSED;
    c->apart = apart;
    c->key = column_hash(number + apart, c->body, strlen(c->body));
    if (asprintf(&c->name, "chain %u of %s%s%s", number, p.type->name, p.type->ftz, apart ? ", apart" : "") < 0)
        abort();
}
