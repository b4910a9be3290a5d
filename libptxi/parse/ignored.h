/* Modifiers that ptxas accepts in every instruction, and ignores (isa/ignored.def). */
#ifndef PTXI_PARSE_IGNORED_H
#define PTXI_PARSE_IGNORED_H

#include "parse/parser.h"

enum { PTXI_MAX_QUALIFIERS = 24 }; /* qualifiers of an opcode */

/* True if the row accepts the qualifiers without some that ptxas ignores. */
bool ptxi_form_match_ignoring(const struct ptxi_family *f, const struct ptxi_row *row, const uint16_t *words,
                              unsigned count, struct ptxi_match *m);

#endif
