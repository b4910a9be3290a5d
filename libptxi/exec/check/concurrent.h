/* Launches and copies of other streams that nothing orders with a launch (task.h). Records of earlier launches stay in
 * the shadow memory. Copies and fills have no records there: a checker keeps a list of the latest. */
#ifndef PTXI_EXEC_CHECK_CONCURRENT_H
#define PTXI_EXEC_CHECK_CONCURRENT_H

#include "exec/check/checker.h"
#include "exec/finding/finding.h"

struct ptxi_check;
struct ptxi_line;
struct ptxi_record;

/* The launch that was looked up last. */
struct ptxi_other_launch {
    uint32_t first_agent, agent_count;
    bool before;
};

/* The kind of access of a record. */
enum ptxi_access ptxi_record_access(const struct ptxi_record *r, bool write);

/* A thread of a launch that has left the record. */
struct ptxi_finding_site ptxi_check_site(const struct ptxi_check *check, const struct ptxi_record *r, uint32_t thread,
                                         enum ptxi_access access);

/* Notes a launch that begins. Under the checker's lock. */
void ptxi_concurrent_begin(struct ptxi_check *check);
/* Forgets all launches and copies. Under the lock, or when there are no other users. */
void ptxi_concurrent_reset(struct ptxi_checker *x);
/* Whether there is no room for another launch. Under the lock. */
bool ptxi_concurrent_is_full(const struct ptxi_checker *x);

/* A launch reads what the host may have written, or writes what the host may read. Accesses of the host are not seen.
 * The host is assumed to pass on what it knows, so this only removes reports. */
void ptxi_concurrent_acquire_from_host(struct ptxi_check *check);
void ptxi_concurrent_release_to_host(struct ptxi_check *check);

/* Whether the launch of a CTA, which is not that of the check, happens before it. */
bool ptxi_concurrent_is_before(const struct ptxi_check *check, struct ptxi_other_launch *last, uint32_t agent);
/* Removes what happens before the launch from a line, which is locked. */
void ptxi_concurrent_filter(const struct ptxi_check *check, struct ptxi_other_launch *last, struct ptxi_line *l);
/* Copies the launch of a CTA. False: it is not known. */
bool ptxi_concurrent_find(struct ptxi_checker *x, uint32_t agent, struct ptxi_past_launch *launch);
/* The thread of a record of that launch. */
struct ptxi_finding_site ptxi_concurrent_site(const struct ptxi_past_launch *p, uint32_t agent, uint32_t thread);

/* Copies the latest copies that nothing orders with the launch. Returns their number, and in *changes the state of the
 * list. It has to be called again when that has changed. */
enum { PTXI_OTHER_COPIES = 4 };
unsigned ptxi_concurrent_copies(const struct ptxi_check *check, struct ptxi_past_copy *copies, uint32_t *changes);

/* Whether an access and a copy have common bytes. */
bool ptxi_copied_rows_overlap(const struct ptxi_copied_rows *c, uint64_t address, uint64_t size);

/* The current task copies. Reports races with earlier launches and copies. */
void ptxi_check_copy(struct ptxi_checker *x, struct ptxi_findings *findings, const struct ptxi_copied_rows *rows);
/* The program's own code accesses memory now: reports races as a copy does. */
void ptxi_check_host_access(struct ptxi_checker *x, struct ptxi_findings *findings, uint64_t address, uint64_t size,
                            bool write);
/* Memory is allocated in the order of a stream: accesses of others have to wait for that. */
void ptxi_check_allocation(struct ptxi_checker *x, uint64_t address, uint64_t size, const struct ptxi_task *task);
/* Memory is allocated: what happened at its addresses before does not matter. */
void ptxi_check_forget(struct ptxi_checker *x, uint64_t address, uint64_t size);

#endif
