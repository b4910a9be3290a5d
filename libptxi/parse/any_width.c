/* Integers of any width, PTXI_DIALECT_ANY_WIDTH. add.s17 is an add.s32 of operands whose lowest 17 bits are extended before, by two
 * shifts into registers of its own, and of a result that is extended behind. An integer of 17 bits in a wider register is always
 * read by its lowest bits and left extended: by its sign, or by zeros for .u17 and .b17. */
#include "parse/parser.h"

#include "isa/op.gen.h"

#include <stdarg.h>
#include <stdio.h>

/* What gives the N-bit result, if cut to N bits, of operands that are extended. */
static const uint16_t families[] = {
    PTXI_M_abs, PTXI_M_add, PTXI_M_and, PTXI_M_div, PTXI_M_mad,  PTXI_M_max, PTXI_M_min,  PTXI_M_mov, PTXI_M_mul, PTXI_M_neg,  PTXI_M_not, PTXI_M_or,
    PTXI_M_popc, PTXI_M_rem, PTXI_M_sad, PTXI_M_selp, PTXI_M_set, PTXI_M_setp, PTXI_M_shl, PTXI_M_shr, PTXI_M_slct, PTXI_M_sub, PTXI_M_xor,
};
/* Qualifiers with which it does not. */
static const uint16_t wider[] = { PTXI_Q_cc, PTXI_Q_hi, PTXI_Q_relu, PTXI_Q_sat, PTXI_Q_wide };

static bool listed(const uint16_t *list, size_t count, uint16_t id)
{
    size_t i = 0;

    while (i < count && list[i] != id)
        i++;
    return i < count;
}
#define LISTED(list, id) listed(list, sizeof list / sizeof *list, id)

/* The width that a qualifier such as s17 has, or 0: one that PTX has itself, or no type. */
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

bool ptxi_width_find(const struct ptxi_token *op, struct ptxi_width *w)
{
    const char *end = op->s + op->n, *dot = memchr(op->s, '.', op->n);
    const struct ptxi_family *f = dot ? ptxi_isa_family(op->s, (size_t)(dot - op->s)) : NULL;

    w->bits = 0;
    if (!f || !LISTED(families, (uint16_t)(f - ptxi_families)))
        return false;
    while (dot) {
        const char *s = dot + 1, *next = memchr(s, '.', (size_t)(end - s));
        size_t n = (size_t)((next ? next : end) - s);
        unsigned bits = odd_width(s, n);

        if (LISTED(wider, ptxi_isa_word(s, n)) || (bits && w->bits))
            return false;
        if (bits)
            *w = (struct ptxi_width){ bits, 0, *s, (uint32_t)(s - op->s), (uint32_t)n };
        dot = next;
    }
    return w->bits;
}

/* The registers' width, where one is wide enough; else the first that is. */
static unsigned container(const struct parser *p, unsigned bits)
{
    for (unsigned i = 0; i < p->raw_count; i++) {
        const struct ptxi_raw *r = &p->raw[i];
        unsigned have = r->kind == PTXI_RAW_REG ? ptxi_types[r->type].bits : 0;

        if (have >= bits && have >= 16 && have <= 64)
            return have;
    }
    return bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

static const struct ptxi_spelling *spell(struct parser *p, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static const struct ptxi_spelling *spell(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
{
    char text[128];
    va_list ap;

    va_start(ap, fmt);
    struct ptxi_token op = { .kind = PTXI_TOK_NAME, .s = text, .n = (uint32_t)vsnprintf(text, sizeof text, fmt, ap) };
    va_end(ap);
    return op.n < sizeof text ? ptxi_spell_find(p, &op, loc) : NULL;
}

/* One instruction of what is in p->raw, at the place and with the guard of `like`. */
static bool emit(struct parser *p, const struct ptxi_spelling *sp, struct ptxi_loc loc, const struct ptxi_inst *like)
{
    struct ptxi_inst in = *like;

    return sp && ptxi_check_inst(p, sp, loc, &in) && ptxi_inst_push(p, &in);
}

/* to = the lowest bits of `from`, extended: to << n >> n. Both are registers of the container's width. */
static bool extend(struct parser *p, const struct ptxi_width *w, struct ptxi_raw to, struct ptxi_raw from, struct ptxi_loc loc,
                   const struct ptxi_inst *like)
{
    static const char *const shifts[] = { "shl.b%u", "shr.%c%u" };
    struct ptxi_raw by = { .kind = PTXI_RAW_CONST, .value_kind = PTXI_VAL_INT, .bits = w->container - w->bits, .loc = loc, .s = from.s };

    for (unsigned i = 0; i < 2; i++) {
        p->raw[0] = to;
        p->raw[1] = i ? to : from;
        p->raw[2] = by;
        p->raw_count = 3;
        if (!emit(p, i ? spell(p, loc, shifts[1], w->letter == 's' ? 's' : 'u', w->container) : spell(p, loc, shifts[0], w->container), loc, like))
            return false;
    }
    return true;
}

static uint64_t extended(const struct ptxi_width *w, uint64_t bits)
{
    unsigned n = 64 - w->bits;

    return w->letter == 's' ? (uint64_t)((int64_t)(bits << n) >> n) : bits << n >> n;
}

static bool source(struct parser *p, const struct ptxi_width *w, struct ptxi_raw *r, struct ptxi_loc loc, const struct ptxi_inst *like)
{
    struct ptxi_raw from = *r;
    char type[12];

    if (r->kind == PTXI_RAW_CONST && r->value_kind == PTXI_VAL_INT)
        r->bits = extended(w, r->bits);
    if (r->kind != PTXI_RAW_REG || r->vector)
        return true;
    snprintf(type, sizeof type, "b%u", w->container);
    r->type = (uint8_t)ptxi_isa_word(type, strlen(type));
    r->reg = ptxi_func_new_regs(p, ptxi_intern(p->tree->names, "%width", 6), r->type, 1, 1, false, loc);
    return r->reg != PTXI_NO_REG && extend(p, w, *r, from, loc, like);
}

/* Whether an operand is of the odd width: its type comes from the slot with that word. */
static bool is_odd(const struct ptxi_candidate *c, const struct ptxi_opspec *s, uint16_t word)
{
    return s->kind == PTXI_OPK_VALUE && s->type_rule == PTXI_TR_SLOT && c->match->words[s->type] == word;
}

bool ptxi_width_inst(struct parser *p, const struct ptxi_token *op, struct ptxi_width *w, struct ptxi_loc loc, const struct ptxi_inst *like)
{
    struct ptxi_raw raw[PTXI_MAX_RAW], *r = raw, *result = NULL;
    unsigned count = p->raw_count;
    struct ptxi_inst trial = *like;
    char type[12];

    w->container = container(p, w->bits);
    snprintf(type, sizeof type, "%c%u", w->letter, w->container);
    const struct ptxi_spelling *sp = spell(p, loc, "%.*s%s%.*s", (int)w->at, op->s, type, (int)(op->n - w->at - w->length), op->s + w->at + w->length);

    if (!sp || !ptxi_check_inst(p, sp, loc, &trial)) /* messages are about the operands as they are written */
        return false;
    memcpy(raw, p->raw, count * sizeof *raw);
    for (unsigned i = 0; i < trial.match->row->spec_count && r < raw + count; i++) {
        const struct ptxi_opspec *s = &trial.match->row->specs[i];

        if ((s->flags & PTXI_OPF_PAIR) && !r->pair)
            continue;
        if (is_odd(sp->candidates, s, ptxi_isa_word(type, strlen(type)))) {
            if (s->flags & PTXI_OPF_WRITE)
                result = r;
            else if (!source(p, w, r, loc, like))
                return false;
        }
        r++;
    }
    memcpy(p->raw, raw, count * sizeof *raw);
    p->raw_count = count;
    return emit(p, sp, loc, like) && (!result || result->kind != PTXI_RAW_REG || extend(p, w, *result, *result, loc, like));
}
