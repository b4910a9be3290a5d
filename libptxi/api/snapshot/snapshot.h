/* Contexts in files, for other calls than those of snapshots. The context has no work. */
#ifndef PTXI_API_SNAPSHOT_SNAPSHOT_H
#define PTXI_API_SNAPSHOT_SNAPSHOT_H

#include "api/context/context.h"

/* Whether these may be arguments of ptxi_snapshot_save(). */
bool ptxi_snapshot_may_write(const char *path, const void *note, size_t bytes);

/* Writes a file with the context and its progress, as ptxiCtxSave(). `base` may be NULL. */
ptxiResult ptxi_snapshot_save(ptxiContext ctx, const char *path, const char *base, const void *note, size_t bytes);

/* Returns the error of ptxi_snapshot_save(), with its reason, if the context has something that is not saved. */
ptxiResult ptxi_snapshot_check(ptxiContext ctx);

#endif
