/* Variables of the source in .local variables, as debug data describes them. */
#ifndef PTXI_PARSE_DEBUG_VARIABLES_H
#define PTXI_PARSE_DEBUG_VARIABLES_H

#include "parse/parser.h"

/* A section whose content is kept. */
enum ptxi_debug_section { PTXI_SECTION_OTHER, PTXI_SECTION_STR, PTXI_SECTION_INFO, PTXI_SECTION_ABBREV };

/* Appends a number of `bits` bits. False if memory is short. */
bool ptxi_debug_add_number(struct parser *p, enum ptxi_debug_section section, uint64_t number, unsigned bits);
/* Whether the next value of a section may be the place of a variable, and its name, before the number is added. */
bool ptxi_debug_expects_place(const struct parser *p, enum ptxi_debug_section section, unsigned bits);
bool ptxi_debug_add_place(struct parser *p, const struct ptxi_name *name);

/* The .local variables of this text get their parts. Its debug data is complete, and is dropped. */
void ptxi_debug_end_text(struct parser *p);

#endif
