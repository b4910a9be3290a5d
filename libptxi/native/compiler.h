/* From bytecode to machine code.
 *
 *     struct ptxi_native_builder c = { .x.wide = ..., .code = code, .table = handlers };
 *     if (ptxi_native_compile(&c))
 *         ... c.x.bytes, c.x.size, c.start, c.entry
 *     ptxi_native_builder_free(&c); */
#ifndef PTXI_NATIVE_COMPILER_H
#define PTXI_NATIVE_COMPILER_H

#include "native/builder.h"

/* Compiles a function. False: memory is short, or the function is too large. */
bool ptxi_native_compile(struct ptxi_native_builder *c);
void ptxi_native_builder_free(struct ptxi_native_builder *c);

#endif
