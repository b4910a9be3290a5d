/* What the files that check operands share. */
#ifndef PTXI_PARSE_CHECK_H
#define PTXI_PARSE_CHECK_H

#include "parse/parser.h"

/* An instruction that is compared with a candidate for it. */
struct check {
    struct parser *p;
    const struct ptxi_spelling *sp;
    const struct ptxi_candidate *c;
    struct ptxi_inst *in;
    struct ptxi_operand *out;
    struct ptxi_loc loc; /* of the instruction's name */
    unsigned reached;    /* operands that fitted */
    bool quiet;          /* only asking */
    bool mixed;          /* struct ptxi_inst */
};

/* False, with an error at the place and the forms that the candidate's row accepts; nothing is said while only asking. */
bool ptxi_check_fail(struct check *k, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Integers and untyped bits. */
static inline bool ptxi_is_bits(char class)
{
    return class == 'U' || class == 'S' || class == 'B';
}

static inline bool ptxi_is_integer(enum ptxi_type t)
{
    return t != PTXI_T_NONE && (ptxi_types[t].class == 'U' || ptxi_types[t].class == 'S');
}

/* check_value.c: registers, constants, vectors of them. Whether a register of type `reg` may stand where `want` is asked for, with `wider` a wider
 * one, too. */
bool ptxi_check_fits(enum ptxi_type want, enum ptxi_type reg, bool wider);
/* The constant as operand of type t; of an `argument` more is taken. */
bool ptxi_check_to_const(const struct ptxi_raw *r, enum ptxi_type t, bool argument, struct ptxi_operand *o);
bool ptxi_check_const(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, struct ptxi_operand *o);
bool ptxi_check_sink(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, bool allowed, struct ptxi_operand *o);
/* One register, constant, special register, symbol or, if allowed, sink. */
bool ptxi_check_scalar(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type want, bool sink, struct ptxi_operand *o);
/* Operand i of the instruction, alone or a vector. */
bool ptxi_check_value(struct check *k, const struct ptxi_raw *r, unsigned i, struct ptxi_operand *o);
extern const char *const ptxi_check_space_names[]; /* by enum ptxi_space */

/* check_address.c: the state space of the nth address, and operand i, which is that address. */
enum ptxi_space ptxi_check_space(const struct ptxi_candidate *c, unsigned nth);
bool ptxi_check_address(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned nth, struct ptxi_operand *o);

static inline bool ptxi_is_far(enum ptxi_space space)
{
    return space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_GENERIC;
}

#endif
