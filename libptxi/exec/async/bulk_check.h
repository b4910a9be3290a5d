/* What the checks have to know about a bulk operation. */
#ifndef PTXI_EXEC_ASYNC_BULK_CHECK_H
#define PTXI_EXEC_ASYNC_BULK_CHECK_H

#include "exec/async/bulk_job.h"

/* A checked thread starts the operation. */
void ptxi_bulk_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j);

#endif
