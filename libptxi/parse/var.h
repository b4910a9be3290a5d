/* What the files that read variables share. */
#ifndef PTXI_PARSE_VAR_H
#define PTXI_PARSE_VAR_H

#include "parse/parser.h"

/* A variable's extent, and its initialiser while it is read. */
struct init {
    struct parser *p;
    const struct ptxi_var *v;
    uint64_t dims[PTXI_MAX_DIMENSIONS + 1]; /* extents, the vector's last; 0 where the initialiser decides */
    uint64_t stride[PTXI_MAX_DIMENSIONS + 1]; /* bytes of one element of that dimension */
    unsigned dim_count;
    unsigned scalar; /* bytes */
    uint64_t limit;  /* bytes that an initialiser may come to */
};

/* init.c: from behind '=' on; `loc` is the place of that. */
bool ptxi_init_parse(struct init *in, struct ptxi_var *v, struct ptxi_loc loc);

/* declare.c: gives the variable its name, or adds what it says to the variable that has the name already. */
bool ptxi_var_keep(struct parser *p, struct ptxi_var *v, const struct ptxi_token *name);

#endif
