/* A grid is one launch of a kernel: its parameters, its limits, and which of its clusters have started. */
#ifndef PTXI_EXEC_ENGINE_GRID_H
#define PTXI_EXEC_ENGINE_GRID_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/engine/fault_report.h"
#include "exec/engine/program.h"

struct ptxi_check;
struct ptxi_fault_log;
struct ptxi_findings;
struct ptxi_memmap;
struct ptxi_object_table;
struct ptxi_tracker;

#define PTXI_MAX_CLUSTER_CTAS 16

/* Counters of accesses to shared memory (exec/memory/bank_conflicts.c). */
#define PTXI_SHARED_COUNTS(X) X(requests) X(wavefronts) X(conflicts)

/* Some clusters of a grid, by their numbers. count 0: all of them. */
struct ptxi_window {
    uint64_t first, count;
};

/* api/ fills in the parameters. What they point to lives until ptxi_exec_launch() returns. */
struct ptxi_grid {
    const struct ptxi_code *code;
    const struct ptxi_program *program;
    const struct ptxi_binding *bindings; /* one for each function of the program */
    struct ptxi_object_table *objects;   /* textures and surfaces that kernels may use */
    struct ptxi_memmap *memmap;
    const _Atomic uint64_t *devices;     /* with memory that the grid may access, as memmap.h defines them */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];         /* CTAs of a cluster; `grid` is a multiple of it; 0: no clusters */
    bool explicit_cluster;
    struct ptxi_window window;   /* clusters to run */
    uint32_t dynamic_shared;     /* bytes */
    const unsigned char *params; /* code->param_bytes bytes */
    uint64_t gridid, graph; /* graph: %current_graph_exec */
    uint32_t sm_count;           /* of the device profile: %nsmid, number of CTAs that can be resident */
    uint32_t sm_warps;           /* of the device profile: %nwarpid */
    uint32_t resident_limit;     /* maximum number of CTAs on one worker */
    bool cooperative;            /* all CTAs are resident from the start */
    bool native;                 /* hot functions run as machine code (native/native.h) ... */
    uint32_t native_after;       /* ... from this heat on */
    bool unchecked;              /* accesses to global memory are not checked */
    struct ptxi_fault_log *fault_log;   /* of invalid accesses that do not fail the launch; NULL: all fail it */
    bool counting;
    struct ptxi_check *check;    /* exec/check/check.h; its program is that of checked launches; or NULL */
    struct ptxi_tracker *tracker; /* of the memory that it accesses (exec/track/track.h); or NULL */
    struct ptxi_findings *findings; /* of the sanitizers (exec/finding/finding.h); NULL: none is on */
    unsigned tools;              /* that are on, one bit for each enum ptxi_tool */
    uint64_t schedule;           /* 0: in order; else the seed of a random schedule, see rng.h */
    bool fair;                   /* in order, in short slices: warps and CTAs advance together */
    uint32_t stack_bytes;        /* .local memory of a thread for calls, in addition to the kernel's own */
    uint64_t instruction_budget; /* 0: unlimited */
    uint64_t deadline_ns;        /* CLOCK_MONOTONIC; 0: unlimited */
    const _Atomic uint64_t *interrupts; /* counter, or NULL; the grid fails when it differs from interrupts_before */
    uint64_t interrupts_before;
    const struct ptxi_kernel_heap *heap; /* or NULL */
    void *heap_ctx;
    uint64_t cta_memory;         /* of .minperctamemory: address of the first CTA's slice, or 0 */
    uint32_t cta_memory_pitch;   /* bytes of a slice; the slices are in the order of the CTAs' numbers */
    uint64_t envreg12;           /* workspace of cooperative launches, %envreg1:%envreg2 */
    /* or NULL; called about ten times a second, by one thread at a time */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    void (*output)(void *ctx, const char *text, size_t size); /* output of printf */
    void *output_ctx;

    /* results */
    struct ptxi_fault_report report; /* kind PTXI_FK_NONE: success */
    _Atomic uint64_t thread_instructions, warp_instructions; /* if counting */
    struct {
#define X(name) _Atomic uint64_t name;
        PTXI_SHARED_COUNTS(X)
#undef X
    } shared;

    /* private to the engine */
    uint64_t launch_id, cta_total; /* CTAs to run */
    uint64_t first_cluster, cluster_end; /* clusters to run, without the end */
    uint32_t cluster_size;        /* CTAs */
    bool one_worker;              /* one worker runs the whole grid */
    bool only_worker;             /* the device has only one worker */
    uint32_t workers;             /* of the device */
    bool one_by_one;              /* a worker takes one cluster at a time */
    _Atomic bool clusters_wait;   /* clusters have waited for other clusters */
    _Atomic uint32_t failed;      /* the report is being or has been written */
    _Atomic uint32_t inside;      /* number of workers that hold CTAs of the grid */
    _Atomic uint64_t progress_ns; /* time of the next call of progress() */
    atomic_flag reporting;        /* a thread is in progress() */
    struct ptxi_grid *next;       /* list of running grids */
    /* Workers change these often. Nothing that all of them read is in the same line of the cache. */
    unsigned char before[64];
    _Atomic uint64_t next_cluster; /* that workers take */
    _Atomic uint64_t done_ctas;
    _Atomic uint64_t spent;       /* coarse count of instructions, for the budget */
    unsigned char after[64];
};

/* Clusters that a worker has taken and not started, by their numbers in the order of starts. */
struct ptxi_portion {
    uint64_t next, end; /* without `end` */
};

static inline uint32_t ptxi_thread_count(const struct ptxi_grid *g)
{
    return g->block[0] * g->block[1] * g->block[2];
}

/* The index of the thread with this number in a CTA of that shape, or of the CTA with this number in a grid. */
static inline void ptxi_index_of(const uint32_t shape[3], uint32_t number, uint32_t index[3])
{
    index[0] = number % shape[0];
    index[1] = number / shape[0] % shape[1];
    index[2] = number / shape[0] / shape[1];
}

static inline void ptxi_grid_thread_index(const struct ptxi_grid *g, uint32_t thread, uint32_t tid[3])
{
    ptxi_index_of(g->block, thread, tid);
}

static inline bool ptxi_grid_failed(const struct ptxi_grid *g)
{
    return atomic_load_explicit(&g->failed, memory_order_relaxed);
}

/* Claims the right to write the grid's report. True for the first fault only. */
bool ptxi_grid_fail(struct ptxi_grid *g);

/* The limit of the grid that is exceeded (budget, deadline, interrupts), or PTXI_FK_NONE. */
enum ptxi_fault_kind ptxi_grid_exceeded_limit(const struct ptxi_grid *grid);

/* Whether clusters are left that no worker has taken. False after a failure. */
bool ptxi_grid_has_clusters(const struct ptxi_grid *g);
/* Takes the next clusters, at most `most`. An empty portion: there are none left. */
struct ptxi_portion ptxi_grid_take(struct ptxi_grid *g, uint32_t most);
/* Cancels the next cluster (PTX ISA, "clusterlaunchcontrol.try_cancel"). False: there is none left. */
bool ptxi_grid_cancel(struct ptxi_grid *g, uint32_t first_cta[3]);

/* Coordinates of the CTA with this rank in the cluster that starts as the n-th one. A random schedule permutes the
 * clusters. */
void ptxi_grid_cta_at(const struct ptxi_grid *g, uint64_t n, uint32_t rank, uint32_t ctaid[3]);
/* From the coordinates of a CTA to those of the CTA that starts after it. Without clusters and a random schedule. */
static inline void ptxi_grid_next_cta(const struct ptxi_grid *g, uint32_t ctaid[3])
{
    assert(g->cluster_size == 1 && !g->schedule);
    if (__builtin_expect(++ctaid[0] < g->grid[0], 1))
        return;
    ctaid[0] = 0;
    if (++ctaid[1] < g->grid[1])
        return;
    ctaid[1] = 0;
    ctaid[2]++;
}
/* Initial state of the random numbers of that cluster. */
uint64_t ptxi_grid_rng_state(const struct ptxi_grid *g, uint64_t n);

#endif
