/* Names of functions of the program, and the places of their source. */
#ifndef PTXI_API_OBSERVE_SYMBOL_H
#define PTXI_API_OBSERVE_SYMBOL_H

#include "base/str.h"

#include <stdbool.h>

/* Appends the function that contains the instruction at an address, such as "main at prog.cu:12", or as much of it as
 * is known. Returns true if the function is main(). Callers hold no lock. */
bool ptxi_symbol_describe(void *address, struct ptxi_str *out);

#endif
