/* Checks of a running launch: data races, and the use of barriers. Checked launches run bytecode of their own, in which
 * an operation before each access to shared or global memory, each fence and each .sync operation calls the functions
 * here (check_ops.c). Barriers call them, too, if the CTA is checked (cta->check).
 *
 * A checker belongs to a context. It has the shadow memory of global memory (shadow.h). Shadow memory of shared memory
 * belongs to a CTA context. */
#ifndef PTXI_EXEC_CHECK_CHECK_H
#define PTXI_EXEC_CHECK_CHECK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec/engine/warp.h"

struct ptxi_checker;
struct ptxi_cta;
struct ptxi_grid;
struct ptxi_code;
struct ptxi_task;

/* The checks of one launch. */
struct ptxi_check {
    struct ptxi_checker *checker;
    const struct ptxi_grid *grid;
    uint64_t launch; /* its number in reports */
    uint32_t first_agent, agent_count; /* numbers of its CTAs, unique in the checker; count 0: too many CTAs */
    const struct ptxi_task *task;      /* that it belongs to, or NULL */
    uint32_t ordered_below;            /* CTAs with lower numbers belong to launches that happen before it */
    bool follows_all;                  /* all launches that have begun earlier happen before it */
    _Atomic bool acquires_other;       /* it has acquired what another launch has released */
    _Atomic bool acquires_host;        /* it has made a strong read of memory that the host accesses */
    _Atomic bool releases_host;        /* it has made a strong write of such memory, or a fence.sys */
    _Atomic uint64_t accesses, unchecked; /* instructions of warps */
};

/* `limit`: bytes of shadow memory. NULL: memory is short. */
struct ptxi_checker *ptxi_checker_create(uint64_t limit);
void ptxi_checker_destroy(struct ptxi_checker *checker);

/* Before the launch of a grid. Its shape is known. */
void ptxi_check_begin(struct ptxi_check *check, struct ptxi_checker *checker, const struct ptxi_grid *grid);
/* After it. */
void ptxi_check_end(struct ptxi_check *check);

/* --- places: numbers of instructions of checked functions, unique in the process --- */

/* Reserves numbers for `count` instructions. */
uint32_t ptxi_places_take(uint32_t count);
/* Registers a function by code->first_place. The places of a module are removed before its code is freed. */
void ptxi_places_add(const struct ptxi_code *code, const void *owner);
void ptxi_places_remove(const void *owner);

/* --- called by the scheduler --- */

/* Prepares the context for the CTAs of a launch, or for one that is not checked. */
void ptxi_check_prepare_cta(struct ptxi_cta *c);
/* A cluster starts in the contexts of this one. */
void ptxi_check_start_cluster(struct ptxi_cta *lead);
/* All its threads have exited. */
void ptxi_check_end_cluster(struct ptxi_cta *lead);
void ptxi_check_free_cta(struct ptxi_cta *c);

/* --- called by synchronisation, only if cta->check is not NULL --- */

/* Threads arrive at a CTA barrier and do not wait. */
void ptxi_check_barrier_arrives(struct ptxi_warp *w, ptxi_lanes lanes, unsigned number);
/* A CTA barrier is complete. Its waiting threads have not been released yet. */
void ptxi_check_barrier_completes(struct ptxi_cta *c, unsigned number);
/* Lanes execute a .sync operation together. */
void ptxi_check_lanes_meet(struct ptxi_warp *w, ptxi_lanes lanes);
/* Threads arrive at the cluster barrier, or exit. relaxed: what they have accessed before is not ordered. */
void ptxi_check_cluster_arrives(struct ptxi_warp *w, ptxi_lanes lanes, bool relaxed);
/* The cluster barrier is complete. */
void ptxi_check_cluster_meets(struct ptxi_cta *lead);
/* Threads wait for it. Returns those that have not arrived. */
ptxi_lanes ptxi_check_cluster_waits(struct ptxi_warp *w, ptxi_lanes lanes);

/* The mbarrier at an offset of the owner's shared memory: it is initialised; threads arrive, or request an operation
 * that will; its phase is complete; waits of threads succeed. */
void ptxi_check_mbarrier_starts(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_cta *owner,
                                uint32_t offset);
/* It is invalidated. */
void ptxi_check_mbarrier_ends(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_cta *owner,
                              uint32_t offset);
/* Lanes use it: reports it if it is not initialised. */
void ptxi_check_mbarrier_use(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, struct ptxi_cta *owner,
                             uint32_t offset);
void ptxi_check_mbarrier_arrives(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset);
/* The arrival happens after the asynchronous copies that the threads have requested. */
void ptxi_check_mbarrier_tracks(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset);
/* It happens after the lane's tcgen05 instructions have read their operands in shared memory. */
void ptxi_check_mbarrier_commits(struct ptxi_warp *w, unsigned lane, struct ptxi_cta *owner, uint32_t offset);
void ptxi_check_mbarrier_completes(struct ptxi_cta *owner, uint32_t offset);
void ptxi_check_mbarrier_waits(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset);

/* Threads commit a group of asynchronous copies, or wait for all groups but the last n. */
void ptxi_check_async_commits(struct ptxi_warp *w);
void ptxi_check_async_waits(struct ptxi_warp *w, uint32_t n);
/* The same for groups of bulk operations. read_only: only their sources have been read. */
void ptxi_check_bulk_commits(struct ptxi_warp *w);
void ptxi_check_bulk_waits(struct ptxi_warp *w, uint32_t n, bool read_only);
/* The same for groups of wgmma. */
void ptxi_check_wgmma_commits(struct ptxi_warp *w);
void ptxi_check_wgmma_waits(struct ptxi_warp *w, uint32_t n);
/* The mbarrier will tell the end of bulk operations. Returns its number in records. */
unsigned ptxi_check_mbarrier_tracks_bulk(struct ptxi_cta *owner, uint32_t offset);

#endif
