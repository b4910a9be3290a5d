/* Places in the source that PTX was compiled from. */
#ifndef PTXI_ISA_SOURCE_LINE_H
#define PTXI_ISA_SOURCE_LINE_H

#include <stdint.h>

/* A call that the compiler has replaced by the body of the function. */
struct ptxi_inlined_call {
    const char *function;                   /* the mangled name, or NULL if it is not known */
    uint32_t file, line, column;            /* the place of the call */
    const struct ptxi_inlined_call *caller; /* how the code around the call was inlined in turn, or NULL */
};

/* A place in the source that the PTX was compiled from. It belongs to the syntax tree. */
struct ptxi_source_line {
    uint32_t file; /* an index into the module's files; 0 if there is none */
    uint32_t line, column;
    const struct ptxi_inlined_call *inlined; /* NULL: the code is the kernel's own */
};

#endif
