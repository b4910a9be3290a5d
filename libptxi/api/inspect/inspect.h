/* The interface of the command `ptxi` beyond ptxi.h: properties of modules, kernels and the build, the contents of
 * files with fat binaries, conversion of floating-point values, and the layout of matrices in registers. tools/ptxi
 * includes no other internal header. */
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

/* ---- files with fat binaries: raw ones, objects, executables, shared libraries, static archives, cubins */

struct ptxi_binary_entry {
    unsigned number;         /* from 1, in the file */
    unsigned program;        /* from 1; 0: no program needs it */
    bool is_ptx;
    const char *kind;        /* "PTX", "SASS" or "NVVM IR"; static */
    const char *compression; /* "none", "LZ4" or "zstd"; static */
    char target[16];         /* "sm_90a" */
    size_t stored, size;     /* bytes in the file, and after decompression */
    const char *member;      /* of the archive, or NULL */
    const char *source;      /* name of the source file, or NULL */
    const struct ptxi_fatbin_entry *entry;
};

struct ptxi_binary {
    struct ptxi_binary_entry *entries;
    unsigned count;
    unsigned programs;       /* modules that the file has */
    void *memory;            /* of all strings and entries */
};

bool ptxi_inspect_is_binary(const void *data, size_t size);

/* Lists what a file contains. `data` must stay until ptxi_inspect_close_binary(). Returns NULL, or a message, static;
 * then there is nothing to close. */
const char *ptxi_inspect_open_binary(struct ptxi_binary *b, const void *data, size_t size);
void ptxi_inspect_close_binary(struct ptxi_binary *b);

/* Decompresses an entry. The caller frees it with free(); a NUL follows its bytes. Returns NULL, or a message, which is
 * static. */
const char *ptxi_inspect_extract(const struct ptxi_binary_entry *e, char **data, size_t *size);

/* Calls back with the name of each kernel of an entry. False: the entry cannot be read. */
bool ptxi_inspect_kernels(const struct ptxi_binary_entry *e, void (*found)(void *ctx, const char *name), void *ctx);

/* Takes the PTX of one program for the current context's device out of a file, in a form that can be loaded.
 * `program`  from 1.
 * `name`     of the file, for messages.
 * `strict`   as PTXI_JIT_STRICT_TARGET.
 * `text`     output; the caller frees it with free(). */
ptxiResult ptxi_inspect_program(const void *data, size_t size, unsigned program, const char *name, bool strict,
                                char **text);

/* ---- machine code */

/* The machine code of a function that the native tier makes. */
struct ptxi_native_info {
    const char *name;
    const unsigned char *bytes;
    size_t size, begin;         /* the code begins after constants */
    unsigned pieces;
    const char *const *title;   /* of each piece: its operation, or what it is */
    const unsigned *at;         /* offset of each piece, in this order */
};

/* Calls back for each function of a module, or for one that has this name. PTXI_ERROR_NOT_FOUND: there is none,
 * PTXI_ERROR_NOT_SUPPORTED: the host has no native tier. */
ptxiResult ptxi_inspect_native(ptxiModule module, const char *function,
                               void (*show)(void *ctx, const struct ptxi_native_info *info), void *ctx);

/* ---- floating-point values */

enum ptxi_float_format { PTXI_FLOAT_F16, PTXI_FLOAT_BF16, PTXI_FLOAT_F32, PTXI_FLOAT_F64 };

double ptxi_inspect_float(enum ptxi_float_format format, uint64_t bits);

/* The bits of the value that is nearest; ties go to the even one. */
uint64_t ptxi_inspect_float_bits(enum ptxi_float_format format, double value);

/* Number of modules of a restored snapshot that have not been loaded, in the current context. */
unsigned ptxi_inspect_waiting_modules(void);

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
