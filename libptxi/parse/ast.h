/* The tree of a module: what parse/ makes of PTX text after all checks, and what compile/ reads.
 * Everything lives in the module's arena; nothing is changed after ptxi_parse() returns. */
#ifndef PTXI_PARSE_AST_H
#define PTXI_PARSE_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"
#include "isa/isa.h"

#define PTXI_NO_REG UINT32_MAX

enum ptxi_space {
    PTXI_SPACE_GENERIC, /* no space written */
    PTXI_SPACE_CONST,
    PTXI_SPACE_GLOBAL,
    PTXI_SPACE_LOCAL,
    PTXI_SPACE_PARAM,
    PTXI_SPACE_SHARED,
    PTXI_SPACE_TEX,
    PTXI_SPACE_CLUSTER /* compile/: shared memory of any CTA of the cluster */
};

enum ptxi_linkage { PTXI_LINK_STATIC, PTXI_LINK_EXTERN, PTXI_LINK_VISIBLE, PTXI_LINK_WEAK, PTXI_LINK_COMMON };

struct ptxi_func;
struct ptxi_var;

/* An address inside an initialiser: `bytes` bytes at `offset` become
 * (address of var or func, made generic if so asked, plus addend), shifted right by `shift` bits (mask operator). */
struct ptxi_reloc {
    uint64_t offset;
    int64_t addend;
    const struct ptxi_var *var;
    const struct ptxi_func *func;
    uint8_t bytes;
    uint8_t shift;
    bool generic;
};

/* A variable of any addressable space, or a parameter. */
struct ptxi_var {
    const struct ptxi_name *name;
    struct ptxi_loc loc;
    uint8_t space;   /* enum ptxi_space */
    uint8_t type;    /* enum ptxi_type of one element; PTXI_T_NONE for .texref .samplerref .surfref */
    uint8_t vector;  /* 1, 2 or 4 */
    uint8_t linkage; /* enum ptxi_linkage */
    bool is_reg;     /* .reg parameter of a function */
    bool unsized;    /* x[] without a size: extern, or dynamic shared memory */
    bool managed, unified; /* .attribute */
    bool module_scope;
    bool is_ret, is_param; /* return or input parameter of a function or entry */
    uint8_t opaque;  /* 0, or 't' 's' 'f': texref, samplerref, surfref */
    uint8_t ptr_space; /* .ptr attribute of an entry parameter */
    uint32_t align;  /* bytes */
    uint32_t index;  /* position among the module's variables (module scope), the function's (body scope), or its parameters */
    uint64_t element; /* bytes of the declared element (with its vector), by which var[i] is scaled */
    uint64_t size;   /* bytes in all; 0 when unsized */
    uint32_t reg;    /* is_reg: its register in the function */
    const uint8_t *init; /* `init_size` bytes (the rest is zero), or NULL */
    uint64_t init_size;
    const struct ptxi_reloc *relocs;
    uint32_t reloc_count;
};

enum ptxi_operand_form {
    PTXI_OPD_NONE,    /* optional operand not written */
    PTXI_OPD_SINK,    /* _ */
    PTXI_OPD_REG,     /* reg */
    PTXI_OPD_IMM,     /* imm: bits of the operand's type (integers truncated, floats converted) */
    PTXI_OPD_SREG,    /* sreg: enum ptxi_sreg | component << 8 */
    PTXI_OPD_VAR,     /* address of a variable + offset */
    PTXI_OPD_FUNC,    /* address of a function or kernel */
    PTXI_OPD_LABEL,   /* target: instruction index in the function */
    PTXI_OPD_VECTOR,  /* elements */
    PTXI_OPD_ADDRESS, /* address */
    PTXI_OPD_TABLE,   /* branch targets */
    PTXI_OPD_CALL     /* call */
};

/* [base + index * scale + offset]; base is a register, a variable or nothing. */
struct ptxi_address {
    const struct ptxi_var *var; /* or NULL */
    uint32_t reg;               /* or PTXI_NO_REG; with var set it is an index, scaled by `scale` */
    uint8_t type;               /* of reg: enum ptxi_type */
    uint32_t scale;             /* 1, or the element size of var[reg] */
    int64_t offset;
    const struct ptxi_operand *sampler; /* tex: the sampler between texture and coordinates, or NULL */
};

struct ptxi_targets {
    const uint32_t *targets; /* instruction indices */
    uint32_t count;
};

/* Shape of a function: its own, or a .callprototype. */
struct ptxi_signature {
    struct ptxi_var **params, **rets;
    uint32_t param_count, ret_count;
    bool noreturn;
    uint16_t abi[2]; /* .abi_preserve and .abi_preserve_control, plus 1; 0 where not given */
};

struct ptxi_call {
    const struct ptxi_func *func; /* direct; or NULL */
    uint32_t reg;                 /* indirect: register with the function's address */
    const struct ptxi_signature *signature;
    const struct ptxi_func *const *targets; /* .calltargets of an indirect call, or NULL */
    uint32_t target_count;
    struct ptxi_operand *args, *rets; /* REG, IMM, VAR (.param variable of the caller) or SINK */
    uint32_t arg_count, ret_count;
    bool uniform;
};

/* A selector as it is written, .b0 or .h32: the letter, the number of digits, digit i from the right in bits 3i up. */
#define PTXI_SELECTOR(halves, count) ((uint16_t)((halves) << 15 | (count) << 12))
#define PTXI_SELECTOR_HALVES(s) ((s) >> 15)
#define PTXI_SELECTOR_COUNT(s) ((s) >> 12 & 7)
#define PTXI_SELECTOR_DIGIT(s, i) ((s) >> 3 * (i) & 7)

struct ptxi_operand {
    uint8_t form;     /* enum ptxi_operand_form */
    uint8_t type;     /* register: its declared type; immediate: the type it has been converted to */
    uint8_t count;    /* vector elements */
    bool negated;     /* !p, or -a of the video instructions */
    uint16_t selector; /* video: 0 none, else what PTXI_SELECTOR_* below take apart */
    uint32_t column;
    union {
        uint32_t reg;
        uint64_t imm;
        uint32_t sreg;
        uint32_t target;
        const struct ptxi_func *func;
        struct ptxi_operand *elements;
        struct ptxi_address *address;
        struct ptxi_targets *table;
        struct ptxi_call *call;
        struct {
            const struct ptxi_var *var;
            int64_t offset;
        };
    };
};

/* An instruction. operands[i] belongs to match->row->specs[i]; missing optional ones are PTXI_OPD_NONE, and operands
 * behind the last written one may be left out of the array. */
struct ptxi_inst {
    const struct ptxi_match *match; /* shared by all instructions of one spelling */
    struct ptxi_operand *operands;
    uint32_t guard; /* predicate register, or PTXI_NO_REG */
    uint32_t line;
    uint16_t column;
    uint8_t operand_count;
    bool guard_negated;
    bool mixed; /* a predicate stands among the registers of a vector, which nothing sensible comes of */
};

/* From this instruction on, code belongs to that line of a source file (.loc). */
struct ptxi_line_mark {
    uint32_t inst;
    uint32_t file, line, column;
};

struct ptxi_reg_range {
    uint32_t first, count; /* ids */
    uint8_t type;
    uint8_t vector; /* 1; 2 or 4 for .v2 .v4, whose elements have ids that follow each other */
    const struct ptxi_name *name; /* "%r" of %r<100>, or the whole name */
    bool numbered;
};

struct ptxi_func {
    const struct ptxi_name *name;
    struct ptxi_loc loc;
    struct ptxi_signature signature;
    uint32_t index; /* in the module's function list */
    uint8_t linkage;
    bool is_entry, has_body;
    const struct ptxi_func *alias_of; /* .alias */
    /* Performance-tuning directives; 0 when not given. */
    uint32_t maxntid[3], reqntid[3], maxnreg, minnctapersm, maxnctapersm, cluster[3], maxclusterrank;
    bool explicit_cluster, blocks_are_clusters;
    /* body */
    struct ptxi_inst *insts;
    uint32_t inst_count;
    struct ptxi_reg_range *regs; /* sorted by first */
    uint32_t reg_range_count, reg_count;
    struct ptxi_var **vars; /* .local .shared .param .const .global variables declared in the body */
    uint32_t var_count;
    const uint32_t *labels; /* sorted instruction indices that a label marks */
    uint32_t label_count;
    const struct ptxi_line_mark *marks;
    uint32_t mark_count;
    uint32_t end_line;
};

struct ptxi_module_tree {
    struct ptxi_arena *arena;
    struct ptxi_names *names;
    uint16_t version; /* major * 10 + minor */
    struct ptxi_target target;
    uint8_t address_size;
    bool debug, texmode_independent, map_f64_to_f32;
    struct ptxi_func **funcs;
    uint32_t func_count;
    struct ptxi_var **vars; /* module scope */
    uint32_t var_count;
    const char **files; /* .file; index 0 unused */
    uint32_t file_count;
};

/* The type of a register of f. */
enum ptxi_type ptxi_func_reg_type(const struct ptxi_func *f, uint32_t reg);

/* The spelling of a register, into buf. */
const char *ptxi_func_reg_name(const struct ptxi_func *f, uint32_t reg, char *buf, size_t size);

enum { PTXI_PARSE_OCELOT = 1, PTXI_PARSE_ANY_WIDTH = 2 };

struct ptxi_parse_options {
    const char *file;         /* for messages */
    const struct ptxi_texts *parts; /* the texts of a linked module, instead of the one text; or NULL */
    unsigned dialect;         /* PTXI_PARSE_OCELOT: accept the rows of dialect.def, too; _ANY_WIDTH: see width.c */
};

/* Parses and checks PTX text of `size` bytes (a NUL at text[size] is not needed). Returns the tree, all of it in
 * `arena`, or NULL after errors; diagnostics, warnings too, go to `diags`. NULL without an error in `diags` means out
 * of memory. Parts are linked: names without a linking directive are each part's own, the others are of the whole module, as
 * PTX ISA, "Linking Directives", and nvlink have it. `text` must live as long as diagnostics are rendered; the tree does not point into it. */
struct ptxi_module_tree *ptxi_parse(const char *text, size_t size, const struct ptxi_parse_options *options, struct ptxi_arena *arena,
                                    struct ptxi_diag *diags);

#endif
