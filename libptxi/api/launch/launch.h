/* A launch on its way: what launch.c makes, and kernels add to (device_runtime.c). */
#ifndef PTXI_API_LAUNCH_LAUNCH_H
#define PTXI_API_LAUNCH_LAUNCH_H

#include "api/module/module.h"
#include "api/memory/strided_copy.h"

struct ptxi_child;
struct ptxi_param_buffer;

struct ptxi_launch_shape {
    unsigned grid[3], block[3], shared;
    unsigned cluster[3]; /* 0: none asked for */
    bool cooperative;
    unsigned preferred[3]; /* clusters that would be better; likewise */
};

struct ptxi_launch {
    ptxiContext ctx;
    ptxiModule module;
    const char *kernel;
    size_t milliseconds;             /* limit, or 0 */
    void (*progress)(void *user, unsigned long long done, unsigned long long blocks); /* or NULL */
    void *progress_user;
    struct ptxi_exec *exec;          /* a reference, as those to the module and its bindings; or NULL */
    struct ptxi_bindings *bindings;
    struct ptxi_heap_block *workspace; /* of a cooperative launch, or NULL */
    struct ptxi_grid grid;

    pthread_mutex_t lock;            /* what kernels ask for */
    struct ptxi_child *first, **last, *first_tail, **last_tail; /* to be run when the grid has ended, in this order */
    struct ptxi_param_buffer *buffers; /* list */
    _Atomic size_t buffer_count;
    _Atomic size_t tails;            /* launches asked for that wait for its end */
    int error;                       /* of cudaGetLastError */
    _Alignas(16) unsigned char params[];
};

/* Checked and made ready, as the payload of an item that runs it; parameters as for ptxiLaunchKernel. */
ptxiResult ptxi_launch_make(ptxiContext ctx, ptxiFunction f, struct ptxi_launch_shape *s, void **params, void **extra, struct ptxi_item **item);

/* What the caller asks for. */
ptxiResult ptxi_launch_read_config(const ptxiLaunchConfig *config, struct ptxi_launch_shape *s);

/* Sets what clusters the grid has: the kernel's own, those asked for, or those set for the function; of `most` blocks at most. */
enum { PTXI_PORTABLE_CLUSTER = 8 };
ptxiResult ptxi_launch_cluster(const struct ptxiFunction_st *f, struct ptxi_launch_shape *s, unsigned most);

bool ptxi_launch_is_grid(const unsigned *grid); /* none of its three sizes is 0 or more than there may be */

/* Whether a grid of the kernel may have such sizes. */
ptxiResult ptxi_launch_check_shape(const struct ptxiFunction_st *f, const struct ptxi_code *code, const struct ptxi_launch_shape *s);

ptxiResult ptxi_launch_read_attribute(const ptxiLaunchAttribute *a, struct ptxi_launch_shape *s);

/* CLOCK_MONOTONIC when a time limit that begins now is over. */
uint64_t ptxi_launch_deadline(uint64_t milliseconds);

/* Only this grid, not what it launches. */
ptxiResult ptxi_launch_run_grid(struct ptxi_launch *l, struct ptxi_failure **failure);

/* attribute.c */
ptxiResult ptxi_launch_attribute(ptxiFunction f, ptxiFunctionAttribute which, int *value);
ptxiResult ptxi_launch_no_code(const struct ptxiFunction_st *f, bool count); /* why the kernel has none */
unsigned ptxi_launch_max_threads(const struct ptxi_func *f);                 /* of a block */
int ptxi_launch_max_dynamic_shared(const struct ptxiFunction_st *f, const struct ptxi_code *code); /* bytes of a block */
ptxiResult ptxi_launch_enter(ptxiFunction *f, const struct ptxi_code **code); /* the code of a function, or of a kernel, which becomes one */

/* occupancy.c */
/* Blocks that a multiprocessor of the profile holds at once; registers do not count, being an estimate here. */
unsigned ptxi_launch_blocks(const struct ptxi_profile *p, const struct ptxi_code *code, unsigned threads, size_t dynamic);
int ptxi_launch_blocks_per_mp(ptxiFunction f, unsigned threads, size_t dynamic); /* likewise; -1: the kernel has no code */

/* children.c: the grids and copies that a grid has asked for, and what these ask for, after the grid. */
struct ptxi_child {
    struct ptxi_child *next;
    struct ptxi_item *item; /* of a grid; NULL: rows to copy or to fill */
    struct ptxi_rows rows;
    struct ptxi_call_place {  /* where a thread has asked for it */
        ptxiModule module;
        const char *kernel;
        const struct ptxi_code *code;
        struct ptxi_source_loc loc;
        uint32_t ctaid[3], tid[3];
    } place;
};
void ptxi_children_init(struct ptxi_launch *l);
bool ptxi_children_add(struct ptxi_launch *l, struct ptxi_child child, bool tail); /* false: no memory, or too many */
ptxiResult ptxi_children_run(struct ptxi_launch *l, struct ptxi_failure **failure);
void ptxi_children_free(struct ptxi_launch *l);

/* device_launch.c */
void ptxi_param_buffers_free(struct ptxi_launch *l);

#endif
