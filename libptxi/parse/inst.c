/* Instructions: guard, name, operands, and calls, which have a form of their own. */
#include "parse/parser.h"

/* ---- call ---- */

static bool parse_args(struct parser *p, unsigned *count)
{
    *count = 0;
    if (!ptxi_parse_want(p, '('))
        return false;
    if (ptxi_parse_accept(p, ')'))
        return true;
    do {
        struct ptxi_raw *r = &p->elements[p->element_count];

        if (p->element_count + 1 >= PTXI_MAX_ELEMENTS) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "too many arguments");
            return false;
        }
        p->element_count++;
        if (p->tok.kind == '{' || p->tok.kind == '[')
            return ptxi_parse_expected(p, "a register, constant or .param variable");
        if (!ptxi_operand_parse(p, r))
            return false;
        ++*count;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_want(p, ')');
}

/* The label of a prototype or of a list of targets, behind an indirect call. */
static bool parse_call_shape(struct parser *p, struct ptxi_call *call)
{
    struct ptxi_found f;

    if (!ptxi_parse_accept(p, ',')) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "an indirect call needs the label of a .callprototype or .calltargets");
        return false;
    }
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "the label of a .callprototype or .calltargets");
    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f) || (f.sym->kind != PTXI_SYM_PROTO && f.sym->kind != PTXI_SYM_TARGETS)) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'%.*s' is not the label of a .callprototype or .calltargets before this call", (int)p->tok.n, p->tok.s);
        return false;
    }
    if (f.sym->kind == PTXI_SYM_PROTO) {
        call->signature = f.sym->signature;
    } else {
        call->targets = f.sym->funcs;
        call->target_count = f.sym->func_count;
        call->signature = &f.sym->funcs[0]->signature;
    }
    ptxi_parse_next(p);
    return true;
}

static bool parse_callee(struct parser *p, struct ptxi_call *call, struct ptxi_raw *callee)
{
    ptxi_operand_start(p, callee);
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a function");
    ptxi_operand_name(p, callee);
    if (callee->kind == PTXI_RAW_FUNC) {
        if (callee->func->is_entry) {
            ptxi_parse_error(p, callee->loc, "'%s' is a kernel and cannot be called", callee->func->name->s);
            return false;
        }
        call->func = callee->func;
        call->signature = &callee->func->signature;
        return true;
    }
    call->reg = callee->reg;
    if (callee->kind == PTXI_RAW_NAME) {
        ptxi_parse_error(p, callee->loc, "function '%.*s' is not declared", (int)callee->loc.len, callee->s);
        return false;
    }
    return ptxi_operand_want_address(p, callee);
}

static bool check_args(struct parser *p, const struct ptxi_raw *raw, unsigned count, struct ptxi_var *const *formals, unsigned formal_count, bool result,
                       struct ptxi_loc loc, struct ptxi_operand **out)
{
    bool open = !result && formal_count && formals[formal_count - 1]->unsized;

    if (count != formal_count && !(open && count + 1 == formal_count)) {
        ptxi_parse_error(p, loc, "%u %s given, %u needed", count, result ? "results" : "arguments", formal_count);
        return false;
    }
    if (!(*out = ARENA_NEW(p->arena, struct ptxi_operand, count)))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!ptxi_check_arg(p, &raw[i], formals[i], result, &(*out)[i]))
            return false;
    return true;
}

static bool parse_call(struct parser *p, struct ptxi_call *call)
{
    struct ptxi_raw callee;
    unsigned rets = 0, args = 0;

    p->element_count = 0;
    call->reg = PTXI_NO_REG;
    if (p->tok.kind == '(' && (!parse_args(p, &rets) || !ptxi_parse_want(p, ',')))
        return false;
    if (!parse_callee(p, call, &callee))
        return false;
    if (p->tok.kind == ',') {
        struct ptxi_lexer lx = p->lx;
        struct ptxi_token tok = p->tok;

        ptxi_parse_next(p);
        if (p->tok.kind == '(') {
            if (!parse_args(p, &args))
                return false;
        } else if (!call->func) {
            p->lx = lx;
            p->tok = tok;
        } else {
            return ptxi_parse_expected(p, "'('");
        }
    }
    if (!call->func && !parse_call_shape(p, call))
        return false;
    call->ret_count = rets;
    call->arg_count = args;
    return check_args(p, p->elements, rets, call->signature->rets, call->signature->ret_count, true, callee.loc, &call->rets) &&
           check_args(p, p->elements + rets, args, call->signature->params, call->signature->param_count, false, callee.loc, &call->args);
}

static bool call_instruction(struct parser *p, struct ptxi_inst *in, const struct ptxi_spelling *sp)
{
    struct ptxi_call *call = ARENA_NEW(p->arena, struct ptxi_call, 1);

    in->operands = ARENA_NEW(p->arena, struct ptxi_operand, 1);
    if (!call || !in->operands || !parse_call(p, call))
        return false;
    in->match = sp->candidates->match;
    call->uniform = in->match->row->slot_count && in->match->words[0] != PTXI_NO_WORD;
    in->operands->form = PTXI_OPD_CALL;
    in->operands->type = PTXI_T_NONE;
    in->operands->column = in->column;
    in->operands->call = call;
    in->operand_count = 1;
    return true;
}

/* ---- the whole ---- */

static bool parse_guard(struct parser *p, struct ptxi_inst *in)
{
    struct ptxi_raw r;

    ptxi_parse_next(p);
    in->guard_negated = ptxi_parse_accept(p, '!');
    ptxi_operand_start(p, &r);
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a predicate register");
    ptxi_operand_name(p, &r);
    if (r.kind == PTXI_RAW_NAME)
        return ptxi_operand_undefined(p, &r);
    if (r.kind != PTXI_RAW_REG || r.type != PTXI_T_pred || r.vector || r.selector) {
        ptxi_parse_error(p, r.loc, "'%.*s' is not a predicate register", (int)r.loc.len, r.s);
        return false;
    }
    in->guard = r.reg;
    return true;
}

static bool add_mark(struct parser *p)
{
    struct ptxi_line_mark *m;

    p->mark_pending = false;
    if (!(m = ptxi_vec_push(p, &p->marks, sizeof *m)))
        return false;
    *m = p->mark;
    m->inst = (uint32_t)p->insts.count;
    return true;
}

bool ptxi_inst_push(struct parser *p, const struct ptxi_inst *in)
{
    struct ptxi_inst *slot;

    if ((p->mark_pending && !add_mark(p)) || !(slot = ptxi_vec_push(p, &p->insts, sizeof *in)))
        return false;
    *slot = *in;
    return true;
}

static bool parse_operands_to_end(struct parser *p)
{
    ptxi_parse_next(p);
    return ptxi_operand_list(p) && (p->tok.kind == ';' || ptxi_parse_want(p, ';'));
}

bool ptxi_inst_parse(struct parser *p)
{
    struct ptxi_inst in = { .guard = PTXI_NO_REG, .line = p->tok.line, .column = (uint16_t)(p->tok.col > UINT16_MAX ? UINT16_MAX : p->tok.col) };
    const struct ptxi_spelling *sp;
    struct ptxi_width width;
    struct ptxi_token op;
    struct ptxi_loc loc;
    char buf[256];

    if (p->tok.kind == '@' && !parse_guard(p, &in))
        return false;
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "an instruction");
    op = p->tok;
    if (!ptxi_lex_opcode(&p->lx, &op, buf, sizeof buf))
        return false;
    loc = ptxi_token_loc(&op);
    if ((p->options->dialect & PTXI_PARSE_ANY_WIDTH) && ptxi_width_find(&op, &width))
        return parse_operands_to_end(p) && ptxi_width_inst(p, &op, &width, loc, &in) && ptxi_parse_want(p, ';');
    if (!(sp = ptxi_spell_find(p, &op, loc)))
        return false;
    if (sp->candidates->spec_count && sp->candidates->match->row->specs[0].kind == PTXI_OPK_CALL) {
        ptxi_parse_next(p);
        if (!call_instruction(p, &in, sp))
            return false;
    } else if (!parse_operands_to_end(p) || !ptxi_check_inst(p, sp, loc, &in)) {
        return false;
    }
    return ptxi_inst_push(p, &in) && ptxi_parse_want(p, ';');
}
