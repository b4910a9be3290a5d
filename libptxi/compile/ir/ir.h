/* The compiler's form of a function: operations of isa/internal.def and of the rows, on virtual registers.
 *
 * build.c makes a list of instructions with labels from the tree; cfg.c cuts it into blocks; passes change
 * instructions in place (a deleted one has flag DEAD); slots.c gives every virtual register its place in the frame, and
 * emit.c writes struct ptxi_insn. */
#ifndef PTXI_COMPILE_IR_IR_H
#define PTXI_COMPILE_IR_IR_H

#include "base/arena.h"
#include "compile/compile.h"
#include "isa/bytecode.h"

#define PTXI_NONE UINT32_MAX
#define PTXI_MOST_AREA_WORDS (1 << 20) /* as many as a function may have registers */

/* Register classes; each has a pool of slots of its own, since a value must survive in the lanes that are not active
 * while other lanes reuse its slot: slots of different widths would mix lanes. */
enum ptxi_class { PTXI_RC_PRED, PTXI_RC_16, PTXI_RC_32, PTXI_RC_64, PTXI_RC_128, PTXI_RC_COUNT };

extern const uint8_t ptxi_class_units[PTXI_RC_COUNT];

enum ptxi_vreg_kind {
    PTXI_VR_PLAIN,
    PTXI_VR_CONST,  /* filled with the frame; value in `value` */
    PTXI_VR_WORD,   /* one word of a parameter area; its neighbours stand beside it (`value`: index of the area) */
    PTXI_VR_SETUP   /* launch-invariant, computed by the setup code */
};

struct ptxi_vreg {
    uint8_t class; /* enum ptxi_class */
    uint8_t kind;  /* enum ptxi_vreg_kind */
    uint32_t slot; /* in units, once allocated; PTXI_NONE: never needed */
    uint64_t value;
};

/* Parameter words that a call passes: `count` vregs from `first` on, contiguous in the frame. */
struct ptxi_area {
    uint32_t first, count;
    uint64_t bytes;
    uint32_t fixed; /* slot it must have, or PTXI_NONE */
};

/* The places of an operation's operands. MODS, IMM and IMM_HI are written over those fields of struct ptxi_insn (IMM_HI:
 * the upper half of imm); EXTRA is used without being named by the instruction. */
enum { PTXI_F_D, PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_MODS, PTXI_F_IMM, PTXI_F_IMM_HI, PTXI_F_EXTRA, PTXI_F_COUNT };

enum {
    PTXI_IF_PURE = 1,       /* computes from its operands alone and cannot fail: may be moved or dropped */
    PTXI_IF_READS = 2,      /* reads memory that other threads may write, or calls: its loop may be a wait */
    PTXI_IF_TOGETHER = 4,   /* lanes meet in it: a guard becomes a branch around it */
    PTXI_IF_FIRST = 8,      /* first operation of a PTX instruction */
    PTXI_IF_DEAD = 16,
    PTXI_IF_EARLY = 32,     /* may write a destination before it has read all sources */
    PTXI_IF_FUSABLE = 64,   /* float mul, add or sub that contraction may fuse */
    PTXI_IF_ALWAYS = 128,   /* of a guarded PTX instruction, yet runs for all lanes */
    PTXI_IF_FRESH = 256,    /* guarded, and there is no older value of its results to keep */
    PTXI_IF_POLLS = 512,    /* looks at what other threads change: a short loop around it is a wait */
    PTXI_IF_NOT_SHARED = 1024 /* not pure, yet accesses no shared memory */
};

struct ptxi_ir_inst {
    uint16_t op, mods;
    uint8_t reads, writes; /* bit per PTXI_F_* */
    uint16_t flags;
    bool guard_negated;
    uint32_t v[PTXI_F_COUNT]; /* vregs, or PTXI_NONE (emitted as PTXI_NO_SLOT) */
    int32_t imm;
    uint32_t guard; /* predicate vreg, or PTXI_NONE */
    uint32_t aux;   /* branch: label; brx: index into tables; call: index into calls */
    uint32_t list;  /* index into lists, or PTXI_NONE */
    uint32_t ptx;   /* index of the PTX instruction */
    uint16_t shared; /* what it does with shared memory: mods of count_shared */
};

struct ptxi_ir_table {
    uint32_t *labels, count;
};

struct ptxi_ir_arg {
    uint32_t area;        /* words here */
    uint32_t callee_slot; /* slot in the callee's frame */
};

struct ptxi_ir_call {
    uint32_t func; /* index, or PTXI_NONE */
    struct ptxi_ir_arg *args, *rets;
    uint32_t arg_count, ret_count;
};

/* More registers than an instruction has places for: those it writes, then those it reads. In the pool they follow `head`, words that
 * tell what the instruction is; its imm is their place there. */
struct ptxi_ir_list {
    uint32_t *v; /* PTXI_NONE: none */
    uint16_t *head;
    uint32_t writes, count, head_count;
};

struct ptxi_block {
    uint32_t first, end;   /* instructions */
    uint32_t succ, succ_count; /* into ir->edges; of a conditional branch: target, then the next block */
    uint32_t pred, pred_count; /* into ir->pred_edges */
    uint32_t order;        /* position in the layout, PTXI_NONE when unreachable */
    uint32_t depth;        /* loops around it */
    uint32_t ptx_count;    /* PTX instructions that begin in it */
};

struct ptxi_ir {
    struct ptxi_arena *arena; /* of the compilation, not of the result */
    const struct ptxi_func *func;
    bool oom;
    bool too_large; /* the parameters are, and oom is set: what was built is not to be used */

    struct ptxi_ir_inst *insts;
    uint32_t count, cap;
    struct ptxi_vreg *vregs;
    uint32_t vreg_count, vreg_cap;
    struct ptxi_area *areas;
    uint32_t area_count, area_cap;
    uint64_t area_words;  /* of all of them */
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

    /* uniform.c: instructions of the setup code, in order */
    uint32_t *setup;
    uint32_t setup_count;

    /* slots.c */
    uint32_t frame_units;

    /* unwritten.c: as in struct ptxi_code */
    struct ptxi_slot_range *unwritten;
    uint32_t unwritten_count;

    uint32_t barriers;   /* as in struct ptxi_code */
    uint64_t local_bytes;
    uint32_t arg_words, ret_words;
    struct ptxi_ir_arg *returned; /* a function's return values, which `ret` reads */
    uint32_t returned_count;
};

/* New ones. When memory is short these set ir->oom and return something harmless. */
uint32_t ptxi_ir_vreg(struct ptxi_ir *ir, enum ptxi_class class);
uint32_t ptxi_ir_const(struct ptxi_ir *ir, enum ptxi_class class, uint64_t value); /* not shared: see ptxi_build_const */
uint32_t ptxi_ir_area(struct ptxi_ir *ir, uint64_t bytes, uint32_t fixed);
uint32_t ptxi_ir_label(struct ptxi_ir *ir);
uint32_t ptxi_ir_table(struct ptxi_ir *ir, uint32_t count);
uint32_t ptxi_ir_call(struct ptxi_ir *ir, uint32_t args, uint32_t rets);
uint32_t ptxi_ir_list(struct ptxi_ir *ir, uint32_t head_count, uint32_t count); /* PTXI_NONE when memory is short */
uint32_t ptxi_ir_unsupported(struct ptxi_ir *ir, const char *text);
struct ptxi_ir_inst *ptxi_ir_append(struct ptxi_ir *ir, uint16_t op);

/* Instructions to put before others: filled in any order, then done at once; those for one place stay in the order of
 * filling. `at` is an index of the old list. */
struct ptxi_ir_insertion {
    uint32_t at, order;
    struct ptxi_ir_inst inst;
};
struct ptxi_ir_insertions {
    struct ptxi_ir_insertion *list;
    uint32_t count, cap;
};
/* The result of a pure operation of a and b, each of which may be PTXI_NONE, before instruction `at`. */
uint32_t ptxi_ir_make(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint16_t op, uint16_t mods, enum ptxi_class class, uint32_t a, uint32_t b);
bool ptxi_ir_insert(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins); /* labels and blocks move along */

/* Room for `need` elements in a growing array of the arena. */
void *ptxi_ir_grow(struct ptxi_ir *ir, void *array, uint32_t *cap, uint32_t need, size_t size);

/* Walks the virtual registers that an instruction reads or writes:
 *     struct ptxi_ir_walk w = ptxi_ir_reads(ir, inst);
 *     while (ptxi_ir_next(&w, &v)) ... */
struct ptxi_ir_walk {
    const struct ptxi_ir *ir;
    const struct ptxi_ir_inst *inst;
    unsigned fields;    /* still to come */
    bool guard;
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

/* Conditional branches that have a counterpart for the opposite condition. */
#define PTXI_BRANCH_PAIRS(X) \
    X(if, ifn) X(eq_i32, ne_i32) X(lt_s32, ge_s32) X(lt_u32, ge_u32) X(eq_i64, ne_i64) X(lt_s64, ge_s64) X(lt_u64, ge_u64)

/* Branches carry a label in aux. */
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

/* The branch that is taken when this conditional one is not. */
uint16_t ptxi_ir_opposite(uint16_t branch);

/* polls.c: whether the loop of the blocks at these places of the order only waits for others. */
bool ptxi_polls(const struct ptxi_ir *ir, uint32_t first, uint32_t last);

/* Control never goes on behind these. */
static inline bool ptxi_ir_ends(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_bra || i->op == PTXI_OP_brx || i->op == PTXI_OP_ret || i->op == PTXI_OP_exit || i->op == PTXI_OP_trap ||
           i->op == PTXI_OP_unreachable;
}

/* Passes, in the order in which ptxi_compile() runs them; false when memory is short (ir->oom) unless said otherwise. */
bool ptxi_cfg_build(struct ptxi_ir *ir);
bool ptxi_cfg_order(struct ptxi_ir *ir);
bool ptxi_copies(struct ptxi_ir *ir);
bool ptxi_algebra(struct ptxi_ir *ir);
bool ptxi_operand_order(struct ptxi_ir *ir);
bool ptxi_contract(struct ptxi_ir *ir);
bool ptxi_constants(struct ptxi_ir *ir);
bool ptxi_uniform(struct ptxi_ir *ir);
bool ptxi_fuse(struct ptxi_ir *ir);
bool ptxi_slots(struct ptxi_ir *ir); /* false without ir->oom: the frame is too large */
struct ptxi_code *ptxi_emit(struct ptxi_ir *ir, const struct ptxi_compile_options *options, struct ptxi_arena *arena);
const char *ptxi_verify(struct ptxi_ir *ir); /* NULL, or what is wrong */

/* peephole.c: what copies one operand becomes a move. */
void ptxi_simplify(const struct ptxi_ir *ir, struct ptxi_ir_inst *inst);

/* liveness.c: where each virtual register is live, as ranges of positions in the layout. Instruction k of the layout
 * reads at 2k and writes at 2k + 1. The setup code stands at the front of the layout. */
struct ptxi_live_range {
    uint32_t start, end; /* end is not in it */
};

struct ptxi_liveness {
    struct ptxi_live_range *ranges;
    uint32_t *first, *count; /* per vreg: its ranges, ascending and apart */
    uint8_t *at_entry;       /* per vreg: live where the body begins, so that a read may come before any write */
    uint32_t positions;
};

bool ptxi_liveness(struct ptxi_ir *ir, struct ptxi_liveness *out);

/* unwritten.c: registers that may be read before they are written. The first of these adapts guarded definitions, and the liveness; the
 * second lists the slots. */
bool ptxi_keep_guarded(struct ptxi_ir *ir, struct ptxi_liveness *live);
bool ptxi_list_unwritten(struct ptxi_ir *ir, const struct ptxi_liveness *live);

/* Whether it is a word of the function's own arguments, which the caller writes. */
static inline bool ptxi_ir_is_argument(const struct ptxi_ir *ir, uint32_t vreg)
{
    const struct ptxi_vreg *v = &ir->vregs[vreg];
    uint32_t fixed = v->kind == PTXI_VR_WORD ? ir->areas[v->value].fixed : PTXI_NONE;

    return fixed != PTXI_NONE && fixed < ir->arg_words * ptxi_class_units[PTXI_RC_32];
}

#endif
