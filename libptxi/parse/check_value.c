/* Operands that are values: registers, constants, symbols, and vectors of them. */
#include "parse/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "isa/bytecode.h"

static bool fail_undefined(struct check *k, const struct ptxi_raw *r)
{
    if (!k->quiet)
        ptxi_parse_error(k->p, r->loc, "'%.*s' is not defined", (int)r->loc.len, r->s);
    return false;
}

bool ptxi_check_fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...)
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

/* What has registers of .bN only, and no constants. */
static bool is_alternate(enum ptxi_type t)
{
    return ptxi_types[t].class == 'A';
}

/* PTX ISA, "Operand Type Information" and "Operand Size Exceeding Instruction-Type Size": whether a register of type
 * `reg` can stand where the instruction says `want`. */
bool ptxi_check_fits(enum ptxi_type want, enum ptxi_type reg, bool wider)
{
    const struct ptxi_type_info *w = &ptxi_types[want], *r = &ptxi_types[reg];
    bool same = r->bits == w->bits, large_enough = same || (wider && r->bits > w->bits);

    if (want == reg)
        return true;
    if (reg == PTXI_T_f16x2) /* ptxas takes such a register for an integer */
        return large_enough && (ptxi_is_bits(w->class) || want == PTXI_T_u16x2 || want == PTXI_T_s16x2);
    if (w->class == 'P' || r->class == 'P')
        return false;
    switch (w->class) {
    case 'U':
    case 'S':
        return large_enough && ptxi_is_bits(r->class);
    case 'B':
        return large_enough;
    case 'F':
        return large_enough && r->class == 'B';
    default: /* alternate and packed formats have no registers of their own */
        return same && r->class == 'B';
    }
}

/* What to call what is asked for. */
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

    return ptxi_check_fail(k, r->loc, "'%.*s' is a .%s register; operand %s of '%.*s' takes %s", (int)r->loc.len, r->s, ptxi_types[r->type].name, s->name,
                (int)k->sp->n, k->sp->s, needed(want, s->flags & PTXI_OPF_WIDER, buf, sizeof buf));
}

/* As an argument it is converted as the initial value of a variable is. */
bool ptxi_check_to_const(const struct ptxi_raw *r, enum ptxi_type t, bool argument, struct ptxi_operand *o)
{
    struct ptxi_value v = { r->value_kind, r->is_unsigned, r->bits, r->loc };

    o->form = PTXI_OPD_IMM;
    o->type = (uint8_t)t;
    return ptxi_expr_convert(&v, t, argument, &o->imm);
}

const char *const ptxi_check_space_names[] = { "generic", "const", "global", "local", "param", "shared", "tex" };

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
    ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be %s", s->name, (int)k->sp->n, k->sp->s, ptxi_str_text(&out));
    ptxi_str_free(&out);
    return false;
}

bool ptxi_check_const(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail(k, r->loc, "operand %s is written and cannot be a constant", s->name);
    if (s->flags & PTXI_OPF_REGISTER)
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be a constant", s->name, (int)k->sp->n, k->sp->s);
    if (want != PTXI_T_NONE && (is_alternate(want) || want == PTXI_T_f16 || want == PTXI_T_f16x2))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' is of type .%s, which has no constants", s->name, (int)k->sp->n, k->sp->s, ptxi_types[want].name);
    if (!ptxi_check_to_const(r, want, false, o))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' is of type .%s and cannot be %s constant", s->name, (int)k->sp->n, k->sp->s, ptxi_types[want].name,
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
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' takes no selector", s->name, (int)k->sp->n, k->sp->s);
    if (r->selector && !selector_fits(r->selector, s))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' takes a selector like %s", s->name, (int)k->sp->n, k->sp->s, examples[s->selector]);
    if (r->negated && !(s->flags & PTXI_OPF_NOT))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be negated with !", s->name, (int)k->sp->n, k->sp->s);
    if (r->minus && !(s->flags & PTXI_OPF_NEGATE))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be negated with -", s->name, (int)k->sp->n, k->sp->s);
    return true;
}

/* A .f16x2 register stands for an integer of the type that the instruction names, not for a count or the like. */
static bool is_count(const struct ptxi_opspec *s, enum ptxi_type want)
{
    return s->type_rule == PTXI_TR_FIXED && ptxi_is_integer(want);
}

static bool check_reg(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    if (want != PTXI_T_NONE && want != r->type && (!ptxi_check_fits(want, r->type, s->flags & PTXI_OPF_WIDER) || (r->type == PTXI_T_f16x2 && is_count(s, want))))
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
        return ptxi_check_fail(k, r->loc, "a special register cannot be written");
    if (!(s->flags & PTXI_OPF_SREG))
        return ptxi_check_fail(k, r->loc, "'%.*s' cannot read a special register: move it to a register first", (int)k->sp->n, k->sp->s);
    if ((r->type == PTXI_T_pred) != (want == PTXI_T_pred) || (have != bits && !narrow && !(have > bits && (s->flags & PTXI_OPF_WIDER))))
        return ptxi_check_fail(k, r->loc, "'%.*s' is of type .%s; operand %s is of type .%s", (int)r->loc.len, r->s, ptxi_types[r->type].name, s->name,
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
           !ptxi_is_integer(want);
}

/* ptxas takes a variable with an offset for a constant, and a function where the instruction names the type; a variable alone only
 * where the instruction wants one. */
static bool is_symbolic_constant(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want)
{
    char class = ptxi_types[want].class;

    if (s->flags & (PTXI_OPF_REGISTER | PTXI_OPF_BRACES | PTXI_OPF_NEGATE | PTXI_OPF_EACH) || (s->selector && r->kind == PTXI_RAW_VAR) ||
        (is_count(s, want) && ptxi_types[want].bits != 32))
        return false;
    if (r->kind == PTXI_RAW_VAR)
        return r->offset && ptxi_is_bits(class);
    return class != 'P' && (class != 'A' || want == PTXI_T_f32x2 || want == PTXI_T_u16x2 || want == PTXI_T_s16x2) && is_named(k, s, want);
}

static bool check_symbol(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o)
{
    char class = ptxi_types[want].class;

    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail(k, r->loc, "'%.*s' cannot be written: it is the address of a variable or function", (int)r->loc.len, r->s);
    if (!is_symbolic_constant(k, r, s, want) && (!(s->flags & PTXI_OPF_SYMBOL) || !ptxi_is_bits(class)))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be an address: move it to a register first", s->name, (int)k->sp->n, k->sp->s);
    if (s->flags & PTXI_OPF_SYMBOL && k->c->space_count && (r->kind == PTXI_RAW_FUNC || r->var->space != k->c->spaces[0]))
        return ptxi_check_fail(k, r->loc, "'%.*s' is not in .%s", (int)r->loc.len, r->s, ptxi_check_space_names[k->c->spaces[0]]);
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_GLOBAL && !r->offset && ptxi_types[want].bits < k->p->tree->address_size)
        return ptxi_check_fail(k, r->loc, "the address of '%s' has %u bits", r->var->name->s, k->p->tree->address_size);
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_PARAM && !r->var->is_param && !r->var->is_ret)
        return ptxi_check_fail(k, r->loc, "'%s' is an argument or result of a call and has no address", r->var->name->s);
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
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be an address", s->name, (int)k->sp->n, k->sp->s);
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = r->reg, .type = r->type, .scale = r->scale, .offset = r->offset };
    o->form = PTXI_OPD_ADDRESS;
    o->type = r->type;
    o->address = a;
    return true;
}

bool ptxi_check_sink(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, bool allowed, struct ptxi_operand *o)
{
    if (!allowed)
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' cannot be the sink _", s->name, (int)k->sp->n, k->sp->s);
    o->form = PTXI_OPD_SINK;
    o->type = PTXI_T_NONE;
    return true;
}

bool ptxi_check_scalar(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, bool sink, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    switch (r->kind) {
    case PTXI_RAW_REG:
        return r->vector ? ptxi_check_fail(k, r->loc, "'%.*s' is a vector of %u", (int)r->loc.len, r->s, r->vector) : check_reg(k, r, s, want, o);
    case PTXI_RAW_CONST:
        return ptxi_check_const(k, r, s, want, o);
    case PTXI_RAW_SREG:
        return r->vector ? ptxi_check_fail(k, r->loc, "'%.*s' is a vector: .x, .y or .z is needed", (int)r->loc.len, r->s) : check_sreg(k, r, s, want, o);
    case PTXI_RAW_VAR:
    case PTXI_RAW_FUNC:
        return check_symbol(k, r, s, want, o);
    case PTXI_RAW_ADDRESS:
        return check_indexed(k, r, s, o);
    case PTXI_RAW_SINK:
        return ptxi_check_sink(k, r, s, sink, o);
    case PTXI_RAW_NAME:
        return fail_undefined(k, r);
    case PTXI_RAW_LABEL:
        return ptxi_check_fail(k, r->loc, "'%.*s' is a label", (int)r->loc.len, r->s);
    default:
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' is a scalar", s->name, (int)k->sp->n, k->sp->s);
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
    return a == PTXI_T_NONE || a == b || ptxi_types[a].class == 'B' || ptxi_types[b].class == 'B' || (ptxi_is_integer(a) && ptxi_is_integer(b));
}

/* PTX ISA, "Vectors as Operands". Integers count as bits where floats are wanted. */
static bool vector_fits(enum ptxi_type want, enum ptxi_type all, bool wider)
{
    if (want == PTXI_T_NONE || all == PTXI_T_NONE || ptxi_check_fits(want, all, wider))
        return true;
    return ptxi_types[want].class == 'F' && want != PTXI_T_f16x2 && all != PTXI_T_f16x2 && ptxi_is_bits(ptxi_types[all].class) &&
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

/* Of a brace list, or of a vector register. */
static struct ptxi_raw element_at(const struct ptxi_raw *r, unsigned i)
{
    struct ptxi_raw one = r->kind == PTXI_RAW_VECTOR ? r->elements[i] : *r;

    if (r->kind != PTXI_RAW_VECTOR) {
        one.vector = 0;
        one.reg += r->kind == PTXI_RAW_SREG ? i << 8 : i;
    }
    return one;
}

/* What the elements of a vector have been found to be. */
struct elements {
    struct ptxi_raw first;    /* register */
    unsigned sinks, bits;     /* how many are _; the width of the registers */
    enum ptxi_type all, last; /* one of .bN makes all of them bits */
};

static bool see_element(struct check *k, struct elements *v, const struct ptxi_raw *one, const struct ptxi_operand *e, enum ptxi_type want)
{
    v->sinks += e->form == PTXI_OPD_SINK;
    if (e->form != PTXI_OPD_REG)
        return true;
    if (v->bits && element_bits(e->type) != v->bits)
        return ptxi_check_fail(k, one->loc, "the registers of a vector must be of one width");
    v->bits = element_bits(e->type);
    k->mixed |= e->type == PTXI_T_pred && want != PTXI_T_pred;
    if (v->all == PTXI_T_NONE)
        v->first = *one;
    if (!go_together(v->last, e->type))
        return ptxi_check_fail(k, one->loc, "neighbours in a vector must be of one type, or one of them of .b%u", v->bits);
    v->last = (enum ptxi_type)e->type;
    if (v->all == PTXI_T_NONE || ptxi_types[v->last].class == 'B')
        v->all = v->last;
    return true;
}

static bool check_elements(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, unsigned n, struct ptxi_operand *o)
{
    unsigned have = r->kind == PTXI_RAW_VECTOR ? r->count : r->vector;
    struct elements v = { .all = PTXI_T_NONE, .last = PTXI_T_NONE };
    struct ptxi_operand *e;

    if (have != n)
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' is a vector of %u, not of %u", s->name, (int)k->sp->n, k->sp->s, n, have);
    if (!(e = ARENA_NEW(k->p->arena, struct ptxi_operand, n)))
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct ptxi_raw one = element_at(r, i);

        if (!(s->flags & PTXI_OPF_SYMBOL) && (one.kind == PTXI_RAW_VAR || one.kind == PTXI_RAW_FUNC))
            return ptxi_check_fail(k, one.loc, "an address cannot be an element of operand %s", s->name);
        if (!ptxi_check_scalar(k, &one, s, element_type(k, &one, s, want, i), s->flags & PTXI_OPF_WRITE, &e[i]) ||
            !see_element(k, &v, &one, &e[i], want))
            return false;
    }
    if (!vector_fits(want, v.all, s->flags & PTXI_OPF_WIDER) || (v.all == PTXI_T_f16x2 && is_count(s, want)))
        return fail_type(k, &v.first, s, want);
    if (v.sinks == n && n && !(s->flags & PTXI_OPF_SINK))
        return ptxi_check_fail(k, r->loc, "one element at least must be a register");
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
        return ptxi_check_scalar(k, r->elements, s, want, false, o);
    if (r->kind == PTXI_RAW_SREG)
        return ptxi_check_scalar(k, r, s, want, false, o);
    if (!(s->flags & PTXI_OPF_WRITE) && k->out[0].form == PTXI_OPD_VECTOR)
        return ptxi_check_fail(k, r->loc, "only one side can be a vector");
    for (unsigned i = 0; r->kind == PTXI_RAW_VECTOR && i < n; i++)
        if (r->elements[i].kind == PTXI_RAW_CONST && r->elements[i].value_kind != PTXI_VAL_INT)
            return ptxi_check_fail(k, r->elements[i].loc, "constants of a vector must be integers here");
    if (element == PTXI_T_NONE)
        return ptxi_check_fail(k, r->loc, ".%s cannot be taken apart into %u elements", ptxi_types[want].name, n);
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

bool ptxi_check_value(struct check *k, const struct ptxi_raw *r, unsigned i, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];
    enum ptxi_type want = k->c->types[i];
    unsigned n = k->c->vectors[i];

    o->column = r->loc.col;
    if (r->kind == PTXI_RAW_REG && !r->vector && !n)
        return check_reg(k, r, s, want, o);
    if (r->kind == PTXI_RAW_SINK && (s->flags & PTXI_OPF_SINK))
        return ptxi_check_sink(k, r, s, true, o);
    if (is_vector(r) && (s->flags & PTXI_OPF_VECTOR_OK))
        return check_packed(k, r, s, want, o);
    if (n && !ptxi_isa_vector_varies(s) && r->kind == PTXI_RAW_VECTOR && s->flags & PTXI_OPF_UNCHECKED && r->count > n && (r->count == 2 || r->count == 4))
        n = r->count;
    if (n == 1 && !is_vector(r) && (s->flags & PTXI_OPF_BRACES))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must stand in braces", s->name, (int)k->sp->n, k->sp->s);
    if (n > 1 || (n == 1 && is_vector(r))) {
        if (!is_vector(r))
            return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' is a vector of %u", s->name, (int)k->sp->n, k->sp->s, n);
        return check_elements(k, r, s, want, n, o);
    }
    if (r->kind == PTXI_RAW_VECTOR && r->count == 1 && s->vector) /* braces around a scalar that could be a vector */
        r = r->elements;
    if (!n)
        r = first_element(k, r, s, want);
    return ptxi_check_scalar(k, r, s, want, s->flags & PTXI_OPF_SINK, o);
}
