/* The syntax tree (AST) of a module, the result of parse/ after all checks and the input of compile/.
 *
 * All of it is in the module's arena. Nothing changes after ptxi_parse() returns. */
#ifndef PTXI_PARSE_AST_H
#define PTXI_PARSE_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"
#include "isa/isa.h"
#include "isa/source_line.h"

#define PTXI_NO_REG UINT32_MAX

enum ptxi_space {
    PTXI_SPACE_GENERIC, /* the instruction names no space */
    PTXI_SPACE_CONST,
    PTXI_SPACE_GLOBAL,
    PTXI_SPACE_LOCAL,
    PTXI_SPACE_PARAM,
    PTXI_SPACE_SHARED,
    PTXI_SPACE_TEX,
    PTXI_SPACE_CLUSTER /* only in compile/: shared memory of any CTA of the cluster */
};

enum ptxi_linkage { PTXI_LINK_STATIC, PTXI_LINK_EXTERN, PTXI_LINK_VISIBLE, PTXI_LINK_WEAK, PTXI_LINK_COMMON };

struct ptxi_func;
struct ptxi_var;

/* An address in an initializer. The bytes at `offset` become the address of `var` or `func` plus `addend`, shifted
 * right by `shift` bits (mask operator). */
struct ptxi_reloc {
    uint64_t offset;
    int64_t addend;
    const struct ptxi_var *var;
    const struct ptxi_func *func;
    uint8_t bytes; /* number of bytes that are written */
    uint8_t shift;
    bool generic;  /* the address is converted to a generic address first */
};

/* A variable of the source in a .local variable, or several that share memory. */
struct ptxi_var_part {
    uint32_t offset, size; /* bytes */
    const char *name;      /* NULL: not known */
};

/* A variable in any state space, or a parameter. */
struct ptxi_var {
    const struct ptxi_name *name;
    struct ptxi_loc loc;
    uint8_t space;   /* enum ptxi_space */
    uint8_t type;    /* enum ptxi_type of one element; PTXI_T_NONE for .texref .samplerref .surfref */
    uint8_t vector;  /* 1, 2 or 4 */
    uint8_t linkage; /* enum ptxi_linkage */
    bool is_reg;     /* .reg parameter of a function */
    bool array;      /* declared with dimensions */
    bool unsized;    /* x[] without a size: an extern variable, or dynamic shared memory */
    bool managed, unified; /* .attribute */
    bool module_scope;
    bool is_ret, is_param; /* return or input parameter of a function or entry */
    uint8_t opaque;  /* 0, or 't' 's' 'f': texref, samplerref, surfref */
    uint8_t ptr_space; /* .ptr attribute of an entry parameter */
    uint32_t align;  /* bytes */
    uint32_t index;  /* position in the list of the module, of the function's body, or of its parameters */
    uint64_t element; /* bytes of one element, a scalar or vector; the index of var[i] is multiplied by it */
    uint64_t size;   /* bytes of the variable; 0 when unsized */
    uint32_t reg;    /* is_reg: its register id in the function */
    const uint8_t *init; /* initial value of the first `init_size` bytes, or NULL; the rest is zero */
    uint64_t init_size;
    const struct ptxi_reloc *relocs;
    uint32_t reloc_count;
    const struct ptxi_var_part *parts; /* as far as debug data tells, in the order of their offsets */
    uint32_t part_count;
};

enum ptxi_operand_form {
    PTXI_OPD_NONE,    /* an optional operand that is not written */
    PTXI_OPD_SINK,    /* _ */
    PTXI_OPD_REG,     /* reg */
    PTXI_OPD_SUM,     /* base + addend: an integer register + a constant */
    PTXI_OPD_IMM,     /* imm: a constant, converted to the operand's type */
    PTXI_OPD_SREG,    /* sreg: enum ptxi_sreg | element << 8 */
    PTXI_OPD_VAR,     /* var, offset: address of a variable + offset */
    PTXI_OPD_FUNC,    /* func: address of a function or kernel */
    PTXI_OPD_LABEL,   /* target: instruction index in the function */
    PTXI_OPD_VECTOR,  /* elements */
    PTXI_OPD_ADDRESS, /* address */
    PTXI_OPD_TABLE,   /* table: branch targets */
    PTXI_OPD_CALL     /* call */
};

/* [var + reg * scale + offset]. Each part may be missing. */
struct ptxi_address {
    const struct ptxi_var *var; /* or NULL */
    uint32_t reg;               /* or PTXI_NO_REG */
    uint8_t type;               /* enum ptxi_type of reg */
    uint32_t scale;             /* the element size for var[reg], else 1 */
    int64_t offset;
    const struct ptxi_operand *sampler; /* tex: the sampler between texture and coordinates, or NULL */
};

struct ptxi_targets {
    const uint32_t *targets; /* instruction indices */
    uint32_t count;
};

/* Parameters and results of a function or of a .callprototype. */
struct ptxi_signature {
    struct ptxi_var **params, **rets;
    uint32_t param_count, ret_count;
    bool noreturn;
    uint16_t abi[2]; /* value of .abi_preserve and .abi_preserve_control, plus 1; 0 if not given */
};

struct ptxi_call {
    const struct ptxi_func *func; /* the function of a direct call, else NULL */
    uint32_t reg;                 /* indirect call: the register with the function's address */
    const struct ptxi_signature *signature;
    const struct ptxi_func *const *targets; /* .calltargets of an indirect call, or NULL */
    uint32_t target_count;
    struct ptxi_operand *args, *rets; /* REG, IMM, VAR (.param variable of the caller) or SINK */
    uint32_t arg_count, ret_count;
    bool uniform; /* call.uni */
};

/* A selector of a video instruction such as .b0 or .h32: the letter, the number of digits, and the digits. Digit i
 * from the right is in bits 3i to 3i + 2. */
#define PTXI_SELECTOR(halves, count) ((uint16_t)((halves) << 15 | (count) << 12))
#define PTXI_SELECTOR_HALVES(s) ((s) >> 15)
#define PTXI_SELECTOR_COUNT(s) ((s) >> 12 & 7)
#define PTXI_SELECTOR_DIGIT(s, i) ((s) >> 3 * (i) & 7)

struct ptxi_operand {
    uint8_t form;     /* enum ptxi_operand_form */
    uint8_t type;     /* register: its declared type; constant: the type that it was converted to */
    uint8_t count;    /* vector: number of elements */
    bool negated;     /* !p, or -a of the video instructions */
    uint16_t selector; /* video instructions: PTXI_SELECTOR_..., 0 if there is none */
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
        struct {
            uint32_t base;
            int64_t addend;
        };
    };
};

/* Why no program can use an instruction that ptxas accepts. A launch that reaches it fails. */
enum ptxi_meaningless {
    PTXI_MEANINGFUL,
    PTXI_PREDICATE_AS_BITS, /* a predicate in a vector, or in place of a number */
    PTXI_NO_MBARRIER        /* a copy has a mask or a cache policy in place of its mbarrier */
};

/* An instruction. operands[i] belongs to match->row->specs[i]. An optional operand that is not written is
 * PTXI_OPD_NONE. The array ends with the last operand that is written. */
struct ptxi_inst {
    const struct ptxi_match *match; /* shared by all instructions with the same opcode */
    struct ptxi_operand *operands;
    uint32_t guard; /* predicate register, or PTXI_NO_REG */
    uint32_t line;
    uint16_t column;
    uint8_t operand_count;
    bool guard_negated;
    bool intends_race; /* between pragmas of include/ptxi_annotate.h */
    uint8_t meaningless; /* enum ptxi_meaningless */
};

/* A .loc: the code from instruction `inst` on belongs to this line of a source file. */
struct ptxi_line_mark {
    uint32_t inst;
    struct ptxi_source_line source;
};

struct ptxi_reg_range {
    uint32_t first, count; /* ids */
    uint8_t type;
    uint8_t vector; /* 2 or 4 for .v2 and .v4 (elements have consecutive ids), else 1 */
    const struct ptxi_name *name; /* the prefix "%r" of %r<100>, or the whole name */
    bool numbered;  /* declared as a range %r<n> */
};

struct ptxi_func {
    const struct ptxi_name *name;
    struct ptxi_loc loc;
    struct ptxi_signature signature;
    uint32_t index; /* in the module's function list */
    uint8_t linkage;
    bool is_entry, has_body;
    const struct ptxi_func *alias_of; /* .alias */
    /* Performance-tuning directives; 0 if not given. */
    uint32_t maxntid[3], reqntid[3], maxnreg, minnctapersm, maxnctapersm, cluster[3], maxclusterrank;
    bool explicit_cluster, blocks_are_clusters;
    bool has_cta_memory;      /* .minperctamemory is given, with this value */
    uint32_t minperctamemory;
    /* body */
    struct ptxi_inst *insts;
    uint32_t inst_count;
    struct ptxi_reg_range *regs; /* sorted by first */
    uint32_t reg_range_count;
    uint32_t reg_count; /* number of register ids */
    struct ptxi_var **vars; /* variables of any state space that are declared in the body */
    uint32_t var_count;
    const uint32_t *labels; /* sorted indices of the instructions that have a label */
    uint32_t label_count;
    const struct ptxi_line_mark *marks;
    uint32_t mark_count;
    uint32_t end_line;
};

/* The index of the function that a call of f executes. */
static inline uint32_t ptxi_func_called(const struct ptxi_func *f)
{
    return f->alias_of ? f->alias_of->index : f->index;
}

struct ptxi_module_ast {
    struct ptxi_arena *arena;
    struct ptxi_names *names;
    uint16_t version; /* major * 10 + minor */
    struct ptxi_target target;
    uint8_t address_size;
    bool debug, texmode_independent, map_f64_to_f32;
    struct ptxi_func **funcs;
    uint32_t func_count;
    struct ptxi_var **vars; /* of module scope */
    uint32_t var_count;
    const char **files; /* names by their number in .file, or NULL */
    uint32_t file_count;
};

/* The type of a register of f. */
enum ptxi_type ptxi_ast_reg_type(const struct ptxi_func *f, uint32_t reg);

/* Writes the name of a register to buf, and returns buf. */
const char *ptxi_ast_reg_name(const struct ptxi_func *f, uint32_t reg, char *buf, size_t size);

/* Dialects. */
enum {
    PTXI_PARSE_OCELOT = 1,   /* also accept the rows of dialect.def */
    PTXI_PARSE_ANY_WIDTH = 2 /* integers of any width, see any_width.c */
};

struct ptxi_parse_options {
    const char *file; /* name of the text, for messages */
    const struct ptxi_texts *parts; /* the texts of a linked module, which replace the single text; or NULL */
    unsigned dialect; /* PTXI_PARSE_... */
};

/* Parses and checks PTX text of `size` bytes. A NUL at the end is not needed. Returns the tree, which is in `arena`, or
 * NULL after errors. Errors and warnings are added to `diags`. NULL without an error in `diags` means that memory is
 * short.
 *
 * Parts are linked as by nvlink (PTX ISA, "Linking Directives"): a name without a linking directive belongs to its
 * part, and the others belong to the whole module.
 *
 * The tree does not point into `text`, but `diags` does until it is rendered. */
struct ptxi_module_ast *ptxi_parse(const char *text, size_t size, const struct ptxi_parse_options *options,
                                   struct ptxi_arena *arena, struct ptxi_diag *diags);

#endif
