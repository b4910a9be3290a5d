/* Programs that are run with each of their allocations failing. */
#ifndef PTXI_TESTS_NO_MEMORY_H
#define PTXI_TESTS_NO_MEMORY_H

#include "ptxi.h"

#include <stdbool.h>

void die(const char *what);

/* True to continue. The only accepted errors are lack of memory and `also`. */
bool fine(ptxiResult r, ptxiResult also, const char *call);
#define FINE(call) fine(call, PTXI_SUCCESS, #call)
#define TRY(call) do { if (!FINE(call)) return false; } while (0)

/* Runs in a new context that is current. True if nothing failed. Leaves only objects that the context owns. */
bool use_links(ptxiContext ctx);
bool use_textures(ptxiContext ctx);
bool use_copies(ptxiContext ctx);
bool use_tensor_memory(ptxiContext ctx);
bool use_children(ptxiContext ctx);
bool use_nodes(ptxiContext ctx);
bool use_host_memory(ptxiContext ctx);
bool use_streams(ptxiContext ctx);
bool use_files(ptxiContext ctx);
bool use_libraries(ptxiContext ctx);
bool use_peers(ptxiContext ctx);
bool use_graph_memory(ptxiContext ctx);
bool use_mapped_memory(ptxiContext ctx);
bool use_shared_memory(ptxiContext ctx);
bool use_snapshots(ptxiContext ctx);
bool use_windows(ptxiContext ctx);

#endif
