/* The native tier: machine code for hot functions, behind the same bytecode. doc/design.md, "Native tier", describes
 * it.
 *
 * Machine code runs a warp from the head of a block on. A function has code for warps with all lanes active and, when
 * warps have diverged often, partial code for others. It keeps the registers of the frame as the handlers do, and
 * leaves at an exact pc to the interpreter for everything else: divergence, faults, waits, used quanta. An operation
 * without native code is a call of its handler. */
#ifndef PTXI_NATIVE_NATIVE_H
#define PTXI_NATIVE_NATIVE_H

#include "exec/engine/dispatch.h"

/* PTXI_TIER_AUTO compiles a function after about this many starts and continuations of warps. */
enum { PTXI_NATIVE_HEAT = 256 };

/* The dispatch loop of launches with the native tier, for struct ptxi_level. */
struct ptxi_warp *ptxi_native_run(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* Whether the function and those that it calls are known to have no machine code. Then the interpreter's loop is
 * faster. */
bool ptxi_native_is_useless(const struct ptxi_code *code);

/* Frees the machine code of a function, which nothing executes any more. */
void ptxi_native_release(const struct ptxi_code *code);

/* Whether an operation has native code. */
bool ptxi_native_has(unsigned op);

/* Machine code, for people. */
struct ptxi_native_piece {
    uint32_t at, insn; /* where the code begins, and of which instruction it is */
};

struct ptxi_native_listing {
    unsigned char *bytes;
    uint32_t size;
    uint32_t *begin; /* where the code of each instruction begins; 0: the instruction is part of the one before */
    uint32_t enter;  /* where the code begins, after the constants */
    struct ptxi_native_piece *rare; /* code of rare cases, after that of the instructions */
    uint32_t rare_count;
};

/* Compiles a function. False: the host has no native tier, or memory is short. */
bool ptxi_native_list(const struct ptxi_code *code, ptxi_handler *const *table, struct ptxi_native_listing *listing);
void ptxi_native_listing_free(struct ptxi_native_listing *listing);

#endif
