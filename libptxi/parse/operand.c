/* Parses operands as they are written. check.c then checks them against the instruction. */
#include "parse/raw_operand.h"

#include "parse/expr.h"

#include "isa/bytecode.h"

/* ---- special registers ---- */

struct sreg_info {
    const char *name;
    uint8_t type;
    int8_t elements; /* 4 for .x .y .z .w; -n for n registers with a number in the name */
    uint16_t ptx, sm;
};

static const struct sreg_info sregs[PTXI_SREG_COUNT] = {
#define SREG(id, spelling, type, vector, ptx, sm, scope) { spelling, PTXI_T_##type, vector, ptx, sm },
#include "isa/sreg.def"
#undef SREG
};

/* The number of a numbered special register such as %envreg7, %pm3, %pm3_64 or %reserved_smem_offset_1. -1 if the
 * name is another. */
static int parse_sreg_number(const struct sreg_info *info, const char *s, size_t n)
{
    const char *tail = strstr(info->name, "_64");
    size_t stem = strlen(info->name), rest = 0;
    unsigned v = 0;

    if (tail) {
        stem = (size_t)(tail - info->name);
        rest = 3;
    }
    if (n <= stem + rest || memcmp(s, info->name, stem) || memcmp(s + n - rest, "_64", rest))
        return -1;
    s += stem;
    n -= stem + rest;
    if (*s == '_' && n > 1 && !rest) {
        s++;
        n--;
    }
    if (n > 2 || (n == 2 && *s == '0'))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        v = v * 10 + (unsigned)(s[i] - '0');
    }
    return v < (unsigned)-info->elements ? (int)v : -1;
}

/* The row of a special register, and its number if it is a numbered one. -1 if the name is another. */
static int lookup_sreg(const char *s, size_t n, int *number)
{
    for (int i = 0; i < PTXI_SREG_COUNT; i++) {
        const struct sreg_info *info = &sregs[i];

        *number = info->elements < 0 ? parse_sreg_number(info, s + 1, n - 1) : 0;
        if (*number >= 0 && (info->elements < 0 || (strlen(info->name) == n - 1 && !memcmp(info->name, s + 1, n - 1))))
            return i;
    }
    return -1;
}

bool ptxi_operand_is_sreg(const char *s, size_t n)
{
    int number;

    return *s == '%' && lookup_sreg(s, n, &number) >= 0;
}

/* Makes *r a special register if it is the name of one. */
static bool resolve_sreg(struct parser *p, const char *s, size_t n, struct ptxi_raw *r)
{
    int number, i = lookup_sreg(s, n, &number);

    if (i < 0)
        return false;
    r->kind = PTXI_RAW_SREG;
    r->type = sregs[i].type;
    r->vector = sregs[i].elements > 1 ? (uint8_t)sregs[i].elements : 0;
    assert(i < 1 << 8 && number >= 0);
    r->reg = (uint32_t)i | (uint32_t)number << 8;
    ptxi_parse_require(p, r->loc, r->s, r->loc.len, sregs[i].ptx, sregs[i].sm);
    if ((i == PTXI_SREG_perctamemoryoffset || i == PTXI_SREG_perctamemorysize) && p->fn->is_entry &&
        !p->fn->has_cta_memory)
        ptxi_parse_error(p, r->loc, "'%.*s' requires '.minperctamemory'", (int)r->loc.len, r->s);
    return true;
}

/* ---- operands ---- */

static bool set_const(struct ptxi_raw *r, const struct ptxi_value *v)
{
    r->kind = PTXI_RAW_CONST;
    r->value_kind = v->kind;
    r->is_unsigned = v->is_unsigned;
    r->bits = v->bits;
    return true;
}

static bool parse_const(struct parser *p, struct ptxi_raw *r)
{
    struct ptxi_value v;

    return ptxi_expr_parse(p, &v) && set_const(r, &v);
}

/* The element that .x .y .z .w or .r .g .b .a names, or -1. */
static int element_index(char c)
{
    static const char names[] = "xyzwrgba";
    const char *at = c ? strchr(names, c) : NULL;

    return at ? (int)(at - names) & 3 : -1;
}

/* Parses a selector of a video instruction: .b0 to .b7654, .h0 to .h32. 0 if it is not one. */
static uint16_t parse_video_selector(const char *s, uint32_t n)
{
    uint16_t selector = PTXI_SELECTOR(*s == 'h', n - 1);

    if ((*s != 'b' && *s != 'h') || n < 2 || n > 5)
        return 0;
    for (uint32_t i = 1; i < n; i++) {
        if (s[i] < '0' || s[i] > '7')
            return 0;
        selector |= (uint16_t)((s[i] - '0') << 3 * (n - 1 - i));
    }
    return selector;
}

static bool parse_selector(struct parser *p, struct ptxi_raw *r)
{
    const char *s = p->tok.s;
    uint32_t n = p->tok.n;
    int element = n == 1 ? element_index(*s) : -1;

    if (element >= 0 && element < r->vector) {
        r->reg += r->kind == PTXI_RAW_SREG ? (uint32_t)element << 8 : (uint32_t)element;
        r->vector = 0;
    } else if (!r->vector && r->kind == PTXI_RAW_REG && parse_video_selector(s, n)) {
        r->selector = parse_video_selector(s, n);
    } else {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'%.*s' has no element '.%.*s'", (int)r->loc.len, r->s, (int)n, s);
        return false;
    }
    ptxi_parse_next(p);
    return true;
}

static void set_reg(struct ptxi_raw *r, const struct ptxi_found *f)
{
    const struct ptxi_sym *sym = f->sym;

    r->kind = PTXI_RAW_REG;
    r->type = sym->type;
    r->vector = sym->vector > 1 ? sym->vector : 0;
    assert(f->index < sym->count);
    r->reg = sym->first + f->index * sym->vector;
}

void ptxi_operand_resolve_name(struct parser *p, struct ptxi_raw *r)
{
    const char *s = p->tok.s;
    size_t n = p->tok.n;
    struct ptxi_found f;

    if (ptxi_scope_find(p, s, n, &f)) {
        switch (f.sym->kind) {
        case PTXI_SYM_REG:
            set_reg(r, &f);
            break;
        case PTXI_SYM_VAR:
            r->kind = PTXI_RAW_VAR;
            r->var = f.sym->var;
            r->offset = 0;
            break;
        case PTXI_SYM_FUNC:
            r->kind = PTXI_RAW_FUNC;
            r->func = f.sym->func;
            break;
        default:
            r->kind = PTXI_RAW_LABEL;
            r->sym = f.sym;
        }
    } else if (*s != '%' || !resolve_sreg(p, s, n, r)) {
        r->kind = PTXI_RAW_NAME;
        r->bits = 0;
    }
    ptxi_parse_next(p);
}

/* The constant of a register + constant, which ptxas accepts where it accepts a register. */
static bool parse_addend(struct parser *p, struct ptxi_raw *r)
{
    if (r->kind != PTXI_RAW_REG || r->vector || !ptxi_parse_accept(p, '+'))
        return true;
    r->sum = true;
    return ptxi_expr_offset(p, &r->offset);
}

/* Parses a name and its selector, or the constant that is added to it. */
static bool parse_name(struct parser *p, struct ptxi_raw *r)
{
    ptxi_operand_resolve_name(p, r);
    if (p->tok.kind == PTXI_TOK_WORD && (r->kind == PTXI_RAW_REG || r->kind == PTXI_RAW_SREG))
        return parse_selector(p, r);
    return parse_addend(p, r);
}

/* A byte offset, after '+'. */
static bool parse_offset(struct parser *p, int64_t *out)
{
    if (!ptxi_expr_offset(p, out))
        return false;
    if (p->ast->address_size == 32)
        *out = (int32_t)*out;
    return true;
}

bool ptxi_operand_report_undefined(struct parser *p, const struct ptxi_raw *r)
{
    ptxi_parse_error(p, r->loc, "use of undeclared name '%.*s'", (int)r->loc.len, r->s);
    return false;
}

bool ptxi_operand_check_base(struct parser *p, const struct ptxi_raw *r)
{
    const struct ptxi_type_info *t = &ptxi_types[r->type];

    assert(r->kind != PTXI_RAW_REG || r->type < PTXI_TYPE_COUNT);
    if (r->kind == PTXI_RAW_NAME)
        return ptxi_operand_report_undefined(p, r);
    if (r->kind == PTXI_RAW_REG && !r->vector && (t->class == 'U' || t->class == 'S' || t->class == 'B') &&
        t->bits >= 32 && t->bits <= 64)
        return true;
    ptxi_parse_error(p, r->loc, "invalid address '%.*s': it must be a 32-bit or 64-bit integer register",
                     (int)r->loc.len, r->s);
    return false;
}

void ptxi_operand_init(struct parser *p, struct ptxi_raw *r)
{
    memset(r, 0, sizeof *r);
    r->loc = ptxi_parse_loc(p);
    r->s = p->tok.s;
}

/* var[constant], var[register], var[register+constant]. The index is multiplied by the size of a declared element,
 * whatever the instruction's type is. */
static bool parse_index(struct parser *p, struct ptxi_raw *r)
{
    uint64_t element = r->var->element ? r->var->element : 1;
    struct ptxi_raw base;
    int64_t index = 0;

    if (!r->var->unsized && r->var->size == r->var->element) {
        ptxi_parse_error(p, r->loc, "'%s' is not an array", r->var->name->s);
        return false;
    }
    ptxi_parse_next(p);
    ptxi_operand_init(p, &base);
    if (ptxi_parse_at_name(p)) {
        ptxi_operand_resolve_name(p, &base);
        if (!ptxi_operand_check_base(p, &base))
            return false;
        r->kind = PTXI_RAW_ADDRESS;
        r->based = true;
        r->reg = base.reg;
        r->type = base.type;
        r->scale = (uint32_t)element;
        if (ptxi_parse_accept(p, '+') && !parse_offset(p, &index))
            return false;
    } else if (!parse_offset(p, &index)) {
        return false;
    }
    r->bare = true;
    r->offset = (int64_t)((uint64_t)index * element);
    return ptxi_parse_expect(p, ']');
}

/* Parses an index or an offset after a variable's name, outside of brackets. */
static bool parse_var_suffix(struct parser *p, struct ptxi_raw *r)
{
    if (p->tok.kind == '[')
        return parse_index(p, r);
    return !ptxi_parse_accept(p, '+') || parse_offset(p, &r->offset);
}

static bool parse_braces(struct parser *p, struct ptxi_raw *r)
{
    unsigned first = p->element_count;

    ptxi_parse_next(p);
    r->kind = PTXI_RAW_VECTOR;
    do {
        struct ptxi_raw *e = &p->elements[p->element_count];

        if (p->element_count == PTXI_MAX_ELEMENTS) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "too many vector elements: at most %d are accepted",
                             PTXI_MAX_ELEMENTS);
            return false;
        }
        p->element_count++;
        if (p->tok.kind == '{' || p->tok.kind == '[')
            return ptxi_parse_error_expected(p, "a register or a constant");
        if (!ptxi_operand_parse(p, e))
            return false;
        if (e->sum) {
            ptxi_parse_error(p, e->loc, "'%.*s' + constant cannot be an element of a vector", (int)e->loc.len, e->s);
            return false;
        }
    } while (ptxi_parse_accept(p, ','));
    r->elements = &p->elements[first];
    assert(p->element_count > first && p->element_count <= PTXI_MAX_ELEMENTS);
    r->count = (uint16_t)(p->element_count - first);
    return ptxi_parse_expect(p, '}');
}

/* Parses an address inside brackets: a register or variable with an offset, or a constant. */
static bool parse_address(struct parser *p, struct ptxi_raw *r)
{
    struct ptxi_raw base;

    r->kind = PTXI_RAW_ADDRESS;
    r->scale = 1;
    if (!ptxi_parse_at_name(p))
        return ptxi_expr_int(p, "an address", "invalid address: it must be an integer", &r->offset);
    ptxi_operand_init(p, &base);
    ptxi_operand_resolve_name(p, &base);
    if (base.kind == PTXI_RAW_VAR) {
        r->var = base.var;
    } else {
        if (base.kind == PTXI_RAW_NAME)
            return ptxi_operand_report_undefined(p, &base);
        if (base.kind != PTXI_RAW_REG || base.vector) {
            ptxi_parse_error(p, base.loc, "invalid address '%.*s': it must be a scalar register or a variable",
                             (int)base.loc.len, base.s);
            return false;
        }
        r->based = true;
        r->reg = base.reg;
        r->type = base.type;
    }
    r->loc = base.loc;
    r->s = base.s;
    return !ptxi_parse_accept(p, '+') || parse_offset(p, &r->offset);
}

/* The next operand of the instruction. NULL, with an error, if there are too many. */
static struct ptxi_raw *add_raw(struct parser *p)
{
    if (p->raw_count == PTXI_MAX_RAW) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "too many operands: at most %d are accepted", PTXI_MAX_RAW);
        return NULL;
    }
    return &p->raw[p->raw_count++];
}

/* [base+offset]. Textures and tensors have more operands inside the brackets. */
static bool parse_brackets(struct parser *p, struct ptxi_raw *r)
{
    ptxi_parse_next(p);
    if (!parse_address(p, r))
        return false;
    while (ptxi_parse_accept(p, ',')) {
        struct ptxi_raw *more = add_raw(p);

        if (more && p->tok.kind == '[')
            return ptxi_parse_error_expected(p, "an operand");
        if (!more || !ptxi_operand_parse(p, more))
            return false;
        more->inside = true;
    }
    if (!ptxi_parse_expect(p, ']'))
        return false;
    r->unified = ptxi_parse_is_word(p, "unified");
    if (r->unified)
        ptxi_parse_next(p);
    return true;
}

/* ! or - before a register, or at the start of an expression. */
static bool parse_sign(struct parser *p, struct ptxi_raw *r)
{
    struct ptxi_lexer lx = p->lx;
    struct ptxi_token tok = p->tok;
    struct ptxi_value v;

    ptxi_parse_next(p);
    if (ptxi_parse_at_name(p)) {
        if (!parse_name(p, r))
            return false;
        r->negated = tok.kind == '!';
        r->minus = tok.kind == '-';
        if (r->kind == PTXI_RAW_NAME)
            return ptxi_operand_report_undefined(p, r);
        if (r->kind == PTXI_RAW_REG)
            return true;
        ptxi_parse_error(p, r->loc, "invalid operand of '%c': it must be a register or a constant", tok.kind);
        return false;
    }
    if (tok.kind == '-' && p->tok.kind == PTXI_TOK_INT) { /* -5, the usual case */
        v = (struct ptxi_value){ PTXI_VAL_INT, p->tok.is_unsigned, -p->tok.number, r->loc };
        ptxi_parse_next(p);
        if (p->tok.kind == ',' || p->tok.kind == ';' || p->tok.kind == '}')
            return set_const(r, &v);
    }
    p->lx = lx;
    p->tok = tok;
    return parse_const(p, r);
}

bool ptxi_operand_parse(struct parser *p, struct ptxi_raw *r)
{
    ptxi_operand_init(p, r);
    switch (p->tok.kind) {
    case '_':
        r->kind = PTXI_RAW_SINK;
        ptxi_parse_next(p);
        return true;
    case '{':
        return parse_braces(p, r);
    case '[':
        return parse_brackets(p, r);
    case '!':
    case '-':
        return parse_sign(p, r);
    case PTXI_TOK_NAME:
        if (!ptxi_expr_can_start(p))
            return parse_name(p, r) && (r->kind != PTXI_RAW_VAR || parse_var_suffix(p, r));
        return parse_const(p, r);
    default:
        return ptxi_expr_can_start(p) ? parse_const(p, r) : ptxi_parse_error_expected(p, "an operand");
    }
}

bool ptxi_operand_parse_list(struct parser *p)
{
    p->raw_count = p->element_count = 0;
    if (p->tok.kind == ';')
        return true;
    do {
        struct ptxi_raw *r = add_raw(p);

        if (!r || !ptxi_operand_parse(p, r))
            return false;
        if (p->tok.kind == '|') {
            ptxi_parse_next(p);
            if (r->kind == PTXI_RAW_SINK && p->tok.kind == '_') {
                ptxi_parse_error(p, ptxi_parse_loc(p), "invalid pair '_|_': at least one half must be a register");
                return false;
            }
            if (!(r = add_raw(p)) || !ptxi_operand_parse(p, r))
                return false;
            r->pair = true;
        }
    } while (ptxi_parse_accept(p, ','));
    return true;
}
