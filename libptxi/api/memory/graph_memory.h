/* Memory that nodes of graphs allocate and free. Its address is reserved as long as a node refers to it. It is
 * accessible from a launch that allocates it until the stream has freed it. */
#ifndef PTXI_API_MEMORY_GRAPH_MEMORY_H
#define PTXI_API_MEMORY_GRAPH_MEMORY_H

#include "api/queue/queue.h"

#include <stdbool.h>

/* Who frees the memory. Documentation of cuGraphAddMemAllocNode: nodes of the graph that allocates it, or others. */
enum ptxi_graph_memory_owner {
    PTXI_FREED_BY_ANY,
    PTXI_FREED_BY_OWN_GRAPH,
    PTXI_FREED_BY_OTHER_GRAPH,
};

struct ptxi_graph_memory;

/* Reserves the memory that the parameters describe, with one reference. */
ptxiResult ptxi_graph_memory_create(ptxiContext ctx, const PTXI_MEM_ALLOC_NODE_PARAMS *p,
                                    struct ptxi_graph_memory **memory);
void ptxi_graph_memory_ref(struct ptxi_graph_memory *m);
void ptxi_graph_memory_unref(struct ptxi_graph_memory *m);

/* Finds the memory that begins at the address, with a reference for the caller. NULL if there is none. */
struct ptxi_graph_memory *ptxi_graph_memory_find(uint64_t addr);

bool ptxi_graph_memory_contains(uint64_t addr); /* some such memory does, accessible or not */

/* The parameters of its node. The descriptions of access live as long as the memory. */
const PTXI_MEM_ALLOC_NODE_PARAMS *ptxi_graph_memory_params(const struct ptxi_graph_memory *m);

/* Decides whether the graph or the program frees the memory. False: it has been decided differently. */
bool ptxi_graph_memory_decide(struct ptxi_graph_memory *m, enum ptxi_graph_memory_owner owner);
enum ptxi_graph_memory_owner ptxi_graph_memory_owner(const struct ptxi_graph_memory *m);

/* Whether the calls that have been made so far leave it allocated. */
bool ptxi_graph_memory_is_allocated(const struct ptxi_graph_memory *m);

/* Allocates it for work that is submitted from now on. PTXI_ERROR_INVALID_VALUE: it is allocated. */
ptxiResult ptxi_graph_memory_allocate(struct ptxi_graph_memory *m);

/* Frees it when the stream reaches this point. PTXI_ERROR_INVALID_VALUE: it is not allocated. */
ptxiResult ptxi_graph_memory_free_in_stream(struct ptxi_graph_memory *m, struct ptxiStream_st *s);

/* ptxiMemFree(): waits for the work of its context. PTXI_ERROR_INVALID_VALUE: no such memory is allocated, or nodes of
 * its own graph free it. */
ptxiResult ptxi_graph_memory_free_now(uint64_t addr);

void ptxi_graph_memory_close_context(ptxiContext ctx); /* frees what is allocated; before the heap's blocks */

#endif
