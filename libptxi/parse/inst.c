/* Instructions: guard, opcode, operands. Calls have a syntax of their own. */
#include "parse/check_state.h"
#include "parse/match_form.h"
#include "parse/statement.h"

/* ---- call ---- */

static bool parse_args(struct parser *p, unsigned *count)
{
    *count = 0;
    if (!ptxi_parse_expect(p, '('))
        return false;
    if (ptxi_parse_accept(p, ')'))
        return true;
    do {
        struct ptxi_raw *r = &p->elements[p->element_count];

        if (p->element_count + 1 >= PTXI_MAX_ELEMENTS) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "too many arguments: at most %d are accepted",
                             PTXI_MAX_ELEMENTS - 1);
            return false;
        }
        p->element_count++;
        if (p->tok.kind == '{' || p->tok.kind == '[')
            return ptxi_parse_error_expected(p, "a register, a constant or a .param variable");
        if (!ptxi_operand_parse(p, r))
            return false;
        ++*count;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, ')');
}

/* Parses the label of a .callprototype or .calltargets at the end of an indirect call. */
static bool parse_call_shape(struct parser *p, struct ptxi_call *call)
{
    struct ptxi_found f;

    if (!ptxi_parse_accept(p, ',')) {
        ptxi_parse_error(p, ptxi_parse_loc(p),
                         "an indirect call requires the label of a .callprototype or .calltargets");
        return false;
    }
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "the label of a .callprototype or .calltargets");
    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f) ||
        (f.sym->kind != PTXI_SYM_PROTO && f.sym->kind != PTXI_SYM_TARGETS)) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'%.*s' is not the label of a previous .callprototype or .calltargets",
                         (int)p->tok.n, p->tok.s);
        return false;
    }
    if (f.sym->kind == PTXI_SYM_PROTO) {
        call->signature = f.sym->signature;
    } else {
        assert(f.sym->func_count > 0);
        call->targets = f.sym->funcs;
        call->target_count = f.sym->func_count;
        call->signature = &f.sym->funcs[0]->signature;
    }
    ptxi_parse_next(p);
    return true;
}

/* Parses the function, or the register with its address. */
static bool parse_callee(struct parser *p, struct ptxi_call *call, struct ptxi_raw *callee)
{
    ptxi_operand_init(p, callee);
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a function");
    ptxi_operand_resolve_name(p, callee);
    if (callee->kind == PTXI_RAW_FUNC) {
        if (callee->func->is_entry) {
            ptxi_parse_error(p, callee->loc, "cannot call kernel '%s'", callee->func->name->s);
            return false;
        }
        call->func = callee->func;
        call->signature = &callee->func->signature;
        return true;
    }
    call->reg = callee->reg;
    if (callee->kind == PTXI_RAW_NAME) {
        ptxi_parse_error(p, callee->loc, "use of undeclared function '%.*s'", (int)callee->loc.len, callee->s);
        return false;
    }
    return ptxi_operand_check_base(p, callee);
}

/* Checks `count` arguments or results against the parameters of the callee. */
static bool check_args(struct parser *p, const struct ptxi_raw *raw, unsigned count, struct ptxi_var *const *formals,
                       unsigned formal_count, bool result, struct ptxi_loc loc, struct ptxi_operand **out)
{
    bool variadic = !result && formal_count && formals[formal_count - 1]->unsized;

    if (count != formal_count && !(variadic && count + 1 == formal_count)) {
        ptxi_parse_error(p, loc, "wrong number of %s: expected %u, have %u", result ? "results" : "arguments",
                         formal_count, count);
        return false;
    }
    if (!(*out = ARENA_NEW(p->arena, struct ptxi_operand, count)))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!ptxi_check_arg(p, &raw[i], formals[i], result, &(*out)[i]))
            return false;
    return true;
}

/* Parses ", (arguments)", if there are any. The label of an indirect call is left. */
static bool parse_call_args(struct parser *p, const struct ptxi_call *call, unsigned *count)
{
    struct ptxi_lexer lx = p->lx;
    struct ptxi_token tok = p->tok;

    if (p->tok.kind != ',')
        return true;
    ptxi_parse_next(p);
    if (p->tok.kind == '(')
        return parse_args(p, count);
    if (call->func)
        return ptxi_parse_error_expected(p, "'('");
    p->lx = lx;
    p->tok = tok;
    return true;
}

static bool parse_call(struct parser *p, struct ptxi_call *call)
{
    const struct ptxi_signature *s;
    struct ptxi_raw callee;
    unsigned rets = 0, args = 0;

    p->element_count = 0;
    call->reg = PTXI_NO_REG;
    if (p->tok.kind == '(' && (!parse_args(p, &rets) || !ptxi_parse_expect(p, ',')))
        return false;
    if (!parse_callee(p, call, &callee) || !parse_call_args(p, call, &args))
        return false;
    if (!call->func && !parse_call_shape(p, call))
        return false;
    assert(rets + args == p->element_count);
    s = call->signature;
    call->ret_count = rets;
    call->arg_count = args;
    return check_args(p, p->elements, rets, s->rets, s->ret_count, true, callee.loc, &call->rets) &&
           check_args(p, p->elements + rets, args, s->params, s->param_count, false, callee.loc, &call->args);
}

static bool parse_call_operands(struct parser *p, struct ptxi_inst *in, const struct ptxi_opcode *opcode)
{
    struct ptxi_call *call = ARENA_NEW(p->arena, struct ptxi_call, 1);

    in->operands = ARENA_NEW(p->arena, struct ptxi_operand, 1);
    if (!call || !in->operands || !parse_call(p, call))
        return false;
    in->match = opcode->candidates->match;
    call->uniform = in->match->row->slot_count && in->match->words[0] != PTXI_NO_WORD;
    in->operands->form = PTXI_OPD_CALL;
    in->operands->type = PTXI_T_NONE;
    in->operands->column = in->column;
    in->operands->call = call;
    in->operand_count = 1;
    return true;
}

/* ---- instructions ---- */

/* Parses @p or @!p. */
static bool parse_guard(struct parser *p, struct ptxi_inst *in)
{
    struct ptxi_raw r;

    ptxi_parse_next(p);
    in->guard_negated = ptxi_parse_accept(p, '!');
    ptxi_operand_init(p, &r);
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a predicate register");
    ptxi_operand_resolve_name(p, &r);
    if (r.kind == PTXI_RAW_NAME)
        return ptxi_operand_report_undefined(p, &r);
    if (r.kind != PTXI_RAW_REG || r.type != PTXI_T_pred || r.vector || r.selector) {
        ptxi_parse_error(p, r.loc, "invalid guard '%.*s': it must be a .pred register", (int)r.loc.len, r.s);
        return false;
    }
    in->guard = r.reg;
    return true;
}

static bool parse_operands_to_end(struct parser *p)
{
    ptxi_parse_next(p);
    return ptxi_operand_parse_list(p) && (p->tok.kind == ';' || ptxi_parse_expect(p, ';'));
}

static bool is_call(const struct ptxi_opcode *opcode)
{
    const struct ptxi_candidate *c = opcode->candidates;

    return c->spec_count && c->match->row->specs[0].kind == PTXI_OPK_CALL;
}

bool ptxi_inst_parse(struct parser *p)
{
    struct ptxi_inst in = {
        .guard = PTXI_NO_REG,
        .line = p->tok.line,
        .column = (uint16_t)(p->tok.col > UINT16_MAX ? UINT16_MAX : p->tok.col),
    };
    const struct ptxi_opcode *opcode;
    struct ptxi_odd_width width;
    struct ptxi_token op;
    struct ptxi_loc loc;
    char buf[256];

    if (p->tok.kind == '@' && !parse_guard(p, &in))
        return false;
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "an instruction");
    op = p->tok;
    if (!ptxi_lex_opcode(&p->lx, &op, buf, sizeof buf))
        return false;
    loc = ptxi_token_loc(&op);
    if ((p->options->dialect & PTXI_PARSE_ANY_WIDTH) && ptxi_any_width_find(&op, &width))
        return parse_operands_to_end(p) && ptxi_any_width_emit(p, &op, &width, loc, &in) && ptxi_parse_expect(p, ';');
    if (!(opcode = ptxi_form_find(p, &op, loc)))
        return false;
    if (is_call(opcode)) {
        ptxi_parse_next(p);
        if (!parse_call_operands(p, &in, opcode))
            return false;
    } else if (!parse_operands_to_end(p) || !ptxi_check_inst(p, opcode, loc, &in)) {
        return false;
    }
    return ptxi_inst_emit(p, &in) && ptxi_parse_expect(p, ';');
}
