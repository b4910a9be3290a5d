/* Arguments and results of calls. */
#include "parse/check_state.h"

/* Parameters of these types cannot be passed, as in ptxas. */
static bool is_too_narrow(enum ptxi_type t)
{
    return t == PTXI_T_pred || (ptxi_types[t].bits < 32 && ptxi_is_integer(t));
}

static bool is_array(const struct ptxi_var *formal)
{
    return formal->unsized || formal->size != formal->element;
}

static bool fail_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, const char *why)
{
    ptxi_parse_error(p, r->loc, "'%.*s' does not match parameter '%s': %s", (int)r->loc.len, r->s,
                     formal->name ? formal->name->s : "_", why);
    return false;
}

static const char wrong_kind[] = "it must be a register or a .param variable of the caller";

static bool check_arg_var(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal,
                          struct ptxi_operand *o)
{
    const struct ptxi_var *v = r->var;
    bool array = is_array(formal);

    if (v->space != PTXI_SPACE_PARAM || v->is_param || v->is_ret || r->offset)
        return fail_arg(p, r, formal, wrong_kind);
    if (!formal->unsized && v->size != formal->size)
        return fail_arg(p, r, formal, "their sizes differ");
    if ((array || v->size != v->element) && v->align != formal->align)
        return fail_arg(p, r, formal, "their alignments differ");
    if (!array && v->size == v->element && !ptxi_check_reg_fits(formal->type, v->type, false))
        return fail_arg(p, r, formal, "their types differ");
    o->form = PTXI_OPD_VAR;
    o->type = v->type;
    o->var = v;
    o->offset = 0;
    return true;
}

/* A vector register for a vector parameter (.reg .v2 .u32). */
static bool check_arg_vector(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal,
                             struct ptxi_operand *o)
{
    if (r->vector != formal->vector || !ptxi_check_reg_fits(formal->type, r->type, false))
        return fail_arg(p, r, formal, "their types differ");
    if (!(o->elements = ARENA_NEW(p->arena, struct ptxi_operand, r->vector)))
        return false;
    o->form = PTXI_OPD_VECTOR;
    o->type = r->type;
    o->count = r->vector;
    for (unsigned e = 0; e < r->vector; e++)
        o->elements[e] = (struct ptxi_operand){ .form = PTXI_OPD_REG, .type = r->type, .reg = r->reg + e };
    return true;
}

bool ptxi_check_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, bool result,
                    struct ptxi_operand *o)
{
    bool array = is_array(formal);

    o->column = r->loc.col;
    if (!array && is_too_narrow(formal->type))
        return fail_arg(p, r, formal,
                        "a predicate or an integer of 8 or 16 bits cannot be passed, use .b8, .b16 or a wider type");
    if (r->kind == PTXI_RAW_VAR)
        return check_arg_var(p, r, formal, o);
    if (r->kind == PTXI_RAW_SINK && result) {
        o->form = PTXI_OPD_SINK;
        return true;
    }
    if (r->kind == PTXI_RAW_NAME)
        return ptxi_operand_report_undefined(p, r);
    if (array)
        return fail_arg(p, r, formal, "it must be a .param array");
    if (r->kind == PTXI_RAW_REG && r->vector && formal->vector > 1)
        return check_arg_vector(p, r, formal, o);
    if (r->kind == PTXI_RAW_REG && !r->vector && formal->vector <= 1 && !r->sum && !r->selector && !r->negated &&
        !r->minus) {
        if (!ptxi_check_reg_fits(formal->type, r->type, false))
            return fail_arg(p, r, formal, "their types differ");
        o->form = PTXI_OPD_REG;
        o->type = r->type;
        o->reg = r->reg;
        return true;
    }
    if (r->kind == PTXI_RAW_CONST && !result && formal->vector <= 1)
        return ptxi_check_convert_const(r, formal->type, true, o) || fail_arg(p, r, formal, "their types differ");
    return fail_arg(p, r, formal, wrong_kind);
}
