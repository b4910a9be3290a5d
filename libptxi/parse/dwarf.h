/* The variables in DWARF data: those with a constant place in memory that a name stands for. */
#ifndef PTXI_PARSE_DWARF_H
#define PTXI_PARSE_DWARF_H

#include <stddef.h>
#include <stdint.h>

/* The content of .debug_info and .debug_abbrev. A name in .debug_info is 0, or the number that is added to it. */
struct ptxi_dwarf {
    const uint8_t *info, *abbrev;
    size_t info_size, abbrev_size;
};

struct ptxi_dwarf_variable {
    size_t at;        /* where .debug_info has the name */
    uint64_t offset;  /* bytes from what has the name */
    uint64_t size;    /* bytes; 0: not known */
    const char *name; /* in .debug_info; NULL: not known */
};

/* Calls `found` for each variable and each parameter of a function. Any data is harmless: what is malformed or not
 * supported ends the search. DWARF 2 to 4 are supported. */
void ptxi_dwarf_find_variables(const struct ptxi_dwarf *d, void *ctx,
                               void (*found)(void *ctx, const struct ptxi_dwarf_variable *v));

#endif
