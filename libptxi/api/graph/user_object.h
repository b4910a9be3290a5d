/* Objects of the program that graphs keep alive. */
#ifndef PTXI_API_GRAPH_USER_OBJECT_H
#define PTXI_API_GRAPH_USER_OBJECT_H

#include "ptxi.h"

#include <stdbool.h>

/* The references of one graph. */
struct ptxi_user_objects {
    struct ptxi_user_reference {
        ptxiUserObject object;
        unsigned count;
    } *at;
    unsigned count;
};

/* Checks the count and holds the object until the call returns. PTXI_ERROR_INVALID_VALUE: there is no such object. */
ptxiResult ptxi_user_object_use(ptxiUserObject object, unsigned count);

/* Adds references of a graph, or moves those of the program. */
ptxiResult ptxi_user_object_retain(ptxiUserObject object, unsigned count, bool move);
void ptxi_user_object_release(ptxiUserObject object, unsigned count);

/* Copies references. False: no memory, and nothing to free. */
bool ptxi_user_objects_copy(struct ptxi_user_objects *to, const struct ptxi_user_objects *from);

void ptxi_user_objects_free(struct ptxi_user_objects *o); /* releases them */

#endif
