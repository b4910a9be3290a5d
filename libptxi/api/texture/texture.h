/* Texture and surface objects. Texture and surface references create them, too. */
#ifndef PTXI_API_TEXTURE_TEXTURE_H
#define PTXI_API_TEXTURE_TEXTURE_H

#include "api/context/context.h"
#include "exec/texture/texture.h"

/* An object: the texture or surface that kernels use, and the descriptions that it was created from. */
struct ptxi_api_object {
    ptxiContext ctx;
    struct ptxi_texture texture;
    uint64_t number; /* in the context's table of objects; kernels use it as the handle */
    PTXI_RESOURCE_DESC resource;
    PTXI_TEXTURE_DESC sampler;
    PTXI_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct ptxi_api_object *next; /* in the context's list */
};

/* Creates an object of either kind. `sampler` and `view` may be NULL. */
ptxiResult ptxi_api_object_create(ptxiContext ctx, enum ptxi_object_kind kind, const PTXI_RESOURCE_DESC *resource,
                                  const PTXI_TEXTURE_DESC *sampler, const PTXI_RESOURCE_VIEW_DESC *view,
                                  uint64_t *number);

/* Waits for the context's work, removes the object from the table, waits for launches that started meanwhile, and frees
 * the object. PTXI_ERROR_INVALID_VALUE if there is no such object. */
ptxiResult ptxi_api_object_destroy(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind);

/* Called when a context is closed, in this order, before the arrays are freed (array.h). The first frees references
 * that the program has created. References of modules are freed with their modules. */
void ptxi_references_free_all(ptxiContext ctx);
void ptxi_objects_free_all(ptxiContext ctx);

#endif
