/* Constant expressions (PTX ISA, "Constant Expressions"). */
#ifndef PTXI_PARSE_EXPR_H
#define PTXI_PARSE_EXPR_H

#include "parse/parser.h"

enum { PTXI_MAX_EXPR_DEPTH = 200 }; /* nested operators and parentheses */

enum ptxi_value_kind { PTXI_VAL_INT, PTXI_VAL_F64, PTXI_VAL_F32 };

struct ptxi_value {
    uint8_t kind; /* enum ptxi_value_kind */
    bool is_unsigned;
    uint64_t bits;
    struct ptxi_loc loc;
};

/* True if the current token can begin an expression. */
bool ptxi_expr_can_start(const struct parser *p);

bool ptxi_expr_parse(struct parser *p, struct ptxi_value *out);

/* Parses one integer in lo..hi, not an expression. `what` names it in messages. */
bool ptxi_expr_uint(struct parser *p, uint64_t lo, uint64_t hi, const char *what, uint64_t *out);

/* Parses an expression that must have an integer value. `what` names it in messages, `wrong` is the message for a
 * float. */
bool ptxi_expr_int(struct parser *p, const char *what, const char *wrong, int64_t *out);

/* Parses the expression after the '+' of an address. */
bool ptxi_expr_offset(struct parser *p, int64_t *out);

/* Converts a value to a constant of type t. False for an integer where a float is needed, and for a float where an
 * integer is needed. */
bool ptxi_expr_convert(const struct ptxi_value *v, enum ptxi_type t, bool initializer, uint64_t *bits);

/* At a name that is not the name of a constant, as WARP_SZ is. */
static inline bool ptxi_parse_at_name(const struct parser *p)
{
    return p->tok.kind == PTXI_TOK_NAME && !ptxi_expr_can_start(p);
}

#endif
