/* Texture and surface objects, and what references to them share with them. */
#ifndef PTXI_API_TEXTURE_TEXTURE_H
#define PTXI_API_TEXTURE_TEXTURE_H

#include "api/context/context.h"
#include "exec/texture/texture.h"

/* An object: what a kernel sees of it, and what it was made from. */
struct ptxi_api_object {
    ptxiContext ctx;
    struct ptxi_texture texture;
    uint64_t number;
    PTXI_RESOURCE_DESC resource;
    PTXI_TEXTURE_DESC sampler;
    PTXI_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct ptxi_api_object *next; /* the context's list */
};

/* Makes an object of either kind; `sampler` and `view` may be NULL. */
ptxiResult ptxi_api_object_create(ptxiContext ctx, enum ptxi_object_kind kind, const PTXI_RESOURCE_DESC *resource, const PTXI_TEXTURE_DESC *sampler,
                                  const PTXI_RESOURCE_VIEW_DESC *view, uint64_t *number);
/* Wait for the context's work, take the object out of the table, and free it when launches made meanwhile have ended.
 * PTXI_ERROR_INVALID_VALUE if there is no such object. */
ptxiResult ptxi_api_object_destroy(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind);

/* When a context is closed: first the references to no module's variable, then the objects, then the arrays (array.h). */
void ptxi_references_free_all(ptxiContext ctx);
void ptxi_objects_free_all(ptxiContext ctx);

#endif
