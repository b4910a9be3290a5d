/* Frames: the registers of one call of a function. A frame is referenced by its splits and by the frames called from
 * it. The last reference returns it to the warp's free lists. */
#ifndef PTXI_EXEC_ENGINE_FRAME_H
#define PTXI_EXEC_ENGINE_FRAME_H

#include <stddef.h>

#include "exec/engine/warp.h"

/* A frame without references, with its constants. NULL: memory is short. */
struct ptxi_frame *ptxi_frame_create(struct ptxi_warp *w, const struct ptxi_code *code);
/* Size of a frame that is not the kernel's. */
size_t ptxi_frame_bytes(const struct ptxi_frame *frame);
/* Gives up one reference. */
void ptxi_frame_unref(struct ptxi_warp *w, struct ptxi_frame *frame);
void ptxi_warp_free_frames(struct ptxi_warp *w);

/* Writes the constants of the function. */
void ptxi_frame_fill_constants(struct ptxi_frame *frame, const struct ptxi_code *code);
/* Fills the registers that the function may read before it writes them. */
void ptxi_frame_fill_unwritten(struct ptxi_frame *frame);
/* Fills new .local memory of lanes. */
void ptxi_local_fill(struct ptxi_warp *w, ptxi_lanes lanes, uint64_t at, uint64_t bytes);

#endif
