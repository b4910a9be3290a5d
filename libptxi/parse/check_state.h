/* Checks of operands against the rows of the instruction table.
 *
 * check.c is for inst.c. The other functions are what the files check*.c share. */
#ifndef PTXI_PARSE_CHECK_STATE_H
#define PTXI_PARSE_CHECK_STATE_H

#include "parse/match_form.h"

/* The check of one instruction against one candidate. */
struct check {
    struct parser *p;
    const struct ptxi_opcode *opcode;
    const struct ptxi_candidate *candidate;
    const struct ptxi_row *row; /* of the candidate */
    struct ptxi_inst *in;
    struct ptxi_operand *out; /* one per spec of the row */
    struct ptxi_loc loc;      /* of the opcode */
    unsigned reached;         /* number of operands that the candidate accepts */
    bool quiet;               /* no messages: other candidates may accept the operands */
    uint8_t meaningless;      /* as in struct ptxi_inst */
};

/* ---- check.c ---- */

/* Checks the operands in p->raw. Uses the first candidate that accepts them, and fills in->match and in->operands. */
bool ptxi_check_inst(struct parser *p, const struct ptxi_opcode *opcode, struct ptxi_loc loc, struct ptxi_inst *in);

/* ---- check_call.c ---- */

/* Checks a register, constant or variable as the argument or result of a call, for the parameter `formal`. */
bool ptxi_check_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, bool result,
                    struct ptxi_operand *out);

/* ---- check_report.c ---- */

/* Reports an error and the syntax of the candidate's row, unless k->quiet; false. */
bool ptxi_check_fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same. The message begins with "operand NAME of 'OPCODE' ". */
bool ptxi_check_fail_operand(struct check *k, struct ptxi_loc loc, const struct ptxi_opspec *s, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

extern const char *const ptxi_check_space_names[]; /* by enum ptxi_space */

/* ---- check_value.c: registers, constants and vectors of them ---- */

/* True if a register of type `reg` is accepted where an operand of type `want` is. `wider`: also a wider register. */
bool ptxi_check_reg_fits(enum ptxi_type want, enum ptxi_type reg, bool wider);
/* Converts a constant to an operand of type t. An argument of a call accepts more constants. */
bool ptxi_check_convert_const(const struct ptxi_raw *r, enum ptxi_type t, bool argument, struct ptxi_operand *o);
bool ptxi_check_const(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                      struct ptxi_operand *o);
bool ptxi_check_sink(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, bool allowed,
                     struct ptxi_operand *o);
/* Checks one register, constant, special register, symbol or, if `sink`, '_'. */
bool ptxi_check_scalar(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want,
                       bool sink, struct ptxi_operand *o);
/* Checks operand i of the instruction, a scalar or vector. */
bool ptxi_check_value(struct check *k, const struct ptxi_raw *r, unsigned i, struct ptxi_operand *o);

/* ---- check_address.c ---- */

/* The state space that the instruction names for its nth address. */
enum ptxi_space ptxi_check_address_space(const struct ptxi_candidate *c, unsigned nth);
/* Checks operand i, which is the nth address of the instruction. */
bool ptxi_check_address(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned nth, struct ptxi_operand *o);

/* ---- types and spaces ---- */

/* Integers and untyped bits. */
static inline bool ptxi_is_bits_class(char class)
{
    return class == 'U' || class == 'S' || class == 'B';
}

static inline bool ptxi_is_integer(enum ptxi_type t)
{
    return t != PTXI_T_NONE && (ptxi_types[t].class == 'U' || ptxi_types[t].class == 'S');
}

/* True if addresses in this space are as wide as .address_size says. */
static inline bool ptxi_is_wide_space(enum ptxi_space space)
{
    return space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_GENERIC;
}

#endif
