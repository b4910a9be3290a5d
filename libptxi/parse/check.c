/* Checks operands against the candidates of an opcode: finds the row that accepts them, or the error if no row does. */
#include "parse/check_state.h"

#include "isa/op.gen.h"

/* ---- one operand ---- */

static bool check_label(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_operand *o)
{
    o->column = r->loc.col;
    o->type = PTXI_T_NONE;
    if (s->kind == PTXI_OPK_TABLE) {
        if (r->kind != PTXI_RAW_LABEL || r->sym->kind != PTXI_SYM_BRANCHES)
            return ptxi_check_fail(k, r->loc, "'%.*s' is not the label of a previous .branchtargets", (int)r->loc.len,
                                   r->s);
        o->form = PTXI_OPD_TABLE;
        o->table = r->sym->table;
        return true;
    }
    if (r->kind == PTXI_RAW_VECTOR || r->kind == PTXI_RAW_CONST || r->kind == PTXI_RAW_ADDRESS ||
        r->kind == PTXI_RAW_SINK)
        return ptxi_check_fail_operand(k, r->loc, s, "must be a label");
    o->form = PTXI_OPD_LABEL; /* commit() sets its target, when the address of the operand is final */
    return true;
}

static bool check_operand(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned *addresses,
                          struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->row->specs[i];

    assert(i < k->row->spec_count);
    switch (s->kind) {
    case PTXI_OPK_VALUE:
        return ptxi_check_value(k, r, i, o);
    case PTXI_OPK_IMMEDIATE:
        o->column = r->loc.col;
        if (r->kind != PTXI_RAW_CONST)
            return ptxi_check_fail_operand(k, r->loc, s, "must be a constant");
        return ptxi_check_const(k, r, s, k->candidate->types[i], o);
    case PTXI_OPK_ADDRESS:
        return ptxi_check_address(k, r, i, (*addresses)++, o);
    case PTXI_OPK_SINK:
        if (r->kind != PTXI_RAW_SINK)
            return ptxi_check_fail_operand(k, r->loc, s, "must be '_'");
        return ptxi_check_sink(k, r, s, true, o);
    default:
        return check_label(k, r, s, o);
    }
}

static bool fail_missing(struct check *k, const struct ptxi_opspec *s)
{
    return ptxi_check_fail(k, k->loc, "missing operand %s of '%.*s'", s->name, (int)k->opcode->n, k->opcode->s);
}

static bool fail_pair(struct check *k, const struct ptxi_raw *r)
{
    return ptxi_check_fail(k, r->loc, "'%.*s' does not accept a second destination", (int)k->opcode->n, k->opcode->s);
}

static bool fail_extra(struct check *k, const struct ptxi_raw *r)
{
    return ptxi_check_fail(k, r->loc, "too many operands for '%.*s'", (int)k->opcode->n, k->opcode->s);
}

/* ---- samplers ---- */

/* With .target texmode_unified ptxas accepts any variable here. */
static bool may_be_sampler(const struct check *k, const struct ptxi_raw *r)
{
    if (r->kind == PTXI_RAW_VAR)
        return !r->offset && ((r->var->opaque == 's' && !r->var->array) || !k->p->ast->texmode_independent);
    return r->kind == PTXI_RAW_REG && !r->vector && ptxi_check_reg_fits(PTXI_T_u64, r->type, false);
}

/* Moves the sampler between a texture and its coordinates, if there is one, to the address of the texture. */
static bool check_sampler(struct check *k, unsigned i, unsigned *next, struct ptxi_operand *texture)
{
    struct ptxi_opspec spec = { .name = "sampler", .kind = PTXI_OPK_VALUE, .flags = PTXI_OPF_SYMBOL };
    unsigned want = 0, have = 0;
    struct ptxi_operand *sampler;
    const struct ptxi_raw *r;

    while (i + want < k->row->spec_count && (k->row->specs[i + want].flags & PTXI_OPF_COORDS))
        want++;
    while (*next + have < k->p->raw_count && k->p->raw[*next + have].inside)
        have++;
    if (have != want + 1 && k->p->ast->texmode_independent)
        return ptxi_check_fail(k, k->loc,
                               "'%.*s' requires a sampler after the texture with .target texmode_independent",
                               (int)k->opcode->n, k->opcode->s);
    if (have != want + 1)
        return true;
    r = &k->p->raw[(*next)++];
    if (!may_be_sampler(k, r))
        return ptxi_check_fail(k, r->loc,
                               "invalid sampler: it must be a .samplerref variable or a 64-bit integer register");
    if (!(sampler = ARENA_NEW(k->p->arena, struct ptxi_operand, 1)))
        return false;
    assert(texture->form == PTXI_OPD_ADDRESS);
    texture->address->sampler = sampler;
    return ptxi_check_scalar(k, r, &spec, PTXI_T_b64, false, sampler);
}

/* ---- rules of single instructions ---- */

/* PTX ISA, "Scalar Video Instructions: vmad": either the product or the addend may be negated. */
static bool check_negated_addend(struct check *k)
{
    const struct ptxi_raw *raw = k->p->raw;

    if (k->p->raw_count != 4 || !raw[3].minus || raw[1].minus == raw[2].minus)
        return true;
    return ptxi_check_fail(k, raw[3].loc, "'%.*s' cannot negate both the product and the addend", (int)k->opcode->n,
                           k->opcode->s);
}

/* PTX ISA, "createpolicy": the primary size must not exceed the total size. */
static bool check_policy_sizes(struct check *k)
{
    const struct ptxi_operand *o = k->out;
    uint32_t primary, total;

    if (k->row->family != PTXI_M_createpolicy || k->p->raw_count != 4 || o[2].form != PTXI_OPD_IMM ||
        o[3].form != PTXI_OPD_IMM)
        return true;
    primary = (uint32_t)o[2].imm;
    total = (uint32_t)o[3].imm;
    if (primary <= total)
        return true;
    return ptxi_check_fail(k, k->p->raw[2].loc, "invalid primary size %u: it must not exceed the total size, %u",
                           primary, total);
}

/* The type that element e of coordinates or derivatives must have. Coordinates of type .b32 begin with a layer. */
static enum ptxi_type gradient_type(const struct check *k, unsigned i, unsigned e)
{
    bool coords = k->row->specs[i].flags & PTXI_OPF_COORDS;

    if (!coords)
        return PTXI_T_f32;
    if (k->candidate->types[i] == PTXI_T_b32 && e == 0)
        return PTXI_T_u32;
    return ptxi_isa_slot(k->candidate->match, "C");
}

static bool check_gradient_elements(struct check *k, unsigned i)
{
    const struct ptxi_operand *vector = &k->out[i];

    for (unsigned e = 0; e < vector->count; e++) {
        enum ptxi_type want = gradient_type(k, i, e);

        if (vector->elements[e].form == PTXI_OPD_REG && !ptxi_check_reg_fits(want, vector->elements[e].type, false))
            return ptxi_check_fail_operand(k, k->loc, &k->row->specs[i],
                                           "must have registers of type .%s or .b32 if a depth or an offset follows",
                                           ptxi_types[want].name);
    }
    return true;
}

/* ptxas replaces tex.grad with a depth or a single offset by a call, and then checks the type of each register. */
static bool check_gradient(struct check *k)
{
    const struct ptxi_row *row = k->row;
    unsigned n = row->spec_count;

    while (n > 1 && k->out[n - 1].form == PTXI_OPD_NONE)
        n--;
    if (row->family != PTXI_M_tex || !ptxi_isa_has(k->candidate->match, "grad"))
        return true;
    if (k->out[n - 1].form == PTXI_OPD_VECTOR || row->specs[n - 1].flags & PTXI_OPF_COORDS)
        return true; /* neither a depth nor a single offset */
    for (unsigned i = 0; i < n; i++) {
        const struct ptxi_opspec *s = &row->specs[i];

        if (s->flags & PTXI_OPF_WRITE || k->out[i].form != PTXI_OPD_VECTOR)
            continue;
        if (!(s->flags & PTXI_OPF_COORDS) && k->candidate->types[i] != PTXI_T_f32)
            continue;
        if (!check_gradient_elements(k, i))
            return false;
    }
    return true;
}

static bool is_texture(const struct ptxi_row *row)
{
    return row->family == PTXI_M_tex || row->family == PTXI_M_tld4;
}

/* ---- all operands ---- */

/* Checks operands of which some are optional, second halves of pairs, or inside brackets. */
static bool check_list(struct check *k)
{
    const struct ptxi_row *row = k->row;
    const struct ptxi_raw *raw = k->p->raw;
    unsigned next = 0, n = k->p->raw_count, addresses = 0;

    for (unsigned i = 0; i < row->spec_count; i++, k->reached++) {
        const struct ptxi_opspec *s = &row->specs[i];
        bool pair = s->flags & PTXI_OPF_PAIR, inside = s->flags & PTXI_OPF_COORDS;

        if (i && (s->flags & PTXI_OPF_SAMPLER) && !check_sampler(k, i, &next, &k->out[i - 1]))
            return false;
        assert(next <= n);
        if (next == n || raw[next].pair != pair || raw[next].inside != inside) {
            if (s->flags & PTXI_OPF_OPTIONAL)
                continue;
            return next < n && raw[next].pair ? fail_pair(k, &raw[next]) : fail_missing(k, s);
        }
        if (pair && k->p->version < 71 && is_texture(row))
            return ptxi_check_fail(k, raw[next].loc, "the residency predicate of a texture requires PTX 7.1 or later");
        if (!check_operand(k, &raw[next], i, &addresses, &k->out[i]))
            return false;
        next++;
    }
    if (next < n)
        return fail_extra(k, &raw[next]);
    return !row->spec_count || check_gradient(k);
}

/* Checks operands that correspond to the specs of the row one to one. */
static bool check_plain(struct check *k)
{
    const struct ptxi_row *row = k->row;
    unsigned n = k->p->raw_count, addresses = 0;

    for (unsigned i = 0; i < n; i++, k->reached++) {
        const struct ptxi_raw *r = &k->p->raw[i];

        if (r->pair)
            return fail_pair(k, r);
        if (i == row->spec_count || r->inside)
            return fail_extra(k, r);
        if (!check_operand(k, r, i, &addresses, &k->out[i]))
            return false;
    }
    return n == row->spec_count ? check_negated_addend(k) && check_policy_sizes(k) : fail_missing(k, &row->specs[n]);
}

/* ---- scales of matrices ---- */

/* The bits that the first selector of a scale may have: it is the first byte of the scales. */
static int64_t byte_selector_bits(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_kind__mxf8f6f4))
        return 3;
    return ptxi_isa_has_word(m, PTXI_Q_scale_vec__4X) ? 0 : 2;
}

/* PTX ISA, "Block Scaling for mma.sync": the last operand, and the one two before it, are a byte and a lane. */
static bool check_scale_selectors(struct check *k)
{
    static const char *const values[] = { "0", "0 or 1", "0 or 2", "0 to 3" };
    const struct ptxi_match *m = k->candidate->match;

    if (k->row->family != PTXI_M_mma || !ptxi_isa_has_word(m, PTXI_Q_block_scale))
        return true;
    for (unsigned back = 1; back <= 3; back += 2) {
        const struct ptxi_operand *ids = &k->out[k->candidate->spec_count - back];
        const int64_t allowed[] = { byte_selector_bits(m), back == 1 ? 3 : 1 };

        for (unsigned i = 0; i < 2; i++)
            if (ids->elements[i].form == PTXI_OPD_IMM && (int64_t)ids->elements[i].imm & ~allowed[i])
                return ptxi_check_fail(k, k->p->raw[k->p->raw_count - back].loc, "the %s of a scale must be %s",
                                       i ? "lane" : "byte", values[allowed[i]]);
    }
    return true;
}

static bool check_candidate(struct check *k, const struct ptxi_candidate *c)
{
    k->candidate = c;
    k->row = c->match->row;
    k->reached = 0;
    k->meaningless = PTXI_MEANINGFUL;
    return (c->plain ? check_plain(k) : check_list(k)) && check_scale_selectors(k);
}

/* ---- the candidate that accepts the operands ---- */

/* Warns of a register that is narrower than an address, which is probably a mistake. Notes addresses of 32 bits. */
static void check_widths(struct check *k)
{
    unsigned nth = 0;

    for (unsigned i = 0; i < k->p->raw_count && nth < k->candidate->address_count; i++) {
        const struct ptxi_raw *r = &k->p->raw[i];
        enum ptxi_space space;

        if (r->kind != PTXI_RAW_ADDRESS)
            continue;
        space = ptxi_check_address_space(k->candidate, nth++);
        if (i < k->row->spec_count && k->candidate->types[i] != PTXI_T_NONE)
            continue; /* tensor memory: its addresses have a width of their own */
        if (!r->based || r->var || !ptxi_is_wide_space(space))
            continue;
        k->p->narrow_addresses |= ptxi_types[r->type].bits <= 32;
        if (ptxi_types[r->type].bits < k->p->ast->address_size)
            ptxi_parse_warn(k->p, r->loc, "'%.*s' is a %u-bit register, but an address in %s space has %u bits",
                            (int)r->loc.len, r->s, ptxi_types[r->type].bits, ptxi_check_space_names[space],
                            k->p->ast->address_size);
    }
}

/* Stores the target of a branch in its operand. */
static bool use_label(struct check *k)
{
    const struct ptxi_raw *r = &k->p->raw[0];

    return ptxi_scope_use_label(k->p, r->s, r->loc.len, r->loc, &k->out[0].target);
}

/* Completes the instruction. */
static bool commit(struct check *k)
{
    unsigned n = k->candidate->spec_count;

    if (k->candidate->address_count)
        check_widths(k);
    if (n && k->candidate->types[0] == PTXI_T_u32 && k->row->family == PTXI_M_cvta) {
        if (k->p->ast->address_size == 64) {
            ptxi_parse_error(k->p, k->loc, "'%.*s' requires .address_size 32", (int)k->opcode->n, k->opcode->s);
            return false;
        }
        k->p->narrow_addresses = true;
    }
    while (n && k->out[n - 1].form == PTXI_OPD_NONE)
        n--;
    k->in->match = k->candidate->match;
    k->in->meaningless = k->meaningless;
    k->in->operand_count = (uint8_t)n;
    k->in->operands = k->out;
    return n == 0 || k->row->specs[0].kind != PTXI_OPK_LABEL || use_label(k);
}

/* True if c is a better candidate for a message than `best`, which accepts `furthest` operands. */
static bool is_better(const struct check *k, const struct ptxi_candidate *c, const struct ptxi_candidate *best,
                      unsigned furthest)
{
    if (!best)
        return true;
    if (c->available != best->available)
        return c->available;
    return k->reached > furthest;
}

/* No available candidate accepts the operands. Reports why, for the candidate that accepts the most of them. */
static bool report(struct check *k)
{
    struct ptxi_operand out[PTXI_MAX_OPERANDS] = { 0 };
    const struct ptxi_candidate *best = NULL;
    unsigned furthest = 0;

    k->out = out;
    k->quiet = true;
    for (const struct ptxi_candidate *c = k->opcode->candidates; c; c = c->next) {
        if (check_candidate(k, c)) { /* a form that the version or target does not have */
            ptxi_form_report_requirement(k->p, c->match, k->loc, k->opcode->s, k->opcode->n);
            return false;
        }
        if (is_better(k, c, best, furthest)) {
            best = c;
            furthest = k->reached;
        }
    }
    assert(best);
    k->quiet = false;
    if (best->available)
        check_candidate(k, best);
    else
        ptxi_form_report_requirement(k->p, best->match, k->loc, k->opcode->s, k->opcode->n);
    return false;
}

/* ---- an address inside the brackets of the one before it ---- */

static bool is_tensor_load(const struct ptxi_row *row)
{
    const struct ptxi_opspec *s = row->specs;

    return row->spec_count > 2 && s[0].kind == PTXI_OPK_ADDRESS && s[1].kind == PTXI_OPK_ADDRESS &&
           s[2].flags & PTXI_OPF_COORDS;
}

/* Makes [dst], [map, {...}] of [dst, map, {...}], which ptxas accepts for copies from tensors. */
static void split_brackets(struct parser *p, const struct ptxi_opcode *opcode)
{
    struct ptxi_raw *dst = p->raw, *map = p->raw + 1;

    if (p->raw_count < 3 || !map->inside || !p->raw[2].inside || dst->offset)
        return;
    if (!is_tensor_load(opcode->candidates->match->row))
        return;
    if (map->kind == PTXI_RAW_REG && !map->vector && !map->selector && !map->negated && !map->minus && !map->sum)
        ptxi_raw_add_brackets(map);
    else if (map->kind != PTXI_RAW_VAR || map->offset)
        return;
    map->kind = PTXI_RAW_ADDRESS;
    map->inside = false;
}

bool ptxi_check_inst(struct parser *p, const struct ptxi_opcode *opcode, struct ptxi_loc loc, struct ptxi_inst *in)
{
    struct check k = { .p = p, .opcode = opcode, .in = in, .loc = loc, .quiet = true };
    unsigned room = 0;

    split_brackets(p, opcode);
    for (const struct ptxi_candidate *c = opcode->candidates; c && c->available; c = c->next) {
        if (c->spec_count > room || !room) {
            room = c->spec_count;
            if (!(k.out = ARENA_NEW(p->arena, struct ptxi_operand, room)))
                return false;
        } else {
            memset(k.out, 0, room * sizeof *k.out);
        }
        if (check_candidate(&k, c))
            return commit(&k);
    }
    return !p->arena->oom && report(&k);
}
