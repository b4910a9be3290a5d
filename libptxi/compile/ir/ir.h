/* The intermediate form of a function: operations of isa/internal.def and of the instruction table, on virtual
 * registers.
 *
 * Lowering (compile/lower/) makes a list of instructions with labels from the tree, and cfg.c divides it into blocks.
 * Passes change instructions in place: a deleted one has the flag DEAD. Register allocation gives every virtual
 * register its slot in the frame, and emit.c writes struct ptxi_insn. compile.c has the list of passes. */
#ifndef PTXI_COMPILE_IR_IR_H
#define PTXI_COMPILE_IR_IR_H

#include "base/arena.h"
#include "base/str.h"
#include "isa/bytecode.h"
#include "parse/ast.h"

#define PTXI_NONE UINT32_MAX
#define PTXI_MAX_AREA_WORDS (1 << 20) /* of a function, like its registers */

/* Register classes. Each has a pool of slots of its own. A value must survive in inactive lanes while other lanes reuse
 * its slot; with slots of different widths in one pool, lanes would overlap. An address register
 * (optimize/row_registers.c) has 64-bit lanes and a header, an index register 32-bit lanes and a header. */
enum ptxi_class {
    PTXI_RC_PRED,
    PTXI_RC_16,
    PTXI_RC_32,
    PTXI_RC_64,
    PTXI_RC_128,
    PTXI_RC_ADDRESS,
    PTXI_RC_INDEX,
    PTXI_RC_COUNT
};

extern const uint8_t ptxi_class_units[PTXI_RC_COUNT]; /* of a slot */

/* The class of registers that hold values of a type. */
enum ptxi_class ptxi_ir_class_of(enum ptxi_type type);

enum ptxi_vreg_kind {
    PTXI_VR_PLAIN,
    PTXI_VR_CONST,  /* filled when the frame is made; the value is in `value` */
    /* a word of a parameter area; the words of an area are adjacent; `value` is the index of the area */
    PTXI_VR_WORD,
    PTXI_VR_SETUP   /* launch-invariant, computed by the setup code */
};

struct ptxi_vreg {
    uint8_t class; /* enum ptxi_class */
    uint8_t kind;  /* enum ptxi_vreg_kind */
    uint32_t slot; /* in units, once it is allocated; PTXI_NONE: the register is never used */
    uint64_t value;
    uint32_t object; /* the address of a shared or .local variable, or in a part of it: a constant with its bounds, the
                      * end in the upper half (PTXI_OBJECT_LOCAL); else PTXI_NONE */
};

/* Parameter words that a call passes: `count` registers from `first` on, contiguous in the frame. */
struct ptxi_area {
    uint32_t first, count;
    uint64_t bytes;
    uint32_t fixed; /* slot that it must have, or PTXI_NONE */
};

/* Fields for operands. MODS, IMM and IMM_HI are written over those fields of struct ptxi_insn (IMM_HI: the upper half
 * of imm). The operation uses the register in EXTRA although the instruction does not name it. */
enum { PTXI_F_D, PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_MODS, PTXI_F_IMM, PTXI_F_IMM_HI, PTXI_F_EXTRA, PTXI_F_COUNT };

/* Flags of an instruction. */
enum {
    PTXI_IF_PURE = 1,       /* depends only on its operands and cannot fail: may be moved or deleted */
    PTXI_IF_READS = 2,      /* reads memory that other threads may write, or calls: a loop around it may be a wait */
    PTXI_IF_TOGETHER = 4,   /* lanes interact: a guard becomes a branch around it */
    PTXI_IF_FIRST = 8,      /* first operation of a PTX instruction */
    PTXI_IF_DEAD = 16,      /* deleted */
    PTXI_IF_EARLY = 32,     /* may write a destination before it has read all sources */
    PTXI_IF_FUSABLE = 64,   /* float mul, add or sub that contraction may fuse */
    PTXI_IF_ALWAYS = 128,   /* part of a guarded PTX instruction, but runs for all lanes */
    PTXI_IF_FRESH = 256,    /* guarded, and its results have no older value to keep */
    PTXI_IF_POLLS = 512,    /* reads what other threads change: a short loop around it is a wait */
    PTXI_IF_NOT_SHARED = 1024, /* not pure, but does not access shared memory */
    PTXI_IF_NESTED = 2048   /* the instruction before executes it, and has its guard */
};

struct ptxi_ir_inst {
    uint16_t op, mods;
    uint8_t reads, writes; /* bit per PTXI_F_* */
    uint16_t flags;
    bool guard_negated;
    uint32_t v[PTXI_F_COUNT]; /* registers, or PTXI_NONE (emitted as PTXI_NO_SLOT) */
    int32_t imm;
    uint32_t guard;  /* predicate register, or PTXI_NONE */
    uint32_t aux;    /* branch: label; brx: index into tables; call: index into calls; .sync: imm of the check_passed
                      * behind it, if there is one */
    uint32_t list;   /* index into lists, or PTXI_NONE */
    uint32_t ptx;    /* index of the PTX instruction */
    uint16_t shared; /* its access to shared memory: mods of count_shared */
    uint16_t check;  /* its access to memory that threads share: mods of check_access */
};

/* The targets of a brx. */
struct ptxi_ir_table {
    uint32_t *labels, count;
};

struct ptxi_ir_arg {
    uint32_t area;        /* words in the caller */
    uint32_t callee_slot; /* slot in the callee's frame */
};

struct ptxi_ir_call {
    uint32_t func; /* index, or PTXI_NONE */
    struct ptxi_ir_arg *args, *rets;
    uint32_t arg_count, ret_count;
    uint16_t passed; /* number of the check_passed behind the call, or 0 */
};

/* The registers of an instruction that has more of them than fields: first those that it writes, then those that it
 * reads. In the pool they follow `head`, which describes the instruction. The instruction's imm is the position of the
 * head. */
struct ptxi_ir_list {
    uint32_t *v; /* PTXI_NONE: no register */
    uint16_t *head;
    uint32_t writes, count, head_count;
};

struct ptxi_block {
    uint32_t first, end;       /* instructions */
    uint32_t succ, succ_count; /* into ir->edges; of a conditional branch: the target, then the next block */
    uint32_t pred, pred_count; /* into ir->pred_edges */
    uint32_t order;            /* position in the layout, or PTXI_NONE if it is unreachable */
    uint32_t depth;            /* number of loops around it */
    uint32_t ptx_count;        /* number of PTX instructions that begin in it */
};

struct ptxi_ir {
    struct ptxi_arena *arena; /* of the compilation, not of the result */
    const struct ptxi_module_ast *module;
    const struct ptxi_func *func;
    bool oom;       /* memory is short: the form must not be used */
    bool too_large; /* the parameters are too large; oom is set, too */

    struct ptxi_ir_inst *insts;
    uint32_t count, cap;
    struct ptxi_vreg *vregs;
    uint32_t vreg_count, vreg_cap;
    struct ptxi_area *areas;
    uint32_t area_count, area_cap;
    uint64_t area_words;  /* of all areas */
    struct ptxi_ir_table *tables;
    uint32_t table_count, table_cap;
    struct ptxi_ir_call *calls;
    uint32_t call_count, call_cap;
    struct ptxi_ir_list *lists;
    uint32_t list_count, list_cap;
    uint32_t *labels; /* label -> instruction; label i < func->inst_count marks PTX instruction i */
    uint32_t label_count, label_cap;
    const char **unsupported;
    uint32_t unsupported_count, unsupported_cap;

    /* cfg.c */
    struct ptxi_block *blocks;
    uint32_t block_count;
    uint32_t *edges, *pred_edges;
    uint32_t *order; /* reachable blocks in the order of the layout */
    uint32_t order_count;

    /* launch_invariant.c: instructions of the setup code, in order */
    uint32_t *setup;
    uint32_t setup_count;

    /* register_allocation.c */
    uint32_t frame_units;

    /* unwritten.c: as in struct ptxi_code */
    struct ptxi_slot_range *unwritten;
    uint32_t unwritten_count;

    /* live_heads.c: as in struct ptxi_code, with positions of blocks in the order */
    struct ptxi_live_heads *live_heads;

    struct ptxi_local_part *parts; /* as in struct ptxi_code */
    uint32_t part_count;

    uint32_t barriers;   /* as in struct ptxi_code */
    uint64_t local_bytes;
    uint32_t arg_words, ret_words;
    struct ptxi_ir_arg *returned; /* a function's return values, which `ret` reads */
    uint32_t returned_count;
};

/* --- ir.c: making instructions --- */

/* Each of these adds an element and returns its index. If memory is short they set ir->oom and return something
 * harmless. */
uint32_t ptxi_ir_vreg(struct ptxi_ir *ir, enum ptxi_class class);
/* always a new one: see ptxi_lower_const */
uint32_t ptxi_ir_const(struct ptxi_ir *ir, enum ptxi_class class, uint64_t value);
uint32_t ptxi_ir_area(struct ptxi_ir *ir, uint64_t bytes, uint32_t fixed);
uint32_t ptxi_ir_label(struct ptxi_ir *ir);
uint32_t ptxi_ir_table(struct ptxi_ir *ir, uint32_t count);
uint32_t ptxi_ir_call(struct ptxi_ir *ir, uint32_t args, uint32_t rets);
uint32_t ptxi_ir_list(struct ptxi_ir *ir, uint32_t head_count, uint32_t count); /* PTXI_NONE if memory is short */
uint32_t ptxi_ir_unsupported(struct ptxi_ir *ir, const char *text);
struct ptxi_ir_inst *ptxi_ir_append(struct ptxi_ir *ir, uint16_t op);

/* Set one operand. `vreg` may be PTXI_NONE. */
void ptxi_ir_set_read(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg);
void ptxi_ir_set_write(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg);
/* Makes a deleted instruction a nop, which is still counted as an instruction. */
void ptxi_ir_make_nop(struct ptxi_ir_inst *i);

/* Instructions to insert. They are collected in any order, then inserted at once. Those for one place stay in the order
 * in which they were added. `at` is an index of the old list; `after`: after that instruction, in its block. */
struct ptxi_ir_insertion {
    uint32_t at, order;
    bool after;
    struct ptxi_ir_inst inst;
};
struct ptxi_ir_insertions {
    struct ptxi_ir_insertion *list;
    uint32_t count, cap;
};
/* Adds a pure operation of a and b, each of which may be PTXI_NONE, before instruction `at`. Returns the register of
 * its result. */
uint32_t ptxi_ir_make(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint16_t op, uint16_t mods,
                      enum ptxi_class class, uint32_t a, uint32_t b);
/* Inserts them; labels and blocks move along. */
bool ptxi_ir_insert(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins);

/* Makes room for `need` elements in a growing array of the arena; NULL if memory is short. */
void *ptxi_ir_grow(struct ptxi_ir *ir, void *array, uint32_t *cap, uint32_t need, size_t size);

/* --- ir.c: reading instructions --- */

/* An iteration over the virtual registers that an instruction reads or writes:
 *     struct ptxi_ir_walk w = ptxi_ir_reads(ir, inst);
 *     while (ptxi_ir_next(&w, &v)) ... */
struct ptxi_ir_walk {
    const struct ptxi_ir *ir;
    const struct ptxi_ir_inst *inst;
    unsigned fields; /* still to visit, a bit each */
    bool guard;      /* still to visit */
    const uint32_t *list;
    uint32_t list_count;
    const struct ptxi_ir_arg *args;
    uint32_t arg_count, word;
};

struct ptxi_ir_walk ptxi_ir_reads(const struct ptxi_ir *ir, const struct ptxi_ir_inst *inst);
struct ptxi_ir_walk ptxi_ir_writes(const struct ptxi_ir *ir, const struct ptxi_ir_inst *inst);
bool ptxi_ir_next(struct ptxi_ir_walk *w, uint32_t *vreg);

static inline bool ptxi_ir_is_call(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_call || i->op == PTXI_OP_call_indirect;
}

/* A copy of a register into another. */
static inline bool ptxi_ir_is_move(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_mov_16 || i->op == PTXI_OP_mov_32 || i->op == PTXI_OP_mov_64 || i->op == PTXI_OP_mov_128 ||
           i->op == PTXI_OP_mov_pred;
}

/* Conditional branches that have a counterpart for the opposite condition. */
#define PTXI_BRANCH_PAIRS(X) \
    X(if, ifn) X(eq_i32, ne_i32) X(lt_s32, ge_s32) X(lt_u32, ge_u32) \
    X(eq_i64, ne_i64) X(lt_s64, ge_s64) X(lt_u64, ge_u64) \
    X(index_eq, index_ne) X(index_lt_s32, index_ge_s32) X(index_lt_u32, index_ge_u32)

/* Branches have a label in aux. */
static inline bool ptxi_ir_is_branch(const struct ptxi_ir_inst *i)
{
    switch (i->op) {
#define X(yes, no) case PTXI_OP_bra_##yes: case PTXI_OP_bra_##no:
    PTXI_BRANCH_PAIRS(X)
#undef X
    case PTXI_OP_bra:
        return true;
    default:
        return false;
    }
}

/* The branch that is taken if and only if this conditional branch is not. */
uint16_t ptxi_ir_opposite(uint16_t branch);

/* Whether control never continues after the instruction. */
static inline bool ptxi_ir_ends(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_bra || i->op == PTXI_OP_brx || i->op == PTXI_OP_ret || i->op == PTXI_OP_exit ||
           i->op == PTXI_OP_trap ||
           i->op == PTXI_OP_unreachable;
}

/* Whether the register is a word of the function's own arguments, which the caller writes. */
static inline bool ptxi_ir_is_argument(const struct ptxi_ir *ir, uint32_t vreg)
{
    const struct ptxi_vreg *v = &ir->vregs[vreg];
    uint32_t fixed = v->kind == PTXI_VR_WORD ? ir->areas[v->value].fixed : PTXI_NONE;

    return fixed != PTXI_NONE && fixed < ir->arg_words * ptxi_class_units[PTXI_RC_32];
}

/* --- ir_check.c --- */

/* Asserts the invariants of the form. Does nothing in a build without assertions. */
void ptxi_ir_check(const struct ptxi_ir *ir);

/* --- ir_print.c --- */

/* Appends a listing, for debugging the compiler. */
void ptxi_ir_print(const struct ptxi_ir *ir, struct ptxi_str *out);

/* --- cfg.c: control flow --- */

/* Both return false if memory is short. */
bool ptxi_cfg_find_blocks(struct ptxi_ir *ir);
bool ptxi_cfg_order_blocks(struct ptxi_ir *ir);

/* --- spin_loops.c --- */

/* Whether the loop of the blocks at these positions of the order only waits for other threads. */
bool ptxi_ir_is_spin_loop(const struct ptxi_ir *ir, uint32_t first, uint32_t last);
/* For the checks, volatile loads in such loops are as relaxed ones: the program says that they synchronise. Returns
 * true, as passes do. */
bool ptxi_ir_mark_polling_loads(struct ptxi_ir *ir);

/* --- liveness.c --- */

/* Where a virtual register is live, as positions in the layout: instruction k of the layout reads at 2k and writes at
 * 2k + 1. The layout begins with the setup code. */
struct ptxi_live_range {
    uint32_t start, end; /* without `end` */
};

struct ptxi_liveness {
    struct ptxi_live_range *ranges;
    uint32_t *first, *count; /* per register: its ranges, in ascending order, with gaps between them */
    uint8_t *at_entry;       /* per register: live where the body begins, so that a read may come before any write */
    uint32_t *block_first;   /* per block of the order: its first instruction in the layout; one more at the end */
    uint32_t positions;
};

/* False if memory is short. */
bool ptxi_liveness(struct ptxi_ir *ir, struct ptxi_liveness *out);

#endif
