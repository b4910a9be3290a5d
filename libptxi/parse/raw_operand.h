/* Operands as they are written in the text, before they are checked against an instruction. */
#ifndef PTXI_PARSE_RAW_OPERAND_H
#define PTXI_PARSE_RAW_OPERAND_H

#include "parse/ast.h"

struct parser;
struct ptxi_sym;
struct ptxi_entry;

enum ptxi_raw_kind {
    PTXI_RAW_SINK,
    PTXI_RAW_REG,
    PTXI_RAW_CONST,
    PTXI_RAW_SREG,
    PTXI_RAW_VAR,     /* var, var+offset, var[constant] */
    PTXI_RAW_FUNC,
    PTXI_RAW_NAME,    /* not declared: may be a label */
    PTXI_RAW_VECTOR,  /* {...} */
    PTXI_RAW_ADDRESS, /* [...], or var[register+constant] */
    PTXI_RAW_LABEL    /* label of a .branchtargets, .calltargets or .callprototype */
};

struct ptxi_raw {
    uint8_t kind;     /* enum ptxi_raw_kind */
    uint8_t type;     /* registers: enum ptxi_type */
    uint8_t vector;   /* registers: number of elements, 0 for a scalar */
    uint8_t value_kind; /* constants: enum ptxi_value_kind */
    bool is_unsigned;
    bool negated;     /* !p */
    bool minus;       /* -r, of a register */
    bool pair;        /* second operand of a pair d|p */
    bool inside;      /* inside the brackets of the address before it */
    bool based;       /* address: reg is valid */
    bool bare;        /* var[index] without brackets around it */
    bool unified;     /* [address].unified */
    bool sum;         /* register + constant, in `bits` */
    uint16_t count;   /* vector: number of elements */
    uint16_t selector; /* as in struct ptxi_operand */
    struct ptxi_loc loc;
    const char *s;    /* its text, loc.len characters */
    uint32_t reg;     /* register, or base register of an address; enum ptxi_sreg | element << 8 */
    union {
        uint64_t bits;
        int64_t offset;
        struct ptxi_raw *elements;
    };
    union {
        const struct ptxi_var *var;
        const struct ptxi_func *func;
        struct ptxi_sym *sym;
        struct ptxi_entry *entry;
    };
    uint32_t scale;   /* address: bytes by which the register is multiplied */
};

/* Makes the address of a register that holds one. */
static inline void ptxi_raw_add_brackets(struct ptxi_raw *r)
{
    r->based = true;
    r->offset = 0;
    r->var = NULL;
    r->scale = 1;
}

/* Parses operands up to ';' into p->raw. */
bool ptxi_operand_parse_list(struct parser *p);
bool ptxi_operand_parse(struct parser *p, struct ptxi_raw *r);

/* Clears *r and gives it the location of the current token. */
void ptxi_operand_init(struct parser *p, struct ptxi_raw *r);

/* Gives *r the meaning of the name at the current token, and passes over the name. */
void ptxi_operand_resolve_name(struct parser *p, struct ptxi_raw *r);

/* Reports an undefined name; false. */
bool ptxi_operand_report_undefined(struct parser *p, const struct ptxi_raw *r);

/* Checks that *r is a register that can hold an index, an address or a function. */
bool ptxi_operand_check_base(struct parser *p, const struct ptxi_raw *r);

bool ptxi_operand_is_sreg(const char *s, size_t n);

#endif
