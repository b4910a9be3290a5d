/* Integers of any width (PTXI_DIALECT_ANY_WIDTH).
 *
 * add.s17 becomes an add.s32. Before it, the lowest 17 bits of each operand are extended by two shifts into a new
 * register. After it, the result is extended in the same way. So a 17-bit integer in a wider register is always read
 * from its low bits and written extended: with its sign, or with zeros for .u17 and .b17. */
#include "parse/check_state.h"
#include "parse/expr.h"
#include "parse/match_form.h"
#include "parse/statement.h"

#include "isa/op.gen.h"

#include <stdarg.h>
#include <stdio.h>

/* The low N bits of their result are the N-bit result if the operands are extended. */
static const uint16_t supported_families[] = {
    PTXI_M_abs, PTXI_M_add, PTXI_M_and,  PTXI_M_div, PTXI_M_mad,  PTXI_M_max, PTXI_M_min, PTXI_M_mov,
    PTXI_M_mul, PTXI_M_neg, PTXI_M_not,  PTXI_M_or,  PTXI_M_popc, PTXI_M_rem, PTXI_M_sad, PTXI_M_selp,
    PTXI_M_set, PTXI_M_setp, PTXI_M_shl, PTXI_M_shr, PTXI_M_slct, PTXI_M_sub, PTXI_M_xor,
};
/* With these qualifiers this is not true. */
static const uint16_t unsupported_qualifiers[] = { PTXI_Q_cc, PTXI_Q_hi, PTXI_Q_relu, PTXI_Q_sat, PTXI_Q_wide };

static bool contains(const uint16_t *list, size_t count, uint16_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

static bool is_supported_family(uint16_t family)
{
    return contains(supported_families, sizeof supported_families / sizeof *supported_families, family);
}

static bool is_unsupported_qualifier(uint16_t word)
{
    return contains(unsupported_qualifiers, sizeof unsupported_qualifiers / sizeof *unsupported_qualifiers, word);
}

/* The width of a qualifier such as s17. 0 if PTX has this width, or if it is no type. */
static unsigned odd_width(const char *s, size_t n)
{
    unsigned bits = 0;

    if (n < 2 || n > 3 || !memchr("sub", *s, 3) || s[1] == '0')
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return 0;
        bits = bits * 10 + (unsigned)(s[i] - '0');
    }
    return bits > 64 || bits == 16 || bits == 32 || bits == 64 ? 0 : bits;
}

bool ptxi_any_width_find(const struct ptxi_token *op, struct ptxi_odd_width *w)
{
    const char *end = op->s + op->n, *dot = memchr(op->s, '.', op->n);
    const struct ptxi_family *f = dot ? ptxi_isa_family(op->s, (size_t)(dot - op->s)) : NULL;

    w->bits = 0;
    if (!f || !is_supported_family((uint16_t)(f - ptxi_families)))
        return false;
    while (dot) {
        const char *s = dot + 1, *next = memchr(s, '.', (size_t)(end - s));
        size_t n = (size_t)((next ? next : end) - s);
        unsigned bits = odd_width(s, n);

        if (is_unsupported_qualifier(ptxi_isa_word(s, n)) || (bits && w->bits))
            return false;
        if (bits)
            *w = (struct ptxi_odd_width){ bits, 0, *s, (uint32_t)(s - op->s), (uint32_t)n };
        dot = next;
    }
    return w->bits;
}

/* The width of the registers, if one of them is wide enough. Else the smallest width that is. */
static unsigned choose_container(const struct parser *p, unsigned bits)
{
    for (unsigned i = 0; i < p->raw_count; i++) {
        const struct ptxi_raw *r = &p->raw[i];
        unsigned have = r->kind == PTXI_RAW_REG ? ptxi_types[r->type].bits : 0;

        if (have >= bits && have >= 16 && have <= 64)
            return have;
    }
    if (bits <= 16)
        return 16;
    return bits <= 32 ? 32 : 64;
}

static const struct ptxi_opcode *find_opcode(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static const struct ptxi_opcode *find_opcode(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
{
    char text[128];
    va_list ap;

    va_start(ap, fmt);
    struct ptxi_token op = { .kind = PTXI_TOK_NAME, .s = text, .n = (uint32_t)vsnprintf(text, sizeof text, fmt, ap) };
    va_end(ap);
    return op.n < sizeof text ? ptxi_form_find(p, &op, loc) : NULL;
}

/* Emits an instruction with the operands in p->raw and the location and guard of `like`. */
static bool emit(struct parser *p, const struct ptxi_opcode *opcode, struct ptxi_loc loc, const struct ptxi_inst *like)
{
    struct ptxi_inst in = *like;

    return opcode && ptxi_check_inst(p, opcode, loc, &in) && ptxi_inst_emit(p, &in);
}

/* Emits to = from << n >> n, which extends the low bits. Both registers have the width of the container. */
static bool emit_extension(struct parser *p, const struct ptxi_odd_width *w, struct ptxi_raw to, struct ptxi_raw from,
                           struct ptxi_loc loc, const struct ptxi_inst *like)
{
    struct ptxi_raw by = {
        .kind = PTXI_RAW_CONST, .value_kind = PTXI_VAL_INT, .bits = w->container - w->bits, .loc = loc, .s = from.s,
    };

    assert(w->container >= w->bits);
    p->raw[0] = to;
    p->raw[1] = from;
    p->raw[2] = by;
    p->raw_count = 3;
    if (!emit(p, find_opcode(p, loc, "shl.b%u", w->container), loc, like))
        return false;
    p->raw[1] = to;
    return emit(p, find_opcode(p, loc, "shr.%c%u", w->letter == 's' ? 's' : 'u', w->container), loc, like);
}

static uint64_t extend_constant(const struct ptxi_odd_width *w, uint64_t bits)
{
    unsigned n = 64 - w->bits;

    return w->letter == 's' ? (uint64_t)((int64_t)(bits << n) >> n) : bits << n >> n;
}

/* Extends a source operand: a constant in place, a register into a new one. */
static bool extend_source(struct parser *p, const struct ptxi_odd_width *w, struct ptxi_raw *r, struct ptxi_loc loc,
                          const struct ptxi_inst *like)
{
    struct ptxi_raw from = *r;
    char type[12];

    if (r->kind == PTXI_RAW_CONST && r->value_kind == PTXI_VAL_INT)
        r->bits = extend_constant(w, r->bits);
    if (r->kind != PTXI_RAW_REG || r->vector)
        return true;
    snprintf(type, sizeof type, "b%u", w->container);
    r->type = (uint8_t)ptxi_isa_word(type, strlen(type));
    r->reg = ptxi_registers_add(p, ptxi_intern(p->ast->names, "%width", 6), r->type, 1, 1, false, loc);
    return r->reg != PTXI_NO_REG && emit_extension(p, w, *r, from, loc, like);
}

/* True if an operand has the odd width: its type comes from the slot with that qualifier. */
static bool has_odd_width(const struct ptxi_candidate *c, const struct ptxi_opspec *s, uint16_t word)
{
    return s->kind == PTXI_OPK_VALUE && s->type_rule == PTXI_TR_SLOT && c->match->words[s->type] == word;
}

bool ptxi_any_width_emit(struct parser *p, const struct ptxi_token *op, struct ptxi_odd_width *w, struct ptxi_loc loc,
                         const struct ptxi_inst *like)
{
    struct ptxi_raw raw[PTXI_MAX_RAW], *r = raw, *result = NULL;
    const struct ptxi_opcode *opcode;
    unsigned count = p->raw_count;
    struct ptxi_inst trial = *like;
    char type[12];
    uint16_t word;

    w->container = choose_container(p, w->bits);
    snprintf(type, sizeof type, "%c%u", w->letter, w->container);
    word = ptxi_isa_word(type, strlen(type));
    opcode = find_opcode(p, loc, "%.*s%s%.*s", (int)w->at, op->s, type, (int)(op->n - w->at - w->length),
                         op->s + w->at + w->length);
    if (!opcode || !ptxi_check_inst(p, opcode, loc, &trial)) /* now, so that messages show the operands as written */
        return false;
    assert(count <= PTXI_MAX_RAW);
    memcpy(raw, p->raw, count * sizeof *raw);
    for (unsigned i = 0; i < trial.match->row->spec_count && r < raw + count; i++) {
        const struct ptxi_opspec *s = &trial.match->row->specs[i];

        if ((s->flags & PTXI_OPF_PAIR) && !r->pair)
            continue;
        if (has_odd_width(opcode->candidates, s, word)) {
            if (s->flags & PTXI_OPF_WRITE)
                result = r;
            else if (!extend_source(p, w, r, loc, like))
                return false;
        }
        r++;
    }
    memcpy(p->raw, raw, count * sizeof *raw);
    p->raw_count = count;
    if (!emit(p, opcode, loc, like))
        return false;
    return !result || result->kind != PTXI_RAW_REG || emit_extension(p, w, *result, *result, loc, like);
}
