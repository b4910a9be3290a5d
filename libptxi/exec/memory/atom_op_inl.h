/* Unpacks the parameter ATOM of an operation (exec/memory/atom.def), and defines the function of its new value. */
#include "exec/memory/atom_op.h"

#define NAME ATOM_FIELD(ATOM_FIELD_NAME, ATOM)
#define KIND ATOM_FIELD(ATOM_FIELD_KIND, ATOM)
#define T ATOM_FIELD(ATOM_FIELD_TYPE, ATOM)
#define NAMED(function) ATOM_PASTE(NAME, function)

/* The value that replaces `old`. */
static inline __attribute__((always_inline)) T NAMED(new_value)(T old, T x, T y, bool shared)
{
    (void)old, (void)x, (void)y, (void)shared;
    return (T)(ATOM_FIELD(ATOM_FIELD_NEW, ATOM));
}
