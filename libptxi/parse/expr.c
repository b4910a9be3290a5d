/* PTX ISA, "Constant Expressions": evaluates 64-bit integers, signed or unsigned, and doubles. One operation never
 * mixes them. */
#include "parse/expr.h"

#include <fenv.h>

static bool parse_conditional(struct parser *p, struct ptxi_value *out);

static bool is_int(const struct ptxi_value *v)
{
    return v->kind == PTXI_VAL_INT;
}

static double as_double(const struct ptxi_value *v)
{
    double d;

    memcpy(&d, &v->bits, sizeof d);
    return d;
}

static void set_int(struct ptxi_value *v, uint64_t bits, bool is_unsigned)
{
    v->kind = PTXI_VAL_INT;
    v->bits = bits;
    v->is_unsigned = is_unsigned;
}

static bool is_warp_size(const struct ptxi_token *t)
{
    return t->kind == PTXI_TOK_NAME && t->n == 7 && !memcmp(t->s, "WARP_SZ", 7);
}

bool ptxi_expr_can_start(const struct parser *p)
{
    switch (p->tok.kind) {
    case PTXI_TOK_INT:
    case PTXI_TOK_F64:
    case PTXI_TOK_F32:
    case '(':
    case '-':
    case '+':
    case '~':
    case '!':
        return true;
    default:
        return is_warp_size(&p->tok);
    }
}

/* The type of a cast (.s64) or (.u64) after its opening parenthesis: s, u, or 0 if it is no cast. */
static int cast_type(struct parser *p)
{
    if (ptxi_parse_is_word(p, "s64"))
        return 's';
    return ptxi_parse_is_word(p, "u64") ? 'u' : 0;
}

static bool parse_primary(struct parser *p, struct ptxi_value *out)
{
    const struct ptxi_token *t = &p->tok;

    *out = (struct ptxi_value){ .loc = ptxi_parse_loc(p) };
    if (t->kind == PTXI_TOK_INT) {
        set_int(out, t->number, t->is_unsigned);
    } else if (t->kind == PTXI_TOK_F64 || t->kind == PTXI_TOK_F32) {
        out->kind = t->kind == PTXI_TOK_F64 ? PTXI_VAL_F64 : PTXI_VAL_F32;
        out->bits = t->number;
    } else if (is_warp_size(t)) {
        set_int(out, 32, false);
    } else {
        return ptxi_parse_error_expected(p, "a constant");
    }
    ptxi_parse_next(p);
    return true;
}

static bool fail(struct parser *p, struct ptxi_loc loc, const char *msg)
{
    ptxi_parse_error(p, loc, "%s", msg);
    return false;
}

static const char single_in_expression[] =
    "a 0f... constant cannot be part of an expression, use a 0d... or decimal constant";

static bool apply_unary(struct parser *p, int op, struct ptxi_loc loc, struct ptxi_value *v)
{
    if (v->kind == PTXI_VAL_F32)
        return fail(p, v->loc, single_in_expression);
    v->loc = loc;
    if (!is_int(v)) {
        if (op != '-' && op != '+')
            return fail(p, loc, "invalid operand: this operator requires integers");
        v->bits ^= op == '-' ? UINT64_C(1) << 63 : 0;
        return true;
    }
    switch (op) {
    case '-': v->bits = -v->bits; break;
    case '~': set_int(v, ~v->bits, true); break;
    case '!': set_int(v, !v->bits, false); break;
    case 's': v->is_unsigned = false; break;
    case 'u': v->is_unsigned = true; break;
    default: assert(op == '+');
    }
    return true;
}

static const char too_deep[] = "expression is nested too deeply";

static bool parse_unary(struct parser *p, struct ptxi_value *out)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    int op = p->tok.kind;
    bool ok;

    if (op != '-' && op != '+' && op != '!' && op != '~' && op != '(')
        return parse_primary(p, out);
    if (p->expr_depth == PTXI_MAX_EXPR_DEPTH)
        return fail(p, loc, too_deep);
    p->expr_depth++;
    ptxi_parse_next(p);
    if (op == '(') {
        op = cast_type(p);
        if (!op) {
            ok = parse_conditional(p, out) && ptxi_parse_expect(p, ')');
            p->expr_depth--;
            return ok;
        }
        ptxi_parse_next(p);
        if (!ptxi_parse_expect(p, ')')) {
            p->expr_depth--;
            return false;
        }
    }
    ok = parse_unary(p, out) && apply_unary(p, op, loc, out);
    p->expr_depth--;
    return ok;
}

/* The precedence of a binary operator, 0 for other tokens. */
static int precedence(int op)
{
    switch (op) {
    case '*': case '/': case '%': return 10;
    case '+': case '-': return 9;
    case PTXI_TOK_SHL: case PTXI_TOK_SHR: return 8;
    case '<': case '>': case PTXI_TOK_LE: case PTXI_TOK_GE: return 7;
    case PTXI_TOK_EQ: case PTXI_TOK_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case PTXI_TOK_AND: return 2;
    case PTXI_TOK_OR: return 1;
    default: return 0;
    }
}

/* A separate function, so that the compiler does not move arithmetic across the change of rounding mode. */
static __attribute__((noinline)) double double_op(int op, double a, double b)
{
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    default: return a / b;
    }
}

static bool apply_double(struct parser *p, int op, struct ptxi_loc loc, struct ptxi_value *a,
                         const struct ptxi_value *b)
{
    double x = as_double(a), y = as_double(b), r;
    fenv_t env;

    switch (op) {
    case '<': set_int(a, x < y, false); return true;
    case '>': set_int(a, x > y, false); return true;
    case PTXI_TOK_LE: set_int(a, x <= y, false); return true;
    case PTXI_TOK_GE: set_int(a, x >= y, false); return true;
    case PTXI_TOK_EQ: set_int(a, x == y, false); return true;
    case PTXI_TOK_NE: set_int(a, x != y, false); return true;
    case '+': case '-': case '*': case '/':
        if (op == '/' && y == 0)
            return fail(p, loc, "division by zero");
        fegetenv(&env);
        fesetenv(FE_DFL_ENV);
        r = double_op(op, x, y);
        fesetenv(&env);
        memcpy(&a->bits, &r, sizeof r);
        return true;
    default:
        return fail(p, loc, "invalid operand: this operator requires integers");
    }
}

static uint64_t divide(uint64_t x, uint64_t y, bool is_unsigned)
{
    if (is_unsigned)
        return x / y;
    return y == UINT64_MAX ? -x : (uint64_t)((int64_t)x / (int64_t)y);
}

static bool less(uint64_t x, uint64_t y, bool is_unsigned)
{
    return is_unsigned ? x < y : (int64_t)x < (int64_t)y;
}

static bool apply_int(struct parser *p, int op, struct ptxi_loc loc, struct ptxi_value *a, const struct ptxi_value *b)
{
    uint64_t x = a->bits, y = b->bits;
    bool u = a->is_unsigned || b->is_unsigned;

    if ((op == '/' || op == '%') && !y)
        return fail(p, loc, "division by zero");
    switch (op) {
    case '*': set_int(a, x * y, u); break;
    case '/': set_int(a, divide(x, y, u), u); break;
    case '%': set_int(a, x % y, true); break;
    case '+': set_int(a, x + y, u); break;
    case '-': set_int(a, x - y, u); break;
    case PTXI_TOK_SHL: a->bits = x << (y & 63); break;
    case PTXI_TOK_SHR: a->bits = a->is_unsigned ? x >> (y & 63) : (uint64_t)((int64_t)x >> (y & 63)); break;
    case '<': set_int(a, less(x, y, u), false); break;
    case '>': set_int(a, less(y, x, u), false); break;
    case PTXI_TOK_LE: set_int(a, !less(y, x, u), false); break;
    case PTXI_TOK_GE: set_int(a, !less(x, y, u), false); break;
    case PTXI_TOK_EQ: set_int(a, x == y, false); break;
    case PTXI_TOK_NE: set_int(a, x != y, false); break;
    case '&': set_int(a, x & y, u); break;
    case '^': set_int(a, x ^ y, u); break;
    case '|': set_int(a, x | y, u); break;
    case PTXI_TOK_AND: set_int(a, x && y, false); break;
    case PTXI_TOK_OR: set_int(a, x || y, false); break;
    default: assert(!"not a binary operator");
    }
    return true;
}

static bool check_same_kind(struct parser *p, struct ptxi_loc loc, const struct ptxi_value *a,
                            const struct ptxi_value *b)
{
    if (a->kind == PTXI_VAL_F32 || b->kind == PTXI_VAL_F32)
        return fail(p, a->kind == PTXI_VAL_F32 ? a->loc : b->loc, single_in_expression);
    if (a->kind != b->kind)
        return fail(p, loc, "cannot mix integer and floating-point constants in an expression");
    return true;
}

/* Precedence climbing: applies the binary operators after *a that have at least this precedence. */
static bool parse_binary(struct parser *p, struct ptxi_value *a, int min_precedence)
{
    for (int prec; (prec = precedence(p->tok.kind)) >= min_precedence;) {
        struct ptxi_value b;
        struct ptxi_loc loc = ptxi_parse_loc(p);
        int op = p->tok.kind;

        ptxi_parse_next(p);
        if (!parse_unary(p, &b) || !parse_binary(p, &b, prec + 1) || !check_same_kind(p, loc, a, &b) ||
            !(is_int(a) ? apply_int : apply_double)(p, op, loc, a, &b))
            return false;
    }
    return true;
}

/* Parses "? yes : no" after its condition. */
static bool parse_arms(struct parser *p, struct ptxi_value *cond)
{
    struct ptxi_value yes, no;
    struct ptxi_loc loc = ptxi_parse_loc(p);

    if (!is_int(cond))
        return fail(p, loc, "invalid condition of ?: it must be an integer");
    ptxi_parse_next(p);
    if (!parse_conditional(p, &yes) || !ptxi_parse_expect(p, ':') || !parse_conditional(p, &no) ||
        !check_same_kind(p, loc, &yes, &no))
        return false;
    if (!is_int(&yes)) /* the PTX ISA allows floats, but ptxas does not */
        return fail(p, loc, "invalid operands of ?: they must be integers");
    yes.is_unsigned = no.is_unsigned = yes.is_unsigned || no.is_unsigned;
    *cond = cond->bits ? yes : no;
    return true;
}

static bool parse_conditional(struct parser *p, struct ptxi_value *out)
{
    bool ok;

    if (p->expr_depth == PTXI_MAX_EXPR_DEPTH)
        return fail(p, ptxi_parse_loc(p), too_deep);
    p->expr_depth++;
    ok = parse_unary(p, out) && parse_binary(p, out, 1);
    if (ok && p->tok.kind == '?')
        ok = parse_arms(p, out);
    p->expr_depth--;
    return ok;
}

bool ptxi_expr_parse(struct parser *p, struct ptxi_value *out)
{
    return parse_conditional(p, out);
}

bool ptxi_expr_uint(struct parser *p, uint64_t lo, uint64_t hi, const char *what, uint64_t *out)
{
    uint64_t v = is_warp_size(&p->tok) ? 32 : p->tok.number;

    if (!ptxi_expr_can_start(p))
        return ptxi_parse_error_expected(p, what);
    if (hi == UINT32_MAX && v >> 63) /* a negative number to ptxas, which accepts it and keeps the low 32 bits */
        v = (uint32_t)v;
    if ((p->tok.kind != PTXI_TOK_INT && !is_warp_size(&p->tok)) || v < lo || v > hi) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "invalid value: %s must be an integer from %llu to %llu", what,
                         (unsigned long long)lo, (unsigned long long)hi);
        return false;
    }
    *out = v;
    ptxi_parse_next(p);
    return true;
}

bool ptxi_expr_int(struct parser *p, const char *what, const char *wrong, int64_t *out)
{
    struct ptxi_value v;

    if (!ptxi_expr_can_start(p))
        return ptxi_parse_error_expected(p, what);
    if (!ptxi_expr_parse(p, &v))
        return false;
    if (v.kind != PTXI_VAL_INT) {
        ptxi_parse_error(p, v.loc, "%s", wrong);
        return false;
    }
    *out = (int64_t)v.bits;
    return true;
}

bool ptxi_expr_offset(struct parser *p, int64_t *out)
{
    return ptxi_expr_int(p, "a constant", "invalid offset: it must be an integer", out);
}

/* Rounds a double to the nearest value, ties to even, of a format with `e` exponent and `m` fraction bits. */
static uint64_t round_double(uint64_t d, int e, int m)
{
    uint64_t sign = d >> 63 << (e + m), frac = d & ((UINT64_C(1) << 52) - 1);
    int exp = (int)(d >> 52 & 0x7ff), bias = (1 << (e - 1)) - 1, cut = 52 - m;
    uint64_t inf = ((UINT64_C(1) << e) - 1) << m, kept, rest;

    if (exp == 0x7ff)
        return sign | inf | (frac ? UINT64_C(1) << (m - 1) | frac >> cut : 0);
    if (exp - 1023 + bias <= 0) { /* subnormal in the result; subnormal doubles are much smaller than these */
        cut += 1 - (exp - 1023 + bias);
        if (!exp || cut > 53)
            return sign;
        frac |= UINT64_C(1) << 52;
        exp = 0;
    } else {
        exp += bias - 1023;
    }
    kept = frac >> cut;
    rest = frac & ((UINT64_C(1) << cut) - 1);
    kept += rest > UINT64_C(1) << (cut - 1) || (rest == UINT64_C(1) << (cut - 1) && (kept & 1));
    kept += (uint64_t)exp << m; /* a carry out of the fraction belongs in the exponent */
    return sign | (kept > inf ? inf : kept);
}

/* The bits of a float as a double. This is exact. */
static uint64_t float_to_double(uint32_t f)
{
    uint64_t sign = (uint64_t)(f >> 31) << 63, frac = f & 0x7fffff;
    int exp = f >> 23 & 0xff;

    if (exp == 0xff)
        return sign | UINT64_C(0x7ff) << 52 | frac << 29;
    if (!exp) {
        if (!frac)
            return sign;
        for (exp = 1; !(frac & 0x800000); exp--)
            frac <<= 1;
        frac &= 0x7fffff;
    }
    return sign | (uint64_t)(exp + 1023 - 127) << 52 | frac << 29;
}

static uint64_t low_bits(uint64_t v, unsigned bits)
{
    return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static bool convert_float(uint64_t d, enum ptxi_type t, uint64_t *bits)
{
    switch (t) {
    case PTXI_T_f64: *bits = d; return true;
    case PTXI_T_f32: *bits = round_double(d, 8, 23); return true;
    default: return false; /* half precision has no constants */
    }
}

bool ptxi_expr_convert(const struct ptxi_value *v, enum ptxi_type t, bool initializer, uint64_t *bits)
{
    const struct ptxi_type_info *info = &ptxi_types[t];

    if (t == PTXI_T_pred) {
        *bits = v->bits != 0;
        return is_int(v);
    }
    if (is_int(v)) {
        *bits = low_bits(v->bits, info->bits);
        return info->class != 'F' && info->class != 'A';
    }
    if (v->kind == PTXI_VAL_F32) {
        *bits = v->bits;
        if (t == PTXI_T_f32 || (info->class == 'B' && info->bits == 32))
            return true;
        /* ptxas uses the 32 bits unchanged for an .f64 and for a .b64 variable, and the low bits for .b16 and .b8 */
        if (t == PTXI_T_f64 || (initializer && info->class == 'B')) {
            *bits = low_bits(v->bits, info->bits);
            return true;
        }
        return convert_float(float_to_double((uint32_t)v->bits), t, bits);
    }
    if (info->class == 'B') {
        /* ptxas rounds a double for .b32, but uses the low bits of it for .b16 and .b8 */
        *bits = info->bits == 32 ? round_double(v->bits, 8, 23) : low_bits(v->bits, info->bits);
        return info->bits == 64 || (initializer && info->bits <= 32);
    }
    return convert_float(v->bits, t, bits);
}
