/* From the intermediate form to bytecode: register allocation, emission, listings. */
#ifndef PTXI_COMPILE_CODEGEN_CODEGEN_H
#define PTXI_COMPILE_CODEGEN_CODEGEN_H

#include "base/str.h"
#include "compile/ir/ir.h"
#include "compile/ir/options.h"

/* Gives every virtual register its slot. False with ir->oom if memory is short, without it if the frame is too
 * large. */
bool ptxi_allocate_registers(struct ptxi_ir *ir);

/* Checks the register allocation with an independent algorithm. Returns NULL, or the description of an error. */
const char *ptxi_verify_allocation(struct ptxi_ir *ir);

/* Sets PTXI_MBARRIER_ONLY_WAITS of waits at mbarriers in loops that only wait. */
void ptxi_mark_mbarrier_wait_loops(struct ptxi_insn *insns, uint32_t count);

/* NULL if memory is short. */
struct ptxi_code *ptxi_emit(struct ptxi_ir *ir, const struct ptxi_compile_options *options, struct ptxi_arena *arena);

/* Appends a listing of the bytecode, for people. */
void ptxi_dump(const struct ptxi_code *code, struct ptxi_str *out);
/* The same for one instruction, without the end of the line. */
void ptxi_dump_insn(const struct ptxi_code *code, uint32_t index, struct ptxi_str *out);

/* --- unwritten.c: registers that may be read before they are written --- */

/* Makes guarded definitions keep the old value where a read in other lanes may see it, and computes the liveness
 * again. */
bool ptxi_keep_guarded(struct ptxi_ir *ir, struct ptxi_liveness *live);
/* Lists the slots of registers that may be read before they are written, in ir->unwritten. */
bool ptxi_list_unwritten(struct ptxi_ir *ir, const struct ptxi_liveness *live);

/* --- live_heads.c --- */

/* Finds ir->live_heads, when registers have their slots. */
bool ptxi_find_live_heads(struct ptxi_ir *ir, const struct ptxi_liveness *live);

/* --- track_init.c --- */

/* Inserts instructions that track uninitialised values. */
bool ptxi_track_init(struct ptxi_ir *ir);

/* --- check_wgmma.c --- */

/* Inserts reports of misuse of wgmma. */
bool ptxi_check_wgmma(struct ptxi_ir *ir);

/* --- check_arrivals.c --- */

/* Inserts instructions that note which threads have come to code behind .sync instructions and barriers. */
bool ptxi_check_arrivals(struct ptxi_ir *ir);

/* --- track_pointers.c --- */

enum { PTXI_MAX_ORIGINS = 3 };

/* The registers that a value comes from. */
struct ptxi_origins {
    uint32_t v[PTXI_MAX_ORIGINS];
    uint8_t count;
    bool unknown;
};

/* Inserts instructions that compare the object of an access with that of its pointer. */
bool ptxi_track_pointers(struct ptxi_ir *ir);
/* For each register, the number of writes, at most 2. A write in some lanes counts as 2. */
void ptxi_count_definitions(const struct ptxi_ir *ir, uint8_t *definitions);
/* Inserts the check of an access before it. mods: PTXI_OBJECT_... */
void ptxi_check_origins(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, const struct ptxi_origins *o,
                        uint16_t mods);

/* --- local_parts.c --- */

/* Finds registers with addresses of parts of .local variables (ir->parts). */
bool ptxi_find_local_parts(struct ptxi_ir *ir);

/* --- track_shared.c --- */

/* The same for shared and .local variables. */
bool ptxi_track_shared(struct ptxi_ir *ir);

#endif
