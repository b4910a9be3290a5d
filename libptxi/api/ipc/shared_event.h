/* The state of an event that processes share. Each record has a number, which is larger than those of earlier records
 * of all processes. A process that waits for a record of another process learns when it is reached, or that the process
 * has ended. */
#ifndef PTXI_API_IPC_SHARED_EVENT_H
#define PTXI_API_IPC_SHARED_EVENT_H

#include "api/ipc/shared_file.h"

struct ptxi_shared_event;

/* At most so many records of an event can be in streams and not be reached. */
enum { PTXI_SHARED_EVENT_PENDING = 16384 };

/* Makes the state of a new event. NULL: there is no memory. */
struct ptxi_shared_event *ptxi_shared_event_create(void);
void ptxi_shared_event_free(struct ptxi_shared_event *e); /* in this process */

/* Gives the event a name for other processes. PTXI_ERROR_INVALID_CONTEXT if this process has opened it by its name,
 * PTXI_ERROR_OPERATING_SYSTEM. */
ptxiResult ptxi_shared_event_name(struct ptxi_shared_event *e, struct ptxi_shared_name *name);

/* Opens the event of a name. Errors as ptxi_shared_name_open(). */
ptxiResult ptxi_shared_event_open(const struct ptxi_shared_name *name, struct ptxi_shared_event **e);

/* A record takes a number, becomes the latest one when it is in its stream, and is reached once. The number 0: too many
 * records are pending. */
uint64_t ptxi_shared_event_take_number(struct ptxi_shared_event *e);
void ptxi_shared_event_set_latest(struct ptxi_shared_event *e, uint64_t number);
void ptxi_shared_event_reach(struct ptxi_shared_event *e, uint64_t number);

uint64_t ptxi_shared_event_latest(const struct ptxi_shared_event *e); /* 0: never recorded */

/* PTXI_SUCCESS if the record is reached, PTXI_ERROR_NOT_READY, or PTXI_ERROR_LAUNCH_FAILED if its process has ended
 * before. */
ptxiResult ptxi_shared_event_query(const struct ptxi_shared_event *e, uint64_t number);

/* Waits until the record is reached, or some milliseconds have passed. Results as above. */
ptxiResult ptxi_shared_event_wait_briefly(struct ptxi_shared_event *e, uint64_t number);

#endif
