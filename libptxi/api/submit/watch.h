/* Waits that another thread can end. */
#ifndef PTXI_API_WATCH_H
#define PTXI_API_WATCH_H

#include "ptxi.h"

/* Begin and end a wait, as ptxiWatchBegin() and ptxiWatchEnd() do. */
ptxiResult ptxi_watch_begin(ptxiWatch *w, ptxiContext ctx);
void ptxi_watch_end(ptxiWatch *w, ptxiContext outer);

#endif
