/* Emits the instruction of a case, the code that loads its operands and the code that stores its results. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/case_build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct name {
    char s[20];
};

struct frame {
    struct conformance_case *c;
    const struct ptxi_match *m;
    const struct variant *v;
    unsigned rule;
    FILE *before, *line, *after;
    char guard[32]; /* "@%p1 " for code that only the executing lanes run, or "" */
    unsigned destinations, predicates;
};

static const char register_letters[REG_KINDS] = { 'p', 'b', 'h', 'r', 'd', 'q' };

static struct name named(enum case_register kind, unsigned number)
{
    struct name n;

    snprintf(n.s, sizeof n.s, "%%%c%u", register_letters[kind], number);
    return n;
}

static struct name new_register(struct frame *f, enum case_register kind)
{
    return named(kind, f->c->registers[kind]++);
}

static enum case_register kind_of_width(unsigned bits)
{
    return bits <= 8 ? REG_8 : bits <= 16 ? REG_16 : bits <= 32 ? REG_32 : bits <= 64 ? REG_64 : REG_128;
}

__attribute__((format(printf, 2, 3))) static void before(struct frame *f, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fputs("    ", f->before);
    vfprintf(f->before, format, ap);
    fputs(";\n", f->before);
    va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void after(struct frame *f, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fprintf(f->after, "    %s", f->guard);
    vfprintf(f->after, format, ap);
    fputs(";\n", f->after);
    va_end(ap);
}

/* ---- Inputs ---- */

static struct name add_input(struct frame *f, struct column column)
{
    struct conformance_case *c = f->c;
    enum case_register kind = kind_of_width(column.width);

    if (c->inputs == CASE_INPUTS) {
        fprintf(stderr, "%s: too many inputs\n", c->row->mnemonic);
        exit(2);
    }
    c->input[c->inputs] = column;
    c->input_register[c->inputs++] = c->registers[kind];
    return new_register(f, kind);
}

static struct column value_column(enum ptxi_type t)
{
    static const struct { uint8_t type, bits, fraction, lanes; } floats[] = {
        { PTXI_T_f16, 16, 10, 1 }, { PTXI_T_f16x2, 16, 10, 2 }, { PTXI_T_bf16, 16, 7, 1 }, { PTXI_T_bf16x2, 16, 7, 2 },
        { PTXI_T_f32, 32, 23, 1 }, { PTXI_T_f64, 64, 52, 1 },
    };
    unsigned bits = ptxi_types[t].bits;

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (floats[i].type == t)
            return (struct column){ .class = VALUE_FLOAT,
                                    .bits = floats[i].bits,
                                    .fraction = floats[i].fraction,
                                    .lanes = floats[i].lanes,
                                    .width = (uint8_t)bits };
    return (struct column){
        .class = VALUE_INT, .bits = (uint8_t)bits, .lanes = 1, .width = bits < 16 ? 16 : (uint8_t)bits
    };
}

/* Returns the type of an operand's values: the type of its qualifier, even if the register only has the same width. */
static enum ptxi_type meaning(const struct frame *f, const struct ptxi_opspec *s)
{
    return s->type_rule == PTXI_TR_SLOT || s->type_rule == PTXI_TR_BITS ? f->m->words[s->type]
                                                                        : ptxi_isa_operand_type(f->m, s);
}

static bool is_number(enum ptxi_type t)
{
    return strchr("USB", ptxi_types[t].class);
}

static struct column operand_column(const struct frame *f, const struct ptxi_opspec *s)
{
    struct column c = value_column(meaning(f, s));
    bool untyped = s->type_rule == PTXI_TR_FIXED &&
                   (s->type == PTXI_T_u32 || !strcmp(s->name, "base") || !strcmp(s->name, "offset"));

    if ((f->rule & RULE_COUNTS) && untyped)
        c.class = VALUE_COUNT;
    if (f->rule & RULE_GROUP)
        c.class = VALUE_GROUP;
    if (f->v->wide && (s->flags & PTXI_OPF_WIDER) && is_number(meaning(f, s)) && c.width < 64)
        c.width = c.bits < 32 ? 32 : 64;
    return c;
}

/* Loads an input of up to 128 bits from 64-bit columns of packed elements. */
static unsigned add_packed(struct frame *f, struct column element, unsigned count, struct name *names)
{
    unsigned bits = element.bits * element.lanes * count, n = 0;

    for (unsigned at = 0; at < bits; at += 64) {
        struct column c = element;

        c.width = bits - at < 64 ? (uint8_t)(bits - at) : 64;
        c.lanes = c.width / element.bits;
        names[n++] = add_input(f, c);
    }
    return n;
}

static struct name add_predicate(struct frame *f)
{
    bool group = f->rule & RULE_WARP;
    struct column c = {
        .class = group ? VALUE_GROUP : VALUE_PRED, .bits = 1, .lanes = 1, .width = 16, .position = f->predicates++
    };
    struct name in = add_input(f, c), p = new_register(f, REG_PRED);

    before(f, "setp.ne.u16 %s, %s, 0", p.s, in.s);
    return p;
}

/* Extracts element `i` of `bits` bits from packed inputs into a new register. */
static struct name element(struct frame *f, const struct name *packed, unsigned width, unsigned bits, unsigned i)
{
    unsigned at = i * bits;
    struct name from = packed[at / 64], e = new_register(f, kind_of_width(bits));

    at %= 64;
    width = width > 64 ? 64 : width;
    if (at) {
        struct name shifted = new_register(f, kind_of_width(width));

        before(f, "shr.b%u %s, %s, %u", width, shifted.s, from.s, at);
        from = shifted;
    }
    if (bits == width)
        before(f, "mov.b%u %s, %s", bits, e.s, from.s);
    else
        before(f, "cvt.u%u.u%u %s, %s", bits, width, e.s, from.s);
    return e;
}

/* "{e2, e1, e0}", or "e0" alone. */
static void put_list(FILE *out, const struct name *e, unsigned count, bool reversed)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : count > 1 ? "{" : "", e[reversed ? count - 1 - i : i].s);
    if (count > 1)
        fputc('}', out);
}

enum { MAX_ELEMENTS = 8 };

static void put_elements(struct frame *f, struct column c, unsigned count)
{
    unsigned bits = c.bits * c.lanes;
    struct name packed[2], e[MAX_ELEMENTS];

    add_packed(f, c, count, packed);
    for (unsigned i = 0; i < count; i++)
        e[i] = element(f, packed, bits * count, bits, i);
    put_list(f->line, e, count, false);
}

/* A number for a qualifier that does not change when the table gets new ones. */
static uint16_t recorded_number(uint16_t word)
{
    static const char *const names[] = {
#include "conformance/recorded_words.def"
    };

    if (word == PTXI_NO_WORD)
        return word;
    for (uint16_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k], ptxi_words[word]))
            return k;
    return (uint16_t)(column_hash(0, ptxi_words[word], strlen(ptxi_words[word])) | 0x8000);
}

/* Emits a special value as a constant that an assembler can follow. It can differ for each form and operand. */
static struct name add_known(struct frame *f, const struct ptxi_opspec *s, struct column c)
{
    enum case_register kind = kind_of_width(c.width);
    struct name r = new_register(f, kind);
    uint64_t hash = column_hash(0, s->name, 1);

    for (unsigned k = 0; k < f->m->row->slot_count; k++) {
        uint16_t number = recorded_number(f->m->words[k]);

        hash = column_hash(hash, &number, sizeof number);
    }
    c.inputs = 1;
    before(f, "mov.b%u %s, 0x%" PRIx64, c.width, r.s, column_value(&c, (uint32_t)(hash >> 32) % 64));
    return r;
}

/* Reuses the input with the same columns if one register serves as all operands of a type. Otherwise makes a new
 * one. */
static struct name add_value(struct frame *f, struct column c)
{
    for (unsigned i = 0; f->v->same && i < f->c->inputs; i++)
        if (!memcmp(&f->c->input[i], &c, sizeof c))
            return named(kind_of_width(c.width), f->c->input_register[i]);
    return add_input(f, c);
}

/* Emits a value in a register of its column's width, or in an 8-bit register if no wider one is legal. */
static void put_scalar(struct frame *f, const struct ptxi_opspec *s)
{
    struct column c = operand_column(f, s);
    struct name value = f->v->known == s - f->m->row->specs + 1 ? add_known(f, s, c) : add_value(f, c);

    fputs(c.bits == 8 && c.lanes == 1 && !(s->flags & PTXI_OPF_WIDER) ? element(f, &value, c.width, c.bits, 0).s
                                                                      : value.s,
          f->line);
}

/* Combines two halves into a 128-bit value. */
static struct name join_128(struct frame *f, const struct name *halves)
{
    struct name q = new_register(f, REG_128);

    before(f, "mov.b128 %s, {%s, %s}", q.s, halves[0].s, halves[1].s);
    return q;
}

static struct name wide_value(struct frame *f)
{
    struct name halves[2];

    add_packed(f, value_column(PTXI_T_b64), 2, halves);
    return join_128(f, halves);
}

/* Emits a brace that packs the elements of a value in rotated order. */
static void put_parts(struct frame *f, unsigned bits, unsigned parts)
{
    struct column c = value_column(bits == 128  ? PTXI_T_b64
                                   : bits == 64 ? PTXI_T_b64
                                   : bits == 32 ? PTXI_T_b32
                                                : PTXI_T_b16);
    struct name packed[2], e[MAX_ELEMENTS];

    add_packed(f, c, bits / c.width, packed);
    for (unsigned i = 0; i < parts; i++)
        e[i] = element(f, packed, bits, bits / parts, i);
    put_list(f->line, e, parts, true);
}

/* ---- Outputs ---- */

static void add_word(struct frame *f, struct name word)
{
    struct conformance_case *c = f->c;

    c->output_register[c->outputs++] = (uint8_t)strtoul(word.s + 2, NULL, 10);
}

/* Makes an output register that keeps its old value in lanes that do not execute the instruction. */
static struct name new_word(struct frame *f)
{
    struct name w = new_register(f, REG_32);

    if (*f->guard)
        before(f, "mov.u32 %s, 7", w.s);
    add_word(f, w);
    return w;
}

static void add_output(struct frame *f, struct name r, unsigned bits)
{
    struct name w;

    if (bits == 32 && !*f->guard) {
        add_word(f, r);
        return;
    }
    w = new_word(f);
    if (bits == 1) {
        after(f, "selp.u32 %s, 1, 0, %s", w.s, r.s);
    } else if (bits <= 16) {
        after(f, "cvt.u32.u%u %s, %s", bits, w.s, r.s);
    } else if (bits == 32) {
        after(f, "mov.b32 %s, %s", w.s, r.s);
    } else if (bits == 64) {
        after(f, "mov.b64 {%s, %s}, %s", w.s, new_word(f).s, r.s);
    } else {
        struct name lo = new_register(f, REG_64), hi = new_register(f, REG_64);

        after(f, "mov.b128 {%s, %s}, %s", lo.s, hi.s, r.s);
        after(f, "mov.b64 {%s, %s}, %s", w.s, new_word(f).s, lo.s);
        add_output(f, hi, 64);
    }
}

static void put_destination(struct frame *f, const struct ptxi_opspec *s)
{
    enum ptxi_type t = ptxi_isa_operand_type(f->m, s);
    unsigned bits = ptxi_types[t].bits, count = ptxi_isa_operand_vector(f->m, s);
    struct name e[MAX_ELEMENTS];

    if (++f->destinations == f->v->sink) {
        fputc('_', f->line);
        return;
    }
    if ((s->flags & PTXI_OPF_VECTOR_OK) && f->v->parts_d) {
        count = f->v->parts_d;
        bits /= count;
    } else if ((s->flags & PTXI_OPF_WIDER) && is_number(t)) {
        bits = f->v->wide ? (bits < 32 ? 32 : 64) : bits < 16 ? 16 : bits;
    }
    for (unsigned i = 0; i < (count ? count : 1); i++) {
        e[i] = new_register(f, t == PTXI_T_pred ? REG_PRED : kind_of_width(bits));
        add_output(f, e[i], bits);
    }
    put_list(f->line, e, count ? count : 1, false);
}

/* ---- Memory ---- */

static unsigned cell_bits(const struct frame *f, struct column *c, unsigned *count)
{
    for (unsigned i = 0; i < f->m->row->spec_count; i++) {
        const struct ptxi_opspec *s = &f->m->row->specs[i];

        if (s->kind == PTXI_OPK_VALUE && !(s->flags & PTXI_OPF_WRITE)) {
            enum ptxi_type t = meaning(f, s);
            unsigned n = ptxi_isa_operand_vector(f->m, s);

            *c = value_column(t == PTXI_T_b128 ? PTXI_T_b64 : t);
            *count = (n ? n : 1) * (t == PTXI_T_b128 ? 2 : 1);
            return c->bits * c->lanes * *count;
        }
    }
    return 0;
}

static void put_cell(struct frame *f)
{
    struct column c = { 0 };
    unsigned count = 0, bits = cell_bits(f, &c, &count);
    uint16_t word = ptxi_isa_slot(f->m, "ss");
    bool shared = f->v->shared || (word != PTXI_NO_WORD && !strncmp(ptxi_words[word], "shared", 6)),
         generic = word == PTXI_NO_WORD;
    const char *space = shared ? "shared" : "global", *at = shared ? "%shared" : "%global";
    struct name packed[2];
    unsigned columns;

    columns = add_packed(f, c, count, packed);
    *(shared ? &f->c->shared_cell : &f->c->global_cell) = true;
    for (unsigned i = 0; i < columns; i++)
        before(f, "st.%s.b%u [%s+%u], %s", space, columns == 2 ? 64 : bits, at, 8 * i, packed[i].s);
    if (generic && shared) {
        struct name address = new_register(f, REG_64);

        before(f, "cvta.shared.u64 %s, %%shared", address.s);
        fprintf(f->line, "[%s]", address.s);
    } else {
        fprintf(f->line, "[%s]", at);
    }
    for (unsigned i = 0; i < columns; i++) {
        unsigned width = columns == 2 ? 64 : bits;
        struct name r = new_register(f, kind_of_width(width));

        after(f, "ld.%s.b%u %s, [%s+%u]", space, width, r.s, at, 8 * i);
        add_output(f, r, width);
    }
}

/* Emits the compare value of an atomic operation. In every other row it equals the value in memory. */
static void put_compared(struct frame *f, const struct ptxi_opspec *s)
{
    unsigned bits = ptxi_types[meaning(f, s)].bits, width = bits > 64 ? 64 : bits, n = bits > 64 ? 2 : 1;
    enum case_register kind = kind_of_width(width);
    struct name odd = new_register(f, REG_32), p = new_register(f, REG_PRED), other[2], chosen[2];
    unsigned first = f->c->inputs - n;

    before(f, "and.b32 %s, %%row, 1", odd.s);
    before(f, "setp.ne.u32 %s, %s, 0", p.s, odd.s);
    add_packed(f, value_column(bits > 64 ? PTXI_T_b64 : meaning(f, s)), n, other);
    for (unsigned i = 0; i < n; i++) {
        chosen[i] = new_register(f, kind);
        before(f, "selp.b%u %s, %s, %s, %s", width, chosen[i].s, named(kind, f->c->input_register[first + i]).s,
               other[i].s, p.s);
    }
    fputs(n == 1 ? chosen[0].s : join_128(f, chosen).s, f->line);
}

/* ---- Operands in order ---- */

static bool compares(const struct frame *f)
{
    const struct ptxi_row *r = f->m->row;

    return (f->rule & RULE_MEMORY) && r->spec_count > 3 && !strcmp(r->specs[3].name, "c");
}

/* The cache policy "evict first". The encoding is undocumented; NVIDIA's libraries use these bits. */
static void put_policy(struct frame *f)
{
    struct name r = new_register(f, REG_64);

    before(f, "mov.b64 %s, 0x12f0000000000000", r.s);
    fputs(r.s, f->line);
}

static void put_value(struct frame *f, const struct ptxi_opspec *s)
{
    enum ptxi_type t = meaning(f, s);
    unsigned count = ptxi_isa_operand_vector(f->m, s);
    bool parts = (s->flags & PTXI_OPF_VECTOR_OK) && f->v->parts_a;

    if (!strcmp(s->name, "membermask"))
        fprintf(f->line, "0x%x", f->v->half ? 0xffff : f->v->lanes ? f->v->lanes : 0xffffffff);
    else if (!strcmp(s->name, "policy"))
        put_policy(f);
    else if ((f->rule & RULE_WARP) && f->v->half && !strcmp(s->name, "c")) /* no lane reads an inactive lane */
        fprintf(f->line, "0x%x", f->v->constant);
    else if (t == PTXI_T_pred)
        fprintf(f->line, "%s%s", f->v->negated && (s->flags & PTXI_OPF_NOT) ? "!" : "", add_predicate(f).s);
    else if (compares(f) && s->name[0] == 'b')
        put_compared(f, s);
    else if (compares(f) &&
             ptxi_types[t].bits == 128) /* derived from the other two, because the number of inputs is limited */
        fputs(join_128(
                  f, (struct name[]){ named(REG_64, f->c->input_register[3]), named(REG_64, f->c->input_register[0]) })
                  .s,
              f->line);
    else if (parts)
        put_parts(f, ptxi_types[t].bits, f->v->parts_a);
    else if (t == PTXI_T_b128)
        fputs(wide_value(f).s, f->line);
    else if (count)
        put_elements(f, operand_column(f, s), count);
    else
        put_scalar(f, s);
}

static void put_operand(struct frame *f, unsigned i)
{
    const struct ptxi_opspec *s = &f->m->row->specs[i];
    int selected = s->selector ? (s->flags & PTXI_OPF_WRITE ? 0 : s->name[0] - 'a' + 1) : -1;

    if (f->v->minus == i + 1)
        fputc('-', f->line);
    if (s->kind == PTXI_OPK_ADDRESS)
        put_cell(f);
    else if (s->kind == PTXI_OPK_SINK)
        fputc('_', f->line);
    else if (s->kind == PTXI_OPK_IMMEDIATE)
        fprintf(f->line, "%u", f->v->constant);
    else if (s->flags & PTXI_OPF_WRITE)
        put_destination(f, s);
    else
        put_value(f, s);
    if (selected >= 0)
        fputs(f->v->selector[selected], f->line);
}

static void put_operands(struct frame *f)
{
    const struct ptxi_row *r = f->m->row;
    bool first = true;

    for (unsigned i = 0; i < r->spec_count; i++) {
        bool pair = r->specs[i].flags & PTXI_OPF_PAIR;

        if (pair && (r->specs[i].flags & PTXI_OPF_OPTIONAL) && f->v->one)
            continue;
        fputs(pair ? "|" : first ? " " : ", ", f->line);
        put_operand(f, i);
        first = false;
    }
}

/* ---- Complete cases ---- */

void case_print_spelling(FILE *out, const struct ptxi_row *row, const uint16_t *words)
{
    fputs(row->mnemonic, out);
    for (unsigned s = 0; s < row->slot_count; s++)
        if (words[s] != PTXI_NO_WORD)
            fprintf(out, ".%s", ptxi_words[words[s]]);
}

bool case_next_choice(const struct ptxi_row *row, unsigned *choice)
{
    for (unsigned s = row->slot_count; s-- > 0;) {
        if (++choice[s] < row->slots[s].word_count + (row->slots[s].optional ? 1u : 0u))
            return true;
        choice[s] = 0;
    }
    return false;
}

bool case_word_orders(const struct ptxi_slot *slot, uint16_t word)
{
    return word != PTXI_NO_WORD &&
           (!strcmp(slot->name, "sem") || !strcmp(slot->name, "scope") || !strncmp(ptxi_words[word], "L2::", 4));
}

void case_selector(char *to, unsigned lanes, bool destination, uint64_t r)
{
    static const char *const one[6] = { ".b0", ".b1", ".b2", ".b3", ".h0", ".h1" };
    unsigned n = 2;

    if (lanes == 1) {
        strcpy(to, one[r % 6]);
        return;
    }
    to[0] = '.';
    to[1] = lanes == 2 ? 'h' : 'b';
    for (unsigned i = lanes; i-- > 0; r >>= 4)
        if (!destination)
            to[n++] = (char)('0' + (r & (2 * lanes - 1)));
        else if (r & 1)
            to[n++] = (char)('0' + i);
    if (n == 2)
        to[n++] = '0';
    to[n] = 0;
}

/* CC.CF is loaded from an input. If the instruction sets it, it is stored to an output. */
static void put_carry_in(struct frame *f)
{
    struct name in = add_input(
        f, (struct column){ .class = VALUE_PRED, .bits = 1, .lanes = 1, .width = 16, .position = f->predicates++ });
    struct name w = new_register(f, REG_32), t = new_register(f, REG_32);

    before(f, "cvt.u32.u16 %s, %s", w.s, in.s);
    before(f, "add.cc.u32 %s, %s, 0xffffffff", t.s, w.s);
}

static void put_guard(struct frame *f)
{
    struct name lane = new_register(f, REG_32), p = new_register(f, REG_PRED);

    before(f, "mov.u32 %s, %%%s", lane.s, f->v->half ? "laneid" : "lanemask_eq");
    if (f->v->half) {
        before(f, "setp.lt.u32 %s, %s, 16", p.s, lane.s);
    } else {
        before(f, "and.b32 %s, %s, 0x%x", lane.s, lane.s, f->v->lanes);
        before(f, "setp.ne.u32 %s, %s, 0", p.s, lane.s);
    }
    snprintf(f->guard, sizeof f->guard, "@%s ", p.s);
}

static void number_inputs(struct conformance_case *c)
{
    unsigned crossed = 0, bits = 0, n = 0, last = 0;

    for (unsigned i = 0; i < c->inputs; i++) {
        if (c->input[i].class == VALUE_PRED || c->input[i].class == VALUE_GROUP)
            continue;
        c->input[i].position = crossed++;
        bits += c->input[i].bits * c->input[i].lanes;
        last = i;
    }
    for (unsigned i = 0; i < c->inputs; i++)
        if (c->input[i].class != VALUE_PRED && c->input[i].class != VALUE_GROUP)
            c->input[i].inputs = crossed, n++;
    c->rows = COLUMN_ROWS;
    c->fine = COLUMN_CROSSED;
    if (n == 1 && bits <= 16) {
        c->input[last].all = 1;
        c->rows = COLUMN_ALL;
        c->fine = 0;
    }
    c->small = bits == 32 && crossed == c->inputs;
}

static bool orders(const struct ptxi_match *m)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (case_word_orders(&m->row->slots[s], m->words[s]))
            return true;
    return false;
}

static uint64_t key_of(const struct conformance_case *c)
{
    uint64_t key = column_hash(c->rows, c->body, strlen(c->body));

    for (unsigned i = 0; i < c->inputs; i++)
        key = column_hash(key + c->input_register[i], &c->input[i], sizeof c->input[i]);
    return column_hash(key, c->output_register, c->outputs);
}

static void set_name(struct frame *f, const char *line)
{
    struct conformance_case *c = f->c;
    const char *what = f->v->shared  ? " (shared)"
                       : f->v->half  ? " (half)"
                       : f->v->lanes ? " (lanes)"
                       : f->v->known ? " (constant)"
                                     : "";

    if (asprintf(&c->name, "%.*s%s", (int)strlen(line), line, what) < 0)
        abort();
}

void case_build(struct conformance_case *c, const struct ptxi_match *m, const struct variant *v, unsigned rule)
{
    char *text[3] = { NULL, NULL, NULL };
    size_t size[3];
    struct frame f = { .c = c, .m = m, .v = v, .rule = rule };

    memset(c, 0, sizeof *c);
    c->row = m->row;
    memcpy(c->words, m->words, sizeof c->words);
    f.before = open_memstream(&text[0], &size[0]);
    f.line = open_memstream(&text[1], &size[1]);
    f.after = open_memstream(&text[2], &size[2]);
    if (v->half || v->lanes)
        put_guard(&f);
    case_print_spelling(f.line, m->row, m->words);
    put_operands(&f);
    if (rule & RULE_CARRY) {
        put_carry_in(&f);
        if (ptxi_isa_has(m, "cc"))
            after(&f, "addc.u32 %s, 0, 0", new_word(&f).s);
    }
    fclose(f.before);
    fclose(f.line);
    fclose(f.after);
    if (asprintf(&c->body, "%s    %s%s;\n%s", text[0], f.guard, text[1], text[2]) < 0)
        abort();
    set_name(&f, text[1]);
    number_inputs(c);
    if (orders(m)) /* duplicates: a sample is enough */
        c->rows = COLUMN_CROSSED;
    c->key = key_of(c);
    for (unsigned i = 0; i < 3; i++)
        free(text[i]);
}
