/* Calls that the compiler has inlined, as .loc directives describe them. */
#ifndef PTXI_PARSE_INLINED_H
#define PTXI_PARSE_INLINED_H

#include "parse/parser.h"

/* The name of a function: a label in .section .debug_str, and a number of bytes. */
struct ptxi_inlined_label {
    struct ptxi_entry *entry;
    uint64_t offset;
};

/* Notes the .loc in p->mark. `call` is the place where its function was inlined; NULL: it is not inlined. A caller's
 * place has its own .loc before. False if memory is short. */
bool ptxi_inlined_note(struct parser *p, const struct ptxi_source_line *call, const struct ptxi_inlined_label *name);

/* Resolves the names of all calls of this text. Its .debug_str is complete. */
void ptxi_inlined_end_text(struct parser *p);

#endif
