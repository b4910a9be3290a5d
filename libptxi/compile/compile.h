/* From the syntax tree to bytecode.
 *
 *     struct ptxi_layout *layout = ptxi_layout_module(tree, reserved, &arena);
 *     ... allocate layout->globals, fill the constant bank ...
 *     struct ptxi_code *code = ptxi_compile(layout, func, &options, &arena, &diags);
 *
 * Compilation is lazy: one function at a time, after the module is loaded. Compilations only read the tree and the
 * layout, so several may run at once. The caller must lock the arena and the diagnostics. */
#ifndef PTXI_COMPILE_COMPILE_H
#define PTXI_COMPILE_COMPILE_H

#include "base/str.h"
#include "compile/ir/options.h"
#include "compile/lower/layout.h"
#include "isa/bytecode.h"
#include "parse/ast.h"

enum {
    PTXI_MAX_LOCAL = 512 << 10,                       /* bytes of .local memory of a thread */
    PTXI_MAX_LOCAL_VARIABLES = PTXI_MAX_LOCAL - 1024, /* bytes of them for a kernel's variables */
    PTXI_COMPILED_LOCAL = 16 << 20                    /* a function with more bytes of variables is not compiled */
};

/* Whether the forms of a row have operations that execute them. */
bool ptxi_compile_executes(const struct ptxi_row *row);

/* The code of a function that has a body, or NULL: with an error in `diags` if bytecode cannot hold the function,
 * without one if memory is short. Code with unsupported_count > 0 must not be launched: it contains legal instructions
 * that nothing executes yet. */
struct ptxi_code *ptxi_compile(const struct ptxi_layout *layout, const struct ptxi_func *func,
                               const struct ptxi_compile_options *options,
                               struct ptxi_arena *arena, struct ptxi_diag *diags);

/* Appends a listing of the bytecode, for people. */
void ptxi_dump(const struct ptxi_code *code, struct ptxi_str *out);
/* The same for one instruction, without the end of the line. */
void ptxi_dump_insn(const struct ptxi_code *code, uint32_t index, struct ptxi_str *out);

#endif
