/* The work of a node of a graph: the description of a launch, a copy, a fill, a call or an event. */
#ifndef PTXI_API_GRAPH_WORK_H
#define PTXI_API_GRAPH_WORK_H

#include "api/launch/launch.h"
#include "api/memory/graph_memory.h"
#include "api/stream/event.h"

/* Attributes of a kernel node. */
struct ptxi_node_attributes {
    unsigned cluster[3];              /* 0: not requested */
    bool cooperative;
    ptxiLaunchAttributeValue kept[6]; /* attributes without effect, see graph_node.c */
};

/* A choice among bodies, of a conditional node. */
struct ptxi_branches {
    ptxiGraphConditionalHandle handle; /* a reference */
    ptxiGraphConditionalNodeType kind;
    unsigned count;
    ptxiGraph *bodies;                 /* owned by the node */
};

struct ptxi_work {
    ptxiGraphNodeType type;
    union {
        struct {
            PTXI_KERNEL_NODE_PARAMS kernel; /* its kernelParams and extra are NULL; the parameters are here: */
            unsigned char *params;          /* `bytes` of them, malloc'ed */
            void **pointers;                /* to each of `count` parameters; malloc'ed */
            size_t bytes;
            unsigned count;
            struct ptxi_node_attributes attributes;
        };
        PTXI_MEMCPY3D copy;
        PTXI_MEMSET_NODE_PARAMS set;
        PTXI_HOST_NODE_PARAMS host;
        ptxiGraph child;                    /* owned by the node */
        ptxiEvent event;                    /* a reference */
        struct ptxi_branches branches;
        struct ptxi_graph_memory *memory;   /* a reference; of nodes that allocate or free it */
        PTXI_BATCH_MEM_OP_NODE_PARAMS operations; /* its array is malloc'ed */
    };
};

/* These copy the parameters. The caller frees the work, or passes it to ptxi_graph_add(). */
ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p);
ptxiResult ptxi_work_copy(struct ptxi_work *w, const PTXI_MEMCPY3D *p);
ptxiResult ptxi_work_set(struct ptxi_work *w, const PTXI_MEMSET_NODE_PARAMS *p);
ptxiResult ptxi_work_host(struct ptxi_work *w, const PTXI_HOST_NODE_PARAMS *p);
ptxiResult ptxi_work_event(struct ptxi_work *w, ptxiGraphNodeType type, ptxiEvent e);
ptxiResult ptxi_work_allocate(struct ptxi_work *w, ptxiContext ctx, PTXI_MEM_ALLOC_NODE_PARAMS *p); /* sets dptr */
ptxiResult ptxi_work_free_memory(struct ptxi_work *w, ptxiDevicePtr dptr);
ptxiResult ptxi_work_operations(struct ptxi_work *w, const PTXI_BATCH_MEM_OP_NODE_PARAMS *p);
ptxiResult ptxi_work_launch(struct ptxi_work *w, const struct ptxi_launch_description *d);

/* True for work that allocates or frees memory. */
bool ptxi_work_is_memory(const struct ptxi_work *w);

/* The description of a kernel node. `extra` gets the parameters in the form of ptxiLaunchKernel(). */
enum { PTXI_WORK_EXTRA = 5 };
struct ptxi_launch_description ptxi_work_description(struct ptxi_work *w, void *extra[PTXI_WORK_EXTRA]);

/* Work without graphs in it. ptxi_graph_work_free() and ptxi_graph_work_duplicate() handle all work. The copy fails if
 * there is no memory, and leaves nothing to free. */
void ptxi_work_free_simple(struct ptxi_work *w);
bool ptxi_work_duplicate_simple(struct ptxi_work *to, const struct ptxi_work *from);

#endif
