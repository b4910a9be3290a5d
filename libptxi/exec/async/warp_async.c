#include "exec/async/warp_async.h"

#include <stdlib.h>

struct ptxi_warp_async *ptxi_warp_async_get(struct ptxi_warp *w)
{
    if (!w->async)
        w->async = calloc(1, sizeof *w->async);
    w->exits_at_once = false; /* the end of the warp completes its copies */
    return w->async;
}

void ptxi_warp_async_free(struct ptxi_warp *w)
{
    if (w->async)
        free(w->async->ring);
    free(w->async);
    w->async = NULL;
}
