/* The state of a compilation, and what the families of operations (family_....c) build upon.
 *
 * The unit of the register cache is a part: as many bytes of a slot as a vector register has. A part is known by its
 * offset in the frame. Code of an operation goes over the parts of its operands:
 *
 *     for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
 *         unsigned a = ptxi_native_source(c, ptxi_native_part(c, i->a, k)), d = ptxi_native_new(c);
 *         ptxi_x86_vector(&c->x, PTXI_V_PADDD, d, a, ptxi_native_operand(c, ptxi_native_part(c, i->b, k)));
 *         ptxi_native_define(c, ptxi_native_part(c, i->d, k), d);
 *         ptxi_native_end_part(c);
 *     }
 *
 * A part in a register may be newer than the frame (dirty). What needs the frame (handlers, the interpreter, other
 * blocks) finds it complete: the code before stores the dirty parts. Rare cases are in code at the end of the
 * function, which begins with the registers as they are at the jump to it (ptxi_native_rare()). */
#ifndef PTXI_NATIVE_BUILDER_H
#define PTXI_NATIVE_BUILDER_H

#include "exec/engine/cta.h"
#include "exec/engine/warp.h"
#include "isa/isa.h"
#include "native/encoder.h"
#include "native/native.h"

/* General registers with a fixed content. Operations use rax, rcx, rdx, rsi and rdi. */
enum {
    PTXI_NATIVE_WARP = PTXI_RBX,
    PTXI_NATIVE_FRAME = PTXI_RBP,       /* w->regs */
    PTXI_NATIVE_HITS = PTXI_R12,        /* w->hits */
    PTXI_NATIVE_GENERATION = PTXI_R13,  /* w->generation */
    PTXI_NATIVE_SHARED = PTXI_R14,      /* w->shared_origin */
    PTXI_NATIVE_ROW = PTXI_R15          /* the first 8 bytes of a row register with a row of the active lanes */
};

/* Constants at the start of the code. Each is a vector of the widest width, or a table of lanes. */
enum ptxi_native_const {
    PTXI_CONST_ZERO, PTXI_CONST_ONES, PTXI_CONST_ONE, PTXI_CONST_SIGN, PTXI_CONST_MAGNITUDE, PTXI_CONST_NAN,
    PTXI_CONST_31, PTXI_CONST_32,
    PTXI_CONST_IOTA,       /* 32 words: the number of the lane */
    PTXI_CONST_IOTA_4,     /* 4 times that */
    PTXI_CONST_LANE_BIT,   /* 32 words: the bit of the lane */
    PTXI_CONST_LANE_BIT_64 /* the same for 64-bit elements, in both words */
};

enum { PTXI_NATIVE_REGISTERS = 32, PTXI_NATIVE_NO_PART = -1 };

struct ptxi_native_cache {
    int32_t part[PTXI_NATIVE_REGISTERS];
    uint32_t dirty;                      /* registers that are newer than the frame */
    uint32_t raw;                        /* dirty registers with f32 results that may have any NaN */
};

/* What the code of a rare case does after it has stored the dirty parts. */
enum ptxi_native_rare_kind {
    PTXI_RARE_HANDLER,  /* calls the handler, loads the registers again, and continues after the operation */
    PTXI_RARE_LEAVE,    /* calls the handler, and leaves at the pc that it returns */
    PTXI_RARE_JUMP,     /* jumps to another block */
    PTXI_RARE_ROUNDS,   /* stores nothing: further rounds of a loop, see rounds.c */
    PTXI_RARE_HEAD,     /* executes a loop by other code than that copy */
    PTXI_RARE_REGION,   /* executes the paths of some lanes up to the block where they meet, and jumps there */
    PTXI_RARE_CANONIZE, /* stores nothing: replaces NaNs in registers by the canonical one, and continues */
    PTXI_RARE_ENTER     /* not a jump, but an entry from the dispatch loop: loads the registers, and continues */
};

struct ptxi_native_builder;
/* Code of an operation. See ptxi_native_emitter. */
typedef void ptxi_native_lanes_emitter(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t first,
                                       uint32_t second);

struct ptxi_native_rare {
    enum ptxi_native_rare_kind kind;
    uint32_t insn, target;               /* target: JUMP, HEAD: number of an instruction */
    uint32_t region_exit;                /* as in the region of the builder */
    bool region_whole;
    bool partial;
    unsigned registers[2];               /* CANONIZE */
    ptxi_native_lanes_emitter *lanes;    /* HANDLER, REGION: what to try before, or NULL */
    uint32_t jump;                       /* the last jump to it, or UINT32_MAX */
    uint32_t resume;                     /* HANDLER, CANONIZE, REGION with `lanes`: where the code continues */
    struct ptxi_native_cache before, after;
};

/* A jump, to the head of a block or to a rare case. The list of the jumps to a rare case ends with UINT32_MAX. */
struct ptxi_native_jump {
    uint32_t place, target, next;
    bool rare;
};

/* Shapes of addresses that have been checked since the code was entered last. Byte k at rsp is the result of the check
 * of number k. */
enum { PTXI_NATIVE_SHAPES = 7 };

enum { PTXI_REGION_HEADS = 8, PTXI_REGION_JUMPS = 44 };

enum { PTXI_LANE_LOADS = 16, PTXI_LANE_SAVED = 1536 /* bytes */ };

/* The stack of partial code and of regions: offsets from rsp. The words have all bits of the lanes set. */
enum {
    PTXI_STACK_ALL = 8,                               /* regions: mask of the lanes on all paths */
    PTXI_STACK_ACTIVE = 16, PTXI_STACK_INACTIVE = 20, /* masks of lanes */
    PTXI_STACK_PC = 24,                               /* regions: an instruction */
    PTXI_STACK_ACTIVE_WORDS = 32,
    PTXI_STACK_INACTIVE_WORDS = PTXI_STACK_ACTIVE_WORDS + 4 * PTXI_LANES,
    PTXI_STACK_WAITING = PTXI_STACK_INACTIVE_WORDS + 4 * PTXI_LANES, /* masks of lanes at the heads of a region */
    /* loops lane by lane (lane_loop.c): not 0 if a check has failed; rounds after the first one that a lane may run,
     * that this lane has left, and that a lane has run at most; bounds of loads; values at the head */
    PTXI_STACK_LANE_FAILED = PTXI_STACK_WAITING + 4 * PTXI_REGION_HEADS,
    PTXI_STACK_LANE_LIMIT = PTXI_STACK_LANE_FAILED + 4,
    PTXI_STACK_LANE_LEFT = PTXI_STACK_LANE_LIMIT + 4,
    PTXI_STACK_LANE_MOST = PTXI_STACK_LANE_LEFT + 4,
    PTXI_STACK_BOUNDS = PTXI_STACK_LANE_MOST + 4,
    PTXI_STACK_SAVED = PTXI_STACK_BOUNDS + 16 * PTXI_LANE_LOADS,
    PTXI_STACK_SIZE = PTXI_STACK_SAVED + PTXI_LANE_SAVED
};

/* Instructions that lanes of a warp execute on different paths: region.c. */
struct ptxi_native_region {
    uint32_t end;                        /* the instruction where all paths meet */
    uint32_t heads[PTXI_REGION_HEADS];   /* instructions to which its branches lead, and the end */
    unsigned head_count;
    uint32_t exit;                       /* code that leaves it at the instruction in rax; 0: no region */
    bool whole;                          /* all lanes of the warp are on its paths, or wait at its heads */
    uint32_t jumps[PTXI_REGION_JUMPS];   /* to the next head */
    unsigned jump_count;
};

/* A place on the stack. */
static inline struct ptxi_x86_rm ptxi_native_on_stack(unsigned offset)
{
    return ptxi_x86_at(PTXI_RSP, (int32_t)offset);
}

enum { PTXI_ROUND_EXITS = 6 };

/* The copy of a loop. */
struct ptxi_native_round {
    uint32_t start;                       /* where it begins, */
    struct ptxi_native_cache cache;       /* and the registers there */
    uint32_t exits[PTXI_ROUND_EXITS];     /* instructions to which it leads. Partial code: inactive lanes wait there */
    unsigned exit_count;
};

enum { PTXI_NATIVE_FAILURES = 256 };

struct ptxi_native_builder {
    struct ptxi_x86 x;
    const struct ptxi_code *code;
    ptxi_handler *const *table;
    struct ptxi_native_cache cache;
    uint32_t used[PTXI_NATIVE_REGISTERS]; /* when a register was used last */
    uint32_t clock;
    uint32_t kept, kept_in_part;          /* registers that the operation, the part, still needs */
    unsigned registers, bytes;            /* of the host: number for values, and bytes of one */
    uint16_t shapes[PTXI_NATIVE_SHAPES];  /* slots */
    unsigned shape_count;
    bool partial;                         /* the code is for warps in which some lanes are inactive: partial.c */
    struct ptxi_native_region region;     /* to which the code belongs, if region.exit is not 0 */
    uint32_t region_room;                 /* number of instructions that further regions may have */
    uint32_t now;                         /* the instruction */
    bool dead;                            /* no code reaches this place */
    bool *heads;                          /* instructions to which others jump */
    bool *simple;                         /* instructions that a region may have, if branches among them lead forward */
    bool *keeps;                          /* branches back that end a loop whose values stay in registers: rounds.c */
    const struct ptxi_native_round *round; /* the copy of such a loop to which the code belongs, or NULL */
    bool *in_loop;                        /* instructions between a backward branch and its target */
    uint32_t *entry;                      /* where the code of an instruction begins if it may be entered there, or 0 */
    uint32_t *table_of;                   /* where the table of an instruction is, see family_lanes.c */
    uint32_t *begin;                      /* where the code of an instruction begins */
    struct ptxi_native_piece *pieces;     /* the code of rare cases */
    uint32_t piece_count, piece_capacity;
    uint32_t start;                       /* code that enters a block */
    uint32_t leave;                       /* code that leaves with the pc in rax */
    uint32_t switch_warp;                 /* code that goes on with another warp, or leaves with the pc in rax */
    uint32_t switch_table;                /* where this code has the distance of its table */
    struct ptxi_native_rare *rare;
    uint32_t rare_count, rare_capacity;
    struct ptxi_native_jump *jumps;
    uint32_t jump_count, jump_capacity;
    uint32_t failures[PTXI_NATIVE_FAILURES]; /* jumps of ptxi_native_fail() in a rare case or a loop lane by lane */
    unsigned failure_count;
    bool in_lane_loop;
    uint32_t lanes_case;                  /* where ptxi_native_fail() jumps to if the code is in no rare case */
    bool in_rare_case;                    /* the code is at the end, where no further rare cases are declared */
    bool oom;
};

/* The code of an operation. False: it is not for this form, and the handler is called instead. Then nothing was
 * emitted. */
typedef bool ptxi_native_emitter(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t first,
                                 uint32_t second);

/* Whether the imm of an operation is a distance to which it jumps. */
static inline bool ptxi_native_is_branch(unsigned op)
{
    return ptxi_op_flags[op] & PTXI_OP_FLAG_BRANCH;
}

/* Whether code of an operation may go on with another warp: barriers, exit. */
static inline bool ptxi_native_switches(unsigned op)
{
    return op == PTXI_OP_exit || op == PTXI_OP_bar_sync || op == PTXI_OP_bar_red_popc || op == PTXI_OP_bar_red_and ||
           op == PTXI_OP_bar_red_or;
}

/* Whether a product of 32-bit operands has an addend. */
static inline bool ptxi_native_is_mad_wide(const struct ptxi_insn *i)
{
    return i->op == PTXI_OP_mad_wide_s32 || i->op == PTXI_OP_mad_wide_u32;
}

/* Whether a loop waits for other threads. */
static inline bool ptxi_native_waits(const struct ptxi_insn *branch)
{
    return branch->mods & (PTXI_LOOP_WAITS | PTXI_LOOP_POLLS);
}

/* --- parts --- */
unsigned ptxi_native_parts(const struct ptxi_native_builder *c, unsigned bits); /* of a register with such elements */
int32_t ptxi_native_part(const struct ptxi_native_builder *c, unsigned slot, unsigned k);

/* Whether nobody reads what a slot has in inactive lanes now: in a region, they wait at later blocks, and in the copy
 * of a loop where the loop leads. */
bool ptxi_native_is_dead(const struct ptxi_native_builder *c, unsigned slot);

unsigned ptxi_native_new(struct ptxi_native_builder *c); /* a register; for the operation */
/* The same from the first 16, for VEX instructions on 128 bits; for the part. */
unsigned ptxi_native_temporary(struct ptxi_native_builder *c);
/* The part in a register, or where it is now. The register must not be written. */
unsigned ptxi_native_source(struct ptxi_native_builder *c, int32_t part);
struct ptxi_x86_rm ptxi_native_operand(struct ptxi_native_builder *c, int32_t part);
/* The same for operations whose result does not depend on which NaN an f32 operand is. */
unsigned ptxi_native_source_f32(struct ptxi_native_builder *c, int32_t part);
struct ptxi_x86_rm ptxi_native_operand_f32(struct ptxi_native_builder *c, int32_t part);
/* Part k of a slot with elements of `bits` bits = reg. In partial code, reg gets the old values of inactive lanes. */
void ptxi_native_define(struct ptxi_native_builder *c, unsigned slot, unsigned k, unsigned bits, unsigned reg);
/* The same for an f32 result with any NaN. Who stores or reads it replaces NaNs first. */
void ptxi_native_define_f32(struct ptxi_native_builder *c, unsigned slot, unsigned k, unsigned reg);
/* The register that has the part, to be overwritten by a new value of the same part, or UINT_MAX. It may have any NaN.
 */
unsigned ptxi_native_own(struct ptxi_native_builder *c, int32_t part);
void ptxi_native_end_part(struct ptxi_native_builder *c);
/* Partial code: reg = the masks of the active or inactive lanes of part k, as elements of 32 or 64 bits. */
void ptxi_native_load_mask(struct ptxi_native_builder *c, unsigned reg, unsigned k, unsigned bits, bool active);

/* Stores the parts of a slot, so that code can read the frame: all dirty ones among `count` from the first one on. */
void ptxi_native_sync(struct ptxi_native_builder *c, unsigned slot, unsigned count);
/* A handler, or code with general registers, writes the slot in the frame: registers lose its parts. */
void ptxi_native_forget(struct ptxi_native_builder *c, unsigned slot, unsigned units);
/* At the end of a block: registers lose the parts that no register needs at the instructions a and b, where the code
 * may continue. The operands of the branch i, if it is not NULL, remain. */
void ptxi_native_forget_dead(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t a, uint32_t b);
/* Registers lose the stored parts that no register needs at an instruction. */
void ptxi_native_forget_clean(struct ptxi_native_builder *c, uint32_t insn);
/* Code that makes the registers as in `wanted`, where each part is dirty, or as raw, at least as it is now. */
void ptxi_native_arrange(struct ptxi_native_builder *c, const struct ptxi_native_cache *wanted);
void ptxi_native_flush(struct ptxi_native_builder *c); /* stores all dirty parts */
void ptxi_native_drop(struct ptxi_native_builder *c);  /* the same, and the cache is empty */

void ptxi_native_put_constants(struct ptxi_native_builder *c);
void ptxi_native_put_lane_tables(struct ptxi_native_builder *c);
struct ptxi_x86_rm ptxi_native_constant(enum ptxi_native_const id, unsigned offset);
/* Whether a slot has a 32-bit constant of the code. */
bool ptxi_native_find_constant(const struct ptxi_code *code, unsigned slot, uint32_t *value);
/* Element 0 of a slot, or a predicate, in the frame. */
struct ptxi_x86_rm ptxi_native_scalar(struct ptxi_native_builder *c, unsigned slot);
struct ptxi_x86_rm ptxi_native_frame(unsigned slot, unsigned offset);

/* Replaces NaNs in a register by the one of f32 results. */
void ptxi_native_replace_nan(struct ptxi_native_builder *c, unsigned reg);

/* --- rare cases --- */
uint32_t ptxi_native_rare(struct ptxi_native_builder *c, enum ptxi_native_rare_kind kind);
/* A rare case of kind HANDLER or REGION tries this first. */
void ptxi_native_try_lanes(struct ptxi_native_builder *c, uint32_t rare, ptxi_native_lanes_emitter *lanes);
/* For listings: the code from here on is a rare case of the instruction. */
void ptxi_native_add_piece(struct ptxi_native_builder *c, uint32_t insn);
void ptxi_native_jump_rare(struct ptxi_native_builder *c, uint32_t rare, enum ptxi_x86_condition condition);
void ptxi_native_go_to_rare(struct ptxi_native_builder *c, uint32_t rare);
/* A rare case of kind HANDLER or CANONIZE continues here, after the operation. */
void ptxi_native_resume(struct ptxi_native_builder *c, uint32_t rare);
/* For code that works on the complete frame and may use all vector registers (ptxi_native_lanes_emitter): the handler
 * does the operation instead. In a loop lane by lane: ordinary code runs the loop. */
void ptxi_native_fail(struct ptxi_native_builder *c, enum ptxi_x86_condition condition);
void ptxi_native_jump_to(struct ptxi_native_builder *c, uint32_t insn);
void ptxi_native_call_handler(struct ptxi_native_builder *c, uint32_t insn); /* the result is in rax */

/* --- barriers and exit (family_warps.c). Code for other sets of lanes than all has none of this. --- */
void ptxi_native_put_switch(struct ptxi_native_builder *c);       /* the code c->switch_warp */
void ptxi_native_put_switch_table(struct ptxi_native_builder *c); /* its table, when all entries are known */

/* --- partial code, and what differs in it (partial.c). Row registers: exec/engine/row_register.h --- */
/* eax = the active lanes. Changes rcx and vector registers. */
void ptxi_native_put_lane_masks(struct ptxi_native_builder *c);
/* Compares a mask of lanes, of which only the active ones count, with that of all active lanes. */
void ptxi_native_compare_active(struct ptxi_native_builder *c, unsigned reg);
/* rax = the 64-bit element of the first active lane, in the frame; in partial code, rcx = this lane. */
void ptxi_native_load_first_active(struct ptxi_native_builder *c, unsigned slot);
/* A loop over the active lanes, in their order: rdx = the lane, edi = this lane and those after it. The first returns
 * the place that the second needs. */
uint32_t ptxi_native_begin_active(struct ptxi_native_builder *c);
void ptxi_native_end_active(struct ptxi_native_builder *c, uint32_t next);
/* A predicate = a general register, which changes. */
void ptxi_native_store_predicate(struct ptxi_native_builder *c, unsigned slot, unsigned reg);
/* AVX-512: the active or inactive lanes of part k, as a mask register. */
unsigned ptxi_native_load_mask_register(struct ptxi_native_builder *c, unsigned k, unsigned bits, bool active);
/* reg gets the elements of inactive lanes of part k from `old`. AVX2: `scratch` changes. */
void ptxi_native_merge(struct ptxi_native_builder *c, unsigned reg, struct ptxi_x86_rm old, unsigned k, unsigned bits,
                       unsigned scratch);
/* Stores a vector, the active lanes of part k. AVX2: `scratch` changes. */
void ptxi_native_store_vector(struct ptxi_native_builder *c, unsigned reg, struct ptxi_x86_rm memory, unsigned k,
                              unsigned bits, unsigned scratch);
/* The same for the frame. Inactive lanes get what the frame has: masked stores are slow, and loads wait for them. */
void ptxi_native_store_lanes(struct ptxi_native_builder *c, unsigned reg, struct ptxi_x86_rm frame, unsigned k,
                             unsigned bits, unsigned scratch);
/* Whether all active lanes of a row register are in its row. Changes rcx. */
void ptxi_native_check_row(struct ptxi_native_builder *c, unsigned slot, uint32_t rare);
/* The same, but fails. */
void ptxi_native_expect_row(struct ptxi_native_builder *c, unsigned slot);
/* Whether the row register may become a row: inactive lanes are not in a row, which would be lost. Changes rcx. */
void ptxi_native_check_target(struct ptxi_native_builder *c, unsigned slot, uint32_t rare);
/* The same, but fails. */
void ptxi_native_expect_target(struct ptxi_native_builder *c, unsigned slot);
/* Fails if an active lane of an address register is in a row. Changes rcx. */
void ptxi_native_expect_lanes(struct ptxi_native_builder *c, unsigned slot);
/* The active lanes of a row register are not in a row any more. Changes rcx. */
void ptxi_native_set_lanes(struct ptxi_native_builder *c, unsigned slot);
/* Another split of the warp may wait at an instruction: leaves if it is this one. */
void ptxi_native_check_stop(struct ptxi_native_builder *c, uint32_t insn);
/* Compares the address of an instruction with that at which another split waits. A jump must not go beyond it. */
void ptxi_native_compare_stop(struct ptxi_native_builder *c, uint32_t insn);

/* --- shared by comparisons and branches: eax = lanes for which a condition holds --- */
enum ptxi_native_kind { PTXI_SIGNED, PTXI_UNSIGNED };
enum ptxi_native_condition { /* as in the immediate of vpcmpd */
    PTXI_COMPARE_EQ = 0, PTXI_COMPARE_LT = 1, PTXI_COMPARE_LE = 2, PTXI_COMPARE_NE = 4, PTXI_COMPARE_GE = 5,
    PTXI_COMPARE_GT = 6
};
void ptxi_native_compare(struct ptxi_native_builder *c, const struct ptxi_insn *i, enum ptxi_native_kind kind,
                         enum ptxi_native_condition condition);

/* --- shared by operations on row registers and branches ---
 *
 * The ranges of index registers a and b: rax and rdx are the values of the first and the last lane of a, rsi and rdi
 * those of b. The flow goes to the rare case unless both are rows that do not fall and do not wrap. */
void ptxi_native_ranges(struct ptxi_native_builder *c, const struct ptxi_insn *i, enum ptxi_native_kind kind,
                        uint32_t rare);
/* For a comparison of their equality: goes to the rare case unless both are rows with the same stride. The flags are
 * those of a comparison of their first lanes. */
void ptxi_native_equality(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t rare);
/* Part k of the lanes of an index register, in the frame (spread.c). */
struct ptxi_x86_rm ptxi_native_index_lanes(const struct ptxi_native_builder *c, unsigned slot, unsigned k);
/* These lanes get the values of the register's row. */
void ptxi_native_spread(struct ptxi_native_builder *c, unsigned slot);
/* eax = the lanes in which a comparison of index registers holds, and anything in inactive lanes. For code that works
 * on the complete frame. */
void ptxi_native_compare_index_lanes(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t kind,
                                     uint32_t condition);
enum ptxi_native_index_op { PTXI_INDEX_MOV, PTXI_INDEX_ADD, PTXI_INDEX_SUB, PTXI_INDEX_MUL, PTXI_INDEX_SHL };

/* The emitters, by the names in op.def. */
#define NATIVE(op, emitter, first, second) ptxi_native_emitter ptxi_native_emit_##emitter;
#include "native/op.def"
#undef NATIVE

#endif
