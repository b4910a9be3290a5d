/* Tracking of uninitialised values in instructions in which lanes exchange values, in atomic operations, and in calls
 * (track_init.c). Each function inserts what an instruction needs before it. */
#ifndef PTXI_COMPILE_CODEGEN_TRACK_INIT_LANES_H
#define PTXI_COMPILE_CODEGEN_TRACK_INIT_LANES_H

#include "compile/codegen/track_init_inl.h"

enum tracking {
    TRACK_NOT_HERE,
    TRACK_COLLECTIVE, /* shfl, vote, match, redux */
    TRACK_MATRIX,     /* fragments of matrices */
    TRACK_LOAD,       /* the same, from memory */
    TRACK_STORE       /* the same, to memory */
};
/* How an operation is tracked here. */
enum tracking ptxi_track_init_kind(uint16_t op);
void ptxi_track_init_collective(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i);
/* Whether an operation accesses texels, and its registers that say which. Returns their number. */
bool ptxi_track_init_has_coordinates(uint16_t op);
uint32_t ptxi_track_init_coordinates(const struct tracker *t, const struct ptxi_ir_inst *i, const uint32_t **v);
void ptxi_track_init_list(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i);

void ptxi_track_init_atomic(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i);

/* Parts of a word of a parameter are written. */
void ptxi_track_init_insert(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i);
/* What a call passes, or, if `fixed` is set, what a function returns. What a call returns, and what a function receives
 * before instruction `at`. */
void ptxi_track_init_pass(struct tracker *t, uint32_t at, const struct ptxi_ir_arg *args, uint32_t count,
                          bool fixed);
void ptxi_track_init_receive(struct tracker *t, uint32_t at, const struct ptxi_ir_arg *rets, uint32_t count);
void ptxi_track_init_receive_arguments(struct tracker *t, uint32_t at);

#endif
