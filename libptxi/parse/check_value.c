/* Operands that are values: registers, constants, special registers, symbols, and vectors of them. */
#include "parse/check_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "isa/bytecode.h"
#include "parse/expr.h"

/* ---- types ---- */

/* Types that have no registers of their own, only registers of type .bN, and no constants. */
static bool is_alternate(enum ptxi_type t)
{
    return ptxi_types[t].class == 'A';
}

static bool is_packed_integer(enum ptxi_type t)
{
    return t == PTXI_T_u16x2 || t == PTXI_T_s16x2 || t == PTXI_T_u8x4 || t == PTXI_T_s8x4;
}

/* PTX ISA, "Operand Type Information" and "Operand Size Exceeding Instruction-Type Size". */
bool ptxi_check_reg_fits(enum ptxi_type want, enum ptxi_type reg, bool wider)
{
    const struct ptxi_type_info *w = &ptxi_types[want], *r = &ptxi_types[reg];
    bool same = r->bits == w->bits, large_enough = same || (wider && r->bits > w->bits);

    assert(want < PTXI_TYPE_COUNT && reg < PTXI_TYPE_COUNT);
    if (want == reg)
        return true;
    if (reg == PTXI_T_f16x2) /* an integer register to ptxas */
        return large_enough && (ptxi_is_bits_class(w->class) || is_packed_integer(want));
    if (w->class == 'P' || r->class == 'P')
        return false;
    switch (w->class) {
    case 'U':
    case 'S':
        return large_enough && ptxi_is_bits_class(r->class);
    case 'B':
        return large_enough;
    case 'F':
        return large_enough && r->class == 'B';
    default:
        assert(w->class == 'A');
        return same && r->class == 'B';
    }
}

/* An operand such as a shift count or random bits. The instruction does not name its type. */
static bool is_count(const struct ptxi_opspec *s, enum ptxi_type want)
{
    return s->type_rule == PTXI_TR_FIXED &&
        (ptxi_is_integer(want) || (is_packed_integer(want) && s->flags & PTXI_OPF_REGISTER));
}

/* An operand that ptxas moves to a register of type .bN first ('$' and '!'). So it may be a predicate, a constant of
 * type f32, or the address of a variable with an offset. */
static bool is_moved(const struct ptxi_opspec *s)
{
    return s->flags & PTXI_OPF_REGISTER && s->flags & PTXI_OPF_UNCHECKED &&
           (s->type_rule == PTXI_TR_BITS || s->type_rule == PTXI_TR_FIXED);
}

/* The same, or an operand that is not moved and only takes no integers ('$' and '^'), so no predicate either. */
static bool takes_bits(const struct ptxi_opspec *s)
{
    return is_moved(s) || (s->flags & PTXI_OPF_REGISTER && s->flags & PTXI_OPF_EACH && !s->vector);
}

/* An operand of which ptxas converts a wider value with cvt ('~' and '^'). */
static bool is_converted(const struct ptxi_opspec *s)
{
    return s->flags & PTXI_OPF_WIDER && s->flags & PTXI_OPF_EACH;
}

/* Describes the registers that are accepted. */
static const char *describe_type(enum ptxi_type want, bool wider, char *buf, size_t size)
{
    const struct ptxi_type_info *w = &ptxi_types[want];
    const char *or_wider = wider && w->class != 'A' ? " or wider" : "";
    const char *a = w->bits == 8 ? "an" : "a";

    switch (w->class) {
    case 'P': snprintf(buf, size, "a .pred register"); break;
    case 'U':
    case 'S': snprintf(buf, size, "%s %u-bit%s integer or .b%u register", a, w->bits, or_wider, w->bits); break;
    case 'B': snprintf(buf, size, "%s %u-bit%s register", a, w->bits, or_wider); break;
    case 'F': snprintf(buf, size, "a .%s or .b%u%s register", w->name, w->bits, or_wider); break;
    default: snprintf(buf, size, "a .b%u register", w->bits);
    }
    return buf;
}

static bool fail_type(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want)
{
    char buf[80];

    return ptxi_check_fail(k, r->loc, "'%.*s' is a .%s register, but operand %s of '%.*s' must be %s", (int)r->loc.len,
                           r->s, ptxi_types[r->type].name, s->name, (int)k->opcode->n, k->opcode->s,
                           describe_type(want, s->flags & PTXI_OPF_WIDER, buf, sizeof buf));
}

static bool fail_undefined(struct check *k, const struct ptxi_raw *r)
{
    return k->quiet ? false : ptxi_operand_report_undefined(k->p, r);
}

/* ---- constants ---- */

bool ptxi_check_convert_const(const struct ptxi_raw *r, enum ptxi_type t, bool argument, struct ptxi_operand *o)
{
    struct ptxi_value v = { r->value_kind, r->is_unsigned, r->bits, r->loc };

    o->form = PTXI_OPD_IMM;
    o->type = (uint8_t)t;
    return ptxi_expr_convert(&v, t, argument, &o->imm); /* an argument is converted as an initializer is */
}

static bool is_in_ranges(const struct ptxi_opspec *s, int64_t v)
{
    for (unsigned i = 0; i < s->range_count; i++) {
        const struct ptxi_range *r = &s->ranges[i];

        if (v >= r->first && (v <= r->last || s->flags & PTXI_OPF_UNCHECKED) && (v - r->first) % r->step == 0)
            return true;
    }
    return s->range_count == 0;
}

static void put_range(struct ptxi_str *out, const struct ptxi_range *range)
{
    ptxi_str_printf(out, "%" PRId64, range->first);
    if (range->last != range->first)
        ptxi_str_printf(out, " to %" PRId64, range->last);
    if (range->last != range->first && range->step > 1)
        ptxi_str_printf(out, " in steps of %" PRId64, range->step);
}

static bool fail_range(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    struct ptxi_str out;

    if (k->quiet)
        return false;
    ptxi_str_init(&out, k->p->arena->alloc);
    for (unsigned i = 0; i < s->range_count; i++) {
        if (i > 0)
            ptxi_str_puts(&out, i + 1 < s->range_count ? ", " : " or ");
        put_range(&out, &s->ranges[i]);
    }
    ptxi_check_fail_operand(k, r->loc, s, "must be %s", ptxi_str_text(&out));
    ptxi_str_free(&out);
    return false;
}

bool ptxi_check_const(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                      struct ptxi_operand *o)
{
    static const char *const kinds[] = { "an integer", "a floating-point", "a 32-bit floating-point" };

    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail_operand(k, r->loc, s, "is a destination and cannot be a constant");
    if (s->flags & PTXI_OPF_REGISTER && !(takes_bits(s) && r->value_kind == PTXI_VAL_F32))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a constant");
    if (want != PTXI_T_NONE && (is_alternate(want) || want == PTXI_T_f16 || want == PTXI_T_f16x2))
        return ptxi_check_fail_operand(k, r->loc, s, "is of type .%s, which has no constants", ptxi_types[want].name);
    if (s->flags & PTXI_OPF_EACH && r->value_kind == PTXI_VAL_F64 && ptxi_types[want].bits < 64)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a constant of type f64");
    assert(r->value_kind < sizeof kinds / sizeof *kinds);
    if (!ptxi_check_convert_const(r, want, false, o))
        return ptxi_check_fail_operand(k, r->loc, s, "is of type .%s and cannot be %s constant", ptxi_types[want].name,
                                       kinds[r->value_kind]);
    return !s->range_count || is_in_ranges(s, (int64_t)r->bits) || fail_range(k, r, s);
}

/* ---- registers ---- */

/* The digits of a mask are in descending order and each below n. */
static bool is_mask_selector(uint16_t selector, unsigned n)
{
    for (unsigned i = 0; i < PTXI_SELECTOR_COUNT(selector); i++) {
        if (PTXI_SELECTOR_DIGIT(selector, i) >= n)
            return false;
        if (i && PTXI_SELECTOR_DIGIT(selector, i) <= PTXI_SELECTOR_DIGIT(selector, i - 1))
            return false;
    }
    return true;
}

/* PTX ISA, "Video Instructions": a selector picks one part of a source, permutes as many parts as the operation has,
 * or is the mask of the parts of the destination that are written. */
static bool selector_fits(uint16_t selector, const struct ptxi_opspec *s)
{
    unsigned count = PTXI_SELECTOR_COUNT(selector), halves = PTXI_SELECTOR_HALVES(selector), n = s->selector;

    if (n == 1)
        return count == 1 && PTXI_SELECTOR_DIGIT(selector, 0) < (halves ? 2u : 4u);
    if (halves != (n == 2))
        return false;
    if (s->flags & PTXI_OPF_WRITE)
        return is_mask_selector(selector, n);
    if (count != n)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (PTXI_SELECTOR_DIGIT(selector, i) >= 2 * n)
            return false;
    return true;
}

/* Checks the selector, '!' and '-' of a register. */
static bool check_decoration(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    static const char *const examples[] = { [1] = ".b3 or .h1", [2] = ".h10", [4] = ".b3210" };

    if (r->selector && !s->selector)
        return ptxi_check_fail_operand(k, r->loc, s, "does not accept a selector");
    if (r->selector && !selector_fits(r->selector, s))
        return ptxi_check_fail_operand(k, r->loc, s, "requires a selector such as %s", examples[s->selector]);
    if (r->negated && !(s->flags & PTXI_OPF_NOT) && !is_moved(s))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be negated with '!'");
    if (r->minus && !(s->flags & PTXI_OPF_NEGATE))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be negated with '-'");
    return true;
}

/* ptxas treats an .f16x2 register as an integer, but not as a count. It may be next to others in a vector. */
static bool reg_fits_spec(enum ptxi_type reg, const struct ptxi_opspec *s, enum ptxi_type want)
{
    bool only_integers = is_converted(s) && ptxi_types[reg].bits > ptxi_types[want].bits;

    return ptxi_check_reg_fits(want, reg, s->flags & PTXI_OPF_WIDER) &&
           !(only_integers && !ptxi_is_bits_class(ptxi_types[reg].class)) &&
           !(reg == PTXI_T_f16x2 && is_count(s, want) && !s->vector);
}

/* Checks a register + constant. With a register of another type than an integer ptxas crashes. */
static bool check_sum(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_operand *o)
{
    const struct ptxi_type_info *t = &ptxi_types[r->type];

    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a sum");
    if (!(t->class == 'U' || t->class == 'S' || t->class == 'B') || t->bits < 16 || t->bits > 64)
        return ptxi_check_fail(k, r->loc, "a constant can only be added to an integer register of 16, 32 or 64 bits");
    o->form = PTXI_OPD_SUM;
    o->base = r->reg;
    o->addend = r->offset;
    return true;
}

static bool check_reg(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                      struct ptxi_operand *o)
{
    if (r->type == PTXI_T_pred && is_moved(s))
        k->meaningless = PTXI_PREDICATE_AS_BITS;
    else if (want != PTXI_T_NONE && want != r->type && !reg_fits_spec(r->type, s, want))
        return fail_type(k, r, s, want);
    if ((r->selector || r->negated || r->minus) && !check_decoration(k, r, s))
        return false;
    o->type = r->type;
    o->selector = r->selector;
    o->negated = r->negated || r->minus;
    if (r->sum)
        return check_sum(k, r, s, o);
    o->form = PTXI_OPD_REG;
    o->reg = r->reg;
    return true;
}

/* ---- special registers ---- */

/* PTX ISA, "Special Registers": those with .x .y .z were 16 bits wide in old PTX versions, and %gridid 16 or 32.
 * They may still be read with these widths. */
static bool had_width(unsigned sreg, unsigned bits)
{
    switch (sreg) {
    case PTXI_SREG_tid:
    case PTXI_SREG_ntid:
    case PTXI_SREG_ctaid:
    case PTXI_SREG_nctaid:
        return bits == 16;
    case PTXI_SREG_gridid:
        return bits == 16 || bits == 32;
    default:
        return false;
    }
}

static bool sreg_fits(const struct ptxi_raw *r, enum ptxi_type want, bool wider)
{
    unsigned have = ptxi_types[r->type].bits, bits = ptxi_types[want].bits;

    if ((r->type == PTXI_T_pred) != (want == PTXI_T_pred))
        return false;
    return have == bits || had_width(r->reg & 0xff, bits) || (have > bits && wider);
}

static bool check_sreg(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                       struct ptxi_operand *o)
{
    assert((r->reg & 0xff) < PTXI_SREG_COUNT);
    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail(k, r->loc, "cannot write to special register '%.*s'", (int)r->loc.len, r->s);
    if (!(s->flags & PTXI_OPF_SREG))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a special register, use mov first");
    if (!sreg_fits(r, want, s->flags & PTXI_OPF_WIDER))
        return ptxi_check_fail_operand(k, r->loc, s, "is of type .%s, but '%.*s' is of type .%s", ptxi_types[want].name,
                                       (int)r->loc.len, r->s, ptxi_types[r->type].name);
    o->form = PTXI_OPD_SREG;
    o->type = r->type;
    o->sreg = r->reg;
    return true;
}

/* ---- symbols ---- */

/* True if the instruction names the type of this operand, so that it is not a count or the like. */
static bool has_named_type(const struct check *k, const struct ptxi_opspec *s, enum ptxi_type want)
{
    if (s->type_rule != PTXI_TR_FIXED)
        return true;
    return !k->candidate->address_count && ptxi_types[want].bits <= 64 &&
           ptxi_isa_has(k->candidate->match, ptxi_types[want].name) && !ptxi_is_integer(want);
}

/* ptxas 13.0 is less exact with operands of type bf16 than with others. It does not have this form. */
static bool is_newer_form(const struct check *k)
{
    enum { FIRST_NEWER_VERSION = 92 };

    return k->row->ptx >= FIRST_NEWER_VERSION;
}

/* True if ptxas accepts a function as a number of this type of class 'A'. */
static bool may_be_function(const struct check *k, enum ptxi_type want)
{
    return want == PTXI_T_f32x2 || is_packed_integer(want) || (want == PTXI_T_bf16x2 && is_newer_form(k));
}

/* True if ptxas accepts this symbol where a constant is accepted: a variable with an offset, or a function if the
 * instruction names the type of the operand. A variable without an offset is accepted only where the row says so
 * (PTXI_OPF_SYMBOL). */
static bool is_symbolic_constant(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s,
                                 enum ptxi_type want)
{
    char class = ptxi_types[want].class;

    if (takes_bits(s))
        return r->kind == PTXI_RAW_VAR && r->offset;
    if (s->flags & (PTXI_OPF_REGISTER | PTXI_OPF_BRACES | PTXI_OPF_NEGATE))
        return false;
    if (s->flags & PTXI_OPF_EACH && !(s->flags & PTXI_OPF_WIDER && r->kind == PTXI_RAW_VAR))
        return false;
    if ((s->selector && r->kind == PTXI_RAW_VAR) || (is_count(s, want) && ptxi_types[want].bits != 32))
        return false;
    if (r->kind == PTXI_RAW_VAR)
        return r->offset && ptxi_is_bits_class(class);
    if (class == 'P' || (class == 'A' && !may_be_function(k, want)))
        return false;
    return has_named_type(k, s, want);
}

static bool check_symbol(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                         struct ptxi_operand *o)
{
    const struct ptxi_candidate *c = k->candidate;
    unsigned address_size = k->p->ast->address_size;

    if (s->flags & PTXI_OPF_WRITE)
        return ptxi_check_fail(k, r->loc, "cannot write to '%.*s': it is the address of a variable or function",
                               (int)r->loc.len, r->s);
    if (!is_symbolic_constant(k, r, s, want) &&
        (!(s->flags & PTXI_OPF_SYMBOL) || !ptxi_is_bits_class(ptxi_types[want].class)))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be an address, use mov first");
    if (s->flags & PTXI_OPF_SYMBOL && c->space_count && (r->kind == PTXI_RAW_FUNC || r->var->space != c->spaces[0]))
        return ptxi_check_fail(k, r->loc, "'%.*s' is not in .%s space", (int)r->loc.len, r->s,
                               ptxi_check_space_names[c->spaces[0]]);
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_GLOBAL && !r->offset &&
        ptxi_types[want].bits < address_size)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot hold the address of '%s', which has %u bits",
                                       r->var->name->s, address_size);
    k->p->narrow_addresses |= r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_GLOBAL && !r->offset &&
                              ptxi_types[want].bits <= 32;
    if (r->kind == PTXI_RAW_VAR && r->var->space == PTXI_SPACE_PARAM && !r->var->is_param && !r->var->is_ret)
        return ptxi_check_fail(k, r->loc, "'%s' is an argument or result of a call and has no address",
                               r->var->name->s);
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

/* var[register+constant] as a value. */
static bool check_indexed(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s,
                          struct ptxi_operand *o)
{
    const struct ptxi_candidate *c = k->candidate;
    bool other_space = c->space_count && r->var && r->var->space != c->spaces[0];
    struct ptxi_address *a;

    if (!r->bare || !(s->flags & PTXI_OPF_SYMBOL) || other_space)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be an address");
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = r->reg, .type = r->type, .scale = r->scale, .offset = r->offset };
    o->form = PTXI_OPD_ADDRESS;
    o->type = r->type;
    o->address = a;
    return true;
}

/* ---- scalars ---- */

bool ptxi_check_sink(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, bool allowed,
                     struct ptxi_operand *o)
{
    if (!allowed)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be '_'");
    o->form = PTXI_OPD_SINK;
    o->type = PTXI_T_NONE;
    return true;
}

bool ptxi_check_scalar(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                       bool sink, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    switch (r->kind) {
    case PTXI_RAW_REG:
        if (r->vector)
            return ptxi_check_fail_operand(k, r->loc, s, "must be a scalar, but '%.*s' is a vector of %u elements",
                                           (int)r->loc.len, r->s, r->vector);
        return check_reg(k, r, s, want, o);
    case PTXI_RAW_CONST:
        return ptxi_check_const(k, r, s, want, o);
    case PTXI_RAW_SREG:
        if (r->vector)
            return ptxi_check_fail(k, r->loc, "'%.*s' is a vector, use .x, .y or .z of it", (int)r->loc.len, r->s);
        return check_sreg(k, r, s, want, o);
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
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a label");
    default:
        assert(r->kind == PTXI_RAW_VECTOR);
        return ptxi_check_fail_operand(k, r->loc, s, "must be a scalar");
    }
}

/* ---- vectors ---- */

/* The width of an element. In a vector ptxas treats a predicate as a 32-bit register. */
static unsigned element_bits(enum ptxi_type t)
{
    return t == PTXI_T_pred ? 32 : ptxi_types[t].bits;
}

/* True if ptxas accepts registers of these types next to each other in a vector. */
static bool can_be_neighbors(enum ptxi_type a, enum ptxi_type b)
{
    if (a == PTXI_T_NONE || a == b || ptxi_types[a].class == 'B' || ptxi_types[b].class == 'B')
        return true;
    return ptxi_is_integer(a) && ptxi_is_integer(b);
}

/* PTX ISA, "Vectors as Operands": whether a vector of n elements of type `all` is accepted. ptxas accepts integers for
 * floats, and wider ones if there are several. */
static bool vector_fits(enum ptxi_type want, enum ptxi_type all, bool wider, unsigned n)
{
    if (want == PTXI_T_NONE || all == PTXI_T_NONE || ptxi_check_reg_fits(want, all, wider))
        return true;
    if (ptxi_types[want].class != 'F' || want == PTXI_T_f16x2 || all == PTXI_T_f16x2 ||
        !ptxi_is_bits_class(ptxi_types[all].class))
        return false;
    return ptxi_types[all].bits == ptxi_types[want].bits ||
           (wider && n > 1 && ptxi_types[all].bits > ptxi_types[want].bits);
}

/* True if ptxas accepts a vector of predicates for one of numbers ('!' and a length that is in a slot). */
static bool accepts_predicates(const struct ptxi_opspec *s)
{
    return s->flags & PTXI_OPF_UNCHECKED && ptxi_isa_vector_varies(s);
}

/* The type that element i must have by itself. A later check compares all elements. Constants in a fragment are bits.
 * Coordinates of type .b32 begin with a layer. */
static enum ptxi_type element_type(const struct check *k, const struct ptxi_raw *one, const struct ptxi_opspec *s,
                                   enum ptxi_type want, unsigned i)
{
    if (i == 0 && want == PTXI_T_b32 && s->flags & PTXI_OPF_COORDS && !(s->flags & PTXI_OPF_EACH))
        return PTXI_T_u32;
    if (one->kind == PTXI_RAW_REG && !(s->flags & PTXI_OPF_EACH && k->candidate->expansion != PTXI_NOT_EXPANDED))
        return PTXI_T_NONE;
    if (one->kind == PTXI_RAW_CONST && s->flags & PTXI_OPF_BRACES && (is_alternate(want) || want == PTXI_T_f16x2))
        return PTXI_T_b32;
    return want;
}

/* Element i of braces, or of a vector register. */
static struct ptxi_raw element_at(const struct ptxi_raw *r, unsigned i)
{
    struct ptxi_raw one = *r;

    if (r->kind == PTXI_RAW_VECTOR) {
        assert(i < r->count);
        return r->elements[i];
    }
    assert(i < r->vector);
    one.vector = 0;
    one.reg += r->kind == PTXI_RAW_SREG ? i << 8 : i;
    return one;
}

/* State of the check of a vector: a summary of the elements that have been checked. */
struct elements {
    struct ptxi_raw first; /* the first register */
    unsigned sinks;        /* number of elements that are '_' */
    unsigned bits;         /* width of the registers */
    enum ptxi_type all;    /* type of the vector: one register of type .bN makes it untyped bits */
    enum ptxi_type last;   /* type of the last register */
};

/* Checks one element against the ones before it, and adds it to *v. */
static bool check_neighbors(struct check *k, struct elements *v, const struct ptxi_raw *one,
                            const struct ptxi_operand *e, enum ptxi_type want)
{
    v->sinks += e->form == PTXI_OPD_SINK;
    if (e->form != PTXI_OPD_REG)
        return true;
    if (v->bits && element_bits(e->type) != v->bits)
        return ptxi_check_fail(k, one->loc, "the registers of a vector must have the same width");
    v->bits = element_bits(e->type);
    if (e->type == PTXI_T_pred && want != PTXI_T_pred)
        k->meaningless = PTXI_PREDICATE_AS_BITS;
    if (v->all == PTXI_T_NONE)
        v->first = *one;
    if (!can_be_neighbors(v->last, e->type))
        return ptxi_check_fail(k, one->loc,
                               "adjacent registers of a vector must have the same type, or one of them must be .b%u",
                               v->bits);
    v->last = (enum ptxi_type)e->type;
    if (v->all == PTXI_T_NONE || ptxi_types[v->last].class == 'B')
        v->all = v->last;
    return true;
}

/* Checks a vector of n elements. */
static bool check_elements(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                           unsigned n, struct ptxi_operand *o)
{
    unsigned have = r->kind == PTXI_RAW_VECTOR ? r->count : r->vector;
    struct elements v = { .all = PTXI_T_NONE, .last = PTXI_T_NONE };
    struct ptxi_operand *e;

    if (have != n)
        return ptxi_check_fail_operand(k, r->loc, s, "must be a vector of %u elements, not of %u", n, have);
    if (!(e = ARENA_NEW(k->p->arena, struct ptxi_operand, n)))
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct ptxi_raw one = element_at(r, i);

        if (!(s->flags & PTXI_OPF_SYMBOL) && (one.kind == PTXI_RAW_VAR || one.kind == PTXI_RAW_FUNC))
            return ptxi_check_fail_operand(k, one.loc, s, "cannot have an address as an element");
        if (!ptxi_check_scalar(k, &one, s, element_type(k, &one, s, want, i),
                               s->flags & (PTXI_OPF_WRITE | PTXI_OPF_SINK), &e[i]) ||
            !check_neighbors(k, &v, &one, &e[i], want))
            return false;
    }
    if (!(v.all == PTXI_T_pred && accepts_predicates(s)) &&
        (!vector_fits(want, v.all, s->flags & PTXI_OPF_WIDER, n) || (v.all == PTXI_T_f16x2 && is_count(s, want))))
        return fail_type(k, &v.first, s, want);
    if (v.sinks == n && n && (s->flags & (PTXI_OPF_SINK | PTXI_OPF_WRITE)) != (PTXI_OPF_SINK | PTXI_OPF_WRITE))
        return ptxi_check_fail_operand(k, r->loc, s, "must have at least one register");
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

/* Checks the vector of a mov that packs or unpacks: its elements together have the width of the type. */
static bool check_packed(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                         struct ptxi_operand *o)
{
    unsigned n = r->kind == PTXI_RAW_VECTOR ? r->count : r->vector;
    enum ptxi_type element = n == 2 || n == 4 ? bits_type(ptxi_types[want].bits / n) : PTXI_T_NONE;

    if (n == 1)
        return ptxi_check_scalar(k, r->elements, s, want, false, o);
    if (r->kind == PTXI_RAW_SREG)
        return ptxi_check_scalar(k, r, s, want, false, o);
    if (!(s->flags & PTXI_OPF_WRITE) && k->out[0].form == PTXI_OPD_VECTOR)
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be a vector if the destination is one");
    for (unsigned i = 0; r->kind == PTXI_RAW_VECTOR && i < n; i++)
        if (r->elements[i].kind == PTXI_RAW_CONST && r->elements[i].value_kind != PTXI_VAL_INT)
            return ptxi_check_fail(k, r->elements[i].loc, "a constant in this vector must be an integer");
    if (element == PTXI_T_NONE)
        return ptxi_check_fail(k, r->loc, "cannot split .%s into %u elements", ptxi_types[want].name, n);
    return check_elements(k, r, s, element, n, o);
}

static bool is_vector(const struct ptxi_raw *r)
{
    return r->kind == PTXI_RAW_VECTOR || ((r->kind == PTXI_RAW_REG || r->kind == PTXI_RAW_SREG) && r->vector);
}

/* True if ptxas accepts braces with several elements where this scalar operand is. */
static bool accepts_extra_elements(const struct check *k, const struct ptxi_opspec *s, enum ptxi_type want)
{
    if (s->flags & PTXI_OPF_UNCHECKED)
        return true;
    return (want == PTXI_T_bf16 || want == PTXI_T_bf16x2) && !k->candidate->address_count && !is_newer_form(k) &&
           !(s->flags & PTXI_OPF_REGISTER);
}

/* The operand itself, or the first element of braces, if ptxas ignores the others. In *first, it has the type of the
 * vector: one register of type .bN makes it untyped bits. */
static const struct ptxi_raw *first_element(const struct check *k, const struct ptxi_raw *r,
                                            const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_raw *first)
{
    enum ptxi_type last;

    if (r->kind != PTXI_RAW_VECTOR || !accepts_extra_elements(k, s, want) ||
        (r->count != 1 && r->count != 2 && r->count != 4))
        return r;
    *first = r->elements[0];
    if (first->kind != PTXI_RAW_REG && !(first->kind == PTXI_RAW_CONST && s->flags & PTXI_OPF_UNCHECKED))
        return r;
    if (first->negated)
        return r;
    last = first->kind == PTXI_RAW_REG ? (enum ptxi_type)first->type : PTXI_T_NONE;
    for (unsigned i = 1; i < r->count; i++) {
        const struct ptxi_raw *e = &r->elements[i];

        if (e->kind == PTXI_RAW_SINK || e->kind == PTXI_RAW_CONST)
            continue;
        if (e->kind != PTXI_RAW_REG || element_bits(e->type) != element_bits(first->type) ||
            !can_be_neighbors(last, e->type))
            return r;
        last = e->type;
        if (ptxi_types[last].class == 'B' && first->kind == PTXI_RAW_REG && first->type != PTXI_T_pred)
            first->type = last;
    }
    return first;
}

/* True if this vector may be longer than its fixed length, because ptxas does not check the length. */
static bool may_be_longer(const struct ptxi_raw *r, const struct ptxi_opspec *s, unsigned n)
{
    return !ptxi_isa_vector_varies(s) && r->kind == PTXI_RAW_VECTOR && s->flags & PTXI_OPF_UNCHECKED && r->count > n &&
           (r->count == 2 || r->count == 4);
}

/* True if all elements of these braces are registers of this type. ptxas packs others into a register. */
static bool has_exact_type(const struct ptxi_raw *r, enum ptxi_type want)
{
    if (r->kind != PTXI_RAW_VECTOR)
        return false;
    for (unsigned i = 0; i < r->count; i++)
        if (r->elements[i].kind != PTXI_RAW_REG || r->elements[i].type != want)
            return false;
    return true;
}

bool ptxi_check_value(struct check *k, const struct ptxi_raw *r, unsigned i, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->row->specs[i];
    enum ptxi_type want = k->candidate->types[i];
    unsigned n = k->candidate->vectors[i];
    struct ptxi_raw first;

    o->column = r->loc.col;
    if (r->kind == PTXI_RAW_REG && !r->vector && !n)
        return check_reg(k, r, s, want, o);
    if (r->kind == PTXI_RAW_SINK && (s->flags & PTXI_OPF_SINK) && (!n || s->flags & PTXI_OPF_WRITE))
        return ptxi_check_sink(k, r, s, true, o);
    if (is_vector(r) && (s->flags & PTXI_OPF_VECTOR_OK))
        return check_packed(k, r, s, want, o);
    if (s->flags & PTXI_OPF_CONFUSED && has_exact_type(r, want))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be braces around registers of type .%s only",
                                       ptxi_types[want].name);
    if (n && may_be_longer(r, s, n))
        n = r->count;
    if (n == 1 && !is_vector(r) && (s->flags & PTXI_OPF_BRACES))
        return ptxi_check_fail_operand(k, r->loc, s, "must be in braces");
    if (n > 1 || (n == 1 && is_vector(r))) {
        if (!is_vector(r))
            return ptxi_check_fail_operand(k, r->loc, s, "must be a vector of %u elements", n);
        return check_elements(k, r, s, want, n, o);
    }
    if (r->kind == PTXI_RAW_VECTOR && r->count == 1 && s->vector) /* braces around a scalar that could be a vector */
        r = r->elements;
    if (!n)
        r = first_element(k, r, s, want, &first);
    return ptxi_check_scalar(k, r, s, want, s->flags & PTXI_OPF_SINK, o);
}
