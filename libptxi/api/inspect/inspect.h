/* What the command `ptxi` needs beyond ptxi.h: properties of modules, kernels and the build, conversion of
 * floating-point values, and the layout of matrices in registers. tools/ptxi includes no other internal header. */
#ifndef PTXI_API_INSPECT_INSPECT_H
#define PTXI_API_INSPECT_INSPECT_H

#include "ptxi.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- the build, modules and kernels */

/* How the library was built and what it selected at start. */
struct ptxi_build_info {
    unsigned lanes;        /* PTXI_LANES: 32 or 64 */
    const char *cpu_level; /* of the handlers: "portable", "v2", "v3" or "v4"; static */
};
void ptxi_inspect_build(struct ptxi_build_info *info);

struct ptxi_module_info {
    unsigned ptx_version;  /* 10 * major + minor of .version: 87 for PTX 8.7 */
    unsigned sm;           /* .target: 90 for sm_90a */
    char suffix;           /* of the target: 'a', 'f' or 0 */
    unsigned functions;    /* number of functions with a body that are not kernels */
};
ptxiResult ptxi_inspect_module(ptxiModule module, struct ptxi_module_info *info);

struct ptxi_kernel_info {
    unsigned block[3];     /* threads that .reqntid requires; all 0: any block */
    unsigned block_shared; /* bytes of shared memory that a block of the module's device profile can have */
};
ptxiResult ptxi_inspect_kernel(ptxiFunction kernel, struct ptxi_kernel_info *info);

/* ---- floating-point values */

enum ptxi_float_format { PTXI_FLOAT_F16, PTXI_FLOAT_BF16, PTXI_FLOAT_F32, PTXI_FLOAT_F64 };

double ptxi_inspect_float(enum ptxi_float_format format, uint64_t bits);

/* The bits of the value that is nearest; ties go to the even one. */
uint64_t ptxi_inspect_float_bits(enum ptxi_float_format format, double value);

/* ---- matrices */

/* Register and lane of an element, and its lowest bit in the register. */
struct ptxi_element_place {
    uint8_t lane, reg, bit;
};

/* The layout of an operand of a matrix instruction. Adjacent elements of a row, or of a column, form a group. */
struct ptxi_matrix_layout {
    char title[96];             /* instruction, shape, type and operand */
    const char *note;           /* which part of the operand the layout shows; NULL: all of it */
    unsigned rows, columns;
    unsigned group;             /* elements of a group: they are adjacent in one register */
    bool group_in_column;       /* the elements of a group are in a column, not in a row */
    bool group_is_partial;      /* a group fills only a part of the register */
    bool is_metadata;           /* of a sparse matrix: a group has 4 bits of metadata, of which `bit` is the lowest */
    struct ptxi_element_place *places; /* of element row * columns + column; the caller frees it with free() */
};

enum ptxi_layout_result { PTXI_LAYOUT_OK, PTXI_LAYOUT_UNKNOWN, PTXI_LAYOUT_WRONG_OPERAND, PTXI_LAYOUT_NO_MEMORY };

/* Find the layout of a matrix by name.
 * `name`     instruction, shape and type, such as "mma.m16n8k16.f16", "ldmatrix.m8n8.x4.trans" or "tcgen05.16x64b.x2".
 * `operand`  "A", "B", "C", "D" or "E" (metadata), with a suffix such as "D.f16"; NULL: the instruction has only one.
 * `expected` output after PTXI_LAYOUT_WRONG_OPERAND: the operands that are accepted, such as "A, C or D"; static. */
enum ptxi_layout_result ptxi_inspect_layout(const char *name, const char *operand, struct ptxi_matrix_layout *layout,
                                            const char **expected);

#endif
