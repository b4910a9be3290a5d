/* References of graphs to objects of the program. */
#include "api/graph/graph.h"

#include <limits.h>
#include <stdlib.h>

static struct ptxi_user_reference *find_reference(const struct ptxi_user_objects *o, ptxiUserObject object)
{
    for (unsigned i = 0; i < o->count; i++)
        if (o->at[i].object == object)
            return &o->at[i];
    return NULL;
}

/* Finds the graph's references to the object, or adds an entry without references. NULL: no memory. */
static struct ptxi_user_reference *make_reference(struct ptxi_user_objects *o, ptxiUserObject object)
{
    struct ptxi_user_reference *found = find_reference(o, object);

    if (found)
        return found;
    struct ptxi_user_reference *more = realloc(o->at, (o->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    o->at = more;
    more[o->count] = (struct ptxi_user_reference){ .object = object };
    return &more[o->count++];
}

ptxiResult ptxiGraphRetainUserObject(ptxiGraph graph, ptxiUserObject object, unsigned count, unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(graph);

    if (r || (r = ptxi_user_object_use(object, count)))
        return r;
    if (flags > PTXI_GRAPH_USER_OBJECT_MOVE)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_user_reference *reference = make_reference(&graph->objects, object);

    if (!reference)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (reference->count > UINT_MAX - count)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_user_object_retain(object, count, flags);
    if (!r)
        reference->count += count;
    else if (!reference->count)
        graph->objects.count--; /* it is the last one */
    return r;
}

ptxiResult ptxiGraphReleaseUserObject(ptxiGraph graph, ptxiUserObject object, unsigned count)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(graph);

    if (r || (r = ptxi_user_object_use(object, count)))
        return r;
    struct ptxi_user_reference *reference = find_reference(&graph->objects, object);

    if (!reference || reference->count < count)
        return PTXI_ERROR_INVALID_VALUE;
    reference->count -= count;
    if (!reference->count)
        *reference = graph->objects.at[--graph->objects.count];
    ptxi_user_object_release(object, count);
    return PTXI_SUCCESS;
}
