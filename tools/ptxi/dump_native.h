/* The machine code of functions, as text. */
#ifndef PTXI_TOOLS_DUMP_NATIVE_H
#define PTXI_TOOLS_DUMP_NATIVE_H

#include "ptxi.h"

/* Prints each operation of a function, or of all functions, with its machine code: as instructions if objdump can be
 * started, else as bytes. */
ptxiResult ptxi_cmd_dump_native(ptxiModule m, const char *function);

#endif
