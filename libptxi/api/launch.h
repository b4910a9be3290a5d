/* A launch on its way: what launch.c makes, and device_runtime.c adds to from kernels. */
#ifndef PTXI_API_LAUNCH_H
#define PTXI_API_LAUNCH_H

#include "api/module.h"

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
    struct ptxi_exec *exec;
    struct ptxi_heap_block *workspace; /* of a cooperative launch, or NULL */
    struct ptxi_grid grid;

    pthread_mutex_t lock;            /* what kernels ask for; device_runtime.c */
    struct ptxi_child *first, **last, *first_tail, **last_tail; /* to be run when the grid has ended, in this order */
    struct ptxi_param_buffer *buffers; /* list */
    int error;                       /* of cudaGetLastError */
    _Alignas(16) unsigned char params[];
};

/* Checked and made ready, as the payload of an item that runs it; parameters as for ptxiLaunchKernel. */
ptxiResult ptxi_launch_make(ptxiContext ctx, ptxiFunction f, struct ptxi_launch_shape *s, void **params, void **extra, struct ptxi_item **item);

/* Whether a grid of the kernel may have such sizes. */
ptxiResult ptxi_launch_check_shape(const struct ptxiFunction_st *f, const struct ptxi_code *code, const struct ptxi_launch_shape *s);

ptxiResult ptxi_launch_read_attribute(const ptxiLaunchAttribute *a, struct ptxi_launch_shape *s);

/* Only this grid, not what it launches. */
ptxiResult ptxi_launch_run_grid(struct ptxi_launch *l, struct ptxi_failure **failure);

/* Blocks that a multiprocessor holds at once; -1: the kernel has no code. */
int ptxi_launch_blocks_per_mp(ptxiFunction f, unsigned threads, size_t dynamic);
ptxiResult ptxi_launch_attribute(ptxiFunction f, ptxiFunctionAttribute which, int *value);

/* device_runtime.c: the grids and copies that the grid has asked for, and what these ask for, after the grid. */
ptxiResult ptxi_children_run(struct ptxi_launch *l, struct ptxi_failure **failure);
void ptxi_children_init(struct ptxi_launch *l);
void ptxi_children_free(struct ptxi_launch *l);

#endif
