/* Tree -> IR: what the lowering rules (lower_*.c) share. */
#ifndef PTXI_COMPILE_LOWER_LOWER_H
#define PTXI_COMPILE_LOWER_LOWER_H

#include "compile/ir/ir.h"

/* Where a variable of this function is. */
struct ptxi_home {
    uint32_t area;   /* words of a .param variable or of a parameter, or PTXI_NONE */
    uint32_t offset; /* local, shared: byte offset; entry parameter: in the parameter block; of what a call passes by its address: its copy */
    bool in_depot;   /* a function's parameter whose address is taken: lives in .local at `offset` */
};

struct ptxi_const_table {
    uint32_t *vregs; /* open addressing; PTXI_NONE: free */
    uint32_t count, size;
};

struct ptxi_build {
    struct ptxi_ir *ir;
    const struct ptxi_layout *layout;
    const struct ptxi_compile_options *options;
    const struct ptxi_func *func;
    const struct ptxi_inst *inst; /* being lowered */
    uint32_t ptx;                 /* its index */
    uint32_t first_temp, first_label; /* virtual registers and labels from here on belong to it */
    uint32_t guard;               /* its guard, PTXI_NONE when none or when the rule has dealt with it */
    struct ptxi_const_table consts;
    struct ptxi_home *vars, *params, *rets; /* by index */
    struct ptxi_shared_map *shared;         /* shared variables that this kernel names */
    uint64_t shared_bytes;
    uint32_t shared_end, param_bytes;       /* shared_end: of the named ones */
    uint32_t carry; /* predicate that holds CC.CF, or PTXI_NONE */
    uint32_t depot; /* address of the depot, or PTXI_NONE */
    uint32_t stack; /* alloca's stack pointer when the function was called, or PTXI_NONE */
};

/* false when memory is short. */
bool ptxi_build(struct ptxi_build *b);

/* storage.c: gives every variable its home. */
bool ptxi_build_homes(struct ptxi_build *b);
void ptxi_build_prologue(struct ptxi_build *b); /* parameters into registers and depot */
void ptxi_build_epilogue(struct ptxi_build *b); /* and return values back, before ret */
void ptxi_build_copy_depot(struct ptxi_build *b, const struct ptxi_home *h, bool load); /* its words from or to .local at its offset */

/* --- registers --- */
enum ptxi_class ptxi_class_of(enum ptxi_type type);
uint32_t ptxi_build_const(struct ptxi_build *b, enum ptxi_class class, uint64_t value);

static inline uint32_t ptxi_build_temp(struct ptxi_build *b, enum ptxi_class class)
{
    return ptxi_ir_vreg(b->ir, class);
}

static inline enum ptxi_class ptxi_build_class(const struct ptxi_build *b, uint32_t vreg)
{
    return b->ir->vregs[vreg].class;
}

/* --- operations --- */
/* Appends an operation: d is written, a, b, c are read; PTXI_NONE: none. */
struct ptxi_ir_inst *ptxi_build_op(struct ptxi_build *b, uint16_t op, uint32_t d, uint32_t a, uint32_t b2, uint32_t c);
/* The same, one that computes from its operands alone. */
struct ptxi_ir_inst *ptxi_build_pure(struct ptxi_build *b, uint16_t op, uint32_t d, uint32_t a, uint32_t b2, uint32_t c);
/* Sets one more operand. */
void ptxi_build_read(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg);
void ptxi_build_write(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg);

void ptxi_build_move(struct ptxi_build *b, uint32_t d, uint32_t a); /* one class */
/* The low `bits` of a (all of it when 0), extended into d by sign or zeros, or cut to d's width. */
void ptxi_build_resize(struct ptxi_build *b, uint32_t d, uint32_t a, unsigned bits, bool is_signed);
/* v in a register of that class: itself, or cut or extended with zeros. */
uint32_t ptxi_build_fit(struct ptxi_build *b, uint32_t v, enum ptxi_class class);

/* Makes the instruction one that nothing executes. */
void ptxi_build_unsupported(struct ptxi_build *b, const char *why);

/* --- operands --- */
bool ptxi_build_has(const struct ptxi_match *m, uint16_t word);
const struct ptxi_operand *ptxi_build_operand(const struct ptxi_build *b, const char *name); /* NULL: not written */
enum ptxi_type ptxi_build_type(const struct ptxi_build *b, const char *name);

/* The value of a source operand. */
uint32_t ptxi_build_use(struct ptxi_build *b, const struct ptxi_operand *o, enum ptxi_class class);
/* Likewise of a predicate, without its negation, which is or-ed into *mods as PTXI_MOD_NOT_C. */
uint32_t ptxi_build_use_pred(struct ptxi_build *b, const struct ptxi_operand *o, uint16_t *mods);
/* Where to write a destination whose type is of that class; a temporary for _ and for registers that are wider. */
uint32_t ptxi_build_def(struct ptxi_build *b, const struct ptxi_operand *o, enum ptxi_class class);
/* After the operation: moves what was written on into a wider register, by its type's sign. */
void ptxi_build_def_end(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t written, enum ptxi_type type);

/* --- memory --- */
struct ptxi_mem {
    enum ptxi_space space; /* generic, const, global, local, shared, or param: of a kernel */
    uint32_t base;         /* address register: 32 bits for shared, else 64; PTXI_NONE: words */
    int32_t offset;
    uint32_t area;         /* words of a function's or caller's parameter; offset counts from its start */
};
/* An address operand under the space that the instruction names; false after ptxi_build_unsupported(). */
bool ptxi_build_address(struct ptxi_build *b, const struct ptxi_address *a, enum ptxi_space space, struct ptxi_mem *mem);
/* The address of an operand that is one of several: its offset is added. PTXI_NONE after ptxi_build_unsupported(). */
uint32_t ptxi_build_whole_address(struct ptxi_build *b, const char *name, enum ptxi_space space);
/* The same as a generic address. */
uint32_t ptxi_build_generic_address(struct ptxi_build *b, const char *name, enum ptxi_space space);
/* The generic address of a 32-bit shared one. */
uint32_t ptxi_build_generic(struct ptxi_build *b, uint32_t shared);
/* The space that an instruction names. */
enum ptxi_space ptxi_build_space(const struct ptxi_match *m);
/* Notes that a lane of i accesses so many bytes there. */
void ptxi_build_accesses(struct ptxi_ir_inst *i, const struct ptxi_mem *mem, unsigned bytes, uint16_t kind);
/* The address of a variable in its own space. */
uint32_t ptxi_build_var(struct ptxi_build *b, const struct ptxi_var *var, int64_t offset, enum ptxi_class class);
struct ptxi_home *ptxi_build_home(struct ptxi_build *b, const struct ptxi_var *var); /* NULL: a static variable */
/* A value of `bits` bits at a byte offset of a parameter area into d, or from a. */
void ptxi_build_load_words(struct ptxi_build *b, uint32_t area, uint32_t offset, uint32_t d, unsigned bits, bool is_signed);
void ptxi_build_store_words(struct ptxi_build *b, uint32_t area, uint32_t offset, uint32_t a, unsigned bits);
/* A register of a vector's elements, the first in the low bits; and the elements of a register, wider ones extended by their sign. */
void ptxi_build_pack(struct ptxi_build *b, uint32_t d, const struct ptxi_operand *o);
void ptxi_build_unpack(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t a, bool is_signed);

/* The fence that an .acquire, .release or .sc of the given scope needs. */
void ptxi_build_fence(struct ptxi_build *b, const struct ptxi_match *m);

/* --- matrices --- */
struct ptxi_mma;
/* An operation with more registers than an instruction has room for. */
struct ptxi_list_op {
    uint16_t op, mods;
    uint32_t a, b;              /* registers beside the list; PTXI_NONE: none */
    const void *head;           /* what the operation finds before its slots, `head_count` units of 2 bytes */
    uint32_t head_count;
    const uint32_t *v;          /* `count` registers, of which it writes the first `writes` */
    uint32_t writes, count;
};
struct ptxi_ir_inst *ptxi_build_list(struct ptxi_build *b, const struct ptxi_list_op *what);
/* What stands for the type of A or B: a float's format, whether integers have a sign. */
uint16_t ptxi_build_element_code(enum ptxi_type t);
/* The element types of a product, and the model of its sums. */
void ptxi_build_mma_types(const struct ptxi_build *b, enum ptxi_type ta, enum ptxi_type tb, struct ptxi_mma *head);
/* Registers of the operand of that name, whose values are read; or where to write it, PTXI_NONE for a sink. Returns how many. */
unsigned ptxi_build_registers(struct ptxi_build *b, const char *name, bool write, uint32_t *v);
/* After the operation that wrote them. */
void ptxi_build_registers_end(struct ptxi_build *b, const char *name, const uint32_t *v);

/* --- rules --- */
typedef void ptxi_lower(struct ptxi_build *b, const struct ptxi_inst *inst);
ptxi_lower ptxi_lower_plain;
ptxi_lower ptxi_lower_mov, ptxi_lower_cvt, ptxi_lower_cvta, ptxi_lower_isspacep; /* lower_move.c */
ptxi_lower ptxi_lower_ld, ptxi_lower_st, ptxi_lower_alloca, ptxi_lower_policy;                  /* lower_memory.c */
ptxi_lower ptxi_lower_setp, ptxi_lower_set, ptxi_lower_selp, ptxi_lower_shift, ptxi_lower_lop3, ptxi_lower_carry, ptxi_lower_mixed; /* lower_alu.c */
ptxi_lower ptxi_lower_bra, ptxi_lower_brx, ptxi_lower_call, ptxi_lower_ret, ptxi_lower_exit, ptxi_lower_trap, ptxi_lower_brkpt,
    ptxi_lower_nop;                                                                             /* lower_control.c */
ptxi_lower ptxi_lower_bar, ptxi_lower_warp, ptxi_lower_shfl, ptxi_lower_vote, ptxi_lower_collective,
    ptxi_lower_fence;                                                                           /* lower_sync.c */
ptxi_lower ptxi_lower_atom;                                                                     /* lower_atomic.c */
ptxi_lower ptxi_lower_cp_async, ptxi_lower_cp_async_wait, ptxi_lower_mbarrier, ptxi_lower_bulk, ptxi_lower_async_store, ptxi_lower_bulk_zero, ptxi_lower_tensor,
    ptxi_lower_tensormap_replace, ptxi_lower_tensormap_copy, ptxi_lower_try_cancel, ptxi_lower_query_cancel; /* lower_async.c */
ptxi_lower ptxi_lower_matrix;                                                                   /* lower_matrix.c */
ptxi_lower ptxi_lower_mma, ptxi_lower_wmma;                                                     /* lower_mma.c, lower_wmma.c */
ptxi_lower ptxi_lower_wgmma;                                                                    /* lower_wgmma.c */
ptxi_lower ptxi_lower_tcgen05, ptxi_lower_tcgen05_move, ptxi_lower_tcgen05_mma;                 /* lower_tcgen05.c */
ptxi_lower ptxi_lower_tex, ptxi_lower_txq, ptxi_lower_istypep, ptxi_lower_surface;              /* lower_texture.c */
ptxi_lower ptxi_lower_video;                                                                    /* lower_video.c */

#endif
