/* Operands against the table: which row of a spelling takes them, and what is wrong if none does. */
#include "parse/parser.h"

#include <stdarg.h>
#include <stdio.h>

#include "isa/bytecode.h"

struct check {
    struct parser *p;
    const struct ptxi_spelling *sp;
    const struct ptxi_candidate *c;
    struct ptxi_inst *in;
    struct ptxi_operand *out;
    struct ptxi_loc loc; /* of the instruction's name */
    unsigned reached;    /* operands that fitted */
    bool quiet;          /* only asking */
    bool mixed;          /* struct ptxi_inst */
};

static bool fail_undefined(struct check *k, const struct ptxi_raw *r)
{
    if (!k->quiet)
        ptxi_parse_error(k->p, r->loc, "'%.*s' is not defined", (int)r->loc.len, r->s);
    return false;
}

static bool fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;
    char *msg;
    int n;

    if (k->quiet)
        return false;
    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !(msg = ptxi_arena_alloc(k->p->arena, (size_t)n + 1, 1)))
        return false;
    va_start(ap, fmt);
    vsnprintf(msg, (size_t)n + 1, fmt, ap);
    va_end(ap);
    ptxi_parse_error(k->p, loc, "%s", msg);
    ptxi_spell_note_accepted(k->p, k->c->match->row);
    return false;
}

/* Integers and untyped bits. */
static bool is_bits(char class)
{
    return class == 'U' || class == 'S' || class == 'B';
}

static bool is_integer(enum ptxi_type t)
{
    return t != PTXI_T_NONE && (ptxi_types[t].class == 'U' || ptxi_types[t].class == 'S');
}

/* What has registers of .bN only, and no constants. */
static bool is_alternate(enum ptxi_type t)
{
    return ptxi_types[t].class == 'A';
}

/* PTX ISA, "Operand Type Information" and "Operand Size Exceeding Instruction-Type Size": whether a register of type
 * `reg` can stand where the instruction says `want`. */
static bool fits(enum ptxi_type want, enum ptxi_type reg, bool wider)
{
    const struct ptxi_type_info *w = &ptxi_types[want], *r = &ptxi_types[reg];
    bool same = r->bits == w->bits, large_enough = same || (wider && r->bits > w->bits);

    if (want == reg)
        return true;
    if (reg == PTXI_T_f16x2) /* ptxas takes such a register for an integer */
        return large_enough && (is_bits(w->class) || want == PTXI_T_u16x2 || want == PTXI_T_s16x2);
    if (w->class == 'P' || r->class == 'P')
        return false;
    switch (w->class) {
    case 'U':
    case 'S':
        return large_enough && is_bits(r->class);
    case 'B':
        return large_enough;
    case 'F':
        return large_enough && r->class == 'B';
    default: /* alternate and packed formats have no registers of their own */
        return same && r->class == 'B';
    }
}

static const char *needed(enum ptxi_type want, bool wider, char *buf, size_t size)
{
    const struct ptxi_type_info *w = &ptxi_types[want];
    const char *least = wider && w->class != 'A' ? " or wider" : "";

    if (w->class == 'P')
        snprintf(buf, size, "a .pred register");
    else if (w->class == 'U' || w->class == 'S')
        snprintf(buf, size, "a %u-bit%s integer or .b%u register", w->bits, least, w->bits);
    else if (w->class == 'B')
        snprintf(buf, size, "a register of %u bits%s", w->bits, least);
    else if (w->class == 'F')
        snprintf(buf, size, "a .%s or .b%u%s register", w->name, w->bits, least);
    else
        snprintf(buf, size, "a .b%u register", w->bits);
    return buf;
}

static bool fail_type(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want)
{
    char buf[80];

    return fail(k, r->loc, "'%.*s' is a .%s register; operand %s of '%.*s' takes %s", (int)r->loc.len, r->s, ptxi_types[r->type].name, s->name,
                (int)k->sp->n, k->sp->s, needed(want, s->flags & PTXI_OPF_WIDER, buf, sizeof buf));
}

/* As an argument it is converted as the initial value of a variable is. */
static bool to_const(const struct ptxi_raw *r, enum ptxi_type t, bool argument, struct ptxi_operand *o)
{
    struct ptxi_value v = { r->value_kind, r->is_unsigned, r->bits, r->loc };

    o->form = PTXI_OPD_IMM;
    o->type = (uint8_t)t;
    return ptxi_expr_convert(&v, t, argument, &o->imm);
}

static const char *const space_names[] = { "generic", "const", "global", "local", "param", "shared", "tex" };

static const char *const value_kinds[] = { "an integer", "a floating-point", "a 32-bit floating-point" };

static bool in_ranges(const struct ptxi_opspec *s, int64_t v)
{
    for (unsigned i = 0; i < s->range_count; i++) {
        const struct ptxi_range *r = &s->ranges[i];

        if (v >= r->first && (v <= r->last || s->flags & PTXI_OPF_UNCHECKED) && (v - r->first) % r->step == 0)
            return true;
    }
    return s->range_count == 0;
}

static bool fail_range(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    struct ptxi_str out;

    if (k->quiet)
        return false;
    ptxi_str_init(&out, k->p->arena->alloc);
    for (unsigned i = 0; i < s->range_count; i++) {
        const struct ptxi_range *v = &s->ranges[i];

        ptxi_str_printf(&out, "%s%d", i == 0 ? "" : i + 1 < s->range_count ? ", " : " or ", v->first);
        if (v->last != v->first)
            ptxi_str_printf(&out, " to %d", v->last);
        if (v->last != v->first && v->step > 1)
            ptxi_str_printf(&out, " in steps of %d", v->step);
    }
    fail(k, r->loc, "operand %s of '%.*s' must be %s", s->name, (int)k->sp->n, k->sp->s, ptxi_str_text(&out));
    ptxi_str_free(&out);
    return false;
}

static bool check_const(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    if (s->flags & PTXI_OPF_WRITE)
        return fail(k, r->loc, "operand %s is written and cannot be a constant", s->name);
    if (s->flags & PTXI_OPF_REGISTER)
        return fail(k, r->loc, "operand %s of '%.*s' cannot be a constant", s->name, (int)k->sp->n, k->sp->s);
    if (want != PTXI_T_NONE && (is_alternate(want) || want == PTXI_T_f16 || want == PTXI_T_f16x2))
        return fail(k, r->loc, "operand %s of '%.*s' is of type .%s, which has no constants", s->name, (int)k->sp->n, k->sp->s, ptxi_types[want].name);
    if (!to_const(r, want, false, o))
        return fail(k, r->loc, "operand %s of '%.*s' is of type .%s and cannot be %s constant", s->name, (int)k->sp->n, k->sp->s, ptxi_types[want].name,
                    value_kinds[r->value_kind]);
    return !s->range_count || in_ranges(s, (int64_t)r->bits) || fail_range(k, r, s);
}

/* PTX ISA, "Video Instructions": of one part; of as many as the operation has; or a mask, the highest first. */
static bool selector_fits(uint16_t selector, const struct ptxi_opspec *s)
{
    unsigned count = PTXI_SELECTOR_COUNT(selector), halves = PTXI_SELECTOR_HALVES(selector), n = s->selector;
    bool mask = n > 1 && s->flags & PTXI_OPF_WRITE;

    if (n == 1)
        return count == 1 && PTXI_SELECTOR_DIGIT(selector, 0) < (halves ? 2u : 4u);
    if (halves != (n == 2) || (!mask && count != n))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (PTXI_SELECTOR_DIGIT(selector, i) >= (mask ? n : 2 * n) || (mask && i && PTXI_SELECTOR_DIGIT(selector, i) <= PTXI_SELECTOR_DIGIT(selector, i - 1)))
            return false;
    return true;
}

static bool check_selector(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    static const char *const examples[] = { [1] = ".b3 or .h1", [2] = ".h10", [4] = ".b3210" };

    if (r->selector && !s->selector)
        return fail(k, r->loc, "operand %s of '%.*s' takes no selector", s->name, (int)k->sp->n, k->sp->s);
    if (r->selector && !selector_fits(r->selector, s))
        return fail(k, r->loc, "operand %s of '%.*s' takes a selector like %s", s->name, (int)k->sp->n, k->sp->s, examples[s->selector]);
    if (r->negated && !(s->flags & PTXI_OPF_NOT))
        return fail(k, r->loc, "operand %s of '%.*s' cannot be negated with !", s->name, (int)k->sp->n, k->sp->s);
    if (r->minus && !(s->flags & PTXI_OPF_NEGATE))
        return fail(k, r->loc, "operand %s of '%.*s' cannot be negated with -", s->name, (int)k->sp->n, k->sp->s);
    return true;
}

/* A .f16x2 register stands for an integer of the type that the instruction names, not for a count or the like. */
static bool is_count(const struct ptxi_opspec *s, enum ptxi_type want)
{
    return s->type_rule == PTXI_TR_FIXED && is_integer(want);
}

static bool check_reg(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    if (want != PTXI_T_NONE && want != r->type && (!fits(want, r->type, s->flags & PTXI_OPF_WIDER) || (r->type == PTXI_T_f16x2 && is_count(s, want))))
        return fail_type(k, r, s, want);
    if ((r->selector || r->negated || r->minus) && !check_selector(k, r, s))
        return false;
    o->form = PTXI_OPD_REG;
    o->type = r->type;
    o->selector = r->selector;
    o->negated = r->negated || r->minus;
    o->reg = r->reg;
    return true;
}

/* PTX ISA, "Special Registers": those with x, y, z and %gridid were narrower once and may still be read so. */
static bool check_sreg(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    unsigned id = r->reg & 0xff, have = ptxi_types[r->type].bits, bits = ptxi_types[want].bits;
    bool narrow = (id <= PTXI_SREG_ntid || id == PTXI_SREG_ctaid || id == PTXI_SREG_nctaid) ? bits == 16 : id == PTXI_SREG_gridid && (bits == 32 || bits == 16);

    if (s->flags & PTXI_OPF_WRITE)
        return fail(k, r->loc, "a special register cannot be written");
    if (!(s->flags & PTXI_OPF_SREG))
        return fail(k, r->loc, "'%.*s' cannot read a special register: move it to a register first", (int)k->sp->n, k->sp->s);
    if ((r->type == PTXI_T_pred) != (want == PTXI_T_pred) || (have != bits && !narrow && !(have > bits && (s->flags & PTXI_OPF_WIDER))))
        return fail(k, r->loc, "'%.*s' is of type .%s; operand %s is of type .%s", (int)r->loc.len, r->s, ptxi_types[r->type].name, s->name,
                    ptxi_types[want].name);
    o->form = PTXI_OPD_SREG;
    o->type = r->type;
    o->sreg = r->reg;
    return true;
}

/* Whether an operand is of a type that the instruction names, and not a count or the like. */
static bool is_named(const struct check *k, const struct ptxi_opspec *s, enum ptxi_type want)
{
    if (s->type_rule != PTXI_TR_FIXED)
        return true;
    return !k->c->address_count && ptxi_types[want].bits <= 64 && ptxi_isa_has(k->c->match, ptxi_types[want].name) &&
           !is_integer(want);
}

/* ptxas takes a variable with an offset for a constant, and a function where the instruction names the type; a variable alone only
 * where the instruction wants one. */
static bool is_symbolic_constant(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want)
{
    char class = ptxi_types[want].class;

    if (s->flags & (PTXI_OPF_REGISTER | PTXI_OPF_BRACES | PTXI_OPF_NEGATE | PTXI_OPF_EACH) || (s->selector && r->kind == PTXI_RAW_VAR) || (is_count(s, want) && ptxi_types[want].bits != 32))
        return false;
    if (r->kind == PTXI_RAW_VAR)
        return r->offset && is_bits(class);
    return class != 'P' && (class != 'A' || want == PTXI_T_f32x2 || want == PTXI_T_u16x2 || want == PTXI_T_s16x2) && is_named(k, s, want);
}

static bool check_symbol(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    char class = ptxi_types[want].class;

    if (s->flags & PTXI_OPF_WRITE)
        return fail(k, r->loc, "'%.*s' cannot be written: it is the address of a variable or function", (int)r->loc.len, r->s);
    if (!is_symbolic_constant(k, r, s, want) && (!(s->flags & PTXI_OPF_SYMBOL) || !is_bits(class)))
        return fail(k, r->loc, "operand %s of '%.*s' cannot be an address: move it to a register first", s->name, (int)k->sp->n, k->sp->s);
    if (s->flags & PTXI_OPF_SYMBOL && k->c->space_count && (r->kind == PTXI_RAW_FUNC || r->var->space != k->c->spaces[0]))
        return fail(k, r->loc, "'%.*s' is not in .%s", (int)r->loc.len, r->s, space_names[k->c->spaces[0]]);
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_GLOBAL && !r->offset && ptxi_types[want].bits < k->p->tree->address_size)
        return fail(k, r->loc, "the address of '%s' has %u bits", r->var->name->s, k->p->tree->address_size);
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_PARAM && !r->var->is_param && !r->var->is_ret)
        return fail(k, r->loc, "'%s' is an argument or result of a call and has no address", r->var->name->s);
    if (r->kind == PTXI_RAW_FUNC) {
        o->form = PTXI_OPD_FUNC;
        o->func = r->func;
    } else {
        o->form = PTXI_OPD_VAR;
        o->var = r->var;
        o->offset = r->offset;
    }
    o->type = (uint8_t)want;
    return true;
}

/* var[register+constant] as a value */
static bool check_indexed(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_operand *o)
{
    struct ptxi_address *a;

    if (!r->bare || !(s->flags & PTXI_OPF_SYMBOL) || (k->c->space_count && r->var->space != k->c->spaces[0]))
        return fail(k, r->loc, "operand %s of '%.*s' cannot be an address", s->name, (int)k->sp->n, k->sp->s);
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = r->reg, .type = r->type, .scale = r->scale, .offset = r->offset };
    o->form = PTXI_OPD_ADDRESS;
    o->type = r->type;
    o->address = a;
    return true;
}

static bool check_sink(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, bool allowed, struct ptxi_operand *o)
{
    if (!allowed)
        return fail(k, r->loc, "operand %s of '%.*s' cannot be the sink _", s->name, (int)k->sp->n, k->sp->s);
    o->form = PTXI_OPD_SINK;
    o->type = PTXI_T_NONE;
    return true;
}

static bool check_scalar(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, bool sink, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    switch (r->kind) {
    case PTXI_RAW_REG:
        return r->vector ? fail(k, r->loc, "'%.*s' is a vector of %u", (int)r->loc.len, r->s, r->vector) : check_reg(k, r, s, want, o);
    case PTXI_RAW_CONST:
        return check_const(k, r, s, want, o);
    case PTXI_RAW_SREG:
        return r->vector ? fail(k, r->loc, "'%.*s' is a vector: .x, .y or .z is needed", (int)r->loc.len, r->s) : check_sreg(k, r, s, want, o);
    case PTXI_RAW_VAR:
    case PTXI_RAW_FUNC:
        return check_symbol(k, r, s, want, o);
    case PTXI_RAW_ADDRESS:
        return check_indexed(k, r, s, o);
    case PTXI_RAW_SINK:
        return check_sink(k, r, s, sink, o);
    case PTXI_RAW_NAME:
        return fail_undefined(k, r);
    case PTXI_RAW_LABEL:
        return fail(k, r->loc, "'%.*s' is a label", (int)r->loc.len, r->s);
    default:
        return fail(k, r->loc, "operand %s of '%.*s' is a scalar", s->name, (int)k->sp->n, k->sp->s);
    }
}

/* In a vector ptxas takes a predicate for 32 bits. */
static unsigned element_bits(enum ptxi_type t)
{
    return t == PTXI_T_pred ? 32 : ptxi_types[t].bits;
}

/* Whether two registers may be neighbours in a vector, as ptxas has it. */
static bool go_together(enum ptxi_type a, enum ptxi_type b)
{
    return a == PTXI_T_NONE || a == b || ptxi_types[a].class == 'B' || ptxi_types[b].class == 'B' || (is_integer(a) && is_integer(b));
}

/* PTX ISA, "Vectors as Operands". Integers count as bits where floats are wanted. */
static bool vector_fits(enum ptxi_type want, enum ptxi_type all, bool wider)
{
    if (want == PTXI_T_NONE || all == PTXI_T_NONE || fits(want, all, wider))
        return true;
    return ptxi_types[want].class == 'F' && want != PTXI_T_f16x2 && all != PTXI_T_f16x2 && is_bits(ptxi_types[all].class) &&
           (ptxi_types[all].bits == ptxi_types[want].bits || (wider && ptxi_types[all].bits > ptxi_types[want].bits));
}

/* What one element is held against before all are. Constants of a fragment are bits. Coordinates of type .b32 begin with a layer. */
static enum ptxi_type element_type(const struct check *k, const struct ptxi_raw *one, const struct ptxi_opspec *s, enum ptxi_type want, unsigned i)
{
    if (i == 0 && want == PTXI_T_b32 && s->flags & PTXI_OPF_COORDS)
        return PTXI_T_u32;
    if (one->kind == PTXI_RAW_REG && !(s->flags & PTXI_OPF_EACH && k->c->expansion != PTXI_NOT_EXPANDED))
        return PTXI_T_NONE;
    return one->kind == PTXI_RAW_CONST && s->flags & PTXI_OPF_BRACES && (is_alternate(want) || want == PTXI_T_f16x2) ? PTXI_T_b32 : want;
}

/* Elements one by one; of a brace list, or of a vector register. */
static bool check_elements(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, unsigned n, struct ptxi_operand *o)
{
    unsigned have = r->kind == PTXI_RAW_VECTOR ? r->count : r->vector, sinks = 0, bits = 0;
    enum ptxi_type all = PTXI_T_NONE, last = PTXI_T_NONE; /* one of .bN makes all of them bits */
    struct ptxi_raw first = { 0 };
    struct ptxi_operand *e;

    if (have != n)
        return fail(k, r->loc, "operand %s of '%.*s' is a vector of %u, not of %u", s->name, (int)k->sp->n, k->sp->s, n, have);
    if (!(e = ARENA_NEW(k->p->arena, struct ptxi_operand, n)))
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct ptxi_raw one = r->kind == PTXI_RAW_VECTOR ? r->elements[i] : *r;

        if (r->kind != PTXI_RAW_VECTOR) {
            one.vector = 0;
            one.reg += r->kind == PTXI_RAW_SREG ? i << 8 : i;
        }
        if (!(s->flags & PTXI_OPF_SYMBOL) && (one.kind == PTXI_RAW_VAR || one.kind == PTXI_RAW_FUNC))
            return fail(k, one.loc, "an address cannot be an element of operand %s", s->name);
        if (!check_scalar(k, &one, s, element_type(k, &one, s, want, i), s->flags & PTXI_OPF_WRITE, &e[i]))
            return false;
        sinks += e[i].form == PTXI_OPD_SINK;
        if (e[i].form != PTXI_OPD_REG)
            continue;
        if (bits && element_bits(e[i].type) != bits)
            return fail(k, one.loc, "the registers of a vector must be of one width");
        bits = element_bits(e[i].type);
        k->mixed |= e[i].type == PTXI_T_pred && want != PTXI_T_pred;
        if (all == PTXI_T_NONE)
            first = one;
        if (!go_together(last, e[i].type))
            return fail(k, one.loc, "neighbours in a vector must be of one type, or one of them of .b%u", bits);
        last = (enum ptxi_type)e[i].type;
        if (all == PTXI_T_NONE || ptxi_types[last].class == 'B')
            all = last;
    }
    if (!vector_fits(want, all, s->flags & PTXI_OPF_WIDER) || (all == PTXI_T_f16x2 && is_count(s, want)))
        return fail_type(k, &first, s, want);
    if (sinks == n && n && !(s->flags & PTXI_OPF_SINK))
        return fail(k, r->loc, "one element at least must be a register");
    o->form = PTXI_OPD_VECTOR;
    o->type = (uint8_t)want;
    o->count = (uint8_t)n;
    o->elements = e;
    return true;
}

static enum ptxi_type bits_type(unsigned bits)
{
    switch (bits) {
    case 8: return PTXI_T_b8;
    case 16: return PTXI_T_b16;
    case 32: return PTXI_T_b32;
    case 64: return PTXI_T_b64;
    default: return PTXI_T_NONE;
    }
}

/* Braces of a pack or unpack: as many elements as make up the type. */
static bool check_packed(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    unsigned n = r->kind == PTXI_RAW_VECTOR ? r->count : r->vector;
    enum ptxi_type element = n == 2 || n == 4 ? bits_type(ptxi_types[want].bits / n) : PTXI_T_NONE;

    if (n == 1)
        return check_scalar(k, r->elements, s, want, false, o);
    if (r->kind == PTXI_RAW_SREG)
        return check_scalar(k, r, s, want, false, o);
    if (!(s->flags & PTXI_OPF_WRITE) && k->out[0].form == PTXI_OPD_VECTOR)
        return fail(k, r->loc, "only one side can be a vector");
    for (unsigned i = 0; r->kind == PTXI_RAW_VECTOR && i < n; i++)
        if (r->elements[i].kind == PTXI_RAW_CONST && r->elements[i].value_kind != PTXI_VAL_INT)
            return fail(k, r->elements[i].loc, "constants of a vector must be integers here");
    if (element == PTXI_T_NONE)
        return fail(k, r->loc, ".%s cannot be taken apart into %u elements", ptxi_types[want].name, n);
    return check_elements(k, r, s, element, n, o);
}

static bool is_vector(const struct ptxi_raw *r)
{
    return r->kind == PTXI_RAW_VECTOR || ((r->kind == PTXI_RAW_REG || r->kind == PTXI_RAW_SREG) && r->vector);
}

/* Where ptxas does not look at the number of elements, those behind the first mean nothing. */
static const struct ptxi_raw *first_element(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want)
{
    const struct ptxi_raw *first = r->elements;
    bool bf16 = (want == PTXI_T_bf16 || want == PTXI_T_bf16x2) && !k->c->address_count && !(s->flags & PTXI_OPF_REGISTER);

    if (r->kind != PTXI_RAW_VECTOR || !(s->flags & PTXI_OPF_UNCHECKED || bf16))
        return r;
    if ((r->count != 1 && r->count != 2 && r->count != 4) || (first->kind != PTXI_RAW_REG && !(first->kind == PTXI_RAW_CONST && s->flags & PTXI_OPF_UNCHECKED)))
        return r;
    for (unsigned i = 1; i < r->count; i++) {
        const struct ptxi_raw *e = &first[i];

        if (e->kind != PTXI_RAW_SINK && e->kind != PTXI_RAW_CONST && (e->kind != PTXI_RAW_REG || ptxi_types[e->type].bits != ptxi_types[first->type].bits))
            return r;
    }
    return first;
}

static bool check_value(struct check *k, const struct ptxi_raw *r, unsigned i, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];
    enum ptxi_type want = k->c->types[i];
    unsigned n = k->c->vectors[i];

    o->column = r->loc.col;
    if (r->kind == PTXI_RAW_REG && !r->vector && !n)
        return check_reg(k, r, s, want, o);
    if (r->kind == PTXI_RAW_SINK && (s->flags & PTXI_OPF_SINK))
        return check_sink(k, r, s, true, o);
    if (is_vector(r) && (s->flags & PTXI_OPF_VECTOR_OK))
        return check_packed(k, r, s, want, o);
    if (n && !ptxi_isa_vector_varies(s) && r->kind == PTXI_RAW_VECTOR && s->flags & PTXI_OPF_UNCHECKED && r->count > n && (r->count == 2 || r->count == 4))
        n = r->count;
    if (n == 1 && !is_vector(r) && (s->flags & PTXI_OPF_BRACES))
        return fail(k, r->loc, "operand %s of '%.*s' must stand in braces", s->name, (int)k->sp->n, k->sp->s);
    if (n > 1 || (n == 1 && is_vector(r))) {
        if (!is_vector(r))
            return fail(k, r->loc, "operand %s of '%.*s' is a vector of %u", s->name, (int)k->sp->n, k->sp->s, n);
        return check_elements(k, r, s, want, n, o);
    }
    if (r->kind == PTXI_RAW_VECTOR && r->count == 1 && s->vector) /* braces around a scalar that could be a vector */
        r = r->elements;
    if (!n)
        r = first_element(k, r, s, want);
    return check_scalar(k, r, s, want, s->flags & PTXI_OPF_SINK, o);
}

/* ---- addresses ---- */

/* The state space that the instruction names for this address. A barrier behind the others is where the destination is. */
static enum ptxi_space address_space(const struct ptxi_candidate *c, unsigned nth)
{
    return c->space_count == 0 ? PTXI_SPACE_GENERIC : c->spaces[nth < c->space_count ? nth : 0];
}

static bool is_far(enum ptxi_space space)
{
    return space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_GENERIC;
}

/* PTX ISA, "Device Function Parameters": inputs are read, results are written, and neither under a guard. */
static bool check_param(struct check *k, const struct ptxi_raw *r, bool store)
{
    const struct ptxi_var *v = r->var;

    if (v->is_param && store)
        return fail(k, r->loc, "parameter '%s' cannot be written", v->name->s);
    if (v->is_ret && !store)
        return fail(k, r->loc, "return parameter '%s' cannot be read", v->name->s);
    if (!v->is_param && !v->is_ret && k->in->guard != PTXI_NO_REG)
        return fail(k, r->loc, "an access to the argument or result '%s' of a call cannot be predicated", v->name->s);
    return true;
}

/* What a variable without a space in the instruction's name may be in, where not all will do. */
static bool may_name(const struct ptxi_row *row, enum ptxi_space space)
{
    static const struct { const char *mnemonic; uint8_t space; } only[] = {
        { "mbarrier", PTXI_SPACE_SHARED }, { "prefetch", PTXI_SPACE_GLOBAL }, { "prefetchu", PTXI_SPACE_GLOBAL },
    };

    for (unsigned i = 0; i < sizeof only / sizeof *only; i++)
        if (!strcmp(row->mnemonic, only[i].mnemonic))
            return space == only[i].space || space == PTXI_SPACE_CONST || space == PTXI_SPACE_PARAM;
    return true;
}

static bool check_space(struct check *k, const struct ptxi_raw *r, enum ptxi_space space, bool store)
{
    const struct ptxi_var *v = r->var;

    if (!v)
        return true;
    if (v->opaque)
        return fail(k, r->loc, "'%s' is a texture, sampler or surface reference", v->name->s);
    if (space == PTXI_SPACE_GENERIC && !may_name(k->c->match->row, v->space))
        return fail(k, r->loc, "'%s' is in .%s, where '%s' does not go", v->name->s, space_names[v->space], k->c->match->row->mnemonic);
    if (space == PTXI_SPACE_GENERIC && (v->space == PTXI_SPACE_CONST || v->space == PTXI_SPACE_PARAM))
        return fail(k, r->loc, "'%s' is in .%s, the instruction names no state space", v->name->s, space_names[v->space]);
    if (space != PTXI_SPACE_GENERIC && v->space != space)
        return fail(k, r->loc, "'%s' is in .%s, the instruction accesses .%s", v->name->s, space_names[v->space], space_names[space]);
    return space != PTXI_SPACE_PARAM || check_param(k, r, store);
}

/* The register that holds an address. ptxas takes 32 bits for a sign of a 32-bit program, which it does not translate; narrower
 * ones it extends, and where it moves the address before it uses it, those of 32 bits, too. */
static bool check_base(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_space space)
{
    unsigned bits = ptxi_types[r->type].bits;
    unsigned at = (unsigned)(s - k->c->match->row->specs) + 1, most = at < k->c->spec_count && s[1].flags & PTXI_OPF_COORDS ? 128 : 64;
    bool moved = s->flags & PTXI_OPF_UNCHECKED, narrow = s->flags & PTXI_OPF_WIDER && (!moved || s->flags & PTXI_OPF_EACH || space != PTXI_SPACE_GENERIC);

    if (k->c->expansion == PTXI_EXPANDED)
        narrow = false;

    if (!r->based)
        return true;
    if (s->flags & PTXI_OPF_ANY_REGISTER && bits <= most && k->c->expansion != PTXI_EXPANDED && !(s->flags & PTXI_OPF_EACH && r->type == PTXI_T_pred))
        return true;
    if (!is_bits(ptxi_types[r->type].class) || bits > 64 || (bits < 32 && !narrow))
        return fail(k, r->loc, "'%.*s' cannot be an address: a 32-bit or 64-bit integer register is needed", (int)r->loc.len, r->s);
    if (bits == 32 && !moved && !r->var && is_far(space) && k->p->tree->address_size == 64)
        return fail(k, r->loc, "'%.*s' has 32 bits; an address in %s space takes a 64-bit register", (int)r->loc.len, r->s, space_names[space]);
    return true;
}

/* Whether a query is about what a sampler has, if there are samplers. */
static bool asks_sampler(const struct ptxi_match *m)
{
    static const char *const words[] = { "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2" };

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (ptxi_isa_has(m, words[i]))
            return true;
    return false;
}

/* PTX ISA, "Texture, Sampler and Surface Types": which of them an address is, as struct ptxi_var names them. */
static char reference_kind(const struct check *k)
{
    const char *mnemonic = k->c->match->row->mnemonic;
    bool query = !strcmp(mnemonic, "txq");

    if (*mnemonic == 's')
        return 'f';
    return query && (ptxi_isa_has(k->c->match, "force_unnormalized_coords") || (k->p->tree->texmode_independent && asks_sampler(k->c->match))) ? 's' : 't';
}

/* A texture, sampler or surface. */
static bool check_reference(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    char kind = reference_kind(k);

    if (!r->offset && (r->var ? r->var->opaque == kind && !r->based : r->based && fits(PTXI_T_u64, r->type, false)))
        return true;
    return fail(k, r->loc, "operand %s of '%.*s' must be a .%s or a 64-bit integer register", s->name, (int)k->sp->n, k->sp->s,
                kind == 's' ? "samplerref" : kind == 'f' ? "surfref" : "texref");
}

/* Tensor memory: by registers of integers and packed halves; where ptxas puts other instructions in the place, of bits alone. */
static bool is_tensor_address(const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type only)
{
    if (!r->based || r->var || ptxi_types[r->type].bits != ptxi_types[only].bits)
        return false;
    return ptxi_types[r->type].class == 'B' || (!(s->flags & PTXI_OPF_EACH) && (is_bits(ptxi_types[r->type].class) || r->type == PTXI_T_f16x2));
}

static bool check_address(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned nth, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];
    enum ptxi_type only = k->c->types[i]; /* an address that is a register of this type */
    enum ptxi_space space = address_space(k->c, nth);
    struct ptxi_address *a;

    if (r->kind != PTXI_RAW_ADDRESS && !(r->kind == PTXI_RAW_VAR && r->bare))
        return fail(k, r->loc, "operand %s of '%.*s' must be an address in brackets", s->name, (int)k->sp->n, k->sp->s);
    if (only == PTXI_T_u64 && !check_reference(k, r, s))
        return false;
    if (only != PTXI_T_NONE && only != PTXI_T_u64 && !is_tensor_address(r, s, only))
        return fail(k, r->loc, "operand %s of '%.*s' must be an address in a .%s register", s->name, (int)k->sp->n, k->sp->s, ptxi_types[only].name);
    if (only == PTXI_T_NONE && !check_base(k, r, s, space))
        return false;
    if (!r->var && !r->based && space != PTXI_SPACE_LOCAL)
        return fail(k, r->loc, "only a .local address can be a constant");
    if (only == PTXI_T_NONE && !check_space(k, r, space, i == 0 && k->c->match->row->spec_count > 1))
        return false;
    if (r->offset && i + 1 < k->c->spec_count && k->c->match->row->specs[i + 1].flags & PTXI_OPF_COORDS)
        return fail(k, r->loc, "an address with coordinates takes no offset");
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = r->based ? r->reg : PTXI_NO_REG, .type = r->based ? r->type : PTXI_T_NONE,
                                .scale = r->based ? r->scale : 1, .offset = r->offset };
    o->form = PTXI_OPD_ADDRESS;
    o->type = r->based ? r->type : PTXI_T_NONE;
    o->column = r->loc.col;
    o->address = a;
    return true;
}

/* ---- all operands of one candidate ---- */

static bool check_label(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    o->type = PTXI_T_NONE;
    if (s->kind == PTXI_OPK_TABLE) {
        if (r->kind != PTXI_RAW_LABEL || r->sym->kind != PTXI_SYM_BRANCHES)
            return fail(k, r->loc, "'%.*s' is not the label of a .branchtargets before this instruction", (int)r->loc.len, r->s);
        o->form = PTXI_OPD_TABLE;
        o->table = r->sym->table;
        return true;
    }
    if (r->kind == PTXI_RAW_VECTOR || r->kind == PTXI_RAW_CONST || r->kind == PTXI_RAW_ADDRESS || r->kind == PTXI_RAW_SINK)
        return fail(k, r->loc, "operand %s of '%.*s' must be a label", s->name, (int)k->sp->n, k->sp->s);
    o->form = PTXI_OPD_LABEL; /* its target follows when the operands have their place */
    return true;
}

static bool check_operand(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned *addresses, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];

    switch (s->kind) {
    case PTXI_OPK_VALUE:
        return check_value(k, r, i, o);
    case PTXI_OPK_IMMEDIATE:
        o->column = r->loc.col;
        return r->kind == PTXI_RAW_CONST ? check_const(k, r, s, k->c->types[i], o)
                                         : fail(k, r->loc, "operand %s of '%.*s' must be a constant", s->name, (int)k->sp->n, k->sp->s);
    case PTXI_OPK_ADDRESS:
        return check_address(k, r, i, (*addresses)++, o);
    case PTXI_OPK_SINK:
        return r->kind == PTXI_RAW_SINK ? check_sink(k, r, s, true, o)
                                        : fail(k, r->loc, "operand %s of '%.*s' must be the sink _", s->name, (int)k->sp->n, k->sp->s);
    default:
        return check_label(k, r, s, o);
    }
}

static bool fail_few(struct check *k, const struct ptxi_opspec *s)
{
    struct ptxi_loc loc = k->loc;

    return fail(k, loc, "'%.*s' needs an operand %s", (int)k->sp->n, k->sp->s, s->name);
}

/* Where textures have modes of their own, ptxas does not look at what stands here. */
static bool may_be_sampler(const struct check *k, const struct ptxi_raw *r)
{
    if (r->kind == PTXI_RAW_VAR)
        return !r->offset && (r->var->opaque == 's' || !k->p->tree->texmode_independent);
    return r->kind == PTXI_RAW_REG && !r->vector && fits(PTXI_T_u64, r->type, false);
}

/* The sampler between a texture and its coordinates goes to the texture's address. */
static bool take_sampler(struct check *k, unsigned i, unsigned *next, struct ptxi_operand *texture)
{
    const struct ptxi_row *row = k->c->match->row;
    unsigned want = 0, have = 0;
    struct ptxi_operand *sampler;
    struct ptxi_opspec name = { .name = "sampler", .kind = PTXI_OPK_VALUE, .flags = PTXI_OPF_SYMBOL };
    const struct ptxi_raw *r;

    while (i + want < row->spec_count && (row->specs[i + want].flags & PTXI_OPF_COORDS))
        want++;
    while (*next + have < k->p->raw_count && k->p->raw[*next + have].inside)
        have++;
    if (have != want + 1 && k->p->tree->texmode_independent)
        return fail(k, k->loc, "'%.*s' takes a sampler behind the texture, with .target texmode_independent", (int)k->sp->n, k->sp->s);
    if (have != want + 1)
        return true;
    r = &k->p->raw[(*next)++];
    if (!may_be_sampler(k, r))
        return fail(k, r->loc, "a sampler must be a .samplerref or a 64-bit integer register");
    if (!(sampler = ARENA_NEW(k->p->arena, struct ptxi_operand, 1)))
        return false;
    texture->address->sampler = sampler;
    return check_scalar(k, r, &name, PTXI_T_b64, false, sampler);
}

/* PTX ISA, "Scalar Video Instructions: vmad": a negated product and a negated summand do not meet. */
static bool check_minus(struct check *k)
{
    const struct ptxi_raw *raw = k->p->raw;

    if (k->p->raw_count != 4 || !raw[3].minus || raw[1].minus == raw[2].minus)
        return true;
    return fail(k, raw[3].loc, "'%.*s' cannot negate both the product and the summand", (int)k->sp->n, k->sp->s);
}

/* Of derivatives with a depth or one offset ptxas makes a call, and looks at each register. */
static bool check_depth(struct check *k)
{
    const struct ptxi_row *row = k->c->match->row;
    uint16_t type = ptxi_isa_slot(k->c->match, "C");
    unsigned n = row->spec_count;

    while (n > 1 && k->out[n - 1].form == PTXI_OPD_NONE)
        n--;
    if (k->out[n - 1].form == PTXI_OPD_VECTOR || row->specs[n - 1].flags & PTXI_OPF_COORDS || strcmp(row->mnemonic, "tex") || !ptxi_isa_has(k->c->match, "grad"))
        return true;
    for (unsigned i = 0; i < n; i++) {
        const struct ptxi_opspec *s = &row->specs[i];
        bool coords = s->flags & PTXI_OPF_COORDS, layer = coords && k->c->types[i] == PTXI_T_b32;

        if (s->flags & PTXI_OPF_WRITE || k->out[i].form != PTXI_OPD_VECTOR || (!coords && k->c->types[i] != PTXI_T_f32))
            continue;
        for (unsigned e = 0; e < k->out[i].count; e++) {
            const struct ptxi_operand *o = &k->out[i].elements[e];
            enum ptxi_type want = !coords ? PTXI_T_f32 : layer && e == 0 ? PTXI_T_u32 : type;

            if (o->form == PTXI_OPD_REG && !fits(want, o->type, false))
                return fail(k, k->loc, "operand %s of '%.*s' with what follows has registers of type .%s or .b32", s->name, (int)k->sp->n, k->sp->s, ptxi_types[want].name);
        }
    }
    return true;
}

static bool is_texture(const struct ptxi_row *row)
{
    return !strcmp(row->mnemonic, "tex") || !strcmp(row->mnemonic, "tld4");
}

/* Operands that are optional, second halves of pairs, or in another operand's brackets. */
static bool check_list(struct check *k)
{
    const struct ptxi_row *row = k->c->match->row;
    const struct ptxi_raw *raw = k->p->raw;
    unsigned next = 0, n = k->p->raw_count, addresses = 0;

    for (unsigned i = 0; i < row->spec_count; i++, k->reached++) {
        const struct ptxi_opspec *s = &row->specs[i];
        bool pair = s->flags & PTXI_OPF_PAIR, inside = s->flags & PTXI_OPF_COORDS;

        if (i && (s->flags & PTXI_OPF_SAMPLER) && !take_sampler(k, i, &next, &k->out[i - 1]))
            return false;
        if (next == n || raw[next].pair != pair || raw[next].inside != inside) {
            if (s->flags & PTXI_OPF_OPTIONAL)
                continue;
            if (next < n && raw[next].pair)
                return fail(k, raw[next].loc, "'%.*s' has no second destination here", (int)k->sp->n, k->sp->s);
            return fail_few(k, s);
        }
        if (pair && k->p->version < 71 && is_texture(row))
            return fail(k, raw[next].loc, "whether a texture is resident requires PTX 7.1 or later");
        if (!check_operand(k, &raw[next], i, &addresses, &k->out[i]))
            return false;
        next++;
    }
    if (next < n)
        return fail(k, raw[next].loc, "'%.*s' has too many operands", (int)k->sp->n, k->sp->s);
    return !row->spec_count || check_depth(k);
}

static bool check_all(struct check *k)
{
    const struct ptxi_row *row = k->c->match->row;
    unsigned n = k->p->raw_count, addresses = 0;

    k->reached = 0;
    k->mixed = false;
    if (!k->c->plain)
        return check_list(k);
    for (unsigned i = 0; i < n; i++, k->reached++) {
        const struct ptxi_raw *r = &k->p->raw[i];

        if (i == row->spec_count || r->pair || r->inside)
            return fail(k, r->loc, "'%.*s' %s", (int)k->sp->n, k->sp->s, r->pair ? "has no second destination here" : "has too many operands");
        if (!check_operand(k, r, i, &addresses, &k->out[i]))
            return false;
    }
    return n == row->spec_count ? check_minus(k) : fail_few(k, &row->specs[n]);
}

/* A branch: its target goes to the operand, whose place is final now. */
static bool use_label(struct check *k)
{
    const struct ptxi_raw *r = &k->p->raw[0];

    return ptxi_scope_use_label(k->p, r->s, r->loc.len, r->loc, &k->out[0].target);
}

/* A narrow register is likely a mistake where memory is large. */
static void warn_narrow(struct check *k)
{
    unsigned nth = 0;

    for (unsigned i = 0; i < k->p->raw_count && nth < k->c->address_count; i++) {
        const struct ptxi_raw *r = &k->p->raw[i];
        enum ptxi_space space;

        if (r->kind != PTXI_RAW_ADDRESS)
            continue;
        space = address_space(k->c, nth++);
        if (i < k->c->match->row->spec_count && k->c->types[i] != PTXI_T_NONE) /* tensor memory, whose addresses have a width of their own */
            continue;
        if (r->based && !r->var && ptxi_types[r->type].bits < k->p->tree->address_size && is_far(space))
            ptxi_parse_warn(k->p, r->loc, "'%.*s' has %u bits: an address in %s space has %u", (int)r->loc.len, r->s, ptxi_types[r->type].bits,
                            space_names[space], k->p->tree->address_size);
    }
}

static bool commit(struct check *k)
{
    unsigned n = k->c->spec_count;

    if (k->c->address_count)
        warn_narrow(k);
    if (k->p->tree->address_size == 64 && n && k->c->types[0] == PTXI_T_u32 && !strcmp(k->c->match->row->mnemonic, "cvta")) {
        ptxi_parse_error(k->p, k->loc, "'%.*s' is for programs of 32 bits, with .address_size 32", (int)k->sp->n, k->sp->s);
        return false;
    }
    while (n && k->out[n - 1].form == PTXI_OPD_NONE)
        n--;
    k->in->match = k->c->match;
    k->in->mixed = k->mixed;
    k->in->operand_count = (uint8_t)n;
    k->in->operands = k->out;
    return n == 0 || k->c->match->row->specs[0].kind != PTXI_OPK_LABEL || use_label(k);
}

/* No candidate takes the operands: say why the one does not that went furthest. */
static bool report(struct check *k)
{
    struct ptxi_operand out[PTXI_MAX_OPERANDS] = { 0 };
    const struct ptxi_candidate *best = NULL;
    unsigned furthest = 0;

    k->out = out;
    for (const struct ptxi_candidate *c = k->sp->candidates; c; c = c->next) {
        k->c = c;
        k->quiet = true;
        if (check_all(k)) { /* a form that version or target do not have */
            ptxi_spell_require(k->p, c->match, k->loc, k->sp->s, k->sp->n);
            return false;
        }
        if (!best || (c->available && !best->available) || (c->available == best->available && k->reached > furthest)) {
            best = c;
            furthest = k->reached;
        }
    }
    k->c = best;
    k->quiet = false;
    if (!best->available)
        ptxi_spell_require(k->p, best->match, k->loc, k->sp->s, k->sp->n);
    else
        check_all(k);
    return false;
}

bool ptxi_check_inst(struct parser *p, const struct ptxi_spelling *sp, struct ptxi_loc loc, struct ptxi_inst *in)
{
    struct check k = { .p = p, .sp = sp, .in = in, .loc = loc, .quiet = true };
    unsigned room = 0;

    for (const struct ptxi_candidate *c = sp->candidates; c && c->available; c = c->next) {
        if (c->spec_count > room || !room) {
            room = c->spec_count;
            if (!(k.out = ARENA_NEW(p->arena, struct ptxi_operand, room)))
                return false;
        } else {
            memset(k.out, 0, room * sizeof *k.out);
        }
        k.c = c;
        if (check_all(&k))
            return commit(&k);
    }
    return !p->arena->oom && report(&k);
}

/* ---- arguments of calls ---- */

/* What ptxas makes no call with. */
static bool is_too_narrow(enum ptxi_type t)
{
    return t == PTXI_T_pred || (ptxi_types[t].bits < 32 && is_integer(t));
}

static bool fail_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, const char *why)
{
    ptxi_parse_error(p, r->loc, "'%.*s' does not fit parameter '%s': %s", (int)r->loc.len, r->s, formal->name ? formal->name->s : "_", why);
    return false;
}

static bool check_arg_var(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, struct ptxi_operand *o)
{
    const struct ptxi_var *v = r->var;
    bool array = formal->unsized || formal->size != formal->element;

    if (v->space != PTXI_SPACE_PARAM || v->is_param || v->is_ret || r->offset)
        return fail_arg(p, r, formal, "a register or a .param variable of the caller's body is needed");
    if (!formal->unsized && v->size != formal->size)
        return fail_arg(p, r, formal, "sizes differ");
    if ((array || v->size != v->element) && v->align != formal->align)
        return fail_arg(p, r, formal, "alignments differ");
    if (!array && v->size == v->element && !fits(formal->type, v->type, false))
        return fail_arg(p, r, formal, "types differ");
    o->form = PTXI_OPD_VAR;
    o->type = v->type;
    o->var = v;
    o->offset = 0;
    return true;
}

bool ptxi_check_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, bool result, struct ptxi_operand *o)
{
    bool array = formal->unsized || formal->size != formal->element;

    o->column = r->loc.col;
    if (!array && is_too_narrow(formal->type))
        return fail_arg(p, r, formal, "integers of 8 and 16 bits, and predicates, are not passed; .b8 and .b16 are");
    if (r->kind == PTXI_RAW_VAR)
        return check_arg_var(p, r, formal, o);
    if (r->kind == PTXI_RAW_SINK && result) {
        o->form = PTXI_OPD_SINK;
        return true;
    }
    if (r->kind == PTXI_RAW_NAME) {
        ptxi_parse_error(p, r->loc, "'%.*s' is not defined", (int)r->loc.len, r->s);
        return false;
    }
    if (array)
        return fail_arg(p, r, formal, "a .param array is needed");
    if (r->kind == PTXI_RAW_REG && !r->vector && !r->selector && !r->negated && !r->minus) {
        if (!fits(formal->type, r->type, false))
            return fail_arg(p, r, formal, "types differ");
        o->form = PTXI_OPD_REG;
        o->type = r->type;
        o->reg = r->reg;
        return true;
    }
    if (r->kind == PTXI_RAW_CONST && !result)
        return to_const(r, formal->type, true, o) || fail_arg(p, r, formal, "types differ");
    return fail_arg(p, r, formal, "a register or a .param variable of the caller's body is needed");
}
