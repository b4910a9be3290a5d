/* Lowering: from a function's syntax tree to the intermediate form. Each lowering rule (isa/lower_rule.def) is a
 * function of a lower_*.c file.
 *
 * The files build on each other in this order: lower_op.c (single operations), variable_homes.c and variable_access.c
 * (variables and addresses), lower_operand.c (operands), lower_list.c (operations with many registers), the rules,
 * lower.c (which calls the rules). */
#ifndef PTXI_COMPILE_LOWER_LOWER_STATE_H
#define PTXI_COMPILE_LOWER_LOWER_STATE_H

#include "compile/ir/ir.h"
#include "compile/ir/options.h"
#include "compile/lower/layout.h"
#include "isa/isa.h"

/* Where a variable of this function is. */
struct ptxi_lower_home {
    uint32_t area;   /* words of a .param variable or of a parameter, or PTXI_NONE */
    /* local, shared: byte offset; parameter of a kernel: offset in the parameter block; variable that a call passes by
     * address: offset of its copy in .local */
    uint32_t offset;
    bool in_depot;   /* parameter of a function that is in .local at `offset`, because its address is taken */
};

struct ptxi_const_table {
    uint32_t *vregs; /* open addressing; PTXI_NONE: free */
    uint32_t count, size;
};

/* The lowering of one function. */
struct ptxi_lower {
    struct ptxi_ir *ir;
    const struct ptxi_layout *layout;
    const struct ptxi_compile_options *options;
    const struct ptxi_func *func;
    const struct ptxi_inst *inst; /* the instruction that is being lowered */
    uint32_t ptx;                 /* its index */
    uint32_t first_temp;          /* its first temporary virtual register */
    uint32_t first_label;         /* its first label */
    uint32_t guard;               /* its guard; PTXI_NONE: it has no guard, or the rule has handled it */
    struct ptxi_const_table consts;
    struct ptxi_lower_home *vars, *params, *rets; /* by index */
    struct ptxi_shared_variable *shared;          /* shared variables that this kernel names */
    uint64_t shared_bytes;                        /* end of the kernel's shared variables */
    uint32_t shared_end;                          /* end of those that are named */
    uint32_t param_bytes;                         /* size of the kernel's parameter block */
    uint32_t carry; /* predicate that holds CC.CF, or PTXI_NONE */
    uint32_t depot; /* address of the depot of .local variables, or PTXI_NONE */
    uint32_t stack; /* stack pointer of alloca at the entry of the function, or PTXI_NONE */
};

/* Lowers the whole function; false if memory is short. */
bool ptxi_lower(struct ptxi_lower *l);

/* Whether the forms of a row have operations that execute them. */
bool ptxi_lower_executes(const struct ptxi_row *row);

/* --- lower_op.c: constants and single operations --- */

uint32_t ptxi_lower_const(struct ptxi_lower *l, enum ptxi_class class, uint64_t value);

static inline uint32_t ptxi_lower_temp(struct ptxi_lower *l, enum ptxi_class class)
{
    return ptxi_ir_vreg(l->ir, class);
}

static inline enum ptxi_class ptxi_lower_class(const struct ptxi_lower *l, uint32_t vreg)
{
    return l->ir->vregs[vreg].class;
}

/* Appends an operation that writes d and reads a, b and c, each of which may be PTXI_NONE. */
struct ptxi_ir_inst *ptxi_lower_op(struct ptxi_lower *l, uint16_t op, uint32_t d, uint32_t a, uint32_t b, uint32_t c);
/* The same for an operation that depends only on its operands. */
struct ptxi_ir_inst *ptxi_lower_pure_op(struct ptxi_lower *l, uint16_t op, uint32_t d, uint32_t a, uint32_t b,
                                        uint32_t c);
/* d = a; both are of one class. */
void ptxi_lower_move(struct ptxi_lower *l, uint32_t d, uint32_t a);
/* d = the low `bits` of a (0: all of a), extended by the sign or by zeros, or truncated to the width of d. */
void ptxi_lower_resize(struct ptxi_lower *l, uint32_t d, uint32_t a, unsigned bits, bool is_signed);
/* A register of the class that holds v: v itself, or v truncated or extended by zeros. */
uint32_t ptxi_lower_fit(struct ptxi_lower *l, uint32_t v, enum ptxi_class class);
/* base + offset, always as an addition. */
uint32_t ptxi_lower_add_offset(struct ptxi_lower *l, uint32_t base, int64_t offset);
/* The generic address of a 32-bit address of shared memory. */
uint32_t ptxi_lower_shared_to_generic(struct ptxi_lower *l, uint32_t shared);
/* The scope that the instruction names, or `otherwise`. */
enum ptxi_check_scope ptxi_lower_scope(const struct ptxi_match *m, enum ptxi_check_scope otherwise);
/* The scope of atom, red or multimem.red. */
enum ptxi_check_scope ptxi_lower_atomic_scope(const struct ptxi_match *m);
/* The fence that .acquire, .release or .sc of the instruction's scope needs. only: PTXI_CHECK_FENCE_ACQUIRE, _RELEASE,
 * or 0 for both. */
void ptxi_lower_fence(struct ptxi_lower *l, const struct ptxi_match *m, unsigned only);
/* PTXI_CHECK_FENCE_OF_ACCESS for an access to one element. Those to several may be several operations. */
static inline unsigned ptxi_lower_fence_of(unsigned elements)
{
    return elements == 1 ? PTXI_CHECK_FENCE_OF_ACCESS : 0;
}
/* Makes the instruction an operation that nothing executes. `why` may be NULL. */
void ptxi_lower_unsupported(struct ptxi_lower *l, const char *why);

/* --- variable_homes.c: where the variables of the function are --- */

/* Gives every variable its home; false if memory is short. */
bool ptxi_lower_assign_homes(struct ptxi_lower *l);
/* NULL: a static variable. */
struct ptxi_lower_home *ptxi_lower_find_home(struct ptxi_lower *l, const struct ptxi_var *var);
/* Alignment of a dynamic array in shared memory. */
uint32_t ptxi_lower_dynamic_align(const struct ptxi_var *var);
uint32_t ptxi_lower_shared_offset(struct ptxi_lower *l, const struct ptxi_var *var);

/* --- variable_access.c: parameters and addresses --- */

void ptxi_lower_prologue(struct ptxi_lower *l); /* parameters to registers and to the depot */
void ptxi_lower_epilogue(struct ptxi_lower *l); /* return values back to their words, before ret */
/* Copies the words of a variable from .local at its offset (`load`), or to there. */
void ptxi_lower_copy_depot(struct ptxi_lower *l, const struct ptxi_lower_home *h, bool load);

/* The place that an address operand names. */
struct ptxi_lower_mem {
    enum ptxi_space space; /* generic, const, global, local, shared, or param (of a kernel) */
    uint32_t base;         /* address register: 32 bits wide for shared, else 64; PTXI_NONE: `area` is used */
    int32_t offset;
    /* words of a parameter of a function or of a caller, or PTXI_NONE; `offset` counts from its begin */
    uint32_t area;
};

/* Resolves an address in the space that the instruction names; false after ptxi_lower_unsupported(). */
bool ptxi_lower_address(struct ptxi_lower *l, const struct ptxi_address *a, enum ptxi_space space,
                        struct ptxi_lower_mem *mem);
/* The address of a variable in its own space. */
uint32_t ptxi_lower_variable_address(struct ptxi_lower *l, const struct ptxi_var *var, int64_t offset,
                                     enum ptxi_class class);
/* d = the value of `bits` bits at a byte offset of a parameter area; the opposite for stores. */
void ptxi_lower_load_words(struct ptxi_lower *l, uint32_t area, uint32_t offset, uint32_t d, unsigned bits,
                           bool is_signed);
void ptxi_lower_store_words(struct ptxi_lower *l, uint32_t area, uint32_t offset, uint32_t a, unsigned bits);
/* Notes that a lane of i accesses `bytes` bytes at mem. kind: PTXI_SHARED_ATOMIC, PTXI_SHARED_MATRIX or 0. */
void ptxi_lower_note_access(const struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct ptxi_lower_mem *mem,
                            unsigned bytes, uint16_t kind);

/* --- lower_operand.c: operands of the instruction that is being lowered, by their names --- */

/* NULL: not written */
const struct ptxi_operand *ptxi_lower_operand(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name);
enum ptxi_type ptxi_lower_operand_type(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name);

/* The value of a source operand. */
uint32_t ptxi_lower_use(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class);
/* The value of a predicate without its negation, which is or-ed into *mods as PTXI_MOD_NOT_C. */
uint32_t ptxi_lower_use_predicate(struct ptxi_lower *l, const struct ptxi_operand *o, uint16_t *mods);
/* The register to write for a destination with a type of that class: a temporary for _ and for wider registers. */
uint32_t ptxi_lower_def(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class);
/* After the operation: extends the written value into a wider register, by the sign of its type. */
void ptxi_lower_end_def(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t written, enum ptxi_type type);

/* d = the elements of a vector, the first in the low bits; and the opposite, elements being extended by the sign. */
void ptxi_lower_pack(struct ptxi_lower *l, uint32_t d, const struct ptxi_operand *o);
void ptxi_lower_unpack(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t a, bool is_signed);

/* The state space that the instruction names. */
enum ptxi_space ptxi_lower_space(const struct ptxi_match *m);
/* Resolves an address operand that must be in shared, global (if `global`) or generic memory; false after
 * ptxi_lower_unsupported(). */
bool ptxi_lower_memory_operand(struct ptxi_lower *l, const struct ptxi_operand *o, bool global,
                               struct ptxi_lower_mem *mem);
/* One register that holds the address of an operand in the given space, or its generic address. PTXI_NONE after
 * ptxi_lower_unsupported(). */
uint32_t ptxi_lower_address_in_space(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, enum ptxi_space space);
uint32_t ptxi_lower_generic_address(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, enum ptxi_space space);

/* --- lower_async.c --- */

/* The mask of CTAs of a multicast, extended to 32 bits. PTXI_NONE: there is none. */
uint32_t ptxi_lower_cta_mask(struct ptxi_lower *l);

/* --- lower_list.c: operations with more registers than an instruction has fields --- */

struct ptxi_lower_list {
    uint16_t op, mods;
    uint32_t a, b;              /* registers beside the list, or PTXI_NONE */
    const void *head;           /* what the operation finds before its slots: `head_count` units of 2 bytes */
    uint32_t head_count;
    const uint32_t *v;          /* `count` registers, of which it writes the first `writes` */
    uint32_t writes, count;
};
struct ptxi_ir_inst *ptxi_lower_list_op(struct ptxi_lower *l, const struct ptxi_lower_list *what);
/* The registers of an operand: values to read, or registers to write (PTXI_NONE for a sink). Returns their number. */
unsigned ptxi_lower_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, bool write, uint32_t *v);
/* After the operation that wrote them. */
void ptxi_lower_end_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, const uint32_t *v);

/* --- lower_mma.c, also for wmma and wgmma --- */

struct ptxi_mma;
/* How struct ptxi_mma encodes the type of A or B: the format of a float, or whether an integer has a sign. */
uint16_t ptxi_lower_element_code(enum ptxi_type t);
/* Sets the element types of a product, and the model of its sums. */
void ptxi_lower_mma_types(const struct ptxi_lower *l, enum ptxi_type ta, enum ptxi_type tb, struct ptxi_mma *head);

/* --- rules --- */

typedef void ptxi_lower_rule(struct ptxi_lower *l, const struct ptxi_inst *inst);
ptxi_lower_rule ptxi_lower_rule_plain;
#define RULE(name, function) ptxi_lower_rule ptxi_lower_rule_##function;
#include "isa/lower_rule.def"
#undef RULE

#endif
