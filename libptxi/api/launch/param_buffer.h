/* Memory that is given to kernels until their launch has ended: parameters of the kernels that they launch, and texts.
 */
#ifndef PTXI_API_LAUNCH_PARAM_BUFFER_H
#define PTXI_API_LAUNCH_PARAM_BUFFER_H

#include "api/launch/launch.h"

enum ptxi_buffer_kind {
    PTXI_BUFFER_TEXT,
    PTXI_BUFFER_PARAMETERS, /* of a kernel that the call that launches it names */
    PTXI_BUFFER_CALL        /* of `function`, with `shape` */
};

struct ptxi_param_buffer {
    struct ptxi_param_buffer *next;
    struct ptxi_heap_block *block;
    enum ptxi_buffer_kind kind;
    size_t bytes;
    ptxiFunction function;
    struct ptxi_launch_shape shape;
};

/* NULL if there is no memory or there are too many. */
struct ptxi_param_buffer *ptxi_param_buffer_create(struct ptxi_launch *l, size_t bytes, enum ptxi_buffer_kind kind);

/* Removes the buffer of that kind at the address from the list. NULL if there is none. */
struct ptxi_param_buffer *ptxi_param_buffer_take(struct ptxi_launch *l, uint64_t at, enum ptxi_buffer_kind kind);

void ptxi_param_buffers_free(struct ptxi_launch *l);

#endif
