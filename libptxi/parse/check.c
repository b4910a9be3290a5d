/* Operands against the table: which row of a spelling takes them, and what is wrong if none does. */
#include "parse/check.h"

#include "isa/op.gen.h"

static bool check_label(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    o->type = PTXI_T_NONE;
    if (s->kind == PTXI_OPK_TABLE) {
        if (r->kind != PTXI_RAW_LABEL || r->sym->kind != PTXI_SYM_BRANCHES)
            return ptxi_check_fail(k, r->loc, "'%.*s' is not the label of a .branchtargets before this instruction", (int)r->loc.len, r->s);
        o->form = PTXI_OPD_TABLE;
        o->table = r->sym->table;
        return true;
    }
    if (r->kind == PTXI_RAW_VECTOR || r->kind == PTXI_RAW_CONST || r->kind == PTXI_RAW_ADDRESS || r->kind == PTXI_RAW_SINK)
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be a label", s->name, (int)k->sp->n, k->sp->s);
    o->form = PTXI_OPD_LABEL; /* its target follows when the operands have their place */
    return true;
}

static bool check_operand(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned *addresses, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];

    switch (s->kind) {
    case PTXI_OPK_VALUE:
        return ptxi_check_value(k, r, i, o);
    case PTXI_OPK_IMMEDIATE:
        o->column = r->loc.col;
        return r->kind == PTXI_RAW_CONST ? ptxi_check_const(k, r, s, k->c->types[i], o)
                                         : ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be a constant", s->name, (int)k->sp->n, k->sp->s);
    case PTXI_OPK_ADDRESS:
        return ptxi_check_address(k, r, i, (*addresses)++, o);
    case PTXI_OPK_SINK:
        return r->kind == PTXI_RAW_SINK ? ptxi_check_sink(k, r, s, true, o)
                                        : ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be the sink _", s->name, (int)k->sp->n, k->sp->s);
    default:
        return check_label(k, r, s, o);
    }
}

static bool fail_few(struct check *k, const struct ptxi_opspec *s)
{
    struct ptxi_loc loc = k->loc;

    return ptxi_check_fail(k, loc, "'%.*s' needs an operand %s", (int)k->sp->n, k->sp->s, s->name);
}

/* Where textures have modes of their own, ptxas does not look at what stands here. */
static bool may_be_sampler(const struct check *k, const struct ptxi_raw *r)
{
    if (r->kind == PTXI_RAW_VAR)
        return !r->offset && (r->var->opaque == 's' || !k->p->tree->texmode_independent);
    return r->kind == PTXI_RAW_REG && !r->vector && ptxi_check_fits(PTXI_T_u64, r->type, false);
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
        return ptxi_check_fail(k, k->loc, "'%.*s' takes a sampler behind the texture, with .target texmode_independent", (int)k->sp->n, k->sp->s);
    if (have != want + 1)
        return true;
    r = &k->p->raw[(*next)++];
    if (!may_be_sampler(k, r))
        return ptxi_check_fail(k, r->loc, "a sampler must be a .samplerref or a 64-bit integer register");
    if (!(sampler = ARENA_NEW(k->p->arena, struct ptxi_operand, 1)))
        return false;
    texture->address->sampler = sampler;
    return ptxi_check_scalar(k, r, &name, PTXI_T_b64, false, sampler);
}

/* PTX ISA, "Scalar Video Instructions: vmad": a negated product and a negated summand do not meet. */
static bool check_minus(struct check *k)
{
    const struct ptxi_raw *raw = k->p->raw;

    if (k->p->raw_count != 4 || !raw[3].minus || raw[1].minus == raw[2].minus)
        return true;
    return ptxi_check_fail(k, raw[3].loc, "'%.*s' cannot negate both the product and the summand", (int)k->sp->n, k->sp->s);
}

/* PTX ISA, "createpolicy": the primary size is not above the total. */
static bool check_sizes(struct check *k)
{
    const struct ptxi_operand *o = k->out;

    if (k->c->match->row->family != PTXI_M_createpolicy || k->p->raw_count != 4 || o[2].form != PTXI_OPD_IMM || o[3].form != PTXI_OPD_IMM ||
        (uint32_t)o[2].imm <= (uint32_t)o[3].imm)
        return true;
    return ptxi_check_fail(k, k->p->raw[2].loc, "the primary size %u is above the total, %u", (uint32_t)o[2].imm, (uint32_t)o[3].imm);
}

/* Of derivatives with a depth or one offset ptxas makes a call, and looks at each register. */
static bool check_depth(struct check *k)
{
    const struct ptxi_row *row = k->c->match->row;
    uint16_t type = ptxi_isa_slot(k->c->match, "C");
    unsigned n = row->spec_count;

    while (n > 1 && k->out[n - 1].form == PTXI_OPD_NONE)
        n--;
    if (k->out[n - 1].form == PTXI_OPD_VECTOR || row->specs[n - 1].flags & PTXI_OPF_COORDS || row->family != PTXI_M_tex || !ptxi_isa_has(k->c->match, "grad"))
        return true;
    for (unsigned i = 0; i < n; i++) {
        const struct ptxi_opspec *s = &row->specs[i];
        bool coords = s->flags & PTXI_OPF_COORDS, layer = coords && k->c->types[i] == PTXI_T_b32;

        if (s->flags & PTXI_OPF_WRITE || k->out[i].form != PTXI_OPD_VECTOR || (!coords && k->c->types[i] != PTXI_T_f32))
            continue;
        for (unsigned e = 0; e < k->out[i].count; e++) {
            const struct ptxi_operand *o = &k->out[i].elements[e];
            enum ptxi_type want = !coords ? PTXI_T_f32 : layer && e == 0 ? PTXI_T_u32 : type;

            if (o->form == PTXI_OPD_REG && !ptxi_check_fits(want, o->type, false))
                return ptxi_check_fail(k, k->loc, "operand %s of '%.*s' with what follows has registers of type .%s or .b32", s->name, (int)k->sp->n,
                                       k->sp->s, ptxi_types[want].name);
        }
    }
    return true;
}

static bool is_texture(const struct ptxi_row *row)
{
    return row->family == PTXI_M_tex || row->family == PTXI_M_tld4;
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
                return ptxi_check_fail(k, raw[next].loc, "'%.*s' has no second destination here", (int)k->sp->n, k->sp->s);
            return fail_few(k, s);
        }
        if (pair && k->p->version < 71 && is_texture(row))
            return ptxi_check_fail(k, raw[next].loc, "whether a texture is resident requires PTX 7.1 or later");
        if (!check_operand(k, &raw[next], i, &addresses, &k->out[i]))
            return false;
        next++;
    }
    if (next < n)
        return ptxi_check_fail(k, raw[next].loc, "'%.*s' has too many operands", (int)k->sp->n, k->sp->s);
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
            return ptxi_check_fail(k, r->loc, "'%.*s' %s", (int)k->sp->n, k->sp->s, r->pair ? "has no second destination here" : "has too many operands");
        if (!check_operand(k, r, i, &addresses, &k->out[i]))
            return false;
    }
    return n == row->spec_count ? check_minus(k) && check_sizes(k) : fail_few(k, &row->specs[n]);
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
        space = ptxi_check_space(k->c, nth++);
        if (i < k->c->match->row->spec_count && k->c->types[i] != PTXI_T_NONE) /* tensor memory, whose addresses have a width of their own */
            continue;
        if (r->based && !r->var && ptxi_types[r->type].bits < k->p->tree->address_size && ptxi_is_far(space))
            ptxi_parse_warn(k->p, r->loc, "'%.*s' has %u bits: an address in %s space has %u", (int)r->loc.len, r->s, ptxi_types[r->type].bits,
                            ptxi_check_space_names[space], k->p->tree->address_size);
    }
}

static bool commit(struct check *k)
{
    unsigned n = k->c->spec_count;

    if (k->c->address_count)
        warn_narrow(k);
    if (k->p->tree->address_size == 64 && n && k->c->types[0] == PTXI_T_u32 && k->c->match->row->family == PTXI_M_cvta) {
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
    return t == PTXI_T_pred || (ptxi_types[t].bits < 32 && ptxi_is_integer(t));
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
    if (!array && v->size == v->element && !ptxi_check_fits(formal->type, v->type, false))
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
        if (!ptxi_check_fits(formal->type, r->type, false))
            return fail_arg(p, r, formal, "types differ");
        o->form = PTXI_OPD_REG;
        o->type = r->type;
        o->reg = r->reg;
        return true;
    }
    if (r->kind == PTXI_RAW_CONST && !result)
        return ptxi_check_to_const(r, formal->type, true, o) || fail_arg(p, r, formal, "types differ");
    return fail_arg(p, r, formal, "a register or a .param variable of the caller's body is needed");
}
