/* Accesses to shared memory of other CTAs of the cluster, which must have started and not exited yet. */
#ifndef PTXI_EXEC_CHECK_CLUSTER_H
#define PTXI_EXEC_CHECK_CLUSTER_H

#include "exec/check/order.h"

/* An access, which leaves the record. */
void ptxi_cluster_note(const struct ptxi_check_thread *t, struct ptxi_cta *owner, const struct ptxi_record *r,
                       bool write);

#endif
