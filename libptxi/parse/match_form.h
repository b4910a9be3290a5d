/* From an opcode to the rows of the instruction table that it can mean.
 *
 * An opcode is an instruction's name with its qualifiers: "add.sat.s32". The rows that accept the qualifiers are its
 * candidates. The operands then decide among the candidates (check_state.h). */
#ifndef PTXI_PARSE_MATCH_FORM_H
#define PTXI_PARSE_MATCH_FORM_H

#include "parse/parser.h"

/* On some targets ptxas replaces an instruction by others, and then checks the type of each register separately. */
enum ptxi_expansion {
    PTXI_SAME_ON_ALL_TARGETS,
    PTXI_EXPANDED,    /* replaced on the module's target */
    PTXI_NOT_EXPANDED /* replaced on other targets only */
};

/* One row that accepts an opcode, with everything that is known before the operands are. */
struct ptxi_candidate {
    const struct ptxi_match *match;
    struct ptxi_candidate *next;
    uint8_t types[PTXI_MAX_OPERANDS];   /* enum ptxi_type of each operand */
    uint8_t vectors[PTXI_MAX_OPERANDS]; /* number of elements of each operand, 0 for a scalar */
    uint8_t spec_count;
    uint8_t spaces[2]; /* enum ptxi_space of the first and second state space qualifier */
    uint8_t space_count, address_count;
    uint8_t expansion; /* enum ptxi_expansion */
    bool plain;        /* operands correspond to specs one to one: none is optional, a pair or inside brackets */
    bool available;    /* in the module's PTX version and target */
};

struct ptxi_opcode {
    const char *s;
    uint32_t n;
    struct ptxi_candidate *candidates; /* at least one; the available ones come first */
    UT_hash_handle hh;
};

/* The candidates of an opcode, from a cache. NULL after an error. */
const struct ptxi_opcode *ptxi_form_find(struct parser *p, const struct ptxi_token *op, struct ptxi_loc loc);

/* Adds a note that shows the syntax of a row. */
void ptxi_form_note_accepted(struct parser *p, const struct ptxi_row *row);

/* Reports which PTX version or target the form `s` requires, if the module does not have it. */
void ptxi_form_report_requirement(struct parser *p, const struct ptxi_match *m, struct ptxi_loc loc, const char *s,
                                  size_t n);

#endif
